//! Backchannel: what a listener says while somebody else speaks.

use std::sync::LazyLock;

use super::matching::{Patterns, fold};

/// Most words of a backchannel: `haan haan theek hai ji`.
const MOST: usize = 5;

/// The words of a backchannel; it has no others.
const SOUNDS: &str = "
    hm~|hmm~|mm~|mhm|uhhuh|uh|huh|ah|aah|oh|oho|ooh|um|er|erm|aha|ahem|ehem|cough|coughs|coughing|laughs|laughter|noise|sigh|breath|sneeze|inaudible|music|silence
    ok|okay|okey|k|right|yes|yeah|yep|yup|ya|yah|sure|fine|good|great|nice|cool|alright|see|i|hello
    haan|han|ha|haa|haanji|hanji|ji|jee|achha|accha|acha|theek|thik|thike|hai|he|sahi|bilkul|arre|are|oho|bas|हाँ|हां|हा|हाँजी|हांजी|जी|अच्छा|ठीक|है|सही|बिल्कुल|हम्म|हूँ|हूं|हम|अरे|ओहो|ओके
    hyan|hya|ta|thik|achhe|ache|হ্যাঁ|হ্যা|হুম|হুঁ|আচ্ছা|ঠিক|আছে|জি|ওকে|হাঁ
    haa|barabar|saru|saaru|thai|che|હા|હાં|જી|બરાબર|સારું|ઠીક|છે|હમ્મ|અચ્છા|ઓકે
    houdu|haudu|sari|sariya|aaytu|ayithu|ಹೌದು|ಸರಿ|ಆಯ್ತು|ಹೂಂ|ಹ್ಮ್|ಹಾ|ಹಾಂ|ಓಕೆ
    athe|ate|sheri|shari|aa|അതെ|ശരി|ഉം|ഹും|മ്മ്|ആ|ഓക്കെ|ഓകെ
    ho|hoy|hoye|bara|barobar|thik|aahe|हो|होय|बरं|बरोबर|आहे|ओह
    hau|han|achha|thik|ହଁ|ହଉ|ଆଚ୍ଛା|ଠିକ୍|ଠିକ|ଅଛି|ହୁଁ|ଓକେ|ଜୀ
    hanji|haanji|theek|changa|acha|ਹਾਂ|ਹਾਂਜੀ|ਜੀ|ਠੀਕ|ਹੈ|ਅੱਛਾ|ਚੰਗਾ|ਹੂੰ|ਓਕੇ
    aam|aama|aamaa|seri|sari|mm|ஆம்|ஆமா|ஆமாம்|சரி|ம்|ம்ம்|ஓகே|ஹ்ம்
    avunu|aunu|sare|sarele|aa|అవును|సరే|ఊ|హుం|హ్మ్|ఆ|ఓకే|అలాగే
";

static LISTENING: LazyLock<Patterns> = LazyLock::new(|| Patterns::read(SOUNDS, &[]));

/// Whether the words are only a backchannel (or a transcribed cough, or nothing at all), so that the agent
/// goes on speaking. `language` is that of the agent; the words of every language count, because people mix
/// languages. `yes` and `haan` are backchannels while the agent speaks and answers when it has asked a
/// question: the caller decides which it is.
pub fn backchannel(text: &str, language: &str) -> bool {
    // A single `ho` or `aa` is a backchannel in one language and means nothing in the others. It is never a
    // reason to stop speaking, so the language makes no difference here.
    let _ = language;
    let words = fold(text);
    words.len() <= MOST && words.iter().all(|word| LISTENING.is(std::slice::from_ref(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_of_listening() {
        for text in [
            "haan",
            "hmm",
            "Hmmmm.",
            "ok",
            "okay okay",
            "ji",
            "haan ji",
            "accha",
            "achha theek",
            "theek hai",
            "(cough)",
            "[coughs]",
            "uh-huh",
            "mm-hmm",
            "I see",
            "हाँ जी",
            "ठीक है",
            "হ্যাঁ ঠিক আছে",
            "હા બરાબર",
            "ಹೌದು ಸರಿ",
            "ശരി ശരി",
            "हो बरोबर",
            "ହଁ ଠିକ ଅଛି",
            "ਹਾਂਜੀ ਠੀਕ ਹੈ",
            "ஆமா சரி",
            "అవును సరే",
            "",
        ] {
            assert!(backchannel(text, "en"), "{text}");
        }
        for text in [
            "wait",
            "no",
            "stop",
            "haan but listen",
            "ok ok ok ok ok ok",
            "call me later",
            "nahi",
            "नहीं",
            "ruko",
            "who is this",
            "रुकिए",
            "வேண்டாம்",
            "వద్దు",
            "yes I want the loan",
            "500",
        ] {
            assert!(!backchannel(text, "hi"), "{text}");
        }
    }
}
