//! What a customer's words on the channel mean for messages and calls (docs/contract/channel-messages.md#stop-words).
//!
//! Only a message that is nothing but such a word counts: `stop sending the old invoice` is for the agent.

use crate::conversation::speech::opt_out;

/// What a customer wants from now on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// No more messages; calls are as before.
    StopMessages,
    /// Neither messages nor calls.
    StopAll,
    /// Messages again.
    Start,
}

/// Words that stop messages, in the eleven languages and as they are typed in Latin letters. `Cancel`, `wait` and `I do
/// not want it` are not among them: they answer questions of agents.
const STOP: &[&str] = &[
    // English
    "stop",
    "unsubscribe",
    "quit",
    "optout",
    "opt out",
    "opt-out",
    "stop messages",
    "stop messaging",
    "stop it",
    "please stop",
    "stop please",
    "remove me",
    "no more messages",
    "do not message",
    "do not message me",
    "dont message me",
    "don't message me",
    "do not text me",
    "dont text me",
    "don't text me",
    "stop texting me",
    "stop messaging me",
    "stop promotions",
    // Hindi
    "बंद",
    "बंद करो",
    "बंद करें",
    "बंद कर दो",
    "रोको",
    "रोकें",
    "स्टॉप",
    "मैसेज बंद करो",
    "मैसेज मत भेजो",
    "संदेश बंद करें",
    "band karo",
    "band kare",
    "band karen",
    "band kar do",
    "roko",
    "message mat bhejo",
    "msg mat bhejo",
    "message band karo",
    // Bengali
    "বন্ধ",
    "বন্ধ করো",
    "বন্ধ করুন",
    "থামো",
    "থামুন",
    "স্টপ",
    "bondho koro",
    "bondho korun",
    "thamun",
    // Tamil
    "நிறுத்து",
    "நிறுத்துங்கள்",
    "நிறுத்தவும்",
    "ஸ்டாப்",
    "niruthu",
    "niruthungal",
    "niruthavum",
    // Telugu
    "ఆపు",
    "ఆపండి",
    "ఆపేయండి",
    "స్టాప్",
    "aapu",
    "aapandi",
    "aapeyandi",
    // Marathi
    "थांबवा",
    "बंद करा",
    "मेसेज बंद करा",
    "thambva",
    "band kara",
    // Gujarati
    "બંધ",
    "બંધ કરો",
    "રોકો",
    "સ્ટોપ",
    "bandh karo",
    // Kannada
    "ನಿಲ್ಲಿಸಿ",
    "ನಿಲ್ಲಿಸು",
    "ಸ್ಟಾಪ್",
    "nillisi",
    "nillisu",
    // Malayalam
    "നിർത്തുക",
    "നിർത്തൂ",
    "നിർത്തു",
    "സ്റ്റോപ്പ്",
    "nirthuka",
    "nirthu",
    // Punjabi
    "ਬੰਦ",
    "ਬੰਦ ਕਰੋ",
    "ਰੋਕੋ",
    "ਸਟਾਪ",
    // Odia
    "ବନ୍ଦ",
    "ବନ୍ଦ କର",
    "ବନ୍ଦ କରନ୍ତୁ",
    "ଷ୍ଟପ୍",
    "banda kara",
    "banda karantu",
];

/// Words that stop everything. What says so in a sentence is found by [`opt_out`], which knows all languages.
const STOP_ALL: &[&str] = &[
    "stop all",
    "stop everything",
    "unsubscribe all",
    "do not contact me",
    "dont contact me",
    "don't contact me",
];

/// Words that allow messages again.
const START: &[&str] = &[
    "start",
    "unstop",
    "subscribe",
    "resume",
    "opt in",
    "opt-in",
    "optin",
    "शुरू",
    "शुरू करो",
    "शुरू करें",
    "स्टार्ट",
    "shuru karo",
    "shuru kare",
    "shuru karen",
    "চালু",
    "চালু করুন",
    "শুরু",
    "শুরু করুন",
    "স্টার্ট",
    "தொடங்கு",
    "தொடங்கவும்",
    "ஸ்டார்ட்",
    "ప్రారంభించు",
    "ప్రారంభించండి",
    "స్టార్ట్",
    "सुरू",
    "सुरू करा",
    "ચાલુ",
    "ચાલુ કરો",
    "શરૂ",
    "શરૂ કરો",
    "સ્ટાર્ટ",
    "ಪ್ರಾರಂಭಿಸಿ",
    "ಸ್ಟಾರ್ಟ್",
    "ആരംഭിക്കുക",
    "തുടങ്ങുക",
    "സ്റ്റാർട്ട്",
    "ਸ਼ੁਰੂ",
    "ਸ਼ੁਰੂ ਕਰੋ",
    "ਸਟਾਰਟ",
    "ଆରମ୍ଭ",
    "ଆରମ୍ଭ କରନ୍ତୁ",
    "ଚାଲୁ",
    "ଷ୍ଟାର୍ଟ",
];

