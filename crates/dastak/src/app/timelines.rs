//! Timelines: every decision about a call in order, what was checked, the value seen, what was decided, why it waits and until when. They
//! hold no personal data.

use domain::compliance::{Gate, Verdict};
use domain::decision_log::Chain;
use domain::ids::{Call, Id};
use domain::nudge::Refusal;
use domain::tenant::{Mode, Tenant};
use domain::time::Timestamp;
use serde_json::{Map, Value, json};
use store::calls::{self, CallRow};
use store::{Tx, decision_log, recordings};

use super::calls::{OwnNumber, Prepared, Refused};
use super::{App, Failure, access};

/// A stored decision with its moment.
pub(super) fn entry(at: Timestamp, mut body: Value) -> Value {
    body["at"] = json!(at);
    body["times"] = json!(1);
    body["lastAt"] = json!(at);
    body
}

fn plain(at: Timestamp, event: &str, decision: &str, status: &str, reason: Option<&str>, call: Id<Call>) -> Value {
    entry(at, json!({"event": event, "checks": [], "decision": decision, "status": status, "reason": reason, "until": null, "callId": call}))
}

/// What was checked before a dial, with the values seen; nothing of it is personal. `opening` is the hours' next one.
pub(super) fn checks(prepared: &Prepared, refusal: Option<Refusal>, opening: Option<Timestamp>) -> Vec<Value> {
    let mut checks = vec![
        json!({"check": "agent_and_workspace", "ok": refusal.is_none(), "refusal": refusal.map(Refusal::as_str)}),
        json!({"check": "from_number", "ok": prepared.from != OwnNumber::NotOwned}),
        json!({"check": "carrier", "ok": prepared.carrier_ok}),
    ];
    for finding in prepared.judgement.iter().flat_map(|judgement| &judgement.findings) {
        let mut check = Map::new();
        check.insert("check".into(), finding.gate.as_str().into());
        check.insert("ok".into(), (finding.verdict != Verdict::Refuse).into());
        check.insert("verdict".into(), finding.verdict.as_str().into());
        check.extend(finding.evidence.clone());
        if finding.gate == Gate::CallingWindow {
            check.insert("opens".into(), json!(opening));
        }
        checks.push(Value::Object(check));
    }
    if prepared.mode == Mode::Live {
        let workspace = &prepared.workspace;
        let (free, price) = (workspace.balance - workspace.reserved, workspace.cost_per_minute);
        checks.push(json!({"check": "balance", "ok": prepared.balance_ok, "availableMinor": free, "neededMinor": price}));
        let limit = access::limit(workspace, "concurrentCalls");
        checks.push(json!({"check": "lines", "ok": prepared.lines_full.is_none(), "inUse": prepared.lines_in_use, "limit": limit,
            "platformFull": prepared.lines_full == Some(Refused::LinesFull { platform: true })}));
    }
    checks
}

/// What happened to a call once the carrier had it.
fn life(row: &CallRow) -> Vec<Value> {
    let progress = &row.progress;
    let mut entries = Vec::new();
    if let Some(at) = progress.answered_at {
        entries.push(plain(at, "answered", "talk", "in_progress", None, row.id));
    }
    if let Some(at) = row.hang_up_at {
        entries.push(plain(at, "hang_up", "finish", "in_progress", Some("api_hangup"), row.id));
    }
    if let Some(at) = progress.ended_at.filter(|_| row.block_reason.is_none()) {
        entries.push(plain(at, "ended", "finish", "ended", progress.end_cause.as_deref(), row.id));
    }
    entries.sort_by_key(|entry| entry["at"].as_str().map(str::to_owned));
    entries
}

/// What happened to the call of a scheduled call after its placement; nothing when its record is gone.
pub(super) fn after_placement(tx: &mut Tx<'_>, tenant: Tenant, mode: Mode, call: Id<Call>) -> Result<Vec<Value>, Failure> {
    Ok(calls::get(tx, tenant, mode, call)?.map(|row| life(&row)).unwrap_or_default())
}

/// What the gates said before a dial, from its record in the decision log.
fn proof(tx: &mut Tx<'_>, tenant: Tenant, call: Id<Call>, at: Timestamp) -> Result<Value, Failure> {
    let results = decision_log::gate_results(tx, tenant, Chain::Audit, &call.to_string(), at)?;
    let results: Value = results.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    let gates = results["gates"].as_array().into_iter().flatten().map(|gate| {
        let mut check = Map::new();
        check.insert("check".into(), gate["gate"].clone());
        check.insert("ok".into(), json!(gate["verdict"] != "refuse"));
        check.extend(gate.as_object().into_iter().flatten().filter(|(name, _)| *name != "gate").map(|(name, value)| (name.clone(), value.clone())));
        Value::Object(check)
    });
    Ok(gates.collect())
}

/// What was made of the conversation once it was over, in the order in which it came about.
fn afterwards(tx: &mut Tx<'_>, row: &CallRow) -> Result<Vec<Value>, Failure> {
    let content = calls::content(tx, row.workspace, row.id)?;
    let kept = recordings::of_call(tx, row.workspace, row.id)?.and_then(|recording| recording.kept_at);
    let mut made: Vec<(Timestamp, &str, Option<&str>)> = Vec::new();
    made.extend(kept.map(|at| (at, "recorded", None)));
    made.extend(content.analysed_at.map(|at| (at, "analysed", content.analysis.as_deref().filter(|status| *status != "done"))));
    made.sort_by_key(|(at, ..)| *at);
    Ok(made.into_iter().map(|(at, event, reason)| plain(at, event, "finish", "ended", reason, row.id)).collect())
}

/// `GET /v1/calls/{id}/timeline`.
pub async fn of_call(app: &App, tenant: Tenant, mode: Mode, id: Id<Call>) -> Result<Vec<Value>, Failure> {
    app.store
        .read(move |tx| {
            let row = calls::get(tx, tenant, mode, id)?.ok_or_else(|| Failure::not_found("call"))?;
            let (decision, state) = if row.block_reason.is_some() { ("finish", "blocked") } else { ("dial", "ringing") };
            let mut entries = vec![plain(row.started_at, "placement", decision, state, row.block_reason.as_deref(), row.id)];
            entries[0]["checks"] = proof(tx, tenant, id, row.started_at)?;
            entries.extend(life(&row));
            entries.extend(afterwards(tx, &row)?);
            Ok(entries)
        })
        .await
}
