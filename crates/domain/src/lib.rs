//! The rules of dastak and nothing else: no tokio, no SQL, no HTTP, no clock and no randomness. Time,
//! randomness and new ids come in as arguments, decisions go out as values.

pub mod action;
pub mod actor;
pub mod agent;
pub mod analytics;
pub mod board;
pub mod call;
pub mod campaign;
pub mod channel;
pub mod chat;
pub mod compliance;
pub mod decision_log;
pub mod delivery;
pub mod document;
pub mod due_dial;
pub mod evaluation;
pub mod ids;
pub mod integration;
pub mod invisible;
mod json_schema;
pub mod knowledge;
pub mod masking;
pub mod names;
pub mod nearest;
pub mod nudge;
pub mod person;
pub mod phone;
pub mod ports;
pub mod scheduled_call;
pub mod secret;
pub mod sheet;
pub mod storable;
pub mod stream;
pub mod tenant;
pub mod time;
pub mod topic;
pub mod trace;
pub mod wallet;
pub mod window;
pub mod written_number;

/// Conversations, a crate of its own.
pub use conversation::{self, speech};
