//! The inputs and outputs of a conversation, and the state that it keeps between them. All of it is plain
//! data for serde, so that a chat can be stored between two messages.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::channel::Channel;
use super::graph::{FieldKind, Flow, NodeKind, TransferMode};
use super::path::{EdgeVisits, Path};
use super::phrases::Phrases;

/// ConversationSettings of a conversation that are not part of its flow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConversationSettings {
    pub channel: Channel,
    /// The language in which the agent speaks and answers are understood: its own, until the customer's is followed.
    #[serde(default = "english")]
    pub language: String,
    /// The languages that the agent speaks, its own first; empty if it has only one.
    #[serde(default)]
    pub languages: Vec<String>,
    /// The interpreter's own sentences.
    pub phrases: Phrases,
    /// Silences in a row in a `converse` node before the conversation ends, at least 1.
    pub max_silences: u32,
    /// Model failures in a row before the conversation ends, at least 1.
    pub max_model_failures: u32,
    /// Whether card numbers, OTPs and their like are taken out of what is kept ([`redaction`](super::redaction)).
    #[serde(default)]
    pub redact: bool,
}

impl ConversationSettings {
    /// The same for an agent that follows the customer into these `languages`, too.
    pub fn following(mut self, languages: &[String]) -> Self {
        let others = languages.iter().filter(|language| **language != self.language);
        self.languages = std::iter::once(&self.language).chain(others).cloned().collect();
        if self.languages.len() == 1 {
            self.languages.clear();
        }
        self
    }

    /// The conversation goes on in this language.
    pub(super) fn speak(&mut self, language: &str) {
        self.phrases = Phrases::of(language);
        language.clone_into(&mut self.language);
    }
}

/// The language of a conversation that was stored without one.
fn english() -> String {
    "en".to_owned()
}

impl ConversationSettings {
    /// The usual settings for an agent's channel and `language`.
    pub fn of(channel: Channel, language: &str) -> Self {
        Self {
            channel,
            language: language.to_owned(),
            languages: Vec::new(),
            phrases: Phrases::of(language),
            max_silences: 3,
            max_model_failures: 2,
            redact: false,
        }
    }
}

impl Default for ConversationSettings {
    fn default() -> Self {
        Self::of(Channel::Call, "en")
    }
}

/// Who said a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    Agent,
    /// The person it talks with.
    Customer,
}

/// A turn of the transcript (docs/contract/recordings.md#transcript).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    pub role: Role,
    pub text: String,
}

/// A tool call that a language model asks for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelToolCall {
    /// One of the tools it was offered.
    pub tool_id: String,
    pub arguments: Map<String, Value>,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Input {
    /// The conversation begins: the call was answered, the chat was opened.
    Started,
    /// The customer began to speak. If an answer is expected, the agent stops speaking.
    SpeechBegan,
    /// A text has been spoken to its end. The caller reports it for every text, in order. In a chat it is not
    /// needed.
    Sounded {
        /// Number of the text ([`Output::Say`]); all texts before it have been spoken as well. A higher
        /// number than any so far means all texts.
        said: u64,
    },
    /// The customer said or wrote something. What comes before [`Input::Started`] is kept for the model.
    Heard {
        text: String,
    },
    /// A key was pressed: `0`-`9`, `*`, or `#`, which ends the entry.
    Digit {
        key: char,
    },
    /// No key followed for a while, which ends the entry like `#`.
    DigitsPaused,
    /// Nothing was heard for the time that the channel waits for an answer.
    Silence,
    /// The model answered an [`Output::AskModel`].
    ModelSaid {
        /// The request that it answers; an answer to an older one is ignored.
        request: u64,
        /// What it says; may be empty.
        text: String,
        /// The exit that applies, counted from 0.
        exit: Option<usize>,
        /// Tools to call before it goes on, at most ten. `exit` and `end` are ignored until the answers are
        /// there.
        tool_calls: Vec<ModelToolCall>,
        /// The conversation is over.
        end: bool,
        /// The disposition, when it ends the conversation.
        outcome: Option<String>,
    },
    /// The model did not answer.
    ModelFailed {
        /// The request it did not answer.
        request: u64,
    },
    /// A tool answered an [`Output::CallTool`].
    ToolAnswered {
        /// The request that it answers.
        request: u64,
        value: Value,
    },
    ToolFailed {
        /// The request that failed.
        request: u64,
        /// Why, as a text for the model.
        reason: String,
    },
    /// A person has taken over: the conversation with the agent is over.
    TransferDone {
        /// The request that it answers.
        request: u64,
    },
    /// The secret answers that an [`Output::CallTool`] needs are gone: the process that had them ended.
    SecretsGone {
        /// The request that cannot be made.
        request: u64,
    },
    /// Nobody could be reached, or the person handed back.
    TransferFailed {
        /// The request that failed.
        request: u64,
    },
    /// The person to whom a `transfer` node had handed a chat gave it back. The flow goes on at the node's
    /// `onFail`; without one it has nothing left to say, and ends.
    HandedBack {
        /// The request of the transfer.
        request: u64,
    },
    /// A document from the customer was checked.
    DocumentChecked {
        /// Whether it is accepted.
        accepted: bool,
        /// Details extracted from it; they become extracted fields when it is accepted.
        fields: Map<String, Value>,
    },
    /// Somebody else said something that belongs to the transcript, such as a teammate who held the chat for
    /// a while.
    Noted {
        role: Role,
        text: String,
    },
    /// The agent was interrupted, so only a part of its last words was heard. This comes before the words
    /// that interrupted it. Nothing is being spoken any more, and outputs that waited for the words are
    /// released.
    CutOff {
        /// How many of the agent's last turns were not heard to their end. Turns before the customer's last
        /// words are not changed.
        turns: usize,
        /// The part that was heard, which replaces them; may be empty.
        heard: String,
    },
    HungUp,
}

