//! The rules of dastak and nothing else: no tokio, no SQL, no HTTP, no clock and no randomness. Time,
//! randomness and new ids come in as arguments, decisions go out as values.

pub mod agent;
pub mod analytics;
pub mod call;
pub mod campaign;
pub mod compliance;
pub mod conversation;
pub mod decision_log;
pub mod delivery;
pub mod ids;
pub mod integration;
mod json_schema;
pub mod nudge;
pub mod phone;
pub mod ports;
pub mod scheduled_call;
pub mod secret;
pub mod speech;
pub mod stream;
pub mod tenant;
pub mod time;
pub mod wallet;
pub mod window;
mod words;
