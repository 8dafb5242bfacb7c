//! Where the provider of the messaging channel sends notifications (docs/contract/channel.md#notifications).

use std::sync::Arc;

use api::channel_accounts::NotificationTaken;
use channel::inbox;

use super::handler::{Handler, Outcome, Reply, Request};
use crate::app::{App, Failure};
use crate::open;

/// The handlers by operation.
pub fn handlers() -> Vec<(&'static str, Handler)> {
    vec![("verifyChannelHook", open!(verify)), ("receiveChannelNotification", open!(receive))]
}

async fn verify(app: Arc<App>, request: Request) -> Outcome {
    let answer = inbox::verify(
        &app,
        request.parameter("connection"),
        request.client,
        request.query_text("hub.mode"),
        request.query_text("hub.verify_token"),
        request.query_text("hub.challenge"),
    )
    .await?;
    Ok(Reply::bytes(200, "text/plain; charset=utf-8", answer))
}

async fn receive(app: Arc<App>, mut request: Request) -> Outcome {
    let connection =
        request.hook.take().ok_or_else(|| Failure::internal("a notification without its connection"))?;
    let signature = request.headers.get("x-hub-signature-256").and_then(|value| value.to_str().ok());
    let (held, raw) = (&mut request.held, request.raw.clone());
    // Asked once the signature was found to be right.
    let weigh = |bytes| {
        let Some(held) = held.as_mut() else { return Ok(()) };
        held.is_signed(&app);
        held.grow(bytes)
    };
    let received = inbox::receive(&app, connection, signature.unwrap_or_default(), raw, weigh).await?;
    Reply::data(200, &NotificationTaken { received })
}
