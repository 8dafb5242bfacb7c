//! What members see of people's numbers (docs/contract/audit.md#masked-numbers).

use domain::tenant::Role;
use serde_json::{Value, json};

use crate::world::World;

#[tokio::test]
async fn members_see_masked_numbers_and_reveal_one() {
    let world = World::open().await;
    let phone = "+919812345672";
    let contact = json!({"externalRef": "r-1", "phone": phone, "name": "9812345672",
        "attributes": {"other": "call ९८१२३४५६७२", "plan": 12}});
    let contact = world.post("/v1/contacts", &contact).await.id(201);
    let call =
        world.place(world.live(), "0001").await.expect(200)["interactionId"].as_str().unwrap().to_owned();
    let whole = world.call(world.live(), &call).await;
    let (editor, viewer) = (world.member(Role::Editor).await, world.member(Role::Viewer).await);
    let path = format!("/v1/contacts/{contact}");
    for member in [&editor, &viewer] {
        let seen = member.get(&path).await.data(200);
        assert_eq!(seen["phone"], "98••• ••672");
        assert_eq!(seen["name"], "98••• ••672");
        assert_eq!(seen["attributes"], json!({"other": "call 98••• ••672", "plan": 12}));
        assert_eq!(seen["id"], *contact);
        let seen = member.get(&format!("/v1/calls/{call}")).await.data(200);
        assert!(seen["toNumber"].as_str().unwrap().contains('•'), "{seen}");
        assert_eq!(seen["fromNumber"], whole["fromNumber"], "the workspace's own number stays");
        assert_eq!((&seen["id"], &seen["startedAt"]), (&whole["id"], &whole["startedAt"]));
        let listed = member.get("/v1/contacts").await.expect(200).to_string();
        assert!(!listed.contains("9812345672"), "{listed}");
    }
    assert_eq!(world.data(&path).await["phone"], phone, "keys see it whole");
    // What is masked is not stored in place of the number.
    let kept = member_change(&editor, &path, json!({"externalRef": "r-1", "name": "98••• ••672"})).await;
    assert_eq!(kept.0, 400, "{}", kept.1);
    assert!(kept.1.to_string().contains("name holds a masked number"), "{}", kept.1);
    assert_eq!(world.data(&path).await["name"], "9812345672");
    // One is shown, and the log says to whom.
    let shown = editor.post(&format!("{path}/reveal"), &Value::Null).await.data(200);
    assert_eq!(shown, json!({"number": phone}));
    let shown = editor.post(&format!("/v1/calls/{call}/reveal"), &Value::Null).await.data(200);
    assert_eq!(shown["number"], whole["toNumber"]);
    viewer.post(&format!("{path}/reveal"), &Value::Null).await.refused(403, "role_missing");
    let listed = world.list(&format!("/v1/audit/actions?objectId={contact}&operation=revealContact")).await;
    assert_eq!(listed.len(), 1, "{listed:?}");
    assert!(listed[0]["actor"].as_str().unwrap().starts_with("usr_"), "{listed:?}");
    assert!(listed[0]["sessionId"].is_string(), "{listed:?}");
    assert!(!listed[0].to_string().contains("9812345672"));
    // A key cannot, and there is nothing to show of somebody who is erased or elsewhere.
    assert!(matches!(world.post(&format!("{path}/reveal"), &Value::Null).await.status, 401 | 403 | 404));
    world.erase(&contact).await.expect(200);
    assert!(matches!(editor.post(&format!("{path}/reveal"), &Value::Null).await.status, 404 | 410));
}

async fn member_change(member: &crate::world::Member, path: &str, body: Value) -> (u16, Value) {
    let answer = member.put(path, &body).await;
    (answer.status, answer.json)
}

#[tokio::test]
async fn a_member_may_see_so_many_numbers() {
    let world = World::open().await;
    let contact =
        world.post("/v1/contacts", &json!({"externalRef": "r", "phone": "+919812345672"})).await.id(201);
    let (one, other) = (world.member(Role::Editor).await, world.member(Role::Admin).await);
    let path = format!("/v1/contacts/{contact}/reveal");
    for _ in 0..60 {
        one.post(&path, &Value::Null).await.expect(200);
    }
    let refused = one.post(&path, &Value::Null).await;
    assert!(refused.header("retry-after").is_some());
    refused.refused(429, "rate_limited");
    other.post(&path, &Value::Null).await.expect(200);
    let listed = world.list("/v1/audit/actions?operation=revealContact&limit=100").await;
    assert_eq!(listed.len(), 61, "a refusal is no action");
    world.advance(60).await;
    one.post(&path, &Value::Null).await.expect(200);
}

#[tokio::test]
async fn what_members_do_with_rows_of_keys_is_recorded() {
    let world = World::open().await;
    let editor = world.member(Role::Editor).await;
    let call = editor.post("/v1/calls", &world.order("+919812340001", &json!({}))).await;
    assert_eq!(call.status, 200, "{}", call.text);
    editor.put(&format!("/v1/agents/{}", world.agent), &json!({"name": "Kavya"})).await.expect(200);
    editor.get("/v1/agents").await.expect(200);
    let listed = world.list("/v1/audit/actions?limit=2").await;
    let operations: Vec<&str> = listed.iter().map(|row| row["operation"].as_str().unwrap()).collect();
    assert_eq!(operations, ["updateAgent", "placeCall"]);
    assert!(listed.iter().all(|row| row["actor"].as_str().unwrap().starts_with("usr_")), "{listed:?}");
}
