//! Answers are closed: a field that the API's description does not name is a defect of the one or the other.

use std::sync::OnceLock;

use api::events;
use api::openapi::{Document, document};
use serde_json::{Value, json};

/// Both documents, as they are served.
fn documents() -> &'static [Value; 2] {
    static DOCUMENTS: OnceLock<[Value; 2]> = OnceLock::new();
    DOCUMENTS
        .get_or_init(|| [Document::Public, Document::Operator].map(|which| document(which, "dastak", "dsk")))
}

/// The first field of an answer that is not described; `path` is that of the description, `/v1/calls/{id}`.
pub fn undescribed(method: &str, path: &str, status: u16, answer: &Value) -> Option<String> {
    let method = method.to_ascii_lowercase();
    let (document, operation) = documents().iter().find_map(|document| {
        let operation = &document["paths"][path][&method];
        operation.is_object().then_some((document, operation))
    })?;
    let mut response = &operation["responses"][status.to_string()];
    if let Some(name) = response["$ref"].as_str() {
        response = document.pointer(name.trim_start_matches('#')).unwrap_or_else(|| panic!("no {name}"));
    }
    let content = &response["content"]["application/json"];
    let stray = match &content["schema"] {
        Value::Null => None,
        schema => stray(document, schema, answer, String::new()),
    };
    let events = match operation["operationId"].as_str() {
        Some("listEvents") => answer["data"].as_array().map_or(&[][..], Vec::as_slice),
        Some("getWebhookDelivery") => std::slice::from_ref(&answer["data"]["payload"]),
        _ => &[],
    };
    stray.or_else(|| events.iter().find_map(|event| undescribed_event(event).or_else(|| lacking(event))))
}

/// An event as it is stored, held against the sample of its type.
#[track_caller]
pub fn event(envelope: &str) -> Value {
    let event: Value = serde_json::from_str(envelope).expect("an event");
    if let Some(wrong) = undescribed_event(&event).or_else(|| lacking(&event)) {
        panic!("{wrong} in {envelope}");
    }
    event
}

/// Fields that not every event of a type has (docs/contract/webhooks.md#events); all others are always there.
const SOMETIMES: [(&str, &[&str]); 6] = [
    ("message.", &["reaction", "interactive", "location", "content", "replyTo"]),
    // A campaign that calls has neither.
    ("campaign.", &["channel", "stats"]),
    ("contact.opted_out", &["callId", "channel"]),
    // A dial of a campaign that a gate refused.
    ("call.failed", &["blockReason"]),
    // Where there was a call.
    ("nudge.attempt_ended", &["attempt"]),
    (
        "nudge.finished",
        &[
            "attempt",
            "startedAt",
            "answeredAt",
            "endedAt",
            "endCause",
            "durationSeconds",
            "outcome",
            "summary",
            "extracted",
        ],
    ),
];

/// The first field of the sample of an event's type that the event lacks.
fn lacking(event: &Value) -> Option<String> {
    let name = event["type"].as_str()?;
    let some =
        SOMETIMES.iter().find(|(prefix, _)| name.starts_with(prefix)).map_or(&[][..], |(_, some)| some);
    let sample = json!((events::find(name)?.sample)());
    less(&sample, &event["data"], some, format!("{name}: data"))
}

fn less(sample: &Value, value: &Value, some: &[&str], at: String) -> Option<String> {
    match (sample, value) {
        (Value::Object(known), Value::Object(fields)) => known.iter().find_map(|(name, sample)| {
            let at = format!("{at}.{name}");
            match fields.get(name) {
                // It stands where a message was not delivered, and nowhere else.
                None if at.ends_with(".transcript[].failed") => None,
                None => (!some.contains(&name.as_str())).then(|| format!("the absence of {at}")),
                Some(_) if THEIRS.contains(&name.as_str()) => None,
                Some(value) => less(sample, value, &[], at),
            }
        }),
        (Value::Array(known), Value::Array(values)) => {
            let sample = known.first()?;
            values.iter().find_map(|value| less(sample, value, &[], format!("{at}[]")))
        }
        _ => None,
    }
}

/// The first field of an event that the sample of its type does not have.
pub fn undescribed_event(event: &Value) -> Option<String> {
    const ENVELOPE: [&str; 5] = ["id", "type", "createdAt", "livemode", "data"];
    let fields = event.as_object()?;
    if let Some(name) = fields.keys().find(|name| !ENVELOPE.contains(&name.as_str())) {
        return Some(name.clone());
    }
    let name = event["type"].as_str().unwrap_or_default();
    match events::find(name) {
        Some(kind) => beyond(&json!((kind.sample)()), &event["data"], format!("{name}: data")),
        None => Some(format!("the type {name:?}")),
    }
}

/// Fields whose content belongs to the workspace or its agents: any field may be in there.
const THEIRS: [&str; 13] = [
    // What stands on a document.
    "fields",
    // A teammate or a key of the API: each has fields of its own.
    "assignedBy",
    "metadata",
    "extracted",
    "attributes",
    "variables",
    "draft",
    "published",
    "graph",
    "payload",
    "restrictionInfo",
    "violationInfo",
    "banInfo",
];

