//! Stops, opt-ins and refusals of marketing, and what is asked again when a message has waited
//! (docs/contract/channel-messages.md#stop-words).

use serde_json::{Value, json};

use crate::channel_messages::{ASHA, template};
use crate::cloud::{self, NUMBER_ID, notify};
use crate::shows::Shows;
use crate::world::Channel;

#[tokio::test]
async fn a_stop_is_obeyed_and_confirmed_once_ever() {
    let desk = Channel::open().await;
    desk.cloud_template("due", "UTILITY").await;
    desk.hears(ASHA, "STOP").await;
    desk.advance(1).await;
    let confirmations = desk.messages("direction=outbound").await;
    assert_eq!(confirmations.len(), 1);
    confirmations[0].shows(json!({"source": "system", "status": "sent"}));
    let told = desk.payloads("contact.opted_out").await;
    told[0].shows(json!({"source": "chatapp", "channel": "chatapp", "phone": ASHA}));
    let refused = desk.send(&template("due")).await;
    assert_eq!(refused.json["meta"]["reason"], "opted_out", "{}", refused.text);
    refused.refused(403, "contact_opted_out");
    let contact = told[0]["contactId"].as_str().unwrap();
    let path = format!("/v1/contacts/{contact}");
    let seen = desk.data(&path).await;
    assert_eq!((&seen["optOut"], &seen["doNotCall"]), (&json!(false), &json!(false)), "calls are as before");
    seen["chatapp"].shows(json!({"messagesAllowed": false, "stopSource": "chatapp"}));
    desk.hears(ASHA, "Start").await;
    desk.send(&template("due")).await.expect(201);
    desk.hears(ASHA, "बंद करो").await;
    desk.advance(1).await;
    assert_eq!(desk.messages("direction=outbound").await.len(), 2, "no second confirmation");
    assert_eq!(desk.payloads("contact.opted_out").await.len(), 2);
    // Who does not want to be called is not called either.
    desk.hears(ASHA, "Do not call me again").await;
    let seen = desk.data(&path).await;
    assert_eq!((&seen["optOut"], &seen["doNotCall"]), (&json!(true), &json!(true)));
}

#[tokio::test]
async fn a_stop_is_obeyed_however_it_is_said() {
    let desk = Channel::open().await;
    desk.fake.system.put_media("900", "image/jpeg", "the bytes");
    let picture = |caption: &str| json!({"id": "900", "mime_type": "image/jpeg", "caption": caption});
    let edit = |words: Value| json!({"original_message_id": "wamid.ORIGINAL", "message": words});
    let reply =
        |id: &str, title: &str| json!({"type": "button_reply", "button_reply": {"id": id, "title": title}});
    let mut number = 0;
    for (kind, what, reason) in [
        ("text", json!({"body": "ＳＴ\u{200b}ＯＰ！"}), Some("opted_out")),
        ("edit", edit(json!({"text": {"body": "STOP"}})), Some("opted_out")),
        ("edit", edit(json!({"caption": "Stop."})), Some("opted_out")),
        (
            "edit",
            json!({"original_message_id": "wamid.unknown", "message": {"text": {"body": "STOP"}}}),
            Some("opted_out"),
        ),
        ("edit", edit(json!({"text": {"body": "Stop all messages"}})), Some("do_not_call")),
        ("edit", edit(json!({"text": {"body": "stop sending the old invoice"}})), None),
        ("image", picture("STOP"), Some("opted_out")),
        ("image", picture("bus stop"), None),
        ("button", json!({"text": "No thanks", "payload": "STOP"}), Some("opted_out")),
        ("button", json!({"text": "STOP", "payload": "start"}), Some("opted_out")),
        ("button", json!({"text": "Pay", "payload": "stop-reminder-42"}), None),
        ("interactive", reply("stop", "No thanks"), Some("opted_out")),
        ("interactive", reply("1", "Stop"), Some("opted_out")),
        ("interactive", reply("stop_all", "Stop"), Some("do_not_call")),
        ("interactive", reply("1", "Yes"), None),
    ] {
        number += 1;
        let from = format!("+9198123457{number:02}");
        let original = format!("wamid.o{number}");
        let mut message: Value = json!({"from": from.trim_start_matches('+'), "id": format!("wamid.k{number}"),
            "timestamp": desk.seconds().to_string(), "type": kind});
        message[kind] = serde_json::from_str(&what.to_string().replace("wamid.ORIGINAL", &original)).unwrap();
        let first = cloud::text(&original, &from, desk.seconds(), "Hi");
        desk.told(json!({"messages": [first, message]})).await;
        let answer = desk.send(&json!({"to": from, "text": "Hello"})).await;
        match reason {
            None => assert_eq!(answer.status, 201, "{what}: {}", answer.text),
            Some(reason) => {
                assert_eq!(answer.status, 403, "{what}: {}", answer.text);
                let contact = desk
                    .messages("direction=inbound")
                    .await
                    .iter()
                    .find(|row| row["from"] == from.as_str())
                    .unwrap()["contactId"]
                    .as_str()
                    .unwrap()
                    .to_owned();
                let path = format!("/v1/contacts/{contact}");
                let seen = desk.data(&path).await;
                assert_eq!(seen["chatapp"]["messagesAllowed"], false, "{what}");
                assert_eq!(seen["doNotCall"], json!(reason == "do_not_call"), "{what}");
            }
        }
    }
    // Somebody who was never heard of before changes what they wrote elsewhere.
    let message = json!({"from": "919812345799", "id": "wamid.new", "timestamp": desk.seconds().to_string(), "type": "edit",
        "edit": {"original_message_id": "wamid.unknown", "message": {"text": {"body": "STOP"}}}});
    desk.told(json!({"messages": [message]})).await;
    desk.cloud_template("due", "UTILITY").await;
    let mut body = template("due");
    body["to"] = json!("+919812345799");
    desk.send(&body).await.refused(403, "contact_opted_out");
}

