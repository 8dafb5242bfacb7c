//! PAN numbers: five letters, four digits, a letter; written, spelled, or both.

use super::tables::Topic;
use super::tokens::{Figure, Gap, Read, Word};
use super::{Sensitive, Span};

/// Turns of one person that may have parts of a number.
const TURNS: usize = 4;
/// Turns back that may have asked for a number.
const ASKED: usize = 4;

/// A letter or digit, with its place.
struct Unit {
    turn: usize,
    first: usize,
    last: usize,
    letters: String,
    digits: String,
    /// Several letters that are a word in any other place.
    word: bool,
    /// Nothing stands between the word before it and this one.
    glued: bool,
}

/// Words between a letter and a word that begins with it.
const EXAMPLES: [&str; 8] = ["for", "as", "in", "like", "फॉर", "से", "जैसे", "jaise"];

fn unit(turn: usize, at: usize, word: &Word) -> Option<Unit> {
    let digits = match &word.figure {
        Figure::Numeral(digits) => digits.clone(),
        Figure::Word { value, .. } => value.to_string(),
        Figure::Repeat(_) | Figure::Amount | Figure::None => String::new(),
    };
    let letters = word.letters.clone().unwrap_or_default();
    if digits.is_empty() && letters.is_empty() {
        return None;
    }
    let (plain, glued) = (letters.len() > 1 && !word.capitals, word.gap == Gap::None);
    Some(Unit { turn, first: at, last: at, letters, digits, word: plain, glued })
}

/// The units of a turn in rows without anything else between them.
fn rows(turn: usize, read: &Read) -> Vec<Vec<Unit>> {
    let (mut rows, mut row): (Vec<Vec<Unit>>, Vec<Unit>) = (Vec::new(), Vec::new());
    let (mut skip, mut repeat) = (0_usize, None);
    for (at, word) in read.words.iter().enumerate() {
        if skip > 0 {
            skip -= 1;
            if let Some(last) = row.last_mut() {
                last.last = at;
            }
            continue;
        }
        let follows = word.gap != Gap::Hard && !word.mark;
        if !follows {
            rows.push(std::mem::take(&mut row));
        }
        let spells =
            row.last().is_some_and(|last| last.letters.len() == 1) && EXAMPLES.contains(&word.text.as_str());
        if spells {
            // `a for apple`, `a as in apple`.
            skip = usize::from(word.text == "as") + 1;
            if let Some(last) = row.last_mut() {
                last.last = at;
            }
            continue;
        }
        if let Figure::Repeat(times) = word.figure {
            repeat = Some((times, at));
            continue;
        }
        match unit(turn, at, word) {
            Some(mut unit) => {
                if let Some((times, first)) = repeat.take() {
                    unit.first = first;
                    for text in [&mut unit.letters, &mut unit.digits] {
                        if text.len() == 1 {
                            *text = text.repeat(times);
                        }
                    }
                    unit.word = false;
                }
                row.push(unit);
            }
            None if word.topic == Some(Topic::Between) => {}
            None => rows.push(std::mem::take(&mut row)),
        }
    }
    rows.push(row);
    rows
}

/// The units from `from` that are a PAN: how many there are.
fn pan_at(units: &[&Unit], asked: bool) -> Option<usize> {
    let mut at = 0;
    let take = |at: &mut usize, wanted: usize, of: fn(&Unit) -> &str| -> bool {
        let mut length = 0;
        while length < wanted {
            let Some(unit) = units.get(*at) else { return false };
            if of(unit).is_empty() {
                return false;
            }
            length += of(unit).len();
            *at += 1;
        }
        length == wanted
    };
    // What goes on before or after it is another number, such as a GSTIN.
    if units.first().is_some_and(|unit| unit.glued) {
        return None;
    }
    if !take(&mut at, 5, |unit| &unit.letters) {
        return None;
    }
    let letters = at;
    if !take(&mut at, 4, |unit| &unit.digits) || !take(&mut at, 1, |unit| &unit.letters) {
        return None;
    }
    if units.get(at).is_some_and(|unit| unit.glued) {
        return None;
    }
    let said = units.get(..letters).unwrap_or_default();
    let glued = at == 3 && units.iter().take(at).skip(1).all(|unit| unit.glued);
    (asked || glued || !said.iter().any(|unit| unit.word)).then_some(at)
}

/// PANs, each with its turn; one in several turns has a part in each.
pub fn find(read: &[Read]) -> Vec<(usize, Span)> {
    let rows: Vec<Vec<Vec<Unit>>> = read.iter().enumerate().map(|(turn, read)| rows(turn, read)).collect();
    let names: Vec<bool> = read.iter().map(|read| read.words.iter().any(|word| is_pan(&word.text))).collect();
    let named = |turn: usize| names.iter().take(turn + 1).rev().take(ASKED + 1).any(|named| *named);
    let mut found = Vec::new();
    for (turn, own) in rows.iter().enumerate() {
        for (place, row) in own.iter().enumerate() {
            let mut units: Vec<&Unit> = row.iter().collect();
            if place + 1 == own.len() {
                let later = rows.iter().enumerate().skip(turn + 1);
                let same = later.filter(|(at, _)| {
                    read.get(*at).map(|read| read.role) == read.get(turn).map(|read| read.role)
                });
                for (_, next) in same.take(TURNS) {
                    units.extend(next.first().into_iter().flatten());
                    if next.len() > 1 {
                        break;
                    }
                }
            }
            let mut from = 0;
            while from < row.len() {
                match pan_at(units.get(from..).unwrap_or_default(), named(turn)) {
                    Some(length) => {
                        spans(read, units.get(from..from + length).unwrap_or_default(), &mut found);
                        from += length;
                    }
                    None => from += 1,
                }
            }
        }
    }
    found
}

fn spans(read: &[Read], units: &[&Unit], found: &mut Vec<(usize, Span)>) {
    for part in units.chunk_by(|one, next| one.turn == next.turn) {
        let (Some(first), Some(last)) = (part.first(), part.last()) else { continue };
        let Some(words) = read.get(first.turn).map(|read| &read.words) else { continue };
        if let (Some(from), Some(to)) = (words.get(first.first), words.get(last.last)) {
            found.push((first.turn, Span { kind: Sensitive::Pan, start: from.start, end: to.end }));
        }
    }
}

/// PAN, as it is folded, in each script.
fn is_pan(word: &str) -> bool {
    const NAMES: [&str; 10] = ["pan", "पैन", "पॅन", "প্যান", "પાન", "ਪੈਨ", "ପାନ", "பான", "పాన", "ಪ್ಯಾನ"];
    NAMES.contains(&word) || word.starts_with("പാന")
}
