//! What a voice is given: sums, numbers, dates, times, addresses and abbreviations as people say them, in the
//! language of the sentence (docs/language.md#said). The text as it is written is kept, and what was heard of
//! it can be told.
//!
//! | file | holds |
//! |---|---|
//! | `table` | the words of each language (`languages/*/speaking.toml`) |
//! | `spell` | numbers in words |
//! | `text` | the written text, with its digits in one form, and looking around in it |
//! | `figures` | numbers, sums, units, ordinals, digits one by one |
//! | `calendar` | dates and times |
//! | `codes` | telephone numbers, ids, e-mail and web addresses, acronyms, abbreviations |
//! | `pronunciations` | the words that the agent's owner has listed |
//! | `spoken` | the result, and how far it was heard |
//!
//! Every part is recognised by its form alone. What may mean two things (`10-15`, `1/2`) stays as it is written.

mod calendar;
mod codes;
mod figures;
mod pronunciations;
mod spell;
mod spoken;
mod table;
mod text;

#[cfg(test)]
mod tests;

pub use pronunciations::{
    MAX_PRONUNCIATIONS, MAX_SPOKEN_FORM, MAX_WRITTEN_FORM, Pronunciation, Pronunciations,
};
pub use spoken::Spoken;
use table::{Speech, speech};
use text::Text;

/// Longest spoken form, in characters, unless the text itself is longer: a provider takes 2,500 at once.
const LONGEST: usize = 2000;

/// How the texts of an agent are prepared for its voice. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Speakable {
    language: String,
    on: bool,
    pronunciations: Pronunciations,
}

impl Speakable {
    /// For an agent of this language. If not `on`, only the pronunciations are applied.
    pub fn new(language: impl Into<String>, on: bool, pronunciations: Pronunciations) -> Self {
        Self { language: language.into(), on, pronunciations }
    }

    /// The same in another language.
    pub fn in_language(&self, language: &str) -> Self {
        Self { language: language.to_owned(), ..self.clone() }
    }

    /// What the voice is given for a text of the agent: one or more whole sentences.
    pub fn prepare(&self, text: &str) -> Spoken {
        let letters = Text::of(text);
        let speech = self.on.then(|| speech(letters.language(&self.language)));
        let mut spoken = Spoken::begin(text);
        let mut at = 0;
        while at < letters.len() {
            let found = if letters.begins(at) { self.read(&letters, at, speech) } else { None };
            let (length, said) = found.unwrap_or((1, String::new()));
            if said.is_empty() || said == letters.slice(at, at + length) {
                (0..length).for_each(|_| _ = spoken.copy());
            } else {
                spoken.replace(length, &said);
            }
            at += length;
        }
        let spoken = spoken.end();
        let most = LONGEST.max(letters.len());
        if spoken.length() > most { Spoken::plain(text) } else { spoken }
    }

    /// What begins here, as its length and how it is said.
    fn read(&self, text: &Text, at: usize, speech: Option<&Speech>) -> Option<(usize, String)> {
        let listed = self.pronunciations.at(text.letters(), at);
        listed.map(|(length, said)| (length, said.to_owned())).or_else(|| said(text, at, speech?))
    }
}

/// What begins at `at`, if it is written otherwise than it is said.
fn said(text: &Text, at: usize, speech: &Speech) -> Option<(usize, String)> {
    let first = text.at(at)?;
    if first.is_ascii_digit() || "+-₹$€£#".contains(first) {
        return codes::address(text, at, speech)
            .or_else(|| codes::phone(text, at, speech))
            .or_else(|| calendar::read(text, at, speech))
            .or_else(|| figures::read(text, at, speech))
            .or_else(|| codes::id(text, at, speech));
    }
    figures::money(text, at, speech)
        .or_else(|| codes::address(text, at, speech))
        .or_else(|| calendar::month_first(text, at, speech))
        .or_else(|| codes::id(text, at, speech))
        .or_else(|| codes::word(text, at, speech))
}
