//! Flows from clients, and the conversations that they produce.

use std::collections::BTreeSet;
use std::sync::Arc;

use domain::conversation::{
    Channel, CheckFacts, Conversation, ConversationSettings, Flow, Input, MAX_NODES, MAX_REQUESTS,
    ModelToolCall, Output, Role, State, check, is_plus_91, placeholder,
};
use serde_json::{Map, Value, json};

use crate::bodies;
use crate::draw::Draw;

/// Most bytes of text in one output: texts have up to 16,000 characters, and values add a limited amount.
const MOST_TEXT: usize = 512 * 1024;

/// A flow graph as JSON.
///
/// Writing and reading an accepted graph changes nothing, the number of its issues is limited, and a
/// conversation can be played on it.
pub fn json(data: &[u8]) {
    let Ok(graph) = serde_json::from_slice::<Value>(data) else { return };
    match Flow::parse(&graph) {
        Ok(flow) => judged(&flow),
        Err(error) => assert!(!error.field.is_empty() && !error.message.is_empty()),
    }
}

/// Properties of every flow that could be read.
pub(crate) fn judged(flow: &Flow) {
    assert!(flow.nodes.len() <= MAX_NODES);
    assert_eq!(Flow::parse(&flow.to_json()).as_ref(), Ok(flow), "written and read again");
    let tools = BTreeSet::from(["t".to_owned()]);
    for channel in [Channel::Call, Channel::Chat] {
        let issues =
            check(flow, &CheckFacts { channel, languages: &[], tool_ids: &tools, is_indian: is_plus_91 });
        assert!(issues.len() <= 1000, "{} issues", issues.len());
    }
    let flow = Arc::new(flow.clone());
    let script = placeholder(&flow, &Map::new());
    assert!(
        !script.transcript.is_empty() && script.transcript.len() <= 100,
        "{} turns",
        script.transcript.len()
    );
    let mut conversation = Conversation::new(flow, Map::new(), ConversationSettings::of(Channel::Call, "en"));
    take(&mut conversation, Input::Started);
    take(&mut conversation, Input::Heard { text: "yes".into() });
}

/// A graph and inputs generated from the bytes: any nodes, any edges, any inputs in any order.
///
/// After every input, once its words have been spoken, the conversation waits for something or is over.
/// Nothing comes after its end. Texts are numbered without gaps. Writing and reading its state changes
/// nothing. The amount of text is limited, and so is the number of requests without an input of the customer.
pub fn play(data: &[u8]) {
    let mut draw = Draw::new(data);
    let graph = drawn(&mut draw);
    let flow = match Flow::parse(&graph) {
        Ok(flow) => flow,
        Err(error) => panic!("a graph by its shape was refused: {error}"),
    };
    judged(&flow);
    let channel = draw.of(&[Channel::Call, Channel::Chat]);
    let variables = json!({"name": draw.text(), "k1": 7}).as_object().cloned().unwrap_or_default();
    let mut conversation = Conversation::new(
        Arc::new(flow),
        variables,
        ConversationSettings::of(channel, draw.of(&["en", "hi", "xx"])),
    );
    let mut outputs = take(&mut conversation, Input::Started);
    outputs.extend(take(&mut conversation, Input::Sounded { said: u64::MAX }));
    assert!(waits_or_ends(&outputs), "started and waits for nothing: {outputs:?}");
    let mut said = texts(&outputs, 0);
    let mut unheard = 0;
    while !draw.is_empty() {
        let (input, customer) = input(&mut draw, &outputs);
        unheard = if customer { 0 } else { unheard };
        let mut more = take(&mut conversation, input);
        if draw.one_in(2) {
            more.extend(take(&mut conversation, Input::Sounded { said: u64::MAX }));
        }
        said = texts(&more, said);
        unheard += more.iter().filter(|output| asks(output)).count();
        assert!(unheard <= 12 * MAX_REQUESTS as usize, "{unheard} requests without an input of the customer");
        if !more.is_empty() {
            outputs = more;
        }
    }
    let turns = conversation.transcript();
    assert!(turns.iter().all(|turn| !turn.text.trim().is_empty()), "a blank turn");
}

/// The number of the newest text; each is one more than the one before.
fn texts(outputs: &[Output], before: u64) -> u64 {
    outputs.iter().fold(before, |before, output| match output {
        Output::Say { said, .. } => {
            assert_eq!(*said, before + 1, "texts are numbered without gaps");
            *said
        }
        _ => before,
    })
}

