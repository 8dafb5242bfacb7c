//! On PostgreSQL, creates the partitions of the coming weeks of the tables whose rows expire by age, and drops expired
//! ones ([`store::partitions`]). Each node runs the job; one at a time works.

use domain::time::{MINUTE, Timestamp};
use store::partitions::{WEEK, week_of};

use super::{Next, Polled};
use crate::app::{App, node};

/// Time until the next round when rows are not yet where they belong.
const AGAIN: i64 = 5 * MINUTE;

/// One round.
pub async fn poll(app: &App) -> Polled {
    let now = app.clock.now();
    let changes = store::partitions::maintain(&app.store, now, now.plus(-webhooks::KEPT)).await;
    if let Ok(changes) = &changes
        && changes.created + changes.dropped > 0
    {
        let (created, dropped) = (changes.created, changes.dropped);
        tracing::info!(created, dropped, "partitions of tables whose rows expire by age");
    }
    let complete = node::check_partitions(app).await;
    changes?;
    Ok(Next::At(Some(if complete? { next_change(now) } else { now.plus(AGAIN) })))
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
