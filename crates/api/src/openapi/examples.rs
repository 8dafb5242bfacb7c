//! An example of each operation: a real exchange that the tests recorded (`make examples`), with what differs from run
//! to run replaced.

use serde_json::{Map, Value, json};

use crate::operation::Operation;
use crate::schema::Field;

/// By operation: `path`, `query`, `idempotencyKey`, `request`, `status` and `answer`; what there is none of is absent.
const RECORDED: &str = include_str!("examples.json");
/// The prefix of keys in [`RECORDED`].
const KEY_PREFIX: &str = "dastak";

/// The examples of a document.
pub(super) struct Examples(Map<String, Value>);

impl Examples {
    /// Those of a service whose keys begin so.
    pub(super) fn new(key_prefix: &str) -> Self {
        let ours = |mode: &str, prefix: &str| format!("{prefix}_{mode}_");
        let text = ["live", "test"].iter().fold(RECORDED.to_owned(), |text, mode| {
            text.replace(&ours(mode, KEY_PREFIX), &ours(mode, key_prefix))
        });
        Self(serde_json::from_str(&text).unwrap_or_default())
    }

    /// The one of this operation; null without one.
    pub(super) fn of(&self, operation: &Operation) -> &Value {
        self.0.get(operation.id).unwrap_or(&Value::Null)
    }
}

/// The member `examples` of a body.
fn named(value: &Value) -> Value {
    json!({"example": {"value": value}})
}

/// Adds the example to the description of an operation.
pub(super) fn add(described: &mut Value, operation: &Operation, example: &Value) {
    let fields = operation.query.map(|query| query()).unwrap_or_default();
    for parameter in described["parameters"].as_array_mut().into_iter().flatten() {
        if let Some(value) = of_parameter(parameter, &fields, example) {
            parameter["example"] = value;
        }
    }
    let body = described.pointer_mut("/requestBody/content/application~1json");
    if let (Some(body), Some(request)) = (body, example.get("request")) {
        body["examples"] = named(request);
    }
    let Some(answer) = example.get("answer") else { return };
    let schema =
        |answers: &Value, status: &str| answers[status].pointer("/content/application~1json/schema").cloned();
    let recorded = schema(&described["responses"], &example["status"].to_string());
    for (code, _) in operation.answers {
        let status = code.to_string();
        // Of several statuses of success with one body, one was recorded.
        let same = example["status"] == *code
            || (recorded.is_some() && schema(&described["responses"], &status) == recorded);
        let content = described["responses"].get_mut(&status).and_then(|answer| answer.get_mut("content"));
        for (kind, media) in content.and_then(Value::as_object_mut).into_iter().flatten() {
            if same && answer.is_string() == kind.starts_with("text/") {
                media["examples"] = named(answer);
            }
        }
    }
}

