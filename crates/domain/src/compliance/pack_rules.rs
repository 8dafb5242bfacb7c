//! The rules of a custom pack about numbers, registers and what must be said, as JSON
//! (docs/contract/compliance.md#custom-packs).

use jiff::civil::Date;
use serde_json::{Map, Value, json};

use super::disclosure::{Disclosure, has_words};
use super::dlt::{DltForm, LONGEST};
use super::number_series::{Communication, EntityClass, Series, SeriesRule};
use super::packs::{FieldError, list, present, wrong};
use super::verticals::Vertical;
use crate::conversation::speech::LANGUAGES;

/// Most rules on number series.
const MOST_RULES: usize = 50;
/// Most texts of a disclosure: three for each language.
const MOST_TEXTS: usize = 33;
/// Longest text of a disclosure, characters.
const LONGEST_TEXT: usize = 500;
/// Longest source, characters.
const LONGEST_SOURCE: usize = 300;
/// Latest time of a disclosure, seconds.
const LATEST: u64 = 120;

const SOURCE: &str = "must be a text of at most 300 characters";

/// Reads `numberSeries`; `[]` when it is absent.
pub(super) fn read_series(body: &Map<String, Value>) -> Result<Vec<SeriesRule>, FieldError> {
    let entries = list(body, "numberSeries", MOST_RULES, "must be a list of at most 50 rules")?;
    entries
        .iter()
        .enumerate()
        .map(|(index, entry)| read_rule(&format!("numberSeries[{index}]"), entry))
        .collect()
}

fn read_rule(path: &str, entry: &Value) -> Result<SeriesRule, FieldError> {
    let Some(entry) = entry.as_object() else {
        return wrong(path, "must be an object with series, since and refuses");
    };
    let Some(series) = entry.get("series").and_then(Value::as_str).and_then(Series::parse) else {
        return wrong(format!("{path}.series"), "must be 140 or 1600");
    };
    let (warn_from, since) = (read_day(path, entry, "warnFrom")?, read_day(path, entry, "since")?);
    let refuses = match present(entry, "refuses") {
        None => false,
        Some(Value::Bool(true)) if since.is_none() => {
            return wrong(format!("{path}.since"), "must be a date when the rule refuses");
        }
        Some(Value::Bool(refuses)) => *refuses,
        Some(_) => return wrong(format!("{path}.refuses"), "must be true or false"),
    };
    if warn_from.zip(since).is_some_and(|(warns, since)| warns > since) {
        return wrong(format!("{path}.warnFrom"), "must not lie after since");
    }
    Ok(SeriesRule {
        series,
        communications: read_words(
            path,
            entry,
            "communications",
            Communication::parse,
            "must be transactional, service or promotional",
        )?,
        verticals: read_words(path, entry, "verticals", Vertical::parse, "must be a vertical")?,
        entities: read_words(path, entry, "entities", EntityClass::parse, "must be a class of regulatedAs")?,
        warn_from,
        since,
        refuses,
        source: read_source(path, entry)?,
    })
}

fn read_day(path: &str, entry: &Map<String, Value>, field: &str) -> Result<Option<Date>, FieldError> {
    match present(entry, field) {
        None => Ok(None),
        Some(value) => {
            match value.as_str().filter(|text| text.len() == 10).and_then(|text| text.parse().ok()) {
                Some(day) => Ok(Some(day)),
                None => wrong(format!("{path}.{field}"), "must be a date YYYY-MM-DD"),
            }
        }
    }
}

/// The words of a list, each once.
fn read_words<T: PartialEq>(
    path: &str,
    entry: &Map<String, Value>,
    field: &str,
    parse: fn(&str) -> Option<T>,
    problem: &'static str,
) -> Result<Vec<T>, FieldError> {
    let mut words = Vec::new();
    let given = list(entry, field, 50, "must be a list of words")
        .map_err(|error| FieldError { field: format!("{path}.{}", error.field), ..error })?;
    for (index, word) in given.iter().enumerate() {
        match word.as_str().and_then(parse) {
            Some(word) if words.contains(&word) => {}
            Some(word) => words.push(word),
            None => return wrong(format!("{path}.{field}[{index}]"), problem),
        }
    }
    Ok(words)
}

fn read_source(path: &str, entry: &Map<String, Value>) -> Result<String, FieldError> {
    match present(entry, "source") {
        None => Ok(String::new()),
        Some(Value::String(source)) if source.chars().count() <= LONGEST_SOURCE => Ok(source.clone()),
        Some(_) => wrong(format!("{path}.source"), SOURCE),
    }
}

