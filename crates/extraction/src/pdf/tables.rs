//! Lines that are rows of one table: their cells are aligned, though some may be empty, and the table may continue on
//! the next page.

use super::lines::{Cell, Line};
use crate::MAX_COLUMNS;

/// How far cells of a column may be out of line, in sizes of the font.
const TOLERANCE: f64 = 0.8;
/// Rows further apart than this, in sizes of the font, are not of one table.
const FAR: f64 = 6.0;
/// A line as near as this to the row above it, in sizes of the font, goes on with the words of that row.
const LEADING: f64 = 1.45;
/// Lines between two rows that are looked at: rows with one cell only.
const ALONE: usize = 3;

/// A column: where its cells stand.
#[derive(Debug, Clone)]
struct Column {
    left: f64,
    right: f64,
}

impl Column {
    /// Whether a cell is aligned with those of the column.
    fn in_line(&self, cell: &Cell, size: f64) -> bool {
        let near = |one: f64, other: f64| (one - other).abs() < size * TOLERANCE;
        // Words that end with their column are those of a text that fills its lines; numbers are not.
        near(self.left, cell.left)
            || near(self.right, cell.right) && cell.words.contains(|letter: char| letter.is_numeric())
            || near(self.left + self.right, cell.left + cell.right)
    }

    fn overlaps(&self, cell: &Cell) -> bool {
        cell.left < self.right && cell.right > self.left
    }
}

/// A row: its page and its cells by column.
#[derive(Debug, Clone)]
pub struct Row {
    pub page: usize,
    pub cells: Vec<String>,
    baseline: f64,
}

/// A table that is being found.
pub struct Table {
    columns: Vec<Column>,
    pub rows: Vec<Row>,
    /// Whether its first row stood above its rows on a further page, too.
    pub headed: bool,
    size: f64,
    angle: i32,
    /// Smallest distance between two rows.
    pitch: f64,
}

/// Whether two lines look like rows of one table.
pub fn belong_together(one: &Line, other: &Line) -> bool {
    let size = one.size.max(other.size);
    if one.cells.len() < 2 || other.cells.len() < 2 || (one.baseline - other.baseline).abs() > size * 3.0 {
        return false;
    }
    let columns = columns(one);
    place(&columns, other).is_some_and(|placed| placed.new.is_empty() && placed.in_line >= 2)
}

fn columns(line: &Line) -> Vec<Column> {
    line.cells.iter().map(|cell| Column { left: cell.left, right: cell.right }).collect()
}

/// Where the cells of a line stand among the columns.
struct Placed {
    /// The column of each cell.
    of: Vec<Option<usize>>,
    /// Cells that stand between or beside all columns.
    new: Vec<usize>,
    /// How many stand in line with the others of their column.
    in_line: usize,
}

/// `None` when a cell spans several columns, or one column has two.
fn place(columns: &[Column], line: &Line) -> Option<Placed> {
    let mut placed = Placed { of: Vec::with_capacity(line.cells.len()), new: Vec::new(), in_line: 0 };
    let as_many = line.cells.len() == columns.len();
    let taken = |column: &Column| line.cells.iter().any(|cell| column.overlaps(cell));
    let mut before: Option<usize> = None;
    for (nth, cell) in line.cells.iter().enumerate() {
        let mut over = columns.iter().enumerate().filter(|(_, column)| column.overlaps(cell));
        let first = over.next().map(|(place, _)| place);
        let column = match (first, over.next()) {
            // A narrow gap between two columns is no reason to part what begins where a column does.
            (Some(_), Some(_)) => return None,
            (Some(column), None) => Some(column),
            (None, _) => columns
                .iter()
                .position(|column| column.in_line(cell, line.size))
                // A row with as many cells as there are columns has one in each.
                .or_else(|| columns.get(nth).filter(|column| as_many && !taken(column)).map(|_| nth)),
        };
        match column {
            Some(column) if before.is_some_and(|before| before >= column) => return None,
            Some(column) => {
                placed.in_line += usize::from(columns[column].in_line(cell, line.size));
                before = Some(column);
            }
            None => placed.new.push(nth),
        }
        placed.of.push(column);
    }
    Some(placed)
}

