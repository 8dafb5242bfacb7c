//! Money while calls go on: the hold grows before each minute, an empty wallet and a suspension end calls
//! (docs/contract/wallet.md#holds).

use std::sync::Arc;

use dastak::app::calls::LegFact;
use domain::call::{EndCause, Fact, HangupRequest};
use domain::ids::{Call, Id};
use serde_json::{Value, json};

use crate::lines::Kit;
use crate::shows::Shows;
use crate::world::World;

const STAFF: &str = "+918045670002";

impl Kit {
    fn wishes(&self) -> Vec<(Id<Call>, HangupRequest)> {
        self.trunk.wishes.lock().unwrap().clone()
    }
}

#[tokio::test]
async fn the_hold_grows_before_each_minute() {
    let kit = Kit::open().await;
    let balance = kit.wallet().await.0;
    let call = kit.talking().await;
    for (seconds, held) in [(48, 600), (2, 1200), (58, 1200), (2, 1800), (40, 1800)] {
        kit.hold(&[call], seconds).await;
        assert_eq!(kit.money().await, (balance, held, 1));
    }
    // 150 seconds.
    kit.tell(call, Fact::Ended(EndCause::CallerHangup)).await;
    assert_eq!(kit.money().await, (balance - 1800, 0, 0));
    assert_eq!(kit.wishes(), []);
    // An unanswered call holds a minute and releases it.
    let ringing = kit.placed().await;
    kit.hold(&[ringing], 300).await;
    assert_eq!(kit.money().await.1, 600);
    kit.tell(ringing, Fact::NoAnswer).await;
    assert_eq!(kit.money().await, (balance - 1800, 0, 0));
}

#[tokio::test]
async fn a_call_whose_next_minute_is_not_covered_takes_its_leave() {
    let kit = Kit::open().await;
    kit.leave(1100).await;
    let call = kit.talking().await;
    kit.hold(&[call], 49).await;
    assert_eq!(kit.wishes(), []);
    kit.hold(&[call], 1).await;
    assert_eq!(kit.wishes(), [(call, HangupRequest::BalanceExhausted)]);
    let timeline = kit.get(&format!("/v1/calls/{call}/timeline")).await;
    assert!(
        timeline["data"].as_array().unwrap().iter().any(|entry| entry["reason"] == "balance_exhausted"),
        "{timeline}"
    );
    // It takes no money that comes in meanwhile; a request may still drop the line at once.
    kit.leave(5000).await;
    kit.hold(&[call], 3).await;
    assert_eq!(kit.money().await, (5000, 600, 1));
    kit.post(&format!("/v1/calls/{call}/hangup"), &Value::Null).await.expect(202);
    kit.hold(&[call], 1).await;
    assert_eq!(kit.wishes(), [(call, HangupRequest::BalanceExhausted), (call, HangupRequest::HangUp)]);
    kit.tell(call, Fact::Ended(EndCause::MaxDuration)).await;
    kit.call(call).await.shows(json!({"endCause": "max_duration"}));
    assert_eq!(kit.money().await, (4400, 0, 0));
}

#[tokio::test]
async fn a_bridged_call_of_two_and_a_half_minutes_on_a_wallet_of_less() {
    let kit = Kit::with_staff().await;
    // Three minutes in all, for a call and a leg that both begin a second one.
    kit.leave(1800).await;
    let call = kit.talking().await;
    kit.hold(&[call], 10).await;
    let leg = kit.bring(call, STAFF).await.unwrap();
    kit.tell_leg(call, leg, LegFact::Answered).await;
    kit.hold(&[call], 45).await;
    assert_eq!(
        (kit.money().await, kit.wishes()),
        ((1800, 1800, 2), vec![]),
        "the call's second minute is the last"
    );
    kit.hold(&[call], 10).await;
    assert_eq!(
        kit.wishes(),
        [(call, HangupRequest::BalanceExhausted)],
        "the leg's second minute cannot be held"
    );
    // The node is dead, so nothing ends the call. Its lease runs out long after the second minute.
    kit.advance(85).await;
    assert_eq!(kit.call(call).await["endCause"], "max_duration", "it was to end by then");
    assert_eq!(kit.money().await, (600, 0, 0), "a minute of each until it was to end");
    // A call and a leg whose node dies before anything asks for their end are charged what was held, and no
    // more.
    kit.leave(1800).await;
    let call = kit.talking().await;
    kit.hold(&[call], 10).await;
    let leg = kit.bring(call, STAFF).await.unwrap();
    kit.tell_leg(call, leg, LegFact::Answered).await;
    kit.advance(44).await;
    kit.advance(1).await;
    assert_eq!(kit.call(call).await["endCause"], "error");
    assert_eq!(kit.money().await, (600, 0, 0));
}

