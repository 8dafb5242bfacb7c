//! SIGKILL at random moments under load: every acknowledged write is there, ledgers sum, no idempotency key
//! is stuck.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::Value;

use crate::node::{Client, Folder, Node, TOKEN, fresh_database, on_postgres};

/// Rounds of kill and restart; `CRASH_ROUNDS` for more.
fn rounds() -> u64 {
    std::env::var("CRASH_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(6)
}

/// Next number of a sequence that its seed determines.
pub fn next(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *seed >> 33
}

async fn ledger(client: &Client, workspace: &str) -> Vec<(String, i64, i64)> {
    let (mut rows, mut offset) = (Vec::new(), 0);
    loop {
        let path = format!("/operator/v1/workspaces/{workspace}/wallet/entries?limit=200&offset={offset}");
        let (status, _, page) = client.send("GET", &path, TOKEN, &[], &Value::Null).await.expect("an answer");
        assert_eq!(status, 200, "{page}");
        let page = page["data"].as_array().expect("rows").clone();
        rows.extend(page.iter().map(|row| {
            (
                row["reference"].as_str().unwrap().to_owned(),
                row["amountMinor"].as_i64().unwrap(),
                row["balanceAfterMinor"].as_i64().unwrap(),
            )
        }));
        if page.len() < 200 {
            rows.reverse();
            return rows;
        }
        offset += 200;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_acknowledged_is_lost() {
    let mut seed = std::env::var("CRASH_SEED")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(u64::from(std::process::id()));
    println!("CRASH_SEED={seed}");
    let folder = Folder::new();
    let url = if on_postgres() { Some(fresh_database().await) } else { None };
    let environment: Vec<(&str, &str)> =
        url.iter().map(|url| ("DASTAK_DATABASE_URL", url.as_str())).collect();
    let mut node = Node::start(&folder.0, &environment);
    let (workspace, _) = node.client.workspace().await;
    let acknowledged: Arc<Mutex<BTreeMap<String, Value>>> = Arc::default();
    let mut tried = Vec::new();
    for round in 0..rounds() {
        let until = 40 + next(&mut seed) % 400;
        let answers = Arc::new(AtomicU64::new(0));
        let enough = Arc::new(tokio::sync::Notify::new());
        let mut tasks = Vec::new();
        for task in 0..24 {
            let (client, workspace, acknowledged) =
                (node.client.clone(), workspace.clone(), acknowledged.clone());
            let (answers, enough) = (answers.clone(), enough.clone());
            tasks.push(tokio::spawn(async move {
                let mut tried = Vec::new();
                for number in 0.. {
                    let key = format!("r{round}-t{task}-n{number}");
                    tried.push(key.clone());
                    match client.top_up(&workspace, &key).await {
                        Some((201, _, body)) => drop(acknowledged.lock().unwrap().insert(key, body)),
                        Some((status, _, body)) => assert_eq!(status, 503, "{body}"),
                        None => break,
                    }
                    if answers.fetch_add(1, Ordering::Relaxed) == until {
                        enough.notify_one();
                    }
                }
                tried
            }));
        }
        enough.notified().await;
        node.kill();
        for task in tasks {
            tried.extend(task.await.unwrap());
        }
        node = Node::start(&folder.0, &environment);
        let acknowledged = acknowledged.lock().unwrap().clone();
        for (key, body) in acknowledged.iter().rev().take(300) {
            let (status, headers, again) = node.client.top_up(&workspace, key).await.expect("an answer");
            assert_eq!((status, &again), (201, body), "{key} was acknowledged");
            assert!(headers.contains_key("idempotent-replayed"), "{key} was acknowledged");
        }
    }
    for key in &tried {
        let (status, _, body) = node.client.top_up(&workspace, key).await.expect("an answer");
        assert_eq!(status, 201, "{key} is stuck: {body}");
    }
    let rows = ledger(&node.client, &workspace).await;
    let mut running = 0;
    for (reference, amount, after) in &rows {
        running += amount;
        assert_eq!(running, *after, "at {reference}");
    }
    let mut references: Vec<&String> = rows.iter().map(|(reference, ..)| reference).collect();
    references.sort();
    references.dedup();
    assert_eq!((references.len(), rows.len()), (tried.len(), tried.len()), "each request counts once");
}
