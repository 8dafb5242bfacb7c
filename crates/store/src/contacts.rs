//! People.

use const_format::formatcp;
use domain::ids::{Contact, Id};
use domain::tenant::{Mode, Tenant};
use domain::time::Timestamp;
use serde_json::Value as Json;

use crate::db::row::{row, update};
use crate::db::{DbError, TenantTx, Tx, Value};
use crate::params;
use crate::search;

row! {
    #[derive(Debug, Clone)]
    pub struct ContactRow in "contacts" {
        id: Id<Contact>,
        /// `Test` for a person of simulated calls only.
        mode: Mode,
        /// The customer's own id.
        external_ref: Option<String>,
        /// E.164.
        phone: Option<String>,
        name: Option<String>,
        email: Option<String>,
        company: Option<String>,
        /// `en` or `hi`.
        preferred_language: String,
        /// IANA name.
        timezone: String,
        /// Free attributes, an object.
        attributes: Json,
        /// Saved values of flow variables, an object.
        variables: Json,
        /// Whether the person opted out of calls.
        opt_out: bool,
        /// The recorded basis for calling.
        consent: Option<Json>,
        /// The channel's user id.
        chatapp_user_id: Option<String>,
        /// The channel's user name.
        chatapp_username: Option<String>,
        /// Last call or message.
        last_contact_at: Option<Timestamp>,
        created_at: Timestamp,
        erased_at: Option<Timestamp>,
    }
    insert with { workspace: Tenant, updated_at: Timestamp, words: i64 }
}

const COLUMNS: &str = ContactRow::COLUMNS;

/// The name of a contact is in `contact_words`.
const WORDS: i64 = 1;

/// Key prefix of cached contacts.
const CACHED: &str = "contact ";

fn by_id(tenant: Tenant, id: Id<Contact>) -> String {
    format!("{CACHED}{tenant} {id}")
}

fn by_phone(tenant: Tenant, mode: Mode, phone: &str) -> String {
    format!("{CACHED}{tenant} {} {phone}", mode.as_str())
}

fn by_user(tenant: Tenant, mode: Mode, user: &str) -> String {
    format!("{CACHED}{tenant} {} @{user}", mode.as_str())
}

fn know(tx: &mut TenantTx, row: &ContactRow) {
    let tenant = tx.tenant();
    tx.cache_row(by_id(tenant, row.id), Some(row.clone()));
    if let Some(phone) = &row.phone {
        tx.cache_row(by_phone(tenant, row.mode, phone), Some(row.clone()));
    }
    if let Some(user) = &row.chatapp_user_id {
        tx.cache_row(by_user(tenant, row.mode, user), Some(row.clone()));
    }
}

/// Reads and caches the contacts with these ids, with one statement.
pub fn prefetch(tx: &mut TenantTx, ids: &[Id<Contact>]) -> Result<Vec<ContactRow>, DbError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let mut params = Vec::new();
    let list = tx.any_of(&mut params, ids.iter().map(|id| (*id).into()));
    let sql = format!("select {COLUMNS} from contacts where workspace = ?1 and id in {list}");
    let found: Vec<ContactRow> = tx.all(&sql, &params)?;
    found.iter().for_each(|row| know(tx, row));
    Ok(found)
}

/// Reads and caches the contacts with these numbers (E.164) and these ids on the messaging channel, and which of them
/// have none, with a statement each, for [`find_by_phone`] and [`find_by_channel_user`].
pub fn prefetch_by_address(
    tx: &mut TenantTx,
    mode: Mode,
    phones: &[String],
    users: &[String],
) -> Result<Vec<ContactRow>, DbError> {
    let tenant = tx.tenant();
    let mut found = Vec::new();
    if !phones.is_empty() {
        found = find_by_phones(tx, mode, phones)?;
    }
    if !users.is_empty() {
        let mut params = vec![mode.into()];
        let list = tx.any_of(&mut params, users.iter().map(Value::from));
        let sql = format!(
            "select {COLUMNS} from contacts where workspace = ?1 and mode = ?2 and chatapp_user_id in {list}"
        );
        found.extend(tx.all::<ContactRow>(&sql, &params)?);
    }
    for phone in phones {
        tx.cache_row(by_phone(tenant, mode, phone), None::<ContactRow>);
    }
    for user in users {
        tx.cache_row(by_user(tenant, mode, user), None::<ContactRow>);
    }
    found.iter().for_each(|row| know(tx, row));
    Ok(found)
}

