use std::collections::BTreeMap;
use std::path::Path;

use schemars::generate::SchemaSettings;
use serde_json::Value;

use super::*;

#[test]
fn pick_only_are_messages_and_evaluations() {
    let picked: Vec<_> = ALL.iter().filter(|kind| kind.pick_only).map(|kind| kind.name).collect();
    assert_eq!(
        picked,
        [
            "message.received",
            "message.sent",
            "message.delivered",
            "message.read",
            "message.failed",
            "chat.evaluated"
        ]
    );
    assert_eq!(ALL.len(), 37);
    for kind in ALL {
        assert_eq!((kind.sample)().name(), kind.name);
    }
}

/// The members that the schema has and the value lacks, at any depth; a null hides what is below it.
fn missing(schema: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
    // A type that may be null. Of several types a value has one.
    if let Some([part, null]) = schema["anyOf"].as_array().map(Vec::as_slice)
        && null["type"] == "null"
    {
        missing(part, value, at, found);
    }
    match value {
        Value::Object(members) => {
            for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
                match members.get(name) {
                    Some(value) => missing(schema, value, &format!("{at}.{name}"), found),
                    None => found.push(format!("{at}.{name}")),
                }
            }
        }
        // A list shows every member in one of its items.
        Value::Array(items) => {
            let mut lacking: BTreeMap<String, usize> = BTreeMap::new();
            for item in items {
                let mut of_item = Vec::new();
                missing(&schema["items"], item, &format!("{at}[]"), &mut of_item);
                of_item.into_iter().for_each(|name| *lacking.entry(name).or_default() += 1);
            }
            found
                .extend(lacking.into_iter().filter(|(_, count)| *count == items.len()).map(|(name, _)| name));
        }
        _ => {}
    }
}

fn schema_of(kind: &EventType) -> Value {
    let settings =
        SchemaSettings::draft2020_12().for_serialize().with(|settings| settings.inline_subschemas = true);
    let mut generator = SchemaGenerator::new(settings);
    serde_json::to_value((kind.schema)(&mut generator)).unwrap()
}

#[test]
fn a_sample_has_every_field_of_its_payload() {
    let mut found = Vec::new();
    for kind in ALL {
        let (schema, sample) = (schema_of(kind), serde_json::to_value((kind.sample)()).unwrap());
        assert!(
            schema["properties"].as_object().is_some_and(|fields| fields.len() > 1),
            "{}: {schema}",
            kind.name
        );
        missing(&schema, &sample, kind.name, &mut found);
    }
    // Only a message that failed says why.
    let why = ["received", "sent", "delivered", "read"].map(|kind| format!("message.{kind}.error"));
    assert_eq!(found, why);
}

/// The sources of a room, without the tests.
fn sources(folder: &Path, read: &mut impl FnMut(&Path, &str)) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.is_dir() && name != "tests" {
            sources(&path, read);
        } else if name.ends_with(".rs") && name != "tests.rs" {
            let text = std::fs::read_to_string(&path).unwrap();
            read(&path, text.split("#[cfg(test)]").next().unwrap_or_default());
        }
    }
}

#[test]
fn every_event_is_sent_by_its_type_and_by_nothing_else() {
    let rooms = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let (mut sent, mut words) = (vec![false; VARIANTS.len()], Vec::new());
    for room in [
        "app",
        "boards",
        "campaigns",
        "channel",
        "chats",
        "dastak",
        "domain",
        "evaluation",
        "integrations",
        "streams",
    ] {
        sources(&rooms.join(room).join("src"), &mut |path, text| {
            for ((variant, kind), sent) in VARIANTS.iter().zip(ALL).zip(&mut sent) {
                let made = format!("Event::{variant}");
                *sent |= text
                    .match_indices(&made)
                    .any(|(at, _)| !text[at + made.len()..].starts_with(|next: char| next.is_alphanumeric()));
                if text.contains(&format!("\"{}\"", kind.name)) {
                    words.push(format!("{}: {}", path.display(), kind.name));
                }
            }
        });
    }
    let silent: Vec<_> =
        VARIANTS.iter().zip(&sent).filter(|(_, sent)| !**sent).map(|(name, _)| *name).collect();
    assert!(silent.is_empty(), "an event of the catalog is sent nowhere: {silent:?}");
    assert!(words.is_empty(), "an event is spelled instead of made: {words:#?}");
}

#[test]
fn the_contract_has_every_event_with_the_fields_of_its_own() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/contract/webhooks.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (_, events) = page.split_once("\n## Events\n").unwrap();
    for kind in ALL {
        assert!(events.contains(&format!("`{}`", kind.name)), "{} is not in the contract", kind.name);
    }
    // Those whose row lists the fields; the others refer to a section or a page.
    for name in [
        "contact.opted_out",
        "board.card_moved",
        "stream.record_rejected",
        "wallet.low",
        "campaign.finished",
        "chatapp.template.updated",
        "chatapp.number_quality_changed",
        "chatapp.account_restricted",
        "chatapp.number_ai_paused",
        "webhook.test",
    ] {
        let row = events.lines().find(|line| line.starts_with(&format!("| `{name}`"))).unwrap();
        for field in schema_of(find(name).unwrap())["properties"].as_object().unwrap().keys() {
            assert!(row.contains(&format!("`{field}`")), "{name}: {field} is not in the contract");
        }
    }
}
