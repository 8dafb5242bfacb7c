//! `/v1/campaigns` and `/v1/campaign-runs`, and the preflight of a batch of nudges.

use std::sync::Arc;

use api::campaigns::{CampaignStatusChange, NewCallingList, RunStarted};
use api::envelope::Deleted;
use api::error_codes::TEST_MODE_READ_ONLY;
use campaigns::{campaign, list, preflight, run, runs, summary};
use channel::campaigns as messaging;
use domain::campaign::RunStatus;
use domain::tenant::Mode;

use crate::app::access::Caller;
use crate::app::{App, Failure};
use crate::http::handler::{Outcome, Reply, Request};

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
        &match messaging::guard(&app, &caller, id, true).await? {
            true => messaging::update(&app, &caller, id, body).await?,
            false => campaign::update(&app, caller.tenant(), id, body).await?,
        },
    )
}

pub async fn set_status(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    let id = request.id_in_path("id", "campaign")?;
    let body: CampaignStatusChange = request.body()?;
    if messaging::guard(&app, &caller, id, true).await? {
        return Reply::data(200, &messaging::set_status(&app, &caller, id, body).await?);
    }
    if caller.mode() == Mode::Test {
        return Err(Failure::new(TEST_MODE_READ_ONLY, "a test key cannot change this"));
    }
    Reply::data(200, &campaign::set_status(&app, caller.tenant(), id, body.status).await?)
}

pub async fn delete(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let id = request.id_in_path("id", "campaign")?;
    match messaging::guard(&app, &caller, id, true).await? {
        true => messaging::delete(&app, caller.tenant(), id).await?,
        false => campaign::delete(&app, caller.tenant(), id).await?,
    }
    Reply::data(200, &Deleted { id: id.to_string(), deleted: true })
}

pub async fn set_contacts(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    let id = request.id_in_path("id", "campaign")?;
    let body: NewCallingList = request.body()?;
    messaging::guard(&app, &caller, id, true).await?;
    // The body as it came is not needed any more; it may be large.
    request.raw.clear();
    Reply::data(200, &list::replace(&app, caller.tenant(), id, body.contacts).await?)
}

pub async fn contacts(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let id = request.id_in_path("id", "campaign")?;
    messaging::guard(&app, &caller, id, false).await?;
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
    let run_id = run::start(&app, caller.tenant(), id).await?;
    Reply::data(202, &RunStarted { run_id, status: RunStatus::Queued })
}

pub async fn run(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    Reply::data(200, &runs::get(&app, caller.tenant(), request.id_in_path("id", "run")?).await?)
}

pub async fn summary(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    Reply::data(200, &summary::get(&app, caller.tenant(), request.id_in_path("id", "campaign")?).await?)
}

pub async fn preflight(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let id = request.id_in_path("id", "campaign")?;
    Reply::data(200, &preflight::of_campaign(&app, caller.tenant(), id).await?)
}

pub async fn preflight_nudges(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    Reply::data(200, &preflight::of_nudges(&app, &caller, request.body()?).await?)
}
