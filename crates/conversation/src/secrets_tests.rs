//! Secret answers and redaction in a conversation, as stories.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::channel::Channel;
use super::check::{CheckFacts, check, is_plus_91};
use super::graph::Flow;
use super::interpreter::Conversation;
use super::interpreter_tests::heard;
use super::state::{ConversationSettings, Exchange, Input, Output};

fn graph(field: &Value) -> Value {
    json!({"startNodeId": "a", "nodes": [
        {"id": "a", "type": "collect", "text": "Your PIN?", "field": field, "next": "s"},
        {"id": "s", "type": "say", "text": "One moment.", "next": "t"},
        {"id": "t", "type": "tool", "toolId": "tool_1", "arguments": {"pin": "{{pin}}", "for": "{{name}}", "text": "p {{pin}}"}, "next": "u"},
        {"id": "u", "type": "tool", "toolId": "tool_1", "arguments": {"pin": "{{pin}}"}, "next": "z"},
        {"id": "z", "type": "end", "text": "Bye {{pin}}"}]})
}

fn secret() -> Value {
    json!({"key": "pin", "label": "PIN", "type": "number", "secret": true})
}

fn begin(field: &Value, channel: Channel, redact: bool) -> Conversation {
    let flow = Arc::new(Flow::parse(&graph(field)).expect("a flow"));
    let variables = json!({"name": "Asha"}).as_object().cloned().unwrap_or_default();
    let settings = ConversationSettings { redact, ..ConversationSettings::of(channel, "en") };
    let mut conversation = Conversation::new(flow, variables, settings);
    conversation.step(Input::Started);
    conversation
}

/// The tool call among the outputs.
fn call(outputs: &[Output]) -> Option<(u64, String, Map<String, Value>)> {
    outputs.iter().find_map(|output| match output {
        Output::CallTool { request, node_id, arguments, .. } => {
            Some((*request, node_id.clone(), arguments.clone()))
        }
        _ => None,
    })
}

fn customer(conversation: &Conversation) -> Vec<String> {
    let turns = conversation.transcript().into_iter();
    turns.filter(|turn| turn.role == super::Role::Customer).map(|turn| turn.text).collect()
}

fn keys(conversation: &mut Conversation, keys: &str) -> Vec<Output> {
    keys.chars().flat_map(|key| conversation.step(Input::Digit { key })).collect()
}

#[test]
fn keys_go_to_one_tool_and_nowhere_else() {
    let mut conversation = begin(&secret(), Channel::Call, false);
    assert!(conversation.awaits_secret());
    let mut outputs = keys(&mut conversation, "4321#");
    outputs.extend(conversation.step(Input::Sounded { said: u64::MAX }));
    let (request, node, masked) = call(&outputs).expect("a call");
    assert_eq!(masked["pin"], "[secret]");
    let stored = serde_json::to_string(conversation.state()).expect("plain data");
    assert!(!stored.contains("4321") && !format!("{conversation:?}").contains("4321"), "{stored}");
    let given = conversation.revealed(&node, masked.clone()).expect("it is known");
    assert_eq!(Value::from(given), json!({"pin": "4321", "for": "Asha", "text": "p 4321"}));
    assert_eq!(conversation.revealed(&node, masked), None, "once");
    assert_eq!(customer(&conversation), ["[secret]"]);
    assert_eq!(conversation.extracted()["pin"], "[secret]");
    // The next tool needs it, too: the question is asked again.
    let outputs = conversation.step(Input::ToolAnswered { request, value: json!({}) });
    assert!(call(&outputs).is_none() && conversation.awaits_secret(), "{outputs:?}");
}

#[test]
fn words_are_no_secret_answer_on_a_call() {
    let mut conversation = begin(&secret(), Channel::Call, false);
    let outputs = conversation.step(heard("four three two one"));
    assert!(call(&outputs).is_none() && conversation.awaits_secret());
    assert_eq!(customer(&conversation), ["[secret]"], "and they are not kept either");
}

#[test]
fn a_resumed_conversation_asks_again() {
    let mut conversation = begin(&secret(), Channel::Chat, false);
    let outputs = conversation.step(heard("my pin is 4321"));
    let (request, node, masked) = call(&outputs).expect("a call");
    let stored = serde_json::to_string(&(conversation.state(), &outputs)).expect("plain data");
    assert!(!stored.contains("4321"), "{stored}");
    let state =
        serde_json::from_str(&serde_json::to_string(conversation.state()).expect("text")).expect("a state");
    let mut again = Conversation::resume(Arc::new(conversation.flow().clone()), state);
    assert_eq!(again.revealed(&node, masked), None, "nothing is invented");
    let outputs = again.step(Input::SecretsGone { request });
    assert!(matches!(outputs.first(), Some(Output::Say { text, .. }) if text == "Your PIN?"), "{outputs:?}");
    assert!(again.awaits_secret());
    // A message whose words are gone is no answer.
    assert!(call(&again.step(heard("[secret]"))).is_none() && again.awaits_secret());
    let (_, node, masked) = call(&again.step(heard("5678"))).expect("a call");
    assert_eq!(again.revealed(&node, masked).expect("it is known")["pin"], "5678");
    assert_eq!(again.step(Input::SecretsGone { request }), [], "of an older request");
}

