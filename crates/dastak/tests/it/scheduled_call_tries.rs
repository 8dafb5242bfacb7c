//! What calls at a set time wait for when they are due, and what ends them (docs/contract/scheduled-calls.md#states), on
//! the manual clock.

use serde_json::{Value, json};

use crate::agents::create_active;
use crate::scheduled_calls::{MINUTE, MORNING, Stage};

#[tokio::test]
async fn outside_the_hours_it_moves_to_the_next_opening_without_a_try() {
    let stage = Stage::new().await;
    let id = stage.schedule("+919812345678", "2027-01-05T22:00:00+05:30").await;
    stage.app.set_clock("2027-01-05T22:00:00+05:30").await;
    Stage::is(
        &stage.get(&id).await,
        "scheduled",
        json!("outside_calling_window"),
        0,
        json!("2027-01-06T03:30:00.000Z"),
    );
    stage.app.set_clock("2027-01-06T03:30:00Z").await;
    Stage::is(&stage.get(&id).await, "placed", Value::Null, 1, Value::Null);
}

#[tokio::test]
async fn an_empty_wallet_is_tried_three_times_fifteen_minutes_apart() {
    let stage = Stage::new().await;
    stage
        .operator(
            "POST",
            "/wallet/entries",
            json!({"kind": "adjustment", "amountMinor": -999_500, "reference": "r"}),
        )
        .await;
    let id = stage.schedule("+919812345678", MORNING).await;
    stage.app.advance(1).await;
    Stage::is(
        &stage.get(&id).await,
        "scheduled",
        json!("insufficient_balance"),
        1,
        json!("2027-01-05T04:45:00.000Z"),
    );
    stage.app.advance(15 * MINUTE).await;
    Stage::is(
        &stage.get(&id).await,
        "scheduled",
        json!("insufficient_balance"),
        2,
        json!("2027-01-05T05:00:00.000Z"),
    );
    let saved = stage.schedule("+919812345679", "2027-01-05T04:46:00Z").await;
    stage.app.advance(15 * MINUTE).await;
    Stage::is(&stage.get(&id).await, "failed", json!("insufficient_balance"), 3, Value::Null);
    stage
        .operator("POST", "/wallet/entries", json!({"kind": "topup", "amountMinor": 5_000, "reference": "r"}))
        .await;
    stage.app.advance(15 * MINUTE).await;
    Stage::is(&stage.get(&saved).await, "placed", Value::Null, 2, Value::Null);
    Stage::is(&stage.get(&id).await, "failed", json!("insufficient_balance"), 3, Value::Null);
}

#[tokio::test]
async fn a_top_up_has_what_waits_for_money_tried_at_once() {
    let stage = Stage::new().await;
    let entry = |kind: &str, amount: i64| json!({"kind": kind, "amountMinor": amount, "reference": "r"});
    stage.operator("POST", "/wallet/entries", entry("adjustment", -999_500)).await;
    let id = stage.schedule("+919812345678", MORNING).await;
    stage.app.advance(1).await;
    assert_eq!(stage.get(&id).await["reason"], "insufficient_balance");
    stage.operator("POST", "/wallet/entries", entry("topup", 100_000)).await;
    stage.app.advance(0).await;
    Stage::is(&stage.get(&id).await, "placed", Value::Null, 2, Value::Null);
}

#[tokio::test]
async fn full_lines_are_tried_again_in_fifteen_minutes() {
    let stage = Stage::new().await;
    stage.operator("PATCH", "", json!({"limits": {"concurrentCalls": 1}})).await;
    let (one, other) = (
        stage.schedule("+919812345678", "2027-01-05T05:00:00Z").await,
        stage.schedule("+919812345679", "2027-01-05T05:00:00Z").await,
    );
    stage.app.set_clock("2027-01-05T05:00:00Z").await;
    let (one, other) = (stage.get(&one).await, stage.get(&other).await);
    let (placed, held) = if one["status"] == "placed" { (one, other) } else { (other, one) };
    Stage::is(&placed, "placed", Value::Null, 1, Value::Null);
    Stage::is(&held, "scheduled", json!("concurrency_full"), 1, json!("2027-01-05T05:15:00.000Z"));
    stage.app.advance(15 * MINUTE).await;
    Stage::is(&stage.get(held["id"].as_str().unwrap()).await, "placed", Value::Null, 2, Value::Null);
}

#[tokio::test]
async fn a_provider_error_before_any_ring_is_tried_three_times() {
    let stage = Stage::new().await;
    let id = stage.schedule("+919812346666", MORNING).await;
    for (attempts, next) in [(1, "2027-01-05T04:45:00.000Z"), (2, "2027-01-05T05:00:00.000Z")] {
        stage.app.advance(if attempts == 1 { 0 } else { 15 * MINUTE }).await;
        Stage::is(&stage.get(&id).await, "scheduled", json!("provider_error"), attempts, json!(next));
    }
    stage.app.advance(15 * MINUTE).await;
    Stage::is(&stage.get(&id).await, "failed", json!("provider_error"), 3, Value::Null);
    assert!(stage.calls().await.is_empty(), "nobody was called");
    let wallet = stage.operator("GET", "", Value::Null).await;
    assert_eq!(wallet["data"]["reservedMinor"], 0);
}

