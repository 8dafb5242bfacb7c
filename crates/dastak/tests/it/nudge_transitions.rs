//! Every row of the table of nudge states (docs/contract/nudges.md#states), over the sandbox network and on
//! the manual clock.

use serde_json::{Value, json};

use crate::agents::create_active;
use crate::app::TestApp;
use crate::nudges::{Kit, assert_is, id};

const TALK: &str = "9812340001";

impl Kit {
    /// Makes a nudge, lets `seconds` pass, and shows it.
    async fn play(&self, to: &str, more: &Value, seconds: i64) -> Value {
        let made = self.make(to, more).await;
        self.app.advance(seconds).await;
        self.get(&made).await
    }
}

#[tokio::test]
async fn a_talk_goes_through_every_status() {
    let kit = Kit::start().await;
    let nudge = kit.play(TALK, &json!({"metadata": {"order": 7}}), 0).await;
    assert_is(&nudge, "queued", None, None);
    assert_eq!(
        (nudge["attempts"].clone(), nudge["callId"].clone(), nudge["nextAttemptAt"].clone()),
        (json!(1), Value::Null, Value::Null)
    );
    kit.app
        .post(&kit.workspace.live, &format!("/v1/nudges/{}/cancel", id(&nudge)), &json!({}))
        .await
        .refused(409, "nudge_not_cancellable");
    kit.app.advance(2).await;
    let dialing = kit.get(&nudge).await;
    assert_is(&dialing, "dialing", None, None);
    let call = dialing["callId"].clone();
    assert!(call.as_str().unwrap().starts_with("call_"));
    kit.app
        .post(&kit.workspace.live, &format!("/v1/nudges/{}/cancel", id(&nudge)), &json!({}))
        .await
        .refused(409, "nudge_not_cancellable");
    kit.app.advance(1).await;
    assert_is(&kit.get(&nudge).await, "in_progress", None, None);
    kit.ask(TALK, &json!({})).await.refused(409, "nudge_in_flight");
    kit.app.advance(7).await;
    let done = kit.get(&nudge).await;
    assert_is(&done, "finished", Some("connected"), Some("agent_ended"));
    assert_eq!(
        (done["callId"].clone(), done["attempts"].clone(), done["finishedAt"].clone()),
        (call.clone(), json!(1), json!("2027-03-01T06:30:10.000Z"))
    );
    let attempt = json!({
        "callId": call, "startedAt": "2027-03-01T06:30:00.000Z", "answeredAt": "2027-03-01T06:30:02.000Z", "endedAt": "2027-03-01T06:30:10.000Z",
        "endCause": "agent_ended", "durationSeconds": 8, "outcome": "simulated", "summary": null, "extracted": {},
    });
    assert_eq!((done["attemptsList"].clone(), done["recordingUrl"].clone()), (json!([attempt]), Value::Null));
    let events = kit.events(&nudge).await;
    assert_eq!(
        events.iter().map(|(kind, _)| kind.as_str()).collect::<Vec<_>>(),
        ["nudge.dialing", "nudge.finished"]
    );
    assert_eq!(
        (events[0].1["attempts"].clone(), events[0].1["status"].clone(), events[0].1["callId"].clone()),
        (json!(1), json!("dialing"), call.clone())
    );
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
    let shown =
        kit.app.get(&kit.workspace.live, &format!("/v1/calls/{}", call.as_str().unwrap())).await.expect(200)
            ["data"]
            .clone();
    assert_eq!(
        (shown["metadata"].clone(), shown["endCause"].clone()),
        (json!({"order": 7}), json!("agent_ended"))
    );
    let entry = kit.app.get(&kit.workspace.live, "/v1/wallet/transactions?limit=1").await.expect(200)["data"]
        [0]
    .clone();
    assert_eq!(
        (entry["kind"].clone(), entry["amountMinor"].clone(), entry["reference"].clone()),
        (json!("call_charge"), json!(-600), call)
    );
    // The number is free again.
    kit.make(TALK, &json!({})).await;
}

