//! People: reading, upserting one or many, changing and deleting them (docs/contract/contacts.md).

use api::contacts::{
    self as wire, ChannelConsent, Contact as ContactView, ContactChange, ContactDetail, MAX_ATTRIBUTE_NAME,
    MAX_ATTRIBUTES, MAX_ATTRIBUTES_BYTES,
};
use api::error_codes;
use domain::decision_log::Decision;
use domain::ids::{Consent, Contact, Id};
use domain::phone::Phone;
use domain::tenant::{Mode, Tenant};
use domain::time::time_zone;
use domain::topic::Topic;
use serde_json::{Map, Value, json};
use store::contacts::{self, ContactRow, Visible};
use store::{DbError, TenantTx, Tx, erasure};

use super::contact_view::{present, view};
use super::do_not_call::{self, Source};
use super::limits::pages;
use super::{App, Context, Failure, actions, changes, contact_policy};

/// Time zone of a new contact.
const TIME_ZONE: &str = "Asia/Kolkata";
/// Language of a new contact.
const LANGUAGE: &str = "en";
/// Retries of an upsert when another writer takes its reference or number at the same time.
const ATTEMPTS: usize = 4;

/// Contacts of simulated calls are visible to test keys only.
fn visible(row: Option<ContactRow>, mode: Mode) -> Option<ContactRow> {
    row.filter(|row| mode == Mode::Test || row.mode == Mode::Live)
}

/// Contacts, newest first.
pub async fn list(
    app: &App,
    tenant: Tenant,
    mode: Mode,
    before: Option<String>,
    limit: i64,
) -> Result<(Vec<ContactView>, Option<String>), Failure> {
    let seen = if mode == Mode::Test { Visible::All } else { Visible::Live };
    let page = app.store.read(move |tx| {
        let read = |tx: &mut Tx<'_>, limit: i64, before: Option<&str>| {
            let rows = contacts::list(&mut tx.of(tenant), seen, before, limit)?;
            let next = pages::last(&rows, limit, |row| row.id.to_string());
            let views = rows.into_iter().map(|row| view(tx, row)).collect::<Result<_, _>>()?;
            Ok::<_, DbError>((views, next))
        };
        pages::views(tx, limit, before.clone(), read, |view: &ContactView| view.id.to_string())
    });
    Ok(page.await?)
}

pub async fn get(app: &App, tenant: Tenant, mode: Mode, id: Id<Contact>) -> Result<ContactDetail, Failure> {
    let context = app.context();
    app.of(tenant)
        .read(move |tx| {
            let row = present(visible(contacts::get(tx, id)?, mode))?;
            let standing = contact_policy::standing(tx, &context, Some(&row), None)?;
            let consent = row.consent.clone();
            let chatapp = ChannelConsent {
                messages_allowed: standing.bars_messages(false).is_none(),
                stopped_at: standing.consent.stopped_at,
                stop_source: standing.consent.stop_source.clone(),
                marketing_stopped_at: standing.consent.marketing_stopped_at,
                opted_in_at: standing.consent.opted_in_at,
                opt_in_source: standing.consent.opt_in_source.clone(),
            };
            let do_not_call = standing.do_not_call;
            Ok(ContactDetail { contact: view(tx, row)?, do_not_call, consent, chatapp })
        })
        .await
}

/// Creates a contact or updates the one with the same reference. Returns whether it is new.
pub async fn upsert(
    app: &App,
    tenant: Tenant,
    change: ContactChange,
) -> Result<(bool, ContactView), Failure> {
    let context = app.context();
    let checked = check(&context, &change)?;
    app.of(tenant)
        .tx(move |tx| {
            let upserted = upsert_in(tx, &context, &change, &checked)?;
            changes::note(tx, context.now, Topic::Contacts, upserted.1.id)?;
            Ok(upserted)
        })
        .await
}

/// The result of one item in a batch: its reference as sent, and the answer of the single upsert.
pub type Upserted = (Option<String>, Result<(bool, ContactView), Failure>);

