//! `/v1/data-streams`: streams, their configuration, status and tokens (docs/contract/streams.md).

use bytes::Bytes;
use serde_json::{Value, json};

use crate::app::{Answer, TestApp};
use crate::shows::Shows;
use crate::world::World;

const NONE: &str = "dst_00000000000000000000000000";

impl World {
    /// A stream that was made.
    pub async fn stream(&self, body: &Value) -> Value {
        self.post("/v1/data-streams", body).await.data(201)
    }

    /// A stream of the kind `webhook`.
    pub async fn webhook_stream(&self) -> Value {
        self.stream(&json!({"name": "Website leads", "kind": "webhook"})).await
    }

    /// A connected account, in the store: the operator's own way to connect one is tested by itself.
    pub async fn integration(&self, provider: &str) -> String {
        let (tenant, context) = (self.tenant(), self.app().context());
        let row = store::integrations::IntegrationRow {
            id: context.ids.make(),
            provider: domain::integration::Provider::parse(provider).unwrap(),
            credentials: String::new(),
            token: String::new(),
            token_until: None,
            status: domain::integration::Status::Broken,
            last_error: None,
            push: None,
            renewing_until: None,
            created_at: context.now,
            updated_at: context.now,
            version: 0,
        };
        let id = row.id.to_string();
        self.app().store.of(tenant).tx(move |tx| store::integrations::insert(tx, &row)).await.unwrap();
        id
    }
}

/// Sends records with the token of a stream.
pub async fn send(app: &TestApp, stream: &Value, body: &Value) -> Answer {
    let path = format!("/ingest/streams/{}", stream["id"].as_str().unwrap());
    app.send("POST", &path, stream["token"].as_str(), &[], body.to_string().into()).await
}

pub fn path(stream: &Value) -> String {
    format!("/v1/data-streams/{}", stream["id"].as_str().unwrap())
}

#[tokio::test]
async fn a_stream_is_made_listed_read_and_deleted() {
    let world = World::bare().await;
    let body = json!({"name": "Website leads", "kind": "webhook", "fieldMap": {"phone": "contact.mobile", "externalId": null, "x": 1}, "config": {"bogus": 1}});
    let made = world.stream(&body).await;
    let (id, token) = (made["id"].as_str().unwrap(), made["token"].as_str().unwrap());
    let expected = json!({
        "id": id, "name": "Website leads", "kind": "webhook", "fieldMap": {"phone": "contact.mobile"}, "config": {"countryCode": "IN"},
        "integrationId": null, "status": "active", "lastError": null, "ingestUrl": format!("{}/ingest/streams/{id}", world.url),
        "createdAt": made["createdAt"], "updatedAt": made["createdAt"],
    });
    let mut shown = expected.clone();
    shown["token"] = json!(token);
    assert_eq!(made, shown);
    assert!(id.starts_with("dst_") && token.starts_with("dsk_") && token.len() == 36, "{token}");
    let second = world
        .stream(&json!({"name": "Ours", "kind": "api", "fieldMap": {}, "config": {"countryCode": "us"}}))
        .await;
    second.shows(json!({"token": null, "ingestUrl": null, "config.countryCode": "US"}));
    for key in [world.live(), world.test()] {
        let listed = world.app.get(key, "/v1/data-streams").await;
        assert!(!listed.text.contains(token), "the token is shown once");
        assert_eq!(listed.expect(200)["data"], json!([second, expected]), "newest first");
        let mut detail = expected.clone();
        detail["campaigns"] = json!([]);
        assert_eq!(world.app.get(key, &path(&made)).await.expect(200)["data"], detail);
    }
    let gone = world.delete(&path(&made)).await.expect(200);
    assert_eq!(gone["data"], json!({"id": id, "deleted": true}));
    world.fetch(&path(&made)).await.not_found();
    world.delete(&path(&made)).await.not_found();
    send(&world, &made, &json!({"phone": "9812345678"})).await.refused(401, "unauthorized");
    assert_eq!(world.get("/v1/data-streams").await["data"], json!([second]));
    world.fetch(&format!("/v1/data-streams/{NONE}")).await.not_found();
}

