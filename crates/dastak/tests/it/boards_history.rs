//! The moves of a card, undoing the move of a member, colours of columns (docs/contract/boards.md#history).

use api::boards::Card;
use app::Failure;
use app::access::Caller;
use boards::Owner;
use domain::board::UNDO;
use domain::ids::{Id, User};
use domain::tenant::{Mode, Role};
use domain::time::Timestamp;
use serde_json::{Value, json};

use crate::boards::{Kit, id_of};
use crate::shows::Shows;

impl Kit {
    /// A member of the workspace, as the handlers are called for one.
    async fn editor(&self) -> Caller {
        let tenant = self.tenant();
        let workspace =
            self.stored(move |tx| store::workspaces::get(&mut tx.of(tenant))).await.expect("a workspace");
        let member: Id<User> = self.app().ids.make();
        Caller::of_member(workspace, member, Role::Editor, Mode::Live)
    }

    fn owner(&self) -> Owner {
        Owner::Campaign(self.campaign.parse().unwrap())
    }

    async fn moves(&self, who: &Caller, card: &Value, key: &str) -> Card {
        let id = card["id"].as_str().unwrap().parse().unwrap();
        let column = self.column(key).await;
        ::boards::move_card(self.app(), who, self.owner(), id, column).await.expect("a move")
    }

    async fn undoes(&self, who: &Caller, card: &Card) -> Result<Card, Failure> {
        let movement = card.last_move_id.expect("a move").to_string();
        ::boards::undo(self.app(), who, self.owner(), card.id, movement).await
    }

    async fn history(&self, card: &Value) -> Vec<Value> {
        let path =
            format!("/v1/campaigns/{}/board/cards/{}/history", self.campaign, card["id"].as_str().unwrap());
        self.list(&path).await
    }

    /// Gives the column `won` an event.
    async fn wins_tell(&self) {
        let board = self.board(&self.campaign).await["boardId"].as_str().unwrap().to_owned();
        let path = format!("/boards/{board}");
        let mut settings = self.operator("GET", &path, Value::Null).await.data(200);
        for column in settings["columns"].as_array_mut().unwrap().iter_mut().filter(|one| one["key"] == "won")
        {
            column["automations"] = json!([{"type": "event"}]);
        }
        self.operator("PUT", &path, json!({"columns": settings["columns"]})).await.expect(200);
    }

    /// What became of the automations of the card.
    async fn outcomes(&self, card: &Value) -> Vec<String> {
        let board = self.board(&self.campaign).await["boardId"].as_str().unwrap().to_owned();
        self.card_actions(&board, card).await
    }
}

#[tokio::test]
async fn a_card_has_a_history_of_its_moves() {
    let kit = Kit::open().await;
    kit.talked("0001", "").await;
    let (card, _) = kit.card().await;
    let sorted = kit.history(&card).await;
    let [first] = &sorted[..] else { panic!("one move expected: {sorted:?}") };
    first.shows(json!({"movedBy": "sorting", "actor": null, "to.name": "Contacted", "undoneAt": null}));
    assert_eq!((&first["moveId"], &first["callId"]), (&card["lastMoveId"], &card["lastCallId"]));
    kit.to_column(&card, "won").await.expect(200);
    let member = kit.editor().await;
    kit.moves(&member, &card, "lost").await;
    let history = kit.history(&card).await;
    let key = kit.get("/v1/me").await["data"]["key"]["id"].clone();
    history[1].shows(json!({"movedBy": "api", "actor": key, "from.name": "Contacted", "to.name": "Paid", "confidence": null}));
    history[0].shows(json!({"movedBy": "api", "actor": member.actor().to_string(), "from.name": "Paid", "to.name": "Refused"}));
    assert_eq!(history[0]["movedAt"], kit.now().await);
    // A column that is renamed keeps its name in the history; a move to where the card is already is none.
    kit.to_column(&card, "lost").await.expect(200);
    assert_eq!(kit.history(&card).await, history);
    let path = format!(
        "/v1/campaigns/{}/board/cards/{}/history?limit=2",
        kit.campaign,
        card["id"].as_str().unwrap()
    );
    let page = kit.get(&path).await;
    let next = page["nextCursor"].as_str().unwrap();
    let rest = kit.get(&format!("{path}&cursor={next}")).await;
    assert_eq!((page["data"].as_array().unwrap().len(), &rest["data"]), (2, &json!(sorted)));
    let missing =
        format!("/v1/campaigns/{}/board/cards/card_01k9v5x2m8e6fs4v0q3n7w1y34/history", kit.campaign);
    kit.fetch(&missing).await.not_found();
}

