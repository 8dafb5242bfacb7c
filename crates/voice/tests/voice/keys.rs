//! Keys that the agent presses.

use domain::call::{EndCause, Fact};
use domain::conversation::{Exchange, ModelToolCall};
use domain::ports::Said;
use serde_json::{Map, Value, json};
use voice::Order;

use super::fakes::{Act, lock, words};
use super::sounds::english;
use super::{Room, converse, flow, order};

fn press(keys: &Value) -> Act {
    let arguments = Map::from_iter([("keys".to_owned(), keys.clone())]);
    (100, Ok(Said::Tool(ModelToolCall { tool_id: "press_keys".into(), arguments })))
}

/// What the model was told of its tools when it was asked last.
fn answers(room: &Room) -> Vec<(bool, String)> {
    let asked = lock(&room.model.asked);
    let history = &asked.last().expect("a request").history;
    let answer = |exchange: &Exchange| match exchange {
        Exchange::ToolAnswered { ok, value, .. } => {
            Some((*ok, value.as_str().unwrap_or_default().to_owned()))
        }
        _ => None,
    };
    history.iter().filter_map(answer).collect()
}

#[tokio::test(start_paused = true)]
async fn the_model_presses_keys_and_goes_on_when_they_were_pressed() {
    let room = Room::default();
    room.thinks(vec![vec![press(&json!("2w1#"))], words("Done.")]);
    let mut phone = room.call(order(converse(&["press_keys"])));
    phone.quiet(1000).await;
    assert_eq!(phone.line.pressed(), ["2w1#"]);
    assert_eq!(lock(&room.model.asked).len(), 1, "three keys and a pause take 1.1 s");
    phone.until_agent_speaks(2000).await;
    assert_eq!(answers(&room), [(true, "pressed".to_owned())]);
    phone.hang_up().await;
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_pressed_is_refused_with_a_reason() {
    for (keys, reason) in [
        (json!("1a"), "keys are 0-9"),
        (json!("1".repeat(33)), "at most 32 keys"),
        (json!("w"), "no key in it"),
        (json!(5), "no key in it"),
        (json!(null), "no key in it"),
    ] {
        let room = Room::default();
        room.thinks(vec![vec![press(&keys)], words("I could not.")]);
        let mut phone = room.call(order(converse(&["press_keys"])));
        phone.until_agent_speaks(2000).await;
        let told = answers(&room);
        assert!(!told[0].0 && told[0].1.contains(reason), "{keys}: {told:?}");
        assert!(phone.line.pressed().is_empty(), "{keys}");
        phone.hang_up().await;
    }
    let room = Room::default();
    room.thinks(vec![vec![press(&json!("1"))], words("I could not.")]);
    let mut phone = room.call(order(converse(&["press_keys"])));
    phone.line.take_no_keys();
    phone.until_agent_speaks(2000).await;
    assert!(answers(&room)[0].1.contains("takes no keys"));
    phone.hang_up().await;
}

#[tokio::test(start_paused = true)]
async fn a_model_that_presses_on_and_on_is_stopped() {
    let room = Room::default();
    let ten = || (0..10).map(|_| press(&json!("1"))).collect::<Vec<_>>();
    room.thinks(vec![ten(), ten(), ten(), words("Enough.")]);
    let mut phone = room.call(order(converse(&["press_keys"])));
    phone.until_agent_speaks(10_000).await;
    assert_eq!(phone.line.pressed().len(), 20);
    let told = answers(&room);
    let refused = told.iter().filter(|(ok, reason)| !ok && reason.contains("20 times a minute")).count();
    assert_eq!((told.len(), refused), (30, 10), "{told:?}");
    phone.hang_up().await;
}

#[tokio::test(start_paused = true)]
async fn a_flow_presses_keys() {
    let room = Room::default();
    let nodes = json!([
        {"id": "a", "type": "tool", "toolId": "press_keys", "arguments": {"keys": "{{branch}}#"}, "saveAs": "pressed", "next": "z", "onError": "e"},
        {"id": "z", "type": "end", "text": "It is {{pressed}}.", "outcome": "done"},
        {"id": "e", "type": "end", "text": "It is not pressed.", "outcome": "failed"}]);
    let mut with_branch = order(nodes.clone());
    with_branch.variables.insert("branch".into(), json!("42"));
    let phone = room.call(with_branch);
    let line = phone.line.clone();
    let held = phone.until_over(10_000).await;
    assert_eq!((held.end, held.report.outcome.as_deref()), (Fact::Ended(EndCause::AgentEnded), Some("done")));
    assert_eq!(line.pressed(), ["42#"]);
    assert_eq!(room.said(), ["It is pressed."]);

    let room = Room::default();
    let mut wrong = order(nodes);
    wrong.variables.insert("branch".into(), json!("the second one"));
    let held = room.call(wrong).until_over(10_000).await;
    assert_eq!(held.report.outcome.as_deref(), Some("failed"));
}

/// A menu talks longer than a person greets: an agent that may press keys listens to it.
#[tokio::test(start_paused = true)]
async fn a_menu_is_no_voicemail_for_an_agent_that_may_press_keys() {
    let menu = "welcome to the bank of the north press one for your balance two for your cards or three to speak to somebody";
    for (menus, pressed) in [(true, vec!["1".to_owned()]), (false, Vec::new())] {
        let room = Room::default();
        room.hears(&["welcome to the bank press one for your balance", "or three to speak to somebody"]);
        room.thinks(vec![vec![press(&json!("1"))], words("Thank you.")]);
        let mut order = Order::new(flow(converse(&["press_keys"])), Map::new(), "en", "");
        order.menus = menus;
        let mut phone = room.call(order);
        phone.quiet(400).await;
        for frame in super::test_call::frames(&english(menu)) {
            if phone.call.is_finished() {
                break;
            }
            phone.tick(Some(&frame)).await;
        }
        let line = phone.line.clone();
        phone.quiet(3000).await;
        assert_eq!(line.pressed(), pressed);
        let held = phone.hang_up().await;
        assert_eq!(held.end == Fact::Voicemail, !menus);
    }
}
