//! Trunks that answer and trunks that do not, as an operator sees them; and trunks that several nodes share
//! (docs/contract/telephony.md#nodes).

use std::process::Command;

use dastak::app::due_dials::{self, Allowance};
use dastak::config::Values;
use dastak::runtime::clock::Clock;
use dastak::service::Service;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::exchange::{Exchange, PATIENCE};
use crate::node::{BINARY, Folder, Node, TOKEN, fresh_database, needs_postgres, needs_sqlite};
use crate::nodes::MASTER_KEY;
use crate::phone_calls::{Office, serve};
use crate::wire::{State, Wire};

#[tokio::test(flavor = "multi_thread")]
async fn the_doctor_and_readiness_tell_which_trunks_answer_on_sqlite() {
    needs_sqlite();
    let (folder, exchange) = (Folder::new(), Exchange::start().await);
    // A port that reads everything and never answers.
    let silent = std::net::UdpSocket::bind("127.0.0.1:0").expect("a port");
    let trunk = |name: &str, port: u16| {
        format!("{{name = \"{name}\", address = \"127.0.0.1:{port}\", options_interval = 1}}")
    };
    let (good, bad) =
        (trunk("good", exchange.port), trunk("bad", silent.local_addr().expect("an address").port()));
    let doctor = |trunks: &str| {
        let mut command = Command::new(BINARY);
        command.args(["doctor", "--json", "--data"]).arg(&folder.0);
        command.envs([
            ("DASTAK_TELEPHONY__CARRIER", "sip"),
            ("DASTAK_TELEPHONY__SIP__LISTEN", "127.0.0.1:0"),
            ("DASTAK_TELEPHONY__SIP__TRUNKS", trunks),
        ]);
        let asked = tokio::task::spawn_blocking(move || command.output().expect("the binary starts"));
        async move {
            let output = asked.await.expect("an answer");
            let said: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
            (output.status.success(), said)
        }
    };
    let verdict = |said: &Value, name: &str| {
        let component = said["components"]
            .as_array()
            .and_then(|all| all.iter().find(|component| component["component"] == name))
            .cloned();
        component.unwrap_or_else(|| panic!("no {name}: {said}"))
    };
    let both = format!("[{good}, {bad}]");
    let (alone, together) = (format!("[{good}]"), both.clone());
    let ((fine, one), (ill, two)) = tokio::join!(doctor(&alone), doctor(&together));
    assert_eq!(
        (fine, &one["ok"], &verdict(&one, "trunk good")["ok"]),
        (true, &json!(true), &json!(true)),
        "{one}"
    );
    assert_eq!(
        (ill, &two["ok"], &verdict(&two, "trunk good")["ok"]),
        (false, &json!(false), &json!(true)),
        "{two}"
    );
    let told = verdict(&two, "trunk bad");
    assert_eq!(told["ok"], json!(false));
    assert!(told["detail"].as_str().is_some_and(|why| !why.is_empty()), "{told}");

    let environment = [
        ("DASTAK_TELEPHONY__CARRIER", "sip"),
        ("DASTAK_TELEPHONY__SIP__LISTEN", "127.0.0.1:0"),
        ("DASTAK_TELEPHONY__SIP__TRUNKS", both.as_str()),
    ];
    let node = Node::start(&folder.0, &environment);
    let known = |answer: &Value| {
        let told = |name: &str, healthy: bool| json!({"name": name, "carrier": "main", "healthy": healthy, "registered": null, "calls": 0, "channels": 30});
        answer["trunks"] == json!([told("good", true), told("bad", false)])
    };
    let answer = node
        .client
        .until("GET", "/readyz", |answer| answer.as_ref().is_some_and(|(_, _, said)| known(said)))
        .await;
    // A trunk that is down does not make the node unready.
    assert_eq!(answer.map(|(status, ..)| status), Some(200));
}

