//! Conversations on the messaging channel (docs/contract/channel-conversations.md).

use domain::call::variables;
use domain::chat::{EndCause, Origin, Role};
use domain::ids::{self, Id};
use domain::tenant::Role as MemberRole;
use domain::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::channel_templates::TemplateUse;
use crate::envelope::Deleted;
use crate::error_codes as codes;
use crate::operation::Method::{DELETE, GET, POST, PUT};
use crate::operation::{Access, Idempotency, Operation, RateClass, operation};
use crate::schema::{Field, Schema, choice, cursor, data, limit, list, may, page, request, text_of, time};
use crate::scopes::{CHATAPP_READ, CHATAPP_WRITE};

/// Most messages that a conversation can be given from elsewhere.
pub const MAX_PRIOR: usize = 200;
/// Longest of them, in characters.
pub const MAX_PRIOR_TEXT: usize = 4_096;
/// Most bytes of all their texts.
pub const MAX_PRIOR_BYTES: usize = 256 * 1024;
/// Longest note, in characters.
pub const MAX_NOTE: usize = 1_000;
/// Longest name of a teammate, in characters.
pub const MAX_AGENT_NAME: usize = 80;
/// Most bytes of metadata as JSON.
pub const MAX_METADATA_BYTES: usize = 4 * 1024;
/// Most labels of a workspace, and of a chat.
pub const MAX_LABELS: usize = 100;

/// The request to start a conversation by sending a template. Unknown fields are refused.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct NewConversation {
    /// Id of a published chat agent that a business number is bound to.
    #[schemars(length(min = 1, max = 200))]
    pub agent_id: String,
    /// The recipient: an international number, or a customer's id on the channel.
    #[schemars(length(min = 1, max = 200))]
    pub to: String,
    /// The approved template that is sent, by `id` or by `name` and `language`.
    pub template: TemplateUse,
    /// The agent's business number, or the provider's id of it; another number is 409
    /// `agent_number_mismatch`.
    #[schemars(length(min = 1, max = 64))]
    pub from: Option<String>,
    /// Values for the agent's flow: name to text, number or boolean.
    #[serde(default)]
    #[schemars(extend("maxProperties" = domain::nudge::MAX_VARIABLES, "x-maxBytes" = 2 * domain::nudge::MAX_VARIABLES_BYTES))]
    #[schemars(extend("x-refusedAs" = "invalid_variables"))]
    pub variables: Map<String, Value>,
    /// Name and reference, which are stored where the contact has none.
    pub contact: Option<ConversationContact>,
    /// Your own data: up to 20 keys of text, number, boolean or null, 4 KB as JSON. Returned with the
    /// conversation and its events; the agent never sees it.
    #[serde(default)]
    #[schemars(extend("maxProperties" = variables::MAX_KEYS, "x-maxBytes" = MAX_METADATA_BYTES))]
    pub metadata: Map<String, Value>,
    /// The contact's consent to marketing, which is recorded with the message.
    pub opt_in: Option<ConversationOptIn>,
    /// What to do when the contact has an open conversation on the number.
    #[schemars(with = "OnActiveSession", extend("default" = "reject"))]
    pub on_active_session: String,
    /// Earlier messages from elsewhere, oldest first, as context for the agent; never sent to the customer.
    /// At most 256 KB of text in all.
    #[serde(default)]
    #[schemars(length(max = MAX_PRIOR), extend("x-maxBytes" = 2 * MAX_PRIOR_BYTES))]
    pub prior_messages: Vec<PriorMessage>,
    /// A note for the agent; never sent to the customer.
    #[schemars(length(max = MAX_NOTE))]
    pub handover_note: Option<String>,
}

/// Details of the contact.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct ConversationContact {
    /// The contact's name; ignored if the contact has one.
    #[schemars(length(min = 1, max = 200))]
    pub name: Option<String>,
    /// Your own id of the contact; ignored if the contact has one or another contact has it.
    #[schemars(length(min = 1, max = 120))]
    pub external_ref: Option<String>,
}

/// A recorded consent to marketing. Unknown fields are refused.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct ConversationOptIn {
    /// How the consent was given, such as `web_form`.
    #[schemars(length(min = 1, max = 120))]
    pub source: String,
    /// When the consent was given; not in the future.
    pub captured_at: Timestamp,
}

/// What to do when a conversation is open: `reject` (409 `active_session_exists`) or `send_in_session` (the
/// template is sent into it).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnActiveSession {
    /// 409 `active_session_exists`.
    Reject,
    /// The template is sent into it.
    SendInSession,
}

