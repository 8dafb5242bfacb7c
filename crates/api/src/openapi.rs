//! The OpenAPI 3.1 documents, made from the table of operations.

use serde_json::{Map, Value, json};

use crate::operations::{self, Access, Idempotency, Operation, TestKeys};
use crate::schema::Field;

/// Which of the two documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Document {
    /// `/v1`, for customers.
    Public,
    /// `/operator/v1`, for the operator.
    Operator,
}

/// The document, with info version `1` (docs/contract/README.md#versioning).
pub fn document(which: Document, brand: &str, key_prefix: &str) -> Value {
    let mut paths: Map<String, Value> = Map::new();
    for operation in operations::all() {
        if operation.path.starts_with("/dev/") {
            continue;
        }
        let operator = operation.access == Access::Operator || operation.path.starts_with("/operator/");
        if operator != (which == Document::Operator) {
            continue;
        }
        let entry = paths.entry(operation.path.to_owned()).or_insert_with(|| json!({}));
        entry[operation.method.as_str().to_lowercase()] = describe(operation);
    }
    let (title, scheme) = match which {
        Document::Public => (
            format!("{brand} API"),
            json!({"type": "http", "scheme": "bearer", "description": format!("API key, `{key_prefix}_live_…` or `{key_prefix}_test_…`")}),
        ),
        Document::Operator => (
            format!("{brand} operator API"),
            json!({"type": "http", "scheme": "bearer", "description": "Operator token"}),
        ),
    };
    json!({
        "openapi": "3.1.0",
        "info": {"title": title, "version": "1"},
        "paths": paths,
        "components": {
            "securitySchemes": {"bearer": scheme},
            "schemas": {"Error": error_schema()},
        },
    })
}

fn error_schema() -> Value {
    json!({
        "type": "object",
        "required": ["error"],
        "properties": {
            "error": {"type": "string", "description": "For people; branch on `code`."},
            "code": {"type": "string"},
            "meta": {"type": "object"},
            "requestId": {"type": "string", "description": "On a 500, the value of X-Request-Id."},
        },
    })
}

fn describe(operation: &Operation) -> Value {
    let mut out = json!({
        "operationId": operation.id,
        "tags": [operation.tag],
        "summary": operation.summary,
        "parameters": parameters(operation),
        "responses": responses(operation),
    });
    match operation.access {
        Access::Public => out["security"] = json!([]),
        Access::AnyKey | Access::Operator | Access::Figures => out["security"] = json!([{"bearer": []}]),
        Access::Scope(scope) => {
            out["security"] = json!([{"bearer": []}]);
            out["x-scope"] = json!(scope.0);
            out["description"] = json!(format!("Scope `{}`.", scope.0));
        }
        Access::Scopes(one, other) => {
            out["security"] = json!([{"bearer": []}]);
            out["x-scope"] = json!(format!("{} {}", one.0, other.0));
            out["description"] = json!(format!("Scopes `{}` and `{}`.", one.0, other.0));
        }
    }
    if operation.test_keys == TestKeys::Refused {
        out["x-test-keys"] = json!("refused");
    }
    if operation.upload {
        out["requestBody"] = json!({"required": true, "content": {"multipart/form-data": {"schema": {
            "type": "object", "required": ["file"], "properties": {"file": {"type": "string", "format": "binary"}}}}}});
    } else if let Some(body) = operation.body {
        out["requestBody"] = json!({"required": !operation.body_optional, "content": {"application/json": {"schema": body().to_json()}}});
    }
    out
}

fn parameters(operation: &Operation) -> Vec<Value> {
    let mut out: Vec<Value> = operation
        .path
        .split('/')
        .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
        .map(|name| json!({"name": name, "in": "path", "required": true, "schema": {"type": "string", "minLength": 1}}))
        .collect();
    for field in operation.query.map(|query| query()).unwrap_or_default() {
        out.push(query_parameter(&field));
    }
    if operation.idempotency != Idempotency::Ignored {
        out.push(json!({
            "name": "Idempotency-Key", "in": "header", "required": operation.idempotency == Idempotency::Required,
            "description": "The same key and body within 24 hours gets the first answer again.",
            "schema": {"type": "string", "minLength": 1, "maxLength": 255},
        }));
    }
    out
}

