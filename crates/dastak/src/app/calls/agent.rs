//! What a call needs of its agent.

use std::sync::Arc;

use domain::compliance::Pack;
use domain::conversation::{Flow, one_step};
use domain::tenant::Tenant;
use serde_json::{Map, Value};
use store::Tx;
use store::agents::AgentRow;

use super::Refused;
use crate::app::Failure;

/// The first reason why this agent cannot place a call (spec 1 «Errors of placing a call»).
pub(super) fn refusal(agent: &AgentRow) -> Option<Refused> {
    if agent.status != "active" || agent.published.is_none() {
        return Some(Refused::AgentNotPublished);
    }
    if agent.channel != "call" {
        return Some(Refused::AgentNotCall);
    }
    (agent.direction != "outbound").then_some(Refused::AgentNotOutbound)
}

/// The flow that its calls run.
pub(super) fn flow(agent: Option<&AgentRow>) -> Arc<Flow> {
    let published = agent.and_then(|agent| agent.published.as_ref()).and_then(|published| Flow::parse(published).ok());
    Arc::new(published.unwrap_or_else(|| one_step("", &[], false)))
}

/// Names that the flow needs and neither the call nor the person has.
pub(super) fn missing(flow: &Flow, given: &Map<String, Value>, saved: &Map<String, Value>) -> Vec<String> {
    let there = |name: &str| [given, saved].iter().any(|values| values.get(name).is_some_and(|value| !value.is_null()));
    flow.required_variables().into_iter().filter(|name| !there(name)).map(str::to_owned).collect()
}

/// The compliance pack that the agent names.
pub(super) fn pack(_tx: &mut Tx<'_>, _tenant: Tenant, agent: &AgentRow) -> Result<Pack, Failure> {
    Pack::built_in(&agent.policy_ref).ok_or_else(|| Failure::internal(format!("no compliance pack {}", agent.policy_ref)))
}
