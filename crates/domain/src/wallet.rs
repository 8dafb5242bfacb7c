//! Money rules of the prepaid wallet (spec 1 «Wallet», `gaps.md` «wallet.low»). Amounts are minor units.

use crate::time::{MINUTE, SECOND};

/// Minutes of calls below which a wallet counts as low, unless the operator set a threshold.
const LOW_MINUTES: i64 = 30;

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

/// Price of a talk of `talk_ms` milliseconds: every started minute counts, no talk costs nothing.
pub fn call_charge(talk_ms: i64, cost_per_minute: i64) -> i64 {
    let minutes = talk_ms.max(0).saturating_add(MINUTE - 1) / MINUTE;
    minutes.saturating_mul(cost_per_minute)
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
    fn every_started_minute_counts() {
        for (talk, charge) in [(0, 0), (1, 600), (60_000, 600), (60_001, 1200), (-5, 0)] {
            assert_eq!(call_charge(talk, 600), charge, "{talk}");
        }
    }
}
