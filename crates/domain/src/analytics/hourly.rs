//! Reports by the hour of the day, money by outcome, and how fast agents react.

use std::collections::{BTreeMap, HashMap};

use super::details::{ReactionHistogram, ReactionStage, each_of};
use super::report::Query;
use super::{Damaged, hour_of, start_of};
use crate::time::Timestamp;

/// Weeks before a day that say what is usual on its weekday.
pub const USUAL_WEEKS: i64 = 4;

/// The calls of an hour of the day.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HourCounts {
    pub calls: u64,
    /// Calls that somebody picked up.
    pub answered: u64,
    /// What they cost, minor units.
    pub charged: i64,
}

/// What is usual on a weekday: medians over the days that had calls.
#[derive(Debug, Clone, PartialEq)]
pub struct UsualDay {
    /// The day that it is compared with, counted from 1970.
    pub day: i64,
    /// Days that had calls; 0 to [`USUAL_WEEKS`].
    pub weeks: u64,
    /// Calls and answered calls in each hour of the day; empty without such days.
    pub hours: Vec<(f64, f64)>,
}

/// The weekday of a day that is counted from 1970: 1 for Monday to 7 for Sunday.
pub fn weekday(day: i64) -> i64 {
    // 1 January 1970 was a Thursday.
    (day + 3).rem_euclid(7) + 1
}

/// Aggregates packed hours ([`pack_details`](super::pack_details)) in any order.
#[derive(Debug)]
pub struct HourlyReport {
    query: Query,
    /// The day whose weekday is looked at.
    day: i64,
    hours: BTreeMap<(i64, i64), HourCounts>,
    outcomes: BTreeMap<Option<String>, (u64, i64)>,
    reactions: ReactionHistogram,
    by_agent: HashMap<Option<String>, ReactionHistogram>,
    by_provider: BTreeMap<(ReactionStage, String), ReactionHistogram>,
    usual: BTreeMap<i64, [HourCounts; 24]>,
}

impl HourlyReport {
    /// No calls yet. What is usual is that of the weekday of the last moment of the range, or of `now`.
    pub fn new(query: Query, now: Timestamp) -> Self {
        let last = query.to.map_or(now, |to| to.plus(-1));
        Self {
            query,
            day: hour_of(last).div_euclid(24),
            hours: BTreeMap::new(),
            outcomes: BTreeMap::new(),
            reactions: ReactionHistogram::default(),
            by_agent: HashMap::new(),
            by_provider: BTreeMap::new(),
            usual: BTreeMap::new(),
        }
    }

    /// The ranges of hours that say what is usual, each with its first and last.
    pub fn usual_hours(&self) -> impl Iterator<Item = (i64, i64)> {
        let day = self.day;
        (1..=USUAL_WEEKS).map(move |week| ((day - 7 * week) * 24, (day - 7 * week) * 24 + 23))
    }

    /// Counts the calls of a packed hour of the range.
    ///
    /// # Errors
    /// [`Damaged`] when the bytes are not what `pack_details` makes.
    pub fn add(&mut self, hour: i64, bytes: &[u8]) -> Result<(), Damaged> {
        let (start, slot) = (start_of(hour), (weekday(hour.div_euclid(24)), hour.rem_euclid(24)));
        let mut counts = HourCounts::default();
        let mut outcomes: HashMap<u16, (u64, i64)> = HashMap::new();
        let mut agents: HashMap<u16, ReactionHistogram> = HashMap::new();
        let mut providers: HashMap<(ReactionStage, u16), ReactionHistogram> = HashMap::new();
        let mut of_hour: Vec<String> = Vec::new();
        let (query, reactions) = (&self.query, &mut self.reactions);
        each_of(bytes, |words, call| {
            if of_hour.is_empty() {
                of_hour = words.iter().map(|word| (*word).to_owned()).collect();
            }
            let at = start.plus(i64::from(call.offset));
            let inside = query.from.is_none_or(|from| at >= from) && query.to.is_none_or(|to| at < to);
            if !inside || !call.counted() || !wanted(query, words, call.words) {
                return;
            }
            counts.count(call.answered(), call.charged);
            let outcome = outcomes.entry(call.words[2]).or_default();
            *outcome = (outcome.0 + 1, outcome.1.saturating_add(call.charged));
            if !call.reactions.is_empty() {
                reactions.add(call.reactions);
                agents.entry(call.words[0]).or_default().add(call.reactions);
                for (stage, place) in ReactionStage::ALL.into_iter().zip(&call.words[4..]) {
                    if *place != 0 {
                        providers.entry((stage, *place)).or_default().add(call.reactions);
                    }
                }
            }
        })
        .ok_or(Damaged)?;
        let word = |place: u16| usize::from(place).checked_sub(1).and_then(|at| of_hour.get(at)).cloned();
        if counts.calls > 0 {
            self.hours.entry(slot).or_default().add(&counts);
        }
        for (place, (calls, charged)) in outcomes {
            let whole = self.outcomes.entry(word(place)).or_default();
            *whole = (whole.0 + calls, whole.1.saturating_add(charged));
        }
        for (place, histogram) in agents {
            self.by_agent.entry(word(place)).or_default().merge(&histogram);
        }
        for ((stage, place), histogram) in providers {
            if let Some(name) = word(place) {
                self.by_provider.entry((stage, name)).or_default().merge(&histogram);
            }
        }
        Ok(())
    }

