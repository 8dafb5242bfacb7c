//! A client's socket: a client that does not take its answer is given up, and one that was refused while it
//! was still sending hears why.

use std::io::{self, ErrorKind, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep_until};

/// How long what a refused client still sends is passed over, so that it reads the answer before the
/// connection breaks.
const LINGER: Duration = Duration::from_secs(2);
/// Most bytes of it.
const LINGER_BYTES: usize = 32 * 1024 * 1024;
/// Bytes that a client has to take in its time.
const PACE: usize = 64 * 1024;

/// A socket with deadlines, in real time.
pub struct Paced {
    io: TcpStream,
    /// How long a client may take for [`PACE`] bytes.
    patience: Duration,
    /// Runs while the client has something to take.
    waiting: Option<Pin<Box<Sleep>>>,
    taken: usize,
    /// Set when a request was answered although not all of it was read.
    unread: Arc<AtomicBool>,
    /// What is left of the time and the bytes of lingering.
    lingering: Option<(Pin<Box<Sleep>>, usize)>,
}

impl Paced {
    /// The socket of a client that is given up when it does not take its answers within `patience`.
    pub fn new(io: TcpStream, patience: Duration, unread: Arc<AtomicBool>) -> Self {
        Self { io, patience, waiting: None, taken: 0, unread, lingering: None }
    }

    fn written(
        &mut self,
        context: &mut Context<'_>,
        outcome: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        if let Poll::Ready(Ok(bytes)) = &outcome {
            self.taken += bytes;
            if self.taken >= PACE {
                self.rest();
            }
        }
        if outcome.is_ready() {
            return outcome;
        }
        let patience = self.patience;
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(sleep_until(Instant::now() + patience)));
        ready!(waiting.as_mut().poll(context));
        Poll::Ready(Err(ErrorKind::TimedOut.into()))
    }

    /// The client has taken what there was, or enough of it.
    fn rest(&mut self) {
        self.waiting = None;
        self.taken = 0;
    }
}

impl AsyncRead for Paced {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(context, into)
    }
}

impl AsyncWrite for Paced {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.io).poll_write(context, bytes);
        self.written(context, outcome)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.io).poll_write_vectored(context, bytes);
        self.written(context, outcome)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.io).poll_flush(context))?;
        self.rest();
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.lingering.is_none() {
            ready!(Pin::new(&mut self.io).poll_shutdown(context))?;
            if !self.unread.load(Ordering::Relaxed) {
                return Poll::Ready(Ok(()));
            }
        }
        let this = &mut *self;
        // Closing a socket with unread bytes resets the connection, and the answer may be lost with it.
        let (until, left) = this
            .lingering
            .get_or_insert_with(|| (Box::pin(sleep_until(Instant::now() + LINGER)), LINGER_BYTES));
        let mut room = [0; 8192];
        loop {
            if until.as_mut().poll(context).is_ready() {
                return Poll::Ready(Ok(()));
            }
            let mut into = ReadBuf::new(&mut room);
            let read = ready!(Pin::new(&mut this.io).poll_read(context, &mut into));
            *left = left.saturating_sub(into.filled().len());
            if read.is_err() || into.filled().is_empty() || *left == 0 {
                return Poll::Ready(Ok(()));
            }
        }
    }
}
