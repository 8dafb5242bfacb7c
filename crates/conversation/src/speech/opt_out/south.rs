//! Tamil, Telugu, Kannada and Malayalam: the «not» is an ending of the verb, so the phrases use stems that
//! match every ending.

use super::written::Written;

pub(super) const TAMIL: Written = Written {
    calls: "call|kaal|phone|fon|pone|message|thondharavu|thontharavu|disturb|கால்|கால|போன்|ஃபோன்|போன|மெசேஜ்|தொந்தரவு|தொல்லை|அழைப்பு|டிஸ்டர்ப்|அழைப்புகள்",
    strong: "
        கால்ஸ்|கால்|calls எனக்கு|enakku வேண்டாம்|வேணாம்|vendam|venam
        ட்ராய்|டிராய்|போலீஸ்|போலீஸ்ல|trai|police * புகார்|கம்ப்ளைன்ட்|complaint|pugar
        inimel|ini|inimele|marubadi|marubadiyum|thirumba|thirumbavum|eppovum|eppavum|இனிமேல்|இனி|இனிமே|மறுபடி|மறுபடியும்|திரும்ப|திரும்பவும்|மீண்டும்|எப்போதும்|எப்பவும் * enaku|enakku|enna|engaluku|எனக்கு|என்னை|எங்களுக்கு? $C pannadh~|pannath~|pannaad~|seyyad~|seyyath~|vendam|venam|venaam|பண்ணாதீ~|பண்ணாதே~|பண்ணாதி~|செய்யாதீ~|செய்யாதே~|வேண்டாம்|வேணாம்|போடாதீ~
        inimel|ini|marubadi|marubadiyum|thirumba|இனிமேல்|இனி|இனிமே|மறுபடி|மறுபடியும்|மீண்டும்|திரும்ப * koopidad~|koopidath~|kupidad~|kooppidad~|azhaikkad~|azhaikkath~|கூப்பிடாதீ~|கூப்பிடாதே~|கூப்பிடாதி~|அழைக்காதீ~|அழைக்காதே~
        number|numbera|நம்பர்|நம்பரை|எண்ணை|எண் * eduth~|edut~|neek~|delete|remove|எடுத்~|நீக்~|டெலிட்|அழித்~|அழி~
        list|listla|லிஸ்ட்ல|பட்டியலில்|பட்டியலிலிருந்து|லிஸ்டில் * eduth~|neek~|எடுத்~|நீக்~
        $C panradha|panratha|pannurathai|pannuvathai|seivadhai|varradha|பண்றதை|பண்றத|பண்ணுவதை|செய்வதை|வர்றத * niruth~|nirut~|stop|நிறுத்~|ஸ்டாப்
        koopidradha|koopidurathai|azhaippadhai|அழைப்பதை|கூப்பிடுறதை|கூப்பிடுவதை * niruth~|நிறுத்~
        $C niruth~|nirut~|நிறுத்~
        $C vendam|venam|venaam|வேண்டாம்|வேணாம்
    ",
    plain: "
        $C pannadh~|pannath~|pannad~|panna|panni|pannatheenga|பண்ணாதீ~|பண்ணாதே~|பண்ணாதிங்க|பண்ணக் vendam|venam|venaam|koodadhu|kudathu|kudadhu|வேண்டாம்|வேணாம்|கூடாது?
        $C panna|seyya|பண்ண|செய்ய|பண்ணவே|செய்யவே vendam|venam|venaam|koodadhu|kudathu|வேண்டாம்|வேணாம்|கூடாது
        $C seyyadh~|seyyath~|seyyaadh~|செய்யாதீ~|செய்யாதே~|போடாதீ~
        koopidadh~|kupidadh~|koopidaadh~|kooppidath~|koopidath~|koopdadh~|கூப்பிடாதீ~|கூப்பிடாதே~|கூப்பிடாதிங்க
        koopida|kupida|கூப்பிட|கூப்பிடவே vendam|venam|venaam|வேண்டாம்|வேணாம்|கூடாது
        azhaikkadh~|azhaikath~|azhaikadh~|அழைக்காதீ~|அழைக்காதே~
        azhaikka|azhaika|அழைக்க|அழைக்கவே vendam|venam|வேண்டாம்|வேணாம்|கூடாது
        thondharavu|thontharavu|தொந்தரவு|தொல்லை seyyadh~|pannadh~|tharadh~|செய்யாதீ~|பண்ணாதீ~|தராதீ~|கொடுக்காதீ~
    ",
    never: "
        மனைவிக்கு|manaivikku|wifekku $C
        ஞாயிற்றுக்கிழமை $C
        naan|nan|naanga|avar|நான்|நாங்கள்|நாங்க|அவர்|அவங்க * $C panna~|பண்ண~
        yen|ஏன் * $C
    ",
};

