//! Chat sessions over the API, and what the operator does with chats (docs/contract/chats.md).

use domain::channel::content::MAX_TEXT as MAX_TEAM_TEXT;
use domain::chat::{Channel, EndCause, MAX_SPANS, MAX_TEXT, Role, State};
use domain::ids::{self, Id};
use domain::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::agents::LanguageCode;
use crate::error_codes::{
    AGENT_OFFLINE, AGENT_UNAVAILABLE, BRAIN_UNAVAILABLE, CHAT_NOT_ENABLED, CONFLICT, FEATURE_DISABLED,
    HANDBACK_AGENT, HANDBACK_AGENTS, HANDBACK_BRAIN, HANDBACK_CHANNEL, HANDBACK_FEATURE, HANDBACK_OFFLINE,
    HANDBACK_UNPAID, INSUFFICIENT_BALANCE, REPLY_FAILED, REPLY_IN_PROGRESS, SESSION_ENDED,
};
use crate::operation::Method::{DELETE, GET, POST, PUT};
use crate::operation::{Access, Idempotency, Operation, RateClass, operation};
use crate::schema::{Field, choice, cursor, data, limit, may, page, request};
use crate::scopes::{CHAT_READ, CHAT_WRITE};

/// A chat session to be opened.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewChatSession {
    /// A published chat agent.
    #[schemars(length(min = 1, max = 64))]
    pub agent_id: String,
}

/// A session that was opened.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OpenedChatSession {
    /// The session.
    pub session_id: Id<ids::Chat>,
    /// The agent.
    pub agent_id: Id<ids::Agent>,
    /// The agent's first message; null if its flow begins without one.
    pub reply: Option<String>,
}

/// What a teammate writes.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct NewTeammateMessage {
    /// Its words.
    #[schemars(length(min = 1, max = MAX_TEAM_TEXT))]
    pub text: String,
}

/// A message of the customer.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct NewChatMessage {
    /// Its words.
    #[schemars(length(min = 1, max = MAX_TEXT))]
    pub text: String,
}

/// What a message is answered with.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChatReply {
    /// The agent's words. Null while a person has the session, or when the agent has nothing to say.
    pub reply: Option<String>,
    /// Whether the session is over.
    pub ended: bool,
    /// Whether a person has the session, or is to have it: their messages appear in the session.
    pub handed_off: bool,
}

/// A message of a session.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ChatMessage {
    /// Who wrote it.
    pub role: Role,
    /// Its words.
    pub text: String,
    /// Stands there, as `true`, when the messaging channel did not deliver it: nobody got these words.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
    /// The language in which the conversation goes on because of it; absent where it does not change.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<LanguageCode>")]
    pub language: Option<String>,
}

/// A chat session.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChatSession {
    /// Its id.
    pub id: Id<ids::Chat>,
    /// The agent.
    pub agent_id: Id<ids::Agent>,
    /// Where it stands.
    pub state: State,
    /// How many messages it has.
    pub message_count: i64,
    /// When it was opened.
    pub created_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// What was written, oldest first.
    pub messages: Vec<ChatMessage>,
}

/// A chat in the inbox of a workspace.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InboxChat {
    /// Its id.
    pub id: Id<ids::Chat>,
    /// The agent.
    pub agent_id: Id<ids::Agent>,
    /// What carries its words.
    pub channel: Channel,
    /// Where it stands.
    pub state: State,
    /// Why it was handed to a person: a code; null when the agent asked for one.
    pub handoff_reason: Option<String>,
    /// When it was handed to a person.
    pub handoff_at: Option<Timestamp>,
    /// The teammate who has it.
    pub user_id: Option<Id<ids::User>>,
    /// How many messages it has.
    pub message_count: i64,
    /// Why it ended.
    pub end_cause: Option<EndCause>,
    /// When it was opened.
    pub created_at: Timestamp,
    /// When the last message was written.
    pub last_message_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
}

/// A chat in the inbox, with its messages and what its analysis found.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InboxChatDetail {
    /// What the list shows.
    #[serde(flatten)]
    pub chat: InboxChat,
    /// What was written, oldest first.
    pub messages: Vec<ChatMessage>,
    /// What it was about.
    pub summary: Option<String>,
    /// The disposition.
    pub outcome: Option<String>,
    /// How the customer felt.
    pub sentiment: Option<String>,
    /// What was captured.
    #[schemars(with = "Option<serde_json::Map<String, Value>>")]
    pub extracted: Option<Value>,
}

/// Who takes a chat over.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChatTakeover {
    /// A member of the workspace who may write: an owner, an admin or an editor.
    #[schemars(with = "Id<ids::User>")]
    pub user_id: String,
}

/// When an agent takes new chats.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct BusinessHours {
    /// IANA name of a time zone.
    #[schemars(length(min = 1, max = 64))]
    pub timezone: String,
    /// Spans of the week. Outside of all of them new chats are refused.
    #[schemars(length(max = MAX_SPANS))]
    pub hours: Vec<OpenHours>,
}

/// Hours of some days of the week.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct OpenHours {
    /// Days of the week; Monday is 0.
    #[schemars(length(min = 1, max = 7), inner(range(min = 0, max = 6)))]
    pub days: Vec<i64>,
    /// HH:MM in the time zone.
    #[schemars(length(max = 5))]
    pub from: String,
    /// HH:MM, up to 24:00; before `from`, it is on the next day.
    #[schemars(length(max = 5))]
    pub to: String,
}

