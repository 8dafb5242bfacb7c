//! The types of `collect` that are read back, as stories.

use std::sync::Arc;

use serde_json::{Value, json};

use super::channel::Channel;
use super::graph::Flow;
use super::interpreter::Conversation;
use super::interpreter_tests::{BYE, heard, told, z};
use super::state::{ConversationSettings, Input};

/// Friday, 27 November 2026, 10:15 in India.
const NOW: i64 = 1_795_754_700_000;

fn asking(field: Value, attempts: u32, language: &str) -> Conversation {
    let node = json!({"id": "a", "type": "collect", "text": "Well?", "field": field, "attempts": attempts, "next": "z"});
    let graph = json!({"startNodeId": "a", "nodes": [node, z()]});
    let variables = json!({"name": "Asha"}).as_object().cloned().unwrap_or_default();
    let flow = Arc::new(Flow::parse(&graph).expect("a flow"));
    let mut conversation =
        Conversation::new(flow, variables, ConversationSettings::of(Channel::Chat, language));
    conversation.set_now(NOW);
    conversation.step(Input::Started);
    conversation
}

/// Plays the answers; the conversation is stored and read back between any two of them.
fn story(conversation: &mut Conversation, steps: &[(Input, &[&str])]) {
    for (index, (input, expected)) in steps.iter().enumerate() {
        let stored = serde_json::to_string(conversation.state()).expect("a state is plain data");
        let flow = Arc::new(conversation.flow().clone());
        *conversation = Conversation::resume(flow, serde_json::from_str(&stored).expect("a state"));
        conversation.set_now(NOW);
        assert_eq!(told(conversation.step(input.clone())), *expected, "step {index}: {input:?}");
    }
}

fn amount() -> Value {
    json!({"key": "emi", "label": "EMI", "type": "amount", "confirm": true})
}

const RIGHT: [&str; 2] = ["say ₹25,000. Is that right?", "listen Boolean"];

#[test]
fn an_amount_is_captured_after_a_yes() {
    for yes in ["yes", "haan ji", "twenty five thousand", "yes, 25000"] {
        let mut conversation = asking(amount(), 3, "en");
        story(&mut conversation, &[(heard("25 thousand"), &RIGHT)]);
        assert_eq!(conversation.extracted().len(), 0, "nothing before the yes");
        story(&mut conversation, &[(heard(yes), &BYE)]);
        assert_eq!(conversation.extracted()["emi"], json!("2500000"), "{yes}");
    }
}

#[test]
fn a_no_asks_again_and_a_correction_is_read_back() {
    let mut conversation = asking(amount(), 4, "en");
    story(
        &mut conversation,
        &[
            (heard("25 thousand"), &RIGHT),
            (heard("no"), &["say Well?", "listen Amount"]),
            (heard("25 thousand"), &RIGHT),
            (heard("no, thirty thousand"), &["say ₹30,000. Is that right?", "listen Boolean"]),
            (heard("yes"), &BYE),
        ],
    );
    assert_eq!(conversation.extracted()["emi"], json!("3000000"));
}

#[test]
fn a_yes_beside_another_value_is_read_back_once_more() {
    let field = json!({"key": "day", "type": "date"});
    let mut conversation = asking(field, 3, "en");
    story(
        &mut conversation,
        &[
            (heard("kal"), &["say Saturday, 28 November 2026. Is that right?", "listen Boolean"]),
            (heard("yes, Monday"), &["say Monday, 30 November 2026. Is that right?", "listen Boolean"]),
            (heard("yes"), &BYE),
        ],
    );
    assert_eq!(conversation.extracted()["day"], json!("2026-11-30"));
}

