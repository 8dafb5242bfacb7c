//! A document of a knowledge base, whatever file or page it came from.

use closed_sets::words;

/// An extracted document.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReadDocument {
    /// Its own title, if it names one.
    pub title: Option<String>,
    /// Its text, in order.
    pub blocks: Vec<Block>,
}

/// A piece of a document that belongs together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    pub kind: BlockKind,
    /// Its text. A row of a table is `heading: cell; heading: cell`.
    pub text: String,
    /// The page that it begins on, from 1, where the document has pages.
    pub page: Option<u32>,
}

/// What a [`Block`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockKind {
    /// A heading; 1 is the highest level. It stands over the blocks up to the next heading of its level or a
    /// higher one.
    Heading(u8),
    /// A paragraph or an item of a list.
    Paragraph,
    /// A row of a table.
    TableRow,
}

words! {
    /// Where a document came from.
    pub enum SourceKind {
        /// A text that was sent.
        Text = "text",
        File = "file",
        /// A web page.
        Link = "link",
    }
}
