//! Compliance packs: what the agents using them must keep to. Built-in packs are data here, custom ones (`cpk_…`) are
//! made by the operator (docs/contract/compliance.md#custom-packs).

use std::fmt;

use jiff::civil::Date;
use serde_json::{Map, Value, json};

use super::disclosure::{self, Disclosure};
use super::dlt::{self, DltForm};
use super::number_series::{self, SeriesRule};
use super::pack_rules as rules;
use super::verticals::Vertical;
use crate::window::{CallingHours, Span};

/// Reference of the default pack.
pub const GENERIC_SAFE: &str = "generic-safe@1";

/// How often one number may be dialled; `None` means no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Caps {
    /// Dials in any 24 hours.
    pub per_day: Option<u32>,
    /// Dials in any 7 days.
    pub per_week: Option<u32>,
}

/// A set of rules that an agent names in `policyRef`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pack {
    /// `name@version` of a built-in pack, `cpk_…` of a custom one.
    pub reference: String,
    pub name: String,
    /// When calls may start, in India time.
    pub hours: CallingHours,
    /// How often one number may be dialled.
    pub caps: Caps,
    /// Whether a person must have consented to be called.
    pub require_consent: bool,
    /// Regulated verticals whose agents may use it.
    pub families: Vec<Vertical>,
    /// Which series of numbers calls must show; the first rule that concerns a call decides.
    pub number_series: Vec<SeriesRule>,
    /// The ids that a promotional campaign needs; `None` when it needs none.
    pub dlt: Option<DltForm>,
    /// What must be said in the first seconds.
    pub disclosure: Option<Disclosure>,
}

/// A built-in pack as data, without its version: `(reference, name, from hour, to hour, dials per day, dials per week,
/// families)`.
type Row = (&'static str, &'static str, u16, u16, u32, u32, &'static [Vertical]);

/// The built-in packs (docs/contract/compliance.md#packs), every day of the week. The pack of financial services has
/// the caps of the general pack. Each exists in every version of [`VERSIONS`].
const BUILT_IN: [Row; 4] = [
    ("generic-safe", "Generic safe", 9, 21, 3, 10, &[]),
    ("collections", "Collections", 8, 19, 3, 12, &[Vertical::Collections, Vertical::DebtRecovery]),
    ("lending", "Lending", 8, 19, 3, 12, &[Vertical::Lending]),
    ("financial-services", "Financial services", 9, 20, 3, 10, &[Vertical::FinancialServices]),
];

/// The versions of the built-in packs.
const VERSIONS: [Version; 2] = [Version::First, Version::Second];

/// What sets the versions of the built-in packs apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    /// Warns of numbers of another series.
    First,
    /// Refuses them from the day of the law on; promotional campaigns need their registered ids, and calls of regulated
    /// verticals a disclosure.
    Second,
}

impl Version {
    fn suffix(self) -> &'static str {
        match self {
            Version::First => "@1",
            Version::Second => "@2026",
        }
    }
}

/// A field of a request that is invalid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldError {
    /// Path of the field, for example `hours[0].from`.
    pub field: String,
    /// What it must be.
    pub problem: &'static str,
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.field, self.problem)
    }
}

impl std::error::Error for FieldError {}

pub(super) fn wrong<T>(field: impl Into<String>, problem: &'static str) -> Result<T, FieldError> {
    Err(FieldError { field: field.into(), problem })
}

/// Whether a `policyRef` names a custom pack. Custom packs are looked up in the workspace, all others with
/// [`Pack::built_in`].
pub fn is_custom_reference(reference: &str) -> bool {
    reference.starts_with("cpk_")
}

impl Pack {
    /// The built-in pack of this reference.
    pub fn built_in(reference: &str) -> Option<Pack> {
        let version = VERSIONS.into_iter().find(|version| reference.ends_with(version.suffix()))?;
        let name = reference.strip_suffix(version.suffix())?;
        BUILT_IN.iter().find(|row| row.0 == name).map(|row| pack_of(row, version))
    }

