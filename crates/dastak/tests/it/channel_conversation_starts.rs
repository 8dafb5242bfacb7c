//! A conversation on the messaging channel is started with a template, or not
//! (docs/contract/channel-conversations.md#start).

use serde_json::{Value, json};

use crate::channel_conversations::{ASHA, PATH, Room};
use crate::chats::Chats;
use crate::shows::Shows;

#[tokio::test]
async fn every_refusal_of_a_start() {
    let room = Room::open().await;
    let app = &room.app;
    let with = |field: &str, value: Value| {
        let mut body = room.body();
        body[field] = value;
        body
    };
    let voice = room.agent(&json!({"systemPrompt": "x"})).await;
    let draft = json!({"name": "D", "channel": "chat", "systemPrompt": "x"});
    let draft = app.post(room.live(), "/v1/agents", &draft).await.expect(201)["data"]["id"].clone();
    let other = room.agent(&crate::chats::chat_agent()).await;
    let long = "x".repeat(1_001);
    for (body, status, code) in [
        (with("surprise", json!(1)), 400, "unknown_field"),
        (
            with("template", json!({"name": "due_reminder", "language": "en", "values": ["Asha"]})),
            400,
            "unknown_field",
        ),
        (
            with(
                "template",
                json!({"name": "due_reminder", "language": "en", "params": {"bodies": ["Asha"]}}),
            ),
            400,
            "unknown_field",
        ),
        (
            with(
                "template",
                json!({"name": "due_reminder", "language": "en",
                    "params": {"body": ["Asha"], "header": {"type": "text", "text": "x", "size": 1}}}),
            ),
            400,
            "unknown_field",
        ),
        (
            with(
                "template",
                json!({"name": "due_reminder", "language": "en",
                    "params": {"body": ["Asha"], "buttons": [{"index": 0, "text": "x", "size": 1}]}}),
            ),
            400,
            "unknown_field",
        ),
        (with("to", json!("nobody")), 422, "invalid_number"),
        (with("agentId", json!("agt_none")), 404, "agent_not_found"),
        (with("agentId", json!(voice)), 422, "agent_not_chatapp"),
        (with("agentId", draft), 409, "agent_not_active"),
        (with("agentId", json!(other)), 409, "agent_number_missing"),
        (with("from", json!("+918047199999")), 409, "agent_number_mismatch"),
        (with("template", json!({"name": "none", "language": "en"})), 400, "template_not_found"),
        (with("template", json!({"name": "due_reminder", "language": "en"})), 422, "template_params_invalid"),
        (
            with("template", json!({"name": "offer", "language": "en", "params": {"body": ["A"]}})),
            403,
            "opt_in_required",
        ),
        (
            with("optIn", json!({"source": "form", "capturedAt": "2099-01-01T00:00:00Z"})),
            422,
            "invalid_opt_in",
        ),
        (with("metadata", json!({"a": []})), 400, "invalid_request"),
        (with("variables", json!({"a": []})), 400, "invalid_variables"),
        (with("handoverNote", json!(long)), 400, "invalid_request"),
    ] {
        room.start(&body).await.refused(status, code);
        // A test key is told the same.
        app.post(room.test(), PATH, &body).await.refused(status, code);
    }
    for (field, value) in
        [("handoverNote", json!("x")), ("priorMessages", json!([{"role": "bot", "text": "x"}]))]
    {
        let mut body = with(field, value);
        body["onActiveSession"] = json!("send_in_session");
        let refused = room.start(&body).await.invalid();
        assert_eq!(refused["meta"]["field"], field);
    }
    for (feature, code) in [("chatappChannel", "chatapp_disabled"), ("chatappAgents", "chatapp_agents_off")] {
        room.change(&json!({"features": {feature: false}})).await;
        room.start(&room.body()).await.refused(403, code);
        room.change(&json!({"features": {feature: true}})).await;
    }
    room.change(&json!({"costPerChatMinor": 2_000_000})).await;
    room.start(&room.body()).await.refused(402, "insufficient_balance");
    assert!(people(&room).await.is_empty(), "nobody became a contact");
    app.post(room.live(), "/v1/dnc", &json!({"phones": [ASHA]})).await.expect(200);
    room.change(&json!({"costPerChatMinor": 500})).await;
    let known = people(&room).await;
    room.start(&room.body()).await.refused(403, "contact_opted_out");
    assert!(room.conversations("").await.is_empty(), "nothing was stored");
    assert_eq!(people(&room).await, known, "nobody became a contact");
    assert!(room.sent("api").await.is_empty());
    assert_eq!(room.wallet().await, (1_000_000, 0), "nothing is held");
}

