//! Accounts of outside systems over the operator API (docs/contract/integrations.md#accounts).

use serde_json::{Value, json};

use crate::app::{Answer, TestApp};
use crate::fakes::credentials;

pub async fn connect(app: &TestApp, workspace: &str, body: &Value) -> Answer {
    app.operator("POST", &format!("/workspaces/{workspace}/integrations"), body).await
}

async fn list(app: &TestApp, workspace: &str) -> Value {
    app.operator("GET", &format!("/workspaces/{workspace}/integrations"), &Value::Null).await.data(200)
}

#[tokio::test]
async fn accounts_of_every_system_are_connected_and_never_shown() {
    let app = TestApp::start().await;
    let workspace = app.workspace().await.id;
    let mut shop = credentials();
    shop["shop"] = json!("acme");
    let mut made = Vec::new();
    for (provider, credentials) in [
        ("hubspot", credentials()),
        ("hubspot", json!({"accessToken": "token-hush"})),
        ("salesforce", credentials()),
        ("zoho", credentials()),
        ("shopify", json!({"shop": "acme.myshopify.com", "accessToken": "token-hush"})),
        ("shopify", shop),
        ("google_sheets", credentials()),
    ] {
        let answer =
            connect(&app, &workspace, &json!({"provider": provider, "credentials": credentials})).await;
        assert!(!answer.text.contains("hush"), "{}", answer.text);
        let data = answer.data(201);
        assert_eq!(
            (&data["provider"], &data["status"], &data["lastError"], &data["push"]),
            (&json!(provider), &json!("active"), &Value::Null, &Value::Null)
        );
        assert!(data["id"].as_str().unwrap().starts_with("int_"));
        made.push(data);
    }
    made.reverse();
    assert_eq!(list(&app, &workspace).await, json!(made), "newest first");
    // Neither the store nor the operator log has them.
    let tenant = workspace.parse().unwrap();
    let rows = app.app().store.of(tenant).read(store::integrations::list).await.unwrap();
    assert!(rows.iter().all(|row| !format!("{row:?}").contains("hush")));
    let log = app.operator("GET", "/log?limit=100", &Value::Null).await.expect(200).to_string();
    assert!(log.contains("createIntegration") && !log.contains("hush"), "{log}");
}

#[tokio::test]
async fn what_is_wrong_with_an_account_is_named_and_nothing_is_stored() {
    let app = TestApp::start().await;
    let workspace = app.workspace().await.id;
    let whole = credentials();
    for (body, field) in [
        (json!({"credentials": whole}), "provider"),
        (json!({"provider": "pipedrive", "credentials": whole}), "provider"),
        (json!({"provider": "hubspot"}), "credentials"),
        (json!({"provider": "hubspot", "credentials": "x"}), "credentials"),
        (json!({"provider": "hubspot", "credentials": {}}), "credentials.clientId"),
        (
            json!({"provider": "hubspot", "credentials": {"clientId": "a", "clientSecret": "b"}}),
            "credentials.refreshToken",
        ),
        (json!({"provider": "hubspot", "credentials": {"accessToken": 7}}), "credentials.accessToken"),
        (
            json!({"provider": "hubspot", "credentials": {"accessToken": "x".repeat(4097)}}),
            "credentials.accessToken",
        ),
        (json!({"provider": "salesforce", "credentials": {"accessToken": "x"}}), "credentials.clientId"),
        (
            json!({"provider": "zoho", "credentials": {"clientId": "", "clientSecret": "b", "refreshToken": "c"}}),
            "credentials.clientId",
        ),
        (json!({"provider": "shopify", "credentials": {"accessToken": "x"}}), "credentials.shop"),
        (
            json!({"provider": "shopify", "credentials": {"shop": "evil.example/", "accessToken": "x"}}),
            "credentials.shop",
        ),
        (json!({"provider": "google_sheets", "credentials": whole, "push": {}}), "push"),
        (json!({"provider": "hubspot", "credentials": whole, "push": {"calls": "some"}}), "push.calls"),
    ] {
        let answer = connect(&app, &workspace, &body).await;
        let meta = answer.json["meta"]["field"].clone();
        answer.refused(400, "invalid_request");
        assert_eq!(meta, field, "{body}");
    }
    assert_eq!(list(&app, &workspace).await, json!([]));
    connect(&app, "ws_00000000000000000000000000", &json!({"provider": "hubspot", "credentials": whole}))
        .await
        .refused(404, "not_found");
}

#[tokio::test]
async fn an_account_is_changed_and_disconnected_in_its_own_workspace_only() {
    let app = TestApp::start().await;
    let (workspace, neighbour) = (app.workspace().await.id, app.workspace().await.id);
    let made =
        connect(&app, &workspace, &json!({"provider": "hubspot", "credentials": credentials(), "push": {}}))
            .await;
    let made = made.data(201);
    assert_eq!(made["push"], json!({"calls": "answered"}));
    let id = made["id"].as_str().unwrap();
    let path = |workspace: &str| format!("/workspaces/{workspace}/integrations/{id}");
    let change = json!({"push": {"calls": "all"}});
    app.operator("PUT", &path(&neighbour), &change).await.refused(404, "not_found");
    app.operator("DELETE", &path(&neighbour), &Value::Null).await.refused(404, "not_found");
    assert_eq!(list(&app, &neighbour).await, json!([]));
    let changed = app.operator("PUT", &path(&workspace), &change).await.data(200);
    assert_eq!(changed["push"], json!({"calls": "all"}));
    let none = app.operator("PUT", &path(&workspace), &json!({"push": null})).await.expect(200);
    assert_eq!(none["data"]["push"], Value::Null);
    for (body, field) in
        [(json!({}), "credentials"), (json!({"credentials": {"clientId": "a"}}), "credentials.clientSecret")]
    {
        let answer = app.operator("PUT", &path(&workspace), &body).await;
        assert_eq!(answer.json["meta"]["field"], field);
        answer.refused(400, "invalid_request");
    }
    let deleted = app.operator("DELETE", &path(&workspace), &Value::Null).await.expect(200);
    assert_eq!(deleted["data"], json!({"id": id, "deleted": true}));
    app.operator("DELETE", &path(&workspace), &Value::Null).await.refused(404, "not_found");
}

#[tokio::test]
async fn a_workspace_has_a_hundred_accounts_at_most() {
    let app = TestApp::start().await;
    let workspace = app.workspace().await.id;
    let body = json!({"provider": "hubspot", "credentials": {"accessToken": "x"}});
    for _ in 0..100 {
        connect(&app, &workspace, &body).await.expect(201);
    }
    connect(&app, &workspace, &body).await.refused(409, "conflict");
}
