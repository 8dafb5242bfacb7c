//! Hindi, Punjabi, Gujarati and Marathi: the verb comes last, with the «not» next to it.

use super::written::Written;

pub(super) const HINDI: Written = Written {
    calls: "call|kal|kol|calls|phone|fon|phon|message|msg|sampark|contact|pareshan|disturb|tang|कॉल|काल|काॅल|फोन|मैसेज|संपर्क|परेशान|डिस्टर्ब|तंग",
    strong: "
        $C|कॉल्स|calls nahi|nahin|नहीं|नही aani|आनी chahiye|चाहिए
        कॉल्स|calls|मार्केटिंग nahi|nahin|नहीं|नही chahiye|चाहिए|चाहिये
        ट्राई|trai|पुलिस|उपभोक्ता|कंज्यूमर|consumer * शिकायत|कंप्लेंट|complaint|complain|shikayat
        dobara|dubara|dobaara|phir|fir|kabhi|aage|aainda|aaindaa|दोबारा|दुबारा|फिर|कभी|आगे|आइंदा|आईंदा se|से|bhi|भी|kabhi|कभी? mujhe|hame|hamein|humko|mujhko|मुझे|हमें|मुझको? is|इस? number|नंबर? pe|par|पे|पर? $C mat|मत
        dobara|dubara|dobaara|phir|fir|kabhi|aage|aainda|aaindaa|दोबारा|दुबारा|फिर|कभी|आगे|आइंदा|आईंदा se|से|bhi|भी|kabhi|कभी? mujhe|hame|hamein|humko|mujhko|मुझे|हमें|मुझको? is|इस? number|नंबर? pe|par|पे|पर? $C na|nahi|nahin|nai|न|ना|नहीं|नही karna|karo|kare|karein|karen|kijiye|kijiyega|kariye|kariyega|aana|aaye|aani|करना|करो|करें|करे|कीजिए|कीजिएगा|करिए|करिएगा|आना|आए
        $C mat|na|nahi|nahin|मत|न|ना|नहीं kijiyega|kariyega|karna|kijiye|kariye|karo|kare|karein|कीजिएगा|करिएगा|करना|कीजिए|करिए|करो|करें|करे dobara|dubara|kabhi|phir|aage|aainda|दोबारा|दुबारा|कभी|फिर|आगे|आइंदा
        mat|na|मत|न $C kijiye|kariye|karo|karna|kare|karein|कीजिए|करिए|करो|करना|करें dobara|kabhi|phir|दोबारा|कभी|फिर
        $C karna|karne|karana|aana|aane|krna|करना|करने|आना|आने * band|bandh|bund|बंद|बन्द
        $C band|bandh|बंद|बन्द karo|kijiye|kar|kare|karein|kariye|करो|कीजिए|कर|करें|करिए
        number|नंबर * hata|hatao|hataiye|hataa|delete|nikal|nikalo|nikaal|mita|remove|block|हटा|हटाओ|हटाइए|डिलीट|निकाल|निकालो|मिटा|ब्लॉक
        list|लिस्ट se|से * hata|hatao|nikal|nikalo|nikaal|remove|हटा|हटाओ|निकाल|निकालो|हटाइए
        $C nahi|nahin|nai|नहीं|नही chahiye|chaiye|chahie|चाहिए|चाहिये
        $C nahi|nahin|नहीं|नही aana|aane|आना|आने chahiye|chaiye|चाहिए
        dnd|डीएनडी * daal|dal|dalo|laga|lagao|active|activate|hai|डाल|डालो|लगा|लगाओ|चालू|है
        aaj|ab|आज|अब ke|se|के|से baad|बाद? * $C mat|na|nahi|मत|न|ना|नहीं
        kabhi|कभी * $C mat|मत|na|न
    ",
    plain: "
        $C mat|मत karo|kro|karna|krna|kijiye|kijiyega|kariye|kariyega|kare|karein|karen|kar|lagao|lagana|maro|kiya|करो|करना|कीजिए|कीजिएगा|करिए|करिएगा|करें|करे|कर|लगाओ|लगाना|किया
        mat|मत $C karo|kro|karna|kijiye|kariye|kare|karein|kiya|करो|करना|कीजिए|करिए|करें|किया
        $C na|naa|न|ना karo|karna|kare|karein|karen|kijiye|kariye|kiya|karein|करें|करना|करो|कीजिए|करिए|करे|किया
        $C nahi|nahin|नहीं|नही karna|karne|kare|karein|karo|kijiye|करना|करें|कीजिए
        $C karo|karna|kare|karein|kiya|करो|करना|करें|किया mat|मत
    ",
    never: "
        पत्नी|बीवी|पति|बेटे|बेटी|patni|biwi|pati को|ko $C
        main|mai|maine|hum|humne|woh|wo|usne|unhone|मैं|मैंने|हम|हमने|वह|उसने * $C nahi|nahin|na|नहीं|नही
        kyon|kyu|kyun|kyo|क्यों|क्यूं * $C nahi|nahin|नहीं
        $C kyon|kyu|kyun|क्यों nahi|nahin|नहीं
        $C nahi|नहीं|nahin|mat|na karna|karne|करना|करने padega|chahta|chahti|sakta|sakti|पड़ेगा|चाहता|चाहती|सकता|सकती
        agar|अगर|yadi|यदि * $C na|nahi|nahin|न|नहीं
    ",
};

