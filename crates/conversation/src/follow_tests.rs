//! The conversation follows the customer into another language of the agent.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::channel::Channel;
use super::graph::Flow;
use super::interpreter::Conversation;
use super::phrases::Phrases;
use super::state::{ConversationSettings, Input, Output};

const TAMIL: &str = "எனக்கு புரியல, தமிழ்ல சொல்லுங்க";
const HINDI: &str = "मुझे हिंदी में बताइए, मैं समझा नहीं";

fn languages(list: &[&str]) -> Vec<String> {
    list.iter().map(|code| (*code).to_owned()).collect()
}

fn conversation(nodes: Value, channel: Channel, list: &[&str]) -> Conversation {
    let graph = json!({"startNodeId": "a", "nodes": nodes, "variables": []});
    let settings = ConversationSettings::of(channel, "en").following(&languages(list));
    let variables = json!({"name": "Asha"}).as_object().cloned().unwrap_or_default();
    Conversation::new(Arc::new(Flow::parse(&graph).expect("a flow")), variables, settings)
}

fn hears(conversation: &mut Conversation, text: &str) -> Vec<Output> {
    let mut outputs = conversation.step(Input::Heard { text: text.into() });
    outputs.extend(conversation.step(Input::Sounded { said: u64::MAX }));
    outputs
}

fn texts(outputs: &[Output]) -> Vec<&str> {
    outputs
        .iter()
        .filter_map(|output| match output {
            Output::Say { text, .. } => Some(text.as_str()),
            _ => None,
        })
        .collect()
}

fn question() -> Value {
    json!([
        {"id": "a", "type": "collect", "text": "Shall we call, {{name}}?", "texts": {"ta": "கூப்பிடலாமா, {{name}}?"},
         "field": {"key": "ok", "type": "boolean"}, "attempts": 5, "next": "b"},
        {"id": "b", "type": "collect", "text": "How much?", "texts": {"ta": "எவ்வளவு?", "hi": " "},
         "field": {"key": "sum", "type": "amount", "confirm": true}, "attempts": 5, "next": "z"},
        {"id": "z", "type": "end", "text": "Bye.", "texts": {"ta": "வணக்கம்."}}])
}

#[test]
fn questions_answers_read_backs_and_the_end_follow_the_customer() {
    let mut talk = conversation(question(), Channel::Call, &["en", "ta"]);
    let opened = talk.step(Input::Started);
    assert_eq!(texts(&opened), ["Shall we call, Asha?"]);
    let again = hears(&mut talk, TAMIL);
    assert_eq!(talk.language(), "ta");
    let phrases = Phrases::of("ta");
    let expected = format!("{} கூப்பிடலாமா, Asha? {}", phrases.not_understood, phrases.yes_or_no);
    assert_eq!(texts(&again), [expected.as_str()]);
    assert_eq!(texts(&hears(&mut talk, "ஆமா")), ["எவ்வளவு?"]);
    assert_eq!(talk.extracted().get("ok"), Some(&json!(true)));
    // The words of money are those of Tamil, and so is the question whether it is right.
    assert_eq!(texts(&hears(&mut talk, "இருபத்தைந்து ஆயிரம்")), ["₹25,000, சரிதானே?"]);
    assert_eq!(texts(&hears(&mut talk, "சரி")), ["வணக்கம்."]);
    assert_eq!(talk.extracted().get("sum"), Some(&json!("2500000")));
}

#[test]
fn an_agent_of_one_language_stays_in_it() {
    for list in [&["en"][..], &[], &["en", "hi"]] {
        let mut talk = conversation(question(), Channel::Call, list);
        talk.step(Input::Started);
        let again = hears(&mut talk, TAMIL);
        assert_eq!(talk.language(), "en", "{list:?}");
        assert!(texts(&again)[0].starts_with(&Phrases::of("en").not_understood), "{again:?}");
    }
}

#[test]
fn mixed_speech_and_short_answers_change_nothing() {
    let mut talk = conversation(question(), Channel::Call, &["en", "ta", "hi"]);
    talk.step(Input::Started);
    for text in ["haan ji", "I want it but mujhe abhi nahi chahiye", "लक्ष्मी नारायण अय्यर", "ok ok"]
    {
        hears(&mut talk, text);
        assert_eq!(talk.language(), "en", "{text}");
    }
}

