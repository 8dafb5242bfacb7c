//! Messages of the messaging channel (docs/contract/channel-messages.md), against a Cloud API that misbehaves.

use serde_json::{Value, json};

use crate::app::{Answer, TestApp, Workspace};
use crate::channel_accounts::events;
use crate::cloud::{self, Cloud, NUMBER, NUMBER_ID, about_messages, notify};
use crate::fakes::{Fake, Reply};

const PATH: &str = "/v1/chatapp/messages";
const ASHA: &str = "+919812345678";

/// A workspace with a number at the fake Cloud API.
struct Desk {
    app: TestApp,
    fake: Fake<Cloud>,
    workspace: Workspace,
    hook: String,
    inbound: std::cell::Cell<u64>,
}

impl Desk {
    async fn open() -> Self {
        let (app, fake) = cloud::start().await;
        let workspace = app.workspace().await;
        let hook = cloud::connect(&app, &workspace.id).await;
        Self { app, fake, workspace, hook, inbound: std::cell::Cell::new(0) }
    }

    async fn send(&self, body: &Value) -> Answer {
        self.app.post(&self.workspace.live, PATH, body).await
    }

    async fn keyed(&self, key: &str, body: &Value) -> Answer {
        self.app.post_with(&self.workspace.live, PATH, &[("idempotency-key", key)], body).await
    }

    async fn text(&self, words: &str) -> Answer {
        self.send(&json!({"to": ASHA, "text": words})).await
    }

    fn now(&self) -> i64 {
        self.app.app().clock.now().0 / 1_000
    }

    async fn told(&self, value: Value) {
        notify(&self.app, &self.hook, &about_messages(value)).await.expect(200);
        self.app.advance(0).await;
    }

    /// A customer writes.
    async fn hears(&self, from: &str, words: &str) {
        let id = format!("wamid.in{}", self.inbound.get());
        self.inbound.set(self.inbound.get() + 1);
        let contact = json!({"wa_id": from.trim_start_matches('+'), "profile": {"name": "Asha"}});
        let message = cloud::text(&id, from, self.now(), words);
        self.told(json!({"contacts": [contact], "messages": [message]})).await;
    }

    async fn status(&self, id: &str, word: &str) {
        let mut status = cloud::status(id, word, self.now(), ASHA);
        if word == "failed" {
            status["errors"] = json!([{"code": 131_026, "title": "Message undeliverable", "error_data": {"details": "not there"}}]);
        }
        self.told(json!({"statuses": [status]})).await;
    }

    async fn list(&self, query: &str) -> Vec<Value> {
        let listed = self.app.get(&self.workspace.live, &format!("{PATH}?{query}")).await.expect(200);
        listed["data"].as_array().expect("a list").clone()
    }

    async fn message(&self, id: &Value) -> Value {
        let path = format!("{PATH}/{}", id.as_str().expect("an id"));
        self.app.get(&self.workspace.live, &path).await.expect(200)["data"].clone()
    }

    async fn events(&self, kind: &str) -> Vec<Value> {
        events(&self.app, &self.workspace.live, kind).await
    }

    /// An approved template.
    async fn template(&self, name: &str, category: &str) {
        self.fake.system.put_template(json!({"id": format!("77{}", name.len()), "name": name, "language": "en",
            "category": category, "status": "APPROVED", "components": [{"type": "BODY", "text": "Hi {{1}}, it is due."}]}));
        self.app.post(&self.workspace.live, "/v1/chatapp/templates/sync", &Value::Null).await.expect(200);
    }
}

fn template(name: &str) -> Value {
    json!({"to": ASHA, "template": {"name": name, "language": "en", "params": {"body": ["Asha"]}}})
}

#[tokio::test]
async fn a_message_goes_out_once_and_its_statuses_never_move_back() {
    let desk = Desk::open().await;
    desk.text("Hello").await.refused(409, "window_closed");
    assert_eq!(desk.fake.system.sent().len(), 0);
    desk.hears(ASHA, "Hi").await;
    let made = desk.text("Hello").await.expect(201)["data"].clone();
    assert_eq!(
        (&made["status"], &made["direction"], &made["source"], &made["type"], &made["livemode"]),
        (&json!("sent"), &json!("outbound"), &json!("api"), &json!("text"), &json!(true))
    );
    assert_eq!((&made["from"], &made["to"]), (&json!(NUMBER), &json!(ASHA)));
    let sent = desk.fake.system.sent();
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0]["biz_opaque_callback_data"], made["messageId"]);
    let id = made["providerMessageId"].as_str().unwrap();
    for word in ["read", "delivered", "sent", "read", "failed"] {
        desk.status(id, word).await;
        assert_eq!(desk.message(&made["messageId"]).await["status"], "read", "{word}");
    }
    let seen = desk.message(&made["messageId"]).await;
    assert!(seen["statuses"]["deliveredAt"].is_string() && seen["statuses"]["failedAt"].is_null());
    for (kind, count) in [
        ("message.sent", 1),
        ("message.delivered", 0),
        ("message.read", 1),
        ("message.failed", 0),
        ("message.received", 1),
    ] {
        assert_eq!(desk.events(kind).await.len(), count, "{kind}");
    }
    // The window closes after 24 hours.
    desk.app.advance(24 * 3_600).await;
    desk.text("Hello again").await.refused(409, "window_closed");
}

