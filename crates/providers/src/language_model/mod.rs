//! Language models: OpenAI-compatible chat completions over the wire (docs/providers.md#models), and an
//! answerer without a model.
//!
//! | file | holds |
//! |---|---|
//! | `openai` | the adapter: requests, what a server's refusals teach it |
//! | `offline` | the answerer without a model |
//! | `request` | instructions, history and tools as messages |
//! | `events` | server-sent events, cut anywhere |
//! | `turn` | the model's turn as it arrives |
//! | `speakable` | what of a model's text is for the customer's ears |
//! | `analysis` | reading a conversation that is over |

mod analysis;
mod events;
pub(crate) mod fuzzing;
pub mod offline;
mod openai;
mod request;
mod speakable;
mod turn;

pub use openai::OpenAi;