    /// Reads a custom pack: `{name, hours: [{days: [0-6, Monday = 0], from: "HH:MM", to: "HH:MM"}],
    /// holidays?: [date], caps?: {perDay, perWeek}, requireConsent?, families?: [vertical], numberSeries?: [rule], dlt?:
    /// {minDigits, maxDigits}, disclosure?: {withinSeconds, texts}}`. `to` may be `24:00`; hours across midnight need two
    /// entries. Unknown fields are ignored.
    ///
    /// # Errors
    /// The first field that is wrong, with its path.
    pub fn parse_custom(reference: &str, body: &Value) -> Result<Pack, FieldError> {
        let Some(body) = body.as_object() else { return wrong("body", "must be an object") };
        let name = match body.get("name").and_then(Value::as_str).map(str::trim) {
            Some(name) if (1..=120).contains(&name.chars().count()) => name.to_owned(),
            _ => return wrong("name", "must be a string of 1 to 120 characters"),
        };
        let mut hours = read_hours(body)?;
        hours.close_on(read_holidays(body)?);
        let require_consent = match present(body, "requireConsent") {
            None => false,
            Some(Value::Bool(required)) => *required,
            Some(_) => return wrong("requireConsent", "must be true or false"),
        };
        Ok(Pack {
            reference: reference.to_owned(),
            name,
            hours,
            caps: read_caps(body)?,
            require_consent,
            families: read_families(body)?,
            number_series: rules::read_series(body)?,
            dlt: rules::read_dlt(body)?,
            disclosure: rules::read_disclosure(body)?,
        })
    }

    /// The pack in the form that [`Pack::parse_custom`] reads; reading it again gives the same pack.
    pub fn to_json(&self) -> Value {
        let hours: Vec<Value> = (0..7u8)
            .flat_map(|day| {
                self.hours.weekday(day).iter().map(
                    move |span| json!({"days": [day], "from": clock(span.from()), "to": clock(span.to())}),
                )
            })
            .collect();
        let holidays: Vec<String> = self.hours.holidays().iter().map(Date::to_string).collect();
        let families: Vec<&str> = self.families.iter().map(|family| family.as_str()).collect();
        json!({
            "name": self.name, "hours": hours, "holidays": holidays, "caps": {"perDay": self.caps.per_day, "perWeek": self.caps.per_week},
            "requireConsent": self.require_consent, "families": families,
            "numberSeries": rules::series_json(&self.number_series), "dlt": rules::dlt_json(self.dlt),
            "disclosure": rules::disclosure_json(self.disclosure.as_ref()),
        })
    }
}

fn pack_of(row: &Row, version: Version) -> Pack {
    let (reference, name, from, to, per_day, per_week, families) = *row;
    // A test checks the hours of the table. A wrong entry would close the pack, not open it.
    let hours = Span::new(from * 60, to * 60).map(CallingHours::daily).unwrap_or_default();
    let strict = version == Version::Second;
    Pack {
        reference: format!("{reference}{}", version.suffix()),
        name: name.to_owned(),
        hours,
        caps: Caps { per_day: Some(per_day), per_week: Some(per_week) },
        require_consent: false,
        families: families.to_vec(),
        number_series: number_series::built_in(strict),
        dlt: strict.then_some(DltForm { min_digits: 1, max_digits: dlt::LONGEST }),
        disclosure: (strict && !families.is_empty()).then(disclosure::built_in),
    }
}

/// A field that is present and not null.
pub(super) fn present<'a>(body: &'a Map<String, Value>, field: &str) -> Option<&'a Value> {
    body.get(field).filter(|value| !value.is_null())
}

/// The entries of a list field; `&[]` when it is optional and absent.
pub(super) fn list<'a>(
    body: &'a Map<String, Value>,
    field: &str,
    most: usize,
    problem: &'static str,
) -> Result<&'a [Value], FieldError> {
    match present(body, field) {
        None => Ok(&[]),
        Some(Value::Array(entries)) if entries.len() <= most => Ok(entries),
        Some(_) => wrong(field, problem),
    }
}

