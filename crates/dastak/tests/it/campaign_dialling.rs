//! Dialling the lists of campaigns (docs/contract/campaigns.md#rows): what becomes of each row, when a campaign
//! dials, and its runs.

use domain::campaign::CountedState;
use serde_json::{Value, json};
use store::campaigns::list as lists;

use crate::shows::Shows;
use crate::streams::send;
use crate::world::{World, phones, refs, shown_row};

#[tokio::test]
async fn a_campaign_calls_everybody_on_its_list_and_completes() {
    let world = World::monday().await;
    let id = world.campaign(&json!({}), &["9812340001", "9812340002", "98123", "+91 98123 40001"]).await;
    let rows = world.rows(&id).await;
    let states: Vec<String> = rows.iter().map(shown_row).collect();
    assert_eq!(
        states,
        ["in_progress ringing 1 -", "in_progress ringing 1 -", "invalid - 0 -", "invalid - 0 -"]
    );
    assert_eq!(world.shown_runs(&id).await, ["schedule running - 2/2/0"]);
    world.advance(10).await;
    let rows = world.rows(&id).await;
    assert_eq!(shown_row(&rows[0]), "reached completed 1 -");
    assert_eq!(rows[0]["lastAttemptAt"], "2027-03-01T06:30:00.000Z");
    assert_eq!(world.shown_runs(&id).await, ["schedule completed - 2/2/0"]);
    let summary = world.summary(&id).await;
    let progress = &summary["progress"];
    progress.shows(json!({"total": 4, "reached": 2, "invalid": 2}));
    assert_eq!((&summary["connectRate"], &summary["avgCallSeconds"]), (&json!(1.0), &json!(8.0)));
    let price = world.get("/v1/wallet").await["data"]["costPerMinuteMinor"].as_i64().unwrap();
    assert_eq!(summary["spentMinor"], 2 * price);
    assert_eq!(summary["lifecycle"]["startedAt"], "2027-03-01T06:30:00.000Z");
    assert_eq!(summary["lifecycle"]["lastCallAt"], "2027-03-01T06:30:00.000Z");
    assert_eq!(summary["lifecycle"]["completedAt"], "2027-03-01T06:30:10.000Z");
    assert_eq!(world.status(&id).await, "completed");
    let finished = world.outbox_of("campaign.finished").await;
    assert_eq!(finished.len(), 1);
    assert_eq!(
        finished[0]["data"],
        json!({"campaignId": id, "name": "Renewals", "agentId": world.agent, "reason": "list_complete", "finishedAt": "2027-03-01T06:30:10.000Z"})
    );
    let calls = world.campaign_calls(&id).await;
    assert_eq!(calls.len(), 2);
    assert!(calls.iter().all(|call| call["campaignId"] == *id && call["agentId"] == *world.agent));
    let contact = world.get(&format!("/v1/contacts/{}", rows[0]["contactId"].as_str().unwrap())).await;
    contact["data"].shows(json!({"name": "Asha", "phone": "+919812340001"}));
    world.advance(3 * 86_400).await;
    assert_eq!(
        (world.campaign_calls(&id).await.len(), world.outbox_of("campaign.finished").await.len()),
        (2, 1)
    );
}

