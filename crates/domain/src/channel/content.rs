//! What a message says, and the limits of the channel (docs/contract/channel.md#content).

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use unicode_segmentation::UnicodeSegmentation;

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

/// Whom a message is for.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Recipient {
    /// An international number.
    Phone(E164),
    /// The id of a customer who hides the number: `IN.4711…`.
    UserId(String),
}

impl Recipient {
    /// Reads an international number or a customer's id on the channel; `None` when it is neither.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if is_user_id(text) {
            return Some(Self::UserId(text.to_owned()));
        }
        E164::parse(text).ok().map(Self::Phone)
    }

    /// The same as somebody writes it in a request: digits alone must carry a country code ([`E164::written`]).
    pub fn written(text: &str) -> Option<Self> {
        match Self::parse(text)? {
            Self::Phone(_) => E164::written(text.trim()).ok().map(Self::Phone),
            id @ Self::UserId(_) => Some(id),
        }
    }

    /// Its one text: `+91…` or the id.
    pub fn text(&self) -> String {
        match self {
            Self::Phone(number) => number.to_string(),
            Self::UserId(id) => id.clone(),
        }
    }
}

/// Whether a text has the form of a customer's id: two capital letters, a dot, and letters and digits, which
/// linked accounts divide once more (`IN.ENT.…`).
pub fn is_user_id(text: &str) -> bool {
    let Some((country, rest)) = text.split_once('.') else { return false };
    country.len() == 2
        && country.bytes().all(|byte| byte.is_ascii_uppercase())
        && text.len() <= MAX_USER_ID
        && !rest.is_empty()
        && rest
            .split('.')
            .all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

closed_sets::words! {
    /// What a file is to the channel.
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
    /// Largest file that the channel takes, bytes.
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

/// A file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Media {
    /// What it is.
    pub kind: MediaKind,
    /// Where it is.
    pub source: MediaSource,
    /// Words under it.
    pub caption: Option<String>,
    /// Its name, which the channel shows for a document and takes for nothing else.
    pub filename: Option<String>,
}

/// A button that a customer taps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Button {
    /// What comes back when it is tapped.
    pub id: String,
    /// What it shows.
    pub title: String,
}

/// A row of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListRow {
    /// What comes back when it is chosen.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// A line below.
    pub description: Option<String>,
}

/// A part of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListSection {
    /// Needed when there is more than one section.
    pub title: Option<String>,
    /// Its rows.
    pub rows: Vec<ListRow>,
}

/// What an interactive message asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Ask {
    /// One of up to three buttons.
    Buttons {
        /// The buttons.
        buttons: Vec<Button>,
    },
    /// One row of a list.
    List {
        /// What opens the list.
        button: String,
        /// Its parts.
        sections: Vec<ListSection>,
    },
    /// A tap that opens an address.
    CtaUrl {
        /// What the button shows.
        #[serde(rename = "displayText")]
        display_text: String,
        /// Where it leads.
        url: String,
    },
}

/// A message with something to tap.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interactive {
    /// A line above.
    pub header: Option<String>,
    /// The words.
    pub body: String,
    /// A line below.
    pub footer: Option<String>,
    /// What can be tapped.
    #[serde(flatten)]
    pub ask: Ask,
}

/// A place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Location {
    /// Degrees north.
    pub latitude: f64,
    /// Degrees east.
    pub longitude: f64,
    /// Its name.
    pub name: Option<String>,
    /// Its address.
    pub address: Option<String>,
}

/// A template with its values, as the channel takes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FilledTemplate {
    /// Its name.
    pub name: String,
    /// Its language.
    pub language: String,
    /// Its components that have values, in the channel's own form.
    pub components: Vec<Value>,
}

/// What a message says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", content = "content", rename_all = "snake_case")]
pub enum Content {
    /// An approved template.
    Template(FilledTemplate),
    /// Words.
    Text(String),
    /// A file.
    Media(Media),
    /// Something to tap.
    Interactive(Interactive),
    /// A place.
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