/// Across workspaces: whether this transaction has created a contact: no other transaction can have rows about it.
pub fn is_fresh(tx: &Tx<'_>, id: Id<Contact>) -> bool {
    tx.has_cached_rows() && tx.cached::<()>(&format!("fresh {id}")).is_some()
}

/// One contact, erased or not.
pub fn get(tx: &mut TenantTx, id: Id<Contact>) -> Result<Option<ContactRow>, DbError> {
    if tx.has_cached_rows()
        && let Some(known) = tx.cached::<Option<ContactRow>>(&by_id(tx.tenant(), id))
    {
        return Ok(known);
    }
    tx.one(formatcp!("select {COLUMNS} from contacts where workspace = ?1 and id = ?2"), params![id])
}

/// A contact, erased or not, locked until the transaction ends.
pub fn get_for_update(tx: &mut TenantTx, id: Id<Contact>) -> Result<Option<ContactRow>, DbError> {
    tx.one(
        formatcp!("select {COLUMNS} from contacts where workspace = ?1 and id = ?2 /*pg for update*/"),
        params![id],
    )
}

/// When a person was erased; `None` without that, and for a contact that there is not.
pub fn erased_at(tx: &mut TenantTx, id: Id<Contact>) -> Result<Option<Timestamp>, DbError> {
    Ok(tx.one("select erased_at from contacts where workspace = ?1 and id = ?2", params![id])?.flatten())
}

/// Which contacts are visible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visible {
    /// The real ones, for live keys.
    Live,
    /// The real ones and those of simulated calls, for test keys.
    All,
}

/// Contacts that are not erased, newest first, older than `before`.
pub fn list(
    tx: &mut TenantTx,
    visible: Visible,
    before: Option<&str>,
    limit: i64,
) -> Result<Vec<ContactRow>, DbError> {
    const LIVE: &str = formatcp!(
        "select {COLUMNS} from contacts where workspace = ?1 and mode = 'live' and id < ?2 and erased_at is null order by id desc limit ?3"
    );
    const TEST: &str = formatcp!(
        "select {COLUMNS} from contacts where workspace = ?1 and mode = 'test' and id < ?2 and erased_at is null order by id desc limit ?3"
    );
    // A page of each mode, from its own range of the index.
    const BOTH: &str = formatcp!(
        "select {COLUMNS} from (select * from ({LIVE}) as live union all select * from ({TEST}) as test) as both_worlds order by id desc limit ?3"
    );
    let sql = match visible {
        Visible::Live => LIVE,
        Visible::All => BOTH,
    };
    tx.all(sql, params![before.unwrap_or("~"), limit])
}

/// The contact with this reference.
pub fn find_by_reference(
    tx: &mut TenantTx,
    mode: Mode,
    reference: &str,
) -> Result<Option<ContactRow>, DbError> {
    tx.one(
        formatcp!("select {COLUMNS} from contacts where workspace = ?1 and mode = ?2 and external_ref = ?3"),
        params![mode, reference],
    )
}

/// The contact with this number (E.164).
pub fn find_by_phone(tx: &mut TenantTx, mode: Mode, phone: &str) -> Result<Option<ContactRow>, DbError> {
    if tx.has_cached_rows()
        && let Some(known) = tx.cached::<Option<ContactRow>>(&by_phone(tx.tenant(), mode, phone))
    {
        return Ok(known);
    }
    // The limit forces an index lookup for each number, also for many at once (`Tx::prefetch`): a plan from when the
    // table was small would scan it.
    tx.one(
        formatcp!("select {COLUMNS} from contacts where workspace = ?1 and mode = ?2 and phone = ?3 limit 1"),
        params![mode, phone],
    )
}

/// The contact with this id on the messaging channel.
pub fn find_by_channel_user(
    tx: &mut TenantTx,
    mode: Mode,
    user: &str,
) -> Result<Option<ContactRow>, DbError> {
    if tx.has_cached_rows()
        && let Some(known) = tx.cached::<Option<ContactRow>>(&by_user(tx.tenant(), mode, user))
    {
        return Ok(known);
    }
    tx.one(
        formatcp!(
            "select {COLUMNS} from contacts where workspace = ?1 and mode = ?2 and chatapp_user_id = ?3"
        ),
        params![mode, user],
    )
}

