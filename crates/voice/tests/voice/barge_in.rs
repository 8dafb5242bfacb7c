//! Interruptions: the agent falls silent for speech and for nothing else, and only what was heard was said.

use std::sync::atomic::Ordering;

use domain::call::{EndCause, Fact};
use domain::conversation::Exchange;
use domain::ports::Said;

use super::fakes::{lock, words};
use super::sounds::{Voice, cough, english, mixed, noise, silence, speech, then};
use super::{Room, converse, order, question, transcript};

#[tokio::test(start_paused = true)]
async fn speech_stops_the_agent_within_200_ms() {
    for (name, sound) in [
        ("English", english("wait, I want the gold plan")),
        ("Hindi", speech(Voice::Espeak("hi"), "रुकिए, मुझे बाद में फ़ोन कीजिए")),
        ("Tamil", speech(Voice::Espeak("ta"), "நான் இப்போது பேச முடியாது")),
        ("in noise", mixed(&english("wait, I want the gold plan"), &noise(5, 3000, 800.0))),
    ] {
        let room = Room::default();
        room.hears(&["wait, I want the gold plan."]);
        let mut phone = room.call(order(question()));
        phone.until_agent_speaks(500).await;
        phone.quiet(2000).await;
        let began = phone.now;
        let mut stopped = None;
        for frame in super::test_call::frames(&sound) {
            if !phone.tick(Some(&frame)).await && stopped.is_none() {
                stopped = Some(phone.now - began);
            }
        }
        // The tick that is sent now, and 20 ms until the first sound of a word is voice.
        assert!(stopped.is_some_and(|ms| ms <= 220), "{name}: {stopped:?}");
        let held = phone.until_over(20_000).await;
        let told = transcript(&held);
        assert_eq!(held.report.extracted["plan"], "wait, I want the gold plan.", "{name}");
        assert!(told[0].starts_with("agent: Hello, this") && !told[0].contains("Friday"), "{name}: {told:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_cough_does_not_stop_the_agent() {
    let room = Room::default();
    let mut phone = room.call(order(question()));
    phone.until_agent_speaks(500).await;
    phone.quiet(1500).await;
    phone.say(&cough()).await;
    phone.quiet(700).await;
    phone.until_agent_is_silent(400).await;
    let sounded: Vec<&i16> = phone.agent.iter().filter(|sample| **sample != 0).collect();
    let whole: Vec<i16> = room
        .said()
        .iter()
        .flat_map(|text| super::fakes::sound_of(text))
        .filter(|sample| *sample != 0)
        .collect();
    assert!(sounded.into_iter().eq(whole.iter()), "all of it is said");
    assert_eq!(phone.line.cleared(), 0, "it never even paused");
    phone.hang_up().await;
}

#[tokio::test(start_paused = true)]
async fn a_sign_of_listening_is_ridden_over() {
    for sign in ["haan", "hmm", "ok", "ji", ""] {
        let room = Room::default();
        room.hears(&[sign]);
        room.ears.takes_ms.store(150, Ordering::SeqCst);
        let mut phone = room.call(order(question()));
        phone.until_agent_speaks(500).await;
        phone.quiet(1500).await;
        phone.say(&speech(Voice::Espeak("hi"), "हाँ")).await;
        phone.until_agent_is_silent(1500).await;
        let sounded: Vec<i16> = phone.agent.iter().copied().filter(|sample| *sample != 0).collect();
        let whole: Vec<i16> = room
            .said()
            .iter()
            .flat_map(|text| super::fakes::sound_of(text))
            .filter(|sample| *sample != 0)
            .collect();
        assert_eq!(room.said().len(), 3, "{sign}: {:?}", room.said());
        assert!(
            sounded == whole,
            "{sign}: every sample once and in order, {} of {}",
            sounded.len(),
            whole.len()
        );
        let held = phone.hang_up().await;
        assert_eq!(held.report.turns.len(), 1, "{sign}: {:?}", transcript(&held));
    }
}

#[tokio::test(start_paused = true)]
async fn yes_at_the_end_of_a_question_is_its_answer() {
    let nodes = serde_json::json!([
        {"id": "a", "type": "collect", "text": "Do you want the gold plan now?", "field": {"key": "wants", "type": "boolean"}, "next": "z"},
        {"id": "z", "type": "end", "text": "Bye."}]);
    let room = Room::default();
    room.hears(&["haan"]);
    let mut phone = room.call(order(nodes));
    phone.until_agent_speaks(500).await;
    phone.quiet(1100).await;
    phone.say(&speech(Voice::Espeak("hi"), "हाँ")).await;
    let held = phone.until_over(10_000).await;
    assert_eq!(held.report.extracted["wants"], true);
}

#[tokio::test(start_paused = true)]
async fn the_model_knows_only_what_was_heard() {
    let room = Room::default();
    let long = "I am calling about your loan. The amount is two thousand rupees. It is due on Friday. Please pay it soon.";
    room.thinks(vec![vec![(100, Ok(Said::Text(long.to_owned())))], words("All right.")]);
    room.hears(&["who is this?"]);
    let mut phone = room.call(order(converse(&[])));
    phone.until_agent_speaks(1000).await;
    phone.quiet(2200).await;
    phone.say(&english("who is this?")).await;
    phone.until_agent_is_silent(1500).await;
    let asked = lock(&room.model.asked)[1].clone();
    let Some(Exchange::Said { text, .. }) = asked.history.first() else { panic!("{asked:?}") };
    assert!(text.starts_with("I am calling about your loan.") && !text.contains("Friday"), "{text}");
    let text = text.clone();
    let held = phone.hang_up().await;
    assert_eq!(
        transcript(&held),
        [format!("agent: {text}"), "customer: who is this?".into(), "agent: All right.".into()]
    );
}

#[tokio::test(start_paused = true)]
async fn the_model_is_cut_off_while_it_writes() {
    let room = Room::default();
    let text = |wait: u64, text: &str| (wait, Ok(Said::Text(text.to_owned())));
    room.thinks(vec![
        vec![text(100, "One. Two. Three. Four. Five. Six. Seven. "), text(9000, "Eight.")],
        words("Yes?"),
    ]);
    room.hears(&["stop a moment please."]);
    let mut phone = room.call(order(converse(&[])));
    phone.until_agent_speaks(1000).await;
    phone.quiet(700).await;
    phone.say(&english("stop a moment please")).await;
    phone.quiet(12_000).await;
    assert!(!room.said().contains(&"Eight.".to_owned()), "what it would have said is dropped");
    let asked = lock(&room.model.asked)[1].clone();
    assert!(
        matches!(&asked.history[0], Exchange::Said { text, .. } if text.starts_with("One.") && !text.contains("Seven")),
        "{:?}",
        asked.history
    );
    phone.hang_up().await;
}

#[tokio::test(start_paused = true)]
async fn a_partial_result_decides_before_the_turn_is_over() {
    let room = Room::default();
    *lock(&room.ears.partial) = Some((4000, "no no listen".into()));
    room.hears(&["no no listen to me please."]);
    let mut phone = room.call(order(question()));
    phone.until_agent_speaks(500).await;
    phone.quiet(1500).await;
    phone.say(&english("no no listen to me please, I have something to say")).await;
    let held = phone.until_over(20_000).await;
    assert_eq!(held.report.extracted["plan"], "no no listen to me please.");
}

#[tokio::test(start_paused = true)]
async fn where_it_is_forbidden_nobody_interrupts() {
    let room = Room::default();
    room.hears(&["the gold plan."]);
    let mut order = order(question());
    order.interruptible = false;
    let mut phone = room.call(order);
    phone.until_agent_speaks(500).await;
    phone.quiet(500).await;
    phone.say(&english("the gold plan")).await;
    let held = phone.until_over(30_000).await;
    assert_eq!(held.end, Fact::Ended(EndCause::AgentEnded));
    let told = transcript(&held);
    assert!(
        told.iter().any(|turn| turn.ends_with("take today?")),
        "the question is heard to its end: {told:?}"
    );
    assert_eq!(
        held.report.extracted["plan"], "the gold plan.",
        "what was said meanwhile is taken when it is over"
    );
}

#[tokio::test(start_paused = true)]
async fn a_noisy_line_interrupts_nobody() {
    let room = Room::default();
    let mut phone = room.call(order(question()));
    let line = then(&[&noise(3, 6000, 1500.0), &silence(500), &noise(4, 6000, 3000.0)]);
    phone.say(&line).await;
    assert_eq!(phone.line.cleared(), 0);
    assert!(lock(&room.ears.fed).iter().all(Vec::is_empty), "noise is not sent to the recogniser");
    phone.hang_up().await;
}
