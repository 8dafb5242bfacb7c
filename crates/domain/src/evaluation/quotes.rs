//! Quotes: the words of a transcript that a grade rests on are looked up in it.

use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;

use super::Line;
use crate::invisible::is_invisible;

/// Words of the transcript.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quote {
    pub text: String,
    /// The line of the transcript that has them, from 0.
    pub line: usize,
}

/// Marks around quoted words: opening, closing.
const MARKS: [(char, char); 7] =
    [('"', '"'), ('“', '”'), ('„', '“'), ('«', '»'), ('‘', '’'), ('\'', '\''), ('「', '」')];

/// A text as it is compared: NFKC, lower case, without invisible characters, with one space in place of white space and
/// punctuation.
fn plain(text: &str) -> String {
    let mut words = String::with_capacity(text.len());
    for letter in text.nfkc().filter(|letter| !is_invisible(*letter)) {
        let belongs = letter.is_alphanumeric() || unicode_normalization::char::is_combining_mark(letter);
        if belongs {
            words.extend(letter.to_lowercase());
        } else if !words.is_empty() && !words.ends_with(' ') {
            words.push(' ');
        }
    }
    words.truncate(words.trim_end().len());
    words
}

/// The quoted passages of a text, in its order. An apostrophe within a word is no mark.
pub fn quotes_in(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    let mut before: Option<char> = None;
    while let Some(first) = rest.chars().next() {
        let inside = &rest[first.len_utf8()..];
        let single = matches!(first, '\'' | '‘');
        let opens = !(single && before.is_some_and(char::is_alphanumeric));
        let end = MARKS.iter().find(|(open, _)| *open == first && opens).and_then(|(_, close)| {
            inside.char_indices().find(|(at, letter)| {
                let next = inside[at + letter.len_utf8()..].chars().next();
                *letter == *close && !(single && next.is_some_and(char::is_alphanumeric))
            })
        });
        match end {
            Some((at, close)) => {
                found.push(&inside[..at]);
                rest = &inside[at + close.len_utf8()..];
                before = Some(close);
            }
            None => {
                rest = inside;
                before = Some(first);
            }
        }
    }
    found
}

/// The lines of a transcript, ready to be searched.
pub(super) struct Said(Vec<String>);

impl Said {
    pub(super) fn of(transcript: &[Line]) -> Self {
        // Spaces around, so that a quote is found as whole words.
        Self(transcript.iter().map(|line| format!(" {} ", plain(&line.text))).collect())
    }

    /// The line that has these words; those that an ellipsis parts must be there in their order.
    fn find(&self, quote: &str) -> Option<usize> {
        let parts: Vec<String> = quote
            .split('…')
            .flat_map(|part| part.split("..."))
            .map(plain)
            .filter(|part| !part.is_empty())
            .map(|part| format!(" {part} "))
            .collect();
        self.0.iter().position(|line| {
            let mut from = 0;
            parts.iter().all(|part| {
                let at = line[from..].find(part.as_str());
                // The space behind it may be the one before the next.
                from += at.map_or(0, |at| at + part.len() - 1);
                at.is_some()
            })
        })
    }

    /// Where the claimed quotes are, with those within the reasoning; `None` when one of them was not said. A quote
    /// without a letter or a digit says nothing and is left out.
    pub(super) fn find_all(&self, claimed: &[String], reasoning: &str) -> Option<Vec<Quote>> {
        let mut found: Vec<Quote> = Vec::new();
        let quoted = claimed.iter().map(String::as_str).chain(quotes_in(reasoning));
        for text in quoted.filter(|text| !plain(text).is_empty()) {
            let quote = Quote { text: text.trim().to_owned(), line: self.find(text)? };
            if !found.contains(&quote) && found.len() < super::MAX_QUOTES {
                found.push(quote);
            }
        }
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Speaker;
    use super::*;

    fn said(lines: &[&str]) -> Said {
        let line = |text: &&str| Line { speaker: Speaker::Agent, text: (*text).to_owned() };
        Said::of(&lines.iter().map(line).collect::<Vec<_>>())
    }

    #[test]
    fn quotes_are_found_whatever_their_case_spaces_and_points() {
        let said = said(&["Namaste, how are you?", "मैं कल  पैसे दूँगा।", "It is Rs. 1,200 [redacted]"]);
        for (quote, line) in [
            ("namaste, HOW are\n you", Some(0)),
            ("how are you?", Some(0)),
            ("ow are you", None),
            ("Namaste … you", Some(0)),
            ("you ... namaste", None),
            ("मैं कल पैसे", Some(1)),
            ("मै कल पैसे", None),
            ("Rs 1 200", Some(2)),
            ("[redacted]", Some(2)),
            ("you मैं", None),
            ("I will pay twice", None),
        ] {
            assert_eq!(said.find(quote), line, "{quote}");
        }
    }

    #[test]
    fn marks_of_quotes_are_told_from_apostrophes() {
        for (text, quotes) in [
            ("The agent said \"hello\" and “good bye”.", vec!["hello", "good bye"]),
            ("It didn't say 'I don't know', and the customers' wish was met.", vec!["I don't know"]),
            ("An open \" mark", vec![]),
            ("«नमस्ते»", vec!["नमस्ते"]),
            ("‘yes’ it’s", vec!["yes"]),
            ("", vec![]),
        ] {
            assert_eq!(quotes_in(text), quotes, "{text}");
        }
    }

    #[test]
    fn one_false_quote_is_enough() {
        let said = said(&["Hello there"]);
        let found = said.find_all(&["hello".into(), " ! ".into()], "It said “there”.");
        let lines: Vec<_> = found.unwrap().into_iter().map(|quote| (quote.text, quote.line)).collect();
        assert_eq!(lines, [("hello".to_owned(), 0), ("there".to_owned(), 0)]);
        assert_eq!(said.find_all(&["hello".into()], "It said \"I promise\"."), None);
        assert_eq!(said.find_all(&["I promise".into()], ""), None);
    }
}
