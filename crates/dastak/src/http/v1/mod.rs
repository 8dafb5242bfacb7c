//! `/v1`: one file a noun.

mod account;
mod audit;
mod contacts;
mod do_not_call;
mod wallet;

pub use wallet::Ledger;

use super::handler::Handler;
use crate::keyed;

/// The handlers of the public API by operation.
pub fn handlers() -> Vec<(&'static str, Handler)> {
    vec![
        ("getAccount", keyed!(account::get)),
        ("getWallet", keyed!(wallet::get)),
        ("listContacts", keyed!(contacts::list)),
        ("getContact", keyed!(contacts::get)),
        ("upsertContact", keyed!(contacts::upsert)),
        ("upsertContacts", keyed!(contacts::upsert_many)),
        ("updateContact", keyed!(contacts::update)),
        ("deleteContact", keyed!(contacts::delete)),
        ("eraseContact", keyed!(contacts::erase)),
        ("listDoNotCall", keyed!(do_not_call::list)),
        ("addDoNotCall", keyed!(do_not_call::add)),
        ("verifyLog", keyed!(audit::verify)),
        ("exportLog", keyed!(audit::export)),
        ("getBlockedStats", keyed!(audit::stats)),
        ("getLogHead", keyed!(audit::head)),
        ("listWalletTransactions", keyed!(wallet::transactions)),
    ]
}
