//! The messaging channel: its connection, business numbers, and where its provider sends notifications
//! (docs/contract/channel.md).

use domain::channel::ProviderKind;
use domain::channel::provider::ConnectionStatus;
use domain::ids::{self, Id};
use domain::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::envelope::{Deleted, Removed};
use crate::error_codes as codes;
use crate::operation::Method::{DELETE, GET, POST, PUT};
use crate::operation::{Access, Operation, operation};
use crate::schema::{Field, data, list, may, request, text_of};
use crate::scopes::CHATAPP_READ;

/// Numbers of one workspace.
pub const MAX_NUMBERS: i64 = 100;
/// Largest notification, bytes (docs/contract/channel.md#notifications).
pub const MAX_NOTIFICATION: usize = 3 << 20;

/// The account that a workspace is connected with.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewChannelConnection {
    /// `sandbox` needs nothing else.
    pub provider: ProviderKind,
    /// The provider's id of the business account; needed for `cloud`.
    #[schemars(length(min = 1, max = 60))]
    pub business_account_id: Option<String>,
    /// The provider's id of the app; needed for samples of templates' headers.
    #[schemars(length(min = 1, max = 60))]
    pub app_id: Option<String>,
    /// The access token; needed for `cloud`. It is stored encrypted and never shown again, as are the next two.
    #[schemars(length(min = 1, max = 4096))]
    pub access_token: Option<String>,
    /// The app's secret, which signs notifications; needed for `cloud`.
    #[schemars(length(min = 1, max = 512))]
    pub app_secret: Option<String>,
    /// What the provider shows when it verifies the address of notifications; needed for `cloud`.
    #[schemars(length(min = 1, max = 512))]
    pub verify_token: Option<String>,
}

/// A workspace's connection with the messaging channel, without its secrets.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChannelConnection {
    /// Its id.
    pub id: Id<ids::ChannelConnection>,
    /// Who carries its messages.
    pub provider: ProviderKind,
    /// With `token_invalid`, put the connection again with another token.
    pub status: ConnectionStatus,
    /// Why the token is not accepted.
    pub last_error: Option<String>,
    /// The provider's id of the business account.
    pub business_account_id: String,
    /// The provider's id of the app.
    pub app_id: Option<String>,
    /// Where the provider sends notifications; it stays the same when the connection is put again.
    pub webhook_url: String,
    /// The provider's word for the messaging limit of the account.
    pub messaging_tier: Option<String>,
    /// The provider's word for what it last restricted; null while the account may do everything.
    pub restriction: Option<String>,
    /// When it was connected.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// A number to be bound.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewChannelNumber {
    /// The number in the international form. With `cloud` it may be left out when `phoneNumberId` is given.
    #[schemars(length(min = 4, max = 40))]
    pub number: Option<String>,
    /// The name that customers see; the provider's by default.
    #[schemars(length(min = 1, max = 120))]
    pub display_name: Option<String>,
    /// The provider's id of the number; the sandbox makes one up.
    #[schemars(length(min = 1, max = 60))]
    pub phone_number_id: Option<String>,
    /// The agent that answers on it; null for none. A number that is bound already keeps its agent without it.
    #[serde(default, deserialize_with = "crate::schema::given")]
    #[schemars(!default, length(min = 1, max = 64), extend("x-nullable" = true))]
    pub agent_id: Option<Option<String>>,
    /// Whether it sends what names no number. The first number is the default.
    pub is_default: Option<bool>,
}

/// A business number.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChannelNumber {
    /// The provider's id of it.
    pub phone_number_id: String,
    /// The number.
    pub number: String,
    /// The name that customers see.
    pub display_name: String,
    /// `GREEN`, `YELLOW` or `RED`; null before the provider has rated it.
    pub quality: Option<String>,
    /// The provider's word for the messaging limit, which is that of the account.
    pub messaging_tier: Option<String>,
    /// The provider's word for its state.
    pub status: String,
    /// Whether it sends what names no number.
    pub is_default: bool,
    /// The agent that answers on it.
    pub agent_id: Option<Id<ids::Agent>>,
}

/// A business number as the operator sees it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BoundChannelNumber {
    /// What it is released by.
    pub id: Id<ids::ChannelNumber>,
    /// The number.
    #[serde(flatten)]
    pub number: ChannelNumber,
}

