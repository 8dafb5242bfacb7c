//! Google Sheets: tabs and values.

use std::sync::Mutex;

use serde_json::{Value, json};

use super::{Reply, Request, System, Tokens};

pub struct GoogleSheets {
    pub tokens: Tokens,
    /// Tabs with their cells; a number is shown shortened unless it is asked for as it is.
    tabs: Mutex<Vec<(String, Vec<Vec<Value>>)>>,
}

impl GoogleSheets {
    pub fn new() -> Self {
        Self { tokens: Tokens::new(false), tabs: Mutex::default() }
    }

    /// Sets the cells of a tab, which is made behind the others if it is not there.
    pub fn set(&self, tab: &str, cells: Value) {
        let cells = cells.as_array().unwrap().iter().map(|row| row.as_array().unwrap().clone()).collect();
        let mut tabs = self.tabs.lock().unwrap();
        match tabs.iter_mut().find(|known| known.0 == tab) {
            Some(known) => known.1 = cells,
            None => tabs.push((tab.to_owned(), cells)),
        }
    }

    fn values(&self, range: &str, form: &str) -> Reply {
        let refused = || {
            Reply::Json(
                400,
                json!({"error": {"code": 400, "message": format!("Unable to parse range: {range}"), "status": "INVALID_ARGUMENT"}}),
            )
        };
        let Some((tab, columns)) = range.rsplit_once('!') else { return refused() };
        assert_eq!(columns, "A1:ZZ");
        let Some(tab) = tab.strip_prefix('\'').and_then(|tab| tab.strip_suffix('\'')) else {
            return refused();
        };
        let tab = tab.replace("''", "'");
        let tabs = self.tabs.lock().unwrap();
        let Some((_, cells)) = tabs.iter().find(|known| known.0 == tab) else { return refused() };
        let shown = |cell: &Value| match cell.as_i64().filter(|_| form == "FORMATTED_VALUE") {
            Some(number) if number > 999_999_999 => json!(format!("{:.5}E+09", number as f64 / 1e9)),
            Some(number) => json!(number.to_string()),
            None => cell.clone(),
        };
        // Empty cells and rows at the end are dropped.
        let empty = |cell: &Value| cell == "";
        let mut rows: Vec<Vec<Value>> = cells
            .iter()
            .map(|row| {
                let mut row: Vec<Value> = row.iter().map(shown).collect();
                while row.last().is_some_and(empty) {
                    row.pop();
                }
                row
            })
            .collect();
        while rows.last().is_some_and(Vec::is_empty) {
            rows.pop();
        }
        let mut answer = json!({"range": range, "majorDimension": "ROWS"});
        if !rows.is_empty() {
            answer["values"] = json!(rows);
        }
        Reply::ok(answer)
    }
}

impl System for GoogleSheets {
    fn answer(&self, request: &Request) -> Reply {
        if request.path == "/token" {
            return match self.tokens.renew(&request.form()) {
                Ok((access, _)) => Reply::ok(
                    json!({"access_token": access, "expires_in": 3599, "scope": "s", "token_type": "Bearer"}),
                ),
                Err(word) => Reply::Json(
                    400,
                    json!({"error": word, "error_description": "Token has been expired or revoked."}),
                ),
            };
        }
        let presented =
            request.header("authorization").strip_prefix("Bearer ").unwrap_or_default().to_owned();
        if !self.tokens.accepts(&presented) {
            return Reply::Json(
                401,
                json!({"error": {"code": 401, "message": "Request had invalid authentication credentials.", "status": "UNAUTHENTICATED"}}),
            );
        }
        let Some(rest) = request.path.strip_prefix("/v4/spreadsheets/sheet-1") else {
            return Reply::Json(
                404,
                json!({"error": {"code": 404, "message": "Requested entity was not found.", "status": "NOT_FOUND"}}),
            );
        };
        match rest.strip_prefix("/values/") {
            Some(range) => self.values(range, &request.query["valueRenderOption"]),
            None => {
                assert_eq!((rest, request.query["fields"].as_str()), ("", "sheets.properties"));
                let tabs = self.tabs.lock().unwrap();
                let sheets: Vec<Value> = tabs.iter().enumerate().rev().map(|(index, (title, _))| json!({"properties": {"sheetId": index, "title": title, "index": index, "sheetType": "GRID"}})).collect();
                Reply::ok(json!({"sheets": sheets}))
            }
        }
    }
}
