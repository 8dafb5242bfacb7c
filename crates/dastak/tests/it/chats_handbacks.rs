//! What a handback asks, who owns a chat afterwards (docs/contract/chats.md#handback), and what conversations leave on
//! the board of their agent.

use serde_json::{Value, json};

use crate::channel_conversations::Room;
use crate::chats::{Chats, Turn};
use crate::shows::Shows;

impl Chats {
    async fn hands_back(&self, chat: &str) -> crate::app::Answer {
        self.operator("POST", &format!("/chats/{chat}/handback"), Value::Null).await
    }

    async fn takes_over(&self, chat: &str, user: &str) {
        self.operator("POST", &format!("/chats/{chat}/takeover"), json!({"userId": user})).await.expect(200);
    }

    async fn publish_agent(&self, status: &str) {
        let path = format!("/v1/agents/{}/status", self.agent);
        self.post(&path, &json!({"status": status})).await.expect(200);
    }

    async fn hours(&self, hours: Value) {
        let path = format!("/agents/{}/business-hours", self.agent);
        let body = json!({"timezone": "Asia/Kolkata", "hours": hours});
        self.operator("PUT", &path, body).await.expect(200);
    }
}

#[tokio::test]
async fn a_handback_asks_what_an_opening_asks() {
    let kit = Chats::open().await;
    let user = kit.add_member("editor@example.com", "editor").await;
    let id = kit.session().await;
    kit.takes_over(&id, &user).await;
    let stays = async |code: &str| {
        kit.hands_back(&id).await.refused(409, code);
        assert_eq!(kit.chat(&id).await["state"], "human", "{code}");
        assert_eq!(kit.says(&id, "Hello?").await["handedOff"], true, "{code}");
    };
    kit.hours(json!([])).await;
    stays("agent_offline").await;
    kit.hours(json!([{"days": [0, 1, 2, 3, 4, 5, 6], "from": "00:00", "to": "24:00"}])).await;
    kit.publish_agent("draft").await;
    stays("agent_unavailable").await;
    kit.publish_agent("active").await;
    kit.change(&json!({"features": {"chat": false}})).await;
    kit.hands_back(&id).await.refused(409, "feature_disabled");
    kit.change(&json!({"features": {"chat": true}})).await;
    assert_eq!((kit.events("chat.handed_back").await.len(), kit.model.asked()), (0, 1));
    kit.hands_back(&id).await.expect(200);
    assert_eq!(kit.says(&id, "Are you there?").await["reply"], "You said: Are you there?");
}

/// A conversation that the wallet did not cover is not free once the agent has it.
#[tokio::test]
async fn a_conversation_is_paid_from_its_handback_on() {
    let room = Room::open().await;
    let kit = &room;
    kit.change(&json!({"costPerChatMinor": 2_000_000})).await;
    room.writes("Hi").await;
    room.reply().await;
    let id = room.only().await["id"].as_str().unwrap().to_owned();
    kit.hands_back(&id).await.refused(409, "insufficient_balance");
    room.act(&id, "takeover", Value::Null).await.expect(200);
    room.act(&id, "handback", Value::Null).await.refused(409, "insufficient_balance");
    room.writes("Hello?").await;
    room.reply().await;
    assert_eq!((kit.model.asked(), kit.wallet().await), (0, (1_000_000, 0)));
    kit.change(&json!({"costPerChatMinor": 700})).await;
    room.act(&id, "handback", Value::Null).await.expect(200);
    assert_eq!(kit.wallet().await, (1_000_000, 700), "it is held as if it began now");
    room.writes("Now?").await;
    room.reply().await;
    assert_eq!(room.sent("agent").await, ["You said: Hi\nHello?\nNow?"]);
    // Another round costs nothing more.
    room.act(&id, "takeover", Value::Null).await.expect(200);
    room.act(&id, "handback", Value::Null).await.expect(200);
    room.act(&id, "end", Value::Null).await.expect(200);
    assert_eq!((kit.wallet().await, kit.charges().await), ((999_300, 0), vec![(-700, id)]));
}

#[tokio::test]
async fn an_agent_that_is_not_published_gets_no_conversation_back() {
    let room = Room::open().await;
    room.publish_agent("draft").await;
    room.writes("Hi").await;
    room.reply().await;
    let id = room.only().await["id"].as_str().unwrap().to_owned();
    room.hands_back(&id).await.refused(409, "agent_unavailable");
    room.writes("Hello?").await;
    room.reply().await;
    assert_eq!((room.model.asked(), room.sent("agent").await.len()), (0, 0));
    // What is published when it gets the chat is what it runs.
    room.publish(json!([{"id": "z", "type": "end", "text": "We are closed for good.", "outcome": "done"}]))
        .await;
    room.publish_agent("active").await;
    room.hands_back(&id).await.expect(200);
    room.writes("Now?").await;
    room.reply().await;
    assert_eq!(room.sent("agent").await, ["We are closed for good."]);
}

/// A burst that waited when a person took the conversation is over: the next one waits for its own end.
#[tokio::test]
async fn a_burst_after_a_handback_is_one_turn() {
    for by in ["inbox", "helpdesk"] {
        let room = Room::open().await;
        let user = room.add_member("ravi@example.com", "editor").await;
        room.writes("Hi").await;
        let id = room.only().await["id"].as_str().unwrap().to_owned();
        match by {
            "inbox" => room.takes_over(&id, &user).await,
            _ => drop(room.act(&id, "takeover", Value::Null).await.expect(200)),
        }
        room.advance(60).await;
        match by {
            "inbox" => drop(room.hands_back(&id).await.expect(200)),
            _ => drop(room.act(&id, "handback", Value::Null).await.expect(200)),
        }
        room.writes("One").await;
        assert_eq!(room.model.asked(), 0, "{by}: it waits for more");
        room.advance(1).await;
        room.writes("Two").await;
        room.reply().await;
        assert_eq!(room.model.asked(), 1, "{by}");
        assert_eq!(room.sent("agent").await.len(), 1, "{by}");
    }
}

/// What nobody decided is no win: a person is to look at it.
#[tokio::test]
async fn a_conversation_without_an_outcome_needs_a_review() {
    let room = Room::open().await;
    let kit = &room;
    let board = format!("/v1/agents/{}/board", kit.agent);
    let columns = kit.get(&board).await["data"]["columns"].clone();
    let open =
        columns.as_array().unwrap().iter().find(|column| column["type"] == "open").unwrap()["id"].clone();
    room.writes("Hi").await;
    room.reply().await;
    // It ends in silence.
    kit.advance(24 * 3_600).await;
    let shown = room.only().await;
    shown.shows(json!({"endCause": "idle_timeout", "outcome.disposition": null}));
    let cards = kit.data(&format!("{board}/cards")).await;
    assert_eq!(cards.as_array().unwrap().len(), 1, "{cards}");
    cards[0].shows(
        json!({"status": "needs_review", "columnId": open, "suggestedColumnId": null, "confidence": null}),
    );
    assert_eq!(shown["outcome"]["boardColumn"], "open");
    // One that the agent ends with an outcome decides.
    room.writes("Again").await;
    kit.model.will([Turn::Say(vec![
        domain::ports::Said::Text("Bye.".into()),
        domain::ports::Said::End(Some("paid".into())),
    ])]);
    room.reply().await;
    let cards = kit.data(&format!("{board}/cards")).await;
    let won =
        columns.as_array().unwrap().iter().find(|column| column["type"] == "won").unwrap()["id"].clone();
    assert_eq!((&cards[0]["status"], &cards[0]["columnId"]), (&json!("placed"), &won));
}
