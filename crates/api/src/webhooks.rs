//! Webhook endpoints, their log, and the stream of events (docs/contract/webhooks.md).

use std::borrow::Cow;

use domain::ids::{self, Id};
use domain::tenant::Role;
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
        json_schema!({"type": "string", "enum": events::names(), "description": "Type of an event, such as `call.completed`."})
    }
}

/// Whether an endpoint gets deliveries: `active` or `disabled`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WebhookStatus {
    /// It does.
    Active,
    /// It does not.
    Disabled,
}

/// The request to create a webhook endpoint.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewWebhookEndpoint {
    /// Public https:// address that receives the deliveries.
    #[schemars(length(max = 2048), extend("x-refusedAs" = "invalid_webhook_url"))]
    pub url: String,
    /// Event types to receive. Empty: every event except `message.*` and `chat.evaluated`, which must be
    /// named.
    #[schemars(with = "Vec<EventName>", length(max = 100), extend("default" = []))]
    pub events: Vec<String>,
    /// Receive only events about these agents; empty for all. Events that concern no agent are always sent.
    #[schemars(with = "Vec<Id<ids::Agent>>", length(max = 100), extend("default" = []))]
    pub agent_ids: Vec<String>,
    /// A note of your own; null for none.
    #[schemars(length(max = 500), extend("x-nullable" = true))]
    pub description: Option<String>,
    /// `active` receives deliveries, `disabled` does not.
    #[schemars(extend("default" = "active"))]
    pub status: WebhookStatus,
}

/// A change of a webhook endpoint; absent fields are not changed.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebhookEndpointChange {
    /// Public https:// address that receives the deliveries, pending ones included.
    #[schemars(length(max = 2048), extend("x-refusedAs" = "invalid_webhook_url"))]
    pub url: Option<String>,
    /// Event types to receive. Empty: every event except `message.*` and `chat.evaluated`, which must be
    /// named.
    #[schemars(with = "Option<Vec<EventName>>", length(max = 100))]
    pub events: Option<Vec<String>>,
    /// Receive only events about these agents; empty for all. Events that concern no agent are always sent.
    #[schemars(with = "Option<Vec<Id<ids::Agent>>>", length(max = 100))]
    pub agent_ids: Option<Vec<String>>,
    /// A note of your own; null removes it.
    #[serde(default, deserialize_with = "given")]
    #[schemars(!default, length(max = 500), extend("x-nullable" = true))]
    pub description: Option<Option<String>>,
    /// `disabled` gives up pending deliveries; `active` receives events from then on.
    pub status: Option<WebhookStatus>,
}

/// A webhook endpoint, without its secret.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebhookEndpoint {
    /// Id of the endpoint, `whe_…`.
    pub id: Id<ids::WebhookEndpoint>,
    /// The address that receives the deliveries.
    pub url: String,
    /// Event types that it receives; empty for every event except `message.*` and `chat.evaluated`.
    #[schemars(with = "Vec<EventName>")]
    pub events: Vec<String>,
    /// Agents whose events it receives; empty for all.
    pub agent_ids: Vec<String>,
    /// Your own note; null for none.
    pub description: Option<String>,
    /// `active` receives deliveries, `disabled` does not.
    pub status: WebhookStatus,
    /// When the endpoint was created.
    pub created_at: Timestamp,
    /// When the endpoint last changed.
    pub updated_at: Timestamp,
}

/// A webhook endpoint that was created.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreatedWebhookEndpoint {
    /// The fields of the endpoint.
    #[serde(flatten)]
    pub endpoint: WebhookEndpoint,
    /// The secret with which deliveries are signed, `whsec_…`; shown only here.
    pub secret: String,
}

/// The new secret of a webhook endpoint.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WebhookSecret {
    /// Id of the endpoint, `whe_…`.
    pub id: Id<ids::WebhookEndpoint>,
    /// The secret with which every attempt is signed from now on, `whsec_…`; shown only here.
    pub secret: String,
}

/// The sample that is sent to an endpoint.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct WebhookTest {
    /// Event type of the sample.
    #[schemars(with = "EventName", extend("default" = "webhook.test"))]
    pub r#type: String,
}

/// A sample that is being sent to an endpoint.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TestedWebhook {
    /// Id of the event, `evt_…`.
    pub event_id: Id<ids::Event>,
    /// Id of the delivery, `whd_…`; its log entry shows the result.
    pub delivery_id: Id<ids::Delivery>,
}

/// An attempt of a delivery, or the reason why there will be none.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeliveryAttempt {
    /// When the attempt began.
    pub at: Timestamp,
    /// HTTP status of the receiver's answer; null if there was none.
    pub status: Option<u16>,
    /// Duration of the attempt, in milliseconds.
    pub duration_ms: u64,
    /// Why the attempt failed, for people; null if it succeeded.
    pub error: Option<String>,
}

