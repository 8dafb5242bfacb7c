//! Changes that have no event: written down in their transaction, for the streams of members (docs/contract/live.md).

use domain::ids::Id;
use domain::tenant::Mode;
use domain::time::Timestamp;
use domain::topic::Topic;
use store::changes::{self, KEPT};
use store::{DbError, TenantTx};

use super::{App, Failure};

/// Rows that are dropped at once.
const SWEPT: i64 = 5_000;

/// Writes down a change that has no event, in the transaction of the change: the members of the workspace are told of it in
/// both modes. `object` is the id of what changed.
pub fn note<K: domain::ids::Kind>(
    tx: &mut TenantTx,
    now: Timestamp,
    topic: Topic,
    object: Id<K>,
) -> Result<(), DbError> {
    note_in(tx, now, None, topic, Some(&object.to_string()))
}

/// The same of a list as a whole.
pub fn note_all(tx: &mut TenantTx, now: Timestamp, topic: Topic) -> Result<(), DbError> {
    note_in(tx, now, None, topic, None)
}

/// The same for one mode, `None` for both.
pub fn note_in(
    tx: &mut TenantTx,
    now: Timestamp,
    mode: Option<Mode>,
    topic: Topic,
    object: Option<&str>,
) -> Result<(), DbError> {
    changes::note(tx, now, mode, topic, object)
}

/// Drops rows that no position is resumed from any more.
pub async fn sweep(app: &App) -> Result<(), Failure> {
    let now = app.clock.now();
    while app.store.tx(move |tx| changes::sweep(tx, now.plus(-KEPT), SWEPT)).await? as i64 == SWEPT {}
    Ok(())
}