/// Numbers that name a carrier which the settings lost: the start and `doctor` say so, and no call of theirs goes out on
/// another carrier.
#[tokio::test(flavor = "multi_thread")]
async fn a_carrier_that_numbers_still_name_is_missed_by_start_and_doctor_on_sqlite() {
    needs_sqlite();
    let (folder, exchange) = (Folder::new(), Exchange::start().await);
    let trunk = |name: &str| {
        format!(
            "{{name = \"{name}\", carrier = \"{name}\", address = \"127.0.0.1:{}\", options_interval = 0}}",
            exchange.port
        )
    };
    let (both, one) = (format!("[{}, {}]", trunk("one"), trunk("other")), format!("[{}]", trunk("one")));
    let settings = |trunks: &str| {
        [
            ("DASTAK_TELEPHONY__CARRIER", "sip".to_owned()),
            ("DASTAK_TELEPHONY__SIP__LISTEN", "127.0.0.1:0".to_owned()),
            ("DASTAK_TELEPHONY__SIP__TRUNKS", trunks.to_owned()),
        ]
    };
    let start = |trunks: &str| {
        let settings = settings(trunks);
        let settings = settings.each_ref().map(|(name, value)| (*name, value.as_str()));
        Node::start(&folder.0, &settings)
    };
    let doctor = async |trunks: &str| {
        let mut command = Command::new(BINARY);
        command.args(["doctor", "--json", "--data"]).arg(&folder.0).envs(settings(trunks));
        let asked = tokio::task::spawn_blocking(move || command.output().expect("the binary starts"));
        let output = asked.await.expect("an answer");
        let said: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
        let all = said["components"].as_array().cloned().unwrap_or_default();
        let numbers = all.into_iter().find(|component| component["component"] == "numbers");
        numbers.unwrap_or_else(|| panic!("nothing of numbers: {said}"))
    };
    let missed = "numbers name a carrier that telephony.sip.trunks does not have";
    let node = start(&both);
    let (workspace, _) = node.client.workspace().await;
    for (number, carrier) in [("+918022222222", json!("one")), ("+918022222223", json!("other"))] {
        let body = json!({"number": number, "carrier": carrier});
        let (status, _, said) =
            node.client.operator("POST", &format!("/workspaces/{workspace}/numbers"), &body).await;
        assert_eq!((status, &said["data"]["carrier"]), (201, &carrier), "{said}");
    }
    let log = node.logged();
    assert!(!log.contains(missed), "{log}");
    assert_eq!(doctor(&both).await["ok"], true);

    let verdict = doctor(&one).await;
    let detail = verdict["detail"].as_str().unwrap_or_default();
    assert!(verdict["ok"] == false && detail.ends_with(": other (1 numbers)"), "{verdict}");
    let log = start(&one).logged();
    let line = log.lines().find(|line| line.contains(missed)).unwrap_or_else(|| panic!("{log}"));
    assert!(line.contains("other") && !line.contains("8022222223"), "the carrier, and no number: {line}");
}

