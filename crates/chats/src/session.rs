//! The row of a chat inside a transaction: messages, moves, money, events, its end.

use std::sync::Arc;

use api::chats::ChatReply;
use api::error_codes as codes;
use app::events::{self, NewEvent};
use app::idempotency::Once;
use app::{App, Context, Failure, topics, wallet};
use domain::chat::{
    Channel, EndCause, LEASE, Limits, Move, Reading, Role, Standing, State, Stuck, TurnKind, look_at, step,
};
use domain::conversation;
use domain::ids::{Chat, Id, User};
use domain::tenant::{Mode, Tenant};
use domain::time::Timestamp;
use serde_json::{Value, json};
use store::Tx;
use store::chats::{self, ChatRow, MessageRow};
use store::wallet::Floor;

/// Name of the operation whose answers are kept with their `Idempotency-Key`.
pub(crate) const SEND: &str = "sendChatMessage";

/// What the transactions of chats need beside the store; cheap to copy.
#[derive(Clone)]
pub(crate) struct Env {
    /// The moment, new ids and keys.
    pub context: Context,
    /// How long chats last.
    pub limits: Limits,
    /// Name of this node.
    pub node: Arc<str>,
    /// Whether there is a language model.
    pub model: bool,
}

impl Env {
    pub fn of(app: &App) -> Self {
        Self {
            context: app.context(),
            limits: app.config.chats.limits,
            node: app.ports.node.clone(),
            model: app.ports.language_model.is_some(),
        }
    }
}

/// A chat of any channel, held until the transaction ends.
///
/// # Errors
/// 404.
pub(crate) fn find(tx: &mut Tx<'_>, tenant: Tenant, id: Id<Chat>) -> Result<ChatRow, Failure> {
    chats::get_for_update(tx, tenant, id)?.ok_or_else(|| Failure::not_found("chat"))
}

/// A session that was opened over the API, held until the transaction ends.
///
/// # Errors
/// 404, for chats of other channels, too.
pub(crate) fn find_session(tx: &mut Tx<'_>, tenant: Tenant, id: Id<Chat>) -> Result<ChatRow, Failure> {
    chats::get_for_update(tx, tenant, id)?
        .filter(|row| row.channel == Channel::Api)
        .ok_or_else(|| Failure::not_found("chat session"))
}

/// Why a chat does not move, for the caller.
pub(crate) fn refusal(stuck: Stuck) -> Failure {
    match stuck {
        Stuck::Over => Failure::plain(codes::SESSION_ENDED),
        Stuck::WithAgent => Failure::conflict("the agent has this chat; a teammate takes it over first"),
    }
}

pub(crate) fn standing(row: &ChatRow) -> Standing {
    Standing {
        state: row.state,
        opened: row.created_at,
        last: row.last_at,
        reply_until: row.turn_kind.and(row.turn_until),
        wished: row.wish.is_some(),
    }
}

/// Stores the chat as it is now.
pub(crate) fn save(tx: &mut Tx<'_>, env: &Env, row: &mut ChatRow) -> Result<(), Failure> {
    row.next_at = look_at(&standing(row), env.limits);
    if !chats::save(tx, row)? {
        return Err(Failure::internal("a chat was changed by somebody who did not hold it"));
    }
    row.version += 1;
    Ok(())
}

/// Adds a message.
pub(crate) fn write(
    tx: &mut Tx<'_>,
    env: &Env,
    row: &mut ChatRow,
    role: Role,
    text: &str,
    author: Option<Id<User>>,
) -> Result<(), Failure> {
    row.messages += 1;
    row.customer_messages += i64::from(role == Role::User);
    row.characters += text.chars().count() as i64;
    row.last_at = env.context.now;
    let message = MessageRow { seq: row.messages, role, text: text.to_owned(), author, at: env.context.now };
    Ok(chats::add_message(tx, row.workspace, row.id, &message)?)
}

/// The right to write one reply: only the holder of the last try of a turn may store it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Claim {
    pub tenant: Tenant,
    pub chat: Id<Chat>,
    pub kind: TurnKind,
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

    /// What tells a tool that a call of it is the same.
    pub fn tool_key(&self, request: u64) -> String {
        format!("{}:{}:{request}", self.chat, self.turn)
    }
}

/// Begins a reply. The caller saves the row.
pub(crate) fn begin_turn(env: &Env, row: &mut ChatRow, kind: TurnKind) -> Claim {
    row.turn += 1;
    row.turn_kind = Some(kind);
    row.turn_attempt = 0;
    next_attempt(env, row, kind)
}

