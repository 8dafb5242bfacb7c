//! What stands before a nudge's dial, over the sandbox network and on the manual clock: gates, the calling window,
//! and what it waits for (docs/contract/nudges.md#holds).

use serde_json::{Value, json};

use crate::nudge_transitions::TALK;
use crate::shows::Shows;
use crate::world::{World, assert_nudge};

#[tokio::test]
async fn gates_refuse_for_good() {
    let world = World::monday().await;
    let magic = world.play_nudge("9812342222", &json!({}), 0).await;
    assert_nudge(&magic, "finished", Some("blocked"), None);
    magic.shows(json!({"blockReason": "dnd"}));
    assert_eq!(world.nudge_kinds(&magic).await, vec!["nudge.finished".to_owned()]);
    world.app.operator("POST", "/dnd", &json!({"phones": ["9812340005"]})).await.expect(200);
    assert_eq!(world.play_nudge("9812340005", &json!({}), 0).await["blockReason"], "dnd");
    for _ in 0..3 {
        assert_nudge(
            &world.play_nudge("9812340006", &json!({}), 20).await,
            "finished",
            Some("connected"),
            Some("agent_ended"),
        );
    }
    let capped = world.play_nudge("9812340006", &json!({}), 0).await;
    capped.shows(json!({"result": "blocked", "blockReason": "frequency_cap"}));
    let pack = json!({"name": "Consent", "hours": [{"days": [0, 1, 2, 3, 4, 5, 6], "from": "09:00", "to": "21:00"}], "requireConsent": true});
    let made = world.operator("POST", "/compliance-packs", pack).await.expect(201);
    let agent = world.agent(&json!({"policyRef": made["data"]["id"]})).await;
    assert_eq!(world.play_nudge("9812340007", &json!({"agentId": agent}), 0).await["blockReason"], "consent");
    let blocked = world.get("/v1/calls?state=blocked").await;
    assert_eq!(blocked["data"].as_array().unwrap().len(), 4, "refused dials are listed");
}

#[tokio::test]
async fn the_window_holds_and_releases_spread_over_15_minutes() {
    let world = World::monday().await;
    // 20:54:50 in India; the cutoff is ten seconds away.
    world.set_clock("2027-03-01T15:24:50Z").await;
    let more = json!({"scheduledAt": "2027-03-01T15:25:00Z"});
    let cut = world
        .nudge("9812340099", &json!({"scheduledAt": "2027-03-01T15:24:59Z", "retry": {"maxRetries": 1}}))
        .await;
    let mut held = Vec::new();
    for number in 0..30 {
        held.push(world.nudge(&format!("98123403{number:02}"), &more).await);
    }
    world.advance(30).await;
    assert_nudge(&world.show_nudge(&cut).await, "finished", Some("connected"), Some("agent_ended"));
    let mut minutes = std::collections::BTreeSet::new();
    for nudge in &held {
        let shown = world.show_nudge(nudge).await;
        assert_nudge(&shown, "scheduled", None, Some("outside_calling_window"));
        let next = shown["nextAttemptAt"].as_str().unwrap().to_owned();
        assert!(("2027-03-02T03:30:00.000Z".."2027-03-02T03:45:00.000Z").contains(&next.as_str()), "{next}");
        minutes.insert(next[14..16].to_owned());
        // Made for a time, then held for another more than an hour later.
        assert_eq!(world.nudge_kinds(nudge).await, ["nudge.scheduled", "nudge.scheduled"]);
    }
    assert!(minutes.len() > 5, "{minutes:?}");
    world.set_clock("2027-03-02T03:29:59Z").await;
    assert_nudge(&world.show_nudge(&held[0]).await, "scheduled", None, Some("outside_calling_window"));
    world.set_clock("2027-03-02T03:46:00Z").await;
    for nudge in &held {
        let shown = world.show_nudge(nudge).await;
        assert_nudge(&shown, "finished", Some("connected"), Some("agent_ended"));
    }
}

