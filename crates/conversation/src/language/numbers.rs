//! Reads the number that somebody says: `42`, `forty two`, `सवा दो लाख`, `25 হাজার`, `nine double eight two`.
//!
//! Nothing is guessed. A word that the tables do not know beside a number, a second number, a unit of time, a
//! range or an `or` leaves the question open, and it is asked again.

use std::sync::Arc;

use unicode_normalization::UnicodeNormalization;

use super::fold;
use super::table::{Meaning, Table, table};
use crate::words::plain_digit;

/// Longest number, in digits.
const MAX_DIGITS: usize = 40;
/// Most words that are read; a longer text is not an answer with a number.
const MAX_WORDS: usize = 80;
/// Amounts are counted in millionths, so that `2.5 lakh` is exact.
const ONE: u128 = 1_000_000;
const CRORE: u64 = 10_000_000;

/// A part of a number.
#[derive(Debug, Clone, PartialEq)]
pub enum Token {
    Digits(String),
    /// 0 to 99; a unit may follow an `open` one.
    Number {
        value: u8,
        open: bool,
    },
    /// Hundred, thousand, lakh, …
    Scale(u64),
    /// Added to the number after it, in hundredths: सवा, साढ़े, पौने.
    Before(i64),
    /// Added to the number before it, in hundredths: `… and a half`.
    After(u64),
    /// A number of hundredths: डेढ़, ढाई.
    Mixed(u64),
    /// `half`, `quarter`, in hundredths.
    Part(u64),
    /// `a`, which is 1 only before a scale.
    Article,
    /// `double`, `triple`.
    Repeat(usize),
    Point,
    And,
    Minus,
    Rupees,
    Paise,
}

#[derive(Debug, Clone, PartialEq)]
enum Item {
    Token {
        token: Token,
        weak: bool,
    },
    /// A word that may stand beside a number; `neutral` ones also beside a word that is a number only in
    /// another language.
    Carrier {
        neutral: bool,
    },
    Refuses,
    Corrects,
    Unknown,
}

/// The number in `heard`, to a customer whose agent speaks `language`; the words of `label` may stand beside
/// it. `None` when there is no number, more than one, or one that may not be meant.
pub fn read(heard: &str, language: &str, label: &str) -> Option<String> {
    let mut words = split(heard)?;
    // "I am 42" is not "42 am".
    if let Some(at) = words.windows(2).position(|pair| pair == ["i", "am"]) {
        words.remove(at);
        words[at] = "im".to_owned();
    }
    if words.is_empty() || words.len() > MAX_WORDS {
        return None;
    }
    let label: Vec<String> =
        split(label).unwrap_or_default().iter().map(|word| fold::letters(word)).collect();
    let tables = tables(language);
    let items: Vec<Item> = words.iter().flat_map(|word| meaning(word, &tables, &label)).collect();
    number(joined(items))
}

/// The digits in `heard`, said one by one or in groups, as of a telephone number: no amount (`nine lakh`), point or
/// currency.
pub fn read_digits(heard: &str, language: &str, label: &str) -> Option<String> {
    let counts = |token: &Token| {
        !matches!(token, Token::Digits(_) | Token::Number { .. } | Token::Repeat(_) | Token::And)
    };
    let amount = split(heard)?.iter().any(|word| match known(word, language) {
        Some(Meaning::Number(tokens)) => tokens.iter().any(counts),
        _ => false,
    });
    if amount {
        return None;
    }
    read(heard, language, label).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
}

/// What the tables of numbers say of a word, in the language, English or Hindi.
pub fn known(word: &str, language: &str) -> Option<Meaning> {
    let items = meaning(word, &tables(language), &[]);
    let tokens = items.iter().filter_map(|item| match item {
        Item::Token { token, .. } => Some(token.clone()),
        _ => None,
    });
    match items.first()? {
        Item::Token { .. } => Some(Meaning::Number(tokens.collect())),
        Item::Carrier { neutral } => Some(Meaning::Carrier { neutral: *neutral }),
        Item::Refuses => Some(Meaning::Refuses),
        Item::Corrects => Some(Meaning::Corrects),
        Item::Unknown => None,
    }
}

