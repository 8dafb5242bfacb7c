//! What ends a nudge without a conversation, over the sandbox network and on the manual clock: what the client or the
//! workspace lacks, keys that are revoked, erasures (docs/contract/nudges.md#reasons).

use serde_json::{Value, json};

use crate::app::TestApp;
use crate::nudge_transitions::TALK;
use crate::shows::Shows;
use crate::world::{World, assert_nudge, id};

#[tokio::test]
async fn what_is_for_the_client_to_fix_fails_at_once() {
    let world = World::monday().await;
    let later = |agent: &str| json!({"agentId": agent, "scheduledAt": "2027-03-01T07:00:00Z"});
    let mut cases = Vec::new();
    for (number, reason) in ["agent_not_found", "agent_not_published"].into_iter().enumerate() {
        let agent = world.agent(&json!({})).await;
        let nudge = world.nudge(&format!("981234020{number}"), &later(&agent)).await;
        let path = format!("/v1/agents/{agent}");
        if reason == "agent_not_found" {
            world.delete(&path).await.expect(200);
        } else {
            world.set_agent(&agent, "draft").await.expect(200);
        }
        cases.push((nudge, reason));
    }
    let needy = world.agent(&json!({})).await;
    cases.push((world.nudge("9812340202", &later(&needy)).await, "missing_required_variables"));
    let body = json!({"name": "Asha", "systemPrompt": "Greet {{name}}."});
    world.put(&format!("/v1/agents/{needy}"), &body).await.expect(200);
    let number = world.operator("POST", "/numbers", json!({"number": "9811111111"})).await.expect(201);
    let from = json!({"fromNumber": "9811111111", "scheduledAt": "2027-03-01T07:00:00Z"});
    cases.push((world.nudge("9812340203", &from).await, "from_number_unavailable"));
    let path = format!("/numbers/{}", number["data"]["id"].as_str().unwrap());
    world.operator("DELETE", &path, Value::Null).await.expect(200);
    world.advance(1800).await;
    for (nudge, reason) in cases {
        let shown = world.show_nudge(&nudge).await;
        assert_nudge(&shown, "finished", Some("failed"), Some(reason));
        assert_eq!((shown["attempts"].clone(), shown["callId"].clone()), (json!(0), Value::Null));
    }
}

#[tokio::test]
async fn what_the_workspace_lacks_fails_at_once() {
    let world = World::monday().await;
    world.change(&json!({"kybVerified": false})).await;
    assert_nudge(
        &world.play_nudge("9812340301", &json!({}), 0).await,
        "finished",
        Some("failed"),
        Some("kyb_required"),
    );
    world.change(&json!({"kybVerified": true})).await;
    let later = world.nudge("9812340302", &json!({"scheduledAt": "2027-03-01T07:00:00Z"})).await;
    world.change(&json!({"suspended": true})).await;
    world.advance(1800).await;
    world.change(&json!({"suspended": false})).await;
    assert_nudge(&world.show_nudge(&later).await, "finished", Some("failed"), Some("workspace_suspended"));
    let numbers = world.data("/v1/numbers").await;
    let path = format!("/numbers/{}", numbers[0]["id"].as_str().unwrap());
    let named = world.nudge("9812340303", &json!({"scheduledAt": "2027-03-01T07:10:00Z"})).await;
    world.operator("DELETE", &path, Value::Null).await.expect(200);
    let bare = world.play_nudge("9812340304", &json!({}), 600).await;
    assert_eq!(bare["fromNumber"], Value::Null);
    for nudge in [bare, named] {
        assert_nudge(&world.show_nudge(&nudge).await, "finished", Some("failed"), Some("no_caller_id"));
    }
}

#[tokio::test]
async fn without_a_carrier_it_fails_at_once() {
    let world = World::monday_in(
        TestApp::start_with(|config| config.telephony.carrier = dastak::config::Carrier::None).await,
    )
    .await;
    assert_nudge(
        &world.play_nudge(TALK, &json!({}), 0).await,
        "finished",
        Some("failed"),
        Some("india_residency_unavailable"),
    );
    let simulated = world.send_nudge(world.test(), "t", &world.order(TALK, &json!({}))).await.data(201);
    world.advance(10).await;
    let shown = world.app.get(world.test(), &format!("/v1/nudges/{}", id(&simulated))).await.data(200);
    assert_nudge(&shown, "finished", Some("connected"), Some("agent_ended"));
}

