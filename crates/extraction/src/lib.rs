//! What files and web pages say: their bytes become a [`domain::knowledge::ReadDocument`] (docs/contract/knowledge-files.md);
//! and how voice notes sound.
//!
//! | file | holds |
//! |---|---|
//! | `form` | which format the bytes have |
//! | `draft` | the document as it grows, within its limits |
//! | `text`, `table` | characters and encodings, rows of tables: what the formats share |
//! | `legacy` | fonts from before Unicode |
//! | `sound` | voice notes |
//! | `csv`, `docx`, `html`, `markdown`, `pdf` | one format each |
//! | `limits` | ceilings of a document |
//! | `reading` | [`read`]: the format is found, and its reader called |
//! | `inside` | the process that reads: its limits, what it takes and gives |
//! | `turns` | whose turn it is to have something read |
//! | `worker` | starting such a process and judging how it ended |
//!
//! [`read`] is pure. The service never calls it: the bytes are a stranger's, so [`Worker`] has it done by a
//! process of its own, which may be killed.

mod csv;
mod docx;
mod draft;
mod form;
mod html;
pub mod inside;
mod legacy;
mod limits;
mod markdown;
mod pdf;
mod reading;
pub mod sound;
mod table;
mod text;
mod turns;
mod worker;

pub use form::Form;
pub use limits::{
    LITTLE_TEXT, MAX_BLOCKS, MAX_BYTES, MAX_CELL, MAX_CHARACTERS, MAX_COLUMNS, MAX_PAGES, MAX_UNPACKED,
};
pub use reading::read;
pub use worker::Worker;
