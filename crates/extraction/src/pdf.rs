//! PDF: glyphs with places on pages become lines, lines become paragraphs, headings and rows of tables.

use std::collections::HashMap;

use domain::knowledge::BlockKind;
use domain::ports::{ReadLimit, Unreadable};
use hayro_interpret::font::GlyphRun;
use hayro_interpret::hayro_cmap::BfString;
use hayro_interpret::hayro_syntax::{DecryptionError, LoadPdfError, Pdf};
use hayro_interpret::kurbo::{Affine, BezPath, Point, Rect};
use hayro_interpret::{
    BlendMode, ClipPath, Context, Device, DrawMode, DrawProps, Image, ImageDrawProps, InterpreterCache,
    InterpreterSettings, SoftMask, TransformExt, interpret_page,
};

use crate::draft::Draft;
use crate::table::{self, First};
use crate::{MAX_CHARACTERS, MAX_PAGES, text};

/// The size of glyphs is given in thousandths of the size of their font.
const UNITS: f64 = 1000.0;
/// A gap this wide, in sizes of the font, is a space; one this wide stands between columns.
const SPACE: f64 = 0.18;
const COLUMN: f64 = 1.6;
/// Lines this far apart, in sizes of the font, belong to different paragraphs.
const LEADING: f64 = 1.75;
/// Letters this much larger than those of most words make a heading.
const LARGER: f64 = 1.15;
/// Most characters of a heading.
const MAX_HEADING: usize = 150;
/// A document with this many pages may have lines that all of them begin or end with.
const PAGES_WITH_RUNNING_LINES: usize = 3;

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
        draft.title(&metadata_text(title));
    }
    let mut glyphs = Glyphs::default();
    let mut lines: Vec<Vec<Line>> = Vec::new();
    for page in pages.iter() {
        // Fonts are read once a page: what a cache of all pages holds has no bound.
        let cache = InterpreterCache::new();
        let transform = page.initial_transform(true).to_kurbo();
        let (width, height) = page.render_dimensions();
        let area = Rect::new(0.0, 0.0, f64::from(width), f64::from(height));
        let mut context = Context::new(transform, area, &cache, page.xref(), InterpreterSettings::default());
        interpret_page(page, &mut context, &mut glyphs);
        if glyphs.characters > MAX_CHARACTERS {
            return Err(Unreadable::Beyond(ReadLimit::Characters, MAX_CHARACTERS as u64));
        }
        lines.push(glyphs.end_page());
    }
    if glyphs.nameless > glyphs.characters {
        return Err(Unreadable::Damaged("its fonts do not say which characters they show".into()));
    }
    leave_out_running_lines(&mut lines);
    let sizes = Sizes::of(&lines);
    for (place, page) in lines.iter().enumerate() {
        blocks(page, &sizes, u32::try_from(place + 1).ok(), draft)?;
    }
    Ok(())
}

/// Text of the metadata: UTF-16 or UTF-8 with a byte order mark, else Latin.
fn metadata_text(bytes: &[u8]) -> String {
    match encoding_rs::Encoding::for_bom(bytes) {
        Some((encoding, mark)) => encoding.decode_without_bom_handling(&bytes[mark..]).0.into_owned(),
        None => encoding_rs::WINDOWS_1252.decode_without_bom_handling(bytes).0.into_owned(),
    }
}

/// A line of a page.
#[derive(Debug, Clone, Default)]
struct Line {
    /// Its words; there are several where wide gaps part them.
    cells: Vec<String>,
    left: f64,
    baseline: f64,
    size: f64,
}

impl Line {
    fn text(&self) -> String {
        self.cells.join(" ")
    }
}

/// Collects what is written on a page, in the order of the page's instructions.
#[derive(Default)]
struct Glyphs {
    lines: Vec<Line>,
    /// Where the last glyph ended.
    end: f64,
    /// Where it began, what it was, for text that is drawn twice to look bold.
    last: Option<(f64, f64, String)>,
    characters: usize,
    nameless: usize,
}

impl Glyphs {
    fn end_page(&mut self) -> Vec<Line> {
        self.last = None;
        std::mem::take(&mut self.lines)
    }

