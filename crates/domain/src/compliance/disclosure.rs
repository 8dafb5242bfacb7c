//! A disclosure that an agent must say in the first seconds of a call, and whether a transcript holds it
//! (docs/contract/compliance.md#disclosure).

use crate::call::TimedTurn;
use crate::conversation::Role;
use crate::conversation::speech::fold;

/// Most words of a call that are searched.
const MOST_WORDS: usize = 400;
/// Most words that `…` stands for.
const GAP: usize = 12;

/// A disclosure: it is kept when one of its texts is said in time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disclosure {
    /// Seconds after the answer by which it must have been said.
    pub within_seconds: u32,
    /// A language's code and what must be said in it. `…` stands for up to 12 words, and a word that ends with `~` for
    /// every word that begins with it. A language may have several texts.
    pub texts: Vec<(String, String)>,
    /// Where it is required.
    pub source: String,
}

/// Whether the disclosure was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DisclosureResult {
    /// In time, in this language.
    Kept(String),
    Missed,
}

impl DisclosureResult {
    /// The word in the store.
    pub fn as_str(&self) -> &'static str {
        match self {
            DisclosureResult::Kept(_) => "kept",
            DisclosureResult::Missed => "missed",
        }
    }
}

impl Disclosure {
    /// Whether it was said in a conversation that lasted `talk_ms`; `None` when the call was over before the time for it
    /// was. When a word was said is estimated from its place in its turn.
    pub fn verify(&self, turns: &[TimedTurn], talk_ms: i64) -> Option<DisclosureResult> {
        let limit = i64::from(self.within_seconds).saturating_mul(1_000);
        let said = said_by(turns, limit);
        let kept = self.texts.iter().find(|(_, text)| is_said(&Token::read(text), &said));
        match kept {
            Some((language, _)) => Some(DisclosureResult::Kept(language.clone())),
            None => (talk_ms >= limit).then_some(DisclosureResult::Missed),
        }
    }
}

/// The agent's words until `limit`, milliseconds after the answer.
fn said_by(turns: &[TimedTurn], limit: i64) -> Vec<String> {
    let mut said = Vec::new();
    for turn in turns.iter().filter(|turn| turn.role == Role::Agent && turn.start_ms <= limit) {
        let words = fold(&turn.text);
        let count = i64::try_from(words.len()).unwrap_or(i64::MAX).max(1);
        let length = turn.end_ms.saturating_sub(turn.start_ms).max(0);
        let in_time = |place: usize| {
            let place = i64::try_from(place + 1).unwrap_or(i64::MAX);
            turn.start_ms.saturating_add(length.saturating_mul(place) / count) <= limit
        };
        said.extend(words.into_iter().enumerate().filter(|(place, _)| in_time(*place)).map(|(_, word)| word));
    }
    said.truncate(MOST_WORDS);
    said
}

/// A part of a text.
enum Token {
    Word(String),
    /// Any word that begins so.
    Prefix(String),
    Gap,
}

impl Token {
    fn read(text: &str) -> Vec<Token> {
        let mut tokens = Vec::new();
        for part in text.split_whitespace() {
            if part == "…" || part == "..." {
                tokens.push(Token::Gap);
                continue;
            }
            let (part, open) = part.strip_suffix('~').map_or((part, false), |part| (part, true));
            let words = fold(part);
            let last = words.len();
            tokens.extend(words.into_iter().enumerate().map(|(place, word)| {
                if open && place + 1 == last { Token::Prefix(word) } else { Token::Word(word) }
            }));
        }
        tokens
    }
}

/// Whether a text has a word that can be looked for.
pub(super) fn has_words(text: &str) -> bool {
    Token::read(text).iter().any(|token| !matches!(token, Token::Gap))
}

