//! Delivery statuses of sent messages, from notifications (docs/contract/channel-messages.md#statuses).

use app::{App, Failure};
use domain::channel::notification::{Receipt, StatusUpdate};
use domain::channel::{Direction, Happened, MessageStatus};
use domain::ids::{ChannelMessage, Id};

use domain::time::Timestamp;
use store::channel_messages::{self, MessageRow};
use store::{TenantTx, Tx};

use crate::messages;
use crate::notification_queue::note_unknown_status;
use crate::numbers::Number;
use crate::provider_errors::{number_struck, person_struck};

/// Stores the status of a message, in the transaction that removes the notification from the queue. A status of an unknown
/// message, which another program of the same account sent, changes nothing.
pub fn status(app: &App, tx: &mut TenantTx, number: &Number, update: &StatusUpdate) -> Result<(), Failure> {
    let Some(mut row) = find(tx, number, update)? else {
        // It may have been to a person who was erased: such a message has lost the provider's id.
        note_unknown_status(app, tx);
        return Ok(());
    };
    let before = row.status;
    if before == MessageStatus::Deleted {
        note_unknown_status(app, tx);
    }
    if row.direction == Direction::Inbound || before == MessageStatus::Deleted {
        return Ok(());
    }
    let now = app.clock.now();
    row.provider_id.get_or_insert_with(|| update.id.clone());
    if row.customer_user_id.is_none() {
        row.customer_user_id.clone_from(&update.to.user_id);
    }
    let next = row.status.after(Happened::Told(update.receipt));
    for receipt in next.map(|next| before.implied(next)).unwrap_or_default() {
        imply(app, tx, &mut row, *receipt, update.at.min(now))?;
    }
    let before = row.status;
    if let Some(status) = next {
        row.status = status;
        row.lease_until = None;
        row.next_at = None;
    }
    row.times.told(update.receipt, update.at.min(now), next == Some(MessageStatus::Failed));
    row.updated_at = now;
    let error = update.errors.first();
    if next == Some(MessageStatus::Failed) {
        let unknown = || (135_000, "refused".to_owned(), String::new());
        row.error =
            Some(error.map_or_else(unknown, |error| (error.code, error.title.clone(), error.detail.clone())));
    }
    if next == Some(MessageStatus::Deleted) {
        row.words = None;
        row.content = None;
    }
    channel_messages::save(tx, &row)?;
    if row.status != before {
        messages::moved(app, tx, &row, before)?;
    }
    if let (Receipt::Failed, Some(error)) = (update.receipt, error) {
        person_struck(app, tx, &row, error)?;
        number_struck(app, tx, number.id, error)?;
    }
    Ok(())
}

/// Moves a message to a status that a later one implies. The provider may still report its time.
fn imply(
    app: &App,
    tx: &mut Tx<'_>,
    row: &mut MessageRow,
    receipt: Receipt,
    at: Timestamp,
) -> Result<(), Failure> {
    let before = row.status;
    let Some(status) = before.after(Happened::Told(receipt)) else { return Ok(()) };
    row.status = status;
    row.lease_until = None;
    row.next_at = None;
    row.updated_at = app.clock.now();
    row.times.implied(receipt, at);
    channel_messages::save(tx, row)?;
    messages::moved(app, tx, row, before)
}

/// The message of a status: by the provider's id, or by ours, which the provider echoes.
fn find(tx: &mut TenantTx, number: &Number, update: &StatusUpdate) -> Result<Option<MessageRow>, Failure> {
    let found = channel_messages::at_provider_for_update(tx, &number.phone_number_id, &update.id)?;
    if found.is_some() {
        return Ok(found);
    }
    let Some(id) = update.message.as_deref().and_then(|text| text.parse::<Id<ChannelMessage>>().ok()) else {
        return Ok(None);
    };
    // An id that somebody else's program made up, or one of a message with another id at the provider, is not ours.
    Ok(channel_messages::get_for_update(tx, id)?.filter(|row| {
        row.phone_number_id == number.phone_number_id && row.provider_id.is_none() && row.attempts > 0
    }))
}
