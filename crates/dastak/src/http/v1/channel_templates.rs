//! `/v1/chatapp/templates` and `/v1/chatapp/numbers`.

use std::sync::Arc;

use api::channel_templates::HeaderSample;
use api::envelope::Deleted;
use channel::{numbers, templates};
use domain::channel::TemplateStatus;

use crate::app::App;
use crate::app::access::Caller;
use crate::http::handler::{Outcome, Reply, Request};
use crate::http::multipart;

const WHAT: &str = "template";

pub async fn numbers(app: Arc<App>, caller: Caller, _: Request) -> Outcome {
    Reply::data(200, &numbers::list(&app, caller.tenant()).await?)
}

pub async fn list(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let after = request.cursor(&app)?;
    let name = request.query_text("name").map(str::to_owned);
    let status = request.query_text("status").and_then(TemplateStatus::parse);
    let limit = request.query_number("limit");
    let (rows, next) = templates::list(&app, caller.tenant(), after, name, status, limit).await?;
    Reply::page(&app, &request, &rows, next.as_deref())
}

pub async fn get(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let id = request.id_in_path("id", WHAT)?;
    Reply::data(200, &templates::get(&app, caller.tenant(), id).await?)
}

pub async fn create(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    Reply::data(201, &templates::create(&app, &caller, request.body()?).await?)
}

pub async fn update(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    let id = request.id_in_path("id", WHAT)?;
    Reply::data(200, &templates::update(&app, &caller, id, request.body()?).await?)
}

pub async fn delete(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let id = request.id_in_path("id", WHAT)?;
    let id = templates::delete(&app, &caller, id).await?;
    Reply::data(200, &Deleted { id, deleted: true })
}

pub async fn sync(app: Arc<App>, caller: Caller, _: Request) -> Outcome {
    Reply::data(200, &templates::sync(&app, &caller).await?)
}

pub async fn header_sample(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    templates::need_channel(&caller)?;
    let upload = multipart::read(&request.headers, std::mem::take(&mut request.raw), 1).await?;
    let file = upload
        .files
        .into_iter()
        .next()
        .unwrap_or_else(|| multipart::File { name: String::new(), bytes: bytes::Bytes::new() });
    let handle = templates::upload_sample(&app, &caller, &file.name, &file.bytes).await?;
    Reply::data(200, &HeaderSample { handle })
}
