//! The search index: an entry for each page, operation and section, read by the search field of the pages.

use serde_json::{Value, json};

use crate::markdown::sections;
use crate::page::{Block, Kind, Page};

/// Most characters of the text of an entry.
const TEXT: usize = 240;

/// The index as JSON: a list of `[title, address, kind, text]`.
pub fn index(pages: &[Page]) -> String {
    let mut entries: Vec<Value> = Vec::new();
    for page in pages {
        entries.push(entry(&page.title, &page.path, page.kind.label(), &page.about));
        for (at, block) in page.blocks.iter().enumerate() {
            match block {
                Block::Heading { level: 2, id, text } if page.kind == Kind::Reference => {
                    let endpoint = match page.blocks.get(at + 1) {
                        Some(Block::Endpoint { method, path }) => format!("{method} {path} {id}"),
                        _ => String::new(),
                    };
                    entries.push(entry(text, &format!("{}#{id}", page.path), page.kind.label(), &endpoint));
                }
                Block::Markdown(source)
                    if matches!(page.kind, Kind::Guide | Kind::Contract | Kind::Operating) =>
                {
                    for (heading, text) in sections(source) {
                        let title = format!("{} › {}", page.title, heading.text);
                        entries.push(entry(
                            &title,
                            &format!("{}#{}", page.path, heading.id),
                            page.kind.label(),
                            &text,
                        ));
                    }
                }
                _ => {}
            }
        }
    }
    Value::Array(entries).to_string()
}

fn entry(title: &str, address: &str, kind: &str, text: &str) -> Value {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    json!([title, address, kind, words.chars().take(TEXT).collect::<String>()])
}
