//! Recognisers and synthesisers.
//!
//! | file | holds |
//! |---|---|
//! | `sarvam`, `deepgram`, `elevenlabs`, `cartesia`, `openai` | one provider each, as a dialect of `listening` and `speaking` |
//! | `offline` | espeak-ng and pocketsphinx as processes on this machine |
//! | `listening` | sound one way, words the other: the queue that never blocks, turns, keep-alive |
//! | `speaking` | warm connections, utterances, their early end |
//! | `languages` | which provider speaks what |
//! | `terms` | the key terms that a provider takes |
//! | `pcm` | bytes, samples and WAV headers |
//! | `resample` | other sampling rates |
//!
//! All network providers send and receive 16-bit linear samples at 8000 a second where the provider has that rate: it
//! is the rate of the line, and nothing is encoded twice. The caller does the end-pointing, so providers run with
//! manual end-pointing where they support it.

mod cartesia;
mod deepgram;
mod elevenlabs;
pub(crate) mod fuzzing;
mod languages;
mod listening;
pub mod offline;
mod openai;
mod pcm;
mod resample;
mod sarvam;
mod section;
mod speaking;
mod terms;
mod wire;

use std::sync::Arc;

use domain::ports::{Recogniser, Synthesiser};

use crate::http::Net;
use crate::settings;

pub(crate) use openai::list_models;
pub use openai::{Speech as OpenAiSpeech, Transcriptions as OpenAiTranscriptions};
pub use wire::{WireRecogniser, WireSynthesiser};

/// The names that `[speech.<name>]` may have, beside `offline`.
pub const NAMES: [&str; 5] = ["sarvam", "deepgram", "elevenlabs", "cartesia", "openai"];

/// The recogniser of a section.
///
/// # Errors
/// The setting that is wrong and why; never a secret.
pub fn recogniser(section: &settings::Speech, net: &Net) -> Result<Arc<dyn Recogniser>, String> {
    Ok(match section.name.as_str() {
        "sarvam" => Arc::new(sarvam::recogniser(section, net)?),
        "deepgram" => Arc::new(deepgram::recogniser(section, net)?),
        "elevenlabs" => Arc::new(elevenlabs::recogniser(section, net)?),
        "cartesia" => Arc::new(cartesia::recogniser(section, net)?),
        "openai" => Arc::new(openai::Transcriptions::new(section, net)?),
        other => return Err(unknown(other)),
    })
}

/// The synthesiser of a section.
///
/// # Errors
/// The setting that is wrong and why; never a secret.
pub fn synthesiser(section: &settings::Speech, net: &Net) -> Result<Arc<dyn Synthesiser>, String> {
    Ok(match section.name.as_str() {
        "sarvam" => Arc::new(sarvam::synthesiser(section, net)?),
        "deepgram" => Arc::new(deepgram::synthesiser(section, net)?),
        "elevenlabs" => Arc::new(elevenlabs::synthesiser(section, net)?),
        "cartesia" => Arc::new(cartesia::synthesiser(section, net)?),
        "openai" => Arc::new(openai::Speech::new(section, net)?),
        other => return Err(unknown(other)),
    })
}

fn unknown(name: &str) -> String {
    format!("there is no provider {name:?}; allowed are offline, {}", NAMES.join(", "))
}
