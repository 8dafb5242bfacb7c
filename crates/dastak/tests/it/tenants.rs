//! A mutation test of the tenant filters. What a workspace sees must not depend on any other: its requests
//! get the same answers next to a neighbour as without one, and the neighbour's rows stay as they are. The
//! same requests are then run without one tenant filter at a time, and for [`NOTICED`] of them something must
//! differ.
//!
//! Some filters only back up another: the row has already been looked up with its tenant. Their absence does
//! not show here.
//!
//! `cargo test --workspace --test it tenants -- --nocapture` lists the filters whose absence shows.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use api::operations::{Method, TestKeys};
use bytes::Bytes;
use dastak::config::Config;
use domain::time::{HOUR, MINUTE, Timestamp};
use serde_json::{Value, json};
use store::db::Faults;
use store::{DbError, Tx};
use tokio::task::JoinSet;

use crate::agents;
use crate::app::{TestApp, Workspace, needs_sqlite};
use crate::call_simulation::noon_after;
use crate::neighbours::{self, Ids};
use crate::receiver::Receiver;
use crate::worlds::{Desk, Things, keyed};

/// One tenant filter of one statement: the text, and which of its filters.
type Filter = (String, usize);

/// Where the tenant filters of a statement stand.
fn filters(sql: &str) -> Vec<std::ops::Range<usize>> {
    const NEEDLE: &str = "workspace = ?";
    let mut found = Vec::new();
    for (at, _) in sql.match_indices(NEEDLE) {
        let start = sql[..at]
            .rfind(|letter: char| !(letter.is_ascii_alphanumeric() || "._".contains(letter)))
            .map_or(0, |before| before + 1);
        let digits = sql[at + NEEDLE.len()..].bytes().take_while(u8::is_ascii_digit).count();
        // `for_workspace = ?1` would be another column.
        if start == at || sql[..at].ends_with('.') {
            found.push(start..at + NEEDLE.len() + digits);
        }
    }
    found
}

/// Notes the statements that run, and removes a filter.
#[derive(Default)]
struct Mutations {
    removed: Option<Filter>,
    seen: Mutex<BTreeSet<String>>,
}

impl Mutations {
    fn without(filter: &Filter) -> Self {
        Self { removed: Some(filter.clone()), ..Self::default() }
    }
}

impl Faults for Mutations {
    fn statement<'a>(&self, sql: &'a str) -> Cow<'a, str> {
        if !sql.contains("workspace = ?") {
            return sql.into();
        }
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if !seen.contains(sql) {
            seen.insert(sql.to_owned());
        }
        let Some((_, which)) = self.removed.as_ref().filter(|(of, _)| of == sql) else { return sql.into() };
        let range = filters(sql).swap_remove(*which);
        // The parameter stays, so that the others keep their numbers.
        let mut text = sql.to_owned();
        text.replace_range(range.clone(), &format!("({} or 1 = 1)", &sql[range]));
        text.into()
    }
}

/// Names ids in the order in which they appear, so that two runs can be compared.
#[derive(Clone, Default)]
struct Names {
    known: BTreeMap<String, String>,
    given: usize,
}

fn is_id(word: &str) -> bool {
    word.rsplit_once('_')
        .is_some_and(|(prefix, rest)| prefix == "req" || (!prefix.is_empty() && rest.len() == 26))
}

/// The words of a text, and what stands between them.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let end = rest.find(|letter| is_word(letter) != is_word(first)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        rest = after;
        Some(word)
    })
}

impl Names {
    /// The text with names instead of ids, and without what differs from run to run.
    fn plain(&mut self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        // Moments look like 2026-11-23T06:30:00.000Z.
        while let Some(at) = moment(rest) {
            self.append(&mut out, &rest[..at]);
            out.push_str("MOMENT");
            rest = &rest[at + MOMENT..];
        }
        self.append(&mut out, rest);
        out
    }