pub(super) const PUNJABI: Written = Written {
    calls: "call|kall|kol|phone|fon|message|sampark|tang|pareshan|ਕਾਲ|ਕਾਲਾਂ|ਫੋਨ|ਫ਼ੋਨ|ਮੈਸੇਜ|ਸੰਪਰਕ|ਤੰਗ|ਪਰੇਸ਼ਾਨ|ਪ੍ਰੇਸ਼ਾਨ",
    strong: "
        ਟਰਾਈ|ਪੁਲਿਸ|ਪੁਲੀਸ|trai|police * ਸ਼ਿਕਾਇਤ|shikayat
        mud|mudke|mur|dobara|dubara|phir|fer|kade|kadi|agge|ਮੁੜ|ਮੁੜਕੇ|ਦੁਬਾਰਾ|ਦੋਬਾਰਾ|ਫਿਰ|ਫੇਰ|ਕਦੇ|ਅੱਗੇ ke|kade|ton|to|vi|ਕੇ|ਕਦੇ|ਤੋਂ|ਵੀ? mainu|menu|sanu|ਮੈਨੂੰ|ਸਾਨੂੰ? is|es|ਇਸ? number|ਨੰਬਰ? te|utte|ਤੇ|ਉੱਤੇ? $C na|naa|nahi|nahin|ਨਾ|ਨਹੀਂ
        $C karna|karne|karni|karniya|aune|auna|ਕਰਨਾ|ਕਰਨੇ|ਕਰਨੀ|ਕਰਨੀਆਂ|ਆਉਣੇ|ਆਉਣਾ * band|bandh|ਬੰਦ
        $C band|ਬੰਦ karo|kar|kardo|ਕਰੋ|ਕਰ|ਕਰਦੋ
        number|ਨੰਬਰ * hata|hatao|hatado|kadh|kaddo|kad|delete|mita|ਹਟਾ|ਹਟਾਓ|ਹਟਾਉ|ਕੱਢ|ਕੱਢੋ|ਮਿਟਾ|ਡਿਲੀਟ
        list|ਲਿਸਟ ton|to|vichon|ਤੋਂ|ਵਿੱਚੋਂ|ਵਿਚੋਂ * hata|hatao|kadh|kaddo|ਹਟਾ|ਹਟਾਓ|ਕੱਢ|ਕੱਢੋ
        $C nahi|nahin|nai|ਨਹੀਂ chahida|chahidi|chahide|ਚਾਹੀਦਾ|ਚਾਹੀਦੀ|ਚਾਹੀਦੇ|ਚਾਹੀਦੀਆਂ
    ",
    plain: "
        $C na|naa|ਨਾ karo|kareo|kareyo|karyo|kario|karna|karni|kar|karin|ਕਰੋ|ਕਰਿਓ|ਕਰਿਉ|ਕਰਨਾ|ਕਰਨੀ|ਕਰ|ਕਰੀਂ
        na|ਨਾ $C karo|kareo|kareyo|karyo|ਕਰੋ|ਕਰਿਓ|ਕਰਿਉ
        $C nahi|nahin|ਨਹੀਂ karna|karni|karo|ਕਰਨਾ|ਕਰਨੀ|ਕਰੋ
        $C mat|ਮਤ karo|karna|ਕਰੋ|ਕਰਨਾ
    ",
    never: "
        ਪਤਨੀ|ਘਰਵਾਲੀ|patni ਨੂੰ|nu $C
        ਐਤਵਾਰ|aitvaar ਨੂੰ|nu? $C
        main|asi|oh|usne|ਮੈਂ|ਅਸੀਂ|ਉਹ|ਉਸਨੇ * $C nahi|na|nahin|ਨਹੀਂ|ਨਾ
        kyon|kyu|ਕਿਉਂ * $C nahi|na|nahin|ਨਹੀਂ
        je|jekar|ਜੇ|ਜੇਕਰ * $C na|nahi|ਨਾ|ਨਹੀਂ
    ",
};

