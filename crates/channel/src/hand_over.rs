//! A helpdesk takes a conversation over and gives it back, a teammate is given one, and a client ends one
//! (docs/contract/channel-conversations.md#hand-over).

use std::sync::Arc;

use api::channel_conversations::{
    AssignedConversation, Assignee, Conversation, ConversationAssignment, ConversationBusiness,
    ConversationCustomer, ConversationHandback, ConversationOutcome, ConversationStatus,
    ConversationTakeover, EndedConversation, HandedBackConversation, MAX_PRIOR_BYTES, TakenOver,
    TakenOverConversation, WithAgent,
};
use api::error_codes as codes;
use api::events::chats::{AssignedChat, Assigner, Handback, TakenOverChat, Teammate};
use app::bell::{self, Subject};
use app::events::Event;
use app::{App, Failure, access, topics};
use chats::session::{self, Env};
use domain::actor::Actor;
use domain::chat::{Channel, EndCause, Origin, State, background};
use domain::ids::{Chat, Id};
use domain::tenant::{Mode, Role, Tenant};
use domain::topic::NotificationKind;
use serde_json::Map;
use store::TenantTx;
use store::channel_conversations::{self, ChannelChatRow};
use store::chats::{self as store_chats, ChatRow};
use store::members::{self, MemberRow};

use crate::conversation_views::one;

/// A conversation on the channel, locked until the transaction ends.
pub(crate) fn find(tx: &mut TenantTx, id: Id<Chat>) -> Result<(ChatRow, ChannelChatRow), Failure> {
    let missing = || Failure::not_found("conversation");
    let row = store_chats::get_for_update(tx, id)?
        .filter(|row| row.channel == Channel::Chatapp)
        .ok_or_else(missing)?;
    let carried = channel_conversations::get(tx, id)?.ok_or_else(missing)?;
    Ok((row, carried))
}

/// [`find`] for a conversation that is not over.
fn find_open(tx: &mut TenantTx, id: Id<Chat>) -> Result<(ChatRow, ChannelChatRow), Failure> {
    let (row, carried) = find(tx, id)?;
    if row.state == State::Ended || row.wish.is_some() {
        return Err(Failure::plain(codes::CONVERSATION_ENDED));
    }
    Ok((row, carried))
}

/// Whether a teammate has it.
fn with_teammate(row: &ChatRow) -> bool {
    row.state == State::Human && row.teammate.is_some()
}

/// `POST /v1/chatapp/conversations/{id}/end`. Idempotent. A test key gets the simulated result and changes nothing.
///
/// # Errors
/// 404.
pub async fn end(
    app: &Arc<App>,
    tenant: Tenant,
    mode: Mode,
    id: Id<Chat>,
) -> Result<EndedConversation, Failure> {
    let env = Env::of(app);
    app.of(tenant)
        .tx(move |tx| {
            access::workspace(tx)?;
            let (mut row, carried) = find(tx, id)?;
            if mode == Mode::Test {
                let conversation = simulated_end(&env, &row, carried);
                return Ok(EndedConversation { conversation, livemode: false });
            }
            session::end(tx, &env, &mut row, EndCause::Completed)?;
            Ok(EndedConversation { conversation: one(tx, row)?, livemode: true })
        })
        .await
}

/// The simulated result for a test key. It holds nothing of the live conversation: neither the person nor the messages.
fn simulated_end(env: &Env, row: &ChatRow, carried: ChannelChatRow) -> Conversation {
    let now = env.context.now;
    Conversation {
        id: row.id,
        agent_id: row.agent,
        contact_id: env.context.ids.make(),
        external_ref: None,
        customer: ConversationCustomer { phone: None, name: None, user_id: None, username: None },
        business: ConversationBusiness { phone: carried.business, phone_number_id: carried.phone_number_id },
        status: ConversationStatus::Ended,
        end_cause: Some(EndCause::Completed),
        origin: Origin::Inbound,
        message_count: 0,
        is_test: false,
        started_at: now,
        ended_at: Some(now),
        outcome: ConversationOutcome { disposition: None, board_column: None },
        labels: Vec::new(),
        assigned_to: None,
        ad_referral: None,
        metadata: Map::new(),
        messages: None,
        analysis: None,
    }
}

