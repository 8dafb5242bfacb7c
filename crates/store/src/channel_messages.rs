//! Messages of the messaging channel, their threads, and how fast and to how many people they go out.
//!
//! A message that is queued has a moment (`next_at`). One that is being sent has a lease instead: who sends it may
//! store its outcome until then, and afterwards nobody sends it again.

use const_format::formatcp;
use domain::channel::{Direction, MessageStatus, Source, Times};
use domain::ids::{Agent, Campaign, ChannelMessage, ChannelThread, Chat, Contact, Id};
use domain::phone::E164;
use domain::tenant::Tenant;
use domain::time::Timestamp;
use serde_json::Value as Json;

use crate::db::row::{row, update};
use crate::db::{Counter, DbError, Fold, Tx, Value, any_of};
use crate::{contacts, params};

row! {
    /// All messages between a business number and a person.
    #[derive(Debug, Clone)]
    pub struct ThreadRow in "channel_threads" {
        /// Its id.
        id: Id<ChannelThread>,
        /// The provider's id of the business number.
        phone_number_id: String,
        /// The person.
        contact: Id<Contact>,
        /// When the person last wrote to this number.
        received_at: Option<Timestamp>,
        /// When anything was last sent or received.
        last_at: Timestamp,
        /// How far the pace of messages to this person is used up, microseconds.
        used: i64,
        /// When it began.
        created_at: Timestamp,
    }
    insert with { workspace: Tenant }
}

row! {
    /// A message as stored.
    #[derive(Debug, Clone)]
    pub struct MessageRow in "channel_messages" {
        /// Its id.
        id: Id<ChannelMessage>,
        /// Whose it is.
        workspace: Tenant,
        /// Its thread.
        thread: Id<ChannelThread>,
        /// The person.
        contact: Id<Contact>,
        /// The chat that it belongs to.
        chat: Option<Id<Chat>>,
        /// The agent of the chat or the campaign.
        agent: Option<Id<Agent>>,
        /// The campaign that sends it.
        campaign: Option<Id<Campaign>>,
        /// Which way it goes.
        direction: Direction,
        /// Who sent it.
        source: Source,
        /// The word of its type.
        kind: String,
        /// What it says in words.
        words: Option<String>,
        /// What is sent, or what came.
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
        /// The business number.
        business: E164,
        /// The customer's number.
        customer: Option<String>,
        /// The customer's id on the channel.
        customer_user_id: Option<String>,
        /// The customer's @username.
        customer_username: Option<String>,
        /// The provider's id of it.
        provider_id: Option<String>,
        /// Where it stands.
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
        /// When it last changed.
        updated_at: Timestamp,
    }
}

const THREAD: &str = ThreadRow::COLUMNS;
const MESSAGE: &str = MessageRow::COLUMNS;

/// Under which names this transaction knows threads and messages that were read for many.
const KNOWN_THREAD: &str = "thread ";
const KNOWN_MESSAGE: &str = "message ";

fn thread_between(tenant: Tenant, contact: Id<Contact>, phone_number_id: &str) -> String {
    format!("{KNOWN_THREAD}{tenant} {contact} {phone_number_id}")
}

fn thread_named(tenant: Tenant, id: Id<ChannelThread>) -> String {
    format!("{KNOWN_THREAD}{tenant} {id}")
}

fn know_thread(tx: &mut Tx<'_>, tenant: Tenant, row: &ThreadRow) {
    tx.hold(thread_between(tenant, row.contact, &row.phone_number_id), Some(row.clone()));
    tx.hold(thread_named(tenant, row.id), Some(row.clone()));
}

fn message_named(tenant: Tenant, id: Id<ChannelMessage>) -> String {
    format!("{KNOWN_MESSAGE}{tenant} {id}")
}

fn message_at(tenant: Tenant, phone_number_id: &str, provider_id: &str) -> String {
    format!("{KNOWN_MESSAGE}{tenant} at {phone_number_id} {provider_id}")
}

