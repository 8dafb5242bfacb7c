//! The edges of conversations on the messaging channel: what a request may hold, whom it is about, and what a test key
//! sees (docs/contract/channel-conversations.md).

use serde_json::{Map, Value, json};

use crate::channel_conversations::{ASHA, PATH, Room};
use crate::chats::ends;
use crate::shows::Shows;

#[tokio::test]
async fn a_test_key_is_answered_once_for_its_idempotency_key() {
    let room = Room::open().await;
    let (app, test) = (&room.app, room.workspace.test.as_str());
    let headers = [("idempotency-key", "one")];
    let first = app.post_with(test, PATH, &headers, &room.body()).await;
    let again = app.post_with(test, PATH, &headers, &room.body()).await;
    assert_eq!((again.header("idempotent-replayed"), &again.text), (Some("true"), &first.text));
    assert_eq!(first.expect(201)["data"]["livemode"], false);
    let mut other = room.body();
    other["to"] = json!("+919812345679");
    app.post_with(test, PATH, &headers, &other).await.refused(422, "idempotency_key_reused");
    // A refusal keeps no key, and a live key has keys of its own.
    let mut wrong = room.body();
    wrong["template"]["params"] = json!({"body": []});
    let headers = [("idempotency-key", "two")];
    app.post_with(test, PATH, &headers, &wrong).await.refused(422, "template_params_invalid");
    app.post_with(test, PATH, &headers, &room.body()).await.expect(201);
    app.post_with(room.live(), PATH, &headers, &room.body()).await.expect(201);
    assert_eq!(room.sent("api").await.len(), 1);
}

#[tokio::test]
async fn digits_without_a_country_code_are_no_international_number() {
    let room = Room::open().await;
    for to in ["9812345678", "98123 45678", "09812345678", "4512345678", "1234567"] {
        let mut body = room.body();
        body["to"] = json!(to);
        let message = json!({"to": to, "template": body["template"]});
        for key in [room.live(), room.test()] {
            room.app.post(key, PATH, &body).await.refused(422, "invalid_number");
            room.app.post(key, "/v1/chatapp/messages", &message).await.refused(422, "invalid_number");
        }
    }
    assert!(room.sent("api").await.is_empty());
    for to in ["919812345678", "0091 98123 45670", "+91-98123-45671", "+4512345678"] {
        let mut body = room.body();
        body["to"] = json!(to);
        room.start(&body).await.expect(201);
    }
    let wrong = json!({"number": "8047111333", "displayName": "Acme"});
    let refused = room.add_channel_number(&wrong).await;
    refused.invalid_field("number");
}

#[tokio::test]
async fn a_template_is_found_by_the_prefix_that_its_id_had_before() {
    let room = Room::open().await;
    let (app, live) = (&room.app, room.live());
    let listed = app.get(live, "/v1/chatapp/templates?limit=1").await.expect(200);
    let next = listed["nextCursor"].as_str().unwrap();
    let rest = app.get(live, &format!("/v1/chatapp/templates?limit=1&cursor={next}")).await.expect(200);
    listed.shows(json!({"data[0].name": "offer"}));
    rest.shows(json!({"data[0].name": "due_reminder"}));
    let id = rest["data"][0]["id"].as_str().unwrap().to_owned();
    let former = format!("ca{id}");
    assert!(id.starts_with("tpl_") && former.starts_with("catpl_"), "{id}");
    for named in [&id, &former] {
        let one = app.get(live, &format!("/v1/chatapp/templates/{named}")).await.data(200);
        assert_eq!(one["id"], id.as_str());
        let params = json!({"body": ["Asha"]});
        let message = json!({"to": ASHA, "template": {"id": named, "params": params}});
        let sent = app.post(live, "/v1/chatapp/messages", &message).await.data(201);
        assert_eq!(sent["template"]["id"], id.as_str(), "{sent}");
        assert!(sent["threadId"].as_str().unwrap().starts_with("msgth_"), "{sent}");
        let mapping = json!({"body.1": {"source": "contact", "value": "name"}});
        let campaign =
            json!({"channel": "chatapp", "chatapp": {"templateId": named, "paramMapping": mapping}});
        let made = app.post(live, "/v1/campaigns", &campaign).await.data(201);
        assert_eq!(made["chatapp"]["templateId"], id.as_str());
    }
    // Rows keep the former prefix: a node of the version before finds them.
    let stored = app.app().store.read(|tx| {
        let template: Option<String> = tx.one("select min(id) from channel_templates", &[])?;
        let inside: Option<String> = tx.one("select min(template) from channel_messages", &[])?;
        Ok::<_, store::DbError>((template.unwrap_or_default(), inside.unwrap_or_default()))
    });
    let (template, inside) = stored.await.expect("what is stored");
    assert!(template.starts_with("catpl_") && inside.contains(&former), "{template} {inside}");
}

