//! Statements on a connection of SQLite, and what its errors mean.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags, ToSql};

use super::super::error::DbError;
use super::super::row::Row;
use super::super::value::Value;

pub(in crate::db) fn exec(
    conn: &Connection,
    sql: &str,
    params: impl IntoIterator<Item = impl ToSql>,
) -> Result<u64, DbError> {
    let mut statement = conn.prepare_cached(sql).map_err(classify)?;
    if statement.column_count() > 0 {
        let mut rows = statement.query(rusqlite::params_from_iter(params)).map_err(classify)?;
        let mut count = 0;
        while rows.next().map_err(classify)?.is_some() {
            count += 1;
        }
        return Ok(count);
    }
    statement.execute(rusqlite::params_from_iter(params)).map(|count| count as u64).map_err(classify)
}

pub(in crate::db) fn each(
    conn: &Connection,
    sql: &str,
    params: &[Value<'_>],
    visit: &mut dyn FnMut(Row<'_>) -> Result<(), DbError>,
) -> Result<(), DbError> {
    let mut statement = conn.prepare_cached(sql).map_err(classify)?;
    let mut rows = statement.query(rusqlite::params_from_iter(params)).map_err(classify)?;
    while let Some(row) = rows.next().map_err(classify)? {
        visit(Row::sqlite(row))?;
    }
    Ok(())
}

pub(in crate::db) fn classify(error: rusqlite::Error) -> DbError {
    let text = error.to_string();
    match error.sqlite_error_code() {
        Some(ErrorCode::ConstraintViolation) if text.contains("UNIQUE") => DbError::Unique(text),
        Some(
            ErrorCode::DiskFull
            | ErrorCode::SystemIoFailure
            | ErrorCode::CannotOpen
            | ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::ReadOnly
            | ErrorCode::OutOfMemory
            | ErrorCode::PermissionDenied,
        ) => DbError::Unavailable(text),
        _ => DbError::Internal(text),
    }
}

pub(in crate::db) fn backup(from: &Path, to: &Path) -> Result<(), DbError> {
    let conn = Connection::open_with_flags(from, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(classify)?;
    conn.busy_timeout(Duration::from_secs(60)).map_err(classify)?;
    conn.execute("vacuum into ?1", [to.to_string_lossy()]).map(|_| ()).map_err(classify)
}
