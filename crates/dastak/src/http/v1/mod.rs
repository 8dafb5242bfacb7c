//! `/v1`: one file a noun.

mod account;
mod calls;
mod agents;
mod numbers;
mod scheduled_calls;
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
        ("getCallTimeline", keyed!(scheduled_calls::call_timeline)),
        ("scheduleCall", keyed!(scheduled_calls::create)),
        ("listScheduledCalls", keyed!(scheduled_calls::list)),
        ("getScheduledCall", keyed!(scheduled_calls::get)),
        ("cancelScheduledCall", keyed!(scheduled_calls::cancel)),
        ("getScheduledCallTimeline", keyed!(scheduled_calls::timeline)),
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
