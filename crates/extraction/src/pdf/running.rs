//! Page headers and footers: the name of the document, the number of the page. Lines that differ in more than the
//! number of the page are text, and so are lines of a table.

use std::collections::HashMap;

use super::lines::Line;
use super::tables;
use crate::text;

/// A document with this many pages may have lines that all of them begin or end with.
const PAGES: usize = 3;
/// Lines at each end of a page that may be such lines, and how far from its edge they may stand: a share of the page.
const EDGE: usize = 3;
const MARGIN: f64 = 0.16;
/// Largest distance of such a line from its position on other pages, in sizes of its font.
const SHIFT: f64 = 2.0;
/// Largest number of a page.
const LARGEST: u64 = 5_000;
/// Most numbers of a line that are looked at.
const NUMBERS: usize = 8;
/// Words beside the number of a page.
const PAGE_WORDS: [&str; 21] = [
    "page",
    "pages",
    "pg",
    "पृष्ठ",
    "पेज",
    "p",
    "of",
    "sheet",
    "slide",
    "पृ",
    "का",
    "में",
    "से",
    "पान",
    "பக்கம்",
    "పేజీ",
    "ಪುಟ",
    "പേജ്",
    "পৃষ্ঠা",
    "પૃષ્ઠ",
    "ਪੰਨਾ",
];

/// A line at the edge of a page.
struct Edge {
    page: usize,
    /// Its place among the lines of the page.
    place: usize,
    /// Its distance from its end of the page, and its size.
    height: f64,
    size: f64,
    /// How far such lines may stand from it.
    margin: f64,
    /// Its words with `#` for each number, and the numbers.
    pattern: String,
    numbers: Vec<u64>,
    at_top: bool,
    /// Whether it is part of a table.
    in_table: bool,
}

/// Removes such lines.
pub fn leave_out(pages: &mut [Vec<Line>], sizes: &[(f64, f64)]) {
    if pages.len() < PAGES {
        return;
    }
    let edges: Vec<Edge> = pages
        .iter()
        .enumerate()
        .flat_map(|(page, lines)| edges(page, lines, sizes.get(page).copied().unwrap_or_default()))
        .collect();
    let mut groups: HashMap<(bool, &str), Vec<&Edge>> = HashMap::new();
    for edge in &edges {
        groups.entry((edge.at_top, edge.pattern.as_str())).or_default().push(edge);
    }
    let mut running: Vec<Vec<usize>> = vec![Vec::new(); pages.len()];
    for ((_, pattern), group) in groups {
        for edge in of_group(pattern, &group, pages.len()) {
            running[edge.page].push(edge.place);
        }
    }
    // Only lines with nothing but such lines between them and the edge.
    for (page, lines) in running.iter_mut().enumerate() {
        let all: Vec<&Edge> = edges.iter().filter(|edge| edge.page == page).collect();
        let mut kept = Vec::new();
        for at_top in [true, false] {
            let side = all.iter().filter(|edge| edge.at_top == at_top);
            kept.extend(side.map(|edge| edge.place).take_while(|place| lines.contains(place)));
        }
        *lines = kept;
    }
    let emptied = pages
        .iter()
        .zip(&running)
        .filter(|(lines, gone)| !lines.is_empty() && gone.len() >= lines.len())
        .count();
    // Pages that say nothing else say this.
    if emptied * 2 > pages.len() {
        return;
    }
    for (page, gone) in pages.iter_mut().zip(&running) {
        let mut place = 0;
        page.retain(|_| {
            place += 1;
            !gone.contains(&(place - 1))
        });
    }
}

