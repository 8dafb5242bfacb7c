//! Erasing a person whose words are in transcripts of events. A chat keeps them once, and they are put into `chat.*`
//! events when these are sent or read, so an erasure has to reach what is read, replayed and tried again.

use serde_json::{Value, json};

use crate::channel_conversations::Room;
use crate::erasure::{files_with, traces};
use crate::receiver::{Behaviour, Receiver};

/// A word that only the person writes, and the person's number.
const SECRETS: &[&str] = &["Vwxqz", "9812345678"];
const MARK: &str = SECRETS[0];

/// An endpoint for all events: its path.
async fn endpoint(room: &Room, receiver: &Receiver) -> String {
    let body = json!({"url": receiver.url, "events": []});
    let made = room.post("/v1/webhooks", &body).await.expect(201);
    format!("/v1/webhooks/{}", made["data"]["id"].as_str().unwrap())
}

/// Every delivery of an endpoint, whole.
async fn deliveries(room: &Room, endpoint: &str) -> Vec<Value> {
    let path = format!("{endpoint}/deliveries");
    let listed = room.get(&format!("{path}?limit=100")).await;
    let mut all = Vec::new();
    for entry in listed["data"].as_array().unwrap() {
        let path = format!("{path}/{}", entry["id"].as_str().unwrap());
        all.push(room.data(&path).await);
    }
    all
}

#[tokio::test]
async fn the_words_of_an_erased_person_are_in_no_transcript() {
    let room = Room::open().await;
    let (kit, app) = (&room, &room.app);
    let (well, ill) = (Receiver::ok().await, Receiver::start(Behaviour::status(500)).await);
    let endpoints = [endpoint(&room, &well).await, endpoint(&room, &ill).await];
    let user = room.add_member("ravi@acme.example", "editor").await;
    room.writes(&format!("I am {MARK}")).await;
    room.reply().await;
    let shown = room.only().await;
    let (id, contact) = (shown["id"].as_str().unwrap(), shown["contactId"].as_str().unwrap());
    let inbox = async |what: &str, body: Value| {
        kit.operator("POST", &format!("/chats/{id}/{what}"), body).await.expect(200);
        app.advance(1).await;
    };
    inbox("takeover", json!({"userId": user})).await;
    inbox("messages", json!({"text": format!("Good morning, {MARK}.")})).await;
    inbox("handback", Value::Null).await;
    room.writes(&format!("{MARK} again")).await;
    room.reply().await;
    // What is there before: in events as they are read and sent, and of the words one copy in the store.
    for kind in ["chat.assigned", "chat.handed_back"] {
        let events = kit.events(kind).await;
        assert!(events[0]["data"]["transcript"].to_string().contains(MARK), "{kind}: {events:?}");
    }
    assert!(well.got().iter().any(|got| got.body.contains("handed_back") && got.body.contains(MARK)));
    let logged = deliveries(&room, &endpoints[0]).await;
    let of_chats = |entry: &&Value| entry["event"] == "chat.handed_back";
    let handed_back = logged.iter().find(of_chats).unwrap();
    assert!(handed_back["payload"]["data"]["transcript"].to_string().contains(MARK), "{handed_back}");
    let before = traces(app, SECRETS).await;
    for place in ["chat_messages.", "channel_messages.", "contacts.phone", "events.envelope"] {
        assert!(before.iter().any(|found| found.starts_with(place)), "{place} is searched: {before:?}");
    }

    let (told, tried) = (well.got().len(), ill.got().len());
    app.post(kit.live(), &format!("/v1/contacts/{contact}/erase"), &Value::Null).await.expect(200);
    for waited in [0, 1, 86_400] {
        app.advance(waited).await;
        assert_eq!(traces(app, SECRETS).await, Vec::<String>::new(), "after {waited} s");
        assert_eq!(files_with(&app.app().config.data, SECRETS), Vec::<String>::new(), "after {waited} s");
    }
    let names = |text: &str| SECRETS.iter().any(|secret| text.contains(secret));
    let events = app.get(kit.live(), "/v1/events?after=start&limit=100").await;
    assert!(!names(&events.text), "{}", events.text);
    let completed = kit.events("chat.completed").await;
    assert_eq!((completed.len(), &completed[0]["data"]["transcript"]), (1, &json!([])));
    let mut refused = 0;
    for endpoint in &endpoints {
        for entry in deliveries(&room, endpoint).await {
            assert!(!names(&entry.to_string()), "{entry}");
            let path = format!("{endpoint}/deliveries/{}/replay", entry["id"].as_str().unwrap());
            let answer = app.post(kit.live(), &path, &Value::Null).await;
            if entry["payload"].is_null() {
                answer.refused(409, "delivery_redacted");
                refused += 1;
            } else {
                answer.expect(202);
            }
        }
    }
    // At each of the two receivers, the three events after `chat.started`, which has no transcript.
    assert_eq!(refused, 2 * 3, "deliveries that were emptied");
    app.advance(86_400).await;
    let later = well.got().split_off(told).into_iter().chain(ill.got().split_off(tried));
    let later: Vec<String> = later.map(|got| got.body).collect();
    assert!(later.iter().any(|body| body.contains("chat.completed")), "the end of the chat is told");
    assert!(later.iter().all(|body| !names(body)), "{later:?}");
    let path = format!("/chats/{id}");
    assert!(!names(&kit.operator("GET", &path, Value::Null).await.text));
}
