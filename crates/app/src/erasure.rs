//! Erasing a person (docs/contract/contacts.md#erasure): identity and all content is erased, non-personal proof stays.
//! The decision log, the wallet and the operator log have ids only and are unchanged; the do-not-call list keeps the
//! keyed hash of the number, so that the person is not called again.
//!
//! It works by the person and by the number ([`Person`]). Live calls end first. The rest is one transaction: a list of
//! steps, one for each noun with data about people.

use std::collections::{BTreeMap, BTreeSet};

use api::contacts::{Erased, Erasure};
use api::error_codes;
use domain::decision_log::{Chain, Channel, Decision, Entry};
use domain::ids::{Call, Contact, Event, Id};
use domain::phone::E164;
use domain::tenant::{Mode, Tenant};
use runtime::crypto::Keyring;
use serde_json::json;
use store::contacts::{self, ContactRow};
use store::erasure::{self, PersonCall};
use store::{TenantTx, do_not_call, idempotency, workspaces};

use super::do_not_call::number_of;
use super::{App, Context, Failure, Hooks, decision_log, deliveries, nudges, scheduled_calls, topics};

/// Events of a person in one statement.
const STEP: i64 = 500;

/// The person to erase: the contact of the request, and everything known to belong to the same person.
///
/// A number belongs to the person when it is on the contact's record, when it is the only one at which a
/// contact without a number was ever called, or when the contact was called at it and no other contact has it
/// on record. The contacts of these numbers are the same person, and so are those that have no number of
/// their own and were called at no others. A contact with a number of its own that was once called at one of
/// these stays; only those calls are erased.
#[derive(Default)]
struct Person {
    contacts: BTreeMap<Id<Contact>, ContactRow>,
    numbers: BTreeSet<E164>,
    calls: BTreeMap<Id<Call>, PersonCall>,
    /// Stored answers of requests for later calls are found by their ids.
    scheduled: Vec<String>,
}

impl Person {
    /// Everything that is known of the person of a contact.
    fn of(tx: &mut TenantTx, contact: ContactRow) -> Result<Self, Failure> {
        let mut person = Self::default();
        let mut new = vec![contact];
        // Each round finds contacts by numbers; no contact is looked at twice, so it ends.
        while !new.is_empty() {
            for contact in std::mem::take(&mut new) {
                if !person.contacts.contains_key(&contact.id) {
                    new.extend(person.add(tx, contact)?);
                }
            }
            if new.is_empty() {
                new = person.nameless(tx)?;
            }
        }
        Ok(person)
    }

    /// Adds a contact with its calls and numbers, and the calls of these numbers. Returns the contacts that are
    /// found by them.
    fn add(&mut self, tx: &mut TenantTx, contact: ContactRow) -> Result<Vec<ContactRow>, Failure> {
        let own = contact.phone.as_deref().and_then(|phone| E164::parse(phone).ok());
        let (gone, calls): (Vec<PersonCall>, Vec<PersonCall>) = erasure::calls_of_contact(tx, contact.id)?
            .into_iter()
            // What has expired says nothing of a person any more.
            .filter(|call| call.number != erasure::EXPIRED)
            .partition(|call| call.number == erasure::ERASED);
        let called: BTreeSet<E164> = calls.iter().filter_map(|call| E164::parse(&call.number).ok()).collect();
        let mut found = Vec::new();
        let mut numbers: BTreeSet<E164> = own.into_iter().collect();
        // A call that an erasure has emptied was to another number.
        if own.is_none() && called.len() == 1 && gone.is_empty() {
            numbers.extend(&called);
        }
        for number in called {
            if on_record(tx, number)?.is_empty() {
                numbers.insert(number);
            }
        }
        self.calls.extend(calls.into_iter().map(|call| (call.id, call)));
        for number in numbers {
            if self.numbers.insert(number) {
                self.calls.extend(
                    erasure::calls_of_number(tx, &number.to_string())?
                        .into_iter()
                        .map(|call| (call.id, call)),
                );
                found.extend(on_record(tx, number)?);
            }
        }
        if let Some(reference) = &contact.external_ref {
            for mode in WORLDS {
                found.extend(contacts::find_by_reference(tx, mode, reference)?);
            }
        }
        self.contacts.insert(contact.id, contact);
        Ok(found)
    }

