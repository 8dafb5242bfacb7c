//! The systems that streams are read from: each customer has a CRM that speaks as HubSpot does and a
//! spreadsheet that speaks as Google's. They outlive the service's crashes, go by the time that passed, and
//! remember every call that was written to them.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use domain::phone::Phone;
use domain::time::{HOUR, MINUTE, SECOND, Timestamp};
use http::{HeaderMap, HeaderValue, StatusCode};
use providers::guarded_client::{Limits, Phase, Request, Response, SendError, Sending, Transport};
use serde_json::{Value, json};

use crate::carrier::World;
use crate::faults::Side;
use crate::random::Random;

/// A new contact is found by searches so much later at most, milliseconds: less than the overlap of checks.
const LAG: i64 = 4 * MINUTE;
/// The same of a call that was written; an attempt that may have arrived is looked up two minutes later.
const NOTE_LAG: i64 = 90 * SECOND;
/// Contacts of a page.
const PAGE: usize = 3;
/// An access token lasts so long, milliseconds.
const TOKEN: i64 = 6 * HOUR;

/// A contact of the CRM.
#[derive(Debug, Clone)]
pub struct Contact {
    pub id: String,
    pub phone: String,
    /// The number that can be called, if there is one.
    pub person: Option<Phone>,
    pub stage: &'static str,
    pub created: Timestamp,
    found_from: Timestamp,
}

/// A row of the spreadsheet, with the word that tells it from all others.
#[derive(Debug, Clone)]
pub struct SheetRow {
    pub word: String,
    pub phone: String,
    pub person: Option<Phone>,
}

/// A call that was written to the CRM.
#[derive(Debug, Clone)]
pub struct Note {
    pub id: String,
    pub title: String,
    found_from: Timestamp,
}

/// What one customer has there.
#[derive(Debug, Default)]
pub struct Account {
    pub contacts: Vec<Contact>,
    pub rows: Vec<SheetRow>,
    /// Rows that were ever written, edits included.
    pub written: u64,
    pub notes: Vec<Note>,
    /// Which refresh token is good, and whether the access was withdrawn.
    pub consent: u64,
    pub withdrawn: bool,
    /// Access tokens, each with its end.
    tokens: HashMap<String, Timestamp>,
    given: u64,
    /// Nothing answers between these moments.
    pub away: Option<(Timestamp, Timestamp)>,
}

/// All systems.
#[derive(Debug)]
pub struct Sources {
    pub accounts: [Account; 2],
    /// Whether searches find things late.
    pub lags: bool,
    asked: BTreeMap<&'static str, u64>,
    /// What the service sent that no system takes.
    pub broken: Vec<String>,
}

impl Default for Sources {
    fn default() -> Self {
        Self { accounts: Default::default(), lags: true, asked: BTreeMap::new(), broken: Vec::new() }
    }
}

/// The credentials of a customer, as they are by now.
pub fn credentials(customer: usize, consent: u64) -> Value {
    json!({"clientId": "simulation", "clientSecret": "secret", "refreshToken": format!("refresh-{customer}-{consent}")})
}

impl World {
    /// Somebody makes a contact in the CRM.
    pub fn add_contact(&self, customer: usize, phone: &str, person: Option<Phone>, stage: &'static str) {
        let now = self.passed();
        let mut sources = self.sources();
        let lags = sources.lags;
        let account = &mut sources.accounts[customer];
        let id = (1_000 + account.contacts.len()).to_string();
        let late = Random::named(self.seed(), &format!("contact {customer} {id}")).range(0, LAG);
        let found_from = now.plus(if lags { late } else { 0 });
        account.contacts.push(Contact {
            id,
            phone: phone.to_owned(),
            person,
            stage,
            created: now,
            found_from,
        });
    }

    /// Somebody writes a row into the spreadsheet: a new one, or over another one.
    pub fn write_row(&self, customer: usize, phone: &str, person: Option<Phone>, over: Option<u64>) {
        let mut sources = self.sources();
        let account = &mut sources.accounts[customer];
        let row = SheetRow { word: format!("row-{}", account.written), phone: phone.to_owned(), person };
        account.written += 1;
        match over {
            Some(pick) if !account.rows.is_empty() => {
                let at = (pick % account.rows.len() as u64) as usize;
                account.rows[at] = row;
            }
            _ => account.rows.push(row),
        }
    }