#[tokio::test]
async fn a_member_undoes_a_move_before_its_automations_start() {
    let kit = Kit::open().await;
    kit.wins_tell().await;
    kit.talked("0001", "").await;
    let (card, column) = kit.card().await;
    assert_eq!((&card["status"], column.as_str()), (&json!("needs_review"), "open"));
    let member = kit.editor().await;
    let now = Timestamp::parse(&kit.now().await).unwrap();
    let moved = kit.moves(&member, &card, "won").await;
    assert_eq!(moved.undo_until, Some(now.plus(UNDO)));
    assert_eq!(kit.outcomes(&card).await, ["event pending -"]);
    kit.advance(4).await;
    assert_eq!(kit.count("board.card_moved").await, 0, "automations wait while the move can be undone");
    assert!(
        kit.undoes(&kit.editor().await, &moved).await.is_err_and(|why| why.error.status == 409),
        "of another member"
    );
    let back = kit.undoes(&member, &moved).await.expect("undone");
    assert_eq!(back.undo_until, None);
    let (restored, column) = kit.card().await;
    assert_eq!((restored, column.as_str()), (card.clone(), "open"), "as it was before, its review too");
    assert_eq!(kit.outcomes(&card).await, ["event skipped undone"]);
    assert!(kit.undoes(&member, &moved).await.is_err_and(|why| why.error.status == 409), "once");
    kit.advance(3_600).await;
    assert_eq!(kit.count("board.card_moved").await, 0);
    kit.recount().await;
    let history = kit.history(&card).await;
    assert!(history[0]["undoneAt"].is_string() && history[1]["undoneAt"].is_null(), "{history:?}");
}

#[tokio::test]
async fn a_move_that_is_not_undone_runs_its_automations_once() {
    let kit = Kit::open().await;
    kit.wins_tell().await;
    kit.talked("0001", "").await;
    let (card, _) = kit.card().await;
    let member = kit.editor().await;
    let moved = kit.moves(&member, &card, "won").await;
    kit.advance(5).await;
    assert_eq!(
        (kit.outcomes(&card).await, kit.count("board.card_moved").await),
        (vec!["event done -".to_owned()], 1)
    );
    assert!(kit.undoes(&member, &moved).await.is_err_and(|why| why.error.status == 409));
    // The service stops between the move and its automations.
    let again = kit.moves(&member, &card, "lost").await;
    assert!(again.undo_until.is_some());
    kit.moves(&member, &card, "won").await;
    let Kit { held, campaign } = kit;
    let world = held.world.restart_at(3_600).await;
    world.advance(0).await;
    assert_eq!(world.outbox_of("board.card_moved").await.len(), 2);
    drop(campaign);
}

/// Undoing and the automations of one move at the same moment: one of them happens.
#[tokio::test]
async fn an_undo_and_the_automations_exclude_each_other() {
    let kit = Kit::open().await;
    kit.wins_tell().await;
    kit.talked("0001", "").await;
    let (card, _) = kit.card().await;
    let member = kit.editor().await;
    for _ in 0..5 {
        let told = kit.count("board.card_moved").await;
        let moved = kit.moves(&member, &card, "won").await;
        let (undone, ()) = tokio::join!(kit.undoes(&member, &moved), kit.advance(5));
        kit.advance(5).await;
        let ran = kit.count("board.card_moved").await - told;
        assert_eq!(ran, usize::from(undone.is_err()), "{undone:?}");
        kit.moves(&member, &card, "open").await;
        kit.advance(5).await;
    }
}

