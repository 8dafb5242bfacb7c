//! What a call needs of its agent.

use std::sync::Arc;

use api::error_codes as codes;
use domain::call::variables::has_value;
use domain::compliance::Pack;
use domain::conversation::{Flow, one_step};

use serde_json::{Map, Value};
use store::TenantTx;
use store::agents::AgentRow;

use super::Refused;
use crate::{Failure, agents, compliance_packs, published_flows};

/// The first reason why this agent cannot place a call (docs/contract/calls.md#refusals).
pub(crate) fn refusal(agent: &AgentRow) -> Option<Refused> {
    let failure = agents::check_outbound(agent).err()?;
    Some(if failure.error == codes::AGENT_NOT_CALL {
        Refused::AgentNotCall
    } else if failure.error == codes::AGENT_NOT_OUTBOUND {
        Refused::AgentNotOutbound
    } else {
        Refused::AgentNotPublished
    })
}

/// What the flow needs and does not have: first variables that neither the call nor the contact has, then
/// tools that are gone.
pub(crate) fn flow_refusal(
    tx: &mut TenantTx,
    agent: &AgentRow,
    given: &Map<String, Value>,
    saved: &Map<String, Value>,
) -> Result<Option<Refused>, Failure> {
    let missing = missing(&published_flows::needs(tx, agent)?.required, given, saved);
    if !missing.is_empty() {
        return Ok(Some(Refused::MissingVariables(missing)));
    }
    unready(tx, agent)
}

/// Those of `required` that neither the call nor the contact has. The call's values override saved ones, also when
/// blank.
pub(super) fn missing(
    required: &[String],
    given: &Map<String, Value>,
    saved: &Map<String, Value>,
) -> Vec<String> {
    let there = |name: &String| {
        has_value(given.get(name).filter(|value| !value.is_null()).or_else(|| saved.get(name)))
    };
    required.iter().filter(|name| !there(name)).cloned().collect()
}

/// Tools that the flow uses and that are gone.
pub(super) fn unready(tx: &mut TenantTx, agent: &AgentRow) -> Result<Option<Refused>, Failure> {
    match agents::flow_readiness(tx, agent) {
        Ok(()) => Ok(None),
        Err(failure) if failure.error == codes::FLOW_NOT_READY => Ok(Some(Refused::FlowNotReady(
            failure.meta.and_then(|mut meta| meta.get_mut("issues").map(Value::take)).unwrap_or_default(),
        ))),
        Err(failure) => Err(failure),
    }
}

/// The flow that its calls run; for an agent that is gone, a flow without words of its own.
pub(super) fn flow(tx: &mut TenantTx, agent: Option<&AgentRow>) -> Result<Arc<Flow>, Failure> {
    agent.map_or_else(
        || Ok(Arc::new(one_step("", &[], false))),
        |agent| published_flows::published_flow(tx, agent),
    )
}

/// The compliance pack that the agent names.
///
/// # Errors
/// Internal only.
pub fn pack(tx: &mut TenantTx, agent: &AgentRow) -> Result<Pack, Failure> {
    compliance_packs::resolve(tx, &agent.policy_ref)?
        .ok_or_else(|| Failure::internal(format!("no compliance pack {}", agent.policy_ref)))
}
