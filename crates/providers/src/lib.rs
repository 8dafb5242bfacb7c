//! Outbound adapters: the clients of all external services.
//!
//! Every request to an address that a user gave (webhook receivers, tools, customer systems) goes through
//! [`GuardedClient`]. Services that the operator names (speech, language models, storage) are called through [`http`]
//! and `websocket`, which may connect to private addresses.
//!
//! | room | holds |
//! |---|---|
//! | `guarded_client` | requests to addresses that users give |
//! | `socket` | TCP and TLS for both |
//! | `http`, `websocket` | connections to services that the operator names |
//! | `speech` | recognisers and synthesisers behind the ports of `domain` |
//! | `language_model` | OpenAI-compatible chat completions |
//! | `embeddings` | embeddings of texts, from an OpenAI-compatible service |
//! | `mail` | e-mail to the operator's mail server |
//! | `mcp` | messages of the Model Context Protocol to tools of customers' servers |
//! | `openid` | sign-in over the operator's identity provider |
//! | `storage` | files and S3-compatible buckets |
//! | `connectors` | customers' systems: CRMs, shops, spreadsheets, and the access tokens for them |
//! | `chain` | several of a kind in order of preference: breakers, failover during a call, health, metrics |

pub mod chain;
pub mod collector;
pub mod connectors;
pub mod embeddings;
pub mod guarded_client;
pub mod http;
pub mod language_model;
pub mod mail;
pub mod mcp;
pub mod openid;
pub mod settings;
mod socket;
pub mod speech;
pub mod storage;
mod websocket;

pub use guarded_client::GuardedClient;

/// Parsers of providers' bytes, for fuzz targets.
#[doc(hidden)]
pub mod fuzzing {
    pub mod model {
        pub use crate::language_model::fuzzing::{analysis, grades, request, stream, whole};
    }
    /// Recognisers and voices.
    pub mod speech {
        pub use crate::speech::fuzzing::{Told, WAYS, hear, sound, speak, spoken_part, transcription, wav};
    }
    pub use crate::http::fuzzed_failure as failure;
    /// Responses of a bucket.
    pub use crate::storage::fuzzing as storage;
}
