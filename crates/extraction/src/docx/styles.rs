//! Properties of styles.

use std::collections::HashMap;

use domain::ports::Unreadable;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::xml::{attribute, is_on, legacy_font, next};

/// Longest chain of base styles.
const MAX_BASED: usize = 16;

/// A style's own properties, without those of its base.
#[derive(Default)]
struct Style {
    level: Option<u8>,
    hidden: Option<bool>,
    legacy: Option<bool>,
    based: Option<String>,
}

/// The styles of a document, by their ids.
#[derive(Default)]
pub struct Styles {
    all: HashMap<String, Style>,
    /// The default properties.
    defaults: Style,
    /// The default paragraph style.
    paragraph: Option<String>,
}

impl Styles {
    pub fn read(styles: &str) -> Result<Self, Unreadable> {
        let mut reader = Reader::from_str(styles);
        let mut found = Self::default();
        let mut id: Option<String> = None;
        // Properties of parts of a table, and former ones, are not the style's own.
        let mut aside = 0_usize;
        loop {
            match next(&mut reader)? {
                Event::Start(tag) => {
                    if is_aside(tag.local_name().as_ref()) {
                        aside += 1;
                    }
                    found.take(&tag, &mut id, aside > 0);
                }
                Event::Empty(tag) => found.take(&tag, &mut id, aside > 0),
                Event::End(tag) => match tag.local_name().as_ref() {
                    "style" => id = None,
                    name if is_aside(name) => aside = aside.saturating_sub(1),
                    _ => {}
                },
                Event::Eof => return Ok(found),
                _ => {}
            }
        }
    }

    fn take(&mut self, tag: &BytesStart<'_>, id: &mut Option<String>, aside: bool) {
        let name = tag.local_name();
        let name = name.as_ref();
        if name == "style" {
            *id = attribute(tag, "styleId");
            let by_default =
                attribute(tag, "default").is_some_and(|value| !matches!(value.as_str(), "0" | "false"));
            if by_default && attribute(tag, "type").is_some_and(|kind| kind == "paragraph") {
                self.paragraph.clone_from(id);
            }
            return;
        }
        if aside {
            return;
        }
        let style = match id {
            Some(id) => self.all.entry(id.clone()).or_default(),
            None => &mut self.defaults,
        };
        match name {
            "name" => style.level = attribute(tag, "val").and_then(named_level).or(style.level),
            "basedOn" => style.based = attribute(tag, "val"),
            "outlineLvl" => style.level = outline_level(tag).or(style.level),
            "vanish" => style.hidden = Some(is_on(tag)),
            "rFonts" => style.legacy = legacy_font(tag).or(style.legacy),
            _ => {}
        }
    }

    /// A style and its chain of bases. A cycle of base styles counts as no style.
    fn chain(&self, id: &str) -> impl Iterator<Item = &Style> {
        std::iter::successors(self.all.get(id), |style| self.all.get(style.based.as_ref()?)).take(MAX_BASED)
    }

    /// The heading level of a style.
    pub fn level(&self, id: &str) -> Option<u8> {
        self.chain(id).find_map(|style| style.level).or_else(|| {
            // A style that the document does not define may have a name that says it.
            (!self.all.contains_key(id)).then(|| named_level(id.to_owned()))?
        })
    }

    /// Whether words are hidden by the styles of their paragraph and of themselves: one of them alone hides them
    /// (ECMA-376, part 1, 17.7.3).
    pub fn hide(&self, paragraph: Option<&str>, run: Option<&str>) -> bool {
        let hides = |id: Option<&str>| id.and_then(|id| self.chain(id).find_map(|style| style.hidden));
        let (paragraph, run) = (hides(paragraph.or(self.paragraph.as_deref())), hides(run));
        self.defaults.hidden == Some(true) || (paragraph == Some(true)) != (run == Some(true))
    }

    /// Whether the font of the styles is a legacy one, from before Unicode.
    pub fn legacy(&self, paragraph: Option<&str>, run: Option<&str>) -> bool {
        let named = |id: Option<&str>| id.and_then(|id| self.chain(id).find_map(|style| style.legacy));
        named(run)
            .or_else(|| named(paragraph.or(self.paragraph.as_deref())))
            .or(self.defaults.legacy)
            .unwrap_or(false)
    }
}

fn is_aside(name: &str) -> bool {
    name == "tblStylePr" || name.ends_with("Change")
}

/// The level that the name of a style says: `heading 2`, `Title`.
fn named_level(name: String) -> Option<u8> {
    let name = name.to_lowercase();
    if name == "title" {
        return Some(1);
    }
    name.strip_prefix("heading")?.trim().parse().ok().filter(|level| (1..=9).contains(level))
}

/// The level of `outlineLvl`, which counts from 0; 9 is the text between headings.
pub fn outline_level(tag: &BytesStart<'_>) -> Option<u8> {
    let level: u8 = attribute(tag, "val")?.parse().ok()?;
    (level < 9).then_some(level + 1)
}
