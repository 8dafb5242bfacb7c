//! The phrases, as [`crate::speech::Pattern`] reads them.

pub(super) const WRONG_NUMBER: &str = "
    wrong|rong|raang number|numbar|person|no|nambar
    galat|gulat|गलत|ग़लत number|nambar|नंबर|jagah|जगह
    रॉन्ग|रांग|राँग नंबर
    no one|body|such * name|person|here
    nobody by|of|here * name|called|named
    not the person
    dont|not know * person|him|her
    rong|রং|ভুল নম্বর|নাম্বার|number
    khotu|khoto|ખોટો|ખોટું|રોંગ number|નંબર
    ತಪ್ಪು|ರಾಂಗ್|tappu ನಂಬರ್|ಸಂಖ್ಯೆ|number
    തെറ്റായ|റോങ്|തെറ്റിയ|tettaya നമ്പർ|നമ്പറാണ്|number
    chukicha|चुकीचा|चुकीचे|चुकीच्या number|नंबर|नंबरवर|क्रमांक
    bhul|ଭୁଲ|ରଙ୍ଗ number|ନମ୍ବର
    ਗਲਤ|ਗ਼ਲਤ|ਰੌਂਗ ਨੰਬਰ
    thavarana|தவறான|ராங் எண்|நம்பர்|number
    tappu|తప్పు|రాంగ్ నంబర్|నెంబర్|number
";

pub(super) const MACHINE: &str = "
    are|is you|this|it a|an? robot|machine|bot|computer|recording|recorded|ai|automated
    robot|machine|रोबोट|मशीन|computer|कंप्यूटर hai|ho|है|हो|हैं|hain kya|क्या?
    am i * robot|machine|bot|computer
";

pub(super) const PERSON: &str = "
    speak|talk|connect|transfer|put|pass|get * to|with|through|me|a * person|human|agent|manager|executive|representative|someone|somebody|supervisor|advisor|operator|officer|staff
    speak|talk to|with a|an|the|your|some|real? real? person|human|agent|manager|executive|representative|someone|somebody|supervisor|advisor|operator|officer
    connect|transfer me
    human|real person|agent|being please|needed
    need|want|give a|an|the|me? real? person|human|agent|manager|representative
    customer care|service|support executive|person|number
    insaan|insan|aadmi|admi|agent|manager|vyakti|executive|इंसान|आदमी|एजेंट|मैनेजर|व्यक्ति|अधिकारी se|से * baat|बात
    kisi|किसी se|से baat|बात
    মানুষের|লোকের|ম্যানেজারের|এজেন্টের|কারো সাথে|সঙ্গে * কথা
    માણસ|વ્યક્તિ|એજન્ટ|મેનેજર|કોઈ સાથે|જોડે * વાત
    ವ್ಯಕ್ತಿ|ಮನುಷ್ಯರ|ಏಜೆಂಟ್|ಮ್ಯಾನೇಜರ್|ಯಾರಾದರೂ|ಯಾರೊಂದಿಗಾದರೂ * ಮಾತ~
    ആളോട്|മനുഷ്യനോട്|ഏജന്റിനോട്|മാനേജരോട്|ആരോടെങ്കിലും * സംസാരി~
    माणसाशी|व्यक्तीशी|एजंटशी|मॅनेजरशी|कोणाशी|कोणाशीतरी * बोल~
    ମଣିଷ|ଲୋକ|ଏଜେଣ୍ଟ|ମ୍ୟାନେଜର|କାହା * କଥା
    ਬੰਦੇ|ਇਨਸਾਨ|ਏਜੰਟ|ਮੈਨੇਜਰ|ਕਿਸੇ * ਗੱਲ
    மனிதரிடம்|ஆளிடம்|ஏஜென்ட்கிட்ட|மேனேஜரிடம்|யாராவது|யாரிடமாவது * பேச~
    మనిషితో|ఏజెంట్తో|మేనేజర్తో|ఎవరితోనైనా|వ్యక్తితో * మాట్లాడ~
";

