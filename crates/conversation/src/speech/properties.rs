//! Properties that hold for any text.

use proptest::prelude::*;

use super::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn nothing_panics_and_no_letter_is_lost(text in "[a-zA-Zक-हા-ૐ0-9 .,?!।\\n'\"…-]{0,200}") {
        for language in LANGUAGES {
            opt_out(&text, language);
            unfinished(&text, language);
            backchannel(&text, language);
            yes_or_no(&text, language);
        }
        machine(&text);
        takes_over(&text, text.len() % 2 == 0);
        intent(&text);
        let letters = |text: &str| text.chars().filter(|letter| letter.is_alphanumeric()).collect::<String>();
        let pieces: Vec<String> = sentences(&text).collect();
        prop_assert_eq!(letters(&pieces.concat()), letters(&text));
    }

    #[test]
    fn a_text_that_comes_in_pieces_loses_nothing(pieces in prop::collection::vec("\\PC{0,40}", 0..12)) {
        let mut splitter = SentenceSplitter::new();
        let mut spoken: Vec<String> = pieces.iter().flat_map(|piece| splitter.push(piece)).collect();
        spoken.extend(splitter.finish());
        let letters = |text: &str| text.chars().filter(|letter| letter.is_alphanumeric()).collect::<String>();
        prop_assert_eq!(letters(&spoken.concat()), letters(&pieces.concat()));
        prop_assert!(spoken.iter().all(|piece| !piece.trim().is_empty() && piece.chars().count() <= 241));
    }
}
