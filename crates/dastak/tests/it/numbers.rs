//! Phone numbers (docs/contract/numbers.md).

use std::sync::Arc;

use serde_json::{Value, json};

use crate::app::TestApp;
use crate::world::{self, World};

#[tokio::test]
async fn numbers_are_listed() {
    let world = World::bare().await;
    let numbers = format!("/workspaces/{}/numbers", world.workspace.id);
    let mobile = world.app.operator("POST", &numbers, &json!({"number": "98123 45678"})).await.data(201);
    let listed = world.app.get(&world.workspace.test, "/v1/numbers").await.data(200);
    assert_eq!(listed.as_array().unwrap().len(), 2);
    assert_eq!(listed[1], mobile);
    let expected = json!({
        "id": mobile["id"], "number": "+919812345678", "country": "IN", "type": "mobile", "status": "active", "voiceEnabled": true,
        "smsEnabled": false, "inboundAgentId": null, "carrier": null,
    });
    assert_eq!(mobile, expected);
    world
        .app
        .operator("DELETE", &format!("{numbers}/{}", mobile["id"].as_str().unwrap()), &Value::Null)
        .await
        .expect(200);
    assert_eq!(world.get("/v1/numbers").await["data"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_published_inbound_call_agent_answers_a_number() {
    let app = TestApp::start().await;
    let (workspace, other) = (app.workspace().await, app.workspace().await);
    let number = app.get(&workspace.live, "/v1/numbers").await.expect(200)["data"][0].clone();
    let path = format!("/v1/numbers/{}/inbound-agent", number["id"].as_str().unwrap());
    let inbound = json!({"direction": "inbound"});
    let agent = world::agent(&app, &workspace, &inbound).await;
    let body = |agent: &str| json!({"agentId": agent});

    let set = app.put(&workspace.live, &path, &body(&agent)).await.data(200);
    let mut expected = number.clone();
    expected["inboundAgentId"] = json!(agent);
    assert_eq!(set, expected);
    let draft = world::draft_agent(&app, &workspace, &inbound).await["id"].as_str().unwrap().to_owned();
    let outbound = world::agent(&app, &workspace, &json!({})).await;
    let chat = world::agent(&app, &workspace, &json!({"channel": "chat"})).await;
    let foreign = world::agent(&app, &other, &inbound).await;
    for (agent, status, code) in [
        (&draft, 400, "agent_not_published"),
        (&chat, 400, "agent_not_call"),
        (&outbound, 400, "agent_not_inbound"),
        (&foreign, 404, "not_found"),
        (&"agt_01jzzzzzzzzzzzzzzzzzzzzzzz".to_owned(), 404, "not_found"),
        (&"someone".to_owned(), 404, "not_found"),
    ] {
        app.put(&workspace.live, &path, &body(agent)).await.refused(status, code);
    }
    for wrong in [json!({}), json!({"agentId": 5}), json!({"agentId": ""})] {
        assert_eq!(
            app.put(&workspace.live, &path, &wrong).await.refused(400, "invalid_request")["meta"]["field"],
            "agentId"
        );
    }
    app.put(&other.live, &path, &body(&foreign)).await.refused(404, "not_found");
    app.put(&workspace.live, "/v1/numbers/num_1/inbound-agent", &body(&agent))
        .await
        .refused(404, "not_found");
    app.put(&workspace.test, &path, &body(&agent)).await.refused(403, "test_mode_read_only");
    assert_eq!(
        app.get(&workspace.live, "/v1/numbers").await.expect(200)["data"][0],
        expected,
        "refusals change nothing"
    );

    // While it answers, it cannot be deleted.
    let refused =
        app.delete(&workspace.live, &format!("/v1/agents/{agent}")).await.refused(409, "agent_in_use");
    assert_eq!(refused["meta"]["numberIds"], json!([number["id"]]));
    for _ in 0..2 {
        assert_eq!(
            app.put(&workspace.live, &path, &json!({"agentId": null})).await.expect(200)["data"],
            number
        );
    }
    app.delete(&workspace.live, &format!("/v1/agents/{agent}")).await.expect(200);
    app.put(&workspace.live, &path, &body(&agent)).await.refused(404, "not_found");
}

#[tokio::test]
async fn a_released_number_frees_its_agent() {
    let world = World::bare().await;
    let number = world.get("/v1/numbers").await["data"][0]["id"].as_str().unwrap().to_owned();
    let agent = world::agent(&world, &world.workspace, &json!({"direction": "inbound"})).await;
    let path = format!("/v1/numbers/{number}/inbound-agent");
    world.put(&path, &json!({"agentId": agent})).await.expect(200);
    world.operator("DELETE", &format!("/numbers/{number}"), Value::Null).await.expect(200);
    world.put(&path, &json!({"agentId": agent})).await.refused(404, "not_found");
    world.delete(&format!("/v1/agents/{agent}")).await.expect(200);
}

#[tokio::test]
async fn a_number_never_keeps_an_agent_that_is_deleted_at_the_same_time() {
    let app = Arc::new(TestApp::start().await);
    let workspace = app.workspace().await;
    let number = app.get(&workspace.live, "/v1/numbers").await.expect(200)["data"][0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let path = format!("/v1/numbers/{number}/inbound-agent");
    for _ in 0..6 {
        let agent = world::agent(&app, &workspace, &json!({"direction": "inbound"})).await;
        let (setting, key, target, body) =
            (app.clone(), workspace.live.clone(), path.clone(), json!({"agentId": agent}));
        let setting = tokio::spawn(async move { setting.put(&key, &target, &body).await });
        let deleted = app.delete(&workspace.live, &format!("/v1/agents/{agent}")).await;
        let set = setting.await.unwrap();
        let answering =
            app.get(&workspace.live, "/v1/numbers").await.expect(200)["data"][0]["inboundAgentId"].clone();
        match deleted.status {
            200 => {
                set.refused(404, "not_found");
                assert_eq!(answering, Value::Null);
            }
            _ => {
                deleted.refused(409, "agent_in_use");
                assert_eq!((set.status, answering), (200, json!(agent)));
                app.put(&workspace.live, &path, &json!({"agentId": null})).await.expect(200);
            }
        }
    }
}

/// What the settings do not have cannot be named, and changes nothing.
#[tokio::test]
async fn a_carrier_that_there_is_not_is_refused() {
    let app = TestApp::start().await;
    let workspace = app.workspace().await;
    let numbers = format!("/workspaces/{}/numbers", workspace.id);
    let before = app.get(&workspace.live, "/v1/numbers").await.expect(200)["data"].clone();
    let body = json!({"number": "98123 45678", "carrier": "nobody"});
    let refused = app.operator("POST", &numbers, &body).await.refused(400, "invalid_request");
    assert_eq!(refused["meta"]["field"], "carrier", "{refused}");
    let path = format!("{numbers}/{}", before[0]["id"].as_str().unwrap());
    app.operator("PATCH", &path, &json!({"carrier": "nobody"})).await.refused(400, "invalid_request");
    app.operator("PATCH", &path, &json!({})).await.refused(400, "invalid_request");
    assert_eq!(app.get(&workspace.live, "/v1/numbers").await.expect(200)["data"], before);
    let none = app.operator("PATCH", &path, &json!({"carrier": null})).await.expect(200)["data"].clone();
    assert_eq!(none, before[0]);
    let other = app.workspace().await;
    let foreign = format!("/workspaces/{}/numbers/{}", other.id, before[0]["id"].as_str().unwrap());
    app.operator("PATCH", &foreign, &json!({"carrier": null})).await.refused(404, "not_found");
}
