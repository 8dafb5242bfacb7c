//! What a console asks of calls and people: lists with each filter, counts, search, and reports by hour, over a workspace
//! with many calls and as many contacts. `bench console --rows 1000000` measures SQLite, `--postgres URL` that database,
//! which must be empty.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use domain::call::{Direction, Progress, Status};
use domain::ids::{Agent, Campaign, Contact, Id};
use domain::tenant::{Mode, Tenant};
use domain::time::{DAY, SECOND, Timestamp};
use serde_json::{Map, Value, json};
use store::calls::{self, CallRow, Upkeep};
use store::contacts::{self, ContactRow};
use store::db::Wake;
use store::{DbError, Settings, Store, Tx, params};

use crate::server::{Server, TOKEN};
use crate::skeleton::{call, workspace};

/// The calls are spread over so many days.
const DAYS: i64 = 90;
const FIRST: i64 = 1_790_000_000_000;
const AGENTS: i64 = 20;
const CAMPAIGNS: i64 = 50;
/// Rows of one transaction.
const BATCH: i64 = 5_000;
/// Requests of each case.
const TIMES: u32 = 40;

const GIVEN: [&str; 40] = [
    "Aarav", "Aditi", "Amit", "Ananya", "Arjun", "Asha", "Deepak", "Divya", "Farhan", "Gaurav", "Gita",
    "Hari", "Isha", "Jaya", "Kabir", "Kavya", "Kiran", "Lakshmi", "Manoj", "Meera", "Mohan", "Naveen",
    "Neha", "Nikhil", "Pooja", "Priya", "Rahul", "Ramesh", "Ravi", "Rekha", "Rohan", "Sana", "Sanjay",
    "Shreya", "Sunil", "Tara", "Uma", "Varun", "Vikram", "Zoya",
];
const FAMILY: [&str; 25] = [
    "Agarwal", "Banerjee", "Bhat", "Chopra", "Das", "Desai", "Dutta", "Ghosh", "Gupta", "Iyer", "Jain",
    "Joshi", "Kapoor", "Khan", "Kulkarni", "Kumar", "Mehta", "Menon", "Nair", "Patel", "Rao", "Reddy",
    "Shah", "Sharma", "Singh",
];

fn named<'a>(names: &[&'a str], number: i64) -> &'a str {
    names[usize::try_from(number.rem_euclid(names.len() as i64)).unwrap_or(0)]
}

fn contact_of(number: i64) -> ContactRow {
    let name = format!(
        "{} {} {}",
        named(&GIVEN, number),
        named(&FAMILY, number / 40),
        // Few people have the third name.
        named(&FAMILY, number / 7_919)
    );
    ContactRow {
        id: Id::new(FIRST, number.unsigned_abs().into()),
        mode: Mode::Live,
        external_ref: Some(format!("crm-{number:07}")),
        phone: Some(format!("+91{}", 6_000_000_000_i64 + number)),
        name: Some(name),
        email: None,
        company: None,
        preferred_language: "en".into(),
        timezone: "Asia/Kolkata".into(),
        attributes: json!({}),
        variables: json!({}),
        opt_out: false,
        consent: None,
        chatapp_user_id: None,
        chatapp_username: None,
        last_contact_at: None,
        created_at: Timestamp(FIRST),
        erased_at: None,
    }
}

