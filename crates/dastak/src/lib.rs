//! dastak, a self-hostable service for voice and chat AI agents. `docs/architecture.md` is the map.

pub mod cli;
#[doc(hidden)]
pub mod fuzzing;
pub mod hooks;
pub mod http;
pub mod jobs;
pub mod lines;
pub mod service;
pub mod sip_trunks;
pub mod speech;
pub mod traces;

pub use {::app, ::config, ::runtime};
