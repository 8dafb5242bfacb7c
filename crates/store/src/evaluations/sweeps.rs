//! Sweeps: past conversations of an agent that are graded again, in the order of their beginning.

use const_format::formatcp;
use domain::call::{Direction, Status};
use domain::evaluation::{Cause, Graded, SweepStatus};
use domain::ids::{Agent, Call, Chat, EvaluationSweep, Id};
use domain::tenant::Tenant;
use domain::time::Timestamp;

use crate::calls::phase;
use crate::claims::Claimed;
use crate::db::row::{row, update};
use crate::db::{DbError, TenantTx, Tx, Value};
use crate::params;

row! {
    /// An evaluation of many past conversations.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct SweepRow in "evaluation_sweeps" {
        id: Id<EvaluationSweep>,
        agent: Id<Agent>,
        kind: Graded,
        /// Conversations that began from here on.
        from_at: Timestamp,
        /// And before this.
        to_at: Timestamp,
        /// Only with this outcome.
        outcome: Option<String>,
        /// Only without an evaluation.
        only_ungraded: bool,
        criteria_version: i64,
        status: SweepStatus,
        cause: Option<Cause>,
        /// Conversations when it began.
        conversations: i64,
        queued: i64,
        graded: i64,
        failed: i64,
        skipped: i64,
        /// Minor units of one conversation when it began.
        price: i64,
        /// Minor units so far.
        charged: i64,
        /// The last conversation that was queued.
        position: String,
        /// Who began it ([`domain::actor::Actor`]).
        created_by: String,
        created_at: Timestamp,
        finished_at: Option<Timestamp>,
        /// When it goes on; `None` once it is over.
        next_at: Option<Timestamp>,
    }
    insert with { workspace: Tenant }
}

const COLUMNS: &str = SweepRow::COLUMNS;

/// Adds a sweep. Returns whether it was added: not where one of the agent is running.
pub fn insert(tx: &mut TenantTx, row: &SweepRow) -> Result<bool, DbError> {
    const SQL: &str = formatcp!("{} on conflict do nothing", SweepRow::INSERT);
    Ok(tx.exec(SQL, &row.values())? > 0)
}

pub fn get(tx: &mut TenantTx, id: Id<EvaluationSweep>) -> Result<Option<SweepRow>, DbError> {
    const SQL: &str = formatcp!("select {COLUMNS} from evaluation_sweeps where workspace = ?1 and id = ?2");
    tx.one(SQL, params![id])
}

/// One sweep, locked until the transaction ends.
pub fn get_for_update(tx: &mut TenantTx, id: Id<EvaluationSweep>) -> Result<Option<SweepRow>, DbError> {
    const SQL: &str = formatcp!(
        "select {COLUMNS} from evaluation_sweeps where workspace = ?1 and id = ?2 /*pg for update*/"
    );
    tx.one(SQL, params![id])
}

/// Sweeps of a workspace, newest first, older than the id `before`. Index `evaluation_sweeps_newest`.
pub fn list(tx: &mut TenantTx, before: Option<&str>, limit: i64) -> Result<Vec<SweepRow>, DbError> {
    const SQL: &str = formatcp!(
        "select {COLUMNS} from evaluation_sweeps where workspace = ?1 and id < ?2 order by id desc limit ?3"
    );
    tx.all(SQL, params![before.unwrap_or("evs_~"), limit])
}

/// Saves what changes of a sweep that the transaction has locked, and ends its claim.
pub fn save(tx: &mut TenantTx, row: &SweepRow) -> Result<(), DbError> {
    let (sql, values) = update!(
        "evaluation_sweeps" of tenant set {
            status: row.status,
            cause: row.cause,
            queued: row.queued,
            graded: row.graded,
            failed: row.failed,
            skipped: row.skipped,
            charged: row.charged,
            position: &row.position,
            finished_at: row.finished_at,
            next_at: row.next_at,
        }
        and "claimed_until = null"
        where "id = ?2", row.id
    );
    tx.later(sql, &values)
}

/// How many runs of a sweep are pending. Index `evaluation_runs_of_sweep`.
pub fn pending(tx: &mut TenantTx, id: Id<EvaluationSweep>) -> Result<i64, DbError> {
    let sql =
        "select count(*) from evaluation_runs where workspace = ?1 and sweep = ?2 and next_at is not null";
    Ok(tx.one(sql, params![id])?.unwrap_or(0))
}

/// Deletes the pending runs of a sweep that ends: what nodes find for them is not stored.
pub fn drop_pending(tx: &mut TenantTx, id: Id<EvaluationSweep>) -> Result<u64, DbError> {
    let sql = "delete from evaluation_runs where workspace = ?1 and sweep = ?2 and next_at is not null";
    tx.exec(sql, params![id])
}

const CLAIMED: Claimed = Claimed { table: "evaluation_sweeps", due: "next_at", key: "workspace, id" };

/// Across workspaces: up to `limit` sweeps that are due and not claimed, longest due first, except those of the workspaces
/// in `without`.
pub fn due(
    tx: &mut Tx<'_>,
    now: Timestamp,
    without: &[Tenant],
    limit: i64,
) -> Result<Vec<(Tenant, Id<EvaluationSweep>)>, DbError> {
    CLAIMED.due(tx, now, without, limit)
}

