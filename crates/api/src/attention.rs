//! States that need a person (docs/contract/live.md#attention).

use domain::tenant::Role;
use domain::time::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::operation::Method::GET;
use crate::operation::{Access, Operation, operation};
use crate::schema::list;

/// A state that needs a person, in the order of their harm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AttentionKind {
    /// The last verification found a chain of the decision log broken.
    LogBroken,
    /// The wallet does not cover a minute.
    WalletExhausted,
    /// Chats wait for a person.
    ChatsWaiting,
    /// A connected system rejects the credentials.
    IntegrationBroken,
    /// A business number on the messaging channel cannot send.
    NumberDisconnected,
    /// The newest deliveries to a webhook endpoint failed.
    WebhookFailing,
    /// The service has paused a campaign.
    CampaignPaused,
    /// Failures of the other side have stopped a data stream.
    StreamStopped,
    /// Cards of boards wait for a decision.
    CardsToReview,
    /// The provider has rejected a template.
    TemplateRejected,
    /// The wallet is below its threshold.
    WalletLow,
}

/// The object that needs a person.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AttentionSubject {
    /// The kind of object: `board`, `campaign`, `channel_number`, `chat`, `data_stream`, `decision_log`,
    /// `integration`, `template`, `wallet` or `webhook_endpoint`.
    pub r#type: &'static str,
    /// Id of the object; null for the wallet and the log. Of several objects it is the one that has waited longest.
    pub id: Option<String>,
    /// Its name for people; null without one.
    pub name: Option<String>,
}

/// What a person can do about a state.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AttentionAction {
    /// Take the oldest chat over.
    Answer,
    /// Verify the log, and read what the verification says.
    Verify,
    /// Top the wallet up.
    TopUp,
    /// Connect the account or number again.
    Reconnect,
    /// Look at the deliveries, and replay them.
    LookAtDeliveries,
    /// Resume the campaign, once its cause is gone.
    Resume,
    /// Make the stream active again.
    Activate,
    /// Judge the cards.
    Review,
    /// Change the template, and submit it again.
    Edit,
}

/// A state of the workspace that needs a person, with its object and what to do.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AttentionItem {
    /// Which state it is, as a word.
    pub kind: AttentionKind,
    /// Since when; null where that is not known.
    pub since: Option<Timestamp>,
    /// How many objects are in it, at most 1,000; of an endpoint the failures in a row, at most 20.
    pub count: i64,
    /// What it is about.
    pub subject: AttentionSubject,
    /// The cause in a word of its noun, such as the `pausedReason` of a campaign; null without one.
    pub cause: Option<String>,
    /// What a person can do about it, as a word.
    pub action: AttentionAction,
}

/// The rows of this noun.
pub const OPERATIONS: &[Operation] = &[operation(
    GET,
    "/v1/attention",
    "listAttention",
    "Console",
    "States of the workspace that need a person, the most harmful first",
)
.about(
    "Read from what is stored now: a state that is gone is not in the list. At most 20 objects of each kind. Test mode has \
     no chats, cards, campaigns and wallet.",
)
.access(Access::Member)
.role(Role::Viewer)
.answers(&[(200, Some(list::<AttentionItem>))])];
