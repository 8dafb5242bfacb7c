//! The result of one try to write a reply: the text, the state of the conversation after it, or why there is no reply.

use app::Failure;
use domain::chat::Role as ChatRole;
use domain::conversation::{EdgeVisits, EndCause, Input, Role};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use store::chats::MessageRow;

/// Why a try ended without a reply.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// The model did not answer; whether a retry may succeed.
    Model {
        again: bool,
    },
    /// It took too long.
    Late,
    /// A file of it can be neither fetched nor stored now.
    Unavailable,
    /// The lease was lost: another try writes the reply, or nobody may.
    Gone,
    Store(Failure),
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        Self::Store(failure)
    }
}

/// What follows the text of a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Then {
    Wait,
    /// A person, requested by the flow or the model.
    Person,
    End {
        outcome: Option<String>,
        cause: EndCause,
    },
}

/// A reply that is ready to be stored.
#[derive(Debug)]
pub(crate) struct Written {
    /// The state of the conversation, JSON.
    pub state: String,
    /// What was captured so far.
    pub extracted: Map<String, Value>,
    /// The edges of the flow that it took so far, each with how often.
    pub path: Vec<EdgeVisits>,
    /// The language of the conversation now.
    pub language: String,
    /// What the agent says.
    pub words: Vec<Line>,
    /// Whether it waits for the answer to a secret question.
    pub awaits_secret: bool,
    /// The newest message that the conversation contains.
    pub heard: i64,
    /// What comes after them.
    pub then: Then,
}

/// A piece of a reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Line {
    Words(String),
    /// A template of the messaging channel.
    Template {
        template: Value,
    },
}

pub(crate) fn noted(message: &MessageRow) -> Input {
    let role = if message.role == ChatRole::User { Role::Customer } else { Role::Agent };
    Input::Noted { role, text: message.text.clone() }
}

/// The words of messages that came one after the other.
pub(crate) fn joined(messages: &[&MessageRow]) -> String {
    messages.iter().map(|message| message.text.as_str()).collect::<Vec<_>>().join("\n")
}

/// Separates earlier messages from the customer's messages that the agent answers. On the messaging channel these are
/// all unanswered ones: a person who had the chat, up to `given_back`, answered the earlier ones, but messages of the
/// team that bypass the agent answer nothing. Over the API each message has its reply, so older ones were for somebody
/// else.
pub(crate) fn parted(
    unheard: &[MessageRow],
    on_channel: bool,
    given_back: i64,
) -> (Vec<&MessageRow>, Vec<&MessageRow>) {
    let answered = |message: &MessageRow| message.role != ChatRole::User && message.seq <= given_back;
    let open = match on_channel {
        true => unheard.iter().rposition(answered).map_or(0, |at| at + 1),
        false => unheard.len().saturating_sub(1),
    };
    let (before, after) = unheard.split_at(open);
    let of_customer = |message: &&MessageRow| !on_channel || message.role == ChatRole::User;
    let (last, past): (Vec<_>, Vec<_>) = after.iter().partition(of_customer);
    (before.iter().chain(past).collect(), last)
}
