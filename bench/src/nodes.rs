//! The same work on one node with the embedded store and on one, two and four nodes that share a PostgreSQL server
//! (`BENCH_POSTGRES_URL`, an empty database), with one workspace and with fifty: events accepted and delivered, calls
//! placed with a test key (each is an append to the decision log), opt-outs recorded, nudges accepted, and nudges dialled
//! that are due at the same moment, with the facts of their calls. Nodes, database, generator and receiver share the machine.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::calls;
use crate::load::{self, Figures, Make, request};
use crate::nudges::{Desk, at, create, desk, now};
use crate::server::{Server, TOKEN};
use crate::skeleton::call;
use crate::webhooks::{Seen, receiver};

/// Connections to all nodes together, unless told otherwise.
const CONNECTIONS: usize = 64;
const TIME: Duration = Duration::from_secs(6);
const NUDGES: u64 = 10_000;
/// Time in which all nudges are accepted, milliseconds.
const LEAD: i64 = 40_000;
/// Longest time for a run.
const PATIENCE: Duration = Duration::from_secs(300);

/// Nodes on one store.
struct Cluster {
    nodes: Vec<Server>,
    folders: Vec<PathBuf>,
    /// Connections to all of them together.
    connections: usize,
}

impl Cluster {
    fn start(nodes: usize, store: Option<&str>, connections: usize) -> Result<Self, String> {
        let mut cluster = Self { nodes: Vec::new(), folders: Vec::new(), connections };
        for node in 0..nodes {
            let data = std::env::temp_dir().join(format!("dastak-bench-nodes-{}-{node}", std::process::id()));
            cluster.nodes.push(Server::dastak(&data, store)?);
            cluster.folders.push(data);
        }
        Ok(cluster)
    }

    fn address(&self) -> &str {
        &self.nodes[0].address
    }

    fn cpu(&self) -> Cpu {
        Cpu { service: self.nodes.iter().map(Server::cpu_seconds).sum(), database: database_seconds() }
    }

