//! Data tables, whose cells may span rows and columns.

use dom_query::NodeRef;

use super::{BREAKS, Step, level, name_of, travel, unread};
use crate::table::{Cell, Grid};
use crate::text;

/// The cells of a data table, and how many of its rows are headings, where it says so; `None` for a layout table.
pub fn of(table: &NodeRef<'_>) -> Option<(Grid, Option<usize>)> {
    let role = table.attr("role").map(|role| role.to_string()).unwrap_or_default();
    if matches!(role.as_str(), "presentation" | "none") {
        return None;
    }
    let mut grid = Grid::default();
    let (mut headings, mut of_head, mut only_headings) = (0, 0, true);
    let mut named_rows = false;
    for node in table.descendants_it() {
        if node.has_name("table") || level(&name_of(&node)).is_some() {
            return None;
        }
        if !node.has_name("tr") || unread(&node) {
            continue;
        }
        let cells: Vec<NodeRef<'_>> = node
            .children_it(false)
            .filter(|cell| (cell.has_name("td") || cell.has_name("th")) && !unread(cell))
            .collect();
        if cells.is_empty() {
            continue;
        }
        if grid.is_empty() {
            named_rows = cells.len() == 2 && cells[0].has_name("th") && !cells[1].has_name("th");
        }
        of_head += usize::from(node.parent().is_some_and(|parent| parent.has_name("thead")));
        only_headings &= cells.iter().all(|cell| cell.has_name("th"));
        headings += usize::from(only_headings);
        grid.row(cells.iter().map(|cell| Cell {
            words: cell_words(cell),
            wide: span(cell, "colspan"),
            high: span(cell, "rowspan"),
        }));
    }
    let said = match of_head.max(headings) {
        0 => named_rows.then_some(0),
        said => Some(said),
    };
    grid.is_wide().then_some((grid, said))
}

fn span(cell: &NodeRef<'_>, name: &str) -> usize {
    cell.attr(name).and_then(|value| value.trim().parse::<usize>().ok()).unwrap_or(1)
}

fn cell_words(cell: &NodeRef<'_>) -> String {
    let mut words = String::new();
    travel(cell, |step| {
        let (Step::Enter(node) | Step::Leave(node)) = step;
        if unread(node) {
            return false;
        }
        if let (true, Step::Enter(node)) = (node.is_text(), &step) {
            words.push_str(&node.text());
        } else if node.is_element() && (node.has_name("br") || BREAKS.contains(&name_of(node).as_str())) {
            words.push(' ');
        }
        true
    });
    text::tidy(&words)
}
