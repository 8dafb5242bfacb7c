//! HubSpot: contacts, their search, and calls.

use std::sync::Mutex;

use domain::time::Timestamp;
use serde_json::{Map, Value, json};

use super::{Reply, Request, System, Tokens};

pub struct HubSpot {
    pub tokens: Tokens,
    contacts: Mutex<Vec<(String, Timestamp, Value)>>,
    pub calls: Mutex<Vec<Value>>,
    /// Answers come newest first, whatever was asked for.
    pub unsorted: Mutex<bool>,
    /// Contacts of a page at most.
    pub page: Mutex<usize>,
}

impl HubSpot {
    pub fn new() -> Self {
        Self {
            tokens: Tokens::new(true),
            contacts: Mutex::default(),
            calls: Mutex::default(),
            unsorted: Mutex::new(false),
            page: Mutex::new(200),
        }
    }

    pub fn add(&self, id: &str, created: Timestamp, properties: Value) {
        self.contacts.lock().unwrap().push((id.to_owned(), created, properties));
    }

    fn search(&self, body: &Value) -> Reply {
        assert_eq!(body["sorts"], json!([{"propertyName": "createdate", "direction": "ASCENDING"}]));
        let mut found: Vec<(String, Timestamp, Value)> = self.contacts.lock().unwrap().clone();
        for filter in body["filterGroups"][0]["filters"].as_array().unwrap() {
            let value = filter["value"].as_str().expect("values are texts");
            match (filter["propertyName"].as_str().unwrap(), filter["operator"].as_str().unwrap()) {
                ("createdate", "GTE") => {
                    let from: i64 = value.parse().unwrap();
                    found.retain(|(_, created, _)| created.0 >= from);
                }
                (name, "EQ") => found.retain(|(_, _, properties)| properties[name] == value),
                other => panic!("{other:?}"),
            }
        }
        found.sort_by_key(|(_, created, _)| *created);
        if *self.unsorted.lock().unwrap() {
            found.reverse();
        }
        let total = found.len();
        let limit = body["limit"].as_u64().unwrap() as usize;
        let limit = limit.min(*self.page.lock().unwrap());
        let from: usize = body["after"].as_str().map_or(0, |after| after.parse().unwrap());
        if from + limit > 10_000 {
            return Reply::Json(
                400,
                json!({"status": "error", "category": "VALIDATION_ERROR", "message": "no more than 10000"}),
            );
        }
        let asked: Vec<&str> =
            body["properties"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        let results: Vec<Value> = found
            .iter()
            .skip(from)
            .take(limit)
            .map(|(id, created, known)| {
                let value = |name: &str| match name {
                    "createdate" => json!(created),
                    "hs_object_id" => json!(id),
                    name => known.get(name).cloned().unwrap_or(Value::Null),
                };
                // In the order of the alphabet, as the system does.
                let mut names = asked.clone();
                names.sort_unstable();
                let properties: Map<String, Value> =
                    names.into_iter().map(|name| (name.to_owned(), value(name))).collect();
                json!({"id": id, "properties": properties, "createdAt": created, "archived": false})
            })
            .collect();
        let mut answer = json!({"total": total, "results": results});
        if from + limit < total {
            answer["paging"] = json!({"next": {"after": (from + limit).to_string(), "link": "?after"}});
        }
        Reply::ok(answer)
    }
}

impl System for HubSpot {
    fn answer(&self, request: &Request) -> Reply {
        if request.path == "/oauth/v3/token" {
            return match self.tokens.renew(&request.form()) {
                Ok((access, refresh)) => Reply::ok(
                    json!({"token_type": "bearer", "access_token": access, "refresh_token": refresh, "expires_in": 1800}),
                ),
                Err(word) => Reply::Json(
                    400,
                    json!({
                        "error": word, "error_description": "refresh token is invalid, expired or revoked",
                        "status": "BAD_REFRESH_TOKEN", "message": format!("no {}", request.form()["refresh_token"]),
                    }),
                ),
            };
        }
        let presented =
            request.header("authorization").strip_prefix("Bearer ").unwrap_or_default().to_owned();
        if !self.tokens.accepts(&presented) {
            return Reply::Json(
                401,
                json!({"status": "error", "message": format!("The OAuth token {presented} expired."),
                "correlationId": "c", "category": "EXPIRED_AUTHENTICATION"}),
            );
        }
        match (request.method.as_str(), request.path.as_str()) {
            ("POST", "/crm/v3/objects/contacts/search") => self.search(&request.json()),
            ("POST", "/crm/v3/objects/calls") => {
                let mut calls = self.calls.lock().unwrap();
                calls.push(request.json());
                Reply::Json(201, json!({"id": format!("call-{}", calls.len()), "properties": {}}))
            }
            ("POST", "/crm/v3/objects/calls/search") => {
                let wanted = request.json()["filterGroups"][0]["filters"][0]["value"].clone();
                let calls = self.calls.lock().unwrap();
                let at = calls.iter().position(|call| call["properties"]["hs_call_title"] == wanted);
                let results: Vec<Value> =
                    at.iter().map(|at| json!({"id": format!("call-{}", at + 1)})).collect();
                Reply::ok(json!({"total": results.len(), "results": results}))
            }
            _ => Reply::Json(
                404,
                json!({"status": "error", "message": "no such resource", "category": "OBJECT_NOT_FOUND"}),
            ),
        }
    }
}
