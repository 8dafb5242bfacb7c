//! What counts of a list and reports by hour need of the calls of an hour, as bytes: a list of words, then a record for
//! each call. It is kept beside the block of [`pack`](super::pack()), which has what else a report needs.

use super::packed::{Words, open_words};
use crate::call::{Direction, Status};
use crate::time::Timestamp;

/// Most answers of one call whose reaction counts; a call has a few dozen.
pub const MAX_REACTIONS: usize = 255;

/// What has part in the reaction of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ReactionStage {
    Recognition,
    Model,
    Synthesis,
}

impl ReactionStage {
    /// All, in the order of [`CallDetails::providers`].
    pub const ALL: [Self; 3] = [Self::Recognition, Self::Model, Self::Synthesis];
}

/// A call as counts and reports by hour see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallDetails {
    pub start: Timestamp,
    pub status: Status,
    pub direction: Direction,
    /// Whether reports count it: it was dialled, or came in and was answered.
    pub counted: bool,
    /// Whether somebody picked up.
    pub answered: bool,
    pub agent: Option<String>,
    pub campaign: Option<String>,
    pub outcome: Option<String>,
    pub cause: Option<String>,
    /// The names of the providers of recognition, language model and synthesis.
    pub providers: [Option<String>; 3],
    /// What it cost, minor units.
    pub charged: i64,
    /// From the end of what the customer said to the first sound of each answer, milliseconds.
    pub reactions: Vec<i64>,
}

const INBOUND: u8 = 1;
const COUNTED: u8 = 2;
const ANSWERED: u8 = 4;

/// Bytes of a record before its reactions.
const HEAD: usize = 4 + 2 * WORDS + 1 + 1 + 8 + 1;
/// Words of a record: agent, campaign, outcome, cause, and three providers.
const WORDS: usize = 7;

/// Packs the calls that began in the hour that begins at `start`. `None` when they have more words than an hour can hold.
pub fn pack_details(start: Timestamp, calls: &[CallDetails]) -> Option<Vec<u8>> {
    let mut words = Words::default();
    let mut records = Vec::with_capacity(calls.len() * (HEAD + 8));
    for call in calls {
        let offset = u32::try_from((call.start.0 - start.0).max(0)).unwrap_or(u32::MAX);
        records.extend_from_slice(&offset.to_le_bytes());
        let [recognition, model, synthesis] = &call.providers;
        for word in [&call.agent, &call.campaign, &call.outcome, &call.cause, recognition, model, synthesis] {
            records.extend_from_slice(&words.place(word.as_deref())?.to_le_bytes());
        }
        let status = Status::ALL.iter().position(|status| *status == call.status)?;
        records.push(u8::try_from(status).ok()?);
        let flag = |set: bool, flag: u8| if set { flag } else { 0 };
        records.push(
            flag(call.direction == Direction::Inbound, INBOUND)
                | flag(call.counted, COUNTED)
                | flag(call.answered, ANSWERED),
        );
        records.extend_from_slice(&call.charged.to_le_bytes());
        let reactions = &call.reactions[..call.reactions.len().min(MAX_REACTIONS)];
        records.push(u8::try_from(reactions.len()).ok()?);
        records.extend(reactions.iter().map(|ms| step_of(*ms)));
    }
    let mut out = words.into_bytes()?;
    out.extend_from_slice(&records);
    Some(out)
}

/// A record of [`pack_details`].
pub(super) struct PackedDetails<'a> {
    /// Milliseconds after the beginning of the hour.
    pub offset: u32,
    /// Agent, campaign, outcome, cause, providers: indexes into the words, 0 for none.
    pub words: [u16; WORDS],
    pub status: Status,
    flags: u8,
    pub charged: i64,
    /// A [`step_of`] for each answer.
    pub reactions: &'a [u8],
}

impl PackedDetails<'_> {
    pub fn direction(&self) -> Direction {
        if self.flags & INBOUND != 0 { Direction::Inbound } else { Direction::Outbound }
    }

    pub fn counted(&self) -> bool {
        self.flags & COUNTED != 0
    }

    pub fn answered(&self) -> bool {
        self.flags & ANSWERED != 0
    }
}

