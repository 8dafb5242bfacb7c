//! Staged calling lists: what is judged of their rows before they take effect (docs/contract/campaigns.md#staged-lists).

use closed_sets::words;

use super::codes::InvalidReason;
use crate::compliance::Gate;

/// Most bytes of variables of a staged list.
pub const MAX_BYTES: i64 = 64 << 20;
/// Most staged lists of a campaign.
pub const MAX_OF_CAMPAIGN: i64 = 3;
/// Most staged lists of a workspace.
pub const MAX_OF_WORKSPACE: i64 = 10;
/// Longest value that a finding shows, characters.
pub const MAX_SHOWN: usize = 200;

words! {
    /// What a finding does, in the order of harm.
    pub enum Harm {
        /// The list cannot take effect while it has such rows.
        Stops = "stops",
        /// The row is never dialled.
        NeverDialled = "never_dialled",
        /// A rule of the compliance pack refuses the call.
        Skipped = "skipped",
        /// The row is dialled later.
        Waits = "waits",
        /// A value that can be read in more than one way.
        ReadAs = "read_as",
    }
}

words! {
    /// What was found about rows of a staged list.
    pub enum FindingCode {
        /// A value that the agent's flow requires is missing.
        MissingVariables = "missing_required_variables",
        InvalidPhone = "invalid_phone",
        NotIndian = "not_indian",
        Duplicate = "duplicate",
        Erased = "erased",
        /// On the do-not-call registry.
        Dnd = "dnd",
        /// On the workspace's do-not-call list, or opted out.
        OptOut = "opt_out",
        Consent = "consent",
        NumberSeries = "number_series",
        /// Outside the hours of the pack and of the campaign.
        CallingWindow = "calling_window",
        FrequencyCap = "frequency_cap",
        /// More rows than the own numbers of the campaign may dial on a day.
        CallerIdCap = "caller_id_cap",
        DayFirst = "date_day_first",
        MonthFirst = "date_month_first",
        /// A number in exponent notation, whose last digits a spreadsheet dropped.
        Exponent = "number_with_exponent",
    }
}

impl FindingCode {
    /// What a finding of this code does.
    pub fn harm(self) -> Harm {
        match self {
            Self::MissingVariables => Harm::Stops,
            Self::InvalidPhone
            | Self::NotIndian
            | Self::Duplicate
            | Self::Erased
            | Self::Dnd
            | Self::OptOut => Harm::NeverDialled,
            Self::Consent | Self::NumberSeries => Harm::Skipped,
            Self::CallingWindow | Self::FrequencyCap | Self::CallerIdCap => Harm::Waits,
            Self::DayFirst | Self::MonthFirst | Self::Exponent => Harm::ReadAs,
        }
    }

    /// The finding of a row that is never dialled.
    pub fn invalid(reason: InvalidReason) -> Self {
        match reason {
            InvalidReason::InvalidPhone => Self::InvalidPhone,
            InvalidReason::NotIndian => Self::NotIndian,
            InvalidReason::Duplicate => Self::Duplicate,
            InvalidReason::Erased => Self::Erased,
        }
    }

    /// The finding of a gate that refuses.
    pub fn refused(gate: Gate) -> Self {
        match gate {
            Gate::Dnd => Self::Dnd,
            Gate::OptOut => Self::OptOut,
            Gate::CallingWindow => Self::CallingWindow,
            Gate::FrequencyCap => Self::FrequencyCap,
            Gate::Consent => Self::Consent,
            Gate::NumberSeries => Self::NumberSeries,
        }
    }
}

/// How a value with more than one reading is read on a call: which reading it is, and the value in its plain form, a date
/// as `YYYY-MM-DD` and a number without its exponent. `None`: there is one reading only.
pub fn reading(value: &str) -> Option<(FindingCode, String)> {
    let value = value.trim();
    // Longer than any date or number: not worth a look.
    if value.len() > 24 || !value.starts_with(|first: char| first.is_ascii_digit() || "+-.".contains(first)) {
        return None;
    }
    date(value).or_else(|| exponent(value))
}