/// What becomes of a number of the sandbox with one retry after half an hour: after a minute, and in the end.
#[tokio::test]
async fn what_becomes_of_a_row() {
    for (phone, first, last, dials) in [
        ("9812340001", "reached completed 1 -", "reached completed 1 -", 1),
        ("9812340000", "unreached no_answer 1 -", "unreached no_answer 2 -", 2),
        ("9812341111", "unreached busy 1 -", "unreached busy 2 -", 2),
        ("9812342222", "unreached blocked 0 -", "unreached blocked 0 -", 0),
        ("9812343333", "unreached completed 1 -", "unreached completed 2 -", 2),
        ("9812344444", "unreached failed 1 -", "unreached failed 1 -", 1),
        ("9812345555", "unreached failed 1 -", "unreached failed 1 -", 1),
        ("9812347777", "reached completed 1 -", "reached completed 1 -", 1),
        ("9812348888", "unreached failed 1 -", "unreached failed 2 -", 2),
        ("9812349999", "unreached failed 1 -", "unreached failed 1 -", 1),
    ] {
        let world = World::monday().await;
        let id = world.campaign(&json!({"retryCount": 1, "cooldownMinutes": 30}), &[phone]).await;
        world.advance(60).await;
        assert_eq!(shown_row(&world.row(&id).await), first, "{phone}");
        let again = dials == 2;
        let progress = world.summary(&id).await["progress"].clone();
        assert_eq!(progress["retryable"], i64::from(again), "{phone}");
        assert_eq!(progress["blocked"], i64::from(dials == 0), "{phone}");
        assert_eq!(world.status(&id).await, if again { "active" } else { "completed" }, "{phone}");
        world.advance(29 * 60 - 60).await;
        assert_eq!(shown_row(&world.row(&id).await), first, "{phone}: not before the cooldown is over");
        world.advance(120 + 60).await;
        assert_eq!(shown_row(&world.row(&id).await), last, "{phone}");
        assert_eq!(world.status(&id).await, "completed", "{phone}");
        assert_eq!(world.summary(&id).await["progress"]["retryable"], 0, "{phone}");
        assert_eq!(world.outbox_of("campaign.finished").await.len(), 1, "{phone}");
        let placed = world.campaign_calls(&id).await.iter().filter(|call| call["state"] != "blocked").count();
        assert_eq!(placed, dials, "{phone}");
    }
}

#[tokio::test]
async fn a_refusal_before_any_ring_holds_the_row_and_is_no_attempt() {
    let world = World::monday().await;
    let id = world.campaign(&json!({}), &["9812346666"]).await;
    assert_eq!(shown_row(&world.row(&id).await), "held - 0 provider_error");
    assert_eq!(world.shown_runs(&id).await, ["schedule skipped provider_error 1/0/1"]);
    let summary = world.summary(&id).await;
    summary.shows(json!({"heldByReason": {"provider_error": 1}, "connectRate": null}));
    world.advance(15 * 60).await;
    assert_eq!(shown_row(&world.row(&id).await), "held - 0 provider_error");
    assert_eq!(world.shown_runs(&id).await.len(), 1, "asked again after 15 minutes, and recorded once");
    assert_eq!(world.status(&id).await, "active");
    // After as many tries as a scheduled call has.
    world.advance(15 * 60).await;
    let row = world.row(&id).await;
    assert_eq!(shown_row(&row), "unreached failed 0 -");
    row.shows(json!({"failureReason": "provider_error"}));
    assert_eq!(world.status(&id).await, "completed");
    world.advance(3 * 86_400).await;
    assert_eq!(world.shown_runs(&id).await, ["schedule skipped provider_error 1/0/1"]);
}

#[tokio::test]
async fn a_session_in_which_somebody_is_dialled_is_no_refused_one() {
    let world = World::monday().await;
    let id = world.campaign(&json!({}), &["9812346666", "9812340001"]).await;
    world.advance(60).await;
    assert_eq!(world.shown_runs(&id).await, ["schedule completed - 2/1/1"]);
    world.advance(15 * 60).await;
    let told = ["schedule completed - 2/1/1", "schedule skipped provider_error 1/0/1"];
    assert_eq!(world.shown_runs(&id).await, told, "it changed");
}

