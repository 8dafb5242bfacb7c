//! Language models over the wire: OpenAI-compatible chat completions (facts sheet 5.1).
//!
//! | file | holds |
//! |---|---|
//! | `openai` | the adapter: requests, what a server's refusals teach it |
//! | `request` | instructions, history and tools as messages |
//! | `events` | server-sent events, cut anywhere |
//! | `turn` | the model's turn as it arrives |
//! | `speakable` | what of a model's text is for the customer's ears |
//! | `analysis` | reading a conversation that is over |

mod analysis;
mod events;
mod openai;
mod request;
mod speakable;
mod turn;

pub use openai::OpenAi;