/// The first and the last lines of a page, each from its edge inwards.
fn edges(page: usize, lines: &[Line], (width, height): (f64, f64)) -> Vec<Edge> {
    // Lines that run as most of the page's do.
    let mut angles: HashMap<i32, usize> = HashMap::new();
    for line in lines {
        *angles.entry(line.angle).or_default() += 1;
    }
    let Some((angle, _)) = angles.into_iter().max_by_key(|(angle, count)| (*count, -angle.abs())) else {
        return Vec::new();
    };
    let mut places: Vec<usize> = (0..lines.len()).filter(|place| lines[*place].angle == angle).collect();
    places.sort_by(|one, other| lines[*one].baseline.total_cmp(&lines[*other].baseline));
    // Where the page begins and ends for who reads these lines upright.
    let height = if (45..135).contains(&angle.abs()) { width } else { height };
    let start = if (45..=180).contains(&angle) || angle <= -135 { -height } else { 0.0 };
    let edge = |nth: usize, at_top: bool| {
        let place = places[nth];
        let line = &lines[place];
        let from_top = line.baseline - start;
        let (pattern, numbers) = pattern(line);
        let (above, below) = (nth.checked_sub(1), (nth + 1 < places.len()).then_some(nth + 1));
        let neighbours = [above, below].into_iter().flatten().map(|nth| &lines[places[nth]]);
        Edge {
            page,
            place,
            height: if at_top { from_top } else { height - from_top },
            margin: height * MARGIN,
            size: line.size,
            pattern,
            numbers,
            at_top,
            in_table: neighbours.into_iter().any(|other| tables::belong_together(line, other)),
        }
    };
    let length = places.len();
    // A line of a short page belongs to the edge that it is nearer to.
    let alone_below = length == 1 && lines[places[0]].baseline - start > height / 2.0;
    let of_top = if alone_below { 0 } else { length.div_ceil(2) };
    let top = (0..of_top.min(EDGE)).map(|nth| edge(nth, true));
    let bottom = (0..(length - of_top).min(EDGE)).map(|nth| edge(length - 1 - nth, false));
    top.chain(bottom).collect()
}

/// The words of a line with `#` for each number, and the numbers. A Roman number that is a word by itself is one.
fn pattern(line: &Line) -> (String, Vec<u64>) {
    let words = text::tidy(&line.text());
    if let Some(number) = roman(&words) {
        return ("#".into(), vec![number]);
    }
    let (mut pattern, mut numbers) = (String::new(), Vec::new());
    let mut number: Option<u64> = None;
    for letter in words.chars() {
        match digit(letter) {
            Some(digit) => number = Some(number.unwrap_or(0).saturating_mul(10).saturating_add(digit)),
            None => {
                if let Some(number) = number.take() {
                    numbers.push(number);
                    pattern.push('#');
                }
                pattern.push(letter);
            }
        }
    }
    if let Some(number) = number {
        numbers.push(number);
        pattern.push('#');
    }
    (pattern, numbers)
}

/// The value of a digit, of Western or of Indian scripts.
fn digit(letter: char) -> Option<u64> {
    if let Some(digit) = letter.to_digit(10) {
        return Some(u64::from(digit));
    }
    let code = u32::from(letter);
    let offset = (0x900..0xd80).contains(&code).then_some(code & 0x7f)?;
    (0x66..=0x6f).contains(&offset).then(|| u64::from(offset - 0x66))
}

/// A number in small Roman letters, up to 40.
fn roman(words: &str) -> Option<u64> {
    const LONGEST: usize = 7;
    if words.is_empty() || words.len() > LONGEST {
        return None;
    }
    let value = |letter| match letter {
        'i' => Some(1),
        'v' => Some(5),
        'x' => Some(10),
        _ => None,
    };
    let values: Vec<u64> = words.chars().map(value).collect::<Option<_>>()?;
    // A smaller letter before a larger one is taken off.
    let (mut sum, mut off) = (0, 0);
    for (place, value) in values.iter().enumerate() {
        let before_larger = values.get(place + 1).is_some_and(|next| next > value);
        *if before_larger { &mut off } else { &mut sum } += value;
    }
    u64::checked_sub(sum, off)
}