fn call_of(tenant: Tenant, number: i64, rows: i64) -> CallRow {
    let started = Timestamp(FIRST + number * (DAYS * DAY / rows));
    let answered = number % 5 < 3;
    let (status, cause) = match (answered, number % 3) {
        (true, _) => (Status::Completed, "agent_ended"),
        (false, 0) => (Status::Busy, "busy"),
        (false, _) => (Status::NoAnswer, "no_answer"),
    };
    let outcome = match number % 100 {
        0 => Some("won"),
        1..40 => Some("lost"),
        40..60 => Some("callback_requested"),
        _ => None,
    };
    CallRow {
        id: Id::new(started.0, number.unsigned_abs().into()),
        workspace: tenant,
        mode: Mode::Live,
        agent: Some(Id::<Agent>::new(1, (number % AGENTS).unsigned_abs().into())),
        contact: Some(Id::<Contact>::new(FIRST, (number * 7_919 % rows).unsigned_abs().into())),
        campaign: (number % 2 == 0)
            .then(|| Id::<Campaign>::new(1, (number / 2 % CAMPAIGNS).unsigned_abs().into())),
        nudge: None,
        scheduled_call: None,
        direction: if number % 10 == 9 { Direction::Inbound } else { Direction::Outbound },
        progress: Progress {
            status,
            answered_at: answered.then(|| started.plus(4 * SECOND)),
            ended_at: Some(started.plus(60 * SECOND)),
            talk_ms: answered.then_some(56 * SECOND),
            end_cause: Some(cause.into()),
            ..Progress::placing()
        },
        outcome: outcome.filter(|_| answered).map(str::to_owned),
        to_number: format!("+91{}", 6_000_000_000_i64 + number * 7_919 % rows),
        from_number: "+918045670001".into(),
        external_ref: None,
        variables: Map::new(),
        metadata: json!({}),
        provider_call: None,
        started_at: started,
        dialled_at: None,
        block_reason: None,
        hang_up_at: None,
        language: Some("hi".into()),
        sentiment: None,
        price: 600,
        concurrent: 1,
        line: false,
        network: None,
        script_step: 0,
        next_step_at: None,
        once: None,
        upkeep: Upkeep::default(),
        version: 1,
        trace: None,
        carrier: None,
        answered_by: None,
        flow_version: None,
    }
}

async fn fill(store: &Store, tenant: Tenant, rows: i64) -> Result<(), String> {
    let failed = |why: DbError| why.to_string();
    for first in (0..rows).step_by(BATCH as usize) {
        let last = (first + BATCH).min(rows);
        let write = move |tx: &mut Tx<'_>| {
            let people: Vec<ContactRow> = (first..last).map(contact_of).collect();
            contacts::insert_all(tx, people.iter().map(|row| (tenant, row)))?;
            let dialled: Vec<CallRow> = (first..last).map(|number| call_of(tenant, number, rows)).collect();
            calls::insert(tx, &dialled)?;
            dialled.iter().try_for_each(|row| calls::touch_hour(tx, row))
        };
        store.tx_alone(write).await.map_err(failed)?;
        if first % 100_000 == 0 {
            eprint!("\r{first} of {rows} calls and contacts");
        }
    }
    let measured = json!([{"turn": 2, "endpointMs": 300, "transcriptMs": 350, "firstTokenMs": 700, "firstAudioMs": 900, "firstPacketMs": 950}]);
    let details = json!({"providers": {"recognition": "stt", "model": "model", "synthesis": "tts"}});
    let write = move |tx: &mut Tx<'_>| {
        tx.exec(
            "insert into wallet_entries (id, workspace, seq, kind, amount, balance_after, reference, created_at) \
             select 'wtx' || substr(id, 5), workspace, row_number() over (order by id), 'call_charge', -600, 0, id, started_at \
             from calls where status = 'completed'",
            &[],
        )?;
        tx.exec(
            "update calls set latency = ?1, turn_details = ?2 where status = 'completed'",
            params![measured.clone(), details.clone()],
        )
    };
    store.tx_long(write).await.map_err(failed)?;
    eprintln!("\r{rows} of {rows} calls and contacts");
    Ok(())
}

/// Times a path and prints its median and 95th percentile; the first request is left out, and printed when it took long.
async fn measure(address: &str, key: &str, name: &str, path: &str) -> Result<(), String> {
    let mut took = Vec::new();
    let mut first = Duration::ZERO;
    for time in 0..=TIMES {
        let started = Instant::now();
        call(address, "GET", path, key, &Value::Null).await?;
        if time == 0 {
            first = started.elapsed();
        } else {
            took.push(started.elapsed());
        }
    }
    took.sort_unstable();
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    let (p50, p95) = (took[took.len() / 2], took[took.len() * 95 / 100]);
    println!("| {name} | {:.1} ms | {:.1} ms | {:.0} ms |", ms(p50), ms(p95), ms(first));
    Ok(())
}

