//! The words of dates and times, from `languages/<code>/dates.toml`, and what somebody says as a row of them.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use serde::Deserialize;
use unicode_normalization::UnicodeNormalization;

use super::calendar::{Date, Time};
use super::fold;
use super::numbers;
use super::numbers::Token as NumberToken;
use super::table::Meaning;
use crate::language::folders::{files, parsed};
use crate::words::plain_digit;

/// Most words that are read; a longer text is not an answer with a date or a time.
const MAX_WORDS: usize = 40;
/// Most words of a phrase in a table.
const MAX_PHRASE: usize = 5;
/// Letters of the shortest Latin word that is known by its sounds.
const SOUNDED: usize = 4;

/// The tables, by language.
pub const SOURCES: [(&str, &str); 11] = files!("dates.toml");

/// The days of a week as the tables name them, Monday first.
pub const WEEKDAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/// A table as it is written. `_` joins the words of a phrase.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Written {
    /// The first word of each is how it is read back.
    pub weekdays: BTreeMap<String, String>,
    /// By number; the first word of each is how it is read back.
    pub months: BTreeMap<String, String>,
    /// By distance from today: `+1`, `-2`, and `1` for both tomorrow and yesterday.
    pub days: BTreeMap<String, String>,
    pub parts: Parts,
    pub words: Words,
    /// How dates and times are read back.
    pub say: Say,
    /// Endings of numbers that mean `o'clock` or a day of the month (`is`).
    #[serde(default)]
    pub endings: Vec<Ending>,
    /// Case endings of the words above.
    #[serde(default)]
    pub suffixes: String,
    /// English words as they are spelled in Indian scripts, by the row that they belong to.
    #[serde(default)]
    pub spoken: BTreeMap<String, String>,
}

/// Parts of the day; the first word of the first four is how it is read back.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parts {
    pub morning: String,
    pub afternoon: String,
    pub evening: String,
    pub night: String,
    /// 12:00 by itself.
    pub noon: String,
    /// 00:00 by itself.
    pub midnight: String,
    pub am: String,
    pub pm: String,
}

/// The other words.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Words {
    pub next: String,
    pub coming: String,
    pub this: String,
    pub last: String,
    pub day: String,
    pub week: String,
    pub month: String,
    pub hour: String,
    pub minute: String,
    pub half_hour: String,
    /// After so long, from now: `baad`.
    pub after: String,
    /// In so long, which may also mean within it: `mein`.
    #[serde(rename = "in")]
    pub within: String,
    pub ago: String,
    pub oclock: String,
    /// The day of a month: `tareekh`, the `th` of `5th`.
    pub date: String,
    /// Words of a past: they decide what `kal` is.
    pub past: String,
    /// Words of a future.
    pub future: String,
    pub half_past: String,
    pub quarter_past: String,
    pub quarter_to: String,
    /// Between minutes and an hour.
    pub past_hour: String,
    pub to_hour: String,
    /// `a week`, `an hour`.
    pub article: String,
    /// Months that count only beside a number, as their words mean something else too.
    pub weak: String,
    pub carriers: String,
    pub refuses: String,
    pub corrects: String,
    /// Days of the month by a word of their own, 1 to 31 in order; phrases that mean the same are parted by `/`.
    pub ordinals: Vec<String>,
}

/// How a date and a time are read back.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Say {
    pub date: String,
    pub time: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ending {
    pub drop: String,
    pub add: String,
    pub is: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Morning,
    Afternoon,
    Evening,
    Night,
    Am,
    Pm,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Day,
    Week,
    Month,
    Hour,
    Minute,
}

/// A word, or a number.
#[derive(Debug, Clone, PartialEq)]
pub enum Token {
    /// 0 for Monday.
    Weekday(i64),
    Month(i64),
    /// So many days from today; `either` of the two directions.
    Day {
        days: i64,
        either: bool,
    },
    Part(Part),
    Noon,
    Midnight,
    Next,
    Coming,
    This,
    Last,
    Unit(Unit),
    HalfHour,
    After,
    Within,
    Ago,
    Oclock,
    DateWord,
    Past,
    Future,
    HalfPast,
    QuarterPast,
    QuarterTo,
    PastHour,
    ToHour,
    Article,
    /// A number; `raw` if it was written in digits.
    Number {
        text: String,
        raw: bool,
    },
    /// A day of the month by a word of its own.
    Ordinal(usize),
    /// `17:30`; `sure` if it can only be the time of a 24-hour clock.
    Clock {
        time: Time,
        sure: bool,
    },
    /// A whole date in digits; day and month alone have no year.
    Full(Date),
    DayMonth(i64, i64),
    Carrier,
    Refuses,
    Corrects,
    Unknown,
}

