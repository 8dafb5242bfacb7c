//! Storage limits of streams (docs/contract/streams.md#limits). A token of a stream may be in a public web page.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use api::error_codes::RATE_LIMITED;
use app::{App, Failure};
use domain::ids::{DataStream, Id};
use domain::tenant::Tenant;
use domain::time::{DAY, SECOND, Timestamp};
use store::streams;

/// How long the stored bytes of a workspace are cached on a node.
const KNOWN: i64 = 10 * SECOND;
/// Workspaces in the cache of a node.
const REMEMBERED: usize = 10_000;

/// The cached bytes of workspaces' streams.
#[derive(Default)]
struct Fill(Mutex<HashMap<Tenant, (Timestamp, i64)>>);

/// The day of a time, in days since 1970 (UTC).
#[must_use]
pub fn day_of(moment: Timestamp) -> i64 {
    moment.0.div_euclid(DAY)
}

/// Refuses records when the stream has stored too much today, or the workspace's streams too much in all.
///
/// # Errors
/// `rate_limited`, and those of the store.
pub async fn room(app: &App, tenant: Tenant, stream: Id<DataStream>, more: usize) -> Result<(), Failure> {
    let limits = &app.config.limits;
    let (now, more) = (app.clock.now(), i64::try_from(more).unwrap_or(i64::MAX));
    let today = day_of(now);
    let stored = app.of(tenant).read(move |tx| streams::bytes_of_day(tx, stream, today)).await?;
    if stored.saturating_add(more) > limits.stream_bytes_per_day {
        let wait = ((today + 1) * DAY - now.0 + SECOND - 1) / SECOND;
        let most = limits.stream_bytes_per_day >> 20;
        let message = format!(
            "the stream has stored {most} MB of records today (UTC), which is the limit; nothing was \
             stored, try again tomorrow"
        );
        return Err(Failure { retry_after: Some(wait), ..Failure::new(RATE_LIMITED, message) });
    }
    if in_all(app, tenant, now).await?.saturating_add(more) > limits.stream_bytes_per_workspace {
        let most = limits.stream_bytes_per_workspace >> 20;
        let message = format!(
            "the streams of this workspace hold {most} MB of records, which is the limit; records are \
             emptied 90 days after they arrived"
        );
        return Err(Failure { retry_after: Some(DAY / SECOND), ..Failure::new(RATE_LIMITED, message) });
    }
    Ok(())
}

async fn in_all(app: &App, tenant: Tenant, now: Timestamp) -> Result<i64, Failure> {
    let fill = app.state.of(Fill::default);
    let known = fill.0.lock().unwrap_or_else(PoisonError::into_inner).get(&tenant).copied();
    if let Some((_, bytes)) = known.filter(|(at, _)| (0..KNOWN).contains(&(now.0 - at.0))) {
        return Ok(bytes);
    }
    let bytes = app.of(tenant).read(streams::bytes_of_workspace).await?;
    let mut fill = fill.0.lock().unwrap_or_else(PoisonError::into_inner);
    if fill.len() >= REMEMBERED {
        fill.clear();
    }
    fill.insert(tenant, (now, bytes));
    Ok(bytes)
}
