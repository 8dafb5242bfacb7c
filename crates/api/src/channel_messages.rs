//! Messages of the messaging channel (docs/contract/channel-messages.md).

use domain::channel::content::{
    MAX_BODY, MAX_BUTTON, MAX_BUTTON_ID, MAX_CAPTION, MAX_CONTACTS, MAX_DESCRIPTION, MAX_FILENAME,
    MAX_HEADER, MAX_PLACE, MAX_PROVIDER_ID, MAX_ROW, MAX_ROW_ID, MAX_ROWS, MAX_TEXT, MAX_URL, MAX_USER_ID,
};
use domain::channel::{Direction, MessageStatus, Source};
use domain::ids::{self, Id};
use domain::tenant::Role;
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

/// The template of a message, as it was when the message was accepted.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MessageTemplate {
    /// Id of the template, `tpl_…`; null if the template is not known here.
    pub id: Option<String>,
    /// The name of the template.
    pub name: String,
    /// Language of the template, such as `en_US`.
    pub language: String,
    /// Category of the template when the message was accepted; null if it is unknown.
    pub category: Option<String>,
}

/// A file that a customer sent.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MessageMedia {
    /// Kind of file: `image`, `video`, `audio`, `document` or `sticker`.
    pub r#type: String,
    /// Content type of the file; null if the provider gave none.
    pub mime_type: Option<String>,
    /// Id of the message; `GET /v1/chatapp/messages/{id}/media` gives the file.
    pub message_id: Id<ids::ChannelMessage>,
    /// Whether the file was fetched from the provider and can be downloaded.
    pub available: bool,
}

/// When the message got each status, by the provider's clock where it reports a time.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MessageStatuses {
    /// When the provider accepted the message; null before that.
    pub sent_at: Option<Timestamp>,
    /// When the message was delivered to the customer; null before that.
    pub delivered_at: Option<Timestamp>,
    /// When the customer read the message; null before that.
    pub read_at: Option<Timestamp>,
    /// When the message failed; null if it did not.
    pub failed_at: Option<Timestamp>,
}

/// Why a message failed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MessageError {
    /// The provider's error code, or a code of this service below 0.
    pub code: i64,
    /// The meaning of the code as a word, such as `window_closed`.
    pub title: String,
    /// Details of this failure, for people.
    pub detail: String,
}

/// A message of the messaging channel.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChannelMessage {
    /// Id of the message, `camsg_…`.
    pub message_id: Id<ids::ChannelMessage>,
    /// The provider's id of the message; null until the provider has accepted it.
    pub provider_message_id: Option<String>,
    /// Id of the conversation that the message belongs to; null without one.
    pub chat_id: Option<Id<ids::Chat>>,
    /// Id of the thread: all messages between this number and this contact.
    pub thread_id: Id<ids::ChannelThread>,
    /// Id of the agent of the conversation or the campaign; null without one.
    pub agent_id: Option<Id<ids::Agent>>,
    /// Id of the contact, `con_…`.
    pub contact_id: Id<ids::Contact>,
    /// Your own id of the contact; null without one.
    pub external_ref: Option<String>,
    /// `inbound` for a message of the customer, `outbound` for one to the customer.
    pub direction: Direction,
    /// Who sent the message.
    pub source: Source,
    /// Kind of content: `template`, `text`, `image`, `interactive` and others; `unsupported` for a kind that
    /// is unknown here.
    pub r#type: String,
    /// The text of the message; null without one and once the contact is erased.
    pub text: Option<String>,
    /// The template that was sent; null for other messages.
    pub template: Option<MessageTemplate>,
    /// A received file; null without one. The bytes are fetched separately.
    pub media: Option<MessageMedia>,
    /// Number of the sender, E.164; null for a customer who hides it.
    pub from: Option<String>,
    /// Number of the recipient, E.164; null for a customer who hides it.
    pub to: Option<String>,
    /// The customer's id on the channel; null if the channel reports none.
    pub customer_user_id: Option<String>,
    /// The customer's username on the channel; null without one.
    pub customer_username: Option<String>,
    /// The provider's id of the business number.
    pub phone_number_id: String,
    /// Status of the message; it never goes back.
    pub status: MessageStatus,
    /// When the message was accepted here, or received.
    pub timestamp: Timestamp,
    /// When the message got each status.
    pub statuses: MessageStatuses,
    /// Why the message failed; null if it did not.
    pub error: Option<MessageError>,
    /// Id of the message that it answers: the id here if that was known, otherwise the provider's; null for
    /// no reply.
    pub reply_to: Option<String>,
    /// A reaction: `messageId` and `emoji`, which is null when the reaction was taken back; null for other
    /// messages.
    pub reaction: Option<Map<String, Value>>,
    /// What can be tapped, or what was tapped: `type`, `id`, `title`; null for other messages.
    pub interactive: Option<Map<String, Value>>,
    /// A place: `latitude`, `longitude`, `name`, `address`; null for other messages.
    pub location: Option<Map<String, Value>>,
    /// Other content, such as contact cards, an order or a template's button, in the channel's own form; null
    /// without any.
    pub content: Option<Map<String, Value>>,
}

