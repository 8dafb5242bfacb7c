//! What the documents promise to programs that are made from them.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::word_meanings::WORDS;
use super::{Document, document, is_in};
use crate::schema::Schema;
use crate::{events, operations};

const BOTH: [Document; 2] = [Document::Public, Document::Operator];

fn whole(which: Document) -> Value {
    document(which, "Acme", "acme")
}

/// Every operation of a document, with its place.
fn rows(document: &Value) -> Vec<(String, &Value)> {
    let mut rows = Vec::new();
    for (path, methods) in document["paths"].as_object().expect("paths") {
        for (method, row) in methods.as_object().expect("methods") {
            rows.push((format!("{method} {path}"), row));
        }
    }
    rows
}

#[test]
fn every_tag_has_an_introduction() {
    for which in BOTH {
        let document = whole(which);
        let used: BTreeSet<&str> =
            rows(&document).iter().filter_map(|(_, row)| row["tags"][0].as_str()).collect();
        let tags = document["tags"].as_array().unwrap();
        let known: BTreeSet<&str> = tags.iter().filter_map(|tag| tag["name"].as_str()).collect();
        assert_eq!((&used, tags.len()), (&known, known.len()), "{which:?}");
        for tag in tags {
            let said = tag["description"].as_str().unwrap();
            assert!(said.split_whitespace().count() >= 10 && said.ends_with('.'), "{tag}");
        }
    }
}

/// The sets of several words that a part of a document reaches, and whether each is open there.
#[derive(Default)]
struct Sets {
    document: Value,
    seen: BTreeSet<(String, bool)>,
    open: Vec<Value>,
    closed: Vec<Value>,
}

impl Sets {
    fn of(document: &Value) -> Self {
        Self { document: document.clone(), ..Self::default() }
    }