/// A message from before the conversation.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct PriorMessage {
    /// Who wrote the message: `customer`, `agent` (a person of the business) or `bot`.
    pub role: PriorRole,
    /// The words of the message.
    #[schemars(length(min = 1, max = MAX_PRIOR_TEXT))]
    pub text: String,
    /// Name of the person who wrote it, for the role `agent`.
    #[schemars(length(min = 1, max = MAX_AGENT_NAME))]
    pub agent_name: Option<String>,
    /// When the message was sent; absent if unknown.
    pub sent_at: Option<Timestamp>,
    /// The channel's id of the message; a second message with the same id is ignored.
    #[schemars(length(min = 1, max = 512))]
    pub provider_message_id: Option<String>,
}

/// Who wrote a message from before the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PriorRole {
    /// The customer.
    Customer,
    /// A person of the business.
    Agent,
    /// A machine of the business.
    Bot,
}

/// A conversation that was started.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StartedConversation {
    /// False with a test key: nothing was sent or stored.
    pub livemode: bool,
    /// Id of the conversation, `chatsess_…`.
    pub chat_id: Id<ids::Chat>,
    /// Id of the thread: all messages between this number and this contact.
    pub thread_id: Id<ids::ChannelThread>,
    /// Id of the contact, `con_…`.
    pub contact_id: Id<ids::Contact>,
    /// True if the template was sent into an open conversation.
    pub sent_in_session: bool,
    /// The `metadata` of the conversation.
    pub metadata: Map<String, Value>,
    /// The message that carries the template.
    pub message: StartedMessage,
}

/// The message that starts a conversation.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StartedMessage {
    /// Id of the message, `camsg_…`.
    pub id: String,
    /// The provider's id of the message; null while it is queued.
    pub provider_message_id: Option<String>,
    /// `sent`, or `queued` while it waits for the pace of its number.
    pub status: domain::channel::message::MessageStatus,
}

/// Whether a conversation is open: `active` or `ended`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConversationStatus {
    /// It is.
    Active,
    /// It is over.
    Ended,
}

/// A conversation on the messaging channel.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Conversation {
    /// Id of the conversation, `chatsess_…`.
    pub id: Id<ids::Chat>,
    /// Id of the agent, `agt_…`.
    pub agent_id: Id<ids::Agent>,
    /// Id of the contact, `con_…`.
    pub contact_id: Id<ids::Contact>,
    /// Your own id of the contact; null without one.
    pub external_ref: Option<String>,
    /// The customer; all fields are null once the contact is erased.
    pub customer: ConversationCustomer,
    /// The business number of the conversation.
    pub business: ConversationBusiness,
    /// `active` while the conversation is open, then `ended`.
    pub status: ConversationStatus,
    /// Why it ended; null while it is open.
    pub end_cause: Option<EndCause>,
    /// How the conversation began.
    pub origin: Origin,
    /// Number of messages in the conversation.
    pub message_count: i64,
    /// Always false: a test key stores no conversation.
    pub is_test: bool,
    /// When the conversation began.
    pub started_at: Timestamp,
    /// When the conversation ended; null while it is open.
    pub ended_at: Option<Timestamp>,
    /// Disposition of the conversation and the column of the contact's card.
    pub outcome: ConversationOutcome,
    /// Labels that the team has set.
    pub labels: Vec<ChatLabel>,
    /// Id of the teammate who handles the conversation; null if none does.
    pub assigned_to: Option<Id<ids::User>>,
    /// The ad or post that the customer came from, in the provider's own form; null without one.
    #[schemars(with = "Option<Map<String, Value>>")]
    pub ad_referral: Option<Value>,
    /// The `metadata` of the request that started it; empty for conversations that began otherwise.
    pub metadata: Map<String, Value>,
    /// The messages, oldest first; only with `include=messages`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages: Option<Vec<ConversationMessage>>,
    /// Result of the analysis; only with `include=analysis`, null until it is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-nullable" = true))]
    pub analysis: Option<Option<ConversationAnalysis>>,
}

/// A conversation that was ended.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct EndedConversation {
    /// The conversation in its final state.
    #[serde(flatten)]
    pub conversation: Conversation,
    /// False with a test key: nothing was changed, and the answer has no data of the live conversation.
    pub livemode: bool,
}

/// The customer of a conversation, as the channel reports them.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConversationCustomer {
    /// The customer's number, E.164; null for a customer who hides it.
    pub phone: Option<String>,
    /// The customer's name; null if it is unknown.
    pub name: Option<String>,
    /// The customer's id on the channel; null if the channel reports none.
    pub user_id: Option<String>,
    /// The customer's username on the channel; null without one.
    pub username: Option<String>,
}