/// The words of one language.
pub struct Table {
    code: &'static str,
    words: HashMap<String, Token>,
    sounds: HashMap<String, Option<Token>>,
    /// English words in Indian scripts, by their sounds.
    english: HashMap<String, Token>,
    weak: Vec<String>,
    endings: Vec<(String, String, Token)>,
    suffixes: Vec<String>,
    /// What is read back: weekdays, months, morning to night, the forms of dates and times.
    weekdays: Vec<String>,
    months: Vec<String>,
    parts: Vec<String>,
    say: Say,
}

static TABLES: LazyLock<HashMap<&'static str, Table>> = LazyLock::new(|| {
    SOURCES
        .iter()
        .map(|(code, source)| {
            let file = parsed(code, "dates.toml", source);
            (*code, Table::of(code, file))
        })
        .collect()
});

fn first(words: &str) -> String {
    words.split_whitespace().next().unwrap_or_default().replace('_', " ")
}

impl Table {
    fn of(code: &'static str, written: Written) -> Self {
        let mut rows: Vec<(String, Token, String)> = Vec::new();
        for (name, words) in &written.weekdays {
            let at = WEEKDAYS.iter().position(|day| day == name).unwrap_or_default();
            rows.push((name.clone(), Token::Weekday(at as i64), words.clone()));
        }
        for (name, words) in &written.months {
            rows.push((name.clone(), Token::Month(name.parse().unwrap_or_default()), words.clone()));
        }
        for (name, words) in &written.days {
            let either = !name.starts_with(['+', '-', '0']);
            let days = name.parse().unwrap_or_default();
            rows.push((name.clone(), Token::Day { days, either }, words.clone()));
        }
        let weekdays = WEEKDAYS.iter().filter_map(|day| written.weekdays.get(*day));
        let weekdays = weekdays.map(|words| first(words)).collect();
        let months = (1..=12).filter_map(|month| written.months.get(&month.to_string()));
        let months = months.map(|words| first(words)).collect();
        let parts = [&written.parts.morning, &written.parts.afternoon, &written.parts.evening];
        let parts = parts.into_iter().chain([&written.parts.night]).map(|words| first(words)).collect();
        rows.extend(written.named());
        let mut table = Self {
            code,
            words: HashMap::new(),
            sounds: HashMap::new(),
            english: HashMap::new(),
            weak: written.words.weak.split_whitespace().map(fold::letters).collect(),
            endings: Vec::new(),
            suffixes: written.suffixes.split_whitespace().map(str::to_owned).collect(),
            weekdays,
            months,
            parts,
            say: written.say,
        };
        table.suffixes.sort_by_key(|suffix| std::cmp::Reverse(suffix.len()));
        for ending in written.endings {
            let is = if ending.is == "oclock" { Token::Oclock } else { Token::DateWord };
            table.endings.push((ending.drop, ending.add, is));
        }
        for (name, words) in &written.spoken {
            let Some((_, token, _)) = rows.iter().find(|(row, _, _)| row == name) else { continue };
            for word in words.split_whitespace() {
                table.english.insert(fold::english_sounds(word), token.clone());
            }
        }
        for (_, token, words) in rows {
            words.split_whitespace().for_each(|word| table.add(word, &token));
        }
        for (at, words) in written.words.ordinals.iter().enumerate() {
            let token = Token::Ordinal(at + 1);
            words.split('/').for_each(|word| table.add(word, &token));
        }
        table
    }

    fn add(&mut self, word: &str, token: &Token) {
        let folded: Vec<String> = word.split('_').map(fold::letters).collect();
        let folded = folded.join(" ");
        if !fold::native(word) && word.len() >= SOUNDED && self.code != "en" && !word.contains('_') {
            let known = self.sounds.entry(fold::latin_sounds(&folded, self.code));
            let known = known.or_insert_with(|| Some(token.clone()));
            if known.as_ref().is_some_and(|known| known != token) {
                *known = None;
            }
        }
        self.words.entry(folded).or_insert_with(|| token.clone());
    }

