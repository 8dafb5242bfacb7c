//! Who answered: people, answering machines, and sounds that are neither.

use domain::call::{EndCause, Fact};
use serde_json::{Map, json};
use voice::{Amd, Order};

use super::fakes::lock;
use super::sounds::{cough, english, noise, silence, then, tone};
use super::{Room, flow, question, transcript};

fn looking() -> Order {
    Order::new(flow(question()), Map::new(), "en", "")
}

fn leaving(text: &str) -> Order {
    let mut order = looking();
    order.amd = Amd::LeaveMessage(text.into());
    order
}

#[tokio::test(start_paused = true)]
async fn a_person_says_hello_and_is_answered_at_once() {
    let room = Room::default();
    room.hears(&["hello?", "the gold plan."]);
    let mut phone = room.call(looking());
    phone.quiet(600).await;
    phone.say(&english("hello?")).await;
    let greeted = phone.now;
    phone.until_agent_speaks(1000).await;
    assert!(phone.now - greeted <= 800, "after {} ms", phone.now - greeted);
    phone.until_agent_is_silent(400).await;
    phone.say(&english("the gold plan")).await;
    let held = phone.until_over(20_000).await;
    assert_eq!(held.end, Fact::Ended(EndCause::AgentEnded));
    let told = transcript(&held);
    assert_eq!(
        (told[0].as_str(), told[2].as_str()),
        ("customer: hello?", "customer: the gold plan."),
        "{told:?}"
    );
    assert_eq!(*lock(&room.office.facts), [Fact::AgentConnected]);
}

#[tokio::test(start_paused = true)]
async fn who_picks_up_and_says_nothing_is_spoken_to() {
    for first in [silence(100), cough(), noise(9, 1000, 900.0)] {
        let room = Room::default();
        let mut phone = room.call(looking());
        phone.say(&first).await;
        phone.until_agent_speaks(1700).await;
        let held = phone.hang_up().await;
        assert_eq!(held.end, Fact::Ended(EndCause::CallerHangup));
    }
}

