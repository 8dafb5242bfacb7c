//! Tools during a conversation, on a call or in a chat: their definitions for a language model, and calling one
//! (docs/contract/agents.md#tools).
//!
//! No error and no log line contains arguments, answers, addresses or header values of a tool.

pub mod arguments;
pub(super) mod mcp_tools;

use std::sync::Arc;
use std::time::Duration;

use api::operator_agents::WebhookConfig;
use bytes::Bytes;
use config::Config;
use domain::ids::{self, Chat, Id, Tool};
use domain::ports::ToolOffer;
use domain::tenant::Tenant;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use providers::GuardedClient;
use providers::guarded_client::{
    Limits, MAX_URL_LENGTH, Phase, Policy, Request, Response, SendError, SystemResolver, Transport,
};
use providers::http::encoded;
use runtime::metrics::ToolOutcome;
use serde_json::{Map, Value, json};
use store::tools;
use tokio::time::Instant;

use super::{App, Failure};
use arguments::Schema;

/// Bytes of an answer that are read.
const MAX_ANSWER: usize = 64 * 1024;
/// A request is retried if at least this much of the tool's time is left.
const WORTH_ANOTHER: Duration = Duration::from_millis(500);

/// Headers that the service sets on requests to tools, beside those of the connection.
pub const OWN_HEADERS: [&str; 3] = ["idempotency-key", "x-call-id", "x-chat-id"];

/// The client of tools.
pub struct Client {
    guarded: GuardedClient,
    /// The transport of the simulation.
    stand_in: Option<Arc<dyn Transport>>,
    /// Sessions with MCP servers.
    sessions: mcp_tools::Sessions,
}

impl From<GuardedClient> for Client {
    fn from(guarded: GuardedClient) -> Self {
        Self { guarded, stand_in: None, sessions: mcp_tools::Sessions::default() }
    }
}

impl Client {
    /// The same with requests that go elsewhere, for the simulation.
    #[must_use]
    pub fn with_transport(self, stand_in: Arc<dyn Transport>) -> Self {
        Self { stand_in: Some(stand_in), ..self }
    }

    /// One exchange; one that is not `repeatable` uses a connection of its own, once: on a pooled connection the
    /// request may be sent twice.
    async fn exchange(
        &self,
        request: Request,
        limits: Limits,
        repeatable: bool,
    ) -> Result<Response, SendError> {
        match &self.stand_in {
            Some(stand_in) => stand_in.send(request, limits).await,
            None if repeatable => self.guarded.send(request, limits).await,
            None => self.guarded.send_once(request, limits).await,
        }
    }
}

/// Where a prepared call goes.
enum Prepared {
    Webhook(Webhook),
    Mcp(mcp_tools::McpCall),
}

/// The client for the tools of calls and chats.
///
/// # Errors
/// The client could not be made.
pub fn client(config: &Config) -> Result<Client, String> {
    let policy = Policy {
        allow_insecure: config.allow_insecure_webhooks,
        user_agent: format!("{}-tools/1", config.brand.to_lowercase()),
        ..Policy::default()
    };
    let guarded =
        GuardedClient::new(policy, Arc::new(SystemResolver::new())).map_err(|why| why.to_string())?;
    Ok(guarded.into())
}

/// The purpose that a tool's configuration is sealed with.
pub(super) fn purpose(id: Id<Tool>) -> String {
    format!("tool:{id}")
}

/// The configuration of a tool, decrypted; `None` when the tool was deleted.
///
/// # Errors
/// Those of the store, and a configuration that cannot be read.
pub async fn webhook(app: &App, tenant: Tenant, id: Id<Tool>) -> Result<Option<WebhookConfig>, Failure> {
    let Some((_, sealed)) = app.of(tenant).read(move |tx| tools::get(tx, id)).await? else {
        return Ok(None);
    };
    let open = app.keyring.open_sealed(&purpose(id), &sealed);
    let open =
        open.ok_or_else(|| Failure::internal(format!("{id}: its configuration cannot be decrypted")))?;
    serde_json::from_str(&open).map(Some).map_err(|why| Failure::internal(format!("{id}: {why}")))
}

/// A tool that is to be called.
#[derive(Debug, Clone)]
pub struct Call {
    pub tool: String,
    /// The call or chat (`call_…`, `chatsess_…`), which is sent to the tool.
    pub interaction: String,
    /// The same for a retry of the same call, and unique otherwise: it is sent as `Idempotency-Key`.
    pub key: String,
    /// What the tool is given.
    pub arguments: Map<String, Value>,
}

/// The model's result of a call that was begun when the service was interrupted, and that may be made once only
/// (docs/contract/agents.md#retries-of-a-tool).
pub const INTERRUPTED: &str = "the service was interrupted while the tool was being called: it is not known whether it did what it was asked";

