//! Providers that fail, lines that lose, people who mumble.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use domain::call::{EndCause, Fact};
use domain::conversation::{Exchange, ModelToolCall};
use domain::ports::Said;
use providers::chain::{BreakerLimits, LanguageModels, Recognisers, Synthesisers};
use providers::http::Monotonic;
use voice::Speech;

use super::fakes::{Models, Recognises, Synthesises, lock, words};
use super::sounds::english;
use super::{Room, converse, order, question, transcript};

#[tokio::test(start_paused = true)]
async fn an_agent_without_a_voice_or_ears_is_not_connected() {
    let room = Room::default();
    room.voice.broken.store(true, Ordering::SeqCst);
    let held = room.call(order(question())).until_over(2000).await;
    assert_eq!(held.end, Fact::AgentFailed);
    assert!(lock(&room.office.facts).is_empty() && held.report.turns.is_empty());

    let room = Room::default();
    room.ears.refuses.store(99, Ordering::SeqCst);
    room.voice.takes_ms.store(500, Ordering::SeqCst);
    let held = room.call(order(question())).until_over(2000).await;
    assert_eq!(held.end, Fact::AgentFailed);
}

#[tokio::test(start_paused = true)]
async fn a_sentence_that_fails_once_is_spoken_all_the_same() {
    let room = Room::default();
    room.voice.fails.store(1, Ordering::SeqCst);
    let mut phone = room.call(order(question()));
    phone.until_agent_is_silent(600).await;
    assert_eq!(room.said().len(), 4, "three sentences, one of them twice: {:?}", room.said());
    let held = phone.hang_up().await;
    assert!(transcript(&held)[0].starts_with("agent: Hello, this is the bank."));
}

#[tokio::test(start_paused = true)]
async fn a_voice_that_is_lost_in_mid_call_ends_it_as_an_error() {
    let room = Room::default();
    room.hears(&["the gold plan."]);
    let mut phone = room.call(order(super::flow_of_two_questions()));
    phone.until_agent_is_silent(600).await;
    room.voice.broken.store(true, Ordering::SeqCst);
    phone.say(&english("the gold plan")).await;
    let held = phone.until_over(5000).await;
    assert_eq!(held.end, Fact::Ended(EndCause::Error));
}

#[tokio::test(start_paused = true)]
async fn a_recogniser_that_breaks_is_opened_anew() {
    let room = Room::default();
    lock(&room.ears.script).extend([Err(()), Ok("the gold plan.".to_owned())]);
    let mut phone = room.call(order(question()));
    phone.until_agent_is_silent(600).await;
    phone.say(&english("gold")).await;
    phone.quiet(3000).await;
    assert_eq!(room.ears.opened.load(Ordering::SeqCst), 2);
    phone.say(&english("the gold plan please")).await;
    let held = phone.until_over(20_000).await;
    assert_eq!(held.report.extracted["plan"], "the gold plan.", "{:?}", transcript(&held));
}

#[tokio::test(start_paused = true)]
async fn when_nobody_hears_any_more_the_agent_says_sorry() {
    let room = Room::default();
    lock(&room.ears.script).push_back(Err(()));
    let mut phone = room.call(order(question()));
    phone.until_agent_is_silent(600).await;
    room.ears.refuses.store(99, Ordering::SeqCst);
    phone.say(&english("the gold plan")).await;
    let held = phone.until_over(10_000).await;
    assert_eq!((held.end, held.report.outcome.as_deref()), (Fact::Ended(EndCause::Error), Some("error")));
    assert_eq!(
        transcript(&held).last().map(String::as_str),
        Some("agent: Sorry, something went wrong on our side. Goodbye.")
    );
}

