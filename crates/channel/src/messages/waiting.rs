//! The ceiling of queued messages of a workspace.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use app::{App, Failure};
use domain::tenant::Tenant;
use domain::time::{SECOND, Timestamp};
use store::{TenantTx, channel_messages};

/// Most queued messages of a workspace.
pub const MAX_WAITING: i64 = 200_000;
/// Within this distance of the ceiling queued messages are counted for each new one. All nodes together add fewer in a
/// second.
const NEAR: i64 = MAX_WAITING / 4;
/// Most workspaces whose count a node remembers.
const COUNTED: usize = 10_000;

/// Queued messages by workspace: the last count, and what this node has added since.
#[derive(Default)]
struct Waiting(Mutex<HashMap<Tenant, (Timestamp, i64)>>);

/// Whether a workspace is at the ceiling. Queued messages are counted once a second, and each time near the ceiling.
pub(super) fn too_many_wait(app: &App, tx: &mut TenantTx) -> Result<bool, Failure> {
    let tenant = tx.tenant();
    let (waiting, now) = (app.state.of(Waiting::default), app.clock.now());
    let known = |waiting: &Waiting| {
        let mut known = waiting.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (at, count) = known.get_mut(&tenant)?;
        *count += 1;
        (now.0 - at.0 < SECOND && *count < MAX_WAITING - NEAR).then_some(())
    };
    if known(&waiting).is_some() {
        return Ok(false);
    }
    let count = channel_messages::waiting(tx)?;
    let mut known = waiting.0.lock().unwrap_or_else(PoisonError::into_inner);
    if known.len() >= COUNTED {
        known.clear();
    }
    known.insert(tenant, (now, count + 1));
    Ok(count >= MAX_WAITING)
}