/// Holds the threads of these people and a number against other writers, with one statement: who asks for the thread of
/// one of them knows it until the transaction ends, and that there is none.
pub fn hold_threads(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    contacts: &[Id<Contact>],
    phone_number_id: &str,
) -> Result<(), DbError> {
    if contacts.is_empty() {
        return Ok(());
    }
    let mut params = params![tenant, phone_number_id].to_vec();
    let list = any_of(&mut params, contacts.iter().map(|id| (*id).into()));
    let sql = format!(
        "select {THREAD} from channel_threads where workspace = ?1 and phone_number_id = ?2 and contact in {list} \
         order by id /*pg for update*/"
    );
    let rows: Vec<ThreadRow> = tx.all(&sql, &params)?;
    for contact in contacts {
        tx.hold(thread_between(tenant, *contact, phone_number_id), None::<ThreadRow>);
    }
    rows.iter().for_each(|row| know_thread(tx, tenant, row));
    Ok(())
}

/// Holds those of these threads that nobody else holds, with one statement, and says which. [`thread_by_id`] knows them
/// until the transaction ends.
pub fn hold_free_threads(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    ids: &[Id<ChannelThread>],
) -> Result<Vec<Id<ChannelThread>>, DbError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let mut params = params![tenant].to_vec();
    let list = any_of(&mut params, ids.iter().map(|id| (*id).into()));
    let sql = format!(
        "select {THREAD} from channel_threads where workspace = ?1 and id in {list} order by id /*pg for update skip locked*/"
    );
    let rows: Vec<ThreadRow> = tx.all(&sql, &params)?;
    rows.iter().for_each(|row| know_thread(tx, tenant, row));
    Ok(rows.into_iter().map(|row| row.id).collect())
}

/// The thread of a person and a number, held against other writers until the transaction ends; made if there is
/// none.
pub fn thread_for_update(tx: &mut Tx<'_>, tenant: Tenant, new: &ThreadRow) -> Result<ThreadRow, DbError> {
    if tx.shared() && tx.knows_any() {
        let known: Option<Option<ThreadRow>> =
            tx.known(&thread_between(tenant, new.contact, &new.phone_number_id));
        match known {
            Some(Some(row)) => return Ok(row),
            None if !contacts::is_fresh(tx, new.contact) => {}
            // There is none: one that somebody else makes meanwhile lets the transaction run again.
            Some(None) | None => {
                const NEW: &str = formatcp!(
                    "{} on conflict (workspace, contact, phone_number_id) do nothing",
                    ThreadRow::INSERT
                );
                let otherwise = DbError::Retry("a thread was made a moment ago".into());
                tx.add_new(NEW, &new.values(tenant), otherwise)?;
                know_thread(tx, tenant, new);
                return Ok(new.clone());
            }
        }
    }
    const SQL: &str =
        formatcp!("{} on conflict (workspace, contact, phone_number_id) do nothing", ThreadRow::INSERT);
    tx.exec(SQL, &new.values(tenant))?;
    let sql = formatcp!(
        "select {THREAD} from channel_threads where workspace = ?1 and contact = ?2 and phone_number_id = ?3 /*pg for update*/"
    );
    let found = tx.one(sql, params![tenant, new.contact, &new.phone_number_id])?;
    found.ok_or_else(|| DbError::Retry("a thread went a moment ago".into()))
}

/// The thread of a person and a number.
pub fn thread_of(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    contact: Id<Contact>,
    phone_number_id: &str,
) -> Result<Option<ThreadRow>, DbError> {
    if tx.knows_any()
        && let Some(known) = tx.known(&thread_between(tenant, contact, phone_number_id))
    {
        return Ok(known);
    }
    let sql = formatcp!(
        "select {THREAD} from channel_threads where workspace = ?1 and contact = ?2 and phone_number_id = ?3"
    );
    tx.one(sql, params![tenant, contact, phone_number_id])
}

/// A thread by its id, held against other writers until the transaction ends.
pub fn thread_by_id(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    id: Id<ChannelThread>,
) -> Result<Option<ThreadRow>, DbError> {
    if tx.knows_any()
        && let Some(known) = tx.known(&thread_named(tenant, id))
    {
        return Ok(known);
    }
    let sql =
        formatcp!("select {THREAD} from channel_threads where workspace = ?1 and id = ?2 /*pg for update*/");
    tx.one(sql, params![tenant, id])
}

/// Writes what changes of a thread.
pub fn save_thread(tx: &mut Tx<'_>, tenant: Tenant, row: &ThreadRow) -> Result<(), DbError> {
    let sql = "update channel_threads set received_at = ?3, last_at = ?4, used = ?5 where workspace = ?1 and id = ?2";
    let otherwise = DbError::Retry("a thread went a moment ago".into());
    tx.change(sql, params![tenant, row.id, row.received_at, row.last_at, row.used], otherwise)?;
    if tx.knows_any() {
        know_thread(tx, tenant, row);
    }
    Ok(())
}