#[tokio::test]
async fn a_custom_pack_with_days_and_holidays() {
    let world = World::monday().await;
    let pack = json!({"name": "Office", "hours": [{"days": [0, 1, 2, 3, 4], "from": "10:00", "to": "11:00"}], "holidays": ["2027-03-02"]});
    let made = world.operator("POST", "/compliance-packs", pack).await.expect(201);
    let agent = world.agent(&json!({"policyRef": made["data"]["id"]})).await;
    // Monday noon: closed for today, tomorrow is a holiday, so Wednesday 10:00 in India.
    let more = json!({"agentId": agent, "expiresAt": "2027-03-04T00:00:00Z"});
    let held = world.nudge("9812340001", &more).await;
    let next = held["nextAttemptAt"].as_str().unwrap();
    assert!(("2027-03-03T04:30:00.000Z".."2027-03-03T04:45:00.000Z").contains(&next), "{next}");
    let expired = world.nudge("9812340002", &json!({"agentId": agent})).await;
    assert_nudge(&expired, "finished", Some("expired"), Some("expired"));
    world.set_clock("2027-03-03T04:46:00Z").await;
    assert_nudge(&world.show_nudge(&held).await, "finished", Some("connected"), Some("agent_ended"));
}

#[tokio::test]
async fn a_window_that_closed_meanwhile() {
    let world = World::monday().await;
    let retry = json!({"outsideWindow": "reject", "retry": {"maxRetries": 1, "delayMinutes": 30}});
    world.set_clock("2027-03-01T15:00:00Z").await;
    let retried = world.nudge("9812340000", &retry).await;
    // Its time is inside the window of its pack; then the agent's pack becomes stricter.
    let first = world
        .nudge("9812340001", &json!({"outsideWindow": "reject", "scheduledAt": "2027-03-01T15:20:00Z"}))
        .await;
    let body = json!({"name": "Asha", "policyRef": "lending@1"});
    world.advance(16).await;
    assert_nudge(&world.show_nudge(&retried).await, "scheduled", None, Some("retry"));
    world.put(&format!("/v1/agents/{}", world.agent), &body).await.expect(200);
    world.set_clock("2027-03-01T15:31:00Z").await;
    assert_nudge(
        &world.show_nudge(&retried).await,
        "finished",
        Some("no_answer"),
        Some("outside_calling_window"),
    );
    let blocked = world.show_nudge(&first).await;
    assert_nudge(&blocked, "finished", Some("blocked"), Some("outside_calling_window"));
    assert_eq!(blocked["blockReason"], "calling_window");
}

#[tokio::test]
async fn a_top_up_wakes_what_waits_for_money() {
    let world = World::monday().await;
    let entry = |kind: &str, amount: i64| json!({"kind": kind, "amountMinor": amount, "reference": "r"});
    world.operator("POST", "/wallet/entries", entry("adjustment", -999_500)).await.expect(201);
    let nudge = world.play_nudge(TALK, &json!({}), 0).await;
    assert_nudge(&nudge, "scheduled", None, Some("insufficient_balance"));
    world.operator("POST", "/wallet/entries", entry("topup", 100_000)).await.expect(201);
    world.advance(0).await;
    let nudge = world.show_nudge(&nudge).await;
    assert_eq!((&nudge["statusReason"], &nudge["attempts"]), (&Value::Null, &json!(1)), "{nudge}");
}

