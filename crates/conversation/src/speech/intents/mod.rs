//! Intents that every call has to understand, whatever it is about. They are used by the offline answerer; a
//! language model does not need them.

mod tables;

use std::sync::LazyLock;

use super::matching::{Patterns, fold};
use crate::{Field, FieldKind, capture};

/// What somebody means, independently of the subject of the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Intent {
    /// This is the wrong person or number.
    WrongNumber,
    /// Wants to talk to a person.
    Person,
    /// Busy now: call another time.
    CallLater,
    /// Does not want what is offered.
    NotInterested,
    Interested,
    /// Did not hear or understand: say it again.
    Repeat,
    /// Asks who is calling or from where.
    WhoIsThis,
    Goodbye,
    /// Asks whether this is a machine.
    Machine,
}

impl Intent {
    /// The disposition of a conversation that ends with this intent.
    pub fn outcome(self) -> Option<&'static str> {
        match self {
            Self::WrongNumber => Some("wrong_number"),
            Self::CallLater => Some("callback_requested"),
            Self::NotInterested => Some("not_interested"),
            Self::Interested => Some("interested"),
            Self::Person => Some("transfer_requested"),
            Self::Repeat | Self::WhoIsThis | Self::Goodbye | Self::Machine => None,
        }
    }
}

/// In the order in which they are tried: `not interested` before `interested`.
static INTENTS: LazyLock<Vec<(Intent, Patterns)>> = LazyLock::new(|| {
    let row = |intent, table| (intent, Patterns::read(table, &[]));
    vec![
        row(Intent::WrongNumber, tables::WRONG_NUMBER),
        row(Intent::Machine, tables::MACHINE),
        row(Intent::Person, tables::PERSON),
        row(Intent::CallLater, tables::CALL_LATER),
        row(Intent::NotInterested, tables::NOT_INTERESTED),
        row(Intent::Repeat, tables::REPEAT),
        row(Intent::WhoIsThis, tables::WHO),
        row(Intent::Interested, tables::INTERESTED),
        row(Intent::Goodbye, tables::GOODBYE),
    ]
});

/// The intent of these words, if it is one of the list. The text may be in any of the eleven languages, in
/// native script or Latin letters.
pub fn intent(text: &str) -> Option<Intent> {
    let words = fold(text);
    INTENTS.iter().find(|(_, patterns)| patterns.find(&words).is_some()).map(|(intent, _)| *intent)
}

/// Whether the words mean yes or no; `None` when they mean neither or both. The words of `language`, which is that of the
/// conversation, come first.
pub fn yes_or_no(text: &str, language: &str) -> Option<bool> {
    let field = Field { kind: FieldKind::Boolean, ..Field::default() };
    match capture(&field, text, language, None) {
        Some(serde_json::Value::Bool(value)) => Some(value),
        _ => {
            let words = fold(text);
            let (yes, no) = (MORE_YES.find(&words).is_some(), MORE_NO.find(&words).is_some());
            (yes != no).then_some(yes)
        }
    }
}

static MORE_YES: LazyLock<Patterns> = LazyLock::new(|| Patterns::read(tables::YES, &[]));
static MORE_NO: LazyLock<Patterns> = LazyLock::new(|| Patterns::read(tables::NO, &[]));