/// Adds a message; `false` when one with its provider's id is there. One that is the first with its id, as this
/// transaction has seen, travels with others; if there is another one by then, the transaction runs again.
pub fn insert(tx: &mut Tx<'_>, row: &MessageRow) -> Result<bool, DbError> {
    const SQL: &str = formatcp!("{} on conflict do nothing", MessageRow::INSERT);
    let Some(provider_id) = &row.provider_id else {
        tx.add(MessageRow::INSERT, &row.values())?;
        return Ok(true);
    };
    let at = message_at(row.workspace, &row.phone_number_id, provider_id);
    if tx.shared() && matches!(tx.known::<Option<Id<ChannelMessage>>>(&at), Some(None)) {
        let otherwise = DbError::Retry("the same message came a moment ago".into());
        tx.add_new(SQL, &row.values(), otherwise)?;
        know(tx, row);
        return Ok(true);
    }
    Ok(tx.exec(SQL, &row.values())? > 0)
}

fn know(tx: &mut Tx<'_>, row: &MessageRow) {
    if let Some(provider_id) = &row.provider_id {
        tx.hold(message_at(row.workspace, &row.phone_number_id, provider_id), Some(row.id));
    }
    tx.hold(message_named(row.workspace, row.id), Some(row.clone()));
}

/// Holds these messages against other writers, with one statement: [`get_for_update`] knows them until the transaction
/// ends.
pub fn hold_each(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    ids: &[Id<ChannelMessage>],
) -> Result<Vec<MessageRow>, DbError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let mut params = params![tenant].to_vec();
    let list = any_of(&mut params, ids.iter().map(|id| (*id).into()));
    let sql = format!(
        "select {MESSAGE} from channel_messages where workspace = ?1 and id in {list} order by id /*pg for update*/"
    );
    let rows: Vec<MessageRow> = tx.all(&sql, &params)?;
    rows.iter().for_each(|row| know(tx, row));
    Ok(rows)
}

/// Holds the messages of a number with these ids at the provider against other writers, with one statement:
/// [`at_provider_for_update`] knows them until the transaction ends, and which there are not.
pub fn hold_each_at_provider(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    phone_number_id: &str,
    provider_ids: &[String],
) -> Result<Vec<MessageRow>, DbError> {
    if provider_ids.is_empty() {
        return Ok(Vec::new());
    }
    let mut params = params![tenant, phone_number_id].to_vec();
    let list = any_of(&mut params, provider_ids.iter().map(Value::from));
    let sql = format!(
        "select {MESSAGE} from channel_messages where workspace = ?1 and phone_number_id = ?2 and provider_id in {list} \
         order by id /*pg for update*/"
    );
    let rows: Vec<MessageRow> = tx.all(&sql, &params)?;
    for provider_id in provider_ids {
        tx.hold(message_at(tenant, phone_number_id, provider_id), None::<Id<ChannelMessage>>);
    }
    rows.iter().for_each(|row| know(tx, row));
    Ok(rows)
}

/// A message that this transaction knows.
fn known_message(tx: &Tx<'_>, tenant: Tenant, id: Id<ChannelMessage>) -> Option<Option<MessageRow>> {
    if tx.knows_any() { tx.known(&message_named(tenant, id)) } else { None }
}

/// One message.
pub fn get(tx: &mut Tx<'_>, tenant: Tenant, id: Id<ChannelMessage>) -> Result<Option<MessageRow>, DbError> {
    if let Some(known) = known_message(tx, tenant, id) {
        return Ok(known);
    }
    let sql = formatcp!("select {MESSAGE} from channel_messages where workspace = ?1 and id = ?2");
    tx.one(sql, params![tenant, id])
}

/// The same, held against other writers until the transaction ends.
pub fn get_for_update(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    id: Id<ChannelMessage>,
) -> Result<Option<MessageRow>, DbError> {
    if let Some(known) = known_message(tx, tenant, id) {
        return Ok(known);
    }
    let sql = formatcp!(
        "select {MESSAGE} from channel_messages where workspace = ?1 and id = ?2 /*pg for update*/"
    );
    tx.one(sql, params![tenant, id])
}

