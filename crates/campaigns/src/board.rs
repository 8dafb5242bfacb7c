//! What the board of a campaign says about its people.

use std::collections::HashMap;

use api::campaigns::{CampaignFunnel, WinMetric};
use app::Failure;
use domain::ids::{Campaign, Contact, Id};
use domain::tenant::Tenant;
use store::Tx;

/// The key of the column in which each of these people is.
// Boards come with a migration of their own; until then nobody stands in a column.
pub(crate) fn columns(
    _: &mut Tx<'_>,
    _: Tenant,
    _: Id<Campaign>,
    _: &[Id<Contact>],
) -> Result<HashMap<Id<Contact>, String>, Failure> {
    Ok(HashMap::new())
}

/// How far people came, and what counts as won.
pub(crate) fn funnel(
    _: &mut Tx<'_>,
    _: Tenant,
    _: Id<Campaign>,
    contacted: i64,
) -> Result<(CampaignFunnel, WinMetric), Failure> {
    let funnel = CampaignFunnel { contacted, ..CampaignFunnel::default() };
    Ok((funnel, WinMetric { label: "Won".into(), count: funnel.won }))
}