#[tokio::test(start_paused = true)]
async fn a_model_that_fails_twice_ends_the_call() {
    let room = Room::default();
    room.thinks(vec![words("Hello."), vec![(500, Err(()))], vec![]]);
    room.hears(&["one question.", "are you there?"]);
    let mut phone = room.call(order(converse(&[])));
    for sentence in ["I have one question", "hello, are you there?"] {
        phone.until_agent_is_silent(1000).await;
        phone.say(&english(sentence)).await;
    }
    let held = phone.until_over(20_000).await;
    assert_eq!((held.end, held.report.outcome.as_deref()), (Fact::Ended(EndCause::Error), Some("error")));
    let told = transcript(&held);
    assert!(told.contains(&"agent: Sorry, could you say that again?".to_owned()), "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn a_model_that_breaks_after_its_first_words_has_said_them() {
    let room = Room::default();
    room.thinks(vec![vec![(100, Ok(Said::Text("Hello there. How are".into()))), (100, Err(()))]]);
    let mut phone = room.call(order(converse(&[])));
    phone.until_agent_is_silent(1000).await;
    let held = phone.hang_up().await;
    assert_eq!(transcript(&held), ["agent: Hello there. How are"]);
}

#[tokio::test(start_paused = true)]
async fn a_model_that_never_answers_is_given_up() {
    let room = Room::default();
    let mut phone = room.call(order(converse(&[])));
    phone.quiet(25_000).await;
    assert_eq!(room.said(), ["One moment, please.", "Hello, how can I help you?"]);
    phone.hang_up().await;
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_never_answers_is_given_up() {
    let nodes = serde_json::json!([
        {"id": "a", "type": "tool", "toolId": "lookup", "arguments": {}, "next": "z", "onError": "e"},
        {"id": "e", "type": "end", "text": "It does not work today."}, {"id": "z", "type": "end", "text": "Fine."}]);
    let room = Room::default();
    let held = room.call(order(nodes)).until_over(40_000).await;
    assert_eq!(held.end, Fact::Ended(EndCause::AgentEnded));
    assert_eq!(room.said(), ["One moment, please.", "It does not work today."]);
}

/// What a tool did is known when the model fails after its answer: it is called once.
#[tokio::test(start_paused = true)]
async fn a_tool_that_answered_is_not_called_again_when_the_model_fails() {
    let room = Room::default();
    let refund = ModelToolCall { tool_id: "refund".into(), arguments: serde_json::Map::new() };
    let done = serde_json::json!({"refund": "done"});
    *lock(&room.office.tool) = (10, Some(Ok(done.clone())));
    room.thinks(vec![
        words("Hello."),
        vec![(50, Ok(Said::Tool(refund)))],
        vec![(50, Err(()))],
        words("It is refunded."),
    ]);
    room.hears(&["refund it.", "did you refund it."]);
    let mut phone = room.call(order(converse(&["refund"])));
    phone.until_agent_is_silent(600).await;
    phone.say(&english("refund it")).await;
    phone.until_agent_is_silent(1500).await;
    phone.say(&english("did you refund it")).await;
    phone.until_agent_is_silent(1500).await;
    let asked = lock(&room.model.asked).last().cloned().expect("a request");
    let knows =
        |one: &Exchange| matches!(one, Exchange::ToolAnswered { ok: true, value, .. } if *value == done);
    assert!(asked.history.iter().any(knows), "{asked:?}");
    assert_eq!((lock(&room.model.asked).len(), lock(&room.office.tools).len()), (4, 1));
    phone.hang_up().await;
}

#[tokio::test(start_paused = true)]
async fn speech_without_a_word_is_asked_for_again_but_not_for_ever() {
    let room = Room::default();
    let mut phone = room.call(order(question()));
    phone.until_agent_is_silent(600).await;
    for _ in 0..3 {
        phone.say(&english("mumble mumble mumble mumble")).await;
        phone.until_agent_is_silent(1500).await;
    }
    let asked = room.said().iter().filter(|text| text.contains("could not hear")).count();
    assert_eq!(asked, 2, "{:?}", room.said());
    phone.hang_up().await;
}

#[tokio::test(start_paused = true)]
async fn lost_frames_break_nothing() {
    let room = Room::default();
    room.hears(&["the gold plan."]);
    let mut phone = room.call(order(question()));
    phone.loses = Some(7);
    phone.until_agent_is_silent(600).await;
    phone.say(&english("the gold plan please")).await;
    let held = phone.until_over(20_000).await;
    assert_eq!(held.report.extracted["plan"], "the gold plan.");
    assert_eq!(held.report.turns.len(), 3, "{:?}", transcript(&held));
}

#[tokio::test(start_paused = true)]
async fn the_next_provider_takes_over_in_mid_call() {
    let (first, second) = (Room::default(), Room::default());
    // The first of each kind breaks: ears in mid-turn, voice before a sound, model before a word.
    first.hears(&["hello."]);
    lock(&first.ears.script).push_back(Err(()));
    second.hears(&["what is my balance?"]);
    first.thinks(vec![words("Hello."), words("Yes?"), vec![(300, Err(()))]]);
    second.thinks(vec![words("It is ten rupees.")]);
    let limits = BreakerLimits::default();
    let clock: Monotonic = Arc::new(|| std::time::Duration::ZERO);
    let speech = Speech {
        to_text: Arc::new(Recognisers::new(
            vec![
                Arc::new(Recognises(Arc::clone(&first.ears))),
                Arc::new(Recognises(Arc::clone(&second.ears))),
            ],
            limits,
            &clock,
        )),
        from_text: Arc::new(Synthesisers::new(
            vec![
                Arc::new(Synthesises(Arc::clone(&first.voice))),
                Arc::new(Synthesises(Arc::clone(&second.voice))),
            ],
            limits,
            &clock,
        )),
        model: Arc::new(LanguageModels::new(
            vec![Arc::new(Models(Arc::clone(&first.model))), Arc::new(Models(Arc::clone(&second.model)))],
            limits,
            &clock,
        )),
    };
    let mut phone = first.speak(order(converse(&[])), speech, None);
    phone.until_agent_is_silent(600).await;
    phone.say(&english("hello")).await;
    phone.until_agent_speaks(3000).await;
    phone.until_agent_is_silent(600).await;
    first.voice.broken.store(true, Ordering::SeqCst);
    phone.say(&english("what is my balance?")).await;
    phone.until_agent_speaks(4000).await;
    phone.until_agent_is_silent(600).await;
    let held = phone.hang_up().await;
    assert_eq!(
        transcript(&held),
        [
            "agent: Hello.",
            "customer: hello.",
            "agent: Yes?",
            "customer: what is my balance?",
            "agent: It is ten rupees."
        ]
    );
    assert_eq!(second.said(), ["It is ten rupees."]);
    let replayed = lock(&second.ears.fed).first().map_or(0, Vec::len);
    assert!(
        replayed >= english("what is my balance?").len(),
        "the second recogniser heard the turn from its beginning: {replayed}"
    );
}
