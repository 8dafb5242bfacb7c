//! What is refused by us: which refusals are kept as messages that failed (docs/contract/channel-messages.md#acceptance).

use serde_json::{Value, json};

use crate::channel_conversations::{ASHA, Room};
use crate::chats::{Turn, ends};
use crate::shows::Shows;
use crate::world::World;

/// Messages that failed: who sent them, their code, and whom they were for.
async fn failed(world: &World) -> Vec<Value> {
    let listed = world.get("/v1/chatapp/messages?limit=100").await;
    let all = listed["data"].as_array().unwrap().iter();
    let failed = all.filter(|message| message["status"] == "failed");
    failed.map(|message| json!([message["source"], message["error"]["code"], message["to"]])).collect()
}

async fn do_not_call(room: &Room, phone: &str) {
    room.post("/v1/dnc", &json!({"phones": [phone]})).await.expect(200);
}

#[tokio::test]
async fn a_reply_to_somebody_who_opted_out_is_kept_as_failed_and_told() {
    let room = Room::open().await;
    room.writes("Hi").await;
    do_not_call(&room, ASHA).await;
    room.reply().await;
    let shown = room.only().await;
    assert_eq!((&shown["status"], &shown["endCause"]), (&json!("ended"), &json!("opted_out")));
    assert_eq!(failed(&room).await, [json!(["agent", -1001, ASHA])]);
    let told = room.events("message.failed").await;
    assert_eq!(told.len(), 1);
    let data = &told[0]["data"];
    data.shows(json!({"error.code": -1001, "error.title": "contact_opted_out", "chatId": shown["id"],
        "providerMessageId": null}));
    assert_eq!(crate::chats::lines(&shown["messages"]), ["user: Hi"], "it was not said");
}

#[tokio::test]
async fn what_a_flow_cannot_send_is_kept_as_failed() {
    for (name, code, reason) in
        [("offer", -1006, "opt_in_required"), ("nobodys", -1008, "template_not_found")]
    {
        let room = Room::open().await;
        let template = json!({"name": name, "language": "en", "params": {"body": ["Asha"]}});
        room.publish(json!([{"id": "m", "type": "message", "template": template, "next": "z"}, ends()]))
            .await;
        room.writes("Hi").await;
        room.reply().await;
        let asked = room.events("chat.handoff_requested").await;
        assert_eq!((asked.len(), &asked[0]["data"]["reason"]), (1, &json!(reason)));
        assert_eq!(failed(&room).await, [json!(["agent", code, ASHA])]);
        let told = room.events("message.failed").await;
        assert_eq!((told.len(), &told[0]["data"]["error"]["title"]), (1, &json!(reason)));
    }
}

/// From now on the provider says this of the number.
pub async fn stands(world: &World, number: &str, word: &str) {
    let (tenant, number, word) = (world.tenant(), number.to_owned(), word.to_owned());
    let change = world.app().store.of(tenant).tx(move |tx| {
        let row = store::channel_accounts::number_at_provider(tx, &number)?;
        let mut row = row.expect("the number");
        row.status.clone_from(&word);
        store::channel_accounts::save_number(tx, &row)
    });
    change.await.expect("a status");
}

#[tokio::test]
async fn nobody_sends_from_a_number_that_the_provider_does_not_let_send() {
    for word in ["BANNED", "DISCONNECTED"] {
        let room = Room::open().await;
        room.writes("Hi").await;
        stands(&room, &room.number, word).await;
        room.reply().await;
        let asked = room.events("chat.handoff_requested").await;
        assert_eq!((asked.len(), &asked[0]["data"]["reason"]), (1, &json!("number_unavailable")));
        assert_eq!(room.model.asked(), 0, "a reply that cannot be sent is not written");
        assert_eq!(failed(&room).await, Vec::<Value>::new());
        let id = room.only().await["id"].as_str().unwrap().to_owned();
        let user = room.add_member("ravi@example.com", "editor").await;
        room.act(&id, "assign", json!({"userId": user})).await.expect(200);
        let path = format!("/chats/{id}/messages");
        room.operator("POST", &path, json!({"text": "Ravi here"})).await.conflict();
        let kept = [json!(["human", -1005, ASHA])];
        assert_eq!(failed(&room).await, kept);
        assert_eq!(crate::chats::lines(&room.only().await["messages"]), ["user: Hi"], "it was not said");
        // A start makes nobody a contact.
        let mut body = room.body();
        body["to"] = json!("+919812345679");
        for key in [room.live(), room.test()] {
            let path = crate::channel_conversations::PATH;
            room.app.post(key, path, &body).await.refused(409, "chatapp_not_connected");
        }
        let people = room.get("/v1/contacts").await;
        assert_eq!(people["data"].as_array().unwrap().len(), 1, "{people}");
        assert_eq!(room.conversations("").await.len(), 1);
    }
}

