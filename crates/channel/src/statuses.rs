//! How sent messages go on, as the provider tells (docs/contract/channel-messages.md#statuses).

use app::contact_policy;
use app::{App, Failure};
use domain::channel::errors::{Effect, ProviderError};
use domain::channel::notification::{Receipt, StatusUpdate};
use domain::channel::{Direction, Happened, MessageStatus};
use domain::ids::{ChannelMessage, Id};
use domain::tenant::Tenant;
use domain::time::Timestamp;
use store::channel_messages::{self, MessageRow};
use store::{Tx, channel_consents, contacts};

use crate::inbox;
use crate::messages;
use crate::numbers::Number;
use crate::send::number_struck;

/// Takes news of a message, in the transaction that marks the notification as worked. News of a message that is not
/// known here (another program of the same account sent it) change nothing.
pub fn status(
    app: &App,
    tx: &mut Tx<'_>,
    tenant: Tenant,
    number: &Number,
    update: &StatusUpdate,
) -> Result<(), Failure> {
    let Some(mut row) = find(tx, tenant, number, update)? else {
        // It may have been to a person who was erased: such a message has lost the provider's id.
        inbox::told_of_unknown(app, tx);
        return Ok(());
    };
    let before = row.status;
    if before == MessageStatus::Deleted {
        inbox::told_of_unknown(app, tx);
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
        person_struck(app, tx, tenant, &row, error)?;
        number_struck(app, tx, tenant, number.id, error)?;
    }
    Ok(())
}

/// Moves a message to a status that later news of it imply. The provider may still tell when that was.
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

/// The message that news are about: by the provider's id, or by ours, which went along with it.
fn find(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    number: &Number,
    update: &StatusUpdate,
) -> Result<Option<MessageRow>, Failure> {
    let found = channel_messages::at_provider_for_update(tx, tenant, &number.phone_number_id, &update.id)?;
    if found.is_some() {
        return Ok(found);
    }
    let Some(id) = update.message.as_deref().and_then(|text| text.parse::<Id<ChannelMessage>>().ok()) else {
        return Ok(None);
    };
    // An id that somebody else's program made up, or one of a message with another id at the provider, is not ours.
    Ok(channel_messages::get_for_update(tx, tenant, id)?.filter(|row| {
        row.phone_number_id == number.phone_number_id && row.provider_id.is_none() && row.attempts > 0
    }))
}

/// What a provider's error says of the person.
pub(crate) fn person_struck(
    app: &App,
    tx: &mut Tx<'_>,
    tenant: Tenant,
    row: &MessageRow,
    error: &ProviderError,
) -> Result<(), Failure> {
    if error.effect() != Effect::MarketingStopped {
        return Ok(());
    }
    let now = app.clock.now();
    let contact = contacts::get(tx, tenant, row.contact)?;
    for person in contact_policy::hashes(&app.keyring, contact.as_ref(), None) {
        channel_consents::marketing(tx, tenant, &person, Some(now), now)?;
    }
    Ok(())
}
