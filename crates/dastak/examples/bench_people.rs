//! What people and proof cost: upserts, batches, registry look-ups, opt-outs, appends to the decision log,
//! its verification and export. `cargo run --release -p dastak --example bench_people [RECORDS] [REGISTRY]`
//! (defaults 100000 and 1000000; the aim is 1000000 and 10000000). `TEST_POSTGRES_URL` in the environment
//! runs it on that server instead of the embedded store.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use dastak::app::audit::{self, Export, Format, Range};
use dastak::app::idempotency::Once;
use dastak::app::operator_log::Trace;
use dastak::app::{App, Failure, contacts, decision_log, do_not_call, workspaces};
use dastak::config::Values;
use dastak::service::Service;
use domain::decision_log::{Chain, Channel, Decision, Entry, Strand};
use domain::phone::Phone;
use domain::tenant::{Mode, Tenant};
use serde_json::{Value, json};

fn main() -> Result<(), String> {
    let number = |place: usize, default: u64| {
        std::env::args().nth(place).and_then(|text| text.parse().ok()).unwrap_or(default)
    };
    let (records, registry) = (number(1, 100_000), number(2, 1_000_000));
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(|why| why.to_string())?;
    runtime.block_on(run(records, registry))
}

fn told(what: &str, count: u64, since: Instant) {
    let took = since.elapsed().as_secs_f64();
    println!("{what:44} {:>12.0} /s   {:>10.1} µs each", count as f64 / took, took * 1e6 / count as f64);
}

async fn run(records: u64, registry: u64) -> Result<(), String> {
    let folder = std::env::temp_dir().join(format!("dastak-bench-{}", std::process::id()));
    let mut values = Values::default();
    let mut settings = vec![("data", folder.display().to_string()), ("listen", "127.0.0.1:0".to_owned())];
    settings.extend(std::env::var("TEST_POSTGRES_URL").ok().map(|url| ("database_url", url)));
    for (name, text) in settings {
        values.add_text(name, text, "the bench")?;
    }
    let service = Service::start(values.config(false)?).await?;
    let app = service.app.clone();
    println!("{}", if app.store.shared() { "PostgreSQL" } else { "SQLite" });
    normalise();
    let tenant = workspace(&app).await.map_err(|why| why.message)?;
    people(&app, tenant).await.map_err(|why| why.message)?;
    registry_lookups(&app, registry).await.map_err(|why| why.message)?;
    log(&app, tenant, records).await.map_err(|why| why.message)?;
    service.stop().await;
    let _ = std::fs::remove_dir_all(folder);
    Ok(())
}

fn normalise() {
    let phones: Vec<String> = (0..1_000_u64).map(|n| format!("98{:08}", n * 7919)).collect();
    let since = Instant::now();
    for _ in 0..2_000 {
        for phone in &phones {
            let _ = black_box(Phone::normalize(black_box(phone)));
        }
    }
    told("normalise a plain mobile number", 2_000_000, since);
}

async fn workspace(app: &App) -> Result<Tenant, Failure> {
    let body = serde_json::from_value(
        json!({"name": "Bench", "kybVerified": true, "balanceMinor": 0, "currency": "INR", "costPerMinuteMinor": 600}),
    );
    let body = body.map_err(|why| Failure::internal(why.to_string()))?;
    let made = workspaces::create(
        app,
        Trace { operation: "bench", request_id: "bench".into() },
        Once::unkeyed(),
        body,
    )
    .await?;
    let made: Value = serde_json::from_str(&made.body).map_err(|why| Failure::internal(why.to_string()))?;
    made["data"]["id"]
        .as_str()
        .and_then(|id| id.parse().ok())
        .ok_or_else(|| Failure::internal("no workspace"))
}

fn person(number: u64) -> Value {
    json!({"externalRef": format!("crm-{number}"), "phone": format!("98{number:08}"), "name": "A Person", "attributes": {"city": "Pune", "due": 1200}})
}

async fn people(app: &Arc<App>, tenant: Tenant) -> Result<(), Failure> {
    let since = Instant::now();
    let tasks: Vec<_> = (0..64_u64)
        .map(|task| {
            let app = app.clone();
            tokio::spawn(async move {
                for number in task * 50..task * 50 + 50 {
                    let change = serde_json::from_value(person(number))
                        .map_err(|why| Failure::internal(why.to_string()))?;
                    contacts::upsert(&app, tenant, change).await?;
                }
                Ok::<_, Failure>(())
            })
        })
        .collect();
    for task in tasks {
        task.await.map_err(|why| Failure::internal(why.to_string()))??;
    }
    told("upsert a contact, 64 at a time", 3_200, since);
    for (what, start) in [("batch of 500, new contacts", 100_000), ("batch of 500, the same again", 100_000)]
    {
        let since = Instant::now();
        for batch in 0..10 {
            let items = (0..500).map(|item| person(start + batch * 500 + item)).collect();
            contacts::upsert_many(app, tenant, items).await?;
        }
        told(what, 10, since);
    }
    let since = Instant::now();
    for batch in 0..10_u64 {
        let phones = (0..1000).map(|item| format!("97{:08}", batch * 1000 + item)).collect();
        do_not_call::add(app, tenant, phones, None).await?;
    }
    told("add 1,000 numbers to the do-not-call list", 10, since);
    for offset in [0, 9_000] {
        let since = Instant::now();
        for _ in 0..500 {
            black_box(do_not_call::list(app, tenant, 50, offset).await?);
        }
        told(&format!("page of the do-not-call list at {offset}"), 500, since);
    }
    Ok(())
}

