//! Prefetches what a batch of messages will read (PostgreSQL only). Each message is then handled by the same code as a
//! single one, whose reads are answered from the cache.

use std::collections::{BTreeMap, BTreeSet};

use app::{Context, Failure, contact_policy};
use domain::channel::notification::{Person, ReceivedContent};
use domain::channel::{MessageStatus, Notification, Recipient};
use domain::ids::{Campaign, ChannelMessage, ChannelTemplate, ChannelThread, Contact, Id};
use domain::tenant::Mode;
use domain::time::DAY;
use store::campaigns::list as lists;
use store::channel_messages::MessageRow;
use store::contacts::{self, ContactRow};
use store::{
    DbError, TenantTx, Tx, channel_accounts, channel_campaigns, channel_conversations, channel_messages,
    channel_templates,
};

use crate::numbers::Number;

/// Numbers and ids of people, each once.
pub(crate) fn addresses<'a>(to: impl IntoIterator<Item = &'a Recipient>) -> (Vec<String>, Vec<String>) {
    let (mut phones, mut users) = (BTreeSet::new(), BTreeSet::new());
    for to in to {
        match to {
            Recipient::Phone(number) => phones.insert(number.to_string()),
            Recipient::UserId(id) => users.insert(id.clone()),
        };
    }
    (phones.into_iter().collect(), users.into_iter().collect())
}

/// Prefetches for messages of a number to these people: contacts, consent, open chats, and threads, which it locks.
pub(crate) fn people(
    tx: &mut TenantTx,
    context: &Context,
    number: &Number,
    to: &[Recipient],
) -> Result<(), Failure> {
    if !tx.shared() || to.is_empty() {
        return Ok(());
    }
    let (phones, users) = addresses(to);
    let found = contacts::prefetch_by_address(tx, Mode::Live, &phones, &users)?;
    standing(tx, context, number, &found, to)
}

/// [`people`] for contacts that were read already.
pub(crate) fn standing(
    tx: &mut TenantTx,
    context: &Context,
    number: &Number,
    found: &[ContactRow],
    to: &[Recipient],
) -> Result<(), Failure> {
    let tenant = tx.tenant();
    let ids: Vec<Id<Contact>> = found.iter().map(|contact| contact.id).collect();
    contact_policy::prefetch(tx, context, found, to, |tx| {
        let _ = channel_messages::lock_threads(&mut tx.of(tenant), &ids, &number.phone_number_id);
        let _ = channel_conversations::prefetch(&mut tx.of(tenant), number.id, &ids);
    })?;
    channel_messages::lock_threads(tx, &ids, &number.phone_number_id)?;
    Ok(channel_conversations::prefetch(tx, number.id, &ids)?)
}

/// Prefetches for the checks of queued messages before they are sent. Messages whose thread another transaction holds are
/// left out, and retried soon.
pub(crate) fn turns(
    tx: &mut TenantTx,
    context: &Context,
    due: Vec<MessageRow>,
) -> Result<Vec<MessageRow>, Failure> {
    if !tx.shared() || due.is_empty() {
        return Ok(due);
    }
    let contacts: BTreeSet<Id<Contact>> = due.iter().map(|row| row.contact).collect();
    let threads: BTreeSet<Id<ChannelThread>> = due.iter().map(|row| row.thread).collect();
    let templates: BTreeSet<Id<ChannelTemplate>> =
        due.iter().filter_map(|row| row.template.as_ref()?.get("id")?.as_str()?.parse().ok()).collect();
    let contacts: Vec<_> = contacts.into_iter().collect();
    let threads: Vec<_> = threads.into_iter().collect();
    tx.pipeline_reads(|tx| {
        let _ = channel_messages::lock_free_threads(tx, &threads);
        let _ = contacts::prefetch(tx, &contacts);
        for template in &templates {
            let _ = channel_templates::prefetch(tx, Some(*template), None);
        }
    });
    let free = channel_messages::lock_free_threads(tx, &threads)?;
    let found = contacts::prefetch(tx, &contacts)?;
    for template in &templates {
        channel_templates::prefetch(tx, Some(*template), None)?;
    }
    let due: Vec<MessageRow> = due.into_iter().filter(|row| free.contains(&row.thread)).collect();
    let to: Vec<Recipient> =
        due.iter().filter_map(|row| Recipient::parse(&crate::people::address(row)?)).collect();
    contact_policy::prefetch(tx, context, &found, &to, |_| {})?;
    Ok(due)
}