/// The message of a number with this id at the provider, held against other writers until the transaction ends.
pub fn at_provider_for_update(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    phone_number_id: &str,
    provider_id: &str,
) -> Result<Option<MessageRow>, DbError> {
    if tx.knows_any() {
        match tx.known::<Option<Id<ChannelMessage>>>(&message_at(tenant, phone_number_id, provider_id)) {
            Some(None) => return Ok(None),
            Some(Some(id)) => {
                if let Some(known) = known_message(tx, tenant, id) {
                    return Ok(known);
                }
            }
            None => {}
        }
    }
    let sql = formatcp!(
        "select {MESSAGE} from channel_messages where workspace = ?1 and phone_number_id = ?2 and provider_id = ?3 /*pg for update*/"
    );
    tx.one(sql, params![tenant, phone_number_id, provider_id])
}

/// What a list of messages is narrowed down to.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Of this person.
    pub contact: Option<Id<Contact>>,
    /// Of this chat.
    pub chat: Option<Id<Chat>>,
    /// Sent with a template of this name.
    pub template_name: Option<String>,
    /// Going this way.
    pub direction: Option<Direction>,
    /// With this status.
    pub status: Option<MessageStatus>,
    /// Of this number, by the provider's id.
    pub phone_number_id: Option<String>,
}

/// A page of messages, newest first, older than `before`.
pub fn page(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    filter: &Filter,
    before: Option<&str>,
    most: i64,
) -> Result<Vec<MessageRow>, DbError> {
    let mut sql = format!("select {MESSAGE} from channel_messages where workspace = ?1 and id < ?2");
    let mut params: Vec<Value<'_>> = vec![tenant.into(), before.unwrap_or("~").into()];
    let mut narrow = |column: &str, value: Option<Value<'static>>| {
        if let Some(value) = value {
            params.push(value);
            sql.push_str(&format!(" and {column} = ?{}", params.len()));
        }
    };
    narrow("contact", filter.contact.map(|id| id.into()));
    narrow("chat", filter.chat.map(|id| id.into()));
    narrow("template_name", filter.template_name.clone().map(Value::from));
    narrow("direction", filter.direction.map(|word| word.as_str().into()));
    narrow("status", filter.status.map(|word| word.as_str().into()));
    narrow("phone_number_id", filter.phone_number_id.clone().map(Value::from));
    params.push(most.into());
    sql.push_str(&format!(" order by id desc limit ?{}", params.len()));
    tx.all(&sql, &params)
}

/// The messages of a chat, oldest first, after `after`.
pub fn of_chat(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    chat: Id<Chat>,
    after: Option<Id<ChannelMessage>>,
    most: i64,
) -> Result<Vec<MessageRow>, DbError> {
    let sql = formatcp!(
        "select {MESSAGE} from channel_messages where workspace = ?1 and chat = ?2 and id > ?3 order by id limit ?4"
    );
    let after = after.map_or_else(String::new, |id| id.to_string());
    tx.all(sql, params![tenant, chat, after, most])
}

/// Writes what changes of a message that the caller holds.
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
    if tx.knows_any() {
        know(tx, row);
    }
    Ok(())
}

/// Says to which chat a message belongs.
pub fn set_chat(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    id: Id<ChannelMessage>,
    chat: Id<Chat>,
    agent: Id<Agent>,
) -> Result<(), DbError> {
    let sql = "update channel_messages set chat = ?3, agent = ?4 where workspace = ?1 and id = ?2";
    let otherwise = DbError::Retry("a message went a moment ago".into());
    tx.change(sql, params![tenant, id, chat, agent], otherwise)?;
    if let Some(Some(row)) = known_message(tx, tenant, id) {
        know(tx, &MessageRow { chat: Some(chat), agent: Some(agent), ..row });
    }
    Ok(())
}

row! {
    /// A number that has something to send.
    #[derive(Debug, Clone)]
    pub struct LineRow in "channel_lines" {
        /// Whose it is.
        workspace: Tenant,
        /// The provider's id of the number.
        phone_number_id: String,
        /// How far its pace is used up, microseconds.
        used: i64,
        /// When the next of its messages may go.
        next_at: Option<Timestamp>,
    }
}

const LINE: &str = LineRow::COLUMNS;