/// Sets the number, name and id of a person on the messaging channel.
pub fn set_channel(
    tx: &mut TenantTx,
    id: Id<Contact>,
    phone: Option<&str>,
    user: Option<&str>,
    username: Option<&str>,
    now: Timestamp,
) -> Result<(), DbError> {
    let sql = "update contacts set phone = ?3, chatapp_user_id = ?4, chatapp_username = ?5, updated_at = ?6
        where workspace = ?1 and id = ?2 and erased_at is null";
    tx.uncache_all(CACHED);
    tx.exec(sql, params![id, phone, user, username, now]).map(|_| ())
}

/// The contacts with these numbers (E.164).
pub fn find_by_phones(tx: &mut TenantTx, mode: Mode, phones: &[String]) -> Result<Vec<ContactRow>, DbError> {
    let mut params = vec![mode.into()];
    let list = tx.any_of(&mut params, phones.iter().map(Value::from));
    tx.all(
        &format!("select {COLUMNS} from contacts where workspace = ?1 and mode = ?2 and phone in {list}"),
        &params,
    )
}

/// The references of some contacts.
pub fn references(
    tx: &mut TenantTx,
    ids: &[Id<Contact>],
) -> Result<Vec<(Id<Contact>, Option<String>)>, DbError> {
    let mut params = Vec::new();
    let list = tx.any_of(&mut params, ids.iter().map(|id| (*id).into()));
    tx.all(&format!("select id, external_ref from contacts where workspace = ?1 and id in {list}"), &params)
}

/// Adds a contact; `false` if the reference or the number is taken (by a concurrent transaction, too). If this
/// transaction has prefetched that the number or the channel id is free, the insert is batched with others, and the
/// transaction is retried if it is taken by then.
pub fn insert(tx: &mut TenantTx, row: &ContactRow) -> Result<bool, DbError> {
    let tenant = tx.tenant();
    const SQL: &str = formatcp!("{} on conflict do nothing", ContactRow::INSERT);
    if tx.shared() && row.external_ref.is_none() && tx.has_cached_rows() {
        let mut names = [
            row.phone.as_deref().map(|phone| by_phone(tenant, row.mode, phone)),
            row.chatapp_user_id.as_deref().map(|user| by_user(tenant, row.mode, user)),
        ]
        .into_iter()
        .flatten()
        .peekable();
        let free = |name: String| matches!(tx.cached::<Option<ContactRow>>(&name), Some(None));
        if names.peek().is_some() && names.all(free) {
            let otherwise = DbError::Retry("a contact was made a moment ago".into());
            tx.add_new(SQL, &row.values(row.created_at, WORDS), otherwise)?;
            search::add_words(tx, tenant, row.mode, row.id, row.name.as_deref())?;
            know(tx, row);
            tx.cache_row(format!("fresh {}", row.id), ());
            return Ok(true);
        }
    }
    tx.uncache_all(CACHED);
    let added = tx.exec(SQL, &row.values(row.created_at, WORDS))? > 0;
    if added {
        search::add_words(tx, tenant, row.mode, row.id, row.name.as_deref())?;
    }
    Ok(added)
}

/// Across workspaces: adds contacts whose reference and number are free. Fails with a retry if a concurrent transaction
/// took one of them.
pub fn insert_all<'r>(
    tx: &mut Tx<'_>,
    rows: impl IntoIterator<Item = (Tenant, &'r ContactRow)>,
) -> Result<(), DbError> {
    tx.uncache_all(CACHED);
    let rows: Vec<(Tenant, &ContactRow)> = rows.into_iter().collect();
    let values = rows.iter().map(|(tenant, row)| row.values_of(*tenant, row.created_at, WORDS));
    tx.insert_new(ContactRow::INTO, values, &DbError::Retry("a contact was made a moment ago".into()))?;
    for (tenant, row) in rows {
        search::add_words(tx, tenant, row.mode, row.id, row.name.as_deref())?;
    }
    Ok(())
}

/// Sets the reference of a contact that has none, unless another contact has it. Returns whether it was set.
pub fn adopt_reference(
    tx: &mut TenantTx,
    mode: Mode,
    id: Id<Contact>,
    reference: &str,
    now: Timestamp,
) -> Result<bool, DbError> {
    tx.uncache_all(CACHED);
    let adopted = tx.exec(
        "update contacts set external_ref = ?4, updated_at = ?5 where workspace = ?1 and id = ?3 and mode = ?2 and external_ref is null \
         and not exists (select 1 from contacts c where c.workspace = ?1 and c.mode = ?2 and c.external_ref = ?4)",
        params![mode, id, reference, now],
    )?;
    Ok(adopted > 0)
}

