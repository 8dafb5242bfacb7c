//! `/v1`: one file a noun.

mod account;
mod calls;
mod agents;
mod nudges;
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
        ("placeCall", keyed!(calls::place)),
        ("listCalls", keyed!(calls::list)),
        ("getCall", keyed!(calls::get)),
        ("hangUpCall", keyed!(calls::hang_up)),
        ("createNudge", keyed!(nudges::create)),
        ("listNudges", keyed!(nudges::list)),
        ("cancelNudges", keyed!(nudges::cancel_many)),
        ("preflightNudge", keyed!(nudges::preflight)),
        ("getNudge", keyed!(nudges::get)),
        ("cancelNudge", keyed!(nudges::cancel)),
        ("getNudgeTimeline", keyed!(nudges::timeline)),
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
