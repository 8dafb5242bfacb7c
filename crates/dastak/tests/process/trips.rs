//! How many statements and turns on the wire to PostgreSQL things take, one after the other. What waits together
//! takes less. The bounds leave room for a busy machine, where more looks of the jobs fall into the count.

use serde_json::{Value, json};

use crate::dialler::{clock, furnish, noon, post};
use crate::node::{Folder, Node, fresh_database, needs_postgres};
use crate::receiver::Receiver;
use crate::wire::Wire;

/// How many of each kind are counted.
const EACH: usize = 40;

#[tokio::test(flavor = "multi_thread")]
async fn events_and_nudges_take_few_turns_on_postgres() {
    needs_postgres();
    let wire = Wire::to(&fresh_database().await).await;
    let folder = Folder::new();
    let node = Node::start(
        &folder.0,
        &[
            ("DASTAK_DATABASE_URL", &wire.url),
            ("DASTAK_CLOCK", "manual"),
            ("DASTAK_TELEPHONY__CARRIER", "sandbox"),
            ("DASTAK_WEBHOOKS__ALLOW_INSECURE", "true"),
        ],
    );
    let client = &node.client;
    let (_, key, agent) = furnish(client, &noon()).await;
    let settle = async || clock(client, &json!({"advanceSeconds": 900})).await.expect("a clock");
    // (statements, turns) a piece of what `work` does so many times, after it was done as often without counting.
    let measure = async |name: &str, most: (usize, usize), work: &dyn Fn(usize) -> Work| {
        for number in 0..EACH {
            work(number).await;
        }
        settle().await;
        let (_, seen) = wire
            .seen(async {
                for number in EACH..2 * EACH {
                    work(number).await;
                }
                settle().await;
            })
            .await;
        let (statements, turns) = (seen.statements as f64 / EACH as f64, seen.turns as f64 / EACH as f64);
        println!("| {name} | {statements:.1} | {turns:.1} |");
        assert!(
            statements <= most.0 as f64 && turns <= most.1 as f64,
            "{name}: {statements:.1} statements, {turns:.1} turns"
        );
    };
    measure("a read with a key", (4, 4), &|_| {
        let (client, key) = (client.clone(), key.clone());
        Box::pin(async move {
            let answer = client.send("GET", "/v1/me", &key, &[], &Value::Null).await.expect("an answer");
            assert_eq!(answer.0, 200);
        })
    })
    .await;
    let nobody = |name: &'static str| {
        let (client, key) = (client.clone(), key.clone());
        move |_| -> Work {
            let (client, key) = (client.clone(), key.clone());
            Box::pin(async move {
                let body = json!({"type": "call.completed"});
                let sent = client.send("POST", "/v1/events/trigger", &key, &[], &body).await;
                assert_eq!(sent.expect("an answer").0, 202, "{name}");
            })
        }
    };
    measure("an event without an endpoint", (9, 6), &nobody("without")).await;
    let receiver = Receiver::ok().await;
    post(client, &key, "/v1/webhooks", "w", &json!({"url": receiver.url})).await;
    measure("an event accepted and delivered", (18, 12), &nobody("with")).await;
    assert!(receiver.got().len() >= EACH);
    let answer = client.send("GET", "/v1/webhooks", &key, &[], &Value::Null).await.expect("an answer");
    let endpoint = answer.2["data"][0]["id"].as_str().expect("an endpoint").to_owned();
    client.send("DELETE", &format!("/v1/webhooks/{endpoint}"), &key, &[], &Value::Null).await;
    let nudge = |first: usize, at: Option<String>| {
        let (client, key, agent) = (client.clone(), key.clone(), agent.clone());
        move |number: usize| -> Work {
            let (client, key) = (client.clone(), key.clone());
            let to = format!("+9198{:08}", first + number * 10);
            let mut body = json!({"agentId": agent, "toNumber": to});
            if let Some(at) = &at {
                body["scheduledAt"] = json!(at);
            }
            Box::pin(async move {
                let once = [("idempotency-key", to.as_str())];
                let answer = client.send("POST", "/v1/nudges", &key, &once, &body).await.expect("an answer");
                assert!([201, 202].contains(&answer.0), "{}", answer.2);
            })
        }
    };
    measure("a nudge for tomorrow", (40, 30), &nudge(10_000_000, Some(tomorrow()))).await;
    measure("a nudge dialled to its end", (180, 120), &nudge(20_000_000, None)).await;
}

/// A day after the clock's noon.
fn tomorrow() -> String {
    let noon: domain::time::Timestamp = serde_json::from_value(noon().into()).expect("a moment");
    noon.plus(domain::time::DAY).to_string()
}

type Work = std::pin::Pin<Box<dyn Future<Output = ()>>>;
