//! Calls through the whole service: HTTP, the store, SIP, RTP, voice detection, the conversation. Providers
//! answer at once, so the rest is the service's own time.

use std::time::{Duration, Instant};

use crate::callee::{Callee, Seen};
use crate::live::{Figures, Live, Setup};
use crate::loopback::Loopback;

/// Number of consecutive calls to measure the set-up time.
const SET_UPS: usize = 100;
/// Number of concurrent conversations to measure the reaction time.
const CONVERSATIONS: usize = 4;
const CONVERSE: Duration = Duration::from_secs(60);
/// Silence that ends a turn whose words are a complete answer (`voice::endpoint`), in milliseconds.
const END_POINTING_MS: f64 = 350.0;
/// Calls at once on one core.
const STEPS: [usize; 9] = [25, 50, 75, 100, 150, 200, 250, 300, 400];
const TIME: Duration = Duration::from_secs(20);
/// Calls placed per second while a step is built up.
const PACE: f64 = 15.0;

/// Milliseconds, sorted.
struct Times(Vec<f64>);

impl Times {
    fn of(times: impl IntoIterator<Item = Duration>) -> Self {
        let mut times: Vec<f64> = times.into_iter().map(|time| time.as_secs_f64() * 1e3).collect();
        times.sort_by(f64::total_cmp);
        Self(times)
    }

    fn at(&self, share: f64) -> f64 {
        self.0.get((self.0.len() as f64 * share) as usize).or(self.0.last()).copied().unwrap_or(f64::NAN)
    }

    fn row(&self, name: &str, less: f64) {
        let at = |share| self.at(share) - less;
        println!(
            "| {name} | {} | {:.1} ms | {:.1} ms | {:.1} ms | {:.1} ms |",
            self.0.len(),
            at(0.5),
            at(0.9),
            at(0.99),
            at(1.0)
        );
    }
}

fn number(at: usize) -> String {
    format!("+919{:09}", 100_000_000 + at)
}

