//! The outbox: an event is written in the transaction in which it happened (spec 3 «Event envelope»).

use api::events::EventType;
use bytes::Bytes;
use domain::ids::{Event, Id, WebhookEndpoint};
use domain::tenant::{Mode, Tenant};
use domain::time::Timestamp;
use serde::Serialize;
use serde_json::Value;
use store::Tx;
use store::deliveries::{self, Key, NewDelivery};
use store::events::{self, NewEventRow};

use super::{Context, Failure};
use crate::jobs::webhooks::{Item, LEASE};

/// Something that happened, before it has an id.
#[derive(Debug, Clone)]
pub struct NewEvent<'a> {
    /// Its type, such as `call.started`.
    pub kind: &'static str,
    /// The world it happened in.
    pub mode: Mode,
    /// The agent it is about, for the endpoints' filter.
    pub agent: Option<&'a str>,
    /// The person it is about, for erasure.
    pub contact: Option<&'a str>,
    /// Payload.
    pub data: Value,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Envelope<'a> {
    id: Id<Event>,
    r#type: &'a str,
    created_at: Timestamp,
    livemode: bool,
    data: &'a Value,
}

/// Who receives an event.
pub enum Audience {
    /// Every endpoint that subscribes to it.
    Subscribed,
    /// This endpoint, whatever it subscribes to.
    Only(Id<WebhookEndpoint>),
}

/// Writes an event into the outbox, and its deliveries: this node makes them after the commit.
pub fn emit(tx: &mut Tx<'_>, context: &Context, tenant: Tenant, event: NewEvent<'_>) -> Result<Id<Event>, Failure> {
    emit_to(tx, context, tenant, event, &Audience::Subscribed).map(|(id, _)| id)
}

/// Like [`emit`], for an audience; also how many endpoints get it.
pub fn emit_to(tx: &mut Tx<'_>, context: &Context, tenant: Tenant, event: NewEvent<'_>, audience: &Audience) -> Result<(Id<Event>, usize), Failure> {
    let (id, now, engine) = (context.ids.make::<Event>(), context.now, &context.webhooks);
    let envelope = Envelope { id, r#type: event.kind, created_at: now, livemode: event.mode.livemode(), data: &event.data };
    let envelope = serde_json::to_string(&envelope).map_err(|why| Failure::internal(why.to_string()))?;
    let (kind, mode) = (event.kind, event.mode);
    let row = NewEventRow { id, kind, mode, agent: event.agent, contact: event.contact, envelope: &envelope, created_at: now };
    events::insert(tx, tenant, row)?;
    let endpoints: Vec<Id<WebhookEndpoint>> = match audience {
        Audience::Subscribed => {
            engine.endpoints(tx, tenant)?.iter().filter(|endpoint| endpoint.wants(kind, event.agent)).map(|endpoint| endpoint.id).collect()
        }
        Audience::Only(endpoint) => vec![*endpoint],
    };
    let (mut items, mut in_line) = (Vec::new(), Vec::new());
    let body = Bytes::from(envelope);
    for endpoint in &endpoints {
        let lease = engine.has_room(*endpoint).then(|| now.plus(LEASE));
        deliveries::insert(tx, tenant, NewDelivery { endpoint: *endpoint, event: id, kind, created_at: now, lease })?;
        let key = Key { tenant, endpoint: *endpoint, id: deliveries::id_of(id, *endpoint) };
        match lease {
            Some(lease) => items.push(Item { key, kind: kind.into(), body: body.clone(), round: 0, round_at: now, made: 0, created_at: now, lease }),
            None => in_line.push(*endpoint),
        }
    }
    if !endpoints.is_empty() || engine.has_listeners() {
        let engine = engine.clone();
        tx.after_commit(move || {
            engine.take(items, &in_line);
            engine.announce();
        });
    }
    Ok((id, endpoints.len()))
}

/// The row of the catalog with this name; the edge has checked that there is one.
pub fn known(kind: &str) -> Result<&'static EventType, Failure> {
    api::events::find(kind).ok_or_else(|| Failure::field("type", "is not an event type"))
}

/// A sample of an event type. It is about no agent of the workspace, so no endpoint's `agentIds` keep it out.
pub fn sample(kind: &'static EventType) -> NewEvent<'static> {
    NewEvent { kind: kind.name, mode: Mode::Test, agent: None, contact: None, data: (kind.sample)() }
}
