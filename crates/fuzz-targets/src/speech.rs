//! What customers say, as text from a recogniser or a chat.

use domain::conversation::speakable::{Pronunciations, Speakable};
use domain::conversation::{Field, FieldKind, MAX_ANSWER, Moment, capture, capture_digits, fill, names};
use domain::speech;

/// The words of a customer or of a language model.
///
/// The pieces for the voice are never blank and contain every word, wherever the stream of text is cut.
/// The spoken form of a text that was heard to its end is the whole text. Captured answers have the requested kind and a bounded length.
pub fn words(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let all = speech::LANGUAGES.map(str::to_owned);
    for language in speech::LANGUAGES {
        let _ = (
            speech::opt_out(text, language),
            speech::unfinished(text, language),
            speech::backchannel(text, language),
            speech::yes_or_no(text, language),
            speech::spoken_language(text, Some(language), "en", &all),
        );
    }
    let _ = (speech::intent(text), speech::machine(text), speech::takes_over(text, false));
    sentences(text, data.first().map_or(1, |byte| usize::from(byte % 7) + 1));
    answers(text);
    for language in speech::LANGUAGES {
        let said = Speakable::new(language, true, Pronunciations::default()).prepare(text);
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.written() == text && said.heard(1, 1) == words, "all of it was heard");
    }
    let filled = fill(text, |_| Some("x".into()));
    assert!(!names(text).is_empty() || filled == text, "a text without names was changed");
}

/// The letters and digits of a text, which the pieces must not lose.
fn spoken(text: &str) -> String {
    text.chars().filter(|letter| letter.is_alphanumeric()).collect()
}

fn sentences(text: &str, step: usize) {
    let whole: Vec<String> = speech::sentences(text).collect();
    let mut splitter = speech::SentenceSplitter::new();
    let mut pieces = Vec::new();
    let letters: Vec<char> = text.chars().collect();
    for piece in letters.chunks(step) {
        pieces.extend(splitter.push(&piece.iter().collect::<String>()));
    }
    pieces.extend(splitter.finish());
    for piece in whole.iter().chain(&pieces) {
        assert!(piece.trim() == piece && !piece.is_empty(), "{piece:?}");
        assert!(piece.chars().count() <= 300, "a piece of {} letters", piece.chars().count());
    }
    assert_eq!(spoken(&whole.concat()), spoken(text), "words of the whole text");
    assert_eq!(spoken(&pieces.concat()), spoken(text), "words of the stream");
}

/// Digits with what stands between those of dates, times and telephone numbers.
fn is_plain(value: &str) -> bool {
    !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit() || b"-:+".contains(&byte))
}

fn is_address(value: &str) -> bool {
    value.split_once('@').is_some_and(|(who, at)| !who.is_empty() && at.contains('.'))
        && value.bytes().all(|byte| byte.is_ascii_graphic() && !byte.is_ascii_uppercase())
}

fn answers(text: &str) {
    let choices =
        ["Gold", "2 BHK", "हाँ", text.get(..text.len().min(9)).unwrap_or("none")].map(str::to_owned).to_vec();
    let now = Moment::in_india(1_795_754_700_000);
    for kind in FieldKind::all() {
        let field = Field { key: "k".into(), kind, choices: choices.clone(), ..Field::default() };
        let heard = speech::LANGUAGES.iter().map(|language| capture(&field, text, language, now));
        for value in heard.chain([capture_digits(&field, text)]).flatten() {
            match kind {
                FieldKind::Boolean => assert!(value.is_boolean(), "{value}"),
                FieldKind::Choice => {
                    assert!(choices.iter().any(|choice| value.as_str() == Some(choice)), "{value}")
                }
                FieldKind::Number => {
                    let number = value.as_str().map_or_else(|| value.as_f64(), |text| text.parse().ok());
                    assert!(number.is_some_and(f64::is_finite), "{value}");
                }
                FieldKind::Date | FieldKind::Time | FieldKind::Amount | FieldKind::Phone => {
                    assert!(value.as_str().is_some_and(is_plain), "{value}");
                }
                FieldKind::Email => assert!(value.as_str().is_some_and(is_address), "{value}"),
                FieldKind::Pincode => {
                    assert!(value.as_str().is_some_and(|text| text.len() == 6 && is_plain(text)), "{value}");
                }
                FieldKind::Text => assert!(
                    value.as_str().is_some_and(|text| !text.is_empty() && text.chars().count() <= MAX_ANSWER),
                    "{value}"
                ),
            }
        }
    }
}
