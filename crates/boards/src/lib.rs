//! The use cases of outcome boards (docs/contract/boards.md), above those of campaigns: each person whom a
//! campaign calls, or who calls an agent, is a card, and each call moves it.
//!
//! | file | holds |
//! |---|---|
//! | `board` | the owner of a board; creation on first use |
//! | `cards` | reading boards and cards, moving a card by hand |
//! | `sorting` | sorts the card of a call by its facts and analysis |
//! | `history` | the moves of a card; undoing a member's move |
//! | `moves` | moves a card and schedules the automations of its new column |
//! | `actions` | runs automations, exactly once |
//! | `settings` | the operator API: columns, rules, automations |
//! | `erasing` | erasure and retention |
//!
//! Transactions lock in this order: automations of a move, the call and what placed it, the card, the counters of columns.

mod actions;
mod board;
mod cards;
mod erasing;
mod history;
mod moves;
mod settings;
mod sorting;

pub use actions::{Due, carry_out};
pub use board::Owner;
pub use cards::{board, list, move_card};
pub use erasing::{erase, sweep};
pub use history::{history, undo};
pub use settings::{card, get, update};
pub use sorting::{analysed, call_fact, chat_over, choices, given_up, prefetch};
