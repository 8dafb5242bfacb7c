//! What follows from changed retry settings, from the end of a campaign and from a carrier that refuses, for people who were
//! tried (docs/contract/campaigns.md#rows); the figures of a campaign; runs that are asked for.

use serde_json::{Value, json};

use crate::shows::Shows;
use crate::world::{World, shown_row};

/// Nobody answers.
const NOBODY: &str = "9812340000";
/// The carrier refuses before any ring.
const REFUSED: &str = "9812346666";

async fn change(world: &World, id: &str, settings: Value) {
    let body = json!({"settings": settings});
    world.put(&format!("/v1/campaigns/{id}"), &body).await.expect(200);
    world.advance(0).await;
}

#[tokio::test]
async fn fewer_retries_hold_for_who_was_tried() {
    let world = World::monday().await;
    let id = world.campaign(&json!({"retryCount": 3, "cooldownMinutes": 30}), &[NOBODY]).await;
    world.advance(60).await;
    assert_eq!(world.summary(&id).await["progress"]["retryable"], 1);
    assert_eq!(world.row(&id).await["boardColumn"], "new");
    change(&world, &id, json!({"retryCount": 0})).await;
    let progress = world.summary(&id).await["progress"].clone();
    assert_eq!((&progress["retryable"], &progress["unreached"]), (&json!(0), &json!(1)));
    assert_eq!(world.row(&id).await["boardColumn"], "no_contact", "nobody calls again");
    assert_eq!(world.status(&id).await, "completed", "nobody is left");
    world.advance(3 * 86_400).await;
    assert_eq!(world.campaign_calls(&id).await.len(), 1);
}

#[tokio::test]
async fn more_retries_and_another_pause_hold_for_who_was_tried() {
    let world = World::monday().await;
    // Somebody whom the carrier refuses keeps it from its end.
    let id = world.campaign(&json!({}), &[NOBODY, REFUSED]).await;
    world.advance(60).await;
    let ended = world.campaign_calls(&id).await[0]["endedAt"].as_str().unwrap().to_owned();
    let ended = domain::time::Timestamp::parse(&ended).unwrap();
    assert_eq!(shown_row(&world.row(&id).await), "unreached no_answer 1 -");
    assert_eq!(world.summary(&id).await["progress"]["retryable"], 0);
    change(&world, &id, json!({"retryCount": 1, "cooldownMinutes": 120})).await;
    assert_eq!(world.summary(&id).await["progress"]["retryable"], 1);
    change(&world, &id, json!({"cooldownMinutes": 10})).await;
    let due = ended.plus(10 * 60_000);
    world.set_clock(&due.plus(-1).to_string()).await;
    assert_eq!(world.campaign_calls(&id).await.len(), 1, "not before the pause is over");
    world.set_clock(&due.to_string()).await;
    assert_eq!(world.campaign_calls(&id).await.len(), 2, "ten minutes after the end of the last call");
    world.advance(60).await;
    assert_eq!(shown_row(&world.row(&id).await), "unreached no_answer 2 -");
    assert_eq!(world.summary(&id).await["progress"]["retryable"], 0);
}

#[tokio::test]
async fn a_long_list_is_held_against_changed_settings_in_pieces() {
    let world = World::monday().await;
    let id = world.draft(&json!({"retryCount": 3, "cooldownMinutes": 600}), &[]).await;
    // Whom nobody can call comes first.
    let mut rows = vec![json!({"phone": "no number"}); 2_500];
    rows.push(json!({"phone": NOBODY}));
    let path = format!("/v1/campaigns/{id}/contacts");
    world.post(&path, &json!({"contacts": rows})).await.expect(200);
    world.set(&id, "active").await.expect(200);
    world.advance(60).await;
    assert_eq!(world.summary(&id).await["progress"]["retryable"], 1);
    world.set(&id, "paused").await.expect(200);
    change(&world, &id, json!({"retryCount": 0})).await;
    assert_eq!(world.summary(&id).await["progress"]["retryable"], 0, "also while it is paused");
    assert_eq!(world.status(&id).await, "paused");
    change(&world, &id, json!({"retryCount": 1, "cooldownMinutes": 0})).await;
    world.set(&id, "active").await.expect(200);
    world.advance(60).await;
    assert_eq!(world.campaign_calls(&id).await.len(), 2);
    assert_eq!(world.status(&id).await, "completed");
}

