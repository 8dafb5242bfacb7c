//! Webhooks: the time from accepting an event over HTTP to the receiver's 2xx, with one endpoint and with
//! fifty of which ten are dead. Generator and receiver run on the same machine as the server, in this
//! process.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::load::{self, request};
use crate::server::{Server, TOKEN};
use crate::skeleton::{call, workspace};

const CONNECTIONS: usize = 64;
const TIME: Duration = Duration::from_secs(8);
const OK: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";

/// Counts deliveries and keeps their lags.
#[derive(Default)]
pub struct Seen {
    count: AtomicU64,
    /// Milliseconds from the event's `createdAt`, by the clock of this machine.
    lags: Mutex<Vec<u32>>,
}

impl Seen {
    /// Deliveries so far.
    pub fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    fn lags(&self) -> (u32, u32) {
        let mut lags =
            std::mem::take(&mut *self.lags.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
        lags.sort_unstable();
        let at = |share: f64| lags.get((lags.len() as f64 * share) as usize).copied().unwrap_or(0);
        (at(0.5), at(0.99))
    }
}

#[allow(clippy::disallowed_methods)]
fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
}

/// The envelope's `createdAt`, as milliseconds within its minute.
fn created_in_minute(body: &[u8]) -> Option<i64> {
    let at = body.windows(12).position(|window| window == b"\"createdAt\":")? + 13;
    let text = std::str::from_utf8(body.get(at + 17..at + 23)?).ok()?;
    let (seconds, millis) = text.split_once('.')?;
    Some(seconds.parse::<i64>().ok()? * 1000 + millis.parse::<i64>().ok()?)
}

/// A receiver. With `None` it never answers and keeps every connection waiting.
pub async fn receiver(seen: Option<Arc<Seen>>) -> std::io::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/hook", listener.local_addr()?);
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let _ = socket.set_nodelay(true);
            tokio::spawn(serve(socket, seen.clone()));
        }
    });
    Ok(url)
}

async fn serve(mut socket: TcpStream, seen: Option<Arc<Seen>>) {
    let mut buffer = vec![0u8; 64 * 1024];
    let mut filled = 0;
    loop {
        let Ok(count @ 1..) = socket.read(&mut buffer[filled..]).await else { return };
        filled += count;
        let Some(seen) = &seen else { continue };
        while let Some((head, length)) = head_of(&buffer[..filled]) {
            if filled < head + length {
                break;
            }
            let created = created_in_minute(&buffer[head..head + length]);
            if socket.write_all(OK).await.is_err() {
                return;
            }
            let lag = created.map_or(0, |created| (now_ms() % 60_000 - created).rem_euclid(60_000));
            seen.lags.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(lag as u32);
            seen.count.fetch_add(1, Ordering::Relaxed);
            buffer.copy_within(head + length..filled, 0);
            filled -= head + length;
        }
    }
}

fn head_of(bytes: &[u8]) -> Option<(usize, usize)> {
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
    let head = std::str::from_utf8(&bytes[..end]).ok()?;
    let length = head
        .lines()
        .find_map(|line| {
            line.split_once(':').filter(|(name, _)| name.eq_ignore_ascii_case("content-length"))
        })?
        .1;
    Some((end, length.trim().parse().ok()?))
}

/// A workspace with one endpoint; returns its key.
async fn subscriber(address: &str, token: &str, url: &str) -> Result<String, String> {
    let (_, key) = workspace(address, token).await?;
    call(address, "POST", "/v1/webhooks", &key, &json!({"url": url})).await?;
    Ok(key)
}

