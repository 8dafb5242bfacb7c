//! Calls over real SIP and RTP: the service with its trunks, its sandbox, and outside peers (baresip, SIPp) on loopback. Time is real here: the
//! peers have clocks of their own.

#![allow(clippy::disallowed_methods, reason = "the peers' time is real")]

mod baresip;
mod kit;
mod live;
mod orders;
mod outside;
#[allow(dead_code, reason = "shared with the other test binary, which uses all of it")]
#[path = "../it/receiver.rs"]
mod receiver;
mod rough;
mod sandbox;
mod server;
mod sipp;
mod sounds;
