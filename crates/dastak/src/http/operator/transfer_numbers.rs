//! Phones of staff that are released from the registry.

use std::sync::Arc;

use api::envelope::Removed;
use api::transfer_numbers::NewTransferNumber;

use super::workspace::workspace;
use crate::app::{App, transfer_numbers};
use crate::http::handler::{Outcome, Reply, Request};

pub async fn create(app: Arc<App>, mut request: Request) -> Outcome {
    let (tenant, trace) = (workspace(&request)?, request.trace());
    let body: NewTransferNumber = request.body()?;
    Reply::data(201, &transfer_numbers::create(&app, trace, tenant, &body.number).await?)
}

pub async fn list(app: Arc<App>, request: Request) -> Outcome {
    Reply::data(200, &transfer_numbers::list(&app, workspace(&request)?).await?)
}

pub async fn delete(app: Arc<App>, request: Request) -> Outcome {
    transfer_numbers::delete(&app, request.trace(), workspace(&request)?, request.parameter("number"))
        .await?;
    Reply::data(200, &Removed { deleted: true })
}