/// Upserts many, each by itself: one bad item never fails others.
pub async fn upsert_many(app: &App, tenant: Tenant, items: Vec<Value>) -> Result<Vec<Upserted>, Failure> {
    let context = app.context();
    let shape = wire::new_contact();
    // Parsed and validated before the transaction, for which others wait.
    let read = |mut item: Value| {
        let reference = item.get("externalRef").and_then(Value::as_str).map(str::to_owned);
        let change = read_item(&shape, &mut item)
            .and_then(|change| check(&context, &change).map(|checked| (change, checked)));
        (reference, change)
    };
    let items: Vec<(Option<String>, Result<(ContactChange, Checked), Failure>)> =
        items.into_iter().map(read).collect();
    app.of(tenant)
        .tx_alone(move |tx| {
            let mut results = Vec::with_capacity(items.len());
            for (reference, item) in &items {
                // Every refusal is decided before the item's first write, so a refused item leaves nothing
                // behind.
                let outcome = match item {
                    Ok((change, checked)) => upsert_in(tx, &context, change, checked),
                    Err(refused) => Err(refused.clone()),
                };
                match outcome {
                    Err(failure) if failure.error.status >= 500 => return Err(failure),
                    outcome => results.push((reference.clone(), outcome)),
                }
            }
            changes::note_all(tx, context.now, Topic::Contacts)?;
            Ok(results)
        })
        .await
}

fn read_item(shape: &api::schema::Schema, item: &mut Value) -> Result<ContactChange, Failure> {
    shape.drop_nulls(item);
    shape.check(item).map_err(|misfit| {
        Failure::field(if misfit.field.is_empty() { "contact" } else { &misfit.field }, misfit.must)
    })?;
    serde_json::from_value(item.take())
        .map_err(|why| Failure::internal(format!("upsert schema and type differ: {why}")))
}

/// A change after its texts are parsed.
struct Checked {
    phone: Option<Phone>,
    time_zone: Option<String>,
}

/// Validation beyond the schema.
fn check(context: &Context, change: &ContactChange) -> Result<Checked, Failure> {
    let phone = change
        .phone
        .as_deref()
        .map(Phone::normalize)
        .transpose()
        .map_err(|why| Failure::field("phone", why))?;
    let time_zone =
        match &change.timezone {
            Some(name) => Some(time_zone(name).ok_or_else(|| {
                Failure::field("timezone", "must be an IANA time zone such as Asia/Kolkata")
            })?),
            None => None,
        };
    if let Some(attributes) = &change.attributes {
        check_attributes(attributes)?;
    }
    if let Some(Some(email)) = &change.email
        && !email.split_once('@').is_some_and(|(name, host)| {
            !name.is_empty() && !host.is_empty() && !email.contains(char::is_whitespace)
        })
    {
        return Err(Failure::field("email", "must be an e-mail address"));
    }
    if change.consent.as_ref().is_some_and(|consent| consent.captured_at > context.now) {
        return Err(Failure::field("consent.capturedAt", "must not be in the future"));
    }
    Ok(Checked { phone, time_zone })
}

fn check_attributes(attributes: &Map<String, Value>) -> Result<(), Failure> {
    if attributes.len() > MAX_ATTRIBUTES {
        return Err(Failure::field("attributes", format!("must have at most {MAX_ATTRIBUTES} keys")));
    }
    if attributes.keys().any(|name| name.is_empty() || name.chars().count() > MAX_ATTRIBUTE_NAME) {
        return Err(Failure::field(
            "attributes",
            format!("must have keys of 1 to {MAX_ATTRIBUTE_NAME} characters"),
        ));
    }
    let size = serde_json::to_string(attributes).map_err(|why| Failure::internal(why.to_string()))?.len();
    if size > MAX_ATTRIBUTES_BYTES {
        return Err(Failure::field(
            "attributes",
            format!("must be at most {MAX_ATTRIBUTES_BYTES} bytes as JSON"),
        ));
    }
    Ok(())
}