    /// What becomes of a request, by the seed and how many came before it.
    fn manner(&self, what: &'static str) -> Manner {
        let faulty = self.lock().faulty;
        let mut sources = self.sources();
        let asked = sources.asked.entry(what).or_default();
        *asked += 1;
        let mut random = Random::named(self.seed(), &format!("{what} {asked}"));
        drop(sources);
        let roll = random.range(0, 99);
        match roll {
            _ if !faulty => Manner::Answer,
            0..=4 => Manner::Refuse,
            5..=9 => Manner::Fail,
            10..=14 => Manner::Throttle(random.range(1, 900)),
            15..=19 => Manner::Lose,
            20..=22 => Manner::Hang,
            23..=25 => Manner::Expire,
            26 => Manner::Babble,
            27..=38 => Manner::Late(random.range(1, 25_000)),
            _ => Manner::Answer,
        }
    }
}

/// How a system treats a request.
enum Manner {
    Answer,
    /// It carries the request out and answers so many milliseconds later.
    Late(i64),
    /// Nobody takes the connection.
    Refuse,
    /// An error of its own; nothing is carried out.
    Fail,
    /// It wants to be left alone for so many seconds.
    Throttle(i64),
    /// It carries the request out and closes before its answer.
    Lose,
    /// It carries the request out and never answers.
    Hang,
    /// The access token is over before its time.
    Expire,
    /// Something that is no JSON.
    Babble,
}

/// The way to the systems.
pub struct Systems(pub Arc<World>);

/// What a request is about.
fn kind(host: &str, path: &str) -> &'static str {
    match (host, path.split('?').next().unwrap_or_default()) {
        (_, "/oauth/v3/token" | "/token") => "system token",
        (_, "/crm/v3/objects/contacts/search") => "system contacts",
        (_, "/crm/v3/objects/calls/search") => "system call search",
        (_, "/crm/v3/objects/calls") => "system call",
        _ => "system sheet",
    }
}

