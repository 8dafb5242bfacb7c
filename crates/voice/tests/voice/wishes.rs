//! Wishes: not to be called again, and to speak with a person.

use domain::call::{EndCause, Fact};
use domain::conversation::{Exchange, ModelToolCall, TransferMode};
use domain::ports::Said;
use serde_json::{Value, json};
use voice::TransferFailure;

use super::fakes::{lock, words};
use super::sounds::english;
use super::{Room, converse, order, question, transcript};

#[tokio::test(start_paused = true)]
async fn who_does_not_want_to_be_called_is_not_called_again() {
    for (language, wish) in [
        ("en", "please stop calling me"),
        ("hi", "मुझे दोबारा फोन मत करना"),
        ("hi", "mujhe dobara call mat karna"),
        ("bn", "আমাকে আর ফোন করবেন না"),
        ("ta", "இனிமேல் எனக்கு கால் பண்ணாதீங்க"),
        ("te", "నాకు మళ్ళీ ఫోన్ చేయకండి"),
        ("mr", "मला पुन्हा फोन करू नका"),
    ] {
        let room = Room::default();
        room.hears(&[wish]);
        let mut order = order(question());
        order.language = language.into();
        let mut phone = room.call(order);
        phone.until_agent_speaks(500).await;
        phone.quiet(1000).await;
        phone.say(&english("please stop calling me")).await;
        let held = phone.until_over(20_000).await;
        assert_eq!(held.end, Fact::Ended(EndCause::AgentEnded), "{language}");
        assert_eq!(held.report.outcome.as_deref(), Some("opted_out"), "{language}: {:?}", transcript(&held));
        assert_eq!(*lock(&room.office.facts), [Fact::AgentConnected, Fact::OptOutSaid], "{language}");
        let told = transcript(&held);
        assert_eq!(told[1], format!("customer: {wish}"));
        assert_eq!(told[2], format!("agent: {}", voice::CallPhrases::of(language).not_again));
    }
}

#[tokio::test(start_paused = true)]
async fn a_wish_in_two_breaths_is_one() {
    let room = Room::default();
    room.hears(&["do not", "call me again"]);
    let mut phone = room.call(order(question()));
    phone.until_agent_is_silent(400).await;
    phone.say(&english("do not")).await;
    phone.quiet(500).await;
    phone.say(&english("call me again")).await;
    let held = phone.until_over(20_000).await;
    assert_eq!(held.report.outcome.as_deref(), Some("opted_out"), "{:?}", transcript(&held));
}

#[tokio::test(start_paused = true)]
async fn a_wish_is_heard_although_the_phone_is_put_down_with_it() {
    let room = Room::default();
    room.hears(&["never call me again"]);
    room.ears.takes_ms.store(400, std::sync::atomic::Ordering::SeqCst);
    let mut phone = room.call(order(question()));
    phone.until_agent_speaks(500).await;
    phone.quiet(1000).await;
    phone.say(&english("never call me again")).await;
    let held = phone.hang_up().await;
    assert_eq!(held.end, Fact::Ended(EndCause::CallerHangup));
    assert_eq!(held.report.outcome.as_deref(), Some("opted_out"));
    assert!(lock(&room.office.facts).contains(&Fact::OptOutSaid));
}

#[tokio::test(start_paused = true)]
async fn a_wish_during_the_goodbye_counts() {
    let room = Room::default();
    room.hears(&["the gold plan.", "and do not call me again"]);
    let mut phone = room.call(order(question()));
    phone.until_agent_is_silent(400).await;
    phone.say(&english("the gold plan")).await;
    phone.until_agent_speaks(1500).await;
    phone.say(&english("and do not call me again")).await;
    let held = phone.until_over(10_000).await;
    assert_eq!(held.report.outcome.as_deref(), Some("opted_out"));
    assert!(lock(&room.office.facts).contains(&Fact::OptOutSaid));
    assert_eq!(held.report.extracted["plan"], "the gold plan.");
}

fn transfer(mode: &str) -> Value {
    json!([
        {"id": "a", "type": "collect", "text": "May I connect you?", "field": {"key": "name", "type": "text"}, "next": "t"},
        {"id": "t", "type": "transfer", "text": "I am connecting you.", "mode": mode,
         "transferNumbers": ["+919811111111", "+919822222222"], "onFail": "b"},
        {"id": "b", "type": "collect", "text": "Nobody is there. May we call you back?", "field": {"key": "back", "type": "boolean"}, "next": "z"},
        {"id": "z", "type": "end", "text": "Bye.", "outcome": "callback_requested"}])
}

#[tokio::test(start_paused = true)]
async fn a_person_is_brought_in() {
    for (mode, kind) in [("warm", TransferMode::Warm), ("cold", TransferMode::Cold)] {
        let room = Room::default();
        room.hears(&["Ravi Kumar."]);
        *lock(&room.office.transfer) = (6000, Some(Ok(())));
        let mut order = order(transfer(mode));
        order.allowed_numbers = vec!["+919822222222".into()];
        let mut phone = room.call(order);
        phone.until_agent_is_silent(400).await;
        phone.say(&english("Ravi Kumar")).await;
        phone.until_agent_speaks(2000).await;
        phone.quiet(300).await;
        let rung_at_once = !lock(&room.office.transfers).is_empty();
        assert_eq!(rung_at_once, kind == TransferMode::Warm, "a cold transfer waits for what is being said");
        phone.quiet(4500).await;
        assert!(
            phone.agent.iter().rev().take(3 * 8000).any(|sample| *sample != 0),
            "the customer hears it ring"
        );
        let held = phone.until_over(10_000).await;
        assert_eq!(held.end, Fact::Ended(EndCause::TransferHandoff));
        assert_eq!(held.report.outcome.as_deref(), Some("transferred"));
        let asked = lock(&room.office.transfers).clone();
        assert_eq!(
            (asked.len(), asked[0].mode, asked[0].numbers.as_slice()),
            (1, kind, ["+919822222222".to_owned()].as_slice())
        );
        assert!(asked[0].briefing.contains("Ravi Kumar"), "{}", asked[0].briefing);
    }
}