/// The line of a number, held against other writers until the transaction ends; made if there is none.
pub fn line_for_update(tx: &mut Tx<'_>, tenant: Tenant, phone_number_id: &str) -> Result<LineRow, DbError> {
    let sql = formatcp!(
        "select {LINE} from channel_lines where workspace = ?1 and phone_number_id = ?2 /*pg for update*/"
    );
    if let Some(line) = tx.one(sql, params![tenant, phone_number_id])? {
        return Ok(line);
    }
    const INSERT: &str = formatcp!("{} on conflict do nothing", LineRow::INSERT);
    let new =
        LineRow { workspace: tenant, phone_number_id: phone_number_id.to_owned(), used: 0, next_at: None };
    tx.exec(INSERT, &new.values())?;
    Ok(tx.one(sql, params![tenant, phone_number_id])?.unwrap_or(new))
}

/// Reserves up to `wanted` slots of a number, `gap` microseconds apart, none of them beyond `latest`: the place before
/// the first of them, and that of the last. None when the number has no line. One statement.
pub fn reserve_slots(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    phone_number_id: &str,
    now: i64,
    gap: i64,
    wanted: i64,
    latest: i64,
) -> Result<Option<(i64, i64)>, DbError> {
    let sql = "with line as (
            select greatest(used, ?3::bigint) as used from channel_lines
            where workspace = ?1 and phone_number_id = ?2 for update
        )
        update channel_lines set used = line.used
            + ?4::bigint * least(?5::bigint, greatest((?6::bigint - line.used) / ?4::bigint, 0))
        from line where workspace = ?1 and phone_number_id = ?2 returning line.used, channel_lines.used";
    tx.one(sql, params![tenant, phone_number_id, now, gap, wanted, latest])
}

/// Writes how far a line has got.
pub fn save_line(tx: &mut Tx<'_>, row: &LineRow) -> Result<(), DbError> {
    let sql =
        "update channel_lines set used = ?3, next_at = ?4 where workspace = ?1 and phone_number_id = ?2";
    tx.later(sql, params![row.workspace, &row.phone_number_id, row.used, row.next_at])
}

/// Says that a number has something to send at a moment, unless it has something earlier. It is a counter of the
/// transaction ([`Tx::count`]).
pub fn wake_line(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    phone_number_id: &str,
    at: Timestamp,
) -> Result<(), DbError> {
    let sql = "insert into channel_lines (workspace, phone_number_id, used, next_at) values (?1, ?2, 0, ?3)
        on conflict (workspace, phone_number_id) do update set next_at = excluded.next_at
        where channel_lines.next_at is null or channel_lines.next_at > excluded.next_at";
    tx.tally(
        Counter::Line(tenant.bits(), place_of(phone_number_id)),
        sql,
        &[Fold::Same, Fold::Same, Fold::Least],
        params![tenant, phone_number_id, at],
        None,
    )
}

/// The place of a number among the counters of a transaction (FNV-1a).
fn place_of(phone_number_id: &str) -> u64 {
    phone_number_id
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Across workspaces: numbers that have something to send by `until`, longest waiting first.
pub fn due_lines(tx: &mut Tx<'_>, until: Timestamp, most: i64) -> Result<Vec<(Tenant, String)>, DbError> {
    let sql =
        "select workspace, phone_number_id from channel_lines where next_at <= ?1 order by next_at limit ?2";
    tx.all(sql, params![until, most])
}

/// Across workspaces: when the next number has something to send.
pub fn next_line(tx: &mut Tx<'_>) -> Result<Option<Timestamp>, DbError> {
    let next: Option<Option<Timestamp>> =
        tx.one("select min(next_at) from channel_lines where next_at is not null", params![])?;
    Ok(next.flatten())
}

/// The line of a number, held until the transaction ends, unless another node holds it.
pub fn take_line(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    phone_number_id: &str,
    until: Timestamp,
) -> Result<Option<LineRow>, DbError> {
    let sql = formatcp!(
        "select {LINE} from channel_lines where workspace = ?1 and phone_number_id = ?2 and next_at <= ?3 /*pg for update skip locked*/"
    );
    tx.one(sql, params![tenant, phone_number_id, until])
}

/// Messages of a number and a rank that may go by `until`, longest waiting first, held until the transaction ends.
pub fn due(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    phone_number_id: &str,
    rank: i64,
    until: Timestamp,
    most: i64,
) -> Result<Vec<MessageRow>, DbError> {
    let sql = formatcp!(
        "select {MESSAGE} from channel_messages where workspace = ?1 and phone_number_id = ?2 and rank = ?3 and next_at <= ?4
        order by next_at, id limit ?5 /*pg for update skip locked*/"
    );
    tx.all(sql, params![tenant, phone_number_id, rank, until, most])
}

/// When the next message of a number may go.
pub fn next_of_line(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    phone_number_id: &str,
) -> Result<Option<Timestamp>, DbError> {
    // One look into the index for each rank.
    let sql = "select min(next_at) from channel_messages
        where workspace = ?1 and phone_number_id = ?2 and rank = ?3 and next_at is not null";
    let first: Option<Option<Timestamp>> = tx.one(sql, params![tenant, phone_number_id, 0])?;
    let second: Option<Option<Timestamp>> = tx.one(sql, params![tenant, phone_number_id, 1])?;
    Ok(match (first.flatten(), second.flatten()) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    })
}

