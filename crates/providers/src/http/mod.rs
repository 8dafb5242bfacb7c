//! HTTP to the providers that an operator names, over pooled connections, and the sockets under WebSockets.
//!
//! | file | holds |
//! |---|---|
//! | `base` | the address of a service, and whether its data stays in India |
//! | `connect` | opening a connection: look-up, TCP, TLS |
//! | `peer` | a service with its credentials and time-outs: requests and their failures |
//! | `time` | a monotonic clock |
//!
//! The addresses are the operator's own, so private ones and any port are fine here; addresses that users
//! give go through [`crate::GuardedClient`]. Deadlines are network deadlines and run in real time.

mod base;
mod connect;
mod peer;
mod time;

pub use base::{Base, encoded, is_resident};
pub use connect::{Broken, Net};
#[doc(hidden)]
pub use peer::fuzzed_failure;
pub(crate) use peer::{Body, Peer, error_code, status_error};
pub use time::{Monotonic, monotonic};
