//! Salesforce: queries and tasks.

use std::sync::Mutex;

use domain::time::Timestamp;
use serde_json::{Map, Value, json};

use super::{Reply, Request, System, Tokens, iso};

/// Records of one batch.
const BATCH: usize = 2;

pub struct Salesforce {
    url: String,
    pub tokens: Tokens,
    records: Mutex<Vec<(String, String, Timestamp, Value)>>,
    /// What each running query brings.
    batches: Mutex<Vec<Vec<Value>>>,
    pub tasks: Mutex<Vec<Value>>,
}

impl Salesforce {
    pub fn new(url: &str) -> Self {
        Self {
            url: url.to_owned(),
            tokens: Tokens::new(false),
            records: Mutex::default(),
            batches: Mutex::default(),
            tasks: Mutex::default(),
        }
    }

    pub fn add(&self, object: &str, id: &str, created: Timestamp, fields: Value) {
        self.records.lock().unwrap().push((object.to_owned(), id.to_owned(), created, fields));
    }

    fn query(&self, text: &str) -> Reply {
        if let Some(rest) = text.strip_prefix("SELECT Id FROM Task WHERE CallObject = '") {
            let wanted = rest.split('\'').next().unwrap();
            let tasks = self.tasks.lock().unwrap();
            let at = tasks.iter().position(|task| task["CallObject"] == wanted);
            let records: Vec<Value> = at.iter().map(|at| json!({"Id": format!("00T{at}")})).collect();
            return Reply::ok(json!({"totalSize": records.len(), "done": true, "records": records}));
        }
        let (fields, rest) = text.strip_prefix("SELECT ").unwrap().split_once(" FROM ").unwrap();
        let (object, rest) = rest.split_once(" WHERE CreatedDate >= ").unwrap();
        let from = Timestamp::parse(rest.strip_suffix(" ORDER BY CreatedDate ASC, Id ASC").unwrap()).unwrap();
        if fields.contains("Nonsense__c") {
            return Reply::Json(
                400,
                json!([{"message": "No such column 'Nonsense__c' on entity 'Lead'.", "errorCode": "INVALID_FIELD"}]),
            );
        }
        let mut found: Vec<_> = self
            .records
            .lock()
            .unwrap()
            .iter()
            .filter(|row| row.0 == object && row.2 >= from)
            .cloned()
            .collect();
        found.sort_by(|one, other| (one.2, &one.1).cmp(&(other.2, &other.1)));
        let rows: Vec<Value> = found
            .iter()
            .map(|(object, id, created, known)| {
                let mut row = Map::new();
                row.insert(
                    "attributes".into(),
                    json!({"type": object, "url": format!("/sobjects/{object}/{id}")}),
                );
                for field in fields.split(", ") {
                    match field {
                        "Id" => row.insert("Id".into(), json!(id)),
                        // Whole seconds, and an offset without a colon.
                        "CreatedDate" => row.insert("CreatedDate".into(), json!(iso(*created, ".000+0000"))),
                        field => match field.split_once('.') {
                            Some((relation, inner)) => {
                                let mut of = known.get(relation).cloned().unwrap_or(Value::Null);
                                if of.is_object() {
                                    of = json!({"attributes": {"type": relation}, inner: of[inner]});
                                }
                                row.insert(relation.into(), of)
                            }
                            None => {
                                row.insert(field.into(), known.get(field).cloned().unwrap_or(Value::Null))
                            }
                        },
                    };
                }
                Value::Object(row)
            })
            .collect();
        let mut batches = self.batches.lock().unwrap();
        batches.push(rows);
        let query = batches.len() - 1;
        Reply::ok(batch(&batches[query], query, 0))
    }
}

fn batch(rows: &[Value], query: usize, from: usize) -> Value {
    let part: Vec<&Value> = rows.iter().skip(from).take(BATCH).collect();
    let end = from + part.len();
    let mut answer = json!({"totalSize": rows.len(), "done": end >= rows.len(), "records": part});
    if end < rows.len() {
        answer["nextRecordsUrl"] = json!(format!("/services/data/v66.0/query/01g{query}-{end}"));
    }
    answer
}

impl System for Salesforce {
    fn answer(&self, request: &Request) -> Reply {
        if request.path == "/services/oauth2/token" {
            return match self.tokens.renew(&request.form()) {
                Ok((access, _)) => Reply::ok(
                    json!({"access_token": access, "instance_url": self.url, "token_type": "Bearer", "issued_at": "1795000000000"}),
                ),
                Err(word) => Reply::Json(
                    400,
                    json!({"error": word, "error_description": "expired access/refresh token"}),
                ),
            };
        }
        let presented =
            request.header("authorization").strip_prefix("Bearer ").unwrap_or_default().to_owned();
        if !self.tokens.accepts(&presented) {
            return Reply::Json(
                401,
                json!([{"message": "Session expired or invalid", "errorCode": "INVALID_SESSION_ID"}]),
            );
        }
        if let Some(place) = request.path.strip_prefix("/services/data/v66.0/query/01g") {
            let (query, from) = place.split_once('-').unwrap();
            let (query, from): (usize, usize) = (query.parse().unwrap(), from.parse().unwrap());
            return Reply::ok(batch(&self.batches.lock().unwrap()[query], query, from));
        }
        match (request.method.as_str(), request.path.as_str()) {
            ("GET", "/services/data/v66.0/query") => self.query(&request.query["q"]),
            ("POST", "/services/data/v66.0/sobjects/Task") => {
                let mut tasks = self.tasks.lock().unwrap();
                tasks.push(request.json());
                Reply::Json(
                    201,
                    json!({"id": format!("00T{}", tasks.len() - 1), "success": true, "errors": []}),
                )
            }
            _ => Reply::Json(
                404,
                json!([{"message": "The requested resource does not exist", "errorCode": "NOT_FOUND"}]),
            ),
        }
    }
}
