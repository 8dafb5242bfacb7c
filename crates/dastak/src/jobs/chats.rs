//! Looks after chats: those that are silent or last too long end, and replies that nobody writes any more are taken
//! up. Beside it, chats that are over are analysed.

use std::sync::Arc;

use ::chats::{ANALYSES_AT_ONCE, Due};
use domain::chat::LEASE;

use super::slots::Slots;
use super::{Next, NodeParts, Poll, Polled};
use crate::app::App;

/// Transactions at once; on the embedded store they share commits.
const AT_ONCE: usize = 16;

/// Looks after one fair batch of chats that are due.
pub async fn poll(app: &Arc<App>) -> Polled {
    let look_after = async |app: Arc<App>, due: Due| {
        ::chats::look_after(&app, due)
            .await
            .inspect_err(|failure| failure.warn_about(due.id, "a chat could not be looked after"))
            .is_ok()
    };
    let next = super::work_due(app, AT_ONCE, look_after).await?;
    // A message moves the time of its chat forward without waking anybody, by a lease at the least.
    let latest = app.clock.now().plus(LEASE);
    Ok(match next {
        Next::Due(due) => Next::Due(due.map(|due| due.min(latest))),
        Next::At(at) => Next::At(at.map(|at| at.min(latest))),
    })
}

/// Analyses chats that are over.
pub fn analyses(node: &NodeParts<'_>) -> Option<Poll> {
    let slots = Slots::new(ANALYSES_AT_ONCE, node.signal);
    super::poll(move |app| {
        let slots = slots.clone();
        async move {
            let take = |app: Arc<App>, free| async move { ::chats::take_analyses(&app, free).await };
            let work = |app: Arc<App>, owed| async move { ::chats::analyse(&app, owed).await };
            let free = slots.fill(&app, take, work).await?;
            Ok(if free { Next::Due(::chats::next_analysis(&app).await?) } else { Next::At(None) })
        }
    })
}
