//! Versions of flows: every graph that an agent published, and who has a draft open. A version has a copy of its graph, so
//! it does not depend on the row of `flows` that conversations run.

use const_format::formatcp;
use domain::ids::{Agent, Id, User};
use domain::time::Timestamp;

use crate::db::row::row;
use crate::db::{DbError, TenantTx, Tx};
use crate::params;

row! {
    /// A version, without its graph.
    #[derive(Debug, Clone)]
    pub struct FlowVersionRow in "flow_versions" {
        /// From 1.
        number: i64,
        /// The id of the graph in `flows`.
        flow: String,
        bytes: i64,
        /// SHA-256 of the graph, hex.
        hash: String,
        /// Who published it.
        author: Option<String>,
        /// The name of the member then.
        author_name: Option<String>,
        /// `None` if it was published before versions were kept.
        published_at: Option<Timestamp>,
        note: Option<String>,
    }
}

/// Adds a version with the graph of its flow; one of this number stays as it is.
pub fn add(tx: &mut TenantTx, agent: Id<Agent>, row: &FlowVersionRow) -> Result<(), DbError> {
    tx.later(
        "insert into flow_versions (workspace, agent, number, flow, graph, bytes, hash, author, author_name, published_at, note) \
         select workspace, agent, cast(?4 as bigint), id, graph, bytes, ?5, ?6, ?7, cast(?8 as bigint), ?9 \
         from flows where workspace = ?1 and agent = ?2 and id = ?3 \
         on conflict (workspace, agent, number) do nothing",
        params![
            agent,
            row.flow.as_str(),
            row.number,
            row.hash.as_str(),
            row.author.as_deref(),
            row.author_name.as_deref(),
            row.published_at,
            row.note.as_deref()
        ],
    )
}

/// One version. The primary key serves it.
pub fn get(tx: &mut TenantTx, agent: Id<Agent>, number: i64) -> Result<Option<FlowVersionRow>, DbError> {
    const SQL: &str = formatcp!(
        "select {} from flow_versions where workspace = ?1 and agent = ?2 and number = ?3",
        FlowVersionRow::COLUMNS
    );
    tx.one(SQL, params![agent, number])
}

/// The graph of a version, as JSON text.
pub fn graph(tx: &mut TenantTx, agent: Id<Agent>, number: i64) -> Result<Option<String>, DbError> {
    tx.one(
        "select graph from flow_versions where workspace = ?1 and agent = ?2 and number = ?3",
        params![agent, number],
    )
}

/// Versions before a number, newest first. The primary key serves it.
pub fn list(
    tx: &mut TenantTx,
    agent: Id<Agent>,
    before: i64,
    limit: i64,
) -> Result<Vec<FlowVersionRow>, DbError> {
    const SQL: &str = formatcp!(
        "select {} from flow_versions where workspace = ?1 and agent = ?2 and number < ?3 order by number desc limit ?4",
        FlowVersionRow::COLUMNS
    );
    tx.all(SQL, params![agent, before, limit])
}

/// Numbers and bytes of all versions, newest first.
pub fn sizes(tx: &mut TenantTx, agent: Id<Agent>) -> Result<Vec<(i64, i64)>, DbError> {
    tx.all(
        "select number, bytes from flow_versions where workspace = ?1 and agent = ?2 order by number desc",
        params![agent],
    )
}

/// Drops the versions up to this number that no open chat runs.
pub fn drop_up_to(tx: &mut TenantTx, agent: Id<Agent>, number: i64) -> Result<(), DbError> {
    tx.later(
        "delete from flow_versions where workspace = ?1 and agent = ?2 and number <= ?3 and not exists \
         (select 1 from chats where chats.flow = flow_versions.flow and chats.ended_at is null)",
        params![agent, number],
    )
}

/// Forgets the versions and the editors of an agent that is deleted.
pub fn forget(tx: &mut TenantTx, agent: Id<Agent>) -> Result<(), DbError> {
    tx.later("delete from flow_versions where workspace = ?1 and agent = ?2", params![agent])?;
    tx.later("delete from flow_editors where workspace = ?1 and agent = ?2", params![agent])
}

row! {
    /// A member who has the flow of an agent open.
    #[derive(Debug, Clone)]
    pub struct FlowEditorRow in "flow_editors" {
        member: Id<User>,
        name: String,
        /// When the member opened it.
        since: Timestamp,
        /// When its lease ends.
        until: Timestamp,
    }
    insert with { workspace: Tenant, agent: Id<Agent> }
}

/// Those who have it open now, the first one first.
pub fn editors(tx: &mut TenantTx, agent: Id<Agent>, now: Timestamp) -> Result<Vec<FlowEditorRow>, DbError> {
    const SQL: &str = formatcp!(
        "select {} from flow_editors where workspace = ?1 and agent = ?2 and until > ?3 order by since, member",
        FlowEditorRow::COLUMNS
    );
    tx.all(SQL, params![agent, now])
}

/// A member has it open until `row.until`. Keeps the time since when, unless the lease before has ended.
pub fn open(tx: &mut TenantTx, agent: Id<Agent>, row: &FlowEditorRow, now: Timestamp) -> Result<(), DbError> {
    const SQL: &str = formatcp!(
        "{} on conflict (workspace, agent, member) do update set name = excluded.name, until = excluded.until, \
         since = case when flow_editors.until > excluded.since then flow_editors.since else excluded.since end",
        FlowEditorRow::INSERT
    );
    tx.later(
        "delete from flow_editors where workspace = ?1 and agent = ?2 and until <= ?3",
        params![agent, now],
    )?;
    tx.later(SQL, &row.values(agent))
}

/// A member closed it.
pub fn close(tx: &mut TenantTx, agent: Id<Agent>, member: Id<User>) -> Result<(), DbError> {
    tx.later(
        "delete from flow_editors where workspace = ?1 and agent = ?2 and member = ?3",
        params![agent, member],
    )
}

/// Across workspaces: forgets up to `limit` members whose lease has ended. The index by its end serves it.
pub fn sweep_editors(tx: &mut Tx<'_>, now: Timestamp, limit: i64) -> Result<u64, DbError> {
    tx.exec(
        "delete from flow_editors where (workspace, agent, member) in \
         (select workspace, agent, member from flow_editors where until <= ?1 order by until limit ?2)",
        params![now, limit],
    )
}
