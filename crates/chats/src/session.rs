//! The row of a chat inside a transaction: messages, moves, money, events, its end.

use std::sync::Arc;

use api::chats::ChatReply;
use api::error_codes as codes;
use app::events::{self, NewEvent, TranscriptRef};
use app::idempotency::Once;
use app::{App, Context, Failure, topics, wallet};
use domain::chat::{
    Channel, EndCause, LEASE, Limits, Origin, Ownership, Reading, Role, Standing, State, Stuck, Transition,
    TurnKind, look_at,
};
use domain::conversation;
use domain::ids::{Chat, Id, User};
use domain::tenant::{Mode, Tenant};
use domain::time::Timestamp;
use serde_json::{Value, json};
use store::Tx;
use store::channel_conversations::{self, ChannelChatRow};
use store::chats::{self, ChatRow, MessageRow};
use store::wallet::Floor;

use crate::undelivered::undelivered;

/// Name of the operation whose answers are kept with their `Idempotency-Key`.
pub const SEND: &str = "sendChatMessage";

/// What the transactions of chats need beside the store; cheap to copy.
#[derive(Clone)]
pub struct Env {
    /// The moment, new ids and keys.
    pub context: Context,
    /// How long chats last.
    pub limits: Limits,
    pub node: Arc<str>,
    /// Whether there is a language model.
    pub model: bool,
    /// What goes on from conversations on the messaging channel that are over; nothing from those that are erased.
    pub ends: &'static [app::chat_ends::ChatEndHook],
    /// The service; none in an erasure, which writes to nobody.
    pub app: Option<Arc<App>>,
}

impl Env {
    /// As things are now.
    pub fn of(app: &Arc<App>) -> Self {
        Self { app: Some(app.clone()), ..Self::within(app) }
    }

    /// For who writes to nobody.
    pub fn within(app: &App) -> Self {
        Self {
            app: None,
            context: app.context(),
            limits: app.config.chats.limits,
            node: app.ports.node.clone(),
            model: app.ports.language_model.is_some(),
            ends: app.hooks.chat_ends,
        }
    }

    /// How long a chat lasts.
    pub fn limits(&self, channel: Channel) -> Limits {
        match channel {
            Channel::Chatapp => Limits::CHANNEL,
            Channel::Api | Channel::Web => self.limits,
        }
    }
}

/// A chat of any channel, held until the transaction ends.
///
/// # Errors
/// 404.
pub fn find(tx: &mut Tx<'_>, tenant: Tenant, id: Id<Chat>) -> Result<ChatRow, Failure> {
    chats::get_for_update(tx, tenant, id)?.ok_or_else(|| Failure::not_found("chat"))
}

/// A session that was opened over the API, held until the transaction ends.
///
/// # Errors
/// 404, for chats of other channels, too.
pub fn find_session(tx: &mut Tx<'_>, tenant: Tenant, id: Id<Chat>) -> Result<ChatRow, Failure> {
    chats::get_for_update(tx, tenant, id)?
        .filter(|row| row.channel == Channel::Api)
        .ok_or_else(|| Failure::not_found("chat session"))
}

/// Why a chat does not move, for the caller.
pub fn refusal(stuck: Stuck) -> Failure {
    match stuck {
        Stuck::Over => Failure::plain(codes::SESSION_ENDED),
        Stuck::WithAgent => Failure::conflict("the agent has this chat; a teammate takes it over first"),
    }
}

pub fn standing(row: &ChatRow) -> Standing {
    Standing {
        state: row.state,
        opened: row.created_at,
        last: row.last_at,
        reply_until: row.turn_kind.and(row.turn_until),
        reply_at: row.reply_at,
        wished: row.wish.is_some(),
    }
}

/// Works out when a chat is looked at next.
pub fn look_again(env: &Env, row: &mut ChatRow) {
    row.next_at = look_at(&standing(row), env.limits(row.channel));
}

/// Stores the chat as it is now.
pub fn save(tx: &mut Tx<'_>, env: &Env, row: &mut ChatRow) -> Result<(), Failure> {
    look_again(env, row);
    if !chats::save(tx, row)? {
        return Err(Failure::internal("a chat was changed by somebody who did not hold it"));
    }
    row.version += 1;
    if row.turn_kind.is_none() && row.reply_at.is_some() {
        // More came while a reply was written: its time is before that of the next look.
        tx.wake(topics::CHATS);
    }
    Ok(())
}

