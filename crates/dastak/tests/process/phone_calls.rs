//! Calls over SIP while processes are killed, stopped and doubled: nobody is dialled twice, every call ends,
//! money and lines come back.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use crate::exchange::{Exchange, PATIENCE};
use crate::node::{Answer, Client, Folder, Node, fresh_database, needs_postgres, needs_sqlite, on_postgres};
use crate::nodes::MASTER_KEY;
use crate::receiver::Receiver;
use crate::shows::Shows;

/// Next number of a sequence that its seed determines.
fn next(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *seed >> 33
}

/// A workspace that may call at any time, on a node with lines.
#[derive(Clone)]
pub struct Office {
    pub client: Client,
    workspace: String,
    key: String,
    pub agent: String,
}

impl Office {
    pub async fn open(client: &Client) -> Self {
        let (workspace, key) = client.workspace().await;
        let base = format!("/workspaces/{workspace}");
        client.operator("POST", &format!("{base}/numbers"), &json!({"number": "+918022222222"})).await;
        let money = json!({"kind": "topup", "amountMinor": 1_000_000, "reference": "r"});
        client.operator("POST", &format!("{base}/wallet/entries"), &money).await;
        // Any time, for nudges too but for the evening: hours that begin at midnight would go on with those
        // of the day before, and let them wait for nine.
        let days = [0, 1, 2, 3, 4, 5, 6];
        let hours = json!([{"days": days, "from": "00:00", "to": "00:01"}, {"days": days, "from": "00:01", "to": "24:00"}]);
        let pack = json!({"name": "any time", "hours": hours, "caps": {"perDay": 1000, "perWeek": 1000}});
        let (_, _, pack) = client.operator("POST", &format!("{base}/compliance-packs"), &pack).await;
        let mut office = Self { client: client.clone(), workspace, key, agent: String::new() };
        let agent = office
            .post(
                "/v1/agents",
                &json!({"name": "Asha", "systemPrompt": "You are Asha.", "policyRef": pack["data"]["id"]}),
            )
            .await;
        office.agent = text(&agent["id"]);
        office.post(&format!("/v1/agents/{}/status", office.agent), &json!({"status": "active"})).await;
        office
    }

    /// The same workspace on another node, or on this one after a restart.
    pub fn at(&self, node: &Node) -> Self {
        Self { client: node.client.clone(), ..self.clone() }
    }

    /// `None` when the node does not answer.
    pub async fn send(&self, method: &str, path: &str, body: &Value) -> Option<Answer> {
        // Each request is one of its own.
        static SERIAL: AtomicU32 = AtomicU32::new(0);
        let once = SERIAL.fetch_add(1, Ordering::Relaxed).to_string();
        let headers: &[(&str, &str)] = if method == "POST" { &[("idempotency-key", &once)] } else { &[] };
        self.client.send(method, path, &self.key, headers, body).await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Value {
        let (status, _, answer) = self.send("POST", path, body).await.expect("the node answers");
        assert!((200..300).contains(&status), "{path}: {status} {answer}");
        answer["data"].clone()
    }

    pub async fn get(&self, path: &str) -> Value {
        let (status, _, answer) = self.send("GET", path, &Value::Null).await.expect("the node answers");
        assert_eq!(status, 200, "{path}: {answer}");
        answer["data"].clone()
    }

    pub async fn try_place(&self, number: &str) -> Option<Answer> {
        self.send("POST", "/v1/calls", &json!({"agentId": self.agent, "toNumber": number})).await
    }

    /// A call that is due in a second, which no hour of the day holds back; its id.
    pub async fn schedule(&self, number: &str) -> String {
        let soon = std::time::SystemTime::now() + Duration::from_secs(1);
        let since = soon.duration_since(std::time::UNIX_EPOCH).expect("a time");
        let at = domain::time::Timestamp(i64::try_from(since.as_millis()).expect("a time"));
        let body = json!({"agentId": self.agent, "toNumber": number, "scheduledAt": at});
        text(&self.post("/v1/scheduled-calls", &body).await["id"])
    }

    pub async fn place(&self, number: &str) -> String {
        let (status, _, answer) = self.try_place(number).await.expect("the node answers");
        assert_eq!(status, 200, "{answer}");
        text(&answer["interactionId"])
    }

    /// Asks until the answer fits.
    pub async fn until(&self, path: &str, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        let mut pace = tokio::time::interval(Duration::from_millis(100));
        let mut last = Value::Null;
        let asking = async {
            loop {
                last = self.get(path).await;
                if fits(&last) {
                    return;
                }
                pace.tick().await;
            }
        };
        let waited = tokio::time::timeout(PATIENCE, asking).await;
        assert!(waited.is_ok(), "{what}: {last}");
        last
    }

    pub async fn ended(&self, id: &str) -> Value {
        self.until(&format!("/v1/calls/{id}"), "the call ends", |call| call["state"] == "ended").await
    }

    pub async fn talks(&self, id: &str) {
        self.until(&format!("/v1/calls/{id}"), "the call is answered", |call| call["state"] == "in_progress")
            .await;
    }

    async fn shown(&self) -> Value {
        self.client.operator("GET", &format!("/workspaces/{}", self.workspace), &Value::Null).await.2["data"]
            .clone()
    }
}

pub fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("a text, not {value}")).to_owned()
}

