//! Whether what is asked often stays the same when tables grow for years: the statements of the store, over tables
//! of two sizes in PostgreSQL. `bench growth 100000 10000000` fills a database of each size with that many calls of a year,
//! their nudges, and the events and deliveries of its last 30 days, asks the same of both, and prints the time, the pages
//! touched and the plan of each statement, as the server notes them (`auto_explain`).
//!
//! `BENCH_POSTGRES_URL` names the server, whose user must be a superuser; `BENCH_POSTGRES_LOG` the file that it logs to.
//! The databases are dropped at the end.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use domain::analytics::hour_of;
use domain::call::Status;
use domain::ids::{Agent, Call, Campaign, Contact, Delivery, Event, Id, Nudge, WebhookEndpoint};
use domain::tenant::{Mode, Tenant};
use domain::time::{DAY, HOUR, Timestamp};
use store::db::Wake;
use store::{
    DbError, Settings, Store, Tx, analytics, call_lists, calls, contacts, deliveries, erasure, events,
    nudges, params, partitions,
};

/// Days over which the calls are spread; the last of them ends now.
const DAYS: i64 = 365;
/// One in so many calls is of another workspace.
const OTHERS: i64 = 10;
const AGENTS: i64 = 20;
const CAMPAIGNS: i64 = 50;
const CALLS_EACH: i64 = 10;

