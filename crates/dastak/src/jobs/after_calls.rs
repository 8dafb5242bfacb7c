//! Works the steps that calls owe after their end, a lane of files and a lane of words: neither waits for the
//! other.

use std::sync::Arc;

use super::slots::Slots;
use super::{Next, NodeParts, Poll, poll};
use crate::app::App;
use crate::app::after_call::{self, Lane};

pub fn work(node: &NodeParts<'_>, lane: Lane) -> Option<Poll> {
    let slots = Slots::new(lane.at_once(), node.signal);
    poll(move |app| {
        let slots = slots.clone();
        async move {
            let take = |app: Arc<App>, free| async move { after_call::take(&app, lane, free).await };
            let work = |app: Arc<App>, row| async move { after_call::work(&app, row).await };
            let free = slots.fill(&app, take, work).await?;
            Ok(if free { Next::Due(after_call::next_due(&app, lane).await?) } else { Next::At(None) })
        }
    })
}
