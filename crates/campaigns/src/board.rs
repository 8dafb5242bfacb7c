//! The funnel and the columns of a campaign's people, from its board (docs/contract/boards.md#funnel).

use std::collections::HashMap;

use api::campaigns::{CampaignFunnel, WinMetric};
use app::Failure;
use domain::ids::{Campaign, Contact, Id};

use store::{TenantTx, boards};

/// The key of the column of each of these people.
pub(crate) fn columns(
    tx: &mut TenantTx,
    campaign: Id<Campaign>,
    people: &[Id<Contact>],
) -> Result<HashMap<Id<Contact>, String>, Failure> {
    let places = boards::columns_of(tx, campaign, people)?;
    Ok(places.into_iter().map(|place| (place.contact, place.key)).collect())
}

/// The funnel, and the count of wins.
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
