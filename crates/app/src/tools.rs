//! Tools that agents may use: the built-in ones, and those that the operator makes for a workspace: webhooks, and tools of MCP servers.

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
use super::tool_calls::mcp_tools::{self, Undescribed};
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

/// The type of the tools of MCP servers.
const MCP: &str = "mcp";
/// Longest schema of such a tool's arguments, in bytes, and most characters of its server's description that are kept.
const MAX_PARAMETERS: usize = 64 * 1024;
const MAX_DESCRIPTION: usize = 1_024;

/// Headers of a tool that the client sets itself.
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

/// Reads what an MCP server says of the tool, so that it is what the operator has allowed, whatever the server says later.
async fn pin(app: &App, body: &mut NewTool) -> Result<(), Failure> {
    let refused = |field: &str, why: String| Err(Failure::field(field, why));
    let config = &mut body.config;
    if body.r#type != MCP {
        return match config.tool {
            Some(_) => refused("config.tool", "is of type mcp; leave it out".into()),
            None => Ok(()),
        };
    }
    let Some(tool) = config.tool.clone() else {
        return refused("config.tool", "is required: the name of a tool of the server".into());
    };
    if config.method != "POST" {
        return refused("config.method", "is POST for an MCP server; leave it out".into());
    }
    if config.parameters["properties"].as_object().is_none_or(|properties| !properties.is_empty()) {
        return refused("config.parameters", "are read from the MCP server; leave them out".into());
    }
    let described = match mcp_tools::describe(&app.tools, config, &tool).await {
        Ok(described) => described,
        Err(Undescribed::Server(why)) => {
            return refused("config.url", format!("does not answer as an MCP server: {why}"));
        }
        Err(Undescribed::NoSuchTool(names)) => {
            return refused("config.tool", format!("is no tool of the server; it has: {}", names.join(", ")));
        }
    };
    if described.parameters.to_string().len() > MAX_PARAMETERS {
        return refused("config.tool", format!("has a schema of more than {} KB", MAX_PARAMETERS / 1024));
    }
    if let Err(wrong) = arguments::Schema::read(&described.parameters) {
        let why = format!("has arguments that cannot be checked: {} {}", wrong.field, wrong.must);
        return refused("config.tool", why);
    }
    config.parameters = described.parameters;
    if body.description.is_empty() {
        body.description = described.description.chars().take(MAX_DESCRIPTION).collect();
    }
    Ok(())
}

/// Makes a tool; its configuration is stored encrypted.
pub async fn create(app: &App, trace: Trace, tenant: Tenant, mut body: NewTool) -> Result<ToolView, Failure> {
    check_config(app, &body.config)?;
    pin(app, &mut body).await?;
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
