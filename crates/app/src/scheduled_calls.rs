//! Calls at a set time (docs/contract/scheduled-calls.md): created, read and cancelled here, tried by [`try_due`] when
//! they are due, and settled by the call's own facts. Every change of state goes through
//! `domain::scheduled_call::step`.

use std::sync::Arc;

use api::error_codes as codes;
use api::scheduled_calls::{
    NewScheduledCall, ScheduledCall as ScheduledCallView, ScheduledCallMade, ScheduledCallPage,
};
use domain::call::Fact;
use domain::due_dial::{Act, DueFacts, PlacementFailure};
use domain::ids::{ApiKey, Id};
use domain::phone::Phone;
use domain::scheduled_call::{
    Event, EventOutcome, Reason, ScheduleError, Status, Transition, schedule, step,
};
use domain::tenant::{Mode, Tenant};
use domain::time::Timestamp;
use serde_json::{Value, json};
use store::calls::CallRow;
use store::scheduled_calls::{self, ScheduledCallId, ScheduledCallRow};
use store::{DbError, TenantTx, Tx};

use super::access::Caller;
use super::calls::{self, CallCache, Env, Order, OwnNumber, Prepared, Refused, Source};
use super::due_dials::{Allowances, DialRound, DueDial, InFlight, Look};
use super::due_rows::DueRow;
use super::events::{self, NewEvent};
use super::idempotency::{Answer, Claim, Once};
use super::limits::pages;
use super::{App, Context, Failure, timelines, topics};

fn view(row: ScheduledCallRow) -> ScheduledCallView {
    ScheduledCallView {
        id: row.id,
        agent_id: row.agent,
        status: row.state.status,
        scheduled_at: row.state.scheduled_at,
        next_attempt_at: row.state.next_attempt_at,
        attempts: row.state.attempts,
        call_id: row.call.filter(|_| row.state.status == Status::Placed),
        reason: row.state.reason.map(Reason::as_str),
        to_number: row.to_number,
        from_number: row.from_number,
        external_ref: row.external_ref,
        variables: row.variables,
        metadata: row.metadata,
        created_at: row.created_at,
    }
}

fn refuse_time(error: ScheduleError) -> Failure {
    let code = match error {
        ScheduleError::InPast => codes::SCHEDULED_AT_IN_PAST,
        ScheduleError::TooFar => codes::SCHEDULED_AT_TOO_FAR,
    };
    Failure::new(code, error.to_string()).with_meta(json!({"field": "scheduledAt"}))
}

/// The checks of a placement for agent, variables, workspace and numbers; the rest is checked when the call is due.
fn refused_at_creation(prepared: &Prepared) -> Option<Refused> {
    let asked = |refused: &Refused| *refused == Refused::FromNumberNotOwned || refused.refusal().is_some();
    prepared.refused().filter(asked)
}

/// Calls of a revoked key that one transaction cancels.
const OF_KEY: i64 = 200;

/// `POST /v1/scheduled-calls`.
pub async fn create(
    app: &App,
    caller: &Caller,
    once: Once,
    body: NewScheduledCall,
) -> Result<Answer, Failure> {
    calls::check_metadata(&body.call.metadata)?;
    let (tenant, mode, key) = (caller.tenant(), caller.mode(), caller.key_id());
    let env = app.call_env();
    let now = env.context.now;
    let scheduled_at = body.scheduled_at;
    let order = Order::of(body.call);
    app.of(tenant)
        .tx(move |tx| {
            if let Claim::Given(answer) = once.reserve(tx, now)? {
                return Ok(answer);
            }
            let prepared = calls::prepare(tx, &env, &mut CallCache::default(), mode, order.clone())?;
            if let Some(refused) = refused_at_creation(&prepared) {
                return Err(refused.into());
            }
            let state = schedule(scheduled_at, now).map_err(refuse_time)?;
            let row = ScheduledCallRow { trace: tx.trace(), ..new_row(&env, key, &prepared, state)? };
            scheduled_calls::insert(tx, &row)?;
            scheduled_calls::record(tx, row.id, now, &told("created", &row, json!([])))?;
            tx.wake(topics::SCHEDULED_CALLS);
            let made = ScheduledCallMade { data: view(row.clone()), warnings: prepared.warnings.clone() };
            let made = serde_json::to_value(made).map_err(|why| Failure::internal(why.to_string()))?;
            // An erasure finds the stored answer by its person, as it finds that by number and reference.
            once.finish(tx, 201, &made, Some(&row.id.to_string()))
        })
        .await
}