#[tokio::test]
async fn the_lists_are_narrowed_down() {
    let desk = Desk::open().await;
    desk.template("due", "UTILITY").await;
    desk.hears(ASHA, "Hi").await;
    let made = desk.send(&template("due")).await.expect(201)["data"].clone();
    assert_eq!(made["text"], "Hi Asha, it is due.");
    assert_eq!(
        (&made["template"]["name"], &made["template"]["category"]),
        (&json!("due"), &json!("UTILITY"))
    );
    let contact = made["contactId"].as_str().unwrap();
    for (query, count) in [
        ("limit=10", 2),
        ("templateName=due", 1),
        ("templateName=other", 0),
        ("direction=inbound", 1),
        ("status=received", 1),
        ("status=failed", 0),
        (&format!("contactId={contact}"), 2),
    ] {
        assert_eq!(desk.list(query).await.len(), count, "{query}");
    }
    let first = desk.app.get(&desk.workspace.live, &format!("{PATH}?limit=1")).await.expect(200);
    let next = first["nextCursor"].as_str().unwrap();
    let second = desk.list(&format!("limit=1&cursor={next}")).await;
    assert_ne!(second[0]["messageId"], first["data"][0]["messageId"]);
    // A test key sends nothing and sees nothing.
    let test = desk.app.post(&desk.workspace.test, PATH, &template("due")).await.expect(201)["data"].clone();
    assert_eq!(test["livemode"], false);
    assert!(test["providerMessageId"].as_str().unwrap().starts_with("TEST_"));
    assert_eq!((desk.fake.system.sent().len(), desk.list("limit=10").await.len()), (1, 2));
    let listed = desk.app.get(&desk.workspace.test, PATH).await.expect(200);
    assert_eq!(listed["data"], json!([]));
    desk.app.post(&desk.workspace.test, PATH, &template("other")).await.refused(400, "template_not_found");
}

#[tokio::test]
async fn what_the_body_must_not_be_names_its_field() {
    let desk = Desk::open().await;
    desk.hears(ASHA, "Hi").await;
    let interactive = |value: Value| json!({"to": ASHA, "interactive": value});
    let button = |id: &str, title: &str| json!({"id": id, "title": title});
    let buttons = |list: Value| interactive(json!({"type": "buttons", "body": "b", "buttons": list}));
    for (body, field) in [
        (json!({"to": ASHA}), "text"),
        (json!({"to": ASHA, "text": "a", "location": {"latitude": 1, "longitude": 1}}), "text"),
        (json!({"to": ASHA, "text": "x".repeat(4_097)}), "text"),
        (json!({"to": ASHA, "text": " "}), "text"),
        (
            json!({"to": ASHA, "media": {"type": "audio", "url": "https://a.example/a.ogg", "caption": "c"}}),
            "media.caption",
        ),
        (json!({"to": ASHA, "media": {"type": "image", "url": "http://a.example/a.jpg"}}), "media.url"),
        (json!({"to": ASHA, "media": {"type": "sticker", "url": "https://a.example/a.webp"}}), "media.type"),
        (buttons(json!([])), "interactive.buttons"),
        (buttons(json!([button("1", &"x".repeat(21))])), "interactive.buttons[0].title"),
        (buttons(json!([button("1", "a"), button("1", "b")])), "interactive.buttons[1].id"),
        (buttons(json!([button("1", "a"), button("2", "a")])), "interactive.buttons[1].title"),
        (interactive(json!({"type": "buttons", "body": "b"})), "interactive.buttons"),
        (interactive(json!({"type": "list", "body": "b", "button": "x"})), "interactive.sections"),
        (
            interactive(
                json!({"type": "cta_url", "body": "b", "displayText": "x", "url": "http://a.example"}),
            ),
            "interactive.url",
        ),
        (
            interactive(
                json!({"type": "cta_url", "body": "b", "displayText": "x", "url": "https://a.example", "header": "x".repeat(61)}),
            ),
            "interactive.header",
        ),
        (json!({"to": ASHA, "location": {"latitude": 91, "longitude": 1}}), "location.latitude"),
        (json!({"to": ASHA, "text": "a", "from": "+918000000000"}), "from"),
        (json!({"to": ASHA, "text": "a", "replyTo": "camsg_none"}), "replyTo"),
        (json!({"to": ASHA, "reaction": {"messageId": "camsg_none", "emoji": "👍"}}), "reaction.messageId"),
        (json!({"to": ASHA, "reaction": {"messageId": "wamid.in0", "emoji": "ok"}}), "reaction.emoji"),
        (json!({"to": ASHA, "contacts": [{"phones": []}]}), "contacts[0].name.formatted_name"),
    ] {
        let answer = desk.send(&body).await;
        assert_eq!(answer.json["meta"]["field"], field, "{body}: {}", answer.text);
        answer.refused(400, "invalid_request");
    }
    desk.send(&json!({"to": "hello", "text": "a"})).await.refused(422, "invalid_number");
    let late =
        json!({"to": ASHA, "text": "a", "optIn": {"source": "form", "capturedAt": "2099-01-01T00:00:00Z"}});
    desk.send(&late).await.refused(422, "invalid_opt_in");
    assert_eq!(desk.fake.system.sent().len(), 0);
    // A session message to an id that never wrote.
    desk.send(&json!({"to": "IN.4711000111222333", "text": "a"})).await.refused(409, "window_closed");
    for body in [
        json!({"to": ASHA, "media": {"type": "document", "url": "https://a.example/a.pdf", "filename": "a.pdf"}}),
        buttons(json!([button("1", "Yes"), button("2", "No")])),
        json!({"to": ASHA, "location": {"latitude": 12.97, "longitude": 77.59, "name": "Shop"}}),
        json!({"to": ASHA, "reaction": {"messageId": "wamid.in0", "emoji": "👍"}}),
        json!({"to": ASHA, "text": "a", "replyTo": "wamid.in0"}),
    ] {
        desk.send(&body).await.expect(201);
        desk.app.advance(1).await;
    }
    assert_eq!(desk.fake.system.sent().len(), 5);
    assert_eq!(desk.fake.system.sent()[4]["context"]["message_id"], "wamid.in0");
}

