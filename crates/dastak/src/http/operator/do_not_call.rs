//! Lifting opt-outs, which the public API refuses.

use std::sync::Arc;

use api::envelope::Removed;

use super::workspace::workspace;
use crate::app::{App, do_not_call};
use crate::http::handler::{Outcome, Reply, Request};

pub async fn lift_opt_out(app: Arc<App>, request: Request) -> Outcome {
    let id = request.id_in_path("id", "contact")?;
    Reply::data(200, &do_not_call::lift(&app, request.trace(), workspace(&request)?, id).await?)
}

pub async fn remove(app: Arc<App>, request: Request) -> Outcome {
    do_not_call::remove(&app, request.trace(), workspace(&request)?, request.parameter("phone")).await?;
    Reply::data(200, &Removed { deleted: true })
}
