//! `/v1/scheduled-calls`, and the timelines of calls.

use std::sync::Arc;

use domain::scheduled_call::Status;

use crate::app::access::Caller;
use crate::app::{App, scheduled_calls, timelines};
use crate::http::handler::{Outcome, Reply, Request};

pub async fn create(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    let body = request.body()?;
    let once = request.take_once();
    Ok(Reply::answer(scheduled_calls::create(&app, &caller, once, body).await?))
}

pub async fn list(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let status = request.query_text("status").and_then(Status::parse);
    let (limit, offset) = (request.query_number("limit"), request.query_number("offset"));
    Reply::json(
        200,
        &scheduled_calls::list(&app, caller.tenant(), caller.mode(), status, limit, offset).await?,
    )
}

pub async fn get(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let id = request.id_in_path("id", "scheduled call")?;
    Reply::data(200, &scheduled_calls::get(&app, caller.tenant(), caller.mode(), id).await?)
}

pub async fn cancel(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let id = request.id_in_path("id", "scheduled call")?;
    Reply::data(200, &scheduled_calls::cancel(&app, caller.tenant(), caller.mode(), id).await?)
}

pub async fn timeline(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let id = request.id_in_path("id", "scheduled call")?;
    Reply::data(200, &scheduled_calls::timeline(&app, caller.tenant(), caller.mode(), id).await?)
}

pub async fn call_timeline(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    Reply::data(
        200,
        &timelines::of_call(&app, caller.tenant(), caller.mode(), request.id_in_path("id", "call")?).await?,
    )
}
