//! What members do with chats of any channel. A chat has one owner: taking it is a request, which is refused while a
//! colleague has it. Each use case locks the row of the chat first, so of two members one gets it.

use std::sync::Arc;

use api::error_codes as codes;
use api::events::Event;
use api::events::chats::{AssignedChat, Assigner, Teammate};
use api::inbox::InboxEntry;
use app::chat_words::Carried;
use app::{App, Failure, access};
use domain::actor::Actor;
use domain::chat::{EndCause, State};
use domain::ids::{Chat, Id, User};
use domain::tenant::Tenant;
use domain::topic::NotificationKind;
use store::chats::ChatRow;
use store::members::{self, MemberRow};
use store::{TenantTx, channel_conversations, inbox};

use super::list::one;
use super::{caller, find, held_by_helpdesk, named, not_held_by_others, replier, tell};
use crate::desk::{to_agent, write_in};
use crate::feed::Feed;
use crate::reply;
use crate::session::{Env, emit, end as end_chat, take_over};

/// Gives a chat to a member and emits `chat.assigned`. Saves the row.
fn give(tx: &mut TenantTx, env: &Env, row: &mut ChatRow, to: Teammate, by: Assigner) -> Result<(), Failure> {
    take_over(tx, env, row, Some(to.user_id))?;
    emit(tx, env, row, |chat| Event::ChatAssigned(AssignedChat::manual(chat, to, by)))
}

/// The member of a request, who may reply, and a chat that nobody else has, locked.
fn for_reply(tx: &mut TenantTx, member: Id<User>, id: Id<Chat>) -> Result<(MemberRow, ChatRow), Failure> {
    access::workspace(tx)?;
    let who = caller(tx, member)?;
    let row = find(tx, id)?;
    not_held_by_others(tx, &row, member)?;
    Ok((who, row))
}

/// `POST /v1/inbox/{id}/takeover`. A reply that is being written is dropped. Idempotent.
///
/// # Errors
/// 404; 409 `session_ended`, `held_by_teammate`, `held_by_helpdesk`.
pub async fn take(
    app: &Arc<App>,
    tenant: Tenant,
    member: Id<User>,
    id: Id<Chat>,
) -> Result<InboxEntry, Failure> {
    let env = Env::of(app);
    app.of(tenant)
        .tx(move |tx| {
            let (who, mut row) = for_reply(tx, member, id)?;
            if row.state != State::Human || row.teammate != Some(member) {
                let by = Assigner::Teammate(named(&who));
                give(tx, &env, &mut row, named(&who), by)?;
            }
            one(tx, id, Some(member))
        })
        .await
}

/// Who assigns a chat, as its event names them.
fn assigner(tx: &mut TenantTx, by: Actor) -> Result<Assigner, Failure> {
    match by {
        Actor::Key(api_key_id) => Ok(Assigner::Key { api_key_id }),
        Actor::Member(member) => Ok(Assigner::Teammate(named(&caller(tx, member)?))),
        Actor::Operator => Err(Failure::internal("the operator assigns no chats")),
    }
}

/// `POST /v1/inbox/{id}/assign`: also a chat that another member has. Idempotent.
///
/// # Errors
/// 400 `assignee_not_allowed`; 404; 409 `session_ended`, `held_by_helpdesk`.
pub async fn assign(
    app: &Arc<App>,
    tenant: Tenant,
    by: Actor,
    id: Id<Chat>,
    to: String,
) -> Result<InboxEntry, Failure> {
    let env = Env::of(app);
    app.of(tenant)
        .tx(move |tx| {
            access::workspace(tx)?;
            let assigner = assigner(tx, by)?;
            let mut row = find(tx, id)?;
            let to = match to.parse() {
                Ok(to) => replier(tx, to)?,
                Err(_) => None,
            };
            let to = to.ok_or_else(|| Failure::plain(codes::ASSIGNEE_NOT_ALLOWED))?;
            if held_by_helpdesk(tx, &row)? {
                return Err(Failure::plain(codes::HELD_BY_HELPDESK));
            }
            if row.state != State::Human || row.teammate != Some(to.id) {
                give(tx, &env, &mut row, named(&to), assigner)?;
                // Who takes a chat knows it.
                if by.member() != Some(to.id) {
                    tell(tx, &env.context, to.id, NotificationKind::Assigned, id)?;
                }
            }
            one(tx, id, by.member())
        })
        .await
}

