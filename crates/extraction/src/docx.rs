//! Word documents (Office Open XML): an archive of XML parts, of which three are read.

use std::collections::HashMap;
use std::io::{Cursor, Read};

use domain::ports::{ReadLimit, Unreadable};
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};
use zip::ZipArchive;
use zip::result::ZipError;

use crate::draft::Draft;
use crate::table::{self, First};
use crate::{MAX_UNPACKED, text};

/// Most entries of an archive.
const MAX_ENTRIES: usize = 10_000;
/// How far styles are based on each other.
const MAX_BASED: usize = 16;

/// Reads a Word document.
///
/// # Errors
/// It is damaged, none, or beyond the limits of a document.
pub fn read(bytes: &[u8], draft: &mut Draft) -> Result<(), Unreadable> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|why| damaged(&why))?;
    if archive.len() > MAX_ENTRIES {
        return Err(Unreadable::Beyond(ReadLimit::Entries, MAX_ENTRIES as u64));
    }
    let Some(body) = part(&mut archive, "word/document.xml")? else {
        return Err(Unreadable::Unsupported("an archive that is no Word document".into()));
    };
    if let Some(core) = part(&mut archive, "docProps/core.xml")? {
        draft.title(&title(&core)?);
    }
    let styles = part(&mut archive, "word/styles.xml")?;
    let levels = styles.map(|styles| heading_levels(&styles)).transpose()?.unwrap_or_default();
    Body::new(&levels, draft).read(&body)
}

fn damaged(why: &ZipError) -> Unreadable {
    Unreadable::Damaged(format!("its archive cannot be opened: {why}"))
}

/// A part of the archive, within the limit of what it may unpack to.
fn part(archive: &mut ZipArchive<Cursor<&[u8]>>, name: &str) -> Result<Option<String>, Unreadable> {
    let mut entry = match archive.by_name(name) {
        Ok(entry) => entry,
        Err(ZipError::FileNotFound) => return Ok(None),
        Err(why) => return Err(damaged(&why)),
    };
    let mut bytes = Vec::new();
    // What the archive says of its size is not believed.
    entry
        .by_ref()
        .take(MAX_UNPACKED as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(|why| Unreadable::Damaged(format!("its archive is damaged: {why}")))?;
    if bytes.len() > MAX_UNPACKED {
        return Err(Unreadable::Beyond(ReadLimit::Unpacked, MAX_UNPACKED as u64));
    }
    text::decode(&bytes).map(Some)
}

/// The next event of a part. A declaration of a document type is where entity bombs are made; Word writes
/// none.
fn next<'a>(reader: &mut Reader<&'a [u8]>) -> Result<Event<'a>, Unreadable> {
    match reader.read_event() {
        Ok(Event::DocType(_)) => Err(Unreadable::Damaged("its XML declares a document type".into())),
        Ok(event) => Ok(event),
        Err(why) => Err(Unreadable::Damaged(format!("its XML is damaged: {why}"))),
    }
}

/// The words of an entity: a character by its number, or one of the five that XML has.
fn entity(reference: &quick_xml::events::BytesRef<'_>) -> Option<String> {
    if let Ok(Some(character)) = reference.resolve_char_ref() {
        return Some(character.to_string());
    }
    quick_xml::escape::resolve_predefined_entity(reference).map(str::to_owned)
}

fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let found = tag
        .attributes()
        .with_checks(false)
        .flatten()
        .find(|attribute| attribute.key.local_name().as_ref() == name)?;
    found.normalized_value(XmlVersion::Implicit1_0).ok().map(std::borrow::Cow::into_owned)
}

fn title(core: &str) -> Result<String, Unreadable> {
    let mut reader = Reader::from_str(core);
    let mut title = String::new();
    let mut inside = false;
    loop {
        match next(&mut reader)? {
            Event::Start(tag) => inside = tag.local_name().as_ref() == "title",
            Event::End(_) => inside = false,
            Event::Text(words) if inside => title.push_str(&words),
            Event::GeneralRef(reference) if inside => title.extend(entity(&reference)),
            Event::Eof => return Ok(title),
            _ => {}
        }
    }
}

