//! Drops what is no longer needed: idempotency keys after their 24 hours, events and delivery logs after 30
//! days, sessions, links and invitations that are over, what old calls say, old recordings and files that a crash left, what old records of streams say, runs of campaigns after
//! 400 days, changes that no stream goes on from, old notifications, boards of campaigns and agents that are gone, old chats,
//! runs of flows that their authors left, visits of flows after 90 days, old messages of the channel. Makes
//! names searchable that an earlier version wrote.

use domain::time::HOUR;

use super::{Next, Polled};
use crate::app::{
    App, bell, call_retention, changes, flow_versions, idempotency, invitations, member_streams, people,
    recordings, search, sessions, sign_in_links,
};

/// Drops everything that is old enough.
pub async fn poll(app: &App) -> Polled {
    app.webhooks.sweep().await?;
    changes::sweep(app).await?;
    member_streams::sweep(app).await?;
    bell::sweep(app).await?;
    sessions::sweep(app).await?;
    sign_in_links::sweep(app).await?;
    invitations::sweep(app).await?;
    people::adopt(app).await?;
    campaigns::runs::sweep(app).await?;
    boards::sweep(app).await?;
    chats::sweep(app).await?;
    chats::sweep_tries(app).await?;
    flow_versions::sweep(app).await?;
    channel::media::sweep(app).await?;
    while chats::sweep_documents(app).await? {}
    while search::add_missing_words(app).await? && !app.clock.stopping() {}
    sweep_calls(app).await;
    let files_left = sweep_recordings(app).await;
    sweep_streams(app).await;
    let due = idempotency::sweep(app).await?;
    let now = app.clock.now();
    // A round an hour is often enough for keys of all hours.
    Ok(Next::At(Some(if files_left { now.plus(HOUR) } else { due.max(now.plus(HOUR)) })))
}

/// Expires calls that are older than the operator keeps them. What fails is left for the next round.
async fn sweep_calls(app: &App) {
    loop {
        match call_retention::sweep(app).await {
            Ok(true) if !app.clock.stopping() => {}
            Ok(_) => return,
            Err(failure) => return failure.warn("old calls could not be emptied"),
        }
    }
}

/// Drops recordings that are older than the operator keeps them, and takes care of files that a crash left on
/// this node. What fails is left for the next round. Returns whether files are left that have to be looked at
/// within the hour.
async fn sweep_recordings(app: &App) -> bool {
    loop {
        match recordings::sweep(app).await {
            Ok(true) if !app.clock.stopping() => {}
            Ok(_) => break,
            Err(failure) => {
                failure.warn("old recordings could not be dropped");
                break;
            }
        }
    }
    recordings::sweep_spool(app).await.unwrap_or_else(|failure| {
        failure.warn("files of recordings could not be looked at");
        true
    })
}

/// Retention of stream records: redacts old records, and removes those of deleted streams. What fails is left for the
/// next round.
async fn sweep_streams(app: &App) {
    loop {
        match streams::retention::sweep(app).await {
            Ok(true) if !app.clock.stopping() => {}
            Ok(_) => return,
            Err(failure) => return failure.warn("old records of streams could not be emptied"),
        }
    }
}
