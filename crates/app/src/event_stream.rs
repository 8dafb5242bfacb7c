//! Long polling of events, for a developer's machine without a public address (`dastak listen`), and samples of them
//! (`dastak trigger`). A key sees the events of its own mode.

use std::time::Duration;

use api::error_codes;
use domain::ids::{Event, Id};
use domain::tenant::{Mode, Tenant};
use domain::time::SECOND;
use runtime::turns::Turn;
use store::partitions::PartitionedTable;
use store::{DbError, events};
use webhooks::{MAX_READERS, complete};

use super::events::{Audience, emit_sample, known};
use super::limits::shares::Client;
use super::limits::{answers, pages};
use super::{App, Failure};

/// On a shared store, a transaction in progress may have an event with an older id: younger events than this are not
/// shown yet, milliseconds. Deliveries to endpoints do not depend on it.
const UNSETTLED: i64 = SECOND;
/// Poll interval on a shared store, in real time.
const LOOK_AGAIN: Duration = Duration::from_millis(500);
/// Events of both modes in one query, and queries of one request that find nothing of its own mode.
const EXAMINED: i64 = 1_000;
const LOOKS: usize = 16;

/// A listener's position.
#[derive(Debug, Clone)]
pub enum After {
    /// After the newest event.
    Latest,
    /// After the event with this id; empty for the beginning.
    Event(String),
}

/// Emits a sample to the endpoints that subscribe to its type. Returns the event and how many endpoints get
/// it.
pub async fn trigger(
    app: &App,
    tenant: Tenant,
    mode: Mode,
    kind: &str,
) -> Result<(Id<Event>, usize), Failure> {
    let (context, kind) = (app.context(), known(kind)?);
    app.of(tenant)
        .tx_adding(move |tx| emit_sample(tx, &context, mode, (kind.sample)(), &Audience::Subscribed))
        .await
}

/// Ids below this one are shown.
fn horizon(app: &App) -> String {
    if app.store.shared() && !app.clock.is_manual() {
        return Id::<Event>::new(app.clock.now().0 - UNSETTLED, 0).to_string();
    }
    "evt_~".into()
}

/// Envelopes after a position, the next position, and whether there may be more already.
async fn read(
    app: &App,
    tenant: Tenant,
    mode: Mode,
    after: &str,
    limit: i64,
) -> Result<(Vec<String>, String, bool), Failure> {
    // Expired rows may still be there for a while, but are not shown.
    let since = PartitionedTable::Events.bound(app.clock.now().plus(-webhooks::KEPT));
    let (from, before) = (since.max(after.to_owned()), horizon(app));
    app.webhooks.readers.looked();
    let found = app.store.read(move |tx| {
        pages::read(
            tx,
            limit,
            Some(from.clone()),
            |tx, limit, after| {
                events::page(&mut tx.of(tenant), mode, (after.unwrap_or_default(), &before), limit, EXAMINED)
            },
            |tx, row| {
                let envelope =
                    row.envelope.map(|text| complete(&mut tx.of(tenant), text, row.transcript.as_ref()));
                let (id, envelope) = (row.id.to_string(), envelope.transpose()?);
                Ok::<_, DbError>((id.clone(), envelope.as_ref().map_or(0, String::len), (id, envelope)))
            },
        )
    });
    let (rows, next) = found.await?;
    let more = next.is_some();
    let next = next.or_else(|| rows.last().map(|(id, _)| id.clone())).unwrap_or_else(|| after.to_owned());
    Ok((rows.into_iter().filter_map(|(_, envelope)| envelope).collect(), next, more))
}

/// The response to a listener: envelopes (JSON), oldest first, the next cursor, and the read permit.
pub type Heard = (Vec<String>, String, Turn<Client>);

/// Events of one mode after a point. Waits for up to `wait` of real time while there are none: it is the client that waits,
/// so the manual clock does not count it.
///
/// # Errors
/// `rate_limited` when [`MAX_READERS`] of this mode wait already, and those of [`answers::turn`].
pub async fn listen(
    app: &App,
    tenant: Tenant,
    mode: Mode,
    after: After,
    limit: i64,
    wait: Duration,
) -> Result<Heard, Failure> {
    let full = || {
        let message = format!(
            "{MAX_READERS} requests of this workspace wait for events, which is the limit; end one of \
             them first"
        );
        Failure { retry_after: Some(1), ..Failure::new(error_codes::RATE_LIMITED, message) }
    };
    // A request that does not wait takes no place.
    let reader =
        if wait.is_zero() { None } else { Some(app.webhooks.readers.enter(tenant, mode).ok_or_else(full)?) };
    let bell = reader.as_ref().map(|reader| reader.bell()).unwrap_or_default();
    let mut after = match after {
        After::Event(id) => id,
        After::Latest => {
            let before = horizon(app);
            app.of(tenant)
                .read(move |tx| events::newest(tx, mode, &before))
                .await?
                .map(|id| id.to_string())
                .unwrap_or_default()
        }
    };
    let until = tokio::time::Instant::now() + wait;
    let mut stopped = app.node.stopped();
    let mut passed = 0;
    loop {
        let committed = bell.notified();
        // A waiting request holds no read permit.
        let turn = answers::turn(app, Client::Workspace(tenant)).await?;
        let (found, next, more) = read(app, tenant, mode, &after, limit).await?;
        let now = tokio::time::Instant::now();
        passed += usize::from(more);
        let over = if more { passed >= LOOKS } else { now >= until };
        if !found.is_empty() || stopped.now() || over {
            return Ok((found, if next.is_empty() { "start".into() } else { next }, turn));
        }
        drop(turn);
        after = next;
        if more {
            // The skipped ones belong to the other mode, or were erased.
            tokio::task::yield_now().await;
            continue;
        }
        let pause = if app.store.shared() { until.min(now + LOOK_AGAIN) } else { until };
        tokio::select! {
            _ = tokio::time::timeout_at(pause, committed) => {}
            () = stopped.wait() => {}
        }
    }
}
