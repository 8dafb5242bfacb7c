//! Calls: placements with a test key, and lists and analytics over 10^4 and 10^6 calls.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use domain::ids::{Agent, Call, Contact, Id};
use serde_json::{Value, json};

use crate::load::{self, Figures, request};
use crate::server::{Server, TOKEN};
use crate::skeleton::{call, workspace};

const CONNECTIONS: usize = 64;
const TIME: Duration = Duration::from_secs(5);
/// The month of the calls in the filled table.
const FIRST: i64 = 1_790_000_000_000;
const MONTH: i64 = 30 * 86_400_000;
const DAY: i64 = 86_400_000;

fn print(name: &str, figures: &Figures, cpu: f64) {
    println!(
        "| {name} | {:.0} | {:.2} ms | {:.2} ms | {:.0} µs | {} |",
        figures.per_second,
        figures.p50.as_secs_f64() * 1e3,
        figures.p99.as_secs_f64() * 1e3,
        cpu * 1e6 / figures.answers.max(1) as f64,
        figures.refused,
    );
}

/// An agent that can place calls.
pub async fn agent(address: &str, key: &str) -> Result<String, String> {
    let made =
        call(address, "POST", "/v1/agents", key, &json!({"name": "Bench", "systemPrompt": "Say hello."}))
            .await?;
    let agent = made["data"]["id"].as_str().ok_or("no agent")?.to_owned();
    call(address, "POST", &format!("/v1/agents/{agent}/status"), key, &json!({"status": "active"})).await?;
    Ok(agent)
}

/// Puts `count` ended calls of one month into a stopped store, spread evenly over time, over 20 agents and
/// over `count / 3` people.
fn fill(data: &Path, workspace: &str, count: i64) -> Result<(), String> {
    let mut conn = rusqlite::Connection::open(data.join("dastak.db")).map_err(|why| why.to_string())?;
    let tx = conn.transaction().map_err(|why| why.to_string())?;
    {
        let mut insert = tx
            .prepare(
                "insert into calls (id, workspace, mode, agent, contact, direction, status, phase, outcome, to_number, from_number, variables, metadata, \
                 started_at, answered_at, ended_at, talk_ms, end_cause, opted_out, language, price, concurrent, script_step, version) \
                 values (?1, ?2, 'live', ?3, ?4, 'outbound', ?5, ?6, ?7, ?8, '+918045670001', '{}', '{}', ?9, ?10, ?11, ?12, ?13, 0, 'en', 600, 1, 0, 1)",
            )
            .map_err(|why| why.to_string())?;
        for number in 0..count {
            let started = FIRST + number * (MONTH / count);
            let id = Id::<Call>::new(started, (count + number) as u128).to_string();
            let agent = Id::<Agent>::new(1, (number % 20) as u128).to_string();
            let contact = Id::<Contact>::new(1, (number % (count / 3).max(1)) as u128).to_string();
            let answered = number % 3 != 0;
            let talk = if answered { Some(5_000 + number % 170_000) } else { None };
            let (status, phase, outcome, cause) = if answered {
                ("completed", "outbound:completed", Some("interested"), "agent_ended")
            } else {
                ("no_answer", "outbound:no_answer", None, "no_answer")
            };
            let to = format!("+91{}", 6_000_000_000 + number % (count / 3).max(1));
            let answered_at = talk.map(|_| started + 4_000);
            let ended = started + talk.map_or(15_000, |talk| talk + 4_000);
            insert
                .execute(rusqlite::params![
                    id,
                    workspace,
                    agent,
                    contact,
                    status,
                    phase,
                    outcome,
                    to,
                    started,
                    answered_at,
                    ended,
                    talk,
                    cause
                ])
                .map_err(|why| why.to_string())?;
            if number % 100_000 == 0 {
                eprint!("\r{number} of {count} calls");
            }
        }
    }
    // The hours of India time that contain the calls, not packed yet.
    tx.execute(
        "insert into call_hour_changes (workspace, hour, shard, changes, changed_at) \
         select workspace, (started_at + 19800000) / 3600000, 0, count(*), max(ended_at) from calls where workspace = ?1 and mode = 'live' \
         group by 1, 2 on conflict do nothing",
        [workspace],
    )
    .map_err(|why| why.to_string())?;
    tx.commit().map_err(|why| why.to_string())?;
    eprintln!("\r{count} of {count} calls");
    Ok(())
}

async fn timed(address: &str, path: &str, key: &str) -> Result<(Duration, Value), String> {
    let started = Instant::now();
    let answer = call(address, "GET", path, key, &Value::Null).await?;
    Ok((started.elapsed(), answer))
}