/// The tokens of a word (folded by [`fold::letters`]) that the language lists as a number.
pub fn exact_tokens(folded: &str, code: &str) -> Option<Arc<[Token]>> {
    match table(code)?.exact(folded)? {
        Meaning::Number(tokens) => Some(tokens.clone()),
        Meaning::Carrier { .. } | Meaning::Refuses | Meaning::Corrects => None,
    }
}

/// The tokens of a word that is a number of the language or sounds like one; an English one in an Indian script, too.
/// `plain` is the word in lower case, `folded` its [`fold::letters`].
pub fn tokens_of(folded: &str, plain: &str, code: &str) -> Option<Arc<[Token]>> {
    let own = table(code)?;
    let found = own.exact(folded).or_else(|| match fold::native(plain) {
        true => table("en")?.english(plain),
        false => own.sounding(folded),
    });
    match found? {
        Meaning::Number(tokens) => Some(tokens.clone()),
        Meaning::Carrier { .. } | Meaning::Refuses | Meaning::Corrects => None,
    }
}

/// The tables of the agent's language, of English and of Hindi.
fn tables(language: &str) -> Vec<&'static Table> {
    let mut codes = vec![language, "en", "hi"];
    codes.dedup();
    codes.into_iter().filter_map(table).collect()
}

/// The value of a word that is a number below a hundred, to match `two` with `2`.
pub fn small(word: &str, language: &str) -> Option<u32> {
    if word.len() < 5 && word.bytes().all(|byte| byte.is_ascii_digit()) {
        return word.parse().ok();
    }
    let folded = fold::letters(word);
    let own = [table(language), table("en")].into_iter().flatten();
    let found = own.filter_map(|table| table.exact(&folded)).next()?;
    match found {
        Meaning::Number(tokens) => match &tokens[..] {
            [Token::Number { value, .. }] => Some(u32::from(*value)),
            _ => None,
        },
        _ => None,
    }
}

/// The words, with digits apart from letters; `None` for times, dates and ranges in digits.
fn split(heard: &str) -> Option<Vec<String>> {
    let letters: Vec<char> = heard.nfkc().flat_map(char::to_lowercase).map(plain_digit).collect();
    let is_digit = |at: Option<usize>| at.and_then(|at| letters.get(at)).is_some_and(char::is_ascii_digit);
    let digits = letters.iter().filter(|letter| letter.is_ascii_digit()).count();
    let mut out = String::new();
    for (at, &letter) in letters.iter().enumerate() {
        let (before, after) = (is_digit(at.checked_sub(1)), is_digit(Some(at + 1)));
        let spaced = letters[..at].iter().rev().find(|letter| !letter.is_whitespace());
        let behind = letters[at + 1..].iter().find(|letter| !letter.is_whitespace());
        let between = spaced.is_some_and(char::is_ascii_digit) && behind.is_some_and(char::is_ascii_digit);
        match letter {
            '.' if before && after => out.push('.'),
            ',' if before && after => out.push(if grouped(&letters, at) { '\u{1}' } else { ' ' }),
            ':' | '/' | '~' if between => return None,
            '-' | '–' | '—' | '−' if between && digits < 10 => return None,
            '-' | '−' if after && letters[..at].iter().all(|letter| letter.is_whitespace()) => {
                out.push_str(" minus ");
            }
            '/' if before && letters.get(at + 1).is_some_and(|next| matches!(next, '-' | '=')) => {
                out.push_str(" rs ");
            }
            '₹' => out.push_str(" rs "),
            '%' | '$' | '€' | '£' | '°' => out.push_str(" \u{2} "),
            '\'' | '’' | '‘' | '`' | '\u{200b}' | '\u{200c}' | '\u{200d}' | '\u{feff}' => {}
            letter
                if letter.is_ascii_punctuation()
                    || letter.is_whitespace()
                    || "।॥“”„…–—−«»•·¿¡".contains(letter) =>
            {
                out.push(' ');
            }
            letter => {
                if (letter.is_ascii_digit() && !before && out.ends_with(char::is_alphanumeric))
                    || (!letter.is_ascii_digit() && before)
                {
                    out.push('\u{3}');
                }
                out.push(letter);
            }
        }
    }
    let out = out.replace('\u{1}', "");
    Some(
        out.split(|letter: char| letter.is_whitespace() || letter == '\u{3}')
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect(),
    )
}

