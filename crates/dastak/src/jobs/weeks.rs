//! On PostgreSQL, creates the partitions of the coming weeks of the tables whose rows expire by age, and drops expired
//! ones ([`store::weeks`]). Each node runs the job; one at a time works.

use std::sync::Arc;

use domain::time::{MINUTE, Timestamp};
use store::weeks::{WEEK, week_of};

use crate::app::{App, Failure, node};

/// Time until the next round after a failed one.
const AGAIN: i64 = 5 * MINUTE;

/// One round; returns the time of the next one.
pub async fn look(app: Arc<App>) -> Option<Timestamp> {
    let now = app.clock.now();
    let kept = store::weeks::keep(&app.store, now, now.plus(-webhooks::KEPT)).await;
    match &kept {
        Ok(kept) if kept.made + kept.dropped > 0 => {
            tracing::info!(made = kept.made, dropped = kept.dropped, "weeks of tables that die by age");
        }
        Ok(_) => {}
        Err(why) => Failure::from(why.clone()).log("weeks could not be made or dropped; it is tried again"),
    }
    let told = node::look_at_weeks(&app).await;
    let complete = kept.is_ok() && told.is_ok_and(|complete| complete);
    Some(if complete { next_change(now) } else { now.plus(AGAIN) })
}

/// When a week begins, or all rows of one are older than they are kept.
fn next_change(now: Timestamp) -> Timestamp {
    let begins = week_of(now).plus(WEEK);
    let over = week_of(now.plus(-webhooks::KEPT)).plus(WEEK + webhooks::KEPT);
    begins.min(over)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_looks_when_a_week_begins_and_when_one_is_over() {
        let at = |text: &str| Timestamp::parse(text).unwrap();
        for (now, next) in [
            // Monday: the week that ended 30 days before Wednesday is over then.
            ("2026-11-23T00:00:00Z", "2026-11-25T00:00:00Z"),
            ("2026-11-25T00:00:00Z", "2026-11-30T00:00:00Z"),
            ("2026-11-29T23:59:59Z", "2026-11-30T00:00:00Z"),
        ] {
            assert_eq!(next_change(at(now)), at(next), "{now}");
        }
    }
}
