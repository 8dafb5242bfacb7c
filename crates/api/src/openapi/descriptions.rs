//! A lint of the descriptions in both documents: each says something, in words that clients know.

use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use super::{Document, document};
use crate::{error_codes, events};

/// Fewest words of a description.
const FEWEST: usize = 4;

/// Words that say nothing to somebody who reads the reference, or are not the field's own.
const DIALECT: &[&str] = &[
    "anew", "brings", "brought", "foresees", "hears", "reckoned", "stands", "stood", "tells", "told",
    "world", "writing",
];

/// Words that do not count when a description is compared with the name of what it describes.
const FILLERS: &[&str] = &["a", "an", "for", "is", "its", "of", "that", "the", "this"];

/// The words of a text or of a name in camel case, in lower case.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for letter in text.chars() {
        if !letter.is_alphanumeric() || (letter.is_uppercase() && before.is_lowercase()) {
            words.push(String::new());
        }
        if letter.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(letter.to_lowercase());
        }
        before = letter;
    }
    words.retain(|word| !word.is_empty());
    words
}

/// What is wrong with the description of something of this name.
fn fault(name: &str, described: &Value) -> Option<String> {
    let Some(text) = described["description"].as_str().filter(|text| !text.is_empty()) else {
        return Some("has no description".to_owned());
    };
    let said = words(text);
    let dialect = said.iter().find(|word| DIALECT.contains(&word.as_str()));
    let named = words(name);
    let says_more = said.iter().any(|word| !FILLERS.contains(&word.as_str()) && !named.contains(word));
    let wrong = if text.split_whitespace().count() < FEWEST {
        format!("has fewer than {FEWEST} words")
    } else if !text.ends_with('.') {
        "does not end with a full stop".to_owned()
    } else if let Some(word) = dialect {
        format!("has the word {word:?}")
    } else if !says_more {
        "says no more than the name".to_owned()
    } else {
        return None;
    };
    Some(format!("{wrong}: {text}"))
}

/// Adds what is wrong with the properties of a schema, also of those that are written out within it.
fn of_properties(schema: &Value, place: &str, faults: &mut Vec<String>) {
    if !schema.is_object() {
        return;
    }
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let place = format!("{place}.{name}");
        faults.extend(fault(name, property).map(|wrong| format!("{place} {wrong}")));
        of_properties(property, &place, faults);
    }
    for inner in ["items", "additionalProperties"] {
        of_properties(&schema[inner], place, faults);
    }
    for choice in schema["anyOf"].as_array().into_iter().flatten() {
        of_properties(choice, place, faults);
    }
}

/// Adds what is wrong with an operation, or with an event as the request that its subscribers receive.
fn of_operation(operation: &Value, place: &str, faults: &mut Vec<String>) {
    let id = operation["operationId"].as_str().unwrap_or_default();
    faults.extend(fault(id, operation).map(|wrong| format!("{place} {wrong}")));
    let summary = operation["summary"].as_str().unwrap_or_default();
    if let Some(word) = words(summary).iter().find(|word| DIALECT.contains(&word.as_str())) {
        faults.push(format!("{place} has the word {word:?} in its summary"));
    }
    for parameter in operation["parameters"].as_array().into_iter().flatten() {
        let name = parameter["name"].as_str().unwrap_or_default();
        faults.extend(fault(name, parameter).map(|wrong| format!("{place} ?{name} {wrong}")));
    }
    for media in operation["requestBody"]["content"].as_object().into_iter().flatten() {
        of_properties(&media.1["schema"], place, faults);
    }
    for (status, answer) in operation["responses"].as_object().into_iter().flatten() {
        if answer.get("$ref").is_none() {
            faults.extend(fault(status, answer).map(|wrong| format!("{place} {status} {wrong}")));
        }
    }
}

