//! Leasing due steps, and retries of failed ones.

use std::sync::Arc;

use domain::call::after::{self, AfterCallStep, LEASE, NODE_PATIENCE};
use domain::time::Timestamp;
use store::after_calls::{self, StepRow};

use super::step::StepEnd;
use super::{analysis, disclosure, full_transcript, recording};
use crate::{App, Failure};

/// A lane of steps that wait for the same resource; the lanes do not block each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    /// Files and objects.
    Recordings,
    Words,
}

impl Lane {
    pub const ALL: [Lane; 2] = [Lane::Recordings, Lane::Words];

    fn steps(self) -> &'static [AfterCallStep] {
        match self {
            Lane::Recordings => &[AfterCallStep::Recording, AfterCallStep::Discard],
            Lane::Words => {
                &[AfterCallStep::Analysis, AfterCallStep::FullTranscript, AfterCallStep::Disclosure]
            }
        }
    }

    /// Concurrent steps: a recording is in memory while it is uploaded.
    pub fn at_once(self) -> usize {
        match self {
            Lane::Recordings => 4,
            Lane::Words => 16,
        }
    }
}

/// Leases up to `limit` due steps of a lane to this node.
pub async fn take(app: &App, lane: Lane, limit: usize) -> Result<Vec<StepRow>, Failure> {
    let (now, node, limit) = (app.clock.now(), app.ports.node.clone(), i64::try_from(limit).unwrap_or(1));
    Ok(app
        .store
        .tx(move |tx| {
            after_calls::take(tx, &node, lane.steps(), now, now.plus(LEASE), now.plus(-NODE_PATIENCE), limit)
        })
        .await?)
}

/// When the next step of a lane is due here.
pub async fn next_due(app: &App, lane: Lane) -> Result<Option<Timestamp>, Failure> {
    let node = app.ports.node.clone();
    Ok(app.store.read(move |tx| after_calls::next_due(tx, &node, lane.steps(), NODE_PATIENCE)).await?)
}

/// Runs one leased step, and schedules a retry or gives it up when it fails.
pub async fn work(app: &Arc<App>, row: StepRow) {
    let outcome = match row.step {
        AfterCallStep::Recording => recording::keep(app, &row).await,
        AfterCallStep::Discard => recording::discard(app, &row).await,
        AfterCallStep::Analysis => analysis::analyse(app, &row).await,
        AfterCallStep::FullTranscript => full_transcript::make(app, &row).await,
        AfterCallStep::Disclosure => disclosure::prove(app, &row).await,
    };
    let done = outcome.unwrap_or_else(|failure| {
        failure.warn_about(row.call, &format!("the step {} after a call failed", row.step.as_str()));
        StepEnd::Again
    });
    let settled = match done {
        StepEnd::Yes => Ok(()),
        StepEnd::Again => again(app, &row).await,
        StepEnd::Never => give_up(app, &row).await,
    };
    if let Err(failure) = settled {
        // Its lease expires, and it is retried.
        failure.warn_about(
            row.call,
            &format!("the step {} after a call waits for its lease", row.step.as_str()),
        );
    }
}

async fn again(app: &App, row: &StepRow) -> Result<(), Failure> {
    let now = app.clock.now();
    let Some(wait) = after::retry_in(row.step, row.attempts, now.0 - row.created_at.0) else {
        return give_up(app, row).await;
    };
    let row = row.clone();
    Ok(app.of(row.workspace).tx(move |tx| after_calls::put_off(tx, &row, now.plus(wait))).await?)
}

/// The final state of a step that failed permanently.
async fn give_up(app: &App, row: &StepRow) -> Result<(), Failure> {
    tracing::error!(call = %row.call, step = row.step.as_str(), attempts = row.attempts, "a step after a call is given up");
    match row.step {
        AfterCallStep::Recording => recording::give_up(app, row).await,
        AfterCallStep::Discard | AfterCallStep::Disclosure => Ok(()),
        AfterCallStep::Analysis => analysis::give_up(app, row).await,
        AfterCallStep::FullTranscript => full_transcript::give_up(app, row).await,
    }
}
