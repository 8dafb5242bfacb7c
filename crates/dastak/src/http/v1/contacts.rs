//! `/v1/contacts`.

use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value, json};

use crate::app::access::Caller;
use crate::app::{App, Failure, contacts, erasure};
use crate::http::handler::{Outcome, Reply, Request};

pub async fn list(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let page = contacts::list(
        &app,
        caller.tenant(),
        caller.mode(),
        request.cursor(&app)?,
        request.query_number("limit"),
    );
    let (rows, next) = page.await?;
    Reply::page(&app, &request, &rows, next.as_deref())
}

pub async fn get(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let id = request.id_in_path("id", "contact")?;
    Reply::data(200, &contacts::get(&app, caller.tenant(), caller.mode(), id).await?)
}

pub async fn upsert(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    let (created, contact) = contacts::upsert(&app, caller.tenant(), request.body()?).await?;
    Reply::data(if created { 201 } else { 200 }, &contact)
}

/// One item of a batch, as the single upsert would answer it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Item {
    status: u16,
    external_ref: Option<String>,
    #[serde(flatten)]
    outcome: Value,
}

fn item((external_ref, outcome): contacts::Upserted) -> Item {
    match outcome {
        Ok((created, contact)) => {
            Item { status: if created { 201 } else { 200 }, external_ref, outcome: json!({"data": contact}) }
        }
        Err(failure) => {
            let mut outcome = json!({"error": failure.message, "code": failure.error.code});
            if let Some(id) = failure.meta.as_ref().and_then(|meta| meta.get("existingId")) {
                outcome["existingId"] = id.clone();
            }
            Item { status: failure.error.status, external_ref, outcome }
        }
    }
}

pub async fn upsert_many(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    let Value::Array(items) = request.body["contacts"].take() else {
        return Err(Failure::field("contacts", "is required"));
    };
    let results: Vec<Item> =
        contacts::upsert_many(&app, caller.tenant(), items).await?.into_iter().map(item).collect();
    let succeeded = results.iter().filter(|item| item.status < 400).count();
    Reply::data(
        200,
        &json!({"succeeded": succeeded, "failed": results.len() - succeeded, "results": results}),
    )
}

pub async fn update(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    let id = request.id_in_path("id", "contact")?;
    Reply::data(200, &contacts::update(&app, caller.tenant(), id, request.body()?).await?)
}

pub async fn delete(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let id = request.id_in_path("id", "contact")?;
    contacts::delete(&app, caller.tenant(), id).await?;
    Reply::data(200, &json!({"id": id, "deleted": true}))
}

pub async fn erase(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let id = request.id_in_path("id", "contact")?;
    Reply::data(200, &erasure::erase(&app, caller.tenant(), id).await?)
}
