//! People in chats (docs/contract/chats.md#people): hand-off, takeover, a teammate's words, handback, and the events
//! of each, once.

use serde_json::{Value, json};

use crate::chats::{Chats, Turn, ends, lines, say, tool};
use crate::receiver::Receiver;
use crate::shows::Shows;

impl Chats {
    async fn inbox(&self, chat: &str, what: &str, body: Value) -> crate::app::Answer {
        self.operator("POST", &format!("/chats/{chat}/{what}"), body).await
    }

    async fn state(&self, chat: &str) -> String {
        self.chat(chat).await["state"].as_str().unwrap().to_owned()
    }

    async fn count(&self, kind: &str) -> usize {
        self.events(kind).await.len()
    }
}

fn handed() -> Value {
    json!({"reply": null, "ended": false, "handedOff": true})
}

#[tokio::test]
async fn a_flow_hands_over_and_goes_on_afterwards() {
    let kit = Chats::open().await;
    let user = kit.add_member("editor@example.com", "editor").await;
    let field = json!({"key": "x", "label": "X", "type": "text"});
    kit.publish(json!([
        {"id": "a", "type": "collect", "text": "What is it about?", "field": field, "attempts": 2, "next": "b"},
        {"id": "b", "type": "transfer", "text": "One moment.", "onFail": "c"},
        {"id": "c", "type": "collect", "text": "Anything else?", "field": field, "attempts": 2, "next": "z"},
        ends(),
    ]))
    .await;
    let id = kit.session().await;
    assert_eq!(kit.says(&id, "A refund").await, handed());
    assert_eq!(kit.state(&id).await, "awaiting_human");
    assert_eq!(kit.says(&id, "Hello?").await, handed(), "words that wait for a person");
    let asked = kit.events("chat.handoff_requested").await;
    assert_eq!(asked.len(), 1);
    asked[0].shows(json!({"data.reason": null}));
    assert!(asked[0]["data"]["handoffAt"].is_string());
    assert_eq!(
        lines(&asked[0]["data"]["transcript"]),
        ["agent: What is it about?", "user: A refund", "agent: One moment."]
    );
    let waiting = kit.operator("GET", "/chats?state=awaiting_human", Value::Null).await.data(200);
    assert_eq!((waiting.as_array().unwrap().len(), &waiting[0]["id"]), (1, &json!(id)));
    let taken = kit.inbox(&id, "takeover", json!({"userId": user})).await.data(200);
    assert_eq!((&taken["state"], &taken["userId"]), (&json!("human"), &json!(user)));
    kit.inbox(&id, "takeover", json!({"userId": user})).await.expect(200);
    assert_eq!(
        (kit.count("chat.taken_over").await, kit.count("chat.assigned").await),
        (0, 1),
        "a teammate is no helpdesk, and a repeat tells nothing"
    );
    let assigned = kit.events("chat.assigned").await[0]["data"].clone();
    assigned.shows(json!({"assignedTo": {"userId": user, "name": "Ravi"}, "reason": "manual"}));
    kit.inbox(&id, "messages", json!({"text": "It is on its way."})).await.expect(200);
    assert_eq!(kit.says(&id, "Thank you").await, handed());
    kit.inbox(&id, "handback", Value::Null).await.expect(200);
    kit.advance(0).await;
    assert_eq!(kit.state(&id).await, "ai");
    let back = kit.events("chat.handed_back").await;
    assert_eq!(back.len(), 1);
    back[0]["data"].shows(json!({"messagesAdded": 1, "note": null}));
    assert_eq!(
        kit.transcript(&id).await,
        [
            "agent: What is it about?",
            "user: A refund",
            "agent: One moment.",
            "user: Hello?",
            "human: It is on its way.",
            "user: Thank you",
            "agent: Anything else?"
        ]
    );
    assert_eq!(kit.says(&id, "No").await, json!({"reply": "Goodbye.", "ended": true, "handedOff": false}));
    assert_eq!((kit.count("chat.completed").await, kit.charges().await.len()), (1, 1));
}

/// A flow that has nothing to say after the person says goodbye.
#[tokio::test]
async fn a_flow_without_a_way_on_ends_when_it_is_handed_back() {
    let kit = Chats::open().await;
    let user = kit.add_member("admin@example.com", "admin").await;
    kit.publish(json!([{"id": "a", "type": "transfer", "text": "One moment."}, ends()])).await;
    let id = kit.session().await;
    assert_eq!(kit.state(&id).await, "awaiting_human");
    kit.inbox(&id, "takeover", json!({"userId": user})).await.expect(200);
    kit.inbox(&id, "handback", Value::Null).await.expect(200);
    kit.advance(0).await;
    let chat = kit.operator("GET", &format!("/chats/{id}"), Value::Null).await.data(200);
    assert_eq!((&chat["state"], &chat["outcome"]), (&json!("ended"), &json!("transferred")));
}

