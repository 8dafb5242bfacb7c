//! How far streams that are read from outside systems have come (docs/contract/integrations.md#checks). The
//! use cases of streams say what is read ([`point`], [`look_again`], [`forget`]); the job that checks them
//! claims one stream after the other.

use const_format::formatcp;
use domain::ids::{DataStream, Id, Integration};
use domain::tenant::Tenant;
use domain::time::Timestamp;

use crate::db::row::{row, update};
use crate::db::{DbError, ROWS, TenantTx, Tx, any_of};
use crate::params;

row! {
    /// How far one stream has come.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct PollRow in "stream_polls" {
        stream: Id<DataStream>,
        workspace: Tenant,
        /// The account that it is read with.
        integration: Id<Integration>,
        /// What is read there, as one text.
        source: String,
        /// Nothing older is taken.
        start_at: Timestamp,
        /// The creation time of the newest record that was read.
        newest_at: Timestamp,
        /// Whether the last check ended before the end of the source.
        behind: bool,
        /// Whether the next check of a spreadsheet only records its rows.
        baseline: bool,
        /// Failed checks in a row.
        failures: i64,
        /// Keyed hash of the last spreadsheet as it was read.
        digest: Option<String>,
        /// The next check, or the end of the claim of the one that checks.
        next_at: Option<Timestamp>,
        /// Grows with every claim and every change of the source.
        claim: i64,
    }
}

const COLUMNS: &str = PollRow::COLUMNS;

/// Sets the source of a stream, when it is created and when its settings change. A new stream begins `now`, with the
/// existing rows of a spreadsheet only if `existing`. If its integration or `source` changes, it begins anew at the
/// present end of the new source; otherwise nothing changes. The caller has locked the stream, and wakes the polling
/// job.
pub fn point(
    tx: &mut TenantTx,
    stream: Id<DataStream>,
    (integration, source): (Id<Integration>, &str),
    existing: bool,
    now: Timestamp,
) -> Result<(), DbError> {
    let tenant = tx.tenant();
    let known: Option<(Id<Integration>, String)> = tx.one(
        "select integration, source from stream_polls where workspace = ?1 and stream = ?2 /*pg for update*/",
        params![stream],
    )?;
    let Some(known) = known else {
        let row = PollRow {
            stream,
            workspace: tenant,
            integration,
            source: source.to_owned(),
            start_at: now,
            newest_at: now,
            behind: false,
            baseline: !existing,
            failures: 0,
            digest: None,
            next_at: Some(now),
            claim: 0,
        };
        return tx.unbound().later(PollRow::INSERT, &row.values());
    };
    if known == (integration, source.to_owned()) {
        return Ok(());
    }
    tx.later("delete from stream_rows where workspace = ?1 and stream = ?2", params![stream])?;
    let (sql, values) = update!(
        "stream_polls" of tenant set {
            integration: integration,
            source: source,
            start_at: now,
            newest_at: now,
            behind: false,
            baseline: true,
            failures: 0,
            digest: None::<&str>,
            next_at: now,
        } and "claim = claim + 1"
        where "stream = ?2", stream
    );
    tx.later(sql, &values)
}

/// Has a stream checked at once, its failures forgotten: it was paused, or had stopped with an error. The
/// caller wakes the job that checks.
pub fn look_again(tx: &mut TenantTx, stream: Id<DataStream>, now: Timestamp) -> Result<(), DbError> {
    tx.later(
        "update stream_polls set failures = 0, next_at = ?3 where workspace = ?1 and stream = ?2",
        params![stream, now],
    )
}

/// Has the streams of an integration checked at once: it has other credentials.
pub fn look_again_with(
    tx: &mut TenantTx,
    integration: Id<Integration>,
    now: Timestamp,
) -> Result<(), DbError> {
    tx.later(
        "update stream_polls set next_at = ?3 where workspace = ?1 and integration = ?2 and next_at is not null",
        params![integration, now],
    )
}

/// Forgets a stream that is deleted.
pub fn forget(tx: &mut TenantTx, stream: Id<DataStream>) -> Result<(), DbError> {
    for sql in [
        "delete from stream_rows where workspace = ?1 and stream = ?2",
        "delete from stream_polls where workspace = ?1 and stream = ?2",
    ] {
        tx.later(sql, params![stream])?;
    }
    Ok(())
}

/// Whether a stream is read with this integration.
pub fn uses(tx: &mut TenantTx, integration: Id<Integration>) -> Result<bool, DbError> {
    let sql = "select 1 from stream_polls where workspace = ?1 and integration = ?2 limit 1";
    tx.exists(sql, params![integration])
}

