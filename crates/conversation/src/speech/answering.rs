//! Who answers a call that is no person: voicemail, assistants that screen calls, announcements of operators. The
//! phrases are `languages/*/answering.toml`; a person's phone may have any of them in any language, so those of
//! all languages count.

use std::sync::LazyLock;

use serde::Deserialize;

use super::matching::{Patterns, fold};
use crate::language::folders::{files, parsed};

/// Most words of a person who takes over a call, unless they begin with a greeting. Longer ones that match no phrase
/// are an announcement in a language that the recogniser does not know.
const MOST_FIRST_WORDS: usize = 8;
/// A greeting is among so many first words.
const GREETING_WITHIN: usize = 3;

/// The rows of a file, as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    voicemail: String,
    certain: String,
    screener: String,
    announcement: String,
    busy: String,
    hold: String,
    wait: String,
    people: String,
    hello: String,
}

/// The phrases of all languages.
struct Table {
    voicemail: Patterns,
    /// A voicemail, even if `I` occurs near it.
    certain: Patterns,
    screener: Patterns,
    announcement: Patterns,
    /// Of the announcements, those of a person who is on another call.
    busy: Patterns,
    /// Announcements that ask the caller to stay on the line.
    hold: Patterns,
    /// What an assistant says while it rings the person.
    wait: Patterns,
    /// Only a person says these: `I am busy, please call again later`.
    people: Patterns,
    /// First words of a person who takes a call.
    hello: Patterns,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let files: Vec<Written> =
        files!("answering.toml").iter().map(|(code, text)| parsed(code, "answering.toml", text)).collect();
    let all = |row: fn(&Written) -> &str| {
        Patterns::read(&files.iter().map(row).collect::<Vec<_>>().join("\n"), &[])
    };
    Table {
        voicemail: all(|file| &file.voicemail),
        certain: all(|file| &file.certain),
        screener: all(|file| &file.screener),
        announcement: all(|file| &file.announcement),
        busy: all(|file| &file.busy),
        hold: all(|file| &file.hold),
        wait: all(|file| &file.wait),
        people: all(|file| &file.people),
        hello: all(|file| &file.hello),
    }
});

/// Who answers and is no person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Machine {
    /// It takes a message.
    Voicemail,
    /// An assistant that asks who calls and why, and then rings the person.
    Screener,
    /// An announcement of the operator.
    Announcement {
        /// It asks the caller to stay on the line: the person may still come.
        holds: bool,
        /// The person is on another call.
        busy: bool,
    },
}

/// The machine whose words these are; `None` if they may be a person's.
pub fn machine(text: &str) -> Option<Machine> {
    let words = fold(text);
    let has = |row: &Patterns| row.find(&words).is_some();
    if has(&TABLE.certain) {
        return Some(Machine::Voicemail);
    }
    if has(&TABLE.screener) {
        return Some(Machine::Screener);
    }
    let person = has(&TABLE.people);
    if !person && has(&TABLE.voicemail) {
        return Some(Machine::Voicemail);
    }
    let (holds, announced) = (has(&TABLE.hold), has(&TABLE.announcement));
    let is_announcement = if person { announced && holds } else { announced || holds };
    is_announcement.then(|| Machine::Announcement { holds, busy: has(&TABLE.busy) })
}

/// Whether these are the first words of a person who takes a call that a machine has answered: neither a machine's,
/// nor an assistant's while it rings the person (`thanks, one moment`), nor a long text that nobody greets with.
/// `greeting`: they must begin with a greeting. Operators repeat their announcements in languages that the recogniser
/// may not know, so anything else may be theirs.
pub fn takes_over(text: &str, greeting: bool) -> bool {
    if machine(text).is_some() {
        return false;
    }
    let words = fold(text);
    let greets = TABLE.hello.find(&words[..words.len().min(GREETING_WITHIN)]).is_some();
    !words.is_empty()
        && TABLE.wait.find(&words).is_none()
        && (greets || !greeting && words.len() <= MOST_FIRST_WORDS)
}

#[cfg(test)]
mod tests {
    use super::*;

    const AWAY: Machine = Machine::Announcement { holds: false, busy: false };
    const BUSY: Machine = Machine::Announcement { holds: false, busy: true };
    const ON_HOLD: Machine = Machine::Announcement { holds: true, busy: true };

