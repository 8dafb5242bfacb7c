//! Webhook endpoints, their log, and the stream of events (docs/contract/webhooks.md).

use domain::ids::{Agent, Delivery, Event, Id, WebhookEndpoint};
use domain::time::Timestamp;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};

use crate::error_codes::{CONFLICT, DELIVERY_REDACTED, ENDPOINT_LIMIT, INVALID_WEBHOOK_URL};
use crate::events;
use crate::operations::Method::{DELETE, GET, PATCH, POST};
use crate::operations::{Operation, operation};
use crate::schema::{
    Field, Schema, any, boolean, choice, count, cursor, data, id, integer, limit, list, list_of, may, need,
    object, or, page, text, text_of, time,
};
use crate::scopes::{WEBHOOKS_READ, WEBHOOKS_WRITE};

/// Endpoints of one workspace (docs/contract/webhooks.md#endpoints).
pub const MAX_ENDPOINTS: i64 = 20;

/// Body of `POST /v1/webhooks`.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NewEndpoint {
    /// Public https:// address.
    pub url: String,
    /// Event types; empty for the default set.
    pub events: Vec<String>,
    /// Agents that events about an agent must be about; empty for all.
    pub agent_ids: Vec<String>,
    /// The owner's note.
    #[serde(default)]
    pub description: Option<String>,
    /// `active` or `disabled`.
    pub status: String,
}

/// Body of `PATCH /v1/webhooks/{id}`.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EndpointChange {
    /// Public https:// address.
    pub url: Option<String>,
    /// Event types; empty for the default set.
    pub events: Option<Vec<String>>,
    /// Agents; empty for all.
    pub agent_ids: Option<Vec<String>>,
    /// The owner's note; null removes it.
    #[serde(default, deserialize_with = "given")]
    pub description: Option<Option<String>>,
    /// `active` or `disabled`.
    pub status: Option<String>,
}

/// Tells a field that is null from one that is absent.
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

/// A webhook endpoint.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Endpoint {
    /// Its id.
    pub id: Id<WebhookEndpoint>,
    /// Where deliveries go.
    pub url: String,
    /// Event types that were picked.
    pub events: Vec<String>,
    /// Agents that were picked.
    pub agent_ids: Vec<String>,
    /// The owner's note.
    pub description: Option<String>,
    /// `active` or `disabled`.
    pub status: &'static str,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// The signing secret, only in the answer that made it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
}

/// An attempt of a delivery, or the reason why there will be none.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Attempt {
    /// When it began.
    pub at: Timestamp,
    /// HTTP status, if the endpoint answered with one.
    pub status: Option<u16>,
    /// How long it took, milliseconds.
    pub duration_ms: u64,
    /// Why it failed.
    pub error: Option<String>,
}

/// An entry of an endpoint's log.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DeliveryView {
    /// Its id.
    pub id: Id<Delivery>,
    /// The event, the same in every delivery of it.
    pub event_id: Id<Event>,
    /// The event's type.
    pub event: String,
    /// `pending`, `succeeded` or `failed`.
    pub status: String,
    /// Every attempt, oldest first.
    pub attempts: Value,
    /// When the next attempt is to be made.
    pub next_attempt_at: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When the endpoint accepted it.
    pub delivered_at: Option<Timestamp>,
    /// The envelope as it is sent; null once the person is erased.
    pub payload: Value,
}

fn events_field() -> Schema {
    list_of(choice(&events::names()), 0, 100)
}

fn agents_field() -> Schema {
    list_of(id::<Agent>(), 0, 100)
}

fn status_field() -> Schema {
    choice(&["active", "disabled"])
}

/// An address; what is none is refused with `invalid_webhook_url`.
fn url_text() -> Schema {
    text_of(0, 2048).refused_as(INVALID_WEBHOOK_URL)
}

fn new_endpoint() -> Schema {
    object(vec![
        need("url", url_text()),
        or("events", events_field().doc("Empty: every event except message.* and chat.evaluated"), json!([])),
        or(
            "agentIds",
            agents_field().doc("Only events about these agents; events about no agent always come"),
            json!([]),
        ),
        may("description", text_of(0, 500).or_null()),
        or("status", status_field(), json!("active")),
    ])
}

fn endpoint_change() -> Schema {
    object(vec![
        may("url", url_text()),
        may("events", events_field()),
        may("agentIds", agents_field()),
        may("description", text_of(0, 500).or_null()),
        may("status", status_field()),
    ])
}

/// Shape of [`Endpoint`].
pub fn endpoint() -> Schema {
    object(vec![
        need("id", id::<WebhookEndpoint>()),
        need("url", text()),
        need("events", list(text())),
        need("agentIds", list(text())),
        need("description", text().or_null()),
        need("status", status_field()),
        need("createdAt", time()),
        need("updatedAt", time()),
    ])
}

fn endpoint_answer() -> Schema {
    data(endpoint())
}

fn created_answer() -> Schema {
    data(endpoint().and(vec![need("secret", text().doc("Shown only here"))]))
}

fn endpoints_answer() -> Schema {
    page(endpoint())
}

fn deleted_answer() -> Schema {
    data(object(vec![need("id", id::<WebhookEndpoint>()), need("deleted", boolean())]))
}

fn secret_answer() -> Schema {
    data(object(vec![need("id", id::<WebhookEndpoint>()), need("secret", text())]))
}

fn test_body() -> Schema {
    object(vec![or("type", choice(&events::names()), json!("webhook.test"))])
}

fn test_answer() -> Schema {
    data(object(vec![need("eventId", id::<Event>()), need("deliveryId", id::<Delivery>())]))
}

