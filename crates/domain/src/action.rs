//! What the chain `actions` of the decision log holds of a change by somebody (docs/contract/audit.md): who, from where,
//! what was changed. Secrets and personal data are never in it: of their fields only the name is kept.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::masking;
use crate::phone::E164;

/// Most characters of a user agent.
const USER_AGENT: usize = 200;
/// Longest value that is shown, bytes of its JSON; of longer ones there is a hash.
const LONGEST: usize = 200;
/// The same of the scopes of a key, which are words of a closed set.
const LONGEST_SCOPES: usize = 2_000;
/// Most changed fields of one action.
const MOST: usize = 40;
/// Deepest value that is shown.
const DEEPEST: usize = 8;
/// Parts of the names of fields whose values are secret or personal.
const WITHHELD: [&str; 16] = [
    "secret",
    "token",
    "password",
    "apikey",
    "authorization",
    "credential",
    "signature",
    "phone",
    "mobile",
    "email",
    "address",
    "waid",
    "customer",
    "contact",
    "recipient",
    "tonumber",
];

/// An action, as its record holds it in JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Details {
    /// `key_…`, `usr_…` or `operator`.
    pub actor: String,
    /// Network address of the client.
    pub address: String,
    /// The session of a member.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// As the client named itself.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub user_agent: String,
    /// The ids in the path of the request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<String>,
    /// What was changed, where the operation says more than its name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
    pub request_id: String,
}

/// A changed field. Without both values it is only known to have changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    pub field: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Value>,
}

impl Change {
    /// A field of which only the name is kept.
    pub fn withheld(field: &str) -> Self {
        Self { field: field.to_owned(), before: None, after: None }
    }
}

/// Text of a client as it is kept: without control characters, cut, without numbers of people.
pub fn client_text(text: &str) -> String {
    let kept: String = text.chars().filter(|letter| !letter.is_control()).take(USER_AGENT).collect();
    masking::mask_text(&kept, &mut |_: E164| false).unwrap_or(kept)
}

/// A text of the path if it is an id; what else a path may hold is a person's number.
pub fn id(text: &str) -> Option<&str> {
    let (kind, rest) = text.split_once('_')?;
    let fits = (2..=6).contains(&kind.len())
        && kind.bytes().all(|byte| byte.is_ascii_lowercase())
        && (16..=32).contains(&rest.len())
        && rest.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase())
        && rest.bytes().any(|byte| byte.is_ascii_lowercase());
    fits.then_some(text)
}

/// The kind of object that an id names, by its prefix.
pub fn kind(id: &str) -> &str {
    id.split_once('_').map_or("", |(kind, _)| kind)
}

/// The fields in which two objects differ. `hash` is a keyed hash, for values that are too long to be shown.
pub fn changes(before: &Value, after: &Value, hash: &dyn Fn(&str) -> String) -> Vec<Change> {
    let none = Map::new();
    let fields = |value: &'_ Value| value.as_object().cloned().unwrap_or_else(|| none.clone());
    let (before, after) = (fields(before), fields(after));
    let names = before.keys().chain(after.keys().filter(|name| !before.contains_key(*name)));
    let mut changed: Vec<Change> = names
        .filter(|name| !matches!(name.as_str(), "updatedAt" | "createdAt"))
        .filter(|name| before.get(*name) != after.get(*name))
        .map(|name| Change {
            field: name.clone(),
            before: before.get(name).and_then(|value| shown(name, value, hash)),
            after: after.get(name).and_then(|value| shown(name, value, hash)),
        })
        .collect();
    if changed.len() > MOST {
        let more = changed.len() - MOST;
        changed.truncate(MOST);
        changed.push(Change::withheld(&format!("{more} more")));
    }
    changed
}

/// A value as it is shown: itself, a hash of a long one, nothing of a secret or personal one.
fn shown(name: &str, value: &Value, hash: &dyn Fn(&str) -> String) -> Option<Value> {
    if value.is_null() {
        return Some(Value::Null);
    }
    if is_withheld(name) || is_personal(value, DEEPEST) {
        return None;
    }
    let text = value.to_string();
    if text.len() <= if name == "scopes" { LONGEST_SCOPES } else { LONGEST } {
        return Some(value.clone());
    }
    let mut hash = hash(&format!("{name}:{text}"));
    hash.truncate(16);
    Some(Value::String(format!("{} bytes, hash {hash}", text.len())))
}

