//! Events of messages of the messaging channel (docs/contract/channel-messages.md#events).

use domain::channel::{Direction, MessageStatus, Source};
use domain::ids::{self, Id};
use domain::time::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::samples::{
    AGENT, BUSINESS, CHAT, CONTACT, CUSTOMER_REF, PHONE, PHONE_NUMBER_ID, Sometimes, at, id,
};
use crate::channel_messages::{ChannelMessage, MessageError, MessageMedia, MessageStatuses};

/// A message, as `GET /v1/chatapp/messages/{id}` shows it; members for content that it does not have are absent.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MessageData {
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
    /// Kind of content: `template`, `text`, `image`, `interactive` and others.
    pub r#type: String,
    /// The text of the message; null without one.
    pub text: Option<String>,
    /// The template that was sent; null for other messages.
    pub template: Option<EventTemplate>,
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
    /// Status of the message at the time of the event.
    pub status: MessageStatus,
    /// When the message was accepted here, or received.
    pub timestamp: Timestamp,
    /// When the message got each status.
    pub statuses: MessageStatuses,
    /// Why the message failed; absent if it did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<MessageError>,
    /// Id of the message that it answers: the id here if that was known, otherwise the provider's; absent for
    /// no reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply_to: Sometimes<String>,
    /// A reaction: `messageId` and `emoji`, which is null when the reaction was taken back; absent for other
    /// messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reaction: Sometimes<Map<String, Value>>,
    /// What can be tapped, or what was tapped: `type`, `id`, `title`; absent for other messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interactive: Sometimes<Map<String, Value>>,
    /// A place: `latitude`, `longitude`, `name`, `address`; absent for other messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Sometimes<Map<String, Value>>,
    /// Other content, in the channel's own form; absent without any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Sometimes<Map<String, Value>>,
}

/// The template of a message, as events show it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct EventTemplate {
    /// The name of the template.
    pub name: String,
    /// Language of the template, such as `en_US`.
    pub language: String,
    /// Category of the template when the message was accepted; null if it is unknown.
    pub category: Option<String>,
}

impl From<ChannelMessage> for MessageData {
    fn from(message: ChannelMessage) -> Self {
        Self {
            message_id: message.message_id,
            provider_message_id: message.provider_message_id,
            chat_id: message.chat_id,
            thread_id: message.thread_id,
            agent_id: message.agent_id,
            contact_id: message.contact_id,
            external_ref: message.external_ref,
            direction: message.direction,
            source: message.source,
            r#type: message.r#type,
            text: message.text,
            template: message.template.map(|template| EventTemplate {
                name: template.name,
                language: template.language,
                category: template.category,
            }),
            media: message.media,
            from: message.from,
            to: message.to,
            customer_user_id: message.customer_user_id,
            customer_username: message.customer_username,
            phone_number_id: message.phone_number_id,
            status: message.status,
            timestamp: message.timestamp,
            statuses: message.statuses,
            error: message.error,
            reply_to: message.reply_to.map(Some),
            reaction: message.reaction.map(Some),
            interactive: message.interactive.map(Some),
            location: message.location.map(Some),
            content: message.content.map(Some),
        }
    }
}

impl MessageData {
    /// A message that the channel has.
    pub(super) fn sample() -> Self {
        Self {
            message_id: id("camsg_01k9v5x2m8e6fs4v0q3n7w1y37"),
            provider_message_id: Some("TEST_01k9v5x2m8".into()),
            chat_id: Some(id(CHAT)),
            thread_id: id("msgth_01k9v5x2m8e6fs4v0q3n7w1y38"),
            agent_id: Some(id(AGENT)),
            contact_id: id(CONTACT),
            external_ref: Some(CUSTOMER_REF.into()),
            direction: Direction::Outbound,
            source: Source::Agent,
            r#type: "text".into(),
            text: Some("Your order is on its way.".into()),
            template: None,
            media: None,
            from: Some(BUSINESS.into()),
            to: Some(PHONE.into()),
            customer_user_id: None,
            customer_username: None,
            phone_number_id: PHONE_NUMBER_ID.into(),
            status: MessageStatus::Sent,
            timestamp: at("2026-01-15T10:00:00.000Z"),
            statuses: statuses(Some("2026-01-15T10:00:00.000Z"), None, None, None),
            error: None,
            reply_to: Some(None),
            reaction: Some(None),
            interactive: Some(None),
            location: Some(None),
            content: Some(None),
        }
    }

    pub(super) fn received() -> Self {
        Self {
            direction: Direction::Inbound,
            source: Source::Customer,
            text: Some("Where is my order?".into()),
            from: Some(PHONE.into()),
            to: Some(BUSINESS.into()),
            status: MessageStatus::Received,
            statuses: statuses(None, None, None, None),
            ..Self::sample()
        }
    }

    pub(super) fn delivered() -> Self {
        Self {
            status: MessageStatus::Delivered,
            statuses: statuses(
                Some("2026-01-15T10:00:00.000Z"),
                Some("2026-01-15T10:00:01.000Z"),
                None,
                None,
            ),
            ..Self::sample()
        }
    }

    pub(super) fn read() -> Self {
        Self {
            status: MessageStatus::Read,
            statuses: statuses(
                Some("2026-01-15T10:00:00.000Z"),
                Some("2026-01-15T10:00:01.000Z"),
                Some("2026-01-15T10:00:09.000Z"),
                None,
            ),
            ..Self::sample()
        }
    }

    pub(super) fn failed() -> Self {
        Self {
            status: MessageStatus::Failed,
            statuses: statuses(None, None, None, Some("2026-01-15T10:00:00.000Z")),
            error: Some(MessageError {
                code: -1004,
                title: "window_closed".into(),
                detail: "free text outside the 24-hour window; send a template".into(),
            }),
            ..Self::sample()
        }
    }
}

fn statuses(
    sent: Option<&str>,
    delivered: Option<&str>,
    read: Option<&str>,
    failed: Option<&str>,
) -> MessageStatuses {
    MessageStatuses {
        sent_at: sent.map(at),
        delivered_at: delivered.map(at),
        read_at: read.map(at),
        failed_at: failed.map(at),
    }
}
