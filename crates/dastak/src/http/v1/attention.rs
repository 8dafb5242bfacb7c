//! `/v1/attention`.

use std::sync::Arc;

use crate::app::access::Caller;
use crate::app::{App, attention};
use crate::http::handler::{Outcome, Reply, Request};

pub async fn list(app: Arc<App>, caller: Caller, _request: Request) -> Outcome {
    Reply::data(200, &attention::list(&app, caller.tenant(), caller.mode()).await?)
}
