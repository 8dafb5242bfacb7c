//! People.

use domain::ids::{Contact, Id};
use domain::tenant::{Mode, Tenant};
use domain::time::Timestamp;
use serde_json::Value as Json;

use crate::db::{DbError, Row, Tx, Value, any_of, places};
use crate::params;

/// A contact as stored.
#[derive(Debug, Clone)]
pub struct ContactRow {
    /// Its id.
    pub id: Id<Contact>,
    /// `Test` for a person that only simulated calls made.
    pub mode: Mode,
    /// The customer's own id.
    pub external_ref: Option<String>,
    /// E.164.
    pub phone: Option<String>,
    /// Name.
    pub name: Option<String>,
    /// E-mail.
    pub email: Option<String>,
    /// Company.
    pub company: Option<String>,
    /// `en` or `hi`.
    pub preferred_language: String,
    /// IANA name.
    pub timezone: String,
    /// Free attributes, an object.
    pub attributes: Json,
    /// Saved values of flow variables, an object.
    pub variables: Json,
    /// Whether the person opted out of calls.
    pub opt_out: bool,
    /// The recorded basis for calling.
    pub consent: Option<Json>,
    /// The channel's user id.
    pub chatapp_user_id: Option<String>,
    /// The channel's user name.
    pub chatapp_username: Option<String>,
    /// Last call or message.
    pub last_contact_at: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was erased.
    pub erased_at: Option<Timestamp>,
}

pub(crate) const COLUMNS: &str = "id, mode, external_ref, phone, name, email, company, preferred_language, timezone, attributes, variables, opt_out, \
     consent, chatapp_user_id, chatapp_username, last_contact_at, created_at, erased_at";

pub(crate) fn read(row: &Row<'_>) -> Result<ContactRow, DbError> {
    Ok(ContactRow {
        id: row.id(0)?,
        mode: Mode::parse(&row.text(1)?)
            .ok_or_else(|| DbError::Internal("unknown mode of a contact".into()))?,
        external_ref: row.opt_text(2)?,
        phone: row.opt_text(3)?,
        name: row.opt_text(4)?,
        email: row.opt_text(5)?,
        company: row.opt_text(6)?,
        preferred_language: row.text(7)?,
        timezone: row.text(8)?,
        attributes: row.json(9)?,
        variables: row.json(10)?,
        opt_out: row.flag(11)?,
        consent: row.opt_json(12)?,
        chatapp_user_id: row.opt_text(13)?,
        chatapp_username: row.opt_text(14)?,
        last_contact_at: row.opt_time(15)?,
        created_at: row.time(16)?,
        erased_at: row.opt_time(17)?,
    })
}

/// One contact, erased or not.
pub fn get(tx: &mut Tx<'_>, tenant: Tenant, id: Id<Contact>) -> Result<Option<ContactRow>, DbError> {
    tx.one(
        &format!("select {COLUMNS} from contacts where workspace = ?1 and id = ?2"),
        params![tenant, id],
        read,
    )
}

/// A contact, erased or not, held until the transaction ends.
pub fn get_for_update(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    id: Id<Contact>,
) -> Result<Option<ContactRow>, DbError> {
    tx.one(
        &format!("select {COLUMNS} from contacts where workspace = ?1 and id = ?2 /*pg for update*/"),
        params![tenant, id],
        read,
    )
}

/// Which contacts a reader sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visible {
    /// The real ones: what live keys see.
    Live,
    /// The real ones and those of simulated calls: what test keys see.
    All,
}

/// Contacts that are not erased, newest first, older than `before`.
pub fn list(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    visible: Visible,
    before: Option<&str>,
    limit: i64,
) -> Result<Vec<ContactRow>, DbError> {
    let of = |mode: Mode| {
        format!(
            "select {COLUMNS} from contacts where workspace = ?1 and mode = '{}' and id < ?2 and erased_at is null order by id desc limit ?3",
            mode.as_str()
        )
    };
    let sql = match visible {
        Visible::Live => of(Mode::Live),
        // A page of each world, from its own range of the index.
        Visible::All => format!(
            "select {COLUMNS} from (select * from ({}) as live union all select * from ({}) as test) as both_worlds order by id desc limit ?3",
            of(Mode::Live),
            of(Mode::Test)
        ),
    };
    tx.all(&sql, params![tenant, before.unwrap_or("~"), limit], read)
}

