//! A helpdesk and teammates take over conversations (docs/contract/channel-conversations.md#hand-over).

use serde_json::{Value, json};

use crate::channel_conversations::{ASHA, PATH, Room};
use crate::shows::Shows;

#[tokio::test]
async fn a_helpdesk_takes_over_writes_and_gives_back() {
    let room = Room::open().await;
    room.writes("Hi").await;
    room.reply().await;
    let id = room.only().await["id"].as_str().unwrap().to_owned();
    // A test key changes nothing.
    let test = room.act_with(room.test(), &id, "takeover", Value::Null).await;
    assert_eq!(test.expect(200)["data"]["livemode"], false);
    let taken = room.act(&id, "takeover", json!({"agentName": "Ravi", "note": "angry"})).await.expect(200);
    taken.shows(
        json!({"data": {"id": id, "status": "taken_over", "alreadyTakenOver": false, "livemode": true}}),
    );
    let again = room.act(&id, "takeover", Value::Null).await.expect(200);
    assert_eq!(again["data"]["alreadyTakenOver"], true);
    room.writes("Is anybody there?").await;
    room.reply().await;
    assert_eq!(room.model.asked(), 1, "the agent is silent");
    room.post("/v1/chatapp/messages", &json!({"to": ASHA, "text": "I am here"})).await.expect(201);
    let user = room.add_member("ravi@example.com", "editor").await;
    room.act(&id, "assign", json!({"userId": user})).await.refused(409, "held_by_helpdesk");
    let back = json!({"messages": [{"text": "It comes today"}], "note": "promised today"});
    let back = room.act(&id, "handback", back).await.expect(200);
    back.shows(
        json!({"data": {"id": id, "status": "with_agent", "alreadyWithAgent": false, "livemode": true}}),
    );
    assert_eq!(room.act(&id, "handback", Value::Null).await.expect(200)["data"]["alreadyWithAgent"], true);
    room.writes("Thanks").await;
    room.reply().await;
    assert_eq!(
        room.model.shown(),
        [
            "user: Hi",
            "agent: You said: Hi",
            "user: Is anybody there?",
            "agent: I am here",
            "agent: It comes today",
            "user: Thanks",
        ]
    );
    let prompt = room.model.orders.lock().unwrap().last().unwrap().prompt.clone();
    assert!(prompt.ends_with("Note of the team: promised today"), "{prompt}");
    let taken = room.events("chat.taken_over").await;
    assert_eq!(taken.len(), 1);
    let data = &taken[0]["data"];
    data.shows(json!({"by": "helpdesk", "agentName": "Ravi", "note": "angry"}));
    let back = room.events("chat.handed_back").await;
    assert_eq!((back.len(), &back[0]["data"]["messagesAdded"]), (1, &json!(1)));
    room.act(&id, "end", Value::Null).await.expect(200);
    for what in ["takeover", "handback"] {
        room.act(&id, what, Value::Null).await.refused(409, "conversation_ended");
    }
    room.act(&id, "assign", json!({"userId": user})).await.refused(409, "conversation_ended");
}

#[tokio::test]
async fn a_teammate_is_given_a_conversation() {
    let room = Room::open().await;
    room.writes("Hi").await;
    room.reply().await;
    let id = room.only().await["id"].as_str().unwrap().to_owned();
    let user = room.add_member("ravi@example.com", "editor").await;
    let viewer = room.add_member("vera@example.com", "viewer").await;
    let assignees = room.get("/v1/chatapp/assignees").await;
    assert_eq!(assignees["data"], json!([{"userId": user, "name": "Ravi", "email": "ravi@example.com"}]));
    for body in [json!({"userId": viewer}), json!({"email": "nobody@example.com"})] {
        room.act(&id, "assign", body).await.refused(400, "assignee_not_allowed");
    }
    room.act(&id, "assign", json!({})).await.invalid();
    let both = json!({"userId": user, "email": "ravi@example.com"});
    room.act(&id, "assign", both).await.invalid();
    let test = room.app.post(room.test(), &format!("{PATH}/{id}/assign"), &json!({"userId": user})).await;
    test.read_only();
    let given = room.act(&id, "assign", json!({"email": "RAVI@example.com"})).await.expect(200);
    assert_eq!(given["data"], json!({"id": id, "assignedTo": user}));
    for what in ["takeover", "handback"] {
        room.act(&id, what, Value::Null).await.refused(409, "held_by_teammate");
    }
    room.writes("Hello?").await;
    room.reply().await;
    assert_eq!(room.model.asked(), 1, "the agent is silent");
    // The teammate's words go out on the channel.
    room.operator("POST", &format!("/chats/{id}/messages"), json!({"text": "Ravi here"})).await.expect(200);
    room.advance(1).await;
    assert_eq!(room.sent("human").await, ["Ravi here"]);
    assert_eq!(room.only().await["assignedTo"], user.as_str());
    let events = room.events("chat.assigned").await;
    assert_eq!((events.len(), &events[0]["data"]["assignedTo"]["userId"]), (1, &json!(user)));
    for path in ["takeover", "handback", "assign"] {
        let missing = room.act("chatsess_01h455vb4pex5vsknk084sn02q", path, json!({"userId": user})).await;
        missing.not_found();
    }
}