    /// Loads all nodes alike. What one of them is sent, `make` is told by numbers that no other has.
    async fn load(&self, time: Duration, count: u64, make: Make) -> Result<Figures, String> {
        let (nodes, number) = (self.nodes.len(), Arc::new(AtomicU64::new(0)));
        let mut loads = tokio::task::JoinSet::new();
        let started = Instant::now();
        for node in &self.nodes {
            let (address, make, number) = (node.address.clone(), make.clone(), number.clone());
            let make: Make = Arc::new(move |_| make(number.fetch_add(1, Ordering::Relaxed)));
            let (connections, count) = (self.connections / nodes, count.div_ceil(nodes as u64));
            loads.spawn(
                async move { load::run_bounded(&address, connections, time, count, None, make).await },
            );
        }
        let mut all: Option<Figures> = None;
        while let Some(one) = loads.join_next().await {
            let one = one.map_err(|why| why.to_string())??;
            all = Some(match all {
                None => one,
                Some(all) => Figures {
                    answers: all.answers + one.answers,
                    refused: all.refused + one.refused,
                    refusal: if all.refused > 0 { all.refusal } else { one.refusal },
                    p99: all.p99.max(one.p99),
                    ..one
                },
            });
        }
        let all = all.ok_or("no node")?;
        if all.refused > 0 {
            return Err(format!("{} requests were refused, the first with: {}", all.refused, all.refusal));
        }
        Ok(Figures { per_second: all.answers as f64 / started.elapsed().as_secs_f64(), ..all })
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.nodes.clear();
        for folder in &self.folders {
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}

/// CPU seconds used so far.
#[derive(Clone, Copy)]
struct Cpu {
    service: f64,
    database: f64,
}

impl Cpu {
    /// Since then, for each of so many: `service + database`, milliseconds.
    fn each(self, since: Self, count: u64) -> String {
        let each = |now: f64, then: f64| (now - then) * 1e3 / count.max(1) as f64;
        let (service, database) = (each(self.service, since.service), each(self.database, since.database));
        if self.database == 0.0 { format!("{service:.3}") } else { format!("{service:.3} + {database:.3}") }
    }
}

/// CPU seconds of all processes of PostgreSQL on this machine, with those that have ended.
fn database_seconds() -> f64 {
    let mut ticks = 0;
    for process in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let stat = std::fs::read_to_string(process.path().join("stat")).unwrap_or_default();
        let Some((name, rest)) = stat.rsplit_once(')') else { continue };
        if !name.ends_with("(postgres") {
            continue;
        }
        // utime, stime, and both of the children that were waited for.
        let fields = rest.split_whitespace().skip(11).take(4).filter_map(|text| text.parse::<u64>().ok());
        ticks += fields.sum::<u64>();
    }
    ticks as f64 / 100.0
}

/// A workspace of the run.
struct Office {
    desk: Arc<Desk>,
    /// A key of test mode and its agent.
    test: (String, String),
}

async fn office(address: &str, hook: &str, number: usize) -> Result<Office, String> {
    let desk = desk(address, TOKEN, &format!("0804567{number:04}")).await?;
    call(address, "POST", "/v1/webhooks", &desk.key, &json!({"url": hook, "events": ["call.completed"]}))
        .await?;
    let body = json!({"name": "t", "mode": "test", "scopes": "all"});
    let path = format!("/operator/v1/workspaces/{}/keys", desk.id);
    let made = call(address, "POST", &path, TOKEN, &body).await?;
    let key = made["data"]["key"].as_str().ok_or("no key")?.to_owned();
    let agent = calls::agent(address, &desk.key).await?;
    Ok(Office { desk: Arc::new(desk), test: (key, agent) })
}

async fn until<F: Future<Output = Result<bool, String>>>(
    what: &str,
    done: impl Fn() -> F,
) -> Result<(), String> {
    let (mut pace, started) = (tokio::time::interval(Duration::from_millis(100)), Instant::now());
    while started.elapsed() < PATIENCE {
        pace.tick().await;
        if done().await? {
            return Ok(());
        }
    }
    Err(format!("{what} did not come"))
}

/// Events accepted and delivered a second, and their CPU.
async fn events(cluster: &Cluster, offices: &[Office], seen: &Seen) -> Result<(f64, String), String> {
    let keys: Vec<String> = offices.iter().map(|office| office.desk.key.clone()).collect();
    let make: Make = Arc::new(move |n| {
        let key = &keys[(n % keys.len() as u64) as usize];
        request("POST", "/v1/events/trigger", key, "", r#"{"type":"call.completed"}"#)
    });
    let (before, cpu, started) = (seen.count(), cluster.cpu(), Instant::now());
    let figures = cluster.load(TIME, u64::MAX, make).await?;
    until("the last delivery", || async { Ok(seen.count() >= before + figures.answers) }).await?;
    let rate = figures.answers as f64 / started.elapsed().as_secs_f64();
    Ok((rate, cluster.cpu().each(cpu, figures.answers)))
}

/// Calls placed a second with test keys, and the CPU of each until it has ended.
async fn placements(cluster: &Cluster, offices: &[Office]) -> Result<(f64, String), String> {
    let desks: Vec<(String, String)> = offices.iter().map(|office| office.test.clone()).collect();
    let make: Make = Arc::new(move |n| {
        let (key, agent) = &desks[(n % desks.len() as u64) as usize];
        let to = format!("+91{}", 6_000_001_234 + n * 10_000);
        let body = json!({"agentId": agent, "toNumber": to}).to_string();
        request("POST", "/v1/calls", key, "", &body)
    });
    let cpu = cluster.cpu();
    let placed = cluster.load(TIME, u64::MAX, make).await?;
    until("the end of the last test call", || async {
        for office in offices {
            // All take the same time, so that the newest end last.
            let page =
                call(cluster.address(), "GET", "/v1/calls?limit=200", &office.test.0, &Value::Null).await?;
            let calls = page["data"].as_array().ok_or("no calls")?;
            if calls.iter().any(|call| call["state"] != "ended") {
                return Ok(false);
            }
        }
        Ok(true)
    })
    .await?;
    Ok((placed.per_second, cluster.cpu().each(cpu, placed.answers)))
}

/// Opt-outs recorded a second, and their CPU.
async fn opt_outs(cluster: &Cluster, offices: &[Office]) -> Result<(f64, String), String> {
    let keys: Vec<String> = offices.iter().map(|office| office.desk.key.clone()).collect();
    let make: Make = Arc::new(move |n| {
        let key = &keys[(n % keys.len() as u64) as usize];
        let body = json!({"phones": [format!("+91{}", 7_000_000_000 + n)]}).to_string();
        request("POST", "/v1/dnc", key, "", &body)
    });
    let cpu = cluster.cpu();
    let figures = cluster.load(TIME, u64::MAX, make).await?;
    Ok((figures.per_second, cluster.cpu().each(cpu, figures.answers)))
}

/// Whether no nudge has one of these statuses.
async fn none_is(cluster: &Cluster, offices: &[Office], statuses: [&str; 2]) -> Result<bool, String> {
    for (office, status) in offices.iter().flat_map(|office| statuses.map(|status| (office, status))) {
        let path = format!("/v1/nudges?status={status}&limit=1");
        let page = call(cluster.address(), "GET", &path, &office.desk.key, &Value::Null).await?;
        if page["data"].as_array().is_none_or(|nudges| !nudges.is_empty()) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// What became of a burst of nudges.
struct Burst {
    /// A second, and the CPU of each.
    accepted: (f64, String),
    /// A second, and the CPU of each.
    dialled: (f64, String),
    /// Seconds from the moment at which they were due until the last of them had finished: a talk of the sandbox takes a part of
    /// it. And the CPU of each between its dial and its end.
    finished: (f64, String),
}

async fn nudges(cluster: &Cluster, offices: &[Office]) -> Result<Burst, String> {
    let (due, desks) = (now() + LEAD, offices.iter().map(|office| office.desk.clone()).collect::<Vec<_>>());
    let make: Make = Arc::new(move |n| {
        let desk = &desks[(n % desks.len() as u64) as usize];
        create(&desk.agent, &desk.key, n, due, due + 3_600_000)
    });
    let cpu = cluster.cpu();
    let accepted = cluster.load(PATIENCE, NUDGES, make).await?;
    let accepting = cluster.cpu().each(cpu, accepted.answers);
    if now() >= due {
        return Err("the nudges were not accepted before they were due".into());
    }
    tokio::time::sleep(Duration::from_millis(u64::try_from(due - now()).unwrap_or(0))).await;
    let cpu = cluster.cpu();
    until("the last dial", || none_is(cluster, offices, ["scheduled", "queued"])).await?;
    let dialling = cluster.cpu().each(cpu, accepted.answers);
    let cpu = cluster.cpu();
    until("the end of the last nudge", || none_is(cluster, offices, ["dialing", "in_progress"])).await?;
    let (finished, ending) = ((now() - due) as f64 / 1e3, cluster.cpu().each(cpu, accepted.answers));
    let mut lags = Vec::new();
    for office in offices {
        lags.extend(crate::dialling::dials(cluster.address(), &office.desk.key, None, due).await?);
    }
    lags.sort_unstable();
    if lags.len() as u64 != accepted.answers {
        return Err(format!("{} calls for {} nudges", lags.len(), accepted.answers));
    }
    let dialled = lags.len() as f64 * 1e3 / at(&lags, 1.0).max(1) as f64;
    Ok(Burst {
        accepted: (accepted.per_second, accepting),
        dialled: (dialled, dialling),
        finished: (finished, ending),
    })
}

/// Whether nudges may be dialled from now until a run is over: people are called from 8 to 21 o'clock in India.
fn may_dial(now: i64) -> bool {
    const OFFSET: i64 = 330;
    let minute = (now / 60_000 + OFFSET) % (24 * 60);
    (8 * 60..21 * 60 - 10).contains(&minute)
}

/// One row of the table. `first` is a number that no workspace of the store has.
async fn one(
    nodes: usize,
    workspaces: usize,
    store: Option<&str>,
    first: usize,
    connections: usize,
) -> Result<(), String> {
    let cluster = Cluster::start(nodes, store, connections)?;
    let seen = Arc::new(Seen::default());
    let hook = receiver(Some(seen.clone())).await.map_err(|why| why.to_string())?;
    let mut offices = Vec::new();
    for number in 0..workspaces {
        offices.push(office(cluster.address(), &hook, first + number).await?);
    }
    let (events, event) = events(&cluster, &offices, &seen).await?;
    let (placed, placement) = placements(&cluster, &offices).await?;
    let (recorded, recording) = opt_outs(&cluster, &offices).await?;
    let burst = if may_dial(now()) { Some(nudges(&cluster, &offices).await?) } else { None };
    let burst = burst.map_or_else(
        || "nobody is dialled at this time of the day | | | | | |".to_owned(),
        |Burst {
             accepted: (accepted, accepting),
             dialled: (dialled, dialling),
             finished: (finished, ending),
         }| {
            format!("{accepted:.0} | {accepting} | {dialled:.0} | {dialling} | {finished:.1} s | {ending} |")
        },
    );
    println!(
        "| {} | {nodes} | {workspaces} | {events:.0} | {event} | {placed:.0} | {placement} | {recorded:.0} | {recording} \
         | {burst}",
        if store.is_some() { "PostgreSQL" } else { "SQLite" }
    );
    Ok(())
}

/// The numbers in `1,2,4`.
fn numbers(text: &str) -> Result<Vec<usize>, String> {
    text.split(',').map(|one| one.parse().map_err(|_| format!("{one}: not a number"))).collect()
}

/// Prints the table. `bench nodes 1,2 50` runs one and two nodes with fifty workspaces only, `bench nodes 1,2 50 256` with 256
/// connections to all nodes together.
pub async fn run(arguments: &[String]) -> Result<(), String> {
    let counts = arguments.first().map_or(Ok(vec![1, 2, 4]), |text| numbers(text))?;
    let sizes = arguments.get(1).map_or(Ok(vec![1, 50]), |text| numbers(text))?;
    let connections = match arguments.get(2) {
        Some(text) => text.parse().map_err(|_| format!("{text}: not a number of connections"))?,
        None => CONNECTIONS,
    };
    let store =
        std::env::var("BENCH_POSTGRES_URL").map_err(|_| "BENCH_POSTGRES_URL names an empty database")?;
    println!("{connections} connections. CPU is that of service + database, in milliseconds for each.");
    println!(
        "| store | nodes | workspaces | events accepted and delivered/s | CPU | test calls placed/s | CPU to their end | opt-outs recorded/s \
         | CPU | nudges accepted/s | CPU | dialled/s | CPU | all finished after | CPU from dial to end |"
    );
    println!("{}|", "|---".repeat(15));
    let mut first = 1;
    for workspaces in sizes {
        one(1, workspaces, None, first, connections).await?;
        for nodes in &counts {
            one(*nodes, workspaces, Some(&store), first, connections).await?;
            first += workspaces;
        }
    }
    Ok(())
}