fn is_withheld(name: &str) -> bool {
    let plain: String = name.chars().filter(|l| l.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    WITHHELD.iter().any(|part| plain.contains(part))
}

/// Whether a value holds a number or address of somebody, a secret, or is too deep to be read.
fn is_personal(value: &Value, deep: usize) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
        Value::String(text) => {
            let link = text.contains("://") && text.contains(['?', '@', '#']);
            link || text.contains('@') || masking::mask_text(text, &mut |_: E164| false).is_some()
        }
        _ if deep == 0 => true,
        Value::Array(items) => items.iter().any(|item| is_personal(item, deep - 1)),
        Value::Object(fields) => fields.iter().any(|(name, item)| {
            (is_withheld(name) && !item.is_null() && !item.is_boolean()) || is_personal(item, deep - 1)
        }),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn changed(before: Value, after: Value) -> Value {
        json!(changes(&before, &after, &|text| format!("{:0>20}", text.len())))
    }

    #[test]
    fn what_differs_is_named_with_its_values() {
        let before = json!({"name": "Asha", "maxCalls": 3, "same": 1, "updatedAt": 1});
        let after = json!({"name": "Ravi", "maxCalls": null, "same": 1, "updatedAt": 2, "hours": [1, 2]});
        assert_eq!(
            changed(before, after),
            json!([
                {"field": "name", "before": "Asha", "after": "Ravi"},
                {"field": "maxCalls", "before": 3, "after": null},
                {"field": "hours", "after": [1, 2]},
            ])
        );
    }

    #[test]
    fn secrets_and_personal_data_are_withheld() {
        let before = json!({});
        for (name, value) in [
            ("secret", json!("whsec_1")),
            ("clientSecret", json!("x")),
            ("access_token", json!("x")),
            ("phone", json!("+919812345678")),
            ("note", json!("call 98123 45678")),
            ("note", json!("write to asha@example.com")),
            ("url", json!("https://example.com/?key=1")),
            ("url", json!("https://user:pass@example.com/")),
            ("auth", json!({"headers": {"Authorization": "Bearer x"}})),
            ("list", json!([["९८१२३४५६७८"]])),
        ] {
            assert_eq!(changed(before.clone(), json!({name: value})), json!([{"field": name}]), "{name}");
        }
        let plain = json!("https://example.com/hook");
        assert_eq!(changed(before, json!({"url": plain})), json!([{"field": "url", "after": plain}]));
    }

    #[test]
    fn long_values_and_many_fields_have_a_bound() {
        let long = changed(json!({"prompt": "a"}), json!({"prompt": "b".repeat(100_000)}));
        assert_eq!(long[0]["after"], "100002 bytes, hash 0000000000000010");
        // The scopes of a key are words, and one must see which.
        let scopes = json!((0..40).map(|n| format!("contacts:read{n}")).collect::<Vec<_>>());
        assert_eq!(changed(json!({}), json!({"scopes": scopes}))[0]["after"], scopes);
        let endless = changed(json!({}), json!({"scopes": "x".repeat(2_000)}));
        assert_eq!(endless[0]["after"], "2002 bytes, hash 0000000000000000");
        let many: Map<String, Value> = (0..1_000).map(|n| (format!("f{n}"), json!(n))).collect();
        let all = changes(&json!({}), &Value::Object(many), &|_| String::new());
        assert_eq!((all.len(), all[MOST].field.as_str()), (MOST + 1, "960 more"));
        let mut deep = json!(1);
        for _ in 0..100 {
            deep = json!([deep]);
        }
        assert_eq!(changed(json!({}), json!({"deep": deep})), json!([{"field": "deep"}]));
    }

    #[test]
    fn text_of_a_client_is_cut_and_one_line() {
        let text =
            client_text(&format!("curl/8\r\n\u{1b}[31m{{\"actor\":1}} +919812345678 {}", "x".repeat(10_000)));
        assert!(text.starts_with("curl/8[31m{\"actor\":1} 98••• ••678 x"), "{text}");
        assert!(text.chars().count() <= USER_AGENT && !text.contains(char::is_control));
    }

    #[test]
    fn ids_are_told_from_numbers() {
        assert_eq!(id("agt_01jdxyz0000000000000000000"), Some("agt_01jdxyz0000000000000000000"));
        for text in [
            "9812345678",
            "+919812345678",
            "tel_9812345678901234567",
            "agt_",
            "a_b",
            "",
            "AGT_01JDXYZ0000000000000000000",
        ] {
            assert_eq!(id(text), None, "{text}");
        }
    }
}
