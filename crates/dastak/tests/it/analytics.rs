//! `GET /v1/analytics/calls` (docs/contract/analytics.md, docs/analytics.md).

use domain::call::{Direction, Progress, Status};
use domain::tenant::Mode;
use domain::time::{HOUR, SECOND, Timestamp};
use serde_json::{Value, json};
use store::calls::CallRow;

use crate::agents;
use crate::call_simulation::Desk;

async fn figures(desk: &Desk, query: &str) -> Value {
    desk.app.get(&desk.workspace.live, &format!("/v1/analytics/calls{query}")).await.data(200)
}

#[tokio::test]
async fn a_workspace_without_calls() {
    let desk = Desk::open().await;
    desk.placed(&desk.workspace.test, "1234").await;
    desk.place(&desk.workspace.live, "2222").await.refused(422, "call_blocked");
    desk.place(&desk.workspace.live, "6666").await.refused(502, "call_not_placed");
    let totals = json!({
        "calls": 0, "answered": 0, "connectRate": 0.0, "peopleReached": 0, "contactsTargeted": 0, "talkSecondsTotal": 0, "avgTalkSeconds": 0.0,
        "talkSecondsP50": 0, "talkSecondsP90": 0, "peakConcurrency": 0, "blockedCalls": 0, "declinedCalls": 0,
    });
    let expected = json!({"totals": totals, "byOutcome": {}, "byEndCause": {}, "perDay": [], "agents": [], "byLanguage": [], "sentiment": []});
    assert_eq!(figures(&desk, "").await, expected);
    let seen = desk.app.get(&desk.workspace.test, "/v1/analytics/calls").await.expect(200);
    assert_eq!(seen["data"], expected);
    let change = json!({"features": {"analytics": false}});
    desk.app.operator("PATCH", &format!("/workspaces/{}", desk.workspace.id), &change).await.expect(200);
    desk.app.get(&desk.workspace.live, "/v1/analytics/calls").await.refused(403, "plan_feature_locked");
}

#[tokio::test]
async fn figures_of_two_days_and_two_agents() {
    let desk = Desk::open().await;
    let live = desk.workspace.live.clone();
    let hindi =
        agents::create_active(&desk.app, &desk.workspace, &json!({"name": "Meera", "language": "hi"})).await;
    for digits in ["1234", "1111", "3333", "9999"] {
        desk.place(&live, digits).await;
    }
    desk.app.advance(60).await;
    desk.placed(&live, "1234").await;
    desk.app.advance(5).await;
    let body = json!({"agentId": hindi, "toNumber": "+919812301235"});
    desk.app.post(&live, "/v1/calls", &body).await.expect(200);
    desk.app.advance(24 * 3600).await;
    desk.app.post(&live, "/v1/calls", &body).await.expect(200);
    desk.app.advance(1).await;
    let day = |shift: i64| desk.noon.plus(shift * 24 * HOUR + 11 * HOUR / 2).to_string()[..10].to_owned();
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
            {"agentId": desk.agent, "name": "Asha", "calls": 5, "connectRate": 0.6, "avgTalkSeconds": 6.0, "inbound": 0, "outbound": 5, "sentiment": []},
            {"agentId": hindi, "name": "Meera", "calls": 2, "connectRate": 0.5, "avgTalkSeconds": 8.0, "inbound": 0, "outbound": 2, "sentiment": []},
        ],
        "byLanguage": [{"language": "en", "count": 5}, {"language": "hi", "count": 2}],
        "sentiment": [],
    });
    for _ in 0..2 {
        assert_eq!(figures(&desk, "").await, expected, "the same from fresh and from packed hours");
    }
    desk.app.advance(9).await;
    let later = figures(&desk, "").await;
    assert_eq!(
        (&later["totals"]["answered"], &later["perDay"][1]["talkSeconds"]),
        (&json!(5), &json!(8)),
        "what changed is seen at once"
    );
    let one = figures(&desk, &format!("?agentId={hindi}&to={}", desk.at(3600))).await;
    assert_eq!(
        (&one["totals"]["calls"], &one["byLanguage"]),
        (&json!(1), &json!([{"language": "hi", "count": 1}]))
    );
    let part = figures(&desk, &format!("?from={}&to={}", desk.at(1), desk.at(65))).await;
    assert_eq!((&part["totals"]["calls"], &part["totals"]["peakConcurrency"]), (&json!(1), &json!(1)));
    assert_eq!(figures(&desk, "?agentId=agt_x").await["totals"]["calls"], 0);
    desk.app.get(&live, "/v1/analytics/calls?from=monday").await.refused(400, "invalid_request");
    let of_test = desk.app.get(&desk.workspace.test, "/v1/analytics/calls").await.data(200);
    let shown = (&of_test["totals"]["calls"], &of_test["agents"], &of_test["perDay"]);
    assert_eq!(shown, (&json!(0), &json!([]), &json!([])), "a test key sees no live call");
}

