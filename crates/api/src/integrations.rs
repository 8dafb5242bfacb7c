//! Accounts of outside systems, which the operator connects (docs/contract/integrations.md).

use domain::ids::{self, Id};
use domain::integration::{Provider, PushedCalls, Status};
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

/// What an account is opened with; which fields are needed depends on the system. They are stored encrypted
/// and never shown again.
#[derive(JsonSchema)]
#[schemars(rename = "IntegrationCredentials", rename_all = "camelCase")]
#[allow(dead_code, reason = "only its schema is used")]
struct CredentialFields {
    /// Name of the shop: `acme` of `acme.myshopify.com`.
    #[schemars(length(max = 200))]
    shop: Option<String>,
    /// The application.
    #[schemars(length(max = 4096))]
    client_id: Option<String>,
    /// Its secret.
    #[schemars(length(max = 4096))]
    client_secret: Option<String>,
    /// What access tokens are renewed with.
    #[schemars(length(max = 4096))]
    refresh_token: Option<String>,
    /// An access token that does not expire.
    #[schemars(length(max = 4096))]
    access_token: Option<String>,
}

/// What is written back into the system.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IntegrationPush {
    /// Calls that somebody answered, or all that were dialled.
    #[schemars(extend("default" = "answered"))]
    pub calls: PushedCalls,
}

/// An account to be connected.
#[derive(Deserialize, JsonSchema)]
pub struct NewIntegration {
    /// The system.
    pub provider: Provider,
    /// What it is opened with.
    #[schemars(with = "CredentialFields")]
    pub credentials: Map<String, Value>,
    /// What is written back; null for nothing.
    #[schemars(extend("x-nullable" = true))]
    pub push: Option<IntegrationPush>,
}

/// What is to change of an integration.
#[derive(Deserialize, JsonSchema)]
pub struct IntegrationChange {
    /// Other credentials; they mend a broken integration.
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
    /// What a stream names as `integrationId`.
    pub id: Id<ids::Integration>,
    /// The system.
    pub provider: Provider,
    /// A broken one needs other credentials.
    pub status: Status,
    /// Why it is broken.
    pub last_error: Option<String>,
    /// What is written back; null for nothing.
    pub push: Option<IntegrationPush>,
    /// When it was made.
    pub created_at: Timestamp,
}

const PATH: &str = "/operator/v1/workspaces/{ws}/integrations";
const ONE: &str = "/operator/v1/workspaces/{ws}/integrations/{id}";

/// The rows of this noun.
pub const OPERATIONS: &[Operation] = &[
    operation(POST, PATH, "createIntegration", "Operator", "Connect an account of an outside system")
        .access(Access::Operator)
        .body(request::<NewIntegration>)
        .answers(&[(201, Some(data::<Integration>))])
        .errors(&[CONFLICT]),
    operation(GET, PATH, "listIntegrations", "Operator", "Connected accounts, newest first")
        .access(Access::Operator)
        .answers(&[(200, Some(list::<Integration>))]),
    operation(
        PUT,
        ONE,
        "updateIntegration",
        "Operator",
        "Replace the credentials of an account, or change what is written back",
    )
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
    .access(Access::Operator)
    .answers(&[(200, Some(data::<Deleted>))])
    .errors(&[CONFLICT]),
];
