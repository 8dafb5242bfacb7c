//! Data streams (docs/contract/streams.md), above campaigns: incoming data becomes records, and people on the calling
//! lists of the campaigns that a stream feeds.

pub mod attachments;
pub mod backfill;
pub mod ingest;
mod people;
pub mod records;
pub mod retention;
pub mod room;
pub mod stream;

pub use retention::erase;

use app::Failure;
use domain::ids::{DataStream, Id};

use store::TenantTx;
use store::streams::StreamRow;

fn missing() -> Failure {
    Failure::not_found("data stream")
}

fn find(tx: &mut TenantTx, id: Id<DataStream>) -> Result<StreamRow, Failure> {
    store::streams::get(tx, id)?.ok_or_else(missing)
}

/// A stream, held against other writers until the transaction ends.
fn find_for_update(tx: &mut TenantTx, id: Id<DataStream>) -> Result<StreamRow, Failure> {
    store::streams::get_for_update(tx, id)?.ok_or_else(missing)
}
