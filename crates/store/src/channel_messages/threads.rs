//! Threads: all messages between a business number and a person.

use const_format::formatcp;
use domain::ids::{ChannelThread, Contact, Id};
use domain::tenant::Tenant;
use domain::time::Timestamp;

use super::{CACHED_MESSAGE, CACHED_THREAD};
use crate::db::row::row;
use crate::db::{DbError, TenantTx, Value};
use crate::{contacts, params};

row! {
    /// All messages between a business number and a person.
    #[derive(Debug, Clone)]
    pub struct ThreadRow in "channel_threads" {
        id: Id<ChannelThread>,
        /// The provider's id of the business number.
        phone_number_id: String,
        contact: Id<Contact>,
        /// When the person last wrote to this number.
        received_at: Option<Timestamp>,
        /// When anything was last sent or received.
        last_at: Timestamp,
        /// How far the pace of messages to this person is used up, microseconds.
        used: i64,
        created_at: Timestamp,
    }
    insert with { workspace: Tenant }
}

const THREAD: &str = ThreadRow::COLUMNS;

fn thread_between(tenant: Tenant, contact: Id<Contact>, phone_number_id: &str) -> String {
    format!("{CACHED_THREAD}{tenant} {contact} {phone_number_id}")
}

fn thread_named(tenant: Tenant, id: Id<ChannelThread>) -> String {
    format!("{CACHED_THREAD}{tenant} {id}")
}

fn know_thread(tx: &mut TenantTx, row: &ThreadRow) {
    let tenant = tx.tenant();
    tx.cache_row(thread_between(tenant, row.contact, &row.phone_number_id), Some(row.clone()));
    tx.cache_row(thread_named(tenant, row.id), Some(row.clone()));
}

/// Locks and caches the threads between these people and a number with one statement, on PostgreSQL, and who has none.
pub fn lock_threads(
    tx: &mut TenantTx,
    contacts: &[Id<Contact>],
    phone_number_id: &str,
) -> Result<(), DbError> {
    if contacts.is_empty() {
        return Ok(());
    }
    // As for messages at the provider: each is looked for by itself.
    const SQL: &str = formatcp!(
        "select {THREAD} from channel_threads where id in (select found.id from unnest(?3::text[]) as asked (contact) cross join lateral \
         (select id from channel_threads where workspace = ?1 and contact = asked.contact and phone_number_id = ?2 offset 0) found) \
         order by id /*pg for update*/"
    );
    let asked = Value::Many(contacts.iter().map(|id| (*id).into()).collect());
    let rows: Vec<ThreadRow> = tx.all(SQL, &[phone_number_id.into(), asked])?;
    for contact in contacts {
        tx.cache_row(thread_between(tx.tenant(), *contact, phone_number_id), None::<ThreadRow>);
    }
    rows.iter().for_each(|row| know_thread(tx, row));
    Ok(())
}

/// Locks and caches those of these threads that no other transaction has locked, with one statement, for
/// [`thread_by_id`]. Returns which.
pub fn lock_free_threads(
    tx: &mut TenantTx,
    ids: &[Id<ChannelThread>],
) -> Result<Vec<Id<ChannelThread>>, DbError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let mut params = Vec::new();
    let list = tx.any_of(&mut params, ids.iter().map(|id| (*id).into()));
    let sql = format!(
        "select {THREAD} from channel_threads where workspace = ?1 and id in {list} order by id /*pg for update skip locked*/"
    );
    let rows: Vec<ThreadRow> = tx.all(&sql, &params)?;
    rows.iter().for_each(|row| know_thread(tx, row));
    Ok(rows.into_iter().map(|row| row.id).collect())
}