/// A node with lines to this exchange, and these settings.
pub fn serve(folder: &Path, exchange: &Exchange, more: &[(&str, &str)]) -> Node {
    let trunks = exchange.trunk();
    let mut environment = vec![
        ("DASTAK_TELEPHONY__CARRIER", "sip"),
        ("DASTAK_TELEPHONY__SIP__LISTEN", "127.0.0.1:0"),
        ("DASTAK_TELEPHONY__SIP__TRUNKS", trunks.as_str()),
        ("DASTAK_TELEPHONY__RING_TIMEOUT", "10"),
        ("DASTAK_WEBHOOKS__ALLOW_INSECURE", "true"),
        ("DASTAK_MASTER_KEY", MASTER_KEY),
    ];
    environment.extend_from_slice(more);
    Node::start(folder, &environment)
}

/// Waits for the end of a process; its exit code.
pub async fn exit_code(node: &mut Node) -> Option<i32> {
    let mut pace = tokio::time::interval(Duration::from_millis(20));
    let ending = async {
        loop {
            if let Some(status) = node.child.try_wait().expect("a process") {
                return status.code();
            }
            pace.tick().await;
        }
    };
    tokio::time::timeout(PATIENCE, ending).await.expect("the process ends")
}

/// When a node is killed.
#[derive(Debug, Clone, Copy)]
enum Moment {
    /// After this many datagrams have reached the exchange.
    Datagrams(u64),
    /// When everybody who picks up has done so.
    Talking,
}

/// The numbers that are called at once, two of each kind; the nudge's is the last.
const NUMBERS: [&str; 9] = [
    "+919812300011",
    "+919812300021",
    "+919812300012",
    "+919812300022",
    "+919812300013",
    "+919812300023",
    "+919812300014",
    "+919812300024",
    "+919812300034",
];

