//! The delivery log, replays, and erasure of deliveries (docs/contract/webhooks.md#log).

use ::webhooks::{Replayed, complete};
use api::error_codes;
use api::webhooks::{Delivery as DeliveryView, ReplayedDeliveries};
use domain::ids::{Call, Delivery, Event, Id, WebhookEndpoint};
use domain::tenant::{Mode, Tenant};
use domain::time::Timestamp;
use serde_json::{Value, json};
use store::deliveries::{self, DeliveryRow, Filter, Key};
use store::partitions::PartitionedTable;
use store::{DbError, TenantTx, calls, events, webhooks};

use super::limits::pages;
use super::{App, Context, Failure};

/// Log entries examined for one page.
const EXAMINED: i64 = 5_000;

/// A delivery with the transcript that belongs into its payload.
fn completed(tx: &mut TenantTx, mut row: DeliveryRow) -> Result<DeliveryRow, DbError> {
    if let Some(envelope) = row.envelope.take() {
        row.envelope = Some(complete(tx, envelope, row.transcript.as_ref())?);
    }
    Ok(row)
}

fn view(row: DeliveryRow) -> Result<DeliveryView, Failure> {
    let read = |text: &str| {
        serde_json::from_str::<Value>(text).map_err(|why| Failure::internal(format!("{}: {why}", row.id)))
    };
    Ok(DeliveryView {
        attempts: read(&format!("[{}]", row.attempts))?,
        payload: row.envelope.as_deref().map_or(Ok(Value::Null), read)?,
        id: row.id,
        event_id: row.event,
        event: row.kind,
        status: row.status,
        next_attempt_at: row.next_at,
        created_at: row.created_at,
        delivered_at: row.delivered_at,
    })
}

fn must_have_endpoint(
    tx: &mut TenantTx,
    endpoint: Id<WebhookEndpoint>,
) -> Result<webhooks::EndpointRow, Failure> {
    webhooks::get(tx, endpoint)?.ok_or_else(|| Failure::not_found("webhook endpoint"))
}

/// Expired rows may still be there for a while, but are not shown.
fn oldest(app: &App) -> Timestamp {
    app.clock.now().plus(-::webhooks::KEPT)
}

fn must_be_kept(app: &App, id: Id<Delivery>) -> Result<(), Failure> {
    if id.unix_ms() < oldest(app).0 { Err(Failure::not_found("delivery")) } else { Ok(()) }
}

/// A page of an endpoint's log in one mode, newest first, and the cursor of the next page.
pub async fn list(
    app: &App,
    tenant: Tenant,
    mode: Mode,
    endpoint: Id<WebhookEndpoint>,
    filter: Filter,
    before: Option<String>,
    limit: i64,
) -> Result<(Vec<DeliveryView>, Option<String>), Failure> {
    let since = PartitionedTable::Deliveries.bound(oldest(app));
    let page = app.store.read(move |tx| {
        must_have_endpoint(&mut tx.of(tenant), endpoint)?;
        let part = (mode, &filter);
        pages::read(
            tx,
            limit,
            before.clone(),
            |tx, limit, before| {
                let between = (since.as_str(), before.unwrap_or("whd_~"));
                Ok::<_, Failure>(deliveries::list(
                    &mut tx.of(tenant),
                    endpoint,
                    part,
                    between,
                    limit,
                    EXAMINED,
                )?)
            },
            |tx, row| {
                let row = completed(&mut tx.of(tenant), row)?;
                let bytes = row.envelope.as_ref().map_or(0, String::len) + row.attempts.len();
                Ok((row.id.to_string(), bytes, row))
            },
        )
    });
    let (rows, next) = page.await?;
    Ok((rows.into_iter().map(view).collect::<Result<_, _>>()?, next))
}

/// The event or the call whose deliveries are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum About {
    Event(Id<Event>),
    Call(Id<Call>),
}

/// Events of a call that are looked for; a call has about ten.
const EVENTS_OF_CALL: i64 = 500;

/// Deliveries of one event or of the events of one call, newest first.
#[allow(clippy::too_many_arguments, reason = "the filters of one list")]
pub async fn list_about(
    app: &App,
    tenant: Tenant,
    mode: Mode,
    endpoint: Id<WebhookEndpoint>,
    about: About,
    filter: Filter,
    before: Option<String>,
    limit: i64,
) -> Result<(Vec<DeliveryView>, Option<String>), Failure> {
    let since = PartitionedTable::Deliveries.bound(oldest(app));
    let page = app.of(tenant).read(move |tx| {
        must_have_endpoint(tx, endpoint)?;
        let events = match about {
            About::Event(event) => vec![event],
            About::Call(call) => match calls::get_taken(tx, mode, call)? {
                Some(call) => events::of_call(tx, call.id, call.contact, EVENTS_OF_CALL)?,
                None => Vec::new(),
            },
        };
        let between = (since.as_str(), before.as_deref().unwrap_or("whd_~"));
        pages::read(
            tx,
            limit,
            before.clone(),
            |tx, limit, before| {
                let between = (between.0, before.unwrap_or(between.1));
                let tx = &mut tx.of(tenant);
                let rows = deliveries::of_events(tx, endpoint, (mode, &filter), between, &events, limit)?;
                let next = pages::last(&rows, limit, |row| row.id.to_string());
                Ok::<_, Failure>((rows, next))
            },
            |tx, row| {
                let row = completed(&mut tx.of(tenant), row)?;
                let bytes = row.envelope.as_ref().map_or(0, String::len) + row.attempts.len();
                Ok((row.id.to_string(), bytes, row))
            },
        )
    });
    let (rows, next) = page.await?;
    Ok((rows.into_iter().map(view).collect::<Result<_, _>>()?, next))
}