/// The business number of a conversation.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConversationBusiness {
    /// The business number, E.164.
    pub phone: String,
    /// The provider's id of the number.
    pub phone_number_id: String,
}

/// The result of a conversation.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConversationOutcome {
    /// The agent's disposition as a key; null until it is known.
    pub disposition: Option<String>,
    /// Key of the column of the contact's card, on the campaign's board if a campaign began the conversation,
    /// otherwise on the agent's; null without a card.
    pub board_column: Option<String>,
}

/// A label of conversations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ChatLabel {
    /// Id of the label.
    pub id: Id<ids::ChatLabel>,
    /// The text of the label.
    pub name: String,
    /// Colour of the label: `#` and six hexadecimal digits.
    pub color: String,
}

/// A message of a conversation and its author.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConversationMessage {
    /// Who wrote it: `user` (the customer), `agent`, or `human` (the team).
    pub role: Role,
    /// The words of the message; files and other content are named in brackets.
    pub text: String,
    /// Name of the person of the team who wrote it; null where none was given.
    pub agent_name: Option<String>,
    /// When the message was written.
    pub timestamp: Timestamp,
    /// `true` if the channel did not deliver the message; absent otherwise.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
}

/// What the analysis of a conversation found.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConversationAnalysis {
    /// Summary of the conversation, at most 4,000 characters; null without one.
    pub summary: Option<String>,
    /// Captured and extracted values by key; null without any.
    #[schemars(with = "Option<Map<String, Value>>")]
    pub extracted: Option<Value>,
    /// The disposition as a key; null without one.
    pub disposition: Option<String>,
}

/// A takeover of a conversation by a helpdesk.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConversationTakeover {
    /// Name of the person who answers from now on.
    #[schemars(length(max = MAX_AGENT_NAME))]
    pub agent_name: Option<String>,
    /// Reason of the takeover; sent with the event `chat.taken_over`.
    #[schemars(length(max = MAX_NOTE))]
    pub note: Option<String>,
}

/// A conversation that a helpdesk has taken over.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TakenOverConversation {
    /// Id of the conversation, `chatsess_…`.
    pub id: Id<ids::Chat>,
    /// Always `taken_over`: the helpdesk answers, the agent does not.
    pub status: TakenOver,
    /// True if a helpdesk had it before this request.
    pub already_taken_over: bool,
    /// False with a test key: nothing was changed.
    pub livemode: bool,
}

/// The helpdesk answers: always `taken_over`.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TakenOver {
    /// It does.
    TakenOver,
}

/// A handback of a conversation to its agent.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConversationHandback {
    /// What the team wrote to the customer meanwhile, oldest first; added to the history. At most 256 KB of
    /// text in all.
    #[serde(default)]
    #[schemars(length(max = MAX_PRIOR), extend("x-maxBytes" = 2 * MAX_PRIOR_BYTES))]
    pub messages: Vec<TeamMessage>,
    /// A note for the agent; never sent to the customer.
    #[schemars(length(max = MAX_NOTE))]
    pub note: Option<String>,
}

/// A message that the team wrote.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TeamMessage {
    /// The words of the message.
    #[schemars(length(min = 1, max = MAX_PRIOR_BYTES))]
    pub text: String,
    /// Name of the person who wrote it.
    #[schemars(length(max = MAX_AGENT_NAME))]
    pub agent_name: Option<String>,
    /// When it was sent; a time before the conversation or in the future is moved into that range. Absent:
    /// now.
    pub sent_at: Option<Timestamp>,
}

/// A conversation that its agent answers again.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HandedBackConversation {
    /// Id of the conversation, `chatsess_…`.
    pub id: Id<ids::Chat>,
    /// Always `with_agent`: the agent answers.
    pub status: WithAgent,
    /// True if the agent had it before this request.
    pub already_with_agent: bool,
    /// False with a test key: nothing was changed.
    pub livemode: bool,
}

/// The agent answers: always `with_agent`.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WithAgent {
    /// It does.
    WithAgent,
}

/// The teammate who gets a conversation: exactly one of `userId` and `email`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConversationAssignment {
    /// Id of a teammate who can reply, `usr_…`.
    #[schemars(length(min = 1, max = 64))]
    pub user_id: Option<String>,
    /// E-mail address of a teammate who can reply.
    #[schemars(length(min = 1, max = 254))]
    pub email: Option<String>,
}

/// A conversation that was assigned.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AssignedConversation {
    /// Id of the conversation, `chatsess_…`.
    pub id: Id<ids::Chat>,
    /// Id of the teammate who handles it now.
    pub assigned_to: Id<ids::User>,
}

