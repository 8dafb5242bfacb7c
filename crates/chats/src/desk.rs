//! The inbox: takeover of a chat by a teammate, their messages, handback, and end (docs/contract/chats.md#people).

use std::sync::Arc;

use api::chats::InboxChat;
use api::events::Event;
use api::events::chats::{AssignedChat, Assigner, Handback, Teammate};
use app::chat_words::{Carried, Writer};
use app::operator_log::{self, Trace};
use app::{App, Failure, access};
use domain::chat::{Channel, EndCause, MAX_CHARACTERS, MAX_MESSAGES, Role, State, TurnKind};
use domain::ids::{Chat, Id, User};
use domain::tenant::Tenant;
use store::chats::{self, ChatRow};
use store::members::{self, MemberRow};
use store::{DbError, TenantTx, Tx, channel_conversations};

use crate::carried::carry;
use crate::feed::Feed;
use crate::open::give_back;
use crate::read::view;
use crate::reply;
use crate::session::{
    self, Claim, Env, begin_turn, emit, end as end_chat, find, read_state, refusal, save,
    write as add_message,
};
use crate::turn::handed_back;
use crate::written::Line;

fn log(tx: &mut Tx<'_>, env: &Env, trace: &Trace, row: &ChatRow) -> Result<(), DbError> {
    operator_log::append(tx, &env.context, trace, Some(row.workspace), &row.id.to_string())
}

fn held_by_helpdesk(tx: &mut Tx<'_>, row: &ChatRow) -> Result<bool, Failure> {
    if row.channel != Channel::Chatapp {
        return Ok(false);
    }
    Ok(channel_conversations::get(&mut tx.of(row.workspace), row.id)?.is_some_and(|carried| carried.helpdesk))
}

/// A member who may write in the inbox.
fn teammate(tx: &mut TenantTx, user: &str) -> Result<MemberRow, Failure> {
    let wrong = || Failure::field("userId", "must be an owner, an admin or an editor of the workspace");
    let id: Id<User> = user.parse().map_err(|_| wrong())?;
    members::get(tx, id)?.filter(|member| member.role > domain::tenant::Role::Viewer).ok_or_else(wrong)
}

/// A teammate takes a chat over. A reply that is being written is dropped. Idempotent.
///
/// # Errors
/// 404; 400 for a member who may not write; 409 `session_ended`, and `conflict` while another teammate or a helpdesk
/// has it.
pub async fn take_over(
    app: &Arc<App>,
    trace: Trace,
    tenant: Tenant,
    id: Id<Chat>,
    user: String,
) -> Result<InboxChat, Failure> {
    let env = Env::of(app);
    app.of(tenant)
        .tx(move |tx| {
            access::workspace(tx)?;
            let mut row = find(tx, id)?;
            let member = teammate(tx, &user)?;
            if row.state == State::Human && row.teammate.is_some() {
                return if row.teammate == Some(member.id) {
                    Ok(view(row))
                } else {
                    Err(Failure::conflict("another teammate handles this chat; it must be handed back first"))
                };
            }
            if held_by_helpdesk(tx, &row)? {
                return Err(Failure::conflict("a helpdesk handles this chat; it must be handed back first"));
            }
            session::take_over(tx, &env, &mut row, Some(member.id))?;
            let who = Teammate { user_id: member.id, name: member.name };
            emit(tx, &env, &row, |chat| {
                let by = Assigner::Teammate(who.clone());
                Event::ChatAssigned(AssignedChat::manual(chat, who, by))
            })?;
            log(tx, &env, &trace, &row)?;
            Ok(view(row))
        })
        .await
}

/// Sends a message of the teammate who has the chat.
///
/// # Errors
/// 404; 409 `session_ended`, and `conflict` while no teammate has it, or it is full.
pub async fn write(
    app: &Arc<App>,
    trace: Trace,
    tenant: Tenant,
    id: Id<Chat>,
    text: String,
) -> Result<InboxChat, Failure> {
    if text.trim().is_empty() {
        return Err(Failure::field("text", "must not be blank"));
    }
    let env = Env::of(app);
    let written = app
        .of(tenant)
        .tx(move |tx| {
            access::workspace(tx)?;
            // Before the chat: a message of the customer holds them in this order.
            channel_conversations::lock_thread(tx, id)?;
            let mut row = find(tx, id)?;
            let author = row.teammate;
            if let Err(refused) = write_in(tx, &env, &mut row, author, &text)? {
                return Ok(Err(refused));
            }
            log(tx, &env, &trace, &row)?;
            Ok::<_, Failure>(Ok(view(row)))
        })
        .await?;
    written.map_err(|refused| {
        Failure::conflict(match refused {
            Carried::WindowClosed => "the customer has not written within 24 hours; send a template",
            Carried::OptedOut => "the customer has opted out of messages",
            _ => "the messaging channel cannot send the message now",
        })
    })
}