    fn walk(&mut self, part: &Value, open: bool) {
        match part {
            Value::Object(members) => {
                let several = part["enum"]
                    .as_array()
                    .is_some_and(|words| words.iter().filter(|word| word.is_string()).count() > 1);
                match (several, open) {
                    (true, true) => self.open.push(part["enum"].clone()),
                    (true, false) => self.closed.push(part["enum"].clone()),
                    (false, _) => {}
                }
                if let Some(name) = part["$ref"].as_str()
                    && self.seen.insert((name.to_owned(), open))
                {
                    let target =
                        self.document.pointer(name.trim_start_matches('#')).expect("a reference").clone();
                    self.walk(&target, open);
                }
                for (name, member) in members {
                    let open = name == "anyOf"
                        && member
                            .as_array()
                            .is_some_and(|choices| choices.contains(&json!({"type": "string"})));
                    // Examples hold values.
                    if name != "examples" {
                        self.walk(member, open);
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.walk(item, open)),
            _ => {}
        }
    }
}

#[test]
fn sets_of_words_are_open_in_answers_and_closed_in_requests() {
    for which in BOTH {
        let document = whole(which);
        let (mut answers, mut requests) = (Sets::of(&document), Sets::of(&document));
        for (_, row) in rows(&document) {
            answers.walk(&row["responses"], false);
            requests.walk(&row["parameters"], false);
            requests.walk(&row["requestBody"], false);
        }
        answers.walk(&document["webhooks"], false);
        assert!(
            answers.closed.is_empty() && answers.open.len() > 10,
            "closed in answers: {:?}",
            answers.closed
        );
        assert!(
            requests.open.is_empty() && requests.closed.len() > 5,
            "open in requests: {:?}",
            requests.open
        );
    }
    let schemas = &whole(Document::Public)["components"]["schemas"];
    let known = json!({"anyOf": [{"$ref": "#/components/schemas/CallStatus"}, {"type": "string"}]});
    assert_eq!(schemas["Call"]["properties"]["status"]["anyOf"], known["anyOf"]);
    // A type with such a set, in an answer and in a request.
    let source = |name: &str| schemas[name]["properties"]["type"].clone();
    assert_eq!(source("Extraction")["anyOf"][1], json!({"type": "string"}));
    assert_eq!(source("ExtractionInput")["$ref"], "#/components/schemas/ExtractionType");
}

#[test]
fn each_operation_lists_the_codes_of_its_errors() {
    for which in BOTH {
        let document = whole(which);
        for row in operations::all().filter(|row| is_in(row, which)) {
            let answers = &document["paths"][row.path][row.method.as_str().to_lowercase()]["responses"];
            for error in row.all_errors() {
                let answer = &answers[error.status.to_string()];
                let Some(name) = answer["$ref"].as_str() else { continue };
                let schema = &document.pointer(name.trim_start_matches('#')).unwrap()["content"]["application/json"]
                    ["schema"];
                assert_eq!(schema["$ref"], "#/components/schemas/Error");
                let codes = &schema["properties"]["code"]["anyOf"];
                assert!(
                    codes[0]["enum"].as_array().unwrap().contains(&json!(error.code)),
                    "{}: {schema}",
                    row.id
                );
                assert_eq!(codes[1], json!({"type": "string"}), "{}", row.id);
            }
        }
        let error = &document["components"]["schemas"]["Error"];
        assert_eq!(error["required"], json!(["error", "code", "docUrl"]));
        assert_eq!(error["properties"]["code"]["anyOf"][0]["$ref"], "#/components/schemas/ErrorCode");
    }
}

#[test]
fn every_event_has_its_payload_and_a_sample_of_it() {
    let document = whole(Document::Public);
    let section = document["webhooks"].as_object().unwrap();
    assert_eq!(section.len(), events::ALL.len());
    for kind in events::ALL {
        let body = &section[kind.name]["post"]["requestBody"]["content"]["application/json"];
        let name = body["schema"]["$ref"].as_str().unwrap();
        let envelope = document.pointer(name.trim_start_matches('#')).unwrap();
        assert_eq!(envelope["properties"]["type"]["const"], kind.name);
        let sample = &body["examples"]["sample"]["value"];
        assert_eq!(sample["type"], kind.name);
        let payload: Schema = (kind.payload)().closed();
        let fits = payload.check(&mut sample["data"].clone());
        assert!(fits.is_ok(), "{}: {fits:?}", kind.name);
        let lacking = envelope["properties"]["data"]["$ref"].as_str().is_none();
        assert!(!lacking, "the payload of {} has no name", kind.name);
    }
}

#[test]
fn what_has_a_default_need_not_be_sent() {
    fn wanted(schema: &Value, place: &str, found: &mut Vec<String>) {
        let required = schema["required"].as_array().map_or(&[][..], Vec::as_slice);
        for (name, field) in schema["properties"].as_object().into_iter().flatten() {
            if field.get("default").is_some() && required.contains(&json!(name)) {
                found.push(format!("{place}.{name}"));
            }
            wanted(field, &format!("{place}.{name}"), found);
        }
        for inner in ["items", "additionalProperties"] {
            if schema[inner].is_object() {
                wanted(&schema[inner], place, found);
            }
        }
        for choice in schema["anyOf"].as_array().into_iter().flatten() {
            wanted(choice, place, found);
        }
    }
    let (mut found, mut defaults) = (Vec::new(), 0);
    for row in operations::all() {
        if let Some(body) = row.body {
            let schema = body().to_json();
            defaults += schema.to_string().matches("\"default\":").count();
            wanted(&schema, row.id, &mut found);
        }
        for field in row.query.map(|query| query()).unwrap_or_default() {
            if field.required && field.default.is_some() {
                found.push(format!("{} ?{}", row.id, field.name));
            }
        }
    }
    assert!(found.is_empty() && defaults > 20, "{found:?}");
}

#[test]
fn the_document_says_where_the_service_is() {
    for which in BOTH {
        let servers = whole(which)["servers"].clone();
        assert_eq!(servers[0]["url"], "/");
        for name in ["scheme", "host"] {
            assert!(servers[1]["url"].as_str().unwrap().contains(&format!("{{{name}}}")), "{servers}");
            assert!(servers[1]["variables"][name]["default"].is_string(), "{servers}");
        }
    }
}

#[test]
fn every_word_of_a_named_set_is_explained() {
    // Codes of errors have pages of their own; languages, colours and types of files speak for themselves.
    const PLAIN: [&str; 5] = ["ErrorCode", "EventType", "LanguageCode", "ColumnColor", "DocumentFileType"];
    let (mut faults, mut named) = (Vec::new(), BTreeSet::new());
    for which in BOTH {
        let document = whole(which);
        for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
            let Some(words) = schema["enum"].as_array().filter(|words| words.len() > 1) else { continue };
            named.insert(name.clone());
            if PLAIN.contains(&name.as_str()) {
                continue;
            }
            let known = WORDS.iter().find(|(known, _)| known == name).map_or(&[][..], |(_, words)| words);
            let known: Vec<&str> = known.iter().map(|(word, _)| *word).collect();
            if known != words.iter().filter_map(Value::as_str).collect::<Vec<_>>() {
                faults.push(format!("{name}: {words:?}, explained: {known:?}"));
            }
        }
    }
    let gone =
        WORDS.iter().filter(|(name, _)| !named.contains(*name)).map(|(name, _)| format!("{name}: is no set"));
    faults.extend(gone);
    assert!(faults.is_empty(), "{faults:#?}");
}
