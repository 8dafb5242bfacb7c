//! Outbound adapters: everything that speaks to a service outside, behind one guarded HTTP client.
//!
//! Every request to an address that a user gave (webhook receivers, tools, customer systems) goes through [`GuardedClient`]; nothing else in this
//! crate opens a socket.

pub mod guarded_client;
pub mod language_model;
pub mod settings;
pub mod speech;

pub use guarded_client::GuardedClient;
