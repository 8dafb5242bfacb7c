//! Calls that are written back to connected systems: which record a person is there, and what is owed
//! (docs/contract/integrations.md#writing-calls-back).

use const_format::formatcp;
use domain::ids::{Call, DataStream, Id, Integration};
use domain::integration::PushedCalls;
use domain::tenant::Tenant;
use domain::time::Timestamp;

use crate::db::row::{row, update};
use crate::db::{DbError, ROWS, TenantTx, Tx};
use crate::params;

/// A person from a connected system (CRM).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushPersonRow {
    pub workspace: Tenant,
    /// Keyed hash of the number.
    pub phone_hash: String,
    pub integration: Id<Integration>,
    /// Its source stream.
    pub stream: Id<DataStream>,
    /// Kind of the record there.
    pub object: String,
    pub record: String,
}

row! {
    /// A call that is to be written back, or was.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct PushRow in "integration_pushes" {
        call: Id<Call>,
        integration: Id<Integration>,
        workspace: Tenant,
        /// Kind of the person's record there.
        object: String,
        record: String,
        /// How often it was tried.
        attempts: i64,
        /// Whether an attempt may have arrived without our knowing.
        unsure: bool,
        /// When it is due; `None` when it is over.
        next_at: Option<Timestamp>,
        /// When it was added.
        created_at: Timestamp,
        /// When it was over.
        done_at: Option<Timestamp>,
        /// The id of the record that the system created.
        written: Option<String>,
    }
}

const COLUMNS: &str = PushRow::COLUMNS;

/// Records which CRM record each person is; the newest one wins. The numbers must be distinct.
pub fn know(tx: &mut Tx<'_>, people: &[PushPersonRow]) -> Result<(), DbError> {
    let sql = "insert into integration_people (workspace, phone_hash, integration, stream, object, record) values (?1, ?2, ?3, ?4, ?5, ?6) \
         on conflict (workspace, phone_hash, integration) do update set stream = excluded.stream, object = excluded.object, record = excluded.record";
    people.iter().try_for_each(
        |PushPersonRow { workspace, phone_hash, integration, stream, object, record }| {
            tx.later(sql, params![*workspace, phone_hash, *integration, *stream, object, record])
        },
    )
}

/// The integrations of a workspace with write-back of calls that have a record for this number.
pub fn wanted(
    tx: &mut TenantTx,
    phone_hash: &str,
) -> Result<Vec<(Id<Integration>, PushedCalls, String, String)>, DbError> {
    let sql = "select i.id, i.push, p.object, p.record from integration_people p join integrations i on i.id = p.integration and i.workspace = p.workspace \
         where p.workspace = ?1 and p.phone_hash = ?2 and i.push is not null order by i.id";
    tx.all(sql, params![phone_hash])
}

/// Forgets which records a person is.
pub fn forget_people(tx: &mut TenantTx, phone_hashes: &[String]) -> Result<(), DbError> {
    for some in phone_hashes.chunks(ROWS) {
        let mut values = Vec::new();
        let list = tx.any_of(&mut values, some.iter().map(Into::into));
        let sql = format!("delete from integration_people where workspace = ?1 and phone_hash in {list}");
        tx.later(&sql, &values)?;
    }
    Ok(())
}

/// Deletes an integration's records and its pending pushes.
pub fn forget_integration(tx: &mut TenantTx, integration: Id<Integration>) -> Result<(), DbError> {
    for sql in [
        "delete from integration_people where workspace = ?1 and integration = ?2",
        "delete from integration_pushes where workspace = ?1 and integration = ?2",
    ] {
        tx.later(sql, params![integration])?;
    }
    Ok(())
}

/// Adds a call that is owed; one that is there stays as it is.
pub fn owe(tx: &mut Tx<'_>, row: &PushRow) -> Result<(), DbError> {
    const SQL: &str = formatcp!("{} on conflict (call, integration) do nothing", PushRow::INSERT);
    tx.later(SQL, &row.values())
}

/// Across workspaces: leases up to `limit` due pushes until `lease`. Each counts an attempt, which may have arrived
/// from now on. Returns the rows as they were.
pub fn take(tx: &mut Tx<'_>, now: Timestamp, lease: Timestamp, limit: i64) -> Result<Vec<PushRow>, DbError> {
    let sql = formatcp!(
        "select {COLUMNS} from integration_pushes where next_at is not null and next_at <= ?1 order by next_at, call limit ?2 /*pg for update skip locked*/"
    );
    let mut rows: Vec<PushRow> = tx.all(sql, params![now, limit])?;
    for row in &mut rows {
        row.attempts += 1;
        row.next_at = Some(lease);
        tx.later(
            "update integration_pushes set attempts = ?3, next_at = ?4, unsure = 1 where call = ?1 and integration = ?2",
            params![row.call, row.integration, row.attempts, lease],
        )?;
    }
    Ok(rows)
}

/// Across workspaces: when the next one is due.
pub fn next_due(tx: &mut Tx<'_>) -> Result<Option<Timestamp>, DbError> {
    let sql = "select min(next_at) from integration_pushes where next_at is not null";
    Ok(tx.one::<Option<Timestamp>>(sql, &[])?.flatten())
}

/// Across workspaces: when the oldest finished push was done.
pub fn oldest_done(tx: &mut Tx<'_>) -> Result<Option<Timestamp>, DbError> {
    let sql = "select min(done_at) from integration_pushes where done_at is not null";
    Ok(tx.one::<Option<Timestamp>>(sql, &[])?.flatten())
}

/// Saves the result of an attempt for the holder of the attempt number `held`. `false` if another node holds it, or it
/// is deleted.
pub fn settle(tx: &mut Tx<'_>, row: &PushRow, held: i64) -> Result<bool, DbError> {
    let (sql, values) = update!(
        "integration_pushes" set {
            attempts: row.attempts,
            unsure: row.unsure,
            next_at: row.next_at,
            done_at: row.done_at,
            written: row.written.as_deref(),
        }
        where "workspace = ?1 and call = ?2 and integration = ?3 and attempts = ?4",
        row.workspace, row.call, row.integration, held
    );
    Ok(tx.exec(sql, &values)? > 0)
}

/// Drops what is owed about these calls, whose person is erased.
pub fn drop_calls(tx: &mut TenantTx, calls: &[Id<Call>]) -> Result<(), DbError> {
    for some in calls.chunks(ROWS) {
        let mut values = Vec::new();
        let list = tx.any_of(&mut values, some.iter().map(|id| (*id).into()));
        let sql = format!("delete from integration_pushes where workspace = ?1 and call in {list}");
        tx.later(&sql, &values)?;
    }
    Ok(())
}

/// Across workspaces: deletes pushes that were done before a timestamp. Returns whether there were as many as `limit`.
pub fn sweep(tx: &mut Tx<'_>, before: Timestamp, limit: i64) -> Result<bool, DbError> {
    let gone = tx.exec(
        "delete from integration_pushes where (call, integration) in (select call, integration from integration_pushes where done_at is not null and done_at < ?1 limit ?2)",
        params![before, limit],
    )?;
    Ok(i64::try_from(gone).is_ok_and(|gone| gone >= limit))
}
