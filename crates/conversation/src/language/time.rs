//! Reads the time of day that somebody says: `5:30 pm`, `half past five in the evening`, `शाम साढ़े पाँच बजे`.

use super::calendar::Time;
use super::date_words::{Part, Token, Unit, lex};
use super::readings::Reading;

/// The time in `heard`, of a field with this label, to a customer whose agent speaks `language`. A time that may be
/// in the morning as well as in the evening is unsure: the one in waking hours.
pub fn read(heard: &str, language: &str, label: &str, now: Time) -> Option<Reading<Time>> {
    let tokens = without_days(lex(heard, language, label)?);
    if let Some(minutes) = later(&tokens) {
        return Some(Reading::Sure(now.plus(minutes?)));
    }
    let mut parts: Vec<Part> = Vec::new();
    let mut rest: Vec<&Token> = Vec::new();
    for token in &tokens {
        match token {
            Token::Part(part) => parts.push(*part),
            other => rest.push(other),
        }
    }
    let (hour, minute, sure) = clock(&rest)?;
    placed(hour, minute, sure, &parts)
}

/// The tokens of the time only.
fn without_days(tokens: Vec<Token>) -> Vec<Token> {
    let number =
        |at: Option<usize>| at.is_some_and(|at| matches!(tokens.get(at), Some(Token::Number { .. })));
    let mut gone = vec![false; tokens.len()];
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Day { .. } | Token::Weekday(_) | Token::Full(_) | Token::DayMonth(..) => gone[at] = true,
            Token::Next | Token::Coming | Token::This | Token::Last => gone[at] = true,
            Token::Past | Token::Future => gone[at] = true,
            Token::Unit(Unit::Day | Unit::Week | Unit::Month) => gone[at] = true,
            Token::Month(_) | Token::DateWord => {
                gone[at] = true;
                if number(at.checked_sub(1)) {
                    gone[at - 1] = true;
                } else if number(Some(at + 1)) {
                    gone[at + 1] = true;
                }
            }
            _ => {}
        }
    }
    let counted = tokens.windows(2).any(|pair| {
        matches!(pair, [Token::Number { .. }, Token::Unit(Unit::Day | Unit::Week | Unit::Month)])
    });
    if counted {
        return Vec::new();
    }
    tokens.into_iter().zip(gone).filter(|(_, gone)| !gone).map(|(token, _)| token).collect()
}

/// Minutes from now, of `after two hours`; `Some(None)` if they are too many.
fn later(tokens: &[Token]) -> Option<Option<i64>> {
    let count = |text: &str| text.parse::<f64>().ok().filter(|count| (0.0..=1000.0).contains(count));
    let minutes = |count: Option<f64>, unit: &Unit| {
        let each = if *unit == Unit::Hour { 60.0 } else { 1.0 };
        // Whole minutes of at most 1,000 hours.
        count.map(|count| (count * each).round() as i64).filter(|minutes| *minutes < 24 * 60)
    };
    match tokens {
        [Token::Number { text, .. }, Token::Unit(unit), Token::After | Token::Within]
        | [Token::After | Token::Within, Token::Number { text, .. }, Token::Unit(unit)] => {
            Some(minutes(count(text), unit))
        }
        [Token::Article, Token::Unit(unit), Token::After]
        | [Token::After | Token::Within, Token::Article, Token::Unit(unit)] => Some(minutes(Some(1.0), unit)),
        [Token::HalfHour, Token::After | Token::Within] | [Token::After | Token::Within, Token::HalfHour] => {
            Some(Some(30))
        }
        _ => None,
    }
}

