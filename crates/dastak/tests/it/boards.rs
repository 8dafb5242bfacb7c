//! Outcome boards (docs/contract/boards.md): columns, cards, sorting, moves. What columns do with cards is in
//! `boards_automations`, the operator's side in `boards_settings`.

use std::sync::Arc;

use dastak::app::calls::{self, Caller, Welcome};
use domain::call::{EndCause, Fact, Report};
use domain::ids::{Call, Campaign, Id};
use domain::ports::{Analysis, Chosen};
use serde_json::{Value, json};

use crate::after_call::{Held, Reader, talk};
use crate::shows::Shows;
use crate::world::{World, leads_to};

/// A workspace with a campaign, an agent that answers its number, a carrier that the test plays, and perhaps a
/// model.
pub struct Kit {
    pub held: Held,
    pub campaign: String,
}

leads_to!(Kit, held: Held);

impl Kit {
    pub async fn open() -> Self {
        Self::open_with(None).await
    }

    pub async fn open_with(model: Option<Arc<Reader>>) -> Self {
        let held = Held::open(model).await;
        let mut kit = Self { held, campaign: String::new() };
        kit.campaign = kit.new_board("collections").await;
        kit
    }

    pub async fn new_board(&self, workflow: &str) -> String {
        let path = self.new_campaign(json!({"workflowType": workflow})).await;
        path.rsplit('/').next().unwrap().to_owned()
    }

    /// The id of a column by its key.
    pub async fn column(&self, key: &str) -> String {
        id_of(&self.board(&self.campaign).await, key)
    }

    /// The only card, and the key of its column.
    pub async fn card(&self) -> (Value, String) {
        let (cards, board) = (self.cards(&self.campaign).await, self.board(&self.campaign).await);
        let [card] = &cards[..] else { panic!("one card expected: {cards:?}") };
        let column = board["columns"].as_array().unwrap().iter().find(|one| one["id"] == card["columnId"]);
        (card.clone(), column.unwrap()["key"].as_str().unwrap().to_owned())
    }

    /// A call of the campaign that rings.
    pub async fn rings(&self, digits: &str) -> String {
        self.rings_for(&self.campaign, digits).await
    }

    pub async fn rings_for(&self, campaign: &str, digits: &str) -> String {
        let call = self.held.world.placed(self.live(), digits).await;
        belongs_to(self, &call, campaign).await;
        call
    }

    /// A call of the campaign that nobody answered.
    pub async fn missed(&self, digits: &str) -> String {
        let call = self.rings(digits).await;
        self.end(&call, Fact::NoAnswer, Report::default()).await;
        call
    }

    /// A call of the campaign with this outcome of its flow.
    pub async fn talked(&self, digits: &str, outcome: &str) -> String {
        let call = self.rings(digits).await;
        self.answer(&call).await;
        self.advance(10).await;
        let outcome = Some(outcome.to_owned()).filter(|outcome| !outcome.is_empty());
        self.end(&call, Fact::Ended(EndCause::AgentEnded), Report { outcome, ..talk() }).await;
        call
    }

    pub async fn to_column(&self, card: &Value, key: &str) -> crate::app::Answer {
        let path = format!("/v1/campaigns/{}/board/cards/{}", self.campaign, card["id"].as_str().unwrap());
        self.patch(&path, &json!({"columnId": self.column(key).await})).await
    }

    /// An agent that answers the workspace's number, and that number.
    async fn reception(&self) -> (String, String) {
        let agent = self.agent(&json!({"systemPrompt": "You are Asha.", "direction": "inbound"})).await;
        let number = self.answers_number(&agent).await;
        (agent, number)
    }

    /// The counters of the columns are what counting their cards gives.
    pub async fn recount(&self) {
        let board = self.board(&self.campaign).await;
        let cards = self.cards(&self.campaign).await;
        for column in board["columns"].as_array().unwrap() {
            let counted = cards.iter().filter(|card| card["columnId"] == column["id"]).count();
            assert_eq!(column["count"], counted, "{column}");
        }
        let tenant = self.tenant();
        let wrong: Vec<String> = self
            .stored(move |tx| {
                tx.all(
                    "select c.slug from board_columns c where c.workspace = ?1 and c.reached <> \
                     (select count(*) from board_cards k where k.column_id = c.id and k.reached = 1)",
                    store::params![tenant],
                )
            })
            .await;
        assert!(wrong.is_empty(), "reached of {wrong:?}");
    }
}

