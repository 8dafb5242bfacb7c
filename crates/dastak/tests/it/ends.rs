//! Calls that end at the same moment: on PostgreSQL they share transactions, and what they need is read together. What
//! comes of each is the same as if it had been alone (docs/contract/calls.md, docs/contract/nudges.md).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::app::TestApp;
use crate::world::World;

/// Ends of numbers: what the sandbox does with them.
const DIGITS: [&str; 5] = ["1234", "1111", "3333", "7777", "8888"];

/// A number that ends so.
fn number(n: usize, digits: &str) -> String {
    format!("+919{:05}{digits}", 70_000 + n)
}

/// What is told of a nudge, without what names it: types of events, lines of the timeline, how it ended.
async fn story(world: &World, nudge: &Value) -> Value {
    let timeline: Vec<Value> = world
        .nudge_timeline(nudge)
        .await
        .iter()
        .filter(|line| line["event"] != "due")
        .map(|line| json!([line["event"], line["decision"], line["status"], line["reason"]]))
        .collect();
    let now = world.show_nudge(nudge).await;
    let finished = world.nudge_events(nudge).await.pop().expect("an event").1;
    let attempt = &finished["attempt"];
    let told =
        json!([attempt["endCause"], attempt["outcome"], attempt["extracted"], attempt["durationSeconds"]]);
    assert_eq!(attempt["callId"], now["callId"]);
    json!({
        "events": world.nudge_kinds(nudge).await,
        "timeline": timeline,
        "end": [now["status"], now["result"], now["attempts"]],
        "told": told,
    })
}

/// The ledger adds up line by line, and nothing is held any more.
async fn ledger_adds_up(app: &TestApp, key: &str, workspace: &str) {
    let page = app.get(key, "/v1/wallet/transactions?limit=200").await.expect(200);
    let mut lines = page["data"].as_array().unwrap().clone();
    lines.reverse();
    let (mut balance, mut references) = (0, BTreeSet::new());
    for line in &lines {
        balance += line["amountMinor"].as_i64().unwrap();
        assert_eq!(line["balanceAfterMinor"], balance, "{line}");
        assert!(references.insert(line["reference"].to_string()), "charged twice: {line}");
    }
    let view = app.operator("GET", &format!("/workspaces/{workspace}"), &Value::Null).await.expect(200);
    let money = (&view["data"]["balanceMinor"], &view["data"]["reservedMinor"]);
    assert_eq!(money, (&json!(balance), &json!(0)));
}

#[tokio::test]
async fn nudges_whose_calls_end_together_end_as_if_each_were_alone() {
    let world = World::monday().await;
    let mut alone = BTreeMap::new();
    for (n, digits) in DIGITS.iter().enumerate() {
        let nudge = world.nudge(&number(n, digits), &json!({})).await;
        // The looks come at the times of the call.
        for _ in 0..20 {
            world.advance(1).await;
        }
        alone.insert(*digits, story(&world, &nudge).await);
    }
    assert_eq!(alone["1234"]["end"], json!(["finished", "connected", 1]), "{}", alone["1234"]);
    // Each step at its time; and late, all steps of a call in one look.
    for steps in [vec![1; 20], vec![20]] {
        let mut nudges = Vec::new();
        for n in 0..30 {
            let digits = DIGITS[n % DIGITS.len()];
            let to = number(100 * steps.len() + 10 + n, digits);
            nudges.push((digits, world.nudge(&to, &json!({})).await));
        }
        for seconds in steps {
            world.advance(seconds).await;
        }
        for (digits, nudge) in &nudges {
            assert_eq!(story(&world, nudge).await, alone[digits], "{digits}");
        }
        ledger_adds_up(&world.app, world.live(), &world.workspace.id).await;
    }
    let path = format!("/v1/agents/{}/board", world.agent);
    let board = world.data(&path).await;
    let cards: i64 = board["columns"].as_array().unwrap().iter().map(|c| c["count"].as_i64().unwrap()).sum();
    // Who was reached: those that talked, those that opted out, one alone and six of each burst.
    assert_eq!(cards, 2 * (1 + 6 + 6), "{board}");
}

#[tokio::test]
async fn two_calls_to_one_person_end_together() {
    let world = World::open().await;
    let key = world.live();
    let first = world.placed(key, "1234").await;
    let second = world.placed(key, "1234").await;
    world.advance(30).await;
    for id in [&first, &second] {
        let call = world.call(key, id).await;
        assert_eq!((&call["state"], &call["outcome"]), (&json!("ended"), &json!("simulated")), "{call}");
        assert!(!call["transcript"].as_array().unwrap().is_empty());
    }
    ledger_adds_up(&world.app, key, &world.workspace.id).await;
}

#[tokio::test]
async fn a_call_that_cannot_be_looked_at_holds_up_no_other() {
    let world = World::monday().await;
    let sick = world.agent(&json!({"name": "Sick"})).await;
    let body = |agent: &str, n| json!({"agentId": agent, "toNumber": number(n, "1234")});
    let mut placed = Vec::new();
    for n in 0..4 {
        let agent = if n == 1 { &sick } else { &world.agent };
        let call = world.post("/v1/calls", &body(agent, n)).await.expect(200);
        placed.push(call["interactionId"].as_str().unwrap().to_owned());
    }
    let set = async |flow: &'static str| {
        let (tenant, agent) = (world.workspace.id.clone(), sick.clone());
        let sql = format!("update agents set published_flow = {flow} where workspace = ?1 and id = ?2");
        let work =
            move |tx: &mut store::Tx<'_>| tx.exec(&sql, store::params![tenant.as_str(), agent.as_str()]);
        assert_eq!(world.app().store.tx(work).await, Ok::<_, store::DbError>(1));
    };
    let shown = async |n: usize| {
        let path = format!("/v1/calls/{}", placed[n]);
        world.data(&path).await
    };
    set("'flow_that_is_not_there'").await;
    world.advance(30).await;
    for n in [0, 2, 3] {
        assert_eq!(shown(n).await["state"], "ended");
    }
    assert_ne!(shown(1).await["state"], "ended");
    // Nothing of it was stored by the look that failed.
    set("draft_flow").await;
    world.advance(90).await;
    let call = shown(1).await;
    assert_eq!((&call["state"], &call["outcome"]), (&json!("ended"), &json!("simulated")), "{call}");
    ledger_adds_up(&world.app, world.live(), &world.workspace.id).await;
}
