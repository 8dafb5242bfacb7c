//! Files of knowledge bases, which the operator uploads.

use std::convert::Infallible;
use std::sync::Arc;

use api::knowledge_files::AddedSource;
use bytes::Bytes;
use domain::ids::KnowledgeBase;
use futures_util::stream;
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use knowledge::files::{self, Upload};
use multer::Multipart;

use super::workspace;
use crate::app::{App, Failure};
use crate::http::handler::{Handler, Outcome, Reply, Request};
use crate::http::v1::knowledge_bases;
use crate::open;

/// The handlers by operation.
pub fn handlers() -> Vec<(&'static str, Handler)> {
    vec![("addKnowledgeFile", open!(add))]
}

async fn add(app: Arc<App>, mut request: Request) -> Outcome {
    let tenant = workspace(&request)?;
    let base = request.id_in_path::<KnowledgeBase>("id", "knowledge base")?;
    let upload = upload(&request.headers, std::mem::take(&mut request.raw)).await?;
    let added = files::add(&app, request.trace(), tenant, base, upload).await?;
    Reply::data(200, &AddedSource { document: knowledge_bases::view(added), warning: None })
}

/// The file in the field `file` of a form.
pub(crate) async fn upload(headers: &HeaderMap, body: Bytes) -> Result<Upload, Failure> {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let wrong = |why: multer::Error| Failure::field("file", format!("cannot be read from the form: {why}"));
    let boundary = multer::parse_boundary(kind)
        .map_err(|_| Failure::field("file", "must be sent as a field of multipart/form-data"))?;
    let mut form = Multipart::new(stream::iter([Ok::<_, Infallible>(body)]), boundary);
    while let Some(field) = form.next_field().await.map_err(wrong)? {
        if field.name() != Some("file") {
            continue;
        }
        let name = field.file_name().unwrap_or_default().to_owned();
        let bytes = field.bytes().await.map_err(wrong)?.into();
        return Ok(Upload { name, bytes });
    }
    Err(Failure::field("file", "is missing from the form"))
}
