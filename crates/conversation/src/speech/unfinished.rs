//! Whether a speaker who fell silent is likely to go on.

use std::sync::LazyLock;

use super::matching::{Patterns, fold};

/// Last words after which more is likely, in every language: conjunctions, prepositions, articles, fillers,
/// the beginning of an answer.
const HANGING: &str = "
    and|but|or|so|because|cause|if|when|then|than|that|which|who|whose|with|without|to|of|for|from|at|in|on|by|about|into|as|like|also|plus|actually|basically|until|till|unless|while|although|though|since
    the|a|an|my|your|his|her|our|their|its|is|are|was|were|am|im|will|would|can|could|should|do|does|did|have|has|i|we|they|he|she|not|very|more|some|any|every|each
    um|umm|uh|uhh|uhm|er|erm|hm|hmm|ah|let|lets|well|means|meaning
    mr|mrs|ms|miss|dr|doctor|sri|shri|smt|shrimati|kumari|professor|prof|madam|plus|double|triple|point|dot|dash|slash
    aur|ya|lekin|magar|par|kyunki|kyuki|kyonki|agar|ki|jab|jaise|matlab|wo|woh|vo|to|phir|toh|mera|meri|mere|hamara|aapka|ka|ke|ko|se|mein|me|वो|और|या|लेकिन|मगर|पर|क्योंकि|अगर|कि|जब|जैसे|मतलब|तो|फिर|मेरा|मेरी|मेरे|हमारा|का|के|को|से|में|की|श्री|श्रीमती|डॉक्टर
    ebong|ba|kintu|karon|jodi|je|amar|mane|এবং|আর|বা|কিন্তু|কারণ|যদি|যে|আমার|মানে|ও
    ane|athva|pan|karanke|jo|ke|maru|mari|etle|અને|અથવા|પણ|કારણકે|કારણ|જો|કે|મારું|મારો|મારી|એટલે
    mattu|athava|aadare|yakendare|nanna|andre|ಮತ್ತು|ಅಥವಾ|ಆದರೆ|ಯಾಕೆಂದರೆ|ನನ್ನ|ಅಂದರೆ|ಅಂದ್ರೆ
    um|allenkil|pakshe|karanam|ente|athayathu|ennal|ഒപ്പം|അല്ലെങ്കിൽ|പക്ഷേ|പക്ഷെ|കാരണം|എന്റെ|അതായത്|എന്നാൽ|പിന്നെ
    aani|ani|kinva|pan|karan|jar|mhanje|majha|majhi|आणि|किंवा|पण|कारण|जर|म्हणजे|माझा|माझी|माझे
    o|kimba|kintu|karana|jadi|mora|ଏବଂ|ଓ|କିମ୍ବା|କିନ୍ତୁ|କାରଣ|ଯଦି|ମୋର|ମାନେ
    te|jan|par|kyunki|je|mera|meri|ਅਤੇ|ਤੇ|ਜਾਂ|ਪਰ|ਕਿਉਂਕਿ|ਜੇ|ਮੇਰਾ|ਮੇਰੀ|ਮਤਲਬ
    matrum|allathu|aanaal|aana|yenna|enna|en|ennoda|mattrum|மற்றும்|அல்லது|ஆனால்|ஆனா|ஏனென்றால்|ஏன்னா|என்|என்னுடைய|என்னோட
    mariyu|leda|kani|endukante|na|naa|ante|మరియు|లేదా|కానీ|కాని|ఎందుకంటే|నా|అంటే
";

/// Phrases at the end of a turn after which a value follows.
const BEGUN: &str = "
    number|name|address|pincode|pin|email|id|date|birthday|birth|amount|salary|income|otp|code|account|mobile|phone is|are
    my number|name|address|pincode|email|id|otp|code|account|mobile
    naam|number|pata|pincode|email|address|नाम|नंबर|पता|पिनकोड|ईमेल|एड्रेस hai|he|है
    you know
    i mean|think|want|guess|need|am
    it is|was
    kind|sort of
    mera|meri|मेरा|मेरी naam|number|pata|नाम|नंबर|पता
";

/// Digits of an Indian phone number and of a PIN code. Fewer digits are probably only a part.
const PHONE_DIGITS: usize = 10;
const PINCODE_DIGITS: usize = 6;

