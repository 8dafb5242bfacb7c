//! Events of chats (docs/contract/chats.md#events).

use domain::chat::{Channel, EndCause, Origin, Role};
use domain::ids::{self, Id};
use domain::time::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::samples::{AGENT, BUSINESS, CHAT, CONTACT, CUSTOMER_REF, PHONE, at, id};
use crate::agents::LanguageCode;
use crate::channel_conversations::{ConversationCustomer, ConversationStatus};

#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChatData {
    pub chat_id: Id<ids::Chat>,
    /// What carries its words.
    pub channel: Channel,
    pub agent_id: Id<ids::Agent>,
    /// The person, where that is known.
    pub contact_id: Option<Id<ids::Contact>>,
    /// The client's own id of the person.
    pub external_ref: Option<String>,
    /// The customer on the messaging channel.
    pub customer: Option<ConversationCustomer>,
    /// The business number on the messaging channel, E.164.
    pub business_number: Option<String>,
    pub origin: Origin,
    /// The call that it follows.
    pub linked_call_id: Option<Id<ids::Call>>,
    /// Whether it is open.
    pub status: ConversationStatus,
    pub end_cause: Option<EndCause>,
    pub started_at: Timestamp,
    pub ended_at: Option<Timestamp>,
    pub message_count: i64,
    /// The language of the conversation: the agent's, or the one that the customer was followed into.
    #[schemars(with = "LanguageCode")]
    pub language: String,
    /// Why and since when people have it; null while they do not.
    pub handoff: Option<Handoff>,
    /// False: chats of test keys send no events.
    pub is_test: bool,
    /// What the client gave as `metadata`.
    pub metadata: Map<String, Value>,
    /// The ad or post that started it, in the channel's own form.
    pub ad_referral: Option<Value>,
}

/// A chat that people have.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Handoff {
    pub reason: Option<String>,
    pub requested_at: Timestamp,
    /// The teammate who has it.
    pub user_id: Option<Id<ids::User>>,
}

/// The transcript of a chat up to an event: its last member. An event is stored without it; `webhooks::complete` puts it in
/// when the event is sent or read, so that an event costs what it says itself, however long its chat is.
pub type Transcript = Option<Vec<TranscriptLine>>;

/// What somebody wrote.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TranscriptLine {
    pub role: Role,
    pub text: String,
    /// `true` for what the messaging channel did not deliver, absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<bool>,
}

/// A chat with its transcript.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ChatWithTranscript {
    #[serde(flatten)]
    pub chat: ChatData,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transcript: Transcript,
}

/// A chat that was analysed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AnalyzedChat {
    #[serde(flatten)]
    pub chat: ChatData,
    pub analysis: ChatAnalysis,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transcript: Transcript,
}

/// What an analysis found in a chat.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ChatAnalysis {
    /// What it was about.
    pub summary: Option<String>,
    #[schemars(with = "Option<Map<String, Value>>")]
    pub extracted: Option<Value>,
    /// How the customer felt.
    pub sentiment: Option<String>,
    pub outcome: Option<String>,
}

/// A chat that a helpdesk took over.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TakenOverChat {
    #[serde(flatten)]
    pub chat: ChatData,
    /// `helpdesk`.
    pub by: String,
    /// The name that the helpdesk gave.
    pub agent_name: Option<String>,
    pub note: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transcript: Transcript,
}

/// A chat that its agent has again.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HandedBackChat {
    #[serde(flatten)]
    pub chat: ChatData,
    /// Who handed it back, when, and with what.
    #[serde(flatten)]
    pub handback: Handback,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transcript: Transcript,
}

/// How a chat was handed back.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Handback {
    /// `helpdesk` or `teammate`.
    pub by: String,
    pub note: Option<String>,
    /// Messages that people wrote meanwhile.
    pub messages_added: usize,
}

/// A chat that a teammate has.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AssignedChat {
    #[serde(flatten)]
    pub chat: ChatData,
    pub assigned_to: Teammate,
    pub assigned_by: Assigner,
    /// `manual`.
    pub reason: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transcript: Transcript,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Teammate {
    pub user_id: Id<ids::User>,
    pub name: String,
}

/// Who assigned a chat.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Assigner {
    /// A teammate took it.
    Teammate(Teammate),
    /// A request to the API.
    #[serde(rename_all = "camelCase")]
    Key {
        /// The key of the request.
        api_key_id: Id<ids::ApiKey>,
    },
}

/// A chat that waits for a person.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HandoffRequest {
    #[serde(flatten)]
    pub chat: ChatData,
    /// Why; null when the agent asked for one.
    pub reason: Option<String>,
    pub handoff_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transcript: Transcript,
}

/// A chat that was graded against criteria. This version has none, so it never fires by itself.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EvaluatedChat {
    pub chat_id: Id<ids::Chat>,
    /// What carries its words.
    pub channel: Channel,
    pub agent_id: Id<ids::Agent>,
    /// The person, where that is known.
    pub contact_id: Option<Id<ids::Contact>>,
    pub run_id: String,
    /// Its number among those of the chat, from 1.
    pub run_no: i64,
    pub trigger: String,
    /// The model that graded.
    pub model: String,
    pub evaluated_at: Timestamp,
    /// Criteria that were met.
    pub passed: i64,
    /// Criteria that were not met.
    pub failed: i64,
    /// Criteria that do not apply to this chat.
    pub not_applicable: i64,
    /// One for each criterion.
    pub results: Vec<CriterionResult>,
}

/// What became of one criterion.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CriterionResult {
    pub criterion_key: String,
    pub name: String,
    /// `pass_fail` or `score`.
    pub kind: String,
    /// The score from which it is met.
    pub pass_threshold: Option<i64>,
    /// `pass`, `fail` or `not_applicable`.
    pub verdict: String,
    pub score: Option<i64>,
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
    /// A chat that somebody assigned; there is no other way yet.
    pub fn manual(chat: ChatData, assigned_to: Teammate, assigned_by: Assigner) -> Self {
        Self { chat, assigned_to, assigned_by, reason: "manual".into(), transcript: None }
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
            run_id: "run_01k9v5x2m8e6fs4v0q3n7w1y3a".into(),
            run_no: 1,
            trigger: "auto".into(),
            model: "offline".into(),
            evaluated_at: at("2026-01-15T10:06:00.000Z"),
            passed: 1,
            failed: 0,
            not_applicable: 0,
            results: vec![CriterionResult {
                criterion_key: "polite".into(),
                name: "Polite".into(),
                kind: "pass_fail".into(),
                pass_threshold: None,
                verdict: "pass".into(),
                score: None,
                reasoning: "The agent stayed polite.".into(),
            }],
        }
    }
}
