//! Tools that agents may use: the built-in ones, and webhooks that the operator makes for a workspace.

use std::collections::BTreeSet;

use api::operator_agents::{NewTool, WebhookConfig};
use api::tools::Tool as ToolView;
use domain::ids::{Id, Tool};
use domain::tenant::Tenant;
use domain::topic::Topic;
use http::{HeaderName, HeaderValue};
use providers::guarded_client::Policy;
use store::TenantTx;
use store::tools::{self, ToolRow};

use super::operator_log::{self, Trace};
use super::tool_calls::{self, arguments, purpose};
use super::{App, Failure, access, actions, changes};

/// Tools of every workspace: `(id and type, name, description)`. The ids stay for ever: flows name them.
const BUILT_IN: [(&str, &str, &str); 4] = [
    (
        "transfer_to_human",
        "Transfer to a person",
        "Hands the conversation to a person: rings the transfer numbers, or puts a chat into the inbox.",
    ),
    ("end_call", "End the call", "Ends the conversation politely."),
    (
        "chatapp_message",
        "Send a chat-app message",
        "Sends the person a message on the chat-app channel during the conversation.",
    ),
    ("press_keys", "Press keys", "Presses keys of the telephone during a call, as menus ask for."),
];

/// Headers of a webhook tool that the client sets itself.
const OWN_HEADERS: [&str; 6] =
    ["host", "content-length", "transfer-encoding", "connection", "content-type", "user-agent"];

fn built_in() -> impl Iterator<Item = ToolView> {
    let view = |(id, name, description): &(&str, &str, &str)| ToolView {
        id: (*id).to_owned(),
        r#type: (*id).to_owned(),
        name: (*name).to_owned(),
        description: (*description).to_owned(),
    };
    BUILT_IN.iter().map(view)
}

fn view(row: ToolRow) -> ToolView {
    ToolView { id: row.id.to_string(), r#type: row.kind, name: row.name, description: row.description }
}

/// Ids of all tools that agents of a workspace may use.
pub fn ids(tx: &mut TenantTx) -> Result<BTreeSet<String>, Failure> {
    let own = tools::list(tx)?.into_iter().map(|row| row.id.to_string());
    Ok(BUILT_IN.iter().map(|(id, ..)| (*id).to_owned()).chain(own).collect())
}

/// All tools of a workspace, built-in ones first.
pub async fn list(app: &App, tenant: Tenant) -> Result<Vec<ToolView>, Failure> {
    app.of(tenant)
        .read(move |tx| {
            access::workspace(tx)?;
            Ok(built_in().chain(tools::list(tx)?.into_iter().map(view)).collect())
        })
        .await
}

fn check_config(app: &App, config: &WebhookConfig) -> Result<(), Failure> {
    let policy = Policy { allow_insecure: app.config.allow_insecure_webhooks, ..Policy::default() };
    policy
        .check_url(&config.url)
        .map_err(|why| Failure::field("config.url", format!("cannot be used: {why}")))?;
    for (name, value) in &config.headers {
        let field = format!("config.headers.{name}");
        let read: HeaderName =
            name.parse().map_err(|_| Failure::field(&field, "must be a valid header name"))?;
        if OWN_HEADERS.contains(&read.as_str()) || tool_calls::OWN_HEADERS.contains(&read.as_str()) {
            return Err(Failure::field(&field, "is set by the service; leave it out"));
        }
        HeaderValue::from_str(value.as_str().unwrap_or_default())
            .map_err(|_| Failure::field(&field, "must be a valid header value"))?;
    }
    arguments::Schema::read(&config.parameters)
        .map_err(|wrong| Failure::field(&format!("config.{}", wrong.field), wrong.must))?;
    Ok(())
}

/// Makes a webhook tool; its configuration is stored encrypted.
pub async fn create(app: &App, trace: Trace, tenant: Tenant, body: NewTool) -> Result<ToolView, Failure> {
    check_config(app, &body.config)?;
    let context = app.context();
    let (id, created_at) = (context.ids.make(), context.now);
    let row = ToolRow { id, kind: body.r#type, name: body.name, description: body.description, created_at };
    let config = serde_json::to_string(&body.config).map_err(|why| Failure::internal(why.to_string()))?;
    let sealed = app.keyring.seal(&purpose(row.id), &config).map_err(Failure::internal)?;
    app.of(tenant)
        .tx(move |tx| {
            access::workspace(tx)?;
            tools::insert(tx, &row, &sealed)?;
            operator_log::append(tx, &context, &trace, Some(tenant), &row.id.to_string())?;
            actions::changed(tx, &(), &serde_json::json!({"name": row.name}));
            Ok(view(row.clone()))
        })
        .await
}

/// Deletes a tool. Flows that use it are not ready any more, and say so when they are published or run.
pub async fn delete(app: &App, trace: Trace, tenant: Tenant, id: Id<Tool>) -> Result<(), Failure> {
    let context = app.context();
    app.of(tenant)
        .tx(move |tx| {
            if !tools::delete(tx, id)? {
                return Err(Failure::not_found("tool"));
            }
            changes::note(tx, context.now, Topic::Tools, id)?;
            operator_log::append(tx, &context, &trace, Some(tenant), &id.to_string())?;
            Ok(())
        })
        .await
}
