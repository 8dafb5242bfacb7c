//! A service with telephone lines, a workspace, an agent and a number.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use dastak::config::Values;
use dastak::runtime::clock::Clock;
use dastak::service::Service;
use domain::time::{DAY, HOUR, Timestamp};
use http::{HeaderMap, HeaderValue};
use providers::GuardedClient;
use providers::guarded_client::{Limits, Policy, Request, SystemResolver};
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::receiver::Receiver;

/// Longer than any condition takes: a test that reaches it has failed.
pub const PATIENCE: Duration = Duration::from_secs(90);

/// Tests that run side by side at most.
const PLACES: usize = 6;

/// Which tests run: how many side by side, and whether one runs alone.
static RUNNING: Mutex<(usize, bool)> = Mutex::new((0, false));
static ENDED: Notify = Notify::const_new();

/// A test that runs.
pub struct Place {
    alone: bool,
}

impl Place {
    async fn take(alone: bool) -> Self {
        loop {
            let ended = ENDED.notified();
            {
                let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
                let (beside, taken) = *running;
                if !taken && (if alone { beside == 0 } else { beside < PLACES }) {
                    *running = if alone { (0, true) } else { (beside + 1, false) };
                    return Self { alone };
                }
            }
            ended.await;
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        *running = if self.alone { (0, false) } else { (running.0 - 1, false) };
        ENDED.notify_waiters();
    }
}

/// For a test in which speech is understood by the machine itself, or packets are counted: no other test runs
/// beside it. Those that may run side by side go first.
pub async fn alone() -> Place {
    Place::take(true).await
}

/// For a test that mostly waits: a few others may run beside it.
pub async fn beside() -> Place {
    Place::take(false).await
}

static SERIAL: AtomicU32 = AtomicU32::new(0);

/// A fresh folder.
pub fn folder(name: &str) -> PathBuf {
    let unique = format!("{name}-{}-{}", std::process::id(), SERIAL.fetch_add(1, Ordering::Relaxed));
    let folder = std::env::temp_dir().join("dastak-phone").join(unique);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// Waits until something is so.
pub async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < PATIENCE, "{what}: it never came to be");
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
}

/// The service under test.
pub struct Kit {
    service: Option<Service>,
    http: GuardedClient,
    url: String,
    operator: String,
    pub folder: PathBuf,
    pub workspace: String,
    pub key: String,
    /// The workspace's number.
    pub number: String,
    pack: String,
}

impl Kit {
    /// With trunks at these ports of this machine.
    pub async fn with_trunks(ports: &[u16]) -> Self {
        let trunk = |(index, port): (usize, &u16)| {
            format!("{{name = \"trunk{index}\", address = \"127.0.0.1:{port}\", options_interval = 0}}")
        };
        let trunks: Vec<String> = ports.iter().enumerate().map(trunk).collect();
        Self::start(&[
            ("telephony.carrier", "sip"),
            ("telephony.sip.trunks", &format!("[{}]", trunks.join(", "))),
        ])
        .await
    }

    /// With a trunk at this port of this machine, and these settings.
    pub async fn at_trunk(port: u16, more: &[(&str, &str)]) -> Self {
        Self::at_trunk_by(Clock::real(), port, more).await
    }

    /// The same, by a clock that shows the next noon in India and runs: nudges are dialled by day only
    /// (docs/contract/nudges.md#calling-window).
    pub async fn at_noon(port: u16, more: &[(&str, &str)]) -> Self {
        let today = Clock::real().now().0.div_euclid(DAY) * DAY;
        let noon = Timestamp(today + DAY + 13 * HOUR / 2);
        Self::at_trunk_by(Clock::running_from(noon), port, more).await
    }

    async fn at_trunk_by(clock: Clock, port: u16, more: &[(&str, &str)]) -> Self {
        let trunks = format!("[{{name = \"trunk\", address = \"127.0.0.1:{port}\", options_interval = 0}}]");
        let mut settings = vec![("telephony.carrier", "sip"), ("telephony.sip.trunks", trunks.as_str())];
        settings.extend_from_slice(more);
        Self::start_in(folder("service"), clock, &settings).await
    }

    /// With these settings beside the usual ones.
    pub async fn start(settings: &[(&str, &str)]) -> Self {
        Self::start_in(folder("service"), Clock::real(), settings).await
    }

