//! Placing a call: the intent, the dial, the answer.

use std::sync::Arc;
use std::time::Duration;

use api::calls::{NewCall, PlacedCall};
use api::error_codes as codes;
use domain::call::{Direction, Fact, Progress, Status, Warning};
use domain::compliance::{Gate, Pack, Purpose, Ruling, demand};
use domain::decision_log::{Chain, Channel, Decision, Entry};
use domain::ids::Call;
use domain::phone::Phone;
use domain::ports::{DialError, DialOrder};
use domain::tenant::{Mode, Tenant};
use domain::time::{MINUTE, SECOND, Timestamp};
use domain::trace::TraceContext;
use domain::window::NudgeWindow;
use runtime::traces::SpanKind;
use serde_json::Value;
use store::Tx;
use store::calls::{self, CallRow, Upkeep};

use super::apply::apply_owing;
use super::intents::{Ask, Intent, intend};
use super::outcome_batches::store_it;
use super::{CallCache, Env, Order, Prepared, Refused, check_metadata, contact, holds};
use crate::call_env::LEASE_MARGIN;
use crate::idempotency::{Answer, Once};
use crate::{App, Failure, topics};

/// How long a dial may take before the carrier is asked for its outcome.
pub(super) const PLACING_LEASE: i64 = 30 * SECOND;
/// Retry delays of storing the carrier's answer.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// `POST /v1/calls`.
pub async fn place(
    app: &Arc<App>,
    tenant: Tenant,
    mode: Mode,
    once: Once,
    body: NewCall,
) -> Result<Answer, Failure> {
    check_metadata(&body.metadata)?;
    let real = app.carriers.in_mode(mode).is_some_and(|carrier| !carrier.simulated());
    if real && !app.node.in_service() {
        // The line would be held here. Another node can place it, also if this one has had the request before.
        let message =
            "this node is drained and places no calls; send the request again to reach another node";
        return Err(Failure { retry_after: Some(1), ..Failure::new(codes::UNAVAILABLE, message) });
    }
    let order = Order { once: once.key_and_holder(), trace: runtime::traces::current(), ..Order::of(body) };
    let intent = intend(app, Ask { tenant, mode, once: once.clone(), order }).await?;
    match intent {
        Intent::Given(answer) => Ok(answer),
        Intent::Refused(failure) => Err(failure),
        Intent::Dial(call, warnings) => dial_counted(app, call, Some((once, warnings))).await,
    }
}

/// Dials in a task of its own; the manual clock waits for it.
async fn dial_counted(app: &Arc<App>, call: Arc<CallRow>, request: Request) -> Result<Answer, Failure> {
    let (done, dialled) = tokio::sync::oneshot::channel();
    let dialler = app.clone();
    app.clock.spawn(async move {
        let outcome = dial(&dialler, call, request).await;
        // The client may have gone; the outcome is stored anyway.
        let _ = done.send(outcome);
    });
    match dialled.await {
        Ok(outcome) => outcome?.1,
        Err(_) => Err(Failure::internal("a dial ended without an outcome")),
    }
}

/// The request that waits for the answer, with its warnings.
pub(super) type Request = Option<(Once, Vec<Warning>)>;
/// The outcome of a dial, and the response to the request.
pub(super) type Settled = (Result<CallRow, DialError>, Result<Answer, Failure>);

/// Sends the dial of a call that [`place_intent`] stored to the carrier, and stores its answer, after all dials that
/// are due at once ([`Burst`](super::Burst)). For callers that the clock counts (jobs). What placed the call gets the
/// outcome as a fact ([`crate::Hooks::call_fact`]), whichever node stores it.
pub async fn start_dial(app: &App, call: Arc<CallRow>) -> Result<Result<CallRow, DialError>, Failure> {
    Ok(dial(app, call, None).await?.0)
}

async fn dial(app: &App, call: Arc<CallRow>, request: Request) -> Result<Settled, Failure> {
    let now = app.clock.now();
    let mut span = app.traces.begin(SpanKind::Client, "dial", call.trace);
    let outcome = match (app.carriers.in_mode(call.mode), dial_order(&call)) {
        (Some(carrier), Some(order)) if may_dial(&call, now) => {
            span.set("dastak.carrier.simulated", carrier.simulated());
            app.clock.outside(span.within(carrier.dial(order))).await
        }
        _ => Err(DialError::ProviderErrorBeforeRing),
    };
    let result = match &outcome {
        Ok(_) => "taken",
        Err(DialError::ProviderErrorBeforeRing) => "provider_error",
        Err(DialError::Uncertain) => "possibly_placed",
    };
    span.set("dastak.dial.result", result);
    if outcome.is_err() {
        span.failed(result);
    }
    // The dial itself is over, also if it is stored late.
    let dialled = span.context();
    drop(span);
    if request.is_none() {
        app.clock.outside(app.burst.over()).await;
    }
    // On the heap, and only now: thousands of dials may wait for the end of a burst, and storing takes many times their
    // memory.
    let storing = Box::pin(store_outcome(app, call, (outcome, Some(now)), request));
    runtime::traces::within(dialled, storing).await
}

