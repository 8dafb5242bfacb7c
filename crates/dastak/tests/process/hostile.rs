//! What hostile requests cost in memory, by the process's own accounting.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::node::{Folder, Node, fresh_database, on_postgres};

const FIVE_MB: usize = 5 * 1024 * 1024;
const MB: usize = 1024 * 1024;

/// A figure of the process, bytes.
fn memory(node: &Node, name: &str) -> usize {
    let status =
        std::fs::read_to_string(format!("/proc/{}/status", node.child.id())).expect("the process's status");
    let line = status.lines().find(|line| line.starts_with(name)).expect("the figure");
    line.split_whitespace().nth(1).and_then(|kilobytes| kilobytes.parse::<usize>().ok()).expect("a number")
        * 1024
}

/// Makes the peak start anew at what the process occupies now, and returns that.
fn start(node: &Node) -> usize {
    std::fs::write(format!("/proc/{}/clear_refs", node.child.id()), "5").expect("the peak starts anew");
    memory(node, "VmRSS")
}

async fn connect(node: &Node) -> TcpStream {
    TcpStream::connect(node.ready["listen"].as_str().expect("an address")).await.expect("a connection")
}

/// A connection whose kernel takes little of an answer before it is read, whatever earlier connections made it learn.
async fn connect_narrow(node: &Node) -> TcpStream {
    let socket = tokio::net::TcpSocket::new_v4().expect("a socket");
    socket.set_recv_buffer_size(4096).expect("a small buffer");
    let address = node.ready["listen"].as_str().expect("an address").parse().expect("an address");
    socket.connect(address).await.expect("a connection")
}

/// Sends a body and returns the status of the answer.
async fn post(node: &Node, method: &str, path: &str, key: &str, body: &[u8]) -> u16 {
    let mut socket = connect(node).await;
    let length = body.len();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {key}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n"
    );
    socket.write_all(head.as_bytes()).await.expect("sent");
    socket.write_all(body).await.expect("sent");
    let mut answer = Vec::new();
    socket.read_to_end(&mut answer).await.expect("an answer");
    String::from_utf8_lossy(&answer[9..12]).parse().expect("a status")
}

/// `piece` again and again between two ends, of five megabytes in all.
fn filled(before: &str, piece: impl Fn(usize) -> String, after: &str) -> Vec<u8> {
    let mut body = before.to_owned();
    let mut number = 0;
    loop {
        let next = piece(number);
        if body.len() + next.len() + after.len() > FIVE_MB {
            return (body + after).into_bytes();
        }
        body.push_str(&next);
        number += 1;
    }
}

async fn node(folder: &Folder) -> Node {
    if on_postgres() {
        let database = fresh_database().await;
        return Node::start(&folder.0, &[("DASTAK_DATABASE_URL", &database)]);
    }
    Node::start(&folder.0, &[])
}