static HANGS: LazyLock<Patterns> = LazyLock::new(|| Patterns::read(HANGING, &[]));
static BEGINS: LazyLock<Patterns> = LazyLock::new(|| Patterns::read(BEGUN, &[]));
const DIGIT_WORDS: &str = "
    zero|oh|one|two|three|four|five|six|seven|eight|nine|double|triple
    shunya|ek|teen|char|chaar|paanch|panch|chhe|che|saat|aath|nau|शून्य|एक|दो|तीन|चार|पांच|पाँच|छह|छः|सात|आठ|नौ
";
static SPOKEN_DIGITS: LazyLock<Patterns> = LazyLock::new(|| Patterns::read(DIGIT_WORDS, &[]));

/// Whether more is likely to come: the turn ends in a conjunction, a filler, an honorific without its name,
/// `my number is`, or digits that are part of a number. End-pointing then waits longer. `language` is the
/// agent's; every language is checked.
pub fn unfinished(text: &str, language: &str) -> bool {
    let trimmed = text.trim_end();
    if trimmed.ends_with("...") || trimmed.ends_with(['…', ',', '-', ':']) {
        return true;
    }
    if trimmed.ends_with(['?', '।', '!']) {
        return false;
    }
    let words = fold(text);
    let Some(last) = words.last() else { return false };
    if words.len() == 1 && complete_alone(last, language) {
        return false;
    }
    HANGS.is(std::slice::from_ref(last))
        || (2..=4).any(|reach| words.len() >= reach && BEGINS.is(&words[words.len() - reach..]))
        || part_of_a_number(&words)
}

/// Words that are unfinished at the end of a sentence but are an answer when said alone, such as a filler of
/// agreement.
fn complete_alone(word: &str, language: &str) -> bool {
    matches!(word, "hm" | "ha" | "hu") || language == "mr" && word == "pan"
}

/// Whether it ends in three to five or seven to nine digits spoken one by one, which are neither an amount
/// nor a complete number.
fn part_of_a_number(words: &[String]) -> bool {
    let spoken = |word: &&String| {
        SPOKEN_DIGITS.is(std::slice::from_ref(*word)) || word.chars().all(|letter| letter.is_ascii_digit())
    };
    let run: Vec<&String> = words.iter().rev().take_while(spoken).collect();
    let digits: usize = run
        .iter()
        .map(|word| if word.starts_with(|letter: char| letter.is_ascii_digit()) { word.len() } else { 1 })
        .sum();
    run.len() >= 3 && digits < PHONE_DIGITS && digits != PINCODE_DIGITS && digits != 4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_is_to_come() {
        for (language, text) in [
            ("en", "I want to pay but"),
            ("en", "my number is"),
            ("en", "My number is nine eight seven"),
            ("en", "98 76 5"),
            ("en", "um"),
            ("en", "I would like to, uh"),
            ("en", "my name is Mr"),
            ("en", "it is Dr."),
            ("en", "tomorrow at"),
            ("en", "the thing is..."),
            ("en", "yes, so"),
            ("hi", "मैं कल आऊँगा लेकिन"),
            ("hi", "mera naam"),
            ("hi", "haan aur"),
            ("hi", "मेरा नंबर है"),
            ("bn", "আমি যাব কিন্তু"),
            ("gu", "હું આવીશ પણ"),
            ("kn", "ನಾನು ಬರುತ್ತೇನೆ ಆದರೆ"),
            ("ml", "ഞാൻ വരാം പക്ഷേ"),
            ("mr", "मी येतो आणि"),
            ("or", "ମୁଁ ଯିବି କିନ୍ତୁ"),
            ("pa", "ਮੈਂ ਆਵਾਂਗਾ ਪਰ"),
            ("ta", "நான் வருவேன் ஆனால்"),
            ("te", "నేను వస్తాను కానీ"),
        ] {
            assert!(unfinished(text, language), "{text}");
        }
        for (language, text) in [
            ("en", "yes"),
            ("en", "no thank you"),
            ("en", "call me tomorrow at five"),
            ("en", "my number is nine eight seven six five four three two one zero"),
            ("en", "five six zero zero zero one"),
            ("en", "two"),
            ("en", "What is it for?"),
            ("hi", "हाँ जी"),
            ("hi", "mera naam Ravi hai"),
            ("hi", "नहीं चाहिए"),
            ("bn", "ঠিক আছে"),
            ("gu", "બરાબર છે"),
            ("kn", "ಸರಿ"),
            ("ml", "ശരി"),
            ("mr", "नको"),
            ("or", "ହଁ"),
            ("pa", "ਠੀਕ ਹੈ"),
            ("ta", "சரி"),
            ("te", "సరే"),
            ("en", ""),
            ("hi", "hmm"),
        ] {
            assert!(!unfinished(text, language), "{text}");
        }
    }
}
