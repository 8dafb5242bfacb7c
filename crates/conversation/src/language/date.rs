//! Reads the day that somebody says: `26 November`, `next Monday`, `परसों`, `three days ago`.

use super::calendar::Date;
use super::date_words::{Part, Token, Unit, lex, tense, tense_of};
use super::readings::Reading;

/// A day and month that were this recently are asked back, if nothing says whether past or future is meant.
const RECENT_DAYS: i64 = 31;

/// The day in `heard`, of a field with this label and key, to a customer whose agent speaks `language`.
pub fn read(heard: &str, language: &str, label: &str, today: Date) -> Option<Reading<Date>> {
    let tokens = lex(heard, language, label)?;
    let future = tense_of(&tokens).or_else(|| tense(label, language));
    let days = without_times(tokens);
    Reader { today, future }.agreed(&days)
}

/// The tokens of the day only.
fn without_times(tokens: Vec<Token>) -> Vec<Token> {
    let timed = |token: Option<&Token>| {
        matches!(
            token,
            Some(Token::Oclock | Token::Part(Part::Am | Part::Pm) | Token::Noon | Token::Midnight)
        )
    };
    let out = tokens.iter().enumerate().filter(|(at, token)| match token {
        Token::Number { .. } => {
            let dated =
                matches!(tokens.get(at + 1), Some(Token::Month(_) | Token::DateWord | Token::Unit(_)));
            let of_part = matches!(at.checked_sub(1).and_then(|at| tokens.get(at)), Some(Token::Part(_)));
            !timed(tokens.get(at + 1)) && (!of_part || dated)
        }
        Token::Oclock | Token::Part(_) | Token::Noon | Token::Midnight => false,
        Token::Clock { .. } | Token::Past | Token::Future => false,
        _ => true,
    });
    out.map(|(_, token)| token.clone()).collect()
}

struct Reader {
    today: Date,
    future: Option<bool>,
}

impl Reader {
    /// The day that the tokens name, a weekday beside a date being the same day.
    fn agreed(&self, tokens: &[Token]) -> Option<Reading<Date>> {
        if let Some(day) = self.day(tokens) {
            return Some(day);
        }
        let at = tokens.iter().position(|token| matches!(token, Token::Weekday(_)))?;
        let Token::Weekday(weekday) = tokens[at] else { return None };
        let rest = [&tokens[..at], &tokens[at + 1..]].concat();
        let has_weekday = rest.iter().any(|token| matches!(token, Token::Weekday(_)));
        if rest.is_empty() || has_weekday {
            return None;
        }
        match self.day(&rest)? {
            Reading::Sure(day) | Reading::Unsure(day) if day.weekday() == weekday => Some(Reading::Sure(day)),
            Reading::Sure(_) => None,
            // `kal, Monday`: the other day may be the one.
            Reading::Unsure(day) => {
                let other = self.today.plus(-day.since(self.today))?;
                (other.weekday() == weekday).then_some(Reading::Sure(other))
            }
        }
    }

    fn day(&self, tokens: &[Token]) -> Option<Reading<Date>> {
        let sure = |date: Option<Date>| date.map(Reading::Sure);
        match tokens {
            [Token::Full(date)] => Some(Reading::Sure(*date)),
            [Token::DayMonth(day, month)] => self.without_year(*day, *month),
            [Token::Day { days, either: false }] => sure(self.today.plus(*days)),
            [Token::Day { days, either: true }] => match self.future {
                Some(future) => sure(self.today.plus(if future { *days } else { -days })),
                None => self.today.plus(*days).map(Reading::Unsure),
            },
            [direction, Token::Day { days, either: true }]
            | [Token::Day { days, either: true }, direction] => match direction {
                Token::Coming | Token::Next => sure(self.today.plus(*days)),
                Token::Last => sure(self.today.plus(-days)),
                _ => None,
            },
            [
                Token::Number { text, .. },
                Token::Unit(unit),
                way @ (Token::After | Token::Within | Token::Ago),
            ]
            | [way @ (Token::After | Token::Within), Token::Number { text, .. }, Token::Unit(unit)] => {
                self.counted(whole(text)?, *unit, way)
            }
            [Token::Unit(unit), way @ (Token::After | Token::Ago)]
            | [Token::Article, Token::Unit(unit), way @ (Token::After | Token::Ago)]
            | [way @ (Token::After | Token::Within), Token::Article, Token::Unit(unit)] => {
                self.counted(1, *unit, way)
            }
            _ if tokens.iter().any(|token| matches!(token, Token::Weekday(_))) => self.weekday(tokens),
            _ => self.of_month(tokens),
        }
    }

    fn counted(&self, count: i64, unit: Unit, way: &Token) -> Option<Reading<Date>> {
        let signed = if *way == Token::Ago { -count } else { count };
        let date = match unit {
            Unit::Day => self.today.plus(signed),
            Unit::Week => self.today.plus(signed.checked_mul(7)?),
            Unit::Month => self.today.plus_months(signed),
            Unit::Hour | Unit::Minute => None,
        }?;
        Some(if *way == Token::Within { Reading::Unsure(date) } else { Reading::Sure(date) })
    }

