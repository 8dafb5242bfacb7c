//! Engines that lack something the service needs, and nodes that go without wake-ups.

use std::process::Command;

use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::node::{BINARY, Folder, Node, fresh_database, needs_postgres};
use crate::nodes::MASTER_KEY;
use crate::receiver::Receiver;

/// What a way to the database does to what is said on it.
#[derive(Debug, Clone, Copy)]
enum Meddler {
    /// Writes one text of a client instead of another one of the same length.
    Instead(&'static str, &'static str),
    /// Keeps notifications to itself.
    Deaf,
}

/// A way to a database on which somebody meddles; its URL.
async fn meddled(database: &str, meddler: Meddler) -> String {
    let (address, name) = database.split_once('@').expect("a URL").1.split_once('/').expect("a database");
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("postgres://dastak@{}/{name}", listener.local_addr().expect("an address"));
    let address = address.to_owned();
    tokio::spawn(async move {
        while let Ok((here, _)) = listener.accept().await {
            let Ok(there) = TcpStream::connect(&address).await else { return };
            let ((from_client, to_client), (from_server, to_server)) =
                (here.into_split(), there.into_split());
            tokio::spawn(say(from_client, to_server, meddler));
            tokio::spawn(hear(from_server, to_client, meddler));
        }
    });
    url
}

/// What a client says. A statement is sent at once, so it is not cut in two here.
async fn say(mut from: impl AsyncRead + Unpin, mut to: impl AsyncWrite + Unpin, meddler: Meddler) {
    let mut piece = vec![0; 64 * 1024];
    while let Ok(length @ 1..) = from.read(&mut piece).await {
        let mut said = piece[..length].to_vec();
        if let Meddler::Instead(what, with) = meddler {
            assert_eq!(what.len(), with.len());
            while let Some(at) = said.windows(what.len()).position(|part| part == what.as_bytes()) {
                said[at..at + what.len()].copy_from_slice(with.as_bytes());
            }
        }
        if to.write_all(&said).await.is_err() {
            return;
        }
    }
}

/// What the server says, message by message: a letter, a length, and the rest.
async fn hear(mut from: impl AsyncRead + Unpin, mut to: impl AsyncWrite + Unpin, meddler: Meddler) {
    let mut head = [0; 5];
    while from.read_exact(&mut head).await.is_ok() {
        let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
        let mut rest = vec![0; length - 4];
        if from.read_exact(&mut rest).await.is_err() {
            return;
        }
        if matches!(meddler, Meddler::Deaf) && head[0] == b'A' {
            continue;
        }
        if to.write_all(&head).await.is_err() || to.write_all(&rest).await.is_err() {
            return;
        }
    }
}

/// What the doctor says of an engine: its verdicts by component.
async fn doctor(url: &str, more: &[(&str, &str)]) -> Vec<(String, bool, String)> {
    let folder = Folder::new();
    let mut command = Command::new(BINARY);
    command.args(["doctor", "--json", "--data"]).arg(&folder.0).env("DASTAK_DATABASE_URL", url);
    command.envs(more.iter().copied());
    // It waits for the server, which here is a task of this process.
    let output = tokio::task::spawn_blocking(move || command.output()).await.unwrap().expect("the doctor");
    let said: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(said["ok"], output.status.success());
    said["components"]
        .as_array()
        .expect("components")
        .iter()
        .map(|one| {
            let text = |name: &str| one[name].as_str().unwrap_or_default().to_owned();
            (text("component"), one["ok"] == true, text("detail"))
        })
        .filter(|(name, ..)| name.starts_with("engine: "))
        .collect()
}

fn failing(verdicts: &[(String, bool, String)]) -> Vec<(&str, &str)> {
    verdicts.iter().filter(|(_, ok, _)| !ok).map(|(name, _, why)| (name.as_str(), why.as_str())).collect()
}

