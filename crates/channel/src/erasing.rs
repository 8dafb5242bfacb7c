//! Erasure of a person on the channel: text, files, numbers and ids
//! (docs/contract/channel-messages.md#erasure). Their opt-out is kept, by keyed hash.

use api::contacts::Erased;
use app::contact_policy;
use app::erasure::ErasedPerson;
use app::{Context, Failure};
use domain::channel::{MessageStatus, Recipient};

use store::{TenantTx, channel_consents, channel_messages, contacts};

use crate::campaigns::outcomes;
use crate::{media, notification_queue};

/// Messages redacted in one step.
const STEP: i64 = 500;

/// Erases a person's messages.
pub fn erase(
    tx: &mut TenantTx,
    context: &Context,
    person: &ErasedPerson,
    erased: &mut Erased,
) -> Result<(), Failure> {
    let mut addresses: Vec<String> = person.numbers.iter().map(ToString::to_string).collect();
    for id in &person.contacts {
        if let Some(row) = contacts::get(tx, *id)? {
            addresses.extend(row.phone);
            addresses.extend(row.chatapp_user_id);
        }
    }
    addresses.sort_unstable();
    addresses.dedup();
    let recipients: Vec<Recipient> =
        addresses.iter().filter_map(|address| Recipient::parse(address)).collect();
    notification_queue::forget_people(tx, &context.keyring, &recipients)?;
    for address in &addresses {
        let hash = contact_policy::person_hash(&context.keyring, address);
        channel_consents::erase(tx, &hash, context.now)?;
    }
    let mut after = String::new();
    loop {
        let rows = channel_messages::of_contacts(tx, &person.contacts, &after, STEP)?;
        for row in &rows {
            if row.media.is_some() {
                media::forget(tx, &mut row.clone(), context.now)?;
            }
            // Only while it waits does its campaign wait for it.
            if row.campaign.is_some() && row.status == MessageStatus::Queued {
                outcomes::erased(tx, row)?;
            }
            erased.messages += u64::from(row.status != MessageStatus::Deleted);
            channel_messages::erase(tx, row.id, context.now)?;
        }
        match rows.last() {
            Some(last) if rows.len() as i64 == STEP => after = last.id.to_string(),
            _ => return Ok(()),
        }
    }
}
