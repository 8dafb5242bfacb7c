//! Messages of the messaging channel, their threads, their send rate and their reach.
//!
//! A queued message has a due time (`next_at`). One that is being sent has a lease instead: its sender may store the
//! outcome until the end of the lease, after which it is never sent again (at most once).
//!
//! | file | holds |
//! |---|---|
//! | here | messages: insert, lookup, update |
//! | `threads` | all messages between a number and a person |
//! | `read` | lists of messages |
//! | `send_queues` | numbers with something to send, and messages that are queued or being sent |
//! | `reach` | the number of people to whom an account has written |
//! | `media` | files to fetch, and objects to delete |
//! | `gone` | erasure and deletion of messages |

mod gone;
mod media;
mod reach;
mod read;
mod send_queues;
mod threads;

pub use gone::{erase, made_before, remove};
pub use media::{next_drop, next_media, owe_drop, settle_drop, take_drops, take_media};
pub use reach::{count_reached, first_reached, forget_reached, is_reached, reach, reach_uncounted, reached};
pub use read::{Filter, of_chat, of_contacts, page};
pub use send_queues::{
    SendQueueRow, abandoned, due, due_send_queues, next_lease, next_of_send_queue, next_send_queue,
    reserve_slots, save_send_queue, send_queue_for_update, take_send_queue, waiting, wake_send_queue,
};
pub use threads::{
    ThreadRow, hand_over, lock_free_threads, lock_threads, save_thread, thread_by_id, thread_for_update,
    thread_of,
};

use const_format::formatcp;
use domain::channel::{Direction, MessageStatus, Source, Times};
use domain::ids::{Agent, Campaign, ChannelMessage, ChannelThread, Chat, Contact, Id};
use domain::phone::E164;
use domain::tenant::Tenant;
use domain::time::Timestamp;
use domain::trace::TraceContext;
use serde_json::Value as Json;

use crate::db::row::{row, update};
use crate::db::{DbError, TenantTx, Tx, Value};
use crate::params;

row! {
    #[derive(Debug, Clone)]
    pub struct MessageRow in "channel_messages" {
        id: Id<ChannelMessage>,
        workspace: Tenant,
        thread: Id<ChannelThread>,
        contact: Id<Contact>,
        /// The chat that it belongs to.
        chat: Option<Id<Chat>>,
        /// The agent of the chat or the campaign.
        agent: Option<Id<Agent>>,
        /// The campaign that sends it.
        campaign: Option<Id<Campaign>>,
        /// Inbound or outbound.
        direction: Direction,
        source: Source,
        /// The word of its type.
        kind: String,
        /// What it says in words.
        words: Option<String>,
        /// The message as the channel has it, JSON by `kind`; `None` where that is not kept.
        content: Option<Json>,
        /// The name of its template.
        template_name: Option<String>,
        /// Id, name, language and category of its template.
        template: Option<Json>,
        /// Type and content type of received media.
        media: Option<Json>,
        /// Where the fetched media is.
        media_object: Option<String>,
        /// How large it is.
        media_bytes: Option<i64>,
        /// When it is fetched next.
        media_at: Option<Timestamp>,
        /// How often that was tried.
        media_attempts: i64,
        /// The provider's id of the message that it answers.
        reply_to: Option<String>,
        /// The provider's id of the business number.
        phone_number_id: String,
        business: E164,
        customer: Option<String>,
        /// The customer's id on the channel.
        customer_user_id: Option<String>,
        customer_username: Option<String>,
        /// The provider's id of it.
        provider_id: Option<String>,
        status: MessageStatus,
        /// Why it failed: code, title and detail.
        error: Option<(i64, String, String)> = |error| {
            error_code: Option<i64> = error.as_ref().map(|(code, ..)| *code),
            error_title: Option<String> = error.as_ref().map(|(_, title, _)| title.as_str()),
            error_detail: Option<String> = error.as_ref().map(|(.., detail)| detail.as_str()),
        } => error_code.map(|code| (code, error_title.unwrap_or_default(), error_detail.unwrap_or_default())),
        /// When it reached which status.
        times: Times = |times| {
            sent_at: Option<Timestamp> = times.sent,
            delivered_at: Option<Timestamp> = times.delivered,
            read_at: Option<Timestamp> = times.read,
            failed_at: Option<Timestamp> = times.failed,
        } => Times { sent: sent_at, delivered: delivered_at, read: read_at, failed: failed_at },
        /// 0 before 1: what belongs to a campaign waits for everything else.
        rank: i64,
        /// While it is queued: when it may be sent.
        next_at: Option<Timestamp>,
        /// While it is being sent: until when its outcome may be stored.
        lease_until: Option<Timestamp>,
        /// How often it was handed to the provider.
        attempts: i64,
        /// When it was taken or received.
        created_at: Timestamp,
        updated_at: Timestamp,
        /// The trace context of its request.
        trace: Option<TraceContext>,
    }
}

