//! Opting out: the workspace's do-not-call list and the contacts on it (docs/contract/contacts.md#opting-out). Every
//! opt-out (by a call, the API, the console, the channel) goes through [`opt_out`].

mod batches;

use api::contacts::Contact as ContactView;
use api::do_not_call::{AddedNumbers, DoNotCallEntry};
use api::error_codes;
use api::events::contacts::OptedOutContact;
use domain::decision_log::{Chain, Channel, Decision, Entry as Decided};
use domain::ids::{Call, Consent, Contact, Id};
use domain::phone::Phone;
use domain::tenant::{Mode, Tenant};
use serde_json::json;
use store::contacts::{self, ContactRow};
use store::{TenantTx, do_not_call};

use super::contact_view::{present, view};
use super::events::{self, Event, NewEvent};
use super::operator_log::{self, Trace};
use super::{App, Context, Failure, access, decision_log};

/// The source of an opt-out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The callee said so on this call.
    Call(Id<Call>),
    /// A person in the console.
    Console,
    /// A request to the API.
    Api,
    /// A message on the chat-app channel that stops calls, too.
    Chatapp,
}

impl Source {
    /// The word in `contact.opted_out`.
    pub fn as_str(self) -> &'static str {
        match self {
            Source::Call(_) => "call",
            Source::Console => "console",
            Source::Api => "api",
            Source::Chatapp => "chatapp",
        }
    }

    /// The reason in the list when nobody gave one.
    pub fn reason(self) -> &'static str {
        match self {
            Source::Call(_) => "opted out on a call",
            Source::Console => "opted out in the console",
            Source::Api => "opted out through the API",
            Source::Chatapp => "opted out on the chat-app channel",
        }
    }
}

/// Puts a number on the list and marks the contact that has it, with its event. Returns whether the number
/// was new on the list. A repeat changes nothing. In test mode only the test contact is marked: a simulated
/// call does not silence a real number.
pub fn opt_out(
    tx: &mut TenantTx,
    context: &Context,
    mode: Mode,
    phone: Phone,
    source: Source,
    reason: Option<&str>,
) -> Result<bool, Failure> {
    let number = phone.to_string();
    let added = match mode {
        Mode::Live => do_not_call::add(
            tx,
            &context.keyring.hash_phone(&phone),
            &number,
            reason.unwrap_or(source.reason()),
            context.now,
        )?,
        Mode::Test => false,
    };
    if let Some(contact) = contacts::find_by_phone(tx, mode, &number)? {
        mark(tx, context, &contact, source)?;
    }
    Ok(added)
}

/// Marks a contact opted out, its number on the list if it has one.
pub fn opt_out_contact(
    tx: &mut TenantTx,
    context: &Context,
    contact: &ContactRow,
    source: Source,
) -> Result<(), Failure> {
    if let (Some(phone), Mode::Live) = (number_of(contact), contact.mode) {
        do_not_call::add(
            tx,
            &context.keyring.hash_phone(&phone),
            &phone.to_string(),
            source.reason(),
            context.now,
        )?;
    }
    mark(tx, context, contact, source)
}

fn mark(tx: &mut TenantTx, context: &Context, contact: &ContactRow, source: Source) -> Result<(), Failure> {
    if contact.opt_out || !contacts::opt_out(tx, contact.id, context.now)? {
        return Ok(());
    }
    let call = match source {
        Source::Call(call) => Some(call),
        Source::Console | Source::Api | Source::Chatapp => None,
    };
    let mut about = json!({"source": source.as_str()});
    if let Some(call) = call {
        about["callId"] = json!(call);
    }
    let event = Event::ContactOptedOut(OptedOutContact {
        contact_id: contact.id,
        external_ref: contact.external_ref.clone(),
        phone: contact.phone.clone(),
        source: source.as_str().to_owned(),
        call_id: call,
        channel: None,
    });
    let id = contact.id.to_string();
    let event = NewEvent { event, mode: contact.mode, agent: None, contact: Some(&id) };
    events::emit(tx, context, event)?;
    record_consent(tx, context, contact, Decision::Blocked, "withdrawn", &about, context.ids.make())
}

/// Adds a row to the chain `consent`. `about` names no person.
pub fn record_consent(
    tx: &mut TenantTx,
    context: &Context,
    contact: &ContactRow,
    decision: Decision,
    outcome: &str,
    about: &serde_json::Value,
    id: Id<Consent>,
) -> Result<(), Failure> {
    let entry = Decided {
        timestamp: context.now,
        interaction_id: contact.id.to_string(),
        decision,
        blocked_by: None,
        gate_results: about.to_string(),
        outcome: Some(outcome.to_owned()),
        recording_ref: None,
        consent_ref: Some(id.to_string()),
        is_test: contact.mode == Mode::Test,
        channel: Channel::Voice,
        agent_id: None,
    };
    decision_log::record(tx, context, Chain::Consent, entry)?;
    Ok(())
}

