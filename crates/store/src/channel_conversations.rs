//! What chats on the messaging channel have beside other chats, and the labels of chats.

use const_format::formatcp;
use domain::channel::Source;
use domain::chat::{EndCause, Origin};
use domain::ids::{
    Agent, Call, ChannelMessage, ChannelNumber, ChannelThread, Chat, ChatLabel, Contact, Id, ListRow,
};
use domain::tenant::Tenant;
use domain::time::Timestamp;
use serde_json::{Map, Value as Json};

use crate::chats::ChatRow;
use crate::db::row::{row, update};
use crate::db::{DbError, TenantTx, Tx, Value};
use crate::{contacts, params};

row! {
    /// The channel's part of a chat.
    #[derive(Debug, Clone)]
    pub struct ChannelChatRow in "channel_chats" {
        chat: Id<Chat>,
        workspace: Tenant,
        number: Id<ChannelNumber>,
        /// The provider's id of it.
        phone_number_id: String,
        /// The business number, E.164.
        business: String,
        /// All messages between the number and the customer.
        thread: Option<Id<ChannelThread>>,
        contact: Id<Contact>,
        /// The customer's number, E.164.
        phone: Option<String>,
        /// The customer's id on the channel.
        user_id: Option<String>,
        /// The customer's name on the channel, without the `@`.
        username: Option<String>,
        name: Option<String>,
        origin: Origin,
        /// The call that it follows.
        linked_call: Option<Id<Call>>,
        /// The ad or post that started it, JSON.
        ad_referral: Option<Json>,
        /// Whether it is assigned to a helpdesk.
        helpdesk: bool,
        /// The name that the helpdesk gave.
        helpdesk_name: Option<String>,
        /// For the agent only.
        background: Option<String>,
        /// Values of the flow's variables.
        variables: Map<String, Json>,
        /// The message with which it was started.
        opening: Option<Id<ChannelMessage>>,
        /// The row of a campaign's list whose message the customer answers.
        list_row: Option<Id<ListRow>>,
        /// Whether it is open.
        open: bool,
    }
}

row! {
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct LabelRow in "chat_labels" {
        id: Id<ChatLabel>,
        name: String,
        color: String,
    }
    insert with { workspace: Tenant }
}

const COLUMNS: &str = ChannelChatRow::COLUMNS;

/// Which chats a list shows.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    pub agent: Option<Id<Agent>>,
    /// On this business number.
    pub phone_number_id: Option<String>,
    pub contact: Option<Id<Contact>>,
    /// With this number or id on the channel.
    pub customer: Option<String>,
    /// Open ones, or ended ones.
    pub open: Option<bool>,
    pub end_cause: Option<EndCause>,
    pub origin: Option<Origin>,
    /// Begun at or after.
    pub after: Option<Timestamp>,
    pub before: Option<Timestamp>,
}

/// Adds the channel's part of a chat; the transaction is retried if the person has an open chat on the number.
pub fn insert(tx: &mut Tx<'_>, row: &ChannelChatRow) -> Result<(), DbError> {
    tx.uncache_all(CACHED);
    tx.cache_row(opened(row.contact), ());
    const SQL: &str = formatcp!("{} on conflict do nothing", ChannelChatRow::INSERT);
    if tx.exec(SQL, &row.values())? == 0 {
        return Err(DbError::Retry("a chat with this person was opened a moment ago".into()));
    }
    Ok(())
}

/// The channel's part of a chat.
pub fn get(tx: &mut TenantTx, chat: Id<Chat>) -> Result<Option<ChannelChatRow>, DbError> {
    tx.one(formatcp!("select {COLUMNS} from channel_chats where workspace = ?1 and chat = ?2"), params![chat])
}

/// Those of several chats.
pub fn of_chats(tx: &mut TenantTx, chats: &[Id<Chat>]) -> Result<Vec<ChannelChatRow>, DbError> {
    let mut values = Vec::new();
    let ids = tx.any_of(&mut values, chats.iter().map(|id| (*id).into()));
    tx.all(&format!("select {COLUMNS} from channel_chats where workspace = ?1 and chat in {ids}"), &values)
}