pub(super) const TELUGU: Written = Written {
    calls: "call|kaal|phone|fon|message|ibbandi|disturb|sampradinch~|కాల్|కాల్స్|ఫోన్|మెసేజ్|ఇబ్బంది|డిస్టర్బ్|ఫోన్లు",
    strong: "
        కాల్స్|కాల్|ఫోన్లు|calls నాకు|మాకు|naku|naaku వద్దు|అక్కర్లేదు|vaddu
        ట్రాయ్|పోలీసులకు|పోలీస్|trai|police * ఫిర్యాదు|కంప్లైంట్|complaint|firyadu
        malli|mali|malla|inka|ika|ikapai|ikameeda|inkeppudu|eppudu|eppudoo|మళ్ళీ|మళ్లీ|మరోసారి|ఇంక|ఇక|ఇకపై|ఇకమీదట|ఇంకెప్పుడూ|ఎప్పుడూ naku|naaku|maku|నాకు|మాకు|నన్ను? ee|ఈ? number|numberki|నంబర్|నంబర్కి|నెంబర్|నెంబర్కి? ki|కి? eppudu|ఎప్పుడూ? $C cheyaka~|cheyyaka~|cheyod~|cheyyod~|cheyavad~|cheyyavad~|cheyakud~|vadd~|voddu|చేయక~|చెయ్యక~|చేయొద్దు|చెయ్యొద్దు|చేయవద్దు|చెయ్యవద్దు|చేయకూడదు|వద్దు|రావద్దు
        number|నంబర్|నెంబర్|నంబర్ని|నెంబర్ని|నంబరు * teese~|tisey~|teesi~|theese~|tolag~|delete|remove|తీసే~|తీసి~|తొలగి~|డిలీట్
        list|jabita|లిస్ట్|జాబితా nunchi|nundi|నుంచి|నుండి * teese~|teesi~|tolag~|తీసే~|తీసి~|తొలగి~
        $C cheyadam|cheyyadam|cheyatam|ravadam|చేయడం|చెయ్యడం|చేయటం|రావడం * aap~|apand~|maan~|man~|aapey~|stop|ఆప~|ఆపండి|ఆపేయండి|మాన~|మానేయండి
        $C aap~|ఆప~
        $C vaddu|voddu|oddu|akkarledu|akkaraledu|వద్దు|అక్కర్లేదు|అక్కరలేదు|అవసరం
    ",
    plain: "
        $C cheyaka~|cheyyaka~|cheyoddu|cheyyoddu|cheyavaddu|cheyyavaddu|cheyakudadu|cheyaddu|cheyodhu|cheyodu|cheyyodhu|cheyyodu|chesi|chey|చేయక~|చెయ్యక~|చేయొద్దు|చెయ్యొద్దు|చేయవద్దు|చెయ్యవద్దు|చేయకూడదు|చేయద్దు
        $C cheya|cheyya|చేయ|చెయ్య vaddu|voddu|oddu|వద్దు|కూడదు
        ibbandi|ఇబ్బంది pettaka~|pettoddu|petta~|పెట్టక~|పెట్టొద్దు|పెట్టవద్దు
    ",
    never: "
        భార్యకి|భార్యకు|భర్తకి|bharyaki $C
        ఆదివారం|adivaram $C
        nenu|memu|nen|నేను|మేము|వాళ్ళు|atanu * $C chey~|చేయ~
        enduku|ఎందుకు * $C
    ",
};