#[tokio::test]
async fn a_gate_that_refuses_is_a_blocked_call_of_the_campaign() {
    let world = World::monday().await;
    world.post("/v1/dnc", &json!({"phones": ["9812340007"], "reason": "asked"})).await.expect(200);
    let id = world.campaign(&json!({}), &["9812342222", "9812340007"]).await;
    let rows = world.rows(&id).await;
    assert!(rows.iter().all(|row| shown_row(row) == "unreached blocked 0 -"), "{rows:?}");
    assert_eq!(rows[1]["doNotCall"], true);
    let calls = world.campaign_calls(&id).await;
    assert_eq!(calls.len(), 2);
    assert!(calls.iter().all(|call| call["state"] == "blocked"), "{calls:?}");
    assert_eq!(world.shown_runs(&id).await, ["schedule completed - 2/0/2"]);
    let summary = world.summary(&id).await;
    assert_eq!((&summary["progress"]["blocked"], &summary["spentMinor"]), (&json!(2), &json!(0)));
    let figures = world.get(&format!("/v1/analytics/calls?campaignId={id}")).await;
    assert_eq!(figures["data"]["totals"]["blockedCalls"], 2);
    assert_eq!(figures["data"]["totals"]["calls"], 0);
    let failed = world.outbox_of("call.failed").await;
    assert_eq!(failed.len(), 2);
    assert!(failed.iter().all(|event| event["data"]["campaignId"] == *id));
    let mut reasons: Vec<&str> =
        failed.iter().map(|event| event["data"]["blockReason"].as_str().unwrap()).collect();
    reasons.sort_unstable();
    assert_eq!(reasons, ["dnd", "opt_out"]);
    assert_eq!(world.status(&id).await, "completed");
}

#[tokio::test]
async fn outside_the_hours_of_the_pack_rows_wait_for_the_opening_and_no_call_is_listed() {
    let world = World::monday().await;
    world.set_clock("2027-03-01T16:00:00Z").await;
    let id = world.campaign(&json!({}), &["9812340001", "9812340002", "9812340003"]).await;
    let rows = world.rows(&id).await;
    assert!(rows.iter().all(|row| shown_row(row) == "held - 0 calling_window"), "{rows:?}");
    assert_eq!(world.summary(&id).await["heldByReason"], json!({"calling_window": 3}));
    assert_eq!(world.shown_runs(&id).await, ["schedule skipped outside_schedule 0/0/0"]);
    world.set_clock("2027-03-02T03:29:59Z").await;
    assert_eq!(world.campaign_calls(&id).await.len(), 0);
    world.set_clock("2027-03-02T03:30:00Z").await;
    let rows = world.rows(&id).await;
    assert!(rows.iter().all(|row| shown_row(row) == "in_progress ringing 1 -"), "{rows:?}");
    assert_eq!(world.summary(&id).await["heldByReason"], json!({}));
    world.advance(60).await;
    assert_eq!(
        world.shown_runs(&id).await,
        ["schedule skipped outside_schedule 0/0/0", "schedule completed - 3/3/0"]
    );
    assert_eq!(world.status(&id).await, "completed");
}

#[tokio::test]
async fn the_cutoff_of_nudges_is_not_the_campaigns() {
    let world = World::monday().await;
    // 20:57 in India.
    world.set_clock("2027-03-01T15:27:00Z").await;
    let id = world.campaign(&json!({}), &["9812340001"]).await;
    assert_eq!(shown_row(&world.row(&id).await), "in_progress ringing 1 -");
}

#[tokio::test]
async fn dates_and_daily_window_are_those_of_the_campaigns_zone() {
    let world = World::monday().await;
    // Dubai is an hour and a half behind India: 14:00 there is 15:30 in India.
    let settings = json!({
        "timezone": "Asia/Dubai", "startAt": "2027-03-02T00:00:00+04:00", "endAt": "2027-03-04T00:00:00+04:00",
        "dailyFrom": "14:00", "dailyTo": "15:00", "retryCount": 10, "cooldownMinutes": 1440,
    });
    let id = world.campaign(&settings, &["9812340000"]).await;
    assert_eq!(shown_row(&world.row(&id).await), "queued - 0 -", "the schedule holds no row");
    world.set_clock("2027-03-02T13:59:59+04:00").await;
    assert_eq!(world.shown_runs(&id).await, ["schedule skipped outside_schedule 0/0/0"], "recorded once");
    assert_eq!(world.campaign_calls(&id).await.len(), 0);
    world.set_clock("2027-03-02T14:00:00+04:00").await;
    assert_eq!(shown_row(&world.row(&id).await), "in_progress ringing 1 -");
    world.set_clock("2027-03-03T12:00:00+04:00").await;
    assert_eq!(shown_row(&world.row(&id).await), "unreached no_answer 1 -");
    world.set_clock("2027-03-03T14:30:00+04:00").await;
    assert_eq!(shown_row(&world.row(&id).await), "unreached no_answer 2 -");
    world.set_clock("2027-03-03T23:59:59+04:00").await;
    assert_eq!(world.status(&id).await, "active");
    world.set_clock("2027-03-04T00:00:00+04:00").await;
    assert_eq!(world.status(&id).await, "completed");
    let finished = world.outbox_of("campaign.finished").await;
    assert_eq!((finished.len(), &finished[0]["data"]["reason"]), (1, &json!("end_date")));
    assert_eq!(finished[0]["data"]["finishedAt"], "2027-03-03T20:00:00.000Z");
    world.advance(3 * 86_400).await;
    assert_eq!(world.campaign_calls(&id).await.len(), 2);
}

