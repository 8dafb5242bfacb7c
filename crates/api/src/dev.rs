//! `/dev`: the manual clock (docs/contract/sandbox.md#clock), and customers of the sandbox's messaging channel
//! (docs/contract/channel.md#sandbox). Not part of the OpenAPI documents.

use domain::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::operation::Method::{GET, POST};
use crate::operation::{Access, Operation, operation};
use crate::schema::{answer, data, request};

/// The manual clock.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Clock {
    /// The time that it shows.
    pub now: Timestamp,
}

/// A move of the manual clock.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClockChange {
    /// Seconds to go on.
    #[schemars(range(min = 0, max = 10_000_000_000_i64))]
    pub advance_seconds: Option<i64>,
    /// The time to show.
    pub set: Option<Timestamp>,
}

/// A message of a customer on the sandbox's messaging channel: one of `text`, `interactive`, `button`, `media`,
/// `location`, `reaction`, `contacts`, `revoke`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CustomerMessage {
    /// The business number that it comes to.
    #[schemars(length(min = 1, max = 60))]
    pub phone_number_id: String,
    /// The customer's number, or the customer's id on the channel.
    #[schemars(length(min = 1, max = 150))]
    pub from: String,
    /// The customer's id, beside a number.
    #[schemars(length(min = 1, max = 150))]
    pub user_id: Option<String>,
    /// The customer's @username.
    #[schemars(length(min = 1, max = 120))]
    pub username: Option<String>,
    /// The customer's name.
    #[schemars(length(min = 1, max = 120))]
    pub name: Option<String>,
    /// The provider's id of the message; made up by default. The same one again is the same message.
    #[schemars(length(min = 1, max = 200))]
    pub message_id: Option<String>,
    /// The provider's id of the message that it answers.
    #[schemars(length(min = 1, max = 512))]
    pub reply_to: Option<String>,
    /// Words.
    #[schemars(length(min = 1, max = 4096))]
    pub text: Option<String>,
    /// A tap on a button or a row of an interactive message.
    pub interactive: Option<CustomerTap>,
    /// A tap on a button of a template.
    pub button: Option<CustomerButton>,
    /// A file.
    pub media: Option<CustomerMedia>,
    /// A place.
    pub location: Option<CustomerPlace>,
    /// A reaction.
    pub reaction: Option<CustomerReaction>,
    /// Cards of contacts, in the channel's own form.
    #[schemars(length(min = 1, max = 20), extend("x-maxBytes" = 65_536))]
    pub contacts: Option<Vec<crate::channel_templates::TemplateComponent>>,
    /// The provider's id of a message that the customer deletes.
    #[schemars(length(min = 1, max = 512))]
    pub revoke: Option<String>,
    /// The advertisement that the customer came from.
    pub ad_referral: Option<CustomerReferral>,
}

/// A tap.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct CustomerTap {
    /// Id of the button or row.
    #[schemars(length(min = 1, max = 256))]
    pub id: Option<String>,
    /// What it shows.
    #[schemars(length(max = 60), extend("default" = ""))]
    pub title: String,
    /// The line below, of a row.
    #[schemars(length(max = 80))]
    pub description: Option<String>,
    /// The tap in the form of the channel, on a button.
    pub button_reply: Option<CustomerChoice>,
    /// The same on a row.
    pub list_reply: Option<CustomerChoice>,
}

/// What was tapped.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct CustomerChoice {
    /// Its id.
    #[schemars(length(min = 1, max = 256))]
    pub id: String,
    /// What it shows.
    #[schemars(length(max = 60), extend("default" = ""))]
    pub title: String,
    /// The line below, of a row.
    #[schemars(length(max = 80))]
    pub description: Option<String>,
}

/// A tap on a template's button.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct CustomerButton {
    /// What the button shows.
    #[schemars(length(min = 1, max = 60))]
    pub text: String,
    /// What it stands for; its text by default.
    #[schemars(length(min = 1, max = 256))]
    pub payload: Option<String>,
}

/// A file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CustomerMedia {
    /// What it is.
    pub r#type: domain::channel::MediaKind,
    /// Its content type.
    #[schemars(length(min = 1, max = 120))]
    pub mime_type: Option<String>,
    /// Its bytes in base64; a few of its own by default.
    #[schemars(length(min = 1, max = 49_152))]
    pub data: Option<String>,
    /// Words under it.
    #[schemars(length(min = 1, max = 1024))]
    pub caption: Option<String>,
    /// Its name.
    #[schemars(length(min = 1, max = 240))]
    pub filename: Option<String>,
    /// Whether it was spoken for this message.
    pub voice: Option<bool>,
}

/// A place.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct CustomerPlace {
    /// Degrees north.
    pub latitude: f64,
    /// Degrees east.
    pub longitude: f64,
    /// Its name.
    #[schemars(length(min = 1, max = 1000))]
    pub name: Option<String>,
    /// Its address.
    #[schemars(length(min = 1, max = 1000))]
    pub address: Option<String>,
}

/// A reaction.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CustomerReaction {
    /// The provider's id of the message.
    #[schemars(length(min = 1, max = 512))]
    pub message_id: String,
    /// Empty takes it back.
    #[schemars(length(max = 16), extend("default" = ""))]
    pub emoji: String,
}

/// An advertisement.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CustomerReferral {
    /// Its id.
    #[schemars(length(max = 200))]
    pub source_id: Option<String>,
    /// `ad` or `post`.
    #[schemars(length(max = 20))]
    pub source_type: Option<String>,
    /// Its address.
    #[schemars(length(max = 2000))]
    pub source_url: Option<String>,
    /// Its headline.
    #[schemars(length(max = 1000))]
    pub headline: Option<String>,
    /// Its words.
    #[schemars(length(max = 2000))]
    pub body: Option<String>,
    /// `image` or `video`.
    #[schemars(length(max = 20))]
    pub media_type: Option<String>,
    /// Address of its picture.
    #[schemars(length(max = 2000))]
    pub image_url: Option<String>,
    /// Address of its video.
    #[schemars(length(max = 2000))]
    pub video_url: Option<String>,
    /// Address of a small picture.
    #[schemars(length(max = 2000))]
    pub thumbnail_url: Option<String>,
    /// Id of the click.
    #[schemars(length(max = 500))]
    pub ctwa_clid: Option<String>,
}

/// A customer's message that was taken in.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CustomerMessageTaken {
    /// The provider's id of the message.
    pub provider_message_id: String,
}

/// The rows of this noun.
pub const OPERATIONS: &[Operation] = &[
    operation(GET, "/dev/clock", "getClock", "Development", "The manual clock")
        .access(Access::Public)
        .answers(&[(200, Some(answer::<Clock>))]),
    operation(POST, "/dev/clock", "setClock", "Development", "Move the manual clock")
        .access(Access::Public)
        .body(request::<ClockChange>)
        .answers(&[(200, Some(answer::<Clock>))]),
    operation(
        POST,
        "/dev/chatapp/inbound",
        "injectCustomerMessage",
        "Development",
        "A customer writes to a number of the sandbox's messaging channel",
    )
    .access(Access::Public)
    .body(request::<CustomerMessage>)
    .answers(&[(200, Some(data::<CustomerMessageTaken>))])
    .errors(&[crate::error_codes::NOT_FOUND, crate::error_codes::CONFLICT]),
];
