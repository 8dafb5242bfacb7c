//! Chats in the form of the public and the operator API.

use std::collections::BTreeSet;

use api::chats::{ChatMessage, ChatSession, InboxChat, InboxChatDetail};
use app::limits::pages;
use app::{App, Failure, access};
use domain::chat::{Channel, State};
use domain::ids::{Chat, Id};
use domain::tenant::{Mode, Tenant};
use store::chats::{self, ChatRow, MessageRow};
use store::{TenantTx, Tx};

use crate::undelivered::undelivered;

fn told(messages: Vec<MessageRow>, failed: &BTreeSet<i64>) -> Vec<ChatMessage> {
    let told = |message: MessageRow| ChatMessage {
        role: message.role,
        text: message.text,
        failed: failed.contains(&message.seq),
        language: message.language,
    };
    messages.into_iter().map(told).collect()
}

/// A session over the API. Test keys have none.
///
/// # Errors
/// 404, for chats of other channels, too.
pub async fn session(app: &App, tenant: Tenant, mode: Mode, id: Id<Chat>) -> Result<ChatSession, Failure> {
    app.of(tenant)
        .read(move |tx| {
            let row = chats::get(tx, id)?
                .filter(|row| row.channel == Channel::Api && mode == Mode::Live)
                .ok_or_else(|| Failure::not_found("chat session"))?;
            session_of(tx, row)
        })
        .await
}

/// A chat of the API or of a test link with its messages.
pub(crate) fn session_of(tx: &mut TenantTx, row: ChatRow) -> Result<ChatSession, Failure> {
    Ok(ChatSession {
        id: row.id,
        agent_id: row.agent,
        state: row.state,
        message_count: row.messages,
        created_at: row.created_at,
        ended_at: row.ended_at,
        flow_version: row.flow_version,
        messages: told(chats::messages(tx, row.id, 0)?, &BTreeSet::new()),
    })
}

/// A chat in a list.
pub(crate) fn view(row: ChatRow) -> InboxChat {
    InboxChat {
        id: row.id,
        agent_id: row.agent,
        channel: row.channel,
        state: row.state,
        handoff_reason: row.handoff_reason,
        handoff_at: row.handoff_at,
        user_id: row.teammate,
        message_count: row.messages,
        end_cause: row.end_cause,
        created_at: row.created_at,
        last_message_at: row.last_at,
        ended_at: row.ended_at,
    }
}

/// Chats of a workspace, newest first, of one state or of all, with the cursor of the next page.
///
/// # Errors
/// 404 without the workspace.
pub async fn list(
    app: &App,
    tenant: Tenant,
    state: Option<State>,
    before: Option<String>,
    limit: i64,
) -> Result<(Vec<InboxChat>, Option<String>), Failure> {
    let page = app.store.read(move |tx| {
        access::workspace(&mut tx.of(tenant))?;
        let read = |tx: &mut Tx<'_>, limit: i64, before: Option<&str>| {
            let rows = chats::list(&mut tx.of(tenant), state, before, limit)?;
            let next = pages::last(&rows, limit, |row| row.id.to_string());
            Ok::<_, Failure>((rows.into_iter().map(view).collect(), next))
        };
        pages::views(tx, limit, before.clone(), read, |view: &InboxChat| view.id.to_string())
    });
    page.await
}

/// A chat with its messages and its analysis.
///
/// # Errors
/// 404.
pub async fn detail(app: &App, tenant: Tenant, id: Id<Chat>) -> Result<InboxChatDetail, Failure> {
    app.of(tenant).read(move |tx| detail_in(tx, id)).await
}

fn detail_in(tx: &mut TenantTx, id: Id<Chat>) -> Result<InboxChatDetail, Failure> {
    let row = chats::get(tx, id)?.ok_or_else(|| Failure::not_found("chat"))?;
    Ok(InboxChatDetail {
        messages: told(chats::messages(tx, id, 0)?, &undelivered(tx, &row)?),
        flow_version: row.flow_version,
        summary: row.summary.clone(),
        outcome: row.outcome.clone(),
        sentiment: row.sentiment.clone(),
        extracted: row.extracted.clone(),
        chat: view(row),
    })
}
