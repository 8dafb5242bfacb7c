//! The calls of an hour as bytes: a list of words, then 33 bytes for each call.

use std::collections::HashMap;

use crate::time::Timestamp;

/// How a call counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallClass {
    /// It was dialled, or came in and was answered.
    Dialled,
    /// A campaign's dial that a gate refused.
    Blocked,
    /// An inbound call that was refused.
    Declined,
}

/// The data of a call for the metrics.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallFact {
    pub standing: CallClass,
    pub start: Timestamp,
    /// When it ended; `None` while it is live.
    pub end: Option<Timestamp>,
    /// Answer to end, milliseconds; `None` unless it was answered and is over.
    pub talk_ms: Option<i64>,
    /// Whether somebody picked up.
    pub answered: bool,
    /// Whether it was inbound.
    pub inbound: bool,
    /// A number in place of the contact's id.
    pub person: Option<u64>,
    pub agent: Option<String>,
    pub campaign: Option<String>,
    pub outcome: Option<String>,
    pub cause: Option<String>,
    pub language: Option<String>,
    pub sentiment: Option<String>,
}

/// Bytes of one call.
pub(super) const WIDTH: usize = 33;
/// A number of milliseconds that means «none».
pub(super) const NONE: u32 = u32::MAX;

const ANSWERED: u8 = 1;
const INBOUND: u8 = 2;
const BLOCKED: u8 = 4;
const DECLINED: u8 = 8;

/// The words of an hour and the index of each; index 0 means «none».
#[derive(Default)]
pub(super) struct Words {
    places: HashMap<String, u16>,
    list: Vec<u8>,
}

impl Words {
    pub(super) fn place(&mut self, word: Option<&str>) -> Option<u16> {
        let Some(word) = word else { return Some(0) };
        if let Some(place) = self.places.get(word) {
            return Some(*place);
        }
        let place = u16::try_from(self.places.len() + 1).ok()?;
        self.list.extend_from_slice(&u16::try_from(word.len()).ok()?.to_le_bytes());
        self.list.extend_from_slice(word.as_bytes());
        self.places.insert(word.to_owned(), place);
        Some(place)
    }

    /// The number of words, then each with its length.
    pub(super) fn into_bytes(self) -> Option<Vec<u8>> {
        let mut out = u16::try_from(self.places.len()).ok()?.to_le_bytes().to_vec();
        out.extend_from_slice(&self.list);
        Some(out)
    }
}

/// Packs the calls that began in the hour that begins at `start`, ordered by when they began. `None` when
/// they have more words than an hour can hold.
pub fn pack(start: Timestamp, facts: &[CallFact]) -> Option<Vec<u8>> {
    let mut words = Words::default();
    let mut calls = Vec::with_capacity(facts.len() * WIDTH);
    let millis = |number: i64| u32::try_from(number).unwrap_or(NONE - 1).min(NONE - 1).to_le_bytes();
    let or_none = |number: Option<i64>| number.map_or(NONE.to_le_bytes(), millis);
    for fact in facts {
        calls.extend_from_slice(&millis(fact.start.0 - start.0));
        calls.extend_from_slice(&or_none(fact.end.map(|end| (end.0 - fact.start.0).max(0))));
        calls.extend_from_slice(&or_none(fact.talk_ms.map(|talk| talk.max(0))));
        calls.extend_from_slice(&fact.person.unwrap_or(0).to_le_bytes());
        for word in [&fact.agent, &fact.campaign, &fact.outcome, &fact.cause, &fact.language, &fact.sentiment]
        {
            calls.extend_from_slice(&words.place(word.as_deref())?.to_le_bytes());
        }
        let standing = match fact.standing {
            CallClass::Dialled => 0,
            CallClass::Blocked => BLOCKED,
            CallClass::Declined => DECLINED,
        };
        calls.push(
            standing | if fact.answered { ANSWERED } else { 0 } | if fact.inbound { INBOUND } else { 0 },
        );
    }
    let mut out = words.into_bytes()?;
    out.extend_from_slice(&calls);
    Some(out)
}

#[derive(Debug, Clone, Copy)]
pub(super) struct PackedCall {
    pub(super) offset: u32,
    pub(super) length: u32,
    pub(super) talk: u32,
    pub(super) person: u64,
    /// Agent, campaign, outcome, cause, language, sentiment.
    pub(super) words: [u16; 6],
    flags: u8,
}

impl PackedCall {
    pub(super) fn answered(self) -> bool {
        self.flags & ANSWERED != 0
    }

    pub(super) fn inbound(self) -> bool {
        self.flags & INBOUND != 0
    }

    pub(super) fn standing(self) -> CallClass {
        if self.flags & BLOCKED != 0 {
            CallClass::Blocked
        } else if self.flags & DECLINED != 0 {
            CallClass::Declined
        } else {
            CallClass::Dialled
        }
    }
}

/// Splits a packed hour into its words and its calls; `None` when the bytes are damaged.
pub(super) fn open(bytes: &[u8]) -> Option<(Vec<&str>, impl Iterator<Item = PackedCall>)> {
    let (words, rest) = open_words(bytes)?;
    if !rest.len().is_multiple_of(WIDTH) {
        return None;
    }
    Some((words, rest.chunks_exact(WIDTH).filter_map(read)))
}

/// The words at the beginning of a packed hour, and what follows them; `None` when the bytes are damaged.
pub(super) fn open_words(bytes: &[u8]) -> Option<(Vec<&str>, &[u8])> {
    let (count, mut rest) = bytes.split_first_chunk::<2>()?;
    let mut words = Vec::with_capacity(usize::from(u16::from_le_bytes(*count)));
    for _ in 0..u16::from_le_bytes(*count) {
        let (length, tail) = rest.split_first_chunk::<2>()?;
        let (word, tail) = tail.split_at_checked(usize::from(u16::from_le_bytes(*length)))?;
        words.push(std::str::from_utf8(word).ok()?);
        rest = tail;
    }
    Some((words, rest))
}

fn read(bytes: &[u8]) -> Option<PackedCall> {
    let bytes: &[u8; WIDTH] = bytes.try_into().ok()?;
    let four = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    let two = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
    Some(PackedCall {
        offset: four(0),
        length: four(4),
        talk: four(8),
        person: u64::from(four(12)) | u64::from(four(16)) << 32,
        words: [two(20), two(22), two(24), two(26), two(28), two(30)],
        flags: bytes[32],
    })
}
