//! `dastak mcp`: the server of the Model Context Protocol on standard input and output, in front of a service
//! (docs/contract/mcp.md#standard-input-and-output).

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use clap::{ArgMatches, Command};
use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use mcp::{Answer, Answering, Api, Key, MAX_ANSWER, Server};
use providers::guarded_client::{GuardedClient, Limits, Policy, Request, SystemResolver};
use serde_json::Value;

use super::profiles;
use crate::runtime::clock::Clock;
use crate::runtime::ids::Ids;

/// The longest wait for an answer: an agent in a chat may use several tools before it answers.
const ANSWER_WITHIN: Duration = Duration::from_secs(120);
/// Bytes of an answer that are read: those that a tool gives, and one by which it is known to be longer.
const READ: usize = MAX_ANSWER + 1;

/// `dastak mcp`, with the options that choose the service and the key.
pub fn command() -> Command {
    let command = Command::new("mcp")
        .about("Serve the tools of a workspace to an AI agent on this machine (Model Context Protocol)")
        .long_about(
            "Serve the tools of a workspace to an AI agent on this machine, by the Model Context Protocol on standard input and output. \
             Which tools there are, and whether calls are real, the API key decides: begin with a test key.",
        );
    profiles::options(command, false)
}

/// Serves until the input ends.
pub async fn run(matches: &ArgMatches) -> Result<(), String> {
    let access = profiles::access(matches).map_err(|failed| failed.message)?;
    let api = Outside::new(&access.base_url, &access.key)?;
    let account = api.account().await?;
    let brand = std::env!("CARGO_PKG_NAME");
    mcp::stdio::serve(Server::new(api, account, brand)).await
}

/// The API of a service elsewhere.
struct Outside {
    http: Arc<GuardedClient>,
    base: String,
    bearer: HeaderValue,
    ids: Ids,
}

impl Outside {
    fn new(base: &str, key: &str) -> Result<Self, String> {
        let policy = Policy { allow_insecure: true, user_agent: "dastak-mcp/1".into(), ..Policy::default() };
        let http =
            GuardedClient::new(policy, Arc::new(SystemResolver::new())).map_err(|why| why.to_string())?;
        let base = base.trim_end_matches('/').to_owned();
        http.check_url(&base).map_err(|why| format!("{base}: {why}"))?;
        let mut bearer = HeaderValue::from_str(&format!("Bearer {key}"))
            .map_err(|_| "the API key has characters that a header cannot carry")?;
        bearer.set_sensitive(true);
        Ok(Self { http: Arc::new(http), base, bearer, ids: Ids::new(Clock::real()) })
    }

    /// What the key may do.
    async fn account(&self) -> Result<Key, String> {
        let request = mcp::Request {
            method: "GET",
            target: "/v1/me".into(),
            body: Bytes::new(),
            idempotency_key: None,
        };
        let answer = self.send(request).await?;
        let account: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
        if answer.status != 200 {
            let why = account["error"].as_str().unwrap_or("this is not the service");
            return Err(format!("{}: {why} ({})", self.base, answer.status));
        }
        let key = &account["data"]["key"];
        let (Some(prefix), Some(scopes)) = (key["prefix"].as_str(), key["scopes"].as_array()) else {
            return Err(format!("{}: the service says nothing of the key", self.base));
        };
        Ok(Key {
            live: !prefix.contains("_test_"),
            scopes: scopes.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        })
    }
}

impl Api for Outside {
    fn send(&self, wanted: mcp::Request) -> Answering {
        let (http, base, bearer) = (self.http.clone(), self.base.clone(), self.bearer.clone());
        Box::pin(async move {
            let target =
                http.check_url(&format!("{base}{}", wanted.target)).map_err(|why| why.to_string())?;
            let mut headers = HeaderMap::new();
            headers.insert(header::AUTHORIZATION, bearer);
            headers.insert(header::ACCEPT, HeaderValue::from_static("application/json"));
            if !wanted.body.is_empty() {
                headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
            }
            if let Some(key) = wanted.idempotency_key {
                let key = HeaderValue::from_str(&key).map_err(|why| why.to_string())?;
                headers.insert(HeaderName::from_static("idempotency-key"), key);
            }
            let method: Method = wanted.method.parse().map_err(|_| "no method of HTTP")?;
            let limits = Limits { deadline: ANSWER_WITHIN, max_response_bytes: READ };
            let request = Request { method, target, headers, body: wanted.body };
            let answer = http.send_once(request, limits).await;
            let answer = answer.map_err(|why| format!("{base}: {why}; is the service running there?"))?;
            let retry_after = answer.headers.get(header::RETRY_AFTER);
            Ok(Answer {
                status: answer.status.as_u16(),
                retry_after: retry_after.and_then(|value| value.to_str().ok()?.parse().ok()),
                body: answer.body,
            })
        })
    }

    fn new_key(&self) -> String {
        format!("mcp_{}", self.ids.random_text(24))
    }
}
