//! A server process and a client for it.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use providers::guarded_client::{GuardedClient, Limits, Policy, Request, SystemResolver};
use serde_json::{Value, json};

/// The binary under test.
pub const BINARY: &str = env!("CARGO_BIN_EXE_dastak");
/// Operator token of every node.
pub const TOKEN: &str = "operator-token-of-the-tests";

static SERIAL: AtomicU32 = AtomicU32::new(0);

fn unique() -> String {
    let prefix = std::env::var("TEST_DATABASE_PREFIX").unwrap_or_default();
    format!("{prefix}p{}_{}", std::process::id(), SERIAL.fetch_add(1, Ordering::Relaxed))
}

/// Whether this run tests PostgreSQL.
pub fn on_postgres() -> bool {
    std::env::var("TEST_ENGINE").is_ok_and(|engine| engine == "postgres")
}

/// For a test about PostgreSQL. Its name ends in `_on_postgres`, by which runs on the other engine skip it.
pub fn needs_postgres() {
    assert!(on_postgres(), "this test needs TEST_ENGINE=postgres; without it, run `-- --skip _on_postgres`");
}

/// For a test that one engine is enough for, or about SQLite. Its name ends in `_on_sqlite`.
pub fn needs_sqlite() {
    assert!(!on_postgres(), "this test needs SQLite; with PostgreSQL, run `-- --skip _on_sqlite`");
}

/// A fresh database on the server of the tests.
pub async fn fresh_database() -> String {
    let server = std::env::var("TEST_POSTGRES_URL")
        .expect("TEST_POSTGRES_URL names the PostgreSQL server of the tests; use `make test`");
    let (client, connection) = tokio_postgres::connect(&server, tokio_postgres::NoTls)
        .await
        .expect("the PostgreSQL server of the tests answers");
    tokio::spawn(connection);
    let name = unique();
    client.batch_execute(&format!("create database {name}")).await.expect("a fresh database");
    let (base, _) = server.rsplit_once('/').expect("a URL");
    format!("{base}/{name}")
}

/// A data folder of its own, gone when dropped.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new() -> Self {
        let path = std::env::temp_dir().join("dastak-tests").join(unique());
        std::fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// An answer: status, headers, JSON.
pub type Answer = (u16, HeaderMap, Value);

/// Speaks to a node.
#[derive(Clone)]
pub struct Client {
    http: GuardedClient,
    pub url: String,
}

impl Client {
    pub fn new(url: &str) -> Self {
        let policy = Policy { allow_insecure: true, user_agent: "test".into(), ..Policy::default() };
        Self {
            http: GuardedClient::new(policy, Arc::new(SystemResolver::new())).expect("a client"),
            url: url.to_owned(),
        }
    }

    /// `None` when the node does not answer.
    pub async fn send(
        &self,
        method: &str,
        path: &str,
        bearer: &str,
        headers: &[(&str, &str)],
        body: &Value,
    ) -> Option<Answer> {
        let target = self.http.check_url(&format!("{}{path}", self.url)).expect("a URL");
        let mut map = HeaderMap::new();
        map.insert("authorization", HeaderValue::from_str(&format!("Bearer {bearer}")).expect("a header"));
        for (name, value) in headers {
            map.insert(
                HeaderName::from_bytes(name.as_bytes()).expect("a name"),
                HeaderValue::from_str(value).expect("a value"),
            );
        }
        let body = if body.is_null() { Bytes::new() } else { Bytes::from(body.to_string()) };
        let method = Method::from_bytes(method.as_bytes()).expect("a method");
        let limits = Limits { deadline: Duration::from_secs(60), max_response_bytes: 64 << 20 };
        let answer = self.http.send(Request { method, target, headers: map, body }, limits).await.ok()?;
        if answer.truncated {
            return None;
        }
        Some((
            answer.status.as_u16(),
            answer.headers,
            serde_json::from_slice(&answer.body).unwrap_or(Value::Null),
        ))
    }

    pub async fn operator(&self, method: &str, path: &str, body: &Value) -> Answer {
        self.send(method, &format!("/operator/v1{path}"), TOKEN, &[], body).await.expect("the node answers")
    }

