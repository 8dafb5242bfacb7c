//! Runs (docs/contract/campaigns.md#runs): one covers a session of dialling. The effects of a round of the dialler on
//! the runs of a campaign are decided here.

use std::collections::BTreeSet;
use std::sync::Arc;

use api::error_codes as codes;
use app::calls::Env;
use app::{App, Context, Failure, access, topics};
use domain::campaign::{RunSource, RunStatus, Status};
use domain::ids::{Campaign, CampaignRun, Id};
use domain::tenant::Tenant;
use domain::time::{MINUTE, Timestamp};
use store::campaigns::runs::{RunRow, Work};
use store::campaigns::{self, CampaignRow, progress, runs};
use store::{TenantTx, Tx};

use crate::finish::{self, Reason};
use crate::mail::{self, About};

/// Recheck interval of a campaign that cannot dial because of its workspace or its agent, milliseconds.
pub(crate) const RECHECK: i64 = 15 * MINUTE;

/// Longest error of a run, characters.
const MAX_ERROR: usize = 500;

/// Why a campaign as a whole stops dialling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stop {
    /// It is not active.
    Inactive,
    /// Its end date has come.
    EndDate,
    /// Nobody on its list can still be reached.
    ListComplete,
    /// Outside its dates or its daily window; the time of its next check.
    OutsideSchedule(Option<Timestamp>),
    Suspended,
    /// The workspace is not verified.
    KybUnverified,
    /// The wallet does not cover a minute.
    Balance,
    /// No line is free, or its own ceiling of concurrent calls is reached.
    Lines,
    /// The circuit breaker of the carrier is open.
    Provider,
    /// Its agent or its number cannot be used.
    Error(String),
}

impl Stop {
    /// `skippedReason` of a run that dialled nothing.
    fn skipped_reason(&self) -> Option<&'static str> {
        match self {
            Stop::Inactive | Stop::EndDate | Stop::ListComplete => None,
            Stop::OutsideSchedule(_) => Some("outside_schedule"),
            Stop::Suspended => Some("workspace_suspended"),
            Stop::KybUnverified => Some("kyb_unverified"),
            Stop::Balance => Some("insufficient_balance"),
            Stop::Lines => Some("concurrency_limit"),
            Stop::Provider => Some("provider_error"),
            Stop::Error(_) => Some("run_error"),
        }
    }

    fn error(&self) -> Option<&str> {
        match self {
            Stop::Error(text) => Some(text),
            _ => None,
        }
    }

    /// The mail to the addresses of the campaign.
    fn mail(&self) -> Option<About> {
        match self {
            Stop::KybUnverified => Some(About::KybUnverified),
            Stop::Balance => Some(About::InsufficientBalance),
            _ => None,
        }
    }
}

/// The result of a campaign's part of a round.
pub(crate) struct Outcome<'a> {
    pub work: Work,
    /// Why it stopped dialling.
    pub stop: Option<&'a Stop>,
    /// The hours of the pack are over.
    pub window_closed: bool,
    /// No row is due and no call is in progress.
    pub idle: bool,
    /// Somebody is in a call, and is called when that is over.
    pub on_call: bool,
    /// Reasons of single rows.
    pub unfit: &'a BTreeSet<String>,
}

/// The runs after a round.
pub(crate) struct After {
    /// The run in progress.
    pub run: Option<Id<CampaignRun>>,
    /// The campaign must be checked again at once: the reason of its session's end is recorded then.
    pub again: bool,
}

/// Updates the runs of a campaign after a round, and completes the campaign when it is over. The campaign is locked.
pub(crate) fn after_turn(
    tx: &mut Tx<'_>,
    env: &Env,
    mails: bool,
    campaign: &mut CampaignRow,
    current: Option<Id<CampaignRun>>,
    outcome: &Outcome<'_>,
) -> Result<After, Failure> {
    let (context, tenant) = (&env.context, campaign.workspace);
    let mut current = current;
    let asked = runs::queued(&mut tx.of(tenant), campaign.id)?;
    let dialled = outcome.work.attempted > 0;
    if dialled {
        let run = match (asked, current) {
            (Some(asked), old) => {
                if let Some(old) = old {
                    runs::end(&mut tx.of(tenant), old, RunStatus::Completed, None, None, context.now)?;
                }
                asked
            }
            (None, Some(run)) => run,
            (None, None) => begin(tx, context, campaign, RunSource::Schedule, RunStatus::Running)?,
        };
        runs::work(&mut tx.of(tenant), run, outcome.work)?;
        if !outcome.unfit.is_empty() {
            let errors: Vec<&str> = outcome.unfit.iter().map(String::as_str).collect();
            runs::note(&mut tx.of(tenant), run, &cut(&errors.join("; ")))?;
        }
        current = Some(run);
    }
    match outcome.stop {
        Some(Stop::Inactive) => {
            end_all(&mut tx.of(tenant), campaign.id, context.now)?;
            return Ok(After { run: None, again: false });
        }
        Some(stop @ (Stop::EndDate | Stop::ListComplete)) => {
            let reason = if *stop == Stop::EndDate { Reason::EndDate } else { Reason::ListComplete };
            let told = asked.filter(|_| !dialled).or(current);
            finish::complete(tx, context, mails, campaign, told, reason)?;
            end_all(&mut tx.of(tenant), campaign.id, context.now)?;
            if campaign.settings.email_notifications.is_empty()
                && let Some(run) = current
            {
                // No mail has anything to say in it.
                runs::fold(&mut tx.of(tenant), campaign.id, run)?;
            }
            let tried_are_left = *stop == Stop::EndDate && campaign.list > 0;
            if tried_are_left {
                progress::retune(&mut tx.of(tenant), campaign.id, Some(0))?;
            }
            return Ok(After { run: None, again: tried_are_left });
        }
        Some(_) | None => {}
    }
    // Why nothing was dialled, as far as there is a reason.
    let hours = Stop::OutsideSchedule(None);
    let why = outcome.stop.or(Some(&hours).filter(|_| outcome.window_closed && !dialled));
    let waits = outcome.on_call && outcome.stop.is_none();
    if !dialled
        && !waits
        && let Some(asked) = asked
    {
        let (status, reason) = match why.and_then(Stop::skipped_reason) {
            Some(reason) => (RunStatus::Skipped, Some(reason)),
            None => (RunStatus::Completed, None),
        };
        runs::end(&mut tx.of(tenant), asked, status, reason, why.and_then(Stop::error), context.now)?;
        tell(tx, context, mails, campaign, Some(asked), why)?;
    }
    let session_over = match outcome.stop {
        // It goes on as soon as a line is free.
        Some(Stop::Lines) => false,
        Some(_) => true,
        None => outcome.idle && !outcome.on_call,
    };
    if session_over && let Some(run) = current.take() {
        runs::end(&mut tx.of(tenant), run, RunStatus::Completed, None, None, context.now)?;
        runs::fold(&mut tx.of(tenant), campaign.id, run)?;
    }
    if dialled {
        let recorded_later = outcome.stop.is_some_and(|stop| *stop != Stop::Lines);
        return Ok(After { run: current, again: recorded_later });
    }
    if asked.is_none() && current.is_none() {
        skipped(tx, context, mails, campaign, why)?;
    }
    Ok(After { run: current, again: false })
}

