//! Whether a person may be written to on the messaging channel (docs/contract/contacts.md#who-may-be-reached).
//!
//! Calls, nudges and voice campaigns obey the do-not-call list and the contact's opt-out, by the gate of the dialler;
//! messages obey these and the opt-outs on the channel. A person who opts out of calls on the channel is put on the
//! do-not-call list, so one rule is enough for both. Opt-outs are stored under keyed hashes, so that an erasure does
//! not undo them.

use std::collections::BTreeSet;

use domain::channel::Recipient;
use domain::ids::{Consent, Id};
use domain::phone::{E164, Phone};

use domain::time::Timestamp;
use runtime::crypto::Keyring;
use serde_json::Value;
use store::channel_consents::{self, ConsentRow};
use store::contacts::ContactRow;
use store::{TenantTx, Tx, do_not_call};

use super::{Context, Failure, do_not_call as opting_out};

/// Why a person may not be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bar {
    /// The contact opted out, or the number is on the do-not-call list.
    DoNotCall,
    /// The person stopped messages on the channel.
    Stopped,
    /// The person was erased and has not written since.
    Erased,
    /// The person stopped marketing with the channel's provider.
    MarketingStopped,
}

impl Bar {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::DoNotCall => "do_not_call",
            Self::Stopped => "opted_out",
            Self::Erased => "erased",
            Self::MarketingStopped => "marketing_stopped",
        }
    }
}

/// The opt-outs of a person, for calls and messages.
#[derive(Debug, Clone, Default)]
pub struct OptOuts {
    /// Whether the do-not-call list or the opt-out of the contact bars calls.
    pub do_not_call: bool,
    /// Whether the contact was erased.
    pub erased: bool,
    /// The opt-outs on the channel.
    pub consent: ConsentRow,
}

impl OptOuts {
    /// Why the person may not be written to.
    pub fn bars_messages(&self, marketing: bool) -> Option<Bar> {
        let said = &self.consent;
        if self.erased || said.erased_at.is_some() {
            Some(Bar::Erased)
        } else if self.do_not_call {
            Some(Bar::DoNotCall)
        } else if said.stopped_at.is_some() {
            Some(Bar::Stopped)
        } else if marketing && said.marketing_stopped_at.is_some() {
            Some(Bar::MarketingStopped)
        } else {
            None
        }
    }

    /// When the person allowed marketing.
    pub fn opted_in_at(&self) -> Option<Timestamp> {
        self.consent.opted_in_at
    }
}

/// Keyed hash under which a person's opt-outs on the channel are stored.
pub fn person_hash(keyring: &Keyring, address: &str) -> String {
    keyring.hash(&format!("channel:{address}"))
}

/// The hashes of a contact and of where a message is to go.
pub fn hashes(keyring: &Keyring, contact: Option<&ContactRow>, to: Option<&Recipient>) -> Vec<String> {
    let mut addresses: Vec<String> = to.map(Recipient::text).into_iter().collect();
    if let Some(contact) = contact {
        addresses.extend(contact.phone.clone());
        addresses.extend(contact.chatapp_user_id.clone());
    }
    addresses.sort_unstable();
    addresses.dedup();
    addresses.iter().map(|address| person_hash(keyring, address)).collect()
}

/// Reads how these contacts, and those behind these addresses, stand, with a statement for each kind of fact: [`standing`]
/// knows it until the transaction ends. `also` may look at more that travels along.
pub fn prefetch(
    tx: &mut TenantTx,
    context: &Context,
    people: &[ContactRow],
    to: &[Recipient],
    also: impl FnOnce(&mut Tx<'_>),
) -> Result<(), Failure> {
    let keyring = &context.keyring;
    let said: BTreeSet<String> = to
        .iter()
        .flat_map(|to| hashes(keyring, None, Some(to)))
        .chain(people.iter().flat_map(|contact| hashes(keyring, Some(contact), None)))
        .collect();
    let listed: BTreeSet<String> = to
        .iter()
        .filter_map(subscriber)
        .chain(people.iter().filter_map(opting_out::number_of))
        .map(|phone| keyring.hash_phone(&phone))
        .collect();
    let (said, listed): (Vec<_>, Vec<_>) = (said.into_iter().collect(), listed.into_iter().collect());
    tx.pipeline_reads(|tx| {
        // Each reads by itself: one that finds nothing must not end the others.
        let _ = channel_consents::prefetch(tx, &said);
        let _ = do_not_call::prefetch(tx, &listed);
        also(tx);
    });
    channel_consents::prefetch(tx, &said)?;
    Ok(do_not_call::prefetch(tx, &listed)?)
}

/// When marketing was allowed, and the proof of it, by the consent on a contact: one that was given on the channel
/// counts there.
pub fn given_on_channel(contact: &ContactRow) -> Option<(Timestamp, Option<Id<Consent>>)> {
    let consent = contact.consent.as_ref()?;
    let word = |name: &str| consent.get(name).and_then(Value::as_str);
    if word("source") != Some("chatapp") {
        return None;
    }
    Some((Timestamp::parse(word("capturedAt")?)?, word("id").and_then(|id| id.parse().ok())))
}

/// The contact policy's state of a person, by the contact, or by the message's destination if there is no contact yet.
pub fn standing(
    tx: &mut TenantTx,
    context: &Context,
    contact: Option<&ContactRow>,
    to: Option<&Recipient>,
) -> Result<OptOuts, Failure> {
    let mut standing = OptOuts {
        erased: contact.is_some_and(|contact| contact.erased_at.is_some()),
        consent: channel_consents::of(tx, &hashes(&context.keyring, contact, to))?,
        ..OptOuts::default()
    };
    if let (None, Some((at, proof))) = (standing.consent.opted_in_at, contact.and_then(given_on_channel)) {
        standing.consent.opted_in_at = Some(at);
        standing.consent.opt_in_source = Some("chatapp".to_owned());
        standing.consent.opt_in_consent = proof;
    }
    if let Some(contact) = contact {
        standing.do_not_call = opting_out::is_blocked(tx, context, contact)?;
    }
    if let Some(phone) = to.and_then(subscriber).filter(|_| !standing.do_not_call) {
        standing.do_not_call = do_not_call::contains(tx, &context.keyring.hash_phone(&phone))?;
    }
    Ok(standing)
}

/// The Indian number of a recipient: only such numbers are on the list.
fn subscriber(to: &Recipient) -> Option<Phone> {
    match to {
        Recipient::Phone(number) => indian(*number),
        Recipient::UserId(_) => None,
    }
}

/// The number if calls can go to it.
pub fn indian(number: E164) -> Option<Phone> {
    Phone::from_u64(number.as_u64())
}