/// The contact with this reference.
pub fn find_by_reference(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    mode: Mode,
    reference: &str,
) -> Result<Option<ContactRow>, DbError> {
    tx.one(
        &format!("select {COLUMNS} from contacts where workspace = ?1 and mode = ?2 and external_ref = ?3"),
        params![tenant, mode.as_str(), reference],
        read,
    )
}

/// The contact with this number (E.164).
pub fn find_by_phone(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    mode: Mode,
    phone: &str,
) -> Result<Option<ContactRow>, DbError> {
    tx.one(
        &format!("select {COLUMNS} from contacts where workspace = ?1 and mode = ?2 and phone = ?3"),
        params![tenant, mode.as_str(), phone],
        read,
    )
}

/// The contacts with these numbers (E.164).
pub fn find_by_phones(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    mode: Mode,
    phones: &[String],
) -> Result<Vec<ContactRow>, DbError> {
    let mut params = vec![tenant.into(), mode.as_str().into()];
    let list = any_of(&mut params, phones.iter().map(Value::from));
    tx.all(
        &format!("select {COLUMNS} from contacts where workspace = ?1 and mode = ?2 and phone in {list}"),
        &params,
        read,
    )
}

const INTO: &str = "insert into contacts (id, workspace, mode, external_ref, phone, name, email, company, preferred_language, timezone, attributes, \
     variables, opt_out, consent, chatapp_user_id, chatapp_username, last_contact_at, created_at, updated_at)";

fn values(tenant: Tenant, row: &ContactRow) -> [Value<'_>; 19] {
    [
        row.id.into(),
        tenant.into(),
        row.mode.as_str().into(),
        row.external_ref.as_deref().into(),
        row.phone.as_deref().into(),
        row.name.as_deref().into(),
        row.email.as_deref().into(),
        row.company.as_deref().into(),
        (&row.preferred_language).into(),
        (&row.timezone).into(),
        (&row.attributes).into(),
        (&row.variables).into(),
        row.opt_out.into(),
        row.consent.as_ref().into(),
        row.chatapp_user_id.as_deref().into(),
        row.chatapp_username.as_deref().into(),
        row.last_contact_at.into(),
        row.created_at.into(),
        row.created_at.into(),
    ]
}

/// Adds a contact; `false` when the reference or the number is taken (by a writer of this very moment, too).
pub fn insert(tx: &mut Tx<'_>, tenant: Tenant, row: &ContactRow) -> Result<bool, DbError> {
    let values = values(tenant, row);
    Ok(tx.exec(&format!("{INTO} values {} on conflict do nothing", places(1, values.len())), &values)? > 0)
}

/// Adds contacts whose reference and number are free. When somebody else took one of them a moment ago, the
/// transaction is to be done again.
pub fn insert_all<'r>(
    tx: &mut Tx<'_>,
    rows: impl IntoIterator<Item = (Tenant, &'r ContactRow)>,
) -> Result<(), DbError> {
    let rows = rows.into_iter().map(|(tenant, row)| values(tenant, row));
    tx.insert_new(INTO, rows, &DbError::Retry("a contact was made a moment ago".into()))
}

/// Gives a contact without a reference this one, unless another contact has it. Whether it did.
pub fn adopt_reference(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    mode: Mode,
    id: Id<Contact>,
    reference: &str,
    now: Timestamp,
) -> Result<bool, DbError> {
    let adopted = tx.exec(
        "update contacts set external_ref = ?4, updated_at = ?5 where workspace = ?1 and id = ?3 and mode = ?2 and external_ref is null \
         and not exists (select 1 from contacts c where c.workspace = ?1 and c.mode = ?2 and c.external_ref = ?4)",
        params![tenant, mode.as_str(), id, reference, now],
    )?;
    Ok(adopted > 0)
}