fn attempt() -> Schema {
    object(vec![
        need("at", time()),
        need("status", count().or_null()),
        need("durationMs", count()),
        need("error", text().or_null()),
    ])
}

/// Shape of an event's envelope.
pub fn envelope() -> Schema {
    object(vec![
        need("id", id::<Event>()),
        need("type", text()),
        need("createdAt", time()),
        need("livemode", boolean()),
        need("data", any()),
    ])
}

/// Shape of [`DeliveryView`].
pub fn delivery() -> Schema {
    object(vec![
        need("id", id::<Delivery>()),
        need("eventId", id::<Event>()),
        need("event", text()),
        need("status", choice(&["pending", "succeeded", "failed"])),
        need("attempts", list(attempt())),
        need("nextAttemptAt", time().or_null()),
        need("createdAt", time()),
        need("deliveredAt", time().or_null()),
        need("payload", envelope().or_null()),
    ])
}

fn delivery_answer() -> Schema {
    data(delivery())
}

fn deliveries_answer() -> Schema {
    page(delivery())
}

fn deliveries_query() -> Vec<Field> {
    vec![
        may("status", choice(&["pending", "succeeded", "failed"])),
        may("event", choice(&events::names())),
        limit(100),
        cursor(),
    ]
}

fn stream_query() -> Vec<Field> {
    vec![
        or(
            "after",
            text_of(1, 64).doc("Cursor of the previous answer; `latest` for none but those to come, `start` for all that are kept"),
            json!("latest"),
        ),
        or("wait", integer(0, 25).doc("Seconds to wait for an event when there is none"), json!(0)),
        limit(100),
    ]
}

fn stream_answer() -> Schema {
    object(vec![need("data", list(envelope())), need("cursor", text()), need("brand", text())])
}

fn trigger_body() -> Schema {
    object(vec![need("type", choice(&events::names()))])
}

fn trigger_answer() -> Schema {
    data(object(vec![need("eventId", id::<Event>()), need("deliveries", count())]))
}

const fn row(
    method: crate::operations::Method,
    path: &'static str,
    id: &'static str,
    summary: &'static str,
) -> Operation {
    operation(method, path, id, "Webhooks", summary)
}

/// The rows of this noun.
pub const OPERATIONS: &[Operation] = &[
    row(GET, "/v1/webhooks", "listWebhooks", "All endpoints, newest first").scope(WEBHOOKS_READ).answers(&[(200, Some(endpoints_answer))]),
    row(POST, "/v1/webhooks", "createWebhook", "Make an endpoint; its secret is shown once")
        .scope(WEBHOOKS_WRITE)
        .live_only()
        .body(new_endpoint)
        .answers(&[(201, Some(created_answer))])
        .errors(&[INVALID_WEBHOOK_URL, ENDPOINT_LIMIT]),
    row(GET, "/v1/webhooks/{id}", "getWebhook", "One endpoint").scope(WEBHOOKS_READ).answers(&[(200, Some(endpoint_answer))]),
    row(PATCH, "/v1/webhooks/{id}", "updateWebhook", "Change an endpoint; disabling it stops what is pending")
        .scope(WEBHOOKS_WRITE)
        .live_only()
        .body(endpoint_change)
        .answers(&[(200, Some(endpoint_answer))])
        .errors(&[INVALID_WEBHOOK_URL]),
    row(DELETE, "/v1/webhooks/{id}", "deleteWebhook", "Delete an endpoint and its log")
        .scope(WEBHOOKS_WRITE)
        .live_only()
        .answers(&[(200, Some(deleted_answer))]),
    row(POST, "/v1/webhooks/{id}/rotate-secret", "rotateWebhookSecret", "A new secret, which signs everything from now on")
        .scope(WEBHOOKS_WRITE)
        .live_only()
        .answers(&[(200, Some(secret_answer))]),
    row(POST, "/v1/webhooks/{id}/test", "testWebhook", "Send a sample event to this endpoint, whatever it subscribes to")
        .scope(WEBHOOKS_WRITE)
        .live_only()
        .optional_body(test_body)
        .answers(&[(202, Some(test_answer))])
        .errors(&[CONFLICT]),
    row(
        GET,
        "/v1/webhooks/{id}/deliveries",
        "listWebhookDeliveries",
        "The delivery log of the key's world, newest first; with a filter a page may be short although more follows",
    )
    .scope(WEBHOOKS_READ)
    .query(deliveries_query)
    .answers(&[(200, Some(deliveries_answer))]),
    row(GET, "/v1/webhooks/{id}/deliveries/{deliveryId}", "getWebhookDelivery", "One delivery with its payload and every attempt")
        .scope(WEBHOOKS_READ)
        .answers(&[(200, Some(delivery_answer))]),
    row(POST, "/v1/webhooks/{id}/deliveries/{deliveryId}/replay", "replayWebhookDelivery", "Deliver it again, now; the retry schedule starts anew")
        .scope(WEBHOOKS_WRITE)
        .live_only()
        .answers(&[(202, Some(delivery_answer))])
        .errors(&[DELIVERY_REDACTED, CONFLICT]),
    row(
        GET,
        "/v1/events",
        "listEvents",
        "Events of the key's world as they come, for a developer's machine without a public address (`dastak listen`)",
    )
    .scope(WEBHOOKS_READ)
    .query(stream_query)
    .answers(&[(200, Some(stream_answer))]),
    row(
        POST,
        "/v1/events/trigger",
        "triggerEvent",
        "Emit a sample event with `livemode: false` to whoever subscribes to its type; changes nothing else, so test keys may",
    )
    .scope(WEBHOOKS_WRITE)
    .body(trigger_body)
    .answers(&[(202, Some(trigger_answer))]),
];