    fn exact(&self, phrase: &str) -> Option<&Token> {
        self.words.get(phrase)
    }

    /// The word without its case ending.
    fn stem(&self, word: &str) -> Option<&Token> {
        let stems = self.suffixes.iter().filter_map(|suffix| word.strip_suffix(suffix.as_str()));
        stems.filter(|stem| stem.chars().count() > 2).find_map(|stem| self.words.get(&fold::letters(stem)))
    }

    /// The word of a number without the ending that says what it counts: `পাঁচটায়`.
    fn ended(&self, word: &str, language: &str) -> Option<(String, Token)> {
        self.endings.iter().find_map(|(drop, add, is)| {
            let stem = word.strip_suffix(drop.as_str()).filter(|stem| !stem.is_empty())?;
            let number = format!("{stem}{add}");
            is_number(&number, language).then(|| (number, is.clone()))
        })
    }

    /// The date as it is read back.
    pub fn date(&self, date: Date) -> String {
        let (year, month, day) = date.parts();
        let name = |names: &[String], at: i64| {
            usize::try_from(at).ok().and_then(|at| names.get(at)).cloned().unwrap_or_default()
        };
        self.say
            .date
            .replace("{weekday}", &name(&self.weekdays, date.weekday()))
            .replace("{day}", &day.to_string())
            .replace("{month}", &name(&self.months, month - 1))
            .replace("{year}", &year.to_string())
    }

    /// The time as it is read back.
    pub fn time(&self, time: Time) -> String {
        let (hour, minute) = time.parts();
        let part = match hour {
            4..=11 => 0,
            12..=15 => 1,
            16..=19 => 2,
            _ => 3,
        };
        let twelve = if hour % 12 == 0 { 12 } else { hour % 12 };
        let clock = if minute == 0 { twelve.to_string() } else { format!("{twelve}:{minute:02}") };
        let part = self.parts.get(part).map_or("", String::as_str);
        self.say.time.replace("{part}", part).replace("{time}", &clock)
    }
}

impl Written {
    fn named(&self) -> Vec<(String, Token, String)> {
        let (parts, words) = (&self.parts, &self.words);
        let rows = [
            ("morning", Token::Part(Part::Morning), &parts.morning),
            ("afternoon", Token::Part(Part::Afternoon), &parts.afternoon),
            ("evening", Token::Part(Part::Evening), &parts.evening),
            ("night", Token::Part(Part::Night), &parts.night),
            ("noon", Token::Noon, &parts.noon),
            ("midnight", Token::Midnight, &parts.midnight),
            ("am", Token::Part(Part::Am), &parts.am),
            ("pm", Token::Part(Part::Pm), &parts.pm),
            ("next", Token::Next, &words.next),
            ("coming", Token::Coming, &words.coming),
            ("this", Token::This, &words.this),
            ("last", Token::Last, &words.last),
            ("day", Token::Unit(Unit::Day), &words.day),
            ("week", Token::Unit(Unit::Week), &words.week),
            ("month", Token::Unit(Unit::Month), &words.month),
            ("hour", Token::Unit(Unit::Hour), &words.hour),
            ("minute", Token::Unit(Unit::Minute), &words.minute),
            ("half_hour", Token::HalfHour, &words.half_hour),
            ("after", Token::After, &words.after),
            ("in", Token::Within, &words.within),
            ("ago", Token::Ago, &words.ago),
            ("oclock", Token::Oclock, &words.oclock),
            ("date", Token::DateWord, &words.date),
            ("past", Token::Past, &words.past),
            ("future", Token::Future, &words.future),
            ("half_past", Token::HalfPast, &words.half_past),
            ("quarter_past", Token::QuarterPast, &words.quarter_past),
            ("quarter_to", Token::QuarterTo, &words.quarter_to),
            ("past_hour", Token::PastHour, &words.past_hour),
            ("to_hour", Token::ToHour, &words.to_hour),
            ("article", Token::Article, &words.article),
            ("refuses", Token::Refuses, &words.refuses),
            ("corrects", Token::Corrects, &words.corrects),
            ("carriers", Token::Carrier, &words.carriers),
        ];
        rows.into_iter().map(|(name, token, words)| (name.to_owned(), token, words.clone())).collect()
    }
}

