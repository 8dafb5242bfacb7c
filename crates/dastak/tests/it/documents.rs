//! Documents that customers hand in during a chat (docs/contract/documents.md).

use std::time::Duration;

use dastak::config::Config;
use domain::ids::{Chat, Contact, Id};
use domain::tenant::Tenant;
use providers::settings::LanguageModel as Section;
use serde_json::{Value, json};
use store::params;

use crate::app::Answer;
use crate::chats::{Chats, chat_agent, ends};
use crate::knowledge_files_hostile::pages;
use crate::receiver::{Behaviour, Receiver};
use crate::shows::Shows;
use crate::world::World;
use crate::worlds;

pub const PDF: &[u8] = b"%PDF-1.7\nthe customer's card";
pub const PNG: &[u8] = b"\x89PNG\r\n\x1a\nthe customer's card";
pub const JPEG: &[u8] = b"\xFF\xD8\xFF\xE0the back of it";

/// The flow: a document, and one more where it was not accepted.
pub fn flow() -> Value {
    json!([
        {"id": "ask", "type": "document", "label": "PAN card", "fields": ["name", "number"], "attempts": 2,
         "next": "z", "onFail": "sorry"},
        ends(),
        {"id": "sorry", "type": "end", "text": "A colleague will call you.", "outcome": "no_document"},
    ])
}

/// An upload: parts are `(name of the part, bytes)`.
fn form(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut body = Vec::new();
    for (name, bytes) in parts {
        if !name.is_empty() {
            let field = format!("--b\r\ncontent-disposition: form-data; name=\"part\"\r\n\r\n{name}\r\n");
            body.extend(field.as_bytes());
        }
        body.extend(b"--b\r\ncontent-disposition: form-data; name=\"file\"; filename=\"card.bin\"\r\n\r\n");
        body.extend(*bytes);
        body.extend(b"\r\n");
    }
    body.extend(b"--b--\r\n");
    body
}

/// An upload as it is: a header and a body.
pub fn an_upload() -> ((&'static str, &'static str), Vec<u8>) {
    (FORM, form(&[("", PDF)]))
}

/// A document of a workspace that others ask for; its id.
pub async fn handed_in(desk: &worlds::Desk) -> String {
    handed_in_to(desk).await
}

/// The same without a world.
pub async fn handed_in_to(world: &World) -> String {
    let agent = world.agent(&chat_agent()).await;
    world.publish_for(&agent, flow()).await;
    let opened = world.post("/v1/chat/sessions", &json!({"agentId": agent})).await.data(201);
    let path = format!("/v1/chat/sessions/{}/documents", opened["sessionId"].as_str().unwrap());
    let (kind, body) = an_upload();
    let answer = world.send("POST", &path, Some(world.live()), &[kind], body.into()).await.data(200);
    answer["documentId"].as_str().unwrap().to_owned()
}

const FORM: (&str, &str) = ("content-type", "multipart/form-data; boundary=b");

/// A chat agent that asks for a document. Nobody reads it.
async fn asks() -> Chats {
    asks_with(|_| ()).await
}

async fn asks_with(change: impl FnOnce(&mut Config)) -> Chats {
    let chats = Chats::open_with(change).await;
    chats.publish(flow()).await;
    chats
}

/// One whose documents a model reads that answers as told.
async fn read_by(reader: &Receiver) -> Chats {
    let section = eyes(reader);
    asks_with(move |config| config.providers.models = vec![section]).await
}

impl Chats {
    async fn upload_as(&self, key: &str, session: &str, parts: &[(&str, &[u8])]) -> Answer {
        let path = format!("/v1/chat/sessions/{session}/documents");
        self.send("POST", &path, Some(key), &[FORM], form(parts).into()).await
    }

    async fn upload(&self, session: &str, parts: &[(&str, &[u8])]) -> Answer {
        self.upload_as(self.live(), session, parts).await
    }

    /// Documents as the operator sees them, newest first.
    async fn documents(&self) -> Vec<Value> {
        self.operator("GET", "/documents", Value::Null).await.list(200)
    }

    async fn document_file(&self, document: &str, query: &str) -> Answer {
        self.operator("GET", &format!("/documents/{document}/file{query}"), Value::Null).await
    }

    async fn review(&self, document: &str, body: Value) -> Answer {
        self.operator("POST", &format!("/documents/{document}/review"), body).await
    }

