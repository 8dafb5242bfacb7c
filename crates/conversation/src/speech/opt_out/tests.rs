use super::opt_out;

/// What must be understood as an opt-out and what must not, for one language.
pub(super) fn check(language: &str, asks: &[&str], does_not: &[&str]) {
    assert!(asks.len() >= 8 && does_not.len() >= 5);
    let missed: Vec<&&str> = asks.iter().filter(|text| !opt_out(text, language)).collect();
    let alarms: Vec<&&str> = does_not.iter().filter(|text| opt_out(text, language)).collect();
    assert!(
        missed.is_empty() && alarms.is_empty(),
        "{language}: missed {missed:#?}, false alarms {alarms:#?}"
    );
}

#[test]
fn english() {
    check(
        "en",
        &[
            "stop calling me",
            "Please don't call me again.",
            "do not call me",
            "Don't ever call this number again!",
            "never call me again",
            "remove my number from your list",
            "take me off your calling list",
            "I don't want any more calls",
            "I do not want to be contacted",
            "put me on do not call",
            "don't call me",
            "stop disturbing me",
            "please stop these calls",
            "unsubscribe",
            "no more calls please",
            "I don't want you calling me",
            "don't call me again, I'm busy",
            "stop it, do not contact me in future",
            "delete my number",
            "don't disturb me",
            "do not call here again",
            "you people should stop calling me every day",
            "I told you not to call me",
            "my number is on DND",
            "leave me alone",
        ],
        &[
            "call me later",
            "don't call me now, call at five",
            "stop, wait",
            "not interested",
            "why don't you call me tomorrow",
            "I don't call people on sundays",
            "please do not call me today, call tomorrow",
            "you did not call me yesterday",
            "stop",
            "call me again tomorrow, don't call now",
            "don't call me before ten",
            "I don't call it that",
            "don't stop calling",
            "do not call me while I am driving",
            "I could not call you back",
            "no",
            "is this a call from the bank",
            "remove the extra charge",
            "wrong number",
            "don't contact my wife",
            "I don't want a call now, call later",
            "why do you keep calling me",
            "",
        ],
    );
}

#[test]
fn hindi() {
    check(
        "hi",
        &[
            "मुझे दोबारा कॉल मत करना",
            "फ़ोन मत करो",
            "call mat karo",
            "dobara phone mat karna",
            "mujhe call karna band karo",
            "कॉल करना बंद कीजिए",
            "मेरा नंबर हटा दो अपनी लिस्ट से",
            "mera number list se hata dijiye",
            "aage se call mat kijiye",
            "मुझे कॉल नहीं चाहिए",
            "please mujhe phir se call na karein",
            "आज के बाद फोन मत करना",
            "aaj ke baad call mat karna",
            "phone mat kijiyega",
            "mujhe pareshan mat karo",
            "मुझे परेशान मत करो",
            "don't call me again bhai",
            "is number pe dobara call mat karna",
            "yaar stop calling me",
            "ye number pe phone mat karna",
            "maine bola na call mat karo",
            "बार बार फोन मत कीजिए",
        ],
        &[
            "बाद में कॉल करना",
            "abhi call mat karo, shaam ko karna",
            "अभी फोन मत करो कल करना",
            "mujhe nahi chahiye",
            "रुको, रुको",
            "aap call kyon nahi karte",
            "maine call nahi kiya",
            "call kar lena",
            "phir call karna",
            "mat karo",
            "dobara call karna",
            "phone kat gaya tha",
            "aapka call nahi aaya",
            "mera phone band ho gaya tha",
        ],
    );
}

#[test]
fn punjabi() {
    check(
        "pa",
        &[
            "ਮੈਨੂੰ ਦੁਬਾਰਾ ਫੋਨ ਨਾ ਕਰਿਓ",
            "ਫ਼ੋਨ ਨਾ ਕਰੋ",
            "ਮੈਨੂੰ ਕਾਲ ਕਰਨੀ ਬੰਦ ਕਰੋ",
            "ਮੇਰਾ ਨੰਬਰ ਹਟਾ ਦਿਓ",
            "mainu phone na karo",
            "dubara call na kareyo",
            "mainu call karna band karo",
            "ਮੈਨੂੰ ਤੰਗ ਨਾ ਕਰੋ",
            "mud ke phone na kareo ji",
            "ਮੈਨੂੰ ਫੋਨ ਨਹੀਂ ਚਾਹੀਦੇ",
            "don't call me again ji",
        ],
        &[
            "ਬਾਅਦ ਵਿੱਚ ਫੋਨ ਕਰੋ",
            "ਹੁਣ ਫੋਨ ਨਾ ਕਰੋ, ਸ਼ਾਮ ਨੂੰ ਕਰਿਓ",
            "hun call na karo kall karna",
            "ਮੈਨੂੰ ਨਹੀਂ ਚਾਹੀਦਾ",
            "ਰੁਕੋ",
            "ਦੁਬਾਰਾ ਫੋਨ ਕਰੋ",
            "ਮੈਂ ਫੋਨ ਨਹੀਂ ਕੀਤਾ",
        ],
    );
}

