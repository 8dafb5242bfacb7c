//! Webhook endpoints, their log, and the stream of events (docs/contract/webhooks.md).

use std::borrow::Cow;

use domain::ids::{self, Id};
use domain::time::Timestamp;
use schemars::{JsonSchema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::envelope::Deleted;
use crate::error_codes::{CONFLICT, DELIVERY_REDACTED, ENDPOINT_LIMIT, INVALID_WEBHOOK_URL};
use crate::events;
use crate::operation::Method::{DELETE, GET, PATCH, POST};
use crate::operation::{Operation, operation};
use crate::schema::{Field, answer, cursor, data, given, integer, limit, may, or, page, request, text_of};
use crate::scopes::{WEBHOOKS_READ, WEBHOOKS_WRITE};

/// Endpoints of one workspace (docs/contract/webhooks.md#endpoints).
pub const MAX_ENDPOINTS: i64 = 20;

/// The name of one of [`events::ALL`].
pub enum EventName {}

impl JsonSchema for EventName {
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("EventType")
    }

    fn json_schema(_: &mut SchemaGenerator) -> schemars::Schema {
        json_schema!({"type": "string", "enum": events::names(), "description": "What happened."})
    }
}

/// Whether an endpoint gets deliveries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WebhookStatus {
    /// It does.
    Active,
    /// It does not.
    Disabled,
}

/// A webhook endpoint to be made.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewWebhookEndpoint {
    /// Public https:// address.
    #[schemars(length(max = 2048), extend("x-refusedAs" = "invalid_webhook_url"))]
    pub url: String,
    /// Empty: every event except message.* and chat.evaluated.
    #[schemars(with = "Vec<EventName>", length(max = 100), extend("default" = []))]
    pub events: Vec<String>,
    /// Only events about these agents; events about no agent always come.
    #[schemars(with = "Vec<Id<ids::Agent>>", length(max = 100), extend("default" = []))]
    pub agent_ids: Vec<String>,
    /// A note of your own.
    #[schemars(length(max = 500), extend("x-nullable" = true))]
    pub description: Option<String>,
    /// Whether it gets deliveries.
    #[schemars(extend("default" = "active"))]
    pub status: WebhookStatus,
}

/// A change of a webhook endpoint; what is absent stays.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebhookEndpointChange {
    /// Public https:// address.
    #[schemars(length(max = 2048), extend("x-refusedAs" = "invalid_webhook_url"))]
    pub url: Option<String>,
    /// Empty: every event except message.* and chat.evaluated.
    #[schemars(with = "Option<Vec<EventName>>", length(max = 100))]
    pub events: Option<Vec<String>>,
    /// Only events about these agents; events about no agent always come.
    #[schemars(with = "Option<Vec<Id<ids::Agent>>>", length(max = 100))]
    pub agent_ids: Option<Vec<String>>,
    /// A note of your own; null removes it.
    #[serde(default, deserialize_with = "given")]
    #[schemars(!default, length(max = 500), extend("x-nullable" = true))]
    pub description: Option<Option<String>>,
    /// Whether it gets deliveries.
    pub status: Option<WebhookStatus>,
}

/// A webhook endpoint.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebhookEndpoint {
    /// Its id.
    pub id: Id<ids::WebhookEndpoint>,
    /// Where deliveries go.
    pub url: String,
    /// Event types that were picked.
    pub events: Vec<String>,
    /// Agents that were picked.
    pub agent_ids: Vec<String>,
    /// The owner's note.
    pub description: Option<String>,
    /// Whether it gets deliveries.
    pub status: WebhookStatus,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// A webhook endpoint that was made.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreatedWebhookEndpoint {
    /// The endpoint.
    #[serde(flatten)]
    pub endpoint: WebhookEndpoint,
    /// The secret with which deliveries are signed; shown only here.
    pub secret: String,
}

