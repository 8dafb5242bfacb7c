//! When a conversation on the messaging channel cannot go on: to whom the customer is left, and how it ends
//! (docs/contract/channel-conversations.md#hand-off, #end).

use domain::ports::ProviderFault;
use serde_json::{Value, json};

use crate::channel_conversations::Room;
use crate::chats::{Turn, ends, lines, tool};

const ASHA: &str = "+919812345678";

/// Reasons of the requests for a person.
async fn reasons(room: &Room) -> Vec<Value> {
    let events = room.events("chat.handoff_requested").await;
    events.iter().map(|event| event["data"]["reason"].clone()).collect()
}

#[tokio::test]
async fn a_marketing_template_of_a_flow_needs_an_opt_in() {
    let room = Room::open().await;
    let template = json!({"name": "offer", "language": "en", "params": {"body": ["Asha"]}});
    room.publish(json!([
        {"id": "s", "type": "say", "text": "One moment.", "next": "m"},
        {"id": "m", "type": "message", "template": template, "next": "z"},
        ends(),
    ]))
    .await;
    room.writes("Hi").await;
    room.reply().await;
    assert_eq!(reasons(&room).await, [json!("opt_in_required")]);
    assert!(!lines(&room.only().await["messages"]).contains(&"agent: Hello Asha, it is due.".to_owned()));
}

#[tokio::test]
async fn a_number_that_is_gone_leaves_the_customer_to_a_person() {
    let room = Room::open().await;
    room.writes("Hi").await;
    let path = format!("/chatapp/numbers/{}", room.number);
    room.operator("DELETE", &path, Value::Null).await;
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
        room.advance(20 * 3_600 - 4).await;
    }
    let listed = room.conversations("").await;
    let shown: Vec<Value> =
        listed.iter().map(|one| json!([one["status"], one["endCause"], one["origin"]])).collect();
    assert_eq!(shown, [json!(["active", null, "inbound"]), json!(["ended", "max_duration", "inbound"])]);
    assert_eq!(room.events("chat.completed").await.len(), 1);
}

#[tokio::test]
async fn who_writes_not_to_be_called_is_not_called() {
    let room = Room::open().await;
    let app = &room.app;
    app.set_clock(&crate::world::noon_after(&app.now().await).to_string()).await;
    let caller = room.agent(&json!({"systemPrompt": "x"})).await;
    room.operator("POST", "/numbers", json!({"number": "+918044445555"})).await.expect(201);
    let order = json!({"agentId": caller, "toNumber": ASHA});
    // A stop of messages leaves calls as they were.
    room.writes("STOP").await;
    app.post(room.live(), "/v1/calls", &order).await.expect(200);
    room.writes("Do not call me again").await;
    let refused = app.post(room.live(), "/v1/calls", &order).await;
    assert!((400..500).contains(&refused.status), "{}", refused.text);
    let calls = app.get(room.live(), "/v1/calls").await.expect(200);
    let placed = calls["data"].as_array().unwrap().iter().filter(|call| call["state"] != "blocked").count();
    assert_eq!(placed, 1, "{calls}");
}

#[tokio::test]
async fn an_agent_that_cannot_go_on_waits_in_the_inbox() {
    let room = Room::open().await;
    room.tools(json!(["transfer_to_human"])).await;
    room.model.will((0..3).map(|_| Turn::Fail(ProviderFault::Unreachable)));
    room.writes("Hi").await;
    room.reply().await;
    let events = room.events("chat.handoff_requested").await;
    assert_eq!((events.len(), &events[0]["data"]["reason"]), (1, &json!("ai_error")));
    assert_eq!(lines(&room.only().await["messages"]), ["user: Hi"], "nothing is taken back");
    // Somebody who asks for a person gets one.
    let id = room.only().await["id"].as_str().unwrap().to_owned();
    room.act(&id, "takeover", Value::Null).await.expect(200);
    room.act(&id, "handback", Value::Null).await.expect(200);
    room.model.will([tool("", "transfer_to_human", json!({}))]);
    room.writes("A person please").await;
    room.reply().await;
    let events = room.events("chat.handoff_requested").await;
    assert_eq!(events.last().unwrap()["data"]["reason"], Value::Null);
}

#[tokio::test]
async fn a_conversation_that_the_agent_cannot_take_waits_in_the_inbox() {
    let room = Room::open().await;
    room.change(&json!({"costPerChatMinor": 2_000_000})).await;
    room.writes("Hi").await;
    room.reply().await;
    let shown = room.only().await;
    assert_eq!((&shown["origin"], &shown["status"]), (&json!("ai_unavailable"), &json!("active")));
    let events = room.events("chat.handoff_requested").await;
    assert_eq!((events.len(), &events[0]["data"]["reason"]), (1, &json!("insufficient_balance")));
    assert_eq!(room.model.asked(), 0);
}

