//! How the words of a grammar are pronounced: by the model's dictionary, and by rules for what is not in it
//! (names, Hindi in Latin letters).

use std::collections::BTreeSet;
use std::fmt::Write;

/// The phones of the model.
pub(super) const PHONES: [&str; 39] = [
    "AA", "AE", "AH", "AO", "AW", "AY", "B", "CH", "D", "DH", "EH", "ER", "EY", "F", "G", "HH", "IH", "IY",
    "JH", "K", "L", "M", "N", "NG", "OW", "OY", "P", "R", "S", "SH", "T", "TH", "UH", "UW", "V", "W", "Y",
    "Z", "ZH",
];

/// Spellings and their phones, longest first. The values are those of Hindi in Latin letters, which is what
/// is missing from an American dictionary.
const SOUNDS: [(&str, &str); 58] = [
    ("chh", "CH"),
    ("tch", "CH"),
    ("aa", "AA"),
    ("ae", "EY"),
    ("ai", "EH"),
    ("au", "AO"),
    ("ay", "EY"),
    ("ee", "IY"),
    ("ea", "IY"),
    ("ei", "EY"),
    ("ii", "IY"),
    ("oo", "UW"),
    ("ou", "AW"),
    ("oi", "OY"),
    ("uu", "UW"),
    ("bh", "B"),
    ("ch", "CH"),
    ("ck", "K"),
    ("dh", "D"),
    ("gh", "G"),
    ("jh", "JH"),
    ("kh", "K"),
    ("ng", "NG"),
    ("ph", "F"),
    ("qu", "K W"),
    ("sh", "SH"),
    ("th", "T"),
    ("zh", "ZH"),
    ("bb", "B"),
    ("dd", "D"),
    ("ff", "F"),
    ("gg", "G"),
    ("kk", "K"),
    ("ll", "L"),
    ("mm", "M"),
    ("nn", "N"),
    ("pp", "P"),
    ("rr", "R"),
    ("ss", "S"),
    ("tt", "T"),
    ("a", "AH"),
    ("b", "B"),
    ("c", "K"),
    ("d", "D"),
    ("e", "EY"),
    ("f", "F"),
    ("g", "G"),
    ("h", "HH"),
    ("i", "IH"),
    ("j", "JH"),
    ("k", "K"),
    ("l", "L"),
    ("m", "M"),
    ("n", "N"),
    ("o", "OW"),
    ("p", "P"),
    ("q", "K"),
    ("r", "R"),
];
const MORE_SOUNDS: [(&str, &str); 8] =
    [("s", "S"), ("t", "T"), ("u", "UH"), ("v", "V"), ("w", "V"), ("x", "K S"), ("y", "Y"), ("z", "Z")];

/// Words of Indian English that neither the dictionary nor the rules get right.
const INDIAN: [(&str, &str); 6] = [
    ("lakh", "L AA K"),
    ("lakhs", "L AA K S"),
    ("crore", "K R AO R"),
    ("rupees", "R UH P IY Z"),
    ("haan", "HH AA N"),
    ("nahi", "N AH HH IY"),
];

/// A dictionary with these words only: lines of `word phones`, a word said in several ways on several lines.
/// `all` is the text of the model's dictionary.
pub(super) fn of(words: &BTreeSet<String>, all: &str) -> String {
    let mut lines = String::new();
    let mut found = BTreeSet::new();
    for line in all.lines() {
        let word = line.split([' ', '\t']).next().unwrap_or_default();
        let plain = word.split('(').next().unwrap_or_default();
        if let Some(known) = words.get(plain) {
            found.insert(known);
            lines.push_str(line);
            lines.push('\n');
        }
    }
    for word in words {
        if !found.contains(word) {
            _ = writeln!(lines, "{word} {}", by_rules(word));
        }
    }
    for phone in PHONES {
        _ = writeln!(lines, "{} {phone}", noise_word(phone));
    }
    lines
}

/// The word that stands for one phone of something unexpected.
pub(super) fn noise_word(phone: &str) -> String {
    format!("zz{}zz", phone.to_lowercase())
}

/// Whether this is such a word.
pub(super) fn is_noise_word(word: &str) -> bool {
    word.len() >= 5 && word.starts_with("zz") && word.ends_with("zz")
}

/// A pronunciation by rules; never empty for a word of Latin letters.
fn by_rules(word: &str) -> String {
    if let Some((_, phones)) = INDIAN.iter().find(|(known, _)| *known == word) {
        return (*phones).to_owned();
    }
    let mut rest = word;
    let mut phones: Vec<&str> = Vec::new();
    while let Some(letter) = rest.chars().next() {
        let known = SOUNDS.iter().chain(&MORE_SOUNDS).find(|(spelling, _)| rest.starts_with(spelling));
        match known {
            Some((spelling, phone)) => {
                phones.push(phone);
                rest = &rest[spelling.len()..];
            }
            None => rest = &rest[letter.len_utf8()..],
        }
    }
    phones.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_looked_up_or_sounded_out() {
        let all = "call K AO L\ncall(2) K AA L\ncalling K AO L IH NG\n";
        let words: BTreeSet<String> = ["call", "nahi"].map(str::to_owned).into();
        let dictionary = of(&words, all);
        let lines: Vec<&str> = dictionary.lines().take(4).collect();
        assert_eq!(lines, ["call K AO L", "call(2) K AA L", "nahi N AH HH IY", "zzaazz AA"]);
        assert_eq!(dictionary.lines().count(), 3 + PHONES.len());
    }

    #[test]
    fn every_letter_has_a_sound_of_the_model() {
        for letter in 'a'..='z' {
            let phones = by_rules(&letter.to_string());
            assert!(
                !phones.is_empty() && phones.split(' ').all(|phone| PHONES.contains(&phone)),
                "{letter}: {phones}"
            );
        }
        assert_eq!(by_rules("naam"), "N AA M");
        assert!(is_noise_word(&noise_word("AA")) && !is_noise_word("buzz"));
    }
}