#[tokio::test]
async fn a_template_is_named_in_one_way() {
    let room = Room::open().await;
    let listed = room.get("/v1/chatapp/templates").await;
    let id = &listed["data"][1]["id"];
    let mut body = room.body();
    body["template"]["id"] = id.clone();
    for key in [room.live(), room.test()] {
        let refused = room.app.post(key, PATH, &body).await.invalid();
        assert_eq!(refused["meta"]["field"], "template.id", "{refused}");
    }
    body["template"] = json!({"id": id, "params": {"body": ["Asha"]}});
    room.start(&body).await.expect(201);
}

/// An object with so many keys.
fn keys(count: usize, name: impl Fn(usize) -> String, value: &str) -> Value {
    Value::Object((0..count).map(|at| (name(at), json!(value))).collect::<Map<_, _>>())
}

#[tokio::test]
async fn every_ceiling_of_a_start_holds_and_what_reaches_it_is_taken() {
    let room = Room::open().await;
    let prior = |count: usize, letters: usize| {
        let one = json!({"role": "customer", "text": "x".repeat(letters), "agentName": "Ravi"});
        Value::Array(vec![one; count])
    };
    let short = |at: usize| format!("k{at}");
    let cases = [
        ("priorMessages", prior(201, 1), "priorMessages"),
        ("priorMessages", prior(1, 4_097), "priorMessages[0].text"),
        ("priorMessages", prior(70, 4_000), "priorMessages"),
        ("handoverNote", json!("x".repeat(1_001)), "handoverNote"),
        ("metadata", keys(21, short, "x"), "metadata"),
        ("metadata", keys(1, |_| "k".repeat(41), "x"), "metadata"),
        ("metadata", keys(1, short, &"x".repeat(501)), "metadata"),
        ("metadata", keys(10, short, &"x".repeat(450)), "metadata"),
        ("metadata", json!({"": 1}), "metadata"),
        ("contact", json!({"externalRef": "x".repeat(121)}), "contact.externalRef"),
        ("contact", json!({"name": ""}), "contact.name"),
    ];
    for (field, value, named) in cases {
        let mut body = room.body();
        body[field] = value;
        let refused = room.start(&body).await.invalid();
        let at = refused["meta"]["field"].as_str().unwrap_or_default();
        assert!(at.starts_with(named), "{named}: {refused}");
    }
    assert!(room.conversations("").await.is_empty(), "nothing was stored");
    let mut body = room.body();
    body["priorMessages"] = prior(64, 4_096);
    body["handoverNote"] = json!("x".repeat(1_000));
    let mut metadata = keys(19, |at| format!("{at:0>40}"), &"x".repeat(145));
    metadata["long"] = json!("x".repeat(400));
    assert!((4_000..=4_096).contains(&metadata.to_string().len()), "{}", metadata.to_string().len());
    body["metadata"] = metadata.clone();
    body["contact"] = json!({"externalRef": "x".repeat(120)});
    let started = room.start(&body).await.data(201);
    assert_eq!(started["metadata"], metadata);
    body = room.body();
    body["to"] = json!("+919812345679");
    body["priorMessages"] = prior(200, 1);
    room.start(&body).await.expect(201);
    room.fetch(&format!("{PATH}?limit=101")).await.invalid();
    room.fetch(&format!("{PATH}?limit=0")).await.invalid();
    assert_eq!(room.conversations("?limit=100").await.len(), 2);
}

