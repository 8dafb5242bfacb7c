//! The operator's side of agents: locks, tools, compliance packs.

use std::sync::Arc;

use api::envelope::Deleted;
use api::operator_agents::AgentLock;
use domain::ids::{Agent, Tool};

use super::workspace::workspace;
use crate::app::{App, agents, compliance_packs, tools};
use crate::http::handler::{Handler, Outcome, Reply, Request};
use crate::open;

/// The handlers of these nouns by operation.
pub fn handlers() -> Vec<(&'static str, Handler)> {
    vec![
        ("lockAgent", open!(lock)),
        ("unlockAgent", open!(unlock)),
        ("createTool", open!(create_tool)),
        ("listWorkspaceTools", open!(list_tools)),
        ("deleteTool", open!(delete_tool)),
        ("createCompliancePack", open!(create_pack)),
        ("listCompliancePacks", open!(list_packs)),
    ]
}

async fn lock(app: Arc<App>, request: Request) -> Outcome {
    set_locked(app, request, true).await
}

async fn unlock(app: Arc<App>, request: Request) -> Outcome {
    set_locked(app, request, false).await
}

async fn set_locked(app: Arc<App>, request: Request, locked: bool) -> Outcome {
    let id = request.id_in_path::<Agent>("id", "agent")?;
    agents::set_locked(&app, request.trace(), workspace(&request)?, id, locked).await?;
    Reply::data(200, &AgentLock { id, locked })
}

async fn create_tool(app: Arc<App>, mut request: Request) -> Outcome {
    let (tenant, trace) = (workspace(&request)?, request.trace());
    Reply::data(201, &tools::create(&app, trace, tenant, request.body()?).await?)
}

async fn list_tools(app: Arc<App>, request: Request) -> Outcome {
    Reply::data(200, &tools::list(&app, workspace(&request)?).await?)
}

async fn delete_tool(app: Arc<App>, request: Request) -> Outcome {
    let id = request.id_in_path::<Tool>("id", "tool")?;
    tools::delete(&app, request.trace(), workspace(&request)?, id).await?;
    Reply::data(200, &Deleted { id: id.to_string(), deleted: true })
}

async fn create_pack(app: Arc<App>, mut request: Request) -> Outcome {
    let (tenant, trace) = (workspace(&request)?, request.trace());
    Reply::data(201, &compliance_packs::create(&app, trace, tenant, request.body.take()).await?)
}

async fn list_packs(app: Arc<App>, request: Request) -> Outcome {
    Reply::data(200, &compliance_packs::list(&app, workspace(&request)?).await?)
}
