//! Marks become lines: gaps between them are spaces, or separate cells.

use super::glyphs::{Mark, Strip};

/// A gap this wide, in sizes of the font, is a space; one this wide separates columns.
const SPACE: f64 = 0.18;
const COLUMN: f64 = 1.6;
/// Letters that are set apart stand this far from each other, in sizes of the font.
const APART: f64 = 0.08;
const MOST_APART: f64 = 1.2;
/// Most blanks between two words of a run that is stretched to the width of its column.
const STRETCHED_BLANKS: usize = 2;
/// Fewest letters that are taken for a word whose letters are typed with blanks between them.
const TYPED_APART: usize = 5;

/// Words between wide gaps.
#[derive(Debug, Clone, Default)]
pub struct Cell {
    pub words: String,
    pub left: f64,
    pub right: f64,
}

/// A line of a page.
#[derive(Debug, Clone, Default)]
pub struct Line {
    /// Its words; there are several where wide gaps part them.
    pub cells: Vec<Cell>,
    pub baseline: f64,
    pub size: f64,
    /// How far it is turned, in degrees.
    pub angle: i32,
}

impl Line {
    pub fn text(&self) -> String {
        let words: Vec<&str> = self.cells.iter().map(|cell| cell.words.as_str()).collect();
        words.join(" ")
    }
}

/// The lines of a page, in the order in which they were drawn.
pub fn of(strips: Vec<Strip>) -> Vec<Line> {
    strips.into_iter().map(line).filter(|line| !line.cells.is_empty()).collect()
}

fn line(strip: Strip) -> Line {
    let Strip { marks, baseline, size, angle } = strip;
    let apart = apart(&marks, size);
    let mut cells: Vec<Cell> = Vec::new();
    let mut blanks = 0;
    let mut before: Option<&Mark> = None;
    // Signs are drawn over the letter before them: what follows is after both.
    let mut end = f64::NEG_INFINITY;
    for mark in &marks {
        if mark.is_blank() {
            blanks += 1;
            continue;
        }
        let gap = before.map_or(0.0, |_| (mark.left - end) / size);
        let same_run = before.is_some_and(|before| before.run == mark.run);
        let stretched = same_run && (1..=STRETCHED_BLANKS).contains(&blanks);
        match cells.last_mut() {
            Some(cell) if gap <= COLUMN + apart || stretched => {
                // Several blanks keep words apart whose letters are set apart.
                cell.words.extend(std::iter::repeat_n(' ', blanks.min(2)));
                if blanks == 0 && gap > SPACE + apart && !is_sign(&mark.words) {
                    cell.words.push(' ');
                }
                cell.words.push_str(&mark.words);
                cell.right = cell.right.max(mark.right);
            }
            _ => cells.push(Cell { words: mark.words.clone(), left: mark.left, right: mark.right }),
        }
        blanks = 0;
        before = Some(mark);
        end = end.max(mark.right);
    }
    for cell in &mut cells {
        if let Some(together) = typed_apart(&cell.words) {
            cell.words = together;
        }
    }
    Line { cells, baseline, size, angle }
}

/// Whether words begin with a vowel sign or another sign of an Indian script, which no word does.
fn is_sign(words: &str) -> bool {
    let code = words.chars().next().map_or(0, u32::from);
    (0x900..0xd80).contains(&code) && matches!(code & 0x7f, 0x01..=0x03 | 0x3c | 0x3e..=0x4d | 0x56 | 0x57)
}

/// How far the letters of a line are set apart, in sizes of its font; 0 where they are not.
fn apart(marks: &[Mark], size: f64) -> f64 {
    let pairs = marks.windows(2).filter(|pair| !pair[0].is_blank() && !pair[1].is_blank());
    let mut gaps: Vec<f64> = pairs.map(|pair| (pair[1].left - pair[0].right) / size).collect();
    let letters = marks.iter().filter(|mark| mark.words.chars().any(char::is_alphabetic)).count();
    let shown = marks.iter().filter(|mark| !mark.is_blank()).count();
    if gaps.len() < 3 || letters * 5 < shown * 4 {
        return 0.0;
    }
    gaps.sort_unstable_by(f64::total_cmp);
    let middle = gaps[gaps.len() / 2];
    let alike = gaps.iter().filter(|gap| (*gap - middle).abs() < 0.1).count();
    let together = gaps.iter().filter(|gap| **gap < APART).count();
    let apart = alike * 10 >= gaps.len() * 6 && together * 10 <= gaps.len();
    if apart && (APART..=MOST_APART).contains(&middle) { middle } else { 0.0 }
}

