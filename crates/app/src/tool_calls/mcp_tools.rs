//! Tools of MCP servers (docs/contract/agents.md#tools-of-mcp-servers): a session with the server, and calls in it.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use api::operator_agents::WebhookConfig;
use bytes::Bytes;
use domain::ids::{Id, Tool};
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use providers::guarded_client::{Kept, Limits, Request, Response, SendError, Target};
use providers::mcp::{self, NoResult, Said};
use serde_json::{Map, Value};
use tokio::time::Instant;

use super::{Client, Failed, MAX_ANSWER, WORTH_ANOTHER, broke_off, may_repeat, nothing_was_sent};

/// Most bytes of a page of a server's tools, and most pages.
const MAX_PAGE: usize = 1024 * 1024;
const MAX_PAGES: usize = 10;
/// Sessions that a node keeps, and for how long.
const MAX_SESSIONS: usize = 1_000;
const SESSION_TIME: Duration = Duration::from_secs(10 * 60);
/// Longest words of a server in an error, bytes.
const MAX_WORDS: usize = 1_000;
/// Names of tools that a refusal shows, and the longest that is shown whole, in characters.
const SHOWN: usize = 30;
const NAME: usize = 60;

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const SESSION: HeaderName = HeaderName::from_static(mcp::SESSION_HEADER);
const REVISION: HeaderName = HeaderName::from_static(mcp::REVISION_HEADER);

/// A session with a server. Servers without sessions have none to name.
#[derive(Debug, Clone)]
struct Session {
    id: Option<HeaderValue>,
    revision: HeaderValue,
    until: Instant,
}

/// Sessions of this node by tool. A tool's address never changes.
#[derive(Default)]
pub(super) struct Sessions(Mutex<HashMap<Id<Tool>, Session>>);

impl Sessions {
    fn get(&self, tool: Id<Tool>) -> Option<Session> {
        let sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.get(&tool).filter(|session| session.until > Instant::now()).cloned()
    }

    fn put(&self, tool: Id<Tool>, session: Session) {
        let mut sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if sessions.len() >= MAX_SESSIONS {
            let now = Instant::now();
            sessions.retain(|_, session| session.until > now);
        }
        if sessions.len() >= MAX_SESSIONS {
            sessions.clear();
        }
        sessions.insert(tool, session);
    }

    fn forget(&self, tool: Id<Tool>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&tool);
    }
}

/// A server and the time that is left for it.
struct Server<'a> {
    client: &'a Client,
    target: Target,
    /// Those of the tool's configuration, and of the call.
    headers: HeaderMap,
    until: Instant,
}

impl Server<'_> {
    /// Sends a message.
    async fn post(
        &self,
        session: Option<&Session>,
        message: Bytes,
        most: usize,
        kept: Kept,
    ) -> Result<Response, SendError> {
        let mut headers = self.headers.clone();
        headers.insert(ACCEPT, HeaderValue::from_static(mcp::ACCEPTED));
        headers.insert(CONTENT_TYPE, JSON);
        headers.remove(SESSION);
        headers.remove(REVISION);
        if let Some(session) = session {
            headers.insert(REVISION, session.revision.clone());
            if let Some(id) = &session.id {
                headers.insert(SESSION, id.clone());
            }
        }
        let deadline = self.until.saturating_duration_since(Instant::now());
        let limits = Limits { deadline, max_response_bytes: most };
        let request = Request::post(self.target.clone(), headers, message);
        if let Some(stand_in) = &self.client.stand_in {
            return stand_in.send(request, limits).await;
        }
        // A stream may stay open behind the answer.
        let mut messages = mcp::Messages::default();
        let mut enough = |kind: Option<&HeaderValue>, body: &[u8]| {
            kind.and_then(|kind| kind.to_str().ok()).is_some_and(mcp::is_stream) && messages.read_stream(body)
        };
        self.client.guarded.send_until(request, limits, kept, &mut enough).await
    }

    async fn open(&self) -> Result<Session, Failed> {
        let hello = mcp::initialize(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
        let answer = self.post(None, hello, MAX_ANSWER, Kept::Again).await.map_err(Failed::Silent)?;
        let id = answer.headers.get(SESSION).cloned();
        let answer = result(answer)?;
        let revision = mcp::revision(&answer).and_then(|revision| HeaderValue::from_str(revision).ok());
        let revision = revision.ok_or(Failed::NoAnswer)?;
        if id.as_ref().is_some_and(|id| id.len() > mcp::MAX_SESSION_ID) {
            return Err(Failed::NoAnswer);
        }
        let session = Session { id, revision, until: Instant::now() + SESSION_TIME };
        let heard = self
            .post(Some(&session), mcp::initialized(), MAX_ANSWER, Kept::Again)
            .await
            .map_err(Failed::Silent)?;
        if heard.status.is_success() { Ok(session) } else { Err(Failed::Refused(heard.status)) }
    }
}

/// The result in an answer.
fn result(answer: Response) -> Result<Value, Failed> {
    if !answer.status.is_success() {
        return Err(Failed::Refused(answer.status));
    }
    if answer.truncated {
        return Err(Failed::TooLong);
    }
    let kind = answer.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    mcp::result(kind, &answer.body).map_err(|why| match why {
        NoResult::Unreadable => Failed::NoAnswer,
        NoResult::Refused(words) => Failed::Said(bounded(&words)),
    })
}

