//! Calling lists that the operator imports piece by piece.

use std::sync::Arc;

use api::campaigns::ListImportPiece;
use api::envelope::Removed;
use campaigns::import;
use domain::ids::{Campaign, Id};
use domain::tenant::Tenant;

use crate::app::{App, Failure};
use crate::http::handler::{Handler, Outcome, Reply, Request};
use crate::open;

/// The handlers of this noun by operation.
pub fn handlers() -> Vec<(&'static str, Handler)> {
    vec![
        ("findCampaign", open!(find)),
        ("startListImport", open!(start)),
        ("addListImportRows", open!(add)),
        ("finishListImport", open!(finish)),
        ("cancelListImport", open!(cancel)),
    ]
}

fn campaign(request: &Request) -> Result<(Tenant, Id<Campaign>), Failure> {
    Ok((super::workspace::workspace(request)?, request.id_in_path("id", "campaign")?))
}

fn import_of(request: &Request) -> Result<i64, Failure> {
    request.parameter("import").parse().map_err(|_| Failure::not_found("import"))
}

async fn find(app: Arc<App>, request: Request) -> Outcome {
    Reply::data(200, &campaigns::campaign::place(&app, request.id_in_path("id", "campaign")?).await?)
}

async fn start(app: Arc<App>, request: Request) -> Outcome {
    let (tenant, id) = campaign(&request)?;
    Reply::data(201, &import::start(&app, request.trace(), tenant, id).await?)
}

async fn add(app: Arc<App>, mut request: Request) -> Outcome {
    let ((tenant, id), import) = (campaign(&request)?, import_of(&request)?);
    let piece: ListImportPiece = request.body()?;
    Reply::data(200, &import::add(&app, tenant, id, import, piece).await?)
}

async fn finish(app: Arc<App>, request: Request) -> Outcome {
    let ((tenant, id), import) = (campaign(&request)?, import_of(&request)?);
    Reply::data(200, &import::finish(&app, request.trace(), tenant, id, import).await?)
}

async fn cancel(app: Arc<App>, request: Request) -> Outcome {
    let ((tenant, id), import) = (campaign(&request)?, import_of(&request)?);
    import::cancel(&app, request.trace(), tenant, id, import).await?;
    Reply::data(200, &Removed { deleted: true })
}