#[tokio::test]
async fn the_model_asks_for_a_person() {
    let kit = Chats::open().await;
    let path = format!("/v1/agents/{}", kit.agent);
    kit.put(&path, &json!({"toolIds": ["transfer_to_human"]})).await.expect(200);
    let user = kit.add_member("owner@example.com", "owner").await;
    let id = kit.session().await;
    kit.model.will([tool("Let me see.", "transfer_to_human", json!({"reason": "angry"}))]);
    assert_eq!(kit.says(&id, "A person, please").await, handed());
    assert_eq!(kit.model.asked(), 2, "it is not asked again while a person has the chat");
    kit.inbox(&id, "takeover", json!({"userId": user})).await.expect(200);
    kit.inbox(&id, "messages", json!({"text": "I am Ravi."})).await.expect(200);
    kit.says(&id, "Good").await;
    kit.inbox(&id, "handback", Value::Null).await.expect(200);
    kit.advance(0).await;
    assert_eq!((kit.model.asked(), kit.state(&id).await), (2, "ai".to_owned()), "it waits for the customer");
    assert_eq!(kit.says(&id, "Are you there?").await["reply"], "You said: Are you there?");
    assert_eq!(
        kit.model.shown(),
        [
            "agent: Hello, I am Asha.",
            "user: A person, please",
            "agent: Let me see.",
            "calls transfer_to_human",
            "answered true \"The chat is handed to a person.\"",
            "agent: I am Ravi.",
            "user: Good",
            "user: Are you there?"
        ]
    );
}

/// A teammate may take a chat from the agent in the middle of its reply, which is then not given.
#[tokio::test]
async fn a_takeover_stops_the_reply() {
    let kit = Chats::open().await;
    let user = kit.add_member("editor@example.com", "editor").await;
    let id = kit.session().await;
    kit.model.will([Turn::Wait("Too late.")]);
    let (answer, ()) = tokio::join!(kit.write(&id, "Hello?"), async {
        kit.model.asked_times(2).await;
        kit.inbox(&id, "takeover", json!({"userId": user})).await.expect(200);
        kit.model.gate.add_permits(1);
    });
    assert_eq!(answer.expect(200)["data"], handed());
    assert_eq!(kit.transcript(&id).await, ["agent: Hello, I am Asha.", "user: Hello?"]);
    kit.inbox(&id, "messages", json!({"text": "Ravi here."})).await.expect(200);
    kit.inbox(&id, "handback", Value::Null).await.expect(200);
    kit.says(&id, "And now?").await;
    assert_eq!(
        kit.model.shown(),
        ["agent: Hello, I am Asha.", "user: Hello?", "agent: Ravi here.", "user: And now?"]
    );
}

#[tokio::test]
async fn what_the_inbox_refuses() {
    let kit = Chats::open().await;
    let (viewer, editor, admin) = (
        kit.add_member("viewer@example.com", "viewer").await,
        kit.add_member("editor@example.com", "editor").await,
        kit.add_member("admin@example.com", "admin").await,
    );
    let id = kit.session().await;
    kit.inbox(&id, "messages", json!({"text": "Hi"})).await.conflict();
    kit.inbox(&id, "handback", Value::Null).await.conflict();
    for user in [viewer.as_str(), "usr_01k9v5x2m8e6fs4v0q3n7w1y39"] {
        let refused = kit.inbox(&id, "takeover", json!({"userId": user})).await.invalid();
        assert_eq!(refused["meta"]["field"], "userId");
    }
    kit.inbox(&id, "takeover", json!({"userId": editor})).await.expect(200);
    kit.inbox(&id, "takeover", json!({"userId": admin})).await.conflict();
    kit.inbox(&id, "messages", json!({"text": " "})).await.invalid();
    let ended = kit.inbox(&id, "end", Value::Null).await.data(200);
    assert_eq!((&ended["state"], &ended["endCause"]), (&json!("ended"), &json!("human_ended")));
    assert_eq!(kit.inbox(&id, "end", Value::Null).await.expect(200)["data"], ended);
    for (what, body) in [
        ("takeover", json!({"userId": editor})),
        ("messages", json!({"text": "Hi"})),
        ("handback", Value::Null),
    ] {
        kit.inbox(&id, what, body).await.refused(409, "session_ended");
    }
    assert_eq!(kit.count("chat.completed").await, 1);
}