/// Adds a message.
pub fn write(
    tx: &mut Tx<'_>,
    env: &Env,
    row: &mut ChatRow,
    role: Role,
    text: &str,
    author: Option<Id<User>>,
) -> Result<(), Failure> {
    let text = text.to_owned();
    let message = MessageRow { seq: 0, role, text, author, agent_name: None, at: env.context.now };
    add(tx, env, row, message)
}

/// Writes what somebody of the team wrote elsewhere: who, and when, as far as that is told. A moment before the chat or
/// after the present counts as the nearer one of them.
pub fn write_of_team(
    tx: &mut Tx<'_>,
    env: &Env,
    row: &mut ChatRow,
    text: &str,
    agent_name: Option<String>,
    sent_at: Option<Timestamp>,
) -> Result<(), Failure> {
    let now = env.context.now;
    let at = sent_at.map_or(now, |at| at.max(row.created_at).min(now));
    let text = text.to_owned();
    add(tx, env, row, MessageRow { seq: 0, role: Role::Human, text, author: None, agent_name, at })
}

/// Adds a message at the end of a chat.
fn add(tx: &mut Tx<'_>, env: &Env, row: &mut ChatRow, mut message: MessageRow) -> Result<(), Failure> {
    row.messages += 1;
    row.customer_messages += i64::from(message.role == Role::User);
    row.characters += message.text.chars().count() as i64;
    row.last_at = env.context.now;
    message.seq = row.messages;
    Ok(chats::add_message(tx, row.workspace, row.id, &message)?)
}

/// The right to write one reply: only the holder of the last try of a turn may store it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claim {
    pub tenant: Tenant,
    pub chat: Id<Chat>,
    pub kind: TurnKind,
    /// Whether the messaging channel carries the words.
    pub carried: bool,
    pub turn: i64,
    pub attempt: i64,
    /// Messages of the chat when the try began. The newest is the one that is replied to.
    pub messages: i64,
    /// When that one was written. One that is taken back leaves its number to the next.
    pub at: Timestamp,
}

impl Claim {
    /// Whether it still holds.
    pub fn holds(&self, row: &ChatRow) -> bool {
        row.turn_kind == Some(self.kind) && row.turn == self.turn && row.turn_attempt == self.attempt
    }

    /// What tells a tool that a call of it is the same: the turn that asked for it, and its request.
    pub fn tool_key(&self, turn: i64, request: u64) -> String {
        format!("{}:{turn}:{request}", self.chat)
    }
}

/// Begins a reply. The caller saves the row.
pub fn begin_turn(env: &Env, row: &mut ChatRow, kind: TurnKind) -> Claim {
    row.turn += 1;
    row.turn_kind = Some(kind);
    row.turn_attempt = 0;
    next_attempt(env, row, kind)
}

/// Begins the next try of a reply. The caller saves the row.
pub fn next_attempt(env: &Env, row: &mut ChatRow, kind: TurnKind) -> Claim {
    row.turn_attempt += 1;
    row.turn_node = Some(env.node.to_string());
    row.turn_until = Some(env.context.now.plus(LEASE));
    Claim {
        tenant: row.workspace,
        chat: row.id,
        kind,
        carried: row.channel == Channel::Chatapp,
        turn: row.turn,
        attempt: row.turn_attempt,
        messages: row.messages,
        at: row.last_at,
    }
}

/// The request that waits for the reply.
fn waiting(row: &mut ChatRow) -> Option<Once> {
    let (key, holder) = row.once.take()?;
    Some(Once::keyed(row.workspace.to_string(), Mode::Live, SEND, key, String::new(), holder))
}

/// No reply is being written any more; the request that waited for one is answered so.
pub fn close_turn(tx: &mut Tx<'_>, row: &mut ChatRow, answer: &ChatReply) -> Result<(), Failure> {
    if let Some(once) = waiting(row) {
        let contact = row.contact.map(|contact| contact.to_string());
        once.finish(tx, 200, &json!({"data": answer}), contact.as_deref())?;
    }
    stop_turn(row);
    Ok(())
}

