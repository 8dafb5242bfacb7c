//! The start page, the list of pages beside every page, and `llms.txt`.

use std::fmt::Write as _;

use crate::html::escape;
use crate::page::{Block, Card, Kind, Page, markdown_path};
use crate::written::guide_cards;

/// `/docs`.
pub fn page(brand: &str, written: &[Page]) -> Page {
    let card = |title: &str, href: &str, about: &str| Card {
        title: title.to_owned(),
        href: href.to_owned(),
        about: about.to_owned(),
    };
    let heading = |text: &str| Block::Heading {
        level: 2,
        id: text.to_lowercase().replace(' ', "-"),
        text: text.to_owned(),
    };
    Page {
        path: "/docs".into(),
        title: format!("{brand} documentation"),
        about: "Voice and chat agents for India: guides, the API reference, events and error codes.".into(),
        kind: Kind::Index,
        blocks: vec![
            Block::Markdown(
                "Voice and chat agents that call, are called and write, in the languages of India, within the rules of \
                 Indian law. Begin with [the first call](/docs/guides/first-call): it takes five minutes and needs no account \
                 anywhere."
                    .into(),
            ),
            heading("Guides"),
            Block::Cards(guide_cards(written)),
            heading("What is what"),
            Block::Markdown(NOUNS.into()),
            heading("Look it up"),
            Block::Cards(vec![
                card("API reference", "/docs/reference", "every operation, with curl, Python, TypeScript, and a form to try it"),
                card("Events", "/docs/events", "what webhook endpoints receive"),
                card("Error codes", "/docs/errors", "what each means and what to do"),
                card("Scopes", "/docs/scopes", "what a key may call"),
                card("The contract", "/docs/contract", "what is promised: states, limits, times, ordering"),
                card("Operating", "/docs/operating", "settings, trunks, speech, many nodes, backups"),
            ]),
            Block::Markdown(
                "For programs: [`/v1/openapi.json`](/v1/openapi.json) (OpenAPI 3.1) and [`/llms.txt`](/llms.txt). Every page \
                 is Markdown, too: add `.md` to its address, or send `Accept: text/markdown`."
                    .into(),
            ),
        ],
    }
}

const NOUNS: &str = "\
| noun | is |
|---|---|
| [agent](/docs/contract/agents) | who talks: a prompt or a [flow](/docs/contract/flows), a voice, a language; on the telephone or in chats |
| [call](/docs/contract/calls) | one call, with its transcript, recording, outcome and timeline |
| [nudge](/docs/contract/nudges) | one call to one person that waits for the calling hours, is tried again, and has one result |
| [scheduled call](/docs/contract/scheduled-calls) | a call at a set time |
| [campaign](/docs/contract/campaigns) | an agent, a list of people, and the hours in which they are called |
| [data stream](/docs/contract/streams) | people who arrive by themselves: a webhook, a spreadsheet, a CRM |
| [contact](/docs/contract/contacts) | a person: number, attributes, consent, opt-outs |
| [chat](/docs/contract/chats) | a conversation in writing, over the API or on the messaging channel |
| [knowledge base](/docs/contract/knowledge-bases) | the texts, files and pages from which agents answer |
| [webhook endpoint](/docs/contract/webhooks) | where events are sent |
| [wallet](/docs/contract/wallet) | the prepaid balance from which live calls are paid |
| [decision log](/docs/contract/decision-log) | why each call was allowed or refused, in a chain that shows tampering |
| [test and live](/docs/contract/README.md#modes) | the two modes of a key: a test key never rings a phone |
";

/// The list of pages, HTML.
pub fn navigation(pages: &[Page]) -> String {
    let mut out = String::new();
    let mut list = |title: &str, href: &str, items: &mut dyn Iterator<Item = &Page>| {
        let _ = writeln!(out, "<p><a href=\"{href}\">{title}</a></p>\n<ul>");
        for page in items {
            let _ = writeln!(out, "<li><a href=\"{}\">{}</a></li>", escape(&page.path), escape(&page.title));
        }
        out.push_str("</ul>\n");
    };
    list("Guides", "/docs/guides", &mut pages.iter().filter(|page| page.kind == Kind::Guide));
    list("Reference", "/docs/reference", &mut pages.iter().filter(|page| page.kind == Kind::Reference));
    let indexes = ["/docs/events", "/docs/errors", "/docs/scopes", "/docs/contract", "/docs/operating"];
    list("More", "/docs", &mut pages.iter().filter(|page| indexes.contains(&page.path.as_str())));
    out
}

/// The index for language models (llmstxt.org): every page with a line about it.
pub fn llms(pages: &[Page], brand: &str) -> String {
    let mut out = format!(
        "# {brand} API\n\n> Voice and chat agents for India over HTTP: calls, nudges, campaigns, chats, a messaging channel, \
         webhooks. Every page below is Markdown. The OpenAPI document is at /v1/openapi.json.\n\n\
         Use a test key (`…_test_…`) while you try things: it never rings a phone and costs nothing.\n"
    );
    let sections = [
        ("Guides", Kind::Guide),
        ("Reference", Kind::Reference),
        ("Events", Kind::Event),
        ("Contract", Kind::Contract),
        ("Operating", Kind::Operating),
        ("Optional", Kind::Error),
    ];
    for (title, kind) in sections {
        let _ = writeln!(out, "\n## {title}\n");
        for page in pages.iter().filter(|page| page.kind == kind) {
            let about = page.about.split_whitespace().collect::<Vec<_>>().join(" ");
            let _ = writeln!(out, "- [{}]({}): {about}", page.title, markdown_path(&page.path));
        }
    }
    out
}
