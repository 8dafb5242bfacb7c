//! Media of calls: RTP, SRTP, SDP, jitter buffer, codecs, DTMF.
//!
//! An [`Engine`] owns the RTP ports and a few operating system threads that do nothing but carry sound.
//! [`sdp`] finds out with the other side how a call's sound travels, [`Engine::connect`] starts it: from then
//! on the [`Ear`] hears every 20 ms tick, and the [`Line`] speaks, stops speaking, presses keys and holds.
//!
//! | file | holds |
//! |---|---|
//! | `engine`, `thread` | ports and threads, ticks by absolute deadlines |
//! | `flow` | one call's tick: packets in, ear, packets out |
//! | `line` | the handle |
//! | `loopback` | media between two parties of this process |
//! | `jitter`, `latch`, `rtp`, `srtp`, `digits`, `packer`, `codec` | what a tick is made of |
//! | `sdp` | offers and answers |
//!
//! RTCP is neither sent nor read: the port above each RTP port is kept free of other calls but not opened,
//! and `rtcp-mux` is not offered. Carriers judge a call by its RTP; the peer's loss reports would have no
//! reader here.

mod codec;
mod digits;
mod engine;
mod figures;
mod flow;
pub(crate) mod fuzzing;
mod jitter;
mod latch;
mod line;
pub(crate) mod loopback;
mod packer;
mod ports;
mod rtp;
pub mod sdp;
mod srtp;
mod thread;
pub(crate) mod unplugged;

pub use crate::settings::Codec;
pub use domain::ports::{Ear, FRAME, Frame, Tick};
pub use engine::{Engine, Settings};
pub use figures::{Figures, LATENESS_MS, LineFigures};
pub use latch::Sources;
pub use line::Line;
pub use ports::{OpenError, Socket};
pub use sdp::{Agreed, Direction, SdpError};
pub(crate) use srtp::random;
pub use srtp::{Keys, MasterKey, Suite};