    /// The words of it, for the record; a template's are those of its components' texts, for which see
    /// [`super::Template::words`].
    pub fn words(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Media(media) => media.caption.as_deref(),
            Self::Interactive(interactive) => Some(&interactive.body),
            Self::Reaction { emoji, .. } => Some(emoji),
            Self::Template(_) | Self::Location(_) | Self::Contacts(_) => None,
        }
    }

    /// Holds it against the limits of the channel (docs/contract/channel.md#content).
    ///
    /// # Errors
    /// The first field that is wrong.
    pub fn check(&self) -> Result<(), Misfit> {
        match self {
            Self::Template(_) => Ok(()),
            Self::Text(text) => needed("text", text, MAX_TEXT),
            Self::Media(media) => media.check(),
            Self::Interactive(interactive) => interactive.check(),
            Self::Location(location) => location.check(),
            Self::Reaction { message, emoji } => {
                needed("reaction.messageId", message, MAX_PROVIDER_ID)?;
                if !emoji.is_empty() && !is_emoji(emoji) {
                    return Err(Misfit::new("reaction.emoji", "must be one emoji, or empty to take it back"));
                }
                Ok(())
            }
            Self::Contacts(contacts) => {
                if contacts.is_empty() || contacts.len() > MAX_CONTACTS {
                    return Err(Misfit::new("contacts", format!("must have 1 to {MAX_CONTACTS} items")));
                }
                for (at, card) in contacts.iter().enumerate() {
                    let name = card.pointer("/name/formatted_name").and_then(Value::as_str);
                    if name.is_none_or(|name| name.trim().is_empty()) {
                        let field = format!("contacts[{at}].name.formatted_name");
                        return Err(Misfit::new(field, "is required: the name as it is shown"));
                    }
                }
                Ok(())
            }
        }
    }
}

impl Media {
    fn check(&self) -> Result<(), Misfit> {
        match &self.source {
            MediaSource::Link(url) => https("media.url", url)?,
            MediaSource::Id(id) => needed("media.id", id, MAX_PROVIDER_ID)?,
        }
        if self.kind == MediaKind::Sticker {
            return Err(Misfit::new("media.type", "must be image, video, document or audio"));
        }
        if self.kind == MediaKind::Audio && self.caption.is_some() {
            return Err(Misfit::new("media.caption", "is not possible with audio"));
        }
        some("media.caption", self.caption.as_deref(), MAX_CAPTION)?;
        some("media.filename", self.filename.as_deref(), MAX_FILENAME)
    }
}

impl Interactive {
    fn check(&self) -> Result<(), Misfit> {
        some("interactive.header", self.header.as_deref(), MAX_HEADER)?;
        some("interactive.footer", self.footer.as_deref(), MAX_HEADER)?;
        match &self.ask {
            Ask::Buttons { buttons } => {
                needed("interactive.body", &self.body, MAX_BODY)?;
                if buttons.is_empty() || buttons.len() > 3 {
                    return Err(Misfit::new("interactive.buttons", "must have 1 to 3 items"));
                }
                let (mut ids, mut titles) = (HashSet::new(), HashSet::new());
                for (at, button) in buttons.iter().enumerate() {
                    let field = |name: &str| format!("interactive.buttons[{at}].{name}");
                    needed(&field("id"), &button.id, MAX_BUTTON_ID)?;
                    needed(&field("title"), &button.title, MAX_BUTTON)?;
                    different(&field("id"), &mut ids, &button.id)?;
                    different(&field("title"), &mut titles, &button.title)?;
                }
                Ok(())
            }
            Ask::List { button, sections } => {
                needed("interactive.body", &self.body, MAX_TEXT)?;
                needed("interactive.button", button, MAX_BUTTON)?;
                list(sections)
            }
            Ask::CtaUrl { display_text, url } => {
                needed("interactive.body", &self.body, MAX_BODY)?;
                needed("interactive.displayText", display_text, MAX_BUTTON)?;
                https("interactive.url", url)
            }
        }
    }
}

fn list(sections: &[ListSection]) -> Result<(), Misfit> {
    if sections.is_empty() || sections.len() > MAX_ROWS {
        return Err(Misfit::new("interactive.sections", format!("must have 1 to {MAX_ROWS} items")));
    }
    if sections.iter().map(|section| section.rows.len()).sum::<usize>() > MAX_ROWS {
        return Err(Misfit::new("interactive.sections", format!("must have at most {MAX_ROWS} rows in all")));
    }
    let mut ids = HashSet::new();
    for (at, section) in sections.iter().enumerate() {
        let field = format!("interactive.sections[{at}]");
        match &section.title {
            Some(title) => needed(&format!("{field}.title"), title, MAX_ROW)?,
            None if sections.len() > 1 => {
                return Err(Misfit::new(
                    format!("{field}.title"),
                    "is required when there is more than one section",
                ));
            }
            None => {}
        }
        if section.rows.is_empty() {
            return Err(Misfit::new(format!("{field}.rows"), "must have at least 1 item"));
        }
        for (row_at, row) in section.rows.iter().enumerate() {
            let field = |name: &str| format!("{field}.rows[{row_at}].{name}");
            needed(&field("id"), &row.id, MAX_ROW_ID)?;
            needed(&field("title"), &row.title, MAX_ROW)?;
            some(&field("description"), row.description.as_deref(), MAX_DESCRIPTION)?;
            different(&field("id"), &mut ids, &row.id)?;
        }
    }
    Ok(())
}

