//! The few sentences of the answerer's own.

/// Sentences in one language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lines {
    pub(super) hello: &'static str,
    pub(super) how_can_i_help: &'static str,
    pub(super) anything_else: &'static str,
    pub(super) thanks: &'static str,
    pub(super) later: &'static str,
    pub(super) sorry_bye: &'static str,
    pub(super) do_not_know: &'static str,
    pub(super) person: &'static str,
    pub(super) automated: &'static str,
}

/// The sentences of an agent's language; English for one that agents do not speak.
pub(super) fn of(language: &str) -> &'static Lines {
    match language {
        "hi" => &HINDI,
        "bn" => &BENGALI,
        "gu" => &GUJARATI,
        "kn" => &KANNADA,
        "ml" => &MALAYALAM,
        "mr" => &MARATHI,
        "or" => &ODIA,
        "pa" => &PUNJABI,
        "ta" => &TAMIL,
        "te" => &TELUGU,
        _ => &ENGLISH,
    }
}

const ENGLISH: Lines = Lines {
    hello: "Hello.",
    how_can_i_help: "How can I help you?",
    anything_else: "Is there anything else I can help you with?",
    thanks: "Thank you for your time. Goodbye.",
    later: "Sure, we will call you later. Goodbye.",
    sorry_bye: "All right. Sorry for the trouble. Goodbye.",
    do_not_know: "I do not have that information.",
    person: "Sure, a person will get in touch with you.",
    automated: "I am an automated assistant.",
};
const HINDI: Lines = Lines {
    hello: "नमस्ते।",
    how_can_i_help: "बताइए, आपकी क्या मदद की जाए?",
    anything_else: "क्या आपको और कोई जानकारी चाहिए?",
    thanks: "आपके समय के लिए धन्यवाद। नमस्ते।",
    later: "ठीक है, हम आपको बाद में कॉल करेंगे। नमस्ते।",
    sorry_bye: "ठीक है। असुविधा के लिए क्षमा करें। नमस्ते।",
    do_not_know: "यह जानकारी अभी उपलब्ध नहीं है।",
    person: "ठीक है, हमारे प्रतिनिधि आपसे संपर्क करेंगे।",
    automated: "यह एक स्वचालित सहायक है।",
};
const BENGALI: Lines = Lines {
    hello: "নমস্কার।",
    how_can_i_help: "বলুন, কীভাবে সাহায্য করতে পারি?",
    anything_else: "আর কিছু জানতে চান?",
    thanks: "সময় দেওয়ার জন্য ধন্যবাদ। নমস্কার।",
    later: "ঠিক আছে, আমরা পরে ফোন করব। নমস্কার।",
    sorry_bye: "ঠিক আছে। অসুবিধার জন্য দুঃখিত। নমস্কার।",
    do_not_know: "এই তথ্যটি এখন আমার কাছে নেই।",
    person: "ঠিক আছে, আমাদের প্রতিনিধি আপনার সঙ্গে যোগাযোগ করবেন।",
    automated: "এটি একটি স্বয়ংক্রিয় সহায়ক।",
};
const GUJARATI: Lines = Lines {
    hello: "નમસ્તે.",
    how_can_i_help: "કહો, શું મદદ કરી શકું?",
    anything_else: "બીજી કોઈ માહિતી જોઈએ છે?",
    thanks: "તમારા સમય માટે આભાર. નમસ્તે.",
    later: "સારું, અમે પછી ફોન કરીશું. નમસ્તે.",
    sorry_bye: "સારું. તકલીફ બદલ માફ કરશો. નમસ્તે.",
    do_not_know: "આ માહિતી અત્યારે ઉપલબ્ધ નથી.",
    person: "સારું, અમારા પ્રતિનિધિ તમારો સંપર્ક કરશે.",
    automated: "આ એક સ્વચાલિત સહાયક છે.",
};
const KANNADA: Lines = Lines {
    hello: "ನಮಸ್ಕಾರ.",
    how_can_i_help: "ಹೇಳಿ, ಹೇಗೆ ಸಹಾಯ ಮಾಡಲಿ?",
    anything_else: "ಬೇರೆ ಏನಾದರೂ ಮಾಹಿತಿ ಬೇಕೇ?",
    thanks: "ನಿಮ್ಮ ಸಮಯಕ್ಕೆ ಧನ್ಯವಾದಗಳು. ನಮಸ್ಕಾರ.",
    later: "ಸರಿ, ನಾವು ನಂತರ ಕರೆ ಮಾಡುತ್ತೇವೆ. ನಮಸ್ಕಾರ.",
    sorry_bye: "ಸರಿ. ತೊಂದರೆಗಾಗಿ ಕ್ಷಮಿಸಿ. ನಮಸ್ಕಾರ.",
    do_not_know: "ಆ ಮಾಹಿತಿ ಈಗ ಲಭ್ಯವಿಲ್ಲ.",
    person: "ಸರಿ, ನಮ್ಮ ಪ್ರತಿನಿಧಿ ನಿಮ್ಮನ್ನು ಸಂಪರ್ಕಿಸುತ್ತಾರೆ.",
    automated: "ಇದು ಸ್ವಯಂಚಾಲಿತ ಸಹಾಯಕ.",
};
const MALAYALAM: Lines = Lines {
    hello: "നമസ്കാരം.",
    how_can_i_help: "പറയൂ, എങ്ങനെ സഹായിക്കാം?",
    anything_else: "മറ്റെന്തെങ്കിലും അറിയണോ?",
    thanks: "സമയം തന്നതിന് നന്ദി. നമസ്കാരം.",
    later: "ശരി, ഞങ്ങൾ പിന്നീട് വിളിക്കാം. നമസ്കാരം.",
    sorry_bye: "ശരി. ബുദ്ധിമുട്ടിന് ക്ഷമിക്കണം. നമസ്കാരം.",
    do_not_know: "ആ വിവരം ഇപ്പോൾ ലഭ്യമല്ല.",
    person: "ശരി, ഞങ്ങളുടെ പ്രതിനിധി നിങ്ങളെ ബന്ധപ്പെടും.",
    automated: "ഇതൊരു ഓട്ടോമേറ്റഡ് സഹായിയാണ്.",
};
const MARATHI: Lines = Lines {
    hello: "नमस्कार.",
    how_can_i_help: "सांगा, काय मदत करू?",
    anything_else: "आणखी काही माहिती हवी आहे का?",
    thanks: "आपल्या वेळेबद्दल धन्यवाद. नमस्कार.",
    later: "ठीक आहे, आम्ही नंतर फोन करू. नमस्कार.",
    sorry_bye: "ठीक आहे. त्रासाबद्दल क्षमस्व. नमस्कार.",
    do_not_know: "ती माहिती सध्या उपलब्ध नाही.",
    person: "ठीक आहे, आमचे प्रतिनिधी आपल्याशी संपर्क साधतील.",
    automated: "हा एक स्वयंचलित सहाय्यक आहे.",
};
const ODIA: Lines = Lines {
    hello: "ନମସ୍କାର।",
    how_can_i_help: "କୁହନ୍ତୁ, କିପରି ସାହାଯ୍ୟ କରିପାରିବି?",
    anything_else: "ଆଉ କିଛି ଜାଣିବାକୁ ଚାହାଁନ୍ତି କି?",
    thanks: "ଆପଣଙ୍କ ସମୟ ପାଇଁ ଧନ୍ୟବାଦ। ନମସ୍କାର।",
    later: "ଠିକ୍ ଅଛି, ଆମେ ପରେ ଫୋନ କରିବୁ। ନମସ୍କାର।",
    sorry_bye: "ଠିକ୍ ଅଛି। ଅସୁବିଧା ପାଇଁ କ୍ଷମା କରିବେ। ନମସ୍କାର।",
    do_not_know: "ସେହି ସୂଚନା ବର୍ତ୍ତମାନ ଉପଲବ୍ଧ ନାହିଁ।",
    person: "ଠିକ୍ ଅଛି, ଆମ ପ୍ରତିନିଧି ଆପଣଙ୍କ ସହ ଯୋଗାଯୋଗ କରିବେ।",
    automated: "ଏହା ଏକ ସ୍ୱୟଂଚାଳିତ ସହାୟକ।",
};
const PUNJABI: Lines = Lines {
    hello: "ਸਤ ਸ੍ਰੀ ਅਕਾਲ।",
    how_can_i_help: "ਦੱਸੋ, ਕੀ ਮਦਦ ਕੀਤੀ ਜਾਵੇ?",
    anything_else: "ਕੀ ਹੋਰ ਕੋਈ ਜਾਣਕਾਰੀ ਚਾਹੀਦੀ ਹੈ?",
    thanks: "ਤੁਹਾਡੇ ਸਮੇਂ ਲਈ ਧੰਨਵਾਦ। ਸਤ ਸ੍ਰੀ ਅਕਾਲ।",
    later: "ਠੀਕ ਹੈ, ਅਸੀਂ ਬਾਅਦ ਵਿੱਚ ਫੋਨ ਕਰਾਂਗੇ। ਸਤ ਸ੍ਰੀ ਅਕਾਲ।",
    sorry_bye: "ਠੀਕ ਹੈ। ਤਕਲੀਫ਼ ਲਈ ਮਾਫ਼ ਕਰਨਾ। ਸਤ ਸ੍ਰੀ ਅਕਾਲ।",
    do_not_know: "ਇਹ ਜਾਣਕਾਰੀ ਹੁਣ ਉਪਲਬਧ ਨਹੀਂ ਹੈ।",
    person: "ਠੀਕ ਹੈ, ਸਾਡੇ ਨੁਮਾਇੰਦੇ ਤੁਹਾਡੇ ਨਾਲ ਸੰਪਰਕ ਕਰਨਗੇ।",
    automated: "ਇਹ ਇੱਕ ਸਵੈਚਲਿਤ ਸਹਾਇਕ ਹੈ।",
};
const TAMIL: Lines = Lines {
    hello: "வணக்கம்.",
    how_can_i_help: "சொல்லுங்கள், எப்படி உதவலாம்?",
    anything_else: "வேறு ஏதாவது தகவல் வேண்டுமா?",
    thanks: "உங்கள் நேரத்திற்கு நன்றி. வணக்கம்.",
    later: "சரி, பிறகு அழைக்கிறோம். வணக்கம்.",
    sorry_bye: "சரி. சிரமத்திற்கு மன்னிக்கவும். வணக்கம்.",
    do_not_know: "அந்த தகவல் இப்போது இல்லை.",
    person: "சரி, எங்கள் பிரதிநிதி உங்களை தொடர்பு கொள்வார்.",
    automated: "இது ஒரு தானியங்கி உதவியாளர்.",
};
const TELUGU: Lines = Lines {
    hello: "నమస్కారం.",
    how_can_i_help: "చెప్పండి, ఎలా సహాయం చేయగలను?",
    anything_else: "ఇంకా ఏమైనా సమాచారం కావాలా?",
    thanks: "మీ సమయానికి ధన్యవాదాలు. నమస్కారం.",
    later: "సరే, తర్వాత కాల్ చేస్తాము. నమస్కారం.",
    sorry_bye: "సరే. ఇబ్బందికి క్షమించండి. నమస్కారం.",
    do_not_know: "ఆ సమాచారం ప్రస్తుతం అందుబాటులో లేదు.",
    person: "సరే, మా ప్రతినిధి మిమ్మల్ని సంప్రదిస్తారు.",
    automated: "ఇది ఒక ఆటోమేటెడ్ సహాయకం.",
};