#[tokio::test]
async fn refusals_lost_answers_and_throttles_are_told_apart() {
    let desk = Desk::open().await;
    desk.hears(ASHA, "Hi").await;
    let keyed = async |key: &str, words: &str| {
        let headers = [("idempotency-key", key)];
        desk.app.post_with(&desk.workspace.live, PATH, &headers, &json!({"to": ASHA, "text": words})).await
    };
    desk.fake.fail("/messages", 1, cloud::refusal(400, 131_026));
    let refused = keyed("a", "one").await;
    assert_eq!(refused.json["meta"]["error"]["code"], 131_026, "{}", refused.text);
    refused.refused(502, "delivery_failed");
    keyed("a", "one").await.refused(502, "delivery_failed");
    assert_eq!(desk.list("status=failed").await[0]["error"]["code"], 131_026);
    desk.fake.fail("/messages", 1, cloud::refusal(500, 131_000));
    keyed("b", "two").await.refused(503, "provider_unavailable");
    keyed("b", "two").await.refused(503, "provider_unavailable");
    assert_eq!(desk.list("status=delivery_unknown").await.len(), 1);
    assert_eq!(desk.fake.system.sent().len(), 0, "neither is sent again");
    // A later status finds it by what went along with it.
    let id = desk.list("status=delivery_unknown").await[0]["messageId"].clone();
    let mut status = cloud::status("wamid.lost", "delivered", desk.now(), ASHA);
    status["biz_opaque_callback_data"] = id.clone();
    desk.told(json!({"statuses": [status]})).await;
    let found = desk.message(&id).await;
    assert_eq!((&found["status"], &found["providerMessageId"]), (&json!("delivered"), &json!("wamid.lost")));
    // Throttled: it waits and goes out by itself.
    desk.fake.fail("/messages", 1, cloud::refusal(400, 130_429));
    let queued = keyed("c", "three").await.expect(201)["data"].clone();
    assert_eq!(queued["status"], "queued");
    desk.app.advance(10).await;
    assert_eq!(desk.message(&queued["messageId"]).await["status"], "sent");
    assert_eq!(desk.fake.system.sent().len(), 1);
    assert_eq!(keyed("c", "three").await.expect(201)["data"]["messageId"], queued["messageId"]);
    keyed("c", "four").await.refused(422, "idempotency_key_reused");
}

#[tokio::test]
async fn a_stop_is_obeyed_and_confirmed_once_ever() {
    let desk = Desk::open().await;
    desk.template("due", "UTILITY").await;
    desk.hears(ASHA, "STOP").await;
    desk.app.advance(1).await;
    let confirmations = desk.list("direction=outbound").await;
    assert_eq!(confirmations.len(), 1);
    assert_eq!(
        (&confirmations[0]["source"], &confirmations[0]["status"]),
        (&json!("system"), &json!("sent"))
    );
    let told = desk.events("contact.opted_out").await;
    assert_eq!(
        (&told[0]["source"], &told[0]["channel"], &told[0]["phone"]),
        (&json!("chatapp"), &json!("chatapp"), &json!(ASHA))
    );
    let refused = desk.send(&template("due")).await;
    assert_eq!(refused.json["meta"]["reason"], "opted_out", "{}", refused.text);
    refused.refused(403, "contact_opted_out");
    let contact = told[0]["contactId"].as_str().unwrap();
    let path = format!("/v1/contacts/{contact}");
    let seen = desk.app.get(&desk.workspace.live, &path).await.expect(200)["data"].clone();
    assert_eq!((&seen["optOut"], &seen["doNotCall"]), (&json!(false), &json!(false)), "calls are as before");
    assert_eq!(
        (&seen["chatapp"]["messagesAllowed"], &seen["chatapp"]["stopSource"]),
        (&json!(false), &json!("chatapp"))
    );
    desk.hears(ASHA, "Start").await;
    desk.send(&template("due")).await.expect(201);
    desk.hears(ASHA, "बंद करो").await;
    desk.app.advance(1).await;
    assert_eq!(desk.list("direction=outbound").await.len(), 2, "no second confirmation");
    assert_eq!(desk.events("contact.opted_out").await.len(), 2);
    // Who does not want to be called is not called either.
    desk.hears(ASHA, "Do not call me again").await;
    let seen = desk.app.get(&desk.workspace.live, &path).await.expect(200)["data"].clone();
    assert_eq!((&seen["optOut"], &seen["doNotCall"]), (&json!(true), &json!(true)));
}

