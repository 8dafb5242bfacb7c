//! Advisory locks on the dials of a workspace. Its lines are counted under the lock of its row, so one node dials for it at
//! a time; another node skips a locked workspace instead of waiting. A lock is released with its transaction. SQLite has
//! one node, which needs no lock.

use domain::tenant::Tenant;

use crate::db::{DbError, Tx, Value};
use crate::params;

/// Tries the lock: a condition on the row of a queue `q` with its `workspace` and `mode`. It must be evaluated for no more
/// rows than are worked.
pub(crate) const TRY_LOCK: &str =
    "pg_try_advisory_xact_lock(hashtextextended('dials ' || q.workspace || ' ' || q.mode, 0))";

/// Across workspaces: tries to lock the live dials of these workspaces. Returns those that it has locked.
pub fn try_lock(tx: &mut Tx<'_>, workspaces: &[Tenant]) -> Result<Vec<Tenant>, DbError> {
    const SQL: &str = const_format::formatcp!(
        "select q.workspace from (select workspace, 'live' as mode from unnest(?1::text[]) as t (workspace)) q where {TRY_LOCK}"
    );
    if !tx.shared() {
        return Ok(workspaces.to_vec());
    }
    let list = Value::Many(workspaces.iter().map(|tenant| (*tenant).into()).collect());
    tx.all(SQL, params![list])
}
