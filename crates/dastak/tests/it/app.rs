//! The app in a box.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use api::operations::{self, Operation};
use bytes::Bytes;
use dastak::app::after_call::Ports;
use dastak::app::calls::Carriers;
use dastak::config::{Config, Values};
use dastak::http::console::Target;
use dastak::runtime::files::make_folder;
use dastak::service::Service;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use providers::guarded_client::{GuardedClient, Limits, Policy, Request, SystemResolver};
use serde_json::{Value, json};
use store::{DbError, Tx};

use crate::{closed, recording_examples};

/// A running service with a store of its own.
pub struct TestApp {
    service: Option<Service>,
    pub url: String,
    pub operator_token: String,
    http: GuardedClient,
    folder: PathBuf,
}

/// An answer.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub text: String,
    pub json: Value,
}

impl Answer {
    /// The status must be this one.
    #[track_caller]
    pub fn expect(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text);
        self.json
    }

    /// The answer must be this error.
    #[track_caller]
    pub fn refused(self, status: u16, code: &str) -> Value {
        assert_eq!((self.status, self.json["code"].as_str()), (status, Some(code)), "{}", self.text);
        self.json
    }

    #[track_caller]
    pub fn not_found(self) -> Value {
        self.refused(404, "not_found")
    }

    #[track_caller]
    pub fn conflict(self) -> Value {
        self.refused(409, "conflict")
    }

    /// A test key may not write here.
    #[track_caller]
    pub fn read_only(self) -> Value {
        self.refused(403, "test_mode_read_only")
    }

    /// The request is not valid.
    #[track_caller]
    pub fn invalid(self) -> Value {
        self.refused(400, "invalid_request")
    }

    /// The request is not valid because of this field, with which the message begins.
    #[track_caller]
    pub fn invalid_field(self, field: &str) -> Value {
        let answer = self.invalid();
        assert_eq!(answer["meta"]["field"], field, "{answer}");
        assert!(answer["error"].as_str().unwrap().starts_with(field), "{answer}");
        answer
    }

    /// The status must be this one; its `data`.
    #[track_caller]
    pub fn data(self, status: u16) -> Value {
        self.expect(status)["data"].take()
    }

    /// The same; its rows.
    #[track_caller]
    pub fn list(self, status: u16) -> Vec<Value> {
        let Value::Array(rows) = self.data(status) else { panic!("a list") };
        rows
    }

    /// The same; the id of what it shows.
    #[track_caller]
    pub fn id(self, status: u16) -> String {
        self.data(status)["id"].as_str().expect("an id").to_owned()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }
}

/// Why a transaction of a test failed.
pub trait Fault: From<DbError> + std::fmt::Debug + Send + 'static {}

impl<E: From<DbError> + std::fmt::Debug + Send + 'static> Fault for E {}

/// A workspace with a key of each mode, all scopes.
#[derive(Debug, Clone)]
pub struct Workspace {
    pub id: String,
    pub live: String,
    pub test: String,
}

static SERIAL: AtomicU32 = AtomicU32::new(0);

fn unique() -> String {
    // `scripts/engine.sh` knows its databases by it.
    let prefix = std::env::var("TEST_DATABASE_PREFIX").unwrap_or_default();
    format!("{prefix}t{}_{}", std::process::id(), SERIAL.fetch_add(1, Ordering::Relaxed))
}

/// For a test that one engine is enough for. Its name ends in `_on_sqlite`, by which runs on PostgreSQL skip
/// it.
pub fn needs_sqlite() {
    let postgres = std::env::var("TEST_ENGINE").is_ok_and(|engine| engine == "postgres");
    assert!(!postgres, "this test needs SQLite; with PostgreSQL, run `-- --skip _on_sqlite`");
}

/// For a test about PostgreSQL. Its name ends in `_on_postgres`, by which runs on SQLite skip it.
pub fn needs_postgres() {
    let postgres = std::env::var("TEST_ENGINE").is_ok_and(|engine| engine == "postgres");
    assert!(postgres, "this test needs TEST_ENGINE=postgres; without it, run `-- --skip _on_postgres`");
}