#[tokio::test]
async fn a_revoked_key_ends_what_waits_and_not_what_rings() {
    let world = World::monday().await;
    let key = world.key(&world.workspace.id, "live", json!("all")).await;
    let later = json!({"scheduledAt": "2027-03-01T08:00:00Z"});
    let mut waiting = Vec::new();
    for number in 0..3 {
        waiting.push(
            world
                .send_nudge(&key, &format!("{number}"), &world.order(&format!("981234040{number}"), &later))
                .await
                .data(201),
        );
    }
    let ringing = world.send_nudge(&key, "r", &world.order("9812340409", &json!({}))).await.data(201);
    let mine = world.nudge("9812340408", &later).await;
    world.advance(1).await;
    let keys = world.operator("GET", "/keys", Value::Null).await.expect(200);
    let newest = keys["data"][0]["id"].as_str().unwrap();
    world.operator("DELETE", &format!("/keys/{newest}"), Value::Null).await.expect(200);
    for nudge in &waiting {
        assert_nudge(&world.show_nudge(nudge).await, "finished", Some("cancelled"), Some("api_key_revoked"));
        assert_eq!(world.nudge_kinds(nudge).await, ["nudge.scheduled", "nudge.finished"]);
    }
    world.advance(10).await;
    assert_nudge(&world.show_nudge(&ringing).await, "finished", Some("connected"), Some("agent_ended"));
    assert_nudge(&world.show_nudge(&mine).await, "scheduled", None, None);
}

#[tokio::test]
async fn an_expired_key_stops_the_dial_itself() {
    let world = World::monday().await;
    let body = json!({"name": "short", "mode": "live", "scopes": "all", "expiresAt": "2027-03-01T06:50:00Z"});
    let made = world.operator("POST", "/keys", body).await.expect(201);
    let key = made["data"]["key"].as_str().unwrap();
    let nudge = world
        .send_nudge(key, "k", &world.order(TALK, &json!({"scheduledAt": "2027-03-01T07:00:00Z"})))
        .await
        .data(201);
    world.advance(1800).await;
    assert_nudge(&world.show_nudge(&nudge).await, "finished", Some("cancelled"), Some("api_key_revoked"));
}

#[tokio::test]
async fn erasure_ends_what_waits_and_leaves_nothing_of_the_person() {
    let world = World::monday().await;
    let more = json!({"scheduledAt": "2027-03-01T08:00:00Z", "externalRef": "secret", "variables": {"name": "Asha"}, "metadata": {"note": "secret"}});
    let old = world.play_nudge(TALK, &json!({"externalRef": "secret"}), 20).await;
    let waiting = world.nudge(TALK, &more).await;
    let (tenant, context) = (world.tenant(), world.app().context());
    let hash = world.app().keyring.hash_phone(&TALK.parse().unwrap());
    let erased = world
        .app()
        .store
        .of(tenant)
        .tx(move |tx| dastak::app::nudges::erase_person(tx, &context, &hash))
        .await
        .unwrap();
    assert_eq!(erased, 1);
    let shown = world.show_nudge(&waiting).await;
    assert_nudge(&shown, "finished", Some("cancelled"), Some("erased"));
    for nudge in [&shown, &world.show_nudge(&old).await] {
        nudge.shows(json!({"toNumber": "[erased]", "externalRef": null, "variables": {}, "metadata": {}}));
    }
    let finished = world.nudge_events(&waiting).await.pop().unwrap();
    assert_eq!(finished.0, "nudge.finished");
    finished.1.shows(json!({"toNumber": "[erased]", "metadata": {}}));
}

#[tokio::test]
async fn an_erasure_during_the_dial_stops_the_retries() {
    let world = World::monday().await;
    let nudge = world.play_nudge("9812340000", &json!({"retry": {"maxRetries": 2}}), 1).await;
    let (tenant, context) = (world.tenant(), world.app().context());
    let hash = world.app().keyring.hash_phone(&"9812340000".parse().unwrap());
    let erased = world
        .app()
        .store
        .of(tenant)
        .tx(move |tx| dastak::app::nudges::erase_person(tx, &context, &hash))
        .await
        .unwrap();
    assert_eq!(erased, 0);
    world.advance(7200).await;
    let shown = world.show_nudge(&nudge).await;
    shown.shows(json!({"status": "finished", "result": "no_answer", "attempts": 1}));
}