#[tokio::test]
async fn what_was_said_needs_the_scope_to_read_calls() {
    let kit = Kit::start().await;
    let nudge = kit.play(TALK, &json!({}), 20).await;
    let key = kit.app.key(&kit.workspace.id, "live", json!(["nudges:read"])).await;
    let shown = kit.app.get(&key, &format!("/v1/nudges/{}", id(&nudge))).await.expect(200)["data"].clone();
    let attempt = &shown["attemptsList"][0];
    assert_eq!(
        (&attempt["summary"], &attempt["extracted"], &shown["recordingUrl"]),
        (&Value::Null, &Value::Null, &Value::Null)
    );
    assert_eq!(attempt["outcome"], "simulated");
}

#[tokio::test]
async fn every_outcome_of_a_single_dial() {
    let kit = Kit::start().await;
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
        let nudge = kit.play(to, &retry, seconds).await;
        assert_is(&nudge, "finished", Some(result), Some(reason));
        assert_eq!(
            (nudge["attempts"].clone(), nudge["attemptsList"].as_array().unwrap().len()),
            (json!(attempts), 1),
            "{to}"
        );
        assert!(nudge["callId"].is_string(), "{to}");
        let mut kinds = kit.kinds(&nudge).await;
        assert_eq!(kinds.pop().as_deref(), Some("nudge.finished"), "{to}");
        assert!(kinds.iter().all(|kind| kind == "nudge.dialing"), "{to}: {kinds:?}");
        kit.app.advance(3600).await;
        assert_eq!(kit.get(&nudge).await["attempts"], json!(attempts), "{to}: never again");
    }
}

#[tokio::test]
async fn an_opt_out_is_on_the_list_and_blocks_the_next() {
    let kit = Kit::start().await;
    kit.play("9812347777", &json!({}), 10).await;
    let next = kit.play("9812347777", &json!({}), 0).await;
    assert_is(&next, "finished", Some("blocked"), None);
    assert_eq!(
        (next["blockReason"].clone(), next["attempts"].clone(), next["callId"].clone()),
        (json!("opt_out"), json!(0), Value::Null)
    );
}

#[tokio::test]
async fn unanswered_dials_are_repeated_as_often_as_asked() {
    let kit = Kit::start().await;
    let more = json!({"retry": {"maxRetries": 2, "delayMinutes": 30}});
    let nudge = kit.play("9812340000", &more, 15).await;
    assert_is(&nudge, "scheduled", None, Some("retry"));
    assert_eq!(
        (nudge["nextAttemptAt"].clone(), nudge["attempts"].clone(), nudge["callId"].clone()),
        (json!("2027-03-01T07:00:15.000Z"), json!(1), Value::Null)
    );
    kit.ask("9812340000", &json!({})).await.refused(409, "nudge_in_flight");
    kit.app.advance(1800).await;
    assert_is(&kit.get(&nudge).await, "queued", None, None);
    kit.app.advance(15).await;
    assert_eq!(kit.get(&nudge).await["attempts"], 2);
    kit.app.advance(1815).await;
    let done = kit.get(&nudge).await;
    assert_is(&done, "finished", Some("no_answer"), Some("no_answer"));
    assert_eq!((done["attempts"].clone(), done["attemptsList"].as_array().unwrap().len()), (json!(3), 3));
    assert_eq!(done["callId"], done["attemptsList"][2]["callId"]);
    let events = kit.events(&nudge).await;
    assert_eq!(
        events.iter().map(|(kind, _)| kind.as_str()).collect::<Vec<_>>(),
        ["nudge.attempt_ended", "nudge.attempt_ended", "nudge.finished"]
    );
    let first = &events[0].1;
    assert_eq!(
        (first["attempt"]["endCause"].clone(), first["attempt"]["callId"].clone()),
        (json!("no_answer"), done["attemptsList"][0]["callId"].clone())
    );
    assert_eq!(
        (first["nextAttemptAt"].clone(), first["statusReason"].clone()),
        (json!("2027-03-01T07:00:15.000Z"), json!("retry"))
    );
}

#[tokio::test]
async fn a_retry_is_only_for_what_was_named_and_within_the_time() {
    let kit = Kit::start().await;
    let nudge = kit.play("9812341111", &json!({"retry": {"maxRetries": 2, "on": ["no_answer"]}}), 3).await;
    assert_is(&nudge, "finished", Some("busy"), Some("busy"));
    // The retry would come a second too late.
    let more = json!({"retry": {"maxRetries": 2, "delayMinutes": 10}, "expiresAt": "2027-03-01T06:40:17Z"});
    let nudge = kit.play("9812340000", &more, 15).await;
    assert_is(&nudge, "finished", Some("no_answer"), Some("no_answer"));
}

