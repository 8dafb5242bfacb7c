//! A page for each error code, and their index. `docUrl` of an error body leads to these.

use std::collections::BTreeMap;

use api::error_codes::{ALL, ErrorCode};

use crate::advice;
use crate::page::{Block, Card, Kind, Page};
use crate::reference::{Described, card};

/// The pages: the index, and one a code.
pub fn pages(all: &[Described<'_>]) -> Vec<Page> {
    let mut codes: BTreeMap<&str, Vec<&ErrorCode>> = BTreeMap::new();
    for row in ALL {
        codes.entry(row.code).or_default().push(row);
    }
    let mut out = Vec::new();
    let mut statuses: BTreeMap<u16, Vec<Card>> = BTreeMap::new();
    for (code, rows) in &codes {
        for row in rows {
            let cards = statuses.entry(row.status).or_default();
            if !cards.iter().any(|card| card.title == *code) {
                let about = row.meaning.to_owned();
                cards.push(Card { title: (*code).to_owned(), href: path(code), about });
            }
        }
        out.push(page(code, rows, all));
    }
    let mut blocks = vec![Block::Markdown(
        "Every error is `{error, code, docUrl, meta}`: branch on `code`, show `error` to people. `docUrl` is the path of the \
         code's page here. [Errors](/docs/guides/errors) is the guide."
            .into(),
    )];
    for (status, cards) in statuses {
        blocks.push(Block::Heading {
            level: 2,
            id: format!("status-{status}"),
            text: format!("Status {status}"),
        });
        blocks.push(Block::Cards(cards));
    }
    out.insert(
        0,
        Page {
            path: "/docs/errors".into(),
            title: "Error codes".into(),
            about: "Every error code: what it means, what to do, and which operations answer with it.".into(),
            kind: Kind::Index,
            blocks,
        },
    );
    out
}

fn path(code: &str) -> String {
    format!("/docs/errors/{code}")
}

fn page(code: &str, rows: &[&ErrorCode], all: &[Described<'_>]) -> Page {
    let mut blocks =
        vec![Block::Heading { level: 2, id: "what-it-means".into(), text: "What it means".into() }];
    for row in rows {
        blocks.push(Block::Markdown(format!("**{}** {}", row.status, row.meaning)));
    }
    blocks.push(Block::Heading { level: 2, id: "what-to-do".into(), text: "What to do".into() });
    blocks.push(Block::Markdown(advice::of(code).unwrap_or_default().to_owned()));
    let cards: Vec<Card> = all
        .iter()
        .filter(|one| one.row.all_errors().iter().any(|error| error.code == code))
        .map(card)
        .collect();
    blocks.push(Block::Heading { level: 2, id: "operations".into(), text: "Operations".into() });
    blocks.push(match cards.len() {
        0 => Block::Markdown("Operations of the operator, or of the console, answer with it.".into()),
        1..=12 => Block::Cards(cards),
        many => Block::Folded { title: format!("{many} operations answer with it"), cards },
    });
    let about = rows.first().map(|row| row.meaning.to_owned()).unwrap_or_default();
    Page { path: path(code), title: code.to_owned(), about, kind: Kind::Error, blocks }
}
