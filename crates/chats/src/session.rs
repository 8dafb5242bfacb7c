//! The row of a chat inside a transaction: messages, ownership, charges, events, end.

use std::sync::Arc;

use api::channel_conversations::{ConversationCustomer, ConversationStatus};
use api::chats::ChatReply;
use api::error_codes as codes;
use api::events::chats::{ChatData, ChatWithTranscript, Handoff, HandoffRequest};
use app::events::{self, Event, NewEvent, TranscriptRef};
use app::idempotency::Once;
use app::{App, Context, Failure, Hooks, changes, topics, wallet};
use domain::chat::{
    Channel, DueState, EndCause, LEASE, Limits, Origin, Ownership, Reading, Role, State, Stuck, Transition,
    TurnKind, look_at,
};
use domain::conversation::{self, EdgeVisits};
use domain::ids::{Chat, Id, User};
use domain::tenant::{Mode, Tenant};
use domain::time::Timestamp;
use domain::topic::Topic;
use serde_json::{Value, json};
use store::channel_conversations::{self, ChannelChatRow};
use store::chats::{self, ChatRow, MessageRow};
use store::wallet::Floor;
use store::{TenantTx, Tx, flow_visits};

use crate::inbox::round_robin;
use crate::undelivered::undelivered;
use crate::unkept::{self, UnkeptWords};

/// The operation under which answers are stored with their `Idempotency-Key`.
pub const SEND: &str = "sendChatMessage";

/// Dependencies of the transactions of chats besides the store; cheap to copy.
#[derive(Clone)]
pub struct Env {
    /// The time, and new ids and keys.
    pub context: Context,
    /// How long chats last.
    pub limits: Limits,
    pub node: Arc<str>,
    /// Whether there is a language model.
    pub model: bool,
    /// Those of the rooms above; none in an erasure.
    pub hooks: &'static dyn Hooks,
    /// Words of customers that are not stored, on this node.
    pub unkept: Arc<UnkeptWords>,
    /// The service; `None` in an erasure, which sends nothing.
    pub app: Option<Arc<App>>,
}

impl Env {
    /// With the current time.
    pub fn of(app: &Arc<App>) -> Self {
        Self { app: Some(app.clone()), ..Self::within(app) }
    }

