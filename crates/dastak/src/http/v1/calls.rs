//! `/v1/calls`.

use std::sync::Arc;

use domain::call::{Direction, Stage, Status};
use domain::ids::{Id, Kind};
use domain::time::Timestamp;
use store::call_lists::Filter;

use crate::app::access::Caller;
use crate::app::calls::Sought;
use crate::app::{App, Failure, calls, recordings};
use crate::http::handler::{Outcome, Reply, Request};

pub async fn place(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    let body = request.body()?;
    let once = request.take_once();
    Ok(Reply::answer(calls::place(&app, caller.tenant(), caller.mode(), once, body).await?))
}

/// An id in the query. A malformed one matches nothing: the list is empty.
fn id<K: Kind>(request: &Request, name: &str, nobody: &mut bool) -> Option<Id<K>> {
    let text = request.query_text(name)?;
    let id = text.parse().ok();
    *nobody |= id.is_none();
    id
}

fn moment(request: &Request, name: &str) -> Option<Timestamp> {
    request.query_text(name).and_then(Timestamp::parse)
}

/// The filters of a request; `None` when they admit no call.
fn filter(request: &Request) -> Result<Option<(Sought, Filter)>, Failure> {
    let mut nobody = false;
    let status = request.query_text("status").map(Status::parse);
    let filter = Filter {
        agent: id(request, "agentId", &mut nobody),
        campaign: id(request, "campaignId", &mut nobody),
        contact: id(request, "contactId", &mut nobody),
        people: None,
        direction: request.query_text("direction").and_then(Direction::parse),
        stage: request.query_text("state").and_then(Stage::parse),
        status: status.flatten(),
        outcome: request.query_text("outcome").map(str::to_owned),
        end_cause: request.query_text("endCause").map(str::to_owned),
        from: moment(request, "from"),
        to: moment(request, "to"),
        before: None,
    };
    let sought = Sought::read(request.query_text("number"), request.query_text("q"))?;
    let none = nobody || status.is_some_and(|status| status.is_none());
    Ok((!none).then_some((sought, filter)))
}

pub async fn list(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let before = request.cursor(&app)?;
    let Some((sought, filter)) = filter(&request)? else {
        return Reply::page(&app, &request, &[(); 0], None);
    };
    let (filter, limit) = (Filter { before, ..filter }, request.query_number("limit"));
    let (rows, next) = calls::list(&app, caller.tenant(), caller.mode(), sought, filter, limit).await?;
    Reply::page(&app, &request, &rows, next.as_deref())
}

pub async fn live(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let (before, limit) = (request.cursor(&app)?, request.query_number("limit"));
    let (rows, next) = calls::live::list(&app, caller.tenant(), caller.mode(), before, limit).await?;
    Reply::page(&app, &request, &rows, next.as_deref())
}

pub async fn counts(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let counted = match filter(&request)? {
        Some((sought, filter)) => calls::counts(&app, caller.tenant(), caller.mode(), sought, filter).await?,
        None => calls::no_counts(),
    };
    Reply::data(200, &counted)
}

pub async fn turns(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let id = request.id_in_path("id", "call")?;
    Reply::data(200, &calls::turns(&app, caller.tenant(), caller.mode(), id).await?)
}

pub async fn peaks(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let id = request.id_in_path("id", "call")?;
    Reply::data(200, &recordings::peaks_of_call(&app, caller.tenant(), caller.mode(), id).await?)
}

pub async fn get(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    Reply::data(
        200,
        &calls::get(&app, caller.tenant(), caller.mode(), request.id_in_path("id", "call")?).await?,
    )
}

pub async fn hang_up(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let answer =
        calls::hang_up(&app, caller.tenant(), caller.mode(), request.id_in_path("id", "call")?).await?;
    Reply::data(202, &answer)
}
