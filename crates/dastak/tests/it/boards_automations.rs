//! What columns of boards do with cards that come into them (docs/contract/boards.md#automations).

use app::due_rows;
use domain::call::{EndCause, Fact, Report};
use domain::time::DAY;
use serde_json::{Value, json};

use crate::after_call::talk;
use crate::boards::{Kit, id_of};
use crate::erasure::traces;
use crate::shows::Shows;

/// Gives a column of a board these automations.
async fn automate(kit: &Kit, campaign: &str, key: &str, automations: Value) {
    let board = kit.board(campaign).await["boardId"].as_str().unwrap().to_owned();
    automate_board(kit, &board, key, automations).await;
}

async fn automate_board(kit: &Kit, board: &str, key: &str, automations: Value) {
    let path = format!("/boards/{board}");
    let mut settings = kit.operator("GET", &path, Value::Null).await.data(200);
    for column in settings["columns"].as_array_mut().unwrap() {
        if column["key"] == key {
            column["automations"] = automations.clone();
        }
    }
    kit.operator("PUT", &path, json!({"columns": settings["columns"]})).await.expect(200);
}

impl Kit {
    async fn automate(&self, key: &str, automations: Value) {
        automate(self, &self.campaign, key, automations).await;
    }

    /// What became of the automations of the only card: `type status error`, newest move first.
    async fn actions(&self) -> Vec<String> {
        let (card, _) = self.card().await;
        self.actions_of(&self.campaign, &card).await
    }

    async fn actions_of(&self, campaign: &str, card: &Value) -> Vec<String> {
        let board = self.board(campaign).await["boardId"].as_str().unwrap().to_owned();
        self.card_actions(&board, card).await
    }

    async fn contact(&self) -> Value {
        let id = self.card().await.0["contactId"].as_str().unwrap().to_owned();
        self.data(&format!("/v1/contacts/{id}")).await
    }

    async fn nudges(&self) -> Vec<Value> {
        self.list("/v1/nudges").await
    }

    async fn list_of(&self, campaign: &str) -> Value {
        self.get(&format!("/v1/campaigns/{campaign}/contacts")).await
    }
}

#[tokio::test]
async fn a_move_runs_the_automations_of_its_column_once() {
    let kit = Kit::open().await;
    let other = kit.new_board("onboarding").await;
    kit.automate(
        "won",
        json!([{"type": "event"}, {"type": "nudge", "agentId": kit.agent}, {"type": "add_to_campaign", "campaignId": other}]),
    )
    .await;
    kit.talked("0001", "paid").await;
    assert_eq!(kit.actions().await, ["event done -", "nudge done -", "add_to_campaign done -"]);
    assert_eq!(kit.count("board.card_moved").await, 1);
    assert_eq!((kit.nudges().await.len(), kit.list_of(&other).await["total"].clone()), (1, json!(1)));
    // Another call that sorts it to where it is already is no move.
    kit.talked("0001", "paid").await;
    let (card, _) = kit.card().await;
    kit.to_column(&card, "won").await.expect(200);
    kit.advance(3_600).await;
    assert_eq!(kit.actions().await.len(), 3);
    assert_eq!(kit.count("board.card_moved").await, 1);
}

#[tokio::test]
async fn the_event_tells_of_the_move() {
    let kit = Kit::open().await;
    kit.automate("won", json!([{"type": "event"}])).await;
    let person = json!({"externalRef": "cust_7", "phone": "+919812300001", "name": "Asha"});
    kit.post("/v1/contacts", &person).await.expect(201);
    let call = kit.missed("0001").await;
    let (card, _) = kit.card().await;
    assert_eq!(card["contactName"], "Asha");
    let before = kit.board(&kit.campaign).await;
    kit.to_column(&card, "won").await.expect(200);
    kit.advance(0).await;
    let events = kit.outbox().await;
    let told = events.iter().find(|event| event["type"] == "board.card_moved").unwrap();
    assert_eq!(told["livemode"], true);
    let mut data = told["data"].clone();
    assert!(data["moveId"].as_str().unwrap().starts_with("move_"));
    data["moveId"] = Value::Null;
    assert_eq!(
        data,
        json!({
            "boardId": before["boardId"], "campaignId": kit.campaign, "agentId": null, "cardId": card["id"], "moveId": null,
            "contactId": card["contactId"], "externalRef": "cust_7", "callId": call, "movedBy": "api",
            "from": {"id": id_of(&before, "new"), "key": "new", "type": "new"},
            "to": {"id": id_of(&before, "won"), "key": "won", "type": "won"},
            "movedAt": kit.now().await,
        })
    );
}

