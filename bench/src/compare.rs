//! Two builds side by side: `bench compare BEFORE AFTER` runs both servers at once and loads them in turns of a
//! second. What disturbs the machine disturbs both, so the ratios mean something where single runs do not.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use crate::calls::agent;
use crate::load::{self, request};
use crate::server::{Server, TOKEN};
use crate::skeleton::{call, workspace};
use crate::webhooks::{Seen, receiver};

const CONNECTIONS: usize = 32;
const TURN: Duration = Duration::from_secs(1);
/// Ledger lines and calls in the store before the lists are read.
const ROWS: u64 = 2_000;

/// A path of the service: its name and how request `n` looks on each server.
struct PathOf {
    name: &'static str,
    makes: [load::Make; 2],
}

/// One of the two servers with what the requests need.
struct Side {
    server: Server,
    workspace: String,
    key: String,
    test_key: String,
    agent: String,
    /// A workspace whose events are delivered, and its endpoint.
    subscribed: (String, String),
}

async fn side(binary: &str, data: &Path, database_url: Option<&str>, url: &str) -> Result<Side, String> {
    let server = Server::binary(Path::new(binary), data, database_url)?;
    let (id, key) = workspace(&server.address, TOKEN).await?;
    let agent = agent(&server.address, &key).await?;
    let body = json!({"name": "compare", "mode": "test", "scopes": "all"});
    let path = format!("/operator/v1/workspaces/{id}/keys");
    let made = call(&server.address, "POST", &path, TOKEN, &body).await?;
    let test_key = made["data"]["key"].as_str().ok_or("no key")?.to_owned();
    let (_, subscribed) = workspace(&server.address, TOKEN).await?;
    let hook = call(&server.address, "POST", "/v1/webhooks", &subscribed, &json!({"url": url})).await?;
    let hook = hook["data"]["id"].as_str().ok_or("no endpoint")?.to_owned();
    Ok(Side { server, workspace: id, key, test_key, agent, subscribed: (subscribed, hook) })
}

impl Side {
    fn get(&self, path: &str) -> load::Make {
        let bytes = request("GET", path, &self.key, "", "");
        Arc::new(move |_| bytes.clone())
    }

    fn entry(&self, run: usize) -> load::Make {
        let path = format!("/operator/v1/workspaces/{}/wallet/entries", self.workspace);
        let body = r#"{"kind":"topup","amountMinor":1,"reference":"pay_1"}"#;
        Arc::new(move |n| request("POST", &path, TOKEN, &format!("idempotency-key: w{run}-{n}\r\n"), body))
    }

