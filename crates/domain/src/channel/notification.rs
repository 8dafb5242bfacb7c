//! Webhook notifications of a provider, item by item (docs/contract/channel.md#notifications). Their wire format is in
//! the provider's own crate.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::content::{Location, MediaKind, Recipient};
use super::errors::ProviderError;
use crate::phone::E164;
use crate::time::Timestamp;

/// One item of a notification.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "item", rename_all = "snake_case")]
pub enum Notification {
    Message(Box<Received>),
    /// A message that somebody of the business wrote in the provider's own app.
    Echo(Box<Echo>),
    /// A status of a message that was sent.
    Status(Box<StatusUpdate>),
    /// A customer stopped or allowed marketing with the provider.
    Preference(Preference),
    /// A template was approved, rejected, paused, ….
    TemplateStatus(TemplateStatusUpdate),
    /// The quality of a template changed.
    TemplateQuality(TemplateQualityUpdate),
    /// The category of a template changes, or has changed.
    TemplateCategory(TemplateCategoryUpdate),
    /// The components of a template changed.
    TemplateComponents(TemplateRef),
    /// The class of a number, or its limit, changed.
    Number(NumberUpdate),
    /// The account's messaging limit changed: the provider's word.
    Capability {
        /// The word, or a number as text.
        tier: String,
    },
    /// Something happened to the account.
    Account(AccountUpdate),
    /// Errors that belong to no message.
    Errors(Vec<ProviderError>),
}

/// The sender, or the recipient of a status.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Person {
    /// The number, unless it is hidden.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phone: Option<E164>,
    /// The id on the channel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
    /// The id that linked accounts share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_user_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub username: Option<String>,
    /// The name that the person gave there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

impl Person {
    /// The address for replies: the number if it is known.
    pub fn address(&self) -> Option<Recipient> {
        self.phone.map(Recipient::Phone).or_else(|| self.user_id.clone().map(Recipient::UserId))
    }
}

/// A customer's message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Received {
    pub from: Person,
    /// The provider's id of the message.
    pub id: String,
    pub at: Timestamp,
    /// The message that it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<String>,
    /// Whether it was forwarded.
    #[serde(default)]
    pub forwarded: bool,
    /// The advertisement or post that the customer came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub referral: Option<AdReferral>,
    pub what: ReceivedContent,
}

/// The content of a customer's message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ReceivedContent {
    Text {
        body: String,
    },
    Media(ReceivedMedia),
    Location {
        place: Location,
        url: Option<String>,
    },
    /// Cards of contacts, in the channel's own form.
    Contacts {
        cards: Vec<Value>,
    },
    /// A tap on a template's button.
    Button {
        /// What the button stands for.
        payload: Option<String>,
        text: String,
    },
    /// A tap on a button or a row of an interactive message.
    Reply {
        id: String,
        title: String,
        /// The line below, of a row.
        description: Option<String>,
        /// Whether it is a row of a list.
        list: bool,
    },
    /// A form that was filled in.
    Form {
        /// What the provider calls it.
        name: Option<String>,
        body: Option<String>,
        response: Value,
    },
    Reaction {
        /// The provider's id of the message.
        message: String,
        /// Absent when it was taken back.
        emoji: Option<String>,
    },
    /// An order from a catalogue, in the channel's own form.
    Order {
        /// The order.
        order: Value,
    },
    /// The customer has another number, or another id.
    System {
        event: Option<String>,
        body: Option<String>,
        phone: Option<E164>,
        user_id: Option<String>,
    },
    /// The customer changed an earlier message.
    Edit {
        /// The provider's id of that message.
        original: String,
        text: Option<String>,
    },
    /// The customer deleted an earlier message.
    Revoke {
        /// The provider's id of that message.
        original: String,
    },
    /// Something that the channel does not pass on, or that is not known here.
    Unsupported {
        /// The provider's word for it.
        what: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReceivedMedia {
    pub kind: MediaKind,
    /// The provider's id of it.
    pub id: String,
    pub mime_type: String,
    /// SHA-256 as the provider writes it.
    pub sha256: Option<String>,
    pub caption: Option<String>,
    pub filename: Option<String>,
    /// Whether it was spoken for this message.
    #[serde(default)]
    pub voice: bool,
}

/// The advertisement or post that a conversation began with.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AdReferral {
    pub source_id: Option<String>,
    /// `ad` or `post`.
    pub source_type: Option<String>,
    pub source_url: Option<String>,
    pub headline: Option<String>,
    pub body: Option<String>,
    /// `image` or `video`.
    pub media_type: Option<String>,
    /// Address of its picture.
    pub image_url: Option<String>,
    /// Address of its video.
    pub video_url: Option<String>,
    /// Address of a small picture.
    pub thumbnail_url: Option<String>,
    /// Id of the click.
    pub ctwa_clid: Option<String>,
}