#[tokio::test]
async fn who_stops_everything_is_told_of_once() {
    let desk = Channel::open().await;
    desk.hears(ASHA, "STOP ALL").await;
    desk.hears(ASHA, "STOP ALL").await;
    let told = desk.payloads("contact.opted_out").await;
    assert_eq!(told.len(), 1, "{told:?}");
    // More than messages is stopped, so no channel is named.
    assert_eq!((&told[0]["source"], told[0].get("channel")), (&json!("chatapp"), None));
    // Who had stopped messages before stops calls now, and the other way round.
    let (first, second) = ("+919812345701", "+919812345702");
    desk.hears(first, "STOP").await;
    desk.hears(first, "STOP ALL").await;
    assert_eq!(desk.payloads("contact.opted_out").await.len(), 3);
    desk.hears(second, "Hi").await;
    desk.post("/v1/dnc", &json!({"phones": [second]})).await.expect(200);
    desk.hears(second, "STOP ALL").await;
    let told = desk.payloads("contact.opted_out").await;
    let of_second: Vec<_> = told[3..].iter().map(|told| (&told["source"], told.get("channel"))).collect();
    assert_eq!(of_second, [(&json!("api"), None), (&json!("chatapp"), Some(&json!("chatapp")))]);
}

#[tokio::test]
async fn a_change_to_stop_ends_the_conversation() {
    use domain::channel::Notification;
    use domain::channel::notification::{Person, Received, ReceivedContent};

    let room = crate::channel_conversations::Room::open().await;
    let app = &room.app;
    room.writes("Hi").await;
    room.reply().await;
    let chat = room.only().await["id"].as_str().unwrap().to_owned();
    let listed = app.get(room.live(), "/v1/chatapp/messages?direction=inbound").await.expect(200);
    let original = listed["data"][0]["providerMessageId"].as_str().unwrap().to_owned();
    let received = Received {
        from: Person { phone: domain::phone::E164::parse(ASHA).ok(), ..Person::default() },
        id: "edited".into(),
        at: app.app().clock.now(),
        reply_to: None,
        forwarded: false,
        referral: None,
        what: ReceivedContent::Edit { original, text: Some("STOP".into()) },
    };
    let payload = serde_json::to_string(&Notification::Message(Box::new(received))).unwrap();
    crate::channel_accounts::put_item(&room, Some(&room.number), payload).await;
    // What somebody else writes lets the inbox be looked at.
    room.customer(json!({"from": "+919812345701", "text": "Hi"})).await;
    let shown = room.conversation(&chat).await;
    assert_eq!((&shown["status"], &shown["endCause"]), (&json!("ended"), &json!("opted_out")), "{shown}");
    assert_eq!(room.events("message.received").await.len(), 2);
}

#[tokio::test]
async fn what_was_said_on_the_phone_holds_for_messages() {
    let desk = Channel::open().await;
    desk.cloud_template("due", "UTILITY").await;
    desk.post("/v1/dnc", &json!({"phones": [ASHA]})).await.expect(200);
    let refused = desk.send(&template("due")).await;
    assert_eq!(refused.json["meta"]["reason"], "do_not_call", "{}", refused.text);
    refused.refused(403, "contact_opted_out");
}