/// The numbers of all contacts.
async fn people(room: &Room) -> Vec<Value> {
    let listed = room.get("/v1/contacts?limit=100").await;
    listed["data"].as_array().unwrap().iter().map(|contact| contact["phone"].clone()).collect()
}

/// Who is a contact already keeps what is known of them when a start is refused.
#[tokio::test]
async fn a_refused_start_changes_nothing_of_a_contact() {
    let room = Room::open().await;
    let (app, live) = (&room.app, room.live());
    let known = json!({"phone": ASHA, "externalRef": "cust-1"});
    app.post(live, "/v1/contacts", &known).await.expect(201);
    let contact = async || app.get(live, "/v1/contacts").await.data(200);
    let before = contact().await;
    app.advance(60).await;
    let mut body = room.body();
    body["template"]["name"] = json!("offer");
    body["contact"] = json!({"name": "Asha", "externalRef": "crm-1"});
    room.start(&body).await.refused(403, "opt_in_required");
    assert_eq!(contact().await, before);
    // An opt-in that came along with a start that was refused for something else is not recorded.
    body["optIn"] = json!({"source": "form", "capturedAt": "2020-01-01T00:00:00Z"});
    body["template"]["name"] = json!("due_reminder");
    app.post(live, "/v1/dnc", &json!({"phones": [ASHA]})).await.expect(200);
    let before = contact().await;
    room.start(&body).await.refused(403, "contact_opted_out");
    assert_eq!(contact().await, before);
    room.operator("DELETE", &format!("/dnc/{ASHA}"), Value::Null).await.expect(200);
    body.as_object_mut().unwrap().remove("optIn");
    body["template"]["name"] = json!("offer");
    room.start(&body).await.refused(403, "opt_in_required");
}

#[tokio::test]
async fn an_open_conversation_is_kept_or_written_into() {
    let room = Room::open().await;
    let id = room.started().await;
    let refused = room.start(&room.body()).await.refused(409, "active_session_exists");
    assert_eq!(refused["meta"]["chatId"], id.as_str());
    let mut body = room.body();
    body["onActiveSession"] = json!("send_in_session");
    body["metadata"] = json!({"other": true});
    let sent = room.start(&body).await.data(200);
    // An open conversation keeps its own metadata.
    sent.shows(json!({"chatId": id, "sentInSession": true, "metadata": {}}));
    assert_eq!(room.conversation(&id).await["messageCount"], 2);
    assert_eq!(room.wallet().await, (1_000_000, 500));
}

#[tokio::test]
async fn a_key_sends_once_and_a_test_key_never() {
    let room = Room::open().await;
    let test = room.app.post(room.test(), PATH, &room.body()).await.data(201);
    assert_eq!(test["livemode"], false);
    assert!(test["message"]["providerMessageId"].as_str().unwrap().starts_with("TEST_"), "{test}");
    assert!(room.conversations("").await.is_empty() && room.sent("api").await.is_empty());
    let headers = [("idempotency-key", "k1")];
    let first = room.post_with(room.live(), PATH, &headers, &room.body()).await;
    let again = room.post_with(room.live(), PATH, &headers, &room.body()).await;
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(first.expect(201)["data"], again.expect(201)["data"]);
    assert_eq!(room.sent("api").await.len(), 1);
    let mut other = room.body();
    other["to"] = json!("+919812345679");
    room.post_with(room.live(), PATH, &headers, &other).await.refused(422, "idempotency_key_reused");
}

#[tokio::test]
async fn a_lost_answer_is_told_and_kept() {
    let room = Room::open().await;
    let mut body = room.body();
    body["to"] = json!("+919812340000");
    let headers = [("idempotency-key", "lost")];
    let refused =
        room.post_with(room.live(), PATH, &headers, &body).await.refused(503, "provider_unavailable");
    let id = refused["meta"]["chatId"].as_str().unwrap().to_owned();
    let again = room.post_with(room.live(), PATH, &headers, &body).await.refused(503, "provider_unavailable");
    assert_eq!(again["meta"]["chatId"], id.as_str());
    assert_eq!(room.sent("api").await.len(), 1, "it is never sent again");
    assert_eq!(room.conversation(&id).await["status"], "active");
}

