//! Documents that customers handed in.

use std::sync::Arc;

use bytes::Bytes;
use domain::ids::{Chat, Document, Id};

use super::workspace::workspace;
use crate::app::{App, Failure};
use crate::http::handler::{Handler, Outcome, Reply, Request};
use crate::http::stream::pieces;
use crate::open;

/// The handlers by operation.
pub fn handlers() -> Vec<(&'static str, Handler)> {
    vec![
        ("listDocuments", open!(list)),
        ("getDocument", open!(get)),
        ("getDocumentFile", open!(file)),
        ("reviewDocument", open!(review)),
    ]
}

fn id(request: &Request) -> Result<Id<Document>, Failure> {
    request.id_in_path("id", "document")
}

async fn list(app: Arc<App>, request: Request) -> Outcome {
    let wanted = |text: &str| {
        text.parse::<Id<Chat>>().map_err(|_| Failure::field("chatId", "must be the id of a chat"))
    };
    let chat = request.query_text("chatId").map(wanted).transpose()?;
    let (before, limit) = (request.cursor(&app)?, request.query_number("limit"));
    let (rows, next) = ::chats::documents(&app, workspace(&request)?, chat, before, limit).await?;
    Reply::page(&app, &request, &rows, next.as_deref())
}

async fn get(app: Arc<App>, request: Request) -> Outcome {
    Reply::data(200, &::chats::document(&app, workspace(&request)?, id(&request)?).await?)
}

async fn file(app: Arc<App>, request: Request) -> Outcome {
    let part = request.query_text("part").map(str::to_owned);
    let file =
        ::chats::document_file(&app, request.trace(), workspace(&request)?, id(&request)?, part).await?;
    let headers = vec![
        ("content-length", file.bytes.to_string()),
        // A browser must not run what a stranger sent, whatever it takes it for.
        ("content-security-policy", "sandbox; default-src 'none'".to_owned()),
        ("content-disposition", format!("attachment; filename=\"{}\"", file.name)),
    ];
    let content_type = file.content_type.as_str();
    let body =
        pieces(file, |file| async { file.next().await.map(|(piece, rest)| (Bytes::from(piece), rest)) });
    Ok(Reply::of(200, content_type, headers, body))
}

async fn review(app: Arc<App>, mut request: Request) -> Outcome {
    let (tenant, trace, id) = (workspace(&request)?, request.trace(), id(&request)?);
    Reply::data(200, &::chats::review_document(&app, trace, tenant, id, request.body()?).await?)
}
