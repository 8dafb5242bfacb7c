//! Turns at the dials of a workspace. Its lines are counted under the lock of its row, so one node works its dials at a
//! time. Another one passes over a workspace whose turn is taken, instead of waiting for it. A turn ends with its
//! transaction. An embedded store has one node, which always has the turn.

use domain::tenant::Tenant;

use crate::db::{DbError, Tx, Value};
use crate::params;

/// Whether a turn is free, and takes it: a condition on the row of a queue `q` with its `workspace` and `mode`. It is to be
/// asked for no more rows than are worked.
pub(crate) const TAKE: &str =
    "pg_try_advisory_xact_lock(hashtextextended('dials ' || q.workspace || ' ' || q.mode, 0))";

/// Across workspaces: takes the turns at the live dials of these workspaces. Returns those whose turn was free.
pub fn take(tx: &mut Tx<'_>, workspaces: &[Tenant]) -> Result<Vec<Tenant>, DbError> {
    const SQL: &str = const_format::formatcp!(
        "select q.workspace from (select workspace, 'live' as mode from unnest(?1::text[]) as t (workspace)) q where {TAKE}"
    );
    if !tx.shared() {
        return Ok(workspaces.to_vec());
    }
    let list = Value::Many(workspaces.iter().map(|tenant| (*tenant).into()).collect());
    tx.all(SQL, params![list])
}