/// Remembers that the person was called or written to.
pub fn touch(tx: &mut TenantTx, id: Id<Contact>, now: Timestamp) -> Result<(), DbError> {
    if is_fresh(tx, id) {
        return Ok(());
    }
    let otherwise = DbError::Retry("a contact went a moment ago".into());
    tx.change(
        "update contacts set last_contact_at = ?3 where workspace = ?1 and id = ?2",
        params![id, now],
        otherwise,
    )
}

/// Saves the fields that a client may change; `false` if the contact is deleted or erased.
pub fn update(tx: &mut TenantTx, row: &ContactRow, now: Timestamp) -> Result<bool, DbError> {
    tx.uncache_all(CACHED);
    let (sql, values) = update!(
        "contacts" of tenant set {
            phone: row.phone.as_deref(),
            name: row.name.as_deref(),
            email: row.email.as_deref(),
            company: row.company.as_deref(),
            preferred_language: &row.preferred_language,
            timezone: &row.timezone,
            attributes: &row.attributes,
            consent: row.consent.as_ref(),
            updated_at: now,
            words: WORDS,
        }
        where "id = ?2 and erased_at is null", row.id
    );
    let updated = tx.exec(sql, &values)? > 0;
    if updated {
        search::replace_words(tx, row.mode, row.id, row.name.as_deref())?;
    }
    Ok(updated)
}

/// Marks a contact opted out; `false` when it was already.
pub fn opt_out(tx: &mut TenantTx, id: Id<Contact>, now: Timestamp) -> Result<bool, DbError> {
    tx.uncache_all(CACHED);
    let sql = "update contacts set opt_out = 1, updated_at = ?3 where workspace = ?1 and id = ?2 and opt_out = 0 and erased_at is null";
    Ok(tx.exec(sql, params![id, now])? > 0)
}

/// Lifts a contact's opt-out; `false` when there was none.
pub fn lift_opt_out(tx: &mut TenantTx, id: Id<Contact>, now: Timestamp) -> Result<bool, DbError> {
    tx.uncache_all(CACHED);
    let sql = "update contacts set opt_out = 0, updated_at = ?3 where workspace = ?1 and id = ?2 and opt_out = 1 and erased_at is null";
    Ok(tx.exec(sql, params![id, now])? > 0)
}

/// Whether any call, placed or refused, was for a contact.
pub fn has_calls(tx: &mut TenantTx, id: Id<Contact>) -> Result<bool, DbError> {
    let sql =
        "select 1 from calls where workspace = ?1 and mode in ('live', 'test') and contact = ?2 limit 1";
    tx.exists(sql, params![id])
}

/// Deletes a contact; `false` when it is not there.
pub fn delete(tx: &mut TenantTx, id: Id<Contact>) -> Result<bool, DbError> {
    tx.uncache_all(CACHED);
    search::drop_words(tx, id)?;
    Ok(tx.exec("delete from contacts where workspace = ?1 and id = ?2 and erased_at is null", params![id])?
        > 0)
}

/// Empties everything personal of a contact; `false` when it is erased already. `phone_hash` and `result`
/// (counts, JSON) remain.
pub fn erase(
    tx: &mut TenantTx,
    id: Id<Contact>,
    phone_hash: Option<&str>,
    result: &Json,
    now: Timestamp,
) -> Result<bool, DbError> {
    tx.uncache_all(CACHED);
    let changed = tx.exec(
        "update contacts set external_ref = null, phone = null, name = null, email = null, company = null, attributes = '{}', variables = '{}', \
         preferred_language = '', timezone = '', consent = null, chatapp_user_id = null, chatapp_username = null, last_contact_at = null, \
         opt_out = 1, erased_at = ?3, updated_at = ?3, phone_hash = ?4, erasure = ?5 where workspace = ?1 and id = ?2 and erased_at is null",
        params![id, now, phone_hash, result],
    )?;
    search::drop_words(tx, id)?;
    Ok(changed > 0)
}

/// What an earlier erasure erased.
pub fn erasure(tx: &mut TenantTx, id: Id<Contact>) -> Result<Option<Json>, DbError> {
    Ok(tx.one("select erasure from contacts where workspace = ?1 and id = ?2", params![id])?.flatten())
}
