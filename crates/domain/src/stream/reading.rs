//! Parsing a record: number, name and identity (docs/contract/streams.md#reading-a-record).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::fields::{Arrival, OwnId, text_of};
use super::{MAX_EXTERNAL_ID, MAX_NAME, Reason};
use crate::phone::columns::{Named, PLAINEST, is_of_person, named, plain};
use crate::phone::{Phone, PhoneError};

/// Names of fields that hold a whole name.
const NAMES: [&str; 2] = ["name", "fullname"];
/// Names of fields whose values together are the name.
const PARTS: [&str; 2] = ["firstname", "lastname"];
/// Digits of the shortest and the longest number of a country.
const DIGITS: std::ops::RangeInclusive<usize> = 4..=15;

/// The fields of a record that identify the person.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FieldMap {
    /// The field with the number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phone: Option<String>,
    /// The field with the name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The field with the record's own id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub external_id: Option<String>,
}

/// A parsed record.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// Its number, or why there is none that can be called.
    pub phone: Result<Phone, Reason>,
    /// The number as it was written.
    pub written: Option<String>,
    pub name: Option<String>,
    /// Fields that the name was made of.
    pub name_fields: Vec<String>,
    /// Its own id, as it is shown.
    pub external_id: Option<String>,
    /// Its identity in its stream; `None` when it has none.
    pub identity: Option<String>,
}

/// Parses a record. Local numbers are those of `country`, a code of two capital letters.
pub fn read(arrival: &Arrival, map: &FieldMap, country: &str) -> Reading {
    let fields = &arrival.fields;
    let written = mapped(fields, map.phone.as_deref()).or_else(|| filled(fields, field_with_number(fields)?));
    let phone = match &written {
        None if arrival.cut => Err(Reason::TooManyFields),
        None => Err(Reason::NoPhone),
        Some(text) => read_phone(text, country),
    };
    let (name, name_fields) = read_name(fields, map);
    let shown = mapped(fields, map.external_id.as_deref());
    let own = match (&shown, &arrival.own_id) {
        (Some(id), _) | (None, Some(OwnId::Record(id))) => Some(format!("id:{id}")),
        (None, Some(OwnId::Content(content))) => Some(format!("row:{content}")),
        (None, None) => None,
    };
    let external_id = shown.or(match &arrival.own_id {
        Some(OwnId::Record(id)) => Some(id.clone()),
        Some(OwnId::Content(_)) | None => None,
    });
    let identity = own.or_else(|| match (&phone, &written) {
        (Ok(phone), _) => Some(format!("phone:{phone}")),
        (Err(_), Some(text)) => Some(format!("text:{text}")),
        (Err(_), None) => None,
    });
    Reading {
        phone,
        written: written.map(|text| cut(&text, MAX_EXTERNAL_ID)),
        name: name.map(|name| cut(&name, MAX_NAME)),
        name_fields,
        external_id: external_id.map(|id| cut(&id, MAX_EXTERNAL_ID)),
        identity,
    }
}

/// The field with a value whose name matches a person's number best; of equally good ones the first.
fn field_with_number(fields: &Map<String, Value>) -> Option<&str> {
    let rank = |name: &String| match named(name)? {
        Named::Plainly(place) => Some(i32::from(place >= PLAINEST)),
        Named::Numbered(which, _) => Some(2 + i32::from(which)),
        Named::OfPerson(_) => Some(i32::MAX),
        Named::Vaguely(_) => None,
    };
    let ranked = fields.keys().filter_map(|name| Some((rank(name)?, name)));
    let filled = ranked.filter(|(_, name)| filled(fields, name).is_some());
    filled.min_by_key(|(rank, _)| *rank).map(|(_, name)| name.as_str())
}

/// A field's text without what is invisible at its ends; `None` when nothing is left.
fn filled(fields: &Map<String, Value>, name: &str) -> Option<String> {
    let text = tidy(&text_of(fields, name)?);
    (!text.is_empty()).then_some(text)
}