#[tokio::test]
async fn what_was_said_on_the_phone_holds_for_messages() {
    let desk = Desk::open().await;
    desk.template("due", "UTILITY").await;
    desk.app.post(&desk.workspace.live, "/v1/dnc", &json!({"phones": [ASHA]})).await.expect(200);
    let refused = desk.send(&template("due")).await;
    assert_eq!(refused.json["meta"]["reason"], "do_not_call", "{}", refused.text);
    refused.refused(403, "contact_opted_out");
}

#[tokio::test]
async fn marketing_needs_an_opt_in_and_ends_with_the_provider() {
    let desk = Desk::open().await;
    desk.template("offer", "MARKETING").await;
    desk.send(&template("offer")).await.refused(403, "opt_in_required");
    let mut with = template("offer");
    with["optIn"] = json!({"source": "form", "capturedAt": "2026-01-01T00:00:00Z"});
    desk.send(&with).await.expect(201);
    desk.send(&template("offer")).await.expect(201);
    let told = cloud::change(
        "user_preferences",
        json!({"messaging_product": "whatsapp", "metadata": {"display_phone_number": "918047111222", "phone_number_id": NUMBER_ID},
            "user_preferences": [{"wa_id": "919812345678", "detail": "d", "category": "marketing_messages", "value": "stop", "timestamp": desk.now()}]}),
    );
    notify(&desk.app, &desk.hook, &told).await.expect(200);
    desk.app.advance(0).await;
    desk.send(&with).await.refused(403, "contact_opted_out");
}

#[tokio::test]
async fn a_refusal_of_marketing_by_the_person_holds_for_marketing_alone() {
    let desk = Desk::open().await;
    desk.template("offer", "MARKETING").await;
    desk.template("due", "UTILITY").await;
    let mut with = template("offer");
    with["optIn"] = json!({"source": "form", "capturedAt": "2026-01-01T00:00:00Z"});
    let made = desk.send(&with).await.expect(201)["data"].clone();
    let mut status = cloud::status(made["providerMessageId"].as_str().unwrap(), "failed", desk.now(), ASHA);
    status["errors"] = json!([{"code": 131_050, "title": "stopped"}]);
    desk.told(json!({"statuses": [status]})).await;
    let seen = desk.message(&made["messageId"]).await;
    assert_eq!((&seen["status"], &seen["error"]["code"]), (&json!("failed"), &json!(131_050)));
    desk.send(&with).await.refused(403, "contact_opted_out");
    desk.send(&template("due")).await.expect(201);
    assert_eq!(desk.fake.system.sent().len(), 2);
}

#[tokio::test]
async fn what_the_business_writes_in_its_own_app_is_kept_once() {
    let desk = Desk::open().await;
    desk.hears(ASHA, "Hi").await;
    let echo = |id: &str| {
        let message = json!({"from": "918047111222", "to": "919812345678", "id": id, "timestamp": desk.now().to_string(),
            "type": "text", "text": {"body": "We call you back."}});
        cloud::change(
            "smb_message_echoes",
            json!({"messaging_product": "whatsapp", "metadata": {"display_phone_number": "918047111222", "phone_number_id": NUMBER_ID},
                "message_echoes": [message]}),
        )
    };
    for id in ["wamid.e1", "wamid.e1"] {
        notify(&desk.app, &desk.hook, &echo(id)).await.expect(200);
        desk.app.advance(0).await;
    }
    let made = desk.text("Hello").await.expect(201)["data"].clone();
    // What was sent here is no message of somebody else.
    let own = made["providerMessageId"].as_str().unwrap();
    notify(&desk.app, &desk.hook, &echo(own)).await.expect(200);
    desk.app.advance(0).await;
    let sent: Vec<Value> = desk
        .list("direction=outbound")
        .await
        .iter()
        .map(|message| json!([message["source"], message["status"], message["text"]]))
        .collect();
    assert_eq!(sent, [json!(["api", "sent", "Hello"]), json!(["system", "sent", "We call you back."])]);
    assert_eq!(desk.fake.system.sent().len(), 1);
}

#[tokio::test]
async fn consent_is_asked_again_when_a_message_that_waited_goes_out() {
    let desk = Desk::open().await;
    desk.hears(ASHA, "Hi").await;
    desk.fake.fail("/messages", 1, cloud::refusal(400, 80_007));
    let queued = desk.text("Later").await.expect(201)["data"].clone();
    assert_eq!(queued["status"], "queued");
    desk.hears(ASHA, "stop").await;
    desk.app.advance(120).await;
    let seen = desk.message(&queued["messageId"]).await;
    assert_eq!((&seen["status"], &seen["error"]["code"]), (&json!("failed"), &json!(-1001)));
    let failed = desk.events("message.failed").await;
    assert_eq!(failed[0]["error"]["title"], "contact_opted_out");
}

