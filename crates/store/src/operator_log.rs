//! Every operator write, append-only.

use const_format::formatcp;
use domain::time::Timestamp;

use crate::db::row::row;
use crate::db::{DbError, Tx};
use crate::params;

row! {
    /// A line of the log.
    #[derive(Debug, Clone)]
    pub struct LogRow in "operator_log" {
        /// Its id; sorts by time.
        id: String,
        at: Timestamp,
        operation: String,
        /// The workspace it was about.
        workspace: Option<String>,
        /// Ids and names of what changed.
        subject: String,
        request_id: String,
    }
}

/// Across workspaces: adds a line.
pub fn append(tx: &mut Tx<'_>, row: &LogRow) -> Result<(), DbError> {
    tx.later(LogRow::INSERT, &row.values())
}

/// Across workspaces: the log, newest first, older than `before`.
pub fn list(tx: &mut Tx<'_>, before: Option<&str>, limit: i64) -> Result<Vec<LogRow>, DbError> {
    const SQL: &str =
        formatcp!("select {} from operator_log where id < ?1 order by id desc limit ?2", LogRow::COLUMNS);
    tx.all(SQL, params![before.unwrap_or("~"), limit])
}
