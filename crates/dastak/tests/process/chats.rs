//! SIGKILL while chats are answered, and while documents and files come in: a reply is given once and charged once,
//! nothing is seen by halves, and the same request works afterwards.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::watch;

use crate::model::{Answer as Said, Asked, Server, turn, whole};
use crate::node::{Answer, Client, Folder, Node, TOKEN, fresh_database, on_postgres};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\nthe customer's card";
/// What a chat costs.
const PRICE: i64 = 500;
/// Looks at something that is going to be; the bound only ends a test that would never end.
const LOOKS: usize = 3_000;

/// What the customer said last, if the request is a turn of a chat.
fn last_words(asked: &Asked) -> Option<String> {
    let messages = asked.body["messages"].as_array()?;
    let said = messages.iter().rev().find(|message| message["role"] == "user")?;
    said["content"].as_str().map(str::to_owned)
}

/// A node with a language model of the test, its workspace, and a chat agent.
struct Office {
    folder: Folder,
    environment: Vec<(String, String)>,
    node: Option<Node>,
    workspace: String,
    key: String,
    agent: String,
}

impl Office {
    async fn open(model: &Server, more: &[(&str, &str)]) -> Self {
        let folder = Folder::new();
        let mut environment: Vec<(String, String)> = [
            ("DASTAK_LANGUAGE_MODEL__PROVIDERS", "mine"),
            ("DASTAK_LANGUAGE_MODEL__MINE__BASE_URL", &model.url),
            ("DASTAK_LANGUAGE_MODEL__MINE__MODEL", "clerk"),
            ("DASTAK_LANGUAGE_MODEL__MINE__RESIDENT", "true"),
        ]
        .iter()
        .chain(more)
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
        if on_postgres() {
            environment.push(("DASTAK_DATABASE_URL".to_owned(), fresh_database().await));
        }
        let node = start(&folder.0, &environment);
        let (workspace, key) = node.client.workspace().await;
        let path = format!("/workspaces/{workspace}");
        let body = json!({"costPerChatMinor": PRICE, "limits": {"chatMessagesPerMinute": 1_000_000, "chatSessionsPerMinute": 1_000_000}});
        node.client.operator("PATCH", &path, &body).await;
        let money = json!({"kind": "topup", "amountMinor": 1_000_000, "reference": "r"});
        node.client.operator("POST", &format!("{path}/wallet/entries"), &money).await;
        let mut office = Self { folder, environment, node: Some(node), workspace, key, agent: String::new() };
        let body = json!({"name": "Asha", "channel": "chat", "systemPrompt": "You are Asha."});
        office.agent = text(&office.post("/v1/agents", &body).await["id"]);
        office
    }

    async fn activate(&self) {
        self.post(&format!("/v1/agents/{}/status", self.agent), &json!({"status": "active"})).await;
    }

    /// Has the agent ask for a document.
    async fn ask_for_a_document(&self) {
        let nodes = json!([
            {"id": "ask", "type": "document", "label": "PAN card", "fields": ["name"], "attempts": 2, "next": "z", "onFail": "z"},
            {"id": "z", "type": "end", "text": "Thank you.", "outcome": "done"},
        ]);
        let graph = json!({"startNodeId": "ask", "nodes": nodes, "variables": []});
        let path = format!("/v1/agents/{}/flow", self.agent);
        let saved = self
            .client()
            .send("PUT", &path, &self.key, &[], &json!({"graph": graph, "baseVersion": 1}))
            .await;
        assert_eq!(saved.expect("an answer").0, 200);
        self.post(&format!("{path}/publish"), &json!({})).await;
    }

    fn client(&self) -> &Client {
        &self.node.as_ref().expect("a node").client
    }

    fn restart(&mut self) {
        if let Some(node) = self.node.take() {
            node.kill();
        }
        self.node = Some(start(&self.folder.0, &self.environment));
    }

    async fn post(&self, path: &str, body: &Value) -> Value {
        let (status, _, answer) =
            self.client().send("POST", path, &self.key, &[], body).await.expect("an answer");
        assert!((200..300).contains(&status), "{path}: {status} {answer}");
        answer["data"].clone()
    }

    async fn get(&self, path: &str) -> Value {
        let (status, _, answer) =
            self.client().send("GET", path, &self.key, &[], &Value::Null).await.expect("an answer");
        assert_eq!(status, 200, "{path}: {answer}");
        answer["data"].clone()
    }

    async fn listed(&self, path: &str) -> Vec<Value> {
        let path = format!("/workspaces/{}{path}", self.workspace);
        let (status, _, answer) = self.client().operator("GET", &path, &Value::Null).await;
        assert_eq!(status, 200, "{path}: {answer}");
        answer["data"].as_array().expect("a list").clone()
    }

