//! `/v1/contacts`.

use std::sync::Arc;

use api::contacts::{ContactBatch, ContactBatchItem, ContactBatchResult};
use api::envelope::Deleted;

use crate::app::access::Caller;
use crate::app::{App, contacts, erasure};
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
fn item((external_ref, outcome): contacts::Upserted) -> ContactBatchItem {
    match outcome {
        Ok((created, contact)) => ContactBatchItem {
            status: if created { 201 } else { 200 },
            external_ref,
            data: Some(contact),
            error: None,
            code: None,
            existing_id: None,
        },
        Err(failure) => ContactBatchItem {
            status: failure.error.status,
            external_ref,
            data: None,
            error: Some(failure.message),
            code: Some(failure.error.code),
            existing_id: failure.meta.as_ref().and_then(|meta| meta.get("existingId")).cloned(),
        },
    }
}

pub async fn upsert_many(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    let body: ContactBatch = request.body()?;
    let results = contacts::upsert_many(&app, caller.tenant(), body.contacts).await?;
    let results: Vec<ContactBatchItem> = results.into_iter().map(item).collect();
    let succeeded = results.iter().filter(|item| item.status < 400).count();
    Reply::data(200, &ContactBatchResult { succeeded, failed: results.len() - succeeded, results })
}

pub async fn update(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    let id = request.id_in_path("id", "contact")?;
    Reply::data(200, &contacts::update(&app, caller.tenant(), id, request.body()?).await?)
}

pub async fn delete(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let id = request.id_in_path("id", "contact")?;
    contacts::delete(&app, caller.tenant(), id).await?;
    Reply::data(200, &Deleted { id: id.to_string(), deleted: true })
}

pub async fn erase(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let id = request.id_in_path("id", "contact")?;
    Reply::data(200, &erasure::erase(&app, caller.tenant(), id).await?)
}
