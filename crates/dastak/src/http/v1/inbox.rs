//! `/v1/inbox` and `/v1/saved-answers`.

use std::sync::Arc;

use ::chats::inbox;
use api::chats::NewTeammateMessage;
use api::envelope::Deleted;
use api::error_codes;
use api::inbox::{InboxAssignee, InboxAvailability, InboxRead, NewChatNote};
use domain::chat::inbox::View;
use domain::ids::{Chat, Id, User};

use crate::app::access::Caller;
use crate::app::{App, Failure};
use crate::http::handler::{Outcome, Reply, Request};

fn chat(request: &Request) -> Result<Id<Chat>, Failure> {
    request.id_in_path("id", "chat")
}

/// The member who calls; the table lets only members call these operations.
fn member(caller: &Caller) -> Result<Id<User>, Failure> {
    caller.member().ok_or_else(|| Failure::plain(error_codes::ROLE_MISSING))
}

pub async fn list(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let view = request.query_text("view").and_then(View::parse).unwrap_or(View::Waiting);
    let (after, limit) = (request.cursor(&app)?, request.query_number("limit"));
    let whose = (caller.tenant(), caller.mode(), caller.member());
    let (rows, next) = inbox::list(&app, whose, view, after, limit).await?;
    Reply::page(&app, &request, &rows, next.as_deref())
}

pub async fn counts(app: Arc<App>, caller: Caller, _: Request) -> Outcome {
    Reply::data(200, &inbox::counts(&app, caller.tenant(), caller.mode(), caller.member()).await?)
}

pub async fn get(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let id = chat(&request)?;
    Reply::data(200, &inbox::detail(&app, caller.tenant(), caller.mode(), caller.member(), id).await?)
}

pub async fn take(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    Reply::data(200, &inbox::take(&app, caller.tenant(), member(&caller)?, chat(&request)?).await?)
}

pub async fn assign(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    let id = chat(&request)?;
    let body: InboxAssignee = request.body()?;
    Reply::data(200, &inbox::assign(&app, caller.tenant(), caller.actor(), id, body.user_id).await?)
}

pub async fn write(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    let id = chat(&request)?;
    let body: NewTeammateMessage = request.body()?;
    Reply::data(200, &inbox::write(&app, caller.tenant(), member(&caller)?, id, body.text).await?)
}

pub async fn hand_back(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    Reply::data(200, &inbox::hand_back(&app, caller.tenant(), member(&caller)?, chat(&request)?).await?)
}

pub async fn end(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    Reply::data(200, &inbox::end(&app, caller.tenant(), member(&caller)?, chat(&request)?).await?)
}

pub async fn mark_read(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    let id = chat(&request)?;
    let body: InboxRead = request.body()?;
    Reply::data(200, &inbox::mark_read(&app, caller.tenant(), member(&caller)?, id, body.up_to).await?)
}

pub async fn notes(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let id = chat(&request)?;
    let (after, limit) = (request.cursor(&app)?, request.query_number("limit"));
    let (rows, next) = inbox::notes(&app, caller.tenant(), id, after, limit).await?;
    Reply::page(&app, &request, &rows, next.as_deref())
}

pub async fn add_note(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    let id = chat(&request)?;
    let body: NewChatNote = request.body()?;
    Reply::data(201, &inbox::add_note(&app, caller.tenant(), member(&caller)?, id, body.text).await?)
}

pub async fn team(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let (after, limit) = (request.cursor(&app)?, request.query_number("limit"));
    let (rows, next) = inbox::team(&app, caller.tenant(), after, limit).await?;
    Reply::page(&app, &request, &rows, next.as_deref())
}

pub async fn set_ceiling(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    let whose = request.id_in_path("id", "member")?;
    let body = request.body()?;
    Reply::data(200, &inbox::set_ceiling(&app, caller.tenant(), whose, body).await?)
}

pub async fn available(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    let body: InboxAvailability = request.body()?;
    Reply::data(200, &inbox::available(&app, caller.tenant(), member(&caller)?, body.available).await?)
}

pub async fn assignment(app: Arc<App>, caller: Caller, _: Request) -> Outcome {
    Reply::data(200, &inbox::assignment(&app, caller.tenant()).await?)
}

pub async fn set_assignment(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    let body = request.body()?;
    Reply::data(200, &inbox::set_assignment(&app, caller.tenant(), body).await?)
}

pub async fn saved_answers(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let (after, limit) = (request.cursor(&app)?, request.query_number("limit"));
    let (rows, next) = inbox::saved_answers(&app, caller.tenant(), after, limit).await?;
    Reply::page(&app, &request, &rows, next.as_deref())
}

pub async fn create_answer(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    let body = request.body()?;
    Reply::data(201, &inbox::create(&app, caller.tenant(), caller.actor(), body).await?)
}

pub async fn update_answer(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    let id = request.id_in_path("id", "saved answer")?;
    let body = request.body()?;
    Reply::data(200, &inbox::update(&app, caller.tenant(), caller.actor(), id, body).await?)
}

pub async fn delete_answer(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let id = request.id_in_path("id", "saved answer")?;
    inbox::delete(&app, caller.tenant(), id).await?;
    Reply::data(200, &Deleted { id: id.to_string(), deleted: true })
}
