//! Node types and rules as stories: inputs on the left, outputs on the right.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::channel::Channel;
use super::effects::MAX_REQUESTS;
use super::graph::Flow;
use super::interpreter::{Conversation, MAX_SILENCES};
use super::state::{ConversationSettings, Input, ModelToolCall, Output, Role};

fn start(nodes: Value, settings: ConversationSettings) -> Conversation {
    let graph = json!({"startNodeId": nodes[0]["id"], "nodes": nodes, "variables": [{"name": "name", "required": true}, {"name": "city", "default": "Pune"}]});
    let variables = json!({"name": "Asha", "amount": "1500"}).as_object().cloned().unwrap_or_default();
    Conversation::new(Arc::new(Flow::parse(&graph).expect("a flow")), variables, settings)
}

pub(super) fn call(nodes: Value) -> Conversation {
    start(nodes, ConversationSettings::default())
}

pub(super) fn chat(nodes: Value) -> Conversation {
    start(nodes, ConversationSettings::of(Channel::Chat, "en"))
}

/// Outputs, short enough to read.
pub(super) fn told(outputs: Vec<Output>) -> Vec<String> {
    outputs.into_iter().map(line).collect()
}

fn line(output: Output) -> String {
    match output {
        Output::Say { text, .. } => format!("say {text}"),
        Output::StopSaying => "stop".into(),
        Output::Listen { expected, .. } if expected.digits_begun => {
            format!("listen {:?} keys", expected.kind)
        }
        Output::Listen { expected, .. } => format!("listen {:?}", expected.kind),
        Output::AskModel { request, prompt, opening, .. } => {
            format!("ask#{request} {prompt}{}", if opening { " (opening)" } else { "" })
        }
        Output::CallTool { request, tool_id, arguments, .. } => {
            format!("tool#{request} {tool_id} {}", Value::Object(arguments))
        }
        Output::Transfer { request, numbers, mode, .. } => {
            format!("transfer#{request} {} {mode:?}", numbers.join(" "))
        }
        Output::SendMessage { template, text, .. } => {
            format!("message {}", template.map_or(text, |template| template.to_string()))
        }
        Output::AskDocument { label, attempt, .. } => format!("document {label} {attempt}"),
        Output::End { outcome, cause } => format!("end {} {}", outcome.unwrap_or_default(), cause.of_call()),
    }
}

pub(super) fn heard(text: &str) -> Input {
    Input::Heard { text: text.into() }
}

pub(super) fn said(request: u64, text: &str) -> Input {
    Input::ModelSaid { request, text: text.into(), exit: None, tool_calls: vec![], end: false, outcome: None }
}

fn exits(request: u64, exit: usize) -> Input {
    Input::ModelSaid {
        request,
        text: "ok".into(),
        exit: Some(exit),
        tool_calls: vec![],
        end: false,
        outcome: None,
    }
}

/// One input, after which every word is spoken to its end.
fn heard_out(conversation: &mut Conversation, input: Input) -> Vec<Output> {
    let mut outputs = conversation.step(input);
    outputs.extend(conversation.step(Input::Sounded { said: u64::MAX }));
    outputs
}

/// Plays a story and compares every output. Every word is spoken to its end before the next input.
fn story(conversation: &mut Conversation, steps: Vec<(Input, &[&str])>) {
    for (index, (input, expected)) in steps.into_iter().enumerate() {
        // a conversation survives being stored between any two inputs
        let flow = Arc::new(conversation.flow().clone());
        let stored = serde_json::to_string(conversation.state()).expect("a state is plain data");
        *conversation =
            Conversation::resume(flow, serde_json::from_str(&stored).expect("a state can be read back"));
        let shown = format!("{input:?}");
        assert_eq!(told(heard_out(conversation, input)), expected, "step {index}: {shown}");
    }
}

pub(super) fn turns(conversation: &Conversation) -> Vec<String> {
    let name = |role| if role == Role::Agent { "agent" } else { "customer" };
    conversation.transcript().into_iter().map(|turn| format!("{}: {}", name(turn.role), turn.text)).collect()
}

pub(super) fn z() -> Value {
    json!({"id": "z", "type": "end", "text": "Bye {{name}}", "outcome": "done"})
}

pub(super) const BYE: [&str; 2] = ["say Bye Asha", "end done agent_ended"];
const SORRY: &str = "say Sorry, something went wrong on our side. Goodbye.";