/// Whether the words of a text stand in this order, one after the other except for gaps.
fn is_said(tokens: &[Token], said: &[String]) -> bool {
    if tokens.is_empty() {
        return false;
    }
    // The places up to which the tokens so far can reach.
    let mut reached = vec![true; said.len() + 1];
    for token in tokens {
        let mut next = vec![false; said.len() + 1];
        for place in (0..reached.len()).filter(|place| reached[*place]) {
            let fits = match token {
                Token::Gap => {
                    let end = (place + GAP).min(said.len());
                    next[place..=end].fill(true);
                    continue;
                }
                Token::Word(word) => said.get(place) == Some(word),
                Token::Prefix(start) => said.get(place).is_some_and(|word| word.starts_with(start.as_str())),
            };
            if fits {
                next[place + 1] = true;
            }
        }
        reached = next;
    }
    reached.contains(&true)
}

/// That a call is recorded, in each language of agents.
const RECORDED: &[(&str, &str)] = &[
    ("en", "call … recorded"),
    ("en", "recorded line"),
    ("hi", "कॉल … रिकॉर्ड~"),
    ("hi", "call … record~"),
    ("bn", "কল~ … রেকর্ড~"),
    ("gu", "કૉલ~ … રેકોર્ડ~"),
    ("gu", "કોલ~ … રેકોર્ડ~"),
    ("kn", "ಕರೆ~ … ರೆಕಾರ್ಡ್~"),
    ("kn", "ಕಾಲ್~ … ರೆಕಾರ್ಡ್~"),
    ("ml", "കോൾ~ … റെക്കോർഡ്~"),
    ("ml", "കോള~ … റെക്കോർഡ്~"),
    ("mr", "कॉल~ … रेकॉर्ड~"),
    ("mr", "कॉल~ … रिकॉर्ड~"),
    ("or", "କଲ୍~ … ରେକର୍ଡ~"),
    ("or", "କଲ~ … ରେକର୍ଡ~"),
    ("pa", "ਕਾਲ~ … ਰਿਕਾਰਡ~"),
    ("ta", "அழைப்பு~ … பதிவு~"),
    ("ta", "கால்~ … ரெக்கார்ட்~"),
    ("te", "కాల్~ … రికార్డ్~"),
    ("te", "కాల్~ … రికార్డు~"),
];

