//! A message goes out: the provider is asked once, and its answer is stored
//! (docs/contract/channel-messages.md#sending).
//!
//! Before the network the row has a lease. Who dies with it leaves a message of which nobody knows whether it was
//! sent: it becomes `delivery_unknown` and is never sent again. What was certainly not sent waits for its next
//! moment.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use api::error_codes::CHATAPP_NOT_CONNECTED;
use app::access::{self, feature_on};
use app::{App, Failure, topics};
use domain::channel::campaign::PauseReason;
use domain::channel::errors::{Effect, ProviderError};
use domain::channel::provider::ConnectionStatus;
use domain::channel::{Content, Happened, LocalError, MessageStatus, Outgoing, Recipient, Sent, Source};
use domain::ids::{ChannelMessage, ChannelNumber, Id};
use domain::tenant::Tenant;
use domain::time::{MINUTE, SECOND, Timestamp};
use runtime::clock::Woken;
use runtime::traces::SpanKind;
use store::channel_messages::{self, LineRow, MessageRow};
use store::workspaces::WorkspaceRow;
use store::{DbError, Tx, channel_accounts};

use crate::campaigns::outcomes::take_back;
use crate::messages::{self, Claim, Decisions, LEASE, Refusal, Turn};
use crate::numbers::{self, Number, Which, sending_number};
use crate::providers::provider;
use crate::{ahead, connections, outcomes, slots};

/// Messages of one number that are claimed in one go, and how far ahead of their slots.
const BATCH: i64 = 64;
const HORIZON: i64 = 250;
/// Numbers worked in one round.
const LINES: i64 = 64;
/// Messages on their way on this node, in all and of one workspace.
const ON_THEIR_WAY: usize = 2_000;
const OF_WORKSPACE: usize = 500;
/// Leases that are looked at in one go.
const ABANDONED: i64 = 200;
/// Nothing is handed to a provider so close to the end of its lease.
const MARGIN: i64 = 60 * SECOND;
/// When a number comes back that somebody else holds, or whose messages are all for people whose threads somebody else
/// holds.
const HELD: i64 = 20;
/// How long a number rests whose account cannot send.
const REST: i64 = 5 * MINUTE;
/// How long messages rest that are not to go out now: their workspace is suspended, or what they belong to is off.
const OFF: i64 = MINUTE;
/// How often a message is put off that was certainly not sent.
const MAX_ATTEMPTS: i64 = 200;
/// Longest wait between two tries.
const LONGEST: i64 = 5 * MINUTE;

/// What became of a message that was handed to the provider.
#[derive(Debug, Clone)]
pub enum Delivered {
    /// The provider has it.
    Sent(Box<MessageRow>),
    /// It was certainly not sent, and waits for its next moment.
    Waits(Box<MessageRow>),
    Refused(Box<MessageRow>, ProviderError),
    /// Nobody knows whether it was sent.
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

/// Hands a message to the provider and stores what comes of it. Runs as a whole in a task that the clock counts.
/// `then` belongs to the transaction in which the outcome is stored.
///
/// # Errors
/// Those of the store; the message is unknown then when its lease ends.
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
    runtime::traces::within(asked, outcomes::store(app, claim, sent, then)).await
}

/// The moment of a slot, if it has yet to come. No slot is further ahead than [`messages::MOST_WAIT`]: when one is, the
/// clock was set back after the message was claimed, and by the time that passed its moment is here.
fn moment_ahead(at: Timestamp, now: Timestamp) -> Option<Timestamp> {
    (now < at && at <= now.plus(messages::MOST_WAIT)).then_some(at)
}

/// What came of asking the provider; `None` when it was not asked.
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
    let account = connections::account_of_many(app, claim.message.workspace).await.ok()?;
    let provider = provider(app, &account);
    // The store may have been slow, the machine may have slept.
    if claim.message.lease_until.is_none_or(|lease| app.clock.now().plus(MARGIN) > lease) {
        return None;
    }
    let from = claim.number.phone_number_id.as_str();
    let sent = app.clock.outside(provider.send(&account, from, &outgoing)).await;
    if let Sent::Refused(error) = &sent
        && error.effect() == Effect::TokenInvalid
        && let Err(failure) = connections::token_refused(app, &account, error).await
    {
        failure.warn_about(account.connection, "that a token is refused could not be stored");
    }
    Some(sent)
}