#[tokio::test]
async fn an_uncertain_dial_fails_and_is_never_repeated() {
    let stage = Stage::new().await;
    let id = stage.schedule("+919812349999", MORNING).await;
    stage.app.advance(1).await;
    Stage::is(&stage.get(&id).await, "failed", json!("possibly_placed"), 1, Value::Null);
    stage.app.advance(24 * 60 * MINUTE).await;
    Stage::is(&stage.get(&id).await, "failed", json!("possibly_placed"), 1, Value::Null);
    assert_eq!(stage.calls().await.len(), 1);
}

#[tokio::test]
async fn numbers_on_the_registry_or_opted_out_are_cancelled() {
    let stage = Stage::new().await;
    let listed = stage.schedule("+919812342222", MORNING).await;
    let body = json!({"agentId": stage.agent, "toNumber": "+919812347777"});
    stage.app.post(&stage.workspace.live, "/v1/calls", &body).await.expect(200);
    stage.app.advance(30).await;
    let opted_out = stage.schedule("+919812347777", "2027-01-05T05:00:00Z").await;
    stage.app.set_clock("2027-01-05T05:00:00Z").await;
    Stage::is(&stage.get(&listed).await, "cancelled", json!("dnd"), 1, Value::Null);
    Stage::is(&stage.get(&opted_out).await, "cancelled", json!("opt_out"), 1, Value::Null);
    let blocked: Vec<Value> =
        stage.calls().await.into_iter().filter(|call| call["state"] == "blocked").collect();
    assert_eq!(blocked.len(), 2, "a refused placement is listed");
}

#[tokio::test]
async fn anything_else_that_refuses_fails_it() {
    let stage = Stage::new().await;
    let own = stage.app.get(&stage.workspace.live, "/v1/numbers").await.expect(200)["data"][0].clone();
    let at = "2027-01-05T05:00:00Z";
    let unpublished = create_active(&stage.app, &stage.workspace, &json!({"systemPrompt": "Hi."})).await;
    let deleted = create_active(&stage.app, &stage.workspace, &json!({"systemPrompt": "Hi."})).await;
    let schedule = |change: Value| {
        let mut body = stage.body("+919812345678", at);
        body.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        let stage = &stage;
        async move { stage.post(&body).await.id(201) }
    };
    let rows = [
        (schedule(json!({"agentId": unpublished})).await, "agent_not_published"),
        (schedule(json!({"agentId": deleted})).await, "agent_not_found"),
        (schedule(json!({"fromNumber": own["number"]})).await, "from_number_unavailable"),
        (schedule(json!({})).await, "no_caller_id"),
    ];
    stage
        .app
        .post(&stage.workspace.live, &format!("/v1/agents/{unpublished}/status"), &json!({"status": "draft"}))
        .await
        .expect(200);
    stage.app.delete(&stage.workspace.live, &format!("/v1/agents/{deleted}")).await.expect(200);
    stage.operator("DELETE", &format!("/numbers/{}", own["id"].as_str().unwrap()), Value::Null).await;
    stage.app.set_clock(at).await;
    for (id, reason) in rows {
        Stage::is(&stage.get(&id).await, "failed", json!(reason), 1, Value::Null);
    }
}

#[tokio::test]
async fn frequency_and_the_workspace_are_checked_when_it_is_due() {
    let stage = Stage::new().await;
    for _ in 0..3 {
        let body = json!({"agentId": stage.agent, "toNumber": "+919812345678"});
        stage.app.post(&stage.workspace.live, "/v1/calls", &body).await.expect(200);
        stage.app.advance(MINUTE).await;
    }
    let often = stage.schedule("+919812345678", "2027-01-05T05:00:00Z").await;
    let (unverified, suspended) = (
        stage.schedule("+919812345679", "2027-01-05T05:30:00Z").await,
        stage.schedule("+919812345679", "2027-01-05T06:00:00Z").await,
    );
    stage.app.set_clock("2027-01-05T05:00:00Z").await;
    stage.operator("PATCH", "", json!({"kybVerified": false})).await;
    stage.app.set_clock("2027-01-05T05:30:00Z").await;
    stage.operator("PATCH", "", json!({"kybVerified": true, "suspended": true})).await;
    stage.app.set_clock("2027-01-05T06:00:00Z").await;
    stage.operator("PATCH", "", json!({"suspended": false})).await;
    for (id, reason) in
        [(often, "frequency_cap"), (unverified, "kyb_required"), (suspended, "workspace_suspended")]
    {
        Stage::is(&stage.get(&id).await, "failed", json!(reason), 1, Value::Null);
    }
}

