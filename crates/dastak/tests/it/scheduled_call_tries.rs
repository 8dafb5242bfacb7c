//! What calls at a set time wait for when they are due, and what ends them (docs/contract/scheduled-calls.md#states), on
//! the manual clock.

use serde_json::{Value, json};

use crate::scheduled_calls::{MINUTE, MORNING, assert_scheduled};
use crate::world::{self, World};

#[tokio::test]
async fn outside_the_hours_it_moves_to_the_next_opening_without_a_try() {
    let world = World::morning().await;
    let id = world.schedule("+919812345678", "2027-01-05T22:00:00+05:30").await;
    world.set_clock("2027-01-05T22:00:00+05:30").await;
    assert_scheduled(
        &world.scheduled(&id).await,
        "scheduled",
        json!("outside_calling_window"),
        0,
        json!("2027-01-06T03:30:00.000Z"),
    );
    world.set_clock("2027-01-06T03:30:00Z").await;
    assert_scheduled(&world.scheduled(&id).await, "placed", Value::Null, 1, Value::Null);
}

#[tokio::test]
async fn an_empty_wallet_is_tried_three_times_fifteen_minutes_apart() {
    let world = World::morning().await;
    world.pay(-999_500).await;
    let id = world.schedule("+919812345678", MORNING).await;
    world.advance(1).await;
    assert_scheduled(
        &world.scheduled(&id).await,
        "scheduled",
        json!("insufficient_balance"),
        1,
        json!("2027-01-05T04:45:00.000Z"),
    );
    world.advance(15 * MINUTE).await;
    assert_scheduled(
        &world.scheduled(&id).await,
        "scheduled",
        json!("insufficient_balance"),
        2,
        json!("2027-01-05T05:00:00.000Z"),
    );
    let saved = world.schedule("+919812345679", "2027-01-05T04:46:00Z").await;
    world.advance(15 * MINUTE).await;
    assert_scheduled(&world.scheduled(&id).await, "failed", json!("insufficient_balance"), 3, Value::Null);
    world.pay(5_000).await;
    world.advance(15 * MINUTE).await;
    assert_scheduled(&world.scheduled(&saved).await, "placed", Value::Null, 2, Value::Null);
    assert_scheduled(&world.scheduled(&id).await, "failed", json!("insufficient_balance"), 3, Value::Null);
}

#[tokio::test]
async fn a_top_up_has_what_waits_for_money_tried_at_once() {
    let world = World::morning().await;
    let entry = |kind: &str, amount: i64| json!({"kind": kind, "amountMinor": amount, "reference": "r"});
    world.operator("POST", "/wallet/entries", entry("adjustment", -999_500)).await;
    let id = world.schedule("+919812345678", MORNING).await;
    world.advance(1).await;
    assert_eq!(world.scheduled(&id).await["reason"], "insufficient_balance");
    world.operator("POST", "/wallet/entries", entry("topup", 100_000)).await;
    world.advance(0).await;
    assert_scheduled(&world.scheduled(&id).await, "placed", Value::Null, 2, Value::Null);
}

#[tokio::test]
async fn full_lines_are_tried_again_in_fifteen_minutes() {
    let world = World::morning().await;
    world.operator("PATCH", "", json!({"limits": {"concurrentCalls": 1}})).await;
    let (one, other) = (
        world.schedule("+919812345678", "2027-01-05T05:00:00Z").await,
        world.schedule("+919812345679", "2027-01-05T05:00:00Z").await,
    );
    world.set_clock("2027-01-05T05:00:00Z").await;
    let (one, other) = (world.scheduled(&one).await, world.scheduled(&other).await);
    let (placed, held) = if one["status"] == "placed" { (one, other) } else { (other, one) };
    assert_scheduled(&placed, "placed", Value::Null, 1, Value::Null);
    assert_scheduled(&held, "scheduled", json!("concurrency_full"), 1, json!("2027-01-05T05:15:00.000Z"));
    world.advance(15 * MINUTE).await;
    assert_scheduled(
        &world.scheduled(held["id"].as_str().unwrap()).await,
        "placed",
        Value::Null,
        2,
        Value::Null,
    );
}

#[tokio::test]
async fn a_provider_error_before_any_ring_is_tried_three_times() {
    let world = World::morning().await;
    let id = world.schedule("+919812346666", MORNING).await;
    for (attempts, next) in [(1, "2027-01-05T04:45:00.000Z"), (2, "2027-01-05T05:00:00.000Z")] {
        world.advance(if attempts == 1 { 0 } else { 15 * MINUTE }).await;
        assert_scheduled(
            &world.scheduled(&id).await,
            "scheduled",
            json!("provider_error"),
            attempts,
            json!(next),
        );
    }
    world.advance(15 * MINUTE).await;
    assert_scheduled(&world.scheduled(&id).await, "failed", json!("provider_error"), 3, Value::Null);
    assert!(world.calls().await.is_empty(), "nobody was called");
    let wallet = world.operator("GET", "", Value::Null).await.json;
    assert_eq!(wallet["data"]["reservedMinor"], 0);
}

