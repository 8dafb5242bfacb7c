//! Messages of the messaging channel (docs/contract/channel-messages.md).

use domain::channel::content::{
    MAX_BODY, MAX_BUTTON, MAX_BUTTON_ID, MAX_CAPTION, MAX_CONTACTS, MAX_DESCRIPTION, MAX_FILENAME,
    MAX_HEADER, MAX_PLACE, MAX_PROVIDER_ID, MAX_ROW, MAX_ROW_ID, MAX_ROWS, MAX_TEXT, MAX_URL, MAX_USER_ID,
};
use domain::channel::{Direction, MessageStatus, Source};
use domain::ids::{self, Id};
use domain::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::channel_templates::TemplateUse;
use crate::error_codes as codes;
use crate::operation::Method::{GET, POST};
use crate::operation::{Idempotency, Operation, RateClass, operation};
use crate::schema::{Field, choice, cursor, data, limit, may, page, request, text_of};
use crate::scopes::{CHATAPP_READ, CHATAPP_WRITE};

/// The template of a message.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MessageTemplate {
    /// Its id.
    pub id: Option<String>,
    /// Its name.
    pub name: String,
    /// Its language.
    pub language: String,
    /// What it was for when the message was taken.
    pub category: Option<String>,
}

/// A received file.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MessageMedia {
    /// `image`, `video`, `audio`, `document` or `sticker`.
    pub r#type: String,
    /// Its content type.
    pub mime_type: Option<String>,
    /// The message whose `/media` gives the bytes.
    pub message_id: Id<ids::ChannelMessage>,
    /// Whether they are there.
    pub available: bool,
}

/// When a message reached which status, by the provider's clock where it tells.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MessageStatuses {
    /// When the channel had it.
    pub sent_at: Option<Timestamp>,
    /// When it was on the customer's phone.
    pub delivered_at: Option<Timestamp>,
    /// When it was opened.
    pub read_at: Option<Timestamp>,
    /// When it failed.
    pub failed_at: Option<Timestamp>,
}

/// Why a message failed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MessageError {
    /// The provider's code, or one of the local codes below 0.
    pub code: i64,
    /// The code in a word.
    pub title: String,
    /// What is known of this case.
    pub detail: String,
}

/// A message.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChannelMessage {
    /// Its id.
    pub message_id: Id<ids::ChannelMessage>,
    /// The provider's id of it.
    pub provider_message_id: Option<String>,
    /// The conversation that it belongs to.
    pub chat_id: Option<Id<ids::Chat>>,
    /// All messages between this number and this person have the same.
    pub thread_id: Id<ids::ChannelThread>,
    /// The agent of the conversation or the campaign.
    pub agent_id: Option<Id<ids::Agent>>,
    /// The person.
    pub contact_id: Id<ids::Contact>,
    /// Your own id of the person.
    pub external_ref: Option<String>,
    /// Which way it goes.
    pub direction: Direction,
    /// Who sent it.
    pub source: Source,
    /// `template`, `text`, `image`, `interactive`, …
    pub r#type: String,
    /// Its words; null without any, and after the person was erased.
    pub text: Option<String>,
    /// Its template.
    pub template: Option<MessageTemplate>,
    /// A received file; its bytes are fetched apart.
    pub media: Option<MessageMedia>,
    /// Number of the sender; null for a customer who hides it.
    pub from: Option<String>,
    /// Number of the receiver; null for a customer who hides it.
    pub to: Option<String>,
    /// The customer's id on the channel.
    pub customer_user_id: Option<String>,
    /// The customer's @username.
    pub customer_username: Option<String>,
    /// The provider's id of the business number.
    pub phone_number_id: String,
    /// Where it is.
    pub status: MessageStatus,
    /// When it was taken or received.
    pub timestamp: Timestamp,
    /// When it reached which status.
    pub statuses: MessageStatuses,
    /// Why it failed; null otherwise.
    pub error: Option<MessageError>,
    /// The provider's id of the message that it answers.
    pub reply_to: Option<String>,
    /// A reaction: `messageId`, the provider's id of a message, and `emoji`, null when it was taken back.
    pub reaction: Option<Map<String, Value>>,
    /// What can be tapped, or what was: `type`, `id`, `title`.
    pub interactive: Option<Map<String, Value>>,
    /// A place.
    pub location: Option<Map<String, Value>>,
    /// What else it says: cards of contacts, an order, a template's button, in the channel's own form.
    pub content: Option<Map<String, Value>>,
}

/// A message that a request has sent.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SentChannelMessage {
    /// The message.
    #[serde(flatten)]
    pub message: ChannelMessage,
    /// Whether it was really sent: false with a test key.
    pub livemode: bool,
}

