//! The messages of one HTTP request of MCP (Streamable HTTP), without sessions: each request stands alone, so any node
//! answers it, and every answer is one JSON document.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HOST};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use http_body_util::{BodyExt, Full};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value, json};

use crate::{Api, Server};

/// Headers of the client that the protocol reads.
const OF_PROTOCOL: [&str; 3] = ["mcp-protocol-version", "mcp-method", "mcp-name"];
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// JSON-RPC: the message is no JSON.
pub const PARSE_ERROR: i32 = -32_700;
/// JSON-RPC: the message is none of the protocol.
pub const INVALID_REQUEST: i32 = -32_600;

/// An error that answers no particular request.
pub fn error(code: i32, message: &str) -> Bytes {
    json!({"jsonrpc": "2.0", "id": null, "error": {"code": code, "message": message}}).to_string().into()
}

/// The status and the JSON with which a message is answered; a notification has no JSON. The caller has bounded the
/// message, and has checked the key and the origin.
pub async fn answer<A: Api>(server: Server<A>, headers: &HeaderMap, message: Bytes) -> (u16, Bytes) {
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(usize::MAX);
    let service = StreamableHttpService::new(
        move || Ok(server.clone()),
        Arc::new(NeverSessionManager::default()),
        config,
    );
    let mut request = http::Request::new(Full::new(message));
    *request.method_mut() = Method::POST;
    let of_request = request.headers_mut();
    // A client that asks for another kind of answer gets JSON all the same.
    of_request.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
    of_request.insert(CONTENT_TYPE, JSON);
    of_request.insert(HOST, HeaderValue::from_static("localhost"));
    for name in OF_PROTOCOL.map(HeaderName::from_static) {
        for value in headers.get_all(&name) {
            of_request.append(name.clone(), value.clone());
        }
    }
    let (head, body) = service.handle(request).await.into_parts();
    let Ok(body) = body.collect().await.map(http_body_util::Collected::to_bytes);
    if head.status.is_success() || is_message(&body) {
        return (head.status.as_u16(), body);
    }
    // The library refuses some messages in plain words.
    let status = match head.status {
        StatusCode::UNSUPPORTED_MEDIA_TYPE => StatusCode::BAD_REQUEST,
        other => other,
    };
    let text = String::from_utf8_lossy(&body);
    let words: String =
        if text.contains("deserialize") { "the message is none of JSON-RPC 2.0".into() } else { text.into() };
    (status.as_u16(), error(INVALID_REQUEST, &words))
}

fn is_message(body: &[u8]) -> bool {
    serde_json::from_slice::<Value>(body).is_ok_and(|message| message["jsonrpc"] == "2.0")
}
