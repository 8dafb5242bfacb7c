//! Due chats: idle timeout, longest duration, suspension of the workspace, debounced replies, and replies whose lease
//! expired.

use std::sync::Arc;

use app::due_rows::DueRow;
use app::{App, Failure};
use domain::chat::{Channel, EndCause, State, TurnKind, times_out};
use domain::ids::{Chat, Id};
use domain::tenant::Tenant;
use domain::time::Timestamp;
use store::chats::ChatRow;
use store::{DbError, TenantTx, Tx, chats};

use crate::carried::{OFF, Sendable, leave_to_person, sendable};
use crate::feed::Feed;
use crate::reply::{self, NO_ROOM, try_again};
use crate::session::{Claim, Env, begin_turn, end, read_state, save, standing};
use crate::turn::handed_back;

/// Makes the replies that this node was writing when it stopped due at once. Call before the node serves.
pub async fn adopt(app: &App) -> Result<u64, DbError> {
    let (node, now) = (app.ports.node.clone(), app.clock.now());
    app.store.tx(move |tx| chats::orphan(tx, &node, now)).await
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Due {
    pub tenant: Tenant,
    pub id: Id<Chat>,
}

impl DueRow for Due {
    fn tenant(&self) -> Tenant {
        self.tenant
    }

    fn due(tx: &mut Tx<'_>, now: Timestamp, without: &[Tenant], limit: i64) -> Result<Vec<Self>, DbError> {
        let due = chats::due(tx, now, without, limit)?;
        Ok(due.into_iter().map(|(tenant, id)| Self { tenant, id }).collect())
    }

    fn claim(&self, tx: &mut Tx<'_>, until: Timestamp) -> Result<(), DbError> {
        chats::claim(&mut tx.of(self.tenant), self.id, until)
    }

    fn next_due(tx: &mut Tx<'_>, now: Timestamp) -> Result<Option<Timestamp>, DbError> {
        chats::next_due(tx, now)
    }
}

/// Handles a due chat.
///
/// # Errors
/// The chat stays due.
pub async fn look_after(app: &Arc<App>, Due { tenant, id }: Due) -> Result<(), Failure> {
    let env = Env::of(app);
    let room = reply::take_room(app, tenant).ok();
    let has_room = room.is_some();
    let claim = app.of(tenant).tx(move |tx| look_after_in(tx, &env, id, has_room)).await?;
    if let (Some(claim), Some(room)) = (claim, room) {
        // The request that waited for it is gone; a retry of it finds the reply.
        drop(reply::start(app, claim, Feed::silent(), room));
    }
    Ok(())
}

/// The end cause of a chat on the messaging channel in which the customer never wrote.
fn silent(row: &ChatRow, cause: EndCause) -> EndCause {
    let timed_out = matches!(cause, EndCause::IdleTimeout | EndCause::MaxDuration);
    if row.channel == Channel::Chatapp && row.customer_messages == 0 && timed_out {
        return EndCause::NoReply;
    }
    cause
}

/// Begins the agent's debounced reply on the messaging channel. It waits while agents pause on the number or are off; on a
/// number that cannot send no reply is written.
fn begin(tx: &mut Tx<'_>, env: &Env, mut row: ChatRow, has_room: bool) -> Result<Option<Claim>, Failure> {
    let now = env.context.now;
    let paused = match sendable(tx, &row)? {
        Sendable::From(number) => number.ai_paused_until.filter(|until| *until > now),
        Sendable::NotNow => Some(now.plus(OFF)),
        Sendable::NoNumber => {
            leave_to_person(tx, env, &mut row)?;
            return Ok(None);
        }
    };
    if paused.is_some() || !has_room {
        row.reply_at = Some(paused.unwrap_or_else(|| now.plus(NO_ROOM)));
        save(tx, env, &mut row)?;
        return Ok(None);
    }
    row.reply_at = None;
    row.unanswered_at = None;
    let kind = match chats::state(&mut tx.of(row.workspace), row.id)?.conversation {
        Some(text) if row.heard >= row.messages || handed_back(&read_state(&text)?).is_some() => {
            TurnKind::Handback
        }
        Some(_) => TurnKind::Message,
        None => TurnKind::Opening,
    };
    let claim = begin_turn(env, &mut row, kind);
    save(tx, env, &mut row)?;
    Ok(Some(claim))
}

fn look_after_in(
    tx: &mut TenantTx,
    env: &Env,
    id: Id<Chat>,
    has_room: bool,
) -> Result<Option<Claim>, Failure> {
    let now = env.context.now;
    let row = chats::get_for_update(tx, id)?;
    let Some(mut row) = row.filter(|row| row.next_at.is_some_and(|due| due <= now)) else { return Ok(None) };
    if let Some(cause) = row.wish.or_else(|| times_out(&standing(&row), env.limits(row.channel), now)) {
        let cause = silent(&row, cause);
        end(tx, env, &mut row, cause)?;
        return Ok(None);
    }
    match row.turn_kind {
        Some(kind) if row.turn_until.is_none_or(|until| until <= now) => {
            if has_room {
                return try_again(tx, env, &mut row, kind, true);
            }
            row.turn_until = Some(now.plus(NO_ROOM));
        }
        None if row.reply_at.is_some_and(|due| due <= now) && row.state == State::Ai => {
            return begin(tx, env, row, has_room);
        }
        Some(_) | None => {}
    }
    // The settings may have changed since its time was computed.
    save(tx, env, &mut row)?;
    Ok(None)
}
