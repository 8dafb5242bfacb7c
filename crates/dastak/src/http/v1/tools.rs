//! `/v1/tools`.

use std::sync::Arc;

use crate::app::access::Caller;
use crate::app::{App, tools};
use crate::http::handler::{Outcome, Reply, Request};

pub async fn list(app: Arc<App>, caller: Caller, _: Request) -> Outcome {
    Reply::data(200, &tools::list(&app, caller.tenant()).await?)
}
