//! What ends a nudge without a conversation, over the sandbox network and on the manual clock: what the client or the
//! workspace lacks, keys that are revoked, erasures (docs/contract/nudges.md#reasons).

use serde_json::{Value, json};

use crate::agents::create_active;
use crate::app::TestApp;
use crate::nudge_transitions::TALK;
use crate::nudges::{Kit, assert_is, id};

#[tokio::test]
async fn what_is_for_the_client_to_fix_fails_at_once() {
    let kit = Kit::start().await;
    let later = |agent: &str| json!({"agentId": agent, "scheduledAt": "2027-03-01T07:00:00Z"});
    let mut cases = Vec::new();
    for (number, reason) in ["agent_not_found", "agent_not_published"].into_iter().enumerate() {
        let agent = create_active(&kit.app, &kit.workspace, &json!({})).await;
        let nudge = kit.make(&format!("981234020{number}"), &later(&agent)).await;
        let path = format!("/v1/agents/{agent}");
        if reason == "agent_not_found" {
            kit.app.delete(&kit.workspace.live, &path).await.expect(200);
        } else {
            kit.app
                .post(&kit.workspace.live, &format!("{path}/status"), &json!({"status": "draft"}))
                .await
                .expect(200);
        }
        cases.push((nudge, reason));
    }
    let needy = create_active(&kit.app, &kit.workspace, &json!({})).await;
    cases.push((kit.make("9812340202", &later(&needy)).await, "missing_required_variables"));
    let body = json!({"name": "Asha", "systemPrompt": "Greet {{name}}."});
    kit.app.put(&kit.workspace.live, &format!("/v1/agents/{needy}"), &body).await.expect(200);
    let number = kit
        .app
        .operator(
            "POST",
            &format!("/workspaces/{}/numbers", kit.workspace.id),
            &json!({"number": "9811111111"}),
        )
        .await
        .expect(201);
    let from = json!({"fromNumber": "9811111111", "scheduledAt": "2027-03-01T07:00:00Z"});
    cases.push((kit.make("9812340203", &from).await, "from_number_unavailable"));
    let path = format!("/workspaces/{}/numbers/{}", kit.workspace.id, number["data"]["id"].as_str().unwrap());
    kit.app.operator("DELETE", &path, &Value::Null).await.expect(200);
    kit.app.advance(1800).await;
    for (nudge, reason) in cases {
        let shown = kit.get(&nudge).await;
        assert_is(&shown, "finished", Some("failed"), Some(reason));
        assert_eq!((shown["attempts"].clone(), shown["callId"].clone()), (json!(0), Value::Null));
    }
}

#[tokio::test]
async fn what_the_workspace_lacks_fails_at_once() {
    let kit = Kit::start().await;
    kit.change(&json!({"kybVerified": false})).await;
    assert_is(&kit.play("9812340301", &json!({}), 0).await, "finished", Some("failed"), Some("kyb_required"));
    kit.change(&json!({"kybVerified": true})).await;
    let later = kit.make("9812340302", &json!({"scheduledAt": "2027-03-01T07:00:00Z"})).await;
    kit.change(&json!({"suspended": true})).await;
    kit.app.advance(1800).await;
    kit.change(&json!({"suspended": false})).await;
    assert_is(&kit.get(&later).await, "finished", Some("failed"), Some("workspace_suspended"));
    let numbers = kit.app.get(&kit.workspace.live, "/v1/numbers").await.expect(200)["data"].clone();
    let path = format!("/workspaces/{}/numbers/{}", kit.workspace.id, numbers[0]["id"].as_str().unwrap());
    let named = kit.make("9812340303", &json!({"scheduledAt": "2027-03-01T07:10:00Z"})).await;
    kit.app.operator("DELETE", &path, &Value::Null).await.expect(200);
    let bare = kit.play("9812340304", &json!({}), 600).await;
    assert_eq!(bare["fromNumber"], Value::Null);
    for nudge in [bare, named] {
        assert_is(&kit.get(&nudge).await, "finished", Some("failed"), Some("no_caller_id"));
    }
}

#[tokio::test]
async fn without_a_carrier_it_fails_at_once() {
    let kit = Kit::over(
        TestApp::start_with(|config| config.telephony.carrier = dastak::config::Carrier::None).await,
    )
    .await;
    assert_is(
        &kit.play(TALK, &json!({}), 0).await,
        "finished",
        Some("failed"),
        Some("india_residency_unavailable"),
    );
    let simulated =
        kit.send(&kit.workspace.test, "t", &kit.body(TALK, &json!({}))).await.expect(201)["data"].clone();
    kit.app.advance(10).await;
    let shown = kit.app.get(&kit.workspace.test, &format!("/v1/nudges/{}", id(&simulated))).await.expect(200)
        ["data"]
        .clone();
    assert_is(&shown, "finished", Some("connected"), Some("agent_ended"));
}

