//! `/v1/campaigns/{id}/board` and `/v1/agents/{id}/board`.

use std::sync::Arc;

use ::boards::Owner;
use api::boards::{CardMove, UndoCardMove};

use crate::app::access::Caller;
use crate::app::{App, Failure};
use crate::http::handler::{Outcome, Reply, Request};

fn campaign(request: &Request) -> Result<Owner, Failure> {
    request.id_in_path("id", "campaign").map(Owner::Campaign)
}

fn agent(request: &Request) -> Result<Owner, Failure> {
    request.id_in_path("id", "agent").map(Owner::Agent)
}

async fn board(app: Arc<App>, caller: Caller, owner: Owner) -> Outcome {
    caller.need_feature("boards")?;
    Reply::data(200, &::boards::board(&app, caller.tenant(), owner).await?)
}

async fn cards(app: Arc<App>, caller: Caller, request: Request, owner: Owner) -> Outcome {
    caller.need_feature("boards")?;
    let (column, after) = (request.query_text("column"), request.cursor(&app)?);
    let limit = request.query_number("limit");
    let page = ::boards::list(&app, caller.tenant(), owner, column, after.as_deref(), limit);
    let (rows, next) = page.await?;
    Reply::page(&app, &request, &rows, next.as_deref())
}

async fn move_card(app: Arc<App>, caller: Caller, mut request: Request, owner: Owner) -> Outcome {
    caller.need_feature("boards")?;
    let card = request.id_in_path("cardId", "card")?;
    let body: CardMove = request.body()?;
    Reply::data(200, &::boards::move_card(&app, &caller, owner, card, body.column_id).await?)
}

async fn history(app: Arc<App>, caller: Caller, request: Request, owner: Owner) -> Outcome {
    caller.need_feature("boards")?;
    let card = request.id_in_path("cardId", "card")?;
    let (after, limit) = (request.cursor(&app)?, request.query_number("limit"));
    let (moves, next) =
        ::boards::history(&app, caller.tenant(), owner, card, after.as_deref(), limit).await?;
    Reply::page(&app, &request, &moves, next.as_deref())
}

async fn undo(app: Arc<App>, caller: Caller, mut request: Request, owner: Owner) -> Outcome {
    caller.need_feature("boards")?;
    let card = request.id_in_path("cardId", "card")?;
    let body: UndoCardMove = request.body()?;
    Reply::data(200, &::boards::undo(&app, &caller, owner, card, body.move_id).await?)
}

pub async fn campaign_card_history(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let owner = campaign(&request)?;
    history(app, caller, request, owner).await
}

pub async fn agent_card_history(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let owner = agent(&request)?;
    history(app, caller, request, owner).await
}

pub async fn undo_campaign_card(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let owner = campaign(&request)?;
    undo(app, caller, request, owner).await
}

pub async fn undo_agent_card(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let owner = agent(&request)?;
    undo(app, caller, request, owner).await
}

pub async fn of_campaign(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    board(app, caller, campaign(&request)?).await
}

pub async fn of_agent(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    board(app, caller, agent(&request)?).await
}

pub async fn campaign_cards(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let owner = campaign(&request)?;
    cards(app, caller, request, owner).await
}

pub async fn agent_cards(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let owner = agent(&request)?;
    cards(app, caller, request, owner).await
}

pub async fn move_campaign_card(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let owner = campaign(&request)?;
    move_card(app, caller, request, owner).await
}

pub async fn move_agent_card(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let owner = agent(&request)?;
    move_card(app, caller, request, owner).await
}