#[tokio::test]
async fn the_worst_body_costs_less_than_ten_times_its_size() {
    let folder = Folder::new();
    let node = node(&folder).await;
    let (_, key) = node.client.workspace().await;
    let (_, _, made) =
        node.client.send("POST", "/v1/agents", &key, &[], &json!({"name": "Asha"})).await.expect("an answer");
    let agent = made["data"]["id"].as_str().expect("an id").to_owned();
    let flow = format!("/v1/agents/{agent}/flow");
    let same = |text: &'static str| move |_: usize| text.to_owned();
    let bodies: Vec<(&str, &str, &str, Vec<u8>)> = vec![
        (
            "many names",
            "POST",
            "/v1/calls",
            filled("{\"variables\":{", |number| format!("\"{number:06}\":1,"), "\"z\":1}}"),
        ),
        ("brackets", "POST", "/v1/calls", filled("", same("["), "")),
        ("brackets in variables", "POST", "/v1/calls", filled("{\"variables\":{\"a\":", same("["), "")),
        ("a list for a text", "POST", "/v1/calls", filled("{\"agentId\":[", same("[],"), "[]]}")),
        ("unknown lists", "POST", "/v1/calls", filled("{\"x\":[", same("[],"), "[]]}")),
        (
            "unknown names",
            "POST",
            "/v1/calls",
            filled("{", |number| format!("\"x{number}\":{{}},"), "\"z\":1}"),
        ),
        (
            "unknown names where none may be",
            "POST",
            "/v1/nudges",
            filled("{", |number| format!("\"x{number}\":{{}},"), "\"z\":1}"),
        ),
        (
            "one name again and again",
            "POST",
            "/v1/calls",
            filled("{", same("\"agentId\":\"aaaa\","), "\"z\":1}"),
        ),
        ("escapes", "POST", "/v1/calls", filled("{\"agentId\":\"", same("\\u0041"), "\"}")),
        ("escapes in a name", "POST", "/v1/calls", filled("{\"", same("\\u0041"), "\":1}")),
        (
            "lists in a flow",
            "PUT",
            &flow,
            filled("{\"baseVersion\":1,\"graph\":{\"nodes\":[", same("[],"), "[]]}}"),
        ),
        (
            "objects in a flow",
            "PUT",
            &flow,
            filled("{\"baseVersion\":1,\"graph\":{\"nodes\":[", same("{\"a\":1},"), "{}]}}"),
        ),
        (
            "a flow in a flow",
            "PUT",
            &flow,
            filled("{\"baseVersion\":1,\"graph\":{\"nodes\":[],\"x\":[", same("{\"a\":{}},"), "{}]}}"),
        ),
        ("contacts", "POST", "/v1/contacts/batch", filled("{\"contacts\":[", same("{},"), "{}]}")),
        (
            "values in contacts",
            "POST",
            "/v1/contacts/batch",
            filled("{\"contacts\":[[", same("{\"a\":1},"), "{}]]}"),
        ),
        ("numbers", "POST", "/v1/dnc", filled("{\"phones\":[", same("\"\","), "\"\"]}")),
    ];
    // What a process allocates once is no cost of a body.
    for (_, method, path, body) in &bodies {
        post(&node, method, path, &key, &body[..1000]).await;
    }
    let mut told: Vec<String> = Vec::new();
    for (name, method, path, body) in &bodies {
        let before = start(&node);
        let status = post(&node, method, path, &key, body).await;
        let cost = memory(&node, "VmHWM").saturating_sub(before);
        told.push(format!(
            "{name}: {status}, {:.1} times {} bytes",
            cost as f64 / body.len() as f64,
            body.len()
        ));
        assert!((400..=499).contains(&status), "{told:#?}");
        assert!(cost < 10 * body.len(), "{told:#?}");
    }
    println!("{told:#?}");
}

/// A calling list of almost 64 MB is read as it comes.
#[tokio::test]
async fn a_long_list_is_never_in_memory() {
    let folder = Folder::new();
    let node = node(&folder).await;
    let (_, key) = node.client.workspace().await;
    let made = node.client.send("POST", "/v1/campaigns", &key, &[], &json!({"name": "January"})).await;
    let (_, _, made) = made.expect("an answer");
    let path = format!("/v1/campaigns/{}/contacts", made["data"]["id"].as_str().expect("an id"));
    let list = |rows: usize| {
        let note = "x".repeat(1_900);
        let row = |n: usize| {
            format!("{{\"phone\":\"98{:08}\",\"variables\":{{\"note\":\"{note}\"}}}}", 10_000_000 + n)
        };
        let rows: Vec<String> = (0..rows).map(row).collect();
        format!("{{\"contacts\":[{}]}}", rows.join(",")).into_bytes()
    };
    // What the store keeps of what it wrote is no cost of a body.
    assert_eq!(post(&node, "POST", &path, &key, &list(15_000)).await, 200);
    let body = list(30_000);
    assert!(body.len() > 55 * MB && body.len() < 64 * MB);
    let before = start(&node);
    assert_eq!(post(&node, "POST", &path, &key, &body).await, 200);
    let cost = memory(&node, "VmHWM").saturating_sub(before);
    println!("a list of {} MB: {} MB", body.len() / MB, cost / MB);
    assert!(cost < 32 * MB, "{} MB", cost / MB);
}

#[tokio::test]
async fn strangers_hold_no_memory() {
    let folder = Folder::new();
    let node = node(&folder).await;
    let before = start(&node);
    let mut sockets = Vec::new();
    for _ in 0..300 {
        let mut socket = connect(&node).await;
        let head = format!("POST /v1/calls HTTP/1.1\r\nhost: x\r\ncontent-length: {FIVE_MB}\r\n\r\n");
        socket.write_all(head.as_bytes()).await.expect("sent");
        sockets.push(socket);
    }
    let piece = vec![b' '; 64 * 1024];
    for socket in &mut sockets {
        // As much as the service takes; it may have closed the connection.
        let _ = socket.try_write(&piece);
    }
    for mut socket in sockets {
        let mut said = [0; 12];
        socket.read_exact(&mut said).await.expect("an answer");
        assert_eq!(&said, b"HTTP/1.1 401");
    }
    let cost = memory(&node, "VmHWM").saturating_sub(before);
    assert!(cost < 64 * MB, "{cost} bytes for 300 strangers");
}