/// The same, and the request may be sent again.
pub fn drop_turn(tx: &mut Tx<'_>, row: &mut ChatRow) -> Result<(), Failure> {
    if let Some(once) = waiting(row) {
        once.free(tx)?;
    }
    stop_turn(row);
    Ok(())
}

/// What a tool has done stays: how far a reply had got that is not finished is where the next one begins.
fn stop_turn(row: &mut ChatRow) {
    row.turn_kind = None;
    row.turn_node = None;
    row.turn_until = None;
}

/// What a message is answered with when the agent does not reply to it.
pub fn unanswered(state: State) -> ChatReply {
    ChatReply { reply: None, ended: state == State::Ended, handed_off: state.with_person() }
}

/// Changes who has a chat. The caller saves the row.
///
/// # Errors
/// Why it does not move.
pub fn pass(env: &Env, row: &mut ChatRow, by: Transition) -> Result<(), Stuck> {
    let before = Ownership {
        state: row.state,
        teammate: row.teammate,
        taken_from: row.taken_from,
        given_back: row.given_back,
        failures: row.failures,
        reply_at: row.reply_at,
        unanswered_at: row.unanswered_at,
        handoff_reason: row.handoff_reason.clone(),
        handoff_at: row.handoff_at,
    };
    let after = before.after(by, row.messages, env.context.now)?;
    row.state = after.state;
    row.teammate = after.teammate;
    row.taken_from = after.taken_from;
    row.given_back = after.given_back;
    row.failures = after.failures;
    row.reply_at = after.reply_at;
    row.unanswered_at = after.unanswered_at;
    row.handoff_reason = after.handoff_reason;
    row.handoff_at = after.handoff_at;
    Ok(())
}

/// The agent asks for a person, or cannot go on. The caller saves the row.
pub fn hand_off(tx: &mut Tx<'_>, env: &Env, row: &mut ChatRow, reason: Option<&str>) -> Result<(), Failure> {
    pass(env, row, Transition::HandOff(reason.map(str::to_owned))).map_err(refusal)?;
    emit(tx, env, row, "chat.handoff_requested", json!({"reason": reason, "handoffAt": env.context.now}))
}

/// What a conversation leaves behind.
#[derive(Debug, Default)]
pub struct Legacy {
    pub outcome: Option<String>,
    pub extracted: Option<Value>,
}

/// What the stored conversation of a chat leaves behind.
fn stored_legacy(tx: &mut Tx<'_>, row: &ChatRow) -> Result<Legacy, Failure> {
    let Some(text) = chats::state(tx, row.workspace, row.id)?.conversation else {
        return Ok(Legacy::default());
    };
    let state = read_state(&text)?;
    Ok(Legacy { outcome: None, extracted: Some(Value::Object(state.extracted().clone())) })
}

/// A conversation as it is stored.
///
/// # Errors
/// Internal only: what was stored can be read.
pub fn read_state(text: &str) -> Result<conversation::State, Failure> {
    serde_json::from_str(text).map_err(|why| Failure::internal(format!("a stored conversation: {why}")))
}

/// Ends a chat: a request that waits for a reply is answered, the money is settled, `chat.completed` is written, and what
/// is owed afterwards is written down. One that is over stays as it is.
pub fn end(tx: &mut Tx<'_>, env: &Env, row: &mut ChatRow, cause: EndCause) -> Result<(), Failure> {
    let legacy = stored_legacy(tx, row)?;
    end_with(tx, env, row, cause, legacy)
}

