//! Runs of a flow by its author, before anybody talks with it.

use const_format::formatcp;
use domain::ids::{Agent, FlowTry, Id};
use domain::time::Timestamp;

use crate::db::row::row;
use crate::db::{DbError, TenantTx, Tx};
use crate::params;

row! {
    #[derive(Debug, Clone)]
    pub struct FlowTryRow in "flow_tries" {
        id: Id<FlowTry>,
        agent: Id<Agent>,
        /// Who began it.
        author: String,
        /// The graph that it runs, JSON.
        graph: String,
        /// What was said, JSON.
        log: String,
        /// Grows with every save.
        version: i64,
        /// Whether its conversation is over.
        ended: bool,
        created_at: Timestamp,
        /// When it is forgotten.
        until: Timestamp,
    }
    insert with { workspace: Tenant }
}

pub fn insert(tx: &mut TenantTx, row: &FlowTryRow) -> Result<(), DbError> {
    tx.later(FlowTryRow::INSERT, &row.values())
}

/// One run that is not forgotten yet. The primary key serves it.
pub fn get(
    tx: &mut TenantTx,
    agent: Id<Agent>,
    id: Id<FlowTry>,
    now: Timestamp,
) -> Result<Option<FlowTryRow>, DbError> {
    const SQL: &str = formatcp!(
        "select {} from flow_tries where workspace = ?1 and agent = ?2 and id = ?3 and until > ?4",
        FlowTryRow::COLUMNS
    );
    tx.one(SQL, params![agent, id, now])
}

/// How many runs of the workspace are open. The index by workspace serves it.
pub fn count(tx: &mut TenantTx, now: Timestamp) -> Result<i64, DbError> {
    let sql = "select count(*) from flow_tries where workspace = ?1 and until > ?2";
    Ok(tx.one(sql, params![now])?.unwrap_or(0))
}

/// Saves what was said over the version that it follows; whether that is still the version.
pub fn save(tx: &mut TenantTx, row: &FlowTryRow) -> Result<bool, DbError> {
    let changed = tx.exec(
        "update flow_tries set log = ?4, ended = ?5, until = ?6, version = version + 1 \
         where workspace = ?1 and id = ?2 and version = ?3",
        params![row.id, row.version, row.log.as_str(), row.ended, row.until],
    )?;
    Ok(changed > 0)
}

/// Forgets a run; whether there was one.
pub fn remove(tx: &mut TenantTx, agent: Id<Agent>, id: Id<FlowTry>) -> Result<bool, DbError> {
    let sql = "delete from flow_tries where workspace = ?1 and agent = ?2 and id = ?3";
    Ok(tx.exec(sql, params![agent, id])? > 0)
}

/// Forgets the runs of an agent that is deleted.
pub fn forget(tx: &mut TenantTx, agent: Id<Agent>) -> Result<(), DbError> {
    tx.later("delete from flow_tries where workspace = ?1 and agent = ?2", params![agent])
}

/// Across workspaces: forgets up to `limit` runs whose time is over; how many. The index by that time serves it.
pub fn sweep(tx: &mut Tx<'_>, now: Timestamp, limit: i64) -> Result<u64, DbError> {
    tx.exec(
        "delete from flow_tries where id in (select id from flow_tries where until <= ?1 order by until limit ?2)",
        params![now, limit],
    )
}