#[test]
fn a_short_answer_in_another_listed_language_is_understood_without_a_change() {
    let mut talk = conversation(question(), Channel::Call, &["en", "ta"]);
    talk.step(Input::Started);
    assert_eq!(texts(&hears(&mut talk, "ஆமா")), ["How much?"]);
    assert_eq!(talk.language(), "en");
    assert_eq!(texts(&hears(&mut talk, "இருபத்தைந்து ஆயிரம்")), ["₹25,000. Is that right?"]);
}

#[test]
fn a_blank_or_missing_text_leaves_the_own_one() {
    let mut talk = conversation(question(), Channel::Chat, &["en", "hi"]);
    talk.step(Input::Started);
    let again = hears(&mut talk, HINDI);
    assert_eq!(talk.language(), "hi");
    assert!(texts(&again)[0].contains("Shall we call, Asha?"), "{again:?}");
    assert_eq!(texts(&hears(&mut talk, "हाँ")), ["How much?"]);
}

#[test]
fn it_goes_back_as_it_came() {
    let mut talk = conversation(question(), Channel::Call, &["en", "ta"]);
    talk.step(Input::Started);
    hears(&mut talk, TAMIL);
    let again = hears(&mut talk, "Could you please tell me that in English");
    assert_eq!(talk.language(), "en");
    assert!(texts(&again)[0].contains("Shall we call, Asha?"), "{again:?}");
}

#[test]
fn the_recogniser_confirms_what_the_words_hint_at() {
    let text = "मेरा नाम रमेश शर्मा";
    for (told, language) in [(None, "en"), (Some("hi"), "hi"), (Some("mr"), "en")] {
        let mut talk = conversation(question(), Channel::Call, &["en", "hi", "mr"]);
        talk.step(Input::Started);
        talk.set_heard_language(told.map(str::to_owned));
        hears(&mut talk, text);
        assert_eq!(talk.language(), language, "{told:?}");
    }
}

#[test]
fn what_was_written_before_the_opening_counts_and_what_the_agent_says_does_not() {
    let mut talk = conversation(question(), Channel::Chat, &["en", "ta"]);
    talk.step(Input::Noted { role: super::Role::Agent, text: TAMIL.into() });
    assert_eq!(talk.language(), "en");
    talk.step(Input::Noted { role: super::Role::Customer, text: TAMIL.into() });
    assert_eq!(texts(&talk.step(Input::Started)), ["கூப்பிடலாமா, Asha?"]);
}

#[test]
fn a_stored_conversation_goes_on_in_its_language() {
    let mut talk = conversation(question(), Channel::Chat, &["en", "ta"]);
    talk.step(Input::Started);
    hears(&mut talk, TAMIL);
    let stored = serde_json::to_value(talk.state()).expect("plain data");
    let state = serde_json::from_value(stored.clone()).expect("a state");
    let flow = Arc::new(talk.flow().clone());
    let mut again = Conversation::resume(Arc::clone(&flow), state);
    assert_eq!(again.language(), "ta");
    assert_eq!(texts(&hears(&mut again, "ஆமா")), ["எவ்வளவு?"]);
    // One that was stored before languages were followed has none.
    let mut older = stored;
    older["settings"].as_object_mut().and_then(|settings| settings.remove("languages"));
    let mut older = Conversation::resume(flow, serde_json::from_value(older).expect("a state"));
    hears(&mut older, "Could you please tell me that in English");
    assert_eq!(older.language(), "ta");
}

