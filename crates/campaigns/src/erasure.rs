//! Erasure of calling lists (docs/operating/erasure.md).

use std::collections::BTreeMap;

use api::contacts::Erased;
use app::erasure::ErasedPerson;
use app::{Context, Failure, topics};
use domain::campaign::{CountedState, HeldReason, RowState, Tally};
use domain::ids::{Campaign, Id};

use store::TenantTx;
use store::campaigns::blocks::{self, Moves};
use store::campaigns::list::{self as lists, EntryRow};
use store::campaigns::progress::{self, Delta};

/// The changes of one list.
#[derive(Default)]
struct Change {
    rows: Tally,
    /// Rows that could be dialled.
    valid: i64,
    moves: Moves,
    held: BTreeMap<&'static str, (HeldReason, i64)>,
}

/// The row of an erased person: it is never dialled again. Former results are still counted; a call in progress ends
/// the row.
fn standing(row: &EntryRow) -> CountedState {
    match row.standing.state {
        RowState::Queued | RowState::Held | RowState::Invalid => CountedState::fresh(false),
        RowState::InProgress | RowState::Reached | RowState::Unreached => {
            CountedState { retryable: false, ..row.standing }
        }
    }
}

/// Erases the rows of a person in every list: current, staged or old.
pub fn erase(
    tx: &mut TenantTx,
    context: &Context,
    person: &ErasedPerson,
    _: &mut Erased,
) -> Result<(), Failure> {
    let hashes = person.hashes(&context.keyring);
    let mut changes: BTreeMap<(Id<Campaign>, i64), Change> = BTreeMap::new();
    for row in lists::of_person(tx, &hashes)? {
        let next = standing(&row);
        let change = changes.entry((row.campaign, row.list)).or_default();
        change.rows.add(&Tally::moved(row.standing, next));
        change.moves.moved(row.position, row.standing.state, next.state);
        change.valid += i64::from(row.valid);
        if let Some(reason) = row.held_reason.filter(|_| row.standing.state == RowState::Held) {
            change.held.entry(reason.as_str()).or_insert((reason, 0)).1 += 1;
        }
        lists::erase(tx, &row, next)?;
    }
    for ((campaign, list), change) in changes {
        // First: it waits for one who is putting this list in force, whose counters then are those of the campaign.
        lists::lose_valid(tx, campaign, list, change.valid)?;
        progress::count(tx, campaign, &Delta { list, rows: change.rows, ..Delta::default() })?;
        blocks::count(tx, campaign, list, &change.moves)?;
        // It may have been the last one who could be reached.
        progress::look_earlier(tx, campaign, context.now)?;
        tx.wake(topics::DIALLER);
        for (reason, count) in change.held.into_values() {
            progress::count_held(tx, campaign, list, reason, -count)?;
        }
    }
    Ok(())
}