    async fn start_in(folder: PathBuf, clock: Clock, settings: &[(&str, &str)]) -> Self {
        let mut values = Values::default();
        let data = folder.display().to_string();
        let usual = [
            ("data", data.as_str()),
            ("listen", "127.0.0.1:0"),
            ("telephony.sip.listen", "127.0.0.1:0"),
            ("telephony.sip.response_timeout", "3"),
            ("webhooks.allow_insecure", "true"),
        ];
        for (name, text) in usual.iter().chain(settings) {
            values.add_text(name, (*text).to_owned(), "the test").expect("a setting");
        }
        let service = Service::start_at(values.config(false).expect("settings"), clock)
            .await
            .expect("the service starts");
        let policy = Policy { allow_insecure: true, user_agent: "test".into(), ..Policy::default() };
        let mut kit = Self {
            url: format!("http://{}", service.address),
            operator: service.app.config.operator_token.to_string(),
            http: GuardedClient::new(policy, std::sync::Arc::new(SystemResolver::new())).expect("a client"),
            service: Some(service),
            folder,
            workspace: String::new(),
            key: String::new(),
            number: "+918045670001".into(),
            pack: String::new(),
        };
        kit.furnish().await;
        kit
    }

    async fn furnish(&mut self) {
        let made = self
            .operator("POST", "/workspaces", &json!({"name": "Acme", "kybVerified": true, "balanceMinor": 100_000, "costPerMinuteMinor": 600}))
            .await;
        self.workspace = text(&made["data"]["id"]);
        let base = format!("/workspaces/{}", self.workspace);
        self.operator("PATCH", &base, &json!({"limits": {"requestsPerMinute": 100_000}})).await;
        self.key = text(
            &self
                .operator(
                    "POST",
                    &format!("{base}/keys"),
                    &json!({"name": "live", "mode": "live", "scopes": "all"}),
                )
                .await["data"]["key"],
        );
        self.operator("POST", &format!("{base}/numbers"), &json!({"number": self.number})).await;
        let hours = json!([{"days": [0, 1, 2, 3, 4, 5, 6], "from": "00:00", "to": "24:00"}]);
        let pack = json!({"name": "any time", "hours": hours, "caps": {"perDay": 1000, "perWeek": 1000}});
        self.pack =
            text(&self.operator("POST", &format!("{base}/compliance-packs"), &pack).await["data"]["id"]);
    }

    /// Sends a request; its status and its JSON.
    pub async fn send(&self, method: &str, path: &str, bearer: &str, body: &Value) -> (u16, Value) {
        let target = self.http.check_url(&format!("{}{path}", self.url)).expect("a URL");
        let mut headers = HeaderMap::new();
        headers
            .insert("authorization", HeaderValue::from_str(&format!("Bearer {bearer}")).expect("a header"));
        headers.insert("content-type", HeaderValue::from_static("application/json"));
        // Each request is one of its own.
        headers.insert("idempotency-key", HeaderValue::from(SERIAL.fetch_add(1, Ordering::Relaxed)));
        let body = if body.is_null() { Bytes::new() } else { Bytes::from(body.to_string()) };
        let request = Request { method: method.parse().expect("a method"), target, headers, body };
        let answer = self
            .http
            .send(request, Limits { deadline: PATIENCE, max_response_bytes: 10_000_000 })
            .await
            .expect("an answer");
        (answer.status.as_u16(), serde_json::from_slice(&answer.body).unwrap_or(Value::Null))
    }

    /// The bytes of a link.
    pub async fn fetch(&self, url: &str) -> Vec<u8> {
        let request = Request {
            method: http::Method::GET,
            target: self.http.check_url(url).expect("a URL"),
            headers: HeaderMap::new(),
            body: Bytes::new(),
        };
        let answer = self
            .http
            .send(request, Limits { deadline: PATIENCE, max_response_bytes: 100_000_000 })
            .await
            .expect("an answer");
        assert_eq!(answer.status.as_u16(), 200, "{url}");
        answer.body.to_vec()
    }

    pub async fn operator(&self, method: &str, path: &str, body: &Value) -> Value {
        let (status, answer) = self.send(method, &format!("/operator/v1{path}"), &self.operator, body).await;
        assert!((200..300).contains(&status), "{method} {path}: {status} {answer}");
        answer
    }

    pub async fn api(&self, method: &str, path: &str, body: &Value) -> Value {
        let (status, answer) = self.send(method, path, &self.key, body).await;
        assert!((200..300).contains(&status), "{method} {path}: {status} {answer}");
        answer
    }

    /// A published agent that plays this flow.
    pub async fn agent(&self, direction: &str, nodes: Value) -> String {
        let body = json!({"name": "Asha", "systemPrompt": "You are Asha.", "direction": direction, "policyRef": self.pack,
            "allowedTransferNumbers": ["+918045670002", "+918045670003"]});
        let agent = text(&self.api("POST", "/v1/agents", &body).await["data"]["id"]);
        let start = nodes[0]["id"].clone();
        let version =
            self.api("GET", &format!("/v1/agents/{agent}/flow"), &Value::Null).await["data"]["draftVersion"]
                .clone();
        let flow =
            json!({"graph": {"startNodeId": start, "nodes": nodes, "variables": []}, "baseVersion": version});
        self.api("PUT", &format!("/v1/agents/{agent}/flow"), &flow).await;
        self.api("POST", &format!("/v1/agents/{agent}/flow/publish"), &json!({})).await;
        self.api("POST", &format!("/v1/agents/{agent}/status"), &json!({"status": "active"})).await;
        agent
    }

