//! The node that is asked.

use std::sync::Arc;

use crate::app::{App, node};
use crate::http::handler::{Handler, Outcome, Reply, Request};
use crate::open;

/// The handlers of the node by operation.
pub fn handlers() -> Vec<(&'static str, Handler)> {
    vec![("getNode", open!(get)), ("drain", open!(drain)), ("undrain", open!(undrain))]
}

async fn get(app: Arc<App>, _: Request) -> Outcome {
    Reply::data(200, &node::get(&app))
}

async fn drain(app: Arc<App>, request: Request) -> Outcome {
    Reply::data(200, &node::drain(&app, request.trace()).await?)
}

async fn undrain(app: Arc<App>, request: Request) -> Outcome {
    Reply::data(200, &node::undrain(&app, request.trace()).await?)
}
