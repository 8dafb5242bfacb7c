//! The step `analysis`.

use std::sync::Arc;

use api::events::Event;
use domain::call::after::{self, Findings};
use domain::conversation::Turn;
use domain::ports::{Analysis, AnalysisOrder};
use serde_json::{Map, Value};
use store::after_calls::{self, StepRow};
use store::{TenantTx, Tx, agents, calls};

use super::step::{StepEnd, close};
use crate::call_env::{Env, emit, save};
use crate::owed_steps::person_is_erased;
use crate::{App, Failure, Hooks};

/// Runs the analysis by the language model and stores its accepted results.
pub(super) async fn analyse(app: &Arc<App>, row: &StepRow) -> Result<StepEnd, Failure> {
    let (tenant, call, hooks) = (row.workspace, row.call, app.hooks);
    let order = app.of(tenant).read(move |tx| order(tx, call, hooks)).await?;
    let (Some(order), Some(model)) = (order, &app.ports.language_model) else {
        store_findings(app, row, "skipped", None).await?;
        return Ok(StepEnd::Yes);
    };
    let schema = order.schema.clone();
    match app.clock.outside(model.analyse(order)).await {
        Ok(analysis) => {
            store_findings(app, row, "done", Some((analysis, schema))).await?;
            Ok(StepEnd::Yes)
        }
        Err(why) => {
            tracing::warn!(call = %call, provider = why.provider, fault = ?why.fault, "a conversation could not be analysed");
            Ok(if after::may_go_better(why.fault) { StepEnd::Again } else { StepEnd::Never })
        }
    }
}

/// The conversation could not be analysed: the outcome of the flow stays.
pub(super) async fn give_up(app: &App, row: &StepRow) -> Result<(), Failure> {
    store_findings(app, row, "failed", None).await
}

/// What the model is given; `None` when nothing is left to read.
fn order(
    tx: &mut TenantTx,
    id: domain::ids::Id<domain::ids::Call>,
    hooks: &dyn Hooks,
) -> Result<Option<AnalysisOrder>, Failure> {
    let tenant = tx.tenant();
    let Some(call) = calls::find(tx, id)? else { return Ok(None) };
    let content = calls::content(tx, id)?;
    let Some(transcript) = content.transcript else { return Ok(None) };
    let transcript: Vec<Turn> = serde_json::from_value(transcript)
        .map_err(|why| Failure::internal(format!("a stored transcript: {why}")))?;
    let choices = hooks.choices(tx, &call)?;
    // A deleted agent has no instructions any more; the conversation can be read all the same.
    let agent = match call.agent {
        Some(agent) => agents::get(tx, agent)?,
        None => None,
    };
    let language =
        call.language.or_else(|| agent.as_ref().map(|agent| agent.language.clone())).unwrap_or_default();
    let (schema, prompt) =
        agent.map(|agent| (agent.extraction_schema, agent.system_prompt)).unwrap_or_default();
    let schema =
        if schema.as_array().is_some_and(|fields| !fields.is_empty()) { schema } else { Value::Null };
    let extracted = object(content.extracted);
    let workspace = Some(tenant);
    Ok(Some(AnalysisOrder { workspace, transcript, schema, extracted, prompt, language, choices }))
}

fn object(json: Option<Value>) -> Map<String, Value> {
    match json {
        Some(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}

/// Ends the step, stores the results and sends the outcome: atomically, and once.
async fn store_findings(
    app: &App,
    row: &StepRow,
    status: &'static str,
    analysis: Option<(Analysis, Value)>,
) -> Result<(), Failure> {
    let (env, row) = (app.call_env(), row.clone());
    app.store.tx(move |tx| write(tx, &env, &row, status, analysis.clone())).await
}

fn write(
    tx: &mut Tx<'_>,
    env: &Env,
    row: &StepRow,
    status: &str,
    analysis: Option<(Analysis, Value)>,
) -> Result<(), Failure> {
    let Some(mut call) = close(tx, row)? else { return Ok(()) };
    if person_is_erased(tx, &call)? {
        return Ok(());
    }
    // An opt-out may have been recognised after the end.
    let known = if call.progress.opted_out { Some("opted_out".to_owned()) } else { call.outcome.clone() };
    let (tenant, now) = (call.workspace, env.context.now);
    let chosen = analysis.as_ref().and_then(|(analysis, _)| analysis.chosen.clone());
    match analysis {
        Some((analysis, schema)) => {
            let captured = object(calls::content(&mut tx.of(tenant), call.id)?.extracted);
            let Findings { summary, extracted, outcome, sentiment } =
                after::judge(analysis, &schema, captured, known);
            (call.outcome, call.sentiment) = (outcome, sentiment);
            after_calls::save_analysis(
                &mut tx.of(tenant),
                call.id,
                status,
                now,
                Some((summary.as_deref(), &Value::Object(extracted))),
            )?;
        }
        None => {
            call.outcome = known;
            after_calls::save_analysis(&mut tx.of(tenant), call.id, status, now, None)?;
        }
    }
    save(tx, &mut call)?;
    if call.outcome.is_some() {
        emit(tx, env, &call, Event::OutcomeCaptured)?;
    }
    env.hooks.analysed(tx, env, &call, chosen.as_ref())
}
