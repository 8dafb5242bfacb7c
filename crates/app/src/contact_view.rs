//! A contact in the form of the API.

use api::contacts::{Contact as ContactView, MAX_ATTRIBUTE_NAME, MAX_ATTRIBUTES, MAX_ATTRIBUTES_BYTES};
use api::error_codes;
use serde_json::{Map, Value};
use store::contacts::ContactRow;
use store::{DbError, Tx, dnd};

use super::Failure;

/// A contact's saved values, which conversations use as defaults: those of its attributes that are texts, numbers or
/// booleans.
pub fn saved_values(row: &ContactRow) -> Map<String, Value> {
    let scalar = |value: &Value| value.is_string() || value.is_number() || value.is_boolean();
    let attributes = row.attributes.as_object().into_iter().flatten();
    attributes.filter(|(_, value)| scalar(value)).map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// The attributes of a contact that a call creates: the call's values, as many as a contact may have.
pub(crate) fn attributes_of(values: &Map<String, Value>) -> Map<String, Value> {
    let (mut attributes, mut room) = (Map::new(), MAX_ATTRIBUTES_BYTES.saturating_sub(2));
    let fits = |name: &String| !name.is_empty() && name.chars().count() <= MAX_ATTRIBUTE_NAME;
    for (name, value) in values.iter().filter(|(name, _)| fits(name)) {
        // As JSON: the name in quotes, a colon, the value and a comma.
        let bytes = Value::String(name.clone()).to_string().len() + value.to_string().len() + 2;
        if attributes.len() < MAX_ATTRIBUTES && bytes <= room {
            room -= bytes;
            attributes.insert(name.clone(), value.clone());
        }
    }
    attributes
}

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
