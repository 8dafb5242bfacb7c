//! Turns: questions, end-pointing, keys, the model, latency.

use std::time::Duration;

use domain::call::{EndCause, Fact};
use domain::conversation::{Exchange, ModelToolCall};
use domain::ports::Said;
use serde_json::{Map, json};
use voice::Command;

use super::fakes::{lock, words};
use super::sounds::english;
use super::{Room, converse, order, question, transcript};

#[tokio::test(start_paused = true)]
async fn a_question_is_answered() {
    let room = Room::default();
    room.hears(&["the gold plan"]);
    let mut phone = room.call(order(question()));
    phone.until_agent_speaks(500).await;
    phone.until_agent_is_silent(400).await;
    phone.say(&english("the gold plan please")).await;
    let held = phone.until_over(20_000).await;
    assert_eq!(held.end, Fact::Ended(EndCause::AgentEnded));
    assert_eq!(held.report.outcome.as_deref(), Some("interested"));
    assert_eq!(held.report.extracted["plan"], "the gold plan");
    assert_eq!(
        transcript(&held),
        [
            "agent: Hello, this is the bank. Your loan payment is due on Friday. Which plan would you like to take today?",
            "customer: the gold plan",
            "agent: Thank you. Goodbye."
        ]
    );
    assert_eq!(*lock(&room.office.facts), [Fact::AgentConnected]);
    let turns = &held.report.turns;
    assert!(turns.windows(2).all(|pair| pair[0].end_ms <= pair[1].start_ms), "{turns:?}");
    let [latency] = held.report.latency.as_slice() else { panic!("{:?}", held.report.latency) };
    assert_eq!(latency.turn, 2);
    assert!((300..=1000).contains(&latency.endpoint_ms), "{latency:?}");
    assert!(
        latency.transcript_ms.is_some_and(|at| at <= latency.endpoint_ms) && latency.first_token_ms.is_none()
    );
    assert!(
        latency.first_audio_ms.is_some()
            && latency.first_packet_ms.is_some_and(|at| (latency.endpoint_ms..1200).contains(&at)),
        "{latency:?}"
    );
    assert_eq!(lock(&room.office.answered).len(), 1);
    assert!(!held.report.model_talked);
}

#[tokio::test(start_paused = true)]
async fn the_recogniser_is_fed_speech_with_what_came_before_it_and_not_the_silence() {
    let room = Room::default();
    room.hears(&["the gold plan"]);
    let mut phone = room.call(order(question()));
    phone.until_agent_is_silent(400).await;
    let answer = english("the gold plan please");
    phone.say(&answer).await;
    phone.quiet(2000).await;
    let fed = lock(&room.ears.fed)[0].clone();
    let (least, most) = (answer.len() + 8 * 200, answer.len() + 8 * 800);
    assert!((least..most).contains(&fed.len()), "{} samples of {}", fed.len(), answer.len());
    let peak = *answer.iter().max().expect("sound");
    assert!(fed.contains(&peak), "the speech itself was fed");
}

#[tokio::test(start_paused = true)]
async fn a_pause_after_an_unfinished_phrase_is_waited_out() {
    let room = Room::default();
    room.hears(&["I would like the", "gold plan"]);
    let mut phone = room.call(order(question()));
    phone.until_agent_is_silent(400).await;
    phone.say(&english("I would like the")).await;
    phone.quiet(700).await;
    phone.say(&english("gold plan")).await;
    let held = phone.until_over(20_000).await;
    assert_eq!(held.report.extracted["plan"], "I would like the gold plan");
}

#[tokio::test(start_paused = true)]
async fn a_number_in_groups_is_one_answer() {
    let nodes = json!([
        {"id": "a", "type": "collect", "text": "Your number?", "field": {"key": "phone", "type": "number"}, "next": "z"},
        {"id": "z", "type": "end", "text": "Bye."}]);
    let room = Room::default();
    room.hears(&["nine eight one two", "three four five", "six seven eight"]);
    let mut phone = room.call(order(nodes));
    phone.until_agent_is_silent(400).await;
    for group in ["nine eight one two", "three four five", "six seven eight"] {
        phone.say(&english(group)).await;
        phone.quiet(800).await;
    }
    let held = phone.until_over(20_000).await;
    assert_eq!(held.report.extracted["phone"], "9812345678");
}

