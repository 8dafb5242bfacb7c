//! The platform do-not-call registry.

use std::sync::Arc;

use api::dnd::{DndImport, DndImportPiece, NewDndNumbers};
use api::envelope::Removed;

use crate::app::{App, Failure, dnd};
use crate::http::handler::{Outcome, Reply, Request};

pub async fn add(app: Arc<App>, mut request: Request) -> Outcome {
    let body: NewDndNumbers = request.body()?;
    Reply::data(200, &dnd::add(&app, request.trace(), body.phones).await?)
}

pub async fn remove(app: Arc<App>, request: Request) -> Outcome {
    dnd::remove(&app, request.trace(), request.parameter("phone").to_owned()).await?;
    Reply::data(200, &Removed { deleted: true })
}

fn import(request: &Request) -> Result<i64, Failure> {
    request.parameter("import").parse().map_err(|_| Failure::not_found("import"))
}

pub async fn start_import(app: Arc<App>, request: Request) -> Outcome {
    Reply::data(201, &DndImport { import_id: dnd::start_import(&app, request.trace()).await? })
}

pub async fn import_numbers(app: Arc<App>, mut request: Request) -> Outcome {
    let body: DndImportPiece = request.body()?;
    Reply::data(200, &dnd::import_numbers(&app, import(&request)?, &body.phones).await?)
}

pub async fn finish_import(app: Arc<App>, request: Request) -> Outcome {
    let import = import(&request)?;
    dnd::finish_import(&app, request.trace(), import).await?;
    Reply::data(200, &DndImport { import_id: import })
}

pub async fn cancel_import(app: Arc<App>, request: Request) -> Outcome {
    dnd::cancel_import(&app, request.trace(), import(&request)?).await?;
    Reply::data(200, &Removed { deleted: true })
}