/// Words whose letters were typed with a blank after each: `N O T I C E`, with more blanks between words.
fn typed_apart(words: &str) -> Option<String> {
    let letters = words.split(' ').filter(|letter| !letter.is_empty());
    let mut count = 0;
    for letter in letters {
        let mut characters = letter.chars();
        let (Some(first), None) = (characters.next(), characters.next()) else { return None };
        if !first.is_uppercase() {
            return None;
        }
        count += 1;
    }
    let together = || words.split("  ").map(|word| word.replace(' ', "")).collect::<Vec<_>>().join(" ");
    (count >= TYPED_APART).then(together)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line whose words stand at these places; each letter is half a size wide.
    fn strip(words: &[(f64, &str)], step: f64) -> Strip {
        let mut marks = Vec::new();
        for (run, (left, word)) in words.iter().enumerate() {
            for (place, letter) in word.chars().enumerate() {
                let left = left + place as f64 * step;
                marks.push(Mark {
                    words: letter.to_string(),
                    left,
                    right: left + 5.0,
                    run: run as u32,
                    given: false,
                });
            }
        }
        Strip { marks, baseline: 0.0, size: 10.0, angle: 0 }
    }

    fn cells(strip: Strip) -> Vec<String> {
        line(strip).cells.into_iter().map(|cell| cell.words).collect()
    }

    #[test]
    fn gaps_are_spaces_or_columns() {
        assert_eq!(cells(strip(&[(0.0, "Pune"), (23.0, "city"), (80.0, "40")], 5.0)), ["Pune city", "40"]);
        assert_eq!(cells(strip(&[(0.0, "I"), (8.0, "am"), (21.0, "at"), (34.0, "A")], 5.0)), ["I am at A"]);
    }

    #[test]
    fn letters_that_are_set_apart_are_words() {
        assert_eq!(cells(strip(&[(0.0, "DELIVERY TERMS")], 8.0)), ["DELIVERY TERMS"]);
        // Without a blank between the words.
        assert_eq!(cells(strip(&[(0.0, "DELIVERY"), (69.0, "TERMS")], 8.0)), ["DELIVERY TERMS"]);
        assert_eq!(cells(strip(&[(0.0, "N O T I C E")], 5.0)), ["NOTICE"]);
        assert_eq!(cells(strip(&[(0.0, "O U R  T E R M S")], 5.0)), ["OUR TERMS"]);
        assert_eq!(cells(strip(&[(0.0, "Grades A B C D E")], 5.0)), ["Grades A B C D E"]);
    }

    #[test]
    fn signs_over_a_letter_part_no_word() {
        let mark = |words: &str, left: f64, right: f64| Mark {
            words: words.into(),
            left,
            right,
            run: 0,
            given: false,
        };
        let marks =
            vec![mark("क", 0.0, 8.0), mark("ृ", 5.0, 5.4), mark("प", 8.0, 14.0), mark("ा", 17.0, 19.0)];
        let strip = Strip { marks, baseline: 0.0, size: 10.0, angle: 0 };
        assert_eq!(cells(strip), ["कृपा"]);
    }

    #[test]
    fn digits_that_stand_apart_are_numbers() {
        assert_eq!(
            cells(strip(&[(0.0, "1"), (10.0, "2"), (20.0, "3"), (30.0, "4"), (40.0, "5")], 5.0)),
            ["1 2 3 4 5"]
        );
    }

    #[test]
    fn a_line_that_is_stretched_is_one_cell() {
        let mut wide = strip(&[(0.0, "so wide")], 5.0);
        for mark in &mut wide.marks[3..] {
            (mark.left, mark.right) = (mark.left + 30.0, mark.right + 30.0);
        }
        assert_eq!(cells(wide), ["so wide"]);
    }
}