async fn execute(url: &str, sql: &str) {
    let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.expect("the server");
    tokio::spawn(connection);
    client.batch_execute(sql).await.expect("a statement");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_doctor_names_what_an_engine_lacks_on_postgres() {
    needs_postgres();
    let url = fresh_database().await;
    let verdicts = doctor(&url, &[]).await;
    assert_eq!(failing(&verdicts), []);
    let names: Vec<&str> = verdicts.iter().map(|(name, ..)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "engine: version",
            "engine: tables",
            "engine: skip locked",
            "engine: on conflict",
            "engine: collation",
            "engine: read committed",
            "engine: notify",
        ]
    );
    for (meddler, component, says) in [
        (Meddler::Instead(" skip locked", "            "), "engine: skip locked", "lock timeout"),
        (
            Meddler::Instead(
                " where name is not null and open = 1 do",
                "                                    do",
            ),
            "engine: on conflict",
            "ON CONFLICT",
        ),
        (
            Meddler::Instead("order by name", "order by n,id"),
            "engine: collation",
            "does not sort by bytes (a b C)",
        ),
        (Meddler::Deaf, "engine: notify", "nothing arrives; set database_wake = \"poll\""),
    ] {
        let meddled = meddled(&url, meddler).await;
        let verdicts = doctor(&meddled, &[]).await;
        let failing = failing(&verdicts);
        assert!(
            matches!(failing[..], [(name, why)] if name == component && why.contains(says)),
            "{meddler:?}: {failing:?}"
        );
    }
    // Nobody needs a notification who does not wait for one.
    let deaf = meddled(&url, Meddler::Deaf).await;
    let verdicts = doctor(&deaf, &[("DASTAK_DATABASE_WAKE", "poll")]).await;
    assert_eq!(failing(&verdicts), []);
    assert!(!verdicts.iter().any(|(name, ..)| name == "engine: notify"));

    let database = url.rsplit_once('/').expect("a URL").1.to_owned();
    execute(
        &url,
        &format!("alter database {database} set default_transaction_isolation = 'repeatable read'"),
    )
    .await;
    let verdicts = doctor(&url, &[]).await;
    assert!(
        matches!(failing(&verdicts)[..], [("engine: read committed", why)] if why.contains("could not serialize")),
        "{verdicts:?}"
    );
    execute(&url, &format!("alter database {database} reset default_transaction_isolation")).await;

    let user = format!("{database}_reader");
    execute(&url, &format!("create role {user} login; revoke create on schema public from public")).await;
    let verdicts = doctor(&url.replace("dastak@", &format!("{user}@")), &[]).await;
    assert!(
        matches!(failing(&verdicts)[..], [("engine: tables", why)] if why.contains("permission denied")),
        "{verdicts:?}"
    );
    execute(&url, &format!("drop role {user}")).await;

    // Nothing is left behind.
    let (client, connection) =
        tokio_postgres::connect(&url, tokio_postgres::NoTls).await.expect("the server");
    tokio::spawn(connection);
    let left =
        client.query("select 1 from pg_class where relname like 'dastak_probe%'", &[]).await.expect("rows");
    assert_eq!(left.len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn nodes_that_poll_need_no_notifications_on_postgres() {
    needs_postgres();
    let deaf = meddled(&fresh_database().await, Meddler::Deaf).await;
    let environment = [
        ("DASTAK_DATABASE_URL", deaf.as_str()),
        ("DASTAK_DATABASE_WAKE", "poll"),
        ("DASTAK_MASTER_KEY", MASTER_KEY),
        ("DASTAK_WEBHOOKS__ALLOW_INSECURE", "true"),
    ];
    let folders = [Folder::new(), Folder::new()];
    let (one, other) = (Node::start(&folders[0].0, &environment), Node::start(&folders[1].0, &environment));
    let (_, key) = one.client.workspace().await;
    let receiver = Receiver::ok().await;
    let hook = json!({"url": receiver.url});
    let (status, _, made) =
        one.client.send("POST", "/v1/webhooks", &key, &[], &hook).await.expect("an answer");
    assert_eq!(status, 201, "{made}");
    // A reader at one node hears of what happens at the other, and so does the receiver.
    let listening = {
        let (client, key) = (one.client.clone(), key.clone());
        tokio::spawn(async move {
            let path = "/v1/events?after=start&wait=25";
            client.send("GET", path, &key, &[], &Value::Null).await.expect("an answer")
        })
    };
    let sample = json!({"type": "call.started"});
    let (status, _, sent) =
        other.client.send("POST", "/v1/events/trigger", &key, &[], &sample).await.expect("an answer");
    assert_eq!(status, 202, "{sent}");
    receiver.wait_for(1).await;
    let (status, _, heard) = listening.await.expect("a reader");
    assert_eq!((status, heard["data"][0]["type"].as_str()), (200, Some("call.started")), "{heard}");
}