    /// Counts the calls of a packed hour of a day that says what is usual.
    ///
    /// # Errors
    /// [`Damaged`] when the bytes are not what `pack_details` makes.
    pub fn add_usual(&mut self, hour: i64, bytes: &[u8]) -> Result<(), Damaged> {
        let mut counts = HourCounts::default();
        let query = &self.query;
        each_of(bytes, |words, call| {
            if call.counted() && wanted(query, words, call.words) {
                counts.count(call.answered(), call.charged);
            }
        })
        .ok_or(Damaged)?;
        if counts.calls > 0 {
            let hours = self.usual.entry(hour.div_euclid(24)).or_default();
            hours[usize::try_from(hour.rem_euclid(24)).unwrap_or(0)].add(&counts);
        }
        Ok(())
    }

    /// The figures of everything that was added.
    pub fn finish(self) -> HourlyFigures {
        let mut by_agent: Vec<_> = self.by_agent.into_iter().collect();
        by_agent.sort_by(|(one, of_one), (other, of_other)| {
            (one.is_none(), of_other.count(), one).cmp(&(other.is_none(), of_one.count(), other))
        });
        let days: Vec<&[HourCounts; 24]> = self.usual.values().collect();
        let hour = |hour: usize| {
            let of = |count: fn(&HourCounts) -> u64| {
                median(days.iter().map(|hours| count(&hours[hour])).collect::<Vec<_>>())
            };
            (of(|counts| counts.calls), of(|counts| counts.answered))
        };
        HourlyFigures {
            usual: UsualDay {
                day: self.day,
                weeks: days.len() as u64,
                hours: if days.is_empty() { Vec::new() } else { (0..24).map(hour).collect() },
            },
            hours: self.hours,
            outcomes: self.outcomes,
            reactions: self.reactions,
            by_agent,
            by_provider: self.by_provider,
        }
    }
}

/// Whether a call is of the agent and the campaign that are asked for.
fn wanted(query: &Query, words: &[&str], places: [u16; 7]) -> bool {
    let is = |asked: &Option<String>, place: u16| {
        asked.as_deref().is_none_or(|asked| {
            usize::from(place).checked_sub(1).and_then(|at| words.get(at)) == Some(&asked)
        })
    };
    is(&query.agent, places[0]) && is(&query.campaign, places[1])
}

/// The median; of an even number of values the mean of the two in the middle. 0 without values.
fn median(mut values: Vec<u64>) -> f64 {
    values.sort_unstable();
    let middle = values.len() / 2;
    let at = |at: usize| values.get(at).copied().unwrap_or(0) as f64;
    if values.len() % 2 == 1 { at(middle) } else { (at(middle.saturating_sub(1)) + at(middle)) / 2.0 }
}

impl HourCounts {
    fn count(&mut self, answered: bool, charged: i64) {
        self.calls += 1;
        self.answered += u64::from(answered);
        self.charged = self.charged.saturating_add(charged);
    }

    fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        self.answered += other.answered;
        self.charged = self.charged.saturating_add(other.charged);
    }
}

/// The result of a [`HourlyReport`].
#[derive(Debug, PartialEq)]
pub struct HourlyFigures {
    /// By weekday (1 for Monday) and hour of the day; hours without calls are left out.
    pub hours: BTreeMap<(i64, i64), HourCounts>,
    /// Calls and what they cost by outcome; `None` for those without one.
    pub outcomes: BTreeMap<Option<String>, (u64, i64)>,
    /// All answers of agents.
    pub reactions: ReactionHistogram,
    /// Most answers first, calls without an agent last.
    pub by_agent: Vec<(Option<String>, ReactionHistogram)>,
    pub by_provider: BTreeMap<(ReactionStage, String), ReactionHistogram>,
    pub usual: UsualDay,
}
