//! Templates of the messaging channel (docs/contract/channel.md#templates), at a Cloud API and in the sandbox.

use bytes::Bytes;
use serde_json::{Value, json};

use crate::app::TestApp;
use crate::cloud::{self, change, notify, template_event};
use crate::fakes::Reply;
use crate::shows::Shows;
use crate::world::World;

const PATH: &str = "/v1/chatapp/templates";

fn due() -> Value {
    json!({"name": "due_reminder", "language": "en", "category": "UTILITY", "components": [
        {"type": "BODY", "text": "Hi {{name}}, Rs {{amount}} is due.",
            "example": {"body_text_named_params": [{"param_name": "name", "example": "Asha"}, {"param_name": "amount", "example": "4500"}]}},
        {"type": "FOOTER", "text": "Reply STOP to opt out"},
    ]})
}

async fn one(app: &TestApp, key: &str, id: &str) -> Value {
    app.get(key, &format!("{PATH}/{id}")).await.data(200)
}

async fn told(world: &World) -> Vec<Value> {
    world.payloads("chatapp.template.updated").await
}

fn words(events: &[Value], field: &str) -> Vec<String> {
    events.iter().map(|event| event[field].as_str().unwrap_or("null").to_owned()).collect()
}

#[tokio::test]
async fn a_template_of_the_sandbox_is_approved_after_two_seconds() {
    let world = World::bare().await;
    world.post(PATH, &due()).await.refused(409, "chatapp_not_connected");
    world.connect_sandbox().await;
    let made = world.post(PATH, &due()).await.data(201);
    assert!(made["id"].as_str().unwrap().starts_with("tpl_"));
    assert_eq!((&made["status"], &made["components"]), (&json!("PENDING"), &due()["components"]));
    let id = made["id"].as_str().unwrap();
    world.advance(1).await;
    assert_eq!(one(&world, world.live(), id).await["status"], "PENDING");
    world.advance(1).await;
    assert_eq!(one(&world, world.live(), id).await["status"], "APPROVED");
    let mut rejected = due();
    rejected["name"] = json!("due_rejected");
    let rejected = world.post(PATH, &rejected).await.expect(201)["data"]["id"].clone();
    world.advance(2).await;
    let rejected = one(&world, world.live(), rejected.as_str().unwrap()).await;
    rejected.shows(json!({"status": "REJECTED", "rejectedReason": "INVALID_FORMAT"}));
    let events = told(&world).await;
    assert_eq!(words(&events, "event"), ["APPROVED", "REJECTED"]);
    assert_eq!((&events[0]["templateId"], &events[0]["name"]), (&json!(id), &json!("due_reminder")));
    let listed = world.get(&format!("{PATH}?status=APPROVED")).await;
    assert_eq!(listed["data"].as_array().unwrap().len(), 1);
    let synced = world.post(&format!("{PATH}/sync"), &Value::Null).await.expect(200);
    assert_eq!(synced["data"], json!({"added": 0, "updated": 0, "removed": 0}));
}