/// Whether the comma at `at` groups digits (`1,25,000`): two or three digits follow before the next comma,
/// three before the end.
fn grouped(letters: &[char], at: usize) -> bool {
    let mut count = 0;
    for letter in &letters[at + 1..] {
        match letter {
            digit if digit.is_ascii_digit() => count += 1,
            ',' if matches!(count, 2 | 3) => count = 0,
            _ => break,
        }
    }
    count == 3
}

fn meaning(word: &str, tables: &[&Table], label: &[String]) -> Vec<Item> {
    if word.starts_with(|letter: char| letter.is_ascii_digit()) {
        let plain = word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
            && word.bytes().filter(|byte| *byte == b'.').count() <= 1;
        return vec![if plain { strong(Token::Digits(word.to_owned())) } else { Item::Unknown }];
    }
    let folded = fold::letters(word);
    let latin = !fold::native(word);
    let known =
        tables.iter().enumerate().find_map(|(at, table)| table.exact(&folded).map(|known| (at, known)));
    if known.is_none() && label.contains(&folded) {
        return vec![Item::Carrier { neutral: true }];
    }
    let known = known.or_else(|| match (latin, tables) {
        (true, [own, rest @ ..]) => own
            .sounding(&folded)
            .map(|known| (0, known))
            .or_else(|| Some((2, rest.last()?.sounding(&folded)?))),
        (false, _) => tables.iter().find_map(|table| table.english(word)).map(|known| (1, known)),
        (true, []) => None,
    });
    match known {
        None => vec![Item::Unknown],
        Some((_, Meaning::Refuses)) => vec![Item::Refuses],
        Some((_, Meaning::Corrects)) => vec![Item::Corrects],
        Some((_, Meaning::Carrier { neutral })) => vec![Item::Carrier { neutral: *neutral }],
        Some((at, Meaning::Number(tokens))) => {
            let english = tables.get(at).is_some_and(|table| table.is_english());
            tokens.iter().map(|token| Item::Token { token: token.clone(), weak: latin && !english }).collect()
        }
    }
}

const fn strong(token: Token) -> Item {
    Item::Token { token, weak: false }
}

/// `and a half` as one token, `and` between other words as a carrier.
fn joined(items: Vec<Item>) -> Vec<Item> {
    let mut out: Vec<Item> = Vec::with_capacity(items.len());
    let token = |at: usize| match items.get(at) {
        Some(Item::Token { token, .. }) => Some(token),
        _ => None,
    };
    let mut at = 0;
    while at < items.len() {
        if token(at) == Some(&Token::And) {
            let (part, length) = match (token(at + 1), token(at + 2)) {
                (Some(Token::Part(part)), _) => (Some(*part), 2),
                (Some(Token::Article | Token::Number { value: 1, .. }), Some(Token::Part(part))) => {
                    (Some(*part), 3)
                }
                (Some(Token::Number { value: 3, .. }), Some(Token::Part(25))) => (Some(75), 3),
                _ => (None, 1),
            };
            match part {
                Some(part) => out.push(strong(Token::After(part))),
                None if matches!(out.last(), Some(Item::Token { .. })) && token(at + 1).is_some() => {
                    out.push(items[at].clone());
                }
                None => out.push(Item::Carrier { neutral: true }),
            }
            at += length;
        } else {
            out.push(items[at].clone());
            at += 1;
        }
    }
    out
}

const fn is_money(item: &Item) -> bool {
    matches!(item, Item::Token { token: Token::Rupees | Token::Paise, .. })
}

const fn is_number(item: &Item) -> bool {
    matches!(item, Item::Token { .. }) && !is_money(item)
}

