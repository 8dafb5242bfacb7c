//! Ends waiting nudges: the client, a revoked key, an erasure.

use api::error_codes as codes;
use api::nudges::{CancelledNudges, Nudge as NudgeView, NudgeCancellation};
use domain::ids::{ApiKey, Id, Nudge};
use domain::nudge::{Event, EventOutcome, Status, step};
use domain::tenant::{Mode, Tenant};
use store::nudges::{self, NudgeRow};
use store::{TenantTx, Tx};

use super::{Changes, Why, save, settle, view, wipe};
use crate::{App, Context, Failure, topics};

/// Nudges in one transaction.
const BATCH: i64 = 200;

/// Applies `event` to a waiting nudge that the caller has locked. Returns whether it was applied.
fn end(
    tx: &mut Tx<'_>,
    context: &Context,
    row: NudgeRow,
    event: Event,
    name: &'static str,
    changes: &mut Changes,
) -> Result<bool, Failure> {
    let decided = step(&row.state, event, context.now);
    if decided.outcome != EventOutcome::Applied {
        return Ok(false);
    }
    settle(tx, context, row, decided, Why::of(name), changes)?;
    Ok(true)
}

/// `POST /v1/nudges/{id}/cancel`.
pub async fn cancel(app: &App, tenant: Tenant, mode: Mode, id: Id<Nudge>) -> Result<NudgeView, Failure> {
    let context = app.context();
    app.of(tenant)
        .tx(move |tx| {
            let row = nudges::get_for_update(tx, id)?
                .filter(|row| row.mode == mode)
                .ok_or_else(|| Failure::not_found("nudge"))?;
            let decided = step(&row.state, Event::Cancel, context.now);
            if decided.outcome != EventOutcome::Applied {
                let message = if row.state.status == Status::Finished {
                    "the nudge has finished"
                } else {
                    "the nudge is being dialled or live"
                };
                return Err(Failure::new(codes::NUDGE_NOT_CANCELLABLE, message));
            }
            let mut changes = Changes::none();
            let row = settle(tx, &context, row, decided, Why::of("cancel"), &mut changes)?;
            changes.touch(tx, mode)?;
            Ok(view(&row))
        })
        .await
}

/// `POST /v1/nudges/cancel`, in bounded steps; each is durable by itself.
pub async fn cancel_many(
    app: &App,
    tenant: Tenant,
    mode: Mode,
    body: NudgeCancellation,
) -> Result<CancelledNudges, Failure> {
    match (body.ids, body.all) {
        (Some(ids), None) => cancel_these(app, tenant, mode, ids).await,
        (None, Some(true)) => cancel_all(app, tenant, mode).await,
        (Some(_), Some(_)) => Err(Failure::field("ids", "cannot be combined with all; send one of them")),
        (None, Some(false)) => Err(Failure::field("all", "must be true")),
        (None, None) => Err(Failure::field("ids", "or all: true is required")),
    }
}

async fn cancel_these(
    app: &App,
    tenant: Tenant,
    mode: Mode,
    ids: Vec<String>,
) -> Result<CancelledNudges, Failure> {
    // An id of another form names nothing that exists.
    let mut ids: Vec<Id<Nudge>> = ids.iter().filter_map(|id| id.parse().ok()).collect();
    ids.sort();
    ids.dedup();
    let mut done = CancelledNudges::default();
    for batch in ids.chunks(BATCH as usize) {
        done.ids.extend(cancel_batch(app, tenant, mode, batch.to_vec()).await?);
    }
    done.cancelled = done.ids.len();
    Ok(done)
}

async fn cancel_all(app: &App, tenant: Tenant, mode: Mode) -> Result<CancelledNudges, Failure> {
    let mut done = CancelledNudges::default();
    let mut after = String::new();
    loop {
        let from = after.clone();
        let batch = app.of(tenant).read(move |tx| nudges::pending_ids(tx, mode, &from, BATCH)).await?;
        // The cursor moves by what was looked at: some may be dialled by now.
        let Some(last) = batch.last() else { break };
        after = last.to_string();
        done.ids.extend(cancel_batch(app, tenant, mode, batch).await?);
    }
    done.cancelled = done.ids.len();
    Ok(done)
}