/// Databases of services that are gone. The next test that makes one drops them, so that a run needs little disk.
static LEFT_DATABASES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// A database of its own on the test server.
async fn fresh_database() -> String {
    let server = std::env::var("TEST_POSTGRES_URL")
        .expect("TEST_POSTGRES_URL names the PostgreSQL server of the tests; use `make test`");
    let (client, connection) = tokio_postgres::connect(&server, tokio_postgres::NoTls)
        .await
        .expect("the PostgreSQL server of the tests answers");
    tokio::spawn(connection);
    let left_databases = std::mem::take(&mut *LEFT_DATABASES.lock().expect("the list"));
    for left in left_databases {
        // A service that is just ending may still connect; then this database stays until the server goes.
        let _ = client.batch_execute(&format!("drop database if exists {left} with (force)")).await;
    }
    let (base, _) = server.rsplit_once('/').expect("a URL");
    let template = TEMPLATE
        .get_or_init(|| async {
            let name = format!("{}_template", unique());
            client.batch_execute(&format!("create database {name}")).await.expect("a template");
            migrate(&format!("{base}/{name}"));
            name
        })
        .await;
    let name = unique();
    client
        .batch_execute(&format!("create database {name} template {template}"))
        .await
        .expect("a fresh database");
    format!("{base}/{name}")
}

/// A database with the newest schema and nothing in it. Copying it takes much less time than each step of the
/// schema again (half of what a test costs); `tests/process` starts from an empty database.
static TEMPLATE: tokio::sync::OnceCell<String> = tokio::sync::OnceCell::const_new();

/// Brings a database up to date in a process of its own: nobody may be connected to a template.
fn migrate(url: &str) {
    let folder = temporary_folder();
    run_migrate(&folder, Some(url));
    let _ = std::fs::remove_dir_all(&folder);
}

fn run_migrate(folder: &Path, url: Option<&str>) {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_dastak"));
    command.arg("migrate").env("DASTAK_DATA", folder).envs(url.map(|url| ("DASTAK_DATABASE_URL", url)));
    let done = command.output().expect("the program");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

/// The same as a file of SQLite.
static TEMPLATE_FILE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let folder = temporary_folder();
    run_migrate(&folder, None);
    let copy = folder.join("template.db");
    std::fs::write(&copy, "").expect("a file");
    store::db::backup_sqlite(&folder.join("dastak.db"), &copy).expect("a template");
    let bytes = std::fs::read(&copy).expect("the template");
    let _ = std::fs::remove_dir_all(&folder);
    bytes
});

fn temporary_folder() -> PathBuf {
    std::env::temp_dir().join("dastak-tests").join(unique())
}

/// Settings of a test: a fresh store of the engine under test, a free port, a manual clock, the sandbox
/// carrier.
pub async fn settings(folder: &Path) -> Config {
    let mut values = Values::default();
    let mut set = |name: &str, text: String| values.add_text(name, text, "the test").expect("a setting");
    set("data", folder.display().to_string());
    set("listen", "127.0.0.1:0".into());
    set("clock", "manual".into());
    set("telephony.carrier", "sandbox".into());
    set("webhooks.allow_insecure", "true".into());
    // Nobody listens there: no test reaches a system outside of this machine.
    for system in [
        "hubspot.base_url",
        "salesforce.login_url",
        "zoho.accounts_url",
        "shopify.base_url",
        "google_sheets.base_url",
        "google_sheets.token_url",
    ] {
        set(&format!("integrations.{system}"), "http://127.0.0.1:29098".into());
    }
    match std::env::var("TEST_ENGINE").as_deref() {
        Ok("postgres") => {
            set("database_url", fresh_database().await);
            set("database_connections", "2".into());
            if let Ok(wake) = std::env::var("TEST_DATABASE_WAKE") {
                set("database_wake", wake);
            }
            // The server of the tests acknowledges before it has written.
            set("telephony.may_dial_twice_after_failover", "true".into());
        }
        Ok("sqlite") | Err(_) => {
            make_folder(folder).expect("the data folder");
            std::fs::write(folder.join("dastak.db"), &*TEMPLATE_FILE).expect("a store");
        }
        Ok(other) => panic!("TEST_ENGINE is sqlite or postgres, not {other}"),
    }
    let mut config = values.config(false).expect("settings");
    config.extract_program = env!("CARGO_BIN_EXE_dastak").into();
    config
}

impl TestApp {
    pub async fn start() -> Self {
        Self::start_with(|_| ()).await
    }

    pub async fn start_with(change: impl FnOnce(&mut Config)) -> Self {
        let folder = temporary_folder();
        let mut config = settings(&folder).await;
        change(&mut config);
        let carriers = Carriers::of(&config);
        Self::start_config(config, carriers, folder).await
    }

    /// A service whose live calls go to this carrier.
    pub async fn start_over(live: Arc<dyn domain::ports::Carrier>) -> Self {
        let folder = temporary_folder();
        let config = settings(&folder).await;
        let carriers = Carriers { live: Some(live), ..Carriers::of(&config) };
        Self::start_config(config, carriers, folder).await
    }