fn number(mut items: Vec<Item>) -> Option<String> {
    items = corrected(items)?;
    if items.iter().any(|item| matches!(item, Item::Refuses)) {
        return None;
    }
    let first = items.iter().position(is_number)?;
    let last = items.iter().rposition(is_number)?;
    if items.iter().any(|item| matches!(item, Item::Token { weak: true, .. }))
        && items.iter().any(|item| matches!(item, Item::Unknown | Item::Carrier { neutral: false }))
    {
        return None;
    }
    let beside = |item: Option<&Item>| !matches!(item, Some(Item::Unknown | Item::Corrects));
    let before = items[..first].iter().rev().find(|item| !is_money(item));
    let after = items[last + 1..].iter().find(|item| !is_money(item));
    if !beside(before) || !beside(after) {
        return None;
    }
    let inside = &items[first..=last];
    let tokens: Vec<Token> = inside
        .iter()
        .map(|item| match item {
            Item::Token { token, .. } => Some(token.clone()),
            _ => None,
        })
        .collect::<Option<_>>()?;
    let ends_in_paise = matches!(items.get(last + 1), Some(Item::Token { token: Token::Paise, .. }));
    let number = money(&tokens, ends_in_paise)?;
    (number.len() <= MAX_DIGITS).then_some(number)
}

/// What stands after a correction (`twenty, sorry, fifty`) or after a first "no"; `None` when a correction
/// comes after the number and nothing replaces it.
fn corrected(items: Vec<Item>) -> Option<Vec<Item>> {
    let Some(at) = items.iter().rposition(|item| *item == Item::Corrects) else { return Some(items) };
    let rest = &items[at + 1..];
    let said = &items[..at];
    if !rest.iter().any(is_number) {
        return if items.iter().any(is_number) { None } else { Some(items) };
    }
    if said.iter().any(|item| matches!(item, Item::Refuses | Item::Unknown)) {
        return None;
    }
    Some(rest.to_vec())
}

/// A number, or rupees and paise.
fn money(tokens: &[Token], ends_in_paise: bool) -> Option<String> {
    let paise =
        |tokens: &[Token]| -> Option<u32> { value(tokens)?.parse().ok().filter(|paise: &u32| *paise < 100) };
    let mut parts = tokens.split(|token| *token == Token::Rupees);
    let (first, second, more) = (parts.next()?, parts.next(), parts.next());
    if tokens.contains(&Token::Paise) || more.is_some() {
        return None;
    }
    match second {
        None if ends_in_paise => Some(format!("0.{:02}", paise(first)?)),
        None => value(first),
        Some(rest) if ends_in_paise => {
            let rest = match rest {
                [Token::And, rest @ ..] => rest,
                rest => rest,
            };
            let rupees = value(first).filter(|rupees| !rupees.contains('.'))?;
            Some(format!("{rupees}.{:02}", paise(rest)?))
        }
        Some(_) => None,
    }
}

fn value(tokens: &[Token]) -> Option<String> {
    let (sign, tokens) = match tokens {
        [Token::Minus, rest @ ..] => ("-", rest),
        rest => ("", rest),
    };
    let tokens = pointed(tokens)?;
    let scaled = |token: &Token| {
        matches!(
            token,
            Token::Scale(_)
                | Token::Before(_)
                | Token::After(_)
                | Token::Mixed(_)
                | Token::Part(_)
                | Token::Article
        )
    };
    let number = if tokens.iter().any(scaled) { amount(&tokens)? } else { digits(&tokens)? };
    Some(format!("{sign}{number}"))
}

/// Decimals after a spoken point become the digits of one number.
fn pointed(tokens: &[Token]) -> Option<Vec<Token>> {
    let Some(at) = tokens.iter().position(|token| *token == Token::Point) else {
        return Some(tokens.to_vec());
    };
    let (whole, rest) = (&tokens[..at], &tokens[at + 1..]);
    let end = rest.iter().position(|token| matches!(token, Token::Scale(_))).unwrap_or(rest.len());
    let (fraction, after) = rest.split_at(end);
    let group = |chunks: Vec<String>| (chunks.len() == 1).then(|| chunks.concat());
    let whole = group(chunks(whole)?)?;
    let fraction = chunks(fraction)?;
    let single = fraction.iter().all(|chunk| chunk.len() == 1) || fraction.len() == 1;
    let plain = !whole.contains('.') && fraction.iter().all(|chunk| !chunk.contains('.'));
    if !single || !plain || fraction.is_empty() || after.contains(&Token::Point) {
        return None;
    }
    let mut out = vec![Token::Digits(format!("{whole}.{}", fraction.concat()))];
    out.extend_from_slice(after);
    Some(out)
}

