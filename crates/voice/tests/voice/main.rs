//! Conversations on audio: synthesised speech goes into the ear tick by tick, what the agent says comes out of
//! the line. Nothing waits for real time.

mod fakes;
mod follow;
mod sounds;
mod spoken_forms;
mod test_call;

mod answers;
mod barge_in;
mod ends;
mod hang_up;
mod keys;
mod machines;
mod offline;
mod recording;
mod screeners;
mod secrets;
mod step;
mod trouble;
mod turns;
mod wishes;

use std::sync::Arc;

use domain::conversation::{Flow, Role};
use domain::ports::Ear;
use fakes::{Act, Ears, Models, Office, Recognises, Speaks, Synthesises, Thinks, lock};
use serde_json::{Map, Value, json};
use test_call::{Line, TestCall};
use tokio::sync::mpsc;
use voice::{Hearing, HearingSettings, Held, Order, Recorder, Recording, Speech, hearing, hold};

/// Everything around one call.
#[derive(Default)]
pub struct Room {
    pub ears: Arc<Ears>,
    pub voice: Arc<Speaks>,
    pub model: Arc<Thinks>,
    pub office: Arc<Office>,
}

impl Room {
    /// The recogniser hears these, one turn each.
    pub fn hears(&self, words: &[&str]) {
        lock(&self.ears.script).extend(words.iter().map(|text| Ok((*text).to_owned())));
    }

    /// The model takes these turns.
    pub fn thinks(&self, turns: Vec<Vec<Act>>) {
        lock(&self.model.script).extend(turns);
    }

    /// The call is answered now.
    pub fn call(&self, order: Order) -> TestCall {
        self.record(order, None)
    }

    pub fn record(&self, order: Order, recorder: Option<(Recorder, Recording)>) -> TestCall {
        self.speak(order, self.speech(), recorder)
    }

    /// The call is answered after this was heard on the line.
    pub fn call_after(&self, order: Order, early: &[i16]) -> TestCall {
        let (mut ear, hearing) = hearing(&HearingSettings::default(), None);
        for frame in test_call::frames(early).iter().chain([[0; 160]; 40].iter()) {
            ear.tick(domain::ports::Tick { heard: Some(frame), said: None, late_ms: 0 });
        }
        self.begin(order, self.speech(), ear, hearing)
    }

    fn speech(&self) -> Speech {
        Speech {
            to_text: Arc::new(Recognises(Arc::clone(&self.ears))),
            from_text: Arc::new(Synthesises(Arc::clone(&self.voice))),
            model: Arc::new(Models(Arc::clone(&self.model))),
        }
    }

    /// The call is answered now, with other providers.
    pub fn speak(&self, order: Order, speech: Speech, recorder: Option<(Recorder, Recording)>) -> TestCall {
        let (ear, hearing) = hearing(&HearingSettings::default(), recorder);
        self.begin(order, speech, ear, hearing)
    }

    fn begin(&self, order: Order, speech: Speech, ear: Box<dyn Ear>, hearing: Hearing) -> TestCall {
        let line = Arc::new(Line::default());
        let (commands, receiver) = mpsc::channel(8);
        let mouth = Arc::clone(&line);
        let services = Arc::clone(&self.office);
        let call = tokio::spawn(hold(order, speech, mouth, hearing, services, receiver));
        TestCall {
            ear: Some(ear),
            line,
            commands,
            call,
            now: 0,
            agent: Vec::new(),
            customer: Vec::new(),
            loses: None,
        }
    }

    pub fn said(&self) -> Vec<String> {
        lock(&self.voice.said).clone()
    }
}

/// A flow of these nodes; the first is the start.
pub fn flow(nodes: Value) -> Arc<Flow> {
    let graph = json!({"startNodeId": nodes[0]["id"], "nodes": nodes, "variables": []});
    Arc::new(Flow::parse(&graph).expect("a flow"))
}

/// A call without detection of answering machines.
pub fn order(nodes: Value) -> Order {
    let mut order = Order::new(flow(nodes), Map::new(), "en", "");
    order.amd = voice::Amd::Off;
    order
}

/// A question after a long introduction, then a goodbye.
pub fn question() -> Value {
    json!([
        {"id": "a", "type": "collect", "text": "Hello, this is the bank. Your loan payment is due on Friday. Which plan would you like to take today?",
         "field": {"key": "plan", "type": "text"}, "attempts": 3, "next": "z"},
        {"id": "z", "type": "end", "text": "Thank you. Goodbye.", "outcome": "interested"}])
}

/// A conversation with the model.
pub fn converse(tool_ids: &[&str]) -> Value {
    json!([
        {"id": "a", "type": "converse", "prompt": "You are Asha.", "toolIds": tool_ids, "useKnowledge": true, "maxTurns": 10,
         "exits": [{"when": "done", "next": "z"}]},
        {"id": "z", "type": "end", "text": "Goodbye.", "outcome": "done"}])
}

/// Turns as `agent: …` and `customer: …`.
pub fn transcript(held: &Held) -> Vec<String> {
    let who = |role| if role == Role::Agent { "agent" } else { "customer" };
    held.report.turns.iter().map(|turn| format!("{}: {}", who(turn.role), turn.text)).collect()
}

/// Two questions, one after the other.
pub fn flow_of_two_questions() -> Value {
    json!([
        {"id": "a", "type": "collect", "text": "Which plan?", "field": {"key": "plan", "type": "text"}, "next": "b"},
        {"id": "b", "type": "collect", "text": "Which city? Tell me. Please.", "field": {"key": "city", "type": "text"}, "next": "z"},
        {"id": "z", "type": "end", "text": "Bye."}])
}
