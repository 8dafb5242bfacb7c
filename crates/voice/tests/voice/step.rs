//! What the flow does and what was heard keep step: nothing is done before the words before it have sounded,
//! and who hangs up first ended the call.

use std::sync::atomic::Ordering;
use std::time::Duration;

use domain::call::{EndCause, Fact};
use domain::conversation::ModelToolCall;
use domain::ports::Said;
use serde_json::{Map, Value, json};
use voice::{Amd, Command, Held, Order};

use super::fakes::{lock, sound_of, words};
use super::sounds::english;
use super::test_call::TestCall;
use super::{Room, converse, flow, order, question, transcript};

/// A sentence of ten seconds: 60 ms a character.
fn long(number: usize) -> String {
    let start = format!("Sentence number {number} tells the customer");
    let words = " something that takes a while to be heard".repeat(9);
    let mut text: String = format!("{start}{words}").chars().take(166).collect();
    text.truncate(text.trim_end().len());
    format!("{text}.")
}

/// Twelve sentences of ten seconds, and a short goodbye.
fn twelve() -> Value {
    let say = |number: usize| json!({"id": format!("s{number}"), "type": "say", "text": long(number), "next": format!("s{}", number + 1)});
    let mut nodes: Vec<Value> = (1..=12).map(say).collect();
    nodes.push(json!({"id": "s13", "type": "end", "text": "That was all.", "outcome": "informed"}));
    json!(nodes)
}

fn outcome(held: &Held) -> (Fact, Option<&str>) {
    (held.end, held.report.outcome.as_deref())
}

/// Sound, without the silence around it and in it.
fn sounded(samples: &[i16]) -> Vec<i16> {
    samples.iter().copied().filter(|sample| *sample != 0).collect()
}

/// Longest silence between the first and the last sound, milliseconds.
fn longest_gap(samples: &[i16]) -> usize {
    let ticks: Vec<bool> = samples.chunks(160).map(|tick| tick.iter().any(|sample| *sample != 0)).collect();
    let (first, last) = (ticks.iter().position(|sounds| *sounds), ticks.iter().rposition(|sounds| *sounds));
    let Some((first, last)) = first.zip(last) else { return 0 };
    ticks[first..last].split(|sounds| *sounds).map(<[bool]>::len).max().unwrap_or(0) * 20
}

/// Ticks until the call is over; returns what the line carried.
async fn to_the_end(mut phone: TestCall, within_ms: u64) -> (Held, Vec<i16>) {
    for _ in 0..within_ms / 20 {
        if phone.call.is_finished() {
            let agent = std::mem::take(&mut phone.agent);
            return (phone.call.await.expect("no panic"), agent);
        }
        phone.tick(Some(&[3; 160])).await;
    }
    panic!("the call did not end within {within_ms} ms");
}

#[tokio::test(start_paused = true)]
async fn last_words_are_heard_to_their_end_however_long_they_are() {
    let text: String = (1..=12).map(long).collect::<Vec<_>>().join(" ");
    let in_one =
        json!([{"id": "z", "type": "end", "text": format!("{text} That was all."), "outcome": "informed"}]);
    for (nodes, turns) in [(twelve(), 13), (in_one, 1)] {
        let room = Room::default();
        let (held, agent) = to_the_end(room.call(order(nodes)), 140_000).await;
        assert_eq!(outcome(&held), (Fact::Ended(EndCause::AgentEnded), Some("informed")));
        let told = transcript(&held);
        assert_eq!(told.len(), turns, "{told:?}");
        assert!((1..=12).all(|number| told.iter().any(|turn| turn.contains(&long(number)))), "{told:?}");
        let whole: Vec<i16> = room.said().iter().flat_map(|text| sounded(&sound_of(text))).collect();
        assert_eq!(room.said().len(), 13, "each is made once");
        assert!(
            sounded(&agent) == whole,
            "every sample was on the line: {} of {}",
            sounded(&agent).len(),
            whole.len()
        );
        assert!(
            longest_gap(&agent) <= 40,
            "the next sentence is there before the last ends: a gap of {} ms",
            longest_gap(&agent)
        );
    }
}