#[tokio::test]
async fn marketing_needs_an_opt_in_and_ends_with_the_provider() {
    let desk = Channel::open().await;
    desk.cloud_template("offer", "MARKETING").await;
    desk.send(&template("offer")).await.refused(403, "opt_in_required");
    let mut with = template("offer");
    with["optIn"] = json!({"source": "form", "capturedAt": "2026-01-01T00:00:00Z"});
    desk.send(&with).await.expect(201);
    desk.send(&template("offer")).await.expect(201);
    let told = cloud::change(
        "user_preferences",
        json!({"messaging_product": "whatsapp", "metadata": {"display_phone_number": "918047111222", "phone_number_id": NUMBER_ID},
            "user_preferences": [{"wa_id": "919812345678", "detail": "d", "category": "marketing_messages", "value": "stop", "timestamp": desk.seconds()}]}),
    );
    notify(&desk.app, &desk.hook, &told).await.expect(200);
    desk.advance(0).await;
    desk.send(&with).await.refused(403, "contact_opted_out");
}

#[tokio::test]
async fn a_refusal_of_marketing_by_the_person_holds_for_marketing_alone() {
    let desk = Channel::open().await;
    desk.cloud_template("offer", "MARKETING").await;
    desk.cloud_template("due", "UTILITY").await;
    let mut with = template("offer");
    with["optIn"] = json!({"source": "form", "capturedAt": "2026-01-01T00:00:00Z"});
    let made = desk.send(&with).await.data(201);
    let mut status =
        cloud::status(made["providerMessageId"].as_str().unwrap(), "failed", desk.seconds(), ASHA);
    status["errors"] = json!([{"code": 131_050, "title": "stopped"}]);
    desk.told(json!({"statuses": [status]})).await;
    let seen = desk.message(&made["messageId"]).await;
    assert_eq!((&seen["status"], &seen["error"]["code"]), (&json!("failed"), &json!(131_050)));
    desk.send(&with).await.refused(403, "contact_opted_out");
    desk.send(&template("due")).await.expect(201);
    assert_eq!(desk.fake.system.sent().len(), 2);
}

const BINA: &str = "+919812345679";
const HIDDEN: &str = "IN.4711000111222333";

impl Channel {
    /// The channel tells that Asha's number is Bina's from now on.
    async fn moves(&self) {
        let told = json!({"from": ASHA.trim_start_matches('+'), "id": "wamid.moved", "timestamp": self.seconds().to_string(), "type": "system",
            "system": {"body": "A has another number", "type": "user_changed_number", "wa_id": BINA.trim_start_matches('+')}});
        self.told(json!({"messages": [told]})).await;
    }

    /// Why the other number gets no message.
    async fn other_is_refused(&self, name: &str, reason: &str) {
        let mut body = template(name);
        body["to"] = json!(BINA);
        let refused = self.send(&body).await;
        assert_eq!(refused.json["meta"]["reason"], reason, "{}", refused.text);
        refused.refused(403, "contact_opted_out");
    }

    /// Somebody whose number is not shown writes, or shows it.
    async fn hears_id(&self, id: &str, user: &str, phone: Option<&str>, words: &str) {
        let mut message = json!({"from_user_id": user, "id": id, "timestamp": self.seconds().to_string(), "type": "text", "text": {"body": words}});
        let mut contact = json!({"user_id": user, "profile": {"name": "Asha"}});
        if let Some(phone) = phone {
            (message["from"], contact["wa_id"]) = (json!(phone), json!(phone));
        }
        self.told(json!({"contacts": [contact], "messages": [message]})).await;
    }
}

#[tokio::test]
async fn a_stop_goes_along_to_a_new_number() {
    for known in [false, true] {
        let desk = Channel::open().await;
        desk.cloud_template("due", "UTILITY").await;
        if known {
            desk.hears(BINA, "Hi").await;
        }
        desk.hears(ASHA, "STOP").await;
        desk.moves().await;
        desk.other_is_refused("due", "opted_out").await;
        desk.hears(BINA, "START").await;
        let mut body = template("due");
        body["to"] = json!(BINA);
        desk.send(&body).await.expect(201);
    }
}