/// The number of a contact.
pub fn number_of(contact: &ContactRow) -> Option<Phone> {
    contact.phone.as_deref().and_then(|phone| Phone::normalize(phone).ok())
}

/// Whether calls to a contact are blocked: it opted out, or its number is on the list.
pub fn is_blocked(tx: &mut TenantTx, context: &Context, contact: &ContactRow) -> Result<bool, Failure> {
    match number_of(contact) {
        _ if contact.opt_out => Ok(true),
        Some(phone) => Ok(do_not_call::contains(tx, &context.keyring.hash_phone(&phone))?),
        None => Ok(false),
    }
}

/// A page of the list, newest first, and its length.
pub async fn list(
    app: &App,
    tenant: Tenant,
    limit: i64,
    offset: i64,
) -> Result<(Vec<DoNotCallEntry>, i64), Failure> {
    let (rows, total) = app.of(tenant).read(move |tx| do_not_call::list(tx, limit, offset)).await?;
    Ok((
        rows.into_iter()
            .map(|row| DoNotCallEntry { phone: row.phone, reason: row.reason, created_at: row.created_at })
            .collect(),
        total,
    ))
}

/// The entry of one number, if it is listed.
pub async fn check(app: &App, tenant: Tenant, phone: &str) -> Result<Option<DoNotCallEntry>, Failure> {
    let phone = Phone::normalize(phone).map_err(|why| Failure::field("phone", why))?;
    let hash = app.keyring.hash_phone(&phone);
    let row = app.of(tenant).read(move |tx| do_not_call::get(tx, &hash)).await?;
    Ok(row.map(|row| DoNotCallEntry {
        phone: Some(phone.to_string()),
        reason: row.reason,
        created_at: row.created_at,
    }))
}

/// Adds numbers; those that are not Indian subscriber numbers are returned.
pub async fn add(
    app: &App,
    tenant: Tenant,
    phones: Vec<String>,
    reason: Option<String>,
) -> Result<AddedNumbers, Failure> {
    let (mut valid, mut invalid) = (Vec::new(), Vec::new());
    for text in phones {
        match Phone::normalize(&text) {
            Ok(phone) => valid.push(phone),
            Err(_) => invalid.push(text),
        }
    }
    if valid.is_empty() {
        return Err(Failure::plain(error_codes::NO_VALID_NUMBERS).with_meta(json!({"invalid": invalid})));
    }
    let (added, already_listed) = batches::list(app, batches::Ask { tenant, phones: valid, reason }).await?;
    Ok(AddedNumbers { added, already_listed, invalid })
}

/// Lifts the opt-out of a contact and takes its number off the list; only the operator can. Idempotent.
pub async fn lift(app: &App, trace: Trace, tenant: Tenant, id: Id<Contact>) -> Result<ContactView, Failure> {
    let context = app.context();
    app.of(tenant)
        .tx(move |tx| {
            access::workspace(tx)?;
            let contact = present(contacts::get_for_update(tx, id)?)?;
            lift_contact(tx, &context, &contact)?;
            if let Some(phone) = number_of(&contact) {
                do_not_call::remove(tx, &context.keyring.hash_phone(&phone))?;
            }
            operator_log::append(tx, &context, &trace, Some(tenant), &id.to_string())?;
            let contact = present(contacts::get(tx, id)?)?;
            Ok(view(tx, contact)?)
        })
        .await
}

/// The list does not have the number.
fn not_listed() -> Failure {
    Failure::new(error_codes::NOT_FOUND, "phone is not on the do-not-call list; nothing was removed")
}

/// Takes a number off the list and lifts the opt-out of the contact that has it; only the operator can.
pub async fn remove(app: &App, trace: Trace, tenant: Tenant, phone: &str) -> Result<(), Failure> {
    let context = app.context();
    let phone = Phone::normalize(phone).map_err(|_| not_listed())?;
    app.of(tenant)
        .tx(move |tx| {
            access::workspace(tx)?;
            if !do_not_call::remove(tx, &context.keyring.hash_phone(&phone))? {
                return Err(not_listed());
            }
            if let Some(contact) = contacts::find_by_phone(tx, Mode::Live, &phone.to_string())? {
                lift_contact(tx, &context, &contact)?;
            }
            Ok(operator_log::append(tx, &context, &trace, Some(tenant), "1 number")?)
        })
        .await
}

fn lift_contact(tx: &mut TenantTx, context: &Context, contact: &ContactRow) -> Result<(), Failure> {
    if contacts::lift_opt_out(tx, contact.id, context.now)? {
        record_consent(
            tx,
            context,
            contact,
            Decision::Allowed,
            "restored",
            &json!({"source": "console"}),
            context.ids.make(),
        )?;
    }
    Ok(())
}
