//! For any graph and any inputs, a conversation ends or waits.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::channel::Channel;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::check::{CheckFacts, blocks_publishing, check, is_plus_91};
use super::effects::MAX_REQUESTS;
use super::graph::{Flow, NodeKind, TransferMode};
use super::interpreter::Conversation;
use super::script::{MAX_TURNS, placeholder};
use super::state::{ConversationSettings, EndCause, Input, ModelToolCall, Output, Role};
use super::{answers, language::numbers, template};

/// Most nodes of a generated graph.
const NODES: usize = 8;

/// An edge: to any node, to one that does not exist, or missing.
fn any_edge() -> BoxedStrategy<Value> {
    prop_oneof![8 => (0..NODES).prop_map(|to| json!(to.to_string())), 1 => Just(json!("nowhere")), 1 => Just(Value::Null)].boxed()
}

fn any_text() -> BoxedStrategy<Value> {
    prop_oneof![
        Just(json!("Hello {{name}}")),
        Just(json!("{{k0}} {{saved}} {{unknown}}")),
        Just(json!("")),
        Just(json!("क्या?"))
    ]
    .boxed()
}

/// A node of any type whose edges come from `edge` and texts from `text`.
fn any_node(id: usize, edge: BoxedStrategy<Value>, text: BoxedStrategy<Value>) -> BoxedStrategy<Value> {
    let parts = (edge.clone(), edge.clone(), edge, text, 1u32..4, 0usize..4);
    let make = move |(kind, (next, other, third, text, count, pick)): (
        usize,
        (Value, Value, Value, Value, u32, usize),
    )| {
        let id = id.to_string();
        let field = ["text", "boolean", "number", "choice"][pick];
        let op = ["eq", "ne", "gt", "exists"][pick];
        match kind {
            0 => json!({"id": id, "type": "say", "text": text, "texts": {"ta": text}, "next": next}),
            1 => {
                json!({"id": id, "type": "collect", "text": text, "field": {"key": format!("k{pick}"), "type": field, "choices": ["Gold", "2 BHK"]},
                "attempts": count, "next": next, "onFail": other})
            }
            2 => {
                json!({"id": id, "type": "converse", "prompt": text, "toolIds": ["t"], "exits": [{"when": "x", "next": next}, {"when": "y", "next": other}],
                "maxTurns": count})
            }
            3 => json!({"id": id, "type": "converse", "prompt": text, "maxTurns": count}),
            4 => {
                json!({"id": id, "type": "branch", "cases": [{"variable": "name", "op": op, "value": "Asha", "next": next},
                {"variable": "k1", "op": op, "value": 1, "next": third}], "otherwise": other})
            }
            5 => {
                json!({"id": id, "type": "tool", "toolId": "t", "arguments": {"a": text}, "saveAs": "saved", "next": next, "onError": other})
            }
            6 => {
                json!({"id": id, "type": "transfer", "transferNumbers": ["+919876543210"], "text": text, "onFail": other})
            }
            7 => json!({"id": id, "type": "message", "text": text, "next": next}),
            8 => {
                json!({"id": id, "type": "document", "label": text, "fields": ["k2"], "attempts": count, "next": next, "onFail": other})
            }
            _ => json!({"id": id, "type": "end", "text": text, "outcome": "done"}),
        }
    };
    ((0usize..10), parts).prop_map(make).boxed()
}

fn graph(nodes: Vec<Value>) -> Value {
    json!({"startNodeId": "0", "nodes": nodes, "variables": [{"name": "name"}, {"name": "saved"}, {"name": "k0"}, {"name": "k1"}, {"name": "k3", "default": 1}]})
}

/// Any graph, including cycles and dangling edges.
fn any_graph() -> impl Strategy<Value = Value> {
    let nodes: Vec<_> = (0..NODES).map(|id| any_node(id, any_edge(), any_text())).collect();
    (nodes, 0..=NODES).prop_map(|(mut nodes, keep)| {
        nodes.truncate(keep);
        graph(nodes)
    })
}

