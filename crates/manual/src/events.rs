//! A page for each event of the section `webhooks` of the document, and their index.

use serde_json::Value;

use crate::page::{Block, Card, Kind, Page, Sample};
use crate::samples::pretty;
use crate::schema::Schemas;

/// The pages: the index, and one an event.
pub fn pages(document: &Value) -> Vec<Page> {
    let schemas = Schemas::new(document);
    let mut cards = Vec::new();
    let mut out = Vec::new();
    for (name, item) in document["webhooks"].as_object().into_iter().flatten() {
        let page = event(&schemas, name, &item["post"]);
        cards.push(Card { title: name.clone(), href: page.path.clone(), about: page.about.clone() });
        out.push(page);
    }
    let blocks = vec![
        Block::Markdown(
            "What the service sends to [webhook endpoints](/docs/guides/webhooks). Each event is a request with the envelope \
             `{id, type, createdAt, livemode, data}`; its page has the members of `data` and a sample. Deliveries, retries \
             and the signature are in [the contract](/docs/contract/webhooks)."
                .into(),
        ),
        Block::Cards(cards),
    ];
    out.insert(
        0,
        Page {
            path: "/docs/events".into(),
            title: "Events".into(),
            about: "Every event that webhook endpoints receive.".into(),
            kind: Kind::Index,
            blocks,
        },
    );
    out
}

fn event<'a>(schemas: &Schemas<'a>, name: &str, about: &'a Value) -> Page {
    let description = about["description"].as_str().unwrap_or_default();
    let media = &about["requestBody"]["content"]["application/json"];
    let mut blocks = vec![Block::Markdown(description.to_owned())];
    blocks.push(Block::Heading { level: 2, id: "members".into(), text: "Members".into() });
    blocks.push(Block::Fields(schemas.fields(&media["schema"])));
    let samples = media["examples"].as_object().into_iter().flatten();
    if let Some(sample) = samples.filter_map(|(_, example)| example.get("value")).next() {
        blocks.push(Block::Heading { level: 2, id: "sample".into(), text: "Sample".into() });
        let code = serde_json::to_string_pretty(sample).unwrap_or_else(|_| pretty(sample));
        blocks.push(Block::Samples(vec![Sample { label: "JSON", language: "json", code }]));
    }
    blocks.push(Block::Heading { level: 2, id: "receive-it".into(), text: "Receive it".into() });
    blocks.push(Block::Markdown(
        "Name it in `events` of [an endpoint](/docs/reference/webhooks#createWebhook), and send yourself the sample:".into(),
    ));
    blocks.push(Block::Samples(vec![Sample {
        label: "curl",
        language: "sh",
        code: format!(
            "curl -s \"$DASTAK_BASE_URL/v1/events/trigger\" \\\n  -H \"Authorization: Bearer $DASTAK_API_KEY\" \\\n  \
             -H \"Content-Type: application/json\" \\\n  -d '{{\"type\": \"{name}\"}}'"
        ),
    }]));
    blocks.push(Block::Markdown(
        "Verify the signature before you believe it: [webhooks and signatures](/docs/guides/webhooks)."
            .into(),
    ));
    let first = description.split_inclusive(". ").next().unwrap_or_default().trim().to_owned();
    Page {
        path: format!("/docs/events/{name}"),
        title: name.to_owned(),
        about: first,
        kind: Kind::Event,
        blocks,
    }
}