#[tokio::test]
async fn a_table_brings_people_in_by_the_same_rules() {
    let world = World::open().await;
    let (app, live, test) = (&world.app, world.workspace.live.clone(), world.workspace.test.clone());
    let nodes = |number: &str| {
        json!([
            {"id": "t", "type": "transfer", "text": "I will connect you.", "transferNumbers": [number], "mode": "warm", "onFail": "sorry"},
            {"id": "sorry", "type": "end", "text": "Nobody is free.", "outcome": "nobody"},
        ])
    };
    for (key, number, charge, heard) in [
        (&live, "+919812300021", 1200, "transfer_handoff"),
        // On the registry of the sandbox; busy; on the workspace's list.
        (&live, "+919812302222", 600, "agent_ended"),
        (&live, "+919812301111", 600, "agent_ended"),
        (&live, "+919812300022", 600, "agent_ended"),
        (&test, "+919812302222", 0, "transfer_handoff"),
    ] {
        app.post(&live, "/v1/dnc", &json!({"phones": ["+919812300022"]})).await;
        let agent = world.agent(&json!({"systemPrompt": "You are Asha."})).await;
        let version =
            app.get(&live, &format!("/v1/agents/{agent}/flow")).await.expect(200)["data"]["draftVersion"]
                .clone();
        let flow = json!({"graph": {"startNodeId": "t", "nodes": nodes(number), "variables": []}, "baseVersion": version});
        app.put(&live, &format!("/v1/agents/{agent}/flow"), &flow).await.expect(200);
        app.post(&live, &format!("/v1/agents/{agent}/flow/publish"), &json!({})).await.expect(200);
        let before = world.wallet().await.0;
        let body = json!({"agentId": agent, "toNumber": format!("+9198123{:05}", 40_000 + number.len() as i64 * 100 + charge / 100 + heard.len() as i64)});
        let id =
            app.post(key, "/v1/calls", &body).await.expect(200)["interactionId"].as_str().unwrap().to_owned();
        app.advance(12).await;
        let call = world.call(key, &id).await;
        assert_eq!(
            (&call["endCause"], world.wallet().await),
            (&json!(heard), (before - charge, 0)),
            "{number}: {call}"
        );
        let told = world
            .outbox()
            .await
            .iter()
            .any(|event| event["type"] == "call.transferred" && event["data"]["callId"] == json!(id));
        assert_eq!(told, heard == "transfer_handoff", "{number}");
        let export = app.get(key, "/v1/audit/export").await.text;
        assert_eq!(export.lines().filter(|line| line.contains(&id)).count(), 2, "{number}: {export}");
    }
}

#[tokio::test]
async fn calls_race_for_the_last_minutes() {
    let kit = Kit::open().await;
    // Eight calls, and three minutes more.
    kit.leave(8 * 600 + 3 * 600 + 599).await;
    let mut calls = Vec::new();
    for number in 0..8 {
        let call = kit.world.placed(kit.live(), &format!("1{number:03}")).await.parse().unwrap();
        kit.tell(call, Fact::Answered).await;
        calls.push(call);
    }
    kit.hold(&calls, 55).await;
    let (balance, held, lines) = kit.money().await;
    assert_eq!((balance, held, lines), (11 * 600 + 599, 11 * 600, 8));
    let leaving: Vec<Id<Call>> = kit.wishes().into_iter().map(|(call, _)| call).collect();
    assert_eq!(leaving.len(), 5, "{leaving:?}");
    for call in &leaving {
        kit.tell(*call, Fact::Ended(EndCause::MaxDuration)).await;
    }
    assert_eq!(kit.money().await, (6 * 600 + 599, 6 * 600, 3));
}