/// The thread of a person and a number, locked until the transaction ends; created if there is none.
pub fn thread_for_update(tx: &mut TenantTx, new: &ThreadRow) -> Result<ThreadRow, DbError> {
    if tx.shared() && tx.has_cached_rows() {
        let known: Option<Option<ThreadRow>> =
            tx.cached(&thread_between(tx.tenant(), new.contact, &new.phone_number_id));
        match known {
            Some(Some(row)) => return Ok(row),
            None if !contacts::is_fresh(tx, new.contact) => {}
            // There is none: if a concurrent transaction creates it, this one is retried.
            Some(None) | None => {
                const NEW: &str = formatcp!(
                    "{} on conflict (workspace, contact, phone_number_id) do nothing",
                    ThreadRow::INSERT
                );
                let otherwise = DbError::Retry("a thread was made a moment ago".into());
                tx.add_new(NEW, &new.values(), otherwise)?;
                know_thread(tx, new);
                return Ok(new.clone());
            }
        }
    }
    const SQL: &str =
        formatcp!("{} on conflict (workspace, contact, phone_number_id) do nothing", ThreadRow::INSERT);
    tx.exec(SQL, &new.values())?;
    let sql = formatcp!(
        "select {THREAD} from channel_threads where workspace = ?1 and contact = ?2 and phone_number_id = ?3 /*pg for update*/"
    );
    let found = tx.one(sql, params![new.contact, &new.phone_number_id])?;
    found.ok_or_else(|| DbError::Retry("a thread went a moment ago".into()))
}

/// The thread of a person and a number.
pub fn thread_of(
    tx: &mut TenantTx,
    contact: Id<Contact>,
    phone_number_id: &str,
) -> Result<Option<ThreadRow>, DbError> {
    if tx.has_cached_rows()
        && let Some(known) = tx.cached(&thread_between(tx.tenant(), contact, phone_number_id))
    {
        return Ok(known);
    }
    let sql = formatcp!(
        "select {THREAD} from channel_threads where workspace = ?1 and contact = ?2 and phone_number_id = ?3"
    );
    tx.one(sql, params![contact, phone_number_id])
}

/// A thread by its id, locked until the transaction ends.
pub fn thread_by_id(tx: &mut TenantTx, id: Id<ChannelThread>) -> Result<Option<ThreadRow>, DbError> {
    if tx.has_cached_rows()
        && let Some(known) = tx.cached(&thread_named(tx.tenant(), id))
    {
        return Ok(known);
    }
    let sql =
        formatcp!("select {THREAD} from channel_threads where workspace = ?1 and id = ?2 /*pg for update*/");
    tx.one(sql, params![id])
}

/// Writes what changes of a thread.
pub fn save_thread(tx: &mut TenantTx, row: &ThreadRow) -> Result<(), DbError> {
    let sql = "update channel_threads set received_at = ?3, last_at = ?4, used = ?5 where workspace = ?1 and id = ?2";
    let otherwise = DbError::Retry("a thread went a moment ago".into());
    tx.change(sql, params![row.id, row.received_at, row.last_at, row.used], otherwise)?;
    if tx.has_cached_rows() {
        know_thread(tx, row);
    }
    Ok(())
}

/// Gives what a person wrote and was sent under one contact to another: the same person has shown the number.
pub fn hand_over(tx: &mut TenantTx, from: Id<Contact>, to: Id<Contact>) -> Result<(), DbError> {
    tx.uncache_all(CACHED_THREAD);
    tx.uncache_all(CACHED_MESSAGE);
    let threads: Vec<ThreadRow> = tx.all(
        formatcp!(
            "select {THREAD} from channel_threads where workspace = ?1 and contact = ?2 /*pg for update*/"
        ),
        params![from],
    )?;
    for thread in threads {
        match thread_of(tx, to, &thread.phone_number_id)? {
            None => tx.exec(
                "update channel_threads set contact = ?3 where workspace = ?1 and id = ?2",
                params![thread.id, to],
            )?,
            Some(other) => {
                let received = other.received_at.max(thread.received_at);
                save_thread(tx, &ThreadRow { received_at: received, ..other.clone() })?;
                tx.exec(
                    "update channel_messages set thread = ?3 where workspace = ?1 and thread = ?2",
                    params![thread.id, other.id],
                )?;
                tx.exec("delete from channel_threads where workspace = ?1 and id = ?2", params![thread.id])?
            }
        };
    }
    tx.exec(
        "update channel_messages set contact = ?3 where workspace = ?1 and contact = ?2",
        params![from, to],
    )?;
    tx.exec("update chats set contact = ?3 where workspace = ?1 and contact = ?2", params![from, to])?;
    Ok(())
}