/// Longest text that can be such a word, in characters: longer ones are not looked at word by word.
const LONGEST: usize = 60;
/// Longest text that is searched for «do not call me», in characters.
const LONGEST_SENTENCE: usize = 400;

/// Lower case, one blank between words, without marks around them.
fn plain(text: &str) -> String {
    let strange = |letter: char| {
        letter.is_ascii_punctuation()
            || matches!(
                letter,
                '।' | '॥' | '“' | '”' | '‘' | '’' | '…' | '–' | '—' | '\u{200b}'..='\u{200f}' | '\u{fe0f}'
            )
            || ('\u{1f000}'..='\u{1faff}').contains(&letter)
            || ('\u{2600}'..='\u{27bf}').contains(&letter)
    };
    let words: Vec<&str> = text
        .split_whitespace()
        .map(|word| word.trim_matches(strange))
        .filter(|word| !word.is_empty())
        .collect();
    words.join(" ").to_lowercase()
}

/// What a message asks for; `None` when it asks for nothing and is to be answered.
pub fn wish(text: &str) -> Option<Wish> {
    let length = text.chars().count();
    if length <= LONGEST {
        let words = plain(text);
        if STOP_ALL.contains(&words.as_str()) {
            return Some(Wish::StopAll);
        }
        if STOP.contains(&words.as_str()) {
            return Some(Wish::StopMessages);
        }
        if START.contains(&words.as_str()) {
            return Some(Wish::Start);
        }
    }
    (length <= LONGEST_SENTENCE && opt_out(text, "en")).then_some(Wish::StopAll)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stop_and_start_in_eleven_languages() {
        for text in [
            "STOP",
            "stop.",
            " Stop!! ",
            "“stop”",
            "Stop 🛑",
            "UNSUBSCRIBE",
            "opt-out",
            "don't message me",
            "बंद करो",
            "band karo",
            "বন্ধ করুন",
            "நிறுத்து",
            "ఆపండి",
            "बंद करा",
            "બંધ કરો",
            "ನಿಲ್ಲಿಸಿ",
            "നിർത്തുക",
            "ਬੰਦ ਕਰੋ",
            "ବନ୍ଦ କରନ୍ତୁ",
        ] {
            assert_eq!(wish(text), Some(Wish::StopMessages), "{text}");
        }
        for text in [
            "START",
            "start",
            "Unstop",
            "शुरू करें",
            "চালু করুন",
            "தொடங்கு",
            "ప్రారంభించండి",
            "सुरू करा",
            "ચાલુ કરો",
            "ಪ್ರಾರಂಭಿಸಿ",
            "ആരംഭിക്കുക",
            "ਸ਼ੁਰੂ ਕਰੋ",
            "ଆରମ୍ଭ କରନ୍ତୁ",
        ] {
            assert_eq!(wish(text), Some(Wish::Start), "{text}");
        }
    }

    #[test]
    fn who_asks_not_to_be_called_is_not_called() {
        for text in ["STOP ALL", "Do not call me again", "don't contact me", "मुझे दोबारा फोन मत करना"]
        {
            assert_eq!(wish(text), Some(Wish::StopAll), "{text}");
        }
    }

    #[test]
    fn sentences_are_for_the_agent() {
        for text in [
            "",
            "?",
            "stop sending the old invoice, send the new one",
            "when does the bus stop",
            "start the engine please",
            "where is my order",
            "ok",
            "end of the month works for me",
            "please cancel order 42",
            "don't call me now, call at five",
        ] {
            assert_eq!(wish(text), None, "{text}");
        }
    }

    #[test]
    fn no_word_stands_in_two_lists() {
        for word in STOP.iter().chain(STOP_ALL).chain(START) {
            assert_eq!(plain(word), *word, "as it is looked up");
        }
        assert!(STOP.iter().all(|word| !START.contains(word) && !STOP_ALL.contains(word)));
    }
}
