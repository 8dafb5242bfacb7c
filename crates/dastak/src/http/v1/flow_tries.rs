//! `/v1/agents/{id}/flow/try`.

use std::sync::Arc;

use api::envelope::Deleted;
use api::flow_tries::NewFlowTry;
use domain::ids::{Agent, FlowTry, Id};

use crate::app::access::Caller;
use crate::app::{App, Failure};
use crate::http::handler::{Outcome, Reply, Request};

fn ids(request: &Request) -> Result<(Id<Agent>, Id<FlowTry>), Failure> {
    Ok((request.id_in_path("id", "agent")?, request.id_in_path("try", "run of a flow")?))
}

pub async fn begin(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    let id = request.id_in_path("id", "agent")?;
    let body: Option<NewFlowTry> = request.body()?;
    let begun =
        ::chats::begin_try(&app, caller.tenant(), id, caller.actor(), body.unwrap_or_default()).await?;
    Reply::data(201, &begun)
}

pub async fn get(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let (agent, id) = ids(&request)?;
    Reply::data(200, &::chats::get_try(&app, caller.tenant(), agent, id).await?)
}

pub async fn say(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    let (agent, id) = ids(&request)?;
    Reply::data(200, &::chats::say_in_try(&app, caller.tenant(), agent, id, request.body()?).await?)
}

pub async fn back(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    let (agent, id) = ids(&request)?;
    Reply::data(200, &::chats::back_in_try(&app, caller.tenant(), agent, id, request.body()?).await?)
}

pub async fn close(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let (agent, id) = ids(&request)?;
    ::chats::close_try(&app, caller.tenant(), agent, id).await?;
    Reply::data(200, &Deleted { id: id.to_string(), deleted: true })
}