    /// Files of documents that the object store holds.
    fn stored_documents(&self) -> usize {
        let folder = self.app().config.data.join("documents");
        std::fs::read_dir(folder).map_or(0, |files| files.count())
    }
}

/// A model that sees.
pub fn eyes(reader: &Receiver) -> Section {
    Section {
        name: "eyes".into(),
        base_url: reader.url.replace("/hook", "/v1"),
        model: "eyes".into(),
        vision: true,
        resident: Some(true),
        timeout: Duration::from_secs(5),
        ..Section::default()
    }
}

/// What a model that sees says of a document.
pub fn sees(report: &Value) -> Behaviour {
    let content = report.to_string();
    let body =
        json!({"choices": [{"message": {"role": "assistant", "content": content}, "finish_reason": "stop"}]});
    let body = body.to_string();
    Behaviour::Answer(format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    ))
}

pub fn good() -> Value {
    json!({"matches": true, "legible": true, "problems": [],
        "fields": {"name": "Asha Rao", "number": "ABCDE1234F", "unasked": "x"}})
}

pub fn other() -> Value {
    json!({"matches": false, "legible": true, "problems": ["this is a bill, no. 1234 5678 9012"], "fields": {}})
}

#[tokio::test]
async fn a_document_that_nobody_reads_is_accepted_unverified_and_announced_once() {
    let world = asks().await;
    let session = world.session().await;
    let answer = world.upload(&session, &[("front", PDF), ("", JPEG)]).await.data(200);
    let id = answer["documentId"].as_str().unwrap().to_owned();
    assert!(id.starts_with("doc_"));
    let expected = json!({"documentId": id, "status": "unverified", "reasons": ["not_read"], "attempts": 1,
        "reply": "Goodbye.", "ended": true, "handedOff": false});
    assert_eq!(answer, expected);
    let events = world.events("document.received").await;
    assert_eq!(events.len(), 1);
    let data = &events[0]["data"];
    let expected = json!({
        "documentId": id, "interactionId": session, "chatSessionId": session, "agentId": world.agent,
        "nodeId": "ask", "label": "PAN card", "status": "unverified", "fields": {}, "reasons": ["not_read"],
        "attempts": 1,
        "parts": [{"part": "front", "contentType": "application/pdf"}, {"part": "part2", "contentType": "image/jpeg"}],
        "reviewedAt": null, "createdAt": data["createdAt"], "updatedAt": data["updatedAt"],
    });
    assert_eq!(*data, expected);
    assert!(!data.to_string().contains("http"), "no link to a file");
    assert_eq!((world.documents().await, world.stored_documents()), (vec![data.clone()], 2));
    let one = world.operator("GET", &format!("/documents/{id}"), Value::Null).await.expect(200);
    assert_eq!(one["data"], *data);
    let of_chat = world.operator("GET", &format!("/documents?chatId={session}"), Value::Null).await;
    assert_eq!(of_chat.expect(200)["data"], json!([data]));
    let transcript = world.transcript(&session).await;
    assert_eq!(transcript, ["agent: Please send: PAN card", "user: [PAN card]", "agent: Goodbye."]);
    // An hour later the files are still there: they are not dropped with those that were never accepted.
    world.advance(2 * 3600).await;
    assert_eq!(world.stored_documents(), 2);
    for (query, bytes, kind) in [
        ("", PDF, "application/pdf"),
        ("?part=front", PDF, "application/pdf"),
        ("?part=part2", JPEG, "image/jpeg"),
    ] {
        let file = world.document_file(&id, query).await;
        assert_eq!((file.status, file.header("content-type")), (200, Some(kind)), "{query}");
        assert_eq!(file.header("content-length"), Some(bytes.len().to_string().as_str()));
        assert!(file.header("content-disposition").unwrap().starts_with("attachment"));
        assert_eq!(file.text, String::from_utf8_lossy(bytes));
    }
    world.document_file(&id, "?part=back").await.not_found();
}