#[tokio::test]
async fn a_number_at_its_cap_is_held_until_the_cap_lets_it() {
    let world = World::monday().await;
    for hour in [7, 8, 9] {
        world.set_clock(&format!("2027-03-01T{hour:02}:00:00Z")).await;
        let body = json!({"agentId": world.agent, "toNumber": "9812340000"});
        world.post("/v1/calls", &body).await.expect(200);
    }
    world.set_clock("2027-03-01T10:00:00Z").await;
    let id = world.campaign(&json!({}), &["9812340000"]).await;
    assert_eq!(shown_row(&world.row(&id).await), "held blocked 0 frequency");
    assert_eq!(world.summary(&id).await["heldByReason"], json!({"frequency": 1}));
    world.set_clock("2027-03-02T06:59:59Z").await;
    let blocked = world.campaign_calls(&id).await;
    assert_eq!(blocked.len(), 1, "one blocked call for one hold");
    assert_eq!(blocked[0]["state"], "blocked");
    assert_eq!(world.outbox_of("call.failed").await.pop().unwrap()["data"]["blockReason"], "frequency_cap");
    world.set_clock("2027-03-02T07:00:00Z").await;
    assert_eq!(shown_row(&world.row(&id).await), "in_progress ringing 1 -");
    assert_eq!(world.summary(&id).await["heldByReason"], json!({}));
}

#[tokio::test]
async fn without_money_it_waits_and_says_so_once() {
    let world = World::monday().await;
    let price = world.get("/v1/wallet").await["data"]["costPerMinuteMinor"].as_i64().unwrap();
    world.pay(2 * price - 1_000_000).await;
    let id = world.campaign(&json!({}), &["9812340001", "9812340002", "9812340003"]).await;
    let states: Vec<String> = world.rows(&id).await.iter().map(shown_row).collect();
    assert_eq!(states, ["in_progress ringing 1 -", "in_progress ringing 1 -", "queued - 0 -"]);
    world.advance(3600).await;
    assert_eq!(
        world.shown_runs(&id).await,
        ["schedule completed - 2/2/0", "schedule skipped insufficient_balance 0/0/0"],
        "only a change of the reason is recorded"
    );
    world.pay(price).await;
    // It is looked at now, and not a quarter of an hour after its last look.
    world.advance(20).await;
    assert_eq!(world.shown_runs(&id).await[2..], ["schedule completed - 1/1/0"]);
    assert_eq!(world.status(&id).await, "completed");
    assert_eq!(world.summary(&id).await["spentMinor"], 3 * price);
}

#[tokio::test]
async fn an_unverified_or_suspended_workspace_does_not_dial() {
    let world = World::monday().await;
    world.change(&json!({"kybVerified": false})).await;
    let id = world.campaign(&json!({}), &["9812340001"]).await;
    assert_eq!(world.shown_runs(&id).await, ["schedule skipped kyb_unverified 0/0/0"]);
    world.change(&json!({"kybVerified": true, "suspended": true})).await;
    world.advance(20 * 60).await;
    world.run(&id).await.refused(403, "workspace_suspended");
    world.change(&json!({"suspended": false})).await;
    world.advance(20).await;
    assert_eq!(
        world.shown_runs(&id).await,
        [
            "schedule skipped kyb_unverified 0/0/0",
            "schedule skipped workspace_suspended 0/0/0",
            "schedule completed - 1/1/0"
        ]
    );
}