fn answer(status: u16, headers: &[(&'static str, String)], body: Bytes) -> Response {
    let headers: HeaderMap = headers
        .iter()
        .map(|(name, value)| {
            (http::HeaderName::from_static(name), HeaderValue::from_str(value).expect("a header"))
        })
        .collect();
    Response {
        status: StatusCode::from_u16(status).expect("a status"),
        headers,
        body,
        truncated: false,
        duration: Duration::ZERO,
    }
}

fn json_answer(status: u16, body: &Value) -> Response {
    answer(status, &[], body.to_string().into())
}

impl Transport for Systems {
    fn send(&self, request: Request, limits: Limits) -> Sending<'_> {
        Box::pin(async move {
            let what = kind(&request.target.host(), request.target.path_and_query());
            if self.0.dies_at(what, Side::Before) {
                std::future::pending::<()>().await;
            }
            let came = match self.0.manner(what) {
                Manner::Answer => Ok(self.carry_out(what, &request, false)),
                Manner::Late(ms) => {
                    let came = self.carry_out(what, &request, false);
                    self.0.wait(ms).await;
                    Ok(came)
                }
                Manner::Refuse => Err(SendError::ConnectFailed(std::io::ErrorKind::ConnectionRefused)),
                Manner::Fail => Ok(json_answer(500, &json!({"message": "internal error"}))),
                Manner::Throttle(seconds) => {
                    Ok(answer(429, &[("retry-after", seconds.to_string())], Bytes::from_static(b"{}")))
                }
                Manner::Lose => {
                    self.carry_out(what, &request, false);
                    Err(SendError::Closed(Phase::Head))
                }
                Manner::Hang => {
                    self.carry_out(what, &request, false);
                    self.0.wait(limits.deadline.as_millis() as i64).await;
                    Err(SendError::Timeout(Phase::Head))
                }
                Manner::Expire => Ok(self.carry_out(what, &request, true)),
                Manner::Babble => Ok(answer(200, &[], Bytes::from_static(b"<html>maintenance</html>"))),
            };
            if self.0.dies_at(what, Side::After) {
                std::future::pending::<()>().await;
            }
            came
        })
    }
}

/// The customer and the rest of a word such as `token-1-17`.
fn owner(word: &str, begin: &str) -> Option<(usize, u64)> {
    let (customer, number) = word.strip_prefix(begin)?.split_once('-')?;
    Some((customer.parse().ok().filter(|customer| *customer < 2)?, number.parse().ok()?))
}

impl Systems {
    fn carry_out(&self, what: &'static str, request: &Request, expire: bool) -> Response {
        let now = self.0.passed();
        let mut sources = self.0.sources();
        if what == "system token" {
            return give_token(&mut sources, &request.body, now);
        }
        let refused =
            || json_answer(401, &json!({"category": "EXPIRED_AUTHENTICATION", "message": "expired"}));
        let token = request.headers.get("authorization").and_then(|value| value.to_str().ok());
        let token = token.and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default().to_owned();
        let Some((customer, _)) = owner(&token, "token-") else {
            sources.broken.push(format!("{what} with the token «{token}»"));
            return refused();
        };
        let lags = sources.lags;
        let account = &mut sources.accounts[customer];
        if account.away.is_some_and(|(from, to)| from <= now && now < to) {
            return json_answer(500, &json!({"message": "maintenance"}));
        }
        if expire {
            account.tokens.remove(&token);
        }
        if account.withdrawn || account.tokens.get(&token).is_none_or(|until| *until <= now) {
            return refused();
        }
        let body: Value = serde_json::from_slice(&request.body).unwrap_or(Value::Null);
        match what {
            "system contacts" => contacts(account, &body, now),
            "system call search" => call_search(account, &body, now),
            "system call" => {
                let title = body["properties"]["hs_call_title"].as_str().unwrap_or_default().to_owned();
                let id = format!("note-{customer}-{}", account.notes.len());
                let late = Random::named(self.0.seed(), &id).range(0, NOTE_LAG);
                let found_from = now.plus(if lags { late } else { 0 });
                account.notes.push(Note { id: id.clone(), title, found_from });
                json_answer(201, &json!({"id": id}))
            }
            _ => sheet(account, request.target.path_and_query()),
        }
    }
}

/// A new access token, unless the consent is gone.
fn give_token(sources: &mut Sources, body: &[u8], now: Timestamp) -> Response {
    let form = String::from_utf8_lossy(body).into_owned();
    let refresh = form.split('&').find_map(|pair| pair.strip_prefix("refresh_token=")).unwrap_or_default();
    let Some((customer, consent)) = owner(refresh, "refresh-") else {
        sources.broken.push(format!("a renewal with {form}"));
        return json_answer(400, &json!({"error": "invalid_request"}));
    };
    let account = &mut sources.accounts[customer];
    if account.withdrawn || account.consent != consent {
        return json_answer(400, &json!({"error": "invalid_grant", "error_description": "withdrawn"}));
    }
    account.given += 1;
    let token = format!("token-{customer}-{}", account.given);
    account.tokens.insert(token.clone(), now.plus(TOKEN));
    json_answer(200, &json!({"access_token": token, "expires_in": TOKEN / SECOND, "refresh_token": refresh}))
}

fn contacts(account: &Account, body: &Value, now: Timestamp) -> Response {
    let (mut from, mut stage) = (0, None);
    for filter in body["filterGroups"][0]["filters"].as_array().into_iter().flatten() {
        match filter["propertyName"].as_str() {
            Some("createdate") => {
                from = filter["value"].as_str().and_then(|at| at.parse().ok()).unwrap_or(0);
            }
            Some("lifecyclestage") => stage = filter["value"].as_str(),
            _ => {}
        }
    }
    let mut found: Vec<&Contact> = account
        .contacts
        .iter()
        .filter(|contact| {
            contact.created.0 >= from
                && contact.found_from <= now
                && stage.is_none_or(|stage| stage == contact.stage)
        })
        .collect();
    found.sort_by_key(|contact| contact.created);
    let after: usize = body["after"].as_str().and_then(|after| after.parse().ok()).unwrap_or(0);
    let results: Vec<Value> = found
        .iter()
        .skip(after)
        .take(PAGE)
        .map(|contact| {
            let properties = json!({
                "createdate": contact.created, "phone": contact.phone, "firstname": "Asha", "lifecyclestage": contact.stage,
            });
            json!({"id": contact.id, "properties": properties, "createdAt": contact.created})
        })
        .collect();
    let mut answer = json!({"total": found.len(), "results": results});
    if after + PAGE < found.len() {
        answer["paging"] = json!({"next": {"after": (after + PAGE).to_string()}});
    }
    json_answer(200, &answer)
}

fn call_search(account: &Account, body: &Value, now: Timestamp) -> Response {
    let wanted = body["filterGroups"][0]["filters"][0]["value"].as_str().unwrap_or_default();
    let found = account.notes.iter().filter(|note| note.title == wanted && note.found_from <= now);
    let results: Vec<Value> = found.map(|note| json!({"id": note.id})).collect();
    json_answer(200, &json!({"total": results.len(), "results": results}))
}

fn sheet(account: &Account, path: &str) -> Response {
    if !path.contains("/values/") {
        let tab = json!({"properties": {"title": "Leads", "index": 0, "sheetType": "GRID"}});
        return json_answer(200, &json!({"sheets": [tab]}));
    }
    let mut values = vec![json!(["Name", "Phone", "City"])];
    values.extend(account.rows.iter().map(|row| json!(["Ravi", row.phone, row.word])));
    json_answer(200, &json!({"values": values}))
}
