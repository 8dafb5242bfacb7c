//! Timelines: every decision about a call in order, what was checked, the value seen, what was decided, why it waits and until when. They
//! hold no personal data.

use domain::ids::{Call, Id};
use domain::tenant::{Mode, Tenant};
use domain::time::Timestamp;
use serde_json::{Value, json};
use store::Tx;
use store::calls::{self, CallRow};

use super::{App, Failure};

/// A stored decision with its moment.
pub(super) fn entry(at: Timestamp, mut body: Value) -> Value {
    body["at"] = json!(at);
    body
}

fn plain(at: Timestamp, event: &str, decision: &str, reason: Option<&str>, call: Id<Call>) -> Value {
    json!({"at": at, "event": event, "decision": decision, "reason": reason, "until": null, "callId": call, "checks": {}})
}

/// What happened to a call once the carrier had it.
fn life(row: &CallRow) -> Vec<Value> {
    let progress = &row.progress;
    let mut entries = Vec::new();
    if let Some(at) = progress.answered_at {
        entries.push(plain(at, "answered", "talk", None, row.id));
    }
    if let Some(at) = row.hang_up_at {
        entries.push(plain(at, "hang_up_requested", "end", Some("api_hangup"), row.id));
    }
    if let Some(at) = progress.ended_at.filter(|_| row.block_reason.is_none()) {
        entries.push(plain(at, "ended", progress.status.as_str(), progress.end_cause.as_deref(), row.id));
    }
    entries.sort_by_key(|entry| entry["at"].as_str().map(str::to_owned));
    entries
}

/// What happened to the call of a scheduled call after its placement; nothing when its record is gone.
pub(super) fn after_placement(tx: &mut Tx<'_>, tenant: Tenant, mode: Mode, call: Id<Call>) -> Result<Vec<Value>, Failure> {
    Ok(calls::get(tx, tenant, mode, call)?.map(|row| life(&row)).unwrap_or_default())
}

/// `GET /v1/calls/{id}/timeline`.
pub async fn of_call(app: &App, tenant: Tenant, mode: Mode, id: Id<Call>) -> Result<Vec<Value>, Failure> {
    app.store
        .read(move |tx| {
            let row = calls::get(tx, tenant, mode, id)?.ok_or_else(|| Failure::not_found("call"))?;
            let decision = if row.block_reason.is_some() { "block" } else { "dial" };
            let mut entries = vec![plain(row.started_at, "placement", decision, row.block_reason.as_deref(), row.id)];
            entries.extend(life(&row));
            Ok(entries)
        })
        .await
}
