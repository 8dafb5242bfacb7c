//! What answering machines say: voicemail greetings and the announcements of Indian operators.

use std::sync::LazyLock;

use super::matching::{Patterns, fold};

const PHRASES: &str = "
    leave|record a|your|me * message
    leave your? name|number and
    please record your? message
    after|at the tone|beep
    you have|youve reached|raached * voicemail|voice|mailbox|mail|answering
    you have|youve reached the voicemail|voice|mailbox
    voice mail|mailbox
    voicemail
    mailbox is|of full|not|has
    answering machine|service
    forwarded to * voice|voicemail|mailbox
    not available|able to take|answer|receive your|the|this call
    cannot|cant|unable take|answer|come|to your|the|take|answer * call|phone
    get|call back to you|as|when soon|as|i
    ill|will get|call|return back? * soon|possible|call
    number|person|subscriber|customer|user you are|have calling|called|dialed|dialled|trying
    number|person|subscriber you|u are|have * dialed|dialled|called|calling|reach
    is|are|currently|presently switched off
    not reachable|responding|answering
    out of|off * coverage|network|reach
    temporarily|currently out of service
    does|do not exist
    is|number|subscriber|person currently|presently|at? busy|unavailable|unreachable
    on another|other call
    please|kindly try|call|dial again|later after|later|some
    please stay on|hold line
    incoming calls|call * barred|not|suspended|facility
    is not in service|use
    call waiting|forwarding
    press 1|one|2|two|hash|pound|star to|for * message|leave|record|voicemail|options
    aap|आप jis|जिस * number|नंबर|vyakti|व्यक्ति|sankhya|upbhokta|उपभोक्ता|ग्राहक|graahak
    jis|जिस vyakti|व्यक्ति|number|नंबर|graahak|ग्राहक|upbhokta|उपभोक्ता|sankhya * call|कॉल|sampark|संपर्क|dial|डायल
    dial|डायल kiya|kiye|किया|किए * number|नंबर|upbhokta|उपभोक्ता
    switch|switched|स्विच|स्विच्ड off|aaf|ऑफ|ऑफ़
    band|बंद hai|है|kiya|किया? * prayas|try|प्रयास|ट्राय|ट्राई
    network|नेटवर्क|coverage|कवरेज kshetra|क्षेत्र|chhetra|area|एरिया? se|के|से bahar|baahar|बाहर
    pahunch|पहुंच|पहुँच se|से bahar|baahar|बाहर
    uttar|उत्तर nahi|नहीं de|दे
    jawab|javaab|जवाब nahi|नहीं de|दे * rahe|raha|रहे|रहा
    kripya|कृपया * thodi|kuch|कुछ|थोड़ी * baad|बाद|samay|समय|der|देर
    anya|अन्य|doosri|dusri|दूसरी call|कॉल par|पर
    vyast|व्यस्त hai|hain|है|हैं
    sandesh|संदेश|message|मैसेज * chhod|chhoden|chodiye|छोड़|छोड़ें|छोड़िए|रिकॉर्ड|record
    beep|बीप|tone|टोन ke|के baad|बाद
    abhi|अभी uplabdh|उपलब्ध nahi|नहीं
    नंबरावर|व्यक्तीशी|ग्राहकाशी * संपर्क
    व्यस्त|बंद|बाहेर आहे
    நீங்கள் * தொடர்பு|அழைத்த|டயல் * எண்|கொள்ளும்|வாடிக்கையாளர்|நபர்|எண்ணை
    தொடர்பு|நெட்வொர்க் எல்லைக்கு வெளியே
    சுவிட்ச்|ஸ்விட்ச் ஆஃப்|ஆப்
    మీరు * కాల్|డయల్|సంప్రదించ~|ప్రయత్నిస్తున్న * నంబర్|వ్యక్తి|కస్టమర్|సబ్‌స్క్రైబర్
    స్విచ్ ఆఫ్
    ನೀವು * ಕರೆ|ಡಯಲ್|ಸಂಪರ್ಕಿಸ~ * ಸಂಖ್ಯೆ|ನಂಬರ್|ಚಂದಾದಾರರು|ವ್ಯಕ್ತಿ
    ಸ್ವಿಚ್ ಆಫ್
    നിങ്ങൾ * വിളിക്കുന്ന|വിളിച്ച|ഡയൽ * നമ്പർ|വ്യക്തി|സബ്‌സ്ക്രൈബർ
    സ്വിച്ച് ഓഫ്
    আপনি * ফোন|কল|ডায়াল * নম্বর|নম্বরে|ব্যক্তি|গ্রাহক
    সুইচ অফ|অফ্
    તમે * ફોન|કોલ|ડાયલ|સંપર્ક * નંબર|વ્યક્તિ|ગ્રાહક
    સ્વિચ ઓફ|ઑફ
    ਤੁਸੀਂ * ਫੋਨ|ਕਾਲ|ਡਾਇਲ * ਨੰਬਰ|ਵਿਅਕਤੀ|ਗਾਹਕ
    ਸਵਿੱਚ ਆਫ|ਔਫ
    ଆପଣ * ଫୋନ|କଲ|ଡାଏଲ * ନମ୍ବର|ବ୍ୟକ୍ତି|ଗ୍ରାହକ
    ସୁଇଚ ଅଫ