/// Remembers that the person was called or written to.
pub fn touch(tx: &mut Tx<'_>, tenant: Tenant, id: Id<Contact>, now: Timestamp) -> Result<(), DbError> {
    tx.later(
        "update contacts set last_contact_at = ?3 where workspace = ?1 and id = ?2",
        params![tenant, id, now],
    )
}

/// Writes what a client may change of a contact; `false` when it is gone or erased.
pub fn update(tx: &mut Tx<'_>, tenant: Tenant, row: &ContactRow, now: Timestamp) -> Result<bool, DbError> {
    let changed = tx.exec(
        "update contacts set phone = ?3, name = ?4, email = ?5, company = ?6, preferred_language = ?7, timezone = ?8, attributes = ?9, consent = ?10, \
         updated_at = ?11 where workspace = ?1 and id = ?2 and erased_at is null",
        params![
            tenant,
            row.id,
            row.phone.as_deref(),
            row.name.as_deref(),
            row.email.as_deref(),
            row.company.as_deref(),
            &row.preferred_language,
            &row.timezone,
            &row.attributes,
            row.consent.as_ref(),
            now
        ],
    )?;
    Ok(changed > 0)
}

/// Marks a contact opted out; `false` when it was already.
pub fn opt_out(tx: &mut Tx<'_>, tenant: Tenant, id: Id<Contact>, now: Timestamp) -> Result<bool, DbError> {
    let sql = "update contacts set opt_out = 1, updated_at = ?3 where workspace = ?1 and id = ?2 and opt_out = 0 and erased_at is null";
    Ok(tx.exec(sql, params![tenant, id, now])? > 0)
}

/// Lifts a contact's opt-out; `false` when there was none.
pub fn lift_opt_out(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    id: Id<Contact>,
    now: Timestamp,
) -> Result<bool, DbError> {
    let sql = "update contacts set opt_out = 0, updated_at = ?3 where workspace = ?1 and id = ?2 and opt_out = 1 and erased_at is null";
    Ok(tx.exec(sql, params![tenant, id, now])? > 0)
}

/// Whether any call, placed or refused, was for a contact.
pub fn has_calls(tx: &mut Tx<'_>, tenant: Tenant, id: Id<Contact>) -> Result<bool, DbError> {
    let sql =
        "select 1 from calls where workspace = ?1 and mode in ('live', 'test') and contact = ?2 limit 1";
    Ok(tx.one(sql, params![tenant, id], |_| Ok(()))?.is_some())
}

/// Deletes a contact; `false` when it is not there.
pub fn delete(tx: &mut Tx<'_>, tenant: Tenant, id: Id<Contact>) -> Result<bool, DbError> {
    Ok(tx.exec(
        "delete from contacts where workspace = ?1 and id = ?2 and erased_at is null",
        params![tenant, id],
    )? > 0)
}

/// Empties everything personal of a contact; `false` when it is erased already. `phone_hash` and `result`
/// (counts, JSON) remain.
pub fn erase(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    id: Id<Contact>,
    phone_hash: Option<&str>,
    result: &Json,
    now: Timestamp,
) -> Result<bool, DbError> {
    let changed = tx.exec(
        "update contacts set external_ref = null, phone = null, name = null, email = null, company = null, attributes = '{}', variables = '{}', \
         preferred_language = '', timezone = '', consent = null, chatapp_user_id = null, chatapp_username = null, last_contact_at = null, \
         opt_out = 1, erased_at = ?3, updated_at = ?3, phone_hash = ?4, erasure = ?5 where workspace = ?1 and id = ?2 and erased_at is null",
        params![tenant, id, now, phone_hash, result],
    )?;
    Ok(changed > 0)
}

/// What an earlier erasure erased.
pub fn erasure(tx: &mut Tx<'_>, tenant: Tenant, id: Id<Contact>) -> Result<Option<Json>, DbError> {
    Ok(tx
        .one("select erasure from contacts where workspace = ?1 and id = ?2", params![tenant, id], |row| {
            row.opt_json(0)
        })?
        .flatten())
}
