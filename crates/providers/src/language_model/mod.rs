//! Language models: OpenAI-compatible chat completions over the wire (docs/providers.md#models), and an
//! answerer without a model.
//!
//! | file | holds |
//! |---|---|
//! | `openai` | the adapter: requests, and which fields a server has refused |
//! | `offline` | the answerer without a model |
//! | `request` | instructions, history and tools as messages |
//! | `events` | server-sent events, split anywhere |
//! | `turn` | the model's turn while it is streamed |
//! | `speakable` | the part of a model's text that is spoken |
//! | `analysis` | analysis of a finished conversation |
//! | `grading` | grading of a finished conversation against criteria |
//! | `document` | reading a document that a customer handed in |

mod analysis;
mod document;
mod events;
pub(crate) mod fuzzing;
mod grading;
pub mod offline;
mod openai;
mod request;
mod speakable;
mod turn;

pub use openai::OpenAi;
