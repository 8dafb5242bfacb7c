//! Creating a nudge, and its preflight.

use std::sync::Arc;

use api::error_codes as codes;
use api::nudges::{GateWarning, NewNudge, NudgeForecast, NudgePreflight};
use domain::compliance::{Gate, Pack, Purpose};
use domain::ids::{Agent, ApiKey, Id};
use domain::nudge::{
    Action, Admitted, InvalidVariable, OutsideWindow, Refused, Request, Retry, RetryOn, accept_variables,
    admit,
};
use domain::phone::Phone;
use domain::tenant::{Mode, Tenant};
use domain::time::Timestamp;
use domain::trace::TraceContext;
use domain::window::NudgeWindow;
use runtime::traces;
use serde_json::{Map, Value, json};
use store::agents::AgentRow;
use store::contacts::ContactRow;
use store::nudges::{self, NudgeRow};
use store::{TenantTx, Tx, agents};

use super::batches;
use super::{Changes, Why, emit, note, view};
use crate::access::{self, Caller};
use crate::calls::{self, Dial, Env, OwnNumber};
use crate::contact_view::saved_values;
use crate::idempotency::{Answer, Claim, Once};
use crate::{App, Failure, topics};

/// `Retry-After` with too many nudges waiting, seconds.
const PENDING_RETRY: i64 = 60;

/// A validated body.
pub(super) struct NudgeRequest {
    pub(super) agent: String,
    pub(super) to: Phone,
    pub(super) from: Option<String>,
    external_ref: Option<String>,
    variables: Map<String, Value>,
    metadata: Map<String, Value>,
    scheduled_at: Option<Timestamp>,
    expires_at: Option<Timestamp>,
    outside_window: OutsideWindow,
    retry: Retry,
}

fn read_number(text: &str) -> Result<Phone, Failure> {
    Phone::normalize(text)
        .map_err(|_| Failure::field("toNumber", "must be a valid Indian (+91) subscriber number"))
}

fn moment(field: &str, text: Option<String>) -> Result<Option<Timestamp>, Failure> {
    let read = |text: String| {
        Timestamp::parse(&text)
            .ok_or_else(|| Failure::field(field, "must be an ISO 8601 date-time with a time zone"))
    };
    text.map(read).transpose()
}

fn check(body: NewNudge) -> Result<NudgeRequest, Failure> {
    let variables = accept_variables(body.variables).map_err(|InvalidVariable { key, problem }| {
        Failure::new(codes::INVALID_VARIABLES, format!("variables.{key} {problem}"))
            .with_meta(json!({"key": key, "field": format!("variables.{key}")}))
    })?;
    calls::check_metadata(&body.metadata)?;
    let retry = RetryOn::parse(body.retry.on.iter().map(String::as_str))
        .and_then(|on| Retry::new(body.retry.max_retries, on, body.retry.delay_minutes))
        .map_err(|wrong| {
            Failure::new(codes::INVALID_REQUEST, wrong.to_string()).with_meta(json!({"field": wrong.field()}))
        })?;
    let outside_window = OutsideWindow::parse(&body.outside_window)
        .ok_or_else(|| Failure::field("outsideWindow", "must be one of queue, reject"))?;
    Ok(NudgeRequest {
        to: read_number(&body.to_number)?,
        agent: body.agent_id,
        from: body.from_number,
        external_ref: body.external_ref,
        variables,
        metadata: body.metadata,
        scheduled_at: moment("scheduledAt", body.scheduled_at)?,
        expires_at: moment("expiresAt", body.expires_at)?,
        outside_window,
        retry,
    })
}

/// A request for a nudge.
pub(super) struct Ask {
    pub(super) tenant: Tenant,
    pub(super) mode: Mode,
    pub(super) key: Option<Id<ApiKey>>,
    /// Nudges that may be pending.
    pub(super) limit: i64,
    pub(super) once: Once,
    pub(super) wanted: NudgeRequest,
    /// The trace of the request; the task of another request may carry it out.
    pub(super) trace: Option<TraceContext>,
}