/// A message that waits, and what happens meanwhile; the code and the title of its error afterwards.
async fn after_waiting(body: Value, seconds: i64, meanwhile: impl AsyncFnOnce(&Desk)) -> Value {
    let desk = Desk::open().await;
    desk.template("due", "UTILITY").await;
    desk.hears(ASHA, "Hi").await;
    desk.app.advance(seconds).await;
    desk.fake.fail("/messages", 1, cloud::refusal(400, 80_007));
    let queued = desk.send(&body).await.expect(201)["data"].clone();
    assert_eq!(queued["status"], "queued");
    meanwhile(&desk).await;
    desk.app.advance(0).await;
    desk.app.advance(120).await;
    let seen = desk.message(&queued["messageId"]).await;
    let failed = desk.events("message.failed").await;
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
    let paused = async |desk: &Desk| {
        let told = cloud::template_event(TEMPLATE, "due", "PAUSED");
        notify(&desk.app, &desk.hook, &told).await.expect(200);
    };
    let paused = after_waiting(template("due"), 0, paused).await;
    assert_eq!(paused, json!(["failed", -1007, "template_unavailable"]));
    let became_marketing = async |desk: &Desk| {
        let told = json!({"message_template_id": TEMPLATE.parse::<i64>().unwrap(), "message_template_name": "due",
            "message_template_language": "en", "previous_category": "UTILITY", "new_category": "MARKETING"});
        notify(&desk.app, &desk.hook, &cloud::change("template_category_update", told)).await.expect(200);
    };
    let became_marketing = after_waiting(template("due"), 0, became_marketing).await;
    assert_eq!(became_marketing, json!(["failed", -1006, "opt_in_required"]));
    let gone = async |desk: &Desk| {
        desk.fake.system.remove_template("due");
        // What is as new as the list is left alone.
        desk.app.advance(1).await;
        let path = "/v1/chatapp/templates/sync";
        desk.app.post(&desk.workspace.live, path, &Value::Null).await.expect(200);
    };
    let gone = after_waiting(template("due"), 0, gone).await;
    assert_eq!(gone, json!(["failed", -1008, "template_not_found"]));
    let number_gone = async |desk: &Desk| {
        let path = format!("/workspaces/{}/chatapp/numbers/{NUMBER_ID}", desk.workspace.id);
        desk.app.operator("DELETE", &path, &Value::Null).await.expect(200);
    };
    let number_gone = after_waiting(json!({"to": ASHA, "text": "Later"}), 0, number_gone).await;
    assert_eq!(number_gone, json!(["failed", -1005, "invalid_message"]));
}

#[tokio::test]
async fn one_person_gets_a_burst_and_then_one_message_in_six_seconds() {
    let desk = Desk::open().await;
    desk.hears(ASHA, "Hi").await;
    for at in 0..45 {
        desk.app.advance(1).await;
        assert_eq!(desk.text("x").await.expect(201)["data"]["status"], "sent", "{at}");
    }
    let mut queued = 0;
    for _ in 0..20 {
        queued += usize::from(desk.text("x").await.expect(201)["data"]["status"] == "queued");
    }
    assert!(queued > 0);
    desk.app.advance(200).await;
    assert_eq!(desk.fake.system.sent().len(), 65);
    assert_eq!(desk.list("status=queued").await.len(), 0);
}

#[tokio::test]
async fn the_messaging_limit_counts_people() {
    let desk = Desk::open().await;
    desk.template("due", "UTILITY").await;
    let told =
        cloud::change("business_capability_update", json!({"max_daily_conversations_per_business": 2}));
    notify(&desk.app, &desk.hook, &told).await.expect(200);
    desk.app.advance(0).await;
    let to = |number: &str| {
        let mut body = template("due");
        body["to"] = json!(number);
        body
    };
    desk.send(&to("+919812345601")).await.expect(201);
    desk.send(&to("+919812345602")).await.expect(201);
    desk.send(&to("+919812345601")).await.expect(201);
    desk.send(&to("+919812345603")).await.refused(429, "tier_limit_reached");
    // Who wrote first does not count.
    desk.hears("+919812345604", "Hi").await;
    desk.send(&to("+919812345604")).await.expect(201);
    desk.app.advance(24 * 3_600 + 1).await;
    desk.send(&to("+919812345603")).await.expect(201);
}

