//! Engines on loopback: two of them, or one against a hand-made peer.

#[path = "media/peer.rs"]
mod peer;

#[path = "media/calls.rs"]
mod calls;
#[path = "media/network.rs"]
mod network;
#[path = "media/ports.rs"]
mod ports;
