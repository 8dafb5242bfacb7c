//! Who may not be written to, and what may not send now: people who opted out and write, workspaces that are suspended,
//! features that are off (docs/contract/channel-conversations.md#origins).

use bytes::Bytes;
use serde_json::{Value, json};

use crate::channel_conversations::{ASHA, PATH, Room};
use crate::channel_messages::template;
use crate::cloud;
use crate::receiver::Receiver;
use crate::shows::Shows;

async fn switch(room: &Room, features: Value) {
    room.change(&json!({"features": features})).await;
}

async fn contact(room: &Room) -> String {
    let listed = room.get("/v1/contacts").await;
    listed["data"][0]["id"].as_str().expect("a contact").to_owned()
}

#[tokio::test]
async fn who_opted_out_and_writes_is_heard_and_costs_nothing() {
    for way in ["STOP", "do not call", "opt-out"] {
        let room = Room::open().await;
        let (app, live) = (&room.app, room.live());
        room.writes("STOP").await;
        if way != "STOP" {
            room.writes("START").await;
            room.reply().await;
            let open = room.conversations("?status=active").await;
            for chat in &open {
                room.act(chat["id"].as_str().unwrap(), "end", Value::Null).await.expect(200);
            }
            match way {
                "do not call" => {
                    app.post(live, "/v1/dnc", &json!({"phones": [ASHA]})).await.expect(200);
                }
                _ => {
                    let path = format!("/v1/contacts/{}", contact(&room).await);
                    app.put(live, &path, &json!({"optOut": true})).await.expect(200);
                }
            }
        }
        let (asked, money) = (room.model.asked(), room.wallet().await);
        let (chats, heard) =
            (room.conversations("").await.len(), room.events("message.received").await.len());
        for words in ["Hello", "Why no answer?", "??"] {
            room.writes(words).await;
            room.reply().await;
        }
        app.advance(3_600).await;
        assert_eq!(room.conversations("").await.len(), chats, "{way}");
        assert_eq!((room.model.asked(), room.wallet().await), (asked, money), "{way}");
        assert_eq!(room.events("message.received").await.len(), heard + 3, "{way}");
        let inbox = app.get(live, "/v1/chatapp/messages?direction=inbound&limit=3").await.expect(200);
        let stands = |row: &Value| (row["text"].clone(), row["chatId"].clone());
        let rows: Vec<_> = inbox["data"].as_array().unwrap().iter().map(stands).collect();
        let nobody = |words: &str| (json!(words), Value::Null);
        assert_eq!(rows, [nobody("??"), nobody("Why no answer?"), nobody("Hello")], "{way}");
        // Consent is given again.
        if way == "STOP" {
            room.writes("START").await;
            room.writes("Hello").await;
            room.reply().await;
            assert_eq!(room.conversations("").await.len(), chats + 1);
            assert!(room.model.asked() > asked);
        }
    }
}

#[tokio::test]
async fn a_reply_waits_while_the_channel_or_its_agents_are_off() {
    for feature in ["chatappChannel", "chatappAgents"] {
        let room = Room::open().await;
        room.writes("Hello").await;
        switch(&room, json!({feature: false})).await;
        room.reply().await;
        room.advance(600).await;
        assert_eq!(room.model.asked(), 0, "{feature}");
        assert_eq!(room.only().await["status"], "active");
        switch(&room, json!({feature: true})).await;
        room.advance(61).await;
        assert_eq!(room.sent("agent").await, ["You said: Hello"], "{feature}");
    }
}

#[tokio::test]
async fn a_suspended_workspace_writes_no_reply() {
    let room = Room::open().await;
    room.writes("Hello").await;
    room.change(&json!({"suspended": true})).await;
    room.advance(600).await;
    assert_eq!(room.model.asked(), 0);
}

/// Fifty messages to one person: five wait for the person's pace. They wait on while nothing may be sent.
#[tokio::test]
async fn what_waits_is_not_sent_while_the_workspace_may_not() {
    let room = Room::open().await;
    let (app, live) = (&room.app, room.live());
    room.writes("Hello").await;
    let chat = room.only().await["id"].as_str().unwrap().to_owned();
    room.act(&chat, "end", Value::Null).await.expect(200);
    for at in 0..50 {
        let body = json!({"to": ASHA, "text": format!("Line {at}")});
        app.post(live, "/v1/chatapp/messages", &body).await.expect(201);
    }
    let queued = async || {
        let listed = app.get(live, "/v1/chatapp/messages?status=queued&limit=100").await;
        listed.expect(200)["data"].as_array().unwrap().len()
    };
    let waits = queued().await;
    assert!(waits > 0);
    switch(&room, json!({"chatappChannel": false})).await;
    app.advance(300).await;
    assert_eq!(queued().await, waits);
    switch(&room, json!({"chatappChannel": true})).await;
    room.change(&json!({"suspended": true})).await;
    app.advance(300).await;
    room.change(&json!({"suspended": false})).await;
    assert_eq!(queued().await, waits, "nothing went out meanwhile");
    app.advance(600).await;
    assert_eq!(queued().await, 0, "afterwards it goes by itself");
}

