//! Sound of calls.

mod ear;

pub use ear::{Ear, FRAME, Frame, Tick};
