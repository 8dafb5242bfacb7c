//! Markdown (CommonMark with tables).

use domain::ports::Unreadable;
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::draft::Draft;
use crate::{html, table};

/// Parses a text in Markdown.
///
/// # Errors
/// It is beyond the limits of a document.
pub fn read(text: &str, draft: &mut Draft) -> Result<(), Unreadable> {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS;
    let mut words = Words::default();
    for event in Parser::new_ext(text, options) {
        words.take(event, draft)?;
    }
    words.end_paragraph(draft)
}

/// The text of the current block.
#[derive(Default)]
struct Words {
    text: String,
    html: String,
    rows: Vec<Vec<String>>,
}

impl Words {
    fn end_paragraph(&mut self, draft: &mut Draft) -> Result<(), Unreadable> {
        draft.paragraph(&std::mem::take(&mut self.text))
    }

    fn take(&mut self, event: Event<'_>, draft: &mut Draft) -> Result<(), Unreadable> {
        match event {
            Event::Start(tag) => self.start(&tag, draft),
            Event::End(tag) => self.end(tag, draft),
            Event::Text(text) | Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.text.push_str(&text);
                Ok(())
            }
            Event::Html(html) => {
                self.html.push_str(&html);
                Ok(())
            }
            // Tags within a sentence: their content comes as text.
            Event::InlineHtml(_) | Event::SoftBreak | Event::HardBreak => {
                self.text.push(' ');
                Ok(())
            }
            Event::Rule => self.end_paragraph(draft),
            Event::FootnoteReference(_) | Event::TaskListMarker(_) => Ok(()),
        }
    }

    fn start(&mut self, tag: &Tag<'_>, draft: &mut Draft) -> Result<(), Unreadable> {
        match tag {
            Tag::Table(_) => {
                self.end_paragraph(draft)?;
                self.rows.clear();
            }
            Tag::TableHead | Tag::TableRow => self.rows.push(Vec::new()),
            Tag::TableCell => self.text.clear(),
            Tag::Paragraph
            | Tag::Heading { .. }
            | Tag::BlockQuote(_)
            | Tag::CodeBlock(_)
            | Tag::HtmlBlock
            | Tag::List(_)
            | Tag::Item
            | Tag::FootnoteDefinition(_) => self.end_paragraph(draft)?,
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, tag: TagEnd, draft: &mut Draft) -> Result<(), Unreadable> {
        match tag {
            TagEnd::Heading(level) => {
                draft.heading(level_of(level), &std::mem::take(&mut self.text))?;
            }
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.text);
                if let Some(row) = self.rows.last_mut() {
                    row.push(cell);
                }
            }
            TagEnd::Table => {
                let rows = std::mem::take(&mut self.rows);
                table::read(&rows, table::First::Headings, draft)?;
            }
            TagEnd::HtmlBlock => html::fragment(&std::mem::take(&mut self.html), draft)?,
            TagEnd::MetadataBlock(_) => {
                let metadata = std::mem::take(&mut self.text);
                let title = metadata.lines().find_map(|line| line.strip_prefix("title:"));
                if let Some(title) = title {
                    draft.title(title.trim().trim_matches(['"', '\'']));
                }
            }
            TagEnd::Paragraph
            | TagEnd::BlockQuote(_)
            | TagEnd::CodeBlock
            | TagEnd::List(_)
            | TagEnd::Item
            | TagEnd::FootnoteDefinition => self.end_paragraph(draft)?,
            _ => {}
        }
        Ok(())
    }
}

fn level_of(level: HeadingLevel) -> u8 {
    level as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::knowledge::BlockKind::{self, Heading, Paragraph, TableRow};

    fn blocks(text: &str) -> (Option<String>, Vec<(BlockKind, String)>) {
        let mut draft = Draft::default();
        read(text, &mut draft).unwrap();
        let document = draft.finish();
        (document.title, document.blocks.into_iter().map(|block| (block.kind, block.text)).collect())
    }

    #[test]
    fn headings_lists_and_tables_are_kept() {
        let text = "# Returns\n\nSend it **back** within\n30 [days](https://example.com).\n\n- Pack it\n  - well\n- Send `it`\n\n## Fees\n\n| City | Fee |\n|---|---|\n| Pune | ₹40 |\n\n<div>Ask <b>us</b></div>\n\n> Note\n";
        let (title, blocks) = blocks(text);
        assert_eq!(title.as_deref(), Some("Returns"));
        let expected = [
            (Heading(1), "Returns"),
            (Paragraph, "Send it back within 30 days."),
            (Paragraph, "Pack it"),
            (Paragraph, "well"),
            (Paragraph, "Send it"),
            (Heading(2), "Fees"),
            (TableRow, "City: Pune; Fee: ₹40"),
            (Paragraph, "Ask us"),
            (Paragraph, "Note"),
        ];
        let expected: Vec<_> = expected.into_iter().map(|(kind, text)| (kind, text.to_owned())).collect();
        assert_eq!(blocks, expected);
    }

    #[test]
    fn the_front_matter_names_the_document() {
        let (title, blocks) = blocks("---\ntitle: \"Opening hours\"\ntags: a\n---\nFrom 9 to 5.\n");
        assert_eq!(title.as_deref(), Some("Opening hours"));
        assert_eq!(blocks, [(Paragraph, "From 9 to 5.".to_owned())]);
    }

    #[test]
    fn deep_nesting_takes_no_stack() {
        let (_, deep) = blocks(&format!("{}a", ">".repeat(100_000)));
        assert_eq!(deep.len(), 1);
    }
}
