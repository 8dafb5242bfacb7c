//! The operator's side of boards: columns, rules, automations, and what became of these.

use std::sync::Arc;

use super::workspace::workspace;
use crate::app::App;
use crate::http::handler::{Handler, Outcome, Reply, Request};
use crate::open;

/// The handlers of boards by operation.
pub fn handlers() -> Vec<(&'static str, Handler)> {
    vec![("getBoard", open!(get)), ("updateBoard", open!(update)), ("getBoardCard", open!(card))]
}

async fn get(app: Arc<App>, request: Request) -> Outcome {
    let id = request.id_in_path("id", "board")?;
    Reply::data(200, &::boards::get(&app, workspace(&request)?, id).await?)
}

async fn update(app: Arc<App>, mut request: Request) -> Outcome {
    let (tenant, trace) = (workspace(&request)?, request.trace());
    let id = request.id_in_path("id", "board")?;
    Reply::data(200, &::boards::update(&app, trace, tenant, id, request.body()?).await?)
}

async fn card(app: Arc<App>, request: Request) -> Outcome {
    let (board, card) = (request.id_in_path("id", "board")?, request.id_in_path("cardId", "card")?);
    Reply::data(200, &::boards::card(&app, workspace(&request)?, board, card).await?)
}
