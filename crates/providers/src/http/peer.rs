//! A service with its credentials and time-outs.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use domain::ports::{ProviderError, ProviderFault};
use http::header::{CONTENT_TYPE, USER_AGENT};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use serde_json::Value;
use tokio::time::timeout;

use super::base::Base;
use super::connect::Net;
use crate::socket::Stream;

/// The wait when the settings name none.
const USUAL_TIMEOUT: Duration = Duration::from_secs(10);

/// A provider's service. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Peer {
    pub(crate) net: Net,
    /// As the settings name it.
    pub(crate) name: String,
    pub(crate) base: Base,
    /// Longest wait for a connection and for each response.
    pub(crate) timeout: Duration,
    headers: HeaderMap,
}

impl fmt::Debug for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Peer")
            .field("name", &self.name)
            .field("base", &self.base)
            .field("timeout", &self.timeout)
            .finish()
    }
}

impl Peer {
    /// A service at `base`; `headers` are sent with every request, those with credentials among them.
    pub(crate) fn new(
        net: &Net,
        name: &str,
        base: &str,
        timeout: Duration,
        headers: &[(&'static str, String)],
    ) -> Result<Peer, String> {
        let base = Base::parse(base).map_err(|reason| format!("{name}: base_url: {reason}"))?;
        let mut map = HeaderMap::new();
        map.insert(USER_AGENT, HeaderValue::from_static("dastak"));
        for (header, value) in headers {
            let mut value = HeaderValue::from_str(value)
                .map_err(|_| format!("{name}: api_key: has characters that no header may have"))?;
            value.set_sensitive(true);
            map.insert(HeaderName::from_static(header), value);
        }
        let timeout = if timeout.is_zero() { USUAL_TIMEOUT } else { timeout };
        Ok(Peer { net: net.clone(), name: name.to_owned(), base, timeout, headers: map })
    }

    /// Headers of every request.
    pub(crate) fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// A failure of this service.
    pub(crate) fn error(&self, fault: ProviderFault, detail: impl Into<String>) -> ProviderError {
        ProviderError::new(&self.name, fault, detail)
    }

    /// A response that violates the protocol.
    pub(crate) fn broken(&self, detail: impl Into<String>) -> ProviderError {
        self.error(ProviderFault::Broken, detail)
    }

    /// No response in time.
    pub(crate) fn timed_out(&self, what: &str) -> ProviderError {
        self.error(
            ProviderFault::TimedOut,
            format!("{what}: no answer within {} ms", self.timeout.as_millis()),
        )
    }

    /// A new connection to it.
    pub(crate) async fn connect(&self) -> Result<Stream, ProviderError> {
        let opening = self.net.connect(self.base.is_tls(), self.base.host(), self.base.port());
        match timeout(self.timeout, opening).await {
            Err(_) => Err(self.timed_out("connection")),
            Ok(Err(error)) => {
                Err(self.error(ProviderFault::Unreachable, format!("no connection: {}", error.kind())))
            }
            Ok(Ok(stream)) => Ok(stream),
        }
    }

    /// Sends a request and waits for the head of its answer, whatever its status.
    pub(crate) async fn ask(
        &self,
        method: Method,
        path_and_query: &str,
        headers: &[(HeaderName, String)],
        body: Bytes,
    ) -> Result<Body, ProviderError> {
        let mut request = http::Request::builder().method(method).uri(self.base.url(path_and_query));
        if let Some(map) = request.headers_mut() {
            map.extend(self.headers.clone());
            for (name, value) in headers {
                let value = HeaderValue::from_str(value)
                    .map_err(|_| self.error(ProviderFault::Refused, "a header value that cannot be sent"))?;
                map.insert(name, value);
            }
        }
        let request = request
            .body(Full::new(body))
            .map_err(|_| self.error(ProviderFault::Refused, "a request that cannot be sent"))?;
        match timeout(self.timeout, self.net.http().request(request)).await {
            Err(_) => Err(self.timed_out("request")),
            Ok(Err(error)) => {
                let what = if error.is_connect() { "no connection" } else { "the connection broke" };
                Err(self.error(ProviderFault::Unreachable, what))
            }
            Ok(Ok(answer)) => Ok(Body { answer, timeout: self.timeout, name: self.name.clone() }),
        }
    }

    /// `POST` of JSON.
    pub(crate) async fn post_json(&self, path_and_query: &str, body: &Value) -> Result<Body, ProviderError> {
        let headers = [(CONTENT_TYPE, "application/json".to_owned())];
        self.ask(Method::POST, path_and_query, &headers, Bytes::from(body.to_string())).await
    }
}

/// An answer whose body is still to come. Dropping it closes its connection.
pub(crate) struct Body {
    answer: Response<Incoming>,
    timeout: Duration,
    name: String,
}

impl Body {
    pub(crate) fn status(&self) -> StatusCode {
        self.answer.status()
    }

    pub(crate) fn headers(&self) -> &HeaderMap {
        self.answer.headers()
    }

    /// Content type in lower case, with its parameters.
    pub(crate) fn content_type(&self) -> String {
        self.headers()
            .get(CONTENT_TYPE)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
            .to_ascii_lowercase()
    }

    /// The next piece; none at the end. Cancel-safe.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, ProviderError> {
        loop {
            let frame = match timeout(self.timeout, self.answer.body_mut().frame()).await {
                Err(_) => {
                    let detail = format!("the answer stopped for {} ms", self.timeout.as_millis());
                    return Err(ProviderError::new(&self.name, ProviderFault::TimedOut, detail));
                }
                Ok(None) => return Ok(None),
                Ok(Some(Err(_))) => {
                    return Err(ProviderError::new(
                        &self.name,
                        ProviderFault::Unreachable,
                        "the answer broke off",
                    ));
                }
                Ok(Some(Ok(frame))) => frame,
            };
            if let Ok(data) = frame.into_data()
                && !data.is_empty()
            {
                return Ok(Some(data));
            }
        }
    }

    /// The whole body, of at most `limit` bytes.
    pub(crate) async fn whole(mut self, limit: usize) -> Result<Vec<u8>, ProviderError> {
        let mut whole = Vec::new();
        while let Some(piece) = self.next().await? {
            if whole.len() + piece.len() > limit {
                return Err(ProviderError::new(
                    &self.name,
                    ProviderFault::Broken,
                    format!("an answer of more than {limit} bytes"),
                ));
            }
            whole.extend_from_slice(&piece);
        }
        Ok(whole)
    }

    /// The same response if its status is a success; otherwise the failure of that status.
    pub(crate) async fn accepted(self) -> Result<Body, ProviderError> {
        let status = self.status();
        if status.is_success() {
            return Ok(self);
        }
        let name = self.name.clone();
        let said = self.whole(64 * 1024).await.unwrap_or_default();
        Err(status_error(&name, status, &said))
    }
}

/// The failure of a status. Of the body only a short code is repeated: services echo their input in their messages.
pub(crate) fn status_error(name: &str, status: StatusCode, body: &[u8]) -> ProviderError {
    let fault = match status.as_u16() {
        401..=403 => ProviderFault::Forbidden,
        408 | 504 => ProviderFault::TimedOut,
        429 => ProviderFault::Limited,
        503 => ProviderFault::Unreachable,
        400..=499 => ProviderFault::Refused,
        _ => ProviderFault::Broken,
    };
    let code = serde_json::from_slice::<Value>(body)
        .ok()
        .and_then(|body| error_code(&body))
        .map_or(String::new(), |code| format!(" ({code})"));
    // An exhausted quota is 429 or 403, by provider; both are limits.
    let fault = if fault == ProviderFault::Forbidden && code.contains("quota") {
        ProviderFault::Limited
    } else {
        fault
    };
    ProviderError::new(name, fault, format!("answered {}{code}", status.as_u16()))
}

/// For [`crate::fuzzing`]: the failure of a response with an error status.
pub fn fuzzed_failure(status: u16, body: &[u8]) -> Option<ProviderError> {
    StatusCode::from_u16(status).ok().map(|status| status_error("fuzz", status, body))
}

/// `error.code` or `error.type` and the like, if it is a word.
pub(crate) fn error_code(body: &Value) -> Option<String> {
    let inner = body.get("error").filter(|inner| inner.is_object()).unwrap_or(body);
    ["code", "type", "err_code", "error_code", "status"].iter().filter_map(|key| inner.get(key)).find_map(
        |code| match code {
            Value::String(word) => Some(word.clone()).filter(|word| is_word(word)),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        },
    )
}

/// Whether a text of the peer is a plain code, which may appear in a log.
fn is_word(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 64
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
}