/// A message that was sent or queued by a request.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SentChannelMessage {
    /// The fields of the message.
    #[serde(flatten)]
    pub message: ChannelMessage,
    /// False with a test key: nothing was sent or stored.
    pub livemode: bool,
}

/// A file that is sent to the customer.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct NewMedia {
    /// Kind of file: `image`, `video`, `document` or `audio`.
    #[schemars(with = "SentMediaKind")]
    pub r#type: String,
    /// Public https:// address of the file, from which the provider fetches it.
    #[schemars(length(min = 1, max = MAX_URL))]
    pub url: String,
    /// Text below the file; not with `audio`.
    #[schemars(length(min = 1, max = MAX_CAPTION))]
    pub caption: Option<String>,
    /// File name that the customer sees; only with `document`.
    #[schemars(length(min = 1, max = MAX_FILENAME))]
    pub filename: Option<String>,
}

#[derive(JsonSchema)]
#[schemars(inline, extend("enum" = ["image", "video", "document", "audio"]))]
#[allow(dead_code, reason = "only its schema is used")]
struct SentMediaKind(String);

/// A button that the customer can tap.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct NewReplyButton {
    /// Your own id of the button, returned when it is tapped; unique in the message.
    #[schemars(length(min = 1, max = MAX_BUTTON_ID))]
    pub id: String,
    /// Text on the button; unique in the message.
    #[schemars(length(min = 1, max = MAX_BUTTON))]
    pub title: String,
}

/// A row of a list that the customer can choose.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct NewListRow {
    /// Your own id of the row, returned when it is chosen; unique in the message.
    #[schemars(length(min = 1, max = MAX_ROW_ID))]
    pub id: String,
    /// Text of the row; unique in the message.
    #[schemars(length(min = 1, max = MAX_ROW))]
    pub title: String,
    /// A second line of text below the title.
    #[schemars(length(min = 1, max = MAX_DESCRIPTION))]
    pub description: Option<String>,
}

/// A section of a list with its rows.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct NewListSection {
    /// Title of the section; required if there are several sections.
    #[schemars(length(min = 1, max = MAX_ROW))]
    pub title: Option<String>,
    /// Rows of the section; at most 10 in all sections together.
    #[schemars(length(min = 1, max = MAX_ROWS))]
    pub rows: Vec<NewListRow>,
}

/// A message with buttons, a list or a link to tap.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewInteractive {
    /// `buttons`: up to three buttons; `list`: a list of rows; `cta_url`: a button that opens an address.
    #[schemars(with = "InteractiveKind")]
    pub r#type: String,
    /// Text of the message: at most 1,024 characters, 4,096 with `list`.
    #[schemars(length(min = 1, max = MAX_TEXT))]
    pub body: String,
    /// A line of text above the body.
    #[schemars(length(min = 1, max = MAX_HEADER))]
    pub header: Option<String>,
    /// A line of text below the body.
    #[schemars(length(min = 1, max = MAX_HEADER))]
    pub footer: Option<String>,
    /// For `buttons`: one to three buttons with distinct ids and titles.
    #[schemars(length(min = 1, max = 3))]
    pub buttons: Option<Vec<NewReplyButton>>,
    /// For `list`: text of the button that opens the list.
    #[schemars(length(min = 1, max = MAX_BUTTON))]
    pub button: Option<String>,
    /// For `list`: its sections, each with at least one row.
    #[schemars(length(min = 1, max = MAX_ROWS))]
    pub sections: Option<Vec<NewListSection>>,
    /// For `cta_url`: text on the button.
    #[schemars(length(min = 1, max = MAX_BUTTON))]
    pub display_text: Option<String>,
    /// For `cta_url`: the https:// address that the button opens.
    #[schemars(length(min = 1, max = MAX_URL))]
    pub url: Option<String>,
}

#[derive(JsonSchema)]
#[schemars(inline, extend("enum" = ["buttons", "list", "cta_url"]))]
#[allow(dead_code, reason = "only its schema is used")]
struct InteractiveKind(String);

/// Longest body with buttons or an address, for the description.
pub const MAX_SHORT_BODY: usize = MAX_BODY;

/// A place on the map that is sent to the customer.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct NewLocation {
    /// Latitude in degrees north, from -90 to 90.
    pub latitude: f64,
    /// Longitude in degrees east, from -180 to 180.
    pub longitude: f64,
    /// Name of the place, such as a shop.
    #[schemars(length(min = 1, max = MAX_PLACE))]
    pub name: Option<String>,
    /// Postal address of the place.
    #[schemars(length(min = 1, max = MAX_PLACE))]
    pub address: Option<String>,
}

