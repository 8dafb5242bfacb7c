//! The simulation (`docs/simulation.md`): the real store, dialler, scheduled calls, wallet and outbox on the
//! virtual clock, against a carrier that fails by a seed, clients that change their mind at the worst moment,
//! and crashes between any two steps. After a run everything that was promised is held against what the
//! carrier saw and what the store says.
//!
//! It also prints every boundary at which something went wrong on purpose. `SIM_SEEDS=n` runs n seeds (100
//! unless told), `SIM_DRAW=word` 100 more that follow from the word, `SIM_SEED=k` runs one and tells its story.

mod boards;
mod campaigns;
mod carrier;
mod channel;
mod chats;
mod check;
mod clients;
mod cloud;
mod evaluations;
mod faults;
mod inbox;
mod late;
mod leases;
mod life;
mod nodes;
mod random;
mod receivers;
mod run;
mod sight;
mod sources;
mod stage;
mod streams;
mod tools;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

fn number(name: &str) -> Option<u64> {
    std::env::var(name)
        .ok()
        .map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is a number, not {text}")))
}

/// Seeds of every run, and those that are drawn beside them.
const FIXED: u64 = 100;
const DRAWN: u64 = 100;

/// The seeds that follow from a word, such as the id of a commit: new ones for each.
fn drawn(word: &str) -> std::ops::Range<u64> {
    let first = 10_000 + random::Random::named(0, word).next() % 1_000_000_000;
    first..first + DRAWN
}

/// Says which seed it was when its run panics.
struct NameOfPanic(u64);

impl Drop for NameOfPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("SIM_SEED={} panicked", self.0);
        }
    }
}

#[test]
fn every_seed_keeps_the_promises() {
    let engine = stage::Engine::chosen();
    if let Some(seed) = number("SIM_SEED") {
        let report = run::run(seed, true, engine);
        assert!(report.broken.is_empty(), "SIM_SEED={seed}\n{}", report.broken.join("\n"));
        return;
    }
    let first = number("SIM_FIRST").unwrap_or(1);
    let mut all: Vec<u64> = (first..first + number("SIM_SEEDS").unwrap_or(FIXED)).collect();
    if let Ok(word) = std::env::var("SIM_DRAW") {
        let drawn = drawn(&word);
        println!("beside the fixed seeds: {} to {}", drawn.start, drawn.end - 1);
        all.extend(drawn);
    }
    let seeds = all.len();
    let next = AtomicUsize::new(0);
    let totals = Mutex::new(run::Figures::default());
    let broken = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(8);
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let Some(&seed) = all.get(next.fetch_add(1, Ordering::Relaxed)) else { return };
                    let _name = NameOfPanic(seed);
                    let report = run::run(seed, false, engine);
                    totals.lock().unwrap().add(&report.figures);
                    if !report.broken.is_empty() {
                        eprintln!("SIM_SEED={seed}: {}", report.broken.join("; "));
                        broken.lock().unwrap().push((seed, report.broken));
                    }
                }
            });
        }
    });
    let totals = totals.into_inner().unwrap();
    println!("{seeds} seeds: {totals}\n{}", faults::table(&totals.boundaries));
    let mut broken = broken.into_inner().unwrap();
    broken.sort();
    let told: Vec<String> =
        broken.iter().map(|(seed, what)| format!("SIM_SEED={seed}: {}", what.join("; "))).collect();
    assert!(broken.is_empty(), "{} of {seeds} seeds broke a promise\n{}", broken.len(), told.join("\n"));
}
