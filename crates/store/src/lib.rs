//! The only SQL of dastak. `db` is the engine: one text of every statement for SQLite and PostgreSQL,
//! synchronous transaction closures over one [`Tx`]. Beside it stands one file for each noun; every function
//! of theirs takes the tenant first.

pub mod db;

pub mod after_calls;
pub mod agents;
pub mod analytics;
pub mod api_keys;
pub mod call_legs;
pub mod call_wishes;
pub mod calls;
pub mod compliance_packs;
pub mod contacts;
pub mod decision_log;
pub mod deliveries;
pub mod dnd;
pub mod do_not_call;
pub mod erasure;
pub mod events;
pub mod idempotency;
pub mod installation;
pub mod members;
pub mod nudges;
pub mod numbers;
pub mod operator_log;
pub mod rate_windows;
pub mod recordings;
pub mod scheduled_calls;
pub mod tools;
pub mod transfer_numbers;
pub mod wallet;
pub mod webhooks;
pub mod workspaces;

pub use db::{DbError, Must, ROWS, Row, Settings, Store, StoreMetrics, Tx, Value, WakeSet};
