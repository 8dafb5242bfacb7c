//! The interpreter's own sentences, which come from no node.

use serde::{Deserialize, Serialize};

/// The sentences, in one language.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Phrases {
    /// When the model failed to open the conversation.
    pub greeting: String,
    /// When nothing was heard.
    pub still_there: String,
    /// When the model failed once.
    pub say_again: String,
    /// Before a question is asked again.
    pub not_understood: String,
    /// Added to a yes-or-no question that is asked again.
    pub yes_or_no: String,
    /// Before the choices of a question that is asked again.
    pub one_of: String,
    /// Before the label of a document.
    pub send_document: String,
    /// When nobody could be reached.
    pub nobody_free: String,
    /// Before the interpreter ends a conversation without an `end` node.
    pub goodbye: String,
    /// Before it ends one because of an error.
    pub trouble: String,
}

impl Phrases {
    /// The sentences in an agent's `language` (docs/contract/agents.md#fields); English if it is not one of
    /// the eleven.
    pub fn of(language: &str) -> Self {
        let [
            greeting,
            still_there,
            say_again,
            not_understood,
            yes_or_no,
            one_of,
            send_document,
            nobody_free,
            goodbye,
            trouble,
        ] = in_language(language).map(str::to_owned);
        Self {
            greeting,
            still_there,
            say_again,
            not_understood,
            yes_or_no,
            one_of,
            send_document,
            nobody_free,
            goodbye,
            trouble,
        }
    }
}

impl Default for Phrases {
    fn default() -> Self {
        Self::of("en")
    }
}

/// The question whether `{value}` is right, in an agent's `language`; English if it is not one of the eleven.
pub(super) fn read_back(language: &str) -> &'static str {
    match language {
        "hi" => "{value}, क्या यह सही है?",
        "bn" => "{value}, ঠিক আছে তো?",
        "gu" => "{value}, બરાબર છે?",
        "kn" => "{value}, ಸರಿ ತಾನೇ?",
        "ml" => "{value}, ശരിയല്ലേ?",
        "mr" => "{value}, बरोबर आहे का?",
        "or" => "{value}, ଠିକ୍ ଅଛି ତ?",
        "pa" => "{value}, ਠੀਕ ਹੈ?",
        "ta" => "{value}, சரிதானே?",
        "te" => "{value}, సరేనా?",
        _ => "{value}. Is that right?",
    }
}

fn in_language(language: &str) -> [&'static str; 10] {
    match language {
        "hi" => HINDI,
        "bn" => BENGALI,
        "gu" => GUJARATI,
        "kn" => KANNADA,
        "ml" => MALAYALAM,
        "mr" => MARATHI,
        "or" => ODIA,
        "pa" => PUNJABI,
        "ta" => TAMIL,
        "te" => TELUGU,
        _ => ENGLISH,
    }
}