const MESSAGE: &str = MessageRow::COLUMNS;

/// Key prefixes of cached threads and messages.
const CACHED_THREAD: &str = "thread ";
const CACHED_MESSAGE: &str = "message ";

fn message_named(tenant: Tenant, id: Id<ChannelMessage>) -> String {
    format!("{CACHED_MESSAGE}{tenant} {id}")
}

fn message_at(tenant: Tenant, phone_number_id: &str, provider_id: &str) -> String {
    format!("{CACHED_MESSAGE}{tenant} at {phone_number_id} {provider_id}")
}

/// Adds a message; `false` if there is one with its provider's id. If this transaction has prefetched that there is
/// none, the insert is batched, and the transaction is retried if there is one by then.
pub fn insert(tx: &mut Tx<'_>, row: &MessageRow) -> Result<bool, DbError> {
    const SQL: &str = formatcp!("{} on conflict do nothing", MessageRow::INSERT);
    let Some(provider_id) = &row.provider_id else {
        tx.add(MessageRow::INSERT, &row.values())?;
        return Ok(true);
    };
    let at = message_at(row.workspace, &row.phone_number_id, provider_id);
    if tx.shared() && matches!(tx.cached::<Option<Id<ChannelMessage>>>(&at), Some(None)) {
        let otherwise = DbError::Retry("the same message came a moment ago".into());
        tx.add_new(SQL, &row.values(), otherwise)?;
        know(tx, row);
        return Ok(true);
    }
    Ok(tx.exec(SQL, &row.values())? > 0)
}

fn know(tx: &mut Tx<'_>, row: &MessageRow) {
    if let Some(provider_id) = &row.provider_id {
        tx.cache_row(message_at(row.workspace, &row.phone_number_id, provider_id), Some(row.id));
    }
    tx.cache_row(message_named(row.workspace, row.id), Some(row.clone()));
}

/// Locks and caches these messages with one statement, for [`get_for_update`].
pub fn lock_each(tx: &mut TenantTx, ids: &[Id<ChannelMessage>]) -> Result<Vec<MessageRow>, DbError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let mut params = Vec::new();
    let list = tx.any_of(&mut params, ids.iter().map(|id| (*id).into()));
    let sql = format!(
        "select {MESSAGE} from channel_messages where workspace = ?1 and id in {list} order by id /*pg for update*/"
    );
    let rows: Vec<MessageRow> = tx.all(&sql, &params)?;
    rows.iter().for_each(|row| know(tx, row));
    Ok(rows)
}

/// Locks and caches the messages of a number with these provider ids on PostgreSQL, and which ids have none, for
/// [`at_provider_for_update`].
pub fn lock_each_at_provider(
    tx: &mut TenantTx,
    phone_number_id: &str,
    provider_ids: &[String],
) -> Result<Vec<MessageRow>, DbError> {
    if provider_ids.is_empty() {
        return Ok(Vec::new());
    }
    // With a list of ids the planner may scan all messages of the number, whose count it underestimates while many
    // arrive. So each id is looked up by itself.
    const SQL: &str = formatcp!(
        "select {MESSAGE} from channel_messages where id in (select found.id from unnest(?3::text[]) as asked (id) cross join lateral \
         (select id from channel_messages where workspace = ?1 and phone_number_id = ?2 and provider_id = asked.id offset 0) found) \
         order by id /*pg for update*/"
    );
    let asked = Value::Many(provider_ids.iter().cloned().map(Value::from).collect());
    let rows: Vec<MessageRow> = tx.all(SQL, &[phone_number_id.into(), asked])?;
    for provider_id in provider_ids {
        tx.cache_row(message_at(tx.tenant(), phone_number_id, provider_id), None::<Id<ChannelMessage>>);
    }
    rows.iter().for_each(|row| know(tx, row));
    Ok(rows)
}

/// The cached result of reading a message.
fn cached_message(tx: &TenantTx, id: Id<ChannelMessage>) -> Option<Option<MessageRow>> {
    if tx.has_cached_rows() { tx.cached(&message_named(tx.tenant(), id)) } else { None }
}