/// Hour, minute and whether it is of a 24-hour clock.
fn clock(tokens: &[&Token]) -> Option<(i64, i64, bool)> {
    let of = |token: &Token| match token {
        Token::Number { text, raw } => number(text, *raw),
        _ => None,
    };
    let hour = |token: &Token| of(token).filter(|(_, minute, _)| *minute == 0).map(|(hour, _, _)| hour);
    let minutes = |token: &Token| match token {
        Token::Number { text, .. } => text.parse().ok().filter(|minutes| (1..60).contains(minutes)),
        _ => None,
    };
    match tokens {
        [Token::Noon] => Some((12, 0, true)),
        [Token::Midnight] => Some((0, 0, true)),
        [Token::Number { text, .. }, Token::Noon] | [Token::Noon, Token::Number { text, .. }]
            if text == "12" =>
        {
            Some((12, 0, true))
        }
        [Token::Number { text, .. }, Token::Midnight] | [Token::Midnight, Token::Number { text, .. }]
            if text == "12" =>
        {
            Some((0, 0, true))
        }
        [Token::Clock { time, sure }] | [Token::Clock { time, sure }, Token::Oclock] => {
            let (hour, minute) = time.parts();
            Some((hour, minute, *sure))
        }
        [time @ Token::Number { .. }] | [time @ Token::Number { .. }, Token::Oclock] => of(time),
        [first @ Token::Number { .. }, second @ Token::Number { .. }]
        | [first @ Token::Number { .. }, Token::Oclock, second @ Token::Number { .. }]
        | [first @ Token::Number { .. }, second @ Token::Number { .. }, Token::Oclock]
        | [
            first @ Token::Number { .. },
            Token::Oclock,
            second @ Token::Number { .. },
            Token::Unit(Unit::Minute),
        ] => Some((hour(first)?, minutes(second)?, hour(first)? > 12)),
        [Token::HalfPast, time @ ..] => Some((hour(one(time)?)?, 30, false)),
        [Token::QuarterPast, time @ ..] => Some((hour(one(time)?)?, 15, false)),
        [Token::QuarterTo, time @ ..] => before(hour(one(time)?)?, 15),
        [first, Token::PastHour, time @ ..]
        | [first, Token::Unit(Unit::Minute), Token::PastHour, time @ ..] => {
            Some((hour(one(time)?)?, minutes(first)?, false))
        }
        [first, Token::ToHour, time @ ..] | [first, Token::Unit(Unit::Minute), Token::ToHour, time @ ..] => {
            before(hour(one(time)?)?, minutes(first)?)
        }
        _ => None,
    }
}

fn one<'a>(tokens: &[&'a Token]) -> Option<&'a Token> {
    match tokens {
        [time] | [time, Token::Oclock] => Some(time),
        _ => None,
    }
}

fn before(hour: i64, minutes: i64) -> Option<(i64, i64, bool)> {
    (1..=12).contains(&hour).then(|| (if hour == 1 { 12 } else { hour - 1 }, 60 - minutes, false))
}

/// `5`, `5.30` as it is written, `5.5` as `साढ़े पाँच` is read, `530`.
fn number(text: &str, raw: bool) -> Option<(i64, i64, bool)> {
    if let Some((hour, fraction)) = text.split_once('.') {
        let minute = match (raw, fraction) {
            (true, minute) if minute.len() == 2 => minute.parse().ok()?,
            (false, "25") => 15,
            (false, "5") => 30,
            (false, "75") => 45,
            _ => return None,
        };
        let hour: i64 = hour.parse().ok()?;
        return Some((hour, minute, hour > 12));
    }
    let value: i64 = text.parse().ok()?;
    match text.len() {
        1 | 2 => Some((value, 0, value > 12)),
        3 | 4 => Some((value / 100, value % 100, value >= 1300 || text.len() == 4 && text.starts_with('0'))),
        _ => None,
    }
}

fn placed(hour: i64, minute: i64, sure: bool, parts: &[Part]) -> Option<Reading<Time>> {
    Time::new(hour, minute)?;
    let mut times = parts.iter().map(|part| in_part(hour, *part, sure));
    match times.next() {
        None if sure => Time::new(hour, minute).map(Reading::Sure),
        None => {
            let likely = match hour {
                1..=7 => hour + 12,
                other => other,
            };
            Time::new(likely, minute).map(Reading::Unsure)
        }
        Some(first) => {
            let first = first?;
            if times.any(|other| other != Some(first)) {
                return None;
            }
            Time::new(first, minute).map(Reading::Sure)
        }
    }
}

/// The hour of the day that this is in a part of it.
fn in_part(hour: i64, part: Part, sure: bool) -> Option<i64> {
    if sure {
        let fits = match part {
            Part::Morning | Part::Am => (0..12).contains(&hour),
            Part::Afternoon => (11..=17).contains(&hour),
            Part::Evening => (15..=21).contains(&hour),
            Part::Night => !(5..18).contains(&hour),
            Part::Pm => hour >= 12,
        };
        return fits.then_some(hour);
    }
    match (part, hour) {
        (Part::Am, 12) => Some(0),
        (Part::Am, 1..=11) => Some(hour),
        (Part::Pm, 12) => Some(12),
        (Part::Pm, 1..=11) => Some(hour + 12),
        (Part::Morning, 3..=11) => Some(hour),
        (Part::Afternoon, 12) => Some(12),
        (Part::Afternoon, 1..=5) => Some(hour + 12),
        (Part::Evening, 3..=9) => Some(hour + 12),
        (Part::Night, 12) => Some(0),
        (Part::Night, 1..=4) => Some(hour),
        (Part::Night, 7..=11) => Some(hour + 12),
        _ => None,
    }
}