pub(super) const GUJARATI: Written = Written {
    calls: "call|kol|phone|fon|message|sampark|heran|hairan|disturb|કોલ|કૉલ|ફોન|મેસેજ|સંપર્ક|હેરાન|ડિસ્ટર્બ",
    strong: "
        નંબર|number * ડીએનડીમાં|ડીએનડી|dnd
        હવે|have પછી|pachi * $C ન|ના|na
        ટ્રાઈ|પોલીસ|trai|police * ફરિયાદ|fariyad
        fari|farithi|fari thi|pachho|pachha|kyarey|kyare|kadi|have|havethi|ફરી|ફરીથી|પાછો|પાછા|ક્યારેય|કદી|હવે|હવેથી thi|pan|kyarey|થી|પણ|ક્યારેય? mane|amne|મને|અમને? aa|આ? number|નંબર? par|upar|પર|ઉપર? $C na|naa|nahi|nahin|nai|ન|ના|નહીં|નહિ
        $C karvanu|karvano|karva|karvu|aavvanu|કરવાનું|કરવાનો|કરવા|કરવું|આવવાનું * bandh|band|બંધ
        $C bandh|band|બંધ karo|kari|kar|karjo|કરો|કરી|કર|કરજો
        number|નંબર * kadhi|kadho|kaadhi|delete|hatavi|hatavo|nikali|કાઢી|કાઢો|ડિલીટ|હટાવી|હટાવો|નીકાળી|દૂર
        list|yadi|લિસ્ટ|યાદી mathi|ma thi|માંથી * kadhi|kadho|kaadhi|hatavo|કાઢી|કાઢો|હટાવો
        $C nathi|નથી joito|joita|joitu|joiti|joie|joiye|જોઈતો|જોઈતા|જોઈતું|જોઇતો|જોઇતા
        $C nathi|નથી joi~|જો~
        $C na|ન|ના joie|joiye|જોઈએ|જોઇએ
    ",
    plain: "
        $C na|naa|ન|ના karo|karsho|karso|karta|karva|karjo|karish|કરો|કરશો|કરતા|કરવો|કરવા|કરજો|કરીશ
        $C karsho|karso|karta|karo|karjo|કરશો|કરતા|કરો|કરજો nahi|nahin|nai|na|નહીં|નહિ|નહી|ના
        $C nahi|nahin|નહીં|નહિ karo|karsho|karta|karva|karvo|કરો|કરશો|કરતા|કરવો|કરવા
        na|ન|ના $C karo|karsho|karta|કરો|કરશો|કરતા
    ",
    never: "
        પત્નીને|પતિને|દીકરાને|patnine|patine $C
        રવિવારે|શનિવારે|રવિવાર|ravivare|shanivare $C
        hu|hun|ame|te|tene|હું|અમે|તે|તેણે|મેં * $C nathi|na|nahi|નથી|ન|નહીં
        kem|કેમ|શા * $C na|nathi|nahi|ન|નથી|નહીં
        jo|જો * $C na|nahi|ન|નહીં
    ",
};

