//! Phrase matching that ignores differences of spelling. Transliteration has no fixed spelling: `fone mat
//! karo`, `phone math karoo`, `फ़ोन मत करो` and `फोन मत करो` are the same words. Texts and phrases are folded
//! in the same way, so that a table needs only one spelling of each phrase.

use crate::words::words;

/// Most words that a gap (`*`) stands for.
const GAP: usize = 2;
/// Most words of a text that are examined. What is said in a turn is short, and this limits the cost of a
/// long chat message.
const MOST_WORDS: usize = 400;

/// The words of a text, each in its folded spelling: lower case, no punctuation, doubled letters once,
/// aspirates without `h`, `w` as `v`, `z` as `j`; Indic vowels short, nukta and nasal signs dropped.
pub fn fold(text: &str) -> Vec<String> {
    words(text).iter().take(MOST_WORDS).map(|word| fold_word(word)).filter(|word| !word.is_empty()).collect()
}

fn fold_word(word: &str) -> String {
    let mut folded = String::with_capacity(word.len());
    let mut last = None;
    for letter in word.chars().filter_map(plain) {
        let aspirated = letter == 'h' && matches!(last, Some('b' | 'c' | 'd' | 'g' | 'j' | 'k' | 's' | 't'));
        if aspirated {
            continue;
        }
        if letter == 'h' && last == Some('p') {
            folded.pop();
            folded.push('f');
            last = Some('f');
            continue;
        }
        if Some(letter) == last && letter.is_ascii_alphabetic() {
            match letter {
                'e' => replace_last(&mut folded, 'i'),
                'o' => replace_last(&mut folded, 'u'),
                _ => {}
            }
            continue;
        }
        folded.push(letter);
        last = Some(letter);
    }
    folded
}

fn replace_last(text: &mut String, letter: char) {
    text.pop();
    text.push(letter);
}

/// The folded form of a letter; `None` for a sign that is dropped.
fn plain(letter: char) -> Option<char> {
    let code = u32::from(letter);
    if !(0x0900..0x0D80).contains(&code) {
        return Some(match letter {
            'w' => 'v',
            'z' => 'j',
            other => other,
        });
    }
    // The nine Unicode blocks have the same layout: nukta at 3C, nasal signs at 01 and 02, long i and u after
    // the short ones.
    let place = code & 0x7F;
    let nasal_is_weak = matches!(code & !0x7F, 0x0900 | 0x0A00 | 0x0A80 | 0x0B00) || code == 0x0981;
    match place {
        0x3C => None,
        0x01 | 0x02 if nasal_is_weak => None,
        0x70 | 0x71 if code & !0x7F == 0x0A00 => None,
        0x08 | 0x0A | 0x40 | 0x42 => char::from_u32(code - 1),
        _ => Some(letter),
    }
}

/// One position of a phrase.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    /// One of these words. A word that ends in `~` in the table matches every word that begins with it.
    Word { any: Vec<(String, bool)>, optional: bool },
    /// Up to [`GAP`] arbitrary words.
    Gap,
}

/// A phrase with alternatives: words in order, `a|b` for either, `a?` (or `a|b?`) for an optional word,
/// `stem~` for any ending, `*` for up to two arbitrary words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern(Vec<Place>);

impl Pattern {
    /// Reads a phrase in this notation; `sets` are names (`$C`) for lists of alternatives.
    pub fn read(phrase: &str, sets: &[(&str, &str)]) -> Self {
        let place = |written: &str| {
            if written == "*" {
                return Place::Gap;
            }
            let (written, optional) = written.strip_suffix('?').map_or((written, false), |rest| (rest, true));
            let mut any = Vec::new();
            for part in written.split('|') {
                match sets.iter().find(|(name, _)| *name == part) {
                    Some((_, list)) => any.extend(list.split(['|', ' ']).map(alternative)),
                    None => any.push(alternative(part)),
                }
            }
            Place::Word { any, optional }
        };
        Self(phrase.split_whitespace().map(place).collect())
    }

    /// The position of the phrase in folded words: its first word and the one after its last.
    pub fn find(&self, words: &[String]) -> Option<(usize, usize)> {
        (0..words.len()).find_map(|start| end(&self.0, words, start).map(|end| (start, end)))
    }

    /// Whether the words are this phrase and nothing else.
    pub fn is(&self, words: &[String]) -> bool {
        !words.is_empty() && end(&self.0, words, 0) == Some(words.len())
    }
}

fn alternative(written: &str) -> (String, bool) {
    let (stem, open) = written.strip_suffix('~').map_or((written, false), |stem| (stem, true));
    (fold(stem).concat(), open)
}

/// The end of a phrase that begins here. Phrases have only a few positions, so trying every alternative is
/// cheap.
fn end(places: &[Place], words: &[String], at: usize) -> Option<usize> {
    let Some((place, rest)) = places.split_first() else { return Some(at) };
    match place {
        Place::Gap => (0..=GAP).find_map(|skipped| end(rest, words, at + skipped)),
        Place::Word { any, optional } => {
            let here = words.get(at).is_some_and(|word| {
                any.iter().any(|(other, open)| word == other || *open && word.starts_with(other))
            });
            here.then(|| end(rest, words, at + 1))
                .flatten()
                .or_else(|| if *optional { end(rest, words, at) } else { None })
        }
    }
}

/// A list of phrases.
#[derive(Debug, Clone, Default)]
pub struct Patterns(Vec<Pattern>);

impl Patterns {
    /// Reads a table with one phrase on each line.
    pub fn read(table: &str, sets: &[(&str, &str)]) -> Self {
        Self(
            table
                .lines()
                .map(str::trim)
                .filter(|line| !line.is_empty())
                .map(|line| Pattern::read(line, sets))
                .collect(),
        )
    }

    /// The position of the first phrase of the table that occurs.
    pub fn find(&self, words: &[String]) -> Option<(usize, usize)> {
        self.0.iter().find_map(|pattern| pattern.find(words))
    }

    /// The first position of each phrase that occurs.
    pub fn find_all<'a>(&'a self, words: &'a [String]) -> impl Iterator<Item = (usize, usize)> + 'a {
        self.0.iter().filter_map(|pattern| pattern.find(words))
    }

    /// Whether the words are one of the phrases and nothing else.
    pub fn is(&self, words: &[String]) -> bool {
        self.0.iter().any(|pattern| pattern.is(words))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_fold_to_one() {
        for (one, other) in [
            ("phone", "fone"),
            ("theek", "tik"),
            ("naa", "na"),
            ("DOOBARA", "dubara"),
            ("फ़ोन", "फोन"),
            ("नहीं", "नही"),
            ("हूँ", "हु"),
            ("ਨਹੀਂ", "ਨਹਿ"),
        ] {
            assert_eq!(fold(one), fold(other), "{one} {other}");
        }
        assert_ne!(fold("karo"), fold("koro"));
        assert_eq!(fold("?! ़"), Vec::<String>::new());
    }

    #[test]
    fn phrases_have_alternatives_gaps_and_endings() {
        let find =
            |phrase: &str, text: &str| Pattern::read(phrase, &[("$C", "call|phone")]).find(&fold(text));
        assert_eq!(find("never $C", "please never phone me"), Some((1, 3)));
        assert_eq!(find("stop * $C", "stop this bad call"), Some((0, 4)));
        assert_eq!(find("stop * $C", "stop this very bad call"), None);
        assert_eq!(find("dont ever? call", "dont call"), Some((0, 2)));
        assert_eq!(find("pann~ venda", "pannave venda"), Some((0, 2)));
        assert_eq!(find("never $C", ""), None);
    }
}