/// A date whose first two parts could each be the month.
fn date(value: &str) -> Option<(FindingCode, String)> {
    let separator = value.chars().find(|letter| "/-.".contains(*letter))?;
    let mut parts = value.split(separator);
    let (first, second, third) = (parts.next()?, parts.next()?, parts.next()?);
    let number = |text: &str, digits: std::ops::RangeInclusive<usize>| {
        (digits.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit()))
            .then(|| text.parse::<u16>().ok())?
    };
    if parts.next().is_some() || third.len() == 3 || (third.len() == 2 && separator == '.') {
        return None;
    }
    let (first, second) = (number(first, 1..=2)?, number(second, 1..=2)?);
    let year = match (number(third, 2..=4)?, third.len()) {
        (year, 2) if year < 50 => 2000 + year,
        (year, 2) => 1900 + year,
        (year, _) => year,
    };
    // Short years are always read day first.
    let (code, day, month) = match second {
        13..=31 if third.len() == 4 => (FindingCode::MonthFirst, second, first),
        _ => (FindingCode::DayFirst, first, second),
    };
    // With a first part above 12 there is one reading.
    let two_readings = code == FindingCode::MonthFirst || (day <= 12 && day != month);
    if !two_readings || day == 0 || !(1..=12).contains(&month) || !(1000..=2999).contains(&year) {
        return None;
    }
    Some((code, format!("{year:04}-{month:02}-{day:02}")))
}

/// A number such as `9.8E+09`.
fn exponent(value: &str) -> Option<(FindingCode, String)> {
    let at = value.find(['e', 'E'])?;
    let (mantissa, power) = (&value[..at], &value[at + 1..]);
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let plain = |text: &str| digits(&text.replacen('.', "", 1));
    let unsigned = |text: &'_ str| text.strip_prefix(['+', '-']).unwrap_or(text).to_owned();
    if !plain(&unsigned(mantissa)) || !digits(&unsigned(power)) {
        return None;
    }
    let number: f64 = value.parse().ok()?;
    (number.abs() >= 1.0 && number.abs() < 1e15).then(|| (FindingCode::Exponent, format!("{number:.0}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_with_two_readings_are_found() {
        for (value, expected) in [
            ("05/11/2026", Some((FindingCode::DayFirst, "2026-11-05"))),
            (" 5-11-26 ", Some((FindingCode::DayFirst, "2026-11-05"))),
            ("05.11.2026", Some((FindingCode::DayFirst, "2026-11-05"))),
            ("25/11/2026", None),
            ("11/25/2026", Some((FindingCode::MonthFirst, "2026-11-25"))),
            // The same day by either reading, no date, a version, a year first.
            ("11/11/2026", None),
            ("13/13/2026", None),
            ("1.2.3", None),
            ("05.11.26", None),
            ("2026-11-05", None),
            ("1/2/2026/3", None),
            ("9.8E+09", Some((FindingCode::Exponent, "9800000000"))),
            ("9.81234567e9", Some((FindingCode::Exponent, "9812345670"))),
            ("E9", None),
            ("9E", None),
            ("1e999", None),
            ("12 e 5", None),
            ("98123 45678", None),
            ("", None),
            ("₹1,84,250", None),
        ] {
            let found = reading(value);
            assert_eq!(found.as_ref().map(|(code, plain)| (*code, plain.as_str())), expected, "{value}");
        }
    }

    /// What a finding says of a date is what is said on a call.
    #[test]
    fn dates_are_read_as_they_are_spoken() {
        use crate::conversation::speakable::{Pronunciations, Speakable};
        let speakable = Speakable::new("en", true, Pronunciations::default());
        for value in ["05/11/2026", "5-11-26", "05.11.2026", "11/25/2026", "1/2/2049", "1/2/51"] {
            let (_, plain) = reading(value).expect(value);
            assert_eq!(speakable.prepare(value).said(), speakable.prepare(&plain).said(), "{value}");
        }
    }

    #[test]
    fn every_reason_has_a_finding_and_harm_goes_down() {
        let harms: Vec<usize> = FindingCode::ALL
            .iter()
            .map(|code| Harm::ALL.iter().position(|harm| *harm == code.harm()).unwrap())
            .collect();
        assert!(harms.is_sorted(), "{harms:?}");
        for reason in InvalidReason::ALL {
            assert_eq!(FindingCode::invalid(*reason).as_str(), reason.as_str());
        }
        for gate in Gate::ALL {
            assert_eq!(FindingCode::refused(*gate).as_str(), gate.as_str());
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_or_left(value in ".{0,40}") {
            if let Some((_, plain)) = reading(&value) {
                proptest::prop_assert!(plain.len() <= 20);
            }
        }
    }
}