    fn append(&mut self, out: &mut String, text: &str) {
        for word in words(text) {
            if let Some(name) = self.known.get(word) {
                out.push_str(name);
            } else if is_id(word) {
                let given = &mut self.given;
                *given += 1;
                let name = format!("id{given}");
                out.push_str(&name);
                self.known.insert(word.to_owned(), name);
            } else if word.len() >= 20
                && word.bytes().any(|letter| letter.is_ascii_uppercase())
                && word.bytes().any(|letter| letter.is_ascii_lowercase())
            {
                out.push_str("SEAL");
            } else if word.len() >= 32 && word.bytes().all(|letter| letter.is_ascii_hexdigit()) {
                out.push_str("HASH");
            } else if word.len() >= 13 && word.bytes().all(|letter| letter.is_ascii_digit()) {
                out.push_str("NUMBER");
            } else {
                out.push_str(word);
            }
        }
    }
}

const MOMENT: usize = "2026-11-23T06:30:00.000Z".len();

fn moment(text: &str) -> Option<usize> {
    let is_moment = |at: usize| {
        text.as_bytes()
            .get(at..at + MOMENT)
            .is_some_and(|part| part[4] == b'-' && part[10] == b'T' && part[23] == b'Z' && part[19] == b'.')
    };
    text.match_indices("20").map(|(at, _)| at).find(|at| is_moment(*at))
}

