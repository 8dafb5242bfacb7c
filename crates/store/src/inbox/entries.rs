//! Chats of all channels as the inbox lists them.

use const_format::formatcp;
use domain::chat::inbox::View;
use domain::chat::{Channel, EndCause, Role, State};
use domain::ids::{Agent, Chat, Contact, Id, User};
use domain::time::Timestamp;

use crate::db::row::row;
use crate::db::{DbError, TenantTx};
use crate::params;

row! {
    /// A chat in a list of the inbox: what the list shows of `chats`.
    #[derive(Debug, Clone)]
    pub struct EntryRow {
        id: Id<Chat>,
        agent: Id<Agent>,
        channel: Channel,
        contact: Option<Id<Contact>>,
        external_ref: Option<String>,
        state: State,
        end_cause: Option<EndCause>,
        messages: i64,
        customer_messages: i64,
        teammate: Option<Id<User>>,
        taken_at: Option<Timestamp>,
        handoff_reason: Option<String>,
        handoff_at: Option<Timestamp>,
        human_at: Option<Timestamp>,
        created_at: Timestamp,
        last_at: Timestamp,
        ended_at: Option<Timestamp>,
    }
}

row! {
    /// The newest message of a chat.
    #[derive(Debug, Clone)]
    pub struct LastMessage {
        chat: Id<Chat>,
        role: Role,
        /// Its first characters.
        text: String,
        at: Timestamp,
    }
}

/// The position of a chat in a view: the time by which the view is sorted, where it is sorted by one, and its id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position {
    pub at: Timestamp,
    pub id: String,
}

const COLUMNS: &str = EntryRow::COLUMNS;

/// One chat that is no test chat.
pub fn entry(tx: &mut TenantTx, id: Id<Chat>) -> Result<Option<EntryRow>, DbError> {
    tx.one(
        formatcp!("select {COLUMNS} from chats where workspace = ?1 and id = ?2 and test_link is null"),
        params![id],
    )
}

/// Chats of a view behind a position, in the order of the view; no test chats. Waiting ones, longest waiting first, are read from the
/// index `chats_waiting`, a member's from `chats_held` and open ones from `chats_open`, newest first, ended ones from
/// `chats_ended`, last ended first.
pub fn entries(
    tx: &mut TenantTx,
    view: View,
    member: Option<Id<User>>,
    after: Option<&Position>,
    limit: i64,
) -> Result<Vec<EntryRow>, DbError> {
    const WAITING: &str = formatcp!(
        "select {COLUMNS} from chats where workspace = ?1 and state = 'awaiting_human' and test_link is null \
         and (handoff_at, id) > (?2, ?3) \
         order by handoff_at, id limit ?4"
    );
    const MINE: &str = formatcp!(
        "select {COLUMNS} from chats where workspace = ?1 and state = 'human' and teammate = ?4 and test_link is null and id < ?2 \
         order by id desc limit ?3"
    );
    const OPEN: &str = formatcp!(
        "select {COLUMNS} from chats where workspace = ?1 and ended_at is null and test_link is null and id < ?2 \
         order by id desc limit ?3"
    );
    const ENDED: &str = formatcp!(
        "select {COLUMNS} from chats where workspace = ?1 and ended_at is not null and test_link is null \
         and (ended_at, id) < (?2, ?3) \
         order by ended_at desc, id desc limit ?4"
    );
    let id = after.map(|position| position.id.as_str());
    let at = after.map(|position| position.at);
    let last = id.unwrap_or("chatsess_~");
    match view {
        View::Waiting => {
            tx.all(WAITING, params![at.unwrap_or(Timestamp(i64::MIN)), id.unwrap_or_default(), limit])
        }
        View::Mine => match member {
            Some(member) => tx.all(MINE, params![last, limit, member]),
            None => Ok(Vec::new()),
        },
        View::Open => tx.all(OPEN, params![last, limit]),
        View::Ended => tx.all(ENDED, params![at.unwrap_or(Timestamp(i64::MAX)), last, limit]),
    }
}