    /// A service whose live calls go to this carrier, with these ports.
    pub async fn start_ports(
        live: Arc<dyn domain::ports::Carrier>,
        change: impl FnOnce(&mut Config),
        ports: impl FnOnce(&mut Ports),
    ) -> Self {
        let folder = temporary_folder();
        let mut config = settings(&folder).await;
        change(&mut config);
        let carriers = Carriers { live: Some(live), ..Carriers::of(&config) };
        Self::start_full(config, carriers, folder, ports).await
    }

    async fn start_config(config: Config, carriers: Carriers, folder: PathBuf) -> Self {
        Self::start_full(config, carriers, folder, |_| ()).await
    }

    async fn start_full(
        config: Config,
        carriers: Carriers,
        folder: PathBuf,
        ports: impl FnOnce(&mut Ports),
    ) -> Self {
        let service = Service::start_over(config, carriers, ports).await.expect("the service starts");
        let policy = Policy { allow_insecure: true, user_agent: "test".into(), ..Policy::default() };
        Self {
            url: format!("http://{}", service.address),
            operator_token: service.app.config.operator_token.to_string(),
            http: GuardedClient::new(policy, Arc::new(SystemResolver::new())).expect("a client"),
            service: Some(service),
            folder,
        }
    }

    /// The use cases and the store behind the API.
    pub fn app(&self) -> &Arc<dastak::app::App> {
        &self.service.as_ref().expect("running").app
    }

    /// What a read of the store finds.
    pub async fn stored<T: Send + 'static, E: Fault>(
        &self,
        read: impl FnMut(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
    ) -> T {
        self.app().store.read(read).await.expect("a read")
    }

    /// Changes the store past the service.
    pub async fn store<T: Send + 'static, E: Fault>(
        &self,
        write: impl FnMut(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
    ) -> T {
        self.app().store.tx(write).await.expect("a write")
    }

    /// Stops the service in order and starts it again on the same store.
    pub async fn restart(self) -> Self {
        self.restart_as(|_, _| ()).await
    }

    /// The same with other settings, which also choose the carriers anew.
    pub async fn restart_with(self, change: impl FnOnce(&mut Config)) -> Self {
        self.restart_as(|config, carriers| {
            change(config);
            *carriers = Carriers::of(config);
        })
        .await
    }

    async fn restart_as(mut self, change: impl FnOnce(&mut Config, &mut Carriers)) -> Self {
        let service = self.service.take().expect("running");
        let (mut config, mut carriers) = (service.app.config.clone(), service.app.carriers.clone());
        change(&mut config, &mut carriers);
        assert!(service.stop().await, "everything ended in time");
        let folder = std::mem::take(&mut self.folder);
        drop(self);
        Self::start_config(Config { public_url: String::new(), ..config }, carriers, folder).await
    }

    /// Stops the service in order and leaves its store, for [`TestApp::start_again`].
    pub async fn stop(mut self) -> (Config, PathBuf) {
        let service = self.service.take().expect("running");
        let config = Config { public_url: String::new(), ..service.app.config.clone() };
        assert!(service.stop().await, "everything ended in time");
        (config, std::mem::take(&mut self.folder))
    }

    /// Ends the service as a crash does: in the middle of its work. It must have been started inside
    /// `runtime`.
    pub fn crash(mut self, runtime: tokio::runtime::Runtime) -> (Config, PathBuf) {
        let service = self.service.take().expect("running");
        let config = Config { public_url: String::new(), ..service.app.config.clone() };
        let folder = std::mem::take(&mut self.folder);
        drop((service, self));
        // Ending a runtime drops its tasks where they stand.
        runtime.shutdown_timeout(Duration::from_secs(30));
        (config, folder)
    }

    /// Starts the service on a store that a crash left behind.
    pub async fn start_again((config, folder): (Config, PathBuf)) -> Self {
        let carriers = Carriers::of(&config);
        Self::start_config(config, carriers, folder).await
    }

    /// The same with a carrier for live calls and these ports.
    pub async fn start_again_ports(
        (config, folder): (Config, PathBuf),
        live: Arc<dyn domain::ports::Carrier>,
        ports: impl FnOnce(&mut Ports),
    ) -> Self {
        let carriers = Carriers { live: Some(live), ..Carriers::of(&config) };
        Self::start_full(config, carriers, folder, ports).await
    }

