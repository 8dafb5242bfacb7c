//! What an agent knows, over the whole stack: the model answers a caller's question from the knowledge base.

use serde_json::{Value, json};

use super::baresip::Baresip;
use super::kit::{Kit, beside, folder};
use super::server::{Asked, Server, turn, words};
use super::sounds::speech;

const FACT: &str = "Parcels arrive within two days.";

/// A model that answers once somebody has spoken, from what it was given.
fn clerk(asked: &Asked) -> super::server::Answer {
    if asked.path.ends_with("/transcriptions") {
        return words("Mera parcel kab aayega?");
    }
    let messages = asked.body["messages"].as_array().cloned().unwrap_or_default();
    let has = |role: &str, words: &str| {
        messages.iter().any(|one| {
            one["role"] == role && one["content"].as_str().is_some_and(|text| text.contains(words))
        })
    };
    match (has("user", "parcel"), has("system", "पार्सल दो दिन में")) {
        (false, _) => turn("Hello, this is Asha. How can I help?", &[]),
        (true, true) => turn(FACT, &[("take_exit", json!({"exit": 0}))]),
        (true, false) => turn("I do not know.", &[("take_exit", json!({"exit": 0}))]),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_hears_what_the_knowledge_base_says() {
    let _place = beside().await;
    let server = Server::start(|asked: Asked| async move { clerk(&asked) }).await;
    let phone = Baresip::silent(&["+919812301234"], true);
    let answer = speech(&folder("speech"), "yes please where is my parcel", 0.2, 120.0);
    let more = [
        ("speech.to_text", "openai, offline"),
        ("speech.openai.base_url", server.url.as_str()),
        ("speech.openai.resident", "true"),
        ("language_model.providers", "mine, offline"),
        ("language_model.mine.base_url", server.url.as_str()),
        ("language_model.mine.model", "clerk"),
        ("language_model.mine.resident", "true"),
    ];
    let kit = Kit::at_trunk(phone.port, &more).await;
    let base = kit.api("POST", "/v1/knowledge-bases", &json!({"name": "Shop"})).await["data"]["id"].clone();
    let path = format!("/v1/knowledge-bases/{}", base.as_str().expect("an id"));
    for text in ["# पार्सल\nआपका पार्सल दो दिन में पहुँच जाता है।", "रिफंड सात दिन में आ जाता है।"]
    {
        kit.api("POST", &format!("{path}/documents"), &json!({"text": text})).await;
    }
    let nodes = json!([
        {"id": "talk", "type": "converse", "prompt": "Answer from the passages only.", "useKnowledge": true,
         "exits": [{"when": "the question is answered", "next": "bye"}]},
        {"id": "bye", "type": "end", "text": "Goodbye.", "outcome": "informed"},
    ]);
    let agent = kit.agent("outbound", nodes).await;
    kit.api("PUT", &format!("/v1/agents/{agent}"), &json!({"knowledgeBaseId": base})).await;
    let id = kit.place(&agent, "1234").await;
    let call = phone.answering(&answer, true, kit.ended(&id)).await;
    let said: Vec<&Value> = call["transcript"].as_array().expect("a transcript").iter().collect();
    let told = said
        .iter()
        .any(|turn| turn["role"] == "agent" && turn["text"].as_str().is_some_and(|text| text.contains(FACT)));
    assert!(told, "{call}");
    kit.is_clean().await;
}