/// Nobody is called over a trunk that has never answered, and an operator hears of it.
#[tokio::test(flavor = "multi_thread")]
async fn a_trunk_that_is_dead_from_the_start_costs_no_call_on_sqlite() {
    needs_sqlite();
    let (folder, registrar) = (Folder::new(), Folder::new());
    let silent = tokio::net::UdpSocket::bind("127.0.0.1:0").await.expect("a port");
    let port = silent.local_addr().expect("an address").port();
    // Until a call, or until the first REGISTER was given up.
    let asked = tokio::spawn(async move {
        let (mut bytes, mut asked) = (vec![0; 65_536], Vec::new());
        while let Ok((length, _)) = silent.recv_from(&mut bytes).await {
            let text = String::from_utf8_lossy(&bytes[..length]).into_owned();
            asked.push(text.split(' ').next().unwrap_or_default().to_owned());
            if text.starts_with("INVITE") || text.contains("CSeq: 2 REGISTER") {
                break;
            }
        }
        asked
    });
    let trunk = |more: &str| format!("[{{name = \"dead\", address = \"127.0.0.1:{port}\", {more}}}]");
    let start = |folder: &Folder, trunks: &str| {
        Node::start(
            &folder.0,
            &[
                ("DASTAK_TELEPHONY__CARRIER", "sip"),
                ("DASTAK_TELEPHONY__SIP__LISTEN", "127.0.0.1:0"),
                ("DASTAK_TELEPHONY__SIP__TRUNKS", trunks),
            ],
        )
    };
    let node = start(&folder, &trunk("options_interval = 60"));
    let office = Office::open(&node.client).await;
    let figures = figures(&node).await;
    assert!(figures.contains("dastak_trunk_up{trunk=\"dead\"} 0"), "{figures}");
    // At once, and again when it is known to be down.
    for number in ["+919812300001", "+919812300002"] {
        let (status, _, refused) = office.try_place(number).await.expect("an answer");
        assert_eq!((status, &refused["code"]), (502, &json!("call_not_placed")), "{refused}");
    }
    let due = format!("/v1/scheduled-calls/{}", office.schedule("+919812300003").await);
    let held = office.until(&due, "what is due waits", |call| call["reason"] == "provider_error").await;
    assert_eq!((&held["status"], &held["callId"]), (&json!("scheduled"), &Value::Null), "{held}");
    assert_eq!(office.get("/v1/calls").await, json!([]), "nobody was called");

    // A trunk that is only registered at: half a minute passes until a REGISTER stays without an answer for good.
    let other = start(&registrar, &trunk("options_interval = 0, register = true, username = \"us\""));
    let asked = tokio::time::timeout(PATIENCE, asked).await.expect("a second REGISTER").expect("messages");
    assert!(!asked.contains(&"INVITE".to_owned()), "{asked:?}");
    assert!(asked.contains(&"OPTIONS".to_owned()) && asked.contains(&"REGISTER".to_owned()), "{asked:?}");
    let log = other.logged();
    assert!(log.contains("not registered; trying again") && log.contains("REGISTER: no answer"), "{log}");
    let log = node.logged();
    assert!(log.contains("trunk is down") && !log.contains("98123000"), "{log}");
}

