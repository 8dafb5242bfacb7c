//! Campaigns: a published agent, a calling list, and the hours in which it is called
//! (docs/contract/campaigns.md).

mod codes;
pub mod forecast;
pub mod list;
pub mod row;
mod schedule;
pub mod settings;
pub mod staged;

pub use codes::{HeldReason, InvalidReason, RowFailure, RowState, RunSource, RunStatus, Status};
pub use list::{CountedState, Tally};
pub use schedule::{Schedule, Window};
pub use settings::{CallerId, DayTime, Settings};
