//! Analysis of an ended chat by the language model (docs/contract/chats.md#analysis).

use std::sync::Arc;

use api::events::Event;
use api::events::chats::{AnalyzedChat, ChatAnalysis};
use app::{App, Failure};
use domain::call::after::{self, AfterCallStep, Findings, LEASE};
use domain::chat::{Reading, Role as ChatRole};
use domain::conversation::{Role, Turn};
use domain::ids::{Chat, Id};
use domain::ports::{Analysis, AnalysisOrder};
use domain::tenant::Tenant;
use domain::time::Timestamp;
use serde_json::{Map, Value};
use store::{DbError, Tx, agents, chats};

use crate::session::{Env, emit, is_over, save};
use crate::undelivered::undelivered;

/// Concurrent analyses of a node.
pub const AT_ONCE: usize = 16;

/// A pending analysis that this node has leased.
#[derive(Debug, Clone, Copy)]
pub struct PendingAnalysis {
    tenant: Tenant,
    chat: Id<Chat>,
    /// The attempt, from 1.
    attempt: i64,
}

/// Leases up to `limit` due analyses.
pub async fn take_analyses(app: &App, limit: usize) -> Result<Vec<PendingAnalysis>, DbError> {
    let (now, limit) = (app.clock.now(), i64::try_from(limit).unwrap_or(1));
    let taken = app.store.tx(move |tx| chats::take_to_analyse(tx, now, now.plus(LEASE), limit)).await?;
    Ok(taken.into_iter().map(|(tenant, chat, attempt)| PendingAnalysis { tenant, chat, attempt }).collect())
}

/// When the next analysis is due.
pub async fn next_analysis(app: &App) -> Result<Option<Timestamp>, DbError> {
    app.store.read(chats::next_analysis).await
}

/// Runs one leased analysis. A failure is retried later, or given up.
pub async fn analyse(app: &Arc<App>, owed: PendingAnalysis) {
    if let Err(failure) = analyse_once(app, owed).await {
        // Its lease ends, and it is taken again.
        failure.warn_about(owed.chat, "the analysis of a chat waits for its lease");
    }
}

async fn analyse_once(app: &Arc<App>, owed: PendingAnalysis) -> Result<(), Failure> {
    let order = app.store.read(move |tx| order(tx, owed)).await?;
    let Some(order) = order else { return Ok(()) };
    let env = Env::of(app);
    let schema = order.schema.clone();
    let Some(model) = &app.ports.language_model else {
        return app.store.tx(move |tx| settle(tx, &env, owed, Reading::Failed, None)).await;
    };
    match app.clock.outside(model.analyse(order)).await {
        Ok(analysis) => {
            let env = Env::of(app);
            let found = Some((analysis, schema));
            app.store.tx(move |tx| settle(tx, &env, owed, Reading::Done, found.clone())).await
        }
        Err(why) => {
            tracing::warn!(chat = %owed.chat, provider = why.provider, fault = ?why.fault, "a chat could not be analysed");
            let wait = after::retry_in(AfterCallStep::Analysis, owed.attempt, 0);
            let env = Env::of(app);
            match wait.filter(|_| after::may_go_better(why.fault)) {
                Some(wait) => app.store.tx(move |tx| put_off(tx, &env, owed, wait)).await,
                None => app.store.tx(move |tx| settle(tx, &env, owed, Reading::Failed, None)).await,
            }
        }
    }
}

/// The model's input; `None` when there is nothing to analyse.
fn order(tx: &mut Tx<'_>, owed: PendingAnalysis) -> Result<Option<AnalysisOrder>, Failure> {
    let (tenant, id) = (owed.tenant, owed.chat);
    let row = chats::get(&mut tx.of(tenant), id)?;
    let Some(row) = row.filter(|row| row.analysis == Some(Reading::Pending)) else { return Ok(None) };
    let turn = |message: chats::MessageRow| Turn {
        role: if message.role == ChatRole::User { Role::Customer } else { Role::Agent },
        text: message.text,
    };
    let failed = undelivered(tx, &row)?;
    let mut messages = chats::messages(&mut tx.of(tenant), id, 0)?;
    messages.retain(|message| !failed.contains(&message.seq));
    let transcript: Vec<Turn> = messages.into_iter().map(turn).collect();
    // A deleted agent has no instructions any more; the conversation can be read all the same.
    let (schema, prompt) = agents::get(&mut tx.of(tenant), row.agent)?
        .map(|agent| (agent.extraction_schema, agent.system_prompt))
        .unwrap_or_default();
    let schema =
        if schema.as_array().is_some_and(|fields| !fields.is_empty()) { schema } else { Value::Null };
    Ok(Some(AnalysisOrder {
        workspace: Some(tenant),
        transcript,
        schema,
        extracted: captured(row.extracted),
        prompt,
        language: row.language,
        choices: Vec::new(),
    }))
}

fn captured(json: Option<Value>) -> Map<String, Value> {
    match json {
        Some(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}

/// The chat, if this attempt still holds the lease.
fn hold(tx: &mut Tx<'_>, owed: PendingAnalysis) -> Result<Option<chats::ChatRow>, Failure> {
    let row = chats::get_for_update(&mut tx.of(owed.tenant), owed.chat)?;
    Ok(row.filter(|row| row.analysis == Some(Reading::Pending) && row.analysis_attempts == owed.attempt))
}

fn put_off(tx: &mut Tx<'_>, env: &Env, owed: PendingAnalysis, wait: i64) -> Result<(), Failure> {
    let Some(mut row) = hold(tx, owed)? else { return Ok(()) };
    row.analysis_at = Some(env.context.now.plus(wait));
    save(tx, env, &mut row)?;
    tx.wake(app::topics::CHATS);
    Ok(())
}

/// Stores and publishes the result, atomically and once.
fn settle(
    tx: &mut Tx<'_>,
    env: &Env,
    owed: PendingAnalysis,
    reading: Reading,
    found: Option<(Analysis, Value)>,
) -> Result<(), Failure> {
    let Some(mut row) = hold(tx, owed)? else { return Ok(()) };
    row.analysis = Some(reading);
    row.analysis_at = None;
    let Some((analysis, schema)) = found else {
        save(tx, env, &mut row)?;
        return is_over(tx, env, &row);
    };
    let Findings { summary, extracted, outcome, sentiment } =
        after::judge(analysis, &schema, captured(row.extracted.take()), row.outcome.take());
    row.summary = summary;
    row.extracted = Some(Value::Object(extracted));
    row.outcome = outcome;
    row.sentiment = sentiment;
    save(tx, env, &mut row)?;
    let analysis = ChatAnalysis {
        summary: row.summary.clone(),
        extracted: row.extracted.clone(),
        sentiment: row.sentiment.clone(),
        outcome: row.outcome.clone(),
    };
    emit(tx, env, &row, |chat| Event::ChatAnalyzed(AnalyzedChat { chat, analysis, transcript: None }))?;
    is_over(tx, env, &row)
}