    async fn session(&self) -> String {
        text(&self.post("/v1/chat/sessions", &json!({"agentId": self.agent})).await["sessionId"])
    }

    /// Charges of chats.
    async fn charges(&self) -> Vec<Value> {
        let entries = self.listed("/wallet/entries?limit=200").await;
        entries.into_iter().filter(|entry| entry["kind"] == "chat_charge").collect()
    }
}

fn start(folder: &Path, environment: &[(String, String)]) -> Node {
    let environment: Vec<(&str, &str)> =
        environment.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    Node::start(folder, &environment)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text")).to_owned()
}

/// Sends a message under its key until it is answered, to whichever node is there. A node that is gone, and a reply
/// that is still being written, are asked again.
async fn send_until(
    nodes: &watch::Receiver<Client>,
    key: &str,
    path: &str,
    once: &str,
    words: &str,
) -> Value {
    let mut pace = tokio::time::interval(Duration::from_millis(20));
    for _ in 0..LOOKS {
        let client = nodes.borrow().clone();
        let answer =
            client.send("POST", path, key, &[("idempotency-key", once)], &json!({"text": words})).await;
        match answer {
            Some((200, _, answer)) => return answer["data"].clone(),
            Some((409 | 429 | 502 | 503, ..)) | None => pace.tick().await,
            Some((status, _, answer)) => panic!("{path}: {status} {answer}"),
        };
    }
    panic!("{path} was never answered");
}

/// Waits until a value is there.
async fn reached(of: &mut watch::Receiver<usize>, least: usize) {
    let waited = tokio::time::timeout(Duration::from_secs(120), of.wait_for(|seen| *seen >= least)).await;
    assert!(waited.is_ok_and(|found| found.is_ok()), "{least} never came");
}

/// The process dies while the model writes: the next one asks the model again, and the reply is there once.
#[tokio::test(flavor = "multi_thread")]
async fn a_kill_in_the_middle_of_a_reply() {
    let (asked, mut seen) = watch::channel(0);
    let asked = Arc::new(asked);
    let model = Server::start(move |request: Asked| {
        let asked = asked.clone();
        async move {
            match last_words(&request) {
                Some(words) if words == "Where is it?" => {
                    asked.send_modify(|count| *count += 1);
                    if *asked.borrow() == 1 {
                        return std::future::pending::<Said>().await;
                    }
                    turn("On its way.", &[])
                }
                _ => turn("Hello.", &[]),
            }
        }
    })
    .await;
    let mut office = Office::open(&model, &[]).await;
    office.activate().await;
    let id = office.session().await;
    let path = format!("/v1/chat/sessions/{id}/messages");
    let (client, key, target) = (office.client().clone(), office.key.clone(), path.clone());
    let first = tokio::spawn(async move {
        client
            .send("POST", &target, &key, &[("idempotency-key", "one")], &json!({"text": "Where is it?"}))
            .await
    });
    reached(&mut seen, 1).await;
    office.restart();
    assert!(first.await.expect("a task").is_none(), "the first request was never answered");
    let nodes = watch::channel(office.client().clone()).1;
    let answer = send_until(&nodes, &office.key, &path, "one", "Where is it?").await;
    assert_eq!(answer["reply"], "On its way.");
    let chat = office.get(&format!("/v1/chat/sessions/{id}")).await;
    let said: Vec<&str> = chat["messages"]
        .as_array()
        .expect("messages")
        .iter()
        .filter_map(|one| one["text"].as_str())
        .collect();
    assert_eq!(said, ["Hello.", "Where is it?", "On its way."]);
    assert_eq!(*seen.borrow(), 2, "the model was asked once before and once after");
    office.post(&format!("/v1/chat/sessions/{id}/end"), &json!({})).await;
    office.restart();
    office.post(&format!("/v1/chat/sessions/{id}/end"), &json!({})).await;
    let charges = office.charges().await;
    assert_eq!(charges.len(), 1, "{charges:?}");
    assert_eq!(charges[0]["amountMinor"], -PRICE, "{charges:?}");
}

