//! An operation in curl, Python and TypeScript.

use serde_json::{Map, Value};

use crate::page::Sample;

/// What a sample needs to know of an operation.
#[derive(Debug)]
pub struct Call<'a> {
    /// `POST`.
    pub method: &'a str,
    /// Path with `{name}` for parameters.
    pub path: &'a str,
    /// Whether a key is sent.
    pub keyed: bool,
    /// Group and verb of its command, where it has one.
    pub command: Option<(&'a str, &'a str)>,
    /// Values of the path's parameters, in their order.
    pub path_values: Vec<(String, String)>,
    /// Values of query parameters that must be sent.
    pub query: Vec<(String, String)>,
    /// Whether `Idempotency-Key` must be sent.
    pub idempotency_key: bool,
    /// The body, where it takes one.
    pub body: Option<Value>,
    /// Whether a file is uploaded.
    pub upload: bool,
}

/// The samples; Python and TypeScript only where the SDKs have the operation.
pub fn samples(call: &Call<'_>) -> Vec<Sample> {
    let mut out = vec![Sample { label: "curl", language: "sh", code: curl(call) }];
    if let Some((group, verb)) = call.command {
        out.push(Sample { label: "Python", language: "python", code: python(call, group, verb) });
        out.push(Sample { label: "TypeScript", language: "typescript", code: typescript(call, group, verb) });
    }
    out
}

fn curl(call: &Call<'_>) -> String {
    let mut path = call.path.to_owned();
    for (name, value) in &call.path_values {
        path = path.replace(&format!("{{{name}}}"), value);
    }
    let query: Vec<String> =
        call.query.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
    let query = if query.is_empty() { String::new() } else { format!("?{}", query.join("&")) };
    let mut parts = vec![format!("curl -s \"$DASTAK_BASE_URL{path}{query}\"")];
    if call.method != "GET" && (call.method != "POST" || (call.body.is_none() && !call.upload)) {
        parts[0] = format!("curl -s -X {} \"$DASTAK_BASE_URL{path}{query}\"", call.method);
    }
    if call.keyed {
        parts.push("-H \"Authorization: Bearer $DASTAK_API_KEY\"".into());
    }
    if call.idempotency_key {
        parts.push("-H \"Idempotency-Key: order-1042\"".into());
    }
    if call.upload {
        parts.push("-F file=@document.pdf".into());
    } else if let Some(body) = &call.body {
        parts.push("-H \"Content-Type: application/json\"".into());
        parts.push(format!("-d '{}'", pretty(body).replace('\'', "'\\''")));
    }
    parts.join(" \\\n  ")
}

fn python(call: &Call<'_>, group: &str, verb: &str) -> String {
    let mut arguments: Vec<String> =
        call.path_values.iter().map(|(_, value)| format!("\"{value}\"")).collect();
    for (name, value) in &call.query {
        arguments.push(format!("{}={}", argument(name), python_value(&Value::String(value.clone()), 1)));
    }
    if call.upload {
        arguments.push("file=open(\"document.pdf\", \"rb\")".into());
    }
    if let Some(Value::Object(body)) = &call.body {
        for (name, value) in body {
            arguments.push(format!("{}={}", argument(name), python_value(value, 1)));
        }
    }
    if call.idempotency_key {
        arguments.push("idempotency_key=\"order-1042\"".into());
    }
    let called = format!("client.{}.{}", snake(group), snake(verb));
    format!(
        "from dastak import Client\n\nclient = Client()  # DASTAK_API_KEY, DASTAK_BASE_URL\nanswer = {called}({})",
        on_lines(&arguments, called.len() + 10)
    )
}

fn typescript(call: &Call<'_>, group: &str, verb: &str) -> String {
    let mut arguments: Vec<String> = call.path_values.iter().map(|(_, value)| format!("'{value}'")).collect();
    let mut fields = Map::new();
    for (name, value) in &call.query {
        fields.insert(name.clone(), Value::String(value.clone()));
    }
    if let Some(Value::Object(body)) = &call.body {
        fields.extend(body.clone());
    }
    if call.upload {
        arguments.push("{ file: await openAsBlob('document.pdf') }".into());
    } else if !fields.is_empty() {
        arguments.push(typescript_value(&Value::Object(fields), 0));
    }
    if call.idempotency_key {
        arguments.push("{ idempotencyKey: 'order-1042' }".into());
    }
    let import = if call.upload { "import { openAsBlob } from 'node:fs';\n" } else { "" };
    format!(
        "{import}import {{ Client }} from 'dastak';\n\nconst client = new Client(); // DASTAK_API_KEY, DASTAK_BASE_URL\n\
         const answer = await client.{}.{}({});",
        camel(group),
        camel(verb),
        arguments.join(", ")
    )
}

