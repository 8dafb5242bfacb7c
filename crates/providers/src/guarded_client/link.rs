//! One connection: HTTP/1 over TCP or TLS.
//!
//! The task that uses a connection drives it. So a request needs no hand-over between tasks, and dropping the request
//! closes the socket. An idle connection is not driven; whether the peer has closed it is checked when it is taken from
//! the pool.

use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::{Body, Incoming};
use hyper::client::conn::http1::{Builder, Connection, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;

use crate::socket::Stream;

/// Status line and headers of an answer, and the largest piece of body held at once, in bytes.
pub(super) const MAX_HEAD_BYTES: usize = 64 * 1024;

/// Headers of an answer.
const MAX_HEADERS: usize = 128;

/// A connection and what the pool needs to know of it.
pub(super) struct Link {
    sender: SendRequest<Full<Bytes>>,
    connection: Connection<TokioIo<Io>, Full<Bytes>>,
    finished: bool,
    heard: Arc<AtomicBool>,
    opened: Instant,
    _permit: OwnedSemaphorePermit,
}

impl Link {
    /// Prepares HTTP on an open stream. Sends nothing.
    pub(super) async fn new(io: Io, permit: OwnedSemaphorePermit) -> Result<Link, hyper::Error> {
        let heard = io.heard.clone();
        let mut builder = Builder::new();
        builder.max_buf_size(MAX_HEAD_BYTES).max_headers(MAX_HEADERS);
        let (sender, connection) = builder.handshake(TokioIo::new(io)).await?;
        Ok(Link { sender, connection, finished: false, heard, opened: Instant::now(), _permit: permit })
    }

    pub(super) fn opened(&self) -> Instant {
        self.opened
    }

    /// Whether the peer has sent a byte since the last request began.
    pub(super) fn heard(&self) -> bool {
        self.heard.load(Ordering::Relaxed)
    }

    /// Whether the last exchange is complete and the next request can be sent.
    pub(super) async fn is_ready(&mut self) -> bool {
        poll_fn(|cx| {
            self.drive(cx);
            Poll::Ready(!self.finished && self.sender.is_ready())
        })
        .await
    }

    /// Sends a request and waits for the head of its answer.
    pub(super) async fn request(
        &mut self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, hyper::Error> {
        self.heard.store(false, Ordering::Relaxed);
        let mut answer = pin!(self.sender.send_request(request));
        poll_fn(|cx| {
            if !self.finished {
                self.finished = Pin::new(&mut self.connection).poll(cx).is_ready();
            }
            answer.as_mut().poll(cx)
        })
        .await
    }

    /// The next piece of an answer's body; none at its end. Trailers are dropped.
    pub(super) async fn chunk(&mut self, body: &mut Incoming) -> Option<Result<Bytes, hyper::Error>> {
        poll_fn(|cx| {
            loop {
                // The body asks, the connection reads, the body receives.
                let mut frame = Pin::new(&mut *body).poll_frame(cx);
                if frame.is_pending() {
                    self.drive(cx);
                    frame = Pin::new(&mut *body).poll_frame(cx);
                }
                match frame {
                    Poll::Ready(Some(Ok(frame))) => {
                        if let Ok(data) = frame.into_data() {
                            return Poll::Ready(Some(Ok(data)));
                        }
                    }
                    Poll::Ready(Some(Err(error))) => return Poll::Ready(Some(Err(error))),
                    Poll::Ready(None) => return Poll::Ready(None),
                    Poll::Pending => return Poll::Pending,
                }
            }
        })
        .await
    }

    /// Lets the connection read and write what it can. Its errors also reach the answer or the body, which is
    /// where they are handled.
    fn drive(&mut self, cx: &mut Context<'_>) {
        if !self.finished {
            self.finished = Pin::new(&mut self.connection).poll(cx).is_ready();
        }
    }
}

/// The bytes of a connection, noting that some arrived.
pub(super) struct Io {
    stream: Stream,
    heard: Arc<AtomicBool>,
}

impl Io {
    pub(super) fn new(stream: Stream) -> Io {
        Io { stream, heard: Arc::default() }
    }
}

impl AsyncRead for Io {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let outcome = match Pin::new(&mut self.stream).poll_read(cx, buffer) {
            // Many servers close without TLS's close_notify. A body of known length is still checked against
            // its length. One that ends with the connection may have been cut, which does little harm to an
            // answer that is only logged.
            Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::UnexpectedEof => Poll::Ready(Ok(())),
            outcome => outcome,
        };
        if buffer.filled().len() > before {
            self.heard.store(true, Ordering::Relaxed);
        }
        outcome
    }
}

impl AsyncWrite for Io {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
