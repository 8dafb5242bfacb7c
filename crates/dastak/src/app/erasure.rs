//! Erasing a person (spec 2 «Contacts, do-not-call list, erasure»): identity and everything said or sent goes, non-personal proof stays.
//! The decision log, the wallet and the operator log hold ids only and are left alone; the do-not-call list keeps the keyed hash of the
//! number, so that the person is not called again.
//!
//! Live calls end first. The rest is one transaction: a list of steps, one for each noun that can hold something about a person.

use api::contacts::{Erased, Erasure};
use api::error_codes;
use domain::call::Stage;
use domain::decision_log::{Chain, Channel, Decision, Entry};
use domain::ids::{Contact, Id};
use domain::phone::Phone;
use domain::tenant::{Mode, Tenant};
use serde_json::json;
use store::calls::Filter;
use store::contacts::{self, ContactRow};
use store::{Tx, calls, do_not_call, idempotency};

use super::do_not_call::number_of;
use super::{App, Context, Failure, decision_log, deliveries, nudges, scheduled_calls};

/// Calls of one person that can be live at once, with room.
const LIVE_CALLS: i64 = 100;

/// Who is being erased.
pub struct Person {
    /// The contact.
    pub contact: Id<Contact>,
    /// The world of the contact.
    pub mode: Mode,
    /// Its number.
    pub phone: Option<Phone>,
    /// The client's own id.
    pub external_ref: Option<String>,
}