/// Adds a message of a person who has the chat, and sends it on the messaging channel. The inner error is why that refuses
/// it. Saves the row. The caller has locked the thread before the chat.
///
/// # Errors
/// 409 `session_ended`, and `conflict` while no person has the chat, it is full, or a helpdesk has it.
pub(crate) fn write_in(
    tx: &mut TenantTx,
    env: &Env,
    row: &mut ChatRow,
    author: Option<Id<User>>,
    text: &str,
) -> Result<Result<(), Carried>, Failure> {
    match row.state {
        State::Human => {}
        State::Ended => return Err(refusal(domain::chat::Stuck::Over)),
        State::Ai | State::AwaitingHuman => {
            return Err(Failure::conflict("no teammate handles this chat; take it over first"));
        }
    }
    let characters = row.characters + text.chars().count() as i64;
    if row.messages >= MAX_MESSAGES || characters > MAX_CHARACTERS {
        return Err(Failure::conflict("the chat has reached its maximum length; end it"));
    }
    if held_by_helpdesk(tx, row)? {
        return Err(Failure::conflict("a helpdesk handles this chat; it must be handed back first"));
    }
    if row.channel == Channel::Chatapp {
        let line = [Line::Words(text.to_owned())];
        if let Err(refused) = carry(tx, env, row, &line, Writer::Teammate(author))? {
            // The failed message is stored, and those sent before it.
            save(tx, env, row)?;
            return Ok(Err(refused));
        }
    } else {
        add_message(tx, env, row, Role::Human, text, author)?;
    }
    save(tx, env, row)?;
    Ok(Ok(()))
}

/// Hands a chat back to its agent. If its flow waits for that, the agent continues at once; else with the customer's next
/// message.
///
/// # Errors
/// 404; 409 `session_ended`, `conflict` while the agent has it, and the codes with which an opening would be refused.
pub async fn hand_back(
    app: &Arc<App>,
    trace: Trace,
    tenant: Tenant,
    id: Id<Chat>,
) -> Result<InboxChat, Failure> {
    let room = reply::take_room(app, tenant)?;
    let env = Env::of(app);
    let (shown, claim) = app.of(tenant).tx(move |tx| hand_back_in(tx, &env, &trace, id)).await?;
    if let Some(claim) = claim {
        // No request waits for this reply: the customer sees it with the session.
        drop(reply::start(app, claim, Feed::silent(), room));
    }
    Ok(shown)
}

fn hand_back_in(
    tx: &mut TenantTx,
    env: &Env,
    trace: &Trace,
    id: Id<Chat>,
) -> Result<(InboxChat, Option<Claim>), Failure> {
    access::workspace(tx)?;
    let mut row = find(tx, id)?;
    if row.state.with_person() && held_by_helpdesk(tx, &row)? {
        return Err(Failure::conflict("a helpdesk handles this chat; it must be handed back first"));
    }
    let claim = to_agent(tx, env, &mut row)?;
    log(tx, env, trace, &row)?;
    Ok((view(row), claim))
}

/// Hands a chat back to its agent, which begins a reply where its flow waits for that. Saves the row.
///
/// # Errors
/// 409 `session_ended`, `conflict` while the agent has it, and the codes with which an opening would be refused.
pub(crate) fn to_agent(tx: &mut TenantTx, env: &Env, row: &mut ChatRow) -> Result<Option<Claim>, Failure> {
    let since = match row.taken_from {
        Some(taken_from) => chats::messages(tx, row.id, taken_from)?,
        None => Vec::new(),
    };
    let added = since.iter().filter(|message| message.role == Role::Human).count();
    give_back(tx, env, row, Handback { by: "teammate".into(), note: None, messages_added: added })?;
    let kind = match chats::state(tx, row.id)?.conversation {
        Some(text) => handed_back(&read_state(&text)?).map(|_| TurnKind::Handback),
        // On the messaging channel the customer's message opens it.
        None if row.channel == Channel::Chatapp => None,
        // It was taken over before the agent had said anything.
        None => Some(TurnKind::Opening),
    };
    let claim = kind.map(|kind| begin_turn(env, row, kind));
    save(tx, env, row)?;
    tx.wake(app::topics::CHATS);
    Ok(claim)
}

/// Ends a chat for a teammate or the operator. Idempotent.
///
/// # Errors
/// 404.
pub async fn end(app: &Arc<App>, trace: Trace, tenant: Tenant, id: Id<Chat>) -> Result<InboxChat, Failure> {
    let env = Env::of(app);
    app.of(tenant)
        .tx(move |tx| {
            access::workspace(tx)?;
            let mut row = find(tx, id)?;
            if row.state != State::Ended {
                end_chat(tx, &env, &mut row, EndCause::HumanEnded)?;
                log(tx, &env, &trace, &row)?;
            }
            Ok(view(row))
        })
        .await
}
