//! The customer's language (docs/contract/agents.md#languages): chats and calls that follow it, and the settings of it.

use domain::conversation::Role;
use serde_json::{Value, json};

use crate::after_call::{Held, talk};
use crate::chats::{Chats, chat_agent, ends};
use crate::world::{World, names_field};

const TAMIL: &str = "எனக்கு புரியல, தமிழ்ல சொல்லுங்க";

/// A question and a goodbye in two languages.
fn question() -> Value {
    json!([
        {"id": "a", "type": "collect", "text": "Which plan?", "texts": {"ta": "எந்த திட்டம்?"},
         "field": {"key": "plan", "label": "Plan", "type": "choice", "choices": ["Gold", "Silver"]}, "attempts": 5, "next": "z"},
        {"id": "z", "type": "end", "text": "Goodbye.", "texts": {"ta": "வணக்கம்."}, "outcome": "done"}])
}

/// A chat agent of several languages with this flow.
async fn agent(kit: &Chats, nodes: Value) -> String {
    let mut settings = chat_agent();
    settings["languages"] = json!(["en", "ta", "hi"]);
    let agent = kit.world.agent(&settings).await;
    kit.publish_for(&agent, nodes).await;
    agent
}

async fn session(kit: &Chats, agent: &str) -> String {
    let opened = kit.opening(agent).await.data(201);
    opened["sessionId"].as_str().expect("an id").to_owned()
}

#[tokio::test]
async fn a_chat_goes_on_in_the_language_of_the_customer() {
    let kit = Chats::open().await;
    let agent = agent(&kit, question()).await;
    let id = session(&kit, &agent).await;
    let reply = kit.says(&id, TAMIL).await["reply"].as_str().unwrap().to_owned();
    assert!(reply.contains("எந்த திட்டம்?") && !reply.contains("Which plan"), "{reply}");
    assert_eq!(kit.says(&id, "கோல்டு").await, json!({"reply": "வணக்கம்.", "ended": true, "handedOff": false}));
    let messages = kit.chat(&id).await["messages"].clone();
    let languages: Vec<&Value> =
        messages.as_array().unwrap().iter().map(|message| &message["language"]).collect();
    assert_eq!(languages, [&Value::Null, &json!("ta"), &Value::Null, &Value::Null, &Value::Null]);
    assert_eq!(messages[1]["text"], TAMIL);
    let (started, completed) = (kit.events("chat.started").await, kit.events("chat.completed").await);
    assert_eq!(
        (&started[0]["data"]["language"], &completed[0]["data"]["language"]),
        (&json!("en"), &json!("ta"))
    );
}

#[tokio::test]
async fn the_model_of_a_chat_and_its_reader_are_told_the_language() {
    let kit = Chats::open().await;
    let talks = json!([
        {"id": "a", "type": "converse", "prompt": "Talk.", "exits": [{"when": "done", "next": "z"}]}, ends()]);
    let agent = agent(&kit, talks).await;
    let id = session(&kit, &agent).await;
    for text in ["Hello there", "haan ji", TAMIL, "Could you please tell me that in English", TAMIL] {
        kit.says(&id, text).await;
    }
    let asked: Vec<String> =
        kit.model.orders.lock().unwrap().iter().map(|order| order.language.clone()).collect();
    assert_eq!(asked, ["en", "en", "en", "ta", "en", "ta"]);
    kit.end(&id).await;
    kit.advance(60_000).await;
    assert_eq!(kit.model.read.lock().unwrap()[0].language, "ta");
}

#[tokio::test]
async fn a_chat_of_an_agent_of_one_language_stays_in_it() {
    let kit = Chats::open().await;
    kit.publish(question()).await;
    let id = kit.session().await;
    let reply = kit.says(&id, TAMIL).await["reply"].as_str().unwrap().to_owned();
    assert!(reply.contains("Which plan?"), "{reply}");
    let messages = kit.chat(&id).await["messages"].clone();
    assert!(messages.as_array().unwrap().iter().all(|message| message.get("language").is_none()));
}