/// Kills a node at a moment and starts it again on the same store: every call has ended, each number was
/// dialled at most once.
async fn survive(moment: Moment) {
    let (folder, exchange, receiver) = (Folder::new(), Exchange::start().await, Receiver::ok().await);
    let database = if on_postgres() { Some(fresh_database().await) } else { None };
    // What is dialled after the restart is over soon.
    let mut more = vec![("DASTAK_TELEPHONY__SILENCE_PROMPT", "2"), ("DASTAK_TELEPHONY__MAX_DURATION", "10")];
    more.extend(database.iter().map(|url| ("DASTAK_DATABASE_URL", url.as_str())));
    let node = serve(&folder.0, &exchange, &more);
    let office = Office::open(&node.client).await;
    office.post("/v1/webhooks", &json!({"url": receiver.url})).await;
    let nudge = json!({"agentId": office.agent, "toNumber": NUMBERS[8], "retry": {"maxRetries": 2, "delayMinutes": 10}});
    let nudge = text(&office.post("/v1/nudges", &nudge).await["id"]);
    let placing: Vec<_> = NUMBERS[..8]
        .iter()
        .map(|number| {
            let office = office.clone();
            tokio::spawn(async move { office.try_place(number).await })
        })
        .collect();
    match moment {
        Moment::Datagrams(count) => exchange.until("datagrams", |seen| seen.datagrams >= count).await,
        Moment::Talking => {
            let answered = |calls: &Value| {
                calls.as_array().unwrap().iter().filter(|call| call["state"] == "in_progress").count() >= 2
            };
            office.until("/v1/calls", "two talk", answered).await;
        }
    }
    node.kill();
    let mut acknowledged = BTreeSet::new();
    for placed in placing {
        if let Some((200, _, answer)) = placed.await.expect("a request") {
            acknowledged.insert(text(&answer["interactionId"]));
        }
    }
    let node = serve(&folder.0, &exchange, &more);
    let office = office.at(&node);
    // A dial of which nobody knows whether it went out is listed when its lease has run out, and not before.
    let over = |calls: &Value| {
        let calls = calls.as_array().unwrap();
        let listed = |number: &String| calls.iter().any(|call| call["toNumber"] == **number);
        calls.iter().all(|call| call["state"] == "ended") && exchange.seen().invites.keys().all(listed)
    };
    let calls =
        office.until("/v1/calls?limit=100", "every number that was dialled has a call that ended", over);
    let (calls, nudge) = tokio::join!(calls, async {
        let path = format!("/v1/nudges/{nudge}");
        // It is over, or waits for its retry after an unanswered attempt, or waits for the morning.
        office
            .until(&path, "the nudge comes to rest", |nudge| {
                nudge["status"] == "finished" || nudge["status"] == "scheduled"
            })
            .await
    });
    // A nudge that was dialled only after the restart talks when the calls before are over.
    let calls = if calls.as_array().unwrap().len()
        == office.get("/v1/calls?limit=100").await.as_array().unwrap().len()
    {
        calls
    } else {
        office.until("/v1/calls?limit=100", "the call of the nudge ends", over).await
    };
    let calls = calls.as_array().unwrap();
    dialled_once(moment, &exchange, calls, &acknowledged);
    let attempts = calls.iter().filter(|call| call["toNumber"] == NUMBERS[8]).count();
    assert_eq!(nudge["attempts"], attempts, "{moment:?}: {nudge}");
    assert!(attempts <= 1, "{moment:?}: {nudge}");
    assert!(
        nudge["status"] == "finished" || nudge["statusReason"] != "retry",
        "{moment:?}: a lost call is not repeated: {nudge}"
    );
    assert_eq!(office.shown().await["reservedMinor"], 0, "{moment:?}: a hold was left behind");
    told_once(moment, &office, &receiver, calls).await;
    // No line is left behind: the only one that is allowed from now on is free.
    office
        .client
        .operator(
            "PATCH",
            &format!("/workspaces/{}", office.workspace),
            &json!({"limits": {"concurrentCalls": 1}}),
        )
        .await;
    let id = office.place("+919812300099").await;
    assert_eq!(office.ended(&id).await["endCause"], "busy", "{moment:?}");
}

fn dialled_once(moment: Moment, exchange: &Exchange, calls: &[Value], acknowledged: &BTreeSet<String>) {
    let mut by_number: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for call in calls {
        by_number.entry(call["toNumber"].as_str().unwrap()).or_default().push(call);
    }
    for (number, rows) in &by_number {
        assert_eq!(rows.len(), 1, "{moment:?}: {number}");
    }
    for (number, invites) in &exchange.seen().invites {
        assert_eq!(invites.len(), 1, "{moment:?}: {number} was dialled more than once: {invites:?}");
        // The intent was stored before the INVITE.
        assert!(
            by_number.contains_key(number.as_str()),
            "{moment:?}: {number} was dialled and is not written down"
        );
    }
    for id in acknowledged {
        assert!(calls.iter().any(|call| call["id"] == json!(id)), "{moment:?}: {id} was acknowledged");
    }
}

