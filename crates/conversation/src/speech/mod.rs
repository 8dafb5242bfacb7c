//! Pure rules about spoken words: what common phrases mean, and where a text may be split for a voice.
//!
//! | file | holds |
//! |---|---|
//! | `matching` | phrases with alternatives and gaps, matched regardless of spelling; the files below use it |
//! | `opt_out` | «do not call me again» in eleven languages; its phrases are `languages/*/optouts.toml` |
//! | `stop_words` | words that stop messages on a channel; they are `languages/*/stopwords.toml` |
//! | `intents` | the other intents that every call has to understand: busy, not interested, wrong number, a person please |
//! | `backchannel` | `haan`, `hmm`, a cough: words of a listener that do not interrupt |
//! | `unfinished` | whether the speaker is likely to go on, so that the end of the turn is awaited longer |
//! | `answering` | what voicemail, screening assistants and announcements of operators say; its phrases are `languages/*/answering.toml` |
//! | `sentences` | splitting a text, complete or still being written, into pieces for a voice |
//!
//! Text may be in native script, in Latin letters, or mixed, as recognisers and people write it. Nothing here
//! fails: what is not understood does not match.

mod answering;
mod backchannel;
mod intents;
mod matching;
mod opt_out;
#[cfg(test)]
mod properties;
mod sentences;
mod stop_words;
mod unfinished;

pub use crate::language::spoken::{language_of, spoken as spoken_language};
pub use answering::{Machine, machine, takes_over};
pub use backchannel::backchannel;
pub use intents::{Intent, english_phrases, intent, yes_or_no};
pub use matching::{Pattern, Patterns, fold};
pub use opt_out::opt_out;
pub use sentences::{SentenceSplitter, sentences};
pub use stop_words::{STOP_WORDS, StopWordRow, StopWords, folded};
pub use unfinished::unfinished;

/// The eleven languages of agents (docs/contract/agents.md#fields), by code.
pub const LANGUAGES: [&str; 11] = ["en", "hi", "bn", "gu", "kn", "ml", "mr", "or", "pa", "ta", "te"];
