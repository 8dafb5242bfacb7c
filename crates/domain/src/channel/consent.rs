//! Stop words: opt-out and opt-in by a customer's message (docs/contract/channel-messages.md#stop-words).
//!
//! Only a message that is nothing but such a word counts: `stop sending the old invoice` is for the agent.

use unicode_normalization::UnicodeNormalization;

use crate::conversation::speech::opt_out;
use crate::invisible::is_invisible;

/// What a stop word asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopWord {
    /// No more messages; calls are as before.
    StopMessages,
    /// Neither messages nor calls.
    StopAll,
    /// Messages again.
    Start,
    /// No more marketing; other messages are as before.
    StopMarketing,
    /// Marketing again.
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
    "रोक",
    "रोकिएगा",
    "रुकवाइए",
    "thamao",
    "থামাও",
    "থামাবেন",
    "bondhokorun",
    "நிறுத்துங்க",
    "நிறுத்திடுங்க",
    "நிறுத்திவிடுங்கள்",
    "niruthunga",
    "nirutthunga",
    "niruththunga",
    "niruthidunga",
    "ఆపేయ్",
    "ఆపివేయండి",
    "ఆపెయ్యండి",
    "aapeyyandi",
    "apandi",
    "aapey",
    "thambava",
    "थांबव",
    "थांबवावे",
    "थांबवून",
    "રોકજો",
    "અટકાવો",
    "atkavo",
    "ನಿಲ್ಲಿಸಿರಿ",
    "ನಿಲ್ಲಿಸ್ರಿ",
    "ನಿಲ್ಸಿ",
    "ನಿಲ್ಲಿಸಿಬಿಡಿ",
    "nilsi",
    "nillisri",
    "നിർത്തണം",
    "നിർത്തിക്കോളൂ",
    "നിർത്ത്",
    "നിർത്തിവെക്കൂ",
    "nirthoo",
    "nirthanam",
    "ਰੋਕ",
    "ਸਟੌਪ",
    "ਸਟੋਪ",
    "ଷ୍ଟପ",
    "ଷ୍ଟୋପ",
    "ରୋକନ୍ତୁ",
    "ରୋକ",
    "अनसब्सक्राइब",
    "स्टॉपप",
];
/// `Closed`, which stops together with one of [`DO`]; and `do not`, which stops together with `send` and one of
/// [`OBJECTS`].
const CLOSE: &[&str] = &[
    "band",
    "bandh",
    "bondho",
    "banda",
    "बंद",
    "बन्द",
    "বন্ধ",
    "બંધ",
    "ਬੰਦ",
    "ବନ୍ଦ",
    "bondo",
    "bund",
    "banth",
    "bandha",
    "ବନ୍ଧ",
    "বন্দ",
];
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
    "krdo",
    "karega",
    "karna",
    "karde",
    "dein",
    "deo",
    "dyo",
    "kari",
    "kardijiye",
    "kijiyega",
    "kariyega",
    "करिएगा",
    "कीजिएगा",
    "करना",
    "करून",
    "टाका",
    "द्या",
    "takaa",
    "taka",
    "dya",
    "करावे",
    "korben",
    "koren",
    "dao",
    "din",
    "কোরো",
    "করবেন",
    "করে",
    "দাও",
    "করুণ",
    "કરજો",
    "આપો",
    "aapo",
    "karjo",
    "ਕਰੋਜੀ",
    "ਦੋ",
    "ਦੇਵੋ",
    "ਕਰਦੋ",
    "ਕਰਨਾ",
    "କରିଦିଅ",
    "କରିଦିଅନ୍ତୁ",
    "କରିବେ",
    "ଦିଅନ୍ତୁ",
    "ଦିଅ",
    "karidiantu",
    "diantu",
];
const DONT: &[&str] = &["dont", "don't", "mat", "मत"];
const SEND: &[&str] =
    &["send", "bhejo", "bhejna", "bheje", "bhejiye", "bhejen", "भेजो", "भेजना", "भेजें", "भेजिए", "भेजिये"];
