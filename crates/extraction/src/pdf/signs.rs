//! Vowel signs that are drawn before their letter (ि, ெ, ে): in text they follow it. Some programs write glyphs in
//! visual order; there, a word may begin with such a sign and never ends with one.

use super::glyphs::{Drawn, Mark};

/// Reph: an r that is drawn over the letters after it.
const REPHS: [&str; 4] = ["\u{930}\u{94d}", "\u{9b0}\u{9cd}", "\u{ab0}\u{acd}", "\u{b30}\u{b4d}"];
/// Most marks between a sign and the end of the letters that it belongs to.
const CLUSTER: usize = 8;

/// Puts such signs into logical order, where the document has them in visual order.
pub fn put_in_order(pages: &mut [Drawn]) {
    let (mut first, mut last) = (0, 0);
    for strip in pages.iter().flat_map(|page| &page.strips) {
        let marks = &strip.marks;
        for (place, mark) in marks.iter().enumerate() {
            if sign(mark).is_none() {
                continue;
            }
            let before = place.checked_sub(1).map(|place| &marks[place]);
            first += usize::from(!before.is_some_and(|before| is_letter(before, end_of)));
            last += usize::from(!marks.get(place + 1).is_some_and(|after| is_letter(after, start_of)));
        }
    }
    if first <= last {
        return;
    }
    for strip in pages.iter_mut().flat_map(|page| &mut page.strips) {
        order(&mut strip.marks);
    }
}

/// The sign that a mark is.
fn sign(mark: &Mark) -> Option<char> {
    let mut letters = mark.words.chars();
    let (Some(letter), None) = (letters.next(), letters.next()) else { return None };
    let before = matches!(letter, '\u{93f}' | '\u{9bf}' | '\u{9c7}' | '\u{9c8}' | '\u{a3f}' | '\u{abf}' | '\u{b47}'
        | '\u{bc6}'..='\u{bc8}' | '\u{d46}'..='\u{d48}');
    (before && !mark.given).then_some(letter)
}

fn start_of(words: &str) -> Option<char> {
    words.chars().next()
}

fn end_of(words: &str) -> Option<char> {
    words.chars().next_back()
}

/// Whether a mark starts (or ends) with a letter or a sign of an Indian script.
fn is_letter(mark: &Mark, which: fn(&str) -> Option<char>) -> bool {
    which(&mark.words).is_some_and(|letter| matches!(letter, '\u{900}'..='\u{dff}'))
}

/// The place of a letter in the layout that the Indian blocks share.
fn offset(letter: char) -> Option<u32> {
    let code = u32::from(letter);
    (0x900..0xe00).contains(&code).then_some(code & 0x7f)
}

fn is_consonant(letter: char) -> bool {
    offset(letter).is_some_and(|offset| matches!(offset, 0x15..=0x39 | 0x58..=0x5f))
}

fn ends_with_virama(words: &str) -> bool {
    end_of(words.trim_end_matches(['\u{200c}', '\u{200d}'])).and_then(offset) == Some(0x4d)
}

/// The sign that two signs make which stand on both sides of a letter.
fn joined(before: char, after: &str) -> Option<char> {
    Some(match (before, after) {
        ('\u{bc6}', "\u{bbe}") => '\u{bca}',
        ('\u{bc7}', "\u{bbe}") => '\u{bcb}',
        ('\u{bc6}', "\u{bd7}") => '\u{bcc}',
        ('\u{9c7}', "\u{9be}") => '\u{9cb}',
        ('\u{9c7}', "\u{9d7}") => '\u{9cc}',
        ('\u{b47}', "\u{b3e}") => '\u{b4b}',
        ('\u{b47}', "\u{b57}") => '\u{b4c}',
        ('\u{d46}', "\u{d3e}") => '\u{d4a}',
        ('\u{d47}', "\u{d3e}") => '\u{d4b}',
        ('\u{d46}', "\u{d57}") => '\u{d4c}',
        _ => return None,
    })
}

fn order(marks: &mut [Mark]) {
    let mut place = 0;
    while place < marks.len() {
        if let Some(sign) = sign(&marks[place]) {
            let most = marks.len().min(place + 1 + CLUSTER);
            let mut end = place + 1;
            while end < most && start_of(&marks[end].words).is_some_and(is_consonant) {
                end += 1;
                if !ends_with_virama(&marks[end - 1].words) {
                    break;
                }
            }
            // The signs go with the words of the letter before them, so that each mark keeps its place.
            if end > place + 1 {
                let mut written = sign;
                if let Some(after) = marks.get(end)
                    && let Some(joined) = joined(sign, &after.words)
                {
                    written = joined;
                    marks[end].words.clear();
                }
                marks[place].words.clear();
                marks[end - 1].words.push(written);
                place = end;
                continue;
            }
        }
        reph(marks, place);
        place += 1;
    }
}

/// Puts a reph, which is drawn after the letters that it belongs to, before them.
fn reph(marks: &mut [Mark], place: usize) {
    let mark = &marks[place];
    if mark.given || !REPHS.contains(&mark.words.as_str()) {
        return;
    }
    let followed = marks.get(place + 1).is_some_and(|after| start_of(&after.words).is_some_and(is_consonant));
    if followed && mark.right - mark.left > 0.1 {
        return;
    }
    let from = place.saturating_sub(CLUSTER);
    let Some(mut start) =
        (from..place).rev().find(|at| start_of(&marks[*at].words).is_some_and(is_consonant))
    else {
        return;
    };
    while start > from && ends_with_virama(&marks[start - 1].words) {
        start -= 1;
    }
    let reph = std::mem::take(&mut marks[place].words);
    marks[start].words.insert_str(0, &reph);
}

#[cfg(test)]
mod tests {
    use super::super::glyphs::Strip;
    use super::*;

    /// What becomes of glyphs with these texts; a dot is a given text, a line under it a glyph without width.
    fn ordered(words: &[&str]) -> String {
        let marks = words.iter().enumerate().map(|(place, words)| Mark {
            words: (*words).to_owned(),
            left: place as f64,
            right: place as f64 + f64::from(u8::from(!REPHS.contains(words))),
            run: 0,
            given: false,
        });
        let strip = Strip { marks: marks.collect(), baseline: 0.0, size: 1.0, angle: 0 };
        let mut pages = [Drawn { strips: vec![strip], covered: 0.0, size: (1.0, 1.0) }];
        put_in_order(&mut pages);
        pages[0].strips[0].marks.iter().map(|mark| mark.words.as_str()).collect()
    }

    #[test]
    fn signs_in_the_order_of_paper_stand_after_their_letter() {
        assert_eq!(ordered(&["ெ", "க", "ா", "டு", " ", "ை", "க", " ", "ே", "ம", "ல"]), "கொடு கை மேல");
        assert_eq!(ordered(&["ি", "ক", " ", "ে", "ক", "া", "ন"]), "কি কোন");
        assert_eq!(ordered(&["ि", "द", "न", " ", "ि", "स्", "थ", "ि", "त"]), "दिन स्थिति");
        assert_eq!(ordered(&["ि", "क", " ", "क", "म", "र्"]), "कि कर्म");
        assert_eq!(ordered(&["െ", "ക", "ാ", "ച്ചി"]), "കൊച്ചി");
    }

    #[test]
    fn signs_in_the_order_of_text_stay() {
        assert_eq!(ordered(&["க", "ை", " ", "க", "ெ", "ட", "ு"]), "கை கெடு");
        assert_eq!(ordered(&["द", "ि", "न", " ", "क", "ि"]), "दिन कि");
    }
}
