//! Every row of the table of nudge states (docs/contract/nudges.md#states), over the sandbox network and on
//! the manual clock: what comes of dials. What comes before one stands in `nudge_holds`, and what allows none in
//! `nudge_failures`.

use serde_json::{Value, json};

use crate::shows::Shows;
use crate::world::{World, assert_nudge, id};

pub const TALK: &str = "9812340001";

#[tokio::test]
async fn a_talk_goes_through_every_status() {
    let world = World::monday().await;
    let nudge = world.play_nudge(TALK, &json!({"metadata": {"order": 7}}), 0).await;
    assert_nudge(&nudge, "queued", None, None);
    nudge.shows(json!({"attempts": 1, "callId": null, "nextAttemptAt": null}));
    world
        .post(&format!("/v1/nudges/{}/cancel", id(&nudge)), &json!({}))
        .await
        .refused(409, "nudge_not_cancellable");
    world.advance(2).await;
    let dialing = world.show_nudge(&nudge).await;
    assert_nudge(&dialing, "dialing", None, None);
    let call = dialing["callId"].clone();
    assert!(call.as_str().unwrap().starts_with("call_"));
    world
        .post(&format!("/v1/nudges/{}/cancel", id(&nudge)), &json!({}))
        .await
        .refused(409, "nudge_not_cancellable");
    world.advance(1).await;
    assert_nudge(&world.show_nudge(&nudge).await, "in_progress", None, None);
    world.ask_nudge(TALK, &json!({})).await.refused(409, "nudge_in_flight");
    world.advance(7).await;
    let done = world.show_nudge(&nudge).await;
    assert_nudge(&done, "finished", Some("connected"), Some("agent_ended"));
    done.shows(json!({"callId": call, "attempts": 1, "finishedAt": "2027-03-01T06:30:10.000Z"}));
    let attempt = json!({
        "callId": call, "startedAt": "2027-03-01T06:30:00.000Z", "answeredAt": "2027-03-01T06:30:02.000Z", "endedAt": "2027-03-01T06:30:10.000Z",
        "endCause": "agent_ended", "durationSeconds": 8, "outcome": "simulated", "summary": null, "extracted": {},
    });
    assert_eq!((done["attemptsList"].clone(), done["recordingUrl"].clone()), (json!([attempt]), Value::Null));
    let events = world.nudge_events(&nudge).await;
    assert_eq!(
        events.iter().map(|(kind, _)| kind.as_str()).collect::<Vec<_>>(),
        ["nudge.dialing", "nudge.finished"]
    );
    events[0].1.shows(json!({"attempts": 1, "status": "dialing", "callId": call}));
    let finished = &events[1].1;
    assert_eq!(finished["attempt"], attempt);
    for field in [
        "startedAt",
        "answeredAt",
        "endedAt",
        "endCause",
        "durationSeconds",
        "outcome",
        "summary",
        "extracted",
        "callId",
    ] {
        assert_eq!(finished[field], attempt[field], "{field}");
    }
    let shown = world.data(&format!("/v1/calls/{}", call.as_str().unwrap())).await;
    shown.shows(json!({"metadata": {"order": 7}, "endCause": "agent_ended"}));
    let entry = world.get("/v1/wallet/transactions?limit=1").await["data"][0].clone();
    entry.shows(json!({"kind": "call_charge", "amountMinor": -600, "reference": call}));
    // The number is free again.
    world.nudge(TALK, &json!({})).await;
}

#[tokio::test]
async fn what_was_said_needs_the_scope_to_read_calls() {
    let world = World::monday().await;
    let nudge = world.play_nudge(TALK, &json!({}), 20).await;
    let key = world.key(&world.workspace.id, "live", json!(["nudges:read"])).await;
    let shown = world.app.get(&key, &format!("/v1/nudges/{}", id(&nudge))).await.data(200);
    let attempt = &shown["attemptsList"][0];
    attempt.shows(json!({"summary": null, "extracted": null}));
    shown.shows(json!({"recordingUrl": null}));
    assert_eq!(attempt["outcome"], "simulated");
}

