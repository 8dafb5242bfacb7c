//! Conversations on the messaging channel (docs/contract/channel-conversations.md).

use domain::call::variables;
use domain::chat::{EndCause, Origin, Role};
use domain::ids::{self, Id};
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

/// A conversation to be started with a template.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct NewConversation {
    /// A published agent that answers on the channel.
    #[schemars(length(min = 1, max = 200))]
    pub agent_id: String,
    /// An international number, or a customer's id on the channel.
    #[schemars(length(min = 1, max = 200))]
    pub to: String,
    /// An approved template.
    pub template: TemplateUse,
    /// The number that the agent answers on, as a number or as the provider's id of it.
    #[schemars(length(min = 1, max = 64))]
    pub from: Option<String>,
    /// Values for the agent's flow.
    #[serde(default)]
    #[schemars(extend("maxProperties" = domain::nudge::MAX_VARIABLES, "x-maxBytes" = 2 * domain::nudge::MAX_VARIABLES_BYTES))]
    #[schemars(extend("x-refusedAs" = "invalid_variables"))]
    pub variables: Map<String, Value>,
    /// Who is written to.
    pub contact: Option<ConversationContact>,
    /// Kept on the conversation; the agent never reads it.
    #[serde(default)]
    #[schemars(extend("maxProperties" = variables::MAX_KEYS, "x-maxBytes" = MAX_METADATA_BYTES))]
    pub metadata: Map<String, Value>,
    /// The person's agreement to marketing.
    pub opt_in: Option<ConversationOptIn>,
    /// What happens when a conversation with this person is open on the number.
    #[schemars(with = "OnActiveSession", extend("default" = "reject"))]
    pub on_active_session: String,
    /// What was said elsewhere, oldest first; for the agent to know, not sent to the customer.
    #[serde(default)]
    #[schemars(length(max = MAX_PRIOR), extend("x-maxBytes" = 2 * MAX_PRIOR_BYTES))]
    pub prior_messages: Vec<PriorMessage>,
    /// A note for the agent only.
    #[schemars(length(max = MAX_NOTE))]
    pub handover_note: Option<String>,
}

/// Who is written to.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct ConversationContact {
    /// The person's name; a contact that has one keeps it.
    #[schemars(length(min = 1, max = 200))]
    pub name: Option<String>,
    /// Your own id of the person; stored on a contact that has none.
    #[schemars(length(min = 1, max = 120))]
    pub external_ref: Option<String>,
}

/// A recorded agreement to marketing; like the rest of this body it takes no unknown field.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct ConversationOptIn {
    /// How it was given.
    #[schemars(length(min = 1, max = 120))]
    pub source: String,
    /// When; not in the future.
    pub captured_at: Timestamp,
}

/// What happens when a conversation is open already.
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
    /// Who wrote it.
    pub role: PriorRole,
    /// Its words.
    #[schemars(length(min = 1, max = MAX_PRIOR_TEXT))]
    pub text: String,
    /// Name of the person who wrote as `agent`.
    #[schemars(length(min = 1, max = MAX_AGENT_NAME))]
    pub agent_name: Option<String>,
    /// When it was sent.
    pub sent_at: Option<Timestamp>,
    /// The channel's id of it; each counts once.
    #[schemars(length(min = 1, max = 512))]
    pub provider_message_id: Option<String>,
}

/// Who wrote a message from before.
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
    /// The conversation.
    pub chat_id: Id<ids::Chat>,
    /// All messages between the number and the customer.
    pub thread_id: Id<ids::ChannelThread>,
    /// The person.
    pub contact_id: Id<ids::Contact>,
    /// Whether the template went into a conversation that was open.
    pub sent_in_session: bool,
    /// What the conversation keeps.
    pub metadata: Map<String, Value>,
    /// The template's message.
    pub message: StartedMessage,
}

/// The message that started a conversation.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StartedMessage {
    /// Its id.
    pub id: String,
    /// The channel's id of it; null while it waits to be sent.
    pub provider_message_id: Option<String>,
    /// Where it stands.
    pub status: domain::channel::message::MessageStatus,
}

/// Whether a conversation is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConversationStatus {
    /// It is.
    Active,
    /// It is over.
    Ended,
}