    #[test]
    fn voicemail_takes_a_message() {
        for text in [
            "Please leave a message after the tone",
            "Hi, this is Asha. I can't come to the phone right now, leave your name and number",
            "You have reached the voicemail of 98",
            "The person you are calling is not available, please record your message after the beep",
            "leave your name and the reason for calling after the tone",
            "बीप के बाद अपना संदेश छोड़ें",
        ] {
            assert_eq!(machine(text), Some(Machine::Voicemail), "{text}");
        }
    }

    #[test]
    fn assistants_ask_who_calls_and_why() {
        for text in [
            "Hi, if you record your name and reason for calling, I'll see if this person is available.",
            "Record your name and reason for calling",
            "Hi, the person you're calling is using a screening service from Google, and will get a copy of this conversation. Go ahead and say your name, and why you're calling.",
            "This call is being screened. Please say your name and the reason for your call",
            "Hello, I am the Truecaller assistant. May I know who is calling?",
            "Hi, I'm a digital assistant answering this call on behalf of Ravi",
            "Please state who you are and why you are calling",
            "I'll check whether he is available",
            "नमस्ते, कृपया अपना नाम और कॉल करने का कारण बताएं",
            "apna naam aur call karne ka karan bataiye",
            "यह व्यक्ति Google की स्क्रीनिंग सेवा का इस्तेमाल कर रहे हैं",
            "कृपया तुमचे नाव आणि कॉल करण्याचे कारण सांगा",
            "আপনার নাম এবং কল করার কারণ বলুন",
            "તમારું નામ અને કૉલ કરવાનું કારણ કહો",
            "ನಿಮ್ಮ ಹೆಸರು ಮತ್ತು ಕರೆ ಮಾಡಿದ ಕಾರಣ ಹೇಳಿ",
            "നിങ്ങളുടെ പേരും വിളിക്കുന്നതിന്റെ കാരണവും പറയുക",
            "ଆପଣଙ୍କ ନାମ ଏବଂ କଲ କରିବାର କାରଣ କୁହନ୍ତୁ",
            "ਆਪਣਾ ਨਾਮ ਅਤੇ ਕਾਲ ਕਰਨ ਦਾ ਕਾਰਨ ਦੱਸੋ",
            "உங்கள் பெயர் மற்றும் அழைப்பின் காரணத்தை சொல்லுங்கள்",
            "మీ పేరు మరియు కాల్ చేయడానికి కారణం చెప్పండి",
        ] {
            assert_eq!(machine(text), Some(Machine::Screener), "{text}");
        }
    }

