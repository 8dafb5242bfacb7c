//! A body that is made piece by piece as the client takes it: nothing runs ahead, and nothing goes on once
//! the client has gone.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body as HttpBody, Frame};

use super::handler::Body;

type Next<S> = Pin<Box<dyn Future<Output = Option<(Bytes, S)>> + Send>>;

struct Pieces<S, F> {
    pending: Option<Next<S>>,
    next: F,
}

/// A body of the pieces that `next` makes from one state after the other, until it makes none.
pub fn pieces<S, F, Fut>(state: S, mut next: F) -> Body
where
    S: Send + 'static,
    F: FnMut(S) -> Fut + Send + Unpin + 'static,
    Fut: Future<Output = Option<(Bytes, S)>> + Send + 'static,
{
    let pending: Next<S> = Box::pin(next(state));
    let pieces = Pieces { pending: Some(pending), next: move |state| -> Next<S> { Box::pin(next(state)) } };
    Body::Flow(pieces.boxed_unsync())
}

impl<S, F> HttpBody for Pieces<S, F>
where
    S: Send + 'static,
    F: FnMut(S) -> Next<S> + Unpin,
{
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let Some(pending) = self.pending.as_mut() else { return Poll::Ready(None) };
        match pending.as_mut().poll(context) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(None) => {
                self.pending = None;
                Poll::Ready(None)
            }
            Poll::Ready(Some((bytes, state))) => {
                self.pending = Some((self.next)(state));
                Poll::Ready(Some(Ok(Frame::data(bytes))))
            }
        }
    }
}
