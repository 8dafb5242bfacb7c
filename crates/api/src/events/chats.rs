//! Events of chats (docs/contract/chats.md#events).

use domain::chat::{Channel, EndCause, Origin, Role};
use domain::evaluation::{CriterionKind, Trigger, Verdict};
use domain::ids::{self, Id};
use domain::time::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::samples::{AGENT, BUSINESS, CHAT, CONTACT, CUSTOMER_REF, PHONE, at, id};
use crate::agents::LanguageCode;
use crate::channel_conversations::{ConversationCustomer, ConversationStatus};

/// A chat, as events show it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChatData {
    /// Id of the chat, `chatsess_…`.
    pub chat_id: Id<ids::Chat>,
    /// How the customer writes: `api`, `web` or `chatapp`.
    pub channel: Channel,
    /// Id of the agent, `agt_…`.
    pub agent_id: Id<ids::Agent>,
    /// Id of the contact; null for a session over the API.
    pub contact_id: Option<Id<ids::Contact>>,
    /// Your own id of the contact; null without one.
    pub external_ref: Option<String>,
    /// The customer on the messaging channel; null for other chats.
    pub customer: Option<ConversationCustomer>,
    /// The business number on the messaging channel, E.164; null for other chats.
    pub business_number: Option<String>,
    /// How the chat began; `inbound` for a session over the API.
    pub origin: Origin,
    /// Id of the call that the chat follows; null without one.
    pub linked_call_id: Option<Id<ids::Call>>,
    /// `active` while the chat is open, then `ended`.
    pub status: ConversationStatus,
    /// Why the chat ended; null while it is open.
    pub end_cause: Option<EndCause>,
    /// When the chat was opened.
    pub started_at: Timestamp,
    /// When the chat ended; null while it is open.
    pub ended_at: Option<Timestamp>,
    /// Number of messages in the chat.
    pub message_count: i64,
    /// The language of the conversation: the agent's, or the one that the customer was followed into.
    #[schemars(with = "LanguageCode")]
    pub language: String,
    /// Why and since when people have it; null while they do not.
    pub handoff: Option<Handoff>,
    /// Always false: chats of test keys send no events.
    pub is_test: bool,
    /// The `metadata` of the request that started it.
    pub metadata: Map<String, Value>,
    /// The ad or post that the customer came from, in the channel's own form; null without one.
    pub ad_referral: Option<Value>,
}

/// The hand-off of a chat to people.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Handoff {
    /// Code of the reason; null if the agent asked for a person.
    pub reason: Option<String>,
    /// When a person was requested.
    pub requested_at: Timestamp,
    /// Id of the teammate who handles the chat; null if none does.
    pub user_id: Option<Id<ids::User>>,
}

/// The transcript of a chat up to an event: its last member. An event is stored without it; `webhooks::complete` puts it in
/// when the event is sent or read, so that an event costs what it says itself, however long its chat is.
pub type Transcript = Option<Vec<TranscriptLine>>;

/// A message of a chat's transcript.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TranscriptLine {
    /// Who wrote it: `user` (the customer), `agent`, or `human` (a teammate).
    pub role: Role,
    /// The words of the message.
    pub text: String,
    /// `true` if the messaging channel did not deliver the message; absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<bool>,
}

/// A chat that ended, with everything that was said in it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ChatWithTranscript {
    #[serde(flatten)]
    pub chat: ChatData,
    /// The messages up to the event, oldest first; empty once the chat is deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transcript: Transcript,
}

/// A chat that was analysed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AnalyzedChat {
    #[serde(flatten)]
    pub chat: ChatData,
    /// What the analysis found.
    pub analysis: ChatAnalysis,
    /// The messages up to the event, oldest first; empty once the chat is deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transcript: Transcript,
}

/// What the analysis of a chat found.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ChatAnalysis {
    /// Summary of the chat, at most 4,000 characters; null without one.
    pub summary: Option<String>,
    /// Captured and extracted values by key; null without any.
    #[schemars(with = "Option<Map<String, Value>>")]
    pub extracted: Option<Value>,
    /// Sentiment of the customer: `positive`, `neutral` or `negative`; null if it is unknown.
    pub sentiment: Option<String>,
    /// The disposition as a key; null if it is unknown.
    pub outcome: Option<String>,
}

