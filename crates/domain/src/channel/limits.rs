//! Rate limits and messaging tiers (docs/contract/channel.md#limits).

use crate::time::{DAY, Timestamp};

/// Messages a second of a number of the usual class.
pub const STANDARD_RATE: i64 = 80;
/// Messages a second of a number of the high class.
pub const HIGH_RATE: i64 = 1_000;
/// Interval of messages to the same person, in milliseconds, in the long run.
pub const PAIR_GAP: i64 = 6_000;
/// Burst of messages to the same person; what they borrow is waited for afterwards.
pub const PAIR_BURST: i64 = 45;
/// Period of the messaging limit.
pub const TIER_TIME: i64 = DAY;

/// A rate limiter (GCRA): one message in `gap` microseconds, with a burst. Its state is one number, the time in
/// microseconds up to which it is used up; zero is an unused one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// Microseconds between two, in the long run.
    pub gap: i64,
    /// How many may come at once.
    pub burst: i64,
}

impl Pace {
    /// The pace of a number with this many messages a second: no second has more, and in the long run it reaches at
    /// least 95 of 100, of a fast number at least 96.
    pub fn of_number(per_second: i64) -> Self {
        let per_second = per_second.max(1);
        // A burst is what may come late without being lost, and what the long run has less. A slow number needs some
        // milliseconds of it, a fast one has them with a smaller part.
        let burst = (per_second / 30).max((per_second / 20).min(4)).max(1);
        Self { gap: 1_000_000 / (per_second - burst + 1), burst }
    }

    /// That of a number and a person.
    pub fn of_pair() -> Self {
        Self { gap: PAIR_GAP * 1_000, burst: PAIR_BURST }
    }

    /// Takes one slot: the state afterwards, or the time of the next free one.
    ///
    /// # Errors
    /// When there is no slot now: the time of the first one.
    pub fn take(self, used: i64, now: Timestamp) -> Result<i64, Timestamp> {
        let now = now.0.saturating_mul(1_000);
        let used = used.max(now).saturating_add(self.gap);
        let late = used - now - self.gap * self.burst;
        if late <= 0 { Ok(used) } else { Err(Timestamp((now + late + 999).div_euclid(1_000))) }
    }

    /// Takes several slots, no more than a burst.
    ///
    /// # Errors
    /// When they are not all free now: the first time at which they are.
    pub fn take_many(self, used: i64, now: Timestamp, slots: i64) -> Result<i64, Timestamp> {
        let before = used.saturating_add(self.gap.saturating_mul(slots.clamp(1, self.burst) - 1));
        let idle = now.0.saturating_mul(1_000).saturating_add(self.gap * (slots.clamp(1, self.burst) - 1));
        self.take(before.max(idle), now)
    }

    /// When this slot can be used: at the earliest from `now` on; `None` when its time is over.
    pub fn moment(self, place: i64, now: Timestamp) -> Option<Timestamp> {
        let at = (place - self.gap * self.burst + 999).div_euclid(1_000).max(now.0);
        (at.saturating_mul(1_000) <= place - self.gap).then_some(Timestamp(at))
    }

    /// The last slot that can be used by a time.
    pub fn last_place(self, moment: Timestamp) -> i64 {
        moment.0.saturating_mul(1_000).saturating_add(self.gap * self.burst)
    }
}

/// A messaging tier: how many different people a business account may write to in 24 hours outside of their windows, with
/// the provider's name for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tier {
    People(i64),
    /// Unlimited.
    Unlimited,
}

impl Tier {
    /// Parses the provider's word, or its number (-1 for no limit): the current words and the former ones.
    pub fn parse(text: &str) -> Option<Self> {
        let word = text.trim().to_ascii_uppercase();
        if let Ok(people) = word.parse::<i64>() {
            return match people {
                -1 => Some(Self::Unlimited),
                0.. => Some(Self::People(people)),
                _ => None,
            };
        }
        match word.strip_prefix("TIER_").unwrap_or(&word) {
            "UNLIMITED" => Some(Self::Unlimited),
            "NOT_SET" | "UNTIERED" => Some(Self::People(250)),
            size => {
                let (number, thousands) = match size.strip_suffix('K') {
                    Some(number) => (number, 1_000),
                    None => (size, 1),
                };
                let number = number.parse::<i64>().ok().filter(|number| (1..1_000_000).contains(number))?;
                word.starts_with("TIER_").then_some(Self::People(number * thousands))
            }
        }
    }

    /// Most people; `None` for unlimited.
    pub fn people(self) -> Option<i64> {
        match self {
            Self::People(people) => Some(people),
            Self::Unlimited => None,
        }
    }
}

/// The limit of the provider's word; an unknown one counts as the smallest.
pub fn tier_people(word: Option<&str>) -> Option<i64> {
    word.and_then(Tier::parse).unwrap_or(Tier::People(250)).people()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_never_sends_more_in_a_second_and_wastes_little() {
        for rate in [1, 10, 20, 80, 1_000] {
            let pace = Pace::of_number(rate);
            let (mut used, mut now, mut sent) = (0, Timestamp(1_000_000), Vec::new());
            while sent.len() < usize::try_from(rate * 10).unwrap() {
                match pace.take(used, now) {
                    Ok(next) => {
                        used = next;
                        sent.push(now.0);
                    }
                    Err(at) => {
                        assert!(at > now);
                        now = at;
                    }
                }
            }
            let most =
                sent.iter().map(|from| sent.iter().filter(|at| (*from..from + 1_000).contains(*at)).count());
            assert!(most.max().unwrap() <= usize::try_from(rate).unwrap(), "{rate}");
            let took = now.0 - 1_000_000;
            assert!(took <= if rate >= 1_000 { 10_370 } else { 10_550 }, "{rate}: {took}");
        }
    }

    #[test]
    fn a_person_gets_a_burst_and_then_one_in_six_seconds() {
        let (pace, start) = (Pace::of_pair(), Timestamp(1_000_000));
        let mut used = 0;
        for _ in 0..PAIR_BURST {
            used = pace.take(used, start).unwrap();
        }
        assert_eq!(pace.take(used, start), Err(start.plus(PAIR_GAP)));
        used = pace.take(used, start.plus(PAIR_GAP)).unwrap();
        assert_eq!(pace.take(used, start.plus(PAIR_GAP)), Err(start.plus(2 * PAIR_GAP)));
        // After the borrowed time all of the burst is there again.
        let later = start.plus(PAIR_GAP * (PAIR_BURST + 1));
        for _ in 0..PAIR_BURST {
            used = pace.take(used, later).unwrap();
        }
    }

    #[test]
    fn words_of_limits_are_read() {
        for (word, people) in [
            ("TIER_50", Some(Tier::People(50))),
            ("TIER_250", Some(Tier::People(250))),
            ("TIER_1K", Some(Tier::People(1_000))),
            ("TIER_2K", Some(Tier::People(2_000))),
            ("TIER_10K", Some(Tier::People(10_000))),
            ("TIER_100K", Some(Tier::People(100_000))),
            ("TIER_UNLIMITED", Some(Tier::Unlimited)),
            ("UNTIERED", Some(Tier::People(250))),
            ("-1", Some(Tier::Unlimited)),
            ("2000", Some(Tier::People(2_000))),
            ("TIER_", None),
            ("TIER_X", None),
            ("10K", None),
        ] {
            assert_eq!(Tier::parse(word), people, "{word}");
        }
        assert_eq!(tier_people(None), Some(250));
        assert_eq!(tier_people(Some("TIER_UNLIMITED")), None);
    }
}