/// What a provider sends; the notification is in the provider's own form.
#[derive(JsonSchema)]
#[schemars(rename = "ChannelNotification")]
#[allow(dead_code, reason = "only its schema is used")]
struct Notified {
    /// What it is about.
    #[schemars(length(max = 100))]
    object: Option<String>,
}

/// What became of a notification.
#[derive(Debug, Serialize, JsonSchema)]
pub struct NotificationTaken {
    /// How many of its items are about this account.
    pub received: usize,
}

fn verification() -> Vec<Field> {
    vec![
        may("hub.mode", text_of(1, 40).doc("`subscribe`.")),
        may("hub.verify_token", text_of(1, 512).doc("The token of the connection.")),
        may("hub.challenge", text_of(1, 512).doc("What is answered.")),
    ]
}

const CONNECTION: &str = "/operator/v1/workspaces/{ws}/chatapp/connection";
const NUMBERS: &str = "/operator/v1/workspaces/{ws}/chatapp/numbers";
const HOOK: &str = "/chatapp/webhooks/{connection}";

/// The rows of this noun.
pub const OPERATIONS: &[Operation] = &[
    operation(
        PUT,
        CONNECTION,
        "putChannelConnection",
        "Operator",
        "Connect the messaging channel, or replace the credentials",
    )
    .access(Access::Operator)
    .body(request::<NewChannelConnection>)
    .answers(&[(200, Some(data::<ChannelConnection>))])
    .errors(&[codes::CONFLICT, codes::PROVIDER_REFUSED, codes::PROVIDER_UNAVAILABLE]),
    operation(
        GET,
        CONNECTION,
        "getChannelConnection",
        "Operator",
        "The connection with the messaging channel",
    )
    .access(Access::Operator)
    .answers(&[(200, Some(data::<ChannelConnection>))]),
    operation(
        DELETE,
        CONNECTION,
        "deleteChannelConnection",
        "Operator",
        "Disconnect the messaging channel with its numbers and templates",
    )
    .access(Access::Operator)
    .answers(&[(200, Some(data::<Removed>))]),
    operation(
        POST,
        NUMBERS,
        "bindChannelNumber",
        "Operator",
        "Bind a number of the account, or change what a bound one does",
    )
    .access(Access::Operator)
    .body(request::<NewChannelNumber>)
    .answers(&[(201, Some(data::<BoundChannelNumber>))])
    .errors(&[
        codes::CONFLICT,
        codes::CHATAPP_NOT_CONNECTED,
        codes::PROVIDER_REFUSED,
        codes::PROVIDER_UNAVAILABLE,
    ]),
    operation(GET, NUMBERS, "listBoundChannelNumbers", "Operator", "Numbers on the messaging channel")
        .access(Access::Operator)
        .answers(&[(200, Some(list::<BoundChannelNumber>))]),
    operation(
        DELETE,
        "/operator/v1/workspaces/{ws}/chatapp/numbers/{id}",
        "releaseChannelNumber",
        "Operator",
        "Release a number, by its id or by the provider's",
    )
    .access(Access::Operator)
    .answers(&[(200, Some(data::<Deleted>))]),
    operation(GET, "/v1/chatapp/numbers", "listChannelNumbers", "Messaging channel", "Business numbers")
        .scope(CHATAPP_READ)
        .answers(&[(200, Some(list::<ChannelNumber>))]),
    operation(
        GET,
        HOOK,
        "verifyChannelHook",
        "Messaging channel",
        "The provider verifies the address of notifications",
    )
    .access(Access::Public)
    .query(verification)
    .answers(&[(200, None)])
    .content_type("text/plain")
    .errors(&[codes::NOT_FOUND, codes::LINK_INVALID, codes::RATE_LIMITED]),
    operation(
        POST,
        HOOK,
        "receiveChannelNotification",
        "Messaging channel",
        "Notifications of the provider, signed with `X-Hub-Signature-256`",
    )
    .access(Access::Signed)
    .raw_body(request::<Notified>)
    .answers(&[(200, Some(data::<NotificationTaken>))])
    .errors(&[codes::NOT_FOUND, codes::UNAUTHORIZED, codes::RATE_LIMITED, codes::INBOX_FULL]),
];
