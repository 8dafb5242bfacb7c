//! The way of every request: id, row of the table, key, limits, scope, test mode, query, body, schema,
//! handler, answer.

use std::collections::HashMap;
use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Instant;

use api::error_codes;
use api::operations::{self, Access, Idempotency, Method, Operation, TestKeys};
use api::schema::{self, Misfit, Schema, Unread, object};
use bytes::Bytes;
use domain::actor::Actor;
use domain::tenant::Mode;
use domain::trace::TraceContext;
use futures_util::FutureExt;
use http::{HeaderMap, HeaderName, HeaderValue, Response};
use http_body_util::Full;
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value, json};
use streams::ingest::StreamAuth;

use super::body::{Incoming, Sender, arriving};
use super::console::{self, Target};
use super::console_files;
use super::handler::{Body, Handler, Outcome, Reply, Request, Subrequests, Subresponse};
use super::{actions, answers, manual, masking};
use crate::app::access::{Caller, network_of};
use crate::app::idempotency::Once;
use crate::app::limits::answers::{may_ask, turn};
use crate::app::limits::rates::{self, Budget};
use crate::app::limits::shares::Client;
use crate::app::sessions::SignedIn;
use crate::app::{App, Failure, disk};
use crate::runtime::traces::{Span, SpanKind, carried};
use crate::runtime::{crypto, logs};

/// Routes that are no part of traces.
const UNTRACED: [&str; 3] = ["/healthz", "/readyz", "/metrics"];

/// All routes, each from its row in the table.
pub struct Router {
    paths: matchit::Router<HashMap<&'static str, Route>>,
}

struct Route {
    operation: &'static Operation,
    handler: Handler,
    query: Schema,
    body: Option<Schema>,
}

/// What is known of a request before it is served, for the log, the figures and the bounds.
struct Seen {
    operation: Option<&'static Operation>,
    budget: Option<Budget>,
    /// Who asks, with a key or a session.
    caller: Option<Caller>,
    /// Who takes the answer.
    client: Option<Client>,
}

/// What the checks of a request found.
#[derive(Default)]
pub(super) struct Admitted {
    pub caller: Option<Caller>,
    /// The signed-in person, in a request of the console.
    pub signed_in: Option<Arc<SignedIn>>,
    /// Who makes it, where it takes a key, a session or the operator's token.
    pub actor: Option<Actor>,
    pub budget: Option<Budget>,
    /// Why it is refused all the same; the budget is shown with it.
    pub refused: Option<Failure>,
}

