//! Digits that are one number: in a turn, and in several turns of one person.

use super::kinds::{Context, is_aadhaar, is_card, kind};
use super::tables::Topic;
use super::tokens::{Figure, Gap, Read, Word};
use super::{Sensitive, Span};

/// Most digits that are looked at as one number.
const MOST: usize = 64;
/// Longest number that is said in several turns, digits.
const MOST_IN_TURNS: usize = 24;
/// Most turns of a number.
const TURNS: usize = 6;
/// Farthest name of a thing before and after its number, in words.
const BEFORE: usize = 12;
const AFTER: usize = 6;
/// A name after the number counts as if it were this much farther away.
const BEHIND: usize = 2;
/// Turns back that may have asked for a number.
const ASKED: usize = 4;

/// A part of a number: a numeral or a word, with its digits.
#[derive(Debug, Clone)]
struct Piece {
    digits: String,
    /// Its first and last word.
    first: usize,
    last: usize,
    numeral: bool,
    /// How much it may be another word: see [`Figure::Word`].
    weak: u8,
    open: bool,
    dashed: bool,
}

/// Digits in a row.
#[derive(Debug, Clone, Default)]
struct Run {
    pieces: Vec<Piece>,
    counted: bool,
    glued: bool,
}

impl Run {
    fn digits(&self) -> String {
        self.pieces.iter().map(|piece| piece.digits.as_str()).collect()
    }

    fn length(&self) -> usize {
        self.pieces.iter().map(|piece| piece.digits.len()).sum()
    }

    fn first(&self) -> usize {
        self.pieces.first().map_or(0, |piece| piece.first)
    }

    fn last(&self) -> usize {
        self.pieces.last().map_or(0, |piece| piece.last)
    }

    /// A date with dashes: `26-11-2026`.
    fn is_date(&self) -> bool {
        let lengths: Vec<usize> = self.pieces.iter().map(|piece| piece.digits.len()).collect();
        let dashed = self.pieces.iter().skip(1).all(|piece| piece.dashed);
        dashed && matches!(lengths.as_slice(), [1 | 2, 1 | 2, 2 | 4] | [4, 1 | 2, 1 | 2])
    }

    /// The same without what does not fit at its ends.
    fn without(&self, drops: impl Fn(&Piece) -> bool) -> Option<Self> {
        let first = self.pieces.iter().position(|piece| !drops(piece))?;
        let last = self.pieces.iter().rposition(|piece| !drops(piece))?;
        let whole = first == 0 && last + 1 == self.pieces.len();
        (!whole).then(|| self.part(first, last + 1))
    }

    /// The ways to read it: without words at its ends that are no number (`482913 do not …`), as it is, and its
    /// numerals.
    fn readings(&self) -> Vec<Self> {
        let least = self.pieces.iter().map(|piece| piece.weak).min().unwrap_or(0);
        let sure = self.without(|piece| piece.weak > least);
        let numerals = self.without(|piece| !piece.numeral);
        sure.into_iter().chain([self.clone()]).chain(numerals).collect()
    }

    fn part(&self, from: usize, to: usize) -> Self {
        let pieces = self.pieces.get(from..to).unwrap_or_default().to_vec();
        Self { pieces, ..self.clone() }
    }
}

/// Collects the digits of a turn.
#[derive(Default)]
struct Collector {
    runs: Vec<Run>,
    open: Option<Run>,
    /// `double`, and its word.
    repeat: Option<(usize, usize)>,
    fillers: usize,
    /// An amount began: `Rs`.
    amount: bool,
}

impl Collector {
    fn close(&mut self) {
        self.runs.extend(self.open.take().filter(|run| !run.pieces.is_empty()));
        self.repeat = None;
        self.fillers = 0;
    }

    fn add(&mut self, mut piece: Piece) {
        if let Some((times, word)) = self.repeat.take()
            && piece.digits.len() == 1
        {
            piece.digits = piece.digits.repeat(times);
            piece.first = word;
        }
        let run = self.open.get_or_insert_with(Run::default);
        run.counted |= self.amount;
        self.amount = false;
        self.fillers = 0;
        match run.pieces.last_mut() {
            // `forty` and `one` are 41.
            Some(last) if last.open && !piece.numeral && piece.digits.len() == 1 && piece.digits != "0" => {
                last.digits.pop();
                last.digits.push_str(&piece.digits);
                last.last = piece.last;
                last.open = false;
            }
            _ => run.pieces.push(piece),
        }
        if run.length() >= MOST {
            self.close();
        }
    }

