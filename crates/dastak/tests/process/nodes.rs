//! Several nodes on one PostgreSQL database.

use serde_json::{Value, json};

use crate::node::{Folder, Node, fresh_database, needs_postgres};

pub const MASTER_KEY: &str = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE";

#[tokio::test(flavor = "multi_thread")]
async fn two_nodes_are_one_service_on_postgres() {
    needs_postgres();
    let url = fresh_database().await;
    let environment = [("DASTAK_DATABASE_URL", url.as_str()), ("DASTAK_MASTER_KEY", MASTER_KEY)];
    let folders = [Folder::new(), Folder::new()];
    let (one, other) = (Node::start(&folders[0].0, &environment), Node::start(&folders[1].0, &environment));
    let (workspace, key) = one.client.workspace().await;
    let me = |node: &Node| {
        let (client, key) = (node.client.clone(), key.clone());
        async move { client.send("GET", "/v1/me", &key, &[], &Value::Null).await.expect("an answer") }
    };

    // A key made on one node opens the other; limits are counted together.
    assert_eq!(me(&other).await.0, 200);
    one.client
        .operator(
            "PATCH",
            &format!("/workspaces/{workspace}"),
            &json!({"limits": {"requestsPerMinute": 1000}}),
        )
        .await;
    let left = |answer: &crate::node::Answer| {
        answer.1["x-ratelimit-remaining"].to_str().unwrap().parse::<i64>().unwrap()
    };
    let (here, there) = (left(&me(&one).await), left(&me(&other).await));
    assert!(there == here - 1 || there == 999, "{here} {there}: one window for both, unless it just began");

    // Identical requests to both nodes at once create one thing.
    let mut tasks = Vec::new();
    for number in 0..40 {
        let (client, workspace) =
            (if number % 2 == 0 { &one } else { &other }.client.clone(), workspace.clone());
        tasks.push(tokio::spawn(async move {
            client.top_up(&workspace, &format!("same-{}", number / 8)).await.expect("an answer")
        }));
    }
    for task in tasks {
        let (status, _, body) = task.await.unwrap();
        assert!(status == 201 || body["code"] == "idempotency_in_progress", "{status} {body}");
    }
    let wallet = other.client.send("GET", "/v1/wallet", &key, &[], &Value::Null).await.expect("an answer");
    assert_eq!(wallet.2["data"]["balanceMinor"], 5);

    // Revocation on one node is felt on the other at once.
    let (_, _, keys) =
        one.client.operator("GET", &format!("/workspaces/{workspace}/keys"), &Value::Null).await;
    let id = keys["data"][0]["id"].as_str().unwrap();
    one.client.operator("DELETE", &format!("/workspaces/{workspace}/keys/{id}"), &Value::Null).await;
    assert_eq!(me(&other).await.0, 401);
}

#[tokio::test]
async fn nodes_with_different_master_keys_do_not_start_on_postgres() {
    needs_postgres();
    let url = fresh_database().await;
    let folder = Folder::new();
    let _one = Node::start(&folder.0, &[("DASTAK_DATABASE_URL", &url), ("DASTAK_MASTER_KEY", MASTER_KEY)]);
    let other = Folder::new();
    let refused = std::process::Command::new(crate::node::BINARY)
        .args(["serve", "--listen", "127.0.0.1:0", "--data"])
        .arg(&other.0)
        .env("DASTAK_DATABASE_URL", &url)
        .output()
        .expect("the binary starts");
    let words = String::from_utf8_lossy(&refused.stderr);
    assert!(
        !refused.status.success()
            && words.contains("master_key: this store was made with another master key"),
        "{words}"
    );
}