/// `POST /v1/chatapp/conversations/{id}/takeover`: the agent stops replying.
///
/// # Errors
/// docs/contract/channel-conversations.md#hand-over
pub async fn take_over(
    app: &Arc<App>,
    tenant: Tenant,
    mode: Mode,
    id: Id<Chat>,
    body: ConversationTakeover,
) -> Result<TakenOverConversation, Failure> {
    let env = Env::of(app);
    let already = app
        .of(tenant)
        .tx(move |tx| {
            access::workspace(tx)?;
            let (mut row, mut carried) = find_open(tx, id)?;
            if with_teammate(&row) {
                return Err(Failure::plain(codes::HELD_BY_TEAMMATE));
            }
            if carried.helpdesk || mode == Mode::Test {
                return Ok(carried.helpdesk);
            }
            session::take_over(tx, &env, &mut row, None)?;
            carried.helpdesk = true;
            carried.helpdesk_name.clone_from(&body.agent_name);
            channel_conversations::save(tx, &carried)?;
            let (agent_name, note) = (body.agent_name.clone(), body.note.clone());
            session::emit(tx, &env, &row, |chat| {
                let by = "helpdesk".to_owned();
                Event::ChatTakenOver(TakenOverChat { chat, by, agent_name, note, transcript: None })
            })?;
            Ok(false)
        })
        .await?;
    Ok(TakenOverConversation {
        id,
        status: TakenOver::TakenOver,
        already_taken_over: already,
        livemode: mode.livemode(),
    })
}

/// `POST /v1/chatapp/conversations/{id}/handback`: what the team wrote is added to the history, and the agent answers
/// the customer again.
///
/// # Errors
/// docs/contract/channel-conversations.md#hand-over
pub async fn hand_back(
    app: &Arc<App>,
    tenant: Tenant,
    mode: Mode,
    id: Id<Chat>,
    body: ConversationHandback,
) -> Result<HandedBackConversation, Failure> {
    let bytes: usize = body.messages.iter().map(|message| message.text.len()).sum();
    if bytes > MAX_PRIOR_BYTES {
        return Err(Failure::field("messages", format!("must have at most {} KB", MAX_PRIOR_BYTES / 1024)));
    }
    let env = Env::of(app);
    let already = app.of(tenant).tx(move |tx| hand_back_in(tx, &env, mode, id, &body)).await?;
    Ok(HandedBackConversation {
        id,
        status: WithAgent::WithAgent,
        already_with_agent: already,
        livemode: mode.livemode(),
    })
}

fn hand_back_in(
    tx: &mut TenantTx,
    env: &Env,
    mode: Mode,
    id: Id<Chat>,
    body: &ConversationHandback,
) -> Result<bool, Failure> {
    access::workspace(tx)?;
    let (mut row, mut carried) = find_open(tx, id)?;
    if with_teammate(&row) {
        return Err(Failure::plain(codes::HELD_BY_TEAMMATE));
    }
    if row.state == State::Ai || mode == Mode::Test {
        return Ok(row.state == State::Ai);
    }
    let mut added = 0;
    for message in &body.messages {
        let text = background::clean(&message.text);
        let room = row.messages < domain::chat::MAX_MESSAGES
            && row.characters + text.chars().count() as i64 <= domain::chat::MAX_CHARACTERS;
        if !text.is_empty() && room {
            let name = message.agent_name.as_deref().map(background::clean).filter(|name| !name.is_empty());
            session::write_of_team(tx, env, &mut row, &text, name, message.sent_at)?;
            added += 1;
        }
    }
    if let Some(note) = body.note.as_deref().map(background::clean).filter(|note| !note.is_empty()) {
        let note = format!("Note of the team: {note}");
        carried.background = Some(background::grown(carried.background.as_deref(), &note));
    }
    carried.helpdesk = false;
    carried.helpdesk_name = None;
    channel_conversations::save(tx, &carried)?;
    let handback = Handback { by: "helpdesk".into(), note: body.note.clone(), messages_added: added };
    chats::give_back(tx, env, &mut row, handback)?;
    // A node that waits for the person's return goes on at once.
    let waits = match store_chats::state(tx, id)?.conversation {
        Some(text) => chats::waits_for_return(&session::read_state(&text)?),
        None => false,
    };
    if waits {
        row.reply_at = Some(env.context.now);
    }
    session::save(tx, env, &mut row)?;
    tx.wake(topics::CHATS);
    Ok(false)
}

