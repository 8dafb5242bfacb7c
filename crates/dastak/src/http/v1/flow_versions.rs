//! `/v1/agents/{id}/flow/versions`, `…/visits` and `…/presence`.

use std::sync::Arc;

use api::flow_versions::FlowPresence;

use crate::app::access::Caller;
use crate::app::{App, Failure, flow_versions, flows};
use crate::http::handler::{Outcome, Reply, Request};

/// The number of a version in the path; any other text names none.
fn number(request: &Request) -> Result<i64, Failure> {
    read(request.parameter("number")).ok_or_else(|| Failure::not_found("flow version"))
}

fn read(text: &str) -> Option<i64> {
    let digits = !text.is_empty() && text.bytes().all(|sign| sign.is_ascii_digit());
    text.parse().ok().filter(|number| digits && *number > 0)
}

pub async fn list(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let (id, before) = (request.id_in_path("id", "agent")?, request.cursor(&app)?);
    let limit = request.query_number("limit");
    let (rows, next) = flow_versions::list(&app, caller.tenant(), id, before, limit).await?;
    Reply::page(&app, &request, &rows, next.as_deref())
}

pub async fn get(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let (id, number) = (request.id_in_path("id", "agent")?, number(&request)?);
    Reply::data(200, &flow_versions::get(&app, caller.tenant(), id, number).await?)
}

pub async fn diff(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let (id, from) = (request.id_in_path("id", "agent")?, number(&request)?);
    let to = match request.query_text("to") {
        None | Some("draft") => None,
        Some(text) => Some(
            read(text).ok_or_else(|| Failure::field("to", "must be the number of a version, or draft"))?,
        ),
    };
    Reply::data(200, &flow_versions::diff(&app, caller.tenant(), id, from, to).await?)
}

pub async fn restore(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    let (id, number) = (request.id_in_path("id", "agent")?, number(&request)?);
    let body = request.body()?;
    let saved = flows::restore(&app, caller.tenant(), id, caller.actor(), number, body).await?;
    Reply::data(200, &saved)
}

pub async fn visits(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let id = request.id_in_path("id", "agent")?;
    let version = request.query.get("version").and_then(serde_json::Value::as_i64);
    let days = request.query_number("days");
    Reply::data(200, &flow_versions::visits(&app, caller.tenant(), caller.mode(), id, version, days).await?)
}

pub async fn set_presence(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    let id = request.id_in_path("id", "agent")?;
    let body: FlowPresence = request.body()?;
    let member = caller.member().ok_or_else(|| Failure::not_found("agent"))?;
    let open = body.open.unwrap_or(true);
    Reply::data(200, &flow_versions::set_presence(&app, caller.tenant(), id, member, open).await?)
}
