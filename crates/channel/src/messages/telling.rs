//! Who hears of a message: its event, and those who follow.

use app::events::{self, NewEvent};
use app::{App, Failure};
use domain::channel::MessageStatus;
use domain::channel::consent::Wish;
use domain::channel::notification::Received;
use domain::tenant::Mode;
use store::channel_messages::{self, MessageRow};
use store::{Tx, contacts};

use crate::conversations::left_its_campaign;
use crate::followers::{self, MessageFact};
use crate::view;

/// What a customer sent, and how they stand by it.
#[derive(Clone, Copy)]
pub(crate) struct Incoming<'a> {
    pub(crate) received: &'a Received,
    pub(crate) wish: Option<Wish>,
    /// Whether they may not be written to.
    pub(crate) barred: bool,
}

/// Tells of a message that was stored, or that moved on: its event, and who follows.
pub(crate) fn stored(
    app: &App,
    tx: &mut Tx<'_>,
    row: &MessageRow,
    external_ref: Option<&str>,
    before: Option<MessageStatus>,
    incoming: Option<Incoming<'_>>,
) -> Result<(), Failure> {
    let fact = MessageFact {
        message: row,
        before,
        received: incoming.map(|incoming| incoming.received),
        wish: incoming.and_then(|incoming| incoming.wish),
        barred: incoming.is_some_and(|incoming| incoming.barred),
    };
    followers::tell(app, tx, &fact)?;
    let Some(kind) = row.status.event() else { return Ok(()) };
    // Who follows says to which conversation a received message belongs, and one of a campaign that was sent.
    let placed = incoming.is_some() || before.is_some_and(|before| left_its_campaign(row, before));
    let known = if placed { channel_messages::get(tx, row.workspace, row.id)? } else { None };
    let row = known.as_ref().unwrap_or(row);
    let contact = row.contact.to_string();
    let agent = row.agent.map(|agent| agent.to_string());
    let event = NewEvent {
        kind,
        mode: Mode::Live,
        agent: agent.as_deref(),
        contact: Some(&contact),
        data: view::of_event(row, external_ref)?,
    };
    events::emit(tx, &app.context(), row.workspace, event)?;
    Ok(())
}

/// The same for one whose contact has to be looked up.
pub(crate) fn moved(
    app: &App,
    tx: &mut Tx<'_>,
    row: &MessageRow,
    before: MessageStatus,
) -> Result<(), Failure> {
    let contact = contacts::get(tx, row.workspace, row.contact)?;
    let reference = contact.and_then(|contact| contact.external_ref);
    stored(app, tx, row, reference.as_deref(), Some(before), None)
}