#[tokio::test]
async fn wrong_fields_are_named_and_change_nothing() {
    let world = World::bare().await;
    let sheets = world.integration("google_sheets").await;
    let hubspot = world.integration("hubspot").await;
    let other = world.neighbour().await;
    let foreign = other.integration("hubspot").await;
    for (change, field) in [
        (json!({"name": ""}), "name"),
        (json!({"name": "x".repeat(121)}), "name"),
        (json!({"name": null}), "name"),
        (json!({"kind": "fax"}), "kind"),
        (json!({"kind": null}), "kind"),
        (json!({"fieldMap": []}), "fieldMap"),
        (json!({"fieldMap": {"phone": ""}}), "fieldMap.phone"),
        (json!({"fieldMap": {"name": 5}}), "fieldMap.name"),
        (json!({"fieldMap": {"externalId": "x".repeat(201)}}), "fieldMap.externalId"),
        (json!({"config": []}), "config"),
        (json!({"config": {"countryCode": "IND"}}), "config.countryCode"),
        (json!({"integrationId": hubspot}), "integrationId"),
        (json!({"kind": "spreadsheet", "config": {"spreadsheetId": "s"}}), "integrationId"),
        (json!({"kind": "spreadsheet", "integrationId": sheets}), "config.spreadsheetId"),
        (
            json!({"kind": "spreadsheet", "integrationId": sheets, "config": {"spreadsheetId": "s", "includeExisting": 1}}),
            "config.includeExisting",
        ),
        (
            json!({"kind": "spreadsheet", "integrationId": hubspot, "config": {"spreadsheetId": "s"}}),
            "integrationId",
        ),
        (json!({"kind": "crm_1"}), "integrationId"),
        (json!({"kind": "crm_1", "integrationId": sheets}), "integrationId"),
        (json!({"kind": "crm_1", "integrationId": foreign}), "integrationId"),
        (json!({"kind": "crm_1", "integrationId": "int_00000000000000000000000000"}), "integrationId"),
        (json!({"kind": "crm_1", "integrationId": "nothing"}), "integrationId"),
        (
            json!({"kind": "crm_1", "integrationId": hubspot, "config": {"lifecycleStage": 1}}),
            "config.lifecycleStage",
        ),
        (json!({"kind": "crm_2", "integrationId": hubspot, "config": {"object": "Lead"}}), "integrationId"),
        (json!({"kind": "crm_3", "integrationId": hubspot}), "integrationId"),
        (json!({"kind": "storefront", "integrationId": hubspot}), "integrationId"),
    ] {
        let mut body = json!({"name": "Leads", "kind": "webhook"});
        body.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        let refused = world.post("/v1/data-streams", &body).await.invalid();
        assert_eq!(refused["meta"]["field"], field, "{body}");
    }
    for missing in ["name", "kind"] {
        let mut body = json!({"name": "Leads", "kind": "webhook"});
        body.as_object_mut().unwrap().remove(missing);
        let refused = world.post("/v1/data-streams", &body).await.invalid();
        assert_eq!(refused["meta"]["field"], missing);
    }
    assert_eq!(world.get("/v1/data-streams").await["data"], json!([]));
}

#[tokio::test]
async fn every_kind_has_its_account_and_configuration() {
    let world = World::bare().await;
    for (kind, provider, config, kept) in [
        (
            "spreadsheet",
            "google_sheets",
            json!({"spreadsheetId": "s", "sheetName": "Leads", "object": "Lead"}),
            json!({"spreadsheetId": "s", "sheetName": "Leads", "includeExisting": false, "countryCode": "IN"}),
        ),
        (
            "crm_1",
            "hubspot",
            json!({"lifecycleStage": "lead"}),
            json!({"lifecycleStage": "lead", "countryCode": "IN"}),
        ),
        ("crm_2", "salesforce", json!({}), json!({"object": "Lead", "countryCode": "IN"})),
        (
            "crm_2",
            "salesforce",
            json!({"object": "Contact"}),
            json!({"object": "Contact", "countryCode": "IN"}),
        ),
        ("crm_3", "zoho", json!({"module": "Contacts"}), json!({"module": "Contacts", "countryCode": "IN"})),
        ("storefront", "shopify", json!({"countryCode": "in"}), json!({"countryCode": "IN"})),
    ] {
        let account = world.integration(provider).await;
        let body = json!({"name": kind, "kind": kind, "config": config, "integrationId": account});
        let made = world.stream(&body).await;
        made.shows(json!({"config": kept, "integrationId": account, "token": null, "ingestUrl": null}));
        world.post(&format!("{}/records", path(&made)), &json!({"phone": "9812345678"})).await.invalid();
        world.post(&format!("{}/rotate-token", path(&made)), &Value::Null).await.conflict();
        for (wrong, field) in [
            (json!({"object": "Account"}), "config.object"),
            (json!({"module": "Deals"}), "config.module"),
            (json!({"spreadsheetId": null}), "config.spreadsheetId"),
        ] {
            if kept.get(field.trim_start_matches("config.")).is_none() {
                continue;
            }
            let refused = world.patch(&path(&made), &json!({"config": wrong})).await.invalid();
            assert_eq!(refused["meta"]["field"], field);
        }
    }
}