#[test]
fn gujarati() {
    check(
        "gu",
        &[
            "મને ફરી ફોન ન કરો",
            "ફોન ના કરશો",
            "મને કોલ કરશો નહીં",
            "ફોન કરવાનું બંધ કરો",
            "મારો નંબર કાઢી નાખો",
            "mane farithi phone na karta",
            "call karvanu bandh karo",
            "mane phone na karo",
            "mane call karsho nahi",
            "ક્યારેય ફોન ન કરતા",
            "મને હેરાન ન કરો",
            "please don't call me again",
        ],
        &[
            "પછી ફોન કરજો",
            "અત્યારે ફોન ન કરો, સાંજે કરજો",
            "hamna call na karo kale karjo",
            "મારે નથી જોઈતું",
            "ઊભા રહો",
            "ફરી ફોન કરજો",
            "મેં ફોન નથી કર્યો",
        ],
    );
}

#[test]
fn marathi() {
    check(
        "mr",
        &[
            "मला पुन्हा फोन करू नका",
            "फोन करू नका",
            "मला कॉल करणे बंद करा",
            "माझा नंबर काढून टाका",
            "mala parat call karu naka",
            "phone karu nako",
            "call karne band kara",
            "मला त्रास देऊ नका",
            "यापुढे फोन करू नका",
            "मला फोन नको",
            "stop calling me please",
        ],
        &[
            "नंतर फोन करा",
            "आत्ता फोन करू नका, संध्याकाळी करा",
            "aata call karu naka udya kara",
            "मला नको",
            "थांबा",
            "पुन्हा फोन करा",
            "मी फोन केला नाही",
        ],
    );
}

#[test]
fn bengali() {
    check(
        "bn",
        &[
            "আমাকে আর ফোন করবেন না",
            "ফোন করবেন না",
            "আমাকে কল করা বন্ধ করুন",
            "আমার নম্বর মুছে দিন",
            "লিস্ট থেকে আমার নাম বাদ দিন",
            "amake ar phone korben na",
            "call korben na",
            "phone kora bondho korun",
            "amake birokto korben na",
            "আমাকে বিরক্ত করবেন না",
            "আবার ফোন করবেন না",
            "don't call me again dada",
        ],
        &[
            "পরে ফোন করুন",
            "এখন ফোন করবেন না, বিকেলে করবেন",
            "ekhon call korben na pore korben",
            "আমার দরকার নেই",
            "দাঁড়ান",
            "আবার ফোন করুন",
            "আমি ফোন করিনি",
        ],
    );
}

#[test]
fn odia() {
    check(
        "or",
        &[
            "ମୋତେ ଆଉ ଫୋନ କରନ୍ତୁ ନାହିଁ",
            "ଫୋନ କରନ୍ତୁ ନାହିଁ",
            "ମୋତେ କଲ କରିବା ବନ୍ଦ କରନ୍ତୁ",
            "ମୋ ନମ୍ବର ହଟାଇ ଦିଅନ୍ତୁ",
            "mote au phone karantu nahi",
            "call karibe nahi",
            "phone kariba banda karantu",
            "ମୋତେ ବିରକ୍ତ କରନ୍ତୁ ନାହିଁ",
            "mo number hatai diantu",
            "ପୁଣି ଫୋନ କରିବେ ନାହିଁ",
            "please do not call me again",
        ],
        &[
            "ପରେ ଫୋନ କରନ୍ତୁ",
            "ଏବେ ଫୋନ କରନ୍ତୁ ନାହିଁ, ସନ୍ଧ୍ୟାରେ କରନ୍ତୁ",
            "ebe call karantu nahi kali karibe",
            "ମୋର ଦରକାର ନାହିଁ",
            "ରୁହନ୍ତୁ",
            "ପୁଣି ଫୋନ କରନ୍ତୁ",
            "ମୁଁ ଫୋନ କରିନି",
        ],
    );
}

