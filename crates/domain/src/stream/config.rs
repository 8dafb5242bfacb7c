//! The configuration of a stream by kind (docs/contract/streams.md#configuration).

use serde_json::{Map, Value};

use super::Kind;

/// Longest text in a configuration, characters.
pub const MAX_TEXT: usize = 200;
/// Country of local numbers unless the stream says otherwise.
const COUNTRY: &str = "IN";

/// A validated configuration: only the keys of its kind, with defaults.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Config(Map<String, Value>);

/// The type of a key of a configuration.
enum Shape {
    Text { required: bool },
    OneOf(&'static [&'static str]),
    Flag,
}

fn known(kind: Kind) -> &'static [(&'static str, Shape)] {
    match kind {
        Kind::Webhook | Kind::Api | Kind::Storefront => &[],
        Kind::Spreadsheet => &[
            ("spreadsheetId", Shape::Text { required: true }),
            ("sheetName", Shape::Text { required: false }),
            ("includeExisting", Shape::Flag),
        ],
        Kind::Crm1 => &[("lifecycleStage", Shape::Text { required: false })],
        Kind::Crm2 => &[("object", Shape::OneOf(&["Lead", "Contact"]))],
        Kind::Crm3 => &[("module", Shape::OneOf(&["Leads", "Contacts"]))],
    }
}

/// An invalid key of a configuration, and what it must be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    pub field: &'static str,
    /// Continues a sentence after the name.
    pub must: String,
}

impl Config {
    /// Validates a configuration for a kind. Unknown keys are dropped.
    ///
    /// # Errors
    /// The first field that is wrong.
    pub fn check(kind: Kind, given: &Map<String, Value>) -> Result<Self, ConfigError> {
        let mut out = Map::new();
        for (field, shape) in known(kind) {
            let value = given.get(*field).filter(|value| !value.is_null());
            let wrong = |must: String| ConfigError { field, must };
            let checked = match (shape, value) {
                (Shape::Text { required: true }, None) => return Err(wrong("is required".into())),
                (Shape::Text { required: false }, None) => continue,
                (Shape::Text { .. }, Some(Value::String(text)))
                    if (1..=MAX_TEXT).contains(&text.trim().chars().count()) && !text.contains('\0') =>
                {
                    Value::from(text.trim())
                }
                (Shape::Text { .. }, Some(_)) => {
                    return Err(wrong(format!("must be a string of 1 to {MAX_TEXT} characters")));
                }
                (Shape::OneOf(words), None) => Value::from(words[0]),
                (Shape::OneOf(words), Some(value)) => {
                    match words.iter().find(|word| value.as_str() == Some(word)) {
                        Some(word) => Value::from(*word),
                        None => return Err(wrong(format!("must be one of {}", words.join(", ")))),
                    }
                }
                (Shape::Flag, None) => Value::Bool(false),
                (Shape::Flag, Some(Value::Bool(flag))) => Value::Bool(*flag),
                (Shape::Flag, Some(_)) => return Err(wrong("must be true or false".into())),
            };
            out.insert((*field).to_owned(), checked);
        }
        let country = match given.get("countryCode").filter(|value| !value.is_null()) {
            None => COUNTRY.to_owned(),
            Some(Value::String(code))
                if code.len() == 2 && code.bytes().all(|byte| byte.is_ascii_alphabetic()) =>
            {
                code.to_ascii_uppercase()
            }
            Some(_) => {
                return Err(ConfigError {
                    field: "countryCode",
                    must: "must be a country code of two letters".into(),
                });
            }
        };
        out.insert("countryCode".to_owned(), Value::String(country));
        Ok(Self(out))
    }

    /// The configuration as it was stored after validation.
    pub fn stored(fields: Map<String, Value>) -> Self {
        Self(fields)
    }

    /// The same with the keys of a change; null removes one. It must still be validated.
    pub fn changed(&self, change: &Map<String, Value>) -> Map<String, Value> {
        let mut fields = self.0.clone();
        for (name, value) in change {
            fields.insert(name.clone(), value.clone());
        }
        fields
    }

    pub fn fields(&self) -> &Map<String, Value> {
        &self.0
    }

    /// The country whose local numbers the records have, two capital letters.
    pub fn country(&self) -> &str {
        self.0.get("countryCode").and_then(Value::as_str).unwrap_or(COUNTRY)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(kind: Kind, given: Value) -> Result<Value, (&'static str, String)> {
        Config::check(kind, given.as_object().unwrap())
            .map(|config| Value::Object(config.0))
            .map_err(|why| (why.field, why.must))
    }

    #[test]
    fn each_kind_keeps_what_it_knows() {
        for (kind, given, kept) in [
            (Kind::Webhook, json!({"object": "Lead", "x": 1}), json!({"countryCode": "IN"})),
            (Kind::Api, json!({"countryCode": "us"}), json!({"countryCode": "US"})),
            (
                Kind::Spreadsheet,
                json!({"spreadsheetId": " s1 ", "lifecycleStage": "x", "sheetName": null}),
                json!({"spreadsheetId": "s1", "includeExisting": false, "countryCode": "IN"}),
            ),
            (
                Kind::Spreadsheet,
                json!({"spreadsheetId": "s1", "sheetName": "Leads", "includeExisting": true}),
                json!({"spreadsheetId": "s1", "sheetName": "Leads", "includeExisting": true, "countryCode": "IN"}),
            ),
            (Kind::Crm1, json!({}), json!({"countryCode": "IN"})),
            (
                Kind::Crm1,
                json!({"lifecycleStage": "lead"}),
                json!({"lifecycleStage": "lead", "countryCode": "IN"}),
            ),
            (Kind::Crm2, json!({}), json!({"object": "Lead", "countryCode": "IN"})),
            (Kind::Crm2, json!({"object": "Contact"}), json!({"object": "Contact", "countryCode": "IN"})),
            (Kind::Crm3, json!({}), json!({"module": "Leads", "countryCode": "IN"})),
            (Kind::Crm3, json!({"module": "Contacts"}), json!({"module": "Contacts", "countryCode": "IN"})),
            (Kind::Storefront, json!({"module": "x"}), json!({"countryCode": "IN"})),
        ] {
            assert_eq!(check(kind, given.clone()), Ok(kept), "{kind} {given}");
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (kind, given, field) in [
            (Kind::Spreadsheet, json!({}), "spreadsheetId"),
            (Kind::Spreadsheet, json!({"spreadsheetId": " "}), "spreadsheetId"),
            (Kind::Spreadsheet, json!({"spreadsheetId": 5}), "spreadsheetId"),
            (Kind::Spreadsheet, json!({"spreadsheetId": "x".repeat(201)}), "spreadsheetId"),
            (Kind::Spreadsheet, json!({"spreadsheetId": "s", "includeExisting": "yes"}), "includeExisting"),
            (Kind::Crm1, json!({"lifecycleStage": []}), "lifecycleStage"),
            (Kind::Crm2, json!({"object": "Account"}), "object"),
            (Kind::Crm2, json!({"object": "lead"}), "object"),
            (Kind::Crm3, json!({"module": "Deals"}), "module"),
            (Kind::Api, json!({"countryCode": "IND"}), "countryCode"),
            (Kind::Api, json!({"countryCode": "1a"}), "countryCode"),
            (Kind::Api, json!({"countryCode": 91}), "countryCode"),
        ] {
            assert_eq!(check(kind, given.clone()).unwrap_err().0, field, "{kind} {given}");
        }
    }
}
