//! How a command fails: what is said, and the exit code (docs/cli.md#exit-codes).

use std::process::ExitCode;

/// Why a command did not do what it was told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failed {
    /// What it means for a script.
    pub kind: Kind,
    /// For people; empty when the answer itself was printed.
    pub message: String,
    /// Whether the service may have done it all the same.
    pub unsure: bool,
}

/// Kinds of failure, each with an exit code of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The service refused the request, or the command failed here.
    Refused = 1,
    /// The command line is wrong; nothing was sent.
    Usage = 2,
    /// No answer: nothing listens there, or the connection broke.
    Unreachable = 3,
    /// The service cannot do it now: a rate limit, or a failure of its own.
    Later = 4,
}

impl Failed {
    /// A wrong command line.
    pub fn usage(message: impl Into<String>) -> Self {
        Self { kind: Kind::Usage, message: message.into(), unsure: false }
    }

    /// No connection; nothing was sent.
    pub fn unreachable(message: impl Into<String>) -> Self {
        Self { kind: Kind::Unreachable, message: message.into(), unsure: false }
    }

    /// No answer, or a part of one.
    pub fn lost(message: impl Into<String>) -> Self {
        Self { kind: Kind::Unreachable, message: message.into(), unsure: true }
    }

    /// An answer with an error status.
    pub fn answered(status: u16, message: impl Into<String>) -> Self {
        let kind = if status == 429 || status >= 500 { Kind::Later } else { Kind::Refused };
        Self { kind, message: message.into(), unsure: status >= 500 }
    }

    /// Says it on standard error; the exit code.
    pub fn end(&self) -> ExitCode {
        if !self.message.is_empty() {
            eprintln!("dastak: {}", self.message);
        }
        ExitCode::from(self.kind as u8)
    }
}

impl From<String> for Failed {
    fn from(message: String) -> Self {
        Self { kind: Kind::Refused, message, unsure: false }
    }
}

impl From<&str> for Failed {
    fn from(message: &str) -> Self {
        message.to_owned().into()
    }
}

impl From<Failed> for String {
    fn from(failed: Failed) -> Self {
        failed.message
    }
}
