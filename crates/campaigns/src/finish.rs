//! The end of a campaign (docs/contract/campaigns.md#the-end).

use api::events::campaigns::{FinishedCampaign, FinishedStats};
use app::calls::Env;
use app::events::{self, Event, NewEvent};
use app::{Context, Failure, bell};
use domain::campaign::Status;
use domain::ids::{CampaignRun, Id};
use domain::tenant::Mode;
use domain::topic::NotificationKind;
use store::Tx;
use store::campaigns::{CampaignRow, progress};

use crate::mail::{self, About};
use crate::retries;

/// Why a campaign is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// Nobody on its list could still be reached.
    ListComplete,
    /// Its end date has come.
    EndDate,
}

impl Reason {
    pub fn as_str(self) -> &'static str {
        match self {
            Reason::ListComplete => "list_complete",
            Reason::EndDate => "end_date",
        }
    }
}

/// Completes an active campaign that the caller has locked. Its event and its mails are sent once: from here on it is
/// not active any more.
pub(crate) fn complete(
    tx: &mut Tx<'_>,
    context: &Context,
    mails: bool,
    campaign: &mut CampaignRow,
    run: Option<Id<CampaignRun>>,
    reason: Reason,
) -> Result<(), Failure> {
    campaign.status = Status::Completed;
    campaign.completed_at = Some(context.now);
    campaign.updated_at = context.now;
    crate::save(tx, campaign)?;
    campaign.version += 1;
    tell(tx, context, campaign, reason.as_str(), None)?;
    let about = match reason {
        Reason::ListComplete => About::ListComplete,
        Reason::EndDate => About::EndDate,
    };
    mail::owe(tx, context, mails, campaign, run, about)
}

/// Completes a campaign on request; the caller saves it.
pub(crate) fn on_request(tx: &mut Tx<'_>, env: &Env, campaign: &mut CampaignRow) -> Result<(), Failure> {
    let context = &env.context;
    campaign.completed_at = Some(context.now);
    progress::rest(&mut tx.of(campaign.workspace), campaign.id)?;
    retries::changed(tx, env, campaign)?;
    tell(tx, context, campaign, "requested", None)
}

/// Completes a campaign of another channel, which the caller holds: it is saved, and its mails are owed. What its event
/// tells besides are `stats`; `None` as the reason: its owner ends it.
pub fn over(
    tx: &mut Tx<'_>,
    context: &Context,
    mails: bool,
    campaign: &mut CampaignRow,
    reason: Option<Reason>,
    stats: FinishedStats,
) -> Result<(), Failure> {
    campaign.status = Status::Completed;
    campaign.completed_at = Some(context.now);
    campaign.updated_at = context.now;
    crate::save(tx, campaign)?;
    campaign.version += 1;
    tell(tx, context, campaign, reason.map_or("requested", Reason::as_str), Some(stats))?;
    let about = match reason {
        Some(Reason::ListComplete) => About::ListComplete,
        Some(Reason::EndDate) => About::EndDate,
        None => return Ok(()),
    };
    mail::owe(tx, context, mails, campaign, None, about)
}

/// Sends the event of the end of a campaign.
fn tell(
    tx: &mut Tx<'_>,
    context: &Context,
    campaign: &CampaignRow,
    reason: &str,
    stats: Option<FinishedStats>,
) -> Result<(), Failure> {
    let event = Event::CampaignFinished(FinishedCampaign {
        campaign_id: campaign.id,
        name: campaign.name.clone(),
        agent_id: campaign.agent,
        reason: reason.to_owned(),
        finished_at: context.now,
        channel: stats.as_ref().map(|_| Some("chatapp".to_owned())),
        stats: stats.map(Some),
    });
    let agent = campaign.agent.map(|agent| agent.to_string());
    let event = NewEvent { event, mode: Mode::Live, agent: agent.as_deref(), contact: None };
    let tx = &mut tx.of(campaign.workspace);
    events::emit(tx, context, event)?;
    bell::tell_launcher(tx, context, campaign.id, NotificationKind::CampaignFinished)
}