async fn registry_lookups(app: &App, size: u64) -> Result<(), Failure> {
    let trace = || Trace { operation: "bench", request_id: "bench".into() };
    for size in [10_000, size] {
        let import = dastak::app::dnd::start_import(app, trace()).await?;
        let since = Instant::now();
        let numbers: Vec<u64> = (0..size).collect();
        for piece in numbers.chunks(50_000) {
            let phones: Vec<String> =
                piece.iter().map(|number| format!("{}", 9_000_000_000 + number * 97 % 999_999_937)).collect();
            dastak::app::dnd::import_numbers(app, import, &phones).await?;
        }
        dastak::app::dnd::finish_import(app, trace(), import).await?;
        told(&format!("import a registry of {size}"), size, since);
        let since = Instant::now();
        for number in 0..100_000_u64 {
            let phone = format!("+91{}", 9_000_000_000 + number * 7919 % 999_999_937);
            black_box(app.store.read(move |tx| store::dnd::contains(tx, &phone)).await?);
        }
        told(&format!("look a number up among {size}"), 100_000, since);
    }
    Ok(())
}

fn entry(app: &App, number: u64) -> Entry {
    Entry {
        timestamp: app.clock.now(),
        interaction_id: format!("call_{number:026}"),
        decision: if number.is_multiple_of(10) { Decision::Blocked } else { Decision::Allowed },
        blocked_by: number.is_multiple_of(10).then(|| "dnd".to_owned()),
        gate_results: r#"{"pack":"generic-safe@1","gates":[{"gate":"dnd","verdict":"pass","listed":false},{"gate":"opt_out","verdict":"pass","optedOut":false},{"gate":"calling_window","verdict":"pass","open":true},{"gate":"frequency_cap","verdict":"pass","dials24h":0},{"gate":"consent","verdict":"not_checked"}]}"#.to_owned(),
        outcome: None,
        recording_ref: None,
        consent_ref: None,
        is_test: false,
        channel: Channel::Voice,
        agent_id: Some("agt_00000000000000000000000000".to_owned()),
    }
}

async fn log(app: &Arc<App>, tenant: Tenant, records: u64) -> Result<(), Failure> {
    const TOGETHER: u64 = 1_000;
    let since = Instant::now();
    for batch in 0..records.div_ceil(TOGETHER) {
        let context = app.context();
        let entries: Vec<Entry> = (0..TOGETHER).map(|number| entry(app, batch * TOGETHER + number)).collect();
        let work = move |tx: &mut store::Tx<'_>| {
            entries.iter().try_for_each(|entry| {
                decision_log::record(&mut tx.of(tenant), &context, Chain::Audit, entry.clone()).map(|_| ())
            })
        };
        app.store.tx_alone(work).await?;
    }
    told("append to the log, 1,000 in a transaction", records, since);
    let since = Instant::now();
    for number in 0..500 {
        let (context, entry) = (app.context(), entry(app, number));
        app.of(tenant).tx(move |tx| decision_log::record(tx, &context, Chain::Audit, entry.clone())).await?;
    }
    told("append to the log, each with its commit", 500, since);
    let since = Instant::now();
    let found = audit::verify(app, tenant, Mode::Live).await?;
    told(&format!("verify, whole: {}", found.verified), found.records, since);
    for (name, format) in [("CSV", Format::Csv), ("PDF", Format::Pdf)] {
        let before = memory();
        let since = Instant::now();
        let (mut size, mut most) = (0, before);
        let mut next = audit::export(
            app.clone(),
            tenant,
            Strand { chain: Chain::Audit, mode: Mode::Live },
            format,
            Range::default(),
        )
        .await?
        .next()
        .await;
        while let Some((bytes, export)) = next {
            size += bytes.len();
            most = most.max(memory());
            next = Export::next(export).await;
        }
        told(&format!("export as {name}, {} MB", size / 1_000_000), records, since);
        println!("{:44} {:>12} MB more memory", "", (most - before) / 1024);
    }
    let since = Instant::now();
    for _ in 0..20 {
        black_box(audit::stats(app, tenant, domain::tenant::Mode::Live, Range::default()).await?);
    }
    told("statistics of everything", 20, since);
    Ok(())
}

/// Resident memory of this process in KB.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|text| text.parse().ok()).unwrap_or(0)
}