#[test]
fn messages_and_transfers_have_texts_too() {
    let nodes = json!([
        {"id": "a", "type": "converse", "prompt": "Talk.", "exits": [{"when": "x", "next": "m"}]},
        {"id": "m", "type": "message", "text": "Hello {{name}}", "texts": {"ta": "வணக்கம் {{name}}"}, "next": "t"},
        {"id": "t", "type": "transfer", "transferNumbers": ["+919876543210"], "text": "Wait.", "texts": {"ta": "இருங்க."}}]);
    let mut talk = conversation(nodes, Channel::Chat, &["en", "ta"]);
    talk.step(Input::Started);
    let asked = talk.step(Input::Heard { text: TAMIL.into() });
    let Some(Output::AskModel { request, .. }) = asked.last() else { panic!("{asked:?}") };
    let input = Input::ModelSaid {
        request: *request,
        text: String::new(),
        exit: Some(0),
        tool_calls: Vec::new(),
        end: false,
        outcome: None,
    };
    let outputs = talk.step(input);
    let sent = outputs.iter().find_map(|output| match output {
        Output::SendMessage { text, .. } => Some(text.as_str()),
        _ => None,
    });
    assert_eq!((sent, texts(&outputs)), (Some("வணக்கம் Asha"), vec!["இருங்க."]));
}

#[test]
fn texts_are_read_written_and_refused_by_field() {
    let graph = json!({"startNodeId": "a", "nodes": question(), "variables": []});
    let flow = Flow::parse(&graph).expect("a flow");
    assert_eq!(Flow::parse(&flow.to_json()).as_ref(), Ok(&flow));
    let refused = |node: Value| Flow::parse(&json!({"nodes": [node]})).expect_err("refused").field;
    for (node, field) in [
        (json!({"id": "a", "type": "say", "texts": {"xx": "y"}}), "nodes[0].texts.xx"),
        (json!({"id": "a", "type": "say", "texts": {"ta": 5}}), "nodes[0].texts.ta"),
        (json!({"id": "a", "type": "say", "texts": {"ta": "x".repeat(16_001)}}), "nodes[0].texts.ta"),
        (json!({"id": "a", "type": "say", "texts": []}), "nodes[0].texts"),
        (json!({"id": "a", "type": "converse", "texts": {"ta": "x"}}), "nodes[0].texts"),
        (json!({"id": "a", "type": "branch", "texts": {}}), "nodes[0].texts"),
    ] {
        assert_eq!(refused(node.clone()), field, "{node}");
    }
}

#[test]
fn what_lacks_a_text_is_found_before_it_is_published() {
    let graph = json!({"startNodeId": "a", "variables": [], "nodes": [
        {"id": "a", "type": "say", "text": "Hello", "texts": {"ta": " ", "te": "x", "en": "y", "hi": "{{nobody}}"}, "next": "b"},
        {"id": "b", "type": "converse", "prompt": "Talk.", "exits": [{"when": "x", "next": "z"}]},
        {"id": "z", "type": "end", "text": "Bye", "texts": {"hi": "नमस्ते"}}]});
    let flow = Flow::parse(&graph).expect("a flow");
    let tools = std::collections::BTreeSet::new();
    let found = |listed: &[&str]| -> Vec<(String, &'static str)> {
        let facts = super::CheckFacts {
            channel: Channel::Call,
            languages: &languages(listed),
            tool_ids: &tools,
            is_indian: super::is_plus_91,
        };
        let issues = super::check(&flow, &facts);
        issues.into_iter().map(|issue| (issue.node_id.unwrap_or_default(), issue.code)).collect()
    };
    let of = |node: &str, code| (node.to_owned(), code);
    assert_eq!(
        found(&["en", "hi", "ta"]),
        [
            of("a", "missing_text"),
            of("a", "unused_translation"),
            of("a", "unused_translation"),
            of("a", "undeclared_variable"),
            of("z", "missing_translation"),
        ]
    );
    let alone = found(&[]);
    assert_eq!(alone.iter().filter(|(_, code)| *code == "unused_translation").count(), 5);
    assert!(!alone.iter().any(|(_, code)| *code == "missing_translation"));
}

#[test]
fn values_of_a_conversation_do_not_switch_it() {
    let mut variables = Map::new();
    variables.insert("name".into(), json!(TAMIL));
    let graph = json!({"startNodeId": "a", "nodes": question(), "variables": []});
    let settings = ConversationSettings::of(Channel::Call, "en").following(&languages(&["en", "ta"]));
    let flow = Arc::new(Flow::parse(&graph).expect("a flow"));
    let mut talk = Conversation::new(flow, variables, settings);
    talk.step(Input::Started);
    assert_eq!(talk.language(), "en");
}
