//! Requests that are no HTTP, or whose head is too large: what the HTTP library answers them, without a body, becomes an
//! answer like all others.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use api::error_codes;
use bytes::{Buf, Bytes};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::app::App;

/// Longest head that the library writes by itself.
const LONGEST: usize = 256;

/// A connection on which such answers get the error envelope and an id.
pub struct Enveloped<S> {
    io: S,
    app: Arc<App>,
    /// Set when a request was answered although not all of it was read.
    unread: Arc<AtomicBool>,
    /// What is left to be written in the place of an answer.
    instead: Option<Bytes>,
}

impl<S> Enveloped<S> {
    /// The connection `io`.
    pub fn new(io: S, app: Arc<App>, unread: Arc<AtomicBool>) -> Self {
        Self { io, app, unread, instead: None }
    }
}

/// What to tell of an answer of the library: its status line and why. Answers of this service have a request id.
fn told(answer: &[u8]) -> Option<(&str, &'static str)> {
    let answer = std::str::from_utf8(answer).ok().filter(|text| text.len() <= LONGEST)?;
    let head = answer.strip_suffix("\r\n\r\n")?;
    let (line, headers) = head.split_once("\r\n")?;
    if !headers.contains("content-length: 0") || headers.contains("x-request-id") {
        return None;
    }
    let why = match line.strip_prefix("HTTP/1.1 ")?.get(..3)? {
        "400" => "the request is not HTTP/1.1",
        "414" => "the address is too long",
        "431" => "the head of the request is larger than 32 KB, or has more than 100 fields",
        _ => return None,
    };
    Some((line, why))
}

fn instead_of(answer: &[u8], id: impl FnOnce() -> String) -> Option<Bytes> {
    let (line, why) = told(answer)?;
    let body = error_codes::INVALID_REQUEST.body(why, None).to_string();
    Some(
        format!(
            "{line}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nx-request-id: {}\r\ncache-control: no-store\r\n\
             x-content-type-options: nosniff\r\nconnection: close\r\n\r\n{body}",
            body.len(),
            id()
        )
        .into(),
    )
}

impl<S: AsyncRead + Unpin> AsyncRead for Enveloped<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(context, into)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Enveloped<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        if this.instead.is_none() {
            this.instead = instead_of(bytes, || format!("req_{}", this.app.ids.random_text(20)));
            if this.instead.is_some() {
                this.unread.store(true, Ordering::Relaxed);
            }
        }
        let Some(instead) = &mut this.instead else {
            return Pin::new(&mut this.io).poll_write(context, bytes);
        };
        while !instead.is_empty() {
            let written = ready!(Pin::new(&mut this.io).poll_write(context, instead))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            instead.advance(written);
        }
        this.instead = None;
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let mut parts = bytes.iter().filter(|part| !part.is_empty());
        match (parts.next(), parts.next()) {
            (Some(only), None) => self.poll_write(context, only),
            _ => Pin::new(&mut self.io).poll_write_vectored(context, bytes),
        }
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_answers_of_the_library_are_replaced() {
        let answer = |line: &str, more: &str| format!("HTTP/1.1 {line}\r\n{more}content-length: 0\r\n\r\n");
        let said = |answer: String| instead_of(answer.as_bytes(), || "req_1".into());
        for (line, why) in [("400 Bad Request", "not HTTP"), ("431 Request Header Fields Too Large", "32 KB")]
        {
            let said = said(answer(line, "")).unwrap();
            let said = std::str::from_utf8(&said).unwrap();
            assert!(
                said.starts_with(&format!("HTTP/1.1 {line}\r\n")) && said.contains("x-request-id: req_1\r\n")
            );
            let body = said.split_once("\r\n\r\n").unwrap().1;
            assert!(body.contains(why) && said.contains(&format!("content-length: {}\r\n", body.len())));
        }
        assert_eq!(said(answer("400 Bad Request", "x-request-id: req_2\r\n")), None);
        assert_eq!(said(answer("200 OK", "")), None);
        assert_eq!(said("HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n{}".into()), None);
    }
}
