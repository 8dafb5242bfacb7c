//! The operator's side of boards (docs/contract/boards.md#editing).

use serde_json::{Value, json};

use crate::boards::{Kit, id_of};
use crate::shows::Shows;

impl Kit {
    async fn settings(&self) -> (String, Value) {
        let board = self.board(&self.campaign).await["boardId"].as_str().unwrap().to_owned();
        let path = format!("/boards/{board}");
        let settings = self.operator("GET", &path, Value::Null).await.data(200);
        (path, settings)
    }

    async fn put(&self, body: &Value) -> crate::app::Answer {
        let path = self.settings().await.0;
        self.operator("PUT", &path, body.clone()).await
    }
}

fn keys(settings: &Value) -> Vec<&str> {
    settings["columns"].as_array().unwrap().iter().map(|column| column["key"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn columns_are_added_renamed_and_reordered() {
    let kit = Kit::open().await;
    let (path, settings) = kit.settings().await;
    settings.shows(json!({"campaignId": kit.campaign, "agentId": null, "reviewBelow": 0.7, "version": 0}));
    settings["columns"][0].shows(json!({"rules": [], "automations": []}));
    let before = kit.board(&kit.campaign).await;
    let mut columns = settings["columns"].as_array().unwrap().clone();
    columns.swap(1, 2);
    columns[1]["name"] = json!("Versprochen ✓");
    let rule = json!({"all": [{"variable": "extracted.amount", "op": "gt", "value": 100}]});
    columns.insert(3, json!({"name": "Big", "key": "big", "type": "won", "rules": [rule], "automations": [{"type": "event"}]}));
    let body = json!({"columns": columns, "reviewBelow": 0.5, "version": 0});
    let after = kit.put(&body).await.data(200);
    assert_eq!(keys(&after), ["new", "advancing", "open", "big", "won", "lost", "dnc", "no_contact"]);
    assert_eq!((&after["reviewBelow"], &after["version"]), (&json!(0.5), &json!(1)));
    assert_eq!(after["columns"][1]["id"], id_of(&before, "advancing"), "a change keeps the id");
    assert_eq!(after["columns"][1]["name"], "Versprochen ✓");
    after["columns"][3].shows(json!({"rules": [rule], "automations": [{"type": "event"}]}));
    assert_eq!(kit.operator("GET", &path, Value::Null).await.expect(200)["data"], after);
    assert_eq!(keys(&kit.board(&kit.campaign).await), keys(&after));
    kit.put(&body).await.conflict();
    let log = kit.app.operator("GET", "/log", &Value::Null).await.expect(200);
    log["data"][0].shows(json!({"operation": "updateBoard", "subject": after["id"]}));
    // The rule is what counts from now on: the flow has captured 500.
    kit.talked("0001", "refused").await;
    assert_eq!(kit.card().await.1, "big");
    let funnel = kit.get(&format!("/v1/campaigns/{}/summary", kit.campaign)).await;
    assert_eq!(funnel["data"]["winMetric"], json!({"label": "Big", "count": 1}));
}

#[tokio::test]
async fn a_column_with_cards_is_deleted_only_with_a_place_for_them() {
    let kit = Kit::open().await;
    kit.talked("0001", "paid").await;
    kit.missed("0002").await;
    let (_, settings) = kit.settings().await;
    let without = |key: &str| -> Vec<Value> {
        settings["columns"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|column| column["key"] != key)
            .cloned()
            .collect()
    };
    let refused = kit.put(&json!({"columns": without("won")})).await.conflict();
    assert_eq!(refused["meta"], json!({"columnId": id_of(&settings, "won"), "count": 1}));
    assert_eq!(kit.column_counts(&kit.campaign).await, ["new:1", "won:1"]);
    let moved = |from: &str, to: &str| json!([{"from": id_of(&settings, from), "to": id_of(&settings, to)}]);
    kit.advance(5).await;
    let body = json!({"columns": without("won"), "moveCards": moved("won", "advancing")});
    let after = kit.put(&body).await.data(200);
    assert!(!keys(&after).contains(&"won"));
    assert_eq!(kit.column_counts(&kit.campaign).await, ["new:1", "advancing:1"]);
    assert_eq!(kit.cards(&kit.campaign).await[0]["enteredColumnAt"], kit.now().await);
    kit.recount().await;
    // Empty ones need none.
    kit.put(&json!({"columns": after["columns"].as_array().unwrap().iter().filter(|column| column["key"] != "lost").collect::<Vec<_>>()}))
        .await
        .expect(200);
    // There is no column for its outcome any more.
    kit.talked("0003", "refused").await;
    let cards = kit.cards(&kit.campaign).await;
    let card = cards.iter().find(|card| card["contactPhone"] == "+919812300003").unwrap();
    assert_eq!(card["columnId"], id_of(&settings, "open"));
}

#[tokio::test]
async fn a_wrong_definition_changes_nothing_and_names_its_field() {
    let kit = Kit::open().await;
    let other = kit.new_board("onboarding").await;
    let foreign = kit.board(&other).await;
    let (path, settings) = kit.settings().await;
    let columns = settings["columns"].as_array().unwrap().clone();
    let with = |index: usize, field: &str, value: Value| {
        let mut columns = columns.clone();
        columns[index][field] = value;
        json!({"columns": columns})
    };
    let automation = |one: Value| with(1, "automations", json!([{"type": "event"}, one]));
    let condition = |one: Value| with(1, "rules", json!([{"all": [one]}]));
    let inbound = kit.draft_agent(&json!({"direction": "inbound"})).await["id"].clone();
    let many: Vec<Value> =
        (0..31).map(|n| json!({"name": "x", "key": format!("k{n}"), "type": "open"})).collect();
    let staying = json!([{"from": columns[1]["id"], "to": columns[2]["id"]}]);
    for (body, status, field) in [
        (json!({}), 400, "columns"),
        (json!({"columns": []}), 400, "columns"),
        (json!({"columns": many}), 400, "columns"),
        (json!({"columns": &columns[1..]}), 400, "columns"),
        (with(1, "name", json!("")), 400, "columns[1].name"),
        (with(1, "name", json!("x".repeat(61))), 400, "columns[1].name"),
        (with(1, "key", json!("new")), 400, "columns[1].key"),
        (with(1, "key", json!("Open!")), 400, "columns[1].key"),
        (with(1, "type", json!("great")), 400, "columns[1].type"),
        (with(1, "id", columns[0]["id"].clone()), 400, "columns[1].id"),
        (with(1, "id", json!(id_of(&foreign, "open"))), 400, "columns[1].id"),
        (automation(json!({"type": "shout"})), 400, "columns[1].automations[1].type"),
        (automation(json!({"type": "message"})), 400, "columns[1].automations[1].templateId"),
        (automation(json!({"type": "dance"})), 400, "columns[1].automations[1].type"),
        (automation(json!({"type": "nudge"})), 400, "columns[1].automations[1].agentId"),
        (automation(json!({"type": "nudge", "agentId": inbound})), 400, "columns[1].automations[1].agentId"),
        (
            automation(json!({"type": "nudge", "agentId": kit.agent, "delayMinutes": 43_201})),
            400,
            "columns[1].automations[1].delayMinutes",
        ),
        (
            automation(json!({"type": "add_to_campaign", "campaignId": kit.campaign})),
            400,
            "columns[1].automations[1].campaignId",
        ),
        (
            automation(json!({"type": "add_to_campaign", "campaignId": "cmp_01k9v5x2m8e6fs4v0q3n7w1y2z"})),
            400,
            "columns[1].automations[1].campaignId",
        ),
        (condition(json!({"variable": "weather", "value": 1})), 400, "columns[1].rules[0].all[0].variable"),
        (
            condition(json!({"variable": "outcome", "op": "like", "value": 1})),
            400,
            "columns[1].rules[0].all[0].op",
        ),
        (condition(json!({"variable": "outcome"})), 400, "columns[1].rules[0].all[0].value"),
        (
            condition(json!({"variable": "outcome", "value": "x".repeat(5_000)})),
            400,
            "columns[1].rules[0].all[0].value",
        ),
        (json!({"columns": columns, "reviewBelow": 1.5}), 400, "reviewBelow"),
        (json!({"columns": columns, "moveCards": staying}), 400, "moveCards[0].from"),
    ] {
        let answer = kit.operator("PUT", &path, body.clone()).await;
        assert_eq!(
            (answer.status, answer.json["meta"]["field"].as_str()),
            (status, Some(field)),
            "{body}: {}",
            answer.text
        );
    }
    assert_eq!(kit.settings().await.1, settings);
    for path in ["/boards/brd_01k9v5x2m8e6fs4v0q3n7w1y2z", "/boards/nonsense"] {
        kit.operator("GET", path, Value::Null).await.not_found();
        kit.operator("PUT", path, json!({"columns": columns})).await.not_found();
    }
}

#[tokio::test]
async fn boards_of_a_neighbour_are_not_there() {
    let kit = Kit::open().await;
    kit.missed("0001").await;
    let (card, _) = kit.card().await;
    let (board, neighbour) = (kit.board(&kit.campaign).await, kit.neighbour().await);
    let id = board["boardId"].as_str().unwrap();
    let theirs = format!("/boards/{id}");
    let columns = kit.settings().await.1["columns"].clone();
    neighbour.operator("GET", &theirs, Value::Null).await.not_found();
    neighbour.operator("PUT", &theirs, json!({"columns": columns})).await.not_found();
    let of_card = format!("{theirs}/cards/{}", card["id"].as_str().unwrap());
    neighbour.operator("GET", &of_card, Value::Null).await.not_found();
    let path = format!("/v1/campaigns/{}/board", kit.campaign);
    let body = json!({"columnId": kit.column("won").await});
    let card = format!("{path}/cards/{}", card["id"].as_str().unwrap());
    for path in [path.clone(), format!("{path}/cards")] {
        neighbour.fetch(&path).await.not_found();
    }
    neighbour.patch(&card, &body).await.not_found();
}

#[tokio::test]
async fn a_deleted_campaign_takes_its_board_along() {
    let kit = Kit::open().await;
    kit.missed("0001").await;
    let (path, _) = kit.settings().await;
    kit.delete(&format!("/v1/campaigns/{}", kit.campaign)).await.expect(200);
    let board = format!("/v1/campaigns/{}/board", kit.campaign);
    kit.fetch(&board).await.not_found();
    kit.operator("GET", &path, Value::Null).await.not_found();
    ::boards::sweep(kit.app()).await.unwrap();
    let tenant = kit.tenant();
    for table in ["boards", "board_columns", "board_cards"] {
        let left: Vec<String> = kit
            .stored(move |tx| {
                tx.all(&format!("select id from {table} where workspace = ?1"), store::params![tenant])
            })
            .await;
        assert!(left.is_empty(), "{table}");
    }
}
