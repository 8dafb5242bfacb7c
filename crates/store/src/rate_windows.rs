//! Fixed 60-second windows of requests, shared by all nodes (docs/contract/README.md#limits).

use domain::tenant::Tenant;

use crate::db::{DbError, Tx};
use crate::params;

/// Counts one request in a window and says how many it has now.
pub fn count(tx: &mut Tx<'_>, tenant: Tenant, class: &str, window_start: i64) -> Result<i64, DbError> {
    if tx.shared() {
        // Losing a count in a crash does no harm: do not wait for the disk.
        tx.later("set local synchronous_commit = off", &[])?;
    }
    let used = tx.one::<i64>(
        "insert into rate_windows (workspace, class, window_start, used) values (?1, ?2, ?3, 1) \
         on conflict (workspace, class, window_start) do update set used = rate_windows.used + 1 returning used",
        params![tenant, class, window_start])?;
    if used == Some(1) {
        // The first request of a window drops those before it.
        tx.later(
            "delete from rate_windows where workspace = ?1 and class = ?2 and window_start < ?3",
            params![tenant, class, window_start],
        )?;
    }
    Ok(used.unwrap_or(1))
}

/// Takes a count back, because what was counted did not happen.
pub fn give_back(tx: &mut Tx<'_>, tenant: Tenant, class: &str, window_start: i64) -> Result<(), DbError> {
    tx.later(
        "update rate_windows set used = used - 1 where workspace = ?1 and class = ?2 and window_start = ?3",
        params![tenant, class, window_start],
    )
}