impl Location {
    fn check(&self) -> Result<(), Misfit> {
        if !(-90.0..=90.0).contains(&self.latitude) {
            return Err(Misfit::new("location.latitude", "must be from -90 to 90"));
        }
        if !(-180.0..=180.0).contains(&self.longitude) {
            return Err(Misfit::new("location.longitude", "must be from -180 to 180"));
        }
        some("location.name", self.name.as_deref(), MAX_PLACE)?;
        some("location.address", self.address.as_deref(), MAX_PLACE)
    }
}

/// Whether a text is one emoji, as one sees it: a picture, a picture of several joined ones, a flag, or a key.
fn is_emoji(text: &str) -> bool {
    const JOINER: char = '\u{200d}';
    const LOOK: char = '\u{fe0f}';
    let picture = |sign: char| {
        matches!(
            sign,
            '©' | '®' | '‼' | '⁉' | '™' | 'ℹ' | '\u{2194}'..='\u{21aa}' | '\u{231a}'..='\u{23ff}' | 'Ⓜ'
                | '\u{25aa}'..='\u{27bf}' | '⤴' | '⤵' | '\u{2b05}'..='\u{2b55}' | '〰' | '〽' | '㊗' | '㊙'
                | '\u{1f000}'..='\u{1faff}'
        )
    };
    // Nothing may be hidden in one: letters of tags are those of the flags of countries within countries.
    let part =
        |sign: char| picture(sign) || matches!(sign, JOINER | LOOK | '\u{20e3}' | '\u{e0020}'..='\u{e007f}');
    let mut graphemes = text.graphemes(true);
    let (Some(_), None) = (graphemes.next(), graphemes.next()) else { return false };
    let mut signs = text.chars();
    let Some(first) = signs.next() else { return false };
    if matches!(first, '0'..='9' | '#' | '*') {
        return matches!(signs.as_str(), "\u{20e3}" | "\u{fe0f}\u{20e3}");
    }
    let flag_alone = ('\u{1f1e6}'..='\u{1f1ff}').contains(&first) && text.chars().count() == 1;
    picture(first)
        && !flag_alone
        && text.chars().count() <= MAX_EMOJI
        && signs.all(part)
        && !text.ends_with(JOINER)
}

/// A text that must be there.
pub(super) fn needed(field: &str, text: &str, most: usize) -> Result<(), Misfit> {
    if text.trim().is_empty() {
        return Err(Misfit::new(field, "must not be empty"));
    }
    some(field, Some(text), most)
}

fn some(field: &str, text: Option<&str>, most: usize) -> Result<(), Misfit> {
    match text {
        Some(text) if text.chars().count() > most => {
            Err(Misfit::new(field, format!("must have at most {most} characters")))
        }
        _ => Ok(()),
    }
}

fn different<'a>(field: &str, known: &mut HashSet<&'a str>, text: &'a str) -> Result<(), Misfit> {
    if known.insert(text) { Ok(()) } else { Err(Misfit::new(field, "must differ from those before it")) }
}

/// An address that the channel takes.
pub(super) fn https(field: &str, url: &str) -> Result<(), Misfit> {
    let host = url.strip_prefix("https://").unwrap_or_default();
    let host = host.split(['/', '?', '#']).next().unwrap_or_default();
    if host.is_empty()
        || url.len() > MAX_URL
        || url.chars().any(|sign| sign.is_whitespace() || sign.is_control())
    {
        return Err(Misfit::new(
            field,
            format!("must be an https:// address of at most {MAX_URL} characters"),
        ));
    }
    Ok(())
}

/// A message on its way to a provider.
#[derive(Debug, Clone, PartialEq)]
pub struct Outgoing {
    /// Our id of it. The provider gives it back with each status, so that a message whose answer was lost is
    /// found again.
    pub message: Id<ChannelMessage>,
    /// Whom it is for.
    pub to: Recipient,
    /// What it says.
    pub content: Content,
    /// The provider's id of the message that it answers.
    pub reply_to: Option<String>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn field_of(content: &Content) -> Option<String> {
        content.check().err().map(|misfit| misfit.field)
    }

