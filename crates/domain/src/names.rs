//! Names as they are searched: the words of a text in one spelling, whatever its script.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::invisible::is_invisible;

/// Most words of a name that are searched.
pub const MAX_WORDS: usize = 8;
/// Longest searched part of a word, in characters.
pub const MAX_WORD: usize = 40;

/// The words of a name, or of a query, each once and in their order: lower case, in compatibility form, without accents
/// and invisible characters. Signs of Indian scripts stay.
pub fn words(text: &str) -> Vec<String> {
    let plain: String = text
        .nfkd()
        .filter(|c| !is_invisible(*c) && !('\u{300}'..='\u{36f}').contains(c))
        .flat_map(char::to_lowercase)
        .collect();
    let mut words: Vec<String> = Vec::new();
    for word in plain.split(|c: char| !c.is_alphanumeric() && !is_combining_mark(c)) {
        let word: String = word.chars().take(MAX_WORD).collect();
        if !word.is_empty() && !words.contains(&word) {
            words.push(word);
            if words.len() == MAX_WORDS {
                break;
            }
        }
    }
    words
}

/// Whether each word of a query begins a word of the name.
pub fn matches(name: &str, query: &[String]) -> bool {
    let words = words(name);
    !query.is_empty() && query.iter().all(|asked| words.iter().any(|word| word.starts_with(asked.as_str())))
}

/// The first text after all that begin with `prefix`, in the order of their bytes.
pub fn after(prefix: &str) -> String {
    format!("{prefix}\u{10ffff}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_one_spelling() {
        assert_eq!(words("  Ramesh  KUMAR-Iyer, ramesh "), ["ramesh", "kumar", "iyer"]);
        assert_eq!(words("José Ｆull"), ["jose", "full"]);
        // The nukta as one character and as two; a joiner inside.
        assert_eq!(words("\u{958}ादिर"), words("\u{915}\u{93c}ादि\u{200d}र"));
        assert_eq!(words("रमेश कुमार").len(), 2, "vowel signs and viramas do not split a word");
        assert_eq!(words("க்ஷமா"), words("க்ஷமா "));
        assert_eq!((words("").len(), words("—!").len()), (0, 0));
        assert_eq!(words(&"ab ".repeat(9)).len(), 1);
        let many: String = (0..20).map(|n| format!("w{n} ")).collect();
        assert_eq!(words(&many).len(), MAX_WORDS);
        assert_eq!(words(&"x".repeat(400))[0].chars().count(), MAX_WORD);
    }

    #[test]
    fn a_query_is_the_beginning_of_words_in_any_order() {
        let asked = |query: &str| matches("Ramesh Kumar", &words(query));
        assert!(asked("kum ram") && asked("RAMESH") && !asked("mesh") && !asked("ram x") && !asked(""));
        assert!(
            "ram" < after("ram").as_str()
                && "ramesh" < after("ram").as_str()
                && "ran" > after("ram").as_str()
        );
    }
}
