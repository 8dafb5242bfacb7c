//! Fetches the files of received messages, and drops those that are to go (docs/contract/channel-messages.md#media).

use std::sync::Arc;

use channel::media;

use super::slots::Slots;
use super::{Next, NodeParts, Poll, poll};
use crate::app::App;

/// Files that are fetched at once. Each may take 100 MB of memory for a moment.
const AT_ONCE: usize = 4;

pub fn work(node: &NodeParts<'_>) -> Option<Poll> {
    let slots = Slots::new(AT_ONCE, node.signal);
    poll(move |app| {
        let slots = slots.clone();
        async move {
            let free = slots.free();
            let taken = if free > 0 { media::take(&app, free).await? } else { Vec::new() };
            for row in taken {
                slots.start(&app.clock, fetch(app.clone(), row));
            }
            media::drop_due(&app).await?;
            // The end of one wakes the job.
            Ok(Next::Due(if slots.free() > 0 { media::next(&app).await? } else { None }))
        }
    })
}

async fn fetch(app: Arc<App>, row: store::channel_messages::MessageRow) {
    let id = row.id;
    if let Err(failure) = media::fetch(&app, row).await {
        failure.warn_about(id, "a received file could not be fetched yet");
    }
}
