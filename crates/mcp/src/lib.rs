//! The server of the Model Context Protocol (docs/contract/mcp.md): tools made from the table of operations, and the guides
//! as resources. It knows neither the service nor the network: an [`Api`] carries out its requests.

mod catalog;
mod pages;
mod server;
pub mod stdio;
pub mod streamable_http;
mod tools;

use std::future::Future;
use std::pin::Pin;

use bytes::Bytes;

pub use server::Server;

/// A request to the API, with the key of the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// HTTP method.
    pub method: &'static str,
    /// Path and query.
    pub target: String,
    /// JSON body; empty without one.
    pub body: Bytes,
    /// `Idempotency-Key`, where the operation honours it.
    pub idempotency_key: Option<String>,
}

/// The API's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// The first bytes of the body, more than [`MAX_ANSWER`] if there are so many.
    pub body: Bytes,
    /// `Retry-After` in seconds.
    pub retry_after: Option<u64>,
}

/// Most bytes of an API's answer that a tool gives; a longer one is cut, with a note that it is.
pub const MAX_ANSWER: usize = 64 * 1024;

/// What an [`Api`] does at last.
pub type Answering = Pin<Box<dyn Future<Output = Result<Answer, String>> + Send>>;

/// Where requests to the API go.
pub trait Api: Send + Sync + 'static {
    /// Sends a request as the key of the client.
    ///
    /// # Errors
    /// Why there is no answer, in words for the client's user.
    fn send(&self, request: Request) -> Answering;

    /// A new key of idempotency.
    fn new_key(&self) -> String;
}

/// The API key of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// Whether it is a live key: what it dials is real.
    pub live: bool,
    /// Names of its scopes.
    pub scopes: Vec<String>,
}

impl Key {
    fn has(&self, scope: api::scopes::Scope) -> bool {
        self.scopes.iter().any(|known| known == scope.0)
    }
}