const ENGLISH: [&str; 10] = [
    "Hello, how can I help you?",
    "Are you still there?",
    "Sorry, could you say that again?",
    "Sorry, I did not get that.",
    "Please say yes or no.",
    "Please choose one of these:",
    "Please send:",
    "Sorry, nobody is free right now.",
    "Thank you for your time. Goodbye.",
    "Sorry, something went wrong on our side. Goodbye.",
];
const HINDI: [&str; 10] = [
    "नमस्ते, बताइए, आपकी क्या मदद की जाए?",
    "क्या आप लाइन पर हैं?",
    "माफ़ कीजिए, क्या आप दोबारा कह सकते हैं?",
    "माफ़ कीजिए, बात समझ नहीं आई।",
    "कृपया हाँ या नहीं कहिए।",
    "इनमें से एक चुनिए:",
    "कृपया भेजिए:",
    "माफ़ कीजिए, अभी कोई उपलब्ध नहीं है।",
    "आपके समय के लिए धन्यवाद। नमस्ते।",
    "माफ़ कीजिए, हमारी ओर से कुछ गड़बड़ हो गई। नमस्ते।",
];
const BENGALI: [&str; 10] = [
    "নমস্কার, বলুন, কীভাবে সাহায্য করতে পারি?",
    "আপনি কি লাইনে আছেন?",
    "মাফ করবেন, আরেকবার বলবেন?",
    "মাফ করবেন, বুঝতে পারিনি।",
    "দয়া করে হ্যাঁ বা না বলুন।",
    "এর মধ্যে একটি বেছে নিন:",
    "দয়া করে পাঠান:",
    "মাফ করবেন, এখন কেউ ফাঁকা নেই।",
    "সময় দেওয়ার জন্য ধন্যবাদ। নমস্কার।",
    "মাফ করবেন, আমাদের দিকে একটু সমস্যা হয়েছে। নমস্কার।",
];
const GUJARATI: [&str; 10] = [
    "નમસ્તે, કહો, હું શું મદદ કરી શકું?",
    "તમે લાઇન પર છો?",
    "માફ કરશો, ફરીથી કહેશો?",
    "માફ કરશો, સમજાયું નહીં.",
    "કૃપા કરીને હા કે ના કહો.",
    "આમાંથી એક પસંદ કરો:",
    "કૃપા કરીને મોકલો:",
    "માફ કરશો, અત્યારે કોઈ ઉપલબ્ધ નથી.",
    "તમારા સમય માટે આભાર. આવજો.",
    "માફ કરશો, અમારા તરફથી કંઈક ભૂલ થઈ. આવજો.",
];
const KANNADA: [&str; 10] = [
    "ನಮಸ್ಕಾರ, ಹೇಳಿ, ಏನು ಸಹಾಯ ಬೇಕು?",
    "ನೀವು ಲೈನ್‌ನಲ್ಲಿ ಇದ್ದೀರಾ?",
    "ಕ್ಷಮಿಸಿ, ಇನ್ನೊಮ್ಮೆ ಹೇಳುತ್ತೀರಾ?",
    "ಕ್ಷಮಿಸಿ, ಅರ್ಥವಾಗಲಿಲ್ಲ.",
    "ದಯವಿಟ್ಟು ಹೌದು ಅಥವಾ ಇಲ್ಲ ಎಂದು ಹೇಳಿ.",
    "ಇವುಗಳಲ್ಲಿ ಒಂದನ್ನು ಆರಿಸಿ:",
    "ದಯವಿಟ್ಟು ಕಳುಹಿಸಿ:",
    "ಕ್ಷಮಿಸಿ, ಈಗ ಯಾರೂ ಲಭ್ಯವಿಲ್ಲ.",
    "ನಿಮ್ಮ ಸಮಯಕ್ಕೆ ಧನ್ಯವಾದಗಳು. ನಮಸ್ಕಾರ.",
    "ಕ್ಷಮಿಸಿ, ನಮ್ಮ ಕಡೆಯಿಂದ ಏನೋ ತೊಂದರೆಯಾಗಿದೆ. ನಮಸ್ಕಾರ.",
];
const MALAYALAM: [&str; 10] = [
    "നമസ്കാരം, പറയൂ, എന്ത് സഹായമാണ് വേണ്ടത്?",
    "നിങ്ങൾ ലൈനിലുണ്ടോ?",
    "ക്ഷമിക്കണം, ഒന്നുകൂടി പറയാമോ?",
    "ക്ഷമിക്കണം, മനസ്സിലായില്ല.",
    "ദയവായി അതെ അല്ലെങ്കിൽ അല്ല എന്ന് പറയൂ.",
    "ഇതിൽ ഒന്ന് തിരഞ്ഞെടുക്കൂ:",
    "ദയവായി അയയ്ക്കൂ:",
    "ക്ഷമിക്കണം, ഇപ്പോൾ ആരും ലഭ്യമല്ല.",
    "നിങ്ങളുടെ സമയത്തിന് നന്ദി. നമസ്കാരം.",
    "ക്ഷമിക്കണം, ഞങ്ങളുടെ ഭാഗത്ത് ഒരു തകരാറുണ്ടായി. നമസ്കാരം.",
];
const MARATHI: [&str; 10] = [
    "नमस्कार, सांगा, काय मदत हवी आहे?",
    "तुम्ही लाइनवर आहात का?",
    "माफ करा, पुन्हा एकदा सांगाल का?",
    "माफ करा, समजले नाही.",
    "कृपया हो किंवा नाही सांगा.",
    "यापैकी एक निवडा:",
    "कृपया पाठवा:",
    "माफ करा, आत्ता कोणी उपलब्ध नाही.",
    "तुमच्या वेळेबद्दल धन्यवाद. नमस्कार.",
    "माफ करा, आमच्याकडून काहीतरी चूक झाली. नमस्कार.",
];
const ODIA: [&str; 10] = [
    "ନମସ୍କାର, କୁହନ୍ତୁ, କ'ଣ ସାହାଯ୍ୟ କରିପାରିବି?",
    "ଆପଣ ଲାଇନରେ ଅଛନ୍ତି କି?",
    "କ୍ଷମା କରିବେ, ଆଉ ଥରେ କହିବେ କି?",
    "କ୍ଷମା କରିବେ, ବୁଝିପାରିଲି ନାହିଁ।",
    "ଦୟାକରି ହଁ କିମ୍ବା ନା କୁହନ୍ତୁ।",
    "ଏଥିରୁ ଗୋଟିଏ ବାଛନ୍ତୁ:",
    "ଦୟାକରି ପଠାନ୍ତୁ:",
    "କ୍ଷମା କରିବେ, ଏବେ କେହି ଉପଲବ୍ଧ ନାହାନ୍ତି।",
    "ଆପଣଙ୍କ ସମୟ ପାଇଁ ଧନ୍ୟବାଦ। ନମସ୍କାର।",
    "କ୍ଷମା କରିବେ, ଆମ ପଟୁ କିଛି ଅସୁବିଧା ହେଲା। ନମସ୍କାର।",
];
const PUNJABI: [&str; 10] = [
    "ਸਤ ਸ੍ਰੀ ਅਕਾਲ, ਦੱਸੋ, ਕੀ ਮਦਦ ਚਾਹੀਦੀ ਹੈ?",
    "ਕੀ ਤੁਸੀਂ ਲਾਈਨ 'ਤੇ ਹੋ?",
    "ਮਾਫ਼ ਕਰਨਾ, ਫਿਰ ਤੋਂ ਕਹੋਗੇ?",
    "ਮਾਫ਼ ਕਰਨਾ, ਸਮਝ ਨਹੀਂ ਆਈ।",
    "ਕਿਰਪਾ ਕਰਕੇ ਹਾਂ ਜਾਂ ਨਹੀਂ ਕਹੋ।",
    "ਇਨ੍ਹਾਂ ਵਿੱਚੋਂ ਇੱਕ ਚੁਣੋ:",
    "ਕਿਰਪਾ ਕਰਕੇ ਭੇਜੋ:",
    "ਮਾਫ਼ ਕਰਨਾ, ਹੁਣੇ ਕੋਈ ਉਪਲਬਧ ਨਹੀਂ ਹੈ।",
    "ਤੁਹਾਡੇ ਸਮੇਂ ਲਈ ਧੰਨਵਾਦ। ਸਤ ਸ੍ਰੀ ਅਕਾਲ।",
    "ਮਾਫ਼ ਕਰਨਾ, ਸਾਡੇ ਵੱਲੋਂ ਕੁਝ ਗੜਬੜ ਹੋ ਗਈ। ਸਤ ਸ੍ਰੀ ਅਕਾਲ।",
];
const TAMIL: [&str; 10] = [
    "வணக்கம், சொல்லுங்கள், என்ன உதவி வேண்டும்?",
    "நீங்கள் லைனில் இருக்கிறீர்களா?",
    "மன்னிக்கவும், மீண்டும் சொல்ல முடியுமா?",
    "மன்னிக்கவும், புரியவில்லை.",
    "தயவுசெய்து ஆம் அல்லது இல்லை என்று சொல்லுங்கள்.",
    "இவற்றில் ஒன்றைத் தேர்ந்தெடுங்கள்:",
    "தயவுசெய்து அனுப்புங்கள்:",
    "மன்னிக்கவும், இப்போது யாரும் இல்லை.",
    "உங்கள் நேரத்திற்கு நன்றி. வணக்கம்.",
    "மன்னிக்கவும், எங்கள் பக்கம் ஒரு சிக்கல் ஏற்பட்டது. வணக்கம்.",
];
const TELUGU: [&str; 10] = [
    "నమస్కారం, చెప్పండి, ఏం సహాయం కావాలి?",
    "మీరు లైన్‌లో ఉన్నారా?",
    "క్షమించండి, మళ్ళీ చెప్తారా?",
    "క్షమించండి, అర్థం కాలేదు.",
    "దయచేసి అవును లేదా కాదు అని చెప్పండి.",
    "వీటిలో ఒకటి ఎంచుకోండి:",
    "దయచేసి పంపండి:",
    "క్షమించండి, ఇప్పుడు ఎవరూ అందుబాటులో లేరు.",
    "మీ సమయానికి ధన్యవాదాలు. నమస్కారం.",
    "క్షమించండి, మా వైపు ఏదో పొరపాటు జరిగింది. నమస్కారం.",
];

#[cfg(test)]
mod tests {
    use super::Phrases;

    #[test]
    fn every_language_of_the_spec_has_its_own_sentences() {
        let languages = ["en", "hi", "bn", "gu", "kn", "ml", "mr", "or", "pa", "ta", "te"];
        let greetings: std::collections::HashSet<String> =
            languages.iter().map(|language| Phrases::of(language).greeting).collect();
        assert_eq!(greetings.len(), languages.len());
        assert_eq!(Phrases::of("xx"), Phrases::of("en"));
        let questions: std::collections::HashSet<&str> =
            languages.iter().map(|language| super::read_back(language)).collect();
        assert_eq!(questions.len(), languages.len());
        assert!(questions.iter().all(|question| question.contains("{value}")));
        assert_eq!(super::read_back("xx"), super::read_back("en"));
    }
}