    /// `Monday`, `next Monday`, `Monday of next week`. Two ways of counting that differ leave it unsure.
    fn weekday(&self, tokens: &[Token]) -> Option<Reading<Date>> {
        let week = |which: &Token, weekday: &i64| {
            let monday = self.today.plus(-self.today.weekday())?;
            let weeks = match which {
                Token::Next | Token::Coming => 7,
                Token::Last => -7,
                _ => 0,
            };
            monday.plus(weeks + weekday).map(Reading::Sure)
        };
        let (which, weekday) = match tokens {
            [Token::Weekday(weekday)] => (None, weekday),
            [which @ (Token::Next | Token::Coming | Token::This | Token::Last), Token::Weekday(weekday)]
            | [Token::Weekday(weekday), which @ (Token::Next | Token::Coming | Token::This | Token::Last)] => {
                (Some(which), weekday)
            }
            [
                which @ (Token::Next | Token::Coming | Token::This | Token::Last),
                Token::Unit(Unit::Week),
                Token::Weekday(weekday),
            ]
            | [
                Token::Weekday(weekday),
                which @ (Token::Next | Token::Coming | Token::This | Token::Last),
                Token::Unit(Unit::Week),
            ] => return week(which, weekday),
            _ => return None,
        };
        let ahead = (weekday - self.today.weekday()).rem_euclid(7);
        let coming = self.today.plus(if ahead == 0 { 7 } else { ahead })?;
        let recent = self.today.plus(if ahead == 0 { -7 } else { ahead - 7 })?;
        let in_week = self.today.plus(weekday - self.today.weekday())?;
        Some(match which {
            Some(Token::Coming) => Reading::Sure(coming),
            Some(Token::Next) if coming.since(in_week) == 7 => Reading::Sure(coming),
            Some(Token::Next) => Reading::Unsure(coming),
            Some(Token::Last) if in_week.since(recent) == 7 => Reading::Sure(recent),
            Some(Token::Last) => Reading::Unsure(recent),
            Some(Token::This) if in_week > self.today => Reading::Sure(in_week),
            Some(Token::This) if self.future == Some(false) && in_week < self.today => Reading::Sure(in_week),
            Some(_) => return None,
            None if self.future == Some(false) => Reading::Sure(recent),
            None if ahead == 0 => Reading::Unsure(coming),
            None => Reading::Sure(coming),
        })
    }

    /// A day of a named month, or of this or next month.
    fn of_month(&self, tokens: &[Token]) -> Option<Reading<Date>> {
        let month = tokens.iter().any(|token| matches!(token, Token::Month(_)));
        let rest: Vec<&Token> =
            tokens.iter().filter(|token| !(month && **token == Token::DateWord)).collect();
        let raw: Vec<(i64, usize)> = rest
            .iter()
            .filter_map(|token| match token {
                Token::Number { text, .. } => Some((whole(text)?, text.len())),
                _ => None,
            })
            .collect();
        match (rest.as_slice(), raw.as_slice()) {
            (
                [Token::Number { .. }, Token::Month(month)] | [Token::Month(month), Token::Number { .. }],
                [(day, length)],
            ) => {
                match length {
                    1 | 2 => self.without_year(*day, *month),
                    // `26 2026`, said in one breath.
                    5 | 6 => Date::new(day % 10_000, *month, day / 10_000).map(Reading::Sure),
                    _ => None,
                }
            }
            (
                [Token::Number { .. }, Token::Month(month), Token::Number { .. }]
                | [Token::Month(month), Token::Number { .. }, Token::Number { .. }],
                [(day, _), (year, 4)],
            ) => Date::new(*year, *month, *day).map(Reading::Sure),
            (
                [Token::Number { .. }, Token::Number { .. }, Token::Number { .. }],
                [(day, 1..=2), (month, 1..=2), (year, 4)],
            ) => Date::new(*year, *month, *day).map(Reading::Sure),
            (tokens, [(day, 1..=2)]) => {
                let which: Vec<&Token> = tokens
                    .iter()
                    .copied()
                    .filter(|token| !matches!(token, Token::Number { .. } | Token::DateWord))
                    .collect();
                let dated = tokens.iter().any(|token| **token == Token::DateWord);
                self.day_of(*day, &which, dated)
            }
            _ => None,
        }
    }

    fn day_of(&self, day: i64, which: &[&Token], dated: bool) -> Option<Reading<Date>> {
        let (year, month, _) = self.today.parts();
        let in_month = |months: i64| {
            let first = Date::new(year, month, 1)?.plus_months(months)?.parts();
            Date::new(first.0, first.1, day)
        };
        match which {
            [Token::Next | Token::Coming, Token::Unit(Unit::Month)] => in_month(1).map(Reading::Sure),
            [Token::This, Token::Unit(Unit::Month)] => in_month(0).map(Reading::Sure),
            [Token::Last, Token::Unit(Unit::Month)] => in_month(-1).map(Reading::Sure),
            [] if dated => {
                let coming = (0..3).filter_map(in_month).find(|date| *date > self.today);
                let recent = (-2..=0).rev().filter_map(in_month).find(|date| *date <= self.today);
                match self.future {
                    Some(true) => coming.map(Reading::Sure),
                    Some(false) => recent.map(Reading::Sure),
                    None => coming.map(Reading::Unsure),
                }
            }
            _ => None,
        }
    }

    fn without_year(&self, day: i64, month: i64) -> Option<Reading<Date>> {
        Date::new(2024, month, day)?;
        let year = self.today.parts().0;
        let coming =
            (year..year + 9).filter_map(|year| Date::new(year, month, day)).find(|date| *date >= self.today);
        let recent = (year - 8..=year)
            .rev()
            .filter_map(|year| Date::new(year, month, day))
            .find(|date| *date <= self.today);
        match self.future {
            Some(true) => coming.map(Reading::Sure),
            Some(false) => recent.map(Reading::Sure),
            None => {
                let (coming, recent) = (coming?, recent?);
                let far = coming == recent || self.today.since(recent) > RECENT_DAYS;
                Some(if far { Reading::Sure(coming) } else { Reading::Unsure(coming) })
            }
        }
    }
}

fn whole(text: &str) -> Option<i64> {
    text.parse().ok().filter(|number: &i64| (0..1_000_000).contains(number))
}