#[tokio::test]
async fn every_outcome_of_a_single_dial() {
    let world = World::monday().await;
    for (to, seconds, result, reason, attempts) in [
        ("9812340000", 15, "no_answer", "no_answer", 1),
        ("9812341111", 3, "busy", "busy", 1),
        ("9812343333", 4, "voicemail", "agent_ended", 1),
        ("9812344444", 3, "failed", "rejected", 1),
        ("9812345555", 3, "failed", "invalid_number", 1),
        ("9812347777", 10, "opted_out", "agent_ended", 1),
        ("9812348888", 3, "failed", "not_connected", 1),
        ("9812349999", 0, "failed", "possibly_placed", 1),
    ] {
        // Whatever the retry policy says, a final result is not dialled again.
        let retry = if ["no_answer", "busy", "not_connected"].contains(&reason) {
            json!({})
        } else {
            json!({"retry": {"maxRetries": 2, "delayMinutes": 10}})
        };
        let nudge = world.play_nudge(to, &retry, seconds).await;
        assert_nudge(&nudge, "finished", Some(result), Some(reason));
        assert_eq!(
            (nudge["attempts"].clone(), nudge["attemptsList"].as_array().unwrap().len()),
            (json!(attempts), 1),
            "{to}"
        );
        assert!(nudge["callId"].is_string(), "{to}");
        let mut kinds = world.nudge_kinds(&nudge).await;
        assert_eq!(kinds.pop().as_deref(), Some("nudge.finished"), "{to}");
        assert!(kinds.iter().all(|kind| kind == "nudge.dialing"), "{to}: {kinds:?}");
        world.advance(3600).await;
        assert_eq!(world.show_nudge(&nudge).await["attempts"], json!(attempts), "{to}: never again");
    }
}

#[tokio::test]
async fn an_opt_out_is_on_the_list_and_blocks_the_next() {
    let world = World::monday().await;
    world.play_nudge("9812347777", &json!({}), 10).await;
    let next = world.play_nudge("9812347777", &json!({}), 0).await;
    assert_nudge(&next, "finished", Some("blocked"), None);
    next.shows(json!({"blockReason": "opt_out", "attempts": 0, "callId": null}));
}

#[tokio::test]
async fn unanswered_dials_are_repeated_as_often_as_asked() {
    let world = World::monday().await;
    let more = json!({"retry": {"maxRetries": 2, "delayMinutes": 30}});
    let nudge = world.play_nudge("9812340000", &more, 15).await;
    assert_nudge(&nudge, "scheduled", None, Some("retry"));
    nudge.shows(json!({"nextAttemptAt": "2027-03-01T07:00:15.000Z", "attempts": 1, "callId": null}));
    world.ask_nudge("9812340000", &json!({})).await.refused(409, "nudge_in_flight");
    world.advance(1800).await;
    assert_nudge(&world.show_nudge(&nudge).await, "queued", None, None);
    world.advance(15).await;
    assert_eq!(world.show_nudge(&nudge).await["attempts"], 2);
    world.advance(1815).await;
    let done = world.show_nudge(&nudge).await;
    assert_nudge(&done, "finished", Some("no_answer"), Some("no_answer"));
    assert_eq!((done["attempts"].clone(), done["attemptsList"].as_array().unwrap().len()), (json!(3), 3));
    assert_eq!(done["callId"], done["attemptsList"][2]["callId"]);
    let events = world.nudge_events(&nudge).await;
    assert_eq!(
        events.iter().map(|(kind, _)| kind.as_str()).collect::<Vec<_>>(),
        ["nudge.attempt_ended", "nudge.attempt_ended", "nudge.finished"]
    );
    let first = &events[0].1;
    first["attempt"].shows(json!({"endCause": "no_answer", "callId": done["attemptsList"][0]["callId"]}));
    first.shows(json!({"nextAttemptAt": "2027-03-01T07:00:15.000Z", "statusReason": "retry"}));
}

#[tokio::test]
async fn a_retry_is_only_for_what_was_named_and_within_the_time() {
    let world = World::monday().await;
    let nudge =
        world.play_nudge("9812341111", &json!({"retry": {"maxRetries": 2, "on": ["no_answer"]}}), 3).await;
    assert_nudge(&nudge, "finished", Some("busy"), Some("busy"));
    // The retry would come a second too late.
    let more = json!({"retry": {"maxRetries": 2, "delayMinutes": 10}, "expiresAt": "2027-03-01T06:40:17Z"});
    let nudge = world.play_nudge("9812340000", &more, 15).await;
    assert_nudge(&nudge, "finished", Some("no_answer"), Some("no_answer"));
}

