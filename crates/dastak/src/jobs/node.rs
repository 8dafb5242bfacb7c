//! Looks at the database server that nodes share: whether what it acknowledges survives its loss, and how its clock
//! goes (docs/contract/operator.md#health).

use std::sync::Arc;

use domain::time::{SECOND, Timestamp};

use crate::app::{App, Failure, node};

/// Time between two looks. A connection that is back after it was lost lets the node look at once: another server
/// may have taken over.
const AGAIN: i64 = 5 * SECOND;

/// Checks once; returns the time of the next check.
pub async fn look(app: Arc<App>) -> Option<Timestamp> {
    if let Err(why) = node::look(&app).await {
        Failure::from(why).log("the database server could not be looked at");
    }
    Some(app.clock.now().plus(AGAIN))
}
