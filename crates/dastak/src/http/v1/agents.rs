//! `/v1/agents`, `/v1/voices`.

use std::sync::Arc;

use api::agents::AgentStatusChange;
use api::envelope::Deleted;
use api::flow_versions::FlowPublication;

use crate::app::access::Caller;
use crate::app::{App, agents, flows, voices};
use crate::http::handler::{Outcome, Reply, Request};

pub async fn list(app: Arc<App>, caller: Caller, _: Request) -> Outcome {
    Reply::data(200, &agents::list(&app, caller.tenant()).await?)
}

pub async fn get(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    Reply::data(200, &agents::get(&app, caller.tenant(), request.id_in_path("id", "agent")?).await?)
}

pub async fn create(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    Reply::data(201, &agents::create(&app, caller.tenant(), caller.actor(), request.body()?).await?)
}

pub async fn update(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    let id = request.id_in_path("id", "agent")?;
    Reply::data(200, &agents::update(&app, caller.tenant(), id, caller.actor(), request.body()?).await?)
}

pub async fn delete(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let id = request.id_in_path("id", "agent")?;
    agents::delete(&app, caller.tenant(), id).await?;
    Reply::data(200, &Deleted { id: id.to_string(), deleted: true })
}

pub async fn set_status(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    let id = request.id_in_path("id", "agent")?;
    let body: AgentStatusChange = request.body()?;
    Reply::data(200, &agents::set_status(&app, caller.tenant(), id, body.status).await?)
}

pub async fn flow(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    Reply::data(200, &flows::get(&app, caller.tenant(), request.id_in_path("id", "agent")?).await?)
}

pub async fn save_flow(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    let id = request.id_in_path("id", "agent")?;
    Reply::data(200, &flows::save(&app, caller.tenant(), id, caller.actor(), request.body()?).await?)
}

pub async fn publish_flow(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    let id = request.id_in_path("id", "agent")?;
    let body: Option<FlowPublication> = request.body()?;
    let note = body.and_then(|body| body.note);
    Reply::data(200, &flows::publish(&app, caller.tenant(), id, caller.actor(), note).await?)
}

pub async fn voices(app: Arc<App>, _: Caller, _: Request) -> Outcome {
    Reply::data(200, &voices::list(&app))
}
