//! The hash chains of the workspaces: heads and rows. The rules of a chain are in `domain::decision_log`.

use const_format::formatcp;
use domain::decision_log::mark::Acceptance;
use domain::decision_log::{Chain, Decision, Head, Row as LogRow, Strand};
use domain::tenant::{Mode, Tenant};
use domain::time::{MINUTE, Timestamp};

use crate::db::row::row;
use crate::db::{DbError, TenantTx, Tx, Value};
use crate::params;

row! {
    /// The newest row of a chain as its head remembers it.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct HeadRow {
        /// Number and hash of the newest row.
        head: Head = |head| { seq: u64, hash: String } => Head { seq, hash },
        /// When it was decided.
        at: Timestamp,
        /// Keyed hash of the above.
        seal: String,
    }
}

const HEAD: &str =
    formatcp!("select {} from decision_log_heads where workspace = ?1 and chain = ?2", HeadRow::COLUMNS);

/// The head of a chain; `None` before its first row.
pub fn head(tx: &mut TenantTx, strand: Strand) -> Result<Option<HeadRow>, DbError> {
    tx.one(HEAD, params![strand])
}

/// The head of a chain, locked until the transaction ends, so that one writer at a time appends.
pub fn head_for_update(tx: &mut TenantTx, strand: Strand) -> Result<Option<HeadRow>, DbError> {
    let held = formatcp!("{HEAD} /*pg for update*/");
    if let Some(head) = tx.one::<HeadRow>(held, params![strand])? {
        return Ok(Some(head).filter(|head| head.head.seq > 0));
    }
    // The first writer of a chain inserts the row; a concurrent one waits for it here.
    tx.exec(
        "insert into decision_log_heads (workspace, chain, seq, hash, at, seal) values (?1, ?2, 0, ?3, 0, '') on conflict do nothing",
        params![strand, &Head::default().hash],
    )?;
    Ok(tx.one::<HeadRow>(held, params![strand])?.filter(|head| head.head.seq > 0))
}

/// Across workspaces: heads of all chains in the order of workspace and chain, after a place in it, at most
/// `limit`.
#[allow(clippy::type_complexity, reason = "a row")]
pub fn heads(
    tx: &mut Tx<'_>,
    after: &(String, String),
    limit: i64,
) -> Result<Vec<(String, String, HeadRow)>, DbError> {
    const SQL: &str = formatcp!(
        "select workspace, chain, {} from decision_log_heads where (workspace, chain) > (?1, ?2) order by workspace, chain limit ?3",
        HeadRow::COLUMNS
    );
    tx.all(SQL, params![&after.0, &after.1, limit])
}

/// Writes the seal of a head anew.
pub fn seal_head(tx: &mut TenantTx, strand: Strand, seal: &str) -> Result<(), DbError> {
    let sql = "update decision_log_heads set seal = ?3 where workspace = ?1 and chain = ?2";
    tx.later(sql, params![strand, seal])
}

/// The hash that the record with this number bears; `None` without such a record.
pub fn hash_at(tx: &mut TenantTx, strand: Strand, seq: u64) -> Result<Option<String>, DbError> {
    let sql = "select integrity_hash from decision_log where workspace = ?1 and chain = ?2 and seq = ?3";
    tx.one(sql, params![strand, seq])
}

/// The newest older state that the operator has accepted, with its seal.
pub fn accepted(tx: &mut TenantTx, strand: Strand) -> Result<Option<(Acceptance, String)>, DbError> {
    let sql =
        "select generation, seq, hash, seal from decision_log_accepted where workspace = ?1 and chain = ?2";
    let found: Option<(i64, i64, String, String)> = tx.one(sql, params![strand])?;
    Ok(found.map(|(generation, seq, hash, seal)| {
        let head = Head { seq: seq.unsigned_abs(), hash };
        (Acceptance { generation: generation.unsigned_abs(), head }, seal)
    }))
}

/// Writes down that an older state is accepted.
pub fn accept(
    tx: &mut TenantTx,
    strand: Strand,
    accepted: &Acceptance,
    seal: &str,
    now: Timestamp,
) -> Result<(), DbError> {
    tx.later(
        "insert into decision_log_accepted (workspace, chain, generation, seq, hash, at, seal) values (?1, ?2, ?3, ?4, ?5, ?6, ?7) \
         on conflict (workspace, chain) do update set generation = excluded.generation, seq = excluded.seq, hash = excluded.hash, at = excluded.at, \
         seal = excluded.seal",
        params![strand, accepted.generation, accepted.head.seq, &accepted.head.hash, now, seal],
    )
}

/// Writes the seal of an acceptance anew.
pub fn accept_seal(tx: &mut TenantTx, strand: Strand, seal: &str) -> Result<(), DbError> {
    let sql = "update decision_log_accepted set seal = ?3 where workspace = ?1 and chain = ?2";
    tx.later(sql, params![strand, seal])
}