/// What is wrong with the descriptions of a document: of the whole, and of each tag, server, named schema, property,
/// operation, event and parameter.
fn faults(document: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    faults.extend(fault("info", &document["info"]).map(|wrong| format!("info {wrong}")));
    for kind in ["tags", "servers"] {
        for item in document[kind].as_array().into_iter().flatten() {
            let name = item["name"].as_str().or(item["url"].as_str()).unwrap_or_default();
            faults.extend(fault(name, item).map(|wrong| format!("{kind} {name} {wrong}")));
            for (name, variable) in item["variables"].as_object().into_iter().flatten() {
                faults.extend(fault(name, variable).map(|wrong| format!("{kind} {name} {wrong}")));
            }
        }
    }
    for (name, scheme) in document["components"]["securitySchemes"].as_object().into_iter().flatten() {
        faults.extend(fault(name, scheme).map(|wrong| format!("{name} {wrong}")));
    }
    for (name, schema) in document["components"]["schemas"].as_object().into_iter().flatten() {
        faults.extend(fault(name, schema).map(|wrong| format!("{name} {wrong}")));
        of_properties(schema, name, &mut faults);
    }
    for (path, operations) in document["paths"].as_object().into_iter().flatten() {
        for (method, operation) in operations.as_object().into_iter().flatten() {
            of_operation(operation, &format!("{method} {path}"), &mut faults);
        }
    }
    for (name, event) in document["webhooks"].as_object().into_iter().flatten() {
        of_operation(&event["post"], name, &mut faults);
    }
    faults
}

#[test]
fn every_description_says_something() {
    for which in [Document::Public, Document::Operator] {
        let found = faults(&document(which, "Acme", "acme"));
        assert!(found.is_empty(), "{} in {which:?}: {found:#?}", found.len());
    }
}

#[test]
fn every_member_of_an_event_is_described() {
    let settings =
        SchemaSettings::draft2020_12().for_serialize().with(|settings| settings.inline_subschemas = true);
    let mut found = Vec::new();
    for kind in events::ALL {
        let schema = (kind.schema)(&mut settings.clone().into_generator());
        of_properties(schema.as_value(), kind.name, &mut found);
    }
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn every_error_says_what_is_wrong() {
    let found: Vec<String> = error_codes::ALL
        .iter()
        .filter_map(|error| {
            let wrong = fault(error.code, &json!({"description": error.meaning}))?;
            Some(format!("{} {wrong}", error.code))
        })
        .collect();
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn what_says_nothing_is_found() {
    let whole = document(Document::Public, "Acme", "acme");
    for (pointer, text, wrong) in [
        ("/components/schemas/Call/properties/state", Value::Null, "has no description"),
        ("/components/schemas/Call/properties/state", json!("Where it is."), "fewer than 4 words"),
        ("/components/schemas/Call/properties/state", json!("The state of the call"), "full stop"),
        (
            "/components/schemas/Call/properties/toNumber",
            json!("This is the to number."),
            "no more than the name",
        ),
        ("/components/schemas/Call/properties/state", json!("Where the call stands now."), "\"stands\""),
        ("/components/schemas/Call", json!("A call."), "fewer than 4 words"),
        ("/paths/~1v1~1calls/get", json!("Needs a key."), "fewer than 4 words"),
        ("/paths/~1v1~1calls/get/parameters/0", json!("Most items"), "fewer than 4 words"),
        ("/paths/~1v1~1calls~1{id}/get/parameters/0", json!(""), "has no description"),
        ("/paths/~1v1~1calls/get/responses/200", json!("The calls."), "fewer than 4 words"),
        ("/tags/0", json!("About the account."), "fewer than 4 words"),
        ("/servers/1/variables/host", json!("The host."), "fewer than 4 words"),
        ("/webhooks/call.started/post", json!("The call started."), "fewer than 4 words"),
        ("/webhooks/call.started/post/parameters/0", json!("The signature."), "fewer than 4 words"),
        (
            "/paths/~1v1~1chatapp~1templates~1header-sample/post/requestBody/content/multipart~1form-data/schema/properties/file",
            json!("The file."),
            "fewer than 4 words",
        ),
    ] {
        let mut planted = whole.clone();
        planted.pointer_mut(pointer).expect(pointer)["description"] = text;
        let found = faults(&planted);
        assert!(found.len() == 1 && found[0].contains(wrong), "{pointer}: {found:?}");
    }
}

#[test]
fn an_error_always_has_a_code() {
    let document = document(Document::Public, "Acme", "acme");
    assert_eq!(document["components"]["schemas"]["Error"]["required"], json!(["error", "code", "docUrl"]));
}
