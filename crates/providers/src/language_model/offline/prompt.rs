//! What a prompt says. Prompts are written for a model that reads; here only sentences of a few known forms
//! are used, and an instruction is never spoken.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use domain::speech::{fold, sentences};

use super::retrieval::{fold_all, stems};

/// A prompt, taken apart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Prompt {
    /// `Asha from Acme Bank`.
    pub(super) identity: Option<String>,
    /// Why we call, as a sentence that can be spoken.
    pub(super) purpose: Option<String>,
    /// What to ask or to tell, in order, as sentences that can be spoken.
    pub(super) agenda: Vec<String>,
    /// Statements that answer questions.
    pub(super) facts: Vec<String>,
    /// Significant words of what must not be said, one list per prohibition.
    forbidden: Vec<Vec<String>>,
}

/// First words of sentences that say how to behave.
const INSTRUCTIONS: &str = "never always do dont not be speak talk keep use if when while unless must should avoid only answer greet close end introduce mention make stay respond remember note offer try refuse \
    please ensure act follow start begin then finally first listen wait thank handle reply provide collect help under your you it's in use assist explain focus give get let stop hang transfer escalate schedule \
    book persuade convince understand identify qualify inform politely briefly goal goals rules rule steps step instructions task style tone language persona role objective objectives guidelines";
static FIRST_WORDS: LazyLock<BTreeSet<String>> = LazyLock::new(|| fold_all(INSTRUCTIONS));
/// Names that prompts use for the person on the line.
const CALLEE: [&str; 14] = [
    "the customer",
    "the person",
    "the user",
    "the caller",
    "the callee",
    "the lead",
    "the client",
    "the borrower",
    "the patient",
    "the candidate",
    "the contact",
    "the prospect",
    "the student",
    "customers",
];

impl Prompt {
    /// Takes a prompt apart.
    pub(super) fn read(prompt: &str) -> Self {
        let mut read = Self::default();
        for line in prompt.lines() {
            let (line, listed) = unlisted(line.trim().trim_start_matches('#').trim());
            for sentence in sentences(line) {
                read.sentence(&sentence, listed);
            }
        }
        let forbidden = read.forbidden.clone();
        read.facts.retain(|fact| !mentions(&forbidden, fact));
        read
    }

    /// Whether a sentence says what must not be said.
    pub(super) fn forbids(&self, sentence: &str) -> bool {
        mentions(&self.forbidden, sentence)
    }

    fn sentence(&mut self, sentence: &str, listed: bool) {
        let plain = sentence.trim_end_matches(['.', '।', ':']).trim();
        let lower = plain.to_lowercase();
        if let Some(rest) = ["you are ", "you're ", "your name is ", "act as ", "आप "]
            .iter()
            .find_map(|start| strip(plain, &lower, start))
            && self.identity.is_none()
        {
            self.identity = identity(rest);
            return;
        }
        if let Some(what) = prohibition(plain, &lower) {
            let words = stems(what);
            if !words.is_empty() {
                self.forbidden.push(words);
            }
            return;
        }
        if let Some(purpose) = purpose(plain, &lower) {
            if self.purpose.is_none() {
                self.purpose = Some(purpose);
            } else {
                self.agenda.push(purpose);
            }
            return;
        }
        if let Some(item) = item(plain, &lower) {
            self.agenda.push(item);
            return;
        }
        let first = fold(plain).into_iter().next().unwrap_or_default();
        let instruction = FIRST_WORDS.contains(&first)
            || CALLEE.iter().any(|callee| lower.contains(callee))
            || plain.ends_with(':')
            || plain.contains("{{");
        if instruction || plain.split_whitespace().count() < 3 || sentence.ends_with(':') {
            return;
        }
        if sentence.ends_with('?') {
            self.agenda.push(sentence.to_owned());
        } else if !listed || plain.split_whitespace().count() >= 4 {
            self.facts.push(sentence.to_owned());
        }
    }
}

fn mentions(forbidden: &[Vec<String>], sentence: &str) -> bool {
    let words = stems(sentence);
    forbidden
        .iter()
        .any(|list| list.iter().filter(|word| words.contains(word)).count() * 2 > list.len().min(4))
}

/// A line of a list without its mark.
fn unlisted(line: &str) -> (&str, bool) {
    let marked = line.trim_start_matches(['-', '*', '•']).trim_start();
    let digits = marked.bytes().take_while(u8::is_ascii_digit).count();
    let numbered = if (1..=2).contains(&digits) {
        marked[digits..].strip_prefix(['.', ')']).map(str::trim_start)
    } else {
        None
    };
    let rest = numbered.unwrap_or(marked);
    (rest, rest.len() != line.len())
}

