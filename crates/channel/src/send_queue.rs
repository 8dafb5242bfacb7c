//! The send queues: one for each number, worked at its rate. Messages that are due are claimed, checked again, and handed
//! to the provider (docs/contract/channel-messages.md#sending).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use app::access::{self, feature_on};
use app::{App, Failure};
use domain::channel::campaign::PauseReason;
use domain::channel::provider::ConnectionStatus;
use domain::channel::{LocalError, Source};
use domain::tenant::Tenant;
use domain::time::{MINUTE, Timestamp};
use store::channel_messages::{self, MessageRow, SendQueueRow};
use store::workspaces::WorkspaceRow;
use store::{DbError, TenantTx, Tx, channel_accounts};

use crate::campaigns::outcomes::take_back;
use crate::deliver::deliver;
use crate::messages::{self, Claim, Decisions, LEASE, Refusal, SendDecision};
use crate::numbers::{self, Number};
use crate::prefetch;
use crate::settle::{fail, lose};

/// Most messages of one number that are claimed in one go, and how far ahead of their slots, milliseconds.
const BATCH: i64 = 64;
const HORIZON: i64 = 250;
/// Most send queues worked in one round.
const LINES: i64 = 64;
/// Most messages in flight on this node, in all and of one workspace.
const IN_FLIGHT: usize = 2_000;
const OF_WORKSPACE: usize = 500;
/// Expired leases handled in one go.
const ABANDONED: i64 = 200;
/// Retry delay when the number's row, or every recipient's thread, is locked by another transaction.
const HELD: i64 = 20;
/// Retry delay of a number whose account cannot send.
const REST: i64 = 5 * MINUTE;
/// Retry delay of messages whose workspace is suspended, or whose feature is off.
const OFF: i64 = MINUTE;

/// Messages in flight on this node, by workspace.
#[derive(Default)]
struct InFlight(Mutex<HashMap<Tenant, usize>>);