#[tokio::test]
async fn people_who_were_reached_without_a_limit_count_once_there_is_one() {
    let desk = Desk::open().await;
    desk.template("due", "UTILITY").await;
    let limit = async |most: i64| {
        let value = json!({"max_daily_conversations_per_business": most});
        let mut told = cloud::change("business_capability_update", value);
        // The same at another time is no repetition.
        told["entry"][0]["time"] = json!(desk.now());
        notify(&desk.app, &desk.hook, &told).await.expect(200);
        desk.app.advance(1).await;
    };
    let to = |number: i64| {
        let mut body = template("due");
        body["to"] = json!(format!("+91981234560{number}"));
        body
    };
    limit(-1).await;
    desk.send(&to(1)).await.expect(201);
    desk.send(&to(2)).await.expect(201);
    limit(2).await;
    desk.send(&to(3)).await.refused(429, "tier_limit_reached");
    let test = desk.app.post(&desk.workspace.test, PATH, &to(3)).await;
    test.refused(429, "tier_limit_reached");
    desk.send(&to(2)).await.expect(201);
    // The same when the limit falls away and comes back.
    limit(-1).await;
    desk.send(&to(3)).await.expect(201);
    limit(4).await;
    desk.send(&to(4)).await.expect(201);
    desk.send(&to(5)).await.refused(429, "tier_limit_reached");
    // The daily look forgets whom an account without a limit reached more than a day ago.
    limit(-1).await;
    desk.send(&to(5)).await.expect(201);
    desk.app.advance(49 * 3_600).await;
    let left = desk.app.app().store.read(|tx| tx.one::<i64>("select count(*) from channel_reached", &[]));
    assert_eq!(left.await.unwrap(), Some(0));
    limit(1).await;
    desk.send(&to(6)).await.expect(201);
    desk.send(&to(7)).await.refused(429, "tier_limit_reached");
}

#[tokio::test]
async fn a_number_gives_each_slot_once_however_many_ask() {
    let app = TestApp::start().await;
    let workspace = app.workspace().await;
    cloud::connect_sandbox(&app, &workspace.id).await;
    let body = json!({"name": "due", "language": "en", "category": "UTILITY",
        "components": [{"type": "BODY", "text": "Hi, it is due."}]});
    app.post(&workspace.live, "/v1/chatapp/templates", &body).await.expect(201);
    app.advance(3).await;
    let send = async |person: usize| {
        let body =
            json!({"to": format!("+9198{person:05}777"), "template": {"name": "due", "language": "en"}});
        let sent = app.post(&workspace.live, PATH, &body).await.expect(201);
        sent["data"]["status"].as_str().unwrap().to_owned()
    };
    // The number is busy, so that a node reserves slots of it.
    for person in 0..30 {
        assert_eq!(send(person).await, "sent");
    }
    for round in 1..4 {
        app.advance(1).await;
        // A number of the high class may send 50 at once; later ones wait.
        let asked = (0..70).map(|at| send(round * 100 + at));
        let told = futures_util::future::join_all(asked).await;
        let sent = told.iter().filter(|status| *status == "sent").count();
        assert_eq!((sent, told.len()), (50, 70), "round {round}");
    }
    app.advance(10).await;
    let waits = app.get(&workspace.live, &format!("{PATH}?status=queued")).await.expect(200);
    assert_eq!(waits["data"], json!([]));
}

/// Requests that come at one moment share transactions on PostgreSQL; each is answered as if it were alone.
#[tokio::test]
async fn requests_of_one_moment_are_answered_each_as_if_it_were_alone() {
    let desk = Desk::open().await;
    desk.template("due", "UTILITY").await;
    let person = |number: usize| format!("+9198123457{number:02}");
    desk.hears(&person(0), "STOP").await;
    desk.hears(&person(1), "Hi").await;
    let confirmed = desk.fake.system.sent().len();
    let to = |number: usize| {
        let mut body = template("due");
        body["to"] = json!(person(number));
        body
    };
    let mut bodies: Vec<(Value, Option<String>)> = (0..20).map(|number| (to(number), None)).collect();
    // Words may go to who has written, not to others; and what does not fit is nobody else's matter.
    bodies.push((json!({"to": person(1), "text": "Hello"}), None));
    bodies.push((json!({"to": person(30), "text": "Hello"}), None));
    let mut wrong = to(31);
    wrong["template"]["name"] = json!("nobodys");
    bodies.push((wrong, None));
    let mut empty = to(32);
    empty["template"]["params"] = json!({"body": []});
    bodies.push((empty, None));
    // The same person three times, and the same request twice.
    bodies.extend((0..3).map(|_| (to(40), None)));
    bodies.extend((0..2).map(|_| (to(41), Some("once".to_owned()))));
    bodies.push((to(42), Some("another".to_owned())));
    let asked = bodies.iter().map(|(body, key)| async {
        match key {
            Some(key) => desk.keyed(key, body).await,
            None => desk.send(body).await,
        }
    });
    let told = futures_util::future::join_all(asked).await;
    let statuses: Vec<u16> = told.iter().map(|answer| answer.status).collect();
    let mut expected = vec![403];
    expected.extend([201; 20]);
    expected.extend([409, 400, 422, 201, 201, 201]);
    assert_eq!(statuses[..27], expected[..]);
    // Whichever of the two came second was told that the first is under way, or what came of it.
    let keyed = &statuses[27..29];
    assert!(keyed.contains(&201) && keyed.iter().all(|status| [201, 409].contains(status)), "{keyed:?}");
    assert_eq!(statuses[29], 201);
    for (key, number) in [("once", 41), ("another", 42)] {
        let again = desk.keyed(key, &to(number)).await;
        assert_eq!(again.expect(201)["data"]["to"], json!(person(number)), "the answer is kept");
    }
    // Four go out at once; the others are queued.
    desk.app.advance(10).await;
    let sent = desk.fake.system.sent();
    let count = |number: usize| {
        let to = person(number);
        sent[confirmed..].iter().filter(|body| body["to"] == to.trim_start_matches('+')).count()
    };
    let counts: Vec<usize> = [0, 1, 2, 19, 30, 31, 32, 40, 41, 42].into_iter().map(count).collect();
    assert_eq!(counts, [0, 2, 1, 1, 0, 0, 0, 3, 1, 1]);
    let messages: std::collections::BTreeSet<&str> =
        sent.iter().filter_map(|body| body["biz_opaque_callback_data"].as_str()).collect();
    assert_eq!(messages.len(), sent.len(), "no message went out twice");
    assert_eq!(desk.events("message.sent").await.len(), sent.len());
    // Each decision is in the log once, those that refused, too.
    let log = desk.app.get(&desk.workspace.live, "/v1/audit/verify").await.expect(200);
    assert_eq!(log["data"]["verified"], true, "{log}");
}