/// The rest of a text after a beginning, found in its lower-case form.
fn strip<'a>(text: &'a str, lower: &str, start: &str) -> Option<&'a str> {
    if !lower.starts_with(start) || !text.is_char_boundary(start.len()) {
        return None;
    }
    text.get(start.len()..).map(str::trim)
}

/// `Asha, a friendly caller from Acme Bank` is `Asha from Acme Bank`; `an assistant of Acme` is `Acme`; none
/// without a name.
fn identity(text: &str) -> Option<String> {
    let text = text
        .split(['.', ';', '\n'])
        .next()
        .unwrap_or_default()
        .trim_end_matches(" हैं")
        .trim_end_matches(" हो");
    let lower = text.to_lowercase();
    let mut firm = None;
    for word in [" from ", " at ", " for ", " of ", " on behalf of ", " with ", " की ओर से", " से "]
    {
        if let Some(at) = lower.find(word)
            && text.is_char_boundary(at)
            && text.is_char_boundary(at + word.len())
            && lower.len() == text.len()
        {
            let rest = text[at + word.len()..].split([',', '(']).next().unwrap_or_default();
            let rest = rest
                .split(" who ")
                .next()
                .unwrap_or_default()
                .split(" that ")
                .next()
                .unwrap_or_default()
                .split(" calling ")
                .next()
                .unwrap_or_default()
                .trim();
            if !rest.is_empty() && rest.split_whitespace().count() <= 6 {
                firm = Some(rest.to_owned());
                break;
            }
        }
    }
    let article = ["a ", "an ", "the ", "एक "].iter().any(|article| lower.starts_with(article));
    let name: Vec<&str> = text
        .split([',', '('])
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .take_while(|word| word.chars().next().is_some_and(|letter| letter.is_uppercase()))
        .take(3)
        .collect();
    match (article || name.is_empty(), firm) {
        (true, firm) => firm,
        (false, Some(firm)) => Some(format!("{} from {firm}", name.join(" "))),
        (false, None) => Some(name.join(" ")),
    }
}

/// What must not be said, of `Never mention the discount`.
fn prohibition<'a>(text: &'a str, lower: &str) -> Option<&'a str> {
    let starts = [
        "never ",
        "do not ",
        "don't ",
        "don’t ",
        "you must not ",
        "you must never ",
        "you should not ",
        "avoid ",
        "under no circumstances ",
    ];
    let rest = starts.iter().find_map(|start| strip(text, lower, start))?;
    let lower = rest.to_lowercase();
    let verbs = [
        "mention ",
        "mentioning ",
        "discuss ",
        "discussing ",
        "reveal ",
        "revealing ",
        "talk about ",
        "talking about ",
        "say ",
        "saying ",
        "tell ",
        "disclose ",
        "share ",
        "promise ",
        "promising ",
        "offer ",
        "quote ",
        "give ",
        "bring up ",
    ];
    Some(verbs.iter().find_map(|verb| strip(rest, &lower, verb)).unwrap_or(""))
}

/// Why we call, as we say it.
fn purpose(text: &str, lower: &str) -> Option<String> {
    let callings = [
        "you are calling ",
        "you're calling ",
        "you call ",
        "call the customer ",
        "this call is ",
        "the purpose of this call is ",
        "the purpose of the call is ",
        "the goal of this call is ",
    ];
    let goals = [
        "your goal is to ",
        "your task is to ",
        "your job is to ",
        "your purpose is to ",
        "your objective is to ",
        "your aim is to ",
        "goal: ",
        "purpose: ",
        "objective: ",
        "task: ",
    ];
    let said = if let Some(rest) = callings.iter().find_map(|start| strip(text, lower, start)) {
        let rest =
            CALLEE.iter().find_map(|callee| strip(rest, &rest.to_lowercase(), callee)).unwrap_or(rest).trim();
        format!("I am calling {}", addressed(rest))
    } else {
        let rest = goals.iter().find_map(|start| strip(text, lower, start))?;
        let lower = rest.to_lowercase();
        format!("I am calling to {}", addressed(strip(rest, &lower, "to ").unwrap_or(rest)))
    };
    Some(format!("{}.", said.trim_end_matches(['.', ' '])))
}