/// The built-in tool that presses keys on a call (docs/contract/agents.md#keys).
pub const PRESS_KEYS: &str = "press_keys";

/// Built-in tools, which the conversation carries out itself: id, description, JSON Schema of the arguments. The end of
/// a conversation is no tool here: every model gets it beside the tools (`language_model::request`).
const BUILT_IN: [(&str, &str, &str); 3] = [
    (
        "transfer_to_human",
        "Hands the conversation to a person.",
        r#"{"type": "object", "properties": {"reason": {"type": "string", "description": "What the person should know before joining."}}}"#,
    ),
    (
        "chatapp_message",
        "Sends the person a message on the chat-app channel: a text, or an approved template.",
        r#"{"type": "object", "properties": {
            "text": {"type": "string", "description": "The words of the message, up to 4096 characters."},
            "template": {"type": "object", "description": "In place of a text.", "properties": {
                "name": {"type": "string"},
                "language": {"type": "string", "description": "Language code of the template, such as en."},
                "params": {"type": "object", "properties": {"body": {"type": "object", "description": "Values of the template by name."}}}
            }, "required": ["name", "language"]}
        }}"#,
    ),
    (
        PRESS_KEYS,
        "Presses keys of the telephone, when a menu or a system on the other side asks for them. Never for a person.",
        r#"{"type": "object", "properties": {
            "keys": {"type": "string", "maxLength": 32, "description": "Keys in order: 0-9, * and #. A w is a pause of half a second, such as 2w1."}
        }, "required": ["keys"]}"#,
    ),
];

/// Whether a tool is idempotent. A deleted one is not called, however often.
///
/// # Errors
/// Those of the store, and a configuration that cannot be read.
pub async fn repeatable(app: &App, tenant: Tenant, tool: &str) -> Result<bool, Failure> {
    let Ok(id) = tool.parse::<Id<Tool>>() else { return Ok(true) };
    let config = webhook(app, tenant, id).await?;
    Ok(config.is_none_or(|config| may_repeat(&config)))
}

/// Whether a tool is idempotent (docs/contract/agents.md#tools).
fn may_repeat(config: &WebhookConfig) -> bool {
    config.idempotent || config.method == "GET"
}

/// The definitions of these tools for a language model; deleted ones are left out.
///
/// # Errors
/// Those of the store, and a configuration that cannot be read.
pub async fn offers(app: &App, tenant: Tenant, ids: &[String]) -> Result<Vec<ToolOffer>, Failure> {
    let wanted: Vec<Id<Tool>> = ids.iter().filter_map(|id| id.parse().ok()).collect();
    let rows = app.of(tenant).read(tools::list).await?;
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

/// Calls a tool: a webhook gets the arguments as JSON (of a `GET` as query parameters), an MCP server a message; both the
/// call's or the chat's id and the idempotency key in headers. The answer's JSON, or its text. A caller that the clock counts waits in
/// [`runtime::clock::Clock::outside`].
///
/// # Errors
/// Why it failed, as a message for the model: nothing of the tool's address or secrets.
pub async fn call(app: &App, client: &Client, tenant: Tenant, call: Call) -> Result<Value, String> {
    let begun = Instant::now();
    let (interaction, tool) = (call.interaction.clone(), call.tool.clone());
    let (outcome, answer) = match prepare(app, client, tenant, call).await {
        Ok(prepared) => match send(client, prepared).await {
            Ok(answer) => (ToolOutcome::Answered, Ok(answer)),
            Err(why) => (ToolOutcome::Failed, Err(why)),
        },
        Err((outcome, why)) => (outcome, Err(why)),
    };
    if let Err(why) = &answer
        && outcome != ToolOutcome::WrongArguments
    {
        tracing::warn!(about = interaction, tool, why = why.logged(), "a tool failed");
    }
    app.metrics.tool_called(outcome, begun.elapsed());
    answer.map_err(|why| why.to_string())
}

async fn send(client: &Client, prepared: Prepared) -> Result<Value, Failed> {
    match prepared {
        Prepared::Webhook(webhook) => webhook.send(client).await,
        Prepared::Mcp(call) => call.send(client).await,
    }
}

/// Why a tool failed.
#[derive(Debug)]
enum Failed {
    /// There is none with this id.
    Unknown,
    /// Its configuration cannot be read now.
    Unreadable(Failure),
    /// Its configuration cannot be used.
    SetUpWrongly(&'static str),
    /// The arguments do not match its schema.
    Arguments(arguments::Wrong),
    /// No answer.
    Silent(SendError),
    /// An answer that is no success.
    Refused(StatusCode),
    /// The answer is longer than [`MAX_ANSWER`].
    TooLong,
    /// The answer of an MCP server that is none.
    NoAnswer,
    /// An MCP server refused the call, or its tool says that it failed; its words.
    Said(String),
}

impl Failed {
    /// For the log: no argument, no address.
    fn logged(&self) -> String {
        match self {
            Self::Unreadable(failure) => {
                failure.cause.clone().unwrap_or_else(|| failure.error.code.to_owned())
            }
            Self::Silent(why) => why.code().to_owned(),
            Self::SetUpWrongly(why) => (*why).to_owned(),
            Self::Arguments(_) => "wrong arguments".to_owned(),
            Self::Said(_) => "it says that it failed".to_owned(),
            Self::Unknown | Self::Refused(_) | Self::TooLong | Self::NoAnswer => self.to_string(),
        }
    }
}

impl std::fmt::Display for Failed {
    /// In words for the model.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unknown => f.write_str("there is no such tool"),
            Self::Unreadable(_) => f.write_str("the tool cannot be used now"),
            Self::SetUpWrongly(_) => f.write_str("the tool is set up wrongly"),
            Self::Arguments(wrong) => {
                write!(f, "the tool was not called, because its arguments are wrong: {wrong}")
            }
            Self::Silent(SendError::Timeout(_)) => f.write_str("the tool did not answer in time"),
            Self::Silent(_) => f.write_str("the tool did not answer"),
            Self::Refused(status) => write!(f, "the tool answered with status {}", status.as_u16()),
            Self::TooLong => f.write_str("the tool's answer is too long"),
            Self::NoAnswer => f.write_str("the tool's answer cannot be read"),
            Self::Said(words) if words.is_empty() => f.write_str("the tool failed"),
            Self::Said(words) => write!(f, "the tool failed: {words}"),
        }
    }
}

