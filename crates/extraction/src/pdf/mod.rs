//! PDF: marks with positions on pages become lines, lines become paragraphs, headings and rows of tables.
//!
//! | file | holds |
//! |---|---|
//! | `garbled` | fonts that map glyphs to wrong characters |
//! | `glyphs` | the drawn glyphs, and the text that the file gives for them |
//! | `lines` | marks that become lines, with their cells |
//! | `signs` | vowel signs that stand before their letter on paper |
//! | `running` | page headers and footers |
//! | `tables` | lines that are rows of one table |
//! | `layout` | blocks |

mod garbled;
mod glyphs;
mod layout;
mod lines;
mod running;
mod signs;
mod strings;
mod tables;

use domain::ports::{ReadLimit, Unreadable};
use hayro_interpret::hayro_syntax::content::ops::TypedInstruction;
use hayro_interpret::hayro_syntax::object::{Dict, Name, String as PdfString};
use hayro_interpret::hayro_syntax::page::Page;
use hayro_interpret::hayro_syntax::{DecryptionError, LoadPdfError, Pdf};
use hayro_interpret::kurbo::Rect;
use hayro_interpret::{Context, InterpreterCache, InterpreterSettings, TransformExt, interpret_page};

use crate::draft::Draft;
use crate::{MAX_CHARACTERS, MAX_PAGES, legacy};
use glyphs::{Drawn, Glyphs};
use lines::Line;
use strings::string;

/// A page of which pictures cover this share is one of a scan, if it has less text than this many characters.
const SCANNED: f64 = 0.6;
const SAYS_NOTHING: usize = 32;
/// Why pages that are pictures are refused.
const PICTURES: &str = "its pages are pictures without text; text recognition comes before it is uploaded";

/// Reads a PDF.
///
/// # Errors
/// It is damaged, encrypted, has no text, or is beyond the limits of a document.
pub fn read(bytes: &[u8], draft: &mut Draft) -> Result<(), Unreadable> {
    let pdf = Pdf::new(bytes.to_vec()).map_err(|why| {
        Unreadable::Damaged(match why {
            LoadPdfError::Decryption(DecryptionError::PasswordProtected) => {
                "it is encrypted with a password".into()
            }
            LoadPdfError::Decryption(_) => "its encryption cannot be read".into(),
            LoadPdfError::Invalid => "it is not a PDF, or a damaged one".to_owned(),
        })
    })?;
    let pages = pdf.pages();
    if pages.len() > MAX_PAGES {
        return Err(Unreadable::Beyond(ReadLimit::Pages, MAX_PAGES as u64));
    }
    if let Some(title) = pdf.metadata().title.as_deref() {
        draft.title(&string(title));
    }
    let mut glyphs = Glyphs::default();
    let mut drawn: Vec<Drawn> = Vec::new();
    let mut legacy = 0;
    for page in pages.iter() {
        // Fonts are parsed once a page: a cache for all pages would be unbounded.
        let cache = InterpreterCache::new();
        let transform = page.initial_transform(true).to_kurbo();
        let (width, height) = page.render_dimensions();
        let area = Rect::new(0.0, 0.0, f64::from(width), f64::from(height));
        let mut context = Context::new(transform, area, &cache, page.xref(), InterpreterSettings::default());
        glyphs.begin_page(area);
        interpret_page(page, &mut context, &mut glyphs);
        if glyphs.characters > MAX_CHARACTERS {
            return Err(Unreadable::Beyond(ReadLimit::Characters, MAX_CHARACTERS as u64));
        }
        legacy += in_legacy_fonts(page);
        drawn.push(glyphs.end_page());
    }
    if glyphs.nameless > glyphs.characters {
        return Err(Unreadable::Damaged("its fonts do not say which characters they show".into()));
    }
    if legacy::is_nonsense(legacy.max(glyphs.legacy), glyphs.characters) {
        return Err(Unreadable::Damaged(legacy::REASON.into()));
    }
    signs::put_in_order(&mut drawn);
    let covered: Vec<f64> = drawn.iter().map(|page| page.covered).collect();
    let sizes: Vec<(f64, f64)> = drawn.iter().map(|page| page.size).collect();
    let mut lines: Vec<Vec<Line>> = drawn.into_iter().map(|page| lines::of(page.strips)).collect();
    running::leave_out(&mut lines, &sizes);
    if are_pictures(&covered, &lines) {
        return Err(Unreadable::Damaged(PICTURES.into()));
    }
    layout::blocks(&lines, draft)?;
    if garbled::reads_as_garbled(draft.blocks()) || garbled::lost_too_much(glyphs.lost, glyphs.indian) {
        return Err(Unreadable::Damaged(garbled::REASON.into()));
    }
    Ok(())
}