/// A chat that a helpdesk took over.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TakenOverChat {
    #[serde(flatten)]
    pub chat: ChatData,
    /// Who took it over; always `helpdesk`.
    pub by: String,
    /// Name of the person who answers; null if none was given.
    pub agent_name: Option<String>,
    /// Note of the takeover; null if none was given.
    pub note: Option<String>,
    /// The messages up to the event, oldest first; empty once the chat is deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transcript: Transcript,
}

/// A chat that was handed back to its agent.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HandedBackChat {
    #[serde(flatten)]
    pub chat: ChatData,
    /// Who handed it back, and with what.
    #[serde(flatten)]
    pub handback: Handback,
    /// The messages up to the event, oldest first; empty once the chat is deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transcript: Transcript,
}

/// How a chat was handed back.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Handback {
    /// Who handed it back: `helpdesk` or `teammate`.
    pub by: String,
    /// Note for the agent; null if none was given.
    pub note: Option<String>,
    /// Number of messages of the team that were added to the history.
    pub messages_added: usize,
}

/// A chat that was assigned to a teammate.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AssignedChat {
    #[serde(flatten)]
    pub chat: ChatData,
    /// The teammate who handles the chat now.
    pub assigned_to: Teammate,
    /// The teammate or the API key that assigned it; null for `round_robin`.
    pub assigned_by: Option<Assigner>,
    /// How it was assigned: `manual` (by a person or a request), or `round_robin`.
    pub reason: String,
    /// The messages up to the event, oldest first; empty once the chat is deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transcript: Transcript,
}

/// A teammate who can reply to customers.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Teammate {
    /// Id of the teammate, `usr_…`.
    pub user_id: Id<ids::User>,
    /// The name of the teammate.
    pub name: String,
}

/// Who assigned a chat: a teammate, or a request with an API key.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Assigner {
    /// A teammate took it.
    Teammate(Teammate),
    /// A request to the API.
    #[serde(rename_all = "camelCase")]
    Key {
        /// Id of the API key that made the request.
        api_key_id: Id<ids::ApiKey>,
    },
}

/// A chat for which a person was requested.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HandoffRequest {
    #[serde(flatten)]
    pub chat: ChatData,
    /// Code of the reason; null if the agent asked for a person.
    pub reason: Option<String>,
    /// When a person was requested.
    pub handoff_at: Timestamp,
    /// The messages up to the event, oldest first; empty once the chat is deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transcript: Transcript,
}

/// A chat that was graded against criteria.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EvaluatedChat {
    /// Id of the chat, `chatsess_…`.
    pub chat_id: Id<ids::Chat>,
    /// How the customer writes: `api`, `web` or `chatapp`.
    pub channel: Channel,
    /// Id of the agent, `agt_…`.
    pub agent_id: Id<ids::Agent>,
    /// Id of the contact; null for a session over the API.
    pub contact_id: Option<Id<ids::Contact>>,
    /// Id of the evaluation, `evr_…`; dedupe on it.
    pub run_id: Id<ids::EvaluationRun>,
    /// Number of the evaluation among those of the chat, from 1.
    pub run_no: i64,
    /// What started the evaluation: `auto`, `sweep` or `manual`.
    pub trigger: Trigger,
    /// The model that graded the chat; empty if none did.
    pub model: String,
    /// When the chat was graded.
    pub evaluated_at: Timestamp,
    /// Number of criteria that were met.
    pub passed: i64,
    /// Number of criteria that were not met.
    pub failed: i64,
    /// Number of criteria that do not apply to the chat, or for which no grade could be had.
    pub not_applicable: i64,
    /// The result of each criterion.
    pub results: Vec<CriterionResult>,
    /// Whether the chat is a test of the agent.
    pub is_test: bool,
}

/// The result of one criterion.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CriterionResult {
    /// Key that identifies the criterion.
    pub criterion_key: String,
    /// The name of the criterion, for people.
    pub name: String,
    /// `pass_fail` or `score`: how the criterion is graded.
    pub kind: CriterionKind,
    /// The score from which it is met; null for `pass_fail`.
    pub pass_threshold: Option<i64>,
    /// `pass`, `fail`, or `na` if it does not apply or no grade could be had.
    pub verdict: Verdict,
    /// The score that it got, from 0 to 100; null for `pass_fail` and without one.
    pub score: Option<i64>,
    /// The model's reasons for the verdict.
    pub reasoning: String,
}

