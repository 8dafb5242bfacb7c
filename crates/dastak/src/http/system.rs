//! Health, figures, and the API's own description.

use std::sync::{Arc, OnceLock, PoisonError};
use std::time::Duration;

use api::openapi::{Document, document};
use bytes::Bytes;
use serde_json::json;
use store::DbError;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

use super::handler::{Handler, Outcome, Reply, Request};
use super::router::sees_figures;
use crate::app::App;
use crate::open;
use crate::runtime::crypto;

/// How long a verdict on the store is told again. One that says no is asked for again sooner.
const READY_FOR: Duration = Duration::from_secs(2);
const UNREADY_FOR: Duration = Duration::from_millis(500);
/// Longest wait for the store before it counts as not answering.
const READY_WITHIN: Duration = Duration::from_secs(5);

/// The figures that anybody may see.
const UP: &str = "# HELP up The process serves requests; all other figures need metrics_token or the operator token.\n# TYPE up gauge\nup 1\n# EOF\n";

/// What is told of the service and made once.
#[derive(Default)]
pub struct Told {
    public: OnceLock<Description>,
    operator: OnceLock<Description>,
    /// The last verdict on the store, and when it was asked for.
    store: Mutex<Option<(Instant, Result<(), DbError>)>>,
    /// When the store last failed a request.
    failed: std::sync::Mutex<Option<Instant>>,
}

impl Told {
    /// The store has failed a request: for a while it is not ready, whatever was found out a moment ago.
    pub fn store_failed(&self) {
        *self.failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    fn failed_lately(&self) -> bool {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).is_some_and(|at| at.elapsed() < READY_FOR)
    }
}

/// An OpenAPI document as it is sent.
struct Description {
    body: Bytes,
    etag: String,
}

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
    Ok(describe(&app, &app.told.public, Document::Public, &request))
}

async fn operator_openapi(app: Arc<App>, request: Request) -> Outcome {
    Ok(describe(&app, &app.told.operator, Document::Operator, &request))
}

fn describe(app: &App, kept: &OnceLock<Description>, which: Document, request: &Request) -> Reply {
    let description = kept.get_or_init(|| {
        let body = Bytes::from(document(which, &app.config.brand, &app.config.key_prefix).to_string());
        let etag = format!("\"{}\"", &crypto::sha256(&body)[..32]);
        Description { body, etag }
    });
    let wanted =
        request.headers.get("if-none-match").and_then(|value| value.to_str().ok()).unwrap_or_default();
    let known = wanted
        .split(',')
        .map(|tag| tag.trim().trim_start_matches("W/"))
        .any(|tag| tag == description.etag || tag == "*");
    let mut reply = match known {
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

/// Asks the store whether it can be read and written, at most once in a while however many ask.
async fn store_verdict(app: &App) -> Result<(), DbError> {
    if app.told.failed_lately() {
        return Err(DbError::Unavailable("requests fail".into()));
    }
    let mut kept = app.told.store.lock().await;
    if let Some((asked, verdict)) = &*kept {
        let for_how_long = if verdict.is_ok() { READY_FOR } else { UNREADY_FOR };
        if asked.elapsed() < for_how_long {
            return verdict.clone();
        }
    }
    let asking = async {
        app.store.ready().await?;
        app.store.writable().await
    };
    let verdict = timeout(READY_WITHIN, asking)
        .await
        .unwrap_or_else(|_| Err(DbError::Unavailable("the store does not answer".into())));
    *kept = Some((Instant::now(), verdict.clone()));
    verdict
}

async fn readiness(app: Arc<App>, request: Request) -> Outcome {
    if app.clock.stopping() {
        return Reply::json(503, &json!({"ok": false, "reason": "the service is stopping"}));
    }
    let sees_more = sees_figures(&app, &request.headers, request.client);
    match store_verdict(&app).await {
        // Trunks that are down are told, but this node answers all the same: calls wait, and everything else
        // works.
        Ok(()) => match app.lines.as_ref().filter(|_| sees_more) {
            Some(lines) => {
                let trunks: Vec<_> = lines
                    .trunks()
                    .into_iter()
                    .map(|trunk| json!({"name": trunk.name, "healthy": trunk.healthy}))
                    .collect();
                Reply::json(200, &json!({"ok": true, "trunks": trunks}))
            }
            None => Reply::json(200, &json!({"ok": true})),
        },
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
    let text = if sees_figures(&app, &request.headers, request.client) {
        app.metrics.render()
    } else {
        UP.to_owned()
    };
    Ok(Reply::bytes(200, "text/plain; version=0.0.4", text))
}

async fn docs(_: Arc<App>, _: Request) -> Outcome {
    Ok(Reply::bytes(200, "text/html; charset=utf-8", include_str!("../../assets/docs.html")))
}
