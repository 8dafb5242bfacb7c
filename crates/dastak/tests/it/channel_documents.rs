//! Documents that customers send on the messaging channel (docs/contract/documents.md#on-the-messaging-channel).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::ports::ProviderFault;
use serde_json::{Value, json};

use crate::app::TestApp;
use crate::channel_conversations::Room;
use crate::chats::{Turn, ends, lines, say};
use crate::documents::{JPEG, PDF, PNG, eyes, flow, good, other, sees};
use crate::receiver::Receiver;

const ASKED: &str = "agent: Please send: PAN card";

fn media(kind: &str, mime_type: &str, bytes: &[u8]) -> Value {
    json!({"media": {"type": kind, "mimeType": mime_type, "data": STANDARD.encode(bytes)}})
}

fn picture(bytes: &[u8]) -> Value {
    media("image", "image/png", bytes)
}

/// A customer who has written, and whom the agent has asked for a document.
async fn asked(room: Room) -> Room {
    room.publish(flow()).await;
    room.writes("Hello").await;
    room.reply().await;
    assert_eq!(lines(&room.only().await["messages"]), ["user: Hello", ASKED]);
    room
}

async fn read_by(reader: &Receiver) -> Room {
    let section = eyes(reader);
    asked(Room::open_with(move |config| config.providers.models = vec![section]).await).await
}

async fn listed(room: &Room) -> Vec<Value> {
    room.operator("GET", "/documents", Value::Null).await.list(200)
}

/// Files of documents that the object store holds.
fn stored(app: &TestApp) -> usize {
    let folder = app.app().config.data.join("documents");
    std::fs::read_dir(folder).map_or(0, |files| files.count())
}

/// Lets time pass until the transcript has so many lines; the lines.
async fn until(room: &Room, count: usize) -> Vec<String> {
    for _ in 0..90 {
        let lines = lines(&room.only().await["messages"]);
        if lines.len() >= count {
            return lines;
        }
        room.advance(1).await;
    }
    panic!("nobody replied: {}", room.only().await);
}

#[tokio::test]
async fn the_files_that_come_together_are_one_document() {
    let reader = Receiver::start(sees(&good())).await;
    let room = read_by(&reader).await;
    room.customer(picture(PNG)).await;
    room.customer(media("document", "application/pdf", PDF)).await;
    room.writes("Here it is").await;
    let said = until(&room, 6).await;
    assert_eq!(said[2..5], ["user: [image]", "user: [document]", "user: Here it is"]);
    assert_eq!(said[5], "agent: Goodbye.");
    let chat = room.only().await;
    let events = room.events("document.received").await;
    assert_eq!(events.len(), 1);
    let data = &events[0]["data"];
    assert_eq!((&data["interactionId"], &data["nodeId"]), (&chat["id"], &json!("ask")));
    assert_eq!((&data["label"], &data["attempts"]), (&json!("PAN card"), &json!(1)));
    let parts = json!([{"part": "part1", "contentType": "image/png"}, {"part": "part2", "contentType": "application/pdf"}]);
    assert_eq!(data["parts"], parts);
    // Of this PDF no words can be read, so nobody has read the document as a whole.
    assert_eq!((&data["status"], &data["reasons"]), (&json!("unverified"), &json!(["not_read"])));
    assert_eq!((listed(&room).await.len(), stored(&room.app)), (1, 2));
    room.advance(2 * 3600).await;
    assert_eq!(stored(&room.app), 2, "they are not dropped with those that were never accepted");
    assert_eq!(room.sent("agent").await, ["Please send: PAN card", "Goodbye."]);
}

#[tokio::test]
async fn what_is_read_off_a_picture_is_captured() {
    let reader = Receiver::start(sees(&good())).await;
    let room = read_by(&reader).await;
    room.customer(picture(PNG)).await;
    until(&room, 4).await;
    let document = &listed(&room).await[0];
    assert_eq!(document["status"], "verified");
    assert_eq!(document["fields"], json!({"name": "Asha Rao", "number": "XXXXX1234X"}));
    assert_eq!(reader.got().len(), 1);
    let id = document["documentId"].as_str().unwrap();
    let file = room.operator("GET", &format!("/documents/{id}/file"), Value::Null).await;
    assert_eq!((file.status, file.header("content-type")), (200, Some("image/png")));
}

#[tokio::test]
async fn another_document_is_asked_for_again_until_the_attempts_are_over() {
    let reader = Receiver::start(sees(&other())).await;
    let room = read_by(&reader).await;
    room.customer(picture(PNG)).await;
    assert_eq!(until(&room, 4).await[3], ASKED);
    assert_eq!(listed(&room).await[0]["status"], "open");
    assert_eq!(room.events("document.received").await.len(), 0, "the step is not over");
    room.customer(picture(JPEG)).await;
    assert_eq!(until(&room, 6).await[5], "agent: A colleague will call you.");
    let documents = listed(&room).await;
    assert_eq!((documents.len(), &documents[0]["status"]), (1, &json!("failed")));
    assert_eq!(room.events("document.received").await.len(), 1);
    room.advance(60).await;
    assert_eq!(stored(&room.app), 0, "what was not accepted is not kept");
}

