//! Acceptance of an older state of the decision log by the operator: after a restore, the log lacks records that were
//! seen since. The acceptance is a record of the log itself, a line of the operator log, and a sealed row that
//! invalidates earlier marks.

use std::sync::Arc;

use api::audit::{AcceptLog, AcceptedChain};
use domain::decision_log::mark::Acceptance;
use domain::decision_log::{Channel, Decision, Entry, Strand, Why};
use domain::tenant::{Mode, Tenant};
use serde_json::json;
use store::{TenantTx, Tx, decision_log, workspaces};

use super::check;
use crate::operator_log::{self, Trace};
use crate::{App, Context, Failure, log_marks};

/// Accepts the current state of every chain of a workspace that contradicts this node's marks.
pub async fn accept(
    app: &Arc<App>,
    trace: Trace,
    tenant: Tenant,
    body: AcceptLog,
) -> Result<Vec<AcceptedChain>, Failure> {
    let mut wanted = Vec::new();
    for strand in Strand::all() {
        let (_, broken) = check::head(app, tenant, strand).await?;
        match broken.map(|broken| broken.why) {
            None => {}
            Some(Why::Missing | Why::Forked) => {
                wanted.push((strand, app.marks.witnessed(tenant, strand).newest()))
            }
            Some(_) => {
                let message = format!(
                    "the head of the chain {} was altered; that is not an older state and cannot be accepted",
                    strand.as_str()
                );
                return Err(Failure::conflict(message));
            }
        }
    }
    let context = app.context();
    let work = move |tx: &mut Tx<'_>| {
        if workspaces::get(&mut tx.of(tenant))?.is_none() {
            return Err(Failure::not_found("workspace"));
        }
        if wanted.is_empty() {
            return Err(Failure::conflict(
                "no chain is older than what this node has witnessed; on a shared store, send the \
                 request to the node that reports one",
            ));
        }
        let mut accepted = Vec::new();
        for (strand, witnessed_seq) in &wanted {
            let seq = accept_strand(&mut tx.of(tenant), &context, *strand, *witnessed_seq)?;
            accepted.push(AcceptedChain { chain: strand.as_str(), witnessed_seq: *witnessed_seq, seq });
            let subject =
                format!("{} from record {seq}, witnessed {witnessed_seq}: {}", strand.as_str(), body.reason);
            operator_log::append(tx, &context, &trace, Some(tenant), &subject)?;
        }
        Ok(accepted)
    };
    app.store.tx(work).await
}

fn accept_strand(
    tx: &mut TenantTx,
    context: &Context,
    strand: Strand,
    witnessed: u64,
) -> Result<u64, Failure> {
    let tenant = tx.tenant();
    let before = decision_log::head_for_update(tx, strand)?.map(|row| row.head).unwrap_or_default();
    let entry = Entry {
        timestamp: context.now,
        interaction_id: String::new(),
        decision: Decision::Allowed,
        blocked_by: None,
        gate_results:
            json!({"request": "accept_older_state", "lastSeq": before.seq, "witnessedSeq": witnessed})
                .to_string(),
        outcome: Some("older_state_accepted".into()),
        recording_ref: None,
        consent_ref: None,
        is_test: strand.mode == Mode::Test,
        channel: Channel::Voice,
        agent_id: None,
    };
    let seq = crate::decision_log::record(tx, context, strand.chain, entry)?;
    let head = decision_log::head(tx, strand)?.map(|row| row.head).unwrap_or_default();
    let generation =
        log_marks::accepted(tx, &context.keyring, strand)?.map_or(0, |accepted| accepted.generation);
    let generation = generation.max(context.marks.witnessed(tenant, strand).generation()) + 1;
    let accepted = Acceptance { generation, head };
    let seal = context.keyring.sign(&accepted.sealed_text(tenant, strand));
    decision_log::accept(tx, strand, &accepted, &seal, context.now)?;
    let marks = context.marks.clone();
    tx.after_commit(move || marks.accept(tenant, strand, accepted.head));
    Ok(seq)
}
