//! E-mail notifications of campaigns (docs/contract/campaigns.md#notifications), handed in at a mail server in
//! this file, which speaks SMTP over a socket and misbehaves as it is told.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use config::Smtp;
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

use crate::app::TestApp;
use crate::world::World;

/// What the server does with a connection.
#[derive(Debug, Clone, Copy)]
enum Mood {
    /// Answers the recipient so, and takes the mail if that is 250.
    Recipient(u16),
    /// Closes when the mail is being handed over.
    Drops,
    /// Takes the mail and closes without an answer.
    Forgets,
}

#[derive(Default)]
struct Letters {
    moods: VecDeque<Mood>,
    /// Recipient and text of each mail that it took.
    taken: Vec<(String, String)>,
    connections: usize,
}

/// A mail server on a port of its own.
struct Server {
    port: u16,
    inner: Arc<Mutex<Letters>>,
}

impl Server {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let inner = Arc::new(Mutex::new(Letters::default()));
        let shared = inner.clone();
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let mood = {
                    let mut inner = shared.lock().unwrap();
                    inner.connections += 1;
                    inner.moods.pop_front().unwrap_or(Mood::Recipient(250))
                };
                let shared = shared.clone();
                // A client that goes away ends the dialogue.
                tokio::spawn(async move { talk(socket, mood, &shared).await.ok() });
            }
        });
        Self { port, inner }
    }

    fn will(&self, moods: &[Mood]) {
        self.inner.lock().unwrap().moods.extend(moods);
    }

    fn taken(&self) -> Vec<(String, String)> {
        self.inner.lock().unwrap().taken.clone()
    }

    fn connections(&self) -> usize {
        self.inner.lock().unwrap().connections
    }
}

async fn talk(socket: TcpStream, mood: Mood, shared: &Mutex<Letters>) -> std::io::Result<()> {
    let mut socket = BufReader::new(socket);
    socket.write_all(b"220 mail.test ESMTP\r\n").await?;
    let (mut recipient, mut line) = (String::new(), String::new());
    loop {
        line.clear();
        if socket.read_line(&mut line).await? == 0 {
            return Ok(());
        }
        let command = line.trim_end().to_owned();
        let answer = match command.split([' ', ':']).next().unwrap_or_default() {
            "EHLO" => "250 mail.test".to_owned(),
            "MAIL" => "250 ok".to_owned(),
            "RCPT" => {
                recipient = command["RCPT TO:".len()..].trim_matches(['<', '>', ' ']).to_owned();
                match mood {
                    Mood::Recipient(code) => format!("{code} for {recipient}"),
                    Mood::Drops | Mood::Forgets => "250 ok".to_owned(),
                }
            }
            "DATA" if matches!(mood, Mood::Drops) => return Ok(()),
            "DATA" => {
                socket.write_all(b"354 go on\r\n").await?;
                let mut text = String::new();
                loop {
                    line.clear();
                    if socket.read_line(&mut line).await? == 0 {
                        return Ok(());
                    }
                    if line == ".\r\n" {
                        break;
                    }
                    text.push_str(&line);
                }
                shared.lock().unwrap().taken.push((recipient.clone(), text));
                if matches!(mood, Mood::Forgets) {
                    return Ok(());
                }
                "250 taken".to_owned()
            }
            "QUIT" => {
                socket.write_all(b"221 bye\r\n").await?;
                return Ok(());
            }
            "RSET" | "NOOP" => "250 ok".to_owned(),
            _ => "502 what".to_owned(),
        };
        socket.write_all(format!("{answer}\r\n").as_bytes()).await?;
    }
}

async fn start() -> (Server, World) {
    let server = Server::start().await;
    let url = format!("smtp://127.0.0.1:{}", server.port);
    let app = TestApp::start_with(|config| {
        config.smtp = Some(Smtp { url: url.as_str().into(), from: "dastak@example.in".into() });
    })
    .await;
    (server, World::monday_in(app).await)
}

/// Waits until the server has seen so many mails.
async fn until_taken(server: &Server, world: &World, count: usize) {
    for _ in 0..200 {
        if server.taken().len() >= count {
            return;
        }
        world.advance(0).await;
    }
    panic!("{} mails instead of {count}", server.taken().len());
}

const ADDRESSES: [&str; 2] = ["asha@example.in", "ravi@example.in"];