#[tokio::test]
async fn a_column_opts_people_out() {
    let kit = Kit::open().await;
    kit.automate("lost", json!([{"type": "opt_out"}])).await;
    kit.automate("dnc", json!([{"type": "do_not_call", "reason": "asked by letter"}])).await;
    kit.talked("0001", "refused").await;
    assert_eq!(kit.actions().await, ["opt_out done -"]);
    let contact = kit.contact().await;
    assert_eq!((&contact["optOut"], &contact["doNotCall"]), (&json!(true), &json!(true)));
    assert_eq!(kit.count("contact.opted_out").await, 1);
    kit.missed("0002").await;
    let cards = kit.cards(&kit.campaign).await;
    let card = cards.iter().find(|card| card["contactPhone"] == "+919812300002").unwrap();
    kit.to_column(card, "dnc").await.expect(200);
    kit.advance(0).await;
    let list = kit.get("/v1/dnc?limit=10").await;
    let entry = list["data"].as_array().unwrap().iter().find(|entry| entry["phone"] == "+919812300002");
    assert_eq!(entry.unwrap()["reason"], "asked by letter");
}

#[tokio::test]
async fn a_nudge_waits_for_its_time_and_for_the_gates() {
    let kit = Kit::open().await;
    let nudge = json!([{"type": "nudge", "agentId": kit.agent, "delayMinutes": 90}]);
    kit.automate("advancing", nudge).await;
    kit.talked("0001", "interested").await;
    assert_eq!((kit.actions().await, kit.nudges().await.len()), (vec!["nudge pending -".to_owned()], 0));
    kit.advance(89 * 60).await;
    assert_eq!(kit.nudges().await.len(), 0);
    kit.advance(60).await;
    let nudges = kit.nudges().await;
    assert_eq!((kit.actions().await, nudges.len()), (vec!["nudge done -".to_owned()], 1));
    let (card, _) = kit.card().await;
    nudges[0].shows(
        json!({"toNumber": card["contactPhone"], "agentId": kit.agent, "metadata.boardCardId": card["id"],
        "livemode": true}),
    );
    assert_eq!(nudges[0]["attempts"], 1, "it is dialled like every other: {}", nudges[0]);
}

#[tokio::test]
async fn a_person_who_may_not_be_called_gets_no_nudge() {
    let kit = Kit::open().await;
    let other = kit.new_board("onboarding").await;
    let automations = json!([
        {"type": "nudge", "agentId": kit.agent, "delayMinutes": 1},
        {"type": "add_to_campaign", "campaignId": other},
    ]);
    kit.automate("advancing", automations).await;
    kit.missed("0001").await;
    let (card, _) = kit.card().await;
    let listed = json!({"phones": [card["contactPhone"]]});
    kit.post("/v1/dnc", &listed).await.expect(200);
    kit.to_column(&card, "advancing").await.expect(200);
    kit.advance(60).await;
    assert_eq!(kit.actions().await, ["nudge skipped do_not_call", "add_to_campaign skipped do_not_call"]);
    assert_eq!((kit.nudges().await.len(), kit.list_of(&other).await["total"].clone()), (0, json!(0)));
}

