//! Fixed phrases of a call, besides those of the interpreter ([`domain::conversation::Phrases`]).

/// Most characters of a reason for calling.
const MAX_REASON: usize = 300;

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
    /// Who calls, to an assistant that screens calls; `{agent}` and `{company}` are filled in.
    pub this_is: &'static str,
    /// Why, where the agent has no reason of its own.
    pub wants_to_talk: &'static str,
}

impl CallPhrases {
    /// The sentences in an agent's `language` (docs/contract/agents.md#fields); English for a
    /// language that is not among the eleven.
    pub fn of(language: &str) -> Self {
        let row = TABLE.iter().find(|(code, _)| *code == language).map_or(&ENGLISH, |(_, row)| row);
        let [one_moment, connecting, not_again, time_is_up, not_heard, this_is, wants_to_talk] = *row;
        Self { one_moment, connecting, not_again, time_is_up, not_heard, this_is, wants_to_talk }
    }

    /// Who calls and why, to an assistant that screens calls. `reason` may be empty; [`MAX_REASON`] characters of it are
    /// said.
    pub fn introduction(&self, agent: &str, company: &str, reason: &str) -> String {
        let reason: String = reason.trim().chars().take(MAX_REASON).collect();
        let why = if reason.is_empty() { self.wants_to_talk } else { &reason };
        let mut who = String::new();
        for part in self.this_is.split_inclusive(['{', '}']) {
            match part {
                "agent}" => who.push_str(agent),
                "company}" => who.push_str(company),
                _ => who.push_str(part.trim_end_matches('{')),
            }
        }
        format!("{who} {why}")
    }
}

const ENGLISH: [&str; 7] = [
    "One moment, please.",
    "Connecting you now, please hold.",
    "All right, we will not call you again. Sorry for the trouble. Goodbye.",
    "I am sorry, our time on this call is up. Thank you, goodbye.",
    "Sorry, I could not hear that. Could you say it again?",
    "This is {agent}, calling from {company}.",
    "I would like to speak to the person I am calling.",
];
const TABLE: [(&str, [&str; 7]); 10] = [
    (
        "hi",
        [
            "एक क्षण रुकिए।",
            "आपकी बात कराई जा रही है, लाइन पर रहिए।",
            "ठीक है, अब आपको फ़ोन नहीं किया जाएगा। परेशानी के लिए माफ़ी। नमस्ते।",
            "माफ़ कीजिए, इस कॉल का समय पूरा हो गया। धन्यवाद, नमस्ते।",
            "माफ़ कीजिए, सुनाई नहीं दिया। क्या आप दोबारा कहेंगे?",
            "यह {company} से {agent} का फ़ोन है।",
            "जिन्हें फ़ोन किया है, उनसे बात करनी है।",
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
            "আমি {agent}, {company} থেকে ফোন করছি।",
            "যাঁকে ফোন করেছি তাঁর সঙ্গে কথা বলতে চাই।",
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
            "હું {agent}, {company} તરફથી ફોન કરું છું.",
            "જેમને ફોન કર્યો છે તેમની સાથે વાત કરવી છે.",
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
            "ನಾನು {agent}, {company} ನಿಂದ ಕರೆ ಮಾಡುತ್ತಿದ್ದೇನೆ.",
            "ಕರೆ ಮಾಡಿದವರೊಂದಿಗೆ ಮಾತನಾಡಬೇಕಾಗಿದೆ.",
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
            "ഞാൻ {agent}, {company} ൽ നിന്ന് വിളിക്കുന്നു.",
            "വിളിച്ച ആളോട് സംസാരിക്കണം.",
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
            "मी {agent}, {company} कडून फोन करत आहे.",
            "ज्यांना फोन केला आहे त्यांच्याशी बोलायचे आहे.",
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
            "ମୁଁ {agent}, {company} ରୁ ଫୋନ କରୁଛି।",
            "ଯାହାଙ୍କୁ ଫୋନ କରିଛି, ତାଙ୍କ ସହ କଥା ହେବାକୁ ଚାହେଁ।",
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
            "ਇਹ {company} ਵੱਲੋਂ {agent} ਦਾ ਫ਼ੋਨ ਹੈ।",
            "ਜਿਨ੍ਹਾਂ ਨੂੰ ਫ਼ੋਨ ਕੀਤਾ ਹੈ ਉਨ੍ਹਾਂ ਨਾਲ ਗੱਲ ਕਰਨੀ ਹੈ।",
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
            "நான் {agent}, {company} இலிருந்து அழைக்கிறேன்.",
            "நான் அழைத்தவரிடம் பேச வேண்டும்.",
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
            "నేను {agent}, {company} నుండి ఫోన్ చేస్తున్నాను.",
            "ఫోన్ చేసిన వారితో మాట్లాడాలి.",
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

    #[test]
    fn an_introduction_names_agent_and_company_and_says_why() {
        for language in ["en", "hi", "bn", "gu", "kn", "ml", "mr", "or", "pa", "ta", "te"] {
            let phrases = CallPhrases::of(language);
            let said = phrases.introduction("Asha", "Acme {agent}", "");
            assert!(said.contains("Asha") && said.contains("Acme {agent}"), "{said}");
            assert!(said.ends_with(phrases.wants_to_talk), "{said}");
        }
        let said = CallPhrases::of("en").introduction("Asha {company}", "Acme", " It is about your order. ");
        assert_eq!(said, "This is Asha {company}, calling from Acme. It is about your order.");
        let long = CallPhrases::of("en").introduction("Asha", "Acme", &"x".repeat(400));
        assert_eq!(long.matches('x').count(), 300);
    }
}
