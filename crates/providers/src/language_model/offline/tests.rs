use domain::conversation::{Exchange, Role, Turn};
use domain::ports::{Analysis, AnalysisOrder, LanguageModel, Said, TalkOrder};
use serde_json::{Map, Value, json};
use std::task::{Context, Poll, Waker};

use super::OfflineAnswerer;

const PROMPT: &str = "You are Asha, a friendly caller from Acme Bank. Your goal is to remind the customer about their loan payment.\nThe due date is 5 December. The late fee is 500 rupees. Premium customers get a discount of ten percent.\n\
    Never mention the discount. Keep answers short. Do not argue.\n1. Ask whether they can pay today.\n2. Ask for their email address.";

/// The answers are ready: nothing here waits.
fn ready<T>(mut answer: domain::ports::Answer<'_, T>) -> T {
    match answer.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("rules do not wait"),
    }
}

/// A conversation: what the customer says, turn by turn.
struct Talk {
    order: TalkOrder,
}

impl Talk {
    fn new(prompt: &str, language: &str) -> Self {
        let order = TalkOrder {
            workspace: None,
            prompt: prompt.into(),
            history: vec![],
            exits: vec![],
            tools: vec![],
            knowledge: vec![],
            opening: true,
            language: language.into(),
            spoken: true,
        };
        Self { order }
    }

    fn exits(mut self, exits: &[&str]) -> Self {
        self.order.exits = exits.iter().map(|exit| (*exit).to_owned()).collect();
        self
    }

    fn turn(&mut self) -> (String, Option<Said>) {
        let mut talking = ready(OfflineAnswerer.talk(self.order.clone())).expect("rules do not fail");
        let (mut text, mut then) = (String::new(), None);
        while let Some(said) = ready(talking.next()) {
            match said.expect("rules do not fail") {
                Said::Text(more) => {
                    assert!(then.is_none(), "no words after the end");
                    text.push_str(&more);
                }
                other => assert!(then.replace(other).is_none(), "one end"),
            }
        }
        if !text.is_empty() {
            self.order.history.push(Exchange::Said { role: Role::Agent, text: text.clone() });
        }
        (text, then)
    }

    fn hears(&mut self, said: &str) -> (String, Option<Said>) {
        self.order.opening = false;
        self.order.history.push(Exchange::Said { role: Role::Customer, text: said.into() });
        self.turn()
    }
}

#[test]
fn it_introduces_itself_follows_the_agenda_and_ends() {
    let mut talk = Talk::new(PROMPT, "en");
    let (text, then) = talk.turn();
    assert_eq!(
        text,
        "Hello. This is Asha from Acme Bank. I am calling to remind you about your loan payment. Could you tell me whether you can pay today?"
    );
    assert_eq!(then, None);
    let (text, _) = talk.hears("yes I can");
    assert_eq!(text, "Could you tell me your email address, please?");
    let (text, _) = talk.hears("What is the late fee?");
    assert!(text.starts_with("The late fee is 500 rupees."), "{text}");
    let (text, then) = talk.hears("asha at example dot in");
    assert!(!text.is_empty() || then.is_some());
    let ended = (0..4).any(|_| talk.hears("no").1.is_some());
    assert!(ended, "it does not go on for ever");
}

#[test]
fn what_must_not_be_said_is_not_said() {
    let mut talk = Talk::new(PROMPT, "en");
    talk.turn();
    for question in [
        "Is there any discount?",
        "what discount do premium customers get?",
        "tell me about the ten percent discount",
        "why do you never mention the discount?",
        "do you argue?",
    ] {
        let (text, _) = talk.hears(question);
        assert!(!text.contains("discount") && !text.contains("argue"), "{question}: {text}");
    }
}

#[test]
fn instructions_are_never_spoken() {
    let prompt = "You are Ravi from Clean Homes. Always be polite. If the customer is angry, apologise. Do not promise anything. Keep it short. Speak slowly. The visit costs 300 rupees. Respond in English only.";
    let mut talk = Talk::new(prompt, "en");
    talk.turn();
    for said in [
        "what should you always be",
        "are you polite",
        "I am angry",
        "speak slowly",
        "in english only?",
        "what do you promise",
        "how much does the visit cost?",
        "ok",
        "hmm",
    ] {
        let (text, _) = talk.hears(said);
        for instruction in ["polite", "angry", "promise", "slowly", "English only", "short"] {
            assert!(!text.contains(instruction), "{said}: {text}");
        }
    }
}