/// The table of a language; English if it has none.
pub fn table(language: &str) -> Option<&'static Table> {
    TABLES.get(language).or_else(|| TABLES.get("en"))
}

/// What the words are, in order, the corrected part only (`tomorrow, no, Monday`); `None` when they are none, too
/// many, or say more than is understood.
pub fn lex(heard: &str, language: &str, label: &str) -> Option<Vec<Token>> {
    let words = split(heard);
    if words.is_empty() || words.len() > MAX_WORDS {
        return None;
    }
    let label: Vec<String> = split(label).iter().map(|word| fold::letters(word)).collect();
    let tokens = tokens(&words, language, &label);
    let tokens = corrected(tokens)?;
    if tokens.contains(&Token::Refuses) {
        return None;
    }
    let tells =
        |token: &Token| !matches!(token, Token::Carrier | Token::Unknown | Token::Past | Token::Future);
    let beside = |at: usize| tokens.get(at).is_some_and(tells);
    let unknown = tokens.iter().enumerate().any(|(at, token)| {
        *token == Token::Unknown && (beside(at + 1) || at.checked_sub(1).is_some_and(beside))
    });
    if unknown {
        return None;
    }
    Some(tokens.into_iter().filter(|token| !matches!(token, Token::Carrier | Token::Unknown)).collect())
}

/// Whether a label asks for a past date (`Date of birth`) or a future one; `None` for neither or both.
pub fn tense(text: &str, language: &str) -> Option<bool> {
    let words: Vec<String> = split(&text.replace(['_', '-'], " "));
    tense_of(&tokens(&words, language, &[]))
}

/// `true` for a future, `false` for a past.
pub fn tense_of(tokens: &[Token]) -> Option<bool> {
    let past = tokens.iter().any(|token| matches!(token, Token::Past | Token::Last));
    let future = tokens.iter().any(|token| matches!(token, Token::Future | Token::Next | Token::Coming));
    (past != future).then_some(future)
}

fn corrected(tokens: Vec<Token>) -> Option<Vec<Token>> {
    let Some(at) = tokens.iter().rposition(|token| *token == Token::Corrects) else { return Some(tokens) };
    let (said, rest) = (&tokens[..at], &tokens[at + 1..]);
    let tells =
        |token: &Token| !matches!(token, Token::Carrier | Token::Unknown | Token::Past | Token::Future);
    let clean = said.iter().all(|token| !matches!(token, Token::Refuses | Token::Unknown));
    (clean && rest.iter().any(tells)).then(|| rest.to_vec())
}

fn tokens(words: &[String], language: &str, label: &[String]) -> Vec<Token> {
    let tables: Vec<&Table> = {
        let mut codes = vec![language, "en", "hi"];
        codes.dedup();
        codes.into_iter().filter_map(|code| TABLES.get(code)).collect()
    };
    let mut out = Vec::new();
    let mut at = 0;
    while at < words.len() {
        if let Some((token, length)) = phrase(&words[at..], &tables) {
            if let Token::Ordinal(day) = token {
                out.extend([Token::Number { text: day.to_string(), raw: false }, Token::DateWord]);
            } else {
                out.push(token);
            }
            at += length;
        } else if let Some(written) = written_token(&words[at]) {
            out.push(written);
            at += 1;
        } else if is_number(&words[at], language) {
            let run = words[at..]
                .iter()
                .take_while(|word| {
                    is_number(word, language)
                        && phrase(std::slice::from_ref(*word), &tables).is_none()
                        && written_token(word).is_none()
                })
                .count()
                .max(1);
            let mut number = words[at..at + run].to_vec();
            let last =
                words.get(at + run).filter(|word| phrase(std::slice::from_ref(*word), &tables).is_none());
            let last = last.and_then(|word| ended(word, language, &tables));
            let counted = last.map(|(last, is)| {
                number.push(last);
                is
            });
            out.extend(read_run(&number, language));
            at += number.len();
            out.extend(counted);
        } else {
            out.extend(single(&words[at], language, &tables, label));
            at += 1;
        }
    }
    later(weak(out))
}