    fn add(&mut self, words: &str, place: Point, size: f64, advance: f64) {
        if !(place.x.is_finite() && place.y.is_finite() && size.is_finite() && size > 0.1) {
            return;
        }
        let drawn_twice = self.last.as_ref().is_some_and(|(x, y, known)| {
            known == words && (x - place.x).abs() < size * 0.1 && (y - place.y).abs() < size * 0.1
        });
        if drawn_twice {
            return;
        }
        self.characters += words.chars().count();
        let blank = words.trim().is_empty();
        let goes_on = self.lines.last().is_some_and(|line| {
            let size = line.size.max(size);
            (line.baseline - place.y).abs() < size * 0.45 && place.x > self.end - size * 1.2
        });
        let gap = (place.x - self.end) / size;
        match self.lines.last_mut() {
            Some(line) if goes_on => {
                if gap > COLUMN && !blank && line.cells.last().is_some_and(|cell| !cell.trim().is_empty()) {
                    line.cells.push(String::new());
                } else if gap > SPACE
                    && let Some(cell) = line.cells.last_mut()
                {
                    cell.push(' ');
                }
                if let Some(cell) = line.cells.last_mut() {
                    cell.push_str(words);
                }
                if !blank {
                    line.size = line.size.max(size);
                }
            }
            // A line begins with a word.
            _ if blank => return,
            _ => self.lines.push(Line {
                cells: vec![words.to_owned()],
                left: place.x,
                baseline: place.y,
                size,
            }),
        }
        // A blank that is drawn wide would hide the gap between two columns.
        if !blank || gap > COLUMN {
            self.end = place.x + advance;
        }
        self.last = Some((place.x, place.y, words.to_owned()));
    }
}