impl Router {
    /// Builds the router; says which operations lack a handler, and which handlers lack an operation.
    pub fn new(handlers: Vec<(&'static str, Handler)>) -> Result<Self, String> {
        let mut by_id: HashMap<&str, Handler> = HashMap::new();
        for (id, handler) in handlers {
            if by_id.insert(id, handler).is_some() {
                return Err(format!("{id} has two handlers"));
            }
        }
        let mut by_path: HashMap<&'static str, HashMap<&'static str, Route>> = HashMap::new();
        for operation in operations::all() {
            let handler =
                by_id.remove(operation.id).ok_or_else(|| format!("{} has no handler", operation.id))?;
            by_path.entry(operation.path).or_default().insert(
                operation.method.as_str(),
                Route {
                    operation,
                    handler,
                    query: object(operation.query.map(|query| query()).unwrap_or_default()),
                    body: operation.body.map(|body| body()),
                },
            );
        }
        if let Some(id) = by_id.keys().next() {
            return Err(format!("handler {id} has no row in the table"));
        }
        let mut paths = matchit::Router::new();
        for (path, methods) in by_path {
            paths.insert(path, methods).map_err(|why| format!("{path}: {why}"))?;
        }
        Ok(Self { paths })
    }

    pub async fn serve<B>(
        self: &Arc<Self>,
        app: &Arc<App>,
        request: http::Request<B>,
        client: IpAddr,
    ) -> Response<Body>
    where
        B: hyper::body::Body<Data = Bytes> + Send + Unpin + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let started = Instant::now();
        let id = request_id(request.headers(), app);
        let method = request.method().clone();
        let mut seen = Seen { operation: None, budget: None, caller: None, client: None };
        let of_console = console_files::covers(request.uri().path());
        let of_manual = manual::covers(request.uri().path());
        let (head, body) = request.into_parts();
        let mut body = Incoming::new(body);
        let mut span = self.span(app, &head);
        let outcome = span.within(self.route(app, head, &mut body, client, &id, &mut seen)).await;
        let mut reply = outcome.unwrap_or_else(|failure| {
            if failure.error.status >= 500 {
                tracing::error!(
                    request = id,
                    code = failure.error.code,
                    cause = failure.cause,
                    "request failed"
                );
            }
            if failure.of_store {
                app.readiness.store_failed();
            }
            Reply::failure(&failure, &id)
        });
        if let Some(operation) = seen.operation {
            reply = masking::masked(app, seen.caller.as_ref(), operation, reply).await;
        }
        // What was read in a turn, for this answer alone, counts also if anybody may read it.
        let client = seen.client.or_else(|| reply.turn.as_ref().map(|_| Client::Stranger));
        if let Some(client) = client {
            reply = answers::held(app, client, &method, reply, &id);
        }
        if of_console {
            console_files::secure(&mut reply);
        } else if of_manual {
            manual::secure(&mut reply);
        }
        // What a stranger sends is not read. Others keep their connection if there is little left to read.
        if body.unread() && (reply.status == 401 || !body.pass_over().await) {
            reply.headers.push(("connection", "close".into()));
        }
        let (route_method, route) =
            seen.operation.map_or(("other", unlisted_route(of_console, of_manual)), |operation| {
                (operation.method.as_str(), operation.path)
            });
        let took = started.elapsed();
        app.metrics.request(route_method, route, reply.status, took);
        span.set("http.response.status_code", i64::from(reply.status));
        if reply.status >= 500 {
            span.failed(reply.status.to_string());
        }
        let workspace = seen.caller.as_ref().map(Caller::tenant).or(seen.client.and_then(Client::workspace));
        tracing::info!(
            target: logs::REQUESTS,
            request = id,
            method = route_method,
            route,
            status = reply.status,
            // To the first byte of the answer, in tenths.
            ms = (took.as_secs_f64() * 10_000.0).round() / 10.0,
            workspace = workspace.map(tracing::field::display),
            "served"
        );
        respond(reply, &id, seen.budget)
    }

    /// The span of a request, named by its route. What asks all the time whether the service is well has none.
    fn span(&self, app: &App, head: &http::request::Parts) -> Span {
        if !app.traces.on() {
            return Span::default();
        }
        let wanted = if head.method == http::Method::HEAD { "GET" } else { head.method.as_str() };
        let path = Target::of(head.uri.path()).path;
        let found = self.paths.at(path).ok().and_then(|found| found.value.get(wanted));
        let route = found.map(|route| route.operation.path);
        if route.is_some_and(|route| UNTRACED.contains(&route)) {
            return Span::default();
        }
        // A method of the sender's own making is not repeated.
        let method = found.map_or("_OTHER", |route| route.operation.method.as_str());
        let name = route.map_or_else(|| "HTTP".to_owned(), |route| format!("{method} {route}"));
        let mut span = app.traces.begin(SpanKind::Server, name, traceparent(&head.headers));
        span.set("http.request.method", method);
        if let Some(route) = route {
            span.set("http.route", route);
        }
        span
    }

