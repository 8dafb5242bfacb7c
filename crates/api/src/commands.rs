//! The names under which clients reach the operations of keys: `calls place` on the command line is `client.calls.place` in Python and TypeScript.
//!
//! They are part of the API: a name that was released keeps its operation.

use crate::operation::Operation;

/// The command of an operation: its group and its verb, both in kebab case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CommandName {
    /// The noun: `calls`.
    pub group: &'static str,
    /// What is done with it: `place`.
    pub verb: &'static str,
}

impl Operation {
    /// Its name on the command line and in the SDKs; none for what no key may call.
    pub fn command(&self) -> Option<CommandName> {
        let (_, command) = COMMANDS.iter().find(|(id, _)| *id == self.id)?;
        let (group, verb) = command.split_once(' ')?;
        Some(CommandName { group, verb })
    }
}

/// Operations and their commands.
const COMMANDS: &[(&str, &str)] = &[
    ("getAccount", "account get"),
    ("listAgents", "agents list"),
    ("createAgent", "agents create"),
    ("getAgent", "agents get"),
    ("updateAgent", "agents update"),
    ("deleteAgent", "agents delete"),
    ("setAgentStatus", "agents set-status"),
    ("getFlow", "flows get"),
    ("saveFlow", "flows save"),
    ("publishFlow", "flows publish"),
    ("listVoices", "voices list"),
    ("listFlowVersions", "flows versions"),
    ("getFlowVersion", "flows version"),
    ("compareFlowVersions", "flows compare"),
    ("restoreFlowVersion", "flows restore"),
    ("getFlowVisits", "flows visits"),
    ("tryFlow", "flow-tries start"),
    ("getFlowTry", "flow-tries get"),
    ("endFlowTry", "flow-tries end"),
    ("sendTryMessage", "flow-tries send"),
    ("goBackInTry", "flow-tries back"),
    ("createTestLink", "test-links create"),
    ("listTestLinks", "test-links list"),
    ("revokeTestLink", "test-links revoke"),
    ("listTools", "tools list"),
    ("placeCall", "calls place"),
    ("listCalls", "calls list"),
    ("countCalls", "calls count"),
    ("getCallTurns", "calls turns"),
    ("getCallPeaks", "calls peaks"),
    ("getCall", "calls get"),
    ("hangUpCall", "calls hang-up"),
    ("listLiveCalls", "calls live"),
    ("search", "search find"),
    ("scheduleCall", "scheduled-calls create"),
    ("listScheduledCalls", "scheduled-calls list"),
    ("getScheduledCall", "scheduled-calls get"),
    ("cancelScheduledCall", "scheduled-calls cancel"),
    ("getScheduledCallTimeline", "scheduled-calls timeline"),
    ("getCallTimeline", "calls timeline"),
    ("createNudge", "nudges create"),
    ("listNudges", "nudges list"),
    ("cancelNudges", "nudges cancel-many"),
    ("preflightNudge", "nudges preflight"),
    ("getNudge", "nudges get"),
    ("cancelNudge", "nudges cancel"),
    ("getNudgeTimeline", "nudges timeline"),
    ("listCampaigns", "campaigns list"),
    ("createCampaign", "campaigns create"),
    ("getCampaign", "campaigns get"),
    ("updateCampaign", "campaigns update"),
    ("deleteCampaign", "campaigns delete"),
    ("setCampaignStatus", "campaigns set-status"),
    ("setCampaignContacts", "campaigns set-contacts"),
    ("listCampaignContacts", "campaigns contacts"),
    ("runCampaign", "campaigns run"),
    ("listCampaignRuns", "campaigns runs"),
    ("getCampaignRun", "campaigns get-run"),
    ("getCampaignSummary", "campaigns summary"),
    ("preflightCampaign", "campaigns preflight"),
    ("preflightNudges", "nudges preflight-many"),
    ("openStagedList", "staged-lists open"),
    ("listStagedLists", "staged-lists list"),
    ("addStagedRows", "staged-lists add-rows"),
    ("listStagedRows", "staged-lists rows"),
    ("preflightStagedList", "staged-lists preflight"),
    ("editStagedRow", "staged-lists edit-row"),
    ("exportStagedFindings", "staged-lists findings"),
    ("applyStagedList", "staged-lists apply"),
    ("deleteStagedList", "staged-lists delete"),
    ("getCampaignBoard", "boards of-campaign"),
    ("getAgentBoard", "boards of-agent"),
    ("listCampaignCards", "boards campaign-cards"),
    ("listAgentCards", "boards agent-cards"),
    ("moveCampaignCard", "boards move-campaign-card"),
    ("moveAgentCard", "boards move-agent-card"),
    ("getCampaignCardHistory", "boards campaign-card-history"),
    ("getAgentCardHistory", "boards agent-card-history"),
    ("addKnowledgeLink", "knowledge-bases add-link"),
    ("getCallAnalytics", "calls analytics"),
    ("listContacts", "contacts list"),
    ("upsertContact", "contacts upsert"),
    ("getContact", "contacts get"),
    ("updateContact", "contacts update"),
    ("deleteContact", "contacts delete"),
    ("upsertContacts", "contacts upsert-many"),
    ("eraseContact", "contacts erase"),
    ("openChatSession", "chats open"),
    ("sendChatMessage", "chats send"),
    ("getChatSession", "chats get"),
    ("endChatSession", "chats end"),
    ("listInbox", "inbox list"),
    ("countInbox", "inbox count"),
    ("listInboxTeam", "inbox team"),
    ("getInboxSettings", "inbox settings"),
    ("getInboxChat", "inbox get"),
    ("assignInboxChat", "inbox assign"),
    ("listSavedAnswers", "saved-answers list"),
    ("createSavedAnswer", "saved-answers create"),
    ("updateSavedAnswer", "saved-answers update"),
    ("deleteSavedAnswer", "saved-answers delete"),
    ("listChannelNumbers", "channel-numbers list"),
    ("startConversation", "conversations start"),
    ("listConversations", "conversations list"),
    ("getConversation", "conversations get"),
    ("endConversation", "conversations end"),
    ("takeConversationOver", "conversations take-over"),
    ("handConversationBack", "conversations hand-back"),
    ("assignConversation", "conversations assign"),
    ("listAssignees", "conversations assignees"),
    ("sendChannelMessage", "messages send"),
    ("listChannelMessages", "messages list"),
    ("getChannelMessage", "messages get"),
    ("getChannelMessageMedia", "messages media"),
    ("listChannelTemplates", "templates list"),
    ("createChannelTemplate", "templates create"),
    ("syncChannelTemplates", "templates sync"),
    ("uploadHeaderSample", "templates upload-sample"),
    ("getChannelTemplate", "templates get"),
    ("updateChannelTemplate", "templates update"),
    ("deleteChannelTemplate", "templates delete"),
    ("uploadDocument", "chats upload-document"),
    ("getAgentEvaluation", "evaluations criteria"),
    ("setAgentEvaluation", "evaluations set-criteria"),
    ("tryEvaluation", "evaluations try"),
    ("evaluateChat", "evaluations evaluate-chat"),
    ("evaluateCall", "evaluations evaluate-call"),
    ("listChatEvaluations", "evaluations of-chat"),
    ("listCallEvaluations", "evaluations of-call"),
    ("getEvaluation", "evaluations get"),
    ("previewEvaluationSweep", "evaluation-sweeps preview"),
    ("startEvaluationSweep", "evaluation-sweeps start"),
    ("listEvaluationSweeps", "evaluation-sweeps list"),
    ("getEvaluationSweep", "evaluation-sweeps get"),
    ("cancelEvaluationSweep", "evaluation-sweeps cancel"),
    ("getEvaluationSummary", "evaluations summary"),
    ("getEvaluationAgreement", "evaluations agreement"),
    ("ingestRecords", "streams ingest"),
    ("listDataStreams", "streams list"),
    ("createDataStream", "streams create"),
    ("getDataStream", "streams get"),
    ("updateDataStream", "streams update"),
    ("deleteDataStream", "streams delete"),
    ("rotateDataStreamToken", "streams rotate-token"),
    ("pushRecords", "streams push"),
    ("listStreamRecords", "streams records"),
    ("listCampaignStreams", "streams of-campaign"),
    ("attachStream", "streams attach"),
    ("detachStream", "streams detach"),
    ("listKnowledgeBases", "knowledge-bases list"),
    ("createKnowledgeBase", "knowledge-bases create"),
    ("getKnowledgeBase", "knowledge-bases get"),
    ("deleteKnowledgeBase", "knowledge-bases delete"),
    ("addKnowledgeText", "knowledge-bases add-text"),
    ("removeKnowledgeDocument", "knowledge-bases remove-document"),
    ("searchKnowledgeBase", "knowledge-bases search"),
    ("listDoNotCall", "do-not-call list"),
    ("addDoNotCall", "do-not-call add"),
    ("verifyLog", "audit verify"),
    ("exportLog", "audit export"),
    ("getBlockedStats", "audit blocked"),
    ("getLogHead", "audit head"),
    ("listLogRecords", "audit records"),
    ("getLogRecord", "audit record"),
    ("listActions", "audit actions"),
    ("listNumbers", "numbers list"),
    ("setInboundAgent", "numbers set-inbound-agent"),
    ("getWallet", "wallet get"),
    ("listWalletTransactions", "wallet transactions"),
    ("listWebhooks", "webhooks list"),
    ("createWebhook", "webhooks create"),
    ("getWebhook", "webhooks get"),
    ("updateWebhook", "webhooks update"),
    ("deleteWebhook", "webhooks delete"),
    ("rotateWebhookSecret", "webhooks rotate-secret"),
    ("testWebhook", "webhooks test"),
    ("listWebhookDeliveries", "webhooks deliveries"),
    ("replayFailedDeliveries", "webhooks replay-failed"),
    ("getWebhookDelivery", "webhooks delivery"),
    ("replayWebhookDelivery", "webhooks replay"),
    ("listEvents", "events list"),
    ("triggerEvent", "events trigger"),
];

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::COMMANDS;
    use crate::operation::Access;
    use crate::operations;

    #[test]
    fn every_operation_of_a_key_has_a_command_of_its_own() {
        let mut seen = HashSet::new();
        for operation in operations::all() {
            let of_keys = operation.id != crate::mcp::ID
                && matches!(
                    operation.access,
                    Access::AnyKey | Access::Scope(_) | Access::Scopes(..) | Access::StreamToken
                );
            let command = operation.command();
            assert_eq!(command.is_some(), of_keys, "{}: a row of commands.rs", operation.id);
            if let Some(command) = command {
                assert!(seen.insert(command), "{command:?} is there twice");
                let kebab = |name: &str| {
                    name.split('-')
                        .all(|word| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase()))
                };
                assert!(kebab(command.group) && kebab(command.verb), "{command:?}");
            }
        }
        assert_eq!(seen.len(), COMMANDS.len(), "a row of commands.rs has no operation");
    }
}
