//! Conversations: the flow graph that a client draws and the interpreter that plays it
//! (docs/contract/flows.md).
//!
//! | file | holds |
//! |---|---|
//! | `graph` | the flow as values: nine node types, their fields and edges |
//! | `parse` | JSON to flow and back; what is not a flow graph is refused with the field at fault |
//! | `one_step` | the flow of an agent that has a `systemPrompt` and nothing else |
//! | `check` | issues: what keeps a draft from being published, and what its author should look at |
//! | `template` | `{{name}}` in texts |
//! | `interpreter` | moving through the graph; `talk` is its `converse` node, `branch` its comparisons, `state` its inputs and outputs |
//! | `held` | what waits until the words before it have sounded |
//! | `answers` | what counts as an answer to a question; `words` and `numbers` read what was said |
//! | `phrases` | the few sentences of the interpreter's own |
//! | `script` | the placeholder conversation of simulated calls |
//!
//! The life of a conversation: [`Conversation::new`] with a published flow and the call's variables;
//! [`Input::Started`]; then whoever carries the words does what [`Conversation::step`] returns, in order, and
//! reports back with the next input. Words that are spoken take time: [`Input::Sounded`] reports each text
//! that was heard to its end, and only then comes what the flow does after it. [`Output::End`] is the last. A
//! chat stores [`Conversation::state`] between two messages and goes on with [`Conversation::resume`].
//!
//! Invariants: nothing here waits, reads a clock or draws a random number; no input panics; an input that
//! does not fit changes nothing; every run of outputs is finite; no tool, transfer, message or end comes
//! before the words before it have sounded; after the end there is nothing.

mod answers;
mod branch;
mod check;
mod graph;
mod held;
mod interpreter;
mod numbers;
mod one_step;
mod parse;
mod phrases;
mod script;
mod state;
mod talk;
mod template;
pub(crate) mod words;

#[cfg(test)]
mod held_tests;
#[cfg(test)]
mod interpreter_tests;
#[cfg(test)]
mod property_tests;

pub use answers::{MAX_ANSWER, capture, capture_digits};
pub use check::{Channel, CheckFacts, Issue, Level, blocks_publishing, check, is_plus_91};
pub use graph::{
    Branch, Case, Collect, Converse, DEFAULT_ATTEMPTS, DEFAULT_MAX_TURNS, Document, Edge, End, Exit, Field,
    FieldKind, Flow, Message, Node, NodeKind, Op, Say, Tool, Transfer, TransferMode, Variable,
};
pub use interpreter::{Conversation, MAX_HEARD, MAX_REQUESTS, MAX_SILENCES};
pub use one_step::{CONVERSE_ID, END_ID, one_step};
pub use parse::{GraphError, MAX_LIST, MAX_NODES, MAX_TEXT, MAX_VARIABLES};
pub use phrases::Phrases;
pub use script::{Script, placeholder, placeholder_with};
pub use state::{
    EndCause, Ended, Exchange, Expected, Input, ModelToolCall, Output, Role, Settings, State, Turn,
};
pub use template::{fill, has_stray_braces, is_name, names, text_of};