fn asks(output: &Output) -> bool {
    matches!(output, Output::AskModel { .. } | Output::CallTool { .. } | Output::Transfer { .. })
}

/// One input, and the properties that hold after each.
fn take(conversation: &mut Conversation, input: Input) -> Vec<Output> {
    let over = conversation.ended().is_some();
    let outputs = conversation.step(input);
    assert!(!over || outputs.is_empty(), "something after the end");
    assert!(outputs.len() <= 4 * conversation.flow().nodes.len() + 24, "{} outputs", outputs.len());
    let ends = outputs.iter().filter(|output| matches!(output, Output::End { .. })).count();
    let last = matches!(outputs.last(), Some(Output::End { .. }));
    assert_eq!(ends, usize::from(last), "the end is the last output");
    assert_eq!(conversation.ended().is_some(), over || last);
    let size: usize = outputs.iter().map(size).sum();
    assert!(size <= MOST_TEXT * (1 + outputs.len()), "{size} bytes for one input");
    let stored = serde_json::to_value(conversation.state()).expect("plain data");
    assert_eq!(&serde_json::from_value::<State>(stored).expect("reads back"), conversation.state());
    outputs
}

fn size(output: &Output) -> usize {
    match output {
        Output::Say { text, .. } => text.len(),
        Output::AskModel { prompt, exits, .. } => prompt.len() + exits.iter().map(String::len).sum::<usize>(),
        Output::CallTool { arguments, .. } => Value::Object(arguments.clone()).to_string().len(),
        Output::SendMessage { template, text, .. } => {
            text.len() + template.as_ref().map_or(0, |template| template.to_string().len())
        }
        Output::AskDocument { label, .. } => label.len(),
        _ => 0,
    }
}

fn waits_or_ends(outputs: &[Output]) -> bool {
    let waits = |output: &Output| {
        asks(output)
            || matches!(output, Output::Listen { .. } | Output::AskDocument { .. } | Output::End { .. })
    };
    awaited(outputs).is_some_and(waits)
}

/// The outputs that wait for an answer; messages do not.
fn awaited(outputs: &[Output]) -> Option<&Output> {
    outputs.iter().rfind(|output| !matches!(output, Output::SendMessage { .. }))
}

const NODES: usize = 12;

fn edge(draw: &mut Draw<'_>) -> Value {
    match draw.below(NODES + 2) {
        at if at < NODES => json!(at.to_string()),
        at if at == NODES => json!("nowhere"),
        _ => Value::Null,
    }
}

fn words(draw: &mut Draw<'_>) -> Value {
    match draw.below(8) {
        0 => json!("Hello {{name}}"),
        1 => json!("{{k0}} {{saved}} {{saved_a}} {{unknown}}"),
        2 => json!(""),
        3 => json!("क्या?"),
        4 => json!("{{saved}}".repeat(1 + draw.below(40))),
        5 => json!("{{name}}{{name}}"),
        _ => json!(draw.text()),
    }
}

fn node(id: usize, draw: &mut Draw<'_>) -> Value {
    let id = id.to_string();
    let key = draw.of(&["name", "k0", "k1", "saved", ""]);
    let kind = draw.of(&["text", "boolean", "number", "choice"]);
    let op = draw.of(&["eq", "ne", "lt", "gt", "in", "exists"]);
    let count = 1 + draw.below(10);
    match draw.below(9) {
        0 => json!({"id": id, "type": "say", "text": words(draw), "next": edge(draw)}),
        1 => {
            json!({"id": id, "type": "collect", "text": words(draw), "field": {"key": key, "type": kind, "choices": ["Gold", "2 BHK", draw.text()]},
            "attempts": count, "next": edge(draw), "onFail": edge(draw)})
        }
        2 => {
            let exits: Vec<Value> =
                (0..draw.below(4)).map(|_| json!({"when": words(draw), "next": edge(draw)})).collect();
            json!({"id": id, "type": "converse", "prompt": words(draw), "toolIds": ["t"], "exits": exits, "maxTurns": count})
        }
        3 => {
            let cases: Vec<Value> = (0..draw.below(4))
                .map(|_| json!({"variable": draw.of(&["name", "k0", "k1", "saved", "saved_a"]), "op": op, "value": bodies::any(draw, 4), "next": edge(draw)}))
                .collect();
            json!({"id": id, "type": "branch", "cases": cases, "otherwise": edge(draw)})
        }
        4 => {
            json!({"id": id, "type": "tool", "toolId": "t", "arguments": {"a": words(draw), "b": bodies::any(draw, 4)}, "saveAs": "saved", "next": edge(draw),
            "onError": edge(draw)})
        }
        5 => {
            json!({"id": id, "type": "transfer", "transferNumbers": ["+919876543210"], "text": words(draw), "mode": draw.of(&["warm", "cold"]), "onFail": edge(draw)})
        }
        6 => json!({"id": id, "type": "message", "text": words(draw), "next": edge(draw)}),
        7 => {
            json!({"id": id, "type": "document", "label": words(draw), "fields": ["k2"], "attempts": count, "next": edge(draw), "onFail": edge(draw)})
        }
        _ => json!({"id": id, "type": "end", "text": words(draw), "outcome": draw.of(&["done", ""])}),
    }
}