#[tokio::test]
async fn a_refusal_of_calls_goes_along_to_a_new_number() {
    for known in [false, true] {
        let desk = Channel::open().await;
        desk.cloud_template("due", "UTILITY").await;
        if known {
            desk.hears(BINA, "Hi").await;
        }
        desk.hears(ASHA, "Do not call me").await;
        desk.moves().await;
        desk.other_is_refused("due", "do_not_call").await;
        let listed = desk.get("/v1/dnc?phone=9812345679").await;
        assert_eq!(listed["data"].as_array().map(Vec::len), Some(1), "{listed}");
    }
}

#[tokio::test]
async fn a_refusal_of_marketing_and_an_opt_in_go_along_to_a_new_number() {
    let desk = Channel::open().await;
    desk.cloud_template("offer", "MARKETING").await;
    let mut with = template("offer");
    with["optIn"] = json!({"source": "form", "capturedAt": "2026-01-01T00:00:00Z"});
    desk.send(&with).await.expect(201);
    let moved = json!(BINA);
    let mut plain = template("offer");
    plain["to"] = moved.clone();
    desk.send(&plain).await.refused(403, "opt_in_required");
    desk.moves().await;
    desk.send(&plain).await.expect(201);
    let desk = Channel::open().await;
    desk.cloud_template("offer", "MARKETING").await;
    let made = desk.send(&with).await.data(201);
    let mut status =
        cloud::status(made["providerMessageId"].as_str().unwrap(), "failed", desk.seconds(), ASHA);
    status["errors"] = json!([{"code": 131_050, "title": "stopped"}]);
    desk.told(json!({"statuses": [status]})).await;
    desk.moves().await;
    desk.other_is_refused("offer", "marketing_stopped").await;
}

#[tokio::test]
async fn an_erasure_goes_along_to_a_new_number() {
    let desk = Channel::open().await;
    desk.cloud_template("due", "UTILITY").await;
    desk.hears(ASHA, "Hi").await;
    let contact = desk.messages("limit=1").await[0]["contactId"].as_str().unwrap().to_owned();
    desk.erase(&contact).await.expect(200);
    desk.moves().await;
    desk.other_is_refused("due", "erased").await;
}

#[tokio::test]
async fn a_stop_goes_along_from_a_hidden_number_and_to_another_id() {
    let desk = Channel::open().await;
    desk.cloud_template("due", "UTILITY").await;
    desk.hears_id("wamid.i1", HIDDEN, None, "STOP").await;
    // The number is shown, then the id is another one.
    desk.hears_id("wamid.i2", HIDDEN, Some("919812345679"), "Hm").await;
    desk.hears_id("wamid.i3", "IN.99", Some("919812345679"), "Hm").await;
    desk.other_is_refused("due", "opted_out").await;
    // The same id with a further number: what was said holds there, too.
    desk.hears_id("wamid.i4", "IN.99", Some("919812345678"), "Hm").await;
    let refused = desk.send(&template("due")).await;
    assert_eq!(refused.json["meta"]["reason"], "opted_out", "{}", refused.text);
}

#[tokio::test]
async fn consent_is_asked_again_when_a_message_that_waited_goes_out() {
    let desk = Channel::open().await;
    desk.hears(ASHA, "Hi").await;
    desk.fake.fail("/messages", 1, cloud::refusal(400, 80_007));
    let queued = desk.text("Later").await.data(201);
    assert_eq!(queued["status"], "queued");
    desk.hears(ASHA, "stop").await;
    desk.advance(120).await;
    let seen = desk.message(&queued["messageId"]).await;
    assert_eq!((&seen["status"], &seen["error"]["code"]), (&json!("failed"), &json!(-1001)));
    let failed = desk.payloads("message.failed").await;
    assert_eq!(failed[0]["error"]["title"], "contact_opted_out");
}

/// A message that waits, and what happens meanwhile; the code and the title of its error afterwards.
async fn after_waiting(body: Value, seconds: i64, meanwhile: impl AsyncFnOnce(&Channel)) -> Value {
    let desk = Channel::open().await;
    desk.cloud_template("due", "UTILITY").await;
    desk.hears(ASHA, "Hi").await;
    desk.advance(seconds).await;
    desk.fake.fail("/messages", 1, cloud::refusal(400, 80_007));
    let queued = desk.send(&body).await.data(201);
    assert_eq!(queued["status"], "queued");
    meanwhile(&desk).await;
    desk.advance(0).await;
    desk.advance(120).await;
    let seen = desk.message(&queued["messageId"]).await;
    let failed = desk.payloads("message.failed").await;
    assert_eq!((failed.len(), desk.fake.system.sent().len()), (1, 0), "{seen}");
    json!([seen["status"], failed[0]["error"]["code"], failed[0]["error"]["title"]])
}