/// Items that are worked in one transaction see what those before them did.
#[tokio::test]
async fn what_comes_in_one_notification_is_worked_in_its_order() {
    let desk = Desk::open().await;
    desk.template("due", "UTILITY").await;
    let made = desk.send(&template("due")).await.expect(201)["data"].clone();
    let id = made["providerMessageId"].as_str().unwrap();
    let (now, new, other) = (desk.now(), "+919812345701", "+919812345702");
    let contact = |of: &str| json!({"wa_id": of.trim_start_matches('+'), "profile": {"name": "Ravi"}});
    let statuses: Vec<Value> =
        ["delivered", "read", "sent"].iter().map(|word| cloud::status(id, word, now, ASHA)).collect();
    let messages = json!([
        cloud::text("wamid.a1", new, now, "Hi"),
        cloud::text("wamid.a2", new, now, "Are you there?"),
        // The same once more, and somebody else in between.
        cloud::text("wamid.a1", new, now, "Hi"),
        cloud::text("wamid.b1", other, now, "STOP"),
        cloud::text("wamid.b2", other, now, "And one more"),
        cloud::text("wamid.a3", new, now, "Hello?"),
    ]);
    let value =
        json!({"contacts": [contact(new), contact(other)], "messages": messages, "statuses": statuses});
    desk.told(value).await;
    assert_eq!(desk.message(&made["messageId"]).await["status"], "read");
    let received = desk.list("direction=inbound").await;
    assert_eq!(received.len(), 5);
    let of = |person: &str| received.iter().filter(|row| row["from"] == person).collect::<Vec<_>>();
    let mut words: Vec<&str> = of(new).iter().map(|row| row["text"].as_str().unwrap()).collect();
    words.reverse();
    assert_eq!(words, ["Hi", "Are you there?", "Hello?"]);
    assert_eq!(
        of(new).iter().map(|row| &row["contactId"]).collect::<std::collections::HashSet<_>>().len(),
        1
    );
    for (kind, count) in
        [("message.received", 5), ("message.read", 1), ("message.delivered", 1), ("contact.opted_out", 1)]
    {
        assert_eq!(desk.events(kind).await.len(), count, "{kind}");
    }
    desk.send(&json!({"to": new, "text": "Yes"})).await.expect(201);
    desk.send(&json!({"to": other, "text": "Yes"})).await.refused(403, "contact_opted_out");
}

#[tokio::test]
async fn a_message_that_comes_twice_is_stored_once_and_its_file_is_kept() {
    let desk = Desk::open().await;
    desk.fake.system.put_media("900", "image/jpeg", "the bytes");
    let message = json!({"from": "919812345678", "id": "wamid.media", "timestamp": desk.now().to_string(), "type": "image",
        "image": {"id": "900", "mime_type": "image/jpeg", "caption": "Look"}});
    for _ in 0..2 {
        desk.told(json!({"messages": [message]})).await;
    }
    desk.app.advance(1).await;
    let listed = desk.list("direction=inbound").await;
    assert_eq!(listed.len(), 1);
    assert_eq!((&listed[0]["type"], &listed[0]["text"]), (&json!("image"), &json!("Look")));
    assert_eq!(
        (&listed[0]["media"]["available"], &listed[0]["media"]["mimeType"]),
        (&json!(true), &json!("image/jpeg"))
    );
    let path = format!("{PATH}/{}/media", listed[0]["messageId"].as_str().unwrap());
    let file = desk.app.get(&desk.workspace.live, &path).await;
    assert_eq!(
        (file.status, file.text.as_str(), file.header("content-type")),
        (200, "the bytes", Some("image/jpeg"))
    );
    assert_eq!(desk.events("message.received").await.len(), 1);
    // Erasure takes the words, the file and the number.
    let contact = listed[0]["contactId"].as_str().unwrap();
    let erased = desk
        .app
        .post(&desk.workspace.live, &format!("/v1/contacts/{contact}/erase"), &Value::Null)
        .await
        .expect(200);
    assert_eq!(erased["data"]["erased"]["messages"], 1);
    let gone = desk.message(&listed[0]["messageId"]).await;
    assert_eq!(
        (&gone["status"], &gone["text"], &gone["from"], &gone["media"]),
        (&json!("deleted"), &Value::Null, &Value::Null, &Value::Null)
    );
    desk.app.get(&desk.workspace.live, &path).await.refused(404, "not_found");
    desk.template("due", "UTILITY").await;
    let refused = desk.send(&template("due")).await;
    assert_eq!(refused.json["meta"]["reason"], "erased", "{}", refused.text);
    refused.refused(403, "contact_opted_out");
}

