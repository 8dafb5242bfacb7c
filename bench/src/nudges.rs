//! Nudges and the dialler: nudges are accepted durably, then 10,000 are due at once while a second workspace
//! has a single one, with few and with many others pending. The agents' compliance pack is open from one
//! minute after midnight (from midnight on, it would continue the evening's window and open at nine). Nudges
//! end at 20:55 in India, so from then to midnight nothing is dialled, and the run says so.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use domain::ids::{Id, Nudge};
use domain::time::Timestamp;
use serde_json::json;

use crate::load::{self, request};
use crate::server::{Server, TOKEN};
use crate::skeleton::{call, workspace};

const CONNECTIONS: usize = 64;
const DUE: u64 = 10_000;
/// Number of bursts with the same number of others pending.
const BURSTS: u64 = 5;
/// Time in which all nudges of a burst are accepted, in milliseconds.
const LEAD: i64 = 20_000;
/// Longest time for a burst.
const PATIENCE: Duration = Duration::from_secs(240);

/// The present moment, milliseconds since 1970.
#[allow(clippy::disallowed_methods)]
pub fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
}

/// A workspace that can dial, with an agent.
pub async fn desk(address: &str, token: &str, number: &str) -> Result<Desk, String> {
    let (id, key) = workspace(address, token).await?;
    let limits = json!({"limits": {"pendingNudges": 10_000_000, "concurrentCalls": 1_000_000}});
    call(address, "PATCH", &format!("/operator/v1/workspaces/{id}"), token, &limits).await?;
    call(
        address,
        "POST",
        &format!("/operator/v1/workspaces/{id}/numbers"),
        token,
        &json!({"number": number}),
    )
    .await?;
    let pack = json!({"name": "All day", "hours": [{"days": [0, 1, 2, 3, 4, 5, 6], "from": "00:01", "to": "24:00"}]});
    let pack = call(address, "POST", &format!("/operator/v1/workspaces/{id}/compliance-packs"), token, &pack)
        .await?;
    let body = json!({"name": "Bench", "systemPrompt": "Say hello.", "policyRef": pack["data"]["id"]});
    let made = call(address, "POST", "/v1/agents", &key, &body).await?;
    let agent = made["data"]["id"].as_str().ok_or("no agent")?.to_owned();
    call(address, "POST", &format!("/v1/agents/{agent}/status"), &key, &json!({"status": "active"})).await?;
    Ok(Desk { id, key, agent })
}