/// What the checks of other systems know of a stream.
async fn poll(world: &World, stream: &Value) -> Option<store::polls::PollRow> {
    let (tenant, id) = (world.tenant(), stream["id"].as_str().unwrap().parse().unwrap());
    world.app().store.of(tenant).read(move |tx| store::polls::get(tx, id)).await.unwrap()
}

#[tokio::test]
async fn another_source_is_begun_at_its_end() {
    let world = World::bare().await;
    let (one, two) = (world.integration("google_sheets").await, world.integration("google_sheets").await);
    let body = json!({"name": "Sheet", "kind": "spreadsheet", "integrationId": one, "config": {"spreadsheetId": "s", "includeExisting": true}});
    let made = world.stream(&body).await;
    let first = poll(&world, &made).await.expect("a first check");
    assert!(!first.baseline && first.next_at.is_some());
    let change = async |change: Value| world.patch(&path(&made), &change).await.data(200);
    for same in [
        json!({"name": "Other"}),
        json!({"config": {"countryCode": "US"}}),
        json!({"fieldMap": {"phone": "Tel"}}),
        json!({"config": {"spreadsheetId": "s"}}),
    ] {
        change(same).await;
        let now = poll(&world, &made).await.unwrap();
        assert_eq!((&now.source, now.baseline), (&first.source, false), "the same source goes on");
    }
    for other in [
        json!({"config": {"spreadsheetId": "t"}}),
        json!({"config": {"sheetName": "Two"}}),
        json!({"integrationId": two}),
        json!({"config": {"sheetName": null}}),
    ] {
        let before = poll(&world, &made).await.unwrap();
        change(other.clone()).await;
        let now = poll(&world, &made).await.unwrap();
        assert!(now.baseline && now.claim > before.claim, "{other} begins anew at the end of the source");
    }
    let shown = world.data(&path(&made)).await;
    shown.shows(json!({"config": {"spreadsheetId": "t", "includeExisting": true, "countryCode": "US"},
        "integrationId": two, "fieldMap": {"phone": "Tel"}, "name": "Other"}));
    world.delete(&path(&made)).await.expect(200);
    assert_eq!(poll(&world, &made).await, None);
}

#[tokio::test]
async fn a_plan_without_crm_makes_no_crm_streams() {
    let world = World::bare().await;
    let hubspot = world.integration("hubspot").await;
    let made = world.stream(&json!({"name": "CRM", "kind": "crm_1", "integrationId": hubspot})).await;
    world.patch(&path(&made), &json!({"status": "paused"})).await.expect(200);
    let features = |on: bool| json!({"features": {"crmIntegrations": on}});
    world.change(&features(false)).await;
    for (kind, provider) in
        [("crm_1", "hubspot"), ("crm_2", "salesforce"), ("crm_3", "zoho"), ("storefront", "shopify")]
    {
        let account = world.integration(provider).await;
        let body = json!({"name": "x", "kind": kind, "integrationId": account});
        world.post("/v1/data-streams", &body).await.refused(403, "plan_feature_locked");
    }
    world.patch(&path(&made), &json!({"status": "active"})).await.refused(403, "plan_feature_locked");
    assert_eq!(world.get(&path(&made)).await["data"]["status"], "paused");
    // Spreadsheets and what is pushed need no such plan.
    let sheets = world.integration("google_sheets").await;
    world.stream(&json!({"name": "x", "kind": "spreadsheet", "integrationId": sheets, "config": {"spreadsheetId": "s"}})).await;
    world.webhook_stream().await;
    world.change(&features(true)).await;
    world.patch(&path(&made), &json!({"status": "active"})).await.expect(200);
}