/// `Do not send`, in one word or two: stops together with one of [`OBJECTS`].
const DO_NOT_SEND: &[&str] = &[
    "পাঠাবেন না",
    "পাঠিও না",
    "pathaben na",
    "મોકલશો નહીં",
    "મોકલો નહીં",
    "ન મોકલો",
    "ના મોકલો",
    "mokalsho nahi",
    "na moklo",
    "ಕಳಿಸಬೇಡಿ",
    "ಕಳಿಸ್ಬೇಡಿ",
    "ಕಳುಹಿಸಬೇಡಿ",
    "kalisabedi",
    "kalisbedi",
    "അയക്കരുത്",
    "അയയ്ക്കരുത്",
    "അയക്കണ്ട",
    "ayakkaruthu",
    "ayakkaruth",
    "पाठवू नका",
    "pathvu naka",
    "pathavu naka",
    "ପଠାନ୍ତୁ ନାହିଁ",
    "ପଠାଇବେ ନାହିଁ",
    "pathantu nahi",
    "ਨਾ ਭੇਜੋ",
    "ਨਾ ਭੇਜਿਓ",
    "na bhejo",
    "அனுப்பாதீங்க",
    "அனுப்பாதீர்கள்",
    "அனுப்ப வேண்டாம்",
    "anuppadheenga",
    "anuppatheenga",
    "పంపకండి",
    "పంపొద్దు",
    "పంపవద్దు",
    "pampakandi",
    "pampoddu",
    "मत भेजिएगा",
    "न भेजें",
    "ना भेजें",
];
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
    "मैसेजेज",
    "संदेशे",
    "एसएमएस",
    "व्हाट्सएप",
    "मेसेजेस",
    "মেসেজগুলো",
    "মেসেজগুলি",
    "மெசேஜ்கள்",
    "குறுஞ்செய்தி",
    "எஸ்எம்எஸ்",
    "మెసేజ్లు",
    "సందేశం",
    "ఎస్ఎంఎస్",
    "મેસેજો",
    "સંદેશા",
    "એસએમએસ",
    "ಮೆಸೇಜ್ಗಳು",
    "ಸಂದೇಶಗಳು",
    "ಸಂದೇಶಗಳನ್ನು",
    "ಎಸ್ಎಂಎಸ್",
    "മെസേജ്",
    "സന്ദേശങ്ങൾ",
    "മെസ്സേജുകൾ",
    "ਮੈਸੇਜਾਂ",
    "ਸੁਨੇਹਾ",
    "ਸੰਦੇਸ਼",
    "ମେସେଜ",
    "ସନ୍ଦେଶ",
    "ବାର୍ତ୍ତାଗୁଡ଼ିକ",
    "sandesh",
    "sandesham",
    "seithi",
    "varta",
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
    "bhejna",
    "bhejne",
    "pathano",
    "mokalvanu",
    "kripaya",
    "daya",
    "dayavittu",
    "dayachesi",
    "dayavayi",
    "tayavu",
    "भेजना",
    "भेजने",
    "पाठवणे",
    "पाठवायचे",
    "पाठवणं",
    "पाठवण्याचे",
    "मला",
    "कृपा",
    "করা",
    "পাঠানো",
    "আমাকে",
    "મોકલવાનું",
    "મોકલવા",
    "મને",
    "કૃપા",
    "કરીને",
    "ਭੇਜਣਾ",
    "ਭੇਜਣੇ",
    "ਮੈਨੂੰ",
    "ਕਿਰਪਾ",
    "ਕਰਕੇ",
    "ਜੀ",
    "ପଠାଇବା",
    "ମୋତେ",
    "ଦୟାକରି",
    "ଦୟା",
    "தயவுசெய்து",
    "தயவு",
    "செய்து",
    "எனக்கு",
    "அனுப்புவதை",
    "அனுப்பறதை",
    "దయచేసి",
    "నాకు",
    "పంపడం",
    "పంపించడం",
    "ದಯವಿಟ್ಟು",
    "ನನಗೆ",
    "ಕಳಿಸೋದನ್ನ",
    "ಕಳುಹಿಸುವುದನ್ನು",
    "ദയവായി",
    "എനിക്ക്",
    "അയക്കുന്നത്",
    "അയയ്ക്കുന്നത്",
    "प्लीझ",
    "প্লিজ",
    "પ્લીઝ",
    "ਪਲੀਜ਼",
    "ப்ளீஸ்",
    "ప్లీజ్",
    "ಪ್ಲೀಸ್",
    "പ്ലീസ്",
    "ପ୍ଲିଜ",
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