/// A live call that is over, as a campaign or the inbound side stores it.
fn stored(desk: &Desk, seconds: i64, status: Status, direction: &str) -> CallRow {
    let id = domain::ids::Id::new(desk.noon.plus(seconds * SECOND).0, seconds.unsigned_abs().into());
    CallRow {
        id,
        workspace: desk.workspace.id.parse().unwrap(),
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
    let desk = Desk::open().await;
    let campaign = domain::ids::Id::new(1, 1);
    let rows = [
        CallRow { campaign: Some(campaign), ..stored(&desk, 1, Status::Blocked, "outbound") },
        stored(&desk, 2, Status::Blocked, "outbound"),
        stored(&desk, 3, Status::Blocked, "inbound"),
        CallRow { campaign: Some(campaign), ..stored(&desk, 4, Status::Busy, "outbound") },
        CallRow {
            agent: Some(desk.agent.parse().unwrap()),
            ..stored(&desk, 5, Status::Completed, "inbound")
        },
    ];
    let inserted = desk.app.app().store.tx(move |tx| {
        store::calls::insert(tx, &rows)?;
        rows.iter().try_for_each(|row| store::calls::touch_hour(tx, row))
    });
    inserted.await.unwrap();
    let all = figures(&desk, "").await;
    assert_eq!(
        (&all["totals"]["calls"], &all["totals"]["blockedCalls"], &all["totals"]["declinedCalls"]),
        (&json!(2), &json!(1), &json!(1))
    );
    assert_eq!(all["sentiment"], json!([{"sentiment": "neutral", "count": 2}]));
    let rows: Vec<_> = all["agents"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| json!([row["agentId"], row["name"], row["inbound"], row["outbound"]]))
        .collect();
    assert_eq!(json!(rows), json!([[desk.agent, "Asha", 1, 0], [null, null, 0, 1]]));
    assert_eq!(all["agents"][1]["sentiment"], json!([{"sentiment": "neutral", "count": 1}]));
    let of_campaign = figures(&desk, &format!("?campaignId={campaign}")).await;
    assert_eq!(
        (&of_campaign["totals"]["calls"], &of_campaign["totals"]["blockedCalls"]),
        (&json!(1), &json!(1))
    );
    let found = desk
        .app
        .get(&desk.workspace.live, &format!("/v1/calls?campaignId={campaign}&state=blocked"))
        .await
        .expect(200);
    assert_eq!(found["data"].as_array().unwrap().len(), 1);
    let inbound = desk.app.get(&desk.workspace.live, "/v1/calls?direction=inbound").await.expect(200);
    assert_eq!(inbound["data"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn quiet_hours_are_packed_without_being_asked() {
    let desk = Desk::open().await;
    desk.placed(&desk.workspace.live, "1234").await;
    desk.app.advance(12).await;
    let stale = || async { desk.app.app().store.read(store::analytics::oldest_change).await.unwrap() };
    assert_eq!(stale().await, Some(desk.noon.plus(10 * SECOND)));
    desk.app.advance(600).await;
    assert_eq!(stale().await, None);
    assert_eq!(figures(&desk, "").await["totals"]["calls"], 1);
}
