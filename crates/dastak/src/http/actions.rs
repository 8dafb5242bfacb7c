//! Which requests are recorded in the log of actions (docs/contract/audit.md#what-is-recorded), and from whom they are.

use std::future::Future;
use std::sync::Arc;

use api::operation::{Access, Method};
use domain::actor::Actor;
use domain::tenant::Mode;

use super::handler::Request;
use crate::app::App;
use crate::app::access::Caller;
use crate::app::actions::{Origin, Recorder};

/// The recorder of a request that may change something: of a member or the operator, or of a key, unless what the
/// request makes is a record by itself.
pub(super) fn recorder(app: &Arc<App>, caller: Option<&Caller>, request: &Request) -> Option<Arc<Recorder>> {
    let operation = request.operation;
    let actor = match (caller, operation.access) {
        (Some(caller), _) => caller.actor(),
        (None, Access::Operator) => Actor::Operator,
        (None, _) => return None,
    };
    let left_out = operation.traffic && actor.key().is_some();
    if operation.method == Method::GET || left_out {
        return None;
    }
    let workspace = match caller {
        Some(caller) => Some(caller.tenant()),
        None => request.parameter("ws").parse().ok(),
    };
    let is_operator = actor == Actor::Operator;
    let origin = Origin { actor: actor.to_string(), is_operator, ..origin(request) };
    let mode = caller.map_or(Mode::Live, Caller::mode);
    let path: Vec<String> =
        request.path.iter().filter(|(name, _)| *name != "ws").map(|(_, value)| value.clone()).collect();
    Some(Arc::new(Recorder::new(app.clone(), origin, (workspace, mode), operation.id, &path)))
}

/// Where a request comes from, without who makes it.
pub(super) fn origin(request: &Request) -> Origin {
    let agent = request.headers.get(http::header::USER_AGENT);
    Origin {
        actor: String::new(),
        is_operator: false,
        address: request.client,
        session: request.signed_in.as_ref().map(|signed_in| signed_in.session.id.to_string()),
        user_agent: agent
            .map(|agent| String::from_utf8_lossy(agent.as_bytes()).into_owned())
            .unwrap_or_default(),
        request_id: request.id.clone(),
    }
}

/// Runs a handler whose changes are recorded.
pub(super) async fn recorded<F: Future>(recorder: Option<Arc<Recorder>>, running: F) -> F::Output {
    match recorder {
        Some(recorder) => store::db::accompanied(recorder, running).await,
        None => running.await,
    }
}