#[tokio::test]
async fn an_agent_that_fails_to_start_counts_and_is_repeated() {
    let kit = Kit::start().await;
    let nudge = kit
        .play("9812348888", &json!({"retry": {"maxRetries": 1, "on": ["busy"], "delayMinutes": 10}}), 3)
        .await;
    assert_is(&nudge, "scheduled", None, Some("not_connected"));
    assert_eq!(
        (nudge["attempts"].clone(), nudge["nextAttemptAt"].clone()),
        (json!(1), json!("2027-03-01T06:40:02.000Z"))
    );
    kit.app.advance(603).await;
    assert_is(&kit.get(&nudge).await, "finished", Some("failed"), Some("not_connected"));
    assert_eq!(
        kit.kinds(&nudge).await,
        ["nudge.dialing", "nudge.attempt_ended", "nudge.dialing", "nudge.finished"]
    );
}

#[tokio::test]
async fn gates_refuse_for_good() {
    let kit = Kit::start().await;
    let magic = kit.play("9812342222", &json!({}), 0).await;
    assert_is(&magic, "finished", Some("blocked"), None);
    assert_eq!(
        (magic["blockReason"].clone(), kit.kinds(&magic).await),
        (json!("dnd"), vec!["nudge.finished".to_owned()])
    );
    kit.app.operator("POST", "/dnd", &json!({"phones": ["9812340005"]})).await.expect(200);
    assert_eq!(kit.play("9812340005", &json!({}), 0).await["blockReason"], "dnd");
    for _ in 0..3 {
        assert_is(
            &kit.play("9812340006", &json!({}), 20).await,
            "finished",
            Some("connected"),
            Some("agent_ended"),
        );
    }
    let capped = kit.play("9812340006", &json!({}), 0).await;
    assert_eq!(
        (capped["result"].clone(), capped["blockReason"].clone()),
        (json!("blocked"), json!("frequency_cap"))
    );
    let pack = json!({"name": "Consent", "hours": [{"days": [0, 1, 2, 3, 4, 5, 6], "from": "09:00", "to": "21:00"}], "requireConsent": true});
    let made = kit
        .app
        .operator("POST", &format!("/workspaces/{}/compliance-packs", kit.workspace.id), &pack)
        .await
        .expect(201);
    let agent = create_active(&kit.app, &kit.workspace, &json!({"policyRef": made["data"]["id"]})).await;
    assert_eq!(kit.play("9812340007", &json!({"agentId": agent}), 0).await["blockReason"], "consent");
    let blocked = kit.app.get(&kit.workspace.live, "/v1/calls?state=blocked").await.expect(200);
    assert_eq!(blocked["data"].as_array().unwrap().len(), 4, "refused dials are listed");
}

#[tokio::test]
async fn the_window_holds_and_releases_spread_over_15_minutes() {
    let kit = Kit::start().await;
    // 20:54:50 in India; the cutoff is ten seconds away.
    kit.app.set_clock("2027-03-01T15:24:50Z").await;
    let more = json!({"scheduledAt": "2027-03-01T15:25:00Z"});
    let cut = kit
        .make("9812340099", &json!({"scheduledAt": "2027-03-01T15:24:59Z", "retry": {"maxRetries": 1}}))
        .await;
    let mut held = Vec::new();
    for number in 0..30 {
        held.push(kit.make(&format!("98123403{number:02}"), &more).await);
    }
    kit.app.advance(30).await;
    assert_is(&kit.get(&cut).await, "finished", Some("connected"), Some("agent_ended"));
    let mut minutes = std::collections::BTreeSet::new();
    for nudge in &held {
        let shown = kit.get(nudge).await;
        assert_is(&shown, "scheduled", None, Some("outside_calling_window"));
        let next = shown["nextAttemptAt"].as_str().unwrap().to_owned();
        assert!(("2027-03-02T03:30:00.000Z".."2027-03-02T03:45:00.000Z").contains(&next.as_str()), "{next}");
        minutes.insert(next[14..16].to_owned());
        // Made for a time, then held for another more than an hour later.
        assert_eq!(kit.kinds(nudge).await, ["nudge.scheduled", "nudge.scheduled"]);
    }
    assert!(minutes.len() > 5, "{minutes:?}");
    kit.app.set_clock("2027-03-02T03:29:59Z").await;
    assert_is(&kit.get(&held[0]).await, "scheduled", None, Some("outside_calling_window"));
    kit.app.set_clock("2027-03-02T03:46:00Z").await;
    for nudge in &held {
        let shown = kit.get(nudge).await;
        assert_is(&shown, "finished", Some("connected"), Some("agent_ended"));
    }
}