/// Reads `dlt`; `None` when it is absent.
pub(super) fn read_dlt(body: &Map<String, Value>) -> Result<Option<DltForm>, FieldError> {
    let entry = match present(body, "dlt") {
        None => return Ok(None),
        Some(Value::Object(entry)) => entry,
        Some(_) => return wrong("dlt", "must be an object with minDigits and maxDigits"),
    };
    let read = |field: &str, default: usize| match present(entry, field) {
        None => Ok(default),
        Some(value) => match value.as_u64().and_then(|digits| usize::try_from(digits).ok()) {
            Some(digits @ 1..=LONGEST) => Ok(digits),
            _ => wrong(format!("dlt.{field}"), "must be a whole number from 1 to 64"),
        },
    };
    let (min_digits, max_digits) = (read("minDigits", 1)?, read("maxDigits", LONGEST)?);
    if min_digits > max_digits {
        return wrong("dlt.maxDigits", "must not be less than minDigits");
    }
    Ok(Some(DltForm { min_digits, max_digits }))
}

/// Reads `disclosure`; `None` when it is absent.
pub(super) fn read_disclosure(body: &Map<String, Value>) -> Result<Option<Disclosure>, FieldError> {
    let entry = match present(body, "disclosure") {
        None => return Ok(None),
        Some(Value::Object(entry)) => entry,
        Some(_) => return wrong("disclosure", "must be an object with withinSeconds and texts"),
    };
    let within =
        entry.get("withinSeconds").and_then(Value::as_u64).filter(|within| (1..=LATEST).contains(within));
    let Some(within_seconds) = within.and_then(|within| u32::try_from(within).ok()) else {
        return wrong("disclosure.withinSeconds", "must be a whole number from 1 to 120");
    };
    let problem = "must be a list of 1 to 33 texts";
    let given = list(entry, "texts", MOST_TEXTS, problem)
        .map_err(|error| FieldError { field: format!("disclosure.{}", error.field), ..error })?;
    if given.is_empty() {
        return wrong("disclosure.texts", problem);
    }
    let mut texts = Vec::with_capacity(given.len());
    for (index, one) in given.iter().enumerate() {
        let field = |name: &str| format!("disclosure.texts[{index}].{name}");
        let of = |name: &str| one.get(name).and_then(Value::as_str);
        let Some(language) = of("language").filter(|language| LANGUAGES.contains(language)) else {
            return wrong(field("language"), "must be a language of agents");
        };
        let text = of("text").filter(|text| text.chars().count() <= LONGEST_TEXT && has_words(text));
        let Some(text) = text else {
            return wrong(field("text"), "must be a text with words, of at most 500 characters");
        };
        texts.push((language.to_owned(), text.to_owned()));
    }
    Ok(Some(Disclosure { within_seconds, texts, source: read_source("disclosure", entry)? }))
}

/// The rules as [`read_series`] reads them.
pub(super) fn series_json(rules: &[SeriesRule]) -> Value {
    let rule = |rule: &SeriesRule| {
        json!({
            "series": rule.series.as_str(),
            "communications": rule.communications.iter().map(|word| word.as_str()).collect::<Vec<_>>(),
            "verticals": rule.verticals.iter().map(|word| word.as_str()).collect::<Vec<_>>(),
            "entities": rule.entities.iter().map(|word| word.as_str()).collect::<Vec<_>>(),
            "warnFrom": rule.warn_from.map(|day| day.to_string()),
            "since": rule.since.map(|day| day.to_string()),
            "refuses": rule.refuses,
            "source": rule.source,
        })
    };
    rules.iter().map(rule).collect()
}

/// The form as [`read_dlt`] reads it.
pub(super) fn dlt_json(form: Option<DltForm>) -> Value {
    form.map_or(Value::Null, |form| json!({"minDigits": form.min_digits, "maxDigits": form.max_digits}))
}

/// The disclosure as [`read_disclosure`] reads it.
pub(super) fn disclosure_json(disclosure: Option<&Disclosure>) -> Value {
    let Some(Disclosure { within_seconds, texts, source }) = disclosure else { return Value::Null };
    let text = |(language, text): &(String, String)| json!({"language": language, "text": text});
    let texts: Vec<Value> = texts.iter().map(text).collect();
    json!({"withinSeconds": within_seconds, "texts": texts, "source": source})
}

#[cfg(test)]
mod tests {
    use super::super::packs::Pack;
    use super::*;

