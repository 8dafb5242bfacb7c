//! A hundred concurrent calls for ten minutes against SIPp, each replaced when it ends. Afterwards nothing
//! may be left over, and nothing may have grown.

use std::collections::VecDeque;
use std::io::Write;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::live::{Live, Setup};
use crate::loopback::Loopback;
use crate::sipp::{BUSY, NOBODY, Sipp, free_port};

/// Most calls placed per second.
const PACE: f64 = 8.0;
/// Time between two samples.
const LOOK: Duration = Duration::from_secs(10);
/// Warm-up: growth in this time does not count.
const WARM_UP: f64 = 0.25;
/// Time for everything to be cleaned up after the last call; the stack keeps transactions for 32 s.
const PATIENCE: Duration = Duration::from_secs(90);
/// Figures that must be zero at the end.
const LEFT: [&str; 6] = [
    "dastak_calls_held",
    "dastak_sip_legs",
    "dastak_sip_dialogs",
    "dastak_sip_transactions",
    "dastak_rtp_lines",
    "dastak_rtp_ports_in_use",
];
/// States that a call does not leave.
const FINAL: [&str; 6] = ["completed", "no_answer", "busy", "cancelled", "failed", "blocked"];

/// One sample of the service.
#[derive(Clone, Copy)]
struct Look {
    at: f64,
    calls: f64,
    tasks: f64,
    descriptors: usize,
    threads: usize,
    memory: f64,
    heap: f64,
    late: f64,
    ticks: f64,
    cpu: f64,
}

impl Look {
    async fn at(live: &Live, started: Instant) -> Result<Self, String> {
        let figures = live.figures().await?;
        let skipped = figures.of("dastak_rtp_skipped_ticks_total");
        Ok(Self {
            at: started.elapsed().as_secs_f64(),
            calls: figures.of("dastak_calls_held"),
            tasks: figures.of("dastak_tasks"),
            descriptors: live.server.descriptors(),
            threads: live.server.threads(),
            memory: live.server.memory_mb(),
            heap: figures.of("dastak_heap_bytes") / 1_048_576.0,
            late: figures.of("dastak_rtp_late_ticks_total") + skipped,
            ticks: figures.of("dastak_rtp_ticks_total") + skipped,
            cpu: live.server.cpu_seconds(),
        })
    }

    fn show(&self) {
        println!(
            "| {:.0} s | {} | {} | {} | {} | {:.1} MB | {:.1} MB | {:.4} % | {:.0} s |",
            self.at,
            self.calls,
            self.tasks,
            self.descriptors,
            self.threads,
            self.memory,
            self.heap,
            100.0 * self.late / self.ticks.max(1.0),
            self.cpu
        );
        let _ = std::io::stdout().flush();
    }
}

/// The calls that were placed.
#[derive(Default)]
struct Placed {
    ids: Vec<String>,
    refused: usize,
    first_refusal: Option<String>,
    /// Calls to hang up through the API, and when.
    hang_up: VecDeque<(Instant, String)>,
}