    fn asks(body: &str, ask: Ask) -> Content {
        Content::Interactive(Interactive { header: None, body: body.into(), footer: None, ask })
    }

    fn button(id: &str, title: &str) -> Button {
        Button { id: id.into(), title: title.into() }
    }

    fn row(id: &str) -> ListRow {
        ListRow { id: id.into(), title: "t".into(), description: None }
    }

    #[test]
    fn recipients_are_numbers_or_ids() {
        let number = E164::parse("919812345678").unwrap();
        for text in ["+919812345678", "919812345678", " +91 98123 45678"] {
            assert_eq!(Recipient::parse(text), Some(Recipient::Phone(number)), "{text}");
        }
        for id in ["IN.4711000111222333", "IN.ENT.99abc"] {
            assert_eq!(Recipient::parse(id), Some(Recipient::UserId(id.into())), "{id}");
        }
        for text in ["", "12", "in.4711", "IND.4711", "IN.", "IN.a..b", "IN.a b", "hello"] {
            assert_eq!(Recipient::parse(text), None, "{text}");
        }
    }

    #[test]
    fn every_limit_of_interactive_messages_names_its_field() {
        let buttons = |list: &[(&str, &str)]| Ask::Buttons {
            buttons: list.iter().map(|(id, title)| button(id, title)).collect(),
        };
        let long = |count: usize| "x".repeat(count);
        let list = |sections: Vec<ListSection>| Ask::List { button: "Open".into(), sections };
        let section =
            |title: Option<&str>, rows: Vec<ListRow>| ListSection { title: title.map(Into::into), rows };
        let url = |url: &str| Ask::CtaUrl { display_text: "Go".into(), url: url.into() };
        for (content, field) in [
            (asks("b", buttons(&[("1", "a"), ("2", "b"), ("3", "c")])), None),
            (asks("b", buttons(&[])), Some("interactive.buttons")),
            (
                asks("b", buttons(&[("1", "a"), ("2", "b"), ("3", "c"), ("4", "d")])),
                Some("interactive.buttons"),
            ),
            (asks("b", buttons(&[("1", &long(21))])), Some("interactive.buttons[0].title")),
            (asks("b", buttons(&[(&long(257), "a")])), Some("interactive.buttons[0].id")),
            (asks("b", buttons(&[("1", "a"), ("1", "b")])), Some("interactive.buttons[1].id")),
            (asks("b", buttons(&[("1", "a"), ("2", "a")])), Some("interactive.buttons[1].title")),
            (asks(&long(1_025), buttons(&[("1", "a")])), Some("interactive.body")),
            (asks("", buttons(&[("1", "a")])), Some("interactive.body")),
            (asks(&long(4_096), list(vec![section(None, vec![row("1")])])), None),
            (asks(&long(4_097), list(vec![section(None, vec![row("1")])])), Some("interactive.body")),
            (asks("b", list(vec![])), Some("interactive.sections")),
            (asks("b", list(vec![section(None, vec![])])), Some("interactive.sections[0].rows")),
            (
                asks("b", list(vec![section(None, (0..11).map(|at| row(&at.to_string())).collect())])),
                Some("interactive.sections"),
            ),
            (
                asks("b", list(vec![section(Some("s"), vec![row("1"), row("1")])])),
                Some("interactive.sections[0].rows[1].id"),
            ),
            (
                asks("b", list(vec![section(Some("s"), vec![row("1")]), section(None, vec![row("2")])])),
                Some("interactive.sections[1].title"),
            ),
            (
                asks("b", list(vec![section(Some(&long(25)), vec![row("1")])])),
                Some("interactive.sections[0].title"),
            ),
            (
                asks("b", list(vec![section(None, vec![row(&long(201))])])),
                Some("interactive.sections[0].rows[0].id"),
            ),
            (
                asks("b", list(vec![section(None, vec![ListRow { title: long(25), ..row("1") }])])),
                Some("interactive.sections[0].rows[0].title"),
            ),
            (
                asks(
                    "b",
                    list(vec![section(None, vec![ListRow { description: Some(long(73)), ..row("1") }])]),
                ),
                Some("interactive.sections[0].rows[0].description"),
            ),
            (
                asks("b", Ask::List { button: long(21), sections: vec![section(None, vec![row("1")])] }),
                Some("interactive.button"),
            ),
            (asks("b", url("https://a.example/x")), None),
            (asks("b", url("http://a.example")), Some("interactive.url")),
            (asks("b", url("https://")), Some("interactive.url")),
            (
                asks("b", Ask::CtaUrl { display_text: long(21), url: "https://a.example".into() }),
                Some("interactive.displayText"),
            ),
            (asks(&long(1_025), url("https://a.example")), Some("interactive.body")),
        ] {
            assert_eq!(field_of(&content).as_deref(), field, "{content:?}");
        }
        let framed = |header: Option<String>, footer: Option<String>| {
            field_of(&Content::Interactive(Interactive {
                header,
                body: "b".into(),
                footer,
                ask: url("https://a.example"),
            }))
        };
        assert_eq!(framed(Some(long(61)), None).as_deref(), Some("interactive.header"));
        assert_eq!(framed(None, Some(long(61))).as_deref(), Some("interactive.footer"));
        assert_eq!(framed(Some(long(60)), Some(long(60))), None);
    }

