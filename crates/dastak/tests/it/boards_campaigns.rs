//! Boards of campaigns that really dial, and automations under a store that fails
//! (docs/contract/boards.md#sorting, #no-loops).

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use store::DbError;
use store::db::{Fate, Faults, Pause, Place};

use crate::boards::id_of;
use crate::campaign_dialling::Kit;

const ANSWERS: &str = "+919812301234";
const NOBODY: &str = "+919812300000";
const OPTS_OUT: &str = "+919812307777";
const ON_REGISTRY: &str = "+919812302222";

impl Kit {
    async fn board(&self, campaign: &str) -> Value {
        self.get(&format!("/v1/campaigns/{campaign}/board")).await["data"].clone()
    }

    async fn counts(&self, campaign: &str) -> Vec<String> {
        let board = self.board(campaign).await;
        let columns = board["columns"].as_array().unwrap().iter().filter(|column| column["count"] != 0);
        columns.map(|column| format!("{}:{}", column["key"].as_str().unwrap(), column["count"])).collect()
    }

    async fn cards(&self, campaign: &str) -> Vec<Value> {
        self.get(&format!("/v1/campaigns/{campaign}/board/cards")).await["data"].as_array().unwrap().clone()
    }

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
        let path = format!("/workspaces/{}/boards/{board}", self.workspace.id);
        let mut columns =
            self.app.operator("GET", &path, &Value::Null).await.expect(200)["data"]["columns"].clone();
        columns[3]["rules"] = json!([{"all": [{"variable": "outcome", "value": "simulated"}]}]);
        columns[3]["automations"] = automations;
        self.app.operator("PUT", &path, &json!({"columns": columns})).await.expect(200);
    }

    async fn actions(&self, campaign: &str) -> Vec<String> {
        let board = self.board(campaign).await["boardId"].as_str().unwrap().to_owned();
        let word = |value: &Value| value.as_str().unwrap_or("-").to_owned();
        let mut found = Vec::new();
        for card in self.cards(campaign).await {
            let path = format!(
                "/workspaces/{}/boards/{board}/cards/{}",
                self.workspace.id,
                card["id"].as_str().unwrap()
            );
            let detail = self.app.operator("GET", &path, &Value::Null).await.data(200);
            let line = |action: &Value| {
                format!("{} {} {}", word(&action["type"]), word(&action["status"]), word(&action["error"]))
            };
            found.extend(detail["automations"].as_array().unwrap().iter().map(line));
        }
        found
    }
}

#[tokio::test]
async fn a_campaign_fills_its_board() {
    let kit = Kit::start().await;
    let campaign = kit
        .campaign(&json!({"retryCount": 1, "cooldownMinutes": 10}), &[ANSWERS, NOBODY, OPTS_OUT, ON_REGISTRY])
        .await;
    let ringing = kit.counts(&campaign).await;
    assert_eq!(ringing, ["new:3"], "whom the registry forbids is not called");
    kit.app.advance(60).await;
    assert_eq!(kit.counts(&campaign).await, ["new:1", "open:1", "dnc:1"]);
    let place = |phone: &str, column: Value| (phone.to_owned(), column);
    assert_eq!(
        kit.places(&campaign).await,
        [
            place(ANSWERS, json!("open")),
            place(NOBODY, json!("new")),
            place(OPTS_OUT, json!("dnc")),
            place(ON_REGISTRY, Value::Null)
        ]
    );
    kit.app.advance(20 * 60).await;
    assert_eq!(kit.counts(&campaign).await, ["open:1", "dnc:1", "no_contact:1"], "no attempt is left");
    let summary = kit.summary(&campaign).await;
    assert_eq!(summary["funnel"], json!({"contacted": 2, "advancing": 0, "won": 0, "lost": 0}));
    let calls = kit.calls(&campaign).await;
    for card in kit.cards(&campaign).await {
        let last = calls.iter().find(|call| call["contactId"] == card["contactId"]).unwrap();
        assert_eq!(
            (&card["lastCallId"], &card["lastCallAt"]),
            (&last["id"], &last["startedAt"]),
            "newest first"
        );
    }
}

