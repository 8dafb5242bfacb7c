//! `/v1`: one file a noun.

mod account;
mod agents;
mod numbers;
mod tools;
mod wallet;

pub use wallet::Ledger;

use super::handler::Handler;
use crate::keyed;

/// The handlers of the public API by operation.
pub fn handlers() -> Vec<(&'static str, Handler)> {
    vec![
        ("getAccount", keyed!(account::get)),
        ("listAgents", keyed!(agents::list)),
        ("createAgent", keyed!(agents::create)),
        ("getAgent", keyed!(agents::get)),
        ("updateAgent", keyed!(agents::update)),
        ("deleteAgent", keyed!(agents::delete)),
        ("setAgentStatus", keyed!(agents::set_status)),
        ("getFlow", keyed!(agents::flow)),
        ("saveFlow", keyed!(agents::save_flow)),
        ("publishFlow", keyed!(agents::publish_flow)),
        ("listVoices", keyed!(agents::voices)),
        ("listTools", keyed!(tools::list)),
        ("listNumbers", keyed!(numbers::list)),
        ("setInboundAgent", keyed!(numbers::set_inbound_agent)),
        ("getWallet", keyed!(wallet::get)),
        ("listWalletTransactions", keyed!(wallet::transactions)),
    ]
}
