//! Messages: what goes out, and what came of it. The API has no key that would tell a repetition, so a request
//! that may have arrived is never made again.

use domain::channel::content::{
    Ask as Asked, Content, Interactive, MAX_PROVIDER_ID, Media, MediaKind, MediaSource, Outgoing, Recipient,
};
use domain::channel::errors::Effect;
use domain::channel::provider::{Account, Sent};
use serde_json::{Value, json};

use crate::client::Cloud;
use crate::wire::{self, Answered, Ask, Unanswered, path};

pub(crate) async fn send(cloud: &Cloud, account: &Account, from: &str, outgoing: &Outgoing) -> Sent {
    let ask = Ask::post(path(&[from, "messages"], &[]), &body(outgoing)).unrepeated();
    outcome(account, cloud.exchange(account, ask).await)
}

/// What came of it (docs/contract/channel.md#what-came-of-a-message).
fn outcome(account: &Account, answer: Result<Answered, Unanswered>) -> Sent {
    let answered = match answer {
        Ok(answered) => answered,
        Err(Unanswered::Unsent(said)) => return Sent::Later(wire::unreached(&said)),
        Err(Unanswered::Unclear(_)) => return Sent::Unknown,
    };
    if answered.status.is_success() {
        let id = answered.body.pointer("/messages/0/id").and_then(Value::as_str);
        // With an id that cannot be stored, no status could be matched.
        return match id.filter(|id| is_id(id)) {
            Some(id) => Sent::Accepted { provider_id: id.to_owned() },
            None => Sent::Unknown,
        };
    }
    match wire::refusal(account, &answered) {
        None => Sent::Unknown,
        Some(error) if error.effect() == Effect::Unclear => Sent::Unknown,
        Some(error) if error.effect().wait().is_some() => Sent::Later(error),
        Some(error) => Sent::Refused(error),
    }
}

/// Whether a text can be the provider's id of a message; the same holds for those in notifications.
pub(crate) fn is_id(text: &str) -> bool {
    !text.is_empty() && text.len() <= MAX_PROVIDER_ID && !text.chars().any(char::is_control)
}

/// The body of a message.
fn body(outgoing: &Outgoing) -> Value {
    let mut body = json!({"messaging_product": "whatsapp", "recipient_type": "individual"});
    match &outgoing.to {
        Recipient::Phone(number) => body["to"] = json!(number.to_string().trim_start_matches('+')),
        Recipient::UserId(id) => body["recipient"] = json!(id),
    }
    if let Some(message) = &outgoing.reply_to {
        body["context"] = json!({"message_id": message});
    }
    body["biz_opaque_callback_data"] = json!(outgoing.message);
    let (kind, content) = content(&outgoing.content);
    body["type"] = json!(kind);
    body[kind] = content;
    body
}

/// The word of a message's type, which is also the name of its content, and that content.
fn content(content: &Content) -> (&'static str, Value) {
    match content {
        Content::Template(template) => {
            let mut body = json!({"name": template.name, "language": {"code": template.language}});
            if !template.components.is_empty() {
                body["components"] = json!(template.components);
            }
            ("template", body)
        }
        Content::Text(text) => {
            let link = text.contains("https://") || text.contains("http://");
            ("text", json!({"body": text, "preview_url": link}))
        }
        Content::Media(media) => (media.kind.as_str(), file(media)),
        Content::Interactive(interactive) => ("interactive", asks(interactive)),
        Content::Location(location) => {
            let mut body = json!({"latitude": location.latitude, "longitude": location.longitude});
            for (name, value) in [("name", &location.name), ("address", &location.address)] {
                if let Some(value) = value {
                    body[name] = json!(value);
                }
            }
            ("location", body)
        }
        Content::Reaction { message, emoji } => ("reaction", json!({"message_id": message, "emoji": emoji})),
        Content::Contacts(contacts) => ("contacts", json!(contacts)),
    }
}

fn file(media: &Media) -> Value {
    let mut body = match &media.source {
        MediaSource::Link(link) => json!({"link": link}),
        MediaSource::Id(id) => json!({"id": id}),
    };
    if let Some(caption) = &media.caption {
        body["caption"] = json!(caption);
    }
    if let (Some(name), MediaKind::Document) = (&media.filename, media.kind) {
        body["filename"] = json!(name);
    }
    body
}

