//! Contacts of senders and recipients, found or added (docs/contract/channel-messages.md#people).

use app::do_not_call::{self, Source};
use app::{Context, Failure, contact_policy};
use domain::channel::Recipient;
use domain::channel::notification::Person;
use domain::ids::{Contact, Id};
use domain::phone::E164;
use domain::tenant::Mode;
use serde_json::{Map, Value};
use store::channel_messages::MessageRow;
use store::contacts::{self, ContactRow};
use store::{TenantTx, channel_consents, channel_messages};

/// Longest stored name of a person, in characters.
const MAX_NAME: usize = 200;

/// Finds the contact of a phone number or of an id on the channel.
pub fn find(tx: &mut TenantTx, to: &Recipient) -> Result<Option<ContactRow>, Failure> {
    Ok(match to {
        Recipient::Phone(number) => contacts::find_by_phone(tx, Mode::Live, &number.to_string())?,
        Recipient::UserId(id) => contacts::find_by_channel_user(tx, Mode::Live, id)?,
    })
}

/// Adds a contact for a phone number or an id on the channel that had none.
pub fn make(tx: &mut TenantTx, context: &Context, to: &Recipient) -> Result<ContactRow, Failure> {
    let (phone, user) = match to {
        Recipient::Phone(number) => (Some(number.to_string()), None),
        Recipient::UserId(id) => (None, Some(id.clone())),
    };
    insert(tx, fresh(context, phone, user, None, None), to)
}

/// Adds a contact, or finds the one that was added concurrently.
fn insert(tx: &mut TenantTx, row: ContactRow, to: &Recipient) -> Result<ContactRow, Failure> {
    if contacts::insert(tx, &row)? {
        return Ok(row);
    }
    find(tx, to)?.ok_or_else(|| Failure::conflict("other requests keep changing this contact; try again"))
}

fn fresh(
    context: &Context,
    phone: Option<String>,
    user: Option<String>,
    username: Option<String>,
    name: Option<&str>,
) -> ContactRow {
    ContactRow {
        id: context.ids.make(),
        mode: Mode::Live,
        external_ref: None,
        phone,
        name: name.map(|name| name.chars().take(MAX_NAME).collect()),
        email: None,
        company: None,
        preferred_language: "en".into(),
        timezone: "Asia/Kolkata".into(),
        attributes: Value::Object(Map::new()),
        variables: Value::Object(Map::new()),
        opt_out: false,
        consent: None,
        chatapp_user_id: user,
        chatapp_username: username,
        last_contact_at: Some(context.now),
        created_at: context.now,
        erased_at: None,
    }
}

/// The contact of a sender, updated with what the channel says about them. When somebody who hid their number shows it,
/// the contact of the id is merged into that of the number.
pub fn who_wrote(
    tx: &mut TenantTx,
    context: &Context,
    person: &Person,
) -> Result<Option<ContactRow>, Failure> {
    let phone = person.phone.map(|phone| phone.to_string());
    let by_phone = match &phone {
        Some(phone) => contacts::find_by_phone(tx, Mode::Live, phone)?,
        None => None,
    };
    let by_user = match &person.user_id {
        Some(user) => contacts::find_by_channel_user(tx, Mode::Live, user)?,
        None => None,
    };
    let known = match (by_phone, by_user) {
        (Some(one), Some(other)) if one.id != other.id => Some(join(tx, context, one, &other)?),
        (Some(contact), _) => Some(contact),
        // A known id with another number has changed it; one without a number shows it now.
        (None, Some(contact)) => Some(contact),
        (None, None) => None,
    };
    let Some(mut contact) = known else {
        let Some(to) = person.address() else { return Ok(None) };
        let (user, username) = (person.user_id.clone(), person.username.clone());
        let row = fresh(context, phone, user, username, person.name.as_deref());
        return Ok(Some(insert(tx, row, &to)?));
    };
    let user = person.user_id.clone().or_else(|| contact.chatapp_user_id.clone());
    let username = person.username.clone().or_else(|| contact.chatapp_username.clone());
    let number = contact.phone.clone().or(phone);
    follow(tx, context, &contact, person.phone, user.as_deref())?;
    if (&number, &user, &username) != (&contact.phone, &contact.chatapp_user_id, &contact.chatapp_username) {
        let (number_, user_, username_) = (number.as_deref(), user.as_deref(), username.as_deref());
        contacts::set_channel(tx, contact.id, number_, user_, username_, context.now)?;
        (contact.phone, contact.chatapp_user_id, contact.chatapp_username) = (number, user, username);
    }
    if contact.name.is_none() && person.name.is_some() {
        contact.name = person.name.as_ref().map(|name| name.chars().take(MAX_NAME).collect());
        contacts::update(tx, &contact, context.now)?;
    }
    Ok(Some(contact))
}