#[tokio::test]
async fn a_nudge_is_not_made_once_the_card_has_moved_on() {
    let kit = Kit::open().await;
    let nudge = json!([{"type": "nudge", "agentId": kit.agent, "delayMinutes": 10}]);
    kit.automate("advancing", nudge).await;
    kit.talked("0001", "interested").await;
    let (card, _) = kit.card().await;
    kit.to_column(&card, "won").await.expect(200);
    kit.advance(600).await;
    assert_eq!(
        (kit.actions().await, kit.nudges().await.len()),
        (vec!["nudge skipped card_moved".to_owned()], 0)
    );
}

#[tokio::test]
async fn what_cannot_be_done_is_told_on_the_card() {
    let kit = Kit::open().await;
    let agent = kit.agent(&json!({"systemPrompt": "Hi."})).await;
    kit.automate("advancing", json!([{"type": "nudge", "agentId": agent}, {"type": "event"}])).await;
    let path = format!("/v1/agents/{agent}/status");
    kit.post(&path, &json!({"status": "draft"})).await.expect(200);
    kit.talked("0001", "interested").await;
    assert_eq!(kit.actions().await, ["nudge failed agent_not_published", "event done -"], "each by itself");
    let (card, column) = kit.card().await;
    assert_eq!((column.as_str(), &card["attentionReason"]), ("advancing", &json!("automation_failed")));
    let moved = kit.to_column(&card, "won").await.expect(200);
    assert_eq!(moved["data"]["attentionReason"], Value::Null);
}

#[tokio::test]
async fn what_fails_for_the_moment_is_tried_again() {
    let kit = Kit::open().await;
    kit.automate("advancing", json!([{"type": "nudge", "agentId": kit.agent}])).await;
    let limits = async |pending: i64| {
        let body = json!({"limits": {"pendingNudges": pending}});
        kit.change(&body).await;
    };
    limits(0).await;
    kit.talked("0001", "interested").await;
    assert_eq!(kit.actions().await, ["nudge pending pending_limit"]);
    limits(10).await;
    kit.advance(30).await;
    assert_eq!((kit.actions().await, kit.nudges().await.len()), (vec!["nudge done -".to_owned()], 1));

    // And for ever: after seven tries it has failed.
    limits(0).await;
    kit.talked("0002", "interested").await;
    kit.advance(2 * 3_600).await;
    let cards = kit.cards(&kit.campaign).await;
    let card = cards.iter().find(|card| card["contactPhone"] == "+919812300002").unwrap();
    assert_eq!(kit.actions_of(&kit.campaign, card).await, ["nudge failed pending_limit"]);
}

#[tokio::test]
async fn a_number_that_is_on_the_list_is_not_added_again() {
    let kit = Kit::open().await;
    let other = kit.new_board("onboarding").await;
    kit.automate("won", json!([{"type": "add_to_campaign", "campaignId": other}])).await;
    let rows = json!({"contacts": [{"phone": "98123 00001", "name": "Asha"}]});
    kit.post(&format!("/v1/campaigns/{other}/contacts"), &rows).await.expect(200);
    kit.talked("0001", "paid").await;
    assert_eq!(kit.actions().await, ["add_to_campaign skipped not_added"]);
    assert_eq!(kit.list_of(&other).await["total"], 1);
    // A campaign that is gone.
    kit.delete(&format!("/v1/campaigns/{other}")).await.expect(200);
    kit.talked("0002", "paid").await;
    let cards = kit.cards(&kit.campaign).await;
    let card = cards.iter().find(|card| card["contactPhone"] == "+919812300002").unwrap();
    assert_eq!(kit.actions_of(&kit.campaign, card).await, ["add_to_campaign skipped not_added"]);
}

