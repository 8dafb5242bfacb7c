//! The glyphs drawn on a page, as marks with positions in the order of the page's instructions.

use hayro_interpret::font::{Glyph, GlyphRun};
use hayro_interpret::hayro_cmap::BfString;
use hayro_interpret::hayro_syntax::object::{Dict, String as PdfString};
use hayro_interpret::kurbo::{Affine, BezPath, Point, Rect};
use hayro_interpret::{BlendMode, ClipPath, Device, DrawMode, DrawProps, Image, ImageDrawProps, SoftMask};

use super::garbled::offset;
use super::strings::string;
use crate::{MAX_CHARACTERS, legacy};

/// The size of glyphs is given in thousandths of the size of their font.
const UNITS: f64 = 1000.0;
/// How far to the left of the last mark a line may go on, in sizes of the font.
const BACK: f64 = 1.2;
/// How far marks of one line may stand above each other, in sizes of the font.
const SHIFT: f64 = 0.45;
/// Lines that are looked back at for the row that a cell belongs to.
const LOOK_BACK: usize = 8;

/// The text of one glyph, or of the glyphs for which the file gives a text.
#[derive(Debug, Clone)]
pub struct Mark {
    pub words: String,
    pub left: f64,
    pub right: f64,
    /// Which run of glyphs it is part of.
    pub run: u32,
    /// Whether the file gives the text (`/ActualText`), so that its letters are in logical order.
    pub given: bool,
}

impl Mark {
    pub fn is_blank(&self) -> bool {
        !self.words.is_empty() && self.words.trim().is_empty()
    }
}

/// Marks on one line, from left to right as they are read.
#[derive(Debug, Clone)]
pub struct Strip {
    pub marks: Vec<Mark>,
    pub baseline: f64,
    pub size: f64,
    /// How far the line is turned, in degrees.
    pub angle: i32,
}

/// A text that the file gives for what it draws.
struct Given {
    /// How deep in marked content it was given.
    depth: usize,
    text: Option<String>,
}

/// Collects the text of a page.
#[derive(Default)]
pub struct Glyphs {
    strips: Vec<Strip>,
    /// The line in hand.
    at: usize,
    runs: u32,
    /// The run before: where it began, what it was, for text that is drawn twice to look bold.
    last: Option<(Point, String)>,
    depth: usize,
    given: Option<Given>,
    /// Area of the page that pictures cover; they may overlap.
    covered: f64,
    area: Rect,
    /// The same as `indian` and `lost`, of the current run.
    run_indian: usize,
    run_lost: usize,
    pub characters: usize,
    /// Glyphs without a character.
    pub nameless: usize,
    /// Characters in legacy fonts.
    pub legacy: usize,
    /// Letters of Indian scripts for which the file gives no text, and glyphs without a character that are drawn among them.
    pub indian: usize,
    pub lost: usize,
}

/// A page as it is drawn.
pub struct Drawn {
    pub strips: Vec<Strip>,
    /// The share of the page that pictures cover.
    pub covered: f64,
    /// How wide and how high the page is.
    pub size: (f64, f64),
}

impl Glyphs {
    pub fn begin_page(&mut self, area: Rect) {
        self.area = area;
        self.covered = 0.0;
        (self.at, self.depth, self.given, self.last) = (0, 0, None, None);
    }

    pub fn end_page(&mut self) -> Drawn {
        let area = self.area.area();
        Drawn {
            strips: std::mem::take(&mut self.strips),
            covered: if area > 0.0 { self.covered / area } else { 0.0 },
            size: (self.area.width(), self.area.height()),
        }
    }

