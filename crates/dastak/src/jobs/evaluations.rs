//! Grades finished conversations, and moves sweeps on.

use std::sync::Arc;

use ::evaluation::{AT_ONCE, DueSweep};

use super::slots::Slots;
use super::{Next, NodeParts, Poll, Polled};
use crate::app::App;

/// Sweeps that move on at the same time.
const SWEEPS_AT_ONCE: usize = 8;

/// Grades conversations.
pub fn work(node: &NodeParts<'_>) -> Option<Poll> {
    let slots = Slots::new(AT_ONCE, node.signal);
    super::poll(move |app| {
        let slots = slots.clone();
        async move {
            let take = |app: Arc<App>, free| async move { ::evaluation::take(&app, free).await };
            let work = |app: Arc<App>, leased| async move { ::evaluation::grade(&app, leased).await };
            let free = slots.fill(&app, take, work).await?;
            Ok(if free { Next::Due(::evaluation::next_due(&app).await?) } else { Next::At(None) })
        }
    })
}

/// Moves a fair batch of sweeps on.
pub async fn sweeps(app: &Arc<App>) -> Polled {
    let advance = async |app: Arc<App>, due: DueSweep| {
        ::evaluation::advance(&app, due)
            .await
            .inspect_err(|failure| failure.warn_about(due.id(), "a sweep could not go on"))
            .is_ok()
    };
    super::work_due(app, SWEEPS_AT_ONCE, advance).await
}