/// Calls `visit` with the words of an hour and each of its records; `None` when the bytes are damaged.
pub(super) fn each_of<'a>(
    bytes: &'a [u8],
    mut visit: impl FnMut(&[&'a str], &PackedDetails<'a>),
) -> Option<()> {
    let (words, mut rest) = open_words(bytes)?;
    while !rest.is_empty() {
        let (head, tail) = rest.split_first_chunk::<HEAD>()?;
        let (reactions, tail) = tail.split_at_checked(usize::from(head[HEAD - 1]))?;
        let mut places = [0; WORDS];
        for (place, pair) in places.iter_mut().zip(head[4..].chunks_exact(2)) {
            *place = u16::from_le_bytes([pair[0], pair[1]]);
            if usize::from(*place) > words.len() {
                return None;
            }
        }
        let after = 4 + 2 * WORDS;
        let mut charged = [0; 8];
        charged.copy_from_slice(&head[after + 2..after + 10]);
        let record = PackedDetails {
            offset: u32::from_le_bytes([head[0], head[1], head[2], head[3]]),
            words: places,
            status: *Status::ALL.get(usize::from(head[after]))?,
            flags: head[after + 1],
            charged: i64::from_le_bytes(charged),
            reactions,
        };
        visit(&words, &record);
        rest = tail;
    }
    Some(())
}

/// The shortest reaction that is told from shorter ones, milliseconds, and how much longer each step of the scale is. The
/// scale ends at 30 seconds.
const SHORTEST: f64 = 10.0;
const GROWTH: f64 = 1.032;

/// The step of the logarithmic scale on which a reaction is counted.
fn step_of(ms: i64) -> u8 {
    let step = ((ms.max(1) as f64 / SHORTEST).ln() / GROWTH.ln()).floor();
    step.clamp(0.0, 255.0) as u8
}

/// How often each step of the scale occurred. Histograms can be added, so percentiles over any range of hours come from
/// those of its calls; they are within two in a hundred of the exact ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReactionHistogram {
    steps: Box<[u64; 256]>,
    count: u64,
}

impl Default for ReactionHistogram {
    fn default() -> Self {
        Self { steps: Box::new([0; 256]), count: 0 }
    }
}

impl ReactionHistogram {
    pub(super) fn add(&mut self, steps: &[u8]) {
        for step in steps {
            self.steps[usize::from(*step)] += 1;
        }
        self.count += steps.len() as u64;
    }

    /// Adds the counts of another one.
    pub(super) fn merge(&mut self, other: &Self) {
        for (step, count) in self.steps.iter_mut().zip(other.steps.iter()) {
            *step += count;
        }
        self.count += other.count;
    }

    /// Answers that were counted.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The percentile by the nearest-rank method, milliseconds: the middle of the step in which it falls. `None` without
    /// answers.
    pub fn percentile(&self, percent: u64) -> Option<i64> {
        let rank = (self.count * percent).div_ceil(100).max(1);
        let mut below = 0;
        let step = self.steps.iter().position(|count| {
            below += count;
            below >= rank
        });
        step.filter(|_| self.count > 0).map(|step| (SHORTEST * GROWTH.powf(step as f64 + 0.5)).round() as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_within_two_in_a_hundred() {
        let mut histogram = ReactionHistogram::default();
        assert_eq!((histogram.count(), histogram.percentile(50)), (0, None));
        let values: Vec<i64> = (1..=1_000).map(|n| 300 + 3 * n).collect();
        histogram.add(&values.iter().map(|ms| step_of(*ms)).collect::<Vec<_>>());
        for percent in [1, 50, 95, 100] {
            let exact = values[(10 * percent as usize) - 1] as f64;
            let found = histogram.percentile(percent).unwrap() as f64;
            assert!((found / exact - 1.0).abs() < 0.02, "{percent}: {found} for {exact}");
        }
        assert_eq!((step_of(-5), step_of(i64::MAX)), (0, 255));
    }
}
