//! Counts of a list of calls, by each of its properties.

use std::collections::{BTreeMap, HashMap};

use super::Damaged;
use super::details::each_of;
use super::start_of;
use crate::call::{Direction, Stage, Status};
use crate::time::Timestamp;

/// Which calls are counted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallFilter {
    pub from: Option<Timestamp>,
    pub to: Option<Timestamp>,
    pub agent: Option<String>,
    pub campaign: Option<String>,
    pub direction: Option<Direction>,
    pub stage: Option<Stage>,
    pub status: Option<Status>,
    pub outcome: Option<String>,
    pub cause: Option<String>,
}

/// The properties of some calls that are alike.
#[derive(Debug, Clone, Copy)]
pub struct CallKind<'a> {
    pub status: Status,
    pub direction: Direction,
    pub agent: Option<&'a str>,
    pub campaign: Option<&'a str>,
    pub outcome: Option<&'a str>,
    pub cause: Option<&'a str>,
}

impl CallFilter {
    fn admits(&self, kind: &CallKind<'_>) -> bool {
        let same = |asked: &Option<String>, value: Option<&str>| {
            asked.as_deref().is_none_or(|asked| value == Some(asked))
        };
        self.direction.is_none_or(|asked| asked == kind.direction)
            && self.stage.is_none_or(|asked| asked == kind.status.stage())
            && self.status.is_none_or(|asked| asked == kind.status)
            && same(&self.agent, kind.agent)
            && same(&self.campaign, kind.campaign)
            && same(&self.outcome, kind.outcome)
            && same(&self.cause, kind.cause)
    }
}

/// How many calls there are, in all and by each property. A call without a property is not in the counts of that property.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallCounts {
    pub total: u64,
    pub states: BTreeMap<&'static str, u64>,
    pub directions: BTreeMap<&'static str, u64>,
    pub outcomes: HashMap<String, u64>,
    pub causes: HashMap<String, u64>,
    pub agents: HashMap<String, u64>,
    pub campaigns: HashMap<String, u64>,
    /// Days of India, counted from 1970.
    pub days: BTreeMap<i64, u64>,
}

impl CallCounts {
    /// Counts calls of this kind that began on this day, if the filter admits them.
    pub fn count(&mut self, filter: &CallFilter, kind: &CallKind<'_>, day: i64, calls: u64) {
        if calls == 0 || !filter.admits(kind) {
            return;
        }
        self.total += calls;
        *self.states.entry(kind.status.stage().as_str()).or_default() += calls;
        *self.directions.entry(kind.direction.as_str()).or_default() += calls;
        *self.days.entry(day).or_default() += calls;
        for (counts, value) in [
            (&mut self.outcomes, kind.outcome),
            (&mut self.causes, kind.cause),
            (&mut self.agents, kind.agent),
            (&mut self.campaigns, kind.campaign),
        ] {
            let Some(value) = value else { continue };
            match counts.get_mut(value) {
                Some(count) => *count += calls,
                None => drop(counts.insert(value.to_owned(), calls)),
            }
        }
    }

    /// Counts the calls of a packed hour ([`pack_details`](super::pack_details)).
    ///
    /// # Errors
    /// [`Damaged`] when the bytes are not what it makes.
    pub fn add(&mut self, filter: &CallFilter, hour: i64, bytes: &[u8]) -> Result<(), Damaged> {
        let start = start_of(hour);
        // Calls of an hour are of few kinds.
        let mut kinds: HashMap<([u16; 4], u8, Direction), (Status, u64)> = HashMap::new();
        let mut of_hour: Vec<String> = Vec::new();
        each_of(bytes, |words, call| {
            if of_hour.is_empty() {
                of_hour = words.iter().map(|word| (*word).to_owned()).collect();
            }
            let at = start.plus(i64::from(call.offset));
            if filter.from.is_some_and(|from| at < from) || filter.to.is_some_and(|to| at >= to) {
                return;
            }
            let [agent, campaign, outcome, cause, ..] = call.words;
            let key = ([agent, campaign, outcome, cause], call.status as u8, call.direction());
            kinds.entry(key).or_insert((call.status, 0)).1 += 1;
        })
        .ok_or(Damaged)?;
        let word =
            |place: u16| usize::from(place).checked_sub(1).and_then(|at| of_hour.get(at)).map(String::as_str);
        for (([agent, campaign, outcome, cause], _, direction), (status, calls)) in kinds {
            let kind = CallKind {
                status,
                direction,
                agent: word(agent),
                campaign: word(campaign),
                outcome: word(outcome),
                cause: word(cause),
            };
            self.count(filter, &kind, hour.div_euclid(24), calls);
        }
        Ok(())
    }
}
