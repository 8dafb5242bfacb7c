//! What a customer's words on the channel mean for messages and calls (docs/contract/channel-messages.md#stop-words).
//!
//! Only a message that is nothing but such a word counts: `stop sending the old invoice` is for the agent.

use unicode_normalization::UnicodeNormalization;

use crate::conversation::speech::opt_out;

/// What a customer wants from now on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// No more messages; calls are as before.
    StopMessages,
    /// Neither messages nor calls.
    StopAll,
    Start,
    /// No more marketing; other messages are as before.
    StopMarketing,
    StartMarketing,
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
    "stop the messages",
    "stop these messages",
    "stop sending me messages",
    "stop sending messages",
    "stop it",
    "remove me",
    "no more messages",
    "do not message",
    "do not message me",
    "dont message me",
    "don't message me",
    "do not text me",
    "dont text me",
    "don't text me",
    "unsubscribe me",
    "stop texting me",
    "stop messaging me",
    // Hindi
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
    "ਬੰਦ ਕਰੋ",
    "ਰੋਕੋ",
    "ਸਟਾਪ",
    // Odia
    "ବନ୍ଦ କର",
    "ବନ୍ଦ କରନ୍ତୁ",
    "ଷ୍ଟପ୍",
    "banda kara",
    "banda karantu",
];

/// Words that mean `stop` and `closed`: alone they stop messages, unless they answer a question.
const CLOSED: &[&str] = &["बंद", "बन्द", "বন্ধ", "બંધ", "ਬੰਦ", "ବନ୍ଦ"];

/// Words that stop by themselves, in whatever company of [`OBJECTS`] and [`FILLERS`].
const VERBS: &[&str] = &[
    "stop",
    "unsubscribe",
    "unsub",
    "optout",
    "quit",
    "roko",
    "rokiye",
    "रोको",
    "रोकें",
    "रोकिए",
    "रोकिये",
    "स्टॉप",
    "स्टाप",
    "থামো",
    "থামুন",
    "থামান",
    "স্টপ",
    "thamun",
    "thaman",
    "நிறுத்து",
    "நிறுத்துங்கள்",
    "நிறுத்தவும்",
    "ஸ்டாப்",
    "niruthu",
    "niruthungal",
    "niruthavum",
    "ఆపు",
    "ఆపండి",
    "ఆపేయండి",
    "స్టాప్",
    "aapu",
    "aapandi",
    "aapeyandi",
    "थांबवा",
    "thambva",
    "રોકો",
    "સ્ટોપ",
    "ನಿಲ್ಲಿಸಿ",
    "ನಿಲ್ಲಿಸು",
    "ಸ್ಟಾಪ್",
    "nillisi",
    "nillisu",
    "നിർത്തുക",
    "നിർത്തൂ",
    "നിർത്തു",
    "സ്റ്റോപ്പ്",
    "nirthuka",
    "nirthu",
    "ਰੋਕੋ",
    "ਸਟਾਪ",
    "ଷ୍ଟପ୍",
];
/// `Closed`, which stops together with one of [`DO`]; and `do not`, which stops together with `send` and one of
/// [`OBJECTS`].
const CLOSE: &[&str] = &["band", "bandh", "bondho", "banda", "बंद", "बन्द", "বন্ধ", "બંધ", "ਬੰਦ", "ବନ୍ଦ"];
const DO: &[&str] = &[
    "karo",
    "kro",
    "kar",
    "kare",
    "karen",
    "karein",
    "kariye",
    "kijiye",
    "kijie",
    "kardo",
    "do",
    "dijiye",
    "kara",
    "koro",
    "korun",
    "karantu",
    "करो",
    "कर",
    "करे",
    "करें",
    "करिए",
    "करिये",
    "कीजिए",
    "कीजिये",
    "दो",
    "दें",
    "दीजिए",
    "दीजिये",
    "करा",
    "করো",
    "কর",
    "করুন",
    "করেন",
    "দিন",
    "કરો",
    "કરી",
    "દો",
    "ਕਰੋ",
    "ਕਰ",
    "ਦਿਓ",
    "କର",
    "କରନ୍ତୁ",
];
const DONT: &[&str] = &["dont", "don't", "mat", "मत"];
const SEND: &[&str] =
    &["send", "bhejo", "bhejna", "bheje", "bhejiye", "bhejen", "भेजो", "भेजना", "भेजें", "भेजिए", "भेजिये"];
