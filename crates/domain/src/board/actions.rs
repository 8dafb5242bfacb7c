//! Retries of failed actions, and which actions a move may cause.

use super::codes::ActionKind;
use crate::time::{HOUR, SECOND};

/// Longest backoff.
const LONGEST_WAIT: i64 = HOUR;
/// Tries of an action; together they take about an hour.
const MOST_TRIES: i64 = 7;

/// The retry delay of an action that failed temporarily after `attempts` tries, in milliseconds; `None` when it has
/// failed permanently (docs/contract/boards.md#automations).
pub fn retry_in(attempts: i64) -> Option<i64> {
    let doublings = u32::try_from((attempts - 1).clamp(0, 16)).unwrap_or(16);
    (attempts < MOST_TRIES).then(|| ((30 * SECOND) << doublings).min(LONGEST_WAIT))
}

/// Longest chain of automations (docs/contract/boards.md#no-loops).
pub const MAX_DEPTH: i64 = 1;

/// Whether an automation may run on a move of this depth: how many automations led to it. Beyond [`MAX_DEPTH`] minus
/// one none runs that could lead to another call.
pub fn keeps_to_depth(kind: ActionKind, depth: i64) -> bool {
    match kind {
        ActionKind::Nudge | ActionKind::AddToCampaign | ActionKind::Message => depth < MAX_DEPTH,
        ActionKind::OptOut | ActionKind::DoNotCall | ActionKind::Event => true,
    }
}
