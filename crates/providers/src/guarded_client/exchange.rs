//! Requests, answers and their limits.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{
    CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, EXPECT, HOST, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use hyper::body::Incoming;

use super::error::{Phase, SendError};
use super::link::Link;
use super::pool::Pool;
use super::target::Target;

/// Headers of the connection: the client writes them itself, whatever the caller gave.
pub(super) const OWN_HEADERS: [HeaderName; 10] = [
    HOST,
    CONTENT_LENGTH,
    TRANSFER_ENCODING,
    CONNECTION,
    TE,
    TRAILER,
    UPGRADE,
    EXPECT,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
];

#[derive(Clone, Debug)]
pub struct Request {
    /// Anything but `CONNECT`.
    pub method: Method,
    pub target: Target,
    /// Headers; those of the connection (`Host`, `Content-Length`, `Connection`, …) are replaced,
    /// `User-Agent` is added if missing.
    pub headers: HeaderMap,
    /// The body, sent with its length.
    pub body: Bytes,
}

impl Request {
    /// A `POST` of `body`.
    pub fn post(target: Target, headers: HeaderMap, body: Bytes) -> Request {
        Request { method: Method::POST, target, headers, body }
    }
}

/// Limits of an exchange.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Real time for the whole exchange: look-up, connection, TLS, request, answer, body, and a second
    /// attempt if there is one.
    pub deadline: Duration,
    /// Bytes of the response's body that are kept; the rest is not read.
    pub max_response_bytes: usize,
}

#[derive(Clone, Debug)]
pub struct Response {
    /// As sent; a redirect is an answer like any other.
    pub status: StatusCode,
    pub headers: HeaderMap,
    /// The body, or its first `max_response_bytes`.
    pub body: Bytes,
    /// Whether the body was longer.
    pub truncated: bool,
    /// From the call to the end of the answer.
    pub duration: Duration,
}

/// Whether what has arrived of a body is all that is wanted, by its `Content-Type`.
pub type Enough<'a> = dyn FnMut(Option<&HeaderValue>, &[u8]) -> bool + Send + 'a;

/// What is left of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rest {
    /// Nothing.
    None,
    /// More than was to be read.
    TooLong,
    /// What was not waited for.
    NotWanted,
}

/// An exchange whose answer has begun.
pub(super) struct Open {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    body: Incoming,
    link: Box<Link>,
    pool: Arc<Pool>,
    target: Target,
}

impl Open {
    pub(super) fn new(
        answer: http::Response<Incoming>,
        link: Box<Link>,
        pool: Arc<Pool>,
        target: Target,
    ) -> Open {
        let (head, body) = answer.into_parts();
        Open { status: head.status, headers: head.headers, body, link, pool, target }
    }

    pub(super) fn phase(&self) -> Phase {
        Phase::Body(self.status)
    }

    async fn chunk(&mut self) -> Result<Option<Bytes>, SendError> {
        let piece = self.link.chunk(&mut self.body).await.transpose();
        piece.map_err(|error| SendError::from_hyper(&error, self.phase()))
    }

    /// Reads the body up to `cap` bytes or to where `enough` says so of what has arrived. Unless it was read to its end, the
    /// connection cannot be reused.
    pub(super) async fn read(
        &mut self,
        cap: usize,
        enough: &mut Enough<'_>,
    ) -> Result<(Bytes, Rest), SendError> {
        let stream = self.headers.get(CONTENT_TYPE).cloned();
        let mut whole = Bytes::new();
        let mut pieces = Vec::new();
        while let Some(piece) = self.chunk().await? {
            let room = cap - whole.len().max(pieces.len());
            let kept = piece.slice(..piece.len().min(room));
            if whole.is_empty() && pieces.is_empty() {
                // Most bodies are one chunk, which is not copied.
                whole = kept;
            } else {
                if pieces.is_empty() {
                    pieces.extend_from_slice(&whole);
                }
                pieces.extend_from_slice(&kept);
            }
            let rest = match piece.len() > room {
                true => Rest::TooLong,
                false if enough(stream.as_ref(), if pieces.is_empty() { &whole } else { &pieces }) => {
                    Rest::NotWanted
                }
                false => continue,
            };
            return Ok((if pieces.is_empty() { whole } else { pieces.into() }, rest));
        }
        Ok((if pieces.is_empty() { whole } else { pieces.into() }, Rest::None))
    }

    /// Returns the connection to the pool, if the peer keeps it open.
    pub(super) async fn finish(self) {
        let Open { body, mut link, pool, target, .. } = self;
        drop(body);
        if link.is_ready().await {
            pool.put(target.origin(), link);
        }
    }
}