    async fn route<B>(
        self: &Arc<Self>,
        app: &Arc<App>,
        head: http::request::Parts,
        body: &mut Incoming<B>,
        client: IpAddr,
        id: &str,
        seen: &mut Seen,
    ) -> Outcome
    where
        B: hyper::body::Body<Data = Bytes> + Send + Unpin + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let target = Target::of(head.uri.path());
        let found = match self.paths.at(target.path) {
            Ok(found) => found,
            Err(_) if console_files::covers(head.uri.path()) => {
                return console_files::answer(app, &head, id).await;
            }
            Err(_) if manual::covers(head.uri.path()) => return manual::answer(app, &head, id).await,
            Err(_) => {
                return Err(Failure::new(
                    error_codes::NOT_FOUND,
                    "the path does not exist; see GET /v1/openapi.json for all paths",
                ));
            }
        };
        // HEAD is GET without its body, which the server leaves away.
        let wanted = if head.method == http::Method::HEAD { "GET" } else { head.method.as_str() };
        let route = match found.value.get(wanted) {
            Some(route) => route,
            None => {
                let allowed: Vec<&str> = found.value.keys().copied().collect();
                let message = format!("this path supports only {}", allowed.join(", "));
                return Ok(Reply {
                    headers: vec![("allow", allowed.join(", "))],
                    ..Reply::failure(&Failure::new(error_codes::METHOD_NOT_ALLOWED, message), id)
                });
            }
        };
        let operation = route.operation;
        seen.operation = Some(operation);
        let mut path = Vec::new();
        for (name, value) in found.params.iter() {
            let name = operation.path.split(['{', '}']).find(|part| *part == name).unwrap_or_default();
            path.push((
                name,
                percent_decode(value).ok_or_else(|| Failure::field(name, "must be percent-encoded UTF-8"))?,
            ));
        }
        let admitted = if target.console {
            console::authorize(app, operation, target, &path, &head.headers, client).await?
        } else {
            authorize(app, operation, &head.headers, client).await?
        };
        seen.budget = admitted.budget;
        if let Some(refused) = admitted.refused {
            return Err(refused);
        }
        let Admitted { caller, signed_in, actor, .. } = admitted;
        seen.caller = caller.clone();
        let query = read_query(&route.query, head.uri.query().unwrap_or_default())?;
        let stream_auth = match operation.access {
            Access::StreamToken => Some(admit_sender(app, &path, &head.headers, &query, client, seen).await?),
            _ => None,
        };
        let hook = match operation.access {
            Access::Signed => Some(admit_provider(app, &path, client).await?),
            _ => None,
        };
        let sender = match &signed_in {
            Some(signed_in) => caller
                .as_ref()
                .map_or(Client::Person(signed_in.person.id), |caller| Client::Members(caller.tenant())),
            None => sender_of(operation.access, caller.as_ref(), stream_auth.as_ref(), hook.as_ref()),
        };
        // What anybody may read is the same bytes for all.
        if operation.access != Access::Public {
            may_ask(app, sender)?;
            seen.client = Some(sender);
        }
        // Deletions and the operator make room.
        if stores(operation.method) && operation.access != Access::Operator {
            disk::has_room(app)?;
        }
        let sender = Sender { client: sender, network: network_of(client) };
        let (pieces, arriving) = operation.body_arrives.then(arriving).unzip();
        let nothing_to_read = operation.access == Access::Public && operation.body.is_none();
        let (raw, mut held) = if nothing_to_read || pieces.is_some() {
            (Bytes::new(), None)
        } else {
            body.read(app, operation, sender).await?
        };
        if let (Some(held), Some(schema)) = (&mut held, &route.body)
            && !operation.body_raw
        {
            held.weigh(schema)?;
        }
        let key = read_key(operation, &head.headers)?;
        let parsed = parse_body(route, &raw)?;
        masking::refuse_masked(caller.as_ref(), &parsed)?;
        let who = (caller.as_ref(), signed_in.as_deref());
        let once = once(operation, who, (key, target.path), (&parsed, &raw), id);
        let is_head = head.method == http::Method::HEAD;
        let request = Request {
            operation,
            id: id.to_owned(),
            path,
            query,
            body: parsed,
            raw,
            arriving,
            headers: head.headers,
            client,
            once,
            stream_auth,
            hook,
            signed_in,
            actor,
            role: caller.as_ref().and_then(Caller::role),
            is_head,
            held,
            subrequests: self.clone(),
        };
        let turn = if operation.reads_whole() { Some(turn(app, sender.client).await?) } else { None };
        let running = run(app, route, caller, request);
        let outcome = match pieces {
            Some(pieces) => body.pass_on(app, sender, pieces, running).await,
            None => running.await,
        };
        outcome.map(|reply| Reply { turn: reply.turn.or(turn), ..reply })
    }
}