#[test]
fn threats_and_refusals_for_good_are_opt_outs() {
    for text in [
        "I never want to hear from you again",
        "no more marketing calls",
        "I will complain to TRAI if you call again",
        "ट्राई में शिकायत कर दूँगा",
        "మీ కాల్స్ నాకు వద్దు",
        "ನಿಮ್ಮ ಕಾಲ್ ನನಗೆ ಬೇಡ",
        "मुझे मार्केटिंग कॉल्स नहीं चाहिए",
    ] {
        assert!(opt_out(text, "en"), "{text}");
    }
    for text in [
        "not on Sundays",
        "please don't call on Sundays",
        "in a meeting, no call now",
        "can you call again?",
        "my number has changed",
        "don't put the call on hold",
        "before ten don't call",
        "मेरी पत्नी को फोन मत कीजिए",
        "રવિવારે ફોન ન કરશો",
    ] {
        assert!(!opt_out(text, "en"), "{text}");
    }
}

/// Who says that he will complain to the regulator, the police or a court does not want to be called; who has a
/// complaint about a bill wants to talk.
#[test]
fn a_threat_to_complain_is_an_opt_out_in_every_language() {
    let threats = [
        ("en", ["I will complain to TRAI", "I'll file a case in consumer court"]),
        ("hi", ["मैं ट्राई में शिकायत करूँगा", "main trai mein shikayat karungi"]),
        ("bn", ["আমি ট্রাইতে অভিযোগ করব", "ami trai te abhijog korbo"]),
        ("gu", ["હું ટ્રાઈમાં ફરિયાદ કરીશ", "hu traima fariyad karish"]),
        ("kn", ["ನಾನು ಟ್ರಾಯ್‌ಗೆ ದೂರು ಕೊಡುತ್ತೇನೆ", "naanu traige dooru kodthini"]),
        ("ml", ["ഞാൻ ട്രായിൽ പരാതി കൊടുക്കും", "njan trai il parathi kodukkum"]),
        ("mr", ["मी ट्रायकडे तक्रार करेन", "mi trai kade takrar karen"]),
        ("or", ["ମୁଁ ଟ୍ରାଇରେ ଅଭିଯୋଗ କରିବି", "mun traire abhijoga karibi"]),
        ("pa", ["ਮੈਂ ਟਰਾਈ ਨੂੰ ਸ਼ਿਕਾਇਤ ਕਰਾਂਗਾ", "main trai nu shikayat karanga"]),
        ("ta", ["நான் டிராயில் புகார் செய்வேன்", "naan trai la pugaar seiven"]),
        ("te", ["నేను ట్రాయ్‌కి ఫిర్యాదు చేస్తాను", "nenu traiki firyadu chestanu"]),
    ];
    let complaints = [
        ("en", "I have a complaint about my bill"),
        ("hi", "मुझे अपने बिल की शिकायत करनी है"),
        ("bn", "আমার বিল নিয়ে একটা অভিযোগ আছে"),
        ("gu", "મારે બિલ વિશે ફરિયાદ છે"),
        ("kn", "ನನ್ನ ಬಿಲ್ ಬಗ್ಗೆ ದೂರು ಇದೆ"),
        ("ml", "എന്റെ ബില്ലിനെ കുറിച്ച് പരാതിയുണ്ട്"),
        ("mr", "माझ्या बिलाबद्दल तक्रार आहे"),
        ("or", "ମୋ ବିଲ୍ ବିଷୟରେ ଅଭିଯୋଗ ଅଛି"),
        ("pa", "ਮੇਰੇ ਬਿੱਲ ਬਾਰੇ ਸ਼ਿਕਾਇਤ ਹੈ"),
        ("ta", "என் பில் பற்றி ஒரு புகார் இருக்கிறது"),
        ("te", "నా బిల్లు గురించి ఫిర్యాదు ఉంది"),
    ];
    let languages = super::super::LANGUAGES;
    assert_eq!(threats.map(|(language, _)| language), languages);
    assert_eq!(complaints.map(|(language, _)| language), languages);
    let missed: Vec<_> = threats
        .iter()
        .flat_map(|(language, texts)| texts.iter().map(move |text| (*language, *text)))
        .filter(|(language, text)| !opt_out(text, language))
        .collect();
    assert_eq!(missed, []);
    let false_alarms: Vec<_> = complaints.iter().filter(|(language, text)| opt_out(text, language)).collect();
    assert_eq!(false_alarms, [] as [&(&str, &str); 0]);
}