    fn word(&mut self, at: usize, word: &Word, before: Option<&Word>) {
        let after_numeral = before.is_some_and(|before| matches!(before.figure, Figure::Numeral(_)));
        match &word.figure {
            Figure::Numeral(digits) => {
                let beside = after_numeral && word.gap == Gap::Hard;
                if word.gap == Gap::Hard || word.money {
                    if let Some(run) = self.open.as_mut().filter(|_| beside) {
                        run.counted = true;
                    }
                    self.close();
                    self.amount = word.money || beside;
                }
                let grouped = word.gap == Gap::Mark && after_numeral && matches!(digits.len(), 2 | 3);
                self.add(Piece {
                    digits: digits.clone(),
                    first: at,
                    last: at,
                    numeral: true,
                    weak: 0,
                    open: false,
                    dashed: word.gap == Gap::Dash,
                });
                if let Some(run) = &mut self.open {
                    run.counted |= grouped;
                    let named = before.is_some_and(|before| before.topic.is_some());
                    let letters =
                        before.is_some_and(|before| matches!(before.figure, Figure::None) && !before.mark);
                    run.glued |= letters && !named && matches!(word.gap, Gap::None | Gap::Dash);
                }
            }
            Figure::Word { value, open, weak } if !(after_numeral && word.gap == Gap::None) => {
                if word.gap == Gap::Hard {
                    self.close();
                }
                self.add(Piece {
                    digits: value.to_string(),
                    first: at,
                    last: at,
                    numeral: false,
                    weak: *weak,
                    open: *open,
                    dashed: false,
                });
            }
            Figure::Repeat(times) => {
                if word.gap == Gap::Hard {
                    self.close();
                }
                self.repeat = Some((*times, at));
            }
            Figure::Amount => {
                self.amount = self.open.is_none();
                if let Some(run) = self.open.as_mut().filter(|_| word.gap != Gap::Hard) {
                    run.counted = true;
                }
                self.close();
            }
            Figure::Word { .. } | Figure::None => self.other(at, word, after_numeral),
        }
    }

    fn other(&mut self, at: usize, word: &Word, after_numeral: bool) {
        let Some(run) = &mut self.open else {
            self.amount = false;
            self.repeat = None;
            return;
        };
        if word.text == "o" && word.gap != Gap::Hard {
            return self.add(Piece {
                digits: "0".to_owned(),
                first: at,
                last: at,
                numeral: false,
                weak: 1,
                open: false,
                dashed: false,
            });
        }
        run.glued |= after_numeral && matches!(word.gap, Gap::None) && !word.mark;
        run.counted |= word.topic == Some(Topic::Unit) && word.gap != Gap::Hard;
        self.fillers += 1;
        if word.topic != Some(Topic::Between) || word.gap == Gap::Hard || self.fillers > 2 {
            self.close();
        }
    }
}

fn runs_of(read: &Read) -> Vec<Run> {
    let mut collector = Collector::default();
    let mut before = None;
    for (at, word) in read.words.iter().enumerate() {
        collector.word(at, word, before);
        before = Some(word);
    }
    collector.close();
    for run in &mut collector.runs {
        run.counted |= run.is_date();
    }
    collector.runs
}

/// A turn with its numbers.
struct Turn<'r> {
    read: &'r Read,
    runs: Vec<Run>,
}

/// A number, or the part of one that is in a turn.
#[derive(Clone, Copy)]
struct Place {
    turn: usize,
    run: usize,
}

/// Numbers in a conversation.
pub struct Chain<'r> {
    turns: Vec<Turn<'r>>,
    found: Vec<(usize, Span)>,
}

impl<'r> Chain<'r> {
    /// What must not be kept, with its turn.
    pub fn find(read: &'r [Read]) -> Vec<(usize, Span)> {
        let turns = read.iter().map(|read| Turn { read, runs: runs_of(read) }).collect();
        let mut chain = Self { turns, found: Vec::new() };
        let mut done: Vec<(usize, usize)> = Vec::new();
        for turn in 0..chain.turns.len() {
            for run in 0..chain.turns.get(turn).map_or(0, |turn| turn.runs.len()) {
                if done.contains(&(turn, run)) {
                    continue;
                }
                let links = chain.links(Place { turn, run });
                let taken = (2..=links.len())
                    .rev()
                    .find(|length| links.get(..*length).is_some_and(|links| chain.joined(links)));
                match taken {
                    Some(length) => {
                        done.extend(links.iter().take(length).map(|place| (place.turn, place.run)));
                    }
                    None => chain.alone(Place { turn, run }),
                }
            }
        }
        chain.found
    }