/// A reaction to a message.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewReaction {
    /// The message to react to: its id here (`camsg_…`), or the provider's id of it.
    #[schemars(length(min = 1, max = MAX_PROVIDER_ID))]
    pub message_id: String,
    /// One emoji; empty takes the reaction back.
    #[schemars(length(max = 16))]
    pub emoji: String,
}

/// A contact's consent to marketing.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewOptIn {
    /// How the consent was given, such as `web_form`.
    #[schemars(length(min = 1, max = 120))]
    pub source: String,
    /// When the consent was given; not in the future.
    pub captured_at: Timestamp,
}

/// A contact card in the channel's own form, with at least `name.formatted_name`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(extend("maxProperties" = 20))]
pub struct NewContactCard(pub Map<String, Value>);

/// A message to send: `to` and exactly one of `template`, `text`, `media`, `interactive`, `location`,
/// `reaction` and `contacts`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewChannelMessage {
    /// The recipient: an international number, or a customer's id on the channel.
    #[schemars(length(min = 1, max = MAX_USER_ID))]
    pub to: String,
    /// The business number that sends, or the provider's id of it. Absent: the default number.
    #[schemars(length(min = 1, max = 60))]
    pub from: Option<String>,
    /// An approved template; the only content that can be sent outside the 24-hour window.
    pub template: Option<TemplateUse>,
    /// A text. Like all content but a template, it needs an open window: the customer has written within 24
    /// hours.
    #[schemars(length(min = 1, max = MAX_TEXT))]
    pub text: Option<String>,
    /// An image, a video, a document or a sound file.
    pub media: Option<NewMedia>,
    /// A message with buttons, a list or a link.
    pub interactive: Option<NewInteractive>,
    /// A place to send, with its latitude and longitude.
    pub location: Option<NewLocation>,
    /// An emoji on a message of the customer.
    pub reaction: Option<NewReaction>,
    /// Contact cards in the channel's own form; 64 KB in all.
    #[schemars(length(min = 1, max = MAX_CONTACTS), extend("x-maxBytes" = 64 * 1024))]
    pub contacts: Option<Vec<NewContactCard>>,
    /// The message that this one answers: its id here (`camsg_…`), or the provider's id of it.
    #[schemars(length(min = 1, max = MAX_PROVIDER_ID))]
    pub reply_to: Option<String>,
    /// The contact's consent to marketing; recorded with the message.
    pub opt_in: Option<NewOptIn>,
}

fn list_query() -> Vec<Field> {
    let directions: Vec<&'static str> = Direction::ALL.iter().map(|word| word.as_str()).collect();
    let statuses: Vec<&'static str> = MessageStatus::ALL.iter().map(|word| word.as_str()).collect();
    vec![
        may("contactId", text_of(1, 64).doc("Only messages with this contact.")),
        may("chatId", text_of(1, 64).doc("Only messages of this conversation.")),
        may("templateName", text_of(1, 512).doc("Only messages with a template of this name.")),
        may(
            "phoneNumberId",
            text_of(1, 60).doc("Only messages of this business number, by the provider's id of it."),
        ),
        may("direction", choice(&directions).doc("Only messages in this direction.")),
        may("status", choice(&statuses).doc("Only messages with this status.")),
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
    operation(
        POST,
        "/v1/chatapp/messages",
        "sendChannelMessage",
        TAG,
        "Send a message on the messaging channel",
    )
    .traffic()
    .about(
        "Waits for the provider's answer. 201 `sent`, or `queued` if it is sent later. 502: the \
         provider refused it, and it is stored as `failed`. 503: it is unknown whether it was sent; \
         it is never sent again. Outside the 24-hour window only a template can be sent (409 \
         `window_closed`).",
    )
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
    operation(
        GET,
        "/v1/chatapp/messages",
        "listChannelMessages",
        TAG,
        "Messages of the messaging channel, newest first",
    )
    .scope(CHATAPP_READ)
    .query(list_query)
    .answers(&[(200, Some(page::<ChannelMessage>))]),
    operation(
        GET,
        "/v1/chatapp/messages/{id}",
        "getChannelMessage",
        TAG,
        "One message of the messaging channel",
    )
    .scope(CHATAPP_READ)
    .answers(&[(200, Some(data::<ChannelMessage>))]),
    operation(
        GET,
        "/v1/chatapp/messages/{id}/media",
        "getChannelMessageMedia",
        TAG,
        "Download the file of a received message",
    )
    .role(Role::Editor)
    .about("404 until the file was fetched from the provider (`media.available`).")
    .scope(CHATAPP_READ)
    .answers(&[(200, None)])
    .content_type(MEDIA_TYPES),
];
