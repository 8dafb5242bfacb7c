//! The streams of members: what changed in their workspace, as it changes (docs/contract/live.md).
//!
//! Nearly every change is in the outbox of events, in the order of its commits ([`store::changes`]); [`topics`] says which
//! objects an event is about. What has no event is written down by [`super::changes::note`]. On each node one [`Hub`] reads
//! both for each workspace that somebody watches, and passes them to its streams.

pub mod hub;
mod live_looks;
mod member_stream;
pub mod topics;

use std::time::Duration;

use super::{App, Failure};
pub use hub::Hub;
pub use member_stream::{Beginning, Limits, MemberStream, Message, Requested, open};

/// Rows that are dropped at once.
const SWEPT: i64 = 5_000;

/// Drops the states of live calls that nobody watches any more.
pub async fn sweep(app: &App) -> Result<(), Failure> {
    let now = app.clock.now();
    let old = now.plus(-live_looks::ABANDONED);
    while app.store.tx(move |tx| store::live_calls::sweep(tx, old, SWEPT)).await? as i64 == SWEPT {}
    app.store.tx(move |tx| store::live_calls::unwatch(tx, now)).await?;
    Ok(())
}

/// Longest time that a stream says nothing.
pub const HEARTBEAT: Duration = Duration::from_secs(15);