row! {
    /// A row of a chain as stored: its fixed part, and its texts.
    #[derive(Debug, Clone)]
    pub struct NewRow in "decision_log" {
        tenant: Tenant as "workspace",
        /// The chain and its mode.
        strand: Strand as "chain",
        seq: u64,
        /// When it was decided.
        at: Timestamp,
        row: LogRow = |row| {
        interaction_id: String = &row.interaction_id,
        decision: String = &row.decision,
        blocked_by: String = &row.blocked_by,
        gate_results: String = &row.gate_results,
        outcome: String = &row.outcome,
        recording_ref: String = &row.recording_ref,
        consent_ref: String = &row.consent_ref,
        integrity_hash: String = &row.integrity_hash,
        prev_hash: String = &row.prev_hash,
        is_test: bool = strand.mode == Mode::Test,
        channel: String = &row.channel,
        agent_id: String = &row.agent_id,
        } => LogRow {
        seq: seq.to_string(),
        timestamp: at.to_string(),
        interaction_id,
        decision,
        blocked_by,
        gate_results,
        outcome,
        recording_ref,
        consent_ref,
        integrity_hash,
        prev_hash,
        is_test: is_test.to_string(),
        channel,
        agent_id,
        },
        /// Who acted, in a chain of actions; empty in others. The record says it, too.
        actor: String,
    }
}

/// Which records of a chain are wanted; all that are given must fit.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// About one of these: calls, chats, contacts, or the objects of actions.
    pub about: Option<Vec<String>>,
    pub decision: Option<Decision>,
    /// The gate that refused.
    pub gate: Option<String>,
    pub actor: Option<String>,
    /// The operation of an action.
    pub operation: Option<String>,
}

/// Records of a chain with numbers from `first` to `last`, newest first, at most `limit`. Served by
/// `decision_log_interactions` for `about`, `decision_log_gates` for `gate`, `decision_log_blocked` for refusals,
/// `decision_log_actors` and `decision_log_operations` for actions, and else by the primary key.
pub fn search(
    tx: &mut TenantTx,
    strand: Strand,
    filter: &Filter,
    (first, last): (u64, u64),
    limit: i64,
) -> Result<Vec<LogRow>, DbError> {
    let mut given = params![strand, first, last, limit].to_vec();
    let mut sql = format!(
        "select {} from decision_log where workspace = ?1 and chain = ?2 and seq >= ?3 and seq <= ?4",
        NewRow::COLUMNS
    );
    if let Some(about) = &filter.about {
        let places = tx.any_of(&mut given, about.iter().map(Value::from));
        sql.push_str(&format!(" and interaction_id in {places}"));
    }
    match filter.decision {
        Some(Decision::Blocked) => sql.push_str(" and decision = 'blocked'"),
        Some(Decision::Allowed) => sql.push_str(" and decision = 'allowed'"),
        None => {}
    }
    for (column, wanted) in
        [("blocked_by", &filter.gate), ("actor", &filter.actor), ("outcome", &filter.operation)]
    {
        if let Some(wanted) = wanted {
            given.push(Value::from(wanted));
            sql.push_str(&format!(" and {column} = ?{}", given.len() + 1));
        }
    }
    // The indexes of refusals and of actions are partial.
    if filter.gate.is_some() {
        sql.push_str(" and decision = 'blocked'");
    }
    if filter.actor.is_some() || filter.operation.is_some() {
        sql.push_str(" and actor <> ''");
    }
    sql.push_str(" order by seq desc limit ?5");
    let rows: Vec<NewRow> = tx.all(&sql, &given)?;
    Ok(rows.into_iter().map(|row| row.row).collect())
}

/// Adds rows. The caller moves the heads there in the same transaction ([`move_head`]).
pub fn append(tx: &mut Tx<'_>, rows: &[NewRow]) -> Result<(), DbError> {
    tx.insert_all(NewRow::INTO, rows.iter().map(NewRow::values))
}

/// Moves the head of a chain to the newest row that was added.
pub fn move_head(tx: &mut TenantTx, strand: Strand, head: &HeadRow) -> Result<(), DbError> {
    tx.change(
        "update decision_log_heads set seq = ?3, hash = ?4, at = ?5, seal = ?6 where workspace = ?1 and chain = ?2",
        params![strand, head.head.seq, &head.head.hash, head.at, &head.seal],
        DbError::Internal("the head of a chain of the decision log is gone".into()),
    )
}

/// Rows of a chain with a number above `after`, up to and with `last`, in order, at most `limit`.
pub fn page(
    tx: &mut TenantTx,
    strand: Strand,
    after: u64,
    last: u64,
    limit: i64,
) -> Result<Vec<LogRow>, DbError> {
    const SQL: &str = formatcp!(
        "select {} from decision_log where workspace = ?1 and chain = ?2 and seq > ?3 and seq <= ?4 order by seq limit ?5",
        NewRow::COLUMNS
    );
    let rows: Vec<NewRow> = tx.all(SQL, params![strand, after, last, limit])?;
    Ok(rows.into_iter().map(|row| row.row).collect())
}

