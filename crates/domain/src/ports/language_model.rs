//! Who talks in a `converse` node, and who reads a conversation afterwards.

use serde_json::{Map, Value};

use super::{Answer, ProviderError};
use crate::conversation::{Exchange, ModelToolCall, Turn};

/// A tool that the model may call.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolOffer {
    /// Its id, which comes back in [`Said::Tool`].
    pub id: String,
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// JSON Schema of its arguments, an object.
    pub parameters: Value,
}

/// The model's next turn is wanted ([`crate::conversation::Output::AskModel`]).
#[derive(Debug, Clone, PartialEq)]
pub struct TalkOrder {
    /// Instructions, with the variables filled in.
    pub prompt: String,
    /// The conversation so far, newest last.
    pub history: Vec<Exchange>,
    /// Conditions of the exits, in order.
    pub exits: Vec<String>,
    /// Tools that it may call now.
    pub tools: Vec<ToolOffer>,
    /// Passages of the knowledge base that fit.
    pub knowledge: Vec<String>,
    /// It speaks first.
    pub opening: bool,
    /// Language code (docs/contract/agents.md#fields).
    pub language: String,
    /// Whether the words are spoken (short sentences, no markup) or written.
    pub spoken: bool,
}

/// A piece of the model's turn. Text may come before anything else; after an exit, a tool or the end there is
/// no more text.
#[derive(Debug, Clone, PartialEq)]
pub enum Said {
    /// More words.
    Text(String),
    /// This exit applies, counted from 0.
    Exit(usize),
    /// It wants this tool called.
    Tool(ModelToolCall),
    /// The conversation is over, with this disposition.
    End(Option<String>),
}

/// A conversation that is over, to be read.
#[derive(Debug, Clone, PartialEq)]
pub struct AnalysisOrder {
    /// What was said.
    pub transcript: Vec<Turn>,
    /// The agent's `extractionSchema`: a list of `{key, label, type, …}` as the client gave it; null for
    /// none.
    pub schema: Value,
    /// What the flow captured already.
    pub extracted: Map<String, Value>,
    /// What the agent was told to do.
    pub prompt: String,
    /// Language code (docs/contract/agents.md#fields).
    pub language: String,
}

/// What was found in a conversation.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Analysis {
    /// A few sentences.
    pub summary: String,
    /// Values by the keys of the schema; only those that were found.
    pub extracted: Map<String, Value>,
    /// A disposition, such as `callback_requested`.
    pub outcome: Option<String>,
    /// `positive`, `neutral` or `negative`.
    pub sentiment: Option<String>,
}

/// A language model.
pub trait LanguageModel: Send + Sync {
    /// Its name in the settings.
    fn name(&self) -> &str;

    /// Whether what it reads stays in India.
    fn resident(&self) -> bool;

    /// Starts its next turn.
    fn talk(&self, order: TalkOrder) -> Answer<'_, Result<Box<dyn Talking>, ProviderError>>;

    /// Reads a conversation.
    fn analyse(&self, order: AnalysisOrder) -> Answer<'_, Result<Analysis, ProviderError>>;

    /// Whether it can be used now, in a few words for a person.
    fn check(&self) -> Answer<'_, Result<String, ProviderError>>;
}

/// A turn on its way. Dropping it stops the model.
pub trait Talking: Send {
    /// The next piece; none after the last.
    fn next(&mut self) -> Answer<'_, Option<Result<Said, ProviderError>>>;
}