/// Saves the channel's part of a chat that the caller has locked.
pub fn save(tx: &mut Tx<'_>, row: &ChannelChatRow) -> Result<(), DbError> {
    tx.uncache_all(CACHED);
    let (sql, values) = update!(
        "channel_chats" set {
            thread: row.thread,
            phone: row.phone.as_deref(),
            user_id: row.user_id.as_deref(),
            username: row.username.as_deref(),
            name: row.name.as_deref(),
            helpdesk: row.helpdesk,
            helpdesk_name: row.helpdesk_name.as_deref(),
            background: row.background.as_deref(),
            variables: &row.variables,
            ad_referral: row.ad_referral.as_ref(),
            opening: row.opening,
            open: row.open,
        }
        where "workspace = ?1 and chat = ?2", row.workspace, row.chat
    );
    tx.later(sql, &values)
}

/// Says that a chat is over.
pub fn close(tx: &mut TenantTx, chat: Id<Chat>) -> Result<(), DbError> {
    tx.uncache_all(CACHED);
    tx.later(
        "update channel_chats set open = 0, helpdesk = 0 where workspace = ?1 and chat = ?2",
        params![chat],
    )
}

/// Key prefix of cached open chats.
const CACHED: &str = "open chat ";
/// Key prefix of people with whom this transaction has opened a chat.
const OPENED: &str = "chat opened ";

fn open_with(tenant: Tenant, number: Id<ChannelNumber>, contact: Id<Contact>) -> String {
    format!("{CACHED}{tenant} {number} {contact}")
}

fn opened(contact: Id<Contact>) -> String {
    format!("{OPENED}{contact}")
}

/// Reads and caches the open chats with these people on a number, and who has none, with one statement.
pub fn prefetch(
    tx: &mut TenantTx,
    number: Id<ChannelNumber>,
    contacts: &[Id<Contact>],
) -> Result<(), DbError> {
    let tenant = tx.tenant();
    if contacts.is_empty() {
        return Ok(());
    }
    let mut params = params![number].to_vec();
    let list = tx.any_of(&mut params, contacts.iter().map(|id| (*id).into()));
    let sql = format!(
        "select contact, chat from channel_chats where workspace = ?1 and number = ?2 and contact in {list} and open = 1"
    );
    let rows: Vec<(Id<Contact>, Id<Chat>)> = tx.all(&sql, &params)?;
    for contact in contacts {
        tx.cache_row(open_with(tenant, number, *contact), None::<Id<Chat>>);
    }
    for (contact, chat) in rows {
        tx.cache_row(open_with(tenant, number, contact), Some(chat));
    }
    Ok(())
}

/// The open chat with a person on a number.
pub fn open_chat(
    tx: &mut TenantTx,
    number: Id<ChannelNumber>,
    contact: Id<Contact>,
) -> Result<Option<Id<Chat>>, DbError> {
    if tx.has_cached_rows()
        && let Some(known) = tx.cached(&open_with(tx.tenant(), number, contact))
    {
        return Ok(known);
    }
    // Only this transaction can have a chat with a contact that it has created.
    if contacts::is_fresh(tx, contact) && tx.cached::<()>(&opened(contact)).is_none() {
        return Ok(None);
    }
    tx.one(
        "select chat from channel_chats where workspace = ?1 and number = ?2 and contact = ?3 and open = 1",
        params![number, contact],
    )
}

/// Open chats with a person, on any number.
pub fn open_chats_of(tx: &mut TenantTx, contact: Id<Contact>) -> Result<Vec<Id<Chat>>, DbError> {
    tx.all(
        "select chat from channel_chats where workspace = ?1 and contact = ?2 and open = 1 order by chat",
        params![contact],
    )
}