#[tokio::test(start_paused = true)]
async fn keys_are_an_answer() {
    let nodes = json!([
        {"id": "a", "type": "collect", "text": "Key in your PIN code, please, and then wait for a moment.", "field": {"key": "pin", "type": "number"}, "next": "b"},
        {"id": "b", "type": "collect", "text": "For gold press one, for silver press two, and then the hash key.",
         "field": {"key": "plan", "type": "choice", "choices": ["Gold", "Silver"]}, "next": "z"},
        {"id": "z", "type": "end", "text": "Bye."}]);
    let room = Room::default();
    let mut phone = room.call(order(nodes));
    phone.until_agent_speaks(500).await;
    phone.quiet(500).await;
    for key in ["4", "1", "1", "0"] {
        phone.press(key);
        phone.quiet(500).await;
    }
    assert!(phone.silent_for() > 1000, "a key interrupts");
    phone.quiet(3000).await;
    phone.press("2#");
    let held = phone.until_over(20_000).await;
    assert_eq!(json!(held.report.extracted), json!({"pin": "4110", "plan": "Silver"}));
    let told = transcript(&held);
    assert_eq!((told[1].as_str(), told[3].as_str()), ("customer: 4110", "customer: 2"), "{told:?}");
    assert!(told[0].starts_with("agent: Key") && !told[0].contains("moment"), "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn the_model_is_spoken_while_it_writes() {
    let room = Room::default();
    let text = |wait: u64, text: &str| (wait, Ok(Said::Text(text.to_owned())));
    room.thinks(vec![
        vec![text(200, "Hello, this is Asha. "), text(3000, "How can I help you?")],
        vec![text(300, "We open at nine. "), text(2000, "Anything else?")],
        vec![(100, Ok(Said::Text("Good.".into()))), (0, Ok(Said::Exit(0)))],
    ]);
    room.hears(&["when do you open?", "no thanks."]);
    let mut phone = room.call(order(converse(&[])));
    phone.until_agent_speaks(1000).await;
    assert!(phone.now < 800, "the first sentence sounds while the second is written, at {}", phone.now);
    phone.until_agent_is_silent(3000).await;
    phone.say(&english("when do you open?")).await;
    let asked = phone.now;
    phone.until_agent_speaks(2000).await;
    assert!(phone.now - asked < 1200, "after {}", phone.now - asked);
    phone.until_agent_is_silent(2500).await;
    phone.say(&english("no thanks")).await;
    let held = phone.until_over(20_000).await;
    assert_eq!(
        transcript(&held),
        [
            "agent: Hello, this is Asha. How can I help you?",
            "customer: when do you open?",
            "agent: We open at nine. Anything else?",
            "customer: no thanks.",
            "agent: Good.",
            "agent: Goodbye."
        ]
    );
    assert!(held.report.model_talked);
    assert_eq!(held.report.latency.len(), 2);
    for latency in &held.report.latency {
        let times = [
            Some(latency.endpoint_ms),
            latency.first_token_ms,
            latency.first_audio_ms,
            latency.first_packet_ms,
        ];
        assert!(times.iter().all(Option::is_some) && times.is_sorted(), "{latency:?}");
    }
    let asked = lock(&room.model.asked);
    assert!(asked[0].opening && asked[0].spoken && asked[0].language == "en");
    assert_eq!(asked[1].knowledge, ["We are open from nine to six."]);
    assert_eq!(*lock(&room.office.questions), ["when do you open?", "no thanks."]);
}

#[tokio::test(start_paused = true)]
async fn a_slow_tool_is_bridged_with_a_word() {
    let room = Room::default();
    let call = ModelToolCall { tool_id: "lookup".into(), arguments: Map::new() };
    room.thinks(vec![
        words("Hello."),
        vec![(100, Ok(Said::Tool(call)))],
        words("Your balance is ten rupees."),
    ]);
    room.hears(&["my balance please."]);
    *lock(&room.office.tool) = (5000, Some(Ok(json!({"balance": 10}))));
    let mut phone = room.call(order(converse(&["lookup"])));
    phone.until_agent_is_silent(1000).await;
    phone.say(&english("my balance please")).await;
    phone.until_agent_speaks(4000).await;
    phone.until_agent_is_silent(500).await;
    phone.until_agent_speaks(6000).await;
    phone.until_agent_is_silent(1000).await;
    assert_eq!(room.said(), ["Hello.", "One moment, please.", "Your balance is ten rupees."]);
    assert_eq!(lock(&room.office.tools)[0].0, "lookup");
    let asked = lock(&room.model.asked).last().cloned().expect("a request");
    let spoken: Vec<&str> = asked
        .history
        .iter()
        .filter_map(|one| if let Exchange::Said { text, .. } = one { Some(text.as_str()) } else { None })
        .collect();
    assert_eq!(spoken, ["Hello.", "my balance please."], "the model is not shown the filler");
    let held = phone.hang_up().await;
    assert_eq!(held.end, Fact::Ended(EndCause::CallerHangup));
}

#[tokio::test(start_paused = true)]
async fn on_hold_nothing_is_said_and_no_silence_counted() {
    let room = Room::default();
    let mut phone = room.call(order(question()));
    phone.until_agent_speaks(500).await;
    phone.quiet(1000).await;
    phone.command(Command::Hold(true)).await;
    phone.quiet(60).await;
    for _ in 0..3000 {
        let said = phone.tick(None).await;
        assert!(!said, "at {}", phone.now);
    }
    phone.command(Command::Hold(false)).await;
    phone.until_agent_speaks(500).await;
    phone.until_agent_is_silent(500).await;
    assert_eq!(room.said().len(), 3, "{:?}", room.said());
    phone.quiet(7000).await;
    assert!(room.said().len() > 3, "after the hold silence counts again");
    phone.hang_up().await;
}

#[tokio::test(start_paused = true)]
async fn silence_is_asked_about_and_then_ends_the_call() {
    let room = Room::default();
    room.thinks(vec![words("Hello.")]);
    let mut order = order(converse(&[]));
    order.silence = Duration::from_secs(4);
    let held = room.call(order).until_over(60_000).await;
    assert_eq!(held.end, Fact::Ended(EndCause::SilenceTimeout));
    assert_eq!(
        room.said(),
        ["Hello.", "Are you still there?", "Are you still there?", "Thank you for your time.", "Goodbye."]
    );
    let starts: Vec<i64> = held.report.turns.iter().map(|turn| turn.start_ms).collect();
    let ends: Vec<i64> = held.report.turns.iter().map(|turn| turn.end_ms).collect();
    for (end, next) in ends.iter().zip(starts.iter().skip(1)) {
        assert!((3900..4400).contains(&(next - end)), "{starts:?} {ends:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_understood_is_told_while_the_customer_still_speaks() {
    let room = Room::default();
    let text = |text: &str| (100, Ok(Said::Text(text.to_owned())));
    room.thinks(vec![
        vec![text("Hello, this is Asha.")],
        vec![text("We open at nine."), (0, Ok(Said::Exit(0)))],
    ]);
    room.hears(&["when do you open?"]);
    *lock(&room.ears.partial) = Some((4000, "when do you".into()));
    let mut phone = room.call(order(converse(&[])));
    phone.until_agent_is_silent(3000).await;
    phone.say(&english("when do you open?")).await;
    phone.until_over(20_000).await;
    assert_eq!(*lock(&room.office.said_so_far), ["when do you", "when do you open?"]);
    assert_eq!(*lock(&room.office.questions), ["when do you open?"]);
}
