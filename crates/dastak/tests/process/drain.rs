//! A node that is drained takes no new calls and goes on with everything else; a stop is worked in two steps
//! (docs/contract/operator.md#nodes).

use std::net::SocketAddr;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::AsyncReadExt;
use tokio::net::UdpSocket;

use crate::exchange::{Exchange, PATIENCE};
use crate::node::{BINARY, Folder, Node, TOKEN, fresh_database, needs_postgres, needs_sqlite, on_postgres};
use crate::phone_calls::{Office, exit_code, serve};
use crate::shows::Shows;
use crate::wire::{State, Wire};

/// A peer of the exchange's address that asks a node over SIP.
struct Peer {
    socket: UdpSocket,
    node: SocketAddr,
    serial: u32,
}

impl Peer {
    async fn of(node: &str) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").await.expect("a port");
        Self { socket, node: node.parse().expect("an address"), serial: 0 }
    }

    /// The status of the final answer to a request that begins something.
    async fn ask(&mut self, method: &str) -> u16 {
        self.serial += 1;
        let (me, serial) = (self.socket.local_addr().expect("an address"), self.serial);
        let request = format!(
            "{method} sip:08022222222@{} SIP/2.0\r\nVia: SIP/2.0/UDP {me};branch=z9hG4bKpeer{serial}\r\nMax-Forwards: 70\r\n\
             From: <sip:08099999999@{me}>;tag=peer\r\nTo: <sip:08022222222@{}>\r\nCall-ID: peer{serial}-{}\r\n\
             CSeq: 1 {method}\r\nContact: <sip:peer@{me}>\r\nContent-Length: 0\r\n\r\n",
            self.node,
            self.node,
            me.port()
        );
        self.socket.send_to(request.as_bytes(), self.node).await.expect("sent");
        let mut bytes = vec![0; 65_536];
        let answered = async {
            loop {
                let length = self.socket.recv(&mut bytes).await.expect("an answer");
                let text = String::from_utf8_lossy(&bytes[..length]).into_owned();
                let status = text.split(' ').nth(1).and_then(|status| status.parse().ok());
                if text.contains(&format!("peer{serial}-"))
                    && let Some(status @ 200..) = status
                {
                    return status;
                }
            }
        };
        tokio::time::timeout(PATIENCE, answered).await.expect("an answer")
    }
}

/// Requests of a workspace that may wait for events on a node, and for how long one may
/// (docs/contract/webhooks.md#stream-of-events).
const READERS: usize = 32;
const LONGEST_WAIT: Duration = Duration::from_secs(25);

/// The callee says nothing; calls last all the same until a test ends them.
const PATIENT: (&str, &str) = ("DASTAK_TELEPHONY__SILENCE_PROMPT", "60");