/// `bench growth SIZE…`
pub async fn run(arguments: &[String]) -> Result<(), String> {
    let sizes: Vec<i64> = arguments.iter().filter_map(|text| text.parse().ok()).collect();
    let sizes = if sizes.is_empty() { vec![100_000, 10_000_000] } else { sizes };
    let named = |name: &str| std::env::var(name).map_err(|_| format!("{name} is not set"));
    let (url, log) = (named("BENCH_POSTGRES_URL")?, named("BENCH_POSTGRES_LOG")?);
    let server = open(&url, "")?;
    let (base, _) = url.rsplit_once('/').ok_or("BENCH_POSTGRES_URL names no database")?;
    let mut rows: BTreeMap<usize, (&'static str, Vec<Seen>)> = BTreeMap::new();
    for size in &sizes {
        let database = format!("growth_{size}");
        statement(&server, format!("drop database if exists {database} with (force)")).await?;
        statement(&server, format!("create database {database}")).await?;
        let outcome = measure(&format!("{base}/{database}"), &log, *size).await;
        statement(&server, format!("drop database if exists {database} with (force)")).await?;
        for (place, (name, seen)) in outcome?.into_iter().enumerate() {
            rows.entry(place).or_insert_with(|| (name, Vec::new())).1.push(seen);
        }
    }
    println!(
        "\n| asked | {} |",
        sizes.iter().map(|size| format!("{size} calls")).collect::<Vec<_>>().join(" | ")
    );
    println!("|---|{}", "---|".repeat(sizes.len()));
    for (name, seen) in rows.values() {
        let cells: Vec<String> =
            seen.iter().map(|seen| format!("{:.2} ms, {} pages", seen.ms, seen.pages)).collect();
        println!("| {name} | {} |", cells.join(" | "));
    }
    Ok(())
}

fn open(url: &str, options: &str) -> Result<Store, String> {
    let url = if options.is_empty() { url.to_owned() } else { format!("{url}?options={options}") };
    let settings = Settings::Postgres {
        url: url.as_str().into(),
        connections: 1,
        ca: None,
        wake: Wake::Listen,
        replica: None,
    };
    Store::open(&settings, Arc::new(|_| ())).map_err(|why| why.to_string())
}

async fn statement(store: &Store, sql: String) -> Result<(), String> {
    store.tx_single(move |tx| tx.exec(&sql, &[]).map(|_| ())).await.map_err(|why: DbError| why.to_string())
}

async fn long(store: &Store, sql: String) -> Result<(), String> {
    let work = move |tx: &mut Tx<'_>| tx.exec(&sql, &[]).map(|_| ());
    store.tx_long(work).await.map_err(|why: DbError| why.to_string())
}

/// What a case took.
struct Seen {
    ms: f64,
    pages: u64,
}

/// Ids as `domain::ids` makes them, of a moment and a number.
const ID: &str = "create function made_id(kind text, ms bigint, n bigint) returns text language sql immutable as $$ \
    select kind || '_' || substr(a, 1 + (v >> 60)::int, 1) || substr(a, 1 + (v >> 55 & 31)::int, 1) || substr(a, 1 + (v >> 50 & 31)::int, 1) \
    || substr(a, 1 + (v >> 45 & 31)::int, 1) || substr(a, 1 + (v >> 40 & 31)::int, 1) || substr(a, 1 + (v >> 35 & 31)::int, 1) \
    || substr(a, 1 + (v >> 30 & 31)::int, 1) || substr(a, 1 + (v >> 25 & 31)::int, 1) || substr(a, 1 + (v >> 20 & 31)::int, 1) \
    || substr(a, 1 + (v >> 15 & 31)::int, 1) || substr(a, 1 + (v >> 10 & 31)::int, 1) || substr(a, 1 + (v >> 5 & 31)::int, 1) \
    || substr(a, 1 + (v & 31)::int, 1) || '8' || lpad(to_hex(n), 12, '0') \
    from (select '0123456789abcdefghjkmnpqrstvwxyz'::text as a, (ms << 15) | (7 << 11) as v) made $$";

fn id_of<K: domain::ids::Kind>(at: i64, n: i64) -> Id<K> {
    // The same as `made_id`: the number is written in hexadecimal letters, each of them five bits.
    let hex = format!("{n:012x}");
    let digits =
        hex.chars().fold(0u128, |bits, letter| bits << 5 | u128::from(letter.to_digit(16).unwrap_or(0)));
    Id::new(at, digits)
}

fn workspace() -> Tenant {
    id_of(1, 0)
}

async fn fill(store: &Store, size: i64, now: i64) -> Result<(), String> {
    store.migrate(|_, _, _| ()).await.map_err(|why| why.to_string())?;
    long(store, ID.to_owned()).await?;
    // The weeks of the last month, which an installation of that age has.
    for back in (0..6).rev() {
        let at = Timestamp(now - back * partitions::WEEK);
        partitions::maintain(store, at, Timestamp(0)).await.map_err(|why| why.to_string())?;
    }
    long(
        store,
        "insert into workspaces (id, name, kyb_verified, suspended, currency, cost_per_minute, cost_per_chat, marketing_opt_in_rule, features, limits, \
         balance, reserved, ledger_seq, low_level, created_at) \
         select made_id('ws', 1, n), 'w', 1, 0, 'INR', 100, 500, 0, '{}', '{}', 0, 0, 0, 0, 0 from generate_series(0, 50) n".into(),
    )
    .await?;
    // Indexes are made at the end, which is much faster.
    let indexes: Vec<(String, String)> = store
        .read(|tx| {
            tx.all::<(String, String)>(
                "select cast(indexrelid::regclass as text), pg_get_indexdef(indexrelid) from pg_index \
                 where indrelid in ('calls'::regclass, 'nudges'::regclass) and not indisprimary",
                &[],
            )
        })
        .await
        .map_err(|why: DbError| why.to_string())?;
    for (index, _) in &indexes {
        long(store, format!("drop index {index}")).await?;
    }
    let first = now - DAYS * DAY;
    // Calls are spread over the year alike.
    let at = format!("({first} + n * {DAYS}::bigint * {DAY} / {size})");
    let whose = format!("made_id('ws', 1, case when n % {OTHERS} = 0 then 1 + n / {OTHERS} % 50 else 0 end)");
    // People are called again after a while, not at once.
    let people = (size / CALLS_EACH).max(1);
    // The last of these wait: each person once, since a number has one live nudge.
    let waits = size - people.min(2_000);
    let step = 200_000;
    for from in (0..size).step_by(step as usize) {
        let to = (from + step).min(size) - 1;
        let rows = format!("from generate_series({from}::bigint, {to}) n");
        long(
            store,
            format!(
                "insert into calls (id, workspace, mode, agent, contact, campaign, nudge, direction, status, phase, to_number, from_number, variables, metadata, \
                 started_at, answered_at, ended_at, talk_ms, end_cause, opted_out, language, price, concurrent, script_step, version, outcome) \
                 select made_id('call', {at}, n), {whose}, 'live', made_id('agt', 1, n % {AGENTS}), made_id('con', 1, n % {people}), \
                 case when n % 2 = 0 then made_id('cmp', 1, n / 2 % {CAMPAIGNS}) end, case when n % 5 = 1 then made_id('ndg', {at}, n) end, 'outbound', \
                 s.status, case when n < {size} - 200 then 'outbound:' || s.status end, '+9198' || lpad((n % {people})::text, 8, '0'), '+918040000001', \
                 '{{\"name\": \"Asha\", \"amount\": \"4200\"}}', '{{}}', {at}, {at} + 5000, {at} + 65000, 60000, 'agent_ended', 0, 'hi', 100, 3, 0, 5, \
                 case when n % 3 = 0 then 'interested' end \
                 from generate_series({from}::bigint, {to}) n, lateral (select case when n >= {size} - 200 then 'in_progress' when n % 10 < 6 then 'completed' \
                 when n % 10 < 9 then 'no_answer' else 'failed' end as status) s"
            ),
        )
        .await?;
        long(
            store,
            format!(
                "insert into nudges (id, workspace, mode, api_key, agent, person, phone_hash, to_number, from_number, from_given, external_ref, variables, metadata, \
                 status, result, flight, attempts, expires_at, outside_window, max_retries, retry_on, retry_delay, opted_out, erased, shows_call, created_at, \
                 finished_at, look_at, version, open) \
                 select made_id('ndg', {at}, n), {whose}, 'live', 'key_1', made_id('agt', 1, n % {AGENTS}), made_id('con', 1, n % {people}), \
                 md5((n % {people})::text), '+9198' || lpad((n % {people})::text, 8, '0'), null, 0, 'order-' || n, '{{}}', '{{}}', \
                 case when n < {waits} then 'finished' else 'scheduled' end, case when n < {waits} then 'connected' end, 'none', 1, \
                 {at} + 86400000, 'queue', 2, 'busy', 30, 0, 0, 1, {at}, {at} + 70000, case when n >= {waits} then {at} end, 4, \
                 case when n >= {waits} then 1 end {rows} where n % 5 = 1"
            ),
        )
        .await?;
        long(
            store,
            format!(
                "insert into nudge_timeline (nudge, seq, workspace, at, event, checks, decision, status, times, last_at) \
                 select made_id('ndg', {at}, n), q, {whose}, {at}, 'due', '[]', 'dial', 'queued', 1, {at} {rows}, generate_series(1, 4) q where n % 5 = 1"
            ),
        )
        .await?;
        if first + to * DAYS * DAY / size < now - 30 * DAY {
            continue;
        }
        long(
            store,
            format!(
                "with made as (insert into events (workspace, id, type, mode, agent, contact, envelope, created_at) \
                 select {whose}, made_id('evt', {at} + q, n * 4 + q), 'call.completed', 'live', made_id('agt', 1, n % {AGENTS}), made_id('con', 1, n % {people}), \
                 '{{\"type\": \"call.completed\", \"data\": {{\"callId\": \"call_0\", \"endCause\": \"agent_ended\"}}}}', {at} {rows}, generate_series(0, 2) q \
                 where {at} > {now} - 30 * {DAY}::bigint returning workspace, id, created_at) \
                 insert into deliveries (endpoint, id, workspace, event, type, status, attempts, round, round_at, made, leased, created_at, delivered_at) \
                 select 'whe' || substr(workspace, 3), 'whd' || substr(id, 4), workspace, id, 'call.completed', 'succeeded', '', 0, created_at, 1, 0, created_at, created_at \
                 from made"
            ),
        )
        .await?;
    }
    for (_, made) in indexes {
        long(store, made).await?;
    }
    // What is due now: a few of each.
    long(store, format!("update calls set next_step_at = {now} where phase is null and mode = 'live'"))
        .await?;
    long(
        store,
        format!(
            "update deliveries set status = 'pending', due_at = {now} where id >= '{}'",
            partitions::PartitionedTable::Deliveries.bound(Timestamp(now - HOUR))
        ),
    )
    .await?;
    long(
        store,
        "insert into nudge_queues (workspace, mode, pending, without_line, next_look, served, version) select id, 'live', 1, 0, 1, 0, 0 from workspaces".into(),
    )
    .await?;
    // Packed hours: a call takes about so many bytes. What is in them does not matter here, they are only read.
    let (from, to) = (hour_of(Timestamp(first)), hour_of(Timestamp(now)));
    let (tenant, bytes) = (workspace(), 33 * size / (DAYS * 24) + 64);
    let packed = format!(
        "insert into call_hours (workspace, hour, built, body) select '{tenant}', h, 1, decode(repeat(md5(h::text), {bytes} / 16), 'hex') \
         from generate_series({from}::bigint, {to}) h"
    );
    long(store, packed).await?;
    Ok(())
}

/// Has the server look at the tables, which takes minutes and cannot be done in a transaction.
fn look_at_tables(url: &str) -> Result<(), String> {
    for table in ["calls", "nudges", "nudge_timeline", "events", "deliveries", "call_hours"] {
        let vacuum = format!("vacuum analyze {table}");
        let ended = std::process::Command::new("psql").args([url, "-Xqc", &vacuum]).status();
        if !ended.map_err(|why| format!("psql: {why}"))?.success() {
            return Err(format!("{vacuum} failed"));
        }
    }
    Ok(())
}

type Case = (&'static str, Box<dyn Fn(&mut Tx<'_>) -> Result<usize, DbError> + Send + Sync>);

