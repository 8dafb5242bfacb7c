//! Messages of the messaging channel (docs/contract/channel-messages.md), against a Cloud API that misbehaves.

use serde_json::{Value, json};

use crate::cloud::{self, NUMBER, notify};
use crate::fakes::Reply;
use crate::shows::Shows;
use crate::world::Channel;

pub const PATH: &str = "/v1/chatapp/messages";
pub const ASHA: &str = "+919812345678";

pub fn template(name: &str) -> Value {
    json!({"to": ASHA, "template": {"name": name, "language": "en", "params": {"body": ["Asha"]}}})
}

#[tokio::test]
async fn a_message_goes_out_once_and_its_statuses_never_move_back() {
    let desk = Channel::open().await;
    desk.text("Hello").await.refused(409, "window_closed");
    assert_eq!(desk.fake.system.sent().len(), 0);
    desk.hears(ASHA, "Hi").await;
    let made = desk.text("Hello").await.data(201);
    made.shows(
        json!({"status": "sent", "direction": "outbound", "source": "api", "type": "text", "livemode": true}),
    );
    assert_eq!((&made["from"], &made["to"]), (&json!(NUMBER), &json!(ASHA)));
    let sent = desk.fake.system.sent();
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0]["biz_opaque_callback_data"], made["messageId"]);
    let id = made["providerMessageId"].as_str().unwrap();
    for word in ["read", "delivered", "sent", "read", "failed"] {
        desk.reports(id, word).await;
        assert_eq!(desk.message(&made["messageId"]).await["status"], "read", "{word}");
    }
    let seen = desk.message(&made["messageId"]).await;
    assert!(seen["statuses"]["deliveredAt"].is_string() && seen["statuses"]["failedAt"].is_null());
    // That it was read says that it had been delivered.
    for (kind, count) in [
        ("message.sent", 1),
        ("message.delivered", 1),
        ("message.read", 1),
        ("message.failed", 0),
        ("message.received", 1),
    ] {
        assert_eq!(desk.payloads(kind).await.len(), count, "{kind}");
    }
    // The window closes after 24 hours.
    desk.advance(24 * 3_600).await;
    desk.text("Hello again").await.refused(409, "window_closed");
}

/// `read` alone: what must have been before it is told before it, once, at its time at the latest.
#[tokio::test]
async fn a_status_implies_those_before_it() {
    let desk = Channel::open().await;
    desk.hears(ASHA, "Hi").await;
    // Of the second one the answer is lost, so it is not known to be sent either.
    let known = desk.text("One").await.data(201);
    desk.fake.fail("/messages", 1, Reply::Lost);
    let lost = desk.text("Two").await.refused(503, "provider_unavailable")["meta"]["messageId"].clone();
    let mut of_lost = cloud::status("wamid.lost", "read", desk.seconds() - 5, ASHA);
    of_lost["biz_opaque_callback_data"] = lost.clone();
    let of_known =
        cloud::status(known["providerMessageId"].as_str().unwrap(), "read", desk.seconds() - 5, ASHA);
    desk.told(json!({"statuses": [of_known, of_lost]})).await;
    let told = desk.get("/v1/events?after=start&limit=100").await;
    let of = |id: &Value| -> Vec<Value> {
        let about = |event: &&Value| event["data"]["messageId"] == *id;
        told["data"].as_array().unwrap().iter().filter(about).map(|event| event["type"].clone()).collect()
    };
    for id in [&known["messageId"], &lost] {
        assert_eq!(of(id), ["message.sent", "message.delivered", "message.read"]);
        let seen = desk.message(id).await;
        seen.shows(json!({"status": "read", "statuses.deliveredAt": seen["statuses"]["readAt"]}));
    }
    let implied =
        told["data"].as_array().unwrap().iter().find(|event| event["type"] == "message.delivered").unwrap();
    implied["data"].shows(json!({"status": "delivered", "statuses.readAt": null}));
    // The provider tells late when it was delivered, and nobody is told again.
    let id = known["providerMessageId"].as_str().unwrap();
    let late = cloud::status(id, "delivered", desk.seconds() - 8, ASHA);
    desk.told(json!({"statuses": [late]})).await;
    let seen = desk.message(&known["messageId"]).await;
    assert!(seen["statuses"]["deliveredAt"].as_str() < seen["statuses"]["readAt"].as_str(), "{seen}");
    assert_eq!(desk.payloads("message.delivered").await.len(), 2);
}