#[tokio::test]
async fn a_call_shows_the_turn_that_changed_its_language() {
    let held = Held::open(None).await;
    let call = held
        .held(|_, _| {
            let mut report = talk();
            let turn = report.turns.iter_mut().find(|turn| turn.role == Role::Customer).unwrap();
            turn.language = Some("ta".into());
            report.language = Some("ta".into());
            report
        })
        .await;
    let transcript = held.detail(&call).await["transcript"].clone();
    assert_eq!(
        transcript,
        json!([
            {"role": "agent", "text": "Hello from Acme."},
            {"role": "customer", "text": "Call me tomorrow.", "language": "ta"},
            {"role": "agent", "text": "Goodbye."},
        ])
    );
    let events = held.outbox().await;
    let language = |kind: &str| {
        let event = events.iter().find(|event| event["type"] == kind).unwrap();
        event["data"]["language"].clone()
    };
    assert_eq!((language("call.started"), language("call.completed")), (json!("en"), json!("ta")));
    let figures = held.get("/v1/analytics/calls").await;
    assert_eq!(figures["data"]["byLanguage"], json!([{"language": "ta", "count": 1}]));
}

#[tokio::test]
async fn the_settings_of_languages_voices_and_models() {
    let world = World::bare().await;
    let made = world.draft_agent(&json!({"language": "hi"})).await;
    assert_eq!(
        (&made["languages"], &made["voices"], &made["models"]),
        (&json!(["hi"]), &json!({}), &json!({}))
    );
    let settings = json!({
        "language": "hi", "languages": ["en", "ta", "hi"], "voices": {"ta": "offline-male", "en": ""},
        "models": {"recogniser": "offline", "synthesiser": "offline", "languageModel": "offline"},
    });
    let made = world.draft_agent(&settings).await;
    assert_eq!(made["languages"], json!(["hi", "en", "ta"]), "its own comes first");
    assert_eq!(made["voices"], json!({"ta": "offline-male"}), "an empty one is the agent's voice");
    assert_eq!(made["models"], settings["models"]);
    let path = format!("/v1/agents/{}", made["id"].as_str().unwrap());
    let changed = world.put(&path, &json!({"language": "bn", "models": {}})).await.data(200);
    assert_eq!((&changed["languages"], &changed["models"]), (&json!(["bn", "en", "ta", "hi"]), &json!({})));
    let known = world.data("/v1/voices").await["models"].clone();
    assert_eq!(
        known,
        json!({"recognisers": ["offline"], "synthesisers": ["offline"], "languageModels": ["offline"]})
    );
    for (field, value, named) in [
        ("languages", json!(["en", "fr"]), "languages[1]"),
        ("languages", json!(["en", "ta", "en"]), "languages[2]"),
        ("languages", json!("en"), "languages"),
        ("languages", json!(vec!["en"; 12]), "languages"),
        ("voices", json!({"fr": "offline-male"}), "voices.fr"),
        ("voices", json!({"ta": "nobody"}), "voices.ta"),
        ("voices", json!({"ta": 5}), "voices.ta"),
        ("models", json!({"recogniser": "nobody"}), "models.recogniser"),
        ("models", json!({"synthesiser": "sarvam"}), "models.synthesiser"),
        ("models", json!({"languageModel": "x".repeat(65)}), "models.languageModel"),
        ("models", json!({"languageModel": "gpt"}), "models.languageModel"),
        ("models", json!([]), "models"),
    ] {
        let refused = world.put(&path, &json!({"name": "changed", field: value})).await;
        names_field(&refused.refused(400, "invalid_request"), named);
    }
    assert_eq!(world.data(&path).await, changed, "a refused change changes nothing");
}

#[tokio::test]
async fn texts_are_checked_against_the_languages_of_the_agent() {
    let world = World::bare().await;
    let made = world.draft_agent(&json!({"languages": ["en", "ta", "hi"]})).await;
    let path = format!("/v1/agents/{}/flow", made["id"].as_str().unwrap());
    let mut nodes = question();
    nodes[1]["texts"]["ta"] = json!(" ");
    let graph = json!({"startNodeId": "a", "nodes": nodes, "variables": []});
    let saved = world.put(&path, &json!({"graph": graph, "baseVersion": 1})).await.data(200);
    let issues: Vec<(&str, &str)> = saved["issues"]
        .as_array()
        .unwrap()
        .iter()
        .map(|issue| (issue["nodeId"].as_str().unwrap(), issue["code"].as_str().unwrap()))
        .collect();
    assert_eq!(
        issues,
        [("a", "missing_translation"), ("z", "missing_text"), ("z", "missing_translation")],
        "{saved}"
    );
    world.post(&format!("{path}/publish"), &Value::Null).await.refused(422, "flow_not_ready");
    nodes[0]["texts"] = json!({"xx": "y"});
    let graph = json!({"startNodeId": "a", "nodes": nodes, "variables": []});
    let refused = world.put(&path, &json!({"graph": graph, "baseVersion": 2})).await;
    names_field(&refused.refused(400, "invalid_request"), "graph.nodes[0].texts.xx");
}
