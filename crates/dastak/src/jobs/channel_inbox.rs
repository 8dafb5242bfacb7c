//! Works the notifications of the messaging channel's providers (docs/contract/channel.md#notifications).

use std::sync::Arc;

use channel::inbox;

use super::slots::Slots;
use super::{Next, NodeParts, Poll, poll};
use crate::app::App;

/// Accounts that are worked at once.
const AT_ONCE: usize = 16;

pub fn work(node: &NodeParts<'_>) -> Option<Poll> {
    let slots = Slots::new(AT_ONCE, node.signal);
    poll(move |app| {
        let slots = slots.clone();
        async move {
            let take = |app: Arc<App>, _| async move { inbox::take(&app).await };
            slots.fill(&app, take, |app, (connection, tenant)| inbox::work(app, connection, tenant)).await?;
            // The end of one wakes the job.
            Ok(Next::Due(if slots.all_free() { inbox::next(&app).await? } else { None }))
        }
    })
}
