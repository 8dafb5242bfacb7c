//! What the board of a campaign says about its people (docs/contract/boards.md#funnel).

use std::collections::HashMap;

use api::campaigns::{CampaignFunnel, WinMetric};
use app::Failure;
use domain::ids::{Campaign, Contact, Id};

use store::{TenantTx, boards};

/// The key of the column in which each of these people is.
pub(crate) fn columns(
    tx: &mut TenantTx,
    campaign: Id<Campaign>,
    people: &[Id<Contact>],
) -> Result<HashMap<Id<Contact>, String>, Failure> {
    let places = boards::columns_of(tx, campaign, people)?;
    Ok(places.into_iter().map(|place| (place.contact, place.key)).collect())
}

/// How far people came, and what counts as won.
pub(crate) fn funnel(
    tx: &mut TenantTx,
    campaign: Id<Campaign>,
) -> Result<(CampaignFunnel, WinMetric), Failure> {
    let found = boards::funnel(tx, campaign)?;
    let win_metric = WinMetric { label: found.win_label, count: found.won };
    let funnel = CampaignFunnel {
        contacted: found.contacted,
        advancing: found.advancing,
        won: found.won,
        lost: found.lost,
    };
    Ok((funnel, win_metric))
}
