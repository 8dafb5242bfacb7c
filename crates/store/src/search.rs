//! Looking things up by what people call them: names, references, numbers, ids.
//!
//! The words of a contact's name are rows of `contact_words`, written in the transaction that writes the name. Contacts
//! that a node of the version before wrote have none until [`add_missing_words`] adds them.

use const_format::formatcp;
use domain::ids::{Contact, Id};
use domain::names;
use domain::tenant::{Mode, Tenant};
use domain::time::Timestamp;

use crate::db::row::row;
use crate::db::{DbError, TenantTx, Tx, Value};
use crate::params;

/// Words of names that are examined for one query of several words.
const EXAMINED: i64 = 5_000;
/// Agents, campaigns or knowledge bases whose names are compared, the newest ones.
const MOST_NAMED: i64 = 1_000;

/// Adds the words of a new contact's name.
pub(crate) fn add_words(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    mode: Mode,
    contact: Id<Contact>,
    name: Option<&str>,
) -> Result<(), DbError> {
    for word in names::words(name.unwrap_or_default()) {
        tx.add(
            "insert into contact_words (workspace, mode, word, contact) values (?1, ?2, ?3, ?4)",
            params![tenant, mode, word, contact],
        )?;
    }
    Ok(())
}

/// Replaces the words of a contact's name.
pub(crate) fn replace_words(
    tx: &mut TenantTx,
    mode: Mode,
    contact: Id<Contact>,
    name: Option<&str>,
) -> Result<(), DbError> {
    drop_words(tx, contact)?;
    for word in names::words(name.unwrap_or_default()) {
        tx.later(
            "insert into contact_words (workspace, mode, word, contact) values (?1, ?2, ?3, ?4) on conflict do nothing",
            params![mode, word, contact],
        )?;
    }
    Ok(())
}

/// Deletes the words of a contact's name.
pub(crate) fn drop_words(tx: &mut TenantTx, contact: Id<Contact>) -> Result<(), DbError> {
    tx.later("delete from contact_words where workspace = ?1 and contact = ?2", params![contact])
}

/// Across workspaces: adds the words of up to `limit` names that have none yet. Returns how many contacts were looked at.
/// The index `contacts_without_words` serves it.
pub fn add_missing_words(tx: &mut Tx<'_>, limit: i64) -> Result<usize, DbError> {
    type Nameless = (Tenant, Id<Contact>, Mode, Option<String>);
    let found: Vec<Nameless> = tx.all(
        "select workspace, id, mode, name from contacts where words is null and name is not null order by id limit ?1 /*pg for update skip locked*/",
        params![limit],
    )?;
    for (tenant, id, mode, name) in &found {
        let tx = &mut tx.of(*tenant);
        replace_words(tx, *mode, *id, name.as_deref())?;
        tx.later("update contacts set words = 1 where workspace = ?1 and id = ?2", params![*id])?;
    }
    Ok(found.len())
}

/// Contacts of a mode with words in their names that begin so, at most `limit`; none without words. The primary key of
/// `contact_words` finds the longest of the words, at most [`EXAMINED`] times when there are others, which its index
/// `contact_words_of_contact` then proves.
pub fn by_name(
    tx: &mut TenantTx,
    mode: Mode,
    words: &[String],
    limit: i64,
) -> Result<Vec<Id<Contact>>, DbError> {
    let Some(longest) = words.iter().max_by_key(|word| word.len()) else { return Ok(Vec::new()) };
    let mut params: Vec<Value<'_>> = params![mode, longest, names::after(longest)].to_vec();
    let mut others = String::new();
    for word in words.iter().filter(|word| *word != longest) {
        let place = params.len() + 2;
        params.push(word.into());
        params.push(names::after(word).into());
        others.push_str(&format!(
            " and exists (select 1 from contact_words o where o.workspace = ?1 and o.contact = walk.contact and o.word >= ?{place} and o.word < ?{})",
            place + 1
        ));
    }
    let examined = if others.is_empty() { limit } else { EXAMINED };
    let sql = format!(
        "select distinct contact from (select contact from contact_words where workspace = ?1 and mode = ?2 and word >= ?3 and word < ?4 \
         order by word, contact limit {examined}) as walk where 1 = 1{others} order by contact desc limit {limit}"
    );
    tx.all(&sql, &params)
}

/// Contacts of a mode with references that begin so, the shortest first. The index `contact_of_reference` serves it.
pub fn by_reference(
    tx: &mut TenantTx,
    mode: Mode,
    reference: &str,
    limit: i64,
) -> Result<Vec<Id<Contact>>, DbError> {
    if reference.is_empty() {
        return Ok(Vec::new());
    }
    tx.all(
        "select id from contacts where workspace = ?1 and mode = ?2 and external_ref is not null \
         and external_ref >= ?3 and external_ref < ?4 order by external_ref limit ?5",
        params![mode, reference, names::after(reference), limit],
    )
}

/// The names of some contacts; erased ones and those without a name are left out.
pub fn contact_names(tx: &mut TenantTx, ids: &[Id<Contact>]) -> Result<Vec<(Id<Contact>, String)>, DbError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let mut params = Vec::new();
    let list = tx.any_of(&mut params, ids.iter().map(|id| (*id).into()));
    tx.all(
        &format!("select id, name from contacts where workspace = ?1 and id in {list} and name is not null"),
        &params,
    )
}

