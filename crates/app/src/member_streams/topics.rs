//! Which objects an event is about.

use domain::tenant::Mode;
use domain::time::Timestamp;
use domain::topic::Topic;
use serde::Deserialize;
use store::changes::{Change, ChangeRow};

/// An object that changed; `object` is `None` when a list as a whole did.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Changed {
    pub topic: Topic,
    pub object: Option<String>,
}

/// A change as streams pass it on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invalidation {
    pub changed: Changed,
    /// The mode in which it shows, `None` for both.
    pub mode: Option<Mode>,
    /// Grows with every change of the object.
    pub version: Timestamp,
}

/// The ids in the data of an event.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Ids {
    id: Option<String>,
    call_id: Option<String>,
    campaign_id: Option<String>,
    contact_id: Option<String>,
    board_id: Option<String>,
    card_id: Option<String>,
    chat_id: Option<String>,
    stream_id: Option<String>,
    message_id: Option<String>,
    template_id: Option<String>,
    phone_number_id: Option<String>,
    endpoint_id: Option<String>,
    document_id: Option<String>,
    channel: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Envelope {
    data: Ids,
}

/// What a stored change is about. Of an erased person it names lists only.
pub fn of_row(row: ChangeRow) -> Vec<Invalidation> {
    let changed = match row.change {
        Change::Event { kind, envelope } => of_event(&kind, envelope.as_deref()),
        // A later version may have stored a topic that this one does not know: it is left out.
        Change::Noted { topic, object } => of_note(Topic::parse(&topic), object),
    };
    let of = |changed| Invalidation { changed, mode: row.mode, version: row.at };
    changed.into_iter().map(of).collect()
}

/// A change without an event. Some of them may begin or end a state that needs a person.
fn of_note(topic: Option<Topic>, object: Option<String>) -> Vec<Changed> {
    let Some(topic) = topic else { return Vec::new() };
    let attention = [
        Topic::Campaigns,
        Topic::Cards,
        Topic::Chats,
        Topic::Integrations,
        Topic::Numbers,
        Topic::Settings,
        Topic::Streams,
        Topic::Templates,
        Topic::Wallet,
        Topic::Webhooks,
    ]
    .contains(&topic);
    let whole = attention.then_some(Changed { topic: Topic::Attention, object: None });
    std::iter::once(Changed { topic, object }).chain(whole).collect()
}

fn of_event(kind: &str, envelope: Option<&str>) -> Vec<Changed> {
    let ids = envelope.and_then(|text| serde_json::from_str::<Envelope>(text).ok());
    let ids = ids.map(|envelope| envelope.data).unwrap_or_default();
    objects(kind, ids).into_iter().map(|(topic, object)| Changed { topic, object }).collect()
}

/// The objects of an event by the two parts of its name. A test goes through the catalog.
fn objects(kind: &str, ids: Ids) -> Vec<(Topic, Option<String>)> {
    let (noun, what) = kind.split_once('.').unwrap_or((kind, ""));
    match (noun, what) {
        ("contact", "opted_out") => vec![(Topic::Contacts, ids.contact_id), (Topic::DoNotCall, None)],
        ("campaign", "finished") => vec![(Topic::Campaigns, ids.campaign_id), (Topic::Attention, None)],
        ("wallet", "low") => vec![(Topic::Wallet, None), (Topic::Attention, None)],
        ("chatapp", "template.updated") => {
            vec![(Topic::Templates, ids.template_id), (Topic::Attention, None)]
        }
        ("chatapp", "account_restricted") => vec![(Topic::Numbers, None), (Topic::Attention, None)],
        ("call" | "transcript" | "recording" | "outcome", _) => {
            let mut all = vec![(Topic::Calls, ids.call_id.clone()), (Topic::Live, ids.call_id)];
            all.extend(ids.campaign_id.map(|id| (Topic::Campaigns, Some(id))));
            all
        }
        ("nudge", _) => vec![(Topic::Nudges, ids.id)],
        ("scheduled_call", _) => vec![(Topic::ScheduledCalls, ids.id)],
        ("board", _) => vec![(Topic::Boards, ids.board_id), (Topic::Cards, ids.card_id)],
        ("stream", _) => vec![(Topic::Streams, ids.stream_id)],
        ("message", _) => {
            let mut all = vec![(Topic::Messages, ids.message_id)];
            all.extend(ids.chat_id.map(|id| (Topic::Conversations, Some(id))));
            all
        }
        ("chat", _) => {
            let conversation = ids.channel.as_deref() == Some("chatapp");
            let mut all = vec![(Topic::Chats, ids.chat_id.clone())];
            all.extend(conversation.then_some((Topic::Conversations, ids.chat_id)));
            all.push((Topic::Attention, None));
            all
        }
        ("document", _) => vec![(Topic::Documents, ids.document_id)],
        ("chatapp", _) => vec![(Topic::Numbers, ids.phone_number_id)],
        ("webhook", _) => vec![(Topic::Webhooks, ids.endpoint_id)],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without a topic, an event would not be published on the stream of members.
    #[test]
    fn every_event_of_the_catalog_names_its_objects() {
        for kind in api::events::ALL {
            let data = serde_json::to_value((kind.sample)()).unwrap();
            let envelope = serde_json::json!({"id": "evt_1", "data": data}).to_string();
            let found = of_event(kind.name, Some(&envelope));
            assert!(!found.is_empty(), "{} has no topic", kind.name);
            let whole = [Topic::Attention, Topic::Wallet, Topic::DoNotCall];
            let account = kind.name.ends_with("account_restricted") || kind.name == "webhook.test";
            for one in found.iter().filter(|one| !whole.contains(&one.topic) && !account) {
                assert!(one.object.is_some(), "{}: {one:?} names no object", kind.name);
            }
        }
    }

    #[test]
    fn an_event_of_an_erased_person_names_lists() {
        let row = ChangeRow {
            change: Change::Event { kind: "call.started".into(), envelope: None },
            mode: Some(Mode::Live),
            at: Timestamp(5),
        };
        let found: Vec<Changed> = of_row(row).into_iter().map(|one| one.changed).collect();
        let list = |topic| Changed { topic, object: None };
        assert_eq!(found, [list(Topic::Calls), list(Topic::Live)]);
    }
}