#[tokio::test]
async fn an_uncertain_dial_fails_and_is_never_repeated() {
    let world = World::morning().await;
    let id = world.schedule("+919812349999", MORNING).await;
    world.advance(1).await;
    assert_scheduled(&world.scheduled(&id).await, "failed", json!("possibly_placed"), 1, Value::Null);
    world.advance(24 * 60 * MINUTE).await;
    assert_scheduled(&world.scheduled(&id).await, "failed", json!("possibly_placed"), 1, Value::Null);
    assert_eq!(world.calls().await.len(), 1);
}

#[tokio::test]
async fn numbers_on_the_registry_or_opted_out_are_cancelled() {
    let world = World::morning().await;
    let listed = world.schedule("+919812342222", MORNING).await;
    let body = json!({"agentId": world.agent, "toNumber": "+919812347777"});
    world.post("/v1/calls", &body).await.expect(200);
    world.advance(30).await;
    let opted_out = world.schedule("+919812347777", "2027-01-05T05:00:00Z").await;
    world.set_clock("2027-01-05T05:00:00Z").await;
    assert_scheduled(&world.scheduled(&listed).await, "cancelled", json!("dnd"), 1, Value::Null);
    assert_scheduled(&world.scheduled(&opted_out).await, "cancelled", json!("opt_out"), 1, Value::Null);
    let blocked: Vec<Value> =
        world.calls().await.into_iter().filter(|call| call["state"] == "blocked").collect();
    assert_eq!(blocked.len(), 2, "a refused placement is listed");
}

#[tokio::test]
async fn anything_else_that_refuses_fails_it() {
    let world = World::morning().await;
    let own = world.get("/v1/numbers").await["data"][0].clone();
    let at = "2027-01-05T05:00:00Z";
    let unpublished = world.agent(&json!({"systemPrompt": "Hi."})).await;
    let deleted = world.agent(&json!({"systemPrompt": "Hi."})).await;
    let schedule = |change: Value| {
        let mut body = world.order("+919812345678", &json!({"scheduledAt": at}));
        body.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        let world = &world;
        async move { world.post_scheduled(&body).await.id(201) }
    };
    let rows = [
        (schedule(json!({"agentId": unpublished})).await, "agent_not_published"),
        (schedule(json!({"agentId": deleted})).await, "agent_not_found"),
        (schedule(json!({"fromNumber": own["number"]})).await, "from_number_unavailable"),
        (schedule(json!({})).await, "no_caller_id"),
    ];
    world.set_agent(&unpublished, "draft").await.expect(200);
    world.delete(&format!("/v1/agents/{deleted}")).await.expect(200);
    world.operator("DELETE", &format!("/numbers/{}", own["id"].as_str().unwrap()), Value::Null).await;
    world.set_clock(at).await;
    for (id, reason) in rows {
        assert_scheduled(&world.scheduled(&id).await, "failed", json!(reason), 1, Value::Null);
    }
}

#[tokio::test]
async fn frequency_and_the_workspace_are_checked_when_it_is_due() {
    let world = World::morning().await;
    for _ in 0..3 {
        let body = json!({"agentId": world.agent, "toNumber": "+919812345678"});
        world.post("/v1/calls", &body).await.expect(200);
        world.advance(MINUTE).await;
    }
    let often = world.schedule("+919812345678", "2027-01-05T05:00:00Z").await;
    let (unverified, suspended) = (
        world.schedule("+919812345679", "2027-01-05T05:30:00Z").await,
        world.schedule("+919812345679", "2027-01-05T06:00:00Z").await,
    );
    world.set_clock("2027-01-05T05:00:00Z").await;
    world.operator("PATCH", "", json!({"kybVerified": false})).await;
    world.set_clock("2027-01-05T05:30:00Z").await;
    world.operator("PATCH", "", json!({"kybVerified": true, "suspended": true})).await;
    world.set_clock("2027-01-05T06:00:00Z").await;
    world.operator("PATCH", "", json!({"suspended": false})).await;
    for (id, reason) in
        [(often, "frequency_cap"), (unverified, "kyb_required"), (suspended, "workspace_suspended")]
    {
        assert_scheduled(&world.scheduled(&id).await, "failed", json!(reason), 1, Value::Null);
    }
}