/// Two boards that send people to each other: each person goes over once, and the way ends there.
#[tokio::test]
async fn boards_that_feed_each_other_do_not_go_round() {
    let kit = Kit::open().await;
    let other = kit.new_board("onboarding").await;
    kit.automate("won", json!([{"type": "add_to_campaign", "campaignId": other}, {"type": "event"}])).await;
    let back = json!([
        {"type": "add_to_campaign", "campaignId": kit.campaign},
        {"type": "nudge", "agentId": kit.agent},
        {"type": "event"},
    ]);
    automate(&kit, &other, "won", back).await;
    kit.talked("0001", "paid").await;
    assert_eq!(kit.actions().await, ["add_to_campaign done -", "event done -"]);
    let listed = kit.list_of(&other).await;
    let row = listed["data"][0]["id"].as_str().unwrap().to_owned();
    // The other campaign calls its new row.
    let call = kit.rings_for(&other, "0001").await;
    let (tenant, id): (_, domain::ids::Id<domain::ids::Call>) = (kit.tenant(), call.parse().unwrap());
    let placed = move |tx: &mut store::Tx<'_>| {
        let sql = "update campaign_rows set call = ?3 where workspace = ?1 and id = ?2";
        tx.exec(sql, store::params![tenant, &row, id]).map(|_| ())
    };
    kit.store(placed).await;
    kit.answer(&call).await;
    let report = Report { outcome: Some("paid".into()), ..talk() };
    kit.end(&call, Fact::Ended(EndCause::AgentEnded), report).await;
    let card = kit.cards(&other).await[0].clone();
    assert_eq!(
        kit.actions_of(&other, &card).await,
        ["add_to_campaign skipped depth", "nudge skipped depth", "event done -"]
    );
    assert_eq!((kit.list_of(&kit.campaign).await["total"].clone(), kit.nudges().await.len()), (json!(0), 0));
    // A person who moves it there means it.
    let path = format!("/v1/campaigns/{other}/board/cards/{}", card["id"].as_str().unwrap());
    let board = kit.board(&other).await;
    for key in ["open", "won"] {
        kit.patch(&path, &json!({"columnId": id_of(&board, key)})).await.expect(200);
    }
    kit.advance(0).await;
    assert_eq!(kit.list_of(&kit.campaign).await["total"], 1);
}

impl Kit {
    /// The call of a nudge that is due is answered and ends with this outcome.
    async fn nudge_talked(&self, outcome: &str) {
        self.advance(1).await;
        let calls = self.get("/v1/calls?state=ringing").await;
        let [call] = &calls["data"].as_array().unwrap()[..] else { panic!("one call rings: {calls}") };
        let call = call["id"].as_str().unwrap();
        self.answer(call).await;
        let report = Report { outcome: Some(outcome.into()), ..talk() };
        self.end(call, Fact::Ended(EndCause::AgentEnded), report).await;
    }
}

/// A nudge that a column made moves a card on the board of its agent, and the way ends there, whatever that board says.
#[tokio::test]
async fn nudges_of_boards_do_not_go_round() {
    let kit = Kit::open().await;
    let (app, agent) = (&kit.app, kit.agent.clone());
    let again = json!([{"type": "nudge", "agentId": agent}]);
    kit.automate("advancing", again.clone()).await;
    kit.talked("0001", "interested").await;
    kit.nudge_talked("callback").await;
    let path = format!("/v1/agents/{agent}/board");
    let board = app.get(kit.live(), &path).await.expect(200)["data"]["boardId"].as_str().unwrap().to_owned();
    let loops = json!([{"type": "nudge", "agentId": agent}, {"type": "event"}]);
    automate_board(&kit, &board, "won", loops).await;
    // The campaign's board sends the person to the agent once more.
    let (card, _) = kit.card().await;
    for key in ["open", "advancing"] {
        kit.to_column(&card, key).await.expect(200);
    }
    kit.nudge_talked("paid").await;
    let cards = app.get(kit.live(), &format!("{path}/cards")).await.data(200);
    assert_eq!(kit.card_actions(&board, &cards[0]).await, ["nudge skipped depth", "event done -"]);
    app.advance(3_600).await;
    assert_eq!(kit.nudges().await.len(), 2);
    // A nudge that a client makes begins anew.
    let order = json!({"agentId": agent, "toNumber": "+919812300002"});
    app.post_with(kit.live(), "/v1/nudges", &[("idempotency-key", "one")], &order).await.expect(201);
    kit.nudge_talked("paid").await;
    let cards = app.get(kit.live(), &format!("{path}/cards")).await.data(200);
    assert_eq!(cards[0]["contactPhone"], "+919812300002");
    assert_eq!(kit.card_actions(&board, &cards[0]).await, ["nudge done -", "event done -"]);
}

