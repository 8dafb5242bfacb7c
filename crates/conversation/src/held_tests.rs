//! Outputs that wait for words. In these stories no word is spoken to its end unless the story says so.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::interpreter::Conversation;
use super::interpreter_tests::{BYE, call, chat, heard, said, talk, told, turns, z};
use super::state::{Exchange, Input, ModelToolCall, Output};

/// Plays a story and compares every answer.
fn slow_story(conversation: &mut Conversation, steps: Vec<(Input, &[&str])>) {
    for (index, (input, expected)) in steps.into_iter().enumerate() {
        let flow = Arc::new(conversation.flow().clone());
        let stored = serde_json::to_string(conversation.state()).expect("a state is plain data");
        *conversation =
            Conversation::resume(flow, serde_json::from_str(&stored).expect("a state can be read back"));
        let shown = format!("{input:?}");
        assert_eq!(told(conversation.step(input)), expected, "step {index}: {shown}");
    }
}

fn sounded(said: u64) -> Input {
    Input::Sounded { said }
}

fn message(id: &str, next: &str) -> Value {
    json!({"id": id, "type": "message", "text": format!("link {id}"), "next": next})
}

fn say(id: &str, next: &str) -> Value {
    json!({"id": id, "type": "say", "text": id, "next": next})
}

#[test]
fn the_end_comes_when_the_last_words_have_sounded() {
    let nodes = json!([say("a", "b"), say("b", "z"), z()]);
    let mut conversation = call(nodes.clone());
    slow_story(
        &mut conversation,
        vec![
            (Input::Started, &["say a", "say b", BYE[0]]),
            (sounded(1), &[]),
            (heard("hm?"), &[]),
            (Input::Silence, &[]),
            (Input::SpeechBegan, &[]),
            (sounded(2), &[]),
            (sounded(1), &[]),
            (sounded(3), &[BYE[1]]),
            (sounded(4), &[]),
        ],
    );
    assert_eq!((conversation.outcome(), turns(&conversation).len()), (Some("done"), 4));
    let mut conversation = call(nodes);
    let left: &[&str] = &["end  caller_hangup"];
    slow_story(
        &mut conversation,
        vec![
            (Input::Started, &["say a", "say b", BYE[0]]),
            (sounded(1), &[]),
            (heard("no"), &[]),
            (Input::HungUp, left),
        ],
    );
    assert_eq!(conversation.outcome(), None, "the end was not reached");
    assert_eq!(
        turns(&conversation),
        ["agent: a", "customer: no"],
        "words that were not heard are not in the transcript"
    );
}

#[test]
fn every_effect_waits_for_the_words_before_it_and_for_no_others() {
    let tool = json!({"id": "t", "type": "tool", "toolId": "t", "next": "c"});
    let transfer = json!({"id": "p", "type": "transfer", "transferNumbers": ["+919876543210"], "text": "p", "onFail": "z"});
    let warm = |from: &str| {
        json!([
            say("a", from),
            message("m", "b"),
            say("b", "t"),
            tool.clone(),
            say("c", "p"),
            transfer.clone(),
            z()
        ])
    };
    let answered = || Input::ToolAnswered { request: 1, value: Value::Null };
    slow_story(
        &mut call(warm("m")),
        vec![
            // Words are given out ahead of time, even when other outputs between them are held back.
            (Input::Started, &["say a", "say b"]),
            (sounded(1), &["message link m"]),
            (answered(), &[]),
            (sounded(2), &["tool#1 t {}"]),
            (answered(), &["say c", "say p"]),
            (Input::TransferDone { request: 2 }, &[]),
            (Input::TransferFailed { request: 2 }, &[]),
            (sounded(3), &["transfer#2 +919876543210 Warm"]),
            (Input::TransferFailed { request: 2 }, &["say Bye Asha"]),
            (sounded(4), &[]),
            (sounded(5), &[BYE[1]]),
        ],
    );
    let mut cold = transfer.clone();
    cold["mode"] = json!("cold");
    slow_story(
        &mut call(json!([say("a", "p"), cold, z()])),
        vec![
            (Input::Started, &["say a", "say p"]),
            (sounded(1), &[]),
            (sounded(2), &["transfer#1 +919876543210 Cold"]),
            (Input::TransferDone { request: 1 }, &["end transferred transfer_handoff"]),
        ],
    );
    let mut left = call(warm("m"));
    slow_story(
        &mut left,
        vec![
            (Input::Started, &["say a", "say b"]),
            (Input::HungUp, &["end  caller_hangup"]),
            (sounded(9), &[]),
        ],
    );
    assert_eq!(turns(&left), [] as [&str; 0]);
}

#[test]
fn a_chat_waits_for_nothing() {
    let mut conversation = chat(json!([say("a", "m"), message("m", "b"), say("b", "z"), z()]));
    slow_story(
        &mut conversation,
        vec![(Input::Started, &["say a", "message link m", "say b", BYE[0], BYE[1]])],
    );
}

