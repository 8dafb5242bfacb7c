//! Changed retry settings hold for everybody from then on, also for those who were tried, and the end of a campaign is one of
//! them: nobody is tried again (docs/contract/campaigns.md#settings, #the-end). Rows are held against them in pieces: the
//! first in the transaction of the change, the others in turns of the dialler, which calls nobody of the campaign meanwhile.

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

use crate::campaign;
use crate::dial::{count_held, retries_of, rules, store_counts, with};

/// Places of a list that one transaction goes through.
const PIECE: i64 = 1_000;

/// What a piece changes in the counters of a list.
#[derive(Default)]
pub(crate) struct Counted {
    pub rows: Tally,
    pub held: HashMap<HeldReason, i64>,
    pub moves: Moves,
}

/// The retry settings of a campaign, which is held, were changed, or it is over.
pub(crate) fn changed(tx: &mut Tx<'_>, env: &Env, campaign: &CampaignRow) -> Result<(), Failure> {
    if campaign.list == 0 || campaign::sends_messages(campaign) {
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
    env.given_up.iter().try_for_each(|hook| hook(tx, env, call))
}

/// Holds the next rows that were tried against the retry settings as they are now, and notes how far that is. Returns after
/// which place rows are left; the caller stores what was counted.
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
