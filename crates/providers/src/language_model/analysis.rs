//! Analysis of a finished conversation.

use domain::conversation::Role;
use domain::ports::{Analysis, AnalysisOrder, Chosen};
use serde_json::{Map, Value, json};

use super::request::language_name;
use super::turn::outcome;

const SENTIMENTS: [&str; 3] = ["positive", "neutral", "negative"];
/// Longest extracted text and summary, letters.
const LONGEST: usize = 2000;

/// A field of the agent's `extractionSchema`.
struct Field<'a> {
    key: &'a str,
    label: &'a str,
    kind: &'a str,
    choices: Vec<&'a str>,
}

fn fields(order: &AnalysisOrder) -> Vec<Field<'_>> {
    let list = order.schema.as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter()
        .filter_map(|field| {
            Some(Field {
                key: field["key"].as_str()?,
                label: field["label"].as_str().unwrap_or_default(),
                kind: field["type"].as_str().unwrap_or("text"),
                choices: field["choices"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .filter_map(Value::as_str)
                    .collect(),
            })
        })
        .collect()
}

/// JSON Schema of the answer. Unknown values are null, since strict servers require every key.
pub(super) fn schema(order: &AnalysisOrder) -> Value {
    let mut extracted = Map::new();
    for field in fields(order) {
        let kind = match field.kind {
            "number" => "number",
            "boolean" => "boolean",
            _ => "string",
        };
        let mut property = json!({"type": [kind, "null"], "description": field.label});
        if !field.choices.is_empty() {
            let choices = field.choices.iter().map(|choice| json!(choice)).chain([Value::Null]);
            property["enum"] = choices.collect();
        }
        extracted.insert(field.key.to_owned(), property);
    }
    let keys: Vec<&String> = extracted.keys().collect();
    let extracted =
        json!({"type": "object", "properties": extracted, "required": keys, "additionalProperties": false});
    let mut properties = json!({
        "summary": {"type": "string", "description": "Two or three sentences"},
        "sentiment": {"type": "string", "enum": SENTIMENTS, "description": "The customer's"},
        "outcome": {"type": ["string", "null"], "description": "Result in a word such as interested, not_interested, callback_requested, wrong_number, completed"},
        "extracted": extracted,
    });
    let mut required = vec!["summary", "sentiment", "outcome", "extracted"];
    if !order.choices.is_empty() {
        let keys = order.choices.iter().map(|choice| json!(choice.key)).chain([Value::Null]);
        let meanings: Vec<String> = order
            .choices
            .iter()
            .map(|choice| format!("{} ({}: {})", choice.key, choice.name, choice.meaning))
            .collect();
        let about =
            format!("Where the customer stands now: {}. Null when it cannot be said", meanings.join("; "));
        properties["stage"] =
            json!({"type": ["string", "null"], "enum": keys.collect::<Value>(), "description": about});
        properties["confidence"] =
            json!({"type": "number", "description": "How sure you are of the stage, from 0 to 1"});
        required.extend(["stage", "confidence"]);
    }
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

/// The request. The schema is also in the prompt, for servers that accept no schema.
pub(super) fn messages(order: &AnalysisOrder) -> Vec<Value> {
    let system = format!(
        "You read a conversation between an agent and a customer and report on it. Answer with one JSON object and nothing else, by this JSON Schema:\n{}\n\
         Take values only from what was said; use null for what was not. Write the summary in English; keep extracted texts as they were said ({}).\n\
         What the agent was told to do:\n{}",
        schema(order),
        language_name(&order.language),
        order.prompt.trim()
    );
    let turns: Vec<String> = order
        .transcript
        .iter()
        .map(|turn| format!("{}: {}", if turn.role == Role::Agent { "Agent" } else { "Customer" }, turn.text))
        .collect();
    vec![
        json!({"role": "system", "content": system}),
        json!({"role": "user", "content": format!("<conversation>\n{}\n</conversation>", turns.join("\n"))}),
    ]
}

/// The result, validated against the schema's types: invalid values are left out, and what the flow captured is
/// unchanged. `None` when there is no JSON object in it.
pub(super) fn read(text: &str, order: &AnalysisOrder) -> Option<Analysis> {
    let value = object_in(text)?;
    let mut extracted = Map::new();
    for field in fields(order) {
        let found = order
            .extracted
            .get(field.key)
            .cloned()
            .or_else(|| fitting(&field, &value["extracted"][field.key]));
        if let Some(found) = found {
            extracted.insert(field.key.to_owned(), found);
        }
    }
    let sentiment = value["sentiment"]
        .as_str()
        .map(|word| word.trim().to_lowercase())
        .filter(|word| SENTIMENTS.contains(&word.as_str()));
    Some(Analysis {
        summary: short(value["summary"].as_str().unwrap_or_default()),
        extracted,
        outcome: outcome(&value["outcome"]),
        sentiment,
        chosen: chosen(&value, order),
    })
}

/// The choice, if it is one of those that were offered. Without a confidence it counts as not sure.
fn chosen(value: &Value, order: &AnalysisOrder) -> Option<Chosen> {
    let said = value["stage"].as_str()?.trim();
    let choice = order.choices.iter().find(|choice| choice.key.eq_ignore_ascii_case(said))?;
    let number = match &value["confidence"] {
        Value::String(text) => text.trim().parse().ok(),
        other => other.as_f64(),
    };
    let confidence = number.filter(|number: &f64| number.is_finite()).unwrap_or(0.0).clamp(0.0, 1.0);
    Some(Chosen { key: choice.key.clone(), confidence })
}

fn short(text: &str) -> String {
    text.trim().chars().take(LONGEST).collect()
}

/// The value if it has the field's type or can be converted without doubt.
fn fitting(field: &Field<'_>, value: &Value) -> Option<Value> {
    match (field.kind, value) {
        (_, Value::Null | Value::Array(_) | Value::Object(_)) => None,
        ("number", Value::Number(_)) | ("boolean", Value::Bool(_)) => Some(value.clone()),
        ("number", Value::String(text)) => {
            let digits: String = text.chars().filter(|letter| !matches!(letter, ',' | ' ' | '₹')).collect();
            let number = digits.parse::<i64>().map(Value::from).ok();
            number.or_else(|| digits.parse::<f64>().ok().filter(|number| number.is_finite()).map(Value::from))
        }
        ("boolean", Value::String(text)) => match text.trim().to_lowercase().as_str() {
            "true" | "yes" => Some(Value::Bool(true)),
            "false" | "no" => Some(Value::Bool(false)),
            _ => None,
        },
        ("number" | "boolean", _) => None,
        (_, other) => {
            let text = match other {
                Value::String(text) => short(text),
                other => other.to_string(),
            };
            if text.is_empty() {
                return None;
            }
            if field.choices.is_empty() {
                return Some(Value::String(text));
            }
            field.choices.iter().find(|choice| choice.eq_ignore_ascii_case(&text)).map(|choice| json!(choice))
        }
    }
}

/// The first JSON object in a text, which may have code fences, thoughts or an introduction around it.
pub(super) fn object_in(text: &str) -> Option<Value> {
    let text = text.rsplit_once("</think>").map_or(text, |(_, rest)| rest);
    for (at, _) in text.match_indices('{').take(64) {
        let mut values = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
        if let Some(Ok(value @ Value::Object(_))) = values.next() {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use domain::ports::Choice;

    use super::*;

    fn order() -> AnalysisOrder {
        let schema = json!([
            {"key": "amount", "label": "Amount", "type": "number"},
            {"key": "paid", "label": "Has paid", "type": "boolean"},
            {"key": "city", "label": "City", "type": "text"},
            {"key": "plan", "label": "Plan", "type": "choice", "choices": ["Gold", "Silver"]},
        ]);
        AnalysisOrder {
            workspace: None,
            transcript: vec![],
            schema,
            extracted: Map::new(),
            prompt: "Ask.".into(),
            language: "hi".into(),
            choices: vec![],
        }
    }

    #[test]
    fn a_choice_is_one_of_those_offered() {
        let choice = |key: &str| Choice { key: key.into(), name: key.to_uppercase(), meaning: "so" };
        let order = AnalysisOrder { choices: vec![choice("won"), choice("lost")], ..order() };
        let shape = schema(&order);
        assert_eq!(shape["properties"]["stage"]["enum"], json!(["won", "lost", null]));
        assert!(shape["required"].as_array().unwrap().contains(&json!("confidence")));
        assert_eq!(
            schema(&AnalysisOrder { choices: vec![], ..order.clone() })["properties"]["stage"],
            Value::Null
        );
        let chosen =
            |given: Value| read(&given.to_string(), &order).unwrap().chosen.map(|it| (it.key, it.confidence));
        let won = |confidence: f64| Some(("won".to_owned(), confidence));
        assert_eq!(chosen(json!({"stage": "won", "confidence": 0.8})), won(0.8));
        assert_eq!(chosen(json!({"stage": " Won ", "confidence": "0.5"})), won(0.5));
        assert_eq!(chosen(json!({"stage": "won", "confidence": 7})), won(1.0));
        assert_eq!(chosen(json!({"stage": "won"})), won(0.0));
        assert_eq!(chosen(json!({"stage": "won", "confidence": "very"})), won(0.0));
        assert_eq!(chosen(json!({"stage": "drop table", "confidence": 1})), None);
        assert_eq!(chosen(json!({"stage": null, "confidence": 1})), None);
    }

    fn extracted(given: Value) -> Value {
        let text = json!({"summary": " S ", "sentiment": "Positive", "outcome": "Callback requested", "extracted": given}).to_string();
        let analysis = read(&format!("<think>{{}}</think>Here: ```json\n{text}\n```"), &order()).unwrap();
        assert_eq!(
            (analysis.summary.as_str(), analysis.sentiment.as_deref(), analysis.outcome.as_deref()),
            ("S", Some("positive"), Some("callback_requested"))
        );
        Value::Object(analysis.extracted)
    }

    #[test]
    fn values_are_held_against_the_types() {
        let good = json!({"amount": 12.5, "paid": true, "city": "पुणे", "plan": "gold", "other": 1});
        assert_eq!(extracted(good), json!({"amount": 12.5, "paid": true, "city": "पुणे", "plan": "Gold"}));
        assert_eq!(
            extracted(json!({"amount": "₹ 1,200", "paid": "no", "city": 411001})),
            json!({"amount": 1200, "paid": false, "city": "411001"})
        );
        assert_eq!(
            extracted(json!({"amount": "a lot", "paid": 1, "city": ["x"], "plan": "Bronze"})),
            json!({})
        );
        assert_eq!(extracted(json!({"amount": null, "city": " "})), json!({}));
        assert_eq!(extracted(json!("nonsense")), json!({}));
    }

    #[test]
    fn what_the_flow_captured_stays() {
        let mut order = order();
        order.extracted.insert("city".into(), json!("Pune"));
        let analysis = read(
            r#"{"summary":"","sentiment":"angry","outcome":null,"extracted":{"city":"Mumbai"}}"#,
            &order,
        )
        .unwrap();
        assert_eq!(Value::Object(analysis.extracted), json!({"city": "Pune"}));
        assert_eq!((analysis.sentiment, analysis.outcome), (None, None));
        assert!(read("I cannot do that.", &order).is_none());
    }
}
