//! Last words over a real line: who hears them out, and who does not.

use serde_json::{Value, json};

use super::baresip::Baresip;
use super::kit::{Kit, beside, folder, until};
use super::receiver::{Behaviour, Receiver};
use super::server::{Asked, Server, words};
use super::sounds::{level, samples, silence};

use crate::shows::Shows;

/// Sentences, and how long the voice takes for each.
const SENTENCES: usize = 12;
const SENTENCE_MS: usize = 3_500;

/// A voice that takes its time: a tone for each sentence, as samples of 24 kHz.
fn slow_voice() -> Vec<u8> {
    let sample = |at: usize| (at as f64 * 440.0 * std::f64::consts::TAU / 24_000.0).sin() * 8000.0;
    (0..24 * SENTENCE_MS).flat_map(|at| (sample(at) as i16).to_le_bytes()).collect()
}

/// A server whose voice is slow and whose recogniser hears nothing.
fn speaks(asked: &Asked) -> super::server::Answer {
    if asked.path.ends_with("/transcriptions") { words("") } else { Some(("audio/pcm", slow_voice())) }
}

fn sentence(number: usize) -> String {
    format!("This is sentence number {number} of this call.")
}

/// Twelve sentences, then a tool, then the end.
fn speech(tool: &str) -> Value {
    let say = |number: usize| json!({"id": format!("s{number}"), "type": "say", "text": sentence(number), "next": format!("s{}", number + 1)});
    let mut nodes: Vec<Value> = (1..=SENTENCES).map(say).collect();
    nodes.push(json!({"id": format!("s{}", SENTENCES + 1), "type": "tool", "toolId": tool, "next": "z"}));
    nodes.push(json!({"id": "z", "type": "end", "outcome": "informed"}));
    json!(nodes)
}

/// What the customer heard: ticks of 20 ms with sound in them.
fn loud(samples: &[i16]) -> usize {
    samples.chunks(160).filter(|tick| level(tick) > 200).count()
}

struct Told {
    call: Value,
    /// Data of `call.completed`.
    event: Value,
    /// Calls of the tool at the end of the flow.
    tools: usize,
    heard: Vec<i16>,
}

/// A call to somebody who hangs up after this many seconds.
async fn told(voice: &Server, patience: f64) -> Told {
    let answer = "{}";
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{answer}",
        answer.len()
    );
    let office = Receiver::start(Behaviour::Answer(head)).await;
    let phone = Baresip::start(&["+919812301234"], &silence(&folder("silence"), patience), true);
    let more = [
        ("speech.to_text", "openai, offline"),
        ("speech.from_text", "openai, offline"),
        ("speech.openai.base_url", voice.url.as_str()),
        ("speech.openai.resident", "true"),
    ];
    let kit = Kit::at_trunk(phone.port, &more).await;
    let webhooks = kit.webhooks().await;
    let tool = json!({"type": "webhook", "name": "close_case", "description": "Closes the case.", "config": {"url": office.url}});
    let tool =
        kit.operator("POST", &format!("/workspaces/{}/tools", kit.workspace), &tool).await["data"]["id"]
            .clone();
    let agent = kit.agent("outbound", speech(tool.as_str().expect("an id"))).await;
    let id = kit.place(&agent, "1234").await;
    let call = kit.ended(&id).await;
    let completed = || {
        webhooks.got().iter().map(super::receiver::Got::json).find(|event| event["type"] == "call.completed")
    };
    until("its end is told", || completed().is_some()).await;
    kit.is_clean().await;
    until("the callee's file is written", || !phone.heard().is_empty()).await;
    let event = completed().expect("an event")["data"].clone();
    Told { call, event, tools: office.got().len(), heard: samples(&phone.heard()[0], 0) }
}

#[tokio::test(flavor = "multi_thread")]
async fn last_words_are_heard_out_or_hung_up_on() {
    let _place = beside().await;
    let voice = Server::start(|asked: Asked| async move { speaks(&asked) }).await;
    // One who hears it out, and one who has enough of it.
    let (patient, hasty) = tokio::join!(told(&voice, 120.0), told(&voice, 14.0));
    let said = |call: &Value| {
        let turns = call["transcript"].as_array().cloned().unwrap_or_default();
        turns
            .iter()
            .filter(|turn| turn["role"] == "agent")
            .filter_map(|turn| turn["text"].as_str().map(str::to_owned))
            .collect::<Vec<_>>()
    };
    for told in [&patient.call, &patient.event] {
        told.shows(json!({"endCause": "agent_ended", "outcome": "informed"}));
    }
    assert_eq!(said(&patient.call), (1..=SENTENCES).map(sentence).collect::<Vec<_>>());
    let (all, heard) = (SENTENCES * SENTENCE_MS / 20, loud(&patient.heard));
    assert!(heard > all * 9 / 10, "{heard} of {all} ticks were heard");
    assert_eq!(patient.tools, 1);
    for told in [&hasty.call, &hasty.event] {
        assert_eq!((&told["endCause"], &told["outcome"]), (&json!("caller_hangup"), &Value::Null), "{told}");
    }
    let said = said(&hasty.call);
    assert!((1..SENTENCES).contains(&said.len()) && said[0] == sentence(1), "{said:?}");
    let last = said.last().expect("a turn");
    assert!(sentence(said.len()).starts_with(last.as_str()), "cut where it was heard: {last}");
    assert_eq!(hasty.tools, 0, "what the flow does after its words was not done");
}