fn asks(interactive: &Interactive) -> Value {
    let mut body = json!({"body": {"text": interactive.body}});
    if let Some(header) = &interactive.header {
        body["header"] = json!({"type": "text", "text": header});
    }
    if let Some(footer) = &interactive.footer {
        body["footer"] = json!({"text": footer});
    }
    let (kind, action) = match &interactive.ask {
        Asked::Buttons { buttons } => {
            let buttons: Vec<Value> = buttons
                .iter()
                .map(|button| json!({"type": "reply", "reply": {"id": button.id, "title": button.title}}))
                .collect();
            ("button", json!({"buttons": buttons}))
        }
        Asked::List { button, sections } => {
            let sections: Vec<Value> = sections
                .iter()
                .map(|section| {
                    let rows: Vec<Value> = section
                        .rows
                        .iter()
                        .map(|row| {
                            let mut body = json!({"id": row.id, "title": row.title});
                            if let Some(description) = &row.description {
                                body["description"] = json!(description);
                            }
                            body
                        })
                        .collect();
                    match &section.title {
                        Some(title) => json!({"title": title, "rows": rows}),
                        None => json!({"rows": rows}),
                    }
                })
                .collect();
            ("list", json!({"button": button, "sections": sections}))
        }
        Asked::CtaUrl { display_text, url } => {
            ("cta_url", json!({"name": "cta_url", "parameters": {"display_text": display_text, "url": url}}))
        }
    };
    body["type"] = json!(kind);
    body["action"] = action;
    body
}

#[cfg(test)]
mod tests {
    use domain::channel::content::{Button, FilledTemplate, ListRow, ListSection, Location};
    use domain::channel::errors::ProviderError;
    use domain::ids::Id;
    use domain::phone::E164;
    use http::StatusCode;

    use super::*;
    use crate::wire::tests::account;

    fn sent(content: Content) -> Value {
        let outgoing = Outgoing {
            message: Id::from_bits(7),
            to: Recipient::Phone(E164::parse("+919812345678").unwrap()),
            content,
            reply_to: None,
        };
        let mut body = body(&outgoing);
        let object = body.as_object_mut().unwrap();
        assert_eq!(object.remove("messaging_product"), Some(json!("whatsapp")));
        assert_eq!(object.remove("recipient_type"), Some(json!("individual")));
        assert_eq!(object.remove("to"), Some(json!("919812345678")));
        assert_eq!(
            object.remove("biz_opaque_callback_data"),
            Some(json!(Id::<domain::ids::ChannelMessage>::from_bits(7)))
        );
        body
    }

    #[test]
    fn every_content_has_the_form_of_the_wire() {
        let link = |kind, caption: Option<&str>, filename: Option<&str>| {
            Content::Media(Media {
                kind,
                source: MediaSource::Link("https://a.example/f".into()),
                caption: caption.map(Into::into),
                filename: filename.map(Into::into),
            })
        };
        let asks = |ask| {
            Content::Interactive(Interactive {
                header: Some("h".into()),
                body: "b".into(),
                footer: Some("f".into()),
                ask,
            })
        };
        for (content, expected) in [
            (
                Content::Text("Hi".into()),
                json!({"type": "text", "text": {"body": "Hi", "preview_url": false}}),
            ),
            (
                Content::Text("see https://a.example".into()),
                json!({"type": "text", "text": {"body": "see https://a.example", "preview_url": true}}),
            ),
            (
                link(MediaKind::Image, Some("c"), None),
                json!({"type": "image", "image": {"link": "https://a.example/f", "caption": "c"}}),
            ),
            (
                link(MediaKind::Audio, None, None),
                json!({"type": "audio", "audio": {"link": "https://a.example/f"}}),
            ),
            (
                link(MediaKind::Document, None, Some("a.pdf")),
                json!({"type": "document", "document": {"link": "https://a.example/f", "filename": "a.pdf"}}),
            ),
            (
                Content::Media(Media {
                    kind: MediaKind::Video,
                    source: MediaSource::Id("9".into()),
                    caption: None,
                    filename: None,
                }),
                json!({"type": "video", "video": {"id": "9"}}),
            ),
            (
                Content::Location(Location {
                    latitude: 12.97,
                    longitude: 77.59,
                    name: Some("Shop".into()),
                    address: None,
                }),
                json!({"type": "location", "location": {"latitude": 12.97, "longitude": 77.59, "name": "Shop"}}),
            ),
            (
                Content::Reaction { message: "wamid.A".into(), emoji: "\u{1f44d}".into() },
                json!({"type": "reaction", "reaction": {"message_id": "wamid.A", "emoji": "\u{1f44d}"}}),
            ),
            (
                Content::Contacts(vec![json!({"name": {"formatted_name": "A"}})]),
                json!({"type": "contacts", "contacts": [{"name": {"formatted_name": "A"}}]}),
            ),
            (
                asks(Asked::Buttons { buttons: vec![Button { id: "1".into(), title: "Yes".into() }] }),
                json!({"type": "interactive", "interactive": {
                    "type": "button", "header": {"type": "text", "text": "h"}, "body": {"text": "b"}, "footer": {"text": "f"},
                    "action": {"buttons": [{"type": "reply", "reply": {"id": "1", "title": "Yes"}}]},
                }}),
            ),
            (
                asks(Asked::List {
                    button: "Open".into(),
                    sections: vec![ListSection {
                        title: Some("S".into()),
                        rows: vec![ListRow {
                            id: "1".into(),
                            title: "One".into(),
                            description: Some("d".into()),
                        }],
                    }],
                }),
                json!({"type": "interactive", "interactive": {
                    "type": "list", "header": {"type": "text", "text": "h"}, "body": {"text": "b"}, "footer": {"text": "f"},
                    "action": {"button": "Open", "sections": [
                        {"title": "S", "rows": [{"id": "1", "title": "One", "description": "d"}]},
                    ]},
                }}),
            ),
            (
                asks(Asked::CtaUrl { display_text: "Go".into(), url: "https://a.example".into() }),
                json!({"type": "interactive", "interactive": {
                    "type": "cta_url", "header": {"type": "text", "text": "h"}, "body": {"text": "b"}, "footer": {"text": "f"},
                    "action": {"name": "cta_url", "parameters": {"display_text": "Go", "url": "https://a.example"}},
                }}),
            ),
            (
                Content::Template(FilledTemplate {
                    name: "due".into(),
                    language: "en".into(),
                    components: vec![
                        json!({"type": "body", "parameters": [{"type": "text", "text": "Asha"}]}),
                    ],
                }),
                json!({"type": "template", "template": {"name": "due", "language": {"code": "en"}, "components": [
                    {"type": "body", "parameters": [{"type": "text", "text": "Asha"}]},
                ]}}),
            ),
            (
                Content::Template(FilledTemplate {
                    name: "hi".into(),
                    language: "en".into(),
                    components: vec![],
                }),
                json!({"type": "template", "template": {"name": "hi", "language": {"code": "en"}}}),
            ),
        ] {
            assert_eq!(sent(content), expected);
        }
    }