/// The new secret of a webhook endpoint.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WebhookSecret {
    /// The endpoint.
    pub id: Id<ids::WebhookEndpoint>,
    /// The secret with which deliveries are signed.
    pub secret: String,
}

/// A sample event to be sent to one endpoint.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct WebhookTest {
    /// Its type.
    #[schemars(with = "EventName", extend("default" = "webhook.test"))]
    pub r#type: String,
}

/// A sample event that is being sent.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TestedWebhook {
    /// The event.
    pub event_id: Id<ids::Event>,
    /// Its delivery.
    pub delivery_id: Id<ids::Delivery>,
}

/// An attempt of a delivery, or the reason why there will be none.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeliveryAttempt {
    /// When it began.
    pub at: Timestamp,
    /// HTTP status, if the endpoint answered with one.
    pub status: Option<u16>,
    /// How long it took, milliseconds.
    pub duration_ms: u64,
    /// Why it failed.
    pub error: Option<String>,
}

/// Where a delivery is.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryStatus {
    /// It is tried.
    Pending,
    /// The endpoint accepted it.
    Succeeded,
    /// It was given up.
    Failed,
}

/// One event on its way to one endpoint.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Delivery {
    /// Its id.
    pub id: Id<ids::Delivery>,
    /// The event, the same in every delivery of it.
    pub event_id: Id<ids::Event>,
    /// The event's type.
    pub event: String,
    /// Where it is.
    #[schemars(with = "DeliveryStatus")]
    pub status: String,
    /// Every attempt, oldest first.
    #[schemars(with = "Vec<DeliveryAttempt>")]
    pub attempts: Value,
    /// When the next attempt is to be made.
    pub next_attempt_at: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When the endpoint accepted it.
    pub delivered_at: Option<Timestamp>,
    /// The event as it is sent; null once the person is erased.
    #[schemars(with = "Option<Event>")]
    pub payload: Value,
}

/// Something that happened.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// Its id.
    pub id: Id<ids::Event>,
    /// What happened; more types may come.
    pub r#type: String,
    /// When it happened.
    pub created_at: Timestamp,
    /// False for what a test key caused, and for samples.
    pub livemode: bool,
    /// What it was about.
    pub data: Value,
}

/// Events as they come.
#[derive(Debug, JsonSchema)]
pub struct EventStream {
    /// Events, oldest first.
    #[schemars(with = "Vec<Event>")]
    pub data: Vec<Value>,
    /// The `after` of the next request.
    pub cursor: String,
    /// The name of the service in the headers of deliveries.
    pub brand: String,
}

impl EventStream {
    /// Its JSON, of envelopes as they are sent: these are not read again.
    #[must_use]
    pub fn json(envelopes: &[String], cursor: &str, brand: &str) -> String {
        let bytes = envelopes.iter().map(|envelope| envelope.len() + 1).sum::<usize>();
        let mut json = String::with_capacity(bytes + 256);
        json.push_str("{\"data\":[");
        for (number, envelope) in envelopes.iter().enumerate() {
            if number > 0 {
                json.push(',');
            }
            json.push_str(envelope);
        }
        let (cursor, brand) = (Value::from(cursor), Value::from(brand));
        json.push_str(&format!("],\"cursor\":{cursor},\"brand\":{brand}}}"));
        json
    }
}

/// A sample event to be emitted.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct EventTrigger {
    /// Its type.
    #[schemars(with = "EventName")]
    pub r#type: String,
}

/// A sample event that was emitted.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TriggeredEvent {
    /// The event.
    pub event_id: Id<ids::Event>,
    /// Endpoints that get it.
    pub deliveries: usize,
}

