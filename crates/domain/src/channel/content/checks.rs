//! Validates the content of a message against the limits of the channel (docs/contract/channel.md#content). Names the
//! first invalid field.

use std::collections::HashSet;

use serde_json::Value;
use unicode_segmentation::UnicodeSegmentation;

use super::{
    Ask, Content, Interactive, ListSection, Location, MAX_BODY, MAX_BUTTON, MAX_BUTTON_ID, MAX_CAPTION,
    MAX_CONTACTS, MAX_DESCRIPTION, MAX_EMOJI, MAX_FILENAME, MAX_HEADER, MAX_PLACE, MAX_PROVIDER_ID, MAX_ROW,
    MAX_ROW_ID, MAX_ROWS, MAX_TEXT, MAX_URL, Media, MediaKind, MediaSource, Misfit,
};

impl Content {
    /// Validates it against the limits of the channel (docs/contract/channel.md#content).
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
            return Err(Misfit::new("media.caption", "must be left out with audio"));
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
pub(in crate::channel) fn needed(field: &str, text: &str, most: usize) -> Result<(), Misfit> {
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
    if known.insert(text) { Ok(()) } else { Err(Misfit::new(field, "must be unique")) }
}

/// An address that the channel accepts.
pub(in crate::channel) fn https(field: &str, url: &str) -> Result<(), Misfit> {
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{Button, ListRow};
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