/// `soak [calls [seconds]]`
pub async fn run(arguments: &[String]) -> Result<(), String> {
    let argument = |at: usize, usual: f64| {
        arguments
            .get(at)
            .map_or(Ok(usual), |text| text.parse::<f64>().map_err(|_| format!("{text}: no number")))
    };
    let (calls, time) = (argument(0, 100.0)?, Duration::from_secs_f64(argument(1, 600.0)?));
    let providers = Loopback::start(Duration::from_secs(3)).await?;
    let port = free_port()?;
    let live =
        Live::start(&Setup { peer: port, providers: &providers.base, cores: None, ring_timeout: 5 }).await?;
    let mut sipp = Sipp::start(&live.data, port)?;
    live.api(
        "POST",
        "/v1/webhooks",
        &json!({"url": format!("{}/hook", providers.base.trim_end_matches("/v1"))}),
    )
    .await?;
    // One agent talks until the customer hangs up; the other asks two questions.
    let flow = json!([
        {"id": "a", "type": "collect", "text": "Hello, this is Asha. When may I call you?", "field": {"key": "when", "label": "When", "type": "text"}, "attempts": 2, "next": "b", "onFail": "e"},
        {"id": "b", "type": "collect", "text": "And who are you?", "field": {"key": "who", "label": "Who", "type": "text"}, "attempts": 2, "next": "e", "onFail": "e"},
        {"id": "e", "type": "end", "text": "Thank you. Goodbye.", "outcome": "done"},
    ]);
    let agents = [live.agent(None).await?, live.agent(Some(flow)).await?];
    println!("{calls} calls at once for {} s.\n", time.as_secs());
    println!(
        "| after | calls | tasks | descriptors | threads | resident | allocated | late ticks | CPU |\n|---|---|---|---|---|---|---|---|---|"
    );
    let started = Instant::now();
    let before = Look::at(&live, started).await?;
    if before.heap == 0.0 {
        return Err("the service does not count its heap: build it with --features dastak/heap-figures, as scripts/soak.sh does".into());
    }
    before.show();
    let (mut placed, mut looks) = (Placed::default(), Vec::new());
    let mut next_look = started + LOOK;
    while started.elapsed() < time {
        sipp.alive()?;
        let missing = calls - live.figures().await?.of("dastak_calls_held");
        for _ in 0..(missing.clamp(0.0, PACE / 2.0) as usize) {
            place(&live, &agents, &mut placed).await;
        }
        hang_up(&live, &mut placed).await;
        if Instant::now() >= next_look {
            next_look += LOOK;
            let look = Look::at(&live, started).await?;
            look.show();
            looks.push(look);
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    end(&live, started, before, &looks, &placed).await
}

async fn place(live: &Live, agents: &[String; 2], placed: &mut Placed) {
    let at = placed.ids.len() + placed.refused;
    let ending = match at % 20 {
        3 => BUSY,
        13 => NOBODY,
        _ => "00",
    };
    let number = format!("+919{:07}{ending}", 1_000_000 + at);
    match live.place(&agents[at % 2], &number).await {
        Ok(id) => {
            // One in ten is hung up through the API, some of them while they ring.
            if at.is_multiple_of(10) {
                placed.hang_up.push_back((
                    Instant::now() + Duration::from_millis(100 + (at as u64 * 37) % 15_000),
                    id.clone(),
                ));
            }
            placed.ids.push(id);
        }
        Err(why) => {
            placed.refused += 1;
            placed.first_refusal.get_or_insert(why);
        }
    }
}

async fn hang_up(live: &Live, placed: &mut Placed) {
    let now = Instant::now();
    let (due, later): (VecDeque<_>, VecDeque<_>) =
        std::mem::take(&mut placed.hang_up).into_iter().partition(|(at, _)| *at <= now);
    placed.hang_up = later;
    for (_, id) in due {
        // A call that has ended in the meantime is refused.
        let _ = live.api("POST", &format!("/v1/calls/{id}/hangup"), &json!({})).await;
    }
}

async fn end(
    live: &Live,
    started: Instant,
    before: Look,
    looks: &[Look],
    placed: &Placed,
) -> Result<(), String> {
    let mut wrong = Vec::new();
    let mut left = Vec::new();
    for name in LEFT {
        let value = live.until_zero(name, PATIENCE).await?;
        left.push(format!("{name} {value}"));
        if value > 0.0 {
            wrong.push(format!("{value} {name} are left"));
        }
    }
    // The work after calls (recording, analysis, webhooks) must be done too.
    tokio::time::sleep(Duration::from_secs(5)).await;
    let after = Look::at(live, started).await?;
    after.show();
    println!("\nLeft: {}.", left.join(", "));
    let (statuses, open) = statuses(live, &placed.ids).await?;
    println!(
        "{} calls placed, {} refused ({:?}); {statuses}.",
        placed.ids.len(),
        placed.refused,
        placed.first_refusal
    );
    if !open.is_empty() {
        wrong.push(format!("{} calls are not final, such as {}", open.len(), open[0]));
    }
    let reserved = live.operator("GET", "", &Value::Null).await?["data"]["reservedMinor"].clone();
    println!("Reserved in the wallet: {reserved}.");
    if reserved != 0 {
        wrong.push(format!("{reserved} is reserved in the wallet"));
    }
    grown(&before, looks, &after, &mut wrong);
    println!("Log:\n{}", crate::live::tail(&live.data.join("log")));
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("; ")) }
}

/// How calls ended, and which did not.
async fn statuses(live: &Live, ids: &[String]) -> Result<(String, Vec<String>), String> {
    let (mut counts, mut open) = (std::collections::BTreeMap::<String, usize>::new(), Vec::new());
    for id in ids {
        let call = live.api("GET", &format!("/v1/calls/{id}"), &Value::Null).await?["data"].clone();
        let status = call["status"].as_str().unwrap_or_default().to_owned();
        if !FINAL.contains(&status.as_str()) {
            open.push(format!("{id} {status}"));
        }
        *counts.entry(format!("{status} {}", call["endCause"].as_str().unwrap_or("none"))).or_default() += 1;
    }
    Ok((
        counts.into_iter().map(|(status, count)| format!("{status} {count}")).collect::<Vec<_>>().join(", "),
        open,
    ))
}

/// Compares the means of the first and the last samples after the warm-up, and the end with the beginning.
fn grown(before: &Look, looks: &[Look], after: &Look, wrong: &mut Vec<String>) {
    let looks = &looks[(looks.len() as f64 * WARM_UP) as usize..];
    let part = looks.len() / 4;
    if part == 0 {
        println!("Too short to see growth.");
        return;
    }
    let mean =
        |of: &dyn Fn(&Look) -> f64, looks: &[Look]| looks.iter().map(of).sum::<f64>() / looks.len() as f64;
    let (first, last) = (&looks[..part], &looks[looks.len() - part..]);
    println!(
        "\n| | before | first quarter after warm-up | last quarter | after the last call |\n|---|---|---|---|---|"
    );
    let mut row = |name: &str, of: &dyn Fn(&Look) -> f64, slack: f64, rest: f64| {
        let (from, to) = (mean(of, first), mean(of, last));
        println!("| {name} | {:.1} | {from:.1} | {to:.1} | {:.1} |", of(before), of(after));
        if to > from * 1.02 + slack {
            wrong.push(format!("{name} grew from {from:.1} to {to:.1}"));
        }
        if of(after) > of(before) + rest {
            wrong.push(format!("{name} was {:.1} before and is {:.1} after", of(before), of(after)));
        }
    };
    row("tasks", &|look| look.tasks, 20.0, 10.0);
    row("descriptors", &|look| look.descriptors as f64, 10.0, 20.0);
    row("threads", &|look| look.threads as f64, 2.0, 8.0);
    row("allocated MB", &|look| look.heap, 2.0, 4.0);
    // An allocator keeps freed memory, so resident memory is no measure of growth. It is only shown.
    row("resident MB", &|look| look.memory, f64::INFINITY, f64::INFINITY);
    row("calls", &|look| look.calls, 5.0, 0.0);
}
