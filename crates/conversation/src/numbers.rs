//! Finds a number in spoken words and returns its digits: `42`, `forty two`, `do hazaar paanch sau`, `nine
//! eight seven`, `2.5 lakh`.

/// Longest number, in digits.
const MAX_DIGITS: usize = 40;
/// Amounts are counted in millionths, so that `2.5 lakh` is exact.
const ONE: u128 = 1_000_000;

/// The number in these words (as split by `words.rs`); `None` when there is no number or more than one.
///
/// Digits spoken one by one form one number and keep their leading zeros. Hindi number words in Latin letters
/// count only when nothing else was said, because some are ordinary English words (`do`, `teen`, `das`).
pub fn number(words: &[String]) -> Option<String> {
    let tokens: Vec<&str> = words.iter().flat_map(|word| split(word)).collect();
    let mut alone = Vec::new();
    for token in tokens.iter().filter(|token| !UNITS_OF_MEASURE.contains(token)) {
        alone.push(token_of(token).or_else(|| latin_hindi(token)));
    }
    if let Some(run) = alone.into_iter().collect::<Option<Vec<Token>>>()
        && let Some(number) = evaluate(&run)
    {
        return Some(number);
    }
    let mut runs = runs(&tokens);
    if runs.len() > 1 {
        runs.retain(|run| run.iter().any(|token| matches!(token, Token::Digits(_))));
    }
    match runs.as_slice() {
        [run] => evaluate(run),
        _ => None,
    }
}

/// The value of a single number word or number below ten thousand, to match `two` with `2`.
pub fn small(word: &str) -> Option<u32> {
    match token_of(word)? {
        Token::Unit(value) | Token::Tens(value) => u32::try_from(value).ok(),
        Token::Digits(digits) => digits.parse().ok().filter(|value| *value < 10_000),
        Token::Hundred | Token::Scale(_) | Token::Repeat(_) | Token::Point | Token::And | Token::Minus => {
            None
        }
    }
}

const UNITS_OF_MEASURE: [&str; 17] = [
    "rs",
    "inr",
    "rupees",
    "rupee",
    "rupaye",
    "rupye",
    "रुपये",
    "रुपए",
    "only",
    "years",
    "year",
    "saal",
    "साल",
    "um",
    "uh",
    "please",
    "ji",
];

#[derive(Debug, Clone, PartialEq)]
enum Token<'a> {
    Digits(&'a str),
    /// 0 to 19.
    Unit(u128),
    /// 20, 30, … 90.
    Tens(u128),
    Hundred,
    Scale(u128),
    /// `double`, `triple`.
    Repeat(usize),
    Point,
    And,
    Minus,
}

/// `rs500` is `rs` and `500`.
fn split(word: &str) -> Vec<&str> {
    let numeric = |letter: char| letter.is_ascii_digit() || letter == '.';
    let mut parts = Vec::new();
    let mut rest = word;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|letter: char| numeric(letter) != numeric(first)).unwrap_or(rest.len());
        let (part, after) = rest.split_at(end);
        parts.push(part);
        rest = after;
    }
    parts
}

fn token_of(word: &str) -> Option<Token<'_>> {
    if word.starts_with(|letter: char| letter.is_ascii_digit()) {
        let plain = word.bytes().filter(|byte| *byte == b'.').count() <= 1
            && word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        return plain.then_some(Token::Digits(word));
    }
    Some(match word {
        "hundred" | "hundreds" | "सौ" => Token::Hundred,
        "thousand" | "हजार" | "हज़ार" | "k" => Token::Scale(1000),
        "lakh" | "lakhs" | "lac" | "lacs" | "लाख" => Token::Scale(100_000),
        "crore" | "crores" | "करोड़" | "करोड" => Token::Scale(10_000_000),
        "million" => Token::Scale(1_000_000),
        "double" => Token::Repeat(2),
        "triple" => Token::Repeat(3),
        "point" | "दशमलव" => Token::Point,
        "and" => Token::And,
        "minus" => Token::Minus,
        _ => unit(word, &ENGLISH).or_else(|| unit(word, &HINDI))?,
    })
}

fn latin_hindi(word: &str) -> Option<Token<'static>> {
    Some(match word {
        "sau" => Token::Hundred,
        "hazaar" | "hazar" | "hajar" | "hajaar" => Token::Scale(1000),
        "laakh" => Token::Scale(100_000),
        "karod" => Token::Scale(10_000_000),
        _ => unit(word, &LATIN_HINDI)?,
    })
}

fn unit(word: &str, table: &[(&str, u128)]) -> Option<Token<'static>> {
    let (_, value) = table.iter().find(|(name, _)| *name == word)?;
    Some(if *value < 20 { Token::Unit(*value) } else { Token::Tens(*value) })
}

