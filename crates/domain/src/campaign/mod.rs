//! Campaigns: a published agent, a calling list, and the hours in which it is called
//! (docs/contract/campaigns.md).

mod codes;

pub use codes::{HeldReason, InvalidReason, RowState, RunSource, RunStatus, Status};