/// The first field that a sample does not have.
fn beyond(sample: &Value, value: &Value, at: String) -> Option<String> {
    match (sample, value) {
        (Value::Object(known), Value::Object(fields)) => fields.iter().find_map(|(name, value)| {
            let at = format!("{at}.{name}");
            match known.get(name) {
                None => Some(at),
                Some(_) if THEIRS.contains(&name.as_str()) => None,
                Some(sample) => beyond(sample, value, at),
            }
        }),
        (Value::Array(known), Value::Array(values)) => {
            let sample = known.first()?;
            values.iter().find_map(|value| beyond(sample, value, format!("{at}[]")))
        }
        _ => None,
    }
}

/// The first field that a JSON Schema does not name.
fn stray(document: &Value, schema: &Value, value: &Value, at: String) -> Option<String> {
    if let Some(name) = schema["$ref"].as_str() {
        let target = document.pointer(name.trim_start_matches('#')).unwrap_or_else(|| panic!("no {name}"));
        return stray(document, target, value, at);
    }
    for choice in ["oneOf", "anyOf"] {
        if let Some(branches) = schema[choice].as_array() {
            let fitting = branches.iter().filter(|branch| fits(document, branch, value));
            let found: Vec<_> = fitting.map(|branch| stray(document, branch, value, at.clone())).collect();
            if found.iter().any(Option::is_none) {
                return None;
            }
            return Some(found.into_iter().flatten().next().unwrap_or(at));
        }
    }
    match value {
        Value::Array(values) => {
            values.iter().find_map(|value| stray(document, &schema["items"], value, format!("{at}[]")))
        }
        Value::Object(fields) => fields.iter().find_map(|(name, value)| {
            let at = format!("{at}.{name}");
            match (property(document, schema, name), &schema["additionalProperties"]) {
                (Some(_), _) if THEIRS.contains(&name.as_str()) => None,
                (Some(known), _) => stray(document, known, value, at),
                (None, Value::Object(_)) => stray(document, &schema["additionalProperties"], value, at),
                (None, Value::Bool(true)) => None,
                // A schema that names nothing allows anything.
                (None, _) if !is_described(schema) => None,
                (None, _) => Some(at),
            }
        }),
        _ => None,
    }
}

fn is_described(schema: &Value) -> bool {
    schema["properties"].is_object() || schema["allOf"].is_array()
}

/// What is said of a field, by the schema or by one that it is made of.
fn property<'a>(document: &'a Value, schema: &'a Value, name: &str) -> Option<&'a Value> {
    let of = |schema: &'a Value| match schema["$ref"].as_str() {
        Some(name) => document.pointer(name.trim_start_matches('#')),
        None => Some(schema),
    };
    schema["properties"].get(name).or_else(|| {
        schema["allOf"].as_array()?.iter().filter_map(of).find_map(|part| property(document, part, name))
    })
}

/// Whether a value can be what a branch of a choice describes.
fn fits(document: &Value, schema: &Value, value: &Value) -> bool {
    if let Some(name) = schema["$ref"].as_str() {
        return document
            .pointer(name.trim_start_matches('#'))
            .is_some_and(|target| fits(document, target, value));
    }
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let is_kind = |name: &Value| name == kind || (kind == "number" && name == "integer");
    let right_kind = match &schema["type"] {
        Value::Null => true,
        Value::Array(names) => names.iter().any(is_kind),
        name => is_kind(name),
    };
    let required = schema["required"].as_array().map_or(&[][..], Vec::as_slice);
    let complete = required.iter().all(|name| name.as_str().is_none_or(|name| value.get(name).is_some()));
    let constant = schema.get("const").is_none_or(|only| only == value);
    let tags = schema["properties"].as_object();
    let tagged = tags.is_none_or(|fields| {
        fields.iter().all(|(name, field)| match (field.get("const"), value.get(name)) {
            (Some(only), Some(value)) => only == value,
            _ => true,
        })
    });
    right_kind && complete && constant && tagged
}

#[test]
fn an_undescribed_field_is_found() {
    let mut answer = json!({"data": {"key": {"id": "key_1", "name": "n", "scopes": [], "prefix": "p", "expiresAt": null},
        "workspace": {"id": "ws_1", "name": "n", "kybVerified": true}}});
    assert_eq!(undescribed("GET", "/v1/me", 200, &answer), None);
    answer["data"]["workspace"]["secret"] = json!(1);
    assert_eq!(undescribed("GET", "/v1/me", 200, &answer).as_deref(), Some(".data.workspace.secret"));
    let refusal = json!({"error": "no", "code": "unauthorized", "trace": "x"});
    assert_eq!(undescribed("GET", "/v1/me", 401, &refusal).as_deref(), Some(".trace"));
    let mut event = json!({"id": "evt_1", "type": "call.started", "createdAt": "", "livemode": true,
        "data": {"callId": "call_1", "metadata": {"any": 1}}});
    assert_eq!(undescribed_event(&event), None);
    let mut told = json!({"id": "evt_1", "type": "chat.assigned", "createdAt": "", "livemode": true,
        "data": (events::find("chat.assigned").unwrap().sample)()});
    assert_eq!(lacking(&told), None);
    told["data"]["assignedTo"].as_object_mut().unwrap().remove("name");
    assert_eq!(lacking(&told).as_deref(), Some("the absence of chat.assigned: data.assignedTo.name"));
    assert_eq!(lacking(&event).as_deref(), Some("the absence of call.started: data.agentId"));
    event["data"]["cost"] = json!(1);
    assert_eq!(undescribed_event(&event).as_deref(), Some("call.started: data.cost"));
}
