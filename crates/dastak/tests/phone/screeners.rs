//! Who answers and is no person: assistants that screen calls, announcements and menus, on the sandbox's phones and on
//! telephones of a trunk. The sound is real; the recogniser is a server that answers the words that a test sets.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::baresip::Baresip;
use super::kit::{Kit, beside, folder, question, text, until};
use super::server::{Answer, Asked, Server, turn, words};
use super::sounds::speech;

/// The turns of a call, each `role: text`.
fn turns(call: &Value) -> Vec<String> {
    let turns = call["transcript"].as_array().expect("a transcript");
    turns.iter().map(|turn| format!("{}: {}", text(&turn["role"]), text(&turn["text"]))).collect()
}

/// Where the first turn with these words is.
fn place(call: &Value, words: &str) -> Option<usize> {
    turns(call).iter().position(|turn| turn.contains(words))
}

/// Ears that understand every turn as the words that are set.
struct Ears {
    server: Server,
    words: Arc<Mutex<&'static str>>,
}

impl Ears {
    async fn understand(first: &'static str) -> Self {
        let understood = Arc::new(Mutex::new(first));
        let kept = understood.clone();
        let server = Server::start(move |_| {
            let answer = words(*kept.lock().unwrap());
            async move { answer }
        })
        .await;
        Self { server, words: understood }
    }

    fn set(&self, words: &'static str) {
        *self.words.lock().unwrap() = words;
    }

    fn settings(&self) -> [(&str, &str); 3] {
        [
            ("speech.to_text", "openai, offline"),
            ("speech.openai.base_url", self.server.url.as_str()),
            ("speech.openai.resident", "true"),
        ]
    }
}

const ASKS: &str = "please say your name and why you are calling";

#[tokio::test(flavor = "multi_thread")]
async fn assistants_and_announcements_of_the_sandbox_are_known() {
    let _place = beside().await;
    let ears = Ears::understand(ASKS).await;
    let mut settings = vec![("telephony.carrier", "sandbox")];
    settings.extend(ears.settings());
    let kit = Kit::start(&settings).await;
    let agent = kit.agent("outbound", question()).await;
    let reason = json!({"callReason": "It is about order {{order}}."});
    kit.api("PUT", &format!("/v1/agents/{agent}"), &reason).await;
    let webhooks = kit.webhooks().await;

    let body = json!({"agentId": agent, "toNumber": "+919812301010", "variables": {"order": "seven"}});
    let (status, placed) = kit.send("POST", "/v1/calls", &kit.key, &body).await;
    assert_eq!(status, 200, "{placed}");
    let id = text(&placed["interactionId"]);
    kit.when(&id, "the assistant is known", |call| call["answeredBy"] == "screener").await;
    ears.set("hello");
    let call = kit.ended(&id).await;
    assert_eq!(call["answeredBy"], "screener", "{call}");
    let told = place(&call, "It is about order seven.").expect("the assistant was told why");
    assert_eq!(turns(&call).iter().filter(|turn| turn.contains("It is about order seven.")).count(), 1);
    let greeted = place(&call, "When may I call you?").expect("the person was greeted");
    assert!(told < greeted, "{call}");
    let told = |kind: &str| {
        let got = webhooks.got();
        let event = got.iter().map(|got| got.json()).find(|event| event["type"] == kind);
        event.map(|event| event["data"]["answeredBy"].clone())
    };
    until("the end is published", || told("call.completed").is_some()).await;
    assert_eq!((told("call.started"), told("call.completed")), (Some(Value::Null), Some(json!("screener"))));

    ears.set("the person you are calling is busy please stay on the line");
    let id = kit.place(&agent, "2020").await;
    kit.when(&id, "the announcement is known", |call| call["answeredBy"] == "announcement").await;
    ears.set("hello");
    let call = kit.ended(&id).await;
    assert_eq!(call["answeredBy"], "announcement", "{call}");
    let greeted = place(&call, "Hello, this is Asha").expect("the person was greeted");
    assert!(turns(&call)[..greeted].iter().all(|turn| turn.starts_with("customer: ")), "{call}");

    ears.set("the number you are calling is switched off");
    let id = kit.place(&agent, "3030").await;
    let call = kit.ended(&id).await;
    assert_eq!(
        (&call["status"], &call["endCause"], &call["answeredBy"], &call["outcome"]),
        (&json!("completed"), &json!("no_answer"), &json!("announcement"), &json!(null)),
        "{call}"
    );
    assert_eq!(place(&call, "agent: "), None, "nothing is said to it: {call}");
    kit.is_over(&id).await;
    kit.is_clean().await;
}

