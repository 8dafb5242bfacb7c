//! Health, figures, and the API's own description.

use std::sync::Arc;

use api::node::NodeStatus;
use api::openapi::Document;
use api::system::Health;
use bytes::Bytes;
use serde_json::json;

use super::handler::{Handler, Outcome, Reply, Request, is_known};
use super::manual;
use super::router::sees_figures;
use crate::app::{App, disk, node};
use crate::open;
use crate::runtime::exposition::Exposition;

/// The figures that anybody may see.
const UP: &str = "# HELP up The process serves requests; all other metrics need metrics_token or the operator token.\n# TYPE up gauge\nup 1\n# EOF\n";

/// The handlers of this chapter by operation.
pub fn handlers() -> Vec<(&'static str, Handler)> {
    vec![
        ("getOpenApi", open!(openapi)),
        ("getOperatorOpenApi", open!(operator_openapi)),
        ("getHealth", open!(health)),
        ("getReadiness", open!(readiness)),
        ("getMetrics", open!(metrics)),
        ("getDocs", open!(docs)),
    ]
}

async fn openapi(app: Arc<App>, request: Request) -> Outcome {
    Ok(describe(&app, Document::Public, &request))
}

async fn operator_openapi(app: Arc<App>, request: Request) -> Outcome {
    Ok(describe(&app, Document::Operator, &request))
}

fn describe(app: &App, which: Document, request: &Request) -> Reply {
    let description = app.documents.get(which, &app.config);
    let mut reply = match is_known(&request.headers, &description.etag) {
        true => Reply::bytes(304, "application/json", Bytes::new()),
        false => Reply::bytes(200, "application/json", description.body.clone()),
    };
    reply.headers.push(("etag", description.etag.clone()));
    reply.headers.push(("cache-control", "no-cache".into()));
    reply
}

async fn health(_: Arc<App>, _: Request) -> Outcome {
    Reply::json(200, &json!({"ok": true}))
}

async fn readiness(app: Arc<App>, request: Request) -> Outcome {
    match app.node.duty().status {
        NodeStatus::InService => {}
        NodeStatus::Draining => {
            return Reply::json(503, &json!({"ok": false, "reason": "the node is draining"}));
        }
        NodeStatus::Stopping => {
            return Reply::json(503, &json!({"ok": false, "reason": "the service is stopping"}));
        }
    }
    let sees_more = sees_figures(&app, &request.headers, request.client);
    match app.readiness.of(&app.store).await {
        // Trunks that are down, a database that may forget and clocks that differ are told, but this node answers all
        // the same: calls wait, and everything else works.
        Ok(()) => {
            let mut health =
                Health { ok: true, reason: None, trunks: None, warnings: None, clock_skew_ms: None };
            if sees_more {
                health.trunks = app.lines.as_ref().map(|lines| lines.trunks());
                health.warnings = Some(node::warnings(&app)).filter(|found| !found.is_empty());
                health.clock_skew_ms = app.node.skew().map(|skew| skew.ahead);
            }
            Reply::json(200, &health)
        }
        Err(why) => {
            // The words of a database may name its host and its users.
            let reason = if sees_more {
                why.to_string()
            } else {
                "the store does not answer, cannot write, or has another schema".to_owned()
            };
            Reply::json(503, &json!({"ok": false, "reason": reason}))
        }
    }
}

async fn metrics(app: Arc<App>, request: Request) -> Outcome {
    let accept = request.headers.get(http::header::ACCEPT).and_then(|accept| accept.to_str().ok());
    let format = Exposition::accepted(accept.unwrap_or_default());
    let text = if sees_figures(&app, &request.headers, request.client) {
        disk::free(&app);
        app.metrics.render()
    } else {
        UP.to_owned()
    };
    let mut reply = Reply::bytes(200, format.content_type(), format.of(text));
    reply.headers.push(("vary", "accept".to_owned()));
    Ok(reply)
}

async fn docs(app: Arc<App>, request: Request) -> Outcome {
    manual::page(&app, request.operation.path, &request.headers).await
}
