//! A message in the form of the API, in responses and in events (docs/contract/channel-messages.md#message).

use api::channel_messages::{
    ChannelMessage, MessageError, MessageMedia, MessageStatuses, MessageTemplate, SentChannelMessage,
};
use domain::channel::notification::ReceivedContent;
use domain::channel::{Content, Direction, MessageStatus};
use domain::ids::{self, Id};
use serde_json::{Map, Value, json};
use store::channel_messages::MessageRow;

/// A message in the form of the API.
pub fn of(row: &MessageRow, external_ref: Option<String>) -> ChannelMessage {
    let outbound = row.direction == Direction::Outbound;
    let business = Some(row.business.to_string());
    let (from, to) =
        if outbound { (business, row.customer.clone()) } else { (row.customer.clone(), business) };
    let text_of = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    let mut content = content(row);
    let mut part = |name: &str| match content.as_mut().and_then(|content| content.remove(name)) {
        Some(Value::Object(part)) => Some(part),
        _ => None,
    };
    let (reaction, interactive, location) = (part("reaction"), part("interactive"), part("location"));
    ChannelMessage {
        message_id: row.id,
        provider_message_id: row.provider_id.clone(),
        chat_id: row.chat,
        thread_id: row.thread,
        agent_id: row.agent,
        contact_id: row.contact,
        external_ref,
        direction: row.direction,
        source: row.source,
        r#type: row.kind.clone(),
        text: row.words.clone(),
        template: row.template.as_ref().map(|template| MessageTemplate {
            id: text_of(template, "id").map(shown_id),
            name: text_of(template, "name").unwrap_or_default(),
            language: text_of(template, "language").unwrap_or_default(),
            category: text_of(template, "category"),
        }),
        media: row.media.as_ref().map(|media| MessageMedia {
            r#type: text_of(media, "type").unwrap_or_default(),
            mime_type: text_of(media, "mimeType"),
            message_id: row.id,
            available: row.media_object.is_some() && row.status != MessageStatus::Deleted,
        }),
        from,
        to,
        customer_user_id: row.customer_user_id.clone(),
        customer_username: row.customer_username.clone(),
        phone_number_id: row.phone_number_id.clone(),
        status: row.status,
        timestamp: row.created_at,
        statuses: MessageStatuses {
            sent_at: row.times.sent,
            delivered_at: row.times.delivered,
            read_at: row.times.read,
            failed_at: row.times.failed,
        },
        error: row.error.as_ref().map(|(code, title, detail)| MessageError {
            code: *code,
            title: title.clone(),
            detail: detail.clone(),
        }),
        reply_to: row.reply_to.clone(),
        reaction,
        interactive,
        location,
        content: content.filter(|content| !content.is_empty()),
    }
}

/// The id of a template as clients see it: rows have the one under which it is stored.
fn shown_id(stored: String) -> String {
    stored.parse::<Id<ids::ChannelTemplate>>().map_or(stored, |id| id.to_string())
}

/// What a message says beside its text: what was tapped, a place, cards, a reaction. It has the channel's own form
/// where there is no form of ours.
fn content(row: &MessageRow) -> Option<Map<String, Value>> {
    let stored = row.content.clone()?;
    let shown = match row.direction {
        Direction::Outbound => match serde_json::from_value::<Content>(stored).ok()? {
            Content::Interactive(interactive) => json!({"interactive": interactive}),
            Content::Location(location) => json!({"location": location}),
            Content::Reaction { message, emoji } => {
                json!({"reaction": {"messageId": message, "emoji": emoji}})
            }
            Content::Contacts(cards) => json!({"contacts": cards}),
            Content::Template(_) | Content::Text(_) | Content::Media(_) => return None,
        },
        Direction::Inbound => match serde_json::from_value::<ReceivedContent>(stored).ok()? {
            ReceivedContent::Location { place, url } => json!({"location": place, "url": url}),
            ReceivedContent::Contacts { cards } => json!({"contacts": cards}),
            ReceivedContent::Button { payload, text } => {
                json!({"button": {"payload": payload, "text": text}})
            }
            ReceivedContent::Reply { id, title, description, list } => {
                json!({"interactive": {"type": if list { "list_reply" } else { "button_reply" }, "id": id, "title": title, "description": description}})
            }
            ReceivedContent::Form { name, body, response } => {
                json!({"interactive": {"type": "form_reply", "name": name, "body": body, "response": response}})
            }
            ReceivedContent::Reaction { message, emoji } => {
                json!({"reaction": {"messageId": message, "emoji": emoji}})
            }
            ReceivedContent::Order { order } => json!({"order": order}),
            ReceivedContent::Media(media) => json!({"filename": media.filename, "voice": media.voice}),
            ReceivedContent::Unsupported { what } => json!({"unsupported": what}),
            ReceivedContent::Text { .. }
            | ReceivedContent::System { .. }
            | ReceivedContent::Edit { .. }
            | ReceivedContent::Revoke { .. } => return None,
        },
    };
    match shown {
        Value::Object(shown) => Some(shown),
        _ => None,
    }
}

/// A message in a response, with the mode of the key.
pub fn sent(row: &MessageRow, external_ref: Option<String>, livemode: bool) -> SentChannelMessage {
    SentChannelMessage { message: of(row, external_ref), livemode }
}
