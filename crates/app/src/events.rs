//! The outbox: an event is written in the transaction in which it happened
//! (docs/contract/webhooks.md#envelope).

pub use api::events::Event;
use api::events::EventType;
use domain::ids::{self, Id};
use domain::tenant::Mode;
use store::TenantTx;
pub use store::events::TranscriptRef;
pub use webhooks::{Audience, NewEvent};

use super::{Context, Failure};

/// Writes an event into the outbox together with its deliveries, which this node makes after the commit.
pub fn emit(tx: &mut TenantTx, context: &Context, event: NewEvent<'_>) -> Result<Id<ids::Event>, Failure> {
    emit_with(tx, context, event, None)
}

/// Writes an event of a chat, which carries the transcript up to now. The transcript is not stored with the event: it is
/// inserted when the event is sent or read, so the size of an event does not depend on the length of its chat.
pub fn emit_with(
    tx: &mut TenantTx,
    context: &Context,
    event: NewEvent<'_>,
    transcript: Option<TranscriptRef>,
) -> Result<Id<ids::Event>, Failure> {
    let livemode = event.mode.livemode();
    let id = context.ids.make::<ids::Event>();
    let at = (id, context.now);
    context.webhooks.emit(tx, at, (event, transcript), livemode, &Audience::Subscribed)?;
    Ok(id)
}

/// Writes a sample for an audience and returns how many endpoints get it. The sample says `livemode: false`,
/// belongs to the mode of the key that asked for it, and is about no agent, so no endpoint's `agentIds`
/// filter it out.
pub fn emit_sample(
    tx: &mut TenantTx,
    context: &Context,
    mode: Mode,
    event: Event,
    audience: &Audience,
) -> Result<(Id<ids::Event>, usize), Failure> {
    let id = context.ids.make::<ids::Event>();
    let event = NewEvent { event, mode, agent: None, contact: None };
    let count = context.webhooks.emit(tx, (id, context.now), (event, None), false, audience)?;
    Ok((id, count))
}

/// The row of the catalog with this name; the edge has checked that there is one.
pub fn known(kind: &str) -> Result<&'static EventType, Failure> {
    api::events::find(kind).ok_or_else(|| Failure::field("type", "is not an event type"))
}
