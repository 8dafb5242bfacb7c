//! Which exit of a `converse` node applies.

use domain::speech::{Intent, fold, intent, yes_or_no};

use super::retrieval::stems;

/// Words of conditions that say nothing about what the customer wants.
const COMMON: [&str; 40] = [
    "customer",
    "person",
    "user",
    "caller",
    "callee",
    "client",
    "say",
    "ask",
    "want",
    "has",
    "conversation",
    "call",
    "lead",
    "agent",
    "when",
    "they",
    "their",
    "gave",
    "given",
    "provide",
    "like",
    "wish",
    "mention",
    "express",
    "indicate",
    "respond",
    "answer",
    "natural",
    "come",
    "stop",
    "end",
    "state",
    "report",
    "confirm",
    "agree",
    "accept",
    "declin",
    "refus",
    "interest",
    "request",
];

/// What a condition waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Awaited {
    Means(Intent),
    Yes,
    No,
    End,
}

fn has(words: &[String], any: &[&str]) -> bool {
    any.iter().flat_map(|stem| fold(stem)).any(|stem| words.iter().any(|word| word.starts_with(&stem)))
}

fn negated(words: &[String]) -> bool {
    words.iter().any(|word| {
        matches!(
            word.as_str(),
            "not"
                | "no"
                | "never"
                | "dont"
                | "doesnt"
                | "didnt"
                | "isnt"
                | "cannot"
                | "cant"
                | "wont"
                | "without"
                | "nahi"
                | "nahin"
                | "nai"
                | "नहि"
        )
    })
}

/// What the words of a condition wait for; a condition may wait for several things.
fn awaited(condition: &str) -> Vec<Awaited> {
    let words = fold(condition);
    let not = negated(&words);
    let mut awaited = Vec::new();
    let mut add = |applies: bool, what: Awaited| {
        if applies {
            awaited.push(what);
        }
    };
    add(has(&words, &["wrong", "galat"]), Awaited::Means(Intent::WrongNumber));
    add(
        has(&words, &["human", "representativ", "transfer", "manager", "executiv"])
            || has(&words, &["speak", "talk"]) && has(&words, &["person", "agent", "someone"]),
        Awaited::Means(Intent::Person),
    );
    add(
        has(&words, &["later", "busy", "callback", "reschedul"])
            || has(&words, &["call"]) && has(&words, &["back"]),
        Awaited::Means(Intent::CallLater),
    );
    add(
        not && has(&words, &["interest", "want"])
            || has(&words, &["declin", "refus", "reject", "uninterest", "disinterest"]),
        Awaited::Means(Intent::NotInterested),
    );
    add(!not && has(&words, &["interest"]), Awaited::Means(Intent::Interested));
    add(!not && (has(&words, &["agree", "accept", "confirm", "yes", "ready", "consent"])), Awaited::Yes);
    add(
        not && has(&words, &["agree", "accept", "confirm", "consent"])
            || has(&words, &["no"]) && has(&words, &["says", "say", "answer"])
            || has(&words, &["declin", "refus", "den"]),
        Awaited::No,
    );
    add(has(&words, &["end", "over", "goodby", "finish", "stop", "bye", "complet", "done"]), Awaited::End);
    awaited
}

/// The exit that fits what was said. `asked`: the agent has asked something, so a bare yes has a meaning.
pub(super) fn applies(exits: &[String], said: &str, asked: bool, language: &str) -> Option<usize> {
    let meant = intent(said);
    let answer = yes_or_no(said, language);
    let is = |awaited: &Awaited| match awaited {
        Awaited::Means(intent) => meant == Some(*intent),
        Awaited::Yes => {
            asked && (answer == Some(true) && meant.is_none() || meant == Some(Intent::Interested))
        }
        Awaited::No => asked && answer == Some(false) && matches!(meant, None | Some(Intent::NotInterested)),
        Awaited::End => meant == Some(Intent::Goodbye),
    };
    exits.iter().position(|condition| awaited(condition).iter().any(is)).or_else(|| by_words(exits, said))
}

/// The exit for a conversation that has nothing left to say.
pub(super) fn natural_end(exits: &[String]) -> Option<usize> {
    exits.iter().position(|condition| awaited(condition).contains(&Awaited::End))
}

/// The exit whose significant words were said, negated only if the condition negates them.
fn by_words(exits: &[String], said: &str) -> Option<usize> {
    let heard = stems(said);
    let denied = negated(&fold(said));
    let score = |condition: &String| {
        let telling: Vec<String> = stems(condition)
            .into_iter()
            .filter(|word| !COMMON.iter().any(|common| word.starts_with(common)))
            .collect();
        let shared = telling.iter().filter(|word| heard.contains(word)).count();
        let fits =
            shared > 0 && (shared >= 2 || shared * 2 >= telling.len()) && negated(&fold(condition)) == denied;
        fits.then_some(shared)
    };
    let mut best: Option<(usize, usize)> = None;
    for (at, condition) in exits.iter().enumerate() {
        if let Some(shared) = score(condition)
            && best.is_none_or(|(most, _)| shared > most)
        {
            best = Some((shared, at));
        }
    }
    best.map(|(_, at)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_and_what_was_said() {
        let exits: Vec<String> = [
            "The customer wants to be called later",
            "The customer is not interested",
            "The customer wants to speak to a human",
            "The customer agrees to pay",
            "The customer asks about a home loan",
            "The customer does not have an account",
            "It is the wrong number",
            "The conversation has come to its natural end",
        ]
        .map(str::to_owned)
        .into();
        for (said, expected) in [
            ("I'm busy, call me tomorrow", Some(0)),
            ("मैं अभी व्यस्त हूँ, बाद में फोन कीजिए", Some(0)),
            ("no thanks, not interested", Some(1)),
            ("can I talk to a manager", Some(2)),
            ("yes", Some(3)),
            ("I am looking for a home loan", Some(4)),
            ("I don't want a loan for my home today", Some(1)),
            ("I do not have any account with you", Some(5)),
            ("I have an account", None),
            ("wrong number", Some(6)),
            ("okay bye", Some(7)),
            ("what is the rate", None),
            ("", None),
        ] {
            assert_eq!(applies(&exits, said, true, "en"), expected, "{said}");
        }
        assert_eq!(applies(&exits, "yes", false, "en"), None, "nothing was asked");
        assert_eq!(natural_end(&exits), Some(7));
    }
}