/// The groups of digits that these words say: `twenty five`, `double nine`, `98765`.
fn chunks(tokens: &[Token]) -> Option<Vec<String>> {
    let mut out = Vec::new();
    let mut rest = tokens;
    while let Some((first, mut after)) = rest.split_first() {
        match first {
            Token::Number { value, open: true } => match after.split_first() {
                Some((Token::Number { value: unit @ 1..=9, .. }, behind)) => {
                    out.push((value + unit).to_string());
                    after = behind;
                }
                _ => out.push(value.to_string()),
            },
            Token::Number { value, .. } => out.push(value.to_string()),
            Token::Digits(digits) => out.push(digits.clone()),
            Token::Repeat(times) => {
                let digit = match after.split_first()? {
                    (Token::Number { value: value @ 0..=9, .. }, _) => value.to_string(),
                    (Token::Digits(digits), _) if digits.len() == 1 => digits.clone(),
                    _ => return None,
                };
                after = &after[1..];
                out.push(digit.repeat(*times));
            }
            _ => return None,
        }
        rest = after;
    }
    Some(out)
}

/// Digits one by one or in groups.
fn digits(tokens: &[Token]) -> Option<String> {
    let repeats = tokens.iter().any(|token| matches!(token, Token::Repeat(_)));
    let groups = chunks(tokens)?;
    if groups.len() > 1 && groups.iter().any(|group| group.contains('.')) {
        return None;
    }
    let total: usize = groups.iter().map(String::len).sum();
    let joins = match groups.as_slice() {
        [] => false,
        [_] => true,
        [first, second] => {
            let numerals = tokens.iter().all(|token| matches!(token, Token::Digits(_)));
            let rising = first.len() == second.len() && first < second && total < 10;
            let year = !numerals && matches!(first.as_str(), "19" | "20") && second.len() == 2;
            let zero = total == 2 && !numerals && (first == "0" || second == "0");
            repeats || zero || year || (numerals && first.len() >= 3 && second.len() >= 3 && !rising)
        }
        many => {
            let each = |length: usize| many.iter().all(|group| group.len() == length);
            let tens = many.iter().all(|group| group.len() > 1 && group.ends_with('0'));
            let rising = many.windows(2).all(|pair| pair[0].len() > 1 && pair[0] < pair[1]);
            (each(1) || total >= 6 || repeats) && !(tens && total < 10) && !(rising && total < 10)
        }
    };
    joins.then(|| groups.concat())
}

/// A number being read with its scales, in millionths.
#[derive(Default)]
struct Amount {
    total: u128,
    current: Option<u128>,
    /// The next number is part of the current one if it is below this.
    room: u128,
    before: Option<i64>,
    last: Option<u64>,
}