/// Makes a call that has just begun to ring one of a campaign.
pub async fn belongs_to(world: &World, call: &str, campaign: &str) {
    let (id, tenant): (Id<Call>, _) = (call.parse().unwrap(), world.tenant());
    let (campaign, env): (Id<Campaign>, _) = (campaign.parse().unwrap(), world.app().call_env());
    let of_campaign = move |tx: &mut store::Tx<'_>| {
        let sql = "update calls set campaign = ?3 where workspace = ?1 and id = ?2";
        tx.exec(sql, store::params![tenant, id, campaign])?;
        let row = store::calls::find(&mut tx.of(tenant), id)?.expect("the call");
        ::boards::call_fact(tx, &env, &row, Fact::Ringing)
    };
    world.store(of_campaign).await;
}

/// Brings a person onto the board of a campaign; the ids of board and card.
pub async fn with_a_card(world: &World, agent: &str, campaign: &str) -> (String, String) {
    let order = json!({"agentId": agent, "toNumber": "+919812307000"});
    let call = world.post("/v1/calls", &order).await.expect(200);
    belongs_to(world, call["interactionId"].as_str().unwrap(), campaign).await;
    let board = world.get(&format!("/v1/campaigns/{campaign}/board")).await;
    let cards = world.get(&format!("/v1/campaigns/{campaign}/board/cards")).await;
    let id = |value: &Value| value.as_str().expect("an id").to_owned();
    (id(&board["data"]["boardId"]), id(&cards["data"][0]["id"]))
}

pub fn id_of(board: &Value, key: &str) -> String {
    let column = board["columns"].as_array().unwrap().iter().find(|column| column["key"] == key);
    column.unwrap_or_else(|| panic!("no column {key}: {board}"))["id"].as_str().unwrap().to_owned()
}

pub fn analysis(outcome: &str, chosen: Option<(&str, f64)>) -> Analysis {
    Analysis {
        summary: "They talked.".into(),
        outcome: Some(outcome.to_owned()).filter(|outcome| !outcome.is_empty()),
        chosen: chosen.map(|(key, confidence)| Chosen { key: key.into(), confidence }),
        ..Analysis::default()
    }
}

