//! Health, figures, and the API's own description.

use std::sync::Arc;

use api::openapi::{Document, document};
use serde_json::json;

use super::handler::{Handler, Outcome, Reply, Request};
use crate::app::App;
use crate::open;

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

async fn openapi(app: Arc<App>, _: Request) -> Outcome {
    Reply::json(200, &document(Document::Public, &app.config.brand, &app.config.key_prefix))
}

async fn operator_openapi(app: Arc<App>, _: Request) -> Outcome {
    Reply::json(200, &document(Document::Operator, &app.config.brand, &app.config.key_prefix))
}

async fn health(_: Arc<App>, _: Request) -> Outcome {
    Reply::json(200, &json!({"ok": true}))
}

async fn readiness(app: Arc<App>, _: Request) -> Outcome {
    if app.clock.stopping() {
        return Reply::json(503, &json!({"ok": false, "reason": "the service is stopping"}));
    }
    let ready = match app.store.ready().await {
        Ok(()) => app.store.writable().await,
        Err(why) => Err(why),
    };
    match ready {
        // Trunks that are down are told, but this node answers all the same: calls wait, and everything else works.
        Ok(()) => match &app.lines {
            Some(lines) => {
                let trunks: Vec<_> = lines.trunks().into_iter().map(|trunk| json!({"name": trunk.name, "healthy": trunk.healthy})).collect();
                Reply::json(200, &json!({"ok": true, "trunks": trunks}))
            }
            None => Reply::json(200, &json!({"ok": true})),
        },
        Err(why) => Reply::json(503, &json!({"ok": false, "reason": why.to_string()})),
    }
}

async fn metrics(app: Arc<App>, _: Request) -> Outcome {
    Ok(Reply::bytes(200, "text/plain; version=0.0.4", app.metrics.render()))
}

async fn docs(_: Arc<App>, _: Request) -> Outcome {
    Ok(Reply::bytes(200, "text/html; charset=utf-8", include_str!("../../assets/docs.html")))
}
