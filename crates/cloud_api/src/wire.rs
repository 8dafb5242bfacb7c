//! One exchange with the API, and what an answer without success means.

use bytes::Bytes;
use domain::channel::errors::{Effect, ProviderError, title};
use domain::channel::provider::{Account, Fault};
use domain::secret::Secret;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use providers::guarded_client::{GuardedClient, Limits, Phase, Request, Response, SendError, Target};
use providers::http::encoded;
use serde_json::Value;

use crate::Cloud;

/// What is read of an answer.
pub(crate) const SMALL: usize = 256 * 1024;
/// What is read of a page of templates.
pub(crate) const LARGE: usize = 8 << 20;
/// Longest words of the API that are passed on, in characters.
const LONGEST_WORDS: usize = 300;

/// Why there is no answer, or which one.
#[derive(Debug)]
pub(crate) enum Unanswered {
    Unsent(String),
    /// It may have been received.
    Unclear(String),
}

pub(crate) struct Ask {
    method: Method,
    path: String,
    headers: Vec<(HeaderName, String)>,
    body: Bytes,
    most: usize,
    unrepeated: bool,
}

/// A path of these parts, each percent-encoded, with these parameters.
pub(crate) fn path(parts: &[&str], query: &[(&str, &str)]) -> String {
    let mut whole = String::new();
    for part in parts {
        whole.push('/');
        whole.push_str(&encoded(part).to_string());
    }
    for (at, (name, value)) in query.iter().enumerate() {
        whole.push(if at == 0 { '?' } else { '&' });
        whole.push_str(&format!("{}={}", encoded(name), encoded(value)));
    }
    whole
}

impl Ask {
    fn new(method: Method, path: String) -> Self {
        Self {
            method,
            path,
            headers: vec![(ACCEPT, "application/json".into())],
            body: Bytes::new(),
            most: SMALL,
            unrepeated: false,
        }
    }

    pub(crate) fn get(path: String) -> Self {
        Self::new(Method::GET, path)
    }

    pub(crate) fn delete(path: String) -> Self {
        Self::new(Method::DELETE, path)
    }

    pub(crate) fn post(path: String, body: &Value) -> Self {
        Self::bytes(path, "application/json", body.to_string().into())
    }

    pub(crate) fn bytes(path: String, content_type: &str, body: Bytes) -> Self {
        let ask = Self::new(Method::POST, path).with(CONTENT_TYPE, content_type);
        Self { body, ..ask }
    }

    pub(crate) fn with(mut self, name: HeaderName, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub(crate) fn up_to(self, most: usize) -> Self {
        Self { most, ..self }
    }

    /// Must not be received twice.
    pub(crate) fn unrepeated(self) -> Self {
        Self { unrepeated: true, ..self }
    }
}

pub(crate) struct Answered {
    pub(crate) status: StatusCode,
    /// Its JSON; null without a body, or when an answer without success has none.
    pub(crate) body: Value,
}

impl Cloud {
    /// The client, and the address of a path of the API.
    fn target(&self, path: &str) -> Result<(&GuardedClient, Target), Unanswered> {
        let client = self.client.as_ref().map_err(|why| Unanswered::Unsent(why.clone()))?;
        let place = format!("/{}{path}", self.settings.version);
        let target = client
            .check_url(&self.settings.base_url)
            .and_then(|target| target.below(&place))
            .map_err(|why| Unanswered::Unsent(format!("the address of the API cannot be used: {why}")))?;
        Ok((client, target))
    }

    /// Sends a request with the account's token.
    pub(crate) async fn exchange(&self, account: &Account, ask: Ask) -> Result<Answered, Unanswered> {
        let ask = if ask.headers.iter().any(|(name, _)| *name == AUTHORIZATION) {
            ask
        } else {
            ask.with(AUTHORIZATION, format!("Bearer {}", &*account.token))
        };
        let (client, target) = self.target(&ask.path)?;
        let limits = Limits { deadline: self.settings.timeout, max_response_bytes: ask.most };
        let request = Request { method: ask.method, target, headers: headers(&ask.headers)?, body: ask.body };
        let sent = match &self.stand_in {
            Some(stand_in) => stand_in.send(request, limits).await,
            None if ask.unrepeated => client.send_unrepeated(request, limits).await,
            None => client.send(request, limits).await,
        };
        read(sent.map_err(|why| unsent(&why))?)
    }

