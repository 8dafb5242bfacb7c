//! The end of a campaign (docs/contract/campaigns.md#the-end).

use app::{Context, Failure};
use domain::campaign::Status;
use domain::ids::{CampaignRun, Id};
use store::Tx;
use store::campaigns::CampaignRow;

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
    campaign::finished(tx, context, campaign, reason.as_str())?;
    let about = match reason {
        Reason::ListComplete => About::ListComplete,
        Reason::EndDate => About::EndDate,
    };
    mail::owe(tx, context, mails, campaign, run, about)
}