pub(super) const CALL_LATER: &str = "
    call|ring|phone|contact|try|speak|talk * back|later|tomorrow|afterwards|tonight|evening|morning|after
    call|ring|phone|contact me? at|on|in|by|around
    call|ring|phone me some|another|any other? time|day
    am|im busy|driving|sleeping|eating|working|travelling
    in|am|at a|the|my? meeting|hospital|class|office|driving
    busy right|at|now
    not a|the good|right time
    no|dont|not * time now|right|today
    some|another|other time
    cant|cannot talk|speak now|right|at
    later please
    baad|बाद mein|me|में * call|phone|baat|बात|कॉल|फोन|कीजिए|करना
    thodi|थोड़ी|kuch|कुछ der|देर baad|बाद|mein|में
    kal|कल|shaam|शाम|subah|सुबह|raat|रात|aaram|dopahar|दोपहर * call|phone|baat|बात|कॉल|फोन
    abhi|अभी * busy|vyast|व्यस्त|बिजी|बिज़ी|time|टाइम|समय|kaam|काम|meeting|मीटिंग|gaadi|गाड़ी
    busy|बिजी|व्यस्त hoon|hu|hun|हूँ|हूं
    pore|পরে|kal|কাল|কালকে|সন্ধ্যায়|বিকেলে * ফোন|কল|call|phone|কথা
    ব্যস্ত|byasto আছি|achi|এখন
    pachi|પછી|કાલે|સાંજે|kaale|સવારે * ફોન|કોલ|call|phone|વાત
    વ્યસ્ત|busy છું|chhu
    ಆಮೇಲೆ|ನಂತರ|ನಾಳೆ|ಸಂಜೆ|amele|nantara|naale * ಕಾಲ್|ಫೋನ್|call|phone|ಕರೆ|ಮಾತ~
    ಬ್ಯುಸಿ|ಕೆಲಸದಲ್ಲಿ ಇದ್ದೇನೆ|ಇದ್ದೀನಿ|ಆಗಿದ್ದೇನೆ
    പിന്നെ|പിന്നീട്|നാളെ|വൈകിട്ട്|pinne|pinneed|naale * വിളി~|vili~|കോൾ|ഫോൺ|call
    തിരക്കിലാ~|തിരക്കാണ്
    नंतर|उद्या|संध्याकाळी|सकाळी|nantar|udya * फोन|कॉल|call|phone|बोल~
    व्यस्त|बिझी|कामात आहे
    ପରେ|କାଲି|ସନ୍ଧ୍ୟାରେ|pare|kali * ଫୋନ|ଫୋନ୍|କଲ|call|phone|କଥା
    ବ୍ୟସ୍ତ ଅଛି
    ਬਾਅਦ|ਕੱਲ੍ਹ|ਕੱਲ|ਸ਼ਾਮ|ਭਲਕੇ|baad|shami * ਫੋਨ|ਫ਼ੋਨ|ਕਾਲ|call|phone|ਗੱਲ
    ਬਿਜ਼ੀ|ਬਿਜੀ|ਰੁੱਝਿਆ|ਵਿਅਸਤ ਹਾਂ
    அப்புறம்|பிறகு|நாளைக்கு|நாளை|மாலை|appuram|aprom|piragu|naalaiku * கால்|போன்|call|phone|கூப்பிடு~|அழை~|பேச~
    பிஸியா|வேலையா இருக்கேன்|இருக்கிறேன்
    తర్వాత|తరువాత|రేపు|సాయంత్రం|tarvata|repu * కాల్|ఫోన్|call|phone|మాట్లాడ~
    బిజీగా|బిజీ ఉన్నాను
";

pub(super) const NOT_INTERESTED: &str = "
    not|no|dont|least|isnt * interested|interest
    dont|not want|need it|this|that|any|one|anything|to|your|a|the
    no thanks|thank|need|requirement
    not needed|required|for
    already have|got|bought|done
    nahi|nahin|नहीं|नही chahiye|chaiye|चाहिए|चाहिये
    koi|कोई * zaroorat|jarurat|interest|dilchaspi|ज़रूरत|जरूरत|दिलचस्पी|रुचि|इंटरेस्ट nahi|nahin|नहीं
    interest|dilchaspi|ruchi|इंटरेस्ट|दिलचस्पी|रुचि|zaroorat|jarurat|जरूरत * nahi|nahin|नहीं
    interested|इंटरेस्टेड nahi|nahin|नहीं|na
    দরকার|প্রয়োজন|আগ্রহ|dorkar|agroho * নেই|nei|না
    চাই|chai না|na
    લાગતું|રસ|જરૂર|ઈન્ટરેસ્ટ|interest|rasa|jarur * નથી|nathi
    નથી|nathi જોઈતું|જોઈતો|જોઈતી|joitu
    ಬೇಡ|beda|ಬೇಕಾಗಿಲ್ಲ|ಬೇಕಿಲ್ಲ|bekilla
    ಆಸಕ್ತಿ|asakti|interest ಇಲ್ಲ|illa
    വേണ്ട|venda|ആവശ്യമില്ല
    താൽപര്യം|താല്പര്യം|താൽപ്പര്യം|thalparyam|interest ഇല്ല|illa
    താൽപര്യമില്ല|താല്പര്യമില്ല|താൽപ്പര്യമില്ല
    नको|nako|नकोय|nakoy
    रस|गरज|interest|इंटरेस्ट|garaj * नाही|nahi
    ଦରକାର|ଆଗ୍ରହ|darkar * ନାହିଁ|ନାହି|nahi
    ਨਹੀਂ|nahi ਚਾਹੀਦਾ|ਚਾਹੀਦੀ|chahida
    ਲੋੜ|ਦਿਲਚਸਪੀ|lod * ਨਹੀਂ|nahi
    வேண்டாம்|வேணாம்|vendam|venam
    விருப்பம்|ஆர்வம்|தேவை|viruppam இல்லை|illai|illa
    தேவையில்லை|விருப்பமில்லை
    వద్దు|vaddu|అక్కర్లేదు|అవసరం|akkarledu
    ఆసక్తి|asakti|ఇంట్రెస్ట్|interest లేదు|ledu