/// The hours of an agent.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentHours {
    /// The agent.
    pub agent_id: Id<ids::Agent>,
    /// Its hours; null when it takes chats at any time.
    pub business_hours: Option<BusinessHours>,
}

fn inbox_query() -> Vec<Field> {
    let states: Vec<&'static str> = State::ALL.iter().map(|state| state.as_str()).collect();
    vec![may("state", choice(&states).doc("Only chats in this state")), limit(200), cursor()]
}

const fn row(
    method: crate::operation::Method,
    path: &'static str,
    id: &'static str,
    summary: &'static str,
) -> Operation {
    operation(method, path, id, "Operator", summary).access(Access::Operator)
}

/// The rows of this noun.
pub const OPERATIONS: &[Operation] = &[
    operation(POST, "/v1/chat/sessions", "openChatSession", "Chat", "Open a chat with a published chat agent")
        .scope(CHAT_WRITE)
        .live_only()
        .rate(RateClass::ChatSessions)
        .body(request::<NewChatSession>)
        .answers(&[(201, Some(data::<OpenedChatSession>))])
        .errors(&[
            INSUFFICIENT_BALANCE,
            FEATURE_DISABLED,
            CHAT_NOT_ENABLED,
            AGENT_OFFLINE,
            AGENT_UNAVAILABLE,
            BRAIN_UNAVAILABLE,
            REPLY_FAILED,
        ]),
    operation(
        POST,
        "/v1/chat/sessions/{id}/messages",
        "sendChatMessage",
        "Chat",
        "Send a message of the customer and wait for the reply; with `Accept: text/event-stream` it comes as it is written",
    )
    .scope(CHAT_WRITE)
    .live_only()
    .rate(RateClass::ChatMessages)
    .idempotent(Idempotency::Optional)
    .body(request::<NewChatMessage>)
    .answers(&[(200, Some(data::<ChatReply>))])
    .errors(&[FEATURE_DISABLED, REPLY_IN_PROGRESS, SESSION_ENDED, REPLY_FAILED]),
    operation(GET, "/v1/chat/sessions/{id}", "getChatSession", "Chat", "A session with its messages")
        .scope(CHAT_READ)
        .answers(&[(200, Some(data::<ChatSession>))]),
    operation(
        POST,
        "/v1/chat/sessions/{id}/end",
        "endChatSession",
        "Chat",
        "End a session and bill it; a repeat changes nothing",
    )
    .scope(CHAT_WRITE)
    .live_only()
    .answers(&[(200, Some(data::<ChatSession>))]),
    row(GET, "/operator/v1/workspaces/{ws}/chats", "listChats", "Chats of a workspace, newest first")
        .query(inbox_query)
        .answers(&[(200, Some(page::<InboxChat>))]),
    row(GET, "/operator/v1/workspaces/{ws}/chats/{id}", "getChat", "A chat with its messages")
        .answers(&[(200, Some(data::<InboxChatDetail>))]),
    row(
        POST,
        "/operator/v1/workspaces/{ws}/chats/{id}/takeover",
        "takeChatOver",
        "Have a teammate answer a chat instead of its agent",
    )
    .body(request::<ChatTakeover>)
    .answers(&[(200, Some(data::<InboxChat>))])
    .errors(&[CONFLICT, SESSION_ENDED]),
    row(
        POST,
        "/operator/v1/workspaces/{ws}/chats/{id}/messages",
        "writeChatMessage",
        "Write as the teammate who has a chat",
    )
    .body(request::<NewTeammateMessage>)
    .answers(&[(200, Some(data::<InboxChat>))])
    .errors(&[CONFLICT, SESSION_ENDED]),
    row(
        POST,
        "/operator/v1/workspaces/{ws}/chats/{id}/handback",
        "handChatBack",
        "Give a chat back to its agent",
    )
    .answers(&[(200, Some(data::<InboxChat>))])
    .errors(&[
        CONFLICT,
        SESSION_ENDED,
        HANDBACK_UNPAID,
        HANDBACK_OFFLINE,
        HANDBACK_AGENT,
        HANDBACK_BRAIN,
        HANDBACK_FEATURE,
        HANDBACK_CHANNEL,
        HANDBACK_AGENTS,
    ]),
    row(POST, "/operator/v1/workspaces/{ws}/chats/{id}/end", "endChat", "End a chat and bill it")
        .answers(&[(200, Some(data::<InboxChat>))]),
    row(
        GET,
        "/operator/v1/workspaces/{ws}/agents/{id}/business-hours",
        "getBusinessHours",
        "When an agent takes new chats",
    )
    .answers(&[(200, Some(data::<AgentHours>))]),
    row(
        PUT,
        "/operator/v1/workspaces/{ws}/agents/{id}/business-hours",
        "setBusinessHours",
        "Set when an agent takes new chats",
    )
    .body(request::<BusinessHours>)
    .answers(&[(200, Some(data::<AgentHours>))]),
    row(
        DELETE,
        "/operator/v1/workspaces/{ws}/agents/{id}/business-hours",
        "removeBusinessHours",
        "Have an agent take new chats at any time",
    )
    .answers(&[(200, Some(data::<AgentHours>))]),
];
