//! What goes into a conversation, what comes out of it, and what it keeps between the two. All of it is plain
//! data that serde writes, so that a chat can sleep in the store between two messages.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::check::Channel;
use super::graph::{FieldKind, TransferMode};
use super::held::Held;
use super::phrases::Phrases;

/// How a conversation behaves where its flow does not say.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Settings {
    /// What carries the words.
    pub channel: Channel,
    /// The interpreter's own sentences.
    pub phrases: Phrases,
    /// Silences in a row in a `converse` node before the conversation ends, at least 1.
    pub max_silences: u32,
    /// Model failures in a row before the conversation ends, at least 1.
    pub max_model_failures: u32,
}

impl Settings {
    /// The usual settings for an agent's channel and `language`.
    pub fn of(channel: Channel, language: &str) -> Self {
        Self { channel, phrases: Phrases::of(language), max_silences: 3, max_model_failures: 2 }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self::of(Channel::Call, "en")
    }
}

/// Who said a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The agent.
    Agent,
    /// The person it talks with.
    Customer,
}

/// A turn of the transcript (docs/contract/recordings.md#transcript).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// Who said it.
    pub role: Role,
    /// What was said.
    pub text: String,
}

/// A tool call that a language model asks for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelToolCall {
    /// One of the tools it was offered.
    pub tool_id: String,
    /// Its arguments.
    pub arguments: Map<String, Value>,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Input {
    /// The conversation begins: the call was answered, the chat was opened.
    Started,
    /// The customer began to speak: speech that still plays is stopped where an answer is awaited.
    SpeechBegan,
    /// What was said has sounded to its end. Whoever carries the words reports it for every text, in order;
    /// on a channel where words are written nothing is waited for.
    Sounded {
        /// Number of the text ([`Output::Say`]); all before it have sounded, too. A number that was not said
        /// yet means everything so far.
        said: u64,
    },
    /// The customer said or wrote something. What comes before [`Input::Started`] is kept for the model to
    /// see.
    Heard {
        /// The words.
        text: String,
    },
    /// A key was pressed: `0`-`9`, `*`, or `#`, which ends what was keyed in.
    Digit {
        /// The key.
        key: char,
    },
    /// No key followed for a while, which ends what was keyed in as `#` does.
    DigitsPaused,
    /// Nothing was heard for as long as the channel waits for an answer.
    Silence,
    /// The model answered an [`Output::AskModel`].
    ModelSaid {
        /// The request that it answers; an answer to an older one is ignored.
        request: u64,
        /// What it says; may be empty.
        text: String,
        /// The exit that applies, counted from 0.
        exit: Option<usize>,
        /// Tools it wants called before it goes on; at most ten are, and `exit` and `end` wait for the
        /// answers.
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
        /// Its answer.
        value: Value,
    },
    /// A tool failed.
    ToolFailed {
        /// The request that failed.
        request: u64,
        /// Why, in words for the model.
        reason: String,
    },
    /// A person has taken over: the conversation with the agent is over.
    TransferDone {
        /// The request that it answers.
        request: u64,
    },
    /// Nobody could be reached, or the person handed back.
    TransferFailed {
        /// The request that failed.
        request: u64,
    },
    /// A document that the customer sent was looked at.
    DocumentChecked {
        /// Whether it is good.
        accepted: bool,
        /// Details read off it; they become extracted fields when it is accepted.
        fields: Map<String, Value>,
    },
    /// Somebody else said something that belongs to the transcript, such as a teammate who held the chat for
    /// a while.
    Noted {
        /// On whose side.
        role: Role,
        /// What was said.
        text: String,
    },
    /// The agent was interrupted: of what it said last, only a part was heard. Comes before the words that
    /// interrupted it. Nothing of what was said so far sounds any more, and what waited for it happens now.
    CutOff {
        /// How many of the agent's last turns were not heard to their end; turns before the customer's last
        /// words are not touched.
        turns: usize,
        /// What was heard of them, which takes their place; may be empty.
        heard: String,
    },
    /// The customer left.
    HungUp,
}

/// What the model is shown of the conversation so far.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Exchange {
    /// Somebody spoke.
    Said {
        /// Who.
        role: Role,
        /// What.
        text: String,
    },
    /// The model called a tool.
    ToolCalled {
        /// Number of the request, the same in its answer.
        request: u64,
        /// The tool.
        tool_id: String,
        /// Its arguments.
        arguments: Map<String, Value>,
    },
    /// The tool answered.
    ToolAnswered {
        /// Number of the request.
        request: u64,
        /// Whether it did what it was asked.
        ok: bool,
        /// Its answer, or why it failed.
        value: Value,
    },
}

