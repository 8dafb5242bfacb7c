//! Stemming, and stop words.
//!
//! English and Tamil have the Snowball stemmers. The other languages lose the longest ending of a list that leaves two
//! consonants; a wrong ending costs a little precision and no hit, because queries and passages lose the same.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::LazyLock;

use frostem::{Algorithm, Stemmer};

use crate::text::{
    BENGALI, DEVANAGARI, GUJARATI, GURMUKHI, KANNADA, MALAYALAM, ODIA, Script, TAMIL, TELUGU, Word, place,
    words,
};

/// Endings of Hindi and, after them, of Marathi, which shares the script.
const OF_DEVANAGARI: &str = "ो े ू ु ी ि ा \
    कर ाओ िए ाई ाए ने नी ना ते ीं ती ता ां ों ें \
    ाकर ाइए ाईं ाया ेगी ेगा ोगी ोगे ाने ाना ाते ाती ाता तीं ाओं ाएं ुओं ुएं ुआं \
    ाएगी ाएगा ाओगी ाओगे एंगी ेंगी एंगे ेंगे ूंगी ूंगा ातीं नाओं नाएं ताओं ताएं ियां ियों \
    ाएंगी ाएंगे ाऊंगी ाऊंगा \
    ाच्या ांच्या ीच्या च्या ाची ाचे ाचा ांची ांचे ांचा ांना ांनी ाला ीला ाने ीने ातून ाहून ामध्ये ांमध्ये मध्ये \
    ासाठी ांसाठी साठी ावर ांवर ीवर ात ांत ीत ाशी ांशी";
const OF_BENGALI: &str = "ের র কে তে এর য় েরা রা গুলো গুলি গুলোর গুলির দের টি টা টির টার ে য়ে েন ছেন ছে ছি বেন বে বো \
    ানো ান া ি ী";
const OF_GURMUKHI: &str = "ਾ ੀ ੇ ੋ ਾਂ ੀਆਂ ਿਆਂ ਆਂ ੇਂ ਦਾ ਦੀ ਦੇ ਦੀਆਂ ਣਾ ਣੀ ਣੇ ਣ ੇਗਾ ੇਗੀ ਣਗੇ ਾਂਗੇ ਿਆ ਕੇ";
const OF_GUJARATI: &str = "ો ા ી ે ું ં ાં ોને ોની ોનો ોનું ોના માં ોમાં થી ોથી નો ની નું ના ને એ ઓ ઓને ઓની ઓમાં \
    વું વા વો વી શે શો ીશ ીએ ેલ ેલું";
const OF_ODIA: &str = "ର ରେ କୁ ରୁ ଟି ଟିର ଗୁଡ଼ିକ ଗୁଡିକ ଗୁଡିକର ମାନେ ମାନଙ୍କ ମାନଂକ ମାନଂକର ଂକ ଂକର ଂକୁ ିବା ିବାକୁ ିବେ ିବ \
    ନ୍ତି ଂତି ିଛି ିଛନ୍ତି ିଛଂତି ା ି ୀ ୁ େ";
const OF_TELUGU: &str = "ు ి ా ే ో ం లు లను లకు లో లోని తో కి కు ను ని నికి డు గా పై యొక్క లలో లతో ాలు ాలను ాలకు \
    ాల ానికి ాన్ని ంలో ంతో వచ్చు ాలి ండి ంది తుంది తారు తాము తాను ాము ారు ల";
const OF_KANNADA: &str = "ು ಿ ೆ ಾ ಗಳು ಗಳನ್ನು ಗಳಿಗೆ ಗಳ ಗಳಲ್ಲಿ ವನ್ನು ಅನ್ನು ನ್ನು ಯನ್ನು ಕ್ಕೆ ಕ್ಕಾಗಿ ಗೆ ಿಗೆ ಯಿಂದ ದಿಂದ ಿಂದ \
    ದಲ್ಲಿ ಯಲ್ಲಿ ಲ್ಲಿ ದ ಯ ನ ಿನ ವು ಬಹುದು ಬೇಕು ುತ್ತದೆ ುತ್ತೇವೆ ುತ್ತಾರೆ ಲು ಅಲ್ಲಿ";
