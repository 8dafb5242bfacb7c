//! Changed retry settings apply to everybody from then on, also to people who were tried; the end of a campaign is such
//! a change: nobody is retried (docs/contract/campaigns.md#settings, #the-end). Rows are checked against them in
//! batches: the first in the transaction of the change, the others in rounds of the dialler, which calls nobody of the
//! campaign meanwhile.

use std::collections::HashMap;

use app::calls::Env;
use app::{Failure, topics};
use domain::campaign::row::{Ending, retuned};
use domain::campaign::{HeldReason, Status, Tally};
use domain::ids::{Call, Id};

use domain::time::Timestamp;
use store::calls;
use store::campaigns::blocks::Moves;
use store::campaigns::progress::{self, Delta, ProgressRow};
use store::campaigns::{CampaignRow, due};
use store::{TenantTx, Tx};

use crate::row_rules::{count_held, retries_of, rules, store_counts, with};

/// Positions of a list in one transaction.
const PIECE: i64 = 1_000;

/// The change of a batch to the counters of a list.
#[derive(Default)]
pub(crate) struct Counted {
    pub rows: Tally,
    pub held: HashMap<HeldReason, i64>,
    pub moves: Moves,
}

/// The retry settings of a campaign, which is locked, were changed, or it is over.
pub(crate) fn changed(tx: &mut Tx<'_>, env: &Env, campaign: &CampaignRow) -> Result<(), Failure> {
    if campaign.list == 0 || crate::sends_messages(campaign) {
        return Ok(());
    }
    let known = ProgressRow {
        retune_after: Some(0),
        ..crate::progress(&mut tx.of(campaign.workspace), campaign.id)?
    };
    let mut counted = Counted::default();
    let left = piece(tx, env, campaign, &known, &mut counted)?;
    let delta = Delta { list: known.list, rows: counted.rows, ..Delta::default() };
    store_counts(&mut tx.of(campaign.workspace), campaign.id, &delta, (&counted.held, &counted.moves))?;
    if left.is_some() || campaign.status == Status::Active {
        progress::look_at(&mut tx.of(campaign.workspace), campaign.id, env.context.now)?;
        tx.wake(topics::DIALLER);
    }
    Ok(())
}

/// Tells the rooms above of somebody who is called no more although the last call did not say so.
pub(crate) fn tell(tx: &mut TenantTx, env: &Env, call: Id<Call>) -> Result<(), Failure> {
    env.hooks.given_up(tx, env, call)
}

/// Checks the next rows that were tried against the current retry settings, and stores the progress. Returns the
/// position after which rows are left; the caller stores the counters.
pub(crate) fn piece(
    tx: &mut Tx<'_>,
    env: &Env,
    campaign: &CampaignRow,
    known: &ProgressRow,
    counted: &mut Counted,
) -> Result<Option<i64>, Failure> {
    let (tenant, after) = (campaign.workspace, known.retune_after.unwrap_or(0));
    let last = after + PIECE;
    let rows = due::tried(&mut tx.of(tenant), (campaign.id, known.list), after, last)?;
    let of_rows: Vec<Id<Call>> = rows.iter().filter_map(|row| row.call).collect();
    let mut ends: HashMap<Id<Call>, (Ending, Timestamp)> = HashMap::new();
    for (call, ended) in calls::ends(&mut tx.of(tenant), &of_rows)? {
        ends.extend(Ending::of(&ended).zip(ended.ended_at).map(|end| (call, end)));
    }
    for row in rows {
        let before = rules(&row);
        let last = row.call.and_then(|call| ends.get(&call).copied());
        let Some(next) = retuned(&before, last, retries_of(campaign)) else { continue };
        counted.rows.add(&Tally::moved(before.standing, next.standing));
        count_held(&mut counted.held, &before, &next);
        let given_up = next.look_at.is_none().then_some(row.call).flatten();
        due::save_row(tx, &with(*row, &next), before.standing.state, &mut counted.moves)?;
        if let Some(call) = given_up {
            tell(&mut tx.of(tenant), env, call)?;
        }
    }
    let left = Some(last).filter(|last| *last < known.rows.total);
    progress::retune(&mut tx.of(tenant), campaign.id, left)?;
    Ok(left)
}
