//! When a conversation on the messaging channel cannot go on: to whom the customer is left, and how it ends
//! (docs/contract/channel-conversations.md#hand-off, #end).

use serde_json::{Value, json};

use crate::channel_conversations::Room;
use crate::chats::{ends, lines};

const ASHA: &str = "+919812345678";

/// Reasons of the requests for a person.
async fn reasons(room: &Room) -> Vec<Value> {
    let events = room.kit.events("chat.handoff_requested").await;
    events.iter().map(|event| event["data"]["reason"].clone()).collect()
}

#[tokio::test]
async fn a_marketing_template_of_a_flow_needs_an_opt_in() {
    let room = Room::open().await;
    let template = json!({"name": "offer", "language": "en", "params": {"body": ["Asha"]}});
    room.kit
        .publish(json!([
            {"id": "s", "type": "say", "text": "One moment.", "next": "m"},
            {"id": "m", "type": "message", "template": template, "next": "z"},
            ends(),
        ]))
        .await;
    room.writes("Hi").await;
    room.reply().await;
    assert_eq!(reasons(&room).await, [json!("opt_in_required")]);
    assert!(!room.sent("agent").await.contains(&"Hello Asha, it is due.".to_owned()));
}

#[tokio::test]
async fn a_number_that_is_gone_leaves_the_customer_to_a_person() {
    let room = Room::open().await;
    room.writes("Hi").await;
    let path = format!("/chatapp/numbers/{}", room.number);
    room.kit.operator("DELETE", &path, Value::Null).await;
    room.reply().await;
    assert_eq!(reasons(&room).await, [json!("number_unavailable")]);
    let shown = room.only().await;
    assert_eq!(lines(&shown["messages"]), ["user: Hi"], "the words stay");
    assert_eq!(room.sent("agent").await, Vec::<String>::new());
}

#[tokio::test]
async fn a_conversation_lasts_a_week_and_the_next_message_begins_another() {
    let room = Room::open().await;
    for day in 0..10 {
        room.writes(&format!("Day {day}")).await;
        room.reply().await;
        room.kit.app.advance(20 * 3_600 - 4).await;
    }
    let listed = room.list("").await;
    let shown: Vec<Value> =
        listed.iter().map(|one| json!([one["status"], one["endCause"], one["origin"]])).collect();
    assert_eq!(shown, [json!(["active", null, "inbound"]), json!(["ended", "max_duration", "inbound"])]);
    assert_eq!(room.kit.events("chat.completed").await.len(), 1);
}

#[tokio::test]
async fn who_writes_not_to_be_called_is_not_called() {
    let room = Room::open().await;
    let app = &room.kit.app;
    app.set_clock(&crate::call_simulation::noon_after(&app.now().await).to_string()).await;
    let caller = crate::agents::create_active(app, &room.kit.workspace, &json!({"systemPrompt": "x"})).await;
    room.kit.operator("POST", "/numbers", json!({"number": "+918044445555"})).await.expect(201);
    let order = json!({"agentId": caller, "toNumber": ASHA});
    // A stop of messages leaves calls as they were.
    room.writes("STOP").await;
    app.post(room.kit.live(), "/v1/calls", &order).await.expect(200);
    room.writes("Do not call me again").await;
    let refused = app.post(room.kit.live(), "/v1/calls", &order).await;
    assert!((400..500).contains(&refused.status), "{}", refused.text);
    let calls = app.get(room.kit.live(), "/v1/calls").await.expect(200);
    let placed = calls["data"].as_array().unwrap().iter().filter(|call| call["state"] != "blocked").count();
    assert_eq!(placed, 1, "{calls}");
}
