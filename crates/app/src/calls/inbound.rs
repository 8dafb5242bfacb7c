//! Calls that come in on a workspace's number (docs/contract/calls.md#incoming-calls): answered by the
//! number's agent, or declined and counted.

use domain::call::{Direction, Progress, Status};
use domain::compliance::read_own_number;
use domain::phone::Phone;
use domain::tenant::Mode;
use domain::time::Timestamp;
use serde_json::{Map, Value};
use store::calls::{self, CallRow};
use store::{TenantTx, Tx, agents, contacts, numbers, wallet, workspaces};

use super::{Env, contact};
use crate::{App, Failure, access, numbers as number_rules};

/// Caller and called number.
#[derive(Debug, Clone)]
pub struct Caller {
    /// The called number, as the carrier gave it.
    pub to: String,
    /// The caller's number, as the carrier gave it; empty when withheld.
    pub from: String,
    /// The carrier's id of the call.
    pub provider_call: String,
    /// The carrier that delivers it, by its name in the settings.
    pub carrier: String,
}

/// The decision on an incoming call.
#[derive(Debug)]
pub enum Welcome {
    /// It is stored and rings; this node holds it.
    Answer(Box<CallRow>),
    /// It is declined with this SIP status; counted unless nobody owns the number.
    Decline(u16, &'static str),
}

/// Decides on an incoming call and stores it. `None` for a number that nobody owns.
pub async fn answerable(app: &App, caller: Caller) -> Result<Welcome, Failure> {
    let env = app.call_env();
    app.store.tx(move |tx| decide(tx, &env, &caller)).await
}

fn decide(tx: &mut Tx<'_>, env: &Env, caller: &Caller) -> Result<Welcome, Failure> {
    let number = read_own_number(&caller.to).unwrap_or_else(|| caller.to.clone());
    let Some((tenant, number)) = numbers::owner(tx, &number)? else {
        return Ok(Welcome::Decline(404, "nobody owns the number"));
    };
    let Some(workspace) = workspaces::get_for_update(&mut tx.of(tenant))? else {
        return Ok(Welcome::Decline(404, "nobody owns the number"));
    };
    let agent = match number.inbound_agent {
        Some(id) => {
            agents::get(&mut tx.of(tenant), id)?.filter(|agent| number_rules::check_inbound(agent).is_ok())
        }
        None => None,
    };
    let (mine, all) = calls::lines(&mut tx.of(tenant))?;
    let from = Phone::normalize(&caller.from).ok();
    let mut row = new_call(&mut tx.of(tenant), env, caller, &number.number, from)?;
    row.agent = agent.as_ref().map(|agent| agent.id);
    row.language = agent.as_ref().map(|agent| agent.language.clone());
    row.price = workspace.cost_per_minute;
    let why = match () {
        () if workspace.suspended => Some((403, "the workspace is suspended")),
        () if agent.is_none() => Some((480, "no agent answers the number")),
        () if mine >= access::limit(&workspace, "concurrentCalls") || all >= env.platform_lines => {
            Some((486, "no line is free"))
        }
        () if !wallet::reserve(&mut tx.of(tenant), row.price, 1)? => Some((480, "the wallet is empty")),
        () => None,
    };
    if let Some((status, reason)) = why {
        row.progress.status = Status::Blocked;
        row.progress.ended_at = Some(row.started_at);
        row.block_reason = Some(reason.to_owned());
        calls::insert(tx, &[&row])?;
        calls::touch_hour(tx, &row)?;
        return Ok(Welcome::Decline(status, reason));
    }
    row.line = true;
    row.concurrent = mine + 1;
    row.progress.status = Status::Ringing;
    row.next_step_at = super::apply::next_look(&row, env);
    calls::insert(tx, &[&row])?;
    calls::touch_hour(tx, &row)?;
    Ok(Welcome::Answer(Box::new(row)))
}

fn new_call(
    tx: &mut TenantTx,
    env: &Env,
    caller: &Caller,
    to: &str,
    from: Option<Phone>,
) -> Result<CallRow, Failure> {
    let tenant = tx.tenant();
    let (contact, external_ref) = match from {
        Some(phone) => {
            let who = contact::find(tx, Mode::Live, None, Some(phone))?;
            let found = {
                let known_as = contact::KnownAs { reference: None, name: None, variables: None };
                contact::ensure(tx, &env.context, Mode::Live, &who, known_as)?
            };
            contacts::insert_all(tx, found.new.iter().map(|row| (tenant, row)))?;
            (Some(found.id), found.external_ref)
        }
        // Withheld, or from abroad: a person without a number that could be stored.
        None => (None, None),
    };
    let id = env.context.ids.dated::<domain::ids::Call>();
    Ok(CallRow {
        id,
        workspace: tenant,
        mode: Mode::Live,
        agent: None,
        contact,
        campaign: None,
        nudge: None,
        scheduled_call: None,
        direction: Direction::Inbound,
        trace: tx.trace(),
        progress: Progress::placing(),
        answered_by: None,
        flow_version: None,
        outcome: None,
        to_number: to.to_owned(),
        from_number: from.map_or_else(|| caller.from.chars().take(32).collect(), |phone| phone.to_string()),
        external_ref,
        variables: Map::new(),
        metadata: Value::Object(Map::new()),
        provider_call: Some(caller.provider_call.clone()),
        carrier: Some(caller.carrier.clone()),
        started_at: Timestamp(id.unix_ms()),
        dialled_at: None,
        block_reason: None,
        hang_up_at: None,
        language: None,
        sentiment: None,
        price: 0,
        concurrent: 0,
        line: false,
        network: None,
        script_step: 0,
        next_step_at: None,
        once: None,
        upkeep: calls::Upkeep::default(),
        version: 0,
    })
}