/// Control characters become spaces, and spaces stand alone and inside only.
fn tidy(text: &str) -> String {
    let visible = text.split(|letter: char| letter.is_whitespace() || letter.is_control());
    visible.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

fn mapped(fields: &Map<String, Value>, name: Option<&str>) -> Option<String> {
    filled(fields, name?)
}

fn cut(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

/// Reads a number as one of a country whose local numbers are written without country code.
fn read_phone(text: &str, country: &str) -> Result<Phone, Reason> {
    let read = Phone::normalize(text).map_err(|why| match why {
        PhoneError::NotIndian => Reason::NotIndian,
        PhoneError::Invalid => Reason::InvalidPhone,
    });
    let has_country_code = {
        let visible: String =
            text.chars().filter(|letter| letter.is_alphanumeric() || *letter == '+').collect();
        let visible = visible.strip_prefix("tel").unwrap_or(&visible);
        visible.starts_with('+') || visible.starts_with("00")
    };
    if country == "IN" || has_country_code {
        return read;
    }
    // A local number of another country. Whether it exists there makes no difference: it cannot be called.
    let only_digits = text.chars().all(|letter| letter.is_numeric() || !letter.is_alphabetic());
    let digits = text.chars().filter(|letter| letter.is_numeric()).count();
    Err(if only_digits && DIGITS.contains(&digits) { Reason::NotIndian } else { Reason::InvalidPhone })
}

fn read_name(fields: &Map<String, Value>, map: &FieldMap) -> (Option<String>, Vec<String>) {
    if let (Some(field), Some(name)) = (&map.name, mapped(fields, map.name.as_deref())) {
        return (Some(name), vec![field.clone()]);
    }
    let named = |wanted: &str| {
        let first = |fits: &dyn Fn(&str) -> bool| {
            fields.keys().find(|name| fits(name) && filled(fields, name).is_some())
        };
        let field =
            first(&|name| plain(name) == wanted).or_else(|| first(&|name| is_of_person(name, wanted)))?;
        Some((field.clone(), filled(fields, field)?))
    };
    if let Some((field, name)) = NAMES.iter().find_map(|wanted| named(wanted)) {
        return (Some(name), vec![field]);
    }
    let (used, parts): (Vec<_>, Vec<_>) = PARTS.iter().filter_map(|wanted| named(wanted)).unzip();
    ((!parts.is_empty()).then(|| parts.join(" ")), used)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::flatten;
    use super::*;

    fn reading(record: Value, map: Value, country: &str) -> Reading {
        let map: FieldMap = serde_json::from_value(map).unwrap();
        read(&flatten(record.as_object().unwrap()), &map, country)
    }

    #[test]
    fn the_number_is_found() {
        let ok = Ok("+919812345678");
        for (record, map, expected) in [
            (json!({"phone": "98123 45678"}), json!({}), ok),
            (json!({"Mobile": "09812345678"}), json!({}), ok),
            (json!({"phone_number": "+91-98123-45678"}), json!({}), ok),
            (json!({"mobilephone": 9812345678_i64}), json!({}), ok),
            (json!({"MobilePhone": "9812345678"}), json!({}), ok),
            (json!({"Phone Number": "9812345678"}), json!({}), ok),
            (json!({"Mobile No": "9812345678"}), json!({}), ok),
            (json!({"phone1": "9812345678"}), json!({}), ok),
            (json!({"tel": "9812345679", "phone": "9812345678"}), json!({}), ok),
            (json!({"phone2": "9812345679", "phone1": "9812345678"}), json!({}), ok),
            (json!({"phone_2": "9812345679", "mobile": "9812345678"}), json!({}), ok),
            (json!({"lead": {"phone": "9812345678"}}), json!({}), ok),
            (json!({"data": {"customer": {"Mobile No.": "9812345678"}}}), json!({}), ok),
            (json!({"lead": {"phone": "9812345679"}, "phone1": "9812345678"}), json!({}), ok),
            (json!({"lead": {"owner": {"phone": "9812345678"}}}), json!({}), Err(Reason::NoPhone)),
            (json!({"number": "9812345678", "contact": "9812345678"}), json!({}), Err(Reason::NoPhone)),
            // The first of them, as the record has it.
            (json!({"mobile": "9812345678", "phone": "9812345679"}), json!({}), ok),
            (json!({"phone": "", "mobile": "9812345678"}), json!({}), ok),
            (json!({"phone": null, "mobile": "9812345678"}), json!({}), ok),
            // The field that is named comes before all of them.
            (json!({"phone": "9812345679", "contact": "9812345678"}), json!({"phone": "contact"}), ok),
            (json!({"phone": "9812345679", "lead": {"tel": "9812345678"}}), json!({"phone": "lead.tel"}), ok),
            (json!({"phone": "9812345678"}), json!({"phone": "contact"}), ok),
            (json!({"phone": "९८१२३४५६७८"}), json!({}), ok),
            // A number inside another object of the record belongs to a person who did not ask to be called.
            (json!({"owner": {"phone": "9812345678"}}), json!({}), Err(Reason::NoPhone)),
            (json!({"name": "Asha"}), json!({}), Err(Reason::NoPhone)),
            (json!({"phone": "  "}), json!({}), Err(Reason::NoPhone)),
            (json!({"phone": "12345", "mobile": "9812345678"}), json!({}), Err(Reason::InvalidPhone)),
            (json!({"phone": "call me"}), json!({}), Err(Reason::InvalidPhone)),
            // As text it is what it is as a number.
            (json!({"phone": "981234567.0"}), json!({}), Err(Reason::InvalidPhone)),
            (json!({"phone": 981_234_567.0}), json!({}), Err(Reason::InvalidPhone)),
            (json!({"phone": "9812345678.0"}), json!({}), ok),
            (json!({"phone": 9_812_345_678.0}), json!({}), ok),
            (json!({"phone": ["9812345678"]}), json!({}), Err(Reason::InvalidPhone)),
            (json!({"phone": "+1 202 555 0100"}), json!({}), Err(Reason::NotIndian)),
            (json!({"phone": "0012025550100"}), json!({}), Err(Reason::NotIndian)),
        ] {
            let read = reading(record.clone(), map, "IN").phone;
            assert_eq!(read.map(|phone| phone.to_string()), expected.map(str::to_owned), "{record}");
        }
        let mut many: Map<String, Value> = (0..120).map(|number| (format!("f{number}"), json!(1))).collect();
        many.insert("phone".into(), json!("9812345678"));
        assert_eq!(reading(Value::Object(many), json!({}), "IN").phone, Err(Reason::TooManyFields));
    }

    #[test]
    fn local_numbers_are_those_of_the_country() {
        for (text, country, expected) in [
            ("9812345678", "IN", Ok("+919812345678")),
            ("9812345678", "US", Err(Reason::NotIndian)),
            ("2025550100", "US", Err(Reason::NotIndian)),
            ("(202) 555-0100", "US", Err(Reason::NotIndian)),
            ("+91 98123 45678", "US", Ok("+919812345678")),
            ("00919812345678", "GB", Ok("+919812345678")),
            ("tel:+919812345678", "GB", Ok("+919812345678")),
            ("+44 20 7946 0000", "IN", Err(Reason::NotIndian)),
            ("12", "US", Err(Reason::InvalidPhone)),
            ("none", "US", Err(Reason::InvalidPhone)),
        ] {
            let read = reading(json!({"phone": text}), json!({}), country).phone;
            assert_eq!(read.map(|phone| phone.to_string()), expected.map(str::to_owned), "{text} {country}");
        }
    }

    #[test]
    fn the_name_is_found() {
        for (record, map, expected) in [
            (json!({"name": " Asha  Rao\n"}), json!({}), Some("Asha Rao")),
            (json!({"full_name": "Asha Rao"}), json!({}), Some("Asha Rao")),
            (json!({"Full Name": "Asha Rao"}), json!({}), Some("Asha Rao")),
            (json!({"first_name": "Asha", "last_name": "Rao"}), json!({}), Some("Asha Rao")),
            (json!({"lastname": "Rao", "firstname": "Asha"}), json!({}), Some("Asha Rao")),
            (json!({"FirstName": "Asha"}), json!({}), Some("Asha")),
            (json!({"last_name": "Rao"}), json!({}), Some("Rao")),
            (json!({"first_name": "A", "name": "Asha"}), json!({}), Some("Asha")),
            (json!({"name": "", "first_name": "Asha"}), json!({}), Some("Asha")),
            (
                json!({"customer": {"called": "Asha"}, "name": "x"}),
                json!({"name": "customer.called"}),
                Some("Asha"),
            ),
            (json!({"name": "Asha"}), json!({"name": "customer"}), Some("Asha")),
            (json!({"lead": {"name": "Asha"}}), json!({}), Some("Asha")),
            (
                json!({"customer_first_name": "Asha", "customer_last_name": "Rao"}),
                json!({}),
                Some("Asha Rao"),
            ),
            (json!({"lead": {"name": "x"}, "name": "Asha"}), json!({}), Some("Asha")),
            (json!({"company": {"name": "Rao & Co"}, "form": {"name": "Callback"}}), json!({}), None),
            (json!({"name": "a\u{0}b"}), json!({}), Some("a b")),
            (json!({"city": "Pune"}), json!({}), None),
        ] {
            assert_eq!(reading(record.clone(), map, "IN").name.as_deref(), expected, "{record}");
        }
        let long = reading(json!({"name": "न".repeat(500)}), json!({}), "IN").name.unwrap();
        assert_eq!(long.chars().count(), MAX_NAME);
    }

    #[test]
    fn identity_is_the_own_id_or_the_number() {
        let map = json!({"externalId": "order.id"});
        for (record, own, expected, shown) in [
            (json!({"order": {"id": 77}, "phone": "9812345678"}), None, Some("id:77"), Some("77")),
            (json!({"order": {"id": "77"}}), Some(OwnId::Record("9".into())), Some("id:77"), Some("77")),
            (json!({"phone": "9812345678"}), Some(OwnId::Record("9".into())), Some("id:9"), Some("9")),
            (json!({"phone": "9812345678"}), Some(OwnId::Content("c".into())), Some("row:c"), None),
            (json!({"phone": "098123 45678"}), None, Some("phone:+919812345678"), None),
            (json!({"phone": "12345"}), None, Some("text:12345"), None),
            (json!({"name": "Asha"}), None, None, None),
        ] {
            let mut arrival = flatten(record.as_object().unwrap());
            arrival.own_id = own;
            let read = read(&arrival, &serde_json::from_value(map.clone()).unwrap(), "IN");
            assert_eq!(
                (read.identity.as_deref(), read.external_id.as_deref()),
                (expected, shown),
                "{record}"
            );
        }
        // What is too long to be shown still tells records apart.
        let ids = ["a", "b"]
            .map(|end| reading(json!({"x": "i".repeat(300) + end}), json!({"externalId": "x"}), "IN"));
        assert_eq!(ids[0].external_id, ids[1].external_id);
        assert_ne!(ids[0].identity, ids[1].identity);
    }
}
