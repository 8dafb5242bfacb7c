//! `/v1/agents/{id}/test-links` and `/test-chats`.

use std::sync::Arc;

use api::chats::NewChatMessage;
use api::envelope::Deleted;
use api::test_links::NewTestLink;

use crate::app::App;
use crate::app::access::Caller;
use crate::http::handler::{Outcome, Reply, Request};

pub async fn make(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    let id = request.id_in_path("id", "agent")?;
    let body: Option<NewTestLink> = request.body()?;
    let made =
        ::chats::make_test_link(&app, caller.tenant(), id, caller.actor(), body.unwrap_or_default()).await?;
    Reply::data(201, &made)
}

pub async fn list(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let id = request.id_in_path("id", "agent")?;
    Reply::data(200, &::chats::test_links(&app, caller.tenant(), id).await?)
}

pub async fn revoke(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let (agent, id) = (request.id_in_path("id", "agent")?, request.id_in_path("link", "test link")?);
    ::chats::revoke_test_link(&app, caller.tenant(), agent, id).await?;
    Reply::data(200, &Deleted { id: id.to_string(), deleted: true })
}

pub async fn open(app: Arc<App>, request: Request) -> Outcome {
    Reply::data(201, &::chats::open_test_chat(&app, request.parameter("token"), request.client).await?)
}

pub async fn say(app: Arc<App>, mut request: Request) -> Outcome {
    let chat = request.id_in_path("chat", "test chat")?;
    let body: NewChatMessage = request.body()?;
    let token = request.parameter("token").to_owned();
    Reply::data(200, &::chats::say_in_test_chat(&app, &token, request.client, chat, body.text).await?)
}

pub async fn read(app: Arc<App>, request: Request) -> Outcome {
    let chat = request.id_in_path("chat", "test chat")?;
    Reply::data(200, &::chats::test_chat(&app, request.parameter("token"), request.client, chat).await?)
}