/// The lines of a group with the same words that most pages have at the same place.
fn of_group<'a>(pattern: &str, group: &[&'a Edge], pages: usize) -> Vec<&'a Edge> {
    let numbers = pattern.matches('#').count();
    if numbers > NUMBERS {
        return Vec::new();
    }
    let mut heights: Vec<f64> = group.iter().map(|edge| edge.height).collect();
    heights.sort_unstable_by(f64::total_cmp);
    let height = heights[heights.len() / 2];
    let placed: Vec<&Edge> = group
        .iter()
        .copied()
        .filter(|edge| !edge.in_table && edge.height < edge.margin)
        .filter(|edge| (edge.height - height).abs() < edge.size * SHIFT)
        .collect();
    if numbers == 0 {
        return of_most_pages(placed, pages);
    }
    if !numbers_a_page(pattern) {
        // Words with other numbers than that of the page: the same on all pages, or text.
        return of_the_same_numbers(placed, pages);
    }
    // One number counts with the pages, and the others are the same on all of them.
    for counting in 0..numbers {
        let key = |edge: &Edge| {
            let mut key: Vec<i128> = edge.numbers.iter().map(|number| i128::from(*number)).collect();
            key[counting] -= edge.page as i128;
            key
        };
        let mut alike: HashMap<Vec<i128>, Vec<&Edge>> = HashMap::new();
        for edge in placed.iter().filter(|edge| edge.numbers[counting] <= LARGEST) {
            alike.entry(key(edge)).or_default().push(edge);
        }
        let found: Vec<&Edge> = alike.into_values().flat_map(|alike| of_most_pages(alike, pages)).collect();
        if !found.is_empty() {
            return found;
        }
    }
    of_the_same_numbers(placed, pages)
}

/// Lines whose numbers are the same on most pages.
fn of_the_same_numbers(placed: Vec<&Edge>, pages: usize) -> Vec<&Edge> {
    let mut same: HashMap<&[u64], Vec<&Edge>> = HashMap::new();
    for edge in placed {
        same.entry(&edge.numbers).or_default().push(edge);
    }
    same.into_values().flat_map(|same| of_most_pages(same, pages)).collect()
}

/// Whether a line with a number says the number of its page: it has no other words, or such as stand beside it, or
/// it is set apart from them.
fn numbers_a_page(pattern: &str) -> bool {
    let apart = |part: &str| {
        let mut words = part
            .split(|letter: char| !(letter.is_alphanumeric() || letter == '#' || is_sign(letter)))
            .filter(|word| !word.is_empty());
        part.contains('#')
            && words.all(|word| word == "#" || PAGE_WORDS.contains(&word.to_lowercase().as_str()))
    };
    let lower = pattern.to_lowercase();
    apart(pattern)
        || pattern.split(['|', '•', '·', '\u{2013}', '\u{2014}']).any(apart)
        || pattern.split(" - ").any(apart)
        || PAGE_WORDS[..5].iter().any(|word| {
            lower.split(' ').collect::<Vec<_>>().windows(2).any(|pair| {
                pair[0].trim_matches(|letter: char| !letter.is_alphanumeric()) == *word
                    && pair[1].starts_with('#')
            })
        })
}

/// Vowel signs of Indian scripts, which are part of words.
fn is_sign(letter: char) -> bool {
    matches!(letter, '\u{900}'..='\u{dff}')
}