/// A model that presses keys as soon as it has heard a menu.
fn presser(asked: &Asked) -> Answer {
    if asked.path.ends_with("/transcriptions") {
        return words("Press one for orders or two for returns.");
    }
    let messages = asked.body["messages"].as_array().cloned().unwrap_or_default();
    let pressed = messages.iter().any(|one| {
        one["role"] == "tool" && one["content"].as_str().is_some_and(|text| text.contains("pressed"))
    });
    if pressed { turn("Thank you.", &[]) } else { turn("", &[("press_keys", json!({"keys": "2w#"}))]) }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_menu_of_the_sandbox_says_which_keys_the_agent_pressed() {
    let _place = beside().await;
    let server = Server::start(|asked: Asked| async move { presser(&asked) }).await;
    let settings = [
        ("telephony.carrier", "sandbox"),
        ("speech.to_text", "openai, offline"),
        ("speech.openai.base_url", server.url.as_str()),
        ("speech.openai.resident", "true"),
        ("language_model.providers", "mine, offline"),
        ("language_model.mine.base_url", server.url.as_str()),
        ("language_model.mine.model", "presser"),
        ("language_model.mine.resident", "true"),
    ];
    let kit = Kit::start(&settings).await;
    let nodes = json!([
        {"id": "talk", "type": "converse", "prompt": "Get to the returns.", "toolIds": ["press_keys"], "exits": []},
    ]);
    let agent = kit.agent("outbound", nodes).await;
    let id = kit.place(&agent, "4040").await;
    let call = kit.ended(&id).await;
    assert_eq!(call["answeredBy"], "person", "a menu is talked to as a person is: {call}");
    // It speaks again only when keys have arrived, so the model hears it after its tool has answered.
    let heard_after = server.asked("/chat/completions").iter().any(|asked| {
        let messages = asked.body["messages"].as_array().cloned().unwrap_or_default();
        let last = |role: &str| messages.iter().rposition(|one| one["role"] == role);
        last("tool").is_some_and(|tool| last("user").is_some_and(|user| user > tool))
    });
    assert!(heard_after, "the menu said what was pressed: {call}");
    let offered = server.asked("/chat/completions").iter().any(|asked| {
        let tools = asked.body["tools"].as_array().cloned().unwrap_or_default();
        tools.iter().any(|tool| tool["function"]["name"] == "press_keys")
    });
    assert!(offered, "the model was offered what it called");
    kit.is_clean().await;
}

/// Over SIP and RTP.
#[tokio::test(flavor = "multi_thread")]
async fn a_telephone_whose_assistant_asks_who_calls_is_told() {
    let _place = beside().await;
    let ears = Ears::understand(ASKS).await;
    let folder = folder("speech");
    let asks = speech(&folder, ASKS, 0.3, 120.0);
    let answers = speech(&folder, "hello", 2.0, 120.0);
    let phone = Baresip::start(&["+919812301234"], &asks, true);
    let kit = Kit::at_trunk(phone.port, &ears.settings()).await;
    let greets =
        json!([{"id": "bye", "type": "end", "text": "Hello, this is Asha. Goodbye.", "outcome": "informed"}]);
    let agent = kit.agent("outbound", greets).await;
    let id = kit.place(&agent, "1234").await;
    let greeted = async {
        kit.when(&id, "the assistant is known", |call| call["answeredBy"] == "screener").await;
        ears.set("hello");
        kit.ended(&id).await
    };
    let call = phone.answering(&answers, false, greeted).await;
    let told = place(&call, "I would like to speak to the person").expect("the assistant was told");
    let greeted = place(&call, "Hello, this is Asha").expect("the person was greeted");
    assert!(told < greeted, "{call}");
    kit.is_over(&id).await;
    kit.is_clean().await;
}
