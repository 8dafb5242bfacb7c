//! `/v1/campaigns/{id}/staged-lists`.

use std::sync::Arc;

use api::campaigns::ApplyStagedList;
use api::envelope::Removed;
use bytes::Bytes;
use campaigns::staged::{self, FindingsCsv, Query};
use domain::campaign::staged::FindingCode;
use domain::ids::{Campaign, Id};

use crate::app::access::Caller;
use crate::app::{App, Failure};
use crate::http::handler::{Handler, Outcome, Reply, Request};
use crate::http::stream;
use crate::keyed;

/// The handlers of this noun by operation.
pub fn handlers() -> Vec<(&'static str, Handler)> {
    vec![
        ("openStagedList", keyed!(open)),
        ("listStagedLists", keyed!(list)),
        ("addStagedRows", keyed!(add)),
        ("preflightStagedList", keyed!(preflight)),
        ("listStagedRows", keyed!(rows)),
        ("editStagedRow", keyed!(edit)),
        ("exportStagedFindings", keyed!(export)),
        ("applyStagedList", keyed!(apply)),
        ("deleteStagedList", keyed!(delete)),
    ]
}

fn campaign(request: &Request) -> Result<Id<Campaign>, Failure> {
    request.id_in_path("id", "campaign")
}

fn list_of(request: &Request) -> Result<(Id<Campaign>, i64), Failure> {
    let list = request.parameter("list").parse().map_err(|_| Failure::not_found("staged list"))?;
    Ok((campaign(request)?, list))
}

async fn open(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    Reply::data(201, &staged::open(&app, &caller, campaign(&request)?).await?)
}

async fn list(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    Reply::data(200, &staged::list(&app, caller.tenant(), campaign(&request)?).await?)
}

async fn add(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    let (id, list) = list_of(&request)?;
    Reply::data(200, &staged::add(&app, caller.tenant(), id, list, request.body()?).await?)
}

async fn preflight(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let (id, list) = list_of(&request)?;
    Reply::data(200, &staged::preflight(&app, caller.tenant(), id, list).await?)
}

async fn rows(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let (id, list) = list_of(&request)?;
    let query = Query {
        finding: request.query_text("finding").and_then(FindingCode::parse),
        column: request.query_text("column").map(str::to_owned),
        limit: request.query_number("limit"),
        after: request.cursor(&app)?.and_then(|after| after.parse().ok()).unwrap_or(0),
    };
    let (rows, next) = staged::rows(&app, caller.tenant(), id, list, query).await?;
    Reply::page(&app, &request, &rows, next.as_deref())
}

async fn edit(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    let (id, list) = list_of(&request)?;
    let row = request.parameter("row").parse().map_err(|_| Failure::not_found("row"))?;
    Reply::data(200, &staged::edit(&app, caller.tenant(), id, (list, row), request.body()?).await?)
}

async fn export(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let (id, list) = list_of(&request)?;
    let file = FindingsCsv::begin(app, caller.tenant(), id, list).await?;
    let headers = vec![("content-disposition", format!("attachment; filename=\"findings-{list}.csv\""))];
    let next =
        |file: FindingsCsv| async move { file.next().await.map(|(text, file)| (Bytes::from(text), file)) };
    Ok(Reply::of(200, "text/csv; charset=utf-8", headers, stream::pieces(file, next)))
}

async fn apply(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    let (id, list) = list_of(&request)?;
    let body: ApplyStagedList = request.body()?;
    Reply::data(200, &staged::apply(&app, caller.tenant(), id, list, body.expected_rows).await?)
}

async fn delete(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let (id, list) = list_of(&request)?;
    staged::delete(&app, caller.tenant(), id, list).await?;
    Reply::data(200, &Removed { deleted: true })
}
