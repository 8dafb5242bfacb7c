//! The messaging channel of a workspace: its connection and its numbers.

use std::sync::Arc;

use api::envelope::{Deleted, Removed};
use channel::{connections, numbers};

use super::workspace::workspace;
use crate::app::App;
use crate::http::handler::{Handler, Outcome, Reply, Request};
use crate::open;

/// The handlers by operation.
pub fn handlers() -> Vec<(&'static str, Handler)> {
    vec![
        ("putChannelConnection", open!(put_connection)),
        ("getChannelConnection", open!(get_connection)),
        ("deleteChannelConnection", open!(delete_connection)),
        ("bindChannelNumber", open!(bind_number)),
        ("listBoundChannelNumbers", open!(list_numbers)),
        ("releaseChannelNumber", open!(release_number)),
    ]
}

async fn put_connection(app: Arc<App>, mut request: Request) -> Outcome {
    let (tenant, trace) = (workspace(&request)?, request.trace());
    Reply::data(200, &connections::put(&app, trace, tenant, request.body()?).await?)
}

async fn get_connection(app: Arc<App>, request: Request) -> Outcome {
    Reply::data(200, &connections::get(&app, workspace(&request)?).await?)
}

async fn delete_connection(app: Arc<App>, request: Request) -> Outcome {
    connections::delete(&app, request.trace(), workspace(&request)?).await?;
    Reply::data(200, &Removed { deleted: true })
}

async fn bind_number(app: Arc<App>, mut request: Request) -> Outcome {
    let (tenant, trace) = (workspace(&request)?, request.trace());
    Reply::data(201, &numbers::bind(&app, trace, tenant, request.body()?).await?)
}

async fn list_numbers(app: Arc<App>, request: Request) -> Outcome {
    Reply::data(200, &numbers::bound(&app, workspace(&request)?).await?)
}

async fn release_number(app: Arc<App>, request: Request) -> Outcome {
    let (tenant, trace) = (workspace(&request)?, request.trace());
    let id = numbers::release(&app, trace, tenant, request.parameter("id")).await?;
    Reply::data(200, &Deleted { id: id.to_string(), deleted: true })
}
