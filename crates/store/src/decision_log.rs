//! The hash chains of the workspaces: heads and rows. The rules of a chain are in `domain::decision_log`.

use domain::decision_log::mark::Acceptance;
use domain::decision_log::{Chain, Head, Row as LogRow, Strand};
use domain::tenant::{Mode, Tenant};
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
    let seq =
        u64::try_from(row.int(0)?).map_err(|_| DbError::Internal("a head stands before its chain".into()))?;
    Ok(HeadRow { head: Head { seq, hash: row.text(1)? }, at: row.time(2)?, seal: row.text(3)? })
}

/// The head of a chain; `None` before its first row.
pub fn head(tx: &mut Tx<'_>, tenant: Tenant, strand: Strand) -> Result<Option<HeadRow>, DbError> {
    tx.one(HEAD, params![tenant, strand.as_str()], read_head)
}

/// The head of a chain, held until the transaction ends, so that one writer at a time appends.
pub fn head_for_update(tx: &mut Tx<'_>, tenant: Tenant, strand: Strand) -> Result<Option<HeadRow>, DbError> {
    let held = format!("{HEAD} /*pg for update*/");
    if let Some(head) = tx.one(&held, params![tenant, strand.as_str()], read_head)? {
        return Ok(Some(head).filter(|head| head.head.seq > 0));
    }
    // The first writer of a chain makes the row; one that comes at the same moment waits for it here.
    tx.exec(
        "insert into decision_log_heads (workspace, chain, seq, hash, at, seal) values (?1, ?2, 0, ?3, 0, '') on conflict do nothing",
        params![tenant, strand.as_str(), &Head::default().hash],
    )?;
    Ok(tx.one(&held, params![tenant, strand.as_str()], read_head)?.filter(|head| head.head.seq > 0))
}

/// Heads of all chains in the order of workspace and chain, after a place in it, at most `limit`.
#[allow(clippy::type_complexity, reason = "a row")]
pub fn heads(
    tx: &mut Tx<'_>,
    after: &(String, String),
    limit: i64,
) -> Result<Vec<(String, String, HeadRow)>, DbError> {
    tx.all(
        "select seq, hash, at, seal, workspace, chain from decision_log_heads where (workspace, chain) > (?1, ?2) order by workspace, chain limit ?3",
        params![&after.0, &after.1, limit],
        |row| Ok((row.text(4)?, row.text(5)?, read_head(row)?)),
    )
}

/// Writes the seal of a head anew.
pub fn seal_head(tx: &mut Tx<'_>, tenant: Tenant, strand: Strand, seal: &str) -> Result<(), DbError> {
    let sql = "update decision_log_heads set seal = ?3 where workspace = ?1 and chain = ?2";
    tx.later(sql, params![tenant, strand.as_str(), seal])
}

/// The hash that the record with this number bears; `None` without such a record.
pub fn hash_at(tx: &mut Tx<'_>, tenant: Tenant, strand: Strand, seq: u64) -> Result<Option<String>, DbError> {
    let sql = "select integrity_hash from decision_log where workspace = ?1 and chain = ?2 and seq = ?3";
    tx.one(sql, params![tenant, strand.as_str(), i64::try_from(seq).unwrap_or(i64::MAX)], |row| row.text(0))
}

/// The newest older state that the operator has accepted, with its seal.
pub fn accepted(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    strand: Strand,
) -> Result<Option<(Acceptance, String)>, DbError> {
    let sql =
        "select generation, seq, hash, seal from decision_log_accepted where workspace = ?1 and chain = ?2";
    let read = |row: &Row<'_>| {
        let head = Head { seq: row.int(1)?.unsigned_abs(), hash: row.text(2)? };
        Ok((Acceptance { generation: row.int(0)?.unsigned_abs(), head }, row.text(3)?))
    };
    tx.one(sql, params![tenant, strand.as_str()], read)
}

/// Writes down that an older state is accepted.
pub fn accept(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    strand: Strand,
    accepted: &Acceptance,
    seal: &str,
    now: Timestamp,
) -> Result<(), DbError> {
    tx.later(
        "insert into decision_log_accepted (workspace, chain, generation, seq, hash, at, seal) values (?1, ?2, ?3, ?4, ?5, ?6, ?7) \
         on conflict (workspace, chain) do update set generation = excluded.generation, seq = excluded.seq, hash = excluded.hash, at = excluded.at, \
         seal = excluded.seal",
        params![tenant, strand.as_str(), accepted.generation as i64, accepted.head.seq as i64, &accepted.head.hash, now, seal],
    )
}

/// Writes the seal of an acceptance anew.
pub fn accept_seal(tx: &mut Tx<'_>, tenant: Tenant, strand: Strand, seal: &str) -> Result<(), DbError> {
    let sql = "update decision_log_accepted set seal = ?3 where workspace = ?1 and chain = ?2";
    tx.later(sql, params![tenant, strand.as_str(), seal])
}

/// A row to be added, and what of it the store keeps as it is rather than as text.
#[derive(Debug, Clone)]
pub struct NewRow {
    /// The workspace.
    pub tenant: Tenant,
    /// The chain and its world.
    pub strand: Strand,
    /// Its number.
    pub seq: u64,
    /// When it was decided.
    pub at: Timestamp,
    /// Its texts.
    pub row: LogRow,
}

