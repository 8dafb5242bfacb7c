//! Test links of agents, and the chats that are opened with one (docs/contract/chats.md#test-chats).

use domain::ids::{Agent, Chat, Id, TestLink as TestLinkId};
use domain::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::chats::{ChatReply, ChatSession, NewChatMessage};
use crate::envelope::Deleted;
use crate::error_codes::{
    AGENT_UNAVAILABLE, BRAIN_UNAVAILABLE, CHAT_NOT_ENABLED, CONFLICT, FEATURE_DISABLED, RATE_LIMITED,
    REPLY_FAILED, REPLY_IN_PROGRESS, SESSION_ENDED, UNAUTHORIZED, WORKSPACE_SUSPENDED,
};
use crate::operation::Method::{self, DELETE, GET, POST};
use crate::operation::{Access, Operation, operation};
use crate::schema::{data, list, request};
use crate::scopes::{AGENTS_READ, AGENTS_WRITE};

/// Most links of an agent.
pub const MAX_LINKS: usize = 20;
/// Longest life of a link, days.
pub const MAX_DAYS: i64 = 30;
/// Most chats and messages of a link in a day of India.
pub const CHATS_A_DAY: i64 = 50;
/// See [`CHATS_A_DAY`].
pub const MESSAGES_A_DAY: i64 = 1000;
/// Most requests of a link in a minute, and of all links of a workspace.
pub const LINK_REQUESTS: i64 = 60;
/// See [`LINK_REQUESTS`].
pub const WORKSPACE_REQUESTS: i64 = 240;
/// Most requests of an address in a minute, on each node.
pub const ADDRESS_REQUESTS: u32 = 60;

/// The test link to make.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewTestLink {
    /// What the link is for, for people.
    #[schemars(length(max = 120), extend("default" = ""))]
    pub name: Option<String>,
    /// Whether its chats run the draft in place of the published flow.
    #[schemars(extend("default" = false))]
    pub draft: Option<bool>,
    /// Number of days after which the link ends.
    #[schemars(range(min = 1, max = MAX_DAYS), extend("default" = 7))]
    pub expires_in_days: Option<i64>,
}

/// A link with which anybody who has it tests an agent.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TestLink {
    /// Id of the link, `tlnk_…`.
    pub id: Id<TestLinkId>,
    /// Id of the agent, `agt_…`.
    pub agent_id: Id<Agent>,
    /// What the link is for; may be empty.
    pub name: String,
    /// Whether its chats run the draft in place of the published flow.
    pub draft: bool,
    /// Who made it: a key (`key_…`) or a member (`usr_…`).
    pub created_by: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When the link ends; then it opens nothing.
    pub expires_at: Timestamp,
    /// Number of chats that were opened with it today, in India's time; at most 50.
    pub chats_today: i64,
    /// Number of messages that were written with it today, in India's time; at most 1,000.
    pub messages_today: i64,
}

/// A test link that was made, with its address.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MadeTestLink {
    /// The fields that a list shows.
    #[serde(flatten)]
    pub link: TestLink,
    /// The address with the secret; shown only once.
    pub url: String,
}

/// A test chat that was opened.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OpenedTestChat {
    /// Id of the chat, `chatsess_…`.
    pub chat_id: Id<Chat>,
    /// The name of the agent, for people.
    pub agent_name: String,
    /// The agent's first message; null if its flow begins without one.
    pub reply: Option<String>,
    /// Whether the chat is over.
    pub ended: bool,
}

const fn row(method: Method, path: &'static str, id: &'static str, summary: &'static str) -> Operation {
    operation(method, path, id, "Agents", summary)
}

const fn open(method: Method, path: &'static str, id: &'static str, summary: &'static str) -> Operation {
    operation(method, path, id, "Chat", summary).access(Access::Public)
}

/// The rows of this noun.
pub const OPERATIONS: &[Operation] = &[
    row(POST, "/v1/agents/{id}/test-links", "createTestLink", "Make a link with which anybody tests a chat agent")
        .about(
            "The address is shown only now. Its chats are never charged, their events have `livemode: false` and \
             `isTest: true`, and their tools are not called. 409 `conflict` when the agent has 20 links.",
        )
        .scope(AGENTS_WRITE)
        .live_only()
        .optional_body(request::<NewTestLink>)
        .answers(&[(201, Some(data::<MadeTestLink>))])
        .errors(&[CONFLICT, CHAT_NOT_ENABLED]),
    row(GET, "/v1/agents/{id}/test-links", "listTestLinks", "Test links of an agent, newest first")
        .about("Links that have ended are omitted.")
        .scope(AGENTS_READ)
        .answers(&[(200, Some(list::<TestLink>))]),
    row(DELETE, "/v1/agents/{id}/test-links/{link}", "revokeTestLink", "Revoke a test link")
        .about("From then on nobody can write in its chats.")
        .scope(AGENTS_WRITE)
        .live_only()
        .answers(&[(200, Some(data::<Deleted>))]),
    open(POST, "/test-chats/{token}", "openTestChat", "Open a test chat with the token of a test link")
        .about("At most 50 chats of a link in a day.")
        .answers(&[(201, Some(data::<OpenedTestChat>))])
        .errors(&[
            UNAUTHORIZED,
            WORKSPACE_SUSPENDED,
            FEATURE_DISABLED,
            AGENT_UNAVAILABLE,
            BRAIN_UNAVAILABLE,
            RATE_LIMITED,
            REPLY_FAILED,
        ]),
    open(POST, "/test-chats/{token}/{chat}/messages", "sendTestMessage", "Write in a test chat and wait for the reply")
        .about(
            "At most 1,000 messages of a link in a day. After 502 `reply_failed` the message was taken back: send it \
             again.",
        )
        .body(request::<NewChatMessage>)
        .answers(&[(200, Some(data::<ChatReply>))])
        .errors(&[
            UNAUTHORIZED,
            WORKSPACE_SUSPENDED,
            RATE_LIMITED,
            REPLY_IN_PROGRESS,
            SESSION_ENDED,
            REPLY_FAILED,
        ]),
    open(GET, "/test-chats/{token}/{chat}", "getTestChat", "One test chat with its messages")
        .answers(&[(200, Some(data::<ChatSession>))])
        .errors(&[UNAUTHORIZED, WORKSPACE_SUSPENDED, RATE_LIMITED]),
];
