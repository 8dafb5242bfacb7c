//! A message to be sent, and the result of its acceptance.

use domain::channel::{Content, Recipient, Source, Template};
use domain::ids::{Agent, Campaign, Chat, Id};
use domain::time::{SECOND, Timestamp};
use store::channel_messages::MessageRow;
use store::contacts::ContactRow;

use super::refusal::Refusal;
use crate::numbers::Number;

/// Lease of a claimed message: how long its sender has to store the outcome.
pub(crate) const LEASE: i64 = 120 * SECOND;

/// A message to be sent.
#[derive(Debug, Clone)]
pub struct New {
    pub source: Source,
    pub number: Number,
    /// The recipient's contact; `None` when one is to be added.
    pub contact: Option<ContactRow>,
    /// Where it is to go.
    pub to: Recipient,
    pub content: Content,
    pub template: Option<Template>,
    /// The provider's id of the message that it answers.
    pub reply_to: Option<String>,
    /// The chat that it belongs to.
    pub chat: Option<Id<Chat>>,
    /// The agent of the chat or the campaign.
    pub agent: Option<Id<Agent>>,
    /// The campaign that sends it.
    pub campaign: Option<Id<Campaign>>,
    /// An opt-in to be recorded with it.
    pub opt_in: Option<OptIn>,
    /// Whether the caller sends it itself, at once: [`Placed::Claimed`] if a slot is free.
    pub at_once: bool,
    /// Whether a refused message is stored as failed. Nothing is stored about an erased person, and no contact is
    /// added.
    pub keep_refused: bool,
}

/// A person's consent to marketing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OptIn {
    pub source: String,
    pub captured_at: Timestamp,
}

/// The result of accepting a message.
#[derive(Debug, Clone)]
pub enum Placed {
    /// Queued: a job sends it.
    Queued(Box<MessageRow>),
    /// The caller sends it after the commit, with [`crate::deliver::deliver`].
    Claimed(Box<Claim>),
    /// Refused, and stored as a failed message.
    Failed(Box<MessageRow>, Refusal),
    /// Refused; only the decision was logged.
    Refused(Refusal),
}

impl Placed {
    /// The message that was stored.
    pub fn message(&self) -> Option<&MessageRow> {
        match self {
            Self::Queued(row) | Self::Failed(row, _) => Some(row),
            Self::Claimed(claim) => Some(&claim.message),
            Self::Refused(_) => None,
        }
    }
}

/// The right to send a message to the provider, once.
#[derive(Debug, Clone)]
pub struct Claim {
    pub message: MessageRow,
    /// Where it goes out.
    pub number: Number,
    /// The moment of its slot.
    pub at: Timestamp,
}
