//! Files of knowledge bases, which the operator uploads.

use std::sync::Arc;

use api::knowledge_files::AddedSource;
use domain::ids::KnowledgeBase;
use knowledge::files::{self, Upload};

use super::workspace::workspace;
use crate::app::{App, Failure};
use crate::http::handler::{Handler, Outcome, Reply, Request};
use crate::http::multipart;
use crate::http::v1::knowledge_bases;
use crate::open;

/// The handlers by operation.
pub fn handlers() -> Vec<(&'static str, Handler)> {
    vec![("addKnowledgeFile", open!(add))]
}

async fn add(app: Arc<App>, mut request: Request) -> Outcome {
    let tenant = workspace(&request)?;
    let base = request.id_in_path::<KnowledgeBase>("id", "knowledge base")?;
    let sent = multipart::read(&request.headers, std::mem::take(&mut request.raw), 1).await?;
    let file = sent.files.into_iter().next().ok_or_else(|| Failure::field("file", "is required"))?;
    let upload = Upload { name: file.name, bytes: file.bytes.into() };
    let added = files::add(&app, request.trace(), tenant, base, upload).await?;
    Reply::data(200, &AddedSource { document: knowledge_bases::view(added), warning: None })
}
