//! Round robin (docs/contract/inbox.md#round-robin): a chat that waits for a person is given to a member who is present and
//! has room, least recently assigned first.
//!
//! It happens in the transaction that makes the chat wait, unless an older one waits; else the job `round_robin` does it
//! when a member comes or has room. A transaction that gives a chat has it locked, and then locks the member without
//! waiting for that: several nodes never give one chat twice, nor a member more than the ceiling.

use std::sync::Arc;

use api::events::Event;
use api::events::chats::{AssignedChat, Teammate};
use app::{App, Failure, topics};
use domain::chat::inbox::{Assignment, order, present_since};
use domain::chat::{State, Transition};
use domain::ids::{Chat, Id};
use domain::tenant::Tenant;
use domain::topic::NotificationKind;
use store::chats::{self, ChatRow};
use store::inbox::{self, SettingsRow};
use store::{TenantTx, Tx};

use crate::session::{Env, emit, pass, refusal, save};

/// Members who are looked at for one chat.
const LOOKED_AT: i64 = 200;
/// Chats of a workspace that one round of the job gives.
const SHARE: usize = 32;

/// The settings, where round robin is on.
fn on(tx: &mut TenantTx) -> Result<Option<SettingsRow>, Failure> {
    Ok(inbox::settings(tx)?.filter(|row| row.assignment == Assignment::RoundRobin))
}

/// A chat has begun to wait for a person: a member gets it, if round robin is on, nobody waits longer and a member is free.
/// The caller saves the row.
pub(crate) fn place(tx: &mut Tx<'_>, env: &Env, row: &mut ChatRow) -> Result<(), Failure> {
    // Nobody of the team is called to a test chat.
    if row.state != State::AwaitingHuman || row.wish.is_some() || row.test_link.is_some() {
        return Ok(());
    }
    let mut tx = tx.of(row.workspace);
    let Some(settings) = on(&mut tx)? else { return Ok(()) };
    if inbox::is_waiting(&mut tx, row.id)? || !give_to_somebody(&mut tx, env, row, &settings)? {
        tx.wake(topics::INBOX);
    }
    Ok(())
}

/// Gives a waiting chat to the next member; `false` when none is free. The caller saves the row.
fn give_to_somebody(
    tx: &mut TenantTx,
    env: &Env,
    row: &mut ChatRow,
    settings: &SettingsRow,
) -> Result<bool, Failure> {
    let now = env.context.now;
    let since = present_since(now);
    for candidate in order(inbox::candidates(tx, since, LOOKED_AT)?, settings.max_open) {
        let ceiling = candidate.ceiling.unwrap_or(settings.max_open);
        // What was read before the lock may have changed.
        if !inbox::lock_if_present(tx, candidate.member, since)?
            || inbox::held(tx, candidate.member)? >= ceiling
        {
            continue;
        }
        let Some(member) = super::replier(tx, candidate.member)? else { continue };
        inbox::assigned(tx, member.id, now)?;
        pass(env, row, Transition::Assign(member.id)).map_err(refusal)?;
        let who = Teammate { user_id: member.id, name: member.name };
        emit(tx, env, row, |chat| Event::ChatAssigned(AssignedChat::round_robin(chat, who)))?;
        super::tell(tx, &env.context, member.id, NotificationKind::Assigned, row.id)?;
        return Ok(true);
    }
    Ok(false)
}

/// What became of a chat that waited.
enum Given {
    /// A member has it, or it waits no more.
    Done,
    /// Nobody is free, or round robin is off.
    Nobody,
}

async fn give_one(app: &Arc<App>, tenant: Tenant, id: Id<Chat>) -> Result<Given, Failure> {
    let env = Env::of(app);
    app.of(tenant)
        .tx(move |tx| {
            let Some(settings) = on(tx)? else { return Ok(Given::Nobody) };
            let row = chats::get_for_update(tx, id)?;
            let Some(mut row) = row.filter(|row| row.state == State::AwaitingHuman && row.wish.is_none())
            else {
                return Ok(Given::Done);
            };
            if !give_to_somebody(tx, &env, &mut row, &settings)? {
                return Ok(Given::Nobody);
            }
            save(tx, &env, &mut row)?;
            Ok(Given::Done)
        })
        .await
}

/// Whether more is to be given at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Due {
    Now,
    /// When a member comes or has room.
    Later,
}

/// Gives chats that wait to members who have room, of each workspace up to a share.
///
/// # Errors
/// Those of the store, when it cannot be read. A chat that could not be given is logged and stays.
pub async fn give(app: &Arc<App>) -> Result<Due, Failure> {
    let since = present_since(app.clock.now());
    let workspaces = app.store.read(move |tx| inbox::round_robin_workspaces(tx, since)).await?;
    let mut due = Due::Later;
    for tenant in workspaces {
        let waiting = app.of(tenant).read(|tx| inbox::waiting(tx, SHARE as i64)).await?;
        let whole = waiting.len() == SHARE;
        let mut given = 0;
        for id in waiting {
            match give_one(app, tenant, id).await {
                Ok(Given::Done) => given += 1,
                Ok(Given::Nobody) => break,
                Err(failure) => failure.warn_about(id, "a chat that waits could not be given to a member"),
            }
        }
        if whole && given == SHARE {
            due = Due::Now;
        }
    }
    Ok(due)
}