const OF_MALAYALAM: &str = "് ം ി ു ാ കള് കളെ കളുടെ കളില് ങ്ങള് ങ്ങളെ ങ്ങളുടെ ങ്ങളില് ത്തില് ത്തിന് ത്തിന്റെ ത്തിലെ ത്തെ \
    ിന്റെ യുടെ ുടെ ില് യില് ിലെ ിന് യ്ക്ക് ക്ക് ോട് ാല് യെ െ യും ും ണം ുന്നു ാം ാന്";

struct Endings(Vec<Vec<char>>);

impl Endings {
    fn of(list: &str) -> Self {
        let mut endings: Vec<Vec<char>> =
            list.split_whitespace().map(|ending| ending.chars().collect()).collect();
        endings.sort_by_key(|ending| std::cmp::Reverse(ending.len()));
        Self(endings)
    }

    fn strip(&self, word: &str) -> Option<String> {
        let letters: Vec<char> = word.chars().collect();
        let left = self.0.iter().filter(|ending| letters.ends_with(ending)).find_map(|ending| {
            let left = &letters[..letters.len() - ending.len()];
            let consonants = left.iter().filter(|letter| is_consonant(**letter)).count();
            (consonants >= 2
                && left.len() + ending.len() > 3
                && left.last().is_some_and(|last| !is_virama(*last)))
            .then_some(left)
        })?;
        Some(left.iter().collect())
    }
}

fn is_consonant(letter: char) -> bool {
    place(letter).is_some_and(|(_, offset)| matches!(offset, 0x15..=0x39 | 0x58..=0x5F))
}

fn is_virama(letter: char) -> bool {
    place(letter).is_some_and(|(_, offset)| offset == crate::text::VIRAMA)
}

static ENDINGS: LazyLock<[(u32, Endings); 8]> = LazyLock::new(|| {
    [
        (DEVANAGARI, Endings::of(OF_DEVANAGARI)),
        (BENGALI, Endings::of(OF_BENGALI)),
        (GURMUKHI, Endings::of(OF_GURMUKHI)),
        (GUJARATI, Endings::of(OF_GUJARATI)),
        (ODIA, Endings::of(OF_ODIA)),
        (TELUGU, Endings::of(OF_TELUGU)),
        (KANNADA, Endings::of(OF_KANNADA)),
        (MALAYALAM, Endings::of(OF_MALAYALAM)),
    ]
});

/// The stem of a word.
pub fn stem(word: &Word) -> Cow<'_, str> {
    match word.script {
        Script::Latin if word.text.bytes().all(|byte| byte.is_ascii_lowercase()) => {
            Stemmer::new(Algorithm::English).stem(&word.text)
        }
        Script::Indian(TAMIL) => Stemmer::new(Algorithm::Tamil).stem(&word.text),
        Script::Indian(block) => {
            let endings = ENDINGS.iter().find(|(known, _)| *known == block);
            match endings.and_then(|(_, endings)| endings.strip(&word.text)) {
                Some(stem) => Cow::Owned(stem),
                None => Cow::Borrowed(&word.text),
            }
        }
        Script::Latin | Script::Other => Cow::Borrowed(&word.text),
    }
}