    fn add(&mut self, mark: Mark, baseline: f64, size: f64, angle: i32) {
        self.characters += mark.words.chars().count();
        let fits = |strip: &Strip| {
            strip.angle == angle && (strip.baseline - baseline).abs() < strip.size.max(size) * SHIFT
        };
        let end = |strip: &Strip| strip.marks.last().map_or(strip_left(strip), |mark| mark.right);
        let goes_on = |at: usize| {
            self.strips
                .get(at)
                .is_some_and(|strip| fits(strip) && mark.left > end(strip) - strip.size.max(size) * BACK)
        };
        let last = self.strips.len().saturating_sub(1);
        let place = if let Some(at) = [self.at, last].into_iter().find(|at| goes_on(*at)) {
            Some(at)
        } else {
            // The cells of a row are drawn one after the other; one of them may have had several lines.
            let from = self.strips.len().saturating_sub(LOOK_BACK);
            (from..self.strips.len()).rev().find(|place| {
                let strip = &self.strips[*place];
                fits(strip)
                    && mark.left > end(strip)
                    && self.strips[place + 1..].iter().all(|below| {
                        below.angle == angle && strip_left(below) > strip_left(strip) + strip.size
                    })
            })
        };
        match place {
            Some(place) => {
                self.at = place;
                let strip = &mut self.strips[place];
                if !mark.is_blank() {
                    strip.size = strip.size.max(size);
                }
                strip.marks.push(mark);
            }
            // A line begins with a word.
            None if mark.is_blank() => {}
            None => {
                self.at = self.strips.len();
                self.strips.push(Strip { marks: vec![mark], baseline, size, angle });
            }
        }
    }

    fn glyph(&mut self, glyph: &hayro_interpret::font::PositionedGlyph<'_>, turned: Affine, legacy: bool) {
        let transform: Affine = turned * glyph.transform();
        let place = transform * Point::ZERO;
        let size = (transform * Point::new(0.0, UNITS) - place).hypot();
        let along = transform * Point::new(UNITS, 0.0) - place;
        if !(place.x.is_finite() && place.y.is_finite() && size.is_finite() && size > 0.1) {
            return;
        }
        let units = match &**glyph {
            Glyph::Outline(outline) => outline.advance_width(),
            Glyph::Type3(drawn) => drawn.advance_width(),
        };
        let advance = along.hypot() * f64::from(units.unwrap_or(500.0)) / UNITS;
        let angle = along.y.atan2(along.x);
        let angle = if angle.is_finite() { angle.to_degrees().round() } else { 0.0 };
        // The place in the frame in which the line runs from left to right.
        let place = Affine::rotate(-angle.to_radians()) * place;
        let angle = if angle <= -180.0 { 180 } else { angle as i32 };
        let (words, given) = match &mut self.given {
            Some(given) => match given.text.take() {
                Some(words) => (words, true),
                // What is drawn further for a given text makes it wider.
                None => return self.widen(place, advance, size, angle),
            },
            None => match glyph.as_unicode() {
                Some(BfString::Char(character)) if !private(character) => (character.to_string(), false),
                Some(BfString::String(words)) if !words.chars().all(private) => (words, false),
                // Some programs write an empty text for what belongs to the letter before.
                Some(BfString::String(words)) if words.is_empty() => return,
                _ => {
                    self.nameless += 1;
                    self.run_lost += usize::from(is_drawn(glyph));
                    return;
                }
            },
        };
        if words.is_empty() {
            return;
        }
        if !given {
            self.run_indian += words.chars().filter(|letter| offset(*letter).is_some()).count();
        }
        if legacy && !given {
            self.legacy += words.chars().filter(|letter| legacy::stands_for_another(*letter)).count();
        }
        let mark = Mark { words, left: place.x, right: place.x + advance, run: self.runs, given };
        self.add(mark, place.y, size, angle);
    }

    fn widen(&mut self, place: Point, advance: f64, size: f64, angle: i32) {
        if let Some(strip) = self.strips.get_mut(self.at)
            && strip.angle == angle
            && (strip.baseline - place.y).abs() < strip.size.max(size) * SHIFT
            && let Some(mark) = strip.marks.last_mut()
        {
            mark.left = mark.left.min(place.x);
            mark.right = mark.right.max(place.x + advance);
        }
    }

