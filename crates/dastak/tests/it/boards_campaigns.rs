//! Boards of campaigns that really dial, and automations under a store that fails
//! (docs/contract/boards.md#sorting, #no-loops).

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use store::DbError;
use store::db::{CallSite, Fate, Faults, Pause};

use crate::boards::id_of;
use crate::shows::Shows;
use crate::world::World;

const ANSWERS: &str = "+919812301234";
const NOBODY: &str = "+919812300000";
const OPTS_OUT: &str = "+919812307777";
const ON_REGISTRY: &str = "+919812302222";

impl World {
    /// Where each number of the list stands.
    async fn places(&self, campaign: &str) -> Vec<(String, Value)> {
        let rows = self.rows(campaign).await;
        rows.iter()
            .map(|row| (row["phone"].as_str().unwrap().to_owned(), row["boardColumn"].clone()))
            .collect()
    }

    /// Every conversation is a win, and a win does this.
    async fn on_winning(&self, campaign: &str, automations: Value) {
        let board = self.board(campaign).await["boardId"].as_str().unwrap().to_owned();
        let path = format!("/boards/{board}");
        let mut columns =
            self.operator("GET", &path, Value::Null).await.expect(200)["data"]["columns"].clone();
        columns[3]["rules"] = json!([{"all": [{"variable": "outcome", "value": "simulated"}]}]);
        columns[3]["automations"] = automations;
        self.operator("PUT", &path, json!({"columns": columns})).await.expect(200);
    }

    async fn actions(&self, campaign: &str) -> Vec<String> {
        let board = self.board(campaign).await["boardId"].as_str().unwrap().to_owned();
        let mut found = Vec::new();
        for card in self.cards(campaign).await {
            found.extend(self.card_actions(&board, &card).await);
        }
        found
    }
}

#[tokio::test]
async fn a_campaign_fills_its_board() {
    let world = World::monday().await;
    let campaign = world
        .campaign(&json!({"retryCount": 1, "cooldownMinutes": 10}), &[ANSWERS, NOBODY, OPTS_OUT, ON_REGISTRY])
        .await;
    let ringing = world.column_counts(&campaign).await;
    assert_eq!(ringing, ["new:3"], "whom the registry forbids is not called");
    world.advance(60).await;
    assert_eq!(world.column_counts(&campaign).await, ["new:1", "open:1", "dnc:1"]);
    let place = |phone: &str, column: Value| (phone.to_owned(), column);
    assert_eq!(
        world.places(&campaign).await,
        [
            place(ANSWERS, json!("open")),
            place(NOBODY, json!("new")),
            place(OPTS_OUT, json!("dnc")),
            place(ON_REGISTRY, Value::Null)
        ]
    );
    world.advance(20 * 60).await;
    assert_eq!(
        world.column_counts(&campaign).await,
        ["open:1", "dnc:1", "no_contact:1"],
        "no attempt is left"
    );
    let summary = world.summary(&campaign).await;
    assert_eq!(summary["funnel"], json!({"contacted": 2, "advancing": 0, "won": 0, "lost": 0}));
    let calls = world.campaign_calls(&campaign).await;
    for card in world.cards(&campaign).await {
        let last = calls.iter().find(|call| call["contactId"] == card["contactId"]).unwrap();
        // Newest first.
        card.shows(json!({"lastCallId": last["id"], "lastCallAt": last["startedAt"]}));
    }
}

#[tokio::test]
async fn a_person_goes_over_to_another_campaign_and_not_back() {
    let world = World::monday().await;
    let one = world.draft(&json!({}), &[ANSWERS]).await;
    let other = world.draft(&json!({}), &[NOBODY]).await;
    world.on_winning(&one, json!([{"type": "add_to_campaign", "campaignId": other}])).await;
    world.on_winning(&other, json!([{"type": "add_to_campaign", "campaignId": one}])).await;
    world.set(&one, "active").await.expect(200);
    world.advance(60).await;
    assert_eq!(world.actions(&one).await, ["add_to_campaign done -"]);
    assert_eq!(world.rows(&other).await.len(), 2);
    // The first campaign would take the person again: it begins anew with another list.
    let one_again = world.draft(&json!({}), &[NOBODY]).await;
    world
        .on_winning(&other, json!([{"type": "add_to_campaign", "campaignId": one_again}, {"type": "event"}]))
        .await;
    world.set(&other, "active").await.expect(200);
    world.advance(60).await;
    assert_eq!(world.campaign_calls(&other).await.len(), 2);
    let mut actions = world.actions(&other).await;
    actions.sort();
    assert_eq!(actions, ["add_to_campaign skipped depth", "event done -"]);
    assert_eq!(world.rows(&one_again).await.len(), 1);
    assert_eq!(world.outbox_of("board.card_moved").await.len(), 1);
}

