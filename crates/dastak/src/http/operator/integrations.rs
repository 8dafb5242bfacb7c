//! Accounts of outside systems.

use std::sync::Arc;

use api::envelope::Deleted;
use domain::ids::Integration;

use super::workspace::workspace;
use crate::app::App;
use crate::http::handler::{Handler, Outcome, Reply, Request};
use crate::open;
use ::integrations::accounts;

/// The handlers by operation.
pub fn handlers() -> Vec<(&'static str, Handler)> {
    vec![
        ("createIntegration", open!(create)),
        ("listIntegrations", open!(list)),
        ("updateIntegration", open!(update)),
        ("deleteIntegration", open!(delete)),
    ]
}

async fn create(app: Arc<App>, mut request: Request) -> Outcome {
    let (tenant, trace) = (workspace(&request)?, request.trace());
    Reply::data(201, &accounts::create(&app, trace, tenant, request.body()?).await?)
}

async fn list(app: Arc<App>, request: Request) -> Outcome {
    Reply::data(200, &accounts::list(&app, workspace(&request)?).await?)
}

async fn update(app: Arc<App>, mut request: Request) -> Outcome {
    let (tenant, trace) = (workspace(&request)?, request.trace());
    let id = request.id_in_path::<Integration>("id", "integration")?;
    Reply::data(200, &accounts::update(&app, trace, tenant, id, request.body()?).await?)
}

async fn delete(app: Arc<App>, request: Request) -> Outcome {
    let id = request.id_in_path::<Integration>("id", "integration")?;
    accounts::delete(&app, request.trace(), workspace(&request)?, id).await?;
    Reply::data(200, &Deleted { id: id.to_string(), deleted: true })
}
