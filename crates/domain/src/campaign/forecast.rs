//! Estimates when many calls will be done and what they will cost, from statistics of the agent's calls
//! (docs/contract/campaigns.md#preflight).

use crate::time::{HOUR, MINUTE, SECOND, Timestamp};

/// Most windows in the search for the end: over a year of days with two windows each.
const WINDOWS: usize = 800;
/// Ringing time of an answered dial, milliseconds.
const RING: i64 = 8 * SECOND;
/// Ringing time of an unanswered dial, milliseconds.
const UNANSWERED: i64 = 25 * SECOND;

/// Statistics of calls.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Habit {
    /// Share of answered dials, 0 to 1.
    pub connect_rate: f64,
    /// Mean talk time of an answered call, seconds.
    pub talk_seconds: f64,
}

/// Defaults for an agent with few calls.
pub const ASSUMED: Habit = Habit { connect_rate: 0.35, talk_seconds: 60.0 };
/// Calls from which on the agent's own statistics count.
pub const ENOUGH_CALLS: u64 = 20;

#[derive(Debug, Clone, Copy)]
pub struct Work {
    pub people: i64,
    /// Attempts at each, at most.
    pub attempts: i64,
    pub lines: i64,
    /// Price of a started minute, minor units.
    pub price: i64,
    pub longest: i64,
}

impl Work {
    /// How long it dials, milliseconds.
    pub fn duration(&self, habit: Habit) -> i64 {
        let missed = 1.0 - habit.connect_rate;
        let attempts: f64 = (0..self.attempts).map(|attempt| missed.powi(attempt as i32)).sum();
        (self.people as f64 * attempts * Self::one(habit) / self.lines.max(1) as f64).ceil() as i64
    }

    /// How long one dial takes a line, milliseconds.
    fn one(habit: Habit) -> f64 {
        habit.connect_rate * (habit.talk_seconds * SECOND as f64 + RING as f64)
            + (1.0 - habit.connect_rate) * UNANSWERED as f64
    }

    /// Dials of the first minute: every line begins at once, and goes on when its call is over.
    pub fn first_minute(&self, habit: Habit) -> i64 {
        let of_a_line = (MINUTE as f64 / Self::one(habit).max(1.0)).ceil() as i64;
        self.lines.max(1).saturating_mul(of_a_line).min(self.people)
    }

    /// The expected cost, minor units: each person who is reached talks once, by started minutes.
    pub fn expected(&self, habit: Habit) -> i64 {
        let reached = self.people as f64 * (1.0 - (1.0 - habit.connect_rate).powi(self.attempts as i32));
        let minutes = (habit.talk_seconds / 60.0).ceil().max(1.0);
        (reached * minutes * self.price as f64).round() as i64
    }

    /// What it costs if every attempt is answered and lasts as long as a call may.
    pub fn at_most(&self) -> i64 {
        let minutes = (self.longest + MINUTE - 1) / MINUTE;
        self.people.saturating_mul(self.attempts).saturating_mul(minutes).saturating_mul(self.price)
    }
}

/// When work begins and ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Forecast {
    /// When the first dial can start.
    pub starts_at: Timestamp,
    /// When the last call is over; `None`: not within the windows.
    pub finishes_at: Option<Timestamp>,
}

/// Schedules `duration` milliseconds of work in the windows of `next`: the first one at or after a time, and when it
/// closes. `None` when there is no window.
pub fn forecast(
    from: Timestamp,
    duration: i64,
    next: impl Fn(Timestamp) -> Option<(Timestamp, Timestamp)>,
) -> Option<Forecast> {
    let (first, _) = next(from)?;
    let (mut at, mut left) = (first, duration);
    for _ in 0..WINDOWS {
        let Some((open, close)) = next(at) else { break };
        let room = close.0.saturating_sub(open.0);
        if left <= room {
            return Some(Forecast { starts_at: first, finishes_at: Some(open.plus(left)) });
        }
        left -= room;
        at = close.max(at.plus(1));
    }
    Some(Forecast { starts_at: first, finishes_at: None })
}

/// Milliseconds as hours, rounded up to tenths.
pub fn hours(duration: i64) -> f64 {
    (duration as f64 * 10.0 / HOUR as f64).ceil() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::{CallingHours, Span};

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(&format!("{text}+05:30")).unwrap()
    }

    const WORK: Work = Work { people: 100, attempts: 1, lines: 10, price: 600, longest: 10 * MINUTE };

    #[test]
    fn work_fills_one_window_after_the_other() {
        let hours = CallingHours::daily(Span::new(9 * 60, 21 * 60).unwrap());
        let ends = |from: &str, hours_of_work: i64| {
            let done = forecast(at(from), hours_of_work * HOUR, |from| hours.next_window(from)).unwrap();
            (done.starts_at, done.finishes_at.unwrap())
        };
        assert_eq!(ends("2026-11-23T10:00", 2), (at("2026-11-23T10:00"), at("2026-11-23T12:00")));
        assert_eq!(ends("2026-11-23T05:00", 2), (at("2026-11-23T09:00"), at("2026-11-23T11:00")));
        assert_eq!(ends("2026-11-23T20:00", 14), (at("2026-11-23T20:00"), at("2026-11-25T10:00")));
        assert_eq!(ends("2026-11-23T22:00", 0), (at("2026-11-24T09:00"), at("2026-11-24T09:00")));
        assert_eq!(forecast(at("2026-11-23T10:00"), HOUR, |_| None), None);
        let never = forecast(at("2026-11-23T10:00"), 100_000 * HOUR, |from| hours.next_window(from)).unwrap();
        assert_eq!(never.finishes_at, None);
    }

    #[test]
    fn talk_and_money_follow_from_habits() {
        let all = Habit { connect_rate: 1.0, talk_seconds: 52.0 };
        assert_eq!(WORK.duration(all), 600 * SECOND);
        assert_eq!((WORK.expected(all), WORK.at_most()), (60_000, 600_000));
        let half = Habit { connect_rate: 0.5, talk_seconds: 61.0 };
        assert_eq!(WORK.expected(half), 50 * 2 * 600);
        let twice = Work { attempts: 2, ..WORK };
        assert_eq!(twice.expected(half), 75 * 2 * 600);
        assert_eq!(twice.at_most(), 2 * WORK.at_most());
        let nobody = Habit { connect_rate: 0.0, talk_seconds: 0.0 };
        assert_eq!((WORK.duration(nobody), WORK.expected(nobody)), (250 * SECOND, 0));
        // A line that talks for 60 seconds and rings for 8 dials once a minute, one that rings in vain three times.
        assert_eq!((WORK.first_minute(all), WORK.first_minute(nobody)), (10, 30));
        assert_eq!(Work { people: 7, ..WORK }.first_minute(nobody), 7);
        assert_eq!((hours(0), hours(1), hours(90 * MINUTE)), (0.0, 0.1, 1.5));
    }
}
