//! Telephony: SIP user agent, SDP, RTP, jitter buffer, codecs, DTMF, and in-process legs for the sandbox.
//!
//! | room | holds |
//! |---|---|
//! | `settings` | what an operator says about trunks, addresses and ports |
//! | `media` | sound: ports, packets, jitter buffer, codecs, digits, encryption; [`media::Ear`] hears one call's sound, [`media::Line`] speaks into it |
//! | `sip` | signalling: trunks and their health, calls out and in, hold, refer, session timers |
//! | `loopback` | legs between two parties of this process: the sandbox |
//! | `tones` | the tones of keys and beeps |
//!
//! What the call is about is not known here: the `voice` crate holds the conversation.

pub mod loopback;
pub mod media;
pub mod settings;
pub mod sip;
pub mod tones;

/// Readers of strangers' bytes, for fuzz targets.
#[doc(hidden)]
pub mod fuzzing {
    /// Sound: descriptions, packets, keys, encryption.
    pub mod media {
        pub use crate::media::fuzzing::{digits, rtp, sdp, srtp, stream};
        pub use crate::media::unplugged::{Call, Packet, Peer, key, read};
    }
    /// Signalling: messages, connections, bodies.
    pub mod sip {
        pub use crate::sip::fuzzing::{body, message, stream};
        pub use crate::sip::unplugged::{address, exchange, messages, readable};
    }
}