/// A message that the business wrote elsewhere.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Echo {
    /// Its recipient.
    pub to: Person,
    /// The provider's id of it.
    pub id: String,
    pub at: Timestamp,
    pub what: ReceivedContent,
}

closed_sets::words! {
    /// A reported status.
    pub enum Receipt {
        /// The channel has it.
        Sent = "sent",
        /// It is on the customer's phone.
        Delivered = "delivered",
        Read = "read",
        /// It was listened to.
        Played = "played",
        /// It was not delivered.
        Failed = "failed",
        /// The customer, or the channel, deleted it.
        Deleted = "deleted",
    }
}

/// A status of a message that was sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StatusUpdate {
    /// The provider's id of the message.
    pub id: String,
    pub receipt: Receipt,
    pub at: Timestamp,
    /// The recipient of the message.
    #[serde(default)]
    pub to: Person,
    /// The echoed id of ours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pricing: Option<Pricing>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<ProviderError>,
}

/// What the provider charges for a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pricing {
    /// Whether it costs something.
    pub billable: bool,
    /// The provider's word for the way of counting.
    pub model: Option<String>,
    /// Why it is free, or `regular`.
    pub kind: Option<String>,
    pub category: Option<String>,
}

/// A customer's choice about marketing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preference {
    pub person: Person,
    /// `true`: no more marketing.
    pub stopped: bool,
    pub at: Timestamp,
}

/// A template as notifications name it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TemplateRef {
    /// The provider's id of it.
    pub id: String,
    pub name: String,
    pub language: String,
}

/// A template was approved, rejected, paused, ….
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TemplateStatusUpdate {
    pub template: TemplateRef,
    pub event: String,
    /// The provider's word for the reason; absent for none.
    pub reason: Option<String>,
    /// Its category by then.
    pub category: Option<String>,
}

/// The quality of a template changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TemplateQualityUpdate {
    pub template: TemplateRef,
    pub quality: String,
}

/// The category of a template changes, or has changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TemplateCategoryUpdate {
    pub template: TemplateRef,
    pub category: String,
    /// The category that it is about to get.
    pub pending: Option<String>,
    /// The category that it had.
    pub previous: Option<String>,
}

/// The class of a number, or its limit, changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NumberUpdate {
    /// The number as it is shown.
    pub display_number: String,
    pub event: String,
    /// The provider's word for the limit.
    pub tier: Option<String>,
}

/// Something happened to the account.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AccountUpdate {
    pub event: String,
    /// As the provider sends it.
    pub restriction: Option<Value>,
    /// As the provider sends it.
    pub violation: Option<Value>,
    /// As the provider sends it.
    pub ban: Option<Value>,
}

impl Notification {
    /// The person that it is about; notifications about one person are processed in order.
    pub fn person(&self) -> Option<&Person> {
        match self {
            Self::Message(message) => Some(&message.from),
            Self::Echo(echo) => Some(&echo.to),
            Self::Status(status) => Some(&status.to),
            Self::Preference(preference) => Some(&preference.person),
            _ => None,
        }
    }
}
