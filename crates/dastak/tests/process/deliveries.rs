//! SIGKILL at random moments while webhooks are delivered: every acknowledged event reaches its receiver,
//! under the id it was acknowledged with.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::node::{Folder, Node, TOKEN, fresh_database, on_postgres};

/// Ids of the events that a receiver has answered with 200.
type Seen = Arc<Mutex<BTreeSet<String>>>;

/// A receiver that answers everything and remembers the events.
async fn receiver(seen: Seen) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}/", listener.local_addr().expect("an address"));
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let seen = seen.clone();
            tokio::spawn(async move {
                let mut bytes = Vec::new();
                while let Ok(count) = socket.read_buf(&mut bytes).await
                    && count > 0
                {
                    while let Some((id, end)) = whole(&bytes) {
                        bytes.drain(..end);
                        seen.lock().unwrap().insert(id);
                        if socket.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await.is_err() {
                            return;
                        }
                    }
                }
            });
        }
    });
    url
}

/// The event of the first whole request among the bytes, and where that ends.
fn whole(bytes: &[u8]) -> Option<(String, usize)> {
    let head = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
    let text = std::str::from_utf8(&bytes[..head]).ok()?.to_lowercase();
    let length: usize =
        text.lines().find_map(|line| line.strip_prefix("content-length:"))?.trim().parse().ok()?;
    let body: Value = serde_json::from_slice(bytes.get(head + 4..head + 4 + length)?).ok()?;
    Some((body["id"].as_str()?.to_owned(), head + 4 + length))
}

#[tokio::test(flavor = "multi_thread")]
async fn no_acknowledged_event_is_lost() {
    let folder = Folder::new();
    let url = if on_postgres() { Some(fresh_database().await) } else { None };
    let mut environment = vec![("DASTAK_WEBHOOKS__ALLOW_INSECURE", "true"), ("DASTAK_CLOCK", "manual")];
    environment.extend(url.iter().map(|url| ("DASTAK_DATABASE_URL", url.as_str())));
    let mut node = Node::start(&folder.0, &environment);
    let (_, key) = node.client.workspace().await;
    let seen = Seen::default();
    let body = json!({"url": receiver(seen.clone()).await});
    let (status, _, made) =
        node.client.send("POST", "/v1/webhooks", &key, &[], &body).await.expect("an answer");
    assert_eq!(status, 201, "{made}");
    let path = format!("/v1/webhooks/{}/test", made["data"]["id"].as_str().unwrap());
    let acknowledged = Seen::default();
    for round in 0..5 {
        let enough = Arc::new(tokio::sync::Notify::new());
        let mut tasks = Vec::new();
        for _ in 0..12 {
            let (client, key, path) = (node.client.clone(), key.clone(), path.clone());
            let (acknowledged, enough) = (acknowledged.clone(), enough.clone());
            tasks.push(tokio::spawn(async move {
                while let Some((202, _, answer)) =
                    client.send("POST", &path, &key, &[], &json!({"type": "wallet.low"})).await
                {
                    let mut all = acknowledged.lock().unwrap();
                    all.insert(answer["data"]["eventId"].as_str().unwrap().to_owned());
                    if all.len() >= (round + 1) * 150 {
                        enough.notify_one();
                    }
                }
            }));
        }
        enough.notified().await;
        node.kill();
        for task in tasks {
            task.await.unwrap();
        }
        node = Node::start(&folder.0, &environment);
    }
    let acknowledged = acknowledged.lock().unwrap().clone();
    // What a killed process held on lease comes again when the lease is over.
    for _ in 0..20 {
        let (status, ..) = node
            .client
            .send("POST", "/dev/clock", TOKEN, &[], &json!({"advanceSeconds": 30}))
            .await
            .expect("an answer");
        assert_eq!(status, 200);
        if acknowledged.is_subset(&seen.lock().unwrap()) {
            return;
        }
    }
    panic!(
        "{} of {} events never came",
        acknowledged.difference(&seen.lock().unwrap()).count(),
        acknowledged.len()
    );
}