/// Status of a delivery: `pending` (it is attempted), `succeeded` or `failed` (given up; it can be replayed).
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

/// One event for one endpoint.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Delivery {
    /// Id of the delivery, `whd_…`.
    pub id: Id<ids::Delivery>,
    /// Id of the event, `evt_…`; the same in all deliveries of the event.
    pub event_id: Id<ids::Event>,
    /// Type of the event, such as `call.completed`.
    #[schemars(with = "EventName")]
    pub event: String,
    /// `pending`, `succeeded` or `failed`.
    #[schemars(with = "DeliveryStatus")]
    pub status: String,
    /// All attempts, oldest first.
    #[schemars(with = "Vec<DeliveryAttempt>")]
    pub attempts: Value,
    /// When the next attempt follows; null unless the delivery is pending.
    pub next_attempt_at: Option<Timestamp>,
    /// When the delivery was created.
    pub created_at: Timestamp,
    /// When the receiver accepted the event; null before that.
    pub delivered_at: Option<Timestamp>,
    /// The event as it is sent; null once the contact is erased.
    #[schemars(with = "Option<Event>")]
    pub payload: Value,
}

/// An event: something that happened.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// Id of the event, `evt_…`; the same through retries and replays.
    pub id: Id<ids::Event>,
    /// Type of the event, such as `call.completed`; more types may be added.
    #[schemars(with = "EventName")]
    pub r#type: String,
    /// When the event happened.
    pub created_at: Timestamp,
    /// False for events of test keys and for samples.
    pub livemode: bool,
    /// The payload. Its fields depend on the type: the section `webhooks` of this document describes those of each.
    pub data: Value,
}

/// A page of the stream of events.
#[derive(Debug, JsonSchema)]
pub struct EventStream {
    /// The events of this page, oldest first.
    #[schemars(with = "Vec<Event>")]
    pub data: Vec<Value>,
    /// Position after this page; send it as `after` of the next request.
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

/// The sample event to send.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct EventTrigger {
    /// Event type of the sample.
    #[schemars(with = "EventName")]
    pub r#type: String,
}

/// A sample event that is being sent.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TriggeredEvent {
    /// Id of the event, `evt_…`.
    pub event_id: Id<ids::Event>,
    /// Number of endpoints that get the event.
    pub deliveries: usize,
}

/// Which failed deliveries are sent again.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FailedReplay {
    /// Deliveries that were created at or after this time.
    pub since: Timestamp,
    /// Deliveries that were created before this time. Absent: up to now.
    pub until: Option<Timestamp>,
}

/// What a replay of failed deliveries has begun.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReplayedDeliveries {
    /// Deliveries that are pending again, at most 10,000.
    pub replayed: u64,
    /// Failed deliveries that cannot be sent again, because their payload was erased.
    pub redacted: u64,
    /// `since` of the next request, when more deliveries may have failed; null when these were all.
    pub next_since: Option<Timestamp>,
}

fn deliveries_query() -> Vec<Field> {
    vec![
        may("callId", text_of(1, 200).doc("Only deliveries of the events of this call.")),
        may("eventId", text_of(1, 200).doc("Only the delivery of this event.")),
        may("status", request::<DeliveryStatus>().doc("Only deliveries with this status.")),
        may("event", request::<EventName>().doc("Only deliveries of this event type.")),
        limit(100),
        cursor(),
    ]
}

