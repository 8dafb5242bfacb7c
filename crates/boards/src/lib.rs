//! The use cases of outcome boards (docs/contract/boards.md), above those of campaigns: each person whom a
//! campaign calls, or who calls an agent, is a card, and each call moves it.
//!
//! | file | holds |
//! |---|---|
//! | `board` | whose a board is, and how it comes to be |
//! | `cards` | reading boards and cards, moving a card by hand |
//! | `sorting` | what the facts and the analysis of a call do to its card |
//! | `moves` | a card comes into a column: what the column owes because of it |
//! | `actions` | carrying out what columns owe, once |
//! | `settings` | the operator's view: columns, rules, automations |
//! | `erasing` | what an erasure and the clock take away |
//!
//! Transactions lock in this order: the call and what placed it, the card, the counters of columns.

mod actions;
mod board;
mod cards;
mod erasing;
mod moves;
mod settings;
mod sorting;

pub use actions::{Due, carry_out};
pub use board::Owner;
pub use cards::{board, list, move_card};
pub use erasing::{erase, sweep};
pub use settings::{card, get, update};
pub use sorting::{analysed, call_fact, chat_over, choices, foresee, given_up};
