//! Test links of agents, and the chats that are opened with one (docs/contract/chats.md#test-chats).

use bytes::Bytes;
use serde_json::{Value, json};

use crate::app::Answer;
use crate::chats::{Chats, lines};
use crate::shows::Shows;
use crate::world::World;

/// Makes a link; its id and its token.
async fn link(world: &World, body: &Value) -> (String, String) {
    let made = world.post(&format!("/v1/agents/{}/test-links", world.agent), body).await.data(201);
    let token = made["url"].as_str().unwrap().rsplit_once("/test/").unwrap().1.to_owned();
    (made["id"].as_str().unwrap().to_owned(), token)
}

/// What a stranger asks: without a key.
async fn ask(world: &World, method: &str, path: &str, body: &Value) -> Answer {
    let body = if body.is_null() { Bytes::new() } else { body.to_string().into() };
    world.app.send(method, path, None, &[], body).await
}

async fn open(world: &World, token: &str) -> Answer {
    ask(world, "POST", &format!("/test-chats/{token}"), &Value::Null).await
}

fn asks(text: &str) -> Value {
    let field = json!({"key": "k", "label": "K", "type": "text"});
    json!([{"id": "a", "type": "collect", "text": text, "field": field, "next": "t"},
        {"id": "t", "type": "tool", "toolId": "end_of_test", "arguments": {}, "next": "b"},
        {"id": "b", "type": "collect", "text": "And?", "field": field, "next": "z"},
        {"id": "z", "type": "end", "text": "Goodbye."}])
}

/// A graph with a webhook tool in the place of `end_of_test`.
async fn with_tool(world: &World, text: &str) -> Value {
    let tool = json!({"type": "webhook", "name": "look_up", "config": {"url": "https://example.com/tool"}});
    let tool = world.operator("POST", "/tools", tool).await.id(201);
    serde_json::from_str(&asks(text).to_string().replace("end_of_test", &tool)).unwrap()
}

#[tokio::test]
async fn a_test_chat_is_apart_from_all_others() {
    let world = Chats::open().await;
    world.publish(with_tool(&world, "Hello tester.").await).await;
    let wallet = world.wallet().await;
    let (id, token) = link(&world, &json!({"name": "For Kavya"})).await;
    let opened = open(&world, &token).await.data(201);
    opened.shows(json!({"agentName": "Asha", "reply": "Hello tester.", "ended": false}));
    let chat = opened["chatId"].as_str().unwrap();
    let messages = format!("/test-chats/{token}/{chat}/messages");
    // The tool is not called: nobody listens at its address, and the chat goes on.
    let reply = ask(&world, "POST", &messages, &json!({"text": "hi"})).await.data(200);
    reply.shows(json!({"reply": "And?", "ended": false}));
    let read = ask(&world, "GET", &format!("/test-chats/{token}/{chat}"), &Value::Null).await.data(200);
    assert_eq!(lines(&read["messages"]), ["agent: Hello tester.", "user: hi", "agent: And?"]);
    ask(&world, "POST", &messages, &json!({"text": "x"})).await.data(200).shows(json!({"ended": true}));
    ask(&world, "POST", &messages, &json!({"text": "x"})).await.refused(409, "session_ended");
    // Its events are those of a test; nothing is charged, listed, counted or analysed.
    world.advance(1).await;
    let listed = async |key: &str| {
        let events = world.app.get(key, "/v1/events?after=start&limit=100").await.list(200);
        events.into_iter().filter(|event| event["data"]["chatId"].is_string()).collect::<Vec<_>>()
    };
    let (live, test) = (listed(world.live()).await, listed(world.test()).await);
    assert_eq!(live, Vec::<Value>::new());
    let kinds: Vec<&Value> = test.iter().map(|event| &event["type"]).collect();
    assert_eq!(kinds, ["chat.started", "chat.completed"]);
    for event in &test {
        event.shows(json!({"livemode": false, "data.isTest": true, "data.channel": "web"}));
    }
    assert_eq!(lines(&test[1]["data"]["transcript"]).len(), 5);
    assert_eq!((world.wallet().await, world.charges().await), (wallet, vec![]));
    assert_eq!(world.operator("GET", "/chats", Value::Null).await.list(200), Vec::<Value>::new());
    world.fetch(&format!("/v1/chat/sessions/{chat}")).await.not_found();
    let visits = world.data(&format!("/v1/agents/{}/flow/visits", world.agent)).await;
    assert_eq!((&visits["edges"], world.model.read_times()), (&json!([]), 0));
    let links = world.list(&format!("/v1/agents/{}/test-links", world.agent)).await;
    links[0].shows(json!({"id": id, "name": "For Kavya", "draft": false, "chatsToday": 1, "messagesToday": 2, "url": null}));
    // The token is kept as a keyed hash.
    let kept: Vec<String> =
        world.app().store.read(|tx| tx.all("select token_hash from test_links", &[])).await.unwrap();
    assert!(!kept[0].contains(&token) && kept[0].len() >= 32);
    // An ordinary chat is listed as ever, and says that it is no test.
    let session = world.session().await;
    world.end(&session).await;
    assert_eq!(world.operator("GET", "/chats", Value::Null).await.list(200).len(), 1);
    let live = listed(world.live()).await;
    live[1].shows(json!({"type": "chat.completed", "livemode": true, "data.isTest": false}));
}