#[tokio::test]
async fn the_lists_are_narrowed_down() {
    let desk = Channel::open().await;
    desk.cloud_template("due", "UTILITY").await;
    desk.hears(ASHA, "Hi").await;
    let made = desk.send(&template("due")).await.data(201);
    assert_eq!(made["text"], "Hi Asha, it is due.");
    made["template"].shows(json!({"name": "due", "category": "UTILITY"}));
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
        assert_eq!(desk.messages(query).await.len(), count, "{query}");
    }
    let first = desk.get(&format!("{PATH}?limit=1")).await;
    let next = first["nextCursor"].as_str().unwrap();
    let second = desk.messages(&format!("limit=1&cursor={next}")).await;
    assert_ne!(second[0]["messageId"], first["data"][0]["messageId"]);
    // A test key sends nothing and sees nothing.
    let test = desk.app.post(desk.test(), PATH, &template("due")).await.data(201);
    assert_eq!(test["livemode"], false);
    assert!(test["providerMessageId"].as_str().unwrap().starts_with("TEST_"));
    assert_eq!((desk.fake.system.sent().len(), desk.messages("limit=10").await.len()), (1, 2));
    let listed = desk.app.get(desk.test(), PATH).await.expect(200);
    assert_eq!(listed["data"], json!([]));
    desk.app.post(desk.test(), PATH, &template("other")).await.refused(400, "template_not_found");
}

#[tokio::test]
async fn what_the_body_must_not_be_names_its_field() {
    let desk = Channel::open().await;
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
        (json!({"to": ASHA, "reaction": {"messageId": "wamid.in0", "emoji": "👍👍"}}), "reaction.emoji"),
        (json!({"to": ASHA, "reaction": {"messageId": "wamid.in0", "emoji": "\u{200d}"}}), "reaction.emoji"),
        (json!({"to": ASHA, "contacts": [{"phones": []}]}), "contacts[0].name.formatted_name"),
    ] {
        let answer = desk.send(&body).await;
        assert_eq!(answer.json["meta"]["field"], field, "{body}: {}", answer.text);
        answer.invalid();
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
        json!({"to": ASHA, "media": {"type": "image", "url": "https://a.example/a.jpg", "filename": "a.jpg"}}),
    ] {
        desk.send(&body).await.expect(201);
        desk.advance(1).await;
    }
    let sent = desk.fake.system.sent();
    assert_eq!(sent.len(), 6);
    assert_eq!(sent[4]["context"]["message_id"], "wamid.in0");
    // The channel takes no name of a picture.
    sent[5].shows(json!({"image": {"link": "https://a.example/a.jpg"}}));
}

#[tokio::test]
async fn refusals_lost_answers_and_throttles_are_told_apart() {
    let desk = Channel::open().await;
    desk.hears(ASHA, "Hi").await;
    let keyed = async |key: &str, words: &str| {
        let headers = [("idempotency-key", key)];
        desk.post_with(desk.live(), PATH, &headers, &json!({"to": ASHA, "text": words})).await
    };
    desk.fake.fail("/messages", 1, cloud::refusal(400, 131_026));
    let refused = keyed("a", "one").await;
    assert_eq!(refused.json["meta"]["error"]["code"], 131_026, "{}", refused.text);
    refused.refused(502, "delivery_failed");
    keyed("a", "one").await.refused(502, "delivery_failed");
    assert_eq!(desk.messages("status=failed").await[0]["error"]["code"], 131_026);
    desk.fake.fail("/messages", 1, cloud::refusal(500, 131_000));
    keyed("b", "two").await.refused(503, "provider_unavailable");
    keyed("b", "two").await.refused(503, "provider_unavailable");
    assert_eq!(desk.messages("status=delivery_unknown").await.len(), 1);
    assert_eq!(desk.fake.system.sent().len(), 0, "neither is sent again");
    // A later status finds it by what went along with it.
    let id = desk.messages("status=delivery_unknown").await[0]["messageId"].clone();
    let mut status = cloud::status("wamid.lost", "delivered", desk.seconds(), ASHA);
    status["biz_opaque_callback_data"] = id.clone();
    desk.told(json!({"statuses": [status]})).await;
    let found = desk.message(&id).await;
    assert_eq!((&found["status"], &found["providerMessageId"]), (&json!("delivered"), &json!("wamid.lost")));
    // Throttled: it waits and goes out by itself.
    desk.fake.fail("/messages", 1, cloud::refusal(400, 130_429));
    let queued = keyed("c", "three").await.data(201);
    assert_eq!(queued["status"], "queued");
    desk.advance(10).await;
    assert_eq!(desk.message(&queued["messageId"]).await["status"], "sent");
    assert_eq!(desk.fake.system.sent().len(), 1);
    assert_eq!(keyed("c", "three").await.expect(201)["data"]["messageId"], queued["messageId"]);
    keyed("c", "four").await.refused(422, "idempotency_key_reused");
}

