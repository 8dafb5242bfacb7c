//! Errors of use cases: a row of the table of error codes, a message for people, details for programs.

use api::error_codes::{self, ErrorCode};
use serde_json::{Value, json};
use store::DbError;

/// A refusal or a failure, for the client.
#[derive(Debug, Clone)]
pub struct Failure {
    pub error: &'static ErrorCode,
    pub message: String,
    pub meta: Option<Value>,
    /// `Retry-After`, seconds.
    pub retry_after: Option<i64>,
    /// For the log only.
    pub cause: Option<String>,
    /// Whether the store failed.
    pub of_store: bool,
}

impl Failure {
    /// A failure with its own message.
    pub fn new(error: &'static ErrorCode, message: impl Into<String>) -> Self {
        Self { error, message: message.into(), meta: None, retry_after: None, cause: None, of_store: false }
    }

    /// The body of an answer with it.
    pub fn body(&self) -> Value {
        self.error.body(&self.message, self.meta.as_ref())
    }

    /// A failure with the message of the table.
    pub fn plain(error: &'static ErrorCode) -> Self {
        Self::new(error, error.meaning)
    }

    /// A refusal of one of the requests in a batch.
    ///
    /// # Errors
    /// A failure of the store or a defect: it fails the whole transaction.
    pub fn of_one(self) -> Result<Self, Self> {
        if self.of_store || self.cause.is_some() { Err(self) } else { Ok(self) }
    }

    /// Adds details for programs.
    pub fn with_meta(mut self, meta: Value) -> Self {
        self.meta = Some(meta);
        self
    }

    /// The field or parameter `field` is invalid; `must` continues the sentence after its name.
    pub fn field(field: &str, must: impl std::fmt::Display) -> Self {
        Self::new(error_codes::INVALID_REQUEST, format!("{field} {must}")).with_meta(json!({"field": field}))
    }

    /// There is no object of this kind with the id of the path in the workspace and mode.
    pub fn not_found(what: &str) -> Self {
        let message = format!("{what} not found; check the id, the workspace and the mode (live or test)");
        Self::new(error_codes::NOT_FOUND, message)
    }

    /// The current state does not allow it.
    pub fn conflict(message: impl Into<String>) -> Self {
        Self::new(error_codes::CONFLICT, message)
    }

    /// Logs the failure as an error: the operation, with the code and the cause.
    pub fn log(&self, what: &str) {
        tracing::error!(code = self.error.code, cause = self.cause, "{what}");
    }

    /// The same for something with an id, such as a call.
    pub fn log_about(&self, id: impl std::fmt::Display, what: &str) {
        tracing::error!(about = %id, code = self.error.code, cause = self.cause, "{what}");
    }

    /// Logs the failure as a warning: it recovers by itself.
    pub fn warn(&self, what: &str) {
        tracing::warn!(code = self.error.code, cause = self.cause, "{what}");
    }

    /// The same for something with an id, such as a call.
    pub fn warn_about(&self, id: impl std::fmt::Display, what: &str) {
        tracing::warn!(about = %id, code = self.error.code, cause = self.cause, "{what}");
    }

    /// Something failed here; the cause goes to the log, never to the client.
    pub fn internal(cause: impl Into<String>) -> Self {
        Self {
            cause: Some(cause.into()),
            ..Self::new(error_codes::INTERNAL, "something failed here; quote the requestId")
        }
    }
}

impl From<DbError> for Failure {
    fn from(error: DbError) -> Self {
        match error {
            DbError::Unavailable(_) | DbError::Retry(_) => Self {
                of_store: matches!(error, DbError::Unavailable(_)),
                cause: Some(error.to_string()),
                retry_after: Some(2),
                ..Self::new(
                    error_codes::UNAVAILABLE,
                    "the service cannot store anything right now; nothing was changed, try again",
                )
            },
            DbError::Uncertain(_) => Self {
                of_store: true,
                cause: Some(error.to_string()),
                retry_after: Some(2),
                ..Self::new(
                    error_codes::UNAVAILABLE,
                    "the connection to the store was lost while the request was stored; read the object before you repeat the request",
                )
            },
            DbError::Unique(_) | DbError::Internal(_) => Self::internal(error.to_string()),
        }
    }
}