/// What kind of answer is awaited: a recogniser may listen for just that.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Expected {
    /// The kind; a `converse` node expects any text.
    pub kind: FieldKind,
    /// The choices of a `choice`.
    pub choices: Vec<String>,
    /// A key was pressed: wait only as long as between two keys, then send [`Input::DigitsPaused`].
    pub digits_begun: bool,
}

/// What is to be done, in order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Output {
    /// Say this, or write it; never blank.
    Say {
        /// The node it belongs to; none for the apology before an error ends the conversation.
        node_id: Option<String>,
        /// The words.
        text: String,
        /// Its number, counted from 1; answer with [`Input::Sounded`] when it has sounded.
        said: u64,
    },
    /// Stop saying what is still being said.
    StopSaying,
    /// Wait for the customer; answer with [`Input::Heard`], [`Input::Digit`] or [`Input::Silence`].
    Listen {
        /// The node that waits.
        node_id: String,
        /// What for.
        expected: Expected,
    },
    /// Ask the language model for its next turn. A newer request replaces one that is under way.
    AskModel {
        /// Number of the request.
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
    /// Call a tool.
    CallTool {
        /// Number of the request.
        request: u64,
        /// The node that asks.
        node_id: String,
        /// The tool.
        tool_id: String,
        /// Its arguments.
        arguments: Map<String, Value>,
    },
    /// Bring in a person.
    Transfer {
        /// Number of the request.
        request: u64,
        /// The node that asks.
        node_id: String,
        /// Numbers to ring, in order; a chat goes to the inbox.
        numbers: Vec<String>,
        /// How.
        mode: TransferMode,
    },
    /// Send a message on the chat-app channel; nothing waits for it. Words of later nodes may have been said
    /// before.
    SendMessage {
        /// The node that asks.
        node_id: String,
        /// A template's name or object, with the variables filled in.
        template: Option<Value>,
        /// Free text, when there is no template.
        text: String,
    },
    /// Wait for a document; answer with [`Input::DocumentChecked`]. What to say is said before.
    AskDocument {
        /// The node that asks.
        node_id: String,
        /// What is asked for.
        label: String,
        /// Keys of the details to read off it.
        fields: Vec<String>,
        /// Which attempt this is, from 1.
        attempt: u32,
    },
    /// The conversation is over; nothing comes after this.
    End {
        /// The disposition, when the flow or the model set one.
        outcome: Option<String>,
        /// Why.
        cause: EndCause,
    },
}

/// Why a conversation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndCause {
    /// The agent came to its end.
    AgentEnded,
    /// The customer left.
    CallerHangup,
    /// The customer said nothing for too long.
    SilenceTimeout,
    /// A person took over.
    TransferHandoff,
    /// The language model failed again and again: `error` on a call, `ai_unavailable` in a chat.
    ModelUnavailable,
    /// The flow leads nowhere, or in circles.
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
    /// The disposition.
    pub outcome: Option<String>,
    /// Why.
    pub cause: EndCause,
}

/// Everything a conversation keeps between two inputs, apart from its flow. Its JSON is private to this room:
/// store it, do not read it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct State {
    pub(super) settings: Settings,
    /// Supplied, defaulted, captured and saved values by name; the newest wins.
    pub(super) variables: Map<String, Value>,
    pub(super) extracted: Map<String, Value>,
    pub(super) history: Vec<Exchange>,
    pub(super) phase: Phase,
    /// Keys pressed and not yet ended.
    pub(super) digits: String,
    /// Requests made so far; the number of the newest.
    pub(super) requests: u64,
    /// Requests made since the customer last did something.
    pub(super) requests_unheard: u32,
    /// Silences in a row.
    pub(super) silences: u32,
    /// Texts said so far; the number of the newest.
    pub(super) said: u64,
    /// Number of the newest text that has sounded, with all before it.
    pub(super) sounded: u64,
    /// What waits for words, in order.
    pub(super) held: Vec<Held>,
    pub(super) ended: Option<Ended>,
}

/// Where a conversation is; closing: its last words are being said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "at", rename_all = "snake_case")]
pub(super) enum Phase {
    New,
    Collect { node: String, failures: u32 },
    Talk(Talk),
    Tool { node: String, request: u64 },
    Transfer { node: String, request: u64 },
    Document { node: String, failures: u32 },
    Closing,
    Over,
}

/// Where a `converse` node is.
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
