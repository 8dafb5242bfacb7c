//! Chats: their messages, the state of their conversations, and the opening hours of their agents.
//!
//! A chat is changed by the owner of its row lock. A reply in progress belongs to one attempt of one turn: only that
//! attempt may store it.

use const_format::formatcp;
use domain::chat::{Channel, EndCause, Reading, Role, State, TurnKind};
use domain::ids::{Agent, Chat, Contact, Id, TestLink, User};
use domain::tenant::Tenant;
use domain::time::Timestamp;
use serde_json::{Map, Value as Json};

use crate::claims::Claimed;
use crate::db::row::{row, update};
use crate::db::{DbError, ROWS, TenantTx, Tx};
use crate::{evaluations, params};

row! {
    #[derive(Debug, Clone)]
    pub struct ChatRow in "chats" {
        id: Id<Chat>,
        workspace: Tenant,
        agent: Id<Agent>,
        /// What carries its words.
        channel: Channel,
        /// The contact who writes, if known.
        contact: Option<Id<Contact>>,
        /// The workspace's own name of the customer.
        external_ref: Option<String>,
        /// Metadata of the request that started it.
        metadata: Map<String, Json>,
        state: State,
        end_cause: Option<EndCause>,
        outcome: Option<String>,
        /// What the flow has captured, once it is over.
        extracted: Option<Json>,
        /// The flow that it runs.
        flow: String,
        language: String,
        /// Whether what must not be kept is taken out of its messages.
        redact: bool,
        /// Whether the next message of the customer answers a secret question.
        awaits_secret: bool,
        /// Messages so far: the number of the newest one.
        messages: i64,
        customer_messages: i64,
        /// Characters of all messages.
        characters: i64,
        /// The newest message that the state of the conversation contains.
        heard: i64,
        /// The amount that is reserved of the wallet for it.
        price: i64,
        turn: i64,
        /// What the reply that is being written answers.
        turn_kind: Option<TurnKind>,
        /// How often that was tried.
        turn_attempt: i64,
        /// The node that writes it.
        turn_node: Option<String>,
        /// The end of that node's lease.
        turn_until: Option<Timestamp>,
        /// Replies that failed, in a row.
        failures: i64,
        /// Replies that failed, in all.
        failed_replies: i64,
        /// Key and holder of the request that waits for the reply.
        once: Option<(String, String)> = |once| {
            once_key: Option<String> = once.as_ref().map(|(key, _)| key.as_str()),
            once_holder: Option<String> = once.as_ref().map(|(_, holder)| holder.as_str()),
        } => once_key.zip(once_holder),
        /// The teammate who has it.
        teammate: Option<Id<User>>,
        /// The newest message when it was taken over.
        taken_from: Option<i64>,
        /// When the person who has it got it.
        taken_at: Option<Timestamp>,
        /// Whether round robin gave it to its teammate, who has not written yet.
        unattended: bool,
        /// When a person who had it last wrote in it.
        human_at: Option<Timestamp>,
        /// The newest message when a human handed it back to the agent; 0 if none has.
        given_back: i64,
        /// Why it was handed to a person.
        handoff_reason: Option<String>,
        handoff_at: Option<Timestamp>,
        /// When it was opened.
        created_at: Timestamp,
        /// When the last message was written.
        last_at: Timestamp,
        ended_at: Option<Timestamp>,
        /// When it is looked at next.
        next_at: Option<Timestamp>,
        /// The cause with which it is to end.
        wish: Option<EndCause>,
        /// How far its analysis has got.
        analysis: Option<Reading>,
        /// How often that was tried.
        analysis_attempts: i64,
        /// When the next try is due.
        analysis_at: Option<Timestamp>,
        /// What it was about.
        summary: Option<String>,
        /// How the customer felt.
        sentiment: Option<String>,
        /// When the agent begins its reply to what has come in on the messaging channel.
        reply_at: Option<Timestamp>,
        /// When the first message without a reply of the agent arrived.
        unanswered_at: Option<Timestamp>,
        /// Grows with every save.
        version: i64,
        /// The version of the flow that it runs; `None` of one from before versions were kept, and of a draft.
        flow_version: Option<i64>,
        /// The test link through which it was opened: a test chat.
        test_link: Option<Id<TestLink>>,
    }
}

