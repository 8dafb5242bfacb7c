//! Text extraction from files and web pages: their bytes become a [`domain::knowledge::ReadDocument`]
//! (docs/contract/knowledge-files.md); and decoding of voice notes.
//!
//! | file | holds |
//! |---|---|
//! | `form` | detection of the format |
//! | `draft` | builder of the document, within its limits |
//! | `text`, `table` | encodings and rows of tables, shared by the formats |
//! | `legacy` | fonts from before Unicode |
//! | `sound` | voice notes |
//! | `csv`, `docx`, `html`, `markdown`, `pdf` | one format each |
//! | `limits` | ceilings of a document |
//! | `reading` | [`read`]: detects the format and calls its parser |
//! | `inside` | the sandboxed process: its limits, its input and output |
//! | `turns` | fair queue for the process |
//! | `worker` | starting such a process and evaluating how it ended |
//!
//! [`read`] is pure. The service never calls it: the bytes are untrusted, so [`Worker`] runs it in a sandboxed process,
//! which may be killed.

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
