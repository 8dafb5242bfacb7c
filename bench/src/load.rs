//! The load generator: keep-alive connections that each send one request after the other and read the answer
//! by its content length.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The results of one run.
#[derive(Debug, Clone)]
pub struct Figures {
    /// Requests answered per second.
    pub per_second: f64,
    /// Median time of one request.
    pub p50: Duration,
    /// Time within which 99 of 100 were answered.
    pub p99: Duration,
    pub answers: u64,
    /// Answers that were not 2xx.
    pub refused: u64,
    /// The first of them, unchanged.
    pub refusal: String,
}

/// Makes the bytes of request number `n`.
pub type Make = Arc<dyn Fn(u64) -> Vec<u8> + Send + Sync>;

/// Sends requests over `connections` connections for `time`.
pub async fn run(address: &str, connections: usize, time: Duration, make: Make) -> Result<Figures, String> {
    run_at(address, connections, time, None, make).await
}

/// Sends `count` requests over `connections` connections, as fast as they are answered.
pub async fn run_count(address: &str, connections: usize, count: u64, make: Make) -> Result<Figures, String> {
    run_bounded(address, connections, Duration::from_secs(3600), count, None, make).await
}

/// Like [`run`], with at most `rate` requests a second in all.
pub async fn run_at(
    address: &str,
    connections: usize,
    time: Duration,
    rate: Option<f64>,
    make: Make,
) -> Result<Figures, String> {
    run_bounded(address, connections, time, u64::MAX, rate, make).await
}

/// Sends `count` requests at most, for `time` at most.
pub async fn run_bounded(
    address: &str,
    connections: usize,
    time: Duration,
    count: u64,
    rate: Option<f64>,
    make: Make,
) -> Result<Figures, String> {
    let pause = rate.map(|rate| Duration::from_secs_f64(connections as f64 / rate));
    let number = Arc::new(AtomicU64::new(0));
    let refused = Arc::new(Refused::default());
    let started = Instant::now();
    let tasks: Vec<_> = (0..connections)
        .map(|index| {
            let (address, make, number, refused) =
                (address.to_owned(), make.clone(), number.clone(), refused.clone());
            // Connections take turns, so that the rate is even.
            let first = pause.map(|pause| started + pause.mul_f64(index as f64 / connections as f64));
            let pace = first.zip(pause);
            tokio::spawn(async move {
                connection(&address, (started + time, count), pace, &make, &number, &refused).await
            })
        })
        .collect();
    let mut times = Vec::new();
    for task in tasks {
        times.extend(task.await.map_err(|why| why.to_string())?.map_err(|why| format!("{address}: {why}"))?);
    }
    let took = started.elapsed().as_secs_f64();
    times.sort_unstable();
    let at = |share: f64| times.get(((times.len() as f64) * share) as usize).copied().unwrap_or_default();
    Ok(Figures {
        per_second: times.len() as f64 / took,
        p50: at(0.5),
        p99: at(0.99),
        answers: times.len() as u64,
        refused: refused.count.load(Ordering::Relaxed),
        refusal: refused.first.get().cloned().unwrap_or_default(),
    })
}

async fn connection(
    address: &str,
    (until, count): (Instant, u64),
    pace: Option<(Instant, Duration)>,
    make: &Make,
    number: &AtomicU64,
    refused: &Refused,
) -> std::io::Result<Vec<Duration>> {
    let mut socket = TcpStream::connect(address).await?;
    socket.set_nodelay(true)?;
    let mut times = Vec::with_capacity(10_000);
    let mut buffer = vec![0u8; 256 * 1024];
    let mut turn = pace;
    while Instant::now() < until {
        if let Some((at, pause)) = &mut turn {
            tokio::time::sleep_until((*at).into()).await;
            *at += *pause;
        }
        let number = number.fetch_add(1, Ordering::Relaxed);
        if number >= count {
            break;
        }
        let request = make(number);
        let started = Instant::now();
        socket.write_all(&request).await?;
        let (status, end) = answer(&mut socket, &mut buffer).await?;
        if !(200..300).contains(&status) {
            refused.count.fetch_add(1, Ordering::Relaxed);
            refused.first.get_or_init(|| String::from_utf8_lossy(&buffer[..end]).into_owned());
        }
        times.push(started.elapsed());
    }
    Ok(times)
}

/// Answers that were not 2xx.
#[derive(Default)]
struct Refused {
    count: AtomicU64,
    first: OnceLock<String>,
}

/// Reads one answer and returns its status and its length in bytes.
async fn answer(socket: &mut TcpStream, buffer: &mut [u8]) -> std::io::Result<(u16, usize)> {
    let broken = |what: &str| std::io::Error::other(what.to_owned());
    let mut filled = 0;
    loop {
        let count = socket.read(&mut buffer[filled..]).await?;
        if count == 0 {
            return Err(broken("the connection ended early"));
        }
        filled += count;
        let Some(head_end) = buffer[..filled].windows(4).position(|four| four == b"\r\n\r\n") else {
            continue;
        };
        let head = std::str::from_utf8(&buffer[..head_end]).map_err(|_| broken("the head is not text"))?;
        let status = head.get(9..12).and_then(|code| code.parse().ok()).ok_or_else(|| broken("no status"))?;
        let length = head
            .lines()
            .find_map(|line| {
                line.split_once(':').filter(|(name, _)| name.eq_ignore_ascii_case("content-length"))
            })
            .and_then(|(_, value)| value.trim().parse::<usize>().ok())
            .unwrap_or(0);
        let end = head_end + 4 + length;
        if end > buffer.len() {
            return Err(broken("the answer is larger than the buffer"));
        }
        while filled < end {
            let count = socket.read(&mut buffer[filled..end]).await?;
            if count == 0 {
                return Err(broken("the body ended early"));
            }
            filled += count;
        }
        return Ok((status, end));
    }
}

/// A request as bytes.
pub fn request(method: &str, path: &str, bearer: &str, headers: &str, body: &str) -> Vec<u8> {
    let length = if body.is_empty() {
        String::new()
    } else {
        format!("content-type: application/json\r\ncontent-length: {}\r\n", body.len())
    };
    format!("{method} {path} HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer {bearer}\r\n{headers}{length}\r\n{body}").into_bytes()
}