pub(super) const KANNADA: Written = Written {
    calls: "call|kaal|phone|fon|message|tondare|thondare|disturb|ಕಾಲ್|ಫೋನ್|ಮೆಸೇಜ್|ತೊಂದರೆ|ಕರೆ|ಡಿಸ್ಟರ್ಬ್|kare",
    strong: "
        ಡಿಎನ್ಡಿಗೆ|ಡಿಎನ್ಡಿ|dnd * ಹಾಕಿ|haki
        ತೊಂದರೆ|tondare ಕೊಡೋದನ್ನ|ಕೊಡೋದನ್ನು|ಕೊಡುವುದನ್ನು|kododanna ನಿಲ್ಲಿ~|nilli~
        ಕಾಲ್|ಕಾಲ್ಗಳು|ಕರೆಗಳು|calls ನನಗೆ|ನಂಗೆ|nanage|nange ಬೇಡ|beda
        ಟ್ರಾಯ್|ಪೊಲೀಸ್|ಪೊಲೀಸರಿಗೆ|trai|police * ದೂರು|ಕಂಪ್ಲೇಂಟ್|complaint|duru
        matte|mathe|innu|innumele|inmele|mundhe|munde|innondu|yavattu|yavagalu|yavathu|ಮತ್ತೆ|ಇನ್ನು|ಇನ್ನುಮೇಲೆ|ಇನ್ಮೇಲೆ|ಮುಂದೆ|ಇನ್ನೊಮ್ಮೆ|ಯಾವತ್ತೂ|ಯಾವಾಗಲೂ|ಎಂದಿಗೂ mundhe|munde|mele|ಮುಂದೆ|ಮೇಲೆ|yavattu|ಯಾವತ್ತೂ? nanage|nange|namage|ನನಗೆ|ನಂಗೆ|ನಮಗೆ? ee|ಈ? number|numberge|ನಂಬರ್|ನಂಬರ್ಗೆ|ನಂಬರಿಗೆ? ge|ಗೆ? $C madb~|maadb~|madab~|maadab~|beda|bedi|ಮಾಡಬೇಡ~|ಮಾಡ್ಬೇಡ~|ಮಾಡಬಾರ~|ಬೇಡ|ಬೇಡಿ
        number|ನಂಬರ್|ನಂಬರನ್ನು|ನಂಬರ * tegedu|tegi~|thegi~|tege~|delete|remove|ತೆಗೆದು|ತೆಗೆ~|ತೆಗಿ~|ಅಳಿಸಿ|ಡಿಲೀಟ್
        list|patti|ಲಿಸ್ಟ್|ಪಟ್ಟಿ|ಪಟ್ಟಿಯಿಂದ|ಲಿಸ್ಟ್ನಿಂದ inda|ninda|ಇಂದ|ನಿಂದ? * tegedu|tege~|tegi~|ತೆಗೆ~|ತೆಗಿ~
        $C maduvudannu|madodanna|madodu|maadodanna|baruvudannu|ಮಾಡುವುದನ್ನು|ಮಾಡೋದನ್ನು|ಮಾಡೋದನ್ನ|ಮಾಡೋದು|ಬರುವುದನ್ನು * nilli~|nills~|stop|ನಿಲ್ಲಿ~
        $C nilli~|ನಿಲ್ಲಿ~
        $C beda|bedi|bekilla|ಬೇಡ|ಬೇಕಾಗಿಲ್ಲ|ಬೇಕಿಲ್ಲ
    ",
    plain: "
        $C madbedi|madbeda|maadbedi|maadbeda|madabedi|madabeda|maadabedi|madabedri|madbyadi|madbyadri|madbeḍi|ಮಾಡಬೇಡಿ|ಮಾಡಬೇಡ|ಮಾಡ್ಬೇಡಿ|ಮಾಡ್ಬೇಡ|ಮಾಡಬೇಡ್ರಿ
        $C mada|maada|ಮಾಡ|ಮಾಡೋದು|ಮಾಡುವುದು bedi|beda|ಬೇಡಿ|ಬೇಡ
        $C madabaradu|madbardu|madbaaradu|ಮಾಡಬಾರದು|ಮಾಡ್ಬಾರ್ದು
        $C kodabedi|kodbedi|ಕೊಡಬೇಡಿ|ಕೊಡ್ಬೇಡಿ
    ",
    never: "
        ಹೆಂಡತಿಗೆ|hendatige $C
        ಭಾನುವಾರ|bhanuvara $C
        nanu|naanu|navu|ನಾನು|ನಾವು|ಅವರು * $C mad~|ಮಾಡ~
        yake|ಯಾಕೆ|ಏಕೆ * $C
    ",
};

