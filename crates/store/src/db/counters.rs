//! Contended counters, which are updated with the commit: their lock order, and how changes of one are merged.

use super::value::Value;

/// A counter row that concurrent transactions of one workspace update ([`Tx::count`](super::Tx::count)). Its order is the
/// lock order of all transactions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Counter {
    /// The wallet of a workspace. Other transactions lock it before they update counters, so it comes first.
    Wallet(u128),
    /// The queue of a workspace's nudges of one mode, live or test.
    NudgeQueue(u128, bool),
    /// The cards in a column of a board: the id of the column.
    Column(u128),
    /// The call metrics of an hour: the workspace, the hour, and the row of the hour.
    Hour(u128, i64, i64),
    /// A counter of a campaign.
    Campaign(CampaignCounter),
    /// The send queue of a business number of a workspace. Numbers of the same order value keep the order of the calls.
    SendQueue(u128, u64),
    /// The visits of an edge of an agent's flow: the agent, and a hash of the rest of the key. Edges of the same hash keep
    /// the order of the calls.
    FlowEdge(u128, u64),
}

/// The counters of a campaign, each with the campaign's id, in lock order: those of one kind are adjacent, so that they
/// can be batched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CampaignCounter {
    /// Rows of a list that are held for a reason: the list, and the reason.
    Held(u128, i64, &'static str),
    Progress(u128),
    /// Rows of a block of a list that are in a state: the list, the state, and the block.
    Block(u128, i64, &'static str, i64),
}

/// How the values of a parameter are merged when a transaction updates a counter several times
/// ([`Tx::tally`](super::Tx::tally)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fold {
    /// The values must be equal; changes with different ones are not merged.
    Same,
    /// The values are added.
    Sum,
    /// The minimum, if there is a value.
    Least,
    /// The maximum, if there is a value.
    Most,
    /// The value of the first change.
    First,
}

impl Fold {
    /// Merges a second value into the first. Returns whether that is possible.
    fn fold(self, first: &mut Value<'_>, second: &Value<'_>) -> bool {
        match (self, &mut *first, second) {
            (Self::Same, first, second) => *first == *second,
            (Self::First, ..) => true,
            (Self::Sum, Value::Int(sum), Value::Int(more)) => match sum.checked_add(*more) {
                Some(all) => {
                    *sum = all;
                    true
                }
                None => false,
            },
            (Self::Least | Self::Most, _, Value::Null) => true,
            (Self::Least | Self::Most, Value::Null, Value::Int(only)) => {
                *first = Value::Int(*only);
                true
            }
            (Self::Least, Value::Int(least), Value::Int(other)) => {
                *least = (*least).min(*other);
                true
            }
            (Self::Most, Value::Int(most), Value::Int(other)) => {
                *most = (*most).max(*other);
                true
            }
            (Self::Sum | Self::Least | Self::Most, ..) => false,
        }
    }

    /// Merges all values of a second change into those of the first, or none. Returns whether that is possible.
    pub(super) fn fold_all(folds: &[Self], first: &mut [Value<'static>], second: &[Value<'_>]) -> bool {
        if folds.len() != second.len() || first.len() != second.len() {
            return false;
        }
        let mut all = first.to_vec();
        let folded =
            folds.iter().zip(all.iter_mut().zip(second)).all(|(fold, (one, other))| fold.fold(one, other));
        if folded {
            first.clone_from_slice(&all);
        }
        folded
    }
}