#[tokio::test]
async fn stop_ends_a_conversation_and_silence_does_in_time() {
    let room = Room::open().await;
    room.writes("Hi").await;
    room.reply().await;
    room.writes("STOP").await;
    room.reply().await;
    let shown = room.only().await;
    assert_eq!((&shown["status"], &shown["endCause"]), (&json!("ended"), &json!("opted_out")));
    assert_eq!(room.model.asked(), 1);
    let refused = room.start(&room.body()).await.refused(403, "contact_opted_out");
    assert!(refused["meta"]["reason"].is_string(), "{refused}");
    let mut other = room.body();
    other["to"] = json!("+919812345679");
    let id = room.start(&other).await.expect(201)["data"]["chatId"].as_str().unwrap().to_owned();
    room.advance(24 * 3_600 + 1).await;
    let shown = room.conversation(&id).await;
    assert_eq!((&shown["status"], &shown["endCause"]), (&json!("ended"), &json!("no_reply")));
    assert_eq!(room.charges().await.len(), 1, "only the conversation in which the customer wrote is charged");
}

#[tokio::test]
async fn who_takes_no_conversation_and_why() {
    // It is noon in India; the agent comes an hour later.
    let room = Room::open().await;
    let noon = crate::world::noon_after(&room.now().await);
    room.set_clock(&noon.to_string()).await;
    let path = format!("/agents/{}/business-hours", room.agent);
    let hours = json!([{"days": [0, 1, 2, 3, 4, 5, 6], "from": "13:00", "to": "18:00"}]);
    room.operator("PUT", &path, json!({"timezone": "Asia/Kolkata", "hours": hours})).await.expect(200);
    room.writes("Hi").await;
    room.reply().await;
    let reasons = async || {
        let told = room.events("chat.handoff_requested").await;
        told.iter().map(|event| event["data"]["reason"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(reasons().await, ["outside_business_hours"]);
    assert_eq!(room.only().await["origin"], "ai_unavailable");
    let id = room.only().await["id"].as_str().unwrap().to_owned();
    room.act(&id, "end", Value::Null).await.expect(200);
    room.advance(3 * 3_600).await;
    let agent = format!("/v1/agents/{}", room.agent);
    room.put(&agent, &json!({"systemPrompt": "Greet {{name}}."})).await.expect(200);
    room.writes("Hi").await;
    assert_eq!(reasons().await, ["outside_business_hours", "agent_unavailable"]);
    let id = room.conversations("?status=active").await[0]["id"].as_str().unwrap().to_owned();
    room.act(&id, "end", Value::Null).await.expect(200);
    // Where agents are off, nobody is told to wait.
    room.change(&json!({"features": {"chatappAgents": false}})).await;
    room.writes("Hi").await;
    assert_eq!(room.conversations("").await.len(), 2);
    assert_eq!(room.model.asked(), 0);
    assert_eq!(room.charges().await, vec![], "nobody is charged for a conversation without an agent");
}

#[tokio::test]
async fn silence_ends_a_conversation_that_waits_for_nobody() {
    let room = Room::open().await;
    room.tools(json!(["transfer_to_human"])).await;
    room.writes("Hi").await;
    room.reply().await;
    room.advance(24 * 3_600).await;
    assert_eq!(room.only().await["endCause"], "idle_timeout");
    assert_eq!(room.charges().await.len(), 1);
    // One that waits for a person goes on waiting.
    room.model.will([tool("", "transfer_to_human", json!({}))]);
    room.writes("A person please").await;
    room.reply().await;
    room.advance(24 * 3_600).await;
    assert_eq!(room.conversations("?status=active").await.len(), 1);
}

#[tokio::test]
async fn a_template_that_nobody_has_leaves_the_customer_to_a_person() {
    let room = Room::open().await;
    room.tools(json!(["chatapp_message"])).await;
    let named = json!({"template": {"name": "none", "language": "en"}});
    room.model.will([tool("", "chatapp_message", named)]);
    room.writes("Hi").await;
    room.reply().await;
    let events = room.events("chat.handoff_requested").await;
    assert_eq!((events.len(), &events[0]["data"]["reason"]), (1, &json!("template_not_found")));
    assert_eq!(room.sent("agent").await, [""], "a message without words that failed");
}

#[tokio::test]
async fn a_suspension_ends_conversations() {
    let room = Room::open().await;
    room.writes("Hi").await;
    room.reply().await;
    room.change(&json!({"suspended": true})).await;
    room.advance(1).await;
    room.change(&json!({"suspended": false})).await;
    let shown = room.only().await;
    assert_eq!((&shown["status"], &shown["endCause"]), (&json!("ended"), &json!("abandoned")));
    assert_eq!(room.conversations("?endCause=abandoned").await.len(), 1);
}

/// Each hand-over writes an event with the conversation's words, so a workspace has so many a minute.
#[tokio::test]
async fn hand_overs_have_a_rate() {
    let room = Room::open().await;
    room.writes("Hi").await;
    room.reply().await;
    let id = room.only().await["id"].as_str().unwrap().to_owned();
    room.change(&json!({"limits": {"handOversPerMinute": 2}})).await;
    room.act(&id, "takeover", Value::Null).await.expect(200);
    room.act(&id, "handback", Value::Null).await.expect(200);
    let before = room.conversation(&id).await;
    for what in ["takeover", "handback"] {
        let refused = room.act(&id, what, Value::Null).await;
        let wait: i64 = refused.header("retry-after").expect("how long to wait").parse().unwrap();
        assert!((1..=60).contains(&wait), "{wait}");
        refused.refused(429, "rate_limited");
    }
    assert_eq!(room.conversation(&id).await, before, "it has not changed hands");
    room.advance(60).await;
    room.act(&id, "takeover", Value::Null).await.expect(200);
}