#[tokio::test]
async fn an_agent_that_is_taken_back_stops_it() {
    let world = World::monday().await;
    let id = world.draft(&json!({}), &["9812340001"]).await;
    world.set_clock("2027-03-01T16:00:00Z").await;
    world.set(&id, "active").await.expect(200);
    let path = format!("/v1/agents/{}/status", world.agent);
    world.post(&path, &json!({"status": "draft"})).await.expect(200);
    world.set_clock("2027-03-02T04:00:00Z").await;
    let run = world.runs(&id).await.pop().unwrap();
    assert_eq!((&run["skippedReason"], &run["error"]), (&json!("run_error"), &json!("agent_not_published")));
    assert_eq!(shown_row(&world.row(&id).await), "held - 0 calling_window");
    world.post(&path, &json!({"status": "active"})).await.expect(200);
    world.advance(15 * 60).await;
    assert_eq!(world.rows(&id).await[0]["attempts"], 1);
}

#[tokio::test]
async fn a_row_without_what_the_agent_needs_is_given_up_and_its_run_says_why() {
    let world = World::monday().await;
    let id = world.draft(&json!({}), &["9812340001"]).await;
    let path = format!("/v1/agents/{}", world.agent);
    let change = json!({"systemPrompt": "Ask {{name}} about {{due}}."});
    world.put(&path, &change).await.expect(200);
    world.set(&id, "active").await.expect(200);
    let row = world.row(&id).await;
    assert_eq!(shown_row(&row), "unreached failed 0 -");
    row.shows(json!({"failureReason": "missing_required_variables"}));
    let run = world.runs(&id).await.pop().unwrap();
    run.shows(
        json!({"status": "completed", "rejected": 1, "error": "missing_required_variables: name, due"}),
    );
    assert_eq!(world.status(&id).await, "completed");
}

#[tokio::test]
async fn values_of_a_row_reach_its_conversation() {
    let mut world = World::monday().await;
    world.agent = world.agent(&json!({"systemPrompt": "Say {{due}}."})).await;
    let id = world.draft(&json!({}), &[]).await;
    let rows = json!([{"phone": "9812340001", "variables": {"due": "₹ 500"}}]);
    world.set_list(&id, rows).await.expect(200);
    world.set(&id, "active").await.expect(200);
    let call = world.campaign_calls(&id).await.remove(0);
    let stored = world.app().store.read({
        let (tenant, call) = (world.tenant(), call["id"].as_str().unwrap().parse().unwrap());
        move |tx| store::calls::find(&mut tx.of(tenant), call)
    });
    assert_eq!(stored.await.unwrap().unwrap().variables["due"], "₹ 500");
}

#[tokio::test]
async fn a_run_begins_at_once_or_says_why_not() {
    let world = World::monday().await;
    let id = world.draft(&json!({}), &["9812340001"]).await;
    world.run(&id).await.conflict();
    world.run("cmp_00000000000000000000000000").await.not_found();
    let neighbour = world.neighbour().await;
    let path = format!("/v1/campaigns/{id}/run");
    neighbour.post(&path, &Value::Null).await.not_found();
    world.app.post(world.test(), &path, &Value::Null).await.read_only();
    world.set_clock("2027-03-01T16:00:00Z").await;
    world.set(&id, "active").await.expect(200);
    let started = world.run(&id).await.data(202);
    assert_eq!(started["status"], "queued");
    let run = format!("/v1/campaign-runs/{}", started["runId"].as_str().unwrap());
    world.advance(0).await;
    let shown_run = world.data(&run).await;
    // The row was held before: there is nothing to be dialled.
    assert_eq!((&shown_run["source"], &shown_run["attempted"]), (&json!("api"), &json!(0)));
    assert_ne!(shown_run["finishedAt"], Value::Null);
    world.set_clock("2027-03-02T03:00:00Z").await;
    let settings = json!({"settings": {"dailyFrom": "12:00"}});
    world.put(&format!("/v1/campaigns/{id}"), &settings).await.expect(200);
    world.set_clock("2027-03-02T04:00:00Z").await;
    let started = world.run(&id).await.data(202);
    world.advance(0).await;
    let skipped = world.get(&format!("/v1/campaign-runs/{}", started["runId"].as_str().unwrap())).await;
    skipped["data"].shows(json!({"status": "skipped", "skippedReason": "outside_schedule"}));
}