/// `POST /v1/nudges`: stores the nudge; the dialler does the rest.
pub async fn create(app: &App, caller: &Caller, once: Once, body: NewNudge) -> Result<Answer, Failure> {
    let ask = Arc::new(Ask {
        tenant: caller.tenant(),
        mode: caller.mode(),
        key: caller.key_id(),
        limit: caller.limit("pendingNudges"),
        once,
        wanted: check(body)?,
        trace: traces::current(),
    });
    if app.store.shared()
        && let Some(answer) = batches::accept(app, ask.clone()).await
    {
        return answer;
    }
    let env = app.call_env();
    app.store
        .tx(move |tx| {
            let Ask { tenant, mode, key, limit, once, wanted, trace: _ } = &*ask;
            // What follows whatever becomes of the reservation is read together with it.
            tx.pipeline_reads(|tx| {
                let _ = read_agent(&mut tx.of(*tenant), &wanted.agent);
                let _ = calls::own_number(&mut tx.of(*tenant), wanted.from.as_deref());
                let _ = calls::find_contact(&mut tx.of(*tenant), *mode, wanted.to);
                let _ = nudges::find_live(&mut tx.of(*tenant), *mode, &wanted.to.to_string());
                let _ = nudges::pending_in(&mut tx.of(*tenant), *mode);
            });
            if let Claim::Given(answer) = once.reserve(tx, env.context.now)? {
                return Ok(answer);
            }
            let new = new(tx, &env, (*tenant, *mode, *key), wanted)?;
            let row =
                if tx.shared() { store_only(tx, &env, new, *limit)? } else { store(tx, &env, new, *limit)? };
            once.finish(tx, 201, &json!({"data": view(&row)}), Some(&row.person))
        })
        .await
}

/// Creates a live nudge of the service's own, such as one of a board, in the transaction of the caller. It is dialled
/// like every other one, as soon as its gates allow it, and expires after a day.
///
/// # Errors
/// Those of `POST /v1/nudges`.
pub fn create_own(
    tx: &mut TenantTx,
    env: &Env,
    agent: Id<Agent>,
    to: Phone,
    metadata: Map<String, Value>,
) -> Result<Id<domain::ids::Nudge>, Failure> {
    let tenant = tx.tenant();
    let wanted = NudgeRequest {
        agent: agent.to_string(),
        to,
        from: None,
        external_ref: None,
        variables: Map::new(),
        metadata,
        scheduled_at: None,
        expires_at: None,
        outside_window: OutsideWindow::Queue,
        retry: Retry::default(),
    };
    let limit = access::limit(&access::workspace(tx)?, "pendingNudges");
    let row = new(tx, env, (tenant, Mode::Live, None), &wanted)?;
    Ok(store(tx, env, row, limit)?.id)
}

/// The data that a nudge refers to.
pub(super) struct Facts<'a> {
    pub(super) agent: &'a AgentRow,
    pub(super) pack: &'a Pack,
    pub(super) from: OwnNumber,
    pub(super) contact: Option<ContactRow>,
}

/// The owner of a nudge: the workspace, the mode, and the key.
type Whose = (Tenant, Mode, Option<Id<ApiKey>>);

/// The nudge to be stored, if agent, numbers, variables and times are valid.
fn new(
    tx: &mut Tx<'_>,
    env: &Env,
    (tenant, mode, key): Whose,
    wanted: &NudgeRequest,
) -> Result<(NudgeRow, Admitted), Failure> {
    let agent = read_agent(&mut tx.of(tenant), &wanted.agent)?;
    let (agent, pack) = callable(&mut tx.of(tenant), agent)?;
    let from = calls::own_number(&mut tx.of(tenant), wanted.from.as_deref())?;
    let contact = calls::find_contact(&mut tx.of(tenant), mode, wanted.to)?;
    made(tx, env, (tenant, mode, key), wanted, Facts { agent: &agent, pack: &pack, from, contact })
}