#[test]
fn what_redaction_takes_out_is_given_to_the_tool_all_the_same() {
    let field = json!({"key": "pin", "label": "OTP", "type": "number"});
    let mut conversation = begin(&field, Channel::Chat, true);
    let (_, node, masked) = call(&conversation.step(heard("482913"))).expect("a call");
    assert_eq!((masked["pin"].clone(), customer(&conversation)), (json!("[otp]"), vec!["[otp]".to_owned()]));
    assert_eq!(conversation.revealed(&node, masked).expect("it is known")["pin"], "482913");
    let stored = serde_json::to_string(&conversation.state().extracted()).expect("plain data");
    assert!(!stored.contains("482913"));
    // A value of another type is captured as it is.
    let field = json!({"key": "pin", "label": "Phone", "type": "phone"});
    let mut conversation = begin(&field, Channel::Chat, true);
    let (_, _, given) = call(&conversation.step(heard("98765 43210"))).expect("a call");
    assert_eq!(given["pin"], "+919876543210");
}

#[test]
fn the_model_is_shown_no_card_number() {
    let graph = json!({"startNodeId": "a", "nodes": [
        {"id": "a", "type": "converse", "prompt": "Talk.", "exits": [{"when": "done", "next": "z"}]},
        {"id": "z", "type": "end"}]});
    let flow = Arc::new(Flow::parse(&graph).expect("a flow"));
    let settings = ConversationSettings { redact: true, ..ConversationSettings::of(Channel::Chat, "en") };
    let mut conversation = Conversation::new(flow, Map::new(), settings);
    conversation.step(Input::Started);
    conversation.step(heard("my card is 4111 1111"));
    let outputs = conversation.step(heard("1111 1111"));
    let Some(Output::AskModel { history, .. }) = outputs.first() else { panic!("{outputs:?}") };
    let shown: Vec<&str> = history
        .iter()
        .filter_map(|exchange| match exchange {
            Exchange::Said { text, .. } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(shown, ["my card is [card]", "[card]"]);
}

#[test]
fn only_texts_and_numbers_may_be_secret() {
    let with = |kind: &str| graph(&json!({"key": "pin", "label": "PIN", "type": kind, "secret": true}));
    for kind in ["text", "number"] {
        let flow = Flow::parse(&with(kind)).expect("a flow");
        assert_eq!(flow.to_json()["nodes"][0]["field"]["secret"], json!(true));
    }
    for kind in ["boolean", "choice", "date", "time", "amount", "phone", "email", "pincode"] {
        let error = Flow::parse(&with(kind)).expect_err("no secret");
        assert_eq!(error.field, "nodes[0].field.secret", "{kind}");
    }
    let flow = Flow::parse(&graph(&json!({"key": "pin", "secret": false}))).expect("a flow");
    assert_eq!(flow.to_json()["nodes"][0]["field"]["secret"], Value::Null);
}

#[test]
fn a_secret_is_for_tools_only() {
    let issues = |graph: &Value| -> Vec<String> {
        let flow = Flow::parse(graph).expect("a flow");
        let tools = std::collections::BTreeSet::from(["tool_1".to_owned()]);
        let facts =
            CheckFacts { channel: Channel::Call, languages: &[], tool_ids: &tools, is_indian: is_plus_91 };
        let found = check(&flow, &facts).into_iter().filter(|issue| issue.code.contains("secret"));
        found.map(|issue| format!("{}@{}", issue.code, issue.node_id.unwrap_or_default())).collect()
    };
    let declared = |mut graph: Value| {
        graph["variables"] = json!([{"name": "name"}]);
        graph
    };
    assert_eq!(issues(&declared(graph(&secret()))), ["secret_shown@z"]);
    let mut quiet = declared(graph(&secret()));
    quiet["nodes"][4]["text"] = json!("Bye");
    assert_eq!(issues(&quiet), [""; 0]);
    quiet["nodes"][2]["arguments"] = json!({});
    quiet["nodes"][3]["arguments"] = json!({});
    assert_eq!(issues(&quiet), ["unused_secret@a"]);
    let branch = json!({"id": "s", "type": "branch", "cases": [{"variable": "pin", "op": "eq", "value": "1", "next": "t"}], "otherwise": "t"});
    let mut tested = declared(graph(&secret()));
    tested["nodes"][4]["text"] = json!("Bye");
    tested["nodes"][1] = branch;
    assert_eq!(issues(&tested), ["secret_shown@s"]);
}