#[tokio::test]
async fn a_custom_pack_with_days_and_holidays() {
    let kit = Kit::start().await;
    let pack = json!({"name": "Office", "hours": [{"days": [0, 1, 2, 3, 4], "from": "10:00", "to": "11:00"}], "holidays": ["2027-03-02"]});
    let made = kit
        .app
        .operator("POST", &format!("/workspaces/{}/compliance-packs", kit.workspace.id), &pack)
        .await
        .expect(201);
    let agent = create_active(&kit.app, &kit.workspace, &json!({"policyRef": made["data"]["id"]})).await;
    // Monday noon: closed for today, tomorrow is a holiday, so Wednesday 10:00 in India.
    let more = json!({"agentId": agent, "expiresAt": "2027-03-04T00:00:00Z"});
    let held = kit.make("9812340001", &more).await;
    let next = held["nextAttemptAt"].as_str().unwrap();
    assert!(("2027-03-03T04:30:00.000Z".."2027-03-03T04:45:00.000Z").contains(&next), "{next}");
    let expired = kit.make("9812340002", &json!({"agentId": agent})).await;
    assert_is(&expired, "finished", Some("expired"), Some("expired"));
    kit.app.set_clock("2027-03-03T04:46:00Z").await;
    assert_is(&kit.get(&held).await, "finished", Some("connected"), Some("agent_ended"));
}

#[tokio::test]
async fn a_window_that_closed_meanwhile() {
    let kit = Kit::start().await;
    let retry = json!({"outsideWindow": "reject", "retry": {"maxRetries": 1, "delayMinutes": 30}});
    kit.app.set_clock("2027-03-01T15:00:00Z").await;
    let retried = kit.make("9812340000", &retry).await;
    // Its time is inside the window of its pack; then the agent's pack becomes stricter.
    let first = kit
        .make("9812340001", &json!({"outsideWindow": "reject", "scheduledAt": "2027-03-01T15:20:00Z"}))
        .await;
    let body = json!({"name": "Asha", "policyRef": "lending@1"});
    kit.app.advance(16).await;
    assert_is(&kit.get(&retried).await, "scheduled", None, Some("retry"));
    kit.app.put(&kit.workspace.live, &format!("/v1/agents/{}", kit.agent), &body).await.expect(200);
    kit.app.set_clock("2027-03-01T15:31:00Z").await;
    assert_is(&kit.get(&retried).await, "finished", Some("no_answer"), Some("outside_calling_window"));
    let blocked = kit.get(&first).await;
    assert_is(&blocked, "finished", Some("blocked"), Some("outside_calling_window"));
    assert_eq!(blocked["blockReason"], "calling_window");
}

#[tokio::test]
async fn a_low_balance_holds_and_is_looked_at_every_15_minutes() {
    let kit = Kit::start().await;
    let entry = |amount: i64| json!({"kind": "adjustment", "amountMinor": amount, "reference": "r"});
    let path = format!("/workspaces/{}/wallet/entries", kit.workspace.id);
    kit.app.operator("POST", &path, &entry(-999_500)).await.expect(201);
    let nudge = kit.play(TALK, &json!({}), 0).await;
    assert_is(&nudge, "scheduled", None, Some("insufficient_balance"));
    assert_eq!(
        (nudge["nextAttemptAt"].clone(), nudge["attempts"].clone()),
        (json!("2027-03-01T06:45:00.000Z"), json!(0))
    );
    kit.app.advance(3600).await;
    assert_eq!(kit.get(&nudge).await["nextAttemptAt"], "2027-03-01T07:45:00.000Z");
    assert_eq!(kit.kinds(&nudge).await, ["nudge.scheduled"], "not on every recheck");
    let held = kit.timeline(&nudge).await.pop().unwrap();
    assert_eq!(
        (held["decision"].clone(), held["reason"].clone(), held["times"].clone()),
        (json!("hold"), json!("insufficient_balance"), json!(5))
    );
    let balance =
        held["checks"].as_array().unwrap().iter().find(|check| check["check"] == "balance").unwrap().clone();
    assert_eq!(
        (balance["availableMinor"].clone(), balance["neededMinor"].clone(), balance["ok"].clone()),
        (json!(500), json!(600), json!(false))
    );
    kit.app.operator("POST", &path, &entry(100)).await.expect(201);
    kit.app.advance(15 * 60 + 11).await;
    assert_is(&kit.get(&nudge).await, "finished", Some("connected"), Some("agent_ended"));
}

