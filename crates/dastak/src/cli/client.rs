//! HTTP client of the CLI.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method};
use providers::guarded_client::{GuardedClient, Limits, Policy, Request, SystemResolver};
use serde_json::Value;

/// A service's address and a bearer token for it.
pub struct Client {
    http: GuardedClient,
    base: String,
    token: String,
}

impl Client {
    /// A client for the service at `base`.
    pub fn new(base: &str, token: &str) -> Result<Self, String> {
        let policy = Policy { allow_insecure: true, user_agent: "dastak-cli/1".into(), ..Policy::default() };
        let http =
            GuardedClient::new(policy, Arc::new(SystemResolver::new())).map_err(|why| format!("{why:?}"))?;
        Ok(Self { http, base: base.trim_end_matches('/').to_owned(), token: token.to_owned() })
    }

    /// Sends a request; returns status and JSON of the response.
    pub async fn send(&self, method: &str, path: &str, body: Option<&Value>) -> Result<(u16, Value), String> {
        self.send_within(method, path, body, Duration::from_secs(120)).await
    }

    /// Sends a request that is given up after `deadline`.
    pub async fn send_within(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
        deadline: Duration,
    ) -> Result<(u16, Value), String> {
        let url = format!("{}{path}", self.base);
        let target = self.http.check_url(&url).map_err(|why| format!("{url}: {why}"))?;
        let mut headers = HeaderMap::new();
        let bearer = HeaderValue::from_str(&format!("Bearer {}", self.token))
            .map_err(|_| "the token has characters that a header cannot carry")?;
        headers.insert(http::header::AUTHORIZATION, bearer);
        headers.insert(http::header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let method = Method::from_bytes(method.as_bytes()).map_err(|why| why.to_string())?;
        let body = body.map_or_else(Bytes::new, |body| Bytes::from(body.to_string()));
        let limits = Limits { deadline, max_response_bytes: 64 * 1024 * 1024 };
        let answer = self.http.send(Request { method, target, headers, body }, limits).await;
        let answer = answer.map_err(|why| format!("{}: {why}; is the service running there?", self.base))?;
        let json = serde_json::from_slice(&answer.body).unwrap_or(Value::Null);
        Ok((answer.status.as_u16(), json))
    }
}