#[tokio::test(start_paused = true)]
async fn who_hangs_up_before_the_last_words_have_sounded_was_first() {
    let room = Room::default();
    let mut phone = room.call(order(twelve()));
    phone.quiet(33_000).await;
    assert!(!phone.call.is_finished(), "the agent speaks on");
    let held = phone.hang_up().await;
    assert_eq!(outcome(&held), (Fact::Ended(EndCause::CallerHangup), None));
    let told = transcript(&held);
    assert_eq!(told.len(), 4, "what never sounded was not said: {told:?}");
    assert!((1..=3).all(|number| told[number - 1] == format!("agent: {}", long(number))), "{told:?}");
    let cut = told[3].strip_prefix("agent: ").expect("the agent's");
    assert!(
        cut.len() > 20 && cut.len() < 80 && long(4).starts_with(cut),
        "a sentence that is cut in the middle shows what was heard: {cut}"
    );
    // The line may die, or the service be told.
    for command in [Command::PeerGone, Command::HangUp(EndCause::ApiHangup)] {
        let mut phone = Room::default().call(order(twelve()));
        phone.quiet(12_000).await;
        phone.command(command).await;
        let held = phone.until_over(100).await;
        let cause = if command == Command::PeerGone { EndCause::CallerHangup } else { EndCause::ApiHangup };
        assert_eq!((outcome(&held), transcript(&held).len()), ((Fact::Ended(cause), None), 2));
    }
}

#[tokio::test(start_paused = true)]
async fn who_hangs_up_after_the_last_word_changes_nothing() {
    let room = Room::default();
    room.hears(&["the gold plan."]);
    let mut phone = room.call(order(question()));
    phone.until_agent_is_silent(400).await;
    phone.say(&english("the gold plan")).await;
    phone.until_agent_speaks(1500).await;
    // To the very sample, and before the conversation has looked.
    let whole: usize = ["Thank you.", "Goodbye."].iter().map(|text| sounded(&sound_of(text)).len()).sum();
    let before: usize = room.said().iter().take(3).map(|text| sounded(&sound_of(text)).len()).sum();
    while sounded(&phone.agent).len() < before + whole {
        assert!(!phone.call.is_finished());
        phone.tick_now(Some(&[3; 160])).await;
        tokio::time::advance(Duration::from_millis(20)).await;
    }
    let held = phone.hang_up().await;
    assert_eq!(outcome(&held), (Fact::Ended(EndCause::AgentEnded), Some("interested")));
    assert_eq!(transcript(&held).last().map(String::as_str), Some("agent: Thank you. Goodbye."));
}

#[tokio::test(start_paused = true)]
async fn the_longest_duration_holds_in_last_words() {
    let room = Room::default();
    let mut order = order(twelve());
    order.max_duration = Duration::from_secs(45);
    let (held, _) = to_the_end(room.call(order), 60_000).await;
    assert_eq!(outcome(&held), (Fact::Ended(EndCause::MaxDuration), None));
    let told = transcript(&held);
    assert_eq!(
        told.last().map(String::as_str),
        Some("agent: I am sorry, our time on this call is up. Thank you, goodbye."),
        "{told:?}"
    );
    assert!(
        (45_000..45_200).contains(&held.report.turns.last().expect("a turn").start_ms),
        "{:?}",
        held.report.turns.last()
    );
}

/// A tool, a message and a person, with words of three seconds before each.
fn effects(mode: &str) -> Value {
    let text = |what: &str| format!("Now I will do the {what} of this call for you, so please wait.");
    json!([
        {"id": "a", "type": "say", "text": text("lookup"), "next": "t"},
        {"id": "t", "type": "tool", "toolId": "lookup", "arguments": {}, "next": "b"},
        {"id": "b", "type": "say", "text": text("message"), "next": "m"},
        {"id": "m", "type": "message", "text": "Your link", "next": "c"},
        {"id": "c", "type": "say", "text": text("transfer"), "next": "p"},
        {"id": "p", "type": "transfer", "text": "Connecting you to a person who knows more about all this.", "mode": mode,
         "transferNumbers": ["+919811111111"], "onFail": "z"},
        {"id": "z", "type": "end", "text": "Bye.", "outcome": "done"}])
}