/// A campaign whose feature is switched off in the middle sends nothing more, not even what is handed over, and goes on by
/// itself afterwards.
#[tokio::test]
async fn a_campaign_rests_while_its_feature_is_off() {
    let room = Room::open().await;
    let (app, live) = (&room.app, room.live());
    let templates = app.get(live, "/v1/chatapp/templates").await.expect(200);
    let due = templates["data"].as_array().unwrap().iter().find(|row| row["name"] == "due_reminder").unwrap();
    let body = json!({"name": "Dues", "channel": "chatapp", "settings": {"dailyFrom": null, "dailyTo": null},
        "chatapp": {"templateId": due["id"], "ratePerMinute": 6,
            "paramMapping": {"body.1": {"source": "static", "value": "Asha"}}}});
    let id = app.post(live, "/v1/campaigns", &body).await.id(201);
    let rows: Vec<Value> = (0..12).map(|at| json!({"phone": format!("+91981239{:04}", at + 1)})).collect();
    app.post(live, &format!("/v1/campaigns/{id}/contacts"), &json!({"contacts": rows})).await.expect(200);
    let published = app.post(live, &format!("/v1/campaigns/{id}/status"), &json!({"status": "active"})).await;
    let published = published.expect(200);
    let report = &published["data"]["chatapp"]["report"];
    assert_eq!(
        (&report["passes"], &report["willReceive"], &report["estimatedCharges"]["perMessage"]),
        (&json!(true), &json!(12), &json!("0.1150")),
        "{published}"
    );
    let sent = async || {
        let campaign = app.get(live, &format!("/v1/campaigns/{id}")).await.expect(200);
        let chatapp = &campaign["data"]["chatapp"];
        (chatapp["stats"]["sent"].as_i64().unwrap(), campaign["data"]["status"].clone())
    };
    app.advance(25).await;
    let before = sent().await.0;
    assert!((1..12).contains(&before), "{before}");
    for features in [json!({"chatappCampaigns": false}), json!({"chatappChannel": false})] {
        switch(&room, features.clone()).await;
        app.advance(600).await;
        assert_eq!(sent().await, (before, json!("active")), "{features}");
        switch(&room, json!({"chatappCampaigns": true, "chatappChannel": true})).await;
    }
    app.advance(600).await;
    assert_eq!(sent().await, (12, json!("completed")));
}

/// A report on request, and without the number that it would be sent from.
#[tokio::test]
async fn a_preflight_on_request_says_what_publishing_would() {
    let room = Room::open().await;
    let (app, live) = (&room.app, room.live());
    let templates = app.get(live, "/v1/chatapp/templates").await.expect(200);
    let offer = templates["data"].as_array().unwrap().iter().find(|row| row["name"] == "offer").unwrap();
    let body = json!({"name": "Offer", "channel": "chatapp", "settings": {"dailyFrom": null, "dailyTo": null},
        "chatapp": {"templateId": offer["id"], "paramMapping": {"body.1": {"source": "static", "value": "Asha"}}}});
    let id = app.post(live, "/v1/campaigns", &body).await.id(201);
    let consented = json!({"externalRef": "crm-1", "phone": "+919812390001", "name": "Ravi",
        "consent": {"source": "chatapp", "capturedAt": "2026-01-02T03:04:05Z"}});
    app.post(live, "/v1/contacts", &consented).await.expect(201);
    let rows = json!([{"phone": "+919812390001"}, {"phone": "+919812390002"}, {"phone": "12"}]);
    app.post(live, &format!("/v1/campaigns/{id}/contacts"), &json!({"contacts": rows})).await.expect(200);
    for key in [live, room.workspace.test.as_str()] {
        let report = app.post(key, &format!("/v1/campaigns/{id}/preflight"), &Value::Null).await.expect(200);
        let report = &report["data"];
        // Who consented on the channel has opted in.
        report.shows(json!({"passes": true, "total": 3, "willReceive": 1, "willNotReceive": 2}));
        assert_eq!(report["byReason"], json!({"invalid_phone": 1, "no_opt_in": 1}));
        assert_eq!(report["estimatedCharges"]["total"], "0.8631");
        assert_eq!(report["daysNeeded"], 1);
    }
    // A marketing message over the API, too.
    let mut message = template("offer");
    message["to"] = json!("+919812390001");
    app.post(live, "/v1/chatapp/messages", &message).await.expect(201);
    message["to"] = json!("+919812390002");
    app.post(live, "/v1/chatapp/messages", &message).await.refused(403, "opt_in_required");
}

