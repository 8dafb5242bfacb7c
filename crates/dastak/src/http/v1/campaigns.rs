//! `/v1/campaigns` and `/v1/campaign-runs`, and the preflight of a batch of nudges.

use std::sync::Arc;

use api::campaigns::{CampaignStatusChange, NewCallingList, NewCallingListRow, RunStarted};
use api::envelope::Deleted;
use api::error_codes::TEST_MODE_READ_ONLY;
use api::schema::{self, Items, Piece};
use campaigns::filling::Filling;
use campaigns::list::aside;
use campaigns::{campaign, list, preflight, run, runs, summary};
use channel::campaigns as messaging;
use domain::campaign::list::MAX_ROWS;
use domain::tenant::Mode;

use crate::app::access::Caller;
use crate::app::{App, Failure};
use crate::http::body::Arriving;
use crate::http::handler::{Outcome, Reply, Request};
use crate::http::router::unread;

pub async fn list(app: Arc<App>, caller: Caller, _: Request) -> Outcome {
    Reply::data(200, &messaging::list(&app, &caller).await?)
}

pub async fn get(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    Reply::data(200, &messaging::get(&app, &caller, request.id_in_path("id", "campaign")?).await?)
}

pub async fn create(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    Reply::data(201, &messaging::create(&app, &caller, request.body()?).await?)
}

pub async fn update(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    let id = request.id_in_path("id", "campaign")?;
    let body = request.body()?;
    Reply::data(
        200,
        &match messaging::is_of_channel(&app, &caller, id, true).await? {
            true => messaging::update(&app, &caller, id, body).await?,
            false => campaign::update(&app, caller.tenant(), id, body).await?,
        },
    )
}

pub async fn set_status(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    let id = request.id_in_path("id", "campaign")?;
    let body: CampaignStatusChange = request.body()?;
    if messaging::is_of_channel(&app, &caller, id, true).await? {
        return Reply::data(200, &messaging::set_status(&app, &caller, id, body).await?);
    }
    if caller.mode() == Mode::Test {
        return Err(Failure::new(TEST_MODE_READ_ONLY, "a test key cannot change this; use a live key"));
    }
    Reply::data(200, &campaign::set_status(&app, (caller.tenant(), caller.actor()), id, body.status).await?)
}

pub async fn delete(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let id = request.id_in_path("id", "campaign")?;
    match messaging::is_of_channel(&app, &caller, id, true).await? {
        true => messaging::delete(&app, caller.tenant(), id).await?,
        false => campaign::delete(&app, caller.tenant(), id).await?,
    }
    Reply::data(200, &Deleted { id: id.to_string(), deleted: true })
}

pub async fn set_contacts(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    let id = request.id_in_path("id", "campaign")?;
    messaging::is_of_channel(&app, &caller, id, true).await?;
    let body = request.arriving.take().ok_or_else(|| Failure::internal("a list that does not arrive"))?;
    let mut filling = Filling::begin(&app, caller.tenant(), id).await?;
    let filled = match fill(&app, &mut filling, body).await {
        Ok(()) => filling.finish(&app).await,
        Err(failure) => Err(failure),
    };
    if filled.is_err() {
        filling.give_up(&app).await;
    }
    Reply::data(200, &filled?)
}

/// Puts the rows of a body on a list as they come.
async fn fill(app: &App, filling: &mut Filling, mut body: Arriving) -> Result<(), Failure> {
    let mut items = Items::of(schema::request::<NewCallingList>(), "contacts", MAX_ROWS);
    loop {
        let bytes = body.next().await?;
        if bytes.is_empty() {
            items.finish().map_err(unread)?;
            return Ok(());
        }
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            let (piece, left) = items.take(rest).map_err(unread)?;
            rest = left;
            let Some(piece) = piece else { continue };
            let rows = aside(move || rows_of(piece)).await?;
            filling.add(app, rows).await?;
        }
    }
}

fn rows_of(piece: Piece) -> Result<Vec<NewCallingListRow>, Failure> {
    let body = piece.read().map_err(unread)?;
    let list: NewCallingList = serde_json::from_value(body).map_err(|why| {
        Failure::internal(format!("setCampaignContacts: body schema and type differ: {why}"))
    })?;
    Ok(list.contacts)
}

pub async fn contacts(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let id = request.id_in_path("id", "campaign")?;
    messaging::is_of_channel(&app, &caller, id, false).await?;
    let query = list::Query {
        state: request.query_text("state").unwrap_or("all").to_owned(),
        q: request.query_text("q").map(str::to_owned),
        limit: request.query_number("limit"),
        offset: request.query_number("offset"),
    };
    Reply::json(200, &list::read(&app, caller.tenant(), id, query).await?)
}

pub async fn runs(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let id = request.id_in_path("id", "campaign")?;
    let (limit, offset) = (request.query_number("limit"), request.query_number("offset"));
    Reply::data(200, &runs::list(&app, caller.tenant(), id, limit, offset).await?)
}

pub async fn start_run(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let id = request.id_in_path("id", "campaign")?;
    let (run_id, status) = run::start(&app, caller.tenant(), id).await?;
    Reply::data(202, &RunStarted { run_id, status })
}

pub async fn run(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    Reply::data(200, &runs::get(&app, caller.tenant(), request.id_in_path("id", "run")?).await?)
}

pub async fn summary(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    Reply::data(200, &summary::get(&app, caller.tenant(), request.id_in_path("id", "campaign")?).await?)
}

pub async fn preflight(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let id = request.id_in_path("id", "campaign")?;
    Reply::data(200, &messaging::preflight(&app, &caller, id).await?)
}

pub async fn preflight_nudges(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    Reply::data(200, &preflight::of_nudges(&app, &caller, request.body()?).await?)
}