fn new_row(
    env: &Env,
    key: Option<Id<ApiKey>>,
    prepared: &Prepared,
    state: domain::scheduled_call::ScheduledCall,
) -> Result<ScheduledCallRow, Failure> {
    let agent = prepared.agent.as_ref().ok_or(Refused::AgentNotFound)?;
    let to = prepared.to.ok_or(Refused::InvalidNumber)?;
    let from_number = match &prepared.from {
        OwnNumber::Owned(number) if prepared.order.from_number.is_some() => Some(number.clone()),
        OwnNumber::Owned(_) | OwnNumber::NotOwned | OwnNumber::Nothing => None,
    };
    Ok(ScheduledCallRow {
        id: env.context.ids.make(),
        workspace: prepared.workspace.id,
        mode: prepared.mode,
        api_key: key,
        agent: agent.id,
        to_number: to.to_string(),
        from_number,
        external_ref: prepared.order.external_ref.clone(),
        variables: Value::Object(prepared.order.variables.clone()),
        metadata: Value::Object(prepared.order.metadata.clone()),
        state,
        call: None,
        version: 0,
        created_at: env.context.now,
        trace: None,
    })
}

/// `GET /v1/scheduled-calls`, newest first.
pub async fn list(
    app: &App,
    tenant: Tenant,
    mode: Mode,
    status: Option<Status>,
    limit: i64,
    offset: i64,
) -> Result<ScheduledCallPage, Failure> {
    let page = app.store.read(move |tx| {
        let read = |tx: &mut Tx<'_>, limit: i64, after: Option<&str>| {
            let offset = after.and_then(|after| after.parse().ok()).unwrap_or(offset);
            let rows = scheduled_calls::list(&mut tx.of(tenant), mode, status, limit, offset)?;
            let next = pages::last(&rows, limit, |_| (offset + limit).to_string());
            Ok::<_, DbError>((rows.into_iter().map(view).collect(), next))
        };
        pages::views(tx, limit, None, read, |_: &ScheduledCallView| String::new())
    });
    let (data, next) = page.await?;
    // A page of large rows ends before its limit.
    let next_offset = next.map(|_| offset + data.len() as i64);
    Ok(ScheduledCallPage { data, next_offset })
}

fn not_found() -> Failure {
    Failure::not_found("scheduled call")
}

/// `GET /v1/scheduled-calls/{id}`.
pub async fn get(
    app: &App,
    tenant: Tenant,
    mode: Mode,
    id: ScheduledCallId,
) -> Result<ScheduledCallView, Failure> {
    app.of(tenant).read(move |tx| scheduled_calls::get(tx, mode, id)).await?.map(view).ok_or_else(not_found)
}

/// `GET /v1/scheduled-calls/{id}/timeline`: every decision, then what became of the call.
pub async fn timeline(
    app: &App,
    tenant: Tenant,
    mode: Mode,
    id: ScheduledCallId,
) -> Result<Vec<Value>, Failure> {
    app.of(tenant)
        .read(move |tx| {
            let row = scheduled_calls::get(tx, mode, id)?.ok_or_else(not_found)?;
            let decided = scheduled_calls::decisions(tx, id)?;
            let mut entries: Vec<Value> =
                decided.into_iter().map(|decision| timelines::entry(decision.at, decision.body)).collect();
            if let Some(call) = row.call {
                entries.extend(timelines::after_placement(tx, mode, call)?);
            }
            Ok(entries)
        })
        .await
}

/// `DELETE /v1/scheduled-calls/{id}`.
pub async fn cancel(
    app: &App,
    tenant: Tenant,
    mode: Mode,
    id: ScheduledCallId,
) -> Result<ScheduledCallView, Failure> {
    let context = app.context();
    app.of(tenant)
        .tx(move |tx| {
            let now = context.now;
            let row = scheduled_calls::get_for_update(tx, id)?
                .filter(|row| row.mode == mode)
                .ok_or_else(not_found)?;
            let what = if row.state.dialling { "being dialled" } else { row.state.status.as_str() };
            let decided = step(&row.state, Event::Cancel, now);
            if decided.outcome != EventOutcome::Applied {
                let message = format!("the scheduled call is {what}; only a waiting one can be cancelled");
                return Err(Failure::new(codes::SCHEDULED_CALL_NOT_CANCELLABLE, message)
                    .with_meta(json!({"status": row.state.status.as_str()})));
            }
            let row = save(tx, &context, row, &decided, None)?;
            scheduled_calls::record(tx, id, now, &told("cancel", &row, json!([])))?;
            Ok(view(row))
        })
        .await
}

/// Stores the decision of `step`, and sends the event of a cancelled call.
fn save(
    tx: &mut Tx<'_>,
    context: &Context,
    row: ScheduledCallRow,
    decided: &Transition,
    call: Option<Id<domain::ids::Call>>,
) -> Result<ScheduledCallRow, Failure> {
    let before = row.state.status;
    let row = ScheduledCallRow { state: decided.next, call, ..row };
    if !scheduled_calls::save(tx, &row)? {
        return Err(Failure::internal("a scheduled call was changed by somebody who did not hold it"));
    }
    if row.state.status == Status::Cancelled && before != Status::Cancelled {
        tell_cancelled(tx, context, &row)?;
    }
    Ok(ScheduledCallRow { version: row.version + 1, ..row })
}

