//! `/v1`: one file a noun.

mod account;
mod calls;
mod wallet;

pub use wallet::Ledger;

use super::handler::Handler;
use crate::keyed;

/// The handlers of the public API by operation.
pub fn handlers() -> Vec<(&'static str, Handler)> {
    vec![
        ("getAccount", keyed!(account::get)),
        ("placeCall", keyed!(calls::place)),
        ("listCalls", keyed!(calls::list)),
        ("getCall", keyed!(calls::get)),
        ("hangUpCall", keyed!(calls::hang_up)),
        ("getWallet", keyed!(wallet::get)),
        ("listWalletTransactions", keyed!(wallet::transactions)),
    ]
}
