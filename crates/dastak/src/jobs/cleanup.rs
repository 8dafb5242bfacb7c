//! Drops what is no longer needed: idempotency keys after their 24 hours, events and delivery logs after 30
//! days, old recordings and files that a crash left, what old records of streams say, runs of campaigns after
//! 400 days, boards of campaigns and agents that are gone, old chats, old messages of the channel.

use std::sync::Arc;

use domain::time::{HOUR, Timestamp};
use store::DbError;

use crate::app::{App, idempotency};

/// Drops everything that is old enough; when to come again.
pub async fn look(app: Arc<App>) -> Option<Timestamp> {
    let due = sweep(&app).await.unwrap_or_else(|why| {
        if matches!(why, DbError::Internal(_)) {
            tracing::error!(%why, "cleanup failed");
        }
        // The store may be away.
        app.clock.now().plus(HOUR)
    });
    Some(due)
}

async fn sweep(app: &App) -> Result<Timestamp, DbError> {
    app.webhooks.sweep().await?;
    campaigns::runs::sweep(app).await?;
    boards::sweep(app).await?;
    chats::sweep(app).await?;
    channel::media::sweep(app).await?;
    while chats::sweep_documents(app).await? {}
    let files_left = super::after_calls::sweep(app).await;
    super::streams::sweep(app).await;
    let due = idempotency::sweep(app).await?;
    let now = app.clock.now();
    // A round an hour is often enough for keys of all hours.
    Ok(if files_left { now.plus(HOUR) } else { due.max(now.plus(HOUR)) })
}
