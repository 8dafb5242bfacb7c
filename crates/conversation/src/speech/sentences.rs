//! Splitting a text into pieces for a voice. A voice that gets one sentence at a time starts sooner and
//! pauses where a person would.

/// Characters after which the first piece of a text may end at a clause. About two seconds of speech are
/// enough to synthesise the next piece.
const FIRST_CLAUSE: usize = 60;
/// Longest piece, in characters. A longer one is cut at a clause or a space.
const LONGEST: usize = 240;
/// Characters beyond the longest piece that are examined: closing quotes and what follows them.
const AFTER: usize = 16;
/// Abbreviations, whose full stop does not end a sentence.
const ABBREVIATIONS: [&str; 34] = [
    "mr", "mrs", "ms", "dr", "prof", "sri", "shri", "smt", "st", "no", "rs", "re", "vs", "etc", "eg", "ie",
    "e.g", "i.e", "pvt", "ltd", "co", "inc", "dept", "approx", "govt", "km", "ext", "jan", "feb", "aug",
    "sept", "oct", "nov", "dec",
];
const CLOSERS: &str = "\"'”’)]»";

/// The pieces of a text that a voice can speak, in order: sentences by `.`, `?`, `!`, `।`, `॥` and line ends,
/// trimmed, none blank; `4.5`, `Dr. Rao`, `e.g.` and addresses stay whole.
pub fn sentences(text: &str) -> impl Iterator<Item = String> {
    let mut splitter = SentenceSplitter { first: false, ..SentenceSplitter::default() };
    let mut pieces = splitter.push(text);
    pieces.extend(splitter.finish());
    pieces.into_iter()
}

/// Splits a text that is still being written: push each part and speak what is returned. A long first piece
/// may end at a comma, so that the voice can start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentenceSplitter {
    waiting: String,
    first: bool,
}

impl Default for SentenceSplitter {
    fn default() -> Self {
        Self { waiting: String::new(), first: true }
    }
}

impl SentenceSplitter {
    /// A splitter at the beginning of a turn.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next part and returns the pieces that are now complete, trimmed and not blank.
    pub fn push(&mut self, text: &str) -> Vec<String> {
        self.waiting.push_str(text);
        let mut pieces = Vec::new();
        while let Some(end) = self.cut() {
            let rest = self.waiting.split_off(end);
            let piece = std::mem::replace(&mut self.waiting, rest);
            self.give(&piece, &mut pieces);
        }
        pieces
    }

    /// Returns the rest at the end of the text and resets the splitter.
    pub fn finish(&mut self) -> Option<String> {
        let mut pieces = Vec::new();
        let piece = std::mem::take(&mut self.waiting);
        self.give(&piece, &mut pieces);
        self.first = true;
        pieces.pop()
    }

    fn give(&mut self, piece: &str, pieces: &mut Vec<String>) {
        let piece = piece.trim();
        if piece.chars().any(char::is_alphanumeric) {
            self.first = false;
            pieces.push(piece.to_owned());
        }
    }

    /// Where the next complete piece ends, in bytes.
    fn cut(&self) -> Option<usize> {
        // No piece is longer, so no more is examined. Otherwise a long text would be read again for each of
        // its sentences.
        let letters: Vec<(usize, char)> = self.waiting.char_indices().take(LONGEST + AFTER).collect();
        let mut clause = None;
        let mut space = None;
        for (at, &(byte, letter)) in letters.iter().enumerate() {
            let after = letters.get(at + 1).map(|(_, next)| *next);
            if let Some(end) = self.sentence_end(&letters, at) {
                return Some(end);
            }
            if matches!(letter, ',' | ';' | ':' | '–' | '—') && after.is_some_and(char::is_whitespace) {
                clause = Some(byte + letter.len_utf8());
                if self.first && at + 1 >= FIRST_CLAUSE {
                    return clause;
                }
            }
            if letter.is_whitespace() {
                space = Some(byte + letter.len_utf8());
            }
            if at + 1 >= LONGEST {
                return clause.or(space).or(Some(byte + letter.len_utf8()));
            }
        }
        None
    }

    /// The end of a sentence whose final mark is here, including closing quotes. `None` for a mark at the end
    /// of the text so far, because more may follow.
    fn sentence_end(&self, letters: &[(usize, char)], at: usize) -> Option<usize> {
        let &(byte, letter) = letters.get(at)?;
        if letter == '\n' {
            return Some(byte + 1);
        }
        if !matches!(letter, '.' | '?' | '!' | '।' | '॥' | '…') {
            return None;
        }
        let mut next = at + 1;
        while letters.get(next).is_some_and(|(_, closer)| CLOSERS.contains(*closer)) {
            next += 1;
        }
        let &(end, following) = letters.get(next)?;
        if matches!(letter, '।' | '॥') && !matches!(following, '।' | '॥' | '.') {
            return Some(end);
        }
        if !following.is_whitespace() {
            return None;
        }
        (letter != '.' || !self.abbreviated(byte)).then_some(end)
    }