#[tokio::test(start_paused = true)]
async fn the_agent_takes_the_call_back() {
    let room = Room::default();
    room.hears(&["Ravi.", "yes."]);
    *lock(&room.office.transfer) = (4000, Some(Err(TransferFailure::NoAnswer)));
    let mut phone = room.call(order(transfer("warm")));
    phone.until_agent_is_silent(400).await;
    phone.say(&english("Ravi")).await;
    phone.quiet(9000).await;
    phone.until_agent_is_silent(400).await;
    phone.say(&english("yes")).await;
    let held = phone.until_over(10_000).await;
    assert_eq!(held.end, Fact::Ended(EndCause::AgentEnded));
    assert_eq!(held.report.outcome.as_deref(), Some("callback_requested"), "{:?}", transcript(&held));
    assert_eq!(
        lock(&room.office.transfers)[0].numbers.len(),
        2,
        "with no list of its own the agent may ring what its flow names"
    );
}

#[tokio::test(start_paused = true)]
async fn a_number_that_the_agent_may_not_ring_is_not_rung() {
    let room = Room::default();
    room.hears(&["Ravi.", "no."]);
    let mut order = order(transfer("warm"));
    order.allowed_numbers = vec!["+919833333333".into()];
    let mut phone = room.call(order);
    phone.until_agent_is_silent(400).await;
    phone.say(&english("Ravi")).await;
    phone.quiet(2000).await;
    phone.until_agent_is_silent(400).await;
    phone.say(&english("no")).await;
    let held = phone.until_over(10_000).await;
    assert!(lock(&room.office.transfers).is_empty());
    assert_eq!(held.report.extracted["back"], false, "{:?}", transcript(&held));
}

#[tokio::test(start_paused = true)]
async fn the_model_asks_for_a_person() {
    let call = |number: &str| {
        let arguments = json!({"number": number}).as_object().cloned().unwrap_or_default();
        vec![
            (100, Ok(Said::Text("One second.".into()))),
            (0, Ok(Said::Tool(ModelToolCall { tool_id: "transfer_to_human".into(), arguments }))),
        ]
    };
    let room = Room::default();
    room.thinks(vec![words("Hello."), call("+911234567890"), words("Sorry, nobody is there."), call("")]);
    room.hears(&["a person please.", "try again please."]);
    *lock(&room.office.transfer) = (1000, Some(Err(TransferFailure::Busy)));
    let mut order = order(converse(&["transfer_to_human"]));
    order.allowed_numbers = vec!["+919822222222".into()];
    let mut phone = room.call(order);
    phone.until_agent_is_silent(600).await;
    phone.say(&english("a person please")).await;
    phone.quiet(3500).await;
    phone.until_agent_is_silent(600).await;
    let asked = lock(&room.model.asked).last().cloned().expect("a request");
    assert!(
        asked.history.iter().any(|one| matches!(one, Exchange::ToolAnswered { ok: false, value, .. } if value == "the line was busy")),
        "{asked:?}"
    );
    *lock(&room.office.transfer) = (1000, Some(Ok(())));
    phone.say(&english("try again please")).await;
    let held = phone.until_over(10_000).await;
    assert_eq!(held.end, Fact::Ended(EndCause::TransferHandoff));
    for asked in lock(&room.office.transfers).iter() {
        assert_eq!(asked.numbers, ["+919822222222"], "a number of the model's own invention is never rung");
    }
}

#[tokio::test(start_paused = true)]
async fn the_model_ends_the_call_and_sends_a_message() {
    let tool = |tool_id: &str, arguments: Value| ModelToolCall {
        tool_id: tool_id.into(),
        arguments: arguments.as_object().cloned().unwrap_or_default(),
    };
    let room = Room::default();
    room.thinks(vec![
        words("Hello."),
        vec![(50, Ok(Said::Tool(tool("chatapp_message", json!({"text": "Your link"})))))],
        vec![(50, Ok(Said::Text("Sent. Goodbye.".into()))), (0, Ok(Said::End(Some("link_sent".into()))))],
    ]);
    room.hears(&["send me the link."]);
    let mut phone = room.call(order(converse(&["chatapp_message", "end_call"])));
    phone.until_agent_is_silent(600).await;
    phone.say(&english("send me the link")).await;
    let held = phone.until_over(10_000).await;
    assert_eq!(
        (held.end, held.report.outcome.as_deref()),
        (Fact::Ended(EndCause::AgentEnded), Some("link_sent"))
    );
    assert_eq!(*lock(&room.office.messages), ["Your link"]);
    assert_eq!(transcript(&held).last().map(String::as_str), Some("agent: Sent. Goodbye."));
}
