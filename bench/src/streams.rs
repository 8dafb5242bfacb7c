//! Data streams: records a second that are taken in durably, in batches and one by one, alone and while a stream
//! feeds a campaign. With `BENCH_POSTGRES_URL` it runs on that database instead of SQLite.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::load::{self, request};
use crate::server::{Server, TOKEN};
use crate::skeleton::{call, workspace};

/// Connections that send at once.
const CONNECTIONS: usize = 8;
/// Records of one request.
const BATCH: u64 = 500;
/// Requests of a run in batches, and of one with single records.
const BATCHES: u64 = 400;
const SINGLES: u64 = 4_000;
/// Streams that share the requests of a run: one alone takes 600 a minute. Those of a workspace take 3,000.
const STREAMS: usize = 20;
const OF_WORKSPACE: usize = 5;

/// A stream that is sent to.
struct Source {
    path: String,
    token: String,
}

/// Streams of several workspaces; with `fed`, those of a workspace feed one campaign.
async fn sources(address: &str, token: &str, fed: bool) -> Result<Vec<Source>, String> {
    let (mut made, mut key, mut campaign) = (Vec::new(), String::new(), String::new());
    for number in 0..STREAMS {
        if number % OF_WORKSPACE == 0 {
            key = workspace(address, token).await?.1;
            let body = json!({"name": "Bench"});
            campaign = id(&call(address, "POST", "/v1/campaigns", &key, &body).await?)?;
        }
        let body = json!({"name": "Bench", "kind": "webhook", "fieldMap": {"externalId": "id"}});
        let stream = call(address, "POST", "/v1/data-streams", &key, &body).await?;
        let (stream_id, secret) =
            (id(&stream)?, stream["data"]["token"].as_str().ok_or("no token")?.to_owned());
        if fed {
            let mapping = json!({"variableMapping": {"city": "lead.city", "amount": "due.amount"}});
            let path = format!("/v1/campaigns/{campaign}/streams/{stream_id}");
            call(address, "PUT", &path, &key, &mapping).await?;
        }
        made.push(Source { path: format!("/ingest/streams/{stream_id}"), token: secret });
    }
    Ok(made)
}

fn id(answer: &Value) -> Result<String, String> {
    answer["data"]["id"].as_str().map(str::to_owned).ok_or_else(|| format!("no id: {answer}"))
}

/// A record of usual size; each has a number of its own.
fn record(number: u64) -> Value {
    json!({
        "id": format!("lead-{number}"),
        "first_name": "Asha",
        "last_name": "Rao",
        "phone": format!("+91{}", 7_000_000_000 + number),
        "email": "asha.rao@example.com",
        "lead": {"city": "Pune", "source": "website", "campaign": "monsoon", "score": 42},
        "due": {"amount": 1500, "currency": "INR", "on": "2026-12-05"},
    })
}

/// Prints one line of the table.
async fn line(
    name: &str,
    server: &Server,
    sources: Vec<Source>,
    requests: u64,
    batch: u64,
) -> Result<(), String> {
    let make: load::Make = Arc::new(move |n| {
        let source = &sources[(n % sources.len() as u64) as usize];
        let records: Vec<Value> = (n * batch..(n + 1) * batch).map(record).collect();
        request("POST", &source.path, &source.token, "", &Value::Array(records).to_string())
    });
    let before = server.cpu_seconds();
    let figures = load::run_count(&server.address, CONNECTIONS, requests, make).await?;
    if figures.refused > 0 {
        return Err(format!("{name}: {} refused: {}", figures.refused, figures.refusal));
    }
    let records = figures.answers * batch;
    println!(
        "| {name} | {:.0} | {:.1} ms | {:.1} ms | {:.0} µs | {:.0} MB |",
        figures.per_second * batch as f64,
        figures.p50.as_secs_f64() * 1e3,
        figures.p99.as_secs_f64() * 1e3,
        (server.cpu_seconds() - before) * 1e6 / records.max(1) as f64,
        server.memory_mb(),
    );
    Ok(())
}

/// Prints the table.
pub async fn run() -> Result<(), String> {
    let database = std::env::var("BENCH_POSTGRES_URL").ok();
    let data = std::env::temp_dir().join(format!("dastak-bench-streams-{}", std::process::id()));
    let server = Server::dastak(&data, database.as_deref())?;
    let outcome = measure(&server, TOKEN).await;
    drop(server);
    remove(&data);
    outcome
}

async fn measure(server: &Server, token: &str) -> Result<(), String> {
    println!("| run | records/s | p50 | p99 | server CPU a record | memory |\n|---|---|---|---|---|---|");
    for (name, fed, requests, batch) in [
        ("batches of 500", false, BATCHES, BATCH),
        ("batches of 500, each stream feeds a campaign", true, BATCHES, BATCH),
        ("single records", false, SINGLES, 1),
        ("single records, each stream feeds a campaign", true, SINGLES, 1),
    ] {
        let sources = sources(&server.address, token, fed).await?;
        line(name, server, sources, requests, batch).await?;
    }
    Ok(())
}

fn remove(data: &Path) {
    let _ = std::fs::remove_dir_all(data);
}
