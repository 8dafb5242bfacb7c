//! `/v1/chatapp/conversations` and `/v1/chatapp/assignees`.

use std::sync::Arc;

use channel::conversation_views::{self as views, Include};
use channel::{hand_over, start as starting};
use domain::chat::{EndCause, Origin};
use domain::time::Timestamp;
use serde::de::DeserializeOwned;
use store::channel_conversations::Filter;

use crate::app::access::Caller;
use crate::app::{App, Failure};
use crate::http::handler::{Outcome, Reply, Request};

const WHAT: &str = "conversation";

/// The body, or what an absent one means.
fn body_or<T: DeserializeOwned + Default>(request: &mut Request) -> Result<T, Failure> {
    if request.body.is_null() { Ok(T::default()) } else { request.body() }
}

pub async fn start(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    let once = request.take_once();
    let body = request.body()?;
    let answer = starting::start(&app, caller.tenant(), caller.mode(), once, body).await?;
    Ok(Reply::answer(answer))
}

pub async fn list(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let id = |name: &str| request.query_text(name);
    let wrong = |name: &str| Failure::field(name, "must be an id");
    let moment = |name: &str| request.query_text(name).and_then(Timestamp::parse);
    let filter = Filter {
        agent: id("agentId").map(|text| text.parse().map_err(|_| wrong("agentId"))).transpose()?,
        contact: id("contactId").map(|text| text.parse().map_err(|_| wrong("contactId"))).transpose()?,
        phone_number_id: id("phoneNumberId").map(str::to_owned),
        customer: id("customer").map(|text| {
            let text = text.trim();
            domain::channel::Recipient::written(text).map_or_else(|| text.to_owned(), |known| known.text())
        }),
        open: request.query_text("status").map(|status| status == "active"),
        end_cause: request.query_text("endCause").and_then(EndCause::parse),
        origin: request.query_text("origin").and_then(Origin::parse),
        after: moment("startedAfter"),
        before: moment("startedBefore"),
    };
    let below = request.cursor(&app)?;
    let limit = request.query_number("limit");
    let (rows, next) = views::list(&app, caller.tenant(), caller.mode(), filter, below, limit).await?;
    Reply::page(&app, &request, &rows, next.as_deref())
}

pub async fn get(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let id = request.id_in_path("id", WHAT)?;
    let include = Include::read(request.query_text("include").unwrap_or_default())?;
    Reply::data(200, &views::get(&app, caller.tenant(), caller.mode(), id, include).await?)
}

pub async fn end(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let id = request.id_in_path("id", WHAT)?;
    Reply::data(200, &hand_over::end(&app, caller.tenant(), caller.mode(), id).await?)
}

pub async fn take_over(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    let id = request.id_in_path("id", WHAT)?;
    let body = body_or(&mut request)?;
    Reply::data(200, &hand_over::take_over(&app, caller.tenant(), caller.mode(), id, body).await?)
}

pub async fn hand_back(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    let id = request.id_in_path("id", WHAT)?;
    let body = body_or(&mut request)?;
    Reply::data(200, &hand_over::hand_back(&app, caller.tenant(), caller.mode(), id, body).await?)
}

pub async fn assign(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    let id = request.id_in_path("id", WHAT)?;
    let body = request.body()?;
    Reply::data(200, &hand_over::assign(&app, caller.tenant(), caller.actor(), id, body).await?)
}

pub async fn assignees(app: Arc<App>, caller: Caller, _: Request) -> Outcome {
    Reply::data(200, &hand_over::assignees(&app, caller.tenant()).await?)
}