#[tokio::test]
async fn a_low_balance_holds_and_is_looked_at_every_15_minutes() {
    let world = World::monday().await;
    let entry = |amount: i64| json!({"kind": "adjustment", "amountMinor": amount, "reference": "r"});
    world.operator("POST", "/wallet/entries", entry(-999_500)).await.expect(201);
    let nudge = world.play_nudge(TALK, &json!({}), 0).await;
    assert_nudge(&nudge, "scheduled", None, Some("insufficient_balance"));
    nudge.shows(json!({"nextAttemptAt": "2027-03-01T06:45:00.000Z", "attempts": 0}));
    world.advance(3600).await;
    assert_eq!(world.show_nudge(&nudge).await["nextAttemptAt"], "2027-03-01T07:45:00.000Z");
    assert_eq!(world.nudge_kinds(&nudge).await, ["nudge.scheduled"], "not on every recheck");
    let held = world.nudge_timeline(&nudge).await.pop().unwrap();
    held.shows(json!({"decision": "hold", "reason": "insufficient_balance", "times": 5}));
    let balance =
        held["checks"].as_array().unwrap().iter().find(|check| check["check"] == "balance").unwrap().clone();
    balance.shows(json!({"availableMinor": 500, "neededMinor": 600, "ok": false}));
    world.operator("POST", "/wallet/entries", entry(100)).await.expect(201);
    world.advance(15 * 60 + 11).await;
    assert_nudge(&world.show_nudge(&nudge).await, "finished", Some("connected"), Some("agent_ended"));
}

#[tokio::test]
async fn full_lines_hold_and_a_free_one_is_taken() {
    let world = World::monday().await;
    world.change(&json!({"limits": {"concurrentCalls": 1}})).await;
    let first = world.play_nudge(TALK, &json!({}), 0).await;
    let second = world.play_nudge("9812340002", &json!({}), 1).await;
    assert_nudge(&world.show_nudge(&first).await, "queued", None, None);
    assert_nudge(&second, "scheduled", None, Some("concurrency_full"));
    second.shows(json!({"attempts": 0}));
    assert_eq!(world.nudge_kinds(&second).await, vec!["nudge.scheduled".to_owned()]);
    // The first ends at 10 s; the second is dialled at once and ends ten seconds later.
    world.advance(10).await;
    assert_nudge(&world.show_nudge(&first).await, "finished", Some("connected"), Some("agent_ended"));
    assert_nudge(&world.show_nudge(&second).await, "queued", None, None);
    world.advance(10).await;
    assert_nudge(&world.show_nudge(&second).await, "finished", Some("connected"), Some("agent_ended"));
}

#[tokio::test]
async fn a_provider_error_before_any_ring_holds() {
    let world = World::monday().await;
    let nudge = world.play_nudge("9812346666", &json!({"expiresAt": "2027-03-01T07:10:00Z"}), 0).await;
    assert_nudge(&nudge, "scheduled", None, Some("provider_error"));
    nudge.shows(json!({"attempts": 0, "nextAttemptAt": "2027-03-01T06:45:00.000Z", "attemptsList": []}));
    world.advance(45 * 60).await;
    assert_nudge(&world.show_nudge(&nudge).await, "finished", Some("expired"), Some("expired"));
    assert_eq!(world.nudge_kinds(&nudge).await, ["nudge.scheduled", "nudge.finished"]);
}

#[tokio::test]
async fn never_dialled_in_time_is_expired_and_a_retry_keeps_its_result() {
    let world = World::monday().await;
    let nudge = world
        .nudge(
            "9812340000",
            &json!({"retry": {"maxRetries": 2, "delayMinutes": 30}, "expiresAt": "2027-03-01T07:20:00Z"}),
        )
        .await;
    world.advance(20).await;
    world.pay(-1_000_000).await;
    let other = world.nudge(TALK, &json!({"expiresAt": "2027-03-01T07:20:00Z"})).await;
    world.advance(3600).await;
    let retried = world.show_nudge(&nudge).await;
    assert_nudge(&retried, "finished", Some("no_answer"), Some("insufficient_balance"));
    retried.shows(json!({"callId": null, "finishedAt": "2027-03-01T07:20:00.000Z"}));
    let finished = world.nudge_events(&nudge).await.pop().unwrap().1;
    // The event is about the last attempt.
    finished.shows(json!({"callId": finished["attempt"]["callId"], "attempt.endCause": "no_answer"}));
    assert!(finished["callId"].is_string());
    assert_nudge(&world.show_nudge(&other).await, "finished", Some("expired"), Some("expired"));
}