/// A graph with all edges set, which lead to any node or only forward.
fn complete_graph(forward: bool) -> impl Strategy<Value = Value> {
    let text = || Just(json!("Hello {{name}}")).boxed();
    let node = |id: usize| {
        let from = if forward { id + 1 } else { 0 };
        any_node(id, (from..NODES).prop_map(|to| json!(to.to_string())).boxed(), text())
    };
    let nodes: Vec<_> = (0..NODES - 1).map(node).collect();
    nodes.prop_map(|mut nodes| {
        nodes.push(json!({"id": (NODES - 1).to_string(), "type": "end", "outcome": "done"}));
        graph(nodes)
    })
}

fn any_input() -> impl Strategy<Value = Input> {
    let text = prop_oneof![
        Just("yes"),
        Just("haan"),
        Just("42"),
        Just("gold"),
        Just("what?"),
        Just("எனக்கு புரியல, தமிழ்ல சொல்லுங்க"),
        Just("मुझे हिंदी में बताइए, मैं समझा नहीं"),
        Just("could you tell me that in English"),
        Just("haan but I do not want abhi"),
        Just(" "),
        Just("two bhk")
    ];
    let request = || 0u64..12;
    let tools = || prop_oneof![3 => Just(vec![]), 1 => Just(vec!["t"]), 1 => Just(vec!["t", "other", "t"])];
    let call = |tool_id: &str| ModelToolCall { tool_id: tool_id.to_owned(), arguments: Map::new() };
    let said = (request(), any_text(), proptest::option::of(0usize..3), tools(), any::<bool>()).prop_map(
        move |(request, text, exit, tools, end)| {
            let text = text.as_str().unwrap_or_default().to_owned();
            Input::ModelSaid {
                request,
                text,
                exit,
                tool_calls: tools.into_iter().map(call).collect(),
                end,
                outcome: None,
            }
        },
    );
    prop_oneof![
        1 => Just(Input::Started),
        1 => Just(Input::SpeechBegan),
        4 => (0u64..12).prop_map(|said| Input::Sounded { said }),
        4 => text.prop_map(|text| Input::Heard { text: text.into() }),
        2 => proptest::sample::select("019*#x".chars().collect::<Vec<_>>()).prop_map(|key| Input::Digit { key }),
        1 => Just(Input::DigitsPaused),
        1 => Just(Input::Silence),
        3 => said,
        1 => request().prop_map(|request| Input::ModelFailed { request }),
        2 => request().prop_map(|request| Input::ToolAnswered { request, value: json!({"a": 1}) }),
        1 => request().prop_map(|request| Input::ToolFailed { request, reason: "down".into() }),
        1 => request().prop_map(|request| Input::TransferDone { request }),
        1 => request().prop_map(|request| Input::TransferFailed { request }),
        1 => request().prop_map(|request| Input::HandedBack { request }),
        1 => any::<bool>().prop_map(|accepted| Input::DocumentChecked { accepted, fields: Map::new() }),
        1 => Just(Input::Noted { role: Role::Agent, text: "hm".into() }),
        1 => (0usize..4).prop_map(|turns| Input::CutOff { turns, heard: "ye".into() }),
        1 => Just(Input::HungUp),
    ]
}

fn conversation(graph: &Value, channel: Channel) -> Conversation {
    let variables = json!({"name": "Asha"}).as_object().cloned().unwrap_or_default();
    Conversation::new(
        Arc::new(Flow::parse(graph).expect("a graph by shape")),
        variables,
        ConversationSettings::of(channel, "en").following(&["hi".to_owned(), "ta".to_owned()]),
    )
}

/// One input, after which every word is spoken to its end.
fn heard_out(conversation: &mut Conversation, input: Input) -> Vec<Output> {
    let mut outputs = conversation.step(input);
    outputs.extend(conversation.step(Input::Sounded { said: u64::MAX }));
    outputs
}

/// The number of texts that an output must wait for, given how many were said. A warm transfer may ring while
/// its own text is being spoken.
fn waits_for(output: &Output, flow: &Flow, said: u64) -> Option<u64> {
    match output {
        Output::CallTool { .. } => Some(said),
        Output::Transfer { mode: TransferMode::Cold, .. } => Some(said),
        Output::Transfer { node_id, .. } => {
            let own = matches!(flow.node(node_id).map(|node| &node.kind), Some(NodeKind::Transfer(transfer)) if !transfer.text.is_empty());
            Some(said.saturating_sub(u64::from(own)))
        }
        Output::End { cause: EndCause::CallerHangup | EndCause::TransferHandoff, .. } => None,
        Output::End { .. } => Some(said),
        // Words of later nodes may come before it.
        Output::SendMessage { .. } => None,
        Output::Say { .. }
        | Output::StopSaying
        | Output::Listen { .. }
        | Output::AskModel { .. }
        | Output::AskDocument { .. } => None,
    }
}