/// How old a campaign's message may be for a reply to it.
const REPLIES: i64 = 7 * DAY;

/// The keys that notifications refer to, by the provider's id of their number.
#[derive(Default)]
struct Names {
    /// The provider's ids of messages.
    messages: BTreeMap<String, BTreeSet<String>>,
    people: BTreeMap<String, Vec<Recipient>>,
    /// Messages that statuses name by our id, with the provider's.
    ours: Vec<(String, Id<ChannelMessage>)>,
}

impl Names {
    fn add(&mut self, number: &str, notification: &Notification) {
        let messages = self.messages.entry(number.to_owned()).or_default();
        match notification {
            Notification::Message(received) => {
                messages.insert(received.id.clone());
                if let ReceivedContent::Edit { original, .. } | ReceivedContent::Revoke { original } =
                    &received.what
                {
                    messages.insert(original.clone());
                }
                self.wrote(number, &received.from);
            }
            Notification::Echo(echo) => {
                messages.insert(echo.id.clone());
                self.wrote(number, &echo.to);
            }
            Notification::Status(update) => {
                messages.insert(update.id.clone());
                let ours = update.message.as_deref().and_then(|text| text.parse().ok());
                self.ours.extend(ours.map(|ours| (update.id.clone(), ours)));
            }
            _ => {}
        }
    }

    fn wrote(&mut self, number: &str, person: &Person) {
        let people = self.people.entry(number.to_owned()).or_default();
        people.extend(person.phone.map(Recipient::Phone));
        people.extend(person.user_id.clone().map(Recipient::UserId));
    }
}

/// Prefetches for notifications: contacts, consent, open chats, campaign rows, and the messages and threads they are
/// about, which it locks.
pub(crate) fn notifications<'a>(
    tx: &mut TenantTx,
    context: &Context,
    items: impl Iterator<Item = (Option<&'a str>, &'a Notification)>,
) -> Result<(), Failure> {
    let tenant = tx.tenant();
    if !tx.shared() {
        return Ok(());
    }
    let mut names = Names::default();
    for (number, notification) in items {
        if let Some(number) = number {
            names.add(number, notification);
        }
    }
    let messages: Vec<(String, Vec<String>)> = std::mem::take(&mut names.messages)
        .into_iter()
        .map(|(number, ids)| (number, ids.into_iter().collect()))
        .collect();
    let (phones, users) = addresses(names.people.values().flatten());
    let read = |tx: &mut Tx<'_>| -> Result<_, DbError> {
        let account = channel_accounts::prefetch(&mut tx.of(tenant));
        let mut rows = Vec::new();
        for (number, ids) in &messages {
            rows.extend(channel_messages::lock_each_at_provider(&mut tx.of(tenant), number, ids)?);
        }
        let found = contacts::prefetch_by_address(&mut tx.of(tenant), Mode::Live, &phones, &users)?;
        account.map(|()| (rows, found))
    };
    tx.pipeline_reads(|tx| {
        let _ = read(tx);
    });
    let (mut rows, found) = read(tx)?;
    // Those whose id at the provider is not stored yet.
    let known: BTreeSet<&str> = rows.iter().filter_map(|row| row.provider_id.as_deref()).collect();
    let ours: Vec<Id<ChannelMessage>> =
        names.ours.iter().filter(|(id, _)| !known.contains(id.as_str())).map(|(_, ours)| *ours).collect();
    rows.extend(channel_messages::lock_each(tx, &ours)?);
    follow(tx, &rows)?;
    if found.is_empty() && names.people.is_empty() {
        return Ok(());
    }
    let ids: Vec<Id<Contact>> = found.iter().map(|contact| contact.id).collect();
    let since = context.now.plus(-REPLIES);
    for (number, people) in &names.people {
        let Some(row) = channel_accounts::number_at_provider(tx, number)? else { continue };
        let read = |tx: &mut Tx<'_>| {
            channel_messages::lock_threads(&mut tx.of(tenant), &ids, number)?;
            channel_conversations::prefetch(&mut tx.of(tenant), row.id, &ids)?;
            channel_campaigns::prefetch_written(&mut tx.of(tenant), &ids, since)
        };
        contact_policy::prefetch(tx, context, &found, people, |tx| drop(read(tx)))?;
        read(tx)?;
    }
    Ok(())
}