pub(super) const MALAYALAM: Written = Written {
    calls: "call|kol|phone|fon|message|salyam|shalyam|salyapedut~|disturb|കോൾ|കോള്‍|ഫോൺ|ഫോണ്‍|മെസേജ്|ശല്യം|ശല്യ|ബുദ്ധിമുട്ട്|കോളുകൾ|ഡിസ്റ്റർബ്",
    strong: "
        കോളുകൾ|കോൾ|calls എനിക്ക്|enikku|enik വേണ്ട|venda
        ട്രായ്|പോലീസിൽ|പൊലീസിൽ|trai|police|policil * പരാതി~|parathi|complaint
        ini|iniyum|iny|veendum|vindum|pinne|orikkalum|inimel|ഇനി|ഇനിയും|വീണ്ടും|പിന്നെ|ഒരിക്കലും|ഇനിമേൽ orikkalum|mel|muthal|മേൽ|മുതൽ|ഒരിക്കലും? enne|enikku|njangale|ennea|എന്നെ|എനിക്ക്|ഞങ്ങളെ|എന്നേ? ee|ഈ? number|numberil|നമ്പറിൽ|നമ്പറിലേക്ക്? ilekku|il|ഇൽ? vilikkar~|vilikar~|vilikkand~|vilikand~|vilikkend~|vilikkalle|വിളിക്കരു~|വിളിക്കണ്ട~|വിളിക്കേണ്ട~|വിളിക്കല്ലേ
        ini|iniyum|veendum|vindum|orikkalum|ഇനി|ഇനിയും|വീണ്ടും|ഒരിക്കലും * $C cheyyar~|cheyyand~|cheyar~|cheyyal~|venda|ചെയ്യരു~|ചെയ്യണ്ട~|ചെയ്യേണ്ട~|ചെയ്യല്ലേ|വേണ്ട
        number|nambar|നമ്പർ|നമ്പര്‍ * kalay~|kala|neek~|maattu|delete|remove|ozhiv~|mattu~|കളയ~|കളയൂ|നീക്ക~|ഡിലീറ്റ്|ഒഴിവാ~|മാറ്റ~
        list|listil|ലിസ്റ്റിൽ|പട്ടികയിൽ|ലിസ്റ്റിൽനിന്ന് ninnu|nin|നിന്ന്|നിന്നും? * neek~|ozhiv~|maat~|നീക്ക~|ഒഴിവാ~|മാറ്റ~
        vilikkunnathu|vilikkunnath|vilikkunnatu|viliku~|വിളിക്കുന്നത്|വിളിക്കുന്നതു|വിളി * nirth~|nirut~|nirt~|stop|നിർത്ത~|നിറുത്ത~
        $C cheyyunnathu|cheyyunnath|varunnathu|ചെയ്യുന്നത്|വരുന്നത് * nirth~|nirut~|നിർത്ത~|നിറുത്ത~
        $C nirth~|nirut~|നിർത്ത~
        $C venda|vendaa|വേണ്ട|ആവശ്യമില്ല
    ",
    plain: "
        vilikkaruth~|vilikkarut~|vilikarut~|vilikkanda|vilikanda|vilikkenda|vilikkalle|vilikkale|വിളിക്കരു~|വിളിക്കണ്ട~|വിളിക്കേണ്ട~|വിളിക്കല്ലേ|വിളിക്കാതി~
        $C cheyyaruth~|cheyyarut~|cheyarut~|cheyyanda|cheyanda|cheyyenda|cheyyalle|ചെയ്യരു~|ചെയ്യണ്ട~|ചെയ്യേണ്ട~|ചെയ്യല്ലേ
        salyappedutharuth~|salyapeduttarut~|shalyam|salyam|ശല്യപ്പെടുത്തരു~|ശല്യം cheyyarut~|undakkarut~|ചെയ്യരു~|ഉണ്ടാക്കരു~?
    ",
    never: "
        njan|njaan|ഞാൻ|ഞങ്ങൾ|അവൻ * $C cheyy~|ചെയ്യ~
        enthinu|entha|എന്തിന്|എന്താ * vilik~|വിളിക്ക~
    ",
};

