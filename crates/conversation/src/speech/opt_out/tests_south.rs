use super::tests::check;

#[test]
fn tamil() {
    check(
        "ta",
        &[
            "எனக்கு இனிமேல் கால் பண்ணாதீங்க",
            "போன் பண்ணாதீங்க",
            "என்னை மறுபடியும் கூப்பிடாதீங்க",
            "கால் பண்றதை நிறுத்துங்க",
            "என் நம்பரை எடுத்துடுங்க",
            "enakku inimel call pannadheenga",
            "call pannatheenga",
            "phone panna vendam",
            "call panradha niruthunga",
            "எனக்கு போன் பண்ண வேண்டாம்",
            "தொந்தரவு செய்யாதீர்கள்",
            "please don't call me again sir",
        ],
        &[
            "அப்புறம் கால் பண்ணுங்க",
            "இப்போ கால் பண்ணாதீங்க, சாயங்காலம் பண்ணுங்க",
            "ippo call pannadheenga naalaiku pannunga",
            "எனக்கு வேண்டாம்",
            "கொஞ்சம் இருங்க",
            "மறுபடியும் கால் பண்ணுங்க",
            "நான் கால் பண்ணவில்லை",
        ],
    );
}

#[test]
fn telugu() {
    check(
        "te",
        &[
            "నాకు మళ్ళీ కాల్ చేయకండి",
            "ఫోన్ చేయకండి",
            "కాల్ చేయొద్దు",
            "నాకు కాల్ చేయడం ఆపండి",
            "నా నంబర్ తీసేయండి",
            "naku malli call cheyakandi",
            "phone cheyoddu",
            "call cheyadam aapandi",
            "call cheyyavaddu",
            "ఇకపై ఫోన్ చేయవద్దు",
            "నన్ను ఇబ్బంది పెట్టకండి",
            "do not call me again andi",
        ],
        &[
            "తర్వాత కాల్ చేయండి",
            "ఇప్పుడు కాల్ చేయకండి, సాయంత్రం చేయండి",
            "ippudu call cheyakandi repu cheyandi",
            "నాకు వద్దు",
            "ఆగండి",
            "మళ్ళీ కాల్ చేస్తాను అన్నారు",
            "malli call cheyandi",
            "మళ్ళీ కాల్ చేయండి",
            "నేను కాల్ చేయలేదు",
        ],
    );
}

#[test]
fn kannada() {
    check(
        "kn",
        &[
            "ನನಗೆ ಮತ್ತೆ ಕಾಲ್ ಮಾಡಬೇಡಿ",
            "ಫೋನ್ ಮಾಡಬೇಡಿ",
            "ಕಾಲ್ ಮಾಡೋದನ್ನ ನಿಲ್ಲಿಸಿ",
            "ನನ್ನ ನಂಬರ್ ತೆಗೆದುಹಾಕಿ ಲಿಸ್ಟ್ ನಿಂದ ತೆಗೆಯಿರಿ",
            "nanage matte call madbedi",
            "phone madabedi",
            "call maadbeda",
            "call madodanna nillisi",
            "ನನಗೆ ತೊಂದರೆ ಕೊಡಬೇಡಿ",
            "ಇನ್ನುಮೇಲೆ ಕರೆ ಮಾಡಬೇಡಿ",
            "please stop calling me",
        ],
        &[
            "ಆಮೇಲೆ ಕಾಲ್ ಮಾಡಿ",
            "ಈಗ ಕಾಲ್ ಮಾಡಬೇಡಿ, ಸಂಜೆ ಮಾಡಿ",
            "iga call madbedi naale madi",
            "ನನಗೆ ಬೇಡ",
            "ನಿಲ್ಲಿ",
            "ಮತ್ತೆ ಕಾಲ್ ಮಾಡಿ",
            "ನಾನು ಕಾಲ್ ಮಾಡಿಲ್ಲ",
        ],
    );
}

#[test]
fn malayalam() {
    check(
        "ml",
        &[
            "എന്നെ ഇനി വിളിക്കരുത്",
            "വിളിക്കരുത്",
            "ഇനി വിളിക്കണ്ട",
            "ഫോൺ ചെയ്യരുത്",
            "വിളിക്കുന്നത് നിർത്തൂ",
            "എന്റെ നമ്പർ നീക്കം ചെയ്യൂ",
            "enne ini vilikkaruthu",
            "vilikkanda",
            "call cheyyaruthu",
            "ഒരിക്കലും വിളിക്കരുത്",
            "എന്നെ ശല്യപ്പെടുത്തരുത്",
            "don't call me again please",
        ],
        &[
            "പിന്നെ വിളിക്കൂ",
            "ഇപ്പോൾ വിളിക്കരുത്, വൈകിട്ട് വിളിക്കൂ",
            "ippol vilikkaruthu nale vilikku",
            "എനിക്ക് വേണ്ട",
            "നിൽക്കൂ",
            "നാളെ വിളിച്ചാൽ മതി",
            "ഇനി നാളെ വിളിക്കൂ",
            "ഞാൻ കോൾ ചെയ്തില്ല",
        ],
    );
}

#[test]
fn a_person_may_speak_another_language_than_the_agent() {
    for (language, text) in [
        ("ta", "mujhe call mat karo"),
        ("hi", "എന്നെ ഇനി വിളിക്കരുത്"),
        ("en", "ఫోన్ చేయకండి"),
        ("bn", "stop calling me"),
        ("xx", "stop calling me"),
    ] {
        assert!(super::opt_out(text, language), "{language} {text}");
    }
}
