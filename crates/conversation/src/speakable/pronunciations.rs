//! Words that the owner of an agent wants to be said in another way.

use std::collections::HashMap;
use std::sync::Arc;

use super::text::in_word;

/// Most pronunciations of an agent.
pub const MAX_PRONUNCIATIONS: usize = 100;
/// Longest written form, in characters.
pub const MAX_WRITTEN_FORM: usize = 60;
/// Longest spoken form, in characters.
pub const MAX_SPOKEN_FORM: usize = 200;

/// How a word, or a few, are said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pronunciation {
    pub written: String,
    pub spoken: String,
}

/// The list of an agent. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Pronunciations {
    /// By the first character in lower case, longest first: the written form in lower case and the spoken one.
    by_first: Arc<HashMap<char, Vec<(Vec<char>, String)>>>,
}

impl Pronunciations {
    /// Of two with the same written form the first counts; more than [`MAX_PRONUNCIATIONS`] are left out.
    pub fn new(list: impl IntoIterator<Item = Pronunciation>) -> Self {
        let mut by_first: HashMap<char, Vec<(Vec<char>, String)>> = HashMap::new();
        for one in list.into_iter().take(MAX_PRONUNCIATIONS) {
            let written: Vec<char> = one.written.trim().chars().map(lower).collect();
            if let Some(first) = written.first() {
                by_first.entry(*first).or_default().push((written, one.spoken));
            }
        }
        for of_letter in by_first.values_mut() {
            of_letter.sort_by_key(|(written, _)| std::cmp::Reverse(written.len()));
        }
        Self { by_first: Arc::new(by_first) }
    }

    /// The listed words that stand at `at`, as whole words: their length and how they are said.
    pub fn at(&self, letters: &[char], at: usize) -> Option<(usize, &str)> {
        if self.by_first.is_empty() {
            return None;
        }
        let rest = letters.get(at..)?;
        let of_letter = self.by_first.get(&lower(*rest.first()?))?;
        let found = of_letter.iter().find(|(written, _)| {
            let ends = rest.get(written.len()).is_none_or(|next| !in_word(*next))
                || written.last().is_some_and(|last| !in_word(*last));
            ends && rest.len() >= written.len()
                && rest.iter().zip(written).all(|(letter, written)| lower(*letter) == *written)
        })?;
        Some((found.0.len(), &found.1))
    }
}

fn lower(letter: char) -> char {
    let plain = crate::words::plain_digit(letter);
    let mut lower = plain.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(one), None) => one,
        _ => plain,
    }
}
