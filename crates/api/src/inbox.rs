//! The inbox of a team: chats of all channels in one list, who has them, private notes, saved answers, and to whom chats
//! that wait are given (docs/contract/inbox.md).

use domain::actor::Actor;
use domain::channel::content::MAX_TEXT as MAX_TEAM_TEXT;
use domain::chat::inbox::{Assignment, MAX_CEILING, MAX_NOTE, MAX_RESPONSE_MINUTES, MAX_SHORTCUT, View};
use domain::chat::{Channel, EndCause, MAX_MESSAGES, Role, State};
use domain::ids::{self, Id};
use domain::tenant;
use domain::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::channel_conversations::{ChatLabel, ConversationCustomer};
use crate::chats::NewTeammateMessage;
use crate::envelope::Deleted;
use crate::error_codes::{
    ASSIGNEE_NOT_ALLOWED, CONFLICT, CONTACT_OPTED_OUT, HANDBACK_AGENT, HANDBACK_AGENTS, HANDBACK_BRAIN,
    HANDBACK_CHANNEL, HANDBACK_FEATURE, HANDBACK_OFFLINE, HANDBACK_UNPAID, HELD_BY_HELPDESK,
    HELD_BY_TEAMMATE, SESSION_ENDED, WINDOW_CLOSED,
};
use crate::events::chats::Teammate;
use crate::operation::Method::{self, DELETE, GET, POST, PUT};
use crate::operation::{Access, Operation, operation};
use crate::schema::{Field, choice, cursor, data, limit, or, page, request};
use crate::scopes::{CHAT_READ, CHAT_WRITE, CHATAPP_READ, CHATAPP_WRITE};

/// A chat in the inbox, of any channel.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InboxEntry {
    /// Id of the chat, `chatsess_…`.
    pub id: Id<ids::Chat>,
    /// How the customer writes: `api`, `web` or `chatapp`.
    pub channel: Channel,
    /// Id of the agent, `agt_…`.
    pub agent_id: Id<ids::Agent>,
    /// Name of the agent that has the chat.
    pub agent_name: String,
    /// Id of the contact; null for a session over the API.
    pub contact_id: Option<Id<ids::Contact>>,
    /// Your own id of the contact; null without one.
    pub external_ref: Option<String>,
    /// The customer on the messaging channel; null for other chats.
    pub customer: Option<ConversationCustomer>,
    /// `ai` (the agent replies), `awaiting_human`, `human` (a person of the team has it) or `ended`.
    pub state: State,
    /// Why the chat ended; null while it is open.
    pub end_cause: Option<EndCause>,
    /// The teammate who has the chat, or had it when it ended; null if none does.
    pub assigned_to: Option<Teammate>,
    /// When the person who has the chat got it; null if none does.
    pub assigned_at: Option<Timestamp>,
    /// Name that a helpdesk gave at its takeover, empty if it gave none; null if no helpdesk has the chat.
    pub helpdesk: Option<String>,
    /// Since when the chat waits for a person; null if it does not.
    pub waiting_since: Option<Timestamp>,
    /// Code of the reason why a person was requested; null if the agent asked for one, and without a hand-off.
    pub handoff_reason: Option<String>,
    /// Until when a person is to answer the hand-off, by `firstResponseMinutes`; null without a limit and once one has.
    pub first_response_due_at: Option<Timestamp>,
    /// The newest message; null in a chat without messages.
    pub last_message: Option<InboxPreview>,
    /// When the customer's 24 hours on the messaging channel end, after which only templates can be sent; null for other
    /// chats, and if the customer never wrote.
    pub window_ends_at: Option<Timestamp>,
    /// Messages of the customer that the asking member has not read; null for an API key.
    pub unread: Option<i64>,
    /// Labels that the team put on the chat.
    pub labels: Vec<ChatLabel>,
    /// Number of messages in the chat.
    pub message_count: i64,
    /// When the chat was opened.
    pub started_at: Timestamp,
    /// When the last message was written.
    pub last_message_at: Timestamp,
    /// When the chat ended; null while it is open.
    pub ended_at: Option<Timestamp>,
}

/// The newest message of a chat.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct InboxPreview {
    /// Who wrote it: `user` (the customer), `agent`, or `human` (a teammate).
    pub role: Role,
    /// Its first 120 characters, with `…` behind them where there are more.
    pub text: String,
    /// When it was written.
    pub at: Timestamp,
}

/// A chat in the inbox with its messages and the result of its analysis.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InboxEntryDetail {
    /// The fields that the list shows.
    #[serde(flatten)]
    pub entry: InboxEntry,
    /// The messages, oldest first.
    pub messages: Vec<InboxMessage>,
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

