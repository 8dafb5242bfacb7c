//! Writing calls back to the system of their person (docs/contract/integrations.md#writing-calls-back).
//!
//! The transaction that ends a call queues a write-back. The job leases it, waits for the analysis of the conversation,
//! and writes. After an attempt without a clear answer it checks whether it arrived before it retries, so a call is
//! written once wherever the process dies. The result is stored in the call.

use std::sync::Arc;

use app::after_call::record_push;
use app::call_env::Env;
use app::{Failure, topics};
use domain::call::{Direction, Fact, Progress, Status};
use domain::integration::{ANALYSIS_PATIENCE, LEASE, PUSHES_KEPT, PushedCalls, push_retry_in};
use domain::phone::Phone;
use domain::tenant::Mode;
use domain::time::{HOUR, MINUTE, SECOND, Timestamp};
use domain::wallet::talk_seconds;
use providers::connectors::{CallNote, Fault};
use store::calls::{self, CallRow, Content};
use store::pushes::{self, PushRow};
use store::{Tx, integrations};

use crate::ConnectedSystems;
use crate::passes::{Opened, Trouble, with_words};

/// Poll interval for the analysis of a call.
const ANALYSIS_LOOK: i64 = 30 * SECOND;
/// The part of its lease that an attempt needs from the moment it writes: a look-up and a write, each with the longest
/// wait for a response.
const WRITING: i64 = 2 * MINUTE;
/// Rows deleted in one transaction.
const SWEEP: i64 = 500;

/// The number of the person of a call.
fn person(call: &CallRow) -> &str {
    if call.direction == Direction::Inbound { &call.from_number } else { &call.to_number }
}

/// Queues write-backs to connected systems once a live call is over. Called for every fact of a call.
pub fn after_call_fact(tx: &mut Tx<'_>, env: &Env, call: &CallRow, fact: Fact) -> Result<(), Failure> {
    let status = call.progress.status;
    if call.mode == Mode::Test || status.is_live() || status == Status::Blocked || fact == Fact::NotPlaced {
        return Ok(());
    }
    let Ok(phone) = Phone::normalize(person(call)) else { return Ok(()) };
    let context = &env.context;
    let known = pushes::wanted(&mut tx.of(call.workspace), &context.keyring.hash_phone(&phone))?;
    for (integration, which, object, record) in known {
        if which == PushedCalls::Answered && call.progress.answered_at.is_none() {
            continue;
        }
        let row = PushRow {
            call: call.id,
            integration,
            workspace: call.workspace,
            object,
            record,
            attempts: 0,
            unsure: false,
            next_at: Some(context.now),
            created_at: context.now,
            done_at: None,
            written: None,
        };
        pushes::owe(tx, &row)?;
        tx.wake(topics::PUSHES);
    }
    Ok(())
}

/// Prefetches what [`after_call_fact`] will read.
pub fn prefetch(tx: &mut Tx<'_>, env: &Env, call: &CallRow, after: &Progress, fact: Fact) {
    let status = after.status;
    if call.mode == Mode::Test || status.is_live() || status == Status::Blocked || fact == Fact::NotPlaced {
        return;
    }
    if let Ok(phone) = Phone::normalize(person(call)) {
        let _ = pushes::wanted(&mut tx.of(call.workspace), &env.context.keyring.hash_phone(&phone));
    }
}

/// The outcome of an attempt.
enum Attempt {
    /// It is written; the id of the created object.
    Written(String),
    /// Nothing was tried: the analysis is not there yet.
    Waits,
    /// There is nothing to write any more.
    Void,
    /// A temporary failure; a message without secrets.
    Again { said: String, wait: Option<i64>, unsure: bool },
    /// A permanent failure.
    Never(String),
}

impl ConnectedSystems {
    /// Leases due write-backs.
    pub async fn take_pushes(&self, limit: usize) -> Result<Vec<PushRow>, Failure> {
        let (now, limit) = (self.app.clock.now(), i64::try_from(limit).unwrap_or(1));
        Ok(self.app.store.tx(move |tx| pushes::take(tx, now, now.plus(LEASE), limit)).await?)
    }

    /// When the next write-back is due, or an old one expires.
    pub async fn next_push(&self) -> Result<Option<Timestamp>, Failure> {
        let now = self.app.clock.now();
        let (due, oldest) = self
            .app
            .store
            .read(|tx| Ok::<_, Failure>((pushes::next_due(tx)?, pushes::oldest_done(tx)?)))
            .await?;
        let forget = oldest.map(|oldest| oldest.plus(PUSHES_KEPT).max(now.plus(HOUR)));
        Ok(due.into_iter().chain(forget).min())
    }

    /// Deletes expired write-backs.
    pub async fn sweep_pushes(&self) -> Result<(), Failure> {
        let before = self.app.clock.now().plus(-PUSHES_KEPT);
        while self.app.store.tx(move |tx| pushes::sweep(tx, before, SWEEP)).await? {}
        Ok(())
    }

    /// Runs one leased write-back, and stores its outcome.
    pub async fn push(self: &Arc<Self>, row: PushRow) {
        let attempt = self.try_push(&row).await.unwrap_or_else(|failure| {
            failure.warn_about(row.call, "a call could not be prepared to be written back");
            Attempt::Again { said: "something failed here".into(), wait: None, unsure: row.unsure }
        });
        if let Err(failure) = self.settle(&row, attempt).await {
            // Its lease expires, and it is taken again.
            failure.warn_about(row.call, "what came of writing a call back was not stored");
        }
    }

