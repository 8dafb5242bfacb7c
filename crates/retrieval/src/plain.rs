//! A plain text as a document.

use domain::knowledge::{Block, BlockKind, ReadDocument};

/// Parses a plain text: empty lines separate its paragraphs, `#` marks headings as in Markdown, and lines that begin
/// with `-`, `*` or `•` are items of a list.
pub fn read_text(text: &str) -> ReadDocument {
    let mut read = ReadDocument::default();
    let mut paragraph = String::new();
    let end = |paragraph: &mut String, blocks: &mut Vec<Block>| {
        if !paragraph.is_empty() {
            blocks.push(block(BlockKind::Paragraph, std::mem::take(paragraph)));
        }
    };
    for line in text.lines().map(str::trim) {
        if let Some((level, heading)) = heading(line) {
            end(&mut paragraph, &mut read.blocks);
            read.blocks.push(block(BlockKind::Heading(level), heading.to_owned()));
            continue;
        }
        if line.is_empty() || line.starts_with(['-', '*', '•']) {
            end(&mut paragraph, &mut read.blocks);
        }
        if !line.is_empty() {
            if !paragraph.is_empty() {
                paragraph.push(' ');
            }
            paragraph.push_str(line);
        }
    }
    end(&mut paragraph, &mut read.blocks);
    read
}

fn block(kind: BlockKind, text: String) -> Block {
    Block { kind, text, page: None }
}

fn heading(line: &str) -> Option<(u8, &str)> {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    let heading = text.strip_prefix(' ')?.trim();
    ((1..=6).contains(&level) && !heading.is_empty()).then_some((level as u8, heading))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_headings_and_items() {
        let read =
            read_text("# Returns\nWithin 30\ndays.\n\nTo the shop.\n- item one\n- item two\n#no heading");
        let shown: Vec<(BlockKind, &str)> =
            read.blocks.iter().map(|block| (block.kind, block.text.as_str())).collect();
        assert_eq!(
            shown,
            [
                (BlockKind::Heading(1), "Returns"),
                (BlockKind::Paragraph, "Within 30 days."),
                (BlockKind::Paragraph, "To the shop."),
                (BlockKind::Paragraph, "- item one"),
                (BlockKind::Paragraph, "- item two #no heading"),
            ]
        );
    }
}