    /// Places a call and returns its id.
    pub async fn place(&self, agent: &str, digits: &str) -> String {
        let (status, answer) = self.try_place(agent, digits).await;
        assert_eq!(status, 200, "{answer}");
        text(&answer["interactionId"])
    }

    pub async fn try_place(&self, agent: &str, digits: &str) -> (u16, Value) {
        self.send(
            "POST",
            "/v1/calls",
            &self.key,
            &json!({"agentId": agent, "toNumber": format!("+91981230{digits}")}),
        )
        .await
    }

    pub async fn call(&self, id: &str) -> Value {
        self.api("GET", &format!("/v1/calls/{id}"), &Value::Null).await["data"].clone()
    }

    /// Waits until something holds of a call.
    pub async fn when(&self, id: &str, what: &str, holds: impl Fn(&Value) -> bool) -> Value {
        let started = Instant::now();
        loop {
            let call = self.call(id).await;
            if holds(&call) {
                return call;
            }
            assert!(started.elapsed() < PATIENCE, "{what}: {call}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Waits until a call is over.
    pub async fn ended(&self, id: &str) -> Value {
        self.when(id, "the call ends", |call| call["state"] == "ended").await
    }

    /// A call that was seen to have ended cannot be hung up.
    pub async fn is_over(&self, id: &str) {
        let (status, answer) =
            self.send("POST", &format!("/v1/calls/{id}/hangup"), &self.key, &Value::Null).await;
        assert_eq!((status, &answer["code"]), (409, &json!("call_not_active")), "{answer}");
    }

    /// Sends every event to a receiver from now on.
    pub async fn webhooks(&self) -> Receiver {
        let receiver = Receiver::ok().await;
        self.api("POST", "/v1/webhooks", &json!({"url": receiver.url})).await;
        receiver
    }

    pub async fn balance(&self) -> i64 {
        self.operator("GET", &format!("/workspaces/{}", self.workspace), &Value::Null).await["data"]["balanceMinor"].as_i64().expect("a balance")
    }

    /// Port on which trunks reach us.
    pub fn sip_port(&self) -> u16 {
        self.service
            .as_ref()
            .and_then(|service| service.app.lines.as_ref())
            .expect("lines")
            .address()
            .expect("trunks")
            .port()
    }

    /// Figures of `/metrics` by name.
    pub async fn figure(&self, name: &str) -> f64 {
        let target = self.http.check_url(&format!("{}/metrics", self.url)).expect("a URL");
        let mut headers = HeaderMap::new();
        headers.insert("authorization", format!("Bearer {}", self.operator).parse().expect("a header"));
        let request = Request { method: http::Method::GET, target, headers, body: Bytes::new() };
        let answer = self
            .http
            .send(request, Limits { deadline: PATIENCE, max_response_bytes: 10_000_000 })
            .await
            .expect("an answer");
        let answer = String::from_utf8_lossy(&answer.body).into_owned();
        let line = answer
            .lines()
            .find(|line| line.split([' ', '{']).next() == Some(name))
            .unwrap_or_else(|| panic!("no figure {name}"));
        line.rsplit(' ').next().and_then(|number| number.parse().ok()).expect("a number")
    }

    /// Nothing of a call is left: no leg, no dialog, no port, no line.
    pub async fn is_clean(&self) {
        let started = Instant::now();
        loop {
            let mut left = Vec::new();
            for name in [
                "dastak_calls_held",
                "dastak_sip_legs",
                "dastak_sip_dialogs",
                "dastak_rtp_lines",
                "dastak_rtp_ports_in_use",
            ] {
                if self.figure(name).await != 0.0 {
                    left.push(name);
                }
            }
            if left.is_empty() {
                return;
            }
            assert!(started.elapsed() < PATIENCE, "left over: {left:?}");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// Stops the service in order; whether everything ended in time.
    pub async fn stop(mut self) -> bool {
        self.service.take().expect("running").stop().await
    }
}

pub fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("a text, not {value}")).to_owned()
}

/// A flow that asks one question.
pub fn question() -> Value {
    json!([
        {"id": "ask", "type": "collect", "text": "Hello, this is Asha. When may I call you?", "attempts": 6, "next": "bye", "onFail": "bye",
         "field": {"key": "when", "type": "choice", "choices": ["call me later", "right now", "never"]}},
        {"id": "bye", "type": "end", "text": "Thank you and goodbye.", "outcome": "callback_requested"},
    ])
}
