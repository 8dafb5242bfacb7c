//! Every operator write, append-only.

use domain::time::Timestamp;

use crate::db::{DbError, Tx};
use crate::params;

/// A line of the log.
#[derive(Debug, Clone)]
pub struct LogRow {
    /// Its id; sorts by time.
    pub id: String,
    /// When.
    pub at: Timestamp,
    /// Operation id.
    pub operation: String,
    /// The workspace it was about.
    pub workspace: Option<String>,
    /// Ids and names of what changed.
    pub subject: String,
    /// Request id.
    pub request_id: String,
}

/// Adds a line.
pub fn append(tx: &mut Tx<'_>, row: &LogRow) -> Result<(), DbError> {
    tx.later(
        "insert into operator_log (id, at, operation, workspace, subject, request_id) values (?1, ?2, ?3, ?4, ?5, ?6)",
        params![&row.id, row.at, &row.operation, row.workspace.as_deref(), &row.subject, &row.request_id],
    )
}

/// The log, newest first, older than `before`.
pub fn list(tx: &mut Tx<'_>, before: Option<&str>, limit: i64) -> Result<Vec<LogRow>, DbError> {
    tx.all(
        "select id, at, operation, workspace, subject, request_id from operator_log where id < ?1 order by id desc limit ?2",
        params![before.unwrap_or("~"), limit],
        |row| {
            Ok(LogRow {
                id: row.text(0)?,
                at: row.time(1)?,
                operation: row.text(2)?,
                workspace: row.opt_text(3)?,
                subject: row.text(4)?,
                request_id: row.text(5)?,
            })
        },
    )
}
