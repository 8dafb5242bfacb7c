//! One request to a system, and the meaning of an error response.

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, DATE, RETRY_AFTER};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use serde_json::Value;

use super::client::Systems;
use super::records::{Fault, short};
use crate::guarded_client::{GuardedClient, Limits, Phase, Request, SendError};
use crate::http::encoded;

/// Most bytes of a response with records.
pub(super) const RECORDS: usize = 8 << 20;
/// Most bytes of any other response.
pub(super) const SMALL: usize = 256 * 1024;
/// Longest message of a system that is passed on.
const LONGEST_WORDS: usize = 300;

pub(super) struct Ask<'a> {
    method: Method,
    base: &'a str,
    path: String,
    headers: Vec<(HeaderName, String)>,
    body: Bytes,
    most: usize,
}

impl<'a> Ask<'a> {
    pub(super) fn get(base: &'a str, path: impl Into<String>) -> Self {
        Self {
            method: Method::GET,
            base,
            path: path.into(),
            headers: vec![(ACCEPT, "application/json".into())],
            body: Bytes::new(),
            most: SMALL,
        }
    }

    pub(super) fn json(base: &'a str, path: impl Into<String>, body: &Value) -> Self {
        let ask = Self::get(base, path).with(CONTENT_TYPE, "application/json");
        Self { method: Method::POST, body: body.to_string().into(), ..ask }
    }

    /// A form; without fields it has no body.
    pub(super) fn form(base: &'a str, path: impl Into<String>, fields: &[(&str, &str)]) -> Self {
        let ask = Self::get(base, path).with(CONTENT_TYPE, "application/x-www-form-urlencoded");
        Self { method: Method::POST, body: pairs(fields).into(), ..ask }
    }

    pub(super) fn with(mut self, name: HeaderName, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub(super) fn bearer(self, token: &str) -> Self {
        self.with(AUTHORIZATION, format!("Bearer {token}"))
    }

    /// Sets the limit of the response.
    pub(super) fn up_to(self, most: usize) -> Self {
        Self { most, ..self }
    }
}

/// `a=1&b=2`, percent-encoded.
pub(super) fn pairs(fields: &[(&str, &str)]) -> String {
    let pairs: Vec<String> =
        fields.iter().map(|(name, value)| format!("{}={}", encoded(name), encoded(value))).collect();
    pairs.join("&")
}

/// A response: its status, and its JSON, null without a body.
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Value,
}

impl Systems {
    /// Sends an idempotent request and returns the JSON of its response.
    pub(super) async fn read(&self, ask: Ask<'_>) -> Result<Value, Fault> {
        accepted(self.exchange(&self.reading, ask).await?)
    }

    /// The same for a request that must not be retried.
    pub(super) async fn write(&self, ask: Ask<'_>) -> Result<Value, Fault> {
        accepted(self.answer(ask).await?)
    }

    /// Sends a request that must not be retried and returns its response, whatever it is.
    pub(super) async fn answer(&self, ask: Ask<'_>) -> Result<Answer, Fault> {
        self.exchange(&self.writing, ask).await
    }