/// An entry of the history that the model is shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Exchange {
    Said {
        role: Role,
        text: String,
    },
    /// The model called a tool.
    ToolCalled {
        /// Number of the request, the same in its answer.
        request: u64,
        tool_id: String,
        arguments: Map<String, Value>,
    },
    ToolAnswered {
        request: u64,
        /// Whether it succeeded.
        ok: bool,
        /// Its answer, or why it failed.
        value: Value,
    },
}

/// The kind of answer that is expected; it helps a recogniser.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Expected {
    /// The kind; a `converse` node expects any text.
    pub kind: FieldKind,
    /// The choices of a `choice`.
    pub choices: Vec<String>,
    /// A key was pressed: wait only for the time allowed between two keys, then send [`Input::DigitsPaused`].
    pub digits_begun: bool,
}

/// Something to do, in order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Output {
    /// Speak or write this text, which is never blank.
    Say {
        /// The node it belongs to; `None` for the apology before an error ends the conversation.
        node_id: Option<String>,
        text: String,
        /// Its number, from 1. Answer with [`Input::Sounded`] when it has been spoken.
        said: u64,
    },
    StopSaying,
    /// Wait for the customer; answer with [`Input::Heard`], [`Input::Digit`] or [`Input::Silence`].
    Listen {
        /// The node that waits.
        node_id: String,
        expected: Expected,
    },
    /// Ask the language model for its next turn. A newer request replaces an earlier one that is still open.
    AskModel {
        request: u64,
        /// The `converse` node.
        node_id: String,
        /// Instructions, with the variables filled in.
        prompt: String,
        /// The conversation so far, newest last, at most 200 entries.
        history: Vec<Exchange>,
        /// Conditions of the exits, in order.
        exits: Vec<String>,
        /// Tools it may call now.
        tool_ids: Vec<String>,
        /// Whether it may answer from the knowledge base.
        use_knowledge: bool,
        /// It speaks first: the customer has said nothing in this node yet.
        opening: bool,
    },
    /// Call a tool. Secret answers are not in the arguments: [`Conversation::revealed`](super::Conversation::revealed)
    /// puts them in.
    CallTool {
        request: u64,
        node_id: String,
        tool_id: String,
        arguments: Map<String, Value>,
    },
    /// Bring in a person.
    Transfer {
        request: u64,
        node_id: String,
        /// Numbers to ring, in order; a chat goes to the inbox.
        numbers: Vec<String>,
        mode: TransferMode,
    },
    /// Send a message on the chat-app channel; nothing waits for it. Words of later nodes may come before it.
    SendMessage {
        node_id: String,
        /// A template's name or object, with the variables filled in.
        template: Option<Value>,
        /// Free text, when there is no template.
        text: String,
    },
    /// Wait for a document; answer with [`Input::DocumentChecked`]. The request for it has been said before.
    AskDocument {
        node_id: String,
        label: String,
        /// Keys of the details to extract from it.
        fields: Vec<String>,
        /// Which attempt this is, from 1.
        attempt: u32,
    },
    /// The conversation is over; nothing comes after this.
    End {
        /// The disposition, when the flow or the model set one.
        outcome: Option<String>,
        cause: EndCause,
    },
}

/// Why a conversation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndCause {
    AgentEnded,
    CallerHangup,
    /// The customer said nothing for too long.
    SilenceTimeout,
    /// A person took over.
    TransferHandoff,
    /// The language model failed repeatedly: `error` on a call, `ai_unavailable` in a chat.
    ModelUnavailable,
    /// The flow has a missing edge or an endless loop.
    Error,
}

impl EndCause {
    /// The `endCause` of a call (docs/contract/calls.md#end-causes).
    pub fn of_call(self) -> &'static str {
        match self {
            Self::AgentEnded => "agent_ended",
            Self::CallerHangup => "caller_hangup",
            Self::SilenceTimeout => "silence_timeout",
            Self::TransferHandoff => "transfer_handoff",
            Self::ModelUnavailable | Self::Error => "error",
        }
    }
}