/// Writes `scheduled_call.cancelled`; for an erased person it has no personal data.
fn tell_cancelled(tx: &mut Tx<'_>, context: &Context, row: &ScheduledCallRow) -> Result<(), Failure> {
    let (tenant, mode, agent) = (row.workspace, row.mode, row.agent.to_string());
    let mut shown = row.clone();
    let mut subject = None;
    if row.state.erased {
        shown.to_number = store::erasure::ERASED.to_owned();
        (shown.external_ref, shown.variables, shown.metadata) = (None, json!({}), json!({}));
    } else {
        subject = Phone::normalize(&row.to_number).ok().map(|phone| context.keyring.hash_phone(&phone));
    }
    let event = events::Event::ScheduledCallCancelled(view(shown));
    let event = NewEvent { event, mode, agent: Some(&agent), contact: subject.as_deref() };
    events::emit(&mut tx.of(tenant), context, event)?;
    Ok(())
}

/// The timeline's line about a decision: its trigger, and its checks.
fn told(event: &str, row: &ScheduledCallRow, checks: Value) -> Value {
    let state = &row.state;
    let decision = match (state.status, state.dialling) {
        (Status::Scheduled, true) => "dial",
        (Status::Scheduled, false) => "hold",
        (Status::Placed, _) => "ring",
        (Status::Failed | Status::Cancelled, _) => "finish",
    };
    json!({
        "event": event, "checks": checks, "decision": decision, "status": state.status.as_str(), "reason": state.reason.map(Reason::as_str),
        "until": state.next_attempt_at, "callId": row.call,
    })
}

/// A scheduled call that is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Due {
    pub tenant: Tenant,
    pub id: ScheduledCallId,
}

impl DueRow for Due {
    fn tenant(&self) -> Tenant {
        self.tenant
    }

    fn due(tx: &mut Tx<'_>, now: Timestamp, without: &[Tenant], limit: i64) -> Result<Vec<Self>, DbError> {
        let due = scheduled_calls::due(tx, now, without, limit)?;
        Ok(due.into_iter().map(|(tenant, id)| Self { tenant, id }).collect())
    }

    fn claim(&self, tx: &mut Tx<'_>, until: Timestamp) -> Result<(), DbError> {
        scheduled_calls::claim(&mut tx.of(self.tenant), self.id, until)
    }

    fn next_due(tx: &mut Tx<'_>, now: Timestamp) -> Result<Option<Timestamp>, DbError> {
        scheduled_calls::next_due(tx, now)
    }
}

/// Tries a due scheduled call. Returns the call to be dialled after the commit, if nothing blocks it; `None` also when
/// it is not due any more or another node has it. Lines pace it, not the client's limit of calls a minute.
pub async fn try_due(app: &App, Due { tenant, id }: Due) -> Result<Option<CallRow>, Failure> {
    let env = app.call_env();
    app.of(tenant)
        .tx(move |tx| {
            let now = env.context.now;
            let Some(row) = scheduled_calls::take_due(tx, id, now)? else { return Ok(None) };
            let mut round = DialRound::new(env.clone(), Allowances::default());
            round.look(tx, DueScheduledCall(row))?;
            Ok(round.finish().pop().map(Arc::unwrap_or_clone))
        })
        .await
}

/// A scheduled call that is due, locked.
struct DueScheduledCall(ScheduledCallRow);

impl DueDial for DueScheduledCall {
    type Decision = Transition;

    /// Each has three tries, a quarter of an hour apart, and no breaker.
    const BREAKER: bool = false;

    fn tenant(&self) -> Tenant {
        self.0.workspace
    }

    fn mode(&self) -> Mode {
        self.0.mode
    }

    fn api_key(&self) -> Option<Id<ApiKey>> {
        self.0.api_key
    }

    /// One that is being dialled is never due.
    fn in_flight(&self) -> Option<InFlight> {
        None
    }

    fn order(&self) -> Order {
        let row = &self.0;
        let object = |value: &Value| value.as_object().cloned().unwrap_or_default();
        Order {
            from_number: row.from_number.clone(),
            external_ref: row.external_ref.clone(),
            variables: object(&row.variables),
            metadata: object(&row.metadata),
            trace: row.trace,
            ..Order::new(Source::ScheduledCall(row.id), row.agent.to_string(), row.to_number.clone())
        }
    }

