//! Dials that wait because of their workspace (money, verification, a suspension, a feature that is off) are checked as
//! soon as the operator has changed that, and not only at their next check, which may be a quarter of an hour away.

use domain::tenant::Tenant;
use domain::time::Timestamp;
use store::nudges::{self, Change};
use store::{DbError, TenantTx, campaigns, scheduled_calls};

use super::{App, topics};

/// Nudges, and scheduled calls, that one transaction wakes.
const BATCH: i64 = 500;

/// Wakes waiting dials, after the change was committed. If a crash interrupts it, their next check handles them.
pub(crate) async fn wake(app: &App, tenant: Tenant) {
    loop {
        let now = app.clock.now();
        match app.of(tenant).tx(move |tx| wake_some(tx, now)).await {
            Ok(true) => {}
            Ok(false) => return,
            Err(why) => {
                tracing::warn!(about = %tenant, %why, "what waits for its workspace waits for its next check");
                return;
            }
        }
    }
}

/// Wakes a batch. Whether there may be more.
fn wake_some(tx: &mut TenantTx, now: Timestamp) -> Result<bool, DbError> {
    let nudges = nudges::wake_without_money(tx, now, BATCH)?;
    if nudges > 0 {
        let change = Change { look_at: Some(now), ..Change::default() };
        nudges::touch(tx, domain::tenant::Mode::Live, change)?;
    }
    let calls = scheduled_calls::wake_without_money(tx, now, BATCH)?;
    campaigns::progress::look_at_all(tx, now)?;
    for topic in [
        topics::DIALLER,
        topics::SCHEDULED_CALLS,
        topics::CHANNEL_CAMPAIGNS,
        topics::CHANNEL_SENDS,
        topics::CHATS,
    ] {
        tx.wake(topic);
    }
    Ok(nudges.max(calls) >= BATCH as u64)
}
