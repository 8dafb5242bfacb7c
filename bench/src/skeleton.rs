//! The skeleton: a read, a list, a durable write; start-up, memory, size.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::load::{self, Figures, request};
use crate::server::{Server, TOKEN, beside};

const CONNECTIONS: usize = 64;
const TIME: Duration = Duration::from_secs(5);

/// One request outside the measurement.
pub async fn call(
    address: &str,
    method: &str,
    path: &str,
    bearer: &str,
    body: &Value,
) -> Result<Value, String> {
    let text = if body.is_null() { String::new() } else { body.to_string() };
    let mut socket = tokio::net::TcpStream::connect(address).await.map_err(|why| why.to_string())?;
    socket
        .write_all(&request(method, path, bearer, "connection: close\r\n", &text))
        .await
        .map_err(|why| why.to_string())?;
    let mut answer = String::new();
    socket.read_to_string(&mut answer).await.map_err(|why| why.to_string())?;
    let (head, body) = answer.split_once("\r\n\r\n").ok_or("no body")?;
    if !head.starts_with("HTTP/1.1 2") {
        return Err(format!("{method} {path}: {answer}"));
    }
    serde_json::from_str(body).map_err(|why| why.to_string())
}

/// A workspace without limits, and its key.
pub async fn workspace(address: &str, token: &str) -> Result<(String, String), String> {
    let made = call(
        address,
        "POST",
        "/operator/v1/workspaces",
        token,
        &json!({"name": "Bench", "kybVerified": true, "balanceMinor": 1_000_000_000_000i64}),
    )
    .await?;
    let id = made["data"]["id"].as_str().ok_or("no id")?.to_owned();
    let limits = json!({"limits": {"requestsPerMinute": 10_000_000, "callsPerMinute": 10_000_000, "nudgesPerMinute": 10_000_000, "pendingNudges": 10_000_000, "chatMessagesPerMinute": 10_000_000, "chatSessionsPerMinute": 10_000_000}});
    call(address, "PATCH", &format!("/operator/v1/workspaces/{id}"), token, &limits).await?;
    let key = call(
        address,
        "POST",
        &format!("/operator/v1/workspaces/{id}/keys"),
        token,
        &json!({"name": "bench", "mode": "live", "scopes": "all"}),
    )
    .await?;
    Ok((id, key["data"]["key"].as_str().ok_or("no key")?.to_owned()))
}

/// A line of the table.
pub fn line(name: &str, figures: &Figures, cpu: f64, yardstick: &Figures) {
    println!(
        "| {name} | {:.0} | {:.0} % | {:.2} ms | {:.2} ms | {:.0} µs | {} |",
        figures.per_second,
        100.0 * figures.per_second / yardstick.per_second,
        figures.p50.as_secs_f64() * 1e3,
        figures.p99.as_secs_f64() * 1e3,
        cpu * 1e6 / figures.answers.max(1) as f64,
        figures.refused,
    );
}

async fn measure(server: &Server, make: load::Make) -> Result<(Figures, f64), String> {
    load::run(&server.address, CONNECTIONS, Duration::from_millis(500), make.clone()).await?;
    let before = server.cpu_seconds();
    let figures = load::run(&server.address, CONNECTIONS, TIME, make).await?;
    Ok((figures, server.cpu_seconds() - before))
}

/// Puts `rows` ledger lines into a stopped store.
fn fill_ledger(data: &Path, workspace: &str, rows: i64) -> Result<(), String> {
    let conn = rusqlite::Connection::open(data.join("dastak.db")).map_err(|why| why.to_string())?;
    let sql = "insert into wallet_entries (id, workspace, seq, kind, amount, balance_after, reference, created_at) \
         with recursive n (i) as (select 1 union all select i + 1 from n where i < ?2) \
         select 'wtx_' || printf('0%013d%012d', ?2, i), ?1, i + 1, 'adjustment', 0, 1000000000000, 'fill', 1700000000000 + i from n";
    conn.execute(sql, rusqlite::params![workspace, rows]).map_err(|why| why.to_string())?;
    conn.execute(
        "update workspaces set ledger_seq = ?2 + 1 where id = ?1",
        rusqlite::params![workspace, rows],
    )
    .map_err(|why| why.to_string())?;
    Ok(())
}

/// Prints the table.
pub async fn run() -> Result<(), String> {
    let data = std::env::temp_dir().join(format!("dastak-bench-{}", std::process::id()));
    let bare = Server::bare()?;
    let (yardstick, bare_cpu) = measure(&bare, Arc::new(|_| request("GET", "/v1/me", "x", "", ""))).await?;
    drop(bare);
    println!(
        "| run | requests/s | of the yardstick | p50 | p99 | server CPU a request | refused |\n|---|---|---|---|---|---|---|"
    );
    line("bare axum handler, constant JSON (yardstick)", &yardstick, bare_cpu, &yardstick);

    let server = Server::dastak(&data, None)?;
    let (id, key) = workspace(&server.address, TOKEN).await?;
    let bytes = request("GET", "/v1/me", &key, "", "");
    let (figures, cpu) = measure(&server, Arc::new(move |_| bytes.clone())).await?;
    line("GET /v1/me", &figures, cpu, &yardstick);

    let path = format!("/operator/v1/workspaces/{id}/wallet/entries");
    let body = r#"{"kind":"topup","amountMinor":1,"reference":"pay_1"}"#;
    let make: load::Make = Arc::new(move |n| {
        request("POST", &path, TOKEN, &format!("idempotency-key: b{n}-{}\r\n", std::process::id()), body)
    });
    // A separate warm-up, because numbers must not repeat.
    let before = server.cpu_seconds();
    let figures = load::run(&server.address, CONNECTIONS, TIME, make).await?;
    line("durable write with Idempotency-Key", &figures, server.cpu_seconds() - before, &yardstick);
    drop(server);

    for rows in [10_000, 1_000_000] {
        let server = Server::dastak(&data, None)?;
        let (id, key) = workspace(&server.address, TOKEN).await?;
        drop(server);
        fill_ledger(&data, &id, rows)?;
        let server = Server::dastak(&data, None)?;
        let (figures, cpu) = {
            let bytes = request("GET", "/v1/wallet/transactions", &key, "", "");
            measure(&server, Arc::new(move |_| bytes.clone())).await?
        };
        line(&format!("50-row list, {rows} rows in the table"), &figures, cpu, &yardstick);
        let bytes = request("GET", &format!("/v1/wallet/transactions?offset={}", rows / 2), &key, "", "");
        let (figures, cpu) = measure(&server, Arc::new(move |_| bytes.clone())).await?;
        line(&format!("the same list in the middle, {rows} rows"), &figures, cpu, &yardstick);
    }
    let server = Server::dastak(&data, None)?;
    let size = std::fs::metadata(beside("dastak")?).map_err(|why| why.to_string())?.len();
    println!(
        "\nstart-up on this store {:.0} ms, idle memory {:.0} MB, binary {:.1} MB",
        server.ready_after.as_secs_f64() * 1e3,
        server.memory_mb(),
        size as f64 / 1e6
    );
    drop(server);
    let _ = std::fs::remove_dir_all(&data);
    Ok(())
}