/// The same from data that was read already.
pub(super) fn made(
    tx: &mut Tx<'_>,
    env: &Env,
    (tenant, mode, key): Whose,
    wanted: &NudgeRequest,
    Facts { agent, pack, from, contact }: Facts<'_>,
) -> Result<(NudgeRow, Admitted), Failure> {
    let from = match from {
        OwnNumber::Owned(_)
            if wanted.from.is_none() && pack.number_series.iter().any(|rule| rule.refuses) =>
        {
            let tx = &mut tx.of(tenant);
            let of = (&access::workspace(tx)?, agent, pack);
            calls::own_number_for(tx, env.context.now, of, None)?.into_owned()
        }
        OwnNumber::Owned(number) => Some(number),
        OwnNumber::Nothing => None,
        OwnNumber::NotOwned => return Err(calls::Refused::FromNumberNotOwned.into()),
    };
    let saved = contact.as_ref().map(saved_values).unwrap_or_default();
    if let Some(refused) = calls::flow_refusal(&mut tx.of(tenant), agent, &wanted.variables, &saved)? {
        return Err(refused.into());
    }
    let id = env.context.ids.dated::<domain::ids::Nudge>();
    let request = Request {
        key: id.bits(),
        scheduled_at: wanted.scheduled_at,
        expires_at: wanted.expires_at,
        outside_window: wanted.outside_window,
        retry: wanted.retry,
        hours: &pack.hours,
    };
    let admitted = admit(&request, env.context.now).map_err(refuse)?;
    let phone_hash = env.context.keyring.hash_phone(&wanted.to);
    let row = NudgeRow {
        id,
        workspace: tenant,
        mode,
        api_key: key,
        agent: agent.id,
        person: contact.map_or_else(|| phone_hash.clone(), |contact| contact.id.to_string()),
        phone_hash,
        to_number: Some(wanted.to.to_string()),
        from_number: from,
        from_given: wanted.from.is_some(),
        external_ref: wanted.external_ref.clone(),
        variables: Value::Object(wanted.variables.clone()),
        metadata: Value::Object(wanted.metadata.clone()),
        state: admitted.nudge,
        call: None,
        // The time inside the id: a range of time is a range of ids.
        created_at: Timestamp(id.unix_ms()),
        look_at: super::look_at(&admitted.nudge, None, env.context.now),
        version: 0,
        trace: tx.trace(),
    };
    Ok((row, admitted))
}

fn refuse(refused: Refused) -> Failure {
    match refused {
        Refused::InvalidSchedule(problem) => Failure::new(codes::INVALID_SCHEDULE, problem),
        Refused::OutsideCallingWindow { next_window_at } => {
            Failure::new(codes::OUTSIDE_CALLING_WINDOW, refused.to_string())
                .with_meta(json!({"nextWindowAt": next_window_at}))
        }
    }
}

/// The agent of this id, as it was given.
fn read_agent(tx: &mut TenantTx, agent: &str) -> Result<Option<AgentRow>, Failure> {
    Ok(match agent.parse() {
        Ok(id) => agents::get(tx, id)?,
        Err(_) => None,
    })
}

/// An agent that was asked for, if it can place calls, with its pack.
pub(super) fn callable(tx: &mut TenantTx, agent: Option<AgentRow>) -> Result<(AgentRow, Pack), Failure> {
    let agent = agent.ok_or(calls::Refused::AgentNotFound)?;
    if let Some(refused) = calls::agent_refusal(&agent) {
        return Err(refused.into());
    }
    let pack = calls::pack(tx, &agent)?;
    Ok((agent, pack))
}

pub(super) fn in_flight(nudge: Id<domain::ids::Nudge>) -> Failure {
    Failure::new(
        codes::NUDGE_IN_FLIGHT,
        "another nudge to toNumber is live, see meta.nudgeId; wait until it is finished, or cancel it",
    )
    .with_meta(json!({"nudgeId": nudge}))
}

pub(super) fn full(limit: i64) -> Failure {
    let message = format!("{limit} nudges are queued or scheduled, which is the limit; try again later");
    Failure { retry_after: Some(PENDING_RETRY), ..Failure::new(codes::PENDING_LIMIT, message) }
}

fn store(
    tx: &mut Tx<'_>,
    env: &Env,
    (row, admitted): (NudgeRow, Admitted),
    limit: i64,
) -> Result<NudgeRow, Failure> {
    let number = row.to_number.as_deref().unwrap_or_default();
    if let Some(live) = nudges::find_live(&mut tx.of(row.workspace), row.mode, number)? {
        return Err(in_flight(live));
    }
    if !nudges::insert(tx, &row)? {
        // Another request made one at this very moment.
        return Err(match nudges::find_live(&mut tx.of(row.workspace), row.mode, number)? {
            Some(live) => in_flight(live),
            None => store::DbError::Retry("a nudge to the number was live a moment ago".into()).into(),
        });
    }
    let mut changes = Changes::none();
    tell(tx, env, &row, &admitted, &mut changes)?;
    changes.write(tx)?;
    if super::counts(&row.state).0 == 0 {
        return Ok(row);
    }
    if !nudges::touch_within(&mut tx.of(row.workspace), row.mode, row.look_at, limit)? {
        return Err(full(limit));
    }
    tx.wake(topics::DIALLER);
    Ok(row)
}