#[test]
fn say_goes_on_to_the_end() {
    let mut conversation = call(
        json!([{"id": "a", "type": "say", "text": "Hello {{name}} in {{city}}{{nothing}}", "next": "z"}, z()]),
    );
    story(
        &mut conversation,
        vec![
            (Input::Started, &["say Hello Asha in Pune", BYE[0], BYE[1]]),
            (Input::Started, &[]),
            (heard("hm?"), &[]),
        ],
    );
    assert_eq!(turns(&conversation), ["agent: Hello Asha in Pune", "agent: Bye Asha"]);
    assert_eq!(conversation.outcome(), Some("done"));
}

fn plan() -> Value {
    json!([
        {"id": "a", "type": "collect", "text": "Which plan?", "field": {"key": "plan", "type": "choice", "choices": ["Gold", "Silver"]}, "next": "b", "onFail": "f"},
        {"id": "b", "type": "say", "text": "{{plan}} it is.", "next": "z"},
        {"id": "f", "type": "end", "outcome": "no_plan"}, z()
    ])
}

#[test]
fn collect_captures_a_valid_answer() {
    let mut conversation = call(plan());
    story(
        &mut conversation,
        vec![
            (Input::Started, &["say Which plan?", "listen Choice"]),
            (Input::SpeechBegan, &["stop"]),
            (heard("um, the GOLD one!"), &["say Gold it is.", BYE[0], BYE[1]]),
        ],
    );
    assert_eq!(Value::Object(conversation.extracted().clone()), json!({"plan": "Gold"}));
    assert_eq!(turns(&conversation)[..2], ["agent: Which plan?", "customer: um, the GOLD one!"]);
}

#[test]
fn collect_asks_again_and_gives_up() {
    let again = "say Sorry, I did not get that. Which plan? Please choose one of these: Gold, Silver.";
    let mut conversation = call(plan());
    story(
        &mut conversation,
        vec![
            (Input::Started, &["say Which plan?", "listen Choice"]),
            (heard("bronze"), &[again, "listen Choice"]),
            (heard("  "), &[]),
            (Input::Silence, &[again, "listen Choice"]),
            (heard("iron"), &["end no_plan agent_ended"]),
        ],
    );
    assert!(conversation.extracted().is_empty());
    let mut conversation = call(
        json!([{"id": "a", "type": "collect", "text": "Age?", "field": {"key": "k", "type": "number"}, "attempts": 1, "next": "z"}, z()]),
    );
    let goodbye = "say Thank you for your time. Goodbye.";
    story(
        &mut conversation,
        vec![
            (Input::Started, &["say Age?", "listen Number"]),
            (heard("old"), &[goodbye, "end failed_collect agent_ended"]),
        ],
    );
}

#[test]
fn keys_end_with_a_hash_or_a_pause() {
    let nodes = json!([
        {"id": "a", "type": "collect", "text": "PIN?", "field": {"key": "pin", "type": "number"}, "next": "b"},
        {"id": "b", "type": "collect", "text": "Sure?", "field": {"key": "sure", "type": "boolean"}, "next": "z"}, z()
    ]);
    let key = |key| Input::Digit { key };
    let mut conversation = call(nodes);
    story(
        &mut conversation,
        vec![
            (Input::Started, &["say PIN?", "listen Number"]),
            (key('#'), &[]),
            (key('0'), &["listen Number keys"]),
            (key('x'), &[]),
            (key('7'), &["listen Number keys"]),
            (key('#'), &["say Sure?", "listen Boolean"]),
            (key('9'), &["listen Boolean keys"]),
            (
                Input::Silence,
                &["say Sorry, I did not get that. Sure? Please say yes or no.", "listen Boolean"],
            ),
            (key('1'), &["listen Boolean keys"]),
            (Input::DigitsPaused, &BYE),
        ],
    );
    assert_eq!(Value::Object(conversation.extracted().clone()), json!({"pin": "07", "sure": true}));
    assert!(turns(&conversation).contains(&"customer: 07".to_owned()));
}

pub(super) fn talk() -> Value {
    json!([
        {"id": "a", "type": "converse", "prompt": "Talk to {{name}}.", "toolIds": ["tool_1"], "exits": [{"when": "x", "next": "z"}, {"when": "y", "next": "f"}], "maxTurns": 2},
        {"id": "f", "type": "end", "outcome": "second"}, z()
    ])
}