#[tokio::test]
async fn full_lines_hold_and_a_free_one_is_taken() {
    let kit = Kit::start().await;
    kit.change(&json!({"limits": {"concurrentCalls": 1}})).await;
    let first = kit.play(TALK, &json!({}), 0).await;
    let second = kit.play("9812340002", &json!({}), 1).await;
    assert_is(&kit.get(&first).await, "queued", None, None);
    assert_is(&second, "scheduled", None, Some("concurrency_full"));
    assert_eq!(
        (second["attempts"].clone(), kit.kinds(&second).await),
        (json!(0), vec!["nudge.scheduled".to_owned()])
    );
    // The first ends at 10 s; the second is dialled at once and ends ten seconds later.
    kit.app.advance(10).await;
    assert_is(&kit.get(&first).await, "finished", Some("connected"), Some("agent_ended"));
    assert_is(&kit.get(&second).await, "queued", None, None);
    kit.app.advance(10).await;
    assert_is(&kit.get(&second).await, "finished", Some("connected"), Some("agent_ended"));
}

#[tokio::test]
async fn a_provider_error_before_any_ring_holds() {
    let kit = Kit::start().await;
    let nudge = kit.play("9812346666", &json!({"expiresAt": "2027-03-01T07:10:00Z"}), 0).await;
    assert_is(&nudge, "scheduled", None, Some("provider_error"));
    assert_eq!(
        (nudge["attempts"].clone(), nudge["nextAttemptAt"].clone(), nudge["attemptsList"].clone()),
        (json!(0), json!("2027-03-01T06:45:00.000Z"), json!([]))
    );
    kit.app.advance(45 * 60).await;
    assert_is(&kit.get(&nudge).await, "finished", Some("expired"), Some("expired"));
    assert_eq!(kit.kinds(&nudge).await, ["nudge.scheduled", "nudge.finished"]);
}

#[tokio::test]
async fn never_dialled_in_time_is_expired_and_a_retry_keeps_its_result() {
    let kit = Kit::start().await;
    let nudge = kit
        .make(
            "9812340000",
            &json!({"retry": {"maxRetries": 2, "delayMinutes": 30}, "expiresAt": "2027-03-01T07:20:00Z"}),
        )
        .await;
    kit.app.advance(20).await;
    let path = format!("/workspaces/{}/wallet/entries", kit.workspace.id);
    kit.app
        .operator("POST", &path, &json!({"kind": "adjustment", "amountMinor": -1_000_000, "reference": "r"}))
        .await
        .expect(201);
    let other = kit.make(TALK, &json!({"expiresAt": "2027-03-01T07:20:00Z"})).await;
    kit.app.advance(3600).await;
    let retried = kit.get(&nudge).await;
    assert_is(&retried, "finished", Some("no_answer"), Some("insufficient_balance"));
    assert_eq!(
        (retried["callId"].clone(), retried["finishedAt"].clone()),
        (Value::Null, json!("2027-03-01T07:20:00.000Z"))
    );
    let finished = kit.events(&nudge).await.pop().unwrap().1;
    assert_eq!(
        (finished["callId"].clone(), finished["attempt"]["endCause"].clone()),
        (Value::Null, json!("no_answer"))
    );
    assert_is(&kit.get(&other).await, "finished", Some("expired"), Some("expired"));
}

