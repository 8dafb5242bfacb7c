//! A full disk and a lost database: 503, nothing half-written, and back to work by itself.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};

use crate::node::{BINARY, Folder, Node, TOKEN, fresh_database, needs_postgres, needs_sqlite};
use crate::shows::Shows;

/// A limit on the size of files stands for the size of the disk; raising it makes room again.
#[tokio::test]
async fn a_full_disk_is_503_until_there_is_room_on_sqlite() {
    needs_sqlite();
    let folder = Folder::new();
    Node::start(&folder.0, &[]).kill();
    let mut command = Command::new("bash");
    command
        .args([
            "-c",
            "trap '' XFSZ; ulimit -S -f 6000; exec \"$0\" serve --listen 127.0.0.1:0 --data \"$1\"",
            BINARY,
        ])
        .arg(&folder.0);
    let node = Node::spawn(command, &[]);
    let (workspace, key) = node.client.workspace().await;
    let mut written = 0;
    loop {
        match node
            .client
            .top_up(&workspace, &format!("fill-{written}-{}", "x".repeat(150)))
            .await
            .expect("an answer")
        {
            (201, ..) => written += 1,
            (status, headers, body) => {
                assert_eq!((status, body["code"].as_str()), (503, Some("unavailable")), "{body}");
                assert!(headers.contains_key("retry-after"));
                break;
            }
        }
        assert!(written < 200_000, "the disk never filled");
    }
    let read = node.client.send("GET", "/v1/wallet", &key, &[], &Value::Null).await.expect("an answer");
    // Reads go on, nothing is half-written.
    assert_eq!(read.0, 200);
    read.2.shows(json!({"data.balanceMinor": written}));
    // Although there may be room for as little as the question writes: requests fail.
    let mut more = 0;
    while node
        .client
        .top_up(&workspace, &format!("full-{more}-{}", "x".repeat(150)))
        .await
        .expect("an answer")
        .0
        != 503
    {
        more += 1;
        assert!(more < 200_000, "the disk has room again");
    }
    assert_eq!(node.client.send("GET", "/readyz", TOKEN, &[], &Value::Null).await.expect("an answer").0, 503);
    let room = Command::new("prlimit")
        .args(["--pid", &node.child.id().to_string(), "--fsize=unlimited"])
        .status()
        .expect("prlimit");
    assert!(room.success());
    assert_eq!(node.client.top_up(&workspace, "after").await.expect("an answer").0, 201);
    node.client
        .until("GET", "/readyz", |answer| answer.as_ref().is_some_and(|(status, ..)| *status == 200))
        .await;
}

/// A way to the database that can be cut.
pub struct Wire {
    pub url: String,
    open: Arc<AtomicBool>,
    cut: Arc<tokio::sync::Notify>,
}

impl Wire {
    pub async fn to(database: &str) -> Self {
        let (user, rest) = database.split_once('@').expect("a URL");
        let (address, name) = rest.split_once('/').expect("a database");
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("{user}@{}/{name}", listener.local_addr().expect("an address"));
        let (open, cut, address) =
            (Arc::new(AtomicBool::new(true)), Arc::new(tokio::sync::Notify::new()), address.to_owned());
        let (is_open, is_cut) = (open.clone(), cut.clone());
        tokio::spawn(async move {
            while let Ok((mut here, _)) = listener.accept().await {
                if !is_open.load(Ordering::SeqCst) {
                    continue;
                }
                let (address, is_cut) = (address.clone(), is_cut.clone());
                tokio::spawn(async move {
                    let Ok(mut there) = TcpStream::connect(address).await else { return };
                    tokio::select! {
                        _ = copy_bidirectional(&mut here, &mut there) => {}
                        () = is_cut.notified() => {}
                    }
                });
            }
        });
        Self { url, open, cut }
    }

