//! The conversation on audio: from the sound of a line to what the interpreter hears, and from what it says
//! to sound. `docs/voice.md` tells how it behaves and why.
//!
//! | file | holds |
//! |---|---|
//! | `order`, `desk` | the interface: what is to be held, what is needed of the service, what is spoken into |
//! | `hearing`, `activity`, `tone` | the ear, on the thread that carries the sound: voice activity, beeps, feeding the recogniser |
//! | `recorder` | both sides in a file, written by a thread of its own |
//! | `hold` | the conversation's task; `agent`, `customer` and `timers` are its three sides |
//! | `turn`, `endpoint` | when the customer's turn is over |
//! | `machine` | answering machine detection |
//! | `speaker`, `playout` | sentences to sound, sound to the line, and what was heard of it |
//! | `work` | what is under way beside it: synthesis, model, tools, transfers, recogniser |
//! | `lines`, `ringing` | sentences of its own, the ringing tone |
//!
//! Time here is the line's: ticks of 20 ms, counted by the ear. No wait of a conversation reads another
//! clock.

mod activity;
mod agent;
mod customer;
mod desk;
mod endpoint;
mod hearing;
mod hold;
mod lines;
mod machine;
mod order;
mod playout;
mod recorder;
mod ringing;
mod speaker;
mod timers;
mod tone;
mod turn;
mod work;

pub use desk::{Desk, Mouth, TransferFailure, TransferOrder};
pub use hearing::{Hearing, HearingSettings, hearing};
pub use hold::hold;
pub use lines::Lines;
pub use order::{Amd, Command, Held, Order, Speech};
pub use recorder::{Recorder, Recording, Recordings};

impl Mouth for telephony::media::Line {
    fn play(&self, samples: &[i16]) {
        let taken = telephony::media::Line::play(self, samples);
        debug_assert!(taken == samples.len(), "a conversation never queues a line full");
    }

    fn clear(&self) -> usize {
        telephony::media::Line::clear(self)
    }

    fn queued_ms(&self) -> u32 {
        telephony::media::Line::queued_ms(self)
    }

    fn played_ms(&self) -> u64 {
        telephony::media::Line::played_ms(self)
    }

    fn send_digits(&self, keys: &str) {
        telephony::media::Line::send_digits(self, keys);
    }
}