/// The disclosure of the built-in packs of regulated verticals.
pub(super) fn built_in() -> Disclosure {
    Disclosure {
        within_seconds: 20,
        texts: RECORDED.iter().map(|(language, text)| ((*language).to_owned(), (*text).to_owned())).collect(),
        source:
            "RBI, draft second amendment directions of 12 Feb 2026: calls are recorded; DPDP Act 2023, notice"
                .to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::speech::LANGUAGES;

    fn turn(role: Role, text: &str, start_ms: i64, end_ms: i64) -> TimedTurn {
        TimedTurn { role, text: text.to_owned(), start_ms, end_ms, language: None }
    }

    fn agent(text: &str) -> Vec<TimedTurn> {
        vec![turn(Role::Agent, text, 0, 5_000)]
    }

    fn said(text: &str, turns: &[TimedTurn], talk_ms: i64) -> Option<&'static str> {
        let disclosure = Disclosure {
            within_seconds: 10,
            texts: vec![("en".to_owned(), text.to_owned())],
            source: String::new(),
        };
        disclosure.verify(turns, talk_ms).map(|result| result.as_str())
    }

    #[test]
    fn the_built_in_disclosure_is_recognised_in_every_language() {
        let disclosure = built_in();
        let examples = [
            ("en", "Hello, I am calling from Udaan Finance. This call is being recorded for quality."),
            ("hi", "नमस्ते, मैं उड़ान फ़ाइनेंस से बोल रही हूँ। यह कॉल रिकॉर्ड की जा रही है।"),
            ("hi", "Namaste, yeh call record ki ja rahi hai."),
            ("bn", "নমস্কার, এই কলটি রেকর্ড করা হচ্ছে।"),
            ("gu", "નમસ્તે, આ કૉલ રેકોર્ડ કરવામાં આવી રહ્યો છે."),
            ("kn", "ನಮಸ್ಕಾರ, ಈ ಕರೆಯನ್ನು ರೆಕಾರ್ಡ್ ಮಾಡಲಾಗುತ್ತಿದೆ."),
            ("ml", "നമസ്കാരം, ഈ കോൾ റെക്കോർഡ് ചെയ്യപ്പെടുന്നു."),
            ("mr", "नमस्कार, हा कॉल रेकॉर्ड केला जात आहे."),
            ("or", "ନମସ୍କାର, ଏହି କଲ୍ ରେକର୍ଡ କରାଯାଉଛି।"),
            ("pa", "ਸਤ ਸ੍ਰੀ ਅਕਾਲ, ਇਹ ਕਾਲ ਰਿਕਾਰਡ ਕੀਤੀ ਜਾ ਰਹੀ ਹੈ।"),
            ("ta", "வணக்கம், இந்த அழைப்பு பதிவு செய்யப்படுகிறது."),
            ("te", "నమస్కారం, ఈ కాల్ రికార్డ్ చేయబడుతోంది."),
        ];
        for language in LANGUAGES {
            assert!(disclosure.texts.iter().any(|(code, _)| code == language), "{language}");
            assert!(examples.iter().any(|(code, _)| *code == language), "{language}");
        }
        for (language, text) in examples {
            let result = disclosure.verify(&agent(text), 60_000);
            let Some(DisclosureResult::Kept(heard)) = result else { panic!("{text}: {result:?}") };
            // Hindi and Marathi share their words.
            let same = heard == language || (heard == "hi" && language == "mr");
            assert!(same, "{text}: {heard}");
        }
        for text in [
            "Hello, this is Asha. I am calling about your loan of two thousand rupees.",
            "Let me record your answer. May I call you tomorrow?",
            "नमस्ते, मैं आपके लोन के बारे में कॉल कर रही हूँ।",
            "",
        ] {
            assert_eq!(disclosure.verify(&agent(text), 60_000), Some(DisclosureResult::Missed), "{text}");
        }
    }

    #[test]
    fn it_counts_when_the_agent_says_it_in_time() {
        let text = "this call is recorded";
        assert_eq!(said(text, &agent("Hi. This call is recorded!"), 60_000), Some("kept"));
        let halves = [
            turn(Role::Agent, "This call", 0, 1_000),
            turn(Role::Customer, "Who is it?", 500, 1_500),
            turn(Role::Agent, "is recorded.", 2_000, 3_000),
        ];
        assert_eq!(said(text, &halves, 60_000), Some("kept"));
        let customer = [turn(Role::Customer, "this call is recorded", 0, 2_000)];
        assert_eq!(said(text, &customer, 60_000), Some("missed"));
        let late = [turn(Role::Agent, "this call is recorded", 10_001, 12_000)];
        assert_eq!(said(text, &late, 60_000), Some("missed"));
        // The last of ten words sounds at the end of its turn.
        let ends = |end_ms| [turn(Role::Agent, "a b c d e f this call is recorded", 0, end_ms)];
        assert_eq!(said(text, &ends(10_000), 60_000), Some("kept"));
        assert_eq!(said(text, &ends(10_010), 60_000), Some("missed"));
        // Who hangs up before its time is up was owed nothing yet.
        assert_eq!(said(text, &agent("Hello"), 9_999), None);
        assert_eq!(said(text, &agent("Hello"), 10_000), Some("missed"));
        assert_eq!(said(text, &agent("This call is recorded"), 3_000), Some("kept"));
    }

    #[test]
    fn gaps_and_word_beginnings() {
        for (text, spoken, kept) in [
            ("call … recorded", "this call recorded", true),
            ("call … recorded", "call a b c d e f g h i j k l recorded", true),
            ("call … recorded", "call a b c d e f g h i j k l m recorded", false),
            ("call ... recorded", "recorded call", false),
            ("record~", "recording", true),
            ("record", "recording", false),
            ("a … b … c", "a x b a y b c", true),
            ("…", "anything", true),
            ("", "anything", false),
        ] {
            let expected = if kept { "kept" } else { "missed" };
            assert_eq!(said(text, &agent(spoken), 60_000), Some(expected), "{text} / {spoken}");
        }
        assert!(has_words("… a") && !has_words("… ...") && !has_words(" ~ "));
    }
}