/// Several chats at once, and kills whenever the model has been asked some more times.
#[tokio::test(flavor = "multi_thread")]
async fn chats_go_on_through_kills() {
    const CHATS: usize = 8;
    const MESSAGES: usize = 4;
    let (asked, mut seen) = watch::channel(0);
    let asked = Arc::new(asked);
    let model = Server::start(move |request: Asked| {
        let asked = asked.clone();
        async move {
            asked.send_modify(|count| *count += 1);
            turn(&last_words(&request).map_or("Hello.".to_owned(), |words| format!("You said: {words}")), &[])
        }
    })
    .await;
    let mut office = Office::open(&model, &[]).await;
    office.activate().await;
    let mut ids = Vec::new();
    for _ in 0..CHATS {
        ids.push(office.session().await);
    }
    let (at, nodes) = watch::channel(office.client().clone());
    let chats: Vec<_> = ids
        .iter()
        .map(|id| {
            let (nodes, key, path) =
                (nodes.clone(), office.key.clone(), format!("/v1/chat/sessions/{id}/messages"));
            tokio::spawn(async move {
                for number in 0..MESSAGES {
                    let words = format!("message {number}");
                    let answer = send_until(&nodes, &key, &path, &format!("{path}-{number}"), &words).await;
                    assert_eq!(answer["reply"], format!("You said: {words}"), "{path}");
                }
            })
        })
        .collect();
    // The openings are not counted; each kill falls while some replies are being written.
    for kill in 1..=3 {
        reached(&mut seen, CHATS + kill * CHATS * MESSAGES / 4 - 3).await;
        office.restart();
        at.send_replace(office.client().clone());
    }
    for chat in chats {
        chat.await.expect("every message is answered");
    }
    let expected: Vec<String> = std::iter::once("agent".to_owned())
        .chain((0..MESSAGES).flat_map(|_| ["user".to_owned(), "agent".to_owned()]))
        .collect();
    for id in &ids {
        let chat = office.get(&format!("/v1/chat/sessions/{id}")).await;
        let roles: Vec<String> =
            chat["messages"].as_array().expect("messages").iter().map(|one| text(&one["role"])).collect();
        assert_eq!(roles, expected, "{chat}");
        office.post(&format!("/v1/chat/sessions/{id}/end"), &json!({})).await;
    }
    let mut charged: Vec<String> =
        office.charges().await.iter().map(|entry| text(&entry["reference"])).collect();
    charged.sort();
    ids.sort();
    assert_eq!(charged, ids, "each chat is charged once");
}

/// A form with one file, whose boundary is `b`.
fn form(name: &str, bytes: &[u8]) -> Vec<u8> {
    let head = format!("--b\r\ncontent-disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\r\n");
    [head.as_bytes(), bytes, b"\r\n--b--\r\n"].concat()
}

/// Sends a form, or the first half of it. The connection stays open.
async fn send_form(client: &Client, path: &str, bearer: &str, form: &[u8], half: bool) -> TcpStream {
    let host = client.url.trim_start_matches("http://").to_owned();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {bearer}\r\ncontent-type: multipart/form-data; boundary=b\r\n\
         content-length: {}\r\nconnection: close\r\n\r\n",
        form.len()
    );
    let mut socket = TcpStream::connect(&host).await.expect("the node listens");
    socket.write_all(head.as_bytes()).await.expect("sent");
    let end = if half { form.len() / 2 } else { form.len() };
    socket.write_all(&form[..end]).await.expect("sent");
    socket.flush().await.expect("sent");
    socket
}

/// Sends a form and reads its answer.
async fn upload(client: &Client, path: &str, bearer: &str, form: &[u8]) -> Answer {
    let mut socket = send_form(client, path, bearer, form, false).await;
    let mut bytes = Vec::new();
    tokio::io::AsyncReadExt::read_to_end(&mut socket, &mut bytes).await.expect("an answer");
    let whole = String::from_utf8_lossy(&bytes);
    let (head, body) = whole.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {whole}"));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    (status, Default::default(), serde_json::from_str(body).unwrap_or(Value::Null))
}

/// Files below a folder.
fn files(folder: &Path) -> usize {
    std::fs::read_dir(folder).map_or(0, |entries| entries.count())
}

