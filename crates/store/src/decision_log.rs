//! The hash chains of the workspaces: heads and rows. The rules of a chain are in `domain::decision_log`.

use domain::decision_log::{Chain, Head, Row as LogRow};
use domain::tenant::Tenant;
use domain::time::{MINUTE, Timestamp};

use crate::db::{DbError, Row, Tx, Value};
use crate::params;

/// The newest row of a chain as its head remembers it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeadRow {
    /// Number and hash of the newest row.
    pub head: Head,
    /// When it was decided.
    pub at: Timestamp,
    /// Keyed hash of the above.
    pub seal: String,
}

const HEAD: &str = "select seq, hash, at, seal from decision_log_heads where workspace = ?1 and chain = ?2";

fn read_head(row: &Row<'_>) -> Result<HeadRow, DbError> {
    let seq = u64::try_from(row.int(0)?).map_err(|_| DbError::Internal("a head stands before its chain".into()))?;
    Ok(HeadRow { head: Head { seq, hash: row.text(1)? }, at: row.time(2)?, seal: row.text(3)? })
}

/// The head of a chain; `None` before its first row.
pub fn head(tx: &mut Tx<'_>, tenant: Tenant, chain: Chain) -> Result<Option<HeadRow>, DbError> {
    tx.one(HEAD, params![tenant, chain.as_str()], read_head)
}

/// The head of a chain, held until the transaction ends, so that one writer at a time appends.
pub fn head_for_update(tx: &mut Tx<'_>, tenant: Tenant, chain: Chain) -> Result<Option<HeadRow>, DbError> {
    let held = format!("{HEAD} /*pg for update*/");
    if let Some(head) = tx.one(&held, params![tenant, chain.as_str()], read_head)? {
        return Ok(Some(head).filter(|head| head.head.seq > 0));
    }
    // The first writer of a chain makes the row; one that comes at the same moment waits for it here.
    tx.exec(
        "insert into decision_log_heads (workspace, chain, seq, hash, at, seal) values (?1, ?2, 0, ?3, 0, '') on conflict do nothing",
        params![tenant, chain.as_str(), &Head::default().hash],
    )?;
    Ok(tx.one(&held, params![tenant, chain.as_str()], read_head)?.filter(|head| head.head.seq > 0))
}

/// A row to be added, and what of it the store keeps as it is rather than as text.
#[derive(Debug, Clone)]
pub struct NewRow {
    /// The workspace.
    pub tenant: Tenant,
    /// The chain.
    pub chain: Chain,
    /// Its number.
    pub seq: u64,
    /// When it was decided.
    pub at: Timestamp,
    /// Whether it is of the test world.
    pub is_test: bool,
    /// Its texts.
    pub row: LogRow,
}

/// Adds rows. The caller moves the heads there in the same transaction ([`move_head`]).
pub fn append<'r>(tx: &mut Tx<'_>, rows: &'r [NewRow]) -> Result<(), DbError> {
    let into = "insert into decision_log (workspace, chain, seq, at, interaction_id, decision, blocked_by, gate_results, outcome, recording_ref, consent_ref, \
         integrity_hash, prev_hash, is_test, channel, agent_id)";
    let values = |NewRow { tenant, chain, seq, at, is_test, row }: &'r NewRow| -> [Value<'r>; 16] {
        [
            (*tenant).into(),
            chain.as_str().into(),
            (*seq as i64).into(),
            (*at).into(),
            (&row.interaction_id).into(),
            (&row.decision).into(),
            (&row.blocked_by).into(),
            (&row.gate_results).into(),
            (&row.outcome).into(),
            (&row.recording_ref).into(),
            (&row.consent_ref).into(),
            (&row.integrity_hash).into(),
            (&row.prev_hash).into(),
            (*is_test).into(),
            (&row.channel).into(),
            (&row.agent_id).into(),
        ]
    };
    tx.insert_all(into, rows.iter().map(values))
}

/// Moves the head of a chain to the newest row that was added.
pub fn move_head(tx: &mut Tx<'_>, tenant: Tenant, chain: Chain, head: &HeadRow) -> Result<(), DbError> {
    tx.later(
        "update decision_log_heads set seq = ?3, hash = ?4, at = ?5, seal = ?6 where workspace = ?1 and chain = ?2",
        params![tenant, chain.as_str(), head.head.seq as i64, &head.head.hash, head.at, &head.seal],
    )
}