/// What the provider is given.
fn outgoing(row: &MessageRow) -> Option<Outgoing> {
    let content: Content = serde_json::from_value(row.content.clone()?).ok()?;
    let to = match (&row.customer, &row.customer_user_id) {
        (Some(number), _) => Recipient::parse(number)?,
        (None, Some(id)) => Recipient::UserId(id.clone()),
        (None, None) => return None,
    };
    Some(Outgoing { message: row.id, to, content, reply_to: row.reply_to.clone() })
}

/// Stores what the provider said.
pub(crate) fn settle(
    app: &App,
    tx: &mut Tx<'_>,
    claim: &Claim,
    sent: &Option<Sent>,
) -> Result<Delivered, Failure> {
    let tenant = claim.message.workspace;
    let now = app.clock.now();
    let Some(mut row) = channel_messages::get_for_update(tx, tenant, claim.message.id)? else {
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
            struck(app, tx, tenant, claim, &row, error)?;
            Ok(Delivered::Refused(Box::new(row), error.clone()))
        }
        // Somebody else has decided meanwhile: the lease was over, or the person was erased.
        _ if !mine => Ok(of_status(row)),
        Some(Sent::Later(error)) if row.attempts >= MAX_ATTEMPTS => {
            row.lease_until = None;
            fail(app, tx, &mut row, (error.code, error.title.clone(), error.detail.clone()), now)?;
            struck(app, tx, tenant, claim, &row, error)?;
            Ok(Delivered::Refused(Box::new(row), error.clone()))
        }
        Some(Sent::Later(error)) => {
            let doubled = SECOND << row.attempts.clamp(1, 9);
            let wait = error.effect().wait().unwrap_or(0).max(doubled.min(LONGEST));
            put_off(tx, &mut row, now.plus(wait))?;
            rest(tx, claim, error, now)?;
            struck(app, tx, tenant, claim, &row, error)?;
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
    let known = channel_messages::at_provider_for_update(tx, row.workspace, number, provider_id)?;
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

/// Nobody knows whether a message was sent.
fn lose(app: &App, tx: &mut Tx<'_>, row: &mut MessageRow, now: Timestamp) -> Result<(), Failure> {
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

/// A message that was certainly not sent waits.
fn put_off(tx: &mut Tx<'_>, row: &mut MessageRow, at: Timestamp) -> Result<(), DbError> {
    row.lease_until = None;
    row.next_at = Some(at);
    channel_messages::save(tx, row)?;
    channel_messages::wake_line(tx, row.workspace, &row.phone_number_id, row.id, at)?;
    tx.wake(topics::CHANNEL_SENDS);
    Ok(())
}

/// Whether the provider throttles the number or the account, not only this person.
fn throttles(error: &ProviderError) -> bool {
    matches!(error.effect(), Effect::NumberThrottled | Effect::AccountThrottled | Effect::Maintenance)
}

/// A provider that throttles the number or the account is left alone by all messages of the number.
fn rest(tx: &mut Tx<'_>, claim: &Claim, error: &ProviderError, now: Timestamp) -> Result<(), DbError> {
    let effect = error.effect();
    if !throttles(error) {
        return Ok(());
    }
    let tenant = claim.message.workspace;
    let mut line = channel_messages::line_for_update(tx, tenant, &claim.number.phone_number_id)?;
    line.used = line.used.max(now.plus(effect.wait().unwrap_or(SECOND)).0.saturating_mul(1_000));
    channel_messages::save_line(tx, &line)
}

/// What a provider's error means beyond its message: for the person, and for the number and the account.
fn struck(
    app: &App,
    tx: &mut Tx<'_>,
    tenant: Tenant,
    claim: &Claim,
    row: &MessageRow,
    error: &ProviderError,
) -> Result<(), Failure> {
    crate::statuses::person_struck(app, tx, tenant, row, error)?;
    number_struck(app, tx, tenant, claim.number.id, error)
}

/// What a provider's error means for the number.
pub(crate) fn number_struck(
    app: &App,
    tx: &mut Tx<'_>,
    tenant: Tenant,
    number: Id<ChannelNumber>,
    error: &ProviderError,
) -> Result<(), Failure> {
    if error.effect() == Effect::SpamLimited {
        numbers::spam_limited(tx, &app.context(), tenant, number)?;
    }
    Ok(())
}

/// Messages on their way on this node, by workspace.
#[derive(Default)]
struct OnTheirWay(Mutex<HashMap<Tenant, usize>>);

impl OnTheirWay {
    fn room(&self, tenant: Tenant) -> usize {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let all: usize = known.values().sum();
        let own = known.get(&tenant).copied().unwrap_or(0);
        OF_WORKSPACE.saturating_sub(own).min(ON_THEIR_WAY.saturating_sub(all))
    }

    fn add(&self, tenant: Tenant) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(tenant).or_insert(0) += 1;
    }

    fn remove(&self, tenant: Tenant) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = known.get_mut(&tenant) {
            *count -= 1;
            if *count == 0 {
                known.remove(&tenant);
            }
        }
    }
}

/// The place of a message on its way, given back however it ends.
struct Place(Arc<App>, Arc<OnTheirWay>, Tenant);

impl Drop for Place {
    fn drop(&mut self) {
        self.1.remove(self.2);
    }
}

/// Sends what is due: one round over the numbers that have something to send, longest waiting first, each with its
/// share. Returns when to look again.
pub async fn look(app: &Arc<App>) -> Result<Option<Timestamp>, Failure> {
    give_up_abandoned(app).await?;
    let now = app.clock.now();
    let lines = app.store.read(move |tx| channel_messages::due_lines(tx, now, LINES)).await?;
    let whole = lines.len() as i64 >= LINES;
    let on_their_way = app.kept.of(OnTheirWay::default);
    let (mut full, mut held) = (false, false);
    let mut sending = tokio::task::JoinSet::new();
    for (tenant, number) in lines {
        let room = on_their_way.room(tenant);
        if room == 0 {
            full = true;
            continue;
        }
        let (app, on_their_way) = (app.clone(), on_their_way.clone());
        sending.spawn(async move {
            let most = i64::try_from(room).unwrap_or(BATCH).min(BATCH);
            let claims = claim(&app, tenant, number, most).await?;
            let held = claims.is_none();
            for claim in claims.into_iter().flatten() {
                on_their_way.add(tenant);
                let place = Place(app.clone(), on_their_way.clone(), tenant);
                app.clock.spawn(async move {
                    let id = claim.message.id;
                    if let Err(failure) = deliver(&place.0, claim, |_, _| Ok(())).await {
                        failure.warn_about(id, "the outcome of a message could not be stored");
                    }
                });
            }
            Ok::<_, Failure>(held)
        });
    }
    while let Some(done) = sending.join_next().await {
        held |= done.map_err(|why| Failure::internal(why.to_string()))??;
    }
    let (next, lease) = app
        .store
        .read(|tx| Ok::<_, DbError>((channel_messages::next_line(tx)?, channel_messages::next_lease(tx)?)))
        .await?;
    // A workspace or a node with all it may have on its way looks again when some of it has arrived, and at a number that
    // somebody else holds in a moment.
    let soonest = match (full, held) {
        (true, _) => app.clock.now().plus(HORIZON),
        (false, true) => app.clock.now().plus(HELD),
        (false, false) => app.clock.now(),
    };
    let next = next.map(|next| next.max(soonest));
    let next = if whole { Some(soonest) } else { next };
    Ok(match (next, lease) {
        (Some(next), Some(lease)) => Some(next.min(lease)),
        (next, lease) => next.or(lease),
    })
}

/// Messages whose sender died with them: nobody knows, and nobody sends them again.
async fn give_up_abandoned(app: &Arc<App>) -> Result<(), Failure> {
    loop {
        let now = app.clock.now();
        let left = app.store.read(move |tx| channel_messages::abandoned(tx, now, ABANDONED)).await?;
        let whole = left.len() as i64 >= ABANDONED;
        for (tenant, id) in left {
            let keeper = app.clone();
            app.store
                .tx(move |tx| {
                    let row = channel_messages::get_for_update(tx, tenant, id)?;
                    match row.filter(|row| row.lease_until.is_some_and(|lease| lease <= now)) {
                        Some(mut row) => lose(&keeper, tx, &mut row, now),
                        None => Ok(()),
                    }
                })
                .await?;
        }
        if !whole {
            return Ok(());
        }
    }
}

/// Claims what a number may send now and in the next moments. `None` when somebody else holds its line, or has just
/// claimed.
async fn claim(
    app: &Arc<App>,
    tenant: Tenant,
    number: String,
    most: i64,
) -> Result<Option<Vec<Claim>>, Failure> {
    let keeper = app.clone();
    app.store.tx(move |tx| claim_in(&keeper, tx, tenant, &number, most)).await
}

fn claim_in(
    app: &Arc<App>,
    tx: &mut Tx<'_>,
    tenant: Tenant,
    number: &str,
    most: i64,
) -> Result<Option<Vec<Claim>>, Failure> {
    let context = app.context();
    let now = context.now;
    let Some(mut pace) = channel_messages::take_line(tx, tenant, number, now)? else { return Ok(None) };
    tx.ahead(|tx| {
        let _ = access::workspace(tx, tenant);
        let _ = channel_accounts::read_ahead(tx, tenant);
        let _ = channel_messages::due(tx, tenant, number, 0, now, most);
    });
    if tx.shared() {
        channel_accounts::read_ahead(tx, tenant)?;
    }
    let mut due = channel_messages::due(tx, tenant, number, 0, now, most)?;
    let more = most - due.len() as i64;
    if more > 0 {
        due.extend(channel_messages::due(tx, tenant, number, 1, now, more)?);
    }
    let workspace = access::workspace(tx, tenant)?;
    if workspace.suspended || !feature_on(&workspace, "chatappChannel") {
        pace.next_at = (!due.is_empty()).then(|| now.plus(OFF));
        channel_messages::save_line(tx, &pace)?;
        return Ok(Some(Vec::new()));
    }
    let from = match number_of(tx, tenant, number)?.filter(Number::is_connected) {
        Some(from) if from.connection == ConnectionStatus::Connected => from,
        Some(_) => {
            // The account cannot send; a new token or its next check changes that.
            pace.next_at = (!due.is_empty()).then(|| now.plus(REST));
            channel_messages::save_line(tx, &pace)?;
            return Ok(Some(Vec::new()));
        }
        None => {
            for mut row in due {
                if row.campaign.is_none() || !take_back(tx, &context, &row, PauseReason::NotConnected)? {
                    fail(app, tx, &mut row, Refusal::NotConnected.error(), now)?;
                }
            }
            return finish(tx, pace);
        }
    };
    let (mut decisions, mut claims, all) = (Decisions::default(), Vec::new(), due.len());
    let due = ahead::turns(tx, &context, tenant, due)?;
    let all_are_held_elsewhere = due.is_empty() && all > 0;
    for mut row in due {
        if is_off(&workspace, &row) {
            row.next_at = Some(now.plus(OFF));
            row.updated_at = now;
            channel_messages::save(tx, &row)?;
            continue;
        }
        let (at, used) = match messages::slot_of_number(&from, pace.used, now, now.plus(HORIZON)) {
            Ok(slot) => slot,
            Err(_) => break,
        };
        let about = row.id.to_string();
        match messages::at_its_turn(tx, &context, tenant, &from, &row, at)? {
            Turn::Wait(at) => {
                row.next_at = Some(at);
                row.updated_at = now;
                channel_messages::save(tx, &row)?;
            }
            Turn::Refuse(refusal) => {
                let gate = refusal.error().1;
                fail(app, tx, &mut row, refusal.error(), now)?;
                let mut entry = messages::entry(&context, about, row.agent, Some("message"), None);
                entry.blocked_by = Some(gate);
                decisions.add(entry);
            }
            Turn::TakeBack(reason) => {
                if !take_back(tx, &context, &row, reason)? {
                    let error = Refusal::Local(LocalError::TemplateUnavailable, reason.as_str()).error();
                    fail(app, tx, &mut row, error, now)?;
                }
                let mut entry = messages::entry(&context, about, row.agent, Some("message"), None);
                entry.blocked_by = Some(reason.as_str().to_owned());
                decisions.add(entry);
            }
            Turn::Go { proof, open, room, thread } => {
                pace.used = used;
                channel_messages::save_thread(tx, tenant, &thread)?;
                if !open {
                    messages::reach(tx, &context, tenant, &from, &row, room)?;
                }
                row.next_at = None;
                row.lease_until = Some(now.plus(LEASE));
                row.attempts += 1;
                row.updated_at = now;
                channel_messages::save(tx, &row)?;
                decisions.add(messages::entry(&context, about, row.agent, None, proof));
                claims.push(Claim { message: row, number: from.clone(), at });
            }
        }
    }
    // The line looks again when its pace has room, or when its next message is due.
    if let Some(next) = channel_messages::next_of_line(tx, tenant, number)? {
        let slot = messages::slot_of_number(&from, pace.used, now, now);
        // Slots up to the horizon are given away ahead, so it comes back before they are used up.
        let room = match slot {
            Ok(_) => now,
            Err(at) => at.plus(-HORIZON / 2).max(now.plus(1)),
        };
        let room = if all_are_held_elsewhere { room.max(now.plus(HELD)) } else { room };
        pace.next_at = Some(next.max(room));
    } else {
        pace.next_at = None;
    }
    channel_messages::save_line(tx, &pace)?;
    decisions.write(tx, &context, tenant)?;
    Ok(Some(claims))
}

/// Whether a message waits because the feature that it belongs to is off: that of its campaign, or of its agent.
fn is_off(workspace: &WorkspaceRow, row: &MessageRow) -> bool {
    let feature = match (row.campaign, row.source) {
        (Some(_), _) => "chatappCampaigns",
        (None, Source::Agent) => "chatappAgents",
        (None, _) => return false,
    };
    !feature_on(workspace, feature)
}

fn finish(tx: &mut Tx<'_>, mut pace: LineRow) -> Result<Option<Vec<Claim>>, Failure> {
    pace.next_at = channel_messages::next_of_line(tx, pace.workspace, &pace.phone_number_id)?;
    channel_messages::save_line(tx, &pace)?;
    Ok(Some(Vec::new()))
}

/// A number by the provider's id of it; none when it is not connected any more.
pub(crate) fn number_of(tx: &mut Tx<'_>, tenant: Tenant, id: &str) -> Result<Option<Number>, Failure> {
    match sending_number(tx, tenant, Which::Provider(id)) {
        Ok(number) => Ok(Some(number)),
        Err(failure) if failure.error == CHATAPP_NOT_CONNECTED => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// A message by its id, for those who follow it.
pub async fn message(
    app: &App,
    tenant: Tenant,
    id: Id<ChannelMessage>,
) -> Result<Option<MessageRow>, Failure> {
    Ok(app.store.read(move |tx| channel_messages::get(tx, tenant, id)).await?)
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
        for ahead in [1, HORIZON, messages::MOST_WAIT] {
            assert_eq!(moment_ahead(now.plus(ahead), now), Some(now.plus(ahead)));
        }
        assert_eq!(moment_ahead(now.plus(messages::MOST_WAIT + 1), now), None);
    }
}
