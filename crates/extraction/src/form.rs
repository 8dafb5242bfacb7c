//! Detection of the format of bytes. The content decides; between text formats, the name or the content type does
//! (docs/contract/knowledge-files.md#formats).

use domain::ports::{ReadOrder, Unreadable};

/// A supported format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// PDF.
    Pdf,
    /// A Word document (Office Open XML).
    Docx,
    /// Text without a format.
    Text,
    Markdown,
    /// HTML.
    Html,
    /// A table with separated values.
    Csv,
}

/// Bytes in which the beginning of a file is searched.
const BEGINNING: usize = 1024;

/// The format of the bytes.
///
/// # Errors
/// They have no supported format, or not the one that their name says.
pub fn of(order: &ReadOrder) -> Result<Form, Unreadable> {
    let bytes = order.bytes.as_slice();
    let said = named(&order.name, order.content_type.as_deref());
    if bytes.is_empty() {
        return Err(Unreadable::Damaged("it is empty".into()));
    }
    let beginning = &bytes[..bytes.len().min(BEGINNING)];
    if beginning.windows(5).any(|window| window == b"%PDF-") {
        return Ok(Form::Pdf);
    }
    if bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"PK\x05\x06") {
        return Ok(Form::Docx);
    }
    if let Some(what) = other_binary(bytes) {
        return Err(Unreadable::Unsupported(what.to_owned()));
    }
    match said {
        Some(Form::Pdf) => return Err(Unreadable::Damaged("its name says PDF, its content does not".into())),
        Some(Form::Docx) => {
            return Err(Unreadable::Damaged("its name says Word document, its content does not".into()));
        }
        Some(Form::Text) | None if looks_like_html(beginning) => return Ok(Form::Html),
        Some(form) => return Ok(form),
        None => {}
    }
    match ending(&order.name) {
        Some(other) if order.content_type.is_none() => {
            Err(Unreadable::Unsupported(format!("a .{other} file")))
        }
        _ => Ok(Form::Text),
    }
}

/// The format that the name or the content type says.
fn named(name: &str, content_type: Option<&str>) -> Option<Form> {
    if let Some(content_type) = content_type {
        let kind = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        return match kind.as_str() {
            "text/html" | "application/xhtml+xml" => Some(Form::Html),
            "text/markdown" => Some(Form::Markdown),
            "text/csv" => Some(Form::Csv),
            "text/plain" => Some(Form::Text),
            "application/pdf" => Some(Form::Pdf),
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document" => Some(Form::Docx),
            _ => None,
        };
    }
    match ending(name)?.as_str() {
        "pdf" => Some(Form::Pdf),
        "docx" => Some(Form::Docx),
        "txt" | "text" => Some(Form::Text),
        "md" | "markdown" => Some(Form::Markdown),
        "html" | "htm" | "xhtml" => Some(Form::Html),
        "csv" | "tsv" => Some(Form::Csv),
        _ => None,
    }
}

/// The extension of a name, in lower case.
fn ending(name: &str) -> Option<String> {
    let (_, ending) = name.rsplit_once('.')?;
    Some(ending.to_lowercase()).filter(|ending| !ending.is_empty())
}

/// Other formats, by their magic bytes.
fn other_binary(bytes: &[u8]) -> Option<&'static str> {
    const KNOWN: [(&[u8], &str); 14] = [
        (b"\xD0\xCF\x11\xE0", "an Office file from before 2007 (save it as .docx)"),
        (b"{\\rtf", "an RTF file"),
        (b"\x89PNG", "an image"),
        (b"\xFF\xD8\xFF", "an image"),
        (b"GIF8", "an image"),
        (b"RIFF", "a sound, video or image file"),
        (b"\x1F\x8B", "a gzip archive"),
        (b"7z\xBC\xAF", "a 7z archive"),
        (b"Rar!", "a RAR archive"),
        (b"BZh", "a bzip2 archive"),
        (b"\xFD7zXZ", "an xz archive"),
        (b"\x28\xB5\x2F\xFD", "a zstd archive"),
        (b"\x7FELF", "a program"),
        (b"%!PS", "a PostScript file"),
    ];
    KNOWN.iter().find(|(start, _)| bytes.starts_with(start)).map(|(_, what)| *what)
}

fn looks_like_html(beginning: &[u8]) -> bool {
    let start = beginning.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(beginning).trim_ascii_start();
    [b"<!doctype html".as_slice(), b"<html", b"<head", b"<body"]
        .iter()
        .any(|tag| start.get(..tag.len()).is_some_and(|found| found.eq_ignore_ascii_case(tag)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(name: &str, content_type: Option<&str>, bytes: &[u8]) -> Result<Form, Unreadable> {
        of(&ReadOrder {
            bytes: bytes.to_vec(),
            name: name.into(),
            content_type: content_type.map(str::to_owned),
            charset: None,
        })
    }

    #[test]
    fn the_content_decides_and_the_name_only_between_texts() {
        assert_eq!(form("prices.txt", None, b"%PDF-1.7\n"), Ok(Form::Pdf));
        assert_eq!(form("prices.csv", None, b"PK\x03\x04rest"), Ok(Form::Docx));
        assert_eq!(form("prices.csv", None, b"a,b\n1,2\n"), Ok(Form::Csv));
        assert_eq!(form("prices.md", None, b"# a"), Ok(Form::Markdown));
        assert_eq!(form("prices.TXT", None, b"a"), Ok(Form::Text));
        assert_eq!(form("prices", None, b"a"), Ok(Form::Text));
        assert_eq!(form("prices.txt", None, b"\xEF\xBB\xBF\n<!DOCTYPE HTML><p>a"), Ok(Form::Html));
        assert_eq!(form("x", Some("Text/HTML; charset=utf-8"), b"a"), Ok(Form::Html));
        assert_eq!(form("x", Some("application/json"), b"{}"), Ok(Form::Text));
    }

    #[test]
    fn what_is_not_read_says_so() {
        for (name, bytes, part) in [
            ("a.pdf", b"not a PDF".as_slice(), "name says PDF"),
            ("a.docx", b"not a document", "name says Word"),
            ("a.doc", b"\xD0\xCF\x11\xE0\xA1\xB1", "before 2007"),
            ("a.txt", b"\x89PNG\r\n", "image"),
            ("a.exe", b"text", ".exe"),
            ("a.txt", b"", "empty"),
        ] {
            let found = form(name, None, bytes);
            assert!(found.as_ref().is_err_and(|why| why.to_string().contains(part)), "{name}: {found:?}");
        }
    }
}