const COLUMNS: &str = ChatRow::COLUMNS;

row! {
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct MessageRow in "chat_messages" {
        /// Its number in the chat, from 1.
        seq: i64,
        role: Role,
        text: String as "words",
        /// The teammate who wrote it.
        author: Option<Id<User>>,
        /// The name of the person who wrote it at a helpdesk.
        agent_name: Option<String>,
        at: Timestamp,
        /// The language in which the conversation goes on because of it, if that changed.
        language: Option<String>,
    }
    insert with { workspace: Tenant, chat: Id<Chat> }
}

row! {
    /// The state of a conversation between two messages.
    #[derive(Debug, Clone, Default)]
    pub struct StateRow {
        /// Its state, JSON; none before the opening.
        conversation: Option<String>,
        /// How far the reply has got that is being written, JSON.
        progress: Option<String>,
    }
}

row! {
    /// The hours in which an agent accepts new chats.
    #[derive(Debug, Clone)]
    pub struct HoursRow in "agent_hours" {
        agent: Id<Agent>,
        /// IANA name of the zone.
        timezone: String,
        /// A list of `{days, from, to}`.
        hours: Json,
    }
    insert with { workspace: Tenant }
}

/// Adds a chat whose conversation has not begun.
pub fn insert(tx: &mut Tx<'_>, row: &ChatRow) -> Result<(), DbError> {
    tx.later(ChatRow::INSERT, &row.values())?;
    tx.later("insert into chat_states (chat, workspace) values (?1, ?2)", params![row.id, row.workspace])
}

pub fn get(tx: &mut TenantTx, id: Id<Chat>) -> Result<Option<ChatRow>, DbError> {
    tx.one(formatcp!("select {COLUMNS} from chats where workspace = ?1 and id = ?2"), params![id])
}

/// One chat, locked until the transaction ends.
pub fn get_for_update(tx: &mut TenantTx, id: Id<Chat>) -> Result<Option<ChatRow>, DbError> {
    tx.one(
        formatcp!("select {COLUMNS} from chats where workspace = ?1 and id = ?2 /*pg for update*/"),
        params![id],
    )
}

/// Saves everything of a chat that changes, and counts the change. Returns whether it was as it is in `row`.
pub fn save(tx: &mut Tx<'_>, row: &ChatRow) -> Result<bool, DbError> {
    let (sql, values) = update!(
        "chats" set {
            contact: row.contact,
            external_ref: row.external_ref.as_deref(),
            metadata: &row.metadata,
            state: row.state,
            end_cause: row.end_cause,
            outcome: row.outcome.as_deref(),
            extracted: row.extracted.as_ref(),
            language: &row.language,
            messages: row.messages,
            customer_messages: row.customer_messages,
            characters: row.characters,
            heard: row.heard,
            awaits_secret: row.awaits_secret,
            turn: row.turn,
            turn_kind: row.turn_kind,
            turn_attempt: row.turn_attempt,
            turn_node: row.turn_node.as_deref(),
            turn_until: row.turn_until,
            failures: row.failures,
            failed_replies: row.failed_replies,
            once_key: row.once.as_ref().map(|(key, _)| key.as_str()),
            once_holder: row.once.as_ref().map(|(_, holder)| holder.as_str()),
            teammate: row.teammate,
            taken_from: row.taken_from,
            taken_at: row.taken_at,
            unattended: row.unattended,
            human_at: row.human_at,
            given_back: row.given_back,
            handoff_reason: row.handoff_reason.as_deref(),
            handoff_at: row.handoff_at,
            last_at: row.last_at,
            ended_at: row.ended_at,
            next_at: row.next_at,
            wish: row.wish,
            analysis: row.analysis,
            analysis_attempts: row.analysis_attempts,
            analysis_at: row.analysis_at,
            summary: row.summary.as_deref(),
            sentiment: row.sentiment.as_deref(),
            reply_at: row.reply_at,
            unanswered_at: row.unanswered_at,
        }
        and "version = version + 1, claimed_until = null"
        where "workspace = ?1 and id = ?2 and version = ?3", row.workspace, row.id, row.version
    );
    Ok(tx.exec(sql, &values)? > 0)
}