#[tokio::test]
async fn what_the_channel_does_not_take_names_its_field() {
    let world = World::bare().await;
    world.connect_sandbox().await;
    let with = |components: Value| {
        let mut body = due();
        body["components"] = components;
        body
    };
    let named = |field: &str, value: &str| {
        let mut body = due();
        body[field] = json!(value);
        body
    };
    let body = |text: &str| json!([{"type": "BODY", "text": text}]);
    let buttons =
        |buttons: Value| json!([{"type": "BODY", "text": "Hi"}, {"type": "BUTTONS", "buttons": buttons}]);
    let reply = |text: &str| json!({"type": "QUICK_REPLY", "text": text});
    let url = |url: &str| json!({"type": "URL", "text": "Pay", "url": url});
    let card = |text: &str| json!({"components": [{"type": "HEADER", "format": "IMAGE"}, {"type": "BODY", "text": text}]});
    let cards = |cards: Value| json!([{"type": "BODY", "text": "Hi"}, {"type": "CAROUSEL", "cards": cards}]);
    for (body, field) in [
        (named("name", "Due"), "name"),
        (named("name", &"x".repeat(513)), "name"),
        (named("language", "english"), "language"),
        (named("category", "NEWS"), "category"),
        (with(json!([])), "components"),
        (with(json!([{"type": "FOOTER", "text": "f"}])), "components"),
        (with(json!([{"text": "f"}])), "components[0].type"),
        (with(json!([{"type": "BODY", "text": "a"}, {"type": "BODY", "text": "b"}])), "components[1].type"),
        (with(body("")), "components[0].text"),
        (with(body(&"x".repeat(1_025))), "components[0].text"),
        (with(body("{{1}} is due")), "components[0].text"),
        (with(body("Due is {{1}}")), "components[0].text"),
        (with(body("Due {{2}} now")), "components[0].text"),
        (with(body("Due {{Name}} now")), "components[0].text"),
        (
            with(json!([{"type": "BODY", "text": "a"}, {"type": "FOOTER", "text": "x {{1}} x"}])),
            "components[1].text",
        ),
        (
            with(json!([{"type": "BODY", "text": "a"}, {"type": "FOOTER", "text": "x".repeat(61)}])),
            "components[1].text",
        ),
        (
            with(
                json!([{"type": "HEADER", "format": "TEXT", "text": "x".repeat(61)}, {"type": "BODY", "text": "a"}]),
            ),
            "components[0].text",
        ),
        (
            with(
                json!([{"type": "HEADER", "format": "TEXT", "text": "{{1}} {{2}}"}, {"type": "BODY", "text": "a"}]),
            ),
            "components[0].text",
        ),
        (
            with(json!([{"type": "HEADER", "format": "SOUND"}, {"type": "BODY", "text": "a"}])),
            "components[0].format",
        ),
        (with(buttons(json!([]))), "components[1].buttons"),
        (with(buttons(json!([0; 11].map(|_| reply("a"))))), "components[1].buttons"),
        (with(buttons(json!([reply(&"x".repeat(26))]))), "components[1].buttons[0].text"),
        (
            with(buttons(json!([url("https://a"), url("https://b"), url("https://c")]))),
            "components[1].buttons",
        ),
        (with(buttons(json!([url("https://a/{{1}}/b")]))), "components[1].buttons[0].url"),
        (with(buttons(json!([reply("a"), url("https://a"), reply("b")]))), "components[1].buttons"),
        (
            with(buttons(json!([{"type": "PHONE_NUMBER", "text": "Call", "phone_number": "1".repeat(21)}]))),
            "components[1].buttons[0].phone_number",
        ),
        (with(cards(json!([card("a")]))), "components[1].cards"),
        (
            with(cards(json!([card("a"), {"components": [{"type": "BODY", "text": "a"}]}]))),
            "components[1].cards[1]",
        ),
        (
            with(cards(json!([card("a"), card(&"x".repeat(161))]))),
            "components[1].cards[1].components[1].text",
        ),
    ] {
        let answer = world.post(PATH, &body).await;
        assert_eq!(answer.json["meta"]["field"], field, "{body}: {}", answer.text);
        answer.invalid();
    }
    let listed = world.get(PATH).await;
    assert_eq!(listed["data"], json!([]));
    // What only raw components say is passed on.
    world.post(PATH, &with(cards(json!([card("a"), card("b")])))).await.expect(201);
    world.post(PATH, &due()).await.conflict();
}

