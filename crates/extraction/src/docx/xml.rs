//! Events and attributes of a part's XML.

use domain::ports::Unreadable;
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use crate::legacy;

/// The next event of a part. A document type declaration can hold entity bombs, and Word writes none; it is an error.
pub(super) fn next<'a>(reader: &mut Reader<&'a [u8]>) -> Result<Event<'a>, Unreadable> {
    match reader.read_event() {
        Ok(Event::DocType(_)) => Err(Unreadable::Damaged("its XML declares a document type".into())),
        Ok(event) => Ok(event),
        Err(why) => Err(Unreadable::Damaged(format!("its XML is damaged: {why}"))),
    }
}

/// The text of an entity: a numeric character reference, or one of the five that XML has.
pub(super) fn entity(reference: &quick_xml::events::BytesRef<'_>) -> Option<String> {
    if let Ok(Some(character)) = reference.resolve_char_ref() {
        return Some(character.to_string());
    }
    quick_xml::escape::resolve_predefined_entity(reference).map(str::to_owned)
}

pub(super) fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let found = tag
        .attributes()
        .with_checks(false)
        .flatten()
        .find(|attribute| attribute.key.local_name().as_ref() == name)?;
    found.normalized_value(XmlVersion::Implicit1_0).ok().map(std::borrow::Cow::into_owned)
}

/// The value of an on/off property; it is on without a value.
pub(super) fn is_on(tag: &BytesStart<'_>) -> bool {
    !matches!(attribute(tag, "val").as_deref(), Some("0" | "false" | "off"))
}

/// Whether a tag that names fonts names one from before Unicode; `None` where it names none for Latin letters.
pub(super) fn legacy_font(tag: &BytesStart<'_>) -> Option<bool> {
    let names = ["ascii", "hAnsi"].iter().find_map(|name| attribute(tag, name));
    let by_theme = || attribute(tag, "asciiTheme").map(|_| false);
    names.map(|name| legacy::is_legacy_font(&name)).or_else(by_theme)
}