/// The chat that was started with a message.
pub fn chat_of_opening(tx: &mut TenantTx, message: Id<ChannelMessage>) -> Result<Option<Id<Chat>>, DbError> {
    tx.one("select chat from channel_chats where workspace = ?1 and opening = ?2", params![message])
}

/// Records the position of a channel message in a chat; `false` if it is recorded.
pub fn note_message(
    tx: &mut TenantTx,
    message: Id<ChannelMessage>,
    chat: Id<Chat>,
    seq: i64,
) -> Result<bool, DbError> {
    let sql = "insert into channel_chat_messages (workspace, message, chat, seq) values (?1, ?2, ?3, ?4) on conflict do nothing";
    Ok(tx.exec(sql, params![message, chat, seq])? > 0)
}

/// The position of a channel message in a chat.
pub fn place_of(tx: &mut TenantTx, message: Id<ChannelMessage>) -> Result<Option<(Id<Chat>, i64)>, DbError> {
    let sql = "select chat, seq from channel_chat_messages where workspace = ?1 and message = ?2";
    tx.one(sql, params![message])
}

/// Puts another text in the place of what the customer wrote, in the message at this place of a chat.
pub fn rewrite(tx: &mut TenantTx, chat: Id<Chat>, seq: i64, text: &str) -> Result<(), DbError> {
    let sql = "update channel_messages set words = ?4, content = null where workspace = ?1 and direction = 'inbound' and id = \
        (select message from channel_chat_messages where workspace = ?1 and chat = ?2 and seq = ?3)";
    tx.later(sql, params![chat, seq, text])
}

/// The messages of a chat that the channel did not deliver, by their places in it.
pub fn failed_in(tx: &mut TenantTx, chat: Id<Chat>) -> Result<Vec<i64>, DbError> {
    let sql = "select c.seq from channel_chat_messages c join channel_messages m on m.workspace = c.workspace and m.id = c.message
        where c.workspace = ?1 and c.chat = ?2 and m.status = 'failed' order by c.seq";
    tx.all(sql, params![chat])
}

/// Whether a file of a chat beside that of `message` is still being fetched.
pub fn fetches_other(
    tx: &mut TenantTx,
    chat: Id<Chat>,
    message: Id<ChannelMessage>,
) -> Result<bool, DbError> {
    let sql = "select m.id from channel_chat_messages c join channel_messages m on m.workspace = c.workspace and m.id = c.message
        where c.workspace = ?1 and c.chat = ?2 and c.message <> ?3 and m.media_at is not null limit 1";
    Ok(tx.one::<Id<ChannelMessage>>(sql, params![chat, message])?.is_some())
}

/// Stored images and documents of limited size that the customer has sent after message `seq` of a chat: their objects
/// with sizes in bytes, oldest first.
pub fn files_since(
    tx: &mut TenantTx,
    chat: Id<Chat>,
    seq: i64,
    most: i64,
) -> Result<Vec<(String, i64)>, DbError> {
    /// More than a document has parts, so that files of other types among them leave room.
    const FILES: i64 = 8;
    let sql = "select m.media_object, m.media_bytes from channel_chat_messages c
        join channel_messages m on m.workspace = c.workspace and m.id = c.message
        where c.workspace = ?1 and c.chat = ?2 and c.seq > ?3 and m.direction = 'inbound' and m.kind in ('image', 'document')
        and m.media_object is not null and m.media_bytes <= ?4 order by c.seq limit ?5";
    tx.all(sql, params![chat, seq, most, FILES])
}

/// Locks the thread of a chat until the transaction ends. The lock order is thread, then chat.
pub fn lock_thread(tx: &mut TenantTx, chat: Id<Chat>) -> Result<(), DbError> {
    const SQL: &str = "select id from channel_threads where workspace = ?1 and id = (select thread from channel_chats where workspace = ?1 and chat = ?2) /*pg for update*/";
    tx.one::<Id<ChannelThread>>(SQL, params![chat])?;
    Ok(())
}

