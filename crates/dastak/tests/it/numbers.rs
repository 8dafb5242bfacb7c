//! Phone numbers (docs/contract/numbers.md).

use std::sync::Arc;

use serde_json::{Value, json};

use crate::world::World;

#[tokio::test]
async fn numbers_are_listed() {
    let world = World::bare().await;
    let numbers = format!("/workspaces/{}/numbers", world.workspace.id);
    let mobile = world.app.operator("POST", &numbers, &json!({"number": "98123 45678"})).await.data(201);
    let listed = world.app.get(world.test(), "/v1/numbers").await.data(200);
    assert_eq!(listed.as_array().unwrap().len(), 2);
    assert_eq!(listed[1], mobile);
    let expected = json!({
        "id": mobile["id"], "number": "+919812345678", "country": "IN", "type": "mobile", "status": "active", "voiceEnabled": true,
        "smsEnabled": false, "inboundAgentId": null, "carrier": null, "series": null,
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
    let world = World::bare().await;
    let other = world.neighbour().await;
    let number = world.get("/v1/numbers").await["data"][0].clone();
    let path = format!("/v1/numbers/{}/inbound-agent", number["id"].as_str().unwrap());
    let inbound = json!({"direction": "inbound"});
    let agent = world.agent(&inbound).await;
    let body = |agent: &str| json!({"agentId": agent});

    let set = world.put(&path, &body(&agent)).await.data(200);
    let mut expected = number.clone();
    expected["inboundAgentId"] = json!(agent);
    assert_eq!(set, expected);
    let draft = world.draft_agent(&inbound).await["id"].as_str().unwrap().to_owned();
    let outbound = world.agent(&json!({})).await;
    let chat = world.agent(&json!({"channel": "chat"})).await;
    let foreign = other.agent(&inbound).await;
    for (agent, status, code) in [
        (&draft, 400, "agent_not_published"),
        (&chat, 400, "agent_not_call"),
        (&outbound, 400, "agent_not_inbound"),
        (&foreign, 404, "not_found"),
        (&"agt_01jzzzzzzzzzzzzzzzzzzzzzzz".to_owned(), 404, "not_found"),
        (&"someone".to_owned(), 404, "not_found"),
    ] {
        world.put(&path, &body(agent)).await.refused(status, code);
    }
    for wrong in [json!({}), json!({"agentId": 5}), json!({"agentId": ""})] {
        world.put(&path, &wrong).await.invalid_field("agentId");
    }
    other.put(&path, &body(&foreign)).await.not_found();
    world.put("/v1/numbers/num_1/inbound-agent", &body(&agent)).await.not_found();
    world.app.put(world.test(), &path, &body(&agent)).await.read_only();
    assert_eq!(world.get("/v1/numbers").await["data"][0], expected, "refusals change nothing");

    // While it answers, it cannot be deleted.
    let refused = world.delete(&format!("/v1/agents/{agent}")).await.refused(409, "agent_in_use");
    assert_eq!(refused["meta"]["numberIds"], json!([number["id"]]));
    for _ in 0..2 {
        assert_eq!(world.put(&path, &json!({"agentId": null})).await.expect(200)["data"], number);
    }
    world.delete(&format!("/v1/agents/{agent}")).await.expect(200);
    world.put(&path, &body(&agent)).await.not_found();
}

#[tokio::test]
async fn a_released_number_frees_its_agent() {
    let world = World::bare().await;
    let number = world.get("/v1/numbers").await["data"][0]["id"].as_str().unwrap().to_owned();
    let agent = world.agent(&json!({"direction": "inbound"})).await;
    let path = format!("/v1/numbers/{number}/inbound-agent");
    world.put(&path, &json!({"agentId": agent})).await.expect(200);
    world.operator("DELETE", &format!("/numbers/{number}"), Value::Null).await.expect(200);
    world.put(&path, &json!({"agentId": agent})).await.not_found();
    world.delete(&format!("/v1/agents/{agent}")).await.expect(200);
}

#[tokio::test]
async fn a_number_never_keeps_an_agent_that_is_deleted_at_the_same_time() {
    let world = Arc::new(World::bare().await);
    let number = world.get("/v1/numbers").await["data"][0]["id"].as_str().unwrap().to_owned();
    let path = format!("/v1/numbers/{number}/inbound-agent");
    for _ in 0..6 {
        let agent = world.agent(&json!({"direction": "inbound"})).await;
        let (setting, target, body) = (world.clone(), path.clone(), json!({"agentId": agent}));
        let setting = tokio::spawn(async move { setting.put(&target, &body).await });
        let deleted = world.delete(&format!("/v1/agents/{agent}")).await;
        let set = setting.await.unwrap();
        let answering = world.get("/v1/numbers").await["data"][0]["inboundAgentId"].clone();
        match deleted.status {
            200 => {
                set.not_found();
                assert_eq!(answering, Value::Null);
            }
            _ => {
                deleted.refused(409, "agent_in_use");
                assert_eq!((set.status, answering), (200, json!(agent)));
                world.put(&path, &json!({"agentId": null})).await.expect(200);
            }
        }
    }
}

/// What the settings do not have cannot be named, and changes nothing.
#[tokio::test]
async fn a_carrier_that_there_is_not_is_refused() {
    let world = World::bare().await;
    let numbers = format!("/workspaces/{}/numbers", world.workspace.id);
    let before = world.get("/v1/numbers").await["data"].clone();
    let body = json!({"number": "98123 45678", "carrier": "nobody"});
    let refused = world.app.operator("POST", &numbers, &body).await.invalid();
    assert_eq!(refused["meta"]["field"], "carrier", "{refused}");
    let path = format!("{numbers}/{}", before[0]["id"].as_str().unwrap());
    world.app.operator("PATCH", &path, &json!({"carrier": "nobody"})).await.invalid();
    world.app.operator("PATCH", &path, &json!({})).await.invalid();
    assert_eq!(world.get("/v1/numbers").await["data"], before);
    let none =
        world.app.operator("PATCH", &path, &json!({"carrier": null})).await.expect(200)["data"].clone();
    assert_eq!(none, before[0]);
    let other = world.neighbour().await;
    let foreign = format!("/workspaces/{}/numbers/{}", other.workspace.id, before[0]["id"].as_str().unwrap());
    world.app.operator("PATCH", &foreign, &json!({"carrier": null})).await.not_found();
}
