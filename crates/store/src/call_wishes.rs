//! Wishes to end live calls: why somebody wants a call ended, until it is over.

use domain::call::Wish;
use domain::ids::{Call, Id};
use domain::tenant::Tenant;
use domain::time::Timestamp;

use crate::db::{DbError, Tx};
use crate::params;

/// What is wanted of a call; what was asked for before there were words for it was a hang-up.
pub(crate) fn read_wish(at: Option<Timestamp>, word: Option<String>) -> Option<Wish> {
    at.map(|_| word.and_then(|word| Wish::parse(&word)).unwrap_or(Wish::HangUp))
}

/// Calls on real lines that somebody wants ended, and that a carrier has taken; the node that holds them does
/// so.
pub fn wishes(tx: &mut Tx<'_>) -> Result<Vec<(Id<Call>, Wish)>, DbError> {
    let sql = "select id, hang_up_at, wish from calls where hang_up_at is not null and phase is null and network is null and status <> 'queued'";
    let found = tx.all(sql, &[], |row| Ok((row.id(0)?, read_wish(row.opt_time(1)?, row.opt_text(2)?))))?;
    Ok(found.into_iter().filter_map(|(id, wish)| Some((id, wish?))).collect())
}

/// Wants one live call ended, unless somebody does already in a way that counts more. Its hold grows no more.
pub fn want_end(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    id: Id<Call>,
    wish: Wish,
    now: Timestamp,
) -> Result<(), DbError> {
    debug_assert!(wish.takes_leave(), "a wish that may replace another is written by `save`");
    tx.later(
        "update calls set hang_up_at = ?3, wish = ?4, grow_at = null, version = version + 1, \
         next_step_at = case when network is null then next_step_at else cast(?3 as bigint) end where workspace = ?1 and id = ?2 and phase is null and hang_up_at is null",
        params![tenant, id, now, wish.as_str()],
    )?;
    tx.later(
        "update call_legs set grow_at = null where workspace = ?1 and call = ?2 and grow_at is not null",
        params![tenant, id],
    )
}

/// Wants all live calls of a workspace ended, of both worlds. Those that a table plays are due at once.
pub fn want_all_ended(tx: &mut Tx<'_>, tenant: Tenant, wish: Wish, now: Timestamp) -> Result<u64, DbError> {
    tx.exec(
        "update calls set hang_up_at = ?2, wish = ?3, version = version + 1, \
         next_step_at = case when network is null or status = 'queued' then next_step_at else cast(?2 as bigint) end \
         where workspace = ?1 and mode in ('live', 'test') and phase is null and (hang_up_at is null or wish = 'balance_exhausted')",
        params![tenant, now, wish.as_str()],
    )
}
