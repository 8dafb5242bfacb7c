//! The commands of clients against a service (docs/cli.md).

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use crate::node::{BINARY, Folder, Node, TOKEN};
use crate::shows::Shows;

/// A person with a home of their own.
struct Person {
    home: Folder,
}

impl Person {
    fn new() -> Self {
        Self { home: Folder::new() }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(BINARY);
        command
            .args(arguments)
            .env("HOME", &self.home.0)
            .env("XDG_CONFIG_HOME", self.home.0.join("config"))
            .env_remove("DASTAK_API_KEY")
            .env_remove("DASTAK_BASE_URL")
            .env_remove("DASTAK_PROFILE")
            .stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &[&str]) -> Said {
        Said::of(&self.command(arguments).output().expect("the binary starts"))
    }

    /// Runs it with this standard input.
    fn told(&self, arguments: &[&str], input: &str) -> Said {
        let mut child = self
            .command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        child.stdin.take().expect("input").write_all(input.as_bytes()).expect("it reads");
        Said::of(&child.wait_with_output().expect("it ends"))
    }

    fn profiles(&self) -> std::path::PathBuf {
        self.home.0.join("config/dastak/profiles.toml")
    }
}

/// What a command said, and how it ended.
#[derive(Debug)]
struct Said {
    code: i32,
    out: String,
    err: String,
}