#[tokio::test]
async fn a_run_that_is_asked_for_in_a_session_is_that_session() {
    let world = World::monday().await;
    world.change(&json!({"limits": {"concurrentCalls": 1}})).await;
    let id = world.campaign(&json!({}), &["9812340001", "9812340002", "9812340003"]).await;
    // The one line is taken.
    let busy = world.run(&id).await.expect(202)["data"]["runId"].clone();
    world.advance(0).await;
    assert_eq!(world.shown_runs(&id).await, ["schedule running - 1/1/0"]);
    assert_eq!(world.runs(&id).await[0]["id"], busy);
    world.advance(35).await;
    assert_eq!(world.shown_runs(&id).await, ["schedule completed - 3/3/0"]);
    assert_eq!(world.status(&id).await, "completed");
}

#[tokio::test]
async fn pausing_ends_the_session_and_resuming_begins_another() {
    let world = World::monday().await;
    world.change(&json!({"limits": {"concurrentCalls": 2}})).await;
    let numbers = phones(6);
    let id = world.campaign(&json!({}), &refs(&numbers)).await;
    let path = format!("/v1/campaigns/{id}/status");
    world.post(&path, &json!({"status": "paused"})).await.expect(200);
    assert_eq!(world.shown_runs(&id).await, ["schedule completed - 2/2/0"], "with the answer");
    world.advance(600).await;
    let progress = world.summary(&id).await["progress"].clone();
    assert_eq!((&progress["reached"], &progress["queued"]), (&json!(2), &json!(4)), "calls under way go on");
    world.run(&id).await.conflict();
    world.set(&id, "active").await.expect(200);
    world.advance(60).await;
    assert_eq!(world.shown_runs(&id).await, ["schedule completed - 2/2/0", "schedule completed - 4/4/0"]);
    assert_eq!(world.status(&id).await, "completed");
}

#[tokio::test]
async fn own_numbers_rotate_within_their_caps_and_a_person_keeps_its_number() {
    let world = World::monday().await;
    world.number("+918044440001").await;
    world.number("+918044440002").await;
    let pool =
        json!([{"number": "+918044440001", "dailyCap": 2}, {"number": "+918044440002", "dailyCap": 3}]);
    let settings =
        json!({"callerIds": pool, "retryCount": 1, "cooldownMinutes": 60, "timezone": "Asia/Kolkata"});
    let people: Vec<String> = (0..6).map(|person| format!("98123{person}0000")).collect();
    let id = world.campaign(&settings, &refs(&people)).await;
    let from =
        |calls: &[Value], number: &str| calls.iter().filter(|call| call["fromNumber"] == number).count();
    let calls = world.campaign_calls(&id).await;
    assert_eq!((from(&calls, "+918044440001"), from(&calls, "+918044440002")), (2, 3));
    assert_eq!(shown_row(&world.rows(&id).await[5]), "held - 0 caller_id_cap");
    assert_eq!(world.summary(&id).await["heldByReason"], json!({"caller_id_cap": 1}));
    world.advance(2 * 3600).await;
    assert_eq!(
        world.campaign_calls(&id).await.len(),
        5,
        "no retry either: its numbers have reached their caps"
    );
    assert_eq!(world.summary(&id).await["heldByReason"], json!({"caller_id_cap": 6}));
    world.set_clock("2027-03-02T03:30:00Z").await;
    world.advance(600).await;
    let calls = world.campaign_calls(&id).await;
    assert_eq!(calls.len(), 10);
    world.set_clock("2027-03-03T03:30:00Z").await;
    world.advance(2 * 3600).await;
    let calls = world.campaign_calls(&id).await;
    assert_eq!(calls.len(), 12);
    for person in &people {
        let to = format!("+91{person}");
        let shown: Vec<&Value> =
            calls.iter().filter(|call| call["toNumber"] == *to).map(|call| &call["fromNumber"]).collect();
        assert_eq!(shown.len(), 2);
        assert_eq!(shown[0], shown[1], "{person} sees one number");
    }
    assert_eq!(world.status(&id).await, "completed");
}