/// A test key ends nothing, and is shown nothing of the live conversation.
#[tokio::test]
async fn a_test_key_that_acts_on_a_conversation_sees_nothing_of_it() {
    let room = Room::open().await;
    let mut body = room.body();
    body["metadata"] = json!({"order": "hush-7"});
    body["contact"] = json!({"name": "Asha Hush", "externalRef": "crm-hush"});
    let id = room.start(&body).await.expect(201)["data"]["chatId"].as_str().unwrap().to_owned();
    let live = room.conversation(&id).await;
    for what in ["end", "takeover", "handback"] {
        let answer = room.act_with(room.test(), &id, what, Value::Null).await;
        assert_eq!(answer.status, 200, "{what}: {}", answer.text);
        assert_eq!(answer.json["data"]["livemode"], false, "{what}");
        for secret in [ASHA, "hush", "Hush", live["contactId"].as_str().unwrap()] {
            assert!(!answer.text.contains(secret), "{what} shows {secret}: {}", answer.text);
        }
    }
    assert_eq!(room.conversation(&id).await, live, "nothing changed");
    let path = format!("{PATH}/{id}");
    room.app.send("GET", &path, Some(room.test()), &[], Bytes::new()).await.not_found();
}

/// The last event of somebody who is erased in the middle of a conversation says nothing about them, and goes out like any
/// other.
#[tokio::test]
async fn an_erasure_ends_an_open_conversation_and_tells_of_it() {
    let room = Room::open().await;
    let (app, live) = (&room.app, room.live());
    let receiver = Receiver::ok().await;
    let hook = json!({"url": receiver.url, "events": ["chat.completed"]});
    let hook = room.endpoint(hook).await;
    room.writes("My secret").await;
    room.reply().await;
    let path = format!("/v1/contacts/{}/erase", contact(&room).await);
    app.post(live, &path, &Value::Null).await.expect(200);
    let got = receiver.wait_for(1).await;
    let data = &got[0].json()["data"];
    data.shows(json!({"endCause": "erased", "customer.phone": null, "transcript": []}));
    assert!(!got[0].body.contains("secret") && !got[0].body.contains(ASHA), "{}", got[0].body);
    app.advance(60).await;
    let deliveries = format!("/v1/webhooks/{}/deliveries", hook["id"].as_str().unwrap());
    let listed = app.get(live, &deliveries).await.list(200);
    assert_eq!(listed.len(), 1, "{listed:?}");
    let one = format!("{deliveries}/{}", listed[0]["id"].as_str().unwrap());
    let told = app.get(live, &one).await.data(200);
    assert_eq!(told["status"], "succeeded", "{told}");
    assert!(!told.to_string().contains("not attempted"), "{told}");
    assert_eq!(room.events("chat.completed").await.len(), 1);
}

/// A teammate writes as much at once as the channel takes.
#[tokio::test]
async fn a_teammate_writes_up_to_the_limit_of_the_channel() {
    let room = Room::open().await;
    room.writes("Hello").await;
    let chat = room.only().await["id"].as_str().unwrap().to_owned();
    let member = room.add_member("ravi@example.in", "editor").await;
    let path = format!("/chats/{chat}");
    room.operator("POST", &format!("{path}/takeover"), json!({"userId": member})).await.expect(200);
    let write = async |length: usize| {
        let body = json!({"text": "क".repeat(length)});
        room.operator("POST", &format!("{path}/messages"), body).await
    };
    write(4_097).await.invalid();
    write(4_096).await.expect(200);
    room.advance(1).await;
    assert_eq!(room.sent("human").await, ["क".repeat(4_096)]);
}

#[tokio::test]
async fn a_number_is_bound_once() {
    let room = Room::open().await;
    let number = json!({"number": cloud::NUMBER, "displayName": "Acme again"});
    let again = room.add_channel_number(&number).await.data(201);
    assert_eq!(again["phoneNumberId"], room.number.as_str());
    let other = json!({"number": cloud::NUMBER, "phoneNumberId": "999000111222333"});
    room.add_channel_number(&other).await.conflict();
    let listed = room.get("/v1/chatapp/numbers").await;
    let listed = listed["data"].as_array().unwrap();
    assert_eq!((listed.len(), &listed[0]["displayName"]), (1, &json!("Acme again")));
    assert_eq!(listed[0]["agentId"], room.agent.as_str(), "what it does stays");
}
