//! `/v1/knowledge-bases`.

use std::sync::Arc;

use api::envelope::{Deleted, Removed};
use api::knowledge_bases::{AddedDocument, KnowledgeHit};
use domain::knowledge::SourceKind;
use knowledge::Added;

use crate::app::access::Caller;
use crate::app::{App, Failure};
use crate::http::handler::{Outcome, Reply, Request};

const WHAT: &str = "knowledge base";

pub async fn list(app: Arc<App>, caller: Caller, _: Request) -> Outcome {
    Reply::data(200, &knowledge::list(&app, caller.tenant()).await?)
}

pub async fn create(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    caller.need_feature("knowledge")?;
    Reply::data(201, &knowledge::create(&app, caller.tenant(), request.body()?).await?)
}

pub async fn get(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let id = request.id_in_path("id", WHAT)?;
    Reply::data(200, &knowledge::get(&app, caller.tenant(), id).await?)
}

pub async fn delete(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let id = request.id_in_path("id", WHAT)?;
    knowledge::delete(&app, caller.tenant(), id).await?;
    Reply::data(200, &Deleted { id: id.to_string(), deleted: true })
}

pub async fn add_text(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    let id = request.id_in_path("id", WHAT)?;
    let added = knowledge::add_text(&app, caller.tenant(), id, request.body()?).await?;
    Reply::data(200, &view(added))
}

/// What a client sees of a document that was added.
pub(crate) fn view(added: Added) -> AddedDocument {
    let Added { source, passages, replaced, chars } = added;
    AddedDocument { source, added: passages, replaced, chars }
}

pub async fn remove_document(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let id = request.id_in_path("id", WHAT)?;
    let source = request.query_text("source").unwrap_or_default().to_owned();
    let kind = request.query_text("type").and_then(SourceKind::parse);
    let kind = kind.ok_or_else(|| Failure::internal("a type that the table of operations let through"))?;
    knowledge::remove_document(&app, caller.tenant(), id, source, kind).await?;
    Reply::data(200, &Removed { deleted: true })
}

pub async fn search(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let id = request.id_in_path("id", WHAT)?;
    let question = request.query_text("q").unwrap_or_default();
    let limit = usize::try_from(request.query_number("limit")).unwrap_or(knowledge::PASSAGES);
    let hits = knowledge::search(&app, caller.tenant(), id, question, limit).await?;
    Reply::data(200, &hits.into_iter().map(KnowledgeHit::from).collect::<Vec<_>>())
}