pub(super) const MARATHI: Written = Written {
    calls: "call|kol|phone|fon|message|sampark|tras|disturb|कॉल|काल|फोन|मेसेज|संपर्क|त्रास|डिस्टर्ब",
    strong: "
        नंबर|number * डीएनडी|डीएनडीमध्ये|dnd
        ट्राय|ट्राई|पोलिस|पोलिसात|trai|police * तक्रार|takrar
        punha|parat|kadhihi|kadhich|kadhi|pudhe|yapudhe|पुन्हा|परत|कधीही|कधीच|कधी|पुढे|यापुढे mala|amhala|मला|आम्हाला? hya|ya|ह्या|या? number|numbervar|नंबर|नंबरवर? var|वर? kadhihi|कधीही? $C naka|nako|nakos|karu|karun|karayche|नका|नको|नकोस|करू|करु
        $C karne|karna|karaycha|karayche|karayla|yene|करणे|करणं|करायचे|करायचा|करायला|येणे * band|bandh|bund|thamba|thambva|बंद|थांबवा
        $C band|बंद kara|karaa|kar|karun|करा|कर|करून
        number|नंबर * kadhun|kadha|kaadhun|delete|hatva|kadun|काढून|काढा|डिलीट|हटवा
        list|yadi|यादी|लिस्ट madhun|tun|मधून|तून * kadha|kadhun|काढा|काढून|हटवा
        yaditun|listmadhun|यादीतून|लिस्टमधून * kadha|kadhun|काढा|काढून|हटवा
        $C nako|nakoy|nakot|नको|नकोय|नकोत aahe|aahet|आहे|आहेत|ahe?
    ",
    plain: "
        $C karu|karoo|kru|करू|करु naka|nako|nakos|नका|नको|नकोस
        $C naka|nako|नका|नको karu|karoo|करू|करु
        $C karaycha|karayche|करायचा|करायचे nahi|nahiye|नाही
        naka|नका $C karu|करू|करु
        $C deu|देऊ|देउ naka|nako|नका|नको
    ",
    never: "
        बायकोला|पत्नीला|नवऱ्याला|मुलाला|baykola|patnila $C
        रविवारी|शनिवारी|ravivari $C
        mi|me|amhi|to|tyane|मी|आम्ही|तो|त्याने * $C nahi|kela nahi|नाही
        ka|का * $C nahi|नाही
        jar|जर * $C nahi|naka|नाही
    ",
};

/// Words of time in these four languages.
pub(super) const TIMES: &str = "
    abhi|abi|aaj|kal|baad|subah|shaam|sham|raat|dopahar|pehle|tak|baje|busy|meeting|drive|gaadi|office|so|thodi|der|waqt|time
    is samay
    अभी|आज|कल|बाद|सुबह|शाम|रात|दोपहर|पहले|तक|बजे|व्यस्त|मीटिंग|ऑफिस|थोड़ी|देर|समय|वक्त|टाइम|बिज़ी
    hun|hune|huni|ajj|kall|bhalke|baad|shami|savere|raati|pehlan|vaje|bajje
    ਹੁਣ|ਹੁਣੇ|ਅੱਜ|ਕੱਲ੍ਹ|ਕੱਲ|ਭਲਕੇ|ਬਾਅਦ|ਸ਼ਾਮ|ਸਵੇਰੇ|ਰਾਤ|ਰਾਤੀਂ|ਪਹਿਲਾਂ|ਵਜੇ|ਸਮੇਂ|ਟਾਈਮ
    atyare|hamna|aaje|kale|aavtikale|pachi|pachhi|savare|saanje|ratre|vagye|vaagye|pehla|samaye
    અત્યારે|હમણાં|હમણા|આજે|કાલે|આવતીકાલે|પછી|સવારે|સાંજે|રાત્રે|વાગ્યે|વાગે|પહેલાં|સમયે|ટાઈમ|વ્યસ્ત
    aatta|atta|aata|aaj|udya|nantar|sakali|sandhyakali|ratri|vajta|vajata|dupari|velela|adhi
    आत्ता|आता|आज|उद्या|नंतर|सकाळी|संध्याकाळी|रात्री|वाजता|दुपारी|वेळेला|वेळी|आधी
";

/// Words that mean «never» in these four languages.
pub(super) const FOR_GOOD: &str = "
    dobara|dubara|kabhi|aainda
    aage se
    aaj ke baad
    ab se
    phir se
    phir kabhi
    दोबारा|दुबारा|कभी|आइंदा
    आगे से
    आज के बाद
    अब से
    फिर से
    फिर कभी
    kade
    mud ke
    kade vi
    ajj ton baad
    agge ton
    ਮੁੜ|ਮੁੜਕੇ|ਦੁਬਾਰਾ|ਕਦੇ
    ਅੱਜ ਤੋਂ ਬਾਅਦ
    ਅੱਗੇ ਤੋਂ
    farithi|fari|kyarey|havethi
    aaj pachi
    ફરીથી|ફરી|ક્યારેય|હવેથી
    આજ પછી
    punha|parat|kadhihi|kadhich|yapudhe|aajpasun
    पुन्हा|परत|कधीही|कधीच|यापुढे|आजपासून
";