/// What the office did: tools, messages, people.
fn done(room: &Room) -> (usize, usize, usize) {
    (lock(&room.office.tools).len(), lock(&room.office.messages).len(), lock(&room.office.transfers).len())
}

/// Milliseconds of sound that were on the line.
fn spoken_ms(phone: &TestCall) -> usize {
    phone.agent.chunks(160).filter(|tick| tick.iter().any(|sample| *sample != 0)).count() * 20
}

#[tokio::test(start_paused = true)]
async fn each_effect_happens_when_the_words_before_it_have_sounded() {
    for mode in ["warm", "cold"] {
        let room = Room::default();
        *lock(&room.office.tool) = (0, Some(Ok(json!(1))));
        *lock(&room.office.transfer) = (500, Some(Ok(())));
        let nodes = effects(mode);
        let ms = |node: usize| nodes[node]["text"].as_str().map_or(0, |text| 60 * text.chars().count());
        let (a, b, c, p) = (ms(0), ms(2), ms(4), ms(5));
        let person = if mode == "warm" { a + b + c } else { a + b + c + p };
        let mut phone = room.call(order(nodes.clone()));
        let mut at = [None; 3];
        while !phone.call.is_finished() {
            assert!(phone.now < 60_000, "the call goes on");
            phone.tick(Some(&[3; 160])).await;
            let (tools, messages, people) = done(&room);
            for (at, count) in at.iter_mut().zip([tools, messages, people]) {
                if count > 0 {
                    at.get_or_insert(spoken_ms(&phone));
                }
            }
        }
        for (at, after) in at.into_iter().zip([a, a + b, person]) {
            let at = at.expect("it happened");
            assert!(
                (after - 20..=after + 60).contains(&at),
                "{mode}: after {at} ms of sound instead of {after}"
            );
        }
        assert_eq!(outcome(&phone.call.await.expect("no panic")).0, Fact::Ended(EndCause::TransferHandoff));
    }
}

