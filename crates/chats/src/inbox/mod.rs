//! The inbox of a team (docs/contract/inbox.md): chats of all channels in one list, and what members do with them.
//!
//! | file | holds |
//! |---|---|
//! | `list` | views of chats, their counts, one chat |
//! | `holders` | a member takes a chat, writes, hands it back, ends it, or is given one |
//! | `round_robin` | chats that wait are given to members who are present |
//! | `team` | availability, ceilings, settings |
//! | `notes` | private notes |
//! | `saved_answers` | answers that a team keeps |

mod holders;
mod list;
mod notes;
pub(crate) mod round_robin;
mod saved_answers;
mod team;

pub use holders::{assign, end, hand_back, mark_read, take, write};
pub use list::{counts, detail, list};
pub use notes::{add as add_note, list as notes};
pub use round_robin::{Due, give};
pub use saved_answers::{create, delete, list as saved_answers, update};
pub use team::{assignment, available, list as team, set_assignment, set_ceiling};

use api::error_codes as codes;
use api::events::chats::Teammate;
use app::{Context, Failure, bell};
use domain::chat::{Channel, State};
use domain::ids::{Chat, Id, User};
use domain::tenant::{Mode, Role};
use domain::topic::NotificationKind;
use serde_json::json;
use store::chats::{self, ChatRow};
use store::members::{self, MemberRow};
use store::{TenantTx, channel_conversations};

/// A member of the workspace who may reply to customers.
fn replier(tx: &mut TenantTx, member: Id<User>) -> Result<Option<MemberRow>, Failure> {
    Ok(members::get(tx, member)?.filter(|row| row.role > Role::Viewer))
}

/// The member who makes the request, and who may reply. The router has checked the role; it may have changed since.
fn caller(tx: &mut TenantTx, member: Id<User>) -> Result<MemberRow, Failure> {
    let missing = || Failure::plain(codes::ROLE_MISSING).with_meta(json!({"role": Role::Editor}));
    replier(tx, member)?.ok_or_else(missing)
}

fn named(row: &MemberRow) -> Teammate {
    Teammate { user_id: row.id, name: row.name.clone() }
}

/// A chat of the inbox, locked until the transaction ends.
///
/// # Errors
/// 404, for a test chat, too.
fn find(tx: &mut TenantTx, id: Id<Chat>) -> Result<ChatRow, Failure> {
    let row = chats::get_for_update(tx, id)?.filter(|row| row.test_link.is_none());
    row.ok_or_else(|| Failure::not_found("chat"))
}

/// Notifies a member of something about a chat.
fn tell(
    tx: &mut TenantTx,
    context: &Context,
    member: Id<User>,
    kind: NotificationKind,
    chat: Id<Chat>,
) -> Result<(), Failure> {
    bell::notify(tx, context, (member, Mode::Live), kind, bell::Subject::new("chat", chat))
}

fn held_by_helpdesk(tx: &mut TenantTx, row: &ChatRow) -> Result<bool, Failure> {
    if row.channel != Channel::Chatapp || row.state != State::Human {
        return Ok(false);
    }
    Ok(channel_conversations::get(tx, row.id)?.is_some_and(|carried| carried.helpdesk))
}

/// Refuses what only the person who has a chat may do, while somebody else has it.
///
/// # Errors
/// 409 `held_by_teammate`, whose `meta` says who has it since when, and `held_by_helpdesk`.
fn not_held_by_others(tx: &mut TenantTx, row: &ChatRow, member: Id<User>) -> Result<(), Failure> {
    let other = row.teammate.filter(|holder| row.state == State::Human && *holder != member);
    // One who was removed has nothing any more.
    if let Some(holder) = other.map(|holder| members::get(tx, holder)).transpose()?.flatten() {
        let meta = json!({"userId": holder.id, "name": holder.name, "since": row.taken_at});
        return Err(Failure::plain(codes::HELD_BY_TEAMMATE).with_meta(meta));
    }
    match held_by_helpdesk(tx, row)? {
        true => Err(Failure::plain(codes::HELD_BY_HELPDESK)),
        false => Ok(()),
    }
}