/// The same on a shared store, for the only nudge of its transaction: its data is read before anything is written, and
/// verified with the commit.
fn store_only(
    tx: &mut Tx<'_>,
    env: &Env,
    (row, admitted): (NudgeRow, Admitted),
    limit: i64,
) -> Result<NudgeRow, Failure> {
    let (tenant, mode) = (row.workspace, row.mode);
    if let Some(live) =
        nudges::find_live(&mut tx.of(tenant), mode, row.to_number.as_deref().unwrap_or_default())?
    {
        return Err(in_flight(live));
    }
    if super::counts(&row.state).0 > 0 {
        let pending = nudges::pending_in(&mut tx.of(tenant), mode)?;
        if !nudges::admit(&mut tx.of(tenant), mode, pending, row.look_at, limit)? {
            return Err(full(limit));
        }
        tx.wake(topics::DIALLER);
    }
    nudges::insert_only(tx, &row)?;
    let mut changes = Changes::none();
    tell(tx, env, &row, &admitted, &mut changes)?;
    changes.write(tx)?;
    Ok(row)
}

/// Stores the creation of a nudge: its first line of the timeline, which `changes` stores, and its events.
pub(super) fn tell(
    tx: &mut Tx<'_>,
    env: &Env,
    row: &NudgeRow,
    admitted: &Admitted,
    changes: &mut Changes,
) -> Result<(), Failure> {
    let window = json!([{"check": "calling_window", "ok": admitted.nudge.status_reason.is_none(), "at": row.state.scheduled_at.unwrap_or(env.context.now)}]);
    note(tx, &env.context, row, None, Why { event: "created", checks: window.to_string() }, changes)?;
    for action in &admitted.actions {
        match action {
            Action::Emit(notice) => emit(tx, &env.context, row, *notice, None)?,
            Action::Place | Action::WakeAt(_) | Action::AddToDoNotCall => {}
        }
    }
    Ok(())
}

/// `POST /v1/nudges/preflight`: the current obstacles of a dial. Stores nothing.
pub async fn preflight(
    app: &App,
    tenant: Tenant,
    mode: Mode,
    body: NudgePreflight,
) -> Result<NudgeForecast, Failure> {
    let to = read_number(&body.to_number)?;
    let env = app.call_env();
    app.of(tenant)
        .read(move |tx| {
            let agent = read_agent(tx, &body.agent_id)?;
            let (agent, pack) = callable(tx, agent)?;
            let workspace = access::workspace(tx)?;
            let of = (&workspace, &agent, &pack);
            let from = calls::own_number_for(tx, env.context.now, of, body.from_number.as_deref())?;
            if from == OwnNumber::NotOwned {
                return Err(calls::Refused::FromNumberNotOwned.into());
            }
            let contact = calls::find_contact(tx, mode, to)?;
            let kind = calls::kind_of(&workspace, &agent, from.owned())?;
            let dial = Dial { tenant, mode, purpose: Purpose::Nudge, to, contact: contact.as_ref(), kind };
            let judgement = calls::judge_gates(tx, &env, &pack, dial)?;
            let block = judgement.block_besides_window();
            let of_series = block.filter(|gate| *gate == Gate::NumberSeries).and(judgement.series);
            let warning = |message| GateWarning { gate: Gate::NumberSeries.as_str(), message };
            let window = NudgeWindow::new(&pack.hours);
            Ok(NudgeForecast {
                to_number: to.to_string(),
                blocked: block.is_some(),
                block_reason: block.map(|gate| gate.as_str()),
                block_message: of_series.and_then(|demand| demand.message()),
                warnings: judgement.warning().into_iter().map(warning).collect(),
                inside_window: window.is_open(env.context.now),
                next_window_at: window.opens_again(env.context.now),
            })
        })
        .await
}

impl Changes {
    /// Nothing changed yet.
    pub(super) fn none() -> Self {
        Self::default()
    }
}