fn upsert_in(
    tx: &mut TenantTx,
    context: &Context,
    change: &ContactChange,
    checked: &Checked,
) -> Result<(bool, ContactView), Failure> {
    let phone = checked.phone.ok_or_else(|| Failure::field("phone", "is required"))?;
    for _ in 0..ATTEMPTS {
        if let Some(found) = contacts::find_by_reference(tx, Mode::Live, &change.external_ref)? {
            // Held from here on, and read again: another writer may have changed it before.
            match contacts::get_for_update(tx, found.id)?.filter(|row| row.erased_at.is_none()) {
                Some(row) => return Ok((false, apply(tx, context, row, change, checked)?)),
                None => continue,
            }
        }
        if let Some(owner) = contacts::find_by_phone(tx, Mode::Live, &phone.to_string())? {
            if owner.external_ref.is_some() {
                return Err(taken(&owner));
            }
            // A call or a message made it, without a reference.
            match contacts::get_for_update(tx, owner.id)?
                .filter(|row| row.erased_at.is_none() && row.external_ref.is_none())
            {
                Some(row) => return Ok((false, apply(tx, context, row, change, checked)?)),
                None => continue,
            }
        }
        let mut row = fresh(context, change, phone);
        let consent = fill(context, &mut row, change, checked);
        if contacts::insert(tx, &row)? {
            actions::about(tx, row.id);
            return Ok((true, settle(tx, context, row, change.opt_out, consent)?));
        }
    }
    Err(Failure::conflict("other requests keep changing this contact; try again"))
}

fn taken(owner: &ContactRow) -> Failure {
    Failure::plain(error_codes::PHONE_TAKEN).with_meta(json!({"existingId": owner.id}))
}

fn fresh(context: &Context, change: &ContactChange, phone: Phone) -> ContactRow {
    ContactRow {
        id: context.ids.make(),
        mode: Mode::Live,
        external_ref: Some(change.external_ref.clone()),
        phone: Some(phone.to_string()),
        name: None,
        email: None,
        company: None,
        preferred_language: LANGUAGE.into(),
        timezone: TIME_ZONE.into(),
        attributes: json!({}),
        variables: json!({}),
        opt_out: false,
        consent: None,
        chatapp_user_id: None,
        chatapp_username: None,
        last_contact_at: None,
        created_at: context.now,
        erased_at: None,
    }
}

/// Writes a change onto a contact that is held; every refusal comes before the first write.
fn apply(
    tx: &mut TenantTx,
    context: &Context,
    mut row: ContactRow,
    change: &ContactChange,
    checked: &Checked,
) -> Result<ContactView, Failure> {
    if let Some(phone) = checked.phone {
        let phone = phone.to_string();
        match &row.phone {
            Some(known) if *known != phone => return Err(Failure::plain(error_codes::PHONE_IMMUTABLE)),
            Some(_) => {}
            None => {
                if let Some(owner) = contacts::find_by_phone(tx, row.mode, &phone)? {
                    return Err(taken(&owner));
                }
                row.phone = Some(phone);
            }
        }
    }
    if change.opt_out == Some(false) && row.opt_out {
        return Err(Failure::plain(error_codes::OPT_OUT_DOWNGRADE));
    }
    give_reference(tx, context, &mut row, &change.external_ref)?;
    let consent = fill(context, &mut row, change, checked);
    actions::about(tx, row.id);
    actions::changed_fields(tx, &changed_fields(change));
    if !contacts::update(tx, &row, context.now)? {
        return Err(Failure::not_found("contact"));
    }
    settle(tx, context, row, change.opt_out, consent)
}

/// The fields of a change, for the log of actions: their values are personal.
fn changed_fields(change: &ContactChange) -> Vec<&'static str> {
    let fields = [
        ("phone", change.phone.is_some()),
        ("preferredLanguage", change.preferred_language.is_some()),
        ("timezone", change.timezone.is_some()),
        ("attributes", change.attributes.is_some()),
        ("optOut", change.opt_out.is_some()),
        ("name", change.name.is_some()),
        ("email", change.email.is_some()),
        ("company", change.company.is_some()),
        ("consent", change.consent.is_some()),
    ];
    fields.into_iter().filter(|(_, given)| *given).map(|(name, _)| name).collect()
}

