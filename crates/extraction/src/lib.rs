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
mod markdown;
mod pdf;
pub mod sound;
mod table;
mod text;
mod turns;
mod worker;

pub use form::Form;
pub use worker::Worker;

use domain::ports::{Read, ReadLimit, ReadOrder, Unreadable};

use draft::Draft;

/// Most bytes of a file or a page.
pub const MAX_BYTES: usize = 20 * 1024 * 1024;
pub const MAX_PAGES: usize = 2_000;
/// Most characters of a document.
pub const MAX_CHARACTERS: usize = 1_000_000;
/// Most blocks of a document.
pub const MAX_BLOCKS: usize = 50_000;
/// Most characters of a cell of a table.
pub const MAX_CELL: usize = 20_000;
/// Most columns of a table.
pub const MAX_COLUMNS: usize = 256;
/// Most bytes that a part of an archive unpacks to.
pub const MAX_UNPACKED: usize = 64 * 1024 * 1024;
/// A page with scripts that says less than this is taken for one that scripts build.
pub const LITTLE_TEXT: usize = 200;

/// Reads a document.
///
/// # Errors
/// Why it cannot be read.
pub fn read(order: &ReadOrder) -> Result<Read, Unreadable> {
    if order.bytes.len() > MAX_BYTES {
        return Err(Unreadable::Beyond(ReadLimit::Bytes, MAX_BYTES as u64));
    }
    let form = form::of(order)?;
    let mut draft = Draft::default();
    let mut built_by_script = false;
    match form {
        Form::Pdf => pdf::read(&order.bytes, &mut draft)?,
        Form::Docx => docx::read(&order.bytes, &mut draft)?,
        Form::Text => text::read(&text::decode(&order.bytes)?, &mut draft)?,
        Form::Markdown => markdown::read(&text::decode(&order.bytes)?, &mut draft)?,
        Form::Csv => csv::read(&text::decode(&order.bytes)?, &mut draft)?,
        Form::Html => {
            built_by_script = html::read(&html::decode(&order.bytes, order.charset.as_deref())?, &mut draft)?;
        }
    }
    if legacy::reads_as_legacy(draft.blocks()) {
        return Err(Unreadable::Damaged(legacy::REASON.into()));
    }
    let characters = draft.characters();
    Ok(Read { built_by_script: built_by_script && characters < LITTLE_TEXT, document: draft.finish() })
}