/// A commit on one node wakes the jobs of all, also after the connection that listens was lost.
#[tokio::test(flavor = "multi_thread")]
async fn commits_wake_other_nodes_on_postgres() {
    use std::sync::{Arc, Mutex};
    use store::db::Wake;
    use store::{DbError, Settings, Store, WakeSet};
    needs_postgres();
    let url = fresh_database().await;
    let open = || {
        let woken = Arc::new(Mutex::new(0));
        let seen = woken.clone();
        let settings = Settings::Postgres {
            url: url.as_str().into(),
            connections: 1,
            ca: None,
            wake: Wake::Listen,
            replica: None,
        };
        let store =
            Store::open(&settings, Arc::new(move |topics: WakeSet| *seen.lock().unwrap() |= topics.0))
                .unwrap();
        (store, woken)
    };
    let ((one, _), (_other, woken)) = (open(), open());
    let until_woken = |bit: u32| {
        let (one, woken) = (one.clone(), woken.clone());
        async move {
            let mut pace = tokio::time::interval(std::time::Duration::from_millis(20));
            for _ in 0..1000 {
                one.tx(move |tx| {
                    tx.wake(WakeSet(bit));
                    Ok::<_, DbError>(())
                })
                .await
                .unwrap();
                pace.tick().await;
                if *woken.lock().unwrap() == bit {
                    return;
                }
            }
            panic!("never woken by {bit}");
        }
    };
    until_woken(4).await;
    let (client, connection) = tokio_postgres::connect(&url, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    client
        .batch_execute("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'dastak wake-ups' and datname = current_database()")
        .await
        .unwrap();
    // Whatever was said meanwhile: everything is woken once, then as before.
    let mut pace = tokio::time::interval(std::time::Duration::from_millis(20));
    for _ in 0..1000 {
        if *woken.lock().unwrap() == u32::MAX {
            break;
        }
        pace.tick().await;
    }
    assert_eq!(*woken.lock().unwrap(), u32::MAX);
    *woken.lock().unwrap() = 0;
    until_woken(8).await;
}

/// With `sslmode=require` the server's certificate must be one that is trusted.
#[tokio::test(flavor = "multi_thread")]
async fn postgresql_over_tls_is_verified_on_postgres() {
    needs_postgres();
    let folder = Folder::new();
    let certificates = Folder::new();
    let made = rcgen::generate_simple_self_signed(vec!["localhost".into()]).unwrap();
    let (cert, key) = (certificates.0.join("server.crt"), certificates.0.join("server.key"));
    std::fs::write(&cert, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/postgres.sh");
    let own = std::process::Command::new("sh")
        .args(["-c", "d=$(dirname \"$0\"); chmod 600 \"$0\"; chmod 755 \"$d\" \"$d/..\"; [ \"$(id -u)\" != 0 ] || chown postgres \"$0\""])
        .arg(&key)
        .status()
        .unwrap();
    assert!(own.success());
    let server = certificates.0.join("pg");
    let options = format!(
        "-c fsync=off -c ssl=on -c ssl_cert_file={} -c ssl_key_file={}",
        cert.display(),
        key.display()
    );
    let started = std::process::Command::new(script)
        .arg("start")
        .arg(&server)
        .env("PG_OPTIONS", options)
        .output()
        .unwrap();
    let url = String::from_utf8(started.stdout).unwrap().trim().replace("127.0.0.1", "localhost");
    let secure = format!("{url}?sslmode=require");
    let doctor = |ca: &str| {
        let mut command = std::process::Command::new(crate::node::BINARY);
        command.args(["migrate", "--data"]).arg(&folder.0).env("DASTAK_DATABASE_URL", &secure);
        if !ca.is_empty() {
            command.env("DASTAK_DATABASE_CA", ca);
        }
        command.output().unwrap().status.success()
    };
    let (unknown, known) = (doctor(""), doctor(cert.to_str().unwrap()));
    let _ = std::process::Command::new(script).arg("stop").arg(&server).status();
    assert!(!unknown, "a certificate that nobody vouches for is refused");
    assert!(known, "{}", String::from_utf8_lossy(&started.stderr));
}

/// A document that one node has confirmed is found on the other by the first search that begins afterwards.
#[tokio::test(flavor = "multi_thread")]
async fn what_one_node_learns_the_other_knows_on_postgres() {
    needs_postgres();
    let url = fresh_database().await;
    let environment = [("DASTAK_DATABASE_URL", url.as_str()), ("DASTAK_MASTER_KEY", MASTER_KEY)];
    let folders = [Folder::new(), Folder::new()];
    let nodes = folders.each_ref().map(|folder| Node::start(&folder.0, &environment));
    let (_, key) = nodes[0].client.workspace().await;
    let send = async |node: usize, method: &str, path: String, body: Value| {
        let answer = nodes[node].client.send(method, &path, &key, &[], &body).await.expect("an answer");
        assert!((200..300).contains(&answer.0), "{method} {path}: {} {}", answer.0, answer.2);
        answer.2["data"].clone()
    };
    let made = send(0, "POST", "/v1/knowledge-bases".into(), json!({"name": "Shop"})).await;
    let base = format!("/v1/knowledge-bases/{}", made["id"].as_str().expect("an id"));
    for round in 0..20 {
        let (here, there) = (round % 2, (round + 1) % 2);
        let text = json!({"title": "Hours", "text": format!("The shop opens at nine, round{round}.")});
        send(here, "POST", format!("{base}/documents"), text).await;
        for node in [there, here] {
            let hits = send(node, "GET", format!("{base}/search?q=opens%20round{round}"), Value::Null).await;
            let words: Vec<&str> =
                hits.as_array().expect("hits").iter().filter_map(|hit| hit["content"].as_str()).collect();
            assert_eq!(words, [format!("The shop opens at nine, round{round}.")]);
        }
    }
    send(1, "DELETE", format!("{base}/documents?source=Hours&type=text"), Value::Null).await;
    let hits = send(0, "GET", format!("{base}/search?q=opens"), Value::Null).await;
    assert_eq!(hits, json!([]), "a removal is seen, too");
}

/// Two nodes on a database of their own, and a workspace.
async fn two_nodes() -> (Vec<Node>, [Folder; 2], String, String) {
    needs_postgres();
    let url = fresh_database().await;
    let environment = [("DASTAK_DATABASE_URL", url.as_str()), ("DASTAK_MASTER_KEY", MASTER_KEY)];
    let folders = [Folder::new(), Folder::new()];
    let mut nodes = Vec::new();
    for folder in &folders {
        let webhooks = ("DASTAK_WEBHOOKS__ALLOW_INSECURE", "true");
        nodes.push(Node::start(&folder.0, &[&environment[..], &[webhooks]].concat()));
    }
    let (workspace, key) = nodes[0].client.workspace().await;
    (nodes, folders, workspace, key)
}

/// A node remembers keys; one that is revoked elsewhere opens nothing any more, from the next request on.
#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_is_revoked_on_one_node_opens_no_other_on_postgres() {
    let (nodes, _folders, workspace, key) = two_nodes().await;
    let me = async |node: usize, key: &str| {
        nodes[node].client.send("GET", "/v1/me", key, &[], &Value::Null).await.expect("an answer").0
    };
    // More would be refused before they are looked up.
    for round in 0..10 {
        let (here, there) = (round % 2, (round + 1) % 2);
        let path = format!("/workspaces/{workspace}/keys");
        let made = nodes[here]
            .client
            .operator("POST", &path, &json!({"name": "short", "mode": "live", "scopes": "all"}))
            .await;
        let (id, short) = (made.2["data"]["id"].as_str().unwrap(), made.2["data"]["key"].as_str().unwrap());
        // Both remember it, and the other key.
        for node in [here, there, here, there] {
            assert_eq!((me(node, short).await, me(node, &key).await), (200, 200));
        }
        nodes[here].client.operator("DELETE", &format!("{path}/{id}"), &Value::Null).await;
        for node in [there, here, there] {
            assert_eq!((me(node, short).await, me(node, &key).await), (401, 200), "round {round}");
        }
    }
}

/// So many requests are admitted as the limit says, however they are spread over nodes that reserve places.
#[tokio::test(flavor = "multi_thread")]
async fn two_nodes_admit_as_many_as_the_limit_says_on_postgres() {
    const LIMIT: usize = 300;
    let (nodes, _folders, workspace, key) = two_nodes().await;
    let limits = json!({"limits": {"requestsPerMinute": LIMIT}});
    nodes[0].client.operator("PATCH", &format!("/workspaces/{workspace}"), &limits).await;
    // By window: how many were admitted, and which nodes refused one. A minute may end while they run.
    let mut seen = std::collections::BTreeMap::<String, (usize, [bool; 2])>::new();
    for _ in 0..5 {
        let mut all = tokio::task::JoinSet::new();
        for number in 0..4 * LIMIT {
            let (client, key) = (nodes[number % 2].client.clone(), key.clone());
            all.spawn(async move {
                let answer = client.send("GET", "/v1/me", &key, &[], &Value::Null).await.expect("an answer");
                (number % 2, answer.0, answer.1["x-ratelimit-reset"].to_str().unwrap().to_owned())
            });
        }
        for (node, status, window) in all.join_all().await {
            let (admitted, refused) = seen.entry(window).or_default();
            match status {
                200 => *admitted += 1,
                429 => refused[node] = true,
                other => panic!("{other}"),
            }
        }
        assert!(seen.values().all(|(admitted, _)| *admitted <= LIMIT), "{seen:?}");
        let mut ended = seen.values().filter(|(_, refused)| *refused == [true; 2]).peekable();
        if ended.peek().is_some() {
            assert!(ended.all(|(admitted, _)| *admitted == LIMIT), "no place is left over: {seen:?}");
            return;
        }
    }
    panic!("{seen:?}");
}

/// A node remembers endpoints; what is changed elsewhere holds for the next event.
#[tokio::test(flavor = "multi_thread")]
async fn an_endpoint_that_is_disabled_on_one_node_gets_nothing_from_another_on_postgres() {
    let (nodes, _folders, _, key) = two_nodes().await;
    let made = nodes[0]
        .client
        .send("POST", "/v1/webhooks", &key, &[], &json!({"url": "http://127.0.0.1:29098/closed"}))
        .await
        .expect("an answer");
    assert_eq!(made.0, 201, "{}", made.2);
    let path = format!("/v1/webhooks/{}", made.2["data"]["id"].as_str().unwrap());
    for round in 0..20 {
        let (here, there) = (round % 2, (round + 1) % 2);
        let (status, count) = if round % 3 == 0 { ("disabled", 0) } else { ("active", 1) };
        let changed = nodes[here]
            .client
            .send("PATCH", &path, &key, &[], &json!({"status": status}))
            .await
            .expect("an answer");
        assert_eq!(changed.0, 200, "{}", changed.2);
        for node in [there, here] {
            let body = json!({"type": "call.completed"});
            let sent = nodes[node]
                .client
                .send("POST", "/v1/events/trigger", &key, &[], &body)
                .await
                .expect("an answer");
            assert_eq!((sent.0, sent.2["data"]["deliveries"].as_i64()), (202, Some(count)), "{}", sent.2);
        }
    }
}
