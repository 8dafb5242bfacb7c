//! `Idempotency-Key` (spec 1 «Idempotency», `gaps.md`).

use serde_json::{Value, json};

use crate::app::{Answer, TestApp};

async fn top_up(app: &TestApp, workspace: &str, key: &str, amount: i64) -> Answer {
    let path = format!("/operator/v1/workspaces/{workspace}/wallet/entries");
    let body = json!({"kind": "topup", "amountMinor": amount, "reference": "pay_1"});
    app.post_with(&app.operator_token, &path, &[("idempotency-key", key)], &body).await
}

async fn entries(app: &TestApp, workspace: &str) -> i64 {
    app.operator("GET", &format!("/workspaces/{workspace}/wallet/entries"), &Value::Null).await.expect(200)["total"].as_i64().unwrap()
}

#[tokio::test]
async fn the_same_request_gets_the_first_answer() {
    let app = TestApp::start().await;
    let workspace = app.workspace().await.id;
    let first = top_up(&app, &workspace, "k1", 100).await;
    assert_eq!(first.header("idempotent-replayed"), None);
    let again = top_up(&app, &workspace, "k1", 100).await;
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!((again.status, &again.text), (first.status, &first.text));
    top_up(&app, &workspace, "k1", 101).await.refused(422, "idempotency_key_reused");
    top_up(&app, &workspace, "k2", 100).await.expect(201);
    assert_eq!(entries(&app, &workspace).await, 3);
    app.advance(24 * 3600 + 1).await;
    top_up(&app, &workspace, "k1", 101).await.expect(201);
}

#[tokio::test]
async fn a_refusal_frees_the_key() {
    let app = TestApp::start().await;
    let workspace = app.workspace().await.id;
    let path = format!("/operator/v1/workspaces/{workspace}/wallet/entries");
    let body = json!({"kind": "adjustment", "amountMinor": -2_000_000, "reference": "r"});
    app.post_with(&app.operator_token, &path, &[("idempotency-key", "k")], &body).await.refused(409, "conflict");
    top_up(&app, &workspace, "k", 5_000_000).await.expect(201);
}

#[tokio::test]
async fn wrong_keys_are_refused() {
    let app = TestApp::start().await;
    let workspace = app.workspace().await.id;
    top_up(&app, &workspace, &"x".repeat(256), 100).await.refused(400, "invalid_idempotency_key");
    top_up(&app, &workspace, " ", 100).await.refused(400, "invalid_idempotency_key");
    top_up(&app, &workspace, &"x".repeat(255), 100).await.expect(201);
}

#[tokio::test(flavor = "multi_thread")]
async fn identical_requests_at_the_same_instant_create_one_thing() {
    let app = std::sync::Arc::new(TestApp::start().await);
    let workspace = app.workspace().await.id;
    let mut tasks = Vec::new();
    for number in 0..60 {
        let (app, workspace) = (app.clone(), workspace.clone());
        tasks.push(tokio::spawn(async move { top_up(&app, &workspace, &format!("key{}", number % 3), 100).await }));
    }
    let mut bodies = std::collections::BTreeSet::new();
    for task in tasks {
        let answer = task.await.unwrap();
        match answer.status {
            201 => drop(bodies.insert(answer.text)),
            _ => drop(answer.refused(409, "idempotency_in_progress")),
        }
    }
    assert_eq!((bodies.len(), entries(&app, &workspace).await), (3, 4));
}
