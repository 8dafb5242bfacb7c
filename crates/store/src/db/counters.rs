//! Counters that are changed with the commit: in which order they are taken, and how changes of one are folded.

use super::Value;

/// A counter that transactions of one workspace change side by side: its place in the order in which all of them
/// take such rows ([`Tx::count`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Counter {
    /// The wallet of a workspace. Others hold it before they change counters, so it comes first.
    Wallet(u128),
    /// The queue of a workspace's nudges of one mode, live or test.
    Queue(u128, bool),
    /// The cards in a column of a board: the id of the column.
    Column(u128),
    /// The changes of an hour of calls: the workspace, the hour, and the row of the hour.
    Hour(u128, i64, i64),
    /// A figure of a campaign.
    Campaign(Figure),
    /// When a business number of a workspace has something to send. Numbers with the same place follow each other as
    /// they come.
    Line(u128, u64),
}

/// Figures of campaigns, each with the id of its campaign, in the order in which transactions change them: those of one kind
/// follow each other, so that they can be changed together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Figure {
    /// How many rows of a list are held for a reason: the list, and the reason.
    Held(u128, i64, &'static str),
    Progress(u128),
    /// How many rows of a block of a list are in a state: the list, the state, and the block.
    Block(u128, i64, &'static str, i64),
}

/// What becomes of a value of a counter's statement when a transaction changes the counter several times
/// ([`Tx::tally`]): the changes become one statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fold {
    /// It names the counter, or is the same for all. Changes with another value stay apart.
    Same,
    /// The values are added up.
    Sum,
    /// The smallest counts, if there is any.
    Least,
    /// The largest counts, if there is any.
    Most,
    /// That of the first change counts.
    First,
}

impl Fold {
    /// Folds a second value into the first. Returns whether that can be done.
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

    /// Folds all values of a second change into those of the first, or none. Returns whether that can be done.
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