#[test]
fn converse_loops_until_an_exit_applies() {
    let mut conversation = call(talk());
    story(
        &mut conversation,
        vec![
            (heard("Hello?"), &[]),
            (Input::Started, &["ask#1 Talk to Asha. (opening)"]),
            (said(1, "Good morning."), &["say Good morning.", "listen Text"]),
            (said(1, "Again."), &[]),
            (heard("Who is it?"), &["ask#2 Talk to Asha."]),
            (heard("Tell me."), &["ask#3 Talk to Asha."]),
            (said(2, "Too late."), &[]),
            (exits(3, 1), &["say ok", "end second agent_ended"]),
        ],
    );
    assert_eq!(
        turns(&conversation),
        [
            "customer: Hello?",
            "agent: Good morning.",
            "customer: Who is it?",
            "customer: Tell me.",
            "agent: ok"
        ]
    );
}

#[test]
fn converse_takes_the_first_exit_when_its_turns_are_spent() {
    let mut conversation = call(talk());
    story(
        &mut conversation,
        vec![
            (Input::Started, &["ask#1 Talk to Asha. (opening)"]),
            (exits(1, 7), &["say ok", "listen Text"]),
            (heard("a"), &["ask#2 Talk to Asha."]),
            (said(2, "b"), &["say b", "listen Text"]),
            (heard("c"), &["ask#3 Talk to Asha."]),
            (said(3, "d"), &["say d", BYE[0], BYE[1]]),
        ],
    );
    let mut conversation = call(json!([{"id": "a", "type": "converse", "prompt": "p", "maxTurns": 1}]));
    let goodbye = "say Thank you for your time. Goodbye.";
    story(
        &mut conversation,
        vec![
            (Input::Started, &["ask#1 p (opening)"]),
            (said(1, "x"), &["say x", "listen Text"]),
            (heard("y"), &["ask#2 p"]),
            (said(2, "z"), &["say z", goodbye, "end  agent_ended"]),
        ],
    );
}

#[test]
fn a_model_may_end_the_conversation_itself() {
    let mut conversation = call(talk());
    let end = Input::ModelSaid {
        request: 1,
        text: "Bye.".into(),
        exit: None,
        tool_calls: vec![],
        end: true,
        outcome: Some("not_interested".into()),
    };
    story(
        &mut conversation,
        vec![
            (Input::Started, &["ask#1 Talk to Asha. (opening)"]),
            (end, &["say Bye.", "end not_interested agent_ended"]),
        ],
    );
}

#[test]
fn a_model_calls_its_tools_and_goes_on() {
    let calls = |request, tools: &[&str]| {
        let call = |tool: &&str| ModelToolCall { tool_id: (*tool).to_owned(), arguments: Map::new() };
        Input::ModelSaid {
            request,
            text: String::new(),
            exit: None,
            tool_calls: tools.iter().map(call).collect(),
            end: false,
            outcome: None,
        }
    };
    let mut conversation = call(talk());
    story(
        &mut conversation,
        vec![
            (Input::Started, &["ask#1 Talk to Asha. (opening)"]),
            (calls(1, &["tool_1", "tool_9", "tool_1"]), &["tool#2 tool_1 {}", "tool#4 tool_1 {}"]),
            (heard("Well?"), &[]),
            (Input::ToolAnswered { request: 4, value: json!(7) }, &[]),
            (Input::ToolAnswered { request: 4, value: json!(7) }, &[]),
            (Input::ToolFailed { request: 2, reason: "down".into() }, &["ask#5 Talk to Asha."]),
            (calls(5, &["tool_9"]), &["ask#7 Talk to Asha."]),
            (said(7, "Seven."), &["say Seven.", "listen Text"]),
        ],
    );
}

#[test]
fn tool_rounds_are_bounded() {
    let mut conversation = call(talk());
    let mut outputs = heard_out(&mut conversation, Input::Started);
    let mut asked = 0;
    while let Some(Output::AskModel { request, tool_ids, .. }) = outputs.last().cloned() {
        asked += 1;
        assert_eq!(tool_ids.is_empty(), asked > 5);
        let tool_calls = vec![ModelToolCall { tool_id: "tool_1".into(), arguments: Map::new() }];
        let said =
            Input::ModelSaid { request, text: "x".into(), exit: None, tool_calls, end: false, outcome: None };
        outputs = heard_out(&mut conversation, said);
        if let Some(Output::CallTool { request, .. }) = outputs.last() {
            outputs = conversation.step(Input::ToolAnswered { request: *request, value: Value::Null });
        }
    }
    assert_eq!((asked, told(outputs)), (6, vec!["say x".to_owned(), "listen Text".into()]));
}

