//! The pages that are written by hand: guides, the contract, pages for operators. Each is a Markdown file of `docs/`.

use crate::markdown::{first_paragraph, split_title};
use crate::page::{Block, Card, Kind, Page};

/// Folder, name and text of every page.
const FILES: &[(&str, &str, &str)] = include!(concat!(env!("OUT_DIR"), "/markdown_pages.rs"));

/// The guides in the order in which they are read. Others follow by name.
const ORDER: &[&str] = &[
    "first-call",
    "test-mode",
    "nudges",
    "campaigns",
    "webhooks",
    "idempotency",
    "errors",
    "channel",
    "chat",
    "knowledge",
    "going-live",
    "compliance",
    "data-and-erasure",
];

/// All pages, guides first in their order, and the index of the guides.
pub fn pages(key_prefix: &str) -> Vec<Page> {
    let mut out: Vec<Page> = FILES.iter().filter_map(|file| written(file, key_prefix)).collect();
    out.sort_by_key(|page| {
        let name = page.path.rsplit('/').next().unwrap_or_default();
        let at = ORDER.iter().position(|each| *each == name).unwrap_or(ORDER.len());
        (page.kind != Kind::Guide, if page.kind == Kind::Guide { at } else { 0 })
    });
    out.insert(0, index(&out));
    out
}

/// Links to the guides.
pub fn guide_cards(pages: &[Page]) -> Vec<Card> {
    pages
        .iter()
        .filter(|page| page.kind == Kind::Guide)
        .map(|page| Card { title: page.title.clone(), href: page.path.clone(), about: page.about.clone() })
        .collect()
}

fn index(pages: &[Page]) -> Page {
    Page {
        path: "/docs/guides".into(),
        title: "Guides".into(),
        about: "From the first call to production, each in a few minutes.".into(),
        kind: Kind::Index,
        blocks: vec![
            Block::Markdown(
                "Each guide takes a few minutes. The commands run as they are pasted against `dastak dev`, in the order in \
                 which they stand; code that needs values of your own says so."
                    .into(),
            ),
            Block::Cards(guide_cards(pages)),
        ],
    }
}

fn written((folder, name, source): &(&str, &str, &str), key_prefix: &str) -> Option<Page> {
    let (title, rest) = split_title(source)?;
    let path = if *name == "README" { format!("/docs/{folder}") } else { format!("/docs/{folder}/{name}") };
    let kind = match *folder {
        "guides" => Kind::Guide,
        "operating" => Kind::Operating,
        _ => Kind::Contract,
    };
    let rest = match key_prefix {
        "dastak" => rest.to_owned(),
        prefix => rest
            .replace("dastak_test_", &format!("{prefix}_test_"))
            .replace("dastak_live_", &format!("{prefix}_live_")),
    };
    Some(Page {
        path,
        title: title.to_owned(),
        about: first_paragraph(&rest),
        kind,
        blocks: vec![Block::Markdown(rest)],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_a_page_and_every_guide_of_the_order_is_there() {
        let pages = pages("dastak");
        assert_eq!(pages.len(), FILES.len() + 1, "a file does not begin with a heading");
        let guides: Vec<&str> = pages
            .iter()
            .filter(|page| page.kind == Kind::Guide)
            .filter_map(|page| page.path.rsplit('/').next())
            .collect();
        assert_eq!(&guides[..ORDER.len()], ORDER);
        for page in &pages {
            assert!(page.about.len() > 20, "{} begins without a paragraph", page.path);
        }
    }

    #[test]
    fn keys_have_the_prefix_of_the_settings() {
        let source = ("guides", "x", "# X\n\nKeys are `dastak_test_…`.\n");
        let page = written(&source, "acme").unwrap();
        assert_eq!(page.about, "Keys are acme_test_….");
    }
}