#[tokio::test]
async fn a_link_of_the_draft_runs_the_draft() {
    let world = Chats::open().await;
    let flow = format!("/v1/agents/{}/flow", world.agent);
    let base = world.data(&flow).await["draftVersion"].clone();
    let nodes = with_tool(&world, "I am the draft.").await;
    let graph = json!({"startNodeId": "a", "nodes": nodes, "variables": []});
    world.put(&flow, &json!({"graph": graph, "baseVersion": base})).await.expect(200);
    let (_, token) = link(&world, &json!({"draft": true})).await;
    let opened = open(&world, &token).await.data(201);
    assert_eq!(opened["reply"], "I am the draft.");
    // The chat keeps its flow when the draft is saved again, and names no version.
    let graph =
        json!({"startNodeId": "z", "nodes": [{"id": "z", "type": "end", "text": "New."}], "variables": []});
    let base = world.data(&flow).await["draftVersion"].clone();
    world.put(&flow, &json!({"graph": graph, "baseVersion": base})).await.expect(200);
    let chat = format!("/test-chats/{token}/{}", opened["chatId"].as_str().unwrap());
    let text = json!({"text": "hi"});
    ask(&world, "POST", &format!("{chat}/messages"), &text).await.data(200).shows(json!({"reply": "And?"}));
    ask(&world, "GET", &chat, &Value::Null)
        .await
        .data(200)
        .shows(json!({"flowVersion": null, "state": "ai"}));
    open(&world, &token).await.data(201).shows(json!({"reply": "New.", "ended": true}));
    // A draft that needs what a chat does not bring.
    let graph = json!({"startNodeId": "z", "nodes": [{"id": "z", "type": "end", "text": "{{due}}"}], "variables": [{"name": "due", "required": true}]});
    world.put(&flow, &json!({"graph": graph, "baseVersion": base.as_i64().unwrap() + 1})).await.expect(200);
    open(&world, &token).await.refused(422, "brain_unavailable").shows(json!({"meta.missing": ["due"]}));
}