    /// For callers that send nothing, such as an erasure.
    pub fn within(app: &App) -> Self {
        Self {
            app: None,
            unkept: app.state.of(UnkeptWords::default),
            context: app.context(),
            limits: app.config.chats.limits,
            node: app.ports.node.clone(),
            model: app.ports.language_model.is_some(),
            hooks: app.hooks,
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

/// A chat of any channel, locked until the transaction ends.
///
/// # Errors
/// 404.
pub fn find(tx: &mut TenantTx, id: Id<Chat>) -> Result<ChatRow, Failure> {
    chats::get_for_update(tx, id)?.ok_or_else(|| Failure::not_found("chat"))
}

/// A session of the API, locked until the transaction ends.
///
/// # Errors
/// 404, for chats of other channels, too.
pub fn find_session(tx: &mut TenantTx, id: Id<Chat>) -> Result<ChatRow, Failure> {
    chats::get_for_update(tx, id)?
        .filter(|row| row.channel == Channel::Api)
        .ok_or_else(|| Failure::not_found("chat session"))
}

/// The failure of a transition that is not allowed.
pub fn refusal(stuck: Stuck) -> Failure {
    match stuck {
        Stuck::Over => Failure::plain(codes::SESSION_ENDED),
        Stuck::WithAgent => {
            Failure::conflict("the agent handles this chat; a teammate must take it over first")
        }
    }
}

pub fn standing(row: &ChatRow) -> DueState {
    DueState {
        state: row.state,
        opened: row.created_at,
        last: row.last_at,
        reply_until: row.turn_kind.and(row.turn_until),
        reply_at: row.reply_at,
        wished: row.wish.is_some(),
        unattended: row.unattended,
    }
}

/// Sets when a chat is due next.
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
    let (mode, id) = (Some(Mode::Live), row.id.to_string());
    changes::note_in(&mut tx.of(row.workspace), env.context.now, mode, Topic::Chats, Some(&id))?;
    if row.turn_kind.is_none() && row.reply_at.is_some() {
        // More arrived while a reply was written: its time is before that of the next check.
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
    let message =
        MessageRow { seq: 0, role, text, author, agent_name: None, at: env.context.now, language: None };
    add(tx, env, row, message)
}

/// Adds a message that a team member wrote in a helpdesk, with author and time if given. A time outside of the chat is
/// clamped to it.
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
    add(
        tx,
        env,
        row,
        MessageRow { seq: 0, role: Role::Human, text, author: None, agent_name, at, language: None },
    )
}

/// Adds a message at the end of a chat.
fn add(tx: &mut Tx<'_>, env: &Env, row: &mut ChatRow, mut message: MessageRow) -> Result<(), Failure> {
    let stored = unkept::storable(tx, row, message.role, &message.text)?;
    if stored != message.text {
        let written = std::mem::replace(&mut message.text, stored.clone());
        if message.role == Role::User {
            let (unkept, chat, now) = (env.unkept.clone(), row.id, env.context.now);
            tx.after_commit(move || unkept.remember(chat, stored, written, now));
        }
    }
    row.messages += 1;
    row.customer_messages += i64::from(message.role == Role::User);
    row.characters += message.text.chars().count() as i64;
    row.last_at = env.context.now;
    if message.role == Role::Human && row.state == State::Human {
        row.human_at = Some(env.context.now);
        row.unattended = false;
    }
    message.seq = row.messages;
    Ok(chats::add_message(&mut tx.of(row.workspace), row.id, &message)?)
}

/// The lease of one reply: only the holder of a turn's last try may store it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claim {
    pub tenant: Tenant,
    pub chat: Id<Chat>,
    pub kind: TurnKind,
    /// Whether the messaging channel carries the words.
    pub carried: bool,
    pub turn: i64,
    pub attempt: i64,
    /// Messages of the chat when the try began. The newest one is replied to.
    pub messages: i64,
    /// When that one was written: a withdrawn message leaves its number to the next.
    pub at: Timestamp,
}

impl Claim {
    /// Whether it still holds.
    pub fn holds(&self, row: &ChatRow) -> bool {
        row.turn_kind == Some(self.kind) && row.turn == self.turn && row.turn_attempt == self.attempt
    }

