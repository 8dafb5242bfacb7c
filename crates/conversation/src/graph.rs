//! The flow graph as data: drawn by a client, read by `parse.rs`, checked by `check.rs`, played by
//! `interpreter.rs`. Node types and fields: docs/contract/flows.md#nodes. A draft may be incomplete, so every
//! text and every edge may be empty.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Default `attempts` of a `collect` or `document` node.
pub const DEFAULT_ATTEMPTS: u32 = 3;
/// Default `maxTurns` of a `converse` node.
pub const DEFAULT_MAX_TURNS: u32 = 20;

/// A conversation flow: nodes, where it starts, and the variables its texts may use.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Flow {
    /// Id of the node that a conversation enters first; `None` in an unfinished draft.
    pub start_node_id: Option<String>,
    /// The nodes in the client's order; their ids are unique after [`Flow::parse`].
    pub nodes: Vec<Node>,
    /// Variables whose values come from the call, the contact or their default.
    pub variables: Vec<Variable>,
}

/// A variable of a flow, filled into texts where they say `{{name}}`.
#[derive(Debug, Clone, PartialEq)]
pub struct Variable {
    /// A letter or `_`, then letters, digits and `_`; at most 64 characters
    /// (docs/contract/flows.md#variables).
    pub name: String,
    /// Whether a call without a value for it is refused, unless there is a default.
    pub required: bool,
    /// The value when none is supplied: a string, a number or a boolean.
    pub default: Option<Value>,
    /// A label for people.
    pub description: Option<String>,
}

/// One step of a flow.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Unique in the flow, 1-64 characters.
    pub id: String,
    /// A label for people.
    pub name: Option<String>,
    /// What the step does.
    pub kind: NodeKind,
    /// Its text in further languages, by code; only of a type that [has a text](NodeKind::has_text).
    pub texts: BTreeMap<String, String>,
}

/// What a node does, with the fields of its type.
#[derive(Debug, Clone, PartialEq)]
pub enum NodeKind {
    /// Speaks and goes on.
    Say(Say),
    /// Asks until a valid answer is captured or the attempts are used up.
    Collect(Collect),
    /// Lets the language model talk until an exit applies.
    Converse(Converse),
    /// Decides without a model.
    Branch(Branch),
    Tool(Tool),
    /// Hands over to a person.
    Transfer(Transfer),
    /// Sends a message on the chat-app channel and goes on.
    Message(Message),
    /// Asks for a document; chat only.
    Document(Document),
    /// Says goodbye and ends.
    End(End),
}

impl NodeKind {
    /// Whether nodes of this type have a `text` that the customer hears or reads.
    pub fn has_text(&self) -> bool {
        match self {
            Self::Say(_) | Self::Collect(_) | Self::Transfer(_) | Self::Message(_) | Self::End(_) => true,
            Self::Converse(_) | Self::Branch(_) | Self::Tool(_) | Self::Document(_) => false,
        }
    }
}

/// Fields of a `say` node.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Say {
    /// What is said; empty in an unfinished draft.
    pub text: String,
    pub next: Option<String>,
}

/// Fields of a `collect` node.
#[derive(Debug, Clone, PartialEq)]
pub struct Collect {
    pub text: String,
    pub field: Field,
    /// Number of attempts before giving up, 1-10.
    pub attempts: u32,
    /// The next node when an answer was captured.
    pub next: Option<String>,
    /// The next node when the attempts are used up; `None` ends the conversation with outcome
    /// `failed_collect`.
    pub on_fail: Option<String>,
}

/// What a `collect` node captures.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Field {
    /// Key in the extracted fields; empty in an unfinished draft.
    pub key: String,
    pub label: String,
    /// What counts as an answer.
    pub kind: FieldKind,
    /// The options of a `choice`, as they are captured.
    pub choices: Vec<String>,
    /// Whether the value is read back and captured only after a yes ([`FieldKind::is_read_back`]).
    pub confirm: bool,
    /// Whether the answer is kept in memory only, for one tool ([`FieldKind::may_be_secret`]).
    pub secret: bool,
}

