//! Messages of a chat that a room above delivers to the customer.

use domain::ids::{ChannelMessage, Chat, Id, User};
use domain::tenant::Tenant;
use serde_json::Value;

/// Who writes to the customer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writer {
    Agent,
    Teammate(Option<Id<User>>),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Words<'a> {
    Text(&'a str),
    /// A template of the messaging channel with its values.
    Template(&'a Value),
}

/// A message of a chat.
#[derive(Debug, Clone, Copy)]
pub struct ChatWords<'a> {
    pub tenant: Tenant,
    pub chat: Id<Chat>,
    pub writer: Writer,
    pub words: Words<'a>,
}

/// The result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Carried {
    /// It is queued; and its text in the transcript.
    Taken(Id<ChannelMessage>, String),
    /// The customer has not written for 24 hours.
    WindowClosed,
    /// The customer may not be written to any more.
    OptedOut,
    /// It cannot be sent, for this reason: a code.
    Refused(String),
}
