//! Criteria of agents, in versions, and the share of conversations that is graded by itself.

use api::evaluations::{AgentEvaluation, EvaluationCriterion, NewAgentEvaluation, NewEvaluationCriterion};
use app::{App, Failure, access};
use domain::actor::Actor;
use domain::evaluation::{Criterion, MAX_VERSIONS, check};
use domain::ids::{Agent, Id};
use domain::tenant::Tenant;
use serde_json::json;
use store::TenantTx;
use store::agents;
use store::evaluations::criteria::{self, SettingsRow, VersionRow};

const MILLION: f64 = 1_000_000.0;

/// The share of a rate that is stored as a part of a million.
pub(crate) fn rate(per_million: i64) -> f64 {
    per_million as f64 / MILLION
}

fn per_million(rate: f64, field: &str) -> Result<i64, Failure> {
    if !(0.0..=1.0).contains(&rate) {
        return Err(Failure::field(field, "must be a number from 0 to 1"));
    }
    Ok((rate * MILLION).round() as i64)
}

/// Criteria of a request.
///
/// # Errors
/// 400 with the field.
pub(crate) fn given(criteria: Vec<NewEvaluationCriterion>) -> Result<Vec<Criterion>, Failure> {
    let given = |criterion: NewEvaluationCriterion| Criterion {
        key: criterion.key,
        name: criterion.name,
        kind: criterion.kind,
        pass_threshold: criterion.pass_threshold,
        prompt: criterion.prompt,
    };
    let criteria: Vec<Criterion> = criteria.into_iter().map(given).collect();
    check(&criteria).map_err(|wrong| Failure::field(&format!("criteria{}", wrong.field), wrong.must))?;
    Ok(criteria)
}

/// The criteria of a stored version.
///
/// # Errors
/// Internal only: what was stored can be read.
pub(crate) fn stored(row: VersionRow) -> Result<Vec<Criterion>, Failure> {
    serde_json::from_value(row.criteria).map_err(|why| Failure::internal(format!("stored criteria: {why}")))
}

/// The current criteria of an agent with their version; `None` when it has none.
pub(crate) fn current(tx: &mut TenantTx, agent: Id<Agent>) -> Result<Option<(i64, Vec<Criterion>)>, Failure> {
    let Some(settings) = criteria::settings(tx, agent)? else { return Ok(None) };
    let Some(version) = criteria::version(tx, agent, settings.version)? else { return Ok(None) };
    let criteria = stored(version)?;
    Ok((!criteria.is_empty()).then_some((settings.version, criteria)))
}

fn shown(criterion: Criterion) -> EvaluationCriterion {
    EvaluationCriterion {
        key: criterion.key,
        name: criterion.name,
        kind: criterion.kind,
        pass_threshold: criterion.pass_threshold,
        prompt: criterion.prompt,
    }
}

fn view(
    tx: &mut TenantTx,
    agent: Id<Agent>,
    settings: Option<SettingsRow>,
    version: Option<i64>,
) -> Result<AgentEvaluation, Failure> {
    let price = access::workspace(tx)?.cost_per_evaluation;
    let wanted = version.or(settings.as_ref().map(|settings| settings.version));
    let found = match wanted {
        Some(version) => criteria::version(tx, agent, version)?,
        None => None,
    };
    if version.is_some() && found.is_none() {
        return Err(Failure::not_found("version"));
    }
    let shown_version = found.as_ref().map_or(0, |row| row.version);
    let criteria = found.map(stored).transpose()?.unwrap_or_default();
    Ok(AgentEvaluation {
        agent_id: agent,
        enabled: settings.as_ref().is_some_and(|settings| settings.enabled),
        sampling_rate: settings.as_ref().map_or(1.0, |settings| rate(settings.chats_per_million)),
        call_sampling_rate: settings.as_ref().map_or(0.0, |settings| rate(settings.calls_per_million)),
        version: shown_version,
        criteria: criteria.into_iter().map(shown).collect(),
        updated_at: settings.as_ref().map(|settings| settings.updated_at),
        updated_by: settings.map(|settings| settings.updated_by),
        cost_per_evaluation_minor: price,
    })
}

/// The evaluation of an agent, with its current criteria or those of a version.
///
/// # Errors
/// 404.
pub async fn get(
    app: &App,
    tenant: Tenant,
    agent: Id<Agent>,
    version: Option<i64>,
) -> Result<AgentEvaluation, Failure> {
    app.of(tenant)
        .read(move |tx| {
            agents::get(tx, agent)?.ok_or_else(|| Failure::not_found("agent"))?;
            let settings = criteria::settings(tx, agent)?;
            view(tx, agent, settings, version)
        })
        .await
}

/// Sets the evaluation of an agent. Criteria that differ from the current ones are a new version.
///
/// # Errors
/// 400 with the field; 404.
pub async fn set(
    app: &App,
    tenant: Tenant,
    actor: Actor,
    agent: Id<Agent>,
    body: NewAgentEvaluation,
) -> Result<AgentEvaluation, Failure> {
    let chats_per_million = per_million(body.sampling_rate, "samplingRate")?;
    let calls_per_million = per_million(body.call_sampling_rate, "callSamplingRate")?;
    let criteria = given(body.criteria)?;
    let (now, enabled) = (app.clock.now(), body.enabled);
    app.of(tenant)
        .tx(move |tx| {
            agents::get_for_update(tx, agent)?.ok_or_else(|| Failure::not_found("agent"))?;
            let before = criteria::settings(tx, agent)?;
            let mut version = before.as_ref().map_or(0, |settings| settings.version);
            let kept = criteria::version(tx, agent, version)?.map(stored).transpose()?;
            if kept.as_ref() != Some(&criteria) {
                version += 1;
                let row = VersionRow {
                    agent,
                    version,
                    criteria: json!(criteria),
                    created_at: now,
                    created_by: actor.to_string(),
                };
                criteria::add_version(tx, &row, version - MAX_VERSIONS + 1)?;
            }
            let settings = SettingsRow {
                agent,
                enabled,
                chats_per_million,
                calls_per_million,
                version,
                updated_at: now,
                updated_by: actor.to_string(),
            };
            criteria::save_settings(tx, &settings)?;
            view(tx, agent, Some(settings), None)
        })
        .await
}
