//! Documents that customers hand in during a chat: accepted files, the result of a check, masking of numbers
//! (docs/contract/documents.md).

mod masking;

use closed_sets::words;
use serde_json::{Map, Value};

pub use masking::{mask_named, masked};

/// Largest file, bytes.
pub const MAX_FILE: usize = 10 * 1024 * 1024;
/// Largest upload, all its files together, bytes.
pub const MAX_UPLOAD: usize = 15 * 1024 * 1024;
/// Most files of one upload.
pub const MAX_PARTS: usize = 4;
/// Longest name of a part, characters.
pub const MAX_PART_NAME: usize = 40;
/// Longest extracted value of a field, characters.
pub const MAX_VALUE: usize = 500;
/// Most reasons of one check or review.
pub const MAX_REASONS: usize = 10;
/// Longest reason, characters.
pub const MAX_REASON: usize = 300;

words! {
    /// The status of a document (docs/contract/documents.md#status).
    pub enum Status {
        /// The step is not over: no upload was accepted so far.
        Open = "open",
        /// It is the requested document, and all details were extracted.
        Verified = "verified",
        /// It was accepted, and a person must review it.
        Unverified = "unverified",
        /// No attempt was accepted.
        Failed = "failed",
        /// A teammate rejected it.
        Rejected = "rejected",
    }
}

words! {
    /// The type of a file, by its first bytes.
    pub enum FileType {
        /// PDF.
        Pdf = "application/pdf",
        /// JPEG.
        Jpeg = "image/jpeg",
        /// PNG.
        Png = "image/png",
        Webp = "image/webp",
    }
}

impl FileType {
    /// The type of a file, by its content and not by its name; `None` for any other.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [0xFF, 0xD8, 0xFF, ..] => Some(Self::Jpeg),
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1A, b'\n', ..] => Some(Self::Png),
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some(Self::Webp),
            // Readers accept a PDF whose mark is preceded by a few other bytes; so does a browser that shows it.
            // Here it is at the beginning, so that nothing else can be a PDF, too.
            [b'%', b'P', b'D', b'F', b'-', ..] => Some(Self::Pdf),
            _ => None,
        }
    }

    /// The end of a file's name.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Pdf => "pdf",
            Self::Jpeg => "jpg",
            Self::Png => "png",
            Self::Webp => "webp",
        }
    }

    /// Whether it is a picture.
    pub fn is_image(self) -> bool {
        self != Self::Pdf
    }
}

/// The result of reading a document.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reading {
    /// Whether it is the requested document, and legible.
    pub fits: bool,
    /// The details that were read, by key.
    pub fields: Map<String, Value>,
    /// What speaks against it.
    pub reasons: Vec<String>,
}

/// The result of one upload.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// [`Status::Open`] when another attempt is left.
    pub status: Status,
    /// Details that were read off it, national id numbers masked.
    pub fields: Map<String, Value>,
    /// Why it is not verified.
    pub reasons: Vec<String>,
}

impl Verdict {
    /// Whether the document is accepted.
    pub fn accepted(&self) -> bool {
        matches!(self.status, Status::Verified | Status::Unverified)
    }
}

/// Evaluates an upload (docs/contract/documents.md#checks). `reading` is `None` where it could not be read; `wanted`
/// are the keys of the details; `attempt` counts from 1.
pub fn judge(reading: Option<Reading>, wanted: &[String], attempt: u32, attempts: u32) -> Verdict {
    let Some(reading) = reading else {
        return Verdict {
            status: Status::Unverified,
            fields: Map::new(),
            reasons: vec!["not_read".to_owned()],
        };
    };
    let mut reasons: Vec<String> =
        reading.reasons.iter().map(|reason| shortened(&masked(reason), MAX_REASON)).collect();
    reasons.retain(|reason| !reason.is_empty());
    reasons.truncate(MAX_REASONS);
    if !reading.fits {
        let status = if attempt < attempts { Status::Open } else { Status::Failed };
        return Verdict { status, fields: Map::new(), reasons };
    }
    let mut fields = Map::new();
    let mut missing = Vec::new();
    for key in wanted {
        match reading.fields.get(key).and_then(|value| value_of(key, value)) {
            Some(value) => drop(fields.insert(key.clone(), value)),
            None => missing.push(format!("{key} could not be read")),
        }
    }
    let status = if missing.is_empty() { Status::Verified } else { Status::Unverified };
    reasons.extend(missing);
    reasons.truncate(MAX_REASONS);
    if status == Status::Verified {
        reasons.clear();
    }
    Verdict { status, fields, reasons }
}

