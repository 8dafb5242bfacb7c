//! Key terms: the names, products and choices of a call that are sent to a recogniser, within the provider's limits.

use crate::http::encoded;

/// Longest part of an address that terms may take, bytes: servers refuse long ones.
const MOST_ADDRESS: usize = 4000;

/// What a provider takes. The documented limits are kept with a margin where they are counted otherwise than here.
pub(super) struct Limits {
    pub(super) count: usize,
    /// Longest term, characters.
    pub(super) letters: usize,
    /// Words of a term.
    pub(super) words: usize,
    /// Of all terms together, in the unit of `cost`.
    pub(super) total: usize,
    pub(super) cost: fn(&str) -> usize,
}

/// Deepgram takes 500 tokens; a letter of an Indian script may be several.
pub(super) const DEEPGRAM: Limits = Limits { count: 100, letters: 50, words: 5, total: 450, cost: tokens };
/// 50 terms of 20 characters and five words.
pub(super) const ELEVENLABS: Limits =
    Limits { count: 50, letters: 20, words: 5, total: usize::MAX, cost: letters };
/// 100 terms, 1,200 characters together.
pub(super) const CARTESIA: Limits = Limits { count: 100, letters: 50, words: 5, total: 1200, cost: letters };
/// 50 terms of 64 characters.
pub(super) const SARVAM: Limits =
    Limits { count: 50, letters: 64, words: 5, total: usize::MAX, cost: letters };

fn letters(term: &str) -> usize {
    term.chars().count()
}

/// At least as many tokens as a tokenizer makes of it.
fn tokens(term: &str) -> usize {
    let ascii = term.chars().filter(char::is_ascii).count();
    let others = term.chars().count() - ascii;
    1 + ascii.div_ceil(2) + others * 3
}

/// The first terms that the provider takes.
pub(super) fn fitting<'a>(terms: &'a [String], limits: &Limits) -> Vec<&'a str> {
    let (mut total, mut address) = (0, 0);
    let mut found = Vec::new();
    for term in terms.iter().map(String::as_str) {
        let words = term.split_whitespace().count();
        if words == 0 || words > limits.words || letters(term) > limits.letters {
            continue;
        }
        let (cost, bytes) = ((limits.cost)(term), encoded(term).to_string().len());
        if found.len() == limits.count || total + cost > limits.total || address + bytes > MOST_ADDRESS {
            break;
        }
        total += cost;
        address += bytes;
        found.push(term);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_limit_of_a_provider_is_passed() {
        let latin: Vec<String> = (0..200).map(|at| format!("Product Number{at}")).collect();
        let hindi: Vec<String> = (0..200).map(|at| format!("लक्ष्मी नारायणन {at}")).collect();
        let long = ["a".repeat(51), "one two three four five six".to_owned(), " ".to_owned()];
        for limits in [&DEEPGRAM, &ELEVENLABS, &CARTESIA, &SARVAM] {
            for terms in [&latin, &hindi] {
                let found = fitting(terms, limits);
                assert!(!found.is_empty() && found.len() <= limits.count);
                assert!(found.iter().all(|term| letters(term) <= limits.letters));
                assert!(found.iter().map(|term| (limits.cost)(term)).sum::<usize>() <= limits.total);
                assert!(
                    found.iter().map(|term| encoded(term).to_string().len()).sum::<usize>() <= MOST_ADDRESS
                );
                assert_eq!(found.first(), terms.first().map(String::as_str).as_ref());
            }
        }
        assert!(fitting(&long, &DEEPGRAM).is_empty());
        assert_eq!(fitting(&["a b".repeat(20), "Gold".to_owned()], &ELEVENLABS), ["Gold"]);
    }
}