/// The names of agents, deleted ones included.
pub fn agent_names(tx: &mut TenantTx, ids: &[String]) -> Result<Vec<(String, String)>, DbError> {
    names_of(tx, "agents", ids)
}

/// The names of campaigns, deleted ones included.
pub fn campaign_names(tx: &mut TenantTx, ids: &[String]) -> Result<Vec<(String, String)>, DbError> {
    names_of(tx, "campaigns", ids)
}

fn names_of(tx: &mut TenantTx, table: &str, ids: &[String]) -> Result<Vec<(String, String)>, DbError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let mut params = Vec::new();
    let list = tx.any_of(&mut params, ids.iter().map(Value::from));
    tx.all(&format!("select id, name from {table} where workspace = ?1 and id in {list}"), &params)
}

row! {
    /// Something that was looked up.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct FoundRow {
        id: String,
        /// What people call it.
        title: Option<String>,
        /// What tells it from others of the same name.
        subtitle: Option<String>,
        /// When it was made, or took place.
        at: Timestamp,
    }
}

/// A table of named things that are few in a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamedTable {
    Agents,
    Campaigns,
    KnowledgeBases,
}

/// The newest [`MOST_NAMED`] of a table that are not deleted, for a comparison of their names. Each table has an index on
/// the workspace and the id.
pub fn named(tx: &mut TenantTx, table: NamedTable) -> Result<Vec<FoundRow>, DbError> {
    const AGENTS: &str = formatcp!(
        "select id, name, channel, created_at from agents where workspace = ?1 and deleted_at is null order by id desc limit {MOST_NAMED}"
    );
    const CAMPAIGNS: &str = formatcp!(
        "select id, name, status, created_at from campaigns where workspace = ?1 and deleted_at is null order by id desc limit {MOST_NAMED}"
    );
    const BASES: &str = formatcp!(
        "select id, name, null, created_at from knowledge_bases where workspace = ?1 and deleted_at is null order by id desc limit {MOST_NAMED}"
    );
    let sql = match table {
        NamedTable::Agents => AGENTS,
        NamedTable::Campaigns => CAMPAIGNS,
        NamedTable::KnowledgeBases => BASES,
    };
    tx.all(sql, &[])
}

/// A noun whose things are found by their id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Findable {
    Call,
    Contact,
    Agent,
    Campaign,
    Nudge,
    ScheduledCall,
    Number,
    Recording,
    KnowledgeBase,
    CampaignRun,
    WebhookEndpoint,
    Delivery,
    Event,
}

/// One thing of the workspace by its id, if these modes show it. The primary key of its table serves it.
pub fn by_id(
    tx: &mut TenantTx,
    noun: Findable,
    modes: &[Mode],
    id: &str,
) -> Result<Option<FoundRow>, DbError> {
    const CALL: &str = "select c.id, (select p.name from contacts p where p.workspace = ?1 and p.id = c.contact), c.status, c.started_at \
        from calls c where c.workspace = ?1 and c.id = ?2 and c.status <> 'queued'";
    const DELIVERY: &str = "select d.id, d.type, d.status, d.created_at from webhook_endpoints e join deliveries d \
        on d.workspace = ?1 and d.endpoint = e.id and d.id = ?2 where e.workspace = ?1";
    let (sql, mode) = match noun {
        Findable::Call => (CALL, Some("c.mode")),
        Findable::Contact => (
            "select id, name, external_ref, created_at from contacts where workspace = ?1 and id = ?2 and erased_at is null",
            Some("mode"),
        ),
        Findable::Agent => (
            "select id, name, channel, created_at from agents where workspace = ?1 and id = ?2 and deleted_at is null",
            None,
        ),
        Findable::Campaign => (
            "select id, name, status, created_at from campaigns where workspace = ?1 and id = ?2 and deleted_at is null",
            None,
        ),
        Findable::Nudge => (
            "select id, external_ref, status, created_at from nudges where workspace = ?1 and id = ?2",
            Some("mode"),
        ),
        Findable::ScheduledCall => (
            "select id, external_ref, status, created_at from scheduled_calls where workspace = ?1 and id = ?2",
            Some("mode"),
        ),
        Findable::Number => {
            ("select id, number, status, created_at from numbers where workspace = ?1 and id = ?2", None)
        }
        Findable::Recording => (
            "select r.id, r.call, r.content_type, r.created_at from recordings r join calls c on c.workspace = ?1 and c.id = r.call \
             where r.workspace = ?1 and r.id = ?2",
            Some("c.mode"),
        ),
        Findable::KnowledgeBase => (
            "select id, name, null, created_at from knowledge_bases where workspace = ?1 and id = ?2 and deleted_at is null",
            None,
        ),
        Findable::CampaignRun => (
            "select id, campaign, status, created_at from campaign_runs where workspace = ?1 and id = ?2",
            None,
        ),
        Findable::WebhookEndpoint => (
            "select id, url, status, created_at from webhook_endpoints where workspace = ?1 and id = ?2 and status <> 'deleted'",
            None,
        ),
        Findable::Delivery => (DELIVERY, Some("d.mode")),
        Findable::Event => {
            ("select id, type, null, created_at from events where workspace = ?1 and id = ?2", Some("mode"))
        }
    };
    let mut params = params![id].to_vec();
    let shown = match mode {
        Some(column) => {
            let list = tx.any_of(&mut params, modes.iter().map(|mode| (*mode).into()));
            format!("{sql} and {column} in {list}")
        }
        None => sql.to_owned(),
    };
    tx.one(&shown, &params)
}