/// The highest number in a chain; 0 in an empty one.
pub fn last_seq(tx: &mut TenantTx, strand: Strand) -> Result<u64, DbError> {
    let last = tx.one::<Option<i64>>(
        "select max(seq) from decision_log where workspace = ?1 and chain = ?2",
        params![strand],
    )?;
    Ok(last.flatten().unwrap_or(0).max(0) as u64)
}

/// The number of the first row of a chain that was decided at or after `at`; one more than the last when
/// there is none. Moments never go back along a chain, so it is found by halving, and rows need no index by
/// time.
fn first_from(tx: &mut TenantTx, strand: Strand, last: u64, at: Timestamp) -> Result<u64, DbError> {
    let (mut low, mut high) = (1, last.saturating_add(1));
    while low < high {
        let middle = low + (high - low) / 2;
        let sql = "select at from decision_log where workspace = ?1 and chain = ?2 and seq >= ?3 order by seq limit 1";
        let decided = tx.one::<Timestamp>(sql, params![strand, middle])?;
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
    tx: &mut TenantTx,
    strand: Strand,
    from: Option<Timestamp>,
    to: Option<Timestamp>,
) -> Result<Option<(u64, u64)>, DbError> {
    let last = last_seq(tx, strand)?;
    let first = from.map_or(Ok(1), |from| first_from(tx, strand, last, from))?;
    let last = to.map_or(Ok(last), |to| first_from(tx, strand, last, to).map(|after| after - 1))?;
    Ok((first <= last).then_some((first, last)))
}

row! {
    /// The number of dials that were refused on a day by one rule for one agent.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct BlockedCount {
        /// Days since 1970-01-01 in India.
        day: i64,
        /// The rule that refused.
        rule: String as "blocked_by",
        /// The agent, or empty.
        agent: String as "agent_id",
        /// Its name, while it exists.
        agent_name: Option<String> as "name",
        count: i64 as "blocked",
    }
}

/// Refused dials of one mode from `from` until before `to`, by day, rule and agent.
pub fn blocked(
    tx: &mut TenantTx,
    is_test: bool,
    from: Option<Timestamp>,
    to: Option<Timestamp>,
) -> Result<Vec<BlockedCount>, DbError> {
    let (from, to) = (from.unwrap_or(Timestamp(i64::MIN)), to.unwrap_or(Timestamp(i64::MAX)));
    const SQL: &str = formatcp!(
        "select {} from ( \
         select (at + 19800000) / 86400000 as day, blocked_by, agent_id, cast(count(*) as bigint) as blocked from decision_log \
         where workspace = ?1 and chain in ('audit', 'audit_test') and decision = 'blocked' and is_test = ?2 and at >= ?3 and at < ?4 \
         group by 1, 2, 3) as counted \
         left join agents on agents.workspace = ?1 and agents.id = counted.agent_id order by 1, 2, 3",
        BlockedCount::COLUMNS
    );
    tx.all(SQL, params![is_test, from, to])
}

/// How many calls of one mode kept and missed the disclosure, of those recorded from `from` until before `to`.
pub fn disclosures(
    tx: &mut TenantTx,
    is_test: bool,
    from: Option<Timestamp>,
    to: Option<Timestamp>,
) -> Result<(i64, i64), DbError> {
    let (from, to) = (from.unwrap_or(Timestamp(i64::MIN)), to.unwrap_or(Timestamp(i64::MAX)));
    let counted = tx.all::<(String, i64)>(
        "select outcome, cast(count(*) as bigint) from decision_log where workspace = ?1 and chain in ('audit', 'audit_test') \
         and outcome in ('disclosure_kept', 'disclosure_missed') and is_test = ?2 and at >= ?3 and at < ?4 group by outcome",
        params![is_test, from, to],
    )?;
    let of = |outcome: &str| counted.iter().find(|(word, _)| word == outcome).map_or(0, |(_, count)| *count);
    Ok((of("disclosure_kept"), of("disclosure_missed")))
}

/// The gate results of a call or chat that began at about `near`, as recorded.
pub fn gate_results(
    tx: &mut TenantTx,
    chain: Chain,
    interaction: &str,
    near: Timestamp,
) -> Result<Option<String>, DbError> {
    for mode in [Mode::Live, Mode::Test] {
        let strand = Strand { chain, mode };
        let Some((first, last)) = range(tx, strand, Some(near.plus(-MINUTE)), Some(near.plus(MINUTE)))?
        else {
            continue;
        };
        let results = tx.one(
            "select gate_results from decision_log where workspace = ?1 and chain = ?2 and seq >= ?3 and seq <= ?4 and interaction_id = ?5 \
             order by seq limit 1",
            params![strand, first, last, interaction])?;
        if results.is_some() {
            return Ok(results);
        }
    }
    Ok(None)
}
