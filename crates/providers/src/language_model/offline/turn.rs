//! What the answerer says next. Everything is derived from the order, so the same order gives the same turn,
//! and nothing is kept between turns.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use domain::conversation::{Exchange, Role};
use domain::ports::{Said, TalkOrder};
use domain::speech::{Intent, backchannel, fold, intent, opt_out, sentences, yes_or_no};

use super::exits;
use super::lines::{self, Lines};
use super::prompt::Prompt;
use super::retrieval::{best, fold_all};

/// Longest answer taken out of a text, in characters.
const LONGEST: usize = 320;

/// A turn: words, and what comes after them.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Turn {
    pub(super) text: String,
    pub(super) then: Option<Said>,
}

impl Turn {
    fn say(text: impl Into<String>) -> Self {
        Self { text: text.into(), then: None }
    }

    fn end(text: impl Into<String>, outcome: Option<&str>) -> Self {
        Self { text: text.into(), then: Some(Said::End(outcome.map(str::to_owned))) }
    }
}

/// The state of a conversation.
struct Talk<'a> {
    order: &'a TalkOrder,
    prompt: Prompt,
    lines: &'static Lines,
    /// What the agent has said, oldest first.
    told: Vec<&'a str>,
}

pub(super) fn next(order: &TalkOrder) -> Turn {
    let by = |wanted: Role| {
        order.history.iter().filter_map(move |exchange| match exchange {
            Exchange::Said { role, text } if *role == wanted => Some(text.as_str()),
            _ => None,
        })
    };
    let talk = Talk {
        order,
        prompt: Prompt::read(&order.prompt),
        lines: lines::of(&order.language),
        told: by(Role::Agent).collect(),
    };
    let said = order.history.iter().rev().find_map(|exchange| match exchange {
        Exchange::Said { role: Role::Customer, text } => Some(text.as_str()),
        _ => None,
    });
    match said.filter(|_| !order.opening) {
        Some(said) => talk.answer(said),
        None => talk.open(),
    }
}