/// What counts as a valid answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FieldKind {
    #[default]
    Text,
    /// Yes or no.
    Boolean,
    /// A number, captured as its digits.
    Number,
    Choice,
    /// A day, captured as `YYYY-MM-DD`.
    Date,
    /// A time of day in India, captured as `HH:MM`.
    Time,
    /// Money, captured as whole paise.
    Amount,
    /// An Indian telephone number, captured as `+91` and ten digits.
    Phone,
    /// An e-mail address, captured in lower case.
    Email,
    /// An Indian PIN code, captured as its six digits.
    Pincode,
}

impl FieldKind {
    /// Every kind, with its word.
    pub(super) const WORDS: [(&'static str, Self); 10] = [
        ("text", Self::Text),
        ("boolean", Self::Boolean),
        ("number", Self::Number),
        ("choice", Self::Choice),
        ("date", Self::Date),
        ("time", Self::Time),
        ("amount", Self::Amount),
        ("phone", Self::Phone),
        ("email", Self::Email),
        ("pincode", Self::Pincode),
    ];

    /// Every kind, in the order of the documentation.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::WORDS.into_iter().map(|(_, kind)| kind)
    }

    /// Whether a value of this kind may be secret: it has no form of its own, and is never read back.
    pub const fn may_be_secret(self) -> bool {
        matches!(self, Self::Text | Self::Number)
    }

    /// Whether a value of this kind can be read back to be confirmed.
    pub const fn is_read_back(self) -> bool {
        matches!(self, Self::Date | Self::Time | Self::Amount | Self::Phone | Self::Email | Self::Pincode)
    }
}

/// Fields of a `converse` node.
#[derive(Debug, Clone, PartialEq)]
pub struct Converse {
    /// Instructions to the model.
    pub prompt: String,
    /// The model may answer from the agent's knowledge base.
    pub use_knowledge: bool,
    /// Tools that the model may call.
    pub tool_ids: Vec<String>,
    /// The exits, in order of preference.
    pub exits: Vec<Exit>,
    /// Number of model replies after which the first exit is taken in any case, 1-200; the opening does not
    /// count.
    pub max_turns: u32,
}

/// An exit of a `converse` node.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Exit {
    /// When it applies, as a text for the model.
    pub when: String,
    pub next: Option<String>,
}

/// Fields of a `branch` node.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Branch {
    /// The first case that holds is taken.
    pub cases: Vec<Case>,
    /// The next node when no case holds; `None` ends the conversation.
    pub otherwise: Option<String>,
}

/// A case of a `branch` node.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// Variable, captured field or saved tool answer.
    pub variable: String,
    pub op: Op,
    /// The value to compare with; its texts may use `{{variables}}`.
    pub value: Option<Value>,
    pub next: Option<String>,
}

/// The comparison of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// Equal: by value when both are numbers, otherwise as text without regard to case.
    Eq,
    /// Not equal; a missing value is not equal to anything.
    Ne,
    Lt,
    Gt,
    /// Equal to one of a list.
    In,
    /// Has a value that is not blank.
    Exists,
}

impl Op {
    /// Every comparison, with its word.
    pub(super) const WORDS: [(&'static str, Op); 6] = [
        ("eq", Op::Eq),
        ("ne", Op::Ne),
        ("lt", Op::Lt),
        ("gt", Op::Gt),
        ("in", Op::In),
        ("exists", Op::Exists),
    ];

    pub fn parse(text: &str) -> Option<Self> {
        Self::WORDS.into_iter().find(|(word, _)| *word == text).map(|(_, op)| op)
    }
}

/// Fields of a `tool` node.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tool {
    /// The tool; empty in an unfinished draft.
    pub tool_id: String,
    /// Arguments; their texts may use `{{variables}}`.
    pub arguments: Map<String, Value>,
    /// Variable that keeps the answer.
    pub save_as: Option<String>,
    pub next: Option<String>,
    /// The next node when the tool failed; `None` means `next`.
    pub on_error: Option<String>,
}

