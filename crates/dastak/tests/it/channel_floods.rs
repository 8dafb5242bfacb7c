//! What a client or a provider can make the messaging channel do at once: files that nobody takes, notifications without
//! end, guesses of a token (docs/contract/channel.md#limits).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::app::{Answer, TestApp, needs_sqlite};
use crate::channel_messages::PATH;
use crate::cloud::{self, ACCOUNT, NUMBER_ID, SECRET, VERIFY, notify};
use crate::hostile_clients::{connect, head};
use crate::world::Channel;

const MB: u64 = 1 << 20;
/// Ends a test that would otherwise never end.
const PATIENCE: Duration = Duration::from_secs(120);

/// Bytes of memory that this process has.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").expect("the accounts of this process");
    let pages: u64 = text.split_whitespace().nth(1).and_then(|pages| pages.parse().ok()).expect("its pages");
    pages * 4_096
}

/// The most memory that this process has had since.
struct Peak {
    most: Arc<AtomicU64>,
    over: Arc<AtomicBool>,
    before: u64,
}

impl Peak {
    fn watch() -> Self {
        let (most, over) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let (seen, ends) = (most.clone(), over.clone());
        std::thread::spawn(move || {
            while !ends.load(Ordering::Relaxed) {
                seen.fetch_max(resident(), Ordering::Relaxed);
                std::thread::park_timeout(Duration::from_millis(2));
            }
        });
        Self { most, over, before: resident() }
    }

    fn grown(&self) -> u64 {
        self.most.load(Ordering::Relaxed).max(resident()).saturating_sub(self.before)
    }
}

impl Drop for Peak {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
    }
}

/// A message with a file of 100 MB; the path of the file.
async fn large_file(desk: &Channel) -> String {
    desk.fake.system.put_media("900", "application/pdf", "the bytes");
    let message = json!({"from": "919812345678", "id": "wamid.media", "timestamp": desk.seconds().to_string(),
        "type": "document", "document": {"id": "900", "mime_type": "application/pdf"}});
    desk.told(json!({"messages": [message]})).await;
    desk.advance(1).await;
    let id = desk.messages("direction=inbound").await[0]["messageId"].as_str().unwrap().to_owned();
    let file = desk.app().config.data.join("channel").join(&id);
    std::fs::File::options().write(true).open(file).unwrap().set_len(100 * MB).unwrap();
    let grown = desk
        .app()
        .store
        .tx(|tx| tx.exec("update channel_messages set media_bytes = ?1", store::params![(100 * MB) as i64]));
    assert_eq!(grown.await.expect("a larger file"), 1);
    format!("{PATH}/{id}/media")
}

/// The head of an answer with a file, and how many bytes follow it.
async fn taken(desk: &Channel, path: &str) -> (String, u64) {
    let mut socket = connect(&desk.app).await;
    let request = head("GET", path, Some(desk.live()), "connection: close\r\n");
    socket.write_all(request.as_bytes()).await.unwrap();
    let (mut said, mut count, mut piece) = (Vec::new(), 0, vec![0; 64 * 1_024]);
    loop {
        let length = socket.read(&mut piece).await.expect("no reset");
        if length == 0 {
            break;
        }
        count += length as u64;
        if said.len() < 4_096 {
            said.extend_from_slice(&piece[..length]);
        }
    }
    let end = said.windows(4).position(|end| end == b"\r\n\r\n").expect("the end of a head") + 4;
    (String::from_utf8_lossy(&said[..end]).into_owned(), count - end as u64)
}

