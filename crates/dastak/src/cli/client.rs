//! HTTP client of the CLI.

use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, USER_AGENT};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use providers::http::{Base, Net};
use serde_json::Value;
use tokio::time::timeout;

use super::failed::Failed;

/// How long an answer may take to begin; a reply of a chat waits for its model and its tools.
const DEADLINE: Duration = Duration::from_secs(120);
/// How long an answer may stop once it has begun. A stream of the service says something every 15 s.
const SILENCE: Duration = Duration::from_secs(60);
/// Most bytes of an answer that is read as JSON.
const MAX_JSON: usize = 64 * 1024 * 1024;

/// A service's address and a bearer token for it.
pub struct Client {
    net: Net,
    base: String,
    token: String,
}

/// A request, without its bearer token.
pub struct Request {
    pub method: Method,
    /// Path and query.
    pub path: String,
    pub headers: Vec<(HeaderName, String)>,
    pub body: Bytes,
}

/// An answer whose body is still to come.
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    body: Incoming,
}

impl Client {
    /// A client for the service at `base`.
    pub fn new(base: &str, token: &str) -> Result<Self, Failed> {
        Base::parse(base).map_err(|why| Failed::usage(format!("{base}: {why}")))?;
        let net = Net::new(Vec::new())?;
        Ok(Self { net, base: base.trim_end_matches('/').to_owned(), token: token.to_owned() })
    }

    /// The address of the service.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// Sends a request; the head of its answer.
    pub async fn open(&self, request: Request) -> Result<Answer, Failed> {
        self.open_within(request, DEADLINE).await
    }

    async fn open_within(&self, request: Request, deadline: Duration) -> Result<Answer, Failed> {
        let mut bearer = HeaderValue::from_str(&format!("Bearer {}", self.token))
            .map_err(|_| Failed::usage("the key has characters that a header cannot carry"))?;
        bearer.set_sensitive(true);
        let mut built = http::Request::builder()
            .method(request.method)
            .uri(format!("{}{}", self.base, request.path))
            .header(AUTHORIZATION, bearer)
            .header(USER_AGENT, concat!("dastak-cli/", env!("CARGO_PKG_VERSION")));
        for (name, value) in request.headers {
            let text = HeaderValue::try_from(value)
                .map_err(|_| Failed::usage(format!("{name}: has characters that a header cannot carry")))?;
            built = built.header(name, text);
        }
        let built = built.body(Full::new(request.body)).map_err(|why| Failed::usage(why.to_string()))?;
        match timeout(deadline, self.net.send(built)).await {
            Err(_) => Err(self.lost(&format!("no answer within {} s", deadline.as_secs()))),
            Ok(Err(broken)) if broken.sent => {
                Err(self.lost(&format!("the connection broke: {}", broken.reason)))
            }
            Ok(Err(broken)) => Err(Failed::unreachable(format!(
                "{}: {}; is the service running there? `dastak dev` starts one on this machine; --base-url or a profile names another",
                self.base, broken.reason
            ))),
            Ok(Ok(answer)) => {
                let (head, body) = answer.into_parts();
                Ok(Answer { status: head.status.as_u16(), headers: head.headers, body })
            }
        }
    }

    fn lost(&self, why: &str) -> Failed {
        Failed::lost(format!("{}: {why}", self.base))
    }

    /// Sends a request; returns status and JSON of the response.
    pub async fn send(&self, method: &str, path: &str, body: Option<&Value>) -> Result<(u16, Value), Failed> {
        self.send_within(method, path, body, DEADLINE).await
    }

    /// Sends a request that is given up after `deadline`.
    pub async fn send_within(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
        deadline: Duration,
    ) -> Result<(u16, Value), Failed> {
        let body = body.map_or_else(Bytes::new, |body| Bytes::from(body.to_string()));
        let headers = vec![(CONTENT_TYPE, "application/json".to_owned())];
        let method = Method::from_bytes(method.as_bytes()).map_err(|why| why.to_string())?;
        let request = Request { method, path: path.to_owned(), headers, body };
        let answer = self.open_within(request, deadline).await?;
        let status = answer.status;
        let whole = answer.whole().await?;
        Ok((status, serde_json::from_slice(&whole).unwrap_or(Value::Null)))
    }
}

impl Answer {
    /// A header's text; empty without it.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// Whether the request was accepted.
    pub fn is_success(&self) -> bool {
        StatusCode::from_u16(self.status).is_ok_and(|status| status.is_success())
    }

    /// The next piece of the body; none at the end.
    pub async fn next(&mut self) -> Result<Option<Bytes>, Failed> {
        loop {
            let frame = timeout(SILENCE, self.body.frame())
                .await
                .map_err(|_| Failed::lost(format!("the answer stopped for {} s", SILENCE.as_secs())))?;
            let Some(frame) = frame else { return Ok(None) };
            let frame = frame.map_err(|why| Failed::lost(format!("the answer broke off: {why}")))?;
            if let Ok(data) = frame.into_data()
                && !data.is_empty()
            {
                return Ok(Some(data));
            }
        }
    }

    /// The whole body, of at most 64 MB.
    pub async fn whole(mut self) -> Result<Vec<u8>, Failed> {
        let mut whole = Vec::new();
        while let Some(piece) = self.next().await? {
            if whole.len() + piece.len() > MAX_JSON {
                return Err(Failed::from(format!("the answer has more than {} MB", MAX_JSON >> 20)));
            }
            whole.extend_from_slice(&piece);
        }
        Ok(whole)
    }
}