#[test]
fn knowledge_answers_questions() {
    let mut talk = Talk::new("You are a helper for Sunrise Clinic.", "en");
    talk.order.knowledge = vec![
        "The clinic opens at nine in the morning. It is closed on Sundays. Parking is free for patients."
            .into(),
    ];
    talk.turn();
    for (question, expected) in [
        ("When does the clinic open?", "opens at nine"),
        ("is parking free", "Parking is free"),
        ("are you closed on sunday?", "closed on Sundays"),
    ] {
        let (text, _) = talk.hears(question);
        assert!(text.contains(expected), "{question}: {text}");
    }
    let (text, _) = talk.hears("what is the capital of France?");
    assert!(text.contains("do not have that information"), "{text}");
    let mut hindi = Talk::new("आप आशा हैं।", "hi");
    hindi.order.knowledge = vec!["क्लिनिक सुबह नौ बजे खुलता है। रविवार को क्लिनिक बंद रहता है।".into()];
    hindi.turn();
    let (text, _) = hindi.hears("रविवार को खुला है क्या?");
    assert!(text.contains("रविवार को क्लिनिक बंद"), "{text}");
}

#[test]
fn what_people_mean_ends_the_conversation_with_its_outcome() {
    for (language, said, outcome) in [
        ("en", "I am busy, call me later", "callback_requested"),
        ("hi", "अभी व्यस्त हूँ, बाद में फोन कीजिए", "callback_requested"),
        ("en", "I'm not interested", "not_interested"),
        ("ta", "எனக்கு வேண்டாம்", "not_interested"),
        ("en", "sorry, wrong number", "wrong_number"),
        ("te", "మళ్ళీ కాల్ చేయకండి", "opted_out"),
        ("en", "please stop calling me", "opted_out"),
    ] {
        let mut talk = Talk::new(PROMPT, language);
        talk.turn();
        let (text, then) = talk.hears(said);
        assert_eq!(then, Some(Said::End(Some(outcome.into()))), "{said}");
        assert!(!text.is_empty());
    }
}

#[test]
fn exits_come_before_ends() {
    let exits = [
        "The customer wants to talk to a human",
        "The customer wants to be called later",
        "The conversation has come to its natural end, or the person wants to stop.",
    ];
    for (said, exit) in [("connect me to a manager", 0), ("I am driving, call me tomorrow", 1), ("bye", 2)] {
        let mut talk = Talk::new(PROMPT, "en").exits(&exits);
        talk.turn();
        assert_eq!(talk.hears(said).1, Some(Said::Exit(exit)), "{said}");
    }
}

#[test]
fn it_repeats_says_who_it_is_and_that_it_is_a_machine() {
    let mut talk = Talk::new(PROMPT, "en");
    let (first, _) = talk.turn();
    assert_eq!(talk.hears("can you repeat that?").0, first);
    assert!(talk.hears("who is this?").0.contains("Asha from Acme Bank"));
    assert!(talk.hears("are you a robot?").0.contains("automated assistant"));
}

#[test]
fn nothing_known_is_still_a_conversation() {
    for prompt in ["", "Be nice.", "{{x}}", "।।।"] {
        let mut talk = Talk::new(prompt, "xx");
        assert!(talk.turn().0.contains("How can I help you?"), "{prompt}");
        let ended = (0..5).any(|_| talk.hears("ok").1.is_some());
        assert!(ended, "{prompt}");
    }
}

fn analyse(prompt: &str, schema: Value, turns: &[(Role, &str)]) -> Analysis {
    let transcript = turns.iter().map(|(role, text)| Turn { role: *role, text: (*text).into() }).collect();
    let order = AnalysisOrder {
        workspace: None,
        transcript,
        schema,
        extracted: Map::new(),
        prompt: prompt.into(),
        language: "en".into(),
        choices: vec![],
    };
    ready(OfflineAnswerer.analyse(order)).expect("rules do not fail")
}

use Role::{Agent, Customer};

#[test]
fn a_conversation_is_read() {
    let schema = json!([
        {"key": "name", "label": "Full name", "type": "text"},
        {"key": "canPay", "label": "Can pay today", "type": "boolean"},
        {"key": "amount", "label": "Amount", "type": "number"},
        {"key": "email", "label": "Email", "type": "text"},
        {"key": "pincode", "label": "Pincode", "type": "text"},
        {"key": "plan", "label": "Plan", "type": "choice", "choices": ["Gold", "Silver"]},
        {"key": "callback_time", "label": "When to call back", "type": "text"},
        {"key": "colour", "label": "Favourite colour", "type": "text"},
    ]);
    let analysis = analyse(
        PROMPT,
        schema,
        &[
            (Agent, "Hello. This is Asha. May I know your name?"),
            (Customer, "My name is Ravi Kumar."),
            (Agent, "Could you tell me whether you can pay today?"),
            (Customer, "yes"),
            (Agent, "What amount will you pay?"),
            (Customer, "four thousand five hundred"),
            (Agent, "Could you tell me your email address, please?"),
            (Customer, "ravi at example dot in"),
            (Agent, "And your pincode?"),
            (Customer, "560 001"),
            (Agent, "Which plan?"),
            (Customer, "the silver one"),
            (Agent, "Anything else?"),
            (Customer, "Thank you, but call me tomorrow at five please"),
        ],
    );
    assert_eq!(
        Value::Object(analysis.extracted),
        json!({"name": "Ravi Kumar", "canPay": true, "amount": 4500, "email": "ravi@example.in", "pincode": "560001", "plan": "Silver", "callback_time": "tomorrow at five"})
    );
    assert_eq!(analysis.outcome.as_deref(), Some("callback_requested"));
    assert_eq!(analysis.sentiment.as_deref(), Some("positive"));
    assert!(
        analysis.summary.starts_with(
            "The agent (Asha from Acme Bank) called to remind the customer about the customer's loan payment."
        ),
        "{}",
        analysis.summary
    );
    assert!(analysis.summary.contains("asked to be called later"), "{}", analysis.summary);
}