/// The level of a heading by the id of its style.
fn heading_levels(styles: &str) -> Result<HashMap<String, u8>, Unreadable> {
    let mut reader = Reader::from_str(styles);
    let mut levels: HashMap<String, u8> = HashMap::new();
    let mut based: HashMap<String, String> = HashMap::new();
    let mut style = None;
    loop {
        match next(&mut reader)? {
            Event::Start(tag) | Event::Empty(tag) => match tag.local_name().as_ref() {
                "style" => style = attribute(&tag, "styleId"),
                "name" => {
                    if let (Some(id), Some(level)) = (&style, attribute(&tag, "val").and_then(named_level)) {
                        levels.insert(id.clone(), level);
                    }
                }
                "basedOn" => {
                    if let (Some(id), Some(base)) = (&style, attribute(&tag, "val")) {
                        based.insert(id.clone(), base);
                    }
                }
                "outlineLvl" => {
                    if let (Some(id), Some(level)) = (&style, outline_level(&tag)) {
                        levels.insert(id.clone(), level);
                    }
                }
                _ => {}
            },
            Event::Eof => break,
            _ => {}
        }
    }
    let mut inherited = Vec::new();
    for id in based.keys().filter(|id| !levels.contains_key(*id)) {
        // Styles that are based on each other in a circle stand on nothing.
        let ancestors = std::iter::successors(based.get(id), |base| based.get(*base)).take(MAX_BASED);
        if let Some(level) = ancestors.filter_map(|base| levels.get(base)).next() {
            inherited.push((id.clone(), *level));
        }
    }
    levels.extend(inherited);
    Ok(levels)
}

/// The level that the name of a style says: `heading 2`, `Title`.
fn named_level(name: String) -> Option<u8> {
    let name = name.to_lowercase();
    if name == "title" {
        return Some(1);
    }
    name.strip_prefix("heading")?.trim().parse().ok().filter(|level| (1..=9).contains(level))
}

/// The level of `outlineLvl`, which counts from 0; 9 is the text between headings.
fn outline_level(tag: &BytesStart<'_>) -> Option<u8> {
    let level: u8 = attribute(tag, "val")?.parse().ok()?;
    (level < 9).then_some(level + 1)
}

/// A table that is being read.
#[derive(Default)]
struct Table {
    rows: Vec<Vec<String>>,
    headings: bool,
}

/// The body of a document as it is read.
struct Body<'a> {
    levels: &'a HashMap<String, u8>,
    draft: &'a mut Draft,
    text: String,
    heading: Option<u8>,
    in_text: bool,
    /// How deep in what is not read: what was deleted or moved away, and the copy of a drawing for old
    /// programs.
    passed_over: usize,
    /// The tables that are open. One within a cell adds its words to that cell.
    depth: usize,
    table: Table,
}

impl<'a> Body<'a> {
    fn new(levels: &'a HashMap<String, u8>, draft: &'a mut Draft) -> Self {
        Self {
            levels,
            draft,
            text: String::new(),
            heading: None,
            in_text: false,
            passed_over: 0,
            depth: 0,
            table: Table::default(),
        }
    }

    fn read(mut self, body: &str) -> Result<(), Unreadable> {
        let mut reader = Reader::from_str(body);
        loop {
            match next(&mut reader)? {
                Event::Start(tag) => self.start(&tag, false)?,
                Event::Empty(tag) => self.start(&tag, true)?,
                Event::End(tag) => self.end(tag.local_name().as_ref())?,
                Event::Text(words) if self.reads() => self.text.push_str(&words),
                Event::CData(words) if self.reads() => self.text.push_str(&words.xml10_content()),
                Event::GeneralRef(reference) if self.reads() => self.text.extend(entity(&reference)),
                Event::Eof => return self.paragraph(),
                _ => {}
            }
        }
    }

    fn reads(&self) -> bool {
        self.in_text && self.passed_over == 0
    }