    /// A workspace without limits: its id and a live key.
    pub async fn workspace(&self) -> (String, String) {
        let (status, _, made) =
            self.operator("POST", "/workspaces", &json!({"name": "Acme", "kybVerified": true})).await;
        assert_eq!(status, 201, "{made}");
        let id = made["data"]["id"].as_str().expect("an id").to_owned();
        self.operator(
            "PATCH",
            &format!("/workspaces/{id}"),
            &json!({"limits": {"requestsPerMinute": 1_000_000}}),
        )
        .await;
        let (status, _, key) = self
            .operator(
                "POST",
                &format!("/workspaces/{id}/keys"),
                &json!({"name": "k", "mode": "live", "scopes": "all"}),
            )
            .await;
        assert_eq!(status, 201, "{key}");
        (id, key["data"]["key"].as_str().expect("a key").to_owned())
    }

    /// A top-up of 1 with an idempotency key.
    pub async fn top_up(&self, workspace: &str, key: &str) -> Option<Answer> {
        let path = format!("/operator/v1/workspaces/{workspace}/wallet/entries");
        let body = json!({"kind": "topup", "amountMinor": 1, "reference": key});
        self.send("POST", &path, TOKEN, &[("idempotency-key", key)], &body).await
    }

    /// Asks until the answer fits, as the operator.
    pub async fn until(
        &self,
        method: &str,
        path: &str,
        fits: impl Fn(&Option<Answer>) -> bool,
    ) -> Option<Answer> {
        self.until_as(TOKEN, method, path, fits).await
    }

    /// Asks until the answer fits; the bound only ends a test that would never end.
    pub async fn until_as(
        &self,
        bearer: &str,
        method: &str,
        path: &str,
        fits: impl Fn(&Option<Answer>) -> bool,
    ) -> Option<Answer> {
        let mut pace = tokio::time::interval(Duration::from_millis(20));
        for _ in 0..3000 {
            let answer = self.send(method, path, bearer, &[], &Value::Null).await;
            if fits(&answer) {
                return answer;
            }
            pace.tick().await;
        }
        panic!("{method} {path} never came to it");
    }
}

/// A server process; killed when dropped.
pub struct Node {
    pub child: Child,
    pub client: Client,
    pub ready: Value,
    /// Its log, whole when it has ended.
    log: Option<std::thread::JoinHandle<String>>,
}

impl Node {
    /// Starts `dastak serve` on this folder, with more environment.
    pub fn start(folder: &Path, environment: &[(&str, &str)]) -> Self {
        let mut command = Command::new(BINARY);
        command.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(folder);
        Self::spawn(command, environment)
    }

    /// Starts a command that ends in a ready line.
    pub fn spawn(mut command: Command, environment: &[(&str, &str)]) -> Self {
        command
            .env("DASTAK_OPERATOR_TOKEN", TOKEN)
            // The PostgreSQL of the tests acknowledges before it has written.
            .env("DASTAK_TELEPHONY__MAY_DIAL_TWICE_AFTER_FAILOVER", "true")
            .envs(environment.iter().copied())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary starts");
        let mut errors = child.stderr.take().expect("errors");
        let said = std::thread::spawn(move || {
            let mut all = Vec::new();
            let _ = errors.read_to_end(&mut all);
            String::from_utf8_lossy(&all).into_owned()
        });
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("output")).read_line(&mut line).expect("a ready line");
        let Ok(ready) = serde_json::from_str::<Value>(&line) else {
            let _ = child.kill();
            panic!("ready line {line:?}: {}", said.join().unwrap_or_default());
        };
        let client = Client::new(ready["url"].as_str().expect("a URL"));
        Self { child, client, ready, log: Some(said) }
    }

    /// Ends it; what it has logged.
    pub fn logged(mut self) -> String {
        self.child.kill().expect("killed");
        self.child.wait().expect("gone");
        self.log.take().and_then(|log| log.join().ok()).expect("a log")
    }

    /// SIGKILL.
    pub fn kill(mut self) {
        self.child.kill().expect("killed");
        self.child.wait().expect("gone");
    }

    /// Sends a signal by name.
    pub fn signal(&self, name: &str) {
        let done = Command::new("kill")
            .args([format!("-{name}"), self.child.id().to_string()])
            .status()
            .expect("kill");
        assert!(done.success());
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
