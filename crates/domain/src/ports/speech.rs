//! Words out of sound and sound out of words. Sound is 16-bit mono at [`SAMPLE_RATE`] everywhere; adapters
//! convert.

use super::{Answer, ProviderError};
use crate::conversation::Expected;

/// Samples a second of all sound inside the service: what telephone lines carry.
pub const SAMPLE_RATE: u32 = 8000;

/// A conversation that a recogniser is to listen to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListenOrder {
    /// Language code, such as `hi` (docs/contract/agents.md#fields).
    pub language: String,
}

/// What may well be said next. A recogniser that can, listens for it; the offline one makes its grammar of
/// it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Hints {
    /// The question's kind of answer, when a question was asked.
    pub expected: Option<Expected>,
    /// Words and phrases of the flow: choices, exits, names.
    pub phrases: Vec<String>,
}

/// What a recogniser reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heard {
    /// The turn so far, which may still change.
    Partial(String),
    /// All that was said between the last of these and [`Listening::turn_ended`]; empty when there were no
    /// words.
    Turn(String),
}

/// Speech to text.
pub trait Recogniser: Send + Sync {
    /// Its name in the settings.
    fn name(&self) -> &str;

    /// Whether what it hears stays in India.
    fn resident(&self) -> bool;

    /// Whether it understands the language of this code.
    fn speaks(&self, language: &str) -> bool;

    /// Starts to listen to one side of a conversation.
    fn listen(&self, order: ListenOrder) -> Answer<'_, Result<Box<dyn Listening>, ProviderError>>;

    /// Whether it can be used now, in a few words for a person (`dastak doctor`).
    fn check(&self) -> Answer<'_, Result<String, ProviderError>>;
}

/// One side of a conversation being listened to. Dropping it ends it.
pub trait Listening: Send + Sync {
    /// Takes what was heard, in order, any number of samples. Called on the thread that carries the sound: it
    /// never waits.
    fn feed(&self, samples: &[i16]);

    /// What may be said in the next turn.
    fn expect(&self, hints: Hints);

    /// The customer fell silent: every call of this is answered by one [`Heard::Turn`].
    fn turn_ended(&self);

    /// The next report. It may be dropped and asked for again without loss. An error ends the listening: open
    /// another.
    fn next(&self) -> Answer<'_, Result<Heard, ProviderError>>;
}

/// Something to be said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpeakOrder {
    /// A sentence or two.
    pub text: String,
    /// An id of `GET /v1/voices`; empty for the default one.
    pub voice: String,
    /// Language code.
    pub language: String,
}

/// Text to speech.
pub trait Synthesiser: Send + Sync {
    /// Its name in the settings.
    fn name(&self) -> &str;

    /// Whether what it says stays in India.
    fn resident(&self) -> bool;

    /// Whether it speaks the language of this code.
    fn speaks(&self, language: &str) -> bool;

    /// Voices beside the built-in ones: id, name, gender (`female`, `male`).
    fn voices(&self) -> Vec<(String, String, String)>;

    /// Starts to speak.
    fn speak(&self, order: SpeakOrder) -> Answer<'_, Result<Box<dyn Speaking>, ProviderError>>;

    /// Whether it can be used now, in a few words for a person.
    fn check(&self) -> Answer<'_, Result<String, ProviderError>>;
}

/// Sound on its way. Dropping it stops the synthesis.
pub trait Speaking: Send {
    /// The next samples, of any number; none after the last.
    fn next(&mut self) -> Answer<'_, Option<Result<Vec<i16>, ProviderError>>>;
}