    fn placement(&self, run: usize) -> load::Make {
        let (agent, key) = (self.agent.clone(), self.test_key.clone());
        Arc::new(move |n| {
            let number = 6_000_000_000 + run as u64 * 1_000_000 + n;
            let body = format!(r#"{{"agentId":"{agent}","toNumber":"+91{number}"}}"#);
            request("POST", "/v1/calls", &key, &format!("idempotency-key: c{run}-{n}\r\n"), &body)
        })
    }

    fn nudge(&self, run: usize, at: &str) -> load::Make {
        let (agent, key, at) = (self.agent.clone(), self.test_key.clone(), at.to_owned());
        Arc::new(move |n| {
            let number = 7_000_000_000 + run as u64 * 1_000_000 + n;
            let body = format!(r#"{{"agentId":"{agent}","toNumber":"+91{number}","scheduledAt":"{at}"}}"#);
            request("POST", "/v1/nudges", &key, &format!("idempotency-key: n{run}-{n}\r\n"), &body)
        })
    }

    fn event(&self) -> load::Make {
        let (key, hook) = &self.subscribed;
        let bytes = request("POST", &format!("/v1/webhooks/{hook}/test"), key, "", "{}");
        Arc::new(move |_| bytes.clone())
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Prints the table. Arguments: the two binaries, and how many turns each gets on each path (15).
pub async fn run(arguments: &[String]) -> Result<(), String> {
    let [before, after, rest @ ..] = arguments else {
        return Err("usage: bench compare BEFORE AFTER [TURNS]".into());
    };
    let turns: usize = rest.first().and_then(|text| text.parse().ok()).unwrap_or(15);
    let seen = Arc::new(Seen::default());
    let url = receiver(Some(seen)).await.map_err(|why| why.to_string())?;
    let folder = std::env::temp_dir().join(format!("dastak-compare-{}", std::process::id()));
    let urls = std::env::var("COMPARE_POSTGRES_URLS").ok();
    let urls: Vec<&str> = urls.as_deref().map(|text| text.split(',').collect()).unwrap_or_default();
    let mut sides = Vec::new();
    for (index, binary) in [before, after].into_iter().enumerate() {
        sides.push(side(binary, &folder.join(index.to_string()), urls.get(index).copied(), &url).await?);
    }
    for side in &sides {
        load::run_count(&side.server.address, CONNECTIONS, ROWS, side.entry(999)).await?;
        load::run_count(&side.server.address, CONNECTIONS, ROWS, side.placement(999)).await?;
    }
    let later = in_twenty_hours();
    println!(
        "memory at rest: {:.0} MB and {:.0} MB\n\n| path | before, requests/s | after | rate, median of turns | CPU a request before | after | CPU, median of turns |\n|---|---|---|---|---|---|---|",
        sides[0].server.memory_mb(),
        sides[1].server.memory_mb()
    );
    let names = [
        "GET /v1/me",
        "GET /v1/wallet/transactions, 50 rows",
        "GET /v1/calls, 50 rows",
        "durable write with Idempotency-Key",
        "POST /v1/calls, test key",
        "POST /v1/nudges, scheduled",
        "an event accepted and delivered",
    ];
    for name in names {
        let mut measured: [Vec<(f64, f64)>; 2] = [Vec::new(), Vec::new()];
        for turn in 0..turns {
            let path = PathOf {
                name,
                makes: std::array::from_fn(|index| {
                    let side = &sides[index];
                    match name {
                        "GET /v1/me" => side.get("/v1/me"),
                        "GET /v1/wallet/transactions, 50 rows" => side.get("/v1/wallet/transactions"),
                        "GET /v1/calls, 50 rows" => {
                            let bytes = request("GET", "/v1/calls", &side.test_key, "", "");
                            Arc::new(move |_| bytes.clone())
                        }
                        "durable write with Idempotency-Key" => side.entry(turn),
                        "POST /v1/calls, test key" => side.placement(turn),
                        "POST /v1/nudges, scheduled" => side.nudge(turn, &later),
                        _ => side.event(),
                    }
                }),
            };
            for step in 0..2 {
                let index = (turn + step) % 2;
                let side = &sides[index];
                let cpu = side.server.cpu_nanoseconds();
                let figures =
                    load::run(&side.server.address, CONNECTIONS, TURN, path.makes[index].clone()).await?;
                if figures.refused > 0 {
                    return Err(format!("{}: {}", path.name, figures.refusal));
                }
                // What goes on after the answer (a delivery) belongs to its turn.
                tokio::time::sleep(Duration::from_millis(100)).await;
                let cpu = (side.server.cpu_nanoseconds() - cpu) as f64 / 1e3 / figures.answers.max(1) as f64;
                measured[index].push((figures.per_second, cpu));
            }
        }
        let ratios = |pick: fn(&(f64, f64)) -> f64| {
            median(measured[0].iter().zip(&measured[1]).map(|(old, new)| pick(new) / pick(old)).collect())
        };
        let of =
            |index: usize, pick: fn(&(f64, f64)) -> f64| median(measured[index].iter().map(pick).collect());
        println!(
            "| {name} | {:.0} | {:.0} | {:.2} | {:.1} µs | {:.1} µs | {:.2} |",
            of(0, |pair| pair.0),
            of(1, |pair| pair.0),
            ratios(|pair| pair.0),
            of(0, |pair| pair.1),
            of(1, |pair| pair.1),
            ratios(|pair| pair.1),
        );
    }
    drop(sides);
    let _ = std::fs::remove_dir_all(&folder);
    Ok(())
}

fn in_twenty_hours() -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let at = i64::try_from(now.as_millis()).unwrap_or_default() + 20 * domain::time::HOUR;
    domain::time::Timestamp(at).to_string()
}