/// What is stopped: messages.
const OBJECTS: &[&str] = &[
    "message",
    "messages",
    "messaging",
    "msg",
    "msgs",
    "mesg",
    "messege",
    "messeges",
    "massage",
    "massages",
    "sms",
    "text",
    "texts",
    "texting",
    "whatsapp",
    "notification",
    "notifications",
    "मैसेज",
    "मेसेज",
    "मैसेजेस",
    "संदेश",
    "सन्देश",
    "এসএমএস",
    "মেসেজ",
    "বার্তা",
    "மெசேஜ்",
    "செய்தி",
    "செய்திகள்",
    "మెసేజ్",
    "సందేశాలు",
    "મેસેજ",
    "સંદેશ",
    "ಮೆಸೇಜ್",
    "ಸಂದೇಶ",
    "മെസ്സേജ്",
    "സന്ദേശം",
    "ਮੈਸੇਜ",
    "ਸੁਨੇਹੇ",
    "ମେସେଜ୍",
    "ବାର୍ତ୍ତା",
];
/// What is stopped: marketing alone.
const MARKETING: &[&str] = &[
    "promotion",
    "promotions",
    "promotional",
    "promo",
    "promos",
    "offer",
    "offers",
    "ad",
    "ads",
    "advertisement",
    "advertisements",
    "marketing",
    "ऑफर",
    "विज्ञापन",
];
/// What may stand beside these words and changes nothing.
const FILLERS: &[&str] = &[
    "sending",
    "me",
    "the",
    "these",
    "this",
    "any",
    "more",
    "your",
    "now",
    "it",
    "to",
    "ye",
    "yeh",
    "mujhe",
    "ko",
    "sab",
    "ji",
    "sir",
    "madam",
    "kripya",
    "यह",
    "ये",
    "मुझे",
    "को",
    "सब",
    "जी",
    "कृपया",
    "प्लीज",
    "प्लीज़",
    "অনুগ্রহ",
    "করে",
    "দয়া",
    "દયા",
    "please",
    "pls",
    "plz",
    "kindly",
];

/// Words that stop everything. What says so in a sentence is found by [`opt_out`], which knows all languages.
const STOP_ALL: &[&str] = &[
    "stop all",
    "stopall",
    "stop everything",
    "stop all messages",
    "stop all communication",
    "stop all communications",
    "stop all messages and calls",
    "stop all calls and messages",
    "stop messages and calls",
    "stop calls and messages",
    "stop calling and messaging me",
    "stop messaging and calling me",
    "stop contacting me",
    "no more messages or calls",
    "no more calls or messages",
    "unsubscribe all",
    "unsubscribe me from everything",
    "do not contact me",
    "dont contact me",
    "don't contact me",
    "do not contact me again",
    "dont contact me again",
    "don't contact me again",
    "never contact me",
    "never contact me again",
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

/// Words that allow marketing again, together with one of [`MARKETING`].
const AGAIN: &[&str] = &["start", "resume", "subscribe", "unstop"];

/// Longest text that can be such a word, in characters: longer ones are not looked at word by word.
const LONGEST: usize = 60;
/// Longest text that is searched for «do not call me», in characters.
const LONGEST_SENTENCE: usize = 400;
/// What is polite around a word that stops.
const POLITE: &[&str] = &["please", "pls", "plz", "kindly"];

/// Whether nobody sees a sign: it joins, parts or marks others, or asks for the look of an emoji.
fn is_invisible(sign: char) -> bool {
    matches!(
        sign,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{20e3}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}'
    ) || (sign.is_control() && !sign.is_whitespace())
}

/// Whether a sign around a word is no part of it: punctuation, an arrow, an emoji. Vowel signs and the like are not
/// letters either, but parts of words.
fn is_mark(sign: char) -> bool {
    sign.is_ascii_punctuation()
        || matches!(
            sign,
            '¡' | '¢'..='©' | '«' | '¬' | '®'..='±' | '´' | '¶'..='¸' | '»' | '¿' | '×' | '÷' | '।' | '॥' | '॰'
                | '،' | '؛' | '؟' | '۔'
                | '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{205e}' | '\u{2190}'..='\u{2bff}'
                | '\u{3001}'..='\u{3003}' | '\u{3008}'..='\u{3020}' | '\u{3030}'
                | '\u{1f000}'..='\u{1faff}'
        )
}

/// The text as it looks: other forms of the same letters (full-width ones, say) are those letters, and what nobody sees
/// is gone. At most `most` characters of it, which is enough to see that there are more.
fn seen(text: &str, most: usize) -> String {
    text.nfkc().filter(|sign| !is_invisible(*sign)).take(most).collect()
}

/// Lower case, one blank between words, without marks around them.
fn plain(seen: &str) -> String {
    let words: Vec<&str> = seen
        .split_whitespace()
        .map(|word| word.trim_matches(is_mark))
        .filter(|word| !word.is_empty())
        .collect();
    words.join(" ").to_lowercase()
}