/// A chat that waits for a person does not end by silence; one that a person has does.
#[tokio::test]
async fn silence_while_people_have_it() {
    let kit = Chats::open().await;
    let user = kit.add_member("editor@example.com", "editor").await;
    kit.publish(json!([{"id": "a", "type": "transfer", "text": "One moment."}, ends()])).await;
    let (waits, held) = (kit.session().await, kit.session().await);
    kit.inbox(&held, "takeover", json!({"userId": user})).await.expect(200);
    kit.advance(31 * 60).await;
    assert_eq!((kit.state(&waits).await, kit.state(&held).await), ("awaiting_human".into(), "ended".into()));
    kit.advance(24 * 3600).await;
    assert_eq!(kit.state(&waits).await, "ended");
}

#[tokio::test]
async fn the_inbox_pages_newest_first() {
    let kit = Chats::open().await;
    let mut ids = Vec::new();
    for _ in 0..3 {
        kit.model.will([say("Hello.")]);
        ids.push(kit.session().await);
        kit.advance(1).await;
    }
    let first = kit.operator("GET", "/chats?limit=2", Value::Null).await.expect(200);
    let cursor = first["nextCursor"].as_str().unwrap();
    let second =
        kit.operator("GET", &format!("/chats?limit=2&cursor={cursor}"), Value::Null).await.expect(200);
    let listed: Vec<&Value> = first["data"]
        .as_array()
        .unwrap()
        .iter()
        .chain(second["data"].as_array().unwrap())
        .map(|chat| &chat["id"])
        .collect();
    assert_eq!(listed, [&json!(ids[2]), &json!(ids[1]), &json!(ids[0])]);
    assert_eq!(second["nextCursor"], Value::Null);
}

/// The words of a chat are kept once: an event knows how far they went, and whoever reads or sends it gets them.
#[tokio::test]
async fn events_carry_the_transcript_up_to_their_moment_and_do_not_store_it() {
    let kit = Chats::open().await;
    let receiver = Receiver::ok().await;
    let hook = json!({"url": receiver.url, "events": ["chat.assigned", "chat.handed_back"]});
    let hook = kit.post("/v1/webhooks", &hook).await.data(201);
    let (id, user) = (kit.session().await, kit.add_member("editor@example.com", "editor").await);
    let long = "long ".repeat(700);
    kit.says(&id, &long).await;
    let before = kit.transcript(&id).await;
    for _ in 0..10 {
        kit.inbox(&id, "takeover", json!({"userId": user})).await.expect(200);
        kit.inbox(&id, "handback", Value::Null).await.expect(200);
    }
    kit.inbox(&id, "takeover", json!({"userId": user})).await.expect(200);
    kit.inbox(&id, "messages", json!({"text": "Here I am."})).await.expect(200);
    kit.advance(1).await;
    // Stored once.
    let tenant = kit.tenant();
    let stored =
        kit.app().store.of(tenant).read(move |tx| store::events::list_after(tx, "", 1_000)).await.unwrap();
    let words =
        stored.iter().filter(|row| row.envelope.as_ref().is_some_and(|text| text.contains("long long")));
    assert_eq!((words.count(), stored.iter().filter(|row| row.transcript.is_some()).count()), (0, 21));
    // Read and sent in full, up to the moment of the event.
    let assigned = kit.events("chat.assigned").await;
    assert_eq!(assigned.len(), 11);
    assert!(assigned.iter().all(|event| lines(&event["data"]["transcript"]) == before), "{assigned:?}");
    let got = receiver.wait_for(21).await;
    assert!(got.iter().all(|got| lines(&got.json()["data"]["transcript"]) == before));
    let secret = hook["secret"].as_str().unwrap();
    assert!(got.iter().all(|got| got.signed_with(secret)), "the body that is sent is the one that is signed");
    let logged = format!("/v1/webhooks/{}/deliveries", hook["id"].as_str().unwrap());
    let newest = kit.get(&logged).await["data"][0].clone();
    assert_eq!(lines(&newest["payload"]["data"]["transcript"]), before);
    // A replay sends what was sent.
    let path = format!("{logged}/{}", newest["id"].as_str().unwrap());
    kit.post(&format!("{path}/replay"), &Value::Null).await.expect(202);
    kit.advance(1).await;
    let again = receiver.wait_for(22).await.pop().unwrap();
    assert_eq!(again.json(), newest["payload"]);
    let shown = kit.get(&path).await;
    assert_eq!(shown["data"]["payload"], newest["payload"]);
}