#[tokio::test]
async fn who_was_tried_is_given_up_when_the_campaign_is_ended() {
    let world = World::monday().await;
    let settings = json!({"retryCount": 3, "cooldownMinutes": 60});
    let asked = world.campaign(&settings, &[NOBODY]).await;
    let mut dated = settings.clone();
    dated["endAt"] = json!("2027-03-01T07:00:00Z");
    let ends = world.campaign(&dated, &["9812350000"]).await;
    world.advance(60).await;
    for id in [&asked, &ends] {
        world.row(id).await.shows(json!({"boardColumn": "new"}));
        world.summary(id).await.shows(json!({"progress.retryable": 1}));
    }
    world.set(&asked, "completed").await.expect(200);
    world.set_clock("2027-03-01T07:00:00Z").await;
    for id in [&asked, &ends] {
        assert_eq!(world.status(id).await, "completed");
        let progress = world.summary(id).await["progress"].clone();
        assert_eq!((&progress["retryable"], &progress["unreached"]), (&json!(0), &json!(1)));
        assert_eq!(world.row(id).await["boardColumn"], "no_contact");
    }
    let refused = world.run(&asked).await.conflict();
    assert_eq!(refused["error"], "the campaign is completed; create a new one");
    world.advance(86_400).await;
    assert_eq!((world.campaign_calls(&asked).await.len(), world.campaign_calls(&ends).await.len()), (1, 1));
}

#[tokio::test]
async fn a_call_that_ends_after_the_campaign_is_not_repeated() {
    let world = World::monday().await;
    let id = world.campaign(&json!({"retryCount": 3}), &[NOBODY]).await;
    world.set(&id, "completed").await.expect(200);
    world.advance(60).await;
    assert_eq!(shown_row(&world.row(&id).await), "unreached no_answer 1 -");
    assert_eq!(world.summary(&id).await["progress"]["retryable"], 0);
    assert_eq!(world.row(&id).await["boardColumn"], "no_contact");
}

#[tokio::test]
async fn the_figures_of_a_campaign_are_those_over_its_calls() {
    let world = World::monday().await;
    // One talks, one is a machine, one does not answer, one is busy, one the carrier refuses.
    let phones = ["9812340001", "9812343333", NOBODY, "9812341111", REFUSED];
    let id = world.campaign(&json!({}), &phones).await;
    for seconds in [3, 2, 60] {
        world.advance(seconds).await;
        let totals =
            world.get(&format!("/v1/analytics/calls?campaignId={id}")).await["data"]["totals"].clone();
        let summary = world.summary(&id).await;
        assert_eq!(summary["connectRate"], totals["connectRate"], "{totals}");
        if seconds == 60 {
            assert_eq!(summary["avgCallSeconds"], totals["avgTalkSeconds"]);
            assert_eq!((&totals["calls"], &totals["answered"]), (&json!(4), &json!(2)));
            assert_eq!(totals["peopleReached"], 1, "a machine is nobody");
        }
    }
}

#[tokio::test]
async fn a_run_is_the_session_that_is_under_way() {
    let world = World::monday().await;
    let id = world.campaign(&json!({}), &["9812340001"]).await;
    let answer = world.run(&id).await.data(202);
    world.advance(0).await;
    let runs = world.runs(&id).await;
    assert_eq!((runs.len(), &runs[0]["id"], &answer["status"]), (1, &answer["runId"], &json!("running")));
    world.advance(60).await;
    assert_eq!(world.shown_runs(&id).await, ["schedule completed - 1/1/0"]);
}
