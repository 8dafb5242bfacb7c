//! Aggregating packed hours.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

use super::packed::{CallClass, NONE, PackedCall, open};
use super::start_of;
use crate::call::NO_PERSON;
use crate::time::{DAY, Timestamp};
use crate::wallet::talk_seconds;

/// The filter of a report.
#[derive(Debug, Clone, Default)]
pub struct Query {
    /// Calls that began at or after this.
    pub from: Option<Timestamp>,
    /// Calls that began before this.
    pub to: Option<Timestamp>,
    /// Only this agent's.
    pub agent: Option<String>,
    /// Only this campaign's.
    pub campaign: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct AgentFigures {
    /// The agent; `None` for calls without one.
    pub agent: Option<String>,
    /// Dialled or answered.
    pub calls: u64,
    pub answered: u64,
    /// Seconds of talk.
    pub talk_seconds: u64,
    /// Calls that came in.
    pub inbound: u64,
    /// Calls that went out.
    pub outbound: u64,
    pub sentiment: BTreeMap<String, u64>,
}

/// All metrics of a report.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Figures {
    /// Dialled or answered.
    pub calls: u64,
    pub answered: u64,
    /// Distinct people who picked up, machines not counted.
    pub people_reached: u64,
    /// Distinct people who were dialled.
    pub contacts_targeted: u64,
    /// Seconds of talk of all calls.
    pub talk_seconds: u64,
    /// Median talk time of the answered calls.
    pub talk_p50: u64,
    /// 90th percentile of the talk time of the answered calls.
    pub talk_p90: u64,
    /// Peak number of calls at the same time.
    pub peak: u64,
    /// Campaign dials that a gate refused.
    pub blocked: u64,
    /// Inbound calls that were refused.
    pub declined: u64,
    /// Calls by outcome.
    pub by_outcome: BTreeMap<String, u64>,
    pub by_cause: BTreeMap<String, u64>,
    pub by_language: BTreeMap<String, u64>,
    pub by_sentiment: BTreeMap<String, u64>,
    /// Day of India time (counted from 1970), calls, answered, seconds of talk.
    pub per_day: Vec<(i64, u64, u64, u64)>,
    /// Agents with the most calls first; calls without an agent are last.
    pub agents: Vec<AgentFigures>,
}

/// A hasher for ids, which are random already.
#[derive(Default)]
struct Folded(u64);

impl Hasher for Folded {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }
    fn write_u64(&mut self, number: u64) {
        self.0 = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}

type People = HashSet<u64, BuildHasherDefault<Folded>>;

/// How often one word occurs, for each of its uses.
#[derive(Debug, Clone, Copy, Default)]
struct WordCounts {
    outcome: u64,
    cause: u64,
    language: u64,
    sentiment: u64,
}

#[derive(Debug, Clone, Default)]
struct AgentCounts {
    calls: u64,
    answered: u64,
    talk: u64,
    inbound: u64,
    sentiment: BTreeMap<usize, u64>,
}

/// Metrics that are being aggregated.
pub struct Report {
    query: Query,
    now: Timestamp,
    words: Vec<String>,
    places: HashMap<String, usize>,
    counts: Vec<WordCounts>,
    /// By index of the agent's id among the words; 0 means no agent.
    agents: Vec<AgentCounts>,
    days: BTreeMap<i64, (u64, u64, u64)>,
    reached: People,
    targeted: People,
    talks: Vec<u32>,
    live: BinaryHeap<Reverse<i64>>,
    peak: usize,
    blocked: u64,
    declined: u64,
}

/// The bytes of an hour are damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Damaged;

impl Report {
    /// No calls yet. A call that is live counts as ending `now`.
    pub fn new(query: Query, now: Timestamp) -> Self {
        Self {
            query,
            now,
            words: vec![String::new()],
            places: HashMap::new(),
            counts: vec![WordCounts::default()],
            agents: vec![AgentCounts::default()],
            days: BTreeMap::new(),
            reached: People::default(),
            targeted: People::default(),
            talks: Vec::new(),
            live: BinaryHeap::new(),
            peak: 0,
            blocked: 0,
            declined: 0,
        }
    }

    fn place(&mut self, word: &str) -> usize {
        if let Some(place) = self.places.get(word) {
            return *place;
        }
        let place = self.words.len();
        self.words.push(word.to_owned());
        self.places.insert(word.to_owned(), place);
        self.counts.push(WordCounts::default());
        self.agents.push(AgentCounts::default());
        place
    }