/// What the figures call a request that no row of the table takes.
fn unlisted_route(of_console: bool, of_manual: bool) -> &'static str {
    match (of_console, of_manual) {
        (true, _) => "/console/",
        (_, true) => "/docs/",
        _ => "other",
    }
}

impl Subrequests for Router {
    fn serve(
        self: Arc<Self>,
        app: Arc<App>,
        request: http::Request<Full<Bytes>>,
        client: IpAddr,
    ) -> Subresponse {
        Box::pin(async move { Self::serve(&self, &app, request, client).await })
    }
}

/// Whose bounds the body and the answer of a request count toward.
fn sender_of(
    access: Access,
    caller: Option<&Caller>,
    stream_auth: Option<&StreamAuth>,
    hook: Option<&channel::inbox::HookConnection>,
) -> Client {
    match (access, caller) {
        (_, Some(caller)) => Client::Workspace(caller.tenant()),
        (Access::StreamToken, None) => {
            stream_auth.map_or(Client::Stranger, |stream_auth| Client::Stream(stream_auth.tenant))
        }
        (Access::Signed, None) => hook.map_or(Client::Stranger, |hook| Client::Hook(hook.tenant())),
        (Access::Operator, None) => Client::Operator,
        (_, None) => Client::Stranger,
    }
}

