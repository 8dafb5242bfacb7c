//! `/v1/nudges`.

use std::sync::Arc;

use domain::nudge::{ResultCode, Status};
use domain::phone::Phone;
use domain::time::Timestamp;
use store::nudges::Filter;

use crate::app::access::Caller;
use crate::app::{App, nudges};
use crate::http::handler::{Outcome, Reply, Request};

pub async fn create(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    let body = request.body()?;
    let once = request.take_once();
    Ok(Reply::answer(nudges::create(&app, &caller, once, body).await?))
}

pub async fn list(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let moment = |name: &str| request.query_text(name).and_then(Timestamp::parse);
    let agent = request.query_text("agentId").map(str::parse);
    let before = request.cursor(&app)?;
    if agent.as_ref().is_some_and(Result::is_err) {
        // A malformed id matches nothing: the list is empty.
        return Reply::page(&app, &request, &[(); 0], None);
    }
    let filter = Filter {
        status: request.query_text("status").and_then(Status::parse),
        result: request.query_text("result").and_then(ResultCode::parse),
        agent: agent.and_then(Result::ok),
        external_ref: request.query_text("externalRef").map(str::to_owned),
        to_number: request
            .query_text("toNumber")
            .map(|text| Phone::normalize(text).map_or_else(|_| text.to_owned(), |phone| phone.to_string())),
        created_after: moment("createdAfter"),
        created_before: moment("createdBefore"),
        before,
    };
    let (rows, next) =
        nudges::list(&app, caller.tenant(), caller.mode(), filter, request.query_number("limit")).await?;
    Reply::page(&app, &request, &rows, next.as_deref())
}

pub async fn get(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    Reply::data(200, &nudges::get(&app, &caller, request.id_in_path("id", "nudge")?).await?)
}

pub async fn timeline(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    Reply::data(
        200,
        &nudges::timeline(&app, caller.tenant(), caller.mode(), request.id_in_path("id", "nudge")?).await?,
    )
}

pub async fn cancel(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    Reply::data(
        200,
        &nudges::cancel(&app, caller.tenant(), caller.mode(), request.id_in_path("id", "nudge")?).await?,
    )
}

pub async fn cancel_many(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    let body = request.body()?;
    Reply::data(200, &nudges::cancel_many(&app, caller.tenant(), caller.mode(), body).await?)
}

pub async fn preflight(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    let body = request.body()?;
    Reply::data(200, &nudges::preflight(&app, caller.tenant(), caller.mode(), body).await?)
}
