//! Chat sessions over the API, and what the operator does with chats (docs/contract/chats.md).

use domain::channel::content::MAX_TEXT as MAX_TEAM_TEXT;
use domain::chat::{Channel, EndCause, MAX_SPANS, MAX_TEXT, Role, State};
use domain::ids::{self, Id};
use domain::tenant::Role as MemberRole;
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

/// The request to open a chat session.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewChatSession {
    /// Id of a published chat agent, `agt_…`.
    #[schemars(length(min = 1, max = 64))]
    pub agent_id: String,
}

/// A chat session that was opened.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OpenedChatSession {
    /// Id of the session, `chatsess_…`.
    pub session_id: Id<ids::Chat>,
    /// Id of the agent, `agt_…`.
    pub agent_id: Id<ids::Agent>,
    /// The agent's first message; null if its flow begins without one.
    pub reply: Option<String>,
}

/// A message that a teammate writes to the customer.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct NewTeammateMessage {
    /// The words of the message.
    #[schemars(length(min = 1, max = MAX_TEAM_TEXT))]
    pub text: String,
}

/// A message of the customer.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct NewChatMessage {
    /// The words of the message, not blank.
    #[schemars(length(min = 1, max = MAX_TEXT))]
    pub text: String,
}

/// The agent's reply to a message.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChatReply {
    /// The agent's reply; null if the agent has nothing to say, and while a person handles the session.
    pub reply: Option<String>,
    /// True if the session is over.
    pub ended: bool,
    /// True if a person handles the session or is requested to; their messages appear in the session.
    pub handed_off: bool,
}

/// A message of a chat and its author.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ChatMessage {
    /// Who wrote it: `user` (the customer), `agent`, or `human` (a teammate).
    pub role: Role,
    /// The words of the message.
    pub text: String,
    /// `true` if the messaging channel did not deliver the message; absent otherwise.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
    /// The language in which the conversation goes on because of it; absent where it does not change.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<LanguageCode>")]
    pub language: Option<String>,
}

/// A chat session with its messages.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChatSession {
    /// Id of the session, `chatsess_…`.
    pub id: Id<ids::Chat>,
    /// Id of the agent, `agt_…`.
    pub agent_id: Id<ids::Agent>,
    /// `ai` (the agent replies), `awaiting_human`, `human` (a teammate replies) or `ended`.
    pub state: State,
    /// Number of messages in the session.
    pub message_count: i64,
    /// When the session was opened.
    pub created_at: Timestamp,
    /// When the session ended; null while it is open.
    pub ended_at: Option<Timestamp>,
    /// Number of the flow version that it runs; null for one from before versions were kept.
    pub flow_version: Option<i64>,
    /// The messages, oldest first.
    pub messages: Vec<ChatMessage>,
}

/// A chat in the inbox of a workspace.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InboxChat {
    /// Id of the chat, `chatsess_…`.
    pub id: Id<ids::Chat>,
    /// Id of the agent, `agt_…`.
    pub agent_id: Id<ids::Agent>,
    /// How the customer writes: `api`, `web` or `chatapp`.
    pub channel: Channel,
    /// `ai` (the agent replies), `awaiting_human`, `human` (a teammate replies) or `ended`.
    pub state: State,
    /// Code of the reason why a person was requested; null if the agent asked for one, and without a
    /// hand-off.
    pub handoff_reason: Option<String>,
    /// When a person was requested; null without a hand-off.
    pub handoff_at: Option<Timestamp>,
    /// Id of the teammate who handles the chat; null if none does.
    pub user_id: Option<Id<ids::User>>,
    /// Number of messages in the chat.
    pub message_count: i64,
    /// Why the chat ended; null while it is open.
    pub end_cause: Option<EndCause>,
    /// When the chat was opened.
    pub created_at: Timestamp,
    /// When the last message was written.
    pub last_message_at: Timestamp,
    /// When the chat ended; null while it is open.
    pub ended_at: Option<Timestamp>,
}

/// A chat in the inbox, with its messages and the result of its analysis.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InboxChatDetail {
    /// The fields that the list shows.
    #[serde(flatten)]
    pub chat: InboxChat,
    /// The messages, oldest first.
    pub messages: Vec<ChatMessage>,
    /// Number of the flow version that it runs; null for one from before versions were kept.
    pub flow_version: Option<i64>,
    /// Summary of the chat; null until it is analysed.
    pub summary: Option<String>,
    /// The disposition as a key; null until it is known.
    pub outcome: Option<String>,
    /// Sentiment of the customer: `positive`, `neutral` or `negative`; null until it is known.
    pub sentiment: Option<String>,
    /// Captured and extracted values by key; null without any.
    #[schemars(with = "Option<serde_json::Map<String, Value>>")]
    pub extracted: Option<Value>,
}

/// The teammate who takes a chat over.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChatTakeover {
    /// Id of a member who may write: an owner, an admin or an editor of the workspace.
    #[schemars(with = "Id<ids::User>")]
    pub user_id: String,
}

/// The hours in which an agent accepts new chats.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct BusinessHours {
    /// IANA name of the time zone, such as `Asia/Kolkata`.
    #[schemars(length(min = 1, max = 64))]
    pub timezone: String,
    /// Spans of the week. Outside of all of them new chats are refused; an empty list refuses all.
    #[schemars(length(max = MAX_SPANS))]
    pub hours: Vec<OpenHours>,
}