#[tokio::test]
async fn a_template_goes_through_its_life_at_the_provider() {
    let (world, fake) = cloud::start().await;
    let hook = world.connect_cloud().await;
    world.advance(1).await;
    let made = world.post(PATH, &due()).await.data(201);
    let id = made["id"].as_str().unwrap().to_owned();
    let sent =
        fake.got("/message_templates").into_iter().find(|request| request.method == "POST").unwrap().json();
    sent.shows(json!({"name": "due_reminder", "category": "UTILITY", "parameter_format": "NAMED"}));
    assert_eq!(sent["components"], due()["components"]);
    let provider_id = fake.system.templates()[0]["id"].as_str().unwrap().to_owned();
    let about = |more: Value| {
        let mut value = json!({"message_template_id": provider_id.parse::<i64>().unwrap(), "message_template_name": "due_reminder",
            "message_template_language": "en"});
        value.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
        value
    };
    let status = |event: &str| template_event(&provider_id, "due_reminder", event);
    let quality =
        |score: &str| change("message_template_quality_update", about(json!({"new_quality_score": score})));
    let category = |value: Value| change("template_category_update", about(value));
    for (body, field, expected, event) in [
        (status("APPROVED"), "status", json!("APPROVED"), Some("APPROVED")),
        (status("APPROVED"), "status", json!("APPROVED"), None),
        (quality("YELLOW"), "qualityScore", json!("YELLOW"), Some("QUALITY_YELLOW")),
        (quality("YELLOW"), "qualityScore", json!("YELLOW"), None),
        (status("FLAGGED"), "status", json!("APPROVED"), Some("FLAGGED")),
        (status("PAUSED"), "status", json!("PAUSED"), Some("PAUSED")),
        (status("UNPAUSED"), "status", json!("APPROVED"), Some("UNPAUSED")),
        (status("LOCKED"), "status", json!("APPROVED"), Some("LOCKED")),
        (
            category(json!({"correct_category": "MARKETING", "new_category": "UTILITY"})),
            "pendingCategory",
            json!("MARKETING"),
            Some("CATEGORY_PENDING"),
        ),
        (
            category(json!({"previous_category": "UTILITY", "new_category": "MARKETING"})),
            "category",
            json!("MARKETING"),
            Some("CATEGORY_CHANGED"),
        ),
        (status("DISABLED"), "status", json!("DISABLED"), Some("DISABLED")),
        (status("REINSTATED"), "status", json!("APPROVED"), Some("REINSTATED")),
    ] {
        let before = told(&world).await.len();
        notify(&world, &hook, &body).await.expect(200);
        world.advance(0).await;
        assert_eq!(one(&world, world.live(), &id).await[field], expected, "{body}");
        let events = told(&world).await;
        assert_eq!(
            words(&events[before..], "event"),
            event.map(str::to_owned).into_iter().collect::<Vec<_>>(),
            "{body}"
        );
    }
    let events = told(&world).await;
    let recategorised = events.iter().find(|event| event["event"] == "CATEGORY_CHANGED").unwrap();
    recategorised
        .shows(json!({"category": "MARKETING", "previousCategory": "UTILITY", "pendingCategory": null}));
    // An approved one keeps its category; its components are looked at anew.
    let path = format!("{PATH}/{id}");
    world.patch(&path, &json!({"category": "UTILITY"})).await.conflict();
    let change_ = json!({"components": [{"type": "BODY", "text": "Hello {{name}}."}]});
    let changed = world.patch(&path, &change_).await.data(200);
    assert_eq!((&changed["status"], &changed["components"]), (&json!("PENDING"), &change_["components"]));
    let mut refused = status("REJECTED");
    refused["entry"][0]["changes"][0]["value"]["reason"] = json!("ABUSIVE_CONTENT");
    notify(&world, &hook, &refused).await.expect(200);
    world.advance(0).await;
    let shown = one(&world, world.live(), &id).await;
    assert_eq!((&shown["status"], &shown["rejectedReason"]), (&json!("REJECTED"), &json!("ABUSIVE_CONTENT")));
    let last = told(&world).await.pop().unwrap();
    for (field, value) in [
        ("templateId", json!(id)),
        ("providerTemplateId", json!(provider_id)),
        ("name", json!("due_reminder")),
        ("language", json!("en")),
        ("status", json!("REJECTED")),
        ("category", json!("MARKETING")),
        ("previousCategory", json!("UTILITY")),
        ("pendingCategory", Value::Null),
        ("qualityScore", json!("YELLOW")),
        ("event", json!("REJECTED")),
        ("reason", json!("ABUSIVE_CONTENT")),
    ] {
        assert_eq!(last[field], value, "{field}: {last}");
    }
    // Deleted elsewhere: told, and gone.
    notify(&world, &hook, &status("DELETED")).await.expect(200);
    world.advance(0).await;
    world.fetch(&path).await.not_found();
    let events = told(&world).await;
    let last = events.last().unwrap();
    assert_eq!((&last["event"], &last["status"]), (&json!("DELETED"), &json!("DELETED")));
}