fn names(board: &Value) -> Vec<&str> {
    board["columns"].as_array().unwrap().iter().map(|column| column["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn every_campaign_and_every_inbound_agent_has_one_board() {
    let kit = Kit::open().await;
    let board = kit.board(&kit.campaign).await;
    assert!(board["boardId"].as_str().unwrap().starts_with("brd_"));
    let keys: Vec<(&str, &str)> = board["columns"]
        .as_array()
        .unwrap()
        .iter()
        .map(|column| (column["key"].as_str().unwrap(), column["type"].as_str().unwrap()))
        .collect();
    let types = ["new", "open", "advancing", "won", "lost", "dnc", "no_contact"];
    assert_eq!(keys, types.map(|kind| (kind, kind)));
    assert_eq!(
        names(&board),
        ["New", "Contacted", "Promised to pay", "Paid", "Refused", "Do not call", "No contact"]
    );
    assert!(board["columns"].as_array().unwrap().iter().all(|column| column["count"] == 0));
    assert_eq!(kit.board(&kit.campaign).await, board, "the same the next time");
    let path = format!("/v1/campaigns/{}/board", kit.campaign);
    let test = kit.test();
    assert_eq!(kit.app.get(test, &path).await.expect(200)["data"], board, "test keys read boards");
    let other = kit.new_board("onboarding").await;
    let other = kit.board(&other).await;
    assert_eq!(
        names(&other),
        ["New", "Contacted", "In progress", "Onboarded", "Not interested", "Do not call", "No contact"]
    );
    assert_ne!(other["boardId"], board["boardId"]);

    let (agent, _) = kit.reception().await;
    let of_agent = kit.get(&format!("/v1/agents/{agent}/board")).await;
    assert_eq!(
        names(&of_agent["data"]),
        ["New", "Contacted", "In progress", "Won", "Lost", "Do not call", "No contact"]
    );
    for path in [
        format!("/v1/agents/{}/board", kit.agent),
        format!("/v1/agents/{}/board/cards", kit.agent),
        "/v1/agents/agt_01k9v5x2m8e6fs4v0q3n7w1y2z/board".into(),
        "/v1/campaigns/cmp_01k9v5x2m8e6fs4v0q3n7w1y2z/board".into(),
        "/v1/campaigns/nonsense/board/cards".into(),
    ] {
        kit.fetch(&path).await.not_found();
    }
}

#[tokio::test]
async fn a_board_that_is_needed_twice_at_once_is_one() {
    let kit = Kit::open().await;
    let (app, path) = (&kit.app, format!("/v1/campaigns/{}/board", kit.campaign));
    let ask = async || app.get(kit.live(), &path).await.expect(200)["data"]["boardId"].clone();
    let (one, two, three) = tokio::join!(ask(), ask(), ask());
    assert_eq!((&one, &one), (&two, &three));
}

#[tokio::test]
async fn a_campaign_of_an_older_store_gets_its_board() {
    let kit = Kit::open().await;
    // As if it had been made before there were boards: nothing but the campaign is there.
    let tenant = kit.tenant();
    let boards: Vec<String> = kit
        .stored(move |tx| tx.all("select id from boards where workspace = ?1", store::params![tenant]))
        .await;
    assert!(boards.is_empty(), "a board is made when it is first needed");
    kit.missed("0001").await;
    assert_eq!(kit.column_counts(&kit.campaign).await, ["new:1"]);
}

#[tokio::test]
async fn boards_can_be_off() {
    let kit = Kit::open().await;
    kit.missed("0001").await;
    let (card, _) = kit.card().await;
    kit.feature("boards", false).await;
    let board = format!("/v1/campaigns/{}/board", kit.campaign);
    let card = format!("{board}/cards/{}", card["id"].as_str().unwrap());
    for path in [board.clone(), format!("{board}/cards")] {
        kit.fetch(&path).await.refused(403, "plan_feature_locked");
    }
    let body = json!({"columnId": "col_01k9v5x2m8e6fs4v0q3n7w1y2z"});
    kit.patch(&card, &body).await.refused(403, "plan_feature_locked");
}

#[tokio::test]
async fn a_person_is_one_card_and_each_call_moves_it() {
    let kit = Kit::open().await;
    let first = kit.rings("0001").await;
    let (card, column) = kit.card().await;
    assert_eq!(column, "new");
    card.shows(json!({"status": "placed", "lastCallId": first}));
    assert_eq!(card["contactPhone"], "+919812300001");
    for field in ["confidence", "suggestedColumnId", "lastSummary", "attentionReason", "contactName"] {
        assert_eq!(card[field], Value::Null, "{field}");
    }
    assert_eq!(card["enteredColumnAt"], kit.now().await);
    kit.end(&first, Fact::NoAnswer, Report::default()).await;
    assert_eq!(kit.card().await.1, "new", "more attempts may come");
    let second = kit.talked("0001", "interested").await;
    let (card, column) = kit.card().await;
    assert_eq!(column, "advancing");
    card.shows(json!({"confidence": 1.0, "lastCallId": second}));
    assert_eq!(card["enteredColumnAt"], kit.now().await);
    // No more than three dials a day.
    kit.advance(86_400).await;
    kit.talked("0001", "paid").await;
    assert_eq!(kit.card().await.1, "won");
    let missed = kit.missed("0001").await;
    let (card, column) = kit.card().await;
    assert_eq!((column.as_str(), &card["lastCallId"]), ("won", &json!(missed)), "it was not moved back");
    kit.talked("0002", "not_interested").await;
    kit.talked("0003", "").await;
    kit.missed("0004").await;
    assert_eq!(kit.column_counts(&kit.campaign).await, ["new:1", "open:1", "won:1", "lost:1"]);
    kit.recount().await;
}

#[tokio::test]
async fn an_opt_out_is_sorted_at_once_and_voicemail_is_nobody() {
    let reader = Reader::of([]);
    let kit = Kit::open_with(Some(reader)).await;
    let call = kit.rings("0001").await;
    kit.answer(&call).await;
    kit.say(&call, Fact::OptOutSaid).await;
    kit.end(&call, Fact::Ended(EndCause::AgentEnded), talk()).await;
    assert_eq!(kit.card().await.1, "dnc", "although the analysis is still to come");
    let call = kit.rings("0002").await;
    kit.end(&call, Fact::Voicemail, Report::default()).await;
    assert_eq!(kit.column_counts(&kit.campaign).await, ["new:1", "dnc:1"]);
    kit.recount().await;
}

#[tokio::test]
async fn calls_of_test_keys_and_calls_without_a_campaign_make_no_cards() {
    let kit = Kit::open().await;
    let call = kit.placed().await;
    kit.end(&call, Fact::NoAnswer, Report::default()).await;
    let test = kit.held.world.placed(kit.test(), "0001").await;
    let (id, tenant): (Id<Call>, _) = (test.parse().unwrap(), kit.tenant());
    let campaign: Id<Campaign> = kit.campaign.parse().unwrap();
    let of_campaign = move |tx: &mut store::Tx<'_>| {
        let sql = "update calls set campaign = ?3 where workspace = ?1 and id = ?2";
        tx.exec(sql, store::params![tenant, id, campaign]).map(|_| ())
    };
    kit.store(of_campaign).await;
    kit.advance(60).await;
    assert_eq!(kit.cards(&kit.campaign).await, Vec::<Value>::new());
}

#[tokio::test]
async fn the_model_moves_cards_when_it_is_sure() {
    let reader = Reader::of([
        Ok(analysis("", Some(("won", 0.9)))),
        Ok(analysis("", Some(("lost", 0.4)))),
        Ok(analysis("refused", Some(("lost", 0.4)))),
        Ok(analysis("interested", None)),
    ]);
    let kit = Kit::open_with(Some(reader.clone())).await;
    kit.talked("0001", "").await;
    let offered: Vec<String> =
        reader.orders.lock().unwrap()[0].choices.iter().map(|choice| choice.key.clone()).collect();
    assert_eq!(offered, ["open", "advancing", "won", "lost"]);
    let (card, column) = kit.card().await;
    assert_eq!(column, "won");
    card.shows(json!({"confidence": 0.9, "status": "placed", "lastSummary": "They talked."}));
    // Another person, and a model that is not sure.
    kit.talked("0002", "").await;
    let cards = kit.cards(&kit.campaign).await;
    let card = cards.iter().find(|card| card["contactPhone"] == "+919812300002").unwrap();
    let board = kit.board(&kit.campaign).await;
    assert_eq!(card["columnId"], id_of(&board, "new"), "it stays where it is");
    card.shows(
        json!({"status": "needs_review", "confidence": 0.4, "suggestedColumnId": id_of(&board, "lost"),
        "attentionReason": "low_confidence"}),
    );
    // Its next call: model and outcome say the same.
    kit.talked("0002", "").await;
    let cards = kit.cards(&kit.campaign).await;
    let card = cards.iter().find(|card| card["contactPhone"] == "+919812300002").unwrap();
    assert_eq!(card["columnId"], id_of(&board, "lost"));
    card.shows(json!({"status": "placed", "suggestedColumnId": null, "attentionReason": null}));
    // No opinion about the column: the outcome decides.
    kit.talked("0003", "").await;
    assert_eq!(kit.column_counts(&kit.campaign).await, ["advancing:1", "won:1", "lost:1"]);
    kit.recount().await;
}

#[tokio::test]
async fn without_a_model_the_outcome_decides_once_the_analysis_is_over() {
    let kit = Kit::open_with(None).await;
    let call = kit.talked("0001", "promise_to_pay").await;
    assert_eq!(kit.card().await.1, "advancing");
    assert_eq!(kit.detail(&call).await["outcome"], "promise_to_pay");
}

#[tokio::test]
async fn a_model_that_fails_for_good_leaves_the_outcome() {
    let reader = Reader::of([Err(domain::ports::ProviderFault::Refused)]);
    let kit = Kit::open_with(Some(reader)).await;
    kit.talked("0001", "paid").await;
    assert_eq!(kit.card().await.1, "won");
}

#[tokio::test]
async fn a_move_by_hand_clears_the_review_and_says_what_is_wrong() {
    let reader = Reader::of([Ok(analysis("", Some(("lost", 0.4))))]);
    let kit = Kit::open_with(Some(reader)).await;
    kit.talked("0001", "").await;
    let (card, _) = kit.card().await;
    assert_eq!(card["status"], "needs_review");
    let moved = kit.to_column(&card, "won").await.data(200);
    moved.shows(
        json!({"status": "placed", "columnId": kit.column("won").await, "enteredColumnAt": kit.now().await}),
    );
    for field in ["suggestedColumnId", "confidence", "attentionReason"] {
        assert_eq!(moved[field], Value::Null, "{field}");
    }
    assert_eq!(kit.card().await.0, moved);
    // To where it is already: nothing moves.
    kit.advance(5).await;
    assert_eq!(kit.to_column(&moved, "won").await.expect(200)["data"], moved);

    let path = format!("/v1/campaigns/{}/board/cards/{}", kit.campaign, card["id"].as_str().unwrap());
    let other = kit.new_board("onboarding").await;
    let foreign = id_of(&kit.board(&other).await, "won");
    for column in [foreign.as_str(), "col_01k9v5x2m8e6fs4v0q3n7w1y2z", "won"] {
        let refused = kit.patch(&path, &json!({"columnId": column})).await;
        assert_eq!(refused.refused(400, "column_not_on_board")["meta"]["field"], "columnId");
    }
    for body in [json!({}), json!({"columnId": null}), json!({"columnId": 7}), json!({"columnId": ""})] {
        let refused = kit.patch(&path, &body).await.invalid();
        assert_eq!(refused["meta"]["field"], "columnId", "{body}");
    }
    let elsewhere = format!("/v1/campaigns/{other}/board/cards/{}", card["id"].as_str().unwrap());
    kit.patch(&elsewhere, &json!({"columnId": foreign})).await.not_found();
    let test = kit.test();
    kit.app.patch(test, &path, &json!({"columnId": foreign})).await.read_only();
    assert_eq!(kit.card().await.0, moved);
    kit.recount().await;
}

#[tokio::test]
async fn what_a_person_did_is_not_undone_by_an_older_call() {
    let reader = Reader::of([Ok(analysis("", Some(("lost", 0.9)))), Ok(analysis("", Some(("open", 0.9))))]);
    let kit = Kit::open_with(Some(reader.clone())).await;
    *reader.held.lock().unwrap() = true;
    kit.talked("0001", "").await;
    let (card, column) = kit.card().await;
    assert_eq!((column.as_str(), reader.asked()), ("new", 1), "the analysis is under way");
    kit.to_column(&card, "won").await.expect(200);
    reader.bell.notify_one();
    let path = format!("/v1/campaigns/{}/board/cards", kit.campaign);
    let summary = |page: &Value| page["data"][0]["lastSummary"] == "They talked.";
    kit.until(kit.live(), &path, summary).await;
    assert_eq!(kit.card().await.1, "won", "it was moved after the call began");
    // A later call does.
    *reader.held.lock().unwrap() = false;
    kit.advance(60).await;
    kit.talked("0001", "").await;
    assert_eq!(kit.card().await.1, "open");
}

#[tokio::test]
async fn an_analysis_that_comes_late_does_not_undo_a_newer_call() {
    let reader = Reader::of([
        Ok(Analysis { summary: "The first.".into(), ..analysis("", Some(("lost", 0.9))) }),
        Ok(Analysis { summary: "The second.".into(), ..analysis("", Some(("won", 0.9))) }),
    ]);
    let kit = Kit::open_with(Some(reader.clone())).await;
    *reader.held.lock().unwrap() = true;
    let first = kit.talked("0001", "").await;
    *reader.held.lock().unwrap() = false;
    kit.advance(30).await;
    let second = kit.talked("0001", "").await;
    // The first one has taken the first answer; it comes in last.
    let path = format!("/v1/campaigns/{}/board/cards", kit.campaign);
    let sorted = |page: &Value| page["data"][0]["lastSummary"] == "The first.";
    kit.until(kit.live(), &path, sorted).await;
    assert_eq!(kit.card().await.1, "lost");
    reader.bell.notify_one();
    let done = |call: &Value| call["data"]["analysis"] != "pending" && call["data"]["summary"].is_string();
    kit.until(kit.live(), &format!("/v1/calls/{first}"), done).await;
    let (card, column) = kit.card().await;
    assert_eq!(column, "lost");
    card.shows(json!({"lastSummary": "The first.", "lastCallId": second}));
}

#[tokio::test]
async fn cards_are_paged_from_the_newest_arrival() {
    let kit = Kit::open().await;
    for number in 1..=7 {
        kit.missed(&format!("000{number}")).await;
        if number % 3 == 0 {
            kit.advance(1).await;
        }
    }
    let all: Vec<Value> = kit.cards(&kit.campaign).await.iter().map(|card| card["id"].clone()).collect();
    assert_eq!(all.len(), 7);
    let base = format!("/v1/campaigns/{}/board/cards?limit=3", kit.campaign);
    let page = kit.get(&base).await;
    let mut seen: Vec<Value> = page["data"].as_array().unwrap().clone();
    // What arrives meanwhile is in front of the first page.
    kit.advance(1).await;
    let moved = kit.to_column(&json!({"id": all[5]}), "won").await.expect(200);
    kit.advance(1).await;
    kit.missed("0009").await;
    let mut cursor = page["nextCursor"].as_str().map(str::to_owned);
    while let Some(next) = cursor {
        let page = kit.get(&format!("{base}&cursor={next}")).await;
        seen.extend(page["data"].as_array().unwrap().clone());
        cursor = page["nextCursor"].as_str().map(str::to_owned);
    }
    let ids: Vec<Value> = seen.iter().map(|card| card["id"].clone()).collect();
    let expected: Vec<Value> = all.iter().filter(|id| **id != moved["data"]["id"]).cloned().collect();
    assert_eq!(ids, expected);
    assert_eq!(
        kit.cards(&kit.campaign).await[1]["id"],
        moved["data"]["id"],
        "it is among the newest arrivals"
    );

    let won = kit.column("won").await;
    let of_won = kit.get(&format!("{base}&column={won}")).await;
    assert_eq!((&of_won["data"][0]["id"], &of_won["nextCursor"]), (&moved["data"]["id"], &Value::Null));
    for column in ["nonsense", "col_01k9v5x2m8e6fs4v0q3n7w1y2z"] {
        kit.fetch(&format!("{base}&column={column}")).await.refused(400, "column_not_on_board");
    }
    let contacts = kit.get("/v1/contacts?limit=1").await;
    let foreign = contacts["nextCursor"].as_str().unwrap();
    kit.fetch(&format!("{base}&cursor={foreign}")).await.refused(400, "invalid_cursor");
    let other = kit.new_board("onboarding").await;
    let elsewhere =
        format!("/v1/campaigns/{other}/board/cards?cursor={}", page["nextCursor"].as_str().unwrap());
    kit.fetch(&elsewhere).await.refused(400, "invalid_cursor");
    let path = format!("/v1/campaigns/{}/board/cards?limit=201", kit.campaign);
    kit.fetch(&path).await.invalid();
}

#[tokio::test]
async fn callers_come_onto_the_board_of_the_agent_that_answers() {
    let kit = Kit::open().await;
    let (agent, number) = kit.reception().await;
    let comes_in = async |from: &str| {
        let caller = Caller {
            to: number.clone(),
            from: from.into(),
            provider_call: format!("in-{from}"),
            carrier: "main".into(),
        };
        match calls::answerable(kit.app(), caller).await.unwrap() {
            Welcome::Answer(row) => row.id.to_string(),
            Welcome::Decline(status, why) => panic!("{status} {why}"),
        }
    };
    let path = format!("/v1/agents/{agent}/board");
    let cards = async || kit.list(&format!("{path}/cards")).await;
    let gone = comes_in("+919812300009").await;
    kit.lost(&gone).await;
    assert!(cards().await.is_empty(), "who hung up before the answer was not talked to");
    let call = comes_in("+919812300001").await;
    kit.answer(&call).await;
    assert_eq!(cards().await.len(), 1, "the answer makes the card");
    let report = Report { outcome: Some("interested".into()), ..talk() };
    kit.end(&call, Fact::Ended(EndCause::AgentEnded), report).await;
    let board = kit.data(&path).await;
    let card = cards().await[0].clone();
    card.shows(json!({"columnId": id_of(&board, "advancing"), "contactPhone": "+919812300001"}));
    let moved = kit
        .patch(
            &format!("{path}/cards/{}", card["id"].as_str().unwrap()),
            &json!({"columnId": id_of(&board, "won")}),
        )
        .await
        .expect(200);
    assert_eq!(moved["data"]["columnId"], id_of(&board, "won"));
    // A caller who withholds the number is no person that a card could be about.
    let withheld = comes_in("anonymous").await;
    kit.answer(&withheld).await;
    kit.end(&withheld, Fact::Ended(EndCause::AgentEnded), talk()).await;
    assert_eq!(cards().await.len(), 1);
    assert!(kit.cards(&kit.campaign).await.is_empty(), "the campaign's board is another one");
}

#[tokio::test]
async fn moves_at_the_same_moment_keep_the_counters_true() {
    let kit = Kit::open().await;
    for number in 1..=6 {
        kit.missed(&format!("000{number}")).await;
    }
    let cards = kit.cards(&kit.campaign).await;
    let keys = ["won", "lost", "open", "won", "lost", "advancing"];
    let moves = cards.iter().zip(keys).map(|(card, key)| async {
        kit.to_column(card, key).await.expect(200);
        kit.to_column(card, "open").await.expect(200);
        kit.to_column(card, key).await.expect(200);
    });
    futures_util::future::join_all(moves).await;
    assert_eq!(kit.column_counts(&kit.campaign).await, ["open:1", "advancing:1", "won:2", "lost:2"]);
    kit.recount().await;
}

#[tokio::test]
async fn the_summary_of_a_campaign_reads_its_board() {
    let kit = Kit::open().await;
    let summary = async || kit.data(&format!("/v1/campaigns/{}/summary", kit.campaign)).await;
    let before = summary().await;
    assert_eq!(before["funnel"], json!({"contacted": 0, "advancing": 0, "won": 0, "lost": 0}));
    assert_eq!(before["winMetric"], json!({"label": "Paid", "count": 0}));
    for (digits, outcome) in [("0001", "paid"), ("0002", "interested"), ("0003", "refused"), ("0004", "")] {
        kit.talked(digits, outcome).await;
    }
    kit.missed("0005").await;
    let after = summary().await;
    assert_eq!(after["funnel"], json!({"contacted": 4, "advancing": 1, "won": 1, "lost": 1}));
    assert_eq!(after["winMetric"], json!({"label": "Paid", "count": 1}));
    kit.recount().await;
}

#[tokio::test]
async fn a_nudge_that_reached_its_person_places_the_call_on_the_board_of_its_agent() {
    let kit = World::monday().await;
    let path = format!("/v1/agents/{}/board", kit.agent);
    let key = kit.live();
    kit.nudge("+919812340000", &json!({})).await;
    kit.advance(60).await;
    kit.app.get(key, &path).await.not_found();
    let nudge = kit.nudge("+919812345678", &json!({})).await;
    kit.advance(60).await;
    assert_eq!(kit.show_nudge(&nudge).await["result"], "connected");
    let board = kit.app.get(key, &path).await.data(200);
    let cards = kit.app.get(key, &format!("{path}/cards")).await.data(200);
    let calls = kit.show_nudge(&nudge).await["attemptsList"].clone();
    assert_eq!(cards.as_array().map(Vec::len), Some(1), "nobody else was reached: {cards}");
    cards[0].shows(json!({"contactPhone": "+919812345678", "lastCallId": calls[0]["callId"]}));
    let column =
        board["columns"].as_array().unwrap().iter().find(|column| column["id"] == cards[0]["columnId"]);
    assert_eq!(column.map(|column| &column["count"]), Some(&json!(1)));
}