    fn decide(&mut self, facts: &DueFacts, now: Timestamp) -> Result<Option<(Transition, Act)>, Failure> {
        let decided = step(&self.0.state, Event::Due(*facts), now);
        if decided.outcome != EventOutcome::Applied {
            let why = format!("a due scheduled call was not tried: {:?}", decided.outcome);
            return Err(Failure::internal(why));
        }
        Ok(Some((decided, decided.act())))
    }

    fn settle(
        self,
        tx: &mut Tx<'_>,
        round: &mut DialRound,
        look: Look<'_, Transition>,
    ) -> Result<(), Failure> {
        round.write(tx)?;
        let call = look.placed().map(|call| call.id);
        let row = save(tx, &round.env.context, self.0, &look.decision, call)?;
        let checks =
            serde_json::from_str(&look.checks()).map_err(|why| Failure::internal(why.to_string()))?;
        Ok(scheduled_calls::record(
            &mut tx.of(row.workspace),
            row.id,
            round.now(),
            &told("due", &row, checks),
        )?)
    }

    /// It stays due; the job retries it.
    fn set_aside(self, _: &mut Tx<'_>, _: &mut DialRound, failure: Failure) -> Result<(), Failure> {
        Err(failure)
    }
}

/// A fact about the call of a scheduled call: the first one is the outcome of the dial.
pub fn after_call_fact(tx: &mut Tx<'_>, env: &Env, call: &CallRow, fact: Fact) -> Result<(), Failure> {
    let Some(id) = call.scheduled_call else { return Ok(()) };
    let now = env.context.now;
    let Some(row) = scheduled_calls::get_for_update(&mut tx.of(call.workspace), id)? else { return Ok(()) };
    if row.call != Some(call.id) {
        return Ok(());
    }
    let (event, what) = match PlacementFailure::of(fact) {
        Some((failure, name)) => (Event::PlacementFailed(failure), name),
        None => (Event::Placed, "placed"),
    };
    let decided = step(&row.state, event, now);
    if decided.outcome != EventOutcome::Applied {
        return Ok(());
    }
    let again = decided.next.status == Status::Scheduled;
    let row = save(tx, &env.context, row, &decided, (!again).then_some(call.id))?;
    scheduled_calls::record(&mut tx.of(row.workspace), id, now, &told(what, &row, json!([])))?;
    if again {
        tx.wake(topics::SCHEDULED_CALLS);
    }
    Ok(())
}

/// Cancels a batch of the waiting calls of a revoked key. Returns how many it cancelled, and whether there may be
/// more.
fn end_of_key(tx: &mut TenantTx, context: &Context, key: Id<ApiKey>) -> Result<(i64, bool), Failure> {
    let rows = scheduled_calls::of_key(tx, key, OF_KEY)?;
    let (more, mut cancelled) = (rows.len() as i64 >= OF_KEY, 0);
    for row in rows {
        let decided = step(&row.state, Event::KeyRevoked, context.now);
        if decided.outcome == EventOutcome::Applied {
            let (id, call) = (row.id, row.call);
            let row = save(tx, context, row, &decided, call)?;
            scheduled_calls::record(tx, id, context.now, &told("key_revoked", &row, json!([])))?;
            cancelled += 1;
        }
    }
    Ok((cancelled, more))
}

/// A key was revoked: cancels its waiting calls, a bounded number in each transaction, and returns how many. One that
/// becomes due before its batch is stopped by the check of its key just before the dial, and so are those that a crash
/// leaves.
pub async fn revoke_key(app: &App, tenant: Tenant, key: Id<ApiKey>) -> Result<i64, Failure> {
    let mut all = 0;
    loop {
        let context = app.context();
        let (cancelled, more) = app.of(tenant).tx(move |tx| end_of_key(tx, &context, key)).await?;
        all += cancelled;
        if !more {
            return Ok(all);
        }
    }
}

/// Cancels every call that waits for a person, found by number or reference, and takes the person's data out
/// of all of them. Returns their ids, by which kept answers are found. The caller's transaction is the
/// erasure.
pub fn erase(
    tx: &mut TenantTx,
    context: &Context,
    to_number: Option<&str>,
    external_ref: Option<&str>,
) -> Result<Vec<ScheduledCallId>, Failure> {
    let now = context.now;
    let rows = scheduled_calls::of_person(tx, to_number, external_ref)?;
    let ids = rows.iter().map(|row| row.id).collect();
    for row in rows {
        let (id, call) = (row.id, row.call);
        let decided = step(&row.state, Event::Erased, now);
        if decided.outcome == EventOutcome::Applied {
            let row = save(tx, context, row, &decided, call)?;
            scheduled_calls::record(tx, id, now, &told("erased", &row, json!([])))?;
        }
        scheduled_calls::redact(tx, id)?;
    }
    Ok(ids)
}
