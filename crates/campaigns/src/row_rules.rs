//! Rows of lists in the form of the rules (`domain::campaign::row`), and the counters that their changes move.

use std::collections::HashMap;

use app::Failure;
use domain::call::Status as CallStatus;
use domain::campaign::row::{Retries, Row};
use domain::campaign::{HeldReason, Status};
use domain::ids::{Campaign, Id};
use store::TenantTx;
use store::campaigns::CampaignRow;
use store::campaigns::blocks::{self, Moves};
use store::campaigns::list::EntryRow;
use store::campaigns::progress::{self, Delta};

/// The row in the form of the rules.
pub(crate) fn rules(row: &EntryRow) -> Row {
    Row {
        standing: row.standing,
        dial_status: row.dial_status.as_deref().and_then(CallStatus::parse),
        held_reason: row.held_reason,
        attempts: row.attempts,
        refusals: row.refusals,
        failure: row.failure,
        last_attempt_at: row.last_attempt_at,
        look_at: row.look_at,
        erased: row.phone.is_none(),
    }
}

/// The row after a decision.
pub(crate) fn with(row: EntryRow, next: &Row) -> EntryRow {
    EntryRow {
        standing: next.standing,
        dial_status: next.dial_status.map(|status| status.as_str().to_owned()),
        held_reason: next.held_reason,
        attempts: next.attempts,
        refusals: next.refusals,
        failure: next.failure,
        last_attempt_at: next.last_attempt_at,
        look_at: next.look_at,
        ..row
    }
}

/// How often a campaign retries; one that is over never does.
pub(crate) fn retries_of(campaign: &CampaignRow) -> Retries {
    if matches!(campaign.status, Status::Completed | Status::Archived) {
        return Retries::NONE;
    }
    let settings = &campaign.settings;
    Retries { count: settings.retry_count, cooldown_minutes: settings.cooldown_minutes }
}

/// The change of a decision to the counts of held rows.
pub(crate) fn count_held(held: &mut HashMap<HeldReason, i64>, before: &Row, next: &Row) {
    for (reason, by) in [(before.held_reason, -1), (next.held_reason, 1)] {
        if let Some(reason) = reason {
            *held.entry(reason).or_default() += by;
        }
    }
}

/// Stores the counters of rows and calls.
pub(crate) fn store_counts(
    tx: &mut TenantTx,
    campaign: Id<Campaign>,
    delta: &Delta,
    (held, moves): (&HashMap<HeldReason, i64>, &Moves),
) -> Result<(), Failure> {
    // Every transaction takes its locks in the same order.
    for reason in HeldReason::ALL {
        if let Some(by) = held.get(reason).filter(|by| **by != 0) {
            progress::count_held(tx, campaign, delta.list, *reason, *by)?;
        }
    }
    if *delta != (Delta { list: delta.list, ..Delta::default() }) {
        progress::count(tx, campaign, delta)?;
    }
    Ok(blocks::count(tx, campaign, delta.list, moves)?)
}