/// Lets in who sends records with the token of the stream in the path: from the header, else from the query.
async fn admit_sender(
    app: &Arc<App>,
    path: &[(&'static str, String)],
    headers: &HeaderMap,
    query: &Value,
    client: IpAddr,
    seen: &mut Seen,
) -> Result<StreamAuth, Failure> {
    let id = path.first().map_or("", |(_, id)| id.as_str());
    let token = bearer(headers).or_else(|| query.get("token").and_then(Value::as_str));
    let (budget, admitted) = streams::ingest::admit(app, id, token, client).await;
    seen.budget = budget;
    admitted
}

/// Finds the connection whose provider sends a notification; its signature is checked once the body is read.
async fn admit_provider(
    app: &Arc<App>,
    path: &[(&'static str, String)],
    client: IpAddr,
) -> Result<channel::inbox::HookConnection, Failure> {
    let id = path.first().map_or("", |(_, id)| id.as_str());
    channel::inbox::hook_connection(app, id).await.map_err(|failure| app.hook_refused(client, failure))
}

/// Runs the handler. What changes something runs to its end even if the client hangs up meanwhile.
async fn run(app: &Arc<App>, route: &Route, caller: Option<Caller>, request: Request) -> Outcome {
    let recorder = actions::recorder(app, caller.as_ref(), &request);
    let running = match (route.handler, caller) {
        (Handler::Open(handler), _) => handler(app.clone(), request),
        (Handler::Keyed(handler), Some(caller)) => handler(app.clone(), caller, request),
        (Handler::Keyed(_), None) => return Err(Failure::internal("a keyed handler without a key")),
    };
    let panicked = || Failure::internal(format!("{} panicked", route.operation.id));
    if route.operation.method == Method::GET {
        // A read stops when its client hangs up.
        return AssertUnwindSafe(running).catch_unwind().await.unwrap_or_else(|_| Err(panicked()));
    }
    tokio::spawn(carried(actions::recorded(recorder, running))).await.unwrap_or_else(|_| Err(panicked()))
}

/// Whether requests of a method may store something new.
fn stores(method: Method) -> bool {
    matches!(method, Method::POST | Method::PUT | Method::PATCH)
}

/// Where the client stands in its own trace, if it says so once and in the right form.
fn traceparent(headers: &HeaderMap) -> Option<TraceContext> {
    let mut sent = headers.get_all("traceparent").iter();
    match (sent.next(), sent.next()) {
        (Some(one), None) => one.to_str().ok()?.trim().parse().ok(),
        _ => None,
    }
}

/// The client's own request id if it has the right form, else a new one.
fn request_id(headers: &HeaderMap, app: &App) -> String {
    let sent = headers.get("x-request-id").and_then(|value| value.to_str().ok());
    match sent {
        Some(text)
            if (8..=64).contains(&text.len())
                && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte)) =>
        {
            text.to_owned()
        }
        _ => format!("req_{}", app.ids.random_text(20)),
    }
}

/// The token of an `Authorization: Bearer` header.
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(http::header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim()).filter(|token| !token.is_empty())
}

/// Whether the sender may see the figures of the service. An address counts only when no proxy spoke for it.
pub fn sees_figures(app: &App, headers: &HeaderMap, client: IpAddr) -> bool {
    let forwarded =
        ["x-forwarded-for", "forwarded", "via"].into_iter().any(|name| headers.contains_key(name));
    app.may_see_metrics(bearer(headers), (!forwarded).then_some(client))
}

/// Checks the key or token, the workspace, the limits, the scope and the test mode, in this order. A cookie counts for
/// nothing here.
async fn authorize(
    app: &Arc<App>,
    operation: &Operation,
    headers: &HeaderMap,
    client: IpAddr,
) -> Result<Admitted, Failure> {
    let now = app.clock.now();
    let missing = |message: &str| Failure::new(error_codes::UNAUTHORIZED, message);
    let token = bearer(headers);
    let nobody = Admitted::default;
    match operation.access {
        // The token of a stream is looked at once the query is read.
        Access::Public | Access::StreamToken | Access::Signed => return Ok(nobody()),
        Access::Operator => {
            return match token {
                Some(token) if app.is_operator(token) => {
                    Ok(Admitted { actor: Some(Actor::Operator), ..nobody() })
                }
                Some(_) => Err(app.invalid_key(client, "the operator token is not valid")),
                None => Err(missing("send the operator token as Authorization: Bearer")),
            };
        }
        Access::Figures => {
            return match token {
                _ if sees_figures(app, headers, client) => Ok(nobody()),
                Some(_) => {
                    Err(app.invalid_key(client, "the token is neither metrics_token nor the operator's"))
                }
                // Without a token a client learns that the service is up, and nothing of its traffic.
                None => Ok(nobody()),
            };
        }
        Access::Member | Access::Person => {
            return Err(missing("no key can call this: it takes a member's session, below /console/api/"));
        }
        Access::AnyKey | Access::Scope(_) | Access::Scopes(..) => {}
    }
    let Some(token) = token else { return Err(missing("send an API key as Authorization: Bearer")) };
    let caller = app.admit_key(token, client).await?;
    if caller.0.workspace.suspended {
        return Err(suspended());
    }
    let (budget, within) = rates::admit(app, &caller, operation.rate, now).await;
    let refused = within.and_then(|()| may(operation, &caller)).err();
    let actor = Some(caller.actor());
    Ok(Admitted { caller: Some(caller), signed_in: None, actor, budget: Some(budget), refused })
}

/// The workspace of the caller is suspended.
pub(super) fn suspended() -> Failure {
    let message = "the workspace is suspended; ask the operator to lift the suspension";
    Failure::new(error_codes::WORKSPACE_SUSPENDED, message)
}

/// Test mode cannot change this.
pub(super) fn test_mode_refused() -> Failure {
    Failure::new(error_codes::TEST_MODE_READ_ONLY, "a test key cannot change this; use a live key")
}

/// Refuses a key without the scope, and a test key where it may not write.
fn may(operation: &Operation, caller: &Caller) -> Result<(), Failure> {
    match operation.access {
        Access::Scope(scope) => caller.need(scope)?,
        Access::Scopes(one, other) => {
            caller.need(one)?;
            caller.need(other)?;
        }
        Access::Public
        | Access::StreamToken
        | Access::Signed
        | Access::Operator
        | Access::Figures
        | Access::Member
        | Access::Person
        | Access::AnyKey => {}
    }
    if operation.test_keys == TestKeys::Refused && caller.mode() == Mode::Test {
        return Err(test_mode_refused());
    }
    Ok(())
}

pub(crate) fn read_query(schema: &Schema, text: &str) -> Result<Value, Failure> {
    let mut query = Map::new();
    let fields = schema.fields();
    for pair in text.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let Some(field) = percent_decode(&name.replace('+', " "))
            .and_then(|name| fields.iter().find(|field| field.name == name))
        else {
            continue;
        };
        let value = percent_decode(&value.replace('+', " "))
            .ok_or_else(|| Failure::field(&field.name, "must be percent-encoded UTF-8"))?;
        // An empty parameter is an absent one.
        if !value.is_empty() {
            query.insert(field.name.to_string(), field.schema.from_text(value));
        }
    }
    let mut query = Value::Object(query);
    schema.check(&mut query).map_err(|misfit| Failure::field(&misfit.field, misfit.must))?;
    Ok(query)
}