fn query_parameter(field: &Field) -> Value {
    let mut schema = field.schema.to_json();
    if let Some(default) = &field.default {
        schema["default"] = default.clone();
    }
    json!({"name": field.name, "in": "query", "required": field.required, "schema": schema})
}

fn responses(operation: &Operation) -> Value {
    let mut out: Map<String, Value> = Map::new();
    for (status, body) in operation.answers {
        let mut answer = json!({"description": "Success"});
        if let Some(content_type) = operation.content_type {
            answer["content"] = content_type.split(", ").map(|each| (each.to_owned(), json!({}))).collect();
        } else if let Some(body) = body {
            answer["content"] = json!({"application/json": {"schema": body().to_json()}});
        }
        out.insert(status.to_string(), answer);
    }
    for error in operation.all_errors() {
        let line = format!("`{}`: {}", error.code, error.meaning);
        let entry = out
            .entry(error.status.to_string())
            .or_insert_with(|| json!({"description": "", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}}));
        let known = entry["description"].as_str().unwrap_or_default();
        entry["description"] = json!(if known.is_empty() { line } else { format!("{known}\n{line}") });
    }
    Value::Object(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Paths of what a client could make as large as it likes. Inside a value with a bound of its own
    /// (`x-maxBytes`) nothing else needs one.
    fn unbounded(shape: &Value, path: &str, bounded: bool, out: &mut Vec<String>) {
        let bounded = bounded || shape.get("x-maxBytes").is_some();
        let kinds: Vec<&str> = match &shape["type"] {
            Value::String(kind) => vec![kind],
            Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let mut need = |ceiling: bool| {
            if !ceiling && !bounded {
                out.push(path.to_owned());
            }
        };
        if kinds.contains(&"string") {
            need(shape.get("maxLength").is_some() || shape.get("enum").is_some());
        }
        if kinds.contains(&"array") {
            need(shape.get("maxItems").is_some());
            unbounded(&shape["items"], &format!("{path}[]"), bounded, out);
        }
        if kinds.contains(&"object") {
            let open = shape.get("additionalProperties").is_some_and(|more| *more != json!(false));
            if open {
                if shape.get("maxProperties").is_none() || !bounded {
                    out.push(path.to_owned());
                }
                unbounded(&shape["additionalProperties"], &format!("{path}.*"), bounded, out);
            }
            for (name, inner) in shape["properties"].as_object().into_iter().flatten() {
                unbounded(inner, &format!("{path}.{name}"), bounded, out);
            }
        }
        if let Some(choices) = shape["anyOf"].as_array() {
            choices.iter().for_each(|choice| unbounded(choice, path, bounded, out));
        } else if kinds.is_empty() && !bounded {
            out.push(path.to_owned());
        }
    }

    #[test]
    fn everything_that_a_client_can_make_grow_has_a_ceiling() {
        let (mut found, mut walked) = (Vec::new(), 0);
        for operation in operations::all() {
            for field in operation.query.map(|query| query()).unwrap_or_default() {
                unbounded(
                    &field.schema.to_json(),
                    &format!("{} ?{}", operation.id, field.name),
                    false,
                    &mut found,
                );
            }
            if let Some(body) = operation.body {
                walked += 1;
                unbounded(&body().to_json(), operation.id, false, &mut found);
            }
        }
        assert!(found.is_empty() && walked > 20, "{walked} bodies; without a ceiling: {found:#?}");
        let mut loose = Vec::new();
        unbounded(
            &crate::schema::object(vec![crate::schema::may("a", crate::schema::text())]).to_json(),
            "x",
            false,
            &mut loose,
        );
        assert_eq!(loose, ["x.a"]);
    }
}