/// An address that is free for SIP.
async fn free_address() -> String {
    loop {
        let socket = UdpSocket::bind("127.0.0.1:0").await.expect("a port");
        let address = socket.local_addr().expect("an address");
        // SIP listens for connections, too.
        if tokio::net::TcpListener::bind(address).await.is_ok() {
            return address.to_string();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_drained_node_takes_no_new_calls_and_goes_on_otherwise() {
    let (folder, exchange, sip) = (Folder::new(), Exchange::start().await, free_address().await);
    let database = if on_postgres() { Some(fresh_database().await) } else { None };
    let mut more = vec![PATIENT, ("DASTAK_TELEPHONY__SIP__LISTEN", sip.as_str())];
    more.extend(database.iter().map(|url| ("DASTAK_DATABASE_URL", url.as_str())));
    let node = serve(&folder.0, &exchange, &more);
    let (office, mut peer) = (Office::open(&node.client).await, Peer::of(&sip).await);
    let talking = office.place("+919812300014").await;
    office.talks(&talking).await;
    assert_eq!(peer.ask("OPTIONS").await, 200);
    let shown = node.client.operator("GET", "/node", &Value::Null).await;
    assert_eq!(
        (shown.0, &shown.2["data"]["status"], &shown.2["data"]["callsHeld"]),
        (200, &json!("in_service"), &json!(1)),
        "{}",
        shown.2
    );

    // From a terminal, as an operator does.
    let admin = |command: &'static str| {
        let url = node.client.url.clone();
        async move {
            let run = move || {
                Command::new(BINARY)
                    .args(["admin", command, "--json", "--url", &url, "--token", TOKEN])
                    .output()
                    .expect("the binary starts")
            };
            let done = tokio::task::spawn_blocking(run).await.expect("an answer");
            assert!(done.status.success(), "{command}: {}", String::from_utf8_lossy(&done.stderr));
            let said: Value = serde_json::from_slice(&done.stdout).expect("JSON");
            said["data"].clone()
        }
    };
    let drained = admin("drain").await;
    assert_eq!((&drained["status"], &drained["callsHeld"]), (&json!("draining"), &json!(1)), "{drained}");
    assert_eq!(admin("drain").await, drained, "again changes nothing, not even since when");
    assert_eq!(admin("get-node").await, drained);

    let (status, _, ready) =
        node.client.send("GET", "/readyz", "", &[], &Value::Null).await.expect("an answer");
    assert_eq!((status, ready["reason"].as_str()), (503, Some("the node is draining")));
    assert_eq!(node.client.send("GET", "/healthz", "", &[], &Value::Null).await.expect("an answer").0, 200);
    assert_eq!((peer.ask("OPTIONS").await, peer.ask("INVITE").await), (503, 503));
    let (status, headers, refused) = office.try_place("+919812300099").await.expect("an answer");
    assert_eq!((status, refused["code"].as_str()), (503, Some("unavailable")), "{refused}");
    assert!(headers.contains_key("retry-after"));
    // Requests are answered, and what they want is done by a node that is in service.
    let due = office.schedule("+919812300097").await;
    // Calls that are on go on, and are ended from outside.
    assert_eq!(office.get(&format!("/v1/calls/{talking}")).await["state"], "in_progress");
    office.post(&format!("/v1/calls/{talking}/hangup"), &Value::Null).await;
    assert_eq!(office.ended(&talking).await["endCause"], "api_hangup");
    node.client
        .until("GET", "/operator/v1/node", |answer| {
            answer.as_ref().is_some_and(|(_, _, said)| said["data"]["callsHeld"] == 0)
        })
        .await;
    let passed = std::time::Instant::now() + Duration::from_secs(1);
    let mut pace = tokio::time::interval(Duration::from_millis(20));
    while std::time::Instant::now() <= passed {
        pace.tick().await;
    }
    let dialled = exchange.seen().invites;
    assert_eq!(dialled.keys().collect::<Vec<_>>(), ["+919812300014"], "nobody else was dialled");

    let back = admin("undrain").await;
    assert_eq!(back["status"], "in_service", "{back}");
    assert_eq!(peer.ask("OPTIONS").await, 200);
    node.client.until("GET", "/readyz", |answer| answer.as_ref().is_some_and(|one| one.0 == 200)).await;
    exchange.until("what was due is dialled", |seen| seen.invites.contains_key("+919812300097")).await;
    office
        .until(&format!("/v1/scheduled-calls/{due}"), "it is placed", |call| call["status"] == "placed")
        .await;
    let log = node.client.operator("GET", "/log", &Value::Null).await.2;
    let operations: Vec<_> =
        log["data"].as_array().unwrap().iter().map(|row| row["operation"].clone()).collect();
    assert_eq!(operations[..3], [json!("undrain"), json!("drain"), json!("drain")], "{log}");

    // A node that is started again is in service.
    admin("drain").await;
    node.kill();
    let node = serve(&folder.0, &exchange, &more);
    let shown = node.client.operator("GET", "/node", &Value::Null).await.2;
    assert_eq!((&shown["data"]["status"], &shown["data"]["name"]), (&json!("in_service"), &drained["name"]));
    assert_eq!(office.at(&node).try_place("+919812300099").await.expect("an answer").0, 200);
}

/// What a node that is drained leaves is dialled by another one.
#[tokio::test(flavor = "multi_thread")]
async fn another_node_dials_what_a_drained_one_is_asked_for_on_postgres() {
    needs_postgres();
    let (database, exchange) = (fresh_database().await, Exchange::start().await);
    let folders = [Folder::new(), Folder::new()];
    let addresses = [free_address().await, free_address().await];
    let [one, other] = [0, 1].map(|at: usize| {
        let more = [
            ("DASTAK_DATABASE_URL", database.as_str()),
            ("DASTAK_TELEPHONY__SIP__LISTEN", addresses[at].as_str()),
        ];
        serve(&folders[at].0, &exchange, &more)
    });
    let office = Office::open(&one.client).await;
    one.client.operator("POST", "/node/drain", &Value::Null).await;
    for number in 40..60 {
        office.schedule(&format!("+919812302{number}9")).await;
    }
    exchange.until("all are dialled", |seen| seen.invites.len() == 20).await;
    let from: Vec<String> = exchange.sources().iter().map(ToString::to_string).collect();
    assert_eq!(from, [addresses[1].as_str()], "the drained node dialled nobody");
    let there = other.client.operator("GET", "/node", &Value::Null).await.2;
    let here = one.client.operator("GET", "/node", &Value::Null).await.2;
    here.shows(json!({"data.status": "draining"}));
    there.shows(json!({"data.status": "in_service"}));
    assert_ne!(here["data"]["name"], there["data"]["name"]);
}

/// A node that stops still hears what other nodes are asked for its calls: it does not wait for its grace.
#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_stops_hears_of_a_hang_up_at_another_on_postgres() {
    needs_postgres();
    let (database, exchange) = (fresh_database().await, Exchange::start().await);
    let folders = [Folder::new(), Folder::new()];
    // Longer than any test waits: a stop that only its grace ends fails.
    let more = [PATIENT, ("DASTAK_DATABASE_URL", database.as_str()), ("DASTAK_SHUTDOWN_GRACE", "600")];
    let (mut one, other) = (serve(&folders[0].0, &exchange, &more), serve(&folders[1].0, &exchange, &more));
    let office = Office::open(&one.client).await;
    let there = office.at(&other);
    let talking = office.place("+919812300014").await;
    there.talks(&talking).await;
    // An event can be read a second after it happened; from then on there is nothing to be heard of.
    let mut pace = tokio::time::interval(Duration::from_millis(20));
    let heard = loop {
        let (status, _, page) =
            office.send("GET", "/v1/events?after=start", &Value::Null).await.expect("the node answers");
        assert_eq!(status, 200, "{page}");
        if page["data"]
            .as_array()
            .is_some_and(|events| events.iter().any(|event| event["type"] == "call.started"))
        {
            break page["cursor"].as_str().expect("a cursor").to_owned();
        }
        pace.tick().await;
    };
    // A listener that waits for events is no reason to wait: it is answered at once. Readers are counted once they wait.
    let asked = std::time::Instant::now();
    let listeners: Vec<_> = (0..READERS)
        .map(|_| {
            let office = office.clone();
            let path = format!("/v1/events?after={heard}&wait={}", LONGEST_WAIT.as_secs());
            // The look below takes one of their places for a moment.
            tokio::spawn(async move {
                loop {
                    let answer = office.send("GET", &path, &Value::Null).await;
                    if answer.as_ref().is_none_or(|(status, ..)| *status != 429) {
                        return answer;
                    }
                }
            })
        })
        .collect();
    while office.send("GET", "/v1/events?wait=1", &Value::Null).await.expect("the node answers").0 != 429 {
        pace.tick().await;
    }
    one.signal("TERM");
    for listener in listeners {
        let (status, _, page) = listener.await.expect("a task").expect("an answer");
        assert_eq!((status, &page["data"]), (200, &json!([])), "{page}");
    }
    assert!(asked.elapsed() < LONGEST_WAIT, "they waited to their end");
    while office.try_place("+919812300099").await.is_some_and(|(status, ..)| status == 200) {}
    assert_eq!(there.get(&format!("/v1/calls/{talking}")).await["state"], "in_progress");
    there.post(&format!("/v1/calls/{talking}/hangup"), &Value::Null).await;
    assert_eq!(exit_code(&mut one).await, Some(0));
    let line = exchange.seen().call_id("+919812300014").expect("dialled");
    assert!(exchange.seen().byes.contains(&line), "the callee heard it");
    let call = there.ended(&talking).await;
    assert_eq!((&call["status"], &call["endCause"]), (&json!("completed"), &json!("api_hangup")), "{call}");
}

/// Two nodes, each with a way of its own to the database, which can be cut.
async fn on_wires(database: &str, exchange: &Exchange, folders: &[Folder; 2]) -> ([Wire; 2], [Node; 2]) {
    let wires = [Wire::to(database).await, Wire::to(database).await];
    let nodes = [0, 1].map(|at: usize| {
        serve(&folders[at].0, exchange, &[PATIENT, ("DASTAK_DATABASE_URL", wires[at].url.as_str())])
    });
    (wires, nodes)
}

/// After an outage in which every lease ran out, a call whose node is alive goes on.
#[tokio::test(flavor = "multi_thread")]
async fn nobody_ends_a_call_whose_node_is_alive_after_an_outage_on_postgres() {
    needs_postgres();
    let (database, exchange) = (fresh_database().await, Exchange::start().await);
    let folders = [Folder::new(), Folder::new()];
    let (wires, [one, other]) = on_wires(&database, &exchange, &folders).await;
    let office = Office::open(&one.client).await;
    let there = office.at(&other);
    let talking = office.place("+919812300014").await;
    there.talks(&talking).await;
    // What the conversation needs of the store it has by now.
    exchange.until("the agent is heard", |seen| seen.sound).await;
    let (asking, connection) =
        tokio_postgres::connect(&database, tokio_postgres::NoTls).await.expect("a database");
    tokio::spawn(connection);
    let leases = async |sql: &str| {
        let row = asking.query_one(sql, &[]).await.expect("an answer");
        row.get::<_, Option<bool>>(0).expect("the call goes on")
    };
    let mut pace = tokio::time::interval(Duration::from_millis(100));
    wires.iter().for_each(|wire| wire.set(State::Cut));
    // As long as both nodes need to see that the store is away, and as if it had been away for minutes by then.
    asking
        .batch_execute(
            "update calls set next_step_at = cast(extract(epoch from now()) * 1000 as bigint) + 12000 where phase is null and next_step_at is not null",
        )
        .await
        .expect("a shorter lease");
    while !leases("select max(next_step_at) < extract(epoch from now()) * 1000 from calls").await {
        pace.tick().await;
    }
    wires.iter().for_each(|wire| wire.set(State::Open));
    // The node says that it holds the call, for the whole of a lease: more than anybody waits for it.
    let renewed = async {
        while !leases("select max(next_step_at) > (extract(epoch from now()) + 30) * 1000 from calls").await {
            pace.tick().await;
        }
    };
    tokio::time::timeout(PATIENCE, renewed).await.expect("the lease is renewed");
    // The other node may not have tried the server again yet.
    let path = format!("/v1/calls/{talking}");
    let shown = async {
        loop {
            match there.send("GET", &path, &Value::Null).await.expect("the node answers") {
                (200, _, shown) => return shown["data"].clone(),
                (status, _, said) => assert_eq!(status, 503, "{said}"),
            }
            pace.tick().await;
        }
    };
    assert_eq!(tokio::time::timeout(PATIENCE, shown).await.expect("an answer")["state"], "in_progress");
    there.post(&format!("{path}/hangup"), &Value::Null).await;
    assert_eq!(there.ended(&talking).await["endCause"], "api_hangup");
}

/// After an outage the node that dialled says what came of the dial, however long it could not store it. The other, which is back
/// first, waits for that.
#[tokio::test(flavor = "multi_thread")]
async fn a_dial_that_was_answered_during_an_outage_goes_on_on_postgres() {
    needs_postgres();
    let (database, exchange) = (fresh_database().await, Exchange::start().await);
    let folders = [Folder::new(), Folder::new()];
    let (wires, [one, other]) = on_wires(&database, &exchange, &folders).await;
    let office = Office::open(&one.client).await;
    let there = office.at(&other);
    let number = "+919812300011";
    let placing = {
        let office = office.clone();
        tokio::spawn(async move { office.try_place(number).await })
    };
    exchange.until("it is dialled", |seen| seen.invites.contains_key(number)).await;
    let (asking, connection) =
        tokio_postgres::connect(&database, tokio_postgres::NoTls).await.expect("a database");
    tokio::spawn(connection);
    let lease = async |sql: &str| {
        let row = asking.query_one(sql, &[]).await.expect("an answer");
        row.get::<_, Option<bool>>(0).expect("the call is there")
    };
    let over = "select next_step_at < extract(epoch from now()) * 1000 from calls";
    let mut pace = tokio::time::interval(Duration::from_millis(50));
    wires.iter().for_each(|wire| wire.set(State::Cut));
    exchange.pick_up(number).await;
    // As long as both nodes need to see that the store is away, and as if it had been away for minutes by then.
    asking
        .batch_execute(
            "update calls set next_step_at = cast(extract(epoch from now()) * 1000 as bigint) + 12000",
        )
        .await
        .expect("a shorter lease");
    while !lease(over).await {
        pace.tick().await;
    }
    wires[1].set(State::Open);
    // The other has looked at it.
    while lease(over).await {
        pace.tick().await;
    }
    wires[0].set(State::Open);
    let (status, _, placed) = placing.await.expect("a task").expect("an answer");
    assert_eq!(status, 200, "{placed}");
    let talking = placed["interactionId"].as_str().expect("an id").to_owned();
    there.talks(&talking).await;
    there.post(&format!("/v1/calls/{talking}/hangup"), &Value::Null).await;
    assert_eq!(there.ended(&talking).await["endCause"], "api_hangup");
    assert_eq!(exchange.seen().invites[number].len(), 1);
}

/// A call that comes in begins a trace (docs/operating/traces.md), also one that is declined.
#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_comes_in_has_a_span_on_sqlite() {
    needs_sqlite();
    let collector = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", collector.local_addr().expect("an address"));
    let (folder, exchange, sip) = (Folder::new(), Exchange::start().await, free_address().await);
    let more =
        [("DASTAK_TELEPHONY__SIP__LISTEN", sip.as_str()), ("DASTAK_TRACES__OTLP_ENDPOINT", url.as_str())];
    let node = serve(&folder.0, &exchange, &more);
    let _office = Office::open(&node.client).await;
    // No agent answers the number.
    assert_eq!(Peer::of(&sip).await.ask("INVITE").await, 480);
    let exported = async {
        loop {
            let (mut stream, _) = collector.accept().await.expect("the service connects");
            let (mut said, mut bytes) = (Vec::new(), vec![0; 65_536]);
            while let Ok(Ok(length @ 1..)) =
                tokio::time::timeout(Duration::from_secs(5), stream.read(&mut bytes)).await
            {
                said.extend_from_slice(&bytes[..length]);
                let has = |words: &str| said.windows(words.len()).any(|some| some == words.as_bytes());
                if has("incoming call") && has("declined") {
                    return;
                }
            }
        }
    };
    tokio::time::timeout(PATIENCE, exported).await.expect("a span");
}
