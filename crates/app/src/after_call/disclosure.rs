//! The disclosure of the pack (docs/contract/compliance.md#disclosure): whether it was said is decided when the call
//! ends, and proved by the step `disclosure`, in a transaction of its own: appending to the decision log holds its chain.

use std::sync::Arc;

use domain::call::{Direction, Report};
use domain::compliance::DisclosureResult;
use domain::decision_log::{Chain, Channel, Decision, Entry};
use domain::tenant::Mode;
use serde_json::{Value, json};
use store::after_calls::StepRow;
use store::calls::{self, CallRow};
use store::{Tx, agents};

use super::step::{StepEnd, close};
use crate::{App, Failure, compliance_packs, decision_log};

/// Whether the disclosure was said in a call that is over, as it is stored: `{result, language, withinSeconds, pack}`.
/// `None` where none was required or could be heard: of incoming calls, of machines, and of calls that were over first.
pub(super) fn verify(tx: &mut Tx<'_>, call: &CallRow, report: &Report) -> Result<Option<Value>, Failure> {
    let (Direction::Outbound, Some(id), false) = (call.direction, call.agent, call.progress.met_no_person())
    else {
        return Ok(None);
    };
    let tx = &mut tx.of(call.workspace);
    let Some(agent) = agents::get(tx, id)? else { return Ok(None) };
    let pack = compliance_packs::resolve(tx, &agent.policy_ref)?;
    let Some(disclosure) = pack.and_then(|pack| pack.disclosure) else { return Ok(None) };
    let verified = disclosure.verify(&report.turns, call.progress.talk_ms.unwrap_or(0));
    Ok(verified.map(|result| {
        let language = match &result {
            DisclosureResult::Kept(language) => Some(language),
            DisclosureResult::Missed => None,
        };
        json!({
            "result": result.as_str(), "language": language, "withinSeconds": disclosure.within_seconds, "pack": agent.policy_ref,
        })
    }))
}

/// The step `disclosure`: its record in the chain of the dial.
pub(super) async fn prove(app: &Arc<App>, row: &StepRow) -> Result<StepEnd, Failure> {
    let (context, row) = (app.context(), row.clone());
    app.store
        .tx(move |tx| {
            let Some(call) = close(tx, &row)? else { return Ok(StepEnd::Yes) };
            let tx = &mut tx.of(call.workspace);
            let Some(verified) = calls::content(tx, call.id)?.disclosure else { return Ok(StepEnd::Yes) };
            let result = verified.get("result").and_then(Value::as_str).unwrap_or_default();
            let entry = Entry {
                timestamp: context.now,
                interaction_id: call.id.to_string(),
                decision: Decision::Allowed,
                blocked_by: None,
                outcome: Some(format!("disclosure_{result}")),
                gate_results: json!({"disclosure": verified}).to_string(),
                recording_ref: None,
                consent_ref: None,
                is_test: call.mode == Mode::Test,
                channel: Channel::Voice,
                agent_id: call.agent.map(|agent| agent.to_string()),
            };
            decision_log::record(tx, &context, Chain::Audit, entry)?;
            Ok::<_, Failure>(StepEnd::Yes)
        })
        .await
}
