//! Accounts of outside systems, which the operator connects (docs/contract/integrations.md).

use domain::ids::{self, Id};
use domain::integration::{Provider, PushedCalls, Status};
use domain::tenant::Role;
use domain::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::envelope::Deleted;
use crate::error_codes::CONFLICT;
use crate::operation::Method::{DELETE, GET, POST, PUT};
use crate::operation::{Access, Operation, operation};
use crate::schema::{data, list, request};

/// Most integrations of a workspace.
pub const MOST: i64 = 100;

/// Credentials of an account; the system decides which fields are required. Stored encrypted and never shown.
#[derive(JsonSchema)]
#[schemars(rename = "IntegrationCredentials", rename_all = "camelCase")]
#[allow(dead_code, reason = "only its schema is used")]
struct CredentialFields {
    /// For `shopify`: name of the shop, `acme` of `acme.myshopify.com`.
    #[schemars(length(max = 200))]
    shop: Option<String>,
    /// OAuth client id of the application.
    #[schemars(length(max = 4096))]
    client_id: Option<String>,
    /// OAuth client secret of the application.
    #[schemars(length(max = 4096))]
    client_secret: Option<String>,
    /// OAuth refresh token, with which access tokens are fetched.
    #[schemars(length(max = 4096))]
    refresh_token: Option<String>,
    /// Access token that does not expire, in place of the OAuth fields; for `hubspot` and `shopify`.
    #[schemars(length(max = 4096))]
    access_token: Option<String>,
}

/// What is written back to the connected system.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IntegrationPush {
    /// `answered`: calls that were answered; `all`: also those that were not.
    #[schemars(extend("default" = "answered"))]
    pub calls: PushedCalls,
}

/// The request to connect an account of an external system.
#[derive(Deserialize, JsonSchema)]
pub struct NewIntegration {
    /// The system that the account belongs to.
    pub provider: Provider,
    /// Credentials of the account; they depend on the provider. Stored encrypted and never shown.
    #[schemars(with = "CredentialFields")]
    pub credentials: Map<String, Value>,
    /// What is written back to the system; null for nothing.
    #[schemars(extend("x-nullable" = true))]
    pub push: Option<IntegrationPush>,
}

/// A change of an integration: at least one of the two fields.
#[derive(Deserialize, JsonSchema)]
pub struct IntegrationChange {
    /// Other credentials; they make a broken integration `active` again. Stored encrypted and never shown.
    #[schemars(with = "Option<CredentialFields>")]
    pub credentials: Option<Map<String, Value>>,
    /// What is written back from now on; null for nothing.
    #[serde(default, deserialize_with = "crate::schema::given")]
    #[schemars(!default, extend("x-nullable" = true))]
    pub push: Option<Option<IntegrationPush>>,
}

/// A connected account, without its credentials.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Integration {
    /// Id of the integration; a data stream has it in `integrationId`.
    pub id: Id<ids::Integration>,
    /// The system that the account belongs to.
    pub provider: Provider,
    /// `active`, or `broken` until it gets other credentials.
    pub status: Status,
    /// Why the integration is broken, for people; null if it is not.
    pub last_error: Option<String>,
    /// What is written back to the system; null for nothing.
    pub push: Option<IntegrationPush>,
    /// When the integration was created.
    pub created_at: Timestamp,
}

const PATH: &str = "/operator/v1/workspaces/{ws}/integrations";
const ONE: &str = "/operator/v1/workspaces/{ws}/integrations/{id}";

/// The rows of this noun.
pub const OPERATIONS: &[Operation] = &[
    operation(POST, PATH, "createIntegration", "Operator", "Connect an account of an outside system")
        .role(Role::Admin)
        .access(Access::Operator)
        .body(request::<NewIntegration>)
        .answers(&[(201, Some(data::<Integration>))])
        .errors(&[CONFLICT]),
    operation(GET, PATH, "listIntegrations", "Operator", "Connected accounts, newest first")
        .role(Role::Editor)
        .access(Access::Operator)
        .answers(&[(200, Some(list::<Integration>))]),
    operation(
        PUT,
        ONE,
        "updateIntegration",
        "Operator",
        "Replace the credentials of an account, or change what is written back",
    )
    .role(Role::Admin)
    .access(Access::Operator)
    .body(request::<IntegrationChange>)
    .answers(&[(200, Some(data::<Integration>))]),
    operation(
        DELETE,
        ONE,
        "deleteIntegration",
        "Operator",
        "Disconnect an account that no stream reads with",
    )
    .role(Role::Admin)
    .access(Access::Operator)
    .answers(&[(200, Some(data::<Deleted>))])
    .errors(&[CONFLICT]),
];
