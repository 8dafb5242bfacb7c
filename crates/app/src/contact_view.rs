//! A contact as clients see it.

use api::contacts::Contact as ContactView;
use api::error_codes;
use store::contacts::ContactRow;
use store::{DbError, Tx, dnd};

use super::Failure;

/// A contact as clients see it.
pub fn view(tx: &mut Tx<'_>, row: ContactRow) -> Result<ContactView, DbError> {
    let dnd = match &row.phone {
        Some(phone) => dnd::contains(tx, phone)?,
        None => false,
    };
    Ok(ContactView {
        id: row.id,
        external_ref: row.external_ref,
        phone: row.phone,
        dnd,
        opt_out: row.opt_out,
        preferred_language: row.preferred_language,
        last_contact_at: row.last_contact_at,
        attributes: row.attributes,
        name: row.name,
        email: row.email,
        company: row.company,
        chatapp_user_id: row.chatapp_user_id,
        chatapp_username: row.chatapp_username,
        timezone: row.timezone,
    })
}

/// The contact, unless there is none (404) or it is erased (410).
pub fn present(row: Option<ContactRow>) -> Result<ContactRow, Failure> {
    match row {
        None => Err(Failure::not_found("contact")),
        Some(row) if row.erased_at.is_some() => Err(Failure::plain(error_codes::CONTACT_ERASED)),
        Some(row) => Ok(row),
    }
}