/// The same with what the conversation leaves behind.
pub fn end_with(
    tx: &mut Tx<'_>,
    env: &Env,
    row: &mut ChatRow,
    cause: EndCause,
    legacy: Legacy,
) -> Result<(), Failure> {
    if pass(env, row, Transition::End).is_err() {
        return Ok(());
    }
    let now = env.context.now;
    row.end_cause = Some(cause);
    row.ended_at = Some(now);
    row.wish = None;
    row.outcome = legacy.outcome.filter(|outcome| !outcome.trim().is_empty());
    row.extracted = legacy.extracted;
    close_turn(tx, row, &unanswered(row.state))?;
    store::wallet::release(tx, row.workspace, row.price, 0)?;
    if row.customer_messages > 0 && row.price > 0 {
        let reference = row.id.to_string();
        let context = &env.context;
        wallet::post(tx, context, row.workspace, "chat_charge", -row.price, &reference, Floor::None)?;
    }
    if row.customer_messages > 0 && env.model && cause != EndCause::Erased {
        row.analysis = Some(Reading::Pending);
        row.analysis_at = Some(now);
        tx.wake(topics::CHATS);
    }
    save(tx, env, row)?;
    if row.channel == Channel::Chatapp {
        channel_conversations::close(tx, row.workspace, row.id)?;
    }
    chats::drop_state(tx, row.workspace, row.id)?;
    chats::drop_flow(tx, row.workspace, &row.flow)?;
    emit(tx, env, row, "chat.completed", Value::Null)?;
    // What is still to be read is waited for; an opt-out is not.
    if row.analysis != Some(Reading::Pending) || cause == EndCause::OptedOut {
        is_over(tx, env, row)?;
    }
    Ok(())
}

/// Tells those who go on from a conversation that it is over.
pub(crate) fn is_over(tx: &mut Tx<'_>, env: &Env, row: &ChatRow) -> Result<(), Failure> {
    if row.channel != Channel::Chatapp {
        return Ok(());
    }
    env.ends.iter().try_for_each(|hook| hook(tx, &env.context, row.workspace, row))
}

/// Who writes in a chat on the messaging channel, as events and conversations show it.
pub fn customer(row: &ChannelChatRow) -> Value {
    json!({"phone": row.phone, "name": row.name, "userId": row.user_id, "username": row.username})
}

/// Writes an event of a chat (docs/contract/chats.md#events), with fields of its own beside the usual ones.
pub fn emit(
    tx: &mut Tx<'_>,
    env: &Env,
    row: &ChatRow,
    kind: &'static str,
    extra: Value,
) -> Result<(), Failure> {
    let handoff = row
        .handoff_at
        .map(|at| json!({"reason": row.handoff_reason, "requestedAt": at, "userId": row.teammate}));
    let carried = match row.channel {
        Channel::Chatapp => channel_conversations::get(tx, row.workspace, row.id)?,
        Channel::Api | Channel::Web => None,
    };
    let mut data = json!({
        "chatId": row.id,
        "channel": row.channel,
        "agentId": row.agent,
        "contactId": row.contact,
        "externalRef": row.external_ref,
        "customer": carried.as_ref().map(customer),
        "businessNumber": carried.as_ref().map(|carried| &carried.business),
        "origin": carried.as_ref().map_or(Origin::Inbound, |carried| carried.origin),
        "linkedCallId": carried.as_ref().and_then(|carried| carried.linked_call),
        "status": if row.state == State::Ended { "ended" } else { "active" },
        "endCause": row.end_cause,
        "startedAt": row.created_at,
        "endedAt": row.ended_at,
        "messageCount": row.messages,
        "handoff": handoff,
        "isTest": false,
        "metadata": row.metadata,
        "adReferral": carried.as_ref().and_then(|carried| carried.ad_referral.as_ref()),
    });
    if let (Value::Object(data), Value::Object(extra)) = (&mut data, extra) {
        data.extend(extra);
    }
    let transcript = match kind {
        "chat.started" => None,
        _ => Some(TranscriptRef {
            chat: row.id,
            last: row.messages,
            characters: row.characters,
            failed: undelivered(tx, row)?.into_iter().collect(),
        }),
    };
    // The last event of an erased person says nothing about them, and is not taken back with what was said before.
    let subject = row.contact.filter(|_| row.end_cause != Some(EndCause::Erased));
    let (agent, contact) = (row.agent.to_string(), subject.map(|id| id.to_string()));
    let event = NewEvent { kind, mode: Mode::Live, agent: Some(&agent), contact: contact.as_deref(), data };
    events::emit_with(tx, &env.context, row.workspace, event, transcript)?;
    Ok(())
}