    async fn exchange(&self, client: &GuardedClient, ask: Ask<'_>) -> Result<Answer, Fault> {
        let target = client
            .check_url(ask.base)
            .and_then(|target| target.below(&ask.path))
            .map_err(|why| Fault::Unreached(format!("the system's address cannot be used: {why}")))?;
        let mut headers = HeaderMap::new();
        for (name, value) in &ask.headers {
            let mut value = HeaderValue::from_str(value)
                .map_err(|_| Fault::Refused("the access token has characters that cannot be sent".into()))?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        let limits = Limits { deadline: self.settings.timeout, max_response_bytes: ask.most };
        let request = Request { method: ask.method, target, headers, body: ask.body };
        let answer = match &self.stand_in {
            Some(stand_in) => stand_in.send(request, limits).await,
            None => client.send(request, limits).await,
        };
        let answer = answer.map_err(|why| unsent(&why))?;
        if answer.truncated {
            return Err(Fault::Unclear(format!("an answer of more than {} KB", ask.most / 1024)));
        }
        let body = if answer.body.iter().all(u8::is_ascii_whitespace) {
            Some(Value::Null)
        } else {
            serde_json::from_slice(&answer.body).ok()
        };
        let body = match body {
            Some(body) => body,
            // An error page has no useful content.
            None if !answer.status.is_success() => Value::Null,
            None => return Err(Fault::Unclear("an answer that is not JSON".into())),
        };
        Ok(Answer { status: answer.status, headers: answer.headers, body })
    }
}

fn unsent(why: &SendError) -> Fault {
    let said = why.to_string();
    match why {
        SendError::DnsFailed
        | SendError::AddressRefused(_)
        | SendError::ConnectFailed(_)
        | SendError::TlsFailed(_)
        | SendError::Overloaded
        | SendError::RequestRefused(_)
        | SendError::Timeout(Phase::Dns | Phase::Connect | Phase::Tls) => Fault::Unreached(said),
        SendError::Timeout(_) | SendError::Closed(_) | SendError::HeadTooLarge | SendError::BadAnswer(_) => {
            Fault::Unclear(said)
        }
    }
}

/// The JSON of a successful response.
pub(super) fn accepted(answer: Answer) -> Result<Value, Fault> {
    if answer.status.is_success() { Ok(answer.body) } else { Err(refusal(&answer)) }
}

/// The meaning of an error response.
pub(super) fn refusal(answer: &Answer) -> Fault {
    let said = words(answer.status, &answer.body);
    match answer.status.as_u16() {
        401 => Fault::Unauthorized(said),
        429 => Fault::Later { wait: wait(&answer.headers), said },
        503 => match wait(&answer.headers) {
            wait @ Some(_) => Fault::Later { wait, said },
            None => Fault::Unclear(said),
        },
        408 | 500..=599 => Fault::Unclear(said),
        _ => Fault::Refused(said),
    }
}

/// Status, code and message, as far as the system gives them.
fn words(status: StatusCode, body: &Value) -> String {
    // Salesforce answers with a list, Google and Shopify with an object in the object.
    let body = body.get(0).unwrap_or(body);
    let inner = match body.get("error").or_else(|| body.get("errors")) {
        Some(inner @ Value::Object(_)) => inner,
        Some(Value::Array(errors)) => errors.first().unwrap_or(body),
        _ => body,
    };
    let text = |of: &Value, names: &[&str]| {
        names.iter().find_map(|name| of.get(name).and_then(Value::as_str).map(str::to_owned))
    };
    let code = text(inner, &["errorCode", "category", "code", "status", "error"]);
    let message = text(inner, &["message", "error_description", "errors"]);
    join(&[Some(format!("answered {}", status.as_u16())), code, message])
}

/// A message of a system on one line, truncated.
pub(super) fn join(parts: &[Option<String>]) -> String {
    let parts: Vec<&str> = parts.iter().flatten().map(String::as_str).collect();
    let whole = parts.join(": ");
    short(
        &whole.chars().map(|sign| if sign.is_control() { ' ' } else { sign }).collect::<String>(),
        LONGEST_WORDS,
    )
}

/// The `Retry-After` of a response, in milliseconds: seconds, or a date relative to the date of the response.
fn wait(headers: &HeaderMap) -> Option<i64> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse::<f64>() {
        return (seconds >= 0.0).then_some((seconds * 1_000.0).min(1e15) as i64);
    }
    let (until, sent) = (httpdate::parse_http_date(text).ok()?, headers.get(DATE)?.to_str().ok()?);
    let sent = httpdate::parse_http_date(sent).ok()?;
    Some(until.duration_since(sent).map_or(0, |wait| i64::try_from(wait.as_millis()).unwrap_or(i64::MAX)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fault(status: u16, headers: &[(&'static str, &str)], body: Value) -> Fault {
        let headers = headers
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap()));
        refusal(&Answer { status: StatusCode::from_u16(status).unwrap(), headers: headers.collect(), body })
    }

    #[test]
    fn refusals_of_every_system_are_understood() {
        let said = |status, body| fault(status, &[], body).said().to_owned();
        for (status, body, words) in [
            (
                401,
                json!({"status": "error", "message": "The OAuth token expired.", "category": "EXPIRED_AUTHENTICATION"}),
                "answered 401: EXPIRED_AUTHENTICATION: The OAuth token expired.",
            ),
            (
                403,
                json!([{"message": "TotalRequests Limit exceeded.", "errorCode": "REQUEST_LIMIT_EXCEEDED"}]),
                "answered 403: REQUEST_LIMIT_EXCEEDED: TotalRequests Limit exceeded.",
            ),
            (
                400,
                json!({"code": "INVALID_MODULE", "details": {}, "message": "the module is invalid", "status": "error"}),
                "answered 400: INVALID_MODULE: the module is invalid",
            ),
            (
                400,
                json!({"error": {"code": 400, "message": "Unable to parse range: Foo!A1", "status": "INVALID_ARGUMENT"}}),
                "answered 400: INVALID_ARGUMENT: Unable to parse range: Foo!A1",
            ),
            (401, json!({"errors": "[API] Invalid API key"}), "answered 401: [API] Invalid API key"),
            (
                400,
                json!({"error": "invalid_client", "error_description": "no such client"}),
                "answered 400: invalid_client: no such client",
            ),
            (404, Value::Null, "answered 404"),
            (302, Value::Null, "answered 302"),
        ] {
            assert_eq!(said(status, body), words);
        }
        assert_eq!(said(400, json!({"message": "x\u{7}\n".repeat(1_000)})).chars().count(), LONGEST_WORDS);
    }

    #[test]
    fn waits_are_read_and_a_503_without_one_is_a_failure() {
        let later = |wait| Fault::Later { wait, said: "answered 429".into() };
        let date = ("date", "Sat, 21 Nov 2026 05:30:00 GMT");
        for (headers, wait) in [
            (vec![], None),
            (vec![("retry-after", "30")], Some(30_000)),
            (vec![("retry-after", "2.0")], Some(2_000)),
            (vec![("retry-after", "-1")], None),
            (vec![("retry-after", "soon")], None),
            (vec![("retry-after", "Sat, 21 Nov 2026 05:31:00 GMT"), date], Some(60_000)),
            (vec![("retry-after", "Sat, 21 Nov 2026 05:29:00 GMT"), date], Some(0)),
            (vec![("retry-after", "Sat, 21 Nov 2026 05:31:00 GMT")], None),
        ] {
            assert_eq!(fault(429, &headers, Value::Null), later(wait), "{headers:?}");
        }
        assert_eq!(fault(503, &[], Value::Null).code(), "unclear");
        assert_eq!(fault(503, &[("retry-after", "7")], Value::Null).code(), "later");
        assert_eq!(fault(500, &[("retry-after", "7")], Value::Null).code(), "unclear");
    }
}
