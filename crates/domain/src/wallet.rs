//! Money rules of the prepaid wallet (docs/contract/wallet.md). Amounts are minor units.

use crate::time::{MINUTE, SECOND, Timestamp};

/// Minutes of calls below which a wallet counts as low, unless the operator set a threshold.
const LOW_MINUTES: i64 = 30;

/// How long before a minute of a call begins the wallet must cover it, in milliseconds. If it does not, the
/// agent has this time to say goodbye.
pub const LEAD: i64 = 10 * SECOND;

/// When the hold of a leg has to grow, if the leg was answered at `answered` and `minutes` of it are covered.
pub fn grows_at(answered: Timestamp, minutes: i64) -> Timestamp {
    answered.plus(minutes.saturating_mul(MINUTE).saturating_sub(LEAD))
}

/// The minutes that must be covered at `now`: those that have begun or begin within the lead.
pub fn minutes_needed(answered: Timestamp, now: Timestamp) -> i64 {
    let age = now.0.saturating_sub(answered.0).max(0);
    age.saturating_add(LEAD) / MINUTE + 1
}

/// Minutes of talk, each started minute counted as a whole one.
pub fn started_minutes(talk_ms: i64) -> i64 {
    talk_ms.max(0).saturating_add(MINUTE - 1) / MINUTE
}

/// How full a wallet is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Above the threshold.
    Enough,
    /// Below the threshold.
    Low,
    /// Not one minute is left.
    Exhausted,
}

/// The level of a balance, and the threshold below which it is low.
pub fn level(balance: i64, cost_per_minute: i64, threshold: Option<i64>) -> (Level, i64) {
    let threshold = threshold.unwrap_or_else(|| cost_per_minute.saturating_mul(LOW_MINUTES));
    let level = if balance < cost_per_minute || balance < 0 {
        Level::Exhausted
    } else if balance < threshold {
        Level::Low
    } else {
        Level::Enough
    };
    (level, threshold)
}

/// Price of `talk_ms` milliseconds of talk: every started minute is charged, and no talk costs nothing.
pub fn call_charge(talk_ms: i64, cost_per_minute: i64) -> i64 {
    started_minutes(talk_ms).saturating_mul(cost_per_minute)
}

/// Talk time in whole seconds, as `durationSeconds` shows it: rounded, and at least 1 for any talk.
pub fn talk_seconds(talk_ms: i64) -> i64 {
    if talk_ms <= 0 { 0 } else { ((talk_ms + SECOND / 2) / SECOND).max(1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels() {
        for (balance, threshold, expected) in [
            (18_000, None, Level::Enough),
            (17_999, None, Level::Low),
            (600, None, Level::Low),
            (599, None, Level::Exhausted),
            (-1, None, Level::Exhausted),
            (700, Some(650), Level::Enough),
            (640, Some(650), Level::Low),
        ] {
            assert_eq!(level(balance, 600, threshold).0, expected, "{balance} {threshold:?}");
        }
        assert_eq!(level(0, 0, None).0, Level::Enough);
    }

    #[test]
    fn each_minute_is_covered_before_it_begins() {
        let answered = Timestamp(1_000_000);
        assert_eq!(grows_at(answered, 1), answered.plus(50 * SECOND));
        assert_eq!(grows_at(answered, 3), answered.plus(170 * SECOND));
        for (age, minutes) in [(0, 1), (49_999, 1), (50_000, 2), (60_000, 2), (109_999, 2), (110_000, 3)] {
            assert_eq!(minutes_needed(answered, answered.plus(age)), minutes, "{age}");
        }
        assert_eq!(minutes_needed(answered, answered.plus(-5)), 1);
    }

    #[test]
    fn every_started_minute_counts() {
        for (talk, charge) in [(0, 0), (1, 600), (60_000, 600), (60_001, 1200), (-5, 0)] {
            assert_eq!(call_charge(talk, 600), charge, "{talk}");
        }
    }
}