";

pub(super) const INTERESTED: &str = "
    interested
    tell|know|hear * more
    sounds|looks good|great|interesting|nice
    go ahead|on
    want|like|love to know|buy|take|join|apply|book|register|enrol|enroll|try|proceed|order
    sign me up
    send me * details|link|information|brochure|quotation
    more details|information
    interest|dilchaspi|दिलचस्पी|रुचि|इंटरेस्ट hai|है
    aur|और|zyada|details|थोड़ा bataiye|batao|bataye|बताइए|बताओ|बताएं
    mujhe|मुझे * chahiye|चाहिए|lena|लेना
    আগ্রহ|আগ্রহী|agrohi আছে|আছি|achi
    আরও|আরো বলুন|জানতে
    રસ|ઈન્ટરેસ્ટ છે|che
    વધુ|વધારે જણાવો|કહો
    ಆಸಕ್ತಿ ಇದೆ|ide
    ಇನ್ನಷ್ಟು|ಹೆಚ್ಚು ಹೇಳಿ|ತಿಳಿಸಿ
    താൽപര്യമുണ്ട്|താല്പര്യമുണ്ട്|താൽപ്പര്യമുണ്ട്
    കൂടുതൽ പറയൂ|അറിയണം
    रस|इंटरेस्ट|आवड आहे
    अजून|अधिक सांगा|माहिती
    ଆଗ୍ରହ ଅଛି
    ਦਿਲਚਸਪੀ|ਇੰਟਰੈਸਟ ਹੈ
    ਹੋਰ ਦੱਸੋ
    விருப்பம்|ஆர்வம் இருக்கு|உள்ளது|இருக்கிறது
    மேலும் சொல்லுங்க|சொல்லுங்கள்
    ఆసక్తి|ఇంట్రెస్ట్ ఉంది
    ఇంకా చెప్పండి
";

pub(super) const REPEAT: &str = "
    repeat
    say that|it|this again
    say again
    come again
    pardon
    what did you say
    didnt|cant|cannot|couldnt|not|dont hear|catch|get|understand|follow|audible you|that|this|it|properly|clearly?
    not audible|clear
    voice|line is|not breaking|clear|bad
    once more|again please
    speak slowly|louder|up
    phir|fir|फिर|dobara|dubara|दोबारा|दुबारा se|से? boliye|bolo|bolna|batao|bataiye|kahiye|बोलिए|बोलो|बोलना|बताइए|बताओ|कहिए
    kya|क्या bola|kaha|बोला|कहा
    samajh|samjha|समझ|sunai|सुनाई|sun|आवाज|awaaz|aawaz * nahi|nahin|नहीं
    আবার বলুন|বলেন|বলো
    শুনতে|বুঝতে পাইনি|পাচ্ছি|পারিনি|পারছি
    ફરીથી|ફરી કહો|બોલો|કહેશો
    ಮತ್ತೊಮ್ಮೆ|ಇನ್ನೊಮ್ಮೆ|ಮತ್ತೆ ಹೇಳಿ
    ഒന്നുകൂടി|വീണ്ടും|ഒരിക്കൽകൂടി പറയൂ|പറയാമോ|പറ~
    पुन्हा|परत सांगा|बोला
    ପୁଣି|ଆଉଥରେ କୁହନ୍ତୁ|କହନ୍ତୁ
    ਦੁਬਾਰਾ|ਫਿਰ ਦੱਸੋ|ਬੋਲੋ|ਕਹੋ
    மறுபடி|மறுபடியும்|திரும்ப சொல்லுங்க|சொல்லுங்கள்|சொல்~
    మళ్ళీ|మళ్లీ|మరోసారి చెప్పండి|చెప్ప~
";