#[tokio::test]
async fn one_workspace_with_many_due_does_not_delay_another_with_one() {
    let stage = Stage::new().await;
    let at = "2027-01-05T06:30:00Z";
    for number in 0..300 {
        let body = stage.body(&format!("+9198123{number:05}"), at);
        stage.app.post(&stage.workspace.test, "/v1/scheduled-calls", &body).await.expect(201);
    }
    let lone = stage.app.workspace().await;
    let agent = create_active(&stage.app, &lone, &json!({"systemPrompt": "Hi."})).await;
    let body = json!({"agentId": agent, "toNumber": "+919812345678", "scheduledAt": at});
    let id = stage.app.post(&lone.test, "/v1/scheduled-calls", &body).await.id(201);
    stage.app.set_clock(at).await;
    let mine =
        stage.app.get(&lone.test, &format!("/v1/scheduled-calls/{id}")).await.expect(200)["data"]["callId"]
            .as_str()
            .unwrap()
            .to_owned();
    let mut theirs = Vec::new();
    for offset in [0, 200] {
        let page = stage
            .app
            .get(
                &stage.workspace.test,
                &format!("/v1/scheduled-calls?status=placed&limit=200&offset={offset}"),
            )
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

/// A key of the stage's workspace; its id and its value.
async fn key(stage: &Stage, more: Value) -> (String, String) {
    let mut body = json!({"name": "desk", "mode": "live", "scopes": "all"});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let made = stage.operator("POST", "/keys", body).await["data"].clone();
    (made["id"].as_str().unwrap().to_owned(), made["key"].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn a_call_does_not_outlive_its_key() {
    let stage = Stage::new().await;
    let (id, revoked) = key(&stage, json!({})).await;
    let at = "2027-01-05T05:30:00Z";
    let mut waiting = Vec::new();
    // More than one transaction ends.
    for number in 0..205 {
        let body = stage.body(&format!("+9198123{number:05}"), at);
        let made = stage.app.post(&revoked, "/v1/scheduled-calls", &body).await.expect(201);
        waiting.push(made["data"]["id"].as_str().unwrap().to_owned());
    }
    let stays = stage.schedule("+919812391234", at).await;
    stage.operator("DELETE", &format!("/keys/{id}"), json!({})).await;
    for call in &waiting {
        Stage::is(&stage.get(call).await, "cancelled", json!("api_key_revoked"), 0, Value::Null);
    }
    stage.app.advance(60 * MINUTE).await;
    assert_eq!(stage.get(&stays).await["status"], "placed");
    assert_eq!(stage.calls().await.len(), 1, "nobody else was called");
    let timeline = stage
        .app
        .get(&stage.workspace.live, &format!("/v1/scheduled-calls/{}/timeline", waiting[0]))
        .await
        .expect(200);
    assert_eq!(timeline["data"][1]["event"], "key_revoked");
}

#[tokio::test]
async fn a_key_that_ran_out_calls_nobody() {
    let stage = Stage::new().await;
    let (_, short) = key(&stage, json!({"expiresAt": "2027-01-05T05:00:00Z"})).await;
    let at = "2027-01-05T05:30:00Z";
    let made =
        stage.app.post(&short, "/v1/scheduled-calls", &stage.body("+919812345678", at)).await.expect(201);
    stage.app.advance(60 * MINUTE).await;
    Stage::is(
        &stage.get(made["data"]["id"].as_str().unwrap()).await,
        "cancelled",
        json!("api_key_revoked"),
        0,
        Value::Null,
    );
    assert!(stage.calls().await.is_empty());
}

#[tokio::test]
async fn due_calls_leave_the_clients_calls_of_a_minute_alone() {
    let stage = Stage::new().await;
    let limits = json!({"limits": {"callsPerMinute": 2}});
    stage.app.operator("PATCH", &format!("/workspaces/{}", stage.workspace.id), &limits).await.expect(200);
    let at = "2027-01-05T05:30:00Z";
    let mut calls = Vec::new();
    for number in 0..5 {
        calls.push(stage.schedule(&format!("+91981234567{number}"), at).await);
    }
    stage.app.set_clock(at).await;
    for call in &calls {
        assert_eq!(stage.get(call).await["status"], "placed", "lines pace them");
    }
    for number in ["+919812345681", "+919812345682"] {
        let now = json!({"agentId": stage.agent, "toNumber": number});
        stage.app.post(&stage.workspace.live, "/v1/calls", &now).await.expect(200);
    }
    let now = json!({"agentId": stage.agent, "toNumber": "+919812345683"});
    stage.app.post(&stage.workspace.live, "/v1/calls", &now).await.refused(429, "rate_limited");
    // The other way round: a client who has used up its minute delays no call that is due.
    let due = stage.schedule("+919812345699", "2027-01-05T05:30:30Z").await;
    stage.app.set_clock("2027-01-05T05:30:30Z").await;
    assert_eq!(stage.get(&due).await["status"], "placed");
}