/// Whether the decision is still valid: the store may have been slow, the machine may have slept, its clock may have
/// been set.
fn may_dial(call: &CallRow, now: Timestamp) -> bool {
    call.next_step_at
        .is_some_and(|lease| lease.plus(-PLACING_LEASE) <= now && now < lease.plus(-LEASE_MARGIN))
}

/// The end of the lease of a call that is placed now. It is early enough that nothing is dialled after the
/// calling hours, or on the day from which a rule refuses it.
fn lease(prepared: &Prepared, now: Timestamp) -> Timestamp {
    let refused = |pack: &Pack, at: Timestamp| {
        let kind = prepared.kind.filter(|_| prepared.mode == Mode::Live);
        let demand = kind.and_then(|kind| demand(&pack.number_series, &kind, at));
        demand.is_some_and(|demand| demand.ruling == Ruling::Refuses)
    };
    let open = |at: Timestamp| {
        prepared.pack.as_ref().is_none_or(|pack| match prepared.order.source.purpose() {
            _ if refused(pack, at) => false,
            Purpose::Nudge => NudgeWindow::new(&pack.hours).is_open(at),
            Purpose::Call | Purpose::Transfer { .. } => pack.hours.is_open(at),
        })
    };
    let mut whole = now.plus(PLACING_LEASE);
    if let Some(until) = prepared.order.until {
        whole = whole.min(until.plus(LEASE_MARGIN));
    }
    if !open(now) || open(whole.plus(-LEASE_MARGIN)) {
        return whole;
    }
    // Hours and days begin and end with a minute.
    let end_of_minute = Timestamp((now.0.div_euclid(MINUTE) + 1) * MINUTE);
    whole.min(end_of_minute.plus(LEASE_MARGIN))
}

/// The dial in the form of the carrier's port.
pub(super) fn dial_order(call: &CallRow) -> Option<DialOrder> {
    Some(DialOrder {
        workspace: call.workspace,
        call: call.id,
        to: Phone::normalize(&call.to_number).ok()?,
        from: call.from_number.clone(),
        carrier: call.carrier.clone(),
        network: call.network,
    })
}