    /// The bytes behind an address that the API gave. The token goes along, but to no host that the first one
    /// leads to.
    pub(crate) async fn download(
        &self,
        token: &Secret,
        url: &str,
        most: usize,
    ) -> Result<Response, Unanswered> {
        let client = self.client.as_ref().map_err(|why| Unanswered::Unsent(why.clone()))?;
        let limits = Limits { deadline: self.settings.timeout, max_response_bytes: most };
        let mut url = url.to_owned();
        let mut first_host = None;
        for _ in 0..=REDIRECTS {
            let target = client.check_url(&url).map_err(|why| {
                Unanswered::Unsent(format!("the address of the file cannot be used: {why}"))
            })?;
            let host = (target.host(), target.port());
            let mut given = Vec::new();
            if *first_host.get_or_insert_with(|| host.clone()) == host {
                given.push((AUTHORIZATION, format!("Bearer {}", &**token)));
            }
            let request =
                Request { method: Method::GET, target, headers: headers(&given)?, body: Bytes::new() };
            let response = client.send(request, limits).await.map_err(|why| unsent(&why))?;
            let location = response.headers.get(http::header::LOCATION).and_then(|value| value.to_str().ok());
            match location {
                Some(next) if response.status.is_redirection() => next.clone_into(&mut url),
                _ => return Ok(response),
            }
        }
        Err(Unanswered::Unclear("the file's address leads from one place to the next".into()))
    }
}

/// Redirects of a file that are followed.
const REDIRECTS: usize = 3;

fn headers(given: &[(HeaderName, String)]) -> Result<HeaderMap, Unanswered> {
    let mut headers = HeaderMap::new();
    for (name, value) in given {
        let mut value = HeaderValue::from_str(value)
            .map_err(|_| Unanswered::Unsent("the access token has characters that cannot be sent".into()))?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}

fn unsent(why: &SendError) -> Unanswered {
    let said = why.to_string();
    match why {
        SendError::DnsFailed
        | SendError::AddressRefused(_)
        | SendError::ConnectFailed(_)
        | SendError::TlsFailed(_)
        | SendError::Overloaded
        | SendError::RequestRefused(_)
        | SendError::Timeout(Phase::Dns | Phase::Connect | Phase::Tls) => Unanswered::Unsent(said),
        SendError::Timeout(_) | SendError::Closed(_) | SendError::HeadTooLarge | SendError::BadAnswer(_) => {
            Unanswered::Unclear(said)
        }
    }
}

fn read(response: Response) -> Result<Answered, Unanswered> {
    if response.truncated {
        return Err(Unanswered::Unclear("an answer that is too long".into()));
    }
    let empty = response.body.iter().all(u8::is_ascii_whitespace);
    let body = if empty { Some(Value::Null) } else { serde_json::from_slice(&response.body).ok() };
    let body = match body {
        Some(body) => body,
        // An error page says nothing of use.
        None if !response.status.is_success() => Value::Null,
        None => return Err(Unanswered::Unclear("an answer that is not JSON".into())),
    };
    Ok(Answered { status: response.status, body })
}

/// The JSON of an answer whose status says that all is well; for requests that may be made again.
pub(crate) fn accepted(account: &Account, answer: Result<Answered, Unanswered>) -> Result<Value, Fault> {
    let answered = match answer {
        Ok(answered) => answered,
        Err(Unanswered::Unsent(said)) => return Err(Fault::Later(unreached(&said))),
        Err(Unanswered::Unclear(said)) => return Err(Fault::Unclear(said)),
    };
    if answered.status.is_success() && answered.body.get("error").is_none() {
        return Ok(answered.body);
    }
    let error = refusal(account, &answered);
    match error {
        None => Err(Fault::Unclear(format!("answered {}", answered.status.as_u16()))),
        Some(error) if error.effect() == Effect::Unclear => Err(Fault::Unclear(error.detail)),
        Some(error) if error.effect().wait().is_some() => Err(Fault::Later(error)),
        Some(error) => Err(Fault::Refused(error)),
    }
}

/// An error for a request that did not get there.
pub(crate) fn unreached(said: &str) -> ProviderError {
    ProviderError { code: UNREACHED, title: "not_reached".into(), detail: said.to_owned() }
}

/// The code of our own for a provider that is not reached.
pub(crate) const UNREACHED: i64 = -2001;

/// What an answer without success says; `None` when it says nothing, so that it may have been carried out.
pub(crate) fn refusal(account: &Account, answered: &Answered) -> Option<ProviderError> {
    let error = answered.body.get("error").filter(|error| error.is_object());
    let status = answered.status.as_u16();
    let Some(error) = error else {
        return match status {
            401 => Some(ProviderError::of(190, "answered 401")),
            403 => Some(ProviderError::of(10, "answered 403")),
            429 => Some(ProviderError::of(4, "answered 429")),
            300..=499 if status != 408 => Some(ProviderError {
                code: i64::from(status),
                title: "refused".into(),
                detail: format!("answered {status}"),
            }),
            _ => None,
        };
    };
    let code = error.get("code").and_then(as_code);
    let code = match (code, status) {
        (Some(code), _) => code,
        (None, 500..) => return None,
        (None, 401) => 190,
        (None, status) => i64::from(status),
    };
    let known = title(code) != "refused" || (200..=299).contains(&code);
    if status >= 500 && !known {
        return None;
    }
    Some(ProviderError { code, title: title(code).to_owned(), detail: words(account, error) })
}

/// A code, as a number or as digits.
pub(crate) fn as_code(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_str()?.parse().ok())
}

/// What the API says of an error, on one line, without the token: systems repeat what they were given.
fn words(account: &Account, error: &Value) -> String {
    let text = |pointer: &str| error.pointer(pointer).and_then(Value::as_str).filter(|text| !text.is_empty());
    let said = text("/error_data/details")
        .or_else(|| text("/error_user_msg"))
        .or_else(|| text("/message"))
        .unwrap_or("no details");
    let said = match error.get("error_subcode").and_then(as_code) {
        Some(subcode) => format!("{said} (subcode {subcode})"),
        None => said.to_owned(),
    };
    let said = if account.token.is_empty() { said } else { said.replace(&*account.token, "***") };
    one_line(&said, LONGEST_WORDS)
}

/// A text on one line, cut to a length.
pub(crate) fn one_line(text: &str, most: usize) -> String {
    text.chars().map(|sign| if sign.is_control() { ' ' } else { sign }).take(most).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use domain::channel::ProviderKind;
    use domain::ids::Id;
    use serde_json::json;

    use super::*;

    pub(crate) fn account() -> Account {
        Account {
            connection: Id::from_bits(1),
            tenant: Id::from_bits(2),
            provider: ProviderKind::Cloud,
            business_account: "102".into(),
            app: Some("77".into()),
            token: Secret::from("EAAtoken"),
            version: 0,
        }
    }

    fn said(status: u16, body: Value) -> Option<(i64, String)> {
        let answered = Answered { status: StatusCode::from_u16(status).unwrap(), body };
        refusal(&account(), &answered).map(|error| (error.code, error.detail))
    }

    #[tokio::test]
    async fn a_file_that_is_said_to_lie_inside_is_not_asked_for() {
        let inside = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let near = inside.local_addr().unwrap();
        let settings = providers::settings::CloudApi {
            base_url: "https://graph.example.com".into(),
            version: "v25.0".into(),
            timeout: std::time::Duration::from_secs(10),
            allow_insecure: false,
        };
        let cloud = Cloud::new(&settings);
        for url in [
            format!("http://{near}/a"),
            format!("https://{near}/a"),
            format!("https://localhost:{}/a", near.port()),
            "https://[::1]/a".into(),
            "https://[::ffff:127.0.0.1]/a".into(),
            "https://169.254.169.254/latest/meta-data".into(),
            "https://10.0.0.1/a".into(),
            "https://2130706433/a".into(),
            "file:///etc/passwd".into(),
        ] {
            let got = cloud.download(&Secret::from("EAAtoken"), &url, 1_024).await;
            assert!(matches!(got, Err(Unanswered::Unsent(_))), "{url}");
        }
        let accepted = std::future::poll_fn(|context| std::task::Poll::Ready(inside.poll_accept(context)));
        assert!(accepted.await.is_pending(), "nobody has connected");
    }

    #[test]
    fn refusals_are_read_and_what_says_nothing_is_none() {
        let error = |code: i64, more: Value| {
            let mut error =
                json!({"message": "(#1) words", "type": "OAuthException", "code": code, "fbtrace_id": "A"});
            error.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
            json!({"error": error})
        };
        for (status, body, expected) in [
            (
                400,
                error(131_030, json!({"error_data": {"details": "not allowed"}})),
                Some((131_030, "not allowed")),
            ),
            (
                400,
                error(100, json!({"error_subcode": 2_388_040, "error_user_msg": "too long"})),
                Some((100, "too long (subcode 2388040)")),
            ),
            (
                401,
                error(190, json!({"message": "Token EAAtoken is expired"})),
                Some((190, "Token *** is expired")),
            ),
            (500, error(133_010, json!({})), Some((133_010, "(#1) words"))),
            (500, error(131_000, json!({})), Some((131_000, "(#1) words"))),
            (500, error(999_999, json!({})), None),
            (400, error(999_999, json!({})), Some((999_999, "(#1) words"))),
            (500, Value::Null, None),
            (503, json!({"error": "busy"}), None),
            (408, Value::Null, None),
            (401, Value::Null, Some((190, "answered 401"))),
            (403, Value::Null, Some((10, "answered 403"))),
            (429, Value::Null, Some((4, "answered 429"))),
            (404, Value::Null, Some((404, "answered 404"))),
            (302, Value::Null, Some((302, "answered 302"))),
            (400, json!({"error": {"code": "131047", "message": "a\nb"}}), Some((131_047, "a b"))),
            (400, json!({"error": {"message": "no code"}}), Some((400, "no code"))),
        ] {
            let expected = expected.map(|(code, detail)| (code, detail.to_owned()));
            assert_eq!(said(status, body.clone()), expected, "{status} {body}");
        }
    }

    #[test]
    fn paths_are_encoded() {
        assert_eq!(
            path(&["10/2", "message_templates"], &[("name", "a b"), ("limit", "1")]),
            "/10%2F2/message_templates?name=a%20b&limit=1"
        );
    }
}