/// A teammate who can reply to customers.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Assignee {
    /// Id of the teammate, `usr_…`.
    pub user_id: Id<ids::User>,
    /// The name of the teammate.
    pub name: String,
    /// The teammate's e-mail address.
    pub email: String,
}

/// The request to create a label.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct NewChatLabel {
    /// The text of the label; unique in the workspace.
    #[schemars(length(min = 1, max = 40))]
    pub name: String,
    /// Colour of the label: `#` and six hexadecimal digits.
    #[schemars(length(min = 7, max = 7))]
    pub color: String,
}

/// The labels that replace those of a chat.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChatLabels {
    /// Ids of all labels that the chat has from now on; empty removes all.
    #[schemars(length(max = MAX_LABELS), inner(length(min = 1, max = 64)))]
    pub label_ids: Vec<String>,
}

/// The body of a start refuses unknown fields in all of its parts; other requests share the type of its template.
fn new_conversation() -> Schema {
    request::<NewConversation>().variant("NewConversation", |field| {
        let schema = match &*field.name {
            "template" => field.schema.strict("Conversation"),
            _ => field.schema,
        };
        Some(Field { schema, ..field })
    })
}

fn list_query() -> Vec<Field> {
    let causes: Vec<&'static str> = EndCause::ALL.iter().map(|cause| cause.as_str()).collect();
    let origins: Vec<&'static str> = Origin::ALL.iter().map(|origin| origin.as_str()).collect();
    vec![
        may("agentId", text_of(1, 64).doc("Only conversations of this agent.")),
        may(
            "phoneNumberId",
            text_of(1, 64).doc("Only conversations on this business number, by the provider's id of it."),
        ),
        may("contactId", text_of(1, 64).doc("Only conversations with this contact.")),
        may(
            "customer",
            text_of(1, 200).doc("Only conversations with the customer of this number or id on the channel."),
        ),
        may("status", choice(&["active", "ended"]).doc("Only open (`active`) or only ended conversations.")),
        may("endCause", choice(&causes).doc("Only conversations with this end cause.")),
        may("origin", choice(&origins).doc("Only conversations with this origin.")),
        may("startedAfter", time().doc("Only conversations that began at or after this time.")),
        may("startedBefore", time().doc("Only conversations that began before this time.")),
        may(
            "includeTest",
            choice(&["true", "false"]).doc("Without effect: a test key stores no conversation."),
        ),
        limit(100),
        cursor(),
    ]
}

