//! The only SQL of dastak. `db` is the engine: one SQL text for SQLite and PostgreSQL, synchronous transaction closures
//! over one [`Tx`]. Beside it there is one file for each noun.
//!
//! A function on a workspace's data takes a [`TenantTx`], which binds the workspace as `?1` of every statement, or a
//! row that names its workspace. Queues of all workspaces and lookups by a secret take a [`Tx`]: their docstrings begin
//! with `Across workspaces:`. A test checks that every public function does one or the other.

pub mod db;

pub mod after_calls;
pub mod agents;
pub mod analytics;
pub mod attention;
pub mod bell;
pub mod boards;
pub mod call_legs;
pub mod call_lists;
pub mod calls;
pub mod campaigns;
pub mod carrier_refusals;
pub mod changes;
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
pub mod dial_locks;
pub mod dialler;
pub mod dnd;
pub mod do_not_call;
pub mod documents;
pub mod erasure;
pub mod evaluations;
pub mod events;
pub mod flow_tries;
pub mod flow_versions;
pub mod flow_visits;
pub mod generations;
pub mod hangup_requests;
pub mod idempotency;
pub mod inbox;
pub mod installation;
pub mod integrations;
pub mod invitations;
pub mod kept_objects;
pub mod keys;
pub mod knowledge;
pub mod live_calls;
pub mod members;
pub mod nudges;
pub mod numbers;
pub mod operator_log;
pub mod partitions;
pub mod people;
pub mod polls;
pub mod pushes;
pub mod rate_windows;
pub mod recording_uploads;
pub mod recordings;
pub mod scheduled_calls;
pub mod search;
pub mod server;
pub mod sessions;
pub mod sign_in_links;
pub mod statistics;
pub mod streams;
#[cfg(test)]
mod tenants;
pub mod test_links;
pub mod tools;
pub mod transfer_numbers;
pub mod trunk_shares;
pub mod vectors;
pub mod wallet;
pub mod webhooks;
pub mod workspaces;

pub use db::{
    CampaignCounter, Column, Counter, DbError, Fold, FromRow, Must, OfTenant, ROWS, Settings, Store,
    StoreMetrics, TenantTx, Tx, Value, WakeSet,
};