#[tokio::test]
async fn a_reply_is_kept_as_failed_if_its_number_stops_sending_while_it_is_written() {
    let room = Room::open().await;
    room.writes("Hi").await;
    room.model.will([Turn::Wait("Hello.")]);
    room.reply().await;
    room.model.asked_times(1).await;
    stands(&room, &room.number, "BANNED").await;
    room.model.gate.add_permits(1);
    let kept = |page: &Value| page["data"].as_array().unwrap().iter().any(|one| one["status"] == "failed");
    room.until(room.live(), "/v1/chatapp/messages", kept).await;
    assert_eq!(failed(&room).await, [json!(["agent", -1005, ASHA])]);
    let asked = room.events("chat.handoff_requested").await;
    assert_eq!((asked.len(), &asked[0]["data"]["reason"]), (1, &json!("number_unavailable")));
    assert_eq!(crate::chats::lines(&room.only().await["messages"]), ["user: Hi"], "it was not said");
}

/// A reply whose first try comes to nothing, for a minute after which the model is asked again.
async fn tried_once() -> Room {
    let room = Room::open().await;
    room.writes("Hi").await;
    room.model.will([Turn::Wait("Too late.")]);
    room.reply().await;
    room.model.asked_times(1).await;
    room
}

/// The first try of the reply is over: it took too long, or its node did not come back.
async fn next_try(room: &Room, seconds: i64) {
    room.advance(seconds).await;
    room.model.gate.add_permits(1);
    room.advance(0).await;
}

#[tokio::test]
async fn no_model_is_asked_again_when_nobody_can_be_answered_any_more() {
    let (late, away) = (61, 91);
    for (case, seconds) in
        [("number", late), ("number", away), ("stop", late), ("stop", away), ("end", late), ("end", away)]
    {
        let room = tried_once().await;
        let id = room.conversations("").await[0]["id"].as_str().unwrap().to_owned();
        match case {
            "number" => stands(&room, &room.number, "BANNED").await,
            "stop" => room.writes("STOP").await,
            _ => drop(room.act(&id, "end", Value::Null).await.expect(200)),
        }
        next_try(&room, seconds).await;
        if case == "number" {
            let asked = |page: &Value| {
                page["data"].as_array().unwrap().iter().any(|event| event["type"] == "chat.handoff_requested")
            };
            room.until(room.live(), "/v1/events?after=start&limit=100", asked).await;
        }
        let path = format!("/v1/chatapp/conversations/{id}");
        let expected = match case {
            "number" => json!(["active", null]),
            "stop" => json!(["ended", "opted_out"]),
            _ => json!(["ended", "completed"]),
        };
        let shown = room.data(&path).await;
        assert_eq!(json!([shown["status"], shown["endCause"]]), expected, "{case} {seconds}");
        let asked = room.events("chat.handoff_requested").await;
        let reasons: Vec<&Value> = asked.iter().map(|event| &event["data"]["reason"]).collect();
        let expected: &[Value] = if case == "number" { &[json!("number_unavailable")] } else { &[] };
        assert_eq!(reasons, expected.iter().collect::<Vec<_>>(), "{case} {seconds}");
        assert_eq!(room.model.asked(), 1, "{case} {seconds}: a reply that cannot be sent is not written");
        assert_eq!(room.sent("agent").await, Vec::<String>::new(), "{case} {seconds}");
    }
}

/// Who may not be written to is found out when the words are there, so that they are kept.
#[tokio::test]
async fn a_further_try_is_kept_as_failed_for_somebody_who_may_not_be_written_to_any_more() {
    let room = tried_once().await;
    do_not_call(&room, ASHA).await;
    next_try(&room, 61).await;
    let ended = |page: &Value| page["data"][0]["status"] == "ended";
    let page = room.until(room.live(), crate::channel_conversations::PATH, ended).await;
    assert_eq!(page["data"][0]["endCause"], "opted_out");
    assert_eq!(failed(&room).await, [json!(["agent", -1001, ASHA])]);
    assert_eq!(crate::chats::lines(&room.only().await["messages"]), ["user: Hi"], "it was not said");
}

