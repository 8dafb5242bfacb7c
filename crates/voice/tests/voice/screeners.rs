//! Who answers and is neither a person nor a voicemail: assistants that screen calls, announcements of operators.

use std::time::Duration;

use domain::call::{AnsweredBy, EndCause, Fact};
use serde_json::{Map, json};
use voice::{Amd, Held, Order};

use super::fakes::lock;
use super::sounds::{english, silence, then, tone};
use super::test_call::TestCall;
use super::{Room, flow, question, transcript};

const INTRODUCTION: &str = "This is Asha, calling from Acme.";
const ASKS: &str = "please record your name and reason for calling";
const SCREENED: Fact = Fact::PickedUpBy(AnsweredBy::Screener);
const ANNOUNCED: Fact = Fact::PickedUpBy(AnsweredBy::Announcement);

fn looking() -> Order {
    let mut order = Order::new(flow(question()), Map::new(), "en", "");
    order.introduction = INTRODUCTION.into();
    order.person_wait = Duration::from_secs(20);
    order
}

/// What picks up says this after a moment, and is understood as written.
async fn picked_up(room: &Room, order: Order, says: &str) -> TestCall {
    let mut phone = room.call(order);
    phone.quiet(400).await;
    phone.say(&english(says)).await;
    phone
}

fn agent_said(held: &Held) -> Vec<String> {
    transcript(held).into_iter().filter(|turn| turn.starts_with("agent: ")).collect()
}