/// The value that a parameter has in the example.
fn of_parameter(parameter: &Value, fields: &[Field], example: &Value) -> Option<Value> {
    let name = parameter["name"].as_str()?;
    match parameter["in"].as_str()? {
        "path" => example["path"].get(name).cloned(),
        "query" => {
            let text = example["query"].get(name)?.as_str()?;
            let field = fields.iter().find(|field| field.name == name)?;
            Some(field.schema.from_text(text.to_owned()))
        }
        _ => example.get("idempotencyKey").cloned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Document, is_in};
    use super::*;
    use crate::operations;

    fn recorded() -> Map<String, Value> {
        serde_json::from_str(RECORDED).unwrap()
    }

    /// What is wrong with the example of an operation.
    fn fault(operation: &Operation, example: &Value) -> Option<String> {
        if example.is_null() {
            return Some("has none: `make examples`".into());
        }
        for part in operation.path.split('/') {
            let name = part.strip_prefix('{').and_then(|part| part.strip_suffix('}'));
            if name.is_some_and(|name| !example["path"][name].is_string()) {
                return Some(format!("lacks {part}"));
            }
        }
        let fields = operation.query.map(|query| query()).unwrap_or_default();
        for (name, value) in example["query"].as_object().into_iter().flatten() {
            let Some(field) = fields.iter().find(|field| field.name == *name) else {
                return Some(format!("has the parameter {name}, which does not exist"));
            };
            let mut value = field.schema.from_text(value.as_str().unwrap_or_default().to_owned());
            if let Err(wrong) = field.schema.check(&mut value) {
                return Some(format!("{name} {}", wrong.must));
            }
        }
        match (operation.body, example.get("request")) {
            (Some(body), Some(request)) => {
                let mut request = request.clone();
                let body = body();
                body.drop_nulls(&mut request);
                if let Err(wrong) = body.closed().check(&mut request) {
                    return Some(format!("its request: {} {}", wrong.field, wrong.must));
                }
            }
            (Some(_), None) if !operation.body_optional => return Some("lacks the request".into()),
            _ => {}
        }
        let Some((_, shape)) = operation.answers.iter().find(|(status, _)| example["status"] == *status)
        else {
            return Some(format!("has the status {}", example["status"]));
        };
        match (shape, operation.content_type, example.get("answer")) {
            (Some(shape), None, Some(answer)) => {
                let wrong = shape().closed().check(&mut answer.clone()).err()?;
                Some(format!("its answer: {} {}", wrong.field, wrong.must))
            }
            (Some(_), None, None) => Some("lacks the answer".into()),
            _ => None,
        }
    }

    #[test]
    fn every_operation_for_customers_has_an_example_that_fits() {
        let recorded = recorded();
        let none = Value::Null;
        let mut faults = Vec::new();
        for operation in operations::all().filter(|row| is_in(row, Document::Public)) {
            let example = recorded.get(operation.id).unwrap_or(&none);
            faults.extend(fault(operation, example).map(|wrong| format!("{} {wrong}", operation.id)));
        }
        assert!(faults.is_empty(), "{}: {faults:#?}", faults.len());
        let strangers: Vec<_> =
            recorded.keys().filter(|id| !operations::all().any(|row| row.id == **id)).collect();
        assert!(strangers.is_empty(), "{strangers:?}");
    }

    #[test]
    fn a_wrong_example_is_found() {
        let recorded = recorded();
        let operation = operations::all().find(|row| row.id == "createNudge").unwrap();
        let right = &recorded["createNudge"];
        assert_eq!(fault(operation, right), None);
        for (pointer, wrong) in [
            ("/request/toNumber", json!(7)),
            ("/answer/data/status", json!("asleep")),
            ("/status", json!(418)),
        ] {
            let mut example = right.clone();
            *example.pointer_mut(pointer).unwrap() = wrong;
            assert!(fault(operation, &example).is_some(), "{pointer}");
        }
    }

    /// What the script puts in place of secrets and addresses; others would be real.
    #[test]
    fn no_example_has_a_secret_or_an_address_of_a_machine() {
        let mut found = Vec::new();
        for word in RECORDED.split(|letter: char| letter.is_whitespace() || "\"\\,()<>".contains(letter)) {
            if let Some((_, rest)) = word.split_once("http").and_then(|(_, rest)| rest.split_once("://")) {
                let host = rest.split(['/', ':', '?']).next().unwrap_or_default();
                let made_up = ["example.com", "example.in", "example.org", "example"];
                if !made_up.iter().any(|end| host == *end || host.ends_with(&format!(".{end}"))) {
                    found.push(word.to_owned());
                }
            }
            let secret = ["_live_", "_test_", "whsec_"].iter().find_map(|mark| word.split_once(mark));
            if let Some((_, secret)) = secret
                && secret.len() > 12
                && !MADE_UP.contains(&secret)
            {
                found.push(word.to_owned());
            }
            if word.contains("127.0.0.1") || word.contains("localhost") || word.starts_with("/tmp/") {
                found.push(word.to_owned());
            }
        }
        assert!(found.is_empty(), "{found:#?}");
    }

    const MADE_UP: [&str; 2] =
        ["4rffi3q8kf4uihxi3ktmf5zsqcts3ae9", "7sjdavb4tj4yt57cjbxwgcsjhes0a4a6x6ncrw0h"];
}