#[tokio::test]
async fn a_person_goes_over_to_another_campaign_and_not_back() {
    let kit = Kit::start().await;
    let one = kit.draft(&json!({}), &[ANSWERS]).await;
    let other = kit.draft(&json!({}), &[NOBODY]).await;
    kit.on_winning(&one, json!([{"type": "add_to_campaign", "campaignId": other}])).await;
    kit.on_winning(&other, json!([{"type": "add_to_campaign", "campaignId": one}])).await;
    kit.set(&one, "active").await.expect(200);
    kit.app.advance(60).await;
    assert_eq!(kit.actions(&one).await, ["add_to_campaign done -"]);
    assert_eq!(kit.rows(&other).await.len(), 2);
    // The first campaign would take the person again: it begins anew with another list.
    let one_again = kit.draft(&json!({}), &[NOBODY]).await;
    kit.on_winning(&other, json!([{"type": "add_to_campaign", "campaignId": one_again}, {"type": "event"}]))
        .await;
    kit.set(&other, "active").await.expect(200);
    kit.app.advance(60).await;
    assert_eq!(kit.calls(&other).await.len(), 2);
    let mut actions = kit.actions(&other).await;
    actions.sort();
    assert_eq!(actions, ["add_to_campaign skipped depth", "event done -"]);
    assert_eq!(kit.rows(&one_again).await.len(), 1);
    assert_eq!(kit.events("board.card_moved").await.len(), 1);
}

#[tokio::test]
async fn a_list_that_is_replaced_keeps_the_cards() {
    let kit = Kit::start().await;
    let campaign = kit.campaign(&json!({"retryCount": 5, "cooldownMinutes": 60}), &[ANSWERS, NOBODY]).await;
    kit.app.advance(60).await;
    kit.set(&campaign, "paused").await.expect(200);
    let rows = json!({"contacts": [{"phone": ANSWERS}]});
    let path = format!("/v1/campaigns/{campaign}/contacts");
    kit.app.post(&kit.workspace.live, &path, &rows).await.expect(200);
    kit.set(&campaign, "active").await.expect(200);
    kit.app.advance(60).await;
    assert_eq!(kit.counts(&campaign).await, ["new:1", "open:1"], "a person is one card");
    assert_eq!(kit.calls(&campaign).await.len(), 3);
}

/// Fates of the next transactions that carry out automations.
#[derive(Default)]
struct Fates(Mutex<VecDeque<Fate>>);

impl Faults for Fates {
    fn before(&self, place: Place) -> Pause<'_, Fate> {
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
        let kit = Kit::start().await;
        let other = kit.draft(&json!({}), &[NOBODY]).await;
        let campaign = kit.draft(&json!({}), &[ANSWERS]).await;
        let automations = json!([
            {"type": "event"}, {"type": "nudge", "agentId": kit.agent}, {"type": "add_to_campaign", "campaignId": other},
        ]);
        kit.on_winning(&campaign, automations).await;
        let faults = Arc::new(Fates::default());
        kit.app.app().store.fail_as(faults.clone());
        faults.0.lock().unwrap().extend(fates);
        kit.set(&campaign, "active").await.expect(200);
        kit.app.advance(60).await;
        assert!(faults.0.lock().unwrap().is_empty(), "they were met");
        assert_eq!(kit.actions(&campaign).await, ["event done -", "nudge done -", "add_to_campaign done -"]);
        let nudges = kit.get("/v1/nudges").await["data"].as_array().unwrap().len();
        assert_eq!(
            (kit.events("board.card_moved").await.len(), nudges, kit.rows(&other).await.len()),
            (1, 1, 2)
        );
    }
}

#[tokio::test]
async fn moves_by_hand_while_the_campaign_dials_keep_the_counters_true() {
    let kit = Kit::start().await;
    let phones: Vec<String> = (0..8).map(|n| format!("+91981231{n}234")).collect();
    let phones: Vec<&str> = phones.iter().map(String::as_str).collect();
    let campaign = kit.campaign(&json!({}), &phones).await;
    let board = kit.board(&campaign).await;
    let cards = kit.cards(&campaign).await;
    for (card, key) in cards.iter().zip(["won", "lost", "won", "advancing"]) {
        let path = format!("/v1/campaigns/{campaign}/board/cards/{}", card["id"].as_str().unwrap());
        let body = json!({"columnId": id_of(&board, key)});
        kit.app.patch(&kit.workspace.live, &path, &body).await.expect(200);
        kit.app.advance(4).await;
    }
    kit.app.advance(60).await;
    let counts = kit.counts(&campaign).await;
    let total: usize =
        counts.iter().map(|count| count.split(':').nth(1).unwrap().parse::<usize>().unwrap()).sum();
    assert_eq!(total, kit.cards(&campaign).await.len(), "{counts:?}");
    for column in kit.board(&campaign).await["columns"].as_array().unwrap() {
        let path = format!("/v1/campaigns/{campaign}/board/cards?column={}", column["id"].as_str().unwrap());
        assert_eq!(
            kit.get(&path).await["data"].as_array().unwrap().len() as i64,
            column["count"],
            "{column}"
        );
    }
}