    fn run(&self, place: Place) -> Option<&Run> {
        self.turns.get(place.turn)?.runs.get(place.run)
    }

    /// The number that begins here, with what follows in later turns of the same person.
    fn links(&self, from: Place) -> Vec<Place> {
        let mut links = vec![from];
        let mut length = self.run(from).map_or(0, Run::length);
        let mut last = from;
        while links.len() < TURNS {
            let Some(next) = self.next_of(last) else { break };
            length += self.run(next).map_or(0, Run::length);
            if length > MOST_IN_TURNS {
                break;
            }
            links.push(next);
            last = next;
        }
        links
    }

    /// What continues a number that ends its turn: the one that begins the next turn of the same person, if nothing else
    /// was asked for meanwhile.
    fn next_of(&self, place: Place) -> Option<Place> {
        let turn = self.turns.get(place.turn)?;
        let run = self.run(place)?;
        let ends = place.run + 1 == turn.runs.len()
            && self.is_aside(turn.read, run.last() + 1..turn.read.words.len(), 1);
        if !ends || run.counted || run.glued {
            return None;
        }
        for (at, next) in self.turns.iter().enumerate().skip(place.turn + 1) {
            if next.read.role != turn.read.role {
                if next.read.words.iter().any(|word| matches!(word.topic, Some(topic) if is_thing(topic))) {
                    return None;
                }
                continue;
            }
            let first = next.runs.first()?;
            let begins = self.is_aside(next.read, 0..first.first(), 2) && !first.counted && !first.glued;
            return begins.then_some(Place { turn: at, run: 0 });
        }
        None
    }

    /// Whether these words are few and say nothing about numbers.
    fn is_aside(&self, read: &Read, range: std::ops::Range<usize>, most: usize) -> bool {
        let words = read.words.get(range).unwrap_or_default();
        words.len() <= most
            && words.iter().all(|word| !matches!(word.topic, Some(topic) if is_thing(topic)) && !word.mark)
    }

    /// Whether the parts are one number; they are found then.
    fn joined(&mut self, links: &[Place]) -> bool {
        let runs: Vec<Run> = links.iter().filter_map(|place| self.run(*place).cloned()).collect();
        let digits: String = runs.iter().map(Run::digits).collect();
        let (Some(first), Some(last)) = (links.first(), links.last()) else { return false };
        let context = runs.first().and_then(|run| self.context(*first, run));
        let Some(mut context) = context else { return false };
        if let Some(read) = self.turns.get(last.turn).map(|turn| turn.read)
            && let Some(run) = runs.last()
        {
            context.near.extend(after(read, run));
            context.near.sort_by_key(|(_, far)| *far);
        }
        context.plain = true;
        let Some(kind) = kind(&digits, &context) else { return false };
        for (place, run) in links.iter().zip(&runs) {
            self.mark(place.turn, run, kind);
        }
        true
    }

    /// Finds what must not be kept in one number.
    fn alone(&mut self, place: Place) {
        let Some(run) = self.run(place).cloned() else { return };
        self.whole_or_parts(place, &run);
    }

    fn whole_or_parts(&mut self, place: Place, run: &Run) {
        if run.pieces.is_empty() {
            return;
        }
        let Some(context) = self.context(place, run) else { return };
        let mut found: Option<(Run, Sensitive)> = None;
        for run in run.readings() {
            let Some(context) = self.context(place, &run) else { return };
            let digits = run.digits();
            let checked = is_card(&digits) || is_aadhaar(&digits);
            if let Some(kind) = kind(&digits, &context)
                && (checked || found.is_none())
            {
                found = Some((run, kind));
                if checked {
                    break;
                }
            }
        }
        if let Some((run, kind)) = found {
            return self.mark(place.turn, &run, kind);
        }
        let asks = |topic| context.asked.contains(&topic) || context.near.iter().any(|near| near.0 == topic);
        if run.length() > 13
            && let Some((from, to)) = card_in(run)
            && (!context.glued || asks(Topic::Card))
        {
            self.mark(place.turn, &run.part(from, to), Sensitive::Card);
            self.whole_or_parts(place, &run.part(0, from));
            return self.whole_or_parts(place, &run.part(to, run.pieces.len()));
        }
        // `12 26 123`: the security code comes last.
        if asks(Topic::Cvv) && !run.counted && run.length() > 4 {
            let mut length = 0;
            let from = run.pieces.iter().rposition(|piece| {
                length += piece.digits.len();
                length >= 3
            });
            if let Some(from) = from.filter(|_| length == 3) {
                self.mark(place.turn, &run.part(from, run.pieces.len()), Sensitive::Cvv);
            }
        }
    }