/// Sets the reservation and the flow of a chat whose opening was deferred while it waited for humans. The caller has
/// locked the row.
pub fn admit(tx: &mut Tx<'_>, row: &ChatRow) -> Result<(), DbError> {
    tx.later(
        "update chats set price = ?3, flow = ?4, language = ?5, redact = ?6, flow_version = ?7 where workspace = ?1 and id = ?2",
        params![
            row.workspace,
            row.id,
            row.price,
            row.flow.as_str(),
            row.language.as_str(),
            row.redact,
            row.flow_version
        ],
    )
}

/// The state of a chat's conversation.
pub fn state(tx: &mut TenantTx, id: Id<Chat>) -> Result<StateRow, DbError> {
    const SQL: &str =
        formatcp!("select {} from chat_states where workspace = ?1 and chat = ?2", StateRow::COLUMNS);
    Ok(tx.one(SQL, params![id])?.unwrap_or_default())
}

/// Stores the state of the conversation, and clears the progress of a reply.
pub fn save_state(tx: &mut TenantTx, id: Id<Chat>, conversation: &str) -> Result<(), DbError> {
    tx.later(
        "update chat_states set conversation = ?3, progress = null where workspace = ?1 and chat = ?2",
        params![id, conversation],
    )
}

/// Stores how far the reply has got that is being written; none forgets it.
pub fn save_progress(tx: &mut TenantTx, id: Id<Chat>, progress: Option<&str>) -> Result<(), DbError> {
    tx.later("update chat_states set progress = ?3 where workspace = ?1 and chat = ?2", params![id, progress])
}

/// Forgets the conversation of a chat that is over.
pub fn drop_state(tx: &mut TenantTx, id: Id<Chat>) -> Result<(), DbError> {
    tx.later("delete from chat_states where workspace = ?1 and chat = ?2", params![id])
}

pub fn add_message(tx: &mut TenantTx, id: Id<Chat>, message: &MessageRow) -> Result<(), DbError> {
    tx.later(MessageRow::INSERT, &message.values(id))
}

/// Puts another text in the place of that of a message.
pub fn set_text(tx: &mut TenantTx, id: Id<Chat>, seq: i64, text: &str) -> Result<(), DbError> {
    let sql = "update chat_messages set words = ?4 where workspace = ?1 and chat = ?2 and seq = ?3";
    tx.later(sql, params![id, seq, text])
}

/// The conversation goes on in this language because of what the customer wrote last, up to `seq`.
pub fn set_language(tx: &mut TenantTx, id: Id<Chat>, seq: i64, language: &str) -> Result<(), DbError> {
    let sql = "update chat_messages set language = ?5 where workspace = ?1 and chat = ?2 and seq = \
        (select max(seq) from chat_messages where workspace = ?1 and chat = ?2 and role = ?4 and seq <= ?3)";
    tx.later(sql, params![id, seq, Role::User, language])
}

/// Takes a message back.
pub fn remove_message(tx: &mut TenantTx, id: Id<Chat>, seq: i64) -> Result<(), DbError> {
    tx.later("delete from chat_messages where workspace = ?1 and chat = ?2 and seq = ?3", params![id, seq])
}

/// The messages of a chat after `after`, oldest first.
pub fn messages(tx: &mut TenantTx, id: Id<Chat>, after: i64) -> Result<Vec<MessageRow>, DbError> {
    const SQL: &str = formatcp!(
        "select {} from chat_messages where workspace = ?1 and chat = ?2 and seq > ?3 order by seq",
        MessageRow::COLUMNS
    );
    tx.all(SQL, params![id, after])
}

/// Chats of a workspace but test chats, newest first, older than `before`, of one state or of all.
pub fn list(
    tx: &mut TenantTx,
    state: Option<State>,
    before: Option<&str>,
    limit: i64,
) -> Result<Vec<ChatRow>, DbError> {
    const ALL: &str = formatcp!(
        "select {COLUMNS} from chats where workspace = ?1 and id < ?2 and test_link is null order by id desc limit ?3"
    );
    const OF_STATE: &str = formatcp!(
        "select {COLUMNS} from chats where workspace = ?1 and state = ?4 and id < ?2 and test_link is null \
         order by id desc limit ?3"
    );
    let before = before.unwrap_or("chatsess_~");
    match state {
        None => tx.all(ALL, params![before, limit]),
        Some(state) => tx.all(OF_STATE, params![before, limit, state]),
    }
}

