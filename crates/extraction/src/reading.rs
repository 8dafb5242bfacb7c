//! Parses a document by its format.

use domain::ports::{Read, ReadLimit, ReadOrder, Unreadable};

use crate::draft::Draft;
use crate::form::{self, Form};
use crate::limits::{LITTLE_TEXT, MAX_BYTES};
use crate::{csv, docx, html, legacy, markdown, pdf, text};

/// Parses a document.
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