#[tokio::test]
async fn a_revoked_key_ends_what_waits_and_not_what_rings() {
    let kit = Kit::start().await;
    let key = kit.app.key(&kit.workspace.id, "live", json!("all")).await;
    let later = json!({"scheduledAt": "2027-03-01T08:00:00Z"});
    let mut waiting = Vec::new();
    for number in 0..3 {
        waiting.push(
            kit.send(&key, &format!("{number}"), &kit.body(&format!("981234040{number}"), &later))
                .await
                .expect(201)["data"]
                .clone(),
        );
    }
    let ringing = kit.send(&key, "r", &kit.body("9812340409", &json!({}))).await.expect(201)["data"].clone();
    let mine = kit.make("9812340408", &later).await;
    kit.app.advance(1).await;
    let keys = kit
        .app
        .operator("GET", &format!("/workspaces/{}/keys", kit.workspace.id), &Value::Null)
        .await
        .expect(200);
    let newest = keys["data"][0]["id"].as_str().unwrap();
    kit.app
        .operator("DELETE", &format!("/workspaces/{}/keys/{newest}", kit.workspace.id), &Value::Null)
        .await
        .expect(200);
    for nudge in &waiting {
        assert_is(&kit.get(nudge).await, "finished", Some("cancelled"), Some("api_key_revoked"));
        assert_eq!(kit.kinds(nudge).await, ["nudge.scheduled", "nudge.finished"]);
    }
    kit.app.advance(10).await;
    assert_is(&kit.get(&ringing).await, "finished", Some("connected"), Some("agent_ended"));
    assert_is(&kit.get(&mine).await, "scheduled", None, None);
}

#[tokio::test]
async fn an_expired_key_stops_the_dial_itself() {
    let kit = Kit::start().await;
    let body = json!({"name": "short", "mode": "live", "scopes": "all", "expiresAt": "2027-03-01T06:50:00Z"});
    let made =
        kit.app.operator("POST", &format!("/workspaces/{}/keys", kit.workspace.id), &body).await.expect(201);
    let key = made["data"]["key"].as_str().unwrap();
    let nudge = kit
        .send(key, "k", &kit.body(TALK, &json!({"scheduledAt": "2027-03-01T07:00:00Z"})))
        .await
        .expect(201)["data"]
        .clone();
    kit.app.advance(1800).await;
    assert_is(&kit.get(&nudge).await, "finished", Some("cancelled"), Some("api_key_revoked"));
}

#[tokio::test]
async fn erasure_ends_what_waits_and_leaves_nothing_of_the_person() {
    let kit = Kit::start().await;
    let more = json!({"scheduledAt": "2027-03-01T08:00:00Z", "externalRef": "secret", "variables": {"name": "Asha"}, "metadata": {"note": "secret"}});
    let old = kit.play(TALK, &json!({"externalRef": "secret"}), 20).await;
    let waiting = kit.make(TALK, &more).await;
    let (tenant, context) = (kit.workspace.id.parse().unwrap(), kit.app.app().context());
    let hash = kit.app.app().keyring.hash_phone(&TALK.parse().unwrap());
    let erased = kit
        .app
        .app()
        .store
        .of(tenant)
        .tx(move |tx| dastak::app::nudges::erase_person(tx, &context, &hash))
        .await
        .unwrap();
    assert_eq!(erased, 1);
    let shown = kit.get(&waiting).await;
    assert_is(&shown, "finished", Some("cancelled"), Some("erased"));
    for nudge in [&shown, &kit.get(&old).await] {
        assert_eq!(
            (
                nudge["toNumber"].clone(),
                nudge["externalRef"].clone(),
                nudge["variables"].clone(),
                nudge["metadata"].clone()
            ),
            (json!("[erased]"), Value::Null, json!({}), json!({}))
        );
    }
    let finished = kit.events(&waiting).await.pop().unwrap();
    assert_eq!(
        (finished.0.as_str(), finished.1["toNumber"].clone(), finished.1["metadata"].clone()),
        ("nudge.finished", json!("[erased]"), json!({}))
    );
}

#[tokio::test]
async fn an_erasure_during_the_dial_stops_the_retries() {
    let kit = Kit::start().await;
    let nudge = kit.play("9812340000", &json!({"retry": {"maxRetries": 2}}), 1).await;
    let (tenant, context) = (kit.workspace.id.parse().unwrap(), kit.app.app().context());
    let hash = kit.app.app().keyring.hash_phone(&"9812340000".parse().unwrap());
    let erased = kit
        .app
        .app()
        .store
        .of(tenant)
        .tx(move |tx| dastak::app::nudges::erase_person(tx, &context, &hash))
        .await
        .unwrap();
    assert_eq!(erased, 0);
    kit.app.advance(7200).await;
    let shown = kit.get(&nudge).await;
    assert_eq!(
        (shown["status"].clone(), shown["result"].clone(), shown["attempts"].clone()),
        (json!("finished"), json!("no_answer"), json!(1))
    );
}