fn get_query() -> Vec<Field> {
    vec![may(
        "include",
        text_of(1, 100).doc("Parts to add: `messages`, `analysis`, or both separated by a comma."),
    )]
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
        "/v1/chatapp/conversations",
        "startConversation",
        "Messaging channel",
        "Start a conversation with an agent by sending a template",
    )
    .traffic()
    .about(
        "Waits for the provider's answer. 201 for a new conversation, 200 if the template was sent \
         into an open one. 503 `provider_unavailable`: it may still arrive and is never sent again. \
         A refusal before the provider was asked stores nothing.",
    )
    .scope(CHATAPP_WRITE)
    .rate(RateClass::ChannelMessages)
    .idempotent(Idempotency::Optional)
    .body(new_conversation)
    .answers(&[(201, Some(data::<StartedConversation>)), (200, Some(data::<StartedConversation>))])
    .errors(STARTING),
    operation(
        GET,
        "/v1/chatapp/conversations",
        "listConversations",
        "Messaging channel",
        "Conversations on the messaging channel, newest first",
    )
    .scope(CHATAPP_READ)
    .query(list_query)
    .answers(&[(200, Some(page::<Conversation>))]),
    operation(
        GET,
        "/v1/chatapp/conversations/{id}",
        "getConversation",
        "Messaging channel",
        "One conversation on the messaging channel",
    )
    .scope(CHATAPP_READ)
    .query(get_query)
    .answers(&[(200, Some(data::<Conversation>))]),
    operation(
        POST,
        "/v1/chatapp/conversations/{id}/end",
        "endConversation",
        "Messaging channel",
        "End a conversation",
    )
    .about("A repeat changes nothing. With a test key nothing changes.")
    .scope(CHATAPP_WRITE)
    .answers(&[(200, Some(data::<EndedConversation>))]),
    operation(
        POST,
        "/v1/chatapp/conversations/{id}/takeover",
        "takeConversationOver",
        "Messaging channel",
        "Take a conversation over: your helpdesk answers instead of the agent",
    )
    .about(
        "A reply that is being written is dropped. A repeat changes nothing. 409 `held_by_teammate` \
         if a teammate handles it in the inbox.",
    )
    .scope(CHATAPP_WRITE)
    .rate(RateClass::HandOvers)
    .optional_body(request::<ConversationTakeover>)
    .answers(&[(200, Some(data::<TakenOverConversation>))])
    .errors(&[codes::CONVERSATION_ENDED, codes::HELD_BY_TEAMMATE]),
    operation(
        POST,
        "/v1/chatapp/conversations/{id}/handback",
        "handConversationBack",
        "Messaging channel",
        "Hand a conversation back to its agent",
    )
    .about(
        "A repeat changes nothing. 409 with the code of the reason if the agent cannot take it now; \
         it then stays with people.",
    )
    .scope(CHATAPP_WRITE)
    .rate(RateClass::HandOvers)
    .optional_body(request::<ConversationHandback>)
    .answers(&[(200, Some(data::<HandedBackConversation>))])
    .errors(&[
        codes::CONVERSATION_ENDED,
        codes::HELD_BY_TEAMMATE,
        codes::HANDBACK_UNPAID,
        codes::HANDBACK_OFFLINE,
        codes::HANDBACK_AGENT,
        codes::HANDBACK_BRAIN,
        codes::HANDBACK_CHANNEL,
        codes::HANDBACK_AGENTS,
    ]),
    operation(
        POST,
        "/v1/chatapp/conversations/{id}/assign",
        "assignConversation",
        "Messaging channel",
        "Assign a conversation to a teammate",
    )
    .scope(CHATAPP_WRITE)
    .rate(RateClass::HandOvers)
    .live_only()
    .body(request::<ConversationAssignment>)
    .answers(&[(200, Some(data::<AssignedConversation>))])
    .errors(&[codes::ASSIGNEE_NOT_ALLOWED, codes::CONVERSATION_ENDED, codes::HELD_BY_HELPDESK]),
    operation(
        GET,
        "/v1/chatapp/assignees",
        "listAssignees",
        "Messaging channel",
        "Teammates who can reply to customers",
    )
    .scope(CHATAPP_READ)
    .answers(&[(200, Some(list::<Assignee>))]),
    row(GET, "/operator/v1/workspaces/{ws}/chat-labels", "listChatLabels", "All labels of a workspace")
        .role(MemberRole::Viewer)
        .answers(&[(200, Some(list::<ChatLabel>))]),
    row(POST, "/operator/v1/workspaces/{ws}/chat-labels", "createChatLabel", "Create a label for chats")
        .role(MemberRole::Editor)
        .about("409 `conflict` at 100 labels, or if the name exists.")
        .body(request::<NewChatLabel>)
        .answers(&[(201, Some(data::<ChatLabel>))])
        .errors(&[codes::CONFLICT]),
    row(
        DELETE,
        "/operator/v1/workspaces/{ws}/chat-labels/{id}",
        "deleteChatLabel",
        "Delete a label and remove it from all chats",
    )
    .role(MemberRole::Editor)
    .answers(&[(200, Some(data::<Deleted>))]),
    row(
        PUT,
        "/operator/v1/workspaces/{ws}/chats/{id}/labels",
        "setChatLabels",
        "Replace the labels of a chat",
    )
    .role(MemberRole::Editor)
    .body(request::<ChatLabels>)
    .answers(&[(200, Some(list::<ChatLabel>))]),
];

/// Errors of starting a conversation (docs/contract/channel-conversations.md#start-errors).
pub const STARTING: &[&codes::ErrorCode] = &[
    codes::TEMPLATE_NOT_FOUND,
    codes::INVALID_VARIABLES,
    codes::INSUFFICIENT_BALANCE,
    codes::CHATAPP_DISABLED,
    codes::CHATAPP_AGENTS_OFF,
    codes::CONTACT_OPTED_OUT,
    codes::OPT_IN_REQUIRED,
    codes::AGENT_NOT_FOUND,
    codes::ACTIVE_SESSION_EXISTS,
    codes::AGENT_NOT_ACTIVE,
    codes::AGENT_NUMBER_MISSING,
    codes::AGENT_NUMBER_MISMATCH,
    codes::CHATAPP_NOT_CONNECTED,
    codes::AGENT_NOT_CHATAPP,
    codes::INVALID_NUMBER,
    codes::INVALID_OPT_IN,
    codes::UNKNOWN_FIELD,
    codes::TEMPLATE_UNAVAILABLE,
    codes::TEMPLATE_PARAMS_INVALID,
    codes::BRAIN_UNAVAILABLE,
    codes::TIER_LIMIT_REACHED,
    codes::DELIVERY_FAILED,
    codes::RECIPIENT_UNSUPPORTED,
    codes::PROVIDER_UNAVAILABLE,
];
