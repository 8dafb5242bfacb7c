//! Calls over real SIP and RTP: the service with its trunks, its sandbox, and outside peers (baresip, SIPp)
//! on loopback. Time is real here: the peers have clocks of their own.

#![allow(clippy::disallowed_methods, reason = "the peers' time is real")]

mod baresip;
#[allow(dead_code, reason = "shared with the tests of the telephony crate, which use all of it")]
#[path = "../../../telephony/tests/sip/raw.rs"]
mod carrier;
mod carriers;
#[path = "../../../providers/tests/wire/head.rs"]
mod head;
mod kit;
mod knows;
mod live;
mod orders;
mod outside;
mod people;
#[allow(dead_code, reason = "shared with the other test binary, which uses all of it")]
#[path = "../it/receiver.rs"]
mod receiver;
mod rough;
mod sandbox;
mod sayings;
mod screeners;
mod server;
#[path = "../it/shows.rs"]
mod shows;
mod sipp;
#[path = "../../../telephony/tests/sip/sockets.rs"]
mod sockets;
mod sounds;
mod strangers;
mod words;
