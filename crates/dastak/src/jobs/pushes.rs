//! Writes calls back to connected systems (docs/contract/integrations.md#writing-calls-back).

use super::slots::Slots;
use super::{Next, NodeParts, Poll, poll};

/// Calls that are written back at once.
const AT_ONCE: usize = 16;

pub fn work(node: &NodeParts<'_>) -> Option<Poll> {
    let (desk, slots) = (node.desk?.clone(), Slots::new(AT_ONCE, node.signal));
    poll(move |app| {
        let (desk, slots) = (desk.clone(), slots.clone());
        async move {
            if let Err(failure) = desk.sweep_pushes().await {
                failure.warn("calls that were written back long ago could not be forgotten");
            }
            let take = |_, free| {
                let desk = desk.clone();
                async move { desk.take_pushes(free).await }
            };
            let work = |_, row| {
                let desk = desk.clone();
                async move { desk.push(row).await }
            };
            let free = slots.fill(&app, take, work).await?;
            Ok(if free { Next::Due(desk.next_push().await?) } else { Next::At(None) })
        }
    })
}
