//! Speech to text and text to speech. Sound is 16-bit mono at [`SAMPLE_RATE`] everywhere; adapters convert.

use super::{Answer, ProviderError};
use crate::conversation::Expected;

/// Sample rate of all sound inside the service, in hertz: that of telephone lines.
pub const SAMPLE_RATE: u32 = 8000;

/// A conversation that a recogniser is to listen to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ListenOrder {
    /// Language code, such as `hi` (docs/contract/agents.md#fields).
    pub language: String,
    /// Further languages that may be spoken: one that tells languages apart listens for all of them.
    pub others: Vec<String>,
    /// Names, products and choices that may be said, the most important first.
    pub terms: Vec<String>,
}

impl ListenOrder {
    /// An order in one language, without terms.
    pub fn of(language: impl Into<String>) -> Self {
        Self { language: language.into(), ..Self::default() }
    }
}

/// What is likely to be said next. Recognisers may use it to improve their results; the offline one builds
/// its grammar from it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Hints {
    /// The kind of answer expected, when a question was asked.
    pub expected: Option<Expected>,
    /// Words and phrases of the flow: choices, exits, names.
    pub phrases: Vec<String>,
}

/// What a recogniser reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heard {
    /// The turn so far; it may still change.
    Partial(String),
    /// The language code of the words of the next `Turn`, from a recogniser that tells languages apart.
    Language(String),
    /// Everything that was said since the previous `Turn`, up to [`Listening::turn_ended`]; empty when there
    /// were no words.
    Turn(String),
}

pub trait Recogniser: Send + Sync {
    /// Its name in the settings.
    fn name(&self) -> &str;

    /// Whether the sound it receives stays in India.
    fn resident(&self) -> bool;

    /// Whether it understands the language with this code.
    fn speaks(&self, language: &str) -> bool;

    /// Starts to listen to one side of a conversation.
    fn listen(&self, order: ListenOrder) -> Answer<'_, Result<Box<dyn Listening>, ProviderError>>;

    /// Whether it is usable now, as a short text for a person (`dastak doctor`).
    fn check(&self) -> Answer<'_, Result<String, ProviderError>>;
}

/// A recogniser listening to one side of a conversation. Dropping it stops it.
pub trait Listening: Send + Sync {
    /// Takes any number of samples, in order. It is called on the sound thread, so it must never wait.
    fn feed(&self, samples: &[i16]);

    /// What may be said in the next turn.
    fn expect(&self, hints: Hints);

    /// The conversation goes on in this language. False when it must be listened to anew for that.
    fn follow(&self, language: &str) -> bool {
        let _ = language;
        false
    }

    /// The customer fell silent. Each call of this is answered with one [`Heard::Turn`].
    fn turn_ended(&self);

    /// The next report. The future may be dropped and requested again without loss. After an error, start
    /// listening anew.
    fn next(&self) -> Answer<'_, Result<Heard, ProviderError>>;
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpeakOrder {
    /// One or two sentences.
    pub text: String,
    /// An id of `GET /v1/voices`; empty for the default one.
    pub voice: String,
    pub language: String,
}

pub trait Synthesiser: Send + Sync {
    /// Its name in the settings.
    fn name(&self) -> &str;

    /// Whether the texts it receives stay in India.
    fn resident(&self) -> bool;

    /// Whether it speaks the language with this code.
    fn speaks(&self, language: &str) -> bool;

    /// Voices in addition to the built-in ones: id, name, gender (`female`, `male`).
    fn voices(&self) -> Vec<(String, String, String)>;

    fn speak(&self, order: SpeakOrder) -> Answer<'_, Result<Box<dyn Speaking>, ProviderError>>;

    /// Whether it is usable now, as a short text for a person.
    fn check(&self) -> Answer<'_, Result<String, ProviderError>>;
}

/// Sound being synthesised. Dropping it stops the synthesis.
pub trait Speaking: Send {
    /// The next samples, any number of them; `None` after the last.
    fn next(&mut self) -> Answer<'_, Option<Result<Vec<i16>, ProviderError>>>;
}
