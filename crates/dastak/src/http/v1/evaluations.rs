//! `/v1/agents/{id}/evaluation`, `/v1/evaluations`, and evaluations of chats and calls.

use std::sync::Arc;

use ::evaluation::FEATURE;
use api::evaluations::EvaluationTrial;
use api::scopes::{CALLS_READ, CHAT_READ};
use domain::evaluation::Graded;
use domain::time::Timestamp;

use crate::app::access::Caller;
use crate::app::{App, Failure};
use crate::http::handler::{Outcome, Reply, Request};

pub async fn settings(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let id = request.id_in_path("id", "agent")?;
    let version = Some(request.query_number("version")).filter(|version| *version > 0);
    Reply::data(200, &::evaluation::settings(&app, caller.tenant(), id, version).await?)
}

pub async fn set_settings(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    caller.need_feature(FEATURE)?;
    let id = request.id_in_path("id", "agent")?;
    let body = request.body()?;
    Reply::data(200, &::evaluation::set_settings(&app, caller.tenant(), caller.actor(), id, body).await?)
}

pub async fn attempt(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    caller.need_feature(FEATURE)?;
    let id = request.id_in_path("id", "agent")?;
    let body: EvaluationTrial = request.body()?;
    if !body.chat_ids.is_empty() {
        caller.need(CHAT_READ)?;
    }
    if !body.call_ids.is_empty() {
        caller.need(CALLS_READ)?;
    }
    Reply::data(200, &::evaluation::try_criteria(&app, caller.tenant(), id, body).await?)
}

async fn evaluate(app: Arc<App>, caller: Caller, request: Request, kind: Graded) -> Outcome {
    caller.need_feature(FEATURE)?;
    let id = request.parameter("id").to_owned();
    Reply::data(202, &::evaluation::evaluate(&app, caller.tenant(), caller.actor(), kind, id).await?)
}

pub async fn evaluate_chat(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    evaluate(app, caller, request, Graded::Chat).await
}

pub async fn evaluate_call(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    evaluate(app, caller, request, Graded::Call).await
}

async fn list(app: Arc<App>, caller: Caller, request: Request, kind: Graded) -> Outcome {
    let (before, limit) = (request.cursor(&app)?, request.query_number("limit"));
    let conversation = (kind, request.parameter("id").to_owned());
    let (page, next) =
        ::evaluation::list(&app, caller.tenant(), caller.mode(), conversation, before, limit).await?;
    Reply::page(&app, &request, &page, next.as_deref())
}

pub async fn of_chat(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    list(app, caller, request, Graded::Chat).await
}

pub async fn of_call(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    list(app, caller, request, Graded::Call).await
}

pub async fn get(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let id = request.id_in_path("id", "evaluation")?;
    let found = ::evaluation::get(&app, caller.tenant(), caller.mode(), id).await?;
    // It quotes the conversation.
    caller.need(match found.kind {
        Graded::Chat => CHAT_READ,
        Graded::Call => CALLS_READ,
    })?;
    Reply::data(200, &found)
}

pub async fn mark(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    let id = request.id_in_path("id", "evaluation")?;
    let member = caller.member().ok_or_else(|| Failure::internal("a mark by a caller who is no member"))?;
    Reply::data(200, &::evaluation::mark(&app, caller.tenant(), member, id, request.body()?).await?)
}

pub async fn preview_sweep(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    Reply::data(200, &::evaluation::preview_sweep(&app, caller.tenant(), request.body()?).await?)
}

pub async fn start_sweep(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    caller.need_feature(FEATURE)?;
    let once = request.take_once();
    let body = request.body()?;
    Ok(Reply::answer(::evaluation::start_sweep(&app, caller.tenant(), caller.actor(), once, body).await?))
}

pub async fn sweeps(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let (before, limit) = (request.cursor(&app)?, request.query_number("limit"));
    let (page, next) = ::evaluation::sweeps(&app, caller.tenant(), caller.mode(), before, limit).await?;
    Reply::page(&app, &request, &page, next.as_deref())
}

pub async fn sweep(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let id = request.id_in_path("id", "sweep")?;
    Reply::data(200, &::evaluation::sweep(&app, caller.tenant(), caller.mode(), id).await?)
}

pub async fn cancel_sweep(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let id = request.id_in_path("id", "sweep")?;
    Reply::data(200, &::evaluation::cancel_sweep(&app, caller.tenant(), id).await?)
}

/// The range of a report.
fn range(request: &Request) -> (Option<Timestamp>, Option<Timestamp>) {
    let moment = |name: &str| request.query_text(name).and_then(Timestamp::parse);
    (moment("from"), moment("to"))
}

pub async fn summary(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let kind = request.query_text("kind").and_then(Graded::parse).unwrap_or(Graded::Chat);
    let of = (request.query_text("agentId").unwrap_or_default(), kind);
    let (tenant, mode) = (caller.tenant(), caller.mode());
    Reply::data(200, &::evaluation::summary(&app, tenant, mode, of, range(&request)).await?)
}

pub async fn agreement(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let agent = request.query_text("agentId").unwrap_or_default();
    let (tenant, mode) = (caller.tenant(), caller.mode());
    Reply::data(200, &::evaluation::agreement(&app, tenant, mode, agent, range(&request)).await?)
}
