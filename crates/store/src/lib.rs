//! The only SQL of dastak. `db` is the engine: one text of every statement for SQLite and PostgreSQL,
//! synchronous transaction closures over one [`Tx`]. Beside it stands one file for each noun.
//!
//! A function about the data of a workspace takes a [`TenantTx`], which gives every statement the workspace as
//! `?1`, or a row that names its workspace. Work that finds out whose turn it is, and look-ups by a secret, cannot:
//! they take a [`Tx`], their docstrings begin with `Across workspaces:`, and a test holds every public function to
//! one or the other.

pub mod db;

pub mod after_calls;
pub mod agents;
pub mod analytics;
pub mod boards;
pub mod call_legs;
pub mod call_wishes;
pub mod calls;
pub mod campaigns;
pub mod carrier_refusals;
pub mod channel_accounts;
pub mod channel_campaigns;
pub mod channel_consents;
pub mod channel_conversations;
pub mod channel_inbox;
pub mod channel_messages;
pub mod channel_templates;
pub mod chats;
mod claims;
pub mod compliance_packs;
pub mod contacts;
pub mod decision_log;
pub mod deliveries;
pub mod dialler;
pub mod dnd;
pub mod do_not_call;
pub mod documents;
pub mod erasure;
pub mod events;
pub mod generations;
pub mod idempotency;
pub mod installation;
pub mod integrations;
pub mod kept_objects;
pub mod keys;
pub mod knowledge;
pub mod members;
pub mod nudges;
pub mod numbers;
pub mod operator_log;
pub mod polls;
pub mod pushes;
pub mod rate_windows;
pub mod recording_uploads;
pub mod recordings;
pub mod scheduled_calls;
pub mod server;
pub mod statistics;
pub mod streams;
#[cfg(test)]
mod tenants;
pub mod tools;
pub mod transfer_numbers;
pub mod trunk_shares;
pub mod turns;
pub mod vectors;
pub mod wallet;
pub mod webhooks;
pub mod weeks;
pub mod workspaces;

pub use db::{
    Column, Counter, DbError, Figure, Fold, FromRow, Must, OfTenant, ROWS, Settings, Store, StoreMetrics,
    TenantTx, Tx, Value, WakeSet,
};
