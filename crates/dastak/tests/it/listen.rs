//! `dastak listen` and `dastak trigger`, as processes.

use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader, Lines};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::{Child, ChildStdout, Command};

use crate::receiver::{Behaviour, Receiver};
use crate::shows::Shows;
use crate::webhooks::text;
use crate::world::World;

struct Listener {
    process: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

/// A port that stays free while nobody listens on it: the system gives ports of this range to nobody by itself.
fn port_of_our_own() -> u16 {
    let first = 10_000 + std::process::id() as u16 % 10_000;
    let mut ports = (first..20_000).chain(10_000..first);
    ports.find(|port| std::net::TcpListener::bind(("127.0.0.1", *port)).is_ok()).expect("a free port")
}

impl Listener {
    async fn start(url: &str, key: &str, more: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dastak"));
        command.args(["listen", "--url", url, "--key", key, "--json"]).args(more);
        let mut process = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("the binary");
        let lines = BufReader::new(process.stdout.take().expect("output")).lines();
        Self { process, lines }
    }

    async fn line(&mut self) -> Value {
        let Ok(line) = tokio::time::timeout(Duration::from_secs(90), self.lines.next_line()).await else {
            let _ = self.process.start_kill();
            let mut said = String::new();
            let errors = self.process.stderr.as_mut().expect("errors").read_to_string(&mut said).await;
            panic!("no line in time; its errors ({errors:?}): {said}");
        };
        serde_json::from_str(&line.expect("output").expect("a line")).expect("JSON")
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn events_come_to_a_laptop_signed() {
    let world = World::bare().await;
    world.trigger("call.started").await;
    let receiver = Receiver::start(Behaviour::status(201)).await;
    let mut listener = Listener::start(&world.url, world.live(), &["--forward-to", &receiver.url]).await;
    let begun = listener.line().await;
    let event = world.trigger("call.failed").await;
    let shown = listener.line().await;
    shown.shows(json!({"event.id": event, "forwarded.status": 201, "forwarded.error": null}));
    let got = receiver.wait_for(1).await.remove(0);
    assert_eq!((got.json(), got.header("x-service-event")), (shown["event"].clone(), "call.failed"));
    assert!(got.signed_with(text(&begun["secret"])) && got.header("x-service-delivery").starts_with("whd_"));
    receiver.behave(Behaviour::Close);
    world.trigger("call.failed").await;
    let shown = listener.line().await;
    shown["forwarded"]
        .shows(json!({"status": null, "error": "the connection was closed while waiting for the answer"}));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_listener_survives_a_restart_and_misses_nothing() {
    let address = format!("127.0.0.1:{}", port_of_our_own());
    let world = World::bare_with(|config| config.listen = address).await;
    let mut listener =
        Listener::start(&world.url, world.live(), &["--events", "call.started,call.failed"]).await;
    listener.line().await;
    let first = world.trigger("call.started").await;
    assert_eq!(listener.line().await["event"]["id"], *first);
    let world = world.restart().await;
    world.trigger("wallet.low").await;
    let second = world.trigger("call.failed").await;
    assert_eq!(
        listener.line().await,
        json!({"event": world.get(&format!("/v1/events?after={first}")).await["data"][1], "forwarded": null})
    );
    assert!(!second.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trigger_reaches_listeners_and_endpoints() {
    let world = World::bare().await;
    let receiver = Receiver::ok().await;
    world.endpoint(json!({"url": receiver.url})).await;
    let mut listener = Listener::start(&world.url, world.live(), &[]).await;
    listener.line().await;
    let run = |kind: &'static str| {
        let (url, key) = (world.url.clone(), world.workspace.live.clone());
        async move {
            Command::new(env!("CARGO_BIN_EXE_dastak"))
                .args(["trigger", kind, "--url", &url, "--key", &key, "--json"])
                .output()
                .await
                .expect("the binary")
        }
    };
    let out = run("campaign.finished").await;
    let answer: Value = serde_json::from_slice(&out.stdout).expect("JSON");
    assert_eq!(answer["data"]["deliveries"], 1);
    assert_eq!(listener.line().await["event"]["id"], answer["data"]["eventId"]);
    assert_eq!(receiver.wait_for(1).await[0].json()["id"], answer["data"]["eventId"]);
    let wrong = run("campaign.begun").await;
    assert!(
        !wrong.status.success() && String::from_utf8_lossy(&wrong.stderr).contains("campaign.finished"),
        "{wrong:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_on_which_no_answer_comes_is_given_up() {
    let world = World::bare().await;
    let middle = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", middle.local_addr().expect("its address"));
    let service = world.url.trim_start_matches("http://").to_owned();
    let carries = tokio::spawn(async move {
        // The network takes the first connection away without a word.
        let _lost = middle.accept().await.expect("a connection");
        loop {
            let (mut client, _) = middle.accept().await.expect("a connection");
            let mut server = TcpStream::connect(&service).await.expect("the service");
            tokio::spawn(async move { tokio::io::copy_bidirectional(&mut client, &mut server).await });
        }
    });
    let mut listener = Listener::start(&url, world.live(), &[]).await;
    assert_eq!(listener.line().await["listening"], true);
    let event = world.trigger("call.started").await;
    assert_eq!(listener.line().await["event"]["id"], *event);
    carries.abort();
}
