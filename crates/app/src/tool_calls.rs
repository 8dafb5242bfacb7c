//! Tools during a conversation: how webhook tools are offered to a language model, and how one is called.

use std::time::Duration;

use bytes::Bytes;
use domain::ids::{Call, Id, Tool};
use domain::ports::ToolOffer;
use domain::tenant::Tenant;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use providers::GuardedClient;
use providers::guarded_client::{Limits, Request};
use providers::http::encoded;
use serde_json::{Map, Value, json};
use store::tools;

use super::tools::webhook;
use super::{App, Failure};

/// What of an answer is read.
const MAX_ANSWER: usize = 64 * 1024;

/// The built-in tools of a call, which the conversation carries out itself: id, description, JSON Schema of
/// the arguments.
const BUILT_IN: [(&str, &str, &str); 2] = [
    (
        "transfer_to_human",
        "Hands the call to a person.",
        r#"{"type": "object", "properties": {"reason": {"type": "string", "description": "What the person should know before joining."}}}"#,
    ),
    ("end_call", "Ends the call politely.", r#"{"type": "object", "properties": {}}"#),
];

/// How these tools are offered to a language model; those that are gone are left out, and so is the message
/// on the chat-app channel, which is not connected.
pub async fn offers(app: &App, tenant: Tenant, ids: &[String]) -> Result<Vec<ToolOffer>, Failure> {
    let wanted: Vec<Id<Tool>> = ids.iter().filter_map(|id| id.parse().ok()).collect();
    let rows = app.store.read(move |tx| tools::list(tx, tenant)).await?;
    let built_in = BUILT_IN.iter().filter(|(id, ..)| ids.iter().any(|wanted| wanted == id));
    let offer = |(id, description, parameters): &(&str, &str, &str)| ToolOffer {
        id: (*id).to_owned(),
        name: (*id).to_owned(),
        description: (*description).to_owned(),
        parameters: serde_json::from_str(parameters).unwrap_or_else(|_| json!({"type": "object"})),
    };
    let mut offers: Vec<ToolOffer> = built_in.map(offer).collect();
    for row in rows.into_iter().filter(|row| wanted.contains(&row.id)) {
        let Some(config) = webhook(app, tenant, row.id).await? else { continue };
        offers.push(ToolOffer {
            id: row.id.to_string(),
            name: row.name,
            description: row.description,
            parameters: config.parameters,
        });
    }
    Ok(offers)
}

/// Calls a webhook tool: the arguments travel as JSON (of a `GET` as query parameters), with the call's id
/// beside them in `X-Call-Id`. The answer's JSON, or its text.
///
/// # Errors
/// Why it failed, in words for the model: nothing of the tool's address or secrets.
pub async fn call(
    app: &App,
    client: &GuardedClient,
    tenant: Tenant,
    tool: &str,
    call: Id<Call>,
    arguments: Map<String, Value>,
) -> Result<Value, String> {
    let id: Id<Tool> = tool.parse().map_err(|_| "there is no such tool".to_owned())?;
    let config = match webhook(app, tenant, id).await {
        Ok(Some(config)) => config,
        Ok(None) => return Err("there is no such tool".into()),
        Err(failure) => {
            tracing::error!(%call, tool = %id, cause = failure.cause, "a tool could not be read");
            return Err("the tool cannot be used now".into());
        }
    };
    let method: Method = config.method.parse().map_err(|_| "the tool is set up wrongly".to_owned())?;
    let url = if method == Method::GET { with_query(&config.url, &arguments) } else { config.url };
    let target = client.check_url(&url).map_err(|_| "the tool's address cannot be used".to_owned())?;
    let mut headers = HeaderMap::new();
    for (name, value) in &config.headers {
        if let (Ok(name), Ok(value)) =
            (name.parse::<HeaderName>(), HeaderValue::from_str(value.as_str().unwrap_or_default()))
        {
            headers.insert(name, value);
        }
    }
    headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    if let Ok(id) = HeaderValue::from_str(&call.to_string()) {
        headers.insert(HeaderName::from_static("x-call-id"), id);
    }
    let mut body = Bytes::new();
    if method != Method::GET {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        body = Bytes::from(Value::Object(arguments).to_string());
    }
    let limits = Limits {
        deadline: Duration::from_secs(config.timeout_seconds.unsigned_abs()),
        max_response_bytes: MAX_ANSWER,
    };
    let answer = client.send(Request { method, target, headers, body }, limits).await.map_err(|why| {
        tracing::warn!(%call, tool = %id, %why, "a tool did not answer");
        "the tool did not answer".to_owned()
    })?;
    if !answer.status.is_success() {
        tracing::warn!(%call, tool = %id, status = answer.status.as_u16(), "a tool refused");
        return Err(format!("the tool answered with status {}", answer.status.as_u16()));
    }
    let text = String::from_utf8_lossy(&answer.body);
    Ok(serde_json::from_str(&text).unwrap_or_else(|_| json!(text)))
}

/// The address with the arguments as query parameters.
pub fn with_query(url: &str, arguments: &Map<String, Value>) -> String {
    let mut out = url.to_owned();
    for (key, value) in arguments {
        out.push(if out.contains('?') { '&' } else { '?' });
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        out.push_str(&format!("{}={}", encoded(key), encoded(&text)));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_of_a_get_are_query_parameters() {
        let arguments = json!({"order id": "A&1", "count": 2, "yes": true});
        let url = with_query("https://tools.example/x?k=v", arguments.as_object().unwrap());
        assert_eq!(url, "https://tools.example/x?k=v&order%20id=A%261&count=2&yes=true");
        assert_eq!(with_query("https://tools.example/x", &Map::new()), "https://tools.example/x");
    }
}
