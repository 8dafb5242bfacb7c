//! Looks at the accounts of the messaging channel once a day (docs/contract/channel.md#upkeep).

use std::sync::Arc;

use channel::upkeep;
use tokio::task::JoinSet;

use super::{Next, Polled};
use crate::app::App;

/// Looks at those whose time has come.
pub async fn poll(app: &Arc<App>) -> Polled {
    loop {
        let taken = upkeep::take(app).await?;
        if taken.is_empty() {
            return Ok(Next::Due(upkeep::next(app).await?));
        }
        // Each is work of its own, which waits for the provider outside; the job waits for them.
        let mut looks = JoinSet::new();
        for connection in taken {
            looks.spawn(app.clock.counted(upkeep::look(app.clone(), connection)));
        }
        app.clock.outside(looks.join_all()).await;
    }
}
