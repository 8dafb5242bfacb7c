//! The terms of passages and of queries (docs/knowledge.md#words).

use std::collections::HashMap;

use crate::sounds::{self, Kind};
use crate::stems::{says_little, stem};
use crate::text::{Script, Word, words};

/// Most words of a query that are looked up.
const MOST: usize = 24;
/// Longest query that is read, in characters.
const READ: usize = 2_000;

/// The terms of a text: its stems and its phonetic keys.
#[derive(Debug, Default)]
pub struct Terms {
    pub stems: Vec<String>,
    pub sounds: Vec<String>,
}

/// Keys of a word and of its stem, which are often the same.
fn sounds_of(word: &Word, stem: &str) -> Vec<sounds::Key> {
    let mut keys = sounds::keys(word);
    if stem != word.text {
        keys.extend(sounds::keys(&Word { text: stem.to_owned(), script: word.script }));
        keys.sort_unstable();
        keys.dedup();
    }
    keys
}

/// Words whose terms are cached while many passages are read: texts repeat the same words.
const REMEMBERED: usize = 50_000;

/// The cached terms of words.
#[derive(Default)]
pub struct Memory(HashMap<String, (String, Vec<String>)>);

impl Memory {
    /// The terms of a passage, or of its headings.
    pub fn of_text(&mut self, text: &str) -> Terms {
        let mut terms = Terms::default();
        for word in words(text) {
            if self.0.len() >= REMEMBERED {
                self.0.clear();
            }
            let (stem, sounds) = self.0.entry(word.text.clone()).or_insert_with(|| {
                let stem = stem(&word).into_owned();
                let sounds = sounds_of(&word, &stem).into_iter().map(|key| key.text).collect();
                (stem, sounds)
            });
            terms.sounds.extend_from_slice(sounds);
            terms.stems.push(stem.clone());
        }
        terms
    }
}

/// A word of a question.
#[derive(Debug, PartialEq)]
pub struct Asked {
    pub stem: String,
    /// Its phonetic keys, each with its weight.
    pub sounds: Vec<(String, f32)>,
}

/// The weight of a phonetic key beside the word itself: the less selective, the less.
fn weight(key: &sounds::Key) -> f32 {
    match (key.kind, key.text.len()) {
        (Kind::Tamil, ..=3) => 0.05,
        (Kind::TamilVowels, _) => 0.3,
        (Kind::Consonants, ..=3) => 0.15,
        (Kind::Tamil, 4) => 0.1,
        (Kind::Tamil, _) => 0.3,
        (Kind::Consonants, 4) => 0.4,
        (Kind::Consonants, _) => 0.6,
        (Kind::Vowels, ..=4) => 0.3,
        (Kind::Vowels, _) => 0.4,
    }
}

/// The terms of a query: its words without stop words, unless it has no others.
pub fn of_question(question: &str) -> Vec<Asked> {
    let question: String = question.chars().take(READ).collect();
    let all = words(&question);
    let telling: Vec<&Word> = all.iter().filter(|word| !says_little(word)).collect();
    let chosen = if telling.is_empty() { all.iter().collect() } else { telling };
    let mut asked: Vec<Asked> = Vec::new();
    for word in chosen {
        let stem = stem(word).into_owned();
        if asked.len() >= MOST || asked.iter().any(|known| known.stem == stem) {
            continue;
        }
        let mut keys = sounds_of(word, &stem);
        // Only Latin and Tamil words are searched by the keys that are merged for Tamil.
        keys.retain(|key| !matches!(key.kind, Kind::Tamil | Kind::TamilVowels) || tamil_helps(word));
        asked.push(Asked {
            stem,
            sounds: keys.into_iter().map(|key| (key.text.clone(), weight(&key))).collect(),
        });
    }
    asked
}

fn tamil_helps(word: &Word) -> bool {
    matches!(word.script, Script::Latin | Script::Indian(crate::text::TAMIL))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stems(question: &str) -> Vec<String> {
        of_question(question).into_iter().map(|asked| asked.stem).collect()
    }

    #[test]
    fn only_what_tells_something_is_looked_up() {
        assert_eq!(stems("Mera parcel kahan hai?"), ["parcel"]);
        assert_eq!(stems("मेरा पार्सल कहाँ है"), ["पार्सल"]);
        assert_eq!(stems("kahan hai"), ["kahan", "hai"], "nothing else is said");
        assert_eq!(stems("refund refunds refund"), ["refund"]);
    }

    #[test]
    fn a_long_question_is_cut() {
        let question: String = (0..200).map(|at| format!("word{at} ")).collect();
        assert_eq!(of_question(&question).len(), MOST);
    }
}
