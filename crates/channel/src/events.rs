//! What happens to messages, numbers, templates and the account, as the parts of this crate observe it within the same
//! transaction. Webhook events are another matter: `messages::dispatch` and `numbers::emit` write those.

use domain::channel::consent::StopWord;
use domain::channel::notification::Received;
use domain::channel::{MessageStatus, Template};
use domain::ids::{ChannelNumber, Id};
use store::channel_messages::MessageRow;

/// A message that was stored, or whose status changed.
#[derive(Debug, Clone, Copy)]
pub struct MessageEvent<'a> {
    /// The message as it is now.
    pub message: &'a MessageRow,
    /// Its former status; `None` for a new one.
    pub before: Option<MessageStatus>,
    /// The notification of a customer's message.
    pub received: Option<&'a Received>,
    /// The stop word in a customer's message.
    pub stop_word: Option<StopWord>,
    /// Whether the sender may not be written to.
    pub barred: bool,
}

/// An event of a template, a number or the account.
#[derive(Debug, Clone, Copy)]
pub enum AccountEvent<'a> {
    /// A template changed at the provider.
    Template {
        template: &'a Template,
        /// Whether it was recategorised as marketing.
        became_marketing: bool,
    },
    /// The quality of a number changed.
    Quality { number: Id<ChannelNumber>, quality: &'a str },
    /// A number cannot send: it was removed from the account, or banned.
    NumberGone(Id<ChannelNumber>),
    /// The provider restricted the account, or lifted a restriction.
    Restricted(bool),
    /// The provider rejects the access token, or accepts it again.
    Token { accepted: bool },
    /// The account was disconnected.
    Disconnected,
}
