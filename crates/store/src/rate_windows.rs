//! Fixed 60-second windows of requests, shared by all nodes (docs/contract/README.md#limits). A node reserves
//! places for the requests that wait for one, and some more while many come.

use crate::db::{DbError, TenantTx};
use crate::params;

/// Reserves up to `wanted` requests of a window that allows `limit`, with one statement. Returns the number of reserved
/// requests, and how many of them are new.
pub fn reserve(
    tx: &mut TenantTx,
    class: &str,
    window_start: i64,
    wanted: i64,
    limit: i64,
) -> Result<(i64, i64), DbError> {
    let sql = "insert into rate_windows (workspace, class, window_start, used, granted) \
         values (?1, ?2, ?3, least(?4::bigint, ?5::bigint), least(?4::bigint, ?5::bigint)) \
         on conflict (workspace, class, window_start) do update set \
         used = rate_windows.used + least(?4::bigint, greatest(?5::bigint - rate_windows.used, 0)), \
         granted = least(?4::bigint, greatest(?5::bigint - rate_windows.used, 0)) returning used, granted";
    let taken = tx.one(sql, params![class, window_start, wanted, limit])?;
    taken.ok_or_else(|| DbError::Internal("a window of requests is missing".into()))
}

/// Counts one in a window that allows `limit`, in the transaction of what is counted. Returns whether it had room.
pub fn take_one(tx: &mut TenantTx, class: &str, window_start: i64, limit: i64) -> Result<bool, DbError> {
    let sql = "insert into rate_windows (workspace, class, window_start, used, granted) values (?1, ?2, ?3, 1, 1) \
         on conflict (workspace, class, window_start) do update set used = rate_windows.used + 1 where rate_windows.used < ?4";
    Ok(tx.exec(sql, params![class, window_start, limit])? > 0)
}

/// Drops the windows before this one.
pub fn drop_older(tx: &mut TenantTx, class: &str, window_start: i64) -> Result<(), DbError> {
    tx.later(
        "delete from rate_windows where workspace = ?1 and class = ?2 and window_start < ?3",
        params![class, window_start],
    )
}
