//! The use cases of evaluation (docs/contract/evaluation.md), above `app` and `chats`: finished chats and calls are graded
//! by the language model against criteria of their agent.
//!
//! | file | holds |
//! |---|---|
//! | `criteria` | criteria and sampling of agents |
//! | `conversations` | the transcript of a chat or a call, and its lock |
//! | `queue` | which conversations are graded: by themselves, or on request |
//! | `work` | grading one: lease, retries, and storing it once |
//! | `sweeps` | past conversations that are graded again |
//! | `trials` | criteria that are tried on past conversations |
//! | `marks` | reading evaluations; marks of people |
//! | `reports` | shares of passing, agreement of the model with people |
//! | `erasing` | erasure of people, expiry of calls |
//!
//! A pending evaluation is a row. A node leases it, asks the model, and stores verdicts, charge and event in one
//! transaction, which only the holder of the last attempt may make: so there is one event and one charge for each
//! evaluation, whatever dies in between.
//!
//! Transactions lock in this order: the call or the contact of the chat, the sweep, the evaluation, the sums of the day,
//! the wallet.

mod conversations;
mod criteria;
mod erasing;
mod marks;
mod queue;
mod reports;
mod sweeps;
mod trials;
mod work;

pub use criteria::{get as settings, set as set_settings};
pub use erasing::{calls_expired, erase};
pub use marks::{get, list, mark};
pub use queue::{call_analysed, chat_ended, evaluate};
pub use reports::{agreement, summary};
pub use sweeps::{
    Due as DueSweep, advance, cancel as cancel_sweep, get as sweep, list as sweeps, preview as preview_sweep,
    start as start_sweep,
};
pub use trials::attempt as try_criteria;
pub use work::{AT_ONCE, Leased, grade, next_due, take};

/// The feature of a workspace.
pub const FEATURE: &str = "evaluation";