/// A message of a chat in the inbox.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InboxMessage {
    /// Number of the message in the chat, from 1.
    pub seq: i64,
    /// Who wrote it: `user` (the customer), `agent`, or `human` (a person of the team).
    pub role: Role,
    /// The words of the message.
    pub text: String,
    /// The teammate who wrote it; null for others.
    pub author: Option<Teammate>,
    /// Name of the person at a helpdesk who wrote it; null for others.
    pub agent_name: Option<String>,
    /// When it was written.
    pub at: Timestamp,
    /// `true` if the messaging channel did not deliver the message; absent otherwise.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
}

/// Number of chats in each view of the inbox, each up to `limit`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct InboxCounts {
    /// Number of chats that wait for a person.
    pub waiting: i64,
    /// Open chats of the asking member; 0 for an API key.
    pub mine: i64,
    /// Number of chats that are not over.
    pub open: i64,
    /// Number of chats that are over.
    pub ended: i64,
    /// Counting ends here: a count of this number means so many or more.
    pub limit: i64,
}

/// The member who is to have a chat.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InboxAssignee {
    /// Id of a member who may reply, `usr_…`: an owner, an admin or an editor.
    #[schemars(length(min = 1, max = 64))]
    pub user_id: String,
}

/// How far a member has read a chat.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InboxRead {
    /// Number of the newest message that was read.
    #[schemars(range(min = 0, max = MAX_MESSAGES))]
    pub up_to: i64,
}

/// A private note to write.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct NewChatNote {
    /// The words of the note, not blank. `@usr_…` mentions a member of the workspace, up to 20 of them.
    #[schemars(length(min = 1, max = MAX_NOTE))]
    pub text: String,
}

/// A private note of the team on a chat. The customer never sees it, and no event or transcript has it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChatNote {
    /// Id of the note, `note_…`.
    pub id: Id<ids::ChatNote>,
    /// The member who wrote the note.
    pub author: Teammate,
    /// Text of the note, as it was written.
    pub text: String,
    /// The members whom the note mentions; each is notified.
    pub mentions: Vec<Teammate>,
    /// When it was written.
    pub created_at: Timestamp,
}

/// A text that members use often, to be kept as a saved answer.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct NewSavedAnswer {
    /// What members type to find it: letters, digits, `-` and `_`, not case-sensitive, unique in the workspace.
    #[schemars(length(min = 1, max = MAX_SHORTCUT))]
    pub shortcut: String,
    /// The words of the answer, not blank. The client fills in variables such as `{{name}}` before it sends them.
    #[schemars(length(min = 1, max = MAX_TEAM_TEXT))]
    pub text: String,
}

/// An answer that a team keeps to write it again.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SavedAnswer {
    /// Id of the answer, `ans_…`.
    pub id: Id<ids::SavedAnswer>,
    /// What members type to find it, in small letters.
    pub shortcut: String,
    /// Text of the saved answer, as it is inserted into a reply.
    pub text: String,
    /// Who last changed it: id of a member, `usr_…`, or of an API key, `key_…`.
    pub changed_by: Actor,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// Whether a member takes chats.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct InboxAvailability {
    /// True if round robin may give the member chats.
    pub available: bool,
}

/// A member who may reply to customers.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InboxMember {
    /// Id of the member, `usr_…`.
    pub user_id: Id<ids::User>,
    /// The name of the member.
    pub name: String,
    /// Whether the member takes chats.
    pub available: bool,
    /// Whether the member is available and was seen within the last two minutes: then round robin gives them chats.
    pub present: bool,
    /// When the member was last seen, at most 30 seconds late; null for never.
    pub last_seen_at: Option<Timestamp>,
    /// Chats that the member has and that are not over.
    pub open_chats: i64,
    /// Open chats from which on round robin gives the member no more.
    pub max_open: i64,
    /// Whether `maxOpen` is the member's own, in place of that of the workspace.
    pub own_max_open: bool,
    /// When round robin last gave the member a chat; null for never.
    pub last_assigned_at: Option<Timestamp>,
}

/// The ceiling of a member.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InboxCeiling {
    /// Open chats from which on round robin gives the member no more, 0 for none at all; null for that of the workspace.
    #[schemars(range(min = 0, max = MAX_CEILING), extend("x-nullable" = true))]
    pub max_open: Option<i64>,
}

/// How chats that wait for a person find one.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InboxSettings {
    /// `manual`: members take chats. `round_robin`: they are given to members who are present.
    pub assignment: Assignment,
    /// Open chats of a member from which on round robin gives no more; a member may have a number of their own.
    pub max_open_per_member: i64,
    /// Minutes within which a person is to answer a chat that was handed to people; null for no limit.
    pub first_response_minutes: Option<i64>,
}