/// The provider's answer is a success that says nothing of this message.
#[tokio::test]
async fn an_answer_without_an_id_of_its_own_is_unclear() {
    let desk = Channel::open().await;
    desk.hears(ASHA, "Hi").await;
    let made = desk.text("one").await.data(201);
    let known = made["providerMessageId"].as_str().unwrap();
    let answer = |id: &str| Reply::ok(json!({"messages": [{"id": id, "message_status": "accepted"}]}));
    let ids = [known, "wamid.in0", "wamid.\u{0}", "wamid.\n", &"x".repeat(513), ""];
    for (at, id) in ids.into_iter().enumerate() {
        desk.advance(1).await;
        desk.fake.fail("/messages", 1, answer(id));
        desk.text("two").await.refused(503, "provider_unavailable");
        assert_eq!(desk.messages("status=delivery_unknown").await.len(), at + 1, "{id:?}");
    }
    // Of several at one moment one is it; more than four of a moment would wait for the number's pace.
    desk.advance(1).await;
    desk.fake.fail_always("/messages", answer("wamid.same"));
    let told = futures_util::future::join_all((0..4).map(|_| desk.text("three"))).await;
    desk.fake.mend();
    desk.advance(10).await;
    let mut statuses: Vec<u16> = told.iter().map(|answer| answer.status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 503, 503, 503]);
    assert_eq!(desk.messages("status=delivery_unknown").await.len(), ids.len() + 3);
    // A later status finds each by what went along with it.
    let lost = desk.messages("status=delivery_unknown").await[0]["messageId"].clone();
    let mut status = cloud::status("wamid.late", "read", desk.seconds(), ASHA);
    status["biz_opaque_callback_data"] = lost.clone();
    desk.told(json!({"statuses": [status]})).await;
    assert_eq!(desk.message(&lost).await["status"], "read");
    assert_eq!(desk.message(&made["messageId"]).await["status"], "sent");
}

#[tokio::test]
async fn values_of_templates_have_no_hidden_line_breaks() {
    let desk = Channel::open().await;
    desk.cloud_template("due", "UTILITY").await;
    for sign in ['\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}', '\u{1b}'] {
        let mut body = template("due");
        body["template"]["params"]["body"] = json!([format!("Asha{sign}K")]);
        let refused = desk.send(&body).await;
        assert_eq!(refused.json["meta"]["issues"][0]["code"], "invalid", "{sign:?}: {}", refused.text);
        refused.refused(422, "template_params_invalid");
    }
    assert_eq!(desk.fake.system.sent().len(), 0);
}

#[tokio::test]
async fn what_an_id_cannot_receive_is_refused_with_the_providers_code() {
    let desk = Channel::open().await;
    desk.cloud_template("code", "AUTHENTICATION").await;
    let mut body = template("code");
    body["to"] = json!("IN.4711000111222333");
    let refused = desk.send(&body).await.refused(502, "recipient_unsupported");
    let error = &refused["meta"]["error"];
    assert_eq!(
        (&error["code"], &error["title"]),
        (&json!(131_062), &json!("recipient_unsupported")),
        "{refused}"
    );
    assert!(error["detail"].is_string(), "{refused}");
    assert_eq!(desk.fake.system.sent().len(), 0);
}

/// Requests that come at one moment share transactions on PostgreSQL; each is answered as if it were alone.
#[tokio::test]
async fn requests_of_one_moment_are_answered_each_as_if_it_were_alone() {
    let desk = Channel::open().await;
    desk.cloud_template("due", "UTILITY").await;
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
    desk.advance(10).await;
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
    assert_eq!(desk.payloads("message.sent").await.len(), sent.len());
    // Each decision is in the log once, those that refused, too.
    let log = desk.get("/v1/audit/verify").await;
    assert_eq!(log["data"]["verified"], true, "{log}");
}

#[tokio::test]
async fn the_channel_can_be_off_or_missing() {
    let (world, _fake) = cloud::start().await;
    let body = json!({"to": ASHA, "text": "a"});
    world.post(PATH, &body).await.refused(409, "chatapp_not_connected");
    world.change(&json!({"features": {"chatappChannel": false}})).await;
    world.post(PATH, &body).await.refused(403, "chatapp_disabled");
}

