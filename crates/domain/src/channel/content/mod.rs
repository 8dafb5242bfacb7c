//! The content of a message, and the limits of the channel (docs/contract/channel.md#content), which `checks` validates.

mod checks;

pub(in crate::channel) use checks::{https, needed};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ids::{ChannelMessage, Id};
use crate::phone::E164;

/// Longest text of a message, in characters.
pub const MAX_TEXT: usize = 4_096;
/// Longest caption, in characters.
pub const MAX_CAPTION: usize = 1_024;
/// Longest name of a file, in characters.
pub const MAX_FILENAME: usize = 240;
/// Longest address of media or of a button.
pub const MAX_URL: usize = 2_000;
/// Longest header and footer of an interactive message.
pub const MAX_HEADER: usize = 60;
/// Longest body of a message with buttons.
pub const MAX_BODY: usize = 1_024;
/// Longest title of a button, and text of a list's or a link's button.
pub const MAX_BUTTON: usize = 20;
/// Longest id of a button.
pub const MAX_BUTTON_ID: usize = 256;
/// Longest id of a row.
pub const MAX_ROW_ID: usize = 200;
/// Longest title of a row or a section.
pub const MAX_ROW: usize = 24;
/// Longest description of a row.
pub const MAX_DESCRIPTION: usize = 72;
/// Most sections of a list, and most rows in all of them.
pub const MAX_ROWS: usize = 10;
/// Longest name or address of a place.
pub const MAX_PLACE: usize = 1_000;
/// Longest id of a customer on the channel.
pub const MAX_USER_ID: usize = 150;
/// Longest id of a message at a provider.
pub const MAX_PROVIDER_ID: usize = 512;
/// Longest emoji, in characters: most are one, those of several people are up to ten.
pub const MAX_EMOJI: usize = 16;
/// Most cards of contacts in a message.
pub const MAX_CONTACTS: usize = 20;

/// The recipient of a message.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Recipient {
    Phone(E164),
    /// The id of a customer who hides the number: `IN.4711…`.
    UserId(String),
}

impl Recipient {
    /// Parses an international number or a customer's id on the channel; `None` when it is neither.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if is_user_id(text) {
            return Some(Self::UserId(text.to_owned()));
        }
        E164::parse(text).ok().map(Self::Phone)
    }

    /// The same in the notation of a request: digits alone must have a country code ([`E164::written`]).
    pub fn written(text: &str) -> Option<Self> {
        match Self::parse(text)? {
            Self::Phone(_) => E164::written(text.trim()).ok().map(Self::Phone),
            id @ Self::UserId(_) => Some(id),
        }
    }

    /// Its canonical text: `+91…` or the id.
    pub fn text(&self) -> String {
        match self {
            Self::Phone(number) => number.to_string(),
            Self::UserId(id) => id.clone(),
        }
    }
}

/// Whether a text has the form of a customer's id: letters (those of a country, or a word such as `user`), a dot, and
/// letters and digits, which linked accounts divide once more (`IN.ENT.…`).
pub fn is_user_id(text: &str) -> bool {
    let Some((first, rest)) = text.split_once('.') else { return false };
    (2..=20).contains(&first.len())
        && first.bytes().all(|byte| byte.is_ascii_alphabetic())
        && text.len() <= MAX_USER_ID
        && !rest.is_empty()
        && rest
            .split('.')
            .all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

/// Whether a text can be the id of a sender: any that the provider might give. Its messages are stored, also if it
/// cannot be a recipient ([`is_user_id`]).
pub fn is_sender_id(text: &str) -> bool {
    (1..=MAX_USER_ID).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_graphic())
        && text.bytes().any(|byte| byte.is_ascii_alphabetic())
}

closed_sets::words! {
    /// The channel's type of a file.
    pub enum MediaKind {
        /// JPEG or PNG.
        Image = "image",
        /// MP4 or 3GP.
        Video = "video",
        /// AAC, AMR, MP3, M4A, or OGG with Opus.
        Audio = "audio",
        /// Any other file.
        Document = "document",
        /// A sticker, only ever received.
        Sticker = "sticker",
    }
}

impl MediaKind {
    /// Largest file that the channel accepts, bytes.
    pub fn max_bytes(self) -> u64 {
        match self {
            Self::Image => 5 << 20,
            Self::Video | Self::Audio => 16 << 20,
            Self::Document => 100 << 20,
            Self::Sticker => 500 << 10,
        }
    }
}