#[tokio::test]
async fn a_look_at_the_list_takes_over_what_it_says() {
    let (world, fake) = cloud::start().await;
    world.connect_cloud().await;
    world.advance(1).await;
    let template = |id: i64, name: &str, status: &str| {
        json!({"id": id.to_string(), "name": name, "language": "en", "category": "UTILITY", "status": status,
            "components": [{"type": "BODY", "text": "Hi {{1}}, hello."}], "quality_score": {"score": "GREEN"}, "rejected_reason": "NONE"})
    };
    let sync = async || world.post(&format!("{PATH}/sync"), &Value::Null).await.data(200);
    for at in 0..5 {
        fake.system.put_template(template(at, &format!("t{at}"), "APPROVED"));
    }
    fake.system.page(2);
    assert_eq!(sync().await, json!({"added": 5, "updated": 0, "removed": 0}));
    assert_eq!(sync().await, json!({"added": 0, "updated": 0, "removed": 0}));
    world.advance(1).await;
    fake.system.put_template(template(0, "t0", "PAUSED"));
    fake.system.remove_template("t1");
    assert_eq!(sync().await, json!({"added": 0, "updated": 1, "removed": 1}));
    assert_eq!(words(&told(&world).await, "event"), ["PAUSED", "DELETED"]);
    // Page by page, newest first, each once.
    let first = world.get(&format!("{PATH}?limit=3")).await;
    let cursor = first["nextCursor"].as_str().unwrap();
    let second = world.get(&format!("{PATH}?limit=3&cursor={cursor}")).await;
    let mut names: Vec<String> = [&first, &second]
        .iter()
        .flat_map(|page| page["data"].as_array().unwrap())
        .map(|template| template["name"].as_str().unwrap().to_owned())
        .collect();
    names.sort();
    assert_eq!(names, ["t0", "t2", "t3", "t4"]);
    assert_eq!(second["nextCursor"], Value::Null);
    // A page that fails changes nothing.
    fake.system.remove_template("t2");
    fake.fail_after("/message_templates", 1, Reply::Bare(500));
    world.post(&format!("{PATH}/sync"), &Value::Null).await.refused(503, "provider_unavailable");
    let listed = world.get(PATH).await;
    assert_eq!(listed["data"].as_array().unwrap().len(), 4);
    let id = listed["data"][0]["id"].as_str().unwrap();
    world.delete(&format!("{PATH}/{id}")).await.expect(200);
    assert_eq!(fake.got("/message_templates").last().unwrap().method, "DELETE");
    world.delete(&format!("{PATH}/{id}")).await.not_found();
    // Both that went are told, once each.
    let events = told(&world).await;
    assert_eq!(words(&events, "event"), ["PAUSED", "DELETED", "DELETED"]);
    let last = events.last().unwrap();
    assert_eq!((&last["templateId"], &last["status"]), (&json!(id), &json!("DELETED")));
}

/// A template that somebody made in the provider's own console.
#[tokio::test]
async fn news_of_a_template_that_is_not_known_yet_are_told_once() {
    let (world, fake) = cloud::start().await;
    let hook = world.connect_cloud().await;
    world.advance(1).await;
    fake.wait_for("/message_templates", 1).await;
    let made = json!({"id": "594499", "name": "elsewhere", "language": "en", "category": "UTILITY", "status": "APPROVED",
        "components": [{"type": "BODY", "text": "Hi {{1}}, hello."}], "quality_score": {"score": "GREEN"}});
    fake.system.put_template(made);
    fake.fail_always("/message_templates", Reply::Bare(500));
    let event = template_event("594499", "elsewhere", "APPROVED");
    for _ in 0..2 {
        notify(&world, &hook, &event).await.expect(200);
        world.advance(0).await;
    }
    let events = told(&world).await;
    assert_eq!(words(&events, "event"), ["APPROVED"]);
    events[0].shows(json!({"name": "elsewhere", "providerTemplateId": "594499"}));
    // Nothing can be sent before its parts are known.
    let body = json!({"to": "+919812345678", "template": {"name": "elsewhere", "language": "en"}});
    world.post("/v1/chatapp/messages", &body).await.refused(400, "template_not_found");
    let campaign =
        json!({"name": "Dues", "channel": "chatapp", "chatapp": {"templateId": events[0]["templateId"]}});
    world.post("/v1/campaigns", &campaign).await.refused(400, "template_not_found");
    fake.mend();
    world.advance(3_601).await;
    let seen =
        world.until(world.live(), PATH, |shown| shown["data"][0]["components"] != json!([])).await["data"][0]
            .clone();
    seen.shows(json!({"id": events[0]["templateId"], "category": "UTILITY", "status": "APPROVED", "qualityScore": "GREEN"}));
    assert_eq!(told(&world).await.len(), 1);
    // One that is gone before it was known is no news.
    notify(&world, &hook, &template_event("594498", "never", "DELETED")).await.expect(200);
    world.advance(0).await;
    assert_eq!(told(&world).await.len(), 1);
}

