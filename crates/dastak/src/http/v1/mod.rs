//! `/v1`: one file a noun.

mod account;
mod agents;
mod analytics;
mod audit;
mod calls;
mod campaigns;
mod contacts;
mod data_streams;
mod do_not_call;
mod nudges;
mod numbers;
pub(crate) mod recordings;
mod scheduled_calls;
mod tools;
mod wallet;
mod webhooks;

use super::handler::Handler;
use crate::{keyed, open};

/// The handlers of the public API by operation.
pub fn handlers() -> Vec<(&'static str, Handler)> {
    vec![
        ("getAccount", keyed!(account::get)),
        ("placeCall", keyed!(calls::place)),
        ("listCalls", keyed!(calls::list)),
        ("getCall", keyed!(calls::get)),
        ("hangUpCall", keyed!(calls::hang_up)),
        ("getRecording", open!(recordings::get)),
        ("getCallTimeline", keyed!(scheduled_calls::call_timeline)),
        ("scheduleCall", keyed!(scheduled_calls::create)),
        ("listScheduledCalls", keyed!(scheduled_calls::list)),
        ("getScheduledCall", keyed!(scheduled_calls::get)),
        ("cancelScheduledCall", keyed!(scheduled_calls::cancel)),
        ("getScheduledCallTimeline", keyed!(scheduled_calls::timeline)),
        ("createNudge", keyed!(nudges::create)),
        ("listNudges", keyed!(nudges::list)),
        ("cancelNudges", keyed!(nudges::cancel_many)),
        ("preflightNudge", keyed!(nudges::preflight)),
        ("getNudge", keyed!(nudges::get)),
        ("cancelNudge", keyed!(nudges::cancel)),
        ("getNudgeTimeline", keyed!(nudges::timeline)),
        ("preflightNudges", keyed!(campaigns::preflight_nudges)),
        ("listCampaigns", keyed!(campaigns::list)),
        ("getCampaign", keyed!(campaigns::get)),
        ("createCampaign", keyed!(campaigns::create)),
        ("updateCampaign", keyed!(campaigns::update)),
        ("setCampaignStatus", keyed!(campaigns::set_status)),
        ("deleteCampaign", keyed!(campaigns::delete)),
        ("setCampaignContacts", keyed!(campaigns::set_contacts)),
        ("listCampaignContacts", keyed!(campaigns::contacts)),
        ("listCampaignRuns", keyed!(campaigns::runs)),
        ("getCampaignRun", keyed!(campaigns::run)),
        ("getCampaignSummary", keyed!(campaigns::summary)),
        ("preflightCampaign", keyed!(campaigns::preflight)),
        ("getCallAnalytics", keyed!(analytics::calls)),
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
        ("listContacts", keyed!(contacts::list)),
        ("getContact", keyed!(contacts::get)),
        ("upsertContact", keyed!(contacts::upsert)),
        ("upsertContacts", keyed!(contacts::upsert_many)),
        ("updateContact", keyed!(contacts::update)),
        ("deleteContact", keyed!(contacts::delete)),
        ("eraseContact", keyed!(contacts::erase)),
        ("ingestRecords", open!(data_streams::ingest)),
        ("listDataStreams", keyed!(data_streams::list)),
        ("createDataStream", keyed!(data_streams::create)),
        ("getDataStream", keyed!(data_streams::get)),
        ("updateDataStream", keyed!(data_streams::update)),
        ("deleteDataStream", keyed!(data_streams::delete)),
        ("rotateDataStreamToken", keyed!(data_streams::rotate_token)),
        ("pushRecords", keyed!(data_streams::push)),
        ("listStreamRecords", keyed!(data_streams::records)),
        ("listCampaignStreams", keyed!(data_streams::of_campaign)),
        ("attachStream", keyed!(data_streams::attach)),
        ("detachStream", keyed!(data_streams::detach)),
        ("listDoNotCall", keyed!(do_not_call::list)),
        ("addDoNotCall", keyed!(do_not_call::add)),
        ("verifyLog", keyed!(audit::verify)),
        ("exportLog", keyed!(audit::export)),
        ("getBlockedStats", keyed!(audit::stats)),
        ("getLogHead", keyed!(audit::head)),
        ("listWalletTransactions", keyed!(wallet::transactions)),
        ("listWebhooks", keyed!(webhooks::list)),
        ("createWebhook", keyed!(webhooks::create)),
        ("getWebhook", keyed!(webhooks::get)),
        ("updateWebhook", keyed!(webhooks::update)),
        ("deleteWebhook", keyed!(webhooks::delete)),
        ("rotateWebhookSecret", keyed!(webhooks::rotate_secret)),
        ("testWebhook", keyed!(webhooks::test)),
        ("listWebhookDeliveries", keyed!(webhooks::deliveries)),
        ("getWebhookDelivery", keyed!(webhooks::delivery)),
        ("replayWebhookDelivery", keyed!(webhooks::replay)),
        ("listEvents", keyed!(webhooks::events)),
        ("triggerEvent", keyed!(webhooks::trigger)),
    ]
}
