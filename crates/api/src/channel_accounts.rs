//! The messaging channel: its connection, business numbers, and where its provider sends notifications
//! (docs/contract/channel.md).

use domain::channel::ProviderKind;
use domain::channel::provider::ConnectionStatus;
use domain::ids::{self, Id};
use domain::tenant::Role;
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

/// The account of the messaging channel that a workspace is connected with.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewChannelConnection {
    /// `cloud` for the provider's Cloud API, `sandbox` for simulated messages, which needs no other field.
    pub provider: ProviderKind,
    /// The provider's id of the business account; required for `cloud`.
    #[schemars(length(min = 1, max = 60))]
    pub business_account_id: Option<String>,
    /// The provider's id of the app; required only to upload samples of template headers.
    #[schemars(length(min = 1, max = 60))]
    pub app_id: Option<String>,
    /// Access token of the account; required for `cloud`. Stored encrypted and never shown.
    #[schemars(length(min = 1, max = 4096))]
    pub access_token: Option<String>,
    /// The app's secret, with which the provider signs notifications; required for `cloud`. Stored encrypted
    /// and never shown.
    #[schemars(length(min = 1, max = 512))]
    pub app_secret: Option<String>,
    /// The token that the provider sends to verify the webhook address; required for `cloud`. Stored
    /// encrypted and never shown.
    #[schemars(length(min = 1, max = 512))]
    pub verify_token: Option<String>,
}

/// A workspace's connection with the messaging channel, without its secrets.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChannelConnection {
    /// Id of the connection.
    pub id: Id<ids::ChannelConnection>,
    /// `cloud` or `sandbox`: who carries the messages.
    pub provider: ProviderKind,
    /// `connected`, or `token_invalid` once the provider refused the access token: put the connection with
    /// another token.
    pub status: ConnectionStatus,
    /// Why the provider refused the access token; null otherwise.
    pub last_error: Option<String>,
    /// The provider's id of the business account.
    pub business_account_id: String,
    /// The provider's id of the app; null if none was given.
    pub app_id: Option<String>,
    /// The address to which the provider sends notifications; it stays the same when the connection is put
    /// again.
    pub webhook_url: String,
    /// The provider's name of the account's messaging limit; null if it is unknown.
    pub messaging_tier: Option<String>,
    /// The provider's word for the latest restriction of the account; null while there is none.
    pub restriction: Option<String>,
    /// When the account was connected.
    pub created_at: Timestamp,
    /// When the connection last changed.
    pub updated_at: Timestamp,
}

/// A business number that is bound to the workspace.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewChannelNumber {
    /// The number in international form. Optional with `cloud` if `phoneNumberId` is given.
    #[schemars(length(min = 4, max = 40))]
    pub number: Option<String>,
    /// The name that customers see; by default the name that the provider has.
    #[schemars(length(min = 1, max = 120))]
    pub display_name: Option<String>,
    /// The provider's id of the number; the sandbox generates one.
    #[schemars(length(min = 1, max = 60))]
    pub phone_number_id: Option<String>,
    /// Id of the chat agent that answers on the number; null for none. Absent: unchanged for a number that is
    /// bound already.
    #[serde(default, deserialize_with = "crate::schema::given")]
    #[schemars(!default, length(min = 1, max = 64), extend("x-nullable" = true))]
    pub agent_id: Option<Option<String>>,
    /// Whether the number sends messages that name no number. The first number is the default.
    pub is_default: Option<bool>,
}

/// A business number of the messaging channel.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChannelNumber {
    /// The provider's id of the number.
    pub phone_number_id: String,
    /// The business number, E.164.
    pub number: String,
    /// The name that customers see.
    pub display_name: String,
    /// The provider's quality rating: `GREEN`, `YELLOW` or `RED`; null before the first rating.
    pub quality: Option<String>,
    /// The provider's name of the messaging limit, which is that of the account; null if it is unknown.
    pub messaging_tier: Option<String>,
    /// The provider's word for the state of the number, such as `CONNECTED`. `DISCONNECTED`, `BANNED`,
    /// `DELETED` and `MIGRATED` cannot send.
    pub status: String,
    /// Whether the number sends messages that name no number.
    pub is_default: bool,
    /// Id of the agent that answers on the number; null for none.
    pub agent_id: Option<Id<ids::Agent>>,
}

/// A business number with the id under which it is released.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BoundChannelNumber {
    /// Id of the number here; `DELETE …/numbers/{id}` takes it.
    pub id: Id<ids::ChannelNumber>,
    /// The fields that customers see.
    #[serde(flatten)]
    pub number: ChannelNumber,
}

/// A notification, in the provider's own form.
#[derive(JsonSchema)]
#[schemars(rename = "ChannelNotification")]
#[allow(dead_code, reason = "only its schema is used")]
struct Notified {
    /// The provider's word for the kind of account.
    #[schemars(length(max = 100))]
    object: Option<String>,
}

/// Acknowledgement of a notification.
#[derive(Debug, Serialize, JsonSchema)]
pub struct NotificationTaken {
    /// Number of items about this account, which are now stored.
    pub received: usize,
}

fn verification() -> Vec<Field> {
    vec![
        may("hub.mode", text_of(1, 40).doc("The provider sends `subscribe` here.")),
        may("hub.verify_token", text_of(1, 512).doc("The `verifyToken` of the connection.")),
        may("hub.challenge", text_of(1, 512).doc("The text that the answer returns.")),
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
    .role(Role::Admin)
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
    .role(Role::Admin)
    .access(Access::Operator)
    .answers(&[(200, Some(data::<ChannelConnection>))]),
    operation(
        DELETE,
        CONNECTION,
        "deleteChannelConnection",
        "Operator",
        "Disconnect the messaging channel with its numbers and templates",
    )
    .role(Role::Admin)
    .access(Access::Operator)
    .answers(&[(200, Some(data::<Removed>))]),
    operation(
        POST,
        NUMBERS,
        "bindChannelNumber",
        "Operator",
        "Bind a number of the account, or change what a bound one does",
    )
    .role(Role::Admin)
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
        .role(Role::Viewer)
        .access(Access::Operator)
        .answers(&[(200, Some(list::<BoundChannelNumber>))]),
    operation(
        DELETE,
        "/operator/v1/workspaces/{ws}/chatapp/numbers/{id}",
        "releaseChannelNumber",
        "Operator",
        "Release a business number",
    )
    .role(Role::Admin)
    .about("By its id here or by the provider's id.")
    .access(Access::Operator)
    .answers(&[(200, Some(data::<Deleted>))]),
    operation(
        GET,
        "/v1/chatapp/numbers",
        "listChannelNumbers",
        "Messaging channel",
        "All business numbers of the messaging channel",
    )
    .scope(CHATAPP_READ)
    .answers(&[(200, Some(list::<ChannelNumber>))]),
    operation(
        GET,
        HOOK,
        "verifyChannelHook",
        "Messaging channel",
        "Verify the webhook address for the provider",
    )
    .about("Returns `hub.challenge` as text if the token is that of the connection, otherwise 403.")
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
        "Receive notifications of the provider",
    )
    .about(
        "The body must be signed in `X-Hub-Signature-256`; a wrong signature is 401. 200 once all \
         items are stored. Repeated items are recognised for eight days.",
    )
    .access(Access::Signed)
    .raw_body(request::<Notified>)
    .answers(&[(200, Some(data::<NotificationTaken>))])
    .errors(&[codes::NOT_FOUND, codes::UNAUTHORIZED, codes::RATE_LIMITED, codes::INBOX_FULL]),
];