/// Prints the tables.
pub async fn run() -> Result<(), String> {
    let data = std::env::temp_dir().join(format!("dastak-bench-{}", std::process::id()));
    let server = Server::dastak(&data, None)?;
    let (id, key) = workspace(&server.address, TOKEN).await?;
    call(
        &server.address,
        "POST",
        &format!("/operator/v1/workspaces/{id}/numbers"),
        TOKEN,
        &json!({"number": "08045670001"}),
    )
    .await?;
    let made = call(
        &server.address,
        "POST",
        &format!("/operator/v1/workspaces/{id}/keys"),
        TOKEN,
        &json!({"name": "t", "mode": "test", "scopes": "all"}),
    )
    .await?;
    let test = made["data"]["key"].as_str().ok_or("no key")?.to_owned();
    let agent = agent(&server.address, &key).await?;
    println!("| run | requests/s | p50 | p99 | server CPU a request | refused |\n|---|---|---|---|---|---|");
    let make: load::Make = Arc::new(move |n| {
        let body = format!(r#"{{"agentId":"{agent}","toNumber":"+91{}"}}"#, 9_000_000_000 + n % 900_000_000);
        request("POST", "/v1/calls", &test, "", &body)
    });
    let before = server.cpu_seconds();
    let figures = load::run(&server.address, CONNECTIONS, TIME, make).await?;
    print("POST /v1/calls, test key, new contact each", &figures, server.cpu_seconds() - before);
    drop(server);

    let mut latencies = Vec::new();
    for count in [10_000, 1_000_000] {
        let server = Server::dastak(&data, None)?;
        let (id, key) = workspace(&server.address, TOKEN).await?;
        drop(server);
        fill(&data, &id, count)?;
        let server = Server::dastak(&data, None)?;
        for (name, path) in [
            ("newest page", "/v1/calls".to_owned()),
            ("a page from the middle", format!("/v1/calls?to={}", iso(FIRST + MONTH / 2))),
            ("a page of one agent", format!("/v1/calls?agentId={}", Id::<Agent>::new(1, 7))),
        ] {
            let bytes = request("GET", &path, &key, "", "");
            let make: load::Make = Arc::new(move |_| bytes.clone());
            load::run(&server.address, CONNECTIONS, Duration::from_millis(300), make.clone()).await?;
            let before = server.cpu_seconds();
            let figures = load::run(&server.address, CONNECTIONS, TIME / 2, make).await?;
            print(&format!("GET /v1/calls, {name}, {count} calls"), &figures, server.cpu_seconds() - before);
        }
        let month = format!("/v1/analytics/calls?from={}&to={}", iso(FIRST), iso(FIRST + MONTH));
        let (first, _) = timed(&server.address, &month, &key).await?;
        let (again, answer) = timed(&server.address, &month, &key).await?;
        let day = format!("/v1/analytics/calls?from={}&to={}", iso(FIRST + 10 * DAY), iso(FIRST + 11 * DAY));
        let (one_day, _) = timed(&server.address, &day, &key).await?;
        latencies.push((count, answer["data"]["totals"]["calls"].clone(), first, again, one_day));
    }
    println!(
        "\n| analytics over | calls counted | a month, hours not yet packed | a month | a day |\n|---|---|---|---|---|"
    );
    for (count, counted, first, again, day) in latencies {
        let ms = |time: Duration| format!("{:.0} ms", time.as_secs_f64() * 1e3);
        println!("| {count} calls | {counted} | {} | {} | {} |", ms(first), ms(again), ms(day));
    }
    let _ = std::fs::remove_dir_all(&data);
    Ok(())
}

fn iso(ms: i64) -> String {
    domain::time::Timestamp(ms).to_string()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use store::db::Settings;

    use super::fill;

    #[tokio::test]
    async fn the_table_is_filled_on_the_newest_schema() {
        let data = std::env::temp_dir().join(format!("bench-calls-{}", std::process::id()));
        std::fs::create_dir_all(&data).unwrap();
        let file = data.join("dastak.db");
        let store = store::Store::open(&Settings::Sqlite { file: file.clone() }, Arc::new(|_| ())).unwrap();
        store.migrate(|_, _, _| ()).await.unwrap();
        drop(store);
        rusqlite::Connection::open(&file)
            .unwrap()
            .execute(
                "insert into workspaces (id, name, kyb_verified, suspended, currency, cost_per_minute, cost_per_chat, marketing_opt_in_rule, \
                 features, limits, balance, reserved, ledger_seq, low_level, created_at) \
                 values ('ws_1', 'w', 1, 0, 'INR', 100, 500, 0, '{}', '{}', 0, 0, 0, 0, 0)",
                [],
            )
            .unwrap();
        fill(&data, "ws_1", 30).unwrap();
        let hours: i64 = rusqlite::Connection::open(&file)
            .unwrap()
            .query_row("select sum(changes) from call_hour_changes", [], |row| row.get(0))
            .unwrap();
        std::fs::remove_dir_all(&data).unwrap();
        assert_eq!(hours, 30);
    }
}