#[tokio::test]
async fn what_a_teammate_cannot_send_is_kept_as_failed() {
    let room = Room::open().await;
    room.writes("Hi").await;
    room.reply().await;
    let id = room.only().await["id"].as_str().unwrap().to_owned();
    let user = room.add_member("ravi@example.com", "editor").await;
    room.act(&id, "assign", json!({"userId": user})).await.expect(200);
    do_not_call(&room, ASHA).await;
    let path = format!("/chats/{id}/messages");
    room.operator("POST", &path, json!({"text": "Ravi here"})).await.conflict();
    assert_eq!(failed(&room).await, [json!(["human", -1001, ASHA])]);
    assert_eq!(room.events("message.failed").await.len(), 1);
    assert_eq!(
        crate::chats::lines(&room.only().await["messages"]),
        ["user: Hi", "agent: You said: Hi"],
        "it was not said"
    );
}

#[tokio::test]
async fn a_refused_request_keeps_no_message_and_tells_nobody() {
    let room = Room::open().await;
    room.writes("STOP").await;
    let message = json!({"to": ASHA, "template": room.body()["template"]});
    room.post("/v1/chatapp/messages", &message).await.refused(403, "contact_opted_out");
    room.start(&room.body()).await.refused(403, "contact_opted_out");
    let other = json!({"to": "+919812345679", "text": "Hello"});
    room.post("/v1/chatapp/messages", &other).await.refused(409, "window_closed");
    assert_eq!(failed(&room).await, Vec::<Value>::new());
    assert!(room.events("message.failed").await.is_empty());
}

#[tokio::test]
async fn a_campaign_keeps_a_refusal_of_a_contact_and_makes_nobody_one_by_it() {
    let room = Room::open().await;
    let (app, live) = (&room.app, room.live());
    let (stopped, erased, listed) = ("+919812345671", "+919812345672", "+919812345673");
    room.customer(json!({"from": stopped, "text": "STOP"})).await;
    room.customer(json!({"from": erased, "text": "Hi"})).await;
    room.reply().await;
    let contacts = app.get(live, "/v1/contacts?limit=100").await.data(200);
    let person = contacts.as_array().unwrap().iter().find(|one| one["phone"] == erased).unwrap();
    let path = format!("/v1/contacts/{}/erase", person["id"].as_str().unwrap());
    app.post(live, &path, &Value::Null).await.expect(200);
    do_not_call(&room, listed).await;
    app.advance(5).await;
    let before = app.get(live, "/v1/contacts?limit=100").await.expect(200)["data"].as_array().unwrap().len();
    let templates = app.get(live, "/v1/chatapp/templates").await.data(200);
    let body = json!({"channel": "chatapp", "settings": {"dailyFrom": null, "dailyTo": null}, "chatapp": {
        "templateId": templates[1]["id"], "ratePerMinute": 600,
        "paramMapping": {"body.1": {"source": "column", "value": "who"}}}});
    let id = app.post(live, "/v1/campaigns", &body).await.id(201);
    let path = format!("/v1/campaigns/{id}");
    // The one on the do-not-call list lacks the value, too: the preflight and the outcome name the same reason.
    let row = |phone: &str| json!({"phone": phone, "variables": {"who": "Asha"}});
    let rows = json!([row(stopped), row(erased), {"phone": listed}, row("+919812345674")]);
    app.post(live, &format!("{path}/contacts"), &json!({"contacts": rows})).await.expect(200);
    app.post(live, &format!("{path}/status"), &json!({"status": "active"})).await.expect(200);
    app.advance(10).await;
    let campaign = app.get(live, &path).await.data(200);
    campaign.shows(json!({"chatapp.stats.skippedByReason": {"opted_out": 1, "erased": 1, "do_not_call": 1}}));
    campaign.shows(json!({"status": "completed", "chatapp.stats.sent": 1}));
    assert_eq!(failed(&room).await, [json!(["campaign", -1001, stopped])]);
    assert_eq!(room.events("message.failed").await.len(), 1);
    let after = app.get(live, "/v1/contacts?limit=100").await.expect(200)["data"].as_array().unwrap().len();
    assert_eq!(after, before + 1, "only who got the message is a new contact");
}
