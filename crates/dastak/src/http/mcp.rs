//! `POST /mcp` (docs/contract/mcp.md): what a tool does is a request of its own, which goes the way of every request.

use std::net::IpAddr;
use std::sync::Arc;

use api::schema::{self, Unread};
use api::scopes;
use bytes::Bytes;
use domain::tenant::Mode;
use http::{HeaderMap, HeaderName, HeaderValue, header};
use http_body_util::{BodyExt, Full};
use mcp::streamable_http::{INVALID_REQUEST, PARSE_ERROR, answer, error};
use mcp::{Answer, Answering, Api, Key, MAX_ANSWER, Server};
use serde_json::Value;

use super::console::{cross_site, is_own};
use super::handler::{Body, Handler, Outcome, Reply, Request, Subrequests};
use crate::app::access::Caller;
use crate::app::{App, Failure};
use crate::config::Config;
use crate::keyed;

/// Headers of the client's request that its tool's request has, too: the key, and what logs and traces say of it.
const PASSED_ON: [HeaderName; 3] =
    [header::AUTHORIZATION, header::USER_AGENT, HeaderName::from_static("traceparent")];

/// The handler by operation.
pub fn handlers() -> Vec<(&'static str, Handler)> {
    vec![(api::mcp::ID, keyed!(message))]
}

async fn message(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    same_origin(&app.config, &request.headers)?;
    if let Err((code, why)) = one_message(&request) {
        return Ok(Reply::bytes(400, "application/json", error(code, &why)));
    }
    let key = Key {
        live: caller.mode() == Mode::Live,
        scopes: scopes::ALL
            .iter()
            .filter(|scope| caller.has(**scope))
            .map(|scope| scope.0.to_owned())
            .collect(),
    };
    let mut headers = HeaderMap::new();
    for name in PASSED_ON {
        if let Some(value) = request.headers.get(&name) {
            headers.insert(name, value.clone());
        }
    }
    if let Ok(id) = HeaderValue::from_str(&request.id) {
        headers.insert(HeaderName::from_static("x-request-id"), id);
    }
    let brand = app.config.brand.clone();
    let api = Within { app, subrequests: request.subrequests, headers, client: request.client };
    let (status, body) = answer(Server::new(api, key, &brand), &request.headers, request.raw).await;
    Ok(Reply::bytes(status, "application/json", body))
}

/// Refuses what a page of another site sends: the server may be one that only this machine reaches.
fn same_origin(config: &Config, headers: &HeaderMap) -> Result<(), Failure> {
    let own = |origin: &HeaderValue| origin.to_str().is_ok_and(|origin| is_own(config, headers, origin));
    if headers.get_all(header::ORIGIN).iter().all(own) { Ok(()) } else { Err(cross_site()) }
}

/// Checks that the body is one message within the bounds of bodies.
fn one_message(request: &Request) -> Result<(), (i32, String)> {
    let Some(shape) = request.operation.body else { return Ok(()) };
    match schema::parse(&shape(), &request.raw) {
        Ok(Value::Object(_)) => Ok(()),
        Ok(Value::Array(_)) => {
            Err((INVALID_REQUEST, "batches are not supported; send one message in a request".into()))
        }
        Ok(_) => Err((INVALID_REQUEST, "the message must be an object of JSON-RPC 2.0".into())),
        Err(Unread::Malformed(why)) => Err((PARSE_ERROR, format!("the body is not JSON: {why}"))),
        Err(Unread::Misfit(misfit)) => Err((INVALID_REQUEST, format!("{} {}", misfit.field, misfit.must))),
    }
}

/// The API within this process.
struct Within {
    app: Arc<App>,
    subrequests: Arc<dyn Subrequests>,
    headers: HeaderMap,
    client: IpAddr,
}

impl Api for Within {
    fn send(&self, wanted: mcp::Request) -> Answering {
        let (app, subrequests, client) = (self.app.clone(), self.subrequests.clone(), self.client);
        let mut headers = self.headers.clone();
        Box::pin(async move {
            headers.insert(header::ACCEPT, HeaderValue::from_static("application/json"));
            if !wanted.body.is_empty() {
                headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
            }
            if let Some(key) = wanted.idempotency_key {
                let key = HeaderValue::from_str(&key).map_err(|why| why.to_string())?;
                headers.insert(HeaderName::from_static("idempotency-key"), key);
            }
            let mut request = http::Request::builder().method(wanted.method).uri(wanted.target);
            if let Some(of_request) = request.headers_mut() {
                *of_request = headers;
            }
            let request = request.body(Full::new(wanted.body)).map_err(|why| why.to_string())?;
            let response = subrequests.serve(app, request, client).await;
            Ok(read(response).await)
        })
    }

    fn new_key(&self) -> String {
        format!("mcp_{}", self.app.ids.random_text(24))
    }
}

/// The answer, no longer than a tool gives of it.
async fn read(response: http::Response<Body>) -> Answer {
    let (head, mut body) = response.into_parts();
    let retry_after =
        head.headers.get(header::RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
    let mut whole = Vec::new();
    while whole.len() <= MAX_ANSWER
        && let Some(Ok(frame)) = body.frame().await
    {
        whole.extend_from_slice(&frame.into_data().unwrap_or_default());
    }
    Answer { status: head.status.as_u16(), body: Bytes::from(whole), retry_after }
}