const ENGLISH: [(&str, u128); 30] = [
    ("zero", 0),
    ("oh", 0),
    ("one", 1),
    ("two", 2),
    ("three", 3),
    ("four", 4),
    ("five", 5),
    ("six", 6),
    ("seven", 7),
    ("eight", 8),
    ("nine", 9),
    ("ten", 10),
    ("eleven", 11),
    ("twelve", 12),
    ("thirteen", 13),
    ("fourteen", 14),
    ("fifteen", 15),
    ("sixteen", 16),
    ("seventeen", 17),
    ("eighteen", 18),
    ("nineteen", 19),
    ("twenty", 20),
    ("thirty", 30),
    ("forty", 40),
    ("fourty", 40),
    ("fifty", 50),
    ("sixty", 60),
    ("seventy", 70),
    ("eighty", 80),
    ("ninety", 90),
];
const HINDI: [(&str, u128); 34] = [
    ("शून्य", 0),
    ("ज़ीरो", 0),
    ("जीरो", 0),
    ("एक", 1),
    ("दो", 2),
    ("तीन", 3),
    ("चार", 4),
    ("पांच", 5),
    ("पाँच", 5),
    ("छह", 6),
    ("छः", 6),
    ("छे", 6),
    ("सात", 7),
    ("आठ", 8),
    ("नौ", 9),
    ("दस", 10),
    ("ग्यारह", 11),
    ("बारह", 12),
    ("तेरह", 13),
    ("चौदह", 14),
    ("पंद्रह", 15),
    ("सोलह", 16),
    ("सत्रह", 17),
    ("अठारह", 18),
    ("उन्नीस", 19),
    ("बीस", 20),
    ("तीस", 30),
    ("चालीस", 40),
    ("पचास", 50),
    ("साठ", 60),
    ("सत्तर", 70),
    ("अस्सी", 80),
    ("नब्बे", 90),
    ("नव्वे", 90),
];
const LATIN_HINDI: [(&str, u128); 39] = [
    ("shunya", 0),
    ("ek", 1),
    ("do", 2),
    ("teen", 3),
    ("tin", 3),
    ("char", 4),
    ("chaar", 4),
    ("paanch", 5),
    ("panch", 5),
    ("chhe", 6),
    ("che", 6),
    ("chah", 6),
    ("saat", 7),
    ("sat", 7),
    ("aath", 8),
    ("nau", 9),
    ("das", 10),
    ("dus", 10),
    ("gyarah", 11),
    ("barah", 12),
    ("terah", 13),
    ("chaudah", 14),
    ("pandrah", 15),
    ("solah", 16),
    ("satrah", 17),
    ("atharah", 18),
    ("unnis", 19),
    ("bees", 20),
    ("bis", 20),
    ("tees", 30),
    ("tis", 30),
    ("chalis", 40),
    ("chaalis", 40),
    ("pachas", 50),
    ("pachaas", 50),
    ("saath", 60),
    ("sattar", 70),
    ("assi", 80),
    ("nabbe", 90),
];

/// The runs of number words, including `and` inside a run.
fn runs<'a>(tokens: &[&'a str]) -> Vec<Vec<Token<'a>>> {
    let mut runs: Vec<Vec<Token<'_>>> = vec![Vec::new()];
    for token in tokens {
        match token_of(token) {
            Some(token) => {
                if let Some(run) = runs.last_mut() {
                    run.push(token);
                }
            }
            None => runs.push(Vec::new()),
        }
    }
    let counts =
        |token: &Token<'_>| !matches!(token, Token::And | Token::Point | Token::Minus | Token::Repeat(_));
    runs.retain(|run| run.iter().any(counts));
    runs
}

