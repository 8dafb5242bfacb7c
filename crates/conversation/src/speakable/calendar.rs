//! Dates and times.

use super::figures::dash;
use super::spell::Before;
use super::table::Speech;
use super::text::{Text, in_word};

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
/// India's time.
const INDIA: [&str; 2] = ["+05:30", "+0530"];

/// A date or a time that begins here with a digit.
pub fn read(text: &Text, at: usize, speech: &Speech) -> Option<(usize, String)> {
    if !text.is_digit(at) {
        return None;
    }
    moment(text, at, speech)
        .or_else(|| {
            let (end, date) = date(text, at).filter(|(end, _)| text.at(*end) != Some('T'))?;
            Some((end - at, date.said(speech)))
        })
        .or_else(|| day_first(text, at, speech))
        .or_else(|| times(text, at, speech))
}

struct Date {
    year: Option<u32>,
    month: u32,
    day: u32,
}

impl Date {
    fn of(year: Option<u32>, month: u32, day: u32) -> Option<Self> {
        let days = match month {
            2 => {
                28 + u32::from(year.is_none_or(|year| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)))
            }
            4 | 6 | 9 | 11 => 30,
            1..=12 => 31,
            _ => return None,
        };
        ((1..=days).contains(&day) && year.is_none_or(|year| (1000..=2999).contains(&year))).then_some(Self {
            year,
            month,
            day,
        })
    }

    fn said(&self, speech: &Speech) -> String {
        let day = u64::from(self.day);
        // English counts the days.
        let day =
            if speech.code == "en" { speech.ordinal(day) } else { speech.cardinal(day, Before::Nothing) };
        let month = speech.months.get(self.month as usize - 1).cloned().unwrap_or_default();
        let year = self.year.map(|year| speech.year(u64::from(year))).unwrap_or_default();
        let said = speech.written.date.replace("{day}", &day).replace("{month}", &month);
        said.replace("{year}", &year).trim().to_owned()
    }
}

/// A number of one to `most` digits: its value, how many digits, and where it ends.
fn figure(text: &Text, at: usize, most: usize) -> Option<(u32, usize, usize)> {
    let end = text.digits_end(at);
    let count = end - at;
    (1..=most).contains(&count).then(|| text.slice(at, end).parse().ok().map(|value| (value, count, end)))?
}

/// Day, month and year in digits, or year, month and day.
fn date(text: &Text, at: usize) -> Option<(usize, Date)> {
    let (first, first_digits, end) = figure(text, at, 4)?;
    let sign = text.at(end).filter(|sign| "/-.".contains(*sign))?;
    let (second, second_digits, end) = figure(text, end + 1, 2)?;
    (text.at(end) == Some(sign)).then_some(())?;
    let (third, third_digits, end) = figure(text, end + 1, 4)?;
    let goes_on = text.at(end).is_some_and(|next| ".,/:-".contains(next)) && text.is_digit(end + 1);
    if goes_on || text.at(end).is_some_and(|next| next.is_ascii_alphabetic() && next != 'T') {
        return None;
    }
    let date = match (first_digits, second_digits, third_digits) {
        (4, _, 1..=2) => Date::of(Some(first), second, third),
        (1..=2, _, 4) if second > 12 => Date::of(Some(third), first, second),
        (1..=2, _, 4) => Date::of(Some(third), second, first),
        (1..=2, _, 2) if sign != '.' => {
            Date::of(Some(if third < 50 { 2000 + third } else { 1900 + third }), second, first)
        }
        _ => None,
    };
    date.map(|date| (end, date))
}

/// `2026-11-26T18:30:00+05:30`, `2026-11-26 18:30`.
fn moment(text: &Text, at: usize, speech: &Speech) -> Option<(usize, String)> {
    let (end, date) = date(text, at)?;
    if text.at(end) != Some('T') {
        return None;
    }
    let (hour, 2, end) = figure(text, end + 1, 2)? else { return None };
    let (minute, 2, mut end) = figure(text, (text.at(end)? == ':').then_some(end + 1)?, 2)? else {
        return None;
    };
    if text.at(end) == Some(':')
        && let Some((_, 2, seconds)) = figure(text, end + 1, 2)
    {
        end = seconds;
        if text.at(end) == Some('.') && text.is_digit(end + 1) {
            end = text.digits_end(end + 1);
        }
    }
    end = INDIA.iter().find_map(|zone| text.one_of(end, [*zone])).unwrap_or(end);
    let time = Time::of(hour, minute, Some(hour))?;
    let ends = !text.at(end).is_some_and(|next| in_word(next) || "+-:".contains(next));
    ends.then(|| (end - at, format!("{}, {}", date.said(speech), time.said(speech))))
}