/// Of the newest `most` chats that a workspace has opened over the API since a timestamp: the number in which the
/// customer has not written, and in which they have.
pub fn silent_and_spoken(tx: &mut TenantTx, since: Timestamp, most: i64) -> Result<(i64, i64), DbError> {
    const SQL: &str = "select cast(coalesce(sum(silent), 0) as bigint), cast(coalesce(sum(1 - silent), 0) as bigint) from \
        (select cast(case when customer_messages = 0 then 1 else 0 end as bigint) as silent from chats \
         where workspace = ?1 and id > ?2 and channel = 'api' order by id desc limit ?3) as newest";
    let since = Id::<Chat>::new(since.0, 0).to_string();
    Ok(tx.one(SQL, params![since, most])?.unwrap_or_default())
}

/// Has every chat of a workspace that is not over end with this cause; how many those are.
pub fn want_all_ended(tx: &mut TenantTx, cause: EndCause, now: Timestamp) -> Result<u64, DbError> {
    tx.exec(
        "update chats set wish = ?2, next_at = ?3, claimed_until = null, version = version + 1 where workspace = ?1 and state <> 'ended' and wish is null",
        params![cause, now],
    )
}

/// Those that are due are claimed.
const CLAIMED: Claimed = Claimed { table: "chats", due: "next_at", key: "workspace, id" };

/// Across workspaces: up to `limit` due chats without a claim, longest due first, except those of the workspaces in
/// `without`. For a transaction that claims them ([`claim`]).
pub fn due(
    tx: &mut Tx<'_>,
    now: Timestamp,
    without: &[Tenant],
    limit: i64,
) -> Result<Vec<(Tenant, Id<Chat>)>, DbError> {
    CLAIMED.due(tx, now, without, limit)
}

/// Has other nodes leave a chat alone until `until` that has to be looked at.
pub fn claim(tx: &mut TenantTx, id: Id<Chat>, until: Timestamp) -> Result<(), DbError> {
    CLAIMED.claim(tx, params![id], until)
}

/// Across workspaces: when the next chat without a claim is due.
pub fn next_due(tx: &mut Tx<'_>, now: Timestamp) -> Result<Option<Timestamp>, DbError> {
    CLAIMED.next_due(tx, now)
}

/// Across workspaces: releases the replies that a stopped node was writing; they are due at once.
pub fn orphan(tx: &mut Tx<'_>, node: &str, now: Timestamp) -> Result<u64, DbError> {
    tx.exec(
        "update chats set turn_until = ?2, next_at = ?2, claimed_until = null, version = version + 1 \
         where next_at is not null and turn_kind is not null and turn_node = ?1",
        params![node, now],
    )
}

/// Across workspaces: leases chats whose analysis is due until `lease`; each counts an attempt.
pub fn take_to_analyse(
    tx: &mut Tx<'_>,
    now: Timestamp,
    lease: Timestamp,
    limit: i64,
) -> Result<Vec<(Tenant, Id<Chat>, i64)>, DbError> {
    let mut found: Vec<(Tenant, Id<Chat>, i64)> = tx.all(
        "select workspace, id, analysis_attempts from chats where analysis_at is not null and analysis_at <= ?1 \
         order by analysis_at, id limit ?2 /*pg for update skip locked*/",
        params![now, limit],
    )?;
    for (tenant, id, attempts) in &mut found {
        *attempts += 1;
        tx.later(
            "update chats set analysis_attempts = ?3, analysis_at = ?4, version = version + 1 where workspace = ?1 and id = ?2",
            params![*tenant, *id, *attempts, lease],
        )?;
    }
    Ok(found)
}

/// Across workspaces: when the next analysis is due.
pub fn next_analysis(tx: &mut Tx<'_>) -> Result<Option<Timestamp>, DbError> {
    Ok(tx.one("select min(analysis_at) from chats where analysis_at is not null", &[])?.flatten())
}

