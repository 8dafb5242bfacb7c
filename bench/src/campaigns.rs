//! Calling lists: replacing one of 50,000 rows, importing one of 10^6, and reading both. With
//! `BENCH_POSTGRES_URL` it runs on that database instead of SQLite.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::load::{self, request};
use crate::server::{Server, TOKEN};
use crate::skeleton::{call, workspace};

const ROWS: usize = 50_000;
const REPLACED: usize = 5;
const LARGE: usize = 1_000_000;
const PIECE: usize = 20_000;
const CONNECTIONS: usize = 8;
const TIME: Duration = Duration::from_secs(4);

/// Rows with a number, a name and a variable each: 50,000 of them are nearly 5 MB.
fn rows(first: usize, count: usize) -> String {
    let mut text = String::with_capacity(count * 100);
    for n in first..first + count {
        let comma = if n == first { "" } else { "," };
        let _ = write!(
            text,
            r#"{comma}{{"phone":"{}","name":"Person {n}","variables":{{"due":"{}"}}}}"#,
            6_000_000_000 + n,
            n * 7 % 100_000
        );
    }
    text
}

async fn campaign(address: &str, key: &str) -> Result<String, String> {
    let made = call(address, "POST", "/v1/campaigns", key, &json!({"name": "Bench"})).await?;
    Ok(made["data"]["id"].as_str().ok_or("no campaign")?.to_owned())
}

/// Sends one body and returns how long the answer took.
async fn send(address: &str, path: &str, bearer: &str, body: String) -> Result<Duration, String> {
    let bytes = request("POST", path, bearer, "", &body);
    let make: load::Make = Arc::new(move |_| bytes.clone());
    let figures = load::run_count(address, 1, 1, make).await?;
    if figures.refused > 0 {
        return Err(format!("{path}: {}", figures.refusal));
    }
    Ok(figures.p50)
}

/// Replaces the list of a campaign again and again.
async fn replace(server: &Server, key: &str, id: &str) -> Result<(), String> {
    let path = format!("/v1/campaigns/{id}/contacts");
    let before = (server.cpu_seconds(), server.own_mb());
    let (mut times, mut most) = (Vec::new(), 0.0_f64);
    for _ in 0..REPLACED {
        let body = format!(r#"{{"contacts":[{}]}}"#, rows(0, ROWS));
        let (peak, time) = server.own_peak_mb(send(&server.address, &path, key, body)).await;
        most = most.max(peak);
        times.push(time?);
    }
    times.sort_unstable();
    println!(
        "| replace {ROWS} rows, whole request | {:.0} ms | {:.0} ms | {:.2} s | {:.0} MB more at the peak |",
        times[REPLACED / 2].as_secs_f64() * 1e3,
        times[REPLACED - 1].as_secs_f64() * 1e3,
        (server.cpu_seconds() - before.0) / REPLACED as f64,
        most - before.1,
    );
    Ok(())
}

/// Imports a list piece by piece.
async fn import(server: &Server, token: &str, workspace: &str, id: &str) -> Result<(), String> {
    let imports = format!("/operator/v1/workspaces/{workspace}/campaigns/{id}/list-imports");
    let made = call(&server.address, "POST", &imports, token, &Value::Null).await?;
    let path = format!("{imports}/{}", made["data"]["importId"]);
    let (started, cpu) = (Instant::now(), server.cpu_seconds());
    let mut longest = Duration::ZERO;
    for after in (0..LARGE).step_by(PIECE) {
        let body = format!(r#"{{"after":{after},"contacts":[{}]}}"#, rows(after, PIECE));
        longest = longest.max(send(&server.address, &format!("{path}/rows"), token, body).await?);
    }
    let finish = send(&server.address, &format!("{path}/finish"), token, String::new()).await?;
    println!(
        "| import {LARGE} rows in pieces of {PIECE} | {:.1} s, {:.0} rows/s | longest piece {:.0} ms | {:.1} s | put in force in {:.1} ms |",
        started.elapsed().as_secs_f64(),
        LARGE as f64 / started.elapsed().as_secs_f64(),
        longest.as_secs_f64() * 1e3,
        server.cpu_seconds() - cpu,
        finish.as_secs_f64() * 1e3,
    );
    Ok(())
}

/// Reads a list in several ways.
async fn read(server: &Server, key: &str, id: &str, rows: usize) -> Result<(), String> {
    let middle = rows / 2;
    for (name, path) in [
        ("first page".to_owned(), "contacts".to_owned()),
        ("page in the middle".to_owned(), format!("contacts?offset={middle}")),
        ("first page of a state".to_owned(), "contacts?state=queued".to_owned()),
        ("page of a state in the middle".to_owned(), format!("contacts?state=queued&offset={middle}")),
        ("search for a number".to_owned(), format!("contacts?q={}", 6_000_000_000 + middle)),
        ("search for a name".to_owned(), format!("contacts?q=person%20{middle}")),
        ("summary".to_owned(), "summary".to_owned()),
    ] {
        // A longer list is not searched for a part of a name.
        if name == "search for a name" && rows as i64 > domain::campaign::list::MAX_SEARCHED {
            continue;
        }
        let bytes = request("GET", &format!("/v1/campaigns/{id}/{path}"), key, "", "");
        let cpu = server.cpu_seconds();
        let figures = load::run(&server.address, CONNECTIONS, TIME, Arc::new(move |_| bytes.clone())).await?;
        println!(
            "| {name}, {rows} rows | {:.2} ms | {:.2} ms | {:.0} µs | {:.0}/s, refused {} |",
            figures.p50.as_secs_f64() * 1e3,
            figures.p99.as_secs_f64() * 1e3,
            (server.cpu_seconds() - cpu) * 1e6 / figures.answers.max(1) as f64,
            figures.per_second,
            figures.refused,
        );
    }
    Ok(())
}

/// Prints the table.
pub async fn run() -> Result<(), String> {
    let store = std::env::var("BENCH_POSTGRES_URL").ok();
    let data = std::env::temp_dir().join(format!("dastak-bench-campaigns-{}", std::process::id()));
    let server = Server::dastak(&data, store.as_deref())?;
    let (tenant, key) = workspace(&server.address, TOKEN).await?;
    let limits = json!({"limits": {"campaignWritesPerMinute": 1_000_000}});
    call(&server.address, "PATCH", &format!("/operator/v1/workspaces/{tenant}"), TOKEN, &limits).await?;
    println!("| run | p50 | p99 or longest | server CPU | |\n|---|---|---|---|---|");
    let (small, large) = (campaign(&server.address, &key).await?, campaign(&server.address, &key).await?);
    replace(&server, &key, &small).await?;
    import(&server, TOKEN, &tenant, &large).await?;
    read(&server, &key, &small, ROWS).await?;
    read(&server, &key, &large, LARGE).await?;
    drop(server);
    let _ = std::fs::remove_dir_all(&data);
    Ok(())
}