#[tokio::test]
async fn status_moves_as_the_table_says() {
    let world = World::bare().await;
    let sheets = world.integration("google_sheets").await;
    let made = world.stream(&json!({"name": "x", "kind": "spreadsheet", "integrationId": sheets, "config": {"spreadsheetId": "s"}})).await;
    let set = async |status: &str| world.patch(&path(&made), &json!({"status": status})).await.data(200);
    assert_eq!(set("paused").await["status"], "paused");
    assert_eq!(set("paused").await["status"], "paused");
    assert_eq!(set("active").await["status"], "active");
    // Stopped by the other side.
    let (tenant, id) = (world.tenant(), made["id"].as_str().unwrap().parse().unwrap());
    let context = world.app().context();
    world
        .app()
        .store
        .of(tenant)
        .tx(move |tx| {
            let row = store::streams::get_for_update(tx, id)?.expect("the stream");
            streams::stream::stop(tx, &context, &row, "the spreadsheet does not exist")
        })
        .await
        .unwrap();
    let stopped = world.data(&path(&made)).await;
    stopped.shows(json!({"status": "error", "lastError": "the spreadsheet does not exist"}));
    let active = set("active").await;
    assert_eq!((&active["status"], &active["lastError"]), (&json!("active"), &Value::Null));
    assert!(poll(&world, &made).await.unwrap().next_at.is_some(), "it is checked again");
    for wrong in ["error", "draft"] {
        world.patch(&path(&made), &json!({"status": wrong})).await.invalid();
    }
    world.patch(&format!("/v1/data-streams/{NONE}"), &json!({"status": "active"})).await.not_found();
}

#[tokio::test]
async fn a_rotated_token_replaces_the_old_one_at_once() {
    let world = World::bare().await;
    let mut made = world.webhook_stream().await;
    let old = made["token"].clone();
    let rotated = world.post(&format!("{}/rotate-token", path(&made)), &Value::Null).await.data(200);
    assert_eq!((&rotated["id"], &rotated["ingestUrl"]), (&made["id"], &made["ingestUrl"]));
    assert_ne!(rotated["token"], old);
    send(&world, &made, &json!({"phone": "9812345678"})).await.refused(401, "unauthorized");
    made["token"] = rotated["token"].clone();
    send(&world, &made, &json!({"phone": "9812345678"})).await.expect(202);
    world.post(&format!("/v1/data-streams/{NONE}/rotate-token"), &Value::Null).await.not_found();
    world.app.post(world.test(), &format!("{}/rotate-token", path(&made)), &Value::Null).await.read_only();
}

#[tokio::test]
async fn a_workspace_has_a_hundred_streams_and_no_more() {
    let world = World::bare().await;
    for _ in 0..100 {
        world.stream(&json!({"name": "x", "kind": "api"})).await;
    }
    let body = json!({"name": "x", "kind": "api"});
    world.post("/v1/data-streams", &body).await.refused(409, "stream_limit");
    let first = world.get("/v1/data-streams").await["data"][0].clone();
    world.delete(&path(&first)).await.expect(200);
    world.stream(&body).await;
}

#[tokio::test]
async fn test_keys_read_and_change_nothing() {
    let world = World::bare().await;
    let made = world.webhook_stream().await;
    let key = world.test();
    world.app.post(key, "/v1/data-streams", &json!({"name": "x", "kind": "api"})).await.read_only();
    world.app.patch(key, &path(&made), &json!({"name": "y"})).await.read_only();
    world.app.delete(key, &path(&made)).await.read_only();
    world
        .app
        .post(key, &format!("{}/records", path(&made)), &json!({"phone": "9812345678"}))
        .await
        .read_only();
    send(&world, &made, &json!({"phone": "9812345678"})).await.expect(202);
    let records = world.app.get(key, &format!("{}/records", path(&made))).await.expect(200);
    assert_eq!(records["data"].as_array().unwrap().len(), 1);
}

/// A key or a stream of another workspace is nothing here.
#[tokio::test]
async fn another_workspace_sees_nothing() {
    let world = World::bare().await;
    let other = world.neighbour().await;
    let (mine, theirs) = (world.webhook_stream().await, other.webhook_stream().await);
    let foreign = json!({"id": mine["id"], "token": theirs["token"]});
    send(&world, &foreign, &json!({"phone": "9812345678"})).await.refused(401, "unauthorized");
    for (method, path, body) in [
        ("GET", path(&mine), Value::Null),
        ("PATCH", path(&mine), json!({"name": "y"})),
        ("DELETE", path(&mine), Value::Null),
        ("POST", format!("{}/rotate-token", path(&mine)), Value::Null),
        ("POST", format!("{}/records", path(&mine)), json!({"phone": "9812345678"})),
        ("GET", format!("{}/records", path(&mine)), Value::Null),
    ] {
        let body = if body.is_null() { Bytes::new() } else { body.to_string().into() };
        world.send(method, &path, Some(other.live()), &[], body).await.not_found();
    }
    assert_eq!(world.get(&path(&mine)).await["data"]["name"], "Website leads");
}
