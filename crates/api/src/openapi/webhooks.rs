//! The section `webhooks`: each event of the catalog as the request that its subscribers receive.

use serde_json::{Map, Value, json};

use crate::events::{self, EventType};
use crate::schema::{Components, answer};
use crate::webhooks::Event;

/// All events, by name.
pub(super) fn section(brand: &str, schemas: &mut Components) -> Map<String, Value> {
    events::ALL
        .iter()
        .map(|kind| (kind.name.to_owned(), json!({"post": request(kind, brand, schemas)})))
        .collect()
}

/// `CallCompleted` of `call.completed`.
fn camel(name: &str) -> String {
    let words = name.split(['.', '_']).filter(|word| !word.is_empty());
    words.map(|word| format!("{}{}", word[..1].to_uppercase(), &word[1..])).collect()
}

/// The request with an event of this type.
fn request(kind: &EventType, brand: &str, schemas: &mut Components) -> Value {
    let pick = if kind.pick_only {
        "An endpoint receives it only if its `events` name it."
    } else {
        "An endpoint receives it unless its `events` name only others."
    };
    let schema = envelope(kind, schemas);
    json!({
        "operationId": format!("on{}", camel(kind.name)),
        "tags": ["Webhooks"],
        "summary": format!("`{}`", kind.name),
        "description": format!("{} {pick}", kind.about.trim()),
        "security": [],
        "parameters": headers(brand),
        "requestBody": {"required": true, "content": {"application/json": {
            "schema": schema,
            "examples": {"sample": {"summary": "A made-up event, such as `POST /v1/events/trigger` sends.", "value": sample(kind)}},
        }}},
        "responses": {
            "2XX": {"description": "The event was received. The answer must be complete within 10 seconds; its body is not used."},
            "default": {"description": "Any other answer, a redirect too, is a failure: the event is sent again for up to 24 hours."},
        },
    })
}

/// The event as a named schema: the envelope with the type's own payload.
fn envelope(kind: &EventType, schemas: &mut Components) -> Value {
    let mut schema = answer::<Event>().to_json();
    schema["properties"]["type"] = json!({"type": "string", "const": kind.name, "description": "Type of the event, the same in each of this kind."});
    let mut payload = schemas.answer(&(kind.payload)());
    payload["description"] = json!("What happened; later versions may add fields.");
    schema["properties"]["data"] = payload;
    schema["description"] = json!(format!("The event `{}`. {}", kind.name, kind.about.trim()));
    schemas.add(&format!("{}Event", camel(kind.name)), schema)
}

/// The sample of this type in its envelope. What only some events of the type have is left out where the sample shows null.
pub(super) fn sample(kind: &EventType) -> Value {
    let mut data = json!((kind.sample)());
    (kind.payload)().drop_nulls(&mut data);
    json!({
        "id": "evt_01k9v5x2m8e6fs4v0q3n7w1y3z",
        "type": kind.name,
        "createdAt": "2026-01-15T10:00:00.000Z",
        "livemode": false,
        "data": data,
    })
}

/// The headers of a delivery (docs/contract/webhooks.md#headers).
fn headers(brand: &str) -> Value {
    let header = |name: &str, description: &str| {
        json!({"name": format!("X-{brand}-{name}"), "in": "header", "required": true, "description": description,
            "schema": {"type": "string"}})
    };
    json!([
        header(
            "Signature",
            "`t=<unix seconds>,v1=<hex>`: `v1` is the HMAC-SHA256 of `<t>.<raw body>` with the endpoint's secret as its key. \
             Compare it in constant time, and refuse a `t` more than 5 minutes old."
        ),
        header("Event", "Type of the event, the same as `type` of the body."),
        header("Delivery", "Id of the delivery, `whd_…`; the same in each retry."),
    ])
}
