//! How many messages of a workspace wait to be sent, and when no more are taken.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use app::{App, Failure};
use domain::tenant::Tenant;
use domain::time::{SECOND, Timestamp};
use store::{Tx, channel_messages};

/// Most messages of a workspace that wait to be sent.
pub const MAX_WAITING: i64 = 200_000;
/// Within this distance of the ceiling the waiting messages are counted for each new one. All nodes together add fewer in a
/// second.
const NEAR: i64 = MAX_WAITING / 4;
/// Workspaces whose waiting messages a node remembers to have counted.
const COUNTED: usize = 10_000;

/// How many messages of a workspace wait, as this node last counted and has added since.
#[derive(Default)]
struct Waiting(Mutex<HashMap<Tenant, (Timestamp, i64)>>);

/// Whether so many messages wait that no more are taken. They are counted once a second, and each time when they may be
/// near their ceiling: counting all of them takes long when there are many.
pub(super) fn too_many_wait(app: &App, tx: &mut Tx<'_>, tenant: Tenant) -> Result<bool, Failure> {
    let (waiting, now) = (app.kept.of(Waiting::default), app.clock.now());
    let known = |waiting: &Waiting| {
        let mut known = waiting.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (at, count) = known.get_mut(&tenant)?;
        *count += 1;
        (now.0 - at.0 < SECOND && *count < MAX_WAITING - NEAR).then_some(())
    };
    if known(&waiting).is_some() {
        return Ok(false);
    }
    let count = channel_messages::waiting(tx, tenant)?;
    let mut known = waiting.0.lock().unwrap_or_else(PoisonError::into_inner);
    if known.len() >= COUNTED {
        known.clear();
    }
    known.insert(tenant, (now, count + 1));
    Ok(count >= MAX_WAITING)
}
