//! The use cases of chats (docs/contract/chats.md), above `app` and `knowledge`.
//!
//! | file | holds |
//! |---|---|
//! | `session` | the row of a chat: messages, ownership, charges, events, end |
//! | `written` | the result of one try to write a reply |
//! | `unkept` | what customers write and nobody may keep: marks in its place, the words in memory for one reply |
//! | `progress` | checkpoints of a reply that calls tools |
//! | `undelivered` | messages that the messaging channel did not deliver: no model reads them |
//! | `passages` | retrieval from the knowledge base |
//! | `model` | one turn of the language model, for a chat or a run of a draft |
//! | `tries` | runs of a flow by its author; `tries_log` what is stored of one, from which its conversation is made again |
//! | `feed` | streams a reply while it is written |
//! | `carried` | chats on the messaging channel: inbound messages, sending |
//! | `document_checks` | documents are validated, stored and judged |
//! | `channel_documents` | documents that arrive on the messaging channel |
//! | `turn` | runs the conversation for one reply: the model, its tools, hand-off, end |
//! | `reply` | the agent's reply: lease, retries, and storing it once |
//! | `hours` | business hours of agents |
//! | `open` | opening a session over the API; handback to the agent |
//! | `send` | a message of the customer over the API |
//! | `documents` | a document that is uploaded through the API |
//! | `test_chats` | test links of agents, and the chats of strangers who have one |
//! | `read` | chats in the form of the API |
//! | `desk` | the inbox: takeover by a teammate, messages, handback |
//! | `inbox` | the inbox of a team: lists, holders, round robin, notes, saved answers |
//! | `document_desk` | documents over the operator API; a teammate's review |
//! | `document_drops` | erasure and retention of documents |
//! | `due` | timeouts, debounced replies, expired leases |
//! | `analysis` | analysis of ended chats by the language model |
//! | `erasing` | erasure, suspension, retention |
//!
//! A message is stored, with a lease on its reply, before the model is called. The reply, the new state of the
//! conversation and its events are one transaction, which only the holder of the last try may make. So a reply is given
//! exactly once, whatever dies in between (docs/chats.md).
//!
//! Transactions lock in this order: the agent or the chat, the workspace's wallet, the head of the decision log.

mod analysis;
mod carried;
mod channel_documents;
mod desk;
mod document_checks;
mod document_desk;
mod document_drops;
mod documents;
mod due;
mod erasing;
mod feed;
mod hours;
pub mod inbox;
mod model;
mod open;
mod passages;
mod progress;
mod read;
mod reply;
mod send;
pub mod session;
mod test_chats;
mod tries;
mod tries_log;
mod turn;
mod undelivered;
pub mod unkept;
mod written;

pub use analysis::{AT_ONCE as ANALYSES_AT_ONCE, PendingAnalysis, analyse, next_analysis, take_analyses};
pub use carried::{InboundMessage, receive, started, transcribed};
pub use channel_documents::waits_for_file;
pub use desk::{end as end_for, hand_back, take_over, write};
pub use document_checks::SentFile;
pub use document_desk::{
    OpenedFile, file as document_file, get as document, list as documents, review as review_document,
};
pub use document_drops::{drop_due, erase as erase_documents, sweep as sweep_documents};
pub use documents::hand_in;
pub use due::{Due, adopt, look_after};
pub use erasing::{erase, suspend, sweep};
pub use feed::{Feed, Piece, Watch};
pub use hours::{are_open, get as hours, remove as remove_hours, set as set_hours};
pub use open::{check_runs, fresh, give_back, open, prove};
pub use read::{detail, list, session};
pub use send::{Accepted, end, send};
pub use test_chats::{
    links as test_links, make as make_test_link, open as open_test_chat, read as test_chat,
    revoke as revoke_test_link, say as say_in_test_chat,
};
pub use tries::{
    back as back_in_try, begin as begin_try, close as close_try, get as get_try, say as say_in_try,
    sweep as sweep_tries,
};
pub use turn::waits_for_return;
pub use undelivered::undelivered;