/// Rows of a chain with a number above `after`, up to and with `last`, in order, at most `limit`.
pub fn page(tx: &mut Tx<'_>, tenant: Tenant, chain: Chain, after: u64, last: u64, limit: i64) -> Result<Vec<LogRow>, DbError> {
    tx.all(
        "select seq, at, interaction_id, decision, blocked_by, gate_results, outcome, recording_ref, consent_ref, integrity_hash, prev_hash, is_test, \
         channel, agent_id from decision_log where workspace = ?1 and chain = ?2 and seq > ?3 and seq <= ?4 order by seq limit ?5",
        params![tenant, chain.as_str(), after as i64, last as i64, limit],
        |row| {
            Ok(LogRow {
                seq: row.int(0)?.to_string(),
                timestamp: row.time(1)?.to_string(),
                interaction_id: row.text(2)?,
                decision: row.text(3)?,
                blocked_by: row.text(4)?,
                gate_results: row.text(5)?,
                outcome: row.text(6)?,
                recording_ref: row.text(7)?,
                consent_ref: row.text(8)?,
                integrity_hash: row.text(9)?,
                prev_hash: row.text(10)?,
                is_test: row.flag(11)?.to_string(),
                channel: row.text(12)?,
                agent_id: row.text(13)?,
            })
        },
    )
}

/// The highest number in a chain; 0 in an empty one.
pub fn last_seq(tx: &mut Tx<'_>, tenant: Tenant, chain: Chain) -> Result<u64, DbError> {
    let last =
        tx.one("select max(seq) from decision_log where workspace = ?1 and chain = ?2", params![tenant, chain.as_str()], |row| row.opt_int(0))?;
    Ok(last.flatten().unwrap_or(0).max(0) as u64)
}

/// The number of the first row of a chain that was decided at or after `at`; one more than the last when there is none. Moments never go back along a
/// chain, so it is found by halving, and rows need no index by time.
fn first_from(tx: &mut Tx<'_>, tenant: Tenant, chain: Chain, last: u64, at: Timestamp) -> Result<u64, DbError> {
    let (mut low, mut high) = (1, last.saturating_add(1));
    while low < high {
        let middle = low + (high - low) / 2;
        let sql = "select at from decision_log where workspace = ?1 and chain = ?2 and seq >= ?3 order by seq limit 1";
        let decided = tx.one(sql, params![tenant, chain.as_str(), middle as i64], |row| row.time(0))?;
        if decided.is_none_or(|decided| decided >= at) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Ok(low)
}

/// The numbers of the first row decided at or after `from` and of the last one decided before `to`; `None` when there is none between.
pub fn range(tx: &mut Tx<'_>, tenant: Tenant, chain: Chain, from: Option<Timestamp>, to: Option<Timestamp>) -> Result<Option<(u64, u64)>, DbError> {
    let last = last_seq(tx, tenant, chain)?;
    let first = from.map_or(Ok(1), |from| first_from(tx, tenant, chain, last, from))?;
    let last = to.map_or(Ok(last), |to| first_from(tx, tenant, chain, last, to).map(|after| after - 1))?;
    Ok((first <= last).then_some((first, last)))
}

/// How many dials were refused on a day by one rule for one agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocked {
    /// Days since 1970-01-01 in India.
    pub day: i64,
    /// The rule that refused.
    pub rule: String,
    /// The agent, or empty.
    pub agent: String,
    /// Its name, while it exists.
    pub agent_name: Option<String>,
    /// How many.
    pub count: i64,
}

/// Refused dials of one world from `from` until before `to`, by day, rule and agent.
pub fn blocked(tx: &mut Tx<'_>, tenant: Tenant, is_test: bool, from: Option<Timestamp>, to: Option<Timestamp>) -> Result<Vec<Blocked>, DbError> {
    let (from, to) = (from.unwrap_or(Timestamp(i64::MIN)), to.unwrap_or(Timestamp(i64::MAX)));
    tx.all(
        "select counted.day, counted.blocked_by, counted.agent_id, agents.name, counted.blocked from ( \
         select (at + 19800000) / 86400000 as day, blocked_by, agent_id, cast(count(*) as bigint) as blocked from decision_log \
         where workspace = ?1 and chain = 'audit' and decision = 'blocked' and is_test = ?2 and at >= ?3 and at < ?4 \
         group by 1, 2, 3) as counted \
         left join agents on agents.workspace = ?1 and agents.id = counted.agent_id order by 1, 2, 3",
        params![tenant, is_test, from, to],
        |row| Ok(Blocked { day: row.int(0)?, rule: row.text(1)?, agent: row.text(2)?, agent_name: row.opt_text(3)?, count: row.int(4)? }),
    )
}

/// What the gates said about a call or chat that began at about `near`, as its record holds it.
pub fn gate_results(tx: &mut Tx<'_>, tenant: Tenant, chain: Chain, interaction: &str, near: Timestamp) -> Result<Option<String>, DbError> {
    let Some((first, last)) = range(tx, tenant, chain, Some(near.plus(-MINUTE)), Some(near.plus(MINUTE)))? else { return Ok(None) };
    tx.one(
        "select gate_results from decision_log where workspace = ?1 and chain = ?2 and seq >= ?3 and seq <= ?4 and interaction_id = ?5 order by seq limit 1",
        params![tenant, chain.as_str(), first as i64, last as i64, interaction],
        |row| row.text(0),
    )
}
