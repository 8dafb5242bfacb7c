//! The outcome of a sent message is stored: accepted, refused, to be retried, or unknown
//! (docs/contract/channel-messages.md#sending).

use app::{App, Failure, topics};
use domain::channel::errors::{Effect, ProviderError};
use domain::channel::{Happened, MessageStatus, Sent};
use domain::time::{MINUTE, SECOND, Timestamp};
use store::channel_messages::{self, MessageRow};
use store::{DbError, Tx};

use crate::messages::{self, Claim};
use crate::provider_errors::struck;

/// Most attempts of a message that was certainly not sent.
const MAX_ATTEMPTS: i64 = 200;

/// Longest backoff between two attempts.
const LONGEST: i64 = 5 * MINUTE;

/// The outcome of a message that was sent to the provider.
#[derive(Debug, Clone)]
pub enum Delivered {
    /// The provider has it.
    Sent(Box<MessageRow>),
    /// It was certainly not sent, and will be retried.
    Waits(Box<MessageRow>),
    Refused(Box<MessageRow>, ProviderError),
    /// It is unknown whether it was sent.
    Unknown(Box<MessageRow>),
}

impl Delivered {
    /// The message as it is now.
    pub fn message(&self) -> &MessageRow {
        match self {
            Self::Sent(row) | Self::Waits(row) | Self::Refused(row, _) | Self::Unknown(row) => row,
        }
    }
}

/// Stores the provider's answer.
pub(crate) fn settle(
    app: &App,
    tx: &mut Tx<'_>,
    claim: &Claim,
    sent: &Option<Sent>,
) -> Result<Delivered, Failure> {
    let tenant = claim.message.workspace;
    let now = app.clock.now();
    let Some(mut row) = channel_messages::get_for_update(&mut tx.of(tenant), claim.message.id)? else {
        return Ok(Delivered::Unknown(Box::new(claim.message.clone())));
    };
    let mine = row.lease_until.is_some() && row.attempts == claim.message.attempts;
    let before = row.status;
    row.updated_at = now;
    match sent {
        Some(Sent::Accepted { provider_id }) if is_of_another(tx, &row, provider_id)? => {
            // It says nothing of this message: it may have been sent, and no status by that id would be its own.
            tracing::warn!(message = %row.id, "the provider answered with the id of another message");
            lose(app, tx, &mut row, now)?;
            Ok(Delivered::Unknown(Box::new(row)))
        }
        Some(Sent::Accepted { provider_id }) => {
            row.lease_until = None;
            // The provider's ids hold numbers: that of an erased person is not kept.
            if row.status != MessageStatus::Deleted {
                row.provider_id.get_or_insert_with(|| provider_id.clone());
            }
            if let Some(status) = row.status.after(Happened::Accepted) {
                row.status = status;
                row.times.sent = row.times.sent.or(Some(now));
            }
            channel_messages::save(tx, &row)?;
            if row.status != before {
                messages::moved(app, tx, &row, before)?;
            }
            Ok(Delivered::Sent(Box::new(row)))
        }
        Some(Sent::Refused(error)) => {
            row.lease_until = None;
            fail(app, tx, &mut row, (error.code, error.title.clone(), error.detail.clone()), now)?;
            struck(app, &mut tx.of(tenant), claim.number.id, &row, error)?;
            Ok(Delivered::Refused(Box::new(row), error.clone()))
        }
        // Somebody else has decided meanwhile: the lease was over, or the person was erased.
        _ if !mine => Ok(of_status(row)),
        Some(Sent::Later(error)) if row.attempts >= MAX_ATTEMPTS => {
            row.lease_until = None;
            fail(app, tx, &mut row, (error.code, error.title.clone(), error.detail.clone()), now)?;
            struck(app, &mut tx.of(tenant), claim.number.id, &row, error)?;
            Ok(Delivered::Refused(Box::new(row), error.clone()))
        }
        Some(Sent::Later(error)) => {
            let doubled = SECOND << row.attempts.clamp(1, 9);
            let wait = error.effect().wait().unwrap_or(0).max(doubled.min(LONGEST));
            put_off(tx, &mut row, now.plus(wait))?;
            rest(tx, claim, error, now)?;
            struck(app, &mut tx.of(tenant), claim.number.id, &row, error)?;
            Ok(Delivered::Waits(Box::new(row)))
        }
        None => {
            let wait =
                if app.clock.stopping() { 0 } else { (SECOND << row.attempts.clamp(1, 9)).min(LONGEST) };
            put_off(tx, &mut row, now.plus(wait))?;
            Ok(Delivered::Waits(Box::new(row)))
        }
        Some(Sent::Unknown) => {
            lose(app, tx, &mut row, now)?;
            Ok(Delivered::Unknown(Box::new(row)))
        }
    }
}

