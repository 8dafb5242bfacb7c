//! The end of a campaign (docs/contract/campaigns.md#the-end).

use app::events::{self, NewEvent};
use app::{Context, Failure};
use domain::campaign::Status;
use domain::ids::{CampaignRun, Id};
use domain::tenant::Mode;
use serde_json::json;
use store::Tx;
use store::campaigns::{CampaignRow, progress};

use crate::campaign;
use crate::mail::{self, About};

/// Why a campaign is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    /// Nobody on its list could still be reached.
    ListComplete,
    /// Its end date has come.
    EndDate,
}

impl Reason {
    fn as_str(self) -> &'static str {
        match self {
            Reason::ListComplete => "list_complete",
            Reason::EndDate => "end_date",
        }
    }
}

/// Completes an active campaign that the caller holds. Its event and its mails are owed once: from here on it is
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
    campaign::save(tx, campaign)?;
    campaign.version += 1;
    tell(tx, context, campaign, reason.as_str())?;
    let about = match reason {
        Reason::ListComplete => About::ListComplete,
        Reason::EndDate => About::EndDate,
    };
    mail::owe(tx, context, mails, campaign, run, about)
}

/// Completes a campaign that its owner ends; the caller saves it.
pub(crate) fn on_request(
    tx: &mut Tx<'_>,
    context: &Context,
    campaign: &mut CampaignRow,
) -> Result<(), Failure> {
    campaign.completed_at = Some(context.now);
    progress::rest(tx, campaign.workspace, campaign.id)?;
    tell(tx, context, campaign, "requested")
}

/// Tells of the end of a campaign.
fn tell(tx: &mut Tx<'_>, context: &Context, campaign: &CampaignRow, reason: &str) -> Result<(), Failure> {
    let agent = campaign.agent.map(|agent| agent.to_string());
    let event = NewEvent {
        kind: "campaign.finished",
        mode: Mode::Live,
        agent: agent.as_deref(),
        contact: None,
        data: json!({
            "campaignId": campaign.id,
            "name": campaign.name,
            "agentId": campaign.agent,
            "reason": reason,
            "finishedAt": context.now,
        }),
    };
    events::emit(tx, context, campaign.workspace, event)?;
    Ok(())
}