/// The words, and the effects with the number of words before them, in the order of the flow.
fn in_order(outputs: &[Output]) -> (Vec<String>, Vec<(usize, String)>) {
    let (mut words, mut effects) = (Vec::new(), Vec::new());
    for output in outputs {
        match output {
            Output::Say { text, .. } => words.push(text.clone()),
            Output::SendMessage { .. }
            | Output::CallTool { .. }
            | Output::Transfer { .. }
            | Output::End { .. } => {
                effects.push((words.len(), serde_json::to_string(output).expect("plain data")));
            }
            _ => {}
        }
    }
    (words, effects)
}

/// The outputs that wait for an answer; messages do not.
fn awaited(outputs: &[Output]) -> Option<&Output> {
    outputs.iter().rfind(|output| !matches!(output, Output::SendMessage { .. }))
}

/// Whether an answer will come by itself, the conversation waits for the customer, or it is over.
fn waits_or_ends(outputs: &[Output]) -> bool {
    matches!(
        awaited(outputs),
        Some(
            Output::Listen { .. }
                | Output::AskModel { .. }
                | Output::CallTool { .. }
                | Output::Transfer { .. }
                | Output::AskDocument { .. }
                | Output::End { .. }
        )
    )
}

fn has_no_error(graph: &Value, channel: Channel) -> bool {
    let tools = BTreeSet::from(["t".to_owned()]);
    !blocks_publishing(&check(
        &Flow::parse(graph).expect("a graph by shape"),
        &CheckFacts { channel, languages: &[], tool_ids: &tools, is_indian: is_plus_91 },
    ))
}