#[tokio::test]
async fn every_address_hears_once_of_the_end() {
    let (server, world) = start().await;
    let id = world.campaign(&json!({"emailNotifications": ADDRESSES}), &["9812340001"]).await;
    assert_eq!(server.taken().len(), 0);
    world.advance(10).await;
    until_taken(&server, &world, 2).await;
    world.advance(86_400).await;
    let taken = server.taken();
    let mut to: Vec<&str> = taken.iter().map(|(to, _)| to.as_str()).collect();
    to.sort_unstable();
    assert_eq!(to, ADDRESSES);
    let (_, text) = &taken[0];
    for part in
        ["From: dastak@example.in\r\n", "Subject: Campaign finished: Renewals\r\n", &id, "Message-ID: <mail_"]
    {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
    assert_eq!(world.runs(&id).await[0]["error"], serde_json::Value::Null);
}

/// The name of a campaign is a client's; it can add neither a header nor a recipient.
#[tokio::test]
async fn a_name_with_line_ends_stays_in_the_subject() {
    let (server, world) = start().await;
    let id = world.draft(&json!({"emailNotifications": [ADDRESSES[0]]}), &["9812340001"]).await;
    let name = "Dues\r\nBcc: else@example.in\r\n\r\nPay at once\r\n.\r\nRCPT TO:<else@example.in>";
    let path = format!("/v1/campaigns/{id}");
    world.put(&path, &json!({"name": name})).await.expect(200);
    world.set(&id, "active").await.expect(200);
    world.advance(10).await;
    until_taken(&server, &world, 1).await;
    let taken = server.taken();
    let (head, _) = taken[0].1.split_once("\r\n\r\n").unwrap();
    assert!(head.contains("Subject: Campaign finished: ") && !head.contains("\r\nBcc"), "{head}");
    assert_eq!((taken.len(), taken[0].0.as_str()), (1, ADDRESSES[0]));
}

#[tokio::test]
async fn what_the_server_does_not_take_now_it_gets_again() {
    let (server, world) = start().await;
    server.will(&[Mood::Recipient(451), Mood::Drops, Mood::Recipient(421)]);
    let id = world.campaign(&json!({"emailNotifications": ADDRESSES[..1]}), &["9812340001"]).await;
    world.advance(10).await;
    for wait in [60, 5 * 60, 30 * 60] {
        assert_eq!(server.taken().len(), 0);
        world.advance(wait).await;
    }
    until_taken(&server, &world, 1).await;
    assert_eq!(server.connections(), 4);
    assert_eq!(world.runs(&id).await[0]["error"], serde_json::Value::Null);
}

#[tokio::test]
async fn a_lost_answer_sends_the_same_mail_again() {
    let (server, world) = start().await;
    server.will(&[Mood::Forgets]);
    world.campaign(&json!({"emailNotifications": ADDRESSES[..1]}), &["9812340001"]).await;
    world.advance(10).await;
    until_taken(&server, &world, 1).await;
    world.advance(120).await;
    until_taken(&server, &world, 2).await;
    let name = |text: &str| {
        text.lines().find(|line| line.starts_with("Message-ID:")).map(str::to_owned).expect("a name")
    };
    let taken = server.taken();
    assert_eq!(name(&taken[0].1), name(&taken[1].1), "a server can tell the repeat");
}

#[tokio::test]
async fn what_is_refused_for_good_is_said_in_the_run_without_the_address() {
    let (server, world) = start().await;
    server.will(&[Mood::Recipient(550)]);
    let id = world.campaign(&json!({"emailNotifications": ADDRESSES[..1]}), &["9812340001"]).await;
    world.advance(10).await;
    let path = format!("/v1/campaigns/{id}/runs");
    let runs = world.until(world.live(), &path, |runs| runs["data"][0]["error"].is_string()).await;
    assert_eq!(runs["data"][0]["error"], "an e-mail notification was not sent: the mail server answered 550");
    world.advance(86_400).await;
    assert_eq!(server.connections(), 1, "it is not tried again");
}

#[tokio::test]
async fn a_server_that_never_answers_is_given_up_after_some_tries() {
    let (server, world) = start().await;
    server.will(&[Mood::Drops; 20]);
    let id = world.campaign(&json!({"emailNotifications": ADDRESSES[..1]}), &["9812340001"]).await;
    world.advance(10).await;
    world.advance(3 * 86_400).await;
    let path = format!("/v1/campaigns/{id}/runs");
    world.until(world.live(), &path, |runs| runs["data"][0]["error"].is_string()).await;
    assert_eq!(server.connections(), 7);
}

#[tokio::test]
async fn who_can_do_something_about_it_hears_that_the_money_is_gone() {
    let (server, world) = start().await;
    world.pay(-1_000_000).await;
    world.campaign(&json!({"emailNotifications": ADDRESSES[..1]}), &["9812340001"]).await;
    until_taken(&server, &world, 1).await;
    assert!(server.taken()[0].1.contains("the balance of the wallet does not cover a minute"));
    world.advance(7_200).await;
    assert_eq!(server.taken().len(), 1, "once a session");
}

#[tokio::test]
async fn without_a_server_the_run_says_that_nothing_was_sent() {
    let world = World::monday().await;
    let id = world.campaign(&json!({"emailNotifications": ADDRESSES}), &["9812340001"]).await;
    world.advance(10).await;
    assert_eq!(world.runs(&id).await[0]["error"], "e-mail notifications were not sent: smtp.url is not set");
}

#[tokio::test]
async fn a_workspace_has_a_ceiling_of_mails_a_day() {
    let (server, world) = start().await;
    let addresses: Vec<String> = (0..20).map(|n| format!("a{n}@example.in")).collect();
    let mut last = String::new();
    for _ in 0..11 {
        last = world.campaign(&json!({"emailNotifications": addresses}), &["9812342222"]).await;
    }
    until_taken(&server, &world, 200).await;
    world.advance(600).await;
    assert_eq!(server.taken().len(), 200);
    assert_eq!(
        world.runs(&last).await[0]["error"],
        "e-mail notifications were not sent: the workspace has used up its mails of 24 hours"
    );
}
