//! Who gets in, walked over the whole table of operations.

use api::operations::{self, Access, Operation, TestKeys};
use bytes::Bytes;
use serde_json::json;

use crate::app::TestApp;

/// The path with every parameter replaced by an id that exists nowhere.
fn path_of(operation: &Operation) -> String {
    operation
        .path
        .split('/')
        .map(|part| if part.starts_with('{') { "none_00000000000000000000000000" } else { part })
        .collect::<Vec<_>>()
        .join("/")
}

fn keyed() -> impl Iterator<Item = (&'static Operation, Vec<&'static str>)> {
    operations::all().filter_map(|operation| match operation.access {
        Access::AnyKey => Some((operation, vec![])),
        Access::Scope(scope) => Some((operation, vec![scope.0])),
        Access::Scopes(one, other) => Some((operation, vec![one.0, other.0])),
        Access::Public | Access::StreamToken | Access::Signed | Access::Operator | Access::Figures => None,
    })
}

#[tokio::test]
async fn no_route_escapes() {
    let app = TestApp::start().await;
    let workspace = app.workspace().await;
    let suspended = app.workspace().await;
    app.operator("PATCH", &format!("/workspaces/{}", suspended.id), &json!({"suspended": true}))
        .await
        .expect(200);
    for (operation, scopes) in keyed() {
        let (method, path) = (operation.method.as_str(), path_of(operation));
        let send = |key: Option<String>| {
            let (app, path) = (&app, path.clone());
            async move { app.send(method, &path, key.as_deref(), &[], Bytes::new()).await }
        };
        send(None).await.refused(401, "unauthorized");
        send(Some(app.operator_token.clone())).await.refused(401, "unauthorized");
        app.set_clock(&later(&app).await).await;
        send(Some(suspended.live.clone())).await.refused(403, "workspace_suspended");
        for missing in &scopes {
            let others: Vec<&str> =
                api::scopes::ALL.iter().map(|scope| scope.0).filter(|scope| scope != missing).collect();
            let key = app.key(&workspace.id, "live", json!(others)).await;
            let refused = send(Some(key)).await.refused(403, "api_scope_missing");
            assert_eq!(refused["meta"]["scope"], **missing, "{}", operation.id);
        }
        if operation.test_keys == TestKeys::Refused {
            send(Some(workspace.test.clone())).await.refused(403, "test_mode_read_only");
        }
    }
    for operation in
        operations::all().filter(|operation| matches!(operation.access, Access::Operator | Access::Figures))
    {
        let (method, path) = (operation.method.as_str(), path_of(operation));
        let stranger = app.send(method, &path, None, &[], Bytes::new()).await;
        if operation.access == Access::Figures {
            let told: Vec<&str> = stranger.text.lines().filter(|line| !line.starts_with('#')).collect();
            assert_eq!((stranger.status, told.as_slice()), (200, ["up 1"].as_slice()));
        } else {
            stranger.refused(401, "unauthorized");
        }
        app.send(method, &path, Some(&workspace.live), &[], Bytes::new()).await.refused(401, "unauthorized");
        app.set_clock(&later(&app).await).await;
    }
}

/// Moves on by two minutes, after which the throttle of invalid keys has forgotten us.
async fn later(app: &TestApp) -> String {
    domain::time::Timestamp::parse(&app.now().await).unwrap().plus(120_000).to_string()
}

#[tokio::test]
async fn revocation_and_expiry_take_effect_at_once() {
    let app = TestApp::start().await;
    let workspace = app.workspace().await;
    app.get(&workspace.live, "/v1/me").await.expect(200);
    let keys =
        app.operator("GET", &format!("/workspaces/{}/keys", workspace.id), &json!(null)).await.expect(200);
    let live = keys["data"].as_array().unwrap().iter().find(|key| key["mode"] == "live").unwrap()["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let path = format!("/workspaces/{}/keys/{live}", workspace.id);
    let revoked = app.operator("DELETE", &path, &json!(null)).await.expect(200);
    app.get(&workspace.live, "/v1/me").await.refused(401, "unauthorized");
    app.advance(60).await;
    assert_eq!(
        app.operator("DELETE", &path, &json!(null)).await.expect(200),
        revoked,
        "a repeat keeps the first time"
    );

    let expiry = domain::time::Timestamp::parse(&app.now().await).unwrap().plus(60_000).to_string();
    let body = json!({"name": "short", "mode": "live", "scopes": ["billing:read"], "expiresAt": expiry});
    let made = app.operator("POST", &format!("/workspaces/{}/keys", workspace.id), &body).await.expect(201);
    let key = made["data"]["key"].as_str().unwrap();
    assert_eq!(app.get(key, "/v1/me").await.expect(200)["data"]["key"]["expiresAt"], expiry.as_str());
    app.advance(60).await;
    app.get(key, "/v1/me").await.refused(401, "unauthorized");
}

#[tokio::test]
async fn repeated_invalid_keys_wait_a_minute() {
    let app = TestApp::start().await;
    let workspace = app.workspace().await;
    let mut refused = 0;
    for _ in 0..40 {
        let answer = app.get("dastak_live_wrong", "/v1/me").await;
        if answer.status == 429 {
            refused += 1;
            let wait: i64 = answer.header("retry-after").unwrap().parse().unwrap();
            assert!((1..=60).contains(&wait));
        }
    }
    assert_eq!(refused, 20);
    app.get(&workspace.live, "/v1/me").await.expect(200);
    app.advance(61).await;
    app.get("dastak_live_wrong", "/v1/me").await.refused(401, "unauthorized");
}

#[tokio::test]
async fn the_account_shows_the_key_masked() {
    let app = TestApp::start().await;
    let workspace = app.workspace().await;
    let key = app.key(&workspace.id, "test", json!(["billing:read", "agents:read"])).await;
    let me = app.get(&key, "/v1/me").await.expect(200);
    assert_eq!(me["data"]["key"]["scopes"], json!(["agents:read", "billing:read"]));
    let prefix = me["data"]["key"]["prefix"].as_str().unwrap();
    assert!(prefix.starts_with("dastak_test_") && !prefix.contains(&key[20..]), "{prefix}");
    assert_eq!(me["data"]["workspace"], json!({"id": workspace.id, "name": "Acme", "kybVerified": true}));
    // Neither the store's files nor a listing hold the key.
    let keys = app.operator("GET", &format!("/workspaces/{}/keys", workspace.id), &json!(null)).await;
    assert!(!keys.text.contains(&key));
}
