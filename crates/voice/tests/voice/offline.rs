//! One call in real time with the programs of the offline set: espeak-ng speaks, pocketsphinx hears, rules
//! answer.

use std::sync::Arc;
use std::time::Duration;

use domain::call::{EndCause, Fact};
use providers::language_model::offline::OfflineAnswerer;
use providers::speech::offline::{OfflineRecogniser, OfflineSynthesiser, Settings};
use serde_json::json;
use voice::Speech;

use super::sounds::english;
use super::test_call::{TestCall, frames};
use super::{Room, order, transcript};

/// A tick that takes this long in real time. The programs are given more of it than a call would give them,
/// because tests share a machine.
#[allow(clippy::disallowed_methods)]
async fn tick(phone: &mut TestCall, heard: &[i16; 160], takes_ms: u64) -> bool {
    tokio::time::sleep(Duration::from_millis(takes_ms)).await;
    phone.tick_now(Some(heard)).await
}

/// The agent speaks, and has done so.
async fn until_spoken(phone: &mut TestCall) {
    let (mut spoke, mut silent) = (false, 0);
    for _ in 0..1500 {
        let sounds = tick(phone, &[3; 160], if spoke { 10 } else { 100 }).await;
        spoke |= sounds;
        silent = if sounds { 0 } else { silent + 20 };
        if (spoke && silent > 600) || phone.call.is_finished() {
            return;
        }
    }
    panic!("the agent did not speak, or never stopped");
}

/// Machines pause before the beep, so that who listens to the end of the words alone takes them for a person.
#[tokio::test]
async fn machines_are_known_with_no_account_anywhere() {
    let greetings =
        ["Please leave a message after the tone.", "Hi, Ravi is out today. Tell me what it is about."];
    for greeting in greetings {
        for pause in [300, 1000] {
            let room = Room::default();
            let speech = Speech {
                to_text: Arc::new(OfflineRecogniser::new(Settings::default())),
                from_text: Arc::new(OfflineSynthesiser::new(Settings::default())),
                model: Arc::new(OfflineAnswerer),
            };
            let mut looking = order(super::question());
            looking.amd = voice::Amd::HangUp;
            let mut phone = room.speak(looking, speech, None);
            let words = super::sounds::speech(super::sounds::Voice::Espeak("en"), greeting);
            let beep = super::sounds::tone(1000.0, 500, 9000.0);
            let silence = super::sounds::silence(pause);
            for frame in frames(&super::sounds::then(&[&words, &silence, &beep])) {
                if !phone.call.is_finished() {
                    tick(&mut phone, &frame, 20).await;
                }
            }
            let held = phone.hang_up().await;
            assert_eq!(
                (held.end, held.report.outcome.as_deref()),
                (Fact::Voicemail, None),
                "{greeting} {pause}"
            );
        }
    }
}

#[tokio::test]
async fn a_call_with_no_account_anywhere() {
    let nodes = json!([
        {"id": "a", "type": "collect", "text": "Which plan? Gold or silver?",
         "field": {"key": "plan", "type": "choice", "choices": ["Gold", "Silver"]}, "next": "z"},
        {"id": "z", "type": "end", "text": "Thank you.", "outcome": "interested"}]);
    let room = Room::default();
    let speech = Speech {
        to_text: Arc::new(OfflineRecogniser::new(Settings::default())),
        from_text: Arc::new(OfflineSynthesiser::new(Settings::default())),
        model: Arc::new(OfflineAnswerer),
    };
    let mut phone = room.speak(order(nodes), speech, None);
    until_spoken(&mut phone).await;
    for frame in frames(&english("silver please")) {
        tick(&mut phone, &frame, 5).await;
    }
    until_spoken(&mut phone).await;
    let held = phone.hang_up().await;
    assert_eq!(json!(held.report.extracted), json!({"plan": "Silver"}), "{:?}", held.report);
    assert_eq!(held.end, Fact::Ended(EndCause::AgentEnded));
    assert_eq!(transcript(&held).last().map(String::as_str), Some("agent: Thank you."));
}