    /// Waits until `condition` holds of an answer.
    pub async fn until(&self, key: &str, path: &str, condition: impl Fn(&Value) -> bool) -> Value {
        for _ in 0..400 {
            let answer = self.get(key, path).await.expect(200);
            if condition(&answer) {
                return answer;
            }
            // Gives work that waits for the outside some time.
            self.advance(0).await;
        }
        panic!("{path} never came to be as expected: {}", self.get(key, path).await.text);
    }

    /// Sends a request and holds the answer against the table of operations.
    pub async fn send(
        &self,
        method: &str,
        path: &str,
        bearer: Option<&str>,
        headers: &[(&str, &str)],
        body: Bytes,
    ) -> Answer {
        let target = self.http.check_url(&format!("{}{path}", self.url)).expect("a URL");
        let mut map = HeaderMap::new();
        if let Some(bearer) = bearer {
            map.insert(
                "authorization",
                HeaderValue::from_str(&format!("Bearer {bearer}")).expect("a header"),
            );
        }
        if !body.is_empty() {
            map.insert("content-type", HeaderValue::from_static("application/json"));
        }
        for (name, value) in headers {
            map.insert(
                HeaderName::from_bytes(name.as_bytes()).expect("a name"),
                HeaderValue::from_str(value).expect("a value"),
            );
        }
        let method_name = Method::from_bytes(method.as_bytes()).expect("a method");
        let limits = Limits { deadline: Duration::from_secs(240), max_response_bytes: 64 << 20 };
        let response = self
            .http
            .send(Request { method: method_name, target, headers: map, body: body.clone() }, limits)
            .await
            .expect("an answer");
        let text = String::from_utf8_lossy(&response.body).into_owned();
        let json = serde_json::from_str(&text).unwrap_or(Value::Null);
        let answer = Answer { status: response.status.as_u16(), headers: response.headers, text, json };
        if let Some(operation) = conforms(method, path, &answer) {
            recording_examples::exchange(operation, path, headers, &body, &answer);
        }
        answer
    }

    pub async fn get(&self, key: &str, path: &str) -> Answer {
        self.send("GET", path, Some(key), &[], Bytes::new()).await
    }

    /// Posts a body; null is none.
    pub async fn post(&self, key: &str, path: &str, body: &Value) -> Answer {
        self.post_with(key, path, &[], body).await
    }

    pub async fn post_with(&self, key: &str, path: &str, headers: &[(&str, &str)], body: &Value) -> Answer {
        let body = if body.is_null() { Bytes::new() } else { body.to_string().into() };
        self.send("POST", path, Some(key), headers, body).await
    }

    pub async fn put(&self, key: &str, path: &str, body: &Value) -> Answer {
        self.send("PUT", path, Some(key), &[], body.to_string().into()).await
    }

    pub async fn patch(&self, key: &str, path: &str, body: &Value) -> Answer {
        self.send("PATCH", path, Some(key), &[], body.to_string().into()).await
    }

    pub async fn delete(&self, key: &str, path: &str) -> Answer {
        self.send("DELETE", path, Some(key), &[], Bytes::new()).await
    }

    /// Sends a request with the operator's token.
    pub async fn operator(&self, method: &str, path: &str, body: &Value) -> Answer {
        let body = if body.is_null() { Bytes::new() } else { body.to_string().into() };
        self.send(method, &format!("/operator/v1{path}"), Some(&self.operator_token), &[], body).await
    }

    /// A fresh verified workspace with money, one number, high limits, and a key of each mode.
    pub async fn workspace(&self) -> Workspace {
        let body = json!({"name": "Acme", "kybVerified": true, "balanceMinor": 1_000_000});
        let made = self.operator("POST", "/workspaces", &body).await.expect(201);
        let id = made["data"]["id"].as_str().expect("an id").to_owned();
        let limits = json!({"limits": {"requestsPerMinute": 1_000_000, "memberRequestsPerMinute": 1_000_000, "callsPerMinute": 1_000_000, "nudgesPerMinute": 1_000_000}});
        self.operator("PATCH", &format!("/workspaces/{id}"), &limits).await.expect(200);
        let number = format!("+9180{:08}", 20_000_000 + SERIAL.fetch_add(1, Ordering::Relaxed));
        self.operator("POST", &format!("/workspaces/{id}/numbers"), &json!({"number": number}))
            .await
            .expect(201);
        let (live, test) =
            (self.key(&id, "live", json!("all")).await, self.key(&id, "test", json!("all")).await);
        Workspace { id, live, test }
    }

    /// A key of a workspace.
    pub async fn key(&self, workspace: &str, mode: &str, scopes: Value) -> String {
        let body = json!({"name": "test", "mode": mode, "scopes": scopes});
        let made = self.operator("POST", &format!("/workspaces/{workspace}/keys"), &body).await.expect(201);
        made["data"]["key"].as_str().expect("a key").to_owned()
    }

