//! The outbox: an event is written in the transaction in which it happened (spec 3 «Event envelope»).

use domain::ids::{Event, Id};
use domain::tenant::{Mode, Tenant};
use domain::time::Timestamp;
use serde::Serialize;
use serde_json::Value;
use store::Tx;
use store::events::{self, EventRow};

use super::{Context, Failure};

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

/// Writes an event into the outbox.
pub fn emit(tx: &mut Tx<'_>, context: &Context, tenant: Tenant, event: NewEvent<'_>) -> Result<Id<Event>, Failure> {
    let id = context.ids.make::<Event>();
    let envelope = Envelope { id, r#type: event.kind, created_at: context.now, livemode: event.mode.livemode(), data: &event.data };
    let envelope = serde_json::to_string(&envelope).map_err(|why| Failure::internal(why.to_string()))?;
    let row = EventRow {
        id,
        kind: event.kind.into(),
        mode: event.mode,
        agent: event.agent.map(str::to_owned),
        contact: event.contact.map(str::to_owned),
        envelope: Some(envelope),
        created_at: context.now,
    };
    events::insert(tx, tenant, &row)?;
    Ok(id)
}