fn parse_body(route: &Route, raw: &Bytes) -> Result<Value, Failure> {
    let read_by_handler = route.operation.body_raw || route.operation.body_arrives;
    let Some(schema) = route.body.as_ref().filter(|_| !read_by_handler) else {
        return Ok(Value::Null);
    };
    let mut body = if raw.is_empty() && route.operation.body_optional {
        json!({})
    } else {
        schema::parse(schema, raw).map_err(unread)?
    };
    schema.drop_nulls(&mut body);
    schema.check(&mut body).map_err(refused)?;
    Ok(body)
}

/// What a client is told about a body that cannot be read.
pub(crate) fn unread(why: Unread) -> Failure {
    match why {
        Unread::Malformed(why) => {
            Failure::new(error_codes::MALFORMED_JSON, format!("the body is not JSON: {why}"))
        }
        Unread::Misfit(misfit) => refused(misfit),
    }
}

/// What a client is told about a body that does not fit.
fn refused(misfit: Misfit) -> Failure {
    if !misfit.unknown.is_empty() {
        let meant = misfit.must.split_once("; ").map_or("remove or rename them", |(_, meant)| meant);
        let message =
            format!("the body has fields that do not exist: {}; {meant}", misfit.unknown.join(", "));
        return Failure::new(error_codes::UNKNOWN_FIELD, message)
            .with_meta(json!({"fields": misfit.unknown}));
    }
    let field = if misfit.field.is_empty() { "body" } else { &misfit.field };
    let failure = Failure::field(field, &misfit.must);
    match misfit.error {
        None => failure,
        Some(error) => {
            let key = field.split_once('.').map_or(field, |(_, key)| key);
            Failure { error, ..failure.with_meta(json!({"key": key, "field": field})) }
        }
    }
}

