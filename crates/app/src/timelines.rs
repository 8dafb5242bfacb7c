//! Timelines: every decision about a call in order, what was checked, the value seen, what was decided, why
//! it waits and until when. They hold no personal data.

use std::fmt::Write;

use domain::call::HangupRequest;
use domain::decision_log::Chain;
use domain::ids::{Call, Id};
use domain::nudge::Refusal;
use domain::tenant::{Mode, Tenant};
use domain::time::Timestamp;
use serde_json::{Map, Value, json};
use store::calls::{self, CallRow};
use store::{TenantTx, Tx, call_legs, decision_log, recordings};

use super::calls::{OwnNumber, Prepared, Refused};
use super::{App, Failure, access};

/// A stored decision with its moment.
pub(super) fn entry(at: Timestamp, mut body: Value) -> Value {
    body["at"] = json!(at);
    body["times"] = json!(1);
    body["lastAt"] = json!(at);
    body
}

fn plain(
    at: Timestamp,
    event: &str,
    decision: &str,
    status: &str,
    reason: Option<&str>,
    call: Id<Call>,
) -> Value {
    entry(
        at,
        json!({"event": event, "checks": [], "decision": decision, "status": status, "reason": reason, "until": null, "callId": call}),
    )
}

/// The checks of a decision: a JSON list, written as it grows. It contains no text of users.
pub(super) struct Checks(String);

impl Checks {
    /// An empty list.
    pub fn new() -> Self {
        Self("[".to_owned())
    }

    /// Adds a check, a JSON object.
    pub fn add(&mut self, check: std::fmt::Arguments<'_>) {
        let comma = if self.0.len() > 1 { "," } else { "" };
        // Writing to a text does not fail.
        let _ = write!(self.0, "{comma}{check}");
    }

    pub fn text(mut self) -> String {
        self.0.push(']');
        self.0
    }
}

