//! The outbox: an event is written in the transaction in which it happened
//! (docs/contract/webhooks.md#envelope).

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
    /// The world it happened in, and in which it is seen.
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
pub fn emit(
    tx: &mut Tx<'_>,
    context: &Context,
    tenant: Tenant,
    event: NewEvent<'_>,
) -> Result<Id<Event>, Failure> {
    let livemode = event.mode.livemode();
    write(tx, context, tenant, event, livemode, &Audience::Subscribed).map(|(id, _)| id)
}

/// Writes a sample for an audience; also how many endpoints get it. It says `livemode: false`, belongs to the
/// world of whoever asked for it, and is about no agent of the workspace, so no endpoint's `agentIds` keep it
/// out.
pub fn emit_sample(
    tx: &mut Tx<'_>,
    context: &Context,
    tenant: Tenant,
    mode: Mode,
    kind: &'static EventType,
    data: Value,
    audience: &Audience,
) -> Result<(Id<Event>, usize), Failure> {
    write(
        tx,
        context,
        tenant,
        NewEvent { kind: kind.name, mode, agent: None, contact: None, data },
        false,
        audience,
    )
}

fn write(
    tx: &mut Tx<'_>,
    context: &Context,
    tenant: Tenant,
    event: NewEvent<'_>,
    livemode: bool,
    audience: &Audience,
) -> Result<(Id<Event>, usize), Failure> {
    let (id, now, engine) = (context.ids.make::<Event>(), context.now, &context.webhooks);
    let envelope = Envelope { id, r#type: event.kind, created_at: now, livemode, data: &event.data };
    let envelope = serde_json::to_string(&envelope).map_err(|why| Failure::internal(why.to_string()))?;
    let (kind, mode) = (event.kind, event.mode);
    let row = NewEventRow {
        id,
        kind,
        mode,
        agent: event.agent,
        contact: event.contact,
        envelope: &envelope,
        created_at: now,
    };
    events::insert(tx, tenant, row)?;
    let endpoints: Vec<Id<WebhookEndpoint>> = match audience {
        Audience::Subscribed => engine
            .endpoints(tx, tenant)?
            .iter()
            .filter(|endpoint| endpoint.wants(kind, event.agent))
            .map(|endpoint| endpoint.id)
            .collect(),
        Audience::Only(endpoint) => vec![*endpoint],
    };
    let (mut items, mut in_line) = (Vec::new(), Vec::new());
    let body = Bytes::from(envelope);
    for endpoint in &endpoints {
        let lease = engine.has_room(*endpoint).then(|| now.plus(LEASE));
        deliveries::insert(
            tx,
            tenant,
            NewDelivery { endpoint: *endpoint, event: id, kind, mode, created_at: now, lease },
        )?;
        let key = Key { tenant, endpoint: *endpoint, id: deliveries::id_of(id, *endpoint) };
        match lease {
            Some(lease) => items.push(Item {
                key,
                kind: kind.into(),
                body: body.clone(),
                round: 0,
                round_at: now,
                made: 0,
                created_at: now,
                lease,
            }),
            None => in_line.push(*endpoint),
        }
    }
    // Whether somebody reads is asked after the commit: who comes before it has not seen this event.
    let engine = engine.clone();
    tx.after_commit(move || {
        engine.take(items, &in_line);
        engine.readers.announce(tenant, mode);
    });
    Ok((id, endpoints.len()))
}

/// The row of the catalog with this name; the edge has checked that there is one.
pub fn known(kind: &str) -> Result<&'static EventType, Failure> {
    api::events::find(kind).ok_or_else(|| Failure::field("type", "is not an event type"))
}