/// Erases what one noun holds about a person and counts it.
type Step = fn(&mut Tx<'_>, &Context, Tenant, &Person, &mut Erased) -> Result<(), Failure>;

/// Every noun that can hold something about a person, in the order in which it is erased; the contact itself comes after all of them.
const STEPS: &[Step] = &[waiting_nudges, waiting_calls, super::recordings::erase, super::calls::erase, outbox, kept_answers, do_not_call_entry];

/// Nudges to the number. Their last events go into the outbox without a word about the person.
fn waiting_nudges(tx: &mut Tx<'_>, context: &Context, tenant: Tenant, person: &Person, erased: &mut Erased) -> Result<(), Failure> {
    if let Some(phone) = &person.phone {
        erased.nudges_cancelled += u64::try_from(nudges::erase_person(tx, context, tenant, &context.keyring.hash_phone(phone))?).unwrap_or(0);
    }
    Ok(())
}

/// Calls that wait for their time: to the number, or for the person by reference on another number.
fn waiting_calls(tx: &mut Tx<'_>, context: &Context, tenant: Tenant, person: &Person, _: &mut Erased) -> Result<(), Failure> {
    let number = person.phone.map(|phone| phone.to_string());
    scheduled_calls::erase(tx, tenant, number.as_deref(), person.external_ref.as_deref(), context.now)
}

/// What events and kept answers know the person by: the contact, or the keyed hash of the number before there was one.
fn subjects(context: &Context, person: &Person) -> Vec<String> {
    let hash = person.phone.map(|phone| context.keyring.hash_phone(&phone));
    [Some(person.contact.to_string()), hash].into_iter().flatten().collect()
}

fn outbox(tx: &mut Tx<'_>, context: &Context, tenant: Tenant, person: &Person, erased: &mut Erased) -> Result<(), Failure> {
    for subject in subjects(context, person) {
        erased.deliveries_redacted += deliveries::redact_contact(tx, context, tenant, &subject)?;
    }
    Ok(())
}

/// A repeat of a request about the person is told that it was erased; it does not run again.
fn kept_answers(tx: &mut Tx<'_>, context: &Context, tenant: Tenant, person: &Person, _: &mut Erased) -> Result<(), Failure> {
    let gone = error_codes::CONTACT_ERASED;
    let body = json!({"error": gone.meaning, "code": gone.code}).to_string();
    for subject in subjects(context, person) {
        idempotency::redact_contact(tx, tenant, &subject, gone.status, &body)?;
    }
    Ok(())
}

fn do_not_call_entry(tx: &mut Tx<'_>, context: &Context, tenant: Tenant, person: &Person, _: &mut Erased) -> Result<(), Failure> {
    if let Some(phone) = &person.phone {
        do_not_call::forget_phone(tx, tenant, &context.keyring.hash_phone(phone))?;
    }
    Ok(())
}

/// Ends what is live with the person, so that its end finds them still there. A carrier that cannot be asked does not stop the erasure: what
/// it reports later finds nothing to fill.
async fn end_calls(app: &App, tenant: Tenant, id: Id<Contact>) -> Result<(), Failure> {
    for (mode, stage) in [Mode::Live, Mode::Test].into_iter().flat_map(|mode| [(mode, Stage::Ringing), (mode, Stage::InProgress)]) {
        let filter = Filter { contact: Some(id), stage: Some(stage), ..Filter::default() };
        for call in app.store.read(move |tx| calls::list(tx, tenant, mode, &filter, LIVE_CALLS)).await? {
            if let Err(failure) = super::calls::hang_up(app, tenant, mode, call.id).await {
                tracing::warn!(call = %call.id, code = failure.error.code, "a call of an erased person could not be hung up");
            }
        }
    }
    Ok(())
}

/// Erases a contact and the test contact of the same number. A repeat answers what the first request did.
pub async fn erase(app: &App, tenant: Tenant, id: Id<Contact>) -> Result<Erasure, Failure> {
    end_calls(app, tenant, id).await?;
    let context = app.context();
    let erasure = app
        .store
        .tx_alone(move |tx| {
            let row = contacts::get_for_update(tx, tenant, id)?.filter(|row| row.mode == Mode::Live).ok_or_else(|| Failure::not_found("contact"))?;
            if let Some(erased_at) = row.erased_at {
                let counts = contacts::erasure(tx, tenant, id)?.unwrap_or_default();
                let erased = serde_json::from_value(counts).map_err(|why| Failure::internal(format!("the result of an erasure: {why}")))?;
                return Ok(Erasure { contact_id: id, erased_at, erased, already_erased: true });
            }
            let mut erased = Erased::default();
            if let Some(phone) = &row.phone
                && let Some(simulated) = contacts::find_by_phone(tx, tenant, Mode::Test, phone)?
            {
                erase_contact(tx, &context, tenant, &simulated, &mut erased)?;
            }
            erase_contact(tx, &context, tenant, &row, &mut erased)?;
            prove(tx, &context, tenant, id)?;
            Ok::<_, Failure>(Erasure { contact_id: id, erased_at: context.now, erased, already_erased: false })
        })
        .await?;
    if let Err(why) = app.store.leave_no_trace().await {
        tracing::warn!(%why, "an erasure is complete, but its traces leave the write-ahead log later");
    }
    Ok(erasure)
}

fn erase_contact(tx: &mut Tx<'_>, context: &Context, tenant: Tenant, row: &ContactRow, erased: &mut Erased) -> Result<(), Failure> {
    let person = Person { contact: row.id, mode: row.mode, phone: number_of(row), external_ref: row.external_ref.clone() };
    for step in STEPS {
        step(tx, context, tenant, &person, erased)?;
    }
    let hash = person.phone.map(|phone| context.keyring.hash_phone(&phone));
    let counts = serde_json::to_value(*erased).map_err(|why| Failure::internal(why.to_string()))?;
    contacts::erase(tx, tenant, row.id, hash.as_deref(), &counts, context.now)?;
    Ok(())
}

/// The proof that the request was met, without a word about the person.
fn prove(tx: &mut Tx<'_>, context: &Context, tenant: Tenant, id: Id<Contact>) -> Result<(), Failure> {
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
    decision_log::record(tx, context, tenant, Chain::Grievances, entry)?;
    Ok(())
}
