//! SIGKILL at random moments while nudges are dialled: every one ends once, with one call for each attempt,
//! and no money stays held.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use domain::time::{SECOND, Timestamp};
use serde_json::{Value, json};

use crate::faults::Wire;
use crate::node::{Client, Folder, Node, TOKEN, fresh_database, needs_postgres, on_postgres};
use crate::nodes::MASTER_KEY;

/// Rounds of kill and restart; `CRASH_ROUNDS` for more.
fn rounds() -> u64 {
    std::env::var("CRASH_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(5)
}

/// Next number of a sequence that its seed determines.
fn next(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *seed >> 33
}

pub async fn post(client: &Client, key: &str, path: &str, once: &str, body: &Value) -> Value {
    let (status, _, answer) =
        client.send("POST", path, key, &[("idempotency-key", once)], body).await.expect("the node answers");
    assert!((200..300).contains(&status), "{path}: {status} {answer}");
    answer["data"].clone()
}

pub async fn clock(client: &Client, body: &Value) -> Option<String> {
    let (_, _, answer) = client.send("POST", "/dev/clock", TOKEN, &[], body).await?;
    answer["now"].as_str().map(str::to_owned)
}

/// Noon in India on the day after next: the manual clock of every start begins at the present, and the way
/// from there is short.
pub fn noon() -> String {
    let now =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970").as_secs();
    let noon = (now / 86_400 + 2) * 86_400 + 6 * 3600 + 1800;
    domain::time::Timestamp(i64::try_from(noon).expect("a moment") * 1000).to_string()
}

/// A workspace with money, a number and a published agent; its id, a key and the agent.
pub async fn furnish(client: &Client, noon: &str) -> (String, String, String) {
    clock(client, &json!({"set": noon})).await.expect("a clock");
    let (workspace, key) = client.workspace().await;
    let limits = json!({"limits": {"nudgesPerMinute": 100_000, "concurrentCalls": 6}});
    client.operator("PATCH", &format!("/workspaces/{workspace}"), &limits).await;
    client
        .operator("POST", &format!("/workspaces/{workspace}/numbers"), &json!({"number": "+918022222222"}))
        .await;
    let money = json!({"kind": "topup", "amountMinor": 1_000_000, "reference": "r"});
    client.operator("POST", &format!("/workspaces/{workspace}/wallet/entries"), &money).await;
    let agent = post(client, &key, "/v1/agents", "a", &json!({"name": "Asha"})).await["id"]
        .as_str()
        .unwrap()
        .to_owned();
    post(client, &key, &format!("/v1/agents/{agent}/status"), "s", &json!({"status": "active"})).await;
    (workspace, key, agent)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_dialler_dials_nobody_twice() {
    let mut seed = std::env::var("CRASH_SEED")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(u64::from(std::process::id()));
    println!("CRASH_SEED={seed}");
    let folder = Folder::new();
    let url = if on_postgres() { Some(fresh_database().await) } else { None };
    let mut environment = vec![("DASTAK_CLOCK", "manual"), ("DASTAK_TELEPHONY__CARRIER", "sandbox")];
    environment.extend(url.iter().map(|url| ("DASTAK_DATABASE_URL", url.as_str())));
    let mut node = Node::start(&folder.0, &environment);
    let noon = noon();
    let (workspace, key, agent) = furnish(&node.client, &noon).await;
    let mut made = Vec::new();
    for number in 0..40 {
        let last =
            ["0000", "1111", "3333", "4444", "5555", "6666", "8888", "9999", "0042", "0043"][number % 10];
        let body = json!({"agentId": agent, "toNumber": format!("+9198{:04}{last}", 1000 + number), "retry": {"maxRetries": 2, "delayMinutes": 10}});
        made.push(post(&node.client, &key, "/v1/nudges", &number.to_string(), &body).await);
    }
    let reached = Arc::new(Mutex::new(noon));
    for round in 0..rounds() {
        let (client, seen) = (node.client.clone(), reached.clone());
        let step = 1 + next(&mut seed) % 240;
        let moving = tokio::spawn(async move {
            while let Some(now) = clock(&client, &json!({"advanceSeconds": step})).await {
                *seen.lock().unwrap() = now;
            }
        });
        tokio::time::sleep(Duration::from_millis(30 + next(&mut seed) % 250)).await;
        node.kill();
        moving.await.expect("the clock's mover ends with the node");
        node = Node::start(&folder.0, &environment);
        let now = reached.lock().unwrap().clone();
        clock(&node.client, &json!({"set": now})).await.unwrap_or_else(|| panic!("round {round}"));
    }
    // Nothing waits longer than a day.
    clock(&node.client, &json!({"advanceSeconds": 25 * 3600})).await.expect("a clock");
    let calls = all_calls(&node.client, &key).await;
    for nudge in &made {
        assert_over(&node.client, &key, nudge, &calls).await;
    }
    let (_, _, shown) = node.client.operator("GET", &format!("/workspaces/{workspace}"), &Value::Null).await;
    assert_eq!(shown["data"]["reservedMinor"], 0, "a hold was left behind");
}

/// Moves the clocks of both nodes side by side; the steps are shorter than a lease, as the clocks of real
/// nodes are closer than that.
async fn move_both(clients: [Client; 2], from: Timestamp, steps: i64) -> Timestamp {
    let mut now = from;
    for _ in 0..steps {
        now = now.plus(20 * SECOND);
        let body = json!({"set": now});
        tokio::join!(clock(&clients[0], &body), clock(&clients[1], &body));
    }
    now
}

#[tokio::test(flavor = "multi_thread")]
async fn two_nodes_one_killed_and_one_cut_off_dial_nobody_twice_on_postgres() {
    needs_postgres();
    let mut seed = std::env::var("CRASH_SEED")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(u64::from(std::process::id()));
    println!("CRASH_SEED={seed}");
    let database = fresh_database().await;
    let wire = Wire::to(&database).await;
    let folders = [Folder::new(), Folder::new()];
    let start = |folder: &Folder, url: &str| {
        let environment = [
            ("DASTAK_CLOCK", "manual"),
            ("DASTAK_TELEPHONY__CARRIER", "sandbox"),
            ("DASTAK_DATABASE_URL", url),
            ("DASTAK_MASTER_KEY", MASTER_KEY),
        ];
        Node::start(&folder.0, &environment)
    };
    let (mut one, other) = (start(&folders[0], &database), start(&folders[1], &wire.url));
    let noon = noon();
    let (workspace, key, agent) = furnish(&one.client, &noon).await;
    let mut now = Timestamp::parse(&noon).expect("a moment");
    clock(&other.client, &json!({"set": now})).await.expect("a clock");
    let mut made = Vec::new();
    for number in 0..60 {
        let last =
            ["0000", "1111", "3333", "4444", "5555", "6666", "8888", "9999", "0042", "0043"][number % 10];
        let body = json!({"agentId": agent, "toNumber": format!("+9197{:04}{last}", 1000 + number), "retry": {"maxRetries": 2, "delayMinutes": 10}});
        made.push(
            post(
                if number % 2 == 0 { &one.client } else { &other.client },
                &key,
                "/v1/nudges",
                &number.to_string(),
                &body,
            )
            .await,
        );
    }
    for round in 0..rounds() * 2 {
        let moving = tokio::spawn(move_both([one.client.clone(), other.client.clone()], now, 30));
        tokio::time::sleep(Duration::from_millis(20 + next(&mut seed) % 300)).await;
        if round % 2 == 0 {
            one.kill();
            now = moving.await.expect("the clocks moved");
            one = start(&folders[0], &database);
            clock(&one.client, &json!({"set": now})).await.expect("a clock");
        } else {
            wire.set(false);
            tokio::time::sleep(Duration::from_millis(20 + next(&mut seed) % 200)).await;
            wire.set(true);
            now = moving.await.expect("the clocks moved");
            other
                .client
                .until("GET", "/readyz", |answer| answer.as_ref().is_some_and(|(status, ..)| *status == 200))
                .await;
        }
    }
    other.kill();
    // Nothing waits longer than a day.
    clock(&one.client, &json!({"advanceSeconds": 25 * 3600})).await.expect("a clock");
    let calls = all_calls(&one.client, &key).await;
    for nudge in &made {
        assert_over(&one.client, &key, nudge, &calls).await;
    }
    let (_, _, shown) = one.client.operator("GET", &format!("/workspaces/{workspace}"), &Value::Null).await;
    assert_eq!(shown["data"]["reservedMinor"], 0, "a hold was left behind");
}

/// Every call that was dialled, by its number.
async fn all_calls(client: &Client, key: &str) -> BTreeMap<String, Vec<String>> {
    let mut calls: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut cursor = String::new();
    loop {
        let (_, _, page) = client
            .send("GET", &format!("/v1/calls?limit=200&cursor={cursor}"), key, &[], &Value::Null)
            .await
            .expect("the node answers");
        for call in page["data"].as_array().expect("calls") {
            if call["state"] != "blocked" {
                calls
                    .entry(call["toNumber"].as_str().unwrap().to_owned())
                    .or_default()
                    .push(call["id"].as_str().unwrap().to_owned());
            }
        }
        match page["nextCursor"].as_str() {
            Some(next) => cursor = next.to_owned(),
            None => return calls,
        }
    }
}

async fn assert_over(client: &Client, key: &str, nudge: &Value, calls: &BTreeMap<String, Vec<String>>) {
    let path = format!("/v1/nudges/{}", nudge["id"].as_str().unwrap());
    let (_, _, shown) = client.send("GET", &path, key, &[], &Value::Null).await.expect("the node answers");
    let shown = &shown["data"];
    assert_eq!(shown["status"], "finished", "{shown}");
    let attempts = usize::try_from(shown["attempts"].as_u64().unwrap()).unwrap();
    let dialled = calls.get(shown["toNumber"].as_str().unwrap()).map_or(0, Vec::len);
    assert_eq!((attempts, shown["attemptsList"].as_array().unwrap().len()), (dialled, dialled), "{shown}");
    let last4 = &shown["toNumber"].as_str().unwrap()[9..];
    let (result, most) = match last4 {
        "0000" => ("no_answer", 3),
        "1111" => ("busy", 3),
        "3333" => ("voicemail", 1),
        "4444" | "5555" | "9999" => ("failed", 1),
        "6666" => ("expired", 0),
        "8888" => ("failed", 3),
        _ => ("connected", 1),
    };
    // A dial whose answer was lost with the process is not repeated where the carrier cannot tell.
    assert!(attempts <= most, "{shown}");
    assert_eq!(shown["result"], result, "{shown}");
}
