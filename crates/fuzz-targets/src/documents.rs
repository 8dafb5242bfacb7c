//! Files and pages that become documents of a knowledge base.

use domain::knowledge::BlockKind;
use domain::ports::{ReadOrder, Unreadable};

/// Names that the first byte of an input chooses from. PDF is left to its library and to the limits of its
/// process.
const NAMES: [&str; 5] = ["a.txt", "a.md", "a.csv", "a.html", "a.docx"];

/// A file: its first byte chooses its name, the rest are its bytes.
///
/// What is read stays within the limits of a document. Its blocks are not empty, hold no control characters and
/// no space twice, and headings have a level from 1 to 6. Reading it again gives the same. What is refused is
/// refused as damaged, unsupported, or beyond a limit.
pub fn document(data: &[u8]) {
    let Some((choice, bytes)) = data.split_first() else { return };
    let name = NAMES[usize::from(*choice) % NAMES.len()];
    if bytes.windows(5).any(|window| window == b"%PDF-") {
        return;
    }
    let order = ReadOrder { bytes: bytes.to_vec(), name: name.to_owned(), content_type: None, charset: None };
    let found = extraction::read(&order);
    assert_eq!(extraction::read(&order), found, "the same bytes");
    let read = match found {
        Ok(read) => read,
        Err(why) => {
            assert!(!matches!(why, Unreadable::Busy | Unreadable::Failed(_)), "{why:?}");
            return;
        }
    };
    let mut characters = 0;
    for block in &read.document.blocks {
        characters += block.text.chars().count();
        assert!(!block.text.is_empty() && block.text.trim() == block.text, "{block:?}");
        assert!(!block.text.contains("  ") && !block.text.contains(char::is_control), "{block:?}");
        assert!(!matches!(block.kind, BlockKind::Heading(0 | 7..)), "{block:?}");
    }
    assert!(characters <= extraction::MAX_CHARACTERS);
    assert!(read.document.blocks.len() <= extraction::MAX_BLOCKS);
    assert!(read.document.title.is_none_or(|title| !title.is_empty()));
}

/// The form of an upload: any bytes, whose boundary is `limit`.
///
/// A file has no more bytes than the form.
pub fn upload(data: &[u8]) {
    if let Some((_, bytes)) = dastak::fuzzing::upload(data) {
        assert!(bytes.len() <= data.len());
    }
}
