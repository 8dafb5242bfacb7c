//! What a handler gets and gives.

use std::convert::Infallible;
use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use api::envelope::{Data, Page};
use api::error_codes;
use api::operation::Operation;
use bytes::Bytes;
use domain::actor::Actor;
use domain::ids::{Id, Kind};
use domain::tenant::Role;
use http::HeaderMap;
use http_body_util::Full;
use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use streams::ingest::StreamAuth;

use super::body::{Arriving, Held};
use crate::app::access::Caller;
use crate::app::idempotency::{Answer, Once};
use crate::app::limits::shares::Client;
use crate::app::operator_log::Trace;
use crate::app::sessions::SignedIn;
use crate::app::{App, Failure};
use crate::runtime::crypto::Keyring;
use crate::runtime::turns::Turn;

/// What a handler returns.
pub type Outcome = Result<Reply, Failure>;
type Running = Pin<Box<dyn Future<Output = Outcome> + Send>>;

/// A handler of an operation that anybody or the operator may call.
pub type OpenHandler = fn(Arc<App>, Request) -> Running;
/// A handler of an operation that needs a key.
pub type KeyedHandler = fn(Arc<App>, Caller, Request) -> Running;

/// How an operation is handled.
#[derive(Clone, Copy)]
pub enum Handler {
    /// Without a key; the router has checked the operator's token where it is needed.
    Open(OpenHandler),
    /// With a valid key that has the scope.
    Keyed(KeyedHandler),
}

/// Boxes an `async fn(Arc<App>, Request) -> Outcome`.
#[macro_export]
macro_rules! open {
    ($handler:path) => {
        $crate::http::handler::Handler::Open(|app, request| Box::pin($handler(app, request)))
    };
}

/// Boxes an `async fn(Arc<App>, Caller, Request) -> Outcome`.
#[macro_export]
macro_rules! keyed {
    ($handler:path) => {
        $crate::http::handler::Handler::Keyed(|app, caller, request| Box::pin($handler(app, caller, request)))
    };
}

/// The response to a subrequest, under way.
pub type Subresponse = Pin<Box<dyn Future<Output = http::Response<Body>> + Send>>;

/// Serves requests that a handler makes, the way of every request. The router does.
pub trait Subrequests: Send + Sync {
    /// Serves a request that comes from `client`.
    fn serve(
        self: Arc<Self>,
        app: Arc<App>,
        request: http::Request<Full<Bytes>>,
        client: IpAddr,
    ) -> Subresponse;
}

/// A request after the router's checks.
pub struct Request {
    /// Its row in the table.
    pub operation: &'static Operation,
    pub id: String,
    /// Path parameters by name.
    pub path: Vec<(&'static str, String)>,
    /// Query, checked, with defaults.
    pub query: Value,
    /// Body, checked, with defaults; null without one.
    pub body: Value,
    /// Body as it came, for uploads.
    pub raw: Bytes,
    /// Body that is read as it comes, where the row of the table says so.
    pub arriving: Option<Arriving>,
    pub headers: HeaderMap,
    /// Address of the client, seen through trusted proxies.
    pub client: IpAddr,
    /// Idempotency of this request.
    pub once: Once,
    /// The stream whose token the sender presented, where that is who may call.
    pub stream_auth: Option<StreamAuth>,
    /// The connection whose provider sent it, where that is who may call.
    pub hook: Option<channel::inbox::HookConnection>,
    /// The signed-in person, in a request of the console.
    pub signed_in: Option<Arc<SignedIn>>,
    /// Who makes the request, where it takes a key, a session or the operator's token.
    pub actor: Option<Actor>,
    /// The role of the member who makes it.
    pub role: Option<Role>,
    /// Whether only the head of the answer is wanted.
    pub is_head: bool,
    /// What its body takes of the bounds.
    pub held: Option<Held>,
    /// Serves requests that a handler makes of this one (`mcp`).
    pub subrequests: Arc<dyn Subrequests>,
}

impl Request {
    pub fn parameter(&self, name: &str) -> &str {
        self.path.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value)
    }

    /// A path parameter that is an id; an id of another form names nothing that exists.
    pub fn id_in_path<K: Kind>(&self, name: &str, what: &str) -> Result<Id<K>, Failure> {
        self.parameter(name).parse().map_err(|_| Failure::not_found(what))
    }

    /// The body as its type.
    pub fn body<T: DeserializeOwned>(&mut self) -> Result<T, Failure> {
        serde_json::from_value(self.body.take()).map_err(|why| {
            Failure::internal(format!("{}: body schema and type differ: {why}", self.operation.id))
        })
    }

    /// The signed-in person, where the row takes one.
    ///
    /// # Errors
    /// 500 where it does not.
    pub fn signed_in(&self) -> Result<&SignedIn, Failure> {
        self.signed_in.as_deref().ok_or_else(|| {
            Failure::internal(format!("{} takes a person, and none was checked", self.operation.id))
        })
    }

    /// A query parameter that is text.
    pub fn query_text(&self, name: &str) -> Option<&str> {
        self.query.get(name).and_then(Value::as_str)
    }

    /// A query parameter that is a whole number; its schema has a default.
    pub fn query_number(&self, name: &str) -> i64 {
        self.query.get(name).and_then(Value::as_i64).unwrap_or(0)
    }

    /// What an operator write says of itself in the operator log.
    pub fn trace(&self) -> Trace {
        Trace { operation: self.operation.id, request_id: self.id.clone() }
    }

