//! `/v1/webhooks` and `/v1/events`.

use std::sync::Arc;
use std::time::Duration;

use api::envelope::Deleted;
use api::webhooks::{
    EventStream, EventTrigger, FailedReplay, TestedWebhook, TriggeredEvent, WebhookSecret, WebhookTest,
};
use domain::ids::{Delivery, Event, Id, WebhookEndpoint};
use store::deliveries::Filter;

use crate::app::access::Caller;
use crate::app::deliveries::About;
use crate::app::event_stream::After;
use crate::app::{App, Failure, deliveries, event_stream, webhooks};
use crate::http::handler::{Outcome, Reply, Request};

fn endpoint_of(request: &Request) -> Result<Id<WebhookEndpoint>, Failure> {
    request.id_in_path("id", "webhook endpoint")
}

fn delivery_of(request: &Request) -> Result<Id<Delivery>, Failure> {
    request.id_in_path("deliveryId", "delivery")
}

pub async fn list(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let endpoints = webhooks::list(&app, caller.tenant()).await?;
    Reply::page(&app, &request, &endpoints, None)
}

pub async fn create(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    let body = request.body()?;
    Reply::data(201, &webhooks::create(&app, caller.tenant(), body).await?)
}

pub async fn get(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    Reply::data(200, &webhooks::get(&app, caller.tenant(), endpoint_of(&request)?).await?)
}

pub async fn update(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    let body = request.body()?;
    Reply::data(200, &webhooks::update(&app, caller.tenant(), endpoint_of(&request)?, body).await?)
}

pub async fn delete(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let id = endpoint_of(&request)?;
    webhooks::delete(&app, caller.tenant(), id).await?;
    Reply::data(200, &Deleted { id: id.to_string(), deleted: true })
}

pub async fn rotate_secret(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let id = endpoint_of(&request)?;
    let secret = webhooks::rotate_secret(&app, caller.tenant(), id).await?;
    Reply::data(200, &WebhookSecret { id, secret })
}

pub async fn test(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    let body: WebhookTest = request.body()?;
    let endpoint = endpoint_of(&request)?;
    let (event_id, delivery_id) =
        webhooks::test(&app, caller.tenant(), caller.mode(), endpoint, &body.r#type).await?;
    Reply::data(202, &TestedWebhook { event_id, delivery_id })
}

pub async fn deliveries(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let text = |name: &str| request.query_text(name).map(str::to_owned);
    let (filter, before) = (Filter { status: text("status"), kind: text("event") }, request.cursor(&app)?);
    // A malformed id matches nothing.
    let about = match (request.query_text("callId"), request.query_text("eventId")) {
        (None, None) => None,
        (Some(_), Some(_)) => return Err(Failure::field("eventId", "cannot be combined with callId")),
        (Some(call), None) => Some(call.parse().ok().map(About::Call)),
        (None, Some(event)) => Some(event.parse().ok().map(About::Event)),
    };
    if let Some(about) = about {
        let (endpoint, limit) = (endpoint_of(&request)?, request.query_number("limit"));
        let Some(about) = about else { return Reply::page(&app, &request, &[(); 0], None) };
        let (tenant, mode) = (caller.tenant(), caller.mode());
        let (rows, next) =
            deliveries::list_about(&app, tenant, mode, endpoint, about, filter, before, limit).await?;
        return Reply::page(&app, &request, &rows, next.as_deref());
    }
    let (rows, next) = deliveries::list(
        &app,
        caller.tenant(),
        caller.mode(),
        endpoint_of(&request)?,
        filter,
        before,
        request.query_number("limit"),
    )
    .await?;
    Reply::page(&app, &request, &rows, next.as_deref())
}

pub async fn replay_failed(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    let body: FailedReplay = request.body()?;
    let endpoint = endpoint_of(&request)?;
    let (tenant, mode) = (caller.tenant(), caller.mode());
    Reply::data(202, &deliveries::replay_failed(&app, tenant, mode, endpoint, body.since, body.until).await?)
}

pub async fn delivery(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    Reply::data(
        200,
        &deliveries::get(
            &app,
            caller.tenant(),
            caller.mode(),
            endpoint_of(&request)?,
            delivery_of(&request)?,
        )
        .await?,
    )
}

pub async fn replay(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    Reply::data(
        202,
        &deliveries::replay(
            &app,
            caller.tenant(),
            caller.mode(),
            endpoint_of(&request)?,
            delivery_of(&request)?,
        )
        .await?,
    )
}

pub async fn events(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let after = match request.query_text("after").unwrap_or("latest") {
        "latest" => After::Latest,
        "start" => After::Event(String::new()),
        id => After::Event(
            id.parse::<Id<Event>>()
                .map_err(|why| Failure::field("after", format!("{why}, or latest, or start")))?
                .to_string(),
        ),
    };
    let wait = Duration::from_secs(u64::try_from(request.query_number("wait")).unwrap_or(0));
    let (found, cursor, turn) = event_stream::listen(
        &app,
        caller.tenant(),
        caller.mode(),
        after,
        request.query_number("limit"),
        wait,
    )
    .await?;
    let body = EventStream::json(&found, &cursor, &app.config.brand);
    Ok(Reply { turn: Some(turn), ..Reply::bytes(200, "application/json", body) })
}

pub async fn trigger(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    let body: EventTrigger = request.body()?;
    let (event_id, deliveries) =
        event_stream::trigger(&app, caller.tenant(), caller.mode(), &body.r#type).await?;
    Reply::data(202, &TriggeredEvent { event_id, deliveries })
}