/// Hangs up and waits until nothing is left.
async fn finish(live: &Live, callee: &Callee) -> Result<(), String> {
    let started = Instant::now();
    while callee.calls() > 0 && started.elapsed() < Duration::from_secs(30) {
        callee.hang_up();
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    let left = live.until_zero("dastak_calls_held", Duration::from_secs(30)).await?;
    if left > 0.0 { Err(format!("{left} calls did not end")) } else { Ok(()) }
}

/// Prints the tables.
pub async fn run(arguments: &[String]) -> Result<(), String> {
    let only = arguments.first().map(String::as_str);
    if only.is_none_or(|only| only == "set-up") {
        set_up().await?;
    }
    if only.is_none_or(|only| only == "reaction") {
        reaction().await?;
    }
    if only.is_none_or(|only| only == "carried") {
        carried().await?;
    }
    Ok(())
}

async fn set_up() -> Result<(), String> {
    let providers = Loopback::start(Duration::from_millis(1200)).await?;
    let callee = Callee::start(Duration::from_millis(1500))?;
    let live = Live::start(&Setup {
        peer: callee.port(),
        providers: &providers.base,
        cores: None,
        ring_timeout: 45,
    })
    .await?;
    let agent = live.agent(None).await?;
    let (mut invite, mut placed, mut spoke) = (Vec::new(), Vec::new(), Vec::new());
    for at in 0..SET_UPS {
        let number = number(at);
        let started = Instant::now();
        live.place(&agent, &number).await?;
        placed.push(started.elapsed());
        let seen = until_spoken(&callee, &number).await?;
        let (Some(invited), Some(answered), Some(sound)) = (seen.invited, seen.answered, seen.first_sound)
        else {
            return Err("no call".into());
        };
        invite.push(invited.duration_since(started));
        spoke.push(sound.duration_since(answered));
        finish(&live, &callee).await?;
    }
    println!(
        "{SET_UPS} calls one after the other.\n\n| set-up | calls | p50 | p90 | p99 | most |\n|---|---|---|---|---|---|"
    );
    Times::of(invite).row("`POST /v1/calls` sent, until the INVITE is at the peer", 0.0);
    Times::of(placed).row("`POST /v1/calls`, answered (the intent and its outcome are stored)", 0.0);
    Times::of(spoke).row("the peer's 200, until the agent's first sound is at the peer", 0.0);
    println!();
    Ok(())
}

async fn until_spoken(callee: &Callee, number: &str) -> Result<Seen, String> {
    let started = Instant::now();
    while started.elapsed() < Duration::from_secs(10) {
        let seen = callee.seen(number);
        if seen.first_sound.is_some() {
            return Ok(seen);
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    Err("the agent said nothing".into())
}

async fn reaction() -> Result<(), String> {
    let providers = Loopback::start(Duration::from_millis(1200)).await?;
    let callee = Callee::start(Duration::from_millis(1500))?;
    let live = Live::start(&Setup {
        peer: callee.port(),
        providers: &providers.base,
        cores: None,
        ring_timeout: 45,
    })
    .await?;
    let agent = live.agent(None).await?;
    let mut calls = Vec::new();
    for at in 0..CONVERSATIONS {
        calls.push(live.place(&agent, &number(at)).await?);
        tokio::time::sleep(Duration::from_millis(137)).await;
    }
    tokio::time::sleep(CONVERSE).await;
    let asked = providers.asked();
    finish(&live, &callee).await?;
    let seen = callee.all_seen();
    let turns: Vec<(Instant, Instant)> = seen.iter().flat_map(|seen| seen.turns.iter().copied()).collect();
    let unanswered: usize = seen.iter().map(|seen| seen.unanswered).sum();
    println!(
        "{CONVERSATIONS} calls converse for {} s; {unanswered} turns were not answered.\n",
        CONVERSE.as_secs()
    );
    println!("| reaction | turns | p50 | p90 | p99 | most |\n|---|---|---|---|---|---|");
    let whole = Times::of(turns.iter().map(|(spoke, heard)| heard.duration_since(*spoke)));
    whole.row("the last packet of speech left the peer, until the first of the answer is there", 0.0);
    whole.row(
        &format!("the same beyond the {END_POINTING_MS} ms of silence that end a turn"),
        END_POINTING_MS,
    );
    // A sound belongs to the newest request before it. Turns are seconds apart, and requests of other calls
    // rarely fall between.
    let alone = turns.iter().filter_map(|(spoke, heard)| {
        let mut within = asked.iter().filter(|at| *at > spoke && *at < heard);
        within.next().filter(|_| within.next().is_none()).map(|at| heard.duration_since(*at))
    });
    Times::of(alone)
        .row("the model was asked, until the first sound is at the peer (model, voice, line)", 0.0);
    own(&live, &calls).await?;
    println!();
    Ok(())
}

/// The service's own figures of the turns, in its 20 ms ticks.
async fn own(live: &Live, calls: &[String]) -> Result<(), String> {
    let (mut beyond, mut endpoint) = (Vec::new(), Vec::new());
    for id in calls {
        let call =
            live.api("GET", &format!("/v1/calls/{id}"), &serde_json::Value::Null).await?["data"].clone();
        for turn in call["latency"].as_array().into_iter().flatten() {
            let ms = |name: &str| turn[name].as_u64().map(Duration::from_millis);
            let (Some(end), Some(packet)) = (ms("endpointMs"), ms("firstPacketMs")) else { continue };
            endpoint.push(end);
            beyond.push(packet.saturating_sub(end));
        }
    }
    Times::of(endpoint).row("the service's own: end of speech, until the turn is judged over", 0.0);
    Times::of(beyond).row("the service's own: from there until the first packet leaves", 0.0);
    Ok(())
}

async fn carried() -> Result<(), String> {
    println!(
        "The service on one core (SIP, RTP, voice detection, recordings, conversations, store), its peer and its providers on another. Agent and customer take turns of 4 s and 3 s.\n\n\
         | calls at once | ticks later than 30 ms | of the core | of the core a call | answers beyond end-pointing p50 | p99 | unanswered | memory |\n\
         |---|---|---|---|---|---|---|---|"
    );
    keep_to("1")?;
    let mut most = 0;
    for count in STEPS {
        let share = step(count).await?;
        if share >= 1.0 {
            break;
        }
        most = count;
    }
    println!("\n{most} calls at once with less than 1 % of the ticks later than 30 ms.");
    keep_to("0-1")
}

/// Restricts every thread of this process to these cores.
fn keep_to(cores: &str) -> Result<(), String> {
    let mut taskset = std::process::Command::new("taskset");
    taskset
        .args(["-a", "-p", "-c", cores, &std::process::id().to_string()])
        .stdout(std::process::Stdio::null());
    let done = taskset.status().map_err(|why| format!("taskset: {why}"))?;
    if done.success() { Ok(()) } else { Err(format!("there are no cores {cores}")) }
}

fn late(before: &Figures, after: &Figures) -> f64 {
    let more = |name: &str| after.of(name) - before.of(name);
    let (skipped, ticks) = (more("dastak_rtp_skipped_ticks_total"), more("dastak_rtp_ticks_total"));
    100.0 * (more("dastak_rtp_late_ticks_total") + skipped) / (ticks + skipped).max(1.0)
}

async fn step(count: usize) -> Result<f64, String> {
    let providers = Loopback::start(Duration::from_secs(4)).await?;
    let callee = Callee::start(Duration::from_secs(3))?;
    let live = Live::start(&Setup {
        peer: callee.port(),
        providers: &providers.base,
        cores: Some("0"),
        ring_timeout: 45,
    })
    .await?;
    let agent = live.agent(None).await?;
    let started = Instant::now();
    for at in 0..count {
        live.place(&agent, &number(at)).await?;
        tokio::time::sleep_until((started + Duration::from_secs_f64((at + 1) as f64 / PACE)).into()).await;
    }
    tokio::time::sleep(Duration::from_secs(2)).await;
    let (before, cpu, start) = (live.figures().await?, live.server.cpu_seconds(), Instant::now());
    tokio::time::sleep(TIME).await;
    let (after, cpu, wall) =
        (live.figures().await?, live.server.cpu_seconds() - cpu, start.elapsed().as_secs_f64());
    let held = after.of("dastak_calls_held");
    if held < count as f64 {
        return Err(format!("only {held} of {count} calls go on"));
    }
    let seen = callee.all_seen();
    let turns = seen
        .iter()
        .flat_map(|seen| &seen.turns)
        .filter(|(_, heard)| *heard >= start)
        .map(|(spoke, heard)| heard.duration_since(*spoke));
    let (turns, unanswered) = (Times::of(turns), seen.iter().map(|seen| seen.unanswered).sum::<usize>());
    let share = late(&before, &after);
    println!(
        "| {count} | {share:.3} % | {:.1} % | {:.3} % | {:.0} ms | {:.0} ms | {unanswered} | {:.0} MB |",
        100.0 * cpu / wall,
        100.0 * cpu / wall / count as f64,
        turns.at(0.5) - END_POINTING_MS,
        turns.at(0.99) - END_POINTING_MS,
        live.server.memory_mb(),
    );
    finish(&live, &callee).await?;
    Ok(share)
}
