//! The port of messaging providers.

use serde_json::Value;

use super::content::Outgoing;
use super::errors::ProviderError;
use super::template::NewTemplate;
use crate::ids::{ChannelConnection, Id};
use crate::ports::Answer;
use crate::secret::Secret;
use crate::tenant::Tenant;

closed_sets::words! {
    /// The provider of a connection.
    pub enum ProviderKind {
        /// The provider's Cloud API.
        Cloud = "cloud",
        /// A simulation: no message leaves, and delivery is simulated.
        Sandbox = "sandbox",
    }
}

closed_sets::words! {
    /// Whether a connection can be used.
    pub enum ConnectionStatus {
        Connected = "connected",
        /// The provider rejects the access token.
        TokenInvalid = "token_invalid",
    }
}

/// A business account, and its credentials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    pub connection: Id<ChannelConnection>,
    pub tenant: Tenant,
    /// Who carries its messages.
    pub provider: ProviderKind,
    /// Its id at the provider.
    pub business_account: String,
    /// The provider's id of the app, which header samples need.
    pub app: Option<String>,
    pub token: Secret,
    /// Version of the credentials: incremented with every change.
    pub version: i64,
}

/// The outcome of sending a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sent {
    /// The provider has it.
    Accepted {
        /// Its id of the message.
        provider_id: String,
    },
    /// The provider refused it; a retry would be refused again.
    Refused(ProviderError),
    /// It was certainly not sent: throttled, or no connection. It may be retried.
    Later(ProviderError),
    /// The answer was lost or is unclear: it may have been sent, and must never be sent again.
    Unknown,
}

/// Why a request other than sending a message failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    Refused(ProviderError),
    /// Throttled, or not reachable.
    Later(ProviderError),
    /// No answer, or an invalid one.
    Unclear(String),
}

impl Fault {
    pub fn refusal(&self) -> Option<&ProviderError> {
        match self {
            Self::Refused(error) | Self::Later(error) => Some(error),
            Self::Unclear(_) => None,
        }
    }

    /// The message.
    pub fn said(&self) -> &str {
        match self {
            Self::Refused(error) | Self::Later(error) => &error.detail,
            Self::Unclear(said) => said,
        }
    }
}

/// Whether a number with this status at the provider can send. Unknown words count as able.
pub fn can_send(status: &str) -> bool {
    !matches!(status, "DISCONNECTED" | "BANNED" | "DELETED" | "MIGRATED")
}

/// A business number as the provider describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NumberState {
    /// The provider's id of it.
    pub phone_number_id: String,
    /// The number as it is shown.
    pub display_number: String,
    /// The name that customers see.
    pub verified_name: Option<String>,
    /// `GREEN`, `YELLOW`, `RED`, or a word for not known.
    pub quality: Option<String>,
    /// The provider's word for the messaging limit.
    pub tier: Option<String>,
    /// The provider's word for its state: `CONNECTED`.
    pub status: Option<String>,
    /// Whether it may send as fast as numbers of the high class.
    pub high_rate: bool,
}

/// A template as the provider lists it.
#[derive(Debug, Clone, PartialEq)]
pub struct TemplateState {
    /// The provider's id of it.
    pub provider_id: String,
    pub name: String,
    pub language: String,
    pub category: String,
    /// The category that it is about to get.
    pub correct_category: Option<String>,
    pub status: String,
    /// Its components, in the channel's own form.
    pub components: Vec<Value>,
    /// `NAMED` or `POSITIONAL`.
    pub parameter_format: Option<String>,
    /// `GREEN`, `YELLOW`, `RED` or `UNKNOWN`.
    pub quality: Option<String>,
    /// Why it was rejected.
    pub rejected_reason: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct TemplatePage {
    pub templates: Vec<TemplateState>,
    /// Where the next page begins.
    pub next: Option<String>,
}

/// The result of creating a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreatedTemplate {
    /// The provider's id of it.
    pub provider_id: String,
    pub status: String,
    /// The provider's word; it may differ from the one that was asked for.
    pub category: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchedMedia {
    pub mime_type: String,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// A file that shows what a template's header may hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    pub name: String,
    pub mime_type: String,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// A provider of messages. No method waits longer than its deadline, and none is called in a transaction.
pub trait Provider: Send + Sync {
    /// Sends a message from a number.
    fn send<'a>(&'a self, account: &'a Account, from: &'a str, outgoing: &'a Outgoing) -> Answer<'a, Sent>;

    /// Received media, at most so many bytes.
    fn fetch_media<'a>(
        &'a self,
        account: &'a Account,
        from: &'a str,
        media: &'a str,
        most: usize,
    ) -> Answer<'a, Result<FetchedMedia, Fault>>;

    /// Uploads a file to be sent; the provider's id of it.
    fn upload_media<'a>(
        &'a self,
        account: &'a Account,
        from: &'a str,
        file: &'a Sample,
    ) -> Answer<'a, Result<String, Fault>>;

    /// Whether the credentials open the account.
    fn check_credentials<'a>(&'a self, account: &'a Account) -> Answer<'a, Result<(), Fault>>;

    /// Asks for the account's notifications.
    fn subscribe<'a>(
        &'a self,
        account: &'a Account,
        callback: &'a str,
        verify_token: &'a str,
    ) -> Answer<'a, Result<(), Fault>>;

    /// The numbers of the account.
    fn numbers<'a>(&'a self, account: &'a Account) -> Answer<'a, Result<Vec<NumberState>, Fault>>;

    /// A page of the account's templates, from the beginning or from where the last one ended.
    fn templates<'a>(
        &'a self,
        account: &'a Account,
        after: Option<&'a str>,
    ) -> Answer<'a, Result<TemplatePage, Fault>>;

    /// Hands a new template in.
    fn create_template<'a>(
        &'a self,
        account: &'a Account,
        template: &'a NewTemplate,
    ) -> Answer<'a, Result<CreatedTemplate, Fault>>;

    /// Changes a template's components or category.
    fn edit_template<'a>(
        &'a self,
        account: &'a Account,
        template: &'a str,
        components: Option<&'a [Value]>,
        category: Option<&'a str>,
    ) -> Answer<'a, Result<(), Fault>>;

    /// Deletes one language of a template.
    fn delete_template<'a>(
        &'a self,
        account: &'a Account,
        name: &'a str,
        template: &'a str,
    ) -> Answer<'a, Result<(), Fault>>;

    /// Uploads a sample for a template's header; the handle that a new template names.
    fn upload_sample<'a>(
        &'a self,
        account: &'a Account,
        sample: &'a Sample,
    ) -> Answer<'a, Result<String, Fault>>;
}
