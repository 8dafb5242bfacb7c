//! Carries out what columns of boards owe for cards that came into them. Any node may: an action and its end
//! are one transaction.

use std::sync::Arc;

use ::boards::{Due, carry_out};

use super::Polled;
use crate::app::App;

/// Transactions at once; on the embedded store they share commits.
const AT_ONCE: usize = 16;

/// Carries out one fair batch of those that are due.
pub async fn poll(app: &Arc<App>) -> Polled {
    let act = async |app: Arc<App>, due: Due| {
        carry_out(&app, due)
            .await
            .inspect_err(|failure| failure.warn("an automation of a board could not be carried out"))
            .is_ok()
    };
    super::work_due(app, AT_ONCE, act).await
}