#[tokio::test]
async fn what_changes_while_a_message_waits_fails_it_with_a_code_of_its_own() {
    // The fake gives the template this id.
    const TEMPLATE: &str = "773";
    let text = json!({"to": ASHA, "text": "Later"});
    let closed = after_waiting(text, 24 * 3_600 - 30, async |_| ()).await;
    assert_eq!(closed, json!(["failed", -1004, "window_closed"]));
    let paused = async |desk: &Channel| {
        let told = cloud::template_event(TEMPLATE, "due", "PAUSED");
        notify(&desk.app, &desk.hook, &told).await.expect(200);
    };
    let paused = after_waiting(template("due"), 0, paused).await;
    assert_eq!(paused, json!(["failed", -1007, "template_unavailable"]));
    let became_marketing = async |desk: &Channel| {
        let told = json!({"message_template_id": TEMPLATE.parse::<i64>().unwrap(), "message_template_name": "due",
            "message_template_language": "en", "previous_category": "UTILITY", "new_category": "MARKETING"});
        notify(&desk.app, &desk.hook, &cloud::change("template_category_update", told)).await.expect(200);
    };
    let became_marketing = after_waiting(template("due"), 0, became_marketing).await;
    assert_eq!(became_marketing, json!(["failed", -1006, "opt_in_required"]));
    let gone = async |desk: &Channel| {
        desk.fake.system.remove_template("due");
        // What is as new as the list is left alone.
        desk.advance(1).await;
        let path = "/v1/chatapp/templates/sync";
        desk.post(path, &Value::Null).await.expect(200);
    };
    let gone = after_waiting(template("due"), 0, gone).await;
    assert_eq!(gone, json!(["failed", -1008, "template_not_found"]));
    let number_gone = async |desk: &Channel| {
        let path = format!("/chatapp/numbers/{NUMBER_ID}");
        desk.operator("DELETE", &path, Value::Null).await.expect(200);
    };
    let number_gone = after_waiting(json!({"to": ASHA, "text": "Later"}), 0, number_gone).await;
    assert_eq!(number_gone, json!(["failed", -1005, "invalid_message"]));
}

/// A word that means `stop` and `closed` is an answer where something was asked, or where it stands on a button.
#[tokio::test]
async fn closed_is_an_answer_to_a_question() {
    let desk = Channel::open().await;
    let allowed = async |from: &str| {
        let refused = desk.send(&json!({"to": from, "text": "Hello"})).await;
        refused.status == 201
    };
    for (at, word) in ["बंद", "বন্ধ", "બંધ"].into_iter().enumerate() {
        let (asked, tapped, bare) =
            (format!("+9198123450{at}1"), format!("+9198123450{at}2"), format!("+9198123450{at}3"));
        desk.hears(&asked, "Hi").await;
        desk.send(&json!({"to": asked, "text": "Is your shop open or closed?"})).await.expect(201);
        desk.hears(&asked, word).await;
        assert!(allowed(&asked).await, "{word}");
        desk.hears(&tapped, "Hi").await;
        let message = json!({"from": tapped.trim_start_matches('+'), "id": format!("wamid.tap{at}"),
            "timestamp": desk.seconds().to_string(), "type": "interactive",
            "interactive": {"type": "button_reply", "button_reply": {"id": "2", "title": word}}});
        desk.told(json!({"messages": [message]})).await;
        assert!(allowed(&tapped).await, "{word}");
        desk.hears(&bare, "Hi").await;
        desk.hears(&bare, word).await;
        assert!(!allowed(&bare).await, "{word}");
    }
}

#[tokio::test]
async fn who_stops_promotions_gets_everything_else() {
    let desk = Channel::open().await;
    for (name, category) in [("due", "UTILITY"), ("offers", "MARKETING")] {
        desk.cloud_template(name, category).await;
    }
    let mut offer = template("offers");
    offer["optIn"] = json!({"source": "form", "capturedAt": "2026-01-02T03:04:05Z"});
    desk.hears(ASHA, "Hi").await;
    desk.send(&offer).await.expect(201);
    desk.hears(ASHA, "Stop promotions").await;
    let refused = desk.send(&offer).await;
    assert_eq!(refused.json["meta"]["reason"], "marketing_stopped", "{}", refused.text);
    refused.refused(403, "contact_opted_out");
    desk.send(&template("due")).await.expect(201);
    desk.text("Hello").await.expect(201);
    assert_eq!(desk.payloads("contact.opted_out").await.len(), 0);
    desk.hears(ASHA, "Start promotions").await;
    desk.send(&offer).await.expect(201);
}
