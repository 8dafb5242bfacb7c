//! The operator API (docs/contract/operator.md#operator-api).

use serde_json::{Value, json};

use crate::app::TestApp;
use crate::world::World;

#[tokio::test]
async fn a_workspace_is_made_and_changed() {
    let app = TestApp::start().await;
    let made = app
        .operator(
            "POST",
            "/workspaces",
            &json!({"name": "Acme", "balanceMinor": 500, "costPerMinuteMinor": 250}),
        )
        .await
        .expect(201);
    let workspace = &made["data"];
    assert_eq!(
        (
            workspace["balanceMinor"].as_i64(),
            workspace["currency"].as_str(),
            workspace["kybVerified"].as_bool()
        ),
        (Some(500), Some("INR"), Some(false))
    );
    assert!(workspace["features"].as_object().unwrap().values().all(|on| on == true), "every feature is on");
    assert_eq!(workspace["limits"]["requestsPerMinute"], 600);
    let path = format!("/workspaces/{}", workspace["id"].as_str().unwrap());
    let entries = app.operator("GET", &format!("{path}/wallet/entries"), &Value::Null).await.expect(200);
    assert_eq!(
        (entries["data"][0]["kind"].as_str(), entries["total"].as_i64()),
        (Some("signup_grant"), Some(1))
    );

    let change = json!({"features": {"boards": false}, "limits": {"pendingNudges": 5}, "lowBalanceMinor": 1000, "costPerChatMinor": 7, "kybVerified": true});
    let changed = app.operator("PATCH", &path, &change).await.expect(200);
    assert_eq!(
        (changed["data"]["features"]["boards"].as_bool(), changed["data"]["features"]["chat"].as_bool()),
        (Some(false), Some(true))
    );
    assert_eq!(
        (changed["data"]["limits"]["pendingNudges"].as_i64(), changed["data"]["lowBalanceMinor"].as_i64()),
        (Some(5), Some(1000))
    );
    let changed = app.operator("PATCH", &path, &json!({"lowBalanceMinor": null})).await.expect(200);
    assert_eq!(
        (changed["data"]["lowBalanceMinor"].clone(), changed["data"]["costPerChatMinor"].as_i64()),
        (Value::Null, Some(7))
    );
    assert_eq!(app.operator("GET", &path, &Value::Null).await.expect(200), changed);
    for (change, field) in [
        (json!({"limits": {"pendingNudges": -1}}), "limits.pendingNudges"),
        (json!({"suspended": "yes"}), "suspended"),
    ] {
        assert_eq!(
            app.operator("PATCH", &path, &change).await.refused(400, "invalid_request")["meta"]["field"],
            field
        );
    }
}

#[tokio::test]
async fn keys_are_checked() {
    let app = TestApp::start().await;
    let workspace = app.workspace().await;
    let path = format!("/workspaces/{}/keys", workspace.id);
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
            app.operator("POST", &path, &body).await.refused(400, "invalid_request")["meta"]["field"],
            field,
            "{body}"
        );
    }
    app.operator(
        "POST",
        "/workspaces/ws_00000000000000000000000000/keys",
        &json!({"name": "k", "mode": "live", "scopes": "all"}),
    )
    .await
    .refused(404, "not_found");
}

#[tokio::test]
async fn a_number_has_one_owner() {
    let app = TestApp::start().await;
    let (one, other) = (app.workspace().await, app.workspace().await);
    let path = |workspace: &str| format!("/workspaces/{workspace}/numbers");
    let made = app.operator("POST", &path(&one.id), &json!({"number": "080 4567 0001"})).await.expect(201);
    assert_eq!(
        (made["data"]["number"].as_str(), made["data"]["status"].as_str()),
        (Some("+918045670001"), Some("active"))
    );
    app.operator("POST", &path(&other.id), &json!({"number": "+918045670001"}))
        .await
        .refused(409, "conflict");
    app.operator("POST", &path(&other.id), &json!({"number": "+12025550100"}))
        .await
        .refused(400, "invalid_request");
    app.operator("POST", &path(&other.id), &json!({"number": "1600123456"})).await.expect(201);
    let id = made["data"]["id"].as_str().unwrap();
    app.operator("DELETE", &format!("{}/{id}", path(&other.id)), &Value::Null)
        .await
        .refused(404, "not_found");
    app.operator("DELETE", &format!("{}/{id}", path(&one.id)), &Value::Null).await.expect(200);
    app.operator("POST", &path(&other.id), &json!({"number": "+918045670001"})).await.expect(201);
}

#[tokio::test]
async fn members_and_the_registry() {
    let app = TestApp::start().await;
    let workspace = app.workspace().await;
    let path = format!("/workspaces/{}/members", workspace.id);
    let body = json!({"email": "Person@Example.com", "name": "Person", "role": "editor", "password": "correct horse"});
    let made = app.operator("POST", &path, &body).await;
    assert!(!made.text.contains("horse"));
    assert_eq!(made.expect(201)["data"]["email"], "person@example.com");
    app.operator("POST", &path, &body).await.refused(409, "conflict");
    app.operator("POST", &path, &json!({"email": "nobody", "name": "x", "role": "owner"}))
        .await
        .refused(400, "invalid_request");
    assert_eq!(
        app.operator("GET", &path, &Value::Null).await.expect(200)["data"].as_array().unwrap().len(),
        1
    );

    let added = app
        .operator("POST", "/dnd", &json!({"phones": ["9812345678", "+91 98123 45678", "12"]}))
        .await
        .expect(200);
    assert_eq!(added["data"], json!({"added": 1, "alreadyListed": 1, "invalid": ["12"]}));
    app.operator("DELETE", "/dnd/+919812345678", &Value::Null).await.expect(200);
    app.operator("DELETE", "/dnd/+919812345678", &Value::Null).await.refused(404, "not_found");
}

#[tokio::test]
async fn every_write_is_in_the_log_without_secrets() {
    let app = TestApp::start().await;
    let workspace = app.workspace().await;
    let log = app.operator("GET", "/log", &Value::Null).await;
    for secret in [&workspace.live, &workspace.test, &app.operator_token] {
        assert!(!log.text.contains(secret.as_str()));
    }
    let log = log.expect(200);
    let operations: Vec<&str> =
        log["data"].as_array().unwrap().iter().map(|line| line["operation"].as_str().unwrap()).collect();
    assert_eq!(
        operations,
        ["createKey", "createKey", "createNumber", "updateWorkspace", "createWorkspace"],
        "newest first"
    );
    assert!(log["data"].as_array().unwrap().iter().all(|line| line["workspaceId"] == workspace.id.as_str()));
}

#[tokio::test]
async fn everything_survives_a_restart() {
    let app = TestApp::start().await;
    let workspace = app.workspace().await;
    let before =
        app.operator("GET", &format!("/workspaces/{}", workspace.id), &Value::Null).await.expect(200);
    let app = app.restart().await;
    assert_eq!(
        app.operator("GET", &format!("/workspaces/{}", workspace.id), &Value::Null).await.expect(200),
        before
    );
    app.get(&workspace.live, "/v1/me").await.expect(200);
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
    assert_eq!(
        (&back["data"]["status"], &back["data"]["name"]),
        (&json!("in_service"), &drained["data"]["name"])
    );
    world.app.get("", "/readyz").await.expect(200);
    world.app.get(world.live(), "/operator/v1/node").await.refused(401, "unauthorized");
}