#[tokio::test]
async fn a_teammate_ends_what_another_one_was_given() {
    let room = Room::open().await;
    room.writes("Hi").await;
    room.reply().await;
    let id = room.only().await["id"].as_str().unwrap().to_owned();
    let first = room.add_member("ravi@example.com", "editor").await;
    let second = room.add_member("mira@example.com", "editor").await;
    for user in [&first, &second] {
        let given = room.act(&id, "assign", json!({"userId": user})).await.expect(200);
        assert_eq!(given["data"]["assignedTo"], user.as_str());
    }
    let events = room.events("chat.assigned").await;
    let told: Vec<_> = events
        .iter()
        .map(|event| (&event["data"]["assignedTo"]["userId"], &event["data"]["reason"]))
        .collect();
    assert_eq!(told, [(&json!(first), &json!("manual")), (&json!(second), &json!("manual"))]);
    assert!(events[0]["data"]["assignedBy"]["apiKeyId"].is_string(), "{events:?}");
    room.operator("POST", &format!("/chats/{id}/end"), Value::Null).await.expect(200);
    assert_eq!(room.only().await["endCause"], "human_ended");
    let session = room.session().await;
    for what in ["takeover", "handback"] {
        room.act(&session, what, Value::Null).await.not_found();
    }
    room.act(&session, "assign", json!({"userId": first})).await.not_found();
    room.act(&session, "end", Value::Null).await.not_found();
}

#[tokio::test]
async fn what_the_team_wrote_keeps_its_author_and_its_time() {
    let room = Room::open().await;
    room.writes("Hi").await;
    room.reply().await;
    let id = room.only().await["id"].as_str().unwrap().to_owned();
    room.act(&id, "takeover", Value::Null).await.expect(200);
    let told = room.now().await;
    room.advance(3_600).await;
    let long = "x".repeat(5_000);
    let messages = json!([
        {"text": "It comes today", "agentName": "Ravi", "sentAt": told},
        {"text": long, "sentAt": "2099-01-01T00:00:00Z"},
        {"text": "   "},
    ]);
    room.act(&id, "handback", json!({"messages": messages})).await.expect(200);
    let now = room.now().await;
    let shown = room.only().await["messages"].clone();
    assert_eq!(
        json!([shown[2]["role"], shown[2]["text"], shown[2]["agentName"], shown[2]["timestamp"]]),
        json!(["human", "It comes today", "Ravi", told])
    );
    // A moment that lies ahead counts as the present.
    let last = json!([shown[3]["role"], shown[3]["text"], shown[3]["agentName"], shown[3]["timestamp"]]);
    assert_eq!(last, json!(["human", long, null, now]));
    assert_eq!(shown.as_array().unwrap().len(), 4, "what is blank is no message");
    assert_eq!(room.events("chat.handed_back").await[0]["data"]["messagesAdded"], 2);
}

#[tokio::test]
async fn every_ceiling_of_a_takeover_and_a_handback_holds() {
    let room = Room::open().await;
    room.writes("Hi").await;
    room.reply().await;
    let id = room.only().await["id"].as_str().unwrap().to_owned();
    let messages = |count: usize, letters: usize| json!(vec![json!({"text": "x".repeat(letters)}); count]);
    for (what, field, value, named) in [
        ("takeover", "agentName", json!("x".repeat(81)), "agentName"),
        ("takeover", "note", json!("x".repeat(1_001)), "note"),
        ("handback", "note", json!("x".repeat(1_001)), "note"),
        ("handback", "messages", messages(201, 1), "messages"),
        ("handback", "messages", messages(66, 4_000), "messages"),
        ("handback", "messages", json!([{"text": ""}]), "messages[0].text"),
        (
            "handback",
            "messages",
            json!([{"text": "x", "agentName": "x".repeat(81)}]),
            "messages[0].agentName",
        ),
    ] {
        let refused = room.act(&id, what, json!({field: value})).await.invalid();
        assert_eq!(refused["meta"]["field"], named, "{what}");
    }
    assert!(room.events("chat.taken_over").await.is_empty(), "nothing happened");
    let taken = json!({"agentName": "x".repeat(80), "note": "x".repeat(1_000)});
    room.act(&id, "takeover", taken).await.expect(200);
    let back = json!({"messages": messages(200, 10), "note": "x".repeat(1_000)});
    room.act(&id, "handback", back).await.expect(200);
    assert_eq!(room.events("chat.handed_back").await[0]["data"]["messagesAdded"], 200);
}