    pub fn set(&self, open: bool) {
        self.open.store(open, Ordering::SeqCst);
        self.cut.notify_waiters();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_database_is_503_until_it_is_back_on_postgres() {
    needs_postgres();
    let wire = Wire::to(&fresh_database().await).await;
    let folder = Folder::new();
    let node = Node::start(&folder.0, &[("DASTAK_DATABASE_URL", &wire.url)]);
    let (workspace, key) = node.client.workspace().await;
    let mut acknowledged = 0;
    for round in 0..5 {
        for number in 0..20 {
            let (status, _, body) =
                node.client.top_up(&workspace, &format!("r{round}-{number}")).await.expect("an answer");
            assert_eq!(status, 201, "{body}");
            acknowledged += 1;
        }
        wire.set(false);
        let (status, _, body) =
            node.client.top_up(&workspace, &format!("r{round}-lost")).await.expect("an answer");
        assert_eq!((status, body["code"].as_str()), (503, Some("unavailable")), "{body}");
        assert_eq!(
            node.client.send("GET", "/v1/me", &key, &[], &Value::Null).await.expect("an answer").0,
            503
        );
        // A verdict of a moment ago may still be told.
        node.client
            .until("GET", "/readyz", |answer| answer.as_ref().is_some_and(|(status, ..)| *status == 503))
            .await;
        assert_eq!(
            node.client.send("GET", "/healthz", TOKEN, &[], &Value::Null).await.expect("an answer").0,
            200
        );
        wire.set(true);
        node.client
            .until("GET", "/readyz", |answer| answer.as_ref().is_some_and(|(status, ..)| *status == 200))
            .await;
        let (status, ..) =
            node.client.top_up(&workspace, &format!("r{round}-lost")).await.expect("an answer");
        assert_eq!(status, 201, "the key is free again");
        acknowledged += 1;
    }
    let wallet = node.client.send("GET", "/v1/wallet", &key, &[], &Value::Null).await.expect("an answer");
    assert_eq!(wallet.2["data"]["balanceMinor"], acknowledged);
}

/// A server that is there and says nothing: nobody waits for long, everybody is told, and it is over by itself.
#[tokio::test(flavor = "multi_thread")]
async fn a_frozen_database_is_503_until_it_answers_on_postgres() {
    use crate::wire::{State, Wire};
    needs_postgres();
    let wire = Wire::to(&fresh_database().await).await;
    let folder = Folder::new();
    let node = Node::start(&folder.0, &[("DASTAK_DATABASE_URL", &wire.url)]);
    let (workspace, key) = node.client.workspace().await;
    assert_eq!(node.client.top_up(&workspace, "before").await.expect("an answer").0, 201);
    wire.set(State::Frozen);
    // Many more than there are connections: were each to wait for the server by itself, the client would give up.
    let mut all = tokio::task::JoinSet::new();
    for number in 0..200 {
        let (client, workspace, key) = (node.client.clone(), workspace.clone(), key.clone());
        all.spawn(async move {
            match number % 2 {
                0 => client.top_up(&workspace, &format!("frozen-{number}")).await.expect("an answer").0,
                _ => client.send("GET", "/v1/me", &key, &[], &Value::Null).await.expect("an answer").0,
            }
        });
    }
    assert!(all.join_all().await.iter().all(|status| *status == 503));
    assert_eq!(node.client.send("GET", "/readyz", TOKEN, &[], &Value::Null).await.expect("an answer").0, 503);
    let doctor = Command::new(BINARY)
        .args(["doctor", "--data"])
        .arg(&folder.0)
        .env("DASTAK_DATABASE_URL", &wire.url)
        .output()
        .expect("the doctor");
    let words = String::from_utf8_lossy(&doctor.stdout);
    assert!(
        !doctor.status.success()
            && words.lines().any(|line| line.starts_with("FAIL  store") && line.contains("does not answer")),
        "{words}"
    );
    wire.set(State::Open);
    node.client
        .until("GET", "/readyz", |answer| answer.as_ref().is_some_and(|(status, ..)| *status == 200))
        .await;
    assert_eq!(node.client.top_up(&workspace, "after").await.expect("an answer").0, 201);
}