fn deliveries_query() -> Vec<Field> {
    vec![
        may("status", request::<DeliveryStatus>()),
        may("event", request::<EventName>()),
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

const fn row(
    method: crate::operation::Method,
    path: &'static str,
    id: &'static str,
    summary: &'static str,
) -> Operation {
    operation(method, path, id, "Webhooks", summary)
}

/// The rows of this noun.
pub const OPERATIONS: &[Operation] = &[
    row(GET, "/v1/webhooks", "listWebhooks", "All endpoints, newest first").scope(WEBHOOKS_READ).answers(&[(200, Some(page::<WebhookEndpoint>))]),
    row(POST, "/v1/webhooks", "createWebhook", "Make an endpoint; its secret is shown once")
        .scope(WEBHOOKS_WRITE)
        .live_only()
        .body(request::<NewWebhookEndpoint>)
        .answers(&[(201, Some(data::<CreatedWebhookEndpoint>))])
        .errors(&[INVALID_WEBHOOK_URL, ENDPOINT_LIMIT]),
    row(GET, "/v1/webhooks/{id}", "getWebhook", "One endpoint").scope(WEBHOOKS_READ).answers(&[(200, Some(data::<WebhookEndpoint>))]),
    row(PATCH, "/v1/webhooks/{id}", "updateWebhook", "Change an endpoint; disabling it stops what is pending")
        .scope(WEBHOOKS_WRITE)
        .live_only()
        .body(request::<WebhookEndpointChange>)
        .answers(&[(200, Some(data::<WebhookEndpoint>))])
        .errors(&[INVALID_WEBHOOK_URL]),
    row(DELETE, "/v1/webhooks/{id}", "deleteWebhook", "Delete an endpoint and its log")
        .scope(WEBHOOKS_WRITE)
        .live_only()
        .answers(&[(200, Some(data::<Deleted>))]),
    row(POST, "/v1/webhooks/{id}/rotate-secret", "rotateWebhookSecret", "A new secret, which signs everything from now on")
        .scope(WEBHOOKS_WRITE)
        .live_only()
        .answers(&[(200, Some(data::<WebhookSecret>))]),
    row(POST, "/v1/webhooks/{id}/test", "testWebhook", "Send a sample event to this endpoint, whatever it subscribes to")
        .scope(WEBHOOKS_WRITE)
        .live_only()
        .optional_body(request::<WebhookTest>)
        .answers(&[(202, Some(data::<TestedWebhook>))])
        .errors(&[CONFLICT]),
    row(
        GET,
        "/v1/webhooks/{id}/deliveries",
        "listWebhookDeliveries",
        "The delivery log of the key's world, newest first; with a filter a page may be short although more follows",
    )
    .scope(WEBHOOKS_READ)
    .query(deliveries_query)
    .answers(&[(200, Some(page::<Delivery>))]),
    row(GET, "/v1/webhooks/{id}/deliveries/{deliveryId}", "getWebhookDelivery", "One delivery with its payload and every attempt")
        .scope(WEBHOOKS_READ)
        .answers(&[(200, Some(data::<Delivery>))]),
    row(POST, "/v1/webhooks/{id}/deliveries/{deliveryId}/replay", "replayWebhookDelivery", "Deliver it again, now; the retry schedule starts anew")
        .scope(WEBHOOKS_WRITE)
        .live_only()
        .answers(&[(202, Some(data::<Delivery>))])
        .errors(&[DELIVERY_REDACTED, CONFLICT]),
    row(
        GET,
        "/v1/events",
        "listEvents",
        "Events of the key's world as they come, for a developer's machine without a public address (`dastak listen`)",
    )
    .scope(WEBHOOKS_READ)
    .query(stream_query)
    .waits()
    .answers(&[(200, Some(answer::<EventStream>))]),
    row(
        POST,
        "/v1/events/trigger",
        "triggerEvent",
        "Emit a sample event with `livemode: false` to whoever subscribes to its type; changes nothing else, so test keys may",
    )
    .scope(WEBHOOKS_WRITE)
    .body(request::<EventTrigger>)
    .answers(&[(202, Some(data::<TriggeredEvent>))]),
];