    fn pack(field: &str, value: Value) -> Value {
        let mut body = json!({"name": "x", "hours": [{"days": [0], "from": "09:00", "to": "10:00"}]});
        body[field] = value;
        body
    }

    #[test]
    fn rules_come_in_and_go_out() {
        let mut body = pack(
            "numberSeries",
            json!([
                {"series": "140", "communications": ["promotional", "promotional"], "warnFrom": "2026-01-01", "since": "2026-02-01", "refuses": true, "source": "a circular"},
                {"series": "1600", "verticals": ["lending"], "entities": ["bank", "nbfc"]},
            ]),
        );
        body["dlt"] = json!({"minDigits": 19});
        body["disclosure"] =
            json!({"withinSeconds": 15, "texts": [{"language": "ta", "text": "பதிவு~"}], "source": null});
        let read = Pack::parse_custom("cpk_1", &body).unwrap();
        let [promotion, service] = &read.number_series[..] else { panic!("{read:?}") };
        assert_eq!(promotion.communications, [Communication::Promotional]);
        assert_eq!((promotion.refuses, promotion.since), (true, "2026-02-01".parse().ok()));
        assert_eq!((service.series, service.refuses, service.since), (Series::Service, false, None));
        assert_eq!(service.entities, [EntityClass::Bank, EntityClass::Nbfc]);
        assert_eq!(read.dlt, Some(DltForm { min_digits: 19, max_digits: 64 }));
        assert_eq!(read.disclosure.as_ref().map(|of| of.within_seconds), Some(15));
        assert_eq!(Pack::parse_custom("cpk_1", &read.to_json()), Ok(read));
    }

    #[test]
    fn every_wrong_rule_is_named() {
        let rule = |field: &str, value: Value| {
            let mut rule = json!({"series": "1600", "since": "2026-02-01", "refuses": true});
            rule[field] = value;
            pack("numberSeries", json!([rule]))
        };
        let disclosure = |field: &str, value: Value| {
            let mut of = json!({"withinSeconds": 15, "texts": [{"language": "en", "text": "a"}]});
            of[field] = value;
            pack("disclosure", of)
        };
        let text = |text: String| json!([{"language": "en", "text": text}]);
        for (body, field) in [
            (pack("numberSeries", json!("1600")), "numberSeries"),
            (pack("numberSeries", json!([1])), "numberSeries[0]"),
            (pack("numberSeries", json!(vec![json!({"series": "140"}); 51])), "numberSeries"),
            (rule("series", json!("160")), "numberSeries[0].series"),
            (rule("series", json!(1600)), "numberSeries[0].series"),
            (rule("since", json!("2026-02-30")), "numberSeries[0].since"),
            (rule("since", json!(null)), "numberSeries[0].since"),
            (rule("warnFrom", json!("2026-2-1")), "numberSeries[0].warnFrom"),
            (rule("warnFrom", json!("2026-02-02")), "numberSeries[0].warnFrom"),
            (rule("refuses", json!("yes")), "numberSeries[0].refuses"),
            (rule("communications", json!(["marketing"])), "numberSeries[0].communications[0]"),
            (rule("communications", json!("service")), "numberSeries[0].communications"),
            (rule("verticals", json!(["lending", "loans"])), "numberSeries[0].verticals[1]"),
            (rule("entities", json!(["nbfcs"])), "numberSeries[0].entities[0]"),
            (rule("source", json!("x".repeat(301))), "numberSeries[0].source"),
            (pack("dlt", json!(true)), "dlt"),
            (pack("dlt", json!({"minDigits": 0})), "dlt.minDigits"),
            (pack("dlt", json!({"maxDigits": 65})), "dlt.maxDigits"),
            (pack("dlt", json!({"minDigits": 20, "maxDigits": 19})), "dlt.maxDigits"),
            (pack("disclosure", json!("x")), "disclosure"),
            (disclosure("withinSeconds", json!(0)), "disclosure.withinSeconds"),
            (disclosure("withinSeconds", json!(121)), "disclosure.withinSeconds"),
            (disclosure("texts", json!([])), "disclosure.texts"),
            (disclosure("texts", json!([{"language": "fr", "text": "a"}])), "disclosure.texts[0].language"),
            (disclosure("texts", text("…".into())), "disclosure.texts[0].text"),
            (disclosure("texts", text("x".repeat(501))), "disclosure.texts[0].text"),
            (disclosure("source", json!(1)), "disclosure.source"),
        ] {
            let read = Pack::parse_custom("cpk_1", &body).map_err(|error| error.field);
            assert_eq!(read, Err(field.to_owned()), "{body}");
        }
    }
}
