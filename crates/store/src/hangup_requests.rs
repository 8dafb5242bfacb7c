//! Hang-up requests of live calls and their reasons, kept until the call is over.

use const_format::formatcp;
use domain::call::HangupRequest;
use domain::ids::{Call, Id};

use domain::time::Timestamp;

use crate::db::row::row;
use crate::db::{DbError, TenantTx, Tx};
use crate::params;

row! {
    /// The hang-up request of a call.
    pub(crate) struct RequestedHangup {
        /// The reason; a request from before there were reasons is a hang-up.
        wish: Option<HangupRequest> = |_| {
        hang_up_at: Option<Timestamp>,
        wish: Option<HangupRequest>,
        } => hang_up_at.map(|_| wish.unwrap_or(HangupRequest::HangUp)),
    }
}

/// Across workspaces: hang-up requests of calls on real lines that a carrier has accepted. The node that owns a call
/// carries it out.
pub fn all(tx: &mut Tx<'_>) -> Result<Vec<(Id<Call>, HangupRequest)>, DbError> {
    const SQL: &str = formatcp!(
        "select id, {} from calls where hang_up_at is not null and phase is null and network is null and status <> 'queued'",
        RequestedHangup::COLUMNS
    );
    let found: Vec<(Id<Call>, RequestedHangup)> = tx.all(SQL, &[])?;
    Ok(found.into_iter().filter_map(|(id, request)| Some((id, request.wish?))).collect())
}

/// Requests a hang-up of one live call, unless there is a request. Its reservation no longer grows.
pub fn want_end(tx: &mut TenantTx, id: Id<Call>, wish: HangupRequest, now: Timestamp) -> Result<(), DbError> {
    debug_assert!(wish.takes_leave(), "a wish that may replace another is written by `save`");
    tx.later(
        "update calls set hang_up_at = ?3, wish = ?4, grow_at = null, version = version + 1, \
         next_step_at = case when network is null then next_step_at else cast(?3 as bigint) end where workspace = ?1 and id = ?2 and phase is null and hang_up_at is null",
        params![id, now, wish],
    )?;
    tx.later(
        "update call_legs set grow_at = null where workspace = ?1 and call = ?2 and grow_at is not null",
        params![id],
    )
}

/// Requests a hang-up of all live calls of a workspace, in both modes. Simulated calls are due at once.
pub fn want_all_ended(tx: &mut TenantTx, wish: HangupRequest, now: Timestamp) -> Result<u64, DbError> {
    tx.exec(
        "update calls set hang_up_at = ?2, wish = ?3, version = version + 1, \
         next_step_at = case when network is null or status = 'queued' then next_step_at else cast(?2 as bigint) end \
         where workspace = ?1 and mode in ('live', 'test') and phase is null and (hang_up_at is null or wish = 'balance_exhausted')",
        params![now, wish],
    )
}
