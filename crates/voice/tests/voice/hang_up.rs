//! Somebody hangs up, at any moment of any conversation: the task ends, and what it leaves fits together.

use std::sync::atomic::Ordering;

use domain::call::{EndCause, Fact};
use domain::conversation::ModelToolCall;
use domain::ports::Said;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use voice::{Amd, Command, Held, TransferFailure};

use super::fakes::{Act, lock, words};
use super::sounds::{cough, english, silence, tone};
use super::{Room, converse, order, question};

/// What happens on the line.
#[derive(Debug, Clone)]
enum Happening {
    Speech(usize),
    Quiet(usize),
    Cough,
    Tone,
    Keys(&'static str),
    Hold(bool),
    Lost(usize),
    Starved,
}

fn happening() -> impl Strategy<Value = Happening> {
    prop_oneof![
        4 => (0usize..4).prop_map(Happening::Speech),
        4 => (20usize..2500).prop_map(Happening::Quiet),
        1 => Just(Happening::Cough),
        1 => Just(Happening::Tone),
        1 => prop_oneof![Just("1"), Just("12#"), Just("*9"), Just("A")].prop_map(Happening::Keys),
        1 => any::<bool>().prop_map(Happening::Hold),
        1 => (1usize..60).prop_map(Happening::Lost),
        1 => Just(Happening::Starved),
    ]
}

fn transfer() -> Value {
    json!([
        {"id": "a", "type": "say", "text": "One moment.", "next": "t"},
        {"id": "t", "type": "transfer", "text": "Connecting.", "transferNumbers": ["+919811111111"], "onFail": "b"},
        {"id": "b", "type": "collect", "text": "Which day? Tell me.", "field": {"key": "day", "type": "text"}, "next": "b2"},
        {"id": "b2", "type": "tool", "toolId": "lookup", "arguments": {}, "next": "z"},
        {"id": "z", "type": "end", "text": "Bye."}])
}

fn model_turns() -> Vec<Vec<Act>> {
    let call = ModelToolCall { tool_id: "lookup".into(), arguments: Map::new() };
    vec![
        vec![
            (200, Ok(Said::Text("Hello there. ".into()))),
            (700, Ok(Said::Text("How are you today?".into()))),
        ],
        vec![(100, Ok(Said::Text("Let me see.".into()))), (0, Ok(Said::Tool(call)))],
        words("It is ten rupees. Anything else?"),
        vec![(50, Err(()))],
        vec![(100, Ok(Said::Text("Fine.".into()))), (0, Ok(Said::Exit(0)))],
    ]
}

/// What is true of every conversation that was held.
fn coherent(held: &Held, room: &Room, ms: u64) -> Result<(), TestCaseError> {
    prop_assert!(matches!(held.end, Fact::Ended(_) | Fact::Voicemail | Fact::AgentFailed), "{:?}", held.end);
    let turns = &held.report.turns;
    for turn in turns {
        prop_assert!(
            !turn.text.trim().is_empty() && turn.start_ms >= 0 && turn.start_ms <= turn.end_ms,
            "{turn:?}"
        );
        prop_assert!(
            turn.end_ms <= i64::try_from(ms).unwrap_or(i64::MAX) + 20,
            "{turn:?} after the end at {ms}"
        );
    }
    prop_assert!(turns.windows(2).all(|pair| pair[0].start_ms <= pair[1].start_ms), "{turns:?}");
    for latency in &held.report.latency {
        prop_assert!(latency.turn < turns.len() && latency.endpoint_ms >= 0, "{latency:?}");
        prop_assert!(latency.first_packet_ms.is_some_and(|at| at >= latency.endpoint_ms), "{latency:?}");
    }
    let facts = lock(&room.office.facts).clone();
    prop_assert!(facts.iter().filter(|fact| **fact == Fact::AgentConnected).count() <= 1, "{facts:?}");
    let opted_out = facts.contains(&Fact::OptOutSaid);
    prop_assert_eq!(opted_out, held.report.outcome.as_deref() == Some("opted_out"));
    let outcome = held.report.outcome.as_deref().filter(|outcome| *outcome != "opted_out");
    prop_assert!(
        outcome.is_none() || held.end != Fact::Ended(EndCause::CallerHangup),
        "an end that was not reached: {outcome:?}"
    );
    // The flows of these calls end with a goodbye; its disposition counts only if the goodbye was heard.
    if matches!(outcome, Some("interested" | "done")) {
        let last = turns.iter().rev().find(|turn| turn.role == domain::conversation::Role::Agent);
        prop_assert!(last.is_some_and(|turn| turn.text.ends_with("Goodbye.")), "{turns:?}");
    }
    Ok(())
}

async fn play(
    which: usize,
    amd: usize,
    happenings: Vec<Happening>,
    ends: usize,
) -> Result<(), TestCaseError> {
    let room = Room::default();
    room.hears(&[
        "hello",
        "haan",
        "the gold plan",
        "",
        "please leave a message",
        "what?",
        "my number is",
        "stop calling me",
        "yes",
    ]);
    room.ears.takes_ms.store(120 * which, Ordering::SeqCst);
    room.voice.takes_ms.store(60 * amd, Ordering::SeqCst);
    room.thinks(model_turns());
    *lock(&room.office.tool) = (900, Some(Ok(json!(10))));
    *lock(&room.office.transfer) = (2500, Some(Err(TransferFailure::NoAnswer)));
    let nodes = [question(), converse(&["lookup"]), transfer()];
    let mut order = order(nodes[which % nodes.len()].clone());
    order.amd = [Amd::Off, Amd::HangUp, Amd::LeaveMessage("Please call back.".into())][amd % 3].clone();
    let mut phone = room.call(order);
    for happening in happenings {
        match happening {
            Happening::Speech(which) => {
                let said =
                    ["the gold plan please", "haan", "wait a moment, I want to say something", "hello"]
                        [which % 4];
                phone.say(&english(said)).await;
            }
            Happening::Quiet(ms) => phone.say(&silence(ms)).await,
            Happening::Cough => phone.say(&cough()).await,
            Happening::Tone => phone.say(&tone(1000.0, 400, 8000.0)).await,
            Happening::Keys(keys) => phone.press(keys),
            Happening::Hold(on) => {
                let _ = phone.commands.try_send(Command::Hold(on));
            }
            Happening::Lost(ticks) => {
                for _ in 0..ticks {
                    phone.tick(None).await;
                }
            }
            Happening::Starved => {
                if let Some(ear) = phone.ear.as_mut() {
                    ear.starved(5000);
                }
            }
        }
    }
    let command = [Command::PeerGone, Command::HangUp(EndCause::ApiHangup)].get(ends).copied();
    if let Some(command) = command {
        let _ = phone.commands.try_send(command);
        phone.quiet(40).await;
    }
    let ms = phone.now;
    let held = phone.hang_up().await;
    coherent(&held, &room, ms)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_call_ends_whenever_somebody_hangs_up(
        which in 0usize..3,
        amd in 0usize..3,
        happenings in proptest::collection::vec(happening(), 0..8),
        ends in 0usize..3,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().expect("a runtime");
        runtime.block_on(play(which, amd, happenings, ends))?;
    }
}
