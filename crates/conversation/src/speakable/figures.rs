//! Numbers, sums of money, units, ordinals, and digits one by one.

use super::codes::by_digit;
use super::spell::{Before, whole_number};
use super::table::Speech;
use super::text::{Text, in_word, is_native};
use crate::language::fold;
use crate::language::numbers::Token;
use crate::language::table::{Meaning, table};

/// A number as it is written.
pub struct Number {
    /// Digits without commas.
    pub whole: String,
    pub grouped: bool,
    pub fraction: Option<String>,
    pub end: usize,
}

/// The rupee in Latin and Indian letters; a full stop may follow.
const RUPEE: [&str; 13] = ["inr", "rs", "re", "रु", "रू", "ரூ", "రూ", "ರೂ", "രൂ", "રૂ", "ਰੁ", "ਰੂ", "ଟ"];
/// Units and how they are written.
const UNITS: [(&str, &[&str]); 15] = [
    ("kg", &["kg", "kgs"]),
    ("gm", &["gm", "gms"]),
    ("km", &["km", "kms"]),
    ("cm", &["cm", "cms"]),
    ("mm", &["mm"]),
    ("ltr", &["ltr", "ltrs"]),
    ("ml", &["ml"]),
    ("hr", &["hr", "hrs"]),
    ("min", &["min", "mins"]),
    ("sec", &["sec", "secs"]),
    ("gb", &["gb"]),
    ("mb", &["mb"]),
    ("kb", &["kb"]),
    ("sqft", &["sqft", "sq ft", "sq. ft", "sq.ft"]),
    ("ft", &["ft"]),
];

/// The number that begins here. `None` for one that goes on (`1.2.3`, `10,15`), which may be anything.
pub fn number(text: &Text, at: usize) -> Option<Number> {
    let mut end = text.digits_end(at);
    let mut whole = text.slice(at, end);
    if whole.is_empty() {
        return None;
    }
    let (groups_end, groups) = groups(text, end);
    let grouped = !groups.is_empty();
    if grouped {
        if whole.len() > 3 {
            return None;
        }
        whole.push_str(&groups);
        end = groups_end;
    }
    let goes_on = |end: usize| text.at(end).is_some_and(|sign| ".,".contains(sign)) && text.is_digit(end + 1);
    let mut fraction = None;
    if text.at(end) == Some('.') && text.is_digit(end + 1) {
        let fraction_end = text.digits_end(end + 1);
        fraction = Some(text.slice(end + 1, fraction_end));
        end = fraction_end;
    }
    (!goes_on(end)).then_some(Number { whole, grouped, fraction, end })
}

/// The digits of the groups that follow (`,25,000`), if they are groups: two or three digits, at last three.
fn groups(text: &Text, at: usize) -> (usize, String) {
    let (mut end, mut digits, mut last) = (at, String::new(), 0);
    while text.at(end) == Some(',') && text.is_digit(end + 1) {
        let next = text.digits_end(end + 1);
        last = next - end - 1;
        if !(2..=3).contains(&last) {
            return (at, String::new());
        }
        digits.push_str(&text.slice(end + 1, next));
        end = next;
    }
    if last == 3 { (end, digits) } else { (at, String::new()) }
}

impl Number {
    fn value(&self) -> Option<u64> {
        whole_number(&self.whole)
    }

    /// In words, as far as there are words for it; the rest digit by digit.
    fn said(&self, speech: &Speech, before: Before) -> String {
        speech.decimal(&self.whole, self.fraction.as_deref(), before).unwrap_or_else(|| {
            let whole = by_digit(speech, &self.whole);
            match &self.fraction {
                None => whole,
                Some(fraction) => format!("{whole} {} {}", speech.written.point, speech.digits(fraction)),
            }
        })
    }

    /// The number times a scale, if that is a whole number: 1.5 lakh is 1,50,000.
    fn times(&self, scale: u64) -> Option<Self> {
        let mut value = self.value()?.checked_mul(scale)?;
        if let Some(fraction) = self.fraction.as_deref().map(|digits| digits.trim_end_matches('0')) {
            let size = 10u64.checked_pow(u32::try_from(fraction.len()).ok()?)?;
            let parts = fraction.parse::<u64>().unwrap_or(0).checked_mul(scale)?;
            if !parts.is_multiple_of(size) {
                return None;
            }
            value = value.checked_add(parts / size)?;
        }
        let whole = value.to_string();
        whole_number(&whole).map(|_| Self { whole, grouped: true, fraction: None, end: self.end })
    }
}