/// How a conversation ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    pub outcome: Option<String>,
    pub cause: EndCause,
}

/// Everything a conversation keeps between two inputs, apart from its flow. Its JSON is private to this
/// module: store it, but do not read it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct State {
    pub(super) settings: ConversationSettings,
    /// Values by name, whether supplied, default, captured or saved; the newest wins.
    pub(super) variables: Map<String, Value>,
    pub(super) extracted: Map<String, Value>,
    pub(super) history: Vec<Exchange>,
    pub(super) phase: Phase,
    /// Keys of the current entry.
    pub(super) digits: String,
    /// Requests made so far; the number of the newest.
    pub(super) requests: u64,
    /// Requests made since the customer last did something.
    pub(super) requests_unheard: u32,
    pub(super) silences: u32,
    /// Texts said so far; the number of the newest.
    pub(super) said: u64,
    /// Number of the newest text that has been spoken, with all texts before it.
    pub(super) sounded: u64,
    /// Outputs that wait for words, in order.
    pub(super) held: Vec<Held>,
    /// The edges that it took.
    #[serde(default, skip_serializing_if = "Path::is_empty")]
    pub(super) path: Path,
    pub(super) ended: Option<Ended>,
}

impl State {
    /// The request of the `transfer` node that waits for a person, if one does.
    pub fn open_transfer(&self) -> Option<u64> {
        match self.phase {
            Phase::Transfer { request, .. } => Some(request),
            Phase::New
            | Phase::Collect { .. }
            | Phase::Talk(_)
            | Phase::Tool { .. }
            | Phase::Document { .. }
            | Phase::Closing
            | Phase::Over => None,
        }
    }

    /// The request of the `tool` node that waits for its answer, if one does.
    pub fn open_tool(&self) -> Option<u64> {
        match self.phase {
            Phase::Tool { request, .. } => Some(request),
            Phase::New
            | Phase::Collect { .. }
            | Phase::Talk(_)
            | Phase::Transfer { .. }
            | Phase::Document { .. }
            | Phase::Closing
            | Phase::Over => None,
        }
    }

    /// The node of the flow that the conversation is in, if it is in one.
    pub fn node(&self) -> Option<&str> {
        match &self.phase {
            Phase::Collect { node, .. }
            | Phase::Tool { node, .. }
            | Phase::Transfer { node, .. }
            | Phase::Document { node, .. } => Some(node),
            Phase::Talk(talk) => Some(&talk.node),
            Phase::New | Phase::Closing | Phase::Over => None,
        }
    }

    /// Whether the answer to a secret question is awaited in this flow.
    pub fn awaits_secret(&self, flow: &Flow) -> bool {
        let Phase::Collect { node, .. } = &self.phase else { return false };
        matches!(flow.node(node).map(|node| &node.kind), Some(NodeKind::Collect(collect)) if collect.field.secret)
    }

    /// The edges that it took so far, each with how often.
    pub fn path(&self) -> Vec<EdgeVisits> {
        self.path.edges()
    }

    /// The captured fields so far, in the order they were captured.
    pub fn extracted(&self) -> &Map<String, Value> {
        &self.extracted
    }

    /// What the model is shown: the newest entries of the history.
    pub(super) fn shown(&self) -> Vec<Exchange> {
        let skipped = self.history.len().saturating_sub(HISTORY_SHOWN);
        self.history.iter().skip(skipped).cloned().collect()
    }
}

/// How many of the newest entries of the history the model is shown.
const HISTORY_SHOWN: usize = 200;

/// An output that waits for words.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Held {
    /// Number of the last text that comes before it.
    pub(super) after: u64,
    pub(super) output: Output,
}

/// The phase of a conversation. In `Closing` its last words are being said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "at", rename_all = "snake_case")]
pub(super) enum Phase {
    New,
    Collect {
        node: String,
        failures: u32,
        /// A value that was read back and is captured after a yes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pending: Option<Value>,
    },
    Talk(Talk),
    Tool {
        node: String,
        request: u64,
    },
    Transfer {
        node: String,
        request: u64,
    },
    Document {
        node: String,
        failures: u32,
    },
    Closing,
    Over,
}

/// The state of a `converse` node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Talk {
    pub(super) node: String,
    /// Model replies to the customer so far, tool rounds aside.
    pub(super) replies: u32,
    /// Model failures in a row.
    pub(super) failures: u32,
    /// Tool rounds since the model last spoke without calling one.
    pub(super) rounds: u32,
    /// The customer has said something in this node.
    pub(super) heard: bool,
    pub(super) waiting: Waiting,
}

/// What a `converse` node waits for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "for", content = "requests", rename_all = "snake_case")]
pub(super) enum Waiting {
    Customer,
    Model(u64),
    /// Answers of these tool calls.
    Tools(Vec<u64>),
}