/// What is asked, by the functions that the service asks with.
fn cases(size: i64, now: i64) -> Vec<Case> {
    let w = workspace();
    let moment = move |n: i64| now - DAYS * DAY + n * DAYS * DAY / size;
    let people = (size / CALLS_EACH).max(1);
    // A call in the middle of the year that is the large workspace's, a nudge's and a campaign's or not.
    let middle = (size / 2) / 10 * 10 + 1;
    let person: Id<Contact> = id_of(1, middle % people);
    let number = format!("+9198{:08}", middle % people);
    let page = move |filter: call_lists::Filter| {
        move |tx: &mut Tx<'_>| {
            call_lists::list(&mut tx.of(w), Mode::Live, &filter, 50).map(|(rows, _)| rows.len())
        }
    };
    let none = call_lists::Filter::default;
    let nudge_page = move |filter: nudges::Filter| {
        move |tx: &mut Tx<'_>| nudges::list(&mut tx.of(w), Mode::Live, &filter, 50).map(|rows| rows.len())
    };
    let before = id_of::<Call>(moment(middle), middle).to_string();
    let of_week = move |from: i64, to: i64| {
        move |tx: &mut Tx<'_>| {
            let mut count = 0;
            analytics::packed(&mut tx.of(w), hour_of(Timestamp(from)), hour_of(Timestamp(to)), |_, _| {
                count += 1;
                Ok(())
            })?;
            Ok(count)
        }
    };
    let endpoint: Id<WebhookEndpoint> = id_of(1, 0);
    let since = partitions::PartitionedTable::Deliveries.bound(Timestamp(now - 30 * DAY));
    let log = move |before: String, status: Option<&'static str>| {
        let since = since.clone();
        move |tx: &mut Tx<'_>| {
            let filter = deliveries::Filter { status: status.map(str::to_owned), kind: None };
            deliveries::list(&mut tx.of(w), endpoint, (Mode::Live, &filter), (&since, &before), 50, 5_000)
                .map(|page| page.0.len())
        }
    };
    let stream = move |after: String| {
        move |tx: &mut Tx<'_>| {
            events::page(&mut tx.of(w), Mode::Live, (&after, "evt_~"), 100, 1_000).map(|page| page.0.len())
        }
    };
    let event_at = |at: i64| Id::<Event>::new(at, 0).to_string();
    let agent: Id<Agent> = id_of(1, 3);
    let campaign: Id<Campaign> = id_of(1, 3);
    let (middle_call, middle_nudge): (Id<Call>, Id<Nudge>) =
        (id_of(moment(middle), middle), id_of(moment(middle), middle));
    let at = Timestamp(now);
    vec![
        ("calls, first page", Box::new(page(none()))),
        (
            "calls, a page in the middle",
            Box::new(page(call_lists::Filter { before: Some(before), ..none() })),
        ),
        ("calls of an agent", Box::new(page(call_lists::Filter { agent: Some(agent), ..none() }))),
        ("calls of a campaign", Box::new(page(call_lists::Filter { campaign: Some(campaign), ..none() }))),
        ("calls of a contact", Box::new(page(call_lists::Filter { contact: Some(person), ..none() }))),
        (
            "calls that are completed",
            Box::new(page(call_lists::Filter { status: Some(Status::Completed), ..none() })),
        ),
        (
            "calls in progress",
            Box::new(page(call_lists::Filter { status: Some(Status::InProgress), ..none() })),
        ),
        (
            "one call",
            Box::new(move |tx| {
                calls::get(&mut tx.of(w), Mode::Live, middle_call).map(|row| usize::from(row.is_some()))
            }),
        ),
        (
            "calls of a nudge",
            Box::new(move |tx| nudges::attempts(&mut tx.of(w), middle_nudge).map(|rows| rows.len())),
        ),
        ("calls that are due", Box::new(move |tx| calls::due(tx, at, 64).map(|rows| rows.len()))),
        (
            "when the next call is due",
            Box::new(|tx| calls::next_due(tx).map(|due| usize::from(due.is_some()))),
        ),
        ("dials to a number in a week", {
            let number = number.clone();
            Box::new(move |tx| calls::dials(&mut tx.of(w), &number, "hash", at).map(|_| 1))
        }),
        ("nudges, first page", Box::new(nudge_page(nudges::Filter::default()))),
        (
            "nudges that are finished",
            Box::new(nudge_page(nudges::Filter {
                status: Some(domain::nudge::Status::Finished),
                ..Default::default()
            })),
        ),
        (
            "nudges with a reference",
            Box::new(nudge_page(nudges::Filter {
                external_ref: Some(format!("order-{middle}")),
                ..Default::default()
            })),
        ),
        (
            "nudges of a queue that are due",
            Box::new(move |tx| nudges::to_look_at(&mut tx.of(w), Mode::Live, at, 64).map(|rows| rows.len())),
        ),
        (
            "queues that are due",
            Box::new(move |tx| nudges::due_queues(tx, at, true, 16).map(|rows| rows.len())),
        ),
        (
            "timeline of a nudge",
            Box::new(move |tx| nudges::timeline(&mut tx.of(w), middle_nudge).map(|rows| rows.len())),
        ),
        ("events from three weeks ago on", Box::new(stream(event_at(now - 21 * DAY)))),
        (
            "the newest event",
            Box::new(move |tx| {
                events::newest(&mut tx.of(w), Mode::Live, "evt_~").map(|id| usize::from(id.is_some()))
            }),
        ),
        ("deliveries, first page", Box::new(log("whd_~".into(), None))),
        (
            "deliveries, two weeks back",
            Box::new(log(Id::<Delivery>::new(now - 14 * DAY, 0).to_string(), None)),
        ),
        ("deliveries that failed", Box::new(log("whd_~".into(), Some("failed")))),
        ("deliveries that are due", Box::new(move |tx| deliveries::due(tx, at, 256).map(|rows| rows.len()))),
        (
            "when the next delivery is due",
            Box::new(|tx| deliveries::next_due(tx).map(|due| usize::from(due.is_some()))),
        ),
        ("figures of a day", Box::new(of_week(now - DAY, now))),
        ("figures of a month", Box::new(of_week(now - 30 * DAY, now))),
        ("figures of a year", Box::new(of_week(now - DAYS * DAY, now))),
        (
            "erasure: calls of a contact",
            Box::new(move |tx| erasure::calls_of_contact(&mut tx.of(w), person).map(|rows| rows.len())),
        ),
        (
            "erasure: calls of a number",
            Box::new(move |tx| erasure::calls_of_number(&mut tx.of(w), &number).map(|rows| rows.len())),
        ),
        ("erasure: nudges of a person", {
            let hash = middle % people;
            Box::new(move |tx| {
                let hash: Option<String> =
                    tx.one("select md5(cast(?1 as text))", params![hash.to_string()])?;
                nudges::of_person(&mut tx.of(w), &hash.unwrap_or_default()).map(|rows| rows.len())
            })
        }),
        (
            "erasure: events of a person",
            Box::new(move |tx| {
                erasure::events_of_subject(&mut tx.of(w), &person.to_string(), "", 500).map(|rows| rows.len())
            }),
        ),
        (
            "has a contact calls",
            Box::new(move |tx| contacts::has_calls(&mut tx.of(w), person).map(usize::from)),
        ),
    ]
}