#[tokio::test]
async fn details_are_read_and_national_id_numbers_masked() {
    let reader = Receiver::start(sees(&good())).await;
    let world = read_by(&reader).await;
    let session = world.session().await;
    let answer = world.upload(&session, &[("", PNG)]).await.data(200);
    assert_eq!((&answer["status"], &answer["reasons"]), (&json!("verified"), &json!([])));
    let events = world.events("document.received").await;
    assert_eq!(events[0]["data"]["fields"], json!({"name": "Asha Rao", "number": "XXXXX1234X"}));
    let chat = world.operator("GET", &format!("/chats/{session}"), Value::Null).await.expect(200);
    assert_eq!(chat["data"]["extracted"], json!({"name": "Asha Rao", "number": "XXXXX1234X"}), "{chat}");
    let asked = reader.got();
    assert_eq!(asked.len(), 1);
    let content = &asked[0].json()["messages"][1]["content"];
    assert_eq!(content[0]["text"], "The customer was asked for: PAN card");
    assert!(content[1]["image_url"]["url"].as_str().unwrap().starts_with("data:image/png;base64,"));
}

#[tokio::test]
async fn what_is_no_such_document_may_be_tried_again_until_the_attempts_are_over() {
    let reader = Receiver::start(sees(&other())).await;
    let world = read_by(&reader).await;
    let session = world.session().await;
    let first = world.upload(&session, &[("", PNG)]).await.data(200);
    assert_eq!((&first["status"], &first["attempts"]), (&json!("open"), &json!(1)));
    assert_eq!(first["reasons"], json!(["this is a bill, no. XXXX XXXX 9012"]));
    assert_eq!((&first["reply"], &first["ended"]), (&json!("Please send: PAN card"), &json!(false)));
    assert_eq!(world.events("document.received").await.len(), 0, "the step is not over");
    let second = world.upload(&session, &[("", JPEG)]).await.data(200);
    let same = (&second["documentId"], &second["status"], &second["attempts"]);
    assert_eq!(same, (&first["documentId"], &json!("failed"), &json!(2)));
    assert_eq!((&second["reply"], &second["ended"]), (&json!("A colleague will call you."), &json!(true)));
    let events = world.events("document.received").await;
    assert_eq!(events.len(), 1);
    let data = &events[0]["data"];
    data.shows(json!({"status": "failed", "parts": [], "fields": {}}));
    world.advance(60).await;
    assert_eq!(world.stored_documents(), 0, "what was not accepted is not kept");
    let id = first["documentId"].as_str().unwrap();
    world.document_file(id, "").await.not_found();
    world.review(id, json!({"status": "verified"})).await.conflict();
    world.upload(&session, &[("", PNG)]).await.refused(409, "session_ended");
}

#[tokio::test]
async fn a_second_attempt_may_be_good_and_missing_details_leave_it_unverified() {
    let reader = Receiver::start(sees(&other())).await;
    let world = read_by(&reader).await;
    let session = world.session().await;
    world.upload(&session, &[("", PNG)]).await.expect(200);
    reader
        .behave(sees(&json!({"matches": true, "legible": true, "problems": [], "fields": {"name": "Asha"}})));
    let second = world.upload(&session, &[("", PNG)]).await.data(200);
    assert_eq!((&second["status"], &second["attempts"]), (&json!("unverified"), &json!(2)));
    assert_eq!(second["reasons"], json!(["number could not be read"]));
    let events = world.events("document.received").await;
    assert_eq!((events.len(), &events[0]["data"]["fields"]), (1, &json!({"name": "Asha"})));
    world.advance(2 * 3600).await;
    assert_eq!(world.stored_documents(), 1);
}

#[tokio::test]
async fn a_reader_that_fails_and_files_that_are_no_pictures_leave_it_unverified() {
    let reader = Receiver::start(Behaviour::status(500)).await;
    let world = read_by(&reader).await;
    for (parts, asked) in [(&[("", PNG)][..], 1), (&[("", PNG), ("", PDF)], 1)] {
        let session = world.session().await;
        let answer = world.upload(&session, parts).await.data(200);
        assert_eq!((&answer["status"], &answer["reasons"]), (&json!("unverified"), &json!(["not_read"])));
        assert_eq!(reader.got().len(), asked);
    }
}