fn stream_query() -> Vec<Field> {
    vec![
        or(
            "after",
            text_of(1, 64)
                .doc("`cursor` of the previous answer, `latest` (new events only) or `start` (all)."),
            json!("latest"),
        ),
        or("wait", integer(0, 25).doc("Seconds to wait for an event if there is none yet."), json!(0)),
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
    row(GET, "/v1/webhooks", "listWebhooks", "All webhook endpoints, newest first")
        .scope(WEBHOOKS_READ)
        .answers(&[(200, Some(page::<WebhookEndpoint>))]),
    row(POST, "/v1/webhooks", "createWebhook", "Create a webhook endpoint")
        .role(Role::Admin)
        .about("Its secret is shown only in this answer. 409 `endpoint_limit` at 20 endpoints.")
        .scope(WEBHOOKS_WRITE)
        .live_only()
        .body(request::<NewWebhookEndpoint>)
        .answers(&[(201, Some(data::<CreatedWebhookEndpoint>))])
        .errors(&[INVALID_WEBHOOK_URL, ENDPOINT_LIMIT]),
    row(GET, "/v1/webhooks/{id}", "getWebhook", "One webhook endpoint")
        .scope(WEBHOOKS_READ)
        .answers(&[(200, Some(data::<WebhookEndpoint>))]),
    row(PATCH, "/v1/webhooks/{id}", "updateWebhook", "Change a webhook endpoint")
        .role(Role::Admin)
        .about("Only fields in the body change. Disabling it gives up its pending deliveries.")
        .scope(WEBHOOKS_WRITE)
        .live_only()
        .body(request::<WebhookEndpointChange>)
        .answers(&[(200, Some(data::<WebhookEndpoint>))])
        .errors(&[INVALID_WEBHOOK_URL]),
    row(DELETE, "/v1/webhooks/{id}", "deleteWebhook", "Delete a webhook endpoint with its log")
        .role(Role::Admin)
        .scope(WEBHOOKS_WRITE)
        .live_only()
        .answers(&[(200, Some(data::<Deleted>))]),
    row(
        POST,
        "/v1/webhooks/{id}/rotate-secret",
        "rotateWebhookSecret",
        "Replace the secret of a webhook endpoint",
    )
    .role(Role::Admin)
    .about("The new secret signs every attempt from now on, those of older events included.")
    .scope(WEBHOOKS_WRITE)
    .live_only()
    .answers(&[(200, Some(data::<WebhookSecret>))]),
    row(POST, "/v1/webhooks/{id}/test", "testWebhook", "Send a sample event to one endpoint")
        .role(Role::Admin)
        .about("Sent whatever the endpoint subscribes to. 409 `conflict` for a disabled endpoint.")
        .scope(WEBHOOKS_WRITE)
        .live_only()
        .optional_body(request::<WebhookTest>)
        .answers(&[(202, Some(data::<TestedWebhook>))])
        .errors(&[CONFLICT]),
    row(
        GET,
        "/v1/webhooks/{id}/deliveries",
        "listWebhookDeliveries",
        "Delivery log of an endpoint, newest first",
    )
    .about(
        "Shows deliveries of the key's mode. With a filter a page may be short or empty although \
         `nextCursor` is set.",
    )
    .scope(WEBHOOKS_READ)
    .query(deliveries_query)
    .answers(&[(200, Some(page::<Delivery>))]),
    row(
        POST,
        "/v1/webhooks/{id}/deliveries/replay",
        "replayFailedDeliveries",
        "Send the failed deliveries of a range of time again",
    )
    .role(Role::Admin)
    .about(
        "Oldest first, at most 10,000 a request, with the same ids; each is retried for another 24 hours. A repeat sends \
         nothing twice: deliveries that are pending are left out. 409 `conflict` while replayed deliveries of the endpoint \
         wait for their attempt (`meta.waiting`), and for a disabled endpoint.",
    )
    .scope(WEBHOOKS_WRITE)
    .live_only()
    .body(request::<FailedReplay>)
    .answers(&[(202, Some(data::<ReplayedDeliveries>))])
    .errors(&[CONFLICT]),
    row(
        GET,
        "/v1/webhooks/{id}/deliveries/{deliveryId}",
        "getWebhookDelivery",
        "One delivery with its payload and every attempt",
    )
    .scope(WEBHOOKS_READ)
    .answers(&[(200, Some(data::<Delivery>))]),
    row(
        POST,
        "/v1/webhooks/{id}/deliveries/{deliveryId}/replay",
        "replayWebhookDelivery",
        "Send a delivery again",
    )
    .role(Role::Admin)
    .about(
        "It is attempted at once with the same ids, and retried for another 24 hours. 409 \
         `delivery_redacted` if the payload was erased.",
    )
    .scope(WEBHOOKS_WRITE)
    .live_only()
    .answers(&[(202, Some(data::<Delivery>))])
    .errors(&[DELIVERY_REDACTED, CONFLICT]),
    row(GET, "/v1/events", "listEvents", "Stream of events of the key's mode, oldest first")
        .role(Role::Admin)
        .about(
            "For a machine without a public address (`dastak listen`). Waits up to `wait` seconds for \
             the next event.",
        )
        .scope(WEBHOOKS_READ)
        .query(stream_query)
        .waits()
        .answers(&[(200, Some(answer::<EventStream>))]),
    row(
        POST,
        "/v1/events/trigger",
        "triggerEvent",
        "Send a sample event to every endpoint that subscribes to its type",
    )
    .role(Role::Admin)
    .about("`livemode` of the sample is false; nothing else changes.")
    .traffic()
    .scope(WEBHOOKS_WRITE)
    .body(request::<EventTrigger>)
    .answers(&[(202, Some(data::<TriggeredEvent>))]),
];