    /// Contacts without a number of their own that were called at no other numbers than these.
    fn nameless(&self, tx: &mut TenantTx) -> Result<Vec<ContactRow>, Failure> {
        let others: BTreeSet<Id<Contact>> = self
            .calls
            .values()
            .filter_map(|call| call.contact)
            .filter(|id| !self.contacts.contains_key(id))
            .collect();
        let mut found = Vec::new();
        for id in others {
            let Some(row) =
                contacts::get(tx, id)?.filter(|row| row.erased_at.is_none() && row.phone.is_none())
            else {
                continue;
            };
            let calls = erasure::calls_of_contact(tx, id)?;
            let ours =
                |call: &PersonCall| call.number == erasure::EXPIRED || self.calls.contains_key(&call.id);
            if calls.iter().all(ours) {
                found.push(row);
            }
        }
        Ok(found)
    }

    fn call_ids(&self) -> Vec<Id<Call>> {
        self.calls.keys().copied().collect()
    }

    /// Those of its calls that are not over.
    fn live_calls(&self) -> Vec<(Mode, Id<Call>)> {
        self.calls.values().filter(|call| call.live).map(|call| (call.mode, call.id)).collect()
    }

    /// The keys of events and stored answers about the person: the contact, or the keyed hash of the number before
    /// there was one, also of an unusable number.
    fn subjects(&self, context: &Context) -> Vec<String> {
        let hashes = hashes(&context.keyring, &self.numbers);
        self.contacts.keys().map(Id::to_string).chain(hashes).chain(self.scheduled.iter().cloned()).collect()
    }

    /// Holds everything against writers that would add to it: placing a live call holds its workspace, and
    /// dialling a nudge holds the nudge first.
    fn hold(&self, tx: &mut TenantTx, context: &Context) -> Result<(), Failure> {
        for number in &self.numbers {
            store::nudges::of_person(tx, &context.keyring.hash_number(*number))?;
        }
        workspaces::get_for_update(tx)?;
        for id in self.contacts.keys() {
            contacts::get_for_update(tx, *id)?;
        }
        Ok(())
    }
}

const WORLDS: [Mode; 2] = [Mode::Live, Mode::Test];

/// The contacts that have a number on their record.
fn on_record(tx: &mut TenantTx, number: E164) -> Result<Vec<ContactRow>, Failure> {
    let mut found = Vec::new();
    for mode in WORLDS {
        found.extend(contacts::find_by_phone(tx, mode, &number.to_string())?);
    }
    Ok(found)
}

/// The person of an erasure, for rooms above this one.
#[derive(Debug, Clone)]
pub struct ErasedPerson {
    pub contacts: Vec<Id<Contact>>,
    /// Its numbers, of any country.
    pub numbers: BTreeSet<E164>,
    pub calls: Vec<Id<Call>>,
}

impl ErasedPerson {
    /// Keyed hashes of its numbers, and of texts that were meant to be one of them.
    pub fn hashes(&self, keyring: &Keyring) -> Vec<String> {
        hashes(keyring, &self.numbers).collect()
    }
}

/// Keyed hashes of numbers, and of texts that were meant to be one of them.
fn hashes<'a>(keyring: &'a Keyring, numbers: &'a BTreeSet<E164>) -> impl Iterator<Item = String> + 'a {
    numbers.iter().flat_map(|number| {
        [Some(keyring.hash_number(*number)), keyring.hash_written(&number.to_string())].into_iter().flatten()
    })
}

/// Erases what one noun holds about a person and counts it.
type ErasureStep = fn(&mut TenantTx, &Context, &mut Person, &mut Erased) -> Result<(), Failure>;

/// Every noun that can hold something about a person, in the order in which it is erased; the contacts
/// themselves come after all of them.
const STEPS: &[ErasureStep] =
    &[waiting_nudges, waiting_calls, kept_recordings, calls, outbox, kept_answers, do_not_call_entry];

