//! Whether a person was pleased, judged by their words.

use std::sync::LazyLock;

use domain::speech::{Patterns, fold};

const PLEASED: &str = "
    thank|thanks|great|good|nice|excellent|perfect|wonderful|happy|helpful|love|awesome|interested|fine|sure|glad|appreciate|best|welcome|please
    dhanyavaad|dhanyavad|shukriya|accha|badhiya|khush|bilkul|zaroor|धन्यवाद|शुक्रिया|अच्छा|बढ़िया|खुश|ज़रूर|जरूर
    ধন্যবাদ|ভালো|આભાર|સારું|ધન્યવાદ|ಧನ್ಯವಾದ|ಧನ್ಯವಾದಗಳು|ಒಳ್ಳೆಯದು|നന്ദി|നല്ലത്|छान|आभारी|ଧନ୍ୟବାଦ|ଭଲ|ਧੰਨਵਾਦ|ਚੰਗਾ|நன்றி|நல்லது|ధన్యవాదాలు|బాగుంది
";
const DISPLEASED: &str = "
    not good|happy|interested|satisfied|helpful|working
    bad|worst|terrible|angry|annoyed|annoying|useless|fraud|cheat|cheating|complaint|complain|problem|disturb|disturbing|harass|harassment|nonsense|stupid|hate|waste|rude|poor|wrong|never|stop|irritating|disappointed|unhappy|pathetic|scam
    kharab|bekar|bekaar|gussa|pareshan|dhokha|shikayat|bakwas|galat|ख़राब|खराब|बेकार|गुस्सा|परेशान|धोखा|शिकायत|बकवास|गलत
    খারাপ|বিরক্ত|ખરાબ|હેરાન|ಕೆಟ್ಟ|ತೊಂದರೆ|മോശം|ശല്യം|वाईट|त्रास|ଖରାପ|ବିରକ୍ତ|ਮਾੜਾ|ਤੰਗ|மோசம்|தொந்தரவு|చెడ్డ|ఇబ్బంది
";
static GOOD: LazyLock<Patterns> = LazyLock::new(|| Patterns::read(PLEASED, &[]));
static BAD: LazyLock<Patterns> = LazyLock::new(|| Patterns::read(DISPLEASED, &[]));

/// `positive`, `neutral` or `negative`, over all that a person said: turn by turn, the unpleasant weighing
/// double.
pub(super) fn of<'a>(turns: impl Iterator<Item = &'a str>) -> &'static str {
    let score: i32 = turns
        .map(|turn| {
            let words = fold(turn);
            match (GOOD.find(&words).is_some(), BAD.find(&words).is_some()) {
                (_, true) => -2,
                (true, false) => 1,
                (false, false) => 0,
            }
        })
        .sum();
    match score {
        1.. => "positive",
        0 => "neutral",
        _ => "negative",
    }
}
