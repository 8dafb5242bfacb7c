//! Increases the wallet holds of live calls, minute by minute.

use domain::time::SECOND;

use super::{Next, Polled};
use crate::app::{App, calls};

/// Increases the holds that are due. A burst of dials does not delay it, since the minutes of calls continue.
pub async fn poll(app: &App) -> Polled {
    let now = app.clock.now();
    loop {
        match calls::next_growth(app).await? {
            Some(due) if due <= now.plus(SECOND) => {}
            due => return Ok(Next::Due(due)),
        }
        calls::grow_due(app).await?;
    }
}
