//! Criteria of agents, in versions, and which conversations are graded by themselves.

use const_format::formatcp;
use domain::ids::{Agent, Id};
use domain::time::Timestamp;
use serde_json::Value as Json;

use crate::db::row::row;
use crate::db::{DbError, TenantTx};
use crate::params;

row! {
    /// The evaluation of an agent's conversations.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct SettingsRow in "evaluation_settings" {
        agent: Id<Agent>,
        /// Whether finished conversations are graded by themselves.
        enabled: bool,
        /// Of a million finished chats, so many are.
        chats_per_million: i64,
        calls_per_million: i64,
        /// The version of the criteria that is in force.
        version: i64,
        updated_at: Timestamp,
        /// Who changed it ([`domain::actor::Actor`]).
        updated_by: String,
    }
    insert with { workspace: Tenant }
}

row! {
    /// A version of an agent's criteria.
    #[derive(Debug, Clone, PartialEq)]
    pub struct VersionRow in "evaluation_criteria" {
        agent: Id<Agent>,
        /// From 1.
        version: i64,
        /// List of [`domain::evaluation::Criterion`].
        criteria: Json,
        created_at: Timestamp,
        created_by: String,
    }
    insert with { workspace: Tenant }
}

/// The settings of an agent; `None` until they are set.
pub fn settings(tx: &mut TenantTx, agent: Id<Agent>) -> Result<Option<SettingsRow>, DbError> {
    const SQL: &str = formatcp!(
        "select {} from evaluation_settings where workspace = ?1 and agent = ?2",
        SettingsRow::COLUMNS
    );
    tx.one(SQL, params![agent])
}

/// Sets the settings of an agent, whose row the transaction has locked.
pub fn save_settings(tx: &mut TenantTx, row: &SettingsRow) -> Result<(), DbError> {
    const SQL: &str = formatcp!(
        "{} on conflict (workspace, agent) do update set enabled = excluded.enabled, \
         chats_per_million = excluded.chats_per_million, calls_per_million = excluded.calls_per_million, \
         version = excluded.version, updated_at = excluded.updated_at, updated_by = excluded.updated_by",
        SettingsRow::INSERT
    );
    tx.later(SQL, &row.values())
}

/// Adds a version, and deletes those before `oldest`.
pub fn add_version(tx: &mut TenantTx, row: &VersionRow, oldest: i64) -> Result<(), DbError> {
    tx.later(VersionRow::INSERT, &row.values())?;
    let sql = "delete from evaluation_criteria where workspace = ?1 and agent = ?2 and version < ?3";
    tx.later(sql, params![row.agent, oldest])
}

/// A version of an agent's criteria.
pub fn version(tx: &mut TenantTx, agent: Id<Agent>, version: i64) -> Result<Option<VersionRow>, DbError> {
    const SQL: &str = formatcp!(
        "select {} from evaluation_criteria where workspace = ?1 and agent = ?2 and version = ?3",
        VersionRow::COLUMNS
    );
    tx.one(SQL, params![agent, version])
}