/// What people say in English in any call: the fixed part of a recogniser's grammar. Long variants are
/// included on purpose, because a recogniser distinguishes them better than short ones.
pub fn english_phrases() -> &'static [&'static str] {
    &tables::ENGLISH_PHRASES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_mean() {
        for (text, expected) in [
            ("I am busy, call me later", Some(Intent::CallLater)),
            ("call me tomorrow at five", Some(Intent::CallLater)),
            ("can you call back after some time", Some(Intent::CallLater)),
            ("abhi busy hoon baad mein call karna", Some(Intent::CallLater)),
            ("मैं अभी व्यस्त हूँ, बाद में फोन कीजिए", Some(Intent::CallLater)),
            ("পরে ফোন করুন", Some(Intent::CallLater)),
            ("પછી ફોન કરજો", Some(Intent::CallLater)),
            ("ಆಮೇಲೆ ಕಾಲ್ ಮಾಡಿ", Some(Intent::CallLater)),
            ("പിന്നെ വിളിക്കൂ", Some(Intent::CallLater)),
            ("नंतर फोन करा", Some(Intent::CallLater)),
            ("ପରେ ଫୋନ କରନ୍ତୁ", Some(Intent::CallLater)),
            ("ਬਾਅਦ ਵਿੱਚ ਫੋਨ ਕਰੋ", Some(Intent::CallLater)),
            ("அப்புறம் கால் பண்ணுங்க", Some(Intent::CallLater)),
            ("తర్వాత కాల్ చేయండి", Some(Intent::CallLater)),
            ("No thanks, I'm not interested", Some(Intent::NotInterested)),
            ("mujhe nahi chahiye", Some(Intent::NotInterested)),
            ("मुझे कोई दिलचस्पी नहीं है", Some(Intent::NotInterested)),
            ("আমার দরকার নেই", Some(Intent::NotInterested)),
            ("எனக்கு வேண்டாம்", Some(Intent::NotInterested)),
            ("నాకు వద్దు", Some(Intent::NotInterested)),
            ("ನನಗೆ ಬೇಡ", Some(Intent::NotInterested)),
            ("എനിക്ക് വേണ്ട", Some(Intent::NotInterested)),
            ("मला नको", Some(Intent::NotInterested)),
            ("મારે નથી જોઈતું", Some(Intent::NotInterested)),
            ("ମୋର ଦରକାର ନାହିଁ", Some(Intent::NotInterested)),
            ("ਮੈਨੂੰ ਨਹੀਂ ਚਾਹੀਦਾ", Some(Intent::NotInterested)),
            ("Yes, I'm interested", Some(Intent::Interested)),
            ("tell me more about it", Some(Intent::Interested)),
            ("मुझे चाहिए, और बताइए", Some(Intent::Interested)),
            ("sorry, wrong number", Some(Intent::WrongNumber)),
            ("galat number hai", Some(Intent::WrongNumber)),
            ("there is no one by that name here", Some(Intent::WrongNumber)),
            ("రాంగ్ నంబర్", Some(Intent::WrongNumber)),
            ("I want to speak to a person", Some(Intent::Person)),
            ("connect me to an agent please", Some(Intent::Person)),
            ("kisi insaan se baat karao", Some(Intent::Person)),
            ("किसी आदमी से बात कराइए", Some(Intent::Person)),
            ("Can you repeat that?", Some(Intent::Repeat)),
            ("क्या बोला आपने, फिर से बोलिए", Some(Intent::Repeat)),
            ("who is this?", Some(Intent::WhoIsThis)),
            ("aap kaun bol rahe hain", Some(Intent::WhoIsThis)),
            ("are you a robot", Some(Intent::Machine)),
            ("okay bye", Some(Intent::Goodbye)),
            ("what is the interest rate", None),
            ("I called you yesterday", None),
            ("haan", None),
            ("", None),
        ] {
            assert_eq!(intent(text), expected, "{text}");
        }
    }

    #[test]
    fn yes_and_no_in_every_language() {
        for (yes, no) in [
            ("yes", "no"),
            ("हाँ", "नहीं"),
            ("হ্যাঁ", "না"),
            ("હા", "ના"),
            ("ಹೌದು", "ಇಲ್ಲ"),
            ("അതെ", "അല്ല"),
            ("हो", "नाही"),
            ("ହଁ", "ନା"),
            ("ਹਾਂ ਜੀ", "ਨਹੀਂ"),
            ("ஆமா", "இல்லை"),
            ("అవును", "లేదు"),
        ] {
            assert_eq!((yes_or_no(yes, "en"), yes_or_no(no, "en")), (Some(true), Some(false)), "{yes} {no}");
        }
        assert_eq!(yes_or_no("what", "en"), None);
        // `ho` is a yes in Marathi only.
        assert_eq!((yes_or_no("ho", "mr"), yes_or_no("ho", "en")), (Some(true), None));
    }
}