#[tokio::test]
async fn a_large_file_that_nobody_takes_costs_no_memory() {
    let desk = Channel::open().await;
    let path = large_file(&desk).await;
    let peak = Peak::watch();
    let mut sockets = Vec::new();
    for method in ["GET", "HEAD"] {
        for _ in 0..12 {
            let mut socket = connect(&desk.app).await;
            let request = head(method, &path, Some(desk.live()), "");
            socket.write_all(request.as_bytes()).await.unwrap();
            let mut start = [0; 12];
            socket.read_exact(&mut start).await.expect("the head of an answer");
            sockets.push((method, String::from_utf8_lossy(&start).into_owned(), socket));
        }
    }
    assert!(peak.grown() < 300 * MB, "{} MB", peak.grown() / MB);
    let count = |wanted: &str, status: &str| {
        let fits = |(method, start, _): &&(&str, String, _)| {
            *method == wanted && *start == format!("HTTP/1.1 {status}")
        };
        sockets.iter().filter(fits).count()
    };
    assert_eq!((count("GET", "200"), count("GET", "429")), (8, 4), "so many of one file at once");
    assert_eq!(count("HEAD", "200"), 12, "whose body nobody wants takes no place");
    // Each place is given back, and the whole file comes.
    drop(sockets);
    let whole = async {
        loop {
            let (head, bytes) = taken(&desk, &path).await;
            if !head.starts_with("HTTP/1.1 429") {
                return (head, bytes);
            }
        }
    };
    let (head, bytes) = tokio::time::timeout(PATIENCE, whole).await.expect("a free place");
    assert!(head.starts_with("HTTP/1.1 200") && head.contains("content-type: application/pdf"), "{head}");
    assert_eq!(bytes, 100 * MB);
    let asked = desk.app.send("HEAD", &path, Some(desk.live()), &[], Bytes::new()).await;
    let length = (100 * MB).to_string();
    assert_eq!((asked.text.as_str(), asked.header("content-length")), ("", Some(length.as_str())));
}

async fn raw(app: &TestApp, hook: &str, body: &Bytes) -> Answer {
    let signature = cloud_api::notifications::signature(SECRET, body);
    app.send("POST", hook, None, &[("x-hub-signature-256", &signature)], body.clone()).await
}

/// A change about messages around these bytes.
fn around(inner: &str) -> Bytes {
    format!(
        "{{\"entry\": [{{\"id\": \"{ACCOUNT}\", \"changes\": [{{\"value\": {{\"metadata\": \
         {{\"phone_number_id\": \"{NUMBER_ID}\"}}, {inner}}}, \"field\": \"messages\"}}]}}]}}"
    )
    .into()
}

#[tokio::test]
async fn what_nobody_reads_of_a_notification_takes_no_memory_and_has_its_rate() {
    let (world, _fake) = cloud::start().await;
    let hook = world.connect_cloud().await;
    let empty = "[],".repeat(950_000);
    let peak = Peak::watch();
    // Three megabytes of empty lists: where nobody looks, as the parts of a message, and as a card that is kept.
    let card = format!(
        "\"messages\": [{{\"from\": \"919812345678\", \"id\": \"wamid.c\", \"type\": \"contacts\", \"contacts\": [[{empty}0]]}}]"
    );
    let text = "\"messages\": [{\"type\": \"text\", \"text\": {\"body\": \"Hi\"}, \"from\": \"919812345678\", \"id\": \"wamid.t\", \"x\":";
    let bodies =
        [around(&format!("\"x\": [{empty}0]")), around(&format!("{text} [{empty}0]}}]")), around(&card)];
    let mut taken = 0;
    let refused = loop {
        let body = &bodies[taken % bodies.len()];
        let answer = raw(&world, &hook, body).await;
        match answer.status {
            200 => taken += 1,
            _ => break answer,
        }
        assert!(taken < 60, "without a rate");
    };
    assert!(peak.grown() < 150 * MB, "{} MB", peak.grown() / MB);
    // 60,000 at once, and each kilobyte counts as an item.
    assert_eq!(taken, 60_000 / bodies[0].len().div_ceil(1_024));
    assert_eq!(refused.header("retry-after"), Some("1"), "{}", refused.text);
    refused.refused(429, "rate_limited");
    world.advance(2).await;
    raw(&world, &hook, &bodies[0]).await.expect(200);
    let listed = world.get("/v1/chatapp/messages").await;
    let kinds: Vec<&Value> = listed["data"].as_array().unwrap().iter().map(|row| &row["type"]).collect();
    assert_eq!(kinds, [&json!("contacts"), &json!("text")], "what was said is kept without what is too much");
    // As items there may be only so many, also empty ones.
    world.advance(2).await;
    let refused = raw(&world, &hook, &around(&format!("\"messages\": [{empty}0]"))).await;
    refused.invalid();
}