pub(super) const WHO: &str = "
    who is|are this|calling|speaking|you|that|it
    whos this|calling|speaking|that
    who am i
    where are you|u calling|from
    which company|bank|organisation|organization|office
    whats|what * your name
    what is|are|for * this|you|the * about|calling|call|for
    why are|did you|u call|calling
    kaun|कौन * bol|hai|ho|बोल|है|हो|हैं|hain|baat|बात
    kahan|kaha|कहाँ|कहां se|से * bol|call|phone|बोल|कॉल|फोन
    kis|किस liye|लिए|company|कंपनी|baare|बारे|kaam|काम
    কে|ke বলছেন|কথা|bolchen
    কোথা|কোথায় থেকে
    કોણ|kon બોલો|બોલે|છો|bolo
    ಯಾರು|yaaru ಮಾತಾಡ~|ಮಾತನಾಡ~|ನೀವು|matad~
    ആരാണ്|aaranu
    कोण|kon बोल~|आहात|आहे|bol~
    କିଏ|kie କହୁ~|କଥା
    ਕੌਣ|kaun ਬੋਲ|ਹੋ|ਬੋਲਦੇ
    யார்|யாரு|yaaru பேச~|நீங்க|pesa~
    ఎవరు|evaru మాట్లాడ~|మీరు|matlad~
";

pub(super) const GOODBYE: &str = "
    bye|goodbye|byebye
    good bye|night
    have a good|nice|great
    thank|thanks you? * bye
    hang up
    alvida|अलविदा|बाय
    rakhta|rakhti|रखता|रखती hoon|hu|हूँ|हूं
    চলি|বাই|বিদায়
    આવજો|બાય|aavjo
    ಬಾಯ್
    ബൈ
    बाय|निरोप
    ବାଇ
    ਬਾਏ|ਬਾਇ
    பை|பாய்
    బై
";

pub(super) const YES: &str = "
    হ্যাঁ|হ্যা|হাঁ|জি|জী
    હા|હાં
    ಹೌದು|ಹಾಂ
    അതെ|ഉവ്വ്|അതേ
    हो|होय
    ହଁ|ହଉ
    ਹਾਂ|ਹਾਂਜੀ|ਜੀ
    ஆம்|ஆமா|ஆமாம்
    అవును|ఔను|అవునండి
    avunu|aama|aamaa|haudu|houdu|athe|hoy
";
pub(super) const NO: &str = "
    না|নাহ
    ના|નહીં|નહિ
    ಇಲ್ಲ|ಬೇಡ
    അല്ല|ഇല്ല|വേണ്ട
    नाही|नको
    ନା|ନାହିଁ
    ਨਹੀਂ|ਨਾ
    இல்லை|இல்ல|வேண்டாம்
    లేదు|కాదు|వద్దు
    illai|illa|ledu|kaadu|alla|nako
";

pub(super) const ENGLISH_PHRASES: [&str; 112] = [
    "yes",
    "yes please",
    "yes i do",
    "yes i am",
    "yes that is correct",
    "yes that is right",
    "yeah",
    "yeah sure",
    "sure",
    "of course",
    "okay",
    "okay fine",
    "alright",
    "correct",
    "that is correct",
    "right",
    "definitely",
    "yes speaking",
    "speaking",
    "this is he",
    "this is she",
    "no",
    "no thank you",
    "no thanks",
    "nope",
    "no i do not",
    "no i am not",
    "not really",
    "no that is wrong",
    "that is not correct",
    "i do not know",
    "i am not sure",
    "maybe",
    "hello",
    "hello who is this",
    "good morning",
    "good afternoon",
    "good evening",
    "hi",
    "who is this",
    "who is calling",
    "who are you",
    "where are you calling from",
    "what is this about",
    "why are you calling",
    "what is it about",
    "are you a robot",
    "call me later",
    "call me back later",
    "please call me later",
    "can you call me later",
    "call me back",
    "call me tomorrow",
    "call me tomorrow morning",
    "call me tomorrow evening",
    "call me in the evening",
    "call back in an hour",
    "please call back later",
    "i am busy",
    "i am busy right now",
    "i am busy call me later",
    "i am driving",
    "i am driving call me later",
    "i am in a meeting",
    "not now",
    "this is not a good time",
    "not interested",
    "i am not interested",
    "no i am not interested",
    "i do not want it",
    "i do not need it",
    "i already have one",
    "i am interested",
    "yes i am interested",
    "tell me more",
    "please tell me more",
    "sounds good",
    "go ahead",
    "wrong number",
    "you have the wrong number",
    "sorry wrong number",
    "this is the wrong number",
    "there is nobody by that name here",
    "stop calling me",
    "do not call me again",
    "please do not call me again",
    "do not call me",
    "never call me again",
    "stop calling",
    "remove my number from your list",
    "take me off your list",
    "do not call this number again",
    "please stop calling me",
    "speak to a person",
    "i want to speak to a person",
    "can i speak to a person",
    "i want to talk to a human",
    "transfer me to an agent",
    "connect me to an agent",
    "talk to a manager",
    "repeat",
    "please repeat that",
    "can you repeat that",
    "say that again",
    "please say that again",
    "i did not hear you",
    "i can not hear you",
    "thank you",
    "thank you very much",
    "bye",
    "goodbye",
    "okay bye",
];