/// How chats that wait for a person are to find one.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InboxSettingsChange {
    /// `manual`: members take chats. `round_robin`: they are given to members who are present.
    pub assignment: Assignment,
    /// Open chats of a member from which on round robin gives no more; a member may have a number of their own.
    #[serde(default = "default_ceiling")]
    #[schemars(range(min = 1, max = MAX_CEILING), extend("default" = 5))]
    pub max_open_per_member: i64,
    /// Minutes within which a person is to answer a chat that was handed to people; null or absent for no limit.
    #[schemars(range(min = 1, max = MAX_RESPONSE_MINUTES), extend("x-nullable" = true))]
    pub first_response_minutes: Option<i64>,
}

fn default_ceiling() -> i64 {
    domain::chat::inbox::DEFAULT_CEILING
}

fn list_query() -> Vec<Field> {
    let views: Vec<&'static str> = View::ALL.iter().map(|view| view.as_str()).collect();
    let view = choice(&views).doc(
        "`waiting`: chats that wait for a person, longest waiting first. `mine`: open chats of the asking member, newest \
         first. `open`: all that are not over, newest first. `ended`: last ended first.",
    );
    vec![or("view", view, View::Waiting.as_str().into()), limit(100), cursor()]
}

fn pages() -> Vec<Field> {
    vec![limit(100), cursor()]
}

const TAG: &str = "Inbox";

const fn row(method: Method, path: &'static str, id: &'static str, summary: &'static str) -> Operation {
    operation(method, path, id, TAG, summary)
}

/// What a member does with a chat.
const fn by_member(path: &'static str, id: &'static str, summary: &'static str) -> Operation {
    row(POST, path, id, summary).access(Access::Member).role(tenant::Role::Editor).live_only()
}