    /// Whether the full stop at this byte belongs to an abbreviation, an initial or a list number.
    fn abbreviated(&self, dot: usize) -> bool {
        let before = &self.waiting[..dot];
        let word =
            before.rsplit(|letter: char| letter.is_whitespace() || letter == '(').next().unwrap_or_default();
        let lower = word.to_lowercase();
        let initial = word.chars().count() == 1 && word.chars().all(char::is_uppercase) && word != "I";
        let list_number = word.len() <= 2
            && !word.is_empty()
            && word.bytes().all(|byte| byte.is_ascii_digit())
            && before.trim_end_matches(word).trim().is_empty();
        initial
            || list_number
            || ABBREVIATIONS.contains(&lower.as_str())
            || matches!(
                word,
                "श्री"
                    | "डॉ"
                    | "डा"
                    | "सौ"
                    | "रु"
                    | "ডা"
                    | "ডঃ"
                    | "ડૉ"
                    | "ரூ"
                    | "రూ"
                    | "ರೂ"
                    | "രൂ"
            )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str) -> Vec<String> {
        sentences(text).collect()
    }

    #[test]
    fn texts_are_cut_at_sentences() {
        for (text, expected) in [
            ("Hello. How are you?", vec!["Hello.", "How are you?"]),
            ("Dr. Rao will call at 4.30 p.m. today.", vec!["Dr. Rao will call at 4.30 p.m.", "today."]),
            ("Pay Rs. 500.50 to A. Kumar. Thanks!", vec!["Pay Rs. 500.50 to A. Kumar.", "Thanks!"]),
            ("नमस्ते। आप कैसे हैं?", vec!["नमस्ते।", "आप कैसे हैं?"]),
            ("यह है।वह भी।", vec!["यह है।", "वह भी।"]),
            ("Really?! Yes...  no", vec!["Really?!", "Yes...", "no"]),
            ("He said \"stop.\" Then left.", vec!["He said \"stop.\"", "Then left."]),
            ("one\ntwo\n\n", vec!["one", "two"]),
            ("See www.example.in now", vec!["See www.example.in now"]),
            ("1. Ask the name.", vec!["1. Ask the name."]),
            ("It is I. Go.", vec!["It is I.", "Go."]),
            (" ... ", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(cut(text), expected, "{text}");
        }
    }

    #[test]
    fn long_texts_are_cut_at_clauses_or_spaces() {
        let long = "word ".repeat(200);
        assert!(cut(&long).iter().all(|piece| piece.chars().count() <= LONGEST));
        assert_eq!(cut(&long).join(" "), long.trim());
        let solid = "अ".repeat(1000);
        assert_eq!(cut(&solid).concat(), solid);
    }

    #[test]
    fn a_text_in_pieces_is_cut_as_it_comes() {
        let mut splitter = SentenceSplitter::new();
        assert_eq!(splitter.push("Hello"), Vec::<String>::new());
        assert_eq!(splitter.push(" there."), Vec::<String>::new(), "more dots may follow");
        assert_eq!(splitter.push(" I am"), vec!["Hello there."]);
        assert_eq!(splitter.push(" at 4"), Vec::<String>::new());
        assert_eq!(splitter.push(".5 percent. "), vec!["I am at 4.5 percent."]);
        assert_eq!(splitter.push("Bye"), Vec::<String>::new());
        assert_eq!(splitter.finish().as_deref(), Some("Bye"));
        assert_eq!(splitter.finish(), None);
    }

    #[test]
    fn the_first_piece_ends_at_a_clause_when_it_is_long() {
        let text = "Good morning, this is the reminder service of the bank about your savings account, which was opened, as you know, in June. Bye.";
        let mut splitter = SentenceSplitter::new();
        let pieces = splitter.push(text);
        assert_eq!(
            pieces.first().map(String::as_str),
            Some("Good morning, this is the reminder service of the bank about your savings account,")
        );
        assert_eq!(pieces.get(1).map(String::as_str), Some("which was opened, as you know, in June."));
    }

    #[test]
    fn any_way_of_cutting_gives_the_same_words() {
        let text = "Mr. Rao said: pay 1,200.50 now! Really? हाँ। ठीक है। \"Good.\" It is e.g. here… the end";
        for size in 1..12 {
            let mut splitter = SentenceSplitter::new();
            let letters: Vec<char> = text.chars().collect();
            let mut pieces: Vec<String> = letters
                .chunks(size)
                .flat_map(|piece| splitter.push(&piece.iter().collect::<String>()))
                .collect();
            pieces.extend(splitter.finish());
            assert_eq!(pieces, cut(text), "{size}");
        }
    }
}