/// Writes down that a message was sent during a call.
pub fn note_call(
    tx: &mut TenantTx,
    message: Id<ChannelMessage>,
    call: Id<Call>,
    contact: Id<Contact>,
) -> Result<(), DbError> {
    tx.later(
        "insert into channel_call_messages (workspace, message, call, contact) values (?1, ?2, ?3, ?4) on conflict do nothing",
        params![message, call, contact],
    )
}

/// The call during which a message was sent.
pub fn call_of(tx: &mut TenantTx, message: Id<ChannelMessage>) -> Result<Option<Id<Call>>, DbError> {
    tx.one("select call from channel_call_messages where workspace = ?1 and message = ?2", params![message])
}

/// The last message to a person from a number since a timestamp: its id, its sender, and its text.
pub fn last_sent(
    tx: &mut TenantTx,
    contact: Id<Contact>,
    phone_number_id: &str,
    since: Timestamp,
) -> Result<Option<(Id<ChannelMessage>, Source, Option<String>)>, DbError> {
    tx.one(
        "select id, source, words from channel_messages where workspace = ?1 and contact = ?2 and phone_number_id = ?3 \
         and direction = 'outbound' and status <> 'failed' and source <> 'system' and created_at >= ?4 order by id desc limit 1",
        params![contact, phone_number_id, since],
    )
}