/// How many messages of a workspace wait to be sent, those of campaigns apart.
pub fn waiting(tx: &mut Tx<'_>, tenant: Tenant) -> Result<i64, DbError> {
    let sql =
        "select count(*) from channel_messages where workspace = ?1 and rank = 0 and next_at is not null";
    Ok(tx.one(sql, params![tenant])?.unwrap_or(0))
}

/// Across workspaces: messages whose sender has not stored an outcome in its time.
pub fn abandoned(
    tx: &mut Tx<'_>,
    now: Timestamp,
    most: i64,
) -> Result<Vec<(Tenant, Id<ChannelMessage>)>, DbError> {
    let sql =
        "select workspace, id from channel_messages where lease_until <= ?1 order by lease_until limit ?2";
    tx.all(sql, params![now, most])
}

/// Across workspaces: when the next lease ends.
pub fn next_lease(tx: &mut Tx<'_>) -> Result<Option<Timestamp>, DbError> {
    let next: Option<Option<Timestamp>> =
        tx.one("select min(lease_until) from channel_messages where lease_until is not null", params![])?;
    Ok(next.flatten())
}

/// How many people an account has reached since `after`, after those before it were forgotten. The count is held
/// until the transaction ends.
pub fn reached(tx: &mut Tx<'_>, tenant: Tenant, account: &str, after: Timestamp) -> Result<i64, DbError> {
    tx.later(
        "insert into channel_reach (workspace, account, people) values (?1, ?2, -1) on conflict do nothing",
        params![tenant, account],
    )?;
    let sql = "select people from channel_reach where workspace = ?1 and account = ?2 /*pg for update*/";
    let people: i64 = tx.one(sql, params![tenant, account])?.unwrap_or(-1);
    let forget = "delete from channel_reached where workspace = ?1 and account = ?2 and at <= ?3";
    let gone = i64::try_from(tx.exec(forget, params![tenant, account, after])?).unwrap_or(0);
    // Nobody counted while the account had no limit.
    let now = if people < 0 {
        let sql = "select count(*) from channel_reached where workspace = ?1 and account = ?2";
        tx.one(sql, params![tenant, account])?.unwrap_or(0)
    } else {
        people - gone
    };
    if now != people {
        let sql = "update channel_reach set people = ?3 where workspace = ?1 and account = ?2";
        tx.later(sql, params![tenant, account, now])?;
    }
    Ok(now)
}

/// Whether an account has reached a person; [`reached`] comes before it.
pub fn is_reached(tx: &mut Tx<'_>, tenant: Tenant, account: &str, person: &str) -> Result<bool, DbError> {
    let sql = "select 1 from channel_reached where workspace = ?1 and account = ?2 and person = ?3";
    tx.exists(sql, params![tenant, account, person])
}

const REACH: &str = "insert into channel_reached (workspace, account, person, at) values (?1, ?2, ?3, ?4)
        on conflict (workspace, account, person) do update set at = excluded.at";

/// Notes that an account reaches a person now; [`reached`] comes before it.
pub fn reach(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    account: &str,
    person: &str,
    is_new: bool,
    now: Timestamp,
) -> Result<(), DbError> {
    tx.later(REACH, params![tenant, account, person, now])?;
    if is_new {
        let sql = "update channel_reach set people = people + 1 where workspace = ?1 and account = ?2";
        tx.later(sql, params![tenant, account])?;
    }
    Ok(())
}