#[tokio::test]
async fn a_test_key_changes_nothing_and_sees_the_same_errors() {
    let (world, fake) = cloud::start().await;
    world.app.post(world.test(), PATH, &due()).await.refused(409, "chatapp_not_connected");
    world.connect_cloud().await;
    world.advance(1).await;
    let live = world.post(PATH, &due()).await.expect(201)["data"]["id"].clone();
    let path = format!("{PATH}/{}", live.as_str().unwrap());
    let before = fake.count("");
    let mut other = due();
    world.app.post(world.test(), PATH, &other).await.conflict();
    other["name"] = json!("other");
    let made = world.app.post(world.test(), PATH, &other).await.data(201);
    assert!(made["id"].as_str().unwrap().starts_with("TEST_"), "{made}");
    let change = json!({"components": [{"type": "BODY", "text": "Hello."}]});
    let changed = world.app.patch(world.test(), &path, &change).await.data(200);
    assert_eq!((&changed["status"], &changed["components"]), (&json!("PENDING"), &change["components"]));
    world.app.delete(world.test(), &path).await.expect(200);
    world.app.post(world.test(), &format!("{PATH}/sync"), &Value::Null).await.expect(200);
    let (kind, form) = sample(b"%PDF-1.7");
    let path_ = format!("{PATH}/header-sample");
    let answer = world.send("POST", &path_, Some(world.test()), &[kind], form).await.expect(200);
    assert!(answer["data"]["handle"].as_str().unwrap().starts_with("TEST_"));
    assert_eq!(fake.count(""), before, "the provider was not asked");
    let stored = one(&world, world.test(), live.as_str().unwrap()).await;
    assert_eq!(stored["components"], due()["components"]);
    let listed = world.get(PATH).await;
    assert_eq!(listed["data"].as_array().unwrap().len(), 1);
}

fn sample(bytes: &[u8]) -> ((&'static str, &'static str), Bytes) {
    let mut body =
        b"--b\r\ncontent-disposition: form-data; name=\"file\"; filename=\"a.bin\"\r\n\r\n".to_vec();
    body.extend(bytes);
    body.extend(b"\r\n--b--\r\n");
    (("content-type", "multipart/form-data; boundary=b"), body.into())
}

#[tokio::test]
async fn a_sample_is_uploaded_in_two_steps() {
    let (world, fake) = cloud::start().await;
    let path = format!("{PATH}/header-sample");
    let upload = async |bytes: &[u8]| {
        let (kind, form) = sample(bytes);
        world.send("POST", &path, Some(world.live()), &[kind], form).await
    };
    upload(b"%PDF-1.7").await.refused(409, "chatapp_not_connected");
    let mut without = cloud::credentials();
    without.as_object_mut().unwrap().remove("appId");
    world.put_connection(&without).await.expect(200);
    let answer = upload(b"%PDF-1.7").await;
    assert_eq!(answer.json["meta"]["field"], "appId");
    answer.invalid();
    world.put_connection(&cloud::credentials()).await.expect(200);
    for bytes in [&b"hello"[..], &b""[..]] {
        let answer = upload(bytes).await;
        assert_eq!(answer.json["meta"]["field"], "file");
        answer.invalid();
    }
    assert_eq!(upload(b"%PDF-1.7").await.expect(200)["data"]["handle"], "4::aW1h");
    let begun = fake.got("/uploads").pop().unwrap();
    assert_eq!(
        (begun.query["file_length"].as_str(), begun.query["file_type"].as_str()),
        ("8", "application/pdf")
    );
    let sent = fake.got("/upload:ABC").pop().unwrap();
    assert_eq!((sent.query["sig"].as_str(), sent.body.as_str()), ("XYZ", "%PDF-1.7"));
    assert_eq!((sent.header("file_offset"), sent.header("authorization")), ("0", "OAuth EAAtoken-hush"));
}

#[tokio::test]
async fn what_the_provider_says_of_a_write_is_told() {
    let (world, fake) = cloud::start().await;
    world.connect_cloud().await;
    world.advance(1).await;
    for (reply, status, code) in [
        (cloud::refusal(400, 100), 422, "provider_refused"),
        (cloud::refusal(403, 200), 422, "provider_refused"),
        (cloud::refusal(400, 80_007), 503, "provider_unavailable"),
        (Reply::Bare(500), 503, "provider_unavailable"),
        (Reply::Lost, 503, "provider_unavailable"),
    ] {
        fake.fail("/message_templates", 1, reply);
        world.post(PATH, &due()).await.refused(status, code);
    }
    let listed = world.get(PATH).await;
    assert_eq!(listed["data"], json!([]), "nothing is kept of what may not be there");
    let off = json!({"features": {"chatappChannel": false}});
    world.change(&off).await;
    world.post(PATH, &due()).await.refused(403, "chatapp_disabled");
    world.get(PATH).await;
}
