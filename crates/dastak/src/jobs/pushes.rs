//! Writes calls back to connected systems (docs/contract/integrations.md#writing-calls-back).

use super::slots::Slots;
use super::{Next, NodeParts, Poll, poll};

/// Calls that are written back at once.
const AT_ONCE: usize = 16;

pub fn work(node: &NodeParts<'_>) -> Option<Poll> {
    let (connected, slots) = (node.connected?.clone(), Slots::new(AT_ONCE, node.signal));
    poll(move |app| {
        let (connected, slots) = (connected.clone(), slots.clone());
        async move {
            if let Err(failure) = connected.sweep_pushes().await {
                failure.warn("calls that were written back long ago could not be forgotten");
            }
            let take = |_, free| {
                let connected = connected.clone();
                async move { connected.take_pushes(free).await }
            };
            let work = |_, row| {
                let connected = connected.clone();
                async move { connected.push(row).await }
            };
            let free = slots.fill(&app, take, work).await?;
            Ok(if free { Next::Due(connected.next_push().await?) } else { Next::At(None) })
        }
    })
}