#[tokio::test]
async fn a_contact_keeps_its_name_and_reference_and_gets_those_that_it_lacks() {
    let room = Room::open().await;
    let (app, live) = (&room.app, room.live());
    let known = json!({"externalRef": "cust_1", "phone": ASHA, "name": "Asha"});
    app.post(live, "/v1/contacts", &known).await.expect(201);
    let start = async |to: &str, contact: Value| {
        let mut body = room.body();
        body["to"] = json!(to);
        body["contact"] = contact;
        let started = room.start(&body).await.data(201);
        let path = format!("/v1/contacts/{}", started["contactId"].as_str().unwrap());
        let contact = app.get(live, &path).await.data(200);
        let shown = room.conversation(started["chatId"].as_str().unwrap()).await;
        assert_eq!(shown["externalRef"], contact["externalRef"]);
        json!([contact["name"], contact["externalRef"]])
    };
    // It has both: they stay.
    let kept = start(ASHA, json!({"name": "Other", "externalRef": "cust_9"})).await;
    assert_eq!(kept, json!(["Asha", "cust_1"]));
    // Somebody new gets both.
    let made = start("+919812345671", json!({"name": "Ravi", "externalRef": "cust_2"})).await;
    assert_eq!(made, json!(["Ravi", "cust_2"]));
    // A reference that somebody else has is passed over, and the conversation begins.
    let passed = start("+919812345672", json!({"externalRef": "cust_1"})).await;
    assert_eq!(passed, json!([null, null]));
    // One who is known without a reference gets it.
    let refused = json!({"to": "+919812345673", "template": room.body()["template"]});
    app.post(live, "/v1/chatapp/messages", &refused).await.expect(201);
    let adopted = start("+919812345673", json!({"name": "Mira", "externalRef": "cust_3"})).await;
    assert_eq!(adopted, json!(["Mira", "cust_3"]));
}

#[tokio::test]
async fn values_that_are_left_out_come_from_the_message_node_of_the_flow() {
    let room = Room::open().await;
    let listed = room.get("/v1/chatapp/templates").await;
    let id = listed["data"][1]["id"].as_str().unwrap().to_owned();
    assert_eq!(listed["data"][1]["name"], "due_reminder");
    let path = format!("/v1/agents/{}/flow", room.agent);
    let publish = async |template: Value| {
        let version = room.get(&path).await["data"]["draftVersion"].clone();
        let graph = json!({
            "startNodeId": "m",
            "nodes": [{"id": "m", "type": "message", "template": template, "next": "z"}, ends()],
            "variables": [{"name": "who", "default": "friend"}],
        });
        let body = json!({"graph": graph, "baseVersion": version});
        room.put(&path, &body).await.expect(200);
        room.post(&format!("{path}/publish"), &Value::Null).await.expect(200);
    };
    let params = json!({"body": ["{{who}}"]});
    let mut to = 0;
    // By its name, by its id, and by the prefix that its id had before.
    for named in [
        json!({"name": "due_reminder", "language": "en", "params": params}),
        json!({"id": id, "params": params}),
        json!({"id": format!("ca{id}"), "params": params}),
    ] {
        publish(named).await;
        for (variables, words) in
            [(json!({"who": "Asha"}), "Hello Asha, it is due."), (json!({}), "Hello friend, it is due.")]
        {
            to += 1;
            let body = json!({"agentId": room.agent, "to": format!("+9198123456{to:02}"), "variables": variables,
                "template": {"name": "due_reminder", "language": "en"}});
            room.start(&body).await.expect(201);
            assert_eq!(room.sent("api").await.last().map(String::as_str), Some(words));
        }
    }
}

#[tokio::test]
async fn a_test_key_sees_neither_conversations_nor_messages_of_the_live_world() {
    let room = Room::open().await;
    let id = room.started().await;
    let (app, test) = (&room.app, room.workspace.test.as_str());
    app.post(
        test,
        PATH,
        &json!({"agentId": room.agent, "to": "+919812345679", "template": room.body()["template"]}),
    )
    .await
    .expect(201);
    for path in [PATH, "/v1/chatapp/messages"] {
        assert_eq!(app.get(test, path).await.expect(200), json!({"data": [], "nextCursor": null}), "{path}");
    }
    app.get(test, &format!("{PATH}/{id}")).await.not_found();
    // What it would do to one is checked and answered, and changes nothing.
    let ended = room.act_with(test, &id, "end", Value::Null).await.data(200);
    assert_eq!((&ended["status"], &ended["livemode"]), (&json!("ended"), &json!(false)));
    assert_eq!(room.conversation(&id).await["status"], "active");
}

#[tokio::test]
async fn messages_and_starts_share_a_limit_for_each_minute() {
    let room = Room::open().await;
    room.change(&json!({"limits": {"channelMessagesPerMinute": 2}})).await;
    let message = json!({"to": "+919812345670", "template": room.body()["template"]});
    room.post("/v1/chatapp/messages", &message).await.expect(201);
    room.start(&room.body()).await.expect(201);
    let mut other = room.body();
    other["to"] = json!("+919812345679");
    let refused = room.start(&other).await;
    assert!(refused.header("retry-after").is_some());
    refused.refused(429, "rate_limited");
    room.post("/v1/chatapp/messages", &message).await.refused(429, "rate_limited");
    // Reading is not counted with them.
    room.get(PATH).await;
    assert_eq!(room.sent("api").await.len(), 2);
    room.advance(61).await;
    room.start(&other).await.expect(201);
}