/// Copies the only nudge of a stopped store until `count` more are pending, each to a different number.
fn fill(data: &Path, workspace: &str, count: u64) -> Result<(), String> {
    let mut conn = rusqlite::Connection::open(data.join("dastak.db")).map_err(|why| why.to_string())?;
    let tx = conn.transaction().map_err(|why| why.to_string())?;
    {
        let columns: Vec<String> = {
            let mut names =
                tx.prepare("select name from pragma_table_info('nudges')").map_err(|why| why.to_string())?;
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
        let sql = format!(
            "insert into nudges ({}) select {} from nudges where id = ?1",
            columns.join(", "),
            copied.join(", ")
        );
        let one: String = tx
            .query_row("select min(id) from nudges where workspace = ?1", [workspace], |row| row.get(0))
            .map_err(|why| why.to_string())?;
        let mut copy = tx.prepare(&sql).map_err(|why| why.to_string())?;
        for number in 0..count {
            let id = Id::<Nudge>::new(now(), u128::from(number) << 20).to_string();
            let to = format!("+91{}", 7_000_000_000 + number);
            copy.execute(rusqlite::params![one, id, to, format!("hash-{number}")])
                .map_err(|why| why.to_string())?;
        }
    }
    tx.execute(
        "update nudge_queues set pending = pending + ?2 where workspace = ?1",
        rusqlite::params![workspace, count as i64],
    )
    .map_err(|why| why.to_string())?;
    tx.commit().map_err(|why| why.to_string())
}

/// The request that makes a nudge.
pub fn create(agent: &str, key: &str, number: u64, scheduled_at: i64, expires_at: i64) -> Vec<u8> {
    let body = format!(
        r#"{{"agentId":"{agent}","toNumber":"+91{}","scheduledAt":"{}","expiresAt":"{}"}}"#,
        // Every number ends in 1234, which is not a magic number of the sandbox.
        6_000_001_234 + number * 10_000,
        Timestamp(scheduled_at),
        Timestamp(expires_at)
    );
    request("POST", "/v1/nudges", key, &format!("idempotency-key: n{number}\r\n"), &body)
}

/// The store beside its service.
pub fn open(data: &Path) -> Result<rusqlite::Connection, String> {
    rusqlite::Connection::open_with_flags(data.join("dastak.db"), rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY)
        .map_err(|why| why.to_string())
}

/// Calls of the workspace so far.
fn calls(data: &Path, workspace: &str) -> Result<i64, String> {
    let sql = "select count(*) from calls where workspace = ?1 and mode = 'live'";
    open(data)?.query_row(sql, [workspace], |row| row.get(0)).map_err(|why| why.to_string())
}

/// Milliseconds from due to dial, according to the store, sorted.
pub fn lags(data: &Path, workspace: &str, due: i64) -> Result<Vec<i64>, String> {
    let conn = open(data)?;
    let sql = "select c.started_at - n.scheduled_at from nudges n join calls c on c.id = n.call where n.workspace = ?1 and n.scheduled_at = ?2 order by 1";
    let mut statement = conn.prepare(sql).map_err(|why| why.to_string())?;
    let rows = statement
        .query_map(rusqlite::params![workspace, due], |row| row.get(0))
        .map_err(|why| why.to_string())?;
    rows.collect::<Result<_, _>>().map_err(|why| why.to_string())
}

/// Sends `count` requests over the usual connections, as fast as they are answered.
pub async fn send(
    address: &str,
    count: u64,
    make: impl Fn(u64) -> Vec<u8> + Send + Sync + 'static,
) -> Result<load::Figures, String> {
    load::run_count(address, CONNECTIONS, count, Arc::new(make)).await
}

/// Waits until every call of the workspace is over, so that no work of one burst is left for the next.
async fn until_over(data: &Path, workspace: &str) -> Result<(), String> {
    let conn = open(data)?;
    let live = "select count(*) from calls where workspace = ?1 and mode = 'live' and phase is null";
    let (mut pace, started) = (tokio::time::interval(Duration::from_millis(500)), Instant::now());
    while started.elapsed() < PATIENCE {
        pace.tick().await;
        if conn.query_row(live, [workspace], |row| row.get::<_, i64>(0)).map_err(|why| why.to_string())? == 0
        {
            return Ok(());
        }
    }
    Err("calls of a burst did not end".to_owned())
}

/// What so large a share of these sorted times is not above; -1 without any.
pub fn at(sorted: &[i64], share: f64) -> i64 {
    let place = ((sorted.len() as f64 * share) as usize).min(sorted.len().saturating_sub(1));
    sorted.get(place).copied().unwrap_or(-1)
}

/// The results of one burst.
struct Burst {
    accepted: load::Figures,
    /// Milliseconds from due to dial, sorted.
    lags: Vec<i64>,
    /// The same for the single nudge.
    lone: i64,
    /// CPU seconds of the server until all were dialled.
    cpu: f64,
}

impl Burst {
    fn at(&self, share: f64) -> i64 {
        at(&self.lags, share)
    }
}

/// A workspace of the run.
pub struct Desk {
    pub id: String,
    pub key: String,
    pub agent: String,
}

/// Creates nudges that are due at once, and waits until they are dialled.
async fn burst(server: &Server, data: &Path, many: &Desk, lone: &Desk, number: u64) -> Result<Burst, String> {
    let due = now() + LEAD;
    let (agent, key) = (many.agent.clone(), many.key.clone());
    let accepted =
        send(&server.address, DUE, move |n| create(&agent, &key, number * 2 * DUE + n, due, due + 3_600_000))
            .await?;
    let one = create(&lone.agent, &lone.key, 150_000 + number, due, due + 3_600_000);
    send(&server.address, 1, move |_| one.clone()).await?;
    if accepted.refused > 0 {
        return Err(format!(
            "{} nudges were refused, the first with: {}",
            accepted.refused, accepted.refusal
        ));
    }
    // Polls the store until all are dialled. The query takes no time from the dialler.
    let earlier = calls(data, &many.id)?;
    let mut pace = tokio::time::interval(Duration::from_millis(250));
    let (started, mut before) = (Instant::now(), None);
    let lags_of_many = loop {
        pace.tick().await;
        if before.is_none() && now() >= due {
            before = Some(server.cpu_seconds());
        }
        let dialled = calls(data, &many.id)? - earlier;
        if dialled as u64 == DUE {
            break lags(data, &many.id, due)?;
        }
        if started.elapsed() > PATIENCE {
            return Err(format!("only {dialled} of {DUE} were dialled; is it after 20:55 in India?"));
        }
    };
    let cpu = server.cpu_seconds() - before.unwrap_or_default();
    let lone = lags(data, &lone.id, due)?.first().copied().unwrap_or(-1);
    Ok(Burst { accepted, lags: lags_of_many, lone, cpu })
}

/// Prints the table for each of these numbers of pending nudges: the burst with the median 99th percentile,
/// and the 99th percentiles of all bursts.
pub async fn run(beside: &[u64]) -> Result<(), String> {
    println!(
        "| pending beside | nudges accepted/s | p99 | dials/s | due to dial p50 | p99 | last | the lone nudge | server CPU a dial | p99 of each burst |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for pending in beside.iter().copied() {
        let data = std::env::temp_dir().join(format!("dastak-bench-{}-{pending}", std::process::id()));
        let mut server = Server::dastak(&data, None)?;
        let many = desk(&server.address, TOKEN, "08045670001").await?;
        let lone = desk(&server.address, TOKEN, "08045670002").await?;
        if pending > 0 {
            let far = now() + 20 * 3_600_000;
            let one = create(&many.agent, &many.key, 160_000, far, far + 3_600_000);
            send(&server.address, 1, move |_| one.clone()).await?;
            drop(server);
            fill(&data, &many.id, pending - 1)?;
            server = Server::dastak(&data, None)?;
        }
        let mut bursts = Vec::new();
        for number in 0..BURSTS {
            bursts.push(burst(&server, &data, &many, &lone, number).await?);
            until_over(&data, &many.id).await?;
        }
        bursts.sort_by_key(|burst| burst.at(0.99));
        let each: Vec<String> = bursts.iter().map(|burst| burst.at(0.99).to_string()).collect();
        let typical = &bursts[bursts.len() / 2];
        println!(
            "| {pending} | {:.0} | {:.1} ms | {:.0} | {} ms | {} ms | {} ms | {} ms | {:.0} µs | {} ms |",
            typical.accepted.per_second,
            typical.accepted.p99.as_secs_f64() * 1e3,
            DUE as f64 * 1e3 / typical.at(1.0).max(1) as f64,
            typical.at(0.5),
            typical.at(0.99),
            typical.at(1.0),
            typical.lone,
            typical.cpu * 1e6 / DUE as f64,
            each.join(", "),
        );
        drop(server);
        let _ = std::fs::remove_dir_all(&data);
    }
    Ok(())
}