#[tokio::test(start_paused = true)]
async fn a_long_greeting_is_a_machine() {
    let room = Room::default();
    let mut phone = room.call(looking());
    phone.quiet(500).await;
    let greeting = english(
        "hi you have reached the office of Ravi Kumar and company we are closed now but we will be back on Monday morning at nine so please try then",
    );
    for frame in super::test_call::frames(&greeting) {
        if phone.call.is_finished() {
            break;
        }
        phone.tick(Some(&frame)).await;
    }
    let at = phone.now;
    let held = phone.until_over(1000).await;
    assert_eq!(held.end, Fact::Voicemail);
    assert!(at < 6000, "after {at} ms");
    assert!(held.report.turns.is_empty() && lock(&room.office.facts).is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_machine_that_says_what_it_is_is_believed_even_after_the_agent_began() {
    let room = Room::default();
    room.hears(&["hi this is Ravi", "please leave a message after the beep"]);
    let mut phone = room.call(looking());
    phone.quiet(300).await;
    phone.say(&english("hi, this is Ravi")).await;
    phone.until_agent_speaks(1500).await;
    phone.quiet(300).await;
    phone.say(&english("please leave a message after the beep")).await;
    let held = phone.until_over(3000).await;
    assert_eq!(held.end, Fact::Voicemail);
}

#[tokio::test(start_paused = true)]
async fn a_beep_is_a_machine_and_a_message_is_left_after_it() {
    for beep in [tone(1000.0, 500, 9000.0), tone(440.0, 400, 9000.0), tone(1400.0, 250, 4000.0)] {
        let room = Room::default();
        room.hears(&["please leave your message after the tone"]);
        let mut phone = room.call(leaving("Please call the bank back."));
        phone.quiet(400).await;
        phone.say(&then(&[&english("please leave your message after the tone"), &silence(600)])).await;
        assert!(phone.agent.iter().all(|sample| *sample == 0), "nothing is said before the beep");
        phone.say(&beep).await;
        let beeped = phone.now;
        phone.until_agent_speaks(1500).await;
        assert!(phone.now > beeped, "the beep is over");
        let held = phone.until_over(10_000).await;
        assert_eq!(held.end, Fact::Voicemail);
        assert_eq!(transcript(&held).last().map(String::as_str), Some("agent: Please call the bank back."));
        assert!(lock(&room.office.facts).is_empty(), "no agent is connected with a machine");
    }
}

/// Machines pause between their words and the beep. By then they are taken for a person if their words were not
/// understood.
#[tokio::test(start_paused = true)]
async fn a_beep_counts_although_the_words_before_it_were_misheard() {
    for misheard in ["okay, tell me.", "remove my number from your list.", ""] {
        for pause in [300, 600, 1000] {
            let room = Room::default();
            room.hears(&[misheard]);
            let mut phone = room.call(looking());
            phone.quiet(400).await;
            let greeting = english("please leave your message after the tone");
            phone.say(&then(&[&greeting, &silence(pause), &tone(1000.0, 500, 9000.0)])).await;
            let held = phone.until_over(500).await;
            assert_eq!(held.end, Fact::Voicemail, "{misheard} {pause}");
            assert_eq!(held.report.outcome, None, "{misheard} {pause}");
            assert!(!lock(&room.office.facts).contains(&Fact::OptOutSaid), "{misheard} {pause}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_machine_that_goes_on_after_the_agent_began_beeps() {
    let room = Room::default();
    room.hears(&["hi", "remove my number from your list."]);
    let mut phone = room.call(leaving("Please call the bank back."));
    phone.quiet(300).await;
    phone.say(&english("hi, this is Ravi")).await;
    phone.until_agent_speaks(1500).await;
    phone.quiet(600).await;
    let rest = english("please leave your message after the tone");
    phone.say(&then(&[&rest, &silence(700), &tone(1000.0, 500, 9000.0)])).await;
    phone.until_agent_speaks(1500).await;
    let held = phone.until_over(10_000).await;
    assert_eq!((held.end, held.report.outcome.as_deref()), (Fact::Voicemail, None));
    assert_eq!(transcript(&held).last().map(String::as_str), Some("agent: Please call the bank back."));
    assert!(!lock(&room.office.facts).contains(&Fact::OptOutSaid));
}

#[tokio::test(start_paused = true)]
async fn a_wish_in_place_of_a_greeting_counts_when_no_beep_follows() {
    let room = Room::default();
    room.hears(&["stop calling me."]);
    let mut phone = room.call(looking());
    phone.quiet(400).await;
    phone.say(&english("stop calling me")).await;
    let said = phone.now;
    phone.until_agent_speaks(2500).await;
    assert!(phone.now - said >= 1300, "after {} ms a beep may follow", phone.now - said);
    let held = phone.until_over(10_000).await;
    assert_eq!(held.end, Fact::Ended(EndCause::AgentEnded));
    assert_eq!(held.report.outcome.as_deref(), Some("opted_out"));
    assert_eq!(*lock(&room.office.facts), [Fact::OptOutSaid, Fact::AgentConnected]);

    // Who puts the phone down with it is a person, too.
    let room = Room::default();
    room.hears(&["stop calling me."]);
    let mut phone = room.call(looking());
    phone.quiet(400).await;
    phone.say(&then(&[&english("stop calling me"), &silence(700)])).await;
    let held = phone.hang_up().await;
    assert_eq!(held.end, Fact::Ended(EndCause::CallerHangup));
    assert_eq!(held.report.outcome.as_deref(), Some("opted_out"));
    assert_eq!(*lock(&room.office.facts), [Fact::OptOutSaid]);
}

#[tokio::test(start_paused = true)]
async fn who_has_replied_to_the_agent_is_no_machine() {
    let room = Room::default();
    room.hears(&["hello?", "the gold plan.", "stop calling me."]);
    let mut nodes = question();
    nodes[0]["next"] = json!("b");
    let second = json!({"id": "b", "type": "collect", "text": "Which city?", "field": {"key": "city", "type": "text"}, "next": "z"});
    nodes.as_array_mut().expect("nodes").push(second);
    let mut phone = room.call(Order::new(flow(nodes), Map::new(), "en", ""));
    phone.quiet(400).await;
    phone.say(&english("hello?")).await;
    phone.until_agent_is_silent(1000).await;
    phone.say(&then(&[&english("the gold plan"), &silence(700), &tone(1000.0, 500, 9000.0)])).await;
    phone.quiet(200).await;
    assert!(!phone.call.is_finished(), "a beep of the person's surroundings");
    phone.until_agent_is_silent(1000).await;
    phone.say(&english("stop calling me")).await;
    let said = phone.now;
    phone.until_agent_speaks(1200).await;
    assert!(phone.now - said < 1200, "nothing is waited for");
    let held = phone.until_over(10_000).await;
    assert_eq!(held.report.outcome.as_deref(), Some("opted_out"), "{:?}", transcript(&held));
}

#[tokio::test(start_paused = true)]
async fn a_beep_alone_is_a_machine() {
    let room = Room::default();
    let mut phone = room.call(looking());
    phone.say(&then(&[&silence(500), &tone(1000.0, 500, 9000.0)])).await;
    let held = phone.until_over(500).await;
    assert_eq!(held.end, Fact::Voicemail);
}

#[tokio::test(start_paused = true)]
async fn without_a_beep_the_message_is_left_in_the_silence() {
    let room = Room::default();
    room.hears(&["please leave a message"]);
    let mut phone = room.call(leaving("Please call back."));
    phone.quiet(400).await;
    phone.say(&english("please leave a message")).await;
    phone.until_agent_speaks(5000).await;
    let held = phone.until_over(10_000).await;
    assert_eq!(held.end, Fact::Voicemail);
}

#[tokio::test(start_paused = true)]
async fn what_sounded_before_the_answer_was_said_by_nobody() {
    let room = Room::default();
    let announcement = english("the person you are calling is busy, please hold the line");
    let mut phone = room.call_after(looking(), &announcement);
    phone.until_agent_speaks(1700).await;
    let held = phone.hang_up().await;
    assert!(
        held.report
            .turns
            .iter()
            .all(|turn| turn.role == domain::conversation::Role::Agent && turn.start_ms < 1700),
        "{:?}",
        held.report.turns
    );
}

#[tokio::test(start_paused = true)]
async fn an_incoming_call_is_spoken_to_at_once() {
    let room = Room::default();
    let mut order = looking();
    order.amd = Amd::Off;
    let mut phone = room.call(order);
    phone.until_agent_speaks(200).await;
    phone.hang_up().await;
}
