//! The conversation on a leg: received audio becomes inputs of the interpreter, its outputs become synthesised speech.
//! `docs/voice.md` explains its behaviour.
//!
//! | file | holds |
//! |---|---|
//! | `order`, `services` | the interface: the order, the services that a conversation needs, its audio output |
//! | `ear` | on the thread that carries the sound: voice activity, beeps, feeding the recogniser, the recording |
//! | `call` | the task of the conversation, its sides and its parts |
//! | `speaking` | texts to sentences, sentences to sound, sound to the line, and what was heard of it |
//! | `work` | concurrent tasks: synthesis, model, tools, transfers, recogniser |
//! | `phrases` | sentences of its own |
//!
//! Time here is the line's: ticks of 20 ms, counted by the ear. No wait of a conversation uses another clock.

mod call;
mod ear;
mod order;
mod phrases;
mod services;
mod speaking;
mod terms;
mod work;

pub use call::hold;
pub use ear::{Hearing, HearingSettings, Recorder, Recording, Recordings, Silent, hearing};
pub use order::{Amd, Command, Held, Order, Speech};
pub use phrases::CallPhrases;
pub use services::{CallProgress, CallServices, TransferFailure, TransferOrder};