/// The figures of a node as they are scraped.
async fn figures(node: &Node) -> String {
    let address = node.client.url.strip_prefix("http://").expect("a URL");
    let mut stream = tokio::net::TcpStream::connect(address).await.expect("the node listens");
    let request = format!(
        "GET /metrics HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer {TOKEN}\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await.expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("an answer");
    answer
}

/// Calls last until a test ends them.
const PATIENT: (&str, &str) = ("DASTAK_TELEPHONY__SILENCE_PROMPT", "60");

/// Two nodes on one database, with the exchange as a trunk of these settings.
struct Pair {
    nodes: [Option<Node>; 2],
    _folders: [Folder; 2],
    office: Office,
}

impl Pair {
    async fn start(database: &str, exchange: &Exchange, trunk: &str) -> Self {
        let folders = [Folder::new(), Folder::new()];
        let trunk = exchange.trunk_with(trunk);
        let more = [
            PATIENT,
            ("DASTAK_DATABASE_URL", database),
            ("DASTAK_TELEPHONY__SIP__TRUNKS", trunk.as_str()),
            ("DASTAK_TELEPHONY__RING_TIMEOUT", "180"),
        ];
        let nodes = folders.each_ref().map(|folder| Some(serve(&folder.0, exchange, &more)));
        let office = Office::open(&nodes[0].as_ref().expect("a node").client).await;
        Self { nodes, _folders: folders, office }
    }

    fn node(&self, at: usize) -> &Node {
        self.nodes[at].as_ref().expect("a node")
    }

    fn office(&self, at: usize) -> Office {
        self.office.at(self.node(at))
    }

    /// Ends one of the calls that are on the line.
    async fn hang_up(&self, exchange: &Exchange, which: usize) {
        let line = exchange.seen().lines.into_keys().nth(which).expect("a line");
        let id = line.split('@').next().expect("an id");
        let office = self.office(usize::from(self.nodes[0].is_none()));
        office.post(&format!("/v1/calls/{id}/hangup"), &Value::Null).await;
        exchange.until("the line is free", |seen| !seen.lines.contains_key(&line)).await;
    }

    /// Places a call at a node, as soon as the trunk takes one.
    async fn place(&self, at: usize, number: &mut impl FnMut() -> String) {
        let mut pace = tokio::time::interval(std::time::Duration::from_millis(50));
        loop {
            let (status, _, why) = self.office(at).try_place(&number()).await.expect("an answer");
            match status {
                200 => return,
                502 => assert_eq!(why["code"], "call_not_placed", "{why}"),
                // As many placements a minute as a workspace may ask for.
                429 => {}
                other => panic!("{other}: {why}"),
            }
            pace.tick().await;
        }
    }

    async fn operator(&self, at: usize, path: &str) {
        let answer = self.node(at).client.operator("POST", path, &Value::Null).await;
        assert_eq!(answer.0, 200, "{}", answer.2);
    }
}

/// The database as an operator may look at it.
async fn database(url: &str) -> tokio_postgres::Client {
    let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.expect("a database");
    tokio::spawn(connection);
    client
}

/// One number of a look at the database.
async fn look(client: &tokio_postgres::Client, sql: &str) -> Option<i64> {
    client.query(sql, &[]).await.expect("rows").first().map(|row| row.get(0))
}

const NOW: &str = "select cast(extract(epoch from clock_timestamp()) * 1000 as bigint)";

/// The trunk of a node as it tells of it.
async fn shown(node: &Node) -> Value {
    let answer = node.client.send("GET", "/readyz", TOKEN, &[], &Value::Null).await.expect("an answer");
    answer.2["trunks"][0].clone()
}

async fn ready(node: &Node, status: u16) {
    node.client.until("GET", "/readyz", |answer| answer.as_ref().is_some_and(|one| one.0 == status)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_nodes_never_have_more_channels_than_their_trunk_on_postgres() {
    needs_postgres();
    let (url, exchange) = (fresh_database().await, Exchange::start().await);
    let wire = Wire::to(&url).await;
    let mut pair = Pair::start(&wire.url, &exchange, "channels = 3").await;
    let mut number = 10_000;
    // Phones that ring until a test has enough of it.
    let mut next = || {
        number += 1;
        format!("+919812{number}3")
    };
    // Six at once, three at each node.
    let placing: Vec<_> = (0..6)
        .map(|one| {
            let (office, number) = (pair.office(one % 2), next());
            tokio::spawn(async move { office.try_place(&number).await.expect("an answer") })
        })
        .collect();
    let mut said = Vec::new();
    for placed in placing {
        said.push(placed.await.expect("a request").0);
    }
    said.sort_unstable();
    assert_eq!((said, exchange.seen().lines.len()), (vec![200, 200, 200, 502, 502, 502], 3));

    // A channel that gets free goes to the node that needs it, wherever it was.
    for round in 0..6 {
        pair.hang_up(&exchange, round % 3).await;
        pair.place(round % 2, &mut next).await;
        assert_eq!(exchange.seen().lines.len(), 3, "round {round}");
    }
    assert_eq!(exchange.seen().most_lines, 3);
    let told = [shown(pair.node(0)).await, shown(pair.node(1)).await];
    let sum = |what: &str| told.iter().map(|trunk| trunk[what].as_u64().expect("a number")).sum::<u64>();
    assert_eq!((sum("calls"), sum("channels")), (3, 3), "{told:?}");

    // The database goes and comes back: who had channels has them.
    wire.set(State::Cut);
    for at in [0, 1] {
        ready(pair.node(at), 503).await;
        assert_ne!(pair.office(at).try_place(&next()).await.map(|answer| answer.0), Some(200));
    }
    wire.set(State::Open);
    for at in [0, 1] {
        ready(pair.node(at), 200).await;
        let mut status = 503;
        while status == 503 {
            status = pair.office(at).try_place(&next()).await.expect("an answer").0;
        }
        assert_eq!(status, 502, "all channels are in use");
    }
    assert_eq!((exchange.seen().lines.len(), exchange.seen().most_lines), (3, 3));

    // A node that is killed: the carrier still counts its calls, and so does the other one until their lease is over.
    for _ in 0..3 {
        pair.hang_up(&exchange, 0).await;
    }
    for _ in 0..3 {
        pair.place(0, &mut next).await;
    }
    let name = pair.node(0).client.operator("GET", "/node", &Value::Null).await.2["data"]["name"].clone();
    pair.nodes[0].take().expect("a node").kill();
    let looks = database(&url).await;
    let grant = format!("select seen_at from trunk_grants where node = '{}'", name.as_str().expect("a name"));
    let seen_at = look(&looks, &grant).await.expect("a grant");
    pair.place(1, &mut next).await;
    let waited = look(&looks, NOW).await.expect("a moment") - seen_at;
    assert!(waited > 45_000, "after {waited} ms");
    assert_eq!(look(&looks, &grant).await, None);
    assert_eq!(exchange.seen().most_lines, 4, "three of the dead node, which the exchange never forgets");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_two_nodes_registers_and_another_takes_over_on_postgres() {
    needs_postgres();
    let (url, exchange) = (fresh_database().await, Exchange::start().await);
    let mut pair =
        Pair::start(&url, &exchange, "register = true, username = \"office\", password = \"secret\"").await;
    let looks = database(&url).await;
    // The node whose contact is registered; it knows, and the other one knows that it is not.
    let registrar = async |pair: &Pair, not: Option<&str>| {
        exchange
            .until("registered", |seen| {
                seen.registered.len() == 1 && not.is_none_or(|old| !seen.registered.contains(old))
            })
            .await;
        let contact = exchange.seen().registered.into_iter().next().expect("a contact");
        let mut pace = tokio::time::interval(std::time::Duration::from_millis(50));
        loop {
            let mut told = Vec::new();
            for node in pair.nodes.iter().flatten() {
                told.push((shown(node).await["registered"].clone(), node.child.id()));
            }
            let here: Vec<u32> = told.iter().filter(|(is, _)| *is == true).map(|(_, id)| *id).collect();
            let known = format!("select count(*) from trunks where contact like '%{contact}%'");
            let known = look(&looks, &known).await;
            if here.len() == 1 && known == Some(1) {
                let at = pair
                    .nodes
                    .iter()
                    .position(|node| node.as_ref().is_some_and(|one| one.child.id() == here[0]));
                return (at.expect("a node"), contact);
            }
            pace.tick().await;
        }
    };
    let (first, contact) = registrar(&pair, None).await;
    // One that takes no calls leaves it to the other at once, and does not take it back by itself.
    pair.operator(first, "/node/drain").await;
    let (second, other) = registrar(&pair, Some(&contact)).await;
    assert_eq!((second, exchange.seen().most_registered), (1 - first, 1));
    pair.operator(first, "/node/undrain").await;
    assert_eq!(exchange.seen().registered.len(), 1);
    // A node that is killed: the other one removes its registration after the lease.
    let name =
        pair.node(second).client.operator("GET", "/node", &Value::Null).await.2["data"]["name"].clone();
    let said =
        format!("select registrar_at from trunks where registrar = '{}'", name.as_str().expect("a name"));
    pair.nodes[second].take().expect("a node").kill();
    let said_at = look(&looks, &said).await.expect("a registrar");
    let (third, _) = registrar(&pair, Some(&other)).await;
    let waited = look(&looks, NOW).await.expect("a moment") - said_at;
    assert_eq!((third, exchange.seen().most_registered), (first, 1));
    assert!(waited > 45_000, "taken over after {waited} ms");
    // A stop unregisters.
    let mut node = pair.nodes[first].take().expect("a node");
    node.signal("TERM");
    assert_eq!(crate::phone_calls::exit_code(&mut node).await, Some(0));
    assert!(exchange.seen().registered.is_empty());
    assert_eq!(look(&looks, "select count(*) from trunk_grants where channels > 0").await, Some(0));
}

/// A node in this process, without lines.
async fn service(folder: &Folder, url: &str) -> Service {
    let (mut values, data) = (Values::default(), folder.0.display().to_string());
    let settings = [
        ("data", data.as_str()),
        ("listen", "127.0.0.1:0"),
        ("database_url", url),
        ("master_key", MASTER_KEY),
        ("telephony.carrier", "none"),
    ];
    for (name, text) in settings {
        values.add_text(name, text.to_owned(), "the test").expect("a setting");
    }
    Service::start_at(values.config(false).expect("settings"), Clock::real()).await.expect("a service")
}

/// Five refusals in a row are counted over all nodes, and so is the pause that follows; then one node asks again.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_carrier_refuses_to_one_node_counts_on_all_on_postgres() {
    needs_postgres();
    let url = fresh_database().await;
    let folders = [Folder::new(), Folder::new()];
    let nodes = [service(&folders[0], &url).await, service(&folders[1], &url).await];
    let looks = database(&url).await;
    let allowed = || nodes.each_ref().map(|node| node.app.breaker.allowance(node.app.clock.now()));
    let until = async |what: &str, holds: &dyn Fn([Allowance; 2]) -> bool| {
        let mut pace = tokio::time::interval(std::time::Duration::from_millis(10));
        let waiting = async {
            while !holds(allowed()) {
                pace.tick().await;
            }
        };
        let waited = tokio::time::timeout(PATIENCE, waiting).await;
        assert!(waited.is_ok(), "{what}: {:?}", allowed());
    };
    let said = async |node: usize, took: bool| {
        due_dials::carrier_said(&nodes[node].app, None, took).await.expect("it is written down");
    };
    let rows = "select count(*) from carrier_refusals";
    said(0, true).await;
    assert_eq!(look(&looks, rows).await, Some(0), "nothing to reset, nothing is written");
    for node in [0, 1, 0, 1] {
        said(node, false).await;
    }
    assert_eq!(allowed(), [Allowance::All; 2]);
    said(0, false).await;
    assert_eq!(allowed()[0], Allowance::Nothing);
    until("the other one hears of it", &|allowed| allowed[1] == Allowance::Nothing).await;

    looks.execute("update carrier_refusals set paused_until = 0", &[]).await.expect("a row");
    until("one of them asks again", &|allowed| allowed.contains(&Allowance::Probe)).await;
    assert!(allowed().contains(&Allowance::Nothing), "{:?}", allowed());
    // It is refused: another pause, for both.
    let prober = allowed().iter().position(|one| *one == Allowance::Probe).expect("a node");
    said(prober, false).await;
    assert_eq!(allowed(), [Allowance::Nothing; 2]);
    looks.execute("update carrier_refusals set paused_until = 0", &[]).await.expect("a row");
    until("one of them asks again", &|allowed| allowed.contains(&Allowance::Probe)).await;
    let prober = allowed().iter().position(|one| *one == Allowance::Probe).expect("a node");
    said(prober, true).await;
    until("both ask", &|allowed| allowed == [Allowance::All; 2]).await;
    assert_eq!(look(&looks, "select in_a_row from carrier_refusals").await, Some(0));
    for node in nodes {
        assert!(node.stop().await);
    }
}