/// Whether a member's role allows writing in the inbox.
fn may_reply(member: &MemberRow) -> bool {
    member.role > Role::Viewer
}

/// `POST /v1/chatapp/conversations/{id}/assign`: a teammate goes on, the agent stops replying.
///
/// # Errors
/// docs/contract/channel-conversations.md#hand-over
pub async fn assign(
    app: &Arc<App>,
    tenant: Tenant,
    actor: Actor,
    id: Id<Chat>,
    body: ConversationAssignment,
) -> Result<AssignedConversation, Failure> {
    if body.user_id.is_some() == body.email.is_some() {
        return Err(Failure::field("userId", "or email is required, and only one of them"));
    }
    let env = Env::of(app);
    let assigned_to = app
        .store
        .tx(move |tx| {
            access::workspace(&mut tx.of(tenant))?;
            let (mut row, carried) = find_open(&mut tx.of(tenant), id)?;
            let wanted = |member: &MemberRow| match (&body.user_id, &body.email) {
                (Some(user), _) => member.id.to_string() == *user,
                (None, Some(email)) => member.email.eq_ignore_ascii_case(email.trim()),
                (None, None) => false,
            };
            let members = members::list(&mut tx.of(tenant))?;
            let assigner = assigner(&members, actor)?;
            let member = members
                .into_iter()
                .find(wanted)
                .filter(may_reply)
                .ok_or_else(|| Failure::plain(codes::ASSIGNEE_NOT_ALLOWED))?;
            if carried.helpdesk {
                return Err(Failure::plain(codes::HELD_BY_HELPDESK));
            }
            session::take_over(tx, &env, &mut row, Some(member.id))?;
            let who = Teammate { user_id: member.id, name: member.name };
            session::emit(tx, &env, &row, |chat| {
                Event::ChatAssigned(AssignedChat::manual(chat, who, assigner))
            })?;
            if actor != Actor::Member(member.id) {
                let whom = (member.id, Mode::Live);
                let about = Subject::new("chat", id);
                bell::notify(&mut tx.of(tenant), &env.context, whom, NotificationKind::Assigned, about)?;
            }
            Ok(member.id)
        })
        .await?;
    Ok(AssignedConversation { id, assigned_to })
}

/// Who assigns a conversation, as its event names them.
fn assigner(members: &[MemberRow], actor: Actor) -> Result<Assigner, Failure> {
    match actor {
        Actor::Key(api_key_id) => Ok(Assigner::Key { api_key_id }),
        Actor::Member(id) => members
            .iter()
            .find(|member| member.id == id)
            .map(|member| Assigner::Teammate(Teammate { user_id: id, name: member.name.clone() }))
            .ok_or_else(|| Failure::not_found("member")),
        Actor::Operator => Err(Failure::internal("the operator assigns no conversations")),
    }
}

/// `GET /v1/chatapp/assignees`.
///
/// # Errors
/// 404 without the workspace.
pub async fn assignees(app: &App, tenant: Tenant) -> Result<Vec<Assignee>, Failure> {
    let members = app.of(tenant).read(members::list).await?;
    let shown = |member: MemberRow| Assignee { user_id: member.id, name: member.name, email: member.email };
    Ok(members.into_iter().filter(may_reply).map(shown).collect())
}