/// How many chats are in a view, up to `most`; counted in the index of the view (see [`entries`]). The order is there for the
/// index: without one PostgreSQL may walk the chats of all workspaces until it has found as many of this one.
pub fn count(tx: &mut TenantTx, view: View, member: Option<Id<User>>, most: i64) -> Result<i64, DbError> {
    let (of, parameters) = match (view, member) {
        (View::Waiting, _) => ("state = 'awaiting_human' order by handoff_at, id", params![most].to_vec()),
        (View::Mine, Some(member)) => {
            ("state = 'human' and teammate = ?3 order by id desc", params![most, member].to_vec())
        }
        (View::Mine, None) => return Ok(0),
        (View::Open, _) => ("ended_at is null order by id desc", params![most].to_vec()),
        (View::Ended, _) => ("ended_at is not null order by ended_at desc, id desc", params![most].to_vec()),
    };
    let sql = format!(
        "select count(*) from (select 1 as one from chats where workspace = ?1 and test_link is null and {of} limit ?2) as counted"
    );
    Ok(tx.one(&sql, &parameters)?.unwrap_or(0))
}

/// The newest messages of chats, each with up to `characters` of its text.
pub fn last_messages(
    tx: &mut TenantTx,
    chats: &[Id<Chat>],
    characters: i64,
) -> Result<Vec<LastMessage>, DbError> {
    let mut values = params![characters].to_vec();
    let ids = tx.any_of(&mut values, chats.iter().map(|id| (*id).into()));
    let sql = format!(
        "select m.chat, m.role, substr(m.words, 1, cast(?2 as integer)), m.at from chats c join chat_messages m \
         on m.workspace = ?1 and m.chat = c.id and m.seq = c.messages where c.workspace = ?1 and c.id in {ids}"
    );
    tx.all(&sql, &values)
}

/// When the customers of these chats last wrote to the business number, for chats on the messaging channel.
pub fn windows(tx: &mut TenantTx, chats: &[Id<Chat>]) -> Result<Vec<(Id<Chat>, Timestamp)>, DbError> {
    let mut values = Vec::new();
    let ids = tx.any_of(&mut values, chats.iter().map(|id| (*id).into()));
    let sql = format!(
        "select c.chat, t.received_at from channel_chats c join channel_threads t on t.workspace = ?1 and t.id = c.thread \
         where c.workspace = ?1 and c.chat in {ids} and t.received_at is not null"
    );
    tx.all(&sql, &values)
}

/// How many of the customer's messages a member has read in these chats.
pub fn marks(
    tx: &mut TenantTx,
    member: Id<User>,
    chats: &[Id<Chat>],
) -> Result<Vec<(Id<Chat>, i64)>, DbError> {
    let mut values = params![member].to_vec();
    let ids = tx.any_of(&mut values, chats.iter().map(|id| (*id).into()));
    let sql = format!(
        "select chat, customer_messages from chat_marks where workspace = ?1 and member = ?2 and chat in {ids}"
    );
    tx.all(&sql, &values)
}

/// A member has read a chat up to a message; an earlier one changes nothing.
pub fn set_mark(tx: &mut TenantTx, member: Id<User>, chat: Id<Chat>, seen: i64) -> Result<(), DbError> {
    tx.later(
        "insert into chat_marks (workspace, member, chat, seen, customer_messages) select ?1, ?2, ?3, cast(?4 as bigint), \
         (select count(*) from chat_messages m where m.workspace = ?1 and m.chat = ?3 and m.seq <= ?4 and m.role = 'user') \
         where true on conflict (member, chat) do update set seen = excluded.seen, \
         customer_messages = excluded.customer_messages where chat_marks.workspace = ?1 and chat_marks.seen < excluded.seen",
        params![member, chat, seen],
    )
}

/// The names of these agents, of deleted ones, too.
pub fn agent_names(tx: &mut TenantTx, agents: &[Id<Agent>]) -> Result<Vec<(Id<Agent>, String)>, DbError> {
    let mut values = Vec::new();
    let ids = tx.any_of(&mut values, agents.iter().map(|id| (*id).into()));
    tx.all(&format!("select id, name from agents where workspace = ?1 and id in {ids}"), &values)
}
