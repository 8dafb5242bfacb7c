//! The text of a document, with its tables and notes.

use std::collections::HashMap;

use domain::ports::{ReadLimit, Unreadable};
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::styles::{Styles, outline_level};
use super::xml::{attribute, entity, is_on, legacy_font, next};
use crate::draft::Draft;
use crate::table::{Cell, Grid};
use crate::{MAX_BLOCKS, MAX_CHARACTERS, MAX_COLUMNS, legacy};

/// Longest id of a note or a style that is kept.
const MAX_ID: usize = 255;

/// The text of notes, by their kind (`footnote`, `endnote`) and id.
#[derive(Default)]
pub struct Notes(HashMap<(&'static str, String), String>);

/// Letters of a document, and how many of them a legacy font shows as others.
#[derive(Default)]
pub struct Letters {
    pub all: usize,
    pub legacy: usize,
}

/// A cell as it is written.
#[derive(Default)]
struct Written {
    words: String,
    /// Columns that it spans.
    wide: usize,
    /// Whether it continues the cell above it, or the one before it.
    below: bool,
    beside: bool,
}

/// A row as it is written.
#[derive(Default)]
struct WrittenRow {
    cells: Vec<Written>,
    heading: bool,
    hidden: bool,
}

/// A table that is being parsed.
#[derive(Default)]
struct Table {
    rows: Vec<WrittenRow>,
    /// Whether the style of its first row is that of headings.
    first: bool,
    cell: Written,
}

/// Properties of a run of text, or of a paragraph.
#[derive(Default)]
struct Look {
    style: Option<String>,
    hidden: Option<bool>,
    legacy: Option<bool>,
}

/// The body of a document while it is parsed.
pub struct Body<'a> {
    styles: &'a Styles,
    draft: &'a mut Draft,
    text: String,
    heading: Option<u8>,
    in_text: bool,
    /// Nesting depth in skipped content: deletions and moves, former properties, and the fallback copy of a drawing.
    passed_over: usize,
    /// The open paragraphs and runs: a text box is within a run.
    paragraphs: Vec<Look>,
    runs: Vec<Look>,
    /// Nesting depth in the properties of a paragraph, which are not those of its text.
    of_paragraph: usize,
    /// The tables that are open. One within a cell adds its words to that cell.
    depth: usize,
    table: Table,
    notes: Notes,
    /// The note that is being parsed.
    note: Option<(&'static str, String)>,
    of_notes: bool,
    letters: Letters,
}

impl<'a> Body<'a> {
    pub fn new(styles: &'a Styles, draft: &'a mut Draft) -> Self {
        Self {
            styles,
            draft,
            text: String::new(),
            heading: None,
            in_text: false,
            passed_over: 0,
            paragraphs: Vec::new(),
            runs: Vec::new(),
            of_paragraph: 0,
            depth: 0,
            table: Table::default(),
            notes: Notes::default(),
            note: None,
            of_notes: false,
            letters: Letters::default(),
        }
    }

    /// Parses the main part. Notes are inserted in brackets where they are referred to.
    pub fn read(mut self, body: &str, notes: Notes) -> Result<Letters, Unreadable> {
        self.notes = notes;
        self.walk(body)?;
        self.paragraph()?;
        Ok(self.letters)
    }

    /// Parses a part with notes.
    pub fn notes(mut self, part: &str, notes: &mut Notes) -> Result<(), Unreadable> {
        self.of_notes = true;
        self.walk(part)?;
        notes.0.extend(self.notes.0);
        Ok(())
    }

    fn walk(&mut self, part: &str) -> Result<(), Unreadable> {
        let mut reader = Reader::from_str(part);
        loop {
            match next(&mut reader)? {
                Event::Start(tag) => self.start(&tag, false)?,
                Event::Empty(tag) => self.start(&tag, true)?,
                Event::End(tag) => self.end(tag.local_name().as_ref())?,
                Event::Text(words) if self.reads() => self.add(&words)?,
                Event::CData(words) if self.reads() => self.add(&words.xml10_content())?,
                Event::GeneralRef(reference) if self.reads() => {
                    let words = entity(&reference).unwrap_or_default();
                    self.add(&words)?;
                }
                Event::Eof => return Ok(()),
                _ => {}
            }
        }
    }

    fn reads(&self) -> bool {
        self.in_text && self.passed_over == 0 && !self.is_hidden()
    }

    /// Whether the current run is hidden: by its own properties, else by its styles.
    fn is_hidden(&self) -> bool {
        let (run, paragraph) = (self.runs.last(), self.paragraphs.last());
        run.and_then(|run| run.hidden).unwrap_or_else(|| {
            self.styles.hide(
                paragraph.and_then(|paragraph| paragraph.style.as_deref()),
                run.and_then(|run| run.style.as_deref()),
            )
        })
    }

    fn add(&mut self, words: &str) -> Result<(), Unreadable> {
        let (run, paragraph) = (self.runs.last(), self.paragraphs.last());
        let by_font = run.and_then(|run| run.legacy).unwrap_or_else(|| {
            self.styles.legacy(
                paragraph.and_then(|paragraph| paragraph.style.as_deref()),
                run.and_then(|run| run.style.as_deref()),
            )
        });
        self.letters.all += words.chars().filter(|letter| !letter.is_whitespace()).count();
        if by_font {
            self.letters.legacy += words.chars().filter(|letter| legacy::stands_for_another(*letter)).count();
        }
        if self.letters.all > MAX_CHARACTERS {
            return Err(Unreadable::Beyond(ReadLimit::Characters, MAX_CHARACTERS as u64));
        }
        self.text.push_str(words);
        Ok(())
    }

    fn start(&mut self, tag: &BytesStart<'_>, empty: bool) -> Result<(), Unreadable> {
        let name = tag.local_name();
        let name = name.as_ref();
        if passed_over(name) && !empty {
            self.passed_over += 1;
        }
        if self.passed_over > 0 {
            return Ok(());
        }
        match name {
            "t" => self.in_text = !empty,
            "tab" | "ptab" | "br" | "cr" if self.of_paragraph == 0 => self.text.push(' '),
            "noBreakHyphen" => self.text.push('-'),
            "p" => {
                if self.depth == 0 && !self.of_notes {
                    self.paragraph()?;
                }
                if !empty {
                    self.paragraphs.push(Look::default());
                }
            }
            "r" if !empty => self.runs.push(Look::default()),
            "pPr" if !empty => self.of_paragraph += 1,
            "rStyle" | "vanish" | "rFonts" if self.of_paragraph == 0 => self.look(name, tag),
            "pStyle" => {
                let style = attribute(tag, "val").filter(|id| id.len() <= MAX_ID);
                self.heading = style.as_deref().and_then(|id| self.styles.level(id)).or(self.heading);
                if let Some(paragraph) = self.paragraphs.last_mut() {
                    paragraph.style = style;
                }
            }
            "outlineLvl" => self.heading = outline_level(tag).or(self.heading),
            "footnoteReference" | "endnoteReference" => self.refer(tag, name),
            "footnote" | "endnote" if self.of_notes && !empty => {
                let kind = if name == "footnote" { "footnote" } else { "endnote" };
                self.text.clear();
                self.note = attribute(tag, "id").filter(|id| id.len() <= MAX_ID).map(|id| (kind, id));
            }
            _ if !self.of_notes => self.start_of_table(name, tag, empty)?,
            _ => {}
        }
        Ok(())
    }

    /// The properties of a run.
    fn look(&mut self, name: &str, tag: &BytesStart<'_>) {
        let Some(run) = self.runs.last_mut() else { return };
        match name {
            "rStyle" => run.style = attribute(tag, "val").filter(|id| id.len() <= MAX_ID),
            "vanish" => run.hidden = Some(is_on(tag)),
            _ => run.legacy = legacy_font(tag).or(run.legacy),
        }
    }

    /// Puts a note where it is referred to, once.
    fn refer(&mut self, tag: &BytesStart<'_>, name: &str) {
        if self.is_hidden() {
            return;
        }
        let kind = if name == "footnoteReference" { "footnote" } else { "endnote" };
        let note = attribute(tag, "id").and_then(|id| self.notes.0.remove(&(kind, id)));
        if let Some(note) = note.filter(|note| !note.trim().is_empty()) {
            self.text.push_str(" (");
            self.text.push_str(note.trim());
            self.text.push(')');
        }
    }

    fn start_of_table(&mut self, name: &str, tag: &BytesStart<'_>, empty: bool) -> Result<(), Unreadable> {
        if name == "tbl" && !empty {
            if self.depth == 0 {
                self.paragraph()?;
                self.table = Table::default();
            }
            self.depth += 1;
        }
        if self.depth != 1 {
            return Ok(());
        }
        let number = || attribute(tag, "val").and_then(|number| number.parse::<usize>().ok()).unwrap_or(1);
        let restarts = || attribute(tag, "val").is_some_and(|value| value == "restart");
        match name {
            "tblLook" => {
                let by_mask = attribute(tag, "val")
                    .and_then(|mask| u32::from_str_radix(&mask, 16).ok())
                    .is_some_and(|mask| mask & 0x20 != 0);
                let first =
                    attribute(tag, "firstRow").map(|first| matches!(first.as_str(), "1" | "true" | "on"));
                self.table.first |= first.unwrap_or(by_mask);
            }
            "tr" => {
                if self.table.rows.len() > MAX_BLOCKS {
                    return Err(Unreadable::Beyond(ReadLimit::Blocks, MAX_BLOCKS as u64));
                }
                self.table.rows.push(WrittenRow::default());
            }
            "tc" => self.table.cell = Written::default(),
            "gridSpan" => self.table.cell.wide = number(),
            "vMerge" => self.table.cell.below = !restarts(),
            "hMerge" => self.table.cell.beside = !restarts(),
            "tblHeader" | "hidden" | "gridBefore" => {
                let Some(row) = self.table.rows.last_mut() else { return Ok(()) };
                match name {
                    "tblHeader" => row.heading = is_on(tag),
                    "hidden" => row.hidden = is_on(tag),
                    // Columns that the row leaves out at its beginning.
                    _ if number() > 0 => row.cells.push(Written { wide: number(), ..Written::default() }),
                    _ => {}
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, name: &str) -> Result<(), Unreadable> {
        if passed_over(name) {
            self.passed_over = self.passed_over.saturating_sub(1);
            return Ok(());
        }
        if self.passed_over > 0 {
            return Ok(());
        }
        match name {
            "t" => self.in_text = false,
            "r" => drop(self.runs.pop()),
            "pPr" => self.of_paragraph = self.of_paragraph.saturating_sub(1),
            "p" => {
                self.paragraphs.pop();
                if self.depth == 0 && !self.of_notes {
                    return self.paragraph();
                }
                self.text.push(' ');
            }
            "footnote" | "endnote" if self.of_notes => {
                let words = std::mem::take(&mut self.text);
                if let Some(note) = self.note.take() {
                    self.notes.0.insert(note, words);
                }
            }
            "tc" if self.depth == 1 => {
                let words = std::mem::take(&mut self.text);
                self.heading = None;
                let cell = Written { words, ..std::mem::take(&mut self.table.cell) };
                if let Some(row) = self.table.rows.last_mut() {
                    row.cells.push(cell);
                }
            }
            "tbl" if self.depth > 0 => {
                self.depth -= 1;
                if self.depth == 0 {
                    let table = std::mem::take(&mut self.table);
                    return table.read(self.draft);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn paragraph(&mut self) -> Result<(), Unreadable> {
        let words = std::mem::take(&mut self.text);
        match self.heading.take() {
            Some(level) => self.draft.heading(level, &words),
            None => self.draft.paragraph(&words),
        }
    }
}

impl Table {
    /// Puts the cells at their places.
    fn read(mut self, draft: &mut Draft) -> Result<(), Unreadable> {
        self.rows.retain(|row| !row.hidden);
        let said = self.rows.iter().take_while(|row| row.heading).count();
        let headings = if said > 0 { Some(said) } else { self.first.then_some(1) };
        let mut rows: Vec<Vec<Cell>> = Vec::with_capacity(self.rows.len());
        // The cell that each column would continue: its row, and its place there.
        let mut above: HashMap<usize, (usize, usize)> = HashMap::new();
        for row in self.rows {
            let mut cells: Vec<Cell> = Vec::new();
            let mut column = 0;
            for Written { words, wide, below, beside } in row.cells {
                let wide = wide.clamp(1, MAX_COLUMNS);
                if beside && let Some(before) = cells.last_mut() {
                    before.wide += wide;
                    column += wide;
                    continue;
                }
                let goes_on = below
                    .then(|| above.get(&column).copied())
                    .flatten()
                    .and_then(|(row, place)| rows.get_mut(row)?.get_mut(place))
                    .filter(|cell| cell.high < MAX_COLUMNS);
                match goes_on {
                    Some(cell) => cell.high += 1,
                    None => {
                        above.insert(column, (rows.len(), cells.len()));
                        cells.push(Cell { words, wide, high: 1 });
                    }
                }
                column += wide;
                if column > MAX_COLUMNS {
                    return Err(Unreadable::Beyond(ReadLimit::Columns, MAX_COLUMNS as u64));
                }
            }
            rows.push(cells);
        }
        let mut grid = Grid::default();
        rows.into_iter().for_each(|cells| grid.row(cells));
        grid.read(headings, draft)
    }
}

/// Content of a document that is skipped.
fn passed_over(name: &str) -> bool {
    matches!(name, "del" | "moveFrom" | "Fallback") || name.ends_with("Change")
}