/// Something to ask or to tell, as we say it.
fn item(text: &str, lower: &str) -> Option<String> {
    if let Some(quoted) =
        ["say", "ask", "tell"].iter().find_map(|verb| lower.starts_with(verb).then(|| quoted(text)).flatten())
    {
        return Some(quoted);
    }
    let text = [
        "then ",
        "first, ",
        "first ",
        "next, ",
        "next ",
        "finally, ",
        "finally ",
        "politely ",
        "please ",
        "also ",
    ]
    .iter()
    .find_map(|start| strip(text, lower, start))
    .unwrap_or(text);
    let lower = text.to_lowercase();
    let without_callee = |text: &str| {
        let lower = text.to_lowercase();
        CALLEE
            .iter()
            .copied()
            .chain(["them", "him", "her"])
            .find_map(|callee| strip(text, &lower, callee))
            .map_or(text.to_owned(), str::to_owned)
    };
    if let Some(rest) = strip(text, &lower, "ask ") {
        let rest = without_callee(rest);
        let lower = rest.to_lowercase();
        let said = if let Some(rest) = strip(&rest, &lower, "for ") {
            format!("Could you tell me {}, please?", addressed(rest))
        } else if let Some(rest) = strip(&rest, &lower, "to ") {
            format!("Could you please {}?", addressed(rest))
        } else if let Some(rest) = strip(&rest, &lower, "about ") {
            format!("May I ask about {}?", addressed(rest))
        } else if let Some(rest) = strip(&rest, &lower, "if ") {
            format!("Could you tell me whether {}?", addressed(rest))
        } else {
            format!("Could you tell me {}?", addressed(&rest))
        };
        return Some(said);
    }
    for (start, said) in [
        ("confirm ", "Could you please confirm "),
        ("verify ", "Could you please confirm "),
        ("find out ", "Could you tell me "),
        ("collect ", "Could you tell me "),
    ] {
        if let Some(rest) = strip(text, &lower, start) {
            return Some(format!("{said}{}?", addressed(&without_callee(rest))));
        }
    }
    for start in ["tell ", "inform ", "remind ", "let "] {
        if let Some(rest) = strip(text, &lower, start) {
            let rest = without_callee(rest);
            let lower = rest.to_lowercase();
            let rest = ["know that ", "that ", "know "]
                .iter()
                .find_map(|word| strip(&rest, &lower, word))
                .unwrap_or(&rest);
            let said = addressed(rest);
            let mut letters = said.chars();
            let first: String =
                letters.next().map(|letter| letter.to_uppercase().collect()).unwrap_or_default();
            let sentence = !["about ", "of ", "to "].iter().any(|word| said.starts_with(word));
            return sentence.then(|| format!("{first}{}.", letters.as_str()));
        }
    }
    None
}

/// The words in quotation marks.
fn quoted(text: &str) -> Option<String> {
    let (_, rest) = text.split_once(['"', '“', '«'])?;
    let (words, _) = rest.split_once(['"', '”', '»'])?;
    let words = words.trim();
    (!words.is_empty()).then(|| words.to_owned())
}

/// `their name` is `your name` when it is said to them.
fn addressed(text: &str) -> String {
    let mut said = text.trim().to_owned();
    for callee in CALLEE {
        said = said
            .replace(&format!("{callee}'s"), "your")
            .replace(&format!("{callee}’s"), "your")
            .replace(callee, "you");
    }
    let words: Vec<&str> = said
        .split(' ')
        .map(|word| match word {
            "their" | "his" => "your",
            "they" | "them" | "him" | "he" | "she" => "you",
            "they're" => "you're",
            other => other,
        })
        .collect();
    words
        .join(" ")
        .replace("you is ", "you are ")
        .replace("you has ", "you have ")
        .replace("you wants ", "you want ")
        .replace("you needs ", "you need ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_is_taken_apart() {
        let prompt = Prompt::read(
            "You are Asha, a friendly caller from Acme Bank. Your goal is to remind the customer about their EMI of 4,500 rupees.\nThe due date is 5 December. The late fee is 500 rupees. \
             Festival customers get a discount of ten percent.\nNever mention the discount. Be polite.\n1. Ask whether they can pay today.\n2. Ask for their email address.\n3. Say \"Please keep the balance ready.\"\n\
             If the customer is busy, offer to call later.",
        );
        assert_eq!(prompt.identity.as_deref(), Some("Asha from Acme Bank"));
        assert_eq!(
            prompt.purpose.as_deref(),
            Some("I am calling to remind you about your EMI of 4,500 rupees.")
        );
        assert_eq!(
            prompt.agenda,
            [
                "Could you tell me whether you can pay today?",
                "Could you tell me your email address, please?",
                "Please keep the balance ready."
            ]
        );
        assert_eq!(prompt.facts, ["The due date is 5 December.", "The late fee is 500 rupees."]);
        assert!(prompt.forbids("You get a discount of ten percent."));
        assert!(!prompt.forbids("The late fee is 500 rupees."));
    }

    #[test]
    fn who_speaks() {
        for (text, expected) in [
            ("You are Ravi from Sunrise Clinic.", Some("Ravi from Sunrise Clinic")),
            ("You are a polite assistant.", None),
            ("You are a sales agent for Green Homes who sells flats.", Some("Green Homes")),
            ("Your name is Meera.", Some("Meera")),
            ("Sell things.", None),
            ("", None),
        ] {
            assert_eq!(Prompt::read(text).identity.as_deref(), expected, "{text}");
        }
    }
}
