//! Talking in a `converse` node, and analysing a conversation afterwards.

use serde_json::{Map, Value};

use super::{Answer, ProviderError};
use crate::conversation::{Exchange, Input, ModelToolCall, Turn};
use crate::evaluation::{Criterion, Grades, Line};
use crate::tenant::Tenant;

/// A tool that the model may call.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolOffer {
    /// Its id, which comes back in [`Said::Tool`].
    pub id: String,
    pub name: String,
    pub description: String,
    /// JSON Schema of its arguments, an object.
    pub parameters: Value,
}

/// A request for the model's next turn ([`crate::conversation::Output::AskModel`]).
#[derive(Debug, Clone, PartialEq)]
pub struct TalkOrder {
    /// Whose conversation it is; none for a trial of the provider itself.
    pub workspace: Option<Tenant>,
    /// Instructions, with the variables filled in.
    pub prompt: String,
    /// The conversation so far, newest last.
    pub history: Vec<Exchange>,
    /// The conditions of the exits, in order.
    pub exits: Vec<String>,
    /// Tools that it may call now.
    pub tools: Vec<ToolOffer>,
    /// Matching passages of the knowledge base, best first; a first line in square brackets has the headings that a
    /// passage is under.
    pub knowledge: Vec<String>,
    /// The model speaks first.
    pub opening: bool,
    /// Language code (docs/contract/agents.md#fields).
    pub language: String,
    /// Whether the words are spoken (short sentences, no markup) or written.
    pub spoken: bool,
}

/// A piece of the model's turn. Text comes first: there is none after an exit, a tool or the end.
#[derive(Debug, Clone, PartialEq)]
pub enum Said {
    Text(String),
    /// This exit applies, counted from 0.
    Exit(usize),
    /// It wants this tool called.
    Tool(ModelToolCall),
    /// The conversation is over, with this disposition.
    End(Option<String>),
}

/// What the model has said and decided so far in its turn.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ModelReply {
    text: String,
    exit: Option<usize>,
    tool_calls: Vec<ModelToolCall>,
    end: bool,
    outcome: Option<String>,
}

impl ModelReply {
    /// Takes the next piece.
    pub fn take(&mut self, said: Said) {
        match said {
            Said::Text(text) => self.text.push_str(&text),
            Said::Exit(exit) => self.exit = Some(exit),
            Said::Tool(call) => self.tool_calls.push(call),
            Said::End(outcome) => {
                self.end = true;
                self.outcome = outcome;
            }
        }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it neither said nor decided anything.
    pub fn is_empty(&self) -> bool {
        self.exit.is_none() && !self.end && self.tool_calls.is_empty() && self.text.trim().is_empty()
    }

    /// The turn as the interpreter takes it.
    pub fn into_input(self, request: u64) -> Input {
        Input::ModelSaid {
            request,
            text: self.text,
            exit: self.exit,
            tool_calls: self.tool_calls,
            end: self.end,
            outcome: self.outcome,
        }
    }
}

/// A place that a conversation can bring a person to, such as a column of a board.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// What the answer names.
    pub key: String,
    pub name: String,
    pub meaning: &'static str,
}

/// A finished conversation to analyse.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AnalysisOrder {
    /// Whose conversation it was.
    pub workspace: Option<Tenant>,
    pub transcript: Vec<Turn>,
    /// The agent's `extractionSchema`: a list of `{key, label, type, …}` as the client sent it; null for
    /// none.
    pub schema: Value,
    /// What the flow has captured.
    pub extracted: Map<String, Value>,
    /// The agent's instructions.
    pub prompt: String,
    /// Language code (docs/contract/agents.md#fields).
    pub language: String,
    /// Where the person may stand after the conversation; the model chooses one. Empty: it is not asked.
    pub choices: Vec<Choice>,
}

/// What the model chose of [`AnalysisOrder::choices`].
#[derive(Debug, Clone, PartialEq)]
pub struct Chosen {
    /// Key of the choice.
    pub key: String,
    /// How sure the model is, from 0 to 1.
    pub confidence: f64,
}

/// The result of an analysis.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Analysis {
    /// A summary of a few sentences.
    pub summary: String,
    /// The values that were found, by key of the schema.
    pub extracted: Map<String, Value>,
    /// A disposition, such as `callback_requested`.
    pub outcome: Option<String>,
    /// `positive`, `neutral` or `negative`.
    pub sentiment: Option<String>,
    /// Where the person stands, of the choices of the order.
    pub chosen: Option<Chosen>,
}

/// A finished conversation to grade.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GradeOrder {
    /// Whose conversation it was.
    pub workspace: Option<Tenant>,
    pub transcript: Vec<Line>,
    pub criteria: Vec<Criterion>,
    /// Language code (docs/contract/agents.md#fields).
    pub language: String,
}

pub trait LanguageModel: Send + Sync {
    /// Its name in the settings.
    fn name(&self) -> &str;

    /// Whether the texts it receives stay in India.
    fn resident(&self) -> bool;

    /// Starts the model's next turn.
    fn talk(&self, order: TalkOrder) -> Answer<'_, Result<Box<dyn Talking>, ProviderError>>;

    fn analyse(&self, order: AnalysisOrder) -> Answer<'_, Result<Analysis, ProviderError>>;

    /// Grades a conversation against criteria. What it answers is not trusted: [`crate::evaluation::judge`] decides.
    ///
    /// # Errors
    /// Also where it answers, but with no grade for any of the criteria.
    fn grade(&self, order: GradeOrder) -> Answer<'_, Result<Grades, ProviderError>>;

    /// Whether it is usable now, as a short text for a person.
    fn check(&self) -> Answer<'_, Result<String, ProviderError>>;
}

/// A turn in progress. Dropping it stops the model.
pub trait Talking: Send {
    /// The next piece; `None` after the last.
    fn next(&mut self) -> Answer<'_, Option<Result<Said, ProviderError>>>;
}
