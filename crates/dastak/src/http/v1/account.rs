//! `/v1/me` and `/v1/workspace`.

use std::sync::Arc;

use crate::app::access::Caller;
use crate::app::{App, account, workspaces};
use crate::http::handler::{Outcome, Reply, Request};

pub async fn get(_: Arc<App>, caller: Caller, _: Request) -> Outcome {
    Reply::data(200, &account::describe(&caller)?)
}

pub async fn workspace(app: Arc<App>, caller: Caller, _: Request) -> Outcome {
    Reply::data(200, &workspaces::get(&app, caller.tenant()).await?)
}

pub async fn update_workspace(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    Reply::data(200, &workspaces::update_own(&app, caller.tenant(), request.body()?).await?)
}