/// Nudges to the numbers. Their last events go into the outbox without a word about the person.
fn waiting_nudges(
    tx: &mut TenantTx,
    context: &Context,
    person: &mut Person,
    erased: &mut Erased,
) -> Result<(), Failure> {
    for number in &person.numbers {
        let hash = context.keyring.hash_number(*number);
        erased.nudges_cancelled += u64::try_from(nudges::erase_person(tx, context, &hash)?).unwrap_or(0);
    }
    Ok(())
}

/// Calls that wait for their time: to the numbers, or for the person by reference on another number.
fn waiting_calls(
    tx: &mut TenantTx,
    context: &Context,
    person: &mut Person,
    _: &mut Erased,
) -> Result<(), Failure> {
    let mut ids = Vec::new();
    for number in &person.numbers {
        ids.extend(scheduled_calls::erase(tx, context, Some(&number.to_string()), None)?);
    }
    for reference in person.contacts.values().filter_map(|contact| contact.external_ref.as_deref()) {
        ids.extend(scheduled_calls::erase(tx, context, None, Some(reference))?);
    }
    person.scheduled = ids.iter().map(Id::to_string).collect();
    Ok(())
}

fn kept_recordings(
    tx: &mut TenantTx,
    context: &Context,
    person: &mut Person,
    erased: &mut Erased,
) -> Result<(), Failure> {
    erased.recordings += super::recordings::erase(tx, context, &person.call_ids())?;
    Ok(())
}

/// Numbers, values, notes and everything said. A simulated call that is live ends.
fn calls(
    tx: &mut TenantTx,
    context: &Context,
    person: &mut Person,
    erased: &mut Erased,
) -> Result<(), Failure> {
    erasure::empty_calls(tx, &person.call_ids(), erasure::ERASED, context.now)?;
    store::live_calls::erase(tx, &person.call_ids())?;
    erased.calls += person.calls.len() as u64;
    erased.transcripts += person.calls.values().filter(|call| call.transcript).count() as u64;
    tx.wake(topics::CALLS);
    Ok(())
}

/// Events about the person, and those about others that name a number: their calls to it, and calls that were
/// handed to it.
fn outbox(
    tx: &mut TenantTx,
    context: &Context,
    person: &mut Person,
    erased: &mut Erased,
) -> Result<(), Failure> {
    let mut events: BTreeSet<Id<Event>> = BTreeSet::new();
    for subject in person.subjects(context) {
        let mut after = String::new();
        loop {
            let page = erasure::events_of_subject(tx, &subject, &after, STEP)?;
            events.extend(&page);
            match page.last() {
                Some(last) if page.len() as i64 == STEP => after = last.to_string(),
                _ => break,
            }
        }
    }
    let strangers = person.calls.values().filter_map(|call| {
        Some((call.contact.filter(|id| !person.contacts.contains_key(id))?, &call.number))
    });
    for (stranger, number) in BTreeSet::from_iter(strangers) {
        events.extend(erasure::events_naming(tx, &stranger.to_string(), number)?);
    }
    for number in &person.numbers {
        events.extend(erasure::transfers_to(tx, &number.to_string())?);
    }
    erased.deliveries_redacted += deliveries::redact(tx, context, &Vec::from_iter(events))?;
    Ok(())
}

/// A retry of a request about the person gets the response that it was erased; the request does not run again.
fn kept_answers(
    tx: &mut TenantTx,
    context: &Context,
    person: &mut Person,
    _: &mut Erased,
) -> Result<(), Failure> {
    let gone = error_codes::CONTACT_ERASED;
    let body = gone.body(gone.meaning, None).to_string();
    for subject in person.subjects(context) {
        idempotency::redact_contact(tx, &subject, gone.status, &body)?;
    }
    Ok(())
}

fn do_not_call_entry(
    tx: &mut TenantTx,
    context: &Context,
    person: &mut Person,
    _: &mut Erased,
) -> Result<(), Failure> {
    for number in &person.numbers {
        do_not_call::forget_phone(tx, &context.keyring.hash_number(*number))?;
    }
    Ok(())
}

