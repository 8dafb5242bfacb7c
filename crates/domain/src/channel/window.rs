//! The 24-hour customer service window (docs/contract/channel-messages.md#window).

use crate::time::{DAY, Timestamp};

/// How long the window stays open after the customer's last message.
pub const WINDOW: i64 = DAY;

/// Whether the window of a customer whose last message came then is open.
pub fn is_open(last_received: Option<Timestamp>, now: Timestamp) -> bool {
    last_received.is_some_and(|at| now < at.plus(WINDOW))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_closes_after_24_hours() {
        let start = Timestamp(1_000_000);
        for (last, now, open) in [
            (None, start, false),
            (Some(start), start, true),
            (Some(start), start.plus(WINDOW - 1), true),
            (Some(start), start.plus(WINDOW), false),
        ] {
            assert_eq!(is_open(last, now), open, "{last:?} {now:?}");
        }
    }
}