/// A file to be sent.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct NewMedia {
    /// What it is.
    #[schemars(with = "SentMediaKind")]
    pub r#type: String,
    /// Its https:// address, which the channel fetches.
    #[schemars(length(min = 1, max = MAX_URL))]
    pub url: String,
    /// Words under it; not with audio.
    #[schemars(length(min = 1, max = MAX_CAPTION))]
    pub caption: Option<String>,
    /// The name of a document.
    #[schemars(length(min = 1, max = MAX_FILENAME))]
    pub filename: Option<String>,
}

#[derive(JsonSchema)]
#[schemars(inline, extend("enum" = ["image", "video", "document", "audio"]))]
#[allow(dead_code, reason = "only its schema is used")]
struct SentMediaKind(String);

/// A button.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct NewReplyButton {
    /// What comes back when it is tapped.
    #[schemars(length(min = 1, max = MAX_BUTTON_ID))]
    pub id: String,
    /// What it shows.
    #[schemars(length(min = 1, max = MAX_BUTTON))]
    pub title: String,
}

/// A row of a list.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct NewListRow {
    /// What comes back when it is chosen.
    #[schemars(length(min = 1, max = MAX_ROW_ID))]
    pub id: String,
    /// What it shows.
    #[schemars(length(min = 1, max = MAX_ROW))]
    pub title: String,
    /// A line below.
    #[schemars(length(min = 1, max = MAX_DESCRIPTION))]
    pub description: Option<String>,
}

/// A part of a list.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct NewListSection {
    /// Its title; needed when there is more than one section.
    #[schemars(length(min = 1, max = MAX_ROW))]
    pub title: Option<String>,
    /// Its rows; ten in all sections together.
    #[schemars(length(min = 1, max = MAX_ROWS))]
    pub rows: Vec<NewListRow>,
}

/// A message with something to tap.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewInteractive {
    /// `buttons`: one of up to three; `list`: one row of a list; `cta_url`: opens an address.
    #[schemars(with = "InteractiveKind")]
    pub r#type: String,
    /// The words: up to 1,024 characters, 4,096 with a list.
    #[schemars(length(min = 1, max = MAX_TEXT))]
    pub body: String,
    /// A line above.
    #[schemars(length(min = 1, max = MAX_HEADER))]
    pub header: Option<String>,
    /// A line below.
    #[schemars(length(min = 1, max = MAX_HEADER))]
    pub footer: Option<String>,
    /// With `buttons`: the buttons, whose ids and titles are all different.
    #[schemars(length(min = 1, max = 3))]
    pub buttons: Option<Vec<NewReplyButton>>,
    /// With `list`: what opens it.
    #[schemars(length(min = 1, max = MAX_BUTTON))]
    pub button: Option<String>,
    /// With `list`: its parts.
    #[schemars(length(min = 1, max = MAX_ROWS))]
    pub sections: Option<Vec<NewListSection>>,
    /// With `cta_url`: what the button shows.
    #[schemars(length(min = 1, max = MAX_BUTTON))]
    pub display_text: Option<String>,
    /// With `cta_url`: an https:// address.
    #[schemars(length(min = 1, max = MAX_URL))]
    pub url: Option<String>,
}

#[derive(JsonSchema)]
#[schemars(inline, extend("enum" = ["buttons", "list", "cta_url"]))]
#[allow(dead_code, reason = "only its schema is used")]
struct InteractiveKind(String);

/// Longest body with buttons or an address, for the description.
pub const MAX_SHORT_BODY: usize = MAX_BODY;

/// A place.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct NewLocation {
    /// Degrees north, -90 to 90.
    pub latitude: f64,
    /// Degrees east, -180 to 180.
    pub longitude: f64,
    /// Its name.
    #[schemars(length(min = 1, max = MAX_PLACE))]
    pub name: Option<String>,
    /// Its address.
    #[schemars(length(min = 1, max = MAX_PLACE))]
    pub address: Option<String>,
}

/// A reaction.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewReaction {
    /// The message: its id here (`camsg_…`), or the provider's id of it.
    #[schemars(length(min = 1, max = MAX_PROVIDER_ID))]
    pub message_id: String,
    /// One emoji; empty takes the reaction back.
    #[schemars(length(max = 16))]
    pub emoji: String,
}

/// A person's consent to marketing.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewOptIn {
    /// How it was given.
    #[schemars(length(min = 1, max = 120))]
    pub source: String,
    /// When; not in the future.
    pub captured_at: Timestamp,
}

/// A card of a contact in the channel's own form.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(extend("maxProperties" = 20))]
pub struct NewContactCard(pub Map<String, Value>);

