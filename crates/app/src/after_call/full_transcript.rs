//! The step `full_transcript`: the turns with their times on the line.

use std::sync::Arc;

use domain::call::TimedTurn;
use domain::call::after;
use serde_json::Value;
use store::after_calls::{self, StepRow};
use store::calls;

use super::step::{StepEnd, close};
use crate::owed_steps::person_is_erased;
use crate::{App, Failure};

/// Builds the transcript with times.
pub(super) async fn make(app: &Arc<App>, row: &StepRow) -> Result<StepEnd, Failure> {
    let (tenant, call) = (row.workspace, row.call);
    let turns = app
        .of(tenant)
        .tx(move |tx| {
            after_calls::save_full_transcript(tx, call, "processing", None)?;
            Ok::<_, Failure>(calls::content(tx, call)?.turns)
        })
        .await?;
    let turns: Option<Vec<TimedTurn>> = turns.and_then(|turns| serde_json::from_value(turns).ok());
    let Some(turns) = turns else { return Ok(StepEnd::Never) };
    settle(app, row, "done", Some(after::spoken(&turns))).await?;
    Ok(StepEnd::Yes)
}

/// There is none and will be none.
pub(super) async fn give_up(app: &App, row: &StepRow) -> Result<(), Failure> {
    settle(app, row, "failed", None).await
}

async fn settle(app: &App, row: &StepRow, status: &'static str, turns: Option<Value>) -> Result<(), Failure> {
    let row = row.clone();
    app.store
        .tx(move |tx| {
            let Some(call) = close(tx, &row)? else { return Ok(()) };
            if !person_is_erased(tx, &call)? {
                after_calls::save_full_transcript(
                    &mut tx.of(call.workspace),
                    call.id,
                    status,
                    turns.as_ref(),
                )?;
            }
            Ok::<_, Failure>(())
        })
        .await
}