    /// Counts the calls of a packed hour. Hours must be added in order.
    ///
    /// # Errors
    /// [`Damaged`] when the bytes are not what `pack` makes.
    pub fn add(&mut self, hour: i64, bytes: &[u8]) -> Result<(), Damaged> {
        let (words, calls) = open(bytes).ok_or(Damaged)?;
        // Index 0 of every hour is «none».
        let places: Vec<usize> =
            std::iter::once(0).chain(words.iter().map(|word| self.place(word))).collect();
        let wanted = |asked: &Option<String>| {
            asked.as_ref().map(|asked| words.iter().position(|word| word == asked).map(|at| at + 1))
        };
        let (agent, campaign) = (wanted(&self.query.agent), wanted(&self.query.campaign));
        if agent == Some(None) || campaign == Some(None) {
            return Ok(());
        }
        let fits = |asked: Option<Option<usize>>, place: u16| {
            asked.flatten().is_none_or(|asked| asked == usize::from(place))
        };
        let no_person = NO_PERSON.map(|cause| words.iter().position(|word| *word == cause).map(|at| at + 1));
        let (start, mut day) = (start_of(hour), (0, 0, 0));
        for call in calls {
            let at = start.plus(i64::from(call.offset));
            let inside =
                self.query.from.is_none_or(|from| at >= from) && self.query.to.is_none_or(|to| at < to);
            if !inside || !fits(agent, call.words[0]) || !fits(campaign, call.words[1]) {
                continue;
            }
            match call.standing() {
                CallClass::Blocked => self.blocked += 1,
                CallClass::Declined => self.declined += 1,
                CallClass::Dialled => {
                    let words = call.words.map(|place| places.get(usize::from(place)).copied().unwrap_or(0));
                    let machine = no_person.contains(&Some(usize::from(call.words[3])));
                    let talk = self.count(at, call, words, machine);
                    day = (day.0 + 1, day.1 + u64::from(call.answered()), day.2 + talk);
                }
            }
        }
        if day.0 > 0 {
            let whole = self.days.entry(hour.div_euclid(24)).or_default();
            *whole = (whole.0 + day.0, whole.1 + day.1, whole.2 + day.2);
        }
        Ok(())
    }

    /// Counts a call and returns its seconds of talk.
    fn count(&mut self, at: Timestamp, call: PackedCall, words: [usize; 6], machine: bool) -> u64 {
        let [agent, _, outcome, cause, language, sentiment] = words;
        let talk = if call.talk == NONE { 0 } else { talk_seconds(i64::from(call.talk)).unsigned_abs() };
        self.counts[outcome].outcome += 1;
        self.counts[cause].cause += 1;
        self.counts[language].language += 1;
        self.counts[sentiment].sentiment += 1;
        let counts = &mut self.agents[agent];
        counts.calls += 1;
        counts.answered += u64::from(call.answered());
        counts.talk += talk;
        counts.inbound += u64::from(call.inbound());
        if sentiment != 0 {
            *counts.sentiment.entry(sentiment).or_default() += 1;
        }
        if call.person != 0 {
            if !call.inbound() {
                self.targeted.insert(call.person);
            }
            if call.answered() && !machine {
                self.reached.insert(call.person);
            }
        }
        if call.answered() && call.talk != NONE {
            self.talks.push(u32::try_from(talk).unwrap_or(u32::MAX));
        }
        while self.live.peek().is_some_and(|Reverse(end)| *end <= at.0) {
            self.live.pop();
        }
        let end = if call.length == NONE { self.now.0.max(at.0 + 1) } else { at.0 + i64::from(call.length) };
        if end > at.0 {
            self.live.push(Reverse(end));
            self.peak = self.peak.max(self.live.len());
        }
        talk
    }

    /// The metrics of everything that was added.
    pub fn finish(mut self) -> Figures {
        let by = |count: fn(&WordCounts) -> u64| -> BTreeMap<String, u64> {
            let named = self.words.iter().zip(&self.counts).skip(1);
            named
                .filter(|(_, counts)| count(counts) > 0)
                .map(|(word, counts)| (word.clone(), count(counts)))
                .collect()
        };
        let (by_outcome, by_cause) = (by(|counts| counts.outcome), by(|counts| counts.cause));
        let (by_language, by_sentiment) = (by(|counts| counts.language), by(|counts| counts.sentiment));
        let mut agents: Vec<AgentFigures> = Vec::new();
        for (place, counts) in self.agents.iter().enumerate().filter(|(_, counts)| counts.calls > 0) {
            agents.push(AgentFigures {
                agent: (place != 0).then(|| self.words[place].clone()),
                calls: counts.calls,
                answered: counts.answered,
                talk_seconds: counts.talk,
                inbound: counts.inbound,
                outbound: counts.calls - counts.inbound,
                sentiment: counts
                    .sentiment
                    .iter()
                    .map(|(place, count)| (self.words[*place].clone(), *count))
                    .collect(),
            });
        }
        agents.sort_by(|one, other| {
            (one.agent.is_none(), Reverse(one.calls), &one.agent).cmp(&(
                other.agent.is_none(),
                Reverse(other.calls),
                &other.agent,
            ))
        });
        let sum = |count: fn(&AgentFigures) -> u64| agents.iter().map(count).sum::<u64>();
        Figures {
            calls: sum(|agent| agent.calls),
            answered: sum(|agent| agent.answered),
            talk_seconds: sum(|agent| agent.talk_seconds),
            people_reached: self.reached.len() as u64,
            contacts_targeted: self.targeted.len() as u64,
            talk_p50: percentile(&mut self.talks, 50),
            talk_p90: percentile(&mut self.talks, 90),
            peak: self.peak as u64,
            blocked: self.blocked,
            declined: self.declined,
            by_outcome,
            by_cause,
            by_language,
            by_sentiment,
            per_day: self
                .days
                .into_iter()
                .map(|(day, (calls, answered, talk))| (day, calls, answered, talk))
                .collect(),
            agents,
        }
    }
}

/// The percentile by the nearest-rank method: the smallest value that `percent` of all values do not exceed.
/// 0 when there are no values.
fn percentile(values: &mut [u32], percent: usize) -> u64 {
    let Some(rank) = (values.len() * percent).div_ceil(100).checked_sub(1) else { return 0 };
    u64::from(*values.select_nth_unstable(rank).1)
}

impl Figures {
    /// `2026-11-23` for a day of [`Figures::per_day`].
    pub fn date(day: i64) -> String {
        Timestamp(day.saturating_mul(DAY)).to_string().chars().take(10).collect()
    }
}