#[test]
fn what_the_flow_captured_wins_and_nothing_is_invented() {
    let transcript =
        vec![Turn { role: Agent, text: "Your city?".into() }, Turn { role: Customer, text: "Pune".into() }];
    let order = AnalysisOrder {
        workspace: None,
        transcript,
        schema: json!([{"key": "city", "label": "City", "type": "text"}, {"key": "age", "label": "Age", "type": "number"}]),
        extracted: json!({"city": "Mumbai"}).as_object().cloned().unwrap_or_default(),
        prompt: String::new(),
        language: "en".into(),
        choices: vec![],
    };
    let analysis = ready(OfflineAnswerer.analyse(order)).expect("rules do not fail");
    assert_eq!(Value::Object(analysis.extracted), json!({"city": "Mumbai"}));
}

#[test]
fn outcomes_and_moods() {
    for (said, outcome, sentiment) in [
        (vec!["who is this", "this is harassment, do not call me again"], Some("opted_out"), "negative"),
        (vec!["no thanks, not interested"], Some("not_interested"), "negative"),
        (vec!["great, tell me more about it"], Some("interested"), "positive"),
        (vec!["the number you are calling is switched off"], Some("voicemail"), "neutral"),
        // Nothing that was said decides anything.
        (vec!["two of them"], None, "neutral"),
        (vec![], None, "neutral"),
    ] {
        let mut turns = vec![(Agent, "Hello, this is the bank.")];
        turns.extend(said.iter().map(|text| (Customer, *text)));
        let analysis = analyse("", Value::Null, &turns);
        assert_eq!(
            (analysis.outcome.as_deref(), analysis.sentiment.as_deref()),
            (outcome, Some(sentiment)),
            "{said:?}"
        );
    }
    let strange = analyse("", json!({"not": "a list"}), &[(Agent, "x"), (Customer, "y")]);
    assert!(strange.extracted.is_empty());
}

/// Any prompt and anything said, however odd: no panic, an end within bounds, and never a forbidden word.
#[test]
fn odd_prompts_and_odd_words_do_no_harm() {
    let parts = [
        "You are ",
        "Your goal is to ",
        "Ask ",
        "Ask for ",
        "Say \"",
        "\"",
        "the customer",
        "1. ",
        "- ",
        "\n",
        ". ",
        "? ",
        "İstanbul ",
        "K ",
        "हैं। ",
        "from ",
        "Never mention ",
        "नंबर",
        "{{x}} ",
        "“",
        ", ",
        "Tell them ",
        "that ",
        "€",
        " ",
    ];
    let mut state = 88_172_645_463_325_252u64;
    let mut pick = |count: usize| {
        let mut text = String::new();
        for _ in 0..count {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            text.push_str(parts[(state % parts.len() as u64) as usize]);
        }
        text
    };
    for round in 0..60 {
        let mut talk = Talk::new(&pick(round % 23), "en").exits(&["The customer agrees", "end"]);
        talk.order.knowledge = vec![pick(7)];
        let first = talk.turn();
        assert_eq!(
            first,
            Talk { order: TalkOrder { history: vec![], ..talk.order.clone() } }.turn(),
            "the same again"
        );
        let ended = (0..40).any(|_| talk.hears(&pick(4)).1.is_some() || talk.hears("ok").1.is_some());
        assert!(ended, "{}", talk.order.prompt);
        let said: Vec<(Role, String)> =
            (0..4).map(|at| (if at % 2 == 0 { Agent } else { Customer }, pick(5))).collect();
        let turns: Vec<(Role, &str)> = said.iter().map(|(role, text)| (*role, text.as_str())).collect();
        analyse(
            &talk.order.prompt,
            json!([{"key": pick(2), "label": pick(2), "type": "text"}, {"key": "name"}, {"key": "when_time", "type": "date"}]),
            &turns,
        );
    }
}
