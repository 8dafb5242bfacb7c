//! Rows of a campaign dialled a second: alone, and beside 10,000 nudges that are due at the same moment, in another
//! workspace and in its own, where nudges go first. With `BENCH_POSTGRES_URL` it runs on that database instead of
//! SQLite; the campaigns of earlier runs in it are over by then.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::nudges::{Desk, at, create, desk, now, send};
use crate::server::{Server, TOKEN};
use crate::skeleton::call;

const ROWS: i64 = 20_000;
const DUE: u64 = 10_000;
/// Time in which all nudges are accepted, milliseconds.
const LEAD: i64 = 60_000;
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

/// Milliseconds from the beginning to each dial of a workspace that belongs to a campaign, or to none, sorted: as
/// the list of calls tells them, so that it is the same on every store.
pub async fn dials(
    address: &str,
    key: &str,
    campaign: Option<&str>,
    begins: i64,
) -> Result<Vec<i64>, String> {
    let (mut dials, mut cursor) = (Vec::new(), None::<String>);
    loop {
        let mut path = "/v1/calls?limit=200".to_owned();
        path.extend(campaign.map(|id| format!("&campaignId={id}")));
        path.extend(cursor.take().map(|cursor| format!("&cursor={cursor}")));
        let page = call(address, "GET", &path, key, &Value::Null).await?;
        let calls = page["data"].as_array().ok_or("no calls")?;
        for one in calls.iter().filter(|one| one["campaignId"].as_str() == campaign) {
            let at = one["startedAt"].as_str().and_then(domain::time::Timestamp::parse);
            dials.push(at.ok_or("a call without a moment")?.0 - begins);
        }
        cursor = page["nextCursor"].as_str().map(str::to_owned);
        if cursor.is_none() {
            dials.sort_unstable();
            return Ok(dials);
        }
    }
}

async fn one(beside: Beside) -> Result<(), String> {
    let data = std::env::temp_dir().join(format!("dastak-bench-{}-{beside:?}", std::process::id()));
    let store = std::env::var("BENCH_POSTGRES_URL").ok();
    let server = Server::dastak(&data, store.as_deref())?;
    // Numbers belong to one workspace, and earlier runs on the same database have theirs.
    let number = 10_000 + now() / 1_000 % 40_000 * 2;
    let own = desk(&server.address, TOKEN, &format!("080456{number}")).await?;
    let other = desk(&server.address, TOKEN, &format!("080456{}", number + 1)).await?;
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
    loop {
        pace.tick().await;
        let summary = format!("/v1/campaigns/{id}/summary");
        let summary = call(&server.address, "GET", &summary, &own.key, &Value::Null).await?;
        let left = summary["data"]["progress"]["queued"].as_i64().ok_or("no count of queued rows")?;
        if left == 0 {
            break;
        }
        if started.elapsed() > PATIENCE {
            return Err(format!("{left} of {ROWS} rows were not dialled"));
        }
    }
    // A row leaves the queue when its dial is claimed; its call is there a moment later.
    let mut dialled = dials(&server.address, &own.key, Some(&id), begins).await?;
    while (dialled.len() as i64) < ROWS && started.elapsed() < PATIENCE {
        pace.tick().await;
        dialled = dials(&server.address, &own.key, Some(&id), begins).await?;
    }
    if dialled.len() as i64 != ROWS {
        return Err(format!("{} calls for {ROWS} rows", dialled.len()));
    }
    let nudges = match nudged {
        Some(desk) => dials(&server.address, &desk.key, None, begins).await?,
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
