//! The wire: every operation of the HTTP API as one row of data (method, path, who may call it, limits,
//! bodies, errors). The router, the access test, the CLI and the OpenAPI document all read these rows.

pub mod envelope;
pub mod error_codes;
pub mod openapi;
pub mod operation;
pub mod operations;
pub mod schema;
pub mod scopes;

pub mod account;
pub mod agents;
pub mod analytics;
pub mod audit;
pub mod boards;
pub mod calls;
pub mod campaigns;
pub mod channel_accounts;
pub mod channel_conversations;
pub mod channel_messages;
pub mod channel_templates;
pub mod chats;
pub mod contacts;
pub mod data_streams;
pub mod dev;
pub mod dnd;
pub mod do_not_call;
pub mod documents;
pub mod events;
pub mod integrations;
pub mod knowledge_bases;
pub mod knowledge_files;
pub mod node;
pub mod nudges;
pub mod numbers;
pub mod operator;
pub mod operator_agents;
pub mod recordings;
pub mod scheduled_calls;
pub mod system;
pub mod tools;
pub mod transfer_numbers;
pub mod wallet;
pub mod webhooks;