#[tokio::test]
async fn a_template_that_fails_ends_its_conversation_unbilled() {
    let room = Room::open().await;
    let mut body = room.body();
    body["to"] = json!("+919812340026");
    let id = room.start(&body).await.expect(201)["data"]["chatId"].as_str().unwrap().to_owned();
    room.advance(3).await;
    let shown = room.conversation(&id).await;
    assert_eq!((&shown["status"], &shown["endCause"]), (&json!("ended"), &json!("template_failed")));
    assert_eq!((room.wallet().await, room.charges().await), ((1_000_000, 0), vec![]));
}

#[tokio::test]
async fn what_the_agent_the_account_or_the_limit_refuses() {
    let bare = Chats::open().await;
    let template = json!({"name": "due_reminder", "language": "en", "params": {"body": ["Asha"]}});
    let body = json!({"agentId": bare.agent, "to": ASHA, "template": template});
    bare.post(PATH, &body).await.refused(409, "chatapp_not_connected");
    let room = Room::open().await;
    // Not reviewed yet.
    let components = json!([{"type": "BODY", "text": "Your parcel is on its way."}]);
    let fresh = json!({"name": "parcel", "language": "en", "category": "UTILITY", "components": components});
    room.post("/v1/chatapp/templates", &fresh).await.expect(201);
    let mut body = room.body();
    body["template"] = json!({"name": "parcel", "language": "en"});
    room.start(&body).await.refused(422, "template_unavailable");
    body = room.body();
    body["template"]["params"] = json!({"body": ["Asha", "twice"]});
    let refused = room.start(&body).await.refused(422, "template_params_invalid");
    let issue = refused["meta"]["issues"][0].as_object().unwrap();
    assert_eq!(issue.keys().collect::<Vec<_>>(), ["field", "code", "message"], "{refused}");
    body = room.body();
    body["from"] = json!("+918047199999");
    let refused = room.start(&body).await.refused(409, "agent_number_mismatch");
    assert_eq!(refused["meta"]["phoneNumberId"], room.number.as_str());
    // The messaging limit of the account.
    let tenant = room.tenant();
    let app = room.app().clone();
    let now = app.clock.now();
    let limit = app.of(tenant).tx(move |tx| store::channel_accounts::set_tier(tx, "TIER_1", now));
    limit.await.expect("a limit");
    room.started().await;
    body = room.body();
    body["to"] = json!("+919812345679");
    let charges = (room.wallet().await, people(&room).await);
    for key in [room.live(), room.test()] {
        room.app.post(key, PATH, &body).await.refused(429, "tier_limit_reached");
    }
    assert_eq!(room.conversations("").await.len(), 1, "nothing was stored");
    assert_eq!((room.wallet().await, people(&room).await), charges, "nobody became a contact");
    // A flow that needs more than the request brings.
    let change = json!({"systemPrompt": "Greet {{name}}."});
    let path = format!("/v1/agents/{}", room.agent);
    room.put(&path, &change).await.expect(200);
    for variables in [json!({}), json!({"name": ""}), json!({"name": " \t "})] {
        body["variables"] = variables.clone();
        let refused = room.start(&body).await.refused(422, "brain_unavailable");
        assert_eq!(refused["meta"]["missing"], json!(["name"]), "{variables}");
    }
    assert_eq!(people(&room).await, [ASHA]);
}

#[tokio::test]
async fn what_the_channel_refuses_ends_the_conversation_unbilled() {
    let room = Room::open().await;
    for (digits, code, number) in
        [("0015", "delivery_failed", 132_015), ("0062", "recipient_unsupported", 131_062)]
    {
        let mut body = room.body();
        body["to"] = json!(format!("+91981234{digits}"));
        let headers = [("idempotency-key", digits)];
        let refused = room.post_with(room.live(), PATH, &headers, &body).await.refused(502, code);
        assert_eq!(refused["meta"]["error"]["code"], number, "{refused}");
        let again = room.post_with(room.live(), PATH, &headers, &body).await.refused(502, code);
        assert_eq!(again["meta"], refused["meta"], "a repeat is told the same");
        let shown = room.conversations("?status=ended").await;
        assert_eq!(shown[0]["endCause"], "template_failed", "{shown:?}");
    }
    assert_eq!(room.conversations("").await.len(), 2);
    assert_eq!((room.wallet().await, room.charges().await), ((1_000_000, 0), vec![]));
}