/// The month that is named here in English, as a word or its abbreviation; where it ends.
fn month(text: &Text, at: usize) -> Option<(u32, usize)> {
    if !text.at(at)?.is_ascii_uppercase() {
        return None;
    }
    let end = text.end(at, |letter| letter.is_ascii_alphabetic());
    let word = text.slice(at, end.min(at + 10)).to_lowercase();
    let found = MONTHS.iter().position(|month| {
        *month == word || month[..3] == word || (word == "sept" && *month == "september")
    })?;
    let short = word.len() < 5 && MONTHS[found] != word;
    // A full stop at the end of the text ends its sentence.
    let stop = short && text.at(end) == Some('.') && text.at(end + 1).is_some();
    let end = end + usize::from(stop);
    let ends = !text.at(end).is_some_and(in_word);
    ends.then(|| Some((u32::try_from(found).ok()? + 1, end)))?
}

/// A year after a day and month, with a comma or without.
fn year(text: &Text, at: usize) -> (Option<u32>, usize) {
    let comma = if text.at(at) == Some(',') { at + 1 } else { at };
    let start = text.past_spaces(comma, 1);
    let start = if start == at && matches!(text.at(at), Some('-' | '/')) { at + 1 } else { start };
    match figure(text, start, 4) {
        Some((year @ 1900..=2099, 4, end)) if start > at && !text.at(end).is_some_and(in_word) => {
            (Some(year), end)
        }
        _ => (None, at),
    }
}

/// `26 Nov 2026`, `26th November`, `26-Nov-2026`.
fn day_first(text: &Text, at: usize, speech: &Speech) -> Option<(usize, String)> {
    let (day, _, end) = figure(text, at, 2)?;
    let end = text.one_of(end, ["st", "nd", "rd", "th"]).unwrap_or(end);
    let next = match text.at(end)? {
        '-' | '/' => end + 1,
        _ => text.past_spaces(end, 1),
    };
    (next > end).then_some(())?;
    let (month, end) = month(text, next)?;
    let (year, end) = year(text, end);
    let date = Date::of(year, month, day)?;
    Some((end - at, date.said(speech)))
}

/// `Nov 26, 2026`.
pub fn month_first(text: &Text, at: usize, speech: &Speech) -> Option<(usize, String)> {
    let (month, end) = month(text, at)?;
    let next = text.past_spaces(end, 1);
    let (day, _, end) = figure(text, next, 2).filter(|_| next > end)?;
    let end = text.one_of(end, ["st", "nd", "rd", "th"]).unwrap_or(end);
    let other = text.at(end).is_some_and(|sign| {
        in_word(sign) || (":-/.,%".contains(sign) && text.is_digit(end + 1)) || sign == '%'
    });
    if other {
        return None;
    }
    let (year, end) = year(text, end);
    let date = Date::of(year, month, day)?;
    Some((end - at, date.said(speech)))
}

// --- times

/// A time of the day.
struct Time {
    /// As it is written.
    hour: u32,
    minute: u32,
    /// 0 to 23, where it is known.
    of_day: Option<u32>,
}

impl Time {
    fn of(hour: u32, minute: u32, of_day: Option<u32>) -> Option<Self> {
        (hour < 24 && minute < 60).then_some(Self { hour, minute, of_day })
    }

    fn said(&self, speech: &Speech) -> String {
        self.said_after(speech, "")
    }

    /// After this word of the text, which may already be the part of the day.
    fn said_after(&self, speech: &Speech, word: &str) -> String {
        let time = &speech.written.time;
        let hour = match self.hour % 12 {
            0 => 12,
            hour => hour,
        };
        let hour = speech.cardinal(u64::from(hour), Before::Noun);
        let part = self.of_day.and_then(|hour| time.parts.iter().rev().find(|part| part.0 <= hour));
        let form = match (self.minute, part) {
            (0, None) => &time.bare_hour,
            (0, Some(_)) => &time.hour,
            _ => &time.minutes,
        };
        let part = part.map(|part| part.1.as_str()).filter(|part| *part != word).unwrap_or_default();
        let said = form.replace("{part}", part).replace("{h}", &hour);
        said.replace("{m}", &self.minutes(speech)).trim().to_owned()
    }

