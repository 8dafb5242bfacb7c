//! Rows of a campaign dialled a second: alone, and beside 10,000 nudges that are due at the same moment, in another
//! workspace and in its own, where nudges go first.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::nudges::{Desk, create, desk, lags, now, open, send};
use crate::server::Server;
use crate::skeleton::call;

const ROWS: i64 = 20_000;
const DUE: u64 = 10_000;
/// Time in which all nudges are accepted, milliseconds.
const LEAD: i64 = 20_000;
/// Longest time for a run.
const PATIENCE: Duration = Duration::from_secs(300);

/// Where the nudges of a run are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Beside {
    Nothing,
    AnotherWorkspace,
    TheSame,
}

/// A campaign that begins at this moment.
async fn campaign(address: &str, desk: &Desk, begins: i64) -> Result<String, String> {
    let settings = json!({"startAt": domain::time::Timestamp(begins)});
    let body = json!({"name": "Bench", "agentId": desk.agent, "settings": settings});
    let made = call(address, "POST", "/v1/campaigns", &desk.key, &body).await?;
    let id = made["data"]["id"].as_str().ok_or("no campaign")?.to_owned();
    // Every number ends in 1234, which is not a magic number of the sandbox.
    let rows: Vec<Value> =
        (0..ROWS).map(|row| json!({"phone": format!("+91{}", 9_000_001_234 + row * 10_000)})).collect();
    let path = format!("/v1/campaigns/{id}");
    call(address, "POST", &format!("{path}/contacts"), &desk.key, &json!({"contacts": rows})).await?;
    call(address, "POST", &format!("{path}/status"), &desk.key, &json!({"status": "active"})).await?;
    Ok(id)
}

/// Milliseconds from the beginning to each dial of a campaign, sorted.
fn dials(data: &Path, campaign: &str, begins: i64) -> Result<Vec<i64>, String> {
    let conn = open(data)?;
    let sql = "select started_at - ?2 from calls where campaign = ?1 order by 1";
    let mut statement = conn.prepare(sql).map_err(|why| why.to_string())?;
    let rows = statement
        .query_map(rusqlite::params![campaign, begins], |row| row.get(0))
        .map_err(|why| why.to_string())?;
    rows.collect::<Result<_, _>>().map_err(|why| why.to_string())
}

fn at(sorted: &[i64], share: f64) -> i64 {
    let place = ((sorted.len() as f64 * share) as usize).min(sorted.len().saturating_sub(1));
    sorted.get(place).copied().unwrap_or(-1)
}

async fn one(beside: Beside) -> Result<(), String> {
    let data = std::env::temp_dir().join(format!("dastak-bench-{}-{beside:?}", std::process::id()));
    let server = Server::dastak(&data, None)?;
    let token = std::fs::read_to_string(data.join("operator.token"))
        .map_err(|why| why.to_string())?
        .trim()
        .to_owned();
    let own = desk(&server.address, &token, "08045670001").await?;
    let other = desk(&server.address, &token, "08045670002").await?;
    let begins = now() + LEAD;
    let id = campaign(&server.address, &own, begins).await?;
    let nudged = match beside {
        Beside::Nothing => None,
        Beside::AnotherWorkspace => Some(&other),
        Beside::TheSame => Some(&own),
    };
    if let Some(desk) = nudged {
        let (agent, key) = (desk.agent.clone(), desk.key.clone());
        let accepted =
            send(&server.address, DUE, move |n| create(&agent, &key, n, begins, begins + 3_600_000));
        let accepted = accepted.await?;
        if accepted.refused > 0 {
            return Err(format!(
                "{} nudges were refused, the first with: {}",
                accepted.refused, accepted.refusal
            ));
        }
    }
    let (mut pace, started) = (tokio::time::interval(Duration::from_millis(250)), Instant::now());
    let dialled = loop {
        pace.tick().await;
        let dialled = dials(&data, &id, begins)?;
        if dialled.len() as i64 == ROWS {
            break dialled;
        }
        if started.elapsed() > PATIENCE {
            return Err(format!("only {} of {ROWS} rows were dialled", dialled.len()));
        }
    };
    let nudges = match nudged {
        Some(desk) => lags(&data, &desk.id, begins)?,
        None => Vec::new(),
    };
    let span = (at(&dialled, 1.0) - at(&dialled, 0.0)).max(1);
    let lag = |share| if nudges.is_empty() { "–".to_owned() } else { format!("{} ms", at(&nudges, share)) };
    println!(
        "| {} | {:.0} | {} ms | {} ms | {} | {} |",
        match beside {
            Beside::Nothing => "nothing",
            Beside::AnotherWorkspace => "10,000 nudges of another workspace",
            Beside::TheSame => "10,000 nudges of its own workspace",
        },
        ROWS as f64 * 1e3 / span as f64,
        at(&dialled, 0.0),
        at(&dialled, 1.0),
        lag(0.5),
        lag(1.0),
    );
    drop(server);
    let _ = std::fs::remove_dir_all(&data);
    Ok(())
}

/// Prints the table.
pub async fn run() -> Result<(), String> {
    println!(
        "| beside a list of 20,000 | rows dialled/s | first dial after | last | nudges: due to dial p50 | last |"
    );
    println!("|---|---|---|---|---|---|");
    for beside in [Beside::Nothing, Beside::AnotherWorkspace, Beside::TheSame] {
        one(beside).await?;
    }
    Ok(())
}