#[tokio::test]
async fn automations_rest_while_boards_are_off_or_the_workspace_is_suspended() {
    for (change, why) in [
        (json!({"features": {"boards": false}}), "plan_feature_locked"),
        (json!({"suspended": true}), "workspace_suspended"),
    ] {
        let kit = Kit::open().await;
        let nudge = json!([{"type": "nudge", "agentId": kit.agent, "delayMinutes": 1}]);
        kit.automate("advancing", nudge).await;
        kit.talked("0001", "interested").await;
        kit.change(&change).await;
        kit.advance(60).await;
        let on = json!({"features": {"boards": true}, "suspended": false});
        kit.change(&on).await;
        assert_eq!(kit.actions().await, [format!("nudge skipped {why}")]);
        assert_eq!(kit.nudges().await.len(), 0);
    }
}

#[tokio::test]
async fn an_automation_of_the_moment_of_the_move_is_what_runs() {
    let kit = Kit::open().await;
    let nudge = json!([{"type": "nudge", "agentId": kit.agent, "delayMinutes": 5}]);
    kit.automate("advancing", nudge).await;
    kit.talked("0001", "interested").await;
    kit.automate("advancing", json!([])).await;
    kit.advance(300).await;
    assert_eq!((kit.actions().await, kit.nudges().await.len()), (vec!["nudge done -".to_owned()], 1));
}

#[tokio::test]
async fn automations_survive_a_restart_and_their_results_are_kept_for_30_days() {
    let mut kit = Kit::open().await;
    let nudge = json!([{"type": "nudge", "agentId": kit.agent, "delayMinutes": 600}, {"type": "event"}]);
    kit.automate("advancing", nudge).await;
    kit.talked("0001", "interested").await;
    let now = domain::time::Timestamp::parse(&kit.now().await).unwrap();
    kit.held.world = kit.held.world.restart_at(0).await;
    kit.set_clock(&now.plus(DAY).to_string()).await;
    assert_eq!(kit.actions().await, ["nudge done -", "event done -"]);
    assert_eq!((kit.nudges().await.len(), kit.count("board.card_moved").await), (1, 1));
    kit.set_clock(&now.plus(33 * DAY).to_string()).await;
    assert!(kit.actions().await.is_empty());
    assert_eq!(kit.card().await.1, "advancing", "the card stays");
}

#[tokio::test]
async fn an_erasure_empties_cards_and_ends_what_they_wait_for() {
    let kit = Kit::open().await;
    let automations = json!([{"type": "event"}, {"type": "nudge", "agentId": kit.agent, "delayMinutes": 60}]);
    kit.automate("advancing", automations).await;
    let rows = json!({"contacts": [{"phone": "+919812300001", "name": "Zyxwvasha"}]});
    let list = format!("/v1/campaigns/{}/contacts", kit.campaign);
    kit.post(&list, &rows).await.expect(200);
    let row = kit.list_of(&kit.campaign).await["data"][0]["id"].as_str().unwrap().to_owned();
    // The list's row is called.
    let call = kit.held.world.placed(kit.live(), "0001").await;
    let (tenant, env) = (kit.tenant(), kit.app().call_env());
    let (id, campaign): (domain::ids::Id<domain::ids::Call>, domain::ids::Id<domain::ids::Campaign>) =
        (call.parse().unwrap(), kit.campaign.parse().unwrap());
    let rings = move |tx: &mut store::Tx<'_>| {
        let sql = "update calls set campaign = ?3 where workspace = ?1 and id = ?2";
        tx.exec(sql, store::params![tenant, id, campaign])?;
        let sql = "update campaign_rows set call = ?3 where workspace = ?1 and id = ?2";
        tx.exec(sql, store::params![tenant, &row, id])?;
        let row = store::calls::find(&mut tx.of(tenant), id)?.expect("the call");
        ::boards::call_fact(tx, &env, &row, Fact::Ringing)
    };
    kit.store(rings).await;
    assert_eq!(kit.card().await.0["contactName"], "Zyxwvasha", "the name on the list");
    kit.answer(&call).await;
    kit.advance(10).await;
    let report = Report { outcome: Some("interested".into()), ..talk() };
    kit.end(&call, Fact::Ended(EndCause::AgentEnded), report).await;
    let (card, _) = kit.card().await;
    kit.erase(card["contactId"].as_str().unwrap()).await.expect(200);
    kit.advance(3_600).await;
    let (gone, column) = kit.card().await;
    assert_eq!(column, "advancing");
    gone.shows(json!({"contactName": null, "contactPhone": null, "lastSummary": null}));
    assert_eq!(kit.actions().await, ["event done -", "nudge skipped contact_erased"]);
    assert_eq!(kit.nudges().await.len(), 0);
    assert_eq!(traces(&kit.app, &["Zyxwv", "9812300001"]).await, Vec::<String>::new());
    kit.recount().await;
}

