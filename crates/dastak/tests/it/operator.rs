//! The operator API (docs/contract/operator.md#operator-api).

use serde_json::{Value, json};

use crate::app::TestApp;
use crate::shows::Shows;
use crate::world::World;

#[tokio::test]
async fn a_workspace_is_made_and_changed() {
    let app = TestApp::start().await;
    let body = json!({"name": "Acme", "balanceMinor": 500, "costPerMinuteMinor": 250});
    let made = app.operator("POST", "/workspaces", &body).await.expect(201);
    let workspace = &made["data"];
    workspace.shows(json!({"balanceMinor": 500, "currency": "INR", "kybVerified": false}));
    assert!(workspace["features"].as_object().unwrap().values().all(|on| on == true), "every feature is on");
    assert_eq!(workspace["limits"]["requestsPerMinute"], 600);
    let path = format!("/workspaces/{}", workspace["id"].as_str().unwrap());
    let entries = app.operator("GET", &format!("{path}/wallet/entries"), &Value::Null).await.expect(200);
    entries.shows(json!({"data[0].kind": "signup_grant", "total": 1}));

    let change = json!({"features": {"boards": false}, "limits": {"pendingNudges": 5}, "lowBalanceMinor": 1000, "costPerChatMinor": 7, "kybVerified": true});
    let changed = app.operator("PATCH", &path, &change).await.expect(200);
    changed["data"]["features"].shows(json!({"boards": false, "chat": true}));
    changed["data"].shows(json!({"limits.pendingNudges": 5, "lowBalanceMinor": 1000}));
    let changed = app.operator("PATCH", &path, &json!({"lowBalanceMinor": null})).await.expect(200);
    changed["data"].shows(json!({"lowBalanceMinor": null, "costPerChatMinor": 7}));
    assert_eq!(app.operator("GET", &path, &Value::Null).await.expect(200), changed);
    for (change, field) in [
        (json!({"limits": {"pendingNudges": -1}}), "limits.pendingNudges"),
        (json!({"suspended": "yes"}), "suspended"),
    ] {
        app.operator("PATCH", &path, &change).await.invalid_field(field);
    }
}

#[tokio::test]
async fn keys_are_checked() {
    let world = World::bare().await;
    for (body, field) in [
        (json!({"name": "k", "mode": "other", "scopes": "all"}), "mode"),
        (json!({"name": "k", "mode": "live", "scopes": "none"}), "scopes"),
        (json!({"name": "k", "mode": "live", "scopes": ["calls:fly"]}), "scopes"),
        (
            json!({"name": "k", "mode": "live", "scopes": "all", "expiresAt": "2001-01-01T00:00:00Z"}),
            "expiresAt",
        ),
    ] {
        assert_eq!(
            world.operator("POST", "/keys", body.clone()).await.invalid()["meta"]["field"],
            field,
            "{body}"
        );
    }
    let (nobody, key) =
        ("ws_00000000000000000000000000", json!({"name": "k", "mode": "live", "scopes": "all"}));
    world.app.operator("POST", &format!("/workspaces/{nobody}/keys"), &key).await.not_found();
}

#[tokio::test]
async fn a_number_has_one_owner() {
    let world = World::bare().await;
    let other = world.neighbour().await;
    let add =
        async |of: &World, number: &str| of.operator("POST", "/numbers", json!({"number": number})).await;
    let made = add(&world, "080 4567 0001").await.data(201);
    made.shows(json!({"number": "+918045670001", "status": "active"}));
    add(&other, "+918045670001").await.conflict();
    add(&other, "+12025550100").await.invalid();
    add(&other, "1600123456").await.expect(201);
    let path = format!("/numbers/{}", made["id"].as_str().unwrap());
    other.operator("DELETE", &path, Value::Null).await.not_found();
    world.operator("DELETE", &path, Value::Null).await.expect(200);
    add(&other, "+918045670001").await.expect(201);
}

#[tokio::test]
async fn members_and_the_registry() {
    let world = World::bare().await;
    let body = json!({"email": "Person@Example.com", "name": "Person", "role": "editor", "password": "correct horse"});
    let made = world.operator("POST", "/members", body.clone()).await;
    assert!(!made.text.contains("horse"));
    assert_eq!(made.expect(201)["data"]["email"], "person@example.com");
    world.operator("POST", "/members", body.clone()).await.conflict();
    world
        .operator("POST", "/members", json!({"email": "nobody", "name": "x", "role": "owner"}))
        .await
        .invalid();
    assert_eq!(
        world.operator("GET", "/members", Value::Null).await.expect(200)["data"].as_array().unwrap().len(),
        1
    );

    let phones = json!({"phones": ["9812345678", "+91 98123 45678", "12"]});
    let added = world.app.operator("POST", "/dnd", &phones).await.expect(200);
    assert_eq!(added["data"], json!({"added": 1, "alreadyListed": 1, "invalid": ["12"]}));
    world.app.operator("DELETE", "/dnd/+919812345678", &Value::Null).await.expect(200);
    world.app.operator("DELETE", "/dnd/+919812345678", &Value::Null).await.not_found();
}

#[tokio::test]
async fn every_write_is_in_the_log_without_secrets() {
    let world = World::bare().await;
    let log = world.app.operator("GET", "/log", &Value::Null).await;
    for secret in [world.live(), world.test(), world.operator_token.as_str()] {
        assert!(!log.text.contains(secret));
    }
    let log = log.expect(200);
    let operations: Vec<&str> =
        log["data"].as_array().unwrap().iter().map(|line| line["operation"].as_str().unwrap()).collect();
    assert_eq!(
        operations,
        ["createKey", "createKey", "createNumber", "updateWorkspace", "createWorkspace"],
        "newest first"
    );
    assert!(
        log["data"].as_array().unwrap().iter().all(|line| line["workspaceId"] == world.workspace.id.as_str())
    );
}

#[tokio::test]
async fn everything_survives_a_restart() {
    let world = World::bare().await;
    let before = world.operator("GET", "", Value::Null).await.expect(200);
    let world = world.restart().await;
    assert_eq!(world.operator("GET", "", Value::Null).await.expect(200), before);
    world.get("/v1/me").await;
}

/// docs/contract/operator.md#nodes
#[tokio::test]
async fn a_node_is_drained_and_put_in_service_again() {
    let world = World::bare().await;
    let shown = world.app.operator("GET", "/node", &Value::Null).await.expect(200);
    assert_eq!((&shown["data"]["status"], &shown["data"]["callsHeld"]), (&json!("in_service"), &json!(0)));
    let drained = world.app.operator("POST", "/node/drain", &Value::Null).await.expect(200);
    assert_eq!(drained["data"]["status"], "draining");
    assert_eq!(world.app.operator("POST", "/node/drain", &Value::Null).await.expect(200), drained);
    let not_ready = world.app.get("", "/readyz").await.expect(503);
    assert_eq!(not_ready["reason"], "the node is draining");
    world.get("/v1/me").await;
    let back = world.app.operator("POST", "/node/undrain", &Value::Null).await.expect(200);
    back["data"].shows(json!({"status": "in_service", "name": drained["data"]["name"]}));
    world.app.get("", "/readyz").await.expect(200);
    world.fetch("/operator/v1/node").await.refused(401, "unauthorized");
}
