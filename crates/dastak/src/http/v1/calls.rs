//! `/v1/calls`.

use std::sync::Arc;

use domain::call::{Direction, Stage, Status};
use domain::ids::{Id, Kind};
use domain::time::Timestamp;
use store::calls::Filter;

use crate::app::access::Caller;
use crate::app::{App, calls};
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

pub async fn list(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let mut nobody = false;
    let status = request.query_text("status").map(Status::parse);
    let filter = Filter {
        agent: id(&request, "agentId", &mut nobody),
        campaign: id(&request, "campaignId", &mut nobody),
        contact: id(&request, "contactId", &mut nobody),
        direction: request.query_text("direction").and_then(Direction::parse),
        stage: request.query_text("state").and_then(Stage::parse),
        status: status.flatten(),
        from: moment(&request, "from"),
        to: moment(&request, "to"),
        before: request.cursor(&app)?,
    };
    if nobody || status.is_some_and(|status| status.is_none()) {
        return Reply::page(&app, &request, &[(); 0], None);
    }
    let (rows, next) =
        calls::list(&app, caller.tenant(), caller.mode(), filter, request.query_number("limit")).await?;
    Reply::page(&app, &request, &rows, next.as_deref())
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
