//! Outcome boards: the columns of a board, where a call moves a card, and what a column does with the cards
//! that come into it (docs/contract/boards.md).

mod actions;
mod codes;
mod columns;
mod sorting;
#[cfg(test)]
mod tests;

/// How long a move by a member can be undone, milliseconds; its automations start afterwards.
pub const UNDO: i64 = 5 * crate::time::SECOND;

pub use actions::{MAX_DEPTH, keeps_to_depth, retry_in};
pub use codes::{ActionKind, ActionState, Attention, CardStatus, ColumnColor, ColumnType, MovedBy};
pub use columns::{
    Automation, Column, Condition, DefaultColumn, MAX_AUTOMATIONS, MAX_COLUMNS, MAX_CONDITIONS, MAX_DELAY,
    MAX_RULES, REVIEW_BELOW, Rule, Wrong, check, defaults, read_automations, read_rules,
};
pub use sorting::{Heard, Verdict, sort, type_of_outcome};
