//! A claimed message is handed to the provider, at most once, and the outcome is stored
//! (docs/contract/channel-messages.md#sending).
//!
//! Before the network call the row has a lease. If the process dies while it holds the lease, it is unknown whether the
//! message was sent: the message becomes `delivery_unknown` and is never sent again. What was certainly not sent is
//! retried.

use std::sync::Arc;

use app::{App, Failure};
use domain::channel::errors::{Effect, ProviderError};
use domain::channel::{Content, LocalError, Outgoing, Recipient, Sent};
use domain::time::{SECOND, Timestamp};
use runtime::clock::Woken;
use runtime::traces::SpanKind;
use store::Tx;
use store::channel_messages::MessageRow;

use crate::messages::{self, Claim, Refusal};
use crate::providers::provider;
use crate::settle::{Delivered, throttles};
use crate::{accounts, outcome_batches, slots};

/// A message is not sent when less than this is left of its lease.
const MARGIN: i64 = 60 * SECOND;

/// Sends a message to the provider and stores the outcome. Run it in a task that the clock counts. `then` runs in the
/// transaction that stores the outcome.
///
/// # Errors
/// The outcome could not be stored: the message becomes `delivery_unknown` when its lease ends.
pub async fn deliver<T: Send + 'static>(
    app: &Arc<App>,
    claim: Claim,
    then: impl FnMut(&mut Tx<'_>, &Delivered) -> Result<T, Failure> + Send + 'static,
) -> Result<(Delivered, T), Failure> {
    let mut span = app.traces.begin(SpanKind::Client, "send message", claim.message.trace);
    let sent = span.within(hand_over(app, &claim)).await;
    let result = match &sent {
        Some(Sent::Accepted { .. }) => "accepted",
        Some(Sent::Refused(_)) => "refused",
        Some(Sent::Later(_)) => "later",
        Some(Sent::Unknown) => "unknown",
        None => "not_asked",
    };
    span.set("dastak.send.result", result);
    if !matches!(sent, Some(Sent::Accepted { .. })) {
        span.failed(result);
    }
    // The sending itself is over, also if it is stored late.
    let asked = span.context();
    drop(span);
    if let Some(Sent::Later(error)) = &sent
        && throttles(error)
    {
        slots::forget(app, claim.message.workspace, &claim.number.phone_number_id);
    }
    runtime::traces::within(asked, outcome_batches::store(app, claim, sent, then)).await
}

/// The moment of a slot, if it is still ahead. No slot is further ahead than [`messages::MOST_WAIT`]; one that is means
/// that the clock was set back after the message was claimed, and then it is due.
fn moment_ahead(at: Timestamp, now: Timestamp) -> Option<Timestamp> {
    (now < at && at <= now.plus(messages::MOST_WAIT)).then_some(at)
}

/// The provider's answer; `None` when it was not asked.
async fn hand_over(app: &Arc<App>, claim: &Claim) -> Option<Sent> {
    if let Some(at) = moment_ahead(claim.at, app.clock.now())
        && matches!(app.clock.sleep_until(at).await, Woken::Stop)
    {
        return None;
    }
    let Some(outgoing) = outgoing(&claim.message) else {
        let (code, title, detail) = Refusal::Local(LocalError::InvalidMessage, "unreadable").error();
        return Some(Sent::Refused(ProviderError { code, title, detail }));
    };
    let account = accounts::account_of_many(app, claim.message.workspace).await.ok()?;
    let provider = provider(app, &account);
    // The store may have been slow, the machine may have slept.
    if claim.message.lease_until.is_none_or(|lease| app.clock.now().plus(MARGIN) > lease) {
        return None;
    }
    let from = claim.number.phone_number_id.as_str();
    let sent = app.clock.outside(provider.send(&account, from, &outgoing)).await;
    if let Sent::Refused(error) = &sent
        && error.effect() == Effect::TokenInvalid
        && let Err(failure) = accounts::token_refused(app, &account, error).await
    {
        failure.warn_about(account.connection, "that a token is refused could not be stored");
    }
    Some(sent)
}

/// The message in the form that providers take; `None` when its row cannot be read.
fn outgoing(row: &MessageRow) -> Option<Outgoing> {
    let content: Content = serde_json::from_value(row.content.clone()?).ok()?;
    let to = match (&row.customer, &row.customer_user_id) {
        (Some(number), _) => Recipient::parse(number)?,
        (None, Some(id)) => Recipient::UserId(id.clone()),
        (None, None) => return None,
    };
    Some(Outgoing { message: row.id, to, content, reply_to: row.reply_to.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_is_waited_for_unless_the_clock_was_set_back() {
        let now = Timestamp(1_000_000);
        for ahead in [-1, 0] {
            assert_eq!(moment_ahead(now.plus(ahead), now), None);
        }
        for ahead in [1, 250, messages::MOST_WAIT] {
            assert_eq!(moment_ahead(now.plus(ahead), now), Some(now.plus(ahead)));
        }
        assert_eq!(moment_ahead(now.plus(messages::MOST_WAIT + 1), now), None);
    }
}
