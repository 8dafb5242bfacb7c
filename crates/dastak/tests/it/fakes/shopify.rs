//! Shopify: customers over GraphQL. A refresh token works once.

use std::sync::Mutex;

use domain::time::Timestamp;
use serde_json::{Value, json};

use super::{Reply, Request, System, Tokens, iso};

pub struct Shopify {
    pub tokens: Tokens,
    customers: Mutex<Vec<(String, Timestamp, Value)>>,
    /// Whether it knows the term that asks for new customers; otherwise it warns and sends everybody.
    pub knows_term: Mutex<bool>,
    /// Customers of a page.
    pub page: Mutex<usize>,
}

impl Shopify {
    pub fn new() -> Self {
        Self {
            tokens: Tokens::new(true),
            customers: Mutex::default(),
            knows_term: Mutex::new(true),
            page: Mutex::new(100),
        }
    }

    pub fn add(&self, number: u32, created: Timestamp, fields: Value) {
        self.customers.lock().unwrap().push((format!("gid://shopify/Customer/{number}"), created, fields));
    }

    pub fn note(&self, number: u32) -> String {
        let customers = self.customers.lock().unwrap();
        let id = format!("gid://shopify/Customer/{number}");
        let found = customers.iter().find(|row| row.0 == id).unwrap();
        found.2["note"].as_str().unwrap_or_default().to_owned()
    }

    fn customers(&self, query: &str, variables: &Value) -> Reply {
        assert!(
            query.contains("sortKey: CREATED_AT") && query.contains("defaultPhoneNumber { phoneNumber }"),
            "{query}"
        );
        let knows = *self.knows_term.lock().unwrap();
        let term = variables["q"].as_str().unwrap();
        let from = term.strip_prefix("customer_date:>='").and_then(|rest| rest.strip_suffix('\'')).unwrap();
        let from = Timestamp::parse(from).unwrap();
        let mut found: Vec<_> =
            self.customers.lock().unwrap().iter().filter(|row| !knows || row.1 >= from).cloned().collect();
        found.sort_by_key(|row| row.1);
        if query.contains("reverse: true") {
            found.reverse();
        }
        let start: usize = variables["after"].as_str().map_or(0, |after| after.parse().unwrap());
        let end = (start + *self.page.lock().unwrap()).min(found.len());
        let nodes: Vec<Value> = found[start.min(end)..end]
            .iter()
            .map(|(id, created, fields)| {
                let mut node = json!({"id": id, "createdAt": iso(*created, "Z"), "firstName": null, "lastName": null, "defaultPhoneNumber": null, "defaultAddress": null});
                for (name, value) in fields.as_object().unwrap() {
                    node[name] = value.clone();
                }
                node
            })
            .collect();
        let mut answer = json!({
            "data": {"customers": {"nodes": nodes, "pageInfo": {"hasNextPage": end < found.len(), "endCursor": end.to_string()}}},
            "extensions": {"cost": {"requestedQueryCost": 12, "throttleStatus": {"maximumAvailable": 2000.0, "currentlyAvailable": 1988, "restoreRate": 100.0}}},
        });
        if !knows {
            answer["extensions"]["search"] = json!([{"path": ["customers"], "query": term, "parsed": {},
                "warnings": [{"field": "customer_date", "message": "Invalid search field for this query.", "code": "invalid_field"}]}]);
        }
        Reply::ok(answer)
    }
}

impl System for Shopify {
    fn answer(&self, request: &Request) -> Reply {
        if request.path == "/admin/oauth/access_token" {
            return match self.tokens.renew(&request.form()) {
                Ok((access, refresh)) => Reply::ok(
                    json!({"access_token": access, "expires_in": 3600, "refresh_token": refresh, "refresh_token_expires_in": 7_776_000, "scope": "read_customers"}),
                ),
                Err(word) => Reply::Json(400, json!({"error": word, "error_description": "no"})),
            };
        }
        if !self.tokens.accepts(request.header("x-shopify-access-token")) {
            return Reply::Json(
                401,
                json!({"errors": "[API] Invalid API key or access token (unrecognized login or wrong password)"}),
            );
        }
        assert_eq!(
            (request.method.as_str(), request.path.as_str()),
            ("POST", "/admin/api/2026-10/graphql.json")
        );
        let body = request.json();
        let (query, variables) = (body["query"].as_str().unwrap(), &body["variables"]);
        if query.contains("customers(") {
            return self.customers(query, variables);
        }
        let mut customers = self.customers.lock().unwrap();
        if query.starts_with("mutation") {
            let wanted = &variables["i"];
            let Some(row) = customers.iter_mut().find(|row| wanted["id"] == row.0) else {
                return Reply::ok(
                    json!({"data": {"customerUpdate": {"customer": null, "userErrors": [{"field": ["id"], "message": "Customer does not exist"}]}}}),
                );
            };
            row.2["note"] = wanted["note"].clone();
            return Reply::ok(
                json!({"data": {"customerUpdate": {"customer": {"id": row.0}, "userErrors": []}}}),
            );
        }
        let found = customers.iter().find(|row| variables["id"] == row.0);
        Reply::ok(json!({"data": {"customer": found.map(|row| json!({"id": row.0, "note": row.2["note"]}))}}))
    }
}