    async fn try_push(&self, row: &PushRow) -> Result<Attempt, Failure> {
        let (tenant, call) = (row.workspace, row.call);
        let found = self
            .app
            .of(tenant)
            .read(move |tx| {
                let Some(found) = calls::find(tx, call)? else { return Ok::<_, Failure>(None) };
                let content = calls::content(tx, call)?;
                Ok(Some((found, content)))
            })
            .await?;
        let Some((call, content)) = found else { return Ok(Attempt::Void) };
        if Phone::normalize(person(&call)).is_err() {
            return Ok(Attempt::Void);
        }
        let age = self.app.clock.now().0 - row.created_at.0;
        if content.analysis.as_deref() == Some("pending") && age < ANALYSIS_PATIENCE {
            return Ok(Attempt::Waits);
        }
        let note = note(row, &call, &content);
        let mut refused = None;
        loop {
            let opened = match self.open_account(tenant, row.integration, refused.as_ref()).await {
                Ok(opened) => opened,
                Err(trouble) => return untried(trouble, row.unsure),
            };
            let now = self.app.clock.now();
            if row.next_at.is_some_and(|lease| lease < now.plus(WRITING)) {
                // Too late in the lease: another node may write it soon, and would not find this one.
                return Ok(Attempt::Again {
                    said: "there was no time left to write".into(),
                    wait: None,
                    unsure: row.unsure,
                });
            }
            let writing = self.systems.write_call(opened.provider, &opened.pass, &note, row.unsure);
            match self.app.clock.outside(writing).await {
                Ok(written) => return Ok(Attempt::Written(written)),
                Err(Fault::Unauthorized(_)) if refused.is_none() && opened.renewable() => {
                    refused = Some(opened.pass);
                }
                Err(fault) => return Ok(failed(&opened, &fault, row.unsure)),
            }
        }
    }

    async fn settle(&self, row: &PushRow, attempt: Attempt) -> Result<(), Failure> {
        let (now, held) = (self.app.clock.now(), row.attempts);
        let mut row = row.clone();
        let mut told: Option<(&'static str, Option<String>)> = None;
        match attempt {
            Attempt::Written(id) => {
                (row.next_at, row.done_at, row.written) = (None, Some(now), Some(id));
                told = Some(("success", None));
            }
            Attempt::Void => (row.next_at, row.done_at) = (None, Some(now)),
            Attempt::Waits => {
                row.attempts -= 1;
                row.next_at = Some(now.plus(ANALYSIS_LOOK));
            }
            Attempt::Again { said, wait, unsure } => match push_retry_in(row.attempts, unsure) {
                Some(backoff) => {
                    row.unsure = unsure;
                    row.next_at = Some(now.plus(backoff.max(wait.unwrap_or(0))));
                }
                None => {
                    (row.next_at, row.done_at) = (None, Some(now));
                    told = Some(("failed", Some(said)));
                }
            },
            Attempt::Never(said) => {
                (row.next_at, row.done_at) = (None, Some(now));
                told = Some(("failed", Some(said)));
            }
        }
        let settled = self.app.of(row.workspace).tx(move |tx| {
            // The call first, as everywhere.
            let call = calls::get_for_update(tx, row.call)?;
            if !pushes::settle(tx, &row, held)? {
                return Ok::<_, Failure>(());
            }
            let (Some(call), Some((status, error))) = (call, &told) else { return Ok(()) };
            let provider = integrations::provider_of(tx, row.integration)?;
            let provider = provider.map_or("", |provider| provider.as_str());
            record_push(tx, &call, provider, status, error.as_deref(), now)
        });
        settled.await
    }
}

/// The outcome of an attempt that was not made because of its account.
fn untried(trouble: Trouble, unsure: bool) -> Result<Attempt, Failure> {
    let again = |said: &str, wait| Ok(Attempt::Again { said: said.to_owned(), wait, unsure });
    match trouble {
        Trouble::Gone => Ok(Attempt::Void),
        Trouble::Broken(said) => again(&format!("the integration is broken: {said}"), None),
        Trouble::Busy(wait) => again("the access token was not renewed", Some(wait)),
        Trouble::Fault(Fault::Later { wait, said }) => again(&said, wait),
        Trouble::Fault(fault) => again(fault.said(), None),
        Trouble::Failure(failure) => Err(failure),
    }
}

/// The outcome of a fault of the system.
fn failed(opened: &Opened, fault: &Fault, unsure: bool) -> Attempt {
    let said = opened.without_secrets(fault.said());
    match with_words(fault, &said) {
        Fault::Later { wait, said } => Attempt::Again { said, wait, unsure },
        Fault::Unreached(said) => Attempt::Again { said, wait: None, unsure },
        Fault::Unclear(said) => Attempt::Again { said, wait: None, unsure: true },
        Fault::Unauthorized(said) | Fault::Revoked(said) | Fault::Refused(said) => Attempt::Never(said),
    }
}

/// The text about a call.
fn note(row: &PushRow, call: &CallRow, content: &Content) -> CallNote {
    let outbound = call.direction != Direction::Inbound;
    let own = if outbound { &call.from_number } else { &call.to_number };
    CallNote {
        call: call.id.to_string(),
        object: row.object.clone(),
        record: row.record.clone(),
        started: call.started_at,
        talk_seconds: call.progress.talk_ms.map_or(0, talk_seconds),
        outbound,
        person: person(call).to_owned(),
        own: own.clone(),
        answered: call.progress.answered_at.is_some(),
        end_cause: call.progress.end_cause.clone(),
        outcome: call.outcome.clone(),
        summary: content.summary.clone(),
    }
}