    /// Waits until one transaction on PostgreSQL waits for a lock of another.
    pub async fn until_one_waits_for_a_lock(&self) {
        let waits = "select count(*) from pg_stat_activity \
                     where datname = current_database() and wait_event_type = 'Lock'";
        for _ in 0..20_000 {
            if self.app().store.read(|tx| tx.one::<i64>(waits, &[])).await.expect("a count") == Some(1) {
                return;
            }
        }
        panic!("nobody waits for a lock");
    }

    /// Moves the manual clock; everything that this starts has settled when it returns.
    pub async fn advance(&self, mut seconds: i64) {
        // A request each: every job runs at its times on the way, and days of that can take longer than a request may.
        const AT_ONCE: i64 = 6 * 3_600;
        loop {
            let piece = seconds.min(AT_ONCE);
            seconds -= piece;
            let body = json!({"advanceSeconds": piece}).to_string();
            self.send("POST", "/dev/clock", None, &[], body.into()).await.expect(200);
            if seconds == 0 {
                return;
            }
        }
    }

    /// Has the manual clock show this moment, as if the service had slept until then: what is due runs once. For a moment
    /// that is years away; on the way there every job would run some thousand times.
    pub async fn sleep_until(&self, moment: &str) {
        assert!(
            self.app().clock.step_to(domain::time::Timestamp::parse(moment).expect("a moment")),
            "a manual clock"
        );
        self.advance(0).await;
    }

    /// Sets the manual clock.
    pub async fn set_clock(&self, moment: &str) {
        self.send("POST", "/dev/clock", None, &[], json!({"set": moment}).to_string().into())
            .await
            .expect(200);
    }

    pub async fn now(&self) -> String {
        self.send("GET", "/dev/clock", None, &[], Bytes::new()).await.expect(200)["now"]
            .as_str()
            .expect("a time")
            .to_owned()
    }
}

impl Drop for TestApp {
    fn drop(&mut self) {
        if !self.folder.as_os_str().is_empty() {
            let _ = std::fs::remove_dir_all(&self.folder);
            let url = self.service.as_ref().and_then(|service| service.app.config.database_url.clone());
            if let (Some((_, name)), Ok(mut left)) =
                (url.as_deref().and_then(|url| url.rsplit_once('/')), LEFT_DATABASES.lock())
            {
                left.push(name.to_owned());
            }
        }
    }
}

/// Every answer has its documented status, the documented shape, and no field beyond it. The operation that was requested;
/// none for a path that is not in the table.
#[track_caller]
fn conforms(method: &str, path: &str, answer: &Answer) -> Option<&'static Operation> {
    let path = path.split('?').next().unwrap_or(path);
    let Target { path, console, .. } = Target::of(path);
    let matches = |template: &str| {
        let (left, right): (Vec<_>, Vec<_>) = (template.split('/').collect(), path.split('/').collect());
        left.len() == right.len()
            && left.iter().zip(&right).all(|(part, given)| part.starts_with('{') || part == given)
    };
    let rows: Vec<_> = operations::all()
        .filter(|operation| operation.method.as_str() == method && matches(operation.path))
        .collect();
    let operation = *rows.iter().find(|operation| !operation.path.contains('{')).or(rows.first())?;
    if let Some(field) = closed::undescribed(method, operation.path, answer.status, &answer.json) {
        panic!("{method} {path}: {field} is not described: {}", answer.text);
    }
    if let Some((_, shape)) = operation.answers.iter().find(|(status, _)| *status == answer.status) {
        if let (Some(shape), None) = (shape, operation.content_type)
            && let Err(misfit) = shape().closed().check(&mut answer.json.clone())
        {
            panic!("{method} {path}: {} {} in {}", misfit.field, misfit.must, answer.text);
        }
        return Some(operation);
    }
    let known = operation.all_errors();
    let code = answer.json["code"].as_str().unwrap_or_default();
    // Of a workspace that the member does not belong to, and of rows that the console does not have.
    let outside = console
        && ["not_found", "unauthorized", "cross_site", "rate_limited", "workspace_suspended"].contains(&code);
    let documented = outside || known.iter().any(|error| error.status == answer.status && error.code == code);
    assert!(documented, "{method} {path}: {} {code} is not documented: {}", answer.status, answer.text);
    assert!(answer.json["error"].is_string(), "{}", answer.text);
    assert_eq!(answer.json["docUrl"], format!("/docs/errors/{code}"), "{}", answer.text);
    Some(operation)
}