#[tokio::test]
async fn what_is_no_file_of_a_document_is_no_attempt() {
    let reader = Receiver::start(sees(&good())).await;
    let room = read_by(&reader).await;
    let others = [
        json!({"text": "Why?"}),
        media("document", "text/plain", b"just words"),
        media("image", "image/png", b"no picture at all"),
        media("audio", "audio/mpeg", PNG),
    ];
    for (at, what) in others.into_iter().enumerate() {
        room.customer(what).await;
        assert_eq!(until(&room, 4 + 2 * at).await[3 + 2 * at], ASKED);
    }
    assert_eq!((listed(&room).await.len(), stored(&room.app), reader.got().len()), (0, 0, 0));
    // A file of another type beside the picture is left out.
    room.customer(media("document", "text/plain", b"just words")).await;
    room.customer(picture(PNG)).await;
    let said = until(&room, 13).await;
    assert_eq!(said.last().unwrap(), "agent: Goodbye.");
    assert_eq!(listed(&room).await[0]["attempts"], 1);
}

/// The model that goes on after the document fails: what was handed in is not handed in again.
#[tokio::test]
async fn a_document_is_handed_in_once_however_often_the_reply_is_tried() {
    let reader = Receiver::start(sees(&good())).await;
    let room = read_by(&reader).await;
    let nodes = json!([
        {"id": "ask", "type": "document", "label": "PAN card", "fields": ["name", "number"], "attempts": 2, "next": "talk"},
        {"id": "talk", "type": "converse", "prompt": "Thank them.", "exits": [{"when": "done", "next": "z"}]},
        ends(),
    ]);
    room.publish(nodes).await;
    let id = room.only().await["id"].as_str().unwrap().to_owned();
    let path = format!("/v1/chatapp/conversations/{id}/end");
    room.post(&path, &Value::Null).await.expect(200);
    room.writes("Hello again").await;
    room.reply().await;
    room.model.will((0..2).map(|_| Turn::Fail(ProviderFault::Unreachable)).chain([say("Thank you.")]));
    room.customer(picture(PNG)).await;
    for _ in 0..90 {
        room.advance(1).await;
        if room.sent("agent").await.last().is_some_and(|said| said == "Thank you.") {
            break;
        }
    }
    assert_eq!(room.sent("agent").await.last().unwrap(), "Thank you.");
    assert_eq!((listed(&room).await.len(), reader.got().len(), stored(&room.app)), (1, 1, 1));
    assert_eq!(room.events("document.received").await.len(), 1);
}

#[tokio::test]
async fn a_file_that_comes_unasked_is_no_document() {
    let reader = Receiver::start(sees(&good())).await;
    let section = eyes(&reader);
    let room = Room::open_with(move |config| config.providers.models = vec![section]).await;
    room.publish(flow()).await;
    // It opens the conversation: the agent has not asked for anything yet.
    room.customer(picture(PNG)).await;
    assert_eq!(until(&room, 2).await[1], ASKED);
    assert_eq!((listed(&room).await.len(), reader.got().len()), (0, 0));
}

#[tokio::test]
async fn a_document_on_the_channel_is_erased_with_the_person() {
    let room = asked(Room::open().await).await;
    room.customer(picture(PNG)).await;
    until(&room, 4).await;
    assert_eq!((listed(&room).await.len(), stored(&room.app)), (1, 1));
    let contact = room.only().await["contactId"].as_str().unwrap().to_owned();
    room.erase(&contact).await.expect(200);
    room.advance(60).await;
    assert_eq!((listed(&room).await.len(), stored(&room.app)), (0, 0));
}

/// What is kept of a message and of its file ends with the days that are kept.
#[tokio::test]
async fn old_messages_are_removed_with_their_files() {
    let room = Room::open_with(|config| config.chats.keep_days = 2).await;
    room.customer(picture(PNG)).await;
    room.reply().await;
    let kept = || {
        let folder = room.app().config.data.join("channel");
        std::fs::read_dir(folder).map_or(0, |files| files.count())
    };
    let messages = async || {
        let listed = room.get("/v1/chatapp/messages?limit=10").await;
        listed["data"].as_array().unwrap().len()
    };
    assert_eq!((messages().await, kept()), (2, 1));
    room.advance(86_400).await;
    assert_eq!((messages().await, kept()), (2, 1));
    // They are looked for once a day at least.
    room.advance(2 * 86_400).await;
    room.advance(60).await;
    assert_eq!((messages().await, kept()), (0, 0));
}
