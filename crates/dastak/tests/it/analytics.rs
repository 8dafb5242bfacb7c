//! `GET /v1/analytics/calls` (docs/contract/analytics.md, docs/analytics.md).

use domain::call::{Direction, Progress, Status};
use domain::tenant::Mode;
use domain::time::{HOUR, SECOND, Timestamp};
use serde_json::{Value, json};
use store::calls::CallRow;

use crate::shows::Shows;
use crate::world::World;

async fn figures(world: &World, query: &str) -> Value {
    world.data(&format!("/v1/analytics/calls{query}")).await
}

#[tokio::test]
async fn a_workspace_without_calls() {
    let world = World::open().await;
    world.placed(world.test(), "1234").await;
    world.place(world.live(), "2222").await.refused(422, "call_blocked");
    world.place(world.live(), "6666").await.refused(502, "call_not_placed");
    let totals = json!({
        "calls": 0, "answered": 0, "connectRate": 0.0, "peopleReached": 0, "contactsTargeted": 0, "talkSecondsTotal": 0, "avgTalkSeconds": 0.0,
        "talkSecondsP50": 0, "talkSecondsP90": 0, "peakConcurrency": 0, "blockedCalls": 0, "declinedCalls": 0,
    });
    let expected = json!({"totals": totals, "byOutcome": {}, "byEndCause": {}, "perDay": [], "agents": [], "byLanguage": [], "sentiment": [],
        "reaction": {"answers": 0, "p50Ms": null, "p95Ms": null, "byAgent": [], "byProvider": []}, "costs": {"chargedMinor": 0, "byOutcome": []}});
    assert_eq!(figures(&world, "").await, expected);
    let seen = world.app.get(world.test(), "/v1/analytics/calls").await.expect(200);
    assert_eq!(seen["data"], expected);
    let change = json!({"features": {"analytics": false}});
    world.change(&change).await;
    world.fetch("/v1/analytics/calls").await.refused(403, "plan_feature_locked");
}

#[tokio::test]
async fn figures_of_two_days_and_two_agents() {
    let world = World::open().await;
    let live = world.workspace.live.clone();
    let hindi = world.agent(&json!({"name": "Meera", "language": "hi"})).await;
    for digits in ["1234", "1111", "3333", "9999"] {
        world.place(&live, digits).await;
    }
    world.advance(60).await;
    world.placed(&live, "1234").await;
    world.advance(5).await;
    let body = json!({"agentId": hindi, "toNumber": "+919812301235"});
    world.app.post(&live, "/v1/calls", &body).await.expect(200);
    world.advance(24 * 3600).await;
    world.app.post(&live, "/v1/calls", &body).await.expect(200);
    world.advance(1).await;
    let day = |shift: i64| world.noon.plus(shift * 24 * HOUR + 11 * HOUR / 2).to_string()[..10].to_owned();
    let expected = json!({
        "totals": {
            "calls": 7, "answered": 4, "connectRate": 0.5714, "peopleReached": 2, "contactsTargeted": 5, "talkSecondsTotal": 26, "avgTalkSeconds": 6.5,
            "talkSecondsP50": 8, "talkSecondsP90": 8, "peakConcurrency": 3, "blockedCalls": 0, "declinedCalls": 0,
        },
        "byOutcome": {"simulated": 3},
        "byEndCause": {"agent_ended": 3, "busy": 1, "possibly_placed": 1, "voicemail": 1},
        "perDay": [
            {"day": day(0), "calls": 6, "answered": 4, "talkSeconds": 26},
            {"day": day(1), "calls": 1, "answered": 0, "talkSeconds": 0},
        ],
        "agents": [
            {"agentId": world.agent, "name": "Asha", "calls": 5, "connectRate": 0.6, "avgTalkSeconds": 6.0, "inbound": 0, "outbound": 5, "sentiment": []},
            {"agentId": hindi, "name": "Meera", "calls": 2, "connectRate": 0.5, "avgTalkSeconds": 8.0, "inbound": 0, "outbound": 2, "sentiment": []},
        ],
        "byLanguage": [{"language": "en", "count": 5}, {"language": "hi", "count": 2}],
        "sentiment": [],
    });
    for _ in 0..2 {
        let mut found = figures(&world, "").await;
        let (reaction, costs) = (found["reaction"].take(), found["costs"].take());
        let found_as: serde_json::Map<_, _> = found
            .as_object()
            .unwrap()
            .iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        assert_eq!(Value::Object(found_as), expected, "the same from fresh and from packed hours");
        assert_eq!((&reaction["answers"], costs["chargedMinor"].as_i64() > Some(0)), (&json!(0), true));
    }
    world.advance(9).await;
    let later = figures(&world, "").await;
    // What changed is seen at once.
    later.shows(json!({"totals.answered": 5, "perDay[1].talkSeconds": 8}));
    let one = figures(&world, &format!("?agentId={hindi}&to={}", world.at(3600))).await;
    one.shows(json!({"totals.calls": 1, "byLanguage": [{"language": "hi", "count": 1}]}));
    let part = figures(&world, &format!("?from={}&to={}", world.at(1), world.at(65))).await;
    assert_eq!((&part["totals"]["calls"], &part["totals"]["peakConcurrency"]), (&json!(1), &json!(1)));
    assert_eq!(figures(&world, "?agentId=agt_x").await["totals"]["calls"], 0);
    world.app.get(&live, "/v1/analytics/calls?from=monday").await.invalid();
    let of_test = world.app.get(world.test(), "/v1/analytics/calls").await.data(200);
    let shown = (&of_test["totals"]["calls"], &of_test["agents"], &of_test["perDay"]);
    assert_eq!(shown, (&json!(0), &json!([]), &json!([])), "a test key sees no live call");
}