/// Gives a contact that has no reference this one; an empty one is absent.
fn give_reference(
    tx: &mut TenantTx,
    context: &Context,
    row: &mut ContactRow,
    reference: &str,
) -> Result<(), Failure> {
    match row.external_ref.as_deref() {
        _ if reference.is_empty() => return Ok(()),
        Some(known) if known == reference => return Ok(()),
        Some(_) => return Err(Failure::field("externalRef", "cannot change once it is set")),
        None => {}
    }
    if let Some(owner) = contacts::find_by_reference(tx, row.mode, reference)? {
        return Err(Failure::conflict("externalRef belongs to another contact, see meta.existingId")
            .with_meta(json!({"existingId": owner.id})));
    }
    if !contacts::adopt_reference(tx, row.mode, row.id, reference, context.now)? {
        return Err(Failure::conflict("other requests keep changing this contact; try again"));
    }
    row.external_ref = Some(reference.to_owned());
    Ok(())
}

/// A consent that a change records, with its record in the chain.
type NewConsent = Option<(Id<Consent>, Value)>;

/// Applies the fields of a change to a row.
fn fill(context: &Context, row: &mut ContactRow, change: &ContactChange, checked: &Checked) -> NewConsent {
    let change = change.clone();
    row.name = change.name.unwrap_or(row.name.take());
    row.email = change.email.unwrap_or(row.email.take());
    row.company = change.company.unwrap_or(row.company.take());
    if let Some(language) = change.preferred_language {
        row.preferred_language = language;
    }
    if let Some(name) = &checked.time_zone {
        row.timezone.clone_from(name);
    }
    if let Some(attributes) = change.attributes {
        row.attributes = Value::Object(attributes);
    }
    let consent = change.consent?;
    let id = context.ids.make::<Consent>();
    row.consent = Some(json!({
        "id": id, "source": consent.source, "capturedAt": consent.captured_at, "reference": consent.reference, "recordedAt": context.now,
    }));
    Some((id, json!({"source": consent.source, "capturedAt": consent.captured_at})))
}

/// What follows from a stored change: the opt-out and the proof of consent.
fn settle(
    tx: &mut TenantTx,
    context: &Context,
    mut row: ContactRow,
    opt_out: Option<bool>,
    consent: NewConsent,
) -> Result<ContactView, Failure> {
    if let Some((id, about)) = consent {
        do_not_call::record_consent(tx, context, &row, Decision::Allowed, "given", &about, id)?;
    }
    if opt_out == Some(true) {
        do_not_call::opt_out_contact(tx, context, &row, Source::Api)?;
        row.opt_out = true;
    }
    Ok(view(tx, row)?)
}

/// Updates the fields of the body.
pub async fn update(
    app: &App,
    tenant: Tenant,
    id: Id<Contact>,
    change: ContactChange,
) -> Result<ContactView, Failure> {
    let context = app.context();
    app.of(tenant)
        .tx(move |tx| {
            let row = present(visible(contacts::get_for_update(tx, id)?, Mode::Live))?;
            let checked = check(&context, &change)?;
            changes::note(tx, context.now, Topic::Contacts, id)?;
            apply(tx, &context, row, &change, &checked)
        })
        .await
}

/// Deletes a contact that was never called or written to, in either mode: calls would keep its number. The number stays
/// on the do-not-call list if it is there, and its events and stored answers are found by it.
pub async fn delete(app: &App, tenant: Tenant, id: Id<Contact>) -> Result<(), Failure> {
    let context = app.context();
    app.of(tenant)
        .tx(move |tx| {
            let row = present(visible(contacts::get_for_update(tx, id)?, Mode::Live))?;
            if row.last_contact_at.is_some() || contacts::has_calls(tx, id)? {
                return Err(Failure::plain(error_codes::CONTACT_HAS_HISTORY));
            }
            if let Some(phone) = do_not_call::number_of(&row) {
                erasure::hand_over(tx, id, &context.keyring.hash_phone(&phone))?;
            }
            contacts::delete(tx, id)?;
            Ok(changes::note(tx, context.now, Topic::Contacts, id)?)
        })
        .await
}
