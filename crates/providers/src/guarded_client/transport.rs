//! The transport of requests, which the simulation replaces.

use std::future::Future;
use std::pin::Pin;

use super::{GuardedClient, Limits, Request, Response, SendError};

/// An exchange under way.
pub type Sending<'a> = Pin<Box<dyn Future<Output = Result<Response, SendError>> + Send + 'a>>;

/// Transports a request and returns the response. The service has one, the guarded client; the simulation has receivers
/// and systems of its own.
pub trait Transport: Send + Sync {
    /// One exchange within its limits.
    fn send(&self, request: Request, limits: Limits) -> Sending<'_>;
}

impl Transport for GuardedClient {
    fn send(&self, request: Request, limits: Limits) -> Sending<'_> {
        Box::pin(GuardedClient::send(self, request, limits))
    }
}