pub fn get(tx: &mut TenantTx, id: Id<ChannelMessage>) -> Result<Option<MessageRow>, DbError> {
    if let Some(known) = cached_message(tx, id) {
        return Ok(known);
    }
    let sql = formatcp!("select {MESSAGE} from channel_messages where workspace = ?1 and id = ?2");
    tx.one(sql, params![id])
}

/// Like [`get`], locked until the transaction ends.
pub fn get_for_update(tx: &mut TenantTx, id: Id<ChannelMessage>) -> Result<Option<MessageRow>, DbError> {
    if let Some(known) = cached_message(tx, id) {
        return Ok(known);
    }
    let sql = formatcp!(
        "select {MESSAGE} from channel_messages where workspace = ?1 and id = ?2 /*pg for update*/"
    );
    tx.one(sql, params![id])
}

/// The message of a number with this provider id, locked until the transaction ends.
pub fn at_provider_for_update(
    tx: &mut TenantTx,
    phone_number_id: &str,
    provider_id: &str,
) -> Result<Option<MessageRow>, DbError> {
    if tx.has_cached_rows() {
        match tx.cached::<Option<Id<ChannelMessage>>>(&message_at(tx.tenant(), phone_number_id, provider_id))
        {
            Some(None) => return Ok(None),
            Some(Some(id)) => {
                if let Some(known) = cached_message(tx, id) {
                    return Ok(known);
                }
            }
            None => {}
        }
    }
    let sql = formatcp!(
        "select {MESSAGE} from channel_messages where workspace = ?1 and phone_number_id = ?2 and provider_id = ?3 /*pg for update*/"
    );
    tx.one(sql, params![phone_number_id, provider_id])
}

/// The id of the message of a number with this provider id, without a lock.
pub fn id_at_provider(
    tx: &mut TenantTx,
    phone_number_id: &str,
    provider_id: &str,
) -> Result<Option<Id<ChannelMessage>>, DbError> {
    let sql =
        "select id from channel_messages where workspace = ?1 and phone_number_id = ?2 and provider_id = ?3";
    tx.one(sql, params![phone_number_id, provider_id])
}

/// Saves a message that the caller has locked.
pub fn save(tx: &mut Tx<'_>, row: &MessageRow) -> Result<(), DbError> {
    let (code, title, detail) = match &row.error {
        Some((code, title, detail)) => (Some(*code), Some(title.as_str()), Some(detail.as_str())),
        None => (None, None, None),
    };
    let (sql, values) = update!(
        "channel_messages" set {
            chat: row.chat,
            agent: row.agent,
            words: row.words.as_deref(),
            content: row.content.as_ref(),
            media: row.media.as_ref(),
            media_object: row.media_object.as_deref(),
            media_bytes: row.media_bytes,
            media_at: row.media_at,
            media_attempts: row.media_attempts,
            customer: row.customer.as_deref(),
            customer_user_id: row.customer_user_id.as_deref(),
            customer_username: row.customer_username.as_deref(),
            provider_id: row.provider_id.as_deref(),
            status: row.status,
            error_code: code,
            error_title: title,
            error_detail: detail,
            sent_at: row.times.sent,
            delivered_at: row.times.delivered,
            read_at: row.times.read,
            failed_at: row.times.failed,
            next_at: row.next_at,
            lease_until: row.lease_until,
            attempts: row.attempts,
            updated_at: row.updated_at,
        }
        where "workspace = ?1 and id = ?2", row.workspace, row.id
    );
    let otherwise = DbError::Retry("a message went a moment ago".into());
    tx.change(sql, &values, otherwise)?;
    if tx.has_cached_rows() {
        know(tx, row);
    }
    Ok(())
}

/// Says to which chat a message belongs.
pub fn set_chat(
    tx: &mut TenantTx,
    id: Id<ChannelMessage>,
    chat: Id<Chat>,
    agent: Id<Agent>,
) -> Result<(), DbError> {
    let sql = "update channel_messages set chat = ?3, agent = ?4 where workspace = ?1 and id = ?2";
    let otherwise = DbError::Retry("a message went a moment ago".into());
    tx.change(sql, params![id, chat, agent], otherwise)?;
    if let Some(Some(row)) = cached_message(tx, id) {
        know(tx, &MessageRow { chat: Some(chat), agent: Some(agent), ..row });
    }
    Ok(())
}