/// A JSON value without what is random, signed or measured.
fn without_secrets(value: &mut Value) {
    const SECRET: [&str; 10] = [
        "secret",
        "key",
        "prefix",
        "nextCursor",
        "recordingUrl",
        "hash",
        "signature",
        "publicKey",
        "integrityHash",
        "durationMs",
    ];
    match value {
        Value::Object(fields) => {
            for (name, value) in fields.iter_mut() {
                if SECRET.contains(&name.as_str()) && (value.is_string() || value.is_number()) {
                    *value = json!("SECRET");
                } else {
                    without_secrets(value);
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(without_secrets),
        _ => {}
    }
}

/// An export of the decision log without its signature.
fn unsigned(text: &str) -> String {
    text.lines().map(|line| line.split(" public_key=").next().unwrap_or(line)).collect::<Vec<_>>().join("\n")
}

/// What the neighbour has.
struct Neighbour {
    workspace: String,
    ids: Ids,
    live: Things,
    test: Things,
    member: String,
    /// All ids in its rows.
    names: Names,
}

/// A service before the life of the workspace, stopped.
struct Prepared {
    config: Config,
    folder: PathBuf,
    workspace: Workspace,
    agent: String,
    /// The digits of its phone number.
    number: String,
    /// When it goes on.
    start: String,
}

impl Drop for Prepared {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Numbers and references that both workspaces use.
const PHONE: &str = "+919812301231";
const OPTED_OUT: &str = "+919812301237";
const LISTED: &str = "+919812301238";
const TRANSFER: &str = "+918045670002";
/// Where no receiver listens.
const NOBODY: &str = "http://127.0.0.1:29099/hook";

async fn prepare(with_neighbour: bool) -> (Prepared, Option<Neighbour>) {
    let (app, neighbour) = if with_neighbour {
        let desk = Desk::open().await;
        let ids = Ids::of(&desk).await;
        let Desk { app, workspace, live, test, .. } = desk;
        let key = &workspace.live;
        let person = json!({"externalRef": "customer-1", "phone": "+919812301239", "name": "OfTheNeighbour"});
        app.post(key, "/v1/contacts", &person).await.expect(201);
        let person = json!({"externalRef": "customer-2", "phone": OPTED_OUT, "optOut": true});
        app.post(key, "/v1/contacts", &person).await.expect(201);
        app.post(key, "/v1/dnc", &json!({"phones": [LISTED]})).await.expect(200);
        let path = format!("/workspaces/{}", workspace.id);
        let member = json!({"email": "asha@example.com", "name": "Asha", "role": "admin"});
        let member = app.operator("POST", &format!("{path}/members"), &member).await;
        let pack = json!({"name": "of the neighbour", "hours": [{"days": [0, 1, 2, 3, 4, 5, 6], "from": "09:00", "to": "21:00"}],
            "caps": {"perDay": 1, "perWeek": 1}});
        app.operator("POST", &format!("{path}/compliance-packs"), &pack).await.expect(201);
        app.operator("POST", &format!("{path}/transfer-numbers"), &json!({"number": TRANSFER})).await;
        let member = member.json["data"]["id"].as_str().unwrap_or_default().to_owned();
        // What is pending is delivered now, so that nothing of it is tried again later.
        let receiver = Receiver::ok().await;
        let path = format!("/v1/webhooks/{}", ids.endpoint);
        app.patch(key, &path, &json!({"url": receiver.url})).await.expect(200);
        app.advance(300).await;
        app.patch(key, &path, &json!({"url": NOBODY})).await.expect(200);
        let mut names = Names::default();
        let rows = rows(&app, &workspace.id).await;
        for word in rows.iter().flat_map(|row| words(row)).filter(|word| is_id(word)) {
            names.known.insert(word.to_owned(), "the neighbour's".to_owned());
        }
        let neighbour = Neighbour { workspace: workspace.id.clone(), ids, live, test, member, names };
        (app, Some(neighbour))
    } else {
        let app = TestApp::start().await;
        app.set_clock(&noon_after(&app.now().await).plus(5 * MINUTE).to_string()).await;
        (app, None)
    };
    let workspace = app.workspace().await;
    let agent =
        agents::create_active(&app, &workspace, &json!({"systemPrompt": "Say hello.", "name": "Ravi"})).await;
    let numbers = app.get(&workspace.live, "/v1/numbers").await.expect(200);
    let number = numbers["data"][0]["number"].as_str().expect("a number").trim_start_matches('+').to_owned();
    // The same moment with and without the neighbour.
    let now = Timestamp::parse(&app.now().await).expect("a moment");
    let start = Timestamp((now.0.div_euclid(MINUTE) + 1) * MINUTE).to_string();
    app.set_clock(&start).await;
    let (config, folder) = app.stop().await;
    (Prepared { config, folder, workspace, agent, number, start }, neighbour)
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// The answers to a workspace or the rows of its neighbour, line by line.
type Story = Vec<String>;

/// What the workspace does and is answered, line by line.
struct Life<'a> {
    app: &'a TestApp,
    names: Names,
    told: Story,
    /// What it should be; the first line that differs ends it.
    expected: Option<&'a Story>,
    /// Seconds that have passed.
    passed: i64,
}

/// An answer or a row is not what it should be.
struct Differs(String);

impl Life<'_> {
    fn tell(&mut self, line: String) -> Result<(), Differs> {
        if let Some(expected) = self.expected {
            let should = expected.get(self.told.len()).map_or("nothing more", String::as_str);
            if should != line {
                return Err(Differs(format!("is    {line}\nnot   {should}")));
            }
        }
        self.told.push(line);
        Ok(())
    }

    async fn advance(&mut self, seconds: i64) {
        self.passed += seconds;
        self.app.advance(seconds).await;
    }

    async fn ask(&mut self, what: &str, path: &str, key: &str, body: Value) -> Result<Value, Differs> {
        let (method, name) = what.split_once(' ').expect("a method and a name");
        let bytes = if body.is_null() { Bytes::new() } else { Bytes::from(body.to_string()) };
        let path = path.replace(' ', "%20");
        let answer = self.app.send(method, &path, Some(key), &[("idempotency-key", "one")], bytes).await;
        let mut json = answer.json.clone();
        without_secrets(&mut json);
        let text = if json.is_null() { unsigned(&answer.text) } else { json.to_string() };
        let left = answer.header("x-ratelimit-remaining").unwrap_or("-");
        let line = format!("{name}: {} {left} {}", answer.status, self.names.plain(&text));
        self.tell(line)?;
        Ok(answer.json)
    }

    async fn operator(
        &mut self,
        what: &str,
        workspace: &str,
        path: &str,
        body: Value,
    ) -> Result<Value, Differs> {
        let token = self.app.operator_token.clone();
        self.ask(what, &format!("/operator/v1/workspaces/{workspace}{path}"), &token, body).await
    }
}

fn id(answer: &Value) -> String {
    let id = answer["data"]["id"].as_str().or(answer["interactionId"].as_str());
    id.unwrap_or("none_00000000000000000000000000").to_owned()
}

/// Asks for everything that the neighbour has.
async fn pry(life: &mut Life<'_>, own: &Prepared, neighbour: &Neighbour) -> Result<(), Differs> {
    for operation in keyed() {
        for (things, key) in [(&neighbour.live, &own.workspace.live), (&neighbour.test, &own.workspace.test)]
        {
            if !operation.path.contains('{')
                || (key == &own.workspace.test && operation.test_keys == TestKeys::Refused)
            {
                continue;
            }
            let path = neighbours::path(operation, &neighbour.ids, things);
            let what = format!("{} {}", operation.method.as_str(), operation.id);
            let body = match operation.id {
                "updateAgent" => json!({"name": "Mine now"}),
                "updateContact" => json!({"name": "Mine now"}),
                "updateWebhook" => json!({"description": "mine now"}),
                "saveFlow" => json!({"graph": {"startNodeId": "z", "variables": [],
                    "nodes": [{"id": "z", "type": "end", "text": "Bye.", "outcome": "mine"}]}, "baseVersion": 1}),
                _ => neighbours::body(operation, things),
            };
            life.ask(&what, &path, key, body).await?;
        }
    }
    let (ids, workspace) = (&neighbour.ids, &own.workspace);
    let agent = json!({"agentId": ids.agent, "toNumber": PHONE});
    for path in ["/v1/calls", "/v1/nudges", "/v1/nudges/preflight"] {
        life.ask("POST a call by the neighbour's agent", path, &workspace.live, agent.clone()).await?;
    }
    let body = json!({"ids": [neighbour.live.nudge]});
    life.ask("POST cancel the neighbour's nudge", "/v1/nudges/cancel", &workspace.live, body).await?;
    let body = json!({"name": "Mine", "toolIds": [ids.tool]});
    life.ask("POST an agent with the neighbour's tool", "/v1/agents", &workspace.live, body).await?;
    let body = json!({"url": "http://127.0.0.1:29099/mine", "agentIds": [ids.agent]});
    life.ask("POST a webhook for the neighbour's agent", "/v1/webhooks", &workspace.live, body).await?;
    for (what, path) in [
        ("POST lockAgent", format!("/agents/{}/lock", ids.agent)),
        ("POST unlockAgent", format!("/agents/{}/unlock", ids.agent)),
        ("DELETE deleteTool", format!("/tools/{}", ids.tool)),
        ("DELETE revokeKey", format!("/keys/{}", ids.key)),
        ("DELETE releaseNumber", format!("/numbers/{}", ids.number)),
        ("POST liftOptOut", format!("/contacts/{}/lift-opt-out", neighbour.live.contact)),
        ("DELETE a number of the list", format!("/dnc/{LISTED}")),
        ("DELETE a transfer number", format!("/transfer-numbers/{TRANSFER}")),
        ("DELETE a member", format!("/members/{}", neighbour.member)),
    ] {
        life.operator(what, &workspace.id, &path, Value::Null).await?;
    }
    Ok(())
}

/// Everything that can be listed.
async fn look(life: &mut Life<'_>, own: &Prepared, neighbour: &Neighbour) -> Result<(), Differs> {
    let (live, test) = (&own.workspace.live, &own.workspace.test);
    for operation in keyed().filter(|row| row.method == Method::GET && !row.path.contains('{')) {
        for key in [live, test] {
            let path = match operation.id {
                "listEvents" => "/v1/events?after=start&limit=100",
                _ => operation.path,
            };
            life.ask(&format!("GET {}", operation.id), path, key, Value::Null).await?;
        }
    }
    let of_agent = format!("agentId={}", neighbour.ids.agent);
    for (what, path) in [
        ("GET calls of an agent", format!("/v1/calls?{of_agent}")),
        ("GET calls of a contact", format!("/v1/calls?contactId={}", neighbour.live.contact)),
        ("GET calls of a state", "/v1/calls?state=ended&direction=outbound".to_owned()),
        ("GET nudges of an agent", format!("/v1/nudges?{of_agent}")),
        ("GET nudges of a number", format!("/v1/nudges?toNumber={}", "%2B919812301233")),
        ("GET nudges of a reference", "/v1/nudges?externalRef=order-1".to_owned()),
        ("GET analytics of an agent", format!("/v1/analytics/calls?{of_agent}")),
        ("GET scheduled calls", "/v1/scheduled-calls?status=scheduled".to_owned()),
        ("GET a listed number", format!("/v1/dnc?phone={}", LISTED.replace('+', "%2B"))),
        ("GET events after a foreign one", format!("/v1/events?after={}", neighbour.live.marks[4])),
        ("GET the log", "/v1/audit/export?format=jsonl".to_owned()),
        ("GET a chain", "/v1/audit/head?chain=audit".to_owned()),
    ] {
        life.ask(what, &path, live, Value::Null).await?;
    }
    for (what, path) in [
        ("GET listKeys", "/keys"),
        ("GET listTools", "/tools"),
        ("GET listMembers", "/members"),
        ("GET packs", "/compliance-packs"),
        ("GET numbers", "/numbers"),
        ("GET transfer numbers", "/transfer-numbers"),
        ("GET entries", "/wallet/entries"),
        ("GET the workspace", ""),
    ] {
        life.operator(what, &own.workspace.id, path, Value::Null).await?;
    }
    Ok(())
}

/// Makes and changes one of each noun, with the same numbers and references as the neighbour.
async fn live(life: &mut Life<'_>, own: &Prepared) -> Result<(), Differs> {
    let (live, test, agent) = (own.workspace.live.as_str(), own.workspace.test.as_str(), &own.agent);
    let later = Timestamp::parse(&own.start).unwrap().plus(HOUR).to_string();
    // People.
    let person = |name: &str| json!({"externalRef": "customer-1", "phone": "+919812301236", "name": name});
    let contact = id(&life.ask("POST upsertContact", "/v1/contacts", live, person("Mine")).await?);
    let people = json!({"contacts": [person("Mine again"), {"externalRef": "customer-2", "phone": PHONE}]});
    life.ask("POST upsertContacts", "/v1/contacts/batch", live, people).await?;
    life.ask("PUT updateContact", &format!("/v1/contacts/{contact}"), live, json!({"company": "Mine"}))
        .await?;
    life.ask("GET getContact", &format!("/v1/contacts/{contact}"), live, Value::Null).await?;
    // Agents and flows.
    let made = json!({"name": "Second", "systemPrompt": "Say something else."});
    let second = id(&life.ask("POST createAgent", "/v1/agents", live, made).await?);
    let path = format!("/v1/agents/{second}");
    life.ask("PUT updateAgent", &path, live, json!({"name": "Third"})).await?;
    life.ask("GET getAgent", &path, live, Value::Null).await?;
    life.ask("GET getFlow", &format!("{path}/flow"), live, Value::Null).await?;
    let graph = json!({"startNodeId": "z", "variables": [], "nodes": [{"id": "z", "type": "end", "text": "Bye.", "outcome": "done"}]});
    let flow = life
        .ask("PUT saveFlow", &format!("{path}/flow"), live, json!({"graph": graph, "baseVersion": 1}))
        .await?;
    let version = flow["data"]["draftVersion"].clone();
    life.ask(
        "PUT saveFlow again",
        &format!("{path}/flow"),
        live,
        json!({"graph": graph, "baseVersion": version}),
    )
    .await?;
    life.ask("POST publishFlow", &format!("{path}/flow/publish"), live, Value::Null).await?;
    life.ask("POST setAgentStatus", &format!("{path}/status"), live, json!({"status": "active"})).await?;
    // Calls, to numbers that the neighbour has called, opted out and listed.
    for key in [live, test] {
        for number in [PHONE, OPTED_OUT, LISTED] {
            let body = json!({"agentId": agent, "toNumber": number});
            let path = "/v1/calls";
            let placed = life.app.post(key, path, &body).await;
            let call = id(&placed.json);
            let line = format!("placeCall: {} {}", placed.status, life.names.plain(&placed.text));
            life.tell(line)?;
            life.advance(1).await;
            life.ask("GET getCall", &format!("/v1/calls/{call}"), key, Value::Null).await?;
            life.advance(4).await;
            life.ask("POST hangUpCall", &format!("/v1/calls/{call}/hangup"), key, Value::Null).await?;
            life.advance(12).await;
            life.ask("GET getCallTimeline", &format!("/v1/calls/{call}/timeline"), key, Value::Null).await?;
            life.ask("GET getCall", &format!("/v1/calls/{call}"), key, Value::Null).await?;
        }
    }
    // What is to come. The neighbour has used the same keys of idempotency.
    for key in [live, test] {
        let body = json!({"agentId": agent, "toNumber": "+919812301233", "externalRef": "order-1", "scheduledAt": later});
        let preflight = json!({"agentId": agent, "toNumber": "+919812301233"});
        life.ask("POST preflightNudge", "/v1/nudges/preflight", key, preflight).await?;
        let scheduled = id(&life.ask("POST scheduleCall", "/v1/scheduled-calls", key, body.clone()).await?);
        let nudge = id(&life.ask("POST createNudge", "/v1/nudges", key, body.clone()).await?);
        let mut other = body.clone();
        other["toNumber"] = json!("+919812301230");
        let made = life.app.post_with(key, "/v1/nudges", &[("idempotency-key", "two")], &other).await;
        let second = id(&made.json);
        let path = format!("/v1/scheduled-calls/{scheduled}");
        life.ask("GET getScheduledCall", &path, key, Value::Null).await?;
        life.ask("GET getScheduledCallTimeline", &format!("{path}/timeline"), key, Value::Null).await?;
        life.ask("DELETE cancelScheduledCall", &path, key, Value::Null).await?;
        let path = format!("/v1/nudges/{nudge}");
        life.ask("GET getNudge", &path, key, Value::Null).await?;
        life.ask("GET getNudgeTimeline", &format!("{path}/timeline"), key, Value::Null).await?;
        life.ask("POST cancelNudge", &format!("{path}/cancel"), key, Value::Null).await?;
        life.ask("POST cancelNudges", "/v1/nudges/cancel", key, json!({"ids": [second]})).await?;
        life.ask("POST cancelNudges all", "/v1/nudges/cancel", key, json!({"all": true})).await?;
        // One that is due now.
        let body = json!({"agentId": agent, "toNumber": "+919812301235"});
        let made = life.app.post_with(key, "/v1/nudges", &[("idempotency-key", "three")], &body).await;
        life.advance(20).await;
        life.ask("GET getNudge", &format!("/v1/nudges/{}", id(&made.json)), key, Value::Null).await?;
    }
    // Webhooks and events.
    let hook = json!({"url": "http://127.0.0.1:29099/own", "description": "own"});
    let hook = id(&life.ask("POST createWebhook", "/v1/webhooks", live, hook).await?);
    let path = format!("/v1/webhooks/{hook}");
    life.ask("PATCH updateWebhook", &path, live, json!({"description": "changed"})).await?;
    life.ask("POST rotateWebhookSecret", &format!("{path}/rotate-secret"), live, Value::Null).await?;
    life.ask("POST testWebhook", &format!("{path}/test"), live, json!({})).await?;
    life.ask("POST triggerEvent", "/v1/events/trigger", live, json!({"type": "call.failed"})).await?;
    life.ask("POST triggerEvent", "/v1/events/trigger", test, json!({"type": "call.failed"})).await?;
    life.advance(0).await;
    // Deliveries.
    let path = format!("/v1/webhooks/{hook}/deliveries");
    let listed =
        life.ask("GET listWebhookDeliveries", &format!("{path}?limit=100"), live, Value::Null).await?;
    let delivery = listed["data"][0]["id"].as_str().unwrap_or_default().to_owned();
    life.ask("GET getWebhookDelivery", &format!("{path}/{delivery}"), live, Value::Null).await?;
    life.ask("POST replayWebhookDelivery", &format!("{path}/{delivery}/replay"), live, Value::Null).await?;
    // The list of those who are not to be called, and erasure.
    life.ask("POST addDoNotCall", "/v1/dnc", live, json!({"phones": [LISTED, PHONE], "reason": "mine"}))
        .await?;
    life.ask("GET listDoNotCall", "/v1/dnc", live, Value::Null).await?;
    life.operator("DELETE a number of the list", &own.workspace.id, &format!("/dnc/{LISTED}"), Value::Null)
        .await?;
    life.ask("POST eraseContact", &format!("/v1/contacts/{contact}/erase"), live, Value::Null).await?;
    life.advance(1).await;
    // Account.
    let path = &own.workspace.id;
    let member = json!({"email": "asha@example.com", "name": "Asha", "role": "admin"});
    life.operator("POST createMember", path, "/members", member).await?;
    life.operator("POST add a transfer number", path, "/transfer-numbers", json!({"number": TRANSFER}))
        .await?;
    let entry = json!({"kind": "top_up", "amountMinor": 500, "reference": "test"});
    life.operator("POST an entry", path, "/wallet/entries", entry).await?;
    let numbers = life.ask("GET listNumbers", "/v1/numbers", live, Value::Null).await?;
    let number = numbers["data"][0]["id"].as_str().unwrap_or_default().to_owned();
    let body = json!({"agentId": null});
    life.ask("PUT setInboundAgent", &format!("/v1/numbers/{number}/inbound-agent"), live, body).await?;
    life.ask("DELETE deleteAgent", &format!("/v1/agents/{second}"), live, Value::Null).await?;
    life.ask("DELETE deleteWebhook", &format!("/v1/webhooks/{hook}"), live, Value::Null).await?;
    life.operator("DELETE releaseNumber", path, &format!("/numbers/{number}"), Value::Null).await?;
    Ok(())
}

/// All rows of a workspace.
async fn rows(app: &TestApp, workspace: &str) -> Vec<String> {
    let workspace = workspace.to_owned();
    let work = move |tx: &mut Tx<'_>| {
        let tables: Vec<String> =
            tx.all("select name from sqlite_master where type = 'table' order by name", &[])?;
        let mut rows = Vec::new();
        for table in tables {
            let columns: Vec<String> =
                tx.all(&format!("select name from pragma_table_info('{table}')"), &[])?;
            let owner = if table == "workspaces" { "id" } else { "workspace" };
            if !columns.iter().any(|column| column == owner) {
                continue;
            }
            let texts: Vec<String> = columns.iter().map(|name| format!("quote({name})")).collect();
            let sql = format!(
                "select '{table}|' || {} from {table} where {owner} = '{workspace}'",
                texts.join(" || '|' || ")
            );
            rows.extend(tx.all::<String>(&sql, &[])?);
        }
        Ok::<_, DbError>(rows)
    };
    app.app().store.read(work).await.unwrap()
}

/// Rows as they can be compared between runs. Deliveries say how long each attempt took.
fn plain(rows: &[String]) -> Story {
    let plain = |row: &String| {
        let plain = Names::default().plain(row);
        let is_number = |word: &str| word.bytes().all(|letter| letter.is_ascii_digit());
        if row.starts_with("deliveries|") {
            words(&plain).map(|word| if is_number(word) { "NUMBER" } else { word }).collect()
        } else {
            plain
        }
    };
    let mut plain: Story = rows.iter().map(plain).collect();
    plain.sort();
    plain
}

/// What the workspace does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Does {
    Lives,
    /// Nothing, while as much time passes.
    Waits(i64),
}

/// What should come of it.
struct Expected {
    life: Story,
    left: Story,
    /// Seconds that it takes.
    passed: i64,
}

/// Starts a service on a copy of what was prepared and plays the workspace.
async fn play(
    prepared: &Prepared,
    neighbour: &Neighbour,
    does: Does,
    mutations: Arc<Mutations>,
    expected: Option<&Expected>,
) -> Result<Expected, Differs> {
    static SERIAL: AtomicU32 = AtomicU32::new(0);
    let copied = format!("copy{}", SERIAL.fetch_add(1, Ordering::Relaxed));
    let folder = prepared.folder.with_extension(copied);
    copy(&prepared.folder, &folder);
    let config = Config { data: folder.clone(), ..prepared.config.clone() };
    let app = TestApp::start_again((config, folder)).await;
    app.set_clock(&prepared.start).await;
    let mut names = neighbour.names.clone();
    names.known.insert(prepared.number.clone(), "own number".to_owned());
    app.app().store.fail_as(mutations);
    let mut life =
        Life { app: &app, names, told: Vec::new(), expected: expected.map(|told| &told.life), passed: 0 };
    match does {
        Does::Lives => {
            pry(&mut life, prepared, neighbour).await?;
            look(&mut life, prepared, neighbour).await?;
            live(&mut life, prepared).await?;
            look(&mut life, prepared, neighbour).await?;
            pry(&mut life, prepared, neighbour).await?;
        }
        Does::Waits(seconds) => life.advance(seconds).await,
    }
    let Life { told: life, passed, .. } = life;
    let left = plain(&rows(&app, &neighbour.workspace).await);
    if let Some(expected) = expected {
        differ(&expected.left, &left)?;
    }
    Ok(Expected { life, left, passed })
}

/// The first line in which two stories differ.
fn differ(should: &Story, is: &Story) -> Result<(), Differs> {
    if should == is {
        return Ok(());
    }
    let missing = should.iter().find(|line| !is.contains(line)).map_or("nothing", String::as_str);
    let more = is.iter().find(|line| !should.contains(line)).map_or("nothing", String::as_str);
    Err(Differs(format!("is    {more}\nnot   {missing}")))
}

/// Filters whose absence shows. The others back up a look-up with the tenant before them, or stand in
/// statements that need more than a neighbour who has everything.
const NOTICED: usize = 66;

/// How many runs go side by side: most of a run is waiting for the manual clock to settle.
const BESIDE: usize = 12;

/// Plays the workspace without one of these filters at a time. Returns those whose absence changed nothing.
async fn unnoticed(
    prepared: &Arc<(Prepared, Neighbour)>,
    all: Vec<Filter>,
    expected: &Arc<Option<Expected>>,
) -> Vec<Filter> {
    let mut waiting = all.into_iter();
    let mut running = JoinSet::new();
    let mut left = Vec::new();
    loop {
        while running.len() < BESIDE
            && let Some(filter) = waiting.next()
        {
            let mutations = Arc::new(Mutations::without(&filter));
            let (prepared, expected) = (prepared.clone(), expected.clone());
            running.spawn(async move {
                let run = tokio::spawn(async move {
                    play(&prepared.0, &prepared.1, Does::Lives, mutations, expected.as_ref().as_ref()).await
                });
                // A panic means an answer that is not documented.
                let why = match run.await {
                    Ok(Ok(_)) => None,
                    Ok(Err(Differs(why))) => Some(why),
                    Err(_) => Some("an answer that is not documented".to_owned()),
                };
                (filter, why)
            });
        }
        let Some(done) = running.join_next().await else { return left };
        let (filter, why) = done.expect("a run");
        match why {
            Some(why) => println!("noticed: filter {} of {}\n{why}", filter.1, filter.0),
            None => left.push(filter),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_neighbour_changes_nothing_on_sqlite() {
    needs_sqlite();
    let (beside, neighbour) = prepare(true).await;
    let neighbour = neighbour.expect("one was made");
    let (alone, _) = prepare(false).await;
    // The workspace sees the same with and without the neighbour.
    let watching = Arc::new(Mutations::default());
    let expect = |played: Result<Expected, Differs>| played.unwrap_or_else(|Differs(why)| panic!("{why}"));
    let by_itself = expect(play(&alone, &neighbour, Does::Lives, Arc::default(), None).await);
    let with_other = expect(play(&beside, &neighbour, Does::Lives, watching.clone(), None).await);
    let told = by_itself.life.iter().zip(&with_other.life);
    let differing: Vec<String> = told
        .filter(|(alone, beside)| alone != beside)
        .map(|(alone, beside)| format!("alone   {alone}\nbeside  {beside}"))
        .collect();
    assert!(differing.is_empty(), "the workspace sees something of its neighbour:\n{}", differing.join("\n"));
    let idle = expect(play(&beside, &neighbour, Does::Waits(with_other.passed), Arc::default(), None).await);
    if let Err(Differs(why)) = differ(&idle.left, &with_other.left) {
        panic!("the neighbour's rows were changed:\n{why}");
    }
    // Without any one filter something differs.
    let seen = watching.seen.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let all: Vec<Filter> =
        seen.iter().flat_map(|sql| (0..filters(sql).len()).map(|which| (sql.clone(), which))).collect();
    assert!(all.len() > 100, "the statements were seen: {}", all.len());
    let prepared = Arc::new((beside, neighbour));
    let expected = Arc::new(Some(with_other));
    let count = all.len();
    let unnoticed = unnoticed(&prepared, all, &expected).await;
    let noticed = count - unnoticed.len();
    println!("{noticed} of {count} filters are noticed by themselves");
    assert!(noticed >= NOTICED, "{noticed} filters are noticed, no longer {NOTICED}");
}