#[tokio::test]
async fn the_own_number_is_the_one_of_the_settings() {
    let world = World::monday().await;
    world.number("+918044440001").await;
    let id = world.campaign(&json!({"fromNumber": "+918044440001"}), &["9812340001"]).await;
    assert_eq!(world.campaign_calls(&id).await[0]["fromNumber"], "+918044440001");
    let first = world.get("/v1/numbers").await["data"][0]["number"].clone();
    let id = world.campaign(&json!({}), &["9812340002"]).await;
    assert_eq!(world.campaign_calls(&id).await[0]["fromNumber"], first);
}

#[tokio::test]
async fn who_is_erased_is_never_called_again() {
    let world = World::monday().await;
    let id = world.campaign(&json!({"retryCount": 2}), &["9812340000"]).await;
    let contact = world.row(&id).await["contactId"].as_str().unwrap().to_owned();
    world.erase(&contact).await.expect(200);
    world.advance(3600).await;
    let row = world.row(&id).await;
    assert_eq!((&row["phone"], &row["name"], &row["valid"]), (&Value::Null, &Value::Null, &json!(false)));
    assert_eq!(row["state"], "unreached");
    assert_eq!(world.campaign_calls(&id).await.len(), 1);
    world.summary(&id).await;
    assert_eq!(world.status(&id).await, "completed");
}

/// A real line goes on for a moment after the erasure.
#[tokio::test]
async fn a_campaign_does_not_rest_while_the_call_of_an_erased_person_goes_on() {
    let world = World::monday().await;
    let id = world.campaign(&json!({}), &["9812340000"]).await;
    world.advance(5).await;
    let row = world.row(&id).await["id"].as_str().unwrap().parse().unwrap();
    let campaign = id.parse().unwrap();
    let erase = move |tx: &mut store::TenantTx<'_, '_>| {
        let row = lists::get(tx, campaign, row)?.expect("a row");
        lists::erase(tx, &row, CountedState { retryable: false, ..row.standing })
    };
    world.app().store.of(world.tenant()).tx(erase).await.expect("a commit");
    let settings = json!({"settings": {"cooldownMinutes": 60}});
    world.put(&format!("/v1/campaigns/{id}"), &settings).await.expect(200);
    world.advance(0).await;
    assert_eq!(
        (world.status(&id).await.as_str(), world.row(&id).await["state"].as_str()),
        ("active", Some("in_progress"))
    );
    world.advance(60).await;
    assert_eq!(world.status(&id).await, "completed");
}

#[tokio::test]
async fn a_campaign_is_over_when_the_last_one_who_waits_is_erased() {
    let world = World::monday().await;
    let id = world.campaign(&json!({"retryCount": 2, "cooldownMinutes": 600}), &["9812340000"]).await;
    world.advance(20).await;
    assert_eq!(world.status(&id).await, "active", "there is another try");
    let contact = world.row(&id).await["contactId"].as_str().unwrap().to_owned();
    world.erase(&contact).await.expect(200);
    world.advance(0).await;
    assert_eq!(world.status(&id).await, "completed");
    let finished = world.outbox_of("campaign.finished").await;
    assert_eq!((finished.len(), &finished[0]["data"]["reason"]), (1, &json!("list_complete")));
}

#[tokio::test]
async fn a_deleted_campaign_hears_of_its_calls_without_harm() {
    let world = World::monday().await;
    let id = world.campaign(&json!({"retryCount": 2}), &["9812340000", "9812340001"]).await;
    world.set(&id, "paused").await.expect(200);
    world.delete(&format!("/v1/campaigns/{id}")).await.expect(200);
    world.advance(3600).await;
    assert_eq!(world.campaign_calls(&id).await.len(), 2, "of a deleted campaign nobody is called again");
}

