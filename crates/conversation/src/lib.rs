//! Conversations: the flow graph that a client draws and the interpreter that plays it
//! (docs/contract/flows.md).
//!
//! | file | holds |
//! |---|---|
//! | `graph` | the flow as data: nine node types, their fields and edges |
//! | `parse` | JSON to flow and back; an error names the invalid field |
//! | `one_step` | the flow of an agent that has only a `systemPrompt` |
//! | `check` | issues: what prevents a draft from being published, and what its author should look at |
//! | `diff` | what changed between two graphs |
//! | `template` | `{{name}}` in texts |
//! | `state` | inputs and outputs of a conversation, and what it keeps between them |
//! | `path` | the edges that a conversation took, and where a flow could not go on |
//! | `effects` | the interpreter's outputs, given at once or when the words before them have been spoken |
//! | `interpreter` | moving through the graph; `talk` is its `converse` node, `collect` its answers, `branch` its comparisons |
//! | `answers` | what counts as an answer to a question; `words` splits what was said, `language` knows what the words mean |
//! | `yes_no` | the words of yes, no and choices of each language (`languages/*/answers.toml`) |
//! | `phrases` | the interpreter's own sentences; `read_back` a value that is to be confirmed |
//! | `speakable` | what a voice is given for a text: numbers, dates, addresses in words |
//! | `redaction` | finds card numbers, OTPs and their like in what is said |
//! | `secrets` | answers that are kept in memory only, for one tool |
//! | `script` | the placeholder conversation of simulated calls |
//!
//! The life of a conversation: [`Conversation::new`] with a published flow and the call's variables, then
//! [`Input::Started`]. From there on the caller does what [`Conversation::step`] returns, in order, and
//! reports back with the next input. Spoken words take time: [`Input::Sounded`] reports each text that was
//! spoken to its end, and what the flow does after the text comes only then. [`Output::End`] is the last
//! output. A chat stores [`Conversation::state`] between two messages and continues with
//! [`Conversation::resume`].
//!
//! Invariants: nothing here waits, reads a clock or draws a random number; no input panics; an input that
//! does not fit changes nothing; every input has a finite list of outputs; no tool, transfer, message or end
//! comes before the preceding words have been spoken; nothing comes after the end.

mod answers;
mod branch;
mod channel;
mod check;
mod collect;
mod diff;
mod effects;
mod graph;
mod interpreter;
mod language;

mod one_step;
mod parse;
mod path;
mod phrases;
mod read_back;
pub mod redaction;
mod script;
mod secrets;
pub mod speakable;
pub mod speech;
mod state;
mod talk;
mod template;
mod words;
mod yes_no;

#[cfg(test)]
mod collect_tests;
#[cfg(test)]
mod follow_tests;
#[cfg(test)]
mod held_tests;
#[cfg(test)]
mod interpreter_tests;
#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod secrets_tests;

pub use answers::{MAX_ANSWER, capture, capture_digits};
pub use branch::compares;
pub use channel::Channel;
pub use check::{CheckFacts, Issue, Level, blocks_publishing, check, is_plus_91};
pub use diff::{ChangeKind, FlowChange, MAX_CHANGES, changes};
pub use effects::{MAX_HEARD, MAX_REQUESTS};
pub use graph::{
    Branch, Case, Collect, Converse, DEFAULT_ATTEMPTS, DEFAULT_MAX_TURNS, Document, Edge, End, Exit, Field,
    FieldKind, Flow, Message, Node, NodeKind, Op, Say, Tool, Transfer, TransferMode, Variable,
};
pub use interpreter::{AskedDocument, Conversation, MAX_SILENCES};
pub use language::calendar::Moment;
pub use one_step::{CONVERSE_ID, END_ID, one_step};
pub use parse::{GraphError, MAX_LIST, MAX_NODES, MAX_TEXT, MAX_VARIABLES};
pub use path::{EdgeVisits, MAX_EDGES, START, StopReason, Stopped, TakenEdge};
pub use phrases::Phrases;
pub use script::{Script, placeholder, placeholder_with};
pub use state::{
    ConversationSettings, EndCause, Ended, Exchange, Expected, Input, ModelToolCall, Output, Role, State,
    Turn,
};
pub use template::{fill, fill_value, has_stray_braces, is_name, names, text_of};
