//! For operators: settings and their sources, signals, `dastak doctor`, log lines.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::node::{BINARY, Folder, Node, TOKEN, fresh_database, needs_postgres, needs_sqlite};

fn dastak(arguments: &[&str], environment: &[(&str, &str)], folder: &Path) -> Output {
    Command::new(BINARY)
        .args(arguments)
        .envs(environment.iter().copied())
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .expect("the binary starts")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A node whose log is in a file.
struct Logged {
    node: Node,
    log: PathBuf,
}

impl Logged {
    fn start(folder: &Folder, arguments: &str, environment: &[(&str, &str)]) -> Self {
        let (data, log) = (folder.0.join("data"), folder.0.join("log"));
        let mut command = Command::new("sh");
        let line = format!(
            "exec {BINARY} {arguments} --listen 127.0.0.1:0 --log-format json --data {} 2>{}",
            data.display(),
            log.display()
        );
        command.args(["-c", &line]);
        Self { node: Node::spawn(command, environment), log }
    }

    fn lines(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(&self.log).expect("a log");
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// Waits for a line; the bound only ends a test that would never end.
    async fn until(&self, wanted: impl Fn(&Value) -> bool) -> Value {
        let mut pace = tokio::time::interval(Duration::from_millis(20));
        for _ in 0..3000 {
            if let Some(line) = self.lines().into_iter().find(&wanted) {
                return line;
            }
            pace.tick().await;
        }
        panic!("no such line: {:?}", self.lines());
    }
}

fn message(line: &Value) -> &str {
    line["message"].as_str().unwrap_or_default()
}

#[test]
fn a_wrong_setting_makes_nothing() {
    let folder = Folder::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    std::fs::write(folder.0.join("file"), "no key").unwrap();
    let cases: &[(&[(&str, &str)], &str)] = &[
        (&[("DASTAK_PUBLIC_URL", "voice.example.com")], "public_url: found «voice.example.com»"),
        (&[("DASTAK_LISTEN", &taken)], "listen: cannot listen on"),
        (&[("DASTAK_LISTEN", "nowhere")], "listen: cannot listen on nowhere"),
        (&[("DASTAK_MASTER_KEY", "short")], "master_key: found a value that is not 32 bytes in base64"),
        (
            &[("DASTAK_TLS_CERT", "file"), ("DASTAK_TLS_KEY", "file")],
            "tls_cert: file: the file has no certificate",
        ),
        (&[("DASTAK_DATABASE_URL", "mysql://x")], "database_url is not a PostgreSQL connection string"),
        (
            &[("DASTAK_DATABASE_URL", "postgres://h/d"), ("DASTAK_DATABASE_CA", "none.pem")],
            "database_ca: none.pem",
        ),
        (&[("DASTAK_SMTP__URL", "smtp://host:99999"), ("DASTAK_SMTP__FROM", "a@example.com")], "smtp.url: "),
        (&[("DASTAK_TRACES__OTLP_ENDPOINT", "collector:4318")], "traces.otlp_endpoint"),
        (&[("DASTAK_DATA", "file/data")], "data: file: is no folder"),
    ];
    for (environment, expected) in cases {
        for command in ["serve", "migrate"] {
            if command == "migrate" && environment[0].0 == "DASTAK_LISTEN" {
                continue;
            }
            let usual = [("DASTAK_DATA", "data"), ("DASTAK_OPERATOR_TOKEN", TOKEN)];
            let all = [usual.as_slice(), *environment].concat();
            let output = dastak(&[command], &all, &folder.0);
            assert!(
                !output.status.success() && said(&output).contains(expected),
                "{command}: {}",
                said(&output)
            );
            let left: Vec<_> =
                std::fs::read_dir(&folder.0).unwrap().map(|entry| entry.unwrap().file_name()).collect();
            assert_eq!(left, ["file"], "{command} {environment:?}");
        }
    }
}

#[test]
fn one_settings_file_is_read_and_it_is_known_which() {
    let folder = Folder::new();
    let (data, here) = (folder.0.join("data"), &folder.0);
    std::fs::create_dir(&data).unwrap();
    let brand = |environment: &[(&str, &str)], arguments: &[&str]| {
        let shown =
            dastak(&[&["serve", "--print-config", "--data", "data"], arguments].concat(), environment, here);
        assert!(shown.status.success(), "{}", said(&shown));
        let text = String::from_utf8_lossy(&shown.stdout).into_owned();
        let line = text.lines().find_map(|line| line.strip_prefix("brand = ")).map(str::to_owned);
        line.expect("a brand").trim_matches('"').to_owned()
    };
    let write = |file: PathBuf, brand: &str| std::fs::write(file, format!("brand = \"{brand}\"\n")).unwrap();
    assert_eq!(brand(&[], &[]), "Service");
    write(here.join("dastak.toml"), "Working");
    assert_eq!(brand(&[], &[]), "Working");
    write(data.join("dastak.toml"), "Data");
    assert_eq!(brand(&[], &[]), "Data");
    write(here.join("named.toml"), "Named");
    let named = ("DASTAK_CONFIG", "named.toml");
    assert_eq!(brand(&[named], &[]), "Named");
    write(here.join("chosen.toml"), "Chosen");
    assert_eq!(brand(&[named], &["--config", "chosen.toml"]), "Chosen");
    assert_eq!(brand(&[named, ("DASTAK_BRAND", "Variable")], &["--config", "chosen.toml"]), "Variable");
    let refused = |environment: &[(&str, &str)]| {
        said(&dastak(&["serve", "--print-config", "--data", "data"], environment, here))
    };
    let missing = refused(&[("DASTAK_CONFIG", "missing.toml")]);
    assert!(missing.contains("settings file missing.toml: No such file"), "{missing}");
    std::fs::write(data.join("dastak.toml"), "data = \"elsewhere\"\n").unwrap();
    let moved = refused(&[]);
    assert!(moved.contains("data: found in data/dastak.toml, which lies in the data folder"), "{moved}");
}

#[test]
fn the_page_of_settings_is_written_by_the_binary() {
    let folder = Folder::new();
    let page = dastak(&["settings"], &[], &folder.0);
    let golden = include_bytes!("../../../../docs/operating/settings.md");
    assert!(page.stdout == golden, "docs/operating/settings.md is not up to date: run `make settings`");
}

#[tokio::test(flavor = "multi_thread")]
async fn sighup_takes_up_settings_and_the_certificate_on_sqlite() {
    needs_sqlite();
    let folder = Folder::new();
    let data = folder.0.join("data");
    std::fs::create_dir(&data).unwrap();
    let (cert, key, settings) =
        (folder.0.join("cert.pem"), folder.0.join("key.pem"), data.join("dastak.toml"));
    let certify = || {
        let made = rcgen::generate_simple_self_signed(vec!["localhost".into()]).unwrap();
        std::fs::write(&cert, made.cert.pem()).unwrap();
        std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    };
    let write = |more: &str| {
        let text = format!("tls_cert = {cert:?}\ntls_key = {key:?}\n{more}");
        std::fs::write(&settings, text).unwrap();
    };
    certify();
    write("");
    let first = std::fs::read(&cert).unwrap();
    let node = Logged::start(&folder, "serve", &[]);
    let address = node.node.ready["listen"].as_str().unwrap().to_owned();
    // The answer over a connection whose certificate is the one in this file.
    let ask = |trusted: &Path, id: &str| {
        let output = Command::new("curl")
            .args(["-s", "--cacert", trusted.to_str().unwrap(), "-H", &format!("x-request-id: {id}")])
            .args(["--connect-to", &format!("localhost:443:{address}"), "https://localhost/healthz"])
            .output()
            .expect("curl");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let well = json!({"ok": true}).to_string();
    assert_eq!(ask(&cert, "before"), well);
    certify();
    write("log_requests = true\nkey_prefix = \"other\"\n");
    assert_eq!(ask(&cert, "unknown"), "", "the new certificate is not in use yet");
    node.node.signal("HUP");
    let line = node.until(|line| message(line).contains("take effect at the next start")).await;
    assert_eq!(line["settings"], "key_prefix");
    assert_eq!(ask(&cert, "after-the-change"), well);
    let served = node.until(|line| message(line) == "served").await;
    assert_eq!((&served["request"], &served["route"]), (&json!("after-the-change"), &json!("/healthz")));
    // What is wrong changes nothing.
    std::fs::write(&cert, &first).unwrap();
    write("log_requests = false\n");
    node.node.signal("HUP");
    let wrong = node.until(|line| message(line).contains("cannot be taken up")).await;
    assert!(wrong["why"].as_str().unwrap().contains("tls_cert and tls_key"), "{wrong}");
    write("log_requests = perhaps\n");
    node.node.signal("HUP");
    node.until(|line| line["why"].as_str().is_some_and(|why| why.contains("dastak.toml"))).await;
    assert!(node.node.ready["version"].is_string());
    let answer = ask(&PathBuf::from("/dev/null"), "untrusted");
    assert_eq!(answer, "");
    let still = node.lines().iter().filter(|line| message(line) == "served").count();
    assert_eq!(still, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn dev_stops_in_order_when_its_terminal_hangs_up_on_sqlite() {
    needs_sqlite();
    let folder = Folder::new();
    let mut node = Logged::start(&folder, "dev", &[]);
    assert!(folder.0.join("data/dastak.running").exists());
    node.node.signal("HUP");
    let mut child = std::mem::replace(&mut node.node.child, Command::new("true").spawn().unwrap());
    let status = tokio::task::spawn_blocking(move || child.wait().unwrap()).await.unwrap();
    assert_eq!(status.code(), Some(0));
    assert!(node.lines().iter().any(|line| message(line) == "stopping"));
    assert!(!folder.0.join("data/dastak.running").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_log_says_what_started_and_what_each_request_took() {
    let folder = Folder::new();
    let mut environment = vec![("DASTAK_LOG_REQUESTS", "true")];
    let url = if crate::node::on_postgres() { fresh_database().await } else { String::new() };
    if !url.is_empty() {
        environment.push(("DASTAK_DATABASE_URL", &url));
    }
    let node = Logged::start(&folder, "serve", &environment);
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(node.node.ready["version"], version);
    let start = &node.lines()[0];
    assert_eq!((message(start), &start["version"]), ("starting", &json!(version)));
    let (workspace, key) = node.node.client.workspace().await;
    let body =
        json!({"externalRef": "reference-of-meera", "phone": "9812345678", "name": "Meera", "optOut": true});
    let made = node.node.client.send("POST", "/v1/contacts", &key, &[], &body).await.unwrap();
    assert_eq!(made.0, 201);
    node.node.client.send("GET", "/v1/contacts?search=9812345678", "no key", &[], &Value::Null).await;
    let of = |method: &str, status: u16| {
        let method = method.to_owned();
        move |line: &Value| {
            line["route"] == "/v1/contacts" && line["method"] == method && line["status"] == status
        }
    };
    let served = node.until(of("POST", 201)).await;
    assert_eq!((message(&served), &served["workspace"]), ("served", &json!(workspace)));
    assert!(served["ms"].as_f64().is_some_and(|ms| ms > 0.0), "{served}");
    let stranger = node.until(of("GET", 401)).await;
    assert!(stranger.get("workspace").is_none(), "{stranger}");
    let log = std::fs::read_to_string(&node.log).unwrap();
    for personal in ["9812345678", "Meera", "reference-of-meera", &key, TOKEN] {
        assert!(!log.contains(personal), "{personal} is in the log");
    }
}

fn doctor(folder: &Folder, data: &str, environment: &[(&str, &str)]) -> (bool, Value) {
    let output = dastak(&["doctor", "--json", "--data", data], environment, &folder.0);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    assert_eq!(report["ok"], output.status.success());
    (output.status.success(), report)
}

fn verdict<'r>(report: &'r Value, component: &str) -> (bool, &'r str) {
    let all = report["components"].as_array().expect("components");
    let found = all.iter().find(|found| found["component"] == component);
    let found = found.unwrap_or_else(|| panic!("no {component}: {report}"));
    (found["ok"] == true, found["detail"].as_str().unwrap_or_default())
}

#[test]
fn without_a_data_folder_the_doctor_says_what_would_be_made() {
    let folder = Folder::new();
    let (well, report) = doctor(&folder, "new/data", &[]);
    assert!(well, "{report}");
    for (component, words) in [
        ("service", "does not run on this data folder"),
        ("data folder", "new/data does not exist yet; the first start makes it"),
        ("master key", "none yet; the first start makes new/data/master.key"),
        ("store", "new/data/dastak.db does not exist yet; the first start makes it"),
    ] {
        assert_eq!(verdict(&report, component), (true, words));
    }
    assert!(!folder.0.join("new").exists(), "the doctor makes nothing");
    std::fs::write(folder.0.join("file"), "").unwrap();
    let (well, report) = doctor(&folder, "file/data", &[]);
    assert!(!well);
    assert_eq!(verdict(&report, "data folder"), (false, "file: is no folder"));
}

#[tokio::test(flavor = "multi_thread")]
async fn beside_dev_the_doctor_checks_what_runs_on_sqlite() {
    needs_sqlite();
    let folder = Folder::new();
    let node = Logged::start(&folder, "dev", &[]);
    let report = |folder: Folder| async move {
        tokio::task::spawn_blocking(move || {
            let found = doctor(&folder, "data", &[]);
            (folder, found)
        })
        .await
        .unwrap()
    };
    let (folder, (_, found)) = report(folder).await;
    let (ok, words) = verdict(&found, "service");
    assert!(ok && words.starts_with("dastak dev ") && words.ends_with("runs and is ready"), "{words}");
    assert_eq!(verdict(&found, "carrier"), (true, "sandbox: the simulated phone network"));
    assert_eq!(verdict(&found, "webhooks"), (true, "insecure addresses allowed: for development only"));
    assert!(verdict(&found, "store").1.starts_with("in use by the running service"), "{found}");
    // A node that is drained is not ready, and the doctor does not say that all is well.
    let (status, _, _) = node.node.client.operator("POST", "/node/drain", &json!({})).await;
    assert_eq!(status, 200);
    let (folder, (well, found)) = report(folder).await;
    let (ok, words) = verdict(&found, "service");
    assert!(!well && !ok && words.ends_with("is not ready: the node is draining"), "{words}");
    node.node.kill();
    let (_folder, (_, found)) = report(folder).await;
    let (ok, words) = verdict(&found, "service");
    assert!(ok && words.starts_with("does not run; dastak dev "), "{words}");
    assert_eq!(verdict(&found, "stored secrets"), (true, "the master key opens them"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_database_is_well_on_postgres() {
    needs_postgres();
    let (folder, url) = (Folder::new(), fresh_database().await);
    let environment = [("DASTAK_DATABASE_URL", url.as_str())];
    let (well, report) = doctor(&folder, "data", &environment);
    assert!(well, "{report}");
    assert_eq!(verdict(&report, "store"), (true, "answers, and is empty; the first start makes its tables"));
    assert!(verdict(&report, "clock").1.ends_with("ahead of the database's"), "{report}");
    let data = folder.0.join("data");
    Node::start(&data, &environment).kill();
    let (well, report) = doctor(&folder, "data", &environment);
    assert!(well, "{report}");
    assert_eq!(verdict(&report, "stored secrets"), (true, "the master key opens them"));
    // Another node's folder has no key of this database.
    let (well, report) = doctor(&folder, "another", &environment);
    assert!(!well && !verdict(&report, "stored secrets").0, "{report}");
}
