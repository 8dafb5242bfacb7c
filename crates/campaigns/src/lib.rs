//! The use cases of campaigns (docs/contract/campaigns.md), above those of calls: a published agent calls the
//! people of a list, within the hours of its settings.

mod callers;
pub mod dial;
mod facts;
mod finish;
pub mod list;
pub mod mail;
pub mod run;

pub use facts::{call_fact, charge};