/// Replays the failed deliveries of an endpoint that were created in `[since, until)`, oldest first, at most
/// [`deliveries::MOST_REPLAYED`] at once. A repeat finds none of them: they are pending.
///
/// # Errors
/// 409 `conflict` while replayed deliveries of the endpoint wait for their attempt, and for a disabled endpoint.
pub async fn replay_failed(
    app: &App,
    tenant: Tenant,
    mode: Mode,
    endpoint: Id<WebhookEndpoint>,
    since: Timestamp,
    until: Option<Timestamp>,
) -> Result<ReplayedDeliveries, Failure> {
    let context = app.context();
    let until = until.unwrap_or(context.now.plus(1));
    if until <= since {
        return Err(Failure::field("until", "must be later than since"));
    }
    let table = PartitionedTable::Deliveries;
    let between = (table.bound(since.max(oldest(app))), table.bound(until));
    let replay = app.of(tenant).tx_alone(move |tx| {
        let row = webhooks::get_for_update(tx, endpoint)?;
        if !row.ok_or_else(|| Failure::not_found("webhook endpoint"))?.active {
            return Err(Failure::conflict("the endpoint is disabled; set its status to active first"));
        }
        let waiting = deliveries::replays_waiting(tx, endpoint)?;
        if waiting > 0 {
            let message = "a replay of this endpoint runs; try again when its deliveries were attempted";
            return Err(Failure::conflict(message).with_meta(json!({"waiting": waiting})));
        }
        let between = (between.0.as_str(), between.1.as_str());
        Ok(context.webhooks.replay_failed(tx, context.now, endpoint, mode, between)?)
    });
    let replay = replay.await?;
    Ok(ReplayedDeliveries {
        replayed: replay.replayed,
        redacted: replay.redacted,
        next_since: replay.last.map(|last| Timestamp(last.unix_ms())),
    })
}

/// One delivery in one mode.
pub async fn get(
    app: &App,
    tenant: Tenant,
    mode: Mode,
    endpoint: Id<WebhookEndpoint>,
    id: Id<Delivery>,
) -> Result<DeliveryView, Failure> {
    must_be_kept(app, id)?;
    let key = Key { tenant, endpoint, id };
    let row = app.of(tenant).read(move |tx| {
        must_have_endpoint(tx, endpoint)?;
        let row = deliveries::get(tx, key, mode)?.ok_or_else(|| Failure::not_found("delivery"))?;
        Ok::<_, Failure>(completed(tx, row)?)
    });
    view(row.await?)
}

/// Delivers again, now, with the same event id; the retry schedule restarts. A pending delivery is attempted at once.
pub async fn replay(
    app: &App,
    tenant: Tenant,
    mode: Mode,
    endpoint: Id<WebhookEndpoint>,
    id: Id<Delivery>,
) -> Result<DeliveryView, Failure> {
    must_be_kept(app, id)?;
    let key = Key { tenant, endpoint, id };
    let context = app.context();
    let row = app.of(tenant).tx(move |tx| {
        let active = webhooks::get_for_update(tx, endpoint)?
            .ok_or_else(|| Failure::not_found("webhook endpoint"))?
            .active;
        let row = deliveries::get(tx, key, mode)?.ok_or_else(|| Failure::not_found("delivery"))?;
        let Some(envelope) = row.envelope else {
            return Err(Failure::new(
                error_codes::DELIVERY_REDACTED,
                "the payload was emptied because the contact was erased, so the delivery cannot be \
                 sent again",
            ));
        };
        if !active {
            return Err(Failure::conflict("the endpoint is disabled; set its status to active first"));
        }
        let replayed = Replayed {
            kind: row.kind,
            envelope,
            transcript: row.transcript,
            created_at: row.created_at,
            trace: row.trace,
        };
        if !context.webhooks.replay(tx, context.now, key, replayed)? {
            return Err(Failure::not_found("delivery"));
        }
        let row = deliveries::get(tx, key, mode)?.ok_or_else(|| Failure::not_found("delivery"))?;
        Ok::<_, Failure>(completed(tx, row)?)
    });
    view(row.await?)
}

/// Empties the payloads of these events and returns how many deliveries that concerns. Call it in the
/// transaction that erases the person, after the events which that transaction owes itself.
pub fn redact(tx: &mut TenantTx, context: &Context, events: &[Id<Event>]) -> Result<u64, Failure> {
    Ok(context.webhooks.redact(tx, context.now, events)?)
}