impl InFlight {
    fn room(&self, tenant: Tenant) -> usize {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let all: usize = known.values().sum();
        let own = known.get(&tenant).copied().unwrap_or(0);
        OF_WORKSPACE.saturating_sub(own).min(IN_FLIGHT.saturating_sub(all))
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

/// Counts one message as in flight until it is dropped.
struct InFlightGuard(Arc<App>, Arc<InFlight>, Tenant);

impl Drop for InFlightGuard {
    fn drop(&mut self) {
        self.1.remove(self.2);
    }
}

/// Sends due messages: one round over the send queues, longest waiting first, each with its share. Returns when to look
/// again.
pub async fn look(app: &Arc<App>) -> Result<Option<Timestamp>, Failure> {
    give_up_abandoned(app).await?;
    let now = app.clock.now();
    let lines = app.store.read(move |tx| channel_messages::due_send_queues(tx, now, LINES)).await?;
    let whole = lines.len() as i64 >= LINES;
    let in_flight = app.state.of(InFlight::default);
    let (mut full, mut held) = (false, false);
    let mut sending = tokio::task::JoinSet::new();
    for (tenant, number) in lines {
        let room = in_flight.room(tenant);
        if room == 0 {
            full = true;
            continue;
        }
        let (app, in_flight) = (app.clone(), in_flight.clone());
        let clock = app.clock.clone();
        sending.spawn(clock.counted(async move {
            let most = i64::try_from(room).unwrap_or(BATCH).min(BATCH);
            let claims = claim(&app, tenant, number, most).await?;
            let held = claims.is_none();
            for claim in claims.into_iter().flatten() {
                in_flight.add(tenant);
                let guard = InFlightGuard(app.clone(), in_flight.clone(), tenant);
                app.clock.spawn(async move {
                    let id = claim.message.id;
                    if let Err(failure) = deliver(&guard.0, claim, |_, _| Ok(())).await {
                        failure.warn_about(id, "the outcome of a message could not be stored");
                    }
                });
            }
            Ok::<_, Failure>(held)
        }));
    }
    while let Some(done) = app.clock.outside(sending.join_next()).await {
        held |= done.map_err(|why| Failure::internal(why.to_string()))??;
    }
    let (next, lease) = app
        .store
        .read(|tx| {
            Ok::<_, DbError>((channel_messages::next_send_queue(tx)?, channel_messages::next_lease(tx)?))
        })
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

/// Messages whose lease expired because their process died become `delivery_unknown`, and are never sent again.
async fn give_up_abandoned(app: &Arc<App>) -> Result<(), Failure> {
    loop {
        let now = app.clock.now();
        let left = app.store.read(move |tx| channel_messages::abandoned(tx, now, ABANDONED)).await?;
        let whole = left.len() as i64 >= ABANDONED;
        for (tenant, id) in left {
            let keeper = app.clone();
            app.of(tenant)
                .tx(move |tx| {
                    let row = channel_messages::get_for_update(tx, id)?;
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

/// Claims the messages that a number may send until the horizon. `None` when another node holds its send queue, or has
/// just claimed from it.
async fn claim(
    app: &Arc<App>,
    tenant: Tenant,
    number: String,
    most: i64,
) -> Result<Option<Vec<Claim>>, Failure> {
    let keeper = app.clone();
    app.of(tenant).tx(move |tx| claim_in(&keeper, tx, &number, most)).await
}

fn claim_in(
    app: &Arc<App>,
    tx: &mut TenantTx,
    number: &str,
    most: i64,
) -> Result<Option<Vec<Claim>>, Failure> {
    let context = app.context();
    let now = context.now;
    let Some(mut pace) = channel_messages::take_send_queue(tx, number, now)? else { return Ok(None) };
    tx.pipeline_reads(|tx| {
        let _ = access::workspace(tx);
        let _ = channel_accounts::prefetch(tx);
        let _ = channel_messages::due(tx, number, 0, now, most);
    });
    if tx.shared() {
        channel_accounts::prefetch(tx)?;
    }
    let mut due = channel_messages::due(tx, number, 0, now, most)?;
    let more = most - due.len() as i64;
    if more > 0 {
        due.extend(channel_messages::due(tx, number, 1, now, more)?);
    }
    let workspace = access::workspace(tx)?;
    if workspace.suspended || !feature_on(&workspace, "chatappChannel") {
        pace.next_at = (!due.is_empty()).then(|| now.plus(OFF));
        channel_messages::save_send_queue(tx, &pace)?;
        return Ok(Some(Vec::new()));
    }
    let from = match numbers::number_of(tx, number)?.filter(Number::is_connected) {
        Some(from) if from.connection == ConnectionStatus::Connected => from,
        Some(_) => {
            // The account cannot send; a new token or its next check changes that.
            pace.next_at = (!due.is_empty()).then(|| now.plus(REST));
            channel_messages::save_send_queue(tx, &pace)?;
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
    let due = prefetch::turns(tx, &context, due)?;
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
        match messages::recheck(tx, &context, &from, &row, at)? {
            SendDecision::Wait(at) => {
                row.next_at = Some(at);
                row.updated_at = now;
                channel_messages::save(tx, &row)?;
            }
            SendDecision::Refuse(refusal) => {
                let gate = refusal.error().1;
                fail(app, tx, &mut row, refusal.error(), now)?;
                let mut entry = messages::entry(&context, about, row.agent, Some("message"), None);
                entry.blocked_by = Some(gate);
                decisions.add(entry);
            }
            SendDecision::TakeBack(reason) => {
                if !take_back(tx, &context, &row, reason)? {
                    let error = Refusal::Local(LocalError::TemplateUnavailable, reason.as_str()).error();
                    fail(app, tx, &mut row, error, now)?;
                }
                let mut entry = messages::entry(&context, about, row.agent, Some("message"), None);
                entry.blocked_by = Some(reason.as_str().to_owned());
                decisions.add(entry);
            }
            SendDecision::Go { proof, open, room, thread } => {
                pace.used = used;
                channel_messages::save_thread(tx, &thread)?;
                if !open {
                    messages::reach(tx, &context, &from, &row, room)?;
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
    if let Some(next) = channel_messages::next_of_send_queue(tx, number)? {
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
    channel_messages::save_send_queue(tx, &pace)?;
    decisions.write(tx, &context)?;
    Ok(Some(claims))
}

/// Whether a message waits because the feature of its campaign or of its agent is off.
fn is_off(workspace: &WorkspaceRow, row: &MessageRow) -> bool {
    let feature = match (row.campaign, row.source) {
        (Some(_), _) => "chatappCampaigns",
        (None, Source::Agent) => "chatappAgents",
        (None, _) => return false,
    };
    !feature_on(workspace, feature)
}

fn finish(tx: &mut Tx<'_>, mut pace: SendQueueRow) -> Result<Option<Vec<Claim>>, Failure> {
    pace.next_at = channel_messages::next_of_send_queue(&mut tx.of(pace.workspace), &pace.phone_number_id)?;
    channel_messages::save_send_queue(tx, &pace)?;
    Ok(Some(Vec::new()))
}