/// A conversation.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Conversation {
    /// Its id.
    pub id: Id<ids::Chat>,
    /// The agent.
    pub agent_id: Id<ids::Agent>,
    /// The person.
    pub contact_id: Id<ids::Contact>,
    /// Your own id of the person.
    pub external_ref: Option<String>,
    /// Who writes; its fields are null once the person is erased.
    pub customer: ConversationCustomer,
    /// The business number.
    pub business: ConversationBusiness,
    /// Whether it is open.
    pub status: ConversationStatus,
    /// Why it ended.
    pub end_cause: Option<EndCause>,
    /// How it began.
    pub origin: Origin,
    /// How many messages it has.
    pub message_count: i64,
    /// False: a test key stores no conversation.
    pub is_test: bool,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// What came of it.
    pub outcome: ConversationOutcome,
    /// Labels that the team put on it.
    pub labels: Vec<ChatLabel>,
    /// The teammate who has it.
    pub assigned_to: Option<Id<ids::User>>,
    /// The ad or post that started it.
    #[schemars(with = "Option<Map<String, Value>>")]
    pub ad_referral: Option<Value>,
    /// What was given when it was started.
    pub metadata: Map<String, Value>,
    /// With `include=messages`: what was written, oldest first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages: Option<Vec<ConversationMessage>>,
    /// With `include=analysis`: what was read out of it; null until that is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-nullable" = true))]
    pub analysis: Option<Option<ConversationAnalysis>>,
}

/// A conversation that was ended.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct EndedConversation {
    /// Its final state.
    #[serde(flatten)]
    pub conversation: Conversation,
    /// False with a test key: the conversation stays open, and this is the form of the answer, with nothing of what the
    /// live conversation holds.
    pub livemode: bool,
}

/// The customer of a conversation.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConversationCustomer {
    /// The number; null for a customer who hides it.
    pub phone: Option<String>,
    /// The name.
    pub name: Option<String>,
    /// The id on the channel.
    pub user_id: Option<String>,
    /// The name on the channel.
    pub username: Option<String>,
}

/// The business number of a conversation.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConversationBusiness {
    /// The number.
    pub phone: String,
    /// The provider's id of it.
    pub phone_number_id: String,
}

/// What came of a conversation.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConversationOutcome {
    /// The disposition.
    pub disposition: Option<String>,
    /// The column in which the person stands: on the campaign's board where the conversation began with a campaign,
    /// otherwise on the agent's.
    pub board_column: Option<String>,
}

/// A label.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ChatLabel {
    /// Its id.
    pub id: Id<ids::ChatLabel>,
    /// What it says.
    pub name: String,
    /// Its colour.
    pub color: String,
}

/// A message of a conversation.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConversationMessage {
    /// Who wrote it.
    pub role: Role,
    /// Its words.
    pub text: String,
    /// The person of the team who wrote it, where a helpdesk named one.
    pub agent_name: Option<String>,
    /// When.
    pub timestamp: Timestamp,
    /// Stands there, as `true`, when the channel did not deliver it: nobody got these words.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
}

/// What was read out of a conversation.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConversationAnalysis {
    /// What it was about.
    pub summary: Option<String>,
    /// What was captured.
    #[schemars(with = "Option<Map<String, Value>>")]
    pub extracted: Option<Value>,
    /// The disposition.
    pub disposition: Option<String>,
}

/// A helpdesk takes a conversation over.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConversationTakeover {
    /// Who goes on.
    #[schemars(length(max = MAX_AGENT_NAME))]
    pub agent_name: Option<String>,
    /// Why, for the event.
    #[schemars(length(max = MAX_NOTE))]
    pub note: Option<String>,
}

/// A conversation that was taken over.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TakenOverConversation {
    /// The conversation.
    pub id: Id<ids::Chat>,
    /// Who answers now.
    pub status: TakenOver,
    /// Whether it had been taken over before.
    pub already_taken_over: bool,
    /// False with a test key: nothing changed.
    pub livemode: bool,
}

/// The helpdesk answers.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TakenOver {
    /// It does.
    TakenOver,
}

/// A helpdesk gives a conversation back.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConversationHandback {
    /// What the team wrote to the customer meanwhile, oldest first; added to the history.
    #[serde(default)]
    #[schemars(length(max = MAX_PRIOR), extend("x-maxBytes" = 2 * MAX_PRIOR_BYTES))]
    pub messages: Vec<TeamMessage>,
    /// A note for the agent only.
    #[schemars(length(max = MAX_NOTE))]
    pub note: Option<String>,
}

/// What the team wrote.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TeamMessage {
    /// Its words.
    #[schemars(length(min = 1, max = MAX_PRIOR_BYTES))]
    pub text: String,
    /// Who wrote it.
    #[schemars(length(max = MAX_AGENT_NAME))]
    pub agent_name: Option<String>,
    /// When.
    pub sent_at: Option<Timestamp>,
}

/// A conversation that was given back.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HandedBackConversation {
    /// The conversation.
    pub id: Id<ids::Chat>,
    /// Who answers now.
    pub status: WithAgent,
    /// Whether the agent had it.
    pub already_with_agent: bool,
    /// False with a test key: nothing changed.
    pub livemode: bool,
}

