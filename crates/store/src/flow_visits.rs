//! How often conversations took each edge of a version of a flow, by day of India. The rows are counters: they are
//! changed with the commit of the transaction that ends the conversation, so none is lost and none is counted twice.

use std::hash::{DefaultHasher, Hash, Hasher};

use domain::analytics::hour_of;
use domain::conversation::EdgeVisits;
use domain::ids::{Agent, Id};
use domain::tenant::Mode;
use domain::time::Timestamp;

use crate::calls::CallRow;
use crate::chats::ChatRow;
use crate::db::row::row;
use crate::db::{Counter, DbError, Fold, TenantTx, Tx};
use crate::params;

/// Rows that the visits of one edge are counted in, on PostgreSQL: calls of one agent that end at the same moment on
/// several nodes seldom wait for each other.
const SHARDS: u128 = 16;

/// Days for which visits are kept.
pub const KEPT_DAYS: i64 = 90;

/// The day of India of a timestamp, counted from 1970.
pub fn day_of(moment: Timestamp) -> i64 {
    hour_of(moment).div_euclid(24)
}

/// Counts the edges that a call took, which ended at `at`. Nothing for a call without a version.
pub fn count_call(tx: &mut Tx<'_>, row: &CallRow, path: &[EdgeVisits], at: Timestamp) -> Result<(), DbError> {
    let (Some(agent), Some(version)) = (row.agent, row.flow_version) else { return Ok(()) };
    let of = Counted { agent, mode: row.mode, version, at, shard: row.id.bits() % SHARDS };
    count(&mut tx.of(row.workspace), &of, path)
}

/// Counts the edges that a chat took, which ended at `at`. Nothing for a chat without a version, and for a test chat.
pub fn count_chat(tx: &mut Tx<'_>, row: &ChatRow, path: &[EdgeVisits], at: Timestamp) -> Result<(), DbError> {
    let Some(version) = row.flow_version.filter(|_| row.test_link.is_none()) else { return Ok(()) };
    let of = Counted { agent: row.agent, mode: Mode::Live, version, at, shard: row.id.bits() % SHARDS };
    count(&mut tx.of(row.workspace), &of, path)
}

/// What a path is counted for.
struct Counted {
    agent: Id<Agent>,
    mode: Mode,
    version: i64,
    at: Timestamp,
    shard: u128,
}

fn count(tx: &mut TenantTx, of: &Counted, path: &[EdgeVisits]) -> Result<(), DbError> {
    let shard = if tx.shared() { shard(tx, of.shard as i64) } else { 0 };
    let day = day_of(of.at);
    for taken in path {
        let mut order = DefaultHasher::new();
        (of.mode.as_str(), of.version, day, &taken.from, &taken.edge, shard).hash(&mut order);
        tx.tally(
            Counter::FlowEdge(of.agent.bits(), order.finish()),
            "insert into flow_visits (workspace, agent, mode, version, day, node, edge, shard, visits) \
             values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) \
             on conflict (workspace, agent, mode, version, day, node, edge, shard) \
             do update set visits = flow_visits.visits + excluded.visits",
            &[
                Fold::Same,
                Fold::Same,
                Fold::Same,
                Fold::Same,
                Fold::Same,
                Fold::Same,
                Fold::Same,
                Fold::Same,
                Fold::Sum,
            ],
            params![
                of.agent,
                of.mode,
                of.version,
                day,
                taken.from.as_str(),
                taken.edge.as_str(),
                shard,
                i64::from(taken.visits)
            ],
            None,
        )?;
    }
    Ok(())
}

/// The row in which this transaction counts: the same for all conversations that it ends, so that each edge is one
/// statement.
fn shard(tx: &mut TenantTx, wanted: i64) -> i64 {
    const HELD: &str = "row of flow visits";
    match tx.cached_ref::<i64>(HELD) {
        Some(shard) => *shard,
        None => {
            tx.cache_row(HELD.to_owned(), wanted);
            wanted
        }
    }
}

row! {
    /// The visits of an edge.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct EdgeRow {
        /// The node that it leaves; empty for the start.
        node: String,
        edge: String,
        visits: i64 as "cast(sum(visits) as bigint)",
    }
}

/// The visits of each edge of a version since a day, by node and edge. The primary key serves it: at most one row for an
/// edge, a day and a shard.
pub fn of_version(
    tx: &mut TenantTx,
    agent: Id<Agent>,
    mode: Mode,
    version: i64,
    since_day: i64,
) -> Result<Vec<EdgeRow>, DbError> {
    const SQL: &str = const_format::formatcp!(
        "select {} from flow_visits where workspace = ?1 and agent = ?2 and mode = ?3 and version = ?4 and day >= ?5 \
         group by node, edge order by node, edge",
        EdgeRow::COLUMNS
    );
    tx.all(SQL, params![agent, mode, version, since_day])
}

/// Forgets the visits of an agent that is deleted.
pub fn forget(tx: &mut TenantTx, agent: Id<Agent>) -> Result<(), DbError> {
    tx.later("delete from flow_visits where workspace = ?1 and agent = ?2", params![agent])
}

/// Across workspaces: deletes the visits of up to `limit` rows before a day; how many. The index by day serves it.
pub fn sweep(tx: &mut Tx<'_>, before_day: i64, limit: i64) -> Result<u64, DbError> {
    tx.exec(
        "delete from flow_visits where (workspace, agent, mode, version, day, node, edge, shard) in \
         (select workspace, agent, mode, version, day, node, edge, shard from flow_visits where day < ?1 order by day limit ?2)",
        params![before_day, limit],
    )
}
