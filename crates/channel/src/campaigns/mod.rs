//! Campaigns on the messaging channel (docs/contract/campaigns.md#campaigns-on-the-messaging-channel).
//!
//! | file | holds |
//! |---|---|
//! | `settings` | making, changing, publishing and reading them |
//! | `preflight` | who would receive the message, and what stands in the way |
//! | `people` | the values and the consent of one person |
//! | `sending` | handing messages over, at their pace |
//! | `outcomes` | what becomes of people, and what pauses a campaign |
//! | `stats` | how far people came |

pub mod outcomes;
mod people;
pub mod preflight;
pub mod sending;
pub mod settings;
mod stats;

pub use settings::{create, delete, get, is_of_channel, list, preflight, set_status, update};

use app::Failure;
use domain::ids::{Campaign, Id};

use store::TenantTx;
use store::channel_campaigns::{self, BlockRow};

/// The channel's settings and state of a campaign.
fn block(tx: &mut TenantTx, id: Id<Campaign>) -> Result<BlockRow, Failure> {
    channel_campaigns::get(tx, id)?.ok_or_else(|| Failure::internal(format!("{id} has no block")))
}

/// [`block`], locked until the transaction ends. Lock the campaign first.
fn block_for_update(tx: &mut TenantTx, id: Id<Campaign>) -> Result<BlockRow, Failure> {
    channel_campaigns::get_for_update(tx, id)?.ok_or_else(|| Failure::internal(format!("{id} has no block")))
}
