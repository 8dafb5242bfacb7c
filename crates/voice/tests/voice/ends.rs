//! How calls end when nobody says goodbye.

use std::time::Duration;

use domain::call::{EndCause, Fact};
use voice::Command;

use super::fakes::words;
use super::{Room, converse, order, question, transcript};

#[tokio::test(start_paused = true)]
async fn the_longest_duration_ends_with_a_word() {
    let room = Room::default();
    room.thinks(vec![words(
        "This is a long story that nobody has ever heard to its very end, and you will not either.",
    )]);
    let mut order = order(converse(&[]));
    order.max_duration = Duration::from_secs(3);
    let held = room.call(order).until_over(10_000).await;
    assert_eq!(held.end, Fact::Ended(EndCause::MaxDuration));
    let told = transcript(&held);
    assert!(told[0].starts_with("agent: This is a long") && !told[0].contains("either"), "{told:?}");
    assert_eq!(told[1], "agent: I am sorry, our time on this call is up. Thank you, goodbye.");
    assert!((3000..3200).contains(&held.report.turns[1].start_ms), "{:?}", held.report.turns);
}

#[tokio::test(start_paused = true)]
async fn the_sandbox_ends_politely() {
    let room = Room::default();
    let mut order = order(question());
    order.end_after = Some(Duration::from_secs(8));
    let held = room.call(order).until_over(20_000).await;
    assert_eq!(held.end, Fact::Ended(EndCause::AgentEnded));
    assert_eq!(
        transcript(&held).last().map(String::as_str),
        Some("agent: Thank you for your time. Goodbye.")
    );
}

#[tokio::test(start_paused = true)]
async fn a_hang_up_request_ends_without_a_word() {
    let room = Room::default();
    let mut phone = room.call(order(question()));
    phone.until_agent_speaks(500).await;
    phone.quiet(1000).await;
    phone.command(Command::HangUp(EndCause::ApiHangup)).await;
    let held = phone.until_over(100).await;
    assert_eq!(held.end, Fact::Ended(EndCause::ApiHangup));
    let told = transcript(&held);
    assert!(told.len() == 1 && !told[0].contains("Friday"), "only what was heard was said: {told:?}");
}

#[tokio::test(start_paused = true)]
async fn an_empty_wallet_ends_with_a_word() {
    let room = Room::default();
    let mut phone = room.call(order(question()));
    phone.until_agent_speaks(500).await;
    phone.quiet(1000).await;
    phone.command(Command::TakeLeave(EndCause::MaxDuration)).await;
    // Told again, it is not said again.
    phone.command(Command::TakeLeave(EndCause::MaxDuration)).await;
    let held = phone.until_over(10_000).await;
    assert_eq!(held.end, Fact::Ended(EndCause::MaxDuration));
    let told = transcript(&held);
    assert_eq!(
        told[1..],
        ["agent: I am sorry, our time on this call is up. Thank you, goodbye."],
        "{told:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn the_customer_hangs_up_or_their_line_dies() {
    let room = Room::default();
    let mut phone = room.call(order(question()));
    phone.until_agent_speaks(500).await;
    phone.command(Command::PeerGone).await;
    assert_eq!(phone.until_over(100).await.end, Fact::Ended(EndCause::CallerHangup));

    for (heard, cause) in [(true, EndCause::CallerHangup), (false, EndCause::Error)] {
        let mut phone = room.call(order(question()));
        for _ in 0..50 {
            phone.tick(heard.then_some(&[3; 160])).await;
        }
        let ear = phone.ear.as_mut().expect("an ear");
        (5..20).for_each(|second| ear.starved(second * 1000));
        phone.tick(None).await;
        assert!(!phone.call.is_finished(), "a gap of nineteen seconds is waited out");
        phone.ear.as_mut().expect("an ear").starved(20_000);
        phone.tick(None).await;
        assert_eq!(phone.until_over(100).await.end, Fact::Ended(cause), "heard before: {heard}");
    }
}
