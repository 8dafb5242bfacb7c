//! `/dev`: what exists only for development and tests. `/dev/clock` is there only with `clock = manual`
//! (docs/contract/sandbox.md#clock), `/dev/chatapp/inbound` also with `dastak dev`.

use std::sync::Arc;

use api::dev::CustomerMessageTaken;
use api::error_codes;
use domain::time::{SECOND, Timestamp};
use serde_json::json;

use super::handler::{Handler, Outcome, Reply, Request};
use crate::app::{App, Failure};
use crate::open;

/// The handlers of `/dev` by operation.
pub fn handlers() -> Vec<(&'static str, Handler)> {
    vec![
        ("getClock", open!(get_clock)),
        ("setClock", open!(set_clock)),
        ("injectCustomerMessage", open!(inject)),
    ]
}

fn manual(app: &App) -> Result<(), Failure> {
    if app.clock.is_manual() {
        Ok(())
    } else {
        Err(Failure::new(
            error_codes::NOT_FOUND,
            "the path does not exist; see GET /v1/openapi.json for all paths",
        ))
    }
}

async fn get_clock(app: Arc<App>, _: Request) -> Outcome {
    manual(&app)?;
    Reply::json(200, &json!({"now": app.clock.now()}))
}

/// A customer of the sandbox's messaging channel writes.
async fn inject(app: Arc<App>, mut request: Request) -> Outcome {
    if !app.config.dev {
        manual(&app)?;
    }
    let provider_message_id = channel::sandbox::inject(&app, request.body()?).await?;
    Reply::data(200, &CustomerMessageTaken { provider_message_id })
}

async fn set_clock(app: Arc<App>, request: Request) -> Outcome {
    manual(&app)?;
    let seconds = request.body.get("advanceSeconds").and_then(serde_json::Value::as_i64);
    let set = request.body.get("set").and_then(serde_json::Value::as_str).and_then(Timestamp::parse);
    let target = match (seconds, set) {
        (Some(seconds), None) => app.clock.now().plus(seconds * SECOND),
        (None, Some(moment)) => moment,
        _ => return Err(Failure::field("advanceSeconds", "or set is required, one of the two")),
    };
    match app.clock.advance_to(target).await {
        Some(now) => Reply::json(200, &json!({"now": now})),
        None => Err(Failure::field("set", "must not be in the past; the clock moves forward only")),
    }
}
