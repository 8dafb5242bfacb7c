//! The operator's side of conversations: labels.

use std::sync::Arc;

use api::channel_conversations::ChatLabels;
use api::envelope::Deleted;
use channel::conversation_views as views;

use super::workspace::workspace;
use crate::app::App;
use crate::http::handler::{Handler, Outcome, Reply, Request};
use crate::open;

/// The handlers of labels by operation.
pub fn handlers() -> Vec<(&'static str, Handler)> {
    vec![
        ("listChatLabels", open!(list)),
        ("createChatLabel", open!(create)),
        ("deleteChatLabel", open!(delete)),
        ("setChatLabels", open!(set)),
    ]
}

async fn list(app: Arc<App>, request: Request) -> Outcome {
    Reply::data(200, &views::labels(&app, workspace(&request)?).await?)
}

async fn create(app: Arc<App>, mut request: Request) -> Outcome {
    let (tenant, trace) = (workspace(&request)?, request.trace());
    Reply::data(201, &views::make_label(&app, trace, tenant, request.body()?).await?)
}

async fn delete(app: Arc<App>, request: Request) -> Outcome {
    let id = request.id_in_path("id", "label")?;
    views::delete_label(&app, request.trace(), workspace(&request)?, id).await?;
    Reply::data(200, &Deleted { id: id.to_string(), deleted: true })
}

async fn set(app: Arc<App>, mut request: Request) -> Outcome {
    let (tenant, trace) = (workspace(&request)?, request.trace());
    let id = request.id_in_path("id", "chat")?;
    let body: ChatLabels = request.body()?;
    Reply::data(200, &views::set_labels(&app, trace, tenant, id, body.label_ids).await?)
}