fn evaluate(run: &[Token<'_>]) -> Option<String> {
    let (sign, run) = match run {
        [Token::Minus, rest @ ..] => ("-", rest),
        run => ("", run),
    };
    let mut parts = run.split(|token| *token == Token::Point);
    let whole = value(parts.next()?)?;
    let number = match (parts.next(), parts.next()) {
        (None, _) => whole,
        (Some(fraction), None) => {
            let single = fraction
                .iter()
                .all(|token| matches!(token, Token::Digits(_) | Token::Unit(0..10) | Token::Repeat(_)));
            let fraction = value(fraction).filter(|_| single)?;
            (!whole.contains('.') && !fraction.contains('.')).then(|| format!("{whole}.{fraction}"))?
        }
        (Some(_), Some(_)) => return None,
    };
    (number.len() <= MAX_DIGITS).then(|| format!("{sign}{number}"))
}

/// A number being read, as a sequence of chunks (`twenty` `twenty six`), the last of which is still open.
#[derive(Default)]
struct Reading {
    chunks: Vec<String>,
    total: u128,
    current: u128,
    /// The next word belongs to the open chunk if it is below this; `None` when no chunk is open.
    room: Option<u128>,
    /// A multiplier (hundred, lakh, …) was said, so no further chunk may follow.
    scaled: bool,
}

fn value(run: &[Token<'_>]) -> Option<String> {
    let mut reading = Reading::default();
    let mut repeat = 1;
    for (at, token) in run.iter().enumerate() {
        let scale_follows = matches!(run.get(at + 1), Some(Token::Hundred | Token::Scale(_)));
        let times = std::mem::replace(&mut repeat, 1);
        match token {
            Token::Repeat(times) => repeat = *times,
            Token::Unit(value) if times > 1 && *value < 10 => {
                (0..times).for_each(|_| reading.chunk(value.to_string()))
            }
            Token::Digits(digits) if times > 1 => {
                (0..times).for_each(|_| reading.chunk((*digits).to_owned()))
            }
            Token::Digits(digits) => reading.digits(digits, scale_follows)?,
            Token::Unit(value) => reading.small(*value, 1),
            Token::Tens(value) => reading.small(*value, 10),
            Token::Hundred => reading.hundred()?,
            Token::Scale(scale) => reading.scale(*scale)?,
            Token::And => {}
            Token::Point | Token::Minus => return None,
        }
    }
    reading.close();
    match reading.chunks.as_slice() {
        [] => None,
        [one] => Some(one.clone()),
        many if reading.scaled || many.iter().any(|chunk| chunk.contains('.')) => None,
        many => Some(many.concat()),
    }
}

impl Reading {
    fn chunk(&mut self, digits: String) {
        self.close();
        self.chunks.push(digits);
    }

    fn close(&mut self) {
        if self.room.take().is_some() {
            self.chunks.push(plain(self.total.saturating_add(self.current)));
        }
        (self.total, self.current) = (0, 0);
    }

    /// Reads a word below a hundred. `step` limits what may follow it: nothing after a unit, a unit after
    /// tens.
    fn small(&mut self, value: u128, step: u128) {
        let fits = self.room.is_some_and(|room| value < room && value > 0);
        if !fits {
            self.close();
        }
        self.current = self.current.saturating_add(value * ONE);
        self.room = Some(step);
    }

    fn digits(&mut self, digits: &str, scale_follows: bool) -> Option<()> {
        let whole: Option<u128> = digits.parse().ok();
        if let Some(whole) = whole
            && self.scaled
            && self.room.is_some_and(|room| whole < room && whole > 0)
        {
            self.current = self.current.saturating_add(whole * ONE);
            self.room = Some(1);
        } else if scale_follows {
            self.close();
            self.current = millionths(digits)?;
            self.room = Some(1);
        } else {
            self.chunk(digits.to_owned());
        }
        Some(())
    }

    fn hundred(&mut self) -> Option<()> {
        if self.room == Some(100) {
            return None;
        }
        self.current = if self.current == 0 { ONE } else { self.current }.checked_mul(100)?;
        (self.room, self.scaled) = (Some(100), true);
        Some(())
    }

    fn scale(&mut self, scale: u128) -> Option<()> {
        if self.total > 0 && self.current == 0 && self.total >= scale.checked_mul(ONE)? {
            return None;
        }
        let counted = if self.total == 0 && self.current == 0 { ONE } else { self.current };
        self.total = if self.total > 0 && self.total < scale * ONE {
            self.total.checked_add(counted)?.checked_mul(scale)?
        } else {
            self.total.checked_add(counted.checked_mul(scale)?)?
        };
        (self.current, self.room, self.scaled) = (0, Some(scale), true);
        Some(())
    }
}

fn millionths(digits: &str) -> Option<u128> {
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.len() > 18 || fraction.len() > 6 {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::words;

    #[test]
    fn numbers_are_their_digits() {
        for (said, expected) in [
            ("42", Some("42")),
            ("I am 42 years old.", Some("42")),
            ("0042", Some("0042")),
            ("Rs. 1,200.50 only", Some("1200.50")),
            ("rs500", Some("500")),
            ("-5", Some("-5")),
            ("forty-two", Some("42")),
            ("forty two", Some("42")),
            ("one hundred and five", Some("105")),
            ("a hundred", Some("100")),
            ("two thousand five hundred", Some("2500")),
            ("two thousand 500", Some("2500")),
            ("2.5 lakh", Some("250000")),
            ("two lakh fifty thousand", Some("250000")),
            ("one crore", Some("10000000")),
            ("5k", Some("5000")),
            ("nine eight seven six", Some("9876")),
            ("98765 43210", Some("9876543210")),
            ("zero double nine", Some("099")),
            ("twenty twenty six", Some("2026")),
            ("four point five", Some("4.5")),
            ("do hazaar paanch sau", Some("2500")),
            ("do", Some("2")),
            ("ek ji", Some("1")),
            ("दो हज़ार पांच सौ", Some("2500")),
            ("मेरी उम्र बीस साल है", Some("20")),
            ("४२", Some("42")),
            ("I do not know", None),
            ("between 10 and so 20", None),
            ("ten or twenty", None),
            ("three point", None),
            ("1.2.3", None),
            ("", None),
            ("hello", None),
        ] {
            assert_eq!(number(&words(said)).as_deref(), expected, "{said}");
        }
        assert_eq!(number(&words(&"9 ".repeat(41))), None);
        assert_eq!(number(&words(&"crore ".repeat(30))), None);
    }
}