/// Whether another message of the number has this id at the provider.
fn is_of_another(tx: &mut Tx<'_>, row: &MessageRow, provider_id: &str) -> Result<bool, DbError> {
    let number = &row.phone_number_id;
    let known = channel_messages::at_provider_for_update(&mut tx.of(row.workspace), number, provider_id)?;
    Ok(known.is_some_and(|known| known.id != row.id))
}

fn of_status(row: MessageRow) -> Delivered {
    match row.status {
        MessageStatus::Queued => Delivered::Waits(Box::new(row)),
        MessageStatus::Sent | MessageStatus::Delivered | MessageStatus::Read => {
            Delivered::Sent(Box::new(row))
        }
        _ => Delivered::Unknown(Box::new(row)),
    }
}

/// Marks a message as failed.
pub(crate) fn fail(
    app: &App,
    tx: &mut Tx<'_>,
    row: &mut MessageRow,
    error: (i64, String, String),
    now: Timestamp,
) -> Result<(), Failure> {
    let before = row.status;
    if let Some(status) = row.status.after(Happened::Refused) {
        row.status = status;
        row.error = Some(error);
        row.times.failed = Some(now);
        row.next_at = None;
        row.lease_until = None;
    }
    row.updated_at = now;
    channel_messages::save(tx, row)?;
    if row.status != before {
        messages::moved(app, tx, row, before)?;
    }
    Ok(())
}

/// Marks a message as of unknown outcome.
pub(crate) fn lose(app: &App, tx: &mut Tx<'_>, row: &mut MessageRow, now: Timestamp) -> Result<(), Failure> {
    let before = row.status;
    row.lease_until = None;
    row.next_at = None;
    row.updated_at = now;
    if let Some(status) = row.status.after(Happened::Lost) {
        row.status = status;
    }
    channel_messages::save(tx, row)?;
    if row.status != before {
        messages::moved(app, tx, row, before)?;
    }
    Ok(())
}

/// Puts a message that was certainly not sent back into the send queue.
fn put_off(tx: &mut Tx<'_>, row: &mut MessageRow, at: Timestamp) -> Result<(), DbError> {
    row.lease_until = None;
    row.next_at = Some(at);
    channel_messages::save(tx, row)?;
    channel_messages::wake_send_queue(&mut tx.of(row.workspace), &row.phone_number_id, row.id, at)?;
    tx.wake(topics::CHANNEL_SENDS);
    Ok(())
}

/// Whether the provider throttles the number or the account, not only this person.
pub(crate) fn throttles(error: &ProviderError) -> bool {
    matches!(error.effect(), Effect::NumberThrottled | Effect::AccountThrottled | Effect::Maintenance)
}

/// Backs off with all messages of a number that the provider throttles.
fn rest(tx: &mut Tx<'_>, claim: &Claim, error: &ProviderError, now: Timestamp) -> Result<(), DbError> {
    let effect = error.effect();
    if !throttles(error) {
        return Ok(());
    }
    let tenant = claim.message.workspace;
    let mut line =
        channel_messages::send_queue_for_update(&mut tx.of(tenant), &claim.number.phone_number_id)?;
    line.used = line.used.max(now.plus(effect.wait().unwrap_or(SECOND)).0.saturating_mul(1_000));
    channel_messages::save_send_queue(tx, &line)
}