/// Arguments in one line where they fit, else one a line.
fn on_lines(arguments: &[String], before: usize) -> String {
    let line = arguments.join(", ");
    if before + line.len() <= 88 && !line.contains('\n') {
        return line;
    }
    format!("\n    {},\n", arguments.join(",\n    "))
}

fn python_value(value: &Value, level: usize) -> String {
    nested(value, level, "    ", &|name| format!("\"{name}\""), &|plain| match plain {
        Value::Null => "None".into(),
        Value::Bool(true) => "True".into(),
        Value::Bool(false) => "False".into(),
        other => other.to_string(),
    })
}

fn typescript_value(value: &Value, level: usize) -> String {
    let name = |name: &str| {
        let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && !name.starts_with(|c: char| c.is_ascii_digit());
        if plain { name.to_owned() } else { format!("'{name}'") }
    };
    nested(value, level, "  ", &name, &|plain| match plain {
        Value::String(text) => {
            format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'").replace('\n', "\\n"))
        }
        other => other.to_string(),
    })
}

/// A value in the notation of a language, on one line where it fits.
fn nested(
    value: &Value,
    level: usize,
    step: &str,
    name: &dyn Fn(&str) -> String,
    plain: &dyn Fn(&Value) -> String,
) -> String {
    let (open, close, items): (&str, &str, Vec<String>) = match value {
        Value::Object(map) => (
            "{",
            "}",
            map.iter()
                .map(|(key, inner)| format!("{}: {}", name(key), nested(inner, level + 1, step, name, plain)))
                .collect(),
        ),
        Value::Array(list) => {
            ("[", "]", list.iter().map(|inner| nested(inner, level + 1, step, name, plain)).collect())
        }
        other => return plain(other),
    };
    let line = items.join(", ");
    if line.len() <= 60 && !line.contains('\n') {
        let space = if open == "{" && step.len() == 2 && !items.is_empty() { " " } else { "" };
        return format!("{open}{space}{line}{space}{close}");
    }
    let indent = step.repeat(level + 1);
    let items: Vec<String> = items.iter().map(|item| format!("{indent}{item},\n")).collect();
    format!("{open}\n{}{}{close}", items.concat(), step.repeat(level))
}

/// JSON on several lines where it is long.
pub fn pretty(value: &Value) -> String {
    let line = value.to_string();
    if line.len() <= 60 {
        return line;
    }
    serde_json::to_string_pretty(value).unwrap_or(line)
}

/// A name as an argument in Python, where words of the language end in `_`.
fn argument(name: &str) -> String {
    let name = snake(name);
    let of_the_language =
        ["and", "as", "class", "from", "global", "if", "import", "in", "is", "not", "or", "pass", "with"];
    if of_the_language.contains(&name.as_str()) { name + "_" } else { name }
}

/// `toNumber`, `hang-up` as `to_number`, `hang_up`.
pub fn snake(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        match c {
            '-' => out.push('_'),
            c if c.is_ascii_uppercase() => {
                out.push('_');
                out.push(c.to_ascii_lowercase());
            }
            c => out.push(c),
        }
    }
    out
}

/// `hang-up` as `hangUp`.
fn camel(name: &str) -> String {
    let mut parts = name.split('-');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let mut letters = part.chars();
        out.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        out.push_str(letters.as_str());
    }
    out
}

/// Percent-encodes what has a meaning of its own in a query.
fn encoded(value: &str) -> String {
    value
        .bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b':' => {
                char::from(byte).to_string()
            }
            other => format!("%{other:02X}"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_operation_reads_well_in_three_languages() {
        let call = Call {
            method: "POST",
            path: "/v1/agents/{id}/test-links",
            keyed: true,
            command: Some(("test-links", "create")),
            path_values: vec![("id".into(), "agt_1".into())],
            query: Vec::new(),
            idempotency_key: false,
            body: Some(json!({"name": "it's", "expiresInDays": 7, "draft": true})),
            upload: false,
        };
        let made = samples(&call);
        assert_eq!(
            made[0].code,
            "curl -s \"$DASTAK_BASE_URL/v1/agents/agt_1/test-links\" \\\n  -H \"Authorization: Bearer $DASTAK_API_KEY\" \\\n  \
             -H \"Content-Type: application/json\" \\\n  -d '{\"name\":\"it'\\''s\",\"expiresInDays\":7,\"draft\":true}'"
        );
        assert!(
            made[1].code.ends_with(
                "answer = client.test_links.create(\"agt_1\", name=\"it's\", expires_in_days=7, draft=True)"
            ) || made[1].code.ends_with(
                "answer = client.test_links.create(\n    \"agt_1\",\n    name=\"it's\",\n    expires_in_days=7,\n    draft=True,\n)"
            ),
            "{}",
            made[1].code
        );
        assert!(
            made[2].code.ends_with(
                "await client.testLinks.create('agt_1', { name: 'it\\'s', expiresInDays: 7, draft: true });"
            ),
            "{}",
            made[2].code
        );
    }
}
