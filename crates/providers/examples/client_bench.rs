//! Requests a second, and CPU of the client alone, against a receiver in the same process on its own threads.
//!
//! `cargo run --release -p providers --example client_bench [seconds] [concurrency] [client threads]`

use std::convert::Infallible;
use std::error::Error;
use std::fs;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use providers::guarded_client::{GuardedClient, Limits, Policy, Request, SystemResolver, Target};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};

const PAYLOAD: usize = 600;

fn main() -> Result<(), Box<dyn Error>> {
    let argument = |place: usize, default: u64| {
        std::env::args().nth(place).and_then(|text| text.parse().ok()).unwrap_or(default)
    };
    let (seconds, concurrency, threads) = (argument(1, 5), argument(2, 64), argument(3, 1));
    let receivers = runtime("receiver", 1)?;
    let address = receivers.block_on(receiver())?;
    let clients = runtime("client", threads as usize)?;
    let client = GuardedClient::new(
        Policy { allow_insecure: true, ..Policy::default() },
        Arc::new(SystemResolver::new()),
    )?;
    let target = client.check_url(&format!("http://{address}/hooks?tenant=1"))?;
    clients.block_on(run(&client, &target, concurrency, Duration::from_secs(1)));
    let (cpu_before, started) = (cpu_of("client"), Instant::now());
    let (answered, failed, slowest) =
        clients.block_on(run(&client, &target, concurrency, Duration::from_secs(seconds)));
    let (wall, cpu) = (started.elapsed(), cpu_of("client") - cpu_before);
    println!("concurrency {concurrency}, client threads {threads}, body {PAYLOAD} B");
    println!(
        "{:.0} req/s, {:.1} us CPU/req in the client, {failed} failed, slowest {slowest:?}",
        answered as f64 / wall.as_secs_f64(),
        cpu.as_micros() as f64 / answered as f64
    );
    Ok(())
}

fn runtime(name: &str, threads: usize) -> std::io::Result<Runtime> {
    Builder::new_multi_thread().worker_threads(threads).thread_name(name).enable_all().build()
}

async fn run(
    client: &GuardedClient,
    target: &Target,
    concurrency: u64,
    time: Duration,
) -> (u64, u64, Duration) {
    let failed = Arc::new(AtomicU64::new(0));
    let until = Instant::now() + time;
    let mut workers = Vec::new();
    for _ in 0..concurrency {
        let (client, target, failed) = (client.clone(), target.clone(), failed.clone());
        workers.push(tokio::spawn(async move {
            let body = Bytes::from(vec![b'x'; PAYLOAD]);
            let limits = Limits { deadline: Duration::from_secs(10), max_response_bytes: 4096 };
            let (mut answered, mut slowest) = (0, Duration::ZERO);
            while Instant::now() < until {
                let began = Instant::now();
                match client.send(Request::post(target.clone(), headers(), body.clone()), limits).await {
                    Ok(response) if response.status.is_success() => answered += 1,
                    _ => _ = failed.fetch_add(1, Ordering::Relaxed),
                }
                slowest = slowest.max(began.elapsed());
            }
            (answered, slowest)
        }));
    }
    let (mut answered, mut slowest) = (0, Duration::ZERO);
    for worker in workers {
        let (count, worst) = worker.await.unwrap_or_default();
        answered += count;
        slowest = slowest.max(worst);
    }
    (answered, failed.load(Ordering::Relaxed), slowest)
}

/// What a webhook delivery carries.
fn headers() -> http::HeaderMap {
    let signature = format!("t=1767225600,v1={}", "5f".repeat(32));
    let rows = [
        ("content-type", "application/json"),
        ("user-agent", "dastak-webhooks/1"),
        ("x-dastak-event", "call.completed"),
        ("x-dastak-delivery", "whd_01jh000000000000000000"),
    ];
    let mut headers: http::HeaderMap = rows
        .into_iter()
        .map(|(name, value)| (http::HeaderName::from_static(name), http::HeaderValue::from_static(value)))
        .collect();
    if let Ok(value) = signature.try_into() {
        headers.insert("x-dastak-signature", value);
    }
    headers
}

async fn receiver() -> std::io::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let _ = stream.set_nodelay(true);
            let service = service_fn(|request: http::Request<hyper::body::Incoming>| async move {
                let _ = request.into_body().collect().await;
                Ok::<_, Infallible>(http::Response::new(Full::new(Bytes::from_static(b"ok"))))
            });
            tokio::spawn(
                hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service),
            );
        }
    });
    Ok(address)
}

/// CPU time of the process's threads of that name, from the scheduler's statistics.
fn cpu_of(name: &str) -> Duration {
    let tasks = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let of_name = tasks
        .filter(|task| fs::read_to_string(task.path().join("comm")).is_ok_and(|comm| comm.trim() == name));
    let nanos = of_name.filter_map(|task| {
        fs::read_to_string(task.path().join("schedstat")).ok()?.split(' ').next()?.parse::<u64>().ok()
    });
    Duration::from_nanos(nanos.sum())
}
