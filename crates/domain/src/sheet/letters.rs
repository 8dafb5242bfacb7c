//! Characters of a text file, from its bytes: UTF-8 or UTF-16, with or without a byte order mark.

use std::io::Read;

/// Bytes that are read at a time.
const CHUNK: usize = 64 * 1024;

/// The encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encoding {
    Utf8,
    Utf16Le,
    Utf16Be,
}

/// Why there is no next character.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NoLetter {
    /// The file could not be read.
    Unreadable(String),
    /// The next bytes are not valid in the encoding.
    NotText,
}

/// The characters of a file, one after the other.
pub(super) struct Letters<R> {
    input: R,
    encoding: Option<Encoding>,
    /// Bytes of an incomplete character.
    bytes: Vec<u8>,
    /// Decoded characters that were not taken yet.
    text: String,
    at: usize,
    /// Bytes that were read.
    read: u64,
    ended: bool,
    /// The bytes after `text` are not valid.
    broken: bool,
}

impl<R: Read> Letters<R> {
    pub(super) fn of(input: R) -> Self {
        Self {
            input,
            encoding: None,
            bytes: Vec::new(),
            text: String::new(),
            at: 0,
            read: 0,
            ended: false,
            broken: false,
        }
    }

    /// Bytes that were read so far.
    pub(super) fn bytes_read(&self) -> u64 {
        self.read
    }

    /// Peeks at the next character; `None` at the end.
    pub(super) fn peek(&mut self) -> Result<Option<char>, NoLetter> {
        loop {
            if let Some(letter) = self.text[self.at..].chars().next() {
                return Ok(Some(letter));
            }
            if self.broken {
                return Err(NoLetter::NotText);
            }
            if self.ended {
                return Ok(None);
            }
            self.fill()?;
        }
    }

    /// The next character; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<char>, NoLetter> {
        let next = self.peek()?;
        self.at += next.map_or(0, char::len_utf8);
        Ok(next)
    }

    /// Pushes characters back.
    pub(super) fn give_back(&mut self, letters: &str) {
        self.text.replace_range(..self.at, letters);
        self.at = 0;
    }

    fn fill(&mut self) -> Result<(), NoLetter> {
        let known = self.bytes.len();
        self.bytes.resize(known + CHUNK, 0);
        let count = loop {
            match self.input.read(&mut self.bytes[known..]) {
                Ok(count) => break count,
                Err(why) if why.kind() == std::io::ErrorKind::Interrupted => {}
                Err(why) => {
                    self.bytes.truncate(known);
                    return Err(NoLetter::Unreadable(why.to_string()));
                }
            }
        };
        self.bytes.truncate(known + count);
        self.read += count as u64;
        self.ended = count == 0;
        self.text.clear();
        self.at = 0;
        let Some(encoding) = self.encoding.or_else(|| self.find_encoding()) else { return Ok(()) };
        self.encoding = Some(encoding);
        match encoding {
            Encoding::Utf8 => self.decode_utf8(),
            Encoding::Utf16Le => self.decode_utf16(u16::from_le_bytes),
            Encoding::Utf16Be => self.decode_utf16(u16::from_be_bytes),
        }
        Ok(())
    }

    /// The encoding of the file, by its first bytes; a byte order mark is removed. `None` while there are too few of
    /// them.
    fn find_encoding(&mut self) -> Option<Encoding> {
        if self.bytes.len() < 3 && !self.ended {
            return None;
        }
        // A letter of a heading, as half of a UTF-16 unit, is beside a zero byte.
        let (mark, encoding) = match *self.bytes.as_slice() {
            [0xEF, 0xBB, 0xBF, ..] => (3, Encoding::Utf8),
            [0xFF, 0xFE, ..] => (2, Encoding::Utf16Le),
            [0xFE, 0xFF, ..] => (2, Encoding::Utf16Be),
            [letter, 0, ..] if letter != 0 => (0, Encoding::Utf16Le),
            [0, letter, ..] if letter != 0 => (0, Encoding::Utf16Be),
            _ => (0, Encoding::Utf8),
        };
        self.bytes.drain(..mark);
        Some(encoding)
    }

    fn decode_utf8(&mut self) {
        let valid = match std::str::from_utf8(&self.bytes) {
            Ok(text) => text.len(),
            Err(why) => {
                self.broken = why.error_len().is_some() || self.ended;
                why.valid_up_to()
            }
        };
        self.text.push_str(&String::from_utf8_lossy(&self.bytes[..valid]));
        self.bytes.drain(..valid);
    }

    fn decode_utf16(&mut self, unit: fn([u8; 2]) -> u16) {
        let units: Vec<u16> = self.bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]])).collect();
        let mut taken = 0;
        for letter in char::decode_utf16(units.iter().copied()) {
            match letter {
                Ok(letter) => {
                    self.text.push(letter);
                    taken += letter.len_utf16();
                }
                // The first half of a surrogate pair.
                Err(half)
                    if taken + 1 == units.len() && half.unpaired_surrogate() < 0xDC00 && !self.ended =>
                {
                    break;
                }
                Err(_) => {
                    self.broken = true;
                    break;
                }
            }
        }
        self.bytes.drain(..2 * taken);
        self.broken |= self.ended && !self.bytes.is_empty();
    }
}