#[tokio::test]
async fn a_number_that_the_provider_does_not_let_send_is_refused_here() {
    for word in ["BANNED", "DISCONNECTED"] {
        let desk = Channel::open().await;
        desk.cloud_template("due", "UTILITY").await;
        desk.hears(ASHA, "Hi").await;
        desk.fake.fail("/messages", 1, cloud::refusal(400, 80_007));
        let waiting = desk.text("Waits").await.data(201);
        assert_eq!(waiting["status"], "queued");
        let stands = async |word: &str| {
            desk.fake.system.stand(Some(word));
            let number = NUMBER.trim_start_matches('+');
            // What is said twice counts once.
            let event = if word == "CONNECTED" { "UNFLAGGED" } else { "FLAGGED" };
            let news = json!({"event": event, "display_phone_number": number});
            notify(&desk.app, &desk.hook, &cloud::change("phone_number_quality_update", news))
                .await
                .expect(200);
            let live = desk.live();
            desk.until(live, "/v1/chatapp/numbers", |shown| shown["data"][0]["status"] == word).await;
        };
        stands(word).await;
        for body in [json!({"to": ASHA, "text": "Hello"}), template("due")] {
            for key in [desk.live(), desk.test()] {
                desk.app.post(key, PATH, &body).await.refused(409, "chatapp_not_connected");
            }
        }
        desk.advance(600).await;
        assert_eq!(desk.fake.count("/messages"), 1, "{word}: the provider is not asked");
        let listed = desk.messages("direction=outbound").await;
        assert_eq!(listed.len(), 1, "nothing is kept of what was refused");
        listed[0].shows(json!({"messageId": waiting["messageId"], "status": "failed", "error.code": -1005}));
        assert_eq!(desk.payloads("message.failed").await.len(), 1);
        stands("CONNECTED").await;
        desk.text("Hello").await.expect(201);
        assert_eq!(desk.fake.system.sent().len(), 1);
    }
}

#[tokio::test]
async fn fields_of_a_template_that_are_not_known_are_passed_over() {
    let desk = Channel::open().await;
    let components = json!([
        {"type": "HEADER", "format": "TEXT", "text": "For {{1}}"},
        {"type": "BODY", "text": "Hi {{1}}, it is due."},
        {"type": "BUTTONS", "buttons": [{"type": "URL", "text": "Pay", "url": "https://p.example/{{1}}"}]},
    ]);
    desk.fake
        .system
        .put_template(json!({"id": "779", "name": "bill", "language": "en", "category": "UTILITY",
        "status": "APPROVED", "components": components}));
    let live = desk.live();
    desk.app.post(live, "/v1/chatapp/templates/sync", &Value::Null).await.expect(200);
    let body = json!({"to": ASHA, "later": 1, "template": {"name": "bill", "language": "en", "later": 1, "params": {
        "body": ["Asha"], "later": {"a": [1]},
        "header": {"type": "text", "text": "Asha", "later": 1},
        "buttons": [{"index": 0, "text": "7", "later": 1}],
    }}});
    desk.send(&body).await.expect(201);
    let sent = desk.fake.system.sent();
    assert_eq!(sent.len(), 1);
    assert!(!sent[0].to_string().contains("later"), "{}", sent[0]);
    // What is known is still checked.
    for (part, value, field) in [
        ("header", json!({"type": "sound"}), "template.params.header.type"),
        ("buttons", json!([{"index": 10}]), "template.params.buttons[0].index"),
    ] {
        let mut wrong = body.clone();
        wrong["template"]["params"][part] = value;
        let refused = desk.send(&wrong).await.invalid();
        assert_eq!(refused["meta"]["field"], field, "{refused}");
    }
}

#[tokio::test]
async fn a_file_to_be_sent_is_named_to_the_provider_and_never_fetched_here() {
    let inside = crate::receiver::Receiver::ok().await;
    let desk = Channel::open().await;
    desk.hears(ASHA, "Hi").await;
    let url = inside.url.replace("http://", "https://");
    let body = json!({"to": ASHA, "media": {"type": "image", "url": url}});
    desk.send(&body).await.expect(201);
    desk.advance(60).await;
    assert_eq!(desk.fake.system.sent()[0]["image"]["link"], url);
    assert!(inside.got().is_empty(), "nobody here asks for it");
}

#[tokio::test]
async fn a_lost_answer_leaves_a_message_that_nobody_sends_again() {
    let desk = Channel::open().await;
    desk.hears(ASHA, "Hi").await;
    desk.fake.fail("/messages", 1, Reply::Lost);
    let path = PATH.to_owned();
    let answer = desk.post(&path, &json!({"to": ASHA, "text": "Hello"})).await;
    answer.refused(503, "provider_unavailable");
    desk.advance(600).await;
    assert_eq!(desk.messages("status=delivery_unknown").await.len(), 1);
    assert_eq!(desk.fake.count("/messages"), 1);
}