/// A stolen, revoked or ended link, the chat of another one, and guessed tokens open nothing.
#[tokio::test]
async fn a_link_opens_its_own_chats_while_it_lasts() {
    let world = Chats::open().await;
    world.publish(with_tool(&world, "Hello.").await).await;
    let (first, token) = link(&world, &json!({"expiresInDays": 1})).await;
    let (_, other) = link(&world, &Value::Null).await;
    let chat = open(&world, &token).await.data(201)["chatId"].as_str().unwrap().to_owned();
    let text = json!({"text": "hi"});
    // With the token of another link, and an ordinary chat with this one.
    ask(&world, "GET", &format!("/test-chats/{other}/{chat}"), &Value::Null).await.not_found();
    ask(&world, "POST", &format!("/test-chats/{other}/{chat}/messages"), &text).await.not_found();
    let session = world.session().await;
    ask(&world, "POST", &format!("/test-chats/{token}/{session}/messages"), &text).await.not_found();
    ask(&world, "GET", &format!("/test-chats/{token}/{session}"), &Value::Null).await.not_found();
    // A neighbour neither lists nor revokes it.
    let neighbour = world.neighbour().await;
    let links = format!("/v1/agents/{}/test-links", world.agent);
    neighbour.fetch(&links).await.not_found();
    neighbour.delete(&format!("{links}/{first}")).await.not_found();
    // It ends by time, and by being revoked.
    world.advance(24 * 60 * 60).await;
    open(&world, &token).await.refused(401, "unauthorized");
    assert_eq!(world.list(&links).await.len(), 1);
    let (second, revoked) = link(&world, &Value::Null).await;
    let chat = open(&world, &revoked).await.data(201)["chatId"].as_str().unwrap().to_owned();
    world.delete(&format!("{links}/{second}")).await.expect(200);
    ask(&world, "POST", &format!("/test-chats/{revoked}/{chat}/messages"), &text)
        .await
        .refused(401, "unauthorized");
    world.delete(&format!("{links}/{second}")).await.not_found();
    // A suspended workspace, chats that are off, an agent that is gone.
    world.change(&json!({"features": {"chat": false}})).await;
    open(&world, &other).await.refused(403, "feature_disabled");
    world.change(&json!({"features": {"chat": true}})).await;
    world.delete(&format!("/v1/agents/{}", world.agent)).await.expect(200);
    open(&world, &other).await.refused(401, "unauthorized");
    // Guessing is stopped by address.
    let mut refused = 401;
    for guess in 0..60 {
        refused = open(&world, &format!("guess{guess}")).await.status;
        if refused == 429 {
            break;
        }
    }
    assert_eq!(refused, 429);
}

#[tokio::test]
async fn links_and_strangers_have_ceilings() {
    let world = Chats::open().await;
    world.publish(with_tool(&world, "Hello.").await).await;
    let links = format!("/v1/agents/{}/test-links", world.agent);
    world.post(&links, &json!({"expiresInDays": 31})).await.invalid_field("expiresInDays");
    world.post(&links, &json!({"expiresInDays": 0})).await.invalid_field("expiresInDays");
    world.app.post(world.test(), &links, &json!({})).await.read_only();
    let (id, token) = link(&world, &Value::Null).await;
    for _ in 1..20 {
        link(&world, &Value::Null).await;
    }
    world.post(&links, &json!({})).await.conflict();
    // A day's chats and messages of a link.
    let chat = open(&world, &token).await.data(201)["chatId"].as_str().unwrap().to_owned();
    let used = format!("update test_links set chats = 50, messages = 1000 where id = '{id}'");
    world.app().store.tx(move |tx| tx.exec(&used, &[])).await.unwrap();
    open(&world, &token).await.refused(429, "rate_limited");
    let messages = format!("/test-chats/{token}/{chat}/messages");
    ask(&world, "POST", &messages, &json!({"text": "hi"})).await.refused(429, "rate_limited");
    world.advance(24 * 60 * 60).await;
    open(&world, &token).await.expect(201);
    // An address in a minute; the next minute it is let in again.
    let mut taken = 0;
    while ask(&world, "GET", &format!("/test-chats/{token}/{chat}"), &Value::Null).await.status == 200 {
        taken += 1;
    }
    assert!((50..=60).contains(&taken), "{taken} requests in a minute");
    world.advance(60).await;
    ask(&world, "GET", &format!("/test-chats/{token}/{chat}"), &Value::Null).await.expect(200);
    // An agent that speaks has none.
    let speaks = world.agent(&json!({"channel": "call", "systemPrompt": "x"})).await;
    world.post(&format!("/v1/agents/{speaks}/test-links"), &json!({})).await.refused(403, "chat_not_enabled");
}
