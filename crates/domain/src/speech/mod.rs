//! Rules about spoken words, pure: what a person means by a few of them, and where a text may be cut for a
//! voice.
//!
//! | file | holds |
//! |---|---|
//! | `matching` | spellings folded to one, and phrases with alternatives and gaps; everything below reads text through it |
//! | `opt_out` | «do not call me again» in eleven languages; `opt_out/*` are its phrases |
//! | `intents` | the other few things that every call has to understand: busy, not interested, wrong number, a person please |
//! | `backchannel` | `haan`, `hmm`, a cough: sounds of a listener that do not interrupt |
//! | `unfinished` | whether more is to come: used to wait longer before a turn is taken as ended |
//! | `voicemail` | what answering machines and operators' announcements say |
//! | `sentences` | a text in pieces that a voice can speak, whole or as it is written |
//!
//! Text may be in native script, in Latin letters, or mixed, as recognisers and people write it. Nothing here
//! fails: what is not understood is not found.

mod backchannel;
mod intents;
mod matching;
mod opt_out;
#[cfg(test)]
mod properties;
mod sentences;
mod unfinished;
mod voicemail;

pub use backchannel::backchannel;
pub use intents::{Intent, english_phrases, intent, yes_or_no};
pub use matching::{Pattern, Patterns, fold};
pub use opt_out::opt_out;
pub use sentences::{SentenceSplitter, sentences};
pub use unfinished::unfinished;
pub use voicemail::voicemail;

/// The eleven languages of agents (docs/contract/agents.md#fields), by code.
pub const LANGUAGES: [&str; 11] = ["en", "hi", "bn", "gu", "kn", "ml", "mr", "or", "pa", "ta", "te"];

/// The same in the order of the tables.
const LANGUAGES_IN_TABLES: [&str; 11] = ["en", "hi", "pa", "gu", "mr", "bn", "or", "ta", "te", "kn", "ml"];
