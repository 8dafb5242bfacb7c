//! What the interpreter itself has to say: the few sentences that no node holds.

use serde::{Deserialize, Serialize};

/// The sentences, in one language.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Phrases {
    /// When a model that should have opened the conversation failed.
    pub greeting: String,
    /// When nothing was heard.
    pub still_there: String,
    /// When the model failed once.
    pub say_again: String,
    /// Before a question is asked again.
    pub not_understood: String,
    /// Added to a yes-or-no question that is asked again.
    pub yes_or_no: String,
    /// Before the choices of a question that is asked again.
    pub one_of: String,
    /// Before the label of a document.
    pub send_document: String,
    /// When nobody could be reached.
    pub nobody_free: String,
    /// Before the interpreter ends a conversation without an `end` node.
    pub goodbye: String,
    /// Before it ends one because of an error.
    pub trouble: String,
}

impl Phrases {
    /// The sentences for an agent's `language`: Hindi for `hi`, English for every other.
    pub fn of(language: &str) -> Self {
        let [greeting, still_there, say_again, not_understood, yes_or_no, one_of, send_document, nobody_free, goodbye, trouble] =
            if language == "hi" { HINDI } else { ENGLISH }.map(str::to_owned);
        Self { greeting, still_there, say_again, not_understood, yes_or_no, one_of, send_document, nobody_free, goodbye, trouble }
    }
}

impl Default for Phrases {
    fn default() -> Self {
        Self::of("en")
    }
}

const ENGLISH: [&str; 10] = [
    "Hello, how can I help you?",
    "Are you still there?",
    "Sorry, could you say that again?",
    "Sorry, I did not get that.",
    "Please say yes or no.",
    "Please choose one of these:",
    "Please send:",
    "Sorry, nobody is free right now.",
    "Thank you for your time. Goodbye.",
    "Sorry, something went wrong on our side. Goodbye.",
];
const HINDI: [&str; 10] = [
    "नमस्ते, बताइए, आपकी क्या मदद की जाए?",
    "क्या आप लाइन पर हैं?",
    "माफ़ कीजिए, क्या आप दोबारा कह सकते हैं?",
    "माफ़ कीजिए, बात समझ नहीं आई।",
    "कृपया हाँ या नहीं कहिए।",
    "इनमें से एक चुनिए:",
    "कृपया भेजिए:",
    "माफ़ कीजिए, अभी कोई उपलब्ध नहीं है।",
    "आपके समय के लिए धन्यवाद। नमस्ते।",
    "माफ़ कीजिए, हमारी ओर से कुछ गड़बड़ हो गई। नमस्ते।",
];