/// Stores the carrier's answer, and the response to the request that waits for it. While the store is away it is
/// retried: a line whose outcome is not stored would be dropped, though somebody may have answered it. It is
/// idempotent. With the outcome comes the time of the dial, if it is known.
pub(super) async fn store_outcome(
    app: &App,
    call: Arc<CallRow>,
    (outcome, dialled_at): (Result<String, DialError>, Option<Timestamp>),
    request: Request,
) -> Result<Settled, Failure> {
    let carrier = app.carriers.in_mode(call.mode).filter(|_| call.network.is_none());
    let (id, outcome, request) = (call.id, Arc::new(outcome), Arc::new(request));
    let mut pause = FIRST_PAUSE;
    let settled = loop {
        let failure = match store_it(app, call.clone(), (outcome.clone(), dialled_at), request.clone()).await
        {
            Ok(settled) => break settled,
            Err(failure) => failure,
        };
        if failure.error != codes::UNAVAILABLE || app.clock.stopping() {
            return Err(failure);
        }
        failure.warn_about(id, "the outcome of a dial could not be stored; trying again");
        // In real time: this may be one of several tasks for which a job waits, which a manual clock counts as one. The
        // clock stops meanwhile.
        let mut stopped = app.clock.stopped();
        tokio::select! {
            () = tokio::time::sleep_until(tokio::time::Instant::now() + pause) => {}
            _ = stopped.changed() => {}
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
    };
    if let Some(carrier) = carrier.filter(|_| outcome.is_ok()) {
        carrier.settled(id, settled.0.is_ok());
    }
    Ok(settled)
}

/// The carrier's answer, and the time of the dial.
pub(super) type Heard = (Arc<Result<String, DialError>>, Option<Timestamp>);

/// The second transaction of a placement.
pub(super) async fn store_once(
    app: &App,
    call: Arc<CallRow>,
    heard: Heard,
    request: Arc<Request>,
) -> Result<Settled, Failure> {
    let env = app.call_env();
    app.store
        .tx(move |tx| {
            let mut bills = Vec::new();
            let settled = store_outcome_of(tx, &env, &call, &heard, &request, &mut bills)?;
            holds::pay_all(tx, &env, bills)?;
            Ok::<_, Failure>(settled)
        })
        .await
}

/// Stores an outcome in the caller's transaction. The call's charge must be paid at its end.
pub(super) fn store_outcome_of(
    tx: &mut Tx<'_>,
    env: &Env,
    call: &CallRow,
    (outcome, dialled_at): &Heard,
    waits: &Request,
    bills: &mut Vec<holds::Bill>,
) -> Result<Settled, Failure> {
    let row = calls::get_for_update(&mut tx.of(call.workspace), call.id)?;
    let once =
        waits.as_ref().map(|(once, _)| once.clone()).or_else(|| once_of(call)).unwrap_or_else(Once::unkeyed);
    let warnings = waits.as_ref().map(|(_, warnings)| warnings.clone()).unwrap_or_default();
    let outcome = match row {
        Some(row) if row.progress.status == Status::Queued => {
            let dialled_at = row.dialled_at.or(*dialled_at);
            settle(tx, env, CallRow { dialled_at, ..row }, outcome, bills)?
        }
        // It is stored: by a try whose answer was lost, or by another node, because this one took longer than its
        // lease.
        Some(row) if row.provider_call.is_some() => Ok(row),
        Some(_) => Err(outcome.as_ref().as_ref().err().copied().unwrap_or(DialError::Uncertain)),
        None => Err(DialError::ProviderErrorBeforeRing),
    };
    let answer = answer(tx, &once, &outcome, &warnings)?;
    Ok((outcome, answer))
}

/// The key of the request that placed the call, for the node that settles it after a crash.
fn once_of(call: &CallRow) -> Option<Once> {
    let (key, holder) = call.once.clone()?;
    Some(Once::keyed(call.workspace.to_string(), call.mode, "placeCall", key, String::new(), holder))
}

fn settle(
    tx: &mut Tx<'_>,
    env: &Env,
    mut row: CallRow,
    outcome: &Result<String, DialError>,
    bills: &mut Vec<holds::Bill>,
) -> Result<Result<CallRow, DialError>, Failure> {
    let now = env.context.now;
    row.once = None;
    match outcome {
        Ok(provider_call) => {
            row.provider_call = Some(provider_call.clone());
            // A simulated network uses the time of its dial, however late this is.
            let at = row.dialled_at.filter(|_| row.network.is_some()).unwrap_or(now);
            let (row, bill) = apply_owing(tx, env, row, Fact::Ringing, at, None)?;
            bills.extend(bill);
            Ok(Ok(row))
        }
        Err(error) => {
            bills.extend(apply_owing(tx, env, row, fact_of(outcome), now, None)?.1);
            Ok(Err(*error))
        }
    }
}

/// The facts of an outcome.
pub(super) fn fact_of(outcome: &Result<String, DialError>) -> Fact {
    match outcome {
        Ok(_) => Fact::Ringing,
        Err(DialError::ProviderErrorBeforeRing) => Fact::NotPlaced,
        Err(DialError::Uncertain) => Fact::Uncertain,
    }
}

/// The response to the request, stored with its key.
fn answer(
    tx: &mut Tx<'_>,
    once: &Once,
    outcome: &Result<CallRow, DialError>,
    warnings: &[Warning],
) -> Result<Result<Answer, Failure>, Failure> {
    match outcome {
        Ok(call) => {
            let provider_call_id = call.provider_call.clone().unwrap_or_default();
            let body = PlacedCall {
                placed: true,
                interaction_id: call.id,
                provider_call_id,
                warnings: warnings.to_vec(),
            };
            let body = serde_json::to_value(body).map_err(|why| Failure::internal(why.to_string()))?;
            let contact = call.contact.map(|contact| contact.to_string());
            Ok(Ok(once.finish(tx, 200, &body, contact.as_deref())?))
        }
        Err(DialError::ProviderErrorBeforeRing) => {
            once.free(tx)?;
            Ok(Err(Failure::new(
                codes::CALL_NOT_PLACED,
                "the carrier refused the call before any ring, so nobody was called; the request can \
                 be sent again",
            )))
        }
        Err(DialError::Uncertain) => {
            // A retry of the request must not dial again: it gets this answer.
            let failure = Failure::plain(codes::POSSIBLY_PLACED);
            once.finish(tx, failure.error.status, &failure.body(), None)?;
            Ok(Err(failure))
        }
    }
}

/// Stores an accepted call: `queued`, with a hold on the wallet and a line. [`Known::finish`] must follow in the
/// transaction; the caller commits and then dials.
///
/// # Errors
/// [`Refused::InsufficientBalance`] when the wallet does not cover it after all.
pub fn place_intent(
    tx: &mut Tx<'_>,
    env: &Env,
    known: &mut CallCache,
    prepared: &Prepared,
) -> Result<Arc<CallRow>, Failure> {
    let live = prepared.mode == Mode::Live;
    if live && known.wallet(&mut tx.of(prepared.workspace.id), Mode::Live)?.1 < prepared.price() {
        return Err(Refused::InsufficientBalance.into());
    }
    let mut call = new_call(tx, env, known, prepared)?;
    call.line = live;
    call.concurrent = prepared.lines_in_use + 1;
    call.network = match env.carriers.in_mode(prepared.mode).zip(prepared.to) {
        Some((carrier, to)) if carrier.takes_line(to) && known.reserve_line(env, carrier.as_ref()) => None,
        Some((carrier, to)) => carrier.network(to),
        None => None,
    };
    // A simulated network uses this time. The time in the id never goes back, also when the clock does.
    call.dialled_at = call.network.map(|_| env.context.now);
    call.next_step_at = Some(lease(prepared, env.context.now));
    call.once = prepared.order.once.clone();
    let call = write(tx, known, env, prepared, call, None)?;
    if live {
        known.placed(&call);
    }
    let (undialled, written) = (env.undialled.clone(), call.clone());
    tx.if_uncertain(move || undialled.add(written));
    tx.wake(topics::CALLS);
    Ok(call)
}

/// Stores a call that a gate refused: it is listed with `state: blocked` and never dialled. [`Known::finish`] must
/// follow in the transaction.
pub fn block(
    tx: &mut Tx<'_>,
    env: &Env,
    known: &mut CallCache,
    prepared: &Prepared,
    gate: Gate,
) -> Result<Arc<CallRow>, Failure> {
    let mut call = new_call(tx, env, known, prepared)?;
    call.progress.status = Status::Blocked;
    call.progress.ended_at = Some(call.started_at);
    call.block_reason = Some(gate.as_str().to_owned());
    write(tx, known, env, prepared, call, Some(gate))
}

/// Stores the call, and the record of the decision, before anything is dialled: every gate with its verdict and
/// evidence.
fn write(
    tx: &mut Tx<'_>,
    known: &mut CallCache,
    env: &Env,
    prepared: &Prepared,
    call: CallRow,
    blocked: Option<Gate>,
) -> Result<Arc<CallRow>, Failure> {
    let entry = Entry {
        timestamp: env.context.now,
        interaction_id: call.id.to_string(),
        decision: if blocked.is_some() { Decision::Blocked } else { Decision::Allowed },
        blocked_by: blocked.map(|gate| gate.as_str().to_owned()),
        gate_results: prepared
            .judgement
            .as_ref()
            .map(|judged| judged.gate_results.clone())
            .unwrap_or_default(),
        outcome: None,
        recording_ref: None,
        consent_ref: None,
        is_test: call.mode == Mode::Test,
        channel: Channel::Voice,
        agent_id: call.agent.map(|agent| agent.to_string()),
    };
    known.chains.record(call.workspace, Chain::Audit, entry);
    known.add_call(tx, call)
}

fn new_call(
    tx: &mut Tx<'_>,
    env: &Env,
    known: &mut CallCache,
    prepared: &Prepared,
) -> Result<CallRow, Failure> {
    let (order, tenant) = (&prepared.order, prepared.workspace.id);
    let to = prepared.to.ok_or(Refused::InvalidNumber)?;
    let reference = order.external_ref.as_deref();
    let variables = (!order.source.keeps_variables()).then_some(&order.variables);
    let known_as = contact::KnownAs { reference, name: order.name.as_deref(), variables };
    let found = contact::ensure(&mut tx.of(tenant), &env.context, prepared.mode, &prepared.who, known_as)?;
    if let Some(row) = found.new {
        known.add_contact(tenant, row);
    }
    let id = env.context.ids.dated::<Call>();
    Ok(CallRow {
        id,
        workspace: tenant,
        mode: prepared.mode,
        agent: prepared.agent.as_ref().map(|agent| agent.id),
        contact: Some(found.id),
        campaign: order.source.campaign(),
        nudge: order.source.nudge(),
        scheduled_call: order.source.scheduled_call(),
        direction: Direction::Outbound,
        progress: Progress::placing(),
        answered_by: None,
        flow_version: None,
        outcome: None,
        to_number: to.to_string(),
        from_number: prepared.shown_number(),
        carrier: prepared.carrier.clone(),
        external_ref: found.external_ref,
        variables: prepared.values.clone(),
        metadata: Value::Object(order.metadata.clone()),
        provider_call: None,
        // The time inside the id: a range of time is a range of ids.
        started_at: Timestamp(id.unix_ms()),
        dialled_at: None,
        block_reason: None,
        hang_up_at: None,
        language: prepared.agent.as_ref().map(|agent| agent.language.clone()),
        sentiment: None,
        price: prepared.price(),
        concurrent: 0,
        line: false,
        network: None,
        script_step: 0,
        next_step_at: None,
        once: None,
        upkeep: Upkeep::default(),
        version: 0,
        trace: TraceContext::nearest(tx.trace(), order.trace),
    })
}