    #[test]
    fn operators_announce() {
        for (text, expected) in [
            ("The person you are calling is not answering", AWAY),
            ("The number you have dialled is switched off", AWAY),
            ("The subscriber you are trying to reach is currently not reachable", AWAY),
            ("the customer you are calling is out of coverage area", AWAY),
            ("The number you have dialed does not exist", AWAY),
            ("aap jis number par call kar rahe hain wo switch off hai", AWAY),
            ("जिस नंबर पर आप कॉल कर रहे हैं वह नेटवर्क क्षेत्र से बाहर है", AWAY),
            ("कृपया थोड़ी देर बाद प्रयास करें", AWAY),
            ("మీరు కాల్ చేస్తున్న నంబర్ స్విచ్ ఆఫ్ చేయబడింది", AWAY),
            ("നിങ്ങൾ വിളിക്കുന്ന നമ്പർ സ്വിച്ച് ഓഫ് ആണ്", AWAY),
            ("The number you are calling is currently busy, please try again later", BUSY),
            ("The person you have called is on another call", BUSY),
            ("आप जिस व्यक्ति से संपर्क करना चाहते हैं वह अभी व्यस्त है", BUSY),
            ("நீங்கள் தொடர்பு கொள்ளும் வாடிக்கையாளர் பிஸியாக உள்ளார்", BUSY),
            ("ನೀವು ಕರೆ ಮಾಡುತ್ತಿರುವ ಚಂದಾದಾರರು ಕಾರ್ಯನಿರತರಾಗಿದ್ದಾರೆ", BUSY),
            ("The person you are calling is busy. Please stay on the line or call again later", ON_HOLD),
            ("The person you are calling is speaking to someone else, please stay on the line", ON_HOLD),
            ("आप जिस व्यक्ति को कॉल कर रहे हैं वह दूसरी कॉल पर है, कृपया लाइन पर बने रहें", ON_HOLD),
            ("aap jis vyakti se sampark karna chahte hain wo vyast hai kripya line par bane rahen", ON_HOLD),
            ("तुम्ही ज्या व्यक्तीशी संपर्क साधत आहात ती व्यस्त आहे, कृपया लाइनवर राहा", ON_HOLD),
            ("আপনি যে ব্যক্তিকে কল করেছেন তিনি ব্যস্ত আছেন, অনুগ্রহ করে লাইনে থাকুন", ON_HOLD),
            ("તમે જે વ્યક્તિને કૉલ કર્યો છે તે વ્યસ્ત છે, કૃપા કરી લાઇન પર રહો", ON_HOLD),
            ("ನೀವು ಕರೆ ಮಾಡಿದ ವ್ಯಕ್ತಿ ಕಾರ್ಯನಿರತರಾಗಿದ್ದಾರೆ, ದಯವಿಟ್ಟು ಲೈನ್‌ನಲ್ಲಿ ಇರಿ", ON_HOLD),
            ("നിങ്ങൾ വിളിക്കുന്ന വ്യക്തി തിരക്കിലാണ്, ദയവായി ലൈനിൽ തുടരുക", ON_HOLD),
            ("ଆପଣ ଫୋନ କରିଥିବା ବ୍ୟକ୍ତି ବ୍ୟସ୍ତ ଅଛନ୍ତି, ଦୟାକରି ଲାଇନରେ ରୁହନ୍ତୁ", ON_HOLD),
            ("ਤੁਸੀਂ ਜਿਸ ਵਿਅਕਤੀ ਨੂੰ ਕਾਲ ਕੀਤੀ ਹੈ ਉਹ ਵਿਅਸਤ ਹੈ, ਕਿਰਪਾ ਕਰਕੇ ਲਾਈਨ 'ਤੇ ਰਹੋ", ON_HOLD),
            ("நீங்கள் அழைத்த நபர் வேறு அழைப்பில் உள்ளார், தயவுசெய்து இணைப்பில் காத்திருக்கவும்", ON_HOLD),
            ("మీరు కాల్ చేసిన వ్యక్తి బిజీగా ఉన్నారు, దయచేసి లైన్‌లో ఉండండి", ON_HOLD),
        ] {
            assert_eq!(machine(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn people_are_no_machines() {
        for text in [
            "Hello?",
            "Hello, who is this?",
            "Yes, speaking",
            "I am busy, please call again later",
            "I'm driving, can you call later",
            "haan ji boliye",
            "मैं अभी व्यस्त हूँ",
            "I want to leave my job",
            "yes you can call me back",
            "What is the message",
            "what is the reason for your call",
            "ठीक है",
            "मुझे बाद में कॉल कीजिए",
            "एक मिनट रुकिए",
            "",
        ] {
            assert_eq!(machine(text), None, "{text}");
        }
    }

    #[test]
    fn a_person_takes_over_with_a_few_words_or_a_greeting() {
        for text in [
            "Hello?",
            "yes tell me",
            "haan boliye",
            "हाँ जी बोलिए",
            "this is Ravi",
            "Hello, Ravi here, I saw that you called about the loan yesterday evening",
            "வணக்கம் சொல்லுங்க",
            "ఎవరు",
            "ಹಲೋ ಯಾರು",
            "stop calling me",
        ] {
            assert!(takes_over(text, false), "{text}");
        }
        for text in [
            "",
            "Thanks. Please stay on the line",
            "one moment please",
            "Got it, I'm checking if they can talk",
            "Sorry, I didn't catch that",
            "धन्यवाद, एक क्षण",
            "please record your name and reason for calling",
            "the number you are calling is busy",
            "number you dialled sir madam he or she can not come now kindly listen to music",
        ] {
            assert!(!takes_over(text, false), "{text}");
        }
        for (text, greets) in
            [("Hello?", true), ("haan boliye", true), ("this is Ravi", false), ("nivu kare", false)]
        {
            assert_eq!(takes_over(text, true), greets, "{text}");
        }
    }
}
