//! Errors of the store.

/// An error of a statement or a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DbError {
    /// A unique index rejected the row; the engine's name of the index.
    Unique(String),
    /// The transaction conflicted with another one and must be retried (the engine does so).
    Retry(String),
    /// The store cannot be reached or cannot write (lost connection, full disk). Nothing was stored; retry later.
    Unavailable(String),
    /// The connection was lost during a commit, which may or may not be stored.
    Uncertain(String),
    /// Anything else: a wrong statement, a wrong type, a panic in a closure.
    Internal(String),
}

impl std::fmt::Display for DbError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            DbError::Unique(what) => write!(f, "unique index refused the row: {what}"),
            DbError::Retry(why) => write!(f, "transaction conflict: {why}"),
            DbError::Unavailable(why) => write!(f, "store unavailable: {why}"),
            DbError::Uncertain(why) => write!(f, "outcome of the commit unknown: {why}"),
            DbError::Internal(why) => write!(f, "store error: {why}"),
        }
    }
}

impl std::error::Error for DbError {}

/// The row count that a statement must have; otherwise its transaction fails.
#[derive(Debug, Clone)]
pub struct Must {
    /// Rows that it changes.
    pub rows: u64,
    /// The error of the transaction for any other count.
    pub otherwise: DbError,
}

pub(super) fn check(changed: u64, must: Option<&Must>) -> Result<(), DbError> {
    match must {
        Some(must) if must.rows != changed => Err(must.otherwise.clone()),
        Some(_) | None => Ok(()),
    }
}