/// A document is killed off half-way in, and while somebody reads it; the third time it is taken.
#[tokio::test(flavor = "multi_thread")]
async fn a_kill_in_the_middle_of_a_document() {
    let (asked, mut seen) = watch::channel(0);
    let asked = Arc::new(asked);
    let model = Server::start(move |_: Asked| {
        let asked = asked.clone();
        async move {
            asked.send_modify(|count| *count += 1);
            if *asked.borrow() == 1 {
                return std::future::pending::<Said>().await;
            }
            whole(&json!({"matches": true, "legible": true, "problems": [], "fields": {"name": "Asha Rao"}}))
        }
    })
    .await;
    let more = [("DASTAK_LANGUAGE_MODEL__MINE__VISION", "true"), ("DASTAK_CLOCK", "manual")];
    let mut office = Office::open(&model, &more).await;
    office.ask_for_a_document().await;
    office.activate().await;
    let id = office.session().await;
    let path = format!("/v1/chat/sessions/{id}/documents");
    let card = form("card.png", PNG);
    let folder = office.folder.0.join("documents");
    // One message: the agent's.
    let untouched = async |office: &Office| {
        assert_eq!(office.listed("/documents").await, Vec::<Value>::new());
        assert_eq!(office.get(&format!("/v1/chat/sessions/{id}")).await["messageCount"], 1);
    };
    let half = send_form(office.client(), &path, &office.key, &card, true).await;
    office.restart();
    drop(half);
    untouched(&office).await;
    assert_eq!(files(&folder), 0, "half a form is stored nowhere");

    let read = send_form(office.client(), &path, &office.key, &card, false).await;
    reached(&mut seen, 1).await;
    office.restart();
    drop(read);
    untouched(&office).await;
    let (status, _, answer) = upload(office.client(), &path, &office.key, &card).await;
    assert_eq!((status, &answer["data"]["status"]), (200, &json!("verified")), "{answer}");
    assert_eq!(answer["data"]["reply"], "Thank you.", "{answer}");
    let documents = office.listed("/documents").await;
    assert_eq!(documents.len(), 1, "{documents:?}");
    assert_eq!(office.charges().await.len(), 1);
    // What the kill left behind is dropped within two hours; what was taken stays.
    assert_eq!(files(&folder), 2);
    let body = json!({"advanceSeconds": 7_200});
    let moved = office.client().send("POST", "/dev/clock", TOKEN, &[], &body).await.expect("an answer");
    assert_eq!(moved.0, 200);
    assert_eq!(files(&folder), 1);
    let document = text(&documents[0]["documentId"]);
    let path = format!("/operator/v1/workspaces/{}/documents/{document}/file", office.workspace);
    let file = office.client().send("GET", &path, TOKEN, &[], &Value::Null).await.expect("an answer");
    assert_eq!(file.0, 200);
}

/// A file of a knowledge base is killed off half-way in, and at moments while it is read and stored: the base has
/// all of it or nothing, and the same file can be sent again.
#[tokio::test(flavor = "multi_thread")]
async fn a_kill_in_the_middle_of_a_file() {
    const SECTIONS: usize = 300;
    let model = Server::start(async |_: Asked| turn("Hello.", &[])).await;
    let mut office = Office::open(&model, &[]).await;
    let base = text(&office.post("/v1/knowledge-bases", &json!({"name": "Help"})).await["id"]);
    let page: String =
        (0..SECTIONS).map(|at| format!("# Section {at}\n\nThe parcel number {at} arrives.\n\n")).collect();
    let form = form("page.md", page.as_bytes());
    let path = format!("/operator/v1/workspaces/{}/knowledge-bases/{base}/files", office.workspace);
    let half = send_form(office.client(), &path, TOKEN, &form, true).await;
    office.restart();
    drop(half);
    let mut before = Vec::new();
    for answers in [0, 2, 8, 32, 128, 512] {
        let counts = office.get(&format!("/v1/knowledge-bases/{base}")).await;
        let sum = (counts["documentCount"].as_u64(), counts["chunkCount"].as_u64());
        assert!(sum == (Some(0), Some(0)) || sum == (Some(1), Some(SECTIONS as u64)), "{counts}");
        before.extend(sum.0);
        let hits = office.get(&format!("/v1/knowledge-bases/{base}/search?q=parcel+number")).await;
        assert_eq!(hits.as_array().is_some_and(|hits| hits.is_empty()), sum.0 == Some(0), "{hits}");
        let sent = send_form(office.client(), &path, TOKEN, &form, false).await;
        // Other requests measure the time until the kill.
        for _ in 0..answers {
            office.client().send("GET", "/healthz", TOKEN, &[], &Value::Null).await.expect("an answer");
        }
        office.restart();
        drop(sent);
    }
    println!("documents before each kill: {before:?}");
    let (status, _, answer) = upload(office.client(), &path, TOKEN, &form).await;
    assert_eq!((status, &answer["data"]["added"]), (200, &json!(SECTIONS)), "{answer}");
    let hits = office.get(&format!("/v1/knowledge-bases/{base}/search?q=parcel+number+299")).await;
    assert_eq!(hits[0]["heading"], "Section 299", "{hits}");
    let kept = office.get(&format!("/v1/knowledge-bases/{base}")).await;
    assert_eq!((&kept["documentCount"], &kept["chunkCount"]), (&json!(1), &json!(SECTIONS)), "{kept}");
}
