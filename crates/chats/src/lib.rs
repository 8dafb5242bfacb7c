//! The use cases of chats (docs/contract/chats.md), above `app` and `knowledge`.
//!
//! | file | holds |
//! |---|---|
//! | `open` | opening a session over the API |
//! | `send` | a message of the customer |
//! | `reply` | writing the agent's reply: claims, tries, and storing it once |
//! | `turn` | playing the conversation for one reply: the model, its tools, hand-off, end |
//! | `progress` | how far a reply has got that called a tool: what the next try or turn goes on from |
//! | `undelivered` | what the messaging channel did not deliver: no model reads it |
//! | `passages` | what the knowledge base says to the customer's words |
//! | `feed` | the reply as it is written, for those who watch |
//! | `session` | the row of a chat: messages, moves, money, events, its end |
//! | `read` | chats as clients and the operator see them |
//! | `desk` | a teammate takes a chat over, writes, gives it back |
//! | `documents` | a document that a customer hands in |
//! | `channel_documents` | one that a customer sends on the messaging channel |
//! | `document_desk` | documents as the operator sees them, and a teammate's verdict |
//! | `document_drops` | what becomes of documents and their files |
//! | `hours` | when an agent takes new chats |
//! | `due` | what the clock does to chats |
//! | `analysis` | what the language model reads out of a chat that is over |
//! | `erasing` | what an erasure, a suspension and the clock take away |
//!
//! A message is stored, with a lease on its reply, before the model is asked. The reply, the new state of the
//! conversation and its events are one transaction, which only the holder of the last try may make. So a reply
//! is given once, whatever dies in between (docs/chats.md).
//!
//! Transactions lock in this order: the agent or the chat, the workspace's wallet, the head of the decision log.

mod analysis;
mod carried;
mod channel_documents;
mod desk;
mod document_desk;
mod document_drops;
mod documents;
mod due;
mod erasing;
mod feed;
mod hours;
mod open;
mod passages;
mod progress;
mod read;
mod reply;
mod send;
pub mod session;
mod turn;
mod undelivered;

pub use analysis::{AT_ONCE as ANALYSES_AT_ONCE, Owed, analyse, next_analysis, take_analyses};
pub use carried::{Heard, heard, made_out, started};
pub use channel_documents::waits_for_file;
pub use desk::{end as end_for, hand_back, take_over, write};
pub use document_desk::{
    OpenedFile, file as document_file, get as document, list as documents, review as review_document,
};
pub use document_drops::{drop_due, erase as erase_documents, sweep as sweep_documents};
pub use documents::{SentFile, hand_in};
pub use due::{Due, adopt, look_after};
pub use erasing::{erase, suspend, sweep};
pub use feed::{Feed, Piece, Watch};
pub use hours::{are_open, get as hours, remove as remove_hours, set as set_hours};
pub use open::{check_runs, fresh, give_back, open, prove};
pub use read::{detail, list, session};
pub use send::{Accepted, end, send};
pub use turn::waits_for_return;
pub use undelivered::undelivered;