fn read_hours(body: &Map<String, Value>) -> Result<CallingHours, FieldError> {
    let entries = list(body, "hours", 50, "must be a list of 1 to 50 entries")?;
    if entries.is_empty() {
        return wrong("hours", "must be a list of 1 to 50 entries");
    }
    let mut hours = CallingHours::default();
    for (index, entry) in entries.iter().enumerate() {
        let Some(entry) = entry.as_object() else {
            return wrong(format!("hours[{index}]"), "must be an object with days, from and to");
        };
        let Some(from) = entry.get("from").and_then(minute_of_day).filter(|minute| *minute < 24 * 60) else {
            return wrong(format!("hours[{index}].from"), "must be a time of day HH:MM, 00:00 to 23:59");
        };
        let Some(to) = entry.get("to").and_then(minute_of_day) else {
            return wrong(format!("hours[{index}].to"), "must be a time of day HH:MM, 00:01 to 24:00");
        };
        let Some(span) = Span::new(from, to) else {
            return wrong(format!("hours[{index}].to"), "must be after from");
        };
        let days = match entry.get("days").and_then(Value::as_array) {
            Some(days) if (1..=7).contains(&days.len()) => days,
            _ => {
                return wrong(
                    format!("hours[{index}].days"),
                    "must be a list of 1 to 7 weekdays, 0 (Monday) to 6",
                );
            }
        };
        for (position, day) in days.iter().enumerate() {
            let path = || format!("hours[{index}].days[{position}]");
            let Some(day) = day.as_u64().and_then(|day| u8::try_from(day).ok()).filter(|day| *day <= 6)
            else {
                return wrong(path(), "must be a weekday from 0 (Monday) to 6");
            };
            if hours.open(day, span).is_err() {
                return wrong(path(), "overlaps other hours of the same weekday");
            }
        }
    }
    Ok(hours)
}

/// `HH:MM` as minutes since midnight; `24:00` is allowed.
fn minute_of_day(value: &Value) -> Option<u16> {
    let [a, b, b':', c, d] = value.as_str()?.as_bytes() else { return None };
    let digit = |byte: &u8| byte.is_ascii_digit().then(|| u16::from(byte - b'0'));
    let (hour, minute) = (digit(a)? * 10 + digit(b)?, digit(c)? * 10 + digit(d)?);
    (minute < 60 && (hour < 24 || (hour, minute) == (24, 0))).then_some(hour * 60 + minute)
}

fn clock(minute: u16) -> String {
    format!("{:02}:{:02}", minute / 60, minute % 60)
}

fn read_holidays(body: &Map<String, Value>) -> Result<Vec<Date>, FieldError> {
    let entries = list(body, "holidays", 1000, "must be a list of at most 1000 dates")?;
    let mut dates = Vec::with_capacity(entries.len());
    for (index, entry) in entries.iter().enumerate() {
        match entry.as_str().filter(|text| text.len() == 10).and_then(|text| text.parse().ok()) {
            Some(date) => dates.push(date),
            None => return wrong(format!("holidays[{index}]"), "must be a date YYYY-MM-DD"),
        }
    }
    Ok(dates)
}

fn read_caps(body: &Map<String, Value>) -> Result<Caps, FieldError> {
    let caps = match present(body, "caps") {
        None => return Ok(Caps::default()),
        Some(Value::Object(caps)) => caps,
        Some(_) => return wrong("caps", "must be an object with perDay and perWeek"),
    };
    let read = |field: &str| match present(caps, field) {
        None => Ok(None),
        Some(value) => match value.as_u64().and_then(|cap| u32::try_from(cap).ok()) {
            Some(cap @ 1..=1000) => Ok(Some(cap)),
            _ => wrong(format!("caps.{field}"), "must be a whole number from 1 to 1000"),
        },
    };
    Ok(Caps { per_day: read("perDay")?, per_week: read("perWeek")? })
}