/// The agent answers.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WithAgent {
    /// It does.
    WithAgent,
}

/// To whom a conversation is given; exactly one of the two.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConversationAssignment {
    /// A teammate.
    #[schemars(length(min = 1, max = 64))]
    pub user_id: Option<String>,
    /// A teammate's e-mail address.
    #[schemars(length(min = 1, max = 254))]
    pub email: Option<String>,
}

/// A conversation that was assigned.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AssignedConversation {
    /// The conversation.
    pub id: Id<ids::Chat>,
    /// The teammate.
    pub assigned_to: Id<ids::User>,
}

/// A teammate who can reply.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Assignee {
    /// The teammate.
    pub user_id: Id<ids::User>,
    /// The name.
    pub name: String,
    /// The e-mail address.
    pub email: String,
}

/// A label to be made.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct NewChatLabel {
    /// What it says.
    #[schemars(length(min = 1, max = 40))]
    pub name: String,
    /// Its colour: `#` and six hexadecimal digits.
    #[schemars(length(min = 7, max = 7))]
    pub color: String,
}

/// The labels of a chat.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChatLabels {
    /// Those that it has from now on.
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
        may("agentId", text_of(1, 64).doc("Only those of this agent")),
        may("phoneNumberId", text_of(1, 64).doc("Only those on this business number")),
        may("contactId", text_of(1, 64).doc("Only those with this person")),
        may("customer", text_of(1, 200).doc("Only those with this number or id on the channel")),
        may("status", choice(&["active", "ended"]).doc("Only open ones, or only ended ones")),
        may("endCause", choice(&causes).doc("Only those that ended so")),
        may("origin", choice(&origins).doc("Only those that began so")),
        may("startedAfter", time().doc("Only those that began at this moment or later")),
        may("startedBefore", time().doc("Only those that began before this moment")),
        may("includeTest", choice(&["true", "false"]).doc("Test chats, too; by default they are left out")),
        limit(100),
        cursor(),
    ]
}

fn get_query() -> Vec<Field> {
    vec![may("include", text_of(1, 100).doc("`messages`, `analysis`, or both with a comma between them"))]
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
        "Conversations, newest first",
    )
    .scope(CHATAPP_READ)
    .query(list_query)
    .answers(&[(200, Some(page::<Conversation>))]),
    operation(
        GET,
        "/v1/chatapp/conversations/{id}",
        "getConversation",
        "Messaging channel",
        "One conversation",
    )
    .scope(CHATAPP_READ)
    .query(get_query)
    .answers(&[(200, Some(data::<Conversation>))]),
    operation(
        POST,
        "/v1/chatapp/conversations/{id}/end",
        "endConversation",
        "Messaging channel",
        "End a conversation; a repeat changes nothing",
    )
    .scope(CHATAPP_WRITE)
    .answers(&[(200, Some(data::<EndedConversation>))]),
    operation(
        POST,
        "/v1/chatapp/conversations/{id}/takeover",
        "takeConversationOver",
        "Messaging channel",
        "Have your helpdesk answer instead of the agent",
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
        "Give a conversation back to its agent",
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
        "Give a conversation to a teammate",
    )
    .scope(CHATAPP_WRITE)
    .rate(RateClass::HandOvers)
    .live_only()
    .body(request::<ConversationAssignment>)
    .answers(&[(200, Some(data::<AssignedConversation>))])
    .errors(&[codes::ASSIGNEE_NOT_ALLOWED, codes::CONVERSATION_ENDED, codes::HELD_BY_HELPDESK]),
    operation(GET, "/v1/chatapp/assignees", "listAssignees", "Messaging channel", "Teammates who can reply")
        .scope(CHATAPP_READ)
        .answers(&[(200, Some(list::<Assignee>))]),
    row(GET, "/operator/v1/workspaces/{ws}/chat-labels", "listChatLabels", "Labels for chats")
        .answers(&[(200, Some(list::<ChatLabel>))]),
    row(POST, "/operator/v1/workspaces/{ws}/chat-labels", "createChatLabel", "Make a label for chats")
        .body(request::<NewChatLabel>)
        .answers(&[(201, Some(data::<ChatLabel>))])
        .errors(&[codes::CONFLICT]),
    row(
        DELETE,
        "/operator/v1/workspaces/{ws}/chat-labels/{id}",
        "deleteChatLabel",
        "Remove a label, from all chats, too",
    )
    .answers(&[(200, Some(data::<Deleted>))]),
    row(
        PUT,
        "/operator/v1/workspaces/{ws}/chats/{id}/labels",
        "setChatLabels",
        "Give a chat these labels and no others",
    )
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