/// Ends live calls with the person. A carrier that cannot be reached does not stop the erasure: its later reports find
/// nothing to fill.
async fn end_calls(app: &App, tenant: Tenant, calls: Vec<(Mode, Id<Call>)>) {
    for (mode, id) in calls {
        if let Err(failure) = super::calls::hang_up(app, tenant, mode, id).await
            && failure.error != error_codes::CALL_NOT_ACTIVE
        {
            failure.warn_about(id, "a call of an erased person could not be hung up");
        }
    }
}

/// A live contact, erased or not.
fn named(row: Option<ContactRow>) -> Result<ContactRow, Failure> {
    row.filter(|row| row.mode == Mode::Live).ok_or_else(|| Failure::not_found("contact"))
}

/// Erases a person by one of its contacts. A repeat answers what the first request did.
pub async fn erase(app: &App, tenant: Tenant, id: Id<Contact>) -> Result<Erasure, Failure> {
    let live = app.of(tenant).read(move |tx| {
        let row = named(contacts::get(tx, id)?)?;
        Ok::<_, Failure>(if row.erased_at.is_none() { Person::of(tx, row)?.live_calls() } else { Vec::new() })
    });
    // So that its end finds them still there.
    end_calls(app, tenant, live.await?).await;
    let (context, hooks) = (app.context(), app.hooks);
    let (erasure, live) = app.of(tenant).tx_long(move |tx| erase_in(tx, &context, hooks, id)).await?;
    // Those that were placed meanwhile.
    end_calls(app, tenant, live).await;
    if let Err(why) = app.store.leave_no_trace().await {
        tracing::warn!(%why, "an erasure is complete, but its traces leave the write-ahead log later");
    }
    Ok(erasure)
}

/// The transaction of an erasure: what it did, and which calls it found live.
fn erase_in(
    tx: &mut TenantTx,
    context: &Context,
    hooks: &dyn Hooks,
    id: Id<Contact>,
) -> Result<(Erasure, Vec<(Mode, Id<Call>)>), Failure> {
    let mut row = named(contacts::get(tx, id)?)?;
    if row.erased_at.is_none() {
        Person::of(tx, row)?.hold(tx, context)?;
        row = named(contacts::get(tx, id)?)?;
    }
    if let Some(erased_at) = row.erased_at {
        let counts = contacts::erasure(tx, id)?.unwrap_or_default();
        let erased = serde_json::from_value(counts)
            .map_err(|why| Failure::internal(format!("the result of an erasure: {why}")))?;
        return Ok((Erasure { contact_id: id, erased_at, erased, already_erased: true }, Vec::new()));
    }
    let mut person = Person::of(tx, row)?;
    let mut erased = Erased::default();
    // Before the steps of this room: an event that a hook writes is redacted with the others.
    let whole = ErasedPerson {
        contacts: person.contacts.keys().copied().collect(),
        numbers: person.numbers.clone(),
        calls: person.call_ids(),
    };
    hooks.erase(tx, context, &whole, &mut erased)?;
    for step in STEPS {
        step(tx, context, &mut person, &mut erased)?;
    }
    let counts = serde_json::to_value(erased).map_err(|why| Failure::internal(why.to_string()))?;
    for row in person.contacts.values() {
        let hash = number_of(row).map(|phone| context.keyring.hash_phone(&phone));
        contacts::erase(tx, row.id, hash.as_deref(), &counts, context.now)?;
    }
    prove(tx, context, id)?;
    Ok((
        Erasure { contact_id: id, erased_at: context.now, erased, already_erased: false },
        person.live_calls(),
    ))
}

/// The proof that the request was met, without a word about the person.
fn prove(tx: &mut TenantTx, context: &Context, id: Id<Contact>) -> Result<(), Failure> {
    let entry = Entry {
        timestamp: context.now,
        interaction_id: id.to_string(),
        decision: Decision::Allowed,
        blocked_by: None,
        gate_results: json!({"request": "erasure"}).to_string(),
        outcome: Some("erased".into()),
        recording_ref: None,
        consent_ref: None,
        is_test: false,
        channel: Channel::Voice,
        agent_id: None,
    };
    decision_log::record(tx, context, Chain::Grievances, entry)?;
    Ok(())
}