#[test]
fn a_failing_model_gets_a_second_chance() {
    let mut conversation = call(talk());
    story(
        &mut conversation,
        vec![
            (Input::Started, &["ask#1 Talk to Asha. (opening)"]),
            (Input::ModelFailed { request: 1 }, &["say Hello, how can I help you?", "listen Text"]),
            (heard("a"), &["ask#2 Talk to Asha."]),
            (said(2, "b"), &["say b", "listen Text"]),
            (heard("c"), &["ask#3 Talk to Asha."]),
            (said(3, " "), &["say Sorry, could you say that again?", "listen Text"]),
            (heard("c"), &["ask#4 Talk to Asha."]),
            (Input::ModelFailed { request: 4 }, &[SORRY, "end error error"]),
        ],
    );
}

#[test]
fn silence_in_a_talk_is_asked_about_and_then_ends_it() {
    let mut conversation = call(talk());
    story(
        &mut conversation,
        vec![
            (Input::Started, &["ask#1 Talk to Asha. (opening)"]),
            (Input::Silence, &[]),
            (said(1, "a"), &["say a", "listen Text"]),
            (Input::Silence, &["say Are you still there?", "listen Text"]),
            (Input::Silence, &["say Are you still there?", "listen Text"]),
            (Input::Silence, &["say Thank you for your time. Goodbye.", "end  silence_timeout"]),
        ],
    );
}

#[test]
fn branch_decides() {
    let nodes = |value: &str| {
        json!([
            {"id": "a", "type": "branch", "cases": [{"variable": "amount", "op": "gt", "value": value, "next": "f"}], "otherwise": "z"},
            {"id": "f", "type": "end", "outcome": "big"}, z()
        ])
    };
    story(&mut call(nodes("900")), vec![(Input::Started, &["end big agent_ended"])]);
    story(&mut call(nodes("1500")), vec![(Input::Started, &BYE)]);
    let nowhere = json!([{"id": "a", "type": "branch", "cases": []}]);
    story(
        &mut call(nowhere),
        vec![(Input::Started, &["say Thank you for your time. Goodbye.", "end  agent_ended"])],
    );
}

fn lookup() -> Value {
    json!([
        {"id": "a", "type": "tool", "toolId": "t", "arguments": {"who": "{{name}}", "n": 1}, "saveAs": "order", "next": "b", "onError": "f"},
        {"id": "b", "type": "say", "text": "It is {{order_state}}.", "next": "z"},
        {"id": "f", "type": "end", "outcome": "no_tool"}, z()
    ])
}

