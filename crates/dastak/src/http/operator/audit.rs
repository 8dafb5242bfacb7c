//! An older state of a decision log that the operator accepts.

use std::sync::Arc;

use api::audit::{AcceptLog, AcceptedLog};

use crate::app::{App, audit};
use crate::http::handler::{Outcome, Reply, Request};

pub async fn accept(app: Arc<App>, mut request: Request) -> Outcome {
    let (tenant, trace) = (super::workspace::workspace(&request)?, request.trace());
    let body: AcceptLog = request.body()?;
    Reply::data(200, &AcceptedLog { accepted: audit::accept(&app, trace, tenant, body).await? })
}
