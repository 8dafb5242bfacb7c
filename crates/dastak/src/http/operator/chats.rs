//! The operator's side of chats: the inbox of a workspace, and the hours of its agents.

use std::sync::Arc;

use api::chats::{ChatTakeover, NewChatMessage};
use domain::chat::State;

use super::workspace::workspace;
use crate::app::App;
use crate::http::handler::{Handler, Outcome, Reply, Request};
use crate::open;

/// The handlers of chats by operation.
pub fn handlers() -> Vec<(&'static str, Handler)> {
    vec![
        ("listChats", open!(list)),
        ("getChat", open!(get)),
        ("takeChatOver", open!(take_over)),
        ("writeChatMessage", open!(write)),
        ("handChatBack", open!(hand_back)),
        ("endChat", open!(end)),
        ("getBusinessHours", open!(hours)),
        ("setBusinessHours", open!(set_hours)),
        ("removeBusinessHours", open!(remove_hours)),
    ]
}

async fn list(app: Arc<App>, request: Request) -> Outcome {
    let (state, after) = (request.query_text("state").and_then(State::parse), request.cursor(&app)?);
    let limit = request.query_number("limit");
    let (rows, next) = ::chats::list(&app, workspace(&request)?, state, after, limit).await?;
    Reply::page(&app, &request, &rows, next.as_deref())
}

async fn get(app: Arc<App>, request: Request) -> Outcome {
    let id = request.id_in_path("id", "chat")?;
    Reply::data(200, &::chats::detail(&app, workspace(&request)?, id).await?)
}

async fn take_over(app: Arc<App>, mut request: Request) -> Outcome {
    let (tenant, trace) = (workspace(&request)?, request.trace());
    let id = request.id_in_path("id", "chat")?;
    let body: ChatTakeover = request.body()?;
    Reply::data(200, &::chats::take_over(&app, trace, tenant, id, body.user_id).await?)
}

async fn write(app: Arc<App>, mut request: Request) -> Outcome {
    let (tenant, trace) = (workspace(&request)?, request.trace());
    let id = request.id_in_path("id", "chat")?;
    let body: NewChatMessage = request.body()?;
    Reply::data(200, &::chats::write(&app, trace, tenant, id, body.text).await?)
}

async fn hand_back(app: Arc<App>, request: Request) -> Outcome {
    let id = request.id_in_path("id", "chat")?;
    Reply::data(200, &::chats::hand_back(&app, request.trace(), workspace(&request)?, id).await?)
}

async fn end(app: Arc<App>, request: Request) -> Outcome {
    let id = request.id_in_path("id", "chat")?;
    Reply::data(200, &::chats::end_for(&app, request.trace(), workspace(&request)?, id).await?)
}

async fn hours(app: Arc<App>, request: Request) -> Outcome {
    let id = request.id_in_path("id", "agent")?;
    Reply::data(200, &::chats::hours(&app, workspace(&request)?, id).await?)
}

async fn set_hours(app: Arc<App>, mut request: Request) -> Outcome {
    let (tenant, trace) = (workspace(&request)?, request.trace());
    let id = request.id_in_path("id", "agent")?;
    Reply::data(200, &::chats::set_hours(&app, trace, tenant, id, request.body()?).await?)
}

async fn remove_hours(app: Arc<App>, request: Request) -> Outcome {
    let id = request.id_in_path("id", "agent")?;
    Reply::data(200, &::chats::remove_hours(&app, request.trace(), workspace(&request)?, id).await?)
}