impl Device<'_> for Glyphs {
    fn draw_path(&mut self, _: &BezPath, _: DrawProps<'_>, _: &DrawMode) {}
    fn push_clip_path(&mut self, _: &ClipPath) {}
    fn push_transparency_group(&mut self, _: f32, _: Option<SoftMask<'_>>, _: BlendMode) {}

    fn draw_glyph_run(&mut self, run: &GlyphRun<'_, '_>, props: DrawProps<'_>, _: &DrawMode) {
        for glyph in run.glyphs() {
            if self.characters > MAX_CHARACTERS {
                return;
            }
            let transform: Affine = props.transform * glyph.transform();
            let place = transform * Point::ZERO;
            let up = transform * Point::new(0.0, UNITS) - place;
            let size = up.hypot();
            let along = transform * Point::new(UNITS, 0.0) - place;
            let words = match glyph.as_unicode() {
                Some(BfString::Char(character)) => character.to_string(),
                Some(BfString::String(words)) => words,
                None => {
                    self.nameless += 1;
                    continue;
                }
            };
            let units = match &**glyph {
                hayro_interpret::font::Glyph::Outline(outline) => outline.advance_width(),
                hayro_interpret::font::Glyph::Type3(drawn) => drawn.advance_width(),
            };
            let advance = along.hypot() * f64::from(units.unwrap_or(500.0)) / UNITS;
            self.add(&words, place, size, advance);
        }
    }

    fn pop_clip(&mut self) {}
    fn pop_transparency_group(&mut self) {}
    fn draw_image(&mut self, _: Image<'_, '_>, _: ImageDrawProps<'_>) {}
}

/// A line with its numbers made alike, so that `Page 1` and `Page 2` are the same.
fn without_numbers(line: &Line) -> String {
    let words = text::tidy(&line.text());
    words.chars().map(|character| if character.is_numeric() { '#' } else { character }).collect()
}

/// Leaves out what most pages begin or end with: the name of the document, the number of the page.
fn leave_out_running_lines(pages: &mut [Vec<Line>]) {
    if pages.len() < PAGES_WITH_RUNNING_LINES {
        return;
    }
    let mut seen: HashMap<String, usize> = HashMap::new();
    for page in pages.iter() {
        let mut edges: Vec<String> = edges(page).map(|place| without_numbers(&page[place])).collect();
        edges.sort();
        edges.dedup();
        for words in edges {
            *seen.entry(words).or_default() += 1;
        }
    }
    let most = pages.len() / 2 + 1;
    for page in pages {
        let running: Vec<usize> = edges(page)
            .filter(|place| seen.get(&without_numbers(&page[*place])).is_some_and(|count| *count >= most))
            .collect();
        let mut place = 0;
        page.retain(|_| {
            place += 1;
            !running.contains(&(place - 1))
        });
    }
}

/// The first two and the last two lines of a page, as its instructions have them.
fn edges(page: &[Line]) -> impl Iterator<Item = usize> + use<> {
    let length = page.len();
    (0..length).filter(move |place| *place < 2 || place + 2 >= length)
}

/// The sizes of letters: of most words, and of headings from the largest down.
struct Sizes {
    body: f64,
    headings: Vec<i64>,
}

impl Sizes {
    fn of(pages: &[Vec<Line>]) -> Self {
        let mut counts: HashMap<i64, usize> = HashMap::new();
        for line in pages.iter().flatten() {
            *counts.entry(half_points(line.size)).or_default() += line.text().chars().count();
        }
        let body = counts.iter().max_by_key(|(size, count)| (**count, **size)).map_or(0, |(size, _)| *size);
        let mut headings: Vec<i64> =
            counts.keys().copied().filter(|size| *size as f64 > body as f64 * LARGER).collect();
        headings.sort_unstable_by_key(|size| -size);
        Self { body: body as f64 / 2.0, headings }
    }

    /// The level of a heading with letters of this size.
    fn level(&self, size: f64) -> Option<u8> {
        let place = self.headings.iter().position(|known| *known == half_points(size))?;
        u8::try_from(place + 1).ok().map(|level| level.min(6))
    }
}

fn half_points(size: f64) -> i64 {
    (size * 2.0).round() as i64
}

/// Whether two lines are rows of one table.
fn same_table(one: &Line, other: &Line) -> bool {
    one.cells.len() >= 2
        && one.cells.len() == other.cells.len()
        && (one.left - other.left).abs() < one.size * 2.0
}

/// The blocks of a page.
fn blocks(page: &[Line], sizes: &Sizes, number: Option<u32>, draft: &mut Draft) -> Result<(), Unreadable> {
    let mut open: Option<(String, Line)> = None;
    let mut place = 0;
    while let Some(line) = page.get(place) {
        let rows = 1 + page[place..].windows(2).take_while(|pair| same_table(&pair[0], &pair[1])).count();
        if rows >= 2 {
            close(&mut open, sizes, number, draft)?;
            let rows: Vec<Vec<String>> =
                page[place..place + rows].iter().map(|line| line.cells.clone()).collect();
            place += rows.len();
            table::read(&rows, First::Unknown, number, draft)?;
            continue;
        }
        place += 1;
        let words = line.text();
        let follows = open.as_ref().is_some_and(|(_, last)| {
            let below = line.baseline - last.baseline;
            half_points(line.size) == half_points(last.size)
                && below > 0.0
                && below < last.size * LEADING
                && !text::is_item(&words)
        });
        match &mut open {
            Some((so_far, last)) if follows => {
                join(so_far, &words);
                *last = line.clone();
            }
            _ => {
                close(&mut open, sizes, number, draft)?;
                open = Some((words, line.clone()));
            }
        }
    }
    close(&mut open, sizes, number, draft)
}

/// Adds the next line of a paragraph; a word that was parted at the end of the line is one again.
fn join(so_far: &mut String, words: &str) {
    let parted =
        so_far.strip_suffix('-').is_some_and(|rest| rest.ends_with(|last: char| last.is_ascii_lowercase()))
            && words.starts_with(|first: char| first.is_ascii_lowercase());
    if parted {
        so_far.pop();
    } else {
        so_far.push(' ');
    }
    so_far.push_str(words);
}

fn close(
    open: &mut Option<(String, Line)>,
    sizes: &Sizes,
    page: Option<u32>,
    draft: &mut Draft,
) -> Result<(), Unreadable> {
    let Some((words, line)) = open.take() else { return Ok(()) };
    let level =
        sizes.level(line.size).filter(|_| words.chars().nth(MAX_HEADING).is_none() && line.size > sizes.body);
    draft.push(level.map_or(BlockKind::Paragraph, BlockKind::Heading), &words, page)
}