/// A prepared request to a webhook tool.
struct Webhook {
    request: Request,
    /// The request is idempotent.
    repeatable: bool,
    /// Time for all tries.
    time: Duration,
}

async fn prepare(
    app: &App,
    client: &Client,
    tenant: Tenant,
    call: Call,
) -> Result<Prepared, (ToolOutcome, Failed)> {
    let failed = |why: Failed| (ToolOutcome::Failed, why);
    let id: Id<Tool> = call.tool.parse().map_err(|_| failed(Failed::Unknown))?;
    let config = webhook(app, tenant, id)
        .await
        .map_err(|failure| failed(Failed::Unreadable(failure)))?
        .ok_or_else(|| failed(Failed::Unknown))?;
    let schema = Schema::read(&config.parameters)
        .map_err(|_| failed(Failed::SetUpWrongly("a schema that is not supported")))?;
    let arguments = schema
        .fit(call.arguments)
        .map_err(|wrong| (ToolOutcome::WrongArguments, Failed::Arguments(wrong)))?;
    let headers = headers(&config, &call.interaction, &call.key);
    if let Some(tool) = config.tool.clone() {
        let prepared = mcp_tools::prepare(client, id, &tool, &config, headers, arguments);
        return prepared.map(Prepared::Mcp).map_err(failed);
    }
    request(client, config, headers, arguments).map(Prepared::Webhook).map_err(failed)
}

/// The headers of the tool, and those of this call.
fn headers(config: &WebhookConfig, interaction: &str, key: &str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in &config.headers {
        if let (Ok(name), Ok(value)) =
            (name.parse::<HeaderName>(), HeaderValue::from_str(value.as_str().unwrap_or_default()))
        {
            headers.insert(name, value);
        }
    }
    headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    let of = if interaction.parse::<Id<ids::Call>>().is_ok() {
        Some("x-call-id")
    } else if interaction.parse::<Id<Chat>>().is_ok() {
        Some("x-chat-id")
    } else {
        None
    };
    if let (Some(name), Ok(id)) = (of, HeaderValue::from_str(interaction)) {
        headers.insert(HeaderName::from_static(name), id);
    }
    if let Ok(key) = HeaderValue::from_str(key) {
        headers.insert(HeaderName::from_static("idempotency-key"), key);
    }
    headers
}

fn request(
    client: &Client,
    config: WebhookConfig,
    mut headers: HeaderMap,
    arguments: Map<String, Value>,
) -> Result<Webhook, Failed> {
    let method: Method =
        config.method.parse().map_err(|_| Failed::SetUpWrongly("a method that is not HTTP's"))?;
    let get = method == Method::GET;
    let repeatable = may_repeat(&config);
    let url = if get { with_query(&config.url, &arguments) } else { config.url };
    if url.len() > MAX_URL_LENGTH {
        return Err(Failed::Arguments(arguments::Wrong {
            field: "the arguments".into(),
            must: format!("must not make the address longer than {MAX_URL_LENGTH} bytes"),
        }));
    }
    let target = client
        .guarded
        .check_url(&url)
        .map_err(|_| Failed::SetUpWrongly("an address that may not be called"))?;
    let mut body = Bytes::new();
    if !get {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        body = Bytes::from(Value::Object(arguments).to_string());
    }
    Ok(Webhook {
        request: Request { method, target, headers, body },
        repeatable,
        time: Duration::from_secs(config.timeout_seconds.unsigned_abs()),
    })
}