/// Prefetches for changes of status: contacts, campaign rows, and the open chats into which a sent campaign message is
/// written.
fn follow(tx: &mut TenantTx, rows: &[MessageRow]) -> Result<(), Failure> {
    let people: BTreeSet<Id<Contact>> = rows.iter().map(|row| row.contact).collect();
    let campaigns: BTreeSet<Id<Campaign>> = rows.iter().filter_map(|row| row.campaign).collect();
    let people: Vec<_> = people.into_iter().collect();
    let campaigns: Vec<_> = campaigns.into_iter().collect();
    let written: Vec<Id<ChannelMessage>> =
        rows.iter().filter(|row| row.campaign.is_some()).map(|row| row.id).collect();
    tx.pipeline_reads(|tx| {
        let _ = channel_campaigns::lock_each(tx, &written);
        let _ = contacts::prefetch(tx, &people);
        let _ = channel_campaigns::prefetch(tx, &campaigns);
    });
    let written = channel_campaigns::lock_each(tx, &written)?;
    contacts::prefetch(tx, &people)?;
    channel_campaigns::prefetch(tx, &campaigns)?;
    let list_rows: Vec<_> = written.iter().map(|person| person.list_row).collect();
    lists::prefetch(tx, &list_rows)?;
    let mut leaving: BTreeMap<&str, BTreeSet<Id<Contact>>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.campaign.is_some() && row.status == MessageStatus::Queued) {
        leaving.entry(&row.phone_number_id).or_default().insert(row.contact);
    }
    if !leaving.is_empty() {
        channel_accounts::prefetch(tx)?;
    }
    for (number, people) in leaving {
        let Some(row) = channel_accounts::number_at_provider(tx, number)? else { continue };
        let people: Vec<_> = people.into_iter().collect();
        channel_conversations::prefetch(tx, row.id, &people)?;
    }
    Ok(())
}

/// Prefetches for outcomes: the messages and campaign rows, which it locks, what belongs to both, and other messages
/// with the provider ids that were returned.
pub(crate) fn outcomes(tx: &mut TenantTx, sent: &[(&MessageRow, Option<&str>)]) -> Result<(), Failure> {
    let tenant = tx.tenant();
    if !tx.shared() {
        return Ok(());
    }
    let messages: Vec<Id<ChannelMessage>> = sent.iter().map(|(row, _)| row.id).collect();
    let mut given: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (row, provider_id) in sent {
        if let Some(provider_id) = provider_id {
            given.entry(&row.phone_number_id).or_default().insert((*provider_id).to_owned());
        }
    }
    let given: Vec<(&str, Vec<String>)> =
        given.into_iter().map(|(number, ids)| (number, ids.into_iter().collect())).collect();
    let read = |tx: &mut Tx<'_>| -> Result<Vec<MessageRow>, DbError> {
        let rows = channel_messages::lock_each(&mut tx.of(tenant), &messages);
        for (number, ids) in &given {
            channel_messages::lock_each_at_provider(&mut tx.of(tenant), number, ids)?;
        }
        rows
    };
    tx.pipeline_reads(|tx| {
        let _ = read(tx);
    });
    let rows = read(tx)?;
    follow(tx, &rows)
}