#[tokio::test]
async fn what_is_for_the_client_to_fix_fails_at_once() {
    let kit = Kit::start().await;
    let later = |agent: &str| json!({"agentId": agent, "scheduledAt": "2027-03-01T07:00:00Z"});
    let mut cases = Vec::new();
    for (number, reason) in ["agent_not_found", "agent_not_published"].into_iter().enumerate() {
        let agent = create_active(&kit.app, &kit.workspace, &json!({})).await;
        let nudge = kit.make(&format!("981234020{number}"), &later(&agent)).await;
        let path = format!("/v1/agents/{agent}");
        if reason == "agent_not_found" {
            kit.app.delete(&kit.workspace.live, &path).await.expect(200);
        } else {
            kit.app
                .post(&kit.workspace.live, &format!("{path}/status"), &json!({"status": "draft"}))
                .await
                .expect(200);
        }
        cases.push((nudge, reason));
    }
    let needy = create_active(&kit.app, &kit.workspace, &json!({})).await;
    cases.push((kit.make("9812340202", &later(&needy)).await, "missing_required_variables"));
    let body = json!({"name": "Asha", "systemPrompt": "Greet {{name}}."});
    kit.app.put(&kit.workspace.live, &format!("/v1/agents/{needy}"), &body).await.expect(200);
    let number = kit
        .app
        .operator(
            "POST",
            &format!("/workspaces/{}/numbers", kit.workspace.id),
            &json!({"number": "9811111111"}),
        )
        .await
        .expect(201);
    let from = json!({"fromNumber": "9811111111", "scheduledAt": "2027-03-01T07:00:00Z"});
    cases.push((kit.make("9812340203", &from).await, "from_number_unavailable"));
    let path = format!("/workspaces/{}/numbers/{}", kit.workspace.id, number["data"]["id"].as_str().unwrap());
    kit.app.operator("DELETE", &path, &Value::Null).await.expect(200);
    kit.app.advance(1800).await;
    for (nudge, reason) in cases {
        let shown = kit.get(&nudge).await;
        assert_is(&shown, "finished", Some("failed"), Some(reason));
        assert_eq!((shown["attempts"].clone(), shown["callId"].clone()), (json!(0), Value::Null));
    }
}

#[tokio::test]
async fn what_the_workspace_lacks_fails_at_once() {
    let kit = Kit::start().await;
    kit.change(&json!({"kybVerified": false})).await;
    assert_is(&kit.play("9812340301", &json!({}), 0).await, "finished", Some("failed"), Some("kyb_required"));
    kit.change(&json!({"kybVerified": true})).await;
    let later = kit.make("9812340302", &json!({"scheduledAt": "2027-03-01T07:00:00Z"})).await;
    kit.change(&json!({"suspended": true})).await;
    kit.app.advance(1800).await;
    kit.change(&json!({"suspended": false})).await;
    assert_is(&kit.get(&later).await, "finished", Some("failed"), Some("workspace_suspended"));
    let numbers = kit.app.get(&kit.workspace.live, "/v1/numbers").await.expect(200)["data"].clone();
    let path = format!("/workspaces/{}/numbers/{}", kit.workspace.id, numbers[0]["id"].as_str().unwrap());
    let named = kit.make("9812340303", &json!({"scheduledAt": "2027-03-01T07:10:00Z"})).await;
    kit.app.operator("DELETE", &path, &Value::Null).await.expect(200);
    let bare = kit.play("9812340304", &json!({}), 600).await;
    assert_eq!(bare["fromNumber"], Value::Null);
    for nudge in [bare, named] {
        assert_is(&kit.get(&nudge).await, "finished", Some("failed"), Some("no_caller_id"));
    }
}

#[tokio::test]
async fn without_a_carrier_it_fails_at_once() {
    let kit = Kit::over(
        TestApp::start_with(|config| config.telephony.carrier = dastak::config::Carrier::None).await,
    )
    .await;
    assert_is(
        &kit.play(TALK, &json!({}), 0).await,
        "finished",
        Some("failed"),
        Some("india_residency_unavailable"),
    );
    let simulated =
        kit.send(&kit.workspace.test, "t", &kit.body(TALK, &json!({}))).await.expect(201)["data"].clone();
    kit.app.advance(10).await;
    let shown = kit.app.get(&kit.workspace.test, &format!("/v1/nudges/{}", id(&simulated))).await.expect(200)
        ["data"]
        .clone();
    assert_is(&shown, "finished", Some("connected"), Some("agent_ended"));
}