    #[test]
    fn a_hidden_number_and_a_reply_have_their_own_fields() {
        let outgoing = Outgoing {
            message: Id::from_bits(7),
            to: Recipient::UserId("IN.4711".into()),
            content: Content::Text("Hi".into()),
            reply_to: Some("wamid.B".into()),
        };
        let body = body(&outgoing);
        assert_eq!(body["recipient"], "IN.4711");
        assert_eq!(body["context"], json!({"message_id": "wamid.B"}));
        assert!(body.get("to").is_none());
    }

    #[test]
    fn what_came_of_a_message() {
        let answer = |status: u16, body: Value| {
            outcome(&account(), Ok(Answered { status: StatusCode::from_u16(status).unwrap(), body }))
        };
        let error = |code: i64| json!({"error": {"code": code, "message": "m"}});
        let refused = |code: i64| ProviderError::of(code, "m");
        let good = json!({"messaging_product": "whatsapp", "contacts": [{"input": "919812345678", "wa_id": "919812345678"}],
            "messages": [{"id": "wamid.A", "message_status": "accepted"}]});
        for (status, body, expected) in [
            (200, good, Sent::Accepted { provider_id: "wamid.A".into() }),
            (200, json!({"messages": []}), Sent::Unknown),
            (200, json!({"messages": [{"id": ""}]}), Sent::Unknown),
            (200, json!({"messages": [{"id": "x".repeat(513)}]}), Sent::Unknown),
            (200, json!({"messages": [{"id": "wamid.\u{0}"}]}), Sent::Unknown),
            (200, json!({"messages": [{"id": "wamid.\n"}]}), Sent::Unknown),
            (200, json!({"messages": [{"id": 7}]}), Sent::Unknown),
            (200, json!({"success": true}), Sent::Unknown),
            (200, Value::Null, Sent::Unknown),
            (500, Value::Null, Sent::Unknown),
            (502, json!({"error": {"message": "m"}}), Sent::Unknown),
            (500, error(131_000), Sent::Unknown),
            (400, error(131_000), Sent::Unknown),
            (500, error(2), Sent::Unknown),
            (400, error(130_429), Sent::Later(refused(130_429))),
            (400, error(131_056), Sent::Later(refused(131_056))),
            (500, error(131_057), Sent::Later(refused(131_057))),
            (400, error(80_007), Sent::Later(refused(80_007))),
            (400, error(4), Sent::Later(refused(4))),
            (400, error(131_047), Sent::Refused(refused(131_047))),
            (401, error(190), Sent::Refused(refused(190))),
            (400, error(132_001), Sent::Refused(refused(132_001))),
        ] {
            assert_eq!(answer(status, body.clone()), expected, "{status} {body}");
        }
        assert_eq!(outcome(&account(), Err(Unanswered::Unclear("closed".into()))), Sent::Unknown);
        let unsent = outcome(&account(), Err(Unanswered::Unsent("refused".into())));
        assert!(matches!(unsent, Sent::Later(error) if error.code == wire::UNREACHED));
    }
}
