//! Events as they come, for a developer's machine without a public address (`dastak listen`), and samples of them (`dastak trigger`).

use std::time::Duration;

use domain::ids::{Event, Id};
use domain::tenant::Tenant;
use domain::time::SECOND;
use serde_json::Value;
use store::events;

use super::events::{Audience, emit_to, known, sample};
use super::{App, Failure};

/// On a store that several nodes share, a transaction still under way may hold an event with an older id: what is this young is not shown yet,
/// milliseconds. Deliveries to endpoints do not depend on it.
const UNSETTLED: i64 = SECOND;
/// Real time between two looks at a shared store.
const LOOK_AGAIN: Duration = Duration::from_millis(500);

/// Where a listener goes on.
#[derive(Debug, Clone)]
pub enum After {
    /// Behind everything there is.
    Latest,
    /// Behind the event with this id; empty for the beginning.
    Event(String),
}

/// Emits a sample to whoever subscribes to its type; the event, and how many endpoints get it.
pub async fn trigger(app: &App, tenant: Tenant, kind: &str) -> Result<(Id<Event>, usize), Failure> {
    let (context, kind) = (app.context(), known(kind)?);
    app.store.tx(move |tx| emit_to(tx, &context, tenant, sample(kind), &Audience::Subscribed)).await
}

/// Ids below this one are shown.
fn horizon(app: &App) -> String {
    if app.store.shared() && !app.clock.is_manual() {
        return Id::<Event>::new(app.clock.now().0 - UNSETTLED, 0).to_string();
    }
    "evt_~".into()
}

async fn read(app: &App, tenant: Tenant, after: &str, limit: i64) -> Result<(Vec<Value>, String), Failure> {
    let (from, before) = (after.to_owned(), horizon(app));
    let rows = app.store.read(move |tx| events::list_between(tx, tenant, &from, &before, limit)).await?;
    let next = rows.last().map_or_else(|| after.to_owned(), |row| row.id.to_string());
    let envelopes = rows.iter().filter_map(|row| row.envelope.as_deref()).map(serde_json::from_str).collect::<Result<_, _>>();
    Ok((envelopes.map_err(|why| Failure::internal(format!("an event's envelope is not JSON: {why}")))?, next))
}

/// Envelopes after a point, oldest first, and the next point. Waits for up to `wait` of real time while there are none: it is the client that
/// waits, so the manual clock does not count it.
pub async fn listen(app: &App, tenant: Tenant, after: After, limit: i64, wait: Duration) -> Result<(Vec<Value>, String), Failure> {
    let _listening = app.webhooks.listen();
    let mut after = match after {
        After::Event(id) => id,
        After::Latest => {
            let before = horizon(app);
            app.store.read(move |tx| events::newest(tx, tenant, &before)).await?.map(|id| id.to_string()).unwrap_or_default()
        }
    };
    let until = tokio::time::Instant::now() + wait;
    let mut stopped = app.clock.stopped();
    loop {
        let committed = app.webhooks.committed.notified();
        let (found, next) = read(app, tenant, &after, limit).await?;
        let now = tokio::time::Instant::now();
        if !found.is_empty() || now >= until || *stopped.borrow_and_update() {
            return Ok((found, if next.is_empty() { "start".into() } else { next }));
        }
        after = next;
        let pause = if app.store.shared() { until.min(now + LOOK_AGAIN) } else { until };
        tokio::select! {
            _ = tokio::time::timeout_at(pause, committed) => {}
            _ = stopped.changed() => {}
        }
    }
}