    fn minutes(&self, speech: &Speech) -> String {
        let minutes = speech.cardinal(u64::from(self.minute), Before::Nothing);
        match &speech.written.time.zero {
            Some(zero) if self.minute < 10 => format!("{zero} {minutes}"),
            _ => minutes,
        }
    }

    /// Without the words that follow it in the text already.
    fn in_figures(&self, speech: &Speech) -> String {
        let hour = speech.cardinal(u64::from(self.hour), Before::Noun);
        if self.minute == 0 { hour } else { format!("{hour} {}", self.minutes(speech)) }
    }
}

/// A time that begins here, and where it ends: `18:30`, `6:30 pm`, `6pm`, `6.30 p.m.`
fn time(text: &Text, at: usize) -> Option<(usize, Time)> {
    let (hour, _, hour_end) = figure(text, at, 2)?;
    let sign = text.at(hour_end).filter(|sign| ":.".contains(*sign));
    let minute = sign.and_then(|_| figure(text, hour_end + 1, 2)).filter(|minute| minute.1 == 2);
    let (minute, end) = minute.map_or((0, hour_end), |minute| (minute.0, minute.2));
    if text.at(end).is_some_and(|next| ":.,".contains(next)) && text.is_digit(end + 1) {
        return None;
    }
    let next = text.past_spaces(end, 1);
    let half = |words: [&str; 3]| text.one_of(next, words);
    let (half, half_end) = match (half(["am", "a.m.", "a.m"]), half(["pm", "p.m.", "p.m"])) {
        (Some(end), _) => (Some(0), end),
        (_, Some(end)) => (Some(12), end),
        _ => (None, end),
    };
    if let Some(half) = half.filter(|_| (1..=12).contains(&hour)) {
        let of_day = hour % 12 + half;
        return Time::of(hour, minute, Some(of_day)).map(|time| (half_end, time));
    }
    if sign != Some(':') || end == hour_end || text.at(end).is_some_and(|next| next.is_ascii_alphabetic()) {
        return None;
    }
    let known = (hour > 12 || hour == 0).then_some(hour);
    let end = if half.is_some() { half_end } else { end };
    Time::of(hour, minute, known).map(|time| (end, time))
}

/// A time, or from one to another.
fn times(text: &Text, at: usize, speech: &Speech) -> Option<(usize, String)> {
    if let Some((end, mut first)) = time(text, at) {
        let second = dash(text, end).and_then(|start| time(text, start));
        if let Some((end, second)) = second.filter(|(end, _)| !goes_on(text, *end)) {
            // The second shows that hours are counted to 24.
            if second.hour > 12 {
                first.of_day = Some(first.hour);
            }
            let first = first.said_after(speech, &text.word_before(at));
            return Some((end - at, speech.range(&first, &second.said(speech))));
        }
        if goes_on(text, end) {
            return None;
        }
        let next = text.past_spaces(end, 1);
        let named = speech.clock.contains(&text.word(next)) && text.at(next).is_some_and(in_word);
        let said = if named && first.hour > 0 {
            first.in_figures(speech)
        } else {
            first.said_after(speech, &text.word_before(at))
        };
        return Some((end - at, said));
    }
    // `10-11 am`: the first hour has no sign of its own.
    let (hour, _, end) = figure(text, at, 2).filter(|hour| (1..=12).contains(&hour.0))?;
    let (end, second) = dash(text, end).and_then(|start| time(text, start))?;
    let hour = speech.cardinal(u64::from(hour), Before::Nothing);
    (second.of_day.is_some() && second.hour < 13 && !goes_on(text, end))
        .then(|| (end - at, speech.range(&hour, &second.said(speech))))
}

fn goes_on(text: &Text, end: usize) -> bool {
    text.at(end).is_some_and(|next| "-–—/:".contains(next)) && text.is_digit(end + 1)
}