fn read_families(body: &Map<String, Value>) -> Result<Vec<Vertical>, FieldError> {
    let mut families = Vec::new();
    for (index, entry) in list(body, "families", 50, "must be a list of verticals")?.iter().enumerate() {
        match entry.as_str().and_then(Vertical::parse) {
            Some(family) if !families.contains(&family) => families.push(family),
            Some(_) => {}
            None => {
                return wrong(
                    format!("families[{index}]"),
                    "must be general, collections, lending, financial_services or debt_recovery",
                );
            }
        }
    }
    Ok(families)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Timestamp;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(&format!("{text}+05:30")).unwrap()
    }

    #[test]
    fn the_table_of_built_in_packs() {
        for (name, open, closed, per_day, per_week) in [
            ("generic-safe", ["09:00", "20:59"], ["08:59", "21:00"], 3, 10),
            ("collections", ["08:00", "18:59"], ["07:59", "19:00"], 3, 12),
            ("lending", ["08:00", "18:59"], ["07:59", "19:00"], 3, 12),
            ("financial-services", ["09:00", "19:59"], ["08:59", "20:00"], 3, 10),
        ] {
            for version in VERSIONS {
                let reference = format!("{name}{}", version.suffix());
                let pack = Pack::built_in(&reference).unwrap();
                // A Sunday: every day counts.
                let is_open = |time: &&str| pack.hours.is_open(at(&format!("2026-11-22T{time}")));
                assert!(open.iter().all(is_open) && !closed.iter().any(is_open), "{reference}");
                assert_eq!(pack.reference, reference);
                assert_eq!(pack.caps, Caps { per_day: Some(per_day), per_week: Some(per_week) });
                assert!(!pack.require_consent);
                let strict = version == Version::Second;
                assert_eq!(pack.number_series.iter().any(|rule| rule.refuses), strict);
                assert_eq!(pack.dlt.is_some(), strict);
                assert_eq!(pack.disclosure.is_some(), strict && !pack.families.is_empty());
            }
        }
        assert_eq!(BUILT_IN.len(), 4);
        for unknown in ["generic-safe", "generic-safe@2", "@1", "cpk_1@1"] {
            assert_eq!(Pack::built_in(unknown), None);
        }
        assert_eq!(Pack::built_in("cpk_1"), None);
        assert!(is_custom_reference("cpk_1") && !is_custom_reference(GENERIC_SAFE));
    }

    #[test]
    fn a_custom_pack_comes_in_and_goes_out() {
        let body = json!({
            "name": " Weekdays ", "hours": [{"days": [0, 1, 2, 3, 4], "from": "10:00", "to": "13:00"}, {"days": [0], "from": "14:00", "to": "24:00"}],
            "holidays": ["2026-12-25"], "caps": {"perDay": 2}, "requireConsent": true, "families": ["lending", "lending"], "colour": "blue",
        });
        let pack = Pack::parse_custom("cpk_1", &body).unwrap();
        assert_eq!(
            (pack.name.as_str(), pack.caps, pack.require_consent),
            ("Weekdays", Caps { per_day: Some(2), per_week: None }, true)
        );
        assert_eq!(pack.families, [Vertical::Lending]);
        assert!(pack.hours.is_open(at("2026-11-23T23:59")) && !pack.hours.is_open(at("2026-11-24T14:00")));
        assert_eq!(pack.hours.next_opening(at("2026-12-24T13:00")), Some(at("2026-12-28T10:00")));
        assert_eq!(Pack::parse_custom("cpk_1", &pack.to_json()), Ok(pack.clone()));
        for pack in VERSIONS.iter().flat_map(|version| BUILT_IN.iter().map(|row| pack_of(row, *version))) {
            assert_eq!(Pack::parse_custom(&pack.reference, &pack.to_json()), Ok(pack));
        }
    }

    #[test]
    fn every_wrong_field_is_named() {
        let hour = |days: Value, from: &str, to: &str| json!({"name": "x", "hours": [{"days": days, "from": from, "to": to}]});
        let with = |field: &str, value: Value| {
            let mut body = hour(json!([0]), "09:00", "10:00");
            body[field] = value;
            body
        };
        for (body, field) in [
            (json!([]), "body"),
            (json!({}), "name"),
            (json!({"name": "  "}), "name"),
            (json!({"name": "x"}), "hours"),
            (json!({"name": "x", "hours": []}), "hours"),
            (json!({"name": "x", "hours": [1]}), "hours[0]"),
            (hour(json!([0]), "9:00", "10:00"), "hours[0].from"),
            (hour(json!([0]), "24:00", "24:00"), "hours[0].from"),
            (hour(json!([0]), "09:00", "24:01"), "hours[0].to"),
            (hour(json!([0]), "09:00", "09:60"), "hours[0].to"),
            (hour(json!([0]), "21:00", "06:00"), "hours[0].to"),
            (hour(json!([]), "09:00", "10:00"), "hours[0].days"),
            (hour(json!([0, 7]), "09:00", "10:00"), "hours[0].days[1]"),
            (hour(json!([-1]), "09:00", "10:00"), "hours[0].days[0]"),
            (hour(json!([0, 0]), "09:00", "10:00"), "hours[0].days[1]"),
            (with("holidays", json!("2026-12-25")), "holidays"),
            (with("holidays", json!(["2026-12-25", "2026-02-30"])), "holidays[1]"),
            (with("caps", json!(3)), "caps"),
            (with("caps", json!({"perDay": 0})), "caps.perDay"),
            (with("caps", json!({"perWeek": 2.5})), "caps.perWeek"),
            (with("requireConsent", json!("yes")), "requireConsent"),
            (with("families", json!(["lending", "loans"])), "families[1]"),
        ] {
            assert_eq!(
                Pack::parse_custom("cpk_1", &body).map_err(|error| error.field),
                Err(field.to_owned()),
                "{body}"
            );
        }
    }
}
