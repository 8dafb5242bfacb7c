//! Reports of the node that holds a call on a real line.

use std::collections::BTreeMap;

use api::events::Event;
use api::events::calls::TransferredCall;
use domain::call::HangupRequest;
use domain::ids::{Call, Id};
use domain::tenant::Tenant;
use domain::time::Timestamp;
use store::calls;
use store::hangup_requests as requests;

use crate::call_env::emit;
use crate::{App, Failure};

/// Emits `call.transferred`: a person who answered has taken the call over
/// (docs/contract/calls.md#transfers).
pub async fn transferred(app: &App, tenant: Tenant, id: Id<Call>, to: String) -> Result<(), Failure> {
    let env = app.call_env();
    app.of(tenant)
        .tx(move |tx| {
            let Some(row) = calls::get_for_update(tx, id)? else { return Ok(()) };
            let (transferred_to, transferred_at) = (to.clone(), Some(env.context.now));
            emit(tx, &env, &row, |call| {
                Event::CallTransferred(TransferredCall { call, transferred_to, transferred_at })
            })
        })
        .await
}

/// The store's answer about a node's calls.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NodeCalls {
    /// Those with a hang-up request, and why.
    pub hangup_requests: Vec<(Id<Call>, HangupRequest)>,
    /// Those that are over in the store: an erasure or another node ended them.
    pub over: Vec<Id<Call>>,
}

/// Renews the leases of this node's live calls. Returns hang-up requests and ended calls.
pub async fn keep_holding(
    app: &App,
    held: Vec<(Tenant, Id<Call>)>,
    until: Timestamp,
) -> Result<NodeCalls, Failure> {
    let mut of_workspace: BTreeMap<Tenant, Vec<Id<Call>>> = BTreeMap::new();
    for (tenant, id) in held {
        of_workspace.entry(tenant).or_default().push(id);
    }
    app.store
        .tx(move |tx| {
            let mut looked = NodeCalls::default();
            for (tenant, ids) in &of_workspace {
                let renewed: BTreeMap<_, _> =
                    calls::renew(&mut tx.of(*tenant), ids, until)?.into_iter().collect();
                for id in ids {
                    match renewed.get(id) {
                        Some(request) => looked.hangup_requests.extend(request.map(|request| (*id, request))),
                        None => looked.over.push(*id),
                    }
                }
            }
            Ok(looked)
        })
        .await
}

/// Calls of all nodes on real lines with a hang-up request, and why.
pub async fn hangup_requests(app: &App) -> Result<Vec<(Id<Call>, HangupRequest)>, Failure> {
    Ok(app.store.read(requests::all).await?)
}
