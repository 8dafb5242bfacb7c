//! A placeholder conversation for simulated calls (docs/contract/sandbox.md#simulated-calls): the published
//! flow played with fixed answers and without a model.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::channel::Channel;
use super::graph::{FieldKind, Flow, NodeKind};
use super::interpreter::Conversation;
use super::path::EdgeVisits;
use super::state::{ConversationSettings, Expected, Input, Output, Role, Turn};

/// Most turns of a script.
pub const MAX_TURNS: usize = 12;
/// Most inputs that a script plays.
const MAX_INPUTS: usize = 40;
const OPENING: &str = "Hello, this is a simulated call.";
const CLOSING: &str = "Thank you for your time. Goodbye.";

/// A made-up conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct Script {
    /// At least one turn of each side, at most [`MAX_TURNS`].
    pub transcript: Vec<Turn>,
    /// What its answers captured.
    pub extracted: Map<String, Value>,
    /// The edges that it took, each with how often.
    pub path: Vec<EdgeVisits>,
}

/// Plays a flow. Every question gets a valid answer (`yes`, `42`, the first choice, a short sentence), and
/// every tool and transfer succeeds. Where a model would talk, the agent introduces itself, the customer
/// answers, and the first exit is taken. The same flow and variables always give the same script.
pub fn placeholder(flow: &Arc<Flow>, variables: &Map<String, Value>) -> Script {
    placeholder_with(flow, variables, &mut |_| true)
}

/// Like [`placeholder`]; `connects` says whether a transfer to these numbers succeeds.
pub fn placeholder_with(
    flow: &Arc<Flow>,
    variables: &Map<String, Value>,
    connects: &mut dyn FnMut(&[String]) -> bool,
) -> Script {
    let mut conversation =
        Conversation::new(Arc::clone(flow), variables.clone(), ConversationSettings::of(Channel::Call, "en"));
    // Its answers are the same whatever the day is.
    conversation.set_now(0);
    let mut opened = false;
    let mut next = Some(Input::Started);
    for _ in 0..MAX_INPUTS {
        let Some(input) = next.take() else { break };
        let mut outputs = conversation.step(input);
        // Nobody listens, so every word counts as spoken at once.
        outputs.extend(conversation.step(Input::Sounded { said: u64::MAX }));
        next = outputs.into_iter().rev().find_map(|output| reply(flow, output, &mut opened, connects));
        if conversation.transcript().len() >= MAX_TURNS {
            break;
        }
    }
    let ended = conversation.ended().is_some();
    Script {
        transcript: shorten(conversation.transcript(), ended),
        extracted: conversation.extracted().clone(),
        path: conversation.path(),
    }
}

/// The input that answers an output; `None` when it needs no answer.
fn reply(
    flow: &Flow,
    output: Output,
    opened: &mut bool,
    connects: &mut dyn FnMut(&[String]) -> bool,
) -> Option<Input> {
    match output {
        Output::Listen { node_id, expected } => {
            Some(Input::Heard { text: answer(flow, &node_id, &expected) })
        }
        Output::AskModel { request, node_id, prompt, opening, .. } => {
            let text = match (opening, std::mem::replace(opened, true)) {
                (true, false) => introduction(&prompt),
                (true, true) => "May I go on?".to_owned(),
                (false, _) => "Thank you, that is all.".to_owned(),
            };
            let leads_on = matches!(flow.node(&node_id).map(|node| &node.kind), Some(NodeKind::Converse(converse)) if !converse.exits.is_empty());
            let (exit, end) = ((leads_on && !opening).then_some(0), !leads_on && !opening);
            Some(Input::ModelSaid { request, text, exit, tool_calls: Vec::new(), end, outcome: None })
        }
        Output::CallTool { request, .. } => {
            Some(Input::ToolAnswered { request, value: Value::from("simulated") })
        }
        Output::Transfer { request, numbers, .. } if connects(&numbers) => {
            Some(Input::TransferDone { request })
        }
        Output::Transfer { request, .. } => Some(Input::TransferFailed { request }),
        Output::AskDocument { .. } => Some(Input::DocumentChecked { accepted: true, fields: Map::new() }),
        Output::Say { .. } | Output::StopSaying | Output::SendMessage { .. } | Output::End { .. } => None,
    }
}

fn answer(flow: &Flow, node_id: &str, expected: &Expected) -> String {
    let asked = matches!(flow.node(node_id).map(|node| &node.kind), Some(NodeKind::Collect(_)));
    match expected.kind {
        FieldKind::Text if asked => "Sure, thank you.".to_owned(),
        FieldKind::Text => "Hello, yes, please go on.".to_owned(),
        FieldKind::Boolean => "Yes".to_owned(),
        FieldKind::Number => "42".to_owned(),
        FieldKind::Date => "15 August 2030".to_owned(),
        FieldKind::Time => "5 pm".to_owned(),
        FieldKind::Amount => "1500 rupees".to_owned(),
        FieldKind::Phone => "98765 43210".to_owned(),
        FieldKind::Email => "asha@example.com".to_owned(),
        FieldKind::Pincode => "560001".to_owned(),
        FieldKind::Choice => expected
            .choices
            .iter()
            .find(|choice| !choice.trim().is_empty())
            .cloned()
            .unwrap_or_else(|| "Yes".to_owned()),
    }
}

