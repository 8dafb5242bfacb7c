//! Word documents (Office Open XML): an archive of XML parts, of which the main one, its styles and its notes are
//! parsed.
//!
//! | file | holds |
//! |---|---|
//! | `parts` | finding the parts: `_rels` name them, wherever they are |
//! | `styles` | properties of styles: levels of headings, hidden text, fonts |
//! | `body` | the text |

mod body;
mod parts;
mod styles;
mod xml;

use domain::ports::Unreadable;
use quick_xml::Reader;
use quick_xml::events::Event;

use crate::draft::Draft;
use crate::legacy;
use body::{Body, Notes};
use parts::Package;
use styles::Styles;
use xml::{entity, next};

/// Reads a Word document.
///
/// # Errors
/// It is damaged, none, or beyond the limits of a document.
pub fn read(bytes: &[u8], draft: &mut Draft) -> Result<(), Unreadable> {
    let mut package = Package::open(bytes)?;
    let Some((main, body)) = package.main()? else {
        return Err(Unreadable::Unsupported("an archive that is no Word document".into()));
    };
    if let Some(core) = package.properties()? {
        draft.title(&title(&core)?);
    }
    let styles = package.related(&main, "styles")?.map(|styles| Styles::read(&styles)).transpose()?;
    let styles = styles.unwrap_or_default();
    let mut notes = Notes::default();
    for kind in ["footnotes", "endnotes"] {
        if let Some(part) = package.related(&main, kind)? {
            Body::new(&styles, draft).notes(&part, &mut notes)?;
        }
    }
    let letters = Body::new(&styles, draft).read(&body, notes)?;
    if legacy::is_nonsense(letters.legacy, letters.all) {
        return Err(Unreadable::Damaged(legacy::REASON.into()));
    }
    Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MAX_UNPACKED;
    use domain::knowledge::BlockKind::{Heading, Paragraph, TableRow};
    use domain::knowledge::ReadDocument;
    use domain::ports::ReadLimit;
    use std::io::{Cursor, Write};
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

    fn texts(bytes: &[u8]) -> Vec<String> {
        read_all(bytes).unwrap().blocks.into_iter().map(|block| block.text).collect()
    }

    fn relations(of: &[(&str, &str)]) -> String {
        let each = of.iter().map(|(kind, target)| {
            format!(r#"<Relationship Id="a" Type="http://x/{kind}" Target="{target}"/>"#)
        });
        format!("<Relationships>{}</Relationships>", each.collect::<String>())
    }

    #[test]
    fn the_relations_name_the_parts() {
        let body = r#"<w:document><w:body><w:p><w:pPr><w:pStyle w:val="A"/></w:pPr><w:r><w:t>Fees</w:t><w:footnoteReference w:id="7"/></w:r></w:p></w:body></w:document>"#;
        let styles = r#"<w:styles><w:style w:styleId="A"><w:name w:val="heading 2"/></w:style></w:styles>"#;
        let notes = r#"<w:footnotes><w:footnote w:id="7"><w:p><w:r><w:t>a note</w:t></w:r></w:p></w:footnote></w:footnotes>"#;
        for (root, main, own, style, note) in [
            (
                "word/document2.xml",
                "word/document2.xml",
                "word/_rels/document2.xml.rels",
                "styles2.xml",
                "word/styles2.xml",
            ),
            ("/Docs/Body.xml", "docs/body.xml", "Docs/_rels/Body.xml.rels", "./x/../s.xml", "Docs/s.xml"),
            ("main.xml", "main.xml", "_rels/main.xml.rels", "/w/s.xml", "w/s.xml"),
        ] {
            let of_root = relations(&[("other", "x.xml"), ("officeDocument", root)]);
            let of_main = relations(&[("styles", style), ("footnotes", "/n/notes.xml")]);
            let bytes = archive(&[
                ("_rels/.rels", of_root.as_bytes()),
                (main, body.as_bytes()),
                (own, of_main.as_bytes()),
                (note, styles.as_bytes()),
                ("n\\notes.xml", notes.as_bytes()),
            ]);
            let blocks = read_all(&bytes).unwrap().blocks;
            assert_eq!((blocks[0].kind, blocks[0].text.as_str()), (Heading(2), "Fees (a note)"), "{root}");
        }
        let sheet = archive(&[
            ("_rels/.rels", relations(&[("officeDocument", "xl/workbook.xml")]).as_bytes()),
            ("xl/workbook.xml", b"<workbook/>"),
        ]);
        assert!(matches!(read_all(&sheet), Err(Unreadable::Unsupported(_))));
        let outside = archive(&[(
            "_rels/.rels",
            br#"<R><Relationship Type="x/officeDocument" Target="http://a.example/b" TargetMode="External"/></R>"#,
        )]);
        assert!(matches!(read_all(&outside), Err(Unreadable::Unsupported(_))));
    }

    #[test]
    fn hidden_text_is_left_out() {
        let styles = r#"<w:styles><w:style w:type="paragraph" w:styleId="Secret"><w:basedOn w:val="Base"/></w:style>
            <w:style w:styleId="Base"><w:rPr><w:vanish/></w:rPr></w:style>
            <w:style w:type="character" w:styleId="Quiet"><w:rPr><w:vanish w:val="on"/></w:rPr></w:style>
            <w:style w:styleId="Table"><w:tblStylePr><w:rPr><w:vanish/></w:rPr></w:tblStylePr></w:style></w:styles>"#;
        let run = |properties: &str, words: &str| {
            format!("<w:r><w:rPr>{properties}</w:rPr><w:t xml:space='preserve'>{words} </w:t></w:r>")
        };
        let paragraph = |properties: &str, runs: &[String]| {
            format!("<w:p><w:pPr>{properties}</w:pPr>{}</w:p>", runs.concat())
        };
        let body = [
            paragraph("", &[run("", "one"), run("<w:vanish/>", "GONE"), run("<w:vanish w:val='0'/>", "two")]),
            paragraph("", &[run("<w:rStyle w:val='Quiet'/>", "GONE"), run("<w:webHidden/>", "three")]),
            paragraph("<w:pStyle w:val='Secret'/>", &[run("", "GONE"), run("<w:vanish w:val='false'/>", "four")]),
            // Only its mark is hidden, or was before a change.
            paragraph("<w:rPr><w:vanish/></w:rPr>", &[run("", "five")]),
            paragraph("", &[run("<w:rPrChange><w:rPr><w:vanish/></w:rPr></w:rPrChange>", "six")]),
            paragraph("<w:pStyle w:val='Table'/>", &[run("", "seven")]),
            "<w:tbl><w:tr><w:trPr><w:hidden/></w:trPr><w:tc><w:p><w:r><w:t>GONE</w:t></w:r></w:p></w:tc></w:tr>\
             <w:tr><w:tc><w:p><w:r><w:t>eight</w:t></w:r></w:p></w:tc></w:tr></w:tbl>"
                .to_owned(),
        ];
        let body = format!("<w:document><w:body>{}</w:body></w:document>", body.concat());
        let bytes =
            archive(&[("word/document.xml", body.as_bytes()), ("word/styles.xml", styles.as_bytes())]);
        assert_eq!(texts(&bytes), ["one two", "three", "four", "five", "six", "seven", "eight"]);
    }

    #[test]
    fn notes_stand_where_they_are_referred_to() {
        let body = r#"<w:document><w:body><w:p><w:r><w:t>Free</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r><w:r><w:t>, paid</w:t></w:r>
            <w:r><w:endnoteReference w:id="2"/></w:r></w:p><w:p><w:r><w:t>Again</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r></w:p>
            <w:tbl><w:tr><w:tc><w:p><w:r><w:t>Fee</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>40</w:t><w:footnoteReference w:id="3"/></w:r></w:p></w:tc></w:tr></w:tbl></w:body></w:document>"#;
        let footnotes = r#"<w:footnotes><w:footnote w:type="separator" w:id="0"><w:p><w:r><w:separator/></w:r></w:p></w:footnote>
            <w:footnote w:id="2"><w:p><w:r><w:footnoteRef/></w:r><w:r><w:t>not perfumes</w:t></w:r></w:p><w:p><w:r><w:t>or sale</w:t></w:r><w:r><w:rPr><w:vanish/></w:rPr><w:t>GONE</w:t></w:r></w:p></w:footnote>
            <w:footnote w:id="3"><w:tbl><w:tr><w:tc><w:p><w:r><w:t>with tax</w:t></w:r></w:p></w:tc></w:tr></w:tbl></w:footnote></w:footnotes>"#;
        let endnotes = r#"<w:endnotes><w:endnote w:id="2"><w:p><w:r><w:t>since May</w:t></w:r></w:p></w:endnote></w:endnotes>"#;
        let bytes = archive(&[
            ("word/document.xml", body.as_bytes()),
            ("word/footnotes.xml", footnotes.as_bytes()),
            ("word/endnotes.xml", endnotes.as_bytes()),
        ]);
        assert_eq!(
            texts(&bytes),
            ["Free (not perfumes or sale), paid (since May)", "Again", "Fee: 40 (with tax)"]
        );
    }

    #[test]
    fn cells_that_are_merged_stand_at_their_places() {
        let cell = |properties: &str, words: &str| {
            format!("<w:tc><w:tcPr>{properties}</w:tcPr><w:p><w:r><w:t>{words}</w:t></w:r></w:p></w:tc>")
        };
        let row = |properties: &str, cells: &[String]| {
            format!("<w:tr><w:trPr>{properties}</w:trPr>{}</w:tr>", cells.concat())
        };
        let (restart, below) = ("<w:vMerge w:val='restart'/>", "<w:vMerge/>");
        let body = format!(
            "<w:tbl>{}</w:tbl><w:tbl>{}</w:tbl>",
            [
                row("<w:tblHeader/>", &[cell(restart, "City"), cell("<w:gridSpan w:val='2'/>", "Fee")]),
                row("<w:tblHeader/>", &[cell(below, ""), cell("", "Day"), cell("", "Night")]),
                row("", &[cell(restart, "Pune"), cell("", "40"), cell("", "60")]),
                row("", &[cell(below, ""), cell("<w:gridSpan w:val='2'/>", "free at noon")]),
            ]
            .concat(),
            [
                row("", &[cell("", "Plan"), cell("", "Fee"), cell("", "Calls")]),
                row("<w:gridBefore w:val='1'/>", &[cell("", "5"), cell("", "10")]),
                row(
                    "",
                    &[
                        cell("", "Gold"),
                        cell("<w:hMerge w:val='restart'/>", "on request"),
                        cell("<w:hMerge/>", "")
                    ]
                ),
            ]
            .concat(),
        );
        assert_eq!(
            texts(&document(&body)),
            [
                "City: Pune; Fee Day: 40; Fee Night: 60",
                "City: Pune; Fee Day: free at noon",
                "Fee: 5; Calls: 10",
                "Plan: Gold; Fee: on request",
            ]
        );
    }

    #[test]
    fn fonts_from_before_unicode_are_refused() {
        let run = |font: &str, words: &str| {
            format!(
                "<w:p><w:r><w:rPr><w:rFonts w:ascii='{font}' w:hAnsi='{font}'/></w:rPr><w:t>{words}</w:t></w:r></w:p>"
            )
        };
        let refused =
            |body: String| read_all(&document(&body)).is_err_and(|why| why.to_string().contains("Unicode"));
        assert!(refused(run("Kruti Dev 010", "twrs okil")));
        assert!(refused(run("Arial", "Shoes come back.") + &run("DevLys 010", "fnu")));
        assert!(!refused(run("Kruti Dev 010", "जूते वापस")));
        assert!(!refused(run("Mangal", "twrs okil")));
    }
}
