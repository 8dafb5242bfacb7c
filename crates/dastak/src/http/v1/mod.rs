//! `/v1`: one file a noun.

mod account;
mod wallet;

pub use wallet::Ledger;

use super::handler::Handler;
use crate::keyed;

/// The handlers of the public API by operation.
pub fn handlers() -> Vec<(&'static str, Handler)> {
    vec![
        ("getAccount", keyed!(account::get)),
        ("getWallet", keyed!(wallet::get)),
        ("listWalletTransactions", keyed!(wallet::transactions)),
    ]
}