impl Webhook {
    /// Sends the request, and retries it where that is safe and there is time left
    /// (docs/contract/agents.md#retries-of-a-tool).
    async fn send(self, client: &Client) -> Result<Value, Failed> {
        let begun = Instant::now();
        let first = self.once(client, self.time).await;
        let left = self.time.saturating_sub(begun.elapsed());
        if self.again(&first) && left >= WORTH_ANOTHER {
            return read(self.once(client, left).await);
        }
        read(first)
    }

    async fn once(&self, client: &Client, deadline: Duration) -> Result<Response, SendError> {
        let limits = Limits { deadline, max_response_bytes: MAX_ANSWER };
        client.exchange(self.request.clone(), limits, self.repeatable).await
    }

    /// Whether a retry may help, and is safe.
    fn again(&self, first: &Result<Response, SendError>) -> bool {
        match first {
            Ok(answer) => self.repeatable && matches!(answer.status.as_u16(), 502..=504),
            Err(why) => nothing_was_sent(why) || self.repeatable && broke_off(why),
        }
    }
}

/// Whether the tool cannot have received anything, so that a retry is safe.
fn nothing_was_sent(why: &SendError) -> bool {
    match why {
        SendError::DnsFailed
        | SendError::ConnectFailed(_)
        | SendError::TlsFailed(_)
        | SendError::Overloaded => true,
        SendError::Timeout(phase) | SendError::Closed(phase) | SendError::BadAnswer(phase) => {
            matches!(phase, Phase::Dns | Phase::Connect | Phase::Tls)
        }
        // The same request is refused again.
        SendError::AddressRefused(_) | SendError::RequestRefused(_) | SendError::HeadTooLarge => false,
    }
}

/// Whether the connection ended after the request, and before the answer was complete.
fn broke_off(why: &SendError) -> bool {
    match why {
        SendError::Closed(_) | SendError::Timeout(_) => true,
        SendError::DnsFailed
        | SendError::AddressRefused(_)
        | SendError::ConnectFailed(_)
        | SendError::TlsFailed(_)
        | SendError::HeadTooLarge
        | SendError::BadAnswer(_)
        | SendError::Overloaded
        | SendError::RequestRefused(_) => false,
    }
}

/// What the tool answered.
fn read(answer: Result<Response, SendError>) -> Result<Value, Failed> {
    let answer = answer.map_err(Failed::Silent)?;
    if !answer.status.is_success() {
        return Err(Failed::Refused(answer.status));
    }
    if answer.truncated {
        return Err(Failed::TooLong);
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
    use std::io::ErrorKind;

    use super::*;

    #[test]
    fn a_second_request_follows_only_where_the_tool_cannot_act_twice() {
        use SendError::{AddressRefused, Closed, ConnectFailed, DnsFailed, Overloaded, Timeout};
        let address = std::net::Ipv4Addr::LOCALHOST.into();
        // Why there was no answer, whether the tool may be retried, and whether an idempotent one may.
        for (why, any, idempotent) in [
            (DnsFailed, true, true),
            (ConnectFailed(ErrorKind::ConnectionRefused), true, true),
            (SendError::TlsFailed("expired".into()), true, true),
            (Overloaded, true, true),
            (Closed(Phase::Tls), true, true),
            (Timeout(Phase::Connect), true, true),
            (Closed(Phase::Head), false, true),
            (Timeout(Phase::Head), false, true),
            (Closed(Phase::Body(StatusCode::OK)), false, true),
            (SendError::BadAnswer(Phase::Head), false, false),
            (SendError::HeadTooLarge, false, false),
            (AddressRefused(address), false, false),
            (SendError::RequestRefused("not https"), false, false),
        ] {
            assert_eq!(
                (nothing_was_sent(&why), nothing_was_sent(&why) || broke_off(&why)),
                (any, idempotent),
                "{why:?}"
            );
        }
    }

    #[test]
    fn arguments_of_a_get_are_query_parameters() {
        let arguments = json!({"order id": "A&1", "count": 2, "yes": true});
        let url = with_query("https://tools.example/x?k=v", arguments.as_object().unwrap());
        assert_eq!(url, "https://tools.example/x?k=v&order%20id=A%261&count=2&yes=true");
        assert_eq!(with_query("https://tools.example/x", &Map::new()), "https://tools.example/x");
    }
}