/// Words of time in these four languages.
pub(super) const TIMES: &str = "
    ippo|ippa|ippodhu|ippothu|inniku|innaiku|naalaiku|naalai|aprom|apram|piragu|kaalai|kalaila|saayangalam|maalai|nightla|manikku
    இப்போ|இப்ப|இப்போது|இன்னைக்கு|இன்று|நாளை|நாளைக்கு|அப்புறம்|பிறகு|காலை|காலையில்|சாயங்காலம்|மாலை|இரவு|மணிக்கு|நேரத்தில்|பிஸி
    ippudu|ippuḍu|ivala|ivvala|eeroju|repu|tarvata|tharvatha|taruvata|udayam|sayantram|ratri|gantalaki|gantalaku
    ఇప్పుడు|ఇప్పుడే|ఇవాళ|ఈరోజు|రేపు|తర్వాత|తరువాత|ఉదయం|సాయంత్రం|రాత్రి|గంటలకు|గంటలకి|సమయంలో|బిజీ
    iga|eega|ivaga|ivattu|naale|nale|amele|aamele|nantara|belagge|belige|sanje|ratri|gantege
    ಈಗ|ಇವಾಗ|ಇವತ್ತು|ಇಂದು|ನಾಳೆ|ಆಮೇಲೆ|ನಂತರ|ಬೆಳಿಗ್ಗೆ|ಸಂಜೆ|ರಾತ್ರಿ|ಗಂಟೆಗೆ|ಸಮಯದಲ್ಲಿ|ಬ್ಯುಸಿ
    ippol|ippo|innu|nale|naale|pinneed|pinnidu|pinne|ravile|vaikunneram|vaikittu|rathri|manikku|shesham
    ഇപ്പോൾ|ഇപ്പോ|ഇന്ന്|നാളെ|പിന്നീട്|രാവിലെ|വൈകുന്നേരം|വൈകിട്ട്|രാത്രി|മണിക്ക്|ശേഷം|തിരക്കി~
";

/// Words that mean «never» in these four languages.
pub(super) const FOR_GOOD: &str = "
    inimel|marubadiyum|marubadi|eppovum
    இனிமேல்|இனிமே|மறுபடியும்|மறுபடி|மீண்டும்|எப்போதும்
    malli|ikapai|inkeppudu|eppudu
    మళ్ళీ|మళ్లీ|ఇకపై|ఇంకెప్పుడూ|ఎప్పుడూ
    matte|innumele|inmele|yavattu
    ಮತ್ತೆ|ಇನ್ನುಮೇಲೆ|ಇನ್ಮೇಲೆ|ಯಾವತ್ತೂ|ಎಂದಿಗೂ
    iniyum|veendum|orikkalum
    ഇനിയും|വീണ്ടും|ഒരിക്കലും
";
