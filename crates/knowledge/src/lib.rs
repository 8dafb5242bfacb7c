//! The use cases of knowledge bases (docs/contract/knowledge-bases.md), above `app`.
//!
//! | file | holds |
//! |---|---|
//! | `bases` | making, reading and deleting bases |
//! | `documents` | adding, replacing and removing documents |
//! | `embedding` | embeddings, where a service makes them |
//! | `files` | files that the operator uploads |
//! | `links` | pages of the web |
//! | `search` | passages for a question, for requests and conversations alike |
//! | `shelf` | the indexes of this node, which follow the store |
//! | `upkeep` | clean-up after deleted bases |
//!
//! Transactions lock the workspace, then the base.

mod bases;
mod documents;
mod embedding;
pub mod files;
pub mod links;
mod search;
mod shelf;
mod upkeep;

pub use bases::{create, delete, get, list};
pub use documents::{Added, add_document, add_text, remove_document};
pub use embedding::embed;
pub use search::{Hit, PASSAGES, base_of_agent, search, spoken};
pub use upkeep::look_after;