/// Fills a database and asks.
async fn measure(url: &str, log: &str, size: i64) -> Result<Vec<(&'static str, Seen)>, String> {
    let now = {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        since.map_err(|why| why.to_string())?.as_millis() as i64
    };
    let started = Instant::now();
    fill(&open(url, "")?, size, now).await?;
    look_at_tables(url)?;
    println!("\n{size} calls filled in {:.0} s", started.elapsed().as_secs_f64());
    let noting = "-csession_preload_libraries%3Dauto_explain%20-cauto_explain.log_min_duration%3D0%20-cauto_explain.log_analyze%3Don%20\
                  -cauto_explain.log_buffers%3Don%20-cauto_explain.log_timing%3Doff%20-clc_messages%3DC";
    let store = open(url, noting)?;
    let size_of = "select pg_database_size(current_database())";
    let bytes: Option<i64> =
        store.read(move |tx| tx.one(size_of, &[])).await.map_err(|why: DbError| why.to_string())?;
    println!("{:.1} GB on disk", bytes.unwrap_or(0) as f64 / 1e9);
    let mut seen = Vec::new();
    for (name, case) in cases(size, now) {
        let case = Arc::new(case);
        // The second time what it touches is in memory, and its statements are prepared.
        let mut found = 0;
        let mut from = 0;
        for _ in 0..2 {
            // The server notes a statement when its transaction ends, in its own process.
            tokio::time::sleep(Duration::from_millis(30)).await;
            from = std::fs::metadata(log).map_err(|why| format!("{log}: {why}"))?.len();
            let case = case.clone();
            found = store.tx(move |tx| case(tx)).await.map_err(|why: DbError| format!("{name}: {why}"))?;
        }
        tokio::time::sleep(Duration::from_millis(30)).await;
        let text = std::fs::read(log).map_err(|why| format!("{log}: {why}"))?;
        let plans =
            plans(&String::from_utf8_lossy(&text[usize::try_from(from).unwrap_or(0).min(text.len())..]));
        let (ms, pages) = plans.iter().fold((0.0, 0), |sum, plan| (sum.0 + plan.ms, sum.1 + plan.pages));
        println!("\n## {name}: {found} rows, {ms:.2} ms, {pages} pages");
        for plan in &plans {
            print!("{}", plan.text);
        }
        seen.push((name, Seen { ms, pages }));
    }
    Ok(seen)
}