/// Words without what is polite around them.
fn blunt(words: &str) -> String {
    let mut words: Vec<&str> = words.split(' ').collect();
    while words.len() > 1 && words.first().is_some_and(|word| POLITE.contains(word)) {
        words.remove(0);
    }
    while words.len() > 1 && words.last().is_some_and(|word| POLITE.contains(word)) {
        words.pop();
    }
    words.join(" ")
}

/// Whether a text is nothing but a word that means `stop` and `closed`: it depends on what was asked.
pub fn is_ambiguous(text: &str) -> bool {
    let words = plain(&seen(text, LONGEST + 1));
    !words.is_empty() && words.split(' ').all(|word| CLOSED.contains(&word))
}

/// What words mean that are nothing but forms of these: stop, what is to stop, and what is polite.
fn composed(words: &str) -> Option<Wish> {
    let words = words.replace("do not", "dont").replace("opt out", "optout");
    let words: Vec<&str> = words.split(' ').collect();
    let has = |set: &[&str]| words.iter().any(|word| set.contains(word));
    let known = |sets: &[&[&str]]| words.iter().all(|word| sets.iter().any(|set| set.contains(word)));
    let about = has(OBJECTS) || has(MARKETING);
    if has(AGAIN) && has(MARKETING) && known(&[AGAIN, MARKETING, OBJECTS, FILLERS]) {
        return Some(Wish::StartMarketing);
    }
    let stops = has(VERBS) && known(&[VERBS, OBJECTS, MARKETING, FILLERS, &["all"]])
        || has(CLOSE) && has(DO) && known(&[CLOSE, DO, OBJECTS, MARKETING, FILLERS])
        || has(DONT) && has(SEND) && about && known(&[DONT, SEND, OBJECTS, MARKETING, FILLERS]);
    let all = words.contains(&"all");
    match (stops, has(MARKETING)) {
        (true, true) => Some(Wish::StopMarketing),
        (true, false) if all => Some(Wish::StopAll),
        (true, false) => Some(Wish::StopMessages),
        (false, _) => None,
    }
}

/// Whether the letters of a text are nothing but STOP: `S T O P`, `S.T.O.P`, `STOPPP`.
fn spelled(seen: &str) -> bool {
    let letters: String = seen.chars().filter(|sign| sign.is_alphanumeric()).collect();
    letters.to_ascii_lowercase().strip_prefix("sto").is_some_and(|rest| {
        let rest = rest.trim_start_matches('o');
        !rest.is_empty() && rest.bytes().all(|letter| letter == b'p')
    })
}

/// What a message asks for; `None` when it asks for nothing and is to be answered. `answers`: it answers a question, or
/// stands on a button.
pub fn wish(text: &str, answers: bool) -> Option<Wish> {
    let seen = seen(text, LONGEST_SENTENCE + 1);
    let length = seen.chars().count();
    if length <= LONGEST {
        let words = plain(&seen);
        let blunt = blunt(&words);
        if is_ambiguous(text) {
            return (!answers).then_some(Wish::StopMessages);
        }
        if STOP_ALL.contains(&blunt.as_str()) {
            return Some(Wish::StopAll);
        }
        if STOP.contains(&blunt.as_str()) {
            return Some(Wish::StopMessages);
        }
        if START.contains(&words.as_str()) {
            return Some(Wish::Start);
        }
        if spelled(&seen) {
            return Some(Wish::StopMessages);
        }
        if let Some(wish) = composed(&blunt) {
            return Some(wish);
        }
    }
    let says = |text: &str| text.chars().count() <= LONGEST_SENTENCE && opt_out(text, "en");
    // Also as it came: joiners are part of how some scripts are written.
    (says(&seen) || says(text)).then_some(Wish::StopAll)
}

