//! Why a request has no response.

use std::fmt;
use std::io;
use std::net::IpAddr;

use http::StatusCode;

/// The phase in which an exchange failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// DNS look-up.
    Dns,
    /// Opening the connection.
    Connect,
    /// Agreeing on encryption.
    Tls,
    /// Sending the request and waiting for status and headers.
    Head,
    /// Reading the body; the status had arrived.
    Body(StatusCode),
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Phase::Dns => f.write_str("looking up the host"),
            Phase::Connect => f.write_str("connecting"),
            Phase::Tls => f.write_str("agreeing on TLS"),
            Phase::Head => f.write_str("waiting for the answer"),
            Phase::Body(status) => write!(f, "reading the body of a {} answer", status.as_u16()),
        }
    }
}

/// Why an exchange failed. `Display` is a sentence that may be shown to the owner of the address: it names no
/// internal address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SendError {
    /// The host name has no address, or its name server failed.
    DnsFailed,
    /// One of the addresses of the host name is not public. The address is for the operator's log.
    AddressRefused(IpAddr),
    /// No address of the host accepted the connection.
    ConnectFailed(io::ErrorKind),
    /// The TLS handshake failed: unknown issuer, wrong host name, expired, no common version.
    TlsFailed(String),
    /// The deadline passed.
    Timeout(Phase),
    /// The peer closed the connection before its answer was complete.
    Closed(Phase),
    /// Status line and headers are larger than the client accepts.
    HeadTooLarge,
    /// What came back is not HTTP/1.
    BadAnswer(Phase),
    /// All connections the client may hold are in use; nothing was sent.
    Overloaded,
    /// The request itself cannot be sent, for the reason given; nothing was sent.
    RequestRefused(&'static str),
}

impl SendError {
    /// A stable code for logs, metrics and delivery records.
    pub fn code(&self) -> &'static str {
        match self {
            SendError::DnsFailed => "dns_failed",
            SendError::AddressRefused(_) => "address_refused",
            SendError::ConnectFailed(_) => "connect_failed",
            SendError::TlsFailed(_) => "tls_failed",
            SendError::Timeout(_) => "timeout",
            SendError::Closed(_) => "closed",
            SendError::HeadTooLarge => "head_too_large",
            SendError::BadAnswer(_) => "bad_answer",
            SendError::Overloaded => "overloaded",
            SendError::RequestRefused(_) => "request_refused",
        }
    }

    /// The status that had arrived before the exchange failed, if any.
    pub fn status(&self) -> Option<StatusCode> {
        match self {
            SendError::Timeout(Phase::Body(status))
            | SendError::Closed(Phase::Body(status))
            | SendError::BadAnswer(Phase::Body(status)) => Some(*status),
            _ => None,
        }
    }

    /// From hyper's error: the answer was too large, was not HTTP, or ended early.
    pub(super) fn from_hyper(error: &hyper::Error, phase: Phase) -> SendError {
        if error.is_parse_too_large() {
            SendError::HeadTooLarge
        } else if error.is_parse() {
            SendError::BadAnswer(phase)
        } else if error.is_user() {
            SendError::RequestRefused("the request is not valid HTTP")
        } else {
            SendError::Closed(phase)
        }
    }
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SendError::DnsFailed => f.write_str("the host name could not be resolved"),
            SendError::AddressRefused(_) => {
                f.write_str("the host name leads to an address that is not public")
            }
            SendError::ConnectFailed(kind) => write!(f, "the connection failed: {kind}"),
            SendError::TlsFailed(reason) => write!(f, "TLS failed: {reason}"),
            SendError::Timeout(phase) => write!(f, "the time was up while {phase}"),
            SendError::Closed(phase) => write!(f, "the connection was closed while {phase}"),
            SendError::HeadTooLarge => f.write_str("the answer's headers are too large"),
            SendError::BadAnswer(_) => f.write_str("the answer is not valid HTTP"),
            SendError::Overloaded => f.write_str("too many connections are in use"),
            SendError::RequestRefused(reason) => write!(f, "the request cannot be sent: {reason}"),
        }
    }
}

impl std::error::Error for SendError {}