    /// The idempotency key of a tool call: the turn that asked for it, and its request.
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

/// Ends the turn of a chat. The request that waits for its reply gets this answer.
pub fn close_turn(tx: &mut Tx<'_>, row: &mut ChatRow, answer: &ChatReply) -> Result<(), Failure> {
    if let Some(once) = waiting(row) {
        let contact = row.contact.map(|contact| contact.to_string());
        once.finish(tx, 200, &json!({"data": answer}), contact.as_deref())?;
    }
    stop_turn(row);
    Ok(())
}

/// Ends the turn of a chat. The waiting request is released, and may be sent again.
pub fn drop_turn(tx: &mut Tx<'_>, row: &mut ChatRow) -> Result<(), Failure> {
    if let Some(once) = waiting(row) {
        once.free(tx)?;
    }
    stop_turn(row);
    Ok(())
}

/// Results of tools are kept: the next reply begins at the checkpoint of the unfinished one.
fn stop_turn(row: &mut ChatRow) {
    row.turn_kind = None;
    row.turn_node = None;
    row.turn_until = None;
}

/// The answer to a message that the agent does not reply to.
pub fn unanswered(state: State) -> ChatReply {
    ChatReply { reply: None, ended: state == State::Ended, handed_off: state.with_person() }
}

/// Applies a transition of ownership to a chat. The caller saves the row.
///
/// # Errors
/// The transition is not allowed in this state.
pub fn pass(env: &Env, row: &mut ChatRow, by: Transition) -> Result<(), Stuck> {
    let before = Ownership {
        state: row.state,
        teammate: row.teammate,
        taken_from: row.taken_from,
        taken_at: row.taken_at,
        unattended: row.unattended,
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
    row.taken_at = after.taken_at;
    row.unattended = after.unattended;
    row.given_back = after.given_back;
    row.failures = after.failures;
    row.reply_at = after.reply_at;
    row.unanswered_at = after.unanswered_at;
    row.handoff_reason = after.handoff_reason;
    row.handoff_at = after.handoff_at;
    Ok(())
}

/// A person takes the chat over: a teammate, or with `None` a helpdesk. A reply that is being written is dropped, and the
/// request that waits for it is answered. Saves the row.
///
/// # Errors
/// 409 `session_ended`; those of the store.
pub fn take_over(
    tx: &mut Tx<'_>,
    env: &Env,
    row: &mut ChatRow,
    teammate: Option<Id<User>>,
) -> Result<(), Failure> {
    leaves(tx, row);
    pass(env, row, Transition::TakeOver(teammate)).map_err(refusal)?;
    let answer = unanswered(row.state);
    close_turn(tx, row, &answer)?;
    save(tx, env, row)
}

/// A teammate may be free for another chat once this one moves on.
pub(crate) fn leaves(tx: &mut Tx<'_>, row: &ChatRow) {
    if row.state == State::Human && row.teammate.is_some() {
        tx.wake(topics::INBOX);
    }
}

/// Hands a chat off to people: the agent asks for one, or cannot continue. With round robin a member who is present gets
/// it at once. The caller saves the row.
pub fn hand_off(tx: &mut Tx<'_>, env: &Env, row: &mut ChatRow, reason: Option<&str>) -> Result<(), Failure> {
    pass(env, row, Transition::HandOff(reason.map(str::to_owned))).map_err(refusal)?;
    let (reason, handoff_at) = (reason.map(str::to_owned), env.context.now);
    emit(tx, env, row, |chat| {
        Event::ChatHandoffRequested(HandoffRequest { chat, reason, handoff_at, transcript: None })
    })?;
    round_robin::place(tx, env, row)
}

/// The outcome of a conversation, the values that it collected, and the edges of its flow that it took.
#[derive(Debug, Default)]
pub struct Legacy {
    pub outcome: Option<String>,
    pub extracted: Option<Value>,
    pub path: Vec<EdgeVisits>,
}

/// The outcome and values of a chat's stored conversation.
fn stored_legacy(tx: &mut Tx<'_>, row: &ChatRow) -> Result<Legacy, Failure> {
    let Some(text) = chats::state(&mut tx.of(row.workspace), row.id)?.conversation else {
        return Ok(Legacy::default());
    };
    let state = read_state(&text)?;
    let extracted = Some(Value::Object(state.extracted().clone()));
    Ok(Legacy { outcome: None, extracted, path: state.path() })
}

/// Parses a stored conversation.
///
/// # Errors
/// Internal only: what was stored can be read.
pub fn read_state(text: &str) -> Result<conversation::State, Failure> {
    serde_json::from_str(text).map_err(|why| Failure::internal(format!("a stored conversation: {why}")))
}

/// Ends a chat: answers a waiting request, settles the charge, publishes `chat.completed`, and schedules the analysis.
/// Idempotent.
pub fn end(tx: &mut Tx<'_>, env: &Env, row: &mut ChatRow, cause: EndCause) -> Result<(), Failure> {
    let legacy = stored_legacy(tx, row)?;
    end_with(tx, env, row, cause, legacy)
}

/// [`end`] with the outcome of the conversation.
pub fn end_with(
    tx: &mut Tx<'_>,
    env: &Env,
    row: &mut ChatRow,
    cause: EndCause,
    legacy: Legacy,
) -> Result<(), Failure> {
    leaves(tx, row);
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
    store::wallet::release(&mut tx.of(row.workspace), row.price, 0)?;
    if row.customer_messages > 0 && row.price > 0 {
        let reference = row.id.to_string();
        let context = &env.context;
        wallet::post(&mut tx.of(row.workspace), context, "chat_charge", -row.price, &reference, Floor::None)?;
    }
    let is_test = row.test_link.is_some();
    if row.customer_messages > 0 && env.model && cause != EndCause::Erased && !is_test {
        row.analysis = Some(Reading::Pending);
        row.analysis_at = Some(now);
        tx.wake(topics::CHATS);
    }
    save(tx, env, row)?;
    if row.channel == Channel::Chatapp {
        channel_conversations::close(&mut tx.of(row.workspace), row.id)?;
    }
    chats::drop_state(&mut tx.of(row.workspace), row.id)?;
    chats::drop_flow(&mut tx.of(row.workspace), &row.flow)?;
    flow_visits::count_chat(tx, row, &legacy.path, now)?;
    emit(tx, env, row, |chat| Event::ChatCompleted(ChatWithTranscript { chat, transcript: None }))?;
    // What is still to be read is waited for; an opt-out is not.
    if row.analysis != Some(Reading::Pending) || cause == EndCause::OptedOut {
        is_over(tx, env, row)?;
    }
    Ok(())
}

/// Calls the hook of a chat that is over.
pub(crate) fn is_over(tx: &mut Tx<'_>, env: &Env, row: &ChatRow) -> Result<(), Failure> {
    env.hooks.chat_ended(&mut tx.of(row.workspace), &env.context, row)
}

/// The customer of a chat on the messaging channel, in the form of events and conversations.
pub fn customer(row: &ChannelChatRow) -> ConversationCustomer {
    ConversationCustomer {
        phone: row.phone.clone(),
        name: row.name.clone(),
        user_id: row.user_id.clone(),
        username: row.username.clone(),
    }
}

/// Writes an event of a chat (docs/contract/chats.md#events), made by `event` from the chat as it is now, without its
/// transcript, which is inserted when the event is sent or read.
pub fn emit(
    tx: &mut Tx<'_>,
    env: &Env,
    row: &ChatRow,
    event: impl FnOnce(ChatData) -> Event,
) -> Result<(), Failure> {
    let handoff = row.handoff_at.map(|at| Handoff {
        reason: row.handoff_reason.clone(),
        requested_at: at,
        user_id: row.teammate,
    });
    let carried = match row.channel {
        Channel::Chatapp => channel_conversations::get(&mut tx.of(row.workspace), row.id)?,
        Channel::Api | Channel::Web => None,
    };
    let carried = carried.as_ref();
    let event = event(ChatData {
        chat_id: row.id,
        channel: row.channel,
        agent_id: row.agent,
        contact_id: row.contact,
        external_ref: row.external_ref.clone(),
        customer: carried.map(customer),
        business_number: carried.map(|carried| carried.business.clone()),
        origin: carried.map_or(Origin::Inbound, |carried| carried.origin),
        linked_call_id: carried.and_then(|carried| carried.linked_call),
        status: match row.state {
            State::Ended => ConversationStatus::Ended,
            State::Ai | State::AwaitingHuman | State::Human => ConversationStatus::Active,
        },
        end_cause: row.end_cause,
        started_at: row.created_at,
        ended_at: row.ended_at,
        message_count: row.messages,
        language: row.language.clone(),
        handoff,
        is_test: row.test_link.is_some(),
        metadata: row.metadata.clone(),
        ad_referral: carried.and_then(|carried| carried.ad_referral.clone()),
    });
    let transcript = match event {
        Event::ChatStarted(_) => None,
        _ => Some(TranscriptRef {
            chat: row.id,
            last: row.messages,
            characters: row.characters,
            failed: undelivered(tx, row)?.into_iter().collect(),
        }),
    };
    // The last event of an erased person has no data of theirs, and is not emptied with the earlier ones.
    let subject = row.contact.filter(|_| row.end_cause != Some(EndCause::Erased));
    let (agent, contact) = (row.agent.to_string(), subject.map(|id| id.to_string()));
    let mode = if row.test_link.is_some() { Mode::Test } else { Mode::Live };
    let event = NewEvent { event, mode, agent: Some(&agent), contact: contact.as_deref() };
    events::emit_with(&mut tx.of(row.workspace), &env.context, event, transcript)?;
    Ok(())
}