#[tokio::test]
async fn what_a_customer_changes_or_deletes_is_changed_or_gone() {
    let desk = Desk::open().await;
    desk.fake.system.put_media("900", "image/jpeg", "the bytes");
    let of = |id: &str, kind: &str, what: Value| {
        let mut message =
            json!({"from": "919812345678", "id": id, "timestamp": desk.now().to_string(), "type": kind});
        message[kind] = what;
        json!({"messages": [message]})
    };
    let picture = json!({"id": "900", "mime_type": "image/jpeg", "caption": "Look"});
    desk.told(of("wamid.media", "image", picture)).await;
    desk.app.advance(1).await;
    let kept = || {
        let folder = desk.app.app().config.data.join("channel");
        std::fs::read_dir(folder).map_or(0, |files| files.count())
    };
    assert_eq!(kept(), 1);
    let id = desk.list("direction=inbound").await[0]["messageId"].clone();
    let edit = |to: &str| json!({"original_message_id": "wamid.media", "message": {"caption": to}});
    desk.told(of("wamid.e1", "edit", edit("Look here"))).await;
    let seen = desk.message(&id).await;
    assert_eq!((&seen["text"], &seen["status"]), (&json!("Look here"), &json!("received")));
    let revoke = |original: &str| json!({"original_message_id": original});
    desk.told(of("wamid.r0", "revoke", revoke("wamid.unknown"))).await;
    for id in ["wamid.r1", "wamid.r2"] {
        desk.told(of(id, "revoke", revoke("wamid.media"))).await;
    }
    // What is gone does not come back.
    desk.told(of("wamid.e2", "edit", edit("Again"))).await;
    let gone = desk.message(&id).await;
    assert_eq!(
        (&gone["status"], &gone["text"], &gone["media"]),
        (&json!("deleted"), &Value::Null, &Value::Null)
    );
    let path = format!("{PATH}/{}/media", id.as_str().unwrap());
    desk.app.get(&desk.workspace.live, &path).await.refused(404, "not_found");
    desk.app.advance(60).await;
    assert_eq!(kept(), 0, "the file is gone, too");
    // None of these is a message of its own.
    assert_eq!(desk.list("direction=inbound").await.len(), 1);
    assert_eq!(desk.events("message.received").await.len(), 1);
}

#[tokio::test]
async fn who_hides_the_number_is_one_person_when_it_is_shown() {
    let desk = Desk::open().await;
    let hidden = json!({"from_user_id": "IN.4711000111222333", "id": "wamid.h1", "timestamp": desk.now().to_string(),
        "type": "text", "text": {"body": "Hi"}});
    let contact =
        json!({"user_id": "IN.4711000111222333", "profile": {"name": "Asha", "username": "asha.k"}});
    desk.told(json!({"contacts": [contact], "messages": [hidden]})).await;
    let listed = desk.list("direction=inbound").await;
    assert_eq!(
        (&listed[0]["from"], &listed[0]["customerUserId"]),
        (&Value::Null, &json!("IN.4711000111222333"))
    );
    let sent =
        desk.send(&json!({"to": "IN.4711000111222333", "text": "Hello"})).await.expect(201)["data"].clone();
    assert_eq!((&sent["to"], &sent["customerUserId"]), (&Value::Null, &json!("IN.4711000111222333")));
    let mut shown = cloud::text("wamid.h2", ASHA, desk.now(), "It is me");
    shown["from_user_id"] = json!("IN.4711000111222333");
    let contact =
        json!({"wa_id": "919812345678", "user_id": "IN.4711000111222333", "profile": {"name": "Asha"}});
    desk.told(json!({"contacts": [contact], "messages": [shown]})).await;
    let listed = desk.list("limit=10").await;
    assert_eq!(listed.len(), 3);
    assert!(listed.iter().all(|message| message["contactId"] == listed[0]["contactId"]), "{listed:?}");
}

#[tokio::test]
async fn the_channel_can_be_off_or_missing() {
    let (app, _fake) = cloud::start().await;
    let workspace = app.workspace().await;
    let body = json!({"to": ASHA, "text": "a"});
    app.post(&workspace.live, PATH, &body).await.refused(409, "chatapp_not_connected");
    app.operator(
        "PATCH",
        &format!("/workspaces/{}", workspace.id),
        &json!({"features": {"chatappChannel": false}}),
    )
    .await
    .expect(200);
    app.post(&workspace.live, PATH, &body).await.refused(403, "chatapp_disabled");
}

#[tokio::test]
async fn a_lost_answer_leaves_a_message_that_nobody_sends_again() {
    let desk = Desk::open().await;
    desk.hears(ASHA, "Hi").await;
    desk.fake.fail("/messages", 1, Reply::Lost);
    let path = PATH.to_owned();
    let answer = desk.app.post(&desk.workspace.live, &path, &json!({"to": ASHA, "text": "Hello"})).await;
    answer.refused(503, "provider_unavailable");
    desk.app.advance(600).await;
    assert_eq!(desk.list("status=delivery_unknown").await.len(), 1);
    assert_eq!(desk.fake.count("/messages"), 1);
}