impl ChatData {
    /// A chat that has just begun.
    pub(super) fn sample() -> Self {
        Self {
            chat_id: id(CHAT),
            channel: Channel::Chatapp,
            agent_id: id(AGENT),
            contact_id: Some(id(CONTACT)),
            external_ref: Some(CUSTOMER_REF.into()),
            customer: Some(ConversationCustomer {
                phone: Some(PHONE.into()),
                name: Some("Asha".into()),
                user_id: None,
                username: None,
            }),
            business_number: Some(BUSINESS.into()),
            origin: Origin::Inbound,
            linked_call_id: None,
            status: ConversationStatus::Active,
            end_cause: None,
            started_at: at("2026-01-15T10:00:00.000Z"),
            ended_at: None,
            message_count: 1,
            language: "en".into(),
            handoff: None,
            is_test: false,
            metadata: Map::new(),
            ad_referral: None,
        }
    }

    /// The same chat with the messages of [`transcript`].
    fn written() -> Self {
        Self { message_count: 3, ..Self::sample() }
    }

    fn ended() -> Self {
        Self {
            status: ConversationStatus::Ended,
            end_cause: Some(EndCause::Completed),
            ended_at: Some(at("2026-01-15T10:05:00.000Z")),
            ..Self::written()
        }
    }
}

fn transcript() -> Transcript {
    let line = |role, text: &str, failed| TranscriptLine { role, text: text.into(), failed };
    Some(vec![
        line(Role::Human, "Your order is late.", Some(true)),
        line(Role::User, "Where is my order?", None),
        line(Role::Agent, "It is on its way.", None),
    ])
}

impl ChatWithTranscript {
    pub(super) fn sample() -> Self {
        Self { chat: ChatData::ended(), transcript: transcript() }
    }
}

impl AnalyzedChat {
    pub(super) fn sample() -> Self {
        let analysis = ChatAnalysis {
            summary: Some("Asha asked where her order is.".into()),
            extracted: Some(json!({})),
            sentiment: Some("neutral".into()),
            outcome: Some("answered".into()),
        };
        Self { chat: ChatData::ended(), analysis, transcript: transcript() }
    }
}

impl TakenOverChat {
    pub(super) fn sample() -> Self {
        Self {
            chat: ChatData::written(),
            by: "helpdesk".into(),
            agent_name: Some("Support".into()),
            note: None,
            transcript: transcript(),
        }
    }
}

impl HandedBackChat {
    pub(super) fn sample() -> Self {
        let handback = Handback { by: "helpdesk".into(), note: None, messages_added: 2 };
        Self { chat: ChatData::written(), handback, transcript: transcript() }
    }
}

impl AssignedChat {
    /// A chat that somebody assigned.
    pub fn manual(chat: ChatData, assigned_to: Teammate, assigned_by: Assigner) -> Self {
        Self { chat, assigned_to, assigned_by: Some(assigned_by), reason: "manual".into(), transcript: None }
    }

    /// A chat that round robin gave to a member.
    pub fn round_robin(chat: ChatData, assigned_to: Teammate) -> Self {
        Self { chat, assigned_to, assigned_by: None, reason: "round_robin".into(), transcript: None }
    }

    pub(super) fn sample() -> Self {
        let to = Teammate { user_id: id("usr_01k9v5x2m8e6fs4v0q3n7w1y39"), name: "Support".into() };
        let by = Assigner::Key { api_key_id: id("key_01k9v5x2m8e6fs4v0q3n7w1y3b") };
        Self { transcript: transcript(), ..Self::manual(ChatData::written(), to, by) }
    }
}

impl HandoffRequest {
    pub(super) fn sample() -> Self {
        Self {
            chat: ChatData::written(),
            reason: None,
            handoff_at: at("2026-01-15T10:03:00.000Z"),
            transcript: transcript(),
        }
    }
}

impl EvaluatedChat {
    pub(super) fn sample() -> Self {
        Self {
            chat_id: id(CHAT),
            channel: Channel::Chatapp,
            agent_id: id(AGENT),
            contact_id: Some(id(CONTACT)),
            run_id: id("evr_01k9v5x2m8e6fs4v0q3n7w1y3a"),
            run_no: 1,
            trigger: Trigger::Auto,
            model: "gpt-4o-mini".into(),
            evaluated_at: at("2026-01-15T10:06:00.000Z"),
            passed: 1,
            failed: 0,
            not_applicable: 0,
            results: vec![CriterionResult {
                criterion_key: "polite".into(),
                name: "Polite".into(),
                kind: CriterionKind::PassFail,
                pass_threshold: None,
                verdict: Verdict::Pass,
                score: None,
                reasoning: "The agent stayed polite.".into(),
            }],
            is_test: false,
        }
    }
}
