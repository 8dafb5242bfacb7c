//! Tones: made, and told from speech.

mod make;

pub use make::{dtmf, tone};