/// Of a PDF the words are read.
#[tokio::test]
async fn the_words_of_a_pdf_are_read() {
    let reader = Receiver::start(sees(&good())).await;
    let world = read_by(&reader).await;
    let session = world.session().await;
    let page = pages(&["BT /F1 12 Tf 72 700 Td (Permanent account number of Asha Rao) Tj ET".to_owned()]);
    let answer = world.upload(&session, &[("", &page), ("", PNG)]).await.data(200);
    assert_eq!((&answer["status"], &answer["reasons"]), (&json!("verified"), &json!([])));
    let content = &reader.got()[0].json()["messages"][1]["content"];
    let words = content[1]["text"].as_str().expect("words");
    assert!(words.contains("Permanent account number of Asha Rao"), "{words}");
    assert!(content[2]["image_url"]["url"].is_string(), "{content}");
}

#[tokio::test]
async fn a_document_is_taken_only_while_it_is_asked_for() {
    let world = asks().await;
    world
        .publish(json!([
            {"id": "c", "type": "collect", "text": "Your name?", "field": {"key": "n", "label": "N", "type": "text"}, "attempts": 2, "next": "ask"},
            {"id": "ask", "type": "document", "label": "PAN card", "attempts": 1, "next": "z"},
            ends(),
        ]))
        .await;
    let session = world.session().await;
    world.upload(&session, &[("", PDF)]).await.refused(409, "document_not_requested");
    assert_eq!(world.says(&session, "Asha").await["reply"], "Please send: PAN card");
    assert_eq!(world.says(&session, "Why?").await["reply"], "Please send: PAN card", "a text is no document");
    // While a teammate has the chat, the agent asks for nothing.
    world.operator("POST", &format!("/chats/{session}/end"), Value::Null).await.expect(200);
    world.upload(&session, &[("", PDF)]).await.refused(409, "session_ended");
    world.upload("chatsess_01jz0000000000000000000000", &[("", PDF)]).await.not_found();
    world.upload("x", &[("", PDF)]).await.not_found();
    assert_eq!((world.documents().await.len(), world.stored_documents()), (0, 0));
}

#[tokio::test]
async fn bad_uploads_are_refused_by_the_field_and_change_nothing() {
    let world = asks_with(|config| config.limits.bodies_per_client = 64 << 20).await;
    let session = world.session().await;
    let path = format!("/v1/chat/sessions/{session}/documents");
    let long = "x".repeat(41);
    let refused = async |parts: &[(&str, &[u8])], field: &str| {
        let answer = world.upload(&session, parts).await.invalid();
        assert_eq!(answer["meta"]["field"], field, "{answer}");
    };
    refused(&[], "file").await;
    refused(&[("", b"")], "file").await;
    refused(&[("", b"GIF89a...")], "file").await;
    refused(&[("", b"<html>%PDF-1.7")], "file").await;
    refused(&[("", PDF), ("", b"PK\x03\x04")], "file").await;
    refused(&[("", PDF), ("", PDF), ("", PDF), ("", PDF), ("", PDF)], "file").await;
    refused(&[("a", PDF), ("a", PDF)], "part").await;
    refused(&[(&long, PDF)], "part").await;
    let mut large = PDF.to_vec();
    large.resize(10 * 1024 * 1024 + 1, b'x');
    world.upload(&session, &[("", &large)]).await.refused(413, "payload_too_large");
    large.resize(8 * 1024 * 1024, b'x');
    world.upload(&session, &[("", &large), ("", &large)]).await.refused(413, "payload_too_large");
    for (header, body) in [("application/json", "{}"), ("multipart/form-data", "x"), (FORM.1, "--b\r\nhalf")]
    {
        let answer =
            world.send("POST", &path, Some(world.live()), &[("content-type", header)], body.into()).await;
        answer.invalid_field("body");
    }
    assert_eq!((world.documents().await.len(), world.stored_documents()), (0, 0));
    large.resize(10 * 1024 * 1024, b'x');
    let answer = world.upload(&session, &[("", &large)]).await.expect(200);
    assert_eq!(answer["data"]["status"], "unverified", "the first attempt is still there");
}