/// A cooperative reply to the last output: answers are valid, tools work, and the model takes the exit that
/// `choose` names after the customer has spoken.
fn well_meant(flow: &Flow, outputs: &[Output], choose: usize) -> Option<Input> {
    Some(match awaited(outputs)? {
        Output::Listen { expected, node_id } => {
            let text = match (expected.choices.get(choose % 2), flow.node(node_id).map(|node| &node.kind)) {
                (Some(choice), _) => choice.clone(),
                (None, Some(NodeKind::Collect(_))) => ["yes", "42", "no", "7"][match expected.kind {
                    super::FieldKind::Number => 1 + choose % 2 * 2,
                    _ => choose % 2 * 2,
                }]
                .to_owned(),
                (None, _) => "Go on".to_owned(),
            };
            Input::Heard { text }
        }
        Output::AskModel { request, opening, exits, .. } => {
            let exit = (!opening && !exits.is_empty()).then(|| choose % exits.len());
            Input::ModelSaid {
                request: *request,
                text: "Right.".into(),
                exit,
                tool_calls: vec![],
                end: !opening && exits.is_empty(),
                outcome: None,
            }
        }
        Output::CallTool { request, .. } => Input::ToolAnswered { request: *request, value: json!("fine") },
        Output::Transfer { request, .. } if choose.is_multiple_of(2) => {
            Input::TransferFailed { request: *request }
        }
        Output::Transfer { request, .. } => Input::TransferDone { request: *request },
        Output::AskDocument { .. } => Input::DocumentChecked { accepted: true, fields: Map::new() },
        Output::Say { .. } | Output::StopSaying | Output::SendMessage { .. } | Output::End { .. } => {
            return None;
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, max_global_rejects: 100_000, ..ProptestConfig::default() })]

    #[test]
    fn any_graph_and_any_inputs_end_or_wait(graph in any_graph(), chat in any::<bool>(), inputs in proptest::collection::vec(any_input(), 0..40)) {
        let channel = if chat { Channel::Chat } else { Channel::Call };
        let mut conversation = conversation(&graph, channel);
        for (index, input) in std::iter::once(Input::Started).chain(inputs).enumerate() {
            let over = conversation.ended().is_some();
            let outputs = if chat || index == 0 { heard_out(&mut conversation, input) } else { conversation.step(input) };
            prop_assert!(!over || outputs.is_empty(), "nothing comes after the end");
            prop_assert!(outputs.len() <= 2 * NODES + 12, "outputs are bounded: {}", outputs.len());
            prop_assert!(index > 0 || waits_or_ends(&outputs), "started and waits for nothing: {outputs:?}");
            let ends = outputs.iter().filter(|output| matches!(output, Output::End { .. })).count();
            let last = matches!(outputs.last(), Some(Output::End { .. }));
            prop_assert_eq!(ends, usize::from(last));
            prop_assert_eq!(conversation.ended().is_some(), over || last);
            prop_assert!(["en", "hi", "ta"].contains(&conversation.language()));
            let stored = serde_json::to_value(conversation.state()).expect("plain data");
            prop_assert_eq!(&serde_json::from_value::<super::State>(stored).expect("reads back"), conversation.state());
        }
    }

    #[test]
    fn nothing_runs_on_without_the_customer(graph in any_graph(), chat in any::<bool>(), choose in any::<usize>()) {
        let mut conversation = conversation(&graph, if chat { Channel::Chat } else { Channel::Call });
        let mut outputs = heard_out(&mut conversation, Input::Started);
        let mut answered = 0;
        loop {
            let request = match awaited(&outputs) {
                Some(Output::AskModel { request, .. }) =>
                    Input::ModelSaid { request: *request, text: "x".into(), exit: Some(choose % 2), tool_calls: vec![], end: false, outcome: None },
                Some(Output::CallTool { request, .. }) => Input::ToolFailed { request: *request, reason: "down".into() },
                Some(Output::Transfer { request, .. }) => Input::TransferFailed { request: *request },
                _ => break,
            };
            answered += 1;
            prop_assert!(answered <= MAX_REQUESTS);
            outputs = heard_out(&mut conversation, request);
        }
    }

    #[test]
    fn no_effect_comes_before_the_words_before_it_have_sounded(graph in any_graph(), inputs in proptest::collection::vec(any_input(), 0..40)) {
        let mut conversation = conversation(&graph, Channel::Call);
        let (mut said, mut sounded) = (0, 0);
        for input in std::iter::once(Input::Started).chain(inputs) {
            match &input {
                Input::Sounded { said: up_to } => sounded = sounded.max(said.min(*up_to)),
                Input::CutOff { .. } if conversation.ended().is_none() => sounded = said,
                _ => {}
            }
            for output in conversation.step(input) {
                if let Output::Say { said: number, .. } = &output {
                    said += 1;
                    prop_assert_eq!(*number, said, "texts are numbered without gaps");
                }
                let needed = waits_for(&output, conversation.flow(), said);
                prop_assert!(needed.is_none_or(|needed| sounded >= needed), "{sounded} of {said} have sounded: {output:?}");
            }
        }
    }

    /// A slow voice leads to the same outputs as an instant one, and no output comes before its words.
    #[test]
    fn slow_words_change_when_things_happen_and_nothing_else(graph in any_graph(), choices in proptest::collection::vec(0usize..4, 24)) {
        let (mut quick, mut slow) = (conversation(&graph, Channel::Call), conversation(&graph, Channel::Call));
        let mut input = Some(Input::Started);
        let mut sounded = 0;
        for choose in choices {
            let Some(next) = input.take() else { break };
            // In the quick run, every text has been spoken by the time the next node is entered.
            let quick_out = heard_out(&mut quick, next.clone());
            let mut slow_out = slow.step(next);
            let (words, _) = in_order(&slow_out);
            prop_assert_eq!(&words, &in_order(&quick_out).0, "all words are given out at once");
            for _ in 0..words.len() {
                sounded += 1;
                let more = slow.step(Input::Sounded { said: sounded });
                prop_assert!(in_order(&more).0.is_empty(), "no word waits for words");
                slow_out.extend(more);
            }
            let (quick_effects, slow_effects) = (in_order(&quick_out).1, in_order(&slow_out).1);
            let names = |effects: &[(usize, String)]| effects.iter().map(|(_, effect)| effect.clone()).collect::<Vec<_>>();
            prop_assert_eq!(names(&quick_effects), names(&slow_effects));
            prop_assert_eq!(quick.state(), slow.state());
            input = well_meant(quick.flow(), &quick_out, choose);
        }
    }

    #[test]
    fn a_flow_without_errors_reaches_its_end(graph in complete_graph(true), chat in any::<bool>(), choices in proptest::collection::vec(0usize..4, 64)) {
        let channel = if chat { Channel::Chat } else { Channel::Call };
        prop_assume!(has_no_error(&graph, channel));
        let mut conversation = conversation(&graph, channel);
        let mut outputs = heard_out(&mut conversation, Input::Started);
        for choose in choices {
            let Some(input) = well_meant(conversation.flow(), &outputs, choose) else { break };
            outputs = heard_out(&mut conversation, input);
        }
        let cause = conversation.ended().map(|ended| ended.cause);
        prop_assert!(matches!(cause, Some(EndCause::AgentEnded | EndCause::TransferHandoff)), "{cause:?}");
    }

    #[test]
    fn a_flow_without_errors_never_fails(graph in complete_graph(false), chat in any::<bool>(), choices in proptest::collection::vec(0usize..4, 64)) {
        let channel = if chat { Channel::Chat } else { Channel::Call };
        prop_assume!(has_no_error(&graph, channel));
        let mut conversation = conversation(&graph, channel);
        let mut outputs = heard_out(&mut conversation, Input::Started);
        for choose in choices {
            prop_assert!(waits_or_ends(&outputs), "{outputs:?}");
            let Some(input) = well_meant(conversation.flow(), &outputs, choose) else { break };
            outputs = heard_out(&mut conversation, input);
        }
        prop_assert!(conversation.ended().is_none_or(|ended| ended.cause != EndCause::Error));
    }

    #[test]
    fn any_graph_gives_a_script_and_a_verdict_and_survives_the_way_to_json(graph in any_graph()) {
        let flow = Flow::parse(&graph).expect("a graph by shape");
        prop_assert_eq!(&Flow::parse(&flow.to_json()).expect("its own JSON"), &flow);
        has_no_error(&graph, Channel::Call);
        let script = placeholder(&Arc::new(flow), &Map::new());
        prop_assert!((2..=MAX_TURNS).contains(&script.transcript.len()));
    }

    #[test]
    fn any_words_are_an_answer_or_none(text in "(\\PC| |[0-9.,-]){0,40}", said in "((one|two|oh|twenty|hundred|lakh|crore|double|and|point|minus|k|5|0\\.5|दो|सौ|do|sau) ){0,12}") {
        for text in [text, said] {
            let number = numbers::read(&text, "hi", "");
            prop_assert!(number.is_none_or(|number| number.parse::<f64>().is_ok()));
            for kind in super::FieldKind::all() {
                let field = super::Field { key: "k".into(), kind, choices: vec!["Gold".into(), text.clone(), "one two".into()], ..super::Field::default() };
                answers::capture(&field, &text, "en", super::Moment::in_india(0));
                answers::capture_digits(&field, &text);
            }
        }
    }

    #[test]
    fn any_text_is_filled(text in "(\\PC|\\{\\{|\\}\\}|name| ){0,30}") {
        let filled = template::fill(&text, |_| Some("x".into()));
        prop_assert!(!template::names(&text).is_empty() || filled == text);
    }

    #[test]
    fn any_json_is_a_flow_or_refused(nodes in any::<bool>(), value in any_graph(), at in 0usize..6, wrong in 0usize..4) {
        let wrong = [json!(1), json!([{}]), json!({"a": []}), json!(true)][wrong].clone();
        let key = ["id", "type", "text", "next", "field", "exits"][at];
        let mut graph = value;
        match (nodes, graph["nodes"].get_mut(0).and_then(Value::as_object_mut)) {
            (true, Some(node)) => { node.insert(key.into(), wrong); }
            _ => graph["nodes"] = wrong,
        }
        if let Err(error) = Flow::parse(&graph) {
            prop_assert!(error.field.starts_with("nodes"));
        }
    }
}