fn amount(tokens: &[Token]) -> Option<String> {
    let mut amount = Amount::default();
    for (at, token) in tokens.iter().enumerate() {
        let next = tokens.get(at + 1);
        let scale_follows = matches!(next, Some(Token::Scale(_)));
        match token {
            Token::Number { value, open } => {
                amount.add(u128::from(*value) * ONE, if *open { 10 } else { 1 })?
            }
            Token::Digits(digits) => {
                let digits = millionths(digits).filter(|_| scale_follows || !digits.starts_with('0'))?;
                if digits % ONE != 0 && !scale_follows && at > 0 {
                    return None;
                }
                amount.add(digits, 1)?;
            }
            Token::Article if scale_follows && matches!(tokens[..at].last(), Some(Token::Part(_))) => {}
            Token::Article if scale_follows && amount.before.is_none() => amount.add(ONE, 1)?,
            Token::Mixed(hundredths) => amount.add(u128::from(*hundredths) * ONE / 100, 1)?,
            Token::Part(hundredths) if scale_follows || next == Some(&Token::Article) => {
                if amount.current.is_some() {
                    return None;
                }
                amount.add(u128::from(*hundredths) * ONE / 100, 1)?;
                if next == Some(&Token::Article) && !matches!(tokens.get(at + 2), Some(Token::Scale(_))) {
                    return None;
                }
            }
            Token::Before(hundredths) if amount.current.is_none() && amount.before.is_none() => {
                amount.before = Some(*hundredths);
            }
            Token::After(hundredths) => {
                let whole = amount.current.filter(|current| current % ONE == 0 && *current > 0)?;
                amount.current = Some(whole + u128::from(*hundredths) * ONE / 100);
                amount.room = 1;
            }
            Token::Scale(100) => amount.hundred()?,
            Token::Scale(scale) => amount.scale(*scale)?,
            Token::And => {}
            _ => return None,
        }
    }
    amount.end()
}

impl Amount {
    fn add(&mut self, value: u128, room: u128) -> Option<()> {
        match self.current {
            None => {
                let value = match self.before.take() {
                    None => value,
                    Some(_) if value == 0 || !value.is_multiple_of(ONE) => return None,
                    Some(before) => value.checked_add_signed(i128::from(before) * 10_000)?,
                };
                self.current = Some(value);
            }
            Some(current)
                if value > 0
                    && value < self.room * ONE
                    && value.is_multiple_of(ONE)
                    && self.before.is_none() =>
            {
                self.current = Some(current + value);
            }
            Some(_) => return None,
        }
        self.room = room;
        Some(())
    }

    /// What is counted by the scale that comes now: the current number, or 1 with its fraction.
    fn counted(&mut self) -> Option<u128> {
        match (self.current.take(), self.before.take()) {
            (Some(0), _) | (None, Some(50)) | (Some(_), Some(_)) => None,
            (Some(current), None) => Some(current),
            (None, Some(before)) => ONE.checked_add_signed(i128::from(before) * 10_000),
            // ஆயிரத்து நூறு is 1100, వెయ్యి వంద too.
            (None, None) => Some(ONE),
        }
    }

    fn hundred(&mut self) -> Option<()> {
        let counted = self.counted().filter(|counted| *counted < 100 * ONE)?;
        self.current = Some(counted * 100);
        self.room = if counted * 100 % (100 * ONE) == 0 { 100 } else { 1 };
        Some(())
    }

    fn scale(&mut self, scale: u64) -> Option<()> {
        let times = u128::from(scale);
        match self.last {
            Some(last) if last == scale => return None,
            Some(last) if last < scale => {
                if scale < CRORE || self.before.is_some() {
                    return None;
                }
                let below = self.current.take().unwrap_or(0);
                self.total = self.total.checked_add(below)?.checked_mul(times)?;
            }
            _ => {
                let counted = self.counted()?;
                self.total = self.total.checked_add(counted.checked_mul(times)?)?;
            }
        }
        self.last = Some(scale);
        Some(())
    }

    fn end(self) -> Option<String> {
        if self.before.is_some() {
            return None;
        }
        let current = self.current.unwrap_or(0);
        let fits =
            self.last.is_none_or(|last| current < u128::from(last) * ONE && current.is_multiple_of(ONE));
        let lone = self.last.is_some() || self.current.is_some();
        if fits && lone { self.total.checked_add(current).map(plain) } else { None }
    }
}

fn millionths(digits: &str) -> Option<u128> {
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.len() > 15 || fraction.len() > 6 {
        return None;
    }
    let fraction: u128 = format!("{fraction:0<6}").parse().ok()?;
    Some(whole.parse::<u128>().ok()? * ONE + fraction)
}

fn plain(amount: u128) -> String {
    let (whole, fraction) = (amount / ONE, amount % ONE);
    if fraction == 0 {
        whole.to_string()
    } else {
        format!("{whole}.{}", format!("{fraction:06}").trim_end_matches('0'))
    }
}