/// A number that begins here, with what belongs to it.
pub fn read(text: &Text, at: usize, speech: &Speech) -> Option<(usize, String)> {
    let first = text.at(at)?;
    let words = &speech.written;
    if let Some((length, said)) = money(text, at, speech) {
        return Some((length, said));
    }
    if "+-".contains(first) {
        let free = text.before(at).is_none_or(|before| before.is_whitespace() || before == '(');
        let sign = if first == '-' { &words.minus } else { &words.plus };
        let (length, said) = free.then(|| plain(text, at + 1, speech))??;
        return Some((length + 1, format!("{sign} {said}")));
    }
    if first == '#' {
        let end = text.digits_end(at + 1);
        let free = end > at + 1 && !text.at(end).is_some_and(in_word);
        let named = &words.abbreviations["no"];
        return free.then(|| (end - at, format!("{named} {}", by_digit(speech, &text.slice(at + 1, end)))));
    }
    plain(text, at, speech)
}

fn plain(text: &Text, at: usize, speech: &Speech) -> Option<(usize, String)> {
    if !text.is_digit(at) {
        return None;
    }
    let Some(number) = number(text, at) else { return Some(as_written(text, at)) };
    let said = |end: usize, said: String| Some((end - at, said));
    if let Some(end) = slash_dash(text, number.end) {
        return said(end, rupees(speech, &number));
    }
    if let Some((end, measure)) = measure(text, number.end, speech, &number) {
        return said(end, format!("{} {measure}", number.said(speech, Before::Noun)));
    }
    if let Some((end, text)) = measured_range(text, speech, &number) {
        return said(end, text);
    }
    let alone = number.fraction.is_none() && !number.grouped;
    let next = text.at(number.end);
    if alone && let Some(end) = text.one_of(number.end, ["st", "nd", "rd", "th"]) {
        return said(end, speech.ordinal(number.value().filter(|number| *number > 0)?));
    }
    if let Some((end, scale)) = scale(text, number.end, speech)
        && let Some(scaled) = number.times(scale)
    {
        let before = match rupee_after(text, end, speech) {
            Some(Rupee::Sign(end)) => return said(end, rupees(speech, &scaled)),
            Some(Rupee::Word(_)) => Before::Noun,
            None => before(text, end, speech),
        };
        return said(end, scaled.said(speech, before));
    }
    if next.is_some_and(|next| next.is_ascii_alphabetic() || next == '_') {
        return None;
    }
    if next.is_some_and(|next| "-/:–—*×~".contains(next)) && text.is_digit(number.end + 1) {
        return Some(as_written(text, at));
    }
    match rupee_after(text, number.end, speech) {
        Some(Rupee::Sign(end)) => return said(end, rupees(speech, &number)),
        Some(Rupee::Word(end)) if number.fraction.as_ref().is_some_and(|paise| paise.len() < 3) => {
            return said(end, rupees(speech, &number));
        }
        Some(Rupee::Word(_)) => return said(number.end, number.said(speech, Before::Noun)),
        None => {}
    }
    if alone {
        return said(number.end, integer(text, at, &number, speech));
    }
    let before = before(text, number.end, speech);
    said(number.end, number.said(speech, before))
}

/// A whole number without commas: digit by digit if it is a name of something, else in words.
fn integer(text: &Text, at: usize, number: &Number, speech: &Speech) -> String {
    let digits = number.whole.as_str();
    let masked = text.before(at).is_some_and(|before| "*•xX".contains(before));
    let round = digits.len() - digits.trim_end_matches('0').len() >= 4;
    let named = digits.len() >= 3 && text.announced(at, number.end, speech);
    if masked || named || (digits.len() > 1 && digits.starts_with('0')) || (digits.len() >= 8 && !round) {
        return by_digit(speech, digits);
    }
    match number.value() {
        Some(year @ 1900..=2099) if digits.len() == 4 && speech.written.year_in_pairs && dated(text, at) => {
            speech.year(year)
        }
        _ => number.said(speech, before(text, number.end, speech)),
    }
}

/// Whether the number that ends here counts the word after it.
fn before(text: &Text, end: usize, speech: &Speech) -> Before {
    let next = text.past_spaces(end, 1);
    let Some(joining) = speech.joining.as_ref().filter(|_| next > end) else { return Before::Nothing };
    let counts = text.at(next).is_some_and(is_native) && !joining.contains(&text.word(next));
    if counts { Before::Noun } else { Before::Nothing }
}

/// Whether an English word before the number shows that it is a year.
fn dated(text: &Text, at: usize) -> bool {
    let before = text.slice(at.saturating_sub(12), at).to_lowercase();
    let word = before.split_whitespace().next_back().unwrap_or_default();
    before.ends_with(' ') && matches!(word, "in" | "since" | "year" | "until" | "till" | "fy")
}

