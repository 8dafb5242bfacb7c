//! Nudges and the dialler: accepted durably, then 10,000 due at once beside the lone nudge of a second workspace, with few and with many others
//! pending. The agents' compliance pack is open from a minute after midnight (from midnight itself it would be one with the evening, and open at nine),
//! but nudges end at 20:55 in India: from then to midnight nothing is dialled and the run says so.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use domain::ids::{Id, Nudge};
use domain::time::Timestamp;
use serde_json::json;

use crate::load::{self, request};
use crate::server::Server;
use crate::skeleton::{call, workspace};

const CONNECTIONS: usize = 64;
const DUE: u64 = 10_000;

#[allow(clippy::disallowed_methods)]
fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
}

/// A workspace that can dial, and an agent of it.
async fn desk(address: &str, token: &str, number: &str) -> Result<(String, String, String), String> {
    let (id, key) = workspace(address, token).await?;
    let limits = json!({"limits": {"pendingNudges": 10_000_000, "concurrentCalls": 1_000_000}});
    call(address, "PATCH", &format!("/operator/v1/workspaces/{id}"), token, &limits).await?;
    call(address, "POST", &format!("/operator/v1/workspaces/{id}/numbers"), token, &json!({"number": number})).await?;
    let pack = json!({"name": "All day", "hours": [{"days": [0, 1, 2, 3, 4, 5, 6], "from": "00:01", "to": "24:00"}]});
    let pack = call(address, "POST", &format!("/operator/v1/workspaces/{id}/compliance-packs"), token, &pack).await?;
    let body = json!({"name": "Bench", "systemPrompt": "Say hello.", "policyRef": pack["data"]["id"]});
    let made = call(address, "POST", "/v1/agents", &key, &body).await?;
    let agent = made["data"]["id"].as_str().ok_or("no agent")?.to_owned();
    call(address, "POST", &format!("/v1/agents/{agent}/status"), &key, &json!({"status": "active"})).await?;
    Ok((id, key, agent))
}

/// Copies the one nudge of a stopped store until `count` more are pending, each to a number of its own.
fn fill(data: &Path, workspace: &str, count: u64) -> Result<(), String> {
    let mut conn = rusqlite::Connection::open(data.join("dastak.db")).map_err(|why| why.to_string())?;
    let tx = conn.transaction().map_err(|why| why.to_string())?;
    {
        let columns: Vec<String> = {
            let mut names = tx.prepare("select name from pragma_table_info('nudges')").map_err(|why| why.to_string())?;
            let names = names.query_map([], |row| row.get(0)).map_err(|why| why.to_string())?;
            names.collect::<Result<_, _>>().map_err(|why| why.to_string())?
        };
        let copied: Vec<&str> = columns
            .iter()
            .map(|name| match name.as_str() {
                "id" => "?2",
                "to_number" => "?3",
                "phone_hash" | "person" => "?4",
                name => name,
            })
            .collect();
        let sql = format!("insert into nudges ({}) select {} from nudges where id = ?1", columns.join(", "), copied.join(", "));
        let one: String =
            tx.query_row("select min(id) from nudges where workspace = ?1", [workspace], |row| row.get(0)).map_err(|why| why.to_string())?;
        let mut copy = tx.prepare(&sql).map_err(|why| why.to_string())?;
        for number in 0..count {
            let id = Id::<Nudge>::new(now(), u128::from(number) << 20).to_string();
            let to = format!("+91{}", 7_000_000_000 + number);
            copy.execute(rusqlite::params![one, id, to, format!("hash-{number}")]).map_err(|why| why.to_string())?;
        }
    }
    tx.execute("update nudge_queues set pending = pending + ?2 where workspace = ?1", rusqlite::params![workspace, count as i64])
        .map_err(|why| why.to_string())?;
    tx.commit().map_err(|why| why.to_string())
}

fn create(agent: &str, key: &str, number: u64, scheduled_at: i64, expires_at: i64) -> Vec<u8> {
    let body = format!(
        r#"{{"agentId":"{agent}","toNumber":"+91{}","scheduledAt":"{}","expiresAt":"{}"}}"#,
        // Every number ends in 1234: no magic digits of the sandbox.
        6_000_001_234 + number * 10_000,
        Timestamp(scheduled_at),
        Timestamp(expires_at)
    );
    request("POST", "/v1/nudges", key, &format!("idempotency-key: n{number}\r\n"), &body)
}