/// A live call that is over, as a campaign or the inbound side stores it.
fn stored(world: &World, seconds: i64, status: Status, direction: &str) -> CallRow {
    let id = domain::ids::Id::new(world.noon.plus(seconds * SECOND).0, seconds.unsigned_abs().into());
    CallRow {
        answered_by: None,
        flow_version: None,
        id,
        workspace: world.tenant(),
        mode: Mode::Live,
        agent: None,
        contact: None,
        campaign: None,
        nudge: None,
        scheduled_call: None,
        direction: Direction::parse(direction).unwrap(),
        progress: Progress {
            status,
            ended_at: Some(Timestamp(id.unix_ms() + SECOND)),
            ..Progress::placing()
        },
        outcome: None,
        to_number: "+919812301234".into(),
        from_number: "+918012345678".into(),
        external_ref: None,
        variables: serde_json::Map::new(),
        metadata: json!({}),
        provider_call: None,
        carrier: None,
        started_at: Timestamp(id.unix_ms()),
        dialled_at: None,
        block_reason: None,
        hang_up_at: None,
        language: None,
        sentiment: Some("neutral".into()),
        price: 0,
        concurrent: 1,
        line: false,
        network: None,
        script_step: 0,
        next_step_at: None,
        once: None,
        upkeep: store::calls::Upkeep::default(),
        version: 0,
        trace: None,
    }
}

#[tokio::test]
async fn blocked_campaign_dials_declined_calls_and_calls_without_an_agent() {
    let world = World::open().await;
    let campaign = domain::ids::Id::new(1, 1);
    let rows = [
        CallRow { campaign: Some(campaign), ..stored(&world, 1, Status::Blocked, "outbound") },
        stored(&world, 2, Status::Blocked, "outbound"),
        stored(&world, 3, Status::Blocked, "inbound"),
        CallRow { campaign: Some(campaign), ..stored(&world, 4, Status::Busy, "outbound") },
        CallRow {
            agent: Some(world.agent.parse().unwrap()),
            ..stored(&world, 5, Status::Completed, "inbound")
        },
    ];
    let inserted = world.app().store.tx(move |tx| {
        store::calls::insert(tx, &rows)?;
        rows.iter().try_for_each(|row| store::calls::touch_hour(tx, row))
    });
    inserted.await.unwrap();
    let all = figures(&world, "").await;
    all["totals"].shows(json!({"calls": 2, "blockedCalls": 1, "declinedCalls": 1}));
    assert_eq!(all["sentiment"], json!([{"sentiment": "neutral", "count": 2}]));
    let rows: Vec<_> = all["agents"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| json!([row["agentId"], row["name"], row["inbound"], row["outbound"]]))
        .collect();
    assert_eq!(json!(rows), json!([[world.agent, "Asha", 1, 0], [null, null, 0, 1]]));
    assert_eq!(all["agents"][1]["sentiment"], json!([{"sentiment": "neutral", "count": 1}]));
    let of_campaign = figures(&world, &format!("?campaignId={campaign}")).await;
    of_campaign["totals"].shows(json!({"calls": 1, "blockedCalls": 1}));
    let found = world.get(&format!("/v1/calls?campaignId={campaign}&state=blocked")).await;
    assert_eq!(found["data"].as_array().unwrap().len(), 1);
    let inbound = world.get("/v1/calls?direction=inbound").await;
    assert_eq!(inbound["data"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn quiet_hours_are_packed_without_being_asked() {
    let world = World::open().await;
    world.placed(world.live(), "1234").await;
    world.advance(12).await;
    let stale = || async { world.stored(store::analytics::oldest_change).await };
    assert_eq!(stale().await, Some(world.noon.plus(10 * SECOND)));
    world.advance(600).await;
    assert_eq!(stale().await, None);
    assert_eq!(figures(&world, "").await["totals"]["calls"], 1);
}