/// Where the bytes are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum MediaSource {
    /// An address that the provider fetches itself.
    Link(String),
    /// The provider's own id.
    Id(String),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Media {
    pub kind: MediaKind,
    pub source: MediaSource,
    pub caption: Option<String>,
    /// Its name, which the channel shows for a document and rejects for other types.
    pub filename: Option<String>,
}

/// A button that a customer taps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Button {
    /// What comes back when it is tapped.
    pub id: String,
    pub title: String,
}

/// A row of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListRow {
    /// What comes back when it is chosen.
    pub id: String,
    pub title: String,
    /// A line below.
    pub description: Option<String>,
}

/// A part of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListSection {
    /// Needed when there is more than one section.
    pub title: Option<String>,
    pub rows: Vec<ListRow>,
}

/// What an interactive message asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Ask {
    /// One of up to three buttons.
    Buttons { buttons: Vec<Button> },
    /// One row of a list.
    List {
        /// What opens the list.
        button: String,
        sections: Vec<ListSection>,
    },
    /// A tap that opens an address.
    CtaUrl {
        /// What the button shows.
        #[serde(rename = "displayText")]
        display_text: String,
        url: String,
    },
}

/// A message with something to tap.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interactive {
    /// A line above.
    pub header: Option<String>,
    pub body: String,
    /// A line below.
    pub footer: Option<String>,
    /// What can be tapped.
    #[serde(flatten)]
    pub ask: Ask,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Location {
    pub latitude: f64,
    pub longitude: f64,
    pub name: Option<String>,
    pub address: Option<String>,
}

/// A template with its values, in the channel's format.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FilledTemplate {
    pub name: String,
    pub language: String,
    /// Its components that have values, in the channel's own form.
    pub components: Vec<Value>,
}

/// The content of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", content = "content", rename_all = "snake_case")]
pub enum Content {
    Template(FilledTemplate),
    Text(String),
    Media(Media),
    /// Something to tap.
    Interactive(Interactive),
    Location(Location),
    /// A reaction to a message.
    Reaction {
        /// The provider's id of the message.
        message: String,
        /// Empty takes the reaction back.
        emoji: String,
    },
    /// Cards of contacts, in the channel's own form.
    Contacts(Vec<Value>),
}

/// What is wrong with a message: the field, and words that go on after its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misfit {
    /// Where: `interactive.buttons[2].title`.
    pub field: String,
    /// What it must be.
    pub must: String,
}

impl Misfit {
    pub(super) fn new(field: impl Into<String>, must: impl Into<String>) -> Self {
        Self { field: field.into(), must: must.into() }
    }
}

impl Content {
    /// The word of the message's `type`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Template(_) => "template",
            Self::Text(_) => "text",
            Self::Media(media) => media.kind.as_str(),
            Self::Interactive(_) => "interactive",
            Self::Location(_) => "location",
            Self::Reaction { .. } => "reaction",
            Self::Contacts(_) => "contacts",
        }
    }

    /// Whether it may be sent outside the customer's 24 hours.
    pub fn is_template(&self) -> bool {
        matches!(self, Self::Template(_))
    }

    /// Its text, for the record; for a template see [`super::Template::words`].
    pub fn words(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Media(media) => media.caption.as_deref(),
            Self::Interactive(interactive) => Some(&interactive.body),
            Self::Reaction { emoji, .. } => Some(emoji),
            Self::Template(_) | Self::Location(_) | Self::Contacts(_) => None,
        }
    }
}

/// A message on its way to a provider.
#[derive(Debug, Clone, PartialEq)]
pub struct Outgoing {
    /// Our id of it. The provider returns it with each status, so that a message whose answer was lost is found again.
    pub message: Id<ChannelMessage>,
    /// Whom it is for.
    pub to: Recipient,
    pub content: Content,
    /// The provider's id of the message that it answers.
    pub reply_to: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recipients_are_numbers_or_ids() {
        let number = E164::parse("919812345678").unwrap();
        for text in ["+919812345678", "919812345678", " +91 98123 45678"] {
            assert_eq!(Recipient::parse(text), Some(Recipient::Phone(number)), "{text}");
        }
        for id in ["IN.4711000111222333", "IN.ENT.99abc", "user.93737a8c1e"] {
            assert_eq!(Recipient::parse(id), Some(Recipient::UserId(id.into())), "{id}");
        }
        for text in ["", "12", "I.4711", "91.4711", "IN.", "IN.a..b", "IN.a b", "hello", "a@b.example"] {
            assert_eq!(Recipient::parse(text), None, "{text}");
        }
    }
}