/// Adds rows. The caller moves the heads there in the same transaction ([`move_head`]).
pub fn append<'r>(tx: &mut Tx<'_>, rows: &'r [NewRow]) -> Result<(), DbError> {
    let into = "insert into decision_log (workspace, chain, seq, at, interaction_id, decision, blocked_by, gate_results, outcome, recording_ref, consent_ref, \
         integrity_hash, prev_hash, is_test, channel, agent_id)";
    let values = |NewRow { tenant, strand, seq, at, row }: &'r NewRow| -> [Value<'r>; 16] {
        [
            (*tenant).into(),
            strand.as_str().into(),
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
            (strand.world == Mode::Test).into(),
            (&row.channel).into(),
            (&row.agent_id).into(),
        ]
    };
    tx.insert_all(into, rows.iter().map(values))
}

/// Moves the head of a chain to the newest row that was added.
pub fn move_head(tx: &mut Tx<'_>, tenant: Tenant, strand: Strand, head: &HeadRow) -> Result<(), DbError> {
    tx.later(
        "update decision_log_heads set seq = ?3, hash = ?4, at = ?5, seal = ?6 where workspace = ?1 and chain = ?2",
        params![tenant, strand.as_str(), head.head.seq as i64, &head.head.hash, head.at, &head.seal],
    )
}

/// Rows of a chain with a number above `after`, up to and with `last`, in order, at most `limit`.
pub fn page(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    strand: Strand,
    after: u64,
    last: u64,
    limit: i64,
) -> Result<Vec<LogRow>, DbError> {
    tx.all(
        "select seq, at, interaction_id, decision, blocked_by, gate_results, outcome, recording_ref, consent_ref, integrity_hash, prev_hash, is_test, \
         channel, agent_id from decision_log where workspace = ?1 and chain = ?2 and seq > ?3 and seq <= ?4 order by seq limit ?5",
        params![tenant, strand.as_str(), after as i64, last as i64, limit],
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
pub fn last_seq(tx: &mut Tx<'_>, tenant: Tenant, strand: Strand) -> Result<u64, DbError> {
    let last = tx.one(
        "select max(seq) from decision_log where workspace = ?1 and chain = ?2",
        params![tenant, strand.as_str()],
        |row| row.opt_int(0),
    )?;
    Ok(last.flatten().unwrap_or(0).max(0) as u64)
}

/// The number of the first row of a chain that was decided at or after `at`; one more than the last when
/// there is none. Moments never go back along a chain, so it is found by halving, and rows need no index by
/// time.
fn first_from(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    strand: Strand,
    last: u64,
    at: Timestamp,
) -> Result<u64, DbError> {
    let (mut low, mut high) = (1, last.saturating_add(1));
    while low < high {
        let middle = low + (high - low) / 2;
        let sql = "select at from decision_log where workspace = ?1 and chain = ?2 and seq >= ?3 order by seq limit 1";
        let decided = tx.one(sql, params![tenant, strand.as_str(), middle as i64], |row| row.time(0))?;
        if decided.is_none_or(|decided| decided >= at) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Ok(low)
}

/// The numbers of the first row decided at or after `from` and of the last one decided before `to`; `None`
/// when there is none between.
pub fn range(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    strand: Strand,
    from: Option<Timestamp>,
    to: Option<Timestamp>,
) -> Result<Option<(u64, u64)>, DbError> {
    let last = last_seq(tx, tenant, strand)?;
    let first = from.map_or(Ok(1), |from| first_from(tx, tenant, strand, last, from))?;
    let last = to.map_or(Ok(last), |to| first_from(tx, tenant, strand, last, to).map(|after| after - 1))?;
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
pub fn blocked(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    is_test: bool,
    from: Option<Timestamp>,
    to: Option<Timestamp>,
) -> Result<Vec<Blocked>, DbError> {
    let (from, to) = (from.unwrap_or(Timestamp(i64::MIN)), to.unwrap_or(Timestamp(i64::MAX)));
    tx.all(
        "select counted.day, counted.blocked_by, counted.agent_id, agents.name, counted.blocked from ( \
         select (at + 19800000) / 86400000 as day, blocked_by, agent_id, cast(count(*) as bigint) as blocked from decision_log \
         where workspace = ?1 and chain in ('audit', 'audit_test') and decision = 'blocked' and is_test = ?2 and at >= ?3 and at < ?4 \
         group by 1, 2, 3) as counted \
         left join agents on agents.workspace = ?1 and agents.id = counted.agent_id order by 1, 2, 3",
        params![tenant, is_test, from, to],
        |row| Ok(Blocked { day: row.int(0)?, rule: row.text(1)?, agent: row.text(2)?, agent_name: row.opt_text(3)?, count: row.int(4)? }),
    )
}

/// What the gates said about a call or chat that began at about `near`, as its record holds it.
pub fn gate_results(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    chain: Chain,
    interaction: &str,
    near: Timestamp,
) -> Result<Option<String>, DbError> {
    for world in [Mode::Live, Mode::Test] {
        let strand = Strand { chain, world };
        let Some((first, last)) =
            range(tx, tenant, strand, Some(near.plus(-MINUTE)), Some(near.plus(MINUTE)))?
        else {
            continue;
        };
        let results = tx.one(
            "select gate_results from decision_log where workspace = ?1 and chain = ?2 and seq >= ?3 and seq <= ?4 and interaction_id = ?5 \
             order by seq limit 1",
            params![tenant, strand.as_str(), first as i64, last as i64, interaction],
            |row| row.text(0),
        )?;
        if results.is_some() {
            return Ok(results);
        }
    }
    Ok(None)
}