/// Placements, second legs and ends from many tasks: in any order, no money is held twice.
#[tokio::test(flavor = "multi_thread")]
async fn requests_race_for_the_last_minutes() {
    let kit = Arc::new(Kit::with_staff().await);
    kit.change(&json!({"limits": {"callsPerMinute": 1000}})).await;
    kit.leave(4 * 600 + 1).await;
    let first = kit.talking().await;
    let mut tasks = Vec::new();
    for number in 0..12 {
        let kit = kit.clone();
        tasks.push(tokio::spawn(async move {
            if number % 2 == 0 {
                let answer = kit.place(kit.live(), &format!("2{number:03}")).await;
                assert!(matches!(answer.status, 200 | 402), "{}", answer.text);
                answer.status == 200
            } else {
                kit.bring(first, STAFF).await.is_ok()
            }
        }));
    }
    let mut taken = 0;
    for task in tasks {
        taken += i64::from(task.await.unwrap());
    }
    assert_eq!(taken, 3);
    assert_eq!(kit.money().await, (2401, 2400, 4));
}

#[tokio::test]
async fn a_suspension_ends_live_calls_and_refuses_new_ones() {
    let kit = Kit::open().await;
    let (app, live, test) = (&kit.app, kit.workspace.live.clone(), kit.workspace.test.clone());
    let (talking, ringing) = (kit.talking().await, kit.placed().await);
    let simulated = kit.world.placed(&test, "1234").await;
    let other = kit.neighbour().await;
    let body = json!({"agentId": kit.agent, "toNumber": "+919812301234", "scheduledAt": kit.at(120)});
    let scheduled = app.post(&live, "/v1/scheduled-calls", &body).await.id(201);
    kit.change(&json!({"suspended": true})).await;
    app.advance(0).await;
    let mut wishes = kit.wishes();
    wishes.sort();
    let mut expected = vec![(talking, HangupRequest::Suspended), (ringing, HangupRequest::Suspended)];
    expected.sort();
    assert_eq!(wishes, expected);
    kit.place(&live, "1235").await.refused(403, "workspace_suspended");
    kit.tell(talking, Fact::Ended(HangupRequest::Suspended.cause())).await;
    kit.tell(ringing, Fact::Ended(HangupRequest::Suspended.cause())).await;
    app.advance(300).await;
    kit.change(&json!({"suspended": false})).await;
    for (key, call) in [(&live, talking.to_string()), (&live, ringing.to_string()), (&test, simulated)] {
        let call = kit.world.call(key, &call).await;
        assert_eq!((&call["state"], &call["endCause"]), (&json!("ended"), &json!("error")), "{call}");
    }
    let placed = app.get(&live, &format!("/v1/scheduled-calls/{scheduled}")).await.expect(200);
    assert_ne!(placed["data"]["status"], "placed", "{placed}");
    assert_eq!(kit.money().await.1, 0);
    other.get("/v1/wallet").await;
}

#[tokio::test]
async fn a_dead_node_of_a_suspended_workspace_leaves_nothing() {
    let kit = Kit::open().await;
    let call = kit.talking().await;
    kit.hold(&[call], 5).await;
    kit.change(&json!({"suspended": true})).await;
    kit.advance(50).await;
    kit.change(&json!({"suspended": false})).await;
    let call = kit.call(call).await;
    assert_eq!((&call["endCause"], &call["durationSeconds"]), (&json!("error"), &json!(5)), "{call}");
    assert_eq!(kit.money().await, (1_000_000 - 600, 0, 0));
}