/// Every call that anybody may have heard has told of its end once, and of its beginning when there was one.
async fn told_once(moment: Moment, office: &Office, receiver: &Receiver, calls: &[Value]) {
    let mut owed = BTreeMap::new();
    for call in calls {
        let id = text(&call["id"]);
        let call = office.get(&format!("/v1/calls/{id}")).await;
        let answered = !call["answeredAt"].is_null();
        let end = match (call["endCause"] == "possibly_placed", answered) {
            (true, _) => None,
            (false, true) => Some("call.completed"),
            (false, false) => Some("call.failed"),
        };
        let kinds: Vec<&str> = answered.then_some("call.started").into_iter().chain(end).collect();
        owed.insert(id, kinds);
    }
    let told = || {
        let mut told: BTreeMap<String, BTreeSet<(String, String)>> = BTreeMap::new();
        for got in receiver.got() {
            let event = got.json();
            if let (Some(id), Some(kind)) = (event["data"]["callId"].as_str(), event["type"].as_str())
                && matches!(kind, "call.started" | "call.completed" | "call.failed")
            {
                // A delivery whose answer was lost with the process is repeated under the same id.
                told.entry(id.to_owned()).or_default().insert((kind.to_owned(), text(&event["id"])));
            }
        }
        told
    };
    let count: usize = owed.values().map(Vec::len).sum();
    let mut pace = tokio::time::interval(Duration::from_millis(50));
    let waiting = async {
        while told().values().map(BTreeSet::len).sum::<usize>() < count {
            pace.tick().await;
        }
    };
    let waited = tokio::time::timeout(PATIENCE, waiting).await;
    let told = told();
    assert!(waited.is_ok(), "{moment:?}: owed {owed:?}, told {told:?}");
    for (id, kinds) in &owed {
        let mut heard: Vec<&str> =
            told.get(id).into_iter().flatten().map(|(kind, _)| kind.as_str()).collect();
        heard.sort_unstable_by_key(|kind| *kind != "call.started");
        assert_eq!(&heard, kinds, "{moment:?}: {id}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_node_leaves_no_call_behind_and_dials_nobody_twice() {
    let mut seed = std::env::var("CRASH_SEED")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(u64::from(std::process::id()));
    println!("CRASH_SEED={seed}");
    let mut moment = || Moment::Datagrams(1 + next(&mut seed) % 11);
    // Leases run out in real time; all wait for theirs side by side.
    tokio::join!(
        survive(Moment::Datagrams(0)),
        survive(moment()),
        survive(moment()),
        survive(Moment::Talking)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hang_up_at_one_node_ends_the_call_of_another_on_postgres() {
    needs_postgres();
    let (database, exchange) = (fresh_database().await, Exchange::start().await);
    let folders = [Folder::new(), Folder::new()];
    let more = [("DASTAK_DATABASE_URL", database.as_str())];
    let (one, other) = (serve(&folders[0].0, &exchange, &more), serve(&folders[1].0, &exchange, &more));
    let office = Office::open(&one.client).await;
    let there = office.at(&other);
    let (talking, ringing) = (office.place("+919812300014").await, office.place("+919812300013").await);
    there.talks(&talking).await;
    for id in [&talking, &ringing] {
        let (status, _, answer) = there
            .send("POST", &format!("/v1/calls/{id}/hangup"), &Value::Null)
            .await
            .expect("the node answers");
        assert!((200..300).contains(&status), "{answer}");
    }
    let line = exchange.seen().call_id("+919812300014").expect("dialled");
    exchange.until("BYE", |seen| seen.byes.contains(&line)).await;
    let (talked, rang) = (there.ended(&talking).await, there.ended(&ringing).await);
    talked.shows(json!({"status": "completed", "endCause": "api_hangup"}));
    assert_eq!((&rang["status"], &rang["endCause"]), (&json!("cancelled"), &json!("api_hangup")), "{rang}");
    assert_eq!(office.shown().await["reservedMinor"], 0);
}

/// What a stop does to a call that talks: the callee hangs up meanwhile, or nobody does until the grace is
/// over.
async fn stopped(grace: &str, callee_leaves: bool) -> Value {
    let (folder, exchange) = (Folder::new(), Exchange::start().await);
    // However long the disk takes to store the calls below, this one does not end for want of sound.
    exchange.stay_quiet();
    let mut node = serve(&folder.0, &exchange, &[("DASTAK_SHUTDOWN_GRACE", grace)]);
    let office = Office::open(&node.client).await;
    let id = office.place("+919812300014").await;
    office.talks(&id).await;
    node.signal("TERM");
    // From some moment on nothing is placed; calls placed before it are dialled and end like the first.
    let mut number = 31_000_u32;
    while let Some((200, ..)) = office.try_place(&format!("+919812{number:05}0")).await {
        number += 1;
    }
    let dialled = exchange.seen().invites.len();
    let line = exchange.seen().call_id("+919812300014").expect("dialled");
    if callee_leaves {
        exchange.hang_up(&line).await;
    }
    assert_eq!(exit_code(&mut node).await, Some(0));
    assert_eq!(exchange.seen().invites.len(), dialled, "nobody is dialled while the service stops");
    assert_eq!(exchange.seen().byes.contains(&line), !callee_leaves);
    drop(node);
    let node = serve(&folder.0, &exchange, &[]);
    let office = office.at(&node);
    // It was stored before the process ended: nobody waits for a lease.
    let call = office.get(&format!("/v1/calls/{id}")).await;
    assert_eq!(call["state"], "ended", "{call}");
    assert_eq!(office.shown().await["reservedMinor"], 0);
    call
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_lets_calls_end_or_ends_them_on_sqlite() {
    needs_sqlite();
    let (left, cut) = tokio::join!(stopped("60", true), stopped("2", false));
    left.shows(json!({"status": "completed", "endCause": "caller_hangup"}));
    assert_eq!((&cut["status"], &cut["endCause"]), (&json!("completed"), &json!("error")), "{cut}");
}
