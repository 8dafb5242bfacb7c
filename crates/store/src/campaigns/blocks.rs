//! How many rows of each block of a list are in which state. They change with the rows, in the same transaction, and
//! let a page deep in one state begin without counting the rows before it.

use std::collections::BTreeMap;

use domain::campaign::RowState;
use domain::ids::{Campaign, Id};

use crate::db::{CampaignCounter, Counter, DbError, Fold, TenantTx};
use crate::params;

const BLOCK: i64 = 4_096;

/// Rows of one list that enter it or change their state.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Moves(BTreeMap<(&'static str, i64), i64>);

impl Moves {
    /// A row enters the list.
    pub fn entered(&mut self, position: i64, state: RowState) {
        self.add(position, state, 1);
    }

    /// A row changes its state.
    pub fn moved(&mut self, position: i64, from: RowState, to: RowState) {
        if from != to {
            self.add(position, from, -1);
            self.add(position, to, 1);
        }
    }

    /// What moved in other rows of the same list, too.
    pub fn add_all(&mut self, other: Self) {
        for (place, by) in other.0 {
            *self.0.entry(place).or_default() += by;
        }
    }

    fn add(&mut self, position: i64, state: RowState, by: i64) {
        *self.0.entry((state.as_str(), block_of(position))).or_default() += by;
    }
}

/// Positions begin with 1.
fn block_of(position: i64) -> i64 {
    (position - 1).div_euclid(BLOCK)
}

/// Counts what moved in a list. These are counters of the transaction ([`Tx::count`]).
pub fn count(tx: &mut TenantTx, campaign: Id<Campaign>, list: i64, moves: &Moves) -> Result<(), DbError> {
    for ((state, block), by) in moves.0.iter().filter(|(_, by)| **by != 0) {
        tx.tally(
            Counter::Campaign(CampaignCounter::Block(campaign.bits(), list, state, *block)),
            "insert into campaign_blocks (campaign, list, state, block, workspace, rows) values (?2, ?3, ?4, ?5, ?1, ?6) \
             on conflict (campaign, list, state, block) do update set rows = campaign_blocks.rows + excluded.rows",
            &[Fold::Same, Fold::Same, Fold::Same, Fold::Same, Fold::Same, Fold::Sum],
            params![campaign, list, *state, *block, *by],
            None,
        )?;
    }
    Ok(())
}

/// Where the rows of a state go on after the first `offset` of them: a position, and how many of the state follow
/// it that belong to those before. `None` when there are not so many.
pub(super) fn place(
    tx: &mut TenantTx,
    campaign: Id<Campaign>,
    list: i64,
    state: RowState,
    offset: i64,
) -> Result<Option<(i64, i64)>, DbError> {
    let blocks: Vec<(i64, i64)> = tx.all(
        "select block, rows from campaign_blocks where workspace = ?1 and campaign = ?2 and list = ?3 and state = ?4 and rows > 0 order by block",
        params![campaign, list, state],
    )?;
    let mut rest = offset;
    for (block, rows) in blocks {
        if rest < rows {
            return Ok(Some((block * BLOCK, rest)));
        }
        rest -= rows;
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_begin_with_one_and_what_comes_back_is_nothing() {
        assert_eq!([1, 4_096, 4_097].map(block_of), [0, 0, 1]);
        let mut moves = Moves::default();
        moves.moved(1, RowState::Queued, RowState::InProgress);
        moves.moved(4_096, RowState::InProgress, RowState::Reached);
        moves.moved(7, RowState::Held, RowState::Held);
        let left: Vec<_> = moves.0.iter().filter(|(_, by)| **by != 0).map(|(key, by)| (*key, *by)).collect();
        assert_eq!(left, [(("queued", 0), -1), (("reached", 0), 1)]);
    }
}