/// A detail in its stored form; `None` for an invalid one.
fn value_of(key: &str, value: &Value) -> Option<Value> {
    match value {
        Value::String(text) if !text.trim().is_empty() => {
            Some(Value::String(shortened(&mask_named(key, text.trim()), MAX_VALUE)))
        }
        Value::Number(number) => Some(Value::String(mask_named(key, &number.to_string()))),
        Value::Bool(flag) => Some(Value::Bool(*flag)),
        Value::String(_) | Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

fn shortened(text: &str, most: usize) -> String {
    text.chars().filter(|letter| !letter.is_control()).take(most).collect::<String>().trim().to_owned()
}

/// The state of a document after a teammate's review; `None` when it cannot be reviewed.
pub fn reviewed(status: Status, wanted: Status) -> Option<Status> {
    match (status, wanted) {
        (Status::Verified | Status::Unverified | Status::Rejected, Status::Verified | Status::Rejected) => {
            Some(wanted)
        }
        // Nothing was accepted: there is no file to look at.
        (Status::Open | Status::Failed, _) | (_, Status::Open | Status::Unverified | Status::Failed) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn files_are_told_by_what_they_hold() {
        for (bytes, kind) in [
            (&b"%PDF-1.7\n"[..], Some(FileType::Pdf)),
            (b"\xFF\xD8\xFF\xE0\0\x10JFIF", Some(FileType::Jpeg)),
            (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", Some(FileType::Png)),
            (b"RIFF\x10\0\0\0WEBPVP8 ", Some(FileType::Webp)),
            (b"RIFF\x10\0\0\0WAVEfmt ", None),
            (b"<html>%PDF-1.7", None),
            (b"MZ\x90\0", None),
            (b"GIF89a", None),
            (b"", None),
        ] {
            assert_eq!(FileType::of(bytes), kind, "{bytes:?}");
        }
    }

    fn reading(fits: bool, fields: Value) -> Option<Reading> {
        Some(Reading {
            fits,
            fields: fields.as_object().unwrap().clone(),
            reasons: vec!["blurred".into(), "1234 5678 9012".into()],
        })
    }

    fn wanted() -> Vec<String> {
        vec!["name".to_owned(), "number".to_owned()]
    }

    #[test]
    fn a_document_that_was_not_read_is_accepted_unverified() {
        let verdict = judge(None, &wanted(), 1, 1);
        assert_eq!((verdict.status, verdict.accepted()), (Status::Unverified, true));
        assert_eq!((verdict.fields.len(), verdict.reasons), (0, vec!["not_read".to_owned()]));
    }

    #[test]
    fn all_details_make_it_verified_and_some_do_not() {
        let all = json!({"name": " Asha ", "number": "1234 5678 9012", "unasked": "x"});
        let verdict = judge(reading(true, all), &wanted(), 1, 3);
        assert_eq!((verdict.status, verdict.reasons.len()), (Status::Verified, 0));
        assert_eq!(Value::Object(verdict.fields), json!({"name": "Asha", "number": "XXXX XXXX 9012"}));
        let verdict = judge(reading(true, json!({"name": "Asha", "number": null})), &wanted(), 1, 3);
        assert_eq!(verdict.status, Status::Unverified);
        assert_eq!(verdict.reasons, ["blurred", "XXXX XXXX 9012", "number could not be read"]);
        assert_eq!(judge(reading(true, json!({})), &[], 1, 3).status, Status::Verified);
    }

    #[test]
    fn what_does_not_fit_may_be_tried_again_until_the_attempts_are_over() {
        for (attempt, status) in
            [(1, Status::Open), (2, Status::Open), (3, Status::Failed), (4, Status::Failed)]
        {
            let verdict = judge(reading(false, json!({"name": "Asha"})), &wanted(), attempt, 3);
            assert_eq!((verdict.status, verdict.accepted(), verdict.fields.len()), (status, false, 0));
            assert_eq!(verdict.reasons, ["blurred", "XXXX XXXX 9012"]);
        }
    }

    #[test]
    fn what_a_teammate_may_say() {
        use Status::{Failed, Open, Rejected, Unverified, Verified};
        for from in [Open, Verified, Unverified, Failed, Rejected] {
            for to in [Open, Verified, Unverified, Failed, Rejected] {
                let may =
                    matches!(from, Verified | Unverified | Rejected) && matches!(to, Verified | Rejected);
                assert_eq!(reviewed(from, to), may.then_some(to), "{from:?} {to:?}");
            }
        }
    }
}