#[tokio::test]
async fn an_agent_that_fails_to_start_counts_and_is_repeated() {
    let world = World::monday().await;
    let nudge = world
        .play_nudge("9812348888", &json!({"retry": {"maxRetries": 1, "on": ["busy"], "delayMinutes": 10}}), 3)
        .await;
    assert_nudge(&nudge, "scheduled", None, Some("not_connected"));
    nudge.shows(json!({"attempts": 1, "nextAttemptAt": "2027-03-01T06:40:02.000Z"}));
    world.advance(603).await;
    assert_nudge(&world.show_nudge(&nudge).await, "finished", Some("failed"), Some("not_connected"));
    assert_eq!(
        world.nudge_kinds(&nudge).await,
        ["nudge.dialing", "nudge.attempt_ended", "nudge.dialing", "nudge.finished"]
    );
}

#[tokio::test]
async fn test_nudges_are_simulated_and_cost_nothing() {
    let world = World::monday().await;
    world.change(&json!({"kybVerified": false, "limits": {"concurrentCalls": 0}})).await;
    world.pay(-1_000_000).await;
    for (to, result, reason) in [
        ("9812340000", "no_answer", json!("no_answer")),
        ("9812341111", "busy", json!("busy")),
        ("9812342222", "blocked", Value::Null),
        ("9812346666", "connected", json!("agent_ended")),
        ("9812340001", "connected", json!("agent_ended")),
    ] {
        let made = world.send_nudge(world.test(), to, &world.order(to, &json!({}))).await.data(201);
        world.advance(16).await;
        let shown = world.app.get(world.test(), &format!("/v1/nudges/{}", id(&made))).await.data(200);
        assert_nudge(&shown, "finished", Some(result), reason.as_str());
        assert_eq!(shown["livemode"], false);
    }
    assert_eq!(world.get("/v1/wallet").await["data"]["balanceMinor"], 0);
    assert_eq!(world.get("/v1/nudges").await["data"], json!([]));
    // The window is evaluated, as for live ones.
    world.set_clock("2027-03-01T18:00:00Z").await;
    let held = world.send_nudge(world.test(), "late", &world.order("9812340001", &json!({}))).await.data(201);
    assert_nudge(&held, "scheduled", None, Some("outside_calling_window"));
}

#[tokio::test]
async fn a_hang_up_ends_a_nudge_and_a_ringing_one_fails() {
    let world = World::monday().await;
    let talking = world.play_nudge(TALK, &json!({}), 4).await;
    world
        .post(&format!("/v1/calls/{}/hangup", talking["callId"].as_str().unwrap()), &json!({}))
        .await
        .expect(202);
    world.advance(1).await;
    assert_nudge(&world.show_nudge(&talking).await, "finished", Some("connected"), Some("api_hangup"));
    let ringing = world.play_nudge("9812340000", &json!({"retry": {"maxRetries": 2}}), 1).await;
    let calls = world.get("/v1/calls?state=ringing").await;
    world
        .post(&format!("/v1/calls/{}/hangup", calls["data"][0]["id"].as_str().unwrap()), &json!({}))
        .await
        .expect(202);
    world.advance(1).await;
    assert_nudge(&world.show_nudge(&ringing).await, "finished", Some("failed"), Some("api_hangup"));
}

#[tokio::test]
async fn the_timeline_tells_why() {
    let world = World::monday().await;
    let nudge =
        world.play_nudge("9812340000", &json!({"retry": {"maxRetries": 1, "delayMinutes": 10}}), 700).await;
    let lines = world.nudge_timeline(&nudge).await;
    let told: Vec<_> = lines
        .iter()
        .map(|line| {
            (line["event"].as_str().unwrap(), line["decision"].as_str().unwrap(), line["reason"].as_str())
        })
        .collect();
    assert_eq!(
        told,
        [
            ("created", "queue", None),
            ("due", "dial", None),
            ("placed", "ring", None),
            ("no_answer", "hold", Some("retry")),
            ("due", "dial", None),
            ("placed", "ring", None),
            ("no_answer", "finish", Some("no_answer")),
        ]
    );
    let checks: Vec<_> = lines[1]["checks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|check| (check["check"].as_str().unwrap(), check["ok"].as_bool().unwrap()))
        .collect();
    let all = [
        "api_key",
        "agent_and_workspace",
        "from_number",
        "carrier",
        "dnd",
        "opt_out",
        "calling_window",
        "frequency_cap",
        "consent",
        "balance",
        "lines",
    ];
    assert_eq!(checks, all.map(|check| (check, true)));
    lines[3].shows(json!({"until": "2027-03-01T06:40:15.000Z"}));
    assert!(lines[1]["callId"].is_string());
    let key = world.key(&world.workspace.id, "live", json!(["calls:read"])).await;
    world
        .app
        .get(&key, &format!("/v1/nudges/{}/timeline", id(&nudge)))
        .await
        .refused(403, "api_scope_missing");
}