/// The idempotency key of a request, from its header.
pub(crate) fn read_key(operation: &Operation, headers: &HeaderMap) -> Result<Option<String>, Failure> {
    if operation.idempotency == Idempotency::Ignored {
        return Ok(None);
    }
    let invalid = |message: &str| Failure::new(error_codes::INVALID_IDEMPOTENCY_KEY, message);
    let Some(key) = headers.get("idempotency-key") else {
        return match operation.idempotency {
            Idempotency::Required => {
                Err(invalid("the header Idempotency-Key is required; send 1 to 255 characters"))
            }
            _ => Ok(None),
        };
    };
    let key = key.to_str().map_err(|_| invalid("Idempotency-Key must be plain text"))?.trim();
    if key.is_empty() || key.chars().count() > 255 {
        return Err(invalid("Idempotency-Key must have 1 to 255 characters"));
    }
    Ok(Some(key.to_owned()))
}

/// The idempotency of a request. What its body says counts, not how it is written: neither the order of names nor white
/// space. A body that is not read as JSON counts as it came.
fn once(
    operation: &'static Operation,
    (caller, signed_in): (Option<&Caller>, Option<&SignedIn>),
    (key, path): (Option<String>, &str),
    (body, raw): (&Value, &Bytes),
    id: &str,
) -> Once {
    let Some(key) = key else { return Once::unkeyed() };
    // The keys of each person are its own. No header can have the line break.
    let key = signed_in.map(|who| format!("{}\n{key}", who.person.id)).unwrap_or(key);
    let as_it_came = crypto::sha256_of(&[path.as_bytes(), b"\n", raw]);
    let fingerprint = if body.is_null() {
        as_it_came.clone()
    } else {
        crypto::sha256_of(&[path.as_bytes(), b"\n", sorted(body).to_string().as_bytes()])
    };
    let (workspace, mode) =
        caller.map_or((String::new(), Mode::Live), |caller| (caller.tenant().to_string(), caller.mode()));
    Once::keyed(workspace, mode, operation.id, key, fingerprint, id.to_owned()).or_former(as_it_came)
}

/// The same value with the names of its objects in order.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut names: Vec<&String> = map.keys().collect();
            names.sort_unstable();
            Value::Object(names.into_iter().map(|name| (name.clone(), sorted(&map[name]))).collect())
        }
        Value::Array(values) => Value::Array(values.iter().map(sorted).collect()),
        other => other.clone(),
    }
}

/// Undoes percent encoding. `None` when a `%` is not followed by two hex digits, or the bytes are not UTF-8 or
/// hold U+0000.
pub fn percent_decode(text: &str) -> Option<String> {
    let is_code = |rest: &[u8]| rest.len() >= 2 && rest[..2].iter().all(u8::is_ascii_hexdigit);
    if !text.as_bytes().split(|byte| *byte == b'%').skip(1).all(is_code) {
        return None;
    }
    let text = percent_decode_str(text).decode_utf8().ok()?;
    (!text.contains('\0')).then(|| text.into_owned())
}

fn respond(reply: Reply, id: &str, budget: Option<Budget>) -> Response<Body> {
    let mut response = Response::new(reply.body);
    *response.status_mut() =
        http::StatusCode::from_u16(reply.status).unwrap_or(http::StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    headers.insert(http::header::CONTENT_TYPE, HeaderValue::from_static(reply.content_type));
    let mut put = |name: &'static str, value: &str| {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.insert(HeaderName::from_static(name), value);
        }
    };
    put("x-request-id", id);
    put("cache-control", "no-store");
    put("x-content-type-options", "nosniff");
    if reply.status == 401 {
        put("www-authenticate", "Bearer");
    }
    if let Some(budget) = budget {
        put("x-ratelimit-limit", &budget.limit.to_string());
        put("x-ratelimit-remaining", &budget.remaining.to_string());
        put("x-ratelimit-reset", &budget.reset.to_string());
    }
    for (name, value) in &reply.headers {
        put(name, value);
    }
    // An answer may set several.
    headers.remove(http::header::SET_COOKIE);
    for (_, value) in reply.headers.iter().filter(|(name, _)| *name == "set-cookie") {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.append(http::header::SET_COOKIE, value);
        }
    }
    response
}
