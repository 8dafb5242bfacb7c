//! Finds what must not be kept in what is said and written: numbers of cards, CVVs, OTPs, Aadhaar and PAN numbers,
//! account numbers; as digits and as words of eleven languages, also over several turns of one person
//! (docs/language.md#redaction).
//!
//! | file | holds |
//! |---|---|
//! | `tables` | what the things are called in each language (`languages/*/secrets.toml`) |
//! | `tokens` | a turn as digits, letters, names of things, and the rest |
//! | `runs` | digits that are one number, with what was said around them |
//! | `kinds` | what a number is |
//! | `pan` | numbers of letters and digits |

mod kinds;
mod pan;
mod runs;
mod tables;
mod tokens;

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use super::state::{Exchange, Role};
use runs::Chain;
use tokens::Read;

/// What is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sensitive {
    /// The number of a payment card.
    Card,
    /// The security code of a card.
    Cvv,
    /// A one-time password.
    Otp,
    Aadhaar,
    Pan,
    /// The number of a bank account.
    Account,
}

impl Sensitive {
    /// Every kind.
    pub const ALL: [Self; 6] = [Self::Card, Self::Cvv, Self::Otp, Self::Aadhaar, Self::Pan, Self::Account];

    /// The text that stands in its place.
    pub const fn mark(self) -> &'static str {
        match self {
            Self::Card => "[card]",
            Self::Cvv => "[cvv]",
            Self::Otp => "[otp]",
            Self::Aadhaar => "[aadhaar]",
            Self::Pan => "[pan]",
            Self::Account => "[account]",
        }
    }
}

/// The text that stands in place of an answer to a secret question.
pub const SECRET: &str = "[secret]";

/// Turns before the newest one that are looked at with it.
pub const LOOKED_BACK: usize = 8;

/// A part of a turn that must not be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    pub kind: Sensitive,
    /// Place of its first byte in the turn's text.
    pub start: usize,
    /// Place after its last byte.
    pub end: usize,
}

/// The parts of each turn that must not be kept, in order and apart from each other. `turns` is a conversation in the
/// order in which it was held; `language` is the agent's.
pub fn find(turns: &[(Role, &str)], language: &str) -> Vec<Vec<Span>> {
    let read: Vec<Read> = turns.iter().map(|(role, text)| Read::of(*role, text, language)).collect();
    let mut found: Vec<Vec<Span>> = vec![Vec::new(); turns.len()];
    let mut add = |turn: usize, span: Span| {
        let Some(spans) = found.get_mut(turn) else { return };
        if spans.iter().all(|known| known.end <= span.start || span.end <= known.start) {
            spans.push(span);
        }
    };
    for (turn, span) in pan::find(&read) {
        add(turn, span);
    }
    for (turn, span) in Chain::find(&read) {
        add(turn, span);
    }
    for spans in &mut found {
        spans.sort_unstable_by_key(|span| span.start);
    }
    found
}

/// The text with every part that must not be kept replaced by its mark; `None` if there is none. `spans` are those of
/// [`find`].
pub fn replaced(text: &str, spans: &[Span]) -> Option<String> {
    if spans.is_empty() {
        return None;
    }
    let (mut out, mut at) = (String::with_capacity(text.len()), 0);
    for span in spans {
        out.push_str(text.get(at..span.start)?);
        out.push_str(span.kind.mark());
        at = span.end;
    }
    out.push_str(text.get(at..)?);
    Some(out)
}

/// A text by itself, redacted.
pub fn text(text: &str, language: &str) -> String {
    let spans = find(&[(Role::Customer, text)], language).pop().unwrap_or_default();
    replaced(text, &spans).unwrap_or_else(|| text.to_owned())
}

/// The turns of which something must not be kept, each with its new text.
pub fn turns(turns: &[(Role, &str)], language: &str) -> Vec<(usize, String)> {
    let found = find(turns, language);
    let changed = turns.iter().zip(&found).enumerate();
    changed.filter_map(|(at, ((_, text), spans))| Some((at, replaced(text, spans)?))).collect()
}

/// Redacts the newest entries of a history in place: the last one, and those before it that it continues.
pub(super) fn newest(history: &mut [Exchange], language: &str) {
    let mut places: Vec<usize> = Vec::new();
    for (at, exchange) in history.iter().enumerate().rev() {
        if matches!(exchange, Exchange::Said { .. }) {
            places.push(at);
            if places.len() > LOOKED_BACK {
                break;
            }
        }
    }
    places.reverse();
    let said: Vec<(Role, &str)> = places
        .iter()
        .filter_map(|at| match history.get(*at) {
            Some(Exchange::Said { role, text }) => Some((*role, text.as_str())),
            _ => None,
        })
        .collect();
    for (at, redacted) in turns(&said, language) {
        if let Some(Exchange::Said { text, .. }) = places.get(at).and_then(|place| history.get_mut(*place)) {
            *text = redacted;
        }
    }
}