#[tokio::test]
async fn a_column_sends_nothing_from_a_number_that_the_provider_does_not_let_send() {
    for word in ["BANNED", "DISCONNECTED"] {
        let kit = Kit::open().await;
        let number = kit.connect_sandbox().await;
        let template = json!({"name": "thanks", "language": "en", "category": "UTILITY",
            "components": [{"type": "BODY", "text": "Thank you."}]});
        let made = kit.post("/v1/chatapp/templates", &template).await.expect(201);
        kit.advance(3).await;
        let message = json!({"type": "message", "templateId": made["data"]["id"]});
        kit.automate("won", json!([message])).await;
        let person = json!({"externalRef": "cust_7", "phone": "+919812300001", "name": "Asha"});
        kit.post("/v1/contacts", &person).await.expect(201);
        crate::channel_refused::stands(&kit, &number, word).await;
        kit.talked("0001", "paid").await;
        kit.advance(5).await;
        assert_eq!(kit.actions().await, ["message skipped chatapp_not_connected"], "{word}");
        let sent = kit.data("/v1/chatapp/messages").await;
        let told = |one: &Value| json!([one["source"], one["to"], one["status"], one["error"]["code"]]);
        assert_eq!(
            sent.as_array().unwrap().iter().map(told).collect::<Vec<_>>(),
            [json!(["board_action", "+919812300001", "failed", -1005])],
            "{word}"
        );
        let failed = kit.payloads("message.failed").await;
        assert_eq!((failed.len(), &failed[0]["source"]), (1, &json!("board_action")), "{word}");
    }
}