#[tokio::test(start_paused = true)]
async fn who_hangs_up_before_an_effect_has_not_brought_it_about() {
    let nodes = effects("warm");
    let ms = |node: usize| nodes[node]["text"].as_str().map_or(0, |text| 60 * text.chars().count() as u64);
    let (a, b, c) = (ms(0), ms(2), ms(4));
    for (after, expected) in [(a - 300, (0, 0, 0)), (a + b - 300, (1, 0, 0)), (a + b + c - 300, (1, 1, 0))] {
        let room = Room::default();
        *lock(&room.office.tool) = (0, Some(Ok(json!(1))));
        let mut phone = room.call(order(nodes.clone()));
        phone.until_agent_speaks(500).await;
        phone.quiet(after).await;
        let held = phone.hang_up().await;
        assert_eq!(
            (outcome(&held), done(&room)),
            ((Fact::Ended(EndCause::CallerHangup), None), expected),
            "after {after} ms"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_message_between_two_sentences_makes_no_gap() {
    let nodes = json!([
        {"id": "a", "type": "say", "text": "I am sending you the link right now.", "next": "m"},
        {"id": "m", "type": "message", "text": "Your link", "next": "b"},
        {"id": "b", "type": "say", "text": "Please open it when you have the time.", "next": "z"},
        {"id": "z", "type": "end", "text": "Bye.", "outcome": "done"}]);
    let room = Room::default();
    room.voice.takes_ms.store(800, Ordering::SeqCst);
    let mut phone = room.call(order(nodes));
    phone.until_agent_speaks(1500).await;
    phone.quiet(1000).await;
    assert!(lock(&room.office.messages).is_empty());
    let (held, agent) = to_the_end(phone, 20_000).await;
    assert_eq!(outcome(&held), (Fact::Ended(EndCause::AgentEnded), Some("done")));
    assert!(longest_gap(&agent) <= 40, "a gap of {} ms", longest_gap(&agent));
    assert_eq!(*lock(&room.office.messages), ["Your link"]);
}

#[tokio::test(start_paused = true)]
async fn an_interruption_of_the_first_of_several_sentences_is_an_answer() {
    let nodes = json!([
        {"id": "a", "type": "say", "text": "Hello, this is the bank, and I am calling about your loan.", "next": "m"},
        {"id": "m", "type": "message", "text": "Your link", "next": "b"},
        {"id": "b", "type": "say", "text": "It is due on Friday.", "next": "q"},
        {"id": "q", "type": "collect", "text": "Which plan would you like?", "field": {"key": "plan", "type": "text"}, "next": "z"},
        {"id": "z", "type": "end", "text": "Thank you.", "outcome": "interested"}]);
    let room = Room::default();
    room.hears(&["the gold plan please."]);
    let mut phone = room.call(order(nodes));
    phone.until_agent_speaks(500).await;
    phone.quiet(1200).await;
    assert!(lock(&room.office.messages).is_empty());
    phone.say(&english("the gold plan please")).await;
    let (held, _) = to_the_end(phone, 20_000).await;
    assert_eq!(outcome(&held), (Fact::Ended(EndCause::AgentEnded), Some("interested")));
    assert_eq!(held.report.extracted["plan"], "the gold plan please.");
    let told = transcript(&held);
    assert!(told[0].starts_with("agent: Hello, this") && !told[0].contains("loan"), "{told:?}");
    assert_eq!(
        told[1..],
        ["customer: the gold plan please.", "agent: Thank you."],
        "what was not heard was not said"
    );
    assert_eq!(*lock(&room.office.messages), ["Your link"], "the flow has gone past it");
}

#[tokio::test(start_paused = true)]
async fn last_words_are_not_interrupted_and_what_was_said_meanwhile_is_kept() {
    let room = Room::default();
    room.hears(&["wait, I have a question."]);
    let mut phone = room.call(order(json!([
        {"id": "a", "type": "say", "text": "Your parcel has been handed to the driver and comes tomorrow.", "next": "z"},
        {"id": "z", "type": "end", "text": "Have a good day and goodbye.", "outcome": "informed"}])));
    phone.until_agent_speaks(500).await;
    phone.quiet(500).await;
    phone.say(&english("wait, I have a question")).await;
    let (held, _) = to_the_end(phone, 20_000).await;
    assert_eq!(outcome(&held), (Fact::Ended(EndCause::AgentEnded), Some("informed")));
    let told = transcript(&held);
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(
        told.contains(&"customer: wait, I have a question.".to_owned())
            && told.iter().any(|turn| turn.ends_with("goodbye.")),
        "{told:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_the_model_announces_is_called_after_the_announcement() {
    let call = ModelToolCall { tool_id: "lookup".into(), arguments: Map::new() };
    let announcement = "I will now cancel your order for good. ";
    let announces = || vec![(100, Ok(Said::Text(announcement.into()))), (0, Ok(Said::Tool(call.clone())))];
    let ms = 60 * announcement.trim().chars().count() as u64;
    let room = Room::default();
    *lock(&room.office.tool) = (0, Some(Ok(json!(1))));
    room.thinks(vec![announces(), words("It is cancelled."), words("As you like.")]);
    let mut phone = room.call(order(converse(&["lookup"])));
    phone.until_agent_speaks(500).await;
    phone.quiet(ms - 200).await;
    assert_eq!(done(&room).0, 0, "not while it is announced");
    phone.quiet(400).await;
    assert_eq!(done(&room).0, 1);
    phone.hang_up().await;
    // A customer who interrupts the announcement is listened to first.
    let room = Room::default();
    room.thinks(vec![announces(), words("As you like.")]);
    room.hears(&["no, do not do that."]);
    let mut phone = room.call(order(converse(&["lookup"])));
    phone.until_agent_speaks(500).await;
    phone.quiet(600).await;
    phone.say(&english("no, do not do that")).await;
    phone.until_agent_is_silent(3000).await;
    assert_eq!((done(&room).0, lock(&room.model.asked).len()), (0, 2), "{:?}", room.said());
    let held = phone.hang_up().await;
    assert_eq!(transcript(&held).last().map(String::as_str), Some("agent: As you like."));
    // A customer who hangs up during it has not agreed.
    let room = Room::default();
    room.thinks(vec![announces()]);
    let mut phone = room.call(order(converse(&["lookup"])));
    phone.until_agent_speaks(500).await;
    phone.quiet(600).await;
    phone.hang_up().await;
    assert_eq!(done(&room).0, 0);
}

#[tokio::test(start_paused = true)]
async fn every_goodbye_can_be_hung_up_on() {
    // Of silence.
    let room = Room::default();
    room.thinks(vec![words("Hello.")]);
    let mut silent = order(converse(&[]));
    silent.silence = Duration::from_secs(2);
    let mut phone = room.call(silent);
    while !room.said().contains(&"Thank you for your time.".to_owned()) {
        phone.quiet(20).await;
    }
    phone.quiet(300).await;
    assert_eq!(outcome(&phone.hang_up().await), (Fact::Ended(EndCause::CallerHangup), None));
    // Of the longest duration.
    let room = Room::default();
    let mut short = order(question());
    short.max_duration = Duration::from_secs(3);
    let mut phone = room.call(short);
    phone.quiet(3500).await;
    assert_eq!(outcome(&phone.hang_up().await), (Fact::Ended(EndCause::CallerHangup), None));
    // Of a wish, which is the customer's own and stands.
    let room = Room::default();
    room.hears(&["please stop calling me"]);
    let mut phone = room.call(order(question()));
    phone.until_agent_speaks(500).await;
    phone.quiet(1000).await;
    phone.say(&english("please stop calling me")).await;
    phone.until_agent_speaks(1500).await;
    phone.quiet(300).await;
    assert_eq!(outcome(&phone.hang_up().await), (Fact::Ended(EndCause::CallerHangup), Some("opted_out")));
    assert!(lock(&room.office.facts).contains(&Fact::OptOutSaid));
}

#[tokio::test(start_paused = true)]
async fn on_hold_last_words_wait() {
    let room = Room::default();
    let mut phone = room.call(order(twelve()));
    phone.quiet(12_000).await;
    phone.command(Command::Hold(true)).await;
    phone.quiet(60_000).await;
    assert!(!phone.call.is_finished());
    phone.command(Command::Hold(false)).await;
    let (held, agent) = to_the_end(phone, 140_000).await;
    assert_eq!(outcome(&held), (Fact::Ended(EndCause::AgentEnded), Some("informed")));
    let whole: usize = room.said().iter().map(|text| sounded(&sound_of(text)).len()).sum();
    assert_eq!(sounded(&agent).len(), whole, "nothing is lost");
}

#[tokio::test(start_paused = true)]
async fn a_voice_that_falls_silent_in_last_words_does_not_hold_the_call() {
    let room = Room::default();
    let mut phone = room.call(order(twelve()));
    phone.until_agent_speaks(500).await;
    room.voice.takes_ms.store(usize::MAX / 2, Ordering::SeqCst);
    phone.quiet(100).await;
    let (held, _) = to_the_end(phone, 120_000).await;
    assert_eq!(outcome(&held), (Fact::Ended(EndCause::Error), None));
    let told = transcript(&held);
    assert!(told.len() <= 2 && told[0].contains("number 1"), "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn a_long_message_after_the_beep_is_left_whole() {
    let text: String = (1..=4).map(long).collect::<Vec<_>>().join(" ");
    let room = Room::default();
    room.hears(&["please leave a message"]);
    let mut machine = Order::new(flow(question()), Map::new(), "en", "");
    machine.amd = Amd::LeaveMessage(text.clone());
    let mut phone = room.call(machine);
    phone.quiet(400).await;
    phone.say(&english("please leave a message")).await;
    let (held, _) = to_the_end(phone, 60_000).await;
    assert_eq!(held.end, Fact::Voicemail);
    assert_eq!(transcript(&held).last(), Some(&format!("agent: {text}")));
}