#[tokio::test]
async fn one_workspace_with_many_due_does_not_delay_another_with_one() {
    let world = World::morning().await;
    let at = "2027-01-05T06:30:00Z";
    for number in 0..300 {
        let body = world.order(&format!("+9198123{number:05}"), &json!({"scheduledAt": at}));
        world.app.post(world.test(), "/v1/scheduled-calls", &body).await.expect(201);
    }
    let lone = world.neighbour().await;
    let agent = lone.agent(&json!({"systemPrompt": "Hi."})).await;
    let body = json!({"agentId": agent, "toNumber": "+919812345678", "scheduledAt": at});
    let id = world.app.post(lone.test(), "/v1/scheduled-calls", &body).await.id(201);
    world.set_clock(at).await;
    let mine =
        world.app.get(lone.test(), &format!("/v1/scheduled-calls/{id}")).await.expect(200)["data"]["callId"]
            .as_str()
            .unwrap()
            .to_owned();
    let mut theirs = Vec::new();
    for offset in [0, 200] {
        let page = world
            .app
            .get(world.test(), &format!("/v1/scheduled-calls?status=placed&limit=200&offset={offset}"))
            .await
            .expect(200);
        theirs.extend(
            page["data"].as_array().unwrap().iter().map(|row| row["callId"].as_str().unwrap().to_owned()),
        );
    }
    assert_eq!(theirs.len(), 300);
    let before = theirs.iter().filter(|call| **call < mine).count();
    assert!(before <= 64, "{before} calls of the busy workspace came first");
}

/// A key of the world's workspace; its id and its value.
async fn key(world: &World, more: Value) -> (String, String) {
    let body = world::with(json!({"name": "desk", "mode": "live", "scopes": "all"}), &more);
    let made = world.operator("POST", "/keys", body).await.json["data"].clone();
    (made["id"].as_str().unwrap().to_owned(), made["key"].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn a_call_does_not_outlive_its_key() {
    let world = World::morning().await;
    let (id, revoked) = key(&world, json!({})).await;
    let at = "2027-01-05T05:30:00Z";
    let mut waiting = Vec::new();
    // More than one transaction ends.
    for number in 0..205 {
        let body = world.order(&format!("+9198123{number:05}"), &json!({"scheduledAt": at}));
        let made = world.app.post(&revoked, "/v1/scheduled-calls", &body).await.expect(201);
        waiting.push(made["data"]["id"].as_str().unwrap().to_owned());
    }
    let stays = world.schedule("+919812391234", at).await;
    world.operator("DELETE", &format!("/keys/{id}"), json!({})).await;
    for call in &waiting {
        assert_scheduled(&world.scheduled(call).await, "cancelled", json!("api_key_revoked"), 0, Value::Null);
    }
    world.advance(60 * MINUTE).await;
    assert_eq!(world.scheduled(&stays).await["status"], "placed");
    assert_eq!(world.calls().await.len(), 1, "nobody else was called");
    let timeline = world.get(&format!("/v1/scheduled-calls/{}/timeline", waiting[0])).await;
    assert_eq!(timeline["data"][1]["event"], "key_revoked");
}

#[tokio::test]
async fn a_key_that_ran_out_calls_nobody() {
    let world = World::morning().await;
    let (_, short) = key(&world, json!({"expiresAt": "2027-01-05T05:00:00Z"})).await;
    let at = "2027-01-05T05:30:00Z";
    let made = world
        .app
        .post(&short, "/v1/scheduled-calls", &world.order("+919812345678", &json!({"scheduledAt": at})))
        .await
        .expect(201);
    world.advance(60 * MINUTE).await;
    assert_scheduled(
        &world.scheduled(made["data"]["id"].as_str().unwrap()).await,
        "cancelled",
        json!("api_key_revoked"),
        0,
        Value::Null,
    );
    assert!(world.calls().await.is_empty());
}

#[tokio::test]
async fn due_calls_leave_the_clients_calls_of_a_minute_alone() {
    let world = World::morning().await;
    let limits = json!({"limits": {"callsPerMinute": 2}});
    world.change(&limits).await;
    let at = "2027-01-05T05:30:00Z";
    let mut calls = Vec::new();
    for number in 0..5 {
        calls.push(world.schedule(&format!("+91981234567{number}"), at).await);
    }
    world.set_clock(at).await;
    for call in &calls {
        assert_eq!(world.scheduled(call).await["status"], "placed", "lines pace them");
    }
    for number in ["+919812345681", "+919812345682"] {
        let now = json!({"agentId": world.agent, "toNumber": number});
        world.post("/v1/calls", &now).await.expect(200);
    }
    let now = json!({"agentId": world.agent, "toNumber": "+919812345683"});
    world.post("/v1/calls", &now).await.refused(429, "rate_limited");
    // The other way round: a client who has used up its minute delays no call that is due.
    let due = world.schedule("+919812345699", "2027-01-05T05:30:30Z").await;
    world.set_clock("2027-01-05T05:30:30Z").await;
    assert_eq!(world.scheduled(&due).await["status"], "placed");
}