    fn start(&mut self, tag: &BytesStart<'_>, empty: bool) -> Result<(), Unreadable> {
        let name = tag.local_name();
        let name = name.as_ref();
        if passed_over(name) && !empty {
            self.passed_over += 1;
        }
        if self.passed_over > 0 {
            return Ok(());
        }
        match name {
            "t" => self.in_text = !empty,
            "tab" | "br" | "cr" => self.text.push(' '),
            "noBreakHyphen" => self.text.push('-'),
            "p" if self.depth == 0 => self.paragraph()?,
            "pStyle" => {
                let style = attribute(tag, "val").unwrap_or_default();
                self.heading =
                    self.levels.get(&style).copied().or_else(|| named_level(style)).or(self.heading);
            }
            "outlineLvl" => self.heading = outline_level(tag).or(self.heading),
            "tbl" if !empty => {
                if self.depth == 0 {
                    self.paragraph()?;
                    self.table = Table::default();
                }
                self.depth += 1;
            }
            "tblLook" if self.depth == 1 => {
                let by_mask = attribute(tag, "val")
                    .and_then(|mask| u32::from_str_radix(&mask, 16).ok())
                    .is_some_and(|mask| mask & 0x20 != 0);
                self.table.headings |= attribute(tag, "firstRow").map_or(by_mask, |first| first == "1");
            }
            "tblHeader" if self.depth == 1 => self.table.headings = true,
            "tr" if self.depth == 1 => self.table.rows.push(Vec::new()),
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, name: &str) -> Result<(), Unreadable> {
        if passed_over(name) {
            self.passed_over = self.passed_over.saturating_sub(1);
            return Ok(());
        }
        if self.passed_over > 0 {
            return Ok(());
        }
        match name {
            "t" => self.in_text = false,
            "p" if self.depth == 0 => self.paragraph()?,
            "p" => self.text.push(' '),
            "tc" if self.depth == 1 => {
                let cell = std::mem::take(&mut self.text);
                self.heading = None;
                if let Some(row) = self.table.rows.last_mut() {
                    row.push(cell);
                }
            }
            "tbl" => {
                self.depth = self.depth.saturating_sub(1);
                if self.depth == 0 {
                    let table = std::mem::take(&mut self.table);
                    let first = if table.headings { First::Headings } else { First::Unknown };
                    table::read(&table.rows, first, None, self.draft)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn paragraph(&mut self) -> Result<(), Unreadable> {
        let words = std::mem::take(&mut self.text);
        match self.heading.take() {
            Some(level) => self.draft.heading(level, &words),
            None => self.draft.paragraph(&words),
        }
    }
}

/// What of a document is not read.
fn passed_over(name: &str) -> bool {
    matches!(name, "del" | "moveFrom" | "Fallback")
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::knowledge::BlockKind::{Heading, Paragraph, TableRow};
    use domain::knowledge::ReadDocument;
    use std::io::Write;
    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    pub fn archive(parts: &[(&str, &[u8])]) -> Vec<u8> {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, bytes) in parts {
            writer.start_file(*name, SimpleFileOptions::default()).unwrap();
            writer.write_all(bytes).unwrap();
        }
        writer.finish().unwrap().into_inner()
    }

    fn document(body: &str) -> Vec<u8> {
        let styles = r#"<w:styles xmlns:w="w"><w:style w:styleId="U1"><w:name w:val="heading 1"/></w:style>
            <w:style w:styleId="Own"><w:basedOn w:val="U1"/></w:style>
            <w:style w:styleId="A"><w:basedOn w:val="B"/></w:style><w:style w:styleId="B"><w:basedOn w:val="A"/></w:style></w:styles>"#;
        let core = "<c:p xmlns:c='c' xmlns:d='d'><d:title>Returns &amp; refunds</d:title></c:p>";
        let body = format!(r#"<w:document xmlns:w="w"><w:body>{body}</w:body></w:document>"#);
        archive(&[
            ("word/document.xml", body.as_bytes()),
            ("word/styles.xml", styles.as_bytes()),
            ("docProps/core.xml", core.as_bytes()),
        ])
    }

    fn read_all(bytes: &[u8]) -> Result<ReadDocument, Unreadable> {
        let mut draft = Draft::default();
        read(bytes, &mut draft)?;
        Ok(draft.finish())
    }

    #[test]
    fn headings_lists_and_tables_are_kept() {
        let paragraph = |style: &str, words: &str| {
            format!(r#"<w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr><w:r><w:t>{words}</w:t></w:r></w:p>"#)
        };
        let cell = |words: &str| format!("<w:tc><w:p><w:r><w:t>{words}</w:t></w:r></w:p></w:tc>");
        let body = format!(
            r#"{}{}<w:p><w:r><w:t xml:space="preserve">within </w:t><w:tab/><w:t>30 &#x20B9;&lt;days</w:t></w:r>
            <w:del><w:r><w:delText>gone</w:delText><w:t>gone</w:t></w:r></w:del></w:p>
            <w:tbl><w:tblPr><w:tblLook w:val="04A0"/></w:tblPr><w:tr>{}{}</w:tr><w:tr>{}<w:tc>{}<w:tbl><w:tr>{}</w:tr></w:tbl><w:p/></w:tc></w:tr></w:tbl>{}"#,
            paragraph("U1", "Returns"),
            paragraph("Own", "Fees"),
            cell("City"),
            cell("Fee"),
            cell("Pune"),
            "<w:p><w:r><w:t>₹40</w:t></w:r></w:p>",
            cell("net"),
            paragraph("A", "After"),
        );
        let document = read_all(&document(&body)).unwrap();
        assert_eq!(document.title.as_deref(), Some("Returns & refunds"));
        let blocks: Vec<_> = document.blocks.iter().map(|block| (block.kind, block.text.as_str())).collect();
        let expected = [
            (Heading(1), "Returns"),
            (Heading(1), "Fees"),
            (Paragraph, "within 30 ₹<days"),
            (TableRow, "City: Pune; Fee: ₹40 net"),
            (Paragraph, "After"),
        ];
        assert_eq!(blocks, expected);
    }

    #[test]
    fn bombs_and_damage_are_errors() {
        let bomb = archive(&[("word/document.xml", &vec![b' '; MAX_UNPACKED + 1])]);
        assert!(bomb.len() < 1024 * 1024);
        assert_eq!(read_all(&bomb), Err(Unreadable::Beyond(ReadLimit::Unpacked, MAX_UNPACKED as u64)));
        let entities = archive(&[(
            "word/document.xml",
            b"<!DOCTYPE a [<!ENTITY b 'bbbbbbbb'><!ENTITY c '&b;&b;'>]><w:document>&c;</w:document>",
        )]);
        assert!(read_all(&entities).is_err_and(|why| why.to_string().contains("document type")));
        let other = archive(&[("xl/workbook.xml", b"<a/>")]);
        assert!(matches!(read_all(&other), Err(Unreadable::Unsupported(_))));
        let whole = document("<w:p><w:r><w:t>words</w:t></w:r></w:p>");
        for end in [4, whole.len() / 3, whole.len() / 2, whole.len() - 3] {
            assert!(matches!(read_all(&whole[..end]), Err(Unreadable::Damaged(_))), "{end}");
        }
        assert!(matches!(read_all(&document("<w:p></w:r>")), Err(Unreadable::Damaged(_))));
    }

    #[test]
    fn an_archive_within_an_archive_is_not_opened() {
        let inner = archive(&[("word/document.xml", &vec![b' '; MAX_UNPACKED + 1])]);
        let outer = archive(&[("inner.zip", &inner)]);
        assert!(matches!(read_all(&outer), Err(Unreadable::Unsupported(_))));
    }

    #[test]
    fn deep_nesting_takes_no_stack() {
        let body = format!(
            "{}<w:p><w:r><w:t>words</w:t></w:r></w:p>{}",
            "<w:x>".repeat(200_000),
            "</w:x>".repeat(200_000)
        );
        assert_eq!(read_all(&document(&body)).unwrap().blocks.len(), 1);
    }
}