/// Begins the next try of a reply. The caller saves the row.
pub(crate) fn next_attempt(env: &Env, row: &mut ChatRow, kind: TurnKind) -> Claim {
    row.turn_attempt += 1;
    row.turn_node = Some(env.node.to_string());
    row.turn_until = Some(env.context.now.plus(LEASE));
    Claim {
        tenant: row.workspace,
        chat: row.id,
        kind,
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
pub(crate) fn close_turn(tx: &mut Tx<'_>, row: &mut ChatRow, answer: &ChatReply) -> Result<(), Failure> {
    if let Some(once) = waiting(row) {
        let contact = row.contact.map(|contact| contact.to_string());
        once.finish(tx, 200, &json!({"data": answer}), contact.as_deref())?;
    }
    stop_turn(tx, row)
}

/// The same, and the request may be sent again.
pub(crate) fn drop_turn(tx: &mut Tx<'_>, row: &mut ChatRow) -> Result<(), Failure> {
    if let Some(once) = waiting(row) {
        once.free(tx)?;
    }
    stop_turn(tx, row)
}

fn stop_turn(tx: &mut Tx<'_>, row: &mut ChatRow) -> Result<(), Failure> {
    if row.turn_kind.take().is_some() {
        chats::save_progress(tx, row.workspace, row.id, None)?;
    }
    row.turn_node = None;
    row.turn_until = None;
    Ok(())
}

/// What a message is answered with when the agent does not reply to it.
pub(crate) fn unanswered(state: State) -> ChatReply {
    ChatReply { reply: None, ended: state == State::Ended, handed_off: state.with_person() }
}

/// The agent asks for a person, or cannot go on. The caller saves the row.
pub(crate) fn hand_off(
    tx: &mut Tx<'_>,
    env: &Env,
    row: &mut ChatRow,
    reason: Option<&str>,
) -> Result<(), Failure> {
    row.state = step(row.state, Move::HandOff).map_err(refusal)?;
    row.handoff_reason = reason.map(str::to_owned);
    row.handoff_at = Some(env.context.now);
    emit(tx, env, row, "chat.handoff_requested", json!({"reason": reason, "handoffAt": env.context.now}))
}

/// What a conversation leaves behind.
#[derive(Debug, Default)]
pub(crate) struct Legacy {
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
pub(crate) fn read_state(text: &str) -> Result<conversation::State, Failure> {
    serde_json::from_str(text).map_err(|why| Failure::internal(format!("a stored conversation: {why}")))
}

/// Ends a chat: a request that waits for a reply is answered, the money is settled, `chat.completed` is written, and what
/// is owed afterwards is written down. One that is over stays as it is.
pub(crate) fn end(tx: &mut Tx<'_>, env: &Env, row: &mut ChatRow, cause: EndCause) -> Result<(), Failure> {
    let legacy = stored_legacy(tx, row)?;
    end_with(tx, env, row, cause, legacy)
}

/// The same with what the conversation leaves behind.
pub(crate) fn end_with(
    tx: &mut Tx<'_>,
    env: &Env,
    row: &mut ChatRow,
    cause: EndCause,
    legacy: Legacy,
) -> Result<(), Failure> {
    let Ok(state) = step(row.state, Move::End) else { return Ok(()) };
    let now = env.context.now;
    row.state = state;
    row.end_cause = Some(cause);
    row.ended_at = Some(now);
    row.wish = None;
    row.outcome = legacy.outcome.filter(|outcome| !outcome.trim().is_empty());
    row.extracted = legacy.extracted;
    close_turn(tx, row, &unanswered(state))?;
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
    chats::drop_state(tx, row.workspace, row.id)?;
    chats::drop_flow(tx, row.workspace, &row.flow)?;
    emit(tx, env, row, "chat.completed", Value::Null)
}

/// Writes an event of a chat (docs/contract/chats.md#events), with fields of its own beside the usual ones.
pub(crate) fn emit(
    tx: &mut Tx<'_>,
    env: &Env,
    row: &ChatRow,
    kind: &'static str,
    extra: Value,
) -> Result<(), Failure> {
    let handoff = row
        .handoff_at
        .map(|at| json!({"reason": row.handoff_reason, "requestedAt": at, "userId": row.teammate}));
    let mut data = json!({
        "chatId": row.id,
        "channel": row.channel,
        "agentId": row.agent,
        "contactId": row.contact,
        "externalRef": row.external_ref,
        "customer": null,
        "businessNumber": null,
        "origin": "inbound",
        "linkedCallId": null,
        "status": if row.state == State::Ended { "ended" } else { "active" },
        "endCause": row.end_cause,
        "startedAt": row.created_at,
        "endedAt": row.ended_at,
        "messageCount": row.messages,
        "handoff": handoff,
        "isTest": false,
        "metadata": row.metadata,
        "adReferral": null,
    });
    if let Value::Object(data) = &mut data {
        if kind != "chat.started" {
            let messages = chats::messages(tx, row.workspace, row.id, 0)?;
            let told = messages.iter().map(|message| json!({"role": message.role, "text": message.text}));
            data.insert("transcript".into(), told.collect());
        }
        if let Value::Object(extra) = extra {
            data.extend(extra);
        }
    }
    let (agent, contact) = (row.agent.to_string(), row.contact.map(|id| id.to_string()));
    let event = NewEvent { kind, mode: Mode::Live, agent: Some(&agent), contact: contact.as_deref(), data };
    events::emit(tx, &env.context, row.workspace, event)?;
    Ok(())
}
