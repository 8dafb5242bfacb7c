//! One phone is rung by one call of a workspace at a time: what waits its turn – rows of campaigns, nudges, calls at a set
//! time – waits until a live call with the number is over (docs/dialler.md#one-call-at-a-time).

use serde_json::{Value, json};

use crate::campaign_dialling::{Kit, NOON, shown};
use crate::scheduled_calls::{MORNING, Stage};

/// Answers and talks for eight seconds.
const TALKS: &str = "+919812340001";
const OTHER: &str = "+919812340002";

/// The calls to a number, the first one first; none of them begins before the one before it is over.
fn one_after_the_other(calls: &[Value], number: &str) -> usize {
    let mut of_number: Vec<&Value> =
        calls.iter().filter(|call| call["toNumber"] == number && call["state"] != "blocked").collect();
    of_number.sort_by_key(|call| call["startedAt"].as_str().unwrap().to_owned());
    for pair in of_number.windows(2) {
        let (ended, next) = (pair[0]["endedAt"].as_str(), pair[1]["startedAt"].as_str());
        assert!(ended.is_some() && ended <= next, "two calls at once: {pair:?}");
    }
    of_number.len()
}

async fn nudge(kit: &Kit, to: &str, due: &str) -> Value {
    let body = json!({"agentId": kit.agent, "toNumber": to, "scheduledAt": due});
    kit.app.post_with(&kit.workspace.live, "/v1/nudges", &[("idempotency-key", to)], &body).await.data(201)
}

async fn calls(kit: &Kit) -> Vec<Value> {
    kit.get("/v1/calls?limit=200").await["data"].as_array().unwrap().clone()
}

#[tokio::test]
async fn two_campaigns_and_a_nudge_at_the_same_moment_ring_a_phone_one_after_the_other() {
    let kit = Kit::start().await;
    let due = "2027-03-01T06:31:00Z";
    let nudge = nudge(&kit, TALKS, due).await;
    let settings = json!({"startAt": due});
    let first = kit.campaign(&settings, &[TALKS, OTHER]).await;
    let second = kit.campaign(&settings, &[TALKS]).await;
    kit.app.set_clock(due).await;
    assert_eq!(one_after_the_other(&calls(&kit).await, TALKS), 1, "one of the three is first");
    assert_eq!(one_after_the_other(&calls(&kit).await, OTHER), 1, "nobody else waits");
    let waiting = [kit.row(&first).await, kit.row(&second).await];
    assert_eq!(waiting.iter().map(shown).collect::<Vec<_>>(), ["queued - 0 -", "queued - 0 -"]);
    kit.app.advance(120).await;
    assert_eq!(one_after_the_other(&calls(&kit).await, TALKS), 3, "each of them in the end");
    for id in [&first, &second] {
        assert_eq!(shown(&kit.row(id).await), "reached completed 1 -");
        assert_eq!(kit.status(id).await, "completed");
    }
    let path = format!("/v1/nudges/{}", nudge["id"].as_str().unwrap());
    assert_eq!(kit.get(&path).await["data"]["result"], "connected");
}

#[tokio::test]
async fn a_nudge_to_somebody_who_talks_is_held_and_keeps_no_line_from_others() {
    let kit = Kit::start().await;
    kit.change(&json!({"limits": {"concurrentCalls": 2}})).await;
    let body = json!({"agentId": kit.agent, "toNumber": TALKS});
    kit.app.post(&kit.workspace.live, "/v1/calls", &body).await.expect(200);
    let waits = nudge(&kit, TALKS, "2027-03-01T06:30:01Z").await;
    let path = format!("/v1/nudges/{}", waits["id"].as_str().unwrap());
    kit.app.advance(2).await;
    let held = kit.get(&path).await["data"].clone();
    assert_eq!(
        (&held["status"], &held["statusReason"], &held["attempts"], &held["nextAttemptAt"]),
        (&json!("scheduled"), &json!("concurrency_full"), &json!(0), &json!("2027-03-01T06:30:31.000Z"))
    );
    // The second line is for whoever comes.
    let id = kit.campaign(&json!({}), &[OTHER]).await;
    assert_eq!(shown(&kit.row(&id).await), "in_progress ringing 1 -");
    // The client's own word is placed.
    kit.change(&json!({"limits": {"concurrentCalls": 9}})).await;
    kit.app.post(&kit.workspace.live, "/v1/calls", &body).await.expect(200);
    kit.app.advance(60).await;
    assert_eq!(kit.get(&path).await["data"]["result"], "connected");
    let told = kit.events("nudge.scheduled").await;
    assert_eq!(told.len(), 2, "for its time, and once for the hold");
    assert_eq!(told[1]["data"]["statusReason"], "concurrency_full");
}

#[tokio::test]
async fn calls_at_the_same_set_time_ring_a_phone_one_after_the_other() {
    let stage = Stage::new().await;
    let at = "2027-01-05T05:30:00Z";
    let mut made = Vec::new();
    for _ in 0..3 {
        made.push(stage.schedule(TALKS, at).await);
    }
    stage.app.set_clock(at).await;
    let mut placed = 0;
    for id in &made {
        let call = stage.get(id).await;
        if call["status"] == "placed" {
            placed += 1;
        } else {
            Stage::is(&call, "scheduled", json!("concurrency_full"), 0, json!("2027-01-05T05:30:30.000Z"));
        }
    }
    assert_eq!((placed, one_after_the_other(&stage.calls().await, TALKS)), (1, 1));
    stage.app.advance(90).await;
    for id in &made {
        let call = stage.get(id).await;
        assert_eq!((&call["status"], &call["attempts"]), (&json!("placed"), &json!(1)), "waiting is no try");
    }
    assert_eq!(one_after_the_other(&stage.calls().await, TALKS), 3);
    assert!(MORNING < at);
}

#[tokio::test]
async fn a_list_is_not_replaced_while_its_people_are_called() {
    let kit = Kit::start().await;
    let id = kit.campaign(&json!({}), &[TALKS, "+919812340000"]).await;
    kit.set(&id, "paused").await.expect(200);
    let path = format!("/v1/campaigns/{id}/contacts");
    let rows = json!({"contacts": [{"phone": TALKS}]});
    let replace = async || kit.app.post(&kit.workspace.live, &path, &rows).await;
    replace().await.refused(409, "conflict");
    let imports = format!("/workspaces/{}/campaigns/{id}/list-imports", kit.workspace.id);
    let import =
        kit.app.operator("POST", &imports, &Value::Null).await.expect(201)["data"]["importId"].clone();
    let piece = json!({"after": 0, "contacts": [{"phone": TALKS}]});
    kit.app.operator("POST", &format!("{imports}/{import}/rows"), &piece).await.expect(200);
    let finish = format!("{imports}/{import}/finish");
    kit.app.operator("POST", &finish, &Value::Null).await.refused(409, "conflict");
    assert_eq!(kit.rows(&id).await.len(), 2, "nothing was changed");
    kit.set(&id, "active").await.expect(200);
    kit.app.advance(5).await;
    assert_eq!(one_after_the_other(&kit.calls(&id).await, TALKS), 1);
    kit.set(&id, "paused").await.expect(200);
    // The calls are over.
    kit.app.advance(60).await;
    replace().await.expect(200);
    kit.set(&id, "active").await.expect(200);
    kit.app.advance(60).await;
    assert_eq!(one_after_the_other(&kit.calls(&id).await, TALKS), 2);
    assert!(NOON < kit.app.now().await.as_str());
}