/// The same for an account without a limit, whose messages need not wait for each other: nobody counts, and the
/// people are counted again once there is a limit.
pub fn reach_uncounted(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    account: &str,
    person: &str,
    now: Timestamp,
) -> Result<(), DbError> {
    if tx.shared() {
        // One statement notes many people, none of them twice.
        let noted = format!("reached {tenant} {account} {person}");
        if tx.known::<()>(&noted).is_some() {
            return Ok(());
        }
        tx.hold(noted, ());
        tx.add(REACH, params![tenant, account, person, now])?;
        let uncounted = format!("uncounted {tenant} {account}");
        if tx.known::<()>(&uncounted).is_some() {
            return Ok(());
        }
        tx.hold(uncounted, ());
    } else {
        tx.later(REACH, params![tenant, account, person, now])?;
    }
    let sql = "update channel_reach set people = -1 where workspace = ?1 and account = ?2 and people >= 0";
    tx.later(sql, params![tenant, account])
}

/// Across workspaces: forgets people whom accounts without a limit reached before a moment; how many.
pub fn forget_reached(tx: &mut Tx<'_>, before: Timestamp, most: i64) -> Result<u64, DbError> {
    let sql = "delete from channel_reached where (workspace, account, person) in (
            select d.workspace, d.account, d.person from channel_connections c
            join channel_reached d on d.workspace = c.workspace and d.account = c.id
            where d.at <= ?1 and not exists (
                select 1 from channel_reach r
                where r.workspace = c.workspace and r.account = c.id and r.people >= 0
            ) limit ?2)";
    tx.exec(sql, params![before, most])
}

/// When the first of the people whom an account has reached is forgotten again.
pub fn first_reached(tx: &mut Tx<'_>, tenant: Tenant, account: &str) -> Result<Option<Timestamp>, DbError> {
    let sql = "select min(at) from channel_reached where workspace = ?1 and account = ?2";
    let first: Option<Option<Timestamp>> = tx.one(sql, params![tenant, account])?;
    Ok(first.flatten())
}

/// Across workspaces: takes messages whose media is to be fetched, and puts them off until `again`.
pub fn take_media(
    tx: &mut Tx<'_>,
    now: Timestamp,
    again: Timestamp,
    most: i64,
) -> Result<Vec<MessageRow>, DbError> {
    tx.forget_all(KNOWN_MESSAGE);
    let sql = formatcp!(
        "update channel_messages set media_at = ?2, media_attempts = media_attempts + 1 where id in (
            select id from channel_messages where media_at <= ?1 order by media_at limit ?3 /*pg for update skip locked*/
        ) returning {MESSAGE}"
    );
    tx.all(sql, params![now, again, most])
}

/// Across workspaces: when the next media is to be fetched.
pub fn next_media(tx: &mut Tx<'_>) -> Result<Option<Timestamp>, DbError> {
    let next: Option<Option<Timestamp>> =
        tx.one("select min(media_at) from channel_messages where media_at is not null", params![])?;
    Ok(next.flatten())
}

/// Messages of some people, oldest first, after `after`.
pub fn of_contacts(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    contacts: &[Id<Contact>],
    after: &str,
    most: i64,
) -> Result<Vec<MessageRow>, DbError> {
    let mut params = vec![tenant.into(), after.into(), most.into()];
    let list = any_of(&mut params, contacts.iter().map(|id| (*id).into()));
    let sql = format!(
        "select {MESSAGE} from channel_messages where workspace = ?1 and id > ?2 and contact in {list} order by id limit ?3"
    );
    tx.all(&sql, &params)
}

/// Empties a message: what it says, whom it went to, and its media; the provider's ids hold numbers, too.
pub fn erase(tx: &mut Tx<'_>, tenant: Tenant, id: Id<ChannelMessage>, now: Timestamp) -> Result<(), DbError> {
    tx.forget_all(KNOWN_MESSAGE);
    let sql = "update channel_messages set words = null, content = null, media = null, media_object = null, media_bytes = null,
            media_at = null, customer = null, customer_user_id = null, customer_username = null, reply_to = null,
            provider_id = null,
            error_detail = case when error_code is null then null else '' end,
            status = 'deleted', next_at = null, lease_until = null, updated_at = ?3
        where workspace = ?1 and id = ?2";
    tx.later(sql, params![tenant, id, now])
}

/// Across workspaces: messages that are over and older than a moment.
pub fn made_before(
    tx: &mut Tx<'_>,
    before: Timestamp,
    most: i64,
) -> Result<Vec<(Tenant, Id<ChannelMessage>, Option<String>)>, DbError> {
    let sql = "select workspace, id, media_object from channel_messages
        where created_at < ?1 and next_at is null and lease_until is null order by created_at limit ?2";
    tx.all(sql, params![before, most])
}

