//! The end of a campaign (docs/contract/campaigns.md#the-end).

use app::calls::Env;
use app::events::{self, NewEvent};
use app::{Context, Failure};
use domain::campaign::Status;
use domain::ids::{CampaignRun, Id};
use domain::tenant::Mode;
use serde_json::{Map, Value, json};
use store::Tx;
use store::campaigns::{CampaignRow, progress};

use crate::mail::{self, About};
use crate::{campaign, retries};

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
    campaign::save(tx, campaign)?;
    campaign.version += 1;
    tell(tx, context, campaign, reason.as_str(), Map::new())?;
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
    tell(tx, context, campaign, "requested", Map::new())
}

/// Completes a campaign of another channel, which the caller holds: it is saved, and its mails are owed. What its event
/// tells besides is `more`; `None` as the reason: its owner ends it.
pub fn over(
    tx: &mut Tx<'_>,
    context: &Context,
    mails: bool,
    campaign: &mut CampaignRow,
    reason: Option<Reason>,
    more: Map<String, Value>,
) -> Result<(), Failure> {
    campaign.status = Status::Completed;
    campaign.completed_at = Some(context.now);
    campaign.updated_at = context.now;
    campaign::save(tx, campaign)?;
    campaign.version += 1;
    tell(tx, context, campaign, reason.map_or("requested", Reason::as_str), more)?;
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
    more: Map<String, Value>,
) -> Result<(), Failure> {
    let mut data = json!({
        "campaignId": campaign.id,
        "name": campaign.name,
        "agentId": campaign.agent,
        "reason": reason,
        "finishedAt": context.now,
    });
    if let Some(data) = data.as_object_mut() {
        data.extend(more);
    }
    let agent = campaign.agent.map(|agent| agent.to_string());
    let event = NewEvent {
        kind: "campaign.finished",
        mode: Mode::Live,
        agent: agent.as_deref(),
        contact: None,
        data,
    };
    events::emit(&mut tx.of(campaign.workspace), context, event)?;
    Ok(())
}
