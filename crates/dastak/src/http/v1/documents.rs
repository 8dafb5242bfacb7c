//! `/v1/chat/sessions/{id}/documents`: a customer hands in what the agent asked for.

use std::sync::Arc;

use ::chats::SentFile;
use domain::document::MAX_PARTS;

use super::chats::need_chat;
use crate::app::App;
use crate::app::access::Caller;
use crate::http::handler::{Outcome, Reply, Request};
use crate::http::multipart;

pub async fn upload(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let tenant = need_chat(&caller)?;
    let id = request.id_in_path("id", "chat session")?;
    let upload = multipart::read(&request.headers, request.raw.clone(), MAX_PARTS).await?;
    let mut parts = upload.parts.into_iter();
    let files = upload
        .files
        .into_iter()
        .map(|file| SentFile { part: parts.next().unwrap_or_default(), bytes: Arc::from(&file.bytes[..]) });
    Reply::data(200, &::chats::hand_in(&app, tenant, id, files.collect()).await?)
}