/// As many items as are given, for another day.
async fn filled(app: &TestApp, count: i64) {
    let fill = format!(
        "with recursive n (i) as (select 1 union all select i + 1 from n where i < {count})
        insert into channel_notifications
            (id, workspace, connection, key, lane, payload, attempts, next_at, received_at)
        select 'full' || i, c.workspace, c.id, 'full' || i, 'full', '{{}}', 0, ?1, ?1 from n, channel_connections c"
    );
    let later = app.app().clock.now().plus(domain::time::DAY);
    let filled = app.app().store.tx(move |tx| tx.exec(&fill, store::params![later])).await;
    assert_eq!(filled.expect("a full inbox"), count as u64);
}

async fn stored(app: &TestApp) -> i64 {
    let count = app.app().store.read(|tx| tx.one::<i64>("select count(*) from channel_notifications", &[]));
    count.await.expect("a count").unwrap_or(0)
}

fn texts(prefix: &str, count: usize, number: &str) -> Value {
    let messages: Vec<Value> = (0..count)
        .map(|at| cloud::text(&format!("wamid.{prefix}{at}"), &format!("+91981{at:07}"), 1_795_000_000, "Hi"))
        .collect();
    json!({"messaging_product": "whatsapp", "metadata": {"phone_number_id": number}, "messages": messages})
}

#[tokio::test]
async fn no_more_wait_than_may_wait_whoever_comes_at_once() {
    let (world, _fake) = cloud::start().await;
    let hook = world.connect_cloud().await;
    let most = channel::inbox::MAX_WAITING;
    filled(&world, most - 1_000).await;
    world.advance(2).await;
    let bodies: Vec<Value> =
        ["a", "b", "c", "d"].map(|name| cloud::change("messages", texts(name, 400, NUMBER_ID))).into();
    let answers = futures_util::future::join_all(bodies.iter().map(|body| notify(&world, &hook, body))).await;
    let taken = answers.iter().filter(|answer| answer.status == 200).count();
    assert_eq!(taken, 2, "{:?}", answers.iter().map(|answer| answer.status).collect::<Vec<_>>());
    for refused in answers.into_iter().filter(|answer| answer.status != 200) {
        refused.refused(503, "inbox_full");
    }
    assert_eq!(stored(&world).await, most - 1_000 + 800);
}

/// A large notification is stored in pieces, so that nobody waits for all of it. What was stored before a piece failed is
/// there once when the provider sends it again.
#[tokio::test]
async fn a_large_notification_is_stored_piece_by_piece_on_sqlite() {
    needs_sqlite();
    let (world, _fake) = cloud::start().await;
    let hook = world.connect_cloud().await;
    let body = json!({"entry": [{"id": ACCOUNT, "changes": [
        {"field": "messages", "value": texts("a", 700, NUMBER_ID)},
        {"field": "messages", "value": texts("b", 1, "666")},
    ]}]});
    let broken = "create trigger broken before insert on channel_notifications when new.phone_number_id = '666' \
                  begin select raise(abort, 'no'); end";
    world.store(move |tx| tx.exec(broken, &[])).await;
    let failed = notify(&world, &hook, &body).await;
    assert!(failed.status >= 500, "{}", failed.text);
    assert_eq!(stored(&world).await, 500, "the first piece");
    world.store(|tx| tx.exec("drop trigger broken", &[])).await;
    notify(&world, &hook, &body).await.expect(200);
    assert_eq!(stored(&world).await, 701, "each once");
}

#[tokio::test]
async fn guesses_of_the_token_are_throttled() {
    let (world, _fake) = cloud::start().await;
    let hook = world.connect_cloud().await;
    let ask = async |token: &str| {
        let path = format!("{hook}?hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token={token}");
        world.send("GET", &path, None, &[], Bytes::new()).await
    };
    let mut refused = 0;
    for guess in 0..200 {
        let answer = ask(&format!("guess{guess}")).await;
        assert!(matches!(answer.status, 403 | 429), "{}", answer.text);
        refused += usize::from(answer.status == 429);
    }
    assert_eq!(refused, 180, "twenty a minute");
    // By now not even the right one is looked at.
    let right = ask(VERIFY).await;
    assert!(right.header("retry-after").is_some(), "{}", right.text);
    right.refused(429, "rate_limited");
    world.advance(61).await;
    let right = ask(VERIFY).await;
    assert_eq!((right.status, right.text.as_str()), (200, "1158201444"));
}
