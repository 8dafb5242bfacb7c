//! `/v1/numbers`.

use std::sync::Arc;

use api::numbers::InboundAgent;

use crate::app::access::Caller;
use crate::app::{App, numbers};
use crate::http::handler::{Outcome, Reply, Request};

pub async fn list(app: Arc<App>, caller: Caller, _: Request) -> Outcome {
    Reply::data(200, &numbers::list(&app, caller.tenant()).await?)
}

pub async fn set_inbound_agent(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    let id = request.id_in_path("id", "number")?;
    let body: InboundAgent = request.body()?;
    Reply::data(200, &numbers::set_inbound_agent(&app, caller.tenant(), id, body.agent_id).await?)
}
