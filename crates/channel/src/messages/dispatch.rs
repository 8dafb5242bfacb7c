//! Dispatch of a message that was stored or that moved on: to conversations and campaigns, which observe it in the same
//! transaction, and to webhook endpoints as an event (docs/contract/channel-messages.md#events).

use api::events::channel_messages::MessageData;
use app::events::{self, Event, NewEvent};
use app::{App, Failure};
use domain::channel::MessageStatus;
use domain::channel::consent::StopWord;
use domain::channel::notification::Received;
use domain::tenant::Mode;
use store::channel_messages::{self, MessageRow};
use store::{Tx, contacts};

use crate::campaigns::outcomes;
use crate::conversations::{self, left_its_campaign};
use crate::events::MessageEvent;
use crate::view;

/// What a customer sent, and whether they may be written to.
#[derive(Clone, Copy)]
pub(crate) struct Incoming<'a> {
    pub(crate) received: &'a Received,
    pub(crate) stop_word: Option<StopWord>,
    /// Whether they may not be written to.
    pub(crate) barred: bool,
}

/// Lets conversations and campaigns observe a message. The transaction may run again, so neither has another effect.
pub(crate) fn observe(app: &App, tx: &mut Tx<'_>, event: &MessageEvent<'_>) -> Result<(), Failure> {
    conversations::on_message(app, tx, event)?;
    outcomes::on_message(app, tx, event)
}

/// Dispatches a message that was stored, or whose status changed from `before`.
pub(crate) fn stored(
    app: &App,
    tx: &mut Tx<'_>,
    row: &MessageRow,
    external_ref: Option<&str>,
    before: Option<MessageStatus>,
    incoming: Option<Incoming<'_>>,
) -> Result<(), Failure> {
    let event = MessageEvent {
        message: row,
        before,
        received: incoming.map(|incoming| incoming.received),
        stop_word: incoming.and_then(|incoming| incoming.stop_word),
        barred: incoming.is_some_and(|incoming| incoming.barred),
    };
    observe(app, tx, &event)?;
    let Some(event) = event_of(row.status) else { return Ok(()) };
    // The conversation of a received message, and of one of a campaign that was sent, was assigned by the observers.
    let assigned = incoming.is_some() || before.is_some_and(|before| left_its_campaign(row, before));
    let current = if assigned { channel_messages::get(&mut tx.of(row.workspace), row.id)? } else { None };
    let row = current.as_ref().unwrap_or(row);
    let contact = row.contact.to_string();
    let agent = row.agent.map(|agent| agent.to_string());
    let event = event(view::of(row, external_ref.map(str::to_owned)).into());
    let event = NewEvent { event, mode: Mode::Live, agent: agent.as_deref(), contact: Some(&contact) };
    events::emit(&mut tx.of(row.workspace), &app.context(), event)?;
    Ok(())
}

/// The event of a message that has this status.
fn event_of(status: MessageStatus) -> Option<fn(MessageData) -> Event> {
    match status {
        MessageStatus::Sent => Some(Event::MessageSent),
        MessageStatus::Delivered => Some(Event::MessageDelivered),
        MessageStatus::Read => Some(Event::MessageRead),
        MessageStatus::Failed => Some(Event::MessageFailed),
        MessageStatus::Received => Some(Event::MessageReceived),
        MessageStatus::Queued | MessageStatus::DeliveryUnknown | MessageStatus::Deleted => None,
    }
}

/// Dispatches a message whose status changed; its contact's external reference is looked up.
pub(crate) fn moved(
    app: &App,
    tx: &mut Tx<'_>,
    row: &MessageRow,
    before: MessageStatus,
) -> Result<(), Failure> {
    let contact = contacts::get(&mut tx.of(row.workspace), row.contact)?;
    let reference = contact.and_then(|contact| contact.external_ref);
    stored(app, tx, row, reference.as_deref(), Some(before), None)
}