/// Whether nobody sees a sign: it is invisible by definition, a control, marks others, or asks for the look of an emoji.
fn is_unseen(sign: char) -> bool {
    is_invisible(sign)
        || matches!(sign, '\u{20e3}' | '\u{fff9}'..='\u{fffb}')
        || (sign.is_control() && !sign.is_whitespace())
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
    text.nfkc().filter(|sign| !is_unseen(*sign)).take(most).collect()
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
fn composed(words: &str) -> Option<StopWord> {
    let words = words.replace("do not", "dont").replace("opt out", "optout");
    let unsent = DO_NOT_SEND.iter().find_map(|phrase| words.strip_suffix(phrase)?.strip_suffix(' '));
    if let Some(what) = unsent {
        let about = what.split(' ').any(|word| OBJECTS.contains(&word));
        let known = what.split(' ').all(|word| OBJECTS.contains(&word) || FILLERS.contains(&word));
        return (about && known).then_some(StopWord::StopMessages);
    }
    let words: Vec<&str> = words.split(' ').collect();
    let has = |set: &[&str]| words.iter().any(|word| set.contains(word));
    let known = |sets: &[&[&str]]| words.iter().all(|word| sets.iter().any(|set| set.contains(word)));
    let about = has(OBJECTS) || has(MARKETING);
    if has(AGAIN) && has(MARKETING) && known(&[AGAIN, MARKETING, OBJECTS, FILLERS]) {
        return Some(StopWord::StartMarketing);
    }
    let stops = has(VERBS) && known(&[VERBS, OBJECTS, MARKETING, FILLERS, &["all"]])
        || has(CLOSE) && has(DO) && known(&[CLOSE, DO, OBJECTS, MARKETING, FILLERS])
        || has(DONT) && has(SEND) && about && known(&[DONT, SEND, OBJECTS, MARKETING, FILLERS]);
    let all = words.contains(&"all");
    match (stops, has(MARKETING)) {
        (true, true) => Some(StopWord::StopMarketing),
        (true, false) if all => Some(StopWord::StopAll),
        (true, false) => Some(StopWord::StopMessages),
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

/// The stop word in a message; `None` when it has none and is to be answered. `answers`: it answers a question, or is the
/// label of a button.
pub fn stop_word(text: &str, answers: bool) -> Option<StopWord> {
    let seen = seen(text, LONGEST_SENTENCE + 1);
    let length = seen.chars().count();
    if length <= LONGEST {
        let words = plain(&seen);
        let blunt = blunt(&words);
        if is_ambiguous(text) {
            return (!answers).then_some(StopWord::StopMessages);
        }
        if STOP_ALL.contains(&blunt.as_str()) {
            return Some(StopWord::StopAll);
        }
        if STOP.contains(&blunt.as_str()) {
            return Some(StopWord::StopMessages);
        }
        if START.contains(&words.as_str()) {
            return Some(StopWord::Start);
        }
        if spelled(&seen) {
            return Some(StopWord::StopMessages);
        }
        if let Some(word) = composed(&blunt) {
            return Some(word);
        }
    }
    let says = |text: &str| text.chars().count() <= LONGEST_SENTENCE && opt_out(text, "en");
    // Also as it came: joiners are part of how some scripts are written.
    (says(&seen) || says(text)).then_some(StopWord::StopAll)
}

/// The stop word in a button's payload, or in the id of a button or a row. The business chose these words, not the person,
/// so only `STOP` and `STOP ALL` count: a button with the id `start` may begin an order.
pub fn stop_word_of_button(id: &str) -> Option<StopWord> {
    match plain(&seen(id, LONGEST + 1)).replace(['_', '-'], " ").as_str() {
        "stop" => Some(StopWord::StopMessages),
        "stop all" | "stopall" => Some(StopWord::StopAll),
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
            // Polite and plural forms.
            "நிறுத்துங்க",
            "niruthunga",
            "band kijiye",
            "ଷ୍ଟପ",
            "ଦୟାକରି ବନ୍ଦ କରନ୍ତୁ",
            "মেসেজ পাঠাবেন না",
            "મેસેજ મોકલવાનું બંધ કરો",
            "ಮೆಸೇಜ್ ಕಳಿಸಬೇಡಿ",
            "മെസ്സേജ് അയക്കരുത്",
            "संदेश पाठवणे बंद करा",
            "నాకు మెసేజ్ పంపకండి",
            "ਮੈਸੇਜ ਨਾ ਭੇਜੋ",
            "எனக்கு மெசேஜ் அனுப்பாதீங்க",
            "ದಯವಿಟ್ಟು ನಿಲ್ಲಿಸಿ",
        ] {
            assert_eq!(stop_word(text, false), Some(StopWord::StopMessages), "{text}");
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
            assert_eq!(stop_word(text, false), Some(StopWord::Start), "{text}");
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
            assert_eq!(stop_word(text, false), Some(StopWord::StopAll), "{text}");
        }
    }

    #[test]
    fn closed_is_an_answer_where_something_was_asked() {
        for text in ["बंद", "बन्द।", "বন্ধ", "બંધ", "ਬੰਦ", "ବନ୍ଦ", "बंद बंद"]
        {
            assert_eq!(stop_word(text, false), Some(StopWord::StopMessages), "{text}");
            assert_eq!(stop_word(text, true), None, "{text}");
        }
        for text in ["STOP", "बंद करो", "stop msg", "બંધ કરો"] {
            assert_eq!(stop_word(text, true), Some(StopWord::StopMessages), "{text}");
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
            assert_eq!(stop_word(text, false), Some(StopWord::StopMarketing), "{text}");
        }
        for text in ["start promotions", "Resume offers please"] {
            assert_eq!(stop_word(text, false), Some(StopWord::StartMarketing), "{text}");
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
            "don't stop my order",
            "ಆರ್ಡರ್ ನಿಲ್ಲಿಸಬೇಡಿ",
            "ఆర్డర్ ఆపకండి",
            "ഓർഡർ നിർത്തരുത്",
            "ऑर्डर थांबवू नका",
            "একটু থামুন, দেখছি",
            "ऑर्डर बंद मत करो",
            "அனுப்பாதீங்க",
            "ਰੁਕੋ, ਮੈਂ ਦੇਖਦਾ ਹਾਂ",
        ] {
            assert_eq!(stop_word(text, false), None, "{text}");
        }
    }

    #[test]
    fn what_nobody_sees_is_not_counted_and_a_long_text_is_no_word() {
        assert_eq!(
            stop_word(&format!("STOP{}", "\u{200b}".repeat(10_000)), false),
            Some(StopWord::StopMessages)
        );
        assert_eq!(stop_word(&format!("STOP{}", "!".repeat(57)), false), None);
        assert_eq!(stop_word(&format!("do not call me again {}", "x".repeat(400)), false), None);
    }

    #[test]
    fn an_id_stops_by_that_word_alone() {
        for id in ["STOP", "stop", " Stop ", "ＳＴＯＰ"] {
            assert_eq!(stop_word_of_button(id), Some(StopWord::StopMessages), "{id}");
        }
        for id in ["STOP ALL", "stop_all", "STOPALL", "stop-all"] {
            assert_eq!(stop_word_of_button(id), Some(StopWord::StopAll), "{id}");
        }
        for id in ["", "start", "quit", "stop_order_42", "bus stop", "do not call me again"] {
            assert_eq!(stop_word_of_button(id), None, "{id}");
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