impl Table {
    /// A table that begins at a line, if the lines after it go on with it. How many lines it takes comes with it.
    ///
    /// `lines` are those from there on, with the page of each.
    pub fn find(lines: &[(usize, &Line)]) -> Option<(Self, usize)> {
        let (page, first) = lines.first()?;
        if first.cells.len() < 2 {
            return None;
        }
        let mut table = Self {
            columns: columns(first),
            rows: vec![Row {
                page: *page,
                cells: first.cells.iter().map(|cell| cell.words.clone()).collect(),
                baseline: first.baseline,
            }],
            headed: false,
            size: first.size,
            angle: first.angle,
            pitch: f64::INFINITY,
        };
        let mut taken = 1;
        let mut of_several = 1;
        while let Some((page, line)) = lines.get(taken) {
            if line.cells.len() >= 2 && table.take(*page, line) {
                of_several += 1;
                taken += 1;
                continue;
            }
            if table.goes_on(*page, line) {
                taken += 1;
                continue;
            }
            // Rows with one cell, when a row with several comes after them.
            let alone =
                lines[taken..].iter().take_while(|(_, line)| line.cells.len() == 1).take(ALONE + 1).count();
            let after = lines.get(taken + alone);
            let follows = alone <= ALONE
                && lines[taken..taken + alone].iter().all(|(page, line)| table.may_take(*page, line))
                && after.is_some_and(|(page, line)| table.may_take(*page, line));
            if alone == 0 || !follows {
                break;
            }
            for (page, line) in &lines[taken..taken + alone] {
                table.take(*page, line);
            }
            taken += alone;
        }
        (of_several >= 2).then_some((table, taken))
    }

    fn may_take(&self, page: usize, line: &Line) -> bool {
        let Some(last) = self.rows.last() else { return false };
        let far = line.baseline - last.baseline;
        if line.angle != self.angle || line.size > self.size * 1.5 {
            return false;
        }
        if last.page == page && !(far > 0.0 && far < self.size * FAR) {
            return false;
        }
        let Some(placed) = place(&self.columns, line) else { return false };
        if line.cells.len() == 1 {
            return placed.of[0].is_some() && placed.in_line == 1;
        }
        let known = line.cells.len() - placed.new.len();
        let in_line = if self.rows.len() == 1 { known.min(2) } else { known.div_ceil(2) };
        known >= 1 && placed.in_line >= in_line && self.columns.len() + placed.new.len() <= MAX_COLUMNS
    }

    /// Adds a row, if the line is one.
    fn take(&mut self, page: usize, line: &Line) -> bool {
        if !self.may_take(page, line) {
            return false;
        }
        let Some(mut placed) = place(&self.columns, line) else { return false };
        for new in std::mem::take(&mut placed.new) {
            let cell = &line.cells[new];
            let place =
                self.columns.iter().position(|column| column.left > cell.left).unwrap_or(self.columns.len());
            self.columns.insert(place, Column { left: cell.left, right: cell.right });
            for row in &mut self.rows {
                if !row.cells.is_empty() && place <= row.cells.len() {
                    row.cells.insert(place, String::new());
                }
            }
            for column in placed.of.iter_mut().flatten().filter(|column| **column >= place) {
                *column += 1;
            }
            placed.of[new] = Some(place);
        }
        let mut cells = vec![String::new(); self.columns.len()];
        for (cell, column) in line.cells.iter().zip(&placed.of) {
            let Some(column) = *column else { continue };
            cells[column].clone_from(&cell.words);
            let column = &mut self.columns[column];
            // Columns grow with their cells, but never over each other.
            column.left = column.left.min(cell.left);
            column.right = column.right.max(cell.right);
        }
        let begins_page = self.rows.last().is_some_and(|last| last.page != page);
        if begins_page && self.is_first_row(&cells) {
            self.headed = true;
            // Its place is where the page's rows are counted from.
            self.rows.push(Row { page, cells: Vec::new(), baseline: line.baseline });
            return true;
        }
        if let Some(last) = self.rows.last().filter(|last| last.page == page) {
            self.pitch = self.pitch.min(line.baseline - last.baseline);
        }
        self.rows.push(Row { page, cells, baseline: line.baseline });
        true
    }

    fn is_first_row(&self, cells: &[String]) -> bool {
        let words = |cells: &[String]| -> Vec<String> {
            cells.iter().map(|cell| crate::text::tidy(cell)).filter(|cell| !cell.is_empty()).collect()
        };
        self.rows.first().is_some_and(|first| words(&first.cells) == words(cells))
    }

    /// Whether a line goes on with the words of the row above: it is nearer than rows are, and has nothing in the
    /// first column.
    fn goes_on(&mut self, page: usize, line: &Line) -> bool {
        let Some(last) = self.rows.last_mut() else { return false };
        let far = line.baseline - last.baseline;
        let near = far > 0.0 && far < self.size * LEADING && far < self.pitch * 0.95;
        if last.page != page || !near || line.angle != self.angle || last.cells.is_empty() {
            return false;
        }
        let Some(placed) = place(&self.columns, line) else { return false };
        let fits = placed.new.is_empty() && placed.of.iter().flatten().all(|column| *column > 0);
        if !fits {
            return false;
        }
        for (cell, column) in line.cells.iter().zip(placed.of.iter().flatten()) {
            if let Some(words) = last.cells.get_mut(*column) {
                super::layout::join(words, &cell.words);
            }
        }
        last.baseline = line.baseline;
        true
    }

    /// Its rows with cells.
    pub fn rows(self) -> Vec<Row> {
        self.rows.into_iter().filter(|row| !row.cells.is_empty()).collect()
    }
}