/// Removes a message.
pub fn remove(tx: &mut Tx<'_>, tenant: Tenant, id: Id<ChannelMessage>) -> Result<(), DbError> {
    tx.forget_all(KNOWN_MESSAGE);
    tx.later("delete from channel_messages where workspace = ?1 and id = ?2", params![tenant, id])
}

/// Gives what a person wrote and was sent under one contact to another: the same person has shown the number.
pub fn hand_over(tx: &mut Tx<'_>, tenant: Tenant, from: Id<Contact>, to: Id<Contact>) -> Result<(), DbError> {
    tx.forget_all(KNOWN_THREAD);
    tx.forget_all(KNOWN_MESSAGE);
    let threads: Vec<ThreadRow> = tx.all(
        formatcp!(
            "select {THREAD} from channel_threads where workspace = ?1 and contact = ?2 /*pg for update*/"
        ),
        params![tenant, from],
    )?;
    for thread in threads {
        match thread_of(tx, tenant, to, &thread.phone_number_id)? {
            None => tx.exec(
                "update channel_threads set contact = ?3 where workspace = ?1 and id = ?2",
                params![tenant, thread.id, to],
            )?,
            Some(other) => {
                let received = other.received_at.max(thread.received_at);
                save_thread(tx, tenant, &ThreadRow { received_at: received, ..other.clone() })?;
                tx.exec(
                    "update channel_messages set thread = ?3 where workspace = ?1 and thread = ?2",
                    params![tenant, thread.id, other.id],
                )?;
                tx.exec(
                    "delete from channel_threads where workspace = ?1 and id = ?2",
                    params![tenant, thread.id],
                )?
            }
        };
    }
    tx.exec(
        "update channel_messages set contact = ?3 where workspace = ?1 and contact = ?2",
        params![tenant, from, to],
    )?;
    tx.exec(
        "update chats set contact = ?3 where workspace = ?1 and contact = ?2",
        params![tenant, from, to],
    )?;
    Ok(())
}

/// Notes that an object has to go.
pub fn owe_drop(tx: &mut Tx<'_>, tenant: Tenant, object: &str, now: Timestamp) -> Result<(), DbError> {
    let sql = "insert into channel_media_drops (object, workspace, attempts, next_at) values (?2, ?1, 0, ?3)
        on conflict (object) do nothing";
    tx.later(sql, params![tenant, object, now])
}

/// Across workspaces: takes objects that are due to be dropped, and puts them off until `again`.
pub fn take_drops(
    tx: &mut Tx<'_>,
    now: Timestamp,
    again: Timestamp,
    most: i64,
) -> Result<Vec<(Tenant, String)>, DbError> {
    let sql = "update channel_media_drops set next_at = ?2, attempts = attempts + 1 where object in (
            select object from channel_media_drops where next_at <= ?1 order by next_at limit ?3 /*pg for update skip locked*/
        ) returning workspace, object";
    tx.all(sql, params![now, again, most])
}

/// An object is gone.
pub fn settle_drop(tx: &mut Tx<'_>, tenant: Tenant, object: &str) -> Result<(), DbError> {
    tx.later("delete from channel_media_drops where workspace = ?1 and object = ?2", params![tenant, object])
}

/// Across workspaces: when the next object is dropped.
pub fn next_drop(tx: &mut Tx<'_>) -> Result<Option<Timestamp>, DbError> {
    let next: Option<Option<Timestamp>> =
        tx.one("select min(next_at) from channel_media_drops", params![])?;
    Ok(next.flatten())
}

/// How many people an account has reached since `after`; nothing is changed.
pub fn count_reached(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    account: &str,
    after: Timestamp,
) -> Result<i64, DbError> {
    let sql = "select people - (select count(*) from channel_reached where workspace = ?1 and account = ?2 and at <= ?3)
        from channel_reach where workspace = ?1 and account = ?2 and people >= 0";
    if let Some(people) = tx.one(sql, params![tenant, account, after])? {
        return Ok(people);
    }
    let sql = "select count(*) from channel_reached where workspace = ?1 and account = ?2 and at > ?3";
    Ok(tx.one(sql, params![tenant, account, after])?.unwrap_or(0))
}
