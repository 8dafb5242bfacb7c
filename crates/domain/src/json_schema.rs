//! JSON and JSON Schema of ids, times and closed sets.

use std::borrow::Cow;

use crate::actor::Actor;
use crate::ids::{Id, Kind};
use crate::time::Timestamp;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

impl<K: Kind> JsonSchema for Id<K> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed(K::PREFIX)
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "pattern": format!("^{}_", K::PREFIX)})
    }
}

impl JsonSchema for Actor {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("Actor")
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "minLength": 1, "maxLength": 64})
    }
}

impl JsonSchema for Timestamp {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("Timestamp")
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "format": "date-time"})
    }
}

closed_sets::wire! {
    crate::board::ActionKind = "BoardActionType", "What a column does with a card that comes into it.";
    crate::board::ActionState = "BoardActionStatus", "How far an automation has got.";
    crate::board::Attention = "CardAttention", "Why a card wants attention.";
    crate::board::CardStatus = "CardStatus", "`needs_review`: the model was not sure enough to move it.";
    crate::board::ColumnType = "ColumnType", "What a column means, whatever its name.";
    crate::board::ColumnColor = "ColumnColor", "The colour of a column.";
    crate::board::MovedBy = "MovedBy", "What moved a card: `api` for a person or a key, `sorting` after a call or a conversation.";
    crate::agent::Status = "AgentStatus", "Only an active agent can be called or call.";
    crate::call::AnsweredBy = "AnsweredBy", "Who picked up a call.";
    crate::call::Direction = "Direction", "Who calls: the agent, or the person.";
    crate::call::Stage = "CallState", "Where a call is.";
    crate::call::Status = "CallStatus", "The raw status of a call.";
    crate::campaign::Status = "CampaignStatus", "Where a campaign is.";
    crate::campaign::RunStatus = "CampaignRunStatus", "Where a run is.";
    crate::campaign::RunSource = "CampaignRunSource", "What started a run: a person, a request, or the schedule.";
    crate::campaign::RowState = "CallingListState", "Where a row of a calling list is.";
    crate::campaign::InvalidReason = "InvalidReason", "Why a row is never dialled.";
    crate::campaign::HeldReason = "HeldReason", "Why a row waits.";
    crate::campaign::RowFailure = "RowFailure", "Why a row was given up without a call.";
    crate::campaign::staged::Harm = "StagedHarm", "What a finding about rows of a staged list does.";
    crate::campaign::staged::FindingCode = "StagedFindingCode", "What was found about rows of a staged list.";
    crate::channel::Direction = "MessageDirection", "Whether a message goes to the customer or comes from them.";
    crate::channel::MessageStatus = "MessageStatus", "Where a message is. A status never moves backwards.";
    crate::channel::Source = "MessageSource", "Who sent a message.";
    crate::channel::Category = "TemplateCategory", "What a template is for.";
    crate::channel::MediaKind = "ChannelMediaType", "What a file is on the messaging channel.";
    crate::channel::ProviderKind = "ChannelProvider", "Who carries the messages of a connection.";
    crate::channel::provider::ConnectionStatus = "ChannelConnectionStatus", "Whether a connection with the messaging channel can be used.";
    crate::channel::TemplateStatus = "TemplateStatus", "Where a template is at the provider; only an approved one can be sent.";
    crate::channel::notification::Receipt = "ChannelReceipt", "What the channel says of a message.";
    crate::channel::campaign::PauseReason = "ChannelCampaignPause", "Why a campaign was paused by itself.";
    crate::channel::campaign::OptInPolicy = "ChannelOptInPolicy", "Who of a list may receive the message.";
    crate::channel::campaign::ParamSource = "ChannelParamSource", "Where a value of a template comes from.";
    crate::chat::Channel = "ChatChannel", "What carries a chat's words.";
    crate::chat::EndCause = "ChatEndCause", "Why a chat ended.";
    crate::chat::Role = "ChatRole", "Who wrote a message: the customer, the agent, or a teammate.";
    crate::chat::Origin = "ChatOrigin", "How a chat on the messaging channel began.";
    crate::chat::inbox::View = "InboxView", "A view of the inbox: `waiting`, `mine`, `open` or `ended`.";
    crate::chat::inbox::Assignment = "InboxAssignment", "How chats that wait for a person find one: `manual` or `round_robin`.";
    crate::chat::State = "ChatState", "State of a chat session.";
    crate::compliance::Communication = "Communication", "The kind of commercial communication that an agent's calls are.";
    crate::compliance::EntityClass = "EntityClass", "How the law regulates the entity of a workspace.";
    crate::compliance::Series = "NumberSeries", "A series of numbers that is allotted to one kind of calls.";
    crate::compliance::Vertical = "Vertical", "What an agent's calls are about; all but `general` are regulated.";
    crate::compliance::WorkflowTemplate = "WorkflowTemplate", "How an agent's conversation is laid out.";
    crate::decision_log::Chain = "LogChain", "A chain of the decision log.";
    crate::decision_log::Channel = "LogChannel", "What a decision was about: a call or a chat.";
    crate::decision_log::Decision = "LogVerdict", "Whether a dial or chat was allowed.";
    crate::document::FileType = "DocumentFileType", "What a file is, by what it holds.";
    crate::document::Status = "DocumentStatus", "State of a requested document.";
    crate::evaluation::Cause = "EvaluationCause", "Why a conversation was not graded, or by no model.";
    crate::evaluation::CriterionKind = "CriterionKind", "How a criterion is graded: met or not, or by a score.";
    crate::evaluation::Graded = "GradedConversation", "What is graded: a chat or a call.";
    crate::evaluation::RunStatus = "EvaluationStatus", "How far an evaluation has got.";
    crate::evaluation::SweepStatus = "EvaluationSweepStatus", "Where a sweep is.";
    crate::evaluation::Trigger = "EvaluationTrigger", "What started an evaluation.";
    crate::evaluation::Verdict = "EvaluationVerdict", "`na`: it does not apply, or no grade could be had.";
    crate::integration::Provider = "IntegrationProvider", "Kind of external system that is connected.";
    crate::integration::PushedCalls = "PushedCalls", "Which calls are written back.";
    crate::integration::Status = "IntegrationStatus", "A broken integration needs other credentials.";
    crate::knowledge::SourceKind = "KnowledgeSource", "Where a document of a knowledge base came from.";
    crate::person::InterfaceLanguage = "InterfaceLanguage", "Language of the console: English or Hindi.";
    crate::nudge::OutsideWindow = "OutsideWindow", "Wait for the calling window, or do not call outside it.";
    crate::nudge::ResultCode = "NudgeResult", "How a nudge ended.";
    crate::nudge::Status = "NudgeStatus", "Where a nudge is.";
    crate::scheduled_call::Status = "ScheduledCallStatus", "Where a scheduled call is.";
    crate::stream::Kind = "DataStreamKind", "How the records of a stream arrive.";
    crate::stream::Outcome = "RecordOutcome", "What became of a record that was sent.";
    crate::stream::Reason = "RecordReason", "Why a record cannot be called.";
    crate::stream::RecordStatus = "RecordStatus", "Whether a record can be called.";
    crate::stream::Status = "DataStreamStatus", "Where a stream is.";
    crate::topic::NotificationKind = "NotificationKind", "What a member is notified of.";
    crate::topic::Topic = "Topic", "The kind of object that changed.";
    crate::tenant::Mode = "KeyMode", "`live` or `test`: each mode sees what its own keys made.";
    crate::tenant::Role = "Role", "What a member may do; each role may do what the roles before it may.";
}