#[tokio::test]
async fn a_revoked_key_ends_what_waits_and_not_what_rings() {
    let kit = Kit::start().await;
    let key = kit.app.key(&kit.workspace.id, "live", json!("all")).await;
    let later = json!({"scheduledAt": "2027-03-01T08:00:00Z"});
    let mut waiting = Vec::new();
    for number in 0..3 {
        waiting.push(
            kit.send(&key, &format!("{number}"), &kit.body(&format!("981234040{number}"), &later))
                .await
                .expect(201)["data"]
                .clone(),
        );
    }
    let ringing = kit.send(&key, "r", &kit.body("9812340409", &json!({}))).await.expect(201)["data"].clone();
    let mine = kit.make("9812340408", &later).await;
    kit.app.advance(1).await;
    let keys = kit
        .app
        .operator("GET", &format!("/workspaces/{}/keys", kit.workspace.id), &Value::Null)
        .await
        .expect(200);
    let newest = keys["data"][0]["id"].as_str().unwrap();
    kit.app
        .operator("DELETE", &format!("/workspaces/{}/keys/{newest}", kit.workspace.id), &Value::Null)
        .await
        .expect(200);
    for nudge in &waiting {
        assert_is(&kit.get(nudge).await, "finished", Some("cancelled"), Some("api_key_revoked"));
        assert_eq!(kit.kinds(nudge).await, ["nudge.scheduled", "nudge.finished"]);
    }
    kit.app.advance(10).await;
    assert_is(&kit.get(&ringing).await, "finished", Some("connected"), Some("agent_ended"));
    assert_is(&kit.get(&mine).await, "scheduled", None, None);
}

#[tokio::test]
async fn an_expired_key_stops_the_dial_itself() {
    let kit = Kit::start().await;
    let body = json!({"name": "short", "mode": "live", "scopes": "all", "expiresAt": "2027-03-01T06:50:00Z"});
    let made =
        kit.app.operator("POST", &format!("/workspaces/{}/keys", kit.workspace.id), &body).await.expect(201);
    let key = made["data"]["key"].as_str().unwrap();
    let nudge = kit
        .send(key, "k", &kit.body(TALK, &json!({"scheduledAt": "2027-03-01T07:00:00Z"})))
        .await
        .expect(201)["data"]
        .clone();
    kit.app.advance(1800).await;
    assert_is(&kit.get(&nudge).await, "finished", Some("cancelled"), Some("api_key_revoked"));
}

#[tokio::test]
async fn erasure_ends_what_waits_and_leaves_nothing_of_the_person() {
    let kit = Kit::start().await;
    let more = json!({"scheduledAt": "2027-03-01T08:00:00Z", "externalRef": "secret", "variables": {"name": "Asha"}, "metadata": {"note": "secret"}});
    let old = kit.play(TALK, &json!({"externalRef": "secret"}), 20).await;
    let waiting = kit.make(TALK, &more).await;
    let (tenant, context) = (kit.workspace.id.parse().unwrap(), kit.app.app().context());
    let hash = kit.app.app().keyring.hash_phone(&TALK.parse().unwrap());
    let erased = kit
        .app
        .app()
        .store
        .tx(move |tx| dastak::app::nudges::erase_person(tx, &context, tenant, &hash))
        .await
        .unwrap();
    assert_eq!(erased, 1);
    let shown = kit.get(&waiting).await;
    assert_is(&shown, "finished", Some("cancelled"), Some("erased"));
    for nudge in [&shown, &kit.get(&old).await] {
        assert_eq!(
            (
                nudge["toNumber"].clone(),
                nudge["externalRef"].clone(),
                nudge["variables"].clone(),
                nudge["metadata"].clone()
            ),
            (json!("[erased]"), Value::Null, json!({}), json!({}))
        );
    }
    let finished = kit.events(&waiting).await.pop().unwrap();
    assert_eq!(
        (finished.0.as_str(), finished.1["toNumber"].clone(), finished.1["metadata"].clone()),
        ("nudge.finished", json!("[erased]"), json!({}))
    );
}