#[tokio::test(start_paused = true)]
async fn an_assistant_is_told_who_calls_once_and_the_flow_begins_for_the_person() {
    let room = Room::default();
    room.hears(&[ASKS, "thanks, please stay on the line", "hello?", "the gold plan."]);
    let mut phone = picked_up(&room, looking(), ASKS).await;
    phone.until_agent_speaks(3000).await;
    phone.until_agent_is_silent(400).await;
    assert_eq!(room.said(), [INTRODUCTION]);
    phone.say(&english("thanks, please stay on the line")).await;
    phone.quiet(6000).await;
    assert_eq!(room.said(), [INTRODUCTION], "it is told once, and waited for");
    assert_eq!(*lock(&room.office.facts), [SCREENED], "no person is there yet");
    phone.say(&english("hello?")).await;
    phone.until_agent_speaks(1500).await;
    phone.until_agent_is_silent(400).await;
    phone.say(&english("the gold plan")).await;
    let held = phone.until_over(20_000).await;
    assert_eq!(held.end, Fact::Ended(EndCause::AgentEnded));
    assert_eq!(held.report.extracted["plan"], json!("the gold plan."));
    assert_eq!(*lock(&room.office.facts), [SCREENED, Fact::AgentConnected]);
    let told = transcript(&held);
    let at = |text: &str| told.iter().position(|turn| turn.contains(text)).expect("it is in the transcript");
    assert!(at(ASKS) < at(INTRODUCTION) && at(INTRODUCTION) < at("hello?"), "{told:?}");
    assert!(at("hello?") < at("Which plan would you like"), "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn nobody_behind_an_assistant_is_waited_for_no_longer_than_the_setting() {
    let room = Room::default();
    room.hears(&[ASKS]);
    let mut phone = picked_up(&room, looking(), ASKS).await;
    phone.until_agent_speaks(3000).await;
    let told = phone.now;
    phone.quiet(15_000).await;
    assert!(!phone.call.is_finished(), "{} ms after it was told", phone.now - told);
    let held = phone.until_over(6000).await;
    assert_eq!((held.end, held.report.outcome.as_deref()), (Fact::Ended(EndCause::NoAnswer), None));
    assert_eq!(agent_said(&held), [format!("agent: {INTRODUCTION}")]);
    assert_eq!(*lock(&room.office.facts), [SCREENED]);
}

#[tokio::test(start_paused = true)]
async fn an_assistant_may_decline_take_a_message_or_opt_out() {
    // It hangs up.
    let room = Room::default();
    room.hears(&[ASKS]);
    let mut phone = picked_up(&room, looking(), ASKS).await;
    phone.until_agent_speaks(3000).await;
    phone.until_agent_is_silent(400).await;
    let held = phone.hang_up().await;
    assert_eq!(held.end, Fact::Ended(EndCause::NoAnswer));

    // It goes on as a voicemail.
    let room = Room::default();
    room.hears(&[ASKS, "please leave a message after the tone"]);
    let mut order = looking();
    order.amd = Amd::LeaveMessage("Please call the bank back.".into());
    let mut phone = picked_up(&room, order, ASKS).await;
    phone.until_agent_speaks(3000).await;
    phone.until_agent_is_silent(400).await;
    let greeting = english("please leave a message after the tone");
    phone.say(&then(&[&greeting, &silence(600), &tone(1000.0, 500, 9000.0)])).await;
    let held = phone.until_over(10_000).await;
    assert_eq!(held.end, Fact::Voicemail);
    assert_eq!(agent_said(&held).last().map(String::as_str), Some("agent: Please call the bank back."));

    // The person asks by it not to be called.
    let room = Room::default();
    room.hears(&[ASKS, "please remove this number from your calling list"]);
    let mut phone = picked_up(&room, looking(), ASKS).await;
    phone.until_agent_speaks(3000).await;
    phone.until_agent_is_silent(400).await;
    phone.say(&english("please remove this number from your calling list")).await;
    let held = phone.until_over(15_000).await;
    assert_eq!(held.report.outcome.as_deref(), Some("opted_out"));
    assert!(lock(&room.office.facts).contains(&Fact::OptOutSaid));
}

#[tokio::test(start_paused = true)]
async fn a_long_greeting_of_an_assistant_is_no_voicemail() {
    let room = Room::default();
    room.hears(&["if you record your name and reason for calling I will see", "if this person is available"]);
    let long = "hi, if you record your name and reason for calling, I will see if this person is available to talk now";
    let mut phone = picked_up(&room, looking(), long).await;
    phone.until_agent_speaks(3000).await;
    assert_eq!(room.said(), [INTRODUCTION]);
    phone.hang_up().await;
}

#[tokio::test(start_paused = true)]
async fn an_assistant_that_is_known_late_is_told_and_the_flow_begins_anew() {
    let room = Room::default();
    room.hears(&["hi", ASKS, "hello?"]);
    let mut phone = picked_up(&room, looking(), "hi").await;
    phone.until_agent_speaks(1500).await;
    phone.quiet(300).await;
    phone.say(&english(ASKS)).await;
    phone.quiet(1500).await;
    phone.until_agent_is_silent(600).await;
    assert_eq!(room.said().last().map(String::as_str), Some(INTRODUCTION));
    phone.say(&english("hello?")).await;
    phone.until_agent_speaks(1500).await;
    phone.quiet(200).await;
    let begins = |text: &String| text.starts_with("Hello, this is the bank");
    assert_eq!(room.said().iter().filter(|text| begins(text)).count(), 2, "{:?}", room.said());
    phone.hang_up().await;
    assert_eq!(*lock(&room.office.facts), [Fact::AgentConnected, SCREENED]);
}

/// The flow cannot begin again when it has sent something.
#[tokio::test(start_paused = true)]
async fn what_was_sent_is_not_sent_twice() {
    let room = Room::default();
    room.hears(&["hi", ASKS]);
    let mut nodes = question();
    let first = json!({"id": "m", "type": "message", "text": "Your bill is ready.", "next": "a"});
    nodes.as_array_mut().expect("nodes").insert(0, first);
    let order = Order { flow: flow(nodes), ..looking() };
    let mut phone = picked_up(&room, order, "hi").await;
    phone.until_agent_speaks(1500).await;
    phone.say(&english(ASKS)).await;
    phone.quiet(3000).await;
    phone.hang_up().await;
    assert_eq!(*lock(&room.office.messages), ["Your bill is ready."]);
    assert!(!room.said().contains(&INTRODUCTION.to_owned()));
}

#[tokio::test(start_paused = true)]
async fn an_announcement_is_not_greeted_and_the_person_behind_it_is() {
    let busy = "the person you are calling is busy please stay on the line";
    let room = Room::default();
    room.hears(&[busy, "nivu kare madida", "hello"]);
    let mut phone = picked_up(&room, looking(), busy).await;
    phone.quiet(5000).await;
    phone.say(&english("it is said again in another language")).await;
    phone.quiet(3000).await;
    assert!(room.said().is_empty(), "nothing is said to it: {:?}", room.said());
    assert_eq!(*lock(&room.office.facts), [ANNOUNCED]);
    phone.say(&english("hello")).await;
    phone.until_agent_speaks(1500).await;
    assert!(room.said()[0].starts_with("Hello, this is the bank"), "{:?}", room.said());
    phone.hang_up().await;
    assert_eq!(*lock(&room.office.facts), [ANNOUNCED, Fact::AgentConnected]);
}

#[tokio::test(start_paused = true)]
async fn an_announcement_that_nobody_follows_is_no_answer_or_busy() {
    for (says, end, within_ms) in [
        ("the number you are calling is switched off", EndCause::NoAnswer, 6000),
        ("the number you are calling is currently busy", EndCause::Busy, 6000),
        ("the person you are calling is busy please stay on the line", EndCause::Busy, 21_000),
    ] {
        let room = Room::default();
        room.hears(&[says]);
        let phone = picked_up(&room, looking(), says).await;
        let held = phone.until_over(within_ms).await;
        assert_eq!((held.end, held.report.outcome.as_deref()), (Fact::Ended(end), None), "{says}");
        assert!(agent_said(&held).is_empty(), "{says}");
        assert_eq!(*lock(&room.office.facts), [ANNOUNCED], "{says}");
    }
    // The operator hangs up.
    let room = Room::default();
    room.hears(&["the number you are calling is switched off"]);
    let mut phone = picked_up(&room, looking(), "the number you are calling is switched off").await;
    phone.quiet(1000).await;
    let held = phone.hang_up().await;
    assert_eq!(held.end, Fact::Ended(EndCause::NoAnswer));
}

/// `The person is not available`, and then a message is taken.
#[tokio::test(start_paused = true)]
async fn a_voicemail_may_follow_an_announcement() {
    let room = Room::default();
    room.hears(&["the person you are calling is not answering", "please record a message"]);
    let mut order = looking();
    order.amd = Amd::LeaveMessage("Please call back.".into());
    let mut phone = picked_up(&room, order, "the person you are calling is not answering").await;
    phone.quiet(1500).await;
    phone.say(&then(&[&english("please record a message"), &silence(500), &tone(1000.0, 500, 9000.0)])).await;
    let held = phone.until_over(10_000).await;
    assert_eq!(held.end, Fact::Voicemail);
    assert_eq!(agent_said(&held), ["agent: Please call back."]);
}

#[tokio::test(start_paused = true)]
async fn a_person_who_has_replied_is_no_announcement() {
    let room = Room::default();
    let says = "the number you are calling is not reachable, is what it said";
    room.hears(&["hello?", "the gold plan", says]);
    let mut nodes = question();
    nodes[0]["next"] = json!("b");
    let second = json!({"id": "b", "type": "collect", "text": "Which city?", "field": {"key": "city", "type": "text"}, "next": "z"});
    nodes.as_array_mut().expect("nodes").push(second);
    let order = Order { flow: flow(nodes), ..looking() };
    let mut phone = picked_up(&room, order, "hello?").await;
    phone.until_agent_speaks(1500).await;
    phone.until_agent_is_silent(1000).await;
    phone.say(&english("the gold plan")).await;
    phone.until_agent_speaks(2000).await;
    phone.until_agent_is_silent(1000).await;
    phone.say(&english(says)).await;
    let held = phone.until_over(20_000).await;
    assert_eq!(held.end, Fact::Ended(EndCause::AgentEnded));
    assert_eq!(held.report.extracted["city"], json!(says));
    assert_eq!(*lock(&room.office.facts), [Fact::AgentConnected]);
}