/// `POST /v1/inbox/{id}/messages`: the member who has the chat writes to the customer.
///
/// # Errors
/// 400 for a blank text; 404; 409 `session_ended`, `held_by_teammate`, `held_by_helpdesk`, `window_closed`, and `conflict`
/// while nobody has it or it is full; 403 `contact_opted_out`.
pub async fn write(
    app: &Arc<App>,
    tenant: Tenant,
    member: Id<User>,
    id: Id<Chat>,
    text: String,
) -> Result<InboxEntry, Failure> {
    if text.trim().is_empty() {
        return Err(Failure::field("text", "must not be blank"));
    }
    let env = Env::of(app);
    let written = app
        .of(tenant)
        .tx(move |tx| {
            access::workspace(tx)?;
            caller(tx, member)?;
            // Before the chat: a message of the customer holds them in this order.
            channel_conversations::lock_thread(tx, id)?;
            let mut row = find(tx, id)?;
            not_held_by_others(tx, &row, member)?;
            if row.state == State::Human && row.teammate != Some(member) {
                return Err(Failure::conflict("you do not have this chat; take it over first"));
            }
            match write_in(tx, &env, &mut row, Some(member), &text)? {
                Ok(()) => Ok(Ok(one(tx, id, Some(member))?)),
                Err(refused) => Ok::<_, Failure>(Err(refused)),
            }
        })
        .await?;
    written.map_err(|refused| match refused {
        Carried::WindowClosed => Failure::plain(codes::WINDOW_CLOSED),
        Carried::OptedOut => Failure::plain(codes::CONTACT_OPTED_OUT),
        _ => Failure::conflict("the messaging channel cannot send the message now"),
    })
}

/// `POST /v1/inbox/{id}/handback`. If the flow waits for that, the agent continues at once; else with the customer's next
/// message.
///
/// # Errors
/// 404; 409 `session_ended`, `held_by_teammate`, `held_by_helpdesk`, `conflict` while the agent has it, and the codes with
/// which an opening would be refused.
pub async fn hand_back(
    app: &Arc<App>,
    tenant: Tenant,
    member: Id<User>,
    id: Id<Chat>,
) -> Result<InboxEntry, Failure> {
    let room = reply::take_room(app, tenant)?;
    let env = Env::of(app);
    let (shown, claim) = app
        .of(tenant)
        .tx(move |tx| {
            let (_, mut row) = for_reply(tx, member, id)?;
            let claim = to_agent(tx, &env, &mut row)?;
            Ok::<_, Failure>((one(tx, id, Some(member))?, claim))
        })
        .await?;
    if let Some(claim) = claim {
        // No request waits for this reply: the customer sees it with the session.
        drop(reply::start(app, claim, Feed::silent(), room));
    }
    Ok(shown)
}

/// `POST /v1/inbox/{id}/end`. Idempotent.
///
/// # Errors
/// 404; 409 `held_by_teammate`, `held_by_helpdesk`.
pub async fn end(
    app: &Arc<App>,
    tenant: Tenant,
    member: Id<User>,
    id: Id<Chat>,
) -> Result<InboxEntry, Failure> {
    let env = Env::of(app);
    app.of(tenant)
        .tx(move |tx| {
            let (_, mut row) = for_reply(tx, member, id)?;
            end_chat(tx, &env, &mut row, EndCause::HumanEnded)?;
            one(tx, id, Some(member))
        })
        .await
}

/// `PUT /v1/inbox/{id}/read`: the member has read the chat up to a message; an earlier one changes nothing.
///
/// # Errors
/// 400 for a message that is not there; 404.
pub async fn mark_read(
    app: &App,
    tenant: Tenant,
    member: Id<User>,
    id: Id<Chat>,
    up_to: i64,
) -> Result<InboxEntry, Failure> {
    app.of(tenant)
        .tx(move |tx| {
            members::get(tx, member)?.ok_or_else(|| Failure::plain(codes::ROLE_MISSING))?;
            // Locked, so that it is not deleted meanwhile with its marks.
            let row = find(tx, id)?;
            if up_to > row.messages {
                let must = format!("must be a message of the chat, which has {}", row.messages);
                return Err(Failure::field("upTo", must));
            }
            inbox::set_mark(tx, member, id, up_to)?;
            one(tx, id, Some(member))
        })
        .await
}
