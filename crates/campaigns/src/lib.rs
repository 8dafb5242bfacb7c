//! The use cases of campaigns (docs/contract/campaigns.md), above those of calls: a published agent calls the people of
//! a list, within the hours of its settings.

pub mod board;
mod callers;
pub mod campaign;
pub mod dial;
pub mod erasure;
mod facts;
pub mod filling;
pub mod finish;
pub mod import;
pub mod list;
pub mod mail;
pub mod preflight;
mod retries;
mod row_rules;
pub mod run;
pub mod runs;
pub mod staged;
pub mod summary;

pub use facts::{call_fact, charge, prefetch};

use app::Failure;
use domain::ids::{Campaign, Id};

use store::campaigns::CampaignRow;
use store::campaigns::progress::ProgressRow;
use store::{TenantTx, Tx};

/// A campaign.
///
/// # Errors
/// There is none.
pub fn find(tx: &mut TenantTx, id: Id<Campaign>) -> Result<CampaignRow, Failure> {
    store::campaigns::get(tx, id)?.ok_or_else(|| Failure::not_found("campaign"))
}

/// A campaign, locked until the transaction ends.
///
/// # Errors
/// There is none.
pub fn find_for_update(tx: &mut TenantTx, id: Id<Campaign>) -> Result<CampaignRow, Failure> {
    store::campaigns::get_for_update(tx, id)?.ok_or_else(|| Failure::not_found("campaign"))
}

/// Its progress.
pub fn progress(tx: &mut TenantTx, id: Id<Campaign>) -> Result<ProgressRow, Failure> {
    store::campaigns::progress::get(tx, id)?.ok_or_else(|| Failure::internal(format!("{id} has no progress")))
}

/// Whether a campaign is one of the messaging channel.
pub fn sends_messages(row: &CampaignRow) -> bool {
    row.channel == "chatapp"
}

/// Refuses operations of voice campaigns on others.
///
/// # Errors
/// 409 `chatapp_campaign`.
pub(crate) fn need_voice(row: &CampaignRow) -> Result<(), Failure> {
    if sends_messages(row) { Err(Failure::plain(api::error_codes::CHATAPP_CAMPAIGN)) } else { Ok(()) }
}

/// Saves a locked row.
pub fn save(tx: &mut Tx<'_>, row: &CampaignRow) -> Result<(), Failure> {
    if store::campaigns::save(tx, row)? {
        Ok(())
    } else {
        Err(Failure::internal(format!("{} was changed by somebody who did not hold it", row.id)))
    }
}
