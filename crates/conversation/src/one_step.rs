//! The flow of an agent that has only a `systemPrompt`: one `converse` node and an end.

use std::collections::BTreeMap;

use super::graph::{Converse, DEFAULT_MAX_TURNS, End, Exit, Flow, Node, NodeKind, Variable};
use super::template;

/// Id of the `converse` node.
pub const CONVERSE_ID: &str = "converse_1";
/// Id of the `end` node after it.
pub const END_ID: &str = "end_1";

/// The instructions of an agent without a prompt. `systemPrompt` is empty by default, and the flow must still
/// be publishable.
const DEFAULT_PROMPT: &str = "You are a polite assistant. Greet the person, ask how you can help, answer in one or two short sentences, \
     and close the conversation politely when nothing is left to do.";
const EXIT: &str = "The conversation has come to its natural end, or the person wants to stop.";

/// The one-step flow: one `converse` node with the prompt, tools and knowledge of the agent, then `end`.
/// Every `{{name}}` in the prompt becomes a required variable (docs/contract/flows.md#one-step-flow). The
/// flow itself has no issues; `check` finds unknown tools.
pub fn one_step(system_prompt: &str, tool_ids: &[String], use_knowledge: bool) -> Flow {
    let prompt = if system_prompt.trim().is_empty() { DEFAULT_PROMPT } else { system_prompt };
    let variable =
        |name: &str| Variable { name: name.to_owned(), required: true, default: None, description: None };
    let converse = Converse {
        prompt: prompt.to_owned(),
        use_knowledge,
        tool_ids: tool_ids.to_vec(),
        exits: vec![Exit { when: EXIT.to_owned(), next: Some(END_ID.to_owned()) }],
        max_turns: DEFAULT_MAX_TURNS,
    };
    Flow {
        start_node_id: Some(CONVERSE_ID.to_owned()),
        nodes: vec![
            Node {
                id: CONVERSE_ID.to_owned(),
                name: None,
                kind: NodeKind::Converse(converse),
                texts: BTreeMap::new(),
            },
            Node {
                id: END_ID.to_owned(),
                name: None,
                kind: NodeKind::End(End::default()),
                texts: BTreeMap::new(),
            },
        ],
        variables: template::names(prompt).into_iter().map(variable).collect(),
    }
}
