//! What errors of the server, and of the way to it, mean.

use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

use super::super::error::DbError;

/// What the store calls an error of the server, or of the way to it.
pub(in crate::db) fn classify(error: &Error) -> DbError {
    let text = match std::error::Error::source(error) {
        Some(source) if error.code().is_none() => format!("{error}: {source}"),
        _ => error.to_string(),
    };
    let Some(code) = error.code() else { return DbError::Unavailable(text) };
    let detail = error.as_db_error().map_or(text, |db| db.message().to_owned());
    let class = &code.code()[..2];
    if *code == SqlState::UNIQUE_VIOLATION {
        DbError::Unique(error.as_db_error().and_then(|db| db.constraint()).unwrap_or_default().to_owned())
    } else if class == "40" || *code == SqlState::LOCK_NOT_AVAILABLE {
        DbError::Retry(detail)
    } else if matches!(class, "08" | "53" | "57" | "58")
        || [SqlState::READ_ONLY_SQL_TRANSACTION, SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT].contains(code)
    {
        DbError::Unavailable(detail)
    } else {
        DbError::Internal(format!("{}: {detail}", code.code()))
    }
}