/// Cancels those of these nudges of one mode that wait, in one transaction, and returns which.
async fn cancel_batch(
    app: &App,
    tenant: Tenant,
    mode: Mode,
    batch: Vec<Id<Nudge>>,
) -> Result<Vec<Id<Nudge>>, Failure> {
    let context = app.context();
    app.store
        .tx(move |tx| {
            let (mut ended, mut changes) = (Vec::new(), Changes::none());
            tx.prefetch(|tx| {
                for id in &batch {
                    let _ = nudges::get_for_update(&mut tx.of(tenant), *id);
                }
            })?;
            for id in &batch {
                let row = nudges::get_for_update(&mut tx.of(tenant), *id)?.filter(|row| row.mode == mode);
                let Some(row) = row else { continue };
                if end(tx, &context, row, Event::Cancel, "cancel", &mut changes)? {
                    ended.push(*id);
                }
            }
            changes.touch(&mut tx.of(tenant), mode)?;
            Ok::<_, Failure>(ended)
        })
        .await
}

/// Ends a batch of the waiting nudges of a revoked key. Returns whether there may be more.
fn end_of_key(tx: &mut TenantTx, context: &Context, key: Id<ApiKey>) -> Result<bool, Failure> {
    let rows = nudges::of_key(tx, key, BATCH)?;
    let more = rows.len() as i64 >= BATCH;
    // A key belongs to one mode.
    let Some(mode) = rows.first().map(|row| row.mode) else { return Ok(false) };
    let mut changes = Changes::none();
    for row in rows {
        end(tx, context, row, Event::KeyRevoked, "key_revoked", &mut changes)?;
    }
    changes.touch(tx, mode)?;
    Ok(more)
}

/// A key was revoked in this transaction: its waiting nudges are cancelled, the first batch now and the rest
/// by the dialler. One that is made or picked up at this very moment is stopped just before its dial.
pub fn revoke_key(tx: &mut TenantTx, context: &Context, key: Id<ApiKey>) -> Result<(), Failure> {
    if end_of_key(tx, context, key)? {
        nudges::add_revocation(tx, key)?;
        tx.wake(topics::DIALLER);
    }
    Ok(())
}

/// Goes on cancelling the nudges of revoked keys. Returns whether there may be more.
pub async fn work_revocations(app: &App) -> Result<bool, Failure> {
    if app.store.read(|tx| nudges::revocations(tx, 1)).await?.is_empty() {
        return Ok(false);
    }
    let context = app.context();
    app.store
        .tx(move |tx| {
            for revocation in nudges::revocations(tx, 1)? {
                if !end_of_key(&mut tx.of(revocation.workspace), &context, revocation.key)? {
                    nudges::end_revocation(&mut tx.of(revocation.workspace), revocation.key)?;
                }
            }
            Ok(true)
        })
        .await
}

/// Erases what nudges hold of a person: those that wait finish `cancelled`, those in flight are not dialled
/// again, and all lose number, reference, variables and metadata. How many were cancelled. `phone_hash` is
/// `Keyring::hash_phone` of the number.
pub fn erase_person(tx: &mut TenantTx, context: &Context, phone_hash: &str) -> Result<i64, Failure> {
    let rows = nudges::of_person(tx, phone_hash)?;
    let mut cancelled = 0;
    for mode in [Mode::Live, Mode::Test] {
        let mut changes = Changes::none();
        for row in rows.iter().filter(|row| row.mode == mode).cloned() {
            let waits = row.state.is_pending();
            let mut erased = row.clone();
            if !end(tx, context, row, Event::Erased, "erased", &mut changes)? && erased.to_number.is_some() {
                wipe(&mut erased);
                save(tx, &erased.before(), &mut erased)?;
            } else if waits {
                cancelled += 1;
            }
        }
        changes.touch(tx, mode)?;
    }
    Ok(cancelled)
}