impl Said {
    fn of(output: &Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    fn done(self) -> String {
        assert_eq!(self.code, 0, "{self:?}");
        self.out
    }

    fn json(self) -> Value {
        let out = self.done();
        serde_json::from_str(&out).unwrap_or_else(|why| panic!("{why}: {out}"))
    }

    #[track_caller]
    fn fails(self, code: i32, words: &str) {
        assert!(self.code == code && self.err.contains(words), "{code} «{words}»: {self:?}");
    }
}

fn file(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).expect("a file");
    path.to_str().expect("a name").to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_customer_logs_in_and_works() {
    let (folder, person) = (Folder::new(), Person::new());
    let node = Node::start(&folder.0, &[("DASTAK_TELEPHONY__CARRIER", "sandbox")]);
    let url = node.client.url.clone();
    let (workspace, key) = node.client.workspace().await;
    person.run(&["calls", "list"]).fails(2, "there is no API key: `dastak login` stores one");
    person.told(&["login", "--base-url", &url], "dastak_live_wrong\n").fails(1, "nothing was stored");
    assert!(!person.profiles().exists());
    let said = person.told(&["login", "acme", "--base-url", &url], &format!("{key}\n")).done();
    assert!(
        said.contains("acme is stored in")
            && said.contains("live key k of the workspace Acme")
            && !said.contains(&key),
        "{said}"
    );
    let account = person.run(&["account", "get"]).done();
    assert!(account.contains("workspace:") && account.contains(&workspace), "{account}");

    // An agent that calls at any hour, a call, its list.
    let hours = json!([{"days": [0, 1, 2, 3, 4, 5, 6], "from": "00:00", "to": "24:00"}]);
    let (_, _, pack) = node
        .client
        .operator(
            "POST",
            &format!("/workspaces/{workspace}/compliance-packs"),
            &json!({"name": "Any", "hours": hours}),
        )
        .await;
    let pack = pack["data"]["id"].as_str().expect("a pack").to_owned();
    let agent = person
        .run(&[
            "agents",
            "create",
            "--json",
            "--name",
            "Asha",
            "--system-prompt",
            "Greet.",
            "--policy-ref",
            &pack,
        ])
        .json();
    let agent = agent["data"]["id"].as_str().expect("an id").to_owned();
    person.run(&["agents", "set-status", &agent, "--status", "active"]).done();
    let made = person
        .told(
            &["contacts", "upsert-many", "--body", "-", "--json"],
            &json!({"contacts": (0..60).map(|n| json!({"externalRef": format!("c{n}"), "phone": format!("+9198123450{n:02}"), "name": format!("P{n}")})).collect::<Vec<_>>()}).to_string(),
        )
        .json();
    assert_eq!(made["data"]["succeeded"], 60, "{made}");
    let page = person.run(&["contacts", "list"]).done();
    assert!(page.starts_with("id ") && page.contains("more: --cursor "), "{page}");
    let all = person.run(&["contacts", "list", "--all", "--limit", "7", "--json"]).done();
    let rows: Vec<Value> = all.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), 60);
    let table = person.run(&["contacts", "list", "--all", "--limit", "7"]).done();
    assert_eq!(table.lines().count(), 61, "{table}");
    let entries = person.run(&["wallet", "transactions", "--all", "--json"]).done();
    assert!(entries.is_empty(), "{entries}");

    // A test key calls nobody.
    let (_, _, test) = node
        .client
        .operator(
            "POST",
            &format!("/workspaces/{workspace}/keys"),
            &json!({"name": "t", "mode": "test", "scopes": "all"}),
        )
        .await;
    let test = file(&person.home.0, "test.key", test["data"]["key"].as_str().expect("a key"));
    let place = [
        "calls",
        "place",
        "--agent-id",
        &agent,
        "--to-number",
        "+919812345678",
        "--json",
        "--base-url",
        &url,
        "--key-file",
        &test,
        "--idempotency-key",
        "once",
    ];
    let call = person.run(&place).json();
    let again = person.run(&place);
    assert!(again.err.contains("nothing was done anew"), "{again:?}");
    assert_eq!(again.json(), call);
    let id = call["interactionId"].as_str().unwrap_or_else(|| panic!("{call}"));
    let shown = person.run(&["calls", "get", id, "--base-url", &url, "--key-file", &test]).done();
    assert!(shown.contains("IST") && shown.contains("+919812345678"), "{shown}");

    // A file.
    let log = person.home.0.join("log.csv");
    person.run(&["audit", "export", "--output", log.to_str().unwrap()]).done();
    let csv = std::fs::read_to_string(&log).expect("the file");
    assert_eq!(csv.lines().next(), person.run(&["audit", "export"]).done().lines().next());
    assert!(csv.lines().count() >= 1 && !log.with_extension("csv.part").exists(), "{csv}");

    // Refusals say what to do.
    person
        .run(&["agents", "get", "agt_01arz3ndektsv4rrffq69g5fav"])
        .fails(1, "agent not found; check the id");
    let refused = person.run(&["agents", "get", "agt_01arz3ndektsv4rrffq69g5fav", "--json"]);
    assert!(refused.code == 1 && refused.err.is_empty(), "{refused:?}");
    serde_json::from_str::<Value>(&refused.out).unwrap().shows(json!({"code": "not_found"}));
    let wrong = file(&person.home.0, "wrong.key", "dastak_live_wrongwrongwrong");
    person
        .run(&["calls", "list", "--base-url", &url, "--key-file", &wrong])
        .fails(1, "The key is that of --key-file");
    person.run(&["calls", "list", "--base-url", "http://127.0.0.1:1"]).fails(3, "`dastak dev` starts one");
    person.run(&["audit", "export", "--output", "/nowhere/at/all.csv"]).fails(1, "/nowhere/at/all.csv");

    // Nothing of this was sent.
    let before = node.client.send("GET", "/v1/agents", &key, &[], &Value::Null).await.unwrap().2;
    person
        .run(&["agents", "create", "--body", r#"{"name": "X", "systemPromt": "Y"}"#])
        .fails(2, "did you mean systemPrompt?");
    person.run(&["agents", "create", "--name", "X", "--system-promt", "Y"]).fails(2, "--system-prompt");
    person.run(&["agents", "creat", "--name", "X"]).fails(2, "create");
    person.run(&["agent", "create", "--name", "X"]).fails(2, "agents");
    person.run(&["calls", "list", "--limit", "0"]).fails(2, "--limit must be a whole number from 1 to ");
    let after = node.client.send("GET", "/v1/agents", &key, &[], &Value::Null).await.unwrap().2;
    assert_eq!(after, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chat_is_printed_as_it_comes() {
    let (folder, person) = (Folder::new(), Person::new());
    let node = Node::start(&folder.0, &[]);
    let (workspace, key) = node.client.workspace().await;
    let entry = json!({"kind": "topup", "amountMinor": 100_000, "reference": "r"});
    node.client.operator("POST", &format!("/workspaces/{workspace}/wallet/entries"), &entry).await;
    person.told(&["login", "--base-url", &node.client.url], &key).done();
    let agent = person
        .run(&[
            "agents",
            "create",
            "--json",
            "--name",
            "Mira",
            "--channel",
            "chat",
            "--system-prompt",
            "Parcels arrive within two days.",
        ])
        .json();
    let agent = agent["data"]["id"].as_str().unwrap_or_else(|| panic!("{agent}")).to_owned();
    person.run(&["agents", "set-status", &agent, "--status", "active"]).done();
    let chat = person.run(&["chats", "open", "--agent-id", &agent, "--json"]).json();
    let chat = chat["data"]["sessionId"].as_str().expect("a chat").to_owned();
    let reply = person
        .run(&["chats", "send", &chat, "--text", "When does my parcel arrive?", "--idempotency-key", "m1"])
        .done();
    assert!(!reply.trim().is_empty(), "{reply}");
    // The same message again has the same reply, as a stream and as JSON.
    let again = person.run(&[
        "chats",
        "send",
        &chat,
        "--text",
        "When does my parcel arrive?",
        "--idempotency-key",
        "m1",
    ]);
    assert!(again.err.contains("nothing was done anew") || again.out == reply, "{again:?}");
    assert_eq!(again.done().trim(), reply.trim());
    let whole = person
        .run(&[
            "chats",
            "send",
            &chat,
            "--text",
            "When does my parcel arrive?",
            "--idempotency-key",
            "m1",
            "--json",
        ])
        .json();
    assert_eq!(whole["data"]["reply"].as_str().expect("a reply").trim(), reply.trim());
    let pdf = file(&person.home.0, "paper.pdf", "%PDF-1.4 nothing");
    let sent = person.run(&["chats", "upload-document", &chat, "--file", &pdf]);
    assert!(sent.code == 1 && sent.err.contains('('), "the chat asks for no document: {sent:?}");
    person
        .run(&["chats", "upload-document", &chat, "--file", "/nowhere.pdf"])
        .fails(2, "--file: /nowhere.pdf");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wallet_entry_that_is_repeated_is_booked_once() {
    let folder = Folder::new();
    let node = Node::start(&folder.0, &[]);
    let (workspace, _) = node.client.workspace().await;
    let person = Person::new();
    let admin = |arguments: &[&str]| {
        let mut all = vec!["admin", "--url", &node.client.url];
        all.extend(arguments);
        Said::of(&person.command(&all).env("DASTAK_OPERATOR_TOKEN", TOKEN).output().unwrap())
    };
    let entry = |more: &[&str]| {
        let mut all = vec![
            "create-wallet-entry",
            &workspace,
            "--kind",
            "topup",
            "--amount-minor",
            "500",
            "--reference",
            "invoice 7",
        ];
        all.extend(more);
        admin(&all)
    };
    let balance = || admin(&["get-workspace", &workspace, "--json"]).json()["data"]["balanceMinor"].clone();
    let first = entry(&[]);
    assert!(first.err.is_empty(), "{first:?}");
    let first = first.done();
    let second = entry(&[]);
    assert!(second.err.contains("this was done before"), "{second:?}");
    assert_eq!(second.done(), first);
    assert_eq!(balance(), 500);
    // One that is meant to be another says so.
    entry(&["--idempotency-key", "the second of that day"]).done();
    assert_eq!(balance(), 1000);
    admin(&[
        "create-wallet-entry",
        &workspace,
        "--kind",
        "top-up",
        "--amount-minor",
        "1",
        "--reference",
        "r",
    ])
    .fails(2, "topup");
    admin(&["create-key", &workspace, "--name", "k", "--mode", "live", "--scopes", "call:read"])
        .fails(1, "did you mean calls:read?");
    admin(&["create-workspace", "--name", "x", "--kyb-verified", "yes"]).fails(2, "true, false");
    admin(&["--token", "not-the-operator-token", "list-workspaces"])
        .fails(1, "It is the operator token that was refused");
}

#[test]
fn profiles_are_for_their_owner_only() {
    let person = Person::new();
    let add = |name: &str, key: &str| {
        person.told(&["profiles", "add", name, "--base-url", "http://127.0.0.1:1", "--unchecked"], key)
    };
    add("one", "dastak_test_one").done();
    add("two", "dastak_live_two").done();
    add("a b", "k").fails(2, "a profile's name");
    add("three", "two words").fails(2, "that is no API key");
    let listed = person.run(&["profiles", "list"]).done();
    assert!(listed.contains("* one") && listed.contains("  two") && !listed.contains("dastak_"), "{listed}");
    person.run(&["profiles", "use", "twoo"]).fails(2, "did you mean two?");
    person.run(&["profiles", "use", "two"]).done();
    let rows = person.run(&["profiles", "list", "--json"]).json();
    rows[1].shows(json!({"name": "two", "used": true, "baseUrl": "http://127.0.0.1:1"}));
    person.run(&["profiles", "remove", "one"]).done();
    person.run(&["calls", "list", "--profile", "one"]).fails(2, "there is no profile one");
    person.run(&["calls", "list"]).fails(3, "http://127.0.0.1:1");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = |mode| {
            std::fs::set_permissions(person.profiles(), std::fs::Permissions::from_mode(mode)).unwrap()
        };
        assert_eq!(std::fs::metadata(person.profiles()).unwrap().permissions().mode() & 0o777, 0o600);
        mode(0o640);
        person.run(&["calls", "list"]).fails(2, "other users can read it (mode 640)");
        person.run(&["profiles", "list"]).fails(2, "chmod 600");
        mode(0o600);
    }
    std::fs::write(person.profiles(), "[profiles.x]\nurl = \"http://127.0.0.1:1\"\nkey = \"secret-key\"\n")
        .unwrap();
    let broken = person.run(&["profiles", "list"]);
    assert!(
        broken.code == 2 && broken.err.contains("url") && !broken.err.contains("secret-key"),
        "{broken:?}"
    );
}

/// The environment comes before the profile in use, and its key never goes to the profile's address.
#[test]
fn the_environment_names_a_key_and_an_address() {
    let person = Person::new();
    person.told(&["profiles", "add", "one", "--base-url", "http://127.0.0.1:1", "--unchecked"], "k").done();
    let run = |variables: &[(&str, &str)], arguments: &[&str]| {
        Said::of(&person.command(arguments).envs(variables.iter().copied()).output().unwrap())
    };
    let list = ["calls", "list"];
    run(&[("DASTAK_API_KEY", "k"), ("DASTAK_BASE_URL", "http://127.0.0.1:2")], &list)
        .fails(3, "http://127.0.0.1:2");
    run(&[("DASTAK_BASE_URL", "http://127.0.0.1:2")], &list).fails(3, "http://127.0.0.1:1");
    run(&[("DASTAK_API_KEY", "k")], &["calls", "list", "--profile", "one"]).fails(3, "http://127.0.0.1:1");
    run(&[("DASTAK_PROFILE", "two")], &list).fails(2, "there is no profile two");
    run(&[("DASTAK_BASE_URL", "nowhere"), ("DASTAK_API_KEY", "k")], &list).fails(2, "nowhere: ");
}

/// What clients set is no setting: a service starts beside it, and a misspelt setting still stops it.
#[tokio::test(flavor = "multi_thread")]
async fn variables_of_clients_do_not_stop_a_service() {
    let folder = Folder::new();
    let url = "http://127.0.0.1:9";
    let node = Node::start(
        &folder.0,
        &[("DASTAK_URL", url), ("DASTAK_API_KEY", "k"), ("DASTAK_BASE_URL", url), ("DASTAK_PROFILE", "p")],
    );
    node.ready.shows(json!({"ready": true}));
    let wrong =
        Command::new(BINARY).args(["serve", "--print-config"]).env("DASTAK_LISTNE", "x").output().unwrap();
    Said::of(&wrong).fails(1, "did you mean listen (DASTAK_LISTEN)?");
}

#[test]
fn shells_complete_the_commands() {
    let person = Person::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = person.run(&["completions", shell]).done();
        assert!(script.len() > 100_000 && script.contains("idempotency-key"), "{shell}: {}", script.len());
        let file = file(&person.home.0, shell, &script);
        let checked =
            Command::new(shell).args(["-n", &file]).output().unwrap_or_else(|why| panic!("{shell}: {why}"));
        assert!(checked.status.success(), "{shell}: {}", String::from_utf8_lossy(&checked.stderr));
    }
    // What bash offers after `dastak calls pl`.
    let ask = "source \"$0\"; COMP_WORDS=(dastak calls pl); COMP_CWORD=2; _dastak dastak pl calls; echo \"${COMPREPLY[@]}\"";
    let offered = Command::new("bash").args(["-c", ask]).arg(person.home.0.join("bash")).output().unwrap();
    assert_eq!(
        String::from_utf8_lossy(&offered.stdout).trim(),
        "place",
        "{}",
        String::from_utf8_lossy(&offered.stderr)
    );
    person.run(&["completions", "tcsh"]).fails(2, "bash, zsh, fish");
}

#[test]
fn there_is_a_manual() {
    let person = Person::new();
    let page = person.run(&["man"]).done();
    assert!(page.contains(".TH dastak 1") && page.contains("calls(1)"), "{page}");
    let folder = person.home.0.join("man");
    person.run(&["man", folder.to_str().unwrap()]).done();
    let place = std::fs::read_to_string(folder.join("dastak-calls-place.1")).unwrap();
    assert!(place.contains("\\-\\-agent\\-id") && place.contains("idempotency"), "{place}");
}