/// Adds what was checked before a dial, with the values seen; nothing of it is personal.
pub(super) fn add_dial(checks: &mut Checks, prepared: &Prepared, refusal: Option<Refusal>) {
    let refused = refusal.map_or_else(|| "null".to_owned(), |refusal| format!(r#""{}""#, refusal.as_str()));
    checks.add(format_args!(
        r#"{{"check":"agent_and_workspace","ok":{},"refusal":{refused}}}"#,
        refusal.is_none()
    ));
    checks.add(format_args!(r#"{{"check":"from_number","ok":{}}}"#, prepared.from != OwnNumber::NotOwned));
    checks.add(format_args!(r#"{{"check":"carrier","ok":{}}}"#, prepared.carrier_ok));
    checks.0.push_str(prepared.judgement.as_ref().map_or("", |judged| judged.checks()));
    if prepared.mode == Mode::Live {
        let (available, price) = (prepared.available, prepared.workspace.cost_per_minute);
        checks.add(format_args!(
            r#"{{"check":"balance","ok":{},"availableMinor":{available},"neededMinor":{price}}}"#,
            prepared.balance_ok
        ));
        let (free, used, limit) = (
            prepared.lines_full.is_none(),
            prepared.lines_in_use,
            access::limit(&prepared.workspace, "concurrentCalls"),
        );
        let platform = prepared.lines_full == Some(Refused::LinesFull { platform: true });
        checks.add(format_args!(
            r#"{{"check":"lines","ok":{free},"inUse":{used},"limit":{limit},"platformFull":{platform}}}"#
        ));
        if prepared.on_call {
            checks.add(format_args!(r#"{{"check":"number_free","ok":false}}"#));
        }
    }
}

/// The events of a call once the carrier had it.
fn life(row: &CallRow) -> Vec<Value> {
    let progress = &row.progress;
    let mut entries = Vec::new();
    if let Some(at) = progress.answered_at {
        entries.push(plain(at, "answered", "talk", "in_progress", None, row.id));
    }
    if let Some(at) = row.hang_up_at {
        entries.push(plain(
            at,
            "hang_up",
            "finish",
            "in_progress",
            row.wish().map(HangupRequest::as_str),
            row.id,
        ));
    }
    if let Some(at) = progress.ended_at.filter(|_| row.block_reason.is_none()) {
        entries.push(plain(at, "ended", "finish", "ended", progress.end_cause.as_deref(), row.id));
    }
    entries.sort_by_key(|entry| entry["at"].as_str().map(str::to_owned));
    entries
}

/// Who was brought in, or was to be.
fn legs(tx: &mut Tx<'_>, row: &CallRow) -> Result<Vec<Value>, Failure> {
    if row.upkeep.legs == 0 {
        return Ok(Vec::new());
    }
    let mut entries = Vec::new();
    for leg in call_legs::of_call(&mut tx.of(row.workspace), row.id)? {
        let decision = if leg.block_reason.is_some() { "finish" } else { "dial" };
        let mut told = vec![plain(
            leg.started_at,
            "transfer",
            decision,
            "in_progress",
            leg.block_reason.as_deref(),
            row.id,
        )];
        told.extend(
            leg.answered_at.map(|at| plain(at, "transfer_answered", "talk", "in_progress", None, row.id)),
        );
        let ended = leg.ended_at.filter(|_| leg.block_reason.is_none());
        told.extend(ended.map(|at| {
            plain(at, "transfer_ended", "finish", "in_progress", leg.end_cause.as_deref(), row.id)
        }));
        entries.extend(told);
    }
    Ok(entries)
}

/// What happened to the call of a scheduled call after its placement; nothing when its record is gone.
pub(super) fn after_placement(tx: &mut TenantTx, mode: Mode, call: Id<Call>) -> Result<Vec<Value>, Failure> {
    Ok(calls::get(tx, mode, call)?.map(|row| life(&row)).unwrap_or_default())
}

/// What the gates said before a dial, from its record in the decision log.
fn proof(tx: &mut TenantTx, call: Id<Call>, at: Timestamp) -> Result<Value, Failure> {
    let results = decision_log::gate_results(tx, Chain::Audit, &call.to_string(), at)?;
    let results: Value = results.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    let gates = results["gates"].as_array().into_iter().flatten().map(|gate| {
        let mut check = Map::new();
        check.insert("check".into(), gate["gate"].clone());
        check.insert("ok".into(), json!(gate["verdict"] != "refuse"));
        check.extend(
            gate.as_object()
                .into_iter()
                .flatten()
                .filter(|(name, _)| *name != "gate")
                .map(|(name, value)| (name.clone(), value.clone())),
        );
        Value::Object(check)
    });
    Ok(gates.collect())
}

/// What was made of the conversation once it was over, in the order in which it came about.
fn afterwards(tx: &mut Tx<'_>, row: &CallRow) -> Result<Vec<Value>, Failure> {
    let content = calls::content(&mut tx.of(row.workspace), row.id)?;
    let kept =
        recordings::of_call(&mut tx.of(row.workspace), row.id)?.and_then(|recording| recording.kept_at);
    let mut made: Vec<(Timestamp, &str, Option<&str>)> = Vec::new();
    made.extend(kept.map(|at| (at, "recorded", None)));
    made.extend(
        content
            .analysed_at
            .map(|at| (at, "analysed", content.analysis.as_deref().filter(|status| *status != "done"))),
    );
    made.sort_by_key(|(at, ..)| *at);
    Ok(made
        .into_iter()
        .map(|(at, event, reason)| plain(at, event, "finish", "ended", reason, row.id))
        .collect())
}

/// `GET /v1/calls/{id}/timeline`.
pub async fn of_call(app: &App, tenant: Tenant, mode: Mode, id: Id<Call>) -> Result<Vec<Value>, Failure> {
    app.store
        .read(move |tx| {
            let row =
                calls::get_taken(&mut tx.of(tenant), mode, id)?.ok_or_else(|| Failure::not_found("call"))?;
            let (decision, state) =
                if row.block_reason.is_some() { ("finish", "blocked") } else { ("dial", "ringing") };
            let mut entries = vec![plain(
                row.started_at,
                "placement",
                decision,
                state,
                row.block_reason.as_deref(),
                row.id,
            )];
            entries[0]["checks"] = proof(&mut tx.of(tenant), id, row.started_at)?;
            let mut life = life(&row);
            life.extend(legs(tx, &row)?);
            // What ends with the call comes before its end.
            life.sort_by_key(|entry| (entry["at"].as_str().map(str::to_owned), entry["event"] == "ended"));
            entries.extend(life);
            entries.extend(afterwards(tx, &row)?);
            Ok(entries)
        })
        .await
}
