//! The contact of a call, found or created.
//!
//! With `externalRef` the contact of that reference is called on whatever number is given: the reference identifies the
//! person, and the number on the contact's record does not change. A new reference is given to the number's contact
//! when that has none; when the number belongs to a person with another reference, the new one is a contact of its own
//! without a number (one number = one contact). A test call uses real contacts and changes none; contacts that it
//! creates are seen by test keys only.

use domain::ids::{Contact, Id};
use domain::phone::Phone;
use domain::tenant::Mode;
use serde_json::{Map, Value};
use store::TenantTx;
use store::contacts::{self, ContactRow};

use crate::contact_view::attributes_of;
use crate::{Context, Failure};

/// The contact of a call, as far as known before anything is stored.
#[derive(Debug, Clone)]
pub(super) enum Who {
    /// A contact that exists.
    Known(Box<ContactRow>),
    /// A contact that exists and gets the reference of this call.
    Adopted(Box<ContactRow>),
    /// No contact yet; the number may belong to another one.
    New { phone: Option<String> },
}

impl Who {
    /// A contact with this number, called without a reference.
    pub(super) fn of(contact: Option<Box<ContactRow>>, phone: Phone) -> Self {
        contact.map_or_else(|| Who::New { phone: Some(phone.to_string()) }, Who::Known)
    }

    /// The contact that exists.
    pub(super) fn contact(&self) -> Option<&ContactRow> {
        match self {
            Who::Known(contact) | Who::Adopted(contact) => Some(contact),
            Who::New { .. } => None,
        }
    }
}

/// The modes in which a call looks for contacts, its own last.
fn worlds(mode: Mode) -> &'static [Mode] {
    match mode {
        Mode::Live => &[Mode::Live],
        Mode::Test => &[Mode::Live, Mode::Test],
    }
}

/// Looks the person up.
pub(super) fn find(
    tx: &mut TenantTx,
    mode: Mode,
    reference: Option<&str>,
    phone: Option<Phone>,
) -> Result<Who, Failure> {
    if let Some(reference) = reference {
        for world in worlds(mode) {
            if let Some(contact) = contacts::find_by_reference(tx, *world, reference)? {
                return Ok(Who::Known(Box::new(contact)));
            }
        }
    }
    let Some(phone) = phone.map(|phone| phone.to_string()) else { return Ok(Who::New { phone: None }) };
    let mut taken = false;
    for world in worlds(mode) {
        match contacts::find_by_phone(tx, *world, &phone)? {
            Some(contact) if reference.is_none() => return Ok(Who::Known(Box::new(contact))),
            Some(contact) if contact.external_ref.is_none() && contact.mode == mode => {
                return Ok(Who::Adopted(Box::new(contact)));
            }
            Some(contact) => taken = contact.mode == mode,
            None => {}
        }
    }
    Ok(Who::New { phone: (!taken).then_some(phone) })
}

/// The contact that a call to this number without a reference would be for, if there is one already.
pub(crate) fn find_known(tx: &mut TenantTx, mode: Mode, phone: Phone) -> Result<Option<ContactRow>, Failure> {
    Ok(find(tx, mode, None, Some(phone))?.contact().cloned())
}

/// The contact of a placed call.
pub(super) struct CallContact {
    pub id: Id<Contact>,
    pub external_ref: Option<String>,
    /// The contact itself, when it is new; the caller stores it.
    pub new: Option<ContactRow>,
}

/// The call's data about its person.
#[derive(Debug, Clone, Copy)]
pub(super) struct KnownAs<'a> {
    /// The client's own reference.
    pub reference: Option<&'a str>,
    pub name: Option<&'a str>,
    /// The call's values, which a new contact gets as attributes.
    pub variables: Option<&'a Map<String, Value>>,
}

/// Remembers that the contact is called, and gives the call's reference to one that is adopted. A new one
/// starts with the call's values as its attributes.
pub(super) fn ensure(
    tx: &mut TenantTx,
    context: &Context,
    mode: Mode,
    who: &Who,
    known_as: KnownAs<'_>,
) -> Result<CallContact, Failure> {
    let reference = known_as.reference;
    match who {
        Who::Known(contact) => {
            if contact.mode == mode {
                contacts::touch(tx, contact.id, context.now)?;
            }
            Ok(CallContact { id: contact.id, external_ref: contact.external_ref.clone(), new: None })
        }
        Who::Adopted(contact) => {
            contacts::touch(tx, contact.id, context.now)?;
            let adopted = match reference {
                Some(reference) => contacts::adopt_reference(tx, mode, contact.id, reference, context.now)?,
                None => false,
            };
            let external_ref =
                if adopted { reference.map(str::to_owned) } else { contact.external_ref.clone() };
            Ok(CallContact { id: contact.id, external_ref, new: None })
        }
        Who::New { phone } => {
            let row = new(context, mode, known_as, phone.clone());
            Ok(CallContact { id: row.id, external_ref: row.external_ref.clone(), new: Some(row) })
        }
    }
}

fn new(context: &Context, mode: Mode, known_as: KnownAs<'_>, phone: Option<String>) -> ContactRow {
    ContactRow {
        id: context.ids.make(),
        mode,
        external_ref: known_as.reference.map(str::to_owned),
        phone,
        name: known_as.name.map(str::to_owned),
        email: None,
        company: None,
        preferred_language: "en".into(),
        timezone: "Asia/Kolkata".into(),
        attributes: Value::Object(known_as.variables.map(attributes_of).unwrap_or_default()),
        variables: Value::Object(Map::new()),
        opt_out: false,
        consent: None,
        chatapp_user_id: None,
        chatapp_username: None,
        last_contact_at: Some(context.now),
        created_at: context.now,
        erased_at: None,
    }
}
