//! Fixed phrases of a call, besides those of the interpreter ([`domain::conversation::Phrases`]).

/// The sentences, in one language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallPhrases {
    /// When a tool or the model is slow.
    pub one_moment: &'static str,
    /// Before a transfer whose node says nothing.
    pub connecting: &'static str,
    /// After the customer asked not to be called again.
    pub not_again: &'static str,
    /// When the longest duration is reached.
    pub time_is_up: &'static str,
    /// When the customer spoke and no word was understood.
    pub not_heard: &'static str,
}

impl CallPhrases {
    /// The sentences in an agent's `language` (docs/contract/agents.md#fields); English for a
    /// language that is not among the eleven.
    pub fn of(language: &str) -> Self {
        let row = TABLE.iter().find(|(code, _)| *code == language).map_or(&ENGLISH, |(_, row)| row);
        let [one_moment, connecting, not_again, time_is_up, not_heard] = *row;
        Self { one_moment, connecting, not_again, time_is_up, not_heard }
    }
}

const ENGLISH: [&str; 5] = [
    "One moment, please.",
    "Connecting you now, please hold.",
    "All right, we will not call you again. Sorry for the trouble. Goodbye.",
    "I am sorry, our time on this call is up. Thank you, goodbye.",
    "Sorry, I could not hear that. Could you say it again?",
];
const TABLE: [(&str, [&str; 5]); 10] = [
    (
        "hi",
        [
            "एक क्षण रुकिए।",
            "आपकी बात कराई जा रही है, लाइन पर रहिए।",
            "ठीक है, अब आपको फ़ोन नहीं किया जाएगा। परेशानी के लिए माफ़ी। नमस्ते।",
            "माफ़ कीजिए, इस कॉल का समय पूरा हो गया। धन्यवाद, नमस्ते।",
            "माफ़ कीजिए, सुनाई नहीं दिया। क्या आप दोबारा कहेंगे?",
        ],
    ),
    (
        "bn",
        [
            "একটু অপেক্ষা করুন।",
            "আপনাকে যুক্ত করা হচ্ছে, লাইনে থাকুন।",
            "ঠিক আছে, আপনাকে আর ফোন করা হবে না। অসুবিধার জন্য দুঃখিত। নমস্কার।",
            "দুঃখিত, এই কলের সময় শেষ। ধন্যবাদ, নমস্কার।",
            "দুঃখিত, শুনতে পাইনি। আরেকবার বলবেন?",
        ],
    ),
    (
        "gu",
        [
            "એક ક્ષણ રાહ જુઓ.",
            "તમને જોડી રહ્યા છીએ, લાઇન પર રહો.",
            "સારું, તમને ફરી ફોન નહીં કરવામાં આવે. તકલીફ બદલ માફી. આવજો.",
            "માફ કરશો, આ કૉલનો સમય પૂરો થયો. આભાર, આવજો.",
            "માફ કરશો, સંભળાયું નહીં. ફરીથી કહેશો?",
        ],
    ),
    (
        "kn",
        [
            "ಒಂದು ಕ್ಷಣ ಇರಿ.",
            "ನಿಮ್ಮನ್ನು ಸಂಪರ್ಕಿಸಲಾಗುತ್ತಿದೆ, ಲೈನ್‌ನಲ್ಲಿ ಇರಿ.",
            "ಸರಿ, ನಿಮಗೆ ಮತ್ತೆ ಕರೆ ಮಾಡುವುದಿಲ್ಲ. ತೊಂದರೆಗೆ ಕ್ಷಮಿಸಿ. ನಮಸ್ಕಾರ.",
            "ಕ್ಷಮಿಸಿ, ಈ ಕರೆಯ ಸಮಯ ಮುಗಿದಿದೆ. ಧನ್ಯವಾದ, ನಮಸ್ಕಾರ.",
            "ಕ್ಷಮಿಸಿ, ಕೇಳಿಸಲಿಲ್ಲ. ಇನ್ನೊಮ್ಮೆ ಹೇಳುತ್ತೀರಾ?",
        ],
    ),
    (
        "ml",
        [
            "ഒരു നിമിഷം.",
            "നിങ്ങളെ ബന്ധിപ്പിക്കുന്നു, ലൈനിൽ തുടരൂ.",
            "ശരി, ഇനി നിങ്ങളെ വിളിക്കില്ല. ബുദ്ധിമുട്ടിന് ക്ഷമിക്കണം. നമസ്കാരം.",
            "ക്ഷമിക്കണം, ഈ കോളിന്റെ സമയം കഴിഞ്ഞു. നന്ദി, നമസ്കാരം.",
            "ക്ഷമിക്കണം, കേൾക്കാനായില്ല. ഒന്നുകൂടി പറയാമോ?",
        ],
    ),
    (
        "mr",
        [
            "एक क्षण थांबा.",
            "तुम्हाला जोडत आहोत, लाइनवर राहा.",
            "ठीक आहे, तुम्हाला पुन्हा फोन केला जाणार नाही. त्रासाबद्दल माफ करा. नमस्कार.",
            "माफ करा, या कॉलची वेळ संपली. धन्यवाद, नमस्कार.",
            "माफ करा, ऐकू आले नाही. पुन्हा सांगाल का?",
        ],
    ),
    (
        "or",
        [
            "ଗୋଟିଏ ମୁହୂର୍ତ୍ତ ଅପେକ୍ଷା କରନ୍ତୁ।",
            "ଆପଣଙ୍କୁ ଯୋଡ଼ାଯାଉଛି, ଲାଇନରେ ରୁହନ୍ତୁ।",
            "ଠିକ୍ ଅଛି, ଆପଣଙ୍କୁ ଆଉ ଫୋନ କରାଯିବ ନାହିଁ। ଅସୁବିଧା ପାଇଁ କ୍ଷମା। ନମସ୍କାର।",
            "କ୍ଷମା କରିବେ, ଏହି କଲର ସମୟ ସରିଗଲା। ଧନ୍ୟବାଦ, ନମସ୍କାର।",
            "କ୍ଷମା କରିବେ, ଶୁଣିପାରିଲି ନାହିଁ। ଆଉ ଥରେ କହିବେ କି?",
        ],
    ),
    (
        "pa",
        [
            "ਇੱਕ ਪਲ ਰੁਕੋ।",
            "ਤੁਹਾਡੀ ਗੱਲ ਕਰਵਾਈ ਜਾ ਰਹੀ ਹੈ, ਲਾਈਨ 'ਤੇ ਰਹੋ।",
            "ਠੀਕ ਹੈ, ਤੁਹਾਨੂੰ ਦੁਬਾਰਾ ਫ਼ੋਨ ਨਹੀਂ ਕੀਤਾ ਜਾਵੇਗਾ। ਤਕਲੀਫ਼ ਲਈ ਮਾਫ਼ੀ। ਸਤ ਸ੍ਰੀ ਅਕਾਲ।",
            "ਮਾਫ਼ ਕਰਨਾ, ਇਸ ਕਾਲ ਦਾ ਸਮਾਂ ਪੂਰਾ ਹੋ ਗਿਆ। ਧੰਨਵਾਦ, ਸਤ ਸ੍ਰੀ ਅਕਾਲ।",
            "ਮਾਫ਼ ਕਰਨਾ, ਸੁਣਾਈ ਨਹੀਂ ਦਿੱਤਾ। ਫਿਰ ਤੋਂ ਕਹੋਗੇ?",
        ],
    ),
    (
        "ta",
        [
            "ஒரு நிமிடம்.",
            "உங்களை இணைக்கிறோம், லைனில் இருங்கள்.",
            "சரி, இனி உங்களை அழைக்க மாட்டோம். சிரமத்திற்கு மன்னிக்கவும். வணக்கம்.",
            "மன்னிக்கவும், இந்த அழைப்பின் நேரம் முடிந்தது. நன்றி, வணக்கம்.",
            "மன்னிக்கவும், கேட்கவில்லை. மீண்டும் சொல்ல முடியுமா?",
        ],
    ),
    (
        "te",
        [
            "ఒక్క క్షణం.",
            "మిమ్మల్ని కలుపుతున్నాం, లైన్‌లో ఉండండి.",
            "సరే, మీకు మళ్ళీ ఫోన్ చేయము. ఇబ్బందికి క్షమించండి. నమస్కారం.",
            "క్షమించండి, ఈ కాల్ సమయం అయిపోయింది. ధన్యవాదాలు, నమస్కారం.",
            "క్షమించండి, వినబడలేదు. మళ్ళీ చెప్తారా?",
        ],
    ),
];

#[cfg(test)]
mod tests {
    use super::CallPhrases;

    #[test]
    fn every_language_has_its_own() {
        let languages = ["en", "hi", "bn", "gu", "kn", "ml", "mr", "or", "pa", "ta", "te"];
        let own: std::collections::HashSet<&str> =
            languages.iter().map(|language| CallPhrases::of(language).not_again).collect();
        assert_eq!(own.len(), languages.len());
        assert_eq!(CallPhrases::of("xx"), CallPhrases::of("en"));
    }
}
