//! What goes on from messages: who hears of each one that is stored and of each change of its status, in the same
//! transaction (docs/contract/channel-messages.md#events).

use app::{App, Failure};
use domain::channel::MessageStatus;
use domain::channel::consent::Wish;
use domain::channel::notification::Received;
use store::Tx;
use store::channel_messages::MessageRow;

/// A message that was stored, or that moved on.
#[derive(Debug, Clone, Copy)]
pub struct MessageFact<'a> {
    /// The message as it is now.
    pub message: &'a MessageRow,
    /// Its status before; none for one that is new.
    pub before: Option<MessageStatus>,
    /// What came, for a message of a customer.
    pub received: Option<&'a Received>,
    /// What a customer's words mean for messages and calls.
    pub wish: Option<Wish>,
    /// Whether a customer who wrote may not be written to.
    pub barred: bool,
}

/// Who hears of messages. A follower may run again with its transaction, so it has no other effects.
pub type Follower = fn(&App, &mut Tx<'_>, &MessageFact<'_>) -> Result<(), Failure>;

/// Everybody who does, in this order.
const FOLLOWERS: &[Follower] = &[crate::conversations::heard, crate::campaigns::outcomes::heard];

pub(crate) fn tell(app: &App, tx: &mut Tx<'_>, fact: &MessageFact<'_>) -> Result<(), Failure> {
    FOLLOWERS.iter().try_for_each(|follower| follower(app, tx, fact))
}