/// Chats of these contacts, locked until the transaction ends.
pub fn of_contacts(tx: &mut TenantTx, contacts: &[Id<Contact>]) -> Result<Vec<ChatRow>, DbError> {
    let mut found = Vec::new();
    for some in contacts.chunks(ROWS) {
        let mut values = Vec::new();
        let ids = tx.any_of(&mut values, some.iter().map(|id| (*id).into()));
        let sql = format!(
            "select {COLUMNS} from chats where workspace = ?1 and contact in {ids} order by id /*pg for update*/"
        );
        found.extend(tx.all::<ChatRow>(&sql, &values)?);
    }
    Ok(found)
}

/// Deletes the messages of a chat, the private notes on it and the state of its conversation. Returns the number of messages.
pub fn erase_words(tx: &mut TenantTx, id: Id<Chat>) -> Result<u64, DbError> {
    drop_state(tx, id)?;
    crate::inbox::erase(tx, id)?;
    tx.exec("delete from chat_messages where workspace = ?1 and chat = ?2", params![id])
}

/// Across workspaces: deletes chats that ended before, with everything said in them; how many.
pub fn sweep(tx: &mut Tx<'_>, before: Timestamp, limit: i64) -> Result<u64, DbError> {
    let old: Vec<(Tenant, Id<Chat>)> = tx.all(
        "select workspace, id from chats where ended_at is not null and ended_at < ?1 order by ended_at limit ?2",
        params![before, limit],
    )?;
    for (tenant, id) in &old {
        tx.later("delete from chat_messages where workspace = ?1 and chat = ?2", params![*tenant, *id])?;
        crate::inbox::sweep(&mut tx.of(*tenant), *id)?;
        evaluations::drop_conversation(&mut tx.of(*tenant), &id.to_string())?;
        tx.later("delete from chats where workspace = ?1 and id = ?2", params![*tenant, *id])?;
    }
    Ok(old.len() as u64)
}

/// Drops the flow of a chat that has ended, unless its agent or another chat still runs it.
pub fn drop_flow(tx: &mut TenantTx, flow: &str) -> Result<(), DbError> {
    tx.later(
        formatcp!(
            "delete from flows where workspace = ?1 and id = ?2 and {FLOW_IS_FREE} and not exists (select 1 from agents \
             where agents.workspace = ?1 and agents.id = flows.agent and agents.deleted_at is null \
             and (agents.draft_flow = flows.id or agents.published_flow = flows.id))"
        ),
        params![flow],
    )
}

/// No chat runs the row of `flows`.
pub(crate) const FLOW_IS_FREE: &str =
    "not exists (select 1 from chats where chats.flow = flows.id and chats.ended_at is null)";

/// The hours of an agent; `None`: always open.
pub fn hours(tx: &mut TenantTx, agent: Id<Agent>) -> Result<Option<HoursRow>, DbError> {
    const SQL: &str =
        formatcp!("select {} from agent_hours where workspace = ?1 and agent = ?2", HoursRow::COLUMNS);
    tx.one(SQL, params![agent])
}

/// Sets the hours of an agent.
pub fn set_hours(tx: &mut TenantTx, row: &HoursRow) -> Result<(), DbError> {
    const SQL: &str = formatcp!(
        "{} on conflict (agent) do update set timezone = excluded.timezone, hours = excluded.hours",
        HoursRow::INSERT
    );
    tx.later(SQL, &row.values())
}

/// Removes the hours of an agent: it is always open.
pub fn remove_hours(tx: &mut TenantTx, agent: Id<Agent>) -> Result<(), DbError> {
    tx.later("delete from agent_hours where workspace = ?1 and agent = ?2", params![agent])
}

/// The ids of the newest chats of a contact, at most `limit`. Served by `chats_of_contact`; a contact has few.
pub fn ids_of_contact(tx: &mut TenantTx, contact: Id<Contact>, limit: i64) -> Result<Vec<String>, DbError> {
    let sql = "select id from chats where workspace = ?1 and contact = ?2 order by id desc limit ?3";
    tx.all(sql, params![contact, limit])
}