/// What the payload of a button asks for, or the id of a button or a row. The business chose these words, not the person,
/// so only `STOP` and `STOP ALL` count: a button with the id `start` may begin an order.
pub fn wish_of_id(id: &str) -> Option<Wish> {
    match plain(&seen(id, LONGEST + 1)).replace(['_', '-'], " ").as_str() {
        "stop" => Some(Wish::StopMessages),
        "stop all" | "stopall" => Some(Wish::StopAll),
        _ => None,
    }
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
            "please stop",
            "Stop, please!",
            // Other forms of the letters, and what nobody sees.
            "ＳＴＯＰ",
            "𝐒𝐓𝐎𝐏",
            "ⓢⓣⓞⓟ",
            "S\u{200b}T\u{200d}O\u{2060}P",
            "\u{feff}STOP\u{feff}",
            "ST\u{ad}OP",
            "STOP\u{fe0f}",
            "\u{202e}STOP\u{202c}",
            "S\u{20e3}T\u{20e3}O\u{20e3}P\u{20e3}",
            "STOP\u{0}",
            "¡STOP!",
            "«stop»",
            "【ＳＴＯＰ】",
            "「STOP」",
            "⏹ STOP ⛔",
            "→ stop",
            "STOP؟",
            "stop\u{a0}",
            "बंद\u{200d} करो",
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
            // Forms of these words, and what stands beside them.
            "STOP STOP",
            "stop stop stop!!",
            "stop msg",
            "Stop msgs pls",
            "Stop sending me these messages now",
            "don't send me any more messages",
            "do not send messages",
            "S T O P",
            "S.T.O.P.",
            "Stoppp",
            "messages band karo",
            "msg bandh kar do",
            "mujhe message mat bhejo",
            "बंद कीजिए",
            "बंद कर दीजिये",
            "कृपया मैसेज बंद कीजिए",
            "मुझे संदेश मत भेजिए",
            "মেসেজ বন্ধ করুন",
            "મેસેજ બંધ કરો",
            "ਮੈਸੇਜ ਬੰਦ ਕਰੋ",
            "மெசேஜ் நிறுத்து",
        ] {
            assert_eq!(wish(text, false), Some(Wish::StopMessages), "{text}");
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
            assert_eq!(wish(text, false), Some(Wish::Start), "{text}");
        }
    }

    #[test]
    fn who_asks_not_to_be_called_is_not_called() {
        for text in [
            "STOP ALL",
            "StopAll",
            "ＳＴＯＰ ＡＬＬ",
            "Stop all messages",
            "Please stop all messages!",
            "stop all messages and calls.",
            "No more calls or messages, please",
            "Never contact me again.",
            "Do not call me again",
            "Do not c\u{200b}all me again",
            "don't contact me",
            "मुझे दोबारा फोन मत करना",
        ] {
            assert_eq!(wish(text, false), Some(Wish::StopAll), "{text}");
        }
    }

    #[test]
    fn closed_is_an_answer_where_something_was_asked() {
        for text in ["बंद", "बन्द।", "বন্ধ", "બંધ", "ਬੰਦ", "ବନ୍ଦ", "बंद बंद"]
        {
            assert_eq!(wish(text, false), Some(Wish::StopMessages), "{text}");
            assert_eq!(wish(text, true), None, "{text}");
        }
        for text in ["STOP", "बंद करो", "stop msg", "બંધ કરો"] {
            assert_eq!(wish(text, true), Some(Wish::StopMessages), "{text}");
        }
    }

    #[test]
    fn promotions_are_marketing_alone() {
        for text in [
            "Stop promotions",
            "stop all promotional messages",
            "please stop offers",
            "offers band karo",
            "unsubscribe marketing",
        ] {
            assert_eq!(wish(text, false), Some(Wish::StopMarketing), "{text}");
        }
        for text in ["start promotions", "Resume offers please"] {
            assert_eq!(wish(text, false), Some(Wish::StartMarketing), "{text}");
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
            "please start",
            "please",
            "\u{200b}",
            "stop all messages about order 42",
            "dukaan band karo",
            "दुकान बंद है",
            "mat bhejo",
            "do not send the order",
            "the message",
            "offers",
            "send me offers",
            "stop the order",
            "stops",
            "band",
        ] {
            assert_eq!(wish(text, false), None, "{text}");
        }
    }

    #[test]
    fn what_nobody_sees_is_not_counted_and_a_long_text_is_no_word() {
        assert_eq!(wish(&format!("STOP{}", "\u{200b}".repeat(10_000)), false), Some(Wish::StopMessages));
        assert_eq!(wish(&format!("STOP{}", "!".repeat(57)), false), None);
        assert_eq!(wish(&format!("do not call me again {}", "x".repeat(400)), false), None);
    }

    #[test]
    fn an_id_stops_by_that_word_alone() {
        for id in ["STOP", "stop", " Stop ", "ＳＴＯＰ"] {
            assert_eq!(wish_of_id(id), Some(Wish::StopMessages), "{id}");
        }
        for id in ["STOP ALL", "stop_all", "STOPALL", "stop-all"] {
            assert_eq!(wish_of_id(id), Some(Wish::StopAll), "{id}");
        }
        for id in ["", "start", "quit", "stop_order_42", "bus stop", "do not call me again"] {
            assert_eq!(wish_of_id(id), None, "{id}");
        }
    }

    #[test]
    fn no_word_stands_in_two_lists() {
        for word in STOP.iter().chain(STOP_ALL) {
            assert_eq!(blunt(&plain(&seen(word, usize::MAX))), *word, "as it is looked up");
        }
        for word in START {
            assert_eq!(plain(&seen(word, usize::MAX)), *word, "as it is looked up");
        }
        assert!(STOP.iter().all(|word| !START.contains(word) && !STOP_ALL.contains(word)));
    }
}