#[tokio::test]
async fn a_list_that_is_replaced_keeps_the_cards() {
    let world = World::monday().await;
    let campaign = world.campaign(&json!({"retryCount": 5, "cooldownMinutes": 60}), &[ANSWERS, NOBODY]).await;
    world.advance(60).await;
    world.set(&campaign, "paused").await.expect(200);
    let rows = json!({"contacts": [{"phone": ANSWERS}]});
    let path = format!("/v1/campaigns/{campaign}/contacts");
    world.post(&path, &rows).await.expect(200);
    world.set(&campaign, "active").await.expect(200);
    world.advance(60).await;
    assert_eq!(world.column_counts(&campaign).await, ["new:1", "open:1"], "a person is one card");
    assert_eq!(world.campaign_calls(&campaign).await.len(), 3);
}

/// Fates of the next transactions that carry out automations.
#[derive(Default)]
struct Fates(Mutex<VecDeque<Fate>>);

impl Faults for Fates {
    fn before(&self, place: CallSite) -> Pause<'_, Fate> {
        let theirs = place.file().ends_with("boards/src/actions.rs");
        let fate = if theirs { self.0.lock().unwrap().pop_front() } else { None };
        Box::pin(std::future::ready(fate.unwrap_or(Fate::Untouched)))
    }
}

#[tokio::test]
async fn an_automation_is_carried_out_once_whatever_the_store_says() {
    let away = || Fate::Refused(DbError::Unavailable("as the test wants it".into()));
    for fates in
        [vec![Fate::Unheard], vec![away()], vec![away(), Fate::Unheard], vec![Fate::Unheard, Fate::Unheard]]
    {
        let world = World::monday().await;
        let other = world.draft(&json!({}), &[NOBODY]).await;
        let campaign = world.draft(&json!({}), &[ANSWERS]).await;
        let automations = json!([
            {"type": "event"}, {"type": "nudge", "agentId": world.agent}, {"type": "add_to_campaign", "campaignId": other},
        ]);
        world.on_winning(&campaign, automations).await;
        let faults = Arc::new(Fates::default());
        world.app().store.fail_as(faults.clone());
        faults.0.lock().unwrap().extend(fates);
        world.set(&campaign, "active").await.expect(200);
        world.advance(60).await;
        assert!(faults.0.lock().unwrap().is_empty(), "they were met");
        assert_eq!(
            world.actions(&campaign).await,
            ["event done -", "nudge done -", "add_to_campaign done -"]
        );
        let nudges = world.get("/v1/nudges").await["data"].as_array().unwrap().len();
        assert_eq!(
            (world.outbox_of("board.card_moved").await.len(), nudges, world.rows(&other).await.len()),
            (1, 1, 2)
        );
    }
}

#[tokio::test]
async fn moves_by_hand_while_the_campaign_dials_keep_the_counters_true() {
    let world = World::monday().await;
    let phones: Vec<String> = (0..8).map(|n| format!("+91981231{n}234")).collect();
    let phones: Vec<&str> = phones.iter().map(String::as_str).collect();
    let campaign = world.campaign(&json!({}), &phones).await;
    let board = world.board(&campaign).await;
    let cards = world.cards(&campaign).await;
    for (card, key) in cards.iter().zip(["won", "lost", "won", "advancing"]) {
        let path = format!("/v1/campaigns/{campaign}/board/cards/{}", card["id"].as_str().unwrap());
        let body = json!({"columnId": id_of(&board, key)});
        world.patch(&path, &body).await.expect(200);
        world.advance(4).await;
    }
    world.advance(60).await;
    let counts = world.column_counts(&campaign).await;
    let total: usize =
        counts.iter().map(|count| count.split(':').nth(1).unwrap().parse::<usize>().unwrap()).sum();
    assert_eq!(total, world.cards(&campaign).await.len(), "{counts:?}");
    for column in world.board(&campaign).await["columns"].as_array().unwrap() {
        let path = format!("/v1/campaigns/{campaign}/board/cards?column={}", column["id"].as_str().unwrap());
        assert_eq!(
            world.get(&path).await["data"].as_array().unwrap().len() as i64,
            column["count"],
            "{column}"
        );
    }
}
