//! Zoho CRM: COQL and notes. Failures of the token endpoint come as 200.

use std::sync::Mutex;

use domain::time::Timestamp;
use serde_json::{Map, Value, json};

use super::{Reply, Request, System, Tokens, iso};

pub struct Zoho {
    url: String,
    pub tokens: Tokens,
    records: Mutex<Vec<(String, String, Timestamp, Value)>>,
    pub notes: Mutex<Vec<Value>>,
    /// Records of a page at most.
    pub page: Mutex<usize>,
}

impl Zoho {
    pub fn new(url: &str) -> Self {
        Self {
            url: url.to_owned(),
            tokens: Tokens::new(false),
            records: Mutex::default(),
            notes: Mutex::default(),
            page: Mutex::new(200),
        }
    }

    pub fn add(&self, module: &str, id: &str, created: Timestamp, fields: Value) {
        self.records.lock().unwrap().push((module.to_owned(), id.to_owned(), created, fields));
    }

    fn query(&self, text: &str) -> Reply {
        let (fields, rest) = text.strip_prefix("select ").unwrap().split_once(" from ").unwrap();
        let (module, rest) = rest.split_once(" where Created_Time >= '").unwrap();
        let (from, rest) = rest.split_once("' order by Created_Time asc limit ").unwrap();
        let (offset, limit) = rest.split_once(", ").unwrap();
        let (from, offset): (Timestamp, usize) = (Timestamp::parse(from).unwrap(), offset.parse().unwrap());
        let limit = limit.parse::<usize>().unwrap().min(*self.page.lock().unwrap());
        let mut found: Vec<_> = self
            .records
            .lock()
            .unwrap()
            .iter()
            .filter(|row| row.0 == module && row.2 >= from)
            .cloned()
            .collect();
        found.sort_by_key(|row| row.2);
        let data: Vec<Value> = found
            .iter()
            .skip(offset)
            .take(limit)
            .map(|(_, id, created, known)| {
                let value = |field: &str| match field {
                    "id" => json!(id),
                    "Created_Time" => json!(iso(Timestamp(created.0 + 19_800_000), "+05:30")),
                    field => known.get(field).cloned().unwrap_or(Value::Null),
                };
                Value::Object(
                    fields.split(", ").map(|field| (field.to_owned(), value(field))).collect::<Map<_, _>>(),
                )
            })
            .collect();
        if data.is_empty() {
            return Reply::Bare(204);
        }
        let more = offset + data.len() < found.len();
        Reply::ok(json!({"data": data, "info": {"count": data.len(), "more_records": more}}))
    }
}

impl System for Zoho {
    fn answer(&self, request: &Request) -> Reply {
        if request.path == "/oauth/v2/token" {
            return match self.tokens.renew(&request.query) {
                Ok((access, _)) => Reply::ok(
                    json!({"access_token": access, "api_domain": self.url, "token_type": "Bearer", "expires_in": 3600}),
                ),
                Err("invalid_grant") => Reply::ok(json!({"error": "invalid_code"})),
                Err(word) => Reply::ok(json!({"error": word})),
            };
        }
        let presented =
            request.header("authorization").strip_prefix("Zoho-oauthtoken ").unwrap_or_default().to_owned();
        if !self.tokens.accepts(&presented) {
            return Reply::Json(
                401,
                json!({"code": "INVALID_TOKEN", "details": {}, "message": "invalid oauth token", "status": "error"}),
            );
        }
        match (request.method.as_str(), request.path.as_str()) {
            ("POST", "/crm/v8/coql") => self.query(request.json()["select_query"].as_str().unwrap()),
            ("POST", "/crm/v8/Notes") => {
                let mut notes = self.notes.lock().unwrap();
                notes.push(request.json()["data"][0].clone());
                let id = format!("note-{}", notes.len());
                Reply::Json(
                    201,
                    json!({"data": [{"code": "SUCCESS", "details": {"id": id}, "message": "record added", "status": "success"}]}),
                )
            }
            ("GET", path) if path.ends_with("/Notes") => {
                let notes = self.notes.lock().unwrap();
                let data: Vec<Value> = notes.iter().enumerate().map(|(at, note)| json!({"id": format!("note-{}", at + 1), "Note_Title": note["Note_Title"]})).collect();
                if data.is_empty() {
                    Reply::Bare(204)
                } else {
                    Reply::ok(json!({"data": data, "info": {"more_records": false}}))
                }
            }
            _ => Reply::Json(
                400,
                json!({"code": "INVALID_MODULE", "details": {}, "message": "the module name given seems to be invalid", "status": "error"}),
            ),
        }
    }
}
