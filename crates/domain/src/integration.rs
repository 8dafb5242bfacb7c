//! Accounts of external systems: polling of their streams, and writing calls back (docs/contract/integrations.md).

use crate::time::{DAY, HOUR, MINUTE, SECOND, Timestamp};
use closed_sets::words;

words! {
    /// An external system.
    pub enum Provider {
        /// HubSpot, the system of streams of the kind `crm_1`.
        HubSpot = "hubspot",
        /// Salesforce, `crm_2`.
        Salesforce = "salesforce",
        /// Zoho CRM, `crm_3`.
        Zoho = "zoho",
        /// Shopify, `storefront`.
        Shopify = "shopify",
        /// Google Sheets, `spreadsheet`.
        GoogleSheets = "google_sheets",
    }
}

words! {
    /// Whether an account can be used.
    pub enum Status {
        Active = "active",
        /// The system has revoked the access: it needs other credentials.
        Broken = "broken",
    }
}

words! {
    /// Which calls are written back.
    pub enum PushedCalls {
        /// Calls that somebody answered.
        Answered = "answered",
        /// Every call that was dialled.
        All = "all",
    }
}

impl Provider {
    /// Overlap of a check with the newest known record: a search may find a new record only after a while
    /// (docs/contract/integrations.md#checks).
    pub fn overlap(self) -> i64 {
        match self {
            Provider::HubSpot => 5 * MINUTE,
            Provider::Salesforce | Provider::Zoho | Provider::Shopify => 2 * MINUTE,
            Provider::GoogleSheets => 0,
        }
    }

    /// Whether its streams need the feature `crmIntegrations`.
    pub fn is_crm(self) -> bool {
        self != Provider::GoogleSheets
    }

    /// Whether a call can be written back to it.
    pub fn takes_calls(self) -> bool {
        self != Provider::GoogleSheets
    }
}

/// Failed checks in a row after which a stream stops with an error.
pub const MOST_FAILURES: i64 = 5;

/// Longest `Retry-After` that is honoured.
pub const LONGEST_WAIT: i64 = DAY;

/// Shortest wait after a `Retry-After`.
const SHORTEST_WAIT: i64 = 10 * SECOND;

/// The creation time from which on a check requests records: before the newest one by the overlap, and never before the
/// start. A check after an incomplete one has no overlap.
pub fn asks_from(provider: Provider, start: Timestamp, newest: Timestamp, behind: bool) -> Timestamp {
    let back = if behind { 0 } else { provider.overlap() };
    start.max(newest.plus(-back))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Check {
    /// Everything was read.
    Whole,
    /// The limit of one check was reached; there is more.
    Part,
    /// The system throttles, with this wait, milliseconds.
    Later(i64),
    Failed,
}

/// The result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AfterCheck {
    /// Failed checks in a row by now.
    pub failures: i64,
    /// The next check; `None` when the stream stops with an error.
    pub next_at: Option<Timestamp>,
}

/// The result of a check that began at `began` and ends `now`, after this many failed ones in a row; checks come every
/// `every` milliseconds.
pub fn after_check(check: Check, failures: i64, began: Timestamp, now: Timestamp, every: i64) -> AfterCheck {
    let regular = began.plus(every).max(now);
    match check {
        Check::Whole => AfterCheck { failures: 0, next_at: Some(regular) },
        Check::Part => AfterCheck { failures: 0, next_at: Some(now) },
        Check::Later(wait) => {
            let wait = wait.clamp(SHORTEST_WAIT.min(every), LONGEST_WAIT);
            AfterCheck { failures, next_at: Some(now.plus(wait)) }
        }
        Check::Failed => {
            let failures = failures + 1;
            AfterCheck { failures, next_at: (failures < MOST_FAILURES).then_some(regular) }
        }
    }
}

/// Tries to write a call back; together they take about two hours.
const MOST_TRIES: i64 = 8;

/// Retry delay of a write-back after `attempts` tries (at least one), milliseconds; `None` when it is given up. One
/// that may have arrived gets time to be found by a search.
pub fn push_retry_in(attempts: i64, unsure: bool) -> Option<i64> {
    let doublings = u32::try_from((attempts - 1).clamp(0, 16)).unwrap_or(16);
    let wait = ((30 * SECOND) << doublings).min(HOUR);
    (attempts < MOST_TRIES).then_some(if unsure { wait.max(2 * MINUTE) } else { wait })
}

/// Lease of a node on a write-back, or on a check between two pages.
pub const LEASE: i64 = 5 * MINUTE;

/// How long a write-back waits for the analysis of the call.
pub const ANALYSIS_PATIENCE: i64 = 2 * HOUR;

/// Retention of written write-backs.
pub const PUSHES_KEPT: i64 = 30 * DAY;

#[cfg(test)]
mod tests {
    use super::*;

    const EVERY: i64 = 120 * SECOND;

    #[test]
    fn a_check_reaches_back_but_never_before_the_start() {
        let start = Timestamp(1_000 * SECOND);
        let from = |newest, behind| asks_from(Provider::HubSpot, start, Timestamp(newest), behind);
        assert_eq!(from(1_000 * SECOND, false), start);
        assert_eq!(from(1_200 * SECOND, false), start);
        assert_eq!(from(2_000 * SECOND, false), Timestamp(1_700 * SECOND));
        assert_eq!(from(2_000 * SECOND, true), Timestamp(2_000 * SECOND));
    }

    #[test]
    fn checks_come_at_their_time_and_the_fifth_failure_stops_them() {
        let (began, now) = (Timestamp(0), Timestamp(3 * SECOND));
        let after = |check, failures| {
            let AfterCheck { failures, next_at } = after_check(check, failures, began, now, EVERY);
            (failures, next_at.map(|at| at.0 / SECOND))
        };
        assert_eq!(after(Check::Whole, 4), (0, Some(120)));
        assert_eq!(after(Check::Part, 4), (0, Some(3)));
        assert_eq!(after(Check::Failed, 0), (1, Some(120)));
        assert_eq!(after(Check::Failed, 3), (4, Some(120)));
        assert_eq!(after(Check::Failed, 4), (5, None));
        // A slow check is followed by the next one at once.
        assert_eq!(
            after_check(Check::Whole, 0, began, Timestamp(500 * SECOND), EVERY).next_at,
            Some(Timestamp(500 * SECOND))
        );
    }

    #[test]
    fn a_wait_that_a_system_asks_for_is_no_failure() {
        let after = |wait| {
            let AfterCheck { failures, next_at } =
                after_check(Check::Later(wait), 2, Timestamp(0), Timestamp(0), EVERY);
            assert_eq!(failures, 2);
            next_at.map(|at| at.0)
        };
        assert_eq!(after(300 * SECOND), Some(300 * SECOND));
        assert_eq!(after(0), Some(10 * SECOND));
        assert_eq!(after(i64::MAX), Some(DAY));
    }

    #[test]
    fn writing_back_waits_longer_each_time_and_ends() {
        let seconds: Vec<Option<i64>> =
            (1..=8).map(|attempts| push_retry_in(attempts, false).map(|wait| wait / SECOND)).collect();
        assert_eq!(
            seconds,
            [Some(30), Some(60), Some(120), Some(240), Some(480), Some(960), Some(1_920), None]
        );
        assert_eq!(push_retry_in(1, true), Some(2 * MINUTE));
        assert_eq!(push_retry_in(8, true), None);
    }
}
