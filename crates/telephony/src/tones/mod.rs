//! Tones: made, and told from speech. Everything here takes 16-bit mono sound at 8000 samples a second, a
//! tick of 20 ms at a time, and needs a few microseconds for it.

mod beep;
mod keys;
mod make;
mod measure;
mod ringback;

pub use beep::{Beep, BeepHeard};
pub use keys::Keys;
pub use make::{dtmf, ringback, tone};
pub use ringback::Ringback;