fn bounded(words: &str) -> String {
    words[..words.floor_char_boundary(MAX_WORDS)].to_owned()
}

/// A call that is ready to be sent.
pub(super) struct McpCall {
    id: Id<Tool>,
    target: Target,
    headers: HeaderMap,
    message: Bytes,
    repeatable: bool,
    time: Duration,
}

pub(super) fn prepare(
    client: &Client,
    id: Id<Tool>,
    tool: &str,
    config: &WebhookConfig,
    headers: HeaderMap,
    arguments: Map<String, Value>,
) -> Result<McpCall, Failed> {
    let target = client
        .guarded
        .check_url(&config.url)
        .map_err(|_| Failed::SetUpWrongly("an address that may not be called"))?;
    Ok(McpCall {
        id,
        target,
        headers,
        message: mcp::call_tool(tool, &arguments),
        repeatable: may_repeat(config),
        time: Duration::from_secs(config.timeout_seconds.unsigned_abs()),
    })
}

impl McpCall {
    /// Calls the tool, and once more where that is safe and there is time left.
    pub(super) async fn send(self, client: &Client) -> Result<Value, Failed> {
        let until = Instant::now() + self.time;
        let server = Server { client, target: self.target.clone(), headers: self.headers.clone(), until };
        let (first, reused) = self.once(&server).await;
        let left = until.saturating_duration_since(Instant::now());
        let last = match self.again(&first, reused) && left >= WORTH_ANOTHER {
            true => self.once(&server).await.0,
            false => first,
        };
        match mcp::said(&result(last?)?) {
            Said::Value(value) => Ok(value),
            Said::Failure(words) => Err(Failed::Said(bounded(&words))),
        }
    }

    /// One try, and whether its session was an earlier one.
    async fn once(&self, server: &Server<'_>) -> (Result<Response, Failed>, bool) {
        let kept = server.client.sessions.get(self.id);
        let reused = kept.is_some();
        let session = match kept {
            Some(session) => session,
            None => match server.open().await {
                Ok(session) => session,
                Err(why) => return (Err(why), false),
            },
        };
        let kept = if self.repeatable { Kept::Once } else { Kept::No };
        let answer = server.post(Some(&session), self.message.clone(), MAX_ANSWER, kept).await;
        match &answer {
            Ok(answer) if answer.status.is_success() => server.client.sessions.put(self.id, session),
            Ok(_) | Err(_) => server.client.sessions.forget(self.id),
        }
        (answer.map_err(Failed::Silent), reused)
    }

    /// Whether another try may help, and is safe: the tool was not called, or may be called twice.
    fn again(&self, first: &Result<Response, Failed>, reused: bool) -> bool {
        match first {
            // The session is over, which the server says before it does anything.
            Ok(answer)
                if reused && matches!(answer.status, StatusCode::BAD_REQUEST | StatusCode::NOT_FOUND) =>
            {
                true
            }
            Ok(answer) => self.repeatable && matches!(answer.status.as_u16(), 502..=504),
            Err(Failed::Silent(why)) => nothing_was_sent(why) || self.repeatable && broke_off(why),
            Err(_) => false,
        }
    }
}

/// What a server says of one of its tools.
#[derive(Debug, PartialEq)]
pub(crate) struct Described {
    /// When it should be used.
    pub(crate) description: String,
    /// JSON Schema of its arguments.
    pub(crate) parameters: Value,
}

/// Why a server could not be asked for a tool.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Undescribed {
    /// It does not answer as an MCP server does; why.
    Server(String),
    /// It has no tool with this name; the first that it has.
    NoSuchTool(Vec<String>),
}

/// Asks a server for one of its tools.
///
/// # Errors
/// It has none with this name, or does not answer as an MCP server does.
pub(crate) async fn describe(
    client: &Client,
    config: &WebhookConfig,
    tool: &str,
) -> Result<Described, Undescribed> {
    let unanswered = |why: Failed| Undescribed::Server(why.to_string());
    let target = client.guarded.check_url(&config.url).map_err(|why| Undescribed::Server(why.to_string()))?;
    let headers = super::headers(config, "", "");
    let until = Instant::now() + Duration::from_secs(config.timeout_seconds.unsigned_abs());
    let server = Server { client, target, headers, until };
    let session = server.open().await.map_err(unanswered)?;
    let (mut names, mut cursor) = (Vec::new(), None::<String>);
    for _ in 0..MAX_PAGES {
        let asked = mcp::list_tools(cursor.as_deref());
        let page = server.post(Some(&session), asked, MAX_PAGE, Kept::Again).await.map_err(Failed::Silent);
        let mut page = page.and_then(result).map_err(unanswered)?;
        for found in page["tools"].as_array_mut().into_iter().flatten() {
            let name = found["name"].as_str().unwrap_or_default();
            if name == tool {
                return Ok(Described {
                    description: found["description"].as_str().unwrap_or_default().to_owned(),
                    parameters: found["inputSchema"].take(),
                });
            }
            if names.len() < SHOWN {
                names.push(name.chars().take(NAME).collect());
            }
        }
        cursor = page["nextCursor"].as_str().filter(|next| !next.is_empty()).map(str::to_owned);
        if cursor.is_none() {
            break;
        }
    }
    Err(Undescribed::NoSuchTool(names))
}