/// Fields of a `transfer` node.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Transfer {
    /// Numbers to ring, in order; Indian +91 numbers (docs/contract/flows.md#issues). A chat is handed to the
    /// inbox and needs none.
    pub transfer_numbers: Vec<String>,
    /// Text said first.
    pub text: String,
    /// How the person is brought in.
    pub mode: TransferMode,
    /// The next node when nobody could be reached; `None` ends the conversation with outcome
    /// `transfer_failed`.
    pub on_fail: Option<String>,
}

/// How a person is brought in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TransferMode {
    /// The agent stays until the person has answered.
    #[default]
    Warm,
    /// The call is handed over at once.
    Cold,
}

/// Fields of a `message` node: a template or a text.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Message {
    /// A template's name, or the object that the send-message endpoint takes.
    pub template: Option<Value>,
    pub text: String,
    pub next: Option<String>,
}

/// Fields of a `document` node.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// What is asked for, such as `PAN card`.
    pub label: String,
    /// Keys of the details to extract from it.
    pub fields: Vec<String>,
    /// Number of documents checked before giving up, 1-10.
    pub attempts: u32,
    /// The next node when a document was accepted, verified or not.
    pub next: Option<String>,
    /// The next node when no document was accepted; `None` ends the conversation with outcome
    /// `failed_document`.
    pub on_fail: Option<String>,
}

/// Fields of an `end` node.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct End {
    /// Text said first.
    pub text: String,
    /// The disposition with which the conversation ends.
    pub outcome: Option<String>,
}

/// An edge of the graph, named by the field that holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edge<'a> {
    /// `next`, `onFail`, `exits[1].next`, …
    pub field: String,
    /// The node it names.
    pub to: Option<&'a str>,
    /// Whether the edge is required.
    pub needed: bool,
}

impl Flow {
    /// The node with this id.
    pub fn node(&self, id: &str) -> Option<&Node> {
        self.nodes.iter().find(|node| node.id == id)
    }

    /// Names of the variables that a call must supply, in order: those that are required and have no default.
    pub fn required_variables(&self) -> Vec<&str> {
        self.variables
            .iter()
            .filter(|variable| variable.required && variable.default.is_none())
            .map(|variable| variable.name.as_str())
            .collect()
    }
}

impl Node {
    /// Every edge out of the node, in the order of its fields, without optional edges that are not set.
    pub fn edges(&self) -> Vec<Edge<'_>> {
        let mut edges = Vec::new();
        match &self.kind {
            NodeKind::Say(say) => edges.push(Edge::needed("next", &say.next)),
            NodeKind::Message(message) => edges.push(Edge::needed("next", &message.next)),
            NodeKind::Collect(collect) => {
                edges.push(Edge::needed("next", &collect.next));
                edges.extend(Edge::drawn("onFail", &collect.on_fail));
            }
            NodeKind::Document(document) => {
                edges.push(Edge::needed("next", &document.next));
                edges.extend(Edge::drawn("onFail", &document.on_fail));
            }
            NodeKind::Tool(tool) => {
                edges.push(Edge::needed("next", &tool.next));
                edges.extend(Edge::drawn("onError", &tool.on_error));
            }
            NodeKind::Transfer(transfer) => edges.extend(Edge::drawn("onFail", &transfer.on_fail)),
            NodeKind::Converse(converse) => {
                let exits = converse.exits.iter().enumerate();
                edges.extend(
                    exits.map(|(index, exit)| Edge::needed(format!("exits[{index}].next"), &exit.next)),
                );
            }
            NodeKind::Branch(branch) => {
                let cases = branch.cases.iter().enumerate();
                edges.extend(
                    cases.map(|(index, case)| Edge::needed(format!("cases[{index}].next"), &case.next)),
                );
                edges.extend(Edge::drawn("otherwise", &branch.otherwise));
            }
            NodeKind::End(_) => {}
        }
        edges
    }
}

impl<'a> Edge<'a> {
    fn needed(field: impl Into<String>, to: &'a Option<String>) -> Self {
        Self { field: field.into(), to: to.as_deref(), needed: true }
    }

    fn drawn(field: &str, to: &'a Option<String>) -> Option<Self> {
        to.as_deref().map(|to| Self { field: field.to_owned(), to: Some(to), needed: false })
    }
}