/// A message to be sent: `to` and exactly one of `template`, `text`, `media`, `interactive`, `location`, `reaction`
/// and `contacts`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewChannelMessage {
    /// An international number, or the customer's id on the channel.
    #[schemars(length(min = 1, max = MAX_USER_ID))]
    pub to: String,
    /// The business number that sends it, or the provider's id of it; the default number otherwise.
    #[schemars(length(min = 1, max = 60))]
    pub from: Option<String>,
    /// An approved template: to anybody.
    pub template: Option<TemplateUse>,
    /// Words. This and what follows needs the customer's 24-hour window to be open.
    #[schemars(length(min = 1, max = MAX_TEXT))]
    pub text: Option<String>,
    /// A file.
    pub media: Option<NewMedia>,
    /// Something to tap.
    pub interactive: Option<NewInteractive>,
    /// A place.
    pub location: Option<NewLocation>,
    /// A reaction to a message of the customer.
    pub reaction: Option<NewReaction>,
    /// Cards of contacts, in the channel's own form.
    #[schemars(length(min = 1, max = MAX_CONTACTS), extend("x-maxBytes" = 64 * 1024))]
    pub contacts: Option<Vec<NewContactCard>>,
    /// The message that it answers: its id here, or the provider's id of it.
    #[schemars(length(min = 1, max = MAX_PROVIDER_ID))]
    pub reply_to: Option<String>,
    /// The person's consent to marketing; recorded.
    pub opt_in: Option<NewOptIn>,
}

fn list_query() -> Vec<Field> {
    let directions: Vec<&'static str> = Direction::ALL.iter().map(|word| word.as_str()).collect();
    let statuses: Vec<&'static str> = MessageStatus::ALL.iter().map(|word| word.as_str()).collect();
    vec![
        may("contactId", text_of(1, 64).doc("Messages of this person only.")),
        may("chatId", text_of(1, 64).doc("Messages of this conversation only.")),
        may("templateName", text_of(1, 512).doc("Messages with a template of this name only.")),
        may("phoneNumberId", text_of(1, 60).doc("Messages of this business number only.")),
        may("direction", choice(&directions).doc("Messages that go this way only.")),
        may("status", choice(&statuses).doc("Messages with this status only.")),
        limit(100),
        cursor(),
    ]
}

/// Content types under which received files are given; anything else is `application/octet-stream`.
pub const MEDIA_TYPES: &str = "application/octet-stream, image/jpeg, image/png, image/webp, video/mp4, video/3gpp, audio/aac, \
    audio/amr, audio/mpeg, audio/mp4, audio/ogg, application/pdf, text/plain, text/csv, application/msword, \
    application/vnd.ms-excel, application/vnd.ms-powerpoint, \
    application/vnd.openxmlformats-officedocument.wordprocessingml.document, \
    application/vnd.openxmlformats-officedocument.spreadsheetml.sheet, \
    application/vnd.openxmlformats-officedocument.presentationml.presentation";

const TAG: &str = "Messaging channel";

/// The rows of this noun.
pub const OPERATIONS: &[Operation] = &[
    operation(POST, "/v1/chatapp/messages", "sendChannelMessage", TAG, "Send one message")
        .scope(CHATAPP_WRITE)
        .rate(RateClass::ChannelMessages)
        .idempotent(Idempotency::Optional)
        .body(request::<NewChannelMessage>)
        .answers(&[(201, Some(data::<SentChannelMessage>))])
        .errors(&[
            codes::TEMPLATE_NOT_FOUND,
            codes::CHATAPP_DISABLED,
            codes::CONTACT_OPTED_OUT,
            codes::OPT_IN_REQUIRED,
            codes::CHATAPP_NOT_CONNECTED,
            codes::WINDOW_CLOSED,
            codes::CONFLICT,
            codes::INVALID_NUMBER,
            codes::INVALID_OPT_IN,
            codes::TEMPLATE_UNAVAILABLE,
            codes::TEMPLATE_PARAMS_INVALID,
            codes::TIER_LIMIT_REACHED,
            codes::DELIVERY_FAILED,
            codes::RECIPIENT_UNSUPPORTED,
            codes::PROVIDER_UNAVAILABLE,
        ]),
    operation(GET, "/v1/chatapp/messages", "listChannelMessages", TAG, "Messages, newest first")
        .scope(CHATAPP_READ)
        .query(list_query)
        .answers(&[(200, Some(page::<ChannelMessage>))]),
    operation(GET, "/v1/chatapp/messages/{id}", "getChannelMessage", TAG, "One message")
        .scope(CHATAPP_READ)
        .answers(&[(200, Some(data::<ChannelMessage>))]),
    operation(
        GET,
        "/v1/chatapp/messages/{id}/media",
        "getChannelMessageMedia",
        TAG,
        "The file of a received message",
    )
    .scope(CHATAPP_READ)
    .answers(&[(200, None)])
    .content_type(MEDIA_TYPES),
];
