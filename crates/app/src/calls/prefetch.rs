//! Prefetches the reads of many facts before the first of them is applied: on a shared store a few statements in one
//! round trip (`Tx::prefetch`). [`apply`](super::apply) and its followers then find their results there.

use domain::call::{Fact, Progress, Stage, step};
use store::calls::{self, CallRow};
use store::{Tx, agents, contacts, nudges, scheduled_calls, wallet, workspaces};

use super::Env;
use crate::Failure;

/// A fact that is about to be applied.
pub(super) struct Coming<'c> {
    /// The call, as far as it is known: its ids are what counts.
    pub call: &'c CallRow,
    pub fact: Fact,
    /// The progress of the call at that point.
    pub after: Progress,
}

impl<'c> Coming<'c> {
    /// The fact, with its effect on the given call; `None` when it changes nothing.
    pub fn of(call: &'c CallRow, fact: Fact, env: &Env) -> Option<Self> {
        let (after, _) = step(&call.progress, fact, env.context.now)?;
        Some(Self { call, fact, after })
    }
}

/// Prefetches the reads of these facts together. `held`: the calls are locked already. The transaction has not written
/// anything yet.
pub(super) fn prefetch(tx: &mut Tx<'_>, env: &Env, held: bool, coming: &[Coming<'_>]) -> Result<(), Failure> {
    tx.prefetch(|tx| {
        for one in coming {
            look(tx, env, held, one);
        }
    })?;
    Ok(())
}

/// Issues all reads. A read finds nothing here, so its result is ignored.
fn look(tx: &mut Tx<'_>, env: &Env, held: bool, Coming { call, fact, after }: &Coming<'_>) {
    let tenant = call.workspace;
    if !held {
        let _ = calls::get_for_update(&mut tx.of(tenant), call.id);
    }
    if let Some(id) = call.scheduled_call {
        let _ = scheduled_calls::get_for_update(&mut tx.of(tenant), id);
    }
    if let Some(id) = call.nudge {
        let _ = nudges::get_for_update(&mut tx.of(tenant), id);
    }
    if after.status.stage() == Stage::Ended {
        if call.line {
            let _ = wallet::state(&mut tx.of(tenant));
        }
        match call.network {
            // Its conversation is played at the end.
            Some(_) if after.answered_at.is_some() => {
                let _ = call.agent.map(|id| agents::get(&mut tx.of(tenant), id));
                let _ = call.contact.map(|id| contacts::erased_at(&mut tx.of(tenant), id));
            }
            Some(_) => {}
            // Its node reports what was said.
            None if *fact != Fact::Lost => {
                let _ = workspaces::get(&mut tx.of(tenant));
                if after.answered_at.is_some() {
                    // Its pack says what had to be said.
                    let _ = call.agent.map(|id| agents::get(&mut tx.of(tenant), id));
                    let _ = call.contact.map(|id| contacts::get_for_update(&mut tx.of(tenant), id));
                }
            }
            None => {}
        }
    }
    env.hooks.prefetch(tx, env, call, after, *fact);
}