/// Across workspaces: streams whose check is due, those that wait longest first, but none of these workspaces.
pub fn due(
    tx: &mut Tx<'_>,
    now: Timestamp,
    full: &[Tenant],
    limit: i64,
) -> Result<Vec<(Tenant, Id<DataStream>)>, DbError> {
    let mut values = params![now, limit].to_vec();
    let others = if full.is_empty() {
        String::new()
    } else {
        let list = any_of(&mut values, full.iter().map(|tenant| (*tenant).into()));
        format!("and workspace not in {list}")
    };
    let sql = format!(
        "select workspace, stream from stream_polls where next_at is not null and next_at <= ?1 {others} order by next_at, stream limit ?2"
    );
    tx.all(&sql, &values)
}

/// Across workspaces: when the next check is due after a timestamp.
pub fn next_due(tx: &mut Tx<'_>, after: Timestamp) -> Result<Option<Timestamp>, DbError> {
    let sql = "select min(next_at) from stream_polls where next_at is not null and next_at > ?1";
    Ok(tx.one::<Option<Timestamp>>(sql, params![after])?.flatten())
}

pub fn get(tx: &mut TenantTx, stream: Id<DataStream>) -> Result<Option<PollRow>, DbError> {
    let sql = formatcp!("select {COLUMNS} from stream_polls where workspace = ?1 and stream = ?2");
    tx.one(sql, params![stream])
}

/// Leases a due stream until `lease`; `None` if another node has it.
pub fn claim(
    tx: &mut TenantTx,
    stream: Id<DataStream>,
    now: Timestamp,
    lease: Timestamp,
) -> Result<Option<PollRow>, DbError> {
    let sql = formatcp!(
        "select {COLUMNS} from stream_polls where workspace = ?1 and stream = ?2 and next_at is not null and next_at <= ?3 /*pg for update skip locked*/"
    );
    let Some(mut row) = tx.one::<PollRow>(sql, params![stream, now])? else { return Ok(None) };
    row.claim += 1;
    row.next_at = Some(lease);
    tx.later(
        "update stream_polls set claim = ?3, next_at = ?4 where workspace = ?1 and stream = ?2",
        params![stream, row.claim, lease],
    )?;
    Ok(Some(row))
}

/// Postpones a check that could not begin.
pub fn put_off(tx: &mut TenantTx, stream: Id<DataStream>, until: Timestamp) -> Result<(), DbError> {
    let sql = "update stream_polls set next_at = ?3 where workspace = ?1 and stream = ?2 and next_at < ?3";
    tx.later(sql, params![stream, until])
}

/// Extends a lease; `false` if it is lost.
pub fn keep(tx: &mut Tx<'_>, row: &PollRow, lease: Timestamp) -> Result<bool, DbError> {
    let kept = tx.exec(
        "update stream_polls set next_at = ?4 where workspace = ?1 and stream = ?2 and claim = ?3",
        params![row.workspace, row.stream, row.claim, lease],
    )?;
    Ok(kept > 0)
}

/// Ends a claim: writes how far the stream has come, and when it is checked next. `false` when the claim was
/// lost, and nothing is written.
pub fn finish(tx: &mut Tx<'_>, row: &PollRow) -> Result<bool, DbError> {
    let (sql, values) = update!(
        "stream_polls" set {
            newest_at: row.newest_at,
            behind: row.behind,
            baseline: row.baseline,
            failures: row.failures,
            digest: row.digest.as_deref(),
            next_at: row.next_at,
        }
        where "workspace = ?1 and stream = ?2 and claim = ?3", row.workspace, row.stream, row.claim
    );
    Ok(tx.exec(sql, &values)? > 0)
}

/// The recorded rows of a spreadsheet.
pub fn rows(tx: &mut TenantTx, stream: Id<DataStream>) -> Result<Vec<String>, DbError> {
    let sql = "select row_hash from stream_rows where workspace = ?1 and stream = ?2";
    tx.all(sql, params![stream])
}

/// Records new rows of a spreadsheet.
pub fn add_rows(tx: &mut TenantTx, stream: Id<DataStream>, hashes: &[String]) -> Result<(), DbError> {
    let row = |hash: &String| [stream.into(), hash.to_owned().into()];
    tx.insert_all("insert into stream_rows (workspace, stream, row_hash)", hashes.iter().map(row))
}

/// Forgets rows of a spreadsheet.
pub fn remove_rows(tx: &mut TenantTx, stream: Id<DataStream>, hashes: &[String]) -> Result<(), DbError> {
    for some in hashes.chunks(ROWS) {
        let mut values = params![stream].to_vec();
        let list = tx.any_of(&mut values, some.iter().map(Into::into));
        tx.later(
            &format!("delete from stream_rows where workspace = ?1 and stream = ?2 and row_hash in {list}"),
            &values,
        )?;
    }
    Ok(())
}