/// Milliseconds from due to dial, by the store: sorted.
fn lags(data: &Path, workspace: &str, due: i64) -> Result<Vec<i64>, String> {
    let conn =
        rusqlite::Connection::open_with_flags(data.join("dastak.db"), rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(|why| why.to_string())?;
    let sql =
        "select c.started_at - n.scheduled_at from nudges n join calls c on c.id = n.call where n.workspace = ?1 and n.scheduled_at = ?2 order by 1";
    let mut statement = conn.prepare(sql).map_err(|why| why.to_string())?;
    let rows = statement.query_map(rusqlite::params![workspace, due], |row| row.get(0)).map_err(|why| why.to_string())?;
    rows.collect::<Result<_, _>>().map_err(|why| why.to_string())
}

/// Sends `count` requests over the usual connections, as fast as they are answered.
async fn send(address: &str, count: u64, make: impl Fn(u64) -> Vec<u8> + Send + Sync + 'static) -> Result<load::Figures, String> {
    load::run_count(address, CONNECTIONS, count, Arc::new(make)).await
}

/// Prints the tables, beside each of these numbers of pending nudges.
pub async fn run(beside: &[u64]) -> Result<(), String> {
    println!(
        "| pending beside | nudges accepted/s | p99 | due at once | dials/s | due to dial p50 | p99 | last | the lone nudge | server CPU a dial |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for pending in beside.iter().copied() {
        let data = std::env::temp_dir().join(format!("dastak-bench-{}-{pending}", std::process::id()));
        let mut server = Server::dastak(&data, None)?;
        let mut address = server.address.clone();
        let token = std::fs::read_to_string(data.join("operator.token")).map_err(|why| why.to_string())?.trim().to_owned();
        let (many, key, agent) = desk(&address, &token, "08045670001").await?;
        let (lone, lone_key, lone_agent) = desk(&address, &token, "08045670002").await?;
        let far = now() + 20 * 3_600_000;
        if pending > 0 {
            let one = create(&agent, &key, 160_000, far, far + 3_600_000);
            send(&address, 1, move |_| one.clone()).await?;
            drop(server);
            fill(&data, &many, pending - 1)?;
            server = Server::dastak(&data, None)?;
            address = server.address.clone();
        }
        let due = now() + 60_000;
        let accepted = send(&address, DUE, move |n| create(&agent, &key, n, due, due + 3_600_000)).await?;
        let one = create(&lone_agent, &lone_key, 150_000, due, due + 3_600_000);
        send(&address, 1, move |_| one.clone()).await?;
        if accepted.refused > 0 {
            return Err(format!("{} nudges were refused", accepted.refused));
        }
        // Reads the store until all are dialled.
        let mut pace = tokio::time::interval(Duration::from_millis(250));
        let (started, mut before) = (Instant::now(), None);
        let dialled = loop {
            pace.tick().await;
            if before.is_none() && now() >= due {
                before = Some(server.cpu_seconds());
            }
            let lags = lags(&data, &many, due)?;
            if lags.len() as u64 == DUE {
                break lags;
            }
            if started.elapsed() > Duration::from_secs(240) {
                return Err(format!("only {} of {DUE} were dialled; is it after 20:55 in India?", lags.len()));
            }
        };
        let cpu = server.cpu_seconds() - before.unwrap_or_default();
        let lone = lags(&data, &lone, due)?.first().copied().unwrap_or(-1);
        let (at, last) = (|share: f64| dialled[(dialled.len() as f64 * share) as usize], dialled[dialled.len() - 1]);
        println!(
            "| {pending} | {:.0} | {:.1} ms | {DUE} | {:.0} | {} ms | {} ms | {last} ms | {lone} ms | {:.0} µs |",
            accepted.per_second,
            accepted.p99.as_secs_f64() * 1e3,
            dialled.len() as f64 * 1e3 / last.max(1) as f64,
            at(0.5),
            at(0.99),
            cpu * 1e6 / DUE as f64,
        );
        drop(server);
        let _ = std::fs::remove_dir_all(&data);
    }
    Ok(())
}
