//! The commands (docs/contract/operator.md#commands).

use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use crate::node::{BINARY, Client, Folder, Node, TOKEN, fresh_database, needs_sqlite, on_postgres};
use crate::shows::Shows;

fn dastak(arguments: &[&str]) -> Output {
    Command::new(BINARY).args(arguments).stdin(Stdio::null()).output().expect("the binary starts")
}

fn words(output: &Output) -> (String, String) {
    (
        String::from_utf8_lossy(&output.stdout).into_owned(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

#[test]
fn a_wrong_setting_stops_the_start() {
    let output = dastak(&["serve", "--clock", "fast"]);
    let (_, words) = words(&output);
    assert!(
        !output.status.success() && words.contains("clock: found \"fast\" in --clock; allowed: real, manual"),
        "{words}"
    );
}

/// A folder without a console stops the start before anything is made; production takes none.
#[test]
fn dev_takes_its_console_from_a_folder() {
    let folder = Folder::new();
    let (data, console) = (folder.0.join("data"), folder.0.join("none"));
    let [data, console] = [&data, &console].map(|path| path.to_str().unwrap());
    let (_, said) = words(&dastak(&["dev", "--data", data, "--console", console]));
    assert!(said.contains("none has no index.html; build the console with scripts/console.sh"), "{said}");
    assert!(!std::path::Path::new(data).exists());
    let refused =
        Command::new(BINARY).args(["serve", "--data", data]).env("DASTAK_CONSOLE", console).output();
    let (_, said) = words(&refused.unwrap());
    assert!(said.contains("console: found a folder; only `dastak dev` takes the console from one"), "{said}");
}

#[test]
fn print_config_masks_secrets() {
    let output = Command::new(BINARY)
        .args(["serve", "--print-config", "--listen", "0.0.0.0:9"])
        .env("DASTAK_OPERATOR_TOKEN", TOKEN)
        .output()
        .unwrap();
    let (text, _) = words(&output);
    assert!(
        output.status.success()
            && text.contains("listen = \"0.0.0.0:9\"")
            && text.contains("[telephony]")
            && !text.contains(TOKEN),
        "{text}"
    );
}

#[test]
fn openapi_needs_no_service() {
    let document: Value = serde_json::from_slice(&dastak(&["openapi"]).stdout).unwrap();
    assert_eq!(document["openapi"], "3.1.0");
    let operator: Value = serde_json::from_slice(&dastak(&["openapi", "--operator"]).stdout).unwrap();
    assert!(operator["paths"]["/operator/v1/workspaces"].is_object());
}

#[test]
fn the_binary_holds_the_licences_of_its_crates() {
    let (text, _) = words(&dastak(&["licenses"]));
    for words in ["\nring 0.", "Apache License", "Permission is hereby granted", "SQLite"] {
        assert!(text.contains(words), "{words}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sigterm_ends_in_order() {
    let folder = Folder::new();
    let mut node = Node::start(&folder.0, &[]);
    let file = node.ready["operatorTokenFile"].as_str().unwrap();
    node.ready.shows(json!({"ready": true}));
    assert_eq!(file, folder.0.join("operator.token").to_str().unwrap());
    node.client.workspace().await;
    node.signal("TERM");
    let status = tokio::task::spawn_blocking(move || node.child.wait().unwrap()).await.unwrap();
    assert_eq!(status.code(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn admin_speaks_to_people_and_programs() {
    let folder = Folder::new();
    let node = Node::start(&folder.0, &[]);
    let (url, data) = (node.client.url.clone(), folder.0.display().to_string());
    let admin = |arguments: &[&str]| {
        let mut all = vec!["admin", "--url", &url, "--token", TOKEN];
        all.extend(arguments);
        dastak(&all)
    };
    let made = admin(&[
        "--json",
        "create-workspace",
        "--name",
        "Acme Pvt",
        "--kyb-verified",
        "true",
        "--balance-minor",
        "700",
    ]);
    let made: Value = serde_json::from_slice(&made.stdout).unwrap();
    let id = made["data"]["id"].as_str().unwrap();
    made["data"].shows(json!({"balanceMinor": 700, "kybVerified": true}));
    let (text, _) = words(&admin(&[
        "create-key",
        id,
        "--name",
        "k",
        "--mode",
        "live",
        "--scopes",
        "calls:read,calls:write",
    ]));
    assert!(text.contains("key ") && text.contains("dastak_live_"), "{text}");
    let (text, _) = words(&admin(&[
        "create-wallet-entry",
        id,
        "--kind",
        "adjustment",
        "--amount-minor",
        "-100",
        "--reference",
        "r",
    ]));
    assert!(text.contains("balanceAfterMinor  600"), "{text}");
    let (text, _) = words(&admin(&["list-workspaces"]));
    assert!(text.lines().next().unwrap().starts_with("id ") && text.contains("Acme Pvt"), "{text}");
    let refused = admin(&["get-workspace", "ws_nothing"]);
    let said = words(&refused).1;
    assert!(
        !refused.status.success() && said.contains("workspace not found") && said.contains("(404)"),
        "{said}"
    );
    let lost = dastak(&["admin", "--url", "http://127.0.0.1:9999", "--data", &data, "list-workspaces"]);
    assert!(!lost.status.success() && words(&lost).1.contains("operator.token"), "{:?}", words(&lost));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_folder_belongs_to_one_process_on_sqlite() {
    needs_sqlite();
    let folder = Folder::new();
    let _node = Node::start(&folder.0, &[]);
    let second = dastak(&["serve", "--listen", "127.0.0.1:0", "--data", folder.0.to_str().unwrap()]);
    assert!(!second.status.success() && words(&second).1.contains("in use by another dastak process"));
}

#[test]
fn a_backup_of_postgresql_is_left_to_its_own_tools() {
    let output = Command::new(BINARY)
        .args(["backup", "x.db"])
        .env("DASTAK_DATABASE_URL", "postgres://h/d")
        .output()
        .unwrap();
    assert!(!output.status.success() && words(&output).1.contains("pg_dump"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_made_under_load_is_whole_on_sqlite() {
    needs_sqlite();
    let folder = Folder::new();
    let node = Node::start(&folder.0, &[]);
    let (workspace, key) = node.client.workspace().await;
    for number in 0..50 {
        assert_eq!(node.client.top_up(&workspace, &format!("before-{number}")).await.unwrap().0, 201);
    }
    let (client, busy) = (node.client.clone(), workspace.clone());
    let load = tokio::spawn(async move {
        for number in 0.. {
            if client.top_up(&busy, &format!("during-{number}")).await.is_none() {
                break;
            }
        }
    });
    let copy = folder.0.join("copy.db");
    let (data, file) = (folder.0.display().to_string(), copy.display().to_string());
    let output =
        tokio::task::spawn_blocking(move || dastak(&["backup", "--data", &data, &file])).await.unwrap();
    assert!(output.status.success(), "{:?}", words(&output));
    node.kill();
    load.await.unwrap();
    let restored = Folder::new();
    std::fs::copy(&copy, restored.0.join("dastak.db")).unwrap();
    std::fs::copy(folder.0.join("copy.db.master.key"), restored.0.join("master.key")).unwrap();
    let node = Node::start(&restored.0, &[]);
    let wallet = node.client.send("GET", "/v1/wallet", &key, &[], &Value::Null).await.unwrap();
    assert!(wallet.0 == 200 && wallet.2["data"]["balanceMinor"].as_i64().unwrap() >= 50, "{}", wallet.2);
    let again = dastak(&["backup", "--data", folder.0.to_str().unwrap(), copy.to_str().unwrap()]);
    assert!(!again.status.success() && words(&again).1.contains("exists; name a new file"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_older_binary_refuses_a_newer_schema() {
    let folder = Folder::new();
    let data = folder.0.to_str().unwrap();
    let mut environment = Vec::new();
    let url = if on_postgres() { fresh_database().await } else { String::new() };
    if on_postgres() {
        environment.push(("DASTAK_DATABASE_URL", url.as_str()));
    }
    let migrate = || {
        Command::new(BINARY)
            .args(["migrate", "--data", data])
            .envs(environment.iter().copied())
            .output()
            .unwrap()
    };
    let first = migrate();
    assert!(first.status.success() && words(&first).1.contains("migration 1 of"), "{:?}", words(&first));
    assert!(words(&migrate()).1.contains("up to date"));
    let newer = "insert into schema_version (version, name) values (9999, 'later')";
    if on_postgres() {
        let (client, connection) = tokio_postgres::connect(&url, tokio_postgres::NoTls).await.unwrap();
        tokio::spawn(connection);
        client.batch_execute(newer).await.unwrap();
    } else {
        rusqlite::Connection::open(folder.0.join("dastak.db")).unwrap().execute(newer, []).unwrap();
    }
    let refused = Command::new(BINARY)
        .args(["serve", "--data", data, "--listen", "127.0.0.1:0"])
        .envs(environment)
        .output()
        .unwrap();
    assert!(
        !refused.status.success() && words(&refused).1.contains("the schema has version 9999"),
        "{:?}",
        words(&refused)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn doctor_has_a_verdict_for_each_component() {
    let folder = Folder::new();
    let data = folder.0.display().to_string();
    let healthy = dastak(&["doctor", "--data", &data, "--json"]);
    let report: Value = serde_json::from_slice(&healthy.stdout).unwrap();
    assert!(
        healthy.status.success()
            && report["ok"] == true
            && report["components"].as_array().unwrap().len() >= 6,
        "{report}"
    );
    let sick = Command::new(BINARY)
        .args(["doctor", "--data", &data])
        .env("DASTAK_DATABASE_URL", "postgres://x@127.0.0.1:1/none")
        .output()
        .unwrap();
    let (text, _) = words(&sick);
    assert!(!sick.status.success() && text.contains("FAIL  store"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn tls_at_the_listener() {
    let folder = Folder::new();
    let (cert, key) = (folder.0.join("cert.pem"), folder.0.join("key.pem"));
    let made = rcgen::generate_simple_self_signed(vec!["localhost".into()]).unwrap();
    std::fs::write(&cert, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let node = Node::start(
        &folder.0,
        &[("DASTAK_TLS_CERT", cert.to_str().unwrap()), ("DASTAK_TLS_KEY", key.to_str().unwrap())],
    );
    let url = node.ready["url"].as_str().unwrap();
    assert!(url.starts_with("https://"));
    let address = node.ready["listen"].as_str().unwrap();
    let curl = Command::new("curl")
        .args([
            "-s",
            "--cacert",
            cert.to_str().unwrap(),
            "--connect-to",
            &format!("localhost:443:{address}"),
            "https://localhost/healthz",
        ])
        .output()
        .expect("curl");
    assert_eq!(words(&curl).0, json!({"ok": true}).to_string());
    assert!(
        Client::new(url).send("GET", "/healthz", TOKEN, &[], &Value::Null).await.is_none(),
        "an unknown certificate is refused by clients"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn dev_seeds_a_demo_once() {
    let folder = Folder::new();
    let start = || {
        let mut command = Command::new(BINARY);
        command.args(["dev", "--listen", "127.0.0.1:0", "--data"]).arg(&folder.0);
        Node::spawn(command, &[])
    };
    let workspaces = |node: &Node| {
        let client = node.client.clone();
        async move { client.operator("GET", "/workspaces", &Value::Null).await.2["data"].clone() }
    };
    let node = start();
    let first = workspaces(&node).await;
    assert_eq!((first.as_array().unwrap().len(), first[0]["kybVerified"].as_bool()), (1, Some(true)));
    node.kill();
    assert_eq!(workspaces(&start()).await, first);
}

#[tokio::test(flavor = "multi_thread")]
async fn logs_hold_no_secret_and_nobody() {
    let folder = Folder::new();
    let log = folder.0.join("log");
    let mut command = Command::new("bash");
    command
        .args([
            "-c",
            "exec \"$0\" serve --verbose --log-format json --listen 127.0.0.1:0 --data \"$1\" 2> \"$2\"",
            BINARY,
        ])
        .arg(&folder.0)
        .arg(&log);
    let node = Node::spawn(command, &[("DASTAK_TELEPHONY__CARRIER", "sandbox")]);
    let (workspace, key) = node.client.workspace().await;
    node.client
        .operator("POST", &format!("/workspaces/{workspace}/numbers"), &json!({"number": "08045678901"}))
        .await;
    node.client.operator("POST", "/dnd", &json!({"phones": ["9812345678"]})).await;
    node.client
        .operator(
            "POST",
            &format!("/workspaces/{workspace}/members"),
            &json!({"email": "someone@example.org", "name": "Some One", "role": "owner"}),
        )
        .await;
    for path in ["/v1/me", "/v1/calls/9812345678", "/v1/nothing?q=9812345678"] {
        node.client.send("GET", path, &key, &[], &Value::Null).await.unwrap();
    }
    node.client.send("GET", "/v1/me", "dastak_live_wrongwrongwrong", &[], &Value::Null).await.unwrap();
    let text = std::fs::read_to_string(&log).unwrap();
    let lines: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"))).collect();
    assert!(lines.iter().any(|line| line["route"] == "/v1/me" && line["request"].is_string()), "{text}");
    for private in [
        key.as_str(),
        TOKEN,
        "wrongwrongwrong",
        "9812345678",
        "8045678901",
        "someone@example.org",
        "Some One",
    ] {
        assert!(!text.contains(private), "{private} in {text}");
    }
}