#[test]
fn what_is_not_sure_is_asked_back_with_the_reading() {
    let cases = [
        ("date", "hi", "कल", "say शनिवार, 28 नवंबर 2026, क्या यह सही है?", "हाँ", "2026-11-28"),
        ("date", "hi", "कल", "say शनिवार, 28 नवंबर 2026, क्या यह सही है?", "नहीं, परसों आऊंगा", "2026-11-29"),
        ("time", "en", "5", "say 5 in the evening. Is that right?", "yes", "17:00"),
        ("time", "en", "5", "say 5 in the evening. Is that right?", "no, 5 in the morning", "05:00"),
        (
            "email",
            "en",
            "ravi kumar at gmail dot com",
            "say ravikumar@gmail.com. Is that right?",
            "yes",
            "ravikumar@gmail.com",
        ),
    ];
    for (kind, language, said, asked, reply, value) in cases {
        let mut conversation = asking(json!({"key": "x", "type": kind}), 3, language);
        story(&mut conversation, &[(heard(said), &[asked, "listen Boolean"])]);
        conversation.step(heard(reply));
        assert_eq!(conversation.extracted().get("x"), Some(&json!(value)), "{said} {reply}");
    }
}

#[test]
fn what_is_sure_is_captured_at_once_without_confirm() {
    for (kind, said, value) in [
        ("date", "tomorrow", "2026-11-28"),
        ("time", "5 pm", "17:00"),
        ("amount", "two lakh", "20000000"),
        ("phone", "98765 43210", "+919876543210"),
        ("email", "Asha@Example.com", "asha@example.com"),
        ("pincode", "five six double zero three four", "560034"),
    ] {
        let mut conversation = asking(json!({"key": "x", "type": kind}), 3, "en");
        story(&mut conversation, &[(heard(said), &BYE)]);
        assert_eq!(conversation.extracted()["x"], json!(value));
    }
}

#[test]
fn keys_confirm_and_deny() {
    let mut conversation = asking(amount(), 3, "en");
    for key in "25000".chars() {
        conversation.step(Input::Digit { key });
    }
    story(
        &mut conversation,
        &[
            (Input::DigitsPaused, &RIGHT),
            (Input::Digit { key: '2' }, &["listen Boolean keys"]),
            (Input::DigitsPaused, &["say Well?", "listen Amount"]),
            (heard("25000"), &RIGHT),
            (Input::Digit { key: '1' }, &["listen Boolean keys"]),
            (Input::DigitsPaused, &BYE),
        ],
    );
    assert_eq!(conversation.extracted()["emi"], json!("2500000"));
}

#[test]
fn attempts_are_used_up_by_silence_denials_and_corrections() {
    const GOODBYE: [&str; 2] = ["say Thank you for your time. Goodbye.", "end failed_collect agent_ended"];
    let unclear = "say Sorry, I did not get that. ₹25,000. Is that right? Please say yes or no.";
    let mut conversation = asking(amount(), 3, "en");
    story(
        &mut conversation,
        &[
            (heard("25 thousand"), &RIGHT),
            (heard("what?"), &[unclear, "listen Boolean"]),
            (Input::Silence, &[unclear, "listen Boolean"]),
            (heard("no"), &GOODBYE),
        ],
    );
    let mut conversation = asking(amount(), 2, "en");
    story(
        &mut conversation,
        &[
            (heard("25 thousand"), &RIGHT),
            (heard("30 thousand"), &["say ₹30,000. Is that right?", "listen Boolean"]),
            (heard("35 thousand"), &GOODBYE),
        ],
    );
    assert!(conversation.extracted().is_empty());
}

#[test]
fn without_the_time_no_day_is_understood() {
    let flow = json!({"startNodeId": "a", "nodes": [{"id": "a", "type": "collect", "text": "Day?", "field": {"key": "d", "type": "date"}, "next": "z"}, z()]});
    let mut conversation = Conversation::new(
        Arc::new(Flow::parse(&flow).expect("a flow")),
        serde_json::Map::new(),
        ConversationSettings::of(Channel::Chat, "en"),
    );
    conversation.step(Input::Started);
    let outputs = told(conversation.step(heard("tomorrow")));
    assert_eq!(outputs, ["say Sorry, I did not get that. Day?", "listen Date"]);
}
