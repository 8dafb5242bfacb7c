//! What a customer's message may be stored as: without card numbers, OTPs and their like where the agent redacts, and
//! with a mark in place of the answer to a secret question (docs/chats.md#what-is-not-kept).

use app::{App, Failure, agents};
use domain::channel::notification::{Received, ReceivedContent};
use domain::chat::State;
use domain::conversation::redaction;
use domain::ids::{Contact, Id};
use serde_json::Value;
use store::chats::ChatRow;
use store::{TenantTx, agents as store_agents, channel_conversations, chats as store_chats};

use crate::numbers::Number;

/// Who reads what the customer writes on a number.
enum Reader {
    Chat(Box<ChatRow>),
    /// An agent that redacts, with its language: the message opens a chat with it.
    Redacting(String),
    Nobody,
}

impl Reader {
    fn of(tx: &mut TenantTx, number: &Number, contact: Id<Contact>) -> Result<Self, Failure> {
        if let Some(id) = channel_conversations::open_chat(tx, number.id, contact)?
            && let Some(row) = store_chats::get(tx, id)?.filter(|row| row.state != State::Ended)
        {
            return Ok(Self::Chat(Box::new(row)));
        }
        let agent = match number.agent {
            Some(agent) => store_agents::get(tx, agent)?,
            None => None,
        };
        Ok(match agent.filter(agents::redacts) {
            Some(agent) => Self::Redacting(agent.language),
            None => Self::Nobody,
        })
    }

    /// What stands in the place of a text, if it may not be stored as it is.
    fn mark(&self, text: &str) -> Option<String> {
        match self {
            Self::Chat(row) => chats::unkept::of_customer(row, text),
            Self::Redacting(language) => Some(redaction::text(text, language)).filter(|shown| shown != text),
            Self::Nobody => None,
        }
    }

    fn mark_in_place(&self, text: &mut String) {
        if let Some(shown) = self.mark(text) {
            *text = shown;
        }
    }

    /// Every text and number in a form that the customer filled in.
    fn mark_within(&self, value: &mut Value) {
        match value {
            Value::String(text) => self.mark_in_place(text),
            Value::Number(number) => {
                if let Some(shown) = self.mark(&number.to_string()) {
                    *value = shown.into();
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.mark_within(item)),
            Value::Object(map) => map.values_mut().for_each(|item| self.mark_within(item)),
            Value::Null | Value::Bool(_) => {}
        }
    }
}

/// A message as it is stored and shown. The words of a text are remembered for the agent's reply to it.
pub(crate) fn shown(
    app: &App,
    tx: &mut TenantTx,
    number: &Number,
    contact: Id<Contact>,
    received: &Received,
) -> Result<Received, Failure> {
    let mut shown = received.clone();
    let says = match &shown.what {
        ReceivedContent::Text { .. } | ReceivedContent::Form { .. } => true,
        ReceivedContent::Media(media) => media.caption.is_some(),
        _ => false,
    };
    if !says {
        return Ok(shown);
    }
    let reader = Reader::of(tx, number, contact)?;
    match &mut shown.what {
        ReceivedContent::Text { body } => {
            let written = body.clone();
            reader.mark_in_place(body);
            if let (Reader::Chat(row), true) = (&reader, *body != written) {
                chats::unkept::remember(app, tx, row.id, body.trim(), written.trim());
            }
        }
        ReceivedContent::Media(media) => media.caption.iter_mut().for_each(|text| reader.mark_in_place(text)),
        ReceivedContent::Form { body, response, .. } => {
            body.iter_mut().for_each(|text| reader.mark_in_place(text));
            reader.mark_within(response);
        }
        _ => {}
    }
    Ok(shown)
}

/// A text of a customer as it is stored.
pub(crate) fn shown_text(
    tx: &mut TenantTx,
    number: &Number,
    contact: Id<Contact>,
    text: &str,
) -> Result<String, Failure> {
    let reader = Reader::of(tx, number, contact)?;
    Ok(reader.mark(text).unwrap_or_else(|| text.to_owned()))
}