#[tokio::test]
async fn an_erasure_during_the_dial_stops_the_retries() {
    let kit = Kit::start().await;
    let nudge = kit.play("9812340000", &json!({"retry": {"maxRetries": 2}}), 1).await;
    let (tenant, context) = (kit.workspace.id.parse().unwrap(), kit.app.app().context());
    let hash = kit.app.app().keyring.hash_phone(&"9812340000".parse().unwrap());
    let erased = kit
        .app
        .app()
        .store
        .tx(move |tx| dastak::app::nudges::erase_person(tx, &context, tenant, &hash))
        .await
        .unwrap();
    assert_eq!(erased, 0);
    kit.app.advance(7200).await;
    let shown = kit.get(&nudge).await;
    assert_eq!(
        (shown["status"].clone(), shown["result"].clone(), shown["attempts"].clone()),
        (json!("finished"), json!("no_answer"), json!(1))
    );
}

#[tokio::test]
async fn test_nudges_are_simulated_and_cost_nothing() {
    let kit = Kit::start().await;
    kit.change(&json!({"kybVerified": false, "limits": {"concurrentCalls": 0}})).await;
    let path = format!("/workspaces/{}/wallet/entries", kit.workspace.id);
    kit.app
        .operator("POST", &path, &json!({"kind": "adjustment", "amountMinor": -1_000_000, "reference": "r"}))
        .await
        .expect(201);
    for (to, result, reason) in [
        ("9812340000", "no_answer", json!("no_answer")),
        ("9812341111", "busy", json!("busy")),
        ("9812342222", "blocked", Value::Null),
        ("9812346666", "connected", json!("agent_ended")),
        ("9812340001", "connected", json!("agent_ended")),
    ] {
        let made =
            kit.send(&kit.workspace.test, to, &kit.body(to, &json!({}))).await.expect(201)["data"].clone();
        kit.app.advance(16).await;
        let shown = kit.app.get(&kit.workspace.test, &format!("/v1/nudges/{}", id(&made))).await.expect(200)
            ["data"]
            .clone();
        assert_is(&shown, "finished", Some(result), reason.as_str());
        assert_eq!(shown["livemode"], false);
    }
    assert_eq!(kit.app.get(&kit.workspace.live, "/v1/wallet").await.expect(200)["data"]["balanceMinor"], 0);
    assert_eq!(kit.app.get(&kit.workspace.live, "/v1/nudges").await.expect(200)["data"], json!([]));
    // The window is evaluated, as for live ones.
    kit.app.set_clock("2027-03-01T18:00:00Z").await;
    let held =
        kit.send(&kit.workspace.test, "late", &kit.body("9812340001", &json!({}))).await.expect(201)["data"]
            .clone();
    assert_is(&held, "scheduled", None, Some("outside_calling_window"));
}

#[tokio::test]
async fn a_hang_up_ends_a_nudge_and_a_ringing_one_fails() {
    let kit = Kit::start().await;
    let talking = kit.play(TALK, &json!({}), 4).await;
    kit.app
        .post(
            &kit.workspace.live,
            &format!("/v1/calls/{}/hangup", talking["callId"].as_str().unwrap()),
            &json!({}),
        )
        .await
        .expect(202);
    kit.app.advance(1).await;
    assert_is(&kit.get(&talking).await, "finished", Some("connected"), Some("api_hangup"));
    let ringing = kit.play("9812340000", &json!({"retry": {"maxRetries": 2}}), 1).await;
    let calls = kit.app.get(&kit.workspace.live, "/v1/calls?state=ringing").await.expect(200);
    kit.app
        .post(
            &kit.workspace.live,
            &format!("/v1/calls/{}/hangup", calls["data"][0]["id"].as_str().unwrap()),
            &json!({}),
        )
        .await
        .expect(202);
    kit.app.advance(1).await;
    assert_is(&kit.get(&ringing).await, "finished", Some("failed"), Some("api_hangup"));
}

#[tokio::test]
async fn the_timeline_tells_why() {
    let kit = Kit::start().await;
    let nudge = kit.play("9812340000", &json!({"retry": {"maxRetries": 1, "delayMinutes": 10}}), 700).await;
    let lines = kit.timeline(&nudge).await;
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
    assert_eq!(
        (lines[3]["until"].clone(), lines[1]["callId"].is_string()),
        (json!("2027-03-01T06:40:15.000Z"), true)
    );
    let key = kit.app.key(&kit.workspace.id, "live", json!(["calls:read"])).await;
    kit.app.get(&key, &format!("/v1/nudges/{}/timeline", id(&nudge))).await.refused(403, "api_scope_missing");
}