/// Behind a count, `last` means `after`: in Malayalam one word is both.
fn later(mut tokens: Vec<Token>) -> Vec<Token> {
    for at in 1..tokens.len() {
        let counted = match (&tokens[at - 1], at.checked_sub(2).and_then(|before| tokens.get(before))) {
            (Token::HalfHour, _) => true,
            (Token::Unit(_), before) => matches!(before, Some(Token::Number { .. })),
            _ => false,
        };
        if tokens[at] == Token::Last && counted {
            tokens[at] = Token::After;
        }
    }
    tokens
}

/// The longest phrase of the tables that begins here.
fn phrase(words: &[String], tables: &[&Table]) -> Option<(Token, usize)> {
    let folded: Vec<String> = words.iter().take(MAX_PHRASE).map(|word| fold::letters(word)).collect();
    (1..=folded.len()).rev().find_map(|length| {
        let phrase = folded.get(..length)?.join(" ");
        let found = tables.iter().find_map(|table| {
            let token = table.exact(&phrase)?;
            let weak = length == 1 && table.weak.contains(&phrase);
            Some(if weak && matches!(token, Token::Month(_)) { weak_month(token) } else { token.clone() })
        });
        found.map(|token| (token, length))
    })
}

/// A month that counts only beside a number: kept with a negative sign until its neighbours are known.
fn weak_month(token: &Token) -> Token {
    match token {
        Token::Month(month) => Token::Month(-month),
        other => other.clone(),
    }
}

fn weak(mut tokens: Vec<Token>) -> Vec<Token> {
    let number = |token: Option<&Token>| matches!(token, Some(Token::Number { .. } | Token::DateWord));
    for at in 0..tokens.len() {
        if let Token::Month(month @ ..=-1) = tokens[at] {
            let beside = number(tokens.get(at + 1)) || at > 0 && number(tokens.get(at - 1));
            tokens[at] = if beside { Token::Month(-month) } else { Token::Carrier };
        }
    }
    tokens
}

fn single(word: &str, language: &str, tables: &[&Table], label: &[String]) -> Vec<Token> {
    let folded = fold::letters(word);
    let native = fold::native(word);
    let composed: String = word.nfc().collect();
    if let Some(token) = tables.iter().find_map(|table| table.stem(&composed)) {
        return vec![token.clone()];
    }
    if let Some((number, is)) = ended(word, language, tables) {
        return read_run(&[number], language).into_iter().chain([is]).collect();
    }
    match numbers::known(word, language) {
        Some(Meaning::Refuses) => return vec![Token::Refuses],
        Some(Meaning::Corrects) => return vec![Token::Corrects],
        Some(Meaning::Carrier { .. }) => return vec![Token::Carrier],
        Some(Meaning::Number(_)) | None => {}
    }
    if label.contains(&folded) {
        return vec![Token::Carrier];
    }
    let sounding = if native {
        tables.iter().find_map(|table| table.english.get(&fold::english_sounds(word)))
    } else if word.len() >= SOUNDED {
        tables.first().and_then(|own| own.sounds.get(&fold::latin_sounds(&folded, own.code))?.as_ref())
    } else {
        None
    };
    vec![sounding.cloned().unwrap_or(Token::Unknown)]
}

fn ended(word: &str, language: &str, tables: &[&Table]) -> Option<(String, Token)> {
    if is_number(word, language) {
        return None;
    }
    let composed: String = word.nfc().collect();
    tables.iter().find_map(|table| table.ended(&composed, language))
}

fn is_number(word: &str, language: &str) -> bool {
    match numbers::known(word, language) {
        Some(Meaning::Number(tokens)) => tokens.iter().all(|token| {
            matches!(
                token,
                NumberToken::Digits(_)
                    | NumberToken::Number { .. }
                    | NumberToken::Scale(_)
                    | NumberToken::Before(_)
                    | NumberToken::After(_)
                    | NumberToken::Mixed(_)
                    | NumberToken::Repeat(_)
            )
        }),
        _ => false,
    }
}