/// The rows of this noun.
pub const OPERATIONS: &[Operation] = &[
    row(GET, "/v1/inbox", "listInbox", "Chats of all channels, by view of the inbox")
        .about("Chats are of live mode: a test key sees none.")
        .scopes(CHAT_READ, CHATAPP_READ)
        .query(list_query)
        .answers(&[(200, Some(page::<InboxEntry>))]),
    row(GET, "/v1/inbox/counts", "countInbox", "Number of chats in each view of the inbox")
        .about("Each number is exact up to `limit`; counting ends there.")
        .scopes(CHAT_READ, CHATAPP_READ)
        .answers(&[(200, Some(data::<InboxCounts>))]),
    row(GET, "/v1/inbox/team", "listInboxTeam", "Members who may reply to customers, and who is present")
        .scopes(CHAT_READ, CHATAPP_READ)
        .query(pages)
        .answers(&[(200, Some(page::<InboxMember>))]),
    row(PUT, "/v1/inbox/team/{id}", "setInboxCeiling", "Set how many chats round robin gives a member")
        .about("404 for somebody who is no member or may not reply.")
        .access(Access::Member)
        .role(tenant::Role::Admin)
        .live_only()
        .body(request::<InboxCeiling>)
        .answers(&[(200, Some(data::<InboxMember>))]),
    row(PUT, "/v1/inbox/availability", "setInboxAvailability", "Say whether you take chats")
        .about("A chat that waits may be given to you at once. Chats that you have stay yours when you go.")
        .access(Access::Member)
        .role(tenant::Role::Editor)
        .live_only()
        .body(request::<InboxAvailability>)
        .answers(&[(200, Some(data::<InboxMember>))]),
    row(GET, "/v1/inbox/assignment", "getInboxSettings", "How chats that wait for a person find one")
        .scopes(CHAT_READ, CHATAPP_READ)
        .answers(&[(200, Some(data::<InboxSettings>))]),
    row(PUT, "/v1/inbox/assignment", "setInboxSettings", "Set how chats that wait for a person find one")
        .about("With `round_robin` chats that wait already are given out, too. Chats that members have stay theirs.")
        .access(Access::Member)
        .role(tenant::Role::Admin)
        .live_only()
        .body(request::<InboxSettingsChange>)
        .answers(&[(200, Some(data::<InboxSettings>))]),
    row(GET, "/v1/inbox/{id}", "getInboxChat", "One chat of the inbox with its messages")
        .scopes(CHAT_READ, CHATAPP_READ)
        .answers(&[(200, Some(data::<InboxEntryDetail>))]),
    by_member("/v1/inbox/{id}/takeover", "takeInboxChat", "Take a chat: you answer instead of its agent")
        .about(
            "A reply that is being written is dropped. A repeat changes nothing. 409 `held_by_teammate` while a colleague \
             has it; `meta` has their `userId` and `name`, and `since`.",
        )
        .answers(&[(200, Some(data::<InboxEntry>))])
        .errors(&[HELD_BY_TEAMMATE, HELD_BY_HELPDESK, SESSION_ENDED]),
    row(POST, "/v1/inbox/{id}/assign", "assignInboxChat", "Assign a chat to a member")
        .about(
            "Also one that another member has. Nothing changes if the member has it already. Round robin's ceiling does not \
             apply.",
        )
        .scopes(CHAT_WRITE, CHATAPP_WRITE)
        .live_only()
        .body(request::<InboxAssignee>)
        .answers(&[(200, Some(data::<InboxEntry>))])
        .errors(&[ASSIGNEE_NOT_ALLOWED, HELD_BY_HELPDESK, SESSION_ENDED]),
    by_member("/v1/inbox/{id}/messages", "writeInboxMessage", "Write to the customer of a chat that you have")
        .about(
            "409 `conflict` if nobody has taken the chat, 409 `window_closed` outside of the customer's 24 hours on the \
             messaging channel: send a template with `POST /v1/chatapp/messages` then.",
        )
        .body(request::<NewTeammateMessage>)
        .answers(&[(200, Some(data::<InboxEntry>))])
        .errors(&[
            HELD_BY_TEAMMATE,
            HELD_BY_HELPDESK,
            SESSION_ENDED,
            WINDOW_CLOSED,
            CONTACT_OPTED_OUT,
            CONFLICT,
        ]),
    by_member("/v1/inbox/{id}/handback", "handInboxChatBack", "Hand a chat back to its agent")
        .about(
            "409 with the code of the reason if the agent cannot take it now; it then stays with people.",
        )
        .answers(&[(200, Some(data::<InboxEntry>))])
        .errors(&[
            HELD_BY_TEAMMATE,
            HELD_BY_HELPDESK,
            SESSION_ENDED,
            CONFLICT,
            HANDBACK_UNPAID,
            HANDBACK_OFFLINE,
            HANDBACK_AGENT,
            HANDBACK_BRAIN,
            HANDBACK_FEATURE,
            HANDBACK_CHANNEL,
            HANDBACK_AGENTS,
        ]),
    by_member("/v1/inbox/{id}/end", "endInboxChat", "End a chat and charge it")
        .about("A repeat changes nothing.")
        .answers(&[(200, Some(data::<InboxEntry>))])
        .errors(&[HELD_BY_TEAMMATE, HELD_BY_HELPDESK]),
    row(PUT, "/v1/inbox/{id}/read", "markInboxChatRead", "Say how far you have read a chat")
        .about("An earlier message than before changes nothing.")
        .access(Access::Member)
        .role(tenant::Role::Viewer)
        .live_only()
        .body(request::<InboxRead>)
        .answers(&[(200, Some(data::<InboxEntry>))]),
    row(GET, "/v1/inbox/{id}/notes", "listChatNotes", "Private notes on a chat, oldest first")
        .access(Access::Member)
        .role(tenant::Role::Viewer)
        .query(pages)
        .answers(&[(200, Some(page::<ChatNote>))]),
    by_member("/v1/inbox/{id}/notes", "createChatNote", "Write a private note on a chat")
        .about("The customer never sees it. 409 `conflict` at 500 notes.")
        .body(request::<NewChatNote>)
        .answers(&[(201, Some(data::<ChatNote>))])
        .errors(&[CONFLICT]),
    row(GET, "/v1/saved-answers", "listSavedAnswers", "Answers that the team keeps, oldest first")
        .scopes(CHAT_READ, CHATAPP_READ)
        .query(pages)
        .answers(&[(200, Some(page::<SavedAnswer>))]),
    row(POST, "/v1/saved-answers", "createSavedAnswer", "Keep an answer")
        .about("409 `conflict` at 500 answers, or if the shortcut is another one's.")
        .scopes(CHAT_WRITE, CHATAPP_WRITE)
        .live_only()
        .body(request::<NewSavedAnswer>)
        .answers(&[(201, Some(data::<SavedAnswer>))])
        .errors(&[CONFLICT]),
    row(PUT, "/v1/saved-answers/{id}", "updateSavedAnswer", "Replace an answer that the team keeps")
        .about("409 `conflict` if the shortcut is another one's.")
        .scopes(CHAT_WRITE, CHATAPP_WRITE)
        .live_only()
        .body(request::<NewSavedAnswer>)
        .answers(&[(200, Some(data::<SavedAnswer>))])
        .errors(&[CONFLICT]),
    row(DELETE, "/v1/saved-answers/{id}", "deleteSavedAnswer", "Delete an answer that the team keeps")
        .scopes(CHAT_WRITE, CHATAPP_WRITE)
        .live_only()
        .answers(&[(200, Some(data::<Deleted>))]),
];