/// What stays as it is written: digits with signs between them, such as `10-15`, `1/2`, `1.2.3`.
pub fn as_written(text: &Text, at: usize) -> (usize, String) {
    let mut end = text.digits_end(at);
    while text.at(end).is_some_and(|sign| ".,/:-–—*×~".contains(sign)) && text.is_digit(end + 1) {
        end = text.digits_end(end + 1);
    }
    (end - at, text.slice(at, end))
}

fn slash_dash(text: &Text, at: usize) -> Option<usize> {
    let here = text.at(at) == Some('/') && matches!(text.at(at + 1), Some('-' | '=' | '–'));
    (here && !text.is_digit(at + 2)).then_some(at + 2)
}

/// A per cent sign or a unit after a number, and how it is said.
fn measure(text: &Text, at: usize, speech: &Speech, number: &Number) -> Option<(usize, String)> {
    let next = text.past_spaces(at, 1);
    if text.at(next) == Some('%') {
        return Some((next + 1, speech.written.percent.clone()));
    }
    let written = |forms: &[&str]| text.one_of(next, forms.iter().copied());
    let (name, end) = UNITS.iter().find_map(|(name, forms)| written(forms).map(|end| (*name, end)))?;
    if text.at(end) == Some('/') {
        return None;
    }
    let unit = speech.written.units.get(name)?;
    let single = number.whole == "1" && number.fraction.is_none() && unit.is_ascii();
    let unit = if single { unit.strip_suffix('s').unwrap_or(unit) } else { unit };
    // A full stop of the abbreviation, in the middle of the sentence.
    let stop =
        text.at(end) == Some('.') && text.at(text.past_spaces(end + 1, 1)).is_some_and(char::is_lowercase);
    Some((end + usize::from(stop), unit.to_owned()))
}

/// `10-12%`, `5-6 kg`: with a measure behind it, it can only be a range.
fn measured_range(text: &Text, speech: &Speech, number: &Number) -> Option<(usize, String)> {
    let second = dash(text, number.end).and_then(|at| self::number(text, at))?;
    let (end, measure) = measure(text, second.end, speech, &second)?;
    let (a, b) = (number.said(speech, Before::Nothing), second.said(speech, Before::Noun));
    Some((end, speech.range(&a, &format!("{b} {measure}"))))
}

/// Where what comes after a dash with or without spaces begins.
pub fn dash(text: &Text, at: usize) -> Option<usize> {
    let sign = text.past_spaces(at, 1);
    let after = sign + 1;
    (matches!(text.at(sign), Some('-' | '–' | '—'))).then(|| text.past_spaces(after, 1))
}

impl Speech {
    /// From one to the other.
    pub fn range(&self, a: &str, b: &str) -> String {
        let written = &self.written;
        let joined = written.range.replace("{a}", a).replace("{b}", b);
        written.range_joins.iter().fold(joined, |text, (from, to)| text.replacen(from, to, 1))
    }
}

/// A word of scale after a number (`lakh`, `cr`, `k`, लाख): where it ends and what it is.
fn scale(text: &Text, at: usize, speech: &Speech) -> Option<(usize, u64)> {
    let next = text.past_spaces(at, 1);
    let end = text.end(next, |letter| in_word(letter) && !letter.is_ascii_digit());
    if end == next || end - next > 24 {
        return None;
    }
    let word = text.slice(next, end);
    if word.len() == 1 && next > at {
        return None;
    }
    let folded = fold::letters(&word);
    let mut tables = [table(speech.code), table("en")].into_iter().flatten();
    match tables.find_map(|table| table.exact(&folded))? {
        Meaning::Number(tokens) => match &tokens[..] {
            [Token::Scale(scale)] if *scale >= 1000 => Some((end, *scale)),
            _ => None,
        },
        _ => None,
    }
}

// --- money

enum Rupee {
    /// An abbreviation or a sign, which ends here.
    Sign(usize),
    /// A word, which ends here.
    Word(usize),
}

fn rupee_after(text: &Text, at: usize, speech: &Speech) -> Option<Rupee> {
    let next = text.past_spaces(at, 1);
    if matches!(text.at(next), Some('₹' | '₨')) {
        let digit = text.is_digit(text.past_spaces(next + 1, 1));
        return (!digit).then_some(Rupee::Sign(next + 1));
    }
    let end = text.word_end(next);
    if end == next {
        return None;
    }
    let word = text.word(next);
    if matches!(word.as_str(), "rs" | "inr")
        || (text.at(end) == Some('.') && RUPEE.iter().any(|sign| fold::letters(sign) == word))
    {
        let more = text.at(end) == Some('.') && text.at(end + 1).is_some();
        return Some(Rupee::Sign(end + usize::from(more)));
    }
    let known =
        |word: &String| speech.currency.contains(word) || ["rupees", "rupee"].contains(&word.as_str());
    known(&word).then_some(Rupee::Word(end))
}