#[tokio::test]
async fn a_row_whose_call_vanished_is_settled_by_a_look() {
    let world = World::monday().await;
    let id = world.draft(&json!({}), &["9812340001", "9812340002"]).await;
    world.set(&id, "active").await.expect(200);
    let campaign: String = id.clone();
    world
        .store(move |tx| {
            tx.exec("delete from calls where campaign = ?1", &[campaign.clone().into()])?;
            Ok::<_, store::DbError>(())
        })
        .await;
    world.advance(14 * 60).await;
    assert_eq!(world.row(&id).await["state"], "in_progress");
    world.advance(2 * 60).await;
    let rows = world.rows(&id).await;
    assert!(rows.iter().all(|row| shown_row(row) == "unreached failed 1 -"), "{rows:?}");
    assert_eq!(world.status(&id).await, "completed");
}

/// An exhausted list is no end while a stream feeds the campaign. Its end date is, its owner's word, and the end of the
/// feeding.
#[tokio::test]
async fn a_campaign_that_a_stream_feeds_goes_on_when_everybody_was_called() {
    for (end, reason) in [("date", "end_date"), ("owner", "requested"), ("detached", "list_complete")] {
        let world = World::monday().await;
        let stream = world.webhook_stream().await;
        let id = world.draft(&json!({"endAt": "2027-03-03T18:00:00+05:30"}), &["9812340001"]).await;
        let feed = format!("/v1/campaigns/{id}/streams/{}", stream["id"].as_str().unwrap());
        world.put(&feed, &json!({})).await.expect(200);
        world.set(&id, "active").await.expect(200);
        world.advance(60).await;
        assert_eq!(world.summary(&id).await["progress"]["reached"], 1);
        world.set_clock("2027-03-02T12:00:00+05:30").await;
        assert_eq!(
            (world.status(&id).await.as_str(), world.outbox_of("campaign.finished").await.len()),
            ("active", 0)
        );
        send(&world.app, &stream, &json!({"phone": "9812340002"})).await.expect(202);
        world.advance(60).await;
        assert_eq!(world.summary(&id).await["progress"]["reached"], 2);
        assert_eq!(world.status(&id).await, "active");
        match end {
            "date" => world.set_clock("2027-03-03T18:00:00+05:30").await,
            "owner" => drop(world.set(&id, "completed").await.expect(200)),
            _ => drop(world.delete(&feed).await.expect(200)),
        }
        world.advance(0).await;
        assert_eq!(world.status(&id).await, "completed", "{end}");
        let finished = world.outbox_of("campaign.finished").await;
        assert_eq!((finished.len(), &finished[0]["data"]["reason"]), (1, &json!(reason)));
        let late = send(&world.app, &stream, &json!({"phone": "9812340003"})).await.data(202);
        assert_eq!((&late["accepted"], &late["queued"]), (&json!(1), &json!(0)), "{end}");
        world.advance(60).await;
        assert_eq!(world.campaign_calls(&id).await.len(), 2, "{end}");
    }
}

#[tokio::test]
async fn events_of_its_calls_name_the_campaign() {
    let world = World::monday().await;
    let id = world.campaign(&json!({}), &["9812340001", "9812340000"]).await;
    world.advance(60).await;
    for (kind, to, cause) in [
        ("call.started", "+919812340001", Value::Null),
        ("transcript.ready", "+919812340001", json!("agent_ended")),
        ("outcome.captured", "+919812340001", json!("agent_ended")),
        ("call.completed", "+919812340001", json!("agent_ended")),
        ("call.failed", "+919812340000", json!("no_answer")),
    ] {
        let told = world.outbox_of(kind).await;
        let [event] = &told[..] else { panic!("one {kind}: {told:?}") };
        let data = &event["data"];
        assert_eq!(
            (&data["campaignId"], &data["agentId"], &data["toNumber"], &data["endCause"]),
            (&json!(id), &json!(world.agent), &json!(to), &cause),
            "{kind}"
        );
        assert_eq!(
            (&data["direction"], &data["metadata"], &data["externalRef"], &event["livemode"]),
            (&json!("outbound"), &json!({}), &Value::Null, &json!(true)),
            "{kind}"
        );
    }
}