#[tokio::test]
async fn a_column_sends_a_template_once_and_says_what_refused_it() {
    let kit = Kit::open().await;
    kit.connect_sandbox().await;
    let template = json!({"name": "thanks", "language": "en", "category": "UTILITY", "components": [
        {"type": "BODY", "text": "Thank you, {{1}}.", "example": {"body_text": [["Asha"]]}}]});
    let template = kit.post("/v1/chatapp/templates", &template).await.id(201);
    kit.advance(3).await;
    let mapping = json!({"body.1": {"source": "contact", "value": "name"}});
    kit.automate("won", json!([{"type": "message", "templateId": template, "paramMapping": mapping}])).await;
    let person = json!({"externalRef": "cust_7", "phone": "+919812300001", "name": "Asha"});
    kit.post("/v1/contacts", &person).await.expect(201);
    kit.talked("0001", "paid").await;
    kit.advance(5).await;
    assert_eq!(kit.actions().await, ["message done -"]);
    let sent = kit.data("/v1/chatapp/messages").await;
    let told = |message: &Value| [message["source"].clone(), message["text"].clone(), message["to"].clone()];
    assert_eq!(
        sent.as_array().unwrap().iter().map(told).collect::<Vec<_>>(),
        [[json!("board_action"), json!("Thank you, Asha."), json!("+919812300001")]]
    );
    // Somebody without a name, and somebody who must not be written to.
    kit.talked("0002", "paid").await;
    let person = json!({"externalRef": "cust_9", "phone": "+919812300003", "name": "Ravi"});
    kit.post("/v1/contacts", &person).await.expect(201);
    kit.missed("0003").await;
    kit.post("/v1/dnc", &json!({"phones": ["+919812300003"]})).await.expect(200);
    let cards = kit.cards(&kit.campaign).await;
    let card = |phone: &str| cards.iter().find(|card| card["contactPhone"] == phone).unwrap();
    kit.to_column(card("+919812300003"), "won").await.expect(200);
    kit.advance(5).await;
    for (phone, line) in [
        ("+919812300002", "message skipped missing_params"),
        ("+919812300003", "message skipped do_not_call"),
    ] {
        assert_eq!(kit.actions_of(&kit.campaign, card(phone)).await, [line]);
    }
    // Of the second nothing is kept; what was refused to a contact is a message that failed, and it is told.
    let sent = kit.data("/v1/chatapp/messages").await;
    let told = |message: &Value| json!([message["source"], message["to"], message["error"]["code"]]);
    assert_eq!(
        sent.as_array().unwrap().iter().map(told).collect::<Vec<_>>(),
        [json!(["board_action", "+919812300003", -1001]), json!(["board_action", "+919812300001", null])]
    );
    let failed = kit.payloads("message.failed").await;
    assert_eq!((failed.len(), &failed[0]["source"]), (1, &json!("board_action")));
    // A template that is not there is refused at once.
    let board = kit.board(&kit.campaign).await["boardId"].as_str().unwrap().to_owned();
    let path = format!("/boards/{board}");
    let mut settings = kit.operator("GET", &path, Value::Null).await.data(200);
    let gone = "tpl_01k9v5x2m8e6fs4v0q3n7w1y34";
    // The one that is there is shown with its prefix, and taken with the one that it had before.
    let won =
        settings["columns"].as_array().unwrap().iter().position(|column| column["key"] == "won").unwrap();
    let shown = settings["columns"][won]["automations"][0]["templateId"].clone();
    assert_eq!(shown, template.as_str());
    settings["columns"][won]["automations"][0]["templateId"] = json!(format!("ca{template}"));
    let body = json!({"columns": settings["columns"]});
    settings = kit.operator("PUT", &path, body).await.data(200);
    assert_eq!(settings["columns"][won]["automations"][0]["templateId"], template.as_str());
    settings["columns"][0]["automations"] = json!([{"type": "message", "templateId": gone}]);
    let refused = kit.operator("PUT", &path, json!({"columns": settings["columns"]})).await;
    refused.invalid().shows(json!({"meta.field": "columns[0].automations[0].templateId"}));
}

#[tokio::test]
async fn an_automation_is_claimed_and_carried_out_once() {
    let kit = Kit::open().await;
    kit.automate("won", json!([{"type": "event"}, {"type": "event"}])).await;
    kit.talked("0001", "paid").await;
    let app = kit.app();
    let now = app.clock.now();
    // Both are owed once more, and nobody is woken.
    let owed = "update board_actions set next_at = ?1, state = 'pending', finished_at = null";
    app.store.tx(move |tx| tx.exec(owed, store::params![now])).await.unwrap();
    let take = async || due_rows::take::<::boards::Due>(app).await.unwrap();
    let claimed = take().await;
    assert_eq!(claimed.iter().map(|due| due.position).collect::<Vec<_>>(), [0, 1]);
    if app.store.shared() {
        assert_eq!(take().await, []);
    }
    for due in claimed {
        ::boards::carry_out(app, due).await.unwrap();
        ::boards::carry_out(app, due).await.unwrap();
    }
    assert_eq!(kit.actions().await, ["event done -", "event done -"]);
    let sql = "select count(*) from board_actions where claimed_until is not null or attempts <> 2";
    assert_eq!(app.store.read(move |tx| tx.one::<i64>(sql, &[])).await.unwrap(), Some(0));
}
