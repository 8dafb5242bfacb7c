//! Shares the trunks of this node with others (docs/contract/telephony.md#nodes): keeps its grants alive, asks for
//! channels, gives them back, and says who registers.

use super::{Next, NodeParts, Poll, poll};

/// `None` if there is nothing to share.
pub fn work(node: &NodeParts<'_>) -> Option<Poll> {
    let trunks = node.lines?.trunks()?.clone();
    let wanted = node.signal.clone();
    if !trunks.share(node.app, Box::new(move || wanted.raise())) {
        return None;
    }
    node.app.node.wakes(node.signal.clone());
    poll(move |app| {
        let trunks = trunks.clone();
        async move {
            let wait = trunks.look_at_shares(&app).await;
            let wait = i64::try_from(wait.as_millis()).unwrap_or(i64::MAX);
            Ok(Next::At(Some(app.clock.now().plus(wait))))
        }
    })
}