impl Talk<'_> {
    /// The agent speaks first: who calls, why, and the first question.
    fn open(&self) -> Turn {
        if !self.told.is_empty() {
            return self.go_on("");
        }
        let mut parts = vec![self.lines.hello.to_owned()];
        parts.extend(self.introduction());
        match (self.pending(), &self.prompt.purpose) {
            (Some(item), _) => parts.push(item.to_owned()),
            (None, Some(_)) => {}
            (None, None) => parts.push(self.lines.how_can_i_help.to_owned()),
        }
        Turn::say(parts.join(" "))
    }

    fn introduction(&self) -> Vec<String> {
        let who = self.prompt.identity.as_ref().map(|identity| {
            if self.order.language == "hi" {
                format!("यह {} की ओर से कॉल है।", identity.trim_end_matches('।'))
            } else {
                format!("This is {identity}.")
            }
        });
        who.into_iter().chain(self.prompt.purpose.clone()).collect()
    }

    /// The first thing of the agenda that was not said yet.
    fn pending(&self) -> Option<&str> {
        self.prompt
            .agenda
            .iter()
            .find(|item| !self.told.iter().any(|told| told.contains(item.as_str())))
            .filter(|item| !self.prompt.forbids(item))
            .map(String::as_str)
    }

    fn answer(&self, said: &str) -> Turn {
        let asked = self.told.iter().any(|told| told.contains('?')) || !self.told.is_empty();
        if opt_out(said, &self.order.language) {
            return Turn::end(self.lines.sorry_bye, Some("opted_out"));
        }
        let meant = intent(said);
        if let Some(exit) =
            exits::applies(&self.order.exits, said, asked && self.pending().is_none(), &self.order.language)
        {
            return self.leave(exit, meant);
        }
        match meant {
            Some(Intent::WrongNumber) => Turn::end(self.lines.sorry_bye, Some("wrong_number")),
            Some(Intent::CallLater) => Turn::end(self.lines.later, Some("callback_requested")),
            Some(Intent::NotInterested) => Turn::end(self.lines.sorry_bye, Some("not_interested")),
            Some(Intent::Person) => {
                Turn::end(format!("{} {}", self.lines.person, self.lines.thanks), Some("callback_requested"))
            }
            Some(Intent::Goodbye) => self.close(),
            Some(Intent::Repeat) => Turn::say(
                self.told.last().map_or_else(|| self.introduction().join(" "), |told| (*told).to_owned()),
            ),
            Some(Intent::WhoIsThis) => self.introduce(),
            Some(Intent::Machine) => self.go_on(self.lines.automated),
            Some(Intent::Interested) | None => self.reply(said),
        }
    }

    fn introduce(&self) -> Turn {
        let introduction = self.introduction();
        if introduction.is_empty() {
            self.go_on(self.lines.automated)
        } else {
            Turn::say(introduction.join(" "))
        }
    }

    /// Takes an exit, with a short sentence that fits it. Only the end of the conversation says goodbye: after
    /// other exits the flow speaks next.
    fn leave(&self, exit: usize, meant: Option<Intent>) -> Turn {
        let ends = exits::natural_end(&self.order.exits) == Some(exit);
        let text = match meant {
            Some(Intent::CallLater) if ends => self.lines.later,
            Some(Intent::WrongNumber | Intent::NotInterested) if ends => self.lines.sorry_bye,
            _ if ends => self.lines.thanks,
            _ => "",
        };
        Turn { text: text.to_owned(), then: Some(Said::Exit(exit)) }
    }

    /// Answers a question out of what is known, then goes on with the agenda.
    fn reply(&self, said: &str) -> Turn {
        let question = is_question(said);
        let wants_more = intent(said) == Some(Intent::Interested);
        if let Some(found) = self.known(said).filter(|_| question || self.pending().is_none() || wants_more) {
            return self.go_on(&found);
        }
        if question {
            return if self.told.last().is_some_and(|told| told.contains(self.lines.do_not_know)) {
                self.close()
            } else {
                self.go_on(self.lines.do_not_know)
            };
        }
        if wants_more && self.pending().is_none() && self.has_asked_for_more() {
            return Turn::end(self.lines.thanks, Some("interested"));
        }
        let nothing_more = self.has_asked_for_more()
            && (yes_or_no(said, &self.order.language) == Some(false)
                || backchannel(said, &self.order.language));
        if nothing_more { self.close() } else { self.go_on("") }
    }

    /// The passage that fits, unless it was just said or must not be.
    fn known(&self, said: &str) -> Option<String> {
        let passages: Vec<String> = self
            .order
            .knowledge
            .iter()
            .flat_map(|passage| sentences(passage))
            // Says what the passage is about.
            .filter(|sentence| !(sentence.starts_with('[') && sentence.ends_with(']')))
            .chain(self.prompt.facts.iter().cloned())
            .collect();
        let allowed: Vec<&str> = passages
            .iter()
            .map(String::as_str)
            .filter(|sentence| !self.prompt.forbids(sentence) && sentence.chars().count() <= LONGEST)
            .filter(|sentence| !self.told.last().is_some_and(|told| told.contains(sentence)))
            .collect();
        best(said, &allowed).map(str::to_owned)
    }

    fn has_asked_for_more(&self) -> bool {
        self.told.iter().any(|told| told.contains(self.lines.anything_else))
    }

    /// Goes on with the agenda; when it is done, asks once whether there is more, and closes the next time
    /// there is nothing to say.
    fn go_on(&self, first: &str) -> Turn {
        let then = match self.pending() {
            Some(item) => item,
            None if !self.has_asked_for_more() => self.lines.anything_else,
            None if !first.is_empty() => "",
            None => return self.close(),
        };
        Turn::say([first, then].iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join(" "))
    }

    fn close(&self) -> Turn {
        match exits::natural_end(&self.order.exits) {
            Some(exit) => self.leave(exit, None),
            None => Turn::end(self.lines.thanks, None),
        }
    }
}

/// Whether something is asked: by its mark, by a verb in front, by a question word near the beginning, or, in
/// Indian languages, at the end.
pub(super) fn is_question(said: &str) -> bool {
    const VERBS: [&str; 12] =
        ["is", "are", "do", "does", "can", "could", "will", "would", "should", "tell", "did", "was"];
    const WORDS: [&str; 43] = [
        "what",
        "when",
        "where",
        "who",
        "which",
        "why",
        "how",
        "kya",
        "kab",
        "kahan",
        "kaun",
        "kitna",
        "kitni",
        "kitne",
        "kaise",
        "kyon",
        "kyun",
        "क्या",
        "कब",
        "कहाँ",
        "कहां",
        "कौन",
        "कितना",
        "कितनी",
        "कितने",
        "कैसे",
        "क्यों",
        "কি",
        "কত",
        "কবে",
        "શું",
        "કેટલા",
        "ಏನು",
        "ಎಷ್ಟು",
        "എന്ത്",
        "എത്ര",
        "काय",
        "किती",
        "କଣ",
        "ਕੀ",
        "என்ன",
        "எவ்வளவு",
        "ఎంత",
    ];
    let words = fold(said);
    let near: Vec<&String> = words.iter().take(2).chain(words.last()).collect();
    static FIRST: LazyLock<BTreeSet<String>> = LazyLock::new(|| fold_all(&VERBS.join(" ")));
    static ASKING: LazyLock<BTreeSet<String>> = LazyLock::new(|| fold_all(&WORDS.join(" ")));
    said.contains('?')
        || words.first().is_some_and(|word| FIRST.contains(word))
        || near.into_iter().any(|word| ASKING.contains(word))
}