#[tokio::test]
async fn who_may_hand_in_and_who_may_look() {
    let world = asks().await;
    let session = world.session().await;
    let other = world.neighbour().await;
    world.upload_as(other.live(), &session, &[("", PDF)]).await.not_found();
    world.upload_as(world.test(), &session, &[("", PDF)]).await.read_only();
    let reads = world.key(&world.workspace.id, "live", json!(["chat:read"])).await;
    world.upload_as(&reads, &session, &[("", PDF)]).await.refused(403, "api_scope_missing");
    let id = world.upload(&session, &[("", PDF)]).await.expect(200)["data"]["documentId"].clone();
    let id = id.as_str().unwrap();
    let there = |rest: &str| format!("/workspaces/{}/documents{rest}", other.workspace.id);
    for path in [format!("/{id}"), format!("/{id}/file")] {
        world.app.operator("GET", &there(&path), &Value::Null).await.not_found();
    }
    let review = json!({"status": "rejected"});
    world.app.operator("POST", &there(&format!("/{id}/review")), &review).await.not_found();
    let listed = world.app.operator("GET", &there(""), &Value::Null).await.expect(200);
    assert_eq!(listed["data"], json!([]));
    assert_eq!(world.documents().await[0]["status"], "unverified");
}

#[tokio::test]
async fn a_teammate_verifies_or_rejects_it() {
    let world = asks().await;
    let session = world.session().await;
    let id = world.upload(&session, &[("", PDF)]).await.expect(200)["data"]["documentId"].clone();
    let id = id.as_str().unwrap();
    let updates = async || world.events("document.updated").await;
    world.advance(60).await;
    let shown = world.review(id, json!({"status": "rejected", "reasons": ["expired, 1234 5678 9012"]})).await;
    let shown = shown.data(200);
    shown.shows(json!({"status": "rejected", "reasons": ["expired, XXXX XXXX 9012"]}));
    assert!(shown["reviewedAt"].is_string() && shown["reviewedAt"] == shown["updatedAt"]);
    assert_eq!((updates().await.len(), &updates().await[0]["data"]), (1, &shown));
    world.review(id, json!({"status": "rejected", "reasons": ["expired, 1234 5678 9012"]})).await.expect(200);
    assert_eq!(updates().await.len(), 1, "what says the same changes nothing");
    let shown = world.review(id, json!({"status": "verified"})).await.data(200);
    assert_eq!((&shown["status"], &shown["reasons"]), (&json!("verified"), &json!([])));
    assert_eq!(updates().await.len(), 2);
    for (body, field) in [
        (json!({}), "status"),
        (json!({"status": "unverified"}), "status"),
        (json!({"status": "verified", "reasons": [""]}), "reasons[0]"),
        (json!({"status": "verified", "reasons": vec!["x"; 11]}), "reasons"),
    ] {
        let refused = world.review(id, body).await.invalid();
        assert_eq!(refused["meta"]["field"], field, "{refused}");
    }
    world.review("doc_01jz0000000000000000000000", json!({"status": "verified"})).await.not_found();
    assert_eq!(world.documents().await, [shown]);
}

#[tokio::test]
async fn an_erasure_reaches_file_details_and_payloads() {
    let reader = Receiver::start(sees(&good())).await;
    let world = read_by(&reader).await;
    let session = world.session().await;
    let id = world.upload(&session, &[("", PNG)]).await.expect(200)["data"]["documentId"].clone();
    let body = json!({"externalRef": "c1", "phone": "+919812345678", "name": "Asha Rao"});
    let contact = world.post("/v1/contacts", &body).await.json;
    let contact = contact["data"]["id"].as_str().unwrap().to_owned();
    // Sessions over the API are about nobody; those of other channels are about a person.
    let (tenant, chat): (Tenant, Id<Chat>) = (world.tenant(), session.parse().unwrap());
    let person: Id<Contact> = contact.parse().unwrap();
    world
        .store(move |tx| {
            let sql = "update documents set contact = ?3 where workspace = ?1 and chat = ?2";
            tx.exec(sql, params![tenant, chat, person])
        })
        .await;
    world.erase(&contact).await.expect(200);
    world.advance(60).await;
    assert_eq!((world.documents().await.len(), world.stored_documents()), (0, 0));
    let gone = world.operator("GET", &format!("/documents/{}", id.as_str().unwrap()), Value::Null).await;
    gone.not_found();
}

#[tokio::test]
async fn old_documents_are_removed_with_their_files() {
    let world = asks_with(|config| config.document_days = 2).await;
    let session = world.session().await;
    world.upload(&session, &[("", PDF)]).await.expect(200);
    world.advance(36 * 3600).await;
    assert_eq!((world.documents().await.len(), world.stored_documents()), (1, 1));
    world.advance(36 * 3600).await;
    assert_eq!((world.documents().await.len(), world.stored_documents()), (0, 0));
}