#[test]
fn tool_saves_its_answer() {
    story(
        &mut call(lookup()),
        vec![
            (Input::Started, &[r#"tool#1 t {"who":"Asha","n":1}"#]),
            (heard("Hurry"), &[]),
            (Input::Silence, &[]),
            (Input::ToolAnswered { request: 9, value: Value::Null }, &[]),
            (
                Input::ToolAnswered { request: 1, value: json!({"state": "on its way"}) },
                &["say It is on its way.", BYE[0], BYE[1]],
            ),
        ],
    );
    let failed = || Input::ToolFailed { request: 1, reason: "down".into() };
    story(
        &mut call(lookup()),
        vec![
            (Input::Started, &[r#"tool#1 t {"who":"Asha","n":1}"#]),
            (failed(), &["end no_tool agent_ended"]),
        ],
    );
    let without = json!([{"id": "a", "type": "tool", "toolId": "t", "next": "z"}, z()]);
    story(&mut call(without), vec![(Input::Started, &["tool#1 t {}"]), (failed(), &BYE)]);
}

#[test]
fn transfer_hands_over_or_goes_on() {
    let nodes = |on_fail: Value| json!([{"id": "a", "type": "transfer", "transferNumbers": ["+919876543210"], "text": "One moment", "mode": "cold", "onFail": on_fail}, z()]);
    let begins: &[&str] = &["say One moment", "transfer#1 +919876543210 Cold"];
    let done = Input::TransferDone { request: 1 };
    story(
        &mut call(nodes(json!("z"))),
        vec![
            (Input::Started, begins),
            (Input::TransferDone { request: 2 }, &[]),
            (done, &["end transferred transfer_handoff"]),
        ],
    );
    story(
        &mut call(nodes(json!("z"))),
        vec![(Input::Started, begins), (Input::TransferFailed { request: 1 }, &BYE)],
    );
    let alone = &["say Sorry, nobody is free right now.", "end transfer_failed agent_ended"];
    story(
        &mut call(nodes(Value::Null)),
        vec![(Input::Started, begins), (Input::TransferFailed { request: 1 }, alone)],
    );
}

#[test]
fn a_person_hands_back() {
    let nodes = |on_fail: Value| json!([{"id": "a", "type": "transfer", "text": "One moment", "onFail": on_fail}, z()]);
    let begins: &[&str] = &["say One moment", "transfer#1  Warm"];
    let back = || Input::HandedBack { request: 1 };
    story(
        &mut chat(nodes(json!("z"))),
        vec![(Input::Started, begins), (Input::HandedBack { request: 2 }, &[]), (back(), &BYE)],
    );
    let mut alone = chat(nodes(Value::Null));
    alone.step(Input::Started);
    assert_eq!(alone.state().open_transfer(), Some(1));
    alone.step(back());
    assert_eq!((alone.outcome(), alone.state().open_transfer()), (Some("transferred"), None));
}

#[test]
fn message_is_sent_beside_a_call_and_is_a_turn_of_a_chat() {
    let nodes = json!([
        {"id": "a", "type": "message", "text": "Hi {{name}}", "next": "b"},
        {"id": "b", "type": "message", "template": {"name": "t", "params": {"body": ["{{name}}"]}}, "next": "z"}, z()
    ]);
    let expected: &[&str] =
        &["message Hi Asha", r#"message {"name":"t","params":{"body":["Asha"]}}"#, BYE[0], BYE[1]];
    for (mut conversation, said) in [
        (call(nodes.clone()), vec!["agent: Bye Asha"]),
        (chat(nodes), vec!["agent: Hi Asha", "agent: Bye Asha"]),
    ] {
        story(&mut conversation, vec![(Input::Started, expected)]);
        assert_eq!(turns(&conversation), said);
    }
}

#[test]
fn document_is_asked_for_until_one_is_good() {
    let nodes = |on_fail: Value| json!([{"id": "a", "type": "document", "label": "PAN of {{name}}", "fields": ["pan"], "attempts": 2, "next": "z", "onFail": on_fail}, z()]);
    let checked = |accepted| Input::DocumentChecked {
        accepted,
        fields: json!({"pan": "X"}).as_object().cloned().unwrap_or_default(),
    };
    let first: &[&str] = &["say Please send: PAN of Asha", "document PAN of Asha 1"];
    let second: &[&str] = &["say Please send: PAN of Asha", "document PAN of Asha 2"];
    let mut conversation = chat(nodes(Value::Null));
    story(
        &mut conversation,
        vec![
            (Input::Started, first),
            (heard("why?"), first),
            (checked(false), second),
            (heard("ok"), second),
            (checked(true), &BYE),
        ],
    );
    assert_eq!(Value::Object(conversation.extracted().clone()), json!({"pan": "X"}));
    story(
        &mut chat(nodes(json!("z"))),
        vec![(Input::Started, first), (checked(false), second), (checked(false), &BYE)],
    );
    let goodbye = "say Thank you for your time. Goodbye.";
    let failed: &[&str] = &[goodbye, "end failed_document agent_ended"];
    story(
        &mut chat(nodes(Value::Null)),
        vec![(Input::Started, first), (checked(false), second), (checked(false), failed)],
    );
    story(&mut call(nodes(Value::Null)), vec![(Input::Started, failed)]);
}

#[test]
fn hanging_up_ends_it_anywhere() {
    story(
        &mut call(talk()),
        vec![
            (Input::Started, &["ask#1 Talk to Asha. (opening)"]),
            (Input::HungUp, &["end  caller_hangup"]),
            (said(1, "x"), &[]),
        ],
    );
    story(&mut call(talk()), vec![(Input::HungUp, &["end  caller_hangup"]), (Input::Started, &[])]);
}

#[test]
fn what_others_said_meanwhile_is_kept() {
    let mut conversation = chat(talk());
    let noted = Input::Noted { role: Role::Agent, text: "A person here.".into() };
    story(&mut conversation, vec![(Input::Started, &["ask#1 Talk to Asha. (opening)"]), (noted, &[])]);
    assert_eq!(turns(&conversation), ["agent: A person here."]);
}

#[test]
fn a_graph_that_leads_nowhere_or_in_circles_ends_with_an_error() {
    let say = |id: &str, next: &str| json!({"id": id, "type": "say", "text": id, "next": next});
    for (nodes, expected) in [
        (json!([say("a", "q")]), vec!["say a", SORRY, "end error error"]),
        (json!([{"id": "a", "type": "say", "text": "a"}]), vec!["say a", SORRY, "end error error"]),
        (json!([say("a", "b"), say("b", "a")]), vec!["say a", "say b", SORRY, "end error error"]),
        (json!([]), vec![SORRY, "end error error"]),
    ] {
        story(&mut call(nodes), vec![(Input::Started, expected.as_slice())]);
    }
    let retry = json!([{"id": "a", "type": "tool", "toolId": "t", "next": "a"}]);
    let mut conversation = call(retry);
    let mut outputs = conversation.step(Input::Started);
    let mut calls = 0;
    while let Some(Output::CallTool { request, .. }) = outputs.last() {
        calls += 1;
        outputs = heard_out(&mut conversation, Input::ToolAnswered { request: *request, value: Value::Null });
    }
    assert_eq!((calls, told(outputs)), (MAX_REQUESTS, vec![SORRY.to_owned(), "end error error".into()]));
}

#[test]
fn a_flow_that_asks_on_and_on_does_not_outlast_silence() {
    let mut conversation = call(
        json!([{"id": "a", "type": "collect", "text": "Age?", "field": {"key": "k"}, "next": "a", "onFail": "a"}]),
    );
    conversation.step(Input::Started);
    let silences = (1..100).find(|_| {
        told(heard_out(&mut conversation, Input::Silence))
            .last()
            .is_some_and(|last| last == "end  silence_timeout")
    });
    assert_eq!(silences, Some(MAX_SILENCES));
}

#[test]
fn a_stored_conversation_whose_node_is_gone_ends_with_an_error() {
    let mut conversation = call(plan());
    conversation.step(Input::Started);
    let other = Arc::new(Flow::parse(&json!({"nodes": []})).expect("a flow"));
    let mut resumed = Conversation::resume(other, conversation.state().clone());
    assert_eq!(told(heard_out(&mut resumed, heard("gold"))), [SORRY, "end error error"]);
}

#[test]
fn the_agent_speaks_hindi_of_its_own_accord() {
    let mut conversation = start(talk(), ConversationSettings::of(Channel::Call, "hi"));
    conversation.step(Input::Started);
    assert_eq!(
        told(conversation.step(Input::ModelFailed { request: 1 }))[0],
        "say नमस्ते, बताइए, आपकी क्या मदद की जाए?"
    );
}

#[test]
fn what_nobody_heard_was_not_said() {
    let nodes = json!([
        {"id": "a", "type": "say", "text": "One two three.", "next": "b"},
        {"id": "b", "type": "collect", "text": "Which plan?", "field": {"key": "plan"}, "next": "z"},
        {"id": "z", "type": "end", "text": "Bye"}]);
    let mut conversation = call(nodes);
    conversation.step(Input::Started);
    conversation.step(Input::CutOff { turns: 2, heard: "One two".into() });
    let said = |conversation: &Conversation| {
        conversation.transcript().into_iter().map(|turn| turn.text).collect::<Vec<_>>()
    };
    assert_eq!(said(&conversation), ["One two"]);
    conversation.step(heard("Gold"));
    assert_eq!(said(&conversation), ["One two", "Gold", "Bye"]);
    let mut conversation = call(
        json!([{"id": "b", "type": "collect", "text": "Which?", "field": {"key": "plan"}, "next": "b"}]),
    );
    conversation.step(Input::Started);
    conversation.step(Input::Noted { role: Role::Customer, text: "hello".into() });
    conversation.step(Input::Noted { role: Role::Agent, text: "Which plan?".into() });
    conversation.step(Input::CutOff { turns: 9, heard: String::new() });
    assert_eq!(
        said(&conversation),
        ["Which?", "hello"],
        "what was said before the customer's last words stays"
    );
}

#[test]
fn what_nobody_got_is_taken_back() {
    let mut conversation = call(plan());
    for text in ["It is due.", "Hello", "It is due."] {
        conversation.step(Input::Noted { role: Role::Agent, text: text.into() });
    }
    conversation.step(Input::Noted { role: Role::Customer, text: "It is due.".into() });
    let said = |conversation: &Conversation| {
        conversation.transcript().into_iter().map(|turn| turn.text).collect::<Vec<_>>()
    };
    conversation.unsay(" It is due. ", 1);
    assert_eq!(said(&conversation), ["Hello", "It is due.", "It is due."]);
    conversation.unsay("It is due.", 1);
    assert_eq!(said(&conversation).len(), 3, "it is taken back once");
    conversation.unsay("It is due.", 0);
    assert_eq!(said(&conversation), ["Hello", "It is due."], "the customer's words stay");
}