/// Merges the contact of an id into that of the number.
fn join(
    tx: &mut TenantTx,
    context: &Context,
    mut into: ContactRow,
    other: &ContactRow,
) -> Result<ContactRow, Failure> {
    contacts::set_channel(tx, other.id, other.phone.as_deref(), None, None, context.now)?;
    // One with a number of its own was somebody else: only the id has moved.
    if other.phone.is_none() {
        channel_messages::hand_over(tx, other.id, into.id)?;
        store::channel_conversations::hand_over(tx, other.id, into.id)?;
    }
    let (user, name) = (other.chatapp_user_id.clone(), other.chatapp_username.clone());
    follow(tx, context, &into, None, user.as_deref())?;
    let phone = into.phone.clone();
    contacts::set_channel(tx, into.id, phone.as_deref(), user.as_deref(), name.as_deref(), context.now)?;
    (into.chatapp_user_id, into.chatapp_username) = (user, name);
    Ok(into)
}

/// Applies a person's opt-outs and erasure to their new addresses, even to one that another contact has by now: the
/// channel says that it is the same person. Opt-ins follow only to an address that nobody else has.
fn follow(
    tx: &mut TenantTx,
    context: &Context,
    before: &ContactRow,
    phone: Option<E164>,
    user: Option<&str>,
) -> Result<(), Failure> {
    let addresses = [phone.map(Recipient::Phone), user.map(|user| Recipient::UserId(user.to_owned()))];
    let old = contact_policy::hashes(&context.keyring, Some(before), None);
    let new: Vec<(Recipient, String)> = addresses
        .into_iter()
        .flatten()
        .map(|address| {
            let hash = contact_policy::person_hash(&context.keyring, &address.text());
            (address, hash)
        })
        .filter(|(_, hash)| !old.contains(hash))
        .collect();
    if new.is_empty() {
        return Ok(());
    }
    let standing = contact_policy::standing(tx, context, Some(before), None)?;
    for (address, hash) in new {
        let taken = find(tx, &address)?.is_some_and(|other| other.id != before.id);
        channel_consents::carry(tx, &standing.consent, &hash, !taken, context.now)?;
        if let (true, Recipient::Phone(number)) = (standing.do_not_call, address)
            && let Some(phone) = contact_policy::indian(number)
        {
            let reason = Some("the number before was opted out");
            do_not_call::opt_out(tx, context, Mode::Live, phone, Source::Chatapp, reason)?;
        }
    }
    Ok(())
}

/// The channel says that a person changed their number or id. An address of another contact stays theirs; opt-outs apply
/// there, too ([`follow`]).
pub fn moved(
    tx: &mut TenantTx,
    context: &Context,
    contact: Id<Contact>,
    phone: Option<E164>,
    user: Option<String>,
) -> Result<(), Failure> {
    let Some(row) = contacts::get_for_update(tx, contact)?.filter(|row| row.erased_at.is_none()) else {
        return Ok(());
    };
    follow(tx, context, &row, phone, user.as_deref())?;
    let free_phone = match phone.map(|phone| phone.to_string()) {
        Some(phone) if contacts::find_by_phone(tx, Mode::Live, &phone)?.is_none() => Some(phone),
        _ => row.phone.clone(),
    };
    let free_user = match user {
        Some(user) if contacts::find_by_channel_user(tx, Mode::Live, &user)?.is_none() => Some(user),
        _ => row.chatapp_user_id.clone(),
    };
    let username = row.chatapp_username.as_deref();
    contacts::set_channel(tx, contact, free_phone.as_deref(), free_user.as_deref(), username, context.now)?;
    Ok(())
}

/// The recipient's address: the phone number if it is known, else the id on the channel.
pub(crate) fn address(row: &MessageRow) -> Option<String> {
    row.customer.clone().or_else(|| row.customer_user_id.clone())
}
