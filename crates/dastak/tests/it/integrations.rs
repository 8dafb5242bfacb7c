//! Accounts of outside systems over the operator API (docs/contract/integrations.md#accounts).

use serde_json::{Value, json};

use crate::app::Answer;
use crate::fakes::credentials;
use crate::shows::Shows;
use crate::world::World;

impl World {
    /// Connects an account.
    pub async fn connect(&self, body: &Value) -> Answer {
        self.operator("POST", "/integrations", body.clone()).await
    }
}

async fn list(world: &World) -> Value {
    world.operator("GET", "/integrations", Value::Null).await.data(200)
}

#[tokio::test]
async fn accounts_of_every_system_are_connected_and_never_shown() {
    let world = World::bare().await;
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
        let answer = world.connect(&json!({"provider": provider, "credentials": credentials})).await;
        assert!(!answer.text.contains("hush"), "{}", answer.text);
        let data = answer.data(201);
        data.shows(json!({"provider": provider, "status": "active", "lastError": null, "push": null}));
        assert!(data["id"].as_str().unwrap().starts_with("int_"));
        made.push(data);
    }
    made.reverse();
    assert_eq!(list(&world).await, json!(made), "newest first");
    // Neither the store nor the operator log has them.
    let tenant = world.tenant();
    let rows = world.app().store.of(tenant).read(store::integrations::list).await.unwrap();
    assert!(rows.iter().all(|row| !format!("{row:?}").contains("hush")));
    let log = world.app.operator("GET", "/log?limit=100", &Value::Null).await.expect(200).to_string();
    assert!(log.contains("createIntegration") && !log.contains("hush"), "{log}");
}

#[tokio::test]
async fn what_is_wrong_with_an_account_is_named_and_nothing_is_stored() {
    let world = World::bare().await;
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
        let answer = world.connect(&body).await;
        let meta = answer.json["meta"]["field"].clone();
        answer.invalid();
        assert_eq!(meta, field, "{body}");
    }
    assert_eq!(list(&world).await, json!([]));
    let (nobody, body) =
        ("ws_00000000000000000000000000", json!({"provider": "hubspot", "credentials": whole}));
    world.app.operator("POST", &format!("/workspaces/{nobody}/integrations"), &body).await.not_found();
}

#[tokio::test]
async fn an_account_is_changed_and_disconnected_in_its_own_workspace_only() {
    let world = World::bare().await;
    let neighbour = world.neighbour().await;
    let body = json!({"provider": "hubspot", "credentials": credentials(), "push": {}});
    let made = world.connect(&body).await.data(201);
    assert_eq!(made["push"], json!({"calls": "answered"}));
    let id = made["id"].as_str().unwrap();
    let path = &format!("/integrations/{id}");
    let change = json!({"push": {"calls": "all"}});
    neighbour.operator("PUT", path, change.clone()).await.not_found();
    neighbour.operator("DELETE", path, Value::Null).await.not_found();
    assert_eq!(list(&neighbour).await, json!([]));
    let changed = world.operator("PUT", path, change).await.data(200);
    assert_eq!(changed["push"], json!({"calls": "all"}));
    let none = world.operator("PUT", path, json!({"push": null})).await.expect(200);
    assert_eq!(none["data"]["push"], Value::Null);
    for (body, field) in
        [(json!({}), "credentials"), (json!({"credentials": {"clientId": "a"}}), "credentials.clientSecret")]
    {
        let answer = world.operator("PUT", path, body).await;
        assert_eq!(answer.json["meta"]["field"], field);
        answer.invalid();
    }
    let deleted = world.operator("DELETE", path, Value::Null).await.expect(200);
    assert_eq!(deleted["data"], json!({"id": id, "deleted": true}));
    world.operator("DELETE", path, Value::Null).await.not_found();
}

#[tokio::test]
async fn a_workspace_has_a_hundred_accounts_at_most() {
    let world = World::bare().await;
    let body = json!({"provider": "hubspot", "credentials": {"accessToken": "x"}});
    for _ in 0..100 {
        world.connect(&body).await.expect(201);
    }
    world.connect(&body).await.conflict();
}