";

static MACHINES: LazyLock<Patterns> = LazyLock::new(|| Patterns::read(PHRASES, &[]));
/// Phrases that only a person says, even if the rest sounds like a machine: `I am busy, please call again
/// later`.
const PEOPLE: &str = "
    i am|was|have|need|want
    im driving|busy|in|at|not
    who is|are
    speaking|bol|बोल
    main|मैं|mujhe|मुझे
    hello yes|who|haan|speaking
    stop|dont
";
static PERSONS: LazyLock<Patterns> = LazyLock::new(|| Patterns::read(PEOPLE, &[]));
/// Phrases that only a machine says, even if `I` occurs near them.
const CERTAIN: &str = "
    leave|record a|your|me * message
    after|at the tone|beep
    voicemail
    voice mail|mailbox
    beep|बीप ke|के baad|बाद
    answering machine
    you have|youve reached
";
static CERTAINLY: LazyLock<Patterns> = LazyLock::new(|| Patterns::read(CERTAIN, &[]));

/// Whether these are the words of an answering machine or of an operator's announcement (English, Hindi, and
/// the usual openings in the other languages).
pub fn voicemail(text: &str) -> bool {
    let words = fold(text);
    CERTAINLY.find(&words).is_some() || MACHINES.find(&words).is_some() && PERSONS.find(&words).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_and_people() {
        for text in [
            "Please leave a message after the tone",
            "Hi, this is Asha. I can't come to the phone right now, leave your name and number",
            "You have reached the voicemail of 98",
            "The person you are calling is not answering",
            "The number you have dialled is switched off",
            "The subscriber you are trying to reach is currently not reachable",
            "The number you are calling is currently busy, please try again later",
            "the customer you are calling is out of coverage area",
            "The number you have dialed does not exist",
            "The person you have called is on another call",
            "आप जिस व्यक्ति से संपर्क करना चाहते हैं वह अभी व्यस्त है",
            "aap jis number par call kar rahe hain wo switch off hai",
            "जिस नंबर पर आप कॉल कर रहे हैं वह नेटवर्क क्षेत्र से बाहर है",
            "कृपया थोड़ी देर बाद प्रयास करें",
            "बीप के बाद अपना संदेश छोड़ें",
            "நீங்கள் தொடர்பு கொள்ளும் வாடிக்கையாளர் பிஸியாக உள்ளார்",
            "మీరు కాల్ చేస్తున్న నంబర్ స్విచ్ ఆఫ్ చేయబడింది",
            "ನೀವು ಕರೆ ಮಾಡುತ್ತಿರುವ ಚಂದಾದಾರರು ಕಾರ್ಯನಿರತರಾಗಿದ್ದಾರೆ",
            "നിങ്ങൾ വിളിക്കുന്ന നമ്പർ സ്വിച്ച് ഓഫ് ആണ്",
        ] {
            assert!(voicemail(text), "{text}");
        }
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
            "ठीक है",
            "मुझे बाद में कॉल कीजिए",
            "",
        ] {
            assert!(!voicemail(text), "{text}");
        }
    }
}