/// Claims a sweep until `until`.
pub fn claim(tx: &mut TenantTx, id: Id<EvaluationSweep>, until: Timestamp) -> Result<(), DbError> {
    CLAIMED.claim(tx, params![id], until)
}

/// Across workspaces: when the next sweep without a claim is due.
pub fn next_due(tx: &mut Tx<'_>, now: Timestamp) -> Result<Option<Timestamp>, DbError> {
    CLAIMED.next_due(tx, now)
}

/// Which past conversations of an agent are meant.
#[derive(Debug, Clone)]
pub struct Wanted {
    pub agent: Id<Agent>,
    pub kind: Graded,
    pub from: Timestamp,
    pub to: Timestamp,
    pub outcome: Option<String>,
    pub only_ungraded: bool,
}

impl Wanted {
    /// The least id in the range.
    fn first(&self) -> String {
        match self.kind {
            Graded::Chat => Id::<Chat>::new(self.from.0, 0).to_string(),
            Graded::Call => Id::<Call>::new(self.from.0, 0).to_string(),
        }
    }

    /// The least id after the range.
    fn end(&self) -> String {
        match self.kind {
            Graded::Chat => Id::<Chat>::new(self.to.0, 0).to_string(),
            Graded::Call => Id::<Call>::new(self.to.0, 0).to_string(),
        }
    }
}

/// Up to `?5` finished conversations of an agent after the id `?3` and before `?4`, in the order of their ids, which grow
/// with the time; `said` are those in which the customer said something. Chats by the index `chats_of_agent`, calls by
/// `calls_of_agent`, of which each phase is a range.
fn finished(kind: Graded) -> String {
    match kind {
        Graded::Chat => "select id, created_at as began_at, outcome, (customer_messages > 0 and (analysis is null or analysis <> 'pending')) as said from chats \
             where workspace = ?1 and agent = ?2 and ended_at is not null and test_link is null and id > ?3 and id < ?4 order by id limit ?5"
            .to_owned(),
        Graded::Call => {
            let walk = |direction: Direction| {
                let phase = phase(direction, Status::Completed);
                format!(
                    "select * from (select id, started_at as began_at, outcome, (analysis is not null and analysis <> 'pending' and transcript is not null) as said from calls \
                     where workspace = ?1 and mode = 'live' and agent = ?2 and phase = '{phase}' and id > ?3 and id < ?4 order by id limit ?5) as {direction}"
                )
            };
            let walks: Vec<String> = Direction::ALL.iter().copied().map(walk).collect();
            format!("{} order by id limit ?5", walks.join(" union all "))
        }
    }
}

/// What of those is wanted.
fn narrowed(wanted: &Wanted, values: &mut Vec<Value<'static>>) -> String {
    let mut sql = "said".to_owned();
    if let Some(outcome) = &wanted.outcome {
        values.push(outcome.clone().into());
        sql.push_str(&format!(" and outcome = ?{}", values.len() + 1));
    }
    if wanted.only_ungraded {
        sql.push_str(
            " and not exists (select 1 from evaluation_runs as r where r.workspace = ?1 and r.conversation = finished.id)",
        );
    }
    sql
}

/// How many of the first `most` finished conversations of the range are wanted, and how many there are of these.
pub fn count(tx: &mut TenantTx, wanted: &Wanted, most: i64) -> Result<(i64, i64), DbError> {
    let mut values: Vec<Value<'static>> =
        vec![wanted.agent.into(), wanted.first().into(), wanted.end().into(), most.into()];
    let narrowed = narrowed(wanted, &mut values);
    let finished = finished(wanted.kind);
    let sql = format!(
        "select cast(coalesce(sum(case when {narrowed} then 1 else 0 end), 0) as bigint), count(*) from ({finished}) as finished"
    );
    Ok(tx.one(&sql, &values)?.unwrap_or_default())
}

/// The next wanted conversations after the id `after`, of at most `look` finished ones, with when they began; and the last
/// id that was looked at, if there may be more behind it.
pub fn next(
    tx: &mut TenantTx,
    wanted: &Wanted,
    after: &str,
    look: i64,
) -> Result<(Vec<(String, Timestamp)>, Option<String>), DbError> {
    let first = wanted.first();
    let after = if after < first.as_str() { first } else { after.to_owned() };
    let mut values: Vec<Value<'static>> =
        vec![wanted.agent.into(), after.into(), wanted.end().into(), look.into()];
    let narrowed = narrowed(wanted, &mut values);
    let finished = finished(wanted.kind);
    let sql = format!(
        "select id, began_at, case when {narrowed} then 1 else 0 end from ({finished}) as finished order by id"
    );
    let looked: Vec<(String, Timestamp, bool)> = tx.all(&sql, &values)?;
    let last = looked.last().filter(|_| looked.len() as i64 >= look).map(|(id, ..)| id.clone());
    let found = looked.into_iter().filter(|(.., wanted)| *wanted).map(|(id, began, _)| (id, began));
    Ok((found.collect(), last))
}