/// The opening line where a model would speak. Only a leading `You are …` of the prompt is used, rephrased
/// and cut to its first clause, so that the placeholder does not read out the agent's instructions.
fn introduction(prompt: &str) -> String {
    let prompt = prompt.trim_start();
    let persona = ["You are ", "You're ", "Act as "].iter().find_map(|start| {
        let (head, rest) = (prompt.get(..start.len())?, prompt.get(start.len()..)?);
        head.eq_ignore_ascii_case(start).then_some(rest)
    });
    let clause = persona
        .and_then(|rest| rest.split(['.', ',', ';', ':', '!', '?', '\n', '{']).next())
        .map(str::trim)
        .unwrap_or_default();
    if (2..=60).contains(&clause.chars().count()) {
        format!("{OPENING} I am {clause}.")
    } else {
        OPENING.to_owned()
    }
}

/// Cuts the transcript to [`MAX_TURNS`] turns, and makes sure that each side has a turn and that the agent
/// says goodbye if the flow did not end.
fn shorten(mut transcript: Vec<Turn>, ended: bool) -> Vec<Turn> {
    let turn = |role, text: &str| Turn { role, text: text.to_owned() };
    if transcript.iter().all(|turn| turn.role == Role::Customer) {
        transcript.insert(0, turn(Role::Agent, OPENING));
    }
    if transcript.len() > MAX_TURNS || !ended {
        transcript.truncate(MAX_TURNS - 1);
        transcript.push(turn(Role::Agent, CLOSING));
    }
    if transcript.iter().all(|turn| turn.role == Role::Agent) {
        transcript.truncate(MAX_TURNS - 1);
        transcript.push(turn(Role::Customer, "Okay, thank you."));
    }
    transcript
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::one_step;
    use serde_json::json;

    fn played(flow: Flow, variables: Value) -> (Vec<String>, Value) {
        let script = placeholder(&Arc::new(flow), &variables.as_object().cloned().unwrap_or_default());
        assert!(script.transcript.len() <= MAX_TURNS);
        for role in [Role::Agent, Role::Customer] {
            assert!(script.transcript.iter().any(|turn| turn.role == role && !turn.text.trim().is_empty()));
        }
        let turn = |turn: &Turn| {
            format!("{}: {}", if turn.role == Role::Agent { "agent" } else { "customer" }, turn.text)
        };
        (script.transcript.iter().map(turn).collect(), Value::Object(script.extracted))
    }

    #[test]
    fn a_one_step_agent() {
        let flow = one_step("You are {{agent}} from Acme Bank. Never mention the discount.", &[], true);
        let (transcript, extracted) = played(flow, json!({"agent": "Asha"}));
        let expected = [
            "agent: Hello, this is a simulated call. I am Asha from Acme Bank.",
            "customer: Hello, yes, please go on.",
            "agent: Thank you, that is all.",
        ];
        assert_eq!((transcript.as_slice(), extracted), (expected.map(str::to_owned).as_slice(), json!({})));
        assert_eq!(played(one_step("", &[], false), json!({})).0.len(), 3);
        assert_eq!(
            played(one_step("Remind about the overdue amount.", &[], false), json!({})).0[0],
            "agent: Hello, this is a simulated call."
        );
    }

    #[test]
    fn questions_are_answered() {
        let flow = Flow::parse(&json!({"startNodeId": "a", "nodes": [
            {"id": "a", "type": "say", "text": "Hello {{name}}", "next": "b"},
            {"id": "b", "type": "collect", "text": "Which plan?", "field": {"key": "plan", "type": "choice", "choices": ["Gold", "Silver"]}, "next": "c"},
            {"id": "c", "type": "collect", "text": "How old?", "field": {"key": "age", "type": "number"}, "next": "d"},
            {"id": "d", "type": "collect", "text": "Agreed?", "field": {"key": "agreed", "type": "boolean"}, "next": "e"},
            {"id": "e", "type": "collect", "text": "Remarks?", "field": {"key": "remarks"}, "next": "f"},
            {"id": "f", "type": "tool", "toolId": "t", "next": "z"},
            {"id": "z", "type": "end", "text": "Bye", "outcome": "interested"}]}));
        let (transcript, extracted) = played(flow.expect("a flow"), json!({"name": "Ravi"}));
        assert_eq!(transcript.first().map(String::as_str), Some("agent: Hello Ravi"));
        assert_eq!(transcript.last().map(String::as_str), Some("agent: Bye"));
        assert_eq!(
            extracted,
            json!({"plan": "Gold", "age": "42", "agreed": true, "remarks": "Sure, thank you."})
        );
    }

    #[test]
    fn any_flow_gives_a_script() {
        let loops =
            json!({"id": "a", "type": "collect", "text": "Again?", "field": {"key": "k"}, "next": "a"});
        for nodes in [
            json!([]),
            json!([{"id": "a", "type": "end"}]),
            json!([loops]),
            json!([{"id": "a", "type": "say", "text": "x", "next": "a"}]),
        ] {
            played(Flow::parse(&json!({"startNodeId": "a", "nodes": nodes})).expect("a flow"), json!({}));
        }
        let long: Vec<Value> =
            (0..30).map(|index| json!({"id": index.to_string(), "type": "say", "text": "x", "next": (index + 1).to_string()})).collect();
        played(Flow::parse(&json!({"startNodeId": "0", "nodes": long})).expect("a flow"), json!({}));
    }
}