    /// The idempotency of this request, to be used once.
    pub fn take_once(&mut self) -> Once {
        std::mem::replace(&mut self.once, Once::unkeyed())
    }

    /// The key after which a list goes on, from the cursor that this list gave.
    pub fn cursor(&self, app: &App) -> Result<Option<String>, Failure> {
        self.point(app, "cursor")
    }

    /// The same from a parameter of another name.
    pub fn point(&self, app: &App, name: &str) -> Result<Option<String>, Failure> {
        let Some(cursor) = self.query_text(name) else { return Ok(None) };
        read_cursor(&app.keyring, &self.list(), cursor).map(Some).ok_or_else(|| {
            Failure::new(
                error_codes::INVALID_CURSOR,
                format!("{name} is not one that this list returned; start again without it"),
            )
        })
    }

    /// The cursor for the rows after `key`.
    pub fn make_cursor(&self, app: &App, key: &str) -> String {
        make_cursor(&app.keyring, &self.list(), key)
    }

    /// Which list this request reads: cursors of one are none of another, such as that of another campaign.
    fn list(&self) -> String {
        self.path.iter().fold(self.operation.id.to_owned(), |list, (_, id)| format!("{list}/{id}"))
    }
}

pub(crate) fn make_cursor(keyring: &Keyring, list: &str, key: &str) -> String {
    format!("{}.{}", to_base64(key), keyring.sign(&format!("cursor:{list}:{key}")))
}

fn to_base64(text: &str) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(text)
}

pub(crate) fn read_cursor(keyring: &Keyring, list: &str, cursor: &str) -> Option<String> {
    use base64::Engine as _;
    let (key, signature) = cursor.split_once('.')?;
    let key = String::from_utf8(base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(key).ok()?).ok()?;
    keyring.verify(&format!("cursor:{list}:{key}"), signature).then_some(key)
}

/// Whether the client has what has this entity tag already, by `If-None-Match`.
pub fn is_known(headers: &HeaderMap, etag: &str) -> bool {
    let wanted = headers.get_all(http::header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    wanted
        .flat_map(|value| value.split(','))
        .map(|tag| tag.trim().trim_start_matches("W/"))
        .any(|tag| tag == etag || tag == "*")
}

/// An answer on its way out.
pub struct Reply {
    /// HTTP status.
    pub status: u16,
    pub content_type: &'static str,
    pub headers: Vec<(&'static str, String)>,
    pub body: Body,
    /// The turn in which it was read, until its bytes count.
    pub turn: Option<Turn<Client>>,
}

/// Body of an answer.
pub enum Body {
    /// All of it is there.
    Whole(Bytes),
    /// Made while it is sent.
    Flow(UnsyncBoxBody<Bytes, Infallible>),
}

/// A body that is all there.
pub fn full(bytes: impl Into<Bytes>) -> Body {
    Body::Whole(bytes.into())
}

/// Bytes at a time that the connection is given of an answer: it copies what it is given, and keeps that until the client
/// takes it.
const SLICE: usize = 32 * 1024;

impl HttpBody for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.get_mut() {
            Self::Whole(bytes) if bytes.is_empty() => Poll::Ready(None),
            Self::Whole(bytes) => {
                let length = bytes.len().min(SLICE);
                Poll::Ready(Some(Ok(Frame::data(bytes.split_to(length)))))
            }
            Self::Flow(body) => Pin::new(body).poll_frame(context),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(bytes) => bytes.is_empty(),
            Self::Flow(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Self::Flow(body) => body.size_hint(),
        }
    }
}

impl Reply {
    /// A body that is all there.
    pub fn bytes(status: u16, content_type: &'static str, bytes: impl Into<Bytes>) -> Self {
        Self::of(status, content_type, Vec::new(), full(bytes))
    }

    /// An answer with these headers and this body.
    pub fn of(
        status: u16,
        content_type: &'static str,
        headers: Vec<(&'static str, String)>,
        body: Body,
    ) -> Self {
        Self { status, content_type, headers, body, turn: None }
    }

    /// Bare JSON.
    pub fn json(status: u16, value: &impl Serialize) -> Outcome {
        let bytes = serde_json::to_vec(value).map_err(|why| Failure::internal(why.to_string()))?;
        Ok(Self::bytes(status, "application/json", bytes))
    }

    /// 204: nothing is left to say.
    pub fn nothing() -> Self {
        Self::of(204, "application/json", Vec::new(), full(Bytes::new()))
    }

    /// `{data: …}`.
    pub fn data(status: u16, data: &impl Serialize) -> Outcome {
        Self::json(status, &Data { data })
    }

    /// `{data: […], nextCursor}`.
    pub fn page<T: Serialize>(app: &App, request: &Request, data: &[T], next: Option<&str>) -> Outcome {
        Self::json(200, &Page { data, next_cursor: next.map(|key| request.make_cursor(app, key)) })
    }

    /// An answer that can be given again.
    pub fn answer(answer: Answer) -> Self {
        let mut reply = Self::bytes(answer.status, "application/json", answer.body);
        if answer.replayed {
            reply.headers.push(("idempotent-replayed", "true".into()));
        }
        reply
    }

    /// The error envelope.
    pub fn failure(failure: &Failure, request_id: &str) -> Self {
        let mut body = failure.body();
        if failure.error.status == 500 {
            body["requestId"] = json!(request_id);
        }
        let mut reply = Self::bytes(failure.error.status, "application/json", body.to_string());
        if let Some(seconds) = failure.retry_after {
            reply.headers.push(("retry-after", seconds.to_string()));
        }
        reply
    }
}
