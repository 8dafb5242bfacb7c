//! One phone is rung by one call of a workspace at a time: what waits its turn – rows of campaigns, nudges, calls at a set
//! time – waits until a live call with the number is over (docs/dialler.md#one-call-at-a-time).

use serde_json::{Value, json};

use crate::scheduled_calls::{MORNING, assert_scheduled};
use crate::shows::Shows;
use crate::world::{NOON, World, shown_row};

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

async fn nudge(world: &World, to: &str, due: &str) -> Value {
    let body = json!({"agentId": world.agent, "toNumber": to, "scheduledAt": due});
    world.post_with(world.live(), "/v1/nudges", &[("idempotency-key", to)], &body).await.data(201)
}

async fn calls(world: &World) -> Vec<Value> {
    world.list("/v1/calls?limit=200").await
}

#[tokio::test]
async fn two_campaigns_and_a_nudge_at_the_same_moment_ring_a_phone_one_after_the_other() {
    let world = World::monday().await;
    let due = "2027-03-01T06:31:00Z";
    let nudge = nudge(&world, TALKS, due).await;
    let settings = json!({"startAt": due});
    let first = world.campaign(&settings, &[TALKS, OTHER]).await;
    let second = world.campaign(&settings, &[TALKS]).await;
    world.set_clock(due).await;
    assert_eq!(one_after_the_other(&calls(&world).await, TALKS), 1, "one of the three is first");
    assert_eq!(one_after_the_other(&calls(&world).await, OTHER), 1, "nobody else waits");
    let waiting = [world.row(&first).await, world.row(&second).await];
    assert_eq!(waiting.iter().map(shown_row).collect::<Vec<_>>(), ["queued - 0 -", "queued - 0 -"]);
    world.advance(120).await;
    assert_eq!(one_after_the_other(&calls(&world).await, TALKS), 3, "each of them in the end");
    for id in [&first, &second] {
        assert_eq!(shown_row(&world.row(id).await), "reached completed 1 -");
        assert_eq!(world.status(id).await, "completed");
    }
    let path = format!("/v1/nudges/{}", nudge["id"].as_str().unwrap());
    assert_eq!(world.get(&path).await["data"]["result"], "connected");
}

#[tokio::test]
async fn a_nudge_to_somebody_who_talks_is_held_and_keeps_no_line_from_others() {
    let world = World::monday().await;
    world.change(&json!({"limits": {"concurrentCalls": 2}})).await;
    let body = json!({"agentId": world.agent, "toNumber": TALKS});
    world.post("/v1/calls", &body).await.expect(200);
    let waits = nudge(&world, TALKS, "2027-03-01T06:30:01Z").await;
    let path = format!("/v1/nudges/{}", waits["id"].as_str().unwrap());
    world.advance(2).await;
    let held = world.data(&path).await;
    held.shows(json!({"status": "scheduled", "statusReason": "concurrency_full", "attempts": 0,
        "nextAttemptAt": "2027-03-01T06:30:31.000Z"}));
    // The second line is for whoever comes.
    let id = world.campaign(&json!({}), &[OTHER]).await;
    assert_eq!(shown_row(&world.row(&id).await), "in_progress ringing 1 -");
    // The client's own word is placed.
    world.change(&json!({"limits": {"concurrentCalls": 9}})).await;
    world.post("/v1/calls", &body).await.expect(200);
    world.advance(60).await;
    assert_eq!(world.get(&path).await["data"]["result"], "connected");
    let told = world.outbox_of("nudge.scheduled").await;
    assert_eq!(told.len(), 2, "for its time, and once for the hold");
    assert_eq!(told[1]["data"]["statusReason"], "concurrency_full");
}

#[tokio::test]
async fn calls_at_the_same_set_time_ring_a_phone_one_after_the_other() {
    let world = World::morning().await;
    let at = "2027-01-05T05:30:00Z";
    let mut made = Vec::new();
    for _ in 0..3 {
        made.push(world.schedule(TALKS, at).await);
    }
    world.set_clock(at).await;
    let mut placed = 0;
    for id in &made {
        let call = world.scheduled(id).await;
        if call["status"] == "placed" {
            placed += 1;
        } else {
            assert_scheduled(
                &call,
                "scheduled",
                json!("concurrency_full"),
                0,
                json!("2027-01-05T05:30:30.000Z"),
            );
        }
    }
    assert_eq!((placed, one_after_the_other(&world.calls().await, TALKS)), (1, 1));
    world.advance(90).await;
    for id in &made {
        let call = world.scheduled(id).await;
        assert_eq!((&call["status"], &call["attempts"]), (&json!("placed"), &json!(1)), "waiting is no try");
    }
    assert_eq!(one_after_the_other(&world.calls().await, TALKS), 3);
    assert!(MORNING < at);
}

#[tokio::test]
async fn a_list_is_not_replaced_while_its_people_are_called() {
    let world = World::monday().await;
    let id = world.campaign(&json!({}), &[TALKS, "+919812340000"]).await;
    world.set(&id, "paused").await.expect(200);
    let path = format!("/v1/campaigns/{id}/contacts");
    let rows = json!({"contacts": [{"phone": TALKS}]});
    let replace = async || world.post(&path, &rows).await;
    replace().await.conflict();
    let imports = format!("/workspaces/{}/campaigns/{id}/list-imports", world.workspace.id);
    let import =
        world.app.operator("POST", &imports, &Value::Null).await.expect(201)["data"]["importId"].clone();
    let piece = json!({"after": 0, "contacts": [{"phone": TALKS}]});
    world.app.operator("POST", &format!("{imports}/{import}/rows"), &piece).await.expect(200);
    let finish = format!("{imports}/{import}/finish");
    world.app.operator("POST", &finish, &Value::Null).await.conflict();
    assert_eq!(world.rows(&id).await.len(), 2, "nothing was changed");
    world.set(&id, "active").await.expect(200);
    world.advance(5).await;
    assert_eq!(one_after_the_other(&world.campaign_calls(&id).await, TALKS), 1);
    world.set(&id, "paused").await.expect(200);
    // The calls are over.
    world.advance(60).await;
    replace().await.expect(200);
    world.set(&id, "active").await.expect(200);
    world.advance(60).await;
    assert_eq!(one_after_the_other(&world.campaign_calls(&id).await, TALKS), 2);
    assert!(NOON < world.now().await.as_str());
}