/// A span of hours on some days of the week.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct OpenHours {
    /// Days of the week, 0 (Monday) to 6 (Sunday).
    #[schemars(length(min = 1, max = 7), inner(range(min = 0, max = 6)))]
    pub days: Vec<i64>,
    /// Start of the span, `HH:MM` in the time zone.
    #[schemars(length(max = 5))]
    pub from: String,
    /// End of the span, `HH:MM` up to `24:00`; before `from`, it is on the next day.
    #[schemars(length(max = 5))]
    pub to: String,
}

/// The business hours of an agent.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentHours {
    /// Id of the agent, `agt_…`.
    pub agent_id: Id<ids::Agent>,
    /// The business hours; null if the agent accepts chats at any time.
    pub business_hours: Option<BusinessHours>,
}

fn inbox_query() -> Vec<Field> {
    let states: Vec<&'static str> = State::ALL.iter().map(|state| state.as_str()).collect();
    vec![may("state", choice(&states).doc("Only chats in this state.")), limit(200), cursor()]
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
    operation(
        POST,
        "/v1/chat/sessions",
        "openChatSession",
        "Chat",
        "Open a chat session with a published chat agent",
    )
    .traffic()
    .about(
        "Its price is held and charged at the end if the customer wrote. 402 `insufficient_balance` \
         if the wallet does not cover it.",
    )
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
        "Send a message of the customer and wait for the reply",
    )
    .traffic()
    .about(
        "With `Accept: text/event-stream` the reply is streamed. 409 `reply_in_progress` while the \
         agent still replies to the previous message. After 502 `reply_failed` the message was \
         taken back: send it again.",
    )
    .scope(CHAT_WRITE)
    .live_only()
    .rate(RateClass::ChatMessages)
    .idempotent(Idempotency::Optional)
    .body(request::<NewChatMessage>)
    .answers(&[(200, Some(data::<ChatReply>))])
    .errors(&[FEATURE_DISABLED, REPLY_IN_PROGRESS, SESSION_ENDED, REPLY_FAILED]),
    operation(GET, "/v1/chat/sessions/{id}", "getChatSession", "Chat", "One chat session with its messages")
        .scope(CHAT_READ)
        .answers(&[(200, Some(data::<ChatSession>))]),
    operation(
        POST,
        "/v1/chat/sessions/{id}/end",
        "endChatSession",
        "Chat",
        "End a chat session and charge it",
    )
    .traffic()
    .about("A repeat changes nothing.")
    .scope(CHAT_WRITE)
    .live_only()
    .answers(&[(200, Some(data::<ChatSession>))]),
    row(GET, "/operator/v1/workspaces/{ws}/chats", "listChats", "Chats of a workspace, newest first")
        .query(inbox_query)
        .answers(&[(200, Some(page::<InboxChat>))]),
    row(
        GET,
        "/operator/v1/workspaces/{ws}/chats/{id}",
        "getChat",
        "One chat with its messages and the result of its analysis",
    )
    .answers(&[(200, Some(data::<InboxChatDetail>))]),
    row(
        POST,
        "/operator/v1/workspaces/{ws}/chats/{id}/takeover",
        "takeChatOver",
        "Let a teammate answer a chat instead of its agent",
    )
    .about(
        "A reply that is being written is dropped. A repeat by the same teammate changes nothing; \
         409 `conflict` while another one has it.",
    )
    .body(request::<ChatTakeover>)
    .answers(&[(200, Some(data::<InboxChat>))])
    .errors(&[CONFLICT, SESSION_ENDED]),
    row(
        POST,
        "/operator/v1/workspaces/{ws}/chats/{id}/messages",
        "writeChatMessage",
        "Write to the customer as the teammate who handles a chat",
    )
    .about("409 `conflict` if no teammate has taken the chat over.")
    .body(request::<NewTeammateMessage>)
    .answers(&[(200, Some(data::<InboxChat>))])
    .errors(&[CONFLICT, SESSION_ENDED]),
    row(
        POST,
        "/operator/v1/workspaces/{ws}/chats/{id}/handback",
        "handChatBack",
        "Hand a chat back to its agent",
    )
    .about(
        "409 with the code of the reason if the agent cannot take it now; it then stays with \
         people.",
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
    row(POST, "/operator/v1/workspaces/{ws}/chats/{id}/end", "endChat", "End a chat and charge it")
        .about("A repeat changes nothing.")
        .answers(&[(200, Some(data::<InboxChat>))]),
    row(
        GET,
        "/operator/v1/workspaces/{ws}/agents/{id}/business-hours",
        "getBusinessHours",
        "The business hours of an agent",
    )
    .role(MemberRole::Viewer)
    .answers(&[(200, Some(data::<AgentHours>))]),
    row(
        PUT,
        "/operator/v1/workspaces/{ws}/agents/{id}/business-hours",
        "setBusinessHours",
        "Set the business hours of an agent",
    )
    .role(MemberRole::Editor)
    .about("They limit when new chats are accepted; open chats continue.")
    .body(request::<BusinessHours>)
    .answers(&[(200, Some(data::<AgentHours>))]),
    row(
        DELETE,
        "/operator/v1/workspaces/{ws}/agents/{id}/business-hours",
        "removeBusinessHours",
        "Remove the business hours of an agent",
    )
    .role(MemberRole::Editor)
    .about("The agent accepts chats at any time.")
    .answers(&[(200, Some(data::<AgentHours>))]),
];