#[test]
fn an_interruption_ends_the_words_and_the_flow_goes_on() {
    let question =
        json!({"id": "q", "type": "collect", "text": "Which?", "field": {"key": "k"}, "next": "z"});
    let mut conversation = call(json!([say("a", "m"), message("m", "q"), question, z()]));
    let cut = Input::CutOff { turns: 2, heard: "a".into() };
    slow_story(
        &mut conversation,
        vec![
            (Input::Started, &["say a", "say Which?", "listen Text"]),
            (Input::SpeechBegan, &["stop"]),
            (cut, &["message link m"]),
            (heard("Gold"), &[BYE[0]]),
            (sounded(3), &[BYE[1]]),
        ],
    );
    assert_eq!(turns(&conversation), ["agent: a", "customer: Gold", "agent: Bye Asha"]);
}

#[test]
fn a_tool_that_was_announced_is_called_after_the_announcement_or_not_at_all() {
    let announces = |request| {
        let call = |tool: &str| ModelToolCall { tool_id: tool.to_owned(), arguments: Map::new() };
        let tool_calls = vec![call("tool_1"), call("tool_9"), call("tool_1")];
        Input::ModelSaid {
            request,
            text: "I book it.".into(),
            exit: None,
            tool_calls,
            end: false,
            outcome: None,
        }
    };
    let begun = || -> Vec<(Input, &[&str])> {
        vec![(Input::Started, &["ask#1 Talk to Asha. (opening)"]), (announces(1), &["say I book it."])]
    };
    let mut conversation = call(talk());
    slow_story(&mut conversation, begun());
    let rest: Vec<(Input, &[&str])> = vec![
        (Input::ToolAnswered { request: 2, value: json!(1) }, &[]),
        (heard("Yes do."), &[]),
        (sounded(1), &["tool#2 tool_1 {}", "tool#4 tool_1 {}"]),
    ];
    slow_story(&mut conversation, rest);
    let mut conversation = call(talk());
    slow_story(&mut conversation, begun());
    let rest: Vec<(Input, &[&str])> = vec![
        (Input::CutOff { turns: 1, heard: "I book".into() }, &["listen Text"]),
        (heard("No, wait."), &["ask#5 Talk to Asha."]),
        (sounded(1), &[]),
    ];
    slow_story(&mut conversation, rest);
    let asked = conversation.step(Input::ModelFailed { request: 5 });
    assert_eq!(told(asked), ["say Sorry, could you say that again?", "listen Text"]);
    let Some(Output::AskModel { history, .. }) = conversation.step(heard("Book another.")).pop() else {
        panic!("the model is asked")
    };
    let calls = |answered: bool| {
        let of = |exchange: &Exchange| match exchange {
            Exchange::ToolCalled { request, .. } if !answered => Some(*request),
            Exchange::ToolAnswered { request, .. } if answered => Some(*request),
            _ => None,
        };
        history.iter().filter_map(of).collect::<Vec<_>>()
    };
    assert_eq!((calls(false), calls(true)), (vec![3], vec![3]), "every tool call has its answer");
}

#[test]
fn the_goodbye_of_silence_is_heard_first() {
    let mut conversation = call(talk());
    slow_story(
        &mut conversation,
        vec![
            (Input::Started, &["ask#1 Talk to Asha. (opening)"]),
            (said(1, "a"), &["say a", "listen Text"]),
            (sounded(1), &[]),
            (Input::Silence, &["say Are you still there?", "listen Text"]),
            (sounded(2), &[]),
            (Input::Silence, &["say Are you still there?", "listen Text"]),
            (sounded(3), &[]),
            (Input::Silence, &["say Thank you for your time. Goodbye."]),
            (heard("I am here!"), &[]),
            (Input::HungUp, &["end  caller_hangup"]),
        ],
    );
}

/// The edges that a conversation counts, with how often.
fn path(conversation: &Conversation) -> Vec<String> {
    let edges = conversation.path().into_iter();
    edges.map(|taken| format!("{}.{} {}", taken.from, taken.edge, taken.visits)).collect()
}

#[test]
fn an_edge_counts_once_the_words_before_it_were_spoken() {
    let nodes = json!([say("a", "b"), say("b", "z"), z()]);
    let mut conversation = call(nodes.clone());
    conversation.step(Input::Started);
    let taken: Vec<&str> = conversation.taken().iter().map(|edge| edge.to.as_str()).collect();
    assert_eq!(taken, ["a", "b", "z"], "it ran ahead of the voice");
    assert_eq!(path(&conversation), [".start 1"]);
    conversation.step(sounded(1));
    assert_eq!(path(&conversation), [".start 1", "a.next 1"]);
    let mut left = conversation.clone();
    left.step(Input::HungUp);
    assert_eq!(path(&left), [".start 1", "a.next 1"], "the customer did not hear the second");
    conversation.step(sounded(3));
    assert_eq!(path(&conversation), [".start 1", "a.next 1", "b.next 1"]);
    // In a chat words are there at once.
    let mut conversation = chat(nodes);
    conversation.step(Input::Started);
    assert_eq!(path(&conversation), [".start 1", "a.next 1", "b.next 1"]);
}