#[tokio::test]
async fn a_later_change_is_not_undone() {
    let kit = Kit::open().await;
    kit.talked("0001", "").await;
    let (card, _) = kit.card().await;
    let member = kit.editor().await;
    let moved = kit.moves(&member, &card, "won").await;
    kit.to_column(&card, "lost").await.expect(200);
    assert!(kit.undoes(&member, &moved).await.is_err_and(|why| why.error.status == 409));
    assert_eq!(kit.card().await.1, "lost");
    // A key's move cannot be undone, not even by a member.
    let (by_key, _) = kit.card().await;
    let movement = by_key["lastMoveId"].as_str().unwrap().to_owned();
    let id = card["id"].as_str().unwrap().parse().unwrap();
    let undone = ::boards::undo(kit.app(), &member, kit.owner(), id, movement).await;
    assert!(undone.is_err_and(|why| why.error.status == 409));
}

#[tokio::test]
async fn columns_have_colours() {
    let kit = Kit::open().await;
    let board = kit.board(&kit.campaign).await;
    assert_eq!(board["columns"][0]["color"], Value::Null);
    let path = format!("/boards/{}", board["boardId"].as_str().unwrap());
    let columns = kit.operator("GET", &path, Value::Null).await.data(200)["columns"].clone();
    let put = async |columns: &Value| kit.operator("PUT", &path, json!({"columns": columns})).await;
    let mut coloured = columns.clone();
    coloured[0]["color"] = json!("amber");
    put(&coloured).await.data(200)["columns"][0].shows(json!({"color": "amber"}));
    // Without the field it stays, null takes it away.
    coloured[0].as_object_mut().unwrap().remove("color");
    put(&coloured).await.data(200)["columns"][0].shows(json!({"color": "amber"}));
    assert_eq!(kit.board(&kit.campaign).await["columns"][0]["color"], "amber");
    coloured[0]["color"] = Value::Null;
    put(&coloured).await.data(200)["columns"][0].shows(json!({"color": null}));
    coloured[0]["color"] = json!("pink");
    put(&coloured).await.invalid_field("columns[0].color");
    assert_eq!(id_of(&board, "new"), coloured[0]["id"].as_str().unwrap());
}

/// Over the console: who edits moves and takes back, who reads does neither, and a page in test mode changes nothing.
#[tokio::test]
async fn members_move_cards_and_take_that_back() {
    let kit = Kit::open().await;
    kit.talked("0001", "").await;
    let (card, _) = kit.card().await;
    let (editor, viewer) = (kit.member(Role::Editor).await, kit.member(Role::Viewer).await);
    let path = format!("/v1/campaigns/{}/board/cards/{}", kit.campaign, card["id"].as_str().unwrap());
    let body = json!({"columnId": kit.column("won").await});
    viewer.patch(&path, &body).await.refused(403, "role_missing");
    let moved = editor.patch(&path, &body).await.data(200);
    assert_eq!(kit.card().await.1, "won");
    let undo = json!({"moveId": moved["lastMoveId"]});
    let (path, undo_path) = (format!("{path}/history"), format!("{path}/undo"));
    kit.post(&undo_path, &undo).await.refused(401, "unauthorized");
    viewer.post(&undo_path, &undo).await.refused(403, "role_missing");
    editor.in_test_mode().post(&undo_path, &undo).await.read_only();
    editor.post(&undo_path, &json!({"moveId": "x"})).await.conflict();
    let back = editor.post(&undo_path, &undo).await.data(200);
    assert_eq!((&back["columnId"], &back["status"]), (&card["columnId"], &card["status"]));
    viewer.get(&path).await.data(200)[0].shows(json!({"actor": editor.id, "movedBy": "api"}));
}