/// Clients that ask for large pages and do not read them: a page ends after some megabytes, so many are read at once, and what
/// is not taken is bounded.
#[tokio::test]
async fn pages_that_nobody_reads_hold_little_memory() {
    let folder = Folder::new();
    let node = node(&folder).await;
    let (_, key) = node.client.workspace().await;
    let stream = json!({"name": "Leads", "kind": "webhook"});
    let (_, _, made) =
        node.client.send("POST", "/v1/data-streams", &key, &[], &stream).await.expect("an answer");
    let records = format!("/v1/data-streams/{}/records", made["data"]["id"].as_str().expect("an id"));
    for batch in 0..5 {
        // Without a number: each is told of in an event, too.
        let record = |number: usize| json!({"id": format!("{batch}-{number}"), "note": "n".repeat(40_000)});
        let body: Value = (0..100).map(record).collect();
        let (status, ..) = node.client.send("POST", &records, &key, &[], &body).await.expect("an answer");
        assert_eq!(status, 202);
    }
    let before = start(&node);
    let mut sockets = Vec::new();
    for path in [format!("{records}?limit=200"), "/v1/events?after=start&limit=100".to_owned()] {
        for _ in 0..40 {
            let mut socket = connect_narrow(&node).await;
            let head = format!("GET {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {key}\r\n\r\n");
            socket.write_all(head.as_bytes()).await.expect("sent");
            sockets.push(socket);
        }
    }
    let mut given = 0;
    for socket in &mut sockets {
        let mut said = [0; 12];
        socket.read_exact(&mut said).await.expect("an answer");
        given += usize::from(&said == b"HTTP/1.1 200");
        assert!([&b"HTTP/1.1 200"[..], b"HTTP/1.1 429"].contains(&&said[..]));
    }
    assert!((1..=20).contains(&given), "{given} of 80 were given");
    let cost = memory(&node, "VmHWM").saturating_sub(before);
    assert!(cost < 100 * MB, "{cost} bytes for 80 pages that nobody reads");
}

#[tokio::test]
async fn a_process_without_file_descriptors_rests_and_goes_on() {
    let folder = Folder::new();
    let node = node(&folder).await;
    let open = || std::fs::read_dir(format!("/proc/{}/fd", node.child.id())).expect("its files").count();
    let limit = open() + 20;
    let set = |limit: String| {
        let done = std::process::Command::new("prlimit")
            .args(["--pid", &node.child.id().to_string(), &format!("--nofile={limit}:")])
            .status();
        assert!(done.expect("prlimit").success());
    };
    set(limit.to_string());
    let mut sockets = Vec::new();
    for _ in 0..40 {
        sockets.push(connect(&node).await);
    }
    // The rest wait to be accepted. Meanwhile the process hardly does anything: without a rest it would use a
    // core.
    while open() < limit {
        std::thread::yield_now();
    }
    let ticks = || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", node.child.id())).expect("its figures");
        let after = stat.rsplit(')').next().expect("figures after the name").to_owned();
        let figures: Vec<i64> = after.split_whitespace().filter_map(|figure| figure.parse().ok()).collect();
        // User and system time, counted from the state, which is no number.
        figures[10] + figures[11]
    };
    let (before, started) = (ticks(), Instant::now());
    while started.elapsed() < Duration::from_secs(2) {
        std::thread::park_timeout(Duration::from_millis(50));
    }
    let used = ticks() - before;
    assert!(used < 40, "{used} hundredths of a second in two seconds");
    drop(sockets);
    set("1024".into());
    node.client
        .until("GET", "/healthz", |answer| answer.as_ref().is_some_and(|(status, ..)| *status == 200))
        .await;
    // A connection to the store that could not be opened meanwhile is opened again.
    let mut pace = tokio::time::interval(Duration::from_millis(100));
    for _ in 0..300 {
        pace.tick().await;
        if node.client.operator("GET", "/workspaces", &Value::Null).await.0 == 200 {
            return;
        }
    }
    panic!("it does not go on");
}