/// Records that a session dialled nothing, if the reason is another one than last time.
fn skipped(
    tx: &mut Tx<'_>,
    context: &Context,
    mails: bool,
    campaign: &CampaignRow,
    why: Option<&Stop>,
) -> Result<(), Failure> {
    let Some(reason) = why.and_then(Stop::skipped_reason) else { return Ok(()) };
    let newest = runs::newest(&mut tx.of(campaign.workspace), campaign.id)?;
    if newest.is_some_and(|run| run.skipped_reason.as_deref() == Some(reason)) {
        return Ok(());
    }
    let run = begin(tx, context, campaign, RunSource::Schedule, RunStatus::Running)?;
    let error = why.and_then(Stop::error);
    runs::end(&mut tx.of(campaign.workspace), run, RunStatus::Skipped, Some(reason), error, context.now)?;
    tell(tx, context, mails, campaign, Some(run), why)
}

/// Queues mails about why the campaign cannot dial, where its addresses can do something about it.
fn tell(
    tx: &mut Tx<'_>,
    context: &Context,
    mails: bool,
    campaign: &CampaignRow,
    run: Option<Id<CampaignRun>>,
    why: Option<&Stop>,
) -> Result<(), Failure> {
    match why.and_then(Stop::mail) {
        Some(about) => mail::owe(tx, context, mails, campaign, run, about),
        None => Ok(()),
    }
}

fn begin(
    tx: &mut Tx<'_>,
    context: &Context,
    campaign: &CampaignRow,
    source: RunSource,
    status: RunStatus,
) -> Result<Id<CampaignRun>, Failure> {
    let id = context.ids.make();
    runs::insert(
        tx,
        &RunRow {
            id,
            workspace: campaign.workspace,
            campaign: campaign.id,
            status,
            source,
            attempted: 0,
            placed: 0,
            rejected: 0,
            refused: 0,
            skipped_reason: None,
            error: None,
            created_at: context.now,
            finished_at: None,
        },
    )?;
    Ok(id)
}

fn cut(text: &str) -> String {
    text.chars().take(MAX_ERROR).collect()
}

/// Ends what runs of a campaign that does not dial any more: it was paused, completed, archived or deleted. One
/// that was asked for and has not begun is skipped.
pub fn end_all(tx: &mut TenantTx, campaign: Id<Campaign>, now: Timestamp) -> Result<(), Failure> {
    Ok(runs::end_all(tx, campaign, "not_active", now)?)
}

/// `POST /v1/campaigns/{id}/run`: a session begins at once. A requested one that has not begun is returned again, and
/// so is one in progress.
///
/// # Errors
/// 403 `workspace_suspended`, 404, and 409 for a campaign that is not active or sends messages.
pub async fn start(
    app: &Arc<App>,
    tenant: Tenant,
    id: Id<Campaign>,
) -> Result<(Id<CampaignRun>, RunStatus), Failure> {
    let context = app.context();
    app.of(tenant)
        .tx(move |tx| {
            let campaign =
                campaigns::get_for_update(tx, id)?.ok_or_else(|| Failure::not_found("campaign"))?;
            if access::workspace(tx)?.suspended {
                return Err(Failure::plain(codes::WORKSPACE_SUSPENDED));
            }
            crate::need_voice(&campaign)?;
            let not_active = match campaign.status {
                Status::Active => None,
                Status::Draft => Some("the campaign must be published before it can run"),
                Status::Paused => Some("the campaign is paused: publish it again before it can run"),
                Status::Completed => Some("the campaign is completed; create a new one"),
                Status::Archived => Some("the campaign is archived; create a new one"),
            };
            if let Some(why) = not_active {
                return Err(Failure::conflict(why));
            }
            if let Some(run) = crate::progress(tx, id)?.run {
                return Ok((run, RunStatus::Running));
            }
            let run = match runs::queued(tx, id)? {
                Some(run) => run,
                None => begin(tx, &context, &campaign, RunSource::Api, RunStatus::Queued)?,
            };
            progress::look_at(tx, id, context.now)?;
            tx.wake(topics::DIALLER);
            Ok((run, RunStatus::Queued))
        })
        .await
}