/// Stop words of questions, in the languages and in Latin letters as people type them. Words that ask for a place or a
/// time are among them: passages do not contain them.
const STOP_WORDS: &str = "\
    a an the is are was were be been am do does did has have had will would can could shall should may might must i me my \
    we us our you your he she it its they them their this that these those there here what which who whom whose when where \
    why how of in on at to for from by with about into as and or but if then than so not no any some please tell want need \
    get know let also just \
    है हैं था थी थे हो होता होती होते हूं का की के को से में पर ने और या तो भी ही यह ये वह वो इस उस इन उन मेरा मेरी मेरे मुझे मैं हम हमारा हमारी \
    हमारे आप आपका आपकी आपके आपको अपना अपनी अपने तुम क्या कब कहां कैसे कौन कौनसा कौनसी क्यों कितना कितनी कितने किस किसे एक लिए साथ कर करना \
    करने करते करूं करें किया जा जाता जाती सकता सकती सकते चाहिए चाहता रहा रही रहे गया गई गए बता बताइए बताओ कि जो जब अगर नहीं \
    hai hain tha thi the ho hota hoti hote hu hun hoon ka ki ke ko se mein me par pe ne aur ya to bhi hi yeh ye woh wo is us \
    mera meri mere mujhe main mai hum hamara aap aapka aapki aapke aapko apna apni apne tum kya kab kahan kaha kaise kese kaun \
    kaunsa kaunsi kyon kyu kyun kitna kitni kitne kis kise ek liye saath kar karna karne karte karu karun karen kare kiya ja \
    jata jati sakta sakti sakte chahiye chahie raha rahi rahe gaya gayi gaye bata bataiye batao jo jab agar nahi nahin kripya \
    कृपया \
    என் எனது என எனக்கு நான் நாங்கள் எங்கள் உங்கள் நீங்கள் உங்களுக்கு இது அது இந்த அந்த ஒரு என்ன எப்போது எங்கே எங்கு எப்படி யார் ஏன் எவ்வளவு எத்தனை \
    மற்றும் அல்லது ஆகும் உள்ளது இருக்கிறது இருக்கும் முடியுமா முடியும் வேண்டும் செய்ய \
    en enakku naan enga engal ungal neenga idhu adhu indha andha oru enna eppo eppothu enge engu eppadi yaar yen evvalavu \
    ethanai mudiyuma mudiyum venum vendum irukku seiya \
    నా నాకు నేను మా మాకు మీ మీకు మీరు ఇది అది ఈ ఆ ఒక ఏమిటి ఏంటి ఎప్పుడు ఎక్కడ ఎలా ఎవరు ఎందుకు ఎంత ఎన్ని మరియు లేదా ఉంది ఉన్నాయి ఉంటుంది చేయాలి \
    చేయవచ్చా కావాలి \
    naa naaku nenu maa maaku mee meeku meeru idi adi oka emiti enti eppudu ekkada ela evaru enduku entha enni undi unnayi \
    kavali cheyali \
    আমার আমি আমাকে আমরা আমাদের আপনার আপনি আপনাদের এটা এটি সেটা এই সেই একটি কি কী কখন কবে কোথায় কীভাবে কিভাবে কে কেন কত কোন এবং ও বা আছে হয় হবে করতে \
    করা করব চাই amar ami amake apnar apni eta ei ki kokhon kobe kothay kivabe keno koto ache hobe korte chai \
    माझा माझी माझे मला मी आम्ही आमचा तुमचा तुमची तुमचे तुम्ही हे हा ही ते तो ती काय कधी कुठे कसे कसा कशी कोण किती आणि किंवा आहे आहेत होते करू \
    करायचे पाहिजे शकतो maza mazi mala mi tumcha kay kadhi kuthe kase kasa kon kiti ani aahe ahe pahije \
    મારું મારો મારી મને હું અમે અમારું તમારું તમારો તમારી તમે આ તે એ એક શું ક્યારે ક્યાં કેવી કેવીરીતે કોણ કેમ કેટલા કેટલી કેટલું અને અથવા છે છું હતું કરવું \
    જોઈએ શકું maru maro mari mane hu tamaru tame shu kyare kya kevi kon kem ketla ketli ketlu ane che chhe \
    ನನ್ನ ನನಗೆ ನಾನು ನಾವು ನಮ್ಮ ನಿಮ್ಮ ನೀವು ನಿಮಗೆ ಇದು ಅದು ಈ ಆ ಒಂದು ಏನು ಯಾವಾಗ ಎಲ್ಲಿ ಹೇಗೆ ಯಾರು ಏಕೆ ಎಷ್ಟು ಮತ್ತು ಅಥವಾ ಇದೆ ಇವೆ ಬೇಕು ಮಾಡಬಹುದು \
    nanna nanage naanu namma nimma neevu idu adu ondu enu yavaga elli hege yaaru eshtu mattu ide beku \
    എന്റെ എനിക്ക് ഞാന് ഞങ്ങള് ഞങ്ങളുടെ നിങ്ങള് നിങ്ങളുടെ ഇത് അത് ഈ ആ ഒരു എന്ത് എന്താണ് എപ്പോള് എവിടെ എങ്ങനെ ആര് എത്ര കൂടാതെ അല്ലെങ്കില് ആണ് ഉണ്ട് വേണം \
    ente enikku njan njangal ningal ningalude ith ath enth enthanu eppol evide engane aaru ethra aanu undu venam \
    ਮੇਰਾ ਮੇਰੀ ਮੇਰੇ ਮੈਨੂੰ ਮੈਂ ਅਸੀਂ ਸਾਡਾ ਤੁਹਾਡਾ ਤੁਹਾਡੀ ਤੁਸੀਂ ਇਹ ਉਹ ਇੱਕ ਕੀ ਕਦੋਂ ਕਿੱਥੇ ਕਿਵੇਂ ਕੌਣ ਕਿਉਂ ਕਿੰਨਾ ਕਿੰਨੀ ਕਿੰਨੇ ਅਤੇ ਜਾਂ ਹੈ ਹਨ ਦਾ ਦੀ ਦੇ ਨੂੰ ਤੋਂ ਵਿੱਚ ਤੇ ਲਈ ਕਰਨਾ \
    ਚਾਹੀਦਾ mainu asi sada tuhada tusi ih uh kadon kithe kiven kaun kinna te da di de nu ton vich layi \
    ମୋର ମୋତେ ମୁଁ ଆମେ ଆମର ଆପଣ ଆପଣଙ୍କ ଆପଣଙ୍କର ଏହା ସେହି ଏହି ଗୋଟିଏ କଣ କ'ଣ କେବେ କେଉଁଠି କିପରି କିଏ କାହିଁକି କେତେ ଏବଂ କିମ୍ବା ଅଛି ହେବ ପାଇଁ \
    mora mote mu ame apana apananka eha kana kebe keunthi kipari kie kahinki kete achi";

