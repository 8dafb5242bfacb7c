//! What is sent on the messaging channel during calls (docs/contract/channel-conversations.md#during-calls).

use serde_json::{Value, json};

use crate::channel_conversations::{ASHA, Room};
use crate::shows::Shows;

/// A call to the customer, at noon; its id.
async fn call_of(room: &Room) -> String {
    let app = &room.app;
    app.set_clock(&crate::world::noon_after(&app.now().await).to_string()).await;
    let caller = room.agent(&json!({"systemPrompt": "x"})).await;
    room.operator("POST", "/numbers", json!({"number": "+918044445555"})).await.expect(201);
    let placed = app.post(room.live(), "/v1/calls", &json!({"agentId": caller, "toNumber": ASHA})).await;
    placed.expect(200)["interactionId"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_message_of_a_call_is_followed_up_for_three_days() {
    for (days, origin) in [(2, "call_followup"), (4, "inbound")] {
        let room = Room::open().await;
        let app = &room.app;
        let call = call_of(&room).await;
        let template = json!({"name": "due_reminder", "language": "en", "params": {"body": ["Asha"]}});
        let (tenant, id) = (room.tenant(), call.parse().unwrap());
        channel::speaking::during_call(app.app(), tenant, id, Some(template), String::new())
            .await
            .expect("it is taken");
        let summary = "update calls set summary = 'Asha pays on Friday.'";
        app.store(move |tx| tx.exec(summary, &[])).await;
        app.advance(5).await;
        assert_eq!(room.sent("voice_tool").await, ["Hello Asha, it is due."]);
        app.advance(days * 24 * 3_600).await;
        room.writes("I have paid").await;
        room.reply().await;
        let shown = room.only().await;
        assert_eq!(shown["origin"], origin);
        let started = room.events("chat.started").await;
        let linked = if origin == "inbound" { Value::Null } else { json!(call) };
        assert_eq!((started.len(), &started[0]["data"]["linkedCallId"]), (1, &linked));
        let prompt = room.model.orders.lock().unwrap().last().unwrap().prompt.clone();
        let known = "The customer answers this message of the business: Hello Asha, it is due.\n\
            Summary of the call during which it was sent: Asha pays on Friday.";
        assert_eq!(prompt.ends_with(known), origin == "call_followup", "{prompt}");
    }
}

#[tokio::test]
async fn what_a_call_cannot_send_is_listed_with_its_code() {
    let room = Room::open().await;
    let app = &room.app;
    app.set_clock(&crate::world::noon_after(&app.now().await).to_string()).await;
    let caller = room.agent(&json!({"systemPrompt": "x"})).await;
    room.operator("POST", "/numbers", json!({"number": "+918044445555"})).await.expect(201);
    let placed = app.post(room.live(), "/v1/calls", &json!({"agentId": caller, "toNumber": ASHA})).await;
    let call = placed.expect(200)["interactionId"].as_str().unwrap().to_owned();
    let (tenant, call) = (room.tenant(), call.parse().unwrap());
    let template = |name: &str| Some(json!({"name": name, "language": "en", "params": {"body": ["Asha"]}}));
    for (template, text, code, title) in [
        (None, "x".repeat(4_097), -1_003, "text_too_long"),
        (None, "Hello".to_owned(), -1_004, "window_closed"),
        (None, " ".to_owned(), -1_005, "invalid_message"),
        (template("offer"), String::new(), -1_006, "opt_in_required"),
        (template("nobodys"), String::new(), -1_008, "template_not_found"),
    ] {
        channel::speaking::during_call(app.app(), tenant, call, template, text).await.expect("it is kept");
        let path = "/v1/chatapp/messages?status=failed&limit=1";
        let failed = app.get(room.live(), path).await.expect(200)["data"][0].clone();
        failed.shows(json!({"source": "voice_tool", "error.code": code, "error.title": title}));
        assert!(failed["statuses"]["failedAt"].is_string());
    }
    assert_eq!(room.events("message.failed").await.len(), 5);
}

#[tokio::test]
async fn a_call_sends_nothing_from_a_number_that_the_provider_does_not_let_send() {
    for word in ["BANNED", "DISCONNECTED", "DELETED", "MIGRATED"] {
        let room = Room::open().await;
        let app = &room.app;
        let call = call_of(&room).await;
        let (tenant, call) = (room.tenant(), call.parse().unwrap());
        crate::channel_refused::stands(&room, &room.number, word).await;
        let template = Some(json!({"name": "due_reminder", "language": "en", "params": {"body": ["Asha"]}}));
        let sent = async || {
            channel::speaking::during_call(app.app(), tenant, call, template.clone(), String::new())
                .await
                .expect("it is kept");
            // It is refused when it is taken, so nothing waits.
            let path = "/v1/chatapp/messages?limit=10";
            let listed = app.get(room.live(), path).await.data(200);
            let told = |one: &Value| json!([one["source"], one["status"], one["error"]["code"]]);
            listed.as_array().unwrap().iter().map(told).collect::<Vec<_>>()
        };
        let failed = json!(["voice_tool", "failed", -1005]);
        assert_eq!(sent().await, std::slice::from_ref(&failed), "{word}");
        let told = room.events("message.failed").await;
        let error = &told[0]["data"]["error"];
        assert_eq!(told.len(), 1);
        error.shows(json!({"title": "invalid_message", "detail": "the business number is not connected"}));
        crate::channel_refused::stands(&room, &room.number, "CONNECTED").await;
        let known = sent().await;
        assert_eq!((&known[0][0], &known[0][2], &known[1]), (&json!("voice_tool"), &Value::Null, &failed));
        assert_ne!(known[0][1], "failed", "{word}");
    }
}