    fn mark(&mut self, turn: usize, run: &Run, kind: Sensitive) {
        let Some(words) = self.turns.get(turn).map(|turn| &turn.read.words) else { return };
        if let (Some(first), Some(last)) = (words.get(run.first()), words.get(run.last())) {
            self.found.push((turn, Span { kind, start: first.start, end: last.end }));
        }
    }

    fn context(&self, place: Place, run: &Run) -> Option<Context> {
        let turn = self.turns.get(place.turn)?;
        let words = turn.read.words.len();
        let mut near = before(turn, place.run, run);
        near.extend(after(turn.read, run));
        near.sort_by_key(|(_, far)| *far);
        let spoken = run.last() + 1 - run.first();
        let long = run.pieces.iter().all(|piece| piece.numeral && piece.digits.len() > 2);
        let single = run.pieces.iter().all(|piece| piece.digits.len() == 1 || piece.last > piece.first);
        Some(Context {
            near,
            asked: self.asked(place.turn),
            alone: words - spoken <= 3,
            plain: run.pieces.len() != 2 || single || long,
            counted: run.counted,
            glued: run.glued,
        })
    }

    /// What was asked for before a turn.
    fn asked(&self, turn: usize) -> Vec<Topic> {
        for at in (turn.saturating_sub(ASKED)..turn).rev() {
            let Some(read) = self.turns.get(at).map(|turn| turn.read) else { continue };
            let topics: Vec<Topic> = read
                .words
                .iter()
                .filter(|word| !word.inside)
                .filter_map(|word| word.topic)
                .filter(|topic| is_thing(*topic))
                .collect();
            if !topics.is_empty() {
                return topics;
            }
        }
        Vec::new()
    }
}

const fn is_thing(topic: Topic) -> bool {
    !matches!(topic, Topic::Unit | Topic::Between)
}

/// What the turn says before a number. The label of another number is not its own.
fn before(turn: &Turn<'_>, at: usize, run: &Run) -> Vec<(Topic, usize)> {
    let first = run.first();
    let behind = at.checked_sub(1).and_then(|at| turn.runs.get(at)).map(Run::last);
    let words = turn.read.words.iter().enumerate().take(first).skip(first.saturating_sub(BEFORE));
    words
        .filter(|(_, word)| !word.inside)
        .filter_map(|(place, word)| {
            let topic = word.topic.filter(|topic| is_thing(*topic))?;
            let taken = behind.is_some_and(|last| place < last);
            let label = matches!(topic, Topic::Other | Topic::Id | Topic::Phone);
            let length = turn.read.words.iter().skip(place + 1).take_while(|word| word.inside).count();
            (!(taken && label)).then_some((topic, first - place - length))
        })
        .collect()
}

/// What the turn says after a number, up to the next one.
fn after(read: &Read, run: &Run) -> Vec<(Topic, usize)> {
    let words = read.words.iter().enumerate().skip(run.last() + 1).take(AFTER);
    words
        .take_while(|(_, word)| !matches!(word.figure, Figure::Numeral(_) | Figure::Word { weak: 0, .. }))
        .filter(|(_, word)| !word.inside)
        .filter_map(|(place, word)| {
            let topic = word.topic.filter(|topic| is_thing(*topic))?;
            Some((topic, place - run.last() + BEHIND))
        })
        .collect()
}

/// The pieces of a longer number that are a card's.
fn card_in(run: &Run) -> Option<(usize, usize)> {
    for wanted in [16, 15] {
        for from in 0..run.pieces.len() {
            let mut digits = String::new();
            for (to, piece) in run.pieces.iter().enumerate().skip(from) {
                digits.push_str(&piece.digits);
                if digits.len() >= wanted {
                    if digits.len() == wanted && is_card(&digits) {
                        return Some((from, to + 1));
                    }
                    break;
                }
            }
        }
    }
    None
}
