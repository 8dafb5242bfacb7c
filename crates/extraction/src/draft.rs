//! Builder of a document, within its limits.

use domain::knowledge::{Block, BlockKind, ReadDocument};
use domain::ports::{ReadLimit, Unreadable};

use crate::{MAX_BLOCKS, MAX_CHARACTERS, text};

/// Most characters of a title.
const MAX_TITLE: usize = 300;

/// A document that is being built.
#[derive(Debug, Default)]
pub struct Draft {
    document: ReadDocument,
    characters: usize,
}

impl Draft {
    /// Names the document, unless it has a name or this one is empty.
    pub fn title(&mut self, title: &str) {
        let title = text::tidy(title);
        if self.document.title.is_none() && !title.is_empty() {
            self.document.title = Some(title.chars().take(MAX_TITLE).collect());
        }
    }

    /// Adds a block, without its superfluous space; an empty one is left out.
    ///
    /// # Errors
    /// The document is too large.
    pub fn push(&mut self, kind: BlockKind, words: &str, page: Option<u32>) -> Result<(), Unreadable> {
        let text = text::tidy(words);
        if text.is_empty() {
            return Ok(());
        }
        self.characters += text.chars().count();
        if self.characters > MAX_CHARACTERS {
            return Err(Unreadable::Beyond(ReadLimit::Characters, MAX_CHARACTERS as u64));
        }
        if self.document.blocks.len() >= MAX_BLOCKS {
            return Err(Unreadable::Beyond(ReadLimit::Blocks, MAX_BLOCKS as u64));
        }
        self.document.blocks.push(Block { kind, text, page });
        Ok(())
    }

    /// A paragraph of a document without pages.
    ///
    /// # Errors
    /// The document is too large.
    pub fn paragraph(&mut self, words: &str) -> Result<(), Unreadable> {
        self.push(BlockKind::Paragraph, words, None)
    }

    /// A heading of a document without pages.
    ///
    /// # Errors
    /// The document is too large.
    pub fn heading(&mut self, level: u8, words: &str) -> Result<(), Unreadable> {
        self.push(BlockKind::Heading(level.clamp(1, 6)), words, None)
    }

    /// How many characters it has.
    pub fn characters(&self) -> usize {
        self.characters
    }

    /// The blocks so far.
    pub fn blocks(&self) -> &[Block] {
        &self.document.blocks
    }

    /// The document. One that does not name itself has the name of its first heading, if that comes first.
    pub fn finish(mut self) -> ReadDocument {
        if let Some(Block { kind: BlockKind::Heading(1), text, .. }) = self.document.blocks.first() {
            let text = text.clone();
            self.title(&text);
        }
        self.document
    }
}
