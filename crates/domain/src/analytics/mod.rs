//! Analytics over calls (docs/contract/analytics.md; every metric is defined in docs/analytics.md).
//!
//! A month of a busy workspace has a million calls. The data for the metrics is packed into bytes ([`pack`]), one block
//! for each hour of India time, and stored. A [`Report`] aggregates the blocks in order, with or without a filter by
//! agent, campaign or time. Nothing is pre-aggregated, so that people are counted once and percentiles are exact over
//! any range.

mod details;
mod facets;
mod hourly;
mod packed;
mod report;

pub use details::{CallDetails, MAX_REACTIONS, ReactionHistogram, ReactionStage, pack_details};
pub use facets::{CallCounts, CallFilter, CallKind};
pub use hourly::{HourCounts, HourlyFigures, HourlyReport, USUAL_WEEKS, UsualDay, weekday};
pub use packed::{CallClass, CallFact, pack};
pub use report::{AgentFigures, Damaged, Figures, Query, Report};

use crate::time::{HOUR, MINUTE, Timestamp};

/// India is this far ahead of UTC all year.
const INDIA: i64 = 5 * HOUR + 30 * MINUTE;

/// The hour of India time of a timestamp, counted from 1970.
pub fn hour_of(moment: Timestamp) -> i64 {
    moment.0.saturating_add(INDIA).div_euclid(HOUR)
}

/// The timestamp at which an hour begins.
pub fn start_of(hour: i64) -> Timestamp {
    Timestamp(hour.saturating_mul(HOUR).saturating_sub(INDIA))
}

#[cfg(test)]
mod tests;
