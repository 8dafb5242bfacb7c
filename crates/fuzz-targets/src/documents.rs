//! Files and pages that become documents of a knowledge base.

use domain::document::{FileType, MAX_PARTS, mask_named, masked};
use domain::knowledge::BlockKind;
use domain::ports::{ReadOrder, Unreadable};

/// Names that the first byte of an input chooses from. PDF is left to its library and to the limits of its
/// process.
const NAMES: [&str; 5] = ["a.txt", "a.md", "a.csv", "a.html", "a.docx"];

/// A file: its first byte chooses its name, the rest are its bytes.
///
/// What is read stays within the limits of a document. Its blocks are not empty, hold no control characters, nothing
/// that is invisible by definition, and no space twice, and headings have a level from 1 to 6. Reading it again gives the same. What is refused is
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
        assert!(
            !block.text.contains(['\u{ad}', '\u{34f}', '\u{2060}', '\u{fe0d}', '\u{e0041}']),
            "{block:?}"
        );
        assert!(!matches!(block.kind, BlockKind::Heading(0 | 7..)), "{block:?}");
    }
    assert!(characters <= extraction::MAX_CHARACTERS);
    assert!(read.document.blocks.len() <= extraction::MAX_BLOCKS);
    assert!(read.document.title.is_none_or(|title| !title.is_empty()));
}

/// A voice note: what begins as Ogg does gets the check sums that its pages need, so that the decoder sees what follows.
///
/// It is decoded to at most five minutes of sound, twice to the same, or refused.
pub fn voice_note(data: &[u8]) {
    let mut bytes = data.to_vec();
    mend_pages(&mut bytes);
    let heard = extraction::sound::decode(&bytes);
    assert_eq!(extraction::sound::decode(&bytes), heard, "the same bytes");
    if let Ok(samples) = heard {
        let most = extraction::sound::MAX_SECONDS * domain::ports::SAMPLE_RATE as usize;
        assert!((1..=most).contains(&samples.len()), "{}", samples.len());
    }
}

/// Puts the right check sum into each page of an Ogg stream (RFC 3533, section 6).
fn mend_pages(bytes: &mut [u8]) {
    let mut at = 0;
    while bytes.len() - at >= 27 && bytes[at..].starts_with(b"OggS") {
        let segments = usize::from(bytes[at + 26]);
        let Some(table) = bytes.get(at + 27..at + 27 + segments) else { return };
        let length = 27 + segments + table.iter().map(|size| usize::from(*size)).sum::<usize>();
        let Some(page) = bytes.get_mut(at..at + length) else { return };
        page[22..26].fill(0);
        let mut sum = 0_u32;
        for byte in page.iter() {
            sum ^= u32::from(*byte) << 24;
            for _ in 0..8 {
                sum = if sum & 0x8000_0000 == 0 { sum << 1 } else { (sum << 1) ^ 0x04c1_1db7 };
            }
        }
        page[22..26].copy_from_slice(&sum.to_le_bytes());
        at += length;
    }
}

/// The form of an upload, of a knowledge base or of a document in a chat: any bytes, whose boundary is `limit`.
///
/// There is at least one file, and no more than may be sent. Files and names of parts together have no more bytes
/// than the form, and each file's bytes stand in it. With room for more files the same is read. The type of a file is
/// told by how it begins.
pub fn upload(data: &[u8]) {
    let Some((files, parts)) = dastak::fuzzing::upload(data, MAX_PARTS) else { return };
    assert!((1..=MAX_PARTS).contains(&files.len()) && parts.len() <= MAX_PARTS);
    let bytes: usize = files.iter().map(|file| file.len()).sum::<usize>();
    assert!(bytes <= data.len());
    for file in &files {
        assert!(file.is_empty() || data.windows(file.len()).any(|window| window == &file[..]));
        if let Some(kind) = FileType::of(file) {
            assert_eq!(FileType::of(&file[..file.len().min(32)]), Some(kind));
        }
    }
    assert_eq!(dastak::fuzzing::upload(data, MAX_PARTS + 1), Some((files, parts)));
}

/// What a reader saw on a document: a text of which each line is a field, `key: value`, or a reason.
///
/// Masking hides letters and digits only, and keeps the length in characters. No word of twelve digits is left, and of
/// the number of a document at most four digits, which masking again does not change.
pub fn masking(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let kept = |of: &str, shown: &str| {
        assert_eq!(of.chars().count(), shown.chars().count(), "{of:?} {shown:?}");
        for (before, after) in of.chars().zip(shown.chars()) {
            assert!(before == after || (after == 'X' && before.is_alphanumeric()), "{of:?} {shown:?}");
        }
        let national = |word: &str| word.len() == 12 && word.bytes().all(|byte| byte.is_ascii_digit());
        assert!(!shown.split_whitespace().any(national), "{shown:?}");
    };
    for line in text.lines() {
        kept(line, &masked(line));
        let Some((key, value)) = line.split_once(':') else { continue };
        kept(value, &mask_named(key, value));
        let numbered = mask_named("number", value);
        kept(value, &numbered);
        assert!(numbered.chars().filter(|letter| letter.is_numeric()).count() <= 4, "{numbered:?}");
        assert_eq!(mask_named("number", &numbered), numbered, "masked again");
    }
}