async fn measure_all(address: &str, key: &str, rows: i64) -> Result<(), String> {
    let at = |day: i64| Timestamp(FIRST + day * DAY).to_string();
    let (agent, campaign) = (Id::<Agent>::new(1, 3), Id::<Campaign>::new(1, 7));
    // Some 15 days have fewer calls than a search for text may cover.
    let narrow = format!("from={}", at(DAYS - (DAYS * 150_000 / rows).clamp(1, DAYS)));
    let cases: Vec<(&str, String)> = vec![
        ("newest page of 200", "/v1/calls?limit=200".into()),
        ("of an outcome, 1 in 100", "/v1/calls?limit=200&outcome=won".into()),
        ("of an end cause", "/v1/calls?limit=200&endCause=busy".into()),
        ("of an outcome and an agent", format!("/v1/calls?limit=200&outcome=won&agentId={agent}")),
        ("of a campaign and a state", format!("/v1/calls?limit=200&campaignId={campaign}&state=ended")),
        ("of a whole number", "/v1/calls?limit=200&number=6000004711".into()),
        ("of a name that many have, 150,000 calls", format!("/v1/calls?limit=200&q=ramesh&{narrow}")),
        (
            "of a name that few have, 150,000 calls",
            format!("/v1/calls?limit=200&q=ramesh%20iyer%20shah&{narrow}"),
        ),
        ("counts of all", "/v1/calls/counts".into()),
        ("counts of an outcome and an agent", format!("/v1/calls/counts?outcome=won&agentId={agent}")),
        ("counts of a week", format!("/v1/calls/counts?from={}&to={}", at(40), at(47))),
        ("counts of a name, 150,000 calls", format!("/v1/calls/counts?q=ramesh&{narrow}")),
        ("search by a name that many have", "/v1/search?q=ramesh".into()),
        ("search by two words", "/v1/search?q=ramesh%20iyer".into()),
        ("search by a whole number", "/v1/search?q=6000004711".into()),
        ("search by a reference", "/v1/search?q=crm-0004711".into()),
        ("report by hour, all days", "/v1/analytics/calls?groupBy=hour".into()),
        ("report by hour, a day", format!("/v1/analytics/calls?groupBy=hour&from={}&to={}", at(80), at(81))),
    ];
    println!("| asked | p50 | p95 | first |\n|---|---|---|---|");
    for (name, path) in cases {
        measure(address, key, name, &path).await?;
    }
    Ok(())
}

fn value_of(arguments: &[String], name: &str) -> Option<String> {
    let place = arguments.iter().position(|argument| argument == name)?;
    arguments.get(place + 1).cloned()
}

/// `bench console [--rows N] [--postgres URL]`
pub async fn run(arguments: &[String]) -> Result<(), String> {
    let rows = value_of(arguments, "--rows").and_then(|rows| rows.parse().ok()).unwrap_or(1_000_000_i64);
    let url = value_of(arguments, "--postgres");
    let data = std::env::temp_dir().join(format!("dastak-console-{}", std::process::id()));
    let outcome = run_in(&data, rows, url.as_deref()).await;
    if url.is_none() || data.exists() {
        std::fs::remove_dir_all(&data).map_err(|why| why.to_string())?;
    }
    outcome
}

async fn run_in(data: &Path, rows: i64, url: Option<&str>) -> Result<(), String> {
    let server = Server::dastak(data, url)?;
    let (id, key) = workspace(&server.address, TOKEN).await?;
    drop(server);
    let settings = match url {
        None => Settings::Sqlite { file: data.join("dastak.db") },
        Some(url) => Settings::Postgres {
            url: url.into(),
            connections: 1,
            ca: None,
            wake: Wake::Listen,
            replica: None,
        },
    };
    let store = Store::open(&settings, Arc::new(|_| ())).map_err(|why| why.to_string())?;
    fill(&store, id.parse().map_err(|_| "the workspace has no id")?, rows).await?;
    drop(store);
    let server = Server::dastak(data, url)?;
    println!("\n{rows} calls and contacts, {}\n", if url.is_some() { "PostgreSQL" } else { "SQLite" });
    measure_all(&server.address, &key, rows).await
}