/// Whether most pages are pictures with next to no text: a scan, perhaps with a stamp on it.
fn are_pictures(covered: &[f64], lines: &[Vec<Line>]) -> bool {
    let mut scanned = 0;
    let mut characters = 0;
    for (covered, page) in covered.iter().zip(lines) {
        let says: usize = page.iter().map(|line| line.text().chars().count()).sum();
        characters += says;
        scanned += usize::from(*covered >= SCANNED && says < SAYS_NOTHING);
    }
    scanned * 2 > covered.len() && characters < SAYS_NOTHING * covered.len()
        || characters == 0 && covered.iter().any(|share| *share > 0.0)
}

/// How many letters of a page are in fonts that show other letters, of those that the page itself chooses.
fn in_legacy_fonts(page: &Page<'_>) -> usize {
    let fonts = &page.resources().fonts;
    let names: Vec<Name<'_>> = fonts
        .keys()
        .filter(|key| {
            let font = fonts.get::<Dict<'_>>(key);
            font.and_then(|font| font.get::<Name<'_>>(b"BaseFont"))
                .is_some_and(|name| legacy::is_legacy_font(name.as_str()))
        })
        .collect();
    if names.is_empty() {
        return 0;
    }
    let (mut count, mut chosen) = (0, false);
    let mut operations = page.typed_operations();
    while let Some(operation) = operations.next() {
        if let TypedInstruction::TextFont(font) = &operation {
            chosen = names.contains(font.0);
        }
        if !chosen {
            continue;
        }
        let letters = |bytes: &[u8]| bytes.iter().filter(|byte| **byte > b' ').count();
        count += match operation {
            TypedInstruction::ShowText(shown) => letters(shown.0.as_bytes()),
            TypedInstruction::NextLineAndShowText(shown) => letters(shown.0.as_bytes()),
            TypedInstruction::ShowTextWithParameters(shown) => letters(shown.2.as_bytes()),
            TypedInstruction::ShowTexts(shown) => {
                shown.0.iter::<PdfString<'_>>().map(|words| letters(words.as_bytes())).sum()
            }
            _ => 0,
        };
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use glyphs::{Mark, Strip};
    use proptest::prelude::*;

    /// Words at any places of a few pages, many of them on a grid as those of tables are.
    fn strip() -> impl Strategy<Value = Strip> {
        let place = prop_oneof![(0_i32..6).prop_map(|column| f64::from(column) * 90.0), -50.0..650.0_f64];
        let word = prop_oneof![
            "[a-zA-Z0-9.-]{1,8}",
            Just("क".to_owned()),
            Just("ि".to_owned()),
            Just("ெ".to_owned()),
            Just("र्".to_owned()),
            Just("\u{2010}".to_owned()),
            Just(" ".to_owned()),
            Just(String::new()),
        ];
        let mark = (place, word, 0.0..60.0_f64, 0_u32..3, any::<bool>())
            .prop_map(|(left, words, wide, run, given)| Mark { words, left, right: left + wide, run, given });
        let angle = prop_oneof![Just(0), Just(0), Just(90), Just(-90), Just(180), -179..180_i32];
        let row = prop_oneof![(0_i32..40).prop_map(|row| f64::from(row) * 18.0), -900.0..900.0_f64];
        (proptest::collection::vec(mark, 1..8), row, 0.2..30.0_f64, angle)
            .prop_map(|(marks, baseline, size, angle)| Strip { marks, baseline, size, angle })
    }

    proptest! {
        #[test]
        fn whatever_is_drawn_becomes_blocks(pages in proptest::collection::vec(proptest::collection::vec(strip(), 0..30), 0..6)) {
            let mut drawn: Vec<Drawn> = pages
                .into_iter()
                .map(|strips| Drawn { strips, covered: 0.0, size: (595.0, 842.0) })
                .collect();
            signs::put_in_order(&mut drawn);
            let mut lines: Vec<Vec<Line>> = drawn.into_iter().map(|page| lines::of(page.strips)).collect();
            let sizes = vec![(595.0, 842.0); lines.len()];
            running::leave_out(&mut lines, &sizes);
            let mut draft = Draft::default();
            prop_assert!(layout::blocks(&lines, &mut draft).is_ok());
            let pages = lines.len();
            for block in draft.finish().blocks {
                prop_assert!(!block.text.is_empty() && !block.text.contains("  "));
                prop_assert!(block.page.is_some_and(|page| (1..=pages as u32).contains(&page)));
            }
        }
    }
}