/// The currency that stands before a sum: where the sum begins.
fn currency(text: &Text, at: usize) -> Option<(char, usize)> {
    let first = text.at(at)?;
    if "₹₨$€£".contains(first) {
        return Some((if first == '₨' { '₹' } else { first }, text.past_spaces(at + 1, 1)));
    }
    let end = text.end(at, |letter| in_word(letter) && !letter.is_ascii_digit());
    if end == at || end - at > 4 {
        return None;
    }
    let word = text.slice(at, end).to_lowercase();
    let end = if text.at(end) == Some('.') { end + 1 } else { end };
    RUPEE.contains(&word.as_str()).then(|| ('₹', text.past_spaces(end, 2)))
}

/// A sum with its currency before it.
pub fn money(text: &Text, at: usize, speech: &Speech) -> Option<(usize, String)> {
    let minus = text.at(at) == Some('-') && text.before(at).is_none_or(char::is_whitespace);
    let (sign, start) = currency(text, at + usize::from(minus))?;
    let inner = text.at(start) == Some('-');
    let start = start + usize::from(inner);
    let number = number(text, start)?;
    let minus = if minus || inner { format!("{} ", speech.written.minus) } else { String::new() };
    let (end, number) = sum(text, speech, number)?;
    if let Some((second_end, second)) = second_sum(text, speech, end, sign) {
        let (a, b) = (number.said(speech, Before::Nothing), in_currency(speech, sign, &second));
        return Some((second_end - at, format!("{minus}{}", speech.range(&a, &b))));
    }
    // The sum goes on in a way that is not known.
    let open = text.at(end).is_some_and(|next| {
        next.is_ascii_alphanumeric() || ("-/:–—".contains(next) && text.is_digit(end + 1))
    });
    if open {
        let (length, _) = as_written(text, start);
        return Some((start + length - at, text.slice(at, start + length)));
    }
    Some((end - at, format!("{minus}{}", in_currency(speech, sign, &number))))
}

/// A number with its scale, and where it ends with all that belongs to it.
fn sum(text: &Text, speech: &Speech, number: Number) -> Option<(usize, Number)> {
    if let Some((end, scale)) = scale(text, number.end, speech) {
        return number.times(scale).map(|number| (end, number));
    }
    if text.one_of(number.end, ["l"]).is_some()
        && let Some(lakhs) = number.times(100_000)
    {
        return Some((number.end + 1, lakhs));
    }
    Some((slash_dash(text, number.end).unwrap_or(number.end), number))
}

/// The second sum of a range: `₹500-1,000`.
fn second_sum(text: &Text, speech: &Speech, at: usize, sign: char) -> Option<(usize, Number)> {
    let start = dash(text, at)?;
    let start = match currency(text, start) {
        Some((second, start)) if second == sign => start,
        Some(_) => return None,
        None => start,
    };
    let (end, number) = sum(text, speech, self::number(text, start)?)?;
    let open = text.at(end).is_some_and(|next| next.is_ascii_alphanumeric() || "-/:".contains(next));
    (!open).then_some((end, number))
}

fn in_currency(speech: &Speech, sign: char, number: &Number) -> String {
    let words = &speech.written;
    let name = match sign {
        '$' => &words.dollars,
        '€' => &words.euros,
        '£' => &words.pounds,
        _ => return rupees(speech, number),
    };
    format!("{} {name}", number.said(speech, Before::Noun))
}

/// Rupees and paise.
fn rupees(speech: &Speech, number: &Number) -> String {
    let words = &speech.written;
    let paise = match number.fraction.as_deref() {
        None => 0,
        Some(fraction) if fraction.len() > 2 => {
            return format!("{} {}", number.said(speech, Before::Noun), words.rupees);
        }
        Some(fraction) => format!("{fraction:0<2}").parse::<u64>().unwrap_or(0),
    };
    let small = format!(
        "{} {}",
        speech.cardinal(paise, Before::Noun),
        if paise == 1 { &words.paisa } else { &words.paise }
    );
    if paise > 0 && number.value() == Some(0) {
        return small;
    }
    let one = number.value() == Some(1);
    let whole = Number { whole: number.whole.clone(), grouped: true, fraction: None, end: 0 };
    let large =
        format!("{} {}", whole.said(speech, Before::Noun), if one { &words.rupee } else { &words.rupees });
    match (paise, words.paise_join.as_str()) {
        (0, _) => large,
        (_, "") => format!("{large} {small}"),
        (_, join) => format!("{large} {join} {small}"),
    }
}