/// One line of the table: sends events for `TIME`, at `rate` per second or as fast as possible, and waits for
/// all deliveries.
async fn line(
    name: &str,
    server: &Server,
    keys: Arc<Vec<(String, bool)>>,
    seen: &Seen,
    rate: Option<f64>,
) -> Result<f64, String> {
    let healthy = Arc::new(AtomicU64::new(0));
    let expected = healthy.clone();
    let make: load::Make = Arc::new(move |n| {
        let (key, well) = &keys[(n % keys.len() as u64) as usize];
        if *well {
            expected.fetch_add(1, Ordering::Relaxed);
        }
        request("POST", "/v1/events/trigger", key, "", r#"{"type":"call.completed"}"#)
    });
    let _ = seen.lags();
    let (before, cpu, started) = (seen.count.load(Ordering::Relaxed), server.cpu_seconds(), Instant::now());
    let figures = load::run_at(&server.address, CONNECTIONS, TIME, rate, make).await?;
    let accepted_in = started.elapsed();
    let wanted = before + healthy.load(Ordering::Relaxed);
    while seen.count.load(Ordering::Relaxed) < wanted && started.elapsed() < TIME * 5 {
        tokio::time::sleep_until(tokio::time::Instant::now() + Duration::from_millis(2)).await;
    }
    let took = started.elapsed();
    let delivered = seen.count.load(Ordering::Relaxed) - before;
    // Deliveries may still be being recorded.
    tokio::time::sleep_until(tokio::time::Instant::now() + Duration::from_millis(300)).await;
    let cpu = server.cpu_seconds() - cpu;
    let (p50, p99) = seen.lags();
    let per_second = figures.answers as f64 / took.as_secs_f64();
    println!(
        "| {name} | {:.0} | {per_second:.0} | {delivered} of {} | {:.3} ms | {p50} ms | {p99} ms | {:.0} MB | {} |",
        figures.answers as f64 / accepted_in.as_secs_f64(),
        wanted - before,
        cpu * 1e3 / figures.answers.max(1) as f64,
        server.memory_mb(),
        figures.refused,
    );
    Ok(per_second)
}

/// Prints the table.
pub async fn run() -> Result<(), String> {
    println!(
        "| run | accepted/s | accepted and delivered/s | delivered | server CPU an event | lag p50 | lag p99 | memory | refused |\n|---|---|---|---|---|---|---|---|---|"
    );
    let store = std::env::var("BENCH_POSTGRES_URL").ok();
    let mut notes = Vec::new();
    for (name, endpoints, dead) in [("1 endpoint", 1, 0), ("50 endpoints, 10 dead", 50, 10)] {
        let data =
            std::env::temp_dir().join(format!("dastak-bench-hooks-{}-{endpoints}", std::process::id()));
        let server = Server::dastak(&data, store.as_deref())?;
        let seen = Arc::new(Seen::default());
        let why = |why: std::io::Error| why.to_string();
        let (well, hanging) =
            (receiver(Some(seen.clone())).await.map_err(why)?, receiver(None).await.map_err(why)?);
        let mut keys = Vec::new();
        for number in 0..endpoints {
            // Half of the dead hang, half refuse the connection.
            let url = match number < dead {
                false => well.clone(),
                true if number % 2 == 0 => hanging.clone(),
                true => "http://127.0.0.1:9999/refused".to_owned(),
            };
            keys.push((subscriber(&server.address, TOKEN, &url).await?, number >= dead));
        }
        let keys = Arc::new(keys);
        let full = line(name, &server, keys.clone(), &seen, None).await?;
        line(&format!("{name}, half load"), &server, keys.clone(), &seen, Some(full / 2.0)).await?;
        line(&format!("{name}, 3000/s"), &server, keys, &seen, Some(3000.0)).await?;
        drop(server);
        let total = seen.count.load(Ordering::Relaxed);
        let recorded = if store.is_none() { recorded(&data)? } else { "not looked at".to_owned() };
        notes
            .push(format!("{name}: the receiver answered {total}; in the killed server's store: {recorded}"));
        let _ = std::fs::remove_dir_all(&data);
    }
    println!("\n{}", notes.join("\n"));
    Ok(())
}

/// What a store holds: events, and deliveries by status.
fn recorded(data: &std::path::Path) -> Result<String, String> {
    let conn = rusqlite::Connection::open(data.join("dastak.db")).map_err(|why| why.to_string())?;
    let count =
        |sql: &str| conn.query_row(sql, [], |row| row.get::<_, i64>(0)).map_err(|why| why.to_string());
    let of = |status: &str| count(&format!("select count(*) from deliveries where status = '{status}'"));
    Ok(format!(
        "{} events, deliveries {} succeeded, {} pending, {} failed",
        count("select count(*) from events")?,
        of("succeeded")?,
        of("pending")?,
        of("failed")?
    ))
}