static STOPPED: LazyLock<HashSet<String>> =
    LazyLock::new(|| words(STOP_WORDS).into_iter().map(|word| word.text).collect());

/// Whether a word of a query is a stop word.
pub fn says_little(word: &Word) -> bool {
    STOPPED.contains(&word.text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> String {
        stem(&words(text)[0]).into_owned()
    }

    #[test]
    fn inflections_share_a_stem() {
        for (one, other) in [
            ("refunds", "refunded"),
            ("deliveries", "delivery"),
            ("रिफंड", "रिफंडों"),
            ("दुकान", "दुकानें"),
            ("खाता", "खाते"),
            ("पार्सल", "पार्सलों"),
            ("பார்சல்", "பார்சலை"),
            ("పార్సెల్", "పార్సెల్ను"),
            ("অর্ডার", "অর্ডারের"),
            ("ઓર્ડર", "ઓર્ડરની"),
            ("ಆರ್ಡರ್", "ಆರ್ಡರ್ಗೆ"),
        ] {
            let stems = [of(one), of(other)];
            assert!(
                stems[0] == stems[1] || stems[1].starts_with(&stems[0][..stems[0].len().min(9)]),
                "{stems:?}"
            );
        }
        assert_eq!(of("खाता"), of("खाते"));
        assert_eq!(of("दुकानों"), of("दुकानें"));
        assert_eq!(of("refunds"), of("refunded"));
    }

    #[test]
    fn short_words_stay_whole() {
        assert_eq!(of("पता"), "पता");
        assert_eq!(of("24x7"), "24x7");
    }

    #[test]
    fn words_that_ask_say_little() {
        for text in ["कहाँ", "kahan", "where", "എവിടെ", "எங்கே", "ఎక్కడ"]
        {
            assert!(says_little(&words(text)[0]), "{text}");
        }
        for text in ["parcel", "पार्सल", "refund", "பார்சல்"] {
            assert!(!says_little(&words(text)[0]), "{text}");
        }
    }
}