/// The number, or the two numbers (`five thirty`, `26 2026`), that the words are.
fn read_run(words: &[String], language: &str) -> Vec<Token> {
    let raw = words.iter().all(|word| word.starts_with(|letter: char| letter.is_ascii_digit()));
    let read = |words: &[String]| numbers::read(&words.join(" "), language, "");
    let number = |text: String| Token::Number { text, raw };
    if raw && words.len() > 1 {
        return words.iter().map(|word| number(word.clone())).collect();
    }
    if let Some(text) = read(words) {
        return vec![number(text)];
    }
    let mut splits = (1..words.len()).filter_map(|at| Some((read(&words[..at])?, read(&words[at..])?)));
    match (splits.next(), splits.next()) {
        (Some((first, second)), None) => vec![number(first), number(second)],
        _ => vec![Token::Refuses],
    }
}

/// The words, in lower case, with digits apart from letters, without points and apostrophes inside of words.
fn split(heard: &str) -> Vec<String> {
    let text: String = heard.nfkc().flat_map(char::to_lowercase).map(plain_digit).collect();
    let text = text.replace("a.m", "am").replace("p.m", "pm");
    let mut words = Vec::new();
    for piece in text.split(|letter: char| letter.is_whitespace() || ",;!?()\"।॥“”…[]{}|*_".contains(letter))
    {
        let piece = piece.trim_matches(|letter: char| ".:/-–—'’".contains(letter));
        if written_token(piece).is_some() || is_written(piece) {
            words.push(piece.to_owned());
            continue;
        }
        let mut word = String::new();
        for letter in piece.chars() {
            let digits = word.ends_with(|last: char| last.is_ascii_digit() || ".:/-".contains(last));
            let inner = letter.is_ascii_digit() || (digits && ".:/-–".contains(letter));
            if "'’‘`.\u{200b}\u{200c}\u{200d}\u{feff}".contains(letter) && !inner {
                continue;
            }
            let parts = "-/–—&+:".contains(letter) && !inner;
            if !word.is_empty() && (digits != inner || parts) {
                words.push(std::mem::take(&mut word));
            }
            if !parts {
                word.push(letter);
            }
        }
        if !word.is_empty() {
            words.push(word);
        }
    }
    words
        .into_iter()
        .map(|word| word.trim_matches(|letter: char| ".:/-–".contains(letter)).to_owned())
        .filter(|word| !word.is_empty())
        .collect()
}

fn is_written(piece: &str) -> bool {
    piece.starts_with(|letter: char| letter.is_ascii_digit())
        && piece.chars().all(|letter| letter.is_ascii_digit() || ".:/-–".contains(letter))
}

/// A date or time in digits. Digits that are neither refuse.
fn written_token(word: &str) -> Option<Token> {
    if !is_written(word) || word.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let separators: Vec<char> = word.chars().filter(|letter| !letter.is_ascii_digit()).collect();
    let parts: Vec<&str> = word.split(|letter: char| !letter.is_ascii_digit()).collect();
    let numbers: Vec<i64> = parts.iter().filter_map(|part| part.parse().ok()).collect();
    let read = match (separators.as_slice(), numbers.as_slice()) {
        ([':'], [hour, minute]) | ([':', ':'], [hour, minute, _]) if parts[1].len() == 2 => {
            Time::new(*hour, *minute)
                .map(|time| Token::Clock { time, sure: *hour > 12 || parts[0].starts_with('0') })
        }
        (['.'], [_, _]) if parts.iter().all(|part| part.len() <= 2) => {
            return Some(Token::Number { text: word.to_owned(), raw: true });
        }
        (['/'], [day, month]) if Date::new(2024, *month, *day).is_some() => {
            Some(Token::DayMonth(*day, *month))
        }
        (['-', '-'], [year, month, day]) if parts[0].len() == 4 => {
            Date::new(*year, *month, *day).map(Token::Full)
        }
        ([first @ ('/' | '-' | '.'), second], [day, month, year]) if first == second => {
            let year = match parts[2].len() {
                4 => *year,
                2 => 2000 + year - if *year > 40 { 100 } else { 0 },
                _ => return Some(Token::Refuses),
            };
            Date::new(year, *month, *day).map(Token::Full)
        }
        _ => None,
    };
    Some(read.unwrap_or(Token::Refuses))
}