struct Plan {
    ms: f64,
    pages: u64,
    text: String,
}

/// The plans in a part of the server's log, in short.
fn plans(log: &str) -> Vec<Plan> {
    let mut found: Vec<Plan> = Vec::new();
    let mut top = false;
    for line in log.lines() {
        if let Some((_, rest)) = line.split_once("duration: ") {
            let ms = rest.split(' ').next().and_then(|text| text.parse().ok()).unwrap_or(0.0);
            found.push(Plan { ms, pages: 0, text: String::new() });
            top = true;
            continue;
        }
        let Some(plan) = found.last_mut().filter(|_| line.starts_with('\t')) else { continue };
        if let Some((node, actual)) = line.split_once("  (cost=") {
            let rows = match actual.split_once("(actual rows=") {
                Some((_, rows)) => format!("rows {}", rows.trim_end_matches(')').replace("loops=", "× ")),
                None => "never".into(),
            };
            // Writing to a text does not fail.
            let _ = writeln!(plan.text, "{}  [{rows}]", node.trim_start_matches('\t'));
        } else if line.contains("Subplans Removed") || line.contains("Rows Removed") {
            let _ = writeln!(plan.text, "{}", line.trim_start_matches('\t'));
        } else if line.contains("Buffers:") && std::mem::take(&mut top) {
            // Of the whole: the first node's.
            let number = |name: &str| {
                let rest = line.split_once("shared ")?.1.split_once(&format!("{name}="))?.1;
                rest.split(' ').next()?.parse::<u64>().ok()
            };
            plan.pages = number("hit").unwrap_or(0) + number("read").unwrap_or(0);
        }
    }
    found
}