/// Chats of the channel, newest first, older than `below`.
pub fn list(
    tx: &mut TenantTx,
    filter: &Filter,
    below: Option<&str>,
    limit: i64,
) -> Result<Vec<ChatRow>, DbError> {
    let mut values: Vec<Value<'_>> = vec![below.unwrap_or("chatsess_~").into(), limit.into()];
    let conditions: [(&str, Option<Value<'_>>); 8] = [
        ("chats.agent =", filter.agent.map(Value::from)),
        ("c.phone_number_id =", filter.phone_number_id.as_deref().map(Value::from)),
        ("c.contact =", filter.contact.map(Value::from)),
        ("chats.end_cause =", filter.end_cause.map(Value::from)),
        ("c.origin =", filter.origin.map(Value::from)),
        ("c.open =", filter.open.map(Value::from)),
        ("chats.created_at >=", filter.after.map(Value::from)),
        ("chats.created_at <", filter.before.map(Value::from)),
    ];
    let mut wanted = String::new();
    for (condition, value) in conditions {
        if let Some(value) = value {
            values.push(value);
            wanted.push_str(&format!(" and {condition} ?{}", values.len() + 1));
        }
    }
    if let Some(customer) = &filter.customer {
        values.push(customer.as_str().into());
        let place = values.len() + 1;
        wanted.push_str(&format!(" and (c.phone = ?{place} or c.user_id = ?{place})"));
    }
    let columns: Vec<String> =
        ChatRow::COLUMNS.split(',').map(|column| format!("chats.{}", column.trim())).collect();
    let sql = format!(
        "select {} from channel_chats c join chats on chats.id = c.chat where c.workspace = ?1 and chats.workspace = ?1 \
         and c.chat < ?2{wanted} order by c.chat desc limit ?3",
        columns.join(", ")
    );
    tx.all(&sql, &values)
}

/// The columns of these people on the boards of these agents and campaigns: owner, contact, column key.
pub fn board_columns(
    tx: &mut TenantTx,
    owners: &[String],
    contacts: &[Id<Contact>],
) -> Result<Vec<(String, Id<Contact>, String)>, DbError> {
    let mut values = Vec::new();
    let owners = tx.any_of(&mut values, owners.iter().map(|id| id.as_str().into()));
    let people = tx.any_of(&mut values, contacts.iter().map(|id| (*id).into()));
    let sql = format!(
        "select b.owner, k.contact, c.slug from boards b join board_cards k on k.board = b.id join board_columns c on c.id = k.column_id \
         where b.workspace = ?1 and k.workspace = ?1 and b.owner in {owners} and k.contact in {people}"
    );
    tx.all(&sql, &values)
}

/// Gives the chats of one contact to another: the same person has shown the number. One that is open on a number on
/// which the other has an open one, too, stays where it is and ends by itself.
pub fn hand_over(tx: &mut TenantTx, from: Id<Contact>, to: Id<Contact>) -> Result<(), DbError> {
    tx.uncache_all(CACHED);
    tx.exec(
        "update channel_chats set contact = ?3 where workspace = ?1 and contact = ?2 and (open = 0 or not exists \
         (select 1 from channel_chats c where c.workspace = ?1 and c.number = channel_chats.number and c.contact = ?3 and c.open = 1))",
        params![from, to],
    )?;
    tx.exec(
        "update chats set contact = ?3, version = version + 1 where workspace = ?1 and contact = ?2 and exists \
         (select 1 from channel_chats c where c.workspace = ?1 and c.chat = chats.id and c.contact = ?3)",
        params![from, to],
    )?;
    Ok(())
}

/// Takes out of the channel's parts of a person's chats what says who that is; how many chats there are.
pub fn erase(tx: &mut TenantTx, contact: Id<Contact>) -> Result<u64, DbError> {
    tx.exec("delete from channel_call_messages where workspace = ?1 and contact = ?2", params![contact])?;
    tx.exec(
        "update channel_chats set phone = null, user_id = null, username = null, name = null, ad_referral = null, \
         background = null, variables = '{}', helpdesk_name = null where workspace = ?1 and contact = ?2",
        params![contact],
    )
}

/// Across workspaces: deletes the channel's parts of deleted chats.
pub fn sweep(tx: &mut Tx<'_>) -> Result<(), DbError> {
    for table in ["channel_chats", "channel_chat_messages", "chat_label_uses"] {
        tx.exec(
            &format!(
                "delete from {table} where not exists (select 1 from chats where chats.id = {table}.chat)"
            ),
            &[],
        )?;
    }
    Ok(())
}

/// Adds a label; `false` when there is one with the name.
pub fn insert_label(tx: &mut TenantTx, row: &LabelRow) -> Result<bool, DbError> {
    const SQL: &str = formatcp!("{} on conflict do nothing", LabelRow::INSERT);
    Ok(tx.exec(SQL, &row.values())? > 0)
}

/// The labels of a workspace.
pub fn labels(tx: &mut TenantTx) -> Result<Vec<LabelRow>, DbError> {
    const SQL: &str =
        formatcp!("select {} from chat_labels where workspace = ?1 order by id", LabelRow::COLUMNS);
    tx.all(SQL, &[])
}

/// Removes a label from the workspace and from its chats; `false` when there is none.
pub fn delete_label(tx: &mut TenantTx, id: Id<ChatLabel>) -> Result<bool, DbError> {
    tx.later("delete from chat_label_uses where workspace = ?1 and label = ?2", params![id])?;
    Ok(tx.exec("delete from chat_labels where workspace = ?1 and id = ?2", params![id])? > 0)
}

/// Replaces the labels of a chat.
pub fn set_labels(tx: &mut TenantTx, chat: Id<Chat>, labels: &[Id<ChatLabel>]) -> Result<(), DbError> {
    tx.later("delete from chat_label_uses where workspace = ?1 and chat = ?2", params![chat])?;
    for label in labels {
        tx.later(
            "insert into chat_label_uses (workspace, chat, label) values (?1, ?2, ?3) on conflict do nothing",
            params![chat, *label],
        )?;
    }
    Ok(())
}

/// The labels of several chats.
pub fn labels_of(
    tx: &mut TenantTx,
    chats: &[Id<Chat>],
) -> Result<Vec<(Id<Chat>, Id<ChatLabel>, String, String)>, DbError> {
    let mut values = Vec::new();
    let ids = tx.any_of(&mut values, chats.iter().map(|id| (*id).into()));
    let sql = format!(
        "select u.chat, l.id, l.name, l.color from chat_label_uses u join chat_labels l on l.id = u.label \
         where u.workspace = ?1 and l.workspace = ?1 and u.chat in {ids} order by l.name"
    );
    tx.all(&sql, &values)
}