    /// Whether a run was drawn just before at nearly the same place, and counts as text once.
    fn drawn_before(&mut self, run: &GlyphRun<'_, '_>, turned: Affine) -> bool {
        let Some(first) = run.glyphs().first() else { return false };
        let transform: Affine = turned * first.transform();
        let place = transform * Point::ZERO;
        let size = (transform * Point::new(0.0, UNITS) - place).hypot();
        let mut words = String::new();
        for glyph in run.glyphs() {
            match glyph.as_unicode() {
                Some(BfString::Char(character)) => words.push(character),
                Some(BfString::String(more)) => words.push_str(&more),
                None => {}
            }
        }
        let before = self.last.as_ref().is_some_and(|(there, known)| {
            *known == words
                && (there.x - place.x).abs() < size * 0.1
                && (there.y - place.y).abs() < size * 0.1
        });
        self.last = Some((place, words));
        before
    }
}

/// Where a line begins.
pub fn strip_left(strip: &Strip) -> f64 {
    strip.marks.first().map_or(0.0, |mark| mark.left)
}

/// Whether a glyph leaves a mark on paper.
fn is_drawn(glyph: &Glyph<'_>) -> bool {
    match glyph {
        Glyph::Outline(outline) => !outline.outline().is_empty(),
        Glyph::Type3(_) => true,
    }
}

/// Characters whose meaning only the font knows.
fn private(character: char) -> bool {
    matches!(character, '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..='\u{10ffff}' | '\u{fffd}' | '\0')
}

impl Device<'_> for Glyphs {
    fn draw_path(&mut self, _: &BezPath, _: DrawProps<'_>, _: &DrawMode) {}
    fn push_clip_path(&mut self, _: &ClipPath) {}
    fn push_transparency_group(&mut self, _: f32, _: Option<SoftMask<'_>>, _: BlendMode) {}

    fn draw_glyph_run(&mut self, run: &GlyphRun<'_, '_>, props: DrawProps<'_>, _: &DrawMode) {
        if self.characters > MAX_CHARACTERS || self.drawn_before(run, props.transform) {
            return;
        }
        self.runs = self.runs.wrapping_add(1);
        let legacy = run.glyphs().first().is_some_and(|glyph| match &**glyph {
            Glyph::Outline(outline) => outline
                .font_data()
                .and_then(|font| font.postscript_name)
                .is_some_and(|name| legacy::is_legacy_font(&name)),
            Glyph::Type3(_) => false,
        });
        (self.run_indian, self.run_lost) = (0, 0);
        for glyph in run.glyphs() {
            if self.characters > MAX_CHARACTERS {
                return;
            }
            self.glyph(glyph, props.transform, legacy);
        }
        self.indian += self.run_indian;
        // A bullet is drawn by itself, or in a font of its own.
        if self.run_indian > 0 {
            self.lost += self.run_lost;
        }
    }

    fn pop_clip(&mut self) {}
    fn pop_transparency_group(&mut self) {}

    fn draw_image(&mut self, image: Image<'_, '_>, props: ImageDrawProps<'_>) {
        let size = Rect::new(0.0, 0.0, f64::from(image.width()), f64::from(image.height()));
        let there = props.transform.transform_rect_bbox(size).intersect(self.area);
        if there.area().is_finite() {
            self.covered += there.area().max(0.0);
        }
    }

    fn begin_marked_content(&mut self, _: &[u8], properties: Option<&Dict<'_>>) {
        self.depth += 1;
        if self.given.is_none()
            && self.characters <= MAX_CHARACTERS
            && let Some(text) = properties.and_then(|all| all.get::<PdfString<'_>>(b"ActualText"))
        {
            self.given = Some(Given { depth: self.depth, text: Some(string(text.as_bytes())) });
        }
    }

    fn end_marked_content(&mut self) {
        if self.given.as_ref().is_some_and(|given| given.depth == self.depth) {
            self.given = None;
        }
        self.depth = self.depth.saturating_sub(1);
    }
}