/// The lines when most pages have them, or most of the pages on the left or on the right.
fn of_most_pages(lines: Vec<&Edge>, pages: usize) -> Vec<&Edge> {
    let count = |parity: Option<usize>| {
        let mut of: Vec<usize> = lines.iter().map(|edge| edge.page).collect();
        of.retain(|page| parity.is_none_or(|parity| page % 2 == parity));
        of.sort_unstable();
        of.dedup();
        of.len()
    };
    let sides = [(None, pages), (Some(0), pages.div_ceil(2)), (Some(1), pages / 2)];
    let most = sides.iter().any(|(parity, of)| {
        let count = count(*parity);
        count >= PAGES && count > of / 2
    });
    // Of three pages, two have it.
    let most = most || pages == PAGES && count(None) >= 2;
    if most { lines } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::super::lines::Cell;
    use super::*;

    fn line(baseline: f64, cells: &[&str]) -> Line {
        let cells = cells.iter().enumerate().map(|(place, words)| {
            let left = 72.0 + 150.0 * place as f64;
            Cell { words: (*words).to_owned(), left, right: left + 6.0 * words.len() as f64 }
        });
        Line { cells: cells.collect(), baseline, size: 11.0, angle: 0 }
    }

    /// What is left of pages with these lines.
    fn left(pages: Vec<Vec<Line>>) -> Vec<Vec<String>> {
        let sizes = vec![(595.0, 842.0); pages.len()];
        let mut pages = pages;
        leave_out(&mut pages, &sizes);
        pages.iter().map(|page| page.iter().map(Line::text).collect()).collect()
    }

    fn around(first: impl Fn(usize) -> String, last: impl Fn(usize) -> String) -> Vec<Vec<String>> {
        left(
            (1..=5)
                .map(|page| {
                    let body = (0..4)
                        .map(|n| line(200.0 + 30.0 * f64::from(n), &[&format!("Text {} {n}", page * 7)]));
                    let mut lines = vec![line(40.0, &[&first(page)])];
                    lines.extend(body);
                    lines.push(line(800.0, &[&last(page)]));
                    lines
                })
                .collect(),
        )
    }

    #[test]
    fn names_and_numbers_of_pages_are_left_out() {
        for last in
            ["Page # of 5", "#", "- # -", "Acme Ltd | #", "पृष्ठ #", "Acme - Page #", "Form 27B, page #"]
        {
            let pages = around(|_| "Handbook 2026".into(), |page| last.replace('#', &page.to_string()));
            assert!(pages.iter().all(|page| page.len() == 4), "{last}: {:?}", pages[0]);
        }
        let roman = around(|_| "Handbook".into(), |page| ["i", "ii", "iii", "iv", "v"][page - 1].into());
        assert!(roman.iter().all(|page| page.len() == 4), "{roman:?}");
        let sides = around(|page| ["Acme", "Handbook"][page % 2].into(), |page| page.to_string());
        assert!(sides.iter().filter(|page| page.len() == 4).count() >= 3, "{sides:?}");
    }

    #[test]
    fn lines_that_differ_in_more_are_text() {
        for (first, last) in [
            ("Question #", "Answer #: the fee of step # is Rs #00."),
            ("Clause #.0: goods come back.", "Clause #.9: goods come back."),
            ("41100#", "4110#7"),
            ("Step #", "Up to # days"),
        ] {
            let pages = around(
                |page| first.replace('#', &page.to_string()),
                |page| last.replace('#', &page.to_string()),
            );
            assert!(pages.iter().all(|page| page.len() == 6), "{first}: {:?}", pages[0]);
        }
    }

    #[test]
    fn what_stands_amid_a_page_is_text() {
        let page = |page: usize| {
            vec![
                line(90.0, &[&format!("Plan {page} costs {}0", page * 3)]),
                line(130.0, &["What it has"]),
                line(300.0, &["It can be ended at any time."]),
            ]
        };
        assert!(
            left((1..=5).map(page).collect())
                .iter()
                .all(|page| page.iter().any(|line| line.contains("ended")))
        );
    }

    #[test]
    fn pages_that_are_turned_have_such_lines_too() {
        let page = |page: usize| {
            let mut lines =
                vec![line(-560.0, &["Handbook"]), line(-400.0, &[&format!("Text {}", page * page * 7)])];
            lines.push(line(-300.0, &[&format!("More {}", page * page * 3)]));
            lines.push(line(-20.0, &[&page.to_string()]));
            lines.iter_mut().for_each(|line| line.angle = 90);
            lines
        };
        assert!(left((1..=5).map(page).collect()).iter().all(|page| page.len() == 2));
    }

    #[test]
    fn the_headings_of_a_table_on_each_page_are_part_of_it() {
        let page = |page: usize| {
            let mut lines = vec![line(40.0, &["Rate card"]), line(90.0, &["City", "Time", "Fee"])];
            lines.extend((0..9).map(|row| {
                let below = 108.0 + 18.0 * f64::from(row);
                line(below, &[&format!("Pune {page}{row}"), "2 days", "Rs 40"])
            }));
            lines.push(line(800.0, &[&page.to_string()]));
            lines
        };
        for page in left((1..=4).map(page).collect()) {
            assert_eq!(page.len(), 10, "{page:?}");
            assert_eq!(page[0], "City Time Fee");
        }
    }

    #[test]
    fn pages_that_say_nothing_else_say_this() {
        let pages = left((0..4).map(|_| vec![line(90.0, &["Call us"]), line(800.0, &["at nine"])]).collect());
        assert!(pages.iter().all(|page| page.len() == 2), "{pages:?}");
    }
}
