//! A page as Markdown.

use std::fmt::Write as _;

use crate::links::Links;
use crate::markdown::with_links;
use crate::page::{Block, Card, Page, markdown_path};
use crate::schema::Field;

/// The whole page.
pub fn page(page: &Page, links: &Links) -> String {
    let mut out = format!("# {}\n\n", page.title);
    for block in &page.blocks {
        push_block(&mut out, page, block, links);
        if !out.ends_with("\n\n") {
            out.push('\n');
        }
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

fn push_block(out: &mut String, page: &Page, block: &Block, links: &Links) {
    match block {
        Block::Markdown(source) => {
            let _ = writeln!(out, "{}", with_links(source, &page.base(), links).trim());
        }
        Block::Heading { level, text, .. } => {
            let _ = writeln!(out, "{} {text}", "#".repeat(usize::from(*level)));
        }
        Block::Endpoint { method, path } => {
            let _ = writeln!(out, "`{method} {path}`");
        }
        Block::Fields(fields) => push_fields(out, fields, 0),
        Block::Samples(samples) => {
            for sample in samples {
                let _ = writeln!(out, "```{}\n{}\n```\n", sample.language, sample.code.trim_end());
            }
        }
        Block::Cards(cards) => push_cards(out, cards),
        Block::Folded { title, cards } => {
            let _ = writeln!(out, "{title}:\n");
            push_cards(out, cards);
        }
        Block::Try(_) => {}
    }
}

fn push_fields(out: &mut String, fields: &[Field], level: usize) {
    for field in fields {
        let notes: String = field.notes.iter().map(|note| format!(", {note}")).collect();
        let optional = if field.required { "" } else { ", optional" };
        let about = field.about.split_whitespace().collect::<Vec<_>>().join(" ");
        let _ = write!(out, "{}- `{}` ({}{notes}{optional})", "  ".repeat(level), field.name, field.kind);
        if !about.is_empty() {
            let _ = write!(out, ": {about}");
        }
        if !field.words.is_empty() {
            let words: Vec<String> = field.words.iter().map(|word| format!("`{word}`")).collect();
            let _ = write!(
                out,
                " One of {}{}.",
                words.join(", "),
                if field.open { "; new words may be added" } else { "" }
            );
        }
        out.push('\n');
        push_fields(out, &field.nested, level + 1);
    }
}

/// Links to pages of the manual lead to their Markdown.
fn push_cards(out: &mut String, cards: &[Card]) {
    for card in cards {
        let about = if card.about.is_empty() { String::new() } else { format!(": {}", card.about) };
        let _ = writeln!(out, "- [{}]({}){about}", card.title, markdown_path(&card.href));
    }
}