    #[test]
    fn texts_files_and_places_have_limits() {
        let media = |kind, url: &str, caption: Option<&str>, filename: Option<&str>| {
            Content::Media(Media {
                kind,
                source: MediaSource::Link(url.into()),
                caption: caption.map(Into::into),
                filename: filename.map(Into::into),
            })
        };
        let reaction = |emoji: &str| Content::Reaction { message: "wamid.A".into(), emoji: emoji.into() };
        let place = |latitude, longitude| {
            Content::Location(Location { latitude, longitude, name: None, address: None })
        };
        for (content, field) in [
            (Content::Text("x".repeat(4_096)), None),
            (Content::Text("x".repeat(4_097)), Some("text")),
            (Content::Text(" ".into()), Some("text")),
            (media(MediaKind::Image, "https://a.example/a.jpg", Some("c"), None), None),
            (media(MediaKind::Image, "http://a.example/a.jpg", None, None), Some("media.url")),
            (media(MediaKind::Audio, "https://a.example/a.ogg", Some("c"), None), Some("media.caption")),
            (media(MediaKind::Video, "https://a.example/a.mp4", None, Some("a.mp4")), None),
            (
                media(MediaKind::Video, "https://a.example/a.mp4", None, Some(&"x".repeat(241))),
                Some("media.filename"),
            ),
            (media(MediaKind::Document, "https://a.example/a", None, Some("a.pdf")), None),
            (media(MediaKind::Sticker, "https://a.example/a", None, None), Some("media.type")),
            (place(12.97, 77.59), None),
            (place(91.0, 0.0), Some("location.latitude")),
            (place(0.0, -181.0), Some("location.longitude")),
            (place(f64::NAN, 0.0), Some("location.latitude")),
            (Content::Contacts(vec![]), Some("contacts")),
            (Content::Contacts(vec![json!({"name": {"formatted_name": "Asha"}})]), None),
            (Content::Contacts(vec![json!({"phones": []})]), Some("contacts[0].name.formatted_name")),
            (
                Content::Contacts(vec![
                    json!({"name": {"formatted_name": "A"}}),
                    json!({"name": {"formatted_name": " "}}),
                ]),
                Some("contacts[1].name.formatted_name"),
            ),
            (reaction("👍"), None),
            (reaction("1️⃣"), None),
            (reaction(""), None),
            (reaction("ok"), Some("reaction.emoji")),
        ] {
            assert_eq!(field_of(&content).as_deref(), field, "{content:?}");
        }
    }

    #[test]
    fn a_reaction_is_one_emoji() {
        for emoji in [
            "👍",
            "👍🏽",
            "❤️",
            "❤",
            "👨\u{200d}👩\u{200d}👧",
            "🇮🇳",
            "🏴󠁧󠁢󠁥󠁮󠁧󠁿",
            "1️⃣",
            "#⃣",
            "©️",
            "ℹ️",
            "🫶",
            "🧑🏽\u{200d}❤️\u{200d}💋\u{200d}🧑🏻",
            "⏰",
            "☪️",
        ] {
            assert!(is_emoji(emoji), "{emoji}");
        }
        let many = format!("👍{}", "\u{200d}👍".repeat(10));
        for text in [
            "👍👍",
            "👍 ",
            " 👍",
            "👍a",
            "a",
            "ok",
            "1",
            "#",
            "ॐ",
            "\u{200d}",
            "\u{fe0f}",
            "👍\u{200d}",
            "👍\u{301}",
            "🇮",
            "🇮🇳🇮🇳",
            "\n",
            "\u{20e3}",
            "❤️❤️",
            "é",
            "👍\u{0}",
            &many,
        ] {
            assert!(!is_emoji(text), "{text:?}");
        }
    }
}