fn drawn(draw: &mut Draw<'_>) -> Value {
    let many = draw.below(NODES + 1);
    let nodes: Vec<Value> = (0..many).map(|id| node(id, draw)).collect();
    json!({"startNodeId": "0", "nodes": nodes, "variables": [{"name": "name"}, {"name": "saved"}, {"name": "k0", "default": 3}, {"name": "k1", "required": true}]})
}

/// An input, mostly an answer to the last output, and whether it comes from the customer.
fn input(draw: &mut Draw<'_>, outputs: &[Output]) -> (Input, bool) {
    let request = match awaited(outputs) {
        Some(
            Output::AskModel { request, .. }
            | Output::CallTool { request, .. }
            | Output::Transfer { request, .. },
        ) if !draw.one_in(8) => *request,
        _ => draw.below(60) as u64,
    };
    let input = match draw.below(20) {
        0..=2 => Input::Heard { text: heard(draw) },
        3 => Input::SpeechBegan,
        4 | 5 => Input::Digit { key: draw.of(&['0', '1', '9', '*', '#', 'x']) },
        6 => Input::DigitsPaused,
        7 => Input::Silence,
        8..=10 => {
            let call = |draw: &mut Draw<'_>| ModelToolCall {
                tool_id: draw.of(&["t", "other"]).to_owned(),
                arguments: Map::new(),
            };
            let tool_calls = (0..draw.below(12).saturating_sub(6)).map(|_| call(draw)).collect();
            let exit = draw.one_in(2).then(|| draw.below(4));
            Input::ModelSaid {
                request,
                text: draw.text(),
                exit,
                tool_calls,
                end: draw.one_in(6),
                outcome: draw.one_in(3).then(|| draw.text()),
            }
        }
        11 => Input::ModelFailed { request },
        12 => Input::ToolAnswered { request, value: bodies::any(draw, 2) },
        13 => {
            let long = draw.text().repeat(usize::from(draw.byte()));
            let keys: Map<String, Value> =
                (0..draw.below(64)).map(|key| (format!("{}{key}", draw.byte()), json!(key))).collect();
            let value = if draw.of(&[true, false]) { json!(long) } else { Value::Object(keys) };
            Input::ToolAnswered { request, value }
        }
        14 => Input::ToolFailed { request, reason: draw.text() },
        15 if draw.of(&[true, false]) => Input::TransferDone { request },
        15 if draw.of(&[true, false]) => Input::HandedBack { request },
        15 => Input::TransferFailed { request },
        16 => {
            let fields = bodies::any(draw, 6).as_object().cloned().unwrap_or_default();
            Input::DocumentChecked { accepted: draw.one_in(2), fields }
        }
        17 => Input::Sounded { said: u64::from(draw.byte()) },
        18 => Input::Noted { role: draw.of(&[Role::Agent, Role::Customer]), text: draw.text() },
        _ => Input::CutOff { turns: draw.below(4), heard: draw.text() },
    };
    let customer = matches!(
        input,
        Input::Heard { .. }
            | Input::Digit { .. }
            | Input::DigitsPaused
            | Input::Silence
            | Input::DocumentChecked { .. }
    );
    (input, customer)
}

fn heard(draw: &mut Draw<'_>) -> String {
    match draw.below(4) {
        0 => draw.of(&["yes", "nahi", "forty two", "gold", "2 BHK", "haan ji"]).to_owned(),
        1 => draw.text().repeat(1 + draw.below(40)),
        _ => draw.text(),
    }
}
